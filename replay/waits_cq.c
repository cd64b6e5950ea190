/* What the parties of the command queue wait for: slots, records, credits, pages, announcements of
 * workers, completion space. An idle queue waits for nothing. Source: command-queue fact sheet. */
#include <inttypes.h>
#include <stdio.h>

#include "replay/cq.h"
#include "replay/waits_private.h"

/* What the parts of the queue say of each other. */
struct queue_view {
    const struct telling *t;
    struct cq *q;
    const struct tile *tiles[CQ_CORES]; /* NULL: the trace does not touch it */
    bool observed[CQ_CORES];
    bool demand; /* something that was asked for is not done */
    uint64_t done, owed; /* events that the host asked for */
    uint64_t unfetched, unrelayed;
};

static const unsigned agents[CQ_CORES] = {NOCAP_BY_PREFETCH, NOCAP_BY_DISPATCH};

static struct nocap_party party(const struct queue_view *v, enum cq_core core)
{
    return wait_party_at(v->t, agents[core], v->q->at[core]);
}

static struct nocap_wait begin(const struct queue_view *v, enum cq_core core, struct moment since)
{
    struct nocap_wait w = wait_begin(v->t, NOCAP_BY_NONE, since);
    w.who = party(v, core);
    if (v->tiles[core] != NULL) {
        w.pace = v->tiles[core]->pace.all;
    }
    return w;
}

static struct moment at_index(uint64_t index)
{
    return (struct moment){.index = index, .t = NO_INDEX};
}

/* What BRISC of the core looks at again and again; NULL: nothing. */
static const struct look *looks_at(const struct queue_view *v, enum cq_core core)
{
    const struct tile *tile = v->tiles[core];
    return tile != NULL
               ? pace_looks_at(&tile->pace.agents[PACE_CORE0 + NOCAP_PROCESSOR_BRISC])
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
        w.by = party(v, CQ_PREFETCH);
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
            wait_begin(v->t, NOCAP_BY_HOST, l != NULL ? l->since : at_index(NO_INDEX));
        const struct cq_completion *c = &v->q->completion;
        snprintf(what, sizeof what,
                 l != NULL ? "a completion: the write pointer at sysmem+0x80 stays 0x%" PRIx64
                           : "completions that it asked for",
                 l != NULL ? l->value : 0);
        w.by = party(v, CQ_DISPATCH);
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

/* ---- the prefetcher ---- */

static bool short_of_credits(const struct queue_view *v, uint64_t *have, uint64_t *need)
{
    const struct cq_ring *r = &v->q->ring;
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_record *record =
        p->relay != NO_INDEX ? cq_record(v->q, p->relay) : NULL;
    if (!r->origin || p->open || v->unrelayed == 0 || record == NULL || !record->good) {
        return false;
    }
    uint64_t used = r->acquired - r->released;
    *have = used < NOCAP_CQ_BUFFER_PAGES ? NOCAP_CQ_BUFFER_PAGES - used : 0;
    *need = record->pages;
    return *have < *need;
}

static bool tell_credits(const struct queue_view *v)
{
    uint64_t have, need;
    char what[WAIT_TEXT];
    if (!short_of_credits(v, &have, &need)) {
        return false;
    }
    snprintf(what, sizeof what,
             "%" PRIu64 " free page%s of the dispatch buffer for record %" PRIu64 ", has %" PRIu64,
             need, need > 1 ? "s" : "", v->q->prefetcher.relay, have);
    struct nocap_wait w =
        begin(v, CQ_PREFETCH, at_index(v->q->prefetcher.fetch.index));
    w.by = party(v, CQ_DISPATCH);
    w.what = what;
    w.state = "polling its credits";
    w.release = "the dispatcher gives back a block of 32 pages";
    w.counted = true;
    w.have = have;
    w.need = need;
    w.addr = v->q->sem[CQ_PREFETCH];
    w.size = 4;
    wait_tell(v->t, &w);
    return true;
}

static bool tell_read(const struct queue_view *v)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_fetch *f = &p->fetch;
    char what[WAIT_TEXT];
    if (!f->any || f->record == NO_INDEX || !(p->dones_seen || p->landed_seen) ||
        p->landed > f->record) {
        return false;
    }
    snprintf(what, sizeof what, "its read of host memory at +0x%" PRIx32 ", %" PRIu32 " bytes",
             f->addr, f->got);
    struct nocap_wait w = begin(v, CQ_PREFETCH, at_index(f->index));
    w.by = (struct nocap_party){.agent = NOCAP_BY_DMA, .job = -1};
    w.what = what;
    w.state = "in a PCIe read";
    w.release = "the data land";
    w.in_sysmem = true;
    w.addr = f->addr;
    w.size = f->got;
    wait_tell(v->t, &w);
    return true;
}

