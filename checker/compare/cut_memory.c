/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/cut_memory.h"

#include <stdlib.h>

#include "base/map.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/noc_ends.h"
#include "formats/blackhole/tile_map.h"

enum {
    LINE = 64,
    LINES_MAX = 1 << 18,
    ACCESS_LINES_MAX = 256, /* of one access; what a longer one holds is data, not protocol */
};

struct line_key {
    uint64_t place; /* space, chip, tile */
    uint64_t first; /* address of the first byte */
};

struct line {
    struct line_key key;
    uint64_t known; /* a bit a byte */
    uint8_t bytes[LINE];
};

struct cut_memory {
    MAP(struct line);
};

enum nocap_status cut_memory_new(struct cut_memory **memory, struct nocap_error *err)
{
    *memory = calloc(1, sizeof **memory);
    RETURN_ERROR_IF(*memory == NULL, err, NOCAP_E_MEMORY, "out of memory for the state at the cut");
    return NOCAP_OK;
}

void cut_memory_free(struct cut_memory *memory)
{
    if (memory != NULL) {
        MAP_FREE(memory);
        free(memory);
    }
}

static uint64_t place_of(unsigned space, unsigned chip, struct nocap_xy at)
{
    return (uint64_t)space << 32 | (uint64_t)chip << 16 | (uint64_t)at.x << 8 | at.y;
}

static struct line *line_of(const struct cut_memory *memory, uint64_t place, uint64_t addr)
{
    return MAP_FIND(memory, (&(struct line_key){place, addr / LINE * LINE}));
}

static bool is_memory(const struct nocap_event *event)
{
    return event->space == NOCAP_SPACE_SYSMEM ||
           (event->space == NOCAP_SPACE_TILE && event->addr < NOCAP_L1_SIZE);
}

static bool is_access(const struct nocap_event *event)
{
    return event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_READ ||
           event->kind == NOCAP_EV_MEM;
}

static uint64_t size_of(const struct nocap_event *event)
{
    return (event->has & NOCAP_F_SIZE) != 0 ? event->size : event->data_size;
}

static void want(struct cut_memory *memory, uint64_t place, uint64_t addr, uint64_t size)
{
    uint64_t first = addr / LINE * LINE;
    for (unsigned i = 0; i < ACCESS_LINES_MAX && first + i * LINE < addr + size; i++) {
        /* Without memory it is unknown, not wrong. */
        (void)MAP_GET(memory, (&(struct line_key){place, first + i * LINE}), LINES_MAX);
    }
}

void cut_memory_want(struct cut_memory *memory, const struct nocap_event *event)
{
    if ((event->has & NOCAP_F_AT) != 0 && event->space == NOCAP_SPACE_TILE) {
        want(memory, place_of(NOCAP_SPACE_TILE, event->chip, event->at), 0, NOCAP_MAILBOX_END);
    }
    if (event->kind == NOCAP_EV_NOC) {
        want(memory, place_of(NOCAP_SPACE_TILE, event->chip, event->d), 0, NOCAP_MAILBOX_END);
    }
    if (is_access(event) && is_memory(event)) {
        want(memory, place_of(event->space, event->chip, event->at), event->addr, size_of(event));
    }
}

/* The bytes that the event puts into memory, from its address on; 0: none that are known. */
static size_t bytes_of(const struct nocap_event *event, uint8_t number[8], const uint8_t **bytes)
{
    if ((event->has & NOCAP_F_VALUE) != 0) {
        size_t size = event->size < 8 ? (size_t)event->size : 8;
        for (size_t i = 0; i < size; i++) {
            number[i] = (uint8_t)(event->value >> (8 * i));
        }
        *bytes = number;
        return size;
    }
    *bytes = event->data;
    return (event->has & NOCAP_F_DATA) != 0 ? event->data_size : 0;
}

static bool changes_memory(const struct nocap_event *event)
{
    return (event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_MEM) && is_memory(event);
}

/* Bytes past what is known were not captured: they may be anything now. */
static void store_at(struct cut_memory *memory, uint64_t place, const struct nocap_event *event,
                     const uint8_t *bytes, size_t known)
{
    uint64_t size = size_of(event), first = event->addr / LINE * LINE;
    for (unsigned i = 0; i < ACCESS_LINES_MAX && first + i * LINE < event->addr + size; i++) {
        struct line *line = line_of(memory, place, first + i * LINE);
        for (unsigned b = 0; line != NULL && b < LINE; b++) {
            uint64_t at = line->key.first + b - event->addr;
            if (line->key.first + b < event->addr || at >= size) {
                continue;
            }
            line->known &= ~(UINT64_C(1) << b);
            if (at < known) {
                line->bytes[b] = bytes[at];
                line->known |= UINT64_C(1) << b;
            }
        }
    }
}

