/* SPDX-License-Identifier: Apache-2.0 */
/* The workers: what BRISC of each has of this machine, and its other cores taken together, which
 * serve the sync word. What they do follows from the mailbox in their tile's L1. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum { KERNEL_LEAST = 900, KERNEL_SPREAD = 3000, LONG_KERNEL = 60000 };

static cq_routine kernel, others_counters;

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

static uint32_t sync_address(const struct cq_worker *w, unsigned processor)
{
    return sim_brisc_sync_address(&w->firmware, processor);
}

static bool zeroes_counters(const struct cq_worker *w)
{
    return w->l1[sync_address(w, NOCAP_PROCESSOR_TRISC0)] == NOCAP_SYNC_INIT_REGISTERS;
}

void sim_cq_write_worker(struct sim_cq *q, struct cq_worker *w, uint32_t addr, const uint8_t *data,
                         uint32_t size)
{
    uint32_t go = nocap_go_word_address(q->layout, 0);
    memcpy(w->l1 + addr, data, size);
    if (addr <= go && go < addr + size) {
        w->firmware.reset_seen = false;
        w->launcher = q;
    }
    sim_cq_poke(w->home, w->brisc);
}

/* ---- the other cores ---- */

static void clear_byte(struct sim_cq *q, struct cq_worker *w, unsigned processor)
{
    if (w->l1[sync_address(w, processor)] != NOCAP_SYNC_DONE) {
        store_by(q, w, nocap_cores[processor].agent, sync_address(w, processor), 1,
                 NOCAP_SYNC_DONE);
        sim_cq_poke(q, w->brisc);
    }
}

static bool is_called(const struct cq_worker *w)
{
    uint32_t sync = sim_brisc_sync_word(&w->firmware);
    return zeroes_counters(w) ||
           (sync != 0 && w->l1[sync_address(w, NOCAP_PROCESSOR_NCRISC)] != NOCAP_SYNC_LOAD);
}

