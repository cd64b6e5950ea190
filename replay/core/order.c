/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    SOURCE_BITS = 20, /* places of the table, half of which are taken; none is memory before */
    SOURCE_PLACES = 1 << SOURCE_BITS,
    SOURCE_PROBES = 64, /* numbers that were chosen to meet in one place are not searched for */
};

struct source_time *source_clock_time(struct source_clock *clock, uint32_t src)
{
    if (src == 0) {
        return &clock->first;
    }
    if (clock->entries == NULL) {
        clock->entries = calloc(SOURCE_PLACES, sizeof *clock->entries);
    }
    uint32_t at = src * UINT32_C(0x9E3779B1) >> (32 - SOURCE_BITS);
    for (unsigned probe = 0; clock->entries != NULL && probe < SOURCE_PROBES; probe++) {
        struct source_time *time = &clock->entries[(at + probe) % SOURCE_PLACES];
        if (time->src == 0 && clock->count < SOURCE_PLACES / 2) {
            time->src = src;
            clock->count++;
        }
        if (time->src == src) {
            return time;
        }
    }
    return NULL;
}

void source_clock_free(struct source_clock *clock)
{
    free(clock->entries);
}

/* An event that waits, with its own copy of what it points to. `t` is its place in the order: the
 * time, but never before an earlier event of its source. */
struct waiting {
    uint64_t t, arrival;
    uint8_t rank;
    struct nocap_event event;
    uint8_t *payload;
};

struct nocap_merge {
    nocap_merge_sink *sink;
    void *context;
    uint64_t arrivals;
    struct source_clock clock;
    uint32_t count;
    struct waiting heap[NOCAP_MERGE_WINDOW];
};

enum nocap_status nocap_merge_new(struct nocap_merge **order, nocap_merge_sink *sink, void *context,
                                  struct nocap_error *err)
{
    struct nocap_merge *o = *order = calloc(1, sizeof *o);
    RETURN_ERROR_IF(o == NULL, err, NOCAP_E_MEMORY, "out of memory");
    o->sink = sink;
    o->context = context;
    return NOCAP_OK;
}

static bool earlier(const struct waiting *a, const struct waiting *b)
{
    if (a->t != b->t) {
        return a->t < b->t;
    }
    return a->rank != b->rank ? a->rank < b->rank : a->arrival < b->arrival;
}

static enum nocap_status emit(struct nocap_merge *o, struct nocap_error *err)
{
    struct waiting top = o->heap[0], last = o->heap[--o->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < o->count; i = child) {
        if (child + 1 < o->count && earlier(&o->heap[child + 1], &o->heap[child])) {
            child++;
        }
        if (!earlier(&o->heap[child], &last)) {
            break;
        }
        o->heap[i] = o->heap[child];
    }
    if (o->count > 0) {
        o->heap[i] = last;
    }
    enum nocap_status status = o->sink(o->context, &top.event, 1, err);
    free(top.payload);
    return status;
}

/* Of the same time, causes before effects: what memory holds, what the host does, what the cores do
 * and push, what the coprocessor makes of it, what the cores read. */
static uint8_t rank_of(const struct nocap_event *e)
{
    if (e->kind == NOCAP_EV_MEM || e->kind == NOCAP_EV_NOTE) {
        return 0; /* a note is no act that memory could follow */
    }
    if (e->by == NOCAP_BY_HOST) {
        return 1;
    }
    if (e->kind == NOCAP_EV_READ) {
        return 4; /* a core's load may be what waited for the rest */
    }
    return e->kind == NOCAP_EV_TENSIX && e->op != NOCAP_OP_PUSH ? 3 : 2;
}

/* Time and rank never go back within a source. */
static void place_in_order(struct source_clock *clock, struct waiting *w)
{
    struct source_time *time = source_clock_time(clock, w->event.src);
    w->t = w->event.t;
    w->rank = rank_of(&w->event);
    if (time == NULL) {
        return;
    }
    if (w->t <= time->t) {
        w->t = time->t;
        w->rank = w->rank < time->rank ? time->rank : w->rank;
    }
    time->t = w->t;
    time->rank = w->rank;
}

static enum nocap_status add(struct nocap_merge *o, const struct nocap_event *event,
                             struct nocap_error *err)
{
    struct waiting w = {.event = *event, .arrival = o->arrivals++};
    place_in_order(&o->clock, &w);
    size_t size = (size_t)event->data_size + event->extra_size;
    if (size > 0) {
        w.payload = malloc(size);
        RETURN_ERROR_IF(w.payload == NULL, err, NOCAP_E_MEMORY, "out of memory");
        if (event->data_size > 0) {
            memcpy(w.payload, event->data, event->data_size);
        }
        if (event->extra_size > 0) {
            memcpy(w.payload + event->data_size, event->extra, event->extra_size);
        }
        w.event.data = w.payload;
        w.event.extra = (const char *)w.payload + event->data_size;
    }
    uint32_t i = o->count++;
    for (; i > 0 && earlier(&w, &o->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        o->heap[i] = o->heap[(i - 1) / 2];
    }
    o->heap[i] = w;
    return NOCAP_OK;
}

enum nocap_status nocap_merge_feed(struct nocap_merge *o, const struct nocap_event *events,
                                   size_t count, struct nocap_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (o->count == NOCAP_MERGE_WINDOW) {
            RETURN_IF_FAILED(emit(o, err));
        }
        RETURN_IF_FAILED(add(o, &events[i], err));
    }
    return NOCAP_OK;
}

enum nocap_status nocap_merge_commit(struct nocap_merge *o, uint64_t t, struct nocap_error *err)
{
    while (o->count > 0 && o->heap[0].t <= t) {
        RETURN_IF_FAILED(emit(o, err));
    }
    return NOCAP_OK;
}

enum nocap_status nocap_merge_finish(struct nocap_merge *o, struct nocap_error *err)
{
    return nocap_merge_commit(o, UINT64_MAX, err);
}

void nocap_merge_free(struct nocap_merge *o)
{
    if (o == NULL) {
        return;
    }
    while (o->count > 0) {
        free(o->heap[--o->count].payload);
    }
    source_clock_free(&o->clock);
    free(o);
}
