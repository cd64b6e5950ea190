/* The prefetcher takes entries from its queue and reads their records over PCIe. Rules CQ-025 to
 * CQ-034, as far as they are the prefetcher's. */
#include <string.h>

#include "replay/cq.h"

enum { NO_SLOT = NOCAP_CQ_QUEUE_SLOTS };

void cq_prefetch_init(struct cq *q, bool origin)
{
    struct cq_prefetcher *p = &q->prefetcher;
    bool dones = p->dones_seen, sents = p->sents_seen;
    memset(p, 0, sizeof *p);
    p->dones_seen = dones;
    p->sents_seen = sents;
    p->synced = origin;
    p->relay = origin ? 0 : NO_INDEX;
    p->fetch.record = NO_INDEX;
    if (origin) {
        cq_next_set(&p->slot, 0);
        p->fence = NOCAP_CQ_CMDDAT;
        p->fence_known = true;
    }
}

/* The number of a record near the next one that lies at `addr` and was not read there; NO_INDEX:
 * none does. */
static uint64_t find_by_address(struct cq *q, uint32_t addr)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *r;
    for (uint64_t n = p->next + 1; n < q->published && n - p->next <= CQ_LEAP; n++) {
        r = cq_record(q, n);
        if (r != NULL && r->addr_known && r->addr == addr) {
            return n; /* reads before it were left out */
        }
    }
    for (uint64_t n = p->next; n > 0 && p->next - n < CQ_LEAP; n--) {
        r = cq_record(q, n - 1);
        if (r != NULL && r->addr_known && r->addr == addr && !r->fetched) {
            return n - 1; /* those behind it were read somewhere else */
        }
    }
    return NO_INDEX;
}

static uint64_t find_by_slot(struct cq *q, uint32_t slot)
{
    const struct cq_prefetcher *p = &q->prefetcher;
    for (uint64_t n = p->next + 1; n < q->published && n - p->next <= CQ_LEAP; n++) {
        const struct cq_record *r = cq_record(q, n);
        if (r != NULL && r->slot_known && r->slot == slot) {
            return n;
        }
    }
    return NO_INDEX;
}

/* Records from the next one on that were not read; `told`: the order of the slots says so. */
static void pass_over(struct cq *q, uint64_t number, bool told)
{
    struct cq_prefetcher *p = &q->prefetcher;
    for (; p->next < number; p->next++) {
        struct cq_record *r = cq_record(q, p->next);
        r->told_read |= told && (p->events_seen || q->sees_stores);
    }
    p->next = number;
}

/* Which record the read at `addr` is of; `slot`: the one that was read before, NO_SLOT: not known.
 * On a trace that was attached mid-run the first ones may be of records that were published
 * before. */
static uint64_t record_at(struct cq *q, uint32_t addr, uint32_t slot)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (p->synced) {
        const struct cq_record *r = cq_record(q, p->next);
        bool in_turn = r == NULL || (r->slot_known && r->slot == slot);
        if (!in_turn && (r->addr_known ? r->addr != addr : r->slot_known && slot != NO_SLOT)) {
            uint64_t n = find_by_address(q, addr);
            n = n == NO_INDEX ? find_by_slot(q, slot) : n;
            p->fence_known = p->fence_known && n == NO_INDEX;
            pass_over(q, n == NO_INDEX ? p->next : n, slot != NO_SLOT);
        }
        return p->next < q->published ? p->next++ : NO_INDEX;
    }
    uint64_t from = q->published > CQ_RECORDS ? q->published - CQ_RECORDS : 0;
    for (uint64_t n = from; n < q->published; n++) {
        const struct cq_record *r = cq_record(q, n);
        if (r->addr_known && r->addr == addr) {
            p->synced = true;
            p->landed = n;
            p->next = n + 1;
            return n;
        }
    }
    return NO_INDEX;
}

static void judge_landing_place(struct cq *q, uint32_t l1, uint32_t size)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint32_t want = p->fence;
    bool wraps = (uint64_t)want + size > NOCAP_CQ_CMDDAT_END;
    want = wraps ? NOCAP_CQ_CMDDAT : want;
    if (p->fence_known && size != 0) {
        bool done = !wraps || p->relay == NO_INDEX || !p->synced || p->relay >= p->landed;
        CQ_FETCHER(
            q, CQ_033, (l1 == want || l1 == p->other_fence) && done, NOTHING,
            "a read that lands behind the last one, at the start again where it does not fit "
            "and all before it is processed",
            "0x%x, 0x%x is next", l1, want);
    }
    p->other_fence = p->fence_known && l1 != want && l1 != p->other_fence ? want + size : 0;
    p->fence = l1 + size;
    p->fence_known = size != 0;
}

