/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checker/views/watch.h"

enum { FETCHES = 4 };

/* NULL: it was not seen yet. */
static struct watch_queue *queue_of(const struct watch *w, uint32_t number)
{
    for (size_t i = 0; i < w->queue_count; i++) {
        if (w->queues[i]->number == number) {
            return w->queues[i];
        }
    }
    return NULL;
}

/* That of a chip whose dispatcher is at a tile. */
static struct watch_queue *queue_at(const struct watch *w, uint16_t chip, struct nocap_xy at)
{
    for (size_t i = 0; i < w->queue_count; i++) {
        const struct watch_queue *q = w->queues[i];
        if (q->chip == chip && nocap_xy_equal(q->last.dispatch, at)) {
            return w->queues[i];
        }
    }
    return NULL;
}

/* NULL without memory, or where there are too many. */
static struct watch_queue *new_queue(struct watch *w, const struct nocap_queue_state *s)
{
    struct watch_queue *q = w->queue_count < WATCH_QUEUES ? calloc(1, sizeof *w->queues[0]) : NULL;
    if (q != NULL) {
        q->number = s->number;
        q->chip = s->chip;
        w->queues[w->queue_count++] = q;
    }
    w->out_of_memory |= q == NULL && w->queue_count < WATCH_QUEUES;
    return q;
}

static uint32_t queue_track(struct watch *w, struct watch_queue *q, uint32_t *track,
                            enum nocap_track_kind kind, unsigned bits, const char *name)
{
    char of[24] = "";
    if (*track != 0) {
        return *track;
    }
    if (q->chip != 0) {
        snprintf(of, sizeof of, "chip %u ", q->chip);
    }
    struct nocap_track group = {.kind = NOCAP_TRACK_GROUP, .chip = q->chip};
    struct nocap_track made = {.kind = (uint8_t)kind, .bits = (uint8_t)bits, .chip = q->chip};
    int n = snprintf(group.name, sizeof group.name, "%scommand queue: prefetch %u,%u", of,
                     q->last.prefetch.x, q->last.prefetch.y);
    if (q->last.has_dispatch) {
        snprintf(group.name + n, sizeof group.name - (size_t)n, ", dispatch %u,%u",
                 q->last.dispatch.x, q->last.dispatch.y);
    }
    made.parent = watch_track(w, &q->group, &group);
    snprintf(made.name, sizeof made.name, "%s", name);
    return watch_track(w, track, &made);
}

static void count(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                  uint32_t *track, const char *name, unsigned bits, uint64_t value)
{
    nocap_timeline_value(w->tl, queue_track(w, q, track, NOCAP_TRACK_COUNTER, bits, name), e->t,
                         value, &watch_counter);
}

/* ---- records ---- */

enum { QUEUE_AT = 46 }; /* above the number of a record */

/* The flow of record `number`, from 1. Flows of launches are numbered apart from them. */
static uint64_t flow_of(const struct watch_queue *q, uint64_t number)
{
    return number | (uint64_t)q->number << QUEUE_AT | UINT64_C(1) << 62;
}

static void report_records(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                           const struct nocap_queue_state *s)
{
    char text[NOCAP_CQ_TEXT_MAX];
    for (uint64_t n = q->last.published; n < s->published; n++) {
        uint64_t flow = flow_of(q, n + 1);
        bool data =
            e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RECORD && (e->has & NOCAP_F_DATA) != 0;
        struct nocap_mark mark = watch_mark("prefetch command", e);
        watch_add(&mark, "record", n);
        if (data) {
            nocap_cq_text(&w->profile->commands, NOCAP_CQ_PREFETCH, e->data, e->data_size, text,
                          sizeof text);
            watch_add_text(&mark, "commands", text);
        }
        mark.flows = &flow;
        mark.flow_count = 1;
        nocap_timeline_instant(
            w->tl, queue_track(w, q, &q->records, NOCAP_TRACK_SLICES, 0, "host: prefetch commands"),
            e->t, &mark);
    }
}

/* Several reads may be in flight; they land in their order. */
static uint32_t fetch_track(struct watch *w, struct watch_queue *q, uint64_t number)
{
    return queue_track(w, q, &q->fetch[number % FETCHES], NOCAP_TRACK_SLICES, 0,
                       "prefetcher: fetch");
}

