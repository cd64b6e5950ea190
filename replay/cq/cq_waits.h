/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what those who tell of the queue's waits share. */
#ifndef NOCAP_REPLAY_CQ_WAITS_H
#define NOCAP_REPLAY_CQ_WAITS_H

#include <stdio.h>

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
    bool demand;            /* something that was asked for is not done */
    bool overrun;           /* a command comes after the one that ended the dispatcher */
    bool explained;         /* one of the two cores waits, and it is said for what */
    bool relay_stuck;       /* the prefetcher does not go on, and not for the dispatcher's sake */
    bool pages_wanted;      /* the dispatcher waits for the prefetcher, or that is not seen */
    uint64_t done, pending; /* events that the host asked for */
    uint64_t unfetched, unlanded, unrelayed;
    bool relays_known; /* so `unrelayed` is all */
    /* of the subordinate dispatcher: commands of the host that it has not finished, and of these
     * the launches of each stream; what it looks at again and again */
    uint64_t commands;
    unsigned launches[CQ_STREAMS];
    const struct poll *subordinate_poll;
};

/* The next thing that a core waits for: `w` is its wait, for no party yet, `what` has WAIT_TEXT
 * bytes for what it waits for. False: it does not wait for that. */
typedef bool cq_waiting(const struct queue_view *v, struct nocap_wait *w, char *what);
#define WHAT(...) snprintf(what, WAIT_TEXT, __VA_ARGS__)
struct cq_wait_step {
    cq_waiting *waits; /* NULL: the end */
    const char *state, *release;
};

static inline struct nocap_party cq_party(const struct queue_view *v, enum cq_core core)
{
    unsigned agent = core == CQ_PREFETCH ? NOCAP_BY_PREFETCH : NOCAP_BY_DISPATCH;
    return wait_party_at(v->t, agent, v->q->at[core]);
}

static inline struct nocap_party cq_subordinate_party(const struct queue_view *v)
{
    return wait_party_at(v->t, NOCAP_BY_NCRISC, v->q->subordinate_at);
}

static inline bool cq_ends(const struct cq_brief *brief)
{
    return brief->known && brief->id == NOCAP_CQ_DISPATCH_TERMINATE;
}

static inline void wait_since(struct nocap_wait *w, struct event_ref at)
{
    w->since = at.t;
    w->index = at.index;
}

/* What the host did wrong, so that `waiting` waits in vain: whether that stands still tells. */
static inline struct nocap_wait cq_host_error(const struct queue_view *v,
                                              const struct nocap_wait *waiting, struct event_ref at,
                                              const char *release)
{
    struct nocap_wait w = wait_begin(v->t, NOCAP_BY_HOST, at);
    w.state = "in error";
    w.erred = true;
    w.progress = waiting->progress;
    w.release = release;
    return w;
}

/* cq_waits.c: free pages, and those made ready */
/* Pages that came back to the prefetcher, as it sees them. */
uint64_t cq_released_pages(const struct queue_view *v);
/* Whether the next record needs more pages than are free; or, where pages are not counted, whether
 * it looks for more. */
bool cq_short_of_credits(const struct queue_view *v, uint64_t *have, uint64_t *need);
bool cq_looks_for_credits(const struct queue_view *v);
bool cq_looks_for_pages(const struct queue_view *v);
/* Whether the dispatcher is in a command that it began: neither is it said that it is over, nor
 * does the dispatcher look for pages. */
bool cq_in_command(const struct queue_view *v);
/* Whether the dispatcher is through with its command, and pages of a record were passed over. */
bool cq_passed_pages(const struct queue_view *v);

/* cq_waits_dispatcher.c: what it may wait for, the first of which holds */
extern const struct cq_wait_step cq_dispatcher_steps[];
/* The stream at whose count it looks again and again; CQ_STREAMS: none. */
unsigned cq_polled_stream(const struct queue_view *v);

/* cq_waits_workers.c: announcements that a dispatcher waits for */
struct cq_asked {
    unsigned stream; /* from the first one that counts workers */
    const struct cq_brief *command;
    bool own;                /* the subordinate dispatcher waits, which sends the go words */
    const struct poll *poll; /* what the one who waits looks at */
    bool read;               /* it has seen `value` */
    uint32_t value;
    uint64_t index; /* since it executes the command */
};
/* Where announcements are not observed: the workers that are seen to be in a launch, each as one to
 * wait for. Their number. */
unsigned cq_report_at_work(const struct queue_view *v, const struct nocap_wait *base);
bool cq_wants_workers(const struct queue_view *v, const struct cq_asked *asked,
                      struct nocap_wait *w, char *what);

/* cq_waits_subordinate.c: the subordinate dispatcher, and what it waits for from others */
void cq_look_at_subordinate(struct queue_view *v);
void cq_tell_subordinate(const struct queue_view *v);
/* Steps of the prefetcher, and of the dispatcher. */
cq_waiting cq_wants_subordinate_credit, cq_forgot_subordinate_page, cq_forgot_notify;

/* cq_waits_host.c: slots, completions */
/* What the host looks at again and again; NULL: it does not. */
const struct poll *cq_host_slot_poll(const struct queue_view *v);
const struct poll *cq_host_completion_poll(const struct queue_view *v);
void cq_tell_host(const struct queue_view *v);

#endif
