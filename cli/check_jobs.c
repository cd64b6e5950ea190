/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check_jobs.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/jobs.h"
#include "checker/query/cite.h"
#include "checker/report/waivers.h"
#include "cli/output.h"

const enum nocap_severity cli_fail_on[] = {NOCAP_ERROR, NOCAP_WARNING, NOCAP_NOTE};

/* One trace of the command line, with what came out. */
struct job {
    const char *path;
    struct nocap_report *report;
    enum nocap_status status;
    struct nocap_error err;
};

struct work {
    cli_judge *judge;
    const void *context;
    struct job *jobs;
    size_t count;
};

static void do_job(void *context, size_t i)
{
    struct work *work = context;
    struct job *job = &work->jobs[i];
    job->status = work->judge(work->context, &job->report, job->path, &job->err);
}

static int out_of_memory(const struct cli_call *call)
{
    struct nocap_error err = {"out of memory"};
    return cli_fail(call, NOCAP_E_MEMORY, &err);
}

/* Tells why a file has no report; once what is the same for all of them. */
static int report_failure(const struct cli_call *call, const struct work *work, size_t i)
{
    const struct job *job = &work->jobs[i];
    bool again = i > 0 && strcmp(job->err.text, work->jobs[i - 1].err.text) == 0;
    return again ? (job->status == NOCAP_E_INPUT ? CLI_EXIT_INPUT : CLI_EXIT_OK)
                 : cli_fail(call, job->status, &job->err);
}

/* Hands the reports over; the worst that happened to any of them. */
static int collect(const struct cli_call *call, const struct work *work,
                   struct nocap_results *results)
{
    int worst = CLI_EXIT_OK;
    for (size_t i = 0; i < work->count; i++) {
        const struct job *job = &work->jobs[i];
        struct nocap_error err;
        enum nocap_status kept =
            nocap_results_set(results, i, job->path, job->report, job->err.text, &err);
        int one = job->status != NOCAP_OK ? report_failure(call, work, i)
                  : kept != NOCAP_OK      ? cli_fail(call, kept, &err)
                                          : CLI_EXIT_OK;
        worst = one > worst ? one : worst;
    }
    return worst;
}

bool cli_check_any(const struct nocap_results *results, int worst)
{
    bool any = false;
    for (size_t i = 0; i < results->count; i++) {
        any |= results->list[i].report != NULL;
    }
    return any && (worst == CLI_EXIT_OK || worst == CLI_EXIT_INPUT);
}

int cli_judge_all(const struct cli_call *call, const char *const *paths, size_t count, size_t jobs,
                  cli_judge *judge, const void *context, struct nocap_results *results)
{
    struct work work = {.judge = judge, .context = context, .count = count};
    struct nocap_error err;
    work.jobs = calloc(work.count + 1, sizeof *work.jobs);
    enum nocap_status status = nocap_results_new(results, work.count, &err);
    if (work.jobs == NULL || status != NOCAP_OK) {
        free(work.jobs);
        return out_of_memory(call);
    }
    for (size_t i = 0; i < work.count; i++) {
        work.jobs[i].path = paths[i];
    }
    jobs_run(work.count, jobs, do_job, &work);
    int worst = collect(call, &work, results);
    free(work.jobs);
    return worst;
}

size_t cli_cores(void)
{
    cpu_set_t set;
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    const long cores = known ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > CLI_JOBS_MAX ? CLI_JOBS_MAX : (size_t)cores;
}

bool cli_is_large(const char *path)
{
    enum { SMALL = 1 << 15 }; /* bytes: checked in the time that a thread and its batches take */
    struct stat about;
    return stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > SMALL;
}

enum nocap_status cli_check_one(const void *options, struct nocap_report **report, const char *path,
                                struct nocap_error *err)
{
    struct nocap_check_options check_options = *(const struct nocap_check_options *)options;
    check_options.beside = check_options.beside && cli_is_large(path);
    RETURN_IF_FAILED(nocap_check(report, path, &check_options, err));
    enum nocap_status status = nocap_cite_findings(*report, path, check_options.dense, err);
    if (status != NOCAP_OK) {
        nocap_report_free(*report);
        *report = NULL;
    }
    return status;
}

int cli_check_all(const struct cli_call *call, const char *const *paths, size_t count,
                  const struct nocap_check_options *options, size_t jobs,
                  struct nocap_results *results)
{
    return cli_judge_all(call, paths, count, jobs, cli_check_one, options, results);
}

int cli_report_unreadable(const struct cli_call *call, const struct nocap_results *results)
{
    int worst = CLI_EXIT_OK;
    const char *before = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const char *error = results->list[i].report == NULL ? results->list[i].error : NULL;
        if (error != NULL && (before == NULL || strcmp(error, before) != 0)) {
            cli_message(call, "%s", error);
        }
        worst = error != NULL ? CLI_EXIT_INPUT : worst;
        before = error;
    }
    return worst;
}

/* ---- results ---- */

int cli_results_finish(const struct cli_call *call, struct cli_output *output,
                       struct nocap_results *results, enum nocap_format format,
                       const struct cli_accepted *accepted, int worst)
{
    struct nocap_error err = {{0}};
    int result = CLI_EXIT_OK;
    /* Other forms than text say what was not read, too. */
    bool prints = (worst == CLI_EXIT_INPUT || (worst == CLI_EXIT_OK && results->count == 0)) &&
                  format != NOCAP_FORMAT_TEXT;
    if (prints || cli_check_any(results, worst)) {
        enum nocap_status status =
            accepted->waivers == NULL
                ? NOCAP_OK
                : nocap_results_note_waivers(results, accepted->waivers, &err);
        if (format == NOCAP_FORMAT_TEXT) {
            cli_output_fold(output);
        }
        FILE *stream = status == NOCAP_OK ? cli_output_stream(output, &err) : NULL;
        if (status == NOCAP_OK) {
            status = stream == NULL ? NOCAP_E_OUTPUT
                                    : nocap_results_print(stream, results, format,
                                                          cli_output_has_color(output, call), &err);
        }
        result = cli_output_finish(output, call, status, &err);
    } else {
        cli_output_abandon(output);
    }
    if (worst == CLI_EXIT_OK && nocap_results_sum(results).failing != 0) {
        worst = CLI_EXIT_FINDINGS;
    }
    nocap_results_free(results);
    return result > worst ? result : worst;
}

int cli_accepted_open(const struct cli_call *call, const char *baseline, const char *waivers,
                      struct cli_accepted *accepted)
{
    struct nocap_error err;
    enum nocap_status status = NOCAP_OK;
    *accepted = (struct cli_accepted){NULL, NULL};
    if (baseline != NULL) {
        status = nocap_baseline_open(&accepted->known, baseline, &err);
    }
    if (status == NOCAP_OK && waivers != NULL) {
        status = nocap_waivers_open(&accepted->waivers, waivers, (int64_t)time(NULL), &err);
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

void cli_accepted_close(struct cli_accepted *accepted)
{
    nocap_baseline_close(accepted->known);
    nocap_waivers_close(accepted->waivers);
}

bool cli_max_per_rule(const struct cli_call *call, const struct cli_number *most, int *status)
{
    if (!most->given || (most->value > 0 && most->value <= UINT32_MAX)) {
        return true;
    }
    *status = cli_usage(call, "--max-per-rule takes 1 to %u", UINT32_MAX);
    return false;
}
