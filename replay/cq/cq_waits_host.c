/* SPDX-License-Identifier: Apache-2.0 */
/* What the host of a queue waits for: a free slot, a completion. */
#include "replay/cq/cq_waits.h"

enum { UNASKED_POLLS = 1000 }; /* a host may look now and then whether anything has come */

const struct poll *cq_host_slot_poll(const struct queue_view *v)
{
    const struct tile *tile = v->tiles[CQ_PREFETCH];
    const struct poll *l =
        tile != NULL ? progress_poll_of(&progress_of(tile)->agents[PROGRESS_HOST]) : NULL;
    bool queue = l != NULL && place_has(&v->q->places.slots, l->addr);
    return queue && l->value != 0 ? l : NULL;
}

/* Where the dispatcher mirrors its write pointer, from the start of host memory on. */
static uint64_t mirror_of(const struct queue_view *v)
{
    return v->q->offset + v->q->numbers->host_wr;
}

const struct poll *cq_host_completion_poll(const struct queue_view *v)
{
    const struct cq_completion *c = &v->q->completion;
    const struct poll *l = progress_poll_of(&trace_of(v->t->m)->memory);
    bool asked = !c->ids_whole || v->pending > 0;
    if (l == NULL || l->addr != mirror_of(v) || (!asked && l->count < UNASKED_POLLS)) {
        return NULL;
    }
    return !c->rd.known || (uint32_t)l->value == c->rd.v ? l : NULL;
}

void cq_tell_host(const struct queue_view *v)
{
    const struct cq_completion *c = &v->q->completion;
    const struct poll *l = cq_host_slot_poll(v);
    if (l != NULL) {
        struct nocap_wait w = wait_begin(v->t, NOCAP_BY_HOST, l->since);
        w.who = wait_party_at(v->t, NOCAP_BY_HOST, v->q->at[CQ_PREFETCH]);
        w.by = cq_party(v, CQ_PREFETCH);
        w.state = "polling";
        w.release = "the prefetcher takes the entry and zeroes it";
        wait_place(&w, l->addr, v->q->numbers->entry_bytes);
        wait_report_as(v->t, &w, "prefetch_q entry %u, which still holds 0x%llx",
                       place_index(&v->q->places.slots, l->addr), wide(l->value));
    }
    l = cq_host_completion_poll(v);
    if (l != NULL && c->ids_whole && v->pending == 0) {
        struct nocap_wait w = wait_begin(v->t, NOCAP_BY_HOST, l->since);
        w.state = "polling";
        w.release = "the host enqueues an event";
        w.in_sysmem = true;
        wait_place(&w, mirror_of(v), 4);
        wait_report_as(v->t, &w,
                       "polls for a completion that it never asked for: it asked for %llu, and "
                       "got as many",
                       wide(c->id_count));
    } else if (l != NULL || v->pending > 0) {
        struct nocap_wait w =
            wait_begin(v->t, NOCAP_BY_HOST, l != NULL ? l->since : wait_at_index(NO_INDEX));
        w.by = cq_party(v, CQ_DISPATCH);
        w.state = l != NULL ? "polling" : "waiting";
        w.release = "the dispatcher writes a completion page and moves the pointer";
        w.counted = c->ids_whole;
        w.have = v->done;
        w.need = c->id_count;
        w.in_sysmem = true;
        wait_place(&w, mirror_of(v), 4);
        wait_report_as(v->t, &w,
                       l != NULL ? "a completion: the write pointer in host memory stays 0x%llx"
                                 : "completions that it asked for",
                       wide(l != NULL ? l->value : 0));
    }
}
