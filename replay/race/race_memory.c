/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race/race_private.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_START = 16 };

uint32_t race_memory_search(struct race_memory *memory, uint64_t addr)
{
    uint32_t low = 0, high = memory->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (memory->rows[middle].end <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return memory->hints[addr / RACE_HINT_BYTES % RACE_HINTS] = low;
}

static void free_slot(struct race_memory *memory, uint32_t slot)
{
    race_clock_drop(memory->pool[slot].news.release);
    memory->pool[slot].next = memory->free;
    memory->free = slot;
}

static void remove_rows(struct race_memory *memory, uint32_t at, uint32_t count)
{
    if (count == 0) {
        return;
    }
    struct race_row *rows = &memory->rows[at];
    for (uint32_t i = 0; i < count; i++) {
        free_slot(memory, rows[i].slot);
    }
    memory->count -= count;
    memmove(rows, rows + count, (memory->count - at) * sizeof *rows);
}

/* Forgets the half that was not used for longest. */
static void forget_half(struct race_memory *memory)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        uint64_t used = race_memory_at(memory, i)->used;
        low = used < low ? used : low;
        high = used > high ? used : high;
    }
    uint64_t limit = low + (high - low) / 2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        if (race_memory_at(memory, i)->used <= limit) {
            free_slot(memory, memory->rows[i].slot);
        } else {
            memory->rows[n++] = memory->rows[i];
        }
    }
    memory->count = n;
    memory->lost = limit > memory->lost ? limit : memory->lost;
}

bool race_memory_bound(struct race_memory *memory)
{
    bool full = memory->count >= RACE_SPANS_MAX;
    if (full) {
        forget_half(memory);
    }
    return full;
}

static bool grow(struct model *m, struct race_memory *memory)
{
    uint32_t capacity = memory->capacity == 0 ? SPANS_START : 2 * memory->capacity;
    struct race_row *rows = realloc(memory->rows, capacity * sizeof *rows);
    memory->rows = rows == NULL ? memory->rows : rows;
    struct race_span *pool = realloc(memory->pool, capacity * sizeof *pool);
    memory->pool = pool == NULL ? memory->pool : pool;
    if (rows == NULL || pool == NULL) {
        m->out_of_memory = true;
        return false;
    }
    for (uint32_t i = memory->capacity; i < capacity; i++) {
        pool[i].next = i + 1;
    }
    memory->capacity = capacity;
    return true;
}

/* Its bytes are others now. */
static void lose_value(struct race_span *span)
{
    span->value_known = span->seen_known = false;
}

struct race_span *race_memory_insert(struct model *m, struct race_memory *memory, uint32_t at,
                                     uint64_t first, uint64_t end)
{
    if (memory->free >= memory->capacity && !grow(m, memory)) {
        return NULL;
    }
    uint32_t slot = memory->free;
    struct race_row *row = &memory->rows[at];
    struct race_span *span = &memory->pool[slot];
    memmove(row + 1, row, (memory->count - at) * sizeof *row);
    *row = (struct race_row){first, end, slot};
    memory->count++;
    memory->free = span->next;
    span->news = (struct race_news){0};
    span->reader_count = 0;
    lose_value(span);
    return span;
}

/* Makes the span of `row` end at `end`; what it has from `next` on becomes a span of its own. */
static bool shorten(struct model *m, struct race_memory *memory, uint32_t row, uint64_t end,
                    uint64_t next)
{
    struct race_span *span = race_memory_at(memory, row);
    lose_value(span);
    if (next < memory->rows[row].end) {
        struct race_span *upper =
            race_memory_insert(m, memory, row + 1, next, memory->rows[row].end);
        if (upper == NULL) {
            return false;
        }
        span = race_memory_at(memory, row);
        race_clock_share(span->news.release);
        *upper = *span;
    }
    memory->rows[row].end = end;
    return true;
}

struct race_span *race_memory_renew(struct model *m, struct race_memory *memory, uint32_t row,
                                    uint64_t first, uint64_t end)
{
    if (race_memory_bound(memory)) {
        row = race_memory_find(memory, first);
    }
    if (row < memory->count && memory->rows[row].first < first &&
        !shorten(m, memory, row++, first, end)) {
        return NULL;
    }
    uint32_t next = row;
    while (next < memory->count && memory->rows[next].end <= end) {
        next++;
    }
    if (next < memory->count && memory->rows[next].first < end) {
        lose_value(race_memory_at(memory, next));
        memory->rows[next].first = end;
    }
    if (next == row) {
        return race_memory_insert(m, memory, row, first, end);
    }
    remove_rows(memory, row + 1, next - row - 1);
    memory->rows[row].first = first;
    memory->rows[row].end = end;
    lose_value(race_memory_at(memory, row));
    return race_memory_at(memory, row);
}

void race_memory_free(struct race_memory *memory)
{
    remove_rows(memory, 0, memory->count);
    free(memory->rows);
    free(memory->pool);
}
