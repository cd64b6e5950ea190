/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/tables.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* enum cli_table_format */
    const char *output, *profile;
    bool dense, trust_paths;
};

static const struct cli_option options[] = {
    {"format", CLI_TABLE_FORMATS, "form of the answer (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
};

/* A question has blanks, and is no file. */
static bool is_query(const char *operand)
{
    return strpbrk(operand, " \t\n") != NULL && access(operand, F_OK) != 0;
}

/* The traces are there and are traces, before any question, which may read none of their tables. A
 * word that is no file is more likely part of one. */
static int find_traces(const struct cli_call *call, size_t count, bool queried)
{
    struct nocap_error err;
    for (size_t i = 0; i < count; i++) {
        const char *path = call->operands.items[i];
        struct stat st;
        if (strcmp(path, "-") == 0 && !queried) {
            return cli_usage(call, "- is a trace: without a query statements are read there");
        }
        if (strcmp(path, "-") == 0) {
            continue;
        }
        if (stat(path, &st) == 0) {
            enum nocap_status status =
                S_ISFIFO(st.st_mode) ? NOCAP_OK : nocap_import_probe(path, &err);
            if (status != NOCAP_OK) {
                return cli_fail(call, status, &err);
            }
            continue;
        }
        if (is_query(path)) {
            return cli_usage(call, "the query '%.100s' is before a trace: it comes last", path);
        }
        if (strpbrk(path, "./") == NULL) {
            return cli_usage(call,
                             "'%.100s' is neither a file nor a query: a query is one word of the "
                             "shell, in quotes",
                             path);
        }
        snprintf(err.text, sizeof err.text, "cannot open %.900s: %s", path, strerror(errno));
        return cli_fail(call, NOCAP_E_INPUT, &err);
    }
    return CLI_EXIT_OK;
}

static void show_prompt(bool continues)
{
    if (isatty(STDIN_FILENO)) {
        fputs(continues ? "  ...> " : "nocap> ", stderr);
    }
}

/* Appends a line to the statement; false without memory. */
static bool append(char **statement, const char *line)
{
    size_t used = *statement == NULL ? 0 : strlen(*statement), length = strlen(line);
    char *more = realloc(*statement, used + length + 1);
    if (more != NULL) {
        memcpy(more + used, line, length + 1);
        *statement = more;
    }
    return more != NULL;
}

/* Statements from standard input. On a terminal a wrong one ends nothing. */
static int ask_lines(struct cli_tables *tables, const struct settings *s, FILE *out)
{
    char *line = NULL, *statement = NULL;
    size_t size = 0;
    int status = CLI_EXIT_OK;
    bool person = isatty(STDIN_FILENO);
    if (person) {
        fputs("tables: events counts launches records requests findings waits; statements end with "
              ";\n",
              stderr);
    }
    for (show_prompt(false); getline(&line, &size, stdin) >= 0; show_prompt(statement != NULL)) {
        if (!append(&statement, line)) {
            status = CLI_EXIT_INTERNAL;
            break;
        }
        if (!sqlite3_complete(statement)) {
            continue;
        }
        status = cli_tables_run(tables, statement, NULL, (enum cli_table_format)s->format, out);
        free(statement);
        statement = NULL;
        if (status != CLI_EXIT_OK && !person) {
            break;
        }
    }
    if (statement != NULL && (person || status == CLI_EXIT_OK)) { /* without ; at the end */
        status = cli_tables_run(tables, statement, NULL, (enum cli_table_format)s->format, out);
    }
    free(statement);
    free(line);
    return status;
}

static int ask(struct cli_tables *tables, const char *query)
{
    const struct cli_call *call = tables->call;
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    enum nocap_status opened = cli_output_open(&output, s->output, &err);
    FILE *out = opened == NOCAP_OK ? cli_output_stream(&output, &err) : NULL;
    if (out == NULL) {
        return cli_fail(call, NOCAP_E_OUTPUT, &err);
    }
    int status = query != NULL
                     ? cli_tables_run(tables, query, NULL, (enum cli_table_format)s->format, out)
                     : ask_lines(tables, s, out);
    if (status != CLI_EXIT_OK) {
        cli_output_abandon(&output);
        return status;
    }
    status = cli_output_finish(&output, call, NOCAP_OK, &err);
    return status == CLI_EXIT_OK ? tables->damage : status;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    const char **operands = call->operands.items;
    size_t count = call->operands.count;
    const char *query = count > 1 && is_query(operands[count - 1]) ? operands[count - 1] : NULL;
    struct cli_tables tables;
    int status = find_traces(call, count - (query != NULL), query != NULL);
    if (status != CLI_EXIT_OK) {
        return status;
    }
    status = cli_tables_open(&tables, call, count - (query != NULL),
                             &(struct cli_table_settings){s->profile, s->dense, s->trust_paths});
    if (status == CLI_EXIT_OK) {
        status = ask(&tables, query);
    }
    cli_tables_close(&tables);
    return status;
}

CLI_COMMAND(command) = {
    .name = "sql",
    .operands = "TRACE... [QUERY]",
    .summary = "ask traces in SQL: events, counts, launches, records, requests, findings, waits",
    .details = "Each is a table, with the trace's path in the column trace. counts has n and\n"
               "bytes of the events that agree in the columns that a statement names: the\n"
               "fastest way to count. Without QUERY statements are read from standard input.\n"
               "Conditions on idx and t use the trace's seek table. Columns: SELECT name FROM\n"
               "pragma_table_info('launches'). The same tables in the sqlite3 shell: .load\n"
               "libnocap-sqlite.so and SELECT nocap('run.nocap').",
    .findings = "a trace is damaged; what could be read was asked",
    .examples = "  nocap sql run.nocap 'select agent, count(*) from events group by agent'\n"
                "  nocap sql out/*.nocap 'select trace, max(ns) from launches group by trace'",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
