/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "formats/trace/block_encoder.h"
#include "formats/trace/block_index.h"
#include "formats/trace/nocap.pb-c.h"
#include "formats/trace/trace.h"
#include "formats/trace/wire.h"

enum { ROOM_EVENTS = 1024 }; /* columns get room for so many at a time */
enum { PART_SIZE = 4096 };   /* less is no part of its own */

struct block_encoder *block_encoder_new(void)
{
    struct block_encoder *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    e->places = calloc(BLOCK_PLACES_MAX, sizeof *e->places);
    e->at_place = calloc(BLOCK_PLACES_MAX, sizeof *e->at_place);
    e->families = malloc(BLOCK_SHAPES_MAX * sizeof *e->families);
    e->shapes = calloc(BLOCK_SHAPES_MAX, sizeof *e->shapes);
    bool ok = index_init(&e->place_index);
    ok &= index_init(&e->family_index);
    ok &= index_init(&e->shape_index);
    if (!ok || e->places == NULL || e->at_place == NULL || e->families == NULL ||
        e->shapes == NULL) {
        block_encoder_free(e);
        return NULL;
    }
    return e;
}

void block_encoder_free(struct block_encoder *e)
{
    if (e == NULL) {
        return;
    }
    free(e->places);
    free(e->families);
    free(e->shapes);
    free(e->place_index);
    free(e->family_index);
    free(e->shape_index);
    free(e->at_place);
    free(e->shape_runs.run);
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        free(e->column[i].data);
    }
    free(e->data_size.data);
    free(e->extra_size.data);
    free(e->data.data);
    free(e->extra.data);
    free(e);
}

static inline uint32_t to_of(const struct nocap_event *event)
{
    uint16_t to;
    memcpy(&to, &event->to, sizeof to);
    return to;
}

static inline uint32_t find_place(struct block_encoder *e, const struct nocap_event *event,
                                  uint64_t source, struct recent *recent)
{
    const uint32_t to = to_of(event);
    if (__builtin_expect(recent->source != source || recent->to != (to | RECENT_IS), 0)) {
        const struct place p = {.source = source, .to = to};
        recent->place = block_place(e, &p);
        recent->source = source;
        recent->to = to | RECENT_IS;
    }
    return recent->place;
}

static inline struct shape *find_shape(struct block_encoder *e, const struct nocap_event *event,
                                       struct recent *recent)
{
    struct shape *s = recent->shape != NULL ? recent->shape->next : NULL;
    if (s != NULL) {
        const struct family *f = &e->families[s->family];
        if (family_fits(f, event) && shape_fits(s, s->family, f->literal, event)) {
            return recent->shape = s;
        }
    }
    s = block_shape(e, event);
    if (s != NULL) {
        if (recent->shape != NULL) {
            recent->shape->next = s;
        }
        recent->shape = s;
    }
    return s;
}

static bool make_room(struct block_encoder *e)
{
    bool ok = shape_runs_reserve(&e->shape_runs, e->so_far.count == 0, ROOM_EVENTS);
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        ok &= bytes_reserve(&e->column[i], (size_t)ROOM_EVENTS * VARINT_MAX);
    }
    return ok;
}

/* Puts in the zeros of the events `before` with the first value that is none. */
static bool add_size(struct bytes *sizes, uint32_t before, uint32_t size)
{
    if (sizes->size == 0 && size == 0) {
        return true;
    }
    if (!bytes_reserve(sizes, (sizes->size == 0 ? before : 0) + VARINT_MAX)) {
        return false;
    }
    if (sizes->size == 0) {
        memset(sizes->data, 0, before);
        sizes->size = before;
    }
    bytes_varint(sizes, size);
    return true;
}

static __attribute__((noinline)) enum block_state add_payload(struct block_encoder *e,
                                                              const struct nocap_event *event)
{
    uint32_t before = e->so_far.count;
    if (event->data_size > NOCAP_PAYLOAD_MAX || event->extra_size > NOCAP_PAYLOAD_MAX) {
        return BLOCK_TOO_LONG;
    }
    e->has_payload = true;
    bool ok = add_size(&e->data_size, before, event->data_size) &&
              bytes_append(&e->data, event->data, event->data_size) &&
              add_size(&e->extra_size, before, event->extra_size) &&
              bytes_append(&e->extra, event->extra, event->extra_size);
    e->full |= e->data.size + e->extra.size >= BLOCK_PAYLOAD_TARGET;
    return ok ? BLOCK_OPEN : BLOCK_NO_MEMORY;
}

