/* SPDX-License-Identifier: Apache-2.0 */
/* nocap COMMAND ...: finds the command, has its options parsed, runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <protobuf-c/protobuf-c.h>
#include <zstd.h>

#include "base/foreign_text.h"
#include "base/nearest.h"
#include "base/temporary.h"
#include "cli/bounded.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/trace_input.h"

extern const struct cli_command *const __start_nocap_commands[];
extern const struct cli_command *const __stop_nocap_commands[];

/* ---- messages ---- */

void cli_message(const struct cli_call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "nocap %s: ", call->command->name);
    foreign_vline(stderr, format, args);
    va_end(args);
}

static int exit_status(const struct cli_call *call, enum nocap_status status)
{
    switch (status) {
    case NOCAP_E_USAGE:
        fprintf(stderr, "try nocap %s --help\n", call->command->name);
        return CLI_EXIT_USAGE;
    case NOCAP_E_INPUT: return CLI_EXIT_INPUT;
    default: return CLI_EXIT_INTERNAL;
    }
}

int cli_fail(const struct cli_call *call, enum nocap_status status, const struct nocap_error *err)
{
    cli_message(call, "%s", err->text);
    return exit_status(call, status);
}

int cli_fail_lines(const struct cli_call *call, enum nocap_status status,
                   const struct nocap_error *err)
{
    const char *line = err->text;
    size_t length = strcspn(line, "\n");
    cli_message(call, "%.*s", (int)length, line);
    while (line[length] != 0) {
        line += length + 1;
        length = strcspn(line, "\n");
        foreign_line(stderr, "%.*s", (int)length, line);
    }
    return exit_status(call, status);
}

int cli_usage(const struct cli_call *call, const char *format, ...)
{
    struct nocap_error err;
    va_list args;
    va_start(args, format);
    vsnprintf(err.text, sizeof err.text, format, args);
    va_end(args);
    return cli_fail(call, NOCAP_E_USAGE, &err);
}

/* ---- help ---- */

static void print_commands(FILE *out)
{
    for (const struct cli_command *const *v = __start_nocap_commands; v < __stop_nocap_commands;
         v++) {
        fprintf(out, "  %-11s %s\n", (*v)->name, (*v)->summary);
    }
}

static void print_usage(FILE *out, const void *nothing)
{
    (void)nothing;
    fputs("usage: nocap COMMAND [OPTIONS] ...\n"
          "       nocap COMMAND --help | nocap --help | nocap --version\n\n"
          "Captures, replays and checks the control plane of AI accelerators.\n\ncommands:\n",
          out);
    print_commands(out);
}

struct help {
    const struct cli_command *command;
    const struct cli_options *tables;
    size_t table_count;
    const struct cli_part *part; /* NULL: all parts */
};

static void print_options(FILE *out, const struct help *h)
{
    fputs("\noptions:\n", out);
    cli_options_print(out, h->tables, h->table_count);
    for (size_t i = 0; i < h->command->part_count; i++) {
        const struct cli_part *p = &h->command->parts[i];
        if (h->part == NULL || p == h->part) {
            fprintf(out, "\noptions of %s:\n", p->name);
            cli_options_print(out, &(struct cli_options){p->options, p->option_count, NULL, NULL},
                              1);
        }
    }
}

static void print_command_help(FILE *out, const void *help)
{
    const struct help *h = help;
    const struct cli_command *command = h->command;
    fprintf(out, "usage: nocap %s [OPTIONS]%s%s\n\n%s\n", command->name,
            command->operands[0] != '\0' ? " " : "", command->operands, command->summary);
    if (command->details != NULL) {
        fprintf(out, "\n%s\n", command->details);
    }
    print_options(out, h);
    fprintf(out, "\nexit status:\n  %d  success\n", CLI_EXIT_OK);
    if (command->findings != NULL) {
        fprintf(out, "  %d  %s\n", CLI_EXIT_FINDINGS, command->findings);
    }
    fprintf(out,
            "  %d  usage error\n  %d  cannot read an input\n"
            "  %d  an internal error, or the output cannot be written\n",
            CLI_EXIT_USAGE, CLI_EXIT_INPUT, CLI_EXIT_INTERNAL);
    fprintf(out, "\nexamples:\n%s\n", command->examples);
}

