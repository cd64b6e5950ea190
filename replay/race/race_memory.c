/* SPDX-License-Identifier: Apache-2.0 */
/* Who touched which bytes last. */
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

/* Forgets the half that was not used for longest, where there is no room: true. */
static bool make_room(struct race_memory *memory)
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

/* A new span that is shown by this row. NULL without memory. */
static struct race_span *insert(struct model *m, struct race_memory *memory, uint32_t at,
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
        struct race_span *upper = insert(m, memory, row + 1, next, memory->rows[row].end);
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

/* A span of exactly these bytes, to be written; `row`: as found for the first. NULL without memory.
 */
static struct race_span *renew(struct model *m, struct race_memory *memory, uint32_t row,
                               uint64_t first, uint64_t end)
{
    if (make_room(memory)) {
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
        return insert(m, memory, row, first, end);
    }
    remove_rows(memory, row + 1, next - row - 1);
    memory->rows[row].first = first;
    memory->rows[row].end = end;
    lose_value(race_memory_at(memory, row));
    return race_memory_at(memory, row);
}

/* Who writes or reads one place often goes on with the next one: what is known of that is fetched
 * while other tiles are looked at. */
static void fetch_next(const struct race_memory *memory, uint32_t row)
{
    enum { LINE = 64 };
    if (row + 1 < memory->count) {
        const char *next = (const char *)race_memory_at(memory, row + 1);
        for (size_t at = 0; at < sizeof(struct race_span); at += LINE) {
            __builtin_prefetch(next + at);
        }
    }
}

struct race_span *race_write(struct model *m, struct race_mem_ctx *where,
                             const struct race_access *a, struct race_clock *release,
                             const struct access *bytes)
{
    struct race_memory *memory = &where->memory;
    uint32_t row = race_memory_find(memory, a->first);
    bool polled = race_judge(m, where, row, a, true);
    bool same = row < memory->count && memory->rows[row].first == a->first &&
                memory->rows[row].end == a->end;
    struct race_span *span =
        same ? race_memory_at(memory, row) : renew(m, memory, row, a->first, a->end);
    if (span == NULL) {
        race_clock_drop(release);
        return NULL;
    }
    race_report(&span->news, a, release);
    span->reader_count = 0;
    span->polled = polled && a->way != RACE_CORE;
    span->used = a->turn;
    span->value_known = bytes != NULL && race_value(bytes, &span->value);
    fetch_next(memory, row);
    return span;
}

static void add_reader(struct race_span *span, const struct race_row *row,
                       const struct race_access *a)
{
    uint64_t first = a->first > row->first ? a->first : row->first;
    uint64_t end = a->end < row->end ? a->end : row->end;
    struct race_access *r = span->readers;
    uint8_t at = 0, i = 0;
    for (; i < span->reader_count; i++) {
        if (r[i].agent == a->agent && r[i].way == a->way && r[i].first == first &&
            r[i].end == end && r[i].noc == a->noc) {
            at = i;
            break;
        }
        at = r[i].turn < r[at].turn ? i : at;
    }
    if (i == span->reader_count && i < RACE_READERS) {
        at = span->reader_count++;
    }
    r[at] = *a;
    r[at].first = first;
    r[at].end = end;
    span->used = a->turn;
}

/* What a core knows by a load of the span, or of a part: does its value come from the write that
 * is known? */
static void learn_load(struct model *m, const struct race_access *r, struct race_mem_ctx *where,
                       struct race_span *span, const struct race_row *row, const struct access *a)
{
    uint64_t v;
    bool captured = race_value(a, &v);
    bool whole = row->first == r->first && row->end == r->end && captured;
    bool written = span->news.write.turn != 0;
    bool changed = whole && span->seen_known && span->seen != v;
    struct race_clock **clock = &r->agent->clock;
    if (captured && written && (!whole || !span->value_known || span->value == v)) {
        race_reported(m, r->agent, where, &span->news);
    } else if (!captured || changed || !race_of(m)->all_seen) { /* another agent wrote it */
        race_clock_raise_base(m, clock, r->turn);
    } else if (!written) {
        race_clock_raise_base(m, clock, where->memory.lost);
    }
    if (whole) {
        span->seen = v;
        span->seen_known = true;
    }
}

void race_read(struct model *m, struct race_mem_ctx *where, const struct race_access *a,
               const struct access *bytes)
{
    struct race_memory *memory = &where->memory;
    uint64_t at = a->first;
    uint32_t row = race_memory_find(memory, at);
    race_judge(m, where, row, a, false);
    if (make_room(memory)) {
        row = race_memory_find(memory, at);
    }
    for (; at < a->end; row++) {
        bool last = row == memory->count || memory->rows[row].first >= a->end;
        uint64_t next = last ? a->end : memory->rows[row].first;
        if (next > at && insert(m, memory, row, at, next) == NULL) {
            return;
        }
        const struct race_row *bound = &memory->rows[row];
        struct race_span *span = race_memory_at(memory, row);
        add_reader(span, bound, a);
        if (bytes != NULL) {
            learn_load(m, a, where, span, bound, bytes);
        }
        at = bound->end;
    }
}

void race_memory_free(struct race_memory *memory)
{
    remove_rows(memory, 0, memory->count);
    free(memory->rows);
    free(memory->pool);
}
