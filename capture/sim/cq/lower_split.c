/* SPDX-License-Identifier: Apache-2.0 */
/* From programs to records, where the host counts the announcements of workers on, without
 * clearing: launch messages go round in their ring, and kernels in places of their own. Go words
 * wait until the launch before is over; the subordinate dispatcher sends them, where there is one.
 */
#include "capture/sim/cq/put.h"

/* What the subordinate needs to know, once. */
static bool is_first(const struct sim_cq *q)
{
    return q->lowering.program.index == 0;
}

/* The announcements after which the place of the program's kernels is free again. */
static uint32_t count_before(const struct sim_cq *q)
{
    return (uint32_t)(q->lowering.program.index - CQ_CONFIG_PLACES + 1) * q->workers;
}

static uint32_t pages_of(const struct nocap_queue *n)
{
    return n->subordinate_size / n->subordinate_page;
}

/* A fault needs more commands of the subordinate than its buffer has pages. */
static bool fills_buffer(const struct sim_cq *q)
{
    return q->k.fault == NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_IGNORED && !q->k.struck &&
           q->lowering.program.index >= q->fault_program;
}

/* Whether go words are multicast: in some runs, where one rectangle has all workers, or the table
 * says several. Some faults need single ones, or the table, or that all workers are observed. */
static bool multicasts(const struct sim_cq *q)
{
    bool observed = q->worker[q->workers - 1].observed; /* the last one is, so all are */
    bool listed = q->set->multicasts_by_count;
    bool miscounts = q->k.fault == NOCAP_SIM_FAULT_GO_WAIT_HIGH ||
                     (q->k.fault == NOCAP_SIM_FAULT_GO_WAIT_LOW && !observed);
    bool single = q->k.fault == NOCAP_SIM_FAULT_GO_TO_WRONG_TILE || (miscounts && !listed);
    return (listed || q->cores[CQ_ROLE_ALL].rects == 1) && !single &&
           (!sim_cq_splits(q) || sim_mix(&q->k, 9, 0) % 3 == 0);
}

bool sim_cq_split_prepare(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    l->cores = &q->cores[CQ_ROLE_ALL];
    if (is_first(q) && sim_cq_splits(q)) {
        sim_cq_put_worker_sems(q);
        MADE(l);
    }
    if (is_first(q)) {
        sim_cq_put_go_list(q, multicasts(q));
        sim_cq_address(q, sim_cq_splits(q));
        MADE(l);
    }
    for (l->i = 0; fills_buffer(q) && l->i <= pages_of(q->n); l->i++) {
        sim_cq_put_go_list(q, multicasts(q));
        sim_cq_address(q, sim_cq_splits(q));
        MADE(l);
    }
    sim_cq_put_offsets(q);
    MADE(l);
    if (l->program.index >= CQ_CONFIG_PLACES) {
        sim_cq_put_wait_count(q, count_before(q));
        MADE(l);
    }
    for (l->i = 0; l->i < l->program.uploads; l->i++) {
        sim_cq_put_upload(q, l->i);
        MADE(l);
    }
    CO_END(l);
    return false;
}

/* Faults: the subordinate is never notified; it waits for one announcement too few, or too many. */
bool sim_cq_split_go(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    if (!sim_cq_splits(q)) {
        sim_cq_put_barrier(q);
        MADE(l);
    } else if (!sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_UNNOTIFIED)) {
        sim_cq_put_notify(q, !q->unproven);
        q->unproven = false;
        MADE(l);
    }
    l->count = q->host.launched;
    l->count += sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_WAIT_HIGH);
    l->count -= sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_WAIT_LOW);
    sim_cq_put_go(q, multicasts(q) ? 0 : q->workers, l->count, multicasts(q));
    sim_cq_address(q, sim_cq_splits(q));
    q->host.launched += q->workers;
    MADE(l);
    CO_END(l);
    return false;
}
