/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/rings/ring_merge.h"

#include <string.h>

void ring_drop_event(struct nocap_event *event, uint64_t t, uint32_t src, uint64_t count)
{
    *event = (struct nocap_event){
        .kind = NOCAP_EV_DROP, .t = t, .src = src, .has = NOCAP_F_DROPPED, .value = count};
}

void ring_merge_break(struct ring_merge *m, struct ring_cursor *c)
{
    m->broken += !c->broken;
    c->broken = true;
    c->access = false;
}

uint64_t ring_merge_left(const struct ring_merge *m, const struct ring_cursor *c)
{
    uint64_t records = 0, at = c->at.tail;
    if (c->end - at > m->ring_bytes || at % sizeof(uint64_t) != 0) {
        return 1;
    }
    while (c->end - at >= sizeof(struct ring_word)) {
        const struct ring_word *w = (const void *)(c->base + (at & (m->ring_bytes - 1)));
        uint64_t bytes = (uint64_t)w->words * sizeof(uint64_t);
        if (w->format < RING_ACCESS || w->format > RING_DROPPED || bytes == 0 ||
            bytes > c->end - at) {
            break;
        }
        records++;
        at += bytes;
    }
    return records + (records == 0 || at != c->end);
}

/* The record at the cursor's position, NULL if there is none or it makes no sense. */
static const struct ring_word *record(struct ring_merge *m, struct ring_cursor *c)
{
    uint64_t left = c->end - c->at.tail;
    if (left == 0 || c->broken) {
        return NULL;
    }
    if (left < sizeof(struct ring_word)) {
        ring_merge_break(m, c);
        return NULL;
    }
    const struct ring_word *w = (const void *)(c->base + (c->at.tail & (m->ring_bytes - 1)));
    size_t least = w->format == RING_ACCESS    ? sizeof(struct ring_access)
                   : w->format == RING_EVENT   ? sizeof(struct ring_event)
                   : w->format == RING_DROPPED ? sizeof(struct ring_dropped)
                                               : SIZE_MAX;
    uint64_t bytes = (uint64_t)w->words * sizeof(uint64_t);
    if (least > left || bytes > left || bytes < least || bytes > m->ring_bytes) {
        ring_merge_break(m, c);
        return NULL;
    }
    return w;
}

/* What differs between accesses of one kind. */
static inline void put_row(struct access_row *row, const struct ring_access *a, uint64_t t)
{
    uint16_t at;
    memcpy(&at, &a->at, sizeof at);
    memcpy(&row->to, &a->to, sizeof row->to);
    row->source = a->src | (uint64_t)a->word.chip << 32 | (uint64_t)at << 48;
    row->t = t;
    row->addr = a->addr;
    row->value = a->value;
}

static inline uint64_t what_of(const struct ring_access *a)
{
    uint64_t what;
    memcpy(&what, &a->kind, sizeof what);
    return what;
}

/* What most accesses have in common with the one before is there already. */
static void decode_access(const struct ring_access *a, struct ring_cursor *c)
{
    struct nocap_event *e = &c->event;
    const uint64_t what = what_of(a);
    if (!c->access || c->what != what) {
        c->access = true;
        c->what = what;
        c->reported_before = c->at.reported;
        *e = (struct nocap_event){.kind = a->kind == NOCAP_EV_READ ? NOCAP_EV_READ : NOCAP_EV_WRITE,
                                  .by = a->by,
                                  .space = a->space,
                                  .noc = a->noc,
                                  .order = a->order,
                                  .map = a->map,
                                  .size = a->size};
        e->has = NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
        e->has |= (a->has & RING_HAS_AT) != 0 ? NOCAP_F_AT : 0;
        e->has |= (a->has & RING_HAS_TO) != 0 ? NOCAP_F_TO : 0;
        e->has |= (a->has & RING_HAS_NOC) != 0 ? NOCAP_F_NOC : 0;
        e->has |= (a->has & RING_HAS_ORDER) != 0 ? NOCAP_F_ORDER : 0;
        e->has |= (a->has & RING_HAS_MAP) != 0 ? NOCAP_F_MAP : 0;
        e->has |= (a->has & RING_HAS_SPACE) != 0 ? NOCAP_F_SPACE : 0;
    }
    struct access_row row;
    put_row(&row, a, 0);
    access_row_put(&row, e);
}

