/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the latest bytes of heads and records, a ring of chunks that are made when
 * they are first used. A piece stays where it is until it is overwritten. */
#ifndef NOCAP_REPLAY_CQ_ARENA_H
#define NOCAP_REPLAY_CQ_ARENA_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CQ_CHUNK = 1 << 18, /* bytes; no piece is larger */
    CQ_CHUNKS = 16,
    CQ_ARENA = CQ_CHUNK * CQ_CHUNKS,
};

struct cq_arena {
    uint8_t *chunk[CQ_CHUNKS];
    uint64_t used; /* counted from the first byte that it ever held */
};

/* Where the piece is, for cq_arena_at. Without memory it is nowhere. */
static inline uint64_t cq_arena_put(struct cq_arena *a, const uint8_t *bytes, uint32_t size)
{
    const uint64_t left = CQ_CHUNK - a->used % CQ_CHUNK;
    const uint64_t start = a->used + (size > left ? left : 0);
    uint8_t **chunk = &a->chunk[start / CQ_CHUNK % CQ_CHUNKS];
    if (*chunk == NULL && (*chunk = malloc(CQ_CHUNK)) == NULL) {
        a->used = (start / CQ_CHUNK + 1) * CQ_CHUNK;
        return start;
    }
    if (size > 0) {
        memcpy(*chunk + start % CQ_CHUNK, bytes, size);
    }
    a->used = start + size;
    return start;
}

/* NULL: overwritten since, or it was never there. */
static inline uint8_t *cq_arena_at(const struct cq_arena *a, uint64_t start)
{
    uint8_t *chunk = a->chunk[start / CQ_CHUNK % CQ_CHUNKS];
    return chunk != NULL && a->used - start <= CQ_ARENA ? chunk + start % CQ_CHUNK : NULL;
}

static inline void cq_arena_free(struct cq_arena *a)
{
    for (unsigned i = 0; i < CQ_CHUNKS; i++) {
        free(a->chunk[i]);
    }
}

#endif
