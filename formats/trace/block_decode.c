/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/block.h"

#include "formats/trace/nocap.pb-c.h"
#include "formats/trace/trace.h"

/* A shape with the values that its next event's differences are added to. */
struct shape {
    struct nocap_event event;
    uint32_t columns;
};

struct place {
    uint32_t src;
    uint16_t chip;
    struct nocap_xy at, to;
};

/* The tables of a block are unpacked here and all dropped together: bounded, and no malloc an
 * entry. */
struct arena {
    uint8_t *data;
    size_t used;
};
enum { ARENA_SIZE = 64 << 10 }; /* more than any well-formed Shape or Place needs */

struct block_decoder {
    uint64_t first_index, index, time;
    uint32_t left;
    struct shape *shapes;
    struct place *places;
    uint32_t shape_count, place_count, shape_capacity, place_capacity;
    struct span place, shape, time_column, column[SHAPE_COLUMNS];
    struct span data_size, data, extra_size, extra;
    struct guesses guesses;
    bool guessing; /* a shape takes guesses: the tables have to be cleared for the next block */
    struct arena arena;
    ProtobufCAllocator allocator;
};

static void *arena_alloc(void *context, size_t size)
{
    struct arena *arena = context;
    size = (size + 15) & ~(size_t)15;
    if (size > ARENA_SIZE - arena->used) {
        return NULL;
    }
    void *p = arena->data + arena->used;
    arena->used += size;
    return p;
}

static void arena_release(void *context, void *p)
{
    (void)context;
    (void)p; /* everything goes at once */
}

struct block_decoder *block_decoder_new(void)
{
    struct block_decoder *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return NULL;
    }
    d->arena.data = malloc(ARENA_SIZE);
    d->allocator = (ProtobufCAllocator){arena_alloc, arena_release, &d->arena};
    if (d->arena.data == NULL) {
        block_decoder_free(d);
        return NULL;
    }
    return d;
}

void block_decoder_free(struct block_decoder *d)
{
    if (d == NULL) {
        return;
    }
    free(d->shapes);
    free(d->places);
    free(d->arena.data);
    free(d);
}

/* Room for one more entry of a table; false: the bound is reached, or no memory. */
static bool grow(void **table, uint32_t *capacity, uint32_t count, size_t entry, uint32_t max)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t more = *capacity == 0 ? 64 : 2 * *capacity;
    void *bigger = count < max ? realloc(*table, more * entry) : NULL;
    if (bigger != NULL) {
        *table = bigger;
        *capacity = more;
    }
    return bigger != NULL;
}

static const char *add_place(struct block_decoder *d, const struct span *message)
{
    if (!grow((void **)&d->places, &d->place_capacity, d->place_count, sizeof *d->places,
              BLOCK_PLACES_MAX)) {
        return "too many places";
    }
    d->arena.used = 0;
    Nocap__Place *m =
        nocap__place__unpack(&d->allocator, (size_t)(message->end - message->at), message->at);
    if (m == NULL || m->chip > UINT16_MAX || (m->x | m->y | m->x2 | m->y2) > UINT8_MAX) {
        return "an entry of the table of places does not decode";
    }
    d->places[d->place_count++] = (struct place){m->src,
                                                 (uint16_t)m->chip,
                                                 {(uint8_t)m->x, (uint8_t)m->y},
                                                 {(uint8_t)m->x2, (uint8_t)m->y2}};
    return NULL;
}

