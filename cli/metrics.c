/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json_text.h"
#include "cli/duration.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/tables.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* 0: text, 1: JSON */
    const char *output, *profile;
    struct cli_list most, least;
    bool dense, trust_paths;
};

static const struct cli_option options[] = {
    {"max", "NAME=VALUE",
     "the budget of a metric: more makes the exit status 1;\n"
     "may be repeated",
     offsetof(struct settings, most), CLI_LIST, 0},
    {"min", "NAME=VALUE", "the same for less", offsetof(struct settings, least), CLI_LIST, 0},
    {"format", "text|json", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
};

/* A question of one number, or which of the durations in a table. */
struct metric {
    const char *name, *sql, *table, *which;
};
static const struct metric metrics[] = {
    {"events", "SELECT count(*) FROM events", NULL, NULL},
    {"launches", "SELECT count(*) FROM launches", NULL, NULL},
    {"launches_open", "SELECT count(*) FROM launches WHERE done ISNULL", NULL, NULL},
    {"launch_longest", NULL, "launches", "max"},
    {"launch_average", NULL, "launches", "avg"},
    {"records", "SELECT count(*) FROM records", NULL, NULL},
    {"record_longest", NULL, "records", "max"},
    {"record_average", NULL, "records", "avg"},
    {"requests", "SELECT count(*) FROM requests", NULL, NULL},
    {"request_bytes", "SELECT sum(size) FROM requests", NULL, NULL},
    {"request_longest", NULL, "requests", "max"},
    {"request_average", NULL, "requests", "avg"},
    {"errors", "SELECT count(*) FROM findings WHERE severity = 'error'", NULL, NULL},
    {"warnings", "SELECT count(*) FROM findings WHERE severity = 'warning'", NULL, NULL},
    {"waits", "SELECT count(*) FROM waits", NULL, NULL},
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

/* A value that a metric must not pass, and the metric. */
struct budget {
    int metric;
    bool most; /* else the least */
    struct cli_duration value;
};
enum { BUDGETS_MAX = 64 };

struct measured {
    bool known, has_ns;
    double value, ns;
};

static int ask_metric(struct cli_tables *t, const struct metric *m, struct measured *value)
{
    char sql[128];
    int status;
    if (m->sql != NULL) {
        value->known = cli_tables_number(t, m->sql, &value->value, &status);
        return status;
    }
    snprintf(sql, sizeof sql, "SELECT %s(duration) FROM %s", m->which, m->table);
    value->known = cli_tables_number(t, sql, &value->value, &status);
    if (status != CLI_EXIT_OK || !value->known) {
        return status;
    }
    /* in nanoseconds only where all are */
    snprintf(sql, sizeof sql, "SELECT iif(count(ns) = count(duration), %s(ns), NULL) FROM %s",
             m->which, m->table);
    value->has_ns = cli_tables_number(t, sql, &value->ns, &status);
    return status;
}

static int parse_budget(const struct cli_call *call, const char *text, bool most, struct budget *b)
{
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
    *b = (struct budget){.metric = -1, .most = most};
    for (int i = 0; i < METRICS; i++) {
        if (strlen(metrics[i].name) == length && memcmp(metrics[i].name, text, length) == 0) {
            b->metric = i;
        }
    }
    if (b->metric < 0 || equals == NULL || !cli_parse_duration(equals + 1, &b->value) ||
        (b->value.ns && metrics[b->metric].sql != NULL)) {
        return cli_usage(call,
                         "'%.60s' is no budget: NAME=VALUE, as launch_longest=5us; "
                         "nocap metrics TRACE lists the names",
                         text);
    }
    return CLI_EXIT_OK;
}

static int parse_budgets(const struct cli_call *call, struct budget *budgets, size_t *count)
{
    const struct settings *s = call->settings;
    const struct cli_list *lists[] = {&s->least, &s->most};
    *count = 0;
    for (size_t list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            if (*count == BUDGETS_MAX) {
                return cli_usage(call, "more than %d budgets", BUDGETS_MAX);
            }
            int status = parse_budget(call, lists[list]->items[i], list == 1, &budgets[(*count)++]);
            if (status != CLI_EXIT_OK) {
                return status;
            }
        }
    }
    return CLI_EXIT_OK;
}

/* What was not measured keeps no budget. */
static int judge(const struct cli_call *call, const struct budget *b, const struct measured *m)
{
    const char *name = metrics[b->metric].name, *unit = b->value.ns ? " ns" : "";
    if (!m->known || (b->value.ns && !m->has_ns)) {
        cli_message(call, "%s: %s", name,
                    !m->known ? "there is none, so the budget cannot be kept"
                              : "the trace does not say its clock: give the budget in its unit");
        return CLI_EXIT_FINDINGS;
    }
    double value = b->value.ns ? m->ns : m->value;
    if (b->most ? value > b->value.value : value < b->value.value) {
        cli_message(call, "%s is %.10g%s, the budget is %s %.10g%s", name, value, unit,
                    b->most ? "at most" : "at least", b->value.value, unit);
        return CLI_EXIT_FINDINGS;
    }
    return CLI_EXIT_OK;
}

/* Counts are whole numbers. */
static void put_number(struct nocap_json *json, const char *name, double value)
{
    if (value == (double)(int64_t)value) {
        nocap_json_integer(json, name, (int64_t)value);
    } else {
        nocap_json_real(json, name, value);
    }
}

static enum nocap_status print_json(FILE *out, const struct measured *values,
                                    struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_metrics", 1);
    for (int i = 0; i < METRICS; i++) {
        char name[64];
        if (values[i].known) {
            put_number(&json, metrics[i].name, values[i].value);
        } else {
            nocap_json_null(&json, metrics[i].name);
        }
        if (values[i].has_ns) {
            snprintf(name, sizeof name, "%s_ns", metrics[i].name);
            put_number(&json, name, values[i].ns);
        }
    }
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

static enum nocap_status print_text(FILE *out, const struct measured *values,
                                    struct nocap_error *err)
{
    for (int i = 0; i < METRICS; i++) {
        if (!values[i].known) {
            fprintf(out, "%-16s %12s\n", metrics[i].name, "-");
        } else if (values[i].has_ns) {
            fprintf(out, "%-16s %12.10g  (%.10g ns)\n", metrics[i].name, values[i].value,
                    values[i].ns);
        } else {
            fprintf(out, "%-16s %12.10g\n", metrics[i].name, values[i].value);
        }
    }
    return nocap_flush(out, "the metrics", err);
}

static int measure(struct cli_tables *t, const struct budget *budgets, size_t count)
{
    const struct cli_call *call = t->call;
    const struct settings *s = call->settings;
    struct measured values[METRICS] = {0};
    struct nocap_error err = {{0}};
    struct cli_output output;
    int status = CLI_EXIT_OK;
    for (int i = 0; i < METRICS && status == CLI_EXIT_OK; i++) {
        status = ask_metric(t, &metrics[i], &values[i]);
    }
    if (status != CLI_EXIT_OK) {
        return status;
    }
    if (cli_output_open(&output, s->output, &err) != NOCAP_OK) {
        return cli_fail(call, NOCAP_E_OUTPUT, &err);
    }
    FILE *out = cli_output_stream(&output, &err);
    enum nocap_status printed = out == NULL      ? NOCAP_E_OUTPUT
                                : s->format == 1 ? print_json(out, values, &err)
                                                 : print_text(out, values, &err);
    status = cli_output_finish(&output, call, printed, &err);
    for (size_t i = 0; i < count && status <= CLI_EXIT_FINDINGS; i++) {
        int one = judge(call, &budgets[i], &values[budgets[i].metric]);
        status = one > status ? one : status;
    }
    return status == CLI_EXIT_OK ? t->damage : status;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct budget budgets[BUDGETS_MAX];
    struct cli_tables tables;
    size_t count;
    int status = parse_budgets(call, budgets, &count);
    if (status != CLI_EXIT_OK) {
        return status;
    }
    status = cli_tables_open(&tables, call, call->operands.count,
                             &(struct cli_table_settings){s->profile, s->dense, s->trust_paths});
    if (status == CLI_EXIT_OK) {
        status = measure(&tables, budgets, count);
    }
    cli_tables_close(&tables);
    return status;
}

CLI_COMMAND(command) = {
    .name = "metrics",
    .operands = "TRACE...",
    .summary = "numbers of traces together, and budgets for them",
    .details = "Counts of events, launches, prefetch commands (records), NOC requests, findings\n"
               "and waits, and the longest and the average time of a launch (GO to DONE), a\n"
               "prefetch command (entry written to executed) and a request (issue to done), in\n"
               "the trace's unit and, where it says its clock, in ns. A budget of what was\n"
               "not measured is not kept.\n"
               "\n"
               "Names: events launches launches_open launch_longest launch_average records\n"
               "record_longest record_average requests request_bytes request_longest\n"
               "request_average errors warnings waits",
    .findings = "a budget of --max or --min is not kept, or a trace is damaged",
    .examples = "  nocap metrics --max launch_longest=5us --max errors=0 run.nocap\n"
                "  nocap metrics --min launches=64 --format json -o metrics.json out/*.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
