/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher relays records into the dispatch buffer. Rules CQ-034 to CQ-037, CQ-071. */
#include "replay/cq/cq_private.h"

/* `turn`: what its turn is known since. */
static void judge_landed(struct cq *q, enum cq_relay_to to, fault_id turn)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_record *r = cq_relayed(q, to);
    const uint64_t number = p->relay[to];
    if (r == NULL || !(p->landed_seen || p->dones_seen)) {
        return;
    }
    cq_prefetch_used(q, number);
    bool landed = r->landed || number < p->landed;
    fault_id since = cq_read_since(q, number);
    cq_blame(&since, turn);
    cq_blame(&since, r->fetched ? FAULT_NONE : p->slot.since); /* by another one's slot, perhaps */
    CQ_FETCHER_AFTER(q, CQ_034, since, landed, RELATED(r->at.index),
                     "a prefetch command relayed after its read has landed", "%s",
                     "prefetch command relayed before its read has landed");
    cq_blame(&r->read_since, fault_of(q->m, landed));
    if (!landed) {
        cq_prefetch_arrived(q, number, r->read_since);
    }
    if (!r->fetched) { /* nor was its slot taken */
        cq_blame(&p->slot.since, r->read_since);
    }
}

void cq_take_pages(struct cq *q, uint32_t pages)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    if (pages <= p->taken) {
        return;
    }
    ring->acquired += pages - p->taken;
    p->taken = pages;
    uint64_t limit = ring->released + q->numbers->buffer_pages;
    if (ring->origin && (q->sees[CQ_DISPATCH] || q->sees_loads)) {
        CQ_FETCHER_ON(q, CQ_035, &ring->counted_since, ring->acquired <= limit, NO_REFS,
                      "no more pages in use than the dispatch buffer has",
                      "%llu pages acquired, %llu released, the dispatch buffer has %u",
                      wide(ring->acquired), wide(ring->released), q->numbers->buffer_pages);
    }
}

/* Pages were published and no record relayed: where the next one lies after them, that record was
 * not seen; else it is the one, and what is wrong with it is returned. */
static fault_id take_unrelayed(struct cq *q, uint32_t addr)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    uint32_t pages = p->unrelayed.known ? p->unrelayed.v : 0;
    uint32_t after =
        place_wrap(&q->places.buffer, ring->cursor.v + (uint64_t)pages * q->numbers->page);
    p->unrelayed.known = false;
    if (pages != 0 && addr == after) {
        p->skipped = ring->cursor;
        ring->acquired += pages;
        ring->cursor.v = after;
        if (cq_relay_next(q, CQ_TO_DISPATCHER) == p->unrelayed_of) {
            cq_next_record(q, CQ_TO_DISPATCHER, NULL);
        }
    }
    return pages != 0 && addr != after ? ring->cursor.since : FAULT_NONE;
}

/* How far into the buffer from there on. */
static uint32_t offset_from(const struct cq *q, uint32_t begin, uint64_t addr)
{
    const uint32_t size = place_size(&q->places.buffer);
    return (uint32_t)(addr + size - begin) % size;
}

