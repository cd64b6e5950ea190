/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to be over, and what agents know from what they see. */
#include "replay/race/race_private.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK_START = 8 };

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- memory ---- */

static struct race_keys *new_keys(struct model *m, uint32_t capacity)
{
    struct race_keys *keys = malloc(sizeof *keys + capacity * sizeof keys->key[0]);
    m->out_of_memory |= keys == NULL;
    if (keys != NULL) {
        *keys = (struct race_keys){.owners = 1, .capacity = capacity};
    }
    return keys;
}

static struct race_keys *share_keys(struct race_keys *keys)
{
    keys->owners++;
    return keys;
}

static void drop_keys(struct race_keys *keys)
{
    if (keys != NULL && --keys->owners == 0) {
        free(keys->spare);
        free(keys);
    }
}

/* Takes the reference to the keys, also where there is no memory, for them or for the clock. */
static struct race_clock *new_clock(struct model *m, struct race_keys *keys, uint32_t capacity)
{
    struct race_clock *clock = keys == NULL ? NULL : keys->spare;
    if (clock != NULL && clock->capacity >= capacity) {
        capacity = clock->capacity;
        keys->spare = NULL;
    } else {
        clock = keys == NULL ? NULL : malloc(sizeof *clock + capacity * sizeof clock->until[0]);
    }
    m->out_of_memory |= clock == NULL;
    if (clock == NULL) {
        drop_keys(keys);
        return NULL;
    }
    *clock = (struct race_clock){.owners = 1, .capacity = capacity, .keys = keys};
    return clock;
}

/* Of a large one, which malloc has to look for, the next one is made: it is in the cache. */
void race_clock_free(struct race_clock *clock)
{
    enum { LARGE = 128 };
    struct race_keys *keys = clock->keys;
    if (clock->capacity >= LARGE && keys->owners > 1) {
        free(keys->spare);
        keys->spare = clock;
    } else {
        free(clock);
    }
    drop_keys(keys);
}

static uint32_t with_room(uint32_t count)
{
    return count + count / 4 + CLOCK_START;
}

/* Makes *clock its owner's alone, with room for one more entry. */
static bool own(struct model *m, struct race_clock **clock)
{
    struct race_clock *old = *clock;
    uint32_t count = old == NULL ? 0 : old->keys->count;
    if (old != NULL && old->owners == 1 && count < old->capacity) {
        return true;
    }
    struct race_keys *keys = old == NULL ? new_keys(m, CLOCK_START) : share_keys(old->keys);
    struct race_clock *copy = new_clock(m, keys, with_room(count));
    if (copy == NULL) {
        return false;
    }
    if (old != NULL) {
        memcpy(copy->until, old->until, count * sizeof old->until[0]);
        copy->base_epoch = old->base_epoch;
        race_clock_drop(old);
    }
    *clock = copy;
    return true;
}

/* The same for the keys of such a clock. */
static bool own_keys(struct model *m, struct race_clock *clock)
{
    struct race_keys *old = clock->keys;
    if (old->owners == 1 && old->count < old->capacity) {
        return true;
    }
    struct race_keys *copy = new_keys(m, with_room(old->count));
    if (copy == NULL) {
        return false;
    }
    memcpy(copy->key, old->key, old->count * sizeof old->key[0]);
    copy->count = old->count;
    drop_keys(old);
    clock->keys = copy;
    return true;
}

/* ---- one entry ---- */