static bool tell_unpublished(const struct queue_view *v)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    char what[WAIT_TEXT];
    if (!p->open) {
        return false;
    }
    if (p->unsent_count > 0 && p->sents_seen) {
        snprintf(what, sizeof what,
                 "%" PRIu32 " of its writes to the dispatch buffer to leave, of the record begun at "
                 "index %" PRIu64,
                 p->unsent_count, p->index);
    } else {
        snprintf(what, sizeof what,
                 "wrote %" PRIu32 " bytes at 0x%" PRIx32
                 " of the dispatch buffer and never published their pages",
                 p->bytes, p->begin);
    }
    struct nocap_wait w = begin(v, CQ_PREFETCH, at_index(p->index));
    w.what = what;
    w.state = "in a relay";
    w.release = "it adds the pages to semaphore 0 of the dispatcher";
    w.addr = p->begin;
    w.size = p->bytes;
    wait_tell(v->t, &w);
    return true;
}

/* Pages that it has relayed, and that the dispatcher's semaphore does not show. */
static bool tell_lost_pages(const struct queue_view *v)
{
    const struct look *l = looks_at(v, CQ_DISPATCH);
    const struct cq_ring *r = &v->q->ring;
    char what[WAIT_TEXT];
    if (l == NULL || l->addr != v->q->sem[CQ_DISPATCH] || !r->origin || l->value >= r->published) {
        return false;
    }
    snprintf(what, sizeof what,
             "relayed %" PRIu64 " pages, and the dispatcher's semaphore shows %" PRIu64
             ": a record was never published",
             r->published, l->value);
    struct nocap_wait w = begin(v, CQ_PREFETCH, at_index(v->q->prefetcher.index));
    w.what = what;
    w.state = "behind a relay";
    w.addr = l->addr;
    w.size = 4;
    wait_tell(v->t, &w);
    return true;
}

/* An entry that it does not take. */
static void tell_untaken(const struct queue_view *v)
{
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_record *r = cq_record(v->q, p->next);
    const struct look *l = looks_at(v, CQ_PREFETCH);
    char what[WAIT_TEXT], where[64] = "";
    struct moment since = r != NULL ? r->at : at_index(NO_INDEX);
    struct nocap_wait w = begin(v, CQ_PREFETCH, since);
    if (r != NULL && r->slot_known) {
        snprintf(where, sizeof where, " in slot %u", r->slot);
        w.addr = NOCAP_CQ_QUEUE + 2 * (uint64_t)r->slot;
        w.size = 2;
    }
    bool queue = l != NULL && l->addr >= NOCAP_CQ_QUEUE && l->addr < NOCAP_CQ_QUEUE_END;
    unsigned slot = queue ? (unsigned)(l->addr - NOCAP_CQ_QUEUE) / 2 : 0;
    if (queue && l->value == 0 && r != NULL && r->slot_known && slot != r->slot) {
        snprintf(what, sizeof what, "an entry in slot %u, which is empty; the next one stands%s",
                 slot, where);
        w.by = wait_party_at(v->t, NOCAP_BY_HOST, v->q->at[CQ_PREFETCH]);
        w.state = "polling its queue";
        w.release = "the host fills that slot";
        w.addr = l->addr;
        w.size = 2;
    } else {
        snprintf(what, sizeof what,
                 "never took record %" PRIu64 "%s; %" PRIu64 " published record%s not read",
                 p->next, where, v->unfetched, v->unfetched > 1 ? "s are" : " is");
        w.state = "not reading its queue";
    }
    w.what = what;
    wait_tell(v->t, &w);
}

