/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: whose protocol a trace holds. What the header says counts; where it says
 * nothing, the trace shows it: where hosts and dispatchers write go messages, and what its command
 * queue looks like. */
#ifndef NOCAP_CHECKER_CORE_PROFILE_CHOICE_H
#define NOCAP_CHECKER_CORE_PROFILE_CHOICE_H

#include "checker/core/checker.h"
#include "checker/core/class_evidence.h"
#include "formats/profile/profile.h"

struct nocap_profile_choice {
    char why[200]; /* "the header says so", "go messages are written to 0x570": for people */
    char profile[NOCAP_PROFILE_NAME_SIZE]; /* that the trace's queue shows instead of the default;
                                              "": none */
    bool has_prefetch, has_dispatch;       /* the tiles of the queue, where its profile and the
                                              header do not say them */
    struct nocap_xy prefetch, dispatch;
    bool own_sysmem, own_kernels; /* what the header says of host memory, of kernels is not so in
                                     the trace, and what the profile says is */
    bool queue_unexplained; /* a command queue that no profile fits: its rules are not observable */
    uint64_t queue_index, queue_t; /* of the event that shows it */
    char queue_seen[160];
    const struct nocap_mailbox_layout *layout; /* that the trace shows instead of the header's,
                                                  which says nothing; NULL: none */
    bool unexplained;  /* mailbox traffic that no layout fits: rules about launches are not
                          observable */
    bool judged;       /* the trace shows whose mailbox it has, or that it is unknown */
    uint64_t index, t; /* of the event that shows it */
    char seen[160];
    uint32_t absent; /* classes of `observes` of which there must be events, and there are none */
    struct class_proof proofs[NOCAP_CLASS_COUNT]; /* of each of them */
    uint64_t looked_at;                           /* events of the trace; UINT64_MAX: all */
};

/* Looks at the first events of the trace, with a reader of its own. `path` is what the reader was
 * opened with; "": the trace still grows, and only the header counts. */
enum nocap_status nocap_profile_choose(struct nocap_profile_choice *choice,
                                       struct nocap_reader *reader, const char *path,
                                       struct nocap_error *err);

/* The same for those who judge: `json`, if it is not NULL, stands in the place of what the header
 * says, and the layout that the trace shows stands in the reader's header, from where classes that
 * are absent are gone. */
enum nocap_status nocap_profile_complete(struct nocap_profile_choice *choice,
                                         struct nocap_reader *reader, const char *path,
                                         const char *json, struct nocap_error *err);

#endif
