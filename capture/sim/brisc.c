/* SPDX-License-Identifier: Apache-2.0 */
/* BRISC's dispatch loop and what it does for a launch. Order of its stores as observed. */
#include "capture/sim/brisc.h"

#include <string.h>

#include "capture/kernel/kernel.h"
#include "formats/blackhole/cores.h"
#include "formats/blackhole/registers.h"

static sim_brisc_routine launch, start_kernels, finish, notify, move_read_pointer, end_launch;

#define PAUSE(b, stretch)                                                                          \
    do {                                                                                           \
        (b)->line = 2 * __LINE__;                                                                  \
        if ((b)->machine->pause((b), (stretch))) {                                                 \
            return;                                                                                \
        }                                                                                          \
        __attribute__((fallthrough));                                                              \
    case 2 * __LINE__:;                                                                            \
    } while (0)
#define POLL(b, what, condition) CO_UNTIL(b, condition, (b)->machine->wait((b), (what)))
#define GO_ON(b, routine)                                                                          \
    do {                                                                                           \
        (b)->line = 0;                                                                             \
        (b)->run = (routine);                                                                      \
        (b)->run(b);                                                                               \
        return;                                                                                    \
    } while (0)
/* Goes on in the routine when the machine has done its part. */
#define HAND_OVER(b, part, routine)                                                                \
    do {                                                                                           \
        (b)->line = 0;                                                                             \
        (b)->run = (routine);                                                                      \
        (b)->machine->do_part((b), (part));                                                        \
        return;                                                                                    \
    } while (0)

static uint32_t sim_brisc_load(const struct sim_brisc *b, uint32_t addr, uint32_t size)
{
    uint32_t value = 0;
    memcpy(&value, b->l1 + addr, size);
    return value;
}

uint32_t sim_brisc_sync_word(const struct sim_brisc *b)
{
    return sim_brisc_load(b, b->layout->sync, NOCAP_SYNC_BYTES);
}

uint32_t sim_brisc_sync_address(const struct sim_brisc *b, unsigned processor)
{
    return (uint32_t)((int)b->layout->sync + nocap_cores[processor].sync_byte);
}

uint8_t sim_brisc_go_signal(struct sim_brisc *b)
{
    b->go_index = (uint8_t)(b->l1[b->layout->go_message_index] % NOCAP_GO_WORDS);
    return b->l1[nocap_go_word_address(b->layout, b->go_index) + NOCAP_GO_SIGNAL_BYTE];
}

static void store_sync_byte(struct sim_brisc *b, unsigned processor, uint8_t value, uint32_t pc)
{
    b->machine->store(b, sim_brisc_sync_address(b, processor), 1, value, pc);
}

void sim_brisc_store_done(struct sim_brisc *b, uint32_t pc)
{
    (void)sim_brisc_go_signal(b);
    b->machine->store(b, nocap_go_word_address(b->layout, b->go_index) + NOCAP_GO_SIGNAL_BYTE, 1,
                      NOCAP_GO_DONE, pc);
}

/* A field of the launch message that it works on. */
static uint32_t load_field(const struct sim_brisc *b, enum nocap_launch_field field)
{
    const struct nocap_launch_place *place = &b->layout->fields[field];
    return sim_brisc_load(b, nocap_launch_slot(b->layout, b->slot) + place->offset, place->width);
}

static void clear_field(struct sim_brisc *b, enum nocap_launch_field field, uint32_t pc)
{
    const struct nocap_launch_place *place = &b->layout->fields[field];
    b->machine->store(b, nocap_launch_slot(b->layout, b->slot) + place->offset, place->width, 0,
                      pc);
}

/* ---- dispatch loop ---- */

/* Also reads the slot that comes next. */
static bool preloaded(struct sim_brisc *b)
{
    b->slot = (uint8_t)(sim_brisc_load(b, b->layout->rd_ptr, 4) % b->layout->launch_slots);
    return (load_field(b, NOCAP_LAUNCH_preload) & NOCAP_PRELOAD_FLAG) != 0;
}

static bool wants_answer(const struct sim_brisc *b, uint8_t signal)
{
    return !b->machine->host_resets_once &&
           (signal == NOCAP_GO_RESET_READ_PTR || signal == NOCAP_GO_REPLAY_TRACE);
}

static bool has_work(struct sim_brisc *b)
{
    uint8_t signal = sim_brisc_go_signal(b);
    return signal == NOCAP_GO_GO || wants_answer(b, signal) ||
           (signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST && !b->reset_seen) || preloaded(b);
}