/* The first bytes of a record reach the buffer. `forgot`: since what it is its turn. */
static void open_relay(struct cq *q, uint32_t addr, const uint8_t *bytes, uint64_t known,
                       fault_id forgot)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_ring *ring = &q->ring;
    struct cq_record *r = cq_relayed(q, CQ_TO_DISPATCHER);
    ring->cursor.known &= !p->rest || addr != p->at || addr == ring->cursor.v;
    p->open = true;
    p->unit.left = 0;
    p->begin = p->at = addr;
    p->bytes = p->pages = p->handed = p->taken = 0;
    p->unsent.count = 0;
    p->since = forgot;
    p->ready_early = false;
    p->index = q->m->event->index;
    p->brief = (struct cq_brief){.known = false};
    cq_report_step(q, NOCAP_RECORD_RELAYED, r);
    if (!ring->cursor.known) {
        return; /* perhaps the rest of a record */
    }
    bool place = addr == ring->cursor.v;
    CQ_FETCHER_AFTER(q, CQ_036, ring->cursor.since, place, NO_REFS,
                     "a prefetch command on the next page of the dispatch buffer",
                     "prefetch command relayed to 0x%x of the dispatch buffer, 0x%x is next", addr,
                     ring->cursor.v);
    cq_resync(q, &ring->cursor.since, place);
    p->since = ring->cursor.since;
    cq_blame(&p->since, forgot); /* the pages before were published, or may be yet */
    cq_blame(&p->since, p->turn_since);
    bool inside =
        r != NULL && r->good && offset_from(q, ring->cursor.v, addr) < r->pages * q->numbers->page;
    p->begin =
        inside ? ring->cursor.v : addr - addr % q->numbers->page; /* its first bytes: later */
    judge_landed(q, CQ_TO_DISPATCHER, p->since);
    p->pages = r != NULL && r->good ? r->pages : 0;
    if (r != NULL && r->good) {
        p->brief = r->brief;
    }
    cq_ring_brief(q, &p->brief, bytes, known, NOCAP_BY_PREFETCH);
}

/* NULL, or the bytes of the record from `from` of those that are relayed on. */
static const uint8_t *piece_of(const struct cq *q, const struct cq_record *r, uint64_t from,
                               uint64_t *known)
{
    uint64_t at = NOCAP_CQ_HEADER + from;
    const uint8_t *bytes = r != NULL && r->good ? cq_bytes_of(q, r) : NULL;
    *known = bytes != NULL && at < r->known ? r->known - at : 0;
    return *known > 0 ? bytes + at : NULL;
}

/* What reaches the dispatch buffer against the record, from its byte `from` on. */
static void judge_bytes(struct cq *q, const struct cq_record *r, const struct access *a,
                        uint64_t from)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint64_t known;
    const uint8_t *bytes = piece_of(q, r, from, &known);
    if (bytes == NULL || (a->known == 0 && !(a->has_hash && known >= a->size))) {
        return;
    }
    uint64_t at = cq_bytes_differ(a, bytes, known);
    bool hash = at == UINT64_MAX && a->has_hash && known >= a->size &&
                nocap_fnv1a64(NOCAP_FNV1A64_START, bytes, a->size) != a->hash;
    bool by_byte = at != UINT64_MAX;
    bool right = !hash && !by_byte;
    CQ_FETCHER_AFTER(
        q, CQ_071, p->since != FAULT_NONE ? p->since : r->says_since, right, RELATED(r->at.index),
        "the bytes of the prefetch command relayed",
        hash ? "relayed bytes differ from the prefetch command from byte %llu on, by their hash"
             : "byte %llu relayed as 0x%02x, the prefetch command has 0x%02x",
        wide(by_byte ? from + at : from), by_byte ? a->bytes[at] : 0, by_byte ? bytes[at] : 0);
    cq_blame(&p->since, fault_of(q->m, right));
    p->turn_since = right ? FAULT_NONE : p->turn_since;
}

/* A piece that does not go to the dispatch buffer is taken for the one that is due. */
static void relay_elsewhere(struct cq *q, uint64_t addr, uint64_t size, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool tile = (e->has & NOCAP_F_D) != 0;
    CQ_FETCHER_AFTER(q, CQ_036, p->open ? p->since : FAULT_NONE, false, NO_REFS,
                     "prefetch commands relayed to the dispatch buffer",
                     tile ? "%llu bytes relayed to 0x%llx of core %u,%u, not to the dispatch buffer"
                          : "%llu bytes relayed to 0x%llx, not to the dispatch buffer",
                     wide(size), wide(addr), e->d.x, e->d.y);
    fault_id fault = q->m->fault;
    if (!p->open && q->ring.cursor.known) {
        cq_find_relayed(q, CQ_TO_DISPATCHER, e);
        open_relay(q, q->ring.cursor.v, NULL, 0, fault);
    }
    if (p->open && size <= place_size(&q->places.buffer)) {
        cq_blame(&p->since, fault);
        p->bytes += (uint32_t)size;
        p->at = place_wrap(&q->places.buffer, p->at + size);
    }
}

