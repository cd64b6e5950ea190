/* Private to replay: what is known of a command queue, a part of it for each of its parties. */
#ifndef NOCAP_REPLAY_CQ_STATE_H
#define NOCAP_REPLAY_CQ_STATE_H

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

#endif
