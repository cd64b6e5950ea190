/* SPDX-License-Identifier: Apache-2.0 */
/* From programs to records: what the host puts into the queue for a run. One record a call, so a
 * run of any length needs the room of one. */
#include <string.h>

#include "capture/sim/cq/put.h"

enum {
    UPLOADS_LEAST =
        5, /* in a program of the scenario that wraps all rings; fewer than twice that */
    UNKNOWN_COMMAND = NOCAP_CQ_DISPATCH_SINK,
};

/* The dispatcher ends, the subordinate one, then the prefetcher. A fault: an event follows the end
 * of the dispatcher. */
bool sim_cq_lower_end(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    if (l->i < (sim_cq_splits(q) ? 2 : 1)) {
        sim_cq_put_command(q, &(struct nocap_cq_command){.set = q->set,
                                                         .side = NOCAP_CQ_DISPATCH,
                                                         .id = NOCAP_CQ_DISPATCH_TERMINATE});
        sim_cq_address(q, l->i++);
        return true;
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_RECORD_AFTER_END)) {
        sim_cq_put_event(q);
        return true;
    }
    if (l->stage == 0) {
        struct nocap_cq_command c = {
            .set = q->set, .side = NOCAP_CQ_PREFETCH, .id = NOCAP_CQ_PREFETCH_TERMINATE};
        l->stage = 1;
        q->record_size = q->n->record_align;
        memset(q->record, 0, q->record_size);
        nocap_cq_encode(&c, q->record);
        return true;
    }
    return false;
}

/* ---- a run ---- */

static struct cq_program sim_cq_plan(const struct sim_cq *q, uint64_t index)
{
    static const uint8_t enables[] = {0x01, 0x1F, 0x01, 0x03, 0x1D, 0x1F};
    static const uint8_t arguments[] = {CQ_ARGUMENTS_MULTICAST, CQ_ARGUMENTS_SHARED,
                                        CQ_ARGUMENTS_OWN, CQ_ARGUMENTS_OWN, CQ_ARGUMENTS_OWN};
    bool rings = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    uint64_t x = sim_mix(&q->k, 2, index);
    struct cq_program p = {.index = index,
                           .roles = q->workers > 1 && x % 3 == 0 ? 2 : 1,
                           .slices = (uint8_t)(1 + (x >> 4) % CQ_RTA_SLICES),
                           .arguments = arguments[(x >> 8) % sizeof arguments]};
    bool again = index > 0 && (x >> 12) % 3 == 0 && /* other arguments, the same binary */
                 q->k.fault != NOCAP_SIM_FAULT_NO_BARRIER;
    for (unsigned role = 0; role < 2; role++) {
        p.enables[role] = enables[(x >> (16 + 8 * role)) % sizeof enables];
        p.chunks[role] = again ? 0 : (uint8_t)(1 + (x >> (32 + 4 * role)) % CQ_CHUNKS_MAX);
    }
    p.uploads = (uint8_t)(rings ? UPLOADS_LEAST + (x >> 44) % UPLOADS_LEAST : (x >> 40) % 4 == 0);
    if (q->k.fault == NOCAP_SIM_FAULT_UNALIGNED_DESTINATION) {
        p.arguments = CQ_ARGUMENTS_OWN;
    }
    return p;
}

static const struct cq_cores *role_cores(const struct sim_cq *q)
{
    const struct cq_lowering *l = &q->lowering;
    return &q->cores[l->program.roles == 1 ? CQ_ROLE_ALL : CQ_ROLE_A + l->role];
}

/* Whether the record that was just made is the last multicast before the go words, whose barrier a
 * fault leaves out. The multicast takes long then, or no event would show it. */
static bool leaves_out_barrier(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    bool last = l->role + 1 == l->program.roles;
    return last && l->i + 1 >= l->program.chunks[l->role] && l->program.chunks[l->role] > 0 &&
           sim_cq_fault_due(q, NOCAP_SIM_FAULT_NO_BARRIER);
}

static bool prepare(struct sim_cq *q);
static bool arguments(struct sim_cq *q);
static bool binaries(struct sim_cq *q);
static bool go(struct sim_cq *q);
static bool events(struct sim_cq *q);

enum { STAGES = 4 };
typedef bool stage(struct sim_cq *q);
static stage *const stages[STAGES] = {prepare, arguments, binaries, go};
static stage *const split_stages[STAGES] = {sim_cq_split_prepare, arguments, binaries,
                                            sim_cq_split_go};

bool sim_cq_lower_next(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    struct cq_host *h = &q->host;
    if (l->line == 0 && l->stage == 0) {
        l->program = sim_cq_plan(q, h->program);
    }
    while (h->in_run < h->run_programs) {
        if ((sim_cq_counts_on(q) ? split_stages : stages)[l->stage](q)) {
            return true;
        }
        l->line = 0;
        l->stage++;
        if (l->stage == STAGES) {
            l->stage = 0;
            h->in_run++;
            h->program++;
            l->program = sim_cq_plan(q, h->program);
        }
    }
    return events(q);
}

bool sim_cq_takes_buffer(const struct sim_cq *q)
{
    const struct cq_lowering *l = &q->lowering;
    bool middle = stages[l->stage] == arguments || stages[l->stage] == binaries;
    return q->options.scenario == NOCAP_SIM_FAST_DISPATCH_PACKED && middle &&
           q->k.fault == NOCAP_SIM_FAULT_NONE && q->host.in_run == 0 && l->program.index % 3 == 1;
}

