/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the tiles of the queue and of workers, brought to the part of the model that each
 * concerns. Rules CQ-041, CQ-043, CQ-062, CQ-070. */
#include "replay/cq/cq_private.h"

/* Counters and pointers that only certain cores may write. */
static void judge_target(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    struct access a = {.addr = e->daddr, .size = size};
    bool prefetch = (e->has & NOCAP_F_D) != 0 && nocap_xy_equal(e->d, q->at[CQ_PREFETCH]);
    bool dispatch = (e->has & NOCAP_F_D) != 0 && nocap_xy_equal(e->d, q->at[CQ_DISPATCH]);
    if ((!prefetch && !dispatch) || !cq_is_placed(q)) {
        return; /* it may be the core whose tile is not known yet */
    }
    uint32_t sem = q->sem[prefetch ? CQ_PREFETCH : CQ_DISPATCH];
    CHECK(q->m, cq_tile(q, prefetch ? CQ_PREFETCH : CQ_DISPATCH), CQ_041, !touches(&a, sem, 4),
          NO_REFS,
          "semaphore 0 counted up by an atomic of the other command-queue core, never stored",
          "%s to semaphore 0 from core %u,%u", nocap_op_name(e->op), e->at.x, e->at.y);
    const struct nocap_queue *n = q->numbers;
    bool idle = n->dispatchers < 2 &&
                ((prefetch && touches(&a, sem + n->semaphore_stride, 4)) ||
                 (dispatch && touches(&a, n->subordinate_buffer, n->subordinate_size)));
    CHECK(q->m, cq_tile(q, CQ_DISPATCH), CQ_043, !idle, NO_REFS,
          "no traffic to the idle buffer and semaphore of the subordinate dispatcher",
          "%s from core %u,%u to 0x%llx, which is the idle subordinate dispatcher's",
          nocap_op_name(e->op), e->at.x, e->at.y, wide(e->daddr));
    CHECK(q->m, cq_tile(q, CQ_DISPATCH), CQ_062,
          !dispatch || !touches(&a, q->numbers->completion_rd, 4), NO_REFS,
          "completion_q_rd_ptr written by the host only",
          "%s to completion_q_rd_ptr from core %u,%u", nocap_op_name(e->op), e->at.x, e->at.y);
}

void cq_counted_text(char text[CQ_COUNTED_TEXT], const struct nocap_event *e)
{
    if (e->kind == NOCAP_EV_CQ) {
        snprintf(text, CQ_COUNTED_TEXT, "semaphore %llu", wide(e->sem));
    } else {
        snprintf(text, CQ_COUNTED_TEXT, "0x%llx of core %u,%u", wide(e->daddr), e->d.x, e->d.y);
    }
}

bool cq_credit_restated(struct cq *q, enum cq_core grows, const struct cq_credit *credit)
{
    struct cq_credit *first = &q->credits[grows];
    if (!first->known || first->seq != credit->seq || first->unit == credit->unit) {
        *first = *credit;
        return false;
    }
    const struct cq_credit a = *first;
    bool same =
        nocap_xy_equal(a.at, credit->at) && a.addr == credit->addr && a.value == credit->value;
    first->known = false;
    if (grows == CQ_DISPATCH) {
        CQ_FETCHER_AFTER(q, CQ_037, a.since, same, NO_REFS, "pages made ready as both events say",
                         "the same act counts 0x%x of core %u,%u up by %u, and 0x%x of core %u,%u "
                         "by %u",
                         a.addr, a.at.x, a.at.y, a.value, credit->addr, credit->at.x, credit->at.y,
                         credit->value);
    } else {
        CQ_EXECUTOR_AFTER(q, CQ_039, a.since, same, NO_REFS, "pages released as both events say",
                          "the same act counts 0x%x of core %u,%u up by %u, and 0x%x of core "
                          "%u,%u by %u",
                          a.addr, a.at.x, a.at.y, a.value, credit->addr, credit->at.x, credit->at.y,
                          credit->value);
    }
    return same;
}

/* A request of one of the two cores that counts something up, which a `cq` event shows, too. */
static bool restates_credit(struct cq *q, const struct nocap_event *e, enum cq_core core)
{
    uint32_t word;
    return e->op == NOCAP_OP_ATOMIC && e->by == NOCAP_BY_BRISC && (e->has & NOCAP_F_SEQ) != 0 &&
           (e->has & NOCAP_F_D) != 0 && nocap_event_word(e, &word) && cq_is_placed(q) &&
           cq_credit_restated(q, core == CQ_PREFETCH ? CQ_DISPATCH : CQ_PREFETCH,
                              &(struct cq_credit){.known = true,
                                                  .seq = e->seq,
                                                  .index = e->index,
                                                  .at = e->d,
                                                  .addr = (uint32_t)e->daddr,
                                                  .value = word});
}

