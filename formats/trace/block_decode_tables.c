/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a block that is read: places and shapes. */
#include "formats/trace/block_decoder.h"

static bool place_field(struct place *p, const struct wire_field *f)
{
    static const uint64_t max[] = {[PLACE_SRC] = UINT32_MAX,
                                   [PLACE_CHIP] = UINT16_MAX,
                                   [PLACE_X] = UINT8_MAX,
                                   [PLACE_Y] = UINT8_MAX,
                                   [PLACE_X2] = UINT8_MAX,
                                   [PLACE_Y2] = UINT8_MAX,
                                   [PLACE_EVENTS] = NOCAP_BLOCK_EVENTS_MAX};
    bool known = f->number >= PLACE_SRC && f->number <= PLACE_EVENTS;
    if (known && (f->type != WIRE_VARINT || f->v > max[f->number])) {
        return false;
    }
    switch (f->number) {
    case PLACE_SRC: p->src = (uint32_t)f->v; break;
    case PLACE_CHIP: p->chip = (uint16_t)f->v; break;
    case PLACE_X: p->at.x = (uint8_t)f->v; break;
    case PLACE_Y: p->at.y = (uint8_t)f->v; break;
    case PLACE_X2: p->to.x = (uint8_t)f->v; break;
    case PLACE_Y2: p->to.y = (uint8_t)f->v; break;
    case PLACE_EVENTS: p->end = (uint32_t)f->v; break;
    }
    return true;
}

const char *block_decoder_add_place(struct block_decoder *d, struct span message)
{
    struct place *p = d->place_count < BLOCK_PLACES_MAX
                          ? LIST_AGAIN(d->places, d->place_count, d->places_met)
                          : NULL;
    if (p == NULL) {
        return "too many places";
    }
    d->place_count++;
    for (struct wire_field f; message.at < message.end;) {
        if (!span_field(&message, &f) || !place_field(p, &f)) {
            return "an entry of the table of places does not decode";
        }
    }
    return NULL;
}

static bool constant_slots(struct nocap_event *event, const struct wire_field *f)
{
    struct span slots = f->content;
    unsigned i = 0;
    while (slots.at < slots.end) {
        if (i == NOCAP_SLOTS || !span_varint(&slots, &event->slot[i++])) {
            return false;
        }
    }
    return f->type == WIRE_LENGTH;
}

static bool small_fields(struct nocap_event *event, const struct wire_field *f)
{
    size_t size = (size_t)(f->content.end - f->content.at);
    if (f->type != WIRE_LENGTH || size > SMALL_SIZE) {
        return false;
    }
    if (size > 0) {
        memcpy((uint8_t *)event + SMALL_OFFSET, f->content.at, size);
    }
    return true;
}

static bool shape_field(struct shape *s, const struct wire_field *f)
{
    bool number = f->type == WIRE_VARINT;
    switch (f->number) {
    case SHAPE_KIND: s->event.kind = (uint8_t)f->v; return number && f->v < NOCAP_EV_COUNT;
    case SHAPE_OP: s->event.op = (uint8_t)f->v; return number && f->v < NOCAP_OP_COUNT;
    case SHAPE_HAS: s->event.has = f->v; return f->type == WIRE_FIXED64;
    case SHAPE_TAKES: s->columns = (uint32_t)f->v; return number && f->v >> SHAPE_COLUMNS == 0;
    case SHAPE_SLOT: return constant_slots(&s->event, f);
    case SHAPE_SMALL: return small_fields(&s->event, f);
    default: return true;
    }
}

const char *block_decoder_add_shape(struct block_decoder *d, struct span message)
{
    static const char *const bad = "an entry of the table of shapes does not decode";
    const uint32_t value_twice = 1u << SLOT_OF_VALUE | 1u << COLUMN_GUESSED;
    const uint32_t required = 1u << SHAPE_KIND | 1u << SHAPE_HAS;
    struct shape *s = d->shape_count < BLOCK_SHAPES_MAX
                          ? LIST_AGAIN(d->shapes, d->shape_count, d->shapes_met)
                          : NULL;
    if (s == NULL) {
        return "too many shapes";
    }
    d->shape_count++;
    uint32_t seen = 0;
    for (struct wire_field f; message.at < message.end;) {
        if (!span_field(&message, &f) || !shape_field(s, &f)) {
            return bad;
        }
        seen |= f.number <= SHAPE_SMALL ? 1u << f.number : 0;
    }
    if ((seen & required) != required || (s->columns & value_twice) == value_twice ||
        (s->event.has & ~nocap_kind_fields((enum nocap_kind)s->event.kind)) != 0) {
        return bad;
    }
    s->event.shape = shape_number(&d->numbers, &s->event);
    d->guessing |= s->columns >> COLUMN_GUESSED != 0;
    return NULL;
}
