/* SPDX-License-Identifier: Apache-2.0 */
/* The completion pointer where little of the dispatcher is observed: what lands in host memory, or
 * only what the host reads there. Rules CQ-060, CQ-061. */
#include "replay/cq/cq_private.h"

/* Pages from the first to where a pointer points. */
static uint32_t page_of(const struct cq *q, uint32_t ptr)
{
    return ((ptr & ~q->numbers->toggle) - q->first) / q->page_units;
}

static bool is_pointer(const struct cq *q, uint32_t ptr)
{
    uint32_t at = (ptr & ~q->numbers->toggle) - q->first;
    return at % q->page_units == 0 && page_of(q, ptr) < q->places.completion.units;
}

/* Pages from one pointer on to another, over two turns of the ring. */
static uint32_t ptr_distance(const struct cq *q, uint32_t from, uint32_t to)
{
    bool turned = ((from ^ to) & q->numbers->toggle) != 0;
    return place_distance(&q->places.completion, page_of(q, from), page_of(q, to)) +
           (turned != (page_of(q, to) < page_of(q, from)) ? q->places.completion.units : 0);
}

void cq_completion_strayed(struct cq *q, fault_id since)
{
    struct cq_completion *c = &q->completion;
    cq_blame(&c->wr.since, since);
    cq_blame(&c->device.since, since);
}

void cq_pointer_page(struct cq *q, const struct access *a)
{
    struct cq_completion *c = &q->completion;
    uint32_t pages = (a->addr - q->places.completion.base) % q->numbers->page == 0
                         ? cq_pages_of(q, a->size)
                         : 0; /* the rest of one */
    bool due = c->wr.known && is_pointer(q, c->wr.v) &&
               place_index(&q->places.completion, a->addr) == page_of(q, c->wr.v);
    uint32_t late = due ? 0 : pages < c->late_pages ? pages : c->late_pages;
    c->late_pages -= late; /* the pointer came before them */
    c->payload_pages += pages - late;
    c->payload_index = q->m->event->index;
    c->landed_seen = true;
}

void cq_pointer_landed(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    bool next = c->wr.known && value == cq_ptr_advance(q, c->wr.v, 1);
    bool there = c->payload_pages != 0 || !c->landed_seen || !next;
    CQ_EXECUTOR_AFTER(q, CQ_060, c->wr.since, there, NO_REFS,
                      "a page in host memory before the write pointer moves past it", "%s",
                      "completion write pointer arrived in host memory before its page");
    cq_blame(&c->host.since, fault_of(q->m, there)); /* it reads what was there before */
    c->late_pages += there ? 0 : 1;
    cq_completion_moved(q, value);
    c->payload_pages = 0;
}

/* Whether the trace shows every record. */
static bool sees_records(const struct cq *q)
{
    const uint32_t observes = q->m->header->observes;
    const uint32_t accesses = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM;
    return (observes & accesses) == accesses ||
           (observes & (NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_CQ)) != 0;
}

void cq_pointer_shown(struct cq *q, uint32_t value)
{
    struct cq_completion *c = &q->completion;
    if (c->lands || cq_sees_writes(q)) {
        return;
    }
    if (c->shown.known && is_pointer(q, value) && c->ids_whole && sees_records(q)) {
        uint64_t asked = c->id_count - c->pages_shown;
        uint32_t on = ptr_distance(q, c->shown.v, value);
        CQ_EXECUTOR_AFTER(
            q, CQ_061, c->shown.since, on <= asked, NO_REFS,
            "a write pointer that moves on by the pages that were asked for, its "
            "toggle where it wraps",
            "completion write pointer 0x%x after 0x%x is %u pages on, %llu were asked for", value,
            c->shown.v, on, wide(asked));
        if (on <= asked) {
            c->pages_shown += on;
            value_set(&c->shown, value);
        } else { /* it counts on from where it was */
            c->shown.since = q->m->fault;
            cq_blame(&q->host.slot.since, q->m->fault); /* by an entry that was not seen, perhaps */
        }
    } else {
        c->shown.known = false;
    }
}
