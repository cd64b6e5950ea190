/* SPDX-License-Identifier: Apache-2.0 */
/* BRISC's firmware: boot, dispatch loop, launch. Order and pace as observed. */
#include "capture/sim/launch/firmware.h"

static sim_routine brisc_zero, brisc_release, brisc_ready, brisc_launch, brisc_kernel, brisc_finish,
    brisc_notify, brisc_reset;

static uint32_t sync_word(const struct sim_tile *t)
{
    return sim_load(t, NOCAP_SYNC, NOCAP_SYNC_BYTES);
}

static uint8_t sync_byte(const struct sim_tile *t, unsigned processor)
{
    return t->l1[NOCAP_SYNC + nocap_cores[processor].sync_byte];
}

static void store_sync_byte(struct sim *m, struct sim_core *c, unsigned processor, uint8_t value,
                            uint32_t pc)
{
    uint32_t addr = (uint32_t)(NOCAP_SYNC + nocap_cores[processor].sync_byte);
    sim_store(m, c, addr, 1, value, pc);
}

static void store_done(struct sim *m, struct sim_tile *t, struct sim_core *c, uint32_t pc)
{
    t->go_index = (uint8_t)sim_load(t, m->layout->go_message_index, 1) % NOCAP_GO_WORDS;
    sim_store(m, c, sim_go_signal_address(m, t->go_index), 1, NOCAP_GO_DONE, pc);
}

/* A store to the launch slot that BRISC works on. */
static void store_slot(struct sim *m, struct sim_tile *t, struct sim_core *c,
                       enum nocap_launch_field field, uint32_t pc)
{
    const struct nocap_launch_place *place = &m->layout->fields[field];
    sim_store(m, c, nocap_launch_slot(m->layout, t->slot) + place->offset, place->width, 0, pc);
}

/* ---- boot ---- */

void sim_brisc_boot(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_STEPS(m, t, c, sim_device_setup);
    CO_GOTO(m, c, brisc_zero);
    CO_END(c);
}

/* Blocks of 16 bytes, each from its last word to its first. */
static void brisc_zero(struct sim *m, struct sim_core *c)
{
    CO_BEGIN(c);
    for (c->i = 0; c->i < NOCAP_L1_ZEROS_SIZE / 16; c->i++) {
        CO_SLEEP(m, c, SIM_ZERO_BLOCK);
        for (c->j = 0; c->j < 4; c->j++) {
            CO_SLEEP(m, c, 1);
            sim_store(m, c, NOCAP_L1_ZEROS + 16 * c->i + 4 * (3 - c->j), 4, 0,
                      SIM_PC_ZEROS + 4 * c->j);
        }
    }
    CO_GOTO(m, c, brisc_release);
    CO_END(c);
}

static void brisc_release(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_STEPS(m, t, c, sim_device_release);
    if (sync_word(t) !=
        NOCAP_SYNC_ALL_INIT) { /* left out by a fault, which makes up for it too late */
        CO_SLEEP(m, c, 1);
        sim_store(m, c, NOCAP_SYNC, NOCAP_SYNC_BYTES, NOCAP_SYNC_ALL_INIT, SIM_PC_ALL_INIT);
    }
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_BOOT_DONE_EARLY)) {
        CO_SLEEP(m, c, SIM_AFTER_BOOT_SYNC);
        store_done(m, t, c, SIM_PC_BOOT_DONE);
        CO_POLL(c, SIM_WATCH_SYNC, sync_word(t) == NOCAP_SYNC_ALL_DONE);
    } else {
        CO_POLL(c, SIM_WATCH_SYNC, sync_word(t) == NOCAP_SYNC_ALL_DONE);
        CO_SLEEP(m, c, SIM_AFTER_BOOT_SYNC);
        store_done(m, t, c, SIM_PC_BOOT_DONE);
    }
    CO_GOTO(m, c, brisc_ready);
    CO_END(c);
}

