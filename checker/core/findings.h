/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: divergences become findings of a report. Memory is bounded: of each rule at
 * most max_per_rule findings are kept, and as many that are waived or known; all are counted. */
#ifndef NOCAP_CHECKER_CORE_FINDINGS_H
#define NOCAP_CHECKER_CORE_FINDINGS_H

#include "checker/core/fold.h"
#include "checker/report/baseline.h"
#include "checker/report/waivers.h"

enum { NOCAP_MAX_PER_RULE_DEFAULT = 20 };

/* Says where in a file the divergence is that a model found in it: fills the members of a place,
 * and the index by which waivers know it. False: out of memory. */
typedef bool nocap_locate(void *context, struct nocap_divergence *divergence,
                          struct nocap_finding *place);

/* Where findings are collected. Set `report`, `options`, and `locate` if it is not a trace that is
 * judged; the rest begins as zero. */
struct nocap_findings {
    struct nocap_report *report; /* its rules say which are judged */
    const struct nocap_check_options *options;
    nocap_locate *locate;
    void *locate_context;
    struct nocap_waivers *waivers;       /* NULL: none */
    struct nocap_waivers *own_waivers;   /* of those the ones opened here */
    struct nocap_baseline *own_baseline; /* read for these findings alone */
    struct nocap_baseline_use *baseline; /* NULL: none */
    struct nocap_fold *fold;             /* between the model and the findings */
    uint32_t kept[NOCAP_RULE_COUNT][4];  /* new, waived, known, consequences */
    size_t last[NOCAP_RULE_COUNT];       /* the finding of each rule kept last, plus one; 0: none */
    enum nocap_status status;            /* the first failure of nocap_findings_add */
};

/* Opens waivers and baseline of the options; the report has its path. Fails with NOCAP_E_INPUT. */
enum nocap_status nocap_findings_open(struct nocap_findings *findings, struct nocap_error *err);
void nocap_findings_close(struct nocap_findings *findings);

/* Takes one divergence; `context` is a struct nocap_findings. A nocap_diverged. */
void nocap_findings_add(void *context, const struct nocap_divergence *divergence);
/* What was said of the last event is a finding now, too. */
void nocap_findings_commit(struct nocap_findings *findings);
/* Takes what no model found, at a place of a file, as severe as it says. */
void nocap_findings_keep(struct nocap_findings *findings, const struct nocap_divergence *divergence,
                         enum nocap_severity severity, const struct nocap_finding *place);
/* Sorts, gives each rule its verdict, and notes waivers that did nothing - of all that was judged:
 * a part of a trace cannot say that one is unused. `exercised` by rule. */
enum nocap_status nocap_findings_finish(struct nocap_findings *findings, const uint64_t *exercised,
                                        struct nocap_error *err);
/* Adds a note to the report; `context` is a struct nocap_report. A nocap_waiver_note. */
enum nocap_status nocap_report_add_note(void *context, const char *id, const char *note,
                                        struct nocap_error *err);

#endif
