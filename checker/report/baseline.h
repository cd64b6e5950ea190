/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: an earlier report. What it lists of a trace is known and does not fail
 * again. Findings are recognised by trace (its path, else its file name), rule, chip, tile, agent
 * and thread - in a kernel by rule and symbol, in control code by rule, column and kernel -, as
 * many times as the report has them; where and when may have shifted. */
#ifndef NOCAP_CHECKER_REPORT_BASELINE_H
#define NOCAP_CHECKER_REPORT_BASELINE_H

#include "checker/core/checker.h"

/* nocap_baseline_open of its text. */
enum nocap_status nocap_baseline_parse(struct nocap_baseline **baseline, const char *text,
                                       size_t size, struct nocap_error *err);

/* What is left to be seen of one trace, for one check. The baseline must outlive it. */
struct nocap_baseline_use;
enum nocap_status nocap_baseline_use_open(struct nocap_baseline_use **use,
                                          const struct nocap_baseline *baseline,
                                          const char *trace_path, struct nocap_error *err);
void nocap_baseline_use_close(struct nocap_baseline_use *use); /* NULL is fine */

/* Whether the divergence is known; it then counts as seen. `place`: what it points at. */
bool nocap_baseline_match(struct nocap_baseline_use *use, const struct nocap_divergence *divergence,
                          const struct nocap_finding *place);

#endif
