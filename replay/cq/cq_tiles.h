/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: sets of the tiles of a chip, as launches of the command queue have them. */
#ifndef NOCAP_REPLAY_CQ_TILES_H
#define NOCAP_REPLAY_CQ_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/blackhole/tile_map.h"

enum { CQ_TILES = NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT };

struct cq_tile_set {
    uint64_t bits[(CQ_TILES + 63) / 64];
};

static inline struct nocap_xy cq_tile_of(unsigned i)
{
    return (struct nocap_xy){(uint8_t)(i % NOCAP_GRID_WIDTH), (uint8_t)(i / NOCAP_GRID_WIDTH)};
}
static inline bool cq_set_has(const struct cq_tile_set *s, struct nocap_xy at)
{
    unsigned i = at.x + NOCAP_GRID_WIDTH * (unsigned)at.y;
    return at.x < NOCAP_GRID_WIDTH && i < CQ_TILES && (s->bits[i / 64] >> i % 64 & 1) != 0;
}
static inline void cq_set_add(struct cq_tile_set *s, struct nocap_xy at)
{
    unsigned i = at.x + NOCAP_GRID_WIDTH * (unsigned)at.y;
    if (at.x < NOCAP_GRID_WIDTH && i < CQ_TILES) {
        s->bits[i / 64] |= UINT64_C(1) << i % 64;
    }
}
static inline void cq_set_remove(struct cq_tile_set *s, struct nocap_xy at)
{
    unsigned i = at.x + NOCAP_GRID_WIDTH * (unsigned)at.y;
    if (at.x < NOCAP_GRID_WIDTH && i < CQ_TILES) {
        s->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
}
static inline bool cq_set_meets(const struct cq_tile_set *a, const struct cq_tile_set *b)
{
    uint64_t any = 0;
    for (unsigned i = 0; i < sizeof a->bits / sizeof a->bits[0]; i++) {
        any |= a->bits[i] & b->bits[i];
    }
    return any != 0;
}
static inline bool cq_set_empty(const struct cq_tile_set *s)
{
    return !cq_set_meets(s, s);
}
static inline void cq_set_join(struct cq_tile_set *to, const struct cq_tile_set *s)
{
    for (unsigned i = 0; i < sizeof s->bits / sizeof s->bits[0]; i++) {
        to->bits[i] |= s->bits[i];
    }
}
static inline void cq_set_leave(struct cq_tile_set *from, const struct cq_tile_set *s)
{
    for (unsigned i = 0; i < sizeof s->bits / sizeof s->bits[0]; i++) {
        from->bits[i] &= ~s->bits[i];
    }
}
#endif