void cq_publish_elsewhere(struct cq *q, const struct nocap_event *e)
{
    char counted[CQ_COUNTED_TEXT];
    struct cq_prefetcher *p = &q->prefetcher;
    const bool open = p->open || q->subordinate.open;
    if (q->loose || q->boot[CQ_PREFETCH].running != YES || !open || !cq_is_placed(q)) {
        return;
    }
    cq_counted_text(counted, e);
    CQ_FETCHER_AFTER(q, CQ_037, p->since, false, RELATED(p->index),
                     "the pages of a prefetch command made ready for its dispatcher",
                     "%s counted up instead of the dispatcher's semaphore", counted);
    cq_blame(&p->since, q->m->fault);
    cq_ring_doubt(q, q->ring.origin ? q->m->fault : FAULT_NONE);
}

static void judge_network(struct cq *q, const struct nocap_event *e, enum cq_core core)
{
    if (core == CQ_PREFETCH) {
        CQ_FETCHER(q, CQ_070, e->by != NOCAP_BY_BRISC || e->noc == q->numbers->noc_upstream,
                   NO_REFS, "the prefetcher on NOC 0", "%s of the prefetcher on NOC %u, not NOC %u",
                   nocap_op_name(e->op), e->noc, q->numbers->noc_upstream);
        return;
    }
    bool credit = e->op == NOCAP_OP_ATOMIC;
    unsigned noc = credit ? q->numbers->noc_upstream : q->numbers->noc_dispatch;
    bool buffer = (e->has & NOCAP_F_BUF) == 0 || (e->by == NOCAP_BY_NCRISC) == (e->buf < 3);
    CQ_EXECUTOR(q, CQ_070, (e->by == NOCAP_BY_NCRISC || e->noc == noc) && buffer, NO_REFS,
                "credits on NOC 0, all else on NOC 1; command buffer 3 for BRISC, the others for "
                "NCRISC",
                buffer ? "%s of %s on NOC %u (command buffer %u), not NOC %u"
                       : "%s of %s on NOC %u with the wrong command buffer, %u",
                nocap_op_name(e->op), nocap_agent_name(e->by), e->noc, e->buf, noc);
}

/* The firmware of the prefetcher writes nothing else. */
static bool relays(const struct cq *q, const struct nocap_event *e)
{
    bool landed = (e->has & NOCAP_F_SADDR) != 0 && place_has(&q->places.landing, e->saddr);
    bool to_dispatch = nocap_xy_equal(e->d, q->at[CQ_DISPATCH]);
    bool pages = to_dispatch && place_has(&q->places.buffer, e->daddr);
    bool apart = nocap_xy_equal(e->d, q->subordinate_at) && cq_in_subordinate(q, e->daddr);
    bool runs = q->any && q->boot[CQ_PREFETCH].running == YES && e->by == NOCAP_BY_BRISC;
    return pages || apart || (runs && (landed || to_dispatch));
}

static void prefetch_write(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    bool to_dispatch = (e->has & NOCAP_F_D) != 0 && nocap_xy_equal(e->d, q->at[CQ_DISPATCH]);
    if (!to_dispatch || !place_has(&q->places.buffer, e->daddr)) {
        judge_target(q, e, size);
    }
    if (!cq_relay_restates(q, e, size) && !cq_is_duplicate(q, CQ_ACT_RELAY, e)) {
        struct access a = access_of_event(e, e->daddr, size);
        cq_relay_piece(q, e->daddr, size, a.bytes, a.known, e);
    }
}

/* What publishes pages to a dispatcher; NULL: the request does not. */
typedef void publish(struct cq *q, uint32_t pages);

static publish *published_by(const struct cq *q, const struct nocap_event *e)
{
    if (e->op != NOCAP_OP_ATOMIC || (e->has & NOCAP_F_D) == 0) {
        return NULL;
    }
    if (nocap_xy_equal(e->d, q->at[CQ_DISPATCH]) && e->daddr == q->sem[CQ_DISPATCH]) {
        return cq_relay_publish;
    }
    bool second = q->numbers->dispatchers > 1 && nocap_xy_equal(e->d, q->subordinate_at);
    return second && e->daddr == q->subordinate_sem[CQ_DISPATCH] ? cq_relay_publish_subordinate
                                                                 : NULL;
}

/* The dispatchers are where their pages go. */
static void place_dispatchers(struct cq *q, const struct nocap_event *e)
{
    if (e->op != NOCAP_OP_WRITE || (e->has & NOCAP_F_D) == 0) {
        return;
    }
    if (nocap_xy_equal(q->at[CQ_DISPATCH], CQ_NOWHERE) && place_has(&q->places.buffer, e->daddr)) {
        cq_place_core(q, CQ_DISPATCH, e->d);
    }
    if (cq_in_subordinate(q, e->daddr)) {
        cq_place_subordinate(q, e->d);
    }
}

