/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/sim: BRISC's firmware from one launch to the next, on whatever machine has its
 * tile. The machine says how long each stretch takes, wakes it, does its stores and runs its
 * kernels. */
#ifndef NOCAP_CAPTURE_SIM_BRISC_H
#define NOCAP_CAPTURE_SIM_BRISC_H

#include "capture/sim/sim.h"
#include "formats/blackhole/mailbox.h"

struct sim_brisc;
typedef void sim_brisc_routine(struct sim_brisc *b);

/* Stretches of the firmware; a machine may leave some out. */
enum sim_brisc_stretch {
    SIM_BRISC_SEES_WORK,
    SIM_BRISC_ITERATION,        /* of the dispatch loop while the host's reset request stands */
    SIM_BRISC_TO_LOAD,          /* GO seen .. LOAD */
    SIM_BRISC_TO_INVALIDATE,    /* .. instruction caches */
    SIM_BRISC_TO_TRISC_GO,      /* TRISC0's byte seen 0 .. GO */
    SIM_BRISC_NEXT_STORE,       /* one store .. the next */
    SIM_BRISC_TO_NCRISC_GO,     /* the TRISCs' GO .. NCRISC's */
    SIM_BRISC_AFTER_SYNC,       /* sync word seen 0 .. register init asked for */
    SIM_BRISC_TO_DONE,          /* .. DONE */
    SIM_BRISC_TO_CLEAR_ENABLES, /* DEV mode: .. the launch message's enables */
    SIM_BRISC_TO_CLEAR_PRELOAD, /* .. its preload flag */
    SIM_BRISC_TO_NOTIFY,        /* .. worker done */
    SIM_BRISC_TO_RD_PTR,        /* .. read pointer */
    SIM_BRISC_BACK_TO_LOOP,
    SIM_BRISC_STRETCHES,
};

/* What it polls. */
enum sim_brisc_watch { SIM_BRISC_GO, SIM_BRISC_SYNC, SIM_BRISC_FAULT, SIM_BRISC_SYNC_OR_FAULT };

/* What each machine does in its own way. */
enum sim_brisc_part {
    SIM_BRISC_KERNEL, /* if this launch has one */
    SIM_BRISC_NOTIFY, /* worker done */
    SIM_BRISC_RESET,  /* a read pointer reset that is to be answered */
};

struct sim_brisc_machine {
    /* It goes on after the stretch; false: at once. */
    bool (*pause)(struct sim_brisc *b, enum sim_brisc_stretch stretch);
    /* It is called again when the L1 of its tile, or what a fault waits for, has changed. */
    void (*wait)(struct sim_brisc *b, enum sim_brisc_watch what);
    void (*store)(struct sim_brisc *b, uint32_t addr, uint32_t size, uint32_t value, uint32_t pc);
    /* Whether the planned fault strikes now; whether it waits for that. */
    bool (*due)(struct sim_brisc *b, enum nocap_sim_fault fault);
    bool (*pending)(struct sim_brisc *b, enum nocap_sim_fault fault);
    /* The machine does its part, and then goes on in `run`. */
    void (*do_part)(struct sim_brisc *b, enum sim_brisc_part part);
    /* Only the host asks for resets; it is obeyed once, and not for as long as it asks. */
    bool host_resets_once;
};

struct sim_brisc {
    const struct sim_brisc_machine *machine;
    void *owner, *tile; /* the machine's */
    const struct nocap_mailbox_layout *layout;
    uint8_t *l1;            /* mailbox of its tile */
    sim_brisc_routine *run; /* to be called whenever its time has come */
    int32_t line;           /* place in `run` */
    uint8_t turn;           /* processor */
    uint8_t go_index;       /* that it read last */
    uint8_t slot;           /* of the launch message that it works on */
    bool ncrisc_gone;       /* NCRISC has had its GO */
    bool reset_seen;        /* the host's request that stands was obeyed */
    uint32_t enables;       /* of that message */
    uint64_t begun;         /* launches */
    uint64_t ended;         /* launches after which it has asked for register init */
};

/* Program counters of its stores, in the one firmware build that has any. */
enum sim_brisc_pc {
    SIM_PC_ZEROS = 0x4988,
    SIM_PC_ALL_INIT = 0x3B5C,
    SIM_PC_BOOT_DONE = 0x3B6C,
    SIM_PC_BOOT_INIT_SYNC = 0x3CB0,
    SIM_PC_LOAD = 0x4124,
    SIM_PC_INVALIDATE = 0x3DA8,
    SIM_PC_TRISC_GO = 0x3DC0,
    SIM_PC_NCRISC_GO = 0x3E98,
    SIM_PC_INIT_SYNC = 0x3F60,
    SIM_PC_DONE = 0x3F6C,
    SIM_PC_CLEAR_ENABLES = 0x3F7C,
    SIM_PC_CLEAR_PRELOAD = 0x3F84,
    SIM_PC_RD_PTR = 0x4048,
    SIM_PC_HOST_RESET = 0x4058,
    SIM_PC_RESET_RD_PTR = 0x4070,
    SIM_PC_RESET_DONE = 0x409C,
};

/* Where it begins: the dispatch loop. */
sim_brisc_routine sim_brisc_idle;

uint32_t sim_brisc_sync_word(const struct sim_brisc *b);
uint32_t sim_brisc_sync_address(const struct sim_brisc *b, unsigned processor);
/* Reads which go word counts, and its signal. */
uint8_t sim_brisc_go_signal(struct sim_brisc *b);
void sim_brisc_store_done(struct sim_brisc *b, uint32_t pc);
static inline bool sim_brisc_enables(const struct sim_brisc *b, unsigned processor)
{
    return (b->enables >> processor & 1) != 0;
}

#endif
