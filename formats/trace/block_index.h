/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the block encoder: where an entry of its tables stands, by what is in it. */
#ifndef NOCAP_TRACE_BLOCK_INDEX_H
#define NOCAP_TRACE_BLOCK_INDEX_H

#include <stdlib.h>
#include <string.h>

#include "formats/trace/block.h"

#define NONE UINT32_MAX

/* Indexes into a table, by open addressing; twice as many as are used at most. */
enum { INDEX_BITS = 15, INDEX_SIZE = 1 << INDEX_BITS };
_Static_assert(INDEX_SIZE >= 2 * BLOCK_SHAPES_MAX && INDEX_SIZE >= 2 * BLOCK_PLACES_MAX,
               "an index has free places");

static inline bool index_init(uint32_t **index)
{
    *index = malloc(INDEX_SIZE * sizeof **index);
    if (*index != NULL) {
        memset(*index, 0xFF, INDEX_SIZE * sizeof **index);
    }
    return *index != NULL;
}

/* A hash is good in its upper bits. */
static inline uint64_t mix(uint64_t h, uint64_t v)
{
    return ((h << 23 | h >> 41) ^ v) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline uint32_t index_start(uint64_t h)
{
    return (uint32_t)(h >> (64 - INDEX_BITS));
}

static inline uint32_t index_next(uint32_t i)
{
    return (i + 1) % INDEX_SIZE;
}

#endif
