/* Private to replay: the fast-dispatch command queue, from the host's record to the completion
 * page. Acts of the parties come in through cq.c, whichever way the trace shows them: as accesses
 * and NOC transactions, as `cq` events, or as the host's side alone. What has not been seen is
 * unknown. Source: command-queue fact sheet, sections 3 to 5. */
#ifndef NOCAP_REPLAY_CQ_H
#define NOCAP_REPLAY_CQ_H

#include "replay/cq_state.h"

/* ---- telling ---- */

static inline struct moment cq_moment(const struct cq *q, uint8_t agent)
{
    struct moment at = now(q->m);
    at.agent = agent;
    return at;
}
static inline const struct tile *cq_tile(struct cq *q, enum cq_core core)
{
    return tile_get(q->m, q->chip, q->at[core]);
}

/* As EXPECT, about a party of the queue. */
#define CQ_HOST(q, RULE, condition, related, expected, ...)                                        \
    EXPECT_AT((q)->m, NULL, RULE, condition, cq_moment(q, NOCAP_BY_HOST), related, expected,       \
              __VA_ARGS__)
#define CQ_FETCHER(q, RULE, condition, related, expected, ...)                                     \
    EXPECT_AT((q)->m, cq_tile(q, CQ_PREFETCH), RULE, condition, cq_moment(q, NOCAP_BY_PREFETCH),   \
              related, expected, __VA_ARGS__)
#define CQ_EXECUTOR(q, RULE, condition, related, expected, ...)                                    \
    EXPECT_AT((q)->m, cq_tile(q, CQ_DISPATCH), RULE, condition, cq_moment(q, NOCAP_BY_DISPATCH),   \
              related, expected, __VA_ARGS__)

/* ---- small things ---- */

static inline void cq_next_set(struct cq_next *n, uint32_t value)
{
    *n = (struct cq_next){.known = true, .value = value};
}
static inline bool cq_next_is(const struct cq_next *n, uint32_t value)
{
    return !n->known || value == n->value || (n->has_other && value == n->other);
}
/* After `value` was seen: the line goes on at `after`; where it was not expected, what would have
 * come after the expected one (`otherwise`) is right as well. */
void cq_next_move(struct cq_next *n, uint32_t value, uint32_t after, uint32_t otherwise);

static inline bool cq_same_xy(struct nocap_xy a, struct nocap_xy b)
{
    return a.x == b.x && a.y == b.y;
}
static inline uint32_t cq_pages_of(uint64_t bytes)
{
    return (uint32_t)((bytes + NOCAP_CQ_PAGE - 1) / NOCAP_CQ_PAGE);
}
static inline struct cq_record *cq_record(struct cq *q, uint64_t number)
{
    return number < q->published && q->published - number <= CQ_RECORDS
               ? &q->records[number % CQ_RECORDS]
               : NULL;
}
static inline bool cq_is_worker(const struct cq *q, struct nocap_xy at)
{
    return nocap_is_tensix_tile(q->m->header->board, at) && !cq_same_xy(at, q->at[CQ_PREFETCH]) &&
           !cq_same_xy(at, q->at[CQ_DISPATCH]);
}
/* The completion pointer `pages` pages on, its toggle turned where it wraps. */
static inline uint32_t cq_ptr_advance(uint32_t ptr, uint32_t pages)
{
    uint32_t at = (ptr & ~NOCAP_CQ_TOGGLE) + pages * NOCAP_CQ_PAGE_UNITS;
    uint32_t toggle = ptr & NOCAP_CQ_TOGGLE;
    if (at >= NOCAP_CQ_COMPLETION_LAST) {
        at -= NOCAP_CQ_COMPLETION_UNITS;
        toggle ^= NOCAP_CQ_TOGGLE;
    }
    return at | toggle;
}

