/* SPDX-License-Identifier: Apache-2.0 */
/* nocap capture -- CMD: a program runs with the capture in place. */
#ifndef NOCAP_CLI_LIVE_H
#define NOCAP_CLI_LIVE_H

#include "cli/commands.h"

struct cli_live_settings {
    unsigned trap; /* full, registers, off */
    bool drop, follow;
    struct cli_number sample; /* clocks between two looks into a simulated device */
    const char *ttsim;        /* the simulator's library; NULL: the one that CMD finds */
    const char *elf_dir;      /* where ELF files say the profile; NULL: they are looked for */
};

/* live_profile.c: the profile that the traces of `command` shall name, from `given` (as --profile
 * has it), from --elf-dir, or from ELF files that are found. Fails, with the exit status, where
 * what was given cannot be had. */
struct cli_live_profile {
    char *json;   /* NULL: none; the caller frees it */
    bool guessed; /* it was looked for without being told */
};
int cli_live_profile(const struct cli_call *call, const struct cli_live_settings *settings,
                     const char *given, const char *const *command,
                     struct cli_live_profile *profile);
/* When the command has ended: tells if what was guessed would be guessed otherwise now. */
void cli_live_profile_again(const struct cli_call *call, const char *const *command,
                            const struct cli_live_profile *profile);

/* Runs `command` (terminated by NULL), tells what was captured into `output`, and gives the
 * command's exit status; ends by the signal that ended it. `profile`: for the header. */
int cli_live_run(const struct cli_call *call, const struct cli_live_settings *settings,
                 const struct cli_live_profile *profile, const char *output,
                 const char *const *command);

/* recover.c: writes what rings hold into the trace, or the whole into `output` if it is not NULL.
 */
int cli_recover(const struct cli_call *call, const char *trace, const char *output);

/* follow.c: a trace is checked while it grows. */
enum { CLI_FOLLOW_SEVERITIES = 3 };
struct cli_follow {
    const struct cli_call *call;
    const char *path;
    struct nocap_follow *check; /* NULL: there is no trace yet */
    bool failed;
    uint64_t next; /* nanoseconds */
    uint64_t counts[CLI_FOLLOW_SEVERITIES];
    char verdict[64]; /* as it was reported last */
};
void cli_follow_start(struct cli_follow *follow, const struct cli_call *call, const char *path);
/* Now and then: prints on standard error what is found in what was captured since. */
void cli_follow_look(struct cli_follow *follow);
/* Prints the rest, if anything was `captured`; gives the number of errors in all. */
uint64_t cli_follow_end(struct cli_follow *follow, bool captured);

#endif
