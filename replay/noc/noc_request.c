/* SPDX-License-Identifier: Apache-2.0 */
/* What a single request of a network interface must be: kind, place, size, alignment. Rules NOC-001
 * to NOC-005, NOC-008, NOC-009, NOC-019 to NOC-022, NOC-025, NOC-026, NOC-028, NOC-032. */
#include "formats/blackhole/mailbox.h"
#include "replay/noc/noc_private.h"

/* The mailbox that kernels keep their hands off: from its base to the zero page. */
enum { MAILBOX_END = NOCAP_L1_ZEROS };

/* One end of a request. */
struct end {
    bool at_known, addr_known;
    struct nocap_xy at;
    uint64_t addr;
    enum nocap_tile_kind kind;
    enum nocap_niu_place place;
};

struct request {
    const struct nocap_event *e;
    struct end from, to;
    bool raw; /* coordinates are NOC 1's own */
    bool size_known;
    uint64_t size;
};

static struct nocap_xy noc0(const struct request *r, struct nocap_xy at)
{
    return r->raw ? nocap_noc1_raw(at) : at;
}

static void take_end(const struct model *m, const struct request *r, struct end *end,
                     uint64_t has_at, struct nocap_xy at, uint64_t has_addr, uint64_t addr)
{
    end->at_known = (r->e->has & has_at) != 0;
    end->addr_known = (r->e->has & has_addr) != 0;
    end->at = noc0(r, at);
    end->addr = addr;
    end->kind = end->at_known ? model_tile_kind(m, end->at) : NOCAP_TILE_NONE;
    end->place = end->addr_known ? nocap_niu_place(end->kind, end->addr) : NOCAP_PLACE_NONE;
}

/* All of `r`, field by field: a struct that is returned is copied. */
static void take_request(const struct model *m, const struct nocap_event *e, bool raw,
                         struct request *r)
{
    bool word = e->op == NOCAP_OP_INLINE || e->op == NOCAP_OP_ATOMIC;
    bool mask = (e->has & NOCAP_F_CTRL) != 0 && (e->ctrl & NOCAP_CTRL_BYTE_ENABLE) != 0;
    bool size = (e->has & NOCAP_F_SIZE) != 0, length = (e->has & NOCAP_F_LEN_BE) != 0 && !mask;
    r->e = e;
    r->raw = raw;
    take_end(m, r, &r->from, NOCAP_F_S, e->s, NOCAP_F_SADDR, e->saddr);
    take_end(m, r, &r->to, NOCAP_F_D, e->d, NOCAP_F_DADDR, e->daddr);
    r->size_known = word || size || length;
    r->size = word ? NOCAP_NIU_MMIO_SIZE : size || !length ? e->size : e->len_be;
}

/* The queue whose dispatcher makes the request; NULL: it is another's. */
static const struct queue_facts *dispatched_by(const struct model *m, const struct nocap_event *e)
{
    const struct queue_facts *q = queue_at(m, e->chip, e->at);
    return q != NULL && queue_dispatches(q, e->at) ? q : NULL;
}

/* ---- CTRL ---- */

/* False: the request means nothing. */
static bool judge_ctrl(struct model *m, const struct tile *tile, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_CTRL) == 0) {
        return true;
    }
    uint32_t ctrl = (uint32_t)e->ctrl;
    bool type = nocap_niu_op(ctrl) != NOCAP_OP_NONE;
    bool reserved = (ctrl & ((uint32_t)NOCAP_CTRL_RESERVED | NOCAP_CTRL_L1_ACCUMULATE)) == 0;
    CHECK(m, tile, NOC_019, type && reserved, NO_REFS,
          "request type 0, 1 or 2; bits 12:10 and 31 of CTRL clear",
          type ? "request with CTRL 0x%x, reserved bits set"
               : "request with CTRL 0x%x, its type not 0, 1 or 2",
          ctrl);
    return type;
}

