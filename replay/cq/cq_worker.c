/* SPDX-License-Identifier: Apache-2.0 */
/* The workers' answers to the dispatcher's go words: DONE, one notify, the read pointer. Rules
 * CQ-051, CQ-052, CQ-054, CQ-055, CQ-056. */
#include "replay/cq/cq_private.h"

static struct cq_worker *worker_at(struct cq *q, struct nocap_xy at)
{
    unsigned i = at.x + NOCAP_GRID_WIDTH * (unsigned)at.y;
    return at.x < NOCAP_GRID_WIDTH && i < CQ_TILES ? &q->workers[i] : NULL;
}

/* The reset of the read pointer must be obeyed before GO takes its place in the go word. */
static void judge_reset(struct cq *q, const struct tile *tile)
{
    const struct launch_facts *l = &tile->launch;
    uint32_t rd_ptr;
    bool waiting = l->request == NOCAP_GO_RESET_READ_PTR_FROM_HOST && l->request_done == NO;
    fault_id since = q->expected.launch;
    if (l->request != 0 && l->request_done != UNKNOWN) {
        cq_blame(&since, l->requested.index == q->unobeyed ? q->unobeyed_since : FAULT_NONE);
        FOLLOWING(q->m, since,
                  CHECK_AT(q->m, tile, CQ_051, !waiting, cq_event_ref(q, NOCAP_BY_DISPATCH),
                           RELATED(l->requested.index),
                           "the reset of the read pointer obeyed before GO overwrites it", "%s",
                           "GO sent before the worker has stored its reset read pointer"));
    }
    if (waiting) {
        q->unobeyed = l->requested.index;
        q->unobeyed_since = q->m->fault;
    }
    bool resets = q->numbers->inline_only != 0 || l->request == NOCAP_GO_RESET_READ_PTR_FROM_HOST;
    if (!waiting && resets && l->advance != UNKNOWN &&
        shadow_word(&tile->l1, q->m->layout->rd_ptr, &rd_ptr)) {
        cq_blame(&since, q->ring.executing ? q->ring.brief.unreset : FAULT_NONE);
        FOLLOWING(q->m, since,
                  CHECK_AT(q->m, tile, CQ_052, rd_ptr == 0, cq_event_ref(q, NOCAP_BY_DISPATCH),
                           RELATED(l->done.index), "a read pointer of 0 at GO",
                           "launch message read pointer is %u at GO, not 0", rd_ptr));
    }
}

/* Whether what the tile does is observed. A trace without `scope` shows that by an event of it. */
static bool is_observed(const struct cq *q, const struct tile *tile, struct nocap_xy at)
{
    bool shown = q->m->header->has_scope || cq_set_has(&q->acted, at) ||
                 (tile != NULL && tile->launch.shown);
    return shown && (tile != NULL ? tile->in_scope : nocap_header_in_scope(q->m->header, at));
}

/* The dispatcher sends a go word to a tile. */
void cq_worker_go(struct cq *q, struct nocap_xy at, uint32_t word)
{
    struct cq_worker *w = worker_at(q, at);
    const struct tile *tile = tile_find(q->m, q->m->event->chip, at);
    if (w == NULL) {
        return;
    }
    const struct nocap_go_word go = nocap_go_decode(word);
    fault_id launch = q->expected.launch;
    cq_blame(&launch, word == q->wrong.go_word ? q->wrong.go_since : FAULT_NONE);
    bool observed = is_observed(q, tile, at);
    if (observed && tile != NULL && tile->sees_cores) {
        judge_reset(q, tile);
    }
    *w = (struct cq_worker){.go = true,
                            .notify_pending = true,
                            .since = w->since,
                            .missing = w->missing,
                            .done = NO,
                            .offset = go.offset,
                            .launch = launch,
                            .go_index = q->m->event->index};
    if (observed) {
        cq_set_add(&q->owing, at);
    } else if (!q->m->header->has_scope) {
        q->unshown_go = cq_set_empty(&q->unshown) ? now(q->m) : q->unshown_go;
        cq_set_add(&q->unshown, at);
    }
}

