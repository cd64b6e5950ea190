/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher takes entries from its queue and reads their records over PCIe. Rules CQ-025 to
 * CQ-034, as far as they are the prefetcher's; cq_prefetch_core.c has the rest. */
#include <string.h>

#include "replay/cq/cq_private.h"

#define NO_SLOT UINT32_MAX

void cq_prefetch_init(struct cq *q, bool origin)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool dones = p->dones_seen, sents = p->sents_seen;
    memset(p, 0, sizeof *p);
    p->dones_seen = dones;
    p->sents_seen = sents;
    p->synced = origin;
    cq_relay_from(q, origin ? 0 : NO_INDEX);
    p->stalled = NO_INDEX;
    p->fetch.record = NO_INDEX;
    if (origin) {
        value_set(&p->slot, 0);
        value_set(&p->fence, q->numbers->cmddat);
    }
}

/* The record is read next: those of the entry after it follow. */
static uint64_t take_record(struct cq *q, uint64_t number)
{
    q->prefetcher.next = cq_entry_after(q, number);
    return number;
}

/* Whether a prefetcher whose addresses are not the host's goes on from where it was. */
static bool goes_apart(const struct cq *q, uint32_t addr, uint32_t size)
{
    const struct value *next = &q->prefetcher.addr;
    return next->known && (next->v == addr || place_whole(&q->places.issue, next->v, size) == addr);
}

/* Whether the first packet of a read of the record has so many bytes. */
static bool begins_with(const struct cq *q, const struct cq_record *r, uint32_t size)
{
    return r != NULL && r->sized &&
           size == (r->size < q->numbers->burst ? r->size : q->numbers->burst);
}

/* Which record the read of `size` bytes at `addr` is of; `slot`: the one that was read before,
 * NO_SLOT: not known. On a trace that was attached mid-run the first ones may be of records that
 * were published before. */
static uint64_t record_at(struct cq *q, uint32_t addr, uint32_t size, uint32_t slot)
{
    struct cq_prefetcher *p = &q->prefetcher;
    slot = q->places.slots.units > 1 ? slot : NO_SLOT; /* the only one tells nothing */
    if (p->synced) {
        const struct cq_record *r = cq_record(q, p->next);
        bool in_turn = r == NULL || (r->slot_known && r->slot == slot);
        if (!in_turn && slot == NO_SLOT) {
            const uint64_t n = cq_find_unread(q, addr, slot);
            in_turn = goes_apart(q, addr, r->size) ||
                      (begins_with(q, r, size) && !begins_with(q, cq_record(q, n), size));
        }
        if (!in_turn && (r->addr_known ? r->addr != addr : r->slot_known && slot != NO_SLOT)) {
            uint64_t n = cq_find_unread(q, addr, slot);
            p->fence.known = p->fence.known && n == NO_INDEX;
            for (; n != NO_INDEX && p->next < n && !r->addr_known; r = cq_record(q, p->next)) {
                q->records[p->next++ % CQ_RECORDS].silent = true; /* no command was there */
            }
            p->next = n == NO_INDEX ? p->next : n;
        }
        return p->next < q->published ? take_record(q, p->next) : NO_INDEX;
    }
    uint64_t from = q->published > CQ_RECORDS ? q->published - CQ_RECORDS : 0;
    for (uint64_t n = from; n < q->published; n++) {
        const struct cq_record *r = cq_record(q, n);
        if (r->addr_known && r->addr == addr && r->part == 0) {
            p->synced = true;
            p->landed = n;
            return take_record(q, n);
        }
    }
    return NO_INDEX;
}

/* No more reads at a time than it makes; whether the last one is still in flight. */
static bool judge_in_flight(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    const uint32_t most = q->numbers->reads_in_flight;
    bool flying = cq_in_flight(f, p->landed);
    bool pending = (p->landed_seen || p->dones_seen) && flying;
    uint64_t oldest = p->flight_count > 0 ? p->flights[0].record : f->record;
    if (!f->any || !p->synced) {
        return flying;
    }
    bool right = !pending || p->flight_count + 1 < most;
    CQ_FETCHER_AFTER(q, CQ_033, cq_read_since(q, oldest), right, RELATED(f->index),
                     "no more PCIe reads at a time than the prefetcher makes",
                     most > 1 ? "PCIe read issued while %u before it have not landed"
                              : "PCIe read issued before the previous one has landed",
                     p->flight_count + 1);
    if (right) {
        return flying;
    }
    cq_prefetch_arrived(q, oldest, q->m->fault);
    return cq_in_flight(f, p->landed);
}

