/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that write to tiles: where to, how much, how many. Rules CQ-010 to CQ-016, CQ-046. */
#include "replay/cq/cq_private.h"

/* ---- rectangles ---- */

static bool only_workers(const struct cq *q, struct nocap_cq_rect rect)
{
    for (unsigned x = rect.low.x; x <= rect.high.x; x++) {
        for (unsigned y = rect.low.y; y <= rect.high.y; y++) {
            if (!cq_is_worker(q, (struct nocap_xy){(uint8_t)x, (uint8_t)y})) {
                return false;
            }
        }
    }
    return true;
}

/* `since`: what is wrong with the command already. */
static fault_id judge_rect(struct cq *q, uint64_t noc_xy, uint64_t dests, fault_id since)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode((uint32_t)noc_xy);
    uint32_t area = nocap_cq_rect_area(r);
    bool right = area != 0 && area == dests && only_workers(q, r);
    CQ_HOST_AFTER(q, CQ_014, since, right, NOTHING,
                  "a rectangle of worker tiles, as many as the command says",
                  "%u,%u to %u,%u, which is %u tiles%s, for %llu destinations", r.low.x, r.low.y,
                  r.high.x, r.high.y, area, area != 0 && area == dests ? " not all workers" : "",
                  wide(dests));
    return right ? since : q->m->fault;
}

static void judge_address(struct cq *q, uint64_t addr)
{
    fault_id *since = &q->program.unaligned;
    bool right = addr % NOCAP_CQ_L1_ALIGN == 0;
    CQ_HOST_AFTER(q, CQ_015, *since, right, NOTHING, "a destination aligned to 16 bytes", "0x%llx",
                  wide(addr));
    *since = right ? *since : q->m->fault;
}

static void judge_index(struct cq *q, uint64_t index)
{
    CQ_HOST(q, CQ_016, index < NOCAP_CQ_WRITE_OFFSETS, NOTHING, "a write offset of 0 to 3", "%llu",
            wide(index));
    CQ_HOST(q, CQ_016a, index == 0 || index >= NOCAP_CQ_WRITE_OFFSETS, NOTHING,
            "write offset 0, the only one that this host uses", "%llu", wide(index));
}

/* ---- WRITE_LINEAR ---- */

static fault_id judge_linear(struct cq *q, const struct nocap_cq_command *c)
{
    fault_id fault = FAULT_NONE;
    judge_index(q, c->write_offset_index);
    if (c->num_mcast_dests != 0) {
        fault = judge_rect(q, c->noc_xy, c->num_mcast_dests, FAULT_NONE);
    }
    if (c->noc_xy >> 24 == 0) {
        judge_address(q, c->addr);
    }
    return fault;
}

/* ---- WRITE_PACKED ---- */

static fault_id judge_packed_size(struct cq *q, const struct nocap_cq_command *c,
                                  const struct nocap_cq_subs *subs)
{
    bool mcast = subs->id == NOCAP_CQ_SUB_PACKED_MCAST;
    uint32_t limit = mcast ? NOCAP_CQ_PACKED_MCAST : NOCAP_CQ_PACKED_UNICAST;
    /* 138 workers have a firmware of their own, or none: the bytes do not say */
    bool many = q->m->header->board != NOCAP_BOARD_P100 && !mcast && c->count > limit &&
                c->count <= NOCAP_CQ_PACKED_WORKERS;
    bool count = c->count >= 1 && (c->count <= limit || many);
    CQ_HOST(q, CQ_010, count, NOTHING, "1 to 118 unicast, 1 to 59 multicast sub-commands", "%llu",
            wide(c->count));
    fault_id fault = fault_of(q->m, count);
    CQ_HOST(q, CQ_010a, !many, NOTHING,
            "at most 118 sub-commands, unless the firmware was built for more", "%llu",
            wide(c->count));
    if (!count) {
        return fault;
    }
    uint64_t head = subs->offset + c->count * subs->size;
    bool size = c->size >= 1 && c->size <= NOCAP_CQ_PAGE && head <= NOCAP_CQ_PAGE;
    CQ_HOST(q, CQ_011, size, NOTHING,
            "1 to 4096 bytes a tile, and all sub-commands in the first page",
            "%llu bytes, sub-commands end at %llu", wide(c->size), wide(head));
    fault = fault_of(q->m, size);
    if (size && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0) {
        uint64_t end = nocap_cq_data_offset(c) + nocap_cq_align(c->size, NOCAP_CQ_L1_ALIGN);
        CQ_HOST(q, CQ_012, end <= NOCAP_CQ_PAGE, NOTHING,
                "a shared payload in the first page: the dispatcher does not step over it",
                "it ends at %llu", wide(end));
    }
    return fault;
}

static fault_id judge_packed(struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    nocap_cq_subs(c, &subs);
    judge_index(q, c->write_offset_index);
    judge_address(q, c->addr);
    fault_id fault = judge_packed_size(q, c, &subs);
    if (fault != FAULT_NONE) {
        return fault;
    }
    for (uint32_t i = 0; subs.id == NOCAP_CQ_SUB_PACKED_MCAST && i < subs.count; i++) {
        if (!nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub)) {
            break;
        }
        fault = judge_rect(q, sub.noc_xy, sub.num_mcast_dests, fault);
    }
    return fault;
}

