/* SPDX-License-Identifier: Apache-2.0 */
/* The subordinate dispatcher, NCRISC of the dispatch tile: it sends the go words. Its commands have
 * a page each, of a buffer of its own, and come back one by one. Rules CQ-035 to CQ-039 and CQ-044,
 * as far as they are about it. */
#include <string.h>

#include "replay/cq/cq_private.h"

#define NOT_KNOWN (NO_INDEX - 1) /* of a page: the number of its record */

void cq_subordinate_init(struct cq *q, bool origin)
{
    struct cq_subordinate *s = &q->subordinate;
    uint64_t *page = s->page;
    memset(s, 0, sizeof *s);
    s->page = page;
    s->origin = origin;
    s->executed = NO_INDEX;
    for (uint32_t i = 0; i < q->places.subordinate.units; i++) {
        page[i] = NO_INDEX;
    }
    if (origin) {
        value_set(&s->cursor, 0);
        value_set(&s->at, 0);
    }
}

void cq_subordinate_doubt(struct cq *q, fault_id fault)
{
    struct cq_subordinate *s = &q->subordinate;
    cq_blame(&s->since, fault);
    cq_blame(&s->counted_since, fault);
}

static uint32_t page_of(const struct cq *q, uint64_t addr)
{
    return place_index(&q->places.subordinate, addr);
}

/* ---- the prefetcher's side ---- */

static void judge_page(struct cq *q, uint64_t addr)
{
    struct cq_subordinate *s = &q->subordinate;
    const struct cq_place *place = &q->places.subordinate;
    uint32_t next = s->cursor.known ? place_address(place, s->cursor.v) : (uint32_t)addr;
    bool right = addr == next;
    fault_id since = s->cursor.since;
    cq_blame(&since, s->since);
    CQ_FETCHER_AFTER(
        q, CQ_036, since, right, NO_REFS,
        "a prefetch command on the next page of the subordinate dispatcher's buffer",
        "command relayed to 0x%llx of the subordinate dispatcher's buffer, 0x%x is next",
        wide(addr), next);
    resync(&s->cursor, page_of(q, addr), fault_of(q->m, right));
    cq_subordinate_doubt(q, s->cursor.since);
}

static void judge_room(struct cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    s->acquired++;
    if (s->origin && s->releases && (q->sees[CQ_DISPATCH] || q->sees_loads)) {
        bool right = s->acquired <= s->released + q->places.subordinate.units;
        CQ_FETCHER_AFTER(
            q, CQ_035, s->counted_since, right, NO_REFS,
            "no more pages in use than the subordinate dispatcher's buffer has",
            "%llu pages acquired, %llu released, the subordinate dispatcher's buffer has %u",
            wide(s->acquired), wide(s->released), q->places.subordinate.units);
        cq_subordinate_doubt(q, fault_of(q->m, right));
    }
}

void cq_subordinate_relay(struct cq *q, uint64_t addr, uint64_t size, struct cq_record *r)
{
    struct cq_subordinate *s = &q->subordinate;
    s->begun = q->m->event->index;
    s->open = true;
    judge_page(q, addr);
    judge_room(q);
    if (r == NULL || !r->good) {
        return;
    }
    bool right = r->subordinate && size == r->length;
    CQ_FETCHER_AFTER(
        q, CQ_036, s->since, right, RELATED(r->at.index),
        "each prefetch command relayed whole to the buffer of its dispatcher",
        r->subordinate
            ? "%llu of %u bytes of the prefetch command relayed"
            : "%llu of %u bytes of a command of the dispatcher relayed to its subordinate",
        wide(size), r->length);
    cq_subordinate_doubt(q, fault_of(q->m, right));
}

/* The next page has that record. */
static void fill_page(struct cq *q, uint64_t record)
{
    struct cq_subordinate *s = &q->subordinate;
    s->open = false;
    s->unrelayed = FAULT_NONE;
    s->published++;
    s->page[s->cursor.v] = record != NO_INDEX ? record : NOT_KNOWN;
    s->cursor.v = place_after(&q->places.subordinate, s->cursor.v, 1);
}

