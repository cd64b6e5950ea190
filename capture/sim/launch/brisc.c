/* SPDX-License-Identifier: Apache-2.0 */
/* BRISC's firmware of the launch scenarios: boot, and what its part that all machines share asks of
 * this one. Order and pace as observed. */
#include "capture/sim/launch/firmware.h"

static sim_routine brisc, brisc_zero, brisc_release, brisc_ready, brisc_kernel, brisc_notify,
    brisc_reset;

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
    if (sim_brisc_sync_word(&t->brisc) != NOCAP_SYNC_ALL_INIT) {
        /* left out by a fault, which makes up for it too late */
        CO_SLEEP(m, c, 1);
        sim_store(m, c, NOCAP_SYNC, NOCAP_SYNC_BYTES, NOCAP_SYNC_ALL_INIT, SIM_PC_ALL_INIT);
    }
    if (sim_fault_due(m, t, NOCAP_SIM_FAULT_BOOT_DONE_EARLY)) {
        CO_SLEEP(m, c, SIM_AFTER_BOOT_SYNC);
        sim_brisc_store_done(&t->brisc, SIM_PC_BOOT_DONE);
        CO_POLL(c, SIM_WATCH_SYNC, sim_brisc_sync_word(&t->brisc) == NOCAP_SYNC_ALL_DONE);
    } else {
        CO_POLL(c, SIM_WATCH_SYNC, sim_brisc_sync_word(&t->brisc) == NOCAP_SYNC_ALL_DONE);
        CO_SLEEP(m, c, SIM_AFTER_BOOT_SYNC);
        sim_brisc_store_done(&t->brisc, SIM_PC_BOOT_DONE);
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
    sim_store(m, c, sim_brisc_sync_address(&t->brisc, NOCAP_PROCESSOR_TRISC0), 1,
              NOCAP_SYNC_INIT_REGISTERS, SIM_PC_BOOT_INIT_SYNC);
    CO_SLEEP(m, c, SIM_TO_LOOP);
    t->brisc.run = sim_brisc_idle;
    t->brisc.line = 0;
    CO_GOTO(m, c, brisc);
    CO_END(c);
}

/* ---- launches ---- */

static void brisc(struct sim *m, struct sim_core *c)
{
    (void)m;
    c->tile->brisc.run(&c->tile->brisc);
}

static struct sim_core *core_of(const struct sim_brisc *b)
{
    return &((struct sim_tile *)b->tile)->core[NOCAP_PROCESSOR_BRISC];
}

static bool pause_for(struct sim_brisc *b, enum sim_brisc_stretch stretch)
{
    static const uint8_t instructions[SIM_BRISC_STRETCHES] = {
        [SIM_BRISC_ITERATION] = 20,       [SIM_BRISC_TO_LOAD] = 11,
        [SIM_BRISC_TO_INVALIDATE] = 26,   [SIM_BRISC_TO_TRISC_GO] = 6,
        [SIM_BRISC_NEXT_STORE] = 1,       [SIM_BRISC_TO_NCRISC_GO] = 52,
        [SIM_BRISC_AFTER_SYNC] = 3,       [SIM_BRISC_TO_DONE] = 3,
        [SIM_BRISC_TO_CLEAR_ENABLES] = 4, [SIM_BRISC_TO_CLEAR_PRELOAD] = 2,
        [SIM_BRISC_TO_RD_PTR] = 7,        [SIM_BRISC_BACK_TO_LOOP] = SIM_BACK_TO_LOOP,
    };
    if (instructions[stretch] == 0) {
        return false;
    }
    sim_sleep(b->owner, core_of(b), instructions[stretch]);
    return true;
}

static void wait_for(struct sim_brisc *b, enum sim_brisc_watch what)
{
    static const uint8_t watch[] = {[SIM_BRISC_GO] = SIM_WATCH_GO,
                                    [SIM_BRISC_SYNC] = SIM_WATCH_SYNC,
                                    [SIM_BRISC_FAULT] = SIM_WATCH_HOLD,
                                    [SIM_BRISC_SYNC_OR_FAULT] = SIM_WATCH_SYNC | SIM_WATCH_HOLD};
    sim_poll(core_of(b), watch[what]);
}

static void store(struct sim_brisc *b, uint32_t addr, uint32_t size, uint32_t value, uint32_t pc)
{
    sim_store(b->owner, core_of(b), addr, size, value, pc);
}

/* TRISC2 was kept busy for these. */
static bool due(struct sim_brisc *b, enum nocap_sim_fault fault)
{
    bool strikes = sim_fault_due(b->owner, b->tile, fault);
    if (strikes &&
        (fault == NOCAP_SIM_FAULT_DONE_EARLY || fault == NOCAP_SIM_FAULT_INIT_SYNC_EARLY)) {
        sim_changed(b->owner, b->tile, SIM_WATCH_HOLD);
    }
    return strikes;
}

static bool pending(struct sim_brisc *b, enum nocap_sim_fault fault)
{
    const struct sim_core *trisc2 = &((struct sim_tile *)b->tile)->core[NOCAP_PROCESSOR_TRISC2];
    return sim_fault_pending(b->owner, b->tile, fault) &&
           (fault != NOCAP_SIM_FAULT_DONE_EARLY || trisc2->watch == SIM_WATCH_HOLD);
}

static void do_part(struct sim_brisc *b, enum sim_brisc_part part)
{
    static sim_routine *const routines[] = {[SIM_BRISC_KERNEL] = brisc_kernel,
                                            [SIM_BRISC_NOTIFY] = brisc_notify,
                                            [SIM_BRISC_RESET] = brisc_reset};
    struct sim *m = b->owner;
    struct sim_core *c = core_of(b);
    c->run = routines[part];
    c->line = 0;
    m->k.again = true;
}

static void brisc_kernel(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    bool own = sim_brisc_enables(&t->brisc, NOCAP_PROCESSOR_BRISC);
    CO_BEGIN(c);
    CO_SLEEP(m, c, own ? SIM_TO_KERNEL : SIM_WITHOUT_BUFFERS);
    if (own) {
        sim_enter_kernel(m, t, c, brisc);
        return;
    }
    CO_POLL(c, SIM_WATCH_GO, sim_brisc_go_signal(&t->brisc) == NOCAP_GO_GO);
    CO_GOTO(m, c, brisc);
    CO_END(c);
}

static void brisc_notify(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_STEPS(m, t, c, sim_notify);
    CO_GOTO(m, c, brisc);
    CO_END(c);
}

static void brisc_reset(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    CO_SLEEP(m, c, SIM_RESET_TO_RD_PTR);
    sim_store(m, c, NOCAP_RD_PTR, 4, 0, SIM_PC_RESET_RD_PTR);
    CO_SLEEP(m, c, SIM_RESET_TO_DONE);
    sim_brisc_store_done(&t->brisc, SIM_PC_RESET_DONE);
    CO_STEPS(m, t, c, sim_notify_reset);
    CO_SLEEP(m, c, SIM_BACK_TO_LOOP);
    CO_GOTO(m, c, brisc);
    CO_END(c);
}

void sim_brisc_init(struct sim *m, struct sim_tile *t)
{
    static const struct sim_brisc_machine machine = {.pause = pause_for,
                                                     .wait = wait_for,
                                                     .store = store,
                                                     .due = due,
                                                     .pending = pending,
                                                     .do_part = do_part};
    t->brisc = (struct sim_brisc){
        .machine = &machine, .owner = m, .tile = t, .layout = m->layout, .l1 = t->l1};
}