/* The entry of the column. */
static inline uint64_t guess_value(struct block_encoder *e, struct shape *s, uint32_t place,
                                   uint64_t value)
{
    uint64_t *last = &s->last[SLOT_OF_VALUE];
    const struct guess guess = guess_find(&e->guesses, s->number, place);
    const uint64_t entry = guess_pack(zigzag(value - *last), zigzag(*guess.after - *last));
    *guess.before = *guess.after = *last = value;
    return entry;
}

/* Time goes on, but for sources that were not merged. */
static inline void add_time(struct block_encoder *e, uint64_t t)
{
    struct block_summary *so_far = &e->so_far;
    bytes_varint(&e->column[COLUMN_TIME], zigzag(t - so_far->last));
    if (__builtin_expect(t < so_far->latest, 0)) {
        so_far->ordered &= t >= so_far->last;
        so_far->earliest = t < so_far->earliest ? t : so_far->earliest;
    } else {
        so_far->latest = t;
    }
    so_far->last = t;
    so_far->count++;
}

enum block_state block_encoder_add(struct block_encoder *e, const struct nocap_event *event)
{
    const uint64_t source = access_source(event);
    struct recent *recent = &e->recent_of[agent_number(source, event->by)];
    struct shape *s = find_shape(e, event, recent);
    if (s == NULL) {
        return BLOCK_NO_EVENT;
    }
    const uint32_t count = e->so_far.count;
    if (count % ROOM_EVENTS == 0 && !make_room(e)) {
        return BLOCK_NO_MEMORY;
    }
    if ((event->data_size | event->extra_size | e->has_payload) != 0) {
        const enum block_state state = add_payload(e, event);
        if (state != BLOCK_OPEN) {
            return state;
        }
    }
    const uint32_t place = find_place(e, event, source, recent);
    shape_runs_put(&e->shape_runs, &e->at_place[place], s->number);
    bytes_varint(&e->column[COLUMN_PLACE], place);
    for (uint32_t left = s->columns & SLOT_COLUMNS; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        bytes_varint(&e->column[COLUMN_SLOT + slot], zigzag(event->slot[slot] - s->last[slot]));
        s->last[slot] = event->slot[slot];
    }
    if (s->columns >> COLUMN_GUESSED != 0) {
        bytes_varint(&e->column[COLUMN_SLOT + COLUMN_GUESSED],
                     guess_value(e, s, place, event->value));
    }
    if (count == 0) {
        e->so_far = (struct block_summary){0, event->t, 0, event->t, event->t, true};
    }
    add_time(e, event->t);
    e->last_family = s->family;
    return e->full ? BLOCK_FULL : BLOCK_OPEN;
}

/* Of events without payload, in a block that has one. */
static inline void add_zeros(struct bytes *sizes, size_t count)
{
    if (sizes->size != 0) {
        memset(sizes->data + sizes->size, 0, count);
        sizes->size += count;
    }
}

static inline bool reserve_sizes(struct block_encoder *e, size_t count)
{
    return !e->has_payload ||
           (bytes_reserve(&e->data_size, count) && bytes_reserve(&e->extra_size, count));
}

/* Whether the row is what its agent did next the time before. */
static inline bool is_predicted(const struct shape *s, const struct recent *recent,
                                const struct access_row *r, uint64_t size)
{
    return s->columns == 1u << COLUMN_GUESSED && s->first[SLOT_OF_ADDR] == r->addr &&
           s->first[SLOT_OF_SIZE] == size && recent->source == r->source &&
           recent->to == (r->to | RECENT_IS);
}

/* How many of the rows, from the first on, are as predicted, so that nothing is to be looked up:
 * they are added, with what is the same for all of them kept at hand. */
