/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what those who tell of the queue's waits share. */
#ifndef NOCAP_REPLAY_CQ_WAITS_H
#define NOCAP_REPLAY_CQ_WAITS_H

#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"
#include "replay/cq/cq_private.h"

/* What the parts of the queue say of each other. */
struct queue_view {
    const struct wait_builder *t;
    struct cq *q;
    const struct tile *tiles[CQ_CORES]; /* NULL: the trace does not touch it */
    const struct poll *polls[CQ_CORES]; /* what BRISC looks at again and again; NULL: nothing */
    bool observed[CQ_CORES];
    bool demand;         /* something that was asked for is not done */
    bool pages_wanted;   /* the dispatcher waits for the prefetcher, or nobody sees it */
    uint64_t done, owed; /* events that the host asked for */
    uint64_t unfetched, unrelayed;
};

static inline struct nocap_party cq_party(const struct queue_view *v, enum cq_core core)
{
    unsigned agent = core == CQ_PREFETCH ? NOCAP_BY_PREFETCH : NOCAP_BY_DISPATCH;
    return wait_party_at(v->t, agent, v->q->at[core]);
}

static inline void wait_since(struct nocap_wait *w, struct event_ref at)
{
    w->since = at.t;
    w->index = at.index;
}

/* cq_waits_host.c: slots, completions */
/* What the host looks at again and again; NULL: it does not. */
const struct poll *cq_host_slot_poll(const struct queue_view *v);
const struct poll *cq_host_completion_poll(const struct queue_view *v);
void cq_tell_host(const struct queue_view *v);

#endif
