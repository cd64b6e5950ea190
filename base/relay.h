/* SPDX-License-Identifier: Apache-2.0 */
/* Work that one thread prepares and another does, in batches that stay in order. */
#ifndef NOCAP_BASE_RELAY_H
#define NOCAP_BASE_RELAY_H

#include <stddef.h>
#include <stdint.h>

enum { CACHE_LINE = 64 };

/* The first line of the cache in memory that has room for one more. */
static inline void *cache_line_in(void *memory)
{
    return (void *)(((uintptr_t)memory + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

struct relay;
typedef void relay_take(void *context, void *batch);

/* Starts the thread that calls take(context, batch) for one batch after the other. There are
 * `count` batches of `size` bytes, with what they had in them when they come round again, all zero
 * at first; the first begins with a line of the cache. NULL without memory, or if the thread cannot
 * be started. */
struct relay *relay_open(size_t size, size_t count, relay_take *take, void *context);
/* The batch that is filled next; waits for one that was taken. */
void *relay_next(struct relay *relay);
/* Hands it on. */
void relay_hand_on(struct relay *relay);
/* Waits until all that was handed on is taken. */
void relay_settle(struct relay *relay);
/* Settles, and ends the thread. NULL is none. */
void relay_close(struct relay *relay);

#endif
