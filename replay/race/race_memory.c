/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race/race_private.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_START = 16 };

uint32_t race_memory_find(struct race_memory *memory, uint64_t addr)
{
    uint32_t low = 0, high = memory->count, hint = memory->hint;
    if (hint < high && memory->rows[hint].end <= addr) {
        hint++; /* one goes through memory upwards */
    }
    if (hint < high && memory->rows[hint].end > addr &&
        (hint == 0 || memory->rows[hint - 1].end <= addr)) {
        return memory->hint = hint;
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (memory->rows[middle].end <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memory->hint = low;
    return low;
}

/* Their slots become the first of the free ones. */
static void remove_rows(struct race_memory *memory, uint32_t at, uint32_t count)
{
    enum { AT_ONCE = 16 };
    struct race_row removed[AT_ONCE];
    for (uint32_t n; count > 0; count -= n) {
        n = count < AT_ONCE ? count : AT_ONCE;
        for (uint32_t i = 0; i < n; i++) {
            removed[i] = memory->rows[at + i];
            race_clock_drop(race_memory_at(memory, at + i)->release);
        }
        memory->count -= n;
        memmove(&memory->rows[at], &memory->rows[at + n],
                (memory->count - at) * sizeof memory->rows[0]);
        memcpy(&memory->rows[memory->count], removed, n * sizeof removed[0]);
    }
}

/* Forgets the half that was not used for longest. */
static void forget_oldest(struct race_memory *memory)
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
        struct race_row row = memory->rows[i];
        if (race_memory_at(memory, i)->used <= limit) {
            race_clock_drop(race_memory_at(memory, i)->release);
        } else {
            memory->rows[i] = memory->rows[n];
            memory->rows[n++] = row;
        }
    }
    memory->count = n;
    memory->lost = limit > memory->lost ? limit : memory->lost;
}

static bool make_room(struct race_memory *memory)
{
    if (memory->count < memory->capacity) {
        return true;
    }
    uint32_t capacity = memory->capacity == 0 ? SPANS_START : 2 * memory->capacity;
    struct race_row *rows = realloc(memory->rows, capacity * sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    memory->rows = rows;
    struct race_span *pool = realloc(memory->pool, capacity * sizeof *pool);
    if (pool == NULL) {
        return false;
    }
    memory->pool = pool;
    for (uint32_t i = memory->capacity; i < capacity; i++) {
        rows[i].slot = i;
    }
    memory->capacity = capacity;
    return true;
}

static struct race_span *insert(struct race_memory *memory, uint32_t at, uint64_t first,
                                uint64_t end)
{
    if (!make_room(memory)) {
        return NULL;
    }
    struct race_row *row = &memory->rows[at];
    uint32_t slot = memory->rows[memory->count].slot;
    memmove(row + 1, row, (memory->count - at) * sizeof *row);
    memory->count++;
    *row = (struct race_row){first, end, slot};
    struct race_span *span = &memory->pool[slot];
    memset(span, 0, sizeof *span);
    span->first = first;
    span->end = end;
    return span;
}

/* Cuts the span that holds `addr` in two, so that one begins there. */
static bool cut(struct race_memory *memory, uint64_t addr)
{
    uint32_t i = race_memory_find(memory, addr);
    if (i == memory->count || memory->rows[i].first >= addr) {
        return true;
    }
    struct race_span *upper = insert(memory, i + 1, addr, memory->rows[i].end);
    if (upper == NULL) {
        return false;
    }
    struct race_span *lower = race_memory_at(memory, i);
    *upper = *lower;
    upper->first = lower->end = memory->rows[i].end = addr;
    upper->value_known = upper->seen_known = lower->value_known = lower->seen_known = false;
    race_clock_share(upper->release);
    return true;
}

struct race_span *race_memory_write(struct race_memory *memory, const struct race_access *a)
{
    uint32_t i = race_memory_find(memory, a->first);
    struct race_span *span = i < memory->count ? race_memory_at(memory, i) : NULL;
    if (span == NULL || span->first != a->first || span->end != a->end) {
        if (memory->count >= RACE_SPANS_MAX) {
            forget_oldest(memory);
        }
        if (!cut(memory, a->first) || !cut(memory, a->end)) {
            return NULL;
        }
        i = race_memory_find(memory, a->first);
        uint32_t j = i;
        while (j < memory->count && memory->rows[j].end <= a->end) {
            j++;
        }
        remove_rows(memory, i, j - i);
        span = insert(memory, i, a->first, a->end);
        if (span == NULL) {
            return NULL;
        }
    }
    race_clock_drop(span->release);
    span->release = NULL;
    span->written = true;
    span->write = *a;
    span->reader_count = 0;
    span->value_known = false;
    span->polled = 0;
    span->used = a->index;
    return span;
}

static void add_reader(struct race_span *span, const struct race_access *a)
{
    struct race_access r = *a;
    r.first = a->first > span->first ? a->first : span->first;
    r.end = a->end < span->end ? a->end : span->end;
    span->used = a->index;
    uint8_t at = 0;
    for (uint8_t i = 0; i < span->reader_count; i++) {
        const struct race_access *old = &span->readers[i];
        if (old->agent == r.agent && old->way == r.way && old->first == r.first &&
            old->end == r.end && old->noc == r.noc) {
            span->readers[i] = r;
            return;
        }
        at = old->index < span->readers[at].index ? i : at;
    }
    if (span->reader_count < RACE_READERS) {
        at = span->reader_count++;
    }
    span->readers[at] = r;
}

bool race_memory_read(struct race_memory *memory, const struct race_access *a)
{
    uint64_t at = a->first;
    if (memory->count >= RACE_SPANS_MAX) {
        forget_oldest(memory);
    }
    for (uint32_t i = race_memory_find(memory, at); at < a->end; i++) {
        bool gap = i == memory->count || memory->rows[i].first > at;
        if (gap) {
            uint64_t end = i == memory->count || memory->rows[i].first > a->end
                               ? a->end
                               : memory->rows[i].first;
            if (insert(memory, i, at, end) == NULL) {
                return false;
            }
        }
        add_reader(race_memory_at(memory, i), a);
        at = memory->rows[i].end;
    }
    return true;
}

void race_memory_free(struct race_memory *memory)
{
    remove_rows(memory, 0, memory->count);
    free(memory->rows);
    free(memory->pool);
    *memory = (struct race_memory){0};
}
