/* SPDX-License-Identifier: Apache-2.0 */
/* What recording costs. Steady state: every thread's ring is warm, its pages are there, and the
 * writer drains between bursts, so that no call waits for it; the clock runs only while calls are
 * made. Then without pauses, where the writer sets the pace. Medians over the rounds.
 * usage: bench_recorder BUILD */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "capture/recorder/capture.h"

enum { BURST = 1 << 15, ROUNDS = 150, WARM = 20, MAX_THREADS = 2, SUSTAINED = 8000000, ROUND = 1 << 18 };

static struct nocap_capture *capture;
static pthread_barrier_t go, done;
static double took_by[MAX_THREADS][ROUNDS];

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Of the thread: what other programs take of the processor does not count. Nothing in a burst
 * waits, so this is the time that it takes. */
static double own_seconds(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void die(const struct nocap_error *err)
{
    fprintf(stderr, "bench: %s\n", err->text);
    exit(1);
}

/* Made before: the loop shall cost next to nothing. */
enum { PLACES = 64 };
static struct nocap_place places[PLACES];

static uint64_t burst(uint64_t events)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < events; i++) {
        kept += nocap_capture_write(capture, places[i % PLACES], NOCAP_BY_HOST, 0x68 + i % 4, 4, i);
    }
    return kept;
}

static void *thread(void *took)
{
    cpu_set_t cpu; /* a burst is shorter than the scheduler takes to part two threads */
    CPU_ZERO(&cpu);
    CPU_SET(took == took_by[0] ? 0 : 1, &cpu);
    pthread_setaffinity_np(pthread_self(), sizeof cpu, &cpu);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&go);
        double start = own_seconds();
        if (burst(BURST) != BURST) {
            exit(1);
        }
        ((double *)took)[round] = own_seconds() - start;
        pthread_barrier_wait(&done);
    }
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void open_capture(const char *path, enum nocap_capture_clock clock)
{
    struct nocap_header header;
    struct nocap_error err = {{0}};
    const struct nocap_capture_options options = {
        .size = sizeof options, .flush_interval = 60000, .clock = clock};
    nocap_header_init(&header);
    nocap_header_observe(&header, "host-mmio", NULL);
    if (nocap_recorder_open(&capture, path, &header, &options, &err) != NOCAP_OK) {
        die(&err);
    }
    nocap_header_free(&header);
}

static void flush(void)
{
    struct nocap_error err;
    if (nocap_capture_flush(capture, &err) != NOCAP_OK) {
        die(&err);
    }
}

static void close_capture(uint64_t sent, struct nocap_capture_totals *totals)
{
    struct nocap_error err;
    if (nocap_recorder_close(capture, totals, &err) != NOCAP_OK) {
        die(&err);
    }
    if (totals->events != sent || totals->dropped != 0) {
        fprintf(stderr, "bench: %" PRIu64 " events sent, %" PRIu64 " in the trace\n", sent,
                totals->events);
        exit(1);
    }
}

/* Seconds an event takes the slower of the threads, which record bursts at the same time. The first
 * rounds warm the rings. */
static double bursts(const char *path, enum nocap_capture_clock clock, unsigned count)
{
    double took[ROUNDS];
    pthread_t threads[MAX_THREADS];
    struct nocap_capture_totals totals;
    open_capture(path, clock);
    pthread_barrier_init(&go, NULL, count + 1);
    pthread_barrier_init(&done, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, thread, took_by[i]);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        flush();
        pthread_barrier_wait(&go);
        pthread_barrier_wait(&done);
        took[round] = 0;
        for (unsigned i = 0; i < count; i++) {
            took[round] = took_by[i][round] > took[round] ? took_by[i][round] : took[round];
        }
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&go);
    pthread_barrier_destroy(&done);
    close_capture((uint64_t)count * ROUNDS * BURST, &totals);
    return median(took + WARM, ROUNDS - WARM) / BURST;
}

/* Without pauses: seconds an event, of which `writer` is the processor time of the writer. */
static double without_pause(const char *path, double *writer, double *bytes)
{
    struct nocap_capture_totals totals;
    open_capture(path, NOCAP_CAPTURE_CLOCK_TSC);
    burst(ROUND); /* of the ring, whose pages are made in it */
    flush();
    double start = seconds(), all = read_clock(CLOCK_PROCESS_CPUTIME_ID), own = own_seconds();
    burst(SUSTAINED);
    flush();
    double took = (seconds() - start) / SUSTAINED;
    own = own_seconds() - own;
    *writer = (read_clock(CLOCK_PROCESS_CPUTIME_ID) - all - own) / SUSTAINED;
    close_capture(ROUND + SUSTAINED, &totals);
    *bytes = (double)totals.bytes / (double)totals.events;
    return took;
}

#if defined(__x86_64__)
/* What reading the time stamp counter takes by itself: the part of a call that it cannot save. */
static double counter_cost(void)
{
    enum { CALLS = 1 << 15, TRIES = 100 };
    double best = 1;
    uint64_t sum = 0;
    for (unsigned k = 0; k < TRIES; k++) {
        double start = own_seconds();
        for (unsigned i = 0; i < CALLS; i++) {
            sum += __builtin_ia32_rdtsc();
        }
        double took = (own_seconds() - start) / CALLS;
        best = took < best ? took : best;
    }
    __asm__ volatile("" : : "r"(sum));
    return best;
}
#else
static double counter_cost(void)
{
    return 0;
}
#endif

static double clock_cost(void)
{
    enum { CALLS = 1 << 20 };
    double start = seconds(), now = start;
    for (unsigned i = 0; i < CALLS; i++) {
        now = seconds();
    }
    return (now - start) / CALLS;
}

int main(int argc, char **argv)
{
    char path[512];
    double writer, bytes;
    snprintf(path, sizeof path, "%s/bench-recorder.nocap", argc > 1 ? argv[1] : ".");
    for (unsigned i = 0; i < PLACES; i++) {
        places[i] = nocap_at_tile((uint8_t)(1 + i % 7), (uint8_t)(2 + i % 10));
    }
    const double one = bursts(path, NOCAP_CAPTURE_CLOCK_TSC, 1);
    printf("record, one thread             %8.1f ns an event   goal 25   %.1f x clock_gettime, "
           "%.1f ns more than the time stamp counter alone\n",
           1e9 * one, one / clock_cost(), 1e9 * (one - counter_cost()));
    printf("record, two threads at once    %8.1f ns an event of each\n",
           1e9 * bursts(path, NOCAP_CAPTURE_CLOCK_TSC, 2));
    printf("record, the coarse clock       %8.1f ns an event\n",
           1e9 * bursts(path, NOCAP_CAPTURE_CLOCK_TSC_COARSE, 1));
    printf("record, the caller's clock     %8.1f ns an event\n",
           1e9 * bursts(path, NOCAP_CAPTURE_CLOCK_USER, 1));
    const double sustained = without_pause(path, &writer, &bytes);
    printf("record without pause, to disk  %8.1f ns an event   %.1f of them the writer's processor "
           "time, %.2f bytes an event\n",
           sustained * 1e9, writer * 1e9, bytes);
    unlink(path);
    return 0;
}
