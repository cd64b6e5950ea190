/* SPDX-License-Identifier: Apache-2.0 */
/* Several command queues of a chip: each has tiles, rings and a part of host memory of its own, and
 * all launch on the same workers. Of the first one header or profile say where it is; the others
 * come into sight by the host's set-up, or by records that name their tile. */
#include "formats/profile/profile.h"
#include "replay/cq/cq_private.h"

static struct cq *next_of_chip(const struct cq *q)
{
    struct cq *next = q->next;
    while (next != NULL && next->chip != q->chip) {
        next = next->next;
    }
    return next;
}

static struct cq *with_core(struct cq *first, struct nocap_xy at)
{
    struct cq *q = first;
    while (q != NULL && !cq_is_core(q, at)) {
        q = next_of_chip(q);
    }
    return q;
}

/* Whose go word the worker has. */
static struct cq *owed_by(struct cq *first, struct nocap_xy at)
{
    unsigned i = at.x + NOCAP_GRID_WIDTH * (unsigned)at.y;
    struct cq *q = at.x < NOCAP_GRID_WIDTH && i < CQ_TILES ? first : NULL;
    while (q != NULL && !q->workers[i].notify_pending) {
        q = next_of_chip(q);
    }
    return q;
}

/* ---- which there are ---- */

/* As the queues are numbered where the host has made as many as it can. */
static struct nocap_queue split(const struct cq *q)
{
    struct nocap_queue n = *q->numbers;
    (void)nocap_queue_split(&n, n.queues_most);
    return n;
}

static uint32_t first_pointer(const struct nocap_queue *n, uint64_t sysmem)
{
    return (uint32_t)((sysmem + n->completion) / n->pointer_unit) & ~n->toggle;
}

void cq_take_pointer(struct cq *q, uint32_t value)
{
    const struct nocap_queue n = split(q);
    if (n.queues != q->numbers->queues && value == first_pointer(&n, q->sysmem)) {
        cq_renumber(q, &n, q->sysmem);
    }
}

void cq_take_base(struct cq *q, uint32_t value)
{
    const uint64_t sysmem = q->sysmem - (uint32_t)q->sysmem + (value - q->numbers->issue);
    if (q->offset != 0 && value >= q->numbers->issue && sysmem != q->sysmem) {
        const struct nocap_queue n = *q->numbers;
        q->offset += sysmem - q->sysmem;
        cq_renumber(q, &n, sysmem);
    }
}

/* One whose core has no tile yet; NULL: none. `count`: of those before it. */
static struct cq *without_tile(struct cq *first, enum cq_core core, uint32_t *count)
{
    struct cq *q = first;
    *count = 0;
    for (; q != NULL && !nocap_xy_equal(q->at[core], CQ_NOWHERE); q = next_of_chip(q)) {
        ++*count;
    }
    return q;
}

/* That one, or a new queue, has its core at this tile. */
static struct cq *found(struct cq *first, enum cq_core core, struct nocap_xy at)
{
    uint32_t count;
    struct cq *q = without_tile(first, core, &count);
    if (q == NULL) {
        const struct nocap_queue n = split(first);
        q = count < n.queues_most ? cq_add(first) : NULL;
        if (q == NULL) {
            return NULL;
        }
        q->offset = (uint64_t)count * n.sysmem_size;
        cq_renumber(q, &n, first->sysmem + q->offset);
    }
    q->blind |= first->blind;
    cq_place_core(q, core, at);
    return q;
}

/* A store of the host to a tile of no queue: the set-up of another one, each word of which has one
 * right value. */
static struct cq *set_up(struct cq *first, const struct observation *o)
{
    const struct nocap_queue n = split(first);
    const struct access *a = &o->access;
    const uint32_t base = (uint32_t)first->sysmem + n.sysmem_size;
    uint32_t value = 0;
    if (a->by != NOCAP_BY_HOST || a->size != 4) {
        return NULL;
    }
    const bool known = access_word(a, a->addr, &value);
    const bool pointer = a->addr == n.completion_wr || a->addr == n.completion_rd;
    bool fetches = (a->addr == n.rd_ptr_echo && value == place_end(&first->places.slots)) ||
                   (a->addr == n.pcie_ptr_echo && value == base + n.issue);
    bool executes = pointer && known && value == first_pointer(&n, base);
    first->blind |= pointer && !known;
    return fetches    ? found(first, CQ_PREFETCH, o->tile->at)
           : executes ? found(first, CQ_DISPATCH, o->tile->at)
                      : NULL;
}