/* What a NOC transaction brings somewhere may land unseen. */
static void forget(struct cut_memory *memory, const struct nocap_event *event)
{
    const struct nocap_noc_ends ends = nocap_noc_ends(event);
    const struct nocap_event hole = {
        .addr = event->daddr, .size = event->size, .has = NOCAP_F_SIZE};
    for (struct nocap_tiles t = nocap_tiles(ends.to, ends.to_other); !t.over; nocap_next_tile(&t)) {
        store_at(memory, place_of(NOCAP_SPACE_TILE, event->chip, t.at), &hole, NULL, 0);
    }
}

void cut_memory_store(struct cut_memory *memory, const struct nocap_event *event)
{
    uint8_t number[8];
    const uint8_t *bytes = NULL;
    if (event->kind == NOCAP_EV_NOC) {
        forget(memory, event);
    }
    if (!changes_memory(event)) {
        return;
    }
    size_t known = bytes_of(event, number, &bytes);
    struct nocap_xy last = nocap_last_tile(event);
    for (struct nocap_tiles t = nocap_tiles(event->at, last); !t.over; nocap_next_tile(&t)) {
        store_at(memory, place_of(event->space, event->chip, t.at), event, bytes, known);
    }
}

void cut_memory_forget(struct cut_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        memory->rows[i].known = 0;
    }
}

bool cut_memory_as_mem(const struct cut_memory *memory, const struct nocap_event *event,
                       uint8_t bytes[8], struct nocap_event *mem)
{
    const uint8_t *data = NULL;
    if (!changes_memory(event)) {
        return false;
    }
    size_t known = bytes_of(event, bytes, &data);
    uint64_t place = place_of(event->space, event->chip, event->at);
    if (known == 0 || line_of(memory, place, event->addr) == NULL) {
        return false;
    }
    *mem = (struct nocap_event){
        .kind = NOCAP_EV_MEM,
        .t = event->t,
        .src = event->src,
        .chip = event->chip,
        .space = event->space,
        .at = event->at,
        .addr = event->addr,
        .data = data,
        .data_size = (uint32_t)known,
        .has = NOCAP_F_ADDR | NOCAP_F_DATA | (event->has & (NOCAP_F_SPACE | NOCAP_F_AT)),
    };
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct line_key *l = &(*(const struct line *const *)a)->key,
                          *m = &(*(const struct line *const *)b)->key;
    if (l->place != m->place) {
        return l->place < m->place ? -1 : 1;
    }
    return l->first < m->first ? -1 : l->first > m->first;
}

/* One `mem` event for each run of known bytes. */
static enum nocap_status write_line(const struct line *line, struct nocap_writer *writer,
                                    uint64_t t, uint64_t *events, struct nocap_error *err)
{
    uint8_t space = (uint8_t)(line->key.place >> 32);
    for (unsigned from = 0, to; from < LINE; from = to + 1) {
        for (to = from; to < LINE && (line->known >> to & 1) != 0; to++) {
        }
        if (to == from) {
            continue;
        }
        const struct nocap_event mem = {
            .kind = NOCAP_EV_MEM,
            .t = t,
            .chip = (uint16_t)(line->key.place >> 16),
            .space = space,
            .at = {(uint8_t)(line->key.place >> 8), (uint8_t)line->key.place},
            .addr = line->key.first + from,
            .data = line->bytes + from,
            .data_size = to - from,
            .has = NOCAP_F_ADDR | NOCAP_F_DATA |
                   (space == NOCAP_SPACE_TILE ? NOCAP_F_AT : NOCAP_F_SPACE),
        };
        RETURN_IF_FAILED(nocap_writer_add(writer, &mem, err));
        ++*events;
    }
    return NOCAP_OK;
}

enum nocap_status cut_memory_write(const struct cut_memory *memory, struct nocap_writer *writer,
                                   uint64_t t, uint64_t *events, struct nocap_error *err)
{
    const struct line **sorted = calloc(memory->count + 1, sizeof *sorted);
    RETURN_ERROR_IF(sorted == NULL, err, NOCAP_E_MEMORY, "out of memory for the state at the cut");
    for (size_t i = 0; i < memory->count; i++) {
        sorted[i] = &memory->rows[i];
    }
    qsort(sorted, memory->count, sizeof *sorted, by_place);
    enum nocap_status status = NOCAP_OK;
    for (size_t i = 0; i < memory->count && status == NOCAP_OK; i++) {
        status = write_line(sorted[i], writer, t, events, err);
    }
    free(sorted);
    return status;
}
