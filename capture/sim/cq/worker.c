/* SPDX-License-Identifier: Apache-2.0 */
/* The workers: BRISC of each, and its other cores taken together, which serve the sync word. What
 * they do follows from the mailbox in their tile's L1. Order of the stores as observed. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum { SEE_RESET = 40, SEE_GO = 30, KERNEL_LEAST = 900, KERNEL_SPREAD = 3000, LONG_KERNEL = 60000 };

static cq_routine launch, start_others, finish, notify, others_counters;

static struct cq_worker *worker_of(struct sim_cq *q, const struct cq_agent *a)
{
    return &q->worker[(a->id - CQ_AGENT_WORKERS) / 2];
}

static void store_by(struct sim_cq *q, struct cq_worker *w, enum nocap_agent by, uint32_t addr,
                     uint32_t size, uint32_t value)
{
    if (addr + size <= CQ_LOW_L1) {
        for (uint32_t i = 0; i < size; i++) {
            w->l1[addr + i] = (uint8_t)(value >> 8 * i);
        }
    }
    if (w->observed) {
        sim_cq_emit_store(q, w->at, by, addr, size, value);
    }
}

static void store(struct sim_cq *q, struct cq_worker *w, uint32_t addr, uint32_t size,
                  uint32_t value)
{
    store_by(q, w, NOCAP_BY_BRISC, addr, size, value);
}

static uint32_t sync_address(const struct sim_cq *q, unsigned processor)
{
    return (uint32_t)((int)q->layout->sync + nocap_cores[processor].sync_byte);
}

static uint32_t sync_word(const struct sim_cq *q, const struct cq_worker *w)
{
    return sim_cq_load32(w->l1, q->layout->sync);
}

static uint32_t signal_address(const struct sim_cq *q)
{
    return nocap_go_word_address(q->layout, 0) + NOCAP_GO_SIGNAL_BYTE;
}

static uint32_t field_address(const struct sim_cq *q, const struct cq_worker *w,
                              enum nocap_launch_field field)
{
    return nocap_launch_slot(q->layout, w->slot) + q->layout->fields[field].offset;
}

static bool enabled(const struct cq_worker *w, unsigned processor)
{
    return (w->enables >> processor & 1) != 0;
}

void sim_cq_write_worker(struct sim_cq *q, struct cq_worker *w, uint32_t addr, const uint8_t *data,
                         uint32_t size)
{
    uint32_t go = nocap_go_word_address(q->layout, 0);
    memcpy(w->l1 + addr, data, size);
    if (addr <= go && go < addr + size) {
        w->reset_seen = false;
    }
    sim_cq_poke(q, w->brisc);
}

/* ---- BRISC ---- */

static bool sees_reset(const struct sim_cq *q, const struct cq_worker *w)
{
    return w->l1[signal_address(q)] == NOCAP_GO_RESET_READ_PTR_FROM_HOST && !w->reset_seen;
}

/* The reset request stands until the next go word. Stores of the same 0 again and again would tell
 * nothing: it is obeyed once. */
void sim_cq_worker_idle(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    for (;;) {
        CQ_AWAIT(q, a, CQ_WATCH_WORKER,
                 sees_reset(q, w) || w->l1[signal_address(q)] == NOCAP_GO_GO);
        CQ_SLEEP(q, a, SEE_RESET, SEE_RESET);
        if (w->l1[signal_address(q)] == NOCAP_GO_GO) {
            break;
        }
        if (sees_reset(q, w)) {
            w->reset_seen = true;
            store(q, w, q->layout->rd_ptr, 4, 0);
        }
    }
    w->slot = sim_cq_load32(w->l1, q->layout->rd_ptr) % q->layout->launch_slots;
    w->enables = sim_cq_load32(w->l1, field_address(q, w, NOCAP_LAUNCH_enables));
    w->begun++;
    CO_GOTO(q, a, launch);
    CO_END(a);
}

static void launch(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    CQ_SLEEP(q, a, SEE_GO, SEE_GO);
    if (enabled(w, NOCAP_PROCESSOR_NCRISC)) {
        store(q, w, sync_address(q, NOCAP_PROCESSOR_NCRISC), 1, NOCAP_SYNC_LOAD);
        CQ_SLEEP(q, a, 26, 20);
    }
    store(q, w, NOCAP_REG_RISCV_IC_INVALIDATE, 4, NOCAP_IC_INVALIDATE_ALL);
    CQ_AWAIT(q, a, CQ_WATCH_WORKER, !w->counters);
    CQ_SLEEP(q, a, 6, 20);
    if (enabled(w, NOCAP_PROCESSOR_TRISC0)) {
        for (a->i = NOCAP_PROCESSOR_TRISC0; a->i <= NOCAP_PROCESSOR_TRISC2; a->i++) {
            store(q, w, sync_address(q, a->i), 1, NOCAP_SYNC_GO);
            CQ_SLEEP(q, a, 1, 2);
        }
    }
    CO_GOTO(q, a, start_others);
    CO_END(a);
}

