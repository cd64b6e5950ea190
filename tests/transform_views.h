/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: what other captures of the same run would hold: other headers, other clocks, other
 * points of observation, one run after another. */
#ifndef NOCAP_TESTS_TRANSFORM_VIEWS_H
#define NOCAP_TESTS_TRANSFORM_VIEWS_H

#include "tests/transform_forms.h"

/* ---- headers ---- */

static inline char *transform_text(const char *text)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    return copy;
}

/* The board is not said, or the layout is, or files that are not there any more. */
static inline void change_header(struct trace *t, uint64_t *seed)
{
    struct nocap_header *h = &t->header;
    uint64_t what = 1 + pick(seed, 7);
    if ((what & 1) != 0) {
        h->board = NOCAP_BOARD_UNKNOWN;
    }
    if ((what & 2) != 0 && h->arch == NOCAP_ARCH_BLACKHOLE && h->layout == NULL) {
        h->layout = transform_text("bh-launch96");
    }
    if ((what & 4) != 0 && h->firmware_count == 0) {
        h->firmware = calloc(1, sizeof *h->firmware);
        assert_non_null(h->firmware);
        h->firmware[0].core = transform_text("brisc");
        h->firmware[0].path = transform_text("no/such/file.elf");
        h->firmware_count = 1;
        h->has_firmware = true;
    }
}

/* ---- points of observation ---- */

/* The host is two threads, each a source of its own; the device is a third. Times are made
 * different, so that they alone tell the order. */
static inline void change_threads(struct trace *t, uint64_t *seed)
{
    bool other = false;
    for (size_t i = 0; i < t->count; i++) {
        if (t->events[i].src != 0 || (t->events[i].has & NOCAP_F_T2) != 0) {
            return;
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        other = pick(seed, 10) == 0 ? !other : other;
        e->src = e->by == NOCAP_BY_HOST && e->kind != NOCAP_EV_DROP ? 1 + other : 0;
        e->t = 2 * i + 1;
    }
    t->header.cycle_accurate = NOCAP_ABSENT;
}

/* The same chip by another number. */
static inline void change_number(struct trace *t, uint64_t *seed)
{
    uint16_t by = (uint16_t)(1 + pick(seed, 30));
    for (size_t i = 0; i < t->count; i++) {
        t->events[i].chip = (uint16_t)(t->events[i].chip + by);
    }
}

/* Producers that number nothing: only where no act is reported twice, which the numbers would tie.
 */
static inline void change_seq(struct trace *t, uint64_t *seed)
{
    (void)seed;
    for (size_t i = 0; i < t->count; i++) {
        if (t->events[i].kind == NOCAP_EV_CQ) {
            return;
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        t->events[i].seq = 0;
        t->events[i].has &= ~NOCAP_F_SEQ;
    }
}

/* ---- more and less ---- */

static inline void change_notes(struct trace *t, uint64_t *seed)
{
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    uint64_t share = 1 + pick(seed, 20);
    static const char text[] = "a mark of the program";
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        if (pick(seed, share) == 0) {
            struct nocap_event note = {.kind = NOCAP_EV_NOTE,
                                       .t = e->t,
                                       .src = e->src,
                                       .chip = e->chip,
                                       .has = NOCAP_F_TEXT};
            note.data = trace_bytes(&out, text, sizeof text - 1);
            note.data_size = sizeof text - 1;
            trace_add(&out, &note);
        }
        trace_add(&out, e);
    }
    free(t->events);
    *t = out;
}

/* Of reads of one agent that follow each other and find the same, some are not there. */
static inline void change_polls_less(struct trace *t, uint64_t *seed)
{
    bool *keep = malloc(t->count + 1);
    uint64_t share = 1 + pick(seed, 3);
    assert_non_null(keep);
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i], *next = NULL;
        keep[i] = true;
        for (size_t k = i + 1; e->kind == NOCAP_EV_READ && next == NULL && k < t->count; k++) {
            const struct nocap_event *f = &t->events[k];
            bool inside = e->by != NOCAP_BY_HOST;
            if (f->by == e->by && f->chip == e->chip &&
                (!inside || (f->at.x == e->at.x && f->at.y == e->at.y))) {
                next = f;
            }
        }
        keep[i] = next == NULL || !same_look(e, next) || pick(seed, share) != 0;
    }
    keep_if(t, keep);
    free(keep);
}

/* Probes that show no ends of some kind: of some tiles, requests and phases. */
static inline void change_some_ends(struct trace *t, uint64_t *seed)
{
    bool *keep = malloc(t->count + 1);
    uint64_t mix = chance(seed);
    assert_non_null(keep);
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        bool end = e->kind == NOCAP_EV_NOC && e->phase != NOCAP_PHASE_ISSUE;
        uint64_t kind = ((((uint64_t)e->at.x << 8 | e->at.y) << 8 | e->op) << 8 | e->phase) ^ mix;
        keep[i] = !end || (chance(&kind) & 1) != 0;
    }
    keep_if(t, keep);
    free(keep);
    promise(&t->header, ~(uint32_t)NOCAP_CLASS_NOC_BARRIER);
}

/* ---- time ---- */

/* Nothing happens for long, and then it goes on. */
static inline void change_pause(struct trace *t, uint64_t *seed)
{
    size_t at = pick(seed, t->count);
    uint64_t by = chance(seed) >> (24 + pick(seed, 36));
    for (size_t i = at; i < t->count; i++) {
        struct nocap_event *e = &t->events[i];
        e->t += by;
        e->t2 += (e->has & NOCAP_F_T2) != 0 ? by : 0;
    }
    t->header.cycle_accurate = NOCAP_ABSENT;
}

/* A second run after a part of the first: what lies between was lost. */
static inline void change_again(struct trace *t, uint64_t *seed)
{
    size_t end = pick(seed, t->count), from = pick(seed, 2) != 0 ? 0 : pick(seed, t->count);
    struct trace out = {.name = t->name, .header = t->header, .arena = t->arena};
    uint64_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct nocap_event *e = &t->events[i];
        uint64_t until = (e->has & NOCAP_F_T2) != 0 && e->t2 > e->t ? e->t2 : e->t;
        last = i < end && until > last ? until : last;
        if (e->src != 0) {
            return; /* a loss is one source's */
        }
    }
    for (size_t i = 0; i < end; i++) {
        trace_add(&out, &t->events[i]);
    }
    struct nocap_event lost = {
        .kind = NOCAP_EV_DROP, .t = last, .value = 1 + pick(seed, 1000), .has = NOCAP_F_DROPPED};
    trace_add(&out, &lost);
    for (size_t i = from; i < t->count; i++) {
        struct nocap_event e = t->events[i];
        e.t += last;
        e.t2 += (e.has & NOCAP_F_T2) != 0 ? last : 0;
        trace_add(&out, &e);
    }
    free(t->events);
    *t = out;
}

#endif
