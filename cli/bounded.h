/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that untrusted words make, a command of a shell or a run of the built-in device
 * model: in bounded time and space. */
#ifndef NOCAP_CLI_BOUNDED_H
#define NOCAP_CLI_BOUNDED_H

#include <stdint.h>
#include <time.h>

#include "base/status.h"

struct cli_bounds {
    uint64_t mib;     /* what may be written */
    uint64_t seconds; /* how long it may take */
};

/* When time is over that begins now. */
struct timespec cli_deadline(const struct cli_bounds *bounds);
/* Milliseconds until then, 0 once it is past. */
int cli_remaining(const struct timespec *deadline);
enum nocap_status cli_too_long(const char *how, const struct cli_bounds *bounds,
                               struct nocap_error *err);
enum nocap_status cli_too_much(const char *how, const struct cli_bounds *bounds,
                               struct nocap_error *err);

/* A shell runs the line `how`: its standard output goes to `fd`, unless the line has a {}, which
 * stands for $NOCAP_TRACE, the file at `path`. It has no standard input. Fails with NOCAP_E_INPUT
 * if it ends badly or exceeds its bounds; it and all that it started are ended then. */
enum nocap_status cli_command_run(const char *how, const char *path, int fd,
                                  const struct cli_bounds *bounds, struct nocap_error *err);
/* Ends the commands that run; for a signal handler. */
void cli_command_end_all(void);

#endif
