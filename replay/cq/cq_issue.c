/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the prefetch queue: the slot that publishes what was written to the issue
 * region before. Rules CQ-024, CQ-027, CQ-028, CQ-029. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_issue_init(struct cq *q, bool origin)
{
    struct cq_host *h = &q->host;
    memset(h->slots, origin ? CQ_SLOT_FREE : CQ_SLOT_UNKNOWN, q->places.slots.units);
    h->slot = h->slot_due = h->cursor = h->restated = (struct value){.known = false};
    if (origin) {
        value_set(&h->slot, 0);
        value_set(&h->restated, 0);
        value_set(&h->cursor, q->numbers->issue);
    }
    h->span_first = h->span_count = 0;
    h->spans_lost = h->restates = h->guessed = false;
    h->passed = h->misplaced = FAULT_NONE;
    h->alone.index = NO_INDEX;
}

void cq_issue_slot_read(struct cq *q, const struct access *a)
{
    const struct nocap_queue *n = q->numbers;
    uint32_t entry;
    uint64_t first = a->addr > n->queue ? (a->addr - n->queue + n->entry_bytes - 1) / n->entry_bytes
                                        : 0; /* whole slots */
    for (uint64_t i = first;
         i < n->queue_slots && cq_slot_value(q, a, n->queue + n->entry_bytes * i, &entry); i++) {
        uint8_t *state = &q->host.slots[i];
        bool stale = *state == CQ_SLOT_FILLED && q->sees_stores && q->sees[CQ_PREFETCH];
        bool passed = *state == CQ_SLOT_PASSED && q->sees_sysmem; /* only its store may come yet */
        bool keeps = entry != 0 || passed;
        *state = keeps ? *state : stale ? CQ_SLOT_UNKNOWN : CQ_SLOT_FREE;
    }
}

/* The queue is zeroed before the prefetcher starts. */
static void clear_queue(struct cq *q, const struct access *a)
{
    struct cq_boot *b = &q->boot[CQ_PREFETCH];
    b->done |= CQ_INIT_QUEUE;
    if ((b->missing & CQ_INIT_QUEUE) != 0) {
        cq_boot_late(q, CQ_PREFETCH, CQ_INIT_QUEUE);
    }
    b->running = b->running != YES ? NO : YES;
    q->any = true;
    if (a->addr <= q->numbers->queue) {
        cq_restart(q, true);
    }
}

/* Whether all of a record has been written; what is there otherwise is none of it. */
static void judge_written(struct cq *q, struct cq_publish *p, const struct cq_gathered *g,
                          uint32_t size)
{
    struct nocap_cq_command c;
    bool whole = g->covered >= size ||
                 (nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, q->host.head, g->known, &c) &&
                  c.id == NOCAP_CQ_PREFETCH_RELAY_INLINE &&
                  NOCAP_CQ_HEADER + c.length <= g->covered); /* no agent looks at the padding */
    whole |= q->loose && g->covered > 0; /* the host does not write what lies between commands */
    p->whole = p->record.addr_known && q->sees_sysmem && !q->host.spans_lost;
    if (p->whole) {
        cq_blame(&p->since, q->host.misplaced);
        CQ_HOST_AFTER(q, CQ_024, p->since, whole, NO_REFS,
                      "all bytes of a prefetch command written before its prefetch_q entry",
                      "prefetch_q entry written when %u of %u bytes of its command at +0x%x were",
                      g->covered, size, p->record.addr);
        p->record.unwritten = whole ? 0 : size > q->numbers->entry_max ? 0 : size - g->covered;
        q->host.misplaced = FAULT_NONE;
    }
    if (!whole) {
        p->known = p->given = 0;
    }
}

/* Commands in another order, or others than were read: what the device does for launches and events
 * is not known. */
static void lose_order(struct cq *q)
{
    cq_completion_lose(q);
    cq_launch_lose(q, true);
}

