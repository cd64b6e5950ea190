/* SPDX-License-Identifier: Apache-2.0 */
/* What the dispatcher of a queue waits for: pages, announcements of workers, room for completions,
 * barriers. */
#include <stdio.h>

#include "replay/cq/cq_waits.h"

/* Whether it began with a command of which it is not said that it is over. */
static bool is_at_work(const struct queue_view *v)
{
    return v->q->ring.executing && !v->q->ring.finished;
}

bool cq_in_command(const struct queue_view *v)
{
    const struct cq_ring *r = &v->q->ring;
    const struct tile *tile = v->tiles[CQ_DISPATCH];
    const struct poll *last = tile != NULL ? progress_look_of(tile, NOCAP_PROCESSOR_BRISC) : NULL;
    bool looks = last != NULL && last->addr == v->q->sem[CQ_DISPATCH];
    return r->executed_index != NO_INDEX && !r->finished && !looks &&
           (v->q->sees_loads || r->ends_shown);
}

/* The stream at whose count the dispatcher looks again and again; CQ_STREAMS: none. */
unsigned cq_polled_stream(const struct queue_view *v)
{
    const struct poll *l = v->polls[CQ_DISPATCH];
    unsigned i = 0;
    while (i < CQ_STREAMS && (l == NULL || l->count < PROGRESS_LOOKS ||
                              l->addr != nocap_stream_address(v->q->numbers->first_stream + i,
                                                              NOCAP_STREAM_SPACE_AVAILABLE))) {
        i++;
    }
    return i;
}

/* Where its command is not known, what it looks at tells. */
static bool wants_workers(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_brief *b = &v->q->ring.brief;
    const struct poll *l = v->polls[CQ_DISPATCH];
    uint32_t i = (uint32_t)b->stream - v->q->numbers->first_stream;
    bool waits = is_at_work(v) && b->known &&
                 ((b->id == NOCAP_CQ_DISPATCH_WAIT && (b->flags & NOCAP_CQ_WAIT_STREAM) != 0) ||
                  b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL);
    unsigned polled = cq_polled_stream(v);
    if (!waits && polled < CQ_STREAMS) {
        wait_since(w, l->since);
        wait_place(w, l->addr, 4);
        WHAT("more notifies of workers on stream %u: %llu came, and how many it waits for is not "
             "observed",
             v->q->numbers->first_stream + polled, wide(l->value));
        if (cq_report_at_work(v, w) > 0) {
            *what = '\0';
        }
        return true;
    }
    if (!waits || i >= CQ_STREAMS) {
        return false;
    }
    const struct cq_stream *s = &v->q->dispatcher.streams[i];
    const struct cq_asked asked = {.stream = i,
                                   .command = b,
                                   .poll = l,
                                   .read = s->read,
                                   .value = s->value,
                                   .index = v->q->ring.executed_index};
    return cq_wants_workers(v, &asked, w, what);
}

static bool wants_space(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct poll *l = v->polls[CQ_DISPATCH];
    if (l == NULL || l->addr != v->q->numbers->completion_rd || !is_at_work(v)) {
        return false;
    }
    wait_since(w, l->since);
    wait_place(w, v->q->numbers->completion_rd, 4);
    if (v->q->completion.toggled != FAULT_NONE) {
        w->release = "a write pointer with the toggle of its lap";
        WHAT("room in the completion queue, which is full by the wrong toggle of its own pointer");
    } else {
        w->by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
        WHAT("room in the completion queue: completion_q_rd_ptr does not move");
    }
    return true;
}

static bool wants_acks(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct poll *l = v->polls[CQ_DISPATCH];
    struct cq_dispatcher *d = &v->q->dispatcher;
    struct nocap_register_place where;
    char name[64];
    if (l == NULL || !nocap_register_find(l->addr, NOCAP_BY_BRISC, &where) ||
        where.family != NOCAP_FAMILY_NIU_COUNTER) {
        return false;
    }
    const struct cq_write *first = d->acks_seen ? cq_unacked(d) : NULL;
    nocap_register_name(l->addr, NOCAP_BY_BRISC, name, sizeof name);
    wait_since(w, l->since);
    wait_place(w, l->addr, 4);
    WHAT(first != NULL
             ? "%s stays 0x%llx; %u of its multicasts not acknowledged, the first at index %llu"
             : "%s stays 0x%llx",
         name, wide(l->value), d->unacked, wide(first != NULL ? first->index : 0));
    return true;
}

