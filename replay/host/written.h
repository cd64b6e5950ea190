/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay/host: which bytes of a tile's L1 an agent has written since power-on, to 16
 * bytes. Most of L1 is never written: a span of it takes memory when it is written first. */
#ifndef NOCAP_REPLAY_WRITTEN_H
#define NOCAP_REPLAY_WRITTEN_H

#include <stdlib.h>

#include "formats/blackhole/tile_map.h"

enum {
    WRITTEN_GRAIN = 16,
    WRITTEN_SPAN = 1 << 16,
    WRITTEN_SPANS = NOCAP_L1_SIZE / WRITTEN_SPAN,
    WRITTEN_BYTES = WRITTEN_SPAN / WRITTEN_GRAIN / 8,
};
_Static_assert(NOCAP_L1_SIZE % WRITTEN_SPAN == 0, "spans are whole");

struct written_span {
    uint8_t since_release[WRITTEN_BYTES]; /* of BRISC */
    uint8_t before[WRITTEN_BYTES];
};
struct written {
    struct written_span *spans[WRITTEN_SPANS]; /* NULL: not written */
};

static inline bool written_bit(const uint8_t *bits, uint32_t addr)
{
    uint32_t grain = addr % WRITTEN_SPAN / WRITTEN_GRAIN;
    return (bits[grain / 8] >> grain % 8 & 1) != 0;
}

static inline const struct written_span *written_span(const struct written *w, uint32_t addr)
{
    return addr < NOCAP_L1_SIZE ? w->spans[addr / WRITTEN_SPAN] : NULL;
}

static inline bool written_since_release(const struct written *w, uint32_t addr)
{
    const struct written_span *span = written_span(w, addr);
    return span != NULL && written_bit(span->since_release, addr);
}

static inline bool written_before(const struct written *w, uint32_t addr)
{
    const struct written_span *span = written_span(w, addr);
    return span != NULL && written_bit(span->before, addr);
}

/* False without memory. */
static inline bool written_mark(struct written *w, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size < NOCAP_L1_SIZE ? addr + size : NOCAP_L1_SIZE;
    for (uint64_t g = addr / WRITTEN_GRAIN; g * WRITTEN_GRAIN < end; g++) {
        struct written_span **span = &w->spans[g * WRITTEN_GRAIN / WRITTEN_SPAN];
        if (*span == NULL && (*span = calloc(1, sizeof **span)) == NULL) {
            return false;
        }
        (*span)->since_release[g / 8 % WRITTEN_BYTES] |= (uint8_t)(1u << g % 8);
    }
    return true;
}

static inline void written_release(struct written *w)
{
    for (unsigned s = 0; s < WRITTEN_SPANS; s++) {
        struct written_span *span = w->spans[s];
        for (uint32_t i = 0; span != NULL && i < WRITTEN_BYTES; i++) {
            span->before[i] |= span->since_release[i];
            span->since_release[i] = 0;
        }
    }
}

/* NULL is none. */
static inline void written_free(struct written *w)
{
    for (unsigned s = 0; w != NULL && s < WRITTEN_SPANS; s++) {
        free(w->spans[s]);
    }
    free(w);
}

#endif
