/* What the parties of the command queue wait for: slots, records, credits, pages, announcements of
 * workers, completion space. An idle queue waits for nothing. Source: command-queue fact sheet. */
#include <inttypes.h>
#include <stdio.h>

#include "replay/waits_cq.h"

static const unsigned agents[CQ_CORES] = {NOCAP_BY_PREFETCH, NOCAP_BY_DISPATCH};

struct nocap_party wait_cq_party(const struct queue_view *v, enum cq_core core)
{
    return wait_party_at(v->t, agents[core], v->q->at[core]);
}

struct nocap_wait wait_cq_begin(const struct queue_view *v, enum cq_core core, struct moment since)
{
    struct nocap_wait w = wait_begin(v->t, NOCAP_BY_NONE, since);
    w.who = wait_cq_party(v, core);
    if (v->tiles[core] != NULL) {
        w.pace = v->tiles[core]->pace.all;
    }
    return w;
}

struct moment wait_at_index(uint64_t index)
{
    return (struct moment){.index = index, .t = NO_INDEX};
}

const struct look *wait_cq_looks(const struct queue_view *v, enum cq_core core)
{
    const struct tile *tile = v->tiles[core];
    return tile != NULL ? pace_looks_at(&tile->pace.agents[PACE_CORE0 + NOCAP_PROCESSOR_BRISC])
                        : NULL;
}

/* ---- the host ---- */

static const struct look *host_slot_look(const struct queue_view *v)
{
    const struct tile *tile = v->tiles[CQ_PREFETCH];
    const struct look *l = tile != NULL ? pace_looks_at(&tile->pace.agents[PACE_HOST]) : NULL;
    bool queue = l != NULL && l->addr >= NOCAP_CQ_QUEUE && l->addr < NOCAP_CQ_QUEUE_END;
    return queue && l->value != 0 ? l : NULL;
}

static const struct look *host_completion_look(const struct queue_view *v)
{
    const struct cq_completion *c = &v->q->completion;
    const struct look *l = pace_looks_at(&v->t->m->pace->memory);
    if (l == NULL || l->addr != NOCAP_CQ_HOST_WR || (c->ids_whole && v->owed == 0)) {
        return NULL;
    }
    return !c->rd.known || (uint32_t)l->value == c->rd.value ? l : NULL;
}

static void tell_host(const struct queue_view *v)
{
    char what[WAIT_TEXT];
    const struct look *l = host_slot_look(v);
    if (l != NULL) {
        struct nocap_wait w = wait_begin(v->t, NOCAP_BY_HOST, l->since);
        snprintf(what, sizeof what, "slot %u of the prefetch queue, which still holds 0x%" PRIx64,
                 (unsigned)(l->addr - NOCAP_CQ_QUEUE) / 2, l->value);
        w.who = wait_party_at(v->t, NOCAP_BY_HOST, v->q->at[CQ_PREFETCH]);
        w.by = wait_cq_party(v, CQ_PREFETCH);
        w.what = what;
        w.state = "polling";
        w.release = "the prefetcher takes the entry and zeroes the slot";
        w.addr = l->addr;
        w.size = 2;
        wait_tell(v->t, &w);
    }
    l = host_completion_look(v);
    if (l != NULL || v->owed > 0) {
        struct nocap_wait w =
            wait_begin(v->t, NOCAP_BY_HOST, l != NULL ? l->since : wait_at_index(NO_INDEX));
        const struct cq_completion *c = &v->q->completion;
        snprintf(what, sizeof what,
                 l != NULL ? "a completion: the write pointer at sysmem+0x80 stays 0x%" PRIx64
                           : "completions that it asked for",
                 l != NULL ? l->value : 0);
        w.by = wait_cq_party(v, CQ_DISPATCH);
        w.what = what;
        w.state = l != NULL ? "polling" : "waiting";
        w.release = "the dispatcher writes a completion page and moves the pointer";
        w.counted = c->ids_whole;
        w.have = v->done;
        w.need = c->id_count;
        w.in_sysmem = true;
        w.addr = NOCAP_CQ_HOST_WR;
        w.size = 4;
        wait_tell(v->t, &w);
    }
}

/* Events that came back, whoever shows it. */
static uint64_t events_done(const struct cq_completion *c)
{
    uint64_t pages = c->pages_read + c->page_read;
    uint64_t ids = c->device_id > c->host_id ? c->device_id : c->host_id;
    return pages > ids ? pages : ids;
}

static void look_over(struct queue_view *v)
{
    struct cq *q = v->q;
    const struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_completion *c = &q->completion;
    for (unsigned core = 0; core < CQ_CORES; core++) {
        v->tiles[core] = tile_find(v->t->m, q->chip, q->at[core]);
        v->observed[core] = (q->sees[core] && (q->sees_noc || q->sees_stores)) || p->events_seen;
    }
    v->done = events_done(c);
    const uint32_t host = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    bool shown = c->ids_whole &&
                 ((v->t->m->header->observes & host) != 0 || (q->sees_noc && q->sees[CQ_DISPATCH]));
    v->owed = shown && c->id_count > v->done ? c->id_count - v->done : 0;
    bool reads = (q->sees[CQ_PREFETCH] && q->sees_noc) || p->events_seen;
    v->unfetched = reads && p->synced && q->published > p->next ? q->published - p->next : 0;
    uint64_t ready = p->landed_seen || p->dones_seen ? p->landed : p->next;
    v->unrelayed =
        reads && p->synced && p->relay != NO_INDEX && ready > p->relay ? ready - p->relay : 0;
    bool at_work = q->ring.executing && q->ring.ends_told && !q->ring.finished;
    v->demand = at_work || v->owed > 0 || v->unfetched > 0 || v->unrelayed > 0 || p->open;
    v->demand = v->demand || host_slot_look(v) != NULL || host_completion_look(v) != NULL;
}

static void waits_of_queue(const struct telling *t, struct cq *q)
{
    struct telling telling = *t;
    struct queue_view v = {.t = &telling, .q = q};
    telling.chip = q->chip;
    look_over(&v);
    tell_host(&v);
    wait_cq_prefetcher(&v, wait_cq_dispatcher(&v));
}

void waits_cq(const struct telling *t)
{
    for (struct cq *q = t->m->cq; q != NULL; q = q->next) {
        if (q->any) {
            waits_of_queue(t, q);
        }
    }
}

bool waits_cq_owns(const struct telling *t)
{
    const struct cq *q = cq_of(t->m, t->tile->chip);
    const uint32_t shows = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_NOC |
                           NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST;
    bool blind = (t->m->header->observes & shows) == 0; /* their kernels have no end */
    if (q == NULL || (!q->any && !blind)) {
        return false;
    }
    return cq_same_xy(t->tile->at, q->at[CQ_PREFETCH]) ||
           cq_same_xy(t->tile->at, q->at[CQ_DISPATCH]);
}
