/* SPDX-License-Identifier: Apache-2.0 */
/* What a core polls tells what it waits for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/blackhole/niu.h"
#include "formats/blackhole/registers.h"
#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"

static const char *const request_names[NOCAP_REQUESTS] = {"read", "write", "atomic"};

const char *wait_request_name(enum nocap_requests kind)
{
    return request_names[kind];
}

void wait_describe_requests(const struct progress_requests *r, enum nocap_requests kind, char *text,
                            size_t size)
{
    if (r->issued == 0) {
        snprintf(text, size, "and no %s was issued that it could count", request_names[kind]);
        return;
    }
    int at = snprintf(text, size, "%" PRIu64 " %s%s issued, %" PRIu64 " known to have ended",
                      r->issued, request_names[kind], r->issued > 1 ? "s" : "",
                      r->ended < r->issued ? r->ended : r->issued);
    for (uint32_t i = 0; i < r->open_count && at > 0 && (size_t)at < size; i++) {
        const struct progress_request *one = &r->open[i];
        at += snprintf(text + at, size - (size_t)at, "%s #%" PRIu64,
                       i == 0 ? "; without an end" : ",", one->index);
        if (one->has_far && (size_t)at < size) {
            at += snprintf(text + at, size - (size_t)at, " %s %u,%u",
                           kind == NOCAP_READS ? "from" : "to", one->far.x, one->far.y);
        }
    }
}

/* A barrier: what was issued, what has ended. */
static void report_barrier(const struct wait_builder *t, struct nocap_wait *w,
                           const struct nocap_register_place *place, const struct poll *l)
{
    const struct nocap_niu_counted c = nocap_niu_counted(place->id + place->index);
    bool counts = c.set != 0 && !c.of_trid;
    enum nocap_requests kind = counts ? (enum nocap_requests)__builtin_ctz(c.set) : NOCAP_READS;
    const struct progress_requests *r = &progress_of(t->tile)->requests[place->noc][kind];
    char name[64], requests[160] = "";
    nocap_register_name(l->addr, NOCAP_BY_BRISC, name, sizeof name);
    if (counts) {
        wait_describe_requests(r, kind, requests, sizeof requests);
    }
    w->state = "in a NOC barrier";
    w->release = "the responses that are missing";
    w->counted = counts && r->issued > 0;
    w->have = r->ended < r->issued ? r->ended : r->issued;
    w->need = r->issued;
    wait_report_as(t, w, "%s stays 0x%" PRIx64 "%s%s", name, l->value,
                   requests[0] != '\0' ? ": " : "", requests);
}

/* Who wrote last where the core polls would have to again. Says so in `text` where that one is
 * through with its kernel. */
static void name_writer(const struct wait_builder *t, struct nocap_wait *w, const struct poll *l,
                        char *text, size_t size)
{
    const struct last_writer *writer = last_writer(t->m, t->tile->chip, t->tile->at, l->addr);
    const struct nocap_core_info *core = writer != NULL ? nocap_core(writer->agent) : NULL;
    text[0] = '\0';
    if (core == NULL || (writer->agent == w->who.agent && writer->at.x == t->tile->at.x &&
                         writer->at.y == t->tile->at.y)) {
        return;
    }
    const struct tile *tile = tile_find(t->m, t->tile->chip, writer->at);
    if (tile != NULL && tile->launch.kernels[core->processor].inside == NO) {
        snprintf(text, size, "; %s of %u,%u wrote it last, at index %" PRIu64 ", and has completed",
                 nocap_agent_name(writer->agent), writer->at.x, writer->at.y, writer->index);
    } else {
        w->by = wait_party_at(t, writer->agent, writer->at);
    }
}

/* "CB 16: received 2, acked 0" */
static int print_buffer(const struct progress *p, unsigned i, char *text, size_t size)
{
    const struct progress_buffer *b = &p->buffers[i];
    char tiles[BUFFER_COUNTERS][12] = {"not seen", "not seen"};
    for (unsigned k = 0; k < BUFFER_COUNTERS; k++) {
        if (b->known[k]) {
            snprintf(tiles[k], sizeof tiles[k], "%u", b->tiles[k]);
        }
    }
    return snprintf(text, size, "CB %u: received %s, acked %s", i, tiles[BUFFER_RECEIVED],
                    tiles[BUFFER_ACKED]);
}

const char *wait_buffers(const struct wait_builder *t, unsigned agent, char *text, size_t size)
{
    enum { SHOWN = 4 };
    const struct progress *p = progress_of(t->tile);
    size_t used = 0;
    unsigned shown = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < NOCAP_CB_COUNT && shown < SHOWN && used + 2 < size; i++) {
        const struct progress_buffer *b = &p->buffers[i];
        if (b->by[BUFFER_RECEIVED] == agent || b->by[BUFFER_ACKED] == agent) {
            memcpy(text + used, shown++ == 0 ? " (" : "; ", 3);
            used += 2 + (size_t)print_buffer(p, i, text + used + 2, size - used - 2);
        }
    }
    if (shown > 0 && used + 2 < size) {
        memcpy(text + used, ")", 2);
    }
    return text;
}

