/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "checker/core/coverage.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format; /* enum nocap_coverage_format */
    struct cli_number jobs, fail_under;
    const char *output, *require, *profile;
    bool trust_paths, dense;
};

static const struct cli_option options[] = {
    {"format", "text|json|markdown", "form of the output (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    CLI_OUTPUT(struct settings),
    {"require", "LIST",
     "families and rules that must be exercised, -\n"
     "excludes: SYN,GO-003,-SYN-004",
     offsetof(struct settings, require), CLI_TEXT, 0},
    {"fail-under", "N",
     "least percentage of the rules that can apply that\n"
     "must be exercised",
     offsetof(struct settings, fail_under), CLI_NUMBER, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    {"jobs", "N", "traces in parallel (1)", offsetof(struct settings, jobs), CLI_NUMBER, 'j'},
};

/* Whether what --require and --fail-under ask for is there; else it is reported. */
static int judge(const struct cli_call *call, const struct nocap_rule_coverage *rules)
{
    const struct settings *s = call->settings;
    const struct nocap_coverage_sum sum = nocap_coverage_sum(rules);
    char text[512];
    int result = CLI_EXIT_OK;
    size_t missing = nocap_coverage_missing(rules, text, sizeof text);
    if (missing != 0) {
        cli_message(call, "%zu rule%s of --require %s not exercised: %s", missing,
                    missing == 1 ? "" : "s", missing == 1 ? "is" : "are", text);
        result = CLI_EXIT_FINDINGS;
    }
    if (s->fail_under.given && sum.exercised * 100u < s->fail_under.value * sum.rules) {
        cli_message(call, "%u of %u rules that can apply are exercised, less than %u %%",
                    sum.exercised, sum.rules, (unsigned)s->fail_under.value);
        result = CLI_EXIT_FINDINGS;
    }
    return result;
}

/* `profile` is JSON; NULL: those of the headers. */
static int cover(const struct cli_call *call, const char *profile)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    struct nocap_rule_coverage rules[NOCAP_RULE_COUNT] = {0};
    const struct nocap_check_options check_options = {.size = sizeof check_options,
                                                      .trust_paths = s->trust_paths,
                                                      .dense = s->dense,
                                                      .profile = profile};
    enum nocap_status status = nocap_coverage_require(rules, s->require, &err);
    if (status == NOCAP_OK) {
        status = cli_output_open(&output, s->output, &err);
    }
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_check_all(call, call->operands.items, call->operands.count, &check_options,
                              s->jobs.given ? s->jobs.value : 1, &results);
    for (size_t i = 0; i < results.count; i++) {
        if (results.list[i].report != NULL) {
            cli_elf_unopened(call, results.list[i].report);
        }
    }
    int result = CLI_EXIT_OK;
    if (cli_check_any(&results, worst)) {
        nocap_coverage_of(&results, rules);
        if (s->format == NOCAP_COVERAGE_TEXT) {
            cli_output_fold(&output);
        }
        FILE *stream = cli_output_stream(&output, &err);
        status = stream == NULL ? NOCAP_E_OUTPUT
                                : nocap_coverage_print(stream, &results, rules,
                                                       (enum nocap_coverage_format)s->format, &err);
        result = cli_output_finish(&output, call, status, &err);
        result = result == CLI_EXIT_OK ? judge(call, rules) : result;
    } else {
        cli_output_abandon(&output);
    }
    nocap_results_free(&results);
    return result > worst ? result : worst;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    char *profile;
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > CLI_JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", CLI_JOBS_MAX);
    }
    if (s->fail_under.given && s->fail_under.value > 100) {
        return cli_usage(call, "--fail-under takes 0 to 100, a percentage");
    }
    int result = cli_profile_json(call, s->profile, &profile);
    if (result == CLI_EXIT_OK) {
        result = cover(call, profile);
    }
    free(profile);
    return result;
}

CLI_COMMAND(command) = {
    .name = "coverage",
    .operands = "TRACE...",
    .summary = "which rules a set of traces exercises, never exercises, cannot show",
    .details = "Checks the traces and adds up, rule by rule; findings do not matter here.\n"
               "Rules that no architecture of these traces has are not counted.",
    .findings = "a rule of --require is not exercised, or fewer are than --fail-under asks for",
    .examples = "  nocap coverage --require SYN,GO --fail-under 60 golden/*.nocap\n"
                "  nocap coverage --jobs 4 --format markdown -o coverage.md traces/*.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
