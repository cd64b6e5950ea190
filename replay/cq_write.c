/* Commands that write to tiles: where to, how much, how many. Rules CQ-010 to CQ-016, CQ-046. */
#include "replay/cq.h"

/* ---- rectangles ---- */

static void add_rect(const struct cq *q, struct cq_tile_set *tiles, struct nocap_cq_rect rect)
{
    for (unsigned x = rect.low.x; x <= rect.high.x && x < NOCAP_GRID_WIDTH; x++) {
        for (unsigned y = rect.low.y; y <= rect.high.y && y < NOCAP_GRID_HEIGHT; y++) {
            struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            if (nocap_is_tensix_tile(q->m->header->board, at)) {
                cq_set_add(tiles, at);
            }
        }
    }
}

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

/* One finding a command is enough. */
static bool judge_rect(struct cq *q, uint64_t noc_xy, uint64_t dests, bool told)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode((uint32_t)noc_xy);
    uint32_t area = nocap_cq_rect_area(r);
    bool right = area != 0 && area == dests && only_workers(q, r);
    if (right || !told) {
        CQ_HOST(q, CQ_014, right, NOTHING,
                "a rectangle of worker tiles, as many as the command says",
                "%u,%u to %u,%u, which is %u tiles%s, for %llu destinations", r.low.x, r.low.y,
                r.high.x, r.high.y, area, area != 0 && area == dests ? " not all workers" : "",
                (unsigned long long)dests);
    }
    return right;
}

static bool judge_address(struct cq *q, uint64_t addr, bool told)
{
    bool right = addr % NOCAP_CQ_L1_ALIGN == 0;
    if (right || !told) {
        CQ_HOST(q, CQ_015, right, NOTHING, "a destination aligned to 16 bytes", "0x%llx",
                (unsigned long long)addr);
    }
    return right;
}

static void judge_index(struct cq *q, uint64_t index)
{
    CQ_HOST(q, CQ_016, index < NOCAP_CQ_WRITE_OFFSETS, NOTHING, "a write offset of 0 to 3", "%llu",
            (unsigned long long)index);
    CQ_HOST(q, CQ_016a, index == 0 || index >= NOCAP_CQ_WRITE_OFFSETS, NOTHING,
            "write offset 0, the only one that this host uses", "%llu", (unsigned long long)index);
}

/* ---- WRITE_LINEAR ---- */

static bool judge_linear(struct cq *q, const struct nocap_cq_command *c)
{
    bool good = true;
    judge_index(q, c->write_offset_index);
    if (c->num_mcast_dests != 0) {
        good = judge_rect(q, c->noc_xy, c->num_mcast_dests, false);
    }
    if (c->noc_xy >> 24 == 0) {
        judge_address(q, c->addr, false);
    }
    return good;
}

/* ---- WRITE_PACKED ---- */

static bool judge_packed_size(struct cq *q, const struct nocap_cq_command *c,
                              const struct nocap_cq_subs *subs)
{
    bool mcast = subs->id == NOCAP_CQ_SUB_PACKED_MCAST;
    uint32_t limit = mcast ? NOCAP_CQ_PACKED_MCAST : NOCAP_CQ_PACKED_UNICAST;
    /* 138 workers have a firmware of their own, or none: the bytes do not say */
    bool wide = q->m->header->board != NOCAP_BOARD_P100 && !mcast && c->count > limit &&
                c->count <= NOCAP_CQ_PACKED_WORKERS;
    bool count = c->count >= 1 && (c->count <= limit || wide);
    CQ_HOST(q, CQ_010, count, NOTHING, "1 to 118 unicast, 1 to 59 multicast sub-commands", "%llu",
            (unsigned long long)c->count);
    CQ_HOST(q, CQ_010a, !wide, NOTHING,
            "at most 118 sub-commands, unless the firmware was built for more", "%llu",
            (unsigned long long)c->count);
    if (!count) {
        return false;
    }
    uint64_t head = subs->offset + c->count * subs->size;
    bool size = c->size >= 1 && c->size <= NOCAP_CQ_PAGE && head <= NOCAP_CQ_PAGE;
    CQ_HOST(q, CQ_011, size, NOTHING,
            "1 to 4096 bytes a tile, and all sub-commands in the first page",
            "%llu bytes, sub-commands end at %llu", (unsigned long long)c->size,
            (unsigned long long)head);
    if (size && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0) {
        uint64_t end = nocap_cq_data_offset(c) + nocap_cq_align(c->size, NOCAP_CQ_L1_ALIGN);
        CQ_HOST(q, CQ_012, end <= NOCAP_CQ_PAGE, NOTHING,
                "a shared payload in the first page: the dispatcher does not step over it",
                "it ends at %llu", (unsigned long long)end);
    }
    return size;
}