/* The first entry that is not below `key`. */
static uint32_t find(const struct race_clock *clock, uint64_t key)
{
    uint32_t low = 0, high = clock == NULL ? 0 : clock->keys->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->keys->key[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has(const struct race_clock *clock, uint32_t i, uint64_t key)
{
    return clock != NULL && i < clock->keys->count && clock->keys->key[i] == key;
}

uint64_t race_clock_until(const struct race_clock *clock, uint64_t key)
{
    uint32_t i = find(clock, key);
    return has(clock, i, key) ? clock->until[i] : 0;
}

bool race_clock_arrived(const struct race_clock *clock, uint64_t first, unsigned channel,
                        uint64_t turn)
{
    for (uint32_t i = find(clock, first); clock != NULL && i < clock->keys->count; i++) {
        const uint64_t other = clock->keys->key[i] - first;
        if (other >= RACE_CHANNELS) {
            break;
        }
        if (clock->until[i] >= turn && race_same_channel(channel, (unsigned)other)) {
            return true;
        }
    }
    return false;
}

void race_clock_raise_base(struct model *m, struct race_clock **clock, uint64_t epoch)
{
    if ((*clock == NULL || (*clock)->base_epoch < epoch) && own(m, clock)) {
        (*clock)->base_epoch = epoch;
    }
}

/* Without room the base epoch rises over all entries. The clock and its keys are their owner's
 * alone. */
static void bound(struct race_clock *clock)
{
    struct race_keys *keys = clock->keys;
    if (keys->count < RACE_CLOCK_MAX) {
        return;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        clock->base_epoch = later(clock->base_epoch, clock->until[i]);
    }
    keys->count = 0;
}

static void insert(struct race_clock *clock, uint32_t i, uint64_t key, uint64_t until)
{
    struct race_keys *keys = clock->keys;
    uint64_t *key_at = &keys->key[i], *until_at = &clock->until[i];
    memmove(key_at + 1, key_at, (keys->count - i) * sizeof *key_at);
    memmove(until_at + 1, until_at, (keys->count - i) * sizeof *until_at);
    *key_at = key;
    *until_at = until;
    keys->count++;
    bound(clock);
}

void race_clock_raise(struct model *m, struct race_clock **clock, uint64_t key, uint64_t until)
{
    uint32_t i = find(*clock, key);
    bool present = has(*clock, i, key);
    if ((present && (*clock)->until[i] >= until) || !own(m, clock)) {
        return;
    }
    if (present) {
        (*clock)->until[i] = until;
    } else if (own_keys(m, *clock)) {
        insert(*clock, i, key, until);
    }
}

/* ---- all that two know ---- */

static bool same_keys(const struct race_keys *a, const struct race_keys *b)
{
    return a == b ||
           (a->count == b->count && memcmp(a->key, b->key, a->count * sizeof a->key[0]) == 0);
}

static inline void join_from(struct race_clock *to, const struct race_clock *a,
                             const struct race_clock *b, uint32_t i)
{
    for (const uint32_t count = a->keys->count; i < count; i++) {
        to->until[i] = later(a->until[i], b->until[i]);
    }
}

/* Clocks of a chip have hundreds of times, and are joined at each word that is seen. */
#if defined(__x86_64__)
__extension__ typedef uint64_t four __attribute__((vector_size(32), aligned(8)));

__attribute__((target("avx2"))) static void
join_wide(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    enum { FOUR = sizeof(four) / sizeof(uint64_t) };
    const size_t whole = a->keys->count / FOUR;
    const four *x = (const four *)a->until, *y = (const four *)b->until;
    four *z = (four *)to->until;
    for (size_t i = 0; i < whole; i++) {
        const four first = (four)(x[i] > y[i]);
        z[i] = (x[i] & first) | (y[i] & ~first);
    }
    join_from(to, a, b, (uint32_t)whole * FOUR);
}
#endif

static void join_times(struct race_clock *to, const struct race_clock *a,
                       const struct race_clock *b)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        join_wide(to, a, b);
        return;
    }
#endif
    join_from(to, a, b, 0);
}

/* The clock and its keys are their owner's alone, and have room. */
static void merge(struct race_clock *to, const struct race_clock *a, const struct race_clock *b)
{
    const struct race_keys *x = a->keys, *y = b->keys;
    uint32_t i = 0, j = 0, n = 0;
    for (; i < x->count && j < y->count; n++) {
        const uint64_t k = x->key[i], l = y->key[j];
        to->keys->key[n] = k < l ? k : l;
        to->until[n] = later(k <= l ? a->until[i] : 0, l <= k ? b->until[j] : 0);
        i += k <= l;
        j += l <= k;
    }
    for (; i < x->count; i++, n++) {
        to->keys->key[n] = x->key[i];
        to->until[n] = a->until[i];
    }
    for (; j < y->count; j++, n++) {
        to->keys->key[n] = y->key[j];
        to->until[n] = b->until[j];
    }
    to->keys->count = n;
    bound(to);
}

