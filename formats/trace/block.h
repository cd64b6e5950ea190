/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: one block of events, to and from the bytes of a protobuf message Block.
 */
#ifndef NOCAP_TRACE_BLOCK_H
#define NOCAP_TRACE_BLOCK_H

#include "base/bytes.h"
#include "base/status.h"
#include "formats/trace/access_row.h"
#include "formats/trace/event.h"

enum block_limit {
    BLOCK_SHAPES_MAX = 1 << 14,     /* distinct shapes a block */
    BLOCK_PLACES_MAX = 1 << 14,     /* distinct places a block */
    BLOCK_PAYLOAD_TARGET = 2 << 20, /* a block ends when its payload reaches this */
    SHAPES_PER_FAMILY = 256,        /* then the family's addresses and the like go to columns */
};

/* Field numbers of message Block. */
enum block_field {
    BLOCK_FIRST_INDEX = 1,
    BLOCK_COUNT = 2,
    BLOCK_FIRST_TIME = 3,
    BLOCK_LAST_TIME = 4,
    BLOCK_PLACE_TABLE = 5,
    BLOCK_SHAPE_TABLE = 6,
    BLOCK_PLACE = 7,
    BLOCK_SHAPE = 8,
    BLOCK_TIME = 9,
    BLOCK_SHAPE_BY_PLACE = 10, /* in place of BLOCK_SHAPE */
    BLOCK_COLUMN_0 = 20,       /* one for each of NOCAP_SLOTS, and for COLUMN_GUESSED */
    BLOCK_DATA_SIZE = 40,
    BLOCK_DATA = 41,
    BLOCK_EXTRA_SIZE = 42,
    BLOCK_EXTRA = 43,
};

/* Those of its tables' entries: messages Place and Shape. */
enum place_field { PLACE_SRC = 1, PLACE_CHIP, PLACE_X, PLACE_Y, PLACE_X2, PLACE_Y2, PLACE_EVENTS };
enum shape_field { SHAPE_KIND = 1, SHAPE_OP, SHAPE_HAS, SHAPE_TAKES, SHAPE_SLOT, SHAPE_SMALL };

/* The fields of one byte, from `by` to the end of `ret`: message Shape's `small`. */
enum { SMALL_OFFSET = offsetof(struct nocap_event, by), SMALL_SIZE = 28 };
_Static_assert(offsetof(struct nocap_event, ret) + sizeof(struct nocap_xy) ==
                   SMALL_OFFSET + SMALL_SIZE,
               "the order of the small fields is part of the file format");

/* The columns of a shape: one for each slot, and the one of guessed values, which a shape has
 * instead of that of `value`. */
enum {
    COLUMN_GUESSED = NOCAP_SLOTS,
    SHAPE_COLUMNS,
    SLOT_OF_VALUE = (offsetof(struct nocap_event, value) - offsetof(struct nocap_event, slot)) /
                    sizeof(uint64_t),
};
static const uint32_t SLOT_COLUMNS = (1u << NOCAP_SLOTS) - 1;

/* What value follows which, of one shape: programs repeat themselves, on one tile and on others.
 * The file format fixes the size of both tables and the place in them; what else is there is
 * overwritten. */
enum { GUESS_BITS = 13, GUESSES = 1 << GUESS_BITS };
struct guesses {
    uint64_t before[GUESSES]; /* the value before, by shape and place */
    uint64_t after[GUESSES];  /* the value that came next, by shape and value before */
};

static inline uint32_t guess_index(uint32_t shape, uint64_t v)
{
    const uint64_t h = (v ^ (uint64_t)shape << 32) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> (64 - GUESS_BITS));
}

/* Where a value is guessed and, when it is known, noted. */
struct guess {
    uint64_t *before, *after;
};

static inline struct guess guess_find(struct guesses *g, uint32_t shape, uint32_t place)
{
    uint64_t *before = &g->before[guess_index(shape, place)];
    return (struct guess){before, &g->after[guess_index(shape, *before)]};
}

/* The entry of the column: 0 where the difference is the one guessed. `guess` takes the place of 0
 * among the differences, so that nothing outgrows 64 bits. */
static inline uint64_t guess_pack(uint64_t difference, uint64_t guess)
{
    return difference == guess ? 0 : difference + (difference < guess);
}

static inline uint64_t guess_unpack(uint64_t entry, uint64_t guess)
{
    return entry == 0 ? guess : entry - (entry <= guess);
}

/* Which slots a kind's fields occupy: those that are always columns, and all. */
struct slot_use {
    uint32_t values, all;
};

struct block_encoder;

struct block_encoder *block_encoder_new(void);
void block_encoder_free(struct block_encoder *encoder);

/* What was added to the block. */
struct block_summary {
    uint32_t count;
    uint64_t first, last;      /* times of the first and of the last event, as they were added */
    uint64_t earliest, latest; /* of all */
    bool ordered;              /* no event was earlier than the one before */
};
const struct block_summary *block_encoder_summary(const struct block_encoder *encoder);

enum block_state {
    BLOCK_OPEN,
    BLOCK_FULL,     /* the event was added, and now the block ends: tables or payload would outgrow
                       the bounds */
    BLOCK_NO_EVENT, /* its kind, op or a field in `has` is not one that it may have */
    BLOCK_NO_MEMORY,
    BLOCK_TOO_LONG, /* its payload */
};
enum block_state block_encoder_add(struct block_encoder *encoder, const struct nocap_event *event);
/* Up to `n` accesses that follow `like`, the event that was added last, which is changed to the
 * last of those that are looked up. How many were added; `state` is as of the last one, or why it
 * was not. */
size_t block_encoder_add_rows(struct block_encoder *encoder, struct nocap_event *like,
                              const struct access_row *rows, size_t n, enum block_state *state);
/* Where long columns end in a block's message: what is compressed does best with statistics of its
 * own for each. */
struct block_parts {
    size_t end[COLUMN_GUESSED + 8]; /* ascending */
    unsigned count;
};
/* Appends the message and starts the next block; false: no memory. */
bool block_encoder_finish(struct block_encoder *encoder, uint64_t first_index, struct bytes *out,
                          struct block_parts *parts);

struct block_decoder;

struct block_decoder *block_decoder_new(void);
void block_decoder_free(struct block_decoder *decoder);
/* Why a block is not decoded that may be sound. */
extern const char block_no_memory[];
/* Begins a block; `message` must stay until the last event was taken. NULL or why it does not
 * decode. */
const char *block_decoder_start(struct block_decoder *decoder, const uint8_t *message, size_t size);
uint64_t block_decoder_first_index(const struct block_decoder *decoder);
uint32_t block_decoder_left(const struct block_decoder *decoder);
/* Times of the events that are left, as far as the column of times decodes. */
struct block_times {
    uint64_t first, last;      /* of the first and of the last event */
    uint64_t earliest, latest; /* of all */
    bool ordered;              /* no event is earlier than the one before */
};
struct block_times block_decoder_times(const struct block_decoder *decoder);
/* Leaves out the rest of the block. */
void block_decoder_drop(struct block_decoder *decoder);
/* Up to `max` next events; *why is set if the block turns out damaged, what came before is good. */
size_t block_decoder_take(struct block_decoder *decoder, struct nocap_event *events, size_t max,
                          const char **why);

#endif
