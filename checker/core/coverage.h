/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap coverage`: which rules a set of traces puts to the test. */
#ifndef NOCAP_CHECKER_CORE_COVERAGE_H
#define NOCAP_CHECKER_CORE_COVERAGE_H

#include "checker/report/results.h"

/* Of a rule over all traces; each trace of an architecture that has the rule counts once in one of
 * the first three. */
struct nocap_rule_coverage {
    uint64_t exercised, idle,
        blind;         /* traces that exercise it; could, but do not; cannot show it */
    bool required;     /* as nocap_coverage_require says */
    uint64_t violated; /* of those that exercise it: with findings, waived ones too */
    uint64_t times;    /* how often it was judged, over all traces */
};

/* `rules` has NOCAP_RULE_COUNT members. Traces that could not be read do not count. */
void nocap_coverage_of(const struct nocap_results *results, struct nocap_rule_coverage *rules);
/* Sets which rules must be exercised, a list as that of nocap_check_options; NULL: none. Fails with
 * NOCAP_E_USAGE. */
enum nocap_status nocap_coverage_require(struct nocap_rule_coverage *rules, const char *list,
                                         struct nocap_error *err);
/* Rules that are required and not exercised: how many, and their ids, as many as there is room for.
 */
size_t nocap_coverage_missing(const struct nocap_rule_coverage *rules, char *text, size_t size);
/* How many rules these traces can show, and how many were exercised. */
struct nocap_coverage_sum {
    unsigned rules, exercised;
};
struct nocap_coverage_sum nocap_coverage_sum(const struct nocap_rule_coverage *rules);

enum nocap_coverage_format { NOCAP_COVERAGE_TEXT, NOCAP_COVERAGE_JSON, NOCAP_COVERAGE_MARKDOWN };
/* Fails with NOCAP_E_OUTPUT. */
enum nocap_status nocap_coverage_print(FILE *out, const struct nocap_results *results,
                                       const struct nocap_rule_coverage *rules,
                                       enum nocap_coverage_format format, struct nocap_error *err);

#endif
