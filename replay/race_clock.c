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

static struct race_clock *new_clock(uint32_t capacity)
{
    struct race_clock *clock = malloc(sizeof *clock + capacity * sizeof clock->entries[0]);
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
        memcpy(copy->entries, old->entries, count * sizeof old->entries[0]);
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
        if (clock->entries[middle].key < key) {
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
    return i < clock->count && clock->entries[i].key == key ? clock->entries[i].until : 0;
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
         i < clock->count && clock->entries[i].key <= last; i++) {
        unsigned other = (unsigned)(clock->entries[i].key & ((1 << CHANNEL_BITS) - 1));
        if (clock->entries[i].until >= index && may_be_same(channel, other)) {
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

static uint64_t latest(const struct race_clock *clock)
{
    uint64_t until = clock->floor;
    for (uint32_t i = 0; i < clock->count; i++) {
        until = clock->entries[i].until > until ? clock->entries[i].until : until;
    }
    return until;
}

/* Entries that the floor covers say nothing any more; if that does not help, the floor rises over
 * all of them. */
static void shrink(struct race_clock *clock)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        if (clock->entries[i].until > clock->floor) {
            clock->entries[n++] = clock->entries[i];
        }
    }
    clock->count = n;
    if (n >= RACE_CLOCK_MAX / 2) {
        clock->floor = latest(clock);
        clock->count = 0;
    }
}

bool race_clock_raise(struct race_clock **clock, uint64_t key, uint64_t until)
{
    uint32_t i = *clock == NULL ? 0 : find(*clock, key);
    bool present = *clock != NULL && i < (*clock)->count && (*clock)->entries[i].key == key;
    if (present && (*clock)->entries[i].until >= until) {
        return true;
    }
    if (!own(clock)) {
        return false;
    }
    struct race_clock *c = *clock;
    if (present) {
        c->entries[i].until = until;
        return true;
    }
    if (c->count >= RACE_CLOCK_MAX) {
        shrink(c);
        i = find(c, key);
    }
    memmove(&c->entries[i + 1], &c->entries[i], (c->count - i) * sizeof c->entries[0]);
    c->entries[i] = (struct race_entry){key, until};
    c->count++;
    return true;
}

/* Takes over what `other` knows as far as its keys stand in `to` too; the first of its entries
 * whose key does not, or how many there are. */
static uint32_t take_over(struct race_clock *to, const struct race_clock *other)
{
    const struct race_entry *theirs = other->entries;
    struct race_entry *mine = to->entries, *end = to->entries + to->count;
    for (uint32_t i = 0; i < other->count; i++, mine++) {
        while (mine < end && mine->key < theirs[i].key) {
            mine++;
        }
        if (mine == end || mine->key != theirs[i].key) {
            return i;
        }
        mine->until = theirs[i].until > mine->until ? theirs[i].until : mine->until;
    }
    return other->count;
}

/* Nothing in `other` that `clock` does not know. */
static bool knows(const struct race_clock *clock, const struct race_clock *other)
{
    if (other->floor > clock->floor || other->count > clock->count) {
        return false;
    }
    const struct race_entry *theirs = other->entries;
    const struct race_entry *mine = clock->entries, *end = clock->entries + clock->count;
    for (uint32_t i = 0; i < other->count; i++, mine++) {
        while (mine < end && mine->key < theirs[i].key) {
            mine++;
        }
        if (mine == end || mine->key != theirs[i].key || mine->until < theirs[i].until) {
            return false;
        }
    }
    return true;
}

static void merge(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    const struct race_entry *x = a->entries, *x_end = x + a->count;
    const struct race_entry *y = b->entries, *y_end = y + b->count;
    struct race_entry *out = to->entries;
    while (x < x_end && y < y_end) {
        uint64_t kx = x->key, ky = y->key;
        if (kx == ky) {
            *out++ = x->until > y->until ? *x : *y;
            x++;
            y++;
        } else {
            *out++ = kx < ky ? *x++ : *y++;
        }
    }
    while (x < x_end) {
        *out++ = *x++;
    }
    while (y < y_end) {
        *out++ = *y++;
    }
    to->count = (uint32_t)(out - to->entries);
}

bool race_clock_join(struct race_clock **clock, struct race_clock *other)
{
    const struct race_clock *old = *clock;
    if (other == NULL || old == other) {
        return true;
    }
    if (old == NULL) {
        *clock = race_clock_share(other);
        return true;
    }
    if (old->owners > 1 ? knows(old, other) : take_over(*clock, other) == other->count) {
        (*clock)->floor = other->floor > old->floor ? other->floor : old->floor;
        return true;
    }
    struct race_clock *both = new_clock(old->count + other->count + CLOCK_START);
    if (both == NULL) {
        return false;
    }
    both->floor = old->floor > other->floor ? old->floor : other->floor;
    merge(both, old, other);
    if (both->count > RACE_CLOCK_MAX) {
        shrink(both);
    }
    race_clock_drop(*clock);
    *clock = both;
    return true;
}
