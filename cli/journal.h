/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose results are kept one by one in a journal, and which goes on where it was cut off. */
#ifndef NOCAP_CLI_JOURNAL_H
#define NOCAP_CLI_JOURNAL_H

#include "checker/report/results.h"
#include "cli/crew.h"
#include "cli/spread.h"

/* What is judged, and how. */
struct cli_journal_run {
    const struct cli_call *call;
    const struct cli_spread *spread;
    const struct nocap_check_options *options; /* with `accepted` for waivers */
};

/* Judges one operand, for a crew whose context is a struct cli_journal_run: writes its line. */
enum nocap_status cli_journal_judge(const void *run, uint64_t at, FILE *out,
                                    struct nocap_error *err);
/* Has the crew judge what the journal at `path` does not have yet, largest first; each line is on
 * the disk before the next trace is given out. A trace on which two processes crashed is
 * unreadable. Gives all results of the list that the journal has; the exit status of the worst
 * failure. */
int cli_journal_run(const struct cli_journal_run *run, const char *path, struct crew *crew,
                    struct nocap_results *results);

#endif