static void judge_place(struct cq *q, const struct cq_record *r, uint32_t addr)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool there = addr == r->addr;
    bool deviates = goes_apart(q, addr, r->size);
    fault_id since = r->since;
    if (r->good) {
        CQ_FETCHER_AFTER(q, CQ_027, deviates ? p->addr.since : p->slot.since, there,
                         RELATED(r->at.index), "the prefetch command read where the host put it",
                         "prefetch command read at +0x%x, it lies at +0x%x", addr, r->addr);
        since = p->fetch.since = fault_of(q->m, there);
    }
    bool apart = !there || since != FAULT_NONE; /* from where the host goes on */
    p->addr = (struct value){.known = apart, .since = since, .v = addr + r->size};
}

/* A new read begins. */
static void begin(struct cq *q, uint32_t addr, uint32_t size, uint32_t slot)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    if (judge_in_flight(q) && q->numbers->reads_in_flight > 1) {
        cq_add_flight(p);
    }
    if (f->unit) { /* where the last one landed was not seen */
        value_forget(&p->fence);
    }
    *f = (struct cq_fetch){.any = true,
                           .addr = addr,
                           .got = size,
                           .steps = CQ_STEP_READ,
                           .slot_seen = f->slot_seen,
                           .seq = cq_seq(q->m->event),
                           .index = q->m->event->index};
    bool relayed = cq_relay_next(q, CQ_TO_DISPATCHER) != NO_INDEX;
    f->record = record_at(q, addr, size, slot);
    if (!relayed && !p->open && f->record == p->stalled) {
        cq_relay_from(q, f->record);
    }
    struct cq_record *r = cq_record(q, f->record);
    f->size = r != NULL && r->sized ? r->size : 0;
    if (r != NULL && r->addr_known) {
        judge_place(q, r, addr);
    }
    if (r != NULL) {
        cq_blame(&r->read_since, p->ahead);
    }
    cq_blame(&f->since, r != NULL ? r->read_since : p->ahead);
    p->ahead = FAULT_NONE;
    for (uint64_t n = f->record; r != NULL && n < p->next; n++) {
        q->records[n % CQ_RECORDS].fetched = true;
        cq_report_step(q, NOCAP_RECORD_FETCHED, cq_record(q, n));
    }
}

/* All parts of a read that are not there yet when the next one begins. */
static void judge_whole(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    if (!f->any) {
        return;
    }
    bool sees = q->sees_stores && q->sees[CQ_PREFETCH] && (!p->events_seen || p->steps_shown);
    bool whole = f->size == 0 || f->got == f->size;
    bool steps = !sees || f->steps == CQ_STEPS;
    CQ_FETCHER_AFTER(q, CQ_030, f->since, whole && steps, RELATED(f->index),
                     "a command read whole, its prefetch_q entry zeroed, both read pointers "
                     "written before the next",
                     whole ? "next prefetch_q entry taken before these were written:%s%s%s"
                           : "next prefetch_q entry taken before the last command was read "
                             "whole%s%s%s: %u of %u bytes",
                     !whole || (f->steps & CQ_STEP_ZERO) != 0 ? "" : " entry (0)",
                     !whole || (f->steps & CQ_STEP_SLOT_ECHO) != 0 ? "" : " prefetch_q_rd_ptr",
                     !whole || (f->steps & CQ_STEP_PCIE_ECHO) != 0 ? "" : " prefetch_q_pcie_rd_ptr",
                     f->got, f->size);
    p->late = (struct cq_late){.steps = CQ_STEPS & ~f->steps, .since = q->m->fault};
    if (!whole && f->reads.count == 0) { /* nothing of it is under way */
        cq_prefetch_arrived(q, f->record, q->m->fault);
    }
}

