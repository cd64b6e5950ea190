/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated board, private to capture/sim: its tiles and cores, the wheel of time, and how a
 * core's routine is written.
 *
 * A core is a coroutine: a function that is called whenever the core's time has come, does what the
 * core does in that instant, and says how many instructions later it goes on. The CO_ macros keep
 * the place in `line`; what must survive from one instant to the next stands in struct sim_core,
 * never in a local variable. */
#ifndef NOCAP_CAPTURE_SIM_MACHINE_H
#define NOCAP_CAPTURE_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/sim/sim.h"
#include "formats/blackhole/cores.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tile_map.h"

struct sim;
struct sim_core;
struct sim_tile;
typedef void sim_routine(struct sim *m, struct sim_tile *t, struct sim_core *c);

enum sim_size {
    SIM_LOW_L1 = 0x400,    /* bytes of L1 from 0 that are kept: boot jump and mailbox */
    SIM_FIFO_DEPTH = 32,   /* words of a Tensix thread's instruction FIFO */
    SIM_BUFFER_WORDS = 32, /* registers kept of a NOC command buffer */
    SIM_BUCKETS = 4096,    /* of the wheel, one a cycle; a power of two and a multiple of 64 */
    SIM_STRETCH_MAX = 13,  /* n instructions of a core of stretch s take n to n * (1 + s) cycles */
    SIM_COPROCESSOR = NOCAP_PROCESSOR_COUNT, /* index in sim_tile.core behind the five cores */
    SIM_TILE_CORES,
};

/* What a core polls: it sleeps until one of these changes. The first four are the bytes of the sync
 * word in order. */
enum sim_watch {
    SIM_WATCH_SYNC = 0x0F,
    SIM_WATCH_GO = 0x10,       /* go words, their index, launch messages, read pointer */
    SIM_WATCH_FIFO = 0x20,     /* a word left an instruction FIFO */
    SIM_WATCH_COUNTERS = 0x40, /* circular buffer counters */
    SIM_WATCH_HOLD = 0x80,     /* a planned fault: the core is kept busy until it has struck */
};

/* Circular buffers that the kernels use: filled by NCRISC for TRISC0, and by TRISC2 for BRISC. */
enum sim_buffer { SIM_BUFFER_IN, SIM_BUFFER_OUT, SIM_BUFFERS };
enum { SIM_IN_CB = 0, SIM_OUT_CB = 16 }; /* their numbers */

struct sim_core {
    sim_routine *run;    /* NULL: it does nothing any more */
    sim_routine *resume; /* where the firmware goes on after the kernel */
    struct sim_tile *tile;
    uint64_t until;    /* end of a sleep that may be longer than the wheel */
    int32_t line;      /* place in `run` */
    uint32_t i, j;     /* loop counters of `run` */
    uint32_t text;     /* entry of the kernel that runs */
    uint16_t id, next; /* own number; next core in the same bucket */
    uint8_t agent;     /* enum nocap_agent; NONE for the coprocessor */
    uint8_t watch;     /* set over enum sim_watch, 0: not polling */
    uint8_t stretch;   /* 0..SIM_STRETCH_MAX */
    bool armed;        /* in the wheel */
};

struct sim_fifo {
    uint32_t word[SIM_FIFO_DEPTH];
    uint8_t head, count;
    bool held;       /* the word at the head was reported as held */
    uint32_t leaked; /* a wait that went before its condition cleared: the words behind the next one
                        wait for it; 0: none */
    uint8_t leaks;   /* words that may still go */
};

struct sim_tensix {
    struct sim_fifo fifo[NOCAP_TENSIX_THREADS];
    uint8_t value[NOCAP_SEMAPHORE_COUNT], max[NOCAP_SEMAPHORE_COUNT];
};

/* A kernel image in a tile's L1: which program, and its runtime argument. */
struct sim_image {
    uint8_t program; /* enum sim_program */
    uint8_t rounds;
};

struct sim_tile {
    struct nocap_xy at;
    uint8_t watched;  /* union of what its cores poll */
    uint8_t go_index; /* that BRISC read last */
    uint8_t slot;     /* of the launch message that BRISC works on */
    uint32_t enables; /* of that message */
    uint64_t begun;   /* launches that BRISC has begun */
    uint64_t ended;   /* launches after which BRISC has asked for register init */
    uint8_t l1[SIM_LOW_L1];
    uint32_t soft_reset;
    uint32_t reset_pc[NOCAP_PROCESSOR_COUNT], override_trisc, override_ncrisc;
    uint32_t scrubber;
    uint32_t niu_config[2], router_config[2]; /* of each NOC */
    uint32_t niu[2][NOCAP_NIU_BUFFERS][SIM_BUFFER_WORDS];
    uint32_t received[SIM_BUFFERS], acked[SIM_BUFFERS];
    uint64_t notified; /* announcements that arrived here as dispatch tile */
    struct sim_image image[NOCAP_LAUNCH_SLOTS];
    struct sim_tensix tensix;
    bool exchanged[NOCAP_TENSIX_THREADS]; /* two words of the tile that the thread works on */
    struct sim_core *core;                /* SIM_TILE_CORES of them, by processor index */
};

