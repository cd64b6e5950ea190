/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives against what was asked for. Rule NOC-047. */
#include <stdio.h>

#include "replay/noc/noc_landings.h"

enum {
    SETTLED = 10000,     /* cycles after which nothing of before is under way any more */
    SOON = 1000,         /* .. where something has arrived that was sent after it */
    NS_PER_CYCLE = 1000, /* at the slowest clock */
};

/* Whether so many cycles have passed since. */
static bool passed(const struct model *m, uint64_t since, uint64_t cycles)
{
    const uint64_t unit = m->header->time_unit == NOCAP_TIME_NS ? NS_PER_CYCLE : 1;
    return m->event->t - since > cycles * unit;
}

/* Bytes that arrive at a tile, or in host memory. */
struct arrival {
    struct nocap_xy at;
    const struct access *a;
    struct tile *tile; /* NULL: it is no worker core */
    const struct tile *from;
    uint64_t hash;
    bool has_hash, memory;
    fault_id since; /* of what its sender sends */
};

/* It may arrive at its sender, too, and need not. */
static bool returns(const struct noc_waited *w, struct nocap_xy at)
{
    return w->may_return && nocap_xy_equal(at, w->sender);
}

/* Whether all that is known of its bytes is as a request that it lies in says. */
static bool has_bytes(const struct noc_waited *w, const struct arrival *v)
{
    const struct access *a = v->a;
    const uint64_t end = a->addr + a->size;
    if (!w->has_hash || (v->has_hash && v->hash == w->hash)) {
        return true;
    }
    if (a->addr == w->addr && end == w->end) {
        return !v->has_hash;
    }
    const bool last = w->tiles == 1 && a->addr == w->next && end == w->back;
    return !last || a->known < a->size || nocap_fnv1a64(w->sum, a->bytes, a->size) == w->rest;
}

/* How well a request explains an arrival. */
enum likeness {
    UNLIKE,
    AKIN,     /* one of: tile, place, bytes */
    ALTERED,  /* tile and place; other bytes */
    REPEATED, /* it arrived before */
    MISLED,   /* place and bytes; another tile */
    EXPLAINED,
};
enum { LIKELIEST = 2 * EXPLAINED + 1 }; /* the rank of one whose end was not seen either */
static enum likeness likeness(const struct noc_waited *w, const struct arrival *v)
{
    const struct nocap_xy at = v->at;
    const struct access *a = v->a;
    const bool tile =
        at.x >= w->to.x && at.x <= w->to_other.x && at.y >= w->to.y && at.y <= w->to_other.y;
    const bool place = tile && a->addr >= w->addr && a->addr + a->size <= w->end;
    if (place && (w->arrived[at.y] >> at.x & 1) != 0) {
        return has_bytes(w, v) ? REPEATED : UNLIKE;
    }
    if (is_over(w) && !returns(w, at)) { /* what was taken for this one may have been another */
        return place && w->since != FAULT_NONE && has_bytes(w, v) ? EXPLAINED : UNLIKE;
    }
    if (place) {
        return has_bytes(w, v) ? EXPLAINED : ALTERED;
    }
    const bool same = v->has_hash && w->has_hash && v->hash == w->hash;
    const bool whole = a->addr == w->addr && a->addr + a->size == w->end;
    return whole && has_bytes(w, v) ? MISLED : tile || a->addr == w->addr || same ? AKIN : UNLIKE;
}

static void judge_arrived(struct model *m, const struct tile *from, struct noc_waited *w)
{
    uint64_t all = w->tiles * (w->end - w->addr);
    const struct tile *to = tile_find(m, from->chip, w->to); /* what lacks, lacks there */
    CHECK(m, to != NULL ? to : from, NOC_047, is_over(w), RELATED(w->at.index),
          "all bytes of a request arrived when it is over",
          "%llu of %llu bytes arrived at 0x%llx of core %u,%u when the request was over",
          (unsigned long long)w->bytes, (unsigned long long)all, (unsigned long long)w->addr,
          w->to.x, w->to.y);
    w->must_arrive = w->unjudged = false; /* they may come late */
}

/* One source tells of it, in true order. */
static bool in_order(const struct model *m, const struct tile *from)
{
    const struct noc_part *p = noc_part(from);
    const struct noc_state *s = noc_state(m);
    return p->asks ? !p->opaque && m->event->src == p->src : !s->sources && m->event->src == s->src;
}