void race_clock_join(struct model *m, struct race_clock **clock, struct race_clock *other)
{
    struct race_clock *old = *clock;
    if (other == NULL || old == other) {
        return;
    }
    if (old == NULL) {
        *clock = race_clock_share(other);
        return;
    }
    const bool same = same_keys(old->keys, other->keys);
    const uint32_t count = old->keys->count + (same ? CLOCK_START : other->keys->count);
    /* of two lists of the same keys the one that all clocks shall have in the end */
    bool first = (uintptr_t)old->keys < (uintptr_t)other->keys;
    struct race_keys *keys =
        same ? share_keys(first ? old->keys : other->keys) : new_keys(m, count);
    struct race_clock *both = new_clock(m, keys, count);
    if (both == NULL) {
        return;
    }
    both->base_epoch = later(old->base_epoch, other->base_epoch);
    if (same) {
        join_times(both, old, other);
    } else {
        merge(both, old, other);
    }
    race_clock_drop(old);
    *clock = both;
}

/* ---- what is seen ---- */

/* What `clock` gets to know by the notification: that the writer came so far, what the writer
 * knew, and what of its interface's requests was over. */
static void learn_writer(struct model *m, struct race_clock **clock, const struct race_news *news)
{
    const struct race_access *w = &news->write;
    race_clock_join(m, clock, news->release);
    race_clock_raise(m, clock, race_core_key(w->agent), w->turn);
    for (unsigned i = 0; i < RACE_ENDS * NOCS; i++) {
        unsigned way = i / NOCS, noc = i % NOCS;
        uint64_t until = news->over[way][noc];
        bool said = way == RACE_LEAVE && until <= news->over[RACE_ACK][noc];
        if (until != 0 && !said) { /* what was acknowledged has left */
            race_clock_raise(m, clock, race_completion_key(way, w->agent->place, noc), until);
        }
    }
}

void race_join(struct model *m, struct race_clock **clock, const struct race_agent *self,
               const struct race_mem_ctx *where, const struct race_news *news)
{
    const struct race_access *w = &news->write;
    if (w->turn == 0) {
        return;
    }
    if (w->agent == NULL) {
        race_clock_raise_base(m, clock, w->turn);
        return;
    }
    bool travels = w->way == RACE_ACK || w->way == RACE_ORDER;
    uint64_t order = travels ? race_order_key(w->agent->place, w->noc, where, w->channel) : 0;
    /* an agent knows what it knew; what several knew is in the clock of none of them */
    bool known =
        w->agent == self || (race_clock_until(*clock, race_core_key(w->agent)) >= w->turn &&
                             (!travels || race_clock_until(*clock, order) >= w->turn));
    if (!known || news->summed) {
        learn_writer(m, clock, news);
    }
    if (travels) {
        race_clock_raise(m, clock, order, w->turn);
    }
}

void race_reported(struct model *m, struct race_agent *self, const struct race_mem_ctx *where,
                   struct race_news *news)
{
    if (news->joined != self) {
        race_join(m, &self->clock, self, where, news);
        news->joined = self;
    }
}

void race_report(struct race_news *news, const struct race_access *a, struct race_clock *release)
{
    race_clock_drop(news->release);
    news->write = *a;
    news->release = release;
    news->joined = NULL;
    news->summed = false;
    if (a->agent != NULL) {
        memcpy(news->over, a->agent->place->over, sizeof news->over);
    }
}

/* What is known of a counter after this access; `summed`: several added to it. */
static struct race_clock *sum_of(struct model *m, const struct race_mem_ctx *where,
                                 const struct race_news *news, const struct race_access *a,
                                 bool *summed)
{
    const struct race_access *w = &news->write;
    struct race_clock *sum = race_clock_share(a->agent->clock);
    bool other = w->agent != a->agent;
    *summed = news->summed || (other && w->atomic && w->agent != NULL);
    if (*summed || other || w->noc != a->noc || w->channel != a->channel) {
        race_join(m, &sum, a->agent, where, news);
    }
    return sum;
}

void race_count(struct model *m, const struct race_mem_ctx *where, struct race_news *news,
                const struct race_access *a)
{
    bool summed;
    race_report(news, a, sum_of(m, where, news, a, &summed));
    news->summed = summed;
}

void race_add(struct model *m, struct race_mem_ctx *where, const struct race_access *a)
{
    const struct race_news none = {0}, *news = &none;
    uint32_t i = race_memory_find(&where->memory, a->first);
    if (i < where->memory.count && where->memory.rows[i].first < a->end) {
        news = &race_memory_at(&where->memory, i)->news;
    }
    bool summed;
    struct race_clock *sum = sum_of(m, where, news, a, &summed);
    struct race_span *counter = race_write(m, where, a, sum, NULL);
    if (counter != NULL) {
        counter->news.summed = summed;
    }
}
