/* The prefetcher relays records into the dispatch buffer and publishes their pages. Rules CQ-034 to
 * CQ-037. */
#include "replay/cq.h"

/* The record that is relayed next. */
static const struct cq_record *relayed(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    return p->relay != NO_INDEX ? cq_record(q, p->relay) : NULL;
}

/* On a trace that was attached mid-run: known by where the relayed bytes lay. */
static void sync_relay(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (p->relay != NO_INDEX || e->kind != NOCAP_EV_NOC || (e->has & NOCAP_F_SADDR) == 0 ||
        !p->synced) {
        return;
    }
    for (uint64_t n = p->next; n > 0 && p->next - n < 4; n--) {
        const struct cq_record *r = cq_record(q, n - 1);
        if (r != NULL && r->l1_known && e->saddr == r->l1 + NOCAP_CQ_HEADER) {
            p->relay = n - 1;
            return;
        }
    }
}

static void judge_landed(struct cq *q, const struct cq_record *r)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (r == NULL || r->told_read || !(p->landed_seen || p->dones_seen)) {
        return;
    }
    bool landed = p->relay < p->landed;
    if (!landed && p->astray && p->landed > 0) {
        p->relay = p->landed - 1;
        landed = true;
    }
    p->astray = p->told = !landed;
    CQ_FETCHER(q, CQ_034, landed, RELATED(r->at.index),
               "a record relayed after its read has landed", "%s", "it has not");
    if (p->relay >= p->next && p->slot.known && !p->slot.has_other) {
        p->slot.has_other = true; /* perhaps its read was left out */
        p->slot.other = (p->slot.value + 1) % NOCAP_CQ_QUEUE_SLOTS;
    } else if (!landed && p->relay < p->next) {
        cq_prefetch_land(q, p->relay);
    }
}

static void judge_credits(struct cq *q)
{
    struct cq_ring *ring = &q->ring;
    uint64_t limit = ring->released + NOCAP_CQ_BUFFER_PAGES;
    if (ring->origin && (q->sees[CQ_DISPATCH] || q->sees_loads)) {
        CQ_FETCHER(q, CQ_035, ring->acquired <= limit, NOTHING,
                   "at most 128 pages of the dispatch buffer in use",
                   "%llu pages taken, %llu given back", (unsigned long long)ring->acquired,
                   (unsigned long long)ring->released);
        ring->fault |= ring->acquired > limit;
    }
}

static uint32_t wrap(uint64_t addr)
{
    return (uint32_t)(addr >= NOCAP_CQ_BUFFER_END
                          ? NOCAP_CQ_BUFFER + (addr - NOCAP_CQ_BUFFER) % NOCAP_CQ_BUFFER_SIZE
                          : addr);
}

static void hand_over(struct cq *q, uint32_t pages);

/* After a fault the record lies where the producer went on, or where it should have. */
static void find_cursor(struct cq *q, uint32_t addr)
{
    struct cq_ring *ring = &q->ring;
    if (addr != ring->cursor && addr == ring->other_cursor) {
        if (ring->unrelayed != 0) {
            q->prefetcher.begin = ring->cursor;
            q->prefetcher.pages = 0;
            hand_over(q, ring->unrelayed);
            ring->unexplained = 0;
        }
        ring->cursor = addr;
    }
    ring->other_cursor = UINT32_MAX;
}

