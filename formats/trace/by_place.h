/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the column of shapes in the order of the places: all that happens at
 * place 0, then all at place 1. Tiles that run one program at paces of their own show its sequence
 * again and again; in the order of time each is broken up by the others. */
#ifndef NOCAP_TRACE_BY_PLACE_H
#define NOCAP_TRACE_BY_PLACE_H

#include "base/bytes.h"
#include "formats/trace/block.h"

_Static_assert(BLOCK_PLACES_MAX <= 1 << 16 && BLOCK_SHAPES_MAX <= 1 << 16,
               "numbers of places and shapes fit two bytes");

/* An event that is being written: its indexes in both tables. */
struct by_place_event {
    uint16_t place, shape;
};

/* The entries of the column: a buffer that is used again for each block, all zero at first. */
struct by_place {
    uint16_t *shape;
    size_t size; /* bytes */
};
void by_place_free(struct by_place *b);

/* Appends the column to `out`. `next` has how many events are at each of the places, and is used
 * up. False: no memory. */
bool by_place_pack(struct by_place *b, const struct by_place_event *events, size_t count,
                   uint32_t *next, uint32_t places, struct bytes *out);

/* Decodes the column of a block of `count` events; NULL or why it does not decode. */
const char *by_place_unpack(struct by_place *b, struct span column, uint32_t count);

#endif
