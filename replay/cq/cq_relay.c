/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher relays records into the dispatch buffer and publishes their pages. Rules CQ-034 to
 * CQ-037. */
#include "replay/cq/cq_private.h"

/* The record that is relayed next. */
static const struct cq_record *relayed(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    return p->relay != NO_INDEX ? cq_record(q, p->relay) : NULL;
}

static bool lies_at(const struct cq_record *r, uint64_t addr)
{
    return r != NULL && r->l1_known && addr == r->l1 + NOCAP_CQ_HEADER;
}

/* Known by where the relayed bytes lay, on a trace that was attached mid-run, and where a read was
 * left out, which is not relayed either. */
static void find_record(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint64_t first = p->relay != NO_INDEX ? p->relay : 0;
    if (e->kind != NOCAP_EV_NOC || (e->has & NOCAP_F_SADDR) == 0 || !p->synced ||
        lies_at(relayed(q), e->saddr)) {
        return;
    }
    for (uint64_t n = p->next; n > first && p->next - n < CQ_LEAP; n--) {
        if (lies_at(cq_record(q, n - 1), e->saddr)) {
            p->relay = n - 1;
            return;
        }
    }
}

static void judge_landed(struct cq *q, const struct cq_record *r)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (r == NULL || !(p->landed_seen || p->dones_seen)) {
        return;
    }
    CQ_FETCHER_AFTER(q, CQ_034, r->read_since, p->relay < p->landed, RELATED(r->at.index),
                     "a record relayed after its read has landed", "%s", "it has not");
}

static void judge_credits(struct cq *q)
{
    struct cq_ring *ring = &q->ring;
    uint64_t limit = ring->released + q->numbers->buffer_pages;
    if (ring->origin && (q->sees[CQ_DISPATCH] || q->sees_loads)) {
        CQ_FETCHER(q, CQ_035, ring->acquired <= limit, NOTHING,
                   "no more pages in use than the dispatch buffer has",
                   "%llu pages acquired, %llu released", wide(ring->acquired),
                   wide(ring->released));
    }
}

/* The first bytes of a record reach the buffer. */
static void open_relay(struct cq *q, uint32_t addr, const uint8_t *bytes, uint64_t known)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    const struct cq_record *r = relayed(q);
    p->open = true;
    p->begin = p->at = addr;
    p->bytes = p->pages = 0;
    p->unsent.count = 0;
    p->since = FAULT_NONE;
    p->index = q->m->event->index;
    p->brief = (struct cq_brief){.known = false};
    cq_tell(q, NOCAP_RECORD_RELAYED, r);
    if (!ring->cursor.known) {
        return; /* perhaps the rest of a record */
    }
    bool place = addr == ring->cursor.v;
    CQ_FETCHER_AFTER(q, CQ_036, ring->cursor.since, place, NOTHING,
                     "a record on the next page of the dispatch buffer", "0x%x, 0x%x is next", addr,
                     ring->cursor.v);
    cq_resync(q, &ring->cursor.since, place);
    p->since = ring->cursor.since;
    p->begin = addr - addr % q->numbers->page;
    judge_landed(q, r);
    p->pages = r != NULL && r->good ? r->pages : 0;
    if (r != NULL && r->good) {
        p->brief = r->brief;
    }
    cq_ring_brief(q, &p->brief, bytes, known, NOCAP_BY_PREFETCH);
    if (p->pages != 0) {
        ring->acquired += p->pages;
        judge_credits(q);
    }
}