void cq_prefetch_used(struct cq *q, uint64_t number)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    const struct cq_record *r = cq_record(q, number);
    bool there = f->any && r != NULL && f->record == number - r->part && f->reads.count == 0;
    if (there && q->prefetcher.dones_seen && f->size != 0 && f->got < f->size) {
        CQ_FETCHER_ON(q, CQ_030, &f->since, false, RELATED(f->index),
                      "a command read whole before it is used",
                      "prefetch command used when %u of %u bytes were read", f->got, f->size);
        cq_prefetch_arrived(q, f->record, q->m->fault);
    }
}

/* How many bytes before `addr` should have been read first: whole packets that were left out. */
static uint32_t left_out(struct cq *q, uint32_t addr)
{
    const struct cq_fetch *f = &q->prefetcher.fetch;
    const struct cq_record *r = cq_record(q, q->prefetcher.next);
    bool in_turn = r != NULL && (!f->slot_seen || (r->slot_known && r->slot == f->slot));
    bool inside = in_turn && r->good && r->addr_known && addr > r->addr &&
                  addr - r->addr < r->size && (addr - r->addr) % q->numbers->burst == 0;
    return inside ? addr - r->addr : 0;
}

/* The record before the next one that is read, as no slot was read for it: once more, or late. */
static struct cq_record *reads_again(struct cq *q, uint32_t addr)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    struct cq_record *r = cq_record(q, p->next);
    bool sees = q->sees_loads && q->sees[CQ_PREFETCH] && p->slot.known && p->synced;
    if (!sees || p->fetch.slot_seen || (r != NULL && r->addr_known && r->addr == addr)) {
        return NULL;
    }
    const uint64_t first = cq_entries_back(q, p->next, CQ_LEAP);
    for (uint64_t n = p->next; n > first && (r = cq_record(q, n - 1)) != NULL; n--) {
        if (r->part == 0 && r->addr_known && addr - r->addr < r->real) {
            return r;
        }
    }
    return NULL;
}

static void first_packet(struct cq *q, uint32_t addr, uint32_t size, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    judge_whole(q);
    if (p->synced && p->next == q->published && (!f->slot_seen || f->slot == q->host.slot.v)) {
        cq_issue_unseen(q, addr, f->slot_seen ? f->entry : 0);
    }
    uint32_t before = left_out(q, addr);
    begin(q, addr - before, size + before, f->slot_seen ? f->slot : NO_SLOT);
    CQ_FETCHER(q, CQ_030, before == 0, NO_REFS, "a prefetch command read from its first byte on",
               "prefetch command read from +0x%x on, %u bytes after its start", addr, before);
    cq_blame(&f->since, fault_of(q->m, before == 0));
    cq_land_first(q, before, e);
    cq_packet_issued(&f->reads, e);
}

/* The same read as an access and as a `cq` event. */
static void judge_restated(struct cq *q, uint32_t addr, uint32_t other)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    CQ_FETCHER_ON(q, CQ_027, &f->since, addr == other, RELATED(f->index),
                  "the prefetch command read where the host put it",
                  "the same read at +0x%x, and at +0x%x", other, addr);
}

/* The first packet of the read that a `cq` event has shown: what follows shows step by step, too.
 */
static void begin_packets(struct cq *q, uint32_t addr, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    f->addr = f->since != FAULT_NONE ? addr : f->addr; /* of both, the right one */
    judge_restated(q, addr, f->addr);
    f->unit = false;
    f->steps = CQ_STEP_READ;
    f->got = 0;
    p->steps_shown = true;
    bool stores = q->sees_stores && q->sees[CQ_PREFETCH];
    if (p->slot.known && stores && !f->cleared) { /* its entry is to be zeroed yet */
        p->slot.v = place_before(&q->places.slots, p->slot.v);
    }
    cq_land_first(q, 0, e);
}

/* Whether a packet is the next of the read that has begun. */
static bool goes_on(const struct cq *q, uint32_t addr, bool more)
{
    const struct cq_fetch *f = &q->prefetcher.fetch;
    return f->any && f->steps == CQ_STEP_READ && more && addr == f->addr + f->got;
}

