/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers as firmware makes them: a core polls a counter of the interface until it shows an answer
 * for every request. Rule NOC-046, and which core says in a note that it waits. */
#include <stdio.h>

#include "formats/trace/note.h"
#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"
#include "replay/noc/noc_private.h"

enum {
    /* So many polls of a counter with nothing outstanding are no second barrier. */
    SETTLED_POLLS = 16,
};

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

static bool is_waiting(const struct noc_tile *t, unsigned by)
{
    return (t->waiting >> by & 1) != 0;
}

/* Whether a request of this kind that is answered may be under way. */
static bool any_open(const struct noc_interface *n, enum nocap_requests kind)
{
    uint64_t left = n->undone[kind];
    while (left != 0 && n->open[__builtin_ctzll(left)].posted) {
        left &= left - 1;
    }
    return left != 0;
}

static struct noc_wait *begin(struct model *m, struct noc_tile *t, unsigned by, unsigned noc,
                              enum nocap_requests kind)
{
    struct noc_wait *w = &t->waits[nocap_core(by)->processor];
    t->waiting |= 1u << by;
    *w = (struct noc_wait){
        .noc = (uint8_t)noc, .kind = kind, .since = now(m), .idle = !any_open(&t->noc[noc], kind)};
    return w;
}

/* So many polls have shown `value`; `all`: that is an answer for every request. */
static void judge(struct model *m, const struct tile *tile, struct noc_wait *w, uint64_t polls,
                  uint32_t value, bool all)
{
    bool was_blocked = w->settled >= SETTLED_POLLS;
    w->settled = all ? w->settled + polls : 0;
    bool stuck = w->settled >= SETTLED_POLLS;
    if (w->settled != 0 && !was_blocked) {
        CHECK_AFTER(
            m, tile, NOC_046, w->fault, !stuck, RELATED(w->since.index),
            "an end of the barrier: every answer that the requests of this interface get is there",
            "RISC still polling after the counter reached its target 0x%x: it expects more answers "
            "than there are",
            value);
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
    const struct nocap_niu_counted c = nocap_niu_counted(counter);
    if (!c.done || c.of_trid) { /* the counts of one id go down to 0 */
        return c.of_trid && value != NULL && *value != 0 ? NOC_POLL_OPEN : NOC_POLL_UNSURE;
    }
    enum nocap_requests kind = (enum nocap_requests)__builtin_ctz(c.set);
    struct noc_tile *t = noc_part(tile)->noc;
    struct noc_pending *pending = &t->noc[noc].pending[kind];
    struct noc_wait *w = &t->waits[nocap_core(e->by)->processor];
    if (!is_waiting(t, e->by) || w->semaphore || w->noc != noc || w->kind != kind) {
        begin(m, t, e->by, noc, kind);
    }
    w->said = false;
    if (value == NULL) {
        return NOC_POLL_UNSURE;
    }
    if (!pending->known || (int32_t)(*value - pending->total) > 0) {
        /* The first poll, or another core's requests: what it shows when idle is the base. */
        pending->known = w->idle;
        pending->proved = false;
        pending->total = *value;
    }
    if (pending->known && !w->idle) {
        judge(m, tile, w, (e->has & NOCAP_F_N) != 0 ? e->n : 1, *value, *value == pending->total);
    }
    return result_of(pending, *value, w->idle);
}

void noc_wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note)
{
    const struct nocap_note n = nocap_note_read(note);
    if (n.form == NOCAP_NOTE_WAIT && noc_of(m, tile) != NULL) {
        struct noc_wait *w = begin(m, noc_part(tile)->noc, n.by, n.noc, nocap_requests_of(n.op));
        w->since.agent = n.by;
        w->semaphore = n.op == NOCAP_OP_NONE;
        w->said = true;
    }
}

/* ---- what is reported of it ---- */

static void report_said(const struct wait_builder *t, unsigned agent, const struct noc_wait *said)
{
    struct nocap_wait w = wait_begin(t, agent, said->since);
    char requests[160];
    w.said = true;
    if (said->semaphore) {
        w.state = "waiting for a semaphore";
        w.release = "a change of the semaphore";
        wait_report_as(t, &w, "waits for a semaphore in its L1");
        return;
    }
    const struct progress_requests *r = &progress_of(t->tile)->requests[said->noc][said->kind];
    wait_describe_requests(r, said->kind, requests, sizeof requests);
    w.state = "in a NOC barrier";
    w.release = "the answers to its requests";
    wait_report_as(t, &w, "waits for its %ss on noc%u%s%s", wait_request_name(said->kind),
                   said->noc, r->issued > 0 ? ": " : "", r->issued > 0 ? requests : "");
}

void noc_tile_waits(const struct wait_builder *t)
{
    const struct noc_tile *n = noc_part(t->tile)->noc;
    for (unsigned p = 0; n != NULL && !t->tile->launch.in_reset && p < CORES; p++) {
        if (is_waiting(n, nocap_cores[p].agent) && n->waits[p].said) { /* polls tell more */
            report_said(t, nocap_cores[p].agent, &n->waits[p]);
        }
    }
}
