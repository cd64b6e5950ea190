/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "checker/report/parts.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format;  /* enum nocap_format */
    unsigned fail_on; /* which of error|warning|note */
    bool strict, all, verbose;
    const char *output;
};

static const struct cli_option options[] = {
    CLI_REPORT_FORMAT(struct settings),
    CLI_OUTPUT(struct settings),
    CLI_REPORT_FAILS(struct settings),
    CLI_REPORT_SHOWN(struct settings),
};

/* The results of all files; tells what fails, and what is missing. */
static int read_all(const struct cli_call *call, struct nocap_results *results)
{
    struct nocap_error err;
    struct nocap_parts *parts;
    uint64_t missing = 0;
    enum nocap_status status = nocap_parts_new(&parts, &err);
    for (size_t i = 0; status == NOCAP_OK && i < call->operands.count; i++) {
        status = nocap_parts_read(parts, call->operands.items[i], &err);
    }
    if (status == NOCAP_OK) {
        status = nocap_parts_results(parts, results, &missing, &err);
    }
    nocap_parts_free(parts);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_report_unreadable(call, results);
    if (missing != 0) {
        cli_message(call,
                    "%" PRIu64 " of %" PRIu64
                    " traces are missing: name the reports or journals of "
                    "all shards, each finished",
                    missing, missing + results->count);
        worst = CLI_EXIT_INPUT;
    }
    return worst;
}

static int run(const struct cli_call *call)
{
    static const struct cli_accepted none = {NULL, NULL};
    const struct settings *s = call->settings;
    struct nocap_error err;
    struct nocap_results results = {0};
    struct cli_output output;
    int input = cli_stdin_again(call);
    if (input != CLI_EXIT_OK) {
        return input;
    }
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = read_all(call, &results);
    results.fail_on = cli_fail_on[s->fail_on];
    results.all = s->all;
    results.verbose = s->verbose;
    results.strict = s->strict;
    return cli_results_finish(call, &output, &results, (enum nocap_format)s->format, &none, worst);
}

CLI_COMMAND(command) = {
    .name = "merge",
    .operands = "REPORT...",
    .summary = "one report of several, as if one check had made it",
    .details = "REPORT is what nocap check wrote with --format json, or its --journal. Those\n"
               "of the shards of one list of traces may be in any order; other reports\n"
               "follow in the order in which they are named.",
    .findings = "findings at or above the severity of --fail-on; --strict: a trace that is cut "
                "short or not judged",
    .examples = "  nocap merge shard-*.json\n"
                "  nocap merge --format junit -o nightly.xml *.journal",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
