/* Requests under way: linked chains, counts by transaction id, bytes of L1 that may not be touched
 * yet, what is left at the end of a kernel. A request counts as ended as soon as anything shows it:
 * a phase of its own, a barrier, a look at the counter that would tell. Rules NOC-024, NOC-027,
 * NOC-029, NOC-030. */
#include "replay/cq.h"
#include "replay/noc.h"
#include "replay/race.h"

#include <string.h>

static struct noc_request *request_at(struct noc_interface *n, uint32_t i)
{
    return &n->open[(n->first + i) % NOC_OPEN];
}

static bool is_write(const struct noc_request *r)
{
    return r->op == NOCAP_OP_WRITE || r->op == NOCAP_OP_INLINE;
}

/* What the initiator must wait for before it goes on: data that has arrived, a source that has
 * left. */
static bool ended(const struct noc_request *r)
{
    return r->done || (is_write(r) && r->sent) || (r->op == NOCAP_OP_ATOMIC && r->posted);
}

static void recount_span(struct noc_interface *n)
{
    n->low = UINT64_MAX;
    n->high = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        const struct noc_request *r = request_at(n, i);
        if (r->size != 0) {
            n->low = r->local < n->low ? r->local : n->low;
            n->high = r->local + r->size > n->high ? r->local + r->size : n->high;
        }
    }
}

/* Drops what has ended from the old end. */
static void retire(struct noc_interface *n)
{
    bool any = false;
    while (n->count > 0 && ended(request_at(n, 0))) {
        n->first = (n->first + 1) % NOC_OPEN;
        n->count--;
        any = true;
    }
    if (any) {
        recount_span(n);
    }
}

/* ---- what shows an end ---- */

/* Whether the trace would certainly show that requests of this op have left or ended: by counters
 * or barriers. A capture that says that it shows barriers shows those of reads and writes; of
 * atomics not all runtimes tell. */
static bool shows_by_barrier(const struct model *m, const struct tile *tile,
                             const struct noc_interface *n, unsigned op, unsigned phase)
{
    const uint32_t loads = NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
    if (!tile->in_scope) {
        return false;
    }
    if ((n->programmed || n->polled) && (m->header->observes & loads) == loads) {
        return true;
    }
    bool said = (m->header->observes & NOCAP_CLASS_NOC_BARRIER) != 0 && op != NOCAP_OP_ATOMIC;
    bool barriers = n->by_barrier.phases[op][NOCAP_PHASE_DONE];
    bool flushes = op != NOCAP_OP_WRITE || n->by_barrier.phases[op][NOCAP_PHASE_SENT];
    /* who shows the one need not show the other, and a barrier tells what a flush does */
    return said || (barriers && (phase == NOCAP_PHASE_DONE || flushes));
}

bool noc_end_shows(const struct model *m, const struct tile *tile, unsigned noc, unsigned op,
                   unsigned phase)
{
    return tile->noc != NULL && shows_by_barrier(m, tile, &tile->noc->noc[noc], op, phase);
}

static bool end_shows(const struct model *m, const struct tile *tile, const struct noc_interface *n,
                      const struct noc_request *r)
{
    unsigned phase = is_write(r) ? NOCAP_PHASE_SENT : NOCAP_PHASE_DONE;
    return shows_by_barrier(m, tile, n, r->op == NOCAP_OP_INLINE ? (unsigned)NOCAP_OP_WRITE : r->op,
                            phase);
}

static void count_end(struct noc_interface *n, const struct noc_request *r)
{
    if (r->has_trid && !r->posted && n->outstanding[r->trid] > 0) {
        n->outstanding[r->trid]--;
    }
}

/* One of those that are not remembered any more has ended: it may be any. */
static void count_any_end(struct noc_interface *n)
{
    for (unsigned id = 0; id < NOCAP_TRIDS; id++) {
        n->outstanding[id] = (uint16_t)(n->outstanding[id] - (n->outstanding[id] > 0));
    }
}

/* The end of a request that was touched before it. */
static void judge_late_end(struct model *m, const struct tile *tile, const struct noc_request *r)
{
    bool read = r->op == NOCAP_OP_READ;
    if (r->touched_by_exit) {
        EXPECT_AT(m, tile, NOC_029, false, r->touched, RELATED(r->index, m->event->index),
                  "no request under way when a kernel returns",
                  "a request that ended later, at %llu", (unsigned long long)m->event->index);
        return;
    }
    EXPECT_AT(m, tile, NOC_029, false, r->touched, RELATED(r->index, m->event->index),
              read ? "a read barrier between a NOC read and the use of what it brings"
                   : "a flush between a NOC write and the reuse of its source",
              "a %s of 0x%llx; the request covers 0x%llx..0x%llx",
              r->touched_by_store ? "store" : "load", (unsigned long long)r->touched_addr,
              (unsigned long long)r->local, (unsigned long long)(r->local + r->size - 1));
}

