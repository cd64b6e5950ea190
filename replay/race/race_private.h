/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: races of NOC requests, judged on the orders that the protocol allows and not
 * on the one that was observed.
 *
 * Time is the index of an event, plus 1. What an agent knows to be over is a clock: for each core
 * up to which of its own accesses, for each network interface up to which of its reads have
 * arrived, its writes left, its writes been acknowledged, and up to which of them have arrived in a
 * tile because they travel in order. A core learns at a barrier what its requests did, and from a
 * word that it loads what the writer of the word knew. Memory is kept as spans with their latest
 * write and reads.
 *
 * What is not known is not wrong: two accesses are told only where the second agent knows that the
 * first one went on behind its access (it saw something that was sent later) and yet nothing says
 * that the access is over; or where nothing at all can have reached the second agent since. Loads
 * and stores of two cores are no matter of the NOC and are not judged. */
#ifndef NOCAP_REPLAY_RACE_PRIVATE_H
#define NOCAP_REPLAY_RACE_PRIVATE_H

#include "formats/blackhole/niu.h"
#include "formats/blackhole/noc_ends.h"
#include "formats/trace/note.h"
#include "replay/core/tile.h"
#include "replay/race/race.h"

/* ---- race_clock.c: what is known to be over ---- */

/* Ways in which an access comes to an end. */
enum race_way {
    RACE_CORE,   /* a load or store of a core: when it is over in program order */
    RACE_ARRIVE, /* a NOC read: its data has arrived */
    RACE_LEAVE,  /* the source of a NOC write: it has left */
    RACE_ACK,    /* the far end of a NOC write or atomic: acknowledged */
    RACE_ORDER,  /* the same by order of arrival: all that there is for posted requests */
};
/* Those that are known of an interface as a whole: what its counters tell. */
enum { RACE_ENDS = RACE_ORDER, RACE_NOCS = 2 };

/* Which kinds of access a clock speaks of. Clocks that have heard of the same ones share it;
 * changed only by a sole owner. */
struct race_keys {
    uint32_t owners, capacity;
    uint64_t keys[]; /* rising */
};

/* Shared between agents and spans; changed only by a sole owner. */
struct race_clock {
    uint32_t owners, count, capacity;
    uint64_t floor; /* everything up to here is taken to be over: beyond is what is not known */
    struct race_keys *kinds;
    uint64_t until[]; /* by key: the time up to which accesses of that kind are over */
};

enum { RACE_CLOCK_MAX = 4096 }; /* entries; a clock that would need more knows everything */

uint64_t race_core_key(uint32_t agent);
uint64_t race_way_key(enum race_way way, uint32_t place, unsigned noc);
uint64_t race_order_key(uint32_t from, unsigned noc, uint32_t to, unsigned channel);

struct race_clock *race_clock_share(struct race_clock *clock); /* NULL stays NULL */
void race_clock_drop(struct race_clock *clock);
/* 0 if the clock, which may be NULL, has no such entry. */
uint64_t race_clock_until(const struct race_clock *clock, uint64_t key);
/* Whether requests from `from` to `to` up to `index` have arrived on the channel, or may have. */
bool race_clock_arrived(const struct race_clock *clock, uint32_t from, unsigned noc, uint32_t to,
                        unsigned channel, uint64_t index);
/* These replace *clock by one of its own where it is shared. False without memory. */
bool race_clock_raise(struct race_clock **clock, uint64_t key, uint64_t until);
bool race_clock_raise_floor(struct race_clock **clock, uint64_t floor);
bool race_clock_join(struct race_clock **clock, struct race_clock *other);

/* ---- race_memory.c: who touched which bytes last ---- */

enum race_channel { RACE_CHANNEL_MULTICAST = 16, RACE_CHANNEL_UNKNOWN = 32 };

/* One access. */
struct race_access {
    uint64_t index;      /* a time */
    uint64_t first, end; /* bytes */
    uint32_t agent;      /* RACE_NOBODY: an agent that the trace does not show */
    uint32_t place;      /* whose interface, for all but RACE_CORE */
    uint8_t way, noc, channel;
    bool atomic;
    uint32_t size; /* of the whole request */
};
enum { RACE_NOBODY = UINT32_MAX, RACE_READERS = 3 };

struct race_span {
    uint64_t first, end;
    bool written;
    uint8_t reader_count;
    struct race_access write;
    struct race_access readers[RACE_READERS];
    struct race_clock *release;          /* what the writer knew; NULL: nothing */
    uint64_t over[RACE_ENDS][RACE_NOCS]; /* and of the requests of its own interface */
    uint64_t value, seen;                /* of a word: as written, as loaded last */
    bool value_known, seen_known;
    bool polled;   /* the reader looked before the write came: a flag */
    uint64_t used; /* index of the latest access */
};

/* Where a span lies; small, since a table of them is searched and shifted. */
struct race_row {
    uint64_t first, end; /* as the span's */
    uint32_t slot;
};

