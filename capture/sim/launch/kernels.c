/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: what the five cores do between entry and return. Three programs: one returns at once,
 * one spins and stores, one is a pipeline (NCRISC fills a circular buffer, TRISC0 takes tiles out
 * of it, TRISC1 and TRISC2 hand over by semaphore 1, TRISC2 fills the other buffer, BRISC empties
 * it). */
#include "capture/sim/launch/program.h"

#include "capture/sim/launch/firmware.h"
#include "formats/blackhole/tensix_isa.h"

__extension__ enum {
    DEPTH = 2,      /* tiles that a circular buffer holds */
    TILE_WORDS = 3, /* stores a tile */
    PACE = 4,       /* instructions from one store to the next */
    PACK_LATE = 2000,
    MATH_SEMAPHORE = 1 << NOCAP_SEM_MATH_PACK,
    UNPACK_ADDRESS = NOCAP_BASE_TENSIX_CFG + 4 * 76, /* where unpacker 0 finds its tile */
    PACK_GPR = 28,                                   /* of TRISC2 */
    PACK_STRIDES = 12,                               /* a register of the packer */
};

#define STALLWAIT(block, wait)                                                                     \
    (NOCAP_TENSIX_WORD(STALLWAIT) | NOCAP_TENSIX_SET(STALLWAIT, stall_res, (block)) |              \
     NOCAP_TENSIX_SET(STALLWAIT, wait_res, (wait)))
#define SEMWAIT(block, mask, cond)                                                                 \
    (NOCAP_TENSIX_WORD(SEMWAIT) | NOCAP_TENSIX_SET(SEMWAIT, stall_res, (block)) |                  \
     NOCAP_TENSIX_SET(SEMWAIT, sem_sel, (mask)) | NOCAP_TENSIX_SET(SEMWAIT, condition, (cond)))

#define SEMAPHORE_WORD(NAME)                                                                       \
    (NOCAP_TENSIX_WORD(NAME) | NOCAP_TENSIX_SET(NAME, sem_sel, MATH_SEMAPHORE))
#define DEST_OFFSET(offset)                                                                        \
    (NOCAP_TENSIX_WORD(SETC16) | NOCAP_TENSIX_SET(SETC16, reg, NOCAP_CFG_DEST_OFFSET) |            \
     NOCAP_TENSIX_SET(SETC16, value, (offset)))

/* What each thread pushes for one tile: two operands are unpacked, multiplied, run through the SFPU
 * and packed, with the two halves of Dest in turn. */
static const uint32_t unpack_words[] = {
    STALLWAIT(NOCAP_BLOCK_UNPACK, NOCAP_WAIT_TRISC_CFG),
    NOCAP_TENSIX_WORD(UNPACR) | NOCAP_TENSIX_SET(UNPACR, set_dat_valid, 1),
    NOCAP_TENSIX_WORD(NOP),
    NOCAP_TENSIX_WORD(UNPACR) | NOCAP_TENSIX_SET(UNPACR, unpacker, 1) |
        NOCAP_TENSIX_SET(UNPACR, set_dat_valid, 1),
};
/* places in the list below */
enum { MATH_MULTIPLY = 1, MATH_WAIT = 4, MATH_POST = 5, MATH_FLIP = 7 };
static const uint32_t math_words[] = {
    SEMWAIT(NOCAP_BLOCK_SYNC | NOCAP_BLOCK_MATH | NOCAP_BLOCK_SFPU, MATH_SEMAPHORE,
            NOCAP_SEMWAIT_WHILE_MAX),
    NOCAP_TENSIX_WORD(MVMUL) |
        NOCAP_TENSIX_SET(MVMUL, clear_dvalid, NOCAP_DVALID_A | NOCAP_DVALID_B),
    NOCAP_TENSIX_WORD(SFPLOAD),
    NOCAP_TENSIX_WORD(SFPSTORE),
    STALLWAIT(NOCAP_BLOCK_SYNC, NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU),
    SEMAPHORE_WORD(SEMPOST),
    STALLWAIT(NOCAP_BLOCK_CFG, NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU),
    DEST_OFFSET(0),
};
/* places in the list below */
enum { PACK_CONFIG_WAIT = 2, PACK_CONFIG = 3, PACK = 4, PACK_DONE = 5 };
static const uint32_t pack_words[] = {
    SEMWAIT(NOCAP_BLOCK_TDMA, MATH_SEMAPHORE, NOCAP_SEMWAIT_WHILE_ZERO),
    NOCAP_TENSIX_WORD(SETDMAREG) | NOCAP_TENSIX_SET(SETDMAREG, half, 2 * PACK_GPR),
    STALLWAIT(NOCAP_BLOCK_CFG, NOCAP_WAIT_THCON | NOCAP_WAIT_PACK),
    NOCAP_TENSIX_WORD(WRCFG) | NOCAP_TENSIX_SET(WRCFG, gpr, PACK_GPR) |
        NOCAP_TENSIX_SET(WRCFG, reg, PACK_STRIDES),
    NOCAP_TENSIX_WORD(PACR) | NOCAP_TENSIX_SET(PACR, last, 1),
    STALLWAIT(NOCAP_BLOCK_SYNC, NOCAP_WAIT_PACK),
    SEMAPHORE_WORD(SEMGET),
};
static const uint32_t math_start[] = {
    SEMAPHORE_WORD(SEMINIT) | NOCAP_TENSIX_SET(SEMINIT, max, DEPTH),
    DEST_OFFSET(0),
};