/* A packet of the read that has begun, but not the next one, nor the first of the next read. */
static bool out_of_turn(struct cq *q, uint32_t addr, bool more)
{
    const struct cq_fetch *f = &q->prefetcher.fetch;
    const uint32_t part = f->size != 0 ? f->size : f->got;
    const struct cq_record *next = cq_record(q, q->prefetcher.next);
    bool due = !more && next != NULL && next->addr_known && next->addr == addr;
    if (!f->any || f->steps != CQ_STEP_READ || due || addr < f->addr || addr - f->addr >= part) {
        return false;
    }
    CQ_FETCHER_ON(q, CQ_030, &q->prefetcher.fetch.since, false, RELATED(f->index),
                  "one read per prefetch_q entry, packet after packet",
                  "packet of a prefetch command read at +0x%x, +0x%x is next", addr,
                  f->addr + f->got);
    return true;
}

/* A packet of a read that was over, or should have come before. */
static bool read_before(struct cq *q, uint32_t addr)
{
    struct cq_record *r = reads_again(q, addr);
    if (r == NULL) {
        return false;
    }
    CQ_FETCHER_AFTER(q, CQ_030, r->fetched ? FAULT_NONE : r->read_since, false,
                     RELATED(q->prefetcher.fetch.index), "one read per prefetch_q entry",
                     r->fetched ? "prefetch command at +0x%x read a second time"
                                : "prefetch command at +0x%x read late",
                     addr);
    r->fetched = true;
    return true;
}

/* A packet of a PCIe read: the first of an entry, or the next of the same. */
void cq_prefetch_packet(struct cq *q, uint64_t offset, const struct nocap_event *e)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    uint32_t size = (uint32_t)e->size, addr = (uint32_t)offset;
    if (!place_has(&q->places.issue, offset)) {
        return; /* not a record */
    }
    cq_boot_running(q, CQ_PREFETCH);
    q->any = true;
    if (f->unit && (addr == f->addr || cq_seq(e) == f->seq)) {
        begin_packets(q, addr, e);
        addr = f->addr;
    }
    const bool more = f->size != 0 ? f->got < f->size : f->got % q->numbers->burst == 0;
    if (goes_on(q, addr, more)) {
        f->got += size;
        cq_packet_issued(&f->reads, e);
    } else if (out_of_turn(q, addr, more) || read_before(q, addr)) {
        return;
    } else {
        first_packet(q, addr, size, e);
    }
    if (f->size != 0) {
        bool fits = f->got <= f->size && size <= q->numbers->burst;
        CQ_FETCHER_ON(
            q, CQ_030, &f->since, fits, RELATED(f->index),
            "as many bytes read as the prefetch_q entry says, no packet longer than a burst",
            f->got > f->size ? "%u bytes read, the prefetch_q entry says %u"
                             : "%u of %u bytes read with a packet of %u bytes, a burst has %u",
            f->got, f->size, size, q->numbers->burst);
    }
}

void cq_prefetch_sent(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (e->op == NOCAP_OP_READ && p->fetch.index == e->index) {
        cq_blame(&p->fetch.since, q->m->request_fault);
        cq_blame(&p->fence.since, q->m->request_fault);
    }
}

/* A slot was out of turn: so is the read of its record, and the latest records that were not read
 * lack theirs for that. */
static void blame_unread(struct cq *q)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    if (p->slot.since == FAULT_NONE) {
        return;
    }
    const uint64_t first = cq_entries_back(q, p->next, CQ_LEAP);
    for (uint64_t n = first; n < p->next; n = cq_entry_after(q, n)) {
        struct cq_record *r = cq_record(q, n);
        if (r != NULL && (!r->fetched || n == p->fetch.record)) {
            cq_blame(&r->read_since, p->slot.since);
        }
    }
}

