/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what is known of a command queue, a part of it for each of its parties. */
#ifndef NOCAP_REPLAY_CQ_STATE_H
#define NOCAP_REPLAY_CQ_STATE_H

#include "formats/profile/profile.h"
#include "replay/core/state.h"
#include "replay/core/tile.h"
#include "replay/core/value.h"
#include "replay/cq/cq_arena.h"
#include "replay/cq/cq_command.h"
#include "replay/cq/cq_completion.h"
#include "replay/cq/cq_places.h"
#include "replay/cq/cq_tiles.h"

enum {
    CQ_RECORDS = 4096,      /* of which this many are remembered */
    CQ_HEAD = 1 << 15,      /* bytes of a record that are looked at */
    CQ_SPANS = 8192,        /* host writes to the issue region not yet published */
    CQ_SCAN = 512,          /* of which so many are looked through for a record */
    CQ_WRITES = 256,        /* NOC writes of a command-queue core that may be under way */
    CQ_RELEASES = 8,        /* latest credits of the dispatcher */
    CQ_STREAMS = 8,         /* at most; how many, the profile says */
    CQ_ENTRY_CAP = 1 << 30, /* bytes: no entry counts for more */
    CQ_GO_TABLE = 256,      /* words of the go signal table that are followed */
    CQ_POLLS = 16,          /* looks of the dispatcher, before which all that it wrote has left */
    CQ_LEAP = 8,            /* steps left out, after which a party is still found again */
};

enum cq_core { CQ_PREFETCH, CQ_DISPATCH, CQ_CORES };
#define CQ_NOWHERE ((struct nocap_xy){UINT8_MAX, UINT8_MAX})

/* Pages that are counted up, as a request or a `cq` event (`unit`) shows it. */
struct cq_credit {
    bool known, unit;
    struct nocap_xy at;
    uint32_t addr, value;
    uint64_t seq, index;
    fault_id since; /* what is wrong with it */
};

struct cq_record {
    struct event_ref at;
    uint32_t addr, size, length, pages; /* sysmem offset, entry * 16, relayed bytes, their pages */
    uint32_t real;                      /* bytes that the host wrote for it */
    uint32_t unwritten; /* bytes that were not written when it was published: they may come late */
    uint32_t entry;     /* of its slot */
    uint16_t slot;
    bool addr_known, slot_known;
    bool good;      /* whole and consistent: the device can be measured by it */
    bool sized;     /* `size` bytes are read: it is good, or its bytes were not seen */
    fault_id since; /* it lies where it must not */
    bool fetched, landed;
    fault_id read_since; /* its read is not there, or incomplete */
    uint32_t l1;         /* where its entry lands; of the first of an entry */
    bool l1_known;
    bool ends;              /* it ends the prefetcher */
    bool several;           /* commands of its entry follow that are not known */
    bool subordinate;       /* it is for the subordinate dispatcher, whose pages it takes */
    bool silent;            /* the prefetcher executes it: nothing is relayed as a record */
    bool stalls;            /* .. and waits there for the dispatcher */
    bool unsure;            /* what it says is wrong: whether it is relayed is not known */
    bool gathered;          /* bytes from elsewhere follow its own; its pages come in pieces */
    uint32_t part, parts;   /* which of its entry, from 0 on; how many are after it there */
    uint64_t start;         /* of its bytes, counted from the first that was ever kept */
    uint32_t known;         /* so many of them */
    fault_id says_since;    /* what it says was judged, and is wrong */
    fault_id relayed_since; /* what reaches the dispatcher is not what it says */
    struct cq_brief brief;
};

/* A host write to the issue region. */
struct cq_span {
    uint32_t addr, size, known;
    uint64_t start; /* of its head */
    bool taken;
};

struct cq_host {
    struct value slot;       /* next slot that the host fills */
    struct value slot_due;   /* or this, if the latest one alone was wrong */
    struct value slot_other; /* that was next at the latest fault */
    struct value restated;   /* next slot whose store tells of a record that is known already */
    struct value cursor;     /* sysmem offset of the next record */
    struct value cursor_due; /* or this, if the latest one alone lies elsewhere */
    uint8_t *slots;          /* of the queue: enum cq_slot */
    struct cq_span *spans;
    uint64_t span_first, span_count;
    bool spans_lost;
    bool guessed;           /* where the latest record lies, by a write of its size */
    fault_id passed;        /* the latest slots that were passed over */
    struct value rewritten; /* end of the last write over a record: the host may go on there */
    fault_id misplaced;     /* a write that hit another record: perhaps it was meant for the next */
    bool restates;          /* a slot store has restated a record */
    uint64_t restated_turn, acted; /* turns of the latest, and of its latest access */
    /* A slot store that restates a record, which has not come; index NO_INDEX: none. */
    struct event_ref alone;
    uint64_t alone_seq;
    uint16_t alone_slot;
    struct cq_arena heads;
    uint8_t head[CQ_HEAD]; /* of the record being looked at */
};
/* PASSED: over, though it was not filled; the store to it may still come. */
enum cq_slot { CQ_SLOT_UNKNOWN, CQ_SLOT_FREE, CQ_SLOT_FILLED, CQ_SLOT_CLEARED, CQ_SLOT_PASSED };

