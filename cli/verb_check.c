#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "checker/checker.h"
#include "cli/elf.h"
#include "cli/output.h"
#include "cli/verb.h"

enum format { FORMAT_TEXT, FORMAT_JSON };
enum { JOBS_MAX = 256 };

struct settings {
    unsigned format;  /* enum format */
    unsigned fail_on; /* which of error|warning|note */
    const char *rules, *waivers, *output;
    struct cli_number max_per_rule, from, to, jobs;
    struct cli_tile tile;
    struct cli_list elf;
};

/* In the order of the words of --fail-on. */
static const enum nocap_severity fail_on[] = {NOCAP_ERROR, NOCAP_WARNING, NOCAP_NOTE};

static const struct cli_option options[] = {
    {"format", "text|json", "form of the report (text)", offsetof(struct settings, format),
     CLI_CHOICE, 0},
    {"output", "FILE", "write to FILE instead of standard output",
     offsetof(struct settings, output), CLI_TEXT, 'o'},
    {"fail-on", "error|warning|note", "least severity that makes the exit status 1 (error)",
     offsetof(struct settings, fail_on), CLI_CHOICE, 0},
    {"rules", "LIST", "only these families and rules, - excludes: SYN,GO-003,-SYN-004",
     offsetof(struct settings, rules), CLI_TEXT, 0},
    {"waivers", "FILE", "findings that are known and accepted", offsetof(struct settings, waivers),
     CLI_TEXT, 0},
    {"max-per-rule", "N", "findings shown of each rule (20); all are counted",
     offsetof(struct settings, max_per_rule), CLI_NUMBER, 0},
    {"from", "TIME", "only findings at or after TIME", offsetof(struct settings, from), CLI_NUMBER,
     0},
    {"to", "TIME", "only what happened up to TIME", offsetof(struct settings, to), CLI_NUMBER, 0},
    {"tile", "X,Y", "only findings of this tile", offsetof(struct settings, tile), CLI_TILE, 0},
    {"elf", "CORE=FILE",
     "the firmware of a core, instead of the one that the header names; for each core;\n"
     "AIE: uc for all columns, uc<n> for one",
     offsetof(struct settings, elf), CLI_LIST, 0},
    {"jobs", "N", "traces checked at the same time (1)", offsetof(struct settings, jobs),
     CLI_NUMBER, 'j'},
};

/* One trace of the command line, with what came out. */
struct job {
    const char *path;
    struct nocap_report *report;
    enum nocap_status status;
    struct nocap_error err;
};

struct work {
    const struct nocap_check_options *options;
    struct job *jobs;
    size_t count;
    atomic_size_t next;
};

static void *work_on(void *context)
{
    struct work *work = context;
    size_t i;
    while ((i = atomic_fetch_add(&work->next, 1)) < work->count) {
        struct job *job = &work->jobs[i];
        job->status = nocap_check(&job->report, job->path, work->options, &job->err);
    }
    return NULL;
}

/* Threads that cannot be started are not needed: the others do their share. */
static void check_in_parallel(struct work *work, size_t threads)
{
    pthread_t ids[JOBS_MAX];
    size_t started = 0;
    while (started + 1 < threads && pthread_create(&ids[started], NULL, work_on, work) == 0) {
        started++;
    }
    work_on(work);
    for (size_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
    }
}

static int out_of_memory(const struct cli_call *call)
{
    struct nocap_error err = {"out of memory"};
    return cli_fail(call, NOCAP_E_MEMORY, &err);
}

static enum nocap_status print_reports(const struct cli_call *call, struct cli_output *output,
                                       const struct work *work, struct nocap_error *err)
{
    const struct settings *s = call->settings;
    bool color = cli_output_has_color(output, call);
    FILE *stream = cli_output_stream(output);
    RETURN_ERROR_IF(stream == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < work->count; i++) {
        const struct nocap_report *report = work->jobs[i].report;
        if (work->jobs[i].status == NOCAP_OK) {
            RETURN_IF_FAILED(s->format == FORMAT_JSON
                                 ? nocap_report_json(stream, report, err)
                                 : nocap_report_text(stream, report, color, err));
        }
    }
    return NOCAP_OK;
}

