/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a record, decoded once; commands that write to tiles: where to, how much, how many.
 * Rules CQ-010 to CQ-016, CQ-046. */
#include "replay/cq/cq_private.h"

/* ---- decoding ---- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_host_memory(const struct nocap_cq_command *c)
{
    return c->noc_xy >> 24 != 0;
}

static void decode_targets(const struct cq *q, struct cq_command *k)
{
    const struct nocap_cq_command *c = &k->record.dispatch, *s = c;
    struct nocap_cq_command sub;
    bool unicast = c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST;
    bool large = unicast || c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE;
    bool packed = large || c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED;
    bool shared = packed && !large && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0;
    uint64_t at = nocap_cq_data_offset(c), align = large ? c->alignment : q->numbers->l1_align;
    if (packed || c->id == NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA) {
        nocap_cq_subs(c, &k->subs);
        k->mcast = k->subs.id == NOCAP_CQ_SUB_PACKED_MCAST || (large && !unicast);
        s = &sub;
    } else if (c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR ||
               c->id == NOCAP_CQ_DISPATCH_WRITE_LINEAR_H) {
        k->subs.count = 1;
        k->mcast = c->num_mcast_dests != 0;
    }
    while (
        k->known < k->subs.count && k->known < CQ_TARGETS &&
        (s == c || nocap_cq_sub(&k->subs, k->known, k->record.inner, k->record.inner_size, &sub))) {
        uint64_t size = unicast  ? s->length
                        : large  ? s->length_minus1 + 1
                        : packed ? c->size
                                 : c->length;
        k->targets[k->known++] = (struct cq_target){
            .noc_xy = (uint32_t)s->noc_xy,
            .dests = (uint32_t)s->num_mcast_dests,
            .mcast = k->mcast,
            .unlinks = (s->flags & NOCAP_CQ_LARGE_FLAG_UNLINK) != 0,
            .addr = large ? s->addr : c->addr,
            .size = size,
            .memory = s == c && is_host_memory(c),
            .payload = at < k->record.inner_size ? k->record.inner + at : NULL,
            .known = at < k->record.inner_size ? smaller(k->record.inner_size - at, size) : 0};
        at += shared ? 0 : nocap_cq_align(size, align != 0 ? align : 1);
    }
}

bool cq_decode(const struct cq *q, struct cq_command *k, const uint8_t *bytes, uint32_t size)
{
    k->subs.count = k->known = 0;
    k->mcast = false;
    bool header = nocap_cq_decode_record_by(q->set, bytes, size, &k->record);
    if (header && k->record.has_dispatch) {
        decode_targets(q, k);
    }
    return header;
}

struct cq_tile_set cq_target_tiles(const struct cq *q, const struct cq_target *t)
{
    struct cq_tile_set tiles = {{0}};
    struct nocap_cq_rect rect = nocap_cq_rect_decode(t->noc_xy);
    rect.high = t->mcast ? rect.high : rect.low;
    for (unsigned x = rect.low.x; x <= rect.high.x && x < NOCAP_GRID_WIDTH; x++) {
        for (unsigned y = rect.low.y; y <= rect.high.y && y < NOCAP_GRID_HEIGHT; y++) {
            const struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            if (model_is_tensix(q->m, at)) {
                cq_set_add(&tiles, at);
            }
        }
    }
    return tiles;
}

/* ---- rectangles, addresses ---- */

uint32_t cq_count_workers(const struct cq *q, struct nocap_cq_rect rect, uint32_t *reached)
{
    uint32_t workers = 0;
    *reached = 0;
    for (unsigned x = rect.low.x; x <= rect.high.x; x++) {
        for (unsigned y = rect.low.y; y <= rect.high.y; y++) {
            const struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            *reached += model_is_tensix(q->m, at);
            workers += cq_is_worker(q, at);
        }
    }
    return workers;
}

