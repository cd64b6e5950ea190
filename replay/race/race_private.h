/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: races of NOC requests, judged on the orders that the protocol allows and not
 * on the one that was observed.
 *
 * Time is the turn of an event, from 1 on. What an agent knows to be over is a clock: for each core
 * up to which of its own accesses, for each network interface up to which of its reads have
 * arrived, its writes left, its writes been acknowledged, and up to which of them have arrived in a
 * tile because they travel in order. A core knows after a barrier what its requests did, and from a
 * word that it loads what the writer of the word knew. Memory is kept as spans with their latest
 * write and reads.
 *
 * What is not known is not wrong: two accesses are reported only where the second agent knows that
 * the first one went on after its access (it saw something that was sent later) and yet nothing
 * says that the access is over; or where nothing at all can have reached the second agent since.
 * Loads and stores of two cores are no matter of the NOC and are not judged. */
#ifndef NOCAP_REPLAY_RACE_PRIVATE_H
#define NOCAP_REPLAY_RACE_PRIVATE_H

#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/niu.h"
#include "replay/core/tile.h"
#include "replay/race/race.h"

/* Ways in which an access comes to an end. */
enum race_completion {
    RACE_ARRIVE, /* a NOC read: its data has arrived */
    RACE_LEAVE,  /* the source of a NOC write: it has left */
    RACE_ACK,    /* the far end of a NOC write or atomic: acknowledged */
    RACE_ORDER,  /* the same by order of arrival: all that there is for posted requests */
    RACE_CORE,   /* a load or store of a core: when it is over in program order */
};
/* Those that are known of an interface as a whole: what its counters tell. */
enum { RACE_ENDS = RACE_ORDER };

enum race_channel {
    RACE_CHANNEL_MULTICAST = 16,
    RACE_CHANNEL_UNKNOWN = 32,
    RACE_CHANNEL_PORT = 64, /* times the number of the far end's port */
    RACE_CHANNELS = 256
};
/* Requests whose channel is not known may share it with any of their kind, by the same port. */
static inline bool race_same_channel(unsigned a, unsigned b)
{
    const unsigned apart = RACE_CHANNEL_MULTICAST | (RACE_CHANNELS - RACE_CHANNEL_PORT);
    return ((a ^ b) & apart) == 0 && (a == b || ((a | b) & RACE_CHANNEL_UNKNOWN) != 0);
}

/* ---- places ---- */

struct race_mem_ctx;
struct race_agent {
    struct race_mem_ctx *place;
    struct race_clock *clock; /* what it knows to be over; NULL: nothing yet */
};

enum { RACE_LOCKS = 16 };
struct race_lock {
    uint64_t first, end, index;
    uint8_t by;
    bool cb;
};

/* Where spans lie: a small table, since it is searched and shifted. */
struct race_row {
    uint64_t first, end; /* disjoint, by rising address */
    uint32_t slot;
};
enum { RACE_STREAMS = (NOCAP_LAST_STREAM - NOCAP_BASE_STREAM + 1) / NOCAP_STREAM_STRIDE };
enum { RACE_SPANS_MAX = 256, RACE_HINTS = 64, RACE_HINT_BYTES = 4 }; /* of one memory */
struct race_memory {
    struct race_row *rows;
    struct race_span *pool; /* by slot */
    uint32_t count, capacity;
    uint32_t free; /* a slot, whose span names the next one; from `capacity` on: none */
    uint64_t lost; /* turn of the latest access that was forgotten for want of room */
    uint32_t hints[RACE_HINTS]; /* where the latest search for such an address ended */
};

/* A memory that the NOC reaches, with the interface and the cores of its tile. */
struct race_mem_ctx {
    uint32_t number;
    uint16_t chip;
    struct nocap_xy at;
    uint64_t size; /* of the memory: from 0 on */
    struct race_memory memory;
    struct race_news *streams; /* each is one counter, to which all its registers add */
    struct race_agent agents[CORES];
    uint64_t over[RACE_ENDS][NOCS]; /* turn up to which its own requests are over */
    uint64_t sent[NOCS];            /* turn of its latest request */
    uint64_t fetched;               /* .. of its latest NOC read */
    uint64_t reached;               /* .. at which something last came in */
    struct race_lock locks[RACE_LOCKS];
    uint32_t lock_count;
    struct race_mem_ctx *next; /* that was met before */
};

