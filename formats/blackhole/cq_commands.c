/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/cq_commands.h"

#include <stdio.h>
#include <string.h>

#include "formats/blackhole/niu.h"

/* Members follow each other in the order of cq_commands.def. */
enum { FIRST_MEMBER = offsetof(struct nocap_cq_command, addr) };
_Static_assert(sizeof(struct nocap_cq_command) == FIRST_MEMBER + NOCAP_CQ_MEMBERS * 8,
               "nothing but members of 64 bits after the first one");

static uint64_t member(const struct nocap_cq_command *c, unsigned i)
{
    uint64_t v;
    memcpy(&v, (const uint8_t *)c + FIRST_MEMBER + i * sizeof v, sizeof v);
    return v;
}

static const struct nocap_command_set *set_of(const struct nocap_command_set *set)
{
    return set != NULL ? set : &nocap_command_set_default;
}

/* NULL: the set has no such command. */
static const struct nocap_cq_form *form_of(const struct nocap_command_set *set, unsigned side,
                                           unsigned id)
{
    const struct nocap_cq_form *form =
        side <= NOCAP_CQ_SUB && id < NOCAP_CQ_IDS ? &set_of(set)->forms[side][id] : NULL;
    return form != NULL && form->header != 0 ? form : NULL;
}

static uint32_t header_size(const struct nocap_command_set *set, unsigned side, unsigned id)
{
    const struct nocap_cq_form *form = form_of(set, side, id);
    return form != NULL ? form->header : NOCAP_CQ_HEADER;
}

/* ---- members that not every runtime has in this form ---- */

enum { OTHER_BITS = 16 }; /* where a bit goes that is none of the set's, and means something here */

static uint64_t flags_from_wire(const struct nocap_command_set *set, unsigned side, unsigned id,
                                uint64_t wire)
{
    uint64_t flags = 0, taken = 0, rest = wire;
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
        if (f->side == side && f->id == id) {
            taken |= f->value;
            flags |= (wire & set->flags[i]) != 0 ? f->value : 0;
            rest &= ~(uint64_t)set->flags[i];
        }
    }
    return flags | (rest & ~taken) | (rest & taken) << OTHER_BITS;
}

static uint64_t flags_to_wire(const struct nocap_command_set *set, unsigned side, unsigned id,
                              uint64_t flags)
{
    uint64_t wire = 0, rest = flags;
    for (unsigned i = 0; i < NOCAP_CQ_FLAGS; i++) {
        const struct nocap_cq_flag_info *f = &nocap_cq_flags[i];
        if (f->side == side && f->id == id) {
            wire |= (flags & f->value) != 0 ? set->flags[i] : 0;
            rest &= ~(uint64_t)f->value;
        }
    }
    return wire | (rest & 0xFFFF) | rest >> OTHER_BITS;
}

/* What a command lacks in an older form follows from what it has. */
static void complete(const struct nocap_command_set *set, struct nocap_cq_command *c)
{
    if (c->side == NOCAP_CQ_SUB && c->id == NOCAP_CQ_SUB_PACKED_LARGE && set->whole_length) {
        c->length_minus1 = c->length - 1;
    }
    if (set->other_flags[c->side][c->id]) {
        c->flags = flags_from_wire(set, c->side, c->id, c->flags);
    }
}

/* The reverse. */
static uint64_t wire_member(const struct nocap_command_set *set, const struct nocap_cq_command *c,
                            unsigned i)
{
    if (i == NOCAP_CQ_MEMBER_flags && set->other_flags[c->side][c->id]) {
        return flags_to_wire(set, c->side, c->id, c->flags);
    }
    if (i == NOCAP_CQ_MEMBER_length && c->side == NOCAP_CQ_SUB &&
        c->id == NOCAP_CQ_SUB_PACKED_LARGE) {
        return c->length_minus1 + 1;
    }
    return member(c, i);
}

/* ---- headers ---- */

static uint64_t get(const uint8_t *bytes, unsigned width)
{
    uint64_t v = 0;
    switch (width) { /* what nearly all fields are */
    case 1: return bytes[0];
    case 2: return bytes[0] | (uint64_t)bytes[1] << 8;
    case 4: return get(bytes, 2) | get(bytes + 2, 2) << 16;
    default: break;
    }
    for (unsigned i = 0; i < width; i++) {
        v |= (uint64_t)bytes[i] << 8 * i;
    }
    return v;
}

