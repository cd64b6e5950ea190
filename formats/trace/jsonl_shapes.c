/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/jsonl_shapes.h"

#include <string.h>

#include "formats/trace/trace.h"

static inline uint64_t word_at(const char *at, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

/* memcmp for texts of few bytes, of which most are equal. */
static inline bool same_text(const char *a, const char *b, size_t size)
{
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        if (word_at(a + i, 8) != word_at(b + i, 8)) {
            return false;
        }
    }
    if (size >= 8) { /* the last eight, some of them again */
        return word_at(a + size - 8, 8) == word_at(b + size - 8, 8);
    }
    if (size >= 4) {
        return word_at(a, 4) == word_at(b, 4) &&
               word_at(a + size - 4, 4) == word_at(b + size - 4, 4);
    }
    while (i < size && a[i] == b[i]) {
        i++;
    }
    return i == size;
}

/* The values of a line, read where they stand. Each returns where the value ends, or NULL if it is
 * not of the plainest form: then the line is taken apart and judged as any other. */

static inline const char *take_decimal(const char *at, const char *end, uint64_t *number)
{
    const char *from = at;
    uint64_t v = 0;
    while (at < end && (unsigned char)(*at - '0') < 10) {
        v = v * 10 + (uint64_t)(*at++ - '0');
    }
    *number = v;
    bool plain = at - from == 1 || (at - from > 1 && at - from < 20 && *from != '0');
    return plain ? at : NULL;
}

static inline const char *take_hex(const char *at, const char *end, uint64_t *number)
{
    const char *from = at;
    uint64_t v = 0;
    unsigned digit;
    while (at < end && (digit = json_hex_digit(*at)) < 16) {
        v = v << 4 | digit;
        at++;
    }
    *number = v;
    return at > from && at - from <= 16 ? at : NULL;
}

static const char *take_name(struct jsonl_step *step, const char *at, const char *end,
                             uint64_t *number)
{
    size_t left = (size_t)(end - at);
    if (step->name_size == 0 || left <= step->name_size ||
        !same_text(at, step->name, step->name_size + 1u)) {
        const char *quote = memchr(at, '"', left < sizeof step->name ? left : sizeof step->name);
        int value = quote != NULL ? nocap_field_value_from_name((enum nocap_field)step->field, at,
                                                                (unsigned)(quote - at))
                                  : -1;
        if (value < 0) {
            return NULL;
        }
        step->name_size = (uint8_t)(quote - at);
        step->name_value = (uint8_t)value;
        memcpy(step->name, at, step->name_size + 1);
    }
    *number = step->name_value;
    return at + step->name_size;
}

static const char *take_bytes(const char *at, const char *end, uint8_t *payload,
                              struct nocap_event *event)
{
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (quote == NULL || !json_hex_bytes(at, (size_t)(quote - at), payload)) {
        return NULL;
    }
    event->data = payload;
    event->data_size = (uint32_t)((quote - at) / 2);
    return quote;
}

static inline bool put(struct nocap_event *event, const struct jsonl_step *step, uint64_t number)
{
    char *to = (char *)event + step->at;
    switch (step->width) {
    case 1: *(uint8_t *)to = (uint8_t)number; return number <= UINT8_MAX;
    case 2: *(uint16_t *)(void *)to = (uint16_t)number; return number <= UINT16_MAX;
    case 4: *(uint32_t *)(void *)to = (uint32_t)number; return number <= UINT32_MAX;
    default: *(uint64_t *)(void *)to = number; return true;
    }
}

static bool read_shape(struct jsonl_shape *shape, const char *at, const char *end, uint8_t *payload,
                       struct nocap_event *event)
{
    const char *text = shape->text;
    *event = shape->event;
    for (unsigned i = 0; i < shape->count; i++) {
        struct jsonl_step *step = &shape->steps[i];
        uint64_t number = 0;
        if ((size_t)(end - at) <= step->text_size || !same_text(at, text, step->text_size)) {
            return false;
        }
        text += step->text_size;
        at += step->text_size;
        switch ((enum jsonl_value)step->value) {
        case JSONL_DECIMAL: at = take_decimal(at, end, &number); break;
        case JSONL_HEX: at = take_hex(at, end, &number); break;
        case JSONL_NAME: at = take_name(step, at, end, &number); break;
        case JSONL_BYTES: at = take_bytes(at, end, payload, event); break;
        }
        if (at == NULL || (step->value != JSONL_BYTES && !put(event, step, number))) {
            return false;
        }
    }
    size_t rest = shape->text_size - (size_t)(text - shape->text);
    return (size_t)(end - at) == rest && same_text(at, text, rest);
}

/* Where the shape of lines that begin like this one is written down: time and kind mostly come
 * first, so what stands after the first comma tells most. */
static uint8_t *guess_at(struct jsonl_shapes *shapes, const char *text, size_t size)
{
    enum { BEFORE_KIND = 7, LOOKED_AT = 16 }; /* ,"ev":" */
    const char *comma = memchr(text, ',', size < LOOKED_AT ? size : LOOKED_AT);
    uint64_t words[LOOKED_AT / sizeof(uint64_t)] = {0};
    if (comma != NULL && text + size - comma >= BEFORE_KIND + LOOKED_AT) {
        memcpy(words, comma + BEFORE_KIND, sizeof words);
    }
    uint64_t hash = (words[0] ^ words[1] * 31) * UINT64_C(0x9e3779b97f4a7c15);
    return &shapes->guess[hash >> 58];
}
_Static_assert(JSONL_SHAPE_GUESSES == 1 << (64 - 58), "guess_at gives six bits");