void cq_prefetch_land(struct cq *q, uint64_t number)
{
    struct cq_record *r = cq_record(q, number);
    q->prefetcher.landed = number + 1;
    if (r != NULL) {
        r->landed = true;
    }
}

/* A new read begins. */
static void begin(struct cq *q, uint32_t addr, uint32_t size, uint32_t slot)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    bool pending = f->any && (p->landed_seen || p->dones_seen) && f->record != NO_INDEX &&
                   p->landed <= f->record;
    if (f->any && p->synced) {
        CQ_FETCHER(q, CQ_033, !pending, RELATED(f->index), "one PCIe read at a time", "%s",
                   "the one before has not landed");
        if (pending) {
            cq_prefetch_land(q, f->record);
        }
    }
    uint8_t early = f->early;
    *f = (struct cq_fetch){.any = true,
                           .addr = addr,
                           .got = size,
                           .steps = CQ_STEP_READ | early,
                           .ahead = early,
                           .told = early != 0,
                           .slot_seen = f->slot_seen,
                           .index = q->m->event->index};
    f->record = record_at(q, addr, slot);
    const struct cq_record *r = cq_record(q, f->record);
    f->size = r != NULL && r->sized ? r->size : 0;
    if (r != NULL && r->good && r->addr_known) {
        bool deviates = p->addr.known && cq_next_is(&p->addr, addr);
        CQ_FETCHER(q, CQ_027, addr == r->addr || deviates, RELATED(r->at.index),
                   "the record read where the host put it", "+0x%x, it lies at +0x%x", addr,
                   r->addr);
        f->told |= addr != r->addr;
        p->addr = (struct cq_next){.known = addr != r->addr, .value = addr + r->size};
    }
    if (r != NULL && !r->good) {
        p->addr.known = false;
    }
    if (r != NULL) {
        q->records[f->record % CQ_RECORDS].fetched = true;
    }
}

/* All parts of a read that are not there yet when the next one begins. */
static void judge_whole(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    if (!f->any || f->told) {
        return;
    }
    bool sees = q->sees_stores && q->sees[CQ_PREFETCH] && !p->events_seen;
    bool whole = f->size == 0 || f->got == f->size;
    bool steps = !sees || f->steps == CQ_STEPS;
    CQ_FETCHER(q, CQ_030, whole && steps, RELATED(f->index),
               "an entry read whole, its slot zeroed and both echoes written before the next",
               whole ? "steps left out: %s%s%s" : "only a part of it was read%s%s%s",
               !whole || (f->steps & CQ_STEP_ZERO) != 0 ? "" : " slot",
               !whole || (f->steps & CQ_STEP_SLOT_ECHO) != 0 ? "" : " 0x196C0",
               !whole || (f->steps & CQ_STEP_PCIE_ECHO) != 0 ? "" : " 0x196C4");
}

static void take_id(struct cq_fetch *f, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_ID) != 0 && f->id_count < CQ_PACKETS) {
        f->ids[f->id_count++] = e->id;
    }
}

/* A packet of the read that is under way, but not the next one. */
static void stray_packet(struct cq *q, uint32_t addr, uint32_t size, const struct nocap_event *e)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    uint32_t end = addr - f->addr + size;
    if (!f->told) {
        CQ_FETCHER(q, CQ_030, false, RELATED(f->index), "one read an entry, packet behind packet",
                   "+0x%x, +0x%x is next", addr, f->addr + f->got);
    }
    f->told = true;
    if (end > f->got) {
        f->got = end;
        take_id(f, e);
    }
}

/* How many bytes before `addr` should have been read first: whole packets that were left out. */
static uint32_t left_out(struct cq *q, uint32_t addr)
{
    const struct cq_fetch *f = &q->prefetcher.fetch;
    const struct cq_record *r = cq_record(q, q->prefetcher.next);
    bool in_turn = f->slot_seen && r != NULL && r->slot_known && r->slot == f->slot;
    bool inside = in_turn && r->good && r->addr_known && addr > r->addr &&
                  addr - r->addr < r->size && (addr - r->addr) % NOCAP_CQ_BURST == 0;
    return inside ? addr - r->addr : 0;
}

