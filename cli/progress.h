/* SPDX-License-Identifier: Apache-2.0 */
/* A line on stderr that says how far a long work is; only on a terminal, and only after a second.
 */
#ifndef NOCAP_CLI_PROGRESS_H
#define NOCAP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    const char *what;
    const char *unit;        /* of what is counted */
    uint64_t started, shown; /* ns */
    bool on_terminal;
};

void cli_progress_start(struct cli_progress *progress, const char *what, const char *unit);
/* `context` is the struct cli_progress; `total` 0: unknown. */
void cli_progress_show(void *context, uint64_t done, uint64_t total);
/* Takes the line away. */
void cli_progress_end(struct cli_progress *progress);

#endif
