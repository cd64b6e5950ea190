/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/cq_commands.h"

#include <stdio.h>
#include <string.h>

#include "formats/blackhole/niu.h"

struct place {
    uint16_t member; /* offset in struct nocap_cq_command */
    uint8_t offset, width;
    const char *name; /* NULL ends a list */
};

struct layout {
    const char *name;
    const struct place *fields;
    uint8_t header;
};

#define COMMAND(SIDE, NAME, id, header) static const struct place SIDE##_##NAME##_fields[] = {
#define FIELD(member, offset, width)                                                               \
    {offsetof(struct nocap_cq_command, member), offset, width, #member},
#define END_COMMAND                                                                                \
    {                                                                                              \
        0, 0, 0, NULL                                                                              \
    }                                                                                              \
    }                                                                                              \
    ;
#include "formats/blackhole/cq_commands.def"

#define COMMAND(SIDE, NAME, id, header)                                                            \
    [NOCAP_CQ_##SIDE][id] = {#NAME, SIDE##_##NAME##_fields, header},
enum { IDS = NOCAP_CQ_DISPATCH_TIMESTAMP + 1 };
static const struct layout layouts[][IDS] = {
#include "formats/blackhole/cq_commands.def"
};

static const struct layout *layout_of(unsigned side, unsigned id)
{
    return side <= NOCAP_CQ_SUB && id < IDS && layouts[side][id].name != NULL ? &layouts[side][id]
                                                                              : NULL;
}

const char *nocap_cq_name(enum nocap_cq_side side, unsigned id)
{
    const struct layout *l = layout_of(side, id);
    return l != NULL ? l->name : NULL;
}

uint32_t nocap_cq_header_size(enum nocap_cq_side side, unsigned id)
{
    const struct layout *l = layout_of(side, id);
    return l != NULL ? l->header : NOCAP_CQ_HEADER;
}

static uint64_t get(const uint8_t *bytes, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++) {
        v |= (uint64_t)bytes[i] << 8 * i;
    }
    return v;
}

static bool decode(enum nocap_cq_side side, unsigned id, const uint8_t *bytes, size_t size,
                   struct nocap_cq_command *c)
{
    const struct layout *l = layout_of(side, id);
    memset(c, 0, sizeof *c);
    c->side = (uint8_t)side;
    c->id = (uint8_t)id;
    if (size < nocap_cq_header_size(side, id)) {
        return false;
    }
    for (const struct place *p = l != NULL ? l->fields : NULL; p != NULL && p->name != NULL; p++) {
        uint64_t v = get(bytes + p->offset, p->width);
        memcpy((uint8_t *)c + p->member, &v, sizeof v);
    }
    return true;
}

bool nocap_cq_decode(enum nocap_cq_side side, const uint8_t *bytes, size_t size,
                     struct nocap_cq_command *c)
{
    if (size == 0) {
        memset(c, 0, sizeof *c);
        c->side = (uint8_t)side;
        return false;
    }
    return decode(side, bytes[0], bytes, size, c);
}

bool nocap_cq_decode_sub(enum nocap_cq_id id, const uint8_t *bytes, size_t size,
                         struct nocap_cq_command *sub)
{
    return decode(NOCAP_CQ_SUB, id, bytes, size, sub);
}

size_t nocap_cq_encode(const struct nocap_cq_command *c, uint8_t *bytes)
{
    const struct layout *l = layout_of(c->side, c->id);
    uint32_t size = nocap_cq_header_size((enum nocap_cq_side)c->side, c->id);
    memset(bytes, 0, size);
    if (c->side != NOCAP_CQ_SUB) {
        bytes[0] = c->id;
    }
    for (const struct place *p = l != NULL ? l->fields : NULL; p != NULL && p->name != NULL; p++) {
        uint64_t v;
        memcpy(&v, (const uint8_t *)c + p->member, sizeof v);
        for (unsigned i = 0; i < p->width; i++) {
            bytes[p->offset + i] = (uint8_t)(v >> 8 * i);
        }
    }
    return size;
}

uint32_t nocap_cq_encode_relay_inline(uint32_t length, uint8_t *bytes)
{
    struct nocap_cq_command c = {
        .side = NOCAP_CQ_PREFETCH,
        .id = NOCAP_CQ_PREFETCH_RELAY_INLINE,
        .length = length,
        .stride = nocap_cq_align((uint64_t)length + NOCAP_CQ_HEADER, NOCAP_CQ_RECORD_ALIGN)};
    nocap_cq_encode(&c, bytes);
    return (uint32_t)c.stride;
}