static const char next_relayed[] =
    "next prefetch command relayed before the pages of the last were made ready";

/* As many pages were published when no record was relayed, which may be those of one soon after. */
static fault_id published_ahead(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool soon = cq_relay_next(q, CQ_TO_DISPATCHER) - p->unrelayed_of <= CQ_LEAP;
    fault_id since = p->unrelayed.v == p->pages && soon ? p->unrelayed.since : FAULT_NONE;
    p->unrelayed.since = since != FAULT_NONE ? FAULT_NONE : p->unrelayed.since;
    return since;
}

/* The pages of the record that is relayed were not published in time. What that is known since. */
static fault_id forget_relay(struct cq *q, const char *what)
{
    struct cq_prefetcher *p = &q->prefetcher;
    fault_id since = since_or(p->since, q->ring.since);
    CQ_FETCHER_AFTER(q, CQ_037, since_or(since, published_ahead(q)), false, RELATED(p->index),
                     "the pages of a prefetch command made ready before the next is relayed", "%s",
                     what);
    fault_id forgot = q->m->fault;
    p->forgot = p->ready_early ? FAULT_NONE : forgot;
    p->forgot_pages = p->pages;
    p->forgot_begin = p->begin;
    cq_relay_publish(q, UINT32_MAX);
    return forgot;
}

void cq_relay_counted(struct cq *q, uint64_t pages)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = cq_relayed(q, CQ_TO_DISPATCHER);
    bool whole = p->open && r != NULL && r->good && !r->gathered && p->bytes == r->length;
    if (whole && pages == p->pages) {
        cq_ring_doubt(q, forget_relay(q, "pages counted by the dispatcher before the "
                                         "prefetcher made them ready"));
    }
}

/* `again`: the same page is written once more. */
static void close_subordinate(struct cq *q, bool again)
{
    struct cq_subordinate *s = &q->subordinate;
    if (s->open && (s->credits || again)) {
        CQ_FETCHER_AFTER(q, CQ_037, s->since, false, RELATED(s->begun),
                         "the page of a prefetch command made ready before the next is relayed",
                         "%s prefetch command relayed before the page of the last was made ready",
                         again ? "the same" : "next");
        cq_subordinate_doubt(q, q->m->fault);
    }
    if (s->open && !again) {
        cq_relay_publish_subordinate(q, UINT32_MAX);
    }
}

static void relay_to_subordinate(struct cq *q, uint64_t addr, uint64_t size,
                                 const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (cq_subordinate_late(q, place_index(&q->places.subordinate, addr))) {
        return;
    }
    if (p->open) {
        bool late = cq_relay_next(q, CQ_TO_SUBORDINATE) == p->overtaken;
        cq_blame(&p->since, late ? q->subordinate.since : FAULT_NONE);
        forget_relay(q, next_relayed);
    }
    const struct cq_subordinate *s = &q->subordinate;
    const uint64_t page = place_address(&q->places.subordinate, s->cursor.v);
    const bool again = s->open && addr == page;
    close_subordinate(q, again);
    if (again) {
        return;
    }
    cq_subordinate_unrelayed(q, place_index(&q->places.subordinate, addr));
    cq_find_relayed(q, CQ_TO_SUBORDINATE, e);
    fault_id turn = cq_judge_turn(q, CQ_TO_SUBORDINATE);
    cq_blame(&turn, p->turn_since);
    struct cq_record *r = cq_relayed(q, CQ_TO_SUBORDINATE);
    cq_report_step(q, NOCAP_RECORD_RELAYED, r);
    judge_landed(q, CQ_TO_SUBORDINATE, turn);
    p->bytes = (uint32_t)size;
    p->since = r != NULL ? r->read_since : FAULT_NONE;
    cq_blame(&p->since, p->turn_since);
    cq_subordinate_doubt(q, p->turn_since);
    p->index = e->index;
    p->unsent.count = 0;
    struct access a = access_of_event(e, addr, size);
    judge_bytes(q, r, &a, 0);
    if (r != NULL) {
        cq_blame(&r->relayed_since, p->since);
    }
    cq_subordinate_relay(q, addr, size, r);
    if (e->kind == NOCAP_EV_NOC) {
        cq_packet_issued(&p->unsent, e);
    }
}