static bool decode(const struct nocap_command_set *set, enum nocap_cq_side side, unsigned id,
                   const uint8_t *bytes, size_t size, struct nocap_cq_command *c)
{
    memset(c, 0, sizeof *c);
    c->set = set != &nocap_command_set_default ? set : NULL;
    c->side = (uint8_t)side;
    c->id = (uint8_t)id;
    const struct nocap_cq_form *form = form_of(set, side, id);
    if (size < (form != NULL ? form->header : NOCAP_CQ_HEADER)) {
        return false;
    }
    if (form == NULL) {
        return true;
    }
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        const struct nocap_cq_field *f = &form->fields[i];
        uint64_t v = get(bytes + f->offset, f->width);
        memcpy((uint8_t *)c + FIRST_MEMBER + f->member * sizeof v, &v, sizeof v);
    }
    if (set->adapts) {
        complete(set, c);
    }
    return true;
}

bool nocap_cq_decode_by(const struct nocap_command_set *set, enum nocap_cq_side side,
                        const uint8_t *bytes, size_t size, struct nocap_cq_command *c)
{
    set = set_of(set);
    unsigned wire = size > 0 ? bytes[0] : 0;
    unsigned id = set->ids[side][wire] - 1u;
    bool whole = decode(set, side, id < NOCAP_CQ_IDS ? id : NOCAP_CQ_NO_ID, bytes, size, c);
    c->wire = (uint8_t)wire;
    return whole;
}

size_t nocap_cq_encode(const struct nocap_cq_command *c, uint8_t *bytes)
{
    const struct nocap_command_set *set = set_of(c->set);
    const struct nocap_cq_form *form = form_of(set, c->side, c->id);
    uint32_t size = header_size(set, c->side, c->id);
    memset(bytes, 0, size);
    if (c->side != NOCAP_CQ_SUB) {
        bytes[0] = form != NULL ? form->wire : c->id == NOCAP_CQ_NO_ID ? c->wire : c->id;
    }
    for (unsigned k = 0; form != NULL && k < NOCAP_CQ_FORM_FIELDS && form->fields[k].width != 0;
         k++) {
        const struct nocap_cq_field *f = &form->fields[k];
        uint64_t v = set->adapts ? wire_member(set, c, f->member) : member(c, f->member);
        for (unsigned i = 0; i < f->width; i++) {
            bytes[f->offset + i] = (uint8_t)(v >> 8 * i);
        }
    }
    return size;
}

int nocap_cq_padding_not_zero(const struct nocap_cq_command *c, const uint8_t *bytes)
{
    const struct nocap_cq_form *form = form_of(c->set, c->side, c->id);
    uint64_t covered = c->side == NOCAP_CQ_SUB ? 0 : 1; /* a bit for each byte of the header */
    if (form == NULL || set_of(c->set)->unhandled[c->side][c->id]) {
        return -1; /* what no kernel reads has no padding */
    }
    for (unsigned i = 0; i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0; i++) {
        covered |= ((UINT64_C(1) << form->fields[i].width) - 1) << form->fields[i].offset;
    }
    uint64_t padding = ~covered & ((UINT64_C(1) << form->header) - 1);
    while (padding != 0 && bytes[__builtin_ctzll(padding)] == 0) {
        padding &= padding - 1;
    }
    return padding != 0 ? __builtin_ctzll(padding) : -1;
}

bool nocap_cq_padding_zero(const struct nocap_cq_command *c, const uint8_t *bytes)
{
    return nocap_cq_padding_not_zero(c, bytes) < 0;
}

/* ---- what stands after a header ---- */

bool nocap_cq_subs(const struct nocap_cq_command *c, struct nocap_cq_subs *s)
{
    uint64_t count = c->count;
    if (c->side == NOCAP_CQ_PREFETCH) {
        switch (c->id) {
        case NOCAP_CQ_PREFETCH_RELAY_PAGED_PACKED: s->id = NOCAP_CQ_SUB_RELAY_PAGED; break;
        case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: s->id = NOCAP_CQ_SUB_RELAY_RINGBUFFER; break;
        case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED:
        case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED_H: s->id = NOCAP_CQ_SUB_RELAY_LINEAR; break;
        default: return false;
        }
    } else {
        switch (c->id) {
        case NOCAP_CQ_DISPATCH_WRITE_PACKED:
            s->id = (c->flags & NOCAP_CQ_PACKED_FLAG_MCAST) != 0 ? NOCAP_CQ_SUB_PACKED_MCAST
                                                                 : NOCAP_CQ_SUB_PACKED_UNICAST;
            break;
        case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: s->id = NOCAP_CQ_SUB_PACKED_LARGE; break;
        case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST:
            s->id = NOCAP_CQ_SUB_PACKED_LARGE_UNICAST;
            break;
        case NOCAP_CQ_DISPATCH_SET_SUB_DEVICE_WORKER_COUNTS:
            s->id = NOCAP_CQ_SUB_SUB_DEVICE_WORKER_COUNT;
            count = c->num_sub_devices;
            break;
        case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA:
            s->id = NOCAP_CQ_SUB_GO_NOC_XY;
            count = c->num_words;
            break;
        case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET:
            s->id = NOCAP_CQ_SUB_WRITE_OFFSET;
            count = c->offset_count;
            break;
        default: return false;
        }
    }
    s->set = set_of(c->set);
    s->count = (uint32_t)count;
    s->size = header_size(s->set, NOCAP_CQ_SUB, s->id);
    s->offset = header_size(s->set, c->side, c->id);
    return true;
}

