/* What the prefetcher waits for: entries, reads of host memory, free pages. */
#include <inttypes.h>
#include <stdio.h>

#include "replay/waits_cq.h"

uint64_t wait_cq_given_back(const struct queue_view *v)
{
    const struct look *l = wait_cq_looks(v, CQ_PREFETCH);
    bool counts = l != NULL && l->addr == v->q->sem[CQ_PREFETCH] && v->q->ring.origin &&
                  l->value >= NOCAP_CQ_BUFFER_PAGES && l->value <= UINT32_MAX;
    return counts ? l->value - NOCAP_CQ_BUFFER_PAGES : v->q->ring.released;
}

bool wait_cq_short_of_credits(const struct queue_view *v, uint64_t *have, uint64_t *need)
{
    const struct cq_ring *r = &v->q->ring;
    const struct cq_prefetcher *p = &v->q->prefetcher;
    const struct cq_record *record = p->relay != NO_INDEX ? cq_record(v->q, p->relay) : NULL;
    if (!r->origin || p->open || v->unrelayed == 0 || record == NULL || !record->good) {
        return false;
    }
    uint64_t used = r->acquired - wait_cq_given_back(v);
    *have = used < NOCAP_CQ_BUFFER_PAGES ? NOCAP_CQ_BUFFER_PAGES - used : 0;
    *need = record->pages;
    return *have < *need;
}

static bool tell_credits(const struct queue_view *v)
{
    uint64_t have, need;
    char what[WAIT_TEXT];
    if (!wait_cq_short_of_credits(v, &have, &need)) {
        return false;
    }
    snprintf(what, sizeof what,
             "%" PRIu64 " free page%s of the dispatch buffer for record %" PRIu64 ", has %" PRIu64,
             need, need > 1 ? "s" : "", v->q->prefetcher.relay, have);
    struct nocap_wait w =
        wait_cq_begin(v, CQ_PREFETCH, wait_at_index(v->q->prefetcher.fetch.index));
    w.by = wait_cq_party(v, CQ_DISPATCH);
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
    snprintf(what, sizeof what,
             "its read of host memory at +0x%" PRIx32 ", %" PRIu32 " bytes, which has not landed",
             f->addr, f->got);
    struct nocap_wait w = wait_cq_begin(v, CQ_PREFETCH, wait_at_index(f->index));
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
                 "%" PRIu32
                 " of its writes to the dispatch buffer to leave, of the record begun at "
                 "index %" PRIu64,
                 p->unsent_count, p->index);
    } else {
        snprintf(what, sizeof what,
                 "wrote %" PRIu32 " bytes at 0x%" PRIx32
                 " of the dispatch buffer and never published their pages",
                 p->bytes, p->begin);
    }
    struct nocap_wait w = wait_cq_begin(v, CQ_PREFETCH, wait_at_index(p->index));
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
    const struct look *l = wait_cq_looks(v, CQ_DISPATCH);
    const struct cq_ring *r = &v->q->ring;
    char what[WAIT_TEXT];
    if (l == NULL || l->addr != v->q->sem[CQ_DISPATCH] || !r->origin || l->value >= r->published) {
        return false;
    }
    snprintf(what, sizeof what,
             "relayed %" PRIu64 " pages, and the dispatcher's semaphore shows %" PRIu64
             ": a record was never published",
             r->published, l->value);
    struct nocap_wait w = wait_cq_begin(v, CQ_PREFETCH, wait_at_index(v->q->prefetcher.index));
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
    const struct look *l = wait_cq_looks(v, CQ_PREFETCH);
    char what[WAIT_TEXT], where[64] = "";
    struct moment since = r != NULL ? r->at : wait_at_index(NO_INDEX);
    struct nocap_wait w = wait_cq_begin(v, CQ_PREFETCH, since);
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

void wait_cq_prefetcher(const struct queue_view *v, bool pages_wanted)
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
            wait_cq_begin(v, CQ_PREFETCH, wait_at_index(v->q->prefetcher.fetch.index));
        w.what = what;
        w.state = "holding a record";
        wait_tell(v->t, &w);
    } else if (v->unfetched > 0) {
        tell_untaken(v);
    } else if (!tell_lost_pages(v) && pages_wanted) {
        struct nocap_wait w = wait_cq_begin(v, CQ_PREFETCH, wait_at_index(NO_INDEX));
        w.by = (struct nocap_party){.agent = NOCAP_BY_HOST, .job = -1};
        w.what = "a record: it has relayed all that the host published";
        w.state = "idle";
        w.release = "the host fills a slot";
        wait_tell(v->t, &w);
    }
}