/* Every request that was ever made. */
static bool sees_all(const struct model *m)
{
    return m->header->complete == NOCAP_TRUE && !m->dropped;
}

/* A request that registers made, and of which no event came (NOC-040), is to bring these bytes. */
static bool misses_event(const struct tile *from, const struct access *a)
{
    const struct noc_tile *t = noc_part(from)->noc;
    for (unsigned i = 0; t != NULL && i < NOCS * NOCAP_NIU_BUFFERS; i++) {
        const struct noc_buffer *b = &t->noc[i / NOCAP_NIU_BUFFERS].buffers[i % NOCAP_NIU_BUFFERS];
        const struct nocap_event *r = &b->request;
        if (b->restating == NOC_PENDING && r->daddr < a->addr + a->size &&
            a->addr < r->daddr + r->size) {
            return true;
        }
    }
    return false;
}

/* Whether nothing is under way to there that was not seen to be asked for. */
static bool knows_all(const struct model *m, const struct noc_landings *l, const struct arrival *v)
{
    const struct noc_part *p = noc_part(v->from);
    bool reached = v->at.y < NOCAP_GRID_HEIGHT && (l->reached[v->at.y] >> v->at.x & 1) != 0;
    bool begun = sees_all(m) || passed(m, p->since, reached ? SOON : SETTLED);
    begun = v->memory ? l->shown : begun; /* writes to host memory keep their order */
    return in_order(m, v->from) && begun && !(l->lost && !passed(m, l->lost_t, SETTLED)) &&
           !misses_event(v->from, v->a);
}

/* Whether what did not arrive certainly would show. What else is under way only adds arrivals. */
static bool misses(const struct model *m, const struct tile *from, const struct noc_landings *l,
                   const struct noc_waited *w)
{
    const bool shows = w->kind == NOCAP_WRITES || (l->shows >> w->kind & 1) != 0;
    return w->must_arrive && shows && !l->apart && !noc_state(m)->anonymous && in_order(m, from);
}

/* What is written to host memory comes in the order in which it left, so that of requests before
 * this one no piece is under way. */
static void judge_pieces(struct model *m, const struct tile *from, struct noc_landings *l,
                         const struct noc_waited *latest)
{
    for (uint64_t i = l->open; i < l->count; i++) {
        struct noc_waited *w = &l->waited[i % WAITED];
        if (w->at.turn < latest->at.turn && w->bytes > 0 && !is_over(w)) {
            judge_arrived(m, from, w);
            w->bytes = UINT64_MAX;
        }
    }
}

/* Whether requests of this kind alone explain what arrives: captures show what their writes bring,
 * but need not show what reads and atomics do. */
static bool is_of_kind(const struct noc_landings *l, const struct noc_waited *w,
                       const struct access *a)
{
    bool alone = w->must_arrive;
    for (uint64_t i = oldest(l); alone && i < l->count; i++) {
        const struct noc_waited *other = &l->waited[i % WAITED];
        alone = other->kind == w->kind || a->addr + a->size <= other->addr || a->addr >= other->end;
    }
    return alone;
}

/* What is known of the latest GO for a tile, where these bytes are its signal. */
static void note_go(const struct model *m, struct tile *tile, uint64_t addr, uint64_t end,
                    fault_id since)
{
    const uint32_t signal = tile != NULL ? tile_signal_address(m, tile) : 0;
    if (tile != NULL && addr <= signal && signal < end) {
        tile->go_misled = since;
    }
}

static void arrive(struct model *m, struct noc_landings *l, struct noc_waited *w,
                   const struct arrival *v)
{
    const struct access *a = v->a;
    const uint64_t end = a->addr + a->size;
    const bool word = w->kind == NOCAP_ATOMICS; /* of the piece that was asked for */
    const bool counts = !is_over(w) && !returns(w, v->at);
    w->bytes += !counts ? 0 : word ? w->end - w->addr : a->size;
    l->reached[v->at.y] |= 1u << v->at.x;
    note_go(m, v->tile, a->addr, end, FAULT_NONE);
    l->shows |= (uint8_t)(is_of_kind(l, w, a) << w->kind);
    if (a->addr == w->next && end < w->back && a->known == a->size) {
        w->sum = nocap_fnv1a64(w->sum, a->bytes, a->size);
        w->next = end;
    } else if (a->addr > w->next && end == w->back && a->known == a->size) {
        w->rest = nocap_fnv1a64_before(w->rest, a->bytes, a->size);
        w->back = a->addr;
    }
    if (word || (a->addr <= w->addr && end >= w->end)) {
        w->arrived[v->at.y] |= 1u << v->at.x;
    }
    if (v->memory && !l->apart) {
        judge_pieces(m, v->from, l, w);
    }
}

