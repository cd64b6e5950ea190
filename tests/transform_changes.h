/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the changes that leave a trace true, each with its name: parts of it, less of it,
 * other clocks. Other forms are in transform_forms.h. */
#ifndef NOCAP_TESTS_TRANSFORM_CHANGES_H
#define NOCAP_TESTS_TRANSFORM_CHANGES_H

#include "tests/transform_forms.h"
#include "tests/transform_memory.h"
#include "tests/transform_sources.h"
#include "tests/transform_views.h"

/* ---- parts ---- */

/* Takes events `from` to `to` out; what `m` knows, if there is one, stands there, or that they were
 * lost. */
static inline void take_out(struct trace *t, size_t from, size_t to, struct transform_memory *m,
                            bool drop)
{
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    for (size_t i = 0; i < from; i++) {
        trace_add(&out, &t->events[i]);
    }
    uint64_t at = to < t->count ? t->events[to].t : t->count > 0 ? t->events[t->count - 1].t : 0;
    if (drop) {
        const struct nocap_event *next = &t->events[to < t->count ? to : t->count - 1];
        struct nocap_event e = {.kind = NOCAP_EV_DROP,
                                .t = at,
                                .value = to - from,
                                .src = next->src,
                                .has = NOCAP_F_DROPPED};
        trace_add(&out, &e);
    }
    if (m != NULL) {
        transform_tell(m, &out, at);
    }
    for (size_t i = to; i < t->count; i++) {
        trace_add(&out, &t->events[i]);
    }
    free(t->events);
    *t = out;
}

/* Memory before event `at`, or some of it. */
static inline struct transform_memory *look_before(const struct trace *t, size_t at, uint64_t *seed)
{
    struct transform_memory *m = transform_memory(t, at);
    if (pick(seed, 2) != 0) {
        transform_narrow(m, seed);
    }
    return m;
}

static inline void change_start(struct trace *t, uint64_t *seed)
{
    t->header.complete = pick(seed, 2) != 0 ? NOCAP_FALSE : NOCAP_ABSENT;
    take_out(t, 0, pick(seed, t->count), NULL, false);
}

static inline void change_attach(struct trace *t, uint64_t *seed)
{
    size_t at = pick(seed, t->count);
    take_out(t, 0, at, look_before(t, at, seed), false);
    t->header.complete = NOCAP_FALSE;
}

/* Cuts an end off; not in the longest silence, where it would look as if all stood. What a host
 * reads breaks no silence. */
static inline void cut_end(struct trace *t, uint64_t *seed)
{
    size_t count = t->count - pick(seed, t->count), last = 0, from = 0, to = 0;
    for (size_t i = 1; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        if (e->kind == NOCAP_EV_READ && e->by == NOCAP_BY_HOST) {
            continue;
        }
        if (e->t - t->events[last].t > t->events[to].t - t->events[from].t) {
            from = last;
            to = i;
        }
        last = i;
    }
    t->count = count > from && count <= to ? from + 1 : count;
}

static inline void change_end(struct trace *t, uint64_t *seed)
{
    cut_end(t, seed);
    t->header.open_end = NOCAP_TRUE;
}

/* By a capture that does not say so. */
static inline void change_stop(struct trace *t, uint64_t *seed)
{
    cut_end(t, seed);
}

static inline void change_drop(struct trace *t, uint64_t *seed)
{
    size_t from = pick(seed, t->count);
    size_t most = pick(seed, 2) != 0 ? 20 : t->count;
    size_t size = 1 + pick(seed, most < t->count - from ? most : t->count - from);
    take_out(t, from, from + size, pick(seed, 3) == 0 ? look_before(t, from + size, seed) : NULL,
             true);
}

/* A second look at memory, which changes nothing. */
static inline void change_look(struct trace *t, uint64_t *seed)
{
    size_t at = pick(seed, t->count);
    take_out(t, at, at, look_before(t, at, seed), false);
}

static inline void change_mid_run(struct trace *t, uint64_t *seed)
{
    (void)seed;
    t->header.complete = NOCAP_ABSENT;
}

/* ---- less of it ---- */

static inline void observe_only(struct trace *t, uint32_t classes)
{
    struct nocap_header *h = &t->header;
    bool *keep = malloc(t->count + 1);
    assert_non_null(keep);
    promise(h, classes);
    if ((h->observes & (NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO)) == NOCAP_CLASS_CORE_LOAD) {
        h->observes &= ~(uint32_t)NOCAP_CLASS_CORE_LOAD;
    }
    for (size_t i = 0; i < t->count; i++) {
        uint32_t own = nocap_event_class(&t->events[i]);
        keep[i] = own == 0 || (own & h->observes) != 0;
    }
    keep_if(t, keep);
    free(keep);
}

static inline void change_classes(struct trace *t, uint64_t *seed)
{
    observe_only(t, pick(seed, 2) != 0 ? (uint32_t)chance(seed)
                                       : (uint32_t)(chance(seed) | chance(seed)));
}

static inline void change_one_class_less(struct trace *t, uint64_t *seed)
{
    observe_only(t, ~(UINT32_C(1) << pick(seed, NOCAP_CLASS_COUNT)));
}

/* Loads are not promised, yet some are there. */
static inline void change_some_loads(struct trace *t, uint64_t *seed)
{
    bool *keep = malloc(t->count + 1);
    uint64_t share = 1 + pick(seed, 8);
    assert_non_null(keep);
    for (size_t i = 0; i < t->count; i++) {
        keep[i] = (nocap_event_class(&t->events[i]) & NOCAP_CLASS_CORE_LOAD) == 0 ||
                  pick(seed, share) == 0;
    }
    keep_if(t, keep);
    free(keep);
    promise(&t->header, ~(uint32_t)NOCAP_CLASS_CORE_LOAD);
}

