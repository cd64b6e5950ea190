/* SPDX-License-Identifier: Apache-2.0 */
/* `nocap coverage`: which rules a set of traces puts to the test. */
#ifndef NOCAP_CHECKER_CORE_COVERAGE_H
#define NOCAP_CHECKER_CORE_COVERAGE_H

#include "checker/report/results.h"

/* Of a rule over all traces; each trace counts once in one of the first three. */
struct nocap_rule_coverage {
    uint64_t exercised, idle,
        blind;         /* traces that exercise it; could, but do not; cannot show it */
    uint64_t violated; /* of those that exercise it: with findings, waived ones too */
    uint64_t times;    /* how often it was judged, over all traces */
};

/* `rules` has NOCAP_RULE_COUNT members. Traces that could not be read do not count. */
void nocap_coverage_of(const struct nocap_results *results, struct nocap_rule_coverage *rules);

enum nocap_coverage_format { NOCAP_COVERAGE_TEXT, NOCAP_COVERAGE_JSON, NOCAP_COVERAGE_MARKDOWN };
/* Fails with NOCAP_E_OUTPUT. */
enum nocap_status nocap_coverage_print(FILE *out, const struct nocap_results *results,
                                       enum nocap_coverage_format format, struct nocap_error *err);

#endif