/* Finds the bytes of a record that a slot store publishes. */
static void publish_slot(struct cq *q, uint16_t slot, uint32_t entry)
{
    struct cq_host *h = &q->host;
    uint32_t size = cq_entry_size(q, entry);
    struct cq_publish p = {.entry = entry, .record = {.slot = slot, .slot_known = true}};
    struct cq_record *r = &p.record;
    struct cq_gathered g = {0, 0};
    if (q->sees_sysmem && cq_span_judge_left(q, size)) {
        lose_order(q);
    }
    r->addr_known = h->cursor.known;
    r->addr = h->cursor.known ? place_whole(&q->places.issue, h->cursor.v, size) : 0;
    bool there = h->cursor.since == FAULT_NONE || cq_span_begins(q, r->addr);
    if (r->addr_known && there && q->sees_sysmem) {
        g = cq_span_gather(q, r->addr, size);
    }
    if (g.covered == 0 && h->guessed) {
        h->cursor.known = r->addr_known = false; /* the write was the one for this entry, perhaps */
    }
    h->guessed = false;
    if (g.covered == 0 && q->sees_sysmem && cq_span_other_place(q, size, &r->addr)) {
        p.moved = r->addr_known;
        h->guessed = !r->addr_known;
        r->addr_known = true;
        g = cq_span_gather(q, r->addr, size);
    }
    if (!r->addr_known) {
        cq_span_forget(q);
    }
    p.since = h->cursor.since;
    cq_blame(&p.since, h->slot.since); /* entries in another order: so with their commands */
    p.bytes = h->head;
    p.known = g.known;
    p.given = g.covered < size ? g.covered : size;
    judge_written(q, &p, &g, size);
    cq_publish(q, &p);
}

/* The record of a slot that was not filled; no entry: nothing is known of it. The device may take
 * it all the same. */
static void publish_passed(struct cq *q, uint32_t number, uint32_t entry)
{
    q->host.slots[number] = CQ_SLOT_PASSED;
    if (entry != 0) {
        publish_slot(q, (uint16_t)number, entry);
        return;
    }
    q->records[q->published++ % CQ_RECORDS] =
        (struct cq_record){.at = cq_event_ref(q, NOCAP_BY_HOST),
                           .slot = (uint16_t)number,
                           .slot_known = true,
                           .since = q->host.passed,
                           .several = q->numbers->inline_only == 0}; /* perhaps */
    q->host.cursor.known = false;
}

/* The entry that begins at `at`, or from the start again where it does not fit; 0: none does. */
static uint32_t span_entry(struct cq *q, uint32_t *at)
{
    const struct cq_place *issue = &q->places.issue;
    uint32_t size = cq_span_record(q, *at), again = size == 0 ? cq_span_record(q, issue->base) : 0;
    if (again != 0 && place_whole(issue, *at, again) == issue->base) {
        *at = issue->base;
        size = again;
    }
    return size;
}

/* Slots from `first` on were passed over before `slot`, whose record has `size` bytes. Where host
 * memory is seen and all bytes of their records are there, the stores to them were not seen; else
 * their records were not seen, or are not there. */
static void pass_over(struct cq *q, uint32_t first, uint16_t slot, uint32_t size)
{
    struct cq_host *h = &q->host;
    uint32_t entries[CQ_LEAP] = {0}, at = h->cursor.v;
    uint32_t count = place_distance(&q->places.slots, first, slot);
    bool bytes = size != 0;
    if (count > CQ_LEAP || (bytes && !h->cursor.known)) {
        return;
    }
    for (uint32_t i = 0; i < count && bytes; i++) {
        const uint32_t entry = span_entry(q, &at);
        if (entry == 0) {
            return;
        }
        entries[i] = entry / q->numbers->entry_unit;
        at += entry;
    }
    if (bytes && span_entry(q, &at) != size) {
        return; /* nothing lies before the record of this slot */
    }
    h->passed = h->slot.since;
    for (uint32_t i = 0; i < count; i++) {
        publish_passed(q, place_after(&q->places.slots, first, i), entries[i]);
    }
}