/* cq.c */
bool cq_init(struct model *m);
void cq_free(struct model *m);
/* The queue of a chip; NULL: it has none. */
struct cq *cq_of(const struct model *m, uint16_t chip);
/* Before the models of the tiles take the event. */
void cq_event(struct model *m, const struct nocap_event *event);
/* The queue that an event may concern, set up if it is the first of its chip; NULL: none. */
struct cq *cq_get(struct model *m, const struct nocap_event *event);
/* Events were lost: whose, nobody knows. */
void cq_forget(struct model *m);
void cq_finish(struct model *m, bool cut);
/* Everything starts anew: `origin` says that all counters are known to stand at their start. */
void cq_restart(struct cq *q, bool origin);
bool cq_told_twice(struct cq *q, enum cq_act act, const struct nocap_event *event);
struct access cq_access(const struct nocap_event *event, uint64_t addr, uint64_t size);
/* Whether the trace shows what the dispatcher of this chip writes to workers. */
bool cq_dispatcher_seen(const struct model *m, uint16_t chip);
/* Whether the write comes from the queue, so that its own rules judge it. */
bool cq_owns_noc(const struct model *m);
/* Whether a request at `addr` is unaligned because its record says so: that was told. */
bool cq_told_alignment(const struct model *m);
/* Whether this touches what the prefetcher reads from the host: the queue has a rule of its own for
 * that. */
bool cq_owns_landing(const struct model *m, const struct tile *tile, const struct access *a);

/* cq_boot.c: from the first pointer to the GO of the two cores */
void cq_boot_host_store(struct cq *q, enum cq_core core, const struct access *a);
void cq_boot_late(struct cq *q, enum cq_core core, uint8_t late);
void cq_boot_host_sysmem(struct cq *q, const struct access *a);
void cq_boot_running(struct cq *q, enum cq_core core);
/* Whether a store to the read pointer gives back a page, and does not set it up. */
bool cq_boot_done(struct cq *q, uint32_t value);

/* cq_span.c: what the host wrote to the issue region and has not published yet */
struct cq_gathered {
    uint32_t covered; /* bytes from the first on that were written */
    uint32_t known;   /* of which this many are in host.head */
};
void cq_span_remember(struct cq *q, const struct access *a);
/* What the host wrote at `addr`, taken from the writes that no record has used yet. */
struct cq_gathered cq_span_gather(struct cq *q, uint32_t addr, uint32_t size);
/* Whether a write of the host begins here. */
bool cq_span_begins(struct cq *q, uint32_t addr);
/* How long the record is whose bytes begin here; 0: there is none, or not known. */
uint32_t cq_span_record(struct cq *q, uint32_t addr);
/* The write that the host made for an entry of `size` bytes where it did not put it in its place,
 * or where that place is not known. */
bool cq_span_other_place(struct cq *q, uint32_t size, uint32_t *addr);

/* cq_issue.c: the host's side of issue region and prefetch queue */
void cq_issue_init(struct cq *q, bool origin);
void cq_issue_host_write(struct cq *q, const struct access *a);
void cq_issue_slot_read(struct cq *q, const struct access *a);
void cq_issue_slot_store(struct cq *q, const struct access *a, const struct nocap_event *event);
void cq_issue_record(struct cq *q, const struct nocap_event *event);
/* The prefetcher reads at `addr`, and no record is published there; `entry` is what it found in its
 * slot, 0: not seen. If the next record lies there it is published: the store to its slot is what
 * was not seen, which is told. */
void cq_issue_unseen(struct cq *q, uint32_t addr, uint32_t entry);

/* cq_publish.c: a record becomes visible */
struct cq_publish {
    uint32_t entry;
    uint16_t slot;
    bool slot_known;
    uint32_t addr;
    bool addr_known, moved; /* moved: not where the host's own rule puts it */
    bool told;              /* that it is elsewhere, or not there */
    bool late;
    const uint8_t *bytes;  /* the first `known` */
    uint32_t known, given; /* given: how many the host wrote, 0: not known */
};
void cq_publish(struct cq *q, const struct cq_publish *p);
/* The bytes of a record that was published before they were there. */
void cq_publish_late(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known);

/* cq_record.c, cq_write.c: the bytes of a command */
bool cq_judge_record(struct cq *q, const struct nocap_cq_record *record, bool shaped);
bool cq_judge_writes(struct cq *q, const struct nocap_cq_record *record);