fault_id cq_judge_rect(struct cq *q, uint64_t noc_xy, uint64_t dests, fault_id since)
{
    struct nocap_cq_rect r = nocap_cq_rect_decode((uint32_t)noc_xy);
    uint32_t reached, workers = cq_count_workers(q, r, &reached);
    bool right = dests != 0 && (q->loose ? dests <= reached : dests == reached && dests == workers);
    CQ_HOST_AFTER(q, CQ_014, since, right, NO_REFS,
                  "a rectangle of worker cores, as many as the command says",
                  "multicast rectangle %u,%u to %u,%u has %u cores%s, the command says %llu",
                  r.low.x, r.low.y, r.high.x, r.high.y, reached,
                  reached != workers ? ", not all workers" : "", wide(dests));
    if (!right) {
        q->wrong.low = r.low;
        q->wrong.high = r.high;
        q->wrong.rect_since = q->m->fault;
    }
    return right ? since : q->m->fault;
}

static void judge_address(struct cq *q, uint64_t addr)
{
    fault_id *since = &q->program.unaligned;
    bool right = addr % q->numbers->l1_align == 0;
    CQ_HOST_AFTER(q, CQ_015, *since, right, NO_REFS, "an aligned destination",
                  "destination 0x%llx not aligned to %u", wide(addr), q->numbers->l1_align);
    *since = right ? *since : q->m->fault;
    if (!right) {
        q->wrong.address = (uint32_t)addr;
        q->wrong.address_since = q->m->fault;
    }
}

static void judge_index(struct cq *q, uint64_t index)
{
    CQ_HOST(q, CQ_016, index < q->numbers->write_offsets, NO_REFS, "a write offset that there is",
            "write offset index %llu, the dispatcher has %u", wide(index),
            q->numbers->write_offsets);
    CQ_HOST(q, CQ_016a,
            index < q->numbers->write_offsets_used || index >= q->numbers->write_offsets, NO_REFS,
            "a write offset that this host uses",
            "write offset index %llu, this host uses those below %u", wide(index),
            q->numbers->write_offsets_used);
}

/* ---- WRITE_LINEAR ---- */

static fault_id judge_linear(struct cq *q, const struct nocap_cq_command *c)
{
    if (c->noc_xy >> 24 == 0) {
        judge_address(q, c->addr);
    }
    return c->num_mcast_dests != 0 ? cq_judge_rect(q, c->noc_xy, c->num_mcast_dests, FAULT_NONE)
                                   : FAULT_NONE;
}

/* ---- WRITE_PACKED ---- */

static fault_id judge_packed_size(struct cq *q, const struct cq_command *k)
{
    const struct nocap_cq_command *c = &k->record.dispatch;
    uint32_t limit = k->mcast ? q->numbers->packed_mcast : q->numbers->packed_unicast;
    /* 138 workers have a firmware of their own, or none: the bytes do not say */
    bool many = q->m->header->board != NOCAP_BOARD_P100 && !k->mcast && c->count > limit &&
                c->count <= NOCAP_CQ_PACKED_WORKERS;
    bool count = c->count >= 1 && (c->count <= limit || many);
    CQ_HOST(q, CQ_010, count, NO_REFS, "as many sub-commands as the dispatcher holds, at least one",
            "WRITE_PACKED with %llu sub-commands, the dispatcher holds 1 to %u", wide(c->count),
            limit);
    fault_id fault = fault_of(q->m, count);
    CQ_HOST(q, CQ_010a, !many, NO_REFS,
            "no more sub-commands than the dispatcher holds, unless it was built for more",
            "WRITE_PACKED with %llu sub-commands, the dispatcher holds %u", wide(c->count), limit);
    if (!count) {
        return fault;
    }
    uint64_t head = k->subs.offset + c->count * k->subs.size;
    bool size = c->size >= 1 && c->size <= q->numbers->page && head <= q->numbers->page;
    CQ_HOST(q, CQ_011, size, NO_REFS,
            "1 byte to a page per worker core, and all sub-commands in the first page",
            "WRITE_PACKED of %llu bytes per worker core, sub-commands end at %llu, a page has %u",
            wide(c->size), wide(head), q->numbers->page);
    fault = fault_of(q->m, size);
    if (size && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0) {
        uint64_t end = nocap_cq_data_offset(c) + nocap_cq_align(c->size, q->numbers->l1_align);
        CQ_HOST(q, CQ_012, end <= q->numbers->page, NO_REFS,
                "a shared payload in the first page: the dispatcher does not step over it",
                "shared payload of WRITE_PACKED ends at %llu, the first page at %u", wide(end),
                q->numbers->page);
    }
    return fault;
}