enum sim_program { SIM_PROGRAM_NOOP, SIM_PROGRAM_SPIN, SIM_PROGRAM_PIPELINE, SIM_PROGRAMS };
enum { SIM_HEAD = 16 }; /* bytes of a payload that an event shows beside its hash */

/* A payload that is shown by hash and first bytes. */
struct sim_payload {
    uint32_t size;
    uint64_t hash; /* FNV-1a, 64 bits */
    uint8_t head[SIM_HEAD];
};

/* What one launch of one tile is. */
struct sim_plan {
    struct sim_image image;
    uint32_t enables;
    bool preload;
    bool host_reset; /* HOST mode: the host asks for a read pointer reset first */
};

/* Who writes a launch message or a go word. */
enum sim_via { SIM_VIA_HOST, SIM_VIA_DISPATCH };

/* The host program. */
struct sim_host {
    uint32_t tile;            /* that it works on */
    uint32_t rectangle, step; /* of the upload */
    uint64_t launch;          /* that it works on, from 0; the same on all tiles */
    struct sim_plan plan;     /* of the launch that is being written */
    uint64_t polls;           /* since the last change that it waited for */
    uint64_t next_id;         /* of a NOC transaction of the dispatch tile */
    uint8_t via;              /* enum sim_via */
    bool seen;                /* the poll saw what it waits for */
    bool gave_up;
    bool stale; /* the launch goes without a message of its own */
    /* DEV mode: launches [generation, generation_end) go through the ring between two resets */
    uint64_t generation, generation_end;
    uint64_t filled, fill_to; /* messages before these launches are, and shall be, in the ring */
    uint64_t expected;        /* announcements at the dispatch tile */
    uint8_t signal;           /* that ends the generation */
    bool gone;                /* the round's GO was written */
    bool resetting;
};

struct sim_rectangle {
    struct nocap_xy from, to;
};

struct sim {
    struct nocap_sim_options options;
    nocap_sim_sink *sink;
    void *context;
    struct nocap_error *err;
    enum nocap_status status;
    uint64_t now, random;
    struct nocap_event event;
    /* the planned fault */
    uint32_t fault_tile;
    uint64_t fault_launch;
    bool struck;
    /* the end */
    bool finished;
    uint64_t end;
    /* the board */
    struct sim_rectangle rectangle[2];   /* of worker tiles, for multicasts */
    uint32_t rectangles, tiles, workers; /* workers: tiles that get launches, the first ones */
    struct sim_tile *tile;
    struct sim_tile *dispatch; /* where DEV mode launches are announced */
    uint8_t tile_at[NOCAP_GRID_WIDTH][NOCAP_GRID_HEIGHT]; /* index + 1; 0: not simulated */
    struct sim_core *core; /* [0] the host, then SIM_TILE_CORES a tile */
    struct sim_host host;
    struct sim_payload image[SIM_PROGRAMS];
    const struct nocap_mailbox_layout *layout;
    /* the wheel */
    uint64_t occupied[SIM_BUCKETS / 64];
    uint16_t bucket[SIM_BUCKETS];
};

/* wheel.c */
void sim_wheel_init(struct sim *m);
/* The next core whose time has come, taken out of the wheel, `now` set; NULL if nobody waits for
 * anything. */
struct sim_core *sim_wheel_next(struct sim *m);
/* Cycle of the next bucket that is not empty; UINT64_MAX if there is none. */
uint64_t sim_wheel_peek(const struct sim *m);
/* The core goes on after n > 0 instructions. */
void sim_sleep(struct sim *m, struct sim_core *c, uint32_t n);
/* The core goes on after n > 0 cycles. */
void sim_sleep_cycles(struct sim *m, struct sim_core *c, uint64_t n);
/* The core goes on some iteration of its polling loop after one of `what` changed. */
void sim_poll(struct sim_core *c, uint8_t what);
/* `what` changed in tile t. */
void sim_changed(struct sim *m, struct sim_tile *t, uint8_t what);
/* 64 random bits; 0..n-1. */
uint64_t sim_random(struct sim *m);
uint32_t sim_below(struct sim *m, uint32_t n);
void sim_start_random(struct sim *m);

/* A number that depends on the variant, a and b only: what the program is made of. */
uint64_t sim_mix(const struct sim *m, uint64_t a, uint64_t b);