static void prefetch_noc(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    uint32_t word;
    uint64_t offset;
    place_dispatchers(q, e);
    judge_network(q, e, CQ_PREFETCH);
    publish *publishes = published_by(q, e);
    if (e->op == NOCAP_OP_READ) {
        if (cq_sysmem_offset(q, e->saddr, &offset) &&
            (!cq_is_duplicate(q, CQ_ACT_FETCH, e) || q->prefetcher.fetch.unit ||
             q->prefetcher.steps_shown)) {
            cq_prefetch_packet(q, offset, e);
        }
    } else if (e->op == NOCAP_OP_WRITE && relays(q, e)) {
        prefetch_write(q, e, size);
    } else if (publishes != NULL) {
        if (!cq_is_duplicate(q, CQ_ACT_CREDIT, e) && nocap_event_word(e, &word)) {
            publishes(q, word);
        }
    } else {
        judge_target(q, e, size);
        if (e->op == NOCAP_OP_ATOMIC && e->by == NOCAP_BY_BRISC) {
            cq_publish_elsewhere(q, e);
        }
    }
}

/* False: the request is none of what the model knows of the subordinate dispatcher. */
static bool subordinate_noc(struct cq *q, const struct nocap_event *e)
{
    uint32_t word;
    bool free_page = e->op == NOCAP_OP_ATOMIC && (e->has & NOCAP_F_D) != 0 &&
                     nocap_xy_equal(e->d, q->at[CQ_PREFETCH]) &&
                     e->daddr == q->subordinate_sem[CQ_PREFETCH];
    if (e->by != NOCAP_BY_NCRISC || q->numbers->dispatchers < 2 ||
        (!free_page && e->op != NOCAP_OP_WRITE)) {
        return false;
    }
    if (!free_page) {
        cq_subordinate_write(q, e);
    } else if (!cq_is_duplicate(q, CQ_ACT_CREDIT, e) && nocap_event_word(e, &word)) {
        cq_subordinate_release(q, word);
    }
    return free_page;
}

/* It may be WAIT with NOTIFY_PREFETCH that counts up a semaphore. */
static bool may_notify(const struct cq *q)
{
    const struct cq_brief *b = &q->ring.brief;
    return !b->known ||
           (b->id == NOCAP_CQ_DISPATCH_WAIT && (b->flags & NOCAP_CQ_WAIT_NOTIFY_PREFETCH) != 0);
}

/* The dispatcher lets its subordinate on another tile send go words. */
static bool notifies_apart(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    const struct access a = access_of_event(e, e->daddr, size);
    return cq_is_apart(q) && e->op != NOCAP_OP_ATOMIC && (e->has & NOCAP_F_D) != 0 &&
           nocap_xy_equal(e->d, q->subordinate_at) && cq_subordinate_notified(q, &a);
}

static void dispatch_noc(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    uint32_t word;
    bool to_prefetch = (e->has & NOCAP_F_D) != 0 && nocap_xy_equal(e->d, q->at[CQ_PREFETCH]);
    if (e->op == NOCAP_OP_READ) {
        return;
    }
    if (notifies_apart(q, e, size)) {
        return;
    }
    judge_network(q, e, CQ_DISPATCH);
    if (subordinate_noc(q, e)) {
        return;
    }
    if (e->op == NOCAP_OP_ATOMIC && to_prefetch && e->daddr == q->sem[CQ_PREFETCH]) {
        if (!cq_is_duplicate(q, CQ_ACT_CREDIT, e) && nocap_event_word(e, &word)) {
            cq_ring_credit(q, word);
        }
        return;
    }
    judge_target(q, e, size);
    if (e->op == NOCAP_OP_ATOMIC && !may_notify(q)) {
        cq_ring_credit_elsewhere(q, e);
    }
    cq_dispatcher_noc(q, e);
}

/* `dispatch`: the queue's own dispatcher writes. */
static void judge_memory(struct cq *q, const struct nocap_event *e, uint64_t size, bool dispatch)
{
    uint64_t offset;
    bool writes = e->op == NOCAP_OP_WRITE || e->op == NOCAP_OP_INLINE;
    if (writes && cq_sysmem_offset(q, e->daddr, &offset)) {
        struct access a = access_of_event(e, offset, size);
        cq_judge_written(q, offset, size, e->by);
        if (!dispatch) {
            cq_timing_written(q, offset);
        }
        bool pointer = touches(&a, q->numbers->host_wr, 4) && !dispatch;
        CHECK(q->m, NULL, CQ_062, !pointer && !touches(&a, q->numbers->host_rd, 4), NO_REFS,
              "the write pointer in host memory written by the dispatcher only, the read pointer "
              "by the host only",
              "completion pointer at +0x%llx in host memory written from core %u,%u", wide(offset),
              e->at.x, e->at.y);
    }
}

