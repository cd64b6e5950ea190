/* SPDX-License-Identifier: Apache-2.0 */
/* Brings each event to the part of the command-queue model that it concerns. A trace may tell an
 * act as a `cq` event, as the accesses after it, or as both; then it counts once. */
#include "replay/cq/cq_private.h"

#include <string.h>

void cq_restart(struct cq *q, bool origin)
{
    q->published = 0;
    q->loose = q->packs = false;
    cq_issue_init(q, origin);
    cq_prefetch_init(q, origin);
    cq_ring_init(q, origin);
    cq_completion_init(q, origin);
    memset(&q->dispatcher, 0, sizeof q->dispatcher);
    cq_subordinate_init(q, origin);
    cq_expected_init(q, origin);
    memset(q->workers, 0, sizeof q->workers);
    q->owing = (struct cq_tile_set){{0}};
    cq_launch_forget(q);
}

bool cq_is_duplicate(struct cq *q, enum cq_op act, const struct nocap_event *e)
{
    struct cq_dup_filter *s = &q->acts[act];
    bool event = e->kind == NOCAP_EV_CQ;
    if ((e->has & NOCAP_F_SEQ) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < CQ_SEQS && i < s->count; i++) {
        if (s->seq[i] == e->seq && s->event[i] != event) {
            return true;
        }
    }
    s->seq[s->count % CQ_SEQS] = e->seq;
    s->event[s->count % CQ_SEQS] = event;
    s->count = s->count == 2 * CQ_SEQS - 1 ? CQ_SEQS : s->count + 1;
    return false;
}

/* ---- `cq` events ---- */

static void credit_event(struct cq *q, const struct nocap_event *e)
{
    bool prefetch = e->by == NOCAP_BY_PREFETCH;
    enum cq_core grows = prefetch ? CQ_DISPATCH : CQ_PREFETCH;
    const struct nocap_queue *n = q->numbers;
    uint64_t sem = (e->has & NOCAP_F_SEM) != 0 ? e->sem : 0;
    bool subordinate =
        n->dispatchers > 1 && sem == (prefetch ? n->subordinate_published : n->subordinate_free);
    if (subordinate && prefetch) {
        if ((e->has & NOCAP_F_AT) != 0) {
            cq_place_subordinate(q, e->at);
        }
        cq_relay_publish_subordinate(q, (uint32_t)e->value);
    } else if (subordinate) {
        cq_subordinate_release(q, (uint32_t)e->value);
    } else if (sem != 0) {
        if (prefetch) {
            cq_publish_elsewhere(q, e);
        } else {
            cq_ring_credit_elsewhere(q, e);
        }
        CHECK_AT(q->m, cq_tile(q, grows), CQ_043, false, cq_event_ref(q, e->by), NO_REFS,
                 "only semaphore 0 in use", "semaphore %llu changed, only semaphore 0 is in use",
                 wide(e->sem));
    } else if ((e->has & NOCAP_F_AT) != 0 && !nocap_xy_equal(e->at, q->at[grows])) {
        CHECK_AT(q->m, cq_tile(q, grows), CQ_041, false, cq_event_ref(q, e->by), NO_REFS,
                 "free pages counted up by the dispatcher, ready ones by the prefetcher",
                 "%s counted up semaphore 0 of core %u,%u, not the other command-queue core",
                 nocap_agent_name(e->by), e->at.x, e->at.y);
        cq_ring_doubt(q, q->m->fault);
    } else if (prefetch) {
        cq_relay_publish(q, (uint32_t)e->value);
    } else {
        cq_ring_credit(q, (uint32_t)e->value);
    }
}

static void exec_event(struct cq *q, const struct nocap_event *e)
{
    if (cq_in_subordinate(q, e->addr)) {
        cq_subordinate_exec(q, e->addr, e->data, e->data_size);
    } else {
        cq_ring_exec(q, e->addr, e->data, e->data_size);
    }
}

