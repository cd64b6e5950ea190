/* SPDX-License-Identifier: Apache-2.0 */
/* The wheel of time: a bucket for each of the next cycles. Who waits for something else is not in
 * it, so a run costs what happens in it, however many agents stand idle. */
#include "capture/kernel/kernel.h"

#include <stdlib.h>

bool sim_time_init(struct sim_kernel *k, uint32_t count)
{
    k->timer = calloc(count, sizeof *k->timer);
    for (unsigned i = 0; i < SIM_BUCKETS; i++) {
        k->bucket[i] = SIM_NOTHING;
    }
    k->far = SIM_NOTHING;
    k->far_at = UINT64_MAX;
    return k->timer != NULL;
}

/* After `*last`, which is then the new one. */
static inline void append(struct sim_timer *timers, uint16_t *last, uint16_t timer)
{
    if (*last == SIM_NOTHING) {
        timers[timer].next = timer;
    } else {
        timers[timer].next = timers[*last].next;
        timers[*last].next = timer;
    }
    *last = timer;
}

static inline uint16_t take_first(struct sim_timer *timers, uint16_t *last)
{
    uint16_t first = timers[*last].next;
    if (first == *last) {
        *last = SIM_NOTHING;
    } else {
        timers[*last].next = timers[first].next;
    }
    return first;
}

static inline void place(struct sim_kernel *k, uint16_t timer, uint64_t at)
{
    if (at - k->now < SIM_BUCKETS) {
        unsigned slot = (unsigned)(at % SIM_BUCKETS);
        append(k->timer, &k->bucket[slot], timer);
        k->occupied[slot / 64] |= UINT64_C(1) << slot % 64;
    } else {
        append(k->timer, &k->far, timer);
        k->far_at = at < k->far_at ? at : k->far_at;
    }
}

void sim_arm(struct sim_kernel *k, uint16_t timer, uint64_t at)
{
    k->timer[timer].at = at;
    if (!k->timer[timer].armed) {
        k->timer[timer].armed = true;
        place(k, timer, at);
    }
}

static inline uint64_t peek(const struct sim_kernel *k)
{
    unsigned start = (unsigned)(k->now % SIM_BUCKETS);
    unsigned word = start / 64;
    uint64_t bits = k->occupied[word] & UINT64_MAX << start % 64;
    for (unsigned n = 0; n <= SIM_BUCKETS / 64; n++) {
        if (bits != 0) {
            unsigned slot = word * 64 + (unsigned)__builtin_ctzll(bits);
            uint64_t at = k->now + (slot - start) % SIM_BUCKETS;
            return at < k->far_at ? at : k->far_at;
        }
        word = (word + 1) % (SIM_BUCKETS / 64);
        bits = k->occupied[word];
    }
    return k->far_at;
}

uint64_t sim_peek(const struct sim_kernel *k)
{
    return peek(k);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* All that the wheel did not reach are placed anew. */
static void bring_near(struct sim_kernel *k)
{
    uint16_t list = k->far;
    k->far = SIM_NOTHING;
    k->far_at = UINT64_MAX;
    while (list != SIM_NOTHING) {
        uint16_t timer = take_first(k->timer, &list);
        place(k, timer, later(k->timer[timer].at, k->now));
    }
}

uint16_t sim_next(struct sim_kernel *k)
{
    for (;;) {
        uint64_t at = peek(k);
        if (at == UINT64_MAX) {
            return SIM_NOTHING;
        }
        k->now = at;
        unsigned slot = (unsigned)(at % SIM_BUCKETS);
        if (at == k->far_at) {
            bring_near(k);
            if (k->bucket[slot] == SIM_NOTHING) {
                continue; /* the far one was armed anew for later */
            }
        }
        uint16_t timer = take_first(k->timer, &k->bucket[slot]);
        if (k->bucket[slot] == SIM_NOTHING) {
            k->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
        }
        if (k->timer[timer].at <= at) {
            k->timer[timer].armed = false;
            return timer;
        }
        place(k, timer, k->timer[timer].at);
    }
}