void sim_brisc_idle(struct sim_brisc *b)
{
    CO_BEGIN(b);
    for (;;) {
        POLL(b, SIM_BRISC_GO, has_work(b));
        PAUSE(b, SIM_BRISC_SEES_WORK);
        uint8_t signal = sim_brisc_go_signal(b);
        if (preloaded(b) || signal == NOCAP_GO_GO) {
            break;
        }
        if (wants_answer(b, signal)) {
            HAND_OVER(b, SIM_BRISC_RESET, sim_brisc_idle);
        }
        if (signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST && !b->reset_seen) {
            b->reset_seen = b->machine->host_resets_once;
            b->machine->store(b, b->layout->rd_ptr, 4, 0, SIM_PC_HOST_RESET);
            PAUSE(b, SIM_BRISC_ITERATION);
        }
    }
    b->enables = load_field(b, NOCAP_LAUNCH_enables);
    b->begun++;
    GO_ON(b, launch);
    CO_END(b);
}

/* ---- launch ---- */

/* Whether NCRISC takes part: by its enable bit, or by a fault without it. */
static bool launches_ncrisc(struct sim_brisc *b)
{
    return sim_brisc_enables(b, NOCAP_PROCESSOR_NCRISC) ||
           b->machine->pending(b, NOCAP_SIM_FAULT_DISABLED_CORE_RUNS);
}

static void store_ncrisc_go(struct sim_brisc *b)
{
    if (!sim_brisc_enables(b, NOCAP_PROCESSOR_NCRISC)) {
        b->machine->due(b, NOCAP_SIM_FAULT_DISABLED_CORE_RUNS);
    }
    store_sync_byte(b, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_GO, SIM_PC_NCRISC_GO);
    b->ncrisc_gone = true;
}

static void launch(struct sim_brisc *b)
{
    CO_BEGIN(b);
    PAUSE(b, SIM_BRISC_TO_LOAD);
    if (launches_ncrisc(b) && !b->machine->due(b, NOCAP_SIM_FAULT_LOAD_DROPPED)) {
        store_sync_byte(b, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_LOAD, SIM_PC_LOAD);
        if (b->machine->due(b, NOCAP_SIM_FAULT_LOAD_OVER_BUSY)) {
            PAUSE(b, SIM_BRISC_NEXT_STORE);
            store_sync_byte(b, NOCAP_PROCESSOR_NCRISC, NOCAP_SYNC_LOAD, SIM_PC_LOAD);
        }
    }
    PAUSE(b, SIM_BRISC_TO_INVALIDATE);
    if (!b->machine->due(b, NOCAP_SIM_FAULT_LAUNCH_NO_ICACHE)) {
        b->machine->store(b, NOCAP_REG_RISCV_IC_INVALIDATE, 4, NOCAP_IC_INVALIDATE_ALL,
                          SIM_PC_INVALIDATE);
    }
    POLL(b, SIM_BRISC_SYNC,
         b->l1[sim_brisc_sync_address(b, NOCAP_PROCESSOR_TRISC0)] == NOCAP_SYNC_DONE ||
             b->machine->due(b, NOCAP_SIM_FAULT_GO_BEFORE_REGISTER_INIT));
    GO_ON(b, start_kernels);
    CO_END(b);
}

/* GO to the subordinates, then the own kernel. */
static void start_kernels(struct sim_brisc *b)
{
    CO_BEGIN(b);
    if (b->machine->due(b, NOCAP_SIM_FAULT_SYNC_BAD_VALUE)) {
        store_sync_byte(b, NOCAP_PROCESSOR_TRISC2, 0x05, SIM_PC_TRISC_GO);
        PAUSE(b, SIM_BRISC_NEXT_STORE);
        store_sync_byte(b, NOCAP_PROCESSOR_TRISC2, NOCAP_SYNC_DONE, SIM_PC_TRISC_GO);
    }
    PAUSE(b, SIM_BRISC_TO_TRISC_GO);
    b->ncrisc_gone = false;
    if (sim_brisc_enables(b, NOCAP_PROCESSOR_TRISC0)) {
        for (b->turn = NOCAP_PROCESSOR_TRISC0; b->turn <= NOCAP_PROCESSOR_TRISC2; b->turn++) {
            store_sync_byte(b, b->turn, NOCAP_SYNC_GO,
                            SIM_PC_TRISC_GO + 4u * (b->turn - NOCAP_PROCESSOR_TRISC0));
            PAUSE(b, SIM_BRISC_NEXT_STORE);
            if (b->machine->due(b, NOCAP_SIM_FAULT_GO_SPLIT)) {
                store_ncrisc_go(b);
                PAUSE(b, SIM_BRISC_NEXT_STORE);
            }
        }
    }
    PAUSE(b, SIM_BRISC_TO_NCRISC_GO);
    POLL(b, SIM_BRISC_FAULT, !b->machine->pending(b, NOCAP_SIM_FAULT_ENTER_BEFORE_GO));
    if (launches_ncrisc(b) && !b->ncrisc_gone) {
        store_ncrisc_go(b);
    }
    HAND_OVER(b, SIM_BRISC_KERNEL, finish);
    CO_END(b);
}

