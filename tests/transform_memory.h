/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the lowest bytes of tiles as a trace tells them, to be told once more as `mem` events.
 */
#ifndef NOCAP_TESTS_TRANSFORM_MEMORY_H
#define NOCAP_TESTS_TRANSFORM_MEMORY_H

#include "tests/transform.h"

enum { TRANSFORM_MEMORY = 0x600, TRANSFORM_TILES = 512 };

/* What is known of the lowest bytes of tiles. */
struct transform_memory {
    struct transform_tile {
        uint16_t chip;
        struct nocap_xy at;
        uint8_t bytes[TRANSFORM_MEMORY], known[TRANSFORM_MEMORY];
    } * tiles[TRANSFORM_TILES];
    size_t count;
    bool zero, landings;
};

static inline struct transform_tile *transform_tile(struct transform_memory *m, uint16_t chip,
                                                    struct nocap_xy at)
{
    for (size_t i = 0; i < m->count; i++) {
        struct transform_tile *tile = m->tiles[i];
        if (tile->chip == chip && tile->at.x == at.x && tile->at.y == at.y) {
            return tile;
        }
    }
    if (m->count == TRANSFORM_TILES) {
        return NULL;
    }
    struct transform_tile *tile = calloc(1, sizeof *tile);
    assert_non_null(tile);
    tile->chip = chip;
    tile->at = at;
    memset(tile->known, m->zero, sizeof tile->known);
    return m->tiles[m->count++] = tile;
}

static inline void transform_store(struct transform_memory *m, const struct nocap_event *e,
                                   struct nocap_xy from, struct nocap_xy to, uint64_t addr)
{
    bool value = (e->has & NOCAP_F_VALUE) != 0;
    const uint8_t *bytes = value ? (const uint8_t *)&e->value : e->data;
    uint64_t size = (e->has & NOCAP_F_SIZE) != 0 ? e->size : e->data_size;
    uint64_t known = value ? 8 : e->data_size;
    for (unsigned x = from.x; addr < TRANSFORM_MEMORY && x <= to.x; x++) {
        for (unsigned y = from.y; y <= to.y; y++) {
            struct transform_tile *tile =
                transform_tile(m, e->chip, (struct nocap_xy){(uint8_t)x, (uint8_t)y});
            for (uint64_t i = 0; tile != NULL && i < size && addr + i < TRANSFORM_MEMORY; i++) {
                tile->known[addr + i] = i < known;
                tile->bytes[addr + i] = i < known ? bytes[i] : 0;
            }
        }
    }
}

static inline void transform_take(struct transform_memory *m, const struct nocap_event *e)
{
    bool request = e->kind == NOCAP_EV_NOC && e->phase == NOCAP_PHASE_ISSUE &&
                   (e->op == NOCAP_OP_WRITE || e->op == NOCAP_OP_INLINE);
    if ((e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_MEM) && e->space == NOCAP_SPACE_TILE) {
        transform_store(m, e, e->at, (e->has & NOCAP_F_TO) != 0 ? e->to : e->at, e->addr);
    } else if (request && !m->landings && (e->has & NOCAP_F_D) != 0) {
        transform_store(m, e, e->d, (e->has & NOCAP_F_D2) != 0 ? e->d2 : e->d, e->daddr);
    }
}

static inline void transform_forget(struct transform_memory *m)
{
    m->zero = false;
    for (size_t i = 0; i < m->count; i++) {
        memset(m->tiles[i]->known, 0, sizeof m->tiles[i]->known);
    }
}

/* The memory before event `end`. */
static inline struct transform_memory *transform_memory(const struct trace *t, size_t end)
{
    const uint32_t all = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_NOC | NOCAP_CLASS_CORE_STORE;
    struct transform_memory *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->zero = t->header.complete == NOCAP_TRUE && (t->header.observes & all) == all;
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        m->landings |= e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_NOC;
    }
    for (size_t i = 0; i < end; i++) {
        if (t->events[i].kind == NOCAP_EV_DROP) {
            transform_forget(m);
        } else {
            transform_take(m, &t->events[i]);
        }
    }
    return m;
}

/* A look at some bytes, the same of all tiles. */
static inline void transform_narrow(struct transform_memory *m, uint64_t *seed)
{
    uint64_t from = pick(seed, TRANSFORM_MEMORY), most = pick(seed, 2) != 0 ? 16 : TRANSFORM_MEMORY;
    uint64_t to = from + 1 + pick(seed, most);
    for (size_t i = 0; i < m->count; i++) {
        for (uint64_t k = 0; k < TRANSFORM_MEMORY; k++) {
            m->tiles[i]->known[k] &= k >= from && k < to;
        }
    }
}

/* Adds what is known to `t`, as events at time `at`. Only tiles whose every store is seen. */
static inline void transform_tell(struct transform_memory *m, struct trace *t, uint64_t at)
{
    const uint32_t all = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CORE_STORE;
    for (size_t i = 0; i < m->count; i++) {
        struct transform_tile *tile = m->tiles[i];
        bool whole =
            (t->header.observes & all) == all && nocap_header_in_scope(&t->header, tile->at);
        for (uint32_t first = 0, end; whole && first < TRANSFORM_MEMORY; first = end + 1) {
            for (end = first; end < TRANSFORM_MEMORY && tile->known[end]; end++) {
            }
            if (end > first) {
                struct nocap_event e = {.kind = NOCAP_EV_MEM,
                                        .t = at,
                                        .chip = tile->chip,
                                        .at = tile->at,
                                        .addr = first,
                                        .data_size = end - first,
                                        .has = NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_DATA,
                                        .data = trace_bytes(t, tile->bytes + first, end - first)};
                trace_add(t, &e);
            }
        }
    }
    for (size_t i = 0; i < m->count; i++) {
        free(m->tiles[i]);
    }
    free(m);
}

#endif
