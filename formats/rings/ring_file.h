/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: the ring file that a live capture keeps beside its trace, FILE.nocap.rings. It
 * is mapped shared, so what a thread put into its ring outlives the process. One machine writes and
 * reads it: numbers are of its byte order. Layout, in bytes:
 *
 *     struct ring_file_head, to the next page; then RING_SLOTS rings of `ring_bytes`
 *
 * A ring is a sequence of records at positions that only grow; position p lies at p modulo
 * `ring_bytes`. From `tail` to `head` a record is whole. What was written to the trace is one
 * transaction with where each ring stood then (struct ring_commit): after a kill the trace up to
 * `trace_bytes`, followed by what the rings hold from there on, is every event once. */
#ifndef NOCAP_RINGS_RING_FILE_H
#define NOCAP_RINGS_RING_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/event.h"

#define RING_FILE_MAGIC UINT64_C(0x3153474E52434F4E) /* "NOCRNGS1" */

enum ring_limit {
    RING_SLOTS = 256, /* threads that record at the same time */
    RING_PAGE = 4096,
    RING_BYTES_MIN = 1 << 16,
    RING_BYTES_MAX = 1 << 30,
    RING_HASHED = 64,      /* bytes before `trace_bytes` that `trace_hash` is over */
    RING_SRC_NONE = 65535, /* source of events that had no ring */
};

/* Where a ring stood: the first record that is not in the trace, and how many of its dropped events
 * the trace tells of. */
struct ring_position {
    uint64_t tail, reported;
};

struct ring_commit {
    uint64_t trace_bytes, trace_hash; /* FNV-1a */
    uint64_t lost_reported;
    struct ring_position ring[RING_SLOTS];
};

/* Lines of the cache apart: what a thread writes and what the writer writes. */
struct ring_head {
    _Alignas(128) _Atomic uint64_t head; /* after the last record; the thread's */
    _Atomic uint64_t dropped; /* events that found the ring full, all reported; the thread's */
    _Atomic uint32_t src;     /* of the thread */
    /* of the first ring: a thread is in a call that may end the process */
    _Atomic uint32_t calling;
    uint32_t none[10];
    _Atomic uint64_t tail; /* what is before it may be overwritten; the writer's */
    uint64_t none_either[7];
};
_Static_assert(sizeof(struct ring_head) == 128, "two lines of the cache");

/* How raw times become the trace's. */
struct ring_clock {
    uint64_t start;     /* raw time of t = 0 */
    uint64_t mult;      /* t = (raw - start) * mult / 2^32 */
    uint32_t from_user; /* 1: raw times are t already, and do not tell when the next one comes */
    uint32_t none;
};

struct ring_file_head {
    _Atomic uint64_t magic; /* set when all else is */
    uint64_t ring_bytes;    /* a power of two */
    struct ring_clock clock;
    _Atomic uint32_t slots_used; /* rings from this on were never used */
    _Atomic uint32_t commit;     /* which of `commits` counts */
    _Atomic uint64_t lost;       /* events of threads for which there was no ring */
    struct ring_commit commits[2];
    struct ring_head ring[RING_SLOTS];
};

enum { RING_FILE_FIRST = (sizeof(struct ring_file_head) + RING_PAGE - 1) / RING_PAGE * RING_PAGE };

/* ---- records: words of 8 bytes, the first says how many ---- */

enum ring_format { RING_ACCESS = 1, RING_EVENT, RING_DROPPED };

/* Word 0. `words` counts it too. */
struct ring_word {
    uint32_t words;
    uint16_t format;
    uint16_t chip;
};

/* A read or write with its value: the kind of event that comes by the million. */
struct ring_access {
    struct ring_word word;
    uint64_t t; /* raw */
    uint32_t src;
    struct nocap_xy at, to;
    uint8_t kind, by, space, size, noc, order, map, has; /* has: enum ring_access_has */
    uint64_t addr, value;
};
enum ring_access_has {
    RING_HAS_AT = 1,
    RING_HAS_TO = 2,
    RING_HAS_NOC = 4,
    RING_HAS_ORDER = 8,
    RING_HAS_MAP = 16,
    RING_HAS_SPACE = 32,
};
_Static_assert(sizeof(struct ring_access) == 48, "no padding");

/* Any event: then `slots` has a bit for each slot that follows, then the payload. */
struct ring_event {
    struct ring_word word;
    uint64_t t; /* raw */
    uint64_t has;
    uint32_t src, data_size;
    struct nocap_xy at, to;
    uint16_t slots;
    uint8_t what[30]; /* kind, op, by .. ret */
};
_Static_assert(sizeof(struct ring_event) == 72, "no padding");

/* `total` events of this ring were dropped before the next record. */
struct ring_dropped {
    struct ring_word word;
    uint64_t t;
    uint64_t src, total;
};

static inline uint64_t ring_time(const struct ring_clock *clock, uint64_t raw)
{
    if (clock->from_user) {
        return raw;
    }
    return raw <= clock->start
               ? 0
               : (uint64_t)(__extension__(unsigned __int128)(raw - clock->start) * clock->mult >>
                            32);
}

/* Maps the ring of `slot` twice in a row, so that no record has a seam. NULL: errno says why. */
void *ring_map(int fd, uint64_t ring_bytes, unsigned slot, bool writable);
void ring_unmap(void *base, uint64_t ring_bytes);

/* Hash of the last bytes of the trace before `trace_bytes`; false: it is not that long. */
bool ring_trace_hash(int trace_fd, uint64_t trace_bytes, uint64_t *hash);

#endif