static void one_ended(struct model *m, const struct tile *tile, struct noc_interface *n,
                      const struct nocap_event *e)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct noc_request *r = request_at(n, i);
        if (r->has_id && r->id == e->id) {
            bool was_ended = ended(r);
            race_over(m, tile, e->noc, r->op, e->phase == NOCAP_PHASE_DONE, r->index);
            if (e->phase == NOCAP_PHASE_DONE && !r->done) {
                count_end(n, r);
                r->done = true;
            }
            r->sent = true;
            if (!was_ended && ended(r)) {
                if (r->touched.index != NO_INDEX) {
                    judge_late_end(m, tile, r);
                } else {
                    HOLDS(m, NOC_029);
                }
            }
            return;
        }
    }
    if (e->phase == NOCAP_PHASE_DONE) {
        count_any_end(n);
    }
}

static void all_ended(struct noc_interface *n, bool writes, unsigned op, bool done, unsigned by)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct noc_request *r = request_at(n, i);
        bool meant = writes ? is_write(r) : r->op == op;
        if (meant && (by == NOCAP_BY_NONE || r->by == NOCAP_BY_NONE || r->by == by)) {
            r->sent = true;
            r->done = r->done || done;
        }
    }
}

/* A phase of one request, or of all that a barrier waited for. */
void noc_phase(struct model *m, struct tile *tile, struct noc_interface *n,
               const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_ID) != 0) {
        one_ended(m, tile, n, e);
    } else {
        bool done = e->phase == NOCAP_PHASE_DONE;
        bool writes = e->op == NOCAP_OP_WRITE || e->op == NOCAP_OP_INLINE;
        n->barriers = true;
        n->by_barrier.phases[writes ? (unsigned)NOCAP_OP_WRITE : e->op][e->phase] = true;
        all_ended(n, writes, e->op, done, e->by);
        race_over(m, tile, e->noc, e->op, done, e->index);
        if (done) {
            memset(n->outstanding, 0, sizeof n->outstanding);
        }
    }
    retire(n);
}

static void id_ended(struct noc_interface *n, unsigned id, bool done)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct noc_request *r = request_at(n, i);
        if (!r->has_trid || r->trid == id) {
            r->sent = r->sent || is_write(r);
            r->done = r->done || done;
        }
    }
    if (done) {
        n->outstanding[id] = 0;
    }
}

void noc_counter_load(struct noc_interface *n, unsigned counter)
{
    switch (counter) {
    case NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED:
        all_ended(n, false, NOCAP_OP_ATOMIC, true, NOCAP_BY_NONE);
        break;
    case NOCAP_COUNTER_MST_WR_ACK_RECEIVED: all_ended(n, true, 0, true, NOCAP_BY_NONE); break;
    case NOCAP_COUNTER_MST_RD_RESP_RECEIVED:
        all_ended(n, false, NOCAP_OP_READ, true, NOCAP_BY_NONE);
        break;
    case NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT:
    case NOCAP_COUNTER_MST_POSTED_WR_REQ_SENT: all_ended(n, true, 0, false, NOCAP_BY_NONE); break;
    default:
        if (counter - NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID < NOCAP_TRIDS) {
            id_ended(n, counter - NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID, true);
        } else if (counter - NOCAP_COUNTER_MST_WRITE_REQS_OUTGOING_ID < NOCAP_TRIDS) {
            id_ended(n, counter - NOCAP_COUNTER_MST_WRITE_REQS_OUTGOING_ID, false);
        }
        break;
    }
    if (counter <= NOCAP_COUNTER_MST_RD_RESP_RECEIVED) {
        memset(n->outstanding, 0, sizeof n->outstanding);
    }
    retire(n);
}

/* ---- linked chains ---- */