static void report_fetches(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                           const struct nocap_queue_state *s)
{
    for (uint64_t n = q->last.landed; n < s->landed; n++) {
        nocap_timeline_end(w->tl, fetch_track(w, q, n), e->t);
    }
    for (uint64_t n = q->last.fetched; n < s->fetched; n++) {
        uint64_t flow = flow_of(q, n + 1);
        struct nocap_mark mark = watch_mark("fetch", e);
        watch_add(&mark, "record", n);
        mark.flows = &flow;
        mark.flow_count = 1;
        uint32_t track = fetch_track(w, q, n);
        nocap_timeline_end(w->tl, track, e->t); /* more in flight than there are lanes */
        nocap_timeline_begin(w->tl, track, e->t, &mark);
        if (n < s->landed) {
            nocap_timeline_end(w->tl, track, e->t);
        }
    }
    if (s->relayed != UINT64_MAX && q->last.relayed != UINT64_MAX && s->relayed > q->last.relayed) {
        uint64_t flow = flow_of(q, s->relayed);
        struct nocap_mark mark = watch_mark("relay", e);
        watch_add(&mark, "record", s->relayed - 1);
        mark.flows = &flow;
        mark.flow_count = 1;
        nocap_timeline_instant(
            w->tl, queue_track(w, q, &q->relay, NOCAP_TRACK_SLICES, 0, "prefetcher: relay"), e->t,
            &mark);
    }
}

/* ---- the dispatcher ---- */

static uint64_t *page_at(const struct watch *w, struct watch_queue *q, uint64_t addr)
{
    const struct nocap_queue *layout = &w->profile->queue;
    uint64_t page = addr >= layout->buffer ? (addr - layout->buffer) / layout->page : UINT64_MAX;
    bool inside = page < layout->buffer_pages && page < WATCH_PAGES;
    return inside ? &q->page_flow[page] : NULL;
}

/* A piece of the record that is relayed now reaches the dispatch buffer. */
static void note_relay(struct watch *w, struct watch_queue *q, const struct nocap_event *e)
{
    bool request = e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_WRITE &&
                   e->phase == NOCAP_PHASE_ISSUE && e->d.x == q->last.dispatch.x &&
                   e->d.y == q->last.dispatch.y;
    bool relay = e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RELAY;
    if ((!request && !relay) || w->profile->queue.page == 0) {
        return;
    }
    uint64_t *flow = page_at(w, q, relay ? e->addr : e->daddr);
    if (flow != NULL) {
        *flow = q->last.relayed != UINT64_MAX ? flow_of(q, q->last.relayed + 1) : 0;
    }
}

static void report_command(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                           const struct nocap_queue_state *s)
{
    uint32_t track = queue_track(w, q, &q->dispatch, NOCAP_TRACK_SLICES, 0, "dispatcher: execute");
    bool begins = s->command != NULL &&
                  (q->last.command == NULL || s->command_index != q->last.command_index);
    if (begins || (s->ended && !q->last.ended)) {
        nocap_timeline_end(w->tl, track, e->t);
    }
    if (!begins) {
        return;
    }
    const uint64_t *flow = w->profile->queue.page != 0 ? page_at(w, q, s->command_at) : NULL;
    q->flow = flow != NULL ? *flow : 0;
    struct nocap_mark mark = watch_mark(s->command, e);
    watch_add(&mark, "at", s->command_at);
    mark.flows = &q->flow;
    mark.flow_count = q->flow != 0;
    nocap_timeline_begin(w->tl, track, e->t, &mark);
}

void watch_queue_goes(struct watch *w, const struct nocap_event *e, const uint64_t *flows,
                      uint32_t count)
{
    struct watch_queue *q = queue_at(w, e->chip, e->at);
    uint64_t all[NOCAP_MARK_FLOWS + 1];
    if (q == NULL || !q->any) {
        return;
    }
    memcpy(all, flows, count * sizeof *flows);
    uint32_t total = count;
    if (q->flow != 0) {
        all[total++] = q->flow;
    }
    struct nocap_mark mark = watch_mark("GO", e);
    watch_add(&mark, "workers", count);
    mark.flows = all;
    mark.flow_count = total;
    nocap_timeline_instant(w->tl, q->dispatch, e->t, &mark);
}

