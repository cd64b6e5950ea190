/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware of NCRISC and of the three TRISCs. Order and pace as observed. */
#include "capture/sim/launch/firmware.h"

static sim_routine ncrisc_idle, ncrisc_enter, ncrisc_finish;
static sim_routine trisc_boot_end, trisc_idle, trisc_counters, trisc_finish, trisc_stray_done;

static uint32_t own_byte_address(const struct sim_core *c)
{
    return (uint32_t)(NOCAP_SYNC + nocap_cores[c->agent - NOCAP_BY_BRISC].sync_byte);
}

static uint8_t own_byte(const struct sim_tile *t, const struct sim_core *c)
{
    return t->l1[own_byte_address(c)];
}

/* What a subordinate polls: its own byte. */
static uint8_t own_watch(const struct sim_core *c)
{
    return (uint8_t)(1u << nocap_cores[c->agent - NOCAP_BY_BRISC].sync_byte);
}

static void clear_own_byte(struct sim *m, struct sim_core *c, uint32_t pc)
{
    sim_store(m, c, own_byte_address(c), 1, NOCAP_SYNC_DONE, pc);
}

static unsigned thread_of(const struct sim_core *c)
{
    return (unsigned)(c->agent - NOCAP_BY_TRISC0);
}

/* ---- NCRISC ---- */

void sim_ncrisc_boot(struct sim *m, struct sim_core *c)
{
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_NCRISC_BOOT);
    clear_own_byte(m, c, SIM_PC_NCRISC_BOOT_CLEAR);
    CO_SLEEP(m, c, 1);
    CO_GOTO(m, c, ncrisc_idle);
    CO_END(c);
}

static void ncrisc_idle(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_POLL(c, own_watch(c), own_byte(t, c) == NOCAP_SYNC_LOAD || own_byte(t, c) == NOCAP_SYNC_GO);
    if (!sim_fault_pending(m, t, NOCAP_SIM_FAULT_ENTER_BEFORE_GO)) {
        CO_SLEEP(m, c, SIM_NCRISC_SETUP);
        CO_POLL(c, own_watch(c), own_byte(t, c) == NOCAP_SYNC_GO);
    }
    CO_GOTO(m, c, ncrisc_enter);
    CO_END(c);
}

static void ncrisc_enter(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_NCRISC_ENTER);
    sim_enter_kernel(m, t, c, ncrisc_finish);
    CO_END(c);
}

static void ncrisc_finish(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_KERNEL_TWICE)) {
        CO_GOTO(m, c, ncrisc_enter);
    }
    if (!sim_fault_due(m, t, NOCAP_SIM_FAULT_DONE_INSIDE_KERNEL)) {
        clear_own_byte(m, c, SIM_PC_NCRISC_CLEAR);
    }
    CO_GOTO(m, c, ncrisc_idle);
}

/* ---- TRISC ---- */

void sim_trisc_boot(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (c->agent == NOCAP_BY_TRISC1 && sim_fault_due(m, t, NOCAP_SIM_FAULT_BOOT_HANG_TRISC1)) {
        c->run = NULL;
        return;
    }
    CO_SLEEP(m, c, sim_triscs[thread_of(c)].boot);
    for (c->i = 0; c->i < NOCAP_GPR_COUNT; c->i++) {
        if (c->agent != NOCAP_BY_TRISC2 || c->i + 1 < NOCAP_GPR_COUNT ||
            !sim_fault_due(m, t, NOCAP_SIM_FAULT_GPR_NOT_ZEROED)) {
            sim_store(m, c, NOCAP_BASE_GPR + 4 * c->i, 4, 0, sim_triscs[thread_of(c)].pc_gpr);
        }
        CO_SLEEP(m, c, SIM_GPR_PACE);
    }
    CO_SLEEP(m, c, SIM_TO_PRNG);
    sim_store(m, c, NOCAP_REG_PRNG_SEED, 4, 0, sim_triscs[thread_of(c)].pc_prng);
    CO_SLEEP(m, c, SIM_PRNG_SETTLES);
    CO_GOTO(m, c, trisc_boot_end);
    CO_END(c);
}

static void trisc_boot_end(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (c->agent != NOCAP_BY_TRISC1 || !sim_fault_due(m, t, NOCAP_SIM_FAULT_SUB_SKIPS_INIT_CLEAR)) {
        clear_own_byte(m, c, sim_triscs[thread_of(c)].pc_boot_clear);
    }
    CO_SLEEP(m, c, 1);
    CO_GOTO(m, c, trisc_idle);
    CO_END(c);
}