enum { RACE_PLACES_MAX = 1 << 13, RACE_SLOTS = 2 * RACE_PLACES_MAX };
struct race {
    struct race_mem_ctx *slots[RACE_SLOTS]; /* open addressing by chip and coordinate */
    struct race_mem_ctx *latest;            /* begins the list of all */
    uint32_t count;
    bool all_seen;    /* every write into a tile is in the trace */
    uint64_t started; /* turn of the first request: before, nothing is remembered; 0: none */
};
static inline struct race *race_of(const struct model *m)
{
    return m->state[MODEL_RACE];
}

/* ---- race_clock.c: what is known to be over ---- */

enum { RACE_CLOCK_MAX = 4096 }; /* entries; a clock that would need more knows everything */

/* What a clock knows of. Most clocks know of the same: they share it, and are joined by their times
 * alone. Changed only by a sole owner. */
struct race_keys {
    uint32_t owners, count, capacity;
    struct race_clock *spare; /* that no agent has, for the next one of these keys; NULL: none */
    uint64_t key[];           /* rising */
};

/* Shared between agents and spans; changed only by a sole owner. */
struct race_clock {
    uint32_t owners, capacity;
    uint64_t
        base_epoch; /* everything up to here is taken to be over: beyond is what is not known */
    struct race_keys *keys;
    uint64_t until[]; /* by key: the time up to which accesses of that kind are over */
};

/* Keys: the way on top; the channel of an order at the bottom, so that those of one route stand
 * side by side. */
enum { RACE_WAY_SHIFT = 60, RACE_PLACE_BITS = 16, RACE_AGENT_BITS = 3 };
static inline uint64_t race_core_key(const struct race_agent *agent)
{
    return (uint64_t)RACE_CORE << RACE_WAY_SHIFT |
           (uint64_t)agent->place->number << RACE_AGENT_BITS |
           (uint64_t)(agent - agent->place->agents);
}
static inline uint64_t race_completion_key(unsigned way, const struct race_mem_ctx *place,
                                           unsigned noc)
{
    return (uint64_t)way << RACE_WAY_SHIFT | (uint64_t)place->number << 1 | noc;
}
static inline uint64_t race_order_key(const struct race_mem_ctx *from, unsigned noc,
                                      const struct race_mem_ctx *to, unsigned channel)
{
    uint64_t route = ((uint64_t)from->number << 1 | noc) << RACE_PLACE_BITS | to->number;
    return (uint64_t)RACE_ORDER << RACE_WAY_SHIFT | route * RACE_CHANNELS | channel;
}

/* NULL stays NULL. */
static inline struct race_clock *race_clock_share(struct race_clock *clock)
{
    if (clock != NULL) {
        clock->owners++;
    }
    return clock;
}
void race_clock_free(struct race_clock *clock);
static inline void race_clock_drop(struct race_clock *clock)
{
    if (clock != NULL && --clock->owners == 0) {
        race_clock_free(clock);
    }
}
/* 0 if the clock, which may be NULL, has no such entry. */
uint64_t race_clock_until(const struct race_clock *clock, uint64_t key);
/* Whether requests up to `turn` have arrived on the channel, or may have, by the key of the
 * route's first channel. */
bool race_clock_arrived(const struct race_clock *clock, uint64_t first, unsigned channel,
                        uint64_t turn);
/* These replace *clock by one of its own where it is shared. */
void race_clock_raise(struct model *m, struct race_clock **clock, uint64_t key, uint64_t until);
void race_clock_raise_base(struct model *m, struct race_clock **clock, uint64_t epoch);
void race_clock_join(struct model *m, struct race_clock **clock, struct race_clock *other);

/* ---- race_memory.c: who touched which bytes last ---- */