/* The prefetcher's read of one entry. */
enum cq_step { CQ_STEP_READ = 1, CQ_STEP_ZERO = 2, CQ_STEP_SLOT_ECHO = 4, CQ_STEP_PCIE_ECHO = 8 };
enum { CQ_STEPS = 15, CQ_PACKETS = 64 };
/* Requests under way. */
struct cq_packets {
    uint64_t ids[CQ_PACKETS];
    uint32_t count;
};
struct cq_fetch {
    bool any, landed;
    uint64_t record;          /* number; NO_INDEX: of a record that was not seen */
    uint32_t addr, size, got; /* size 0: not known */
    uint8_t steps;            /* enum cq_step */
    bool unit;                /* shown by a `cq` event, and none of its packets is seen yet */
    bool cleared;             /* .. and its entry was zeroed before */
    bool first;               /* .. the first one: its entry may have been read before the trace */
    fault_id since;           /* what is wrong with it */
    bool slot_seen;
    uint32_t slot, entry; /* slot_seen: what the prefetcher found, and where */
    uint32_t l1;
    struct cq_packets reads;
    uint64_t index, seq; /* of what has begun it; NO_INDEX: it has none */
};

/* A read that was begun before the latest one, and has not landed. */
enum { CQ_FLIGHTS = 16 };
struct cq_flight {
    uint64_t record; /* number */
    struct cq_packets reads;
    bool whole; /* all of its packets were issued */
};

/* The records of which each may be relayed next. */
enum { CQ_TURNS = 63 };
struct cq_turns {
    uint64_t may;   /* bit i: number `from` + i; 0: nothing is known of that */
    uint64_t from;  /* the first of which not all commands are known */
    uint64_t bytes; /* that it, and those after it, have had in the issue region so far */
};

struct cq_prefetcher {
    struct value slot;       /* next to be consumed */
    struct value slot_other; /* .. at the latest fault */
    uint64_t next;           /* number of the record to be fetched next */
    bool synced;
    struct value addr;  /* after a deviating address */
    struct value fence; /* where the next read lands */
    fault_id ahead;     /* of a step that came before it, where its record was not seen */
    struct cq_late {
        uint8_t steps; /* of the read before that were not made, and may come yet */
        fault_id since;
    } late;
    bool dones_seen, landed_seen, sents_seen, events_seen;
    bool steps_shown; /* the read of a `cq` event shows by its accesses, too */
    uint64_t landed;  /* records before this one have landed */
    struct cq_fetch fetch;
    struct cq_flight flights[CQ_FLIGHTS];
    uint32_t flight_count;
    /* the relay that is not published yet */
    bool open;
    bool ready_early; /* .. or was, before its first byte */
    /* Number of the record relayed next, or now, to the dispatcher and to the subordinate one;
     * NO_INDEX: not known. */
    uint64_t relay[2];
    struct cq_turns turns; /* .. after a record of which not all commands are known */
    uint64_t overtaken;    /* the latest that was found not to be relayed in its turn */
    fault_id turn_since;   /* which one it is is known since, after one whose bytes were wrong */
    uint32_t turn_right;   /* and so many after it had as many bytes as they should */
    uint64_t stalled;      /* .. but this one, once it is read */
    uint32_t at, begin, bytes, pages;
    bool rest;              /* the latest may go on at `at`: how long it is was not seen */
    uint32_t handed;        /* of its pages, those published; they come in pieces if bytes from
                               elsewhere follow */
    uint32_t taken;         /* of its pages, those that it has acquired */
    struct value unrelayed; /* pages published without a record; known until one is relayed */
    uint64_t unrelayed_of;  /* the number of the one that should have been relayed */
    struct value skipped;   /* the page of a record that was published and not relayed */
    fault_id forgot;        /* a record that was not published before the next: it may be yet */
    uint32_t forgot_pages, forgot_begin;
    /* Bytes of a record that was published before they were relayed, 0: none; and where that record
     * lies. */
    uint32_t tail, tail_begin, tail_pages;
    struct {
        uint32_t at, left; /* bytes of a `cq` event whose writes are not seen yet */
        uint64_t from;     /* the first of them, of the record's */
        uint64_t seq;
    } unit;
    struct {
        uint64_t seq, addr; /* of the latest write that names what restates it */
    } shown;
    struct cq_brief brief;
    fault_id since; /* what is wrong with it */
    struct cq_packets unsent;
    struct cq_packets early; /* of the latest that was published before any was seen to be sent */
    uint64_t index;
};

