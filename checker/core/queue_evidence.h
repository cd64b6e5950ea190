/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: whose command queue a trace holds, by what it shows: where the host sets up
 * words and fills slots, how wide an entry is, what the bytes of records say. Each shipped profile
 * gets points for what it explains; the one that explains most counts. What a runtime never sends
 * is not explained by its profile, so profiles with equal points give equal verdicts. */
#ifndef NOCAP_CHECKER_CORE_QUEUE_EVIDENCE_H
#define NOCAP_CHECKER_CORE_QUEUE_EVIDENCE_H

#include "formats/profile/profile.h"
#include "formats/trace/header.h"

enum { QUEUE_CANDIDATES = 32 };
struct queue_candidate {
    struct nocap_profile profile;
    uint32_t points, records, stores,
        outside;               /* how many it explains; commands that lie elsewhere */
    uint32_t messages, others; /* records with launch messages; with what would be one elsewhere */
    uint8_t set_up, right;     /* words of the set-up, a bit each: stored, with its value */
};
struct queue_evidence {
    struct queue_candidate candidates[QUEUE_CANDIDATES];
    size_t count;
    uint32_t records, stores; /* seen; of stores those that any of them explains */
    uint32_t host_writes;     /* to where records may lie */
    bool fresh;               /* the first record is in the first slot */
    bool executed;            /* a command was seen in the dispatch buffer, first: */
    uint64_t first_command;
    bool has_prefetch, has_dispatch; /* the tiles to which the set-up was stored */
    struct nocap_xy prefetch, dispatch;
    bool has_sysmem; /* the header says where host memory is */
    uint64_t sysmem;
    bool has_record, several; /* records say their tile, of which there are several */
    struct nocap_xy record;   /* the first */
    uint64_t index, t;        /* of the first record or store */
};

/* Whether the header leaves it open, and such events may be in the trace. */
bool queue_evidence_wanted(const struct nocap_header *header);
enum nocap_status queue_evidence_new(struct queue_evidence **evidence,
                                     const struct nocap_header *header, struct nocap_error *err);
void queue_evidence_look(struct queue_evidence *evidence, const struct nocap_event *event);
/* The trace has this mailbox: a word for the profiles that have it. */
void queue_evidence_mailbox(struct queue_evidence *evidence, const char *layout);
/* The profile that explains most, the default if nothing of a queue was seen. NULL: there is a
 * queue and none explains it; `seen` says what was seen. */
const struct queue_candidate *queue_evidence_best(const struct queue_evidence *evidence,
                                                  const struct nocap_header *header, char *seen,
                                                  size_t size);

#endif
