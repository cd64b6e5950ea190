/* SPDX-License-Identifier: Apache-2.0 */
/* What the model knows of a tile at this moment: for people who want to look. */
#ifndef NOCAP_REPLAY_STATE_H
#define NOCAP_REPLAY_STATE_H

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "replay/core/engine.h"

enum nocap_known { NOCAP_UNKNOWN, NOCAP_NO, NOCAP_YES };

struct nocap_core_state {
    uint8_t agent;            /* enum nocap_agent */
    enum nocap_known running; /* out of reset */
    enum nocap_known in_kernel;
    uint64_t entered, left; /* index of the last kernel enter and exit, UINT64_MAX: none */
    uint64_t pc, pc_index;  /* where it was last, and as which event said; UINT64_MAX: unknown */
    const char *waypoint;   /* where it says that it is, "": not known; the engine's, as the next */
    const char *kernel;     /* what it runs, "": not known */
    bool has_sync, sync_known; /* the core's byte of the sync word; BRISC has none */
    uint8_t sync;
};

struct nocap_slot_state {
    bool known;
    enum nocap_known fresh; /* written since it was last consumed */
    struct nocap_launch message;
};

struct nocap_go_state {
    bool known;
    struct nocap_go_word word;
};

struct nocap_thread_state {
    uint32_t pending; /* words pushed and not issued */
    bool lost;        /* pushes and issues could not be matched: `pending` means nothing */
    bool held;
    uint32_t held_word;
    uint64_t held_index;
    char condition[96]; /* what certainly holds it, in words; empty: nothing, or not known */
};

/* Requests that are answered: reads, writes, atomics of one network interface. */
enum { NOCAP_STATE_NOCS = 2, NOCAP_STATE_REQUEST_KINDS = 3 };
extern const char *const nocap_request_names[NOCAP_STATE_REQUEST_KINDS];
struct nocap_request_state {
    uint64_t issued, ended; /* ended: as far as the trace tells */
};

/* What is asked for of a tile. */
enum nocap_state_part {
    NOCAP_STATE_MAILBOX = 1 << 0, /* boot, cores, read pointer, go words, the launch under way */
    NOCAP_STATE_REQUESTS = 1 << 1,
    NOCAP_STATE_SEMAPHORES = 1 << 2,
    NOCAP_STATE_THREADS = 1 << 3,
    NOCAP_STATE_SLOTS = 1 << 4, /* launch messages */
    NOCAP_STATE_ALL = (1 << 5) - 1,
};

struct nocap_tile_state {
    uint16_t chip;
    struct nocap_xy at;
    enum nocap_board board;
    bool in_scope;
    const char *phase; /* of the boot: "held in reset", "booting", "ready", "unknown" .. */
    struct nocap_core_state cores[NOCAP_PROCESSOR_COUNT];
    bool rd_ptr_known, go_index_known;
    uint32_t rd_ptr, go_index;
    struct nocap_go_state go[NOCAP_GO_WORDS];
    enum nocap_known go_pending; /* GO was written, DONE is not */
    bool under_way;      /* a launch: its GO was seen, and DONE was neither stored nor read since */
    uint64_t go_written; /* index, UINT64_MAX: none */
    enum nocap_known active; /* BRISC works on a launch */
    int active_slot;         /* -1: not known */
    uint64_t last_done;      /* index, UINT64_MAX: none */
    uint8_t request;         /* reset signal that waits, 0: none */
    bool notify_pending;
    struct nocap_request_state requests[NOCAP_STATE_NOCS][NOCAP_STATE_REQUEST_KINDS];
    uint8_t semaphores_known; /* bit i: value of semaphore i */
    uint8_t semaphore[NOCAP_SEMAPHORE_COUNT];
    struct nocap_thread_state threads[NOCAP_TENSIX_THREADS];
    struct nocap_slot_state slots[NOCAP_LAUNCH_SLOTS];
};

/* A command queue, as far as it was seen. */
enum { NOCAP_QUEUE_COUNTERS = 8 };
struct nocap_queue_state {
    uint32_t number; /* of all of the trace */
    uint16_t chip;
    bool has_prefetch, has_dispatch; /* their tiles are known */
    struct nocap_xy prefetch, dispatch;
    bool slot_known;
    uint32_t next_slot; /* that the prefetcher takes next */
    uint64_t published; /* records */
    bool device_known;  /* what becomes of them: */
    uint64_t fetched, landed;
    uint64_t relayed; /* UINT64_MAX: not known */
    bool pages_known; /* counted from the very first */
    uint64_t pages_taken, pages_published, pages_finished, pages_released;
    const char *command; /* that is executed, or was last; NULL: none that is known */
    uint32_t command_at; /* its L1 address */
    uint64_t command_index;
    bool ended; /* TERMINATE was executed */
    struct nocap_counter_state {
        bool read;
        uint32_t value;               /* as read last */
        uint64_t goes;                /* go words since it was 0 */
        uint32_t missing;             /* workers with a go word and no notify, if counted */
    } counters[NOCAP_QUEUE_COUNTERS]; /* by notify stream */
    bool wr_known, rd_known;
    uint32_t wr, rd; /* completion pointers */
    uint64_t events_asked;
    bool taken_known; /* the host shows which completions it has taken */
    uint64_t events_returned;
};
/* Why some of a command queue is not judged. */
enum nocap_queue_gap {
    NOCAP_QUEUE_NOT_FOLLOWED, /* its host uses what the model does not follow */
    NOCAP_QUEUE_MULTICASTS,   /* go words to rectangles, of whose tiles the go index is not known */
    NOCAP_QUEUE_NOT_SHOWN,    /* EXEC_BUF: the commands lie in DRAM */
    NOCAP_QUEUE_GAPS
};
/* The event from which on that is so, or where it is so first; false: it never was. */
bool nocap_engine_queue_gap(const struct nocap_engine *engine, enum nocap_queue_gap gap,
                            uint64_t *index);
/* How many queues there are, of all chips. */
uint32_t nocap_engine_queue_count(const struct nocap_engine *engine);
/* False if nothing of it was seen yet. */
bool nocap_engine_queue_state(const struct nocap_engine *engine, uint32_t number,
                              struct nocap_queue_state *state);
/* Counts `missing` of a state that was just made: it asks all workers. */
void nocap_engine_queue_missing(const struct nocap_engine *engine, struct nocap_queue_state *state);

/* Tiles that the trace has touched so far, by chip, y, x. `count` is set; the array is the caller's
 * to free. NULL without memory. */
struct nocap_tile_place {
    uint16_t chip;
    struct nocap_xy at;
};
struct nocap_tile_place *nocap_engine_tiles(const struct nocap_engine *engine, size_t *count);

/* False if the trace has not touched the tile. */
bool nocap_engine_tile_state(const struct nocap_engine *engine, uint16_t chip, struct nocap_xy at,
                             struct nocap_tile_state *state);
/* The same of these parts alone (enum nocap_state_part); members of others mean nothing. */
bool nocap_engine_tile_parts(const struct nocap_engine *engine, uint16_t chip, struct nocap_xy at,
                             unsigned parts, struct nocap_tile_state *state);

#endif