/* A read that was left out is not relayed either. */
static void find_record(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = relayed(q);
    bool elsewhere = r != NULL && e->kind == NOCAP_EV_NOC && (e->has & NOCAP_F_SADDR) != 0 &&
                     (!r->l1_known || e->saddr != r->l1 + NOCAP_CQ_HEADER);
    for (uint64_t n = p->relay + 1; elsewhere && n < p->next && n - p->relay <= CQ_LEAP; n++) {
        r = cq_record(q, n);
        if (r != NULL && r->l1_known && e->saddr == r->l1 + NOCAP_CQ_HEADER) {
            p->relay = n;
            return;
        }
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
    p->unsent_count = 0;
    p->told = false;
    p->index = q->m->event->index;
    p->brief = (struct cq_brief){.known = false};
    if (!ring->cursor_known) {
        return; /* perhaps the rest of a record */
    }
    bool place = addr == ring->cursor;
    CQ_FETCHER(q, CQ_036, place, NOTHING, "a record on the next page of the dispatch buffer",
               "0x%x, 0x%x is next", addr, ring->cursor);
    ring->fault |= !place;
    p->begin = ring->cursor;
    judge_landed(q, r);
    p->told |= !place;
    r = relayed(q);
    p->pages = r != NULL && r->good ? r->pages : 0;
    if (!place && addr % NOCAP_CQ_PAGE == 0) {
        ring->other_cursor = wrap(addr + (uint64_t)p->pages * NOCAP_CQ_PAGE);
        ring->unrelayed = 0;
    }
    struct nocap_cq_command c;
    if (r != NULL && r->good) {
        p->brief = r->brief;
    }
    if (!p->brief.known && known > 0 && nocap_cq_decode(NOCAP_CQ_DISPATCH, bytes, known, &c)) {
        cq_brief(&c, bytes, known, &p->brief);
        p->brief.at = cq_moment(q, NOCAP_BY_PREFETCH);
    }
    if (p->pages != 0) {
        ring->acquired += p->pages;
        judge_credits(q);
    }
}

static void take_unsent(struct cq_prefetcher *p, uint64_t id)
{
    for (uint32_t i = 0; i < p->unsent_count; i++) {
        if (p->unsent[i] == id) {
            return; /* the same once more */
        }
    }
    if (p->unsent_count < CQ_PACKETS) {
        p->unsent[p->unsent_count++] = id;
    }
}

void cq_relay_piece(struct cq *q, uint64_t addr, uint64_t size, const uint8_t *bytes,
                    uint64_t known, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    sync_relay(q, e);
    const struct cq_record *r = relayed(q);
    q->any = true;
    if (size > NOCAP_CQ_BUFFER_SIZE || addr < NOCAP_CQ_BUFFER || addr >= NOCAP_CQ_BUFFER_END) {
        CQ_FETCHER(q, CQ_036, false, NOTHING, "records in the dispatch buffer",
                   "%llu bytes at 0x%llx", (unsigned long long)size, (unsigned long long)addr);
        return;
    }
    uint32_t offset = (uint32_t)(addr + NOCAP_CQ_BUFFER_SIZE - p->begin) % NOCAP_CQ_BUFFER_SIZE;
    bool own = offset < p->pages * NOCAP_CQ_PAGE;
    if (!p->open && p->told && own) {
        return; /* a piece of the last record, which was published without it */
    }
    bool whole = p->open && r != NULL && r->good && p->bytes >= r->length;
    if (p->open && !q->ring.cursor_known && addr != p->at) {
        p->open = false;
    }
    bool stray = p->open && addr != p->at && q->ring.cursor_known && (offset == 0 || own);
    if (p->open && addr != p->at && !stray && (whole || addr % NOCAP_CQ_PAGE == 0)) {
        if (q->ring.unexplained == 0) { /* else they were, as the dispatcher's count said */
            CQ_FETCHER(q, CQ_037, false, RELATED(p->index),
                       "the pages of a record published before the next is relayed", "%s",
                       "they are not");
        }
        q->ring.fault = true;
        cq_relay_publish(q, UINT32_MAX);
        r = relayed(q);
    }
    if (!p->open) {
        find_cursor(q, (uint32_t)addr);
        find_record(q, e);
        open_relay(q, (uint32_t)addr, bytes, known);
        r = relayed(q);
    } else {
        bool next = addr == p->at;
        CQ_FETCHER(q, CQ_036, next || p->told, RELATED(p->index),
                   "the bytes of a record one behind the other", "0x%llx, 0x%x is next",
                   (unsigned long long)addr, p->at);
        p->told |= !next;
        q->ring.fault |= !next;
        p->bytes = stray ? offset : p->bytes;
    }
    p->bytes += (uint32_t)size;
    if (r != NULL && r->good) {
        bool fits = p->bytes <= r->length;
        CQ_FETCHER(q, CQ_036, fits || p->told, RELATED(r->at.index),
                   "as many bytes relayed as the record says", "%u of %u", p->bytes, r->length);
        p->told |= !fits;
    }
    p->at = wrap(addr + size);
    if (e->kind == NOCAP_EV_NOC && (e->has & NOCAP_F_ID) != 0) {
        take_unsent(p, e->id);
    }
}

void cq_relay_sent(struct cq *q, uint64_t id)
{
    struct cq_prefetcher *p = &q->prefetcher;
    for (uint32_t i = 0; i < p->unsent_count; i++) {
        if (p->unsent[i] == id) {
            p->unsent[i] = p->unsent[--p->unsent_count];
            p->sents_seen = true;
            return;
        }
    }
}

/* Pages of the finished record become the dispatcher's. */
static void hand_over(struct cq *q, uint32_t pages)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    uint32_t page = (p->begin - NOCAP_CQ_BUFFER) / NOCAP_CQ_PAGE % NOCAP_CQ_BUFFER_PAGES;
    if (p->pages == 0) { /* the record was not seen */
        ring->acquired += pages;
        judge_credits(q);
    }
    ring->page[page] = (struct cq_page){.pages = pages, .brief = p->brief};
    for (uint32_t i = 1; i < pages && i < NOCAP_CQ_BUFFER_PAGES; i++) {
        ring->page[(page + i) % NOCAP_CQ_BUFFER_PAGES].pages = 0;
    }
    ring->published += pages;
    ring->cursor = wrap((uint64_t)p->begin + (uint64_t)pages * NOCAP_CQ_PAGE);
    p->unsent_count = 0;
    p->relay += p->relay != NO_INDEX;
}