void cq_relay_piece(struct cq *q, uint64_t addr, uint64_t size, const uint8_t *bytes,
                    uint64_t known, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = relayed(q);
    q->any = true;
    if (size > place_size(&q->places.buffer) || !place_has(&q->places.buffer, addr)) {
        CQ_FETCHER(q, CQ_036, false, NOTHING, "records in the dispatch buffer",
                   "%llu bytes at 0x%llx", wide(size), wide(addr));
        return;
    }
    uint32_t offset =
        (uint32_t)(addr + place_size(&q->places.buffer) - p->begin) % place_size(&q->places.buffer);
    bool own = offset < p->pages * q->numbers->page;
    bool whole = p->open && r != NULL && r->good && p->bytes >= r->length;
    bool inside = p->open && q->ring.cursor.known && (offset == 0 || own);
    if (p->open && addr != p->at && !inside && (whole || addr % q->numbers->page == 0)) {
        CQ_FETCHER(q, CQ_037, false, RELATED(p->index),
                   "the pages of a record published before the next is relayed", "%s",
                   "they are not");
        cq_relay_publish(q, UINT32_MAX);
        r = relayed(q);
    }
    if (!p->open) {
        find_record(q, e);
        open_relay(q, (uint32_t)addr, bytes, known);
        r = relayed(q);
    } else {
        CQ_FETCHER_ON(q, CQ_036, &p->since, addr == p->at, RELATED(p->index),
                      "record bytes contiguous", "0x%llx, 0x%x is next", wide(addr), p->at);
    }
    p->bytes += (uint32_t)size;
    if (r != NULL && r->good) {
        CQ_FETCHER_ON(q, CQ_036, &p->since, p->bytes <= r->length, RELATED(r->at.index),
                      "as many bytes relayed as the record says", "%u of %u", p->bytes, r->length);
    }
    p->at = place_wrap(&q->places.buffer, addr + size);
    if (e->kind == NOCAP_EV_NOC) {
        cq_packet_issued(&p->unsent, e);
    }
}

void cq_relay_sent(struct cq *q, uint64_t id)
{
    struct cq_prefetcher *p = &q->prefetcher;
    p->sents_seen |= cq_packet_over(&p->unsent, id);
}

/* Pages of the finished record become the dispatcher's. */
static void hand_over(struct cq *q, uint32_t pages)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    uint32_t page = place_index(&q->places.buffer, p->begin);
    if (p->pages == 0) { /* the record was not seen */
        ring->acquired += pages;
        judge_credits(q);
    }
    ring->page[page] = (struct cq_page){.pages = pages, .brief = p->brief};
    for (uint32_t i = 1; i < pages && i < q->numbers->buffer_pages; i++) {
        ring->page[place_behind(&q->places.buffer, page, i)].pages = 0;
    }
    ring->published += pages;
    ring->cursor.v = place_wrap(&q->places.buffer, p->begin + (uint64_t)pages * q->numbers->page);
    p->unsent.count = 0;
    p->relay += p->relay != NO_INDEX;
}

/* The prefetcher counts up the semaphore of the dispatcher; UINT32_MAX: it forgot to. */
void cq_relay_publish(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = relayed(q);
    q->any = true;
    HOLDS(q->m, CQ_041);
    struct cq_ring *ring = &q->ring;
    if (!p->open) {
        if (ring->cursor.known) {
            CQ_FETCHER_ON(q, CQ_037, &ring->cursor.since, false, NOTHING,
                          "pages published once a record", "%u pages, and no record was relayed",
                          value);
            ring->published += value <= q->numbers->buffer_pages ? value : 0;
        }
        ring->counter += value;
        return;
    }
    if (!ring->cursor.known) {
        p->open = false;
        value_set(&ring->cursor,
                  place_wrap(&q->places.buffer, nocap_cq_align(p->at, q->numbers->page)));
        p->relay += p->relay != NO_INDEX;
        return;
    }
    bool short_of = r != NULL && r->good && p->bytes < r->length;
    uint32_t pages = p->pages != 0 ? p->pages : cq_pages_of(q, p->bytes);
    bool flushed = p->unsent.count == 0 || !p->sents_seen;
    if (value != UINT32_MAX) {
        bool right = value == pages && flushed;
        CQ_FETCHER_AFTER(q, CQ_037, right ? p->since : FAULT_NONE, right && !short_of,
                         RELATED(p->index),
                         "the pages of a record published when all its bytes have left",
                         !flushed   ? "%u pages while a write is not sent; %u bytes of %u pages"
                         : short_of ? "%u pages after a part of it only: %u bytes of %u pages"
                                    : "%u pages published, %u bytes of %u pages relayed",
                         value, p->bytes, pages);
        cq_blame(&ring->since, fault_of(q->m, value == pages));
    }
    ring->counter += value != UINT32_MAX ? value : pages;
    p->open = false;
    cq_tell(q, NOCAP_RECORD_HANDED, r);
    if (pages != 0 && pages <= q->numbers->buffer_pages) {
        hand_over(q, pages);
    }
}
