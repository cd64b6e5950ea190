/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay/host: what a host has done with a tile, and found there. */
#ifndef NOCAP_REPLAY_HOST_PRIVATE_H
#define NOCAP_REPLAY_HOST_PRIVATE_H

#include "base/sum.h"
#include "replay/core/tile.h"
#include "replay/host/host.h"

enum { LOOKS = 16, IMAGES = 16 };

/* Which bytes of a tile's L1 an agent has written since power-on, to 16 bytes. Most of L1 is never
 * written: a span of it takes memory when it is written first. */
enum {
    WRITTEN_GRAIN = 16,
    WRITTEN_SPAN = 1 << 16,
    WRITTEN_SPANS = NOCAP_L1_SIZE / WRITTEN_SPAN,
    WRITTEN_BYTES = WRITTEN_SPAN / WRITTEN_GRAIN / 8,
};
_Static_assert(NOCAP_L1_SIZE % WRITTEN_SPAN == 0, "spans are whole");

struct written_span {
    uint8_t since_release[WRITTEN_BYTES]; /* of BRISC */
    uint8_t before[WRITTEN_BYTES];
};
struct written {
    struct written_span *spans[WRITTEN_SPANS]; /* NULL: not written */
};

/* When the byte was written; 0: never. */
enum { WRITTEN_BEFORE = 1, WRITTEN_SINCE_RELEASE = 2 };
static inline unsigned written_when(const struct written *w, uint32_t addr)
{
    const struct written_span *span = addr < NOCAP_L1_SIZE ? w->spans[addr / WRITTEN_SPAN] : NULL;
    const uint32_t grain = addr % WRITTEN_SPAN / WRITTEN_GRAIN, at = grain / 8, bit = grain % 8;
    return span == NULL ? 0
                        : (unsigned)((span->before[at] >> bit & 1) * WRITTEN_BEFORE |
                                     (span->since_release[at] >> bit & 1) * WRITTEN_SINCE_RELEASE);
}

/* One write of the host after the mailbox, or several of a loop that copies in pieces. */
struct image {
    uint32_t addr, size, piece;
};

struct host_tile {
    enum known running;      /* BRISC is out of reset */
    enum known done_pending; /* GO was stored, and no load of the host has shown DONE since */
    bool ready;              /* a load has shown DONE since BRISC's release */
    int signal;              /* of the go word, as last stored or loaded; -1: not known */
    int rd_ptr;              /* -1: not known */
    struct event_ref go;
    struct event_ref done;  /* which the host stored itself; index NO_INDEX: it did not */
    uint8_t done_over;      /* the signal that stood there */
    fault_id go_since;      /* what is known of the launch since */
    fault_id held_since;    /* that it is in reset, and should not be, is known since */
    fault_id message_since; /* .. of launch messages; after it, of kernels */
    fault_id texts_since;   /* what lacks of the kernels is known to lack since */
    int slot;               /* that the launch reads; -1: not known */
    bool message_known;
    struct nocap_launch message;
    bool launched;          /* GO was stored there since power-on, by any agent */
    uint8_t slots_written;  /* since power-on, by slot */
    uint8_t slots_run;      /* those that a GO used, and no agent has written since */
    uint64_t message_index; /* of the latest store to one, and by slot */
    uint64_t message_indexes[NOCAP_LAUNCH_SLOTS];
    uint64_t done_index;         /* of the latest load that showed DONE */
    uint64_t looks;              /* in a row that showed no DONE, and no GO that may be answered */
    bool waited;                 /* GO-026 was reported */
    struct image images[IMAGES]; /* the latest */
    uint32_t image_count;
    struct written *written; /* NULL: the trace does not begin at power-on */
};

/* Of the whole. */
struct host_state {
    bool waited_held;          /* RST-019 was reported since BRISC was last released somewhere */
    fault_id held_since;       /* so is a tile then, for the same reason */
    uint64_t wrong_tile_index; /* of the latest GO to a tile that has no message, or is held */
    fault_id wrong_tile_since;
    struct host_reported {
        uint64_t turn; /* of the event of which the rule was reported */
        fault_id fault;
    } reported[NOCAP_RULE_COUNT];
};

static inline struct host_state *host_state_of(const struct model *m)
{
    return m->state[MODEL_HOST];
}

static inline struct host_tile *host_of(const struct tile *tile)
{
    return tile->part[MODEL_HOST];
}

/* As CHECK_AFTER, for what one store makes wrong at several tiles: a multicast is one act, and its
 * rule is reported once, at the first tile that shows it. */
#define CHECK_ONCE(m, tile, RULE, since, condition, ...)                                           \
    do {                                                                                           \
        bool right_ = (condition);                                                                 \
        struct host_reported *once_ = &host_state_of(m)->reported[RULE];                           \
        if (!right_ && once_->turn == (m)->turn && !asked_for(m, tile)) {                          \
            (m)->fault = once_->fault;                                                             \
        } else {                                                                                   \
            CHECK_AFTER(m, tile, RULE, since, right_, __VA_ARGS__);                                \
            once_->turn = right_ ? once_->turn : (m)->turn;                                        \
            once_->fault = right_ ? once_->fault : (m)->fault;                                     \
        }                                                                                          \
    } while (0)

/* BRISC was not released: no agent has done it, and no event of it shows that it runs. */
static inline bool host_holds(const struct tile *tile)
{
    return host_of(tile)->running == NO && tile->launch.running[NOCAP_PROCESSOR_BRISC] != YES;
}

/* host_launch.c */
/* The host stores GO: by what was known before. */
void host_judge_go(struct model *m, struct tile *tile, const struct access *store);
/* It stores while it has not seen the launch end. */
void host_judge_intrusion(struct model *m, struct tile *tile, const struct access *a);

#endif
