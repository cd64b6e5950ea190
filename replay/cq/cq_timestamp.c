/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps that the dispatcher writes and the host reads. Rule CQ-067. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_timestamps_forget(struct cq *q)
{
    memset(q->timestamps.slots, 0, q->places.stamps.units * sizeof *q->timestamps.slots);
    q->timestamps.any = false;
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

void cq_timestamp_read(struct cq *q, uint64_t addr)
{
    struct cq_timestamps *t = &q->timestamps;
    uint32_t slot = place_index(&q->places.stamps, addr);
    uint32_t seen = (uint32_t)q->completion.pages_read + q->completion.page_read;
    const uint32_t pages = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    if (t->slots[slot].ready == 0 || (q->m->header->observes & pages) != pages) {
        return; /* of before the trace, or it is not seen which pages the host has read */
    }
    CQ_HOST_AFTER(q, CQ_067, q->completion.rd.since, seen >= t->slots[slot].ready,
                  RELATED(t->slots[slot].index), "a timestamp read after the event that follows it",
                  "timestamp slot %u read when %u events had been seen, %u must be", slot, seen,
                  t->slots[slot].ready);
    t->slots[slot].ready = 0;
}
