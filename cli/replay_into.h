/* SPDX-License-Identifier: Apache-2.0 */
/* nocap replay --into: the host of a trace drives a simulator. */
#ifndef NOCAP_CLI_REPLAY_INTO_H
#define NOCAP_CLI_REPLAY_INTO_H

#include "cli/commands.h"

struct cli_into_settings {
    const char *library; /* NULL: not asked for */
    struct cli_list payloads;
    struct cli_number patience, perturb;
};

struct cli_into_form {
    const char *record, *profile; /* may be NULL */
    bool dense, json;
};

/* Prints what came of it, and gives the exit status. */
int cli_replay_into(const struct cli_call *call, const struct cli_into_settings *settings,
                    const struct cli_into_form *form);

#endif
