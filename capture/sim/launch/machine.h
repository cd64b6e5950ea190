/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated board of the launch scenarios, private to capture/sim/launch: its tiles and cores.
 */
#ifndef NOCAP_CAPTURE_SIM_LAUNCH_MACHINE_H
#define NOCAP_CAPTURE_SIM_LAUNCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/kernel/kernel.h"
#include "capture/sim/brisc.h"
#include "capture/sim/sim.h"
#include "formats/blackhole/cores.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tile_map.h"

struct sim;
struct sim_core;
struct sim_tile;
typedef void sim_routine(struct sim *m, struct sim_core *c);

enum sim_size {
    SIM_LOW_L1 = NOCAP_MAILBOX_END, /* bytes of L1 from 0 that are kept: boot jump and mailbox */
    SIM_FIFO_DEPTH = 32,            /* words of a Tensix thread's instruction FIFO */
    SIM_BUFFER_WORDS = 32,          /* registers kept of a NOC command buffer */
    SIM_STRETCH_MAX = 13, /* n instructions of a core of stretch s take n to n * (1 + s) cycles */
    SIM_COPROCESSOR = NOCAP_PROCESSOR_COUNT, /* index in sim_tile.core after the five cores */
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
    int32_t line;    /* place in `run` */
    uint32_t i, j;   /* loop counters of `run` */
    uint32_t text;   /* entry of the kernel that runs */
    uint16_t id;     /* its number, and its timer's */
    uint8_t agent;   /* enum nocap_agent; NONE for the coprocessor */
    uint8_t watch;   /* set over enum sim_watch, 0: not polling */
    uint8_t stretch; /* 0..SIM_STRETCH_MAX */
};

struct sim_fifo {
    uint32_t word[SIM_FIFO_DEPTH];
    uint8_t head, count;
    bool held;       /* the word at the head was reported as held */
    uint32_t leaked; /* a wait that went before its condition cleared: the words after the next one
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
    uint8_t watched; /* union of what its cores poll */
    struct sim_brisc brisc;
    uint8_t l1[SIM_LOW_L1];
    uint32_t soft_reset;
    uint32_t reset_pc[NOCAP_PROCESSOR_COUNT], override_trisc, override_ncrisc;
    uint32_t scrubber;
    uint32_t niu_config[2], router_config[2]; /* of each NOC */
    uint32_t niu[2][NOCAP_NIU_BUFFERS][SIM_BUFFER_WORDS];
    uint32_t received[SIM_BUFFERS], acked[SIM_BUFFERS];
    uint64_t notified; /* notifies that arrived here as dispatch tile */
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
    uint64_t expected;        /* notifies at the dispatch tile */
    uint8_t signal;           /* that ends the generation */
    bool gone;                /* the round's GO was written */
    bool resetting;
};

struct sim_rectangle {
    struct nocap_xy from, to;
};

struct sim {
    struct sim_kernel k; /* a timer for each core */
    struct nocap_sim_options options;
    /* the planned fault */
    uint32_t fault_tile;
    uint64_t fault_launch;
    /* the end */
    bool finished;
    uint64_t end;
    /* the board */
    struct sim_rectangle rectangle[2];   /* of worker tiles, for multicasts */
    uint32_t rectangles, tiles, workers; /* workers: tiles that get launches, the first ones */
    struct sim_tile *tile;
    struct sim_tile *dispatch;                            /* that DEV mode launches notify */
    uint8_t tile_at[NOCAP_GRID_WIDTH][NOCAP_GRID_HEIGHT]; /* index + 1; 0: not simulated */
    struct sim_core *core; /* [0] the host, then SIM_TILE_CORES a tile */
    struct sim_host host;
    struct sim_payload image[SIM_PROGRAMS];
    const struct nocap_mailbox_layout *layout;
};

/* wait.c */
/* The core goes on after n > 0 instructions. */
void sim_sleep(struct sim *m, struct sim_core *c, uint32_t n);
/* The core goes on after n > 0 cycles. */
static inline void sim_sleep_cycles(struct sim *m, struct sim_core *c, uint64_t n)
{
    sim_arm(&m->k, c->id, m->k.now + n);
}
/* The core goes on some iteration of its polling loop after one of `what` changed. */
void sim_poll(struct sim_core *c, uint8_t what);
/* `what` changed in tile t. */
void sim_changed(struct sim *m, struct sim_tile *t, uint8_t what);

/* Goes on n instructions (cycles) later. */
#define CO_SLEEP(m, c, n)  CO_PAUSE(c, sim_sleep((m), (c), (n)), )
#define CO_CYCLES(m, c, n) CO_PAUSE(c, sim_sleep_cycles((m), (c), (n)), )
/* Goes on when the condition holds; it can only begin to hold when one of `what` changes. */
#define CO_POLL(c, what, condition) CO_UNTIL(c, condition, sim_poll((c), (what)))

/* emit.c: one event each, at `now`. */
void sim_emit_access(struct sim *m, const struct sim_core *c, enum nocap_kind kind, uint64_t addr,
                     uint32_t size, uint64_t value, uint32_t pc);
void sim_emit_kernel(struct sim *m, const struct sim_core *c, enum nocap_op op, uint32_t pc);
void sim_emit_reset(struct sim *m, const struct sim_core *c, enum nocap_op op);
/* A word of a thread: pushed `by` a core, held, or gone. */
void sim_emit_word(struct sim *m, const struct sim_tile *t, enum nocap_op op, unsigned thread,
                   uint32_t word, const struct sim_core *by);
/* Events that the caller fills further: of a tile; of bytes that a packet brings. */
struct nocap_event *sim_tile_event(struct sim *m, enum nocap_kind kind, struct nocap_xy at);
struct nocap_event *sim_landing(struct sim *m, struct nocap_xy from, struct nocap_xy at,
                                uint32_t addr, uint32_t size);

/* tile.c: memory and registers. */
uint32_t sim_load(const struct sim_tile *t, uint32_t addr, uint32_t size); /* of low L1 */
/* What a write of `size` bytes does, whoever made it. */
void sim_write_l1(struct sim *m, struct sim_tile *t, uint32_t addr, const uint8_t *data,
                  uint32_t size);
void sim_write_register(struct sim *m, struct sim_tile *t, uint32_t addr, uint32_t value);
/* A core's store: the event and what it does. */
void sim_store(struct sim *m, struct sim_core *c, uint32_t addr, uint32_t size, uint32_t value,
               uint32_t pc);
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
sim_routine sim_brisc_boot, sim_ncrisc_boot, sim_trisc_boot;
/* brisc.c */
void sim_brisc_init(struct sim *m, struct sim_tile *t);

/* kernel.c: enters the kernel that the active launch message names; the core goes on at `resume`.
 */
void sim_enter_kernel(struct sim *m, struct sim_tile *t, struct sim_core *c, sim_routine *resume);

/* host*.c */
sim_routine sim_host_upload, sim_host_launches, sim_host_rounds, sim_host_finish;

/* faults.c */
void sim_plan_fault(struct sim *m);
/* Where a fault strikes whose first launch is `first`, less than the number of launches. */
uint64_t sim_fault_launch(const struct sim *m, uint64_t first);
/* Whether the planned fault is `fault` and strikes now, at a core of tile t in its present launch
 * (at boot: always). */
bool sim_fault_due(struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault);
/* Whether it will strike in the present launch of tile t: then cores prepare it. */
bool sim_fault_pending(const struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault);
/* The core does the forbidden access of a planned fault, if it is the one to do so. */
void sim_stray(struct sim *m, struct sim_tile *t, struct sim_core *c);

#endif
