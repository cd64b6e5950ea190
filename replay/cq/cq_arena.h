/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the latest bytes of heads and records, each piece where it was put. It grows
 * while there is room for more, then it is a ring. */
#ifndef NOCAP_REPLAY_CQ_ARENA_H
#define NOCAP_REPLAY_CQ_ARENA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CQ_ARENA_FIRST = 1 << 16, /* bytes, a power of two as CQ_ARENA is; no piece is larger */
    CQ_ARENA = 1 << 22,
};

struct cq_arena {
    uint8_t *bytes;
    uint32_t room;
    uint64_t used; /* counted from the first byte that it ever held */
};

static inline bool cq_arena_init(struct cq_arena *a)
{
    *a = (struct cq_arena){.bytes = malloc(CQ_ARENA_FIRST), .room = CQ_ARENA_FIRST};
    return a->bytes != NULL;
}

/* Without memory for more it is a smaller ring. */
static inline void cq_arena_grow(struct cq_arena *a)
{
    uint8_t *bytes = realloc(a->bytes, (size_t)a->room * 2);
    if (bytes != NULL) {
        a->bytes = bytes;
        a->room *= 2;
    }
}

/* Where the piece is, for cq_arena_at. What that found before is no longer valid. */
static inline uint64_t cq_arena_put(struct cq_arena *a, const uint8_t *bytes, uint32_t size)
{
    if (a->used + size > a->room && a->used <= a->room && a->room < CQ_ARENA) {
        cq_arena_grow(a);
    }
    if (a->used % a->room + size > a->room) {
        a->used += a->room - a->used % a->room; /* a piece lies in one piece */
    }
    uint64_t start = a->used;
    if (size > 0) {
        memcpy(a->bytes + start % a->room, bytes, size);
    }
    a->used += size;
    return start;
}

/* NULL: overwritten since. */
static inline const uint8_t *cq_arena_at(const struct cq_arena *a, uint64_t start)
{
    return a->used - start <= a->room ? a->bytes + start % a->room : NULL;
}

#endif
