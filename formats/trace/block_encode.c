#include "formats/trace/block.h"

#include "formats/trace/nocap.pb-c.h"

/* Events that agree in all but place, time and 64-bit values form a family. While a family has few
 * combinations of addresses, sizes and the like, each is a shape of its own and costs an event
 * nothing; beyond that they are columns. */
struct family {
    uint64_t has;
    uint32_t literal, values; /* slots */
    uint32_t shapes;
    uint32_t open_shape; /* the shape that has everything in columns, NONE while there is none */
    uint8_t what[SMALL_SIZE + 2];
};

struct shape {
    uint32_t family, columns;
    uint64_t first[NOCAP_SLOTS]; /* as in the table */
    uint64_t last[NOCAP_SLOTS];  /* of the event before */
};

#define NONE UINT32_MAX

/* Open addressing over indexes into a table. */
struct index {
    uint32_t *at;
    uint32_t mask;
};

struct column {
    struct bytes bytes;
    uint64_t any; /* all values or-ed: 0 means the column can be left out */
};

struct place { /* compared as bytes: no padding */
    uint32_t src;
    uint16_t chip;
    struct nocap_xy at, to;
    uint16_t none;
};
_Static_assert(sizeof(struct place) == 12, "no padding");

struct block_encoder {
    uint32_t count;
    uint64_t first_time, last_time, time;
    struct place *places;
    uint32_t place_count, last_place;
    struct family *families;
    uint32_t family_count;
    uint32_t recent[NOCAP_EV_COUNT]; /* the family of the last event of each kind */
    struct shape *shapes;
    uint32_t shape_count;
    struct index place_index, family_index, shape_index;
    struct column place, shape, time_column, slot[NOCAP_SLOTS], data_size, extra_size;
    struct bytes data, extra;
};

#define INDEX_SIZE (4u * BLOCK_SHAPES_MAX)

static bool index_init(struct index *index)
{
    index->mask = INDEX_SIZE - 1;
    index->at = malloc(INDEX_SIZE * sizeof *index->at);
    if (index->at != NULL) {
        memset(index->at, 0xFF, INDEX_SIZE * sizeof *index->at);
    }
    return index->at != NULL;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
    const uint8_t *p = data;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        h = mix(h, v);
    }
    uint64_t rest = 0;
    memcpy(&rest, p, size);
    return mix(h, rest);
}

struct block_encoder *block_encoder_new(void)
{
    struct block_encoder *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return NULL;
    }
    e->places = malloc(BLOCK_PLACES_MAX * sizeof *e->places);
    e->families = malloc(BLOCK_SHAPES_MAX * sizeof *e->families);
    e->shapes = malloc(BLOCK_SHAPES_MAX * sizeof *e->shapes);
    bool ok = index_init(&e->place_index);
    ok &= index_init(&e->family_index);
    ok &= index_init(&e->shape_index);
    if (!ok || e->places == NULL || e->families == NULL || e->shapes == NULL) {
        block_encoder_free(e);
        return NULL;
    }
    return e;
}

static void column_free(struct column *column)
{
    free(column->bytes.data);
}