static void first_packet(struct cq *q, uint32_t addr, uint32_t size, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    judge_whole(q);
    bool slot = f->slot_seen || !q->sees_loads || !q->sees[CQ_PREFETCH] || !p->slot.known;
    if (p->synced && p->next == q->published && (!f->slot_seen || f->slot == q->host.slot.value)) {
        cq_issue_unseen(q, addr, f->slot_seen ? f->entry : 0);
    }
    uint32_t before = left_out(q, addr);
    begin(q, addr - before, size + before, f->slot_seen ? f->slot : NO_SLOT);
    CQ_FETCHER(q, CQ_030, before == 0, NOTHING, "an entry read from its first byte on",
               "+0x%x, %u bytes behind it", addr, before);
    f->told |= before != 0;
    CQ_FETCHER(q, CQ_030, slot, NOTHING, "a slot read before its record", "%s",
               "no read of a slot that is not 0");
    f->slot_seen = false;
    take_id(f, e);
    if ((e->has & NOCAP_F_DADDR) != 0) {
        struct cq_record *r = cq_record(q, f->record);
        f->l1 = (uint32_t)e->daddr - before;
        judge_landing_place(q, f->l1, r != NULL && !r->good ? 0 : f->size);
        if (r != NULL) {
            r->l1 = f->l1;
            r->l1_known = true;
        }
    }
}

/* A packet of a PCIe read: the first of an entry, or the next of the same. */
void cq_prefetch_packet(struct cq *q, const struct nocap_event *e)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    uint64_t base = q->m->header->cq.has_sysmem ? q->m->header->cq.sysmem : NOCAP_CQ_SYSMEM_BASE;
    uint64_t offset = (e->saddr & ~NOCAP_CQ_PCIE_ADDRESS_BIT) - base;
    uint32_t size = (uint32_t)e->size, addr = (uint32_t)offset;
    if (offset < NOCAP_CQ_ISSUE || offset >= NOCAP_CQ_ISSUE_END) {
        return; /* not a record */
    }
    cq_boot_running(q, CQ_PREFETCH);
    q->any = true;
    bool reads = f->any && (f->steps & ~f->ahead & ~CQ_STEP_READ) == 0;
    bool more = f->size != 0 ? f->got < f->size : f->got % NOCAP_CQ_BURST == 0;
    bool goes_on = reads && more && addr == f->addr + f->got;
    uint32_t part = f->size != 0 ? f->size : f->got;
    if ((reads || f->told) && !goes_on && addr >= f->addr && addr - f->addr < part) {
        stray_packet(q, addr, size, e);
        return;
    }
    if (goes_on) {
        f->got += size;
        take_id(f, e);
    } else {
        first_packet(q, addr, size, e);
    }
    if (f->size != 0 && !f->told) {
        bool fits = f->got <= f->size && size <= NOCAP_CQ_BURST;
        CQ_FETCHER(q, CQ_030, fits, RELATED(f->index),
                   "as many bytes read as the entry says, at most 16384 a packet",
                   "%u, the entry has %u", f->got, f->size);
        f->told = !fits;
    }
}

void cq_prefetch_fetch_event(struct cq *q, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    uint32_t slot = (uint32_t)e->slot_index;
    cq_boot_running(q, CQ_PREFETCH);
    p->events_seen = true;
    q->any = true;
    bool has_slot = (e->has & NOCAP_F_SLOT) != 0;
    bool twice = has_slot && p->slot.known && f->any && !p->slot.has_other &&
                 slot == (p->slot.value + NOCAP_CQ_QUEUE_SLOTS - 1) % NOCAP_CQ_QUEUE_SLOTS;
    CQ_FETCHER(q, CQ_030, !twice, RELATED(f->index), "one read an entry",
               "slot %u for the second time", slot);
    if (twice) {
        return;
    }
    if (has_slot) {
        if (p->slot.known) {
            CQ_FETCHER(q, CQ_029, cq_next_is(&p->slot, slot), NOTHING,
                       "the slots consumed one after the other", "slot %u, slot %u is next", slot,
                       p->slot.value);
        }
        cq_next_move(&p->slot, slot, (slot + 1) % NOCAP_CQ_QUEUE_SLOTS,
                     (p->slot.value + 1) % NOCAP_CQ_QUEUE_SLOTS);
    }
    begin(q, (uint32_t)e->addr, (uint32_t)e->size, has_slot ? slot : NO_SLOT);
    f->steps = CQ_STEPS;
    if (f->size != 0 && (e->has & NOCAP_F_SIZE) != 0) {
        CQ_FETCHER(q, CQ_030, e->size == f->size, NOTHING, "as many bytes read as the entry says",
                   "%llu, the entry has %u", (unsigned long long)e->size, f->size);
        f->got = f->size;
    }
}

