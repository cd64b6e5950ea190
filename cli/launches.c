/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/tables.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* enum cli_table_format */
    const char *output, *longer_than, *profile;
    bool histogram, dense;
    struct cli_tile tile;
};

static const struct cli_option options[] = {
    {"longer-than", "TIME",
     "only launches over TIME: a number in the trace's\n"
     "unit, or 5us, 800ns",
     offsetof(struct settings, longer_than), CLI_TEXT, 0},
    {"tile", "X,Y", "only those of this worker core", offsetof(struct settings, tile), CLI_TILE, 0},
    {"histogram", NULL,
     "how many there are of which duration, instead of a\n"
     "row for each",
     offsetof(struct settings, histogram), CLI_FLAG, 0},
    {"format", CLI_TABLE_FORMATS, "form of the output (text); a histogram is text",
     offsetof(struct settings, format), CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
};

/* The launches that are asked for, as a condition; :a and :b are the tile. */
static void condition(const struct settings *s, const struct cli_duration *longer, char *text,
                      size_t size)
{
    int used = snprintf(text, size, "%s", s->tile.given ? "x = :a AND y = :b" : "1");
    if (s->longer_than != NULL) {
        snprintf(text + used, size - (size_t)used, " AND %s > %.17g",
                 longer->ns ? "ns" : "duration", longer->value);
    }
}

enum { BUCKETS = 64, BAR = 40 };

static void print_buckets(FILE *out, const uint64_t *buckets, uint64_t open, const char *unit)
{
    uint64_t most = 1;
    int first = BUCKETS, last = -1;
    for (int i = 0; i < BUCKETS; i++) {
        most = buckets[i] > most ? buckets[i] : most;
        first = buckets[i] != 0 && first == BUCKETS ? i : first;
        last = buckets[i] != 0 ? i : last;
    }
    for (int i = first; i <= last; i++) {
        int bar = (int)((buckets[i] * BAR + most - 1) / most);
        fprintf(out, "< %12" PRIu64 " %s %8" PRIu64 "  %.*s\n", UINT64_C(1) << i, unit, buckets[i],
                bar, "########################################");
    }
    if (last < 0) {
        fputs("no launch that began and ended\n", out);
    }
    if (open != 0) {
        fprintf(out, "%" PRIu64 " of which the trace does not show both ends\n", open);
    }
}

/* Bucket i: durations below 2^i. In nanoseconds where all have them. */
static int histogram(struct cli_tables *t, const char *where, const sqlite3_int64 *place, FILE *out)
{
    uint64_t buckets[BUCKETS] = {0}, open = 0;
    double without;
    int status;
    bool found = cli_tables_number(
        t, "SELECT count(*) FROM launches WHERE duration NOTNULL AND ns ISNULL", &without, &status);
    bool ns = found && without == 0;
    if (status != CLI_EXIT_OK) {
        return status;
    }
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT %s FROM launches WHERE %s", ns ? "ns" : "duration", where);
    struct cli_rows rows;
    status = cli_rows_open(&rows, t, sql, place);
    while (status == CLI_EXIT_OK && cli_rows_next(&rows, &status)) {
        if (sqlite3_column_type(rows.statement, 0) == SQLITE_NULL) {
            open++;
            continue;
        }
        uint64_t duration = (uint64_t)sqlite3_column_int64(rows.statement, 0);
        buckets[duration == 0 ? 0 : 64 - __builtin_clzll(duration)]++;
    }
    cli_rows_close(&rows);
    if (status == CLI_EXIT_OK) {
        print_buckets(out, buckets, open, ns ? "ns" : "units");
    }
    return status;
}

static int ask(struct cli_tables *t, const struct cli_duration *longer, FILE *out)
{
    const struct settings *s = t->call->settings;
    const sqlite3_int64 place[CLI_TABLE_VALUES] = {s->tile.at.x, s->tile.at.y};
    char where[128], sql[512];
    condition(s, longer, where, sizeof where);
    if (s->histogram) {
        return histogram(t, where, place, out);
    }
    double chip = 0;
    int status;
    cli_tables_number(t, "SELECT max(chip) FROM launches", &chip, &status);
    if (status != CLI_EXIT_OK) {
        return status;
    }
    snprintf(
        sql, sizeof sql,
        "SELECT %s%stile, n, agent, go, go_t, done, done_t, duration, ns FROM launches WHERE %s",
        t->call->operands.count > 1 ? "trace, " : "", chip > 0 ? "chip, " : "", where);
    return cli_tables_run(t, sql, place, (enum cli_table_format)s->format, out);
}

static int run_with(struct cli_tables *t, const struct cli_duration *longer)
{
    const struct settings *s = t->call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    int status = CLI_EXIT_OK;
    if (longer->ns) {
        status = cli_tables_need_clock(t, "launches");
    }
    if (status != CLI_EXIT_OK) {
        return status;
    }
    if (cli_output_open(&output, s->output, &err) != NOCAP_OK) {
        return cli_fail(t->call, NOCAP_E_OUTPUT, &err);
    }
    FILE *out = cli_output_stream(&output, &err);
    status = out == NULL ? cli_fail(t->call, NOCAP_E_OUTPUT, &err) : ask(t, longer, out);
    if (status != CLI_EXIT_OK) {
        cli_output_abandon(&output);
        return status;
    }
    status = cli_output_finish(&output, t->call, NOCAP_OK, &err);
    struct nocap_xy tile = s->tile.at;
    if (status == CLI_EXIT_OK) {
        status = cli_tell_untouched(t->call, t->call->operands.items, t->call->operands.count,
                                    s->dense, &tile, s->tile.given);
    }
    return status == CLI_EXIT_OK ? t->damage : status;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct cli_duration longer = {0, false};
    struct cli_tables tables;
    if (s->longer_than != NULL && !cli_parse_duration(s->longer_than, &longer)) {
        return cli_usage(call, "--longer-than takes a number, also with ns, us, ms or s: 5us");
    }
    if (s->histogram && s->format != CLI_TABLE_TEXT) {
        return cli_usage(call, "--histogram is text: leave --format out");
    }
    int status = cli_tables_open(&tables, call, call->operands.count,
                                 &(struct cli_table_settings){s->profile, s->dense, false});
    if (status == CLI_EXIT_OK) {
        status = run_with(&tables, &longer);
    }
    cli_tables_close(&tables);
    return status;
}

CLI_COMMAND(command) = {
    .name = "launches",
    .operands = "TRACE...",
    .summary = "kernel launches, from GO to DONE, and how long they took",
    .details = "duration is in the unit of the trace, ns is there where the header says the\n"
               "clock. go and done are the events. Where the RISCs were not traced, DONE is\n"
               "when the host read it. The same rows are the table launches of nocap sql,\n"
               "which has more of each.",
    .findings = "a trace is damaged; the launches of what could be read are listed",
    .examples = "  nocap launches --longer-than 5us --histogram run.nocap\n"
                "  nocap launches --tile 1,2 --format csv -o launches.csv run.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