void block_encoder_free(struct block_encoder *e)
{
    if (e == NULL) {
        return;
    }
    free(e->places);
    free(e->families);
    free(e->shapes);
    free(e->place_index.at);
    free(e->family_index.at);
    free(e->shape_index.at);
    column_free(&e->place);
    column_free(&e->shape);
    column_free(&e->time_column);
    for (unsigned i = 0; i < NOCAP_SLOTS; i++) {
        column_free(&e->slot[i]);
    }
    column_free(&e->data_size);
    column_free(&e->extra_size);
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

static uint32_t find_place(struct block_encoder *e, const struct nocap_event *event)
{
    struct place p = {event->src, event->chip, event->at, event->to, 0};
    if (e->place_count > 0 && memcmp(&e->places[e->last_place], &p, sizeof p) == 0) {
        return e->last_place;
    }
    uint32_t i = (uint32_t)hash_bytes(0, &p, sizeof p) & e->place_index.mask;
    for (; e->place_index.at[i] != NONE; i = (i + 1) & e->place_index.mask) {
        if (memcmp(&e->places[e->place_index.at[i]], &p, sizeof p) == 0) {
            return e->last_place = e->place_index.at[i];
        }
    }
    e->places[e->place_count] = p;
    e->place_index.at[i] = e->place_count;
    return e->last_place = e->place_count++;
}

static uint32_t find_family(struct block_encoder *e, const struct nocap_event *event)
{
    uint8_t what[SMALL_SIZE + 2];
    memcpy(what, &event->kind, sizeof what);
    const uint32_t *recent = &e->recent[event->kind];
    if (*recent < e->family_count && e->families[*recent].has == event->has &&
        memcmp(e->families[*recent].what, what, sizeof what) == 0) {
        return *recent;
    }
    uint32_t i = (uint32_t)mix(hash_bytes(1, what, sizeof what), event->has) & e->family_index.mask;
    for (; e->family_index.at[i] != NONE; i = (i + 1) & e->family_index.mask) {
        struct family *f = &e->families[e->family_index.at[i]];
        if (f->has == event->has && memcmp(f->what, what, sizeof what) == 0) {
            return e->recent[event->kind] = e->family_index.at[i];
        }
    }
    struct family *f = &e->families[e->family_count];
    struct slot_use use;
    slot_use_of(event->has, &use);
    *f = (struct family){.has = event->has,
                         .values = use.values,
                         .literal = use.all & ~use.values,
                         .open_shape = NONE};
    memcpy(f->what, what, sizeof what);
    e->family_index.at[i] = e->recent[event->kind] = e->family_count;
    return e->family_count++;
}

static uint32_t new_shape(struct block_encoder *e, const struct nocap_event *event, uint32_t family,
                          uint32_t literal)
{
    struct family *f = &e->families[family];
    struct shape *s = &e->shapes[e->shape_count];
    *s = (struct shape){.family = family, .columns = (f->values | f->literal) & ~literal};
    for (uint32_t left = literal; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        s->first[slot] = event->slot[slot];
    }
    f->shapes++;
    return e->shape_count++;
}

static uint32_t find_shape(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t family = find_family(e, event);
    struct family *f = &e->families[family];
    uint64_t h = mix(2, family);
    for (uint32_t left = f->literal; left != 0; left &= left - 1) {
        h = mix(h, event->slot[__builtin_ctz(left)]);
    }
    uint32_t i = (uint32_t)h & e->shape_index.mask;
    for (; e->shape_index.at[i] != NONE; i = (i + 1) & e->shape_index.mask) {
        const struct shape *s = &e->shapes[e->shape_index.at[i]];
        uint32_t left = s->family == family ? f->literal : 1;
        for (; left != 0; left &= left - 1) {
            unsigned slot = (unsigned)__builtin_ctz(left);
            if (s->family != family || s->first[slot] != event->slot[slot]) {
                break;
            }
        }
        if (left == 0) {
            return e->shape_index.at[i];
        }
    }
    if (f->shapes >= SHAPES_PER_FAMILY) {
        if (f->open_shape == NONE) {
            f->open_shape = new_shape(e, event, family, 0);
        }
        return f->open_shape;
    }
    return e->shape_index.at[i] = new_shape(e, event, family, f->literal);
}

static inline bool column_add(struct column *column, uint64_t v)
{
    if (!bytes_reserve(&column->bytes, VARINT_MAX)) {
        return false;
    }
    bytes_varint(&column->bytes, v);
    column->any |= v;
    return true;
}

/* A column that most blocks leave out: zeros are put in with the first value that is none. */
static inline bool column_add_rare(struct column *column, uint32_t before, uint64_t v)
{
    if (column->any == 0) {
        if (v == 0) {
            return true;
        }
        if (!bytes_reserve(&column->bytes, before + 1)) {
            return false;
        }
        memset(column->bytes.data, 0, before);
        column->bytes.size = before;
    }
    return column_add(column, v);
}

bool block_encoder_add(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t shape = find_shape(e, event);
    struct shape *s = &e->shapes[shape];
    bool ok = column_add(&e->place, find_place(e, event));
    ok &= column_add(&e->shape, shape);
    ok &= column_add(&e->time_column, zigzag(event->t - e->time));
    for (uint32_t left = s->columns; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        ok &= column_add(&e->slot[slot], zigzag(event->slot[slot] - s->last[slot]));
        s->last[slot] = event->slot[slot];
    }
    ok &= column_add_rare(&e->data_size, e->count, event->data_size) &&
          bytes_append(&e->data, event->data, event->data_size);
    ok &= column_add_rare(&e->extra_size, e->count, event->extra_size) &&
          bytes_append(&e->extra, event->extra, event->extra_size);
    if (e->count == 0) {
        e->first_time = e->last_time = event->t;
    }
    e->first_time = event->t < e->first_time ? event->t : e->first_time;
    e->last_time = event->t > e->last_time ? event->t : e->last_time;
    e->time = event->t;
    e->count++;
    return ok;
}

uint32_t block_encoder_count(const struct block_encoder *e)
{
    return e->count;
}

bool block_encoder_full(const struct block_encoder *e)
{
    return e->shape_count >= BLOCK_SHAPES_MAX - 1 || e->place_count >= BLOCK_PLACES_MAX - 1 ||
           e->data.size + e->extra.size >= BLOCK_PAYLOAD_TARGET;
}

void block_encoder_times(const struct block_encoder *e, uint64_t *first, uint64_t *last)
{
    *first = e->first_time;
    *last = e->last_time;
}

/* Writing the message: tag, length, content. */

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static bool put_varint(struct bytes *out, unsigned field, uint64_t v)
{
    if (!bytes_reserve(out, 2 * VARINT_MAX)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_VARINT);
    bytes_varint(out, v);
    return true;
}

static bool put_bytes(struct bytes *out, unsigned field, const struct bytes *content)
{
    if (!bytes_reserve(out, 2 * VARINT_MAX + content->size)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_LENGTH);
    bytes_varint(out, content->size);
    return bytes_append(out, content->data, content->size);
}

static bool put_column(struct bytes *out, unsigned field, const struct column *column)
{
    return column->any == 0 || put_bytes(out, field, &column->bytes);
}

static bool put_message(struct bytes *out, unsigned field, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    if (!bytes_reserve(out, 2 * VARINT_MAX + size)) {
        return false;
    }
    bytes_varint(out, field << 3 | WIRE_LENGTH);
    bytes_varint(out, size);
    out->size += protobuf_c_message_pack(message, out->data + out->size);
    return true;
}

static bool put_place(struct bytes *out, const struct place *p)
{
    Nocap__Place m = NOCAP__PLACE__INIT;
    m.has_src = (m.src = p->src) != 0;
    m.has_chip = (m.chip = p->chip) != 0;
    m.has_x = (m.x = p->at.x) != 0;
    m.has_y = (m.y = p->at.y) != 0;
    m.has_x2 = (m.x2 = p->to.x) != 0;
    m.has_y2 = (m.y2 = p->to.y) != 0;
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

static void column_reset(struct column *column)
{
    column->bytes.size = 0;
    column->any = 0;
}

static void reset(struct block_encoder *e)
{
    memset(e->place_index.at, 0xFF, INDEX_SIZE * sizeof *e->place_index.at);
    memset(e->family_index.at, 0xFF, INDEX_SIZE * sizeof *e->family_index.at);
    memset(e->shape_index.at, 0xFF, INDEX_SIZE * sizeof *e->shape_index.at);
    e->count = e->place_count = e->family_count = e->shape_count = e->last_place = 0;
    e->time = e->first_time = e->last_time = 0;
    column_reset(&e->place);
    column_reset(&e->shape);
    column_reset(&e->time_column);
    for (unsigned i = 0; i < NOCAP_SLOTS; i++) {
        column_reset(&e->slot[i]);
    }
    column_reset(&e->data_size);
    column_reset(&e->extra_size);
    e->data.size = e->extra.size = 0;
}

bool block_encoder_finish(struct block_encoder *e, uint64_t first_index, struct bytes *out)
{
    bool ok = put_varint(out, BLOCK_FIRST_INDEX, first_index) &&
              put_varint(out, BLOCK_COUNT, e->count) &&
              put_varint(out, BLOCK_FIRST_TIME, e->first_time) &&
              put_varint(out, BLOCK_LAST_TIME, e->last_time);
    for (uint32_t i = 0; ok && i < e->place_count; i++) {
        ok = put_place(out, &e->places[i]);
    }
    for (uint32_t i = 0; ok && i < e->shape_count; i++) {
        ok = put_shape(out, &e->families[e->shapes[i].family], &e->shapes[i]);
    }
    ok = ok && put_column(out, BLOCK_PLACE, &e->place) && put_column(out, BLOCK_SHAPE, &e->shape) &&
         put_column(out, BLOCK_TIME, &e->time_column);
    for (unsigned i = 0; ok && i < NOCAP_SLOTS; i++) {
        ok = put_column(out, BLOCK_COLUMN_0 + i, &e->slot[i]);
    }
    ok = ok && put_column(out, BLOCK_DATA_SIZE, &e->data_size) &&
         put_column(out, BLOCK_EXTRA_SIZE, &e->extra_size);
    ok = ok && (e->data.size == 0 || put_bytes(out, BLOCK_DATA, &e->data));
    ok = ok && (e->extra.size == 0 || put_bytes(out, BLOCK_EXTRA, &e->extra));
    reset(e);
    return ok;
}
