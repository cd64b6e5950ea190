/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that were made apart - by shards, by machines, by runs that were interrupted - as the
 * results of one run. */
#ifndef NOCAP_CHECKER_REPORT_PARTS_H
#define NOCAP_CHECKER_REPORT_PARTS_H

#include "checker/report/results.h"

struct nocap_parts;

enum nocap_status nocap_parts_new(struct nocap_parts **parts, struct nocap_error *err);
void nocap_parts_free(struct nocap_parts *parts); /* NULL is fine */

/* Takes all results of a file that `check --format json` or `check --journal` wrote. What is of one
 * list of traces finds its place in it, and the last of a trace counts; anything else stands after
 * what was taken before. Fails with NOCAP_E_INPUT if the file is neither. */
enum nocap_status nocap_parts_read(struct nocap_parts *parts, const char *path,
                                   struct nocap_error *err);
/* Hands them over in the order of their lists. `missing`: of how many traces of these nothing was
 * taken. Free `results`. */
enum nocap_status nocap_parts_results(struct nocap_parts *parts, struct nocap_results *results,
                                      uint64_t *missing, struct nocap_error *err);

#endif
