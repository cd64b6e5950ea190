/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/compare: the part of a trace that is compared, and how it is made like the
 * other's: a tile stands for another, a slot of the launch ring for another, times begin at 0. */
#ifndef NOCAP_CHECKER_COMPARE_DIFF_PART_H
#define NOCAP_CHECKER_COMPARE_DIFF_PART_H

#include "checker/compare/diff.h"
#include "formats/trace/header.h"

struct diff_span;

struct diff_part {
    struct nocap_diff_part wanted;
    struct nocap_xy as; /* what its tile stands for */
    const struct nocap_mailbox_layout *layout;
    struct diff_span *spans;    /* of launches: by tile, sorted */
    size_t span_count, endless; /* endless: launches of which no DONE was seen */
    bool begun;
    uint64_t base; /* time of its first event */
};

/* The part of A, 0, or of B, 1: finds its launches. NOCAP_E_USAGE if there is none of that number.
 */
enum nocap_status diff_part_open(struct diff_part *part, const char *path,
                                 const struct nocap_diff_options *options, int which,
                                 const struct nocap_header *header, struct nocap_error *err);
/* The event as it is compared, `event` itself or `copy`; NULL: it is no part. */
const struct nocap_event *diff_part_take(struct diff_part *part, const struct nocap_event *event,
                                         struct nocap_event *copy);
void diff_part_close(struct diff_part *part);

#endif
