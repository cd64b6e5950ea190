/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/coverage.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* enum nocap_coverage_format */
    struct cli_number jobs;
    const char *output;
    bool trust_paths, dense;
};

static const struct cli_option options[] = {
    {"format", "text|json|markdown", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    CLI_DENSE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    {"jobs", "N", "traces in parallel (1)", offsetof(struct settings, jobs), CLI_NUMBER, 'j'},
};

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    const struct nocap_check_options check_options = {
        .size = sizeof check_options, .trust_paths = s->trust_paths, .dense = s->dense};
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > CLI_JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", CLI_JOBS_MAX);
    }
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_check_all(call, &check_options, s->jobs.given ? s->jobs.value : 1, &results);
    for (size_t i = 0; i < results.count; i++) {
        if (results.list[i].report != NULL) {
            cli_elf_unopened(call, results.list[i].report);
        }
    }
    int result = CLI_EXIT_OK;
    if (cli_check_any(&results, worst)) {
        FILE *stream = cli_output_stream(&output, &err);
        status = stream == NULL ? NOCAP_E_OUTPUT
                                : nocap_coverage_print(stream, &results,
                                                       (enum nocap_coverage_format)s->format, &err);
        result = cli_output_finish(&output, call, status, &err);
    } else {
        cli_output_abandon(&output);
    }
    nocap_results_free(&results);
    return result > worst ? result : worst;
}

CLI_COMMAND(command) = {
    .name = "coverage",
    .operands = "TRACE...",
    .summary = "which rules a set of traces exercises, never exercises, cannot show",
    .details = "Checks the traces and adds up, rule by rule; findings do not matter here.",
    .examples = "  nocap coverage golden/*.nocap\n"
                "  nocap coverage --jobs 4 --format markdown -o coverage.md traces/*.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