/* The worst that happened to any trace. */
static int verdict(const struct cli_call *call, const struct work *work)
{
    const struct settings *s = call->settings;
    int result = CLI_EXIT_OK;
    for (size_t i = 0; i < work->count; i++) {
        const struct job *job = &work->jobs[i];
        int one = job->status != NOCAP_OK ? cli_fail(call, job->status, &job->err)
                  : nocap_report_fails(job->report, fail_on[s->fail_on]) ? CLI_EXIT_FINDINGS
                                                                         : CLI_EXIT_OK;
        result = one > result ? one : result;
    }
    return result;
}

static int check_all(const struct cli_call *call, struct work *work)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct cli_output output;
    size_t threads = s->jobs.given ? s->jobs.value : 1;
    enum nocap_status status = cli_output_open(&output, s->output, &err);
    if (status != NOCAP_OK) {
        return cli_fail(call, status, &err);
    }
    check_in_parallel(work, threads < work->count ? threads : work->count);
    status = print_reports(call, &output, work, &err);
    int result = cli_output_finish(&output, call, status, &err);
    int worst = verdict(call, work);
    return result > worst ? result : worst;
}

static struct nocap_check_options options_of(const struct settings *s)
{
    return (struct nocap_check_options){
        .size = sizeof(struct nocap_check_options),
        .rules = s->rules,
        .waivers = s->waivers,
        .max_per_rule = (uint32_t)s->max_per_rule.value,
        .has_from = s->from.given,
        .has_to = s->to.given,
        .has_tile = s->tile.given,
        .from = s->from.value,
        .to = s->to.value,
        .tile = s->tile.at,
    };
}

/* With room for the work and the ELF arguments, which may be NULL for want of memory. */
static int run_with(const struct cli_call *call, struct work *work, struct nocap_elf_arg *elf)
{
    const struct settings *s = call->settings;
    struct nocap_check_options check_options = options_of(s);
    int result = CLI_EXIT_OK;
    if (work->jobs == NULL || elf == NULL) {
        return out_of_memory(call);
    }
    for (size_t i = 0; i < work->count; i++) {
        work->jobs[i].path = call->operands.items[i];
    }
    while (result == CLI_EXIT_OK && check_options.elf_count < s->elf.count) {
        size_t i = check_options.elf_count++;
        result = cli_elf_split(call, s->elf.items[i], (char **)&elf[i].name, &elf[i].path);
    }
    check_options.elf = elf;
    work->options = &check_options;
    return result == CLI_EXIT_OK ? check_all(call, work) : result;
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (s->jobs.given && (s->jobs.value == 0 || s->jobs.value > JOBS_MAX)) {
        return cli_usage(call, "--jobs takes 1 to %d", JOBS_MAX);
    }
    if (s->max_per_rule.given &&
        (s->max_per_rule.value == 0 || s->max_per_rule.value > UINT32_MAX)) {
        return cli_usage(call, "--max-per-rule takes 1 to %u", UINT32_MAX);
    }
    if (s->from.given && s->to.given && s->from.value > s->to.value) {
        return cli_usage(call, "--from is after --to");
    }
    struct work work = {.count = call->operands.count};
    work.jobs = calloc(work.count, sizeof *work.jobs);
    struct nocap_elf_arg *elf = calloc(s->elf.count + 1, sizeof *elf);
    int result = run_with(call, &work, elf);
    for (size_t i = 0; work.jobs != NULL && i < work.count; i++) {
        nocap_report_free(work.jobs[i].report);
    }
    for (size_t i = 0; elf != NULL && i < s->elf.count; i++) {
        free((char *)elf[i].name);
    }
    free(elf);
    free(work.jobs);
    return result;
}

CLI_VERB(verb) = {
    .name = "check",
    .operands = "TRACE...",
    .summary = "replay traces through the reference model, report every divergence",
    .details = "TRACE is a .nocap file or JSON Lines, plain or zstd-compressed; - is standard "
               "input. With several\n"
               "traces the reports follow each other, and the exit status is that of the worst.\n"
               "A trace that is cut short or damaged is judged on what could be read; that itself "
               "is a finding.",
    .findings = "findings at or above the severity of --fail-on",
    .examples = "  nocap check run.nocap\n"
                "  nocap check --rules SYN,GO --format json -o report.json run.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = CLI_MANY,
    .run = run,
};