struct cq_page {
    uint32_t pages;  /* 0: not known that a command begins here */
    uint64_t first;  /* pages that were published before it */
    uint64_t record; /* its number; NO_INDEX: not known */
    struct cq_brief brief;
};

struct cq_write {
    uint64_t id, index;
    uint64_t page;       /* pages before the command that made it, counted from the start */
    bool mcast, unacked; /* unacked: a multicast without an end */
};

struct cq_ring {
    bool origin;                                      /* counted from the very first page */
    uint64_t acquired, published, consumed, released; /* pages */
    uint64_t counter;                /* published, at least what the semaphore has been given */
    struct value cursor;             /* where the producer goes on */
    struct cq_page *page;            /* of the buffer */
    bool executing, finished;        /* finished: it was said that the command is over */
    bool ends_shown;                 /* the trace says when commands are over */
    uint64_t record;                 /* of the command that is executed; NO_INDEX: not known */
    uint32_t current, current_pages; /* L1 address of the command that is executed, its pages */
    uint64_t executed_index, seq;
    struct cq_brief brief;
    bool ended;              /* TERMINATE was executed */
    fault_id since;          /* where the dispatcher is */
    uint64_t doubted;        /* .. until it begins with a command after so many published pages */
    fault_id counted_since;  /* the counts are known since, and stay so */
    fault_id released_since; /* of pages released */
    struct {
        uint64_t released; /* pages released by then; 0: whatever they held */
        struct event_ref at;
    } releases[CQ_RELEASES];
    uint64_t release_count;
};

/* The rectangle that go words are multicast to, always the same; where one went elsewhere, it or
 * the other is. */
struct cq_grid {
    bool known, tentative;
    struct nocap_cq_rect rect, other;
};

/* The subordinate dispatcher and the prefetcher's relays to it. */
struct cq_subordinate {
    bool origin;                            /* counted from the very first page */
    bool credits, releases, notifies;       /* they are seen where the profile has them */
    bool open;                              /* a record is relayed and not published yet */
    fault_id unrelayed;                     /* of a page that was published and not relayed */
    struct value skipped;                   /* the latest such page */
    bool reads;                             /* it was seen to begin with its present command */
    bool proven;                            /* .. in its turn, and that is the one */
    bool decoded;                           /* `record` is that command's */
    bool started;                           /* a SEND_GO_SIGNAL: it was begun with */
    bool notify_judged;                     /* of its launch: that was judged */
    bool listed;                            /* `table` is known: where go words go */
    uint64_t acquired, published, released; /* pages: each a command */
    struct value cursor, at; /* pages: where the prefetcher goes on; of its present command */
    uint64_t
        *page; /* of the buffer: number of the record that is published there, NO_INDEX: none */
    uint64_t begun; /* index of the latest relay */
    /* what is pending at the end of a trace */
    uint64_t lost, lost_at;   /* pages that were relayed and never published; index of the first */
    uint64_t finished, after; /* commands; number of the record after the latest of them */
    bool after_unknown;       /* which record that was is not known */
    uint64_t executed;        /* index since when it executes its present one */
    uint32_t left_out;        /* go words */
    uint32_t announced[CQ_STREAMS]; /* notifications that the dispatcher executed */
    bool ended;                     /* TERMINATE was executed */
    fault_id since;                 /* where it and the prefetcher are in its pages, until proven */
    fault_id counted_since;         /* the counts of pages are known since, and stay so */
    fault_id kept;                  /* of a page that was not released: it may be yet */
    struct nocap_cq_record record;
    uint32_t words, table[CQ_GO_TABLE];
    struct cq_grid grid;
    uint32_t sent,
        unmatched;    /* go words of the present command, multicasts first; those that are none */
    fault_id missing; /* of one that may come late; none since a command was right */
    fault_id written; /* what was written for the launches that it is notified of is known since */
    uint32_t notified[CQ_STREAMS], launched[CQ_STREAMS]; /* by the dispatcher; by itself */
    uint32_t unknown; /* commands that are not known, each of which may have notified it */
    /* The words by which it is notified: as stored last; as it read them since its latest launch.
     */
    struct value stored[CQ_STREAMS], loaded[CQ_STREAMS];
    uint32_t counts[CQ_STREAMS]; /* as it read them last */
    bool fresh[CQ_STREAMS];      /* since its latest launch */
};

