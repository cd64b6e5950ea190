/* SPDX-License-Identifier: Apache-2.0 */
/* The option --elf CORE=FILE. */
#ifndef NOCAP_CLI_ELF_H
#define NOCAP_CLI_ELF_H

#include "checker/core/checker.h"
#include "cli/commands.h"
#include "formats/elf_cores.h"

/* A row of the options of a command that opens what the header of a trace names. */
#define CLI_TRUST_PATHS(type)                                                                      \
    {                                                                                              \
        "trust-paths", NULL,                                                                       \
            "also open ELF files that the trace names outside of\n"                                \
            "its own folder",                                                                      \
            offsetof(type, trust_paths), CLI_FLAG, 0                                               \
    }

/* .. and of one that checks it. */
#define CLI_ELF(type)                                                                              \
    {                                                                                              \
        "elf", "CORE=FILE",                                                                        \
            "the firmware of a RISC, instead of the one that the\n"                                \
            "header names; for each RISC;\n"                                                       \
            "AIE: uc for all columns, uc<n> for one",                                              \
            offsetof(type, elf), CLI_LIST, 0                                                       \
    }

/* Calls `run` with the arguments taken apart. Gives the exit status. */
int cli_elf_with(const struct cli_call *call, const struct cli_list *args,
                 int (*run)(const struct cli_call *call, const struct nocap_elf_arg *elf,
                            size_t count));

/* Opens what the arguments name. The caller closes the cores, whatever comes, as below. */
int cli_elf_open(const struct cli_call *call, const struct cli_list *args,
                 struct nocap_elf_cores *cores);
/* For other cores what the header of `trace` names; tells what cannot be had. */
int cli_elf_open_named(const struct cli_call *call, const char *trace, bool trusted,
                       const struct nocap_header *header, struct nocap_elf_cores *cores);
/* Tells what of the files that a trace names a check could not open, for commands that do not print
 * its report. */
void cli_elf_unopened(const struct cli_call *call, const struct nocap_report *report);

#endif