bool jsonl_shapes_read(struct jsonl_shapes *shapes, const char *text, size_t size, uint8_t *payload,
                       struct nocap_event *event)
{
    if (size > NOCAP_PAYLOAD_MAX) {
        return false;
    }
    uint8_t *guess = guess_at(shapes, text, size);
    for (unsigned i = 0; i < shapes->count; i++) {
        unsigned place = (*guess + i) % shapes->count;
        if (read_shape(&shapes->list[place], text, text + size, payload, event)) {
            *guess = (uint8_t)place;
            return true;
        }
    }
    return false;
}

/* A shape while it is made: what stands from `from` on is not yet in it. Values with escapes may
 * get into it: they never look plain. */
struct making {
    struct jsonl_shape *shape;
    const char *from;
};

static bool add_text(struct making *m, const char *to)
{
    size_t size = (size_t)(to - m->from);
    if (size > sizeof m->shape->text - m->shape->text_size) {
        return false;
    }
    memcpy(m->shape->text + m->shape->text_size, m->from, size);
    m->shape->text_size += size;
    return true;
}

static bool add(struct making *m, struct jsonl_step step, const char *value, size_t size)
{
    step.text_size = (uint16_t)(value - m->from);
    if (m->shape->count == JSONL_SHAPE_STEPS_MAX || !add_text(m, value)) {
        return false;
    }
    m->shape->steps[m->shape->count++] = step;
    m->from = value + size;
    return true;
}

/* A number, or a string with "0x" and digits. */
static bool add_number(struct making *m, const struct json_value *value, size_t at, size_t width)
{
    size_t prefix = value->type == JSON_STRING ? 2 : 0;
    struct jsonl_step step = {.value = prefix != 0 ? JSONL_HEX : JSONL_DECIMAL,
                              .at = (uint16_t)at,
                              .width = (uint8_t)width};
    return add(m, step, value->text + prefix, value->size - prefix);
}

/* Numbers of one byte, from `at` on. */
static bool add_list(struct making *m, const struct json_value *value, size_t at, int step)
{
    struct json_cursor cursor;
    struct json_value item;
    (void)json_open(&cursor, value->text, value->size, '[');
    while (json_next_item(&cursor, &item) == JSON_ITEM) {
        if (!add_number(m, &item, at, 1)) {
            return false;
        }
        at += (size_t)step;
    }
    return true;
}

static bool add_semaphores(struct making *m, const struct json_value *value, enum nocap_kind kind)
{
    size_t at = offsetof(struct nocap_event, sem);
    if (kind == NOCAP_EV_CQ) {
        return add_number(m, value, at, sizeof(uint64_t));
    }
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return add_list(m, value, little ? at : at + sizeof(uint64_t) - 1, little ? 1 : -1);
}

static bool add_field(struct making *m, const struct jsonl_key *key, const struct json_value *value)
{
    unsigned kind = m->shape->event.kind;
    uint8_t field = key->field[kind];
    const struct nocap_field_info *info = &nocap_fields[field];
    struct jsonl_step step;
    switch ((enum nocap_field_type)info->type) {
    case NOCAP_T_DEC:
    case NOCAP_T_HEX: return add_number(m, value, info->offset, info->width);
    case NOCAP_T_PAIR: return add_number(m, value, info->offset + (size_t)key->half, 1);
    case NOCAP_T_XY: return add_list(m, value, info->offset, 1);
    case NOCAP_T_SEM: return add_semaphores(m, value, (enum nocap_kind)kind);
    case NOCAP_T_BOOL: return true; /* it is text */
    case NOCAP_T_TEXT:
    case NOCAP_T_HASH: return false;
    case NOCAP_T_BYTES:
        return add(m, (struct jsonl_step){.value = JSONL_BYTES}, value->text, value->size);
    default:
        step = (struct jsonl_step){
            .value = JSONL_NAME, .field = field, .at = (uint16_t)info->offset, .width = 1};
        return add(m, step, value->text, value->size);
    }
}

static bool add_member(struct making *m, const struct jsonl_key *key,
                       const struct json_value *value)
{
    switch ((enum jsonl_role)key->role) {
    case KEY_T: return add_number(m, value, offsetof(struct nocap_event, t), sizeof(uint64_t));
    case KEY_SRC: return add_number(m, value, offsetof(struct nocap_event, src), sizeof(uint32_t));
    case KEY_CHIP:
        return add_number(m, value, offsetof(struct nocap_event, chip), sizeof(uint16_t));
    case KEY_EV:
    case KEY_OP: return true; /* text */
    default: return add_field(m, key, value);
    }
}

static bool is_known(const struct jsonl_shapes *shapes, const struct jsonl_shape *shape)
{
    for (unsigned i = 0; i < shapes->count; i++) {
        if (shapes->list[i].text_size == shape->text_size &&
            memcmp(shapes->list[i].text, shape->text, shape->text_size) == 0) {
            return true;
        }
    }
    return false;
}

void jsonl_shapes_learn(struct jsonl_shapes *shapes, const struct jsonl_members *members,
                        const char *text, size_t size, const struct nocap_event *event)
{
    struct jsonl_shape *shape = &shapes->made;
    struct making m = {.shape = shape, .from = text};
    bool ok = event->extra_size == 0;
    shape->count = 0;
    shape->text_size = 0;
    shape->event = *event;
    for (unsigned i = 0; ok && i < members->count; i++) {
        ok = add_member(&m, members->keys[i], &members->list[i].value);
    }
    if (!ok || !add_text(&m, text + size) || is_known(shapes, shape)) {
        return;
    }
    unsigned place = shapes->learnt++ % JSONL_SHAPES_MAX;
    shapes->count += shapes->count < JSONL_SHAPES_MAX;
    shapes->list[place] = *shape;
    *guess_at(shapes, text, size) = (uint8_t)place;
}