static const char *add_shape(struct block_decoder *d, const struct span *message)
{
    static const char *const bad = "an entry of the table of shapes does not decode";
    const uint32_t value_twice = 1u << SLOT_OF_VALUE | 1u << COLUMN_GUESSED;
    if (!grow((void **)&d->shapes, &d->shape_capacity, d->shape_count, sizeof *d->shapes,
              BLOCK_SHAPES_MAX)) {
        return "too many shapes";
    }
    d->arena.used = 0;
    Nocap__Shape *m =
        nocap__shape__unpack(&d->allocator, (size_t)(message->end - message->at), message->at);
    if (m == NULL || m->kind >= NOCAP_EV_COUNT || m->op >= NOCAP_OP_COUNT ||
        m->n_slot > NOCAP_SLOTS || m->small.len > SMALL_SIZE || m->columns >> SHAPE_COLUMNS != 0 ||
        (m->columns & value_twice) == value_twice ||
        (m->has & ~nocap_kind_fields((enum nocap_kind)m->kind)) != 0) {
        return bad;
    }
    struct shape *s = &d->shapes[d->shape_count++];
    memset(s, 0, sizeof *s);
    s->columns = m->columns;
    d->guessing |= m->columns >> COLUMN_GUESSED != 0;
    s->event.kind = (uint8_t)m->kind;
    s->event.op = (uint8_t)m->op;
    s->event.has = m->has;
    for (size_t i = 0; i < m->n_slot; i++) {
        s->event.slot[i] = m->slot[i];
    }
    if (m->small.len > 0) {
        memcpy((uint8_t *)&s->event + SMALL_OFFSET, m->small.data, m->small.len);
    }
    return NULL;
}

static struct span *column_of(struct block_decoder *d, uint64_t field)
{
    if (field >= BLOCK_COLUMN_0 && field < BLOCK_COLUMN_0 + SHAPE_COLUMNS) {
        return &d->column[field - BLOCK_COLUMN_0];
    }
    switch (field) {
    case BLOCK_PLACE: return &d->place;
    case BLOCK_SHAPE: return &d->shape;
    case BLOCK_TIME: return &d->time_column;
    case BLOCK_DATA_SIZE: return &d->data_size;
    case BLOCK_DATA: return &d->data;
    case BLOCK_EXTRA_SIZE: return &d->extra_size;
    case BLOCK_EXTRA: return &d->extra;
    default: return NULL;
    }
}

static const char *take_field(struct block_decoder *d, struct span *message)
{
    static const char *const bad = "the block is no protobuf message";
    uint64_t tag, v;
    if (!span_varint(message, &tag) || !span_varint(message, &v)) {
        return bad;
    }
    uint64_t field = tag >> 3;
    if ((tag & 7) == 0) { /* varint */
        if (field == BLOCK_FIRST_INDEX) {
            d->first_index = v;
        } else if (field == BLOCK_COUNT) {
            if (v > NOCAP_BLOCK_EVENTS_MAX) {
                return "the block claims more events than a block may have";
            }
            d->left = (uint32_t)v;
        }
        return NULL;
    }
    if ((tag & 7) != 2 || v > (uint64_t)(message->end - message->at)) {
        return bad;
    }
    struct span content = {message->at, message->at + v};
    message->at = content.end;
    if (field == BLOCK_PLACE_TABLE) {
        return add_place(d, &content);
    }
    if (field == BLOCK_SHAPE_TABLE) {
        return add_shape(d, &content);
    }
    struct span *column = column_of(d, field);
    if (column != NULL) {
        *column = content;
    }
    return NULL;
}

const char *block_decoder_start(struct block_decoder *d, const uint8_t *message, size_t size)
{
    struct span rest = {message, message + size};
    d->left = d->shape_count = d->place_count = 0;
    d->first_index = d->time = 0;
    d->place = d->shape = d->time_column = d->data_size = d->data = d->extra_size = d->extra =
        (struct span){0};
    memset(d->column, 0, sizeof d->column);
    if (d->guessing) {
        memset(&d->guesses, 0, sizeof d->guesses);
        d->guessing = false;
    }
    while (rest.at < rest.end) {
        const char *why = take_field(d, &rest);
        if (why != NULL) {
            d->left = 0;
            return why;
        }
    }
    d->index = d->first_index;
    return NULL;
}

uint64_t block_decoder_first_index(const struct block_decoder *d)
{
    return d->first_index;
}

uint32_t block_decoder_left(const struct block_decoder *d)
{
    return d->left;
}

