/* SPDX-License-Identifier: Apache-2.0 */
/* Requests under way: linked chains, counts by transaction id, bytes of L1 that may not be touched
 * yet, what is left at the end of a kernel. A request counts as ended as soon as anything shows it:
 * a phase of its own, a barrier, a poll of the counter that would tell. Rules NOC-024, NOC-027,
 * NOC-029, NOC-030. */
#include "replay/noc/noc_private.h"

#include <string.h>

static struct noc_request *request_at(struct noc_interface *n, uint32_t i)
{
    return &n->open[(n->first + i) % NOC_OPEN];
}

/* What the initiator must wait for before it goes on: data that has arrived, a source that has
 * left. */
static bool ended(const struct noc_request *r)
{
    return r->done || (r->kind == NOCAP_WRITES && r->sent) ||
           (r->kind == NOCAP_ATOMICS && r->posted);
}

/* Takes the oldest out of what is under way. */
static void drop_first(struct noc_interface *n)
{
    const uint64_t others = ~(UINT64_C(1) << n->first);
    n->undone[n->open[n->first].kind] &= others;
    n->held &= others;
    n->first = (n->first + 1) % NOC_OPEN;
    n->count--;
}

/* Drops what has ended from the old end. */
static void retire(struct noc_interface *n)
{
    while (n->count > 0 && ended(request_at(n, 0))) {
        drop_first(n);
    }
}

/* The request has left; `done`: it is over, too. */
static void end(struct noc_interface *n, struct noc_request *r, bool done)
{
    const uint64_t others = ~(UINT64_C(1) << (r - n->open));
    r->sent = true;
    r->done |= done;
    n->undone[r->kind] &= done ? others : UINT64_MAX;
    n->held &= ended(r) ? others : UINT64_MAX;
}

/* ---- what shows an end ---- */

/* Whether the trace would certainly show that such requests have left or ended: by counters or
 * barriers. A capture that says that it shows barriers shows those of reads and writes; of atomics
 * not all runtimes tell. */
static bool shows_by_barrier(const struct model *m, const struct tile *tile,
                             const struct noc_interface *n, enum nocap_requests kind, bool done)
{
    bool counters = (n->programmed || n->polled) && noc_sees_loads(m, tile);
    bool said = (m->header->observes & NOCAP_CLASS_NOC_BARRIER) != 0 && kind != NOCAP_ATOMICS;
    /* who shows the one need not show the other, and a barrier tells what a flush does */
    bool ends = (n->barriers >> kind & 1) != 0, flushes = (n->flushes >> kind & 1) != 0;
    return tile->in_scope && (counters || said || (ends && (done || flushes)));
}

void noc_publish(const struct model *m, struct tile *tile, unsigned noc)
{
    const struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    tile->noc[noc] = (struct noc_facts){
        .reads_done = shows_by_barrier(m, tile, n, NOCAP_READS, true),
        .writes_sent = shows_by_barrier(m, tile, n, NOCAP_WRITES, false),
        .writes_done = shows_by_barrier(m, tile, n, NOCAP_WRITES, true),
    };
}

/* The observation shows that requests up to that of `index` are over. */
static void publish_end(struct model *m, const struct ended *end)
{
    if (m->ended_count < ENDED_MAX) {
        m->ended[m->ended_count++] = *end;
        m->due |= DUE_ENDED;
    }
}

static bool end_shows(const struct model *m, const struct tile *tile, const struct noc_interface *n,
                      const struct noc_request *r)
{
    return shows_by_barrier(m, tile, n, r->kind, r->kind != NOCAP_WRITES);
}

static void judge_touch(struct model *m, const struct tile *tile, const struct noc_request *r,
                        const struct noc_touch *t, uint64_t end)
{
    FOLLOWING(
        m, raced_since(m, r->turn),
        CHECK_AT(m, tile, NOC_029, false, t->at, RELATED(r->index, end),
                 r->kind == NOCAP_READS
                     ? "a read barrier between a NOC read and the use of what it brings"
                     : "a flush between a NOC write and the reuse of its source",
                 r->kind == NOCAP_READS
                     ? "%s of 0x%llx without a read barrier after the NOC read of 0x%llx..0x%llx"
                     : "%s of 0x%llx without a flush after the NOC write from 0x%llx..0x%llx",
                 t->how == NOC_TOUCH_STORE ? "store" : "load", (unsigned long long)t->addr,
                 (unsigned long long)r->local, (unsigned long long)(r->local + r->size - 1)));
}

