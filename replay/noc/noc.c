/* SPDX-License-Identifier: Apache-2.0 */
/* The network interfaces of a tile: what cores do to their registers. Barriers as firmware makes
 * them: a core polls a counter until it shows an answer for every request. Rules NOC-031, NOC-046.
 */
#include "replay/noc/noc_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/note.h"
#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"

enum {
    /* So many polls of a counter with nothing outstanding are no second barrier. */
    SETTLED_POLLS = 16,
};

/* All counters are 0 at power-on. */
static void start(const struct model *m, struct noc_tile *t)
{
    const bool known = m->header->complete == NOCAP_TRUE && !m->dropped && noc_sees_requests(m);
    for (unsigned i = 0; i < NOCS * NOCAP_REQUESTS; i++) {
        t->noc[i / NOCAP_REQUESTS].pending[i % NOCAP_REQUESTS].known = known;
    }
}

/* The interfaces' state, made when it is needed first; NULL without memory. */
static struct noc_tile *noc_of(struct model *m, struct tile *tile)
{
    struct noc_part *part = noc_part(tile);
    if (part->noc == NULL) {
        part->noc = calloc(1, sizeof *part->noc);
        m->out_of_memory |= part->noc == NULL;
        m->due |= part->noc != NULL ? 1u << MODEL_NOC : 0;
        if (part->noc != NULL) {
            start(m, part->noc);
        }
    }
    return part->noc;
}

static void drop(struct tile *tile)
{
    free(noc_part(tile)->noc);
    free(noc_part(tile)->landings);
    free(noc_part(tile)->memory);
    *noc_part(tile) = (struct noc_part){0};
    memset(tile->noc, 0, sizeof tile->noc);
}

static void forget_tile(struct model *m, struct tile *tile)
{
    (void)m;
    drop(tile);
}

