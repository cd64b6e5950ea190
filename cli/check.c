/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/temporary.h"
#include "cli/check_jobs.h"
#include "cli/commands.h"
#include "cli/elf.h"
#include "cli/journal.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/spread.h"
#include "cli/trace_input.h"

struct settings {
    unsigned format;  /* enum nocap_format */
    unsigned fail_on; /* which of error|warning|note */
    bool strict;
    const char *rules, *waivers, *baseline, *output, *profile, *shard, *journal;
    struct cli_number max_per_rule, from, to, jobs;
    struct cli_tile tile;
    struct cli_list elf;
    bool all, verbose, dense, trust_paths;
};

static const struct cli_option options[] = {
    CLI_REPORT_FORMAT(struct settings),
    CLI_OUTPUT(struct settings),
    CLI_REPORT_FAILS(struct settings),
    {"rules", "LIST",
     "only these families and rules, - excludes:\n"
     "SYN,GO-003,-SYN-004",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    CLI_REPORT_OPTIONS(struct settings),
    CLI_REPORT_SHOWN(struct settings),
    {"from", "TIME", "only findings at or after TIME", offsetof(struct settings, from), CLI_NUMBER,
     0},
    {"to", "TIME", "only what happened up to TIME", offsetof(struct settings, to), CLI_NUMBER, 0},
    {"tile", "X,Y", "only findings of this core", offsetof(struct settings, tile), CLI_TILE, 0},
    CLI_ELF(struct settings),
    CLI_DENSE(struct settings),
    CLI_PROFILE(struct settings),
    CLI_TRUST_PATHS(struct settings),
    {"jobs", "N",
     "cores (all of them): traces are judged in parallel,\n"
     "each by two where there are more cores than traces",
     offsetof(struct settings, jobs), CLI_NUMBER, 'j'},
    {"shard", "I/N",
     "only the I-th of N parts of the traces, parts of much\n"
     "the same size; nocap merge makes one report of those\n"
     "of all",
     offsetof(struct settings, shard), CLI_TEXT, 0},
    {"journal", "FILE",
     "keep each result in FILE as it comes, and go on there\n"
     "if it has some; a trace that crashes the checker\n"
     "twice counts as unreadable",
     offsetof(struct settings, journal), CLI_TEXT, 0},
};

static size_t jobs_of(const struct settings *s)
{
    return s->jobs.given ? s->jobs.value : cli_cores();
}

/* By processes of this machine. */
static int journal_here(const struct cli_journal_run *run, const struct settings *s,
                        struct nocap_results *results)
{
    struct nocap_error err;
    struct crew_local crew;
    enum nocap_status status = crew_local_open(&crew, jobs_of(s), cli_journal_judge, run, &err);
    if (status != NOCAP_OK) {
        return cli_fail(run->call, status, &err);
    }
    int result = cli_journal_run(run, s->journal, &crew.crew, results);
    crew_local_close(&crew);
    return result;
}

/* By all ranks, of which this is the first. */
static int journal_over_ranks(const struct cli_journal_run *run, const struct settings *s,
                              struct nocap_results *results)
{
    struct nocap_error err;
    struct crew *crew;
    char path[PATH_MAX] = "";
    enum nocap_status status =
        run->call->ranks->open(run->call->ranks, cli_journal_judge, run, &crew, &err);
    if (status == NOCAP_OK && s->journal == NULL) {
        status = temporary_make(path, "nocap-journal", &err);
    }
    if (status != NOCAP_OK) {
        return cli_fail(run->call, status, &err);
    }
    int result = cli_journal_run(run, s->journal != NULL ? s->journal : path, crew, results);
    temporary_remove(path);
    return result;
}

/* The results of what is this run's part of the traces. */
static int judge(const struct cli_journal_run *run, struct nocap_results *results)
{
    const struct settings *s = run->call->settings;
    bool kept = s->journal != NULL || run->call->ranks != NULL;
    int result = !kept ? cli_check_all(run->call, run->spread->paths, run->spread->count,
                                       run->options, jobs_of(s), results)
                 : run->call->ranks != NULL ? journal_over_ranks(run, s, results)
                                            : journal_here(run, s, results);
    return kept && result == CLI_EXIT_OK ? cli_report_unreadable(run->call, results) : result;
}

/* Checks, prints, and gives the worst that happened. */
static int check_all(const struct cli_journal_run *run, const struct cli_accepted *accepted)
{
    static const struct cli_accepted none = {NULL, NULL};
    const struct settings *s = run->call->settings;
    struct nocap_error err = {{0}};
    struct nocap_results results = {0};
    struct cli_output output;
    bool noted =
        s->journal != NULL || run->call->ranks != NULL; /* of the waivers, with the results */
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(run->call, status, &err);
    }
    int worst = judge(run, &results);
    results.fail_on = cli_fail_on[s->fail_on];
    results.all = s->all;
    results.verbose = s->verbose;
    results.strict = s->strict;
    if (s->shard != NULL && s->format == NOCAP_FORMAT_JSON && !noted) {
        results.shard = &run->spread->shard;
        results.waivers = accepted->waivers;
        noted = true;
    }
    return cli_results_finish(run->call, &output, &results, (enum nocap_format)s->format,
                              noted ? &none : accepted, worst);
}

/* One of the other ranks of nocap-mpi: what it judges is printed by the first. */
static int serve(const struct cli_journal_run *run)
{
    struct nocap_error err;
    enum nocap_status status =
        run->call->ranks->serve(run->call->ranks, cli_journal_judge, run, &err);
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(run->call, status, &err);
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

static int check_spread(const struct cli_call *call, struct nocap_check_options *check_options,
                        const struct cli_accepted *accepted)
{
    const struct settings *s = call->settings;
    struct cli_spread spread;
    struct cli_journal_run run = {.call = call, .spread = &spread, .options = check_options};
    char *key = NULL;
    int result = CLI_EXIT_OK;
    if (s->shard != NULL || s->journal != NULL || call->ranks != NULL) {
        result = cli_check_key(call, check_options, s->waivers, s->baseline, &key);
    }
    if (result == CLI_EXIT_OK) {
        result = cli_spread_open(call, s->shard, key, &spread);
        if (result == CLI_EXIT_OK) {
            check_options->beside = jobs_of(s) > spread.count;
            result = call->ranks != NULL && call->ranks->rank != 0 ? serve(&run)
                                                                   : check_all(&run, accepted);
        }
        cli_spread_close(&spread);
    }
    free(key);
    return result;
}

static int check_accepting(const struct cli_call *call, struct nocap_check_options *check_options)
{
    const struct settings *s = call->settings;
    struct cli_accepted accepted;
    int result = cli_accepted_open(call, s->baseline, s->waivers, &accepted);
    if (result == CLI_EXIT_OK) {
        check_options->known = accepted.known;
        check_options->accepted = accepted.waivers;
        result = check_spread(call, check_options, &accepted);
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
    .details = "TRACE is a .nocap file or JSON Lines, plain or zstd-compressed; - is standard\n"
               "input. With several traces there is one report of all, in their order, and the\n"
               "exit status is that of the worst; in text a trace without findings is then one\n"
               "line.\n"
               "A trace that is cut short or damaged is judged on what could be read; that\n"
               "itself is a finding.",
    .findings = "findings at or above the severity of --fail-on; --strict: a trace that is cut "
                "short or not judged",
    .examples = "  nocap check run.nocap\n"
                "  nocap check --jobs 4 --format sarif -o nocap.sarif traces/*.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .spreads = true,
    .run = run,
};
