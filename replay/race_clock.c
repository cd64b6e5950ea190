#include "replay/race.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK_START = 8, CHANNEL_BITS = 8, PLACE_BITS = 16, WAY_SHIFT = 60 };

/* Keys: the way on top; the channel of an order at the bottom, so that those of one route stand
 * side by side. */
uint64_t race_core_key(uint32_t agent)
{
    return (uint64_t)RACE_CORE << WAY_SHIFT | agent;
}

uint64_t race_way_key(enum race_way way, uint32_t place, unsigned noc)
{
    return (uint64_t)way << WAY_SHIFT | (uint64_t)place << 1 | noc;
}

uint64_t race_order_key(uint32_t from, unsigned noc, uint32_t to, unsigned channel)
{
    return (uint64_t)RACE_ORDER << WAY_SHIFT |
           (((uint64_t)from << 1 | noc) << PLACE_BITS | to) << CHANNEL_BITS | channel;
}

struct race_clock *race_clock_share(struct race_clock *clock)
{
    if (clock != NULL) {
        clock->owners++;
    }
    return clock;
}

void race_clock_drop(struct race_clock *clock)
{
    if (clock != NULL && --clock->owners == 0) {
        free(clock);
    }
}

static uint64_t *times(struct race_clock *clock)
{
    return clock->words + clock->capacity;
}

static const uint64_t *known_times(const struct race_clock *clock)
{
    return clock->words + clock->capacity;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct race_clock *new_clock(uint32_t capacity)
{
    struct race_clock *clock = malloc(sizeof *clock + 2 * capacity * sizeof clock->words[0]);
    if (clock != NULL) {
        *clock = (struct race_clock){.owners = 1, .capacity = capacity};
    }
    return clock;
}

/* Makes *clock its owner's alone, with room for one more entry. */
static bool own(struct race_clock **clock)
{
    struct race_clock *old = *clock;
    uint32_t count = old == NULL ? 0 : old->count;
    if (old != NULL && old->owners == 1 && count < old->capacity) {
        return true;
    }
    uint32_t capacity = old == NULL ? CLOCK_START : old->capacity;
    capacity = count < capacity ? capacity : 2 * capacity;
    struct race_clock *copy = new_clock(capacity);
    if (copy == NULL) {
        return false;
    }
    if (old != NULL) {
        memcpy(copy->words, old->words, count * sizeof old->words[0]);
        memcpy(times(copy), times(old), count * sizeof old->words[0]);
        copy->count = count;
        copy->floor = old->floor;
        race_clock_drop(old);
    }
    *clock = copy;
    return true;
}

/* The first entry that is not below `key`. */
static uint32_t find(const struct race_clock *clock, uint64_t key)
{
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->words[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint64_t race_clock_until(const struct race_clock *clock, uint64_t key)
{
    if (clock == NULL) {
        return 0;
    }
    uint32_t i = find(clock, key);
    return i < clock->count && clock->words[i] == key ? known_times(clock)[i] : 0;
}

/* Requests whose channel is not known may share it with any of their kind. */
static bool may_be_same(unsigned a, unsigned b)
{
    bool kind = (a & RACE_CHANNEL_MULTICAST) == (b & RACE_CHANNEL_MULTICAST);
    return kind && (a == b || ((a | b) & RACE_CHANNEL_UNKNOWN) != 0);
}

bool race_clock_arrived(const struct race_clock *clock, uint32_t from, unsigned noc, uint32_t to,
                        unsigned channel, uint64_t index)
{
    if (clock == NULL) {
        return false;
    }
    uint64_t last = race_order_key(from, noc, to, (1 << CHANNEL_BITS) - 1);
    for (uint32_t i = find(clock, race_order_key(from, noc, to, 0));
         i < clock->count && clock->words[i] <= last; i++) {
        unsigned other = (unsigned)(clock->words[i] & ((1 << CHANNEL_BITS) - 1));
        if (known_times(clock)[i] >= index && may_be_same(channel, other)) {
            return true;
        }
    }
    return false;
}

bool race_clock_raise_floor(struct race_clock **clock, uint64_t floor)
{
    if (*clock != NULL && (*clock)->floor >= floor) {
        return true;
    }
    if (!own(clock)) {
        return false;
    }
    (*clock)->floor = floor;
    return true;
}

/* Entries that the floor covers say nothing any more; if that does not help, the floor rises over
 * all of them. */
static void shrink(struct race_clock *clock)
{
    uint64_t *time = times(clock), latest = clock->floor;
    uint32_t n = 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        latest = later(latest, time[i]);
        if (time[i] > clock->floor) {
            clock->words[n] = clock->words[i];
            time[n++] = time[i];
        }
    }
    clock->count = n;
    if (n >= RACE_CLOCK_MAX / 2) {
        clock->floor = latest;
        clock->count = 0;
    }
}

static void insert(uint64_t *words, uint32_t count, uint32_t at, uint64_t v)
{
    memmove(&words[at + 1], &words[at], (count - at) * sizeof words[0]);
    words[at] = v;
}

bool race_clock_raise(struct race_clock **clock, uint64_t key, uint64_t until)
{
    uint32_t i = *clock == NULL ? 0 : find(*clock, key);
    bool present = *clock != NULL && i < (*clock)->count && (*clock)->words[i] == key;
    if (present && times(*clock)[i] >= until) {
        return true;
    }
    if (!own(clock)) {
        return false;
    }
    struct race_clock *c = *clock;
    if (present) {
        times(c)[i] = until;
        return true;
    }
    if (c->count >= RACE_CLOCK_MAX) {
        shrink(c);
        i = find(c, key);
    }
    insert(c->words, c->count, i, key);
    insert(times(c), c->count, i, until);
    c->count++;
    return true;
}

/* Most joins meet two agents that have heard of the same ones. */
static bool same_keys(const struct race_clock *a, const struct race_clock *b)
{
    return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof a->words[0]) == 0;
}

static void join_times(uint64_t *to, const uint64_t *a, const uint64_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = later(a[i], b[i]);
    }
}