static const struct {
    const uint32_t *words;
    unsigned count;
} tile_words[NOCAP_TENSIX_THREADS] = {
    {unpack_words, sizeof unpack_words / sizeof unpack_words[0]},
    {math_words, sizeof math_words / sizeof math_words[0]},
    {pack_words, sizeof pack_words / sizeof pack_words[0]},
};

static unsigned processor_of(const struct sim_core *c)
{
    return (unsigned)(c->agent - NOCAP_BY_BRISC);
}

static unsigned thread_of(const struct sim_core *c)
{
    return (unsigned)(c->agent - NOCAP_BY_TRISC0);
}

static bool has_room(const struct sim_tile *t, const struct sim_core *c)
{
    return t->tensix.fifo[thread_of(c)].count < SIM_FIFO_DEPTH;
}

static void store_word(struct sim *m, struct sim_core *c, uint32_t word, uint32_t pc)
{
    sim_store(m, c, NOCAP_BASE_INSTRN_FIFO0, 4, word, pc);
}

static void store_data(struct sim *m, struct sim_core *c, uint32_t i, uint32_t value)
{
    sim_store(m, c, SIM_DATA + processor_of(c) * SIM_DATA_STRIDE + i * 4 % SIM_DATA_STRIDE, 4,
              value, c->text + 8);
}

static void store_counter(struct sim *m, struct sim_core *c, unsigned cb,
                          enum nocap_stream_register index, uint32_t value)
{
    sim_store(m, c, nocap_stream_address(NOCAP_CB_STREAM + cb, index), 4, value, c->text + 12);
}

/* ---- entry and return ---- */

static sim_routine kernel_start, kernel_return, noop, spin, spin_trisc, reader, writer, unpack,
    math, pack;

static sim_routine *const routines[SIM_PROGRAMS][NOCAP_PROCESSOR_COUNT] = {
    [SIM_PROGRAM_NOOP] = {noop, noop, noop, noop, noop},
    [SIM_PROGRAM_SPIN] = {spin, spin, spin_trisc, spin_trisc, spin_trisc},
    [SIM_PROGRAM_PIPELINE] = {writer, reader, unpack, math, pack},
};

static const struct sim_image *image(const struct sim *m, const struct sim_tile *t)
{
    return &t->image[sim_image_area(
        sim_launch_field(m, t, t->brisc.slot, NOCAP_LAUNCH_kernel_config_base, 0))];
}

void sim_enter_kernel(struct sim *m, struct sim_tile *t, struct sim_core *c, sim_routine *resume)
{
    c->text =
        sim_launch_field(m, t, t->brisc.slot, NOCAP_LAUNCH_kernel_config_base, 0) +
        sim_launch_field(m, t, t->brisc.slot, NOCAP_LAUNCH_kernel_text_offset, processor_of(c));
    c->resume = resume;
    if (c->agent == NOCAP_BY_TRISC1 && sim_fault_due(m, t, NOCAP_SIM_FAULT_WRONG_KERNEL_ENTRY)) {
        c->text += 16;
    }
    sim_emit_kernel(m, c, NOCAP_OP_ENTER, c->text);
    CO_GOTO(m, c, kernel_start);
}

static bool never_ends(struct sim *m, const struct sim_tile *t, const struct sim_core *c)
{
    return (c->agent == NOCAP_BY_BRISC && sim_fault_due(m, t, NOCAP_SIM_FAULT_HANG_BRISC)) ||
           (c->agent == NOCAP_BY_NCRISC && sim_fault_due(m, t, NOCAP_SIM_FAULT_HANG_NCRISC)) ||
           (c->agent == NOCAP_BY_TRISC1 && sim_fault_due(m, t, NOCAP_SIM_FAULT_HANG_TRISC1));
}