/* `pages_wanted`: the dispatcher waits for it. */
static void tell_prefetcher(const struct queue_view *v, bool pages_wanted)
{
    if (!v->observed[CQ_PREFETCH] || !v->demand) {
        return;
    }
    if (tell_credits(v) || tell_unpublished(v) || tell_read(v)) {
        return;
    }
    if (v->unrelayed > 0) {
        char what[WAIT_TEXT];
        snprintf(what, sizeof what, "never relayed record %" PRIu64 ", which has landed",
                 v->q->prefetcher.relay);
        struct nocap_wait w =
            begin(v, CQ_PREFETCH, at_index(v->q->prefetcher.fetch.index));
        w.what = what;
        w.state = "holding a record";
        wait_tell(v->t, &w);
    } else if (v->unfetched > 0) {
        tell_untaken(v);
    } else if (!tell_lost_pages(v) && pages_wanted) {
        struct nocap_wait w = begin(v, CQ_PREFETCH, at_index(NO_INDEX));
        w.by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
        w.what = "a record: it has relayed all that the host published";
        w.state = "idle";
        w.release = "the host fills a slot";
        wait_tell(v->t, &w);
    }
}

/* ---- the dispatcher ---- */

/* The stream on which the command that is executed waits for workers. */
static const struct cq_stream *awaited_stream(const struct queue_view *v, unsigned *index)
{
    const struct cq_brief *b = &v->q->ring.brief;
    uint32_t i = (uint32_t)b->stream - NOCAP_NOTIFY_STREAM;
    bool waits = v->q->ring.executing && b->known &&
                 ((b->id == NOCAP_CQ_DISPATCH_WAIT && (b->flags & NOCAP_CQ_WAIT_STREAM) != 0) ||
                  b->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL);
    *index = i;
    return waits && i < NOCAP_CQ_STREAMS ? &v->q->dispatcher.streams[i] : NULL;
}

static bool is_missing(const struct queue_view *v, unsigned i, unsigned offset)
{
    const struct cq_worker *w = &v->q->workers[i];
    return w->go == YES && (w->notified == NO || w->skipped) && w->offset == offset;
}

/* BRISC of a worker that stored DONE and did not announce it. */
static void tell_unannounced(const struct queue_view *v, struct nocap_xy at)
{
    struct telling t = *v->t;
    t.tile = tile_find(t.m, 0, at);
    if (t.tile != NULL) {
        struct nocap_wait w = wait_begin(&t, NOCAP_BY_BRISC, t.tile->launch.done);
        w.what = "stored DONE and never announced it to the dispatcher";
        w.state = "behind its launch";
        w.release = "an inline write of 0x40 to the dispatcher's stream";
        wait_tell(&t, &w);
    }
}

/* The workers of which an announcement is missing, each as one to wait for. Their number. */
static unsigned tell_missing(const struct queue_view *v, const struct nocap_wait *base,
                             unsigned offset)
{
    unsigned count = 0;
    for (unsigned i = 0; i < CQ_TILES; i++) {
        struct nocap_xy at = {(uint8_t)(i % NOCAP_GRID_WIDTH), (uint8_t)(i / NOCAP_GRID_WIDTH)};
        if (!is_missing(v, i, offset)) {
            continue;
        }
        struct nocap_wait w = *base;
        w.by = wait_party_at(v->t, NOCAP_BY_BRISC, at);
        wait_tell(v->t, &w);
        count++;
        if (v->q->workers[i].done == YES) {
            tell_unannounced(v, at);
        }
    }
    return count;
}