void cq_issue_unseen(struct cq *q, uint32_t addr, uint32_t entry)
{
    struct cq_host *h = &q->host;
    uint16_t slot = (uint16_t)h->slot.v;
    if (!h->slot.known || !h->cursor.known ||
        (q->m->header->observes & (NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CQ)) == 0) {
        return;
    }
    uint32_t size = q->sees_sysmem ? cq_span_record(q, addr) : entry * q->numbers->entry_unit;
    uint32_t says = entry != 0 ? entry : size / q->numbers->entry_unit;
    if (size == 0 || addr != place_whole(&q->places.issue, h->cursor.v, size)) {
        return;
    }
    CQ_HOST_AFTER(q, CQ_029, h->slot.since, false, NO_REFS, "prefetch_q entries written in order",
                  "prefetch command of prefetch_q entry %u read, but the entry was never written",
                  slot);
    h->passed = q->m->fault;
    resync(&h->slot, place_after(&q->places.slots, slot, 1), h->passed);
    publish_passed(q, slot, says);
}

void cq_issue_missed(struct cq *q)
{
    cq_blame(&q->host.slot.since, q->m->fault);
    cq_blame(&q->host.restated.since, q->m->fault);
}

static void judge_free(struct cq *q, uint16_t slot)
{
    uint8_t *state = &q->host.slots[slot];
    if (*state != CQ_SLOT_UNKNOWN && *state != CQ_SLOT_PASSED) { /* which was reported */
        CQ_HOST_AFTER(q, CQ_028, q->host.slot.since, *state == CQ_SLOT_FREE, NO_REFS,
                      "a prefetch_q entry written only after it was read as 0",
                      "prefetch_q entry %u written %s", slot,
                      *state == CQ_SLOT_FILLED ? "while the one before is still in it"
                                               : "without reading it as 0 first");
        if (*state != CQ_SLOT_FREE) {
            cq_issue_missed(q);
        }
    }
    *state = CQ_SLOT_FILLED;
}

/* Whether the slot is the next one. */
static bool judge_slot(struct cq *q, uint64_t slot)
{
    struct value *next = &q->host.slot;
    bool right = !next->known || next->v == slot;
    if (next->known) {
        cq_blame(&next->since, cq_other_since(&q->host.slot_other, (uint32_t)slot));
        CQ_HOST_AFTER(q, CQ_029, next->since, right, NO_REFS, "prefetch_q entries written in order",
                      "prefetch_q entry %llu written, entry %u is next", wide(slot), next->v);
    }
    if (!right) {
        resync(&q->host.slot_other, next->v, q->m->fault);
    }
    resync(next, place_after(&q->places.slots, (uint32_t)slot, 1), fault_of(q->m, right));
    if (!right) {
        lose_order(q);
    }
    return right;
}

/* The store to a slot that was passed over comes after all. */
static bool passed_before(struct cq *q, uint16_t slot)
{
    struct cq_host *h = &q->host;
    bool passed = h->slots[slot] == CQ_SLOT_PASSED && !value_allows(&h->slot, slot);
    if (passed) {
        h->slots[slot] = CQ_SLOT_UNKNOWN;
        CQ_HOST_AFTER(q, CQ_029, h->passed, false, NO_REFS, "prefetch_q entries written in order",
                      "prefetch_q entry %u written late, entry %u is next", slot, h->slot.v);
        lose_order(q);
    }
    return passed;
}

/* A store that restates the entry of a record is wrong where that is. */
static fault_id restated_since(struct cq *q, const struct access *a, uint32_t entry)
{
    const struct cq_record *r = cq_record(q, cq_entries_back(q, q->published, 1));
    uint32_t slot = place_index(&q->places.slots, a->addr);
    return r != NULL && r->slot == slot && r->entry == entry ? r->since : FAULT_NONE;
}