void cq_subordinate_unrelayed(struct cq *q, uint32_t page)
{
    struct cq_subordinate *s = &q->subordinate;
    if (s->unrelayed != FAULT_NONE && s->cursor.v == place_before(&q->places.subordinate, page)) {
        struct cq_record *r = cq_relayed(q, CQ_TO_SUBORDINATE);
        resync(&s->skipped, s->cursor.v, s->unrelayed);
        s->acquired++;
        fill_page(q, cq_relay_next(q, CQ_TO_SUBORDINATE));
        cq_next_record(q, CQ_TO_SUBORDINATE, r);
    }
}

bool cq_subordinate_late(struct cq *q, uint32_t page)
{
    struct cq_subordinate *s = &q->subordinate;
    const bool late = s->skipped.known && page == s->skipped.v;
    s->skipped.known = false;
    if (late) {
        CQ_FETCHER_AFTER(q, CQ_036, s->skipped.since, false, NO_REFS,
                         "a prefetch command relayed before its page is made ready",
                         "command relayed to 0x%x after that page was made ready",
                         place_address(&q->places.subordinate, page));
    }
    return late;
}

void cq_subordinate_publish(struct cq *q, uint64_t record, uint32_t value, bool sent)
{
    struct cq_subordinate *s = &q->subordinate;
    s->credits |= value != UINT32_MAX;
    if (value != UINT32_MAX && (s->open || s->cursor.known)) {
        bool right = s->open && value == 1 && sent;
        CQ_FETCHER_AFTER(
            q, CQ_037, value == 1 ? s->since : FAULT_NONE, right,
            RELATED(s->open ? s->begun : NO_INDEX),
            "the page of a prefetch command made ready once, when its bytes have left",
            !s->open
                ? "%u pages of the subordinate dispatcher made ready, but no command was relayed"
            : !sent ? "%u pages of the subordinate dispatcher made ready while a write is not sent"
                    : "%u pages of the subordinate dispatcher made ready for one command, not 1",
            value);
        cq_subordinate_doubt(q, fault_of(q->m, right));
        s->unrelayed = s->lost == 0 ? q->m->fault : FAULT_NONE;
    }
    if (!s->open) {
        return;
    }
    s->lost_at = s->lost == 0 ? s->begun : s->lost_at;
    s->lost += value == UINT32_MAX;
    fill_page(q, record);
}

/* ---- its own side ---- */

const struct nocap_cq_command *cq_subordinate_command(struct cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    if (s->at.known && !s->decoded) {
        const struct cq_record *r = cq_record(q, s->page[s->at.v]);
        bool good = r != NULL && r->good && r->subordinate;
        const uint8_t *bytes = good ? cq_bytes_of(q, r) : NULL;
        s->decoded = bytes != NULL &&
                     nocap_cq_decode_record_by(q->set, bytes, r->known, &s->record) &&
                     s->record.has_dispatch;
    }
    return s->decoded ? &s->record.dispatch : NULL;
}

struct cq_record *cq_subordinate_record(struct cq *q)
{
    const struct cq_subordinate *s = &q->subordinate;
    return s->at.known ? cq_record(q, s->page[s->at.v]) : NULL;
}

static void take_table(struct cq_subordinate *s)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    nocap_cq_subs(&s->record.dispatch, &subs);
    s->listed = subs.count <= CQ_GO_TABLE;
    s->words = s->listed ? subs.count : 0;
    for (uint32_t i = 0; i < s->words && s->listed; i++) {
        s->listed = nocap_cq_sub(&subs, i, s->record.inner, s->record.inner_size, &sub);
        s->table[i] = (uint32_t)sub.noc_xy;
    }
}

/* The present command is over. */
static void end_command(struct cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    const struct nocap_cq_command *c = cq_subordinate_command(q);
    if (c == NULL) {
        s->listed = false; /* it may have been another table */
        s->origin = false; /* .. or a launch */
    } else if (c->id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL) {
        cq_subordinate_end_launch(q, c);
    } else if (c->id == NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA) {
        take_table(s);
    }
    s->ended = c != NULL && c->id == NOCAP_CQ_DISPATCH_TERMINATE;
    s->finished++;
    s->after_unknown = !s->at.known || s->page[s->at.v] >= NOT_KNOWN;
    if (s->at.known) {
        s->after = s->page[s->at.v] < NOT_KNOWN ? s->page[s->at.v] + 1 : s->after;
        s->page[s->at.v] = NO_INDEX;
        s->at.v = place_after(&q->places.subordinate, s->at.v, 1);
    }
    s->decoded = s->started = s->notify_judged = s->reads = s->proven = false;
    s->sent = s->unmatched = 0;
}

