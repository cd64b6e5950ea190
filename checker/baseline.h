/* Private to checker: a report of before. What it lists of a trace is known and does not fail
 * again. Findings are recognised by trace (file name), rule, chip, tile, agent and thread, as many
 * times as the report has them; where and when may have shifted. */
#ifndef NOCAP_CHECKER_BASELINE_H
#define NOCAP_CHECKER_BASELINE_H

#include "checker/checker.h"

struct nocap_baseline;

/* Reads `path`, what `check --format json` wrote of one trace or of several, and takes from it what
 * belongs to the trace at `trace_path`. Fails with NOCAP_E_INPUT if it is no report. */
enum nocap_status nocap_baseline_open(struct nocap_baseline **baseline, const char *path,
                                      const char *trace_path, struct nocap_error *err);
/* The same of its text. */
enum nocap_status nocap_baseline_parse(struct nocap_baseline **baseline, const char *text,
                                       const char *trace_path, struct nocap_error *err);
void nocap_baseline_close(struct nocap_baseline *baseline); /* NULL is fine */

/* Whether the divergence is known; it then counts as seen. */
bool nocap_baseline_match(struct nocap_baseline *baseline,
                          const struct nocap_divergence *divergence);

#endif
