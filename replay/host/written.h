/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay/host: which bytes of a tile's L1 an agent has written since power-on, to 16
 * bytes. */
#ifndef NOCAP_REPLAY_WRITTEN_H
#define NOCAP_REPLAY_WRITTEN_H

#include "formats/blackhole/tile_map.h"

enum { WRITTEN_GRAIN = 16, WRITTEN_BYTES = NOCAP_L1_SIZE / WRITTEN_GRAIN / 8 };
struct written {
    uint8_t since_release[WRITTEN_BYTES]; /* of BRISC */
    uint8_t before[WRITTEN_BYTES];
};

static inline bool written_at(const uint8_t *bits, uint32_t addr)
{
    uint32_t grain = addr / WRITTEN_GRAIN;
    return addr < NOCAP_L1_SIZE && (bits[grain / 8] >> grain % 8 & 1) != 0;
}

static inline void written_mark(struct written *w, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size < NOCAP_L1_SIZE ? addr + size : NOCAP_L1_SIZE;
    for (uint64_t g = addr / WRITTEN_GRAIN; g * WRITTEN_GRAIN < end; g++) {
        w->since_release[g / 8] |= (uint8_t)(1u << g % 8);
    }
}

static inline void written_release(struct written *w)
{
    for (uint32_t i = 0; i < WRITTEN_BYTES; i++) {
        w->before[i] |= w->since_release[i];
        w->since_release[i] = 0;
    }
}

#endif
