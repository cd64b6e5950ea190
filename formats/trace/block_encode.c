/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/block.h"

#include <stdlib.h>

#include "formats/trace/block_index.h"
#include "formats/trace/by_place.h"
#include "formats/trace/nocap.pb-c.h"
#include "formats/trace/wire.h"

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
    uint32_t next;               /* what its agent did after it the last time */
    uint32_t indexed;            /* NONE: an open shape, which is found through its family */
    uint64_t first[NOCAP_SLOTS]; /* as in the table */
    uint64_t last[NOCAP_SLOTS];  /* of the event before */
};

/* Each gets a value of every event; those of slots, if the event's shape says so. */
enum column { COLUMN_PLACE, COLUMN_SHAPE, COLUMN_TIME, COLUMN_SLOT };
enum { COLUMN_COUNT = COLUMN_SLOT + SHAPE_COLUMNS };

/* Of the event before of the same agent: what comes next is guessed agent by agent. Those that
 * share a number spoil each other's guess. */
struct recent {
    uint32_t place, shape;
};
enum { AGENTS = 1024 };
static inline uint32_t agent_number(const struct nocap_event *event)
{
    return (event->at.x + 16u * event->at.y + 31u * event->src + 221u * event->by) % AGENTS;
}

struct place {
    uint64_t source;  /* src, chip, x, y; src lowest */
    uint32_t to;      /* x2, y2 */
    uint32_t indexed; /* where it stands in its index */
};

struct block_encoder {
    struct block_summary so_far;
    uint64_t time; /* of the event before */
    struct place *places;
    uint32_t place_count;
    struct family *families;
    uint32_t family_count;
    uint32_t recent[NOCAP_EV_COUNT]; /* the family of the last event of each kind */
    struct shape *shapes;
    uint32_t shape_count;
    struct recent recent_of[AGENTS];
    uint32_t *place_index, *family_index, *shape_index;
    struct guesses guesses;
    struct by_place_event *events; /* as many as so_far counts */
    size_t events_size;            /* room for them, bytes */
    uint32_t *events_at;           /* how many of them are at each place */
    struct by_place by_place;
    struct bytes column[COLUMN_COUNT];  /* that of shapes is made when the block ends */
    struct bytes data_size, extra_size; /* empty as long as all are 0, as in most blocks */
    struct bytes data, extra;
};

enum { ROOM_EVENTS = 1024 }; /* columns get room for so many at a time */
enum { PART_SIZE = 4096 };   /* less is no part of its own */

