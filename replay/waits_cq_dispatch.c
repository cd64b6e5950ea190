/* What the dispatcher waits for: pages, announcements of workers, room for completions, barriers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "replay/waits_cq.h"

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
    const struct look *l = wait_cq_looks(v, CQ_DISPATCH);
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
    struct nocap_wait w = wait_cq_begin(v, CQ_DISPATCH, looks ? l->since : b->at);
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
    const struct look *l = wait_cq_looks(v, CQ_DISPATCH);
    if (l == NULL || l->addr != NOCAP_CQ_COMPLETION_RD || !v->q->ring.executing) {
        return false;
    }
    struct nocap_wait w = wait_cq_begin(v, CQ_DISPATCH, l->since);
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
    const struct look *l = wait_cq_looks(v, CQ_DISPATCH);
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
    struct nocap_wait w = wait_cq_begin(v, CQ_DISPATCH, l->since);
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
    if (!wait_cq_short_of_credits(v, &have, &need) || due <= wait_cq_given_back(v)) {
        return false;
    }
    snprintf(what, sizeof what,
             "finished %" PRIu64 " blocks of the dispatch buffer and gave back %" PRIu64
             " pages: it owes %" PRIu64,
             blocks, wait_cq_given_back(v), due - wait_cq_given_back(v));
    uint64_t last = r->release_count > 0
                        ? r->releases[(r->release_count - 1) % CQ_RELEASES].at.index
                        : r->executed_index;
    struct nocap_wait w = wait_cq_begin(v, CQ_DISPATCH, wait_at_index(last));
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
    const struct look *l = wait_cq_looks(v, CQ_DISPATCH);
    uint64_t end = r->consumed + (r->executed_index == NO_INDEX ? 0 : r->current_pages);
    bool polls = l != NULL && l->addr == v->q->sem[CQ_DISPATCH];
    char what[WAIT_TEXT];
    struct nocap_wait w =
        wait_cq_begin(v, CQ_DISPATCH, polls ? l->since : wait_at_index(r->executed_index));
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
        w.by = wait_cq_party(v, CQ_PREFETCH);
        w.state = polls ? "polling for pages" : "idle";
        w.release = "the prefetcher publishes a record";
    }
    w.what = what;
    wait_tell(v->t, &w);
    return w.by.agent != NOCAP_BY_NONE;
}

static void tell_ended(const struct queue_view *v)
{
    struct nocap_wait w = wait_cq_begin(v, CQ_DISPATCH, wait_at_index(v->q->ring.executed_index));
    w.what = "executed TERMINATE and takes no command any more";
    w.state = "ended";
    wait_tell(v->t, &w);
}

bool wait_cq_dispatcher(const struct queue_view *v)
{
    if (!v->observed[CQ_DISPATCH]) {
        return true; /* perhaps */
    }
    if (v->demand && v->q->ring.ended) {
        tell_ended(v);
        return false;
    }
    return v->demand && !tell_workers(v) && !tell_space(v) && !tell_barrier(v) && !tell_debt(v) &&
           tell_pages(v);
}