struct cq_stream {
    bool read;
    uint32_t value;  /* as read last */
    fault_id wrong;  /* of that value */
    bool fresh;      /* read since the command began */
    bool cleared;    /* and not read since */
    bool settled;    /* the count was 0 at a known moment, and all since is known */
    uint32_t before; /* what it was when it was cleared */
    uint64_t goes;   /* packets since it was known to be 0 */
    fault_id since;  /* notifies come that no command asked for */
    uint64_t index;
};

struct cq_dispatcher {
    struct cq_stream streams[CQ_STREAMS];
    struct cq_write writes[CQ_WRITES];
    uint64_t write_count;
    uint32_t unacked; /* multicasts among them without an end */
    bool acks_seen;
};

/* Whose writes the dispatcher makes next, and what these must be. */
struct cq_expected {
    bool known;
    struct cq_expected_at {
        uint64_t record; /* number of the command's */
        uint64_t pages;  /* of the commands before it, as cq_ring counts */
        uint32_t target; /* of its targets */
        uint64_t done;   /* bytes of that one that were written */
        bool listed;     /* `table` is known: where go words go */
        uint32_t table[CQ_GO_TABLE];
        struct cq_offsets offsets;
    } at;
    uint64_t polls; /* since the dispatcher began with its present command */
    bool decoded;   /* `command` is that record's */
    uint8_t go_word[NOCAP_GO_WORD_SIZE];
    struct cq_grid all;
    uint32_t unmatched; /* writes that none explains: each may be one that is missing */
    struct cq_missed {  /* the latest that is missing, which may come late */
        fault_id since; /* FAULT_NONE: none */
        struct cq_target target;
    } missed;
    fault_id since;
    fault_id launch, next; /* of the writes for the present launch, and for the one after it */
    struct cq_command command;
};

/* In the order of the records: what a launch is made of. */
struct cq_goes {
    fault_id early;     /* SEND_GO came before the WAIT that clears */
    bool open;          /* SEND_GO, and no WAIT for notifies since */
    enum known cleared; /* since its last WAIT for notifies */
    struct value sent;  /* go words since then */
    /* of a multicast to all workers: how many answer it, as two SEND_GO_SIGNAL in a row tell; the
     * count after the latest, where that is not known */
    struct value answers, after;
    bool tentative; /* `answers` is what one such pair showed: either of the two may be wrong */
    uint64_t index;
};
struct cq_program {
    struct cq_tile_set list;
    uint32_t words, table[CQ_GO_TABLE];
    bool tabled;          /* `table` is known: tiles, and rectangles with their number of tiles */
    fault_id table_since; /* of a rectangle in it */
    enum known listed;    /* .. of which there are tiles alone, those of `list` */
    bool counted;         /* how many there are is known: `words` */
    struct event_ref list_at;
    fault_id list_since; /* its tiles are not those that got a launch message */
    struct cq_tile_set messaged, reset, ran, busy;
    bool ran_all;          /* `ran` has every tile that ever got a go word */
    bool whole;            /* what was written since the last launch is known */
    fault_id waited;       /* a WAIT after GO is wrong */
    fault_id busy_written; /* a tile was written to after its GO */
    fault_id astray;       /* what was written since the last launch went to another address */
    bool unacked;          /* a multicast has no barrier after it */
    bool unacked_message;  /* .. and one of launch messages */
    struct cq_tile_set unacked_tiles;
    uint64_t unacked_index;
    uint32_t blob_end;
    fault_id unaligned; /* of the command that is judged: of its addresses */
    fault_id go_word;   /* .. of the go message that it sends */
    struct cq_goes streams[CQ_STREAMS];
    struct cq_offsets offsets;
    bool origin; /* all go words are known from the first on */
    bool counts; /* the host counts notifies on, without a clear for each launch */
    struct value event, event_line; /* the next id; as it would be without a wrong one */
    uint64_t events;                /* host events so far */
    uint64_t terminated;            /* index of TERMINATE, NO_INDEX: not yet */
    bool prefetch_terminated;
    fault_id reopened; /* a record came after TERMINATE */
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
    uint8_t done, missing; /* enum cq_init; missing: not done at the GO, nor since */
    bool whole;            /* the trace has what the host did from its first word on */
    fault_id stray; /* of a pointer word that was written twice: perhaps it was another one */
    struct event_ref go;
    bool other_store;     /* the host stored to a go word what is no GO for this core .. */
    uint64_t other_index; /* .. at this index */
    fault_id since;       /* of a GO before all was done */
    struct value mode;    /* of the launch message */
    uint32_t sem0;
};