static void judge_channel(struct model *m, const struct tile *tile, const struct nocap_event *e)
{
    bool ctrl = (e->has & NOCAP_F_CTRL) != 0;
    bool fixed = ctrl ? (e->ctrl & NOCAP_CTRL_VC_STATIC) != 0 : (e->has & NOCAP_F_VC) != 0;
    unsigned vc = ctrl ? nocap_niu_vc((uint32_t)e->ctrl) : e->vc;
    if (!fixed || vc > NOCAP_CTRL_STATIC_VC >> NOCAP_VC_SHIFT) {
        return; /* not chosen, or a number that means something else */
    }
    unsigned class = vc >> NOCAP_VC_CLASS_SHIFT;
    bool right = e->mcast ? class == NOCAP_VC_CLASS_MULTICAST : class < NOCAP_VC_CLASS_MULTICAST;
    CHECK(m, tile, NOC_025, right, NO_REFS,
          e->mcast ? "static class 10 for a multicast" : "static class 00 or 01 for a unicast",
          e->mcast ? "multicast on virtual channel %u, class %u, not 2"
                   : "unicast on virtual channel %u, class %u, not 0 or 1",
          vc, class);
}

/* False: a read from many cores, which means nothing. */
static bool judge_broadcast(struct model *m, const struct tile *tile, const struct nocap_event *e)
{
    bool ctrl = (e->has & NOCAP_F_CTRL) != 0;
    bool many = e->mcast || (ctrl && (e->ctrl & NOCAP_CTRL_BROADCAST) != 0);
    bool read = many && e->op == NOCAP_OP_READ;
    bool path = !ctrl || !e->mcast || (e->ctrl & NOCAP_CTRL_PATH_RESERVE) != 0;
    bool priority = ctrl && (e->ctrl & NOCAP_CTRL_PRIORITY) != 0;
    if (ctrl || e->mcast) {
        CHECK(m, tile, NOC_026, !read && path && !priority, NO_REFS,
              "no read from many cores, the path of a multicast reserved, priority 0", "%s",
              read       ? "read with the broadcast bit"
              : priority ? "request with a priority other than 0"
                         : "multicast without path reserve");
    }
    return !read;
}

/* ---- coordinates ---- */

/* A column that the board has lost counts as outside. */
static bool exists(enum nocap_tile_kind kind, struct nocap_xy at)
{
    return kind != NOCAP_TILE_NONE &&
           (kind == NOCAP_TILE_TENSIX || !nocap_is_tensix_tile(NOCAP_BOARD_UNKNOWN, at));
}

/* A notify goes where the go word says: since when that is wrong. */
static fault_id notified_since(const struct tile *tile, const struct request *r)
{
    const struct launch_facts *l = &tile->launch;
    bool notify = nocap_adds_to_stream(r->to.addr) && nocap_xy_equal(r->to.at, l->master);
    return notify ? l->master_since : FAULT_NONE;
}

/* False: there is no tile to judge any further. */
static bool judge_coordinates(struct model *m, const struct tile *tile, const struct request *r)
{
    const struct nocap_event *e = r->e;
    bool rectangle = e->mcast && (e->has & NOCAP_F_D2) != 0;
    const struct end *far_end = e->op == NOCAP_OP_READ ? &r->from : &r->to;
    if (!far_end->at_known) {
        return true;
    }
    struct nocap_xy other = rectangle ? noc0(r, e->d2) : far_end->at;
    bool right = rectangle ? far_end->kind == NOCAP_TILE_TENSIX && model_is_tensix(m, other)
                           : exists(far_end->kind, far_end->at);
    const struct queue_facts *q = dispatched_by(m, e);
    bool said = q != NULL && nocap_xy_equal(far_end->at, q->wrong.low) &&
                nocap_xy_equal(other, q->wrong.high);
    CHECK_AFTER(m, tile, NOC_032, said ? q->wrong.rect_since : notified_since(tile, r), right,
                NO_REFS, rectangle ? "a multicast to worker cores" : "the coordinates of a core",
                rectangle ? "multicast to %u,%u-%u,%u, not a rectangle of worker cores"
                          : "request to %u,%u, where no core is",
                far_end->at.x, far_end->at.y, other.x, other.y);
    return right;
}

static void judge_own(struct model *m, const struct tile *tile, const struct request *r)
{
    struct nocap_xy own;
    if (nocap_noc_own_end(r->e, &own)) {
        CHECK(m, tile, NOC_028, nocap_xy_equal(noc0(r, own), r->e->at), NO_REFS,
              "the own core where the answer goes",
              "request with core %u,%u where its answer goes, not its own core", own.x, own.y);
    }
}

