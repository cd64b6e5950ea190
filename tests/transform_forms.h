/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the same facts in other forms that docs/events.md permits. */
#ifndef NOCAP_TESTS_TRANSFORM_FORMS_H
#define NOCAP_TESTS_TRANSFORM_FORMS_H

#include "tests/transform.h"

static inline void change_values(struct trace *t, uint64_t *seed)
{
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        uint64_t size = e->size;
        bool sized = size == 1 || size == 2 || size == 4 || size == 8;
        if (!is_access(e) || !sized || pick(seed, 2) == 0) {
            continue;
        }
        if ((e->has & NOCAP_F_VALUE) != 0) {
            e->data = trace_bytes(t, &e->value, size);
            e->data_size = (uint32_t)size;
            e->value = 0;
            e->has = (e->has & ~NOCAP_F_VALUE) | NOCAP_F_DATA;
        } else if ((e->has & NOCAP_F_DATA) != 0 && e->data_size == size) {
            memcpy(&e->value, e->data, size);
            e->data = NULL;
            e->data_size = 0;
            e->has = (e->has & ~NOCAP_F_DATA) | NOCAP_F_VALUE;
        }
    }
}

/* Some payloads were not captured, or only their hash and beginning. */
static inline void change_payloads(struct trace *t, uint64_t *seed)
{
    static const uint64_t shares[] = {1, 2, 10, 100};
    uint64_t share = shares[pick(seed, 4)];
    bool hash = pick(seed, 2) != 0;
    uint64_t above = pick(seed, 2) != 0 ? 8 : 0;
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        if (!is_access(e) || e->size <= above || (e->has & (NOCAP_F_VALUE | NOCAP_F_DATA)) == 0 ||
            pick(seed, share) != 0) {
            continue;
        }
        const uint8_t *bytes = (e->has & NOCAP_F_VALUE) != 0 ? (const uint8_t *)&e->value : e->data;
        uint64_t size = (e->has & NOCAP_F_VALUE) != 0 ? e->size : e->data_size;
        uint32_t head = (uint32_t)pick(seed, size < 16 ? size : 16);
        e->hash = hash ? nocap_fnv1a64(NOCAP_FNV1A64_START, bytes, size) : 0;
        e->data = hash ? trace_bytes(t, bytes, head) : NULL;
        e->data_size = e->data != NULL ? head : 0;
        e->value = 0;
        e->has &= ~(NOCAP_F_VALUE | NOCAP_F_DATA);
        e->has |= (hash ? NOCAP_F_HASH : 0) | (e->data != NULL ? NOCAP_F_HEAD : 0);
    }
}

static inline void put_pieces(struct trace *out, struct nocap_event e, uint64_t piece)
{
    const uint8_t *bytes = e.data;
    uint64_t addr = e.addr, size = e.size, done = 0;
    while (done < size) {
        uint64_t step = piece - (addr + done) % piece;
        step = step < size - done ? step : size - done;
        e.addr = addr + done;
        e.size = step;
        e.data = bytes + done;
        e.data_size = (uint32_t)step;
        trace_add(out, &e);
        done += step;
    }
}

/* Writes of the host cut where lines of its caches end; multicasts told tile by tile. */
static inline void rewrite(struct trace *t, uint64_t piece, bool unicast)
{
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event e = t->events[i];
        bool host = e.kind == NOCAP_EV_WRITE && e.by == NOCAP_BY_HOST;
        if (unicast && is_access(&e) && (e.has & NOCAP_F_TO) != 0) {
            struct nocap_xy from = e.at, to = e.to;
            e.has &= ~NOCAP_F_TO;
            e.to = (struct nocap_xy){0, 0};
            for (unsigned x = from.x; x <= to.x; x++) {
                for (unsigned y = from.y; y <= to.y; y++) {
                    e.at = (struct nocap_xy){(uint8_t)x, (uint8_t)y};
                    if (nocap_is_tensix_tile(t->header.board, e.at)) {
                        trace_add(&out, &e);
                    }
                }
            }
        } else if (piece != 0 && host && (e.has & NOCAP_F_DATA) != 0 && e.data_size == e.size &&
                   e.size > piece) {
            put_pieces(&out, e, piece);
        } else {
            trace_add(&out, &e);
        }
    }
    free(t->events);
    *t = out;
}

static inline void change_lines(struct trace *t, uint64_t *seed)
{
    rewrite(t, UINT64_C(4) << pick(seed, 5), false);
}

static inline void change_unicast(struct trace *t, uint64_t *seed)
{
    (void)seed;
    rewrite(t, 0, true);
}

static inline void forget_field(struct nocap_event *e, enum nocap_field field)
{
    uint64_t bit = UINT64_C(1) << field;
    if ((e->has & bit) != 0) {
        nocap_event_set_number(e, field, 0);
        e->has &= ~bit;
    }
}

/* What a capture need not tell of an access or a request. */
static inline void change_fields(struct trace *t, uint64_t *seed)
{
    static const enum nocap_field access[] = {NOCAP_FIELD_PC, NOCAP_FIELD_ORDER, NOCAP_FIELD_MAP,
                                              NOCAP_FIELD_NOC, NOCAP_FIELD_FROM},
                                  request[] = {NOCAP_FIELD_VC,      NOCAP_FIELD_TRID,
                                               NOCAP_FIELD_CTRL,    NOCAP_FIELD_LEN_BE,
                                               NOCAP_FIELD_AT_DATA, NOCAP_FIELD_TAG,
                                               NOCAP_FIELD_BUF,     NOCAP_FIELD_VALUE,
                                               NOCAP_FIELD_RADDR,   NOCAP_FIELD_SADDR};
    uint64_t gone = chance(seed), share = 1 + pick(seed, 3);
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        bool noc = e->kind == NOCAP_EV_NOC;
        if (pick(seed, share) != 0 || (!is_access(e) && !noc && e->kind != NOCAP_EV_KERNEL)) {
            continue;
        }
        for (unsigned k = 0; k < (noc ? 10u : 5u); k++) {
            struct nocap_event less = *e;
            if ((gone >> (k + (noc ? 8 : 0)) & 1) != 0) {
                forget_field(&less, noc ? request[k] : access[k]);
            }
            *e = nocap_event_problem(&less) == NULL ? less : *e;
        }
    }
}

