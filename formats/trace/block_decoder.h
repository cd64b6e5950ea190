/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: a block while it is taken apart. */
#ifndef NOCAP_TRACE_BLOCK_DECODER_H
#define NOCAP_TRACE_BLOCK_DECODER_H

#include "base/list.h"
#include "formats/trace/block.h"
#include "formats/trace/by_place.h"
#include "formats/trace/column.h"
#include "formats/trace/shape.h"
#include "formats/trace/trace.h"
#include "formats/trace/wire.h"

/* A shape with the values that its next event's differences are added to. */
struct shape {
    struct nocap_event event;
    uint32_t columns;
};

/* The members of an event from `src` to `to`, in their order. */
struct place {
    uint32_t src;
    uint16_t chip;
    struct nocap_xy at, to;
    /* where the shapes of its events stand in those by place: the next one, and after the last */
    uint32_t next, end;
};
enum { PLACE_OFFSET = offsetof(struct nocap_event, src), PLACE_SIZE = 10 };
_Static_assert(offsetof(struct place, to) + sizeof(struct nocap_xy) == PLACE_SIZE &&
                   offsetof(struct nocap_event, chip) - PLACE_OFFSET ==
                       offsetof(struct place, chip) &&
                   offsetof(struct nocap_event, at) - PLACE_OFFSET == offsetof(struct place, at) &&
                   offsetof(struct nocap_event, to) - PLACE_OFFSET == offsetof(struct place, to),
               "a place is a part of an event");

struct block_decoder {
    uint64_t first_index;
    uint32_t left, taken, timed; /* events to come, handed out, and those that have times */
    struct shape *shapes;
    struct place *places;
    uint32_t shape_count, place_count;
    uint32_t shapes_met, places_met; /* the most that a block ever had */
    struct span place, shape, shape_by_place, time_column, column[SHAPE_COLUMNS];
    struct span data_size, data, extra_size, extra;
    struct block_times times;
    uint64_t *t; /* of each event */
    uint32_t t_capacity;
    struct shape_numbers numbers; /* of all blocks */
    struct by_place by_place;
    struct guesses guesses;
    bool guessing; /* a shape takes guesses: the tables have to be cleared for the next block */
};

/* ---- block_decode_tables.c: an entry of a table; NULL, or why it is none ---- */

const char *block_decoder_add_place(struct block_decoder *d, struct span message);
const char *block_decoder_add_shape(struct block_decoder *d, struct span message);

#endif