/* The prefetcher counts up the semaphore of the dispatcher; UINT32_MAX: it forgot to. */
void cq_relay_publish(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = relayed(q);
    q->any = true;
    HOLDS(q->m, CQ_041);
    if (!p->open) {
        if (q->ring.cursor_known) {
            CQ_FETCHER(q, CQ_037, false, NOTHING, "pages published once a record",
                       "%u pages, and no record was relayed", value);
            q->ring.fault = true;
            q->ring.unrelayed = value <= NOCAP_CQ_BUFFER_PAGES ? value : 0;
            q->ring.unexplained = q->ring.unrelayed;
            q->ring.other_cursor =
                wrap(q->ring.cursor + (uint64_t)q->ring.unrelayed * NOCAP_CQ_PAGE);
        }
        q->ring.counter += value;
        return;
    }
    if (!q->ring.cursor_known) {
        p->open = false;
        q->ring.cursor_known = true;
        q->ring.cursor = wrap(nocap_cq_align(p->at, NOCAP_CQ_PAGE));
        p->relay += p->relay != NO_INDEX;
        return;
    }
    bool short_of = r != NULL && r->good && p->bytes < r->length;
    uint32_t pages = p->pages != 0 ? p->pages : cq_pages_of(p->bytes);
    bool flushed = p->unsent_count == 0 || !p->sents_seen;
    if (value != UINT32_MAX) {
        CQ_FETCHER(q, CQ_037, value == pages && flushed && (!short_of || p->told),
                   RELATED(p->index),
                   "the pages of a record published when all its bytes have left",
                   !flushed   ? "%u pages while a write is not sent; %u bytes of %u pages"
                   : short_of ? "%u pages after a part of it only: %u bytes of %u pages"
                              : "%u pages published, %u bytes of %u pages relayed",
                   value, p->bytes, pages);
        p->told |= short_of;
        q->ring.fault |= value != pages;
        q->ring.counter += value > pages ? value : pages;
    } else {
        q->ring.counter += pages;
    }
    p->open = false;
    q->ring.unexplained = 0;
    if (pages != 0 && pages <= NOCAP_CQ_BUFFER_PAGES) {
        hand_over(q, pages);
    }
}
