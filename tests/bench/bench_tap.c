/* SPDX-License-Identifier: Apache-2.0 */
/* What a tap costs: the toy simulator's loop with its taps off, and without them, by turns in one
 * run; then with a trace. Of each the fastest round counts, in processor time.
 * usage: bench_tap BUILD */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/toy_riscv.h"

enum { ROUNDS = 60, RUNS = 400, TRACED = 400, WORDS = 2000 };

static struct toy_tile tile, target;
static struct toy_core core;

static double own_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds an instruction. */
static double took(uint64_t (*run)(struct toy_core *core, uint32_t pc), unsigned runs)
{
    uint64_t instructions = 0;
    double start = own_seconds();
    for (unsigned i = 0; i < runs; i++) {
        instructions += run(&core, TOY_PROGRAM);
    }
    return (own_seconds() - start) / (double)instructions;
}

static void at_least(double *best, double seconds)
{
    *best = seconds < *best ? seconds : *best;
}

int main(int argc, char **argv)
{
    char path[512];
    double off = 1, without = 1, on = 1;
    struct nocap_error err;
    const struct nocap_trace_header header = {.size = sizeof header,
                                              .observes = NOCAP_TAP_OBSERVES};
    snprintf(path, sizeof path, "%s/bench-tap.nocap", argc > 1 ? argv[1] : ".");
    core.tile = &tile;
    core.target = &target;
    toy_program(&core, WORDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        at_least(&off, took(toy_run, RUNS));
        at_least(&without, took(toy_run_untapped, RUNS));
    }
    struct nocap_capture *capture;
    if (nocap_tap_begin(&capture, path, &header, &err) != NOCAP_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    core.tap = nocap_tap_of(capture, &core.cycle, 1, 2, NOCAP_BY_BRISC);
    target.arrives = nocap_tap_of(capture, &core.cycle, 2, 2, NOCAP_BY_NOC);
    for (unsigned i = 0; i < TRACED; i++) {
        at_least(&on, took(toy_run, 1));
    }
    if (nocap_tap_end(capture, &err) != NOCAP_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    unlink(path);
    printf("taps of a simulator, off       %8.3f x without taps, %.2f ns an instruction of which 2 "
           "in 7 are tapped\n",
           off / without, off * 1e9);
    printf("taps of a simulator, on        %8.1f ns an access\n", (on - off) * 1e9 * 7 / 2);
    return 0;
}