/* Where the trace does not show it otherwise: tiles of a buffer out of which it takes them, that is
 * empty, or room in one that it fills, that holds what it ever held at most. Whoever is at its
 * other end is in a kernel too. */
bool wait_at_buffer(const struct wait_builder *t, unsigned processor, struct event_ref since)
{
    const struct progress *p = progress_of(t->tile);
    const unsigned agent = nocap_cores[processor].agent;
    char counters[64];
    if (trace_of(t->m)->polls || p->agents[PROGRESS_CORE0 + processor].waypoint[0] != '\0') {
        return false;
    }
    for (unsigned i = 0; i < NOCAP_CB_COUNT; i++) {
        const struct progress_buffer *b = &p->buffers[i];
        const uint16_t holds = progress_buffer_holds(b);
        const bool empty = holds == 0, full = b->most != 0 && holds >= b->most;
        const unsigned own = empty ? BUFFER_ACKED : BUFFER_RECEIVED;
        const struct nocap_core_info *other = nocap_core(b->by[own ^ 1u]);
        if (b->by[own] != agent || !(empty || full) || other == NULL || other->agent == agent ||
            t->tile->launch.kernels[other->processor].inside != YES) {
            continue;
        }
        struct nocap_wait w = wait_begin(t, agent, since);
        w.by = wait_party(t, other->agent);
        w.state = "in kernel";
        (void)print_buffer(p, i, counters, sizeof counters);
        wait_report_as(t, &w,
                       "%s in a circular buffer, it seems (%s), since it did not leave its kernel",
                       empty ? "tiles" : "room", counters);
        return true;
    }
    return false;
}

/* A counter of a circular buffer: the producer or the consumer does not move it. */
static bool report_buffer(const struct wait_builder *t, struct nocap_wait *w,
                          const struct nocap_register_place *place, const struct poll *l)
{
    char last[96], counters[64];
    unsigned buffer = place->stream - NOCAP_CB_STREAM;
    bool received = place->index == NOCAP_STREAM_TILES_RECEIVED;
    if (place->stream < NOCAP_CB_STREAM || place->stream >= NOCAP_CB_STREAM + NOCAP_CB_COUNT ||
        (!received && place->index != NOCAP_STREAM_TILES_ACKED)) {
        return false;
    }
    name_writer(t, w, l, last, sizeof last);
    w->state = received ? "waiting for tiles" : "waiting for room";
    w->release = received ? "a push_back of its producer" : "a pop_front of its consumer";
    (void)print_buffer(progress_of(t->tile), buffer, counters, sizeof counters);
    wait_report_as(t, w, "%s; polls tiles %s%s", counters, received ? "received" : "acked", last);
    return true;
}

bool wait_polls(const struct wait_builder *t, unsigned processor, const char *state)
{
    const struct poll *l =
        progress_poll_of(&progress_of(t->tile)->agents[PROGRESS_CORE0 + processor]);
    unsigned agent = nocap_cores[processor].agent;
    struct nocap_register_place place = {.family = NOCAP_FAMILY_NONE};
    char name[64], last[96];
    bool mailbox = l != NULL && l->addr < SHADOW_SIZE;
    if (l == NULL || mailbox) { /* the launch model has the waits at the mailbox */
        return false;
    }
    struct nocap_wait w = wait_begin(t, agent, l->since);
    w.addr = l->addr;
    w.size = 4;
    if (nocap_register_find(l->addr, agent, &place)) {
        nocap_register_name(l->addr, agent, name, sizeof name);
        if (place.family == NOCAP_FAMILY_NIU_COUNTER) {
            report_barrier(t, &w, &place, l);
            return true;
        }
    } else {
        snprintf(name, sizeof name, "L1 0x%" PRIx64, l->addr);
    }
    w.said = state == NULL;
    if (place.family == NOCAP_FAMILY_STREAM && report_buffer(t, &w, &place, l)) {
        return true;
    }
    name_writer(t, &w, l, last, sizeof last);
    w.state = "polling";
    w.release = "another value there";
    wait_report_as(t, &w, "%s: polls %s, which stays 0x%" PRIx64 " (%" PRIu64 " times)%s",
                   state != NULL ? state : "in a kernel not seen to begin", name, l->value,
                   l->count, last);
    return true;
}

void wait_pollers(const struct wait_builder *t)
{
    enum { POLLS = 16 }; /* a barrier after another finds what it wants, and finds it twice */
    if (queue_at(t->m, t->tile->chip, t->tile->at) != NULL) {
        return; /* the queue's kernels wait for records */
    }
    for (unsigned p = 0; p < NOCAP_PROCESSOR_COUNT; p++) {
        const struct poll *l = progress_poll_of(&progress_of(t->tile)->agents[PROGRESS_CORE0 + p]);
        if (l != NULL && l->count >= POLLS) {
            (void)wait_polls(t, p, NULL);
        }
    }
}
