/* SPDX-License-Identifier: Apache-2.0 */
/* --profile PROFILE, a name or a file: the profile of a trace, in the place of what its header
 * says. */
#ifndef NOCAP_CLI_PROFILE_OPTION_H
#define NOCAP_CLI_PROFILE_OPTION_H

#include "cli/commands.h"
#include "formats/trace/trace.h"

/* A row of the options; what it stands for is `profile` of the settings. */
#define CLI_PROFILE(type)                                                                          \
    {                                                                                              \
        "profile", "PROFILE",                                                                      \
            "whose protocol it is, in the place of what the header\n"                              \
            "says",                                                                                \
            offsetof(type, profile), CLI_TEXT, 0                                                   \
    }

/* The profile as JSON, which the caller frees; NULL for a NULL name. Tells what fails and gives the
 * exit status. */
int cli_profile_json(const struct cli_call *call, const char *name, char **json);
/* Sets it in the header of a reader; NULL changes nothing. */
int cli_profile_set(const struct cli_call *call, const char *name, struct nocap_reader *reader);

#endif
