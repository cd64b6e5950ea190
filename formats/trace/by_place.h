/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the column of shapes in the order of the places: all that happens at
 * place 0, then all at place 1. Tiles that run one program at paces of their own show its sequence
 * again and again; in the order of time each is broken up by the others. */
#ifndef NOCAP_TRACE_BY_PLACE_H
#define NOCAP_TRACE_BY_PLACE_H

#include "base/bytes.h"
#include "formats/trace/block.h"

/* ---- written ---- */

/* Entries of one place. What a block adds to is side by side, however many events each place has:
 * were each place's part in one piece, the parts of many places would meet in few sets of the
 * processor's cache. */
enum { RUN_BYTES = 59 };
struct shape_run {
    uint32_t next; /* of this place */
    uint8_t used, bytes[RUN_BYTES];
};
_Static_assert(sizeof(struct shape_run) == 64, "a line of the cache");
_Static_assert(BLOCK_SHAPES_MAX <= 1 << 14, "an entry is two bytes at most");

/* A place's, all zero at first. */
struct at_place {
    uint32_t events, first, last; /* runs */
};

/* A buffer that is used again for each block, all zero at first. */
struct shape_runs {
    struct shape_run *run; /* the first one is full, and of no place */
    size_t size;           /* bytes */
    uint32_t used;
};

/* Makes room for `events` more, of a block that has none yet, or more. False: no memory. */
bool shape_runs_reserve(struct shape_runs *runs, bool first, size_t events);
struct shape_run *shape_runs_begin(struct shape_runs *runs, struct at_place *at);
static inline void shape_runs_put(struct shape_runs *runs, struct at_place *at, uint32_t shape)
{
    struct shape_run *run = &runs->run[at->last];
    if (__builtin_expect(run->used > RUN_BYTES - 2, 0)) {
        run = shape_runs_begin(runs, at);
    }
    run->used = (uint8_t)(varint_put(run->bytes + run->used, shape) - run->bytes);
    at->events++;
}
/* Appends a place's entries to the column. False: no memory. */
bool shape_runs_pack(const struct shape_runs *runs, const struct at_place *at, struct bytes *out);

/* ---- read ---- */

/* The entries of the column: a buffer that is used again for each block, all zero at first. */
struct by_place {
    uint16_t *shape;
    size_t size; /* bytes */
};
void by_place_free(struct by_place *b);

/* Decodes the column of a block of `count` events; NULL or why it does not decode. */
const char *by_place_unpack(struct by_place *b, struct span column, uint32_t count);

#endif