static void kernel_start(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (never_ends(m, t, c)) {
        c->run = NULL;
        return;
    }
    CO_SLEEP(m, c, 2);
    sim_stray(m, t, c);
    CO_SLEEP(m, c, 1);
    if (c->agent == NOCAP_BY_NCRISC && sim_load(t, NOCAP_SYNC, 1) == NOCAP_SYNC_LOAD) {
        sim_fault_due(m, t, NOCAP_SIM_FAULT_ENTER_BEFORE_GO);
        sim_changed(m, t, SIM_WATCH_HOLD);
        CO_POLL(c, SIM_WATCH_SYNC, sim_load(t, NOCAP_SYNC, 1) == NOCAP_SYNC_GO);
    }
    CO_GOTO(m, c, routines[image(m, t)->program][processor_of(c)]);
    CO_END(c);
}

static void kernel_return(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (c->agent == NOCAP_BY_BRISC &&
        sim_fault_pending(m, t, NOCAP_SIM_FAULT_DONE_BEFORE_KERNEL_EXIT)) {
        CO_POLL(c, SIM_WATCH_SYNC,
                sim_load(t, NOCAP_SYNC, NOCAP_SYNC_BYTES) == NOCAP_SYNC_ALL_DONE);
        sim_store(m, c, sim_go_signal_address(m, t->brisc.go_index), 1, NOCAP_GO_DONE,
                  c->text + 16);
    } else if (c->agent == NOCAP_BY_NCRISC &&
               sim_fault_pending(m, t, NOCAP_SIM_FAULT_DONE_INSIDE_KERNEL)) {
        sim_store(m, c, NOCAP_SYNC, 1, NOCAP_SYNC_DONE, c->text + 16);
    }
    CO_SLEEP(m, c, 1);
    sim_emit_kernel(m, c, NOCAP_OP_EXIT, sim_kernel_return[processor_of(c)]);
    CO_GOTO(m, c, c->resume);
    CO_END(c);
}

/* ---- programs ---- */

static void noop(struct sim *m, struct sim_core *c)
{
    CO_GOTO(m, c, kernel_return);
}

