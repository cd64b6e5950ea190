/* SPDX-License-Identifier: Apache-2.0 */
/* Stores and loads of the prefetch core: entries that it zeroes, read pointers that it writes.
 * Rules CQ-028, CQ-030, CQ-031, CQ-034, CQ-041. */
#include "replay/cq/cq_private.h"

/* One of the steps after a read; all before it must have been made. */
static bool judge_step(struct cq *q, enum cq_step step, const char *what)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    struct cq_late *late = &q->prefetcher.late;
    uint8_t before = (uint8_t)(step - 1);
    if (!f->any && (!q->prefetcher.synced || !q->m->requests)) {
        return false; /* of a read before the trace began, or that it does not show */
    }
    bool part = f->size != 0 && f->got < f->size && (f->steps & CQ_STEP_ZERO) == 0;
    bool right = f->steps == before && !part;
    bool earlier = !right && (late->steps & step) != 0; /* of the read before */
    late->steps &= (uint8_t) ~(earlier ? step : 0);
    CQ_FETCHER_ON(
        q, CQ_030, earlier ? &late->since : &f->since, right, RELATED(f->any ? f->index : NO_INDEX),
        "entry read, command read, entry zeroed, both read pointers written, in this order",
        "%s %s", what, part ? "before the prefetch command was read whole" : "out of order");
    if (earlier) {
        return false;
    }
    if (step > CQ_STEP_ZERO && (f->steps & CQ_STEP_ZERO) == 0) {
        cq_blame(&q->prefetcher.slot.since, q->m->fault); /* it goes on all the same */
    }
    struct cq_record *next = q->prefetcher.synced ? cq_record(q, q->prefetcher.next) : NULL;
    if (!right && f->steps == CQ_STEPS) { /* the next read was left out, or comes late */
        cq_blame(next != NULL ? &next->read_since : &q->prefetcher.ahead, f->since);
    }
    f->steps |= (uint8_t)step;
    return right;
}

static void zero_slot(struct cq *q, const struct access *a)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint32_t slot = place_index(&q->places.slots, a->addr);
    uint8_t *state = &q->host.slots[slot];
    uint32_t stored;
    bool zero = !cq_slot_value(q, a, a->addr, &stored) || stored == 0;
    if (*state == CQ_SLOT_FREE) {
        cq_restated_unfilled(q, (uint16_t)slot);
    }
    bool filled = *state != CQ_SLOT_FREE && *state != CQ_SLOT_CLEARED;
    if (p->slot.known && !filled && (p->fetch.steps & CQ_STEP_ZERO) != 0 &&
        slot == place_before(&q->places.slots, p->slot.v)) {
        CQ_FETCHER(q, CQ_028, false, NO_REFS, "a 0 stored to a prefetch_q entry that is not 0",
                   "prefetch_q entry %u zeroed a second time", slot);
        return;
    }
    cq_prefetch_take_slot(q, slot);
    CQ_FETCHER(q, CQ_028, zero && filled, NO_REFS, "a 0 stored to a prefetch_q entry that is not 0",
               zero ? "prefetch_q entry %u zeroed, it is 0 already"
                    : "prefetch_q entry %u written by the prefetcher with a value other than 0",
               slot);
    judge_step(q, CQ_STEP_ZERO, "prefetch_q entry zeroed");
    bool another = p->slot.since != FAULT_NONE; /* which of them it meant is not known */
    *state = another ? CQ_SLOT_UNKNOWN : *state == CQ_SLOT_FILLED ? CQ_SLOT_CLEARED : *state;
}

static void echo_slot(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    if (judge_step(q, CQ_STEP_SLOT_ECHO, "prefetch_q_rd_ptr written") && p->slot.known) {
        uint32_t last = place_address(&q->places.slots, place_before(&q->places.slots, p->slot.v));
        CQ_FETCHER_AFTER(q, CQ_031, p->slot.since, value == last, NO_REFS,
                         "the address of the entry just taken in prefetch_q_rd_ptr",
                         "prefetch_q_rd_ptr written as 0x%x, the entry just taken is at 0x%x",
                         value, last);
    }
}

static void echo_pcie(struct cq *q, uint32_t value)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_fetch *f = &p->fetch;
    if (judge_step(q, CQ_STEP_PCIE_ECHO, "prefetch_q_pcie_rd_ptr written") && f->any &&
        f->size != 0) {
        uint32_t next = (uint32_t)q->sysmem + f->addr + f->size;
        CQ_FETCHER_AFTER(
            q, CQ_031, f->since, value == next, RELATED(f->index),
            "the address after the command just read in prefetch_q_pcie_rd_ptr",
            "prefetch_q_pcie_rd_ptr written as 0x%x, the command just read ends at 0x%x", value,
            next);
    }
}

static void see_slot(struct cq *q, uint64_t addr, uint32_t entry)
{
    struct cq_fetch *f = &q->prefetcher.fetch;
    if (entry != 0) {
        f->slot_seen = true;
        f->slot = place_index(&q->places.slots, addr);
        f->entry = entry;
    }
}

static void judge_parse(struct cq *q, const struct access *a)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_record *r = cq_record(q, p->fetch.record);
    if (r == NULL || !(p->dones_seen || p->landed_seen) || !r->l1_known ||
        !touches(a, r->l1, r->size)) {
        return;
    }
    CQ_FETCHER_AFTER(q, CQ_034, r->read_since, r->landed, RELATED(p->fetch.index),
                     "a prefetch command parsed after it has landed",
                     "prefetch command parsed at 0x%llx before its read has landed", wide(a->addr));
    cq_blame(&r->read_since, fault_of(q->m, r->landed));
}

void cq_prefetch_core(struct cq *q, const struct access *a)
{
    uint32_t value;
    bool queue = place_has(&q->places.slots, a->addr);
    if (!a->store) {
        if (queue && cq_slot_value(q, a, a->addr, &value)) {
            cq_boot_running(q, CQ_PREFETCH);
            see_slot(q, a->addr, value);
        } else if (place_has(&q->places.landing, a->addr)) {
            judge_parse(q, a);
        } else if (access_word(a, q->sem[CQ_PREFETCH], &value)) {
            cq_ring_counter(q, CQ_PREFETCH, value);
        }
        return;
    }
    if (q->prefetcher.events_seen && !q->prefetcher.steps_shown) {
        return; /* the steps are one event */
    }
    if (queue && a->addr % q->numbers->entry_bytes == 0) {
        zero_slot(q, a);
    } else if (access_word(a, q->numbers->rd_ptr_echo, &value)) {
        echo_slot(q, value);
    } else if (access_word(a, q->numbers->pcie_ptr_echo, &value)) {
        echo_pcie(q, value);
    } else if (touches(a, q->sem[CQ_PREFETCH], 4)) {
        CQ_FETCHER(q, CQ_041, q->boot[CQ_PREFETCH].running != YES, NO_REFS,
                   "semaphore 0 never stored to by the prefetcher",
                   "prefetcher stored %llu bytes at 0x%llx, over semaphore 0", wide(a->size),
                   wide(a->addr));
    }
}