void cq_relay_publish_subordinate(struct cq *q, uint32_t value)
{
    struct cq_record *r = cq_relayed(q, CQ_TO_SUBORDINATE);
    q->any = true;
    if (q->loose) {
        return;
    }
    struct cq_prefetcher *p = &q->prefetcher;
    bool open = q->subordinate.open;
    cq_subordinate_publish(q, p->relay[CQ_TO_SUBORDINATE], value,
                           p->unsent.count == 0 || !p->sents_seen);
    if (!open && p->open) { /* perhaps of what is relayed to the other one */
        cq_blame(&p->since, q->m->fault);
        cq_ring_doubt(q, q->m->fault);
    } else if (open) {
        cq_report_step(q, NOCAP_RECORD_HANDED, r);
        cq_next_record(q, CQ_TO_SUBORDINATE, r);
    }
}

static bool in_buffer(const struct cq *q, uint64_t addr, const struct nocap_event *e)
{
    return ((e->has & NOCAP_F_D) == 0 || cq_may_dispatch(q, e->d)) &&
           place_has(&q->places.buffer, addr);
}

/* Bytes that are late, of a record whose pages were made ready before. */
static bool is_tail(struct cq *q, uint64_t addr, uint64_t size)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool there =
        p->tail != 0 && offset_from(q, p->tail_begin, addr) < p->tail_pages * q->numbers->page;
    bool due = addr == (p->open ? p->at : q->ring.cursor.v); /* the ring has come round */
    p->tail = there && due ? 0 : p->tail;
    if (!there || size > p->tail) {
        return false;
    }
    p->tail -= (uint32_t)size;
    return true;
}

/* As a write or as a `cq` event: the other of the two may come. */
static void note_shown(struct cq_prefetcher *p, const struct nocap_event *e, uint64_t addr,
                       uint64_t size)
{
    if (e->kind == NOCAP_EV_NOC) {
        cq_packet_issued(&p->unsent, e);
        p->shown.addr = cq_seq(e) != p->shown.seq ? addr : p->shown.addr;
        p->shown.seq = cq_seq(e);
    } else if ((e->has & NOCAP_F_SEQ) != 0) { /* its writes may come, too */
        p->unit.at = (uint32_t)addr;
        p->unit.left = (uint32_t)size;
        p->unit.from = p->bytes - size;
        p->unit.seq = e->seq;
    }
}

/* Bytes for a page that was skipped before; it is due again a lap later. */
static bool was_skipped(struct cq *q, uint64_t addr)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (!p->skipped.known || addr != p->skipped.v) {
        return false;
    }
    p->skipped.known = false;
    if (addr == q->ring.cursor.v || (p->open && addr == p->at)) {
        return false;
    }
    CQ_FETCHER_AFTER(q, CQ_036, p->skipped.since, false, NO_REFS,
                     "a prefetch command on the next page of the dispatch buffer",
                     "bytes relayed to 0x%llx after that page had been skipped", wide(addr));
    return true;
}