/* Whether a request has shown the same pages being counted up. */
static bool restates(struct cq *q, const struct nocap_event *e)
{
    const struct nocap_queue *n = q->numbers;
    const enum cq_core grows = e->by == NOCAP_BY_PREFETCH ? CQ_DISPATCH : CQ_PREFETCH;
    const uint64_t sem = (e->has & NOCAP_F_SEM) != 0 ? e->sem : 0;
    const struct cq_credit credit = {.known = true,
                                     .unit = true,
                                     .seq = e->seq,
                                     .index = e->index,
                                     .at = (e->has & NOCAP_F_AT) != 0 ? e->at : q->at[grows],
                                     .addr = q->sem[grows] + (uint32_t)sem * n->semaphore_stride,
                                     .value = (uint32_t)e->value};
    const bool other = n->dispatchers > 1 && sem != 0;
    return e->op == NOCAP_OP_CREDIT && (e->has & NOCAP_F_SEQ) != 0 && !other &&
           cq_credit_restated(q, grows, &credit);
}

static void queue_event(struct cq *q, const struct nocap_event *e)
{
    static const struct {
        uint8_t op;
        enum cq_op act;
    } acts[] = {{NOCAP_OP_RECORD, CQ_ACT_RECORD}, {NOCAP_OP_FETCH, CQ_ACT_FETCH},
                {NOCAP_OP_LANDED, CQ_ACT_LANDED}, {NOCAP_OP_RELAY, CQ_ACT_RELAY},
                {NOCAP_OP_EXEC, CQ_ACT_EXEC},     {NOCAP_OP_CREDIT, CQ_ACT_CREDIT}};
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    const uint32_t before = q->m->faults;
    if (restates(q, e)) {
        return;
    }
    for (unsigned i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        if (acts[i].op == e->op && cq_is_duplicate(q, acts[i].act, e)) {
            if (e->op == NOCAP_OP_RECORD) {
                cq_restated_late(q, e);
            } else if (e->op == NOCAP_OP_FETCH) {
                cq_prefetch_restated(q, e);
            } else if (e->op == NOCAP_OP_RELAY && !cq_in_subordinate(q, e->addr)) {
                cq_relay_restated(q, e);
            } else if (e->op == NOCAP_OP_EXEC && !cq_in_subordinate(q, e->addr)) {
                cq_ring_restated(q, e->addr, e->data, e->data_size);
            }
            return;
        }
    }
    switch (e->op) {
    case NOCAP_OP_RECORD: cq_issue_record(q, e); break;
    case NOCAP_OP_FETCH: cq_prefetch_fetch_event(q, e); break;
    case NOCAP_OP_LANDED: cq_prefetch_landed(q, e); break;
    case NOCAP_OP_RELAY: cq_relay_piece(q, e->addr, size, e->data, e->data_size, e); break;
    case NOCAP_OP_EXEC: exec_event(q, e); break;
    case NOCAP_OP_CREDIT:
        credit_event(q, e);
        cq_credit_judged(q, before);
        break;
    case NOCAP_OP_DONE:
        if (!cq_in_subordinate(q, e->addr)) {
            q->ring.finished = q->ring.ends_shown = true;
        }
        break;
    default: break;
    }
}

/* ---- accesses ---- */

static void host_tile_access(struct cq *q, struct nocap_xy at, const struct access *a)
{
    bool queue = touches(a, q->numbers->queue, place_size(&q->places.slots));
    uint32_t value;
    if (nocap_xy_equal(at, q->at[CQ_PREFETCH]) && queue) {
        if (a->store) {
            cq_issue_slot_store(q, a, q->m->event);
        } else {
            cq_issue_slot_read(q, a);
        }
    } else if (!a->store) {
        cq_boot_looked(q, at, a);
    } else if (nocap_xy_equal(at, q->at[CQ_PREFETCH])) {
        cq_boot_host_store(q, CQ_PREFETCH, a);
    } else if (nocap_xy_equal(at, q->at[CQ_DISPATCH])) {
        bool pointer = access_word(a, q->numbers->completion_rd, &value);
        if (pointer) {
            cq_boot_completion(q, value);
        }
        if (pointer && cq_boot_done(q, value)) {
            cq_completion_host_store(q, value);
        } else {
            cq_boot_host_store(q, CQ_DISPATCH, a);
        }
    }
}

