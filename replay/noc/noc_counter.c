/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers as firmware makes them: a core polls a counter of the interface until it shows an answer
 * for every request. Rule NOC-046, and which core still waits. */
#include "formats/trace/note.h"
#include "replay/noc/noc_private.h"

enum {
    /* So many polls of a counter with nothing outstanding are no second barrier. */
    SETTLED_POLLS = 16,
};

static struct noc_wait *wait_of(const struct tile *tile, unsigned by)
{
    return noc_part(tile)->noc == NULL || !nocap_is_core(by)
               ? NULL
               : &noc_part(tile)->noc->waits[nocap_core(by)->processor];
}

/* ---- what is pending ---- */

/* How many answers a request gets; 0: not known. */
static uint32_t answers(const struct model *m, const struct nocap_event *e)
{
    bool one_packet = (e->has & NOCAP_F_SIZE) != 0 && e->size <= NOCAP_NIU_PACKET_MAX;
    if (!e->mcast) {
        return e->op == NOCAP_OP_INLINE || e->op == NOCAP_OP_ATOMIC || one_packet ? 1 : 0;
    }
    struct nocap_noc_ends ends = nocap_noc_ends(e);
    bool self_known = (e->has & NOCAP_F_CTRL) != 0;
    bool self = (e->ctrl & NOCAP_CTRL_BROADCAST_SOURCE) != 0;
    if (!ends.to_known || !one_packet || m->header->board == NOCAP_BOARD_UNKNOWN) {
        return 0;
    }
    uint32_t count = 0;
    for (struct nocap_tiles t = nocap_tiles(ends.to, ends.to_other); !t.over; nocap_next_tile(&t)) {
        bool own = nocap_xy_equal(t.at, e->at);
        if (own && !self_known) {
            return 0;
        }
        count += model_is_tensix(m, t.at) && (!own || self);
    }
    return count;
}

void noc_count_pending(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct noc_pending *pending =
        &noc_part(tile)->noc->noc[e->noc].pending[nocap_requests_of(e->op)];
    pending->shared = pending->shared || (pending->by != NOCAP_BY_NONE && pending->by != e->by);
    pending->by = e->by;
    if (!pending->known || (e->posted && e->op != NOCAP_OP_READ)) {
        return;
    }
    uint32_t count = answers(m, e);
    pending->known = count != 0;
    bool certain = e->op == NOCAP_OP_READ || (!e->mcast && (e->has & NOCAP_F_POSTED) != 0);
    pending->proved = pending->proved && pending->known && certain;
    pending->total += count;
}

/* ---- who waits ---- */

static bool asks_for(const struct noc_request *r, enum nocap_requests kind)
{
    return r->kind == kind && !(r->posted && kind != NOCAP_READS);
}

static void begin(struct model *m, struct tile *tile, unsigned by, unsigned noc,
                  enum nocap_requests kind)
{
    const struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
    struct noc_wait *w = wait_of(tile, by);
    noc_part(tile)->noc->waiting |= 1u << by;
    *w = (struct noc_wait){.noc = (uint8_t)noc, .kind = kind, .since = now(m)};
    for (uint32_t i = n->count; i-- > 0 && w->request_count < NOC_WAIT_REQUESTS;) {
        const struct noc_request *r = &n->open[(n->first + i) % NOC_OPEN];
        if (!r->done && asks_for(r, kind)) {
            w->requests[w->request_count++] = r->index;
        }
    }
}

static void judge(struct model *m, const struct tile *tile, struct noc_wait *w, uint64_t polls)
{
    bool was_blocked = w->settled >= SETTLED_POLLS;
    w->settled = w->value == w->total ? w->settled + polls : 0;
    bool stuck = w->settled >= SETTLED_POLLS;
    if (w->settled != 0 && !was_blocked) {
        CHECK_AFTER(
            m, tile, NOC_046, w->fault, !stuck, RELATED(w->since.index),
            "an end of the barrier: every answer that the requests of this interface get is there",
            "RISC still polling after the counter reached its target 0x%x: it expects more answers "
            "than there are",
            w->value);
        w->fault = stuck ? m->fault : w->fault;
    }
}

/* Whether a poll tells that requests are still under way is believed only where the count has come
 * out once before: a capture need not show every request, or say of each whether it is answered. */
static enum noc_poll_result result_of(struct noc_pending *pending, uint32_t value, bool idle)
{
    if (!pending->known) {
        return NOC_POLL_UNSURE;
    }
    if (value == pending->total) {
        pending->proved = pending->proved || !idle;
        return NOC_POLL_OVER;
    }
    return pending->proved && !pending->shared && !idle ? NOC_POLL_OPEN : NOC_POLL_UNSURE;
}

enum noc_poll_result noc_poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                              const uint32_t *value)
{
    const struct nocap_event *e = m->event;
    struct noc_wait *w = wait_of(tile, e->by);
    const struct nocap_niu_counted c = nocap_niu_counted(counter);
    if (w == NULL || !c.done || c.of_trid) { /* the counts of one id go down to 0 */
        return c.of_trid && value != NULL && *value != 0 ? NOC_POLL_OPEN : NOC_POLL_UNSURE;
    }
    enum nocap_requests kind = (enum nocap_requests)__builtin_ctz(c.set);
    struct noc_pending *pending = &noc_part(tile)->noc->noc[noc].pending[kind];
    bool waits = (noc_part(tile)->noc->waiting >> e->by & 1) != 0;
    if (!waits || w->semaphore || w->noc != noc || w->kind != kind) {
        begin(m, tile, e->by, noc, kind);
    }
    uint64_t polls = (e->has & NOCAP_F_N) != 0 ? e->n : 1;
    w->polls += polls;
    w->value_known = value != NULL;
    if (value == NULL) {
        return NOC_POLL_UNSURE;
    }
    w->value = *value;
    bool idle = w->request_count == 0;
    if (!pending->known || (int32_t)(*value - pending->total) > 0) {
        /* The first poll, or another core's requests: what it shows when idle is the base. */
        pending->known = idle;
        pending->proved = false;
        pending->total = *value;
    }
    w->total_known = pending->known;
    w->total = pending->total;
    if (pending->known && !idle) {
        judge(m, tile, w, polls);
    }
    return result_of(pending, *value, idle);
}

void noc_wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note)
{
    const struct nocap_note n = nocap_note_read(note);
    if (n.form == NOCAP_NOTE_WAIT && noc_of(m, tile) != NULL) {
        struct noc_wait *w = wait_of(tile, n.by);
        begin(m, tile, n.by, n.noc, nocap_requests_of(n.op));
        w->since.agent = n.by;
        w->semaphore = n.op == NOCAP_OP_NONE;
    }
}

const struct noc_wait *noc_waiting(const struct tile *tile, unsigned by)
{
    const struct noc_wait *w = wait_of(tile, by);
    bool reached = w != NULL && w->value_known && w->total_known && w->value == w->total &&
                   w->settled < SETTLED_POLLS;
    return w == NULL || (noc_part(tile)->noc->waiting >> by & 1) == 0 || reached ? NULL : w;
}
