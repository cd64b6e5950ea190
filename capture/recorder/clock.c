/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "capture/recorder/recorder.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Whether the counter runs at one rate in all states of power (CPUID leaf 0x80000007, EDX bit 8).
 */
static bool counter_is_even(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}
#else
static bool counter_is_even(void)
{
    return false;
}
#endif

static struct {
    pthread_once_t once;
    bool tsc;
    uint64_t mult;
} process = {.once = PTHREAD_ONCE_INIT};

uint64_t capture_clock_slow(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Counter and clock at the same moment: the closest of a few pairs. */
static void pair(uint64_t *raw, uint64_t *ns)
{
    enum { TRIES = 8 };
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t before = capture_raw_time(true, false), now = capture_clock_slow();
        uint64_t took = capture_raw_time(true, false) - before;
        if (took < best) {
            best = took;
            *raw = before + took / 2;
            *ns = now;
        }
    }
}

static void calibrate(void)
{
    process.tsc = counter_is_even();
    process.mult = UINT64_C(1) << 32;
    if (process.tsc) {
        uint64_t raw[2], ns[2];
        pair(&raw[0], &ns[0]);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        pair(&raw[1], &ns[1]);
        process.mult =
            (uint64_t)((__extension__(unsigned __int128)(ns[1] - ns[0]) << 32) / (raw[1] - raw[0]));
    }
}

bool capture_clock_calibrate(struct ring_clock *clock)
{
    pthread_once(&process.once, calibrate);
    clock->mult = process.mult;
    clock->start = capture_raw_time(process.tsc, false);
    return process.tsc;
}