bool nocap_cq_sub(const struct nocap_cq_subs *subs, uint32_t i, const uint8_t *bytes, size_t size,
                  struct nocap_cq_command *sub)
{
    uint64_t at = subs->offset + (uint64_t)i * subs->size;
    return i < subs->count && at + subs->size <= size &&
           decode(subs->set, NOCAP_CQ_SUB, subs->id, bytes + at, size - at, sub);
}

uint64_t nocap_cq_data_offset(const struct nocap_cq_command *c)
{
    struct nocap_cq_subs s;
    if (c->side != NOCAP_CQ_DISPATCH || !nocap_cq_subs(c, &s)) {
        return header_size(c->set, c->side, c->id);
    }
    uint64_t end = s.offset + (uint64_t)s.count * s.size;
    return c->id == NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET ? end
                                                       : nocap_cq_align(end, NOCAP_CQ_L1_ALIGN);
}

static bool consumed_large(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size,
                           uint64_t *consumed)
{
    struct nocap_cq_subs s;
    struct nocap_cq_command sub;
    *consumed = nocap_cq_data_offset(c);
    nocap_cq_subs(c, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        if (!nocap_cq_sub(&s, i, bytes, size, &sub)) {
            return false;
        }
        uint64_t to = c->alignment != 0 ? c->alignment : 1;
        uint64_t length = s.id == NOCAP_CQ_SUB_PACKED_LARGE ? sub.length_minus1 + 1 : sub.length;
        *consumed += nocap_cq_align(length, to);
    }
    return true;
}

bool nocap_cq_consumed(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size,
                       uint64_t *consumed)
{
    const struct nocap_cq_form *form = form_of(c->set, c->side, c->id);
    *consumed = nocap_cq_data_offset(c);
    if (form == NULL || set_of(c->set)->unhandled[c->side][c->id]) {
        return false;
    }
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR:
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H: *consumed += c->length; return c->length < 1u << 31;
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST: *consumed = c->length; return c->length < 1u << 31;
    case NOCAP_CQ_DISPATCH_WRITE_PAGED: *consumed += c->pages * c->page_size; return true;
    case NOCAP_CQ_DISPATCH_WRITE_PACKED:
        if ((c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) == 0) {
            *consumed += c->count * nocap_cq_align(c->size, NOCAP_CQ_L1_ALIGN);
        }
        return true;
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE:
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST:
        return consumed_large(c, bytes, size, consumed);
    case NOCAP_CQ_DISPATCH_DEBUG: *consumed = c->stride; return true;
    default: return true;
    }
}

uint32_t nocap_cq_multicasts(const struct nocap_cq_command *c)
{
    return set_of(c->set)->multicasts_by_count ? (uint32_t)c->num_mcast_txns
                                               : c->multicast_go_offset != NOCAP_CQ_NO_MCAST_GO;
}

uint32_t nocap_cq_multicast_words(const struct nocap_cq_command *c)
{
    return set_of(c->set)->multicasts_by_count
               ? NOCAP_CQ_MULTICAST_WORDS * (uint32_t)c->num_mcast_txns
               : 0;
}

enum nocap_cq_relay nocap_cq_relays(unsigned id)
{
    switch (id) {
    case NOCAP_CQ_PREFETCH_STALL:
    case NOCAP_CQ_PREFETCH_DEBUG:
    case NOCAP_CQ_PREFETCH_PAGED_TO_RINGBUFFER:
    case NOCAP_CQ_PREFETCH_SET_RINGBUFFER_OFFSET: return NOCAP_CQ_RELAYS_NOTHING;
    case NOCAP_CQ_PREFETCH_EXEC_BUF: return NOCAP_CQ_RELAYS_BUFFER;
    case NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH: return NOCAP_CQ_RELAYS_HEAD;
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_H:
    case NOCAP_CQ_PREFETCH_RELAY_PAGED:
    case NOCAP_CQ_PREFETCH_RELAY_PAGED_PACKED:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED_H:
    case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: return NOCAP_CQ_RELAYS_DATA;
    default: return NOCAP_CQ_RELAYS_WHOLE;
    }
}