static bool tell_workers(const struct queue_view *v)
{
    unsigned offset;
    const struct cq_stream *s = awaited_stream(v, &offset);
    const struct cq_brief *b = &v->q->ring.brief;
    const struct look *l = looks_at(v, CQ_DISPATCH);
    char what[WAIT_TEXT];
    if (s == NULL) {
        return false;
    }
    uint64_t where =
        nocap_stream_address(NOCAP_NOTIFY_STREAM + offset, NOCAP_STREAM_SPACE_AVAILABLE);
    bool looks = l != NULL && l->addr == where;
    uint32_t have = looks ? (uint32_t)l->value : s->value;
    uint32_t ahead = (have - b->count) << (32 - NOCAP_CQ_COUNT_BITS);
    if (b->count == 0 || ((looks || s->read) && (int32_t)ahead >= 0)) {
        return false; /* all have come */
    }
    if (!looks && v->q->sees_loads) {
        return false;
    }
    snprintf(what, sizeof what, "%" PRIu32 " announcements of workers on stream %u", b->count,
             NOCAP_NOTIFY_STREAM + offset);
    struct nocap_wait w = begin(v, CQ_DISPATCH, looks ? l->since : b->at);
    w.index = v->q->ring.executed_index;
    w.what = what;
    w.state = "in WAIT";
    w.release = "an announcement of each worker that is missing";
    w.counted = true;
    w.have = have;
    w.need = b->count;
    w.addr = where;
    w.size = 4;
    unsigned missing = tell_missing(v, &w, offset);
    if (missing == 0 && !v->q->sees_noc) {
        w.counted = false;
        wait_tell(v->t, &w);
    } else if (missing == 0) {
        snprintf(what, sizeof what,
                 "%" PRIu32 " announcements of workers on stream %u; %" PRIu64
                 " go words were sent and nobody is left to announce anything",
                 b->count, NOCAP_NOTIFY_STREAM + offset, s->goes);
        wait_tell(v->t, &w);
    }
    return true;
}

static bool tell_space(const struct queue_view *v)
{
    const struct look *l = looks_at(v, CQ_DISPATCH);
    if (l == NULL || l->addr != NOCAP_CQ_COMPLETION_RD || !v->q->ring.executing) {
        return false;
    }
    struct nocap_wait w = begin(v, CQ_DISPATCH, l->since);
    w.by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
    w.what = "room in the completion queue: the host's read pointer at 0x196e0 does not move";
    w.state = "polling the read pointer";
    w.release = "the host reads completion pages and moves its read pointer";
    w.addr = NOCAP_CQ_COMPLETION_RD;
    w.size = 4;
    wait_tell(v->t, &w);
    return true;
}

static bool tell_barrier(const struct queue_view *v)
{
    const struct look *l = looks_at(v, CQ_DISPATCH);
    const struct cq_dispatcher *d = &v->q->dispatcher;
    struct nocap_register_place place;
    char what[WAIT_TEXT], name[64];
    if (l == NULL || !nocap_register_find(l->addr, NOCAP_BY_BRISC, &place) ||
        place.family != NOCAP_FAMILY_NIU_COUNTER) {
        return false;
    }
    uint64_t open = 0, first = NO_INDEX;
    uint64_t count = d->write_count < CQ_WRITES ? d->write_count : CQ_WRITES;
    for (uint64_t i = d->write_count - count; d->acks_seen && i < d->write_count; i++) {
        const struct cq_write *one = &d->writes[i % CQ_WRITES];
        if (!one->done && one->mcast) {
            first = open++ == 0 ? one->index : first;
        }
    }
    nocap_register_name(l->addr, NOCAP_BY_BRISC, name, sizeof name);
    snprintf(what, sizeof what,
             open > 0 ? "%s stays 0x%" PRIx64 "; %" PRIu64
                        " of its multicasts without an end, the first at index %" PRIu64
                      : "%s stays 0x%" PRIx64,
             name, l->value, open, first);
    struct nocap_wait w = begin(v, CQ_DISPATCH, l->since);
    w.what = what;
    w.state = "in a NOC barrier";
    w.release = "the acknowledgements that are missing";
    w.addr = l->addr;
    w.size = 4;
    wait_tell(v->t, &w);
    return true;
}

/* Pages that it has finished and owes back, while the prefetcher is short of them. */
static bool tell_debt(const struct queue_view *v)
{
    const struct cq_ring *r = &v->q->ring;
    uint64_t have, need, end = r->consumed + r->current_pages;
    uint64_t blocks = end / NOCAP_CQ_BLOCK_PAGES;
    uint64_t due = blocks > 0 ? (blocks - 1) * NOCAP_CQ_BLOCK_PAGES : 0;
    char what[WAIT_TEXT];
    if (!short_of_credits(v, &have, &need) || due <= r->released) {
        return false;
    }
    snprintf(what, sizeof what,
             "finished %" PRIu64 " blocks of the dispatch buffer and gave back %" PRIu64
             " pages: it owes %" PRIu64,
             blocks, r->released, due - r->released);
    uint64_t last = r->release_count > 0
                        ? r->releases[(r->release_count - 1) % CQ_RELEASES].at.index
                        : r->executed_index;
    struct nocap_wait w = begin(v, CQ_DISPATCH, at_index(last));
    w.what = what;
    w.state = "owing pages";
    w.release = "it adds the pages to semaphore 0 of the prefetcher";
    w.addr = v->q->sem[CQ_DISPATCH];
    w.size = 4;
    wait_tell(v->t, &w);
    return true;
}

