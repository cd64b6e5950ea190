/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/blackhole/xy.h"

enum {
    HELD_MAX = 256, /* divergences of one event; beyond, the first are handed on */
    HELD_TEXT = 256,
    FAULTS_MAX = 1 << 20, /* faults whose place is remembered */
    PLACES = 4,           /* of the latest faults of a rule */
};

struct held {
    struct nocap_divergence d;
    char expected[HELD_TEXT], observed[HELD_TEXT];
};

/* The fault that a fault turned out to follow from, or itself; and of such a root the finding that
 * stands for it. */
struct fault {
    uint32_t root;
    uint32_t number; /* 0: not handed on yet */
    enum nocap_severity severity;
    uint64_t index;
};

struct nocap_fold {
    nocap_folded *sink;
    void *context;
    struct held held[HELD_MAX];
    uint32_t count;
    struct fault *faults; /* by number */
    uint32_t fault_count;
    uint32_t numbers;                                         /* so many findings were handed on */
    struct nocap_divergence latest[NOCAP_RULE_COUNT][PLACES]; /* of each rule; fault 0: none */
};

struct nocap_fold *nocap_fold_new(nocap_folded *sink, void *context)
{
    struct nocap_fold *fold = calloc(1, sizeof *fold);
    if (fold != NULL) {
        fold->sink = sink;
        fold->context = context;
    }
    return fold;
}

void nocap_fold_free(struct nocap_fold *fold)
{
    if (fold != NULL) {
        free(fold->faults);
        free(fold);
    }
}

/* ---- faults ---- */

static struct fault *fault_at(struct nocap_fold *fold, uint32_t number)
{
    while (number >= fold->fault_count && number < FAULTS_MAX) {
        if (LIST_NEXT(fold->faults, fold->fault_count) == NULL) {
            return NULL;
        }
        fold->fault_count++;
    }
    return number < fold->fault_count ? &fold->faults[number] : NULL;
}

/* A fault is found to follow from an earlier one, so the way ends. */
static uint32_t root_of(struct nocap_fold *fold, uint32_t number)
{
    const struct fault *fault = fault_at(fold, number);
    while (fault != NULL && fault->root != 0 && fault->root != number) {
        number = fault->root;
        fault = fault_at(fold, number);
    }
    return number;
}

enum nocap_severity nocap_severity_of(const struct nocap_divergence *d)
{
    return d->harmless ? NOCAP_NOTE : nocap_rules[d->rule].severity;
}

static void set_root(struct nocap_fold *fold, const struct nocap_divergence *d, uint32_t root)
{
    struct fault *fault = fault_at(fold, d->fault);
    if (fault != NULL) {
        *fault = (struct fault){.root = root, .severity = nocap_severity_of(d), .index = d->index};
    }
}

/* ---- what follows from what ---- */

static bool same_tile(const struct nocap_divergence *a, const struct nocap_divergence *b)
{
    return a->chip == b->chip && a->has_tile == b->has_tile && nocap_xy_equal(a->at, b->at);
}

/* What the event's divergence `i` follows from by one row; NULL: nothing. */
static const struct nocap_divergence *cause_by_row(const struct nocap_fold *fold, uint32_t i,
                                                   const struct nocap_follows *row)
{
    const struct nocap_divergence *d = &fold->held[i].d;
    if (d->rule != row->rule) {
        return NULL;
    }
    for (uint32_t k = 0; k < fold->count && !row->span; k++) {
        const struct nocap_divergence *other = &fold->held[k].d;
        bool another = other->rule != d->rule ? k != i : k < i; /* of one rule the first counts */
        if (another && other->chip == d->chip && other->rule >= row->root_first &&
            other->rule <= row->root_last) {
            return other;
        }
    }
    for (unsigned r = row->root_first; row->span && r <= (unsigned)row->root_last; r++) {
        for (unsigned k = 0; k < PLACES && d->related_count > 0; k++) {
            const struct nocap_divergence *other = &fold->latest[r][k];
            if (other->fault != 0 && same_tile(d, other) && other->present >= d->related[0]) {
                return other;
            }
        }
    }
    return NULL;
}

static const struct nocap_divergence *cause_of(const struct nocap_fold *fold, uint32_t i)
{
    const struct nocap_divergence *cause = NULL;
    for (unsigned row = 0; row < nocap_follows_count && cause == NULL; row++) {
        cause = cause_by_row(fold, i, &nocap_follows[row]);
    }
    return cause;
}

/* Hands on a finding, or a consequence of the one that stands for its fault. What is more severe
 * than that one is a finding too, and stands for the fault from then on: no warning hides an error.
 */
static void emit(struct nocap_fold *fold, struct held *h)
{
    struct nocap_divergence *d = &h->d;
    struct fault lost = {.severity = NOCAP_ERROR, .index = UINT64_MAX};
    uint32_t root = root_of(fold, d->fault);
    struct fault *fault = fault_at(fold, root);
    if (fault == NULL || fault->root == 0) {
        fault = &lost;
    }
    bool follows = d->follows || root != d->fault;
    uint64_t from = follows ? fault->index : UINT64_MAX;
    d->follows = follows && nocap_severity_of(d) <= fault->severity;
    if (follows && !d->follows) {
        *fault = (struct fault){.root = root, .severity = nocap_severity_of(d), .index = d->index};
    }
    if (fault->number == 0 && (fault != &lost || !d->follows)) {
        fault->number = ++fold->numbers;
    }
    d->fault = fault->number;
    d->expected = h->expected;
    d->observed = h->observed;
    fold->sink(fold->context, d, from);
}

void nocap_fold_flush(struct nocap_fold *fold)
{
    for (uint32_t i = 0; i < fold->count; i++) {
        const struct nocap_divergence *d = &fold->held[i].d;
        struct nocap_divergence *latest = fold->latest[d->rule];
        unsigned k = 0; /* that of its core, else the oldest, which is the last */
        while (k < PLACES - 1 && !(latest[k].fault != 0 && same_tile(d, &latest[k]))) {
            k++;
        }
        memmove(latest + 1, latest, k * sizeof *latest);
        latest[0] = *d;
        if (!d->follows) {
            set_root(fold, d, d->fault);
        }
    }
    for (uint32_t i = 0; i < fold->count; i++) {
        const struct nocap_divergence *d = &fold->held[i].d;
        const struct nocap_divergence *cause = d->follows ? NULL : cause_of(fold, i);
        if (cause != NULL) {
            set_root(fold, d, cause->fault);
        }
    }
    for (uint32_t i = 0; i < fold->count; i++) {
        emit(fold, &fold->held[i]);
    }
    fold->count = 0;
}

void nocap_fold_add(void *context, const struct nocap_divergence *d)
{
    struct nocap_fold *fold = context;
    if (fold->count > 0 && (fold->held[0].d.present != d->present || fold->count == HELD_MAX)) {
        nocap_fold_flush(fold);
    }
    struct held *h = &fold->held[fold->count++];
    h->d = *d;
    snprintf(h->expected, sizeof h->expected, "%s", d->expected);
    snprintf(h->observed, sizeof h->observed, "%s", d->observed);
}

void nocap_fold_close_over(bool rules[NOCAP_RULE_COUNT])
{
    for (bool more = true; more;) {
        more = false;
        for (unsigned row = 0; row < nocap_follows_count; row++) {
            const struct nocap_follows *f = &nocap_follows[row];
            for (unsigned r = f->root_first; rules[f->rule] && r <= (unsigned)f->root_last; r++) {
                more |= !rules[r];
                rules[r] = true;
            }
        }
    }
}
