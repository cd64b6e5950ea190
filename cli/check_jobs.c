/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check_jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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
    pthread_t ids[CLI_JOBS_MAX];
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

/* Tells why a trace has no report; once what is the same for all of them. */
static int tell(const struct cli_call *call, const struct work *work, size_t i)
{
    const struct job *job = &work->jobs[i];
    bool again = i > 0 && strcmp(job->err.text, work->jobs[i - 1].err.text) == 0;
    return again ? (job->status == NOCAP_E_INPUT ? CLI_EXIT_INPUT : CLI_EXIT_OK)
                 : cli_fail(call, job->status, &job->err);
}

/* Hands the reports over; the worst that happened to any trace. */
static int collect(const struct cli_call *call, const struct work *work,
                   struct nocap_results *results)
{
    int worst = CLI_EXIT_OK;
    for (size_t i = 0; i < work->count; i++) {
        const struct job *job = &work->jobs[i];
        struct nocap_error err;
        enum nocap_status kept =
            nocap_results_set(results, i, job->path, job->report, job->err.text, &err);
        int one = job->status != NOCAP_OK ? tell(call, work, i)
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

int cli_check_all(const struct cli_call *call, const struct nocap_check_options *options,
                  size_t jobs, struct nocap_results *results)
{
    struct work work = {.options = options, .count = call->operands.count};
    struct nocap_error err;
    work.jobs = calloc(work.count + 1, sizeof *work.jobs);
    enum nocap_status status = nocap_results_new(results, work.count, &err);
    if (work.jobs == NULL || status != NOCAP_OK) {
        free(work.jobs);
        return out_of_memory(call);
    }
    for (size_t i = 0; i < work.count; i++) {
        work.jobs[i].path = call->operands.items[i];
    }
    check_in_parallel(&work, jobs < work.count ? jobs : work.count);
    int worst = collect(call, &work, results);
    free(work.jobs);
    return worst;
}