/* True: it waits for the prefetcher. */
static bool tell_pages(const struct queue_view *v)
{
    const struct cq_ring *r = &v->q->ring;
    const struct look *l = looks_at(v, CQ_DISPATCH);
    uint64_t end = r->consumed + (r->executed_index == NO_INDEX ? 0 : r->current_pages);
    bool polls = l != NULL && l->addr == v->q->sem[CQ_DISPATCH];
    char what[WAIT_TEXT];
    struct nocap_wait w =
        begin(v, CQ_DISPATCH, polls ? l->since : at_index(r->executed_index));
    w.addr = v->q->sem[CQ_DISPATCH];
    w.size = 4;
    if (r->origin && end < r->published && !polls) {
        snprintf(what, sizeof what,
                 "never finished the command at 0x%" PRIx32 " that it began at index %" PRIu64,
                 r->current, r->executed_index);
        w.state = "in a command";
    } else {
        snprintf(what, sizeof what, "pages: it has finished the %" PRIu64 " that were published",
                 r->published);
        w.by = party(v, CQ_PREFETCH);
        w.state = polls ? "polling for pages" : "idle";
        w.release = "the prefetcher publishes a record";
    }
    w.what = what;
    wait_tell(v->t, &w);
    return w.by.agent != NOCAP_BY_NONE;
}

static void tell_ended(const struct queue_view *v)
{
    struct nocap_wait w = begin(v, CQ_DISPATCH, at_index(v->q->ring.executed_index));
    w.what = "executed TERMINATE and takes no command any more";
    w.state = "ended";
    wait_tell(v->t, &w);
}

/* True: it waits for the prefetcher. */
static bool tell_dispatcher(const struct queue_view *v)
{
    if (!v->observed[CQ_DISPATCH]) {
        return true; /* perhaps */
    }
    if (v->demand && v->q->ring.ended) {
        tell_ended(v);
        return false;
    }
    return v->demand && !tell_workers(v) && !tell_space(v) &&
           !tell_barrier(v) && !tell_debt(v) && tell_pages(v);
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
        v->tiles[core] = tile_find(v->t->m, 0, q->at[core]);
        v->observed[core] = (q->sees[core] && (q->sees_noc || q->sees_stores)) || p->events_seen;
    }
    v->done = events_done(c);
    const uint32_t ends = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_NOC;
    bool shown = c->ids_whole && (v->t->m->header->observes & ends) != 0;
    v->owed = shown && c->id_count > v->done ? c->id_count - v->done : 0;
    v->unfetched = p->synced && q->published > p->next ? q->published - p->next : 0;
    uint64_t ready = p->landed_seen || p->dones_seen ? p->landed : p->next;
    v->unrelayed =
        p->synced && p->relay != NO_INDEX && ready > p->relay ? ready - p->relay : 0;
    bool at_work = q->ring.executing && q->ring.ends_told && !q->ring.finished;
    v->demand = at_work || v->owed > 0 || v->unfetched > 0 || v->unrelayed > 0 || p->open;
    v->demand = v->demand || host_slot_look(v) != NULL || host_completion_look(v) != NULL;
}

void waits_cq(const struct telling *t)
{
    struct queue_view v = {.t = t, .q = t->m->cq};
    if (!v.q->any) {
        return;
    }
    look_over(&v);
    tell_host(&v);
    tell_prefetcher(&v, tell_dispatcher(&v));
}

bool waits_cq_owns(const struct telling *t)
{
    const struct cq *q = t->m->cq;
    if (q == NULL || !q->any || t->tile->chip != 0) {
        return false;
    }
    return cq_same_xy(t->tile->at, q->at[CQ_PREFETCH]) ||
           cq_same_xy(t->tile->at, q->at[CQ_DISPATCH]);
}