/* Whether a store is one whole entry, other than 0; false: nothing is published by it. */
static bool judge_entry_store(struct cq *q, const struct access *a, bool init, uint32_t entry,
                              bool known)
{
    const uint32_t bytes = q->numbers->entry_bytes;
    bool inside = a->addr % bytes == 0 && a->addr >= q->numbers->queue;
    bool shape = a->size == bytes && inside && (!known || entry != 0);
    CQ_HOST_AFTER(q, CQ_028, known ? restated_since(q, a, entry) : FAULT_NONE, shape, NO_REFS,
                  "a prefetch_q entry stored whole and not as 0",
                  "%llu bytes 0x%x stored at 0x%llx, not one whole prefetch_q entry other than 0",
                  wide(a->size), entry, wide(a->addr));
    if (!shape && init && a->size > bytes) {
        clear_queue(q, a);
        return false;
    }
    if (!shape && (a->size == bytes || !inside || entry == 0)) {
        cq_issue_missed(q);
        return false;
    }
    return true;
}

/* The store that fills a slot first. */
static void fill_slot(struct cq *q, uint16_t slot, uint32_t entry, bool known)
{
    uint32_t first = q->host.slot.v;
    bool next = judge_slot(q, slot);
    if (next) {
        judge_free(q, slot);
    } else { /* which of them is filled shows when the prefetcher takes one */
        q->host.slots[slot] = q->host.slots[first] = CQ_SLOT_UNKNOWN;
    }
    if (known && !next) {
        pass_over(q, first, slot, q->sees_sysmem ? cq_entry_size(q, entry) : 0);
    }
    if (known) {
        publish_slot(q, slot, entry);
    }
}

void cq_issue_slot_store(struct cq *q, const struct access *a, const struct nocap_event *e)
{
    const struct cq_boot *b = &q->boot[CQ_PREFETCH];
    bool init = b->running != YES || (b->missing & CQ_INIT_QUEUE) != 0;
    if (init && a->size >= q->numbers->entry_bytes && access_is_zero(a)) {
        clear_queue(q, a);
        return;
    }
    uint32_t entry;
    bool known = cq_slot_value(q, a, a->addr, &entry);
    if (!judge_entry_store(q, a, init, entry, known)) {
        return;
    }
    uint16_t slot = (uint16_t)place_index(&q->places.slots, a->addr);
    q->any = true;
    MARK_EXERCISED(q->m, CQ_032);
    cq_boot_running(q, CQ_PREFETCH);
    cq_restated_due(q);
    if (cq_is_duplicate(q, CQ_ACT_RECORD, e)) { /* the order of slots was judged at the record */
        judge_free(q, slot);
        cq_restated_store(q, slot, known, entry);
        return;
    }
    if (passed_before(q, slot)) {
        return;
    }
    cq_restated_alone(q, slot, e);
    const uint32_t last = place_before(&q->places.slots, q->host.slot.v);
    if (q->host.slot.known && slot == last && q->host.slots[slot] == CQ_SLOT_FILLED) {
        judge_free(q, slot); /* the same entry once more, or that of the next slot */
    } else {
        fill_slot(q, slot, entry, known);
    }
}

/* Whether the record lies there. */
static bool lies_at(const struct cq *q, const struct value *cursor, const struct nocap_event *e)
{
    const uint32_t size = cq_entry_size(q, (uint32_t)e->entry);
    return (e->has & NOCAP_F_ADDR) != 0 && cursor->known &&
           e->addr == place_whole(&q->places.issue, cursor->v, size);
}

static void mark_slots(struct cq *q, uint32_t from, uint32_t end, enum cq_slot state)
{
    uint32_t count = place_distance(&q->places.slots, from, end);
    for (uint32_t i = 0; count <= CQ_LEAP && i < count; i++) {
        q->host.slots[place_after(&q->places.slots, from, i)] = (uint8_t)state;
    }
}