/* ---- ends ---- */

/* Registers proper: a core's private memory on its slow path is memory. */
static bool is_register(const struct end *end)
{
    return end->place == NOCAP_PLACE_MMIO &&
           (end->kind != NOCAP_TILE_TENSIX ||
            nocap_tile_region(end->addr)->kind == NOCAP_KIND_REGISTERS);
}

static void judge_end(struct model *m, const struct tile *tile, const struct request *r,
                      const struct end *end)
{
    bool registers = is_register(end);
    if (!end->at_known || !end->addr_known || !r->size_known || r->size == 0 ||
        (registers && r->size != NOCAP_NIU_MMIO_SIZE)) { /* NOC-022's */
        return;
    }
    if (end->kind == NOCAP_TILE_TENSIX) {
        const struct nocap_region_info *row = nocap_tile_region(end->addr);
        bool inside = row->region != NOCAP_REGION_GAP && r->size - 1 <= row->last - end->addr;
        CHECK(m, tile, NOC_008, inside, NO_REFS, "a request that does not cross a memory boundary",
              "request of %llu bytes at 0x%llx (%s) crosses a memory boundary",
              (unsigned long long)r->size, (unsigned long long)end->addr, row->name);
    } else if (end->kind == NOCAP_TILE_ETHERNET && registers) {
        bool word = end->addr % NOCAP_NIU_MMIO_SIZE == 0;
        uint32_t v = 0;
        bool store = r->e->op == NOCAP_OP_INLINE && nocap_event_word(r->e, &v);
        CHECK(m, tile, NOC_009, word, NO_REFS, "4 bytes at a multiple of 4",
              "register access at 0x%llx, not a multiple of 4", (unsigned long long)end->addr);
        if (word) {
            FOLLOWING(
                m, notified_since(tile, r),
                noc_ethernet_access(m, tile, r->e->chip, end->at, end->addr, store ? &v : NULL));
        }
    } else if (end->kind == NOCAP_TILE_ETHERNET || end->kind == NOCAP_TILE_DRAM) {
        uint64_t over = nocap_niu_overrun(end->kind, end->addr, r->size);
        CHECK(m, tile, NOC_008, over == 0, NO_REFS,
              "a request that does not cross a memory boundary",
              "request goes %llu bytes past the end of %s core %u,%u", (unsigned long long)over,
              nocap_tile_kind_name(end->kind), end->at.x, end->at.y);
    }
}

/* False: the length makes the request meaningless. */
static bool judge_length(struct model *m, const struct tile *tile, const struct request *r)
{
    const struct nocap_event *e = r->e;
    if (!r->size_known || (e->op != NOCAP_OP_READ && e->op != NOCAP_OP_WRITE)) {
        return true;
    }
    bool registers = is_register(&r->from) || is_register(&r->to);
    bool split = r->size < NOCAP_NIU_SPLIT_BELOW &&
                 (!r->from.addr_known || r->from.addr % NOCAP_NIU_SPLIT_ALIGNMENT == 0) &&
                 (!r->to.addr_known || r->to.addr % NOCAP_NIU_SPLIT_ALIGNMENT == 0);
    bool right = r->size != 0 && (r->size <= NOCAP_NIU_PACKET_MAX || split) &&
                 (!registers || r->size == NOCAP_NIU_MMIO_SIZE);
    CHECK(m, tile, NOC_022, right, NO_REFS,
          registers ? "4 bytes to or from a register"
                    : "1 to 16384 bytes, more only if both addresses are multiples of 64",
          registers ? "request of %llu bytes to or from a register"
                    : "request of %llu bytes, a packet has 1 to 16384",
          (unsigned long long)r->size);
    return right;
}

/* The dispatcher does what its command says: since when that is wrong. */
static fault_id unaligned_since(const struct model *m, const struct nocap_event *e, unsigned modulo)
{
    const struct queue_facts *q = dispatched_by(m, e);
    /* but for a write offset, which is aligned */
    bool said = q != NULL && (((uint32_t)e->daddr ^ q->wrong.address) & (modulo - 1)) == 0;
    return q != NULL && q->unaligned != FAULT_NONE ? q->unaligned
           : said                                  ? q->wrong.address_since
                                                   : FAULT_NONE;
}