static void brisc_ready(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_STEPS(m, t, c, sim_noc_init);
    CO_SLEEP(m, c, SIM_TO_INIT_SYNC);
    store_sync_byte(m, c, NOCAP_PROCESSOR_TRISC0, NOCAP_SYNC_INIT_REGISTERS, SIM_PC_BOOT_INIT_SYNC);
    CO_SLEEP(m, c, SIM_TO_LOOP);
    CO_GOTO(m, c, sim_brisc_idle);
    CO_END(c);
}

/* ---- dispatch loop ---- */

static uint8_t go_signal(const struct sim *m, struct sim_tile *t)
{
    t->go_index = (uint8_t)sim_load(t, m->layout->go_message_index, 1) % NOCAP_GO_WORDS;
    return t->l1[sim_go_signal_address(m, t->go_index)];
}

/* Also reads the slot that comes next. */
static bool preloaded(const struct sim *m, struct sim_tile *t)
{
    t->slot = (uint8_t)(sim_load(t, NOCAP_RD_PTR, 4) % NOCAP_LAUNCH_SLOTS);
    return (sim_launch_field(m, t, t->slot, NOCAP_LAUNCH_preload, 0) & NOCAP_PRELOAD_FLAG) != 0;
}

static bool has_work(const struct sim *m, struct sim_tile *t)
{
    uint8_t signal = go_signal(m, t);
    return signal == NOCAP_GO_GO || signal == NOCAP_GO_RESET_READ_PTR ||
           signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST || signal == NOCAP_GO_REPLAY_TRACE ||
           preloaded(m, t);
}

void sim_brisc_idle(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (;;) {
        CO_POLL(c, SIM_WATCH_GO, has_work(m, t));
        uint8_t signal = go_signal(m, t);
        if (preloaded(m, t) || signal == NOCAP_GO_GO) {
            break;
        }
        if (signal != NOCAP_GO_RESET_READ_PTR_FROM_HOST) {
            CO_GOTO(m, c, brisc_reset);
        }
        sim_store(m, c, NOCAP_RD_PTR, 4, 0, SIM_PC_HOST_RESET);
        CO_SLEEP(m, c, SIM_RESET_ITERATION);
    }
    t->enables = sim_launch_field(m, t, t->slot, NOCAP_LAUNCH_enables, 0);
    t->begun++;
    CO_GOTO(m, c, brisc_launch);
    CO_END(c);
}

static void brisc_reset(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_RESET_TO_RD_PTR);
    sim_store(m, c, NOCAP_RD_PTR, 4, 0, SIM_PC_RESET_RD_PTR);
    CO_SLEEP(m, c, SIM_RESET_TO_DONE);
    store_done(m, t, c, SIM_PC_RESET_DONE);
    CO_STEPS(m, t, c, sim_notify_reset);
    CO_SLEEP(m, c, SIM_BACK_TO_LOOP);
    CO_GOTO(m, c, sim_brisc_idle);
    CO_END(c);
}

/* ---- launch ---- */

static bool enabled(const struct sim_tile *t, unsigned processor)
{
    return (t->enables >> processor & 1) != 0;
}

/* Whether NCRISC takes part: by its enable bit, or by a fault without it. */
static bool launches_ncrisc(struct sim *m, const struct sim_tile *t)
{
    return enabled(t, NOCAP_PROCESSOR_NCRISC) ||
           sim_fault_pending(m, t, NOCAP_SIM_FAULT_DISABLED_CORE_RUNS);
}

static void store_ncrisc_go(struct sim *m, struct sim_tile *t, struct sim_core *c)
{
    if (!enabled(t, NOCAP_PROCESSOR_NCRISC)) {
        sim_fault_due(m, t, NOCAP_SIM_FAULT_DISABLED_CORE_RUNS);
    }
    store_sync_byte(m, c, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_GO, SIM_PC_NCRISC_GO);
}

