/* usage: events N : emits N LTTng events and prints how many a second. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_event.h"

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < n; i++) {
        lttng_ust_tracepoint(nocap_bench, access, (unsigned)(i % 5), (unsigned)(i % 140),
                             0x68ul + (unsigned long)(i % 4), (unsigned long)i);
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    printf("%.0f\n", (double)n / seconds);
    return 0;
}
