/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps that dispatcher and worker cores write and the host reads. Rule CQ-067. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_timestamps_forget(struct cq *q)
{
    memset(q->timestamps.slots, 0, 2 * q->places.stamps.units * sizeof *q->timestamps.slots);
    q->timestamps.any = false;
    value_forget(&q->timestamps.early);
}

void cq_timestamp_sent(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    uint32_t slot = place_index(&q->places.stamps, addr);
    uint32_t ready = (uint32_t)q->program.events + 1;
    CQ_HOST(q, CQ_067, t->slots[slot].ready != ready, RELATED(t->slots[slot].index),
            "a timestamp slot used once between two events",
            "timestamp slot %u used a second time before the next event", slot);
    t->any = true;
    t->slots[slot].ready = ready;
    t->slots[slot].index = q->m->event->index;
}

void cq_timing_written(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    if (place_has(&q->places.timings, addr) && q->ring.origin && cq_sees_writes(q)) {
        uint32_t slot = q->places.stamps.units + place_index(&q->places.timings, addr);
        t->any = true;
        t->slots[slot].ready = (uint32_t)q->completion.payloads + 1;
        t->slots[slot].index = q->m->event->index;
    }
}

void cq_timestamp_read(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    const bool core = place_has(&q->places.timings, addr);
    uint32_t slot = core ? q->places.stamps.units + place_index(&q->places.timings, addr)
                         : place_index(&q->places.stamps, addr);
    uint32_t seen = (uint32_t)q->completion.pages_read + q->completion.page_read;
    const uint32_t pages = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    if (t->slots[slot].ready == 0 || (q->m->header->observes & pages) != pages) {
        return; /* of before the trace, or it is not seen which pages the host has read */
    }
    fault_id since = q->completion.rd.since;
    cq_blame(&since, t->slots[slot].ready == t->early.v ? t->early.since : FAULT_NONE);
    const bool right = seen >= t->slots[slot].ready;
    CQ_HOST_AFTER(q, CQ_067, since, right, RELATED(t->slots[slot].index),
                  "a timestamp read after the event that follows it",
                  core ? "core timing slot %u read when %u events had been seen, %u must be"
                       : "timestamp slot %u read when %u events had been seen, %u must be",
                  core ? slot - q->places.stamps.units : slot, seen, t->slots[slot].ready);
    if (!right) {
        resync(&t->early, t->slots[slot].ready, q->m->fault);
    }
    t->slots[slot].ready = 0;
}