/* The end of a request shows, which may have been touched before it. */
static void judge_end(struct model *m, const struct tile *tile, const struct noc_request *r)
{
    if (r->touch.how == NOC_TOUCH_NONE) {
        MARK_EXERCISED(m, NOC_029);
    } else if (r->touch.how == NOC_TOUCH_EXIT) {
        FOLLOWING(m, raced_since(m, r->turn),
                  CHECK_AT(m, tile, NOC_029, false, r->touch.at, RELATED(r->index, m->event->index),
                           "no request under way when a kernel returns",
                           "kernel returned with a request under way, which ended at event %llu",
                           (unsigned long long)m->event->index));
    } else {
        judge_touch(m, tile, r, &r->touch, m->event->index);
    }
}

uint32_t noc_marked(const uint8_t marks[NOC_OPEN], uint64_t first, uint32_t i, uint32_t count,
                    uint64_t id)
{
    while (i < count) {
        const uint32_t slot = (uint32_t)(first + i) % NOC_OPEN, left = count - i;
        const uint32_t room = left < NOC_OPEN - slot ? left : NOC_OPEN - slot;
        const uint8_t *like = memchr(&marks[slot], (uint8_t)id, room);
        if (like != NULL) {
            return i + (uint32_t)(like - &marks[slot]);
        }
        i += room;
    }
    return count;
}

/* The oldest of this id; NULL: it is not remembered. */
static struct noc_request *find_open(struct noc_interface *n, uint64_t id)
{
    for (uint32_t i = 0; (i = noc_marked(n->id_bytes, n->first, i, n->count, id)) < n->count; i++) {
        struct noc_request *r = request_at(n, i);
        if (r->id == id && r->has_id) {
            return r;
        }
    }
    return NULL;
}

static void one_ended(struct model *m, struct tile *tile, struct noc_interface *n,
                      const struct nocap_event *e)
{
    bool done = e->phase == NOCAP_PHASE_DONE;
    struct noc_request *r = find_open(n, e->id);
    if (r == NULL) { /* it may be any of those that are not remembered */
        for (unsigned id = 0; done && id < NOCAP_TRIDS; id++) {
            n->outstanding[id] = (uint16_t)(n->outstanding[id] - (n->outstanding[id] > 0));
        }
        return;
    }
    bool was_ended = ended(r);
    publish_end(m, &(struct ended){tile, r->index, r->turn, e->noc, (uint8_t)r->kind, done, false});
    if (done && !r->done && r->has_trid && !r->posted && n->outstanding[r->trid] > 0) {
        n->outstanding[r->trid]--;
    }
    end(n, r, done);
    if (!was_ended && ended(r)) {
        judge_end(m, tile, r);
    }
}

/* Requests of these kinds have left, or ended; those of one core, if `by` is not NONE. */
static void all_ended(struct noc_interface *n, const struct nocap_niu_counted *c, unsigned by)
{
    uint64_t left = 0;
    for (unsigned kind = 0; kind < NOCAP_REQUESTS; kind++) {
        left |= (c->set >> kind & 1) != 0 ? n->undone[kind] : 0;
    }
    for (; left != 0; left &= left - 1) {
        struct noc_request *r = &n->open[__builtin_ctzll(left)];
        bool own = by == NOCAP_BY_NONE || r->by == NOCAP_BY_NONE || r->by == by;
        bool counted = !c->of_trid || !r->has_trid || r->trid == c->trid;
        if (own && counted) {
            end(n, r, c->done);
        }
    }
    retire(n);
}

void noc_counted_ended(struct model *m, struct tile *tile, unsigned noc,
                       const struct nocap_niu_counted *c, unsigned by, bool all)
{
    struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    all_ended(n, c, by);
    if (c->done && c->of_trid) {
        n->outstanding[c->trid] = 0;
    } else if (c->done) {
        memset(n->outstanding, 0, sizeof n->outstanding);
    }
    for (uint8_t kind = 0; kind < NOCAP_REQUESTS; kind++) {
        if ((c->set >> kind & 1) != 0) {
            publish_end(m, &(struct ended){tile, m->event->index, m->turn, (uint8_t)noc, kind,
                                           c->done, all && !c->of_trid});
        }
    }
}