static void brisc_launch(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_TO_LOAD);
    if (launches_ncrisc(m, t) && !sim_fault_due(m, t, NOCAP_SIM_FAULT_LOAD_DROPPED)) {
        store_sync_byte(m, c, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_LOAD, SIM_PC_LOAD);
        if (sim_fault_due(m, t, NOCAP_SIM_FAULT_LOAD_OVER_BUSY)) {
            CO_SLEEP(m, c, 1);
            store_sync_byte(m, c, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_LOAD, SIM_PC_LOAD);
        }
    }
    CO_SLEEP(m, c, SIM_TO_INVALIDATE);
    if (!sim_fault_due(m, t, NOCAP_SIM_FAULT_LAUNCH_NO_ICACHE)) {
        sim_store(m, c, NOCAP_REG_RISCV_IC_INVALIDATE, 4, NOCAP_IC_INVALIDATE_ALL,
                  SIM_PC_INVALIDATE);
    }
    CO_POLL(c, SIM_WATCH_SYNC,
            sync_byte(t, NOCAP_PROCESSOR_TRISC0) == NOCAP_SYNC_DONE ||
                sim_fault_due(m, t, NOCAP_SIM_FAULT_GO_BEFORE_REGISTER_INIT));
    CO_GOTO(m, c, brisc_kernel);
    CO_END(c);
}

/* GO to the subordinates, then the own kernel. c->j: NCRISC has had its GO. */
static void brisc_kernel(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_SYNC_BAD_VALUE)) {
        store_sync_byte(m, c, NOCAP_PROCESSOR_TRISC2, 0x05, SIM_PC_TRISC_GO);
        CO_SLEEP(m, c, 1);
        store_sync_byte(m, c, NOCAP_PROCESSOR_TRISC2, NOCAP_SYNC_DONE, SIM_PC_TRISC_GO);
    }
    CO_SLEEP(m, c, SIM_TO_TRISC_GO);
    c->j = 0;
    if (enabled(t, NOCAP_PROCESSOR_TRISC0)) {
        for (c->i = NOCAP_PROCESSOR_TRISC0; c->i <= NOCAP_PROCESSOR_TRISC2; c->i++) {
            store_sync_byte(m, c, c->i, NOCAP_SYNC_GO,
                            SIM_PC_TRISC_GO + 4 * (c->i - NOCAP_PROCESSOR_TRISC0));
            CO_SLEEP(m, c, 1);
            if (sim_fault_due(m, t, NOCAP_SIM_FAULT_GO_SPLIT)) {
                store_ncrisc_go(m, t, c);
                c->j = 1;
                CO_SLEEP(m, c, 1);
            }
        }
    }
    CO_SLEEP(m, c, SIM_TO_NCRISC_GO);
    CO_POLL(c, SIM_WATCH_HOLD, !sim_fault_pending(m, t, NOCAP_SIM_FAULT_ENTER_BEFORE_GO));
    if (launches_ncrisc(m, t) && c->j == 0) {
        store_ncrisc_go(m, t, c);
    }
    CO_SLEEP(m, c, enabled(t, NOCAP_PROCESSOR_BRISC) ? SIM_TO_KERNEL : SIM_WITHOUT_BUFFERS);
    if (enabled(t, NOCAP_PROCESSOR_BRISC)) {
        sim_enter_kernel(m, t, c, brisc_finish);
        return;
    }
    CO_POLL(c, SIM_WATCH_GO, go_signal(m, t) == NOCAP_GO_GO);
    CO_GOTO(m, c, brisc_finish);
    CO_END(c);
}

/* Faults at the end of a launch wait until the subordinates are where they do harm. */
static bool only_trisc2_busy(const struct sim_tile *t)
{
    return sync_word(t) == (uint32_t)NOCAP_SYNC_GO
                               << 8 * nocap_cores[NOCAP_PROCESSOR_TRISC2].sync_byte;
}

static bool is_dev_mode(const struct sim *m, const struct sim_tile *t)
{
    return sim_launch_field(m, t, t->slot, NOCAP_LAUNCH_mode, 0) == NOCAP_MODE_DEV;
}

