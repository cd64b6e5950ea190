/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/sim: random numbers of the device, the same for the same seed. */
#ifndef NOCAP_SIM_RANDOM_H
#define NOCAP_SIM_RANDOM_H

#include <stdint.h>

/* The next 64 bits; `state` is never 0. */
static inline uint64_t sim_next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The next of 0..n-1. */
static inline uint32_t sim_next_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((sim_next_random(state) & UINT32_MAX) * n >> 32);
}

/* A number that depends on seed, a and b only. */
static inline uint64_t sim_mix_seed(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + UINT64_C(0x9E3779B97F4A7C15) * (a + 1);
    for (unsigned i = 0; i < 2; i++) {
        x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
        x = (x ^ x >> 31) + b;
    }
    return x;
}

#endif
