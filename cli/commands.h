/* SPDX-License-Identifier: Apache-2.0 */
/* A command of the program: one file cli/NAME.c, which defines its row with CLI_COMMAND. The rows
 * gather in a section of the program, so that a new file is all that a new command needs. */
#ifndef NOCAP_CLI_COMMANDS_H
#define NOCAP_CLI_COMMANDS_H

#include "base/status.h"
#include "cli/options.h"

enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FINDINGS = 1, /* findings, a difference, a damaged trace */
    CLI_EXIT_USAGE = 2,
    CLI_EXIT_INPUT = 3,    /* an input cannot be read at all */
    CLI_EXIT_INTERNAL = 4, /* a defect, no memory, or the output cannot be written */
};

struct cli_command;
struct crew_ranks;

/* The program as a function; gives its exit status. `ranks`: of nocap-mpi, or NULL. */
int cli_program(int argc, char **argv, struct crew_ranks *ranks);

/* What a command is called with. */
struct cli_call {
    const struct cli_command *command;
    const void *settings; /* as the command's options filled them */
    struct cli_operands operands;
    struct crew_ranks *ranks; /* of nocap-mpi; NULL: this process is all there is */
    enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } color;
};

/* What a command does if its first operand is this word, with options of its own. */
struct cli_part {
    const char *name;
    const struct cli_option *options;
    size_t option_count;
    int (*run)(const struct cli_call *call);
};

/* What -o makes; only a trace takes the place of a trace. */
enum cli_makes { CLI_MAKES_REPORT, CLI_MAKES_JSONL, CLI_MAKES_TRACE };

struct cli_command {
    const char *name;
    const char *operands;                            /* for the usage line: "TRACE" */
    const char *summary;                             /* one line */
    const char *details;                             /* further lines of --help; may be NULL */
    const char *findings;                            /* when the exit status is 1; NULL: never */
    const char *examples;                            /* two, one a line, each indented by two */
    const struct cli_option *options, *more_options; /* both fill the settings */
    size_t option_count, more_count, settings_size;
    const struct cli_part *parts; /* NULL: none; their options fill the same settings */
    size_t part_count;            /* at most CLI_PARTS_MAX */
    size_t operands_min, operands_max;
    bool spreads; /* over the ranks of nocap-mpi */
    enum cli_makes makes;
    int (*run)(const struct cli_call *call); /* gives the exit status; with parts theirs do */
};
enum { CLI_PARTS_MAX = 4 };

#define CLI_COMMAND(name)                                                                          \
    static const struct cli_command name;                                                          \
    static const struct cli_command *const name##_row                                              \
        __attribute__((section("nocap_commands"), used)) = &name;                                  \
    static const struct cli_command name

#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof(table)[0]
#define CLI_PARTS(table)   .parts = (table), .part_count = sizeof(table) / sizeof(table)[0]
#define CLI_MANY           SIZE_MAX

/* "nocap check: <text>" on stderr, for a usage error with a hint to --help; gives the exit status
 * that belongs to it. All texts on stderr are taken for foreign and stay one line. */
int cli_fail(const struct cli_call *call, enum nocap_status status, const struct nocap_error *err);
/* The same for an error of several lines, as those of filters are. */
int cli_fail_lines(const struct cli_call *call, enum nocap_status status,
                   const struct nocap_error *err);
/* The same for a usage error found by the command itself. */
int cli_usage(const struct cli_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A line on stderr in the same form, nothing else. */
void cli_message(const struct cli_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
