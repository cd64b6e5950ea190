/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the block encoder: a block that is being filled, and its tables. */
#ifndef NOCAP_TRACE_BLOCK_ENCODER_H
#define NOCAP_TRACE_BLOCK_ENCODER_H

#include "formats/trace/block.h"
#include "formats/trace/by_place.h"

/* Events that agree in all but place, time and 64-bit values form a family. While a family has few
 * combinations of addresses, sizes and the like, each is a shape of its own and costs an event
 * nothing; beyond that they are columns. */
struct family {
    uint64_t has;
    uint32_t literal, values; /* slots */
    uint32_t shapes;
    uint32_t open_shape; /* the shape that has everything in columns, NONE while there is none */
    uint32_t indexed;    /* where it stands in its index */
    uint8_t what[SMALL_SIZE + 2];
};

struct shape {
    uint32_t family, columns;
    uint32_t indexed;            /* NONE: an open shape, which is found through its family */
    uint32_t number;             /* in the table */
    struct shape *next;          /* what its agent did after it the last time; NULL: not known */
    uint64_t first[NOCAP_SLOTS]; /* as in the table */
    uint64_t last[NOCAP_SLOTS];  /* of the event before */
};

/* Each gets a value of every event; those of slots, if the event's shape says so. */
enum column { COLUMN_PLACE, COLUMN_SHAPE, COLUMN_TIME, COLUMN_SLOT };
enum { COLUMN_COUNT = COLUMN_SLOT + SHAPE_COLUMNS };

struct place {
    uint64_t source;  /* src, chip, x, y; src lowest */
    uint32_t to;      /* x2, y2 */
    uint32_t indexed; /* where it stands in its index */
};

/* Of the event before of the same agent: what comes next is guessed agent by agent. Those that
 * share a number spoil each other's guess. */
struct recent {
    uint64_t source;
    uint32_t to; /* as in its place, and RECENT_IS */
    uint32_t place;
    struct shape *shape; /* NULL: there was none in this block */
};
enum { AGENT_BITS = 10, AGENTS = 1 << AGENT_BITS };
static const uint32_t RECENT_IS = 1u << 31;
static inline uint32_t agent_number(uint64_t source, unsigned by)
{
    const uint64_t h = (source ^ (uint64_t)by << 40) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> (64 - AGENT_BITS));
}

struct block_encoder {
    struct block_summary so_far;
    bool has_payload;
    bool full; /* tables or payload would outgrow their bounds */
    struct place *places;
    uint32_t place_count;
    struct family *families;
    uint32_t family_count;
    uint32_t recent[NOCAP_EV_COUNT]; /* the family of the last event of each kind */
    uint32_t last_family;            /* of the last event */
    struct shape *shapes;
    uint32_t shape_count;
    struct recent recent_of[AGENTS];
    uint32_t *place_index, *family_index, *shape_index;
    struct guesses guesses;
    struct at_place *at_place; /* by place */
    struct shape_runs shape_runs;
    struct bytes column[COLUMN_COUNT];  /* that of shapes is made when the block ends */
    struct bytes data_size, extra_size; /* empty as long as all are 0, as in most blocks */
    struct bytes data, extra;
};

enum {
    SLOT_OF_ADDR = (offsetof(struct nocap_event, addr) - offsetof(struct nocap_event, slot)) /
                   sizeof(uint64_t),
    SLOT_OF_SIZE = (offsetof(struct nocap_event, size) - offsetof(struct nocap_event, slot)) /
                   sizeof(uint64_t),
    LITERAL_OF_ACCESS = 1u << SLOT_OF_ADDR | 1u << SLOT_OF_SIZE, /* of most accesses */
};

static inline bool family_fits(const struct family *f, const struct nocap_event *event)
{
    const uint8_t *what = (const uint8_t *)event + offsetof(struct nocap_event, kind);
    return f->has == event->has && memcmp(f->what, what, sizeof f->what) == 0;
}

static inline bool shape_fits(const struct shape *s, uint32_t family, uint32_t literal,
                              const struct nocap_event *event)
{
    uint64_t differs = s->family ^ family;
    if (literal == LITERAL_OF_ACCESS) {
        differs |= s->first[SLOT_OF_ADDR] ^ event->addr;
        return (differs | (s->first[SLOT_OF_SIZE] ^ event->size)) == 0;
    }
    for (uint32_t left = literal; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        differs |= s->first[slot] ^ event->slot[slot];
    }
    return differs == 0;
}

/* block_tables.c: the number of the place, which is put into the table if it is not there. */
uint32_t block_place(struct block_encoder *encoder, const struct place *place);
/* The shape, the same way. NULL: there is no such event. */
struct shape *block_shape(struct block_encoder *encoder, const struct nocap_event *event);

#endif
