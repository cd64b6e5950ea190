/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race/race_private.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK_START = 8 };

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct race_clock *new_clock(struct model *m, uint32_t capacity)
{
    struct race_clock *clock = malloc(sizeof *clock + capacity * sizeof clock->known[0]);
    if (clock == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    *clock = (struct race_clock){.owners = 1, .capacity = capacity};
    return clock;
}

static bool copy(struct model *m, struct race_clock **clock)
{
    struct race_clock *old = *clock;
    uint32_t count = old == NULL ? 0 : old->count;
    struct race_clock *copy = new_clock(m, count + count / 4 + CLOCK_START);
    if (copy == NULL) {
        return false;
    }
    if (old != NULL) {
        memcpy(copy->known, old->known, count * sizeof old->known[0]);
        copy->count = count;
        copy->floor = old->floor;
        race_clock_drop(old);
    }
    *clock = copy;
    return true;
}

/* Makes *clock its owner's alone, with room for one more entry. */
static inline bool own(struct model *m, struct race_clock **clock)
{
    const struct race_clock *c = *clock;
    return (c != NULL && c->owners == 1 && c->count < c->capacity) || copy(m, clock);
}

/* The first entry that is not below `key`. */
static uint32_t find(const struct race_clock *clock, uint64_t key)
{
    uint32_t low = 0, high = clock == NULL ? 0 : clock->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->known[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has(const struct race_clock *clock, uint32_t i, uint64_t key)
{
    return clock != NULL && i < clock->count && clock->known[i].key == key;
}

uint64_t race_clock_until(const struct race_clock *clock, uint64_t key)
{
    uint32_t i = find(clock, key);
    return has(clock, i, key) ? clock->known[i].until : 0;
}

bool race_clock_arrived(const struct race_clock *clock, uint64_t first, unsigned channel,
                        uint64_t index)
{
    for (uint32_t i = find(clock, first);
         clock != NULL && i < clock->count && clock->known[i].key - first < RACE_CHANNELS; i++) {
        unsigned other = (unsigned)(clock->known[i].key - first);
        if (clock->known[i].until >= index && race_same_channel(channel, other)) {
            return true;
        }
    }
    return false;
}

void race_clock_raise_floor(struct model *m, struct race_clock **clock, uint64_t floor)
{
    if ((*clock == NULL || (*clock)->floor < floor) && own(m, clock)) {
        (*clock)->floor = floor;
    }
}

/* Without room the floor rises over all entries. The clock is its owner's alone. */
static void bound(struct race_clock *clock)
{
    if (clock->count < RACE_CLOCK_MAX) {
        return;
    }
    for (uint32_t i = 0; i < clock->count; i++) {
        clock->floor = later(clock->floor, clock->known[i].until);
    }
    clock->count = 0;
}

void race_clock_raise(struct model *m, struct race_clock **clock, uint64_t key, uint64_t until)
{
    uint32_t i = find(*clock, key);
    bool present = has(*clock, i, key);
    if ((present && (*clock)->known[i].until >= until) || !own(m, clock)) {
        return;
    }
    struct race_clock *c = *clock;
    if (!present) {
        memmove(&c->known[i + 1], &c->known[i], (c->count - i) * sizeof c->known[0]);
        c->known[i].key = key;
        c->count++;
    }
    c->known[i].until = until;
    bound(c);
}

/* All that one of the two knows. Most have heard of the same ones. */
static void merge(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    const struct race_known *x = a->known, *x_end = x + a->count;
    const struct race_known *y = b->known, *y_end = y + b->count;
    struct race_known *out = to->known;
    while (x < x_end && y < y_end) {
        if (x->key == y->key) {
            *out++ = (struct race_known){x->key, later(x->until, y->until)};
            x++;
            y++;
        } else {
            *out++ = x->key < y->key ? *x++ : *y++;
        }
    }
    memcpy(out, x, (size_t)(x_end - x) * sizeof *x);
    out += x_end - x;
    memcpy(out, y, (size_t)(y_end - y) * sizeof *y);
    out += y_end - y;
    to->count = (uint32_t)(out - to->known);
    to->floor = later(a->floor, b->floor);
}

void race_clock_join(struct model *m, struct race_clock **clock, struct race_clock *other)
{
    struct race_clock *old = *clock;
    if (other == NULL || old == other) {
        return;
    }
    struct race_clock *both =
        old == NULL ? race_clock_share(other) : new_clock(m, old->count + other->count);
    if (both == NULL) {
        return;
    }
    if (old != NULL) {
        merge(both, old, other);
        bound(both);
        race_clock_drop(old);
    }
    *clock = both;
}
