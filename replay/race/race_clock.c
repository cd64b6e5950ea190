/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race/race_private.h"

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

static void drop_keys(struct race_keys *kinds)
{
    if (--kinds->owners == 0) {
        free(kinds);
    }
}

void race_clock_drop(struct race_clock *clock)
{
    if (clock != NULL && --clock->owners == 0) {
        drop_keys(clock->kinds);
        free(clock);
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct race_keys *new_keys(uint32_t capacity)
{
    struct race_keys *kinds = malloc(sizeof *kinds + capacity * sizeof kinds->keys[0]);
    if (kinds != NULL) {
        *kinds = (struct race_keys){.owners = 1, .capacity = capacity};
    }
    return kinds;
}

/* Takes over the caller's share of `kinds`, also on failure; NULL: without memory. */
static struct race_clock *new_clock(uint32_t capacity, struct race_keys *kinds)
{
    struct race_clock *clock = malloc(sizeof *clock + capacity * sizeof clock->until[0]);
    if (clock == NULL || kinds == NULL) {
        if (kinds != NULL) {
            drop_keys(kinds);
        }
        free(clock);
        return NULL;
    }
    *clock = (struct race_clock){.owners = 1, .capacity = capacity, .kinds = kinds};
    return clock;
}

static struct race_keys *share_keys(struct race_keys *kinds)
{
    kinds->owners++;
    return kinds;
}

/* Makes *clock its owner's alone, with room for one more entry; its keys may stay shared. */
static bool own(struct race_clock **clock)
{
    struct race_clock *old = *clock;
    uint32_t count = old == NULL ? 0 : old->count;
    if (old != NULL && old->owners == 1 && count < old->capacity) {
        return true;
    }
    uint32_t capacity = old == NULL ? CLOCK_START : old->capacity;
    capacity = count < capacity ? capacity : 2 * capacity;
    struct race_clock *copy =
        new_clock(capacity, old == NULL ? new_keys(CLOCK_START) : share_keys(old->kinds));
    if (copy == NULL) {
        return false;
    }
    if (old != NULL) {
        memcpy(copy->until, old->until, count * sizeof old->until[0]);
        copy->count = count;
        copy->floor = old->floor;
        race_clock_drop(old);
    }
    *clock = copy;
    return true;
}

/* The same for its keys. */
static bool own_keys(struct race_clock *clock)
{
    struct race_keys *old = clock->kinds;
    if (old->owners == 1 && clock->count < old->capacity) {
        return true;
    }
    uint32_t capacity = clock->count < old->capacity ? old->capacity : 2 * old->capacity;
    struct race_keys *copy = new_keys(capacity);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy->keys, old->keys, clock->count * sizeof old->keys[0]);
    drop_keys(old);
    clock->kinds = copy;
    return true;
}

/* The first entry that is not below `key`. */
static uint32_t find(const struct race_clock *clock, uint64_t key)
{
    const uint64_t *keys = clock->kinds->keys;
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (keys[middle] < key) {
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
    return i < clock->count && clock->kinds->keys[i] == key ? clock->until[i] : 0;
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
         i < clock->count && clock->kinds->keys[i] <= last; i++) {
        unsigned other = (unsigned)(clock->kinds->keys[i] & ((1 << CHANNEL_BITS) - 1));
        if (clock->until[i] >= index && may_be_same(channel, other)) {
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
 * all of them. The clock and its keys are their owner's alone. */
static void shrink(struct race_clock *clock)
{
    uint64_t *keys = clock->kinds->keys, latest = clock->floor;
    uint32_t n = 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        latest = later(latest, clock->until[i]);
        if (clock->until[i] > clock->floor) {
            keys[n] = keys[i];
            clock->until[n++] = clock->until[i];
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
    bool present = *clock != NULL && i < (*clock)->count && (*clock)->kinds->keys[i] == key;
    if (present && (*clock)->until[i] >= until) {
        return true;
    }
    if (!own(clock)) {
        return false;
    }
    struct race_clock *c = *clock;
    if (present) {
        c->until[i] = until;
        return true;
    }
    if (!own_keys(c)) {
        return false;
    }
    if (c->count >= RACE_CLOCK_MAX) {
        shrink(c);
        i = find(c, key);
    }
    insert(c->kinds->keys, c->count, i, key);
    insert(c->until, c->count, i, until);
    c->count++;
    return true;
}

/* Most joins meet two agents that have heard of the same ones; then they share the keys from there
 * on. */
static bool same_keys(struct race_clock *a, struct race_clock *b)
{
    if (a->count != b->count) {
        return false;
    }
    if (a->kinds != b->kinds) {
        if (memcmp(a->kinds->keys, b->kinds->keys, a->count * sizeof a->kinds->keys[0]) != 0) {
            return false;
        }
        drop_keys(a->kinds);
        a->kinds = share_keys(b->kinds);
    }
    return true;
}

static void join_times(uint64_t *to, const uint64_t *a, const uint64_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = later(a[i], b[i]);
    }
}

static void merge(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    const uint64_t *x = a->kinds->keys, *y = b->kinds->keys;
    uint32_t i = 0, j = 0, n = 0;
    while (i < a->count || j < b->count) {
        bool only_a = j == b->count || (i < a->count && x[i] < y[j]);
        bool only_b = i == a->count || (j < b->count && y[j] < x[i]);
        to->kinds->keys[n] = only_b ? y[j] : x[i];
        to->until[n++] = only_a   ? a->until[i]
                         : only_b ? b->until[j]
                                  : later(a->until[i], b->until[j]);
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
        join_times(old->until, old->until, other->until, old->count);
        old->floor = later(old->floor, other->floor);
        return true;
    }
    uint32_t capacity = old->count + (same ? 0 : other->count) + CLOCK_START;
    struct race_clock *both =
        new_clock(capacity, same ? share_keys(old->kinds) : new_keys(capacity));
    if (both == NULL) {
        return false;
    }
    both->floor = later(old->floor, other->floor);
    if (same) {
        join_times(both->until, old->until, other->until, old->count);
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
