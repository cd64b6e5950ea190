/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, QUIET_NS = NS_PER_S, INTERVAL_NS = NS_PER_S / 10 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void cli_progress_start(struct cli_progress *p, const char *what, const char *unit)
{
    *p = (struct cli_progress){
        .what = what, .unit = unit, .started = now(), .on_terminal = isatty(STDERR_FILENO) != 0};
}

void cli_progress_show(void *context, uint64_t done, uint64_t total)
{
    struct cli_progress *p = context;
    if (!p->on_terminal) {
        return;
    }
    uint64_t t = now();
    if (t - p->started < QUIET_NS || t - p->shown < INTERVAL_NS) {
        return;
    }
    p->shown = t;
    if (total != 0) {
        unsigned percent = (unsigned)(100.0 * (double)done / (double)total);
        fprintf(stderr, "\r%s: %3u %% of %" PRIu64 " %s\033[K", p->what, percent, total, p->unit);
    } else {
        fprintf(stderr, "\r%s: %" PRIu64 " %s\033[K", p->what, done, p->unit);
    }
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown != 0) {
        fputs("\r\033[K", stderr);
    }
}