struct block_times block_decoder_times(const struct block_decoder *d)
{
    struct span column = d->time_column;
    struct block_times times = {.earliest = UINT64_MAX, .ordered = true};
    uint64_t t = d->time, difference = 0;
    if (column.at == NULL) { /* all at once */
        return (struct block_times){t, t, t, t, true};
    }
    for (uint32_t i = 0; i < d->left && span_varint(&column, &difference); i++) {
        t += unzigzag(difference);
        times.first = i == 0 ? t : times.first;
        times.ordered &= i == 0 || t >= times.last;
        times.last = t;
        times.earliest = t < times.earliest ? t : times.earliest;
        times.latest = t > times.latest ? t : times.latest;
    }
    return times;
}

void block_decoder_drop(struct block_decoder *d)
{
    d->left = 0;
}

/* The next entry of a column; one that is absent is all zeros. */
static inline bool next(struct span *column, uint64_t *v)
{
    if (column->at == NULL) {
        *v = 0;
        return true;
    }
    return span_varint(column, v);
}

static bool take_payload(struct span *sizes, struct span *content, const void **data,
                         uint32_t *size)
{
    uint64_t n;
    if (!next(sizes, &n) || n > (uint64_t)(content->end - content->at)) {
        return false;
    }
    *size = (uint32_t)n;
    *data = NULL;
    if (n > 0) {
        *data = content->at;
        content->at += n;
    }
    return true;
}

static inline bool take_guessed(struct block_decoder *d, uint32_t shape, uint32_t place)
{
    uint64_t *last = &d->shapes[shape].event.value;
    const struct guess guess = guess_find(&d->guesses, shape, place);
    uint64_t entry;
    if (!next(&d->column[COLUMN_GUESSED], &entry)) {
        return false;
    }
    *last += unzigzag(guess_unpack(entry, zigzag(*guess.after - *last)));
    *guess.before = *guess.after = *last;
    return true;
}

static inline bool take_event(struct block_decoder *d, struct nocap_event *event)
{
    uint64_t place, shape, difference;
    if (!next(&d->place, &place) || place >= d->place_count || !next(&d->shape, &shape) ||
        shape >= d->shape_count || !next(&d->time_column, &difference)) {
        return false;
    }
    struct shape *s = &d->shapes[shape];
    for (uint32_t left = s->columns & SLOT_COLUMNS; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        uint64_t v;
        if (!next(&d->column[slot], &v)) {
            return false;
        }
        s->event.slot[slot] += unzigzag(v);
    }
    if (s->columns >> COLUMN_GUESSED != 0 && !take_guessed(d, (uint32_t)shape, (uint32_t)place)) {
        return false;
    }
    *event = s->event;
    const struct place *p = &d->places[place];
    event->src = p->src;
    event->chip = p->chip;
    event->at = p->at;
    event->to = p->to;
    event->index = d->index++;
    event->t = d->time += unzigzag(difference);
    const void *data = NULL;
    if (d->data_size.at != NULL) {
        if (!take_payload(&d->data_size, &d->data, &data, &event->data_size)) {
            return false;
        }
        event->data = data;
    }
    if (d->extra_size.at != NULL) {
        if (!take_payload(&d->extra_size, &d->extra, &data, &event->extra_size)) {
            return false;
        }
        event->extra = data;
    }
    return true;
}

static bool used_up(const struct block_decoder *d)
{
    bool empty = d->place.at == d->place.end && d->shape.at == d->shape.end &&
                 d->data.at == d->data.end && d->time_column.at == d->time_column.end &&
                 d->data_size.at == d->data_size.end && d->extra_size.at == d->extra_size.end &&
                 d->extra.at == d->extra.end;
    for (unsigned i = 0; i < SHAPE_COLUMNS; i++) {
        empty = empty && d->column[i].at == d->column[i].end;
    }
    return empty;
}

size_t block_decoder_take(struct block_decoder *d, struct nocap_event *events, size_t max,
                          const char **why)
{
    size_t count = d->left < max ? d->left : max;
    *why = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!take_event(d, &events[i])) {
            *why = "a column of the block does not decode";
            d->left = 0;
            return i;
        }
    }
    d->left -= (uint32_t)count;
    if (d->left == 0 && !used_up(d)) {
        *why = "the block's columns hold more than its events";
    }
    return count;
}