struct race_memory {
    struct race_row *rows; /* disjoint, by rising address; behind `count` the slots that are free */
    struct race_span *pool; /* by slot */
    uint32_t count, capacity;
    uint32_t hint; /* where the latest search ended */
    uint64_t lost; /* index of the latest access that was forgotten for want of room */
};

enum { RACE_SPANS_MAX = 256 }; /* of one memory */

/* The first row that ends behind `addr`; may be past the last. */
uint32_t race_memory_find(struct race_memory *memory, uint64_t addr);
static inline struct race_span *race_memory_at(const struct race_memory *memory, uint32_t row)
{
    return &memory->pool[memory->rows[row].slot];
}
/* A span of exactly these bytes, whatever stood there; NULL without memory. Its release is the
 * caller's to fill. */
struct race_span *race_memory_write(struct race_memory *memory, const struct race_access *a);
/* Remembers a read on all spans of its bytes; new ones where there was none. */
bool race_memory_read(struct race_memory *memory, const struct race_access *a);
void race_memory_free(struct race_memory *memory);

/* ---- places ---- */

enum { RACE_CORES = 8, RACE_PLACES_MAX = 1 << 13, RACE_LOCKS = 16, RACE_FAULTS = 64 };

struct race_lock {
    uint64_t first, end, index;
    uint8_t by;
    bool cb;
};

/* A memory that the NOC reaches, with the interface and the cores of its tile. */
struct race_place {
    uint16_t chip;
    struct nocap_xy at;
    uint32_t number;
    struct race_memory memory;
    struct race_clock *clocks[RACE_CORES]; /* by core; NULL: it knows nothing yet */
    uint64_t over[RACE_ENDS][RACE_NOCS];   /* index up to which its own requests are over */
    uint64_t sent[RACE_NOCS];              /* index of its latest request */
    uint64_t fetched;                      /* index of its latest NOC read */
    uint64_t reached;                      /* index at which something last came in */
    struct race_lock locks[RACE_LOCKS];
    uint32_t lock_count;
};

struct race {
    struct race_place **places; /* by number */
    uint32_t *slots;            /* open addressing: number + 1 */
    uint32_t mask, count;
    bool all_seen;  /* every write into a tile is in the trace */
    bool started;   /* a request was seen: before, nothing is remembered */
    uint64_t start; /* time from which on something is known */
    struct race_fault {
        uint64_t index; /* of a first access: a multicast is one act at all its tiles */
        fault_id since;
    } faults[RACE_FAULTS]; /* the latest, a ring */
    uint32_t fault_next;
};

/* ---- race_place.c ---- */

/* Makes the model's part; false: there is nothing to remember, or no memory for it. */
bool race_begin(struct model *m);
static inline struct race *race_of(const struct model *m)
{
    return m->state[MODEL_RACE];
}
/* NULL if it was not met yet; `race` may be NULL. */
struct race_place *race_place_find(const struct race *race, uint16_t chip, struct nocap_xy at);
/* NULL without memory, or when there are too many. */
struct race_place *race_place_get(struct model *m, uint16_t chip, struct nocap_xy at);
void race_free(struct model *m);
void race_forget(struct model *m);

/* Times count from 1: 0 is before all events. */
static inline uint64_t race_stamp(uint64_t index)
{
    return index + 1;
}
static inline unsigned race_core(uint8_t by)
{
    return (unsigned)(by - NOCAP_BY_BRISC);
}
static inline uint32_t race_agent(const struct race_place *p, uint8_t by)
{
    return p->number * RACE_CORES + race_core(by);
}
static inline void race_keep(struct model *m, bool ok)
{
    m->out_of_memory |= !ok;
}

/* ---- race_request.c ---- */

/* A request that goes out. Nothing is remembered before the first one, so traces without cost
 * nothing. */
void race_request(struct model *m, const struct nocap_event *e);

/* ---- race_learn.c ---- */

/* What the writer of a span tells the one who sees its value. */
void race_learn_span(struct model *m, struct race_clock **clock, struct race_place *where,
                     const struct race_span *span);
/* A load of one word, or of part of a span: does its value come from the write that is known? */
void race_learn_load(struct model *m, struct race_clock **clock, struct race_place *where,
                     struct race_span *span, const struct access *a);
/* The bytes change; `release`, which becomes the span's, is what the writer knew. `bytes`: NULL:
 * they are not known. */
void race_put_write(struct model *m, struct race_place *where, const struct race_access *a,
                    struct race_clock *release, const struct access *bytes);
/* A counter that many add to tells what all of them knew. */
void race_put_add(struct model *m, struct race_place *where, const struct race_access *a,
                  struct race_clock *knows);
void race_put_read(struct model *m, struct race_place *where, const struct race_access *a);
/* Requests of an interface are over. */
void race_over(struct model *m, const struct ended *e);

/* ---- race_judge.c ---- */

/* Judges `a`, which is about to happen, against what its bytes saw last. */
void race_judge(struct model *m, struct race_place *where, const struct race_access *a,
                bool writes);
/* A NOC write to bytes that somebody holds. */
void race_judge_locks(struct model *m, struct race_place *where, const struct race_access *a);

#endif