struct block_encoder *block_encoder_new(void)
{
    struct block_encoder *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    e->places = calloc(BLOCK_PLACES_MAX, sizeof *e->places);
    e->events_at = calloc(BLOCK_PLACES_MAX, sizeof *e->events_at);
    e->families = malloc(BLOCK_SHAPES_MAX * sizeof *e->families);
    e->shapes = calloc(BLOCK_SHAPES_MAX, sizeof *e->shapes);
    bool ok = index_init(&e->place_index);
    ok &= index_init(&e->family_index);
    ok &= index_init(&e->shape_index);
    if (!ok || e->places == NULL || e->events_at == NULL || e->families == NULL ||
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
    free(e->events);
    free(e->events_at);
    by_place_free(&e->by_place);
    for (unsigned i = 0; i < COLUMN_COUNT; i++) {
        free(e->column[i].data);
    }
    free(e->data_size.data);
    free(e->extra_size.data);
    free(e->data.data);
    free(e->extra.data);
    free(e);
}

void slot_use_of(uint64_t has, struct slot_use *use)
{
    use->values = use->all = 0;
    for (; has != 0; has &= has - 1) {
        const struct nocap_field_info *field = &nocap_fields[__builtin_ctzll(has)];
        if (field->home == NOCAP_HOME_COLUMN || field->home == NOCAP_HOME_VALUES) {
            uint32_t bit =
                1u << ((field->offset - offsetof(struct nocap_event, slot)) / sizeof(uint64_t));
            use->all |= bit;
            use->values |= field->home == NOCAP_HOME_VALUES ? bit : 0;
        }
    }
}

static inline bool place_fits(const struct place *p, const struct place *q)
{
    return p->source == q->source && p->to == q->to;
}

static uint32_t search_place(struct block_encoder *e, const struct place *p)
{
    uint32_t i = index_start(mix(mix(0, p->source), p->to));
    for (; e->place_index[i] != NONE; i = index_next(i)) {
        if (place_fits(p, &e->places[e->place_index[i]])) {
            return e->place_index[i];
        }
    }
    e->places[e->place_count] = *p;
    e->places[e->place_count].indexed = i;
    return e->place_index[i] = e->place_count++;
}

static inline uint32_t find_place(struct block_encoder *e, const struct nocap_event *event,
                                  struct recent *recent)
{
    const struct place p = {
        .source = event->src | (uint64_t)event->chip << 32 | (uint64_t)event->at.x << 48 |
                  (uint64_t)event->at.y << 56,
        .to = event->to.x | (uint32_t)event->to.y << 8,
    };
    if (recent->place >= e->place_count || !place_fits(&p, &e->places[recent->place])) {
        recent->place = search_place(e, &p);
    }
    return recent->place;
}

static inline bool family_fits(const struct family *f, const struct nocap_event *event)
{
    const uint8_t *what = (const uint8_t *)event + offsetof(struct nocap_event, kind);
    return f->has == event->has && memcmp(f->what, what, sizeof f->what) == 0;
}

static bool is_foreign(const struct nocap_event *event)
{
    return event->kind >= NOCAP_EV_COUNT || event->op >= NOCAP_OP_COUNT ||
           (event->has & ~nocap_kind_fields((enum nocap_kind)event->kind)) != 0;
}

static uint32_t search_family(struct block_encoder *e, const struct nocap_event *event)
{
    if (is_foreign(event)) {
        return NONE;
    }
    const uint8_t *what = (const uint8_t *)event + offsetof(struct nocap_event, kind);
    uint64_t h = mix(1, event->has);
    for (size_t k = 0; k < sizeof e->families->what; k++) {
        h = mix(h, what[k]);
    }
    uint32_t i = index_start(h);
    for (; e->family_index[i] != NONE; i = index_next(i)) {
        if (family_fits(&e->families[e->family_index[i]], event)) {
            return e->recent[event->kind] = e->family_index[i];
        }
    }
    struct family *f = &e->families[e->family_count];
    struct slot_use use;
    slot_use_of(event->has, &use);
    *f = (struct family){.has = event->has,
                         .values = use.values,
                         .literal = use.all & ~use.values,
                         .open_shape = NONE,
                         .indexed = i};
    memcpy(f->what, what, sizeof f->what);
    e->family_index[i] = e->recent[event->kind] = e->family_count;
    return e->family_count++;
}

/* NONE: there is no such event. */
static inline uint32_t find_family(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t recent = event->kind < NOCAP_EV_COUNT ? e->recent[event->kind] : NONE;
    return recent < e->family_count && family_fits(&e->families[recent], event)
               ? recent
               : search_family(e, event);
}

/* `value` is guessed wherever it is no constant. */
static uint32_t columns_of(uint32_t slots)
{
    const uint32_t value = 1u << SLOT_OF_VALUE;
    return (slots & value) != 0 ? (slots & ~value) | 1u << COLUMN_GUESSED : slots;
}

static uint32_t new_shape(struct block_encoder *e, const struct nocap_event *event, uint32_t family,
                          uint32_t literal)
{
    struct family *f = &e->families[family];
    struct shape *s = &e->shapes[e->shape_count];
    *s = (struct shape){.family = family,
                        .columns = columns_of((f->values | f->literal) & ~literal),
                        .indexed = NONE};
    for (uint32_t left = literal; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        s->first[slot] = event->slot[slot];
    }
    f->shapes++;
    return e->shape_count++;
}

static inline bool shape_fits(const struct shape *s, uint32_t family, uint32_t literal,
                              const struct nocap_event *event)
{
    uint64_t differs = s->family ^ family;
    for (uint32_t left = literal; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        differs |= s->first[slot] ^ event->slot[slot];
    }
    return differs == 0;
}

/* NONE: there is no such event. */
static uint32_t search_shape(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t family = find_family(e, event);
    if (family == NONE) {
        return NONE;
    }
    struct family *f = &e->families[family];
    uint64_t h = mix(2, family);
    for (uint32_t left = f->literal; left != 0; left &= left - 1) {
        h = mix(h, event->slot[__builtin_ctz(left)]);
    }
    uint32_t i = index_start(h);
    for (; e->shape_index[i] != NONE; i = index_next(i)) {
        if (shape_fits(&e->shapes[e->shape_index[i]], family, f->literal, event)) {
            return e->shape_index[i];
        }
    }
    if (f->shapes >= SHAPES_PER_FAMILY) {
        if (f->open_shape == NONE) {
            f->open_shape = new_shape(e, event, family, 0);
        }
        return f->open_shape;
    }
    uint32_t shape = new_shape(e, event, family, f->literal);
    e->shapes[shape].indexed = i;
    return e->shape_index[i] = shape;
}

static inline uint32_t find_shape(struct block_encoder *e, const struct nocap_event *event,
                                  struct recent *recent)
{
    uint32_t *next = &e->shapes[recent->shape].next;
    if (*next < e->shape_count) {
        const struct shape *s = &e->shapes[*next];
        const struct family *f = &e->families[s->family];
        if (family_fits(f, event) && shape_fits(s, s->family, f->literal, event)) {
            return recent->shape = *next;
        }
    }
    uint32_t shape = search_shape(e, event);
    if (shape != NONE) {
        *next = recent->shape = shape;
    }
    return shape;
}

static bool make_room(struct block_encoder *e)
{
    const size_t used = e->so_far.count * sizeof *e->events;
    const size_t more = ROOM_EVENTS * sizeof *e->events;
    bool ok =
        e->events_size - used >= more || buffer_widen(&e->events, &e->events_size, used, more);
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

static bool add_payload(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t before = e->so_far.count;
    return add_size(&e->data_size, before, event->data_size) &&
           bytes_append(&e->data, event->data, event->data_size) &&
           add_size(&e->extra_size, before, event->extra_size) &&
           bytes_append(&e->extra, event->extra, event->extra_size);
}

static inline void add_guessed(struct block_encoder *e, uint32_t shape, uint32_t place,
                               uint64_t value)
{
    uint64_t *last = &e->shapes[shape].last[SLOT_OF_VALUE];
    const struct guess guess = guess_find(&e->guesses, shape, place);
    bytes_varint(&e->column[COLUMN_SLOT + COLUMN_GUESSED],
                 guess_pack(zigzag(value - *last), zigzag(*guess.after - *last)));
    *guess.before = *guess.after = *last = value;
}

enum block_state block_encoder_add(struct block_encoder *e, const struct nocap_event *event)
{
    struct recent *recent = &e->recent_of[agent_number(event)];
    uint32_t shape = find_shape(e, event, recent);
    if (shape == NONE) {
        return BLOCK_NO_EVENT;
    }
    if (e->so_far.count % ROOM_EVENTS == 0 && !make_room(e)) {
        return BLOCK_NO_MEMORY;
    }
    if ((event->data_size | event->extra_size | e->data_size.size | e->extra_size.size) != 0 &&
        !add_payload(e, event)) {
        return BLOCK_NO_MEMORY;
    }
    struct shape *s = &e->shapes[shape];
    const uint32_t place = find_place(e, event, recent);
    e->events[e->so_far.count] = (struct by_place_event){(uint16_t)place, (uint16_t)shape};
    e->events_at[place]++;
    bytes_varint(&e->column[COLUMN_PLACE], place);
    bytes_varint(&e->column[COLUMN_TIME], zigzag(event->t - e->time));
    for (uint32_t left = s->columns & SLOT_COLUMNS; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        bytes_varint(&e->column[COLUMN_SLOT + slot], zigzag(event->slot[slot] - s->last[slot]));
        s->last[slot] = event->slot[slot];
    }
    if (s->columns >> COLUMN_GUESSED != 0) {
        add_guessed(e, shape, place, event->value);
    }
    struct block_summary *so_far = &e->so_far;
    if (so_far->count == 0) {
        *so_far = (struct block_summary){0, event->t, event->t, event->t, event->t, true};
        e->time = event->t;
    }
    so_far->ordered &= event->t >= e->time;
    so_far->earliest = event->t < so_far->earliest ? event->t : so_far->earliest;
    so_far->latest = event->t > so_far->latest ? event->t : so_far->latest;
    so_far->last = e->time = event->t;
    so_far->count++;
    bool full = e->shape_count >= BLOCK_SHAPES_MAX - 1 || e->place_count >= BLOCK_PLACES_MAX - 1 ||
                e->data.size + e->extra.size >= BLOCK_PAYLOAD_TARGET;
    return full ? BLOCK_FULL : BLOCK_OPEN;
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
        e->events_at[i] = 0;
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
    e->time = 0;
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
        ok = put_place(out, &e->places[i], e->events_at[i]);
    }
    for (uint32_t i = 0; ok && i < e->shape_count; i++) {
        ok = put_shape(out, &e->families[e->shapes[i].family], &e->shapes[i]);
    }
    end_part(parts, out->size);
    ok = ok && by_place_pack(&e->by_place, e->events, e->so_far.count, e->events_at, e->place_count,
                             &e->column[COLUMN_SHAPE]);
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