/* Requests without their ends, or without the numbers that tie them: an end without a number would
 * be a barrier's. That barriers show is promised no more. */
static inline void change_phases(struct trace *t, uint64_t *seed)
{
    static const uint64_t hows[] = {1, 2, 3, 7};
    uint64_t how = hows[pick(seed, 4)];
    bool *keep = malloc(t->count + 1);
    assert_non_null(keep);
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        bool noc = e->kind == NOCAP_EV_NOC;
        keep[i] = !noc || !((e->phase == NOCAP_PHASE_SENT && (how & 1) != 0) ||
                            (e->phase == NOCAP_PHASE_DONE && (how & 2) != 0));
        if (noc && (how & 4) != 0) {
            forget_field(e, NOCAP_FIELD_ID);
        }
    }
    keep_if(t, keep);
    free(keep);
    promise(&t->header, ~(uint32_t)NOCAP_CLASS_NOC_BARRIER);
}

/* Requests alone, or what arrives alone. */
static inline void change_landings(struct trace *t, uint64_t *seed)
{
    bool requests = pick(seed, 2) != 0, *keep = malloc(t->count + 1);
    assert_non_null(keep);
    size_t arrive = 0, ask = 0;
    for (size_t i = 0; i < t->count; i++) {
        arrive += is_access(&t->events[i]) && t->events[i].by == NOCAP_BY_NOC;
        ask += t->events[i].kind == NOCAP_EV_NOC;
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        keep[i] = arrive == 0 || ask == 0 ||
                  (requests ? !(is_access(e) && e->by == NOCAP_BY_NOC) : e->kind != NOCAP_EV_NOC);
    }
    keep_if(t, keep);
    free(keep);
}

static inline void change_extra(struct trace *t, uint64_t *seed)
{
    static const char key[] = "\"probe\":{\"lane\":[1,2]}";
    for (size_t i = 0; i < t->count; i++) {
        if (t->events[i].extra_size == 0 && pick(seed, 3) == 0) {
            t->events[i].extra = key;
            t->events[i].extra_size = sizeof key - 1;
        }
    }
}

/* ---- polls ---- */

static inline void change_polls_apart(struct trace *t, uint64_t *seed)
{
    enum { MOST = 300 };
    (void)seed;
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event e = t->events[i];
        uint64_t n = (e.has & NOCAP_F_N) != 0 && e.n > 0 && e.n < MOST ? e.n : 0;
        if (n > 0) {
            forget_field(&e, NOCAP_FIELD_N);
            forget_field(&e, NOCAP_FIELD_T2);
        }
        for (uint64_t k = 0; k < (n > 0 ? n : 1); k++) {
            trace_add(&out, &e);
        }
    }
    free(t->events);
    *t = out;
}

static inline bool same_look(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->kind == b->kind && a->by == b->by && a->chip == b->chip && a->at.x == b->at.x &&
           a->at.y == b->at.y && a->space == b->space && a->addr == b->addr && a->size == b->size &&
           a->value == b->value && a->has == b->has && a->pc == b->pc && a->src == b->src &&
           (a->has & (NOCAP_F_DATA | NOCAP_F_N | NOCAP_F_SEQ)) == 0;
}

/* Reads of one agent that follow each other and find the same become one. */
static inline void change_polls_together(struct trace *t, uint64_t *seed)
{
    (void)seed;
    bool *keep = malloc(t->count + 1);
    assert_non_null(keep);
    for (size_t i = 0; i < t->count; i++) {
        keep[i] = true;
    }
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i], first = *e;
        if (!keep[i] || e->kind != NOCAP_EV_READ || (e->has & NOCAP_F_N) != 0) {
            continue;
        }
        uint64_t n = 1, last = e->t;
        for (size_t k = i + 1; k < t->count; k++) {
            const struct nocap_event *f = &t->events[k];
            if (f->by != e->by || f->chip != e->chip ||
                (e->by != NOCAP_BY_HOST && (f->at.x != e->at.x || f->at.y != e->at.y))) {
                continue;
            }
            if (!same_look(&first, f)) {
                break;
            }
            keep[k] = false;
            last = f->t;
            n++;
        }
        if (n > 1) {
            e->n = n;
            e->t2 = last;
            e->has |= NOCAP_F_N | NOCAP_F_T2;
        }
    }
    keep_if(t, keep);
    free(keep);
}

/* ---- two chips ---- */

static inline void change_chips(struct trace *t, uint64_t *seed)
{
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    size_t lag = pick(seed, t->count);
    for (size_t i = 0; i < t->count; i++) {
        if (t->events[i].chip != 0) {
            return;
        }
    }
    for (size_t i = 0, k = 0; k < t->count;) {
        bool first = i < t->count && (i <= k + lag);
        struct nocap_event e = t->events[first ? i++ : k++];
        e.chip = first ? 0 : 1;
        e.t = out.count;
        if ((e.has & NOCAP_F_T2) != 0) {
            e.t2 = e.t;
        }
        trace_add(&out, &e);
    }
    free(t->events);
    *t = out;
    t->header.cycle_accurate = NOCAP_ABSENT;
}

#endif
