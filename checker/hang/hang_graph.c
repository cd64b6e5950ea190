/* SPDX-License-Identifier: Apache-2.0 */
/* The wait-for graph: strongly connected components by Tarjan's way; those that nothing leads out
 * of are the roots. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "checker/hang/hang_private.h"
#include "formats/blackhole/xy.h"

/* ---- parties ---- */

static uint64_t key_of(const struct nocap_party *p)
{
    bool host = p->agent == NOCAP_BY_HOST || p->agent == NOCAP_BY_DMA;
    uint64_t at = p->has_tile && !host ? 1u | (uint64_t)p->at.x << 8 | (uint64_t)p->at.y << 16 : 0;
    return (uint64_t)p->agent << 56 | (uint64_t)(uint16_t)(p->job + 1) << 40 |
           (uint64_t)p->chip << 24 | at;
}

struct keys {
    MAP(uint64_t); /* of the parties, as they stand in the list */
};

/* SIZE_MAX without memory. */
static size_t find(struct nocap_hang *h, struct keys *keys, const struct nocap_party *p)
{
    uint64_t key = key_of(p);
    const uint64_t *row = MAP_GET(keys, &key, 2 * h->wait_count);
    if (row != NULL && keys->count > h->party_count) {
        h->parties[h->party_count++] = (struct nocap_hang_party){.id = *p, .wait = SIZE_MAX};
    }
    return row != NULL ? (size_t)(row - keys->rows) : SIZE_MAX;
}

/* How much a wait says about its party: what it did wrong more than what it waits for, a thread
 * that is held more than its kernel. */
static int weight(const struct nocap_wait *w)
{
    return (w->erred ? 16 : 0) + (w->wedged ? 8 : 0) + (w->thread >= 0 ? 4 : 0) +
           (w->release != NULL ? 2 : 0) + (w->index != UINT64_MAX ? 1 : 0);
}

static enum nocap_status make_parties(struct nocap_hang *h, struct nocap_error *err)
{
    struct keys keys = {0};
    h->parties = calloc(2 * h->wait_count + 1, sizeof *h->parties);
    bool memory = h->parties != NULL;
    for (size_t i = 0; memory && i < h->wait_count; i++) {
        struct nocap_hang_wait *w = &h->waits[i];
        bool alone = w->wait.by.agent == NOCAP_BY_NONE;
        w->who = find(h, &keys, &w->wait.who);
        w->by = alone ? SIZE_MAX : find(h, &keys, &w->wait.by);
        memory = w->who != SIZE_MAX && (alone || w->by != SIZE_MAX);
        if (!memory) {
            break;
        }
        struct nocap_hang_party *who = &h->parties[w->who];
        who->waits |= !alone;
        who->at_fault |= w->wait.erred;
        if (who->wait == SIZE_MAX || weight(&w->wait) > weight(&h->waits[who->wait].wait)) {
            who->wait = i;
        }
        if (w->by != SIZE_MAX) {
            h->parties[w->by].waited = true;
        }
    }
    MAP_FREE(&keys);
    RETURN_ERROR_IF(!memory, err, NOCAP_E_MEMORY, "out of memory for the wait-for graph");
    return NOCAP_OK;
}

static void mark_erred(struct nocap_hang *h)
{
    for (size_t v = 0; v < h->party_count; v++) {
        const struct nocap_party *p = &h->parties[v].id;
        for (size_t i = 0; i < h->report->finding_count && !h->parties[v].erred; i++) {
            const struct nocap_finding *f = &h->report->findings[i];
            h->parties[v].erred = f->severity == NOCAP_ERROR && !f->waived &&
                                  f->agent == p->agent && f->has_tile && p->has_tile &&
                                  f->chip == p->chip && nocap_xy_equal(f->at, p->at);
        }
    }
}

/* ---- components ---- */

enum { UNSEEN = 0 };

struct walk {
    const struct nocap_hang *hang;
    size_t *first, *edges;       /* by party: its part of `edges`, which are indexes of parties */
    size_t *number, *low, *next; /* as in Tarjan's algorithm; `next`: the edge to follow */
    size_t *component;           /* by party, from 1; 0: none yet */
    size_t *stack, *path, stack_count, numbers, components;
};