/* ---- running ---- */

struct common_settings {
    bool help;
    unsigned color;
};

static const struct cli_option common_options[] = {
    {"color", "auto|always|never",
     "colours in text; auto: on a terminal, unless NO_COLOR\n"
     "is set",
     offsetof(struct common_settings, color), CLI_CHOICE, 0},
    {"help", NULL, "this text", offsetof(struct common_settings, help), CLI_FLAG, 'h'},
};

static int no_part(const struct cli_call *call)
{
    char names[100] = "";
    size_t used = 0;
    for (size_t i = 0; i < call->command->part_count && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 call->command->parts[i].name);
    }
    return cli_usage(call, "'%.100s' is none of %s", call->operands.items[0], names);
}

static int check_operands(const struct cli_call *call, const struct cli_part *part)
{
    const struct cli_command *command = call->command;
    size_t n = call->operands.count;
    if (n > 0 && command->part_count != 0 && part == NULL) {
        return no_part(call);
    }
    if (n < command->operands_min) {
        return cli_usage(call, "missing operand: nocap %s %s", command->name, command->operands);
    }
    if (n > command->operands_max) {
        return cli_usage(call, "unexpected argument '%.100s': nocap %s%s%s",
                         call->operands.items[command->operands_max], command->name,
                         command->operands[0] != '\0' ? " " : "", command->operands);
    }
    size_t standard = 0;
    for (size_t i = 0; i < call->operands.plain; i++) {
        standard += strcmp(call->operands.items[i], "-") == 0;
    }
    return standard > 1 ? cli_usage(call, "- is standard input, which can be read only once")
                        : CLI_EXIT_OK;
}

/* The file of -o; NULL: none. */
static const char *output_of(const struct cli_call *call)
{
    const struct cli_command *command = call->command;
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *o = &command->options[i];
        if (strcmp(o->name, "output") == 0) {
            return *(const char *const *)((const char *)call->settings + o->offset);
        }
    }
    return NULL;
}

/* An output takes the place of a file of that name: not of one that is read here, and a report not
 * of a trace, as where the shell makes `-o traces/a.nocap traces/b.nocap` of a pattern. After --
 * stand the words of a command. */
static int check_output(const struct cli_call *call)
{
    const char *output = output_of(call);
    struct stat to, from;
    if (output != NULL && output[0] == '\0') {
        return cli_usage(call, "-o is given no name");
    }
    if (output == NULL || stat(output, &to) != 0 || !S_ISREG(to.st_mode)) {
        return CLI_EXIT_OK;
    }
    for (size_t i = 0; i < call->operands.plain; i++) {
        if (stat(call->operands.items[i], &from) == 0 && from.st_dev == to.st_dev &&
            from.st_ino == to.st_ino) {
            return cli_usage(call, "%.200s is read here: give -o another name", output);
        }
    }
    return cli_keep_trace(call, output, call->command->makes);
}

/* The part that the first operand names; NULL: none. */
static const struct cli_part *part_of(const struct cli_command *command, const char *name)
{
    for (size_t i = 0; name != NULL && i < command->part_count; i++) {
        if (strcmp(command->parts[i].name, name) == 0) {
            return &command->parts[i];
        }
    }
    return NULL;
}

/* The parts' tables, that of `part` as its own and in front. */
static size_t part_tables(struct cli_options *tables, const struct cli_command *command,
                          const struct cli_part *part, void *settings)
{
    size_t count = 0;
    for (int own = 1; own >= 0; own--) {
        for (size_t i = 0; i < command->part_count; i++) {
            const struct cli_part *p = &command->parts[i];
            if ((p == part) == (own == 1)) {
                tables[count++] = (struct cli_options){p->options, p->option_count, settings,
                                                       part != NULL && !own ? part->name : NULL};
            }
        }
    }
    return count;
}

