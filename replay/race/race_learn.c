/* SPDX-License-Identifier: Apache-2.0 */
/* What agents learn from what they see, and what memory remembers of an access. */
#include <string.h>

#include "replay/race/race_private.h"

/* A word that a core loads: its value is compared with what was written. */
enum { WORD_MAX = 8 };

/* ---- what agents learn ---- */

void race_learn_span(struct model *m, struct race_clock **clock, struct race_place *where,
                     const struct race_span *span)
{
    const struct race_access *w = &span->write;
    if (!span->written) {
        return;
    }
    if (w->agent == RACE_NOBODY) {
        race_keep(m, race_clock_raise_floor(clock, w->index));
        return;
    }
    bool travels = w->way == RACE_ACK || w->way == RACE_ORDER;
    uint64_t order = travels ? race_order_key(w->place, w->noc, where->number, w->channel) : 0;
    if (race_clock_until(*clock, race_core_key(w->agent)) >= w->index &&
        (!travels || race_clock_until(*clock, order) >= w->index)) {
        return;
    }
    race_keep(m, race_clock_join(clock, span->release));
    race_keep(m, race_clock_raise(clock, race_core_key(w->agent), w->index));
    for (unsigned i = RACE_ARRIVE * RACE_NOCS; i < RACE_ENDS * RACE_NOCS; i++) {
        uint64_t until = span->over[i / RACE_NOCS][i % RACE_NOCS];
        bool said = i / RACE_NOCS == RACE_LEAVE && until <= span->over[RACE_ACK][i % RACE_NOCS];
        if (until != 0 && !said) { /* what was acknowledged has left */
            uint64_t key = race_way_key((enum race_way)(i / RACE_NOCS), w->place, i % RACE_NOCS);
            race_keep(m, race_clock_raise(clock, key, until));
        }
    }
    if (travels) {
        race_keep(m, race_clock_raise(clock, order, w->index));
    }
}

void race_learn_load(struct model *m, struct race_clock **clock, struct race_place *where,
                     struct race_span *span, const struct access *a)
{
    bool whole = span->first == a->addr && span->end == a->addr + a->size && a->size <= WORD_MAX &&
                 a->known == a->size;
    uint64_t v = 0, now_stamp = race_stamp(m->event->index);
    if (whole) {
        memcpy(&v, a->bytes, a->size);
    }
    bool compared = whole && span->written && span->value_known;
    bool changed = whole && span->seen_known && span->seen != v;
    if (compared ? span->value == v : span->written) {
        race_learn_span(m, clock, where, span);
    } else if (changed || !race_of(m)->all_seen) {
        race_keep(m, race_clock_raise_floor(clock, now_stamp)); /* somebody else wrote it */
    } else if (!span->written) {
        race_keep(m, race_clock_raise_floor(clock, where->memory.lost));
    }
    if (whole) {
        span->seen = v;
        span->seen_known = true;
    }
}

void race_over(struct model *m, const struct ended *e)
{
    struct race_place *p = race_place_find(race_of(m), e->tile->chip, e->tile->at);
    if (p == NULL || e->kind == NOCAP_ATOMICS || (e->kind == NOCAP_READS && !e->done)) {
        return;
    }
    uint64_t until =
        race_stamp(e->index) < p->sent[e->noc] ? race_stamp(e->index) : p->sent[e->noc];
    unsigned first = e->kind == NOCAP_WRITES ? RACE_LEAVE : RACE_ARRIVE;
    unsigned last = e->kind == NOCAP_WRITES && e->done ? RACE_ACK : first;
    for (unsigned way = first; way <= last; way++) {
        p->over[way][e->noc] = until > p->over[way][e->noc] ? until : p->over[way][e->noc];
    }
}

/* ---- what memory remembers ---- */

static void take_value(struct race_span *span, const struct access *a)
{
    span->value = 0;
    span->value_known = a != NULL && a->size <= WORD_MAX && a->known == a->size;
    if (span->value_known) {
        memcpy(&span->value, a->bytes, a->size);
    }
}

/* Some core looked at these bytes before: it may be waiting for them to change. */
static bool is_polled(struct race_memory *memory, const struct race_access *a)
{
    for (uint32_t i = race_memory_find(memory, a->first);
         i < memory->count && memory->rows[i].first < a->end; i++) {
        const struct race_span *span = race_memory_at(memory, i);
        for (uint8_t r = 0; r < span->reader_count; r++) {
            if (span->readers[r].way == RACE_CORE) {
                return true;
            }
        }
    }
    return false;
}

void race_put_write(struct model *m, struct race_place *where, const struct race_access *a,
                    struct race_clock *release, const struct access *bytes)
{
    bool polled = a->way != RACE_CORE && is_polled(&where->memory, a);
    struct race_span *span = race_memory_write(&where->memory, a);
    if (span == NULL) {
        race_clock_drop(release);
        m->out_of_memory = true;
        return;
    }
    span->release = release;
    if (a->agent != RACE_NOBODY) {
        memcpy(span->over, race_of(m)->places[a->agent / RACE_CORES]->over, sizeof span->over);
    }
    span->polled = polled;
    take_value(span, bytes);
}

void race_put_add(struct model *m, struct race_place *where, const struct race_access *a,
                  struct race_clock *knows)
{
    uint32_t i = race_memory_find(&where->memory, a->first);
    const struct race_span *span =
        i < where->memory.count ? race_memory_at(&where->memory, i) : NULL;
    struct race_clock *sum = race_clock_share(knows);
    if (span != NULL && span->written && span->first < a->end) {
        const struct race_access *w = &span->write;
        bool again = w->agent == a->agent && w->noc == a->noc && w->channel == a->channel;
        if (!again) {
            race_learn_span(m, &sum, where, span);
        }
    }
    race_put_write(m, where, a, sum, NULL);
}

void race_put_read(struct model *m, struct race_place *where, const struct race_access *a)
{
    race_keep(m, race_memory_read(&where->memory, a));
}