void cq_prefetch_landed(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    p->landed_seen = true;
    if (f->any && f->record != NO_INDEX && p->landed <= f->record) {
        cq_prefetch_land(q, f->record);
    }
}

void cq_prefetch_done(struct cq *q, uint64_t id)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    for (uint32_t i = 0; i < f->id_count; i++) {
        if (f->ids[i] == id) {
            q->prefetcher.dones_seen = true;
            f->ids[i] = f->ids[--f->id_count];
            f->done++;
            if (f->id_count == 0 && (f->size == 0 || f->told || f->got >= f->size)) {
                cq_prefetch_landed(q);
            }
            return;
        }
    }
}

/* ---- stores and loads of the prefetch core ---- */

/* One of the steps behind a read; all before it must have been made. */
static bool judge_step(struct cq *q, enum cq_step step, const char *what)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    uint8_t before = (uint8_t)(step - 1);
    if (!f->any && (!q->prefetcher.synced || !q->m->requests)) {
        return false; /* of a read before the trace began, or that it does not show */
    }
    bool part = f->size != 0 && f->got < f->size && (f->steps & CQ_STEP_ZERO) == 0;
    bool right = f->steps == before && !part;
    struct cq_next *slot = &q->prefetcher.slot;
    if (step > CQ_STEP_ZERO && (f->steps & CQ_STEP_ZERO) == 0 && slot->known) {
        slot->has_other = true; /* it goes on all the same */
        slot->other = (slot->value + 1) % NOCAP_CQ_QUEUE_SLOTS;
    }
    if (!f->told) {
        CQ_FETCHER(q, CQ_030, right, RELATED(f->any ? f->index : NO_INDEX),
                   "slot read, record read, slot zeroed, 0x196C0 and 0x196C4 echoed, in this order",
                   "%s %s", what, part ? "while the record is not all read" : "out of its turn");
        f->told = !right;
        struct cq_record *next = cq_record(q, q->prefetcher.next);
        if (!right && step == CQ_STEP_ZERO && f->steps == CQ_STEPS && next != NULL) {
            next->told_read = true; /* its read was left out */
        }
    }
    if ((f->steps & step) != 0 || !f->any) {
        f->early |= (uint8_t)step;
    }
    f->steps |= (uint8_t)step;
    return right;
}

static void zero_slot(struct cq *q, const struct access *a)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint32_t slot = (uint32_t)(a->addr - NOCAP_CQ_QUEUE) / 2;
    uint8_t low = 0, high = 0, *state = &q->host.slots[slot];
    bool known = access_byte(a, a->addr, &low) && access_byte(a, a->addr + 1, &high);
    bool zero = !known || (low | high) == 0;
    bool filled = *state != CQ_SLOT_FREE && *state != CQ_SLOT_CLEARED;
    if (p->slot.known && !filled && (p->fetch.steps & CQ_STEP_ZERO) != 0 &&
        slot == (p->slot.value + NOCAP_CQ_QUEUE_SLOTS - 1) % NOCAP_CQ_QUEUE_SLOTS) {
        CQ_FETCHER(q, CQ_028, false, NOTHING, "a 0 stored to a slot that is not 0",
                   "slot %u is 0 already", slot);
        return;
    }
    if (p->slot.known) {
        bool next = cq_next_is(&p->slot, slot);
        CQ_FETCHER(q, CQ_029, next, NOTHING, "the slots consumed one after the other",
                   "slot %u, slot %u is next", slot, p->slot.value);
        filled = filled || !next || p->slot.has_other;
    }
    CQ_FETCHER(q, CQ_028, zero && filled, NOTHING, "a 0 stored to a slot that is not 0",
               zero ? "slot %u is 0 already" : "slot %u stored with something else", slot);
    judge_step(q, CQ_STEP_ZERO, "the slot zeroed");
    *state = *state == CQ_SLOT_FILLED ? CQ_SLOT_CLEARED : *state;
    cq_next_move(&p->slot, slot, (slot + 1) % NOCAP_CQ_QUEUE_SLOTS,
                 (p->slot.value + 1) % NOCAP_CQ_QUEUE_SLOTS);
}