struct cq_worker {
    bool go, notify_pending; /* it got a go word; and has not notified since */
    uint8_t done;            /* enum known */
    uint8_t offset;          /* of the stream */
    fault_id since;          /* it went on without a notify */
    fault_id missing;        /* of such a notify, which may come yet */
    fault_id lost;           /* of a request that may have been its notify */
    fault_id launch;         /* what it runs is known since */
    uint64_t go_index;
};

enum { CQ_SEQS = 8 };
enum cq_op {
    CQ_ACT_RECORD,
    CQ_ACT_FETCH,
    CQ_ACT_LANDED,
    CQ_ACT_RELAY,
    CQ_ACT_EXEC,
    CQ_ACT_CREDIT,
    CQ_OPS
};
/* The latest sequence numbers of an act, to know it again when the trace has it twice. */
struct cq_dup_filter {
    uint64_t seq[CQ_SEQS];
    bool event[CQ_SEQS]; /* it was a `cq` event */
    uint32_t count;
};

struct cq {
    struct model *m;
    const struct nocap_queue *numbers; /* of the profile, as is `set` */
    const struct nocap_command_set *set;
    struct cq_places places;
    uint64_t sysmem;                  /* the device address of host memory */
    uint32_t first, last, page_units; /* completion pointers, without toggle; of a page */
    uint32_t page_shift;              /* 1 << of a page's bytes */
    struct cq *next;                  /* of another chip, or another one of this chip */
    struct cq *judged;                /* of the first: the queue whose facts may have changed */
    uint32_t number;                  /* of it, as its facts have it */
    uint16_t chip;
    bool several;           /* its profile lets a chip have more */
    bool alone;             /* the only one of its chip so far */
    bool passes, blind;     /* acts of another one were passed over; its set-up has no values */
    uint64_t offset;        /* of its host memory, from that of the chip's first queue */
    struct nocap_queue own; /* its numbers, where they are not those of the profile */
    enum nocap_board like;  /* whose tiles it is on, where the header has no board */
    struct nocap_xy at[CQ_CORES];   /* CQ_NOWHERE: not known yet */
    struct nocap_xy subordinate_at; /* the dispatch tile, unless the trace shows another: */
    bool subordinate_shown;
    uint32_t sem[CQ_CORES];             /* L1 address of semaphore 0 */
    uint32_t subordinate_sem[CQ_CORES]; /* of that for the subordinate dispatcher's pages */
    bool sees[CQ_CORES];                /* what the core does is observed */
    bool sees_stores, sees_loads, sees_noc, sees_sysmem;
    struct cq_credit credits[CQ_CORES]; /* the latest that counts up there, for what restates it */
    bool any;                           /* something of the queue was seen */
    /* Its second dispatcher counts by itself: commands, entries, reads, completions are followed */
    bool loose;
    struct {
        bool any;
        uint64_t index; /* of the first event */
    } gaps[NOCAP_QUEUE_GAPS];
    bool packs; /* the host puts several commands into an entry, where its profile allows that */
    fault_id launches_since;  /* what its commands say to workers is known since */
    fault_id host_fault;      /* the latest of the record that is judged */
    struct queue_wrong wrong; /* what its commands say */
    struct cq_dup_filter acts[CQ_OPS];
    struct cq_record *records;
    struct cq_arena bytes; /* of the latest records */
    uint64_t published;    /* records so far */
    struct cq_boot boot[CQ_CORES];
    struct cq_host host;
    struct cq_program program;
    struct cq_prefetcher prefetcher;
    struct cq_ring ring;
    struct cq_dispatcher dispatcher;
    struct cq_subordinate subordinate;
    struct cq_expected expected;
    uint64_t loaded; /* of the first queue: turn of the host's latest load, or the endpoint's */
    struct cq_completion completion;
    struct cq_timestamps timestamps;
    struct cq_worker workers[CQ_TILES];
    struct cq_command command;  /* of the record that is judged */
    struct cq_tile_set owing;   /* whose notifies the trace would show */
    struct cq_tile_set acted;   /* that sent a request */
    struct cq_tile_set unshown; /* sent a go word before any event of their own, no `scope` */
    struct event_ref unshown_go;
    uint64_t unobeyed;       /* index of the latest reset that GO came before .. */
    fault_id unobeyed_since; /* .. at the first worker */
    struct {
        uint64_t addr;
        fault_id since;
    } intruder; /* the last device write to the issue region; since: of one under way */
};

#endif
