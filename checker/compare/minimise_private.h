/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/minimise*.c: events in memory, and whether some of them still have the
 * finding. */
#ifndef NOCAP_CHECKER_COMPARE_MINIMISE_PRIVATE_H
#define NOCAP_CHECKER_COMPARE_MINIMISE_PRIVATE_H

#include "checker/compare/minimise.h"
#include "checker/core/checker.h"
#include "checker/core/images.h"

/* What must stay, and what may be there besides. */
struct minimise_goal {
    struct nocap_finding finding; /* its texts are not used */
    bool allowed[NOCAP_RULE_COUNT];
    uint64_t most; /* findings */
};

struct minimise_set {
    struct nocap_header header; /* a copy */
    struct nocap_images images; /* the firmware that `check` and the header name */
    const struct nocap_check_options *check;
    struct nocap_event *events; /* with copies of their payloads, in the order of their effect */
    size_t count;
    bool observable[NOCAP_RULE_COUNT];
    const struct minimise_goal *goal;
    struct nocap_minimise_result *result;
    /* of the search */
    struct nocap_event *scratch;
    bool *keep;
    uint32_t *group;
    uint64_t fed;  /* events that the model was given in all trials */
    char *said;    /* what the finding expects and observes; NULL: not heard yet */
    uint64_t most; /* divergences of the first trial: one act on many tiles is many of them */
};

/* Reads the whole trace; fails with NOCAP_E_MEMORY if it is too long to be held. */
enum nocap_status minimise_load(struct minimise_set *set, const char *path,
                                struct nocap_error *err);
void minimise_free(struct minimise_set *set);

/* Leaves out what is not needed. */
enum nocap_status minimise_reduce(struct minimise_set *set, struct nocap_error *err);

#endif