/* ---- WRITE_PACKED_LARGE ---- */

/* NULL, or what is wrong with the sub-commands as a whole, as a format for `value`. */
static const char *large_problem(const struct nocap_cq_record *r, const struct nocap_cq_subs *subs,
                                 uint32_t *value)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_command sub, before = {.flags = NOCAP_CQ_LARGE_FLAG_UNLINK};
    *value = subs->count;
    if (subs->count < 1 || subs->count > NOCAP_CQ_PACKED_LARGE) {
        return "%u sub-commands";
    }
    *value = (uint32_t)c->alignment;
    if (c->alignment < NOCAP_CQ_L1_ALIGN || (c->alignment & (c->alignment - 1)) != 0) {
        return "alignment %u";
    }
    for (uint32_t i = 0; i < subs->count; i++) {
        *value = i;
        if (!nocap_cq_sub(subs, i, r->inner, r->inner_size, &sub)) {
            return NULL;
        }
        if (sub.num_mcast_dests == 0) {
            return "sub-command %u has no destinations";
        }
        if ((before.flags & NOCAP_CQ_LARGE_FLAG_UNLINK) == 0 && before.noc_xy != sub.noc_xy) {
            return "sub-command %u goes elsewhere, but is linked to the one before";
        }
        before = sub;
    }
    return (sub.flags & NOCAP_CQ_LARGE_FLAG_UNLINK) == 0
               ? "the last sub-command, %u, does not unlink"
               : NULL;
}

static fault_id judge_large(struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    fault_id rect = FAULT_NONE;
    bool small = true;
    uint32_t value;
    nocap_cq_subs(c, &subs);
    judge_index(q, c->write_offset_index);
    const char *problem = large_problem(r, &subs, &value);
    CQ_HOST(q, CQ_013, problem == NULL, NOTHING,
            "1 to 35 sub-commands with destinations, linked only to the same rectangle, the last "
            "one not; alignment 16",
            problem, value);
    fault_id fault = fault_of(q->m, problem == NULL);
    if (subs.count > NOCAP_CQ_PACKED_LARGE) {
        return fault;
    }
    for (uint32_t i = 0; i < subs.count; i++) {
        if (!nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub)) {
            break;
        }
        if (sub.num_mcast_dests != 0) {
            rect = judge_rect(q, sub.noc_xy, sub.num_mcast_dests, rect);
        }
        judge_address(q, sub.addr);
        small = small && sub.length_minus1 < NOCAP_CQ_LARGE_CHUNK;
    }
    CQ_HOST(q, CQ_046, small, NOTHING, "at most 1024 bytes of data a tile and command", "%s",
            "more than that");
    return fault != FAULT_NONE ? fault : rect;
}

fault_id cq_judge_writes(struct cq *q, const struct nocap_cq_record *r)
{
    switch (r->dispatch.id) {
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR:
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H: return judge_linear(q, &r->dispatch);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED: return judge_packed(q, r);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: return judge_large(q, r);
    default: return FAULT_NONE;
    }
}

/* ---- what is written where ---- */

static void add_rect(const struct cq *q, struct cq_tile_set *tiles, struct nocap_cq_rect rect)
{
    for (unsigned x = rect.low.x; x <= rect.high.x && x < NOCAP_GRID_WIDTH; x++) {
        for (unsigned y = rect.low.y; y <= rect.high.y && y < NOCAP_GRID_HEIGHT; y++) {
            if (q->m->workers[x][y]) {
                cq_set_add(tiles, (struct nocap_xy){(uint8_t)x, (uint8_t)y});
            }
        }
    }
}

bool cq_next_target(const struct cq *q, const struct nocap_cq_record *r, struct cq_target *t)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_command sub = *c;
    struct nocap_cq_subs subs;
    bool large = c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE;
    bool packed = large || c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED;
    bool linear =
        c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR || c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H;
    bool more = linear && t->count == 0 && c->noc_xy >> 24 == 0;
    if (packed && c->count <= (large ? NOCAP_CQ_PACKED_LARGE : NOCAP_CQ_PAGE)) {
        nocap_cq_subs(c, &subs);
        more =
            t->count < subs.count && nocap_cq_sub(&subs, t->count, r->inner, r->inner_size, &sub);
    }
    if (!more) {
        return false;
    }
    bool shared = !large && packed && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0;
    uint64_t align = large ? c->alignment : NOCAP_CQ_L1_ALIGN;
    uint64_t at = t->count == 0 ? nocap_cq_data_offset(c)
                  : shared      ? t->at
                                : t->at + nocap_cq_align(t->size, align != 0 ? align : 1);
    t->count++;
    t->at = at;
    t->addr = large ? sub.addr : c->addr;
    t->size = large ? sub.length_minus1 + 1 : packed ? c->size : c->length;
    t->mcast = packed ? large || subs.id == NOCAP_CQ_SUB_PACKED_MCAST : c->num_mcast_dests != 0;
    t->payload = at + t->size <= r->inner_size ? r->inner + at : NULL;
    struct nocap_cq_rect rect = nocap_cq_rect_decode((uint32_t)sub.noc_xy);
    rect.high = t->mcast ? rect.high : rect.low;
    t->tiles = (struct cq_tile_set){{0}};
    add_rect(q, &t->tiles, rect);
    return true;
}
