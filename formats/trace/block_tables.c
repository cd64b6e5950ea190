/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a block that is being filled: places, families, shapes. */
#include "formats/trace/block_encoder.h"
#include "formats/trace/block_index.h"

static void slot_use_of(uint64_t has, struct slot_use *use)
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

uint32_t block_place(struct block_encoder *e, const struct place *p)
{
    uint32_t i = index_start(mix(mix(0, p->source), p->to));
    for (; e->place_index[i] != NONE; i = index_next(i)) {
        const struct place *q = &e->places[e->place_index[i]];
        if (p->source == q->source && p->to == q->to) {
            return e->place_index[i];
        }
    }
    e->places[e->place_count] = *p;
    e->places[e->place_count].indexed = i;
    e->full |= e->place_count + 1 >= BLOCK_PLACES_MAX - 1;
    return e->place_index[i] = e->place_count++;
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
                        .indexed = NONE,
                        .number = e->shape_count};
    for (uint32_t left = literal; left != 0; left &= left - 1) {
        unsigned slot = (unsigned)__builtin_ctz(left);
        s->first[slot] = event->slot[slot];
    }
    f->shapes++;
    e->full |= e->shape_count + 1 >= BLOCK_SHAPES_MAX - 1;
    return e->shape_count++;
}

struct shape *block_shape(struct block_encoder *e, const struct nocap_event *event)
{
    uint32_t family = find_family(e, event);
    if (family == NONE) {
        return NULL;
    }
    struct family *f = &e->families[family];
    uint64_t h = mix(2, family);
    for (uint32_t left = f->literal; left != 0; left &= left - 1) {
        h = mix(h, event->slot[__builtin_ctz(left)]);
    }
    uint32_t i = index_start(h);
    for (; e->shape_index[i] != NONE; i = index_next(i)) {
        struct shape *s = &e->shapes[e->shape_index[i]];
        if (shape_fits(s, family, f->literal, event)) {
            return s;
        }
    }
    if (f->shapes >= SHAPES_PER_FAMILY) {
        if (f->open_shape == NONE) {
            f->open_shape = new_shape(e, event, family, 0);
        }
        return &e->shapes[f->open_shape];
    }
    uint32_t shape = e->shape_index[i] = new_shape(e, event, family, f->literal);
    e->shapes[shape].indexed = i;
    return &e->shapes[shape];
}