static void merge(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    const uint64_t *x = known_times(a), *y = known_times(b);
    uint64_t *time = times(to);
    uint32_t i = 0, j = 0, n = 0;
    while (i < a->count || j < b->count) {
        bool only_a = j == b->count || (i < a->count && a->words[i] < b->words[j]);
        bool only_b = i == a->count || (j < b->count && b->words[j] < a->words[i]);
        to->words[n] = only_b ? b->words[j] : a->words[i];
        time[n++] = only_a ? x[i] : only_b ? y[j] : later(x[i], y[j]);
        i += !only_b;
        j += !only_a;
    }
    to->count = n;
}

bool race_clock_join(struct race_clock **clock, struct race_clock *other)
{
    struct race_clock *old = *clock;
    if (other == NULL || old == other) {
        return true;
    }
    if (old == NULL) {
        *clock = race_clock_share(other);
        return true;
    }
    bool same = same_keys(old, other);
    if (same && old->owners == 1) {
        join_times(times(old), times(old), times(other), old->count);
        old->floor = later(old->floor, other->floor);
        return true;
    }
    struct race_clock *both = new_clock(old->count + (same ? 0 : other->count) + CLOCK_START);
    if (both == NULL) {
        return false;
    }
    both->floor = later(old->floor, other->floor);
    if (same) {
        memcpy(both->words, old->words, old->count * sizeof old->words[0]);
        join_times(times(both), times(old), times(other), old->count);
        both->count = old->count;
    } else {
        merge(both, old, other);
    }
    if (both->count > RACE_CLOCK_MAX) {
        shrink(both);
    }
    race_clock_drop(old);
    *clock = both;
    return true;
}