static bool judge_packed(struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    bool good = true;
    nocap_cq_subs(c, &subs);
    judge_index(q, c->write_offset_index);
    judge_address(q, c->addr, false);
    if (!judge_packed_size(q, c, &subs)) {
        return false;
    }
    for (uint32_t i = 0; subs.id == NOCAP_CQ_SUB_PACKED_MCAST && i < subs.count; i++) {
        if (!nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub)) {
            break;
        }
        good = judge_rect(q, sub.noc_xy, sub.num_mcast_dests, !good) && good;
    }
    return good;
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

static bool judge_large(struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    bool good = true, aligned = true, small = true;
    uint32_t value;
    nocap_cq_subs(c, &subs);
    judge_index(q, c->write_offset_index);
    const char *problem = large_problem(r, &subs, &value);
    if (q->m->armed[CQ_013]) {
        q->m->exercised[CQ_013]++;
        if (problem != NULL) {
            diverge(q->m, NULL, CQ_013, cq_moment(q, NOCAP_BY_HOST), -1, NOTHING,
                    "1 to 35 sub-commands with destinations, linked only to the same rectangle, "
                    "the last one not; alignment 16",
                    problem, value);
        }
    }
    if (subs.count > NOCAP_CQ_PACKED_LARGE) {
        return false;
    }
    for (uint32_t i = 0; i < subs.count; i++) {
        if (!nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub)) {
            break;
        }
        if (sub.num_mcast_dests != 0) {
            good = judge_rect(q, sub.noc_xy, sub.num_mcast_dests, !good) && good;
        }
        aligned = judge_address(q, sub.addr, !aligned) && aligned;
        small = small && sub.length_minus1 < NOCAP_CQ_LARGE_CHUNK;
    }
    CQ_HOST(q, CQ_046, small, NOTHING, "at most 1024 bytes of data a tile and command", "%s",
            "more than that");
    return problem == NULL && good;
}

bool cq_judge_writes(struct cq *q, const struct nocap_cq_record *r)
{
    switch (r->dispatch.id) {
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR:
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H: return judge_linear(q, &r->dispatch);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED: return judge_packed(q, r);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE: return judge_large(q, r);
    default: return true;
    }
}

/* ---- what is written where ---- */

static const uint8_t *payload_at(const struct nocap_cq_record *r, uint64_t at, uint64_t size)
{
    return at + size <= r->inner_size ? r->inner + at : NULL;
}

static void each_packed(struct cq *q, const struct nocap_cq_record *r,
                        void (*each)(struct cq *, const struct cq_target *, void *), void *context)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    nocap_cq_subs(c, &subs);
    bool mcast = subs.id == NOCAP_CQ_SUB_PACKED_MCAST;
    uint64_t stride = (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0
                          ? 0
                          : nocap_cq_align(c->size, NOCAP_CQ_L1_ALIGN);
    for (uint32_t i = 0; i < subs.count && nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub);
         i++) {
        struct cq_target t = {.addr = c->addr, .size = c->size, .mcast = mcast};
        struct nocap_cq_rect rect = nocap_cq_rect_decode((uint32_t)sub.noc_xy);
        rect.high = mcast ? rect.high : rect.low;
        t.payload = payload_at(r, nocap_cq_data_offset(c) + i * stride, c->size);
        add_rect(q, &t.tiles, rect);
        each(q, &t, context);
    }
}

static void each_large(struct cq *q, const struct nocap_cq_record *r,
                       void (*each)(struct cq *, const struct cq_target *, void *), void *context)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    nocap_cq_subs(c, &subs);
    uint64_t at = nocap_cq_data_offset(c);
    for (uint32_t i = 0; i < subs.count && nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub);
         i++) {
        struct cq_target t = {.addr = sub.addr, .size = sub.length_minus1 + 1, .mcast = true};
        t.payload = payload_at(r, at, t.size);
        add_rect(q, &t.tiles, nocap_cq_rect_decode((uint32_t)sub.noc_xy));
        each(q, &t, context);
        at += nocap_cq_align(t.size, c->alignment != 0 ? c->alignment : 1);
    }
}

void cq_each_target(struct cq *q, const struct nocap_cq_record *r,
                    void (*each)(struct cq *, const struct cq_target *, void *), void *context)
{
    const struct nocap_cq_command *c = &r->dispatch;
    if (c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED && c->count <= NOCAP_CQ_PAGE) {
        each_packed(q, r, each, context);
    } else if (c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE && c->count <= NOCAP_CQ_PACKED_LARGE) {
        each_large(q, r, each, context);
    } else if ((c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR ||
                c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H) &&
               c->noc_xy >> 24 == 0) {
        struct cq_target t = {.addr = c->addr, .size = c->length, .mcast = c->num_mcast_dests != 0};
        struct nocap_cq_rect rect = nocap_cq_rect_decode((uint32_t)c->noc_xy);
        rect.high = t.mcast ? rect.high : rect.low;
        t.payload = payload_at(r, NOCAP_CQ_HEADER_MAX, c->length);
        add_rect(q, &t.tiles, rect);
        each(q, &t, context);
    }
}