static void core_access(struct cq *q, struct nocap_xy at, const struct access *a)
{
    if (nocap_xy_equal(at, q->at[CQ_PREFETCH])) {
        cq_prefetch_core(q, a);
    } else if (nocap_xy_equal(at, q->at[CQ_DISPATCH])) {
        cq_dispatcher_core(q, a);
    } else {
        cq_worker_store(q, at, a);
    }
}

void cq_judge_written(struct cq *q, uint64_t addr, uint64_t size, uint8_t agent)
{
    bool hits = addr < place_end(&q->places.issue) && addr + size > q->numbers->issue;
    bool arrives = q->intruder.addr == addr && q->m->event->kind == NOCAP_EV_WRITE;
    FOLLOWING(q->m, arrives ? q->intruder.since : FAULT_NONE,
              CHECK_AT(q->m, NULL, CQ_026, !hits, cq_event_ref(q, agent), NO_REFS,
                       "the issue region written by the host only",
                       "%llu bytes written into the issue region at +0x%llx, not by the host",
                       wide(size), wide(addr)));
    if (hits) {
        (void)cq_issue_hit(q, &(struct access){.addr = addr, .size = size});
        q->intruder.addr = addr;
        q->intruder.since = arrives ? FAULT_NONE : q->m->fault;
    }
}

static void sysmem_access(struct cq *q, const struct access *a)
{
    if (a->by == NOCAP_BY_HOST) {
        if (a->store && a->addr < place_end(&q->places.issue) &&
            a->addr + a->size > q->numbers->issue) {
            cq_issue_host_write(q, a);
        } else if (a->store && a->addr < q->numbers->issue) {
            cq_boot_host_sysmem(q, a);
        } else {
            cq_completion_host_sysmem(q, a);
        }
    } else if (a->store) {
        cq_judge_written(q, a->addr, a->size, NOCAP_BY_DMA);
        cq_completion_dma(q, a);
    }
}

void cq_forget(struct cq *q)
{
    cq_first(q->m)->judged = q;
    memset(q->boot, 0, sizeof q->boot);
    memset(q->acts, 0, sizeof q->acts);
    q->any = true; /* what comes next is no beginning */
    cq_restart(q, false);
}

/* An access to what the two cores and the host tell each other by, and its bytes were not captured.
 * Of a long one the beginning is enough: that is data. */
static bool lacks_bytes(const struct cq *q, const struct observation *o)
{
    const struct access *a = &o->access;
    bool host = a->by == NOCAP_BY_HOST;
    if (a->known >= a->size || a->known >= NOCAP_CQ_HEADER) {
        return false;
    }
    if (o->tile == NULL) {
        return host;
    }
    bool word = a->size <= 4 || touches(a, q->numbers->queue, place_size(&q->places.slots));
    return cq_is_core(q, o->tile->at) && word;
}

static void access_event(struct cq *q, const struct observation *o)
{
    const struct access *a = &o->access;
    if (a->by == NOCAP_BY_NCRISC) {
        if (o->tile != NULL && nocap_xy_equal(o->tile->at, q->subordinate_at)) {
            cq_subordinate_core(q, a);
        }
    } else if (lacks_bytes(q, o)) {
        cq_forget(q);
    } else if (o->tile == NULL) {
        sysmem_access(q, a);
    } else if (a->by == NOCAP_BY_HOST) {
        host_tile_access(q, o->tile->at, a);
    } else {
        core_access(q, o->tile->at, a);
    }
}

/* ---- the model ---- */

static uint32_t wants(const struct model *m)
{
    const uint32_t others = OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(HOST_LOAD) |
                            OBS(MEMORY) | OBS(ELSEWHERE) | OBS(REQUEST) | OBS(PHASE);
    const uint32_t first = OBS(QUEUE) | (cq_may_begin(m) ? OBS(OUTSIDE_STORE) : 0);
    return !m->knows_tiles || m->queue_unexplained ? 0
           : cq_first(m) != NULL                   ? OBS(QUEUE) | others
                                                   : first;
}

/* What the host does to its two cores and to host memory, what BRISC of these two does, and of a
 * worker that its BRISC writes to the mailbox. */