/* What a subordinate dispatcher gets or does; its tile may be none that is known. */
static bool is_subordinates(const struct cq *q, const struct nocap_event *e)
{
    bool page = e->op == NOCAP_OP_EXEC || e->op == NOCAP_OP_DONE;
    bool credit = e->op == NOCAP_OP_CREDIT && e->by == NOCAP_BY_PREFETCH &&
                  (e->has & NOCAP_F_SEM) != 0 && e->sem == q->numbers->subordinate_published;
    return q->numbers->dispatchers > 1 && (credit || (page && cq_in_subordinate(q, e->addr)));
}

/* The queue that has relayed to its subordinate and not published, of several that one which began
 * first; NULL: none. */
static struct cq *with_page_open(struct cq *first)
{
    struct cq *with = NULL;
    for (struct cq *q = first; q != NULL; q = next_of_chip(q)) {
        bool open = q->subordinate.open && !q->subordinate_shown;
        with = open && (with == NULL || q->subordinate.begun < with->subordinate.begun) ? q : with;
    }
    return with;
}

/* A `cq` event says the tile of the core that acts; a credit, of the one that gets it, which is
 * wrong where all cores are known. */
static struct cq *of_event(struct cq *first, const struct nocap_event *e)
{
    uint32_t count;
    bool credit = e->op == NOCAP_OP_CREDIT;
    bool executes =
        e->op == NOCAP_OP_EXEC || e->op == NOCAP_OP_DONE || (credit && e->by == NOCAP_BY_PREFETCH);
    enum cq_core core = executes ? CQ_DISPATCH : CQ_PREFETCH;
    struct cq *q = (e->has & NOCAP_F_AT) != 0 ? with_core(first, e->at) : first;
    if (is_subordinates(first, e)) {
        return q != NULL ? q : with_page_open(first);
    }
    if (q != NULL && executes && nocap_xy_equal(q->at[CQ_DISPATCH], CQ_NOWHERE) &&
        nocap_xy_equal(q->subordinate_at, e->at)) {
        cq_place_core(q, CQ_DISPATCH, e->at); /* both dispatchers are there */
    }
    bool all = without_tile(first, core, &count) == NULL &&
               (!first->alone || first->boot[CQ_PREFETCH].done != 0);
    return q != NULL ? q : credit && all ? first : found(first, core, e->at);
}

/* ---- whose an observation is ---- */

static struct cq *of_tile(struct cq *first, const struct observation *o)
{
    struct cq *q = with_core(first, o->tile->at);
    if (q == NULL && o->kind == OBS_OUTSIDE_STORE) {
        return set_up(first, o);
    }
    return q != NULL ? q : owed_by(first, o->tile->at);
}

static struct cq *of_request(struct cq *first, const struct nocap_event *e)
{
    struct cq *q = with_core(first, e->at);
    q = q != NULL ? q : owed_by(first, e->at);
    q = q != NULL || (e->has & NOCAP_F_D) == 0 ? q : with_core(first, e->d);
    return q != NULL ? q : first;
}

static struct cq *of_memory(struct cq *first, uint64_t addr)
{
    struct cq *q = first;
    while (q != NULL && addr - q->offset >= q->numbers->sysmem_size) {
        q = next_of_chip(q);
    }
    return q != NULL ? q : first;
}

struct cq *cq_of_several(struct cq *first, const struct observation *o)
{
    switch (o->kind) {
    case OBS_QUEUE: return of_event(first, o->event);
    case OBS_REQUEST: return of_request(first, o->event);
    case OBS_PHASE: return with_core(first, o->event->at);
    case OBS_MEMORY:
    case OBS_ELSEWHERE: return of_memory(first, o->access.addr);
    default: return o->tile != NULL ? of_tile(first, o) : first;
    }
}