static size_t add_predicted(struct block_encoder *e, const struct nocap_event *like,
                            const struct access_row *rows, size_t n)
{
    struct block_summary *so_far = &e->so_far;
    const uint32_t family = e->last_family, count = so_far->count;
    const size_t room = (ROOM_EVENTS - count % ROOM_EVENTS) % ROOM_EVENTS;
    const size_t end = n < room ? n : room;
    if (end == 0 || !family_fits(&e->families[family], like) ||
        e->families[family].literal != LITERAL_OF_ACCESS || so_far->last != so_far->latest ||
        !reserve_sizes(e, end)) {
        return 0;
    }
    struct bytes *const column = e->column;
    struct bytes *const values_column = &column[COLUMN_SLOT + COLUMN_GUESSED];
    uint8_t *places = column[COLUMN_PLACE].data + column[COLUMN_PLACE].size;
    uint8_t *times = column[COLUMN_TIME].data + column[COLUMN_TIME].size;
    uint8_t *values = values_column->data + values_column->size;
    struct at_place *const at_place = e->at_place;
    const uint64_t size = like->size;
    const unsigned by = like->by;
    uint64_t before = so_far->last;
    size_t i = 0;
    for (; i < end; i++) {
        const struct access_row *r = &rows[i];
        struct recent *recent = &e->recent_of[agent_number(r->source, by)];
        struct shape *s = recent->shape != NULL ? recent->shape->next : NULL;
        if (s == NULL || s->family != family || !is_predicted(s, recent, r, size) ||
            r->t < before) {
            break;
        }
        const uint32_t place = recent->place;
        recent->shape = s;
        shape_runs_put(&e->shape_runs, &at_place[place], s->number);
        places = varint_put(places, place);
        values = varint_put(values, guess_value(e, s, place, r->value));
        times = varint_put(times, zigzag(r->t - before));
        before = r->t;
    }
    column[COLUMN_PLACE].size = (size_t)(places - column[COLUMN_PLACE].data);
    column[COLUMN_TIME].size = (size_t)(times - column[COLUMN_TIME].data);
    values_column->size = (size_t)(values - values_column->data);
    add_zeros(&e->data_size, i);
    add_zeros(&e->extra_size, i);
    so_far->last = so_far->latest = before;
    so_far->count = count + (uint32_t)i;
    return i;
}

size_t block_encoder_add_rows(struct block_encoder *e, struct nocap_event *like,
                              const struct access_row *rows, size_t n, enum block_state *state)
{
    enum { LOOKED_UP = 16 }; /* where nothing repeats, to try each time costs more than it saves */
    size_t i = 0;
    *state = BLOCK_OPEN;
    while (i < n && *state == BLOCK_OPEN) {
        const size_t predicted = add_predicted(e, like, rows + i, n - i);
        const size_t some = predicted != 0 ? 1 : LOOKED_UP;
        i += predicted;
        for (const size_t end = n - i < some ? n : i + some; i < end && *state == BLOCK_OPEN; i++) {
            access_row_put(&rows[i], like);
            *state = block_encoder_add(e, like);
        }
    }
    return *state > BLOCK_FULL ? i - 1 : i;
}

static bool put_place(struct bytes *out, const struct place *p, uint32_t events)
{
    Nocap__Place m = NOCAP__PLACE__INIT;
    m.has_src = (m.src = (uint32_t)p->source) != 0;
    m.has_chip = (m.chip = (uint16_t)(p->source >> 32)) != 0;
    m.has_x = (m.x = (uint8_t)(p->source >> 48)) != 0;
    m.has_y = (m.y = (uint8_t)(p->source >> 56)) != 0;
    m.has_x2 = (m.x2 = (uint8_t)p->to) != 0;
    m.has_y2 = (m.y2 = (uint8_t)(p->to >> 8)) != 0;
    m.has_events = true;
    m.events = events;
    return put_message(out, BLOCK_PLACE_TABLE, &m.base);
}

