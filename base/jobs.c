/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobs.h"

#include <pthread.h>
#include <stdatomic.h>

struct jobs {
    size_t count;
    atomic_size_t next;
    void (*work)(void *context, size_t i);
    void *context;
};

static void *work_on(void *context)
{
    struct jobs *jobs = context;
    size_t i;
    while ((i = atomic_fetch_add(&jobs->next, 1)) < jobs->count) {
        jobs->work(jobs->context, i);
    }
    return NULL;
}

void jobs_run(size_t count, size_t threads, jobs_work *work, void *context)
{
    struct jobs jobs = {.count = count, .work = work, .context = context};
    pthread_t ids[JOBS_MAX];
    size_t started = 0;
    while (started + 1 < threads && started + 1 < count && started < JOBS_MAX &&
           pthread_create(&ids[started], NULL, work_on, &jobs) == 0) {
        started++;
    }
    work_on(&jobs);
    while (started > 0) {
        pthread_join(ids[--started], NULL);
    }
}
