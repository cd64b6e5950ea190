/* SPDX-License-Identifier: Apache-2.0 */
/* Slot stores that restate records: each has both, where the trace shows both. Rules CQ-002,
 * CQ-029. */
#include "replay/cq/cq_private.h"

/* The record of a slot store that restates one did not come. */
void cq_restated_due(struct cq *q)
{
    struct cq_host *h = &q->host;
    if (h->alone.index != NO_INDEX) {
        CHECK_AT(q->m, NULL, CQ_029, false, h->alone, NO_REFS,
                 "prefetch_q entries written in order",
                 "prefetch_q entry %u written, but its command is not in the trace", h->alone_slot);
        resync(&h->restated, place_after(&q->places.slots, h->alone_slot, 1), q->m->fault);
        h->alone.index = NO_INDEX;
    }
}

/* Where others had theirs before the store. */
void cq_restated_alone(struct cq *q, uint16_t slot, const struct nocap_event *e)
{
    struct cq_host *h = &q->host;
    bool records = (q->m->header->observes & (NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ)) != 0;
    if (records && h->restated.known && (e->has & NOCAP_F_SEQ) != 0) {
        h->alone = cq_event_ref(q, NOCAP_BY_HOST);
        h->alone_seq = e->seq;
        h->alone_slot = slot;
    }
}

void cq_restated_late(struct cq *q, const struct nocap_event *e)
{
    struct cq_host *h = &q->host;
    if (h->alone.index != NO_INDEX && h->alone_seq == e->seq) {
        h->alone.index = NO_INDEX;
        h->restated.known = false; /* the order of the two is none that can be relied on */
    }
}

/* The record of this slot, of the latest; NULL: none of them. */
static struct cq_record *record_of_slot(struct cq *q, uint16_t slot)
{
    uint64_t n = q->published;
    for (unsigned back = 0; back < CQ_SEQS; back++) {
        n = cq_entries_back(q, n, 1);
        struct cq_record *r = cq_record(q, n);
        if (r != NULL && r->slot_known && r->slot == slot) {
            return r;
        }
    }
    return NULL;
}

void cq_restated_unfilled(struct cq *q, uint16_t slot)
{
    struct cq_host *h = &q->host;
    const struct cq_record *r = record_of_slot(q, slot);
    if (r != NULL && h->restated.known && h->restated.v == slot) {
        CQ_HOST_AFTER(q, CQ_029, h->slot.since, false, RELATED(r->at.index),
                      "prefetch_q entries written in order",
                      "prefetch_q entry %u, whose command is in the trace, taken but never written",
                      slot);
        h->passed = q->m->fault;
        h->slots[slot] = CQ_SLOT_UNKNOWN;
        resync(&h->restated, place_after(&q->places.slots, slot, 1), h->passed);
    }
}

/* Until the host goes on to something else, the store to a slot may still come, or its record. */
void cq_restated_finish(struct cq *q, bool cut)
{
    struct cq_host *h = &q->host;
    const struct cq_record *last = cq_record(q, cq_entries_back(q, q->published, 1));
    if (cut) {
        return;
    }
    if (h->alone.index != NO_INDEX && h->alone.turn < h->acted) {
        cq_restated_due(q);
    } else if (h->restates && h->restated.known && last != NULL && last->slot_known &&
               last->slot == h->restated.v && last->at.turn < h->acted &&
               last->at.turn > h->restated_turn) {
        FOLLOWING(q->m, h->slot.since,
                  CHECK_AT(q->m, NULL, CQ_029, false, last->at, NO_REFS,
                           "prefetch_q entries written in order",
                           "prefetch_q entry %u, whose command is in the trace, never written",
                           last->slot));
    }
}

/* Stores to slots whose records the trace has, too: those between this one and the latest are
 * missing. */
static void judge_stores(struct cq *q, uint16_t slot)
{
    struct value *next = &q->host.restated;
    bool right = !next->known || next->v == slot;
    if (next->known && !right && place_distance(&q->places.slots, slot, next->v) <= CQ_LEAP) {
        return; /* one that was missing comes after all */
    }
    if (next->known && place_distance(&q->places.slots, next->v, slot) <= CQ_LEAP) {
        bool passed = q->host.slots[next->v] == CQ_SLOT_PASSED;
        fault_id since = passed ? q->host.passed : q->host.slot.since;
        cq_blame(&since, next->since);
        CQ_HOST_AFTER(
            q, CQ_029, since, right, NO_REFS, "prefetch_q entries written in order",
            "prefetch_q entry %u written, but not entry %u, whose command is in the trace", slot,
            next->v);
        q->host.slots[next->v] = right ? q->host.slots[next->v] : CQ_SLOT_PASSED;
        q->host.passed = right ? q->host.passed : q->m->fault;
    }
    value_set(next, place_after(&q->places.slots, slot, 1));
    q->host.restated_turn = q->m->turn;
    q->host.restates = true;
}

/* The store that the trace has as a record already: the device reads what is stored. */
void cq_restated_store(struct cq *q, uint16_t slot, bool known, uint32_t entry)
{
    const struct cq_record *last = cq_record(q, cq_entries_back(q, q->published, 1));
    struct cq_record *r = record_of_slot(q, slot);
    if (last == NULL || !last->slot_known) {
        return;
    }
    bool there = r != NULL;
    const fault_id named = q->host.slot.since; /* the wrong one, by that command */
    CQ_HOST_AFTER(q, CQ_029, named, there, RELATED(last->at.index),
                  "prefetch_q entries written in order",
                  "prefetch_q entry %u written, the last command is of entry %u", slot, last->slot);
    if (there) {
        judge_stores(q, slot);
    } else if (named != FAULT_NONE) {
        value_forget(&q->host.restated);
    } else { /* it was meant for the latest */
        value_set(&q->host.restated, place_after(&q->places.slots, last->slot, 1));
        q->host.slots[last->slot] = CQ_SLOT_UNKNOWN;
    }
    if (there && known && r->entry != 0) { /* 0: of a record that was not seen */
        bool same = entry == r->entry;
        fault_id since = q->host.slot.since;
        cq_blame(&since, r->since);
        CQ_HOST_AFTER(q, CQ_002, since, same, RELATED(r->at.index),
                      "a prefetch_q entry that says the stride",
                      "prefetch_q entry 0x%x stored, that of its command is 0x%x", entry, r->entry);
        cq_blame(&q->host.cursor.since, fault_of(q->m, same));
        r->sized = r->sized && same; /* as many as one of them says */
    }
}