/* One access. */
struct race_access {
    uint64_t turn;                     /* a time */
    uint64_t index;                    /* of its event */
    uint64_t first, end;               /* bytes */
    struct race_agent *agent;          /* NULL: one that the trace does not show */
    const struct race_mem_ctx *source; /* of the data of a NOC read; NULL: unknown, or no data */
    uint32_t size;                     /* of the whole request */
    uint8_t way, noc, channel;
    bool atomic; /* adds, as others may at the same time */
};

/* The value of a word; false: it is none, or not captured. */
enum { RACE_WORD_MAX = 8 };
static inline bool race_value(const struct access *a, uint64_t *v)
{
    if (a->size > RACE_WORD_MAX || a->known != a->size) {
        return false;
    }
    *v = 0;
    if (a->size == sizeof(uint32_t)) {
        memcpy(v, a->bytes, sizeof(uint32_t));
    } else {
        memcpy(v, a->bytes, a->size);
    }
    return true;
}

/* What the latest write of some bytes tells those who see its value. */
struct race_news {
    struct race_access write;        /* turn 0: none */
    struct race_clock *release;      /* what the writer knew; NULL: nothing */
    const struct race_agent *joined; /* who joined all that last; NULL: none yet */
    bool summed;                     /* `release` is what several knew that added */
    uint64_t over[RACE_ENDS][NOCS];  /* what it knew of the requests of its own interface */
};

enum { RACE_READERS = 3 };
struct race_span {
    struct race_news news;
    struct race_access readers[RACE_READERS];
    uint8_t reader_count;
    bool polled;                  /* the reader looked before the write came: a flag */
    bool value_known, seen_known; /* of a word: as written, as loaded last */
    uint64_t value, seen;
    uint64_t used; /* turn of the latest access */
    uint32_t next; /* of a free slot */
};

/* The first row that ends after `addr`; may be past the last. */
uint32_t race_memory_search(struct race_memory *memory, uint64_t addr);
static inline uint32_t race_memory_find(struct race_memory *memory, uint64_t addr)
{
    uint32_t row = memory->hints[addr / RACE_HINT_BYTES % RACE_HINTS];
    bool there =
        row < memory->count && memory->rows[row].first <= addr && addr < memory->rows[row].end;
    return there ? row : race_memory_search(memory, addr);
}
static inline struct race_span *race_memory_at(const struct race_memory *memory, uint32_t row)
{
    return &memory->pool[memory->rows[row].slot];
}
void race_memory_free(struct race_memory *memory);
/* The bytes change, which is judged: they become one span. `release`, which becomes the span's, is
 * what the writer knew; `bytes`: NULL: they are not known. NULL without memory. */
struct race_span *race_write(struct model *m, struct race_mem_ctx *where,
                             const struct race_access *a, struct race_clock *release,
                             const struct access *bytes);
/* Judges a read and remembers it. `bytes`: what a core loads, whose knowledge grows by it; NULL: a
 * request. */
void race_read(struct model *m, struct race_mem_ctx *where, const struct race_access *a,
               const struct access *bytes);

/* ---- race_clock.c: what agents know from what they see ---- */

/* What news tell `self`, which sees the value: to be known by `clock`. */
void race_join(struct model *m, struct race_clock **clock, const struct race_agent *self,
               const struct race_mem_ctx *where, const struct race_news *news);
/* The same for the clock of the agent itself. */
void race_reported(struct model *m, struct race_agent *self, const struct race_mem_ctx *where,
                   struct race_news *news);
/* There are news; `release` becomes theirs. */
void race_report(struct race_news *news, const struct race_access *a, struct race_clock *release);
/* A counter that many add to tells what all of them knew: one of a stream, a word in memory. */
void race_count(struct model *m, const struct race_mem_ctx *where, struct race_news *news,
                const struct race_access *a);
void race_add(struct model *m, struct race_mem_ctx *where, const struct race_access *a);

/* ---- race_judge.c ---- */

/* Judges `a`, which is about to happen, by what its bytes, from this row on, saw last. Whether some
 * core looked at them before a write, or may have: it may be waiting for them to change. */
bool race_judge(struct model *m, const struct race_mem_ctx *where, uint32_t row,
                const struct race_access *a, bool writes);
/* A NOC write to bytes that a request holds. */
void race_judge_locks(struct model *m, struct race_mem_ctx *where, const struct race_access *a);

#endif