/* What its sender asks for is seen to arrive: the first shows that the others should have. */
static void show(struct model *m, const struct tile *from, struct noc_landings *l)
{
    if (l->shown || l->apart) {
        return;
    }
    l->shown = true;
    for (uint64_t i = oldest(l); i < l->count; i++) {
        struct noc_waited *w = &l->waited[i % WAITED];
        if (w->unjudged && misses(m, from, l, w)) {
            judge_arrived(m, from, w);
        }
    }
}

/* Of the requests from this one on that which explains an arrival best, and how well. */
static struct noc_waited *likeliest(struct noc_landings *l, uint64_t first, const struct arrival *v,
                                    unsigned *rank)
{
    struct noc_waited *best = NULL;
    *rank = 0;
    for (uint64_t i = first; i < l->count && *rank < LIKELIEST; i++) {
        struct noc_waited *w = &l->waited[i % WAITED];
        enum likeness like = likeness(w, v);
        unsigned own = 2 * like + !w->over; /* what is over may come late, the others come first */
        best = like > UNLIKE && own > *rank ? w : best;
        *rank = like > UNLIKE && own > *rank ? own : *rank;
    }
    return best;
}

/* The fault of a request that was to bring these bytes, as far as it resembles them. */
static fault_id fault_of_request(struct noc_landings *l, const struct arrival *v)
{
    for (uint64_t i = l->open; i < l->count; i++) {
        const struct noc_waited *w = &l->waited[i % WAITED];
        if (w->since != FAULT_NONE && likeness(w, v) != UNLIKE) {
            return w->since;
        }
    }
    return FAULT_NONE;
}

/* No request explains it; `best`: the one that is most like it, NULL: none. */
static void report_arrival(struct model *m, struct noc_landings *l, struct noc_waited *best,
                           enum likeness most, const struct arrival *v)
{
    const bool led = best != NULL && (most == AKIN || most == MISLED);
    struct tile *to = led ? tile_find(m, v->from->chip, best->to) : v->tile;
    char place[24] = ""; /* what lacks, lacks elsewhere */
    if (!v->memory) {
        snprintf(place, sizeof place, " of core %u,%u", v->at.x, v->at.y);
    }
    CHECK_AFTER(m, to != NULL ? to : v->from, NOC_047,
                v->since != FAULT_NONE ? v->since : fault_of_request(l, v), false,
                RELATED(best != NULL ? best->at.index : NO_INDEX),
                "what a request of its sender asked for: core, address, bytes, once per core",
                "%llu bytes arrived at 0x%llx%s from core %u,%u%s", (unsigned long long)v->a->size,
                (unsigned long long)v->a->addr, place, v->from->at.x, v->from->at.y,
                most == ALTERED    ? " that differ from those of the request"
                : most == REPEATED ? " a second time"
                : led              ? ", which asked for another place"
                                   : ", which asked for none");
    if (best != NULL && most != REPEATED) { /* it is the one that was misrouted */
        best->bytes = best->tiles > 1 ? best->bytes + v->a->size : UINT64_MAX;
        best->since = m->fault; /* for the other tiles, too */
    }
    if (led) {
        note_go(m, to, best->addr, best->end, m->fault);
    }
    note_go(m, v->tile, v->a->addr, v->a->addr + v->a->size, m->fault);
}

/* `kept`: what its sender asked to send there, NULL: nothing. */
static void judge_arrival(struct model *m, struct noc_landings **kept, struct arrival *v)
{
    unsigned rank;
    const bool judged = v->from->in_scope && noc_sees_requests(m);
    const bool known = noc_part(v->from)->asks || sees_all(m);
    struct noc_landings *l = judged && known ? noc_landings_of(m, kept) : NULL;
    if (l == NULL) {
        return;
    }
    v->has_hash = hash_of(v->a, &v->hash);
    l->open = l->open > oldest(l) ? l->open : oldest(l);
    while (l->open < l->count && is_over(&l->waited[l->open % WAITED])) {
        l->open++;
    }
    struct noc_waited *best = likeliest(l, l->open, v, &rank);
    best = rank == LIKELIEST ? best : likeliest(l, oldest(l), v, &rank);
    l->apart |= m->event->src != noc_part(v->from)->src;
    if (rank / 2 != EXPLAINED) {
        if (knows_all(m, l, v)) {
            report_arrival(m, l, best, rank / 2, v);
        } else if (!v->memory) {
            show(m, v->from, l);
        }
        return;
    }
    MARK_EXERCISED(m, NOC_047);
    /* the same words of host memory are written again and again: their bytes tell which it is */
    if (!v->memory || (v->has_hash && best->has_hash)) {
        arrive(m, l, best, v);
        show(m, v->from, l);
    }
}