static bool concerns(struct cq *q, const struct observation *o)
{
    switch (o->kind) {
    case OBS_CORE_STORE:
        return (o->places & (PLACE(GO) | PLACE(RD_PTR))) != 0 || cq_is_core(q, o->tile->at);
    case OBS_CORE_LOAD: return q->sees_loads && cq_is_core(q, o->tile->at); /* all, or none */
    case OBS_PHASE: return (o->event->has & NOCAP_F_ID) != 0 && cq_is_core(q, o->event->at);
    case OBS_OUTSIDE_STORE: return o->access.by == NOCAP_BY_HOST && cq_is_core(q, o->tile->at);
    case OBS_HOST_LOAD: return cq_is_core(q, o->tile->at);
    case OBS_MEMORY:
    case OBS_ELSEWHERE: return o->event->space == NOCAP_SPACE_SYSMEM;
    case OBS_QUEUE: return !cq_is_of_other(q, o->event);
    default: return true;
    }
}

static void judge(struct cq *q, const struct observation *o)
{
    q->sees_noc = noc_sees_requests(q->m);
    q->host.acted = o->event->by == NOCAP_BY_HOST ? q->m->turn : q->host.acted;
    switch (o->kind) {
    case OBS_REQUEST:
        cq_noc_request(q, o->event);
        cq_noc_at_others(q, o->event);
        break;
    case OBS_PHASE: cq_noc_phase(q, o->event); break;
    case OBS_QUEUE: queue_event(q, o->event); break;
    case OBS_MEMORY: cq_completion_memory(q, &o->access); break;
    default: access_event(q, o); break;
    }
}

/* Host memory is one for all queues of a chip. */
static const struct observation *in_own_memory(struct observation *moved, const struct cq *q,
                                               const struct observation *o)
{
    if (o->event->space != NOCAP_SPACE_SYSMEM ||
        ((OBS(MEMORY) | OBS(ELSEWHERE)) >> o->kind & 1) == 0) {
        return o;
    }
    *moved = *o;
    moved->access.addr -= q->offset;
    return moved;
}

/* Not inlined: most observations end before. */
__attribute__((noinline)) static void judge_of_chip(struct model *m, const struct observation *o)
{
    struct cq *q = cq_first(m);
    struct observation moved;
    m->due |= q == NULL ? DUE_ROUTES : 0;
    if (o->kind == OBS_OUTSIDE_STORE && (o->places & PLACE(GO_INDEX)) != 0) {
        cq_launch_lose_answers(m);
    }
    q = q != NULL && q->chip == o->event->chip ? q : cq_get(m, o->event);
    m->other_queue = cq_first(m) == NULL;
    bool outside = o->event->by == NOCAP_BY_HOST || o->event->by == NOCAP_BY_DMA;
    if (q != NULL && o->event->kind == NOCAP_EV_READ && outside) {
        cq_first(m)->loaded = m->turn;
    }
    if (q != NULL && q->several) {
        q = cq_of_several(q, o);
        o = q != NULL && q->offset != 0 ? in_own_memory(&moved, q, o) : o;
    }
    if (q != NULL && concerns(q, o) && nocap_header_lists(m->header, o->event)) {
        const uint32_t no_fact = OBS(CORE_STORE) | OBS(HOST_LOAD) | OBS(PHASE);
        cq_first(m)->judged = (no_fact >> o->kind & 1) == 0 ? q : NULL;
        judge(q, o);
        if (cq_first(m)->judged != NULL) {
            model_apply_due(m, MODEL_CQ);
        }
    }
}

static void check(struct model *m, const struct observation *o)
{
    bool of_core = o->kind == OBS_CORE_STORE || o->kind == OBS_CORE_LOAD;
    bool followed = !of_core || o->access.by == NOCAP_BY_BRISC ||
                    (o->access.by == NOCAP_BY_NCRISC && m->profile->queue.dispatchers > 1);
    if (followed && !shows_part(o) &&
        (cq_first(m) != NULL || o->kind == OBS_QUEUE || cq_begins(m, o->event))) {
        judge_of_chip(m, o);
    }
}