static bool put_shape(struct bytes *out, const struct family *f, struct shape *s)
{
    Nocap__Shape m = NOCAP__SHAPE__INIT;
    m.kind = f->what[0];
    m.has_op = (m.op = f->what[1]) != 0;
    m.has = f->has;
    m.has_columns = (m.columns = s->columns) != 0;
    m.slot = s->first;
    for (m.n_slot = NOCAP_SLOTS; m.n_slot > 0 && s->first[m.n_slot - 1] == 0; m.n_slot--) {
    }
    uint8_t small[SMALL_SIZE];
    memcpy(small, f->what + 2, SMALL_SIZE);
    m.small.data = small;
    for (m.small.len = SMALL_SIZE; m.small.len > 0 && small[m.small.len - 1] == 0; m.small.len--) {
    }
    m.has_small = m.small.len > 0;
    return put_message(out, BLOCK_SHAPE_TABLE, &m.base);
}

static void reset(struct block_encoder *e)
{
    for (uint32_t i = 0; i < e->place_count; i++) {
        e->place_index[e->places[i].indexed] = NONE;
        e->at_place[i] = (struct at_place){0};
    }
    for (uint32_t i = 0; i < e->family_count; i++) {
        e->family_index[e->families[i].indexed] = NONE;
    }
    for (uint32_t i = 0; i < e->shape_count; i++) {
        if (e->shapes[i].indexed != NONE) {
            e->shape_index[e->shapes[i].indexed] = NONE;
        }
    }
    e->so_far = (struct block_summary){0};
    e->place_count = e->family_count = e->shape_count = 0;
    memset(e->recent_of, 0, sizeof e->recent_of);
    e->full = e->has_payload = false;
    memset(&e->guesses, 0, sizeof e->guesses);
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        e->column[i].size = 0;
    }
    e->data_size.size = e->extra_size.size = e->data.size = e->extra.size = 0;
}

const struct block_summary *block_encoder_summary(const struct block_encoder *e)
{
    return &e->so_far;
}

static void end_part(struct block_parts *parts, size_t end)
{
    const size_t begin = parts->count == 0 ? 0 : parts->end[parts->count - 1];
    if (end - begin >= PART_SIZE) {
        parts->end[parts->count++] = end;
    }
}

static unsigned column_field(unsigned column)
{
    switch (column) {
    case COLUMN_PLACE: return BLOCK_PLACE;
    case COLUMN_SHAPE: return BLOCK_SHAPE_BY_PLACE;
    case COLUMN_TIME: return BLOCK_TIME;
    default: return BLOCK_COLUMN_0 + (column - COLUMN_SLOT);
    }
}

bool block_encoder_finish(struct block_encoder *e, uint64_t first_index, struct bytes *out,
                          struct block_parts *parts)
{
    parts->count = 0;
    bool ok = put_varint(out, BLOCK_FIRST_INDEX, first_index) &&
              put_varint(out, BLOCK_COUNT, e->so_far.count) &&
              put_varint(out, BLOCK_FIRST_TIME, e->so_far.earliest) &&
              put_varint(out, BLOCK_LAST_TIME, e->so_far.latest);
    for (uint32_t i = 0; ok && i < e->place_count; i++) {
        ok = put_place(out, &e->places[i], e->at_place[i].events) &&
             shape_runs_pack(&e->shape_runs, &e->at_place[i], &e->column[COLUMN_SHAPE]);
    }
    for (uint32_t i = 0; ok && i < e->shape_count; i++) {
        ok = put_shape(out, &e->families[e->shapes[i].family], &e->shapes[i]);
    }
    end_part(parts, out->size);
    for (unsigned i = 0; ok && i < COLUMN_COUNT; i++) {
        ok = put_column(out, column_field(i), &e->column[i]);
        end_part(parts, out->size);
    }
    ok = ok && put_column(out, BLOCK_DATA_SIZE, &e->data_size) &&
         put_column(out, BLOCK_EXTRA_SIZE, &e->extra_size);
    end_part(parts, out->size);
    ok = ok && (e->data.size == 0 || put_bytes(out, BLOCK_DATA, &e->data));
    end_part(parts, out->size);
    ok = ok && (e->extra.size == 0 || put_bytes(out, BLOCK_EXTRA, &e->extra));
    reset(e);
    return ok;
}
