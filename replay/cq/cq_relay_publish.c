/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher makes the pages ready of what it has relayed. Rule CQ-037. */
#include "replay/cq/cq_private.h"

/* The first pages of a record become the dispatcher's, `count` of its `pages`. */
static void hand_over(struct cq *q, const struct cq_record *r, uint32_t pages, uint32_t count)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    uint32_t page = place_index(&q->places.buffer, p->begin);
    ring->published += count;
    p->handed += count;
    if (p->handed != count) {
        return; /* it has had the first of them */
    }
    ring->page[page] = (struct cq_page){.pages = pages,
                                        .first = ring->published - count,
                                        .record = p->relay[CQ_TO_DISPATCHER],
                                        .brief = p->brief};
    for (uint32_t i = 1; i < pages && i < q->numbers->buffer_pages; i++) {
        ring->page[place_after(&q->places.buffer, page, i)].pages = 0;
    }
    cq_report_step(q, NOCAP_RECORD_HANDED, r);
}

/* Where a command has not the bytes that it should, it may be another one. */
static void judge_turn(struct cq_prefetcher *p, const struct cq_record *r)
{
    enum { SURE = 3 };
    bool right = p->bytes == r->length;
    cq_blame(&p->turn_since, right ? FAULT_NONE : p->since);
    p->turn_right = right ? p->turn_right + 1 : 0;
    p->turn_since = p->turn_right < SURE ? p->turn_since : FAULT_NONE;
}

/* All of them are. */
static void end_relay(struct cq *q, struct cq_record *r, uint32_t pages)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    if (r != NULL) {
        cq_blame(&r->relayed_since, p->since);
    }
    if (r != NULL && r->good && !r->gathered) {
        judge_turn(p, r);
    }
    cq_blame(&ring->cursor.since, p->since);
    ring->cursor.v = place_wrap(&q->places.buffer, p->begin + (uint64_t)pages * q->numbers->page);
    if (!p->sents_seen) {
        p->early = p->unsent;
    }
    p->unsent.count = 0;
    cq_next_record(q, CQ_TO_DISPATCHER, r);
}

static void judge_publish(struct cq *q, const struct cq_record *r, uint32_t value, uint32_t due)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool short_of = r != NULL && r->good && p->bytes < r->length;
    bool flushed = p->unsent.count == 0 || !p->sents_seen;
    bool right = value == due && flushed;
    CQ_FETCHER_AFTER(
        q, CQ_037, value == due ? p->since : p->turn_since, right && !short_of, RELATED(p->index),
        "the pages of a prefetch command made ready when all its bytes have left",
        !flushed   ? "%u pages made ready while a write is not sent (%u bytes of %u pages relayed)"
        : short_of ? "%u pages made ready after only a part was relayed, %u bytes of %u pages"
                   : "%u pages made ready for %u bytes relayed, which fill %u",
        value, p->bytes, due);
    cq_ring_doubt(q, fault_of(q->m, value == due));
    cq_blame(&p->since, fault_of(q->m, !short_of));
}

/* Where pages are published and no record is known to have been relayed. */
static void publish_nothing(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    if (p->forgot != FAULT_NONE) { /* those of the record that was not published in time */
        CQ_FETCHER_AFTER(q, CQ_037, p->forgot, false, NO_REFS,
                         "pages made ready once per prefetch command",
                         "%u pages made ready after the next prefetch command was relayed", value);
        if (p->forgot_begin == ring->cursor.v && value <= q->numbers->buffer_pages) {
            ring->cursor.v = place_wrap(&q->places.buffer, /* it had been relayed ahead */
                                        ring->cursor.v + (uint64_t)value * q->numbers->page);
        }
        p->forgot = FAULT_NONE;
        return;
    }
    if (ring->cursor.known) {
        CQ_FETCHER_ON(q, CQ_037, &ring->cursor.since, false, NO_REFS,
                      "pages made ready once per prefetch command",
                      "%u pages made ready, but no prefetch command was relayed", value);
        cq_subordinate_doubt(q, q->m->fault); /* perhaps of what is relayed to that one */
        cq_ring_doubt(q, q->m->fault);
        ring->published += value <= q->numbers->buffer_pages ? value : 0;
        resync(&p->unrelayed, value <= q->numbers->buffer_pages ? value : 0, q->m->fault);
        p->unrelayed_of = cq_relay_next(q, CQ_TO_DISPATCHER);
    }
    ring->counter += value;
}

/* Pages that were not made ready in time, while the bytes of the next record are relayed, or after
 * them where they are not as many. */
static bool is_forgotten(const struct cq *q, const struct cq_record *r, uint32_t value)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    return p->forgot != FAULT_NONE && value != UINT32_MAX && r != NULL && r->good && !r->gathered &&
           (p->bytes < r->length || (value == p->forgot_pages && value != p->pages));
}

/* So where it is not known where in the dispatch buffer: it may be the rest of a record, or not all
 * of it. */
static void publish_somewhere(struct cq *q, struct cq_record *r, uint32_t value, bool gathers)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    bool known = r != NULL && r->good;
    end_relay(q, r, 0);
    if (gathers && (!known || p->bytes < r->length)) { /* the same record goes on */
        cq_relay_from(q, NO_INDEX);
    }
    if (!gathers || value == cq_pages_of(q, p->bytes)) {
        resync(&q->ring.cursor,
               place_wrap(&q->places.buffer, nocap_cq_align(p->at, q->numbers->page)), p->since);
    }
}

/* The prefetcher counts up the semaphore of the dispatcher; UINT32_MAX: it forgot to. */
void cq_relay_publish(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    struct cq_record *r = cq_relayed(q, CQ_TO_DISPATCHER);
    q->any = true;
    MARK_EXERCISED(q->m, CQ_041);
    if (q->loose) {
        return;
    }
    if (!p->open || is_forgotten(q, r, value)) {
        publish_nothing(q, value);
        return;
    }
    uint32_t pages = p->pages != 0 ? p->pages : cq_pages_of(q, p->bytes);
    uint32_t due = pages > p->handed ? pages - p->handed : 0;
    bool known = r != NULL && r->good; /* which command it is */
    bool gathers = known ? r->gathered : q->numbers->inline_only == 0;
    bool more = gathers && value < due; /* the rest is published later */
    p->open = more && ring->cursor.known;
    p->rest = gathers && !known && !ring->origin;
    if (!ring->cursor.known) {
        publish_somewhere(q, r, value, gathers);
        return;
    }
    if (value != UINT32_MAX && !more) {
        judge_publish(q, r, value, due);
    }
    if (known && !more && p->bytes < r->length) {
        p->tail = r->length - p->bytes;
        p->tail_begin = p->begin;
        p->tail_pages = pages;
    }
    uint32_t count = more ? value : due;
    ring->counter += value != UINT32_MAX ? value : due;
    cq_take_pages(q, p->handed + count);
    if (pages != 0 && (gathers || pages <= q->numbers->buffer_pages)) {
        hand_over(q, r, pages, count);
        if (!more) {
            end_relay(q, r, pages);
        }
    }
}