/* Whether the prefetcher stalls before a program. A fault: it does not, and the buffer fills. */
static bool stalls(const struct sim_cq *q)
{
    return q->options.scenario == NOCAP_SIM_FAST_DISPATCH_PACKED && q->n->semaphore_count > 2 &&
           !sim_fault_planned(&q->k, NOCAP_SIM_FAULT_CREDIT_IGNORED);
}

/* Read pointers back to 0, go index 0. */
static bool prepare(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    const struct nocap_go_word reset = {.signal = NOCAP_GO_RESET_READ_PTR_FROM_HOST};
    CO_BEGIN(l);
    l->cores = &q->cores[CQ_ROLE_ALL];
    for (l->i = 0; l->i < l->program.uploads; l->i++) {
        sim_cq_put_upload(q, l->i);
        MADE(l);
    }
    if (q->n->timestamp_slots > 0) {
        sim_cq_put_stamp(q, 2 * q->host.in_run);
        MADE(l);
    }
    if (stalls(q)) {
        sim_cq_put_stall(q);
        MADE(l);
    }
    sim_cq_put_word(q, nocap_go_word_address(q->layout, 0), nocap_go_encode(reset));
    MADE(l);
    sim_cq_put_barrier(q);
    MADE(l);
    sim_cq_put_word(q, q->layout->go_message_index, 0);
    MADE(l);
    sim_cq_put_barrier(q);
    MADE(l);
    CO_END(l);
    return false;
}

static bool arguments(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    if (l->program.arguments == CQ_ARGUMENTS_MULTICAST) {
        sim_cq_multicast_arguments(q);
        MADE(l);
        if (!sim_cq_counts_on(q)) {
            sim_cq_put_barrier(q);
            MADE(l);
        }
        return false;
    }
    for (l->i = 0; l->i < l->program.slices; l->i++) {
        for (l->j = 0; l->j < q->workers; l->j += q->n->packed_unicast) {
            if (l->program.arguments == CQ_ARGUMENTS_SHARED) {
                sim_cq_share_arguments(q, l->j);
            } else {
                sim_cq_put_arguments(q, l->i, l->j);
            }
            MADE(l);
        }
        if (l->program.arguments == CQ_ARGUMENTS_SHARED) {
            break;
        }
    }
    CO_END(l);
    return false;
}

static bool binaries(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    for (l->role = 0; l->role < l->program.roles; l->role++) {
        l->cores = role_cores(q);
        sim_cq_put_message(q);
        MADE(l);
        if (!sim_cq_counts_on(q)) {
            sim_cq_put_barrier(q);
            MADE(l);
        }
        for (l->i = 0; l->i < l->program.chunks[l->role]; l->i++) {
            sim_cq_put_chunk(q, l->i);
            MADE(l);
            if (leaves_out_barrier(q)) {
                q->slow_record = q->records;
                q->unproven = true;
            } else if (!sim_cq_counts_on(q)) {
                sim_cq_put_barrier(q);
                MADE(l);
            }
        }
    }
    CO_END(l);
    return false;
}

/* Faults: go words too few, or before the counter is cleared; a write while the kernels run; a wait
 * for one too many or too few. */
static bool go(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    l->count = q->workers;
    sim_cq_put_go_list(q, false);
    MADE(l);
    l->swapped = sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_BEFORE_CLEAR);
    if (!l->swapped) {
        sim_cq_put_wait_stream(q, 0);
        MADE(l);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_COUNT_LOW)) {
        l->count--;
    }
    sim_cq_put_go(q, l->count, 0, false);
    MADE(l);
    if (l->swapped) {
        sim_cq_put_wait_stream(q, 0);
        MADE(l);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_WRITE_WHILE_BUSY)) {
        l->cores = &q->cores[CQ_ROLE_ALL];
        sim_cq_put_word(q, q->layout->go_message_index, 0);
        MADE(l);
    }
    l->count += sim_cq_fault_due(q, NOCAP_SIM_FAULT_WAIT_COUNT_HIGH);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_WAIT_COUNT_LOW)) {
        l->count--;
        q->host.run_programs = q->host.in_run + 1; /* the last worker is let finish */
    }
    sim_cq_put_wait_stream(q, l->count);
    MADE(l);
    if (q->n->timestamp_slots > 0) {
        sim_cq_put_stamp(q, 2 * q->host.in_run + 1);
        q->host.stamps = 2 * q->host.in_run + 2;
        MADE(l);
    }
    CO_END(l);
    return false;
}

/* Faults: a prefetch command, a dispatch command, or a destination without a server. */
static bool events(struct sim_cq *q)
{
    struct cq_lowering *l = &q->lowering;
    CO_BEGIN(l);
    if (sim_cq_counts_on(q)) {
        sim_cq_put_wait_count(q, q->host.launched);
        MADE(l);
    }
    for (l->i = 0; l->i < q->host.syncs; l->i++) {
        sim_cq_put_event(q);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_PREFETCH_ILLEGAL)) {
            q->record[0] = NOCAP_CQ_PREFETCH_ILLEGAL;
        } else if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_TO_SUBORDINATE)) {
            sim_cq_address(q, q->n->dispatchers);
        } else if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_DISPATCH_UNKNOWN)) {
            sim_cq_put_command(q, &(struct nocap_cq_command){.set = q->set,
                                                             .side = NOCAP_CQ_DISPATCH,
                                                             .id = UNKNOWN_COMMAND});
        }
        MADE(l);
    }
    CO_END(l);
    return false;
}