/* NULL: the request continues the chain; else what differs. */
static const char *breaks(const struct nocap_event *last, const struct nocap_event *e)
{
    const uint64_t corner = NOCAP_F_D2, place = NOCAP_F_D;
    bool both = (last->has & e->has & place) != 0;
    if (e->op == NOCAP_OP_READ || e->mcast != last->mcast) {
        return e->op == NOCAP_OP_READ ? "a read" : e->mcast ? "a multicast" : "a unicast";
    }
    if (both && (last->d.x != e->d.x || last->d.y != e->d.y)) {
        return "another destination";
    }
    if ((last->has & e->has & corner) != 0 && (last->d2.x != e->d2.x || last->d2.y != e->d2.y)) {
        return "another rectangle";
    }
    if ((last->has & e->has & NOCAP_F_VC) != 0 && last->vc != e->vc) {
        return "another virtual channel";
    }
    bool ctrl = (last->has & e->has & NOCAP_F_CTRL) != 0;
    return ctrl && ((last->ctrl ^ e->ctrl) & NOCAP_CTRL_BROADCAST_Y_MAJOR) != 0
               ? "another direction"
               : NULL;
}

static bool linked(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_CTRL) != 0 ? (e->ctrl & NOCAP_CTRL_VC_LINKED) != 0 : e->linked != 0;
}

static void take_link(struct model *m, struct tile *tile, struct noc_interface *n,
                      const struct nocap_event *e)
{
    struct noc_chain *c = &n->chain;
    if (c->open) {
        bool buffers = (c->last.has & e->has & NOCAP_F_BUF) != 0;
        bool same_buffer = buffers && c->last.buf == e->buf;
        bool same_core = c->last.by == e->by && e->op != NOCAP_OP_READ;
        if (!same_buffer && !same_core) {
            return; /* another initiator's; whether it may pass is not said */
        }
        const char *what = breaks(&c->last, e);
        EXPECT(m, tile, NOC_024, what == NULL, RELATED(c->last.index),
               "the next request of a linked chain, to the same place on the same channel", "%s",
               what);
    }
    c->open = linked(e);
    if (c->open) {
        c->last = *e;
    }
}

/* ---- a new request ---- */

static void take_count(struct model *m, struct tile *tile, struct noc_interface *n,
                       const struct noc_request *r)
{
    if (!r->has_trid || r->posted || r->trid == 0 || !end_shows(m, tile, n, r)) {
        return;
    }
    unsigned count = ++n->outstanding[r->trid];
    EXPECT(m, tile, NOC_027, count <= NOCAP_NIU_OUTSTANDING_MAX, NOTHING,
           "at most 255 requests under way with one transaction id", "%u with id %u", count,
           r->trid);
    if (count > NOCAP_NIU_OUTSTANDING_MAX) {
        n->outstanding[r->trid] = 0; /* told once */
    }
}

static void remember(struct noc_interface *n, const struct noc_request *r)
{
    if (n->count == NOC_OPEN) {
        n->first = (n->first + 1) % NOC_OPEN;
        n->count--;
    }
    *request_at(n, n->count++) = *r;
    if (n->count == 1) {
        recount_span(n);
    } else if (r->size != 0) {
        n->low = r->local < n->low ? r->local : n->low;
        n->high = r->local + r->size > n->high ? r->local + r->size : n->high;
    }
}

void noc_take(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct noc_interface *n = &tile->noc->noc[e->noc];
    bool read = e->op == NOCAP_OP_READ;
    struct noc_request r = {
        .index = e->index,
        .turn = m->turn,
        .id = e->id,
        .touched.index = NO_INDEX,
        .has_id = (e->has & NOCAP_F_ID) != 0,
        .op = e->op,
        .by = e->by,
        .posted = e->posted != 0 && !read,
        .has_trid = (e->has & (NOCAP_F_TRID | NOCAP_F_TAG)) != 0,
        .trid = (uint8_t)((e->has & NOCAP_F_TRID) != 0 ? e->trid % NOCAP_TRIDS
                                                       : nocap_niu_trid((uint32_t)e->tag)),
    };
    bool local = (read || e->op == NOCAP_OP_WRITE) && (e->has & NOCAP_F_SIZE) != 0 &&
                 (e->has & (read ? NOCAP_F_DADDR : NOCAP_F_SADDR)) != 0;
    uint64_t addr = read ? e->daddr : e->saddr;
    if (local && addr < NOCAP_L1_SIZE && e->size <= NOCAP_L1_SIZE) {
        r.local = addr;
        r.size = e->size;
    }
    take_link(m, tile, n, e);
    take_count(m, tile, n, &r);
    remember(n, &r);
}

/* ---- what may not be touched yet, and what may not be left ---- */

static void note_touch(const struct model *m, struct noc_request *r, uint64_t addr, bool store,
                       bool exit)
{
    if (r->has_id && r->touched.index == NO_INDEX) {
        r->touched = now(m);
        r->touched_addr = addr;
        r->touched_by_store = store;
        r->touched_by_exit = exit;
    }
}

