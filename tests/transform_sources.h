/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: the same run as other probes see it: who sends is not known to them, each sees what
 * some agents do, or loses events for a while. */
#ifndef NOCAP_TESTS_TRANSFORM_SOURCES_H
#define NOCAP_TESTS_TRANSFORM_SOURCES_H

#include "tests/transform_forms.h"

/* Requests, of which a network interface does not know the core. */
static inline void change_senders(struct trace *t, uint64_t *seed)
{
    uint64_t share = 1 + pick(seed, 3);
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event less = t->events[i];
        less.by = NOCAP_BY_NONE;
        less.has &= ~NOCAP_F_BY;
        if (less.kind == NOCAP_EV_NOC && pick(seed, share) == 0 &&
            nocap_event_problem(&less) == NULL) {
            t->events[i] = less;
        }
    }
}

/* A few probes, each of which shows what some agents do. Times are made different. False: the trace
 * has several already, or acts that last. */
static inline bool share_out(struct trace *t, uint64_t *seed)
{
    uint64_t mix = chance(seed), probes = 2 + pick(seed, 4);
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        if ((e->has & NOCAP_F_T2) != 0 || e->src != 0 || e->kind == NOCAP_EV_DROP) {
            return false;
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        uint64_t agent = mix ^ (transform_source(e) + 65536u * 256u * e->chip);
        e->src = 1 + (uint32_t)pick(&agent, probes);
        e->t = 2 * i + 1;
    }
    t->header.cycle_accurate = NOCAP_ABSENT;
    return true;
}

static inline void change_probes(struct trace *t, uint64_t *seed)
{
    (void)share_out(t, seed);
}

/* One of them loses events, and says so when it goes on, or at the end. */
static inline void change_lost(struct trace *t, uint64_t *seed)
{
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    uint64_t from = pick(seed, t->count), most = pick(seed, 2) != 0 ? 20 : t->count;
    uint64_t end = from + 1 + pick(seed, most);
    const uint32_t src = share_out(t, seed) ? t->events[from].src : 0;
    struct nocap_event drop = {.kind = NOCAP_EV_DROP, .src = src, .has = NOCAP_F_DROPPED};
    for (size_t i = 0; i <= t->count; i++) {
        const struct nocap_event *e = &t->events[i < t->count ? i : t->count - 1];
        bool over = i == t->count || (e->src == src && i >= end);
        if (over && drop.value > 0) {
            drop.t = e->t;
            trace_add(&out, &drop);
            drop.value = 0;
        }
        if (i < t->count && src != 0 && e->src == src && i >= from && i < end) {
            drop.value++;
        } else if (i < t->count) {
            trace_add(&out, e);
        }
    }
    free(t->events);
    *t = out;
}

/* Another numbering, which ties the same events. */
static inline void change_numbers(struct trace *t, uint64_t *seed)
{
    uint64_t by = pick(seed, 1000), mask = pick(seed, 2) != 0 ? chance(seed) >> 20 : 0;
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        e->seq = (e->has & NOCAP_F_SEQ) != 0 ? (e->seq + by) ^ mask : 0;
    }
}

#endif