void cq_subordinate_release(struct cq *q, uint32_t value)
{
    struct cq_subordinate *s = &q->subordinate;
    if (q->loose) {
        return;
    }
    s->releases = true;
    bool count =
        !s->origin || !s->credits || !cq_sees_published(q) || s->released + value <= s->published;
    bool read = s->reads || !s->origin || !(q->sees_loads || q->prefetcher.events_seen);
    bool right = value == 1 && count && read;
    bool late = !read && s->kept != FAULT_NONE;
    fault_id since = late ? s->kept : s->since;
    cq_blame(&since, count || !read ? FAULT_NONE : s->counted_since);
    CQ_EXECUTOR_AFTER(q, CQ_039, value == 1 ? since : FAULT_NONE, right, NO_REFS,
                      "one page of the subordinate dispatcher released for each command, after it",
                      read ? "%u pages released on top of %llu, %llu were made ready"
                           : "%u pages released on top of %llu before the next command was begun, "
                             "%llu were made ready",
                      value, wide(s->released), wide(s->published));
    cq_subordinate_doubt(q, fault_of(q->m, right));
    s->released += value;
    if (late) {
        s->kept = FAULT_NONE;
        return;
    }
    if (right && s->proven) {
        s->since = FAULT_NONE;
    }
    end_command(q);
}

/* It looks for the next command, or begins with it, and has kept the page of the one before. */
static void judge_kept(struct cq *q)
{
    struct cq_subordinate *s = &q->subordinate;
    if (s->at.known && s->reads && s->releases) {
        CQ_EXECUTOR_AFTER(q, CQ_039, s->since, false, RELATED(s->executed),
                          "the page of a command released before the next is polled for",
                          "next command polled for before the page at 0x%x was released",
                          place_address(&q->places.subordinate, s->at.v));
        cq_subordinate_doubt(q, q->m->fault);
        s->kept = q->m->fault;
        end_command(q);
    }
}

/* It begins with the command at `addr`. */
void cq_subordinate_exec(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known)
{
    struct cq_subordinate *s = &q->subordinate;
    uint32_t page = page_of(q, addr);
    if (q->loose) {
        return;
    }
    if (s->at.known && page == place_after(&q->places.subordinate, s->at.v, 1)) {
        judge_kept(q);
    }
    if (s->at.known && s->at.v != page && !s->releases) {
        end_command(q); /* nothing shows that its page was released */
    }
    if (!s->at.known || !s->releases) {
        value_set(&s->at, page);
    }
    bool there = s->page[page] != NO_INDEX || !s->origin || !s->credits || !cq_sees_published(q);
    bool right = page == s->at.v && there;
    fault_id since = s->since;
    cq_blame(&since, there || page != s->at.v ? FAULT_NONE : s->counted_since);
    CQ_EXECUTOR_AFTER(q, CQ_038, since, right, NO_REFS,
                      "pages that were made ready read by the subordinate dispatcher in order",
                      there ? "page at 0x%llx read, 0x%x is next"
                            : "page at 0x%llx read before it was made ready, 0x%x is next",
                      wide(addr), place_address(&q->places.subordinate, s->at.v));
    cq_subordinate_doubt(q, fault_of(q->m, right));
    s->decoded = s->decoded && page == s->at.v;
    s->at.v = page;
    enum known found = cq_judge_found(q, cq_subordinate_record(q), bytes, known, s->since);
    if (cq_subordinate_command(q) == NULL) {
        s->record = (struct nocap_cq_record){.inner = NULL};
        s->decoded =
            nocap_cq_decode_by(q->set, NOCAP_CQ_DISPATCH, bytes, known, &s->record.dispatch);
    }
    s->proven = right && found == YES;
    s->reads = true;
    s->executed = q->m->event->index;
    if (!cq_sees_writes(q)) { /* else with its first go word: workers still run the one before */
        cq_subordinate_start(q);
    }
    cq_report_step(q, NOCAP_RECORD_EXECUTED, cq_subordinate_record(q));
}