/* Pages that it has finished and has not released, while the prefetcher is short of them. */
static bool must_release(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_ring *r = &v->q->ring;
    uint64_t have, need, back = cq_released_pages(v);
    uint64_t end = r->consumed + (cq_in_command(v) ? 0 : r->current_pages);
    uint64_t blocks = end / v->q->numbers->block_pages;
    uint64_t due = blocks > 0 ? (blocks - 1) * v->q->numbers->block_pages : 0;
    const bool all =
        cq_looks_for_credits(v) && cq_looks_for_pages(v); /* what it got, it finished */
    if (!all && (!cq_short_of_credits(v, &have, &need) || due <= back)) {
        return false;
    }
    wait_since(w, wait_at_index(r->release_count > 0
                                    ? r->releases[(r->release_count - 1) % CQ_RELEASES].at.index
                                    : r->executed_index));
    if (all) {
        WHAT("finished all pages that were made ready, and the prefetcher has none that are free");
    } else {
        WHAT("finished %llu blocks of the dispatch buffer and released %llu pages, %llu too few",
             wide(blocks), wide(back), wide(due - back));
    }
    return true;
}

/* Pages were made ready, and how far it has come with them is not observed: it waits for the
 * prefetcher if that does not go on, for workers if any are in a launch, or not at all. */
static void describe_unseen(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const unsigned long long pages = wide(v->q->ring.published);
    if (v->relay_stuck) {
        w->state = "idle";
        w->by = cq_party(v, CQ_PREFETCH);
        WHAT("more pages, or has not finished the %llu pages that were made ready: which command "
             "it executes is not observed",
             pages);
        return;
    }
    WHAT("more notifies of workers, it seems: which command it executes is not observed");
    if (cq_report_at_work(v, w) > 0) {
        *what = '\0';
    } else {
        WHAT("has not finished the %llu pages that were made ready; which command it executes is "
             "not observed",
             pages);
    }
}

/* A command that is not over; else pages. */
static bool wants_pages(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    const struct cq_ring *r = &v->q->ring;
    const struct poll *l = v->polls[CQ_DISPATCH];
    bool executes = r->executed_index != NO_INDEX;
    bool polls = cq_looks_for_pages(v);
    bool at_it = cq_in_command(v);
    uint64_t end = r->consumed + (executes && !at_it ? r->current_pages : 0);
    wait_since(w, polls ? l->since : wait_at_index(r->executed_index));
    wait_place(w, v->q->sem[CQ_DISPATCH], 4);
    if (at_it || (r->origin && end < r->published && !polls && !cq_passed_pages(v))) {
        w->state = at_it || !executes ? "in a command" : "not reading its buffer";
        w->release = NULL;
        if (!executes) {
            describe_unseen(v, w, what);
            return true;
        }
        wait_place(w, r->current, 4);
        WHAT(at_it ? "never finished the command at 0x%x that it began at index %llu"
                   : "never went on to what was made ready behind the command at 0x%x, which it "
                     "began at index %llu",
             r->current, wide(r->executed_index));
        return true;
    }
    w->state = polls ? "polling for pages" : "idle";
    w->by = cq_party(v, CQ_PREFETCH);
    if (r->origin) {
        WHAT("more pages than the %llu that it got and finished", wide(end));
    } else {
        WHAT("pages: its semaphore stays 0x%llx", wide(polls ? l->value : 0));
    }
    return r->origin || polls;
}

static bool is_over(const struct queue_view *v, struct nocap_wait *w, char *what)
{
    wait_since(w, wait_at_index(v->q->ring.executed_index));
    w->certain = v->overrun;
    WHAT("executed TERMINATE and takes no more commands%s",
         v->overrun ? "; others were enqueued behind it" : "");
    return v->q->ring.ended;
}

const struct cq_wait_step cq_dispatcher_steps[] = {
    {is_over, "ended", NULL},
    {cq_forgot_notify, "after a notification",
     "it counts up the word that the subordinate dispatcher polls"},
    {wants_workers, "in WAIT", "a notify from each missing worker"},
    {wants_space, "polling the read pointer",
     "the host reads completion pages and moves its read pointer"},
    {wants_acks, "in a NOC barrier", "the acknowledgements that are missing"},
    {must_release, "pages not released", "it adds the pages to semaphore 0 of the prefetcher"},
    {wants_pages, "idle", "the prefetcher makes pages ready"},
    {0},
};
