/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware build that the device model runs, private to capture/sim/launch: where its parts lie
 * in L1, how many instructions each stretch of it takes, and the program counters of its stores.
 * Another build has other numbers; the protocol does not care. Source: observed firmware behaviour.
 */
#ifndef NOCAP_CAPTURE_SIM_PROFILE_H
#define NOCAP_CAPTURE_SIM_PROFILE_H

#include "capture/sim/launch/machine.h"

enum sim_l1_map {
    SIM_TEXT_BRISC = 0x3840,
    SIM_TEXT_NCRISC = 0x5440,
    SIM_TEXT_TRISC0 = 0x5A40,
    SIM_TEXT_TRISC1 = 0x6040,
    SIM_TEXT_TRISC2 = 0x6640,
    SIM_KERNEL_CONFIG =
        0x82B0, /* kernel images; before boot, initial data of the cores' private memories */
    SIM_IMAGE_STRIDE = 0x1000, /* between the images of two launch slots, DEV mode */
    SIM_BANK_TABLE = SIM_KERNEL_CONFIG + NOCAP_BANK_TABLE_FROM_KERNEL_CONFIG,
    SIM_BANK_TABLE_SIZE = 936,
    SIM_DATA = 0x37000,          /* user data, where kernels store */
    SIM_DATA_STRIDE = 0x1000,    /* between the cores' parts */
    SIM_DISPATCH_DATA = 0x1A000, /* on the dispatch tile: what it sends, a page each */
    SIM_DISPATCH_PAGES = 128,
    SIM_DISPATCH_PAGE = 0x1000,
};

/* One segment of a core's firmware as the host uploads it: text to its place, initial data to the
 * scratch area. */
struct sim_segment {
    uint32_t addr, size; /* bytes */
    bool data;           /* linked to core-private memory, uploaded to scratch */
};
extern const struct sim_segment sim_segments[];
extern const unsigned sim_segment_count;

/* One step of a core's firmware: `after` instructions, then a store of a word. */
enum sim_step_kind {
    SIM_STEP_STORE,
    SIM_STEP_SET_BITS, /* read-modify-write */
    SIM_STEP_OWN_XY,   /* the tile's own coordinates, as a NOC register holds them */
    SIM_STEP_STREAM,   /* stream register at the dispatch tile, from the go word */
    SIM_STEP_MASTER,   /* coordinates of the dispatch tile, from the go word */
};
struct sim_step {
    uint16_t after;
    uint8_t kind; /* enum sim_step_kind */
    uint32_t addr, value, pc;
    enum nocap_sim_fault left_out_by; /* a fault that leaves the step out */
};
struct sim_steps {
    const struct sim_step *step;
    unsigned count;
};

extern const struct sim_steps
    sim_device_setup; /* BRISC, from its first store to the override of reset PCs */
extern const struct sim_steps
    sim_device_release; /* after the zeroed area, up to the release of the others */
extern const struct sim_steps sim_noc_init;     /* BRISC after boot DONE */
extern const struct sim_steps sim_notify;       /* BRISC after a DEV mode launch */
extern const struct sim_steps sim_notify_reset; /* BRISC after a read pointer reset */

/* The step happens: its store, unless a fault leaves it out. */
void sim_step(struct sim *m, struct sim_tile *t, struct sim_core *c, const struct sim_step *step);

/* Plays all steps; c->i counts. */
#define CO_STEPS(m, t, c, steps)                                                                   \
    for ((c)->i = 0; (c)->i < (steps).count; (c)->i++) {                                           \
        CO_SLEEP((m), (c), (steps).step[(c)->i].after);                                            \
        sim_step((m), (t), (c), &(steps).step[(c)->i]);                                            \
    }

/* What BRISC does in this machine alone, instructions. */
enum sim_brisc_timing {
    SIM_ZERO_BLOCK = 4,      /* from one 16-byte block of zeros to the next */
    SIM_AFTER_BOOT_SYNC = 2, /* sync word seen 0 .. boot DONE */
    SIM_TO_INIT_SYNC = 32,   /* end of NOC init .. register init asked for */
    SIM_TO_LOOP = 20,        /* .. dispatch loop */
    SIM_TO_KERNEL = 199,     /* circular buffer setup */
    SIM_WITHOUT_BUFFERS = 24,
    SIM_BACK_TO_LOOP = 16,
    SIM_RESET_TO_RD_PTR = 9, /* read pointer reset seen .. stored */
    SIM_RESET_TO_DONE = 11,
};

enum sim_ncrisc_timing {
    SIM_NCRISC_BOOT = 1920,
    SIM_NCRISC_SETUP = 179, /* LOAD seen .. ready for GO */
    SIM_NCRISC_ENTER = 4,
    SIM_PC_NCRISC_BOOT_CLEAR = 0x5600,
    SIM_PC_NCRISC_CLEAR = 0x5764,
};

/* A TRISC's firmware: three builds of one source. */
struct sim_trisc {
    uint16_t boot;  /* instructions .. first GPR zeroed */
    uint16_t setup; /* GO seen .. kernel */
    uint32_t pc_gpr, pc_prng, pc_boot_clear, pc_drain, pc_clear;
};
extern const struct sim_trisc sim_triscs[NOCAP_TENSIX_THREADS];
enum sim_trisc_timing {
    SIM_GPR_PACE = 3,
    SIM_TO_PRNG = 5,
    SIM_PRNG_SETTLES = 615,
    SIM_TO_DRAIN = 2, /* kernel left .. store that drains the coprocessor */
    SIM_TO_CLEAR = 3, /* drained .. own byte cleared */
    SIM_COUNTERS_START = 4,
    SIM_COUNTERS_PACE = 3,
    SIM_COUNTERS_TO_CLEAR = 3,
    SIM_PC_RECEIVED = 0x5D9C,
    SIM_PC_ACKED = 0x5DA0,
    SIM_PC_COUNTERS_CLEAR = 0x5DAC,
};

/* Where the firmware of each core starts, and where a kernel returns to; by processor. */
extern const uint32_t sim_text[NOCAP_PROCESSOR_COUNT];
extern const uint32_t sim_kernel_return[NOCAP_PROCESSOR_COUNT];

enum { SIM_UNKNOWN_SIGNAL = 0x20 }; /* of a go word: no firmware knows it */

/* The host program's habits, in cycles. */
enum sim_host_timing {
    SIM_HOST_ACCESS = 6,       /* between two accesses, at least; up to twice as much */
    SIM_HOST_BOOT_POLL = 500,  /* between two polls of the boot */
    SIM_HOST_POLL = 200,       /* between two polls of a launch */
    SIM_HOST_POLLS_MAX = 5000, /* then it gives up */
    SIM_HOST_QUIET = 6000,     /* a pause after which all cores idle */
    SIM_HOST_RESET = 700,      /* lets every BRISC see a request that is never acknowledged */
    SIM_HOST_RESET_TILES = 8,  /* with more tiles it leaves that to the dispatch tile's requests */
    SIM_HOST_STRAY = 60,       /* GO .. a stray write to the busy tile */
    SIM_DISPATCH_ACCESS = 20,
    SIM_DRAIN = 20000, /* after the host's end the cores have so long to finish */
};

#endif