bool noc_sees_loads(const struct model *m, const struct tile *tile)
{
    const uint32_t both = NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO;
    return tile->in_scope && (m->header->observes & both) == both;
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

static void count_pending(struct model *m, struct tile *tile, const struct nocap_event *e)
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

/* ---- requests ---- */

static void observe_request(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct nocap_event *e = o->event;
    struct noc_tile *t = noc_of(m, tile);
    if (t == NULL || e->noc >= NOCS) {
        return;
    }
    struct noc_interface *n = &t->noc[e->noc];
    if (e->phase == NOCAP_PHASE_ISSUE || (e->has & NOCAP_F_ID) == 0) {
        noc_wait_ends(t, e->by);
    }
    if (e->phase != NOCAP_PHASE_ISSUE) {
        noc_buffers_left(n, e);
        noc_phase(m, tile, n, e);
        noc_landing_done(m, tile, e);
        return;
    }
    if (m->knows_tiles) {
        noc_judge_request(m, o);
        noc_restate(m, tile, n, e);
        noc_landing_request(m, o);
    }
    noc_take(m, tile, e);
    count_pending(m, tile, e);
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

static void judge_read_back(struct model *m, struct tile *tile, struct noc_interface *n)
{
    const struct noc_buffer *unread = NULL;
    for (unsigned i = 0; i < NOCAP_NIU_BUFFERS; i++) {
        struct noc_buffer *b = &n->buffers[i];
        if ((n->unread >> i & 1) != 0 && b->request.by == m->event->by) {
            unread = b;
        }
        b->use = NOC_FREE; /* whoever waits for an end knows it left */
    }
    n->unread = 0;
    if (n->programmed) {
        m->harmless = !noc_sees_loads(m, tile); /* it may have been read back unseen */
        CHECK(m, tile, NOC_031, unread == NULL, RELATED(unread->sent),
              "CMD_CTRL read back between a request and the first poll of a counter", "%s",
              "counter polled before CMD_CTRL was read back after a request");
        m->harmless = false;
    }
}

/* A poll of a counter: what a core does while it waits. Whether it tells that requests are still
 * under way is believed only where the count has come out once before: a capture need not show
 * every request, or say of each whether it is answered. */
static void poll(struct model *m, struct tile *tile, unsigned noc, unsigned counter,
                 const uint32_t *value)
{
    const struct nocap_event *e = m->event;
    const struct nocap_niu_counted c = nocap_niu_counted(counter);
    struct noc_tile *t = noc_part(tile)->noc;
    struct noc_interface *n = &t->noc[noc];
    struct noc_wait *w = &t->waits[nocap_core(e->by)->processor];
    judge_read_back(m, tile, n);
    noc_tells(m, &n->polled);
    if (!c.done || c.of_trid) { /* the counts of one id go down to 0 */
        if (!c.of_trid || value == NULL || *value == 0) {
            noc_counted_ended(m, tile, noc, &c, NOCAP_BY_NONE, false);
        }
        return;
    }
    enum nocap_requests kind = (enum nocap_requests)__builtin_ctz(c.set);
    if (!is_waiting(t, e->by) || w->semaphore || w->noc != noc || w->kind != kind) {
        begin(m, t, e->by, noc, kind);
    }
    w->said = false;
    struct noc_pending *p = &n->pending[kind];
    if (value != NULL && (!p->known || (int32_t)(*value - p->total) > 0)) {
        /* The first poll, or another core's requests: what it shows when idle is the base. */
        p->known = w->idle;
        p->proved = false;
        p->total = *value;
    }
    bool known = value != NULL && p->known, all = known && *value == p->total;
    if (known && !w->idle) {
        judge(m, tile, w, (e->has & NOCAP_F_N) != 0 ? e->n : 1, *value, all);
        p->proved |= all;
    }
    if (all || !known || !p->proved || p->shared || w->idle) {
        noc_counted_ended(m, tile, noc, &c, NOCAP_BY_NONE, all);
    }
    if (all && !w->idle) {
        noc_landings_over(m, tile, noc, NOCAP_BY_NONE, kind);
    }
}

/* A note that a core begins to wait. */
static void wait_begins(struct model *m, struct tile *tile, const struct nocap_event *note)
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

static void tile_waits(const struct wait_builder *t)
{
    const struct noc_tile *n = noc_part(t->tile)->noc;
    for (unsigned p = 0; n != NULL && !t->tile->launch.in_reset && p < CORES; p++) {
        if (is_waiting(n, nocap_cores[p].agent) && n->waits[p].said) { /* polls tell more */
            report_said(t, nocap_cores[p].agent, &n->waits[p]);
        }
    }
}

/* ---- stores and loads of the registers ---- */

static void other_store(struct noc_interface *n, uint32_t offset, uint32_t v)
{
    if (offset == NOCAP_NIU_NIU_CFG_0) {
        n->fifo = (v & NOCAP_NIU_CFG_FIFO) != 0;
    } else if (offset == NOCAP_NIU_CLEAR_OUTSTANDING_REQ_CNT) {
        for (unsigned id = 0; id < NOCAP_TRIDS; id++) {
            n->outstanding[id] = (v >> id & 1) != 0 ? 0 : n->outstanding[id];
        }
    }
}

/* What firmware does between kernels is far enough from the last request. */
static void mailbox_store(struct tile *tile, unsigned by)
{
    for (unsigned noc = 0; noc < NOCS; noc++) {
        struct noc_interface *n = &noc_part(tile)->noc->noc[noc];
        for (unsigned left = n->unread; left != 0; left &= left - 1) {
            const unsigned buffer = (unsigned)__builtin_ctz(left);
            if (n->buffers[buffer].request.by == by) {
                n->unread &= (uint8_t) ~(1u << buffer);
            }
        }
    }
}

/* An access of a core to registers of the interfaces. */
static __attribute__((noinline)) void register_access(struct model *m, struct tile *tile,
                                                      const struct access *a)
{
    unsigned noc = a->addr >= NOCAP_BASE_NIU1;
    uint32_t offset = (uint32_t)(a->addr - nocap_niu_base(noc)), v;
    unsigned buffer = offset / NOCAP_NIU_BUFFER_STRIDE;
    unsigned counter = (offset - NOCAP_NIU_COUNTER_BASE) / 4;
    uint32_t reg = offset % NOCAP_NIU_BUFFER_STRIDE;
    const uint32_t *value = access_word(a, a->addr, &v) ? &v : NULL;
    bool polls = !a->store && offset >= NOCAP_NIU_COUNTER_BASE && counter < NOCAP_COUNTER_COUNT;
    struct noc_tile *t = noc_of(m, tile);
    if (t == NULL) {
        return;
    }
    struct noc_interface *n = &t->noc[noc];
    if (polls) {
        poll(m, tile, noc, counter, value);
        return;
    }
    noc_wait_ends(t, a->by);
    if (buffer >= NOCAP_NIU_BUFFERS) {
        return;
    }
    if (!a->store && reg == NOCAP_NIU_CMD_CTRL) {
        noc_buffer_load(n, buffer, value);
    } else if (a->store) {
        noc_register_store(m, tile, a);
        if (reg <= NOCAP_NIU_CMD_CTRL) {
            noc_buffer_store(m, tile, noc, buffer, reg, value);
        } else if (value != NULL) {
            other_store(n, offset, v);
        }
    }
}

/* ---- the model ---- */

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    (void)options;
    m->state[MODEL_NOC] = calloc(1, sizeof(struct noc_state));
    return m->state[MODEL_NOC] != NULL;
}

static void release(struct model *m)
{
    if (noc_state(m) != NULL) {
        noc_doors_forget(m);
        free(noc_state(m));
    }
}

static uint32_t wants(const struct model *m)
{
    const uint32_t requests = OBS(REQUEST) | OBS(PHASE) | OBS(EXIT) | OBS(NOTE);
    const uint32_t accesses = OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) |
                              OBS(RESTATED) | OBS(HOST_LOAD) | OBS(ELSEWHERE);
    return m->knows_tiles                           ? requests | accesses
           : m->header->arch == NOCAP_ARCH_WORMHOLE ? requests
                                                    : 0;
}

