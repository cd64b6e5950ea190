/* Private to replay: the fast-dispatch command queue, from the host's record to the completion
 * page. Acts of the parties come in through cq.c, whichever way the trace shows them: as accesses
 * and NOC transactions, as `cq` events, or as the host's side alone. What has not been seen is
 * unknown. Source: command-queue fact sheet, sections 3 to 5. */
#ifndef NOCAP_REPLAY_CQ_H
#define NOCAP_REPLAY_CQ_H

#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"
#include "replay/cq_tiles.h"
#include "replay/tile.h"

enum {
    CQ_RECORDS = 4096,  /* of which this many are remembered */
    CQ_HEAD = 4096,     /* bytes of a record that are looked at */
    CQ_SPANS = 8192,    /* host writes to the issue region not yet published */
    CQ_SCAN = 512,      /* of which so many are looked through for a record */
    CQ_ARENA = 1 << 22, /* bytes of their heads */
    CQ_WRITES = 256,    /* NOC writes of a command-queue core that may be under way */
    CQ_EVENTS = 4096,   /* host events under way */
    CQ_RELEASES = 8,    /* latest credits of the dispatcher */
    CQ_CHIPS = 64,      /* whose queues are followed */
    CQ_LEAP = 8,        /* steps left out, after which a party is still found again */
};

enum cq_core { CQ_PREFETCH, CQ_DISPATCH, CQ_CORES };

/* What a counter must be next. After a fault both the old line and the observed one are taken. */
struct cq_next {
    bool known, has_other;
    uint32_t value, other;
};

/* What the later stages need of a dispatch command. */
struct cq_brief {
    bool known;
    uint8_t id, flags;
    uint16_t stream;
    uint32_t count, event_id;
    bool has_event_id;
    bool faulty;    /* as its record says it, it cannot be executed */
    bool told;      /* it breaks the order of a launch: what follows from that is no other fault */
    bool unproven;  /* SEND_GO: no barrier behind a multicast that it depends on */
    bool unaligned; /* it writes where no write may go */
    struct moment at; /* its record */
};

struct cq_record {
    struct moment at;
    uint32_t addr, size, length, pages; /* sysmem offset, entry * 16, relayed bytes, their pages */
    uint32_t real;                      /* bytes that the host wrote for it */
    uint16_t slot;
    bool addr_known, slot_known;
    bool good;      /* whole and consistent: the device can be measured by it */
    bool sized;     /* `size` bytes are read: it is good, or nobody saw its bytes */
    bool late;      /* published before its bytes were written */
    bool misplaced; /* not where records may lie */
    bool fetched, landed;
    bool told_read; /* its read is not there, or incomplete: that was told */
    uint32_t l1;    /* where it lands */
    bool l1_known;
    struct cq_brief brief;
};

/* A host write to the issue region. */
struct cq_span {
    uint32_t addr, size, known;
    uint64_t start; /* of its head, counted from the first byte that the arena ever held */
    uint64_t index;
    bool taken;
};

struct cq_host {
    struct cq_next slot;                 /* next slot that the host fills */
    struct cq_next cursor;               /* sysmem offset of the next record */
    uint8_t slots[NOCAP_CQ_QUEUE_SLOTS]; /* enum cq_slot */
    struct cq_span *spans;
    uint64_t span_first, span_count;
    bool spans_lost;
    bool astray; /* a write went where it must not, as was told: a record may lack its bytes */
    uint8_t *arena;
    uint64_t arena_used;
    uint8_t head[CQ_HEAD]; /* of the record being looked at */
};
/* PASSED: it was told that nobody filled it; the store to it may still come. */
enum cq_slot { CQ_SLOT_UNKNOWN, CQ_SLOT_FREE, CQ_SLOT_FILLED, CQ_SLOT_CLEARED, CQ_SLOT_PASSED };

/* The prefetcher's read of one entry. */
enum cq_step { CQ_STEP_READ = 1, CQ_STEP_ZERO = 2, CQ_STEP_SLOT_ECHO = 4, CQ_STEP_PCIE_ECHO = 8 };
enum { CQ_STEPS = 15, CQ_PACKETS = 64 };
struct cq_fetch {
    bool any;
    uint64_t record;          /* number; NO_INDEX: of a record that was not seen */
    uint32_t addr, size, got; /* size 0: not known */
    uint8_t steps, early;     /* enum cq_step; early: of the next read */
    uint8_t ahead;            /* those that came before it began */
    bool told, slot_seen;
    uint32_t slot, entry; /* slot_seen: what the prefetcher found, and where */
    uint32_t l1;
    uint64_t ids[CQ_PACKETS];
    uint32_t id_count, done;
    uint64_t index;
};