/* cq_launch.c: what the commands add up to */
void cq_launch_command(struct cq *q, const struct nocap_cq_record *record, struct cq_brief *brief,
                       bool good);
void cq_launch_forget(struct cq *q);
/* A command that is not known: what was written since the last launch is not known any more. */
void cq_launch_lose(struct cq *q, bool all);
void cq_brief(const struct nocap_cq_command *command, const uint8_t *bytes, size_t size,
              struct cq_brief *brief);
/* Tiles that a write command reaches, each with a callback. */
struct cq_target {
    struct cq_tile_set tiles;
    uint64_t addr, size;
    const uint8_t *payload; /* of the first of them; NULL: not known */
    bool mcast;
};
void cq_each_target(struct cq *q, const struct nocap_cq_record *record,
                    void (*each)(struct cq *, const struct cq_target *, void *), void *context);

/* cq_prefetch.c: reads, landing */
void cq_prefetch_init(struct cq *q, bool origin);
void cq_prefetch_packet(struct cq *q, const struct nocap_event *event);
void cq_prefetch_fetch_event(struct cq *q, const struct nocap_event *event);
void cq_prefetch_landed(struct cq *q);
/* The read of this record has landed, or counts as landed. */
void cq_prefetch_land(struct cq *q, uint64_t number);
void cq_prefetch_done(struct cq *q, uint64_t id);
void cq_prefetch_core(struct cq *q, const struct access *a);

/* cq_relay.c: from the prefetcher into the dispatch buffer */
void cq_relay_piece(struct cq *q, uint64_t addr, uint64_t size, const uint8_t *bytes,
                    uint64_t known, const struct nocap_event *event);
void cq_relay_sent(struct cq *q, uint64_t id);
void cq_relay_publish(struct cq *q, uint32_t value);

/* cq_dispatch_ring.c: pages on the dispatcher's side */
void cq_ring_init(struct cq *q, bool origin);
void cq_ring_exec(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known);
bool cq_ring_read(struct cq *q, const struct access *a);
void cq_ring_credit(struct cq *q, uint32_t value);
void cq_ring_counter(struct cq *q, enum cq_core core, uint32_t value);
void cq_ring_sent(struct cq *q, const struct cq_write *w);
void cq_ring_finish(struct cq *q, bool cut);

/* cq_dispatcher.c: executing commands */
void cq_dispatcher_begin(struct cq *q);
void cq_dispatcher_end(struct cq *q);
void cq_dispatcher_core(struct cq *q, const struct access *a);
void cq_dispatcher_noc(struct cq *q, const struct nocap_event *event);
void cq_dispatcher_phase(struct cq *q, const struct nocap_event *event);
/* A notify too many is on its way to `stream`. */
void cq_dispatcher_extra(struct cq *q, uint64_t stream);

/* cq_worker.c: go words arrive, notifies leave */
void cq_worker_go(struct cq *q, struct nocap_xy at, uint32_t word);
void cq_worker_store(struct cq *q, struct nocap_xy at, const struct access *a);
void cq_worker_noc(struct cq *q, const struct nocap_event *event);
bool cq_worker_missing(const struct cq *q, struct nocap_xy at);

/* cq_completion.c: completion queue, timestamps */
void cq_completion_init(struct cq *q, bool origin);
void cq_completion_payload(struct cq *q, const struct access *a);
void cq_completion_pointer(struct cq *q, const struct access *a);
void cq_completion_core(struct cq *q, const struct access *a);
void cq_completion_dma(struct cq *q, const struct access *a);
void cq_completion_host_store(struct cq *q, uint32_t value);
void cq_completion_host_sysmem(struct cq *q, const struct access *a);
void cq_completion_memory(struct cq *q, const struct access *a);
void cq_completion_sent(struct cq *q, uint32_t id);
/* A record that is not known: it may have been an event, or a timestamp. */
void cq_completion_lose(struct cq *q);
void cq_timestamp_sent(struct cq *q, uint64_t addr);

#endif