/* Whether the wait leads from a party to another. Who did wrong leads nowhere. */
static bool leads_on(const struct nocap_hang *h, const struct nocap_hang_wait *w)
{
    return w->by != SIZE_MAX && !h->parties[w->who].at_fault;
}

static void fill_edges(struct walk *w)
{
    const struct nocap_hang *h = w->hang;
    for (size_t i = 0; i < h->wait_count; i++) {
        if (leads_on(h, &h->waits[i])) {
            w->first[h->waits[i].who + 1]++;
        }
    }
    for (size_t i = 0; i < h->party_count; i++) {
        w->first[i + 1] += w->first[i];
        w->next[i] = w->first[i];
    }
    for (size_t i = 0; i < h->wait_count; i++) {
        if (leads_on(h, &h->waits[i])) {
            w->edges[w->next[h->waits[i].who]++] = h->waits[i].by;
        }
    }
    memcpy(w->next, w->first, h->party_count * sizeof *w->next);
}

static void enter(struct walk *w, size_t v)
{
    w->number[v] = w->low[v] = ++w->numbers;
    w->stack[w->stack_count++] = v;
}

static void leave(struct walk *w, size_t v)
{
    if (w->low[v] != w->number[v]) {
        return;
    }
    w->components++;
    size_t u;
    do {
        u = w->stack[--w->stack_count];
        w->component[u] = w->components;
    } while (u != v);
}

static void visit(struct walk *w, size_t start)
{
    size_t depth = 0;
    enter(w, start);
    w->path[depth++] = start;
    while (depth > 0) {
        size_t v = w->path[depth - 1];
        if (w->next[v] < w->first[v + 1]) {
            size_t u = w->edges[w->next[v]++];
            if (w->number[u] == UNSEEN) {
                enter(w, u);
                w->path[depth++] = u;
            } else if (w->component[u] == 0 && w->number[u] < w->low[v]) {
                w->low[v] = w->number[u];
            }
            continue;
        }
        leave(w, v);
        depth--;
        if (depth > 0 && w->low[v] < w->low[w->path[depth - 1]]) {
            w->low[w->path[depth - 1]] = w->low[v];
        }
    }
}

/* A root is in a component that no edge leaves. `members` and `leaves` by component. */
static void mark_roots(struct nocap_hang *h, const struct walk *w, size_t *members, bool *leaves)
{
    for (size_t v = 0; v < h->party_count; v++) {
        members[w->component[v]]++;
        for (size_t e = w->first[v]; e < w->first[v + 1]; e++) {
            leaves[w->component[v]] |= w->component[w->edges[e]] != w->component[v];
        }
    }
    for (size_t v = 0; v < h->party_count; v++) {
        h->parties[v].root = !leaves[w->component[v]];
        h->parties[v].in_cycle = members[w->component[v]] > 1;
    }
}

static enum nocap_status find_roots(struct nocap_hang *h, struct nocap_error *err)
{
    size_t n = h->party_count + 2;
    size_t *memory = calloc(8 * n + h->wait_count, sizeof *memory);
    size_t *members = calloc(n, sizeof *members);
    bool *leaves = calloc(n, sizeof *leaves);
    bool enough = memory != NULL && members != NULL && leaves != NULL;
    if (enough) {
        struct walk w = {.hang = h,
                         .first = memory,
                         .number = memory + n,
                         .low = memory + 2 * n,
                         .next = memory + 3 * n,
                         .component = memory + 4 * n,
                         .stack = memory + 5 * n,
                         .path = memory + 6 * n,
                         .edges = memory + 7 * n};
        fill_edges(&w);
        for (size_t v = 0; v < h->party_count; v++) {
            if (w.number[v] == UNSEEN) {
                visit(&w, v);
            }
        }
        mark_roots(h, &w, members, leaves);
    }
    free(memory);
    free(members);
    free(leaves);
    RETURN_ERROR_IF(!enough, err, NOCAP_E_MEMORY, "out of memory for the wait-for graph");
    return NOCAP_OK;
}

/* ---- the chain ---- */

