/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a trace in memory and what may be done to it so that it stays true. Every change takes
 * the trace as it is and a random stream; payloads that it makes live as long as the arena. */
#ifndef NOCAP_TESTS_TRANSFORM_H
#define NOCAP_TESTS_TRANSFORM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/tile_map.h"
#include "formats/import/import.h"
#include "formats/trace/trace.h"

/* ---- memory and chance ---- */

struct arena {
    void **blocks;
    size_t count;
};

static inline void *arena_get(struct arena *arena, size_t size)
{
    arena->blocks = realloc(arena->blocks, (arena->count + 1) * sizeof *arena->blocks);
    assert_non_null(arena->blocks);
    void *block = calloc(1, size + 1);
    assert_non_null(block);
    arena->blocks[arena->count++] = block;
    return block;
}

static inline void arena_free(struct arena *arena)
{
    while (arena->count > 0) {
        free(arena->blocks[--arena->count]);
    }
    free(arena->blocks);
    arena->blocks = NULL;
}

static inline uint64_t chance(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* From 0 to `below` - 1; 0 if `below` is 0. */
static inline uint64_t pick(uint64_t *seed, uint64_t below)
{
    return below == 0 ? 0 : chance(seed) % below;
}

/* ---- a trace ---- */

struct trace {
    const char *name;
    struct nocap_header header;
    struct nocap_event *events;
    size_t count, capacity;
    struct arena arena;
};

static inline void trace_free(struct trace *t)
{
    nocap_header_free(&t->header);
    free(t->events);
    arena_free(&t->arena);
}

static inline void trace_add(struct trace *t, const struct nocap_event *event)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity * 2 + 1024;
        t->events = realloc(t->events, t->capacity * sizeof *t->events);
        assert_non_null(t->events);
    }
    t->events[t->count] = *event;
    t->events[t->count].index = t->count;
    t->count++;
}

static inline const uint8_t *trace_bytes(struct trace *t, const void *bytes, size_t size)
{
    return size == 0 ? NULL : memcpy(arena_get(&t->arena, size), bytes, size);
}

/* The event with payloads of its own. */
static inline void trace_keep(struct trace *t, const struct nocap_event *event)
{
    struct nocap_event own = *event;
    own.data = trace_bytes(t, event->data, event->data_size);
    own.extra = (const char *)trace_bytes(t, event->extra, event->extra_size);
    trace_add(t, &own);
}

/* A copy that shares the payloads: `from` must live longer. */
static inline struct trace trace_copy(const struct trace *from)
{
    struct nocap_error err;
    struct trace t = {.name = from->name, .count = from->count, .capacity = from->count + 1};
    assert_int_equal(nocap_header_copy(&t.header, &from->header, &err), NOCAP_OK);
    t.events = malloc(t.capacity * sizeof *t.events);
    assert_non_null(t.events);
    memcpy(t.events, from->events, from->count * sizeof *t.events);
    return t;
}

/* Writes the trace as a file. */
static inline void trace_write(const struct trace *t, const char *path)
{
    struct nocap_writer *writer;
    struct nocap_error err = {{0}};
    if (nocap_writer_open(&writer, path, &t->header, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < t->count; i++) {
        assert_int_equal(nocap_writer_add(writer, &t->events[i], &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
}

/* ---- what an event is ---- */

static inline bool is_access(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_READ || e->kind == NOCAP_EV_WRITE;
}

static inline bool by_core(const struct nocap_event *e)
{
    return e->by >= NOCAP_BY_BRISC && e->by <= NOCAP_BY_TRISC2;
}

/* Whether it is of the inside of a tile, which `scope` is about. */
static inline bool inside_tile(const struct nocap_event *e)
{
    return (is_access(e) && e->space == NOCAP_SPACE_TILE &&
            (by_core(e) || e->by == NOCAP_BY_NOC)) ||
           e->kind == NOCAP_EV_NOC || e->kind == NOCAP_EV_TENSIX || e->kind == NOCAP_EV_KERNEL ||
           e->kind == NOCAP_EV_RESET;
}

/* Who made it: events of one agent keep their order whatever else moves. The coprocessor, and what
 * a tile's interfaces do, are probes of their own. */
static inline uint32_t transform_source(const struct nocap_event *e)
{
    uint32_t who = e->kind == NOCAP_EV_TENSIX ? 200u + (e->op == NOCAP_OP_PUSH ? 0 : 1)
                   : e->kind == NOCAP_EV_NOC  ? (uint32_t)e->by
                                              : (uint32_t)e->by;
    bool outside = e->by == NOCAP_BY_HOST || e->by == NOCAP_BY_DMA || e->kind == NOCAP_EV_CQ ||
                   (e->has & NOCAP_F_AT) == 0;
    return 1u + ((outside ? 0u : ((uint32_t)e->at.x << 8 | e->at.y)) << 8 | who);
}

/* The header promises these classes alone. */
static inline void promise(struct nocap_header *h, uint32_t classes)
{
    for (size_t i = 0; i < h->observed_count; i++) {
        free(h->observed[i]);
    }
    h->observed_count = 0;
    h->observes &= classes;
}

/* Leaves out the others. */
static inline void keep_if(struct trace *t, const bool *keep)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (keep[i]) {
            t->events[count] = t->events[i];
            t->events[count].index = count;
            count++;
        }
    }
    t->count = count;
}

#endif