bool nocap_cq_padding_zero(const struct nocap_cq_command *c, const uint8_t *bytes)
{
    const struct layout *l = layout_of(c->side, c->id);
    uint64_t covered = c->side == NOCAP_CQ_SUB ? 0 : 1; /* a bit for each byte of the header */
    if (l == NULL) {
        return true;
    }
    for (const struct place *p = l->fields; p->name != NULL; p++) {
        covered |= ((UINT64_C(1) << p->width) - 1) << p->offset;
    }
    for (unsigned i = 0; i < l->header; i++) {
        if ((covered >> i & 1) == 0 && bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

bool nocap_cq_subs(const struct nocap_cq_command *c, struct nocap_cq_subs *s)
{
    uint64_t count = c->count;
    if (c->side == NOCAP_CQ_PREFETCH) {
        switch (c->id) {
        case NOCAP_CQ_PREFETCH_RELAY_PAGED_PACKED: s->id = NOCAP_CQ_SUB_RELAY_PAGED; break;
        case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: s->id = NOCAP_CQ_SUB_RELAY_RINGBUFFER; break;
        default: return false;
        }
    } else {
        switch (c->id) {
        case NOCAP_CQ_DISPATCH_WRITE_PACKED:
            s->id = (c->flags & NOCAP_CQ_PACKED_FLAG_MCAST) != 0 ? NOCAP_CQ_SUB_PACKED_MCAST
                                                                 : NOCAP_CQ_SUB_PACKED_UNICAST;
            break;
        case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: s->id = NOCAP_CQ_SUB_PACKED_LARGE; break;
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
    s->count = (uint32_t)count;
    s->size = nocap_cq_header_size(NOCAP_CQ_SUB, s->id);
    s->offset = NOCAP_CQ_HEADER;
    return true;
}

bool nocap_cq_sub(const struct nocap_cq_subs *subs, uint32_t i, const uint8_t *bytes, size_t size,
                  struct nocap_cq_command *sub)
{
    uint64_t at = subs->offset + (uint64_t)i * subs->size;
    return i < subs->count && at + subs->size <= size &&
           nocap_cq_decode_sub(subs->id, bytes + at, size - at, sub);
}

uint64_t nocap_cq_data_offset(const struct nocap_cq_command *c)
{
    struct nocap_cq_subs s;
    if (c->side != NOCAP_CQ_DISPATCH || !nocap_cq_subs(c, &s)) {
        return nocap_cq_header_size((enum nocap_cq_side)c->side, c->id);
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
        *consumed += nocap_cq_align(sub.length_minus1 + 1, to);
    }
    return true;
}

bool nocap_cq_consumed(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size,
                       uint64_t *consumed)
{
    *consumed = nocap_cq_data_offset(c);
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
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: return consumed_large(c, bytes, size, consumed);
    case NOCAP_CQ_DISPATCH_WAIT:
    case NOCAP_CQ_DISPATCH_EXEC_BUF_END:
    case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET:
    case NOCAP_CQ_DISPATCH_TERMINATE:
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL:
    case NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL:
    case NOCAP_CQ_DISPATCH_SET_NUM_WORKER_SEMS:
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA:
    case NOCAP_CQ_DISPATCH_TIMESTAMP: return true;
    default: return false;
    }
}

static bool relays(unsigned id)
{
    return id == NOCAP_CQ_PREFETCH_RELAY_INLINE || id == NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH ||
           id == NOCAP_CQ_PREFETCH_EXEC_BUF_END;
}

bool nocap_cq_decode_record(const uint8_t *bytes, size_t size, struct nocap_cq_record *r)
{
    memset(r, 0, sizeof *r);
    if (!nocap_cq_decode(NOCAP_CQ_PREFETCH, bytes, size, &r->prefetch)) {
        return false;
    }
    const struct nocap_cq_command *p = &r->prefetch;
    switch (p->id) {
    case NOCAP_CQ_PREFETCH_RELAY_INLINE:
    case NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH:
    case NOCAP_CQ_PREFETCH_EXEC_BUF_END:
    case NOCAP_CQ_PREFETCH_RELAY_PAGED_PACKED:
    case NOCAP_CQ_PREFETCH_RELAY_RINGBUFFER: r->consumed = p->stride; break;
    case NOCAP_CQ_PREFETCH_ILLEGAL:
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR_H:
    case NOCAP_CQ_PREFETCH_DEBUG: break;
    default:
        r->consumed = nocap_cq_name(NOCAP_CQ_PREFETCH, p->id) != NULL ? NOCAP_CQ_RECORD_ALIGN : 0;
    }
    if (relays(p->id) && size > NOCAP_CQ_HEADER) {
        r->inner = bytes + NOCAP_CQ_HEADER;
        r->inner_size = size - NOCAP_CQ_HEADER;
        if (r->inner_size > p->length) {
            r->inner_size = p->length;
        }
        r->has_dispatch = nocap_cq_decode(NOCAP_CQ_DISPATCH, r->inner, r->inner_size, &r->dispatch);
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
    const struct layout *l = layout_of(c->side, c->id);
    int n = l != NULL ? snprintf(buffer, room, "%s", l->name)
                      : snprintf(buffer, room, "command 0x%02x", c->id);
    size_t at = (size_t)n;
    for (const struct place *p = l != NULL ? l->fields : NULL;
         p != NULL && p->name != NULL && at < room; p++) {
        uint64_t v;
        memcpy(&v, (const uint8_t *)c + p->member, sizeof v);
        if (v != 0) {
            n = snprintf(buffer + at, room - at, v < 10 ? " %s %llu" : " %s 0x%llx", p->name,
                         (unsigned long long)v);
            at += (size_t)n;
        }
    }
    return at < room ? at : room - 1;
}