struct cq_prefetcher {
    struct cq_next slot; /* next to be consumed */
    uint64_t next;       /* number of the record to be fetched next */
    bool synced;
    struct cq_next addr;  /* after a deviating address */
    uint32_t fence;       /* where the next read lands */
    uint32_t other_fence; /* after one that landed elsewhere: where it would; 0: nowhere else */
    bool fence_known;
    bool dones_seen, landed_seen, sents_seen, events_seen;
    uint64_t landed; /* records before this one have landed */
    struct cq_fetch fetch;
    /* the relay that is not published yet */
    bool open, opened_fresh;
    uint64_t relay; /* number of the record relayed next, or now; NO_INDEX: not known */
    bool astray;    /* the last one relayed had not landed: perhaps it is another one */
    uint32_t at, begin, bytes, pages;
    struct cq_brief brief;
    bool told; /* something is wrong with it: what follows from that is no other fault */
    uint64_t unsent[CQ_PACKETS];
    uint32_t unsent_count;
    uint64_t index;
    bool terminated;
};

struct cq_page {
    uint32_t pages; /* 0: not known that a command begins here */
    struct cq_brief brief;
};

struct cq_write {
    uint64_t id, index;
    uint64_t page; /* pages before the command that made it, counted from the start */
    bool mcast, done;
};

struct cq_ring {
    bool origin;                                      /* counted from the very first page */
    uint64_t acquired, published, consumed, released; /* pages */
    uint64_t counter; /* published, at least what the semaphore has been given */
    uint32_t cursor;  /* where the producer goes on */
    bool cursor_known;
    struct cq_page page[NOCAP_CQ_BUFFER_PAGES];
    bool executing, finished;        /* finished: it was said that the command is over */
    bool ends_told;                  /* the trace says when commands are over */
    uint32_t current, current_pages; /* L1 address of the command that is executed, its pages */
    uint64_t executed_index;
    struct cq_brief brief;
    bool ended;   /* TERMINATE was executed */
    bool skipped; /* a command was not begun, and its pages are not given back yet */
    bool fault;
    uint64_t ahead; /* pages given back too early, as was told */
    /* after a fault: where the next record may lie as well, and the pages of one that was published
       and not relayed in between; UINT32_MAX: nowhere else */
    uint32_t other_cursor, unrelayed;
    uint64_t unexplained; /* pages that are taken for published, as was told, and are not yet */
    struct {
        uint64_t released; /* pages given back by then */
        struct moment at;
        bool told;
    } releases[CQ_RELEASES];
    uint64_t release_count;
};

struct cq_stream {
    bool read;
    uint32_t value;  /* as read last */
    bool fresh;      /* read since the command began */
    bool cleared;    /* and not read since */
    bool settled;    /* the count was 0 at a known moment, and all since is known */
    uint32_t before; /* what it was when it was cleared */
    uint64_t goes;   /* packets since it was known to be 0 */
    uint32_t extra;  /* notifies that nobody asked for, and that were told */
    uint64_t index;
};

struct cq_dispatcher {
    struct cq_stream streams[NOCAP_CQ_STREAMS];
    struct cq_write writes[CQ_WRITES];
    uint64_t write_count;
    bool acks_seen, sents_seen;
};

/* In the order of the records: what a launch is made of. */
struct cq_goes {
    bool early;         /* SEND_GO came before the WAIT that clears */
    bool open;          /* SEND_GO, and no WAIT for notifies since */
    enum known cleared; /* since its last WAIT for notifies */
    bool counts;        /* `owed` is whole */
    uint32_t owed;      /* go words since then */
    uint32_t other;     /* after a wrong count: what would have been right */
    uint64_t index;
};
struct cq_program {
    struct cq_tile_set list;
    uint32_t words;
    enum known listed;
    bool list_fault;
    struct moment list_at;
    struct cq_tile_set messaged, reset, ran, busy;
    bool ran_all; /* `ran` has every tile that ever got a go word */
    bool whole;   /* what was written since the last launch is known */
    bool intruded;
    bool unacked; /* a multicast has no barrier behind it */
    struct cq_tile_set unacked_tiles;
    uint64_t unacked_index;
    uint32_t blob_end;
    struct cq_goes streams[NOCAP_CQ_STREAMS];
    struct cq_next event;
    uint64_t events;     /* host events so far */
    uint64_t terminated; /* index of TERMINATE, NO_INDEX: not yet */
    bool prefetch_terminated, told_terminated;
};

