/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what models ask of each other. Each fact has one owner, who alone writes it.
 * Facts change in `apply`, so all models judge an observation by the facts before it. */
#ifndef NOCAP_REPLAY_FACTS_H
#define NOCAP_REPLAY_FACTS_H

#include "formats/blackhole/cores.h"
#include "formats/blackhole/tile_map.h"

/* What is known of a fact: a trace that was attached mid-run, or that lost events, leaves it open.
 */
enum known { UNKNOWN, NO, YES };

/* What a value is known since: no fault; one that was reported; one that no observable rule tells,
 * so that nothing is judged by the value. */
typedef uint32_t fault_id;
#define FAULT_NONE       UINT32_C(0)
#define FAULT_UNREPORTED UINT32_MAX
/* What is judged by two values is known since the first one's fault, or else since the other's. */
static inline fault_id since_or(fault_id first, fault_id other)
{
    return first != FAULT_NONE ? first : other;
}

enum { CORES = NOCAP_PROCESSOR_COUNT, THREADS = NOCAP_TENSIX_THREADS, NOCS = 2 };

#define NO_INDEX UINT64_MAX /* of an event that was not observed */

/* When something happened, or became certain; a finding may be reported later than that. */
struct event_ref {
    uint64_t index, t;
    uint8_t agent;
    uint64_t turn; /* of model.turn; 0 where it is not needed */
};

/* A store of a core or the host to where it must not go: what is missing of it elsewhere follows.
 */
struct stray {
    fault_id fault;
    uint32_t value; /* its first four bytes */
    uint64_t turn;
};

/* A processor's kernel in the present launch. */
struct kernel {
    enum known inside;
    uint8_t entered, left; /* times in this launch */
    uint64_t enter_index, exit_index, enter_time, exit_time, enter_turn;
    fault_id exit_owed; /* an exit was missed since, and may still come */
};

/* Of a tile; owner: launch. */
struct launch_facts {
    struct kernel kernels[CORES];
    enum known running[CORES];        /* out of reset */
    enum known active;                /* BRISC works on a launch */
    enum known pending;               /* a GO that is not DONE yet */
    bool in_reset;                    /* nothing in the tile runs */
    bool shown;                       /* an event of one of its cores was seen */
    bool begun;                       /* the launch began before the trace */
    bool message_known;               /* its launch message */
    uint8_t enables;                  /* of that message */
    uint8_t request;                  /* the reset request that waits in the go word; 0: none */
    enum known request_done;          /* it was obeyed */
    enum known advance;               /* rd_ptr is still to move on */
    bool notify_pending;              /* the dispatcher is still to be notified */
    struct nocap_xy master;           /* the tile to notify that the go word names */
    fault_id master_since;            /* .. is known to be none since */
    fault_id slot_since;              /* which slot BRISC reads next is known since */
    fault_id ignored_since;           /* a go word that none obeys, or a write to running text */
    struct event_ref requested, done; /* the request, the latest DONE; index NO_INDEX: none */
    /* The release or GO whose answer the host's loads alone would show, and have not; index
     * NO_INDEX: none. Brought up to date when waits are asked for. */
    struct event_ref unanswered;
};

/* Of a tile; owner: gate. Brought up to date when waits are asked for. */
struct gate_facts {
    uint8_t pending; /* by thread: words are held, or pushed and not issued */
};

/* Of an interface of a tile; owner: noc. Whether the trace would certainly show that requests ended
 * this way: by counters or barriers. */
struct noc_facts {
    bool reads_done, writes_sent, writes_done;
};

/* Requests whose end the present observation shows; owner: noc. The others read it in `ended`. */
struct ended {
    struct tile *tile;
    uint64_t index, turn; /* requests up to this one */
    uint8_t noc, kind;    /* enum nocap_requests */
    bool done;            /* else they have left */
    bool all;             /* and the count says that none of this kind is under way */
};
enum { ENDED_MAX = 8 };

/* A request that another access met before its end, known since; owner: race. */
struct raced {
    uint64_t turn; /* 0: no request */
    fault_id since;
};
enum { RACED = 64 };

/* A command queue of a chip; owner: cq. The subordinate dispatcher is on the dispatch tile, or on
 * one of its own. */
enum queue_core { QUEUE_PREFETCH, QUEUE_DISPATCH, QUEUE_SUBORDINATE, QUEUE_CORES };
enum { QUEUE_ANSWERS = 3 };
/* What commands say that is wrong, the latest of each kind, and since when: where commands are not
 * seen to be executed, the same in a request is theirs. */
struct queue_wrong {
    struct nocap_xy low, high; /* of a rectangle */
    struct nocap_xy listed;    /* in the table of go messages */
    uint32_t go_word;
    uint32_t address; /* not aligned */
    uint64_t stamp;   /* of a timestamp, in host memory */
    fault_id rect_since, listed_since, go_since, address_since, stamp_since;
};
struct byte_range {
    uint64_t first, end;
};
struct queue_facts {
    uint16_t chip;
    bool used;                       /* something of it was seen */
    bool open;                       /* and its TERMINATE was not */
    bool unsure;                     /* who waits; brought up to date when waits are asked for */
    struct nocap_xy at[QUEUE_CORES]; /* where its cores are */
    bool others;                     /* its chip may have one more, or a tile that was not seen */
    uint32_t awaits; /* L1 address that its second dispatcher polls, which has not shown where it
                      * is; 0: it has, or there is none */
    bool dispatcher_seen;    /* so are the dispatcher's requests */
    fault_id launches_since; /* what it sends to workers is known since */
    fault_id writes_since;   /* what was written for the present launch is */
    fault_id answers_since;  /* what the dispatcher writes to host memory is */
    fault_id unaligned;      /* of the address that the executed command names */
    struct queue_wrong wrong;
    fault_id message;                         /* of the launch or go messages that it writes */
    uint64_t memory;                          /* the device's address of host memory */
    struct byte_range answers[QUEUE_ANSWERS]; /* of it, what the dispatcher alone writes */
};
enum { QUEUES = 64 };

#endif