static uint64_t stopped(const struct nocap_hang *h, size_t party)
{
    size_t wait = h->parties[party].wait;
    return wait == SIZE_MAX ? 0 : h->waits[wait].wait.progress.t;
}

/* Whether `a` is the better root to speak of: waited for, one that did wrong, and standing still
 * for longer. */
static bool speaks_more(const struct nocap_hang *h, size_t a, size_t b)
{
    if (h->parties[a].waited != h->parties[b].waited) {
        return h->parties[a].waited;
    }
    if (h->parties[a].erred != h->parties[b].erred) {
        return h->parties[a].erred;
    }
    return stopped(h, a) < stopped(h, b);
}

size_t nocap_hang_root(const struct nocap_hang *h)
{
    if (h->chain_count > 0) {
        const struct nocap_hang_wait *last = &h->waits[h->chain[h->chain_count - 1]];
        return last->by != SIZE_MAX && h->parties[last->by].root ? last->by : last->who;
    }
    size_t best = SIZE_MAX;
    for (size_t v = 0; v < h->party_count; v++) {
        if (h->parties[v].root && (best == SIZE_MAX || speaks_more(h, v, best))) {
            best = v;
        }
    }
    return best;
}

/* Breadth first from `start`, level by level: by party the wait that leads to it; to `start` too,
 * where others wait for it. The best root that is met; SIZE_MAX: none. */
static size_t search(const struct nocap_hang *h, size_t start, size_t *from, size_t *depth)
{
    bool more = true;
    size_t best = h->parties[start].root ? start : SIZE_MAX;
    depth[start] = 1;
    from[start] = SIZE_MAX;
    for (size_t level = 1; more; level++) {
        more = false;
        for (size_t i = 0; i < h->wait_count; i++) {
            size_t u = h->waits[i].by;
            if (u == SIZE_MAX || depth[h->waits[i].who] != level ||
                (u == start ? from[u] != SIZE_MAX : depth[u] != 0)) {
                continue;
            }
            from[u] = i;
            if (u == start) {
                continue;
            }
            depth[u] = level + 1;
            more = true;
            if (h->parties[u].root && (best == SIZE_MAX || speaks_more(h, u, best))) {
                best = u;
            }
        }
    }
    return best;
}

/* Who waits and has no waiter: the host if it waits. */
static size_t start_of(const struct nocap_hang *h)
{
    size_t best = SIZE_MAX;
    for (size_t v = 0; v < h->party_count; v++) {
        const struct nocap_hang_party *p = &h->parties[v];
        if (p->id.agent == NOCAP_BY_HOST && p->waits) {
            return v;
        }
        if (best == SIZE_MAX && p->waits && !p->waited && !p->root) {
            best = v;
        }
    }
    return best;
}

static enum nocap_status find_chain(struct nocap_hang *h, struct nocap_error *err)
{
    size_t start = start_of(h);
    if (start == SIZE_MAX) {
        return NOCAP_OK;
    }
    size_t *from = calloc(h->party_count + 1, sizeof *from);
    size_t *depth = calloc(h->party_count + 1, sizeof *depth);
    h->chain = calloc(h->party_count + 1, sizeof *h->chain);
    bool enough = from != NULL && depth != NULL && h->chain != NULL;
    if (enough) {
        size_t root = search(h, start, from, depth);
        size_t v = root;
        while (v != SIZE_MAX && from[v] != SIZE_MAX && (v != start || h->chain_count == 0)) {
            memmove(h->chain + 1, h->chain, h->chain_count * sizeof *h->chain);
            h->chain[0] = from[v];
            h->chain_count++;
            v = h->waits[from[v]].who;
        }
    }
    free(from);
    free(depth);
    RETURN_ERROR_IF(!enough, err, NOCAP_E_MEMORY, "out of memory for the wait-for graph");
    return NOCAP_OK;
}

enum nocap_status nocap_hang_graph(struct nocap_hang *h, struct nocap_error *err)
{
    RETURN_IF_FAILED(make_parties(h, err));
    mark_erred(h);
    RETURN_IF_FAILED(find_roots(h, err));
    return find_chain(h, err);
}