static bool decode_event(const struct ring_event *r, struct nocap_event *e)
{
    *e = (struct nocap_event){.src = r->src, .chip = r->word.chip, .at = r->at, .to = r->to};
    memcpy(&e->kind, r->what, sizeof r->what);
    const uint64_t *word = (const uint64_t *)(r + 1);
    size_t left = r->word.words - sizeof *r / sizeof(uint64_t);
    size_t slots = (size_t)__builtin_popcount(r->slots);
    if (e->kind >= NOCAP_EV_COUNT || r->slots >> NOCAP_SLOTS != 0 ||
        r->has >> NOCAP_FIELD_COUNT != 0 || slots > left ||
        r->data_size > (left - slots) * sizeof(uint64_t)) {
        return false;
    }
    e->has = r->has;
    for (uint32_t rest = r->slots; rest != 0; rest &= rest - 1) {
        e->slot[__builtin_ctz(rest)] = *word++;
    }
    e->data_size = r->data_size;
    e->data = r->data_size != 0 ? (const uint8_t *)word : NULL;
    return true;
}

/* Finds the ring's next record and its time. */
static void look(struct ring_merge *m, struct ring_cursor *c)
{
    c->record = record(m, c);
    if (c->record != NULL) {
        uint64_t t = ((const struct ring_dropped *)c->record)->t;
        c->next = t > c->last ? t : c->last;
    }
}

/* The ring whose record comes first; `until`: the time of what comes first in the others, of equal
 * times that of the ring with the lower number. */
static struct ring_cursor *earliest(struct ring_merge *m)
{
    struct ring_cursor *first = NULL;
    m->until = UINT64_MAX;
    for (unsigned i = 0; i < m->count; i++) {
        struct ring_cursor *c = &m->cursor[i];
        if (c->record == NULL) {
            look(m, c);
        }
        if (c->record == NULL) {
            continue;
        }
        if (first == NULL || c->next < first->next) {
            m->until = first != NULL ? first->next : m->until;
            first = c;
        } else if (c->next < m->until) {
            m->until = c->next;
        }
    }
    return first;
}

/* Decodes the record and steps over it; false: it stands for no event. */
static bool take(struct ring_merge *m, struct ring_cursor *c)
{
    const struct ring_word *w = c->record;
    bool any = true;
    c->tail_before = c->at.tail;
    if (w->format == RING_ACCESS) {
        decode_access((const void *)w, c);
    } else if (w->format == RING_EVENT) {
        c->access = false;
        c->reported_before = c->at.reported;
        any = decode_event((const void *)w, &c->event);
        if (!any) {
            ring_merge_break(m, c);
        }
    } else {
        const struct ring_dropped *d = (const void *)w;
        c->access = false;
        c->reported_before = c->at.reported;
        any = d->total > c->at.reported;
        ring_drop_event(&c->event, 0, (uint32_t)d->src, d->total - c->at.reported);
        c->at.reported = d->total;
    }
    if (!c->broken) {
        c->at.tail += (uint64_t)w->words * sizeof(uint64_t);
    }
    c->record = NULL;
    c->last = c->next;
    c->event.t = ring_time(&m->clock, c->next);
    return any;
}

void ring_merge_give_back(struct ring_merge *m)
{
    struct ring_cursor *c = m->taken;
    c->at = (struct ring_position){c->tail_before, c->reported_before};
}

const struct nocap_event *ring_merge_next(struct ring_merge *m, uint64_t limit)
{
    for (;;) {
        struct ring_cursor *c = earliest(m);
        if (c == NULL || c->next >= limit) {
            m->taken = NULL;
            return NULL;
        }
        m->taken = c;
        if (take(m, c)) {
            return &c->event;
        }
    }
}

size_t ring_merge_peek(const struct ring_merge *m, uint64_t limit, struct access_row *rows,
                       size_t max)
{
    const struct ring_cursor *c = m->taken;
    if (c == NULL || !c->access) {
        return 0;
    }
    const struct ring_access *a = (const void *)(c->base + (c->at.tail & (m->ring_bytes - 1)));
    const struct ring_clock clock = m->clock;
    const uint64_t end = m->until < limit ? m->until : limit, what = c->what;
    uint64_t left = c->end - c->at.tail, before = c->last;
    size_t n = 0;
    enum { AHEAD = 2048 }; /* bytes: they come from the cache of another processor */
    for (; n < max && left >= sizeof *a; n++, a++, left -= sizeof *a) {
        __builtin_prefetch((const uint8_t *)a + AHEAD);
        if (a->word.format != RING_ACCESS || a->word.words != sizeof *a / sizeof(uint64_t) ||
            what_of(a) != what || a->t < before || a->t >= end) {
            break;
        }
        before = a->t;
        put_row(&rows[n], a, ring_time(&clock, before));
    }
    return n;
}

void ring_merge_take(struct ring_merge *m, size_t count)
{
    struct ring_cursor *c = m->taken;
    if (count != 0) {
        const struct ring_access *a = (const void *)(c->base + (c->at.tail & (m->ring_bytes - 1)));
        c->last = a[count - 1].t;
        c->at.tail += count * sizeof *a;
    }
}