static void judge_touch(struct model *m, struct tile *tile, struct noc_interface *n,
                        const struct access *a)
{
    for (uint32_t i = 0; i < n->count; i++) {
        struct noc_request *r = request_at(n, i);
        bool read = r->op == NOCAP_OP_READ;
        if (r->size == 0 || r->by != a->by || ended(r) || !touches(a, r->local, r->size) ||
            (!read && !a->store)) {
            continue;
        }
        if (read && cq_owns_landing(m, tile, a)) { /* CQ-034 */
            continue;
        }
        if (!end_shows(m, tile, n, r)) {
            note_touch(m, r, a->addr, a->store, false);
            continue;
        }
        EXPECT(m, tile, NOC_029, false, RELATED(r->index),
               read ? "a read barrier between a NOC read and the use of what it brings"
                    : "a flush between a NOC write and the reuse of its source",
               "a %s of 0x%llx; the request covers 0x%llx..0x%llx", a->store ? "store" : "load",
               (unsigned long long)a->addr, (unsigned long long)r->local,
               (unsigned long long)(r->local + r->size - 1));
        r->sent = r->done = true;
        return;
    }
}

void noc_memory_access(struct model *m, struct tile *tile, const struct access *a)
{
    for (unsigned noc = 0; noc < NOC_NOCS; noc++) {
        struct noc_interface *n = &tile->noc->noc[noc];
        if (n->count != 0 && a->addr < n->high && a->addr + a->size > n->low) {
            judge_touch(m, tile, n, a);
        }
    }
}

static const char *left_open(const struct noc_request *r)
{
    return r->op == NOCAP_OP_READ     ? "a read that nothing waited for"
           : r->op == NOCAP_OP_ATOMIC ? "an atomic that nothing waited for"
                                      : "a write that may not have left";
}

static void judge_open(struct model *m, struct tile *tile, struct noc_interface *n, unsigned agent)
{
    const struct noc_request *open = NULL;
    const struct nocap_core_info *core = nocap_core(agent);
    const struct kernel *k = core != NULL ? &tile->launch.kernels[core->processor] : NULL;
    bool judged = false;
    for (uint32_t i = 0; i < n->count && open == NULL; i++) {
        const struct noc_request *r = request_at(n, i);
        if (k != NULL && k->inside == YES && r->turn < k->enter_turn) {
            continue; /* the firmware's */
        }
        if (r->by == agent && !end_shows(m, tile, n, r)) {
            note_touch(m, request_at(n, i), 0, false, true);
        } else if (r->by == agent) {
            judged = true;
            open = ended(r) ? NULL : r;
        }
    }
    bool shows = judged || n->programmed || n->barriers || n->polled;
    if (shows) {
        EXPECT(m, tile, NOC_029, open == NULL, RELATED(open->index),
               "no request under way when a kernel returns", "%s", left_open(open));
    }
    if (!shows) {
        return; /* their ends may still show */
    }
    all_ended(n, true, 0, true, agent);
    all_ended(n, false, NOCAP_OP_READ, true, agent);
    all_ended(n, false, NOCAP_OP_ATOMIC, true, agent);
    retire(n);
}

static void judge_tags(struct model *m, struct tile *tile, struct noc_interface *n, unsigned agent)
{
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        unsigned tag = NOCAP_NIU_PACKET_TAG / 4;
        if ((b->known >> tag & 1) == 0 || b->tag_by != agent) {
            continue;
        }
        EXPECT(m, tile, NOC_030, b->words[tag] == 0, RELATED(b->tag_index),
               "PACKET_TAG 0 in every command buffer when a kernel returns", "0x%x in buffer %u",
               b->words[tag], i);
        b->words[tag] = 0; /* told once */
    }
}

void noc_kernel_exit(struct model *m, struct tile *tile, unsigned agent)
{
    noc_wait_ends(tile, agent);
    for (unsigned noc = 0; tile->noc != NULL && noc < NOC_NOCS; noc++) {
        struct noc_interface *n = &tile->noc->noc[noc];
        if (n->chain.open && n->chain.last.by == agent) {
            EXPECT(m, tile, NOC_024, false, RELATED(n->chain.last.index),
                   "a linked chain closed by a request without the linked bit", "%s",
                   "the kernel returned");
            n->chain.open = false;
        }
        judge_tags(m, tile, n, agent);
        judge_open(m, tile, n, agent);
    }
}