#define CO_BEGIN(c)                                                                                \
    switch ((c)->line) {                                                                           \
    case 0:

#define CO_END(c) }

/* Two places a line, so that a macro may sleep once and poll once. */
#define CO_WAIT_(c)                                                                                \
    (c)->line = 2 * __LINE__;                                                                      \
    return;                                                                                        \
    case 2 * __LINE__:

/* Goes on n instructions (cycles) later. */
#define CO_SLEEP(m, c, n)                                                                          \
    do {                                                                                           \
        sim_sleep((m), (c), (n));                                                                  \
        CO_WAIT_(c);                                                                               \
    } while (0)
#define CO_CYCLES(m, c, n)                                                                         \
    do {                                                                                           \
        sim_sleep_cycles((m), (c), (n));                                                           \
        CO_WAIT_(c);                                                                               \
    } while (0)

/* Goes on when the condition holds; it can only begin to hold when one of `what` changes. */
#define CO_POLL(c, what, condition)                                                                \
    do {                                                                                           \
        (c)->line = 2 * __LINE__ + 1;                                                              \
        __attribute__((fallthrough));                                                              \
    case 2 * __LINE__ + 1:                                                                         \
        if (!(condition)) {                                                                        \
            sim_poll((c), (what));                                                                 \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* Goes on in another routine, at once. */
#define CO_GOTO(m, t, c, routine)                                                                  \
    do {                                                                                           \
        (c)->run = (routine);                                                                      \
        (c)->line = 0;                                                                             \
        (routine)((m), (t), (c));                                                                  \
        return;                                                                                    \
    } while (0)

/* emit.c: one event each, at `now`. */
void sim_emit_write(struct sim *m, const struct sim_core *c, uint64_t addr, uint32_t size,
                    uint64_t value, uint32_t pc);
void sim_emit_read(struct sim *m, const struct sim_core *c, uint64_t addr, uint32_t size,
                   uint64_t value, uint32_t pc);
void sim_emit_kernel(struct sim *m, const struct sim_core *c, enum nocap_op op, uint32_t pc);
void sim_emit_reset(struct sim *m, const struct sim_core *c, enum nocap_op op);
void sim_emit_push(struct sim *m, const struct sim_core *c, unsigned thread, uint32_t word);
void sim_emit_issue(struct sim *m, const struct sim_tile *t, unsigned thread, uint32_t word);
void sim_emit_stall(struct sim *m, const struct sim_tile *t, unsigned thread, uint32_t word);
/* An event that the caller fills further and then hands to sim_emit. */
struct nocap_event *sim_event(struct sim *m, enum nocap_kind kind, struct nocap_xy at);
void sim_emit(struct sim *m);

/* tile.c: memory and registers. */
uint32_t sim_load(const struct sim_tile *t, uint32_t addr, uint32_t size); /* of low L1 */
/* What a write of `size` bytes does, whoever made it. */
void sim_write_l1(struct sim *m, struct sim_tile *t, uint32_t addr, const uint8_t *data,
                  uint32_t size);
void sim_write_register(struct sim *m, struct sim_tile *t, uint32_t addr, uint32_t value);
/* A core's store: the event and what it does. */
void sim_store(struct sim *m, struct sim_core *c, uint32_t addr, uint32_t size, uint32_t value,
               uint32_t pc);
/* A core's read-modify-write that sets bits. */
void sim_set_bits(struct sim *m, struct sim_core *c, uint32_t addr, uint32_t bits, uint32_t pc);
/* A field of launch message `slot` in the tile's ring. */
uint32_t sim_launch_field(const struct sim *m, const struct sim_tile *t, unsigned slot,
                          enum nocap_launch_field field, unsigned element);
struct sim_tile *sim_tile_at(struct sim *m, struct nocap_xy at); /* NULL: not simulated */
static inline uint32_t sim_go_signal_address(const struct sim *m, unsigned index)
{
    return nocap_go_word_address(m->layout, index) + NOCAP_GO_SIGNAL_BYTE;
}

/* noc.c: the request that stands in a command buffer goes out. */
void sim_noc_send(struct sim *m, struct sim_tile *t, unsigned noc, unsigned buffer);

/* tensix.c */
void sim_push(struct sim *m, struct sim_core *c, unsigned thread, uint32_t word);
sim_routine sim_coprocessor;

/* Cores as they leave reset, and as they wait for work. */
sim_routine sim_brisc_boot, sim_brisc_idle, sim_ncrisc_boot, sim_trisc_boot;

/* kernel.c: enters the kernel that the active launch message names; the core goes on at `resume`.
 */
void sim_enter_kernel(struct sim *m, struct sim_tile *t, struct sim_core *c, sim_routine *resume);

/* host*.c */
sim_routine sim_host_upload, sim_host_launches, sim_host_rounds, sim_host_finish;

/* faults.c */
void sim_plan_fault(struct sim *m);
/* Where a fault strikes whose first launch is `first`, less than the number of launches. */
uint64_t sim_fault_launch(const struct sim *m, uint64_t first);
/* Whether the planned fault is `fault` and has not struck yet. */
static inline bool sim_planned(const struct sim *m, enum nocap_sim_fault fault)
{
    return m->options.fault == fault && !m->struck;
}
/* The same for a core of tile t in its present launch (at boot: always); it strikes now. */
bool sim_strikes(struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault);
/* Whether it will strike in the present launch of tile t: then cores prepare it. */
bool sim_impends(const struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault);
/* The core does the forbidden access of a planned fault, if it is the one to do so. */
void sim_stray(struct sim *m, struct sim_tile *t, struct sim_core *c);

#endif
