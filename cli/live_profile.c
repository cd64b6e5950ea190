/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "capture/live/elf_files.h"
#include "cli/live.h"
#include "cli/profile_option.h"
#include "formats/profile/profile.h"

static void print_choice(const struct cli_call *call, const char *json, const char *folder)
{
    struct nocap_profile p;
    if (nocap_profile_read(&p, json, NULL) == NOCAP_OK) {
        cli_message(call, "profile %s, as the ELF files below %s say", p.name, folder);
    }
}

int cli_live_profile(const struct cli_call *call, const struct cli_live_settings *settings,
                     const char *given, const char *const *command,
                     struct cli_live_profile *profile)
{
    struct nocap_error err = {{0}};
    char folder[LIVE_FOLDER_SIZE];
    *profile = (struct cli_live_profile){0};
    if (given != NULL && settings->elf_dir != NULL) {
        return cli_usage(call, "--profile and --elf-dir both say whose runtime it is");
    }
    if (given != NULL) {
        return cli_profile_json(call, given, &profile->json);
    }
    if (settings->elf_dir != NULL) {
        enum nocap_status status = live_profile_of(&profile->json, settings->elf_dir, &err);
        if (status != NOCAP_OK) {
            return cli_fail(call, status, &err);
        }
        print_choice(call, profile->json, settings->elf_dir);
        return CLI_EXIT_OK;
    }
    enum nocap_status status = live_profile_look(&profile->json, folder, command, &err);
    profile->guessed = true;
    if (status == NOCAP_OK) {
        print_choice(call, profile->json, folder);
    } else if (status != NOCAP_END) {
        cli_message(call, "the trace names no profile: %s", err.text);
    }
    return CLI_EXIT_OK;
}

void cli_live_profile_again(const struct cli_call *call, const char *const *command,
                            const struct cli_live_profile *profile)
{
    char folder[LIVE_FOLDER_SIZE], *now = NULL;
    if (!profile->guessed || live_profile_look(&now, folder, command, NULL) != NOCAP_OK) {
        return;
    }
    if (profile->json == NULL || strcmp(now, profile->json) != 0) {
        cli_message(call,
                    "%s made ELF files of another profile below %s while it ran: nocap profile "
                    "from-elf, then nocap check --profile",
                    command[0], folder);
    }
    free(now);
}