/* Of all sub-commands; false: some are not known. */
static bool sum_of_lengths(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size,
                           uint64_t *sum)
{
    struct nocap_cq_subs s;
    struct nocap_cq_command sub;
    *sum = 0;
    for (uint32_t i = 0; nocap_cq_subs(c, &s) && i < s.count; i++) {
        if (!nocap_cq_sub(&s, i, bytes, size, &sub)) {
            return false;
        }
        *sum += sub.length;
    }
    return true;
}

bool nocap_cq_data_length(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size,
                          uint64_t *length)
{
    const uint64_t cut = c->is_dram & NOCAP_CQ_LENGTH_ADJUST;
    switch (c->id) {
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_H: *length = c->length; return true;
    case NOCAP_CQ_PREFETCH_RELAY_PAGED:
        *length = c->pages * c->page_size - cut;
        return cut <= c->pages * c->page_size;
    case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: return sum_of_lengths(c, bytes, size, length);
    default: *length = c->total_length; return c->total_length != 0;
    }
}

static bool relays(unsigned id)
{
    return id == NOCAP_CQ_PREFETCH_RELAY_INLINE || id == NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH ||
           id == NOCAP_CQ_PREFETCH_EXEC_BUF_END;
}

bool nocap_cq_decode_record_by(const struct nocap_command_set *set, const uint8_t *bytes,
                               size_t size, struct nocap_cq_record *r)
{
    const struct nocap_cq_command *p = &r->prefetch;
    const bool header = nocap_cq_decode_by(set, NOCAP_CQ_PREFETCH, bytes, size, &r->prefetch);
    const bool inner = header && relays(p->id) && size > NOCAP_CQ_HEADER;
    r->has_dispatch = false;
    r->inner = NULL;
    r->inner_size = r->consumed = 0;
    if (!inner) {
        memset(&r->dispatch, 0, sizeof r->dispatch);
    }
    if (!header) {
        return false;
    }
    bool handled = p->id < NOCAP_CQ_IDS && !set_of(set)->unhandled[NOCAP_CQ_PREFETCH][p->id];
    switch (handled ? p->id : NOCAP_CQ_NO_ID) {
    case NOCAP_CQ_PREFETCH_RELAY_INLINE:
    case NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH:
    case NOCAP_CQ_PREFETCH_EXEC_BUF_END:
    case NOCAP_CQ_PREFETCH_RELAY_PAGED_PACKED:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_PACKED_H:
    case NOCAP_CQ_PREFETCH_DEBUG:
    case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: r->consumed = p->stride; break;
    case NOCAP_CQ_NO_ID: break;
    default: r->consumed = NOCAP_CQ_RECORD_ALIGN;
    }
    if (inner) {
        r->inner = bytes + NOCAP_CQ_HEADER;
        r->inner_size = size - NOCAP_CQ_HEADER;
        if (r->inner_size > p->length) {
            r->inner_size = p->length;
        }
        r->has_dispatch =
            nocap_cq_decode_by(set, NOCAP_CQ_DISPATCH, r->inner, r->inner_size, &r->dispatch);
    }
    return true;
}

uint32_t nocap_cq_rect_encode(struct nocap_cq_rect rect)
{
    return nocap_niu_hi_rectangle(rect.high, rect.low);
}

struct nocap_cq_rect nocap_cq_rect_decode(uint32_t noc_xy)
{
    return (struct nocap_cq_rect){nocap_niu_xy(noc_xy), nocap_niu_start(noc_xy)};
}

uint32_t nocap_cq_rect_area(struct nocap_cq_rect r)
{
    if (r.high.x < r.low.x || r.high.y < r.low.y) {
        return 0;
    }
    return (uint32_t)(r.high.x - r.low.x + 1) * (uint32_t)(r.high.y - r.low.y + 1);
}

size_t nocap_cq_fields_text(const struct nocap_cq_command *c, char *buffer, size_t room)
{
    const struct nocap_cq_form *form = form_of(c->set, c->side, c->id);
    const char *name = nocap_cq_name((enum nocap_cq_side)c->side, c->id);
    int n = form != NULL && name != NULL ? snprintf(buffer, room, "%s", name)
                                         : snprintf(buffer, room, "command 0x%02x", c->wire);
    size_t at = (size_t)n;
    for (unsigned i = 0;
         form != NULL && i < NOCAP_CQ_FORM_FIELDS && form->fields[i].width != 0 && at < room; i++) {
        uint64_t v = member(c, form->fields[i].member);
        if (v != 0) {
            n = snprintf(buffer + at, room - at, v < 10 ? " %s %llu" : " %s 0x%llx",
                         nocap_cq_member_name(form->fields[i].member), (unsigned long long)v);
            at += (size_t)n;
        }
    }
    return at < room ? at : room - 1;
}
