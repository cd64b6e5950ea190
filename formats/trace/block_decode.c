/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/block_decoder.h"

#include <stdlib.h>

/* Index and time, which stand first in an event, are no part of a shape. */
enum { AFTER_TIME = offsetof(struct nocap_event, has) };

/* Entries of the columns that every event takes from are decoded so many at a time. */
enum { CHUNK = 256 };

const char block_no_memory[] = "out of memory";

struct block_decoder *block_decoder_new(void)
{
    return calloc(1, sizeof(struct block_decoder));
}

void block_decoder_free(struct block_decoder *d)
{
    if (d == NULL) {
        return;
    }
    free(d->shapes);
    free(d->places);
    free(d->t);
    by_place_free(&d->by_place);
    free(d);
}

static struct span *column_of(struct block_decoder *d, uint64_t field)
{
    if (field >= BLOCK_COLUMN_0 && field < BLOCK_COLUMN_0 + SHAPE_COLUMNS) {
        return &d->column[field - BLOCK_COLUMN_0];
    }
    switch (field) {
    case BLOCK_PLACE: return &d->place;
    case BLOCK_SHAPE: return &d->shape;
    case BLOCK_SHAPE_BY_PLACE: return &d->shape_by_place;
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
    struct wire_field f;
    if (!span_field(message, &f)) {
        return "the block is no protobuf message";
    }
    if (f.type == WIRE_VARINT && f.number == BLOCK_FIRST_INDEX) {
        d->first_index = f.v;
    } else if (f.type == WIRE_VARINT && f.number == BLOCK_COUNT) {
        if (f.v > NOCAP_BLOCK_EVENTS_MAX) {
            return "the block claims more events than a block may have";
        }
        d->left = (uint32_t)f.v;
    } else if (f.type == WIRE_LENGTH && f.number == BLOCK_PLACE_TABLE) {
        return block_decoder_add_place(d, f.content);
    } else if (f.type == WIRE_LENGTH && f.number == BLOCK_SHAPE_TABLE) {
        return block_decoder_add_shape(d, f.content);
    } else if (f.type == WIRE_LENGTH) {
        struct span *column = column_of(d, f.number);
        if (column != NULL) {
            *column = f.content;
        }
    }
    return NULL;
}

/* The times of all events are decoded at once: the reader compares them with the footer. */
static bool take_times(struct block_decoder *d)
{
    uint64_t t = 0;
    if (d->left > d->t_capacity) {
        free(d->t);
        d->t = malloc(d->left * sizeof *d->t);
        d->t_capacity = d->t != NULL ? d->left : 0;
    }
    if (d->left > d->t_capacity) {
        return false;
    }
    uint64_t *const all = d->t;
    const size_t count = column_take(&d->time_column, all, d->left);
    struct block_times times = {.ordered = true};
    for (size_t i = 0; i < count; i++) {
        const uint64_t before = t;
        all[i] = t += unzigzag(all[i]);
        if (t < before) {
            times.ordered = false;
            times.earliest = t < times.earliest ? t : times.earliest;
        } else if (i == 0) {
            times.first = times.earliest = times.latest = t;
        } else {
            times.latest = t > times.latest ? t : times.latest;
        }
    }
    times.last = t;
    d->times = times;
    d->timed = (uint32_t)count;
    return true;
}

/* From how many events each place has to where they stand. */
static const char *take_by_place(struct block_decoder *d)
{
    uint64_t events = 0;
    for (uint32_t i = 0; i < d->place_count; i++) {
        struct place *p = &d->places[i];
        p->next = (uint32_t)events;
        events += p->end;
        p->end = (uint32_t)events;
    }
    if (d->shape.at != NULL || events != d->left) {
        return "the block's shapes by place do not fit its events";
    }
    return by_place_unpack(&d->by_place, d->shape_by_place, d->left);
}

const char *block_decoder_start(struct block_decoder *d, const uint8_t *message, size_t size)
{
    struct span rest = {message, message + size};
    d->left = d->shape_count = d->place_count = 0;
    d->taken = 0;
    d->first_index = 0;
    d->place = d->shape = d->shape_by_place = d->time_column = (struct span){0};
    d->data_size = d->data = d->extra_size = d->extra = (struct span){0};
    memset(d->column, 0, sizeof d->column);
    if (d->guessing) {
        memset(&d->guesses, 0, sizeof d->guesses);
        d->guessing = false;
    }
    const char *why = NULL;
    while (why == NULL && rest.at < rest.end) {
        why = take_field(d, &rest);
    }
    if (why == NULL && d->shape_by_place.at != NULL) {
        why = take_by_place(d);
    }
    if (why == NULL && !take_times(d)) {
        why = block_no_memory;
    }
    if (why != NULL) {
        d->left = 0;
    }
    return why;
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
    return d->times;
}

void block_decoder_drop(struct block_decoder *d)
{
    d->left = 0;
}

static __attribute__((noinline)) bool next_long(struct span *column, uint64_t *v)
{
    *v = 0;
    return column->at == NULL || span_varint(column, v);
}

/* The next entry of a column; one that is absent is all zeros. */
static inline bool next(struct span *column, uint64_t *v)
{
    if (column->at < column->end && *column->at < 0x80) {
        *v = *column->at++;
        return true;
    }
    return next_long(column, v);
}

static inline bool take_guessed(struct block_decoder *d, uint64_t *last, uint64_t *to,
                                uint32_t shape, uint32_t place)
{
    uint64_t entry;
    if (!next(&d->column[COLUMN_GUESSED], &entry)) {
        return false;
    }
    const struct guess guess = guess_find(&d->guesses, shape, place);
    uint64_t v = *guess.after;
    if (entry != 0) {
        *guess.after = v = *last + unzigzag(guess_unpack(entry, zigzag(v - *last)));
    }
    *to = *last = *guess.before = v;
    return true;
}

/* The differences of a shape's columns, added to its event, of which `event` is a copy. */
static __attribute__((noinline)) bool take_slots(struct block_decoder *d, struct shape *s,
                                                 struct nocap_event *event)
{
    for (uint32_t left = s->columns & SLOT_COLUMNS; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        uint64_t v;
        if (!next(&d->column[slot], &v)) {
            return false;
        }
        event->slot[slot] = s->event.slot[slot] += unzigzag(v);
    }
    return true;
}

static inline bool take_columns(struct block_decoder *d, struct shape *s, struct nocap_event *event,
                                uint32_t shape, uint32_t place)
{
    if ((s->columns & SLOT_COLUMNS) != 0 && !take_slots(d, s, event)) {
        return false;
    }
    return s->columns >> COLUMN_GUESSED == 0 ||
           take_guessed(d, &s->event.value, &event->value, shape, place);
}

/* What every event takes: an entry of each of these columns. */
struct chunk {
    uint64_t place[CHUNK], shape[CHUNK], data_size[CHUNK], extra_size[CHUNK];
};

static size_t take_shapes(struct block_decoder *d, struct chunk *c, size_t count)
{
    if (d->shape_by_place.at == NULL) {
        return column_take(&d->shape, c->shape, count);
    }
    struct place *const places = d->places;
    const uint16_t *const shapes = d->by_place.shape;
    const uint32_t place_count = d->place_count;
    size_t i = 0;
    for (; i < count && c->place[i] < place_count; i++) {
        struct place *p = &places[c->place[i]];
        if (p->next >= p->end) {
            break;
        }
        c->shape[i] = shapes[p->next++];
    }
    return i;
}

static size_t take_chunk(struct block_decoder *d, struct chunk *c, size_t count)
{
    count = count < d->timed - d->taken ? count : d->timed - d->taken;
    count = column_take(&d->place, c->place, count);
    count = take_shapes(d, c, count);
    count = column_take(&d->data_size, c->data_size, count);
    return d->extra_size.at != NULL ? column_take(&d->extra_size, c->extra_size, count) : count;
}

static inline bool take_payload(struct span *content, uint64_t size, const void **data)
{
    if (size > (uint64_t)(content->end - content->at)) {
        return false;
    }
    *data = content->at;
    content->at += size;
    return true;
}

/* Those of the events that have any; how many are whole. */
static size_t take_extras(struct block_decoder *d, const struct chunk *c,
                          struct nocap_event *events, size_t count)
{
    for (size_t i = 0; i < count && d->extra_size.at != NULL; i++) {
        const void *extra;
        if (c->extra_size[i] == 0) {
            continue;
        }
        if (!take_payload(&d->extra, c->extra_size[i], &extra)) {
            return i;
        }
        events[i].extra = extra;
        events[i].extra_size = (uint32_t)c->extra_size[i];
    }
    return count;
}

/* At most CHUNK events; fewer than `count` if the next one does not decode. */
static size_t take_events(struct block_decoder *d, struct nocap_event *events, size_t count)
{
    struct chunk c;
    struct shape *const shapes = d->shapes;
    const struct place *const places = d->places;
    const uint64_t shape_count = d->shape_count, place_count = d->place_count;
    const uint64_t first = d->first_index + d->taken;
    const uint64_t *const t = d->t + d->taken;
    size_t i = 0;
    count = take_chunk(d, &c, count);
    for (; i < count; i++) {
        const uint64_t place = c.place[i], shape = c.shape[i];
        struct nocap_event *event = &events[i];
        if (place >= place_count || shape >= shape_count) {
            break;
        }
        /* Copied before it changes: a wide load waits for a narrow store to its bytes. */
        memcpy((uint8_t *)event + AFTER_TIME, (const uint8_t *)&shapes[shape].event + AFTER_TIME,
               sizeof *event - AFTER_TIME);
        if (!take_columns(d, &shapes[shape], event, (uint32_t)shape, (uint32_t)place)) {
            break;
        }
        memcpy(&event->src, &places[place], PLACE_SIZE);
        event->index = first + i;
        event->t = t[i];
        if (c.data_size[i] != 0) {
            const void *data;
            if (!take_payload(&d->data, c.data_size[i], &data)) {
                break;
            }
            event->data = data;
            event->data_size = (uint32_t)c.data_size[i];
        }
    }
    d->taken += (uint32_t)i;
    return take_extras(d, &c, events, i);
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
    size_t count = d->left < max ? d->left : max, taken = 0;
    *why = NULL;
    while (taken < count) {
        size_t n = count - taken < CHUNK ? count - taken : CHUNK;
        size_t whole = take_events(d, events + taken, n);
        taken += whole;
        if (whole < n) {
            *why = "a column of the block does not decode";
            d->left = 0;
            return taken;
        }
    }
    d->left -= (uint32_t)count;
    if (d->left == 0 && !used_up(d)) {
        *why = "the block's columns hold more than its events";
    }
    return count;
}