/* What the dispatcher writes to host memory, and no other agent. */
static void publish_answers(const struct cq *q, struct queue_facts *f)
{
    const struct cq_place *completion = &q->places.completion, *stamps = &q->places.stamps;
    f->memory = (q->sysmem - q->offset) | q->numbers->pcie_address_bit;
    f->answers[0] = (struct byte_range){q->numbers->host_wr, q->numbers->host_wr + 4};
    f->answers[1] = (struct byte_range){completion->base, place_end(completion)};
    f->answers[2] = (struct byte_range){stamps->base, place_end(stamps)};
    for (unsigned i = 0; i < QUEUE_ANSWERS; i++) {
        f->answers[i].first += q->offset;
        f->answers[i].end += q->offset;
    }
}

void cq_publish_facts(const struct cq *q)
{
    struct model *m = q->m;
    struct queue_facts *f = &m->queues[q->number];
    f->chip = q->chip;
    memcpy(f->at, q->at, sizeof q->at);
    f->at[QUEUE_SUBORDINATE] = q->subordinate_at;
    publish_answers(q, f);
    m->queue_count = q->number < m->queue_count ? m->queue_count : q->number + 1;
}

static void publish(struct model *m, const struct cq *q)
{
    struct queue_facts *f = &m->queues[q->number];
    f->used = q->any;
    f->open = q->any && !q->program.prefetch_terminated && q->program.terminated == NO_INDEX &&
              !q->ring.ended;
    f->others = (q->several && q->alone && q->boot[CQ_PREFETCH].done == 0) || !cq_is_placed(q) ||
                (q->numbers->dispatchers > 1 && !q->subordinate_shown);
    f->awaits =
        q->numbers->dispatchers > 1 && !q->subordinate_shown ? q->subordinate_sem[CQ_DISPATCH] : 0;
    f->dispatcher_seen = q->sees[CQ_DISPATCH] && q->sees_noc;
    f->launches_since = q->launches_since;
    f->writes_since = q->expected.launch;
    f->answers_since = q->completion.unwritten;
    cq_blame(&f->answers_since, q->completion.unmatched);
    f->unaligned = q->ring.executing ? q->ring.brief.unaligned : FAULT_NONE;
    f->wrong = q->wrong;
    if (q->ring.executing) {
        f->wrong.address_since = f->wrong.listed_since = FAULT_NONE;
    }
    f->message = q->ring.executing ? q->ring.brief.message : FAULT_NONE;
}

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    (void)options;
    bool made = cq_init(m);
    if (cq_first(m) != NULL) {
        publish(m, cq_first(m));
    }
    return made;
}

static void apply(struct model *m, const struct observation *o)
{
    if (o->kind == OBS_REQUEST) {
        cq_worker_sent(cq_first(m)->judged, o->event);
        cq_prefetch_sent(cq_first(m)->judged, o->event);
        cq_completion_left(cq_first(m)->judged, o->event);
    } else if (o->kind == OBS_ELSEWHERE && o->event->by == NOCAP_BY_DMA) {
        cq_completion_arrived(cq_first(m)->judged);
    }
    publish(m, cq_first(m)->judged);
    cq_first(m)->judged = NULL;
}

static void forget_all(struct model *m)
{
    for (struct cq *q = cq_first(m); q != NULL; q = q->next) {
        cq_forget(q);
        publish(m, q);
    }
}

static void finish(struct model *m, bool cut)
{
    for (struct cq *q = cq_first(m); q != NULL; q = q->next) {
        cq_restated_finish(q, cut);
        cq_ring_finish(q, cut);
        cq_worker_finish(q);
    }
}

const struct model_ops cq_model = {
    .name = "cq",
    .id = MODEL_CQ,
    .first_rule = CQ_001,
    .last_rule = CQ_073,
    .uses = 1u << MODEL_LAUNCH | 1u << MODEL_NOC,
    .wants = wants,
    .places = PLACE(L1) | PLACE(LOW) | PLACE_MAILBOX | PLACE(SOFT_RESET) | PLACE(STREAM),
    .init = init,
    .free = cq_free,
    .check = check,
    .apply = apply,
    .forget = forget_all,
    .finish = finish,
    .waits = cq_waits,
};