static inline void change_scope(struct trace *t, uint64_t *seed)
{
    bool in[32][32] = {{false}}, *keep = malloc(t->count + 1);
    struct nocap_xy *scope = malloc(1024 * sizeof *scope);
    uint64_t share = 2 + pick(seed, 3);
    assert_true(keep != NULL && scope != NULL);
    size_t count = 0;
    for (uint8_t x = 0; x < 32; x++) {
        for (uint8_t y = 0; y < 32; y++) {
            struct nocap_xy at = {x, y};
            in[x][y] = nocap_header_in_scope(&t->header, at) && pick(seed, share) == 0;
            if (in[x][y]) {
                scope[count++] = at;
            }
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        keep[i] = !inside_tile(e) || in[e->at.x % 32][e->at.y % 32];
    }
    keep_if(t, keep);
    free(keep);
    free(t->header.scope);
    t->header.scope = scope;
    t->header.scope_count = count;
    t->header.has_scope = true;
}

/* ---- time ---- */

static inline void change_clock(struct trace *t, uint64_t *seed)
{
    static const uint64_t by[] = {2, 8, 100, 1000};
    uint64_t d = by[pick(seed, 4)];
    for (size_t i = 0; i < t->count; i++) {
        t->events[i].t /= d;
        t->events[i].t2 /= (t->events[i].has & NOCAP_F_T2) != 0 ? d : 1;
    }
    t->header.cycle_accurate = NOCAP_ABSENT;
}

static inline void change_ns(struct trace *t, uint64_t *seed)
{
    uint64_t n = pick(seed, 2) != 0 ? 1000 : 20, d = n == 20 ? 27 : 1;
    for (size_t i = 0; i < t->count; i++) {
        t->events[i].t = t->events[i].t * n / d;
        if ((t->events[i].has & NOCAP_F_T2) != 0) {
            t->events[i].t2 = t->events[i].t2 * n / d;
        }
    }
    t->header.time_unit = NOCAP_TIME_NS;
    t->header.has_time_unit = true;
    t->header.cycle_accurate = NOCAP_ABSENT;
}

/* Later by something that shows no other order. */
static inline void change_epoch(struct trace *t, uint64_t *seed)
{
    uint64_t by = chance(seed) >> 24;
    for (size_t i = 0; i < t->count; i++) {
        t->events[i].t += by;
        t->events[i].t2 += (t->events[i].has & NOCAP_F_T2) != 0 ? by : 0;
    }
}

struct placed {
    uint64_t chunk;
    size_t at;
    struct nocap_event event;
};

static inline int by_chunk(const void *a, const void *b)
{
    const struct placed *p = a, *q = b;
    return p->chunk != q->chunk ? (p->chunk < q->chunk ? -1 : 1)
           : p->at < q->at      ? -1
                                : p->at > q->at;
}

/* A source for every agent, and a file in which each has its events in pieces of its own. Times are
 * made different, so that they alone tell the order; or they stay, and what they do not tell is
 * not told. */
static inline void part_sources(struct trace *t, uint64_t *seed, bool exact)
{
    enum { PIECE = 500 };
    struct placed *p = malloc((t->count + 1) * sizeof *p);
    uint64_t mix = chance(seed);
    assert_non_null(p);
    for (size_t i = 0; i < t->count; i++) {
        if ((t->events[i].has & NOCAP_F_T2) != 0 || t->events[i].src != 0) {
            free(p);
            return;
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        e->src = transform_source(e) + 65536u * 256u * e->chip;
        e->t = exact ? 2 * i + 1 : e->t;
        uint64_t own = (e->src * UINT64_C(0x9e3779b97f4a7c15) ^ mix) >> 40 & 0xff;
        p[i] = (struct placed){.chunk = i / PIECE << 8 | own, .at = i, .event = *e};
    }
    qsort(p, t->count, sizeof *p, by_chunk);
    for (size_t i = 0; i < t->count; i++) {
        t->events[i] = p[i].event;
        t->events[i].index = i;
    }
    free(p);
    t->header.cycle_accurate = NOCAP_ABSENT;
}

static inline void change_sources(struct trace *t, uint64_t *seed)
{
    part_sources(t, seed, true);
}

/* Not where one act may be reported twice at one time: who tells it first is not known. */
static inline void change_ties(struct trace *t, uint64_t *seed)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->events[i].kind == NOCAP_EV_CQ) {
            return;
        }
    }
    part_sources(t, seed, false);
}

typedef void transform_change(struct trace *t, uint64_t *seed);

#define TRANSFORM_CHANGES(X)                                                                       \
    X(start)                                                                                       \
    X(attach)                                                                                      \
    X(end)                                                                                         \
    X(stop) X(drop) X(look) X(mid_run) X(classes) X(one_class_less) X(some_loads) X(scope)         \
        X(clock) X(ns) X(epoch) X(sources) X(values) X(payloads) X(lines) X(unicast) X(fields)     \
            X(phases) X(landings) X(extra) X(polls_apart) X(polls_together) X(chips) X(header)     \
                X(threads) X(number) X(seq) X(notes) X(polls_less) X(some_ends) X(pause) X(again)  \
                    X(ties) X(senders) X(probes) X(lost) X(numbers)

#endif
