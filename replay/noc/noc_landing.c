/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives against what was asked for. Rule NOC-047. */
#include <string.h>

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

/* It may arrive at its sender, too, and need not. */
static bool returns(const struct noc_waited *w, struct nocap_xy at)
{
    return w->may_return && nocap_xy_equal(at, w->sender);
}

/* How well a request explains an arrival. */
enum likeness {
    UNLIKE,
    AKIN,     /* one of: tile, place, bytes */
    ALTERED,  /* tile and place; other bytes */
    REPEATED, /* it arrived before */
    EXPLAINED,
};
enum { LIKELIEST = 2 * EXPLAINED + 1 }; /* the rank of one whose end was not seen either */
static enum likeness likeness(const struct noc_waited *w, struct nocap_xy at,
                              const struct access *a, const uint64_t *hash)
{
    bool tile =
        at.x >= w->to.x && at.x <= w->to_other.x && at.y >= w->to.y && at.y <= w->to_other.y;
    bool whole = a->addr == w->addr && a->addr + a->size == w->end;
    bool place = tile && a->addr >= w->addr && a->addr + a->size <= w->end;
    bool again = place && (w->arrived[at.y] >> at.x & 1) != 0;
    bool same = hash != NULL && w->has_hash && *hash == w->hash;
    bool last = w->tiles == 1 && a->addr == w->next && a->addr + a->size == w->back &&
                a->known == a->size; /* the last piece of a request */
    bool bytes =
        !w->has_hash || same ||
        (whole ? hash == NULL : !last || nocap_fnv1a64(w->sum, a->bytes, a->size) == w->rest);
    if (again || (is_over(w) && !returns(w, at))) {
        return again && bytes ? REPEATED : UNLIKE;
    }
    return place                                         ? bytes ? EXPLAINED : ALTERED
           : tile || whole || a->addr == w->addr || same ? AKIN
                                                         : UNLIKE;
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
static bool knows_all(const struct model *m, const struct tile *from, const struct noc_landings *l,
                      struct nocap_xy to, const struct access *a)
{
    const struct noc_part *p = noc_part(from);
    bool reached = (l->reached[to.y] >> to.x & 1) != 0;
    bool begun = sees_all(m) || passed(m, p->since, reached ? SOON : SETTLED);
    begun = l == p->memory ? l->shown : begun; /* writes to host memory keep their order */
    return in_order(m, from) && begun && !(l->lost && !passed(m, l->lost_t, SETTLED)) &&
           !misses_event(from, a);
}

/* Whether what did not arrive certainly would show. What else is under way only adds arrivals. */
static bool misses(const struct model *m, const struct tile *from, const struct noc_landings *l,
                   const struct noc_waited *w)
{
    const bool shows = w->kind != NOCAP_READS || l->shows_reads;
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

/* Whether a read alone explains what arrives: captures show what their requests write, but need not
 * show what reads bring. */
static bool is_of_read(const struct noc_landings *l, const struct noc_waited *w,
                       const struct access *a)
{
    bool alone = w->kind == NOCAP_READS;
    for (uint64_t i = oldest(l); alone && i < l->count; i++) {
        const struct noc_waited *other = &l->waited[i % WAITED];
        alone =
            other->kind == NOCAP_READS || a->addr + a->size <= other->addr || a->addr >= other->end;
    }
    return alone;
}

static void arrive(struct model *m, const struct tile *from, struct noc_landings *l,
                   struct noc_waited *w, struct nocap_xy at, const struct access *a)
{
    const bool word = w->kind == NOCAP_ATOMICS; /* of the piece that was asked for */
    w->bytes += returns(w, at) ? 0 : word ? w->end - w->addr : a->size;
    l->reached[at.y] |= 1u << at.x;
    l->shows_reads = l->shows_reads || is_of_read(l, w, a);
    const uint64_t end = a->addr + a->size;
    if (a->addr == w->next && end < w->back && a->known == a->size) {
        w->sum = nocap_fnv1a64(w->sum, a->bytes, a->size);
        w->next = end;
    } else if (a->addr > w->next && end == w->back && a->known == a->size) {
        w->rest = nocap_fnv1a64_before(w->rest, a->bytes, a->size);
        w->back = a->addr;
    }
    if (word || (a->addr <= w->addr && end >= w->end)) {
        w->arrived[at.y] |= 1u << at.x;
    }
    if (nocap_xy_equal(at, MEMORY) && !l->apart) {
        judge_pieces(m, from, l, w);
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

/* Of the requests from this one on that which explains an arrival best, and how well; `hash`: of
 * its bytes, NULL: not known. */
static struct noc_waited *likeliest(struct noc_landings *l, uint64_t first, struct nocap_xy at,
                                    const struct access *a, const uint64_t *hash, unsigned *rank)
{
    struct noc_waited *best = NULL;
    *rank = 0;
    for (uint64_t i = first; i < l->count && *rank < LIKELIEST; i++) {
        struct noc_waited *w = &l->waited[i % WAITED];
        enum likeness like = likeness(w, at, a, hash);
        unsigned own = 2 * like + !w->over; /* what is over may come late, the others come first */
        best = like > UNLIKE && own > *rank ? w : best;
        *rank = like > UNLIKE && own > *rank ? own : *rank;
    }
    return best;
}

/* The fault of a request that was to bring these bytes, as far as it resembles them. */
static fault_id fault_of_request(struct noc_landings *l, struct nocap_xy at, const struct access *a,
                                 const uint64_t *hash)
{
    for (uint64_t i = l->open; i < l->count; i++) {
        const struct noc_waited *w = &l->waited[i % WAITED];
        if (w->since != FAULT_NONE && likeness(w, at, a, hash) != UNLIKE) {
            return w->since;
        }
    }
    return FAULT_NONE;
}

/* `tile`: where it arrives; NULL: in host memory. `since`: of what its sender sends. `kept`: what
 * it asked to send there, NULL: nothing. */
static void judge_arrival(struct model *m, const struct tile *tile, const struct tile *from,
                          struct noc_landings **kept, const struct access *a, fault_id since)
{
    const struct nocap_xy at = tile != NULL ? tile->at : MEMORY;
    uint64_t sum;
    unsigned rank;
    const bool judged = from->in_scope && noc_sees_requests(m);
    const bool known = noc_part(from)->asks || sees_all(m);
    struct noc_landings *l = judged && known ? noc_landings_of(m, kept) : NULL;
    if (l == NULL) {
        return;
    }
    const uint64_t *hash = hash_of(a, &sum) ? &sum : NULL;
    l->open = l->open > oldest(l) ? l->open : oldest(l);
    while (l->open < l->count && is_over(&l->waited[l->open % WAITED])) {
        l->open++;
    }
    struct noc_waited *best = likeliest(l, l->open, at, a, hash, &rank);
    best = rank == LIKELIEST ? best : likeliest(l, oldest(l), at, a, hash, &rank);
    const enum likeness most = rank / 2;
    l->apart |= m->event->src != noc_part(from)->src;
    if (most == EXPLAINED) {
        MARK_EXERCISED(m, NOC_047);
        /* the same words of host memory are written again and again: their bytes tell which it is
         */
        if (tile != NULL || (hash != NULL && best->has_hash)) {
            arrive(m, from, l, best, at, a);
            show(m, from, l);
        }
    } else if (knows_all(m, from, l, at, a)) {
        CHECK_AFTER(
            m, tile != NULL ? tile : from, NOC_047,
            since != FAULT_NONE ? since : fault_of_request(l, at, a, hash), false,
            RELATED(best != NULL ? best->at.index : NO_INDEX),
            "what a request of its sender asked for: core, address, bytes, once per core",
            most == ALTERED    ? "%llu bytes arrived at 0x%llx from core %u,%u that differ from "
                                 "those of the request"
            : most == REPEATED ? "%llu bytes arrived at 0x%llx from core %u,%u a second time"
            : best != NULL
                ? "%llu bytes arrived at 0x%llx from core %u,%u, which asked for another place"
                : "%llu bytes arrived at 0x%llx from core %u,%u, which asked for none",
            (unsigned long long)a->size, (unsigned long long)a->addr, from->at.x, from->at.y);
        if (best != NULL && most != REPEATED) { /* it is the one that was misrouted */
            best->bytes = best->tiles > 1 ? best->bytes + a->size : UINT64_MAX;
            best->since = m->fault; /* for the other tiles, too */
        }
    } else if (tile != NULL) {
        show(m, from, l);
    }
}

void noc_landing(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const bool named = (e->has & NOCAP_F_FROM) != 0;
    /* who was never seen at all has sent nothing, if all that was sent was */
    const bool silent = named && sees_all(m) && tile_is_worker(m, e->s);
    const struct tile *from = !named   ? NULL
                              : silent ? tile_get(m, e->chip, e->s)
                                       : tile_find(m, e->chip, e->s);
    noc_state(m)->anonymous |= !named;
    if (from != NULL && (!from->launch.notify_pending || !nocap_adds_to_stream(o->access.addr))) {
        judge_arrival(m, o->tile, from, &noc_part(from)->landings, &o->access,
                      FAULT_NONE); /* else it tells of a notify, GO-015 */
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
        judge_arrival(m, NULL, from, &noc_part(from)->memory, &a, q->answers_since);
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
