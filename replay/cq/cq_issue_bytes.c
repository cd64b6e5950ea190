/* SPDX-License-Identifier: Apache-2.0 */
/* The host writes to the issue region, where prefetch commands may wait for the device. Rule
 * CQ-025.
 */
#include "replay/cq/cq_private.h"

/* Whether the device may not have read the record yet: its entry was not filled again since. */
static bool may_wait(struct cq *q, uint64_t number)
{
    const uint64_t slots = q->numbers->queue_slots;
    return q->published - number <= slots || cq_count_entries(q, number, q->published) <= slots;
}

struct cq_record *cq_issue_hit(struct cq *q, const struct access *a)
{
    struct cq_record *hit = NULL;
    uint64_t from = q->prefetcher.landed;
    if (q->published - from > CQ_RECORDS) {
        from = q->published - CQ_RECORDS;
    }
    const struct cq_record *first = cq_record(q, from), *last = cq_record(q, q->published - 1);
    if (first == NULL || last == NULL || !first->addr_known || !last->addr_known ||
        (first->addr <= last->addr &&
         !touches(a, first->addr, last->addr + last->real - first->addr))) {
        return NULL;
    }
    for (uint64_t n = from; n < q->published; n++) {
        struct cq_record *r = cq_record(q, n);
        if (r->addr_known && !r->landed && touches(a, r->addr, r->real) && may_wait(q, n)) {
            r->known = 0;
            hit = hit == NULL ? r : hit;
        }
    }
    return hit;
}

/* The write hits the entry that was published last, and since then the host has loaded nothing:
 * it cannot know whether the device has read it, nor was the endpoint seen to. */
static bool unknowing(struct cq *q, const struct access *a)
{
    const uint32_t loads = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    const struct cq_record *last = cq_record(q, cq_entries_back(q, q->published, 1));
    return (q->m->header->observes & loads) == loads && last != NULL && last->addr_known &&
           last->slot_known && q->host.slots[last->slot] == CQ_SLOT_FILLED &&
           last->at.turn > cq_first(q->m)->loaded && touches(a, last->addr, last->real);
}

void cq_issue_host_write(struct cq *q, const struct access *a)
{
    struct value *again = &q->host.rewritten;
    struct cq_record *r = cq_issue_hit(q, a);
    q->any = true;
    cq_span_remember(q, a);
    if (r != NULL && r->unwritten != 0) {
        cq_span_late(q, r, a);
        return;
    }
    fault_id since = r != NULL ? r->since : FAULT_NONE;
    cq_blame(&since, r != NULL && a->addr == again->v ? again->since : FAULT_NONE);
    if (q->prefetcher.landed_seen || q->prefetcher.dones_seen || unknowing(q, a)) {
        CQ_HOST_AFTER(
            q, CQ_025, since, r == NULL, RELATED(r != NULL ? r->at.index : NO_INDEX),
            "a submitted prefetch command not changed until the device's read of it has landed",
            "%llu bytes written at +0x%llx, over a prefetch command that the device has not read "
            "yet",
            wide(a->size), wide(a->addr));
        cq_blame(&q->host.misplaced, fault_of(q->m, r == NULL));
        resync(again, (uint32_t)(a->addr + a->size), fault_of(q->m, r == NULL));
    }
}