void cq_prefetch_take_slot(struct cq *q, uint32_t slot)
{
    struct value *next = &q->prefetcher.slot;
    bool right = value_allows(next, slot);
    if (next->known) {
        bool passed = q->host.slots[next->v] == CQ_SLOT_PASSED; /* as the host did */
        cq_blame(&next->since, passed && !right ? q->host.passed : FAULT_NONE);
        cq_blame(&next->since, cq_other_since(&q->prefetcher.slot_other, slot));
        CQ_FETCHER_AFTER(q, CQ_029, next->since, right, NO_REFS,
                         "prefetch_q entries taken in order",
                         "prefetch_q entry %u taken, entry %u is next", slot, next->v);
        if (!right) {
            resync(&q->prefetcher.slot_other, next->v, q->m->fault);
        }
        cq_resync(q, &next->since, right);
    }
    resync(next, place_after(&q->places.slots, slot, 1), next->since);
}

/* The entry of the next command was zeroed before its read: it is taken with that. */
static bool zeroed_early(struct cq *q, uint32_t slot)
{
    struct value *next = &q->prefetcher.slot;
    const struct cq_record *r = cq_record(q, q->prefetcher.next);
    bool early = r != NULL && r->slot_known && r->slot == slot && r->read_since != FAULT_NONE &&
                 next->known && slot == place_before(&q->places.slots, next->v);
    next->v = early ? slot : next->v;
    return early;
}

void cq_prefetch_restated(struct cq *q, const struct nocap_event *e)
{
    const struct cq_fetch *f = &q->prefetcher.fetch;
    if (f->any && (e->has & NOCAP_F_ADDR) != 0 && e->seq == f->seq) {
        judge_restated(q, (uint32_t)e->addr, f->addr);
    }
}

/* Whether a `cq` event tells a read that was there before; `slot`: NO_SLOT if it says none. */
static bool judge_twice(struct cq *q, const struct nocap_event *e, uint32_t slot)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_fetch *f = &p->fetch;
    const struct cq_record *last = f->any && slot != NO_SLOT ? cq_record(q, f->record) : NULL;
    bool read = last != NULL && last->slot_known && last->slot == slot; /* and not zeroed yet */
    bool before = slot != NO_SLOT && p->slot.known && f->any &&
                  slot == place_before(&q->places.slots, p->slot.v);
    bool twice = (read || before) && ((e->has & NOCAP_F_ADDR) == 0 || e->addr == f->addr);
    CQ_FETCHER_AFTER(q, CQ_030, p->slot.since, !twice, RELATED(f->index),
                     "one read per prefetch_q entry",
                     "command of prefetch_q entry %u read a second time", slot);
    return twice && p->slot.since == FAULT_NONE; /* else the time before it was another's */
}

void cq_prefetch_fetch_event(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    const bool has_slot = (e->has & NOCAP_F_SLOT) != 0, slot_known = p->slot.known;
    const uint32_t slot = has_slot ? (uint32_t)e->slot_index : NO_SLOT;
    const bool cleared = has_slot && zeroed_early(q, slot);
    cq_boot_running(q, CQ_PREFETCH);
    q->any = true;
    if (judge_twice(q, e, slot)) {
        p->steps_shown = false;
        return;
    }
    p->events_seen = true;
    judge_whole(q);
    if (has_slot) {
        if (p->synced && p->next == q->published && slot == q->host.slot.v) {
            cq_issue_unseen(q, (uint32_t)e->addr, (uint32_t)e->size / q->numbers->entry_unit);
        }
        cq_prefetch_take_slot(q, slot);
    }
    begin(q, (uint32_t)e->addr, (uint32_t)e->size, slot);
    blame_unread(q);
    struct cq_record *r = cq_record(q, f->record);
    if (r != NULL && r->size == 0) {
        r->size = (uint32_t)e->size;
    }
    f->steps = CQ_STEPS;
    f->unit = (e->has & NOCAP_F_SEQ) != 0;
    f->cleared = cleared;
    f->first = !slot_known;
    p->steps_shown = false;
    if (f->size != 0 && (e->has & NOCAP_F_SIZE) != 0) {
        CQ_FETCHER_ON(q, CQ_030, &f->since, e->size == f->size, NO_REFS,
                      "as many bytes read as the prefetch_q entry says",
                      "%llu bytes read, the prefetch_q entry says %u", wide(e->size), f->size);
    }
    f->got = f->size;
}