static void echo_slot(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (judge_step(q, CQ_STEP_SLOT_ECHO, "0x196C0") && p->slot.known) {
        uint32_t last =
            (p->slot.value + NOCAP_CQ_QUEUE_SLOTS - 1) % NOCAP_CQ_QUEUE_SLOTS * 2 + NOCAP_CQ_QUEUE;
        CQ_FETCHER(q, CQ_031, value == last || p->slot.has_other, NOTHING,
                   "the address of the slot just consumed in 0x196C0", "0x%x, it was 0x%x", value,
                   last);
    }
}

static void echo_pcie(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    if (judge_step(q, CQ_STEP_PCIE_ECHO, "0x196C4") && f->any && f->size != 0) {
        uint32_t next = (uint32_t)NOCAP_CQ_SYSMEM_BASE + f->addr + f->size;
        const struct cq_record *r = cq_record(q, f->record);
        uint32_t placed =
            (uint32_t)NOCAP_CQ_SYSMEM_BASE + (r != NULL ? r->addr : f->addr) + f->size;
        CQ_FETCHER(q, CQ_031, value == next || value == placed, RELATED(f->index),
                   "the address behind the record just read in 0x196C4", "0x%x, it is 0x%x", value,
                   next);
    }
}

static void see_slot(struct cq_fetch *f, uint64_t addr, uint32_t entry)
{
    if (entry != 0) {
        f->slot_seen = true;
        f->slot = (uint32_t)(addr - NOCAP_CQ_QUEUE) / 2;
        f->entry = entry;
    }
}

static void judge_parse(struct cq *q, const struct access *a)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_record *r = cq_record(q, p->fetch.record);
    if (r == NULL || !p->dones_seen || !r->l1_known || !touches(a, r->l1, r->size)) {
        return;
    }
    CQ_FETCHER(q, CQ_034, r->landed, RELATED(p->fetch.index), "a command read after it has landed",
               "0x%llx read", (unsigned long long)a->addr);
    if (!r->landed) {
        r->told_read = true;
        cq_prefetch_land(q, p->fetch.record);
    }
}

void cq_prefetch_core(struct cq *q, const struct access *a)
{
    uint32_t value;
    bool queue = a->addr >= NOCAP_CQ_QUEUE && a->addr < NOCAP_CQ_QUEUE_END;
    if (a->addr >= NOCAP_L1_SIZE || a->by != NOCAP_BY_BRISC) {
        return;
    }
    if (!a->store) {
        uint8_t low, high;
        if (queue && access_byte(a, a->addr, &low) && access_byte(a, a->addr + 1, &high)) {
            cq_boot_running(q, CQ_PREFETCH);
            see_slot(&q->prefetcher.fetch, a->addr, low | (uint32_t)high << 8);
        } else if (a->addr >= NOCAP_CQ_CMDDAT && a->addr < NOCAP_CQ_CMDDAT_END) {
            judge_parse(q, a);
        } else if (access_word(a, q->sem[CQ_PREFETCH], &value)) {
            cq_ring_counter(q, CQ_PREFETCH, value);
        }
        return;
    }
    if (q->prefetcher.events_seen) {
        return; /* the steps were told as one */
    }
    if (queue && a->addr % 2 == 0) {
        zero_slot(q, a);
    } else if (access_word(a, NOCAP_CQ_RD_PTR_ECHO, &value)) {
        echo_slot(q, value);
    } else if (access_word(a, NOCAP_CQ_PCIE_PTR_ECHO, &value)) {
        echo_pcie(q, value);
    } else if (touches(a, q->sem[CQ_PREFETCH], 4)) {
        CQ_FETCHER(q, CQ_041, q->boot[CQ_PREFETCH].running != YES, NOTHING,
                   "semaphore 0 never stored to by the prefetcher", "%llu bytes at 0x%llx",
                   (unsigned long long)a->size, (unsigned long long)a->addr);
    }
}
