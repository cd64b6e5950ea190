/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the shape of an event: which fields it has, and its members of one byte
 * from `kind` to `uc`. A reader gives those that it has met first numbers of its own. */
#ifndef NOCAP_TRACE_SHAPE_H
#define NOCAP_TRACE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "formats/trace/header.h"

/* The members in words, of which the last overlaps. */
enum {
    SHAPE_BYTES = offsetof(struct nocap_event, uc) + 1 - offsetof(struct nocap_event, kind),
    SHAPE_LAST = SHAPE_BYTES - (int)sizeof(uint64_t),
};
_Static_assert(SHAPE_LAST <= 2 * (int)sizeof(uint64_t), "three words hold them");

struct shape_key {
    uint64_t has, members[3];
};

/* Open addressing, of a few steps: a shape that finds no place has no number. */
enum { SHAPE_STEPS = 8 };
struct shape_numbers {
    struct shape_key keys[NOCAP_SHAPES];
    bool taken[NOCAP_SHAPES];
};

/* 0: none. */
static inline uint16_t shape_number(struct shape_numbers *numbers, const struct nocap_event *event)
{
    struct shape_key key = {.has = event->has};
    memcpy(&key.members[0], &event->kind, sizeof key.members[0]);
    memcpy(&key.members[1], &event->kind + sizeof key.members[0], sizeof key.members[1]);
    memcpy(&key.members[2], &event->kind + SHAPE_LAST, sizeof key.members[2]);
    const uint64_t mixed = (key.has ^ key.members[0] ^ key.members[1] << 1 ^ key.members[2] << 2) *
                           UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t step = 0; step < SHAPE_STEPS; step++) {
        const uint32_t i = ((uint32_t)(mixed >> 32) + step) % NOCAP_SHAPES;
        if (!numbers->taken[i]) {
            numbers->taken[i] = true;
            numbers->keys[i] = key;
        }
        if (memcmp(&numbers->keys[i], &key, sizeof key) == 0) {
            return (uint16_t)(i + 1);
        }
    }
    return 0;
}

#endif
