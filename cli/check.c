/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format;  /* enum nocap_format */
    unsigned fail_on; /* which of error|warning|note */
    bool strict;
    const char *rules, *waivers, *baseline, *output, *profile;
    struct cli_number max_per_rule, from, to, jobs;
    struct cli_tile tile;
    struct cli_list elf;
    bool all, verbose, dense, trust_paths;
};

/* In the order of the words of --fail-on. */
static const enum nocap_severity fail_on[] = {NOCAP_ERROR, NOCAP_WARNING, NOCAP_NOTE};

static const struct cli_option options[] = {
    {"format", "text|json|sarif|junit|github|markdown|baseline", "form of the report (text)",
     offsetof(struct settings, format), CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"fail-on", "error|warning|note", "least severity that makes the exit status 1 (error)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"strict", NULL, "a trace that is cut short or not judged makes the exit status 1 too",
     offsetof(struct settings, strict), CLI_FLAG, 0},
    {"rules", "LIST", "only these families and rules, - excludes: SYN,GO-003,-SYN-004",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    {"waivers", "FILE", "findings that are known and accepted", offsetof(struct settings, waivers),
     CLI_TEXT, 0},
    {"baseline", "REPORT", "only what this report (--format baseline) does not have yet fails",
     offsetof(struct settings, baseline), CLI_TEXT, 0},
    {"max-per-rule", "N", "findings shown of each rule (20); all are counted",
     offsetof(struct settings, max_per_rule), CLI_NUMBER, 0},
    {"all", NULL, "list what follows from a finding, too", offsetof(struct settings, all), CLI_FLAG,
     0},
    {"verbose", NULL, "text has the verdicts by family, and why rules could not be judged",
     offsetof(struct settings, verbose), CLI_FLAG, 'v'},
    {"from", "TIME", "only findings at or after TIME", offsetof(struct settings, from), CLI_NUMBER,
     0},
    {"to", "TIME", "only what happened up to TIME", offsetof(struct settings, to), CLI_NUMBER, 0},
    {"tile", "X,Y", "only findings of this tile", offsetof(struct settings, tile), CLI_TILE, 0},
    {"elf", "CORE=FILE",
     "the firmware of a core, instead of the one that the header names; for each core;\n"
     "AIE: uc for all columns, uc<n> for one",
     offsetof(struct settings, elf), CLI_LIST, 0},
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    {"jobs", "N", "traces in parallel (1)", offsetof(struct settings, jobs), CLI_NUMBER, 'j'},
};

/* Checks, prints, and gives the worst that happened. */
static int check_all(const struct cli_call *call, const struct nocap_check_options *check_options,
                     const struct cli_accepted *accepted)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    int worst = cli_check_all(call, check_options, s->jobs.given ? s->jobs.value : 1, &results);
    results.fail_on = fail_on[s->fail_on];
    results.all = s->all;
    results.verbose = s->verbose;
    results.strict = s->strict;
    return cli_results_finish(call, &output, &results, (enum nocap_format)s->format, accepted,
                              worst);
}

static struct nocap_check_options options_of(const struct settings *s)
{
    return (struct nocap_check_options){
        .size = sizeof(struct nocap_check_options),
        .rules = s->rules,
        .max_per_rule = (uint32_t)s->max_per_rule.value,
        .has_from = s->from.given,
        .has_to = s->to.given,
        .has_tile = s->tile.given,
        .from = s->from.value,
        .to = s->to.value,
        .tile = s->tile.at,
        .dense = s->dense,
        .trust_paths = s->trust_paths,
    };
}

static int check_accepting(const struct cli_call *call, struct nocap_check_options *check_options)
{
    const struct settings *s = call->settings;
    struct cli_accepted accepted;
    int result = cli_accepted_open(call, s->baseline, s->waivers, &accepted);
    if (result == CLI_EXIT_OK) {
        check_options->known = accepted.known;
        check_options->accepted = accepted.waivers;
        result = check_all(call, check_options, &accepted);
    }
    cli_accepted_close(&accepted);
    return result;
}

static int run_with(const struct cli_call *call, const struct nocap_elf_arg *elf, size_t count)
{
    const struct settings *s = call->settings;
    struct nocap_check_options check_options = options_of(s);
    char *profile;
    int result = cli_profile_json(call, s->profile, &profile);
    check_options.elf = elf;
    check_options.elf_count = count;
    check_options.profile = profile;
    if (result == CLI_EXIT_OK) {
        result = check_accepting(call, &check_options);
    }
    free(profile);
    return result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > CLI_JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", CLI_JOBS_MAX);
    }
    int status;
    if (!cli_max_per_rule(call, &s->max_per_rule, &status)) {
        return status;
    }
    if (s->from.given && s->to.given && s->from.value > s->to.value) {
        return cli_usage(call, "--from is after --to");
    }
    return cli_elf_with(call, &s->elf, run_with);
}

CLI_COMMAND(command) = {
    .name = "check",
    .operands = "TRACE...",
    .summary = "replay traces through the reference model, report every divergence",
    .details = "TRACE is a .nocap file or JSON Lines, plain or zstd-compressed; - is standard "
               "input. With several\n"
               "traces there is one report of all, in their order, and the exit status is that of "
               "the worst;\n"
               "in text a trace without findings is then one line.\n"
               "A trace that is cut short or damaged is judged on what could be read; that itself "
               "is a finding.",
    .findings = "findings at or above the severity of --fail-on; --strict: a trace that is cut "
                "short or not judged",
    .examples = "  nocap check run.nocap\n"
                "  nocap check --jobs 4 --format sarif -o nocap.sarif traces/*.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