/* A phase of one request, or of all that a barrier waited for. */
void noc_phase(struct model *m, struct tile *tile, struct noc_interface *n,
               const struct nocap_event *e)
{
    const struct nocap_niu_counted c = {.set = (uint8_t)(1u << nocap_requests_of(e->op)),
                                        .done = e->phase == NOCAP_PHASE_DONE};
    if ((e->has & NOCAP_F_ID) != 0) {
        one_ended(m, tile, n, e);
        retire(n);
        return;
    }
    model_apply_due(m, MODEL_NOC);
    *(c.done ? &n->barriers : &n->flushes) |= c.set;
    noc_counted_ended(m, tile, e->noc, &c, e->by, false);
}

/* ---- linked chains ---- */

/* NULL: the request continues the chain; else what differs. */
static const char *breaks(const struct nocap_event *last, const struct nocap_event *e)
{
    const bool ctrl = (last->has & e->has & NOCAP_F_CTRL) != 0;
    const int from = nocap_noc_channel(last), to = nocap_noc_channel(e);
    const bool channels = from != NOCAP_NOC_ANY_CHANNEL && to != NOCAP_NOC_ANY_CHANNEL;
    return e->op == NOCAP_OP_READ               ? "a read"
           : e->mcast != last->mcast            ? e->mcast ? "a multicast" : "a unicast"
           : !noc_same(NOCAP_FIELD_D, last, e)  ? "a request to another destination"
           : !noc_same(NOCAP_FIELD_D2, last, e) ? "a request to another rectangle"
           : channels && from != to             ? "a request on another virtual channel"
           : ctrl && ((last->ctrl ^ e->ctrl) & NOCAP_CTRL_BROADCAST_Y_MAJOR) != 0
               ? "a request in another direction"
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
        bool named = c->last.by != NOCAP_BY_NONE;
        bool same_core = named && c->last.by == e->by && e->op != NOCAP_OP_READ;
        if (!same_buffer && !same_core) {
            return; /* another initiator's; whether it may pass is not said */
        }
        const char *what = breaks(&c->last, e);
        CHECK(m, tile, NOC_024, what == NULL, RELATED(c->last.index),
              "the next request of a linked chain, to the same place on the same channel",
              "linked chain continued by %s", what);
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
    CHECK(m, tile, NOC_027, count <= NOCAP_NIU_OUTSTANDING_MAX, NO_REFS,
          "at most 255 requests under way with one transaction id",
          "%u requests under way with transaction id %u, at most 255 are counted", count, r->trid);
    if (count > NOCAP_NIU_OUTSTANDING_MAX) {
        n->outstanding[r->trid] = 0; /* as the counter has it, which has 8 bits */
    }
}

/* The bytes of the own L1 that it reads or fills. */
static void hold(struct noc_interface *n, const struct noc_request *r)
{
    const uint64_t high = r->local + r->size;
    if (r->size != 0) {
        n->low = n->held == 0 || r->local < n->low ? r->local : n->low;
        n->high = n->held == 0 || high > n->high ? high : n->high;
        n->held |= UINT64_C(1) << (r - n->open);
    }
}

void noc_take(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct noc_interface *n = &noc_part(tile)->noc->noc[e->noc];
    bool read = e->op == NOCAP_OP_READ;
    uint64_t addr = read ? e->daddr : e->saddr;
    bool local = (read || e->op == NOCAP_OP_WRITE) && (e->has & NOCAP_F_SIZE) != 0 &&
                 (e->has & (read ? NOCAP_F_DADDR : NOCAP_F_SADDR)) != 0 && addr < NOCAP_L1_SIZE &&
                 e->size <= NOCAP_L1_SIZE;
    take_link(m, tile, n, e);
    if (n->count == NOC_OPEN) {
        drop_first(n);
    }
    struct noc_request *r = request_at(n, n->count++);
    *r = (struct noc_request){
        .index = e->index,
        .turn = m->turn,
        .id = e->id,
        .has_id = (e->has & NOCAP_F_ID) != 0,
        .local = local ? addr : 0,
        .size = local ? e->size : 0,
        .kind = nocap_requests_of(e->op),
        .by = e->by,
        .posted = e->posted != 0 && !read,
        .has_trid = (e->has & (NOCAP_F_TRID | NOCAP_F_TAG)) != 0,
        .trid = (uint8_t)((e->has & NOCAP_F_TRID) != 0 ? e->trid % NOCAP_TRIDS
                                                       : nocap_niu_trid((uint32_t)e->tag)),
    };
    take_count(m, tile, n, r);
    n->id_bytes[r - n->open] = (uint8_t)r->id;
    n->undone[r->kind] |= UINT64_C(1) << (r - n->open);
    hold(n, r);
}

