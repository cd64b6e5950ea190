/* SPDX-License-Identifier: Apache-2.0 */
/* usage: events N : emits N LTTng events without pause, then in bursts that the buffers hold; prints
 * how many a second, and the processor time of one in a burst, nanoseconds. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_event.h"

enum { BURST = 1 << 15, BURSTS = 50 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void emit(long n)
{
    for (long i = 0; i < n; i++) {
        lttng_ust_tracepoint(nocap_bench, access, 0, (uint8_t)(1 + i % 7), (uint8_t)(2 + i % 10), 0,
                             0, 0x68ul + (unsigned long)(i % 4), 4, (unsigned long)i);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    double took[BURSTS], start = seconds(CLOCK_MONOTONIC);
    emit(n);
    double rate = (double)n / (seconds(CLOCK_MONOTONIC) - start);
    for (int i = 0; i < BURSTS; i++) {
        const struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
        start = seconds(CLOCK_THREAD_CPUTIME_ID);
        emit(BURST);
        took[i] = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    qsort(took, BURSTS, sizeof took[0], by_value);
    printf("%.0f %.1f %ld\n", rate, took[BURSTS / 2] / BURST * 1e9, n + (long)BURST * BURSTS);
    return 0;
}