/* A fault: the kernel of one worker never ends. Another needs one that takes long. */
static void start_others(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    if (enabled(w, NOCAP_PROCESSOR_NCRISC)) {
        CQ_SLEEP(q, a, 50, 30);
        store(q, w, sync_address(q, NOCAP_PROCESSOR_NCRISC), 1, NOCAP_SYNC_GO);
    }
    sim_cq_poke(q, w->others);
    if (w->observed && sim_cq_fault_due(q, NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS)) {
        a->run = NULL;
        return;
    }
    if (enabled(w, NOCAP_PROCESSOR_BRISC)) {
        CQ_SLEEP(q, a, KERNEL_LEAST, KERNEL_SPREAD);
    }
    if (sim_fault_planned(&q->k, NOCAP_SIM_FAULT_CREDIT_IGNORED)) {
        CQ_SLEEP(q, a, LONG_KERNEL, KERNEL_SPREAD);
    }
    CQ_AWAIT(q, a, CQ_WATCH_WORKER, sync_word(q, w) == NOCAP_SYNC_ALL_DONE);
    CO_GOTO(q, a, finish);
    CO_END(a);
}

static void finish(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    CQ_SLEEP(q, a, 4, 6);
    w->counters = true;
    store(q, w, sync_address(q, NOCAP_PROCESSOR_TRISC0), 1, NOCAP_SYNC_INIT_REGISTERS);
    sim_cq_poke(q, w->others);
    CQ_SLEEP(q, a, 4, 3);
    store(q, w, signal_address(q), 1, NOCAP_GO_DONE);
    CO_GOTO(q, a,
            w->l1[field_address(q, w, NOCAP_LAUNCH_mode)] == NOCAP_MODE_DEV ? notify
                                                                            : sim_cq_worker_idle);
    CO_END(a);
}

/* Faults: no announcement, or a second one; both need that the others have made theirs. */
static bool is_last(const struct sim_cq *q)
{
    return q->dispatch.streams[0] + 1 >= q->workers;
}

static void notify(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    CQ_SLEEP(q, a, 4, 4);
    store(q, w, field_address(q, w, NOCAP_LAUNCH_enables), 4, 0);
    CQ_SLEEP(q, a, 3, 3);
    store(q, w, field_address(q, w, NOCAP_LAUNCH_preload), 1, 0);
    CQ_SLEEP(q, a, 4, 4);
    if (!w->observed || !sim_cq_fault_due(q, NOCAP_SIM_FAULT_ANNOUNCEMENT_MISSING)) {
        sim_cq_send_notify(q, w);
    }
    if (w->observed && is_last(q) && sim_cq_fault_due(q, NOCAP_SIM_FAULT_ANNOUNCED_TWICE)) {
        sim_cq_send_notify(q, w);
    }
    CQ_SLEEP(q, a, 4, 4);
    store(q, w, q->layout->rd_ptr, 4, (w->slot + 1) % q->layout->launch_slots);
    CO_GOTO(q, a, sim_cq_worker_idle);
    CO_END(a);
}

/* ---- the other cores ---- */

static void clear_byte(struct sim_cq *q, struct cq_worker *w, unsigned processor)
{
    if (w->l1[sync_address(q, processor)] != NOCAP_SYNC_DONE) {
        store_by(q, w, nocap_cores[processor].agent, sync_address(q, processor), 1,
                 NOCAP_SYNC_DONE);
        sim_cq_poke(q, w->brisc);
    }
}

static bool is_called(const struct sim_cq *q, const struct cq_worker *w)
{
    uint32_t sync = sync_word(q, w);
    return w->counters ||
           (sync != 0 && w->l1[sync_address(q, NOCAP_PROCESSOR_NCRISC)] != NOCAP_SYNC_LOAD);
}

void sim_cq_worker_others(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    CQ_AWAIT(q, a, CQ_WATCH_WORKER, is_called(q, w));
    if (w->counters) {
        CO_GOTO(q, a, others_counters);
    }
    for (a->i = NOCAP_PROCESSOR_NCRISC; a->i <= NOCAP_PROCESSOR_TRISC2; a->i++) {
        if (w->l1[sync_address(q, a->i)] == NOCAP_SYNC_GO) {
            CQ_SLEEP(q, a, KERNEL_LEAST / 4, KERNEL_SPREAD / 4);
            if (a->i != NOCAP_PROCESSOR_NCRISC) {
                store_by(q, w, nocap_cores[a->i].agent, NOCAP_REG_TTSYNC, 4, NOCAP_TTSYNC_STORE);
                CQ_SLEEP(q, a, 3, 20);
            }
            clear_byte(q, w, a->i);
        }
    }
    CO_GOTO(q, a, sim_cq_worker_others);
    CO_END(a);
}

/* TRISC0 zeroes the counters of the circular buffers while BRISC goes on. */
static void others_counters(struct sim_cq *q, struct cq_agent *a)
{
    static const enum nocap_stream_register registers[] = {NOCAP_STREAM_TILES_RECEIVED,
                                                           NOCAP_STREAM_TILES_ACKED};
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    for (a->j = 0; a->j < 2; a->j++) {
        CQ_SLEEP(q, a, 8, 8);
        for (uint32_t i = 0; i < NOCAP_CB_COUNT; i++) {
            store_by(q, w, NOCAP_BY_TRISC0,
                     nocap_stream_address(NOCAP_CB_STREAM + i, registers[a->j]), 4, 0);
        }
    }
    CQ_SLEEP(q, a, 10, 20);
    w->counters = false;
    clear_byte(q, w, NOCAP_PROCESSOR_TRISC0);
    sim_cq_poke(q, w->brisc);
    CO_GOTO(q, a, sim_cq_worker_others);
    CO_END(a);
}