void cq_worker_finish(const struct cq *q)
{
    unsigned count = 0;
    struct nocap_xy first = {0, 0};
    for (unsigned i = CQ_TILES; i-- > 0;) {
        const struct nocap_xy at = cq_tile_of(i);
        const struct tile *tile = tile_find(q->m, q->chip, at);
        bool shown = cq_set_has(&q->acted, at) || (tile != NULL && tile->launch.shown);
        if (cq_set_has(&q->unshown, at) && !shown) {
            first = at;
            count++;
        }
    }
    if (count > 0) {
        CHECK_AT(q->m, NULL, TRC_009, false, q->unshown_go, NO_REFS,
                 "events of the RISCs of every worker core in `scope`, which are all where it is "
                 "missing",
                 "worker cores that get go messages and show no event: %u, the first %u,%u; name "
                 "the observed ones in `scope`",
                 count, first.x, first.y);
    }
}

/* It has notified, or went on without. */
static void settle(struct cq *q, struct cq_worker *w, struct nocap_xy at, fault_id since)
{
    w->notify_pending = false;
    w->since = since;
    w->missing = since != FAULT_NONE ? since : w->missing;
    w->lost = FAULT_NONE;
    cq_set_remove(&q->owing, at);
}

void cq_worker_forget(struct cq *q, struct nocap_xy at)
{
    struct cq_worker *w = worker_at(q, at);
    if (w != NULL) {
        *w = (struct cq_worker){.launch = q->expected.launch};
        cq_set_remove(&q->owing, at);
    }
}

/* BRISC of a worker stores to its mailbox. */
void cq_worker_store(struct cq *q, struct nocap_xy at, const struct access *a)
{
    struct cq_worker *w = worker_at(q, at);
    uint8_t signal;
    uint32_t rd_ptr;
    if (a->addr >= NOCAP_L1_SIZE || w == NULL || !w->go) {
        return;
    }
    uint32_t at_signal = q->m->layout->go_messages + NOCAP_GO_SIGNAL_BYTE;
    if (!access_byte(a, at_signal, &signal) && touches(a, at_signal, 1)) {
        w->done = UNKNOWN;
    } else if (access_byte(a, at_signal, &signal) && signal == NOCAP_GO_DONE) {
        w->done = YES;
    } else if (access_word(a, q->m->layout->rd_ptr, &rd_ptr) && w->done == YES &&
               w->notify_pending && q->sees_noc && nocap_header_in_scope(q->m->header, at)) {
        CHECK_AT(q->m, tile_find(q->m, q->m->event->chip, at), CQ_055, false,
                 cq_event_ref(q, NOCAP_BY_BRISC), RELATED(w->go_index),
                 "one notify for every go message", "%s",
                 "read pointer moved on without a notify for the go message");
        settle(q, w, at, q->m->fault);
    }
}

/* A request that may be a notify. */
struct notify {
    uint64_t stream;
    bool update;   /* it adds to that stream */
    bool dispatch; /* of the core that counts notifies, or of one that the trace does not name */
};

/* A pending notify may go anywhere: it is known by its value. */
static bool may_notify(const struct cq_worker *w, const struct nocap_event *e)
{
    uint32_t word;
    return w->notify_pending && e->op == NOCAP_OP_INLINE && nocap_event_word(e, &word) &&
           word == NOCAP_NOTIFY_VALUE;
}

/* NULL, or what is wrong with a notify. */
static const char *problem(const struct cq *q, const struct nocap_event *e,
                           const struct cq_worker *w, const struct notify *n)
{
    bool there = (e->has & NOCAP_F_D) == 0 || cq_may_answer(q, e->d);
    if (!w->notify_pending) {
        return w->go ? "a second notify for one go message"
                     : "notify of a worker that got no go message";
    }
    if (!there || !n->update || n->stream != q->numbers->first_stream + (uint64_t)w->offset) {
        return "notify not sent to the core and stream that the go message names";
    }
    if (e->op == NOCAP_OP_INLINE) {
        uint32_t word;
        bool value = !nocap_event_word(e, &word) || word == NOCAP_NOTIFY_VALUE;
        bool posted = (e->has & NOCAP_F_POSTED) == 0 || e->posted != 0;
        return !value    ? "notify that does not count 1"
               : !posted ? "notify that is not posted"
                         : NULL;
    }
    return NULL;
}