static void judge_alignment(struct model *m, const struct tile *tile, const struct request *r)
{
    const struct nocap_event *e = r->e;
    const struct end *far_end = e->op == NOCAP_OP_READ ? &r->from : &r->to;
    const struct end *near_end = e->op == NOCAP_OP_READ ? &r->to : &r->from;
    unsigned modulo = nocap_niu_alignment((enum nocap_op)e->op, far_end->place);
    if (modulo == 1 || near_end->place != NOCAP_PLACE_L1) {
        return;
    }
    bool right = ((far_end->addr ^ near_end->addr) & (modulo - 1)) == 0; /* a power of two */
    const char *expected = modulo == 64   ? "source and destination equal modulo 64"
                           : modulo == 16 ? "source and destination equal modulo 16"
                                          : "source and destination equal modulo 4";
    enum nocap_rule rule = e->op == NOCAP_OP_WRITE              ? NOC_002
                           : far_end->place == NOCAP_PLACE_L1   ? NOC_005
                           : far_end->place == NOCAP_PLACE_MMIO ? NOC_004
                                                                : NOC_003;
    CHECK_AFTER(m, tile, rule, unaligned_since(m, e, modulo), right, NO_REFS, expected,
                "request from 0x%llx to 0x%llx, not equal modulo %u (far end in %s)",
                (unsigned long long)r->from.addr, (unsigned long long)r->to.addr, modulo,
                nocap_niu_place_name(far_end->place));
}

/* Whether a piece of the mailbox is what a dispatcher sends: whole launch messages in their slots,
 * one go word, or the index. */
static bool is_dispatched(const struct nocap_mailbox_layout *l, uint64_t first, uint64_t size)
{
    uint64_t ring = first - l->launch_base, go = first - l->go_messages;
    bool messages = first >= l->launch_base && size != 0 && ring % l->launch_size == 0 &&
                    size % l->launch_size == 0 &&
                    ring + size <= (uint64_t)NOCAP_LAUNCH_SLOTS * l->launch_size;
    bool word =
        size == NOCAP_GO_WORD_SIZE && ((first >= l->go_messages && go % NOCAP_GO_WORD_SIZE == 0 &&
                                        go < (uint64_t)NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE) ||
                                       first == l->go_message_index);
    return messages || word;
}

/* The sync word is overwritten while BRISC runs, as may show only after the landing, or the message
 * of a launch that is not over: SYN-002 and GO-006 say so at the tile. */
static bool hits_firmware(const struct model *m, const struct request *r)
{
    const struct tile *tile = tile_find(m, r->e->chip, r->to.at);
    uint32_t slot;
    uint64_t sync = m->layout->sync;
    enum known runs = tile != NULL ? tile->launch.running[NOCAP_PROCESSOR_BRISC] : NO;
    if ((runs == YES || (runs != NO && m->landings)) && r->to.addr < sync + NOCAP_SYNC_BYTES &&
        sync < r->to.addr + r->size) {
        return true;
    }
    if (tile == NULL || tile->launch.pending != YES || !tile->sees_cores ||
        !shadow_word(&tile->l1, m->layout->rd_ptr, &slot)) {
        return false;
    }
    uint64_t at = nocap_launch_slot(m->layout, slot % NOCAP_LAUNCH_SLOTS);
    return r->to.addr < at + m->layout->launch_size && at < r->to.addr + r->size;
}

/* Launch messages, go words and their index are the dispatcher's to write; what runs is judged
 * where the tile's firmware is. */