static void request(struct cq *q, const struct nocap_event *e)
{
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    bool prefetch = nocap_xy_equal(e->at, q->at[CQ_PREFETCH]);
    bool dispatch = nocap_xy_equal(e->at, q->at[CQ_DISPATCH]);
    const uint32_t before = q->m->faults;
    judge_memory(q, e, size, dispatch);
    if ((prefetch || dispatch) && restates_credit(q, e, prefetch ? CQ_PREFETCH : CQ_DISPATCH)) {
        judge_network(q, e, prefetch ? CQ_PREFETCH : CQ_DISPATCH);
        return;
    }
    if (prefetch) {
        prefetch_noc(q, e, size);
    } else if (dispatch) {
        cq_blame(&q->completion.unmatched, q->m->faults > before ? before + 1 : FAULT_NONE);
        dispatch_noc(q, e, size);
    } else if (nocap_xy_equal(e->at, q->subordinate_at)) {
        if (e->op != NOCAP_OP_READ && !subordinate_noc(q, e)) {
            judge_target(q, e, size);
        }
    } else {
        if (e->op != NOCAP_OP_READ) {
            judge_target(q, e, size);
        }
        cq_worker_noc(q, e);
    }
    cq_credit_judged(q, before);
}

/* A request of the two cores, or a notify, of which the trace does not say where it goes or what it
 * counts. */
static bool lacks_fields(const struct cq *q, const struct nocap_event *e)
{
    bool load = e->op == NOCAP_OP_READ, counts = e->op == NOCAP_OP_ATOMIC;
    uint64_t needs = load ? NOCAP_F_S | NOCAP_F_SADDR | NOCAP_F_SIZE : NOCAP_F_D | NOCAP_F_DADDR;
    bool pointer = (e->daddr & q->numbers->pcie_address_bit) != 0 && e->size <= 4;
    bool go = e->daddr == q->m->layout->go_messages;
    bool valued = (e->has & (NOCAP_F_VALUE | NOCAP_F_DATA)) != 0;
    if (e->op == NOCAP_OP_WRITE) {
        needs |= NOCAP_F_SIZE;
    }
    if (cq_is_core(q, e->at)) {
        return (e->has & needs) != needs || ((counts || (!load && (pointer || go))) && !valued);
    }
    return (e->op == NOCAP_OP_INLINE || counts) && (e->has & NOCAP_F_DADDR) == 0;
}

/* What the cores of one queue, and workers, must not do to the others of the chip. */
void cq_noc_at_others(const struct cq *q, const struct nocap_event *e)
{
    struct cq *first = cq_first(q->m);
    for (struct cq *other = q->alone ? NULL : first; other != NULL; other = other->next) {
        if (other != q && other->chip == q->chip && e->op != NOCAP_OP_READ) {
            uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
            judge_memory(other, e, size, false);
            judge_target(other, e, size);
        }
    }
}

/* Of a core that is not named. Firmware of the queue sends from BRISC, a second dispatcher from
 * NCRISC; where both are on one tile each has command buffers of its own. */
static void request_of_any(struct cq *q, const struct nocap_event *e)
{
    enum { DISPATCHER_BUFFER = 3 }; /* the second one has those below */
    struct nocap_event named = *e;
    const bool second = q->numbers->dispatchers > 1 && nocap_xy_equal(e->at, q->subordinate_at);
    const bool both = second && !cq_is_apart(q);
    if (both && (e->has & NOCAP_F_BUF) == 0) {
        cq_forget(q); /* it may be of either */
        return;
    }
    named.by = second && (!both || e->buf != DISPATCHER_BUFFER) ? NOCAP_BY_NCRISC : NOCAP_BY_BRISC;
    request(q, &named);
}

void cq_noc_request(struct cq *q, const struct nocap_event *e)
{
    if (lacks_fields(q, e)) {
        cq_forget(q);
    } else if (e->by == NOCAP_BY_NONE && cq_is_core(q, e->at)) {
        request_of_any(q, e);
    } else {
        request(q, e);
    }
}

void cq_noc_phase(struct cq *q, const struct nocap_event *e)
{
    if (nocap_xy_equal(e->at, q->at[CQ_DISPATCH])) {
        cq_dispatcher_phase(q, e);
    } else if (!nocap_xy_equal(e->at, q->at[CQ_PREFETCH])) {
        return; /* the subordinate dispatcher */
    } else if (e->op == NOCAP_OP_WRITE) {
        cq_relay_sent(q, e->id);
    } else if (e->op == NOCAP_OP_READ && e->phase == NOCAP_PHASE_DONE) {
        (void)cq_is_duplicate(q, CQ_ACT_LANDED, e); /* what has landed lands no second time */
        cq_prefetch_done(q, e->id);
    }
}