static void brisc_finish(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_POLL(
        c, SIM_WATCH_SYNC | SIM_WATCH_HOLD,
        sync_word(t) == NOCAP_SYNC_ALL_DONE ||
            (only_trisc2_busy(t) && (sim_fault_pending(m, t, NOCAP_SIM_FAULT_INIT_SYNC_EARLY) ||
                                     (sim_fault_pending(m, t, NOCAP_SIM_FAULT_DONE_EARLY) &&
                                      t->core[NOCAP_PROCESSOR_TRISC2].watch == SIM_WATCH_HOLD))));
    CO_SLEEP(m, c, SIM_AFTER_SYNC);
    t->ended = t->begun;
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_DONE_EARLY)) {
        store_done(m, t, c, SIM_PC_DONE);
        sim_changed(m, t, SIM_WATCH_HOLD);
        CO_POLL(c, SIM_WATCH_SYNC, sync_word(t) == NOCAP_SYNC_ALL_DONE);
        CO_SLEEP(m, c, SIM_TO_DONE);
        store_sync_byte(m, c, NOCAP_PROCESSOR_TRISC0, NOCAP_SYNC_INIT_REGISTERS, SIM_PC_INIT_SYNC);
        CO_GOTO(m, c, brisc_notify);
    }
    store_sync_byte(m, c, NOCAP_PROCESSOR_TRISC0, NOCAP_SYNC_INIT_REGISTERS, SIM_PC_INIT_SYNC);
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_INIT_SYNC_EARLY)) {
        sim_changed(m, t, SIM_WATCH_HOLD);
        CO_POLL(c, SIM_WATCH_SYNC,
                (sync_word(t) & ~NOCAP_SYNC_REGISTER_INIT) == NOCAP_SYNC_ALL_DONE);
    }
    CO_SLEEP(m, c, SIM_TO_DONE);
    if (!sim_fault_due(m, t, NOCAP_SIM_FAULT_DONE_BEFORE_KERNEL_EXIT)) {
        store_done(m, t, c, SIM_PC_DONE);
    }
    CO_GOTO(m, c, brisc_notify);
    CO_END(c);
}

/* DEV mode: the slot is freed, the dispatch tile told, the read pointer moved. */
static void brisc_notify(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (is_dev_mode(m, t)) {
        CO_SLEEP(m, c, SIM_TO_CLEAR_ENABLES);
        if (!sim_fault_due(m, t, NOCAP_SIM_FAULT_ENABLES_NOT_CLEARED)) {
            store_slot(m, t, c, NOCAP_LAUNCH_enables, SIM_PC_CLEAR_ENABLES);
        }
        CO_SLEEP(m, c, SIM_TO_CLEAR_PRELOAD);
        store_slot(m, t, c, NOCAP_LAUNCH_preload, SIM_PC_CLEAR_PRELOAD);
        if (!sim_fault_due(m, t, NOCAP_SIM_FAULT_NOTIFY_MISSING)) {
            CO_STEPS(m, t, c, sim_notify);
        }
        CO_SLEEP(m, c, SIM_TO_RD_PTR);
        uint32_t step = sim_fault_due(m, t, NOCAP_SIM_FAULT_RD_PTR_PLUS_2) ? 2 : 1;
        sim_store(m, c, NOCAP_RD_PTR, 4, (sim_load(t, NOCAP_RD_PTR, 4) + step) % NOCAP_LAUNCH_SLOTS,
                  SIM_PC_RD_PTR);
    } else if (sim_fault_due(m, t, NOCAP_SIM_FAULT_NOTIFY_IN_HOST_MODE)) {
        CO_STEPS(m, t, c, sim_notify);
    }
    CO_SLEEP(m, c, SIM_BACK_TO_LOOP);
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_DONE_WITHOUT_CAUSE)) {
        store_done(m, t, c, SIM_PC_DONE);
    }
    CO_GOTO(m, c, sim_brisc_idle);
    CO_END(c);
}
