/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/aie: the machine that runs control code. */
#ifndef NOCAP_CAPTURE_AIE_MACHINE_H
#define NOCAP_CAPTURE_AIE_MACHINE_H

#include "base/map.h"
#include "capture/aie/run.h"
#include "capture/kernel/kernel.h"
#include "formats/aie/page.h"

enum {
    RUN_UCS = 224,
    RUN_FRAMES = 8,    /* pages that call each other */
    RUN_QUEUE = 4,     /* transfers that a uC-DMA takes at once */
    RUN_BARRIERS = 32, /* columns that a party mask names */
    RUN_PAUSE = 3,     /* cycles between events, at most */
};

enum run_state {
    RUN_DEFERRED, /* not launched */
    RUN_READY,
    RUN_BLOCKED,
    RUN_WOKEN, /* ready, in the middle of an instruction that blocked */
    RUN_CALLING,
    RUN_OVER,
};

struct run_job {
    enum run_state state;
    uint32_t id, pc;
    uint64_t cycle; /* scheduling cycle from which on it may run */
    uint8_t why;
    uint32_t handle; /* that it waits for */
    uint64_t barrier_round;
    uint32_t reg[NOCAP_AIE_GLOBAL_FIRST];
};

struct run_word {
    uint64_t address;
    uint32_t value;
};

/* A page that runs. */
struct run_frame {
    const struct nocap_aie_page *page;
    uint8_t bytes[NOCAP_AIE_PAGE_SIZE];
    struct run_job *jobs;
    uint32_t job_count, eof;
    uint64_t cycle;
    int32_t current; /* job that has the uC, -1: none */
    struct {
        uint32_t came;
        uint64_t round;
    } barriers[NOCAP_AIE_LOCAL_BARRIERS];
    /* pages to run after this chain, before the caller goes on; UINT32_MAX: none */
    uint32_t then;
};

struct run_transfer {
    bool active;
    uint32_t handle, bd, bytes;
    uint8_t frame;
};

struct run_uc {
    uint8_t index;
    bool over;
    struct run_frame *frames[RUN_FRAMES];
    uint32_t depth; /* of them */
    uint32_t reg[NOCAP_AIE_REGISTERS - NOCAP_AIE_GLOBAL_FIRST];
    struct run_transfer queue[RUN_QUEUE];
    uint32_t next_handle;
    uint32_t last_load, last_load_page; /* id and page of the last LOAD_PDI */
    bool loaded, preempted;
    uint64_t rounds[UINT8_MAX + 1]; /* arrivals at remote barriers */
};

/* A channel with a wait on it. */
struct run_channel {
    uint32_t tile, actor, queue;
    bool has_queue, started; /* started: a task was that sends a token */
    uint8_t uc;
    uint64_t owed, there; /* tokens that are on their way; that came and were not taken */
};

struct machine {
    const struct nocap_aie_image *image;
    const struct nocap_aie_run_options *options;
    struct nocap_aie_run_result *result;
    struct sim_kernel k; /* without timers: what happens next is chosen, not awaited */
    struct run_uc *ucs[RUN_UCS];
    struct run_channel *channels;
    size_t channel_count;
    struct {
        MAP(struct run_word);
    } memory; /* words that were written */
};

static inline uint32_t run_below(struct machine *r, uint32_t limit)
{
    return (uint32_t)(sim_random(&r->k) >> 32) % limit;
}
static inline struct run_frame *run_top(const struct run_uc *uc)
{
    return uc->depth == 0 ? NULL : uc->frames[uc->depth - 1];
}

/* events.c */
void run_emit(struct machine *r, struct nocap_event *event);
void run_event(struct machine *r, const struct run_uc *uc, enum nocap_op op, uint32_t off,
               const struct run_job *job);
void run_start(struct machine *r, const struct run_uc *uc, const struct run_job *job,
               const uint8_t *bytes, uint32_t size);
void run_block(struct machine *r, const struct run_uc *uc, struct run_job *job, enum nocap_why why);
void run_end_handle(struct machine *r, const struct run_uc *uc, const struct run_job *job,
                    uint32_t handle);

/* array.c */
uint32_t run_peek(const struct machine *r, uint32_t address);
uint32_t run_load(struct machine *r, const struct run_uc *uc, uint32_t address);
void run_store(struct machine *r, const struct run_uc *uc, uint32_t address, uint32_t value);
void run_set(struct machine *r, uint32_t address, uint32_t value);
bool run_find_channels(struct machine *r);
struct run_channel *run_channel(struct machine *r, const struct run_uc *uc, uint32_t tile,
                                uint32_t actor);
void run_token(struct machine *r, struct run_channel *channel);
/* Queues a chain; false: there is no room. */
bool run_enqueue(struct run_uc *uc, uint32_t pointer, uint32_t *handle);
bool run_has_room(const struct run_uc *uc);
bool run_transferring(const struct run_uc *uc, uint32_t handle);
void run_transfer(struct machine *r, struct run_uc *uc, struct run_transfer *t);

/* execute.c */
/* Runs one instruction of the job that has the uC, or the rest of one that blocked. */
void run_execute(struct machine *r, struct run_uc *uc, struct run_frame *frame,
                 struct run_job *job);
/* Whether what a blocked job waits for has come. */
bool run_may_wake(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
                  const struct run_job *job);
void run_wake(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
              struct run_job *job);
/* Lets the array end a wait; false: it cannot. */
bool run_answer(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
                const struct run_job *job);

/* run.c */
/* Runs a chain of pages before the calling job goes on; `then` another one after it. */
bool run_call(struct machine *r, struct run_uc *uc, uint32_t page, uint32_t then);

#endif