/* TRISC0 also serves the request to zero the circular buffer counters. A planned fault may need it
 * to be slow there. */
static bool sees_request(const struct sim *m, const struct sim_tile *t, const struct sim_core *c)
{
    return c->agent == NOCAP_BY_TRISC0 && own_byte(t, c) == NOCAP_SYNC_INIT_REGISTERS &&
           !(sim_fault_planned(&m->k, NOCAP_SIM_FAULT_GO_BEFORE_REGISTER_INIT) &&
             t == &m->tile[m->fault_tile] && t->brisc.ended >= m->fault_launch);
}

static void trisc_idle(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_POLL(c, own_watch(c), own_byte(t, c) == NOCAP_SYNC_GO || sees_request(m, t, c));
    if (own_byte(t, c) == NOCAP_SYNC_INIT_REGISTERS) {
        CO_GOTO(m, c, trisc_counters);
    }
    CO_SLEEP(m, c, sim_triscs[thread_of(c)].setup);
    sim_enter_kernel(m, t, c, trisc_finish);
    CO_END(c);
}

static void trisc_counters(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_COUNTERS_START);
    for (c->i = 0; c->i < NOCAP_CB_COUNT; c->i++) {
        CO_SLEEP(m, c, SIM_COUNTERS_PACE);
        sim_store(m, c, nocap_stream_address(NOCAP_CB_STREAM + c->i, NOCAP_STREAM_TILES_RECEIVED),
                  4, 0, SIM_PC_RECEIVED);
        CO_SLEEP(m, c, 1);
        if (c->i + 1 < NOCAP_CB_COUNT || !sim_fault_due(m, t, NOCAP_SIM_FAULT_COUNTERS_63)) {
            sim_store(m, c, nocap_stream_address(NOCAP_CB_STREAM + c->i, NOCAP_STREAM_TILES_ACKED),
                      4, 0, SIM_PC_ACKED);
        }
    }
    CO_SLEEP(m, c, SIM_COUNTERS_TO_CLEAR);
    clear_own_byte(m, c, SIM_PC_COUNTERS_CLEAR);
    CO_SLEEP(m, c, 1);
    CO_GOTO(m, c, trisc_stray_done);
    CO_END(c);
}

/* A fault: DONE from a core that has no say in it, while the tile idles. */
static void trisc_stray_done(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    uint32_t signal = sim_go_signal_address(m, t->brisc.go_index);
    if (t->l1[signal] == NOCAP_GO_DONE && sim_fault_due(m, t, NOCAP_SIM_FAULT_SUB_STORES_DONE)) {
        sim_store(m, c, signal, 1, NOCAP_GO_DONE, SIM_PC_COUNTERS_CLEAR);
    }
    CO_GOTO(m, c, trisc_idle);
}

static void trisc_finish(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_TO_DRAIN);
    if (c->agent != NOCAP_BY_TRISC1 || !sim_fault_due(m, t, NOCAP_SIM_FAULT_NOT_DRAINED)) {
        sim_store(m, c, NOCAP_REG_TTSYNC, 4, NOCAP_TTSYNC_STORE, sim_triscs[thread_of(c)].pc_drain);
    }
    CO_POLL(c, SIM_WATCH_FIFO, t->tensix.fifo[thread_of(c)].count == 0);
    if (c->agent == NOCAP_BY_TRISC2) {
        sim_changed(m, t, SIM_WATCH_HOLD);
        CO_POLL(c, SIM_WATCH_HOLD,
                !sim_fault_pending(m, t, NOCAP_SIM_FAULT_DONE_EARLY) &&
                    !sim_fault_pending(m, t, NOCAP_SIM_FAULT_INIT_SYNC_EARLY));
        if (sim_fault_pending(m, t, NOCAP_SIM_FAULT_SYNC_WRONG_BYTE)) {
            CO_POLL(c, SIM_WATCH_SYNC, t->l1[own_byte_address(c) - 1] == NOCAP_SYNC_DONE);
            sim_fault_due(m, t, NOCAP_SIM_FAULT_SYNC_WRONG_BYTE);
            sim_store(m, c, own_byte_address(c) - 1, 1, NOCAP_SYNC_DONE,
                      sim_triscs[thread_of(c)].pc_clear);
        }
    }
    CO_SLEEP(m, c, SIM_TO_CLEAR);
    clear_own_byte(m, c, sim_triscs[thread_of(c)].pc_clear);
    CO_SLEEP(m, c, 1);
    CO_GOTO(m, c, trisc_idle);
    CO_END(c);
}