static void report_completion(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                              const struct nocap_queue_state *s)
{
    uint32_t *track = &q->completion;
    if (s->wr_known && q->last.wr_known && s->wr != q->last.wr) {
        struct nocap_mark mark = watch_mark("completion", e);
        watch_add(&mark, "completion_wr", s->wr);
        mark.flows = &q->flow;
        mark.flow_count = q->flow != 0;
        nocap_timeline_instant(w->tl,
                               queue_track(w, q, track, NOCAP_TRACK_SLICES, 0, "completion queue"),
                               e->t, &mark);
    }
    if (s->wr_known) {
        count(w, q, e, &q->wr, "completion_wr", 32, s->wr);
    }
    if (s->rd_known) {
        count(w, q, e, &q->rd, "completion_rd", 32, s->rd);
    }
}

static void report_counters(struct watch *w, struct watch_queue *q, const struct nocap_event *e,
                            const struct nocap_queue_state *s)
{
    char name[32];
    if (s->device_known) {
        count(w, q, e, &q->queued, "prefetch_q entries", 16, s->published - s->fetched);
        count(w, q, e, &q->in_flight, "reads in flight", 8, s->fetched - s->landed);
    }
    if (s->pages_known) {
        uint64_t used = s->pages_taken - s->pages_released;
        uint64_t all = w->profile->queue.buffer_pages;
        count(w, q, e, &q->pages, "dispatch buffer: free pages", 16, all > used ? all - used : 0);
    }
    for (unsigned i = 0; i < NOCAP_QUEUE_COUNTERS; i++) {
        if (s->counters[i].read) {
            snprintf(name, sizeof name, "stream %u", NOCAP_NOTIFY_STREAM + i);
            count(w, q, e, &q->streams[i], name, 32, s->counters[i].value);
        }
    }
}

static bool is_at(const struct nocap_event *e, struct nocap_xy at)
{
    return (e->at.x == at.x && e->at.y == at.y) ||
           (e->kind == NOCAP_EV_NOC && e->d.x == at.x && e->d.y == at.y);
}

/* Whether the event is about the queue: its own, of host memory, of one of its two cores. */
static bool is_of_queue(const struct watch_queue *q, const struct nocap_event *e)
{
    bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    bool own = e->kind == NOCAP_EV_CQ && ((e->has & NOCAP_F_AT) == 0 ||
                                          is_at(e, q->last.prefetch) || is_at(e, q->last.dispatch));
    return !q->any || own || (access && e->space == NOCAP_SPACE_SYSMEM) ||
           ((access || e->kind == NOCAP_EV_NOC) &&
            (is_at(e, q->last.prefetch) || is_at(e, q->last.dispatch)));
}

static void watch_one(struct watch *w, uint32_t number, const struct nocap_event *e)
{
    struct watch_queue *q = queue_of(w, number);
    struct nocap_queue_state s;
    if ((q != NULL && (q->chip != e->chip || !is_of_queue(q, e))) ||
        !nocap_engine_queue_state(w->engine, number, &s) || s.chip != e->chip ||
        (!s.has_dispatch && s.published == 0)) {
        return;
    }
    q = q != NULL ? q : new_queue(w, &s);
    if (q == NULL) {
        return;
    }
    if (!q->any) {
        q->any = true;
        q->last = s; /* what was before the first look is not shown as if it happened now .. */
        if (s.fetched - s.landed <= FETCHES) {
            q->last.fetched = s.landed; /* .. but what is under way */
        }
        q->last.published =
            s.published - (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RECORD && s.published != 0);
        q->last.command = NULL;
    }
    note_relay(w, q, e);
    report_records(w, q, e, &s);
    report_fetches(w, q, e, &s);
    report_command(w, q, e, &s);
    report_completion(w, q, e, &s);
    report_counters(w, q, e, &s);
    q->last = s;
}

void watch_queue(struct watch *w, const struct nocap_event *e)
{
    const uint32_t count = nocap_engine_queue_count(w->engine);
    for (uint32_t i = 0; i < count; i++) {
        watch_one(w, i, e);
    }
}

void watch_queue_forget(struct watch *w)
{
    for (size_t i = 0; i < w->queue_count; i++) {
        memset(w->queues[i]->page_flow, 0, sizeof w->queues[i]->page_flow);
        w->queues[i]->any = false;
        w->queues[i]->flow = 0;
    }
}

void watch_queue_catch_up(struct watch *w, const struct nocap_event *e, uint16_t chip)
{
    struct nocap_event look = nocap_event_of(NOCAP_EV_NOTE);
    look.t = e->t;
    look.chip = chip;
    const uint32_t count = nocap_engine_queue_count(w->engine);
    for (uint32_t i = 0; i < count; i++) {
        if (queue_of(w, i) == NULL) {
            watch_one(w, i, &look);
        }
    }
}
