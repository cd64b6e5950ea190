#include "replay/race.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS_START = 16 };

uint32_t race_memory_find(struct race_memory *memory, uint64_t addr)
{
    uint32_t low = 0, high = memory->count, hint = memory->hint;
    if (hint < high && memory->spans[hint].end > addr &&
        (hint == 0 || memory->spans[hint - 1].end <= addr)) {
        return hint;
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (memory->spans[middle].end <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    memory->hint = low;
    return low;
}

static void remove_spans(struct race_memory *memory, uint32_t at, uint32_t count)
{
    if (count == 0) {
        return;
    }
    for (uint32_t i = at; i < at + count; i++) {
        race_clock_drop(memory->spans[i].release);
    }
    memory->count -= count;
    memmove(&memory->spans[at], &memory->spans[at + count],
            (memory->count - at) * sizeof memory->spans[0]);
}

/* Forgets the half that was not used for longest. */
static void forget_oldest(struct race_memory *memory)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        uint64_t used = memory->spans[i].used;
        low = used < low ? used : low;
        high = used > high ? used : high;
    }
    uint64_t limit = low + (high - low) / 2;
    uint32_t n = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->spans[i].used <= limit) {
            race_clock_drop(memory->spans[i].release);
        } else {
            memory->spans[n++] = memory->spans[i];
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
    struct race_span *grown = realloc(memory->spans, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    memory->spans = grown;
    memory->capacity = capacity;
    return true;
}

static struct race_span *insert(struct race_memory *memory, uint32_t at, uint64_t first,
                                uint64_t end)
{
    if (!make_room(memory)) {
        return NULL;
    }
    struct race_span *span = &memory->spans[at];
    memmove(span + 1, span, (memory->count - at) * sizeof *span);
    memory->count++;
    memset(span, 0, sizeof *span);
    span->first = first;
    span->end = end;
    return span;
}

/* Cuts the span that holds `addr` in two, so that one begins there. */
static bool cut(struct race_memory *memory, uint64_t addr)
{
    uint32_t i = race_memory_find(memory, addr);
    if (i == memory->count || memory->spans[i].first >= addr) {
        return true;
    }
    struct race_span *upper = insert(memory, i + 1, addr, memory->spans[i].end);
    if (upper == NULL) {
        return false;
    }
    struct race_span *lower = &memory->spans[i];
    *upper = *lower;
    upper->first = lower->end = addr;
    upper->value_known = upper->seen_known = lower->value_known = lower->seen_known = false;
    race_clock_share(upper->release);
    return true;
}

struct race_span *race_memory_write(struct race_memory *memory, const struct race_access *a)
{
    uint32_t i = race_memory_find(memory, a->first);
    struct race_span *span = i < memory->count ? &memory->spans[i] : NULL;
    if (span == NULL || span->first != a->first || span->end != a->end) {
        if (memory->count >= RACE_SPANS_MAX) {
            forget_oldest(memory);
        }
        if (!cut(memory, a->first) || !cut(memory, a->end)) {
            return NULL;
        }
        i = race_memory_find(memory, a->first);
        uint32_t j = i;
        while (j < memory->count && memory->spans[j].end <= a->end) {
            j++;
        }
        remove_spans(memory, i, j - i);
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
        bool gap = i == memory->count || memory->spans[i].first > at;
        if (gap) {
            uint64_t end = i == memory->count || memory->spans[i].first > a->end
                               ? a->end
                               : memory->spans[i].first;
            if (insert(memory, i, at, end) == NULL) {
                return false;
            }
        }
        add_reader(&memory->spans[i], a);
        at = memory->spans[i].end;
    }
    return true;
}

void race_memory_free(struct race_memory *memory)
{
    remove_spans(memory, 0, memory->count);
    free(memory->spans);
    *memory = (struct race_memory){0};
}
