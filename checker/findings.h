/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: divergences become findings of a report. Memory is bounded: of each rule at
 * most max_per_rule findings are kept, and as many that are waived or known; all are counted. */
#ifndef NOCAP_CHECKER_FINDINGS_H
#define NOCAP_CHECKER_FINDINGS_H

#include "checker/baseline.h"
#include "checker/fold.h"
#include "checker/waivers.h"

enum { NOCAP_MAX_PER_RULE_DEFAULT = 20 };

/* Where findings are collected. Set `report`, `options`, `waivers` and `baseline` (NULL: none); the
 * rest begins as zero. */
struct nocap_findings {
    struct nocap_report *report; /* its rules say which are judged */
    const struct nocap_check_options *options;
    struct nocap_waivers *waivers;
    struct nocap_baseline_use *baseline;
    struct nocap_fold *fold;            /* between the model and the findings */
    uint32_t kept[NOCAP_RULE_COUNT][4]; /* new, waived, known, consequences */
    size_t last[NOCAP_RULE_COUNT];      /* the finding of each rule kept last, plus one; 0: none */
    size_t capacity, consequence_capacity;
    enum nocap_status status; /* the first failure of nocap_findings_add */
};

/* Takes one divergence; `context` is a struct nocap_findings. A nocap_diverged. */
void nocap_findings_add(void *context, const struct nocap_divergence *divergence);
/* What was said of the last event is a finding now, too. */
void nocap_findings_settle(struct nocap_findings *findings);
/* Sorts, and gives each rule its verdict; `exercised` by rule. */
enum nocap_status nocap_findings_finish(struct nocap_findings *findings, const uint64_t *exercised,
                                        struct nocap_error *err);
/* Adds a note to the report; `context` is a struct nocap_report. A nocap_waiver_note. */
enum nocap_status nocap_report_add_note(void *context, const char *note, struct nocap_error *err);

#endif
