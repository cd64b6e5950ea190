/* What the model knows of a tile at this moment: for people who want to look. */
#ifndef NOCAP_REPLAY_STATE_H
#define NOCAP_REPLAY_STATE_H

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/registers.h"
#include "replay/engine.h"

enum nocap_known { NOCAP_UNKNOWN, NOCAP_NO, NOCAP_YES };

struct nocap_core_state {
    uint8_t agent;            /* enum nocap_agent */
    enum nocap_known running; /* out of reset */
    enum nocap_known in_kernel;
    uint64_t entered, left;    /* index of the last kernel enter and exit, UINT64_MAX: none */
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
};

struct nocap_tile_state {
    uint16_t chip;
    struct nocap_xy at;
    bool in_scope;
    const char *phase; /* of the boot: "held in reset", "booting", "ready", "unknown" .. */
    struct nocap_core_state cores[NOCAP_PROCESSOR_COUNT];
    bool rd_ptr_known, go_index_known;
    uint32_t rd_ptr, go_index;
    struct nocap_go_state go[NOCAP_GO_WORDS];
    struct nocap_slot_state slots[NOCAP_LAUNCH_SLOTS];
    enum nocap_known go_pending; /* GO was written, DONE is not */
    uint64_t go_written;         /* index, UINT64_MAX: none */
    enum nocap_known active;     /* BRISC works on a launch */
    int active_slot;             /* -1: not known */
    uint64_t last_done;          /* index, UINT64_MAX: none */
    uint8_t request;             /* reset signal that waits, 0: none */
    bool notify_owed;
    struct nocap_thread_state threads[NOCAP_TENSIX_THREADS];
    uint8_t semaphores_known; /* bit i: value of semaphore i */
    uint8_t semaphore[NOCAP_SEMAPHORE_COUNT];
};

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

#endif