void cq_relay_piece(struct cq *q, uint64_t addr, uint64_t size, const uint8_t *bytes,
                    uint64_t known, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r = cq_relayed(q, CQ_TO_DISPATCHER);
    fault_id forgot = FAULT_NONE;
    q->any = true;
    if (q->loose) {
        return;
    }
    if (cq_in_subordinate(q, addr)) {
        relay_to_subordinate(q, addr, size, e);
        return;
    }
    if (size > place_size(&q->places.buffer) || !in_buffer(q, addr, e)) {
        relay_elsewhere(q, addr, size, e);
        return;
    }
    if (was_skipped(q, addr) || is_tail(q, addr, size)) {
        return;
    }
    uint32_t offset = offset_from(q, p->begin, addr);
    bool own = offset < p->pages * q->numbers->page;
    bool whole = p->open && r != NULL && r->good && p->bytes >= r->length;
    bool inside = p->open && q->ring.cursor.known && (offset == 0 || own);
    if (p->open && addr != p->at && !inside && (whole || addr % q->numbers->page == 0)) {
        forgot = forget_relay(q, next_relayed);
        r = cq_relayed(q, CQ_TO_DISPATCHER);
    }
    if (!p->open) {
        close_subordinate(q, false);
        const fault_id early = take_unrelayed(q, (uint32_t)addr);
        cq_blame(&forgot, early);
        cq_find_relayed(q, CQ_TO_DISPATCHER, e);
        cq_blame(&forgot, cq_judge_turn(q, CQ_TO_DISPATCHER));
        open_relay(q, (uint32_t)addr, bytes, known, forgot);
        q->prefetcher.ready_early = early != FAULT_NONE;
        r = cq_relayed(q, CQ_TO_DISPATCHER);
    } else {
        CQ_FETCHER_ON(q, CQ_036, &p->since, addr == p->at, RELATED(p->index),
                      "the bytes of a prefetch command contiguous",
                      "bytes relayed to 0x%llx, 0x%x is next", wide(addr), p->at);
    }
    struct access a = access_of_event(e, addr, size);
    judge_bytes(q, r, &a, p->bytes);
    p->bytes += (uint32_t)size;
    uint32_t pages = cq_pages_of(q, p->bytes);
    cq_take_pages(q, pages < p->pages ? pages : p->pages);
    if (r != NULL && r->good) {
        CQ_FETCHER_ON(q, CQ_036, &p->since, p->bytes <= r->length, RELATED(r->at.index),
                      "as many bytes relayed as the prefetch command has",
                      "%u bytes relayed, the prefetch command has %u", p->bytes, r->length);
    }
    p->at = place_wrap(&q->places.buffer, addr + size);
    note_shown(p, e, addr, size);
}

/* The same bytes go to two places, as their write and their `cq` event say. */
static void judge_places(struct cq *q, uint64_t addr, uint64_t other, bool same)
{
    CQ_FETCHER_ON(q, CQ_036, &q->prefetcher.since, same, NO_REFS,
                  "a prefetch command relayed to one place",
                  "the same bytes relayed to 0x%llx, and to 0x%llx", wide(other), wide(addr));
}

void cq_relay_restated(struct cq *q, const struct nocap_event *e)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    if (p->open && p->shown.seq == e->seq) {
        judge_places(q, e->addr, p->shown.addr, e->addr == p->shown.addr);
    }
}

bool cq_relay_restates(struct cq *q, const struct nocap_event *e, uint64_t size)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool own = p->unit.left != 0 && cq_seq(e) == p->unit.seq;
    if (!p->open || p->unit.left == 0 || size > p->unit.left || (e->daddr != p->unit.at && !own)) {
        return false;
    }
    bool there = (e->has & NOCAP_F_D) == 0 || cq_may_dispatch(q, e->d);
    judge_places(q, e->daddr, p->unit.at, there && e->daddr == p->unit.at);
    const struct access a = access_of_event(e, e->daddr, size);
    judge_bytes(q, cq_relayed(q, CQ_TO_DISPATCHER), &a, p->unit.from);
    cq_packet_issued(&p->unsent, e);
    p->unit.at += (uint32_t)size;
    p->unit.left -= (uint32_t)size;
    p->unit.from += size;
    return true;
}

void cq_relay_sent(struct cq *q, uint64_t id)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (!p->sents_seen && cq_packet_over(&p->early, id)) {
        CQ_FETCHER_AFTER(q, CQ_037, p->since, false, NO_REFS,
                         "the pages of a prefetch command made ready when its bytes have left",
                         "%s", "pages made ready before a packet of the prefetch command had left");
        cq_ring_doubt(q, q->m->fault);
        p->sents_seen = true;
    }
    p->sents_seen |= cq_packet_over(&p->unsent, id);
}