/* Faults at the end of a launch wait until the subordinates are where they do harm. */
static bool may_finish_early(struct sim_brisc *b)
{
    const uint32_t only_trisc2 = (uint32_t)NOCAP_SYNC_GO
                                 << 8 * nocap_cores[NOCAP_PROCESSOR_TRISC2].sync_byte;
    return sim_brisc_sync_word(b) == only_trisc2 &&
           (b->machine->pending(b, NOCAP_SIM_FAULT_INIT_SYNC_EARLY) ||
            b->machine->pending(b, NOCAP_SIM_FAULT_DONE_EARLY));
}

static void finish(struct sim_brisc *b)
{
    CO_BEGIN(b);
    POLL(b, SIM_BRISC_SYNC_OR_FAULT,
         sim_brisc_sync_word(b) == NOCAP_SYNC_ALL_DONE || may_finish_early(b));
    PAUSE(b, SIM_BRISC_AFTER_SYNC);
    b->ended = b->begun;
    if (b->machine->due(b, NOCAP_SIM_FAULT_DONE_EARLY)) {
        sim_brisc_store_done(b, SIM_PC_DONE);
        POLL(b, SIM_BRISC_SYNC, sim_brisc_sync_word(b) == NOCAP_SYNC_ALL_DONE);
        PAUSE(b, SIM_BRISC_TO_DONE);
        store_sync_byte(b, NOCAP_PROCESSOR_TRISC0, NOCAP_SYNC_INIT_REGISTERS, SIM_PC_INIT_SYNC);
        GO_ON(b, notify);
    }
    store_sync_byte(b, NOCAP_PROCESSOR_TRISC0, NOCAP_SYNC_INIT_REGISTERS, SIM_PC_INIT_SYNC);
    if (b->machine->due(b, NOCAP_SIM_FAULT_INIT_SYNC_EARLY)) {
        POLL(b, SIM_BRISC_SYNC,
             (sim_brisc_sync_word(b) & ~NOCAP_SYNC_REGISTER_INIT) == NOCAP_SYNC_ALL_DONE);
    }
    PAUSE(b, SIM_BRISC_TO_DONE);
    if (!b->machine->due(b, NOCAP_SIM_FAULT_DONE_BEFORE_KERNEL_EXIT)) {
        sim_brisc_store_done(b, SIM_PC_DONE);
    }
    GO_ON(b, notify);
    CO_END(b);
}

/* DEV mode: the slot is freed, the dispatcher notified, the read pointer moved. */
static void notify(struct sim_brisc *b)
{
    CO_BEGIN(b);
    if (load_field(b, NOCAP_LAUNCH_mode) != NOCAP_MODE_DEV) {
        if (b->machine->due(b, NOCAP_SIM_FAULT_NOTIFY_IN_HOST_MODE)) {
            HAND_OVER(b, SIM_BRISC_NOTIFY, end_launch);
        }
        GO_ON(b, end_launch);
    }
    PAUSE(b, SIM_BRISC_TO_CLEAR_ENABLES);
    if (!b->machine->due(b, NOCAP_SIM_FAULT_ENABLES_NOT_CLEARED)) {
        clear_field(b, NOCAP_LAUNCH_enables, SIM_PC_CLEAR_ENABLES);
    }
    PAUSE(b, SIM_BRISC_TO_CLEAR_PRELOAD);
    clear_field(b, NOCAP_LAUNCH_preload, SIM_PC_CLEAR_PRELOAD);
    PAUSE(b, SIM_BRISC_TO_NOTIFY);
    if (!b->machine->due(b, NOCAP_SIM_FAULT_NOTIFY_MISSING)) {
        HAND_OVER(b, SIM_BRISC_NOTIFY, move_read_pointer);
    }
    GO_ON(b, move_read_pointer);
    CO_END(b);
}

static void move_read_pointer(struct sim_brisc *b)
{
    CO_BEGIN(b);
    PAUSE(b, SIM_BRISC_TO_RD_PTR);
    uint32_t step = b->machine->due(b, NOCAP_SIM_FAULT_RD_PTR_PLUS_2) ? 2 : 1;
    uint32_t next = (sim_brisc_load(b, b->layout->rd_ptr, 4) + step) % b->layout->launch_slots;
    b->machine->store(b, b->layout->rd_ptr, 4, next, SIM_PC_RD_PTR);
    GO_ON(b, end_launch);
    CO_END(b);
}

static void end_launch(struct sim_brisc *b)
{
    CO_BEGIN(b);
    PAUSE(b, SIM_BRISC_BACK_TO_LOOP);
    if (b->machine->due(b, NOCAP_SIM_FAULT_DONE_WITHOUT_CAUSE)) {
        sim_brisc_store_done(b, SIM_PC_DONE);
    }
    GO_ON(b, sim_brisc_idle);
    CO_END(b);
}