/* The slot that a `cq record` names; false: its record is known already. */
static bool take_slot(struct cq *q, const struct nocap_event *e, uint16_t slot)
{
    struct value *due = &q->host.slot_due;
    const bool in_place = lies_at(q, &q->host.cursor, e); /* then none was passed over */
    if (due->known && due->v == slot && in_place) {       /* only the one before named another */
        mark_slots(q, place_before(&q->places.slots, slot), q->host.slot.v, CQ_SLOT_UNKNOWN);
        resync(&q->host.slot, slot, FAULT_NONE);
    }
    due->known = false;
    if (passed_before(q, slot)) {
        return false;
    }
    uint32_t first = q->host.slot.v;
    const struct cq_record *last = cq_record(q, cq_entries_back(q, q->published, 1));
    bool again = q->host.slot.known && slot == place_before(&q->places.slots, first) &&
                 last != NULL && last->addr_known && (e->has & NOCAP_F_ADDR) != 0 &&
                 last->addr == e->addr;
    if (again) {
        CQ_HOST_AFTER(q, CQ_029, q->host.slot.since, false, RELATED(last->at.index),
                      "prefetch_q entries written in order",
                      "prefetch_q entry %u written a second time with the same prefetch command",
                      slot);
        cq_blame(&q->host.slot.since, q->m->fault); /* so with the store to it */
        return false;
    }
    const bool right = judge_slot(q, e->slot_index);
    if (!right && in_place) {
        q->host.passed = q->m->fault;
        value_set(due, place_after(&q->places.slots, first, 1));
        mark_slots(q, first, slot, CQ_SLOT_PASSED);
    } else if (!right) {
        pass_over(q, first, slot, 0);
    }
    if ((q->m->header->observes & NOCAP_CLASS_HOST_MMIO) == 0) {
        q->host.slots[slot] = CQ_SLOT_UNKNOWN; /* no store to it need say that it is filled */
    }
    return true;
}

/* A record as one unit. */
void cq_issue_record(struct cq *q, const struct nocap_event *e)
{
    struct cq_host *h = &q->host;
    uint16_t slot = (uint16_t)(e->slot_index % q->numbers->queue_slots);
    bool has_slot = (e->has & NOCAP_F_SLOT) != 0;
    bool has_addr = (e->has & NOCAP_F_ADDR) != 0;
    bool seen = q->any || (q->m->header->complete == NOCAP_TRUE && !q->m->dropped);
    cq_restated_due(q);
    if (lies_at(q, &h->cursor_due, e)) {
        h->cursor = h->cursor_due;
    }
    bool begins = has_slot && slot == 0 && has_addr && e->addr == q->numbers->issue;
    if (begins && (!q->any || q->program.prefetch_terminated)) {
        cq_restart(q, true); /* a queue that has just been set up */
    }
    q->any = true;
    cq_boot_running(q, CQ_PREFETCH);
    if (has_slot && !take_slot(q, e, slot)) {
        return;
    }
    uint32_t entry = (uint32_t)e->entry;
    uint32_t size = cq_entry_size(q, entry);
    uint64_t given = (e->has & NOCAP_F_SIZE) != 0 ? e->size : 0;
    struct cq_publish p = {
        .entry = entry,
        .record = {.slot = slot,
                   .slot_known = has_slot,
                   .addr = (uint32_t)e->addr,
                   .addr_known = has_addr},
        .bytes = e->data,
        .known = e->data_size < CQ_HEAD ? e->data_size : CQ_HEAD,
        .given = given < UINT32_MAX ? (uint32_t)given : 0,
        .whole = true,
        .since = h->cursor.since,
    };
    cq_blame(&p.since, h->slot.since);
    if (has_addr && h->cursor.known) {
        uint32_t real = given != 0 ? (uint32_t)given : size;
        p.moved = p.record.addr != place_whole(&q->places.issue, h->cursor.v, real);
    }
    if (q->sees_sysmem && has_addr) { /* its bytes were written before, as accesses */
        struct cq_gathered g = cq_span_gather(q, p.record.addr, size);
        if (h->cursor.known && seen) { /* and not before the trace began */
            judge_written(q, &p, &g, size);
        }
    }
    cq_publish(q, &p);
}