static void spin(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 0; c->i < image(m, t)->rounds; c->i++) {
        CO_SLEEP(m, c, 10 + sim_below(&m->k, 50));
        store_data(m, c, c->i, c->i);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

static void spin_trisc(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 0; c->i < image(m, t)->rounds; c->i++) {
        CO_SLEEP(m, c, 10 + sim_below(&m->k, 50));
        CO_POLL(c, SIM_WATCH_FIFO, has_room(t, c));
        store_word(m, c, NOCAP_TENSIX_WORD(SETDMAREG) | c->i << 8 | 6, c->text + 8);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

/* NCRISC: tiles into the first buffer. */
static void reader(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 1; c->i <= image(m, t)->rounds; c->i++) {
        CO_POLL(c, SIM_WATCH_COUNTERS, (int32_t)(c->i - t->acked[SIM_BUFFER_IN]) <= DEPTH);
        for (c->j = 0; c->j < TILE_WORDS; c->j++) {
            CO_SLEEP(m, c, PACE);
            store_data(m, c, c->i * TILE_WORDS + c->j, c->i << 16 | c->j);
        }
        CO_SLEEP(m, c, PACE);
        store_counter(m, c, SIM_IN_CB, NOCAP_STREAM_TILES_RECEIVED, c->i);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

/* BRISC: tiles out of the second buffer. */
static void writer(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 1; c->i <= image(m, t)->rounds; c->i++) {
        CO_POLL(c, SIM_WATCH_COUNTERS, (int32_t)(t->received[SIM_BUFFER_OUT] - c->i) >= 0);
        CO_SLEEP(m, c, PACE);
        store_data(m, c, c->i, c->i);
        CO_SLEEP(m, c, PACE);
        store_counter(m, c, SIM_OUT_CB, NOCAP_STREAM_TILES_ACKED, c->i);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

/* The half of Dest that the tile after this one uses. */
static uint32_t flip(const struct sim_core *c)
{
    return DEST_OFFSET(c->i % 2 != 0 ? NOCAP_DEST_HALF : 0);
}

/* With which word a fault exchanges this one: the work with the wait before it. */
static unsigned exchange_of(const struct sim_core *c)
{
    unsigned work = c->agent == NOCAP_BY_TRISC1 ? MATH_MULTIPLY : PACK;
    return c->j == 0 ? work : 0;
}

/* Faults: work that comes before the wait for its turn. */
static bool exchanges(struct sim *m, struct sim_tile *t, const struct sim_core *c)
{
    unsigned thread = thread_of(c);
    bool math = c->agent == NOCAP_BY_TRISC1, pack = c->agent == NOCAP_BY_TRISC2;
    if (c->j == 0) { /* in the first tile it is not known yet that they take turns */
        t->exchanged[thread] =
            c->i > 1 && ((math && sim_fault_due(m, t, NOCAP_SIM_FAULT_MATH_EARLY)) ||
                         (pack && sim_fault_due(m, t, NOCAP_SIM_FAULT_PACK_EARLY)));
        return t->exchanged[thread];
    }
    return t->exchanged[thread] && c->j == (math ? MATH_MULTIPLY : PACK);
}

/* The thread's next word; a planned fault leaves one out or exchanges it. */
static uint32_t tile_word(struct sim *m, struct sim_tile *t, const struct sim_core *c)
{
    uint32_t word = tile_words[thread_of(c)].words[c->j];
    bool math = c->agent == NOCAP_BY_TRISC1;
    if (c->agent == NOCAP_BY_TRISC0 && c->j == 0 &&
        sim_fault_due(m, t, NOCAP_SIM_FAULT_UNPACK_EARLY)) {
        return NOCAP_TENSIX_WORD(NOP);
    }
    if (math && c->j == MATH_FLIP) {
        return flip(c);
    }
    if (math && c->j == MATH_WAIT) {
        return sim_fault_due(m, t, NOCAP_SIM_FAULT_FLIP_EARLY)   ? flip(c)
               : sim_fault_due(m, t, NOCAP_SIM_FAULT_POST_EARLY) ? NOCAP_TENSIX_WORD(NOP)
                                                                 : word;
    }
    if (exchanges(m, t, c)) {
        return tile_words[thread_of(c)].words[exchange_of(c)];
    }
    if (c->agent == NOCAP_BY_TRISC2 && c->j == PACK_CONFIG_WAIT &&
        sim_fault_due(m, t, NOCAP_SIM_FAULT_CONFIG_EARLY)) {
        return NOCAP_TENSIX_WORD(NOP);
    }
    if (c->agent == NOCAP_BY_TRISC2 && c->j == PACK_DONE &&
        sim_fault_due(m, t, NOCAP_SIM_FAULT_CONFIG_WHILE_PACKING)) {
        return pack_words[PACK_CONFIG];
    }
    bool starves = math && c->j == MATH_POST && c->i == image(m, t)->rounds &&
                   sim_fault_pending(m, t, NOCAP_SIM_FAULT_HANG_SEM);
    return starves ? NOCAP_TENSIX_WORD(NOP) : word;
}

/* The thread's words for one tile; c->j counts them. */
#define CO_PUSH_TILE(m, t, c)                                                                      \
    for ((c)->j = 0; (c)->j < tile_words[thread_of(c)].count; (c)->j++) {                          \
        CO_SLEEP((m), (c), PACE - 1);                                                              \
        CO_POLL((c), SIM_WATCH_FIFO, has_room((t), (c)));                                          \
        store_word((m), (c), tile_word((m), (t), (c)), (c)->text + 16 + 12 * (c)->j);              \
    }

static void unpack(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 1; c->i <= image(m, t)->rounds; c->i++) {
        CO_POLL(c, SIM_WATCH_COUNTERS, (int32_t)(t->received[SIM_BUFFER_IN] - c->i) >= 0);
        sim_store(m, c, UNPACK_ADDRESS, 4, c->i << 4, c->text + 12);
        CO_PUSH_TILE(m, t, c);
        CO_SLEEP(m, c, PACE);
        store_counter(m, c, SIM_IN_CB, NOCAP_STREAM_TILES_ACKED, c->i);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

static void math(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    for (c->i = 0; c->i < sizeof math_start / sizeof math_start[0]; c->i++) {
        CO_POLL(c, SIM_WATCH_FIFO, has_room(t, c));
        store_word(m, c, math_start[c->i], c->text + 8);
    }
    for (c->i = 1; c->i <= image(m, t)->rounds; c->i++) {
        CO_PUSH_TILE(m, t, c);
    }
    sim_fault_due(m, t, NOCAP_SIM_FAULT_HANG_SEM);
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}

static void pack(struct sim *m, struct sim_core *c)
{
    struct sim_tile *t = c->tile;
    CO_BEGIN(c);
    if (sim_fault_pending(m, t, NOCAP_SIM_FAULT_GATE_LEAKS)) { /* so that TRISC1 has to wait */
        CO_SLEEP(m, c, PACK_LATE);
    }
    for (c->i = 1; c->i <= image(m, t)->rounds; c->i++) {
        CO_POLL(c, SIM_WATCH_COUNTERS, (int32_t)(c->i - t->acked[SIM_BUFFER_OUT]) <= DEPTH);
        CO_PUSH_TILE(m, t, c);
        CO_SLEEP(m, c, PACE);
        store_counter(m, c, SIM_OUT_CB, NOCAP_STREAM_TILES_RECEIVED, c->i);
    }
    CO_GOTO(m, c, kernel_return);
    CO_END(c);
}