enum cq_init {
    CQ_INIT_ECHOES = 1,
    CQ_INIT_PCIE = 2,
    CQ_INIT_QUEUE = 4,
    CQ_INIT_SEMS = 8,
    CQ_INIT_MESSAGE = 16,
    CQ_INIT_WR = 32,
    CQ_INIT_RD = 64,
};
struct cq_boot {
    enum known running;
    uint8_t done, excused; /* enum cq_init */
    struct moment go;
    bool told;
    bool mode_known; /* of the launch message */
    uint8_t mode;
    uint32_t sem0;
};

struct cq_completion {
    struct cq_next wr;
    uint32_t stored; /* what 0x196D0 holds */
    bool stored_known, stored_new;
    uint32_t rd_read; /* what the dispatcher read from 0x196E0 last */
    bool rd_read_known;
    uint32_t payload_pages; /* since the last push */
    bool payload;
    uint64_t payload_index;
    uint64_t payload_landed, pointer_landed, payloads;
    struct moment pointer_at;
    bool pointer_early, told_value;
    bool owed;         /* the pointer moved on before the page was written */
    bool copied_first; /* the pointer went out before 0x196D0 was stored */
    bool copy_owed;    /* something else went out than was stored */
    bool misled;       /* a wrong pointer went out: the host may read what is not there yet */
    /* the host */
    struct cq_next rd;
    uint32_t seen; /* pointer that the host read */
    bool seen_known, page_read, stored_rd, rd_fault;
    bool told_rd, told_read; /* the store to 0x196E0 is wrong, or the read of the page before it */
    uint32_t stored_rd_value, copied_value;
    uint64_t pages_read;
    /* event ids under way */
    uint32_t ids[CQ_EVENTS];
    uint64_t id_count, device_id, host_id;
    struct cq_page_id {
        bool known;
        uint32_t id;
    } page_id[NOCAP_CQ_COMPLETION_PAGES]; /* as the dispatcher wrote them */
    bool ids_whole;
};

struct cq_timestamps {
    uint32_t
        ready[NOCAP_CQ_TIMESTAMP_SLOTS]; /* events that must be seen before it is read, 0: none */
    uint64_t index[NOCAP_CQ_TIMESTAMP_SLOTS];
    bool any;
};

struct cq_worker {
    uint8_t go, done, notified; /* enum known */
    bool skipped;               /* it went on without a notify: told */
    uint8_t offset;
    uint64_t go_index;
};

enum { CQ_SEQS = 8 };
enum cq_act {
    CQ_ACT_RECORD,
    CQ_ACT_FETCH,
    CQ_ACT_LANDED,
    CQ_ACT_RELAY,
    CQ_ACT_EXEC,
    CQ_ACT_CREDIT,
    CQ_ACTS
};
/* The latest sequence numbers of an act, to know it again when the trace tells it twice. */
struct cq_seen {
    uint64_t seq[CQ_SEQS];
    bool event[CQ_SEQS]; /* told by a `cq` event */
    uint32_t count;
};

struct cq {
    struct model *m;
    struct cq *next; /* of another chip */
    uint16_t chip;
    enum nocap_board like; /* whose tiles it is on, where the header has no board */
    struct nocap_xy at[CQ_CORES];
    uint32_t sem[CQ_CORES]; /* L1 address of semaphore 0 */
    bool sees[CQ_CORES];    /* what the core does is observed */
    bool sees_stores, sees_loads, sees_noc, sees_sysmem, sees_events;
    bool any; /* something of the queue was seen */
    struct cq_seen acts[CQ_ACTS];
    struct cq_record *records;
    uint64_t published; /* records so far */
    struct cq_boot boot[CQ_CORES];
    struct cq_host host;
    struct cq_program program;
    struct cq_prefetcher prefetcher;
    struct cq_ring ring;
    struct cq_dispatcher dispatcher;
    struct cq_completion completion;
    struct cq_timestamps timestamps;
    struct cq_worker workers[CQ_TILES];
    uint64_t stray; /* index of the last device write to the issue region */
    uint64_t stray_addr;
};

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