/* ---- what may not be touched yet, and what may not be left ---- */

/* Without an end that shows: it may show later, of this very request. */
static void note_touch(struct noc_request *r, const struct noc_touch *touch)
{
    if (r->has_id && r->touch.how == NOC_TOUCH_NONE) {
        r->touch = *touch;
    }
}

static __attribute__((noinline)) void take_touch(struct model *m, struct tile *tile,
                                                 struct noc_interface *n, const struct access *a)
{
    const struct noc_touch touch = {now(m), a->addr, a->store ? NOC_TOUCH_STORE : NOC_TOUCH_LOAD};
    uint64_t held = a->store ? n->held : n->held & n->undone[NOCAP_READS];
    uint64_t left = held << (NOC_OPEN - n->first) % NOC_OPEN | held >> n->first;
    for (; left != 0; left &= left - 1) { /* the oldest first */
        struct noc_request *r = request_at(n, (uint32_t)__builtin_ctzll(left));
        if (!touches(a, r->local, r->size) || r->by != a->by) {
            continue;
        }
        if (!end_shows(m, tile, n, r)) {
            note_touch(r, &touch);
            continue;
        }
        judge_touch(m, tile, r, &touch, NO_INDEX);
        end(n, r, true);
        return;
    }
}

void noc_memory_access(struct model *m, struct tile *tile, const struct access *a)
{
    for (unsigned noc = 0; noc < NOCS; noc++) {
        struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
        if (n->held != 0 && a->addr < n->high && a->addr + a->size > n->low) {
            take_touch(m, tile, n, a);
        }
    }
}

static void judge_open(struct model *m, struct tile *tile, struct noc_interface *n, unsigned agent)
{
    static const char *const left[NOCAP_REQUESTS] = {"a read that nothing waited for",
                                                     "a write that may not have left",
                                                     "an atomic that nothing waited for"};
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
            note_touch(request_at(n, i), &(struct noc_touch){now(m), 0, NOC_TOUCH_EXIT});
        } else if (r->by == agent) {
            judged = true;
            open = ended(r) ? NULL : r;
        }
    }
    if (judged || n->programmed || n->polled ||
        (n->barriers | n->flushes) != 0) { /* else an end may still show */
        const struct nocap_niu_counted everything = {.set = (1 << NOCAP_REQUESTS) - 1,
                                                     .done = true};
        CHECK_AFTER(m, tile, NOC_029, open != NULL ? raced_since(m, open->turn) : FAULT_NONE,
                    open == NULL, RELATED(open->index),
                    "no request under way when a kernel returns", "kernel returned with %s",
                    left[open->kind]);
        all_ended(n, &everything, agent);
    }
}

static void judge_tags(struct model *m, struct tile *tile, struct noc_interface *n, unsigned agent)
{
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        const struct noc_buffer *b = &n->buffers[i];
        struct value *tag = &n->buffers[i].words[NOCAP_NIU_PACKET_TAG / 4];
        if (tag->known && b->tag_by == agent) {
            CHECK_AFTER(m, tile, NOC_030, tag->since, tag->v == 0, RELATED(b->tag_index),
                        "PACKET_TAG 0 in every command buffer when a kernel returns",
                        "PACKET_TAG 0x%x left in command buffer %u when the kernel returned",
                        tag->v, i);
            tag->since = m->fault;
        }
    }
}

void noc_kernel_exit(struct model *m, struct tile *tile, unsigned agent)
{
    if (noc_part(tile)->noc == NULL) {
        return;
    }
    noc_wait_ends(noc_part(tile)->noc, agent);
    for (unsigned noc = 0; noc < NOCS; noc++) {
        struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
        if (n->chain.open && n->chain.last.by == agent) {
            CHECK(m, tile, NOC_024, false, RELATED(n->chain.last.index),
                  "a linked chain closed by a request without the linked bit", "%s",
                  "kernel returned with a linked chain open");
            n->chain.open = false;
        }
        judge_tags(m, tile, n, agent);
        judge_open(m, tile, n, agent);
    }
}