static fault_id judge_packed(struct cq *q, const struct cq_command *k)
{
    judge_address(q, k->record.dispatch.addr);
    fault_id fault = judge_packed_size(q, k);
    uint32_t rects = k->mcast && fault == FAULT_NONE ? k->known : 0;
    for (uint32_t i = 0; i < rects; i++) {
        fault = cq_judge_rect(q, k->targets[i].noc_xy, k->targets[i].dests, fault);
    }
    return fault;
}

/* ---- WRITE_PACKED_LARGE, WRITE_PACKED_LARGE_UNICAST ---- */

/* NULL, or what is wrong with the sub-commands as a whole, as a format for `value`. */
static const char *large_problem(const struct cq *q, const struct cq_command *k, uint32_t *value)
{
    uint64_t align = k->record.dispatch.alignment;
    *value = k->subs.count;
    if (k->subs.count < 1 || k->subs.count > q->numbers->packed_large) {
        return "WRITE_PACKED_LARGE with %u sub-commands";
    }
    *value = (uint32_t)align;
    bool lowered = q->numbers->large_chunk != 0; /* by a host that pads to L1's alignment */
    if (align < q->numbers->l1_align || (align & (align - 1)) != 0 ||
        (lowered && align != q->numbers->l1_align)) {
        return "WRITE_PACKED_LARGE with alignment %u";
    }
    for (*value = 0; k->mcast && *value < k->known; (*value)++) {
        const struct cq_target *t = &k->targets[*value];
        if (t->dests == 0) {
            return "sub-command %u of WRITE_PACKED_LARGE has no destinations";
        }
        if (*value > 0 && !t[-1].unlinks && t[-1].noc_xy != t->noc_xy) {
            return "sub-command %u of WRITE_PACKED_LARGE goes elsewhere, but is linked to the one "
                   "before";
        }
    }
    *value = k->known - 1;
    return k->mcast && k->known == k->subs.count && !k->targets[*value].unlinks
               ? "sub-command %u of WRITE_PACKED_LARGE, the last, does not unlink"
               : NULL;
}

static fault_id judge_large(struct cq *q, const struct cq_command *k)
{
    fault_id rect = FAULT_NONE;
    bool small = true;
    uint32_t value;
    const char *problem = large_problem(q, k, &value);
    CQ_HOST(q, CQ_013, problem == NULL, NO_REFS,
            "no more sub-commands than the dispatcher holds, with destinations, linked only to the "
            "same rectangle, the last one not; alignment 16",
            WITH_NUMBER(problem, value));
    fault_id fault = fault_of(q->m, problem == NULL);
    if (k->subs.count > q->numbers->packed_large) {
        return fault;
    }
    for (const struct cq_target *t = k->targets; t < k->targets + k->known; t++) {
        if (t->dests != 0) {
            rect = cq_judge_rect(q, t->noc_xy, t->dests, rect);
        }
        if (k->mcast || t->addr != NOCAP_CQ_DISCARD) {
            judge_address(q, t->addr);
        }
        small = small && (q->numbers->large_chunk == 0 || t->size <= q->numbers->large_chunk);
    }
    CQ_HOST(q, CQ_046, small, NO_REFS, "data of a sub-command in chunks that this host keeps to",
            "sub-command of WRITE_PACKED_LARGE with more than %u bytes", q->numbers->large_chunk);
    return fault != FAULT_NONE ? fault : rect;
}

fault_id cq_judge_writes(struct cq *q, const struct cq_command *k)
{
    const struct nocap_cq_command *c = &k->record.dispatch;
    bool packed = c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED;
    bool large = c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE ||
                 c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST;
    if (!packed && !large && c->id != NOCAP_CQ_DISPATCH_WRITE_LINEAR &&
        c->id != NOCAP_CQ_DISPATCH_WRITE_LINEAR_H) {
        return FAULT_NONE;
    }
    judge_index(q, c->write_offset_index);
    return packed ? judge_packed(q, k) : large ? judge_large(q, k) : judge_linear(q, c);
}