static void check(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    bool host = o->lead && (o->kind == OBS_OUTSIDE_STORE || o->kind == OBS_HOST_LOAD ||
                            o->kind == OBS_ELSEWHERE);
    if (host && e->by == NOCAP_BY_HOST) {
        noc_host_access(m, e);
        if (o->kind == OBS_OUTSIDE_STORE && (o->places & PLACE(NIU)) != 0) {
            noc_register_store(m, o->tile, &o->access);
        }
    }
    if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_DMA && e->space == NOCAP_SPACE_SYSMEM) {
        noc_memory_landing(m, e);
    }
    if (o->tile == NULL) {
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_NOC && e->space == NOCAP_SPACE_TILE) {
            noc_landing(m, o);
        }
        return;
    }
    switch (o->kind) {
    case OBS_OUTSIDE_STORE:
        if (may_hold_all_cores(o)) {
            drop(o->tile); /* what starts then owes nothing to requests from before */
        }
        /* fall through */
    case OBS_RESTATED:
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_NOC) {
            noc_landing(m, o);
        }
        break;
    case OBS_REQUEST:
    case OBS_PHASE: observe_request(m, o); break;
    case OBS_EXIT: noc_kernel_exit(m, o->tile, e->by); break;
    case OBS_NOTE: wait_begins(m, o->tile, e); break;
    default: break;
    }
}

static __attribute__((noinline)) void memory_access(struct model *m, const struct observation *o)
{
    noc_memory_access(m, o->tile, &o->access);
    if (o->kind == OBS_CORE_STORE && (o->places & (PLACE(LOW) | PLACE_MAILBOX)) != 0) {
        mailbox_store(o->tile, o->access.by);
    }
}

static void check_core(struct model *m, const struct observation *o)
{
    struct noc_tile *n = noc_part(o->tile)->noc;
    if ((o->places & PLACE(NIU)) != 0) {
        register_access(m, o->tile, &o->access);
    } else if (n != NULL) {
        noc_wait_ends(n, o->access.by);
        if (o->region->region == NOCAP_REGION_L1) {
            memory_access(m, o);
        }
    }
}

static void apply(struct model *m, const struct observation *o)
{
    noc_publish(m, o->tile, 0);
    noc_publish(m, o->tile, 1);
}

const struct model_ops noc_model = {
    .name = "noc",
    .id = MODEL_NOC,
    .tile_size = sizeof(struct noc_part),
    .first_rule = NOC_001,
    .last_rule = NOC_040,
    .more_first = NOC_046,
    .more_last = NOC_047,
    .uses = 1u << MODEL_LAUNCH | 1u << MODEL_CQ | 1u << MODEL_MAP,
    .wants = wants,
    .places = PLACE_ALL,
    .init = init,
    .free = release,
    .tile_free = drop,
    .check = check,
    .check_of = {[OBS_CORE_STORE] = check_core, [OBS_CORE_LOAD] = check_core},
    .apply = apply,
    .forget = noc_doors_forget,
    .tile_forget = forget_tile,
    .tile_waits = tile_waits,
};
