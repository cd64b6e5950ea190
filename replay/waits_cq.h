/* Private to replay: what the parties of the command queue wait for, between its files. */
#ifndef NOCAP_REPLAY_WAITS_CQ_H
#define NOCAP_REPLAY_WAITS_CQ_H

#include "replay/cq.h"
#include "replay/waits_private.h"

/* What the parts of the queue say of each other. */
struct queue_view {
    const struct telling *t;
    struct cq *q;
    const struct tile *tiles[CQ_CORES]; /* NULL: the trace does not touch it */
    bool observed[CQ_CORES];
    bool demand;         /* something that was asked for is not done */
    uint64_t done, owed; /* events that the host asked for */
    uint64_t unfetched, unrelayed;
};

struct nocap_party wait_cq_party(const struct queue_view *v, enum cq_core core);
/* A wait of one of the two cores, for nobody yet. */
struct nocap_wait wait_cq_begin(const struct queue_view *v, enum cq_core core, struct moment since);
/* A moment of which only the event is known. */
struct moment wait_at_index(uint64_t index);
/* What BRISC of the core looks at again and again; NULL: nothing. */
const struct look *wait_cq_looks(const struct queue_view *v, enum cq_core core);

/* waits_cq_prefetch.c. `pages_wanted`: the dispatcher waits for it. */
void wait_cq_prefetcher(const struct queue_view *v, bool pages_wanted);
/* Pages that came back from the dispatcher, as the prefetcher's own semaphore shows them where it
 * looks at it, else as they were sent. */
uint64_t wait_cq_given_back(const struct queue_view *v);
/* Whether the next record needs more pages than are free. */
bool wait_cq_short_of_credits(const struct queue_view *v, uint64_t *have, uint64_t *need);

/* waits_cq_dispatch.c. True: it waits for the prefetcher. */
bool wait_cq_dispatcher(const struct queue_view *v);

#endif