void sim_cq_worker_others(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    CQ_AWAIT(q, a, CQ_WATCH_WORKER, is_called(w));
    if (zeroes_counters(w)) {
        CO_GOTO(q, a, others_counters);
    }
    for (a->i = NOCAP_PROCESSOR_NCRISC; a->i <= NOCAP_PROCESSOR_TRISC2; a->i++) {
        if (w->l1[sync_address(w, a->i)] == NOCAP_SYNC_GO) {
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
    clear_byte(q, w, NOCAP_PROCESSOR_TRISC0);
    CO_GOTO(q, a, sim_cq_worker_others);
    CO_END(a);
}

/* ---- BRISC ---- */

void sim_cq_worker_brisc(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    w->firmware.run(&w->firmware);
}

/* What NCRISC takes is left out where it has no kernel. */
static bool pause_for(struct sim_brisc *b, enum sim_brisc_stretch stretch)
{
    static const struct {
        uint8_t least, spread;
        bool ncrisc;
    } cycles[SIM_BRISC_STRETCHES] = {
        [SIM_BRISC_SEES_WORK] = {40, 40, false},      [SIM_BRISC_TO_LOAD] = {30, 30, false},
        [SIM_BRISC_TO_INVALIDATE] = {26, 20, true},   [SIM_BRISC_TO_TRISC_GO] = {6, 20, false},
        [SIM_BRISC_NEXT_STORE] = {1, 2, false},       [SIM_BRISC_TO_NCRISC_GO] = {50, 30, true},
        [SIM_BRISC_AFTER_SYNC] = {4, 6, false},       [SIM_BRISC_TO_DONE] = {4, 3, false},
        [SIM_BRISC_TO_CLEAR_ENABLES] = {4, 4, false}, [SIM_BRISC_TO_CLEAR_PRELOAD] = {3, 3, false},
        [SIM_BRISC_TO_NOTIFY] = {4, 4, false},        [SIM_BRISC_TO_RD_PTR] = {4, 4, false},
    };
    const struct cq_worker *w = b->tile;
    if (cycles[stretch].spread == 0 ||
        (cycles[stretch].ncrisc && !sim_brisc_enables(b, NOCAP_PROCESSOR_NCRISC))) {
        return false;
    }
    sim_cq_sleep(b->owner, w->brisc, cycles[stretch].least, cycles[stretch].spread);
    return true;
}

static void wait_for(struct sim_brisc *b, enum sim_brisc_watch what)
{
    (void)what; /* all of it stands in the mailbox */
    sim_cq_block(((struct cq_worker *)b->tile)->brisc, CQ_WATCH_WORKER, NULL);
}

static void store(struct sim_brisc *b, uint32_t addr, uint32_t size, uint32_t value, uint32_t pc)
{
    struct cq_worker *w = b->tile;
    (void)pc;
    store_by(b->owner, w, NOCAP_BY_BRISC, addr, size, value);
    if (zeroes_counters(w)) {
        sim_cq_poke(b->owner, w->others);
    }
}

static bool due(struct sim_brisc *b, enum nocap_sim_fault fault)
{
    return sim_cq_fault_due(((struct cq_worker *)b->tile)->launcher, fault);
}

static bool pending(struct sim_brisc *b, enum nocap_sim_fault fault)
{
    return sim_cq_fault_pending(((struct cq_worker *)b->tile)->launcher, fault);
}

/* A fault: the kernel of one worker never ends. Another needs one that takes long. */
static void kernel(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_worker *w = worker_of(q, a);
    CO_BEGIN(a);
    sim_cq_poke(q, w->others);
    if (w->observed && sim_cq_fault_due(w->launcher, NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS)) {
        a->run = NULL;
        return;
    }
    if (sim_brisc_enables(&w->firmware, NOCAP_PROCESSOR_BRISC)) {
        CQ_SLEEP(q, a, KERNEL_LEAST, KERNEL_SPREAD);
    }
    if (sim_fault_planned(&w->launcher->k, NOCAP_SIM_FAULT_CREDIT_IGNORED)) {
        CQ_SLEEP(q, a, LONG_KERNEL, KERNEL_SPREAD);
    }
    CO_GOTO(q, a, sim_cq_worker_brisc);
    CO_END(a);
}

/* Faults: no notify, or a second one; both need that the others have made theirs. */
static bool is_last(struct sim_cq *q)
{
    return sim_cq_streams(q, q->board.subordinate)[0] + 1 >= q->workers;
}

static void notify(struct sim_cq *q, struct cq_worker *w)
{
    if (!w->observed || !sim_cq_fault_due(q, NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING)) {
        sim_cq_send_notify(q, w);
    }
    if (w->observed && is_last(q) && sim_cq_fault_due(q, NOCAP_SIM_FAULT_WORKER_NOTIFY_TWICE)) {
        sim_cq_send_notify(q, w);
    }
}

static void do_part(struct sim_brisc *b, enum sim_brisc_part part)
{
    struct sim_cq *q = b->owner;
    struct cq_worker *w = b->tile;
    if (part == SIM_BRISC_NOTIFY) {
        notify(w->launcher, w);
    }
    w->brisc->run = part == SIM_BRISC_KERNEL ? kernel : sim_cq_worker_brisc;
    w->brisc->line = 0;
    q->k.again = true;
}

void sim_cq_worker_init(struct sim_cq *q, struct cq_worker *w)
{
    static const struct sim_brisc_machine machine = {.pause = pause_for,
                                                     .wait = wait_for,
                                                     .store = store,
                                                     .due = due,
                                                     .pending = pending,
                                                     .do_part = do_part,
                                                     .host_resets_once = true};
    w->firmware = (struct sim_brisc){.machine = &machine,
                                     .owner = q,
                                     .tile = w,
                                     .layout = q->layout,
                                     .l1 = w->l1,
                                     .run = sim_brisc_idle};
    w->home = w->launcher = q;
}
