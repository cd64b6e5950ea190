/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/engine_private.h"
#include "replay/core/state.h"
#include "replay/cq/cq_private.h"

_Static_assert((int)NOCAP_QUEUE_COUNTERS == (int)CQ_STREAMS, "a counter a stream");

static void fill_counters(const struct cq *q, struct nocap_queue_state *s)
{
    for (unsigned i = 0; i < CQ_STREAMS; i++) {
        const struct cq_stream *stream = &q->dispatcher.streams[i];
        s->counters[i] = (struct nocap_counter_state){
            .read = stream->read, .value = stream->value, .goes = stream->goes};
    }
}

bool nocap_engine_queue_gap(const struct nocap_engine *engine, enum nocap_queue_gap gap,
                            uint64_t *index)
{
    *index = NO_INDEX;
    for (const struct cq *q = cq_first(&engine->model); q != NULL; q = q->next) {
        bool first = q->gaps[gap].any && q->gaps[gap].index < *index;
        *index = first ? q->gaps[gap].index : *index;
    }
    return *index != NO_INDEX;
}

static struct cq *queue_of(const struct nocap_engine *engine, uint32_t number)
{
    struct cq *q = cq_first(&engine->model);
    while (q != NULL && q->number != number) {
        q = q->next;
    }
    return q;
}

uint32_t nocap_engine_queue_count(const struct nocap_engine *engine)
{
    return engine->model.queue_count;
}

void nocap_engine_queue_missing(const struct nocap_engine *engine, struct nocap_queue_state *s)
{
    const struct cq *q = queue_of(engine, s->number);
    for (unsigned i = 0; q != NULL && i < CQ_TILES; i++) {
        const struct cq_worker *w = &q->workers[i];
        if (w->notify_pending && w->offset < CQ_STREAMS) {
            s->counters[w->offset].missing++;
        }
    }
}

/* What the device does shows in its requests or in events of the queue; what the host does not. */
static bool shows_device(const struct cq *q)
{
    return q->prefetcher.events_seen ||
           ((q->m->header->observes & NOCAP_CLASS_NOC) != 0 && q->sees[CQ_PREFETCH]);
}

static bool shows_write_pointer(const struct cq *q)
{
    const uint32_t observes = q->m->header->observes;
    const uint32_t device = NOCAP_CLASS_NOC | NOCAP_CLASS_CORE_STORE;
    return (observes & NOCAP_CLASS_SYSMEM) != 0 || q->completion.wr.v != q->first ||
           ((observes & device) != 0 && q->sees[CQ_DISPATCH]);
}

static bool shows_read_pointer(const struct cq *q)
{
    return (q->m->header->observes & (NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM)) != 0;
}

bool nocap_engine_queue_state(const struct nocap_engine *engine, uint32_t number,
                              struct nocap_queue_state *s)
{
    struct cq *q = queue_of(engine, number);
    if (q == NULL || !q->any) {
        return false;
    }
    const struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_ring *r = &q->ring;
    const struct cq_completion *c = &q->completion;
    const bool device = shows_device(q), taken = shows_read_pointer(q);
    *s = (struct nocap_queue_state){
        .number = number,
        .chip = q->chip,
        .has_prefetch = !nocap_xy_equal(q->at[CQ_PREFETCH], CQ_NOWHERE),
        .has_dispatch = !nocap_xy_equal(q->at[CQ_DISPATCH], CQ_NOWHERE),
        .prefetch = q->at[CQ_PREFETCH],
        .dispatch = q->at[CQ_DISPATCH],
        .slot_known = p->slot.known && device,
        .next_slot = p->slot.v,
        .published = q->published,
        .device_known = device,
        .fetched = p->next,
        .landed = p->landed,
        .relayed = cq_relay_first(q),
        .pages_known = r->origin && device,
        .pages_taken = r->acquired,
        .pages_published = r->published,
        .pages_finished = r->consumed,
        .pages_released = r->released,
        .command = r->brief.known ? nocap_cq_name(NOCAP_CQ_DISPATCH, r->brief.id) : NULL,
        .command_at = r->current,
        .command_index = r->executed_index,
        .ended = r->ended,
        .wr_known = c->wr.known && shows_write_pointer(q),
        .rd_known = c->rd.known && taken,
        .wr = c->wr.v,
        .rd = c->rd.v,
        .events_asked = c->id_count,
        .taken_known = taken,
        .events_returned = c->pages_read,
    };
    fill_counters(q, s);
    return true;
}
