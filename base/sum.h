/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of what a file says. */
#ifndef NOCAP_BASE_SUM_H
#define NOCAP_BASE_SUM_H

#include <stdint.h>

/* UINT64_MAX where the sum is more. */
static inline uint64_t sum_of(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