static int run_command(const struct cli_command *command, int argc, char **argv,
                       struct crew_ranks *ranks)
{
    enum { OWN, MORE, COMMON, PARTS, TABLES = PARTS + CLI_PARTS_MAX };
    struct nocap_error err = {{0}};
    struct common_settings common = {0};
    void *settings = calloc(1, command->settings_size + 1);
    struct cli_call call = {.command = command, .settings = settings, .ranks = ranks};
    struct cli_options tables[TABLES] = {
        [OWN] = {command->options, command->option_count, settings, NULL},
        [MORE] = {command->more_options, command->more_count, settings, NULL},
        [COMMON] = {common_options, sizeof common_options / sizeof common_options[0], &common,
                    NULL},
    };
    int result;
    if (settings == NULL) {
        nocap_fail(&err, NOCAP_E_MEMORY, "out of memory");
        return cli_fail(&call, NOCAP_E_MEMORY, &err);
    }
    size_t count = PARTS + part_tables(tables + PARTS, command, NULL, settings);
    const struct cli_part *part =
        part_of(command, cli_options_first_operand(tables, count, argc, argv));
    part_tables(tables + PARTS, command, part, settings);
    enum nocap_status status = cli_options_parse(tables, count, argc, argv, &call.operands, &err);
    if (common.help) {
        cli_print_folded(print_command_help, &(const struct help){command, tables, PARTS, part});
        result = CLI_EXIT_OK;
    } else if (status != NOCAP_OK) {
        result = cli_fail(&call, status, &err);
    } else {
        call.color = (enum cli_color)common.color;
        result = ranks != NULL && !command->spreads
                     ? cli_usage(&call, "it does not run over ranks: nocap-mpi has check alone")
                     : check_operands(&call, part);
        if (result == CLI_EXIT_OK) {
            result = check_output(&call);
        }
        if (result == CLI_EXIT_OK) {
            result = part != NULL ? part->run(&call) : command->run(&call);
        }
    }
    cli_options_free(tables, count, &call.operands);
    free(settings);
    return result;
}

static const struct cli_command *find_command(const char *name)
{
    for (const struct cli_command *const *v = __start_nocap_commands; v < __stop_nocap_commands;
         v++) {
        if (strcmp((*v)->name, name) == 0) {
            return *v;
        }
    }
    return NULL;
}

static const char *command_name(unsigned i)
{
    return __start_nocap_commands[i]->name;
}

static int unknown_command(const char *name)
{
    unsigned count = (unsigned)(__stop_nocap_commands - __start_nocap_commands);
    const char *meant = nocap_nearest(name, strlen(name), command_name, count);
    foreign_line(stderr,
                 "nocap: unknown %s '%.100s'%s%s; commands:", name[0] == '-' ? "option" : "command",
                 name, meant != NULL ? ", did you mean " : "", meant != NULL ? meant : "");
    print_commands(stderr);
    return CLI_EXIT_USAGE;
}

static int run(int argc, char **argv, struct crew_ranks *ranks)
{
    if (argc < 2) {
        print_usage(stderr, NULL);
        return CLI_EXIT_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_folded(print_usage, NULL);
        return CLI_EXIT_OK;
    }
    if (strcmp(first, "--version") == 0) {
        printf("nocap %s, zstd %s, protobuf-c %s\n", NOCAP_VERSION, ZSTD_versionString(),
               protobuf_c_version());
        return CLI_EXIT_OK;
    }
    const struct cli_command *command = find_command(first);
    if (command == NULL) {
        return unknown_command(first);
    }
    return run_command(command, argc - 2, argv + 2, ranks);
}

/* A standard file that is closed would become the next file that is opened. In its place stands one
 * that cannot be used: reading and writing fail as they did. */
static void hold_standard_files(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", modes[fd]); /* takes the lowest number that is free */
        }
    }
}

/* What has not become an output does not stay, nor what was started to make it. */
static void end_by_signal(int number)
{
    /* both only unlink and signal what is in lists of fixed size */
    temporary_remove_all(); /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
    cli_command_end_all();  /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that whoever started the program has it ignore stays ignored. */
static void clean_up_after_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (signal(ends[i], end_by_signal) == SIG_IGN) {
            signal(ends[i], SIG_IGN);
        }
    }
}

int cli_program(int argc, char **argv, struct crew_ranks *ranks)
{
    hold_standard_files();
    clean_up_after_signals();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is EPIPE, and is no failure */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is EFBIG */
    int result = run(argc, argv, ranks);
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "nocap: cannot write standard output: %s\n", strerror(errno));
        return CLI_EXIT_INTERNAL;
    }
    return result;
}
