/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a trace: one event at a time out of the reader's batches. */
#include <nocap/trace.h>
#include <stdlib.h>

#include "api/api.h"
#include "formats/export/text.h"
#include "formats/import/import.h"
#include "formats/trace/filter.h"
#include "formats/trace/jsonl.h"

struct nocap_trace {
    struct nocap_reader *reader;
    struct nocap_filter *filter; /* NULL: all events */
    const struct nocap_event *events;
    size_t count, next;
    bool seeking; /* events before `from` are passed over, up to the first that is not */
    uint64_t from;
    struct nocap_event event; /* the one that was handed out */
    struct nocap_trace_header header;
    struct nocap_text json; /* of the header */
    struct nocap_text_style style;
};

static enum nocap_status describe(struct nocap_trace *t, struct nocap_error *err)
{
    const struct nocap_header *h = nocap_reader_header(t->reader);
    RETURN_IF_FAILED(nocap_jsonl_print_header(&t->json, h, err));
    t->json.data[t->json.size - 1] = '\0';
    t->style = nocap_text_style(h, false);
    t->header = (struct nocap_trace_header){.size = sizeof t->header,
                                            .arch = h->arch,
                                            .board = h->board,
                                            .time_unit = h->time_unit,
                                            .observes = h->observes,
                                            .clock_hz = h->clock_hz,
                                            .producer = h->producer,
                                            .json = t->json.data};
    return NOCAP_OK;
}

/* Opens `path`, or the bytes where it is NULL. */
static enum nocap_status open_as(struct nocap_trace **trace, const char *path, const void *bytes,
                                 size_t size, const struct nocap_trace_open_options *options,
                                 struct nocap_error *err)
{
    struct nocap_trace_open_options o;
    RETURN_IF_FAILED(api_take(&o, sizeof o, options, "nocap_trace_open_options", err));
    struct nocap_trace *t = calloc(1, sizeof *t);
    RETURN_ERROR_IF(t == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status =
        o.filter != NULL ? nocap_filter_compile(&t->filter, o.filter, err) : NOCAP_OK;
    if (status == NOCAP_OK && path != NULL) {
        status = nocap_import_open(&t->reader, path, o.dense, NULL, err);
    } else if (status == NOCAP_OK) {
        status = nocap_reader_open_memory(&t->reader, bytes, size, err);
    }
    if (status == NOCAP_OK && o.dense) {
        nocap_reader_allow_dense(t->reader);
    }
    if (status == NOCAP_OK) {
        status = describe(t, err);
    }
    if (status != NOCAP_OK) {
        nocap_trace_close(t);
        return status;
    }
    *trace = t;
    return NOCAP_OK;
}

enum nocap_status nocap_trace_open(struct nocap_trace **trace, const char *path,
                                   const struct nocap_trace_open_options *options,
                                   struct nocap_error *err)
{
    return open_as(trace, path, NULL, 0, options, err);
}

enum nocap_status nocap_trace_open_memory(struct nocap_trace **trace, const void *bytes,
                                          size_t size,
                                          const struct nocap_trace_open_options *options,
                                          struct nocap_error *err)
{
    return open_as(trace, NULL, bytes, size, options, err);
}

void nocap_trace_close(struct nocap_trace *t)
{
    if (t != NULL) {
        if (t->reader != NULL) {
            nocap_reader_close(t->reader);
        }
        nocap_filter_free(t->filter);
        free(t->json.data);
        free(t);
    }
}

const struct nocap_trace_header *nocap_trace_header(const struct nocap_trace *t)
{
    return &t->header;
}

static bool is_wanted(struct nocap_trace *t, const struct nocap_event *event)
{
    if (t->seeking && event->t < t->from) {
        return false;
    }
    t->seeking = false;
    return t->filter == NULL || nocap_filter_match(t->filter, event);
}

enum nocap_status nocap_trace_next(struct nocap_trace *t, const struct nocap_event **event,
                                   struct nocap_error *err)
{
    for (;;) {
        while (t->next < t->count) {
            const struct nocap_event *e = &t->events[t->next++];
            if (is_wanted(t, e)) {
                t->event = *e;
                t->event.struct_size = sizeof t->event;
                *event = &t->event;
                return NOCAP_OK;
            }
        }
        t->next = t->count = 0;
        RETURN_IF_FAILED(nocap_reader_next(t->reader, &t->events, &t->count, err));
    }
}

enum nocap_status nocap_trace_seek_index(struct nocap_trace *t, uint64_t index,
                                         struct nocap_error *err)
{
    t->next = t->count = 0;
    t->seeking = false;
    return nocap_reader_seek_index(t->reader, index, err);
}

enum nocap_status nocap_trace_seek_time(struct nocap_trace *trace, uint64_t t,
                                        struct nocap_error *err)
{
    trace->next = trace->count = 0;
    trace->seeking = true;
    trace->from = t;
    return nocap_reader_seek_time(trace->reader, t, err);
}

enum nocap_status nocap_trace_totals(const struct nocap_trace *t, struct nocap_trace_sums *sums)
{
    struct nocap_trace_totals totals;
    struct nocap_trace_sums s = {.size = sizeof s};
    if (nocap_reader_totals(t->reader, &totals)) {
        s.known = true;
        s.events = totals.events;
        s.bytes = totals.bytes;
        s.t_first = totals.t_first;
        s.t_last = totals.t_last;
    }
    return api_give(sums, &s, sizeof s);
}

enum nocap_status nocap_trace_damage_at(const struct nocap_trace *t, size_t i,
                                        struct nocap_trace_damage *damage)
{
    static const char *const rules[] = {[NOCAP_DAMAGE_CUT] = "TRC-001",
                                        [NOCAP_DAMAGE_BLOCK] = "TRC-002",
                                        [NOCAP_DAMAGE_COUNTS] = "TRC-007"};
    const struct nocap_integrity *integrity = nocap_reader_integrity(t->reader);
    if (i >= integrity->count || i >= NOCAP_DAMAGE_KEPT) {
        return NOCAP_END;
    }
    const struct nocap_damage *d = &integrity->damage[i];
    const struct nocap_trace_damage out = {.size = sizeof out,
                                           .rule = rules[d->kind],
                                           .index = d->index,
                                           .offset = d->offset,
                                           .text = d->text};
    return api_give(damage, &out, sizeof out);
}

int nocap_trace_text(struct nocap_trace *t, const struct nocap_event *event, char *text,
                     size_t size)
{
    struct nocap_event room;
    struct nocap_text line = {0};
    event = api_event(&room, event);
    int length = -1;
    if (event != NULL && nocap_text_print_event(&t->style, &line, event, NULL) == NOCAP_OK) {
        length = api_line(text, size, line.data, line.size);
    }
    free(line.data);
    return length;
}