/* Which stream's word this is of those by which it is notified; CQ_STREAMS: none's. */
static unsigned sync_stream(const struct cq *q, uint64_t addr)
{
    const struct nocap_queue *n = q->numbers;
    uint64_t at = addr - n->sync_sems;
    bool word = at < n->sync_sems_size && at % n->l1_align == 0 && at / n->l1_align < CQ_STREAMS;
    return word ? (unsigned)(at / n->l1_align) : CQ_STREAMS;
}

static struct value word_of(const struct access *a)
{
    struct value word = {0};
    word.known = access_word(a, a->addr, &word.v);
    return word;
}

void cq_subordinate_core(struct cq *q, const struct access *a)
{
    struct cq_subordinate *s = &q->subordinate;
    uint32_t value;
    if (a->store) {
        return;
    }
    if (place_has(&q->places.subordinate, a->addr)) {
        bool begins = a->addr % q->numbers->subordinate_page == 0;
        if (begins && !cq_is_duplicate(q, CQ_ACT_EXEC, q->m->event)) {
            cq_subordinate_exec(q, a->addr, a->bytes, a->known);
        }
        return;
    }
    if (a->addr == q->subordinate_sem[CQ_DISPATCH] && !q->loose) {
        judge_kept(q);
    }
    uint64_t stream =
        (a->addr - nocap_stream_address(q->numbers->first_stream, NOCAP_STREAM_SPACE_AVAILABLE)) /
        NOCAP_STREAM_STRIDE;
    uint64_t at = nocap_stream_address(q->numbers->first_stream + (unsigned)(stream % CQ_STREAMS),
                                       NOCAP_STREAM_SPACE_AVAILABLE);
    if (stream < CQ_STREAMS && at == a->addr) {
        s->fresh[stream] = access_word(a, a->addr, &value);
        s->counts[stream] = s->fresh[stream] ? value : 0;
    }
    unsigned sync = sync_stream(q, a->addr);
    if (sync < CQ_STREAMS) {
        s->loaded[sync] = word_of(a);
    }
}

/* ---- between the two dispatchers ---- */

static void take_notify(struct cq *q, unsigned stream)
{
    struct cq_subordinate *s = &q->subordinate;
    s->notifies = true;
    s->notified[stream]++;
    cq_blame(&s->written, q->expected.next);
    q->expected.next = FAULT_NONE;
}

/* The dispatcher stores that the go words of a launch may be sent: what they depend on must have
 * arrived. */
static void judge_notify(struct cq *q, unsigned stream)
{
    const struct cq_brief *b = &q->ring.brief;
    struct cq_write *w = q->dispatcher.acks_seen ? cq_unacked(&q->dispatcher) : NULL;
    bool barrier =
        b->known && b->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL && b->flags != 0;
    CQ_EXECUTOR_AFTER(
        q, CQ_044, q->expected.next, !barrier || w == NULL,
        RELATED(w != NULL ? w->index : NO_INDEX),
        "the multicasts of a launch acknowledged before the subordinate is notified",
        "subordinate notified of stream %u before the multicasts of the launch were acknowledged",
        q->numbers->first_stream + stream);
    if (barrier && w != NULL) {
        cq_end_write(&q->dispatcher, w);
    }
    take_notify(q, stream);
}

bool cq_subordinate_notified(struct cq *q, const struct access *a)
{
    const struct nocap_queue *n = q->numbers;
    unsigned stream = sync_stream(q, a->addr);
    if (n->dispatchers < 2 || a->addr - n->sync_sems >= n->sync_sems_size) {
        return false;
    }
    if (!q->loose && stream < CQ_STREAMS && cq_sees_syncs(q)) {
        judge_notify(q, stream);
        q->subordinate.stored[stream] = word_of(a);
    }
    return true;
}

void cq_subordinate_brief(struct cq *q, const struct cq_brief *b)
{
    bool notifies = b->known && b->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL;
    q->subordinate.unknown += !b->known && !cq_sees_syncs(q);
    for (unsigned i = 0; notifies && i < CQ_STREAMS; i++) {
        bool this = (b->count >> i & 1) != 0;
        q->subordinate.announced[i] += this;
        if (this && !cq_sees_syncs(q)) {
            take_notify(q, i);
        }
    }
}
