/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of records that are in flight: where they land, and when they have landed. Rules CQ-030,
 * CQ-033. */
#include <string.h>

#include "replay/cq/cq_private.h"

static void judge_landing_place(struct cq *q, uint32_t l1, uint32_t size)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint32_t want = place_whole(&q->places.landing, p->fence.v, size);
    bool wraps = want != p->fence.v;
    fault_id since = p->fence.since;
    if (p->fence.known && size != 0) {
        uint64_t relay = cq_relay_first(q);
        bool done = !wraps || relay == NO_INDEX || !p->synced || relay >= p->landed;
        bool right = l1 == want && done;
        CQ_FETCHER_AFTER(
            q, CQ_033, since, right, NO_REFS,
            "a read that lands after the last one, at the start again where it does "
            "not fit and all before it is processed",
            l1 != want ? "PCIe read landing at 0x%x, 0x%x is next"
                       : "PCIe read wraps to 0x%x before all commands read earlier are processed",
            l1, want);
        cq_resync(q, &since, right);
    }
    p->fence = (struct value){.known = size != 0, .since = since, .v = l1 + size};
}

void cq_land_first(struct cq *q, uint32_t before, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    bool slot =
        f->slot_seen || f->first || !q->sees_loads || !q->sees[CQ_PREFETCH] || !p->slot.known;
    fault_id since = since_or(p->late.since, f->since); /* too early */
    CQ_FETCHER_AFTER(q, CQ_030, since, slot, NO_REFS,
                     "a prefetch_q entry read before its prefetch command", "%s",
                     "prefetch command read, but no prefetch_q entry other than 0 was read for it");
    f->slot_seen = false;
    p->fence.known = p->fence.known && (e->has & NOCAP_F_DADDR) != 0;
    if ((e->has & NOCAP_F_DADDR) != 0) {
        struct cq_record *r = cq_record(q, f->record);
        f->l1 = (uint32_t)e->daddr - before;
        judge_landing_place(q, f->l1, r != NULL && !r->good ? 0 : f->size);
        if (r != NULL) {
            r->l1 = f->l1;
            r->l1_known = true;
            cq_blame(&r->read_since, q->prefetcher.fence.since);
        }
    }
}

bool cq_in_flight(const struct cq_fetch *f, uint64_t landed)
{
    return f->any && !f->landed && f->record != NO_INDEX && landed <= f->record;
}

void cq_add_flight(struct cq_prefetcher *p)
{
    const struct cq_fetch *f = &p->fetch;
    if (p->flight_count == CQ_FLIGHTS) { /* reported already: the oldest is followed no longer */
        memmove(p->flights, p->flights + 1, --p->flight_count * sizeof p->flights[0]);
    }
    p->flights[p->flight_count++] =
        (struct cq_flight){.record = f->record,
                           .reads = f->reads,
                           .whole = f->size == 0 || f->since != FAULT_NONE || f->got >= f->size};
}

/* The read of a record has landed; those before it have, unless they are in flight still. */
static void land(struct cq *q, uint64_t record)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint64_t before = cq_entry_after(q, record);
    const struct cq_record *r;
    for (uint64_t n = record; n < before && cq_record(q, n) != NULL; n++) {
        cq_record(q, n)->landed = true;
        cq_report_step(q, NOCAP_RECORD_LANDED, cq_record(q, n));
    }
    for (uint32_t i = 0; i < p->flight_count; i++) {
        before = p->flights[i].record < before ? p->flights[i].record : before;
    }
    while (before < p->next && (r = cq_record(q, before)) != NULL && r->landed) {
        before++;
    }
    p->landed = before > p->landed ? before : p->landed;
}

static void land_flight(struct cq *q, uint32_t i)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint64_t record = p->flights[i].record;
    p->flight_count--;
    memmove(p->flights + i, p->flights + i + 1, (p->flight_count - i) * sizeof p->flights[0]);
    land(q, record);
}

static void land_latest(struct cq *q)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    if (cq_in_flight(f, q->prefetcher.landed)) {
        f->landed = true;
        land(q, f->record);
    }
}

/* Whether the event tells of the read of this record. */
static bool is_of(struct cq *q, uint64_t record, const struct nocap_event *e)
{
    const struct cq_record *r = cq_record(q, record);
    bool there = r != NULL && r->addr_known && (e->has & NOCAP_F_ADDR) != 0 && r->addr == e->addr;
    return (e->has & NOCAP_F_SLOT) == 0 || r == NULL || !r->slot_known || there ||
           r->slot == e->slot_index;
}

/* A read has landed: the oldest, unless the trace says which. */
void cq_prefetch_landed(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint32_t i = 0;
    p->landed_seen = true;
    while (i < p->flight_count && !is_of(q, p->flights[i].record, e)) {
        i++;
    }
    if (i < p->flight_count) {
        land_flight(q, i);
    } else if (is_of(q, p->fetch.record, e)) {
        land_latest(q);
    }
}

fault_id cq_read_since(struct cq *q, uint64_t number)
{
    const struct cq_record *r = cq_record(q, number);
    const struct cq_record *head = r != NULL ? cq_record(q, number - r->part) : NULL;
    return r == NULL                                     ? FAULT_NONE
           : head == NULL || r->read_since != FAULT_NONE ? r->read_since
                                                         : head->read_since;
}

void cq_prefetch_arrived(struct cq *q, uint64_t number, fault_id since)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_record *r = cq_record(q, number);
    struct cq_record *head = r != NULL ? cq_record(q, number - r->part) : NULL;
    if (head == NULL || !head->fetched) {
        return;
    }
    cq_blame(&head->read_since, since);
    for (uint32_t i = 0; i < p->flight_count; i++) {
        if (p->flights[i].record == number - r->part) {
            land_flight(q, i);
            return;
        }
    }
    if (p->fetch.record == number - r->part) {
        land_latest(q);
    }
}

void cq_prefetch_done(struct cq *q, uint64_t id)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    for (uint32_t i = 0; i < p->flight_count; i++) {
        struct cq_flight *flight = &p->flights[i];
        if (cq_packet_over(&flight->reads, id)) {
            p->dones_seen = true;
            if (flight->reads.count == 0 && flight->whole) {
                land_flight(q, i);
            }
            return;
        }
    }
    if (cq_packet_over(&f->reads, id)) {
        p->dones_seen = true;
        bool whole = f->size == 0 || f->since != FAULT_NONE || f->got >= f->size;
        if (f->reads.count == 0 && whole) {
            land_latest(q);
        }
    }
}
