/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: whose command queue a trace holds, by what it shows: where the host sets up
 * words and fills slots, how wide an entry is, what the bytes of records say. Each shipped profile
 * gets points for what it explains; the one that explains most counts. What a runtime never sends
 * is not explained by its profile, so profiles with equal points give equal verdicts. */
#ifndef NOCAP_CHECKER_CORE_QUEUE_EVIDENCE_H
#define NOCAP_CHECKER_CORE_QUEUE_EVIDENCE_H

#include "formats/profile/profile.h"
#include "formats/trace/header.h"

enum { MESSAGE_LEAST = 64 }; /* bytes of a launch message, whose ever */

/* What goes to or comes from a place of the queue, and to another one. */
enum queue_place {
    PLACE_SLOTS,      /* the host's doorbells */
    PLACE_LANDING,    /* reads of host memory */
    PLACE_BUFFER,     /* relays to the dispatcher, commands in its buffer */
    PLACE_SEMAPHORES, /* credits */
    PLACE_HOST,       /* the dispatcher's writes to host memory */
    PLACE_POINTER,    /* its stores of the completion pointer */
    PLACES
};

/* The first accesses to a ring, and whether the second went to where the first one ended: then the
 * first was no stray. */
struct ring_start {
    uint64_t first, end;
    uint32_t accesses;
    bool goes_on;
};

/* Where a ring goes back to its start: after which place the last time, and how often in a row
 * after the same. */
struct ring_turn {
    bool any;
    uint64_t end; /* of the latest access */
    uint64_t turned;
    uint32_t times;
};

enum { QUEUE_CANDIDATES = 32 };
struct queue_candidate {
    struct nocap_profile profile;     /* addresses of host memory and kernels as the header says */
    bool own_sysmem, own_kernels;     /* no, as the profile says, against the header */
    uint32_t points, records, stores; /* how many it explains */
    uint32_t messages, others; /* records with launch messages; with what would be one elsewhere */
    uint32_t passed_by;        /* records it explains, that write to another one's mailbox */
    uint32_t inside[PLACES], outside[PLACES];
    struct ring_start landings, relays;
    struct ring_turn filled, taken, buffer; /* slots, by the host, by the device; pages */
    uint8_t set_up, right; /* what the host sets up, a bit each: stored, with its value */
    uint8_t elsewhere;     /* that value, stored elsewhere */
    bool begins;           /* the first command is relayed, or executed, where its buffer begins */
};
enum queue_shown { QUEUE_RELAYED = 1, QUEUE_EXECUTED = 2 };
struct queue_evidence {
    struct queue_candidate candidates[QUEUE_CANDIDATES];
    size_t count;
    uint32_t records, stores; /* seen; of stores those that any of them explains */
    uint32_t acts;            /* what its cores do */
    uint32_t host_writes;     /* to where records may lie */
    bool fresh;               /* the first record is in the first slot */
    bool lost;                /* events */
    uint8_t shown;            /* enum queue_shown: commands in the dispatch buffer, the first: */
    uint64_t first_command;
    bool has_prefetch, has_dispatch; /* the tiles to which the set-up was stored */
    struct nocap_xy prefetch, dispatch;
    struct nocap_cq_place said; /* by the header */
    size_t named; /* the first candidate that is as header or user say; `count`: they say nothing */
    /* That profile, if it may send anything that its firmware has; records that this explains. */
    struct nocap_profile lenient;
    uint32_t understood;
    bool units;               /* records show as `cq` events */
    bool has_record, several; /* records say their tile, of which there are several */
    struct nocap_xy record;   /* the first */
    uint64_t index, t;        /* of the first record, store or act */
};

/* So much was seen of a queue. */
static inline uint32_t queue_evidence_count(const struct queue_evidence *e)
{
    return e->records + e->stores + e->acts;
}

/* Whether events of a queue may be in the trace. */
bool queue_evidence_wanted(const struct nocap_header *header);
enum nocap_status queue_evidence_new(struct queue_evidence **evidence,
                                     const struct nocap_header *header, struct nocap_error *err);
/* Whether a store brings zeros alone: so slots are set up, word by word. */
bool queue_places_zeroed(const struct nocap_event *event);
/* How many stores of the host to slots the candidate explains that explains most. */
uint32_t queue_evidence_doorbells(const struct queue_evidence *evidence);
void queue_evidence_look(struct queue_evidence *evidence, const struct nocap_event *event);
/* The trace has this mailbox: a word for the profiles that have it. */
void queue_evidence_mailbox(struct queue_evidence *evidence, const char *layout);
/* The profile that is named; where none is, that which explains most, the default if nothing of a
 * queue was seen. NULL: there is a queue and it does not explain it; `seen` says what was seen. */
const struct queue_candidate *queue_evidence_best(const struct queue_evidence *evidence,
                                                  const struct nocap_header *header, char *seen,
                                                  size_t size);

/* queue_places.c: what one event shows of where things lie; and whether that is where this
 * candidate has them, else `seen` says what was seen. */
void queue_places_look(struct queue_evidence *evidence, const struct nocap_event *event);
bool queue_places_fit(const struct queue_candidate *c, char *seen, size_t size);
/* Whether a queue shows that no candidate explains anything of. */
bool queue_places_elsewhere(const struct queue_evidence *evidence);
/* Whether the set-up shows that slots are where this candidate has them, and how wide. */
bool queue_places_has_slots(const struct queue_candidate *c);
/* Whether reads and relays begin where rings begin, in a trace that has the set-up. */
bool queue_places_begin(const struct queue_candidate *c, char *seen, size_t size);
/* The first completion pointer of the first queue, of so many on the chip. */
uint32_t queue_first_pointer(const struct nocap_queue *of, uint32_t queues);

#endif
