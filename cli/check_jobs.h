/* SPDX-License-Identifier: Apache-2.0 */
/* Several traces in parallel, for verbs that take many. */
#ifndef NOCAP_CLI_CHECK_JOBS_H
#define NOCAP_CLI_CHECK_JOBS_H

#include "checker/results.h"
#include "cli/verb.h"

enum { CLI_JOBS_MAX = 256 };

/* Checks the operands of the call, `jobs` at a time; tells on stderr what cannot be read. The
 * results are in the order of the operands, whatever comes; free them. Gives the exit status of the
 * worst failure, CLI_EXIT_OK if all could be read. */
int cli_check_all(const struct cli_call *call, const struct nocap_check_options *options,
                  size_t jobs, struct nocap_results *results);
/* Whether there is anything to report: a trace was read, and nothing worse than an input failed. */
bool cli_check_any(const struct nocap_results *results, int worst);

#endif