static void judge_mailbox(struct model *m, const struct tile *tile, const struct request *r)
{
    const struct nocap_mailbox_layout *l = m->layout;
    if (r->to.kind != NOCAP_TILE_TENSIX || r->to.place != NOCAP_PLACE_L1 || !r->size_known) {
        return;
    }
    uint64_t first = r->to.addr, last = first + (r->size == 0 ? 0 : r->size - 1);
    uint32_t end = l->go_message_index + 4 < MAILBOX_END ? MAILBOX_END : l->go_message_index + 4;
    bool outside = last < NOCAP_MAILBOX_BASE || first >= end;
    if (outside || hits_firmware(m, r)) {
        exercise(m, NOC_032, outside);
        return;
    }
    const struct queue_facts *q = dispatched_by(m, r->e);
    bool fits = r->e->op != NOCAP_OP_ATOMIC && is_dispatched(l, first, r->size);
    CHECK_AFTER(m, tile, NOC_032, q != NULL ? q->launches_since : FAULT_NONE,
                fits && (q != NULL || !queue_known(m, r->e->chip)), NO_REFS,
                fits ? "launch messages and go messages from the queue's dispatch core only"
                     : "no request that writes to a worker core's mailbox but whole launch "
                       "messages, a go message or its index",
                fits ? "%llu bytes written at 0x%llx of worker core %u,%u, not by the dispatch core"
                     : "%llu bytes written at 0x%llx, in the mailbox of worker core %u,%u",
                (unsigned long long)r->size, (unsigned long long)first, r->to.at.x, r->to.at.y);
}

static void judge_inline(struct model *m, const struct tile *tile, const struct request *r)
{
    if (r->to.kind == NOCAP_TILE_DRAM || r->to.kind == NOCAP_TILE_PCIE) {
        CHECK_AFTER(m, tile, NOC_021, notified_since(tile, r), false, NO_REFS,
                    "no inline write to DRAM or host memory", "inline write to %s core %u,%u",
                    nocap_tile_kind_name(r->to.kind), r->to.at.x, r->to.at.y);
        return;
    }
    MARK_EXERCISED(m, NOC_021);
    CHECK(m, tile, NOC_001, r->to.place != NOCAP_PLACE_L1, NO_REFS,
          "an inline write to a register, not to L1",
          "inline write to 0x%llx of core %u,%u, which is L1", (unsigned long long)r->to.addr,
          r->to.at.x, r->to.at.y);
}

static void judge_atomic(struct model *m, const struct tile *tile, const struct request *r)
{
    const struct nocap_event *e = r->e;
    /* some traces state the notify of a finished launch as an atomic on the dispatcher's stream */
    if (r->to.place == NOCAP_PLACE_MMIO && nocap_adds_to_stream(r->to.addr)) {
        return;
    }
    bool answer = e->posted || (e->has & NOCAP_F_RADDR) == 0 || (e->has & NOCAP_F_RET) == 0 ||
                  nocap_niu_place(model_tile_kind(m, noc0(r, e->ret)), e->raddr) == NOCAP_PLACE_L1;
    bool target = r->to.place == NOCAP_PLACE_L1;
    CHECK(m, tile, NOC_020, target && answer, NO_REFS,
          target ? "the old value returned to L1" : "an atomic on L1 of a worker or Ethernet core",
          target ? "atomic on 0x%llx of %s core %u,%u returns its old value to 0x%llx, not in L1"
                 : "atomic on 0x%llx of %s core %u,%u, not in L1 (answer to 0x%llx)",
          (unsigned long long)r->to.addr, nocap_tile_kind_name(r->to.kind), r->to.at.x, r->to.at.y,
          (unsigned long long)e->raddr);
}

static void judge_request(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct tile *tile = o->tile;
    struct request r;
    take_request(m, e, o->ends->raw, &r);
    if (!judge_ctrl(m, tile, e) || !judge_broadcast(m, tile, e)) {
        return;
    }
    judge_channel(m, tile, e);
    judge_own(m, tile, &r);
    if (!judge_coordinates(m, tile, &r) || !judge_length(m, tile, &r)) {
        return;
    }
    const bool moves = e->op == NOCAP_OP_READ || e->op == NOCAP_OP_WRITE;
    if (moves) {
        judge_alignment(m, tile, &r);
    } else if (r.to.at_known && r.to.addr_known) {
        (e->op == NOCAP_OP_ATOMIC ? judge_atomic : judge_inline)(m, tile, &r);
    }
    judge_end(m, tile, &r, &r.to);
    if (moves) {
        judge_end(m, tile, &r, &r.from);
    }
    judge_mailbox(m, tile, &r);
}

void noc_judge_request(struct model *m, const struct observation *o)
{
    uint32_t before = m->faults;
    judge_request(m, o);
    m->request_fault = m->faults > before ? before + 1 : FAULT_NONE;
}