/* One that takes from the count is none. */
static bool judge_down(struct cq *q, struct cq_worker *w, const struct nocap_event *e,
                       const struct notify *n)
{
    uint32_t word = 0;
    (void)nocap_event_word(e, &word);
    bool down = n->dispatch && n->stream >= q->numbers->first_stream && (int32_t)word < 0;
    if (down) {
        CHECK_AT(q->m, tile_find(q->m, e->chip, e->at), CQ_056, false, cq_event_ref(q, e->by),
                 NO_REFS, "a stream counted down by the dispatcher only",
                 "0x%x, which counts down, added to a stream from core %u,%u", word, e->at.x,
                 e->at.y);
    }
    if (down && w->notify_pending) { /* it is its notify, and wrong */
        settle(q, w, e->at, q->m->fault);
    }
    return down;
}

static void judge_notify(struct cq *q, struct cq_worker *w, const struct nocap_event *e,
                         const struct notify *n)
{
    struct tile *tile = tile_find(q->m, e->chip, e->at);
    struct event_ref at = cq_event_ref(q, e->by);
    bool early = w->notify_pending && w->done == NO;
    const char *wrong = problem(q, e, w, n);
    fault_id since = w->since != FAULT_NONE ? w->since : w->launch;
    if (!w->notify_pending && since == FAULT_NONE) {
        since = w->missing;
        w->missing = FAULT_NONE;
    }
    FOLLOWING(
        q->m, since != FAULT_NONE ? since : q->expected.launch,
        CHECK_AT(
            q->m, tile, CQ_055, wrong == NULL, at, RELATED(w->go ? w->go_index : NO_INDEX),
            "one notify for every go message: a posted write of 0x40 to the stream that it names",
            "%s", wrong));
    if (n->dispatch && wrong != NULL) {
        cq_dispatcher_extra(q, n->stream);
    }
    bool late = wrong == NULL && early && w->since != FAULT_NONE; /* the one that was missing */
    if (wrong == NULL && tile != NULL && tile->sees_cores) {
        FOLLOWING(q->m, since,
                  CHECK_AT(q->m, tile, CQ_054, !early, at, RELATED(w->go_index),
                           "DONE stored before the notify", "%s",
                           "notify sent while the go message still says GO"));
        tile->notified_since = fault_of(q->m, !early);
    }
    settle(q, w, e->at, late ? w->since : FAULT_NONE);
}

/* A request of a tile that is not of the queue. */
void cq_worker_noc(struct cq *q, const struct nocap_event *e)
{
    struct cq_worker *w = worker_at(q, e->at);
    cq_set_add(&q->acted, e->at);
    const struct notify n = {.stream = (e->daddr - NOCAP_BASE_STREAM) / NOCAP_STREAM_STRIDE,
                             .update = nocap_adds_to_stream(e->daddr),
                             .dispatch = (e->has & NOCAP_F_D) == 0 ||
                                         nocap_xy_equal(e->d, q->subordinate_at)};
    bool own = w != NULL && w->done == YES && may_notify(w, e);
    if (w == NULL || (e->op != NOCAP_OP_INLINE && e->op != NOCAP_OP_ATOMIC) ||
        (!n.update && !own) || judge_down(q, w, e, &n)) {
        return;
    }
    bool waits = w->notify_pending && w->done == YES;
    bool known = w->go || (q->program.listed == YES && q->program.ran_all &&
                           !cq_set_has(&q->program.ran, e->at));
    /* tile counters have streams too */
    if (known && (n.dispatch || waits) && (n.stream >= q->numbers->first_stream || own)) {
        judge_notify(q, w, e, &n);
    }
}

/* Where DONE is not observed it may have been a kernel's own: what is missing then follows from
 * what is wrong with it. */
void cq_worker_sent(struct cq *q, const struct nocap_event *e)
{
    struct cq_worker *w = worker_at(q, e->at);
    if (w != NULL && q->m->request_fault != FAULT_NONE && may_notify(w, e)) {
        cq_blame(&w->lost, q->m->request_fault);
    }
}

fault_id cq_worker_lost(const struct cq *q)
{
    fault_id lost = FAULT_NONE;
    for (unsigned i = 0; i < CQ_TILES; i++) {
        const struct nocap_xy at = cq_tile_of(i);
        if (cq_set_has(&q->owing, at)) {
            if (q->workers[i].lost == FAULT_NONE) {
                return FAULT_NONE;
            }
            cq_blame(&lost, q->workers[i].lost);
        }
    }
    return lost;
}