void noc_landing(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct nocap_xy at = o->tile != NULL ? o->tile->at : e->at;
    const bool named = (e->has & NOCAP_F_FROM) != 0;
    /* who was never seen at all has sent nothing, if all that was sent was */
    const bool silent = named && sees_all(m) && tile_is_worker(m, e->s);
    const struct tile *from = !named   ? NULL
                              : silent ? tile_get(m, e->chip, e->s)
                                       : tile_find(m, e->chip, e->s);
    noc_state(m)->anonymous |= !named;
    if (from == NULL || (from->launch.notify_pending && nocap_adds_to_stream(o->access.addr))) {
        return; /* the latter tells of a notify, GO-015 */
    }
    struct arrival v = {.at = at, .a = &o->access, .tile = o->tile, .from = from};
    /* tiles that are no workers have two names, so what may be one of those asked for is */
    if (o->tile != NULL || (noc_part(from)->elsewhere >> model_tile_kind(m, at) & 1) == 0) {
        judge_arrival(m, &noc_part(from)->landings, &v);
    }
}

/* The queue whose dispatcher alone writes these bytes of host memory; NULL: others may. */
static const struct queue_facts *answering(const struct model *m, const struct nocap_event *e)
{
    for (uint32_t i = 0; i < m->queue_count * QUEUE_ANSWERS; i++) {
        const struct queue_facts *q = &m->queues[i / QUEUE_ANSWERS];
        const struct byte_range *r = &q->answers[i % QUEUE_ANSWERS];
        if (q->chip == e->chip && e->addr >= r->first && e->addr + e->size <= r->end) {
            return q;
        }
    }
    return NULL;
}

void noc_memory_landing(struct model *m, const struct nocap_event *e)
{
    const struct queue_facts *q = answering(m, e);
    const struct tile *from = q != NULL ? tile_find(m, e->chip, q->at[QUEUE_DISPATCH]) : NULL;
    const uint32_t before = m->faults;
    if (from != NULL) {
        const struct access a = access_of_event(e, q->memory + e->addr, e->size);
        struct arrival v = {
            .at = MEMORY, .a = &a, .from = from, .memory = true, .since = q->answers_since};
        judge_arrival(m, &noc_part(from)->memory, &v);
    }
    m->request_fault = m->faults > before ? before + 1 : FAULT_NONE;
}

static void end_waited(struct model *m, const struct tile *tile, struct noc_landings *l,
                       struct noc_waited *w)
{
    if (l->shown && misses(m, tile, l, w)) {
        judge_arrived(m, tile, w);
    }
    w->unjudged |= !l->shown;
    w->over = true;
}

void noc_landings_over(struct model *m, const struct tile *tile, unsigned noc, unsigned by,
                       enum nocap_requests kind)
{
    struct noc_landings *l = noc_part(tile)->landings;
    for (uint64_t i = l != NULL ? oldest(l) : 0; l != NULL && i < l->count; i++) {
        struct noc_waited *w = &l->waited[i % WAITED];
        if (w->answered && w->kind == kind && w->noc == noc &&
            (by == NOCAP_BY_NONE || w->by == by)) {
            end_waited(m, tile, l, w);
        }
    }
}

void noc_landing_done(struct model *m, const struct tile *tile, const struct nocap_event *e)
{
    struct noc_landings *l = noc_part(tile)->landings;
    if (l == NULL || e->phase != NOCAP_PHASE_DONE) {
        return;
    }
    if ((e->has & NOCAP_F_ID) == 0) {
        noc_landings_over(m, tile, e->noc, e->by, nocap_requests_of(e->op));
        return;
    }
    const uint64_t first = oldest(l);
    const uint32_t count = (uint32_t)(l->count - first);
    for (uint32_t i = 0; (i = noc_marked(l->marks, first, i, count, e->id)) < count; i++) {
        struct noc_waited *w = &l->waited[(first + i) % WAITED];
        if (w->has_id && w->id == e->id) {
            end_waited(m, tile, l, w);
        }
    }
}
