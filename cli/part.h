/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that make one trace of another: the new one is written to a temporary file, where it can
 * be looked at, and then goes where the caller wants it. */
#ifndef NOCAP_CLI_PART_H
#define NOCAP_CLI_PART_H

#include "cli/commands.h"

/* Writes a trace to `path`. */
typedef enum nocap_status cli_make_part(void *context, const char *path, struct nocap_error *err);

/* Makes it and brings it to `output`, "-" or NULL for standard output; tells what fails and gives
 * the exit status. */
int cli_part(const struct cli_call *call, const char *output, cli_make_part *make, void *context);

#endif
