/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/unsure.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "formats/blackhole/xy.h"
#include "formats/rings/ring_file.h"

enum { HELD_MAX = 1 << 12 };

struct unsure_held {
    struct nocap_divergence d;
    char *texts; /* expected and observed; NULL: it was taken back */
};

void unsure_add(struct unsure *u, const struct nocap_divergence *d)
{
    const size_t expected = strlen(d->expected) + 1, observed = strlen(d->observed) + 1;
    if (u->count == HELD_MAX) {
        unsure_finish(u);
    }
    struct unsure_held *h = LIST_NEXT(u->held, u->count);
    char *texts = h != NULL ? malloc(expected + observed) : NULL;
    if (texts == NULL) {
        unsure_finish(u);
        u->sink(u->context, d);
        return;
    }
    *h = (struct unsure_held){.d = *d, .texts = texts};
    h->d.expected = memcpy(texts, d->expected, expected);
    h->d.observed = memcpy(texts + expected, d->observed, observed);
    u->count++;
}

/* Rules about the trace itself judge what is there. */
static bool of_trace(enum nocap_rule rule)
{
    return rule >= TRC_001 && rule <= TRC_010;
}

static void take_back(struct unsure_held *h)
{
    free(h->texts);
    h->texts = NULL;
}

void unsure_lost(struct unsure *u, uint32_t src, uint64_t since)
{
    for (uint32_t i = u->count; i > 0 && src != RING_SRC_NONE && u->held[i - 1].d.now >= since;
         i--) {
        struct unsure_held *h = &u->held[i - 1];
        if (h->d.src != src && !of_trace(h->d.rule)) {
            take_back(h);
        }
    }
}

void unsure_unordered(struct unsure *u, uint16_t chip, struct nocap_xy at, int thread,
                      enum nocap_rule rule)
{
    for (uint32_t i = 0; i < u->count; i++) {
        const struct nocap_divergence *d = &u->held[i].d;
        const bool there = d->has_tile && d->chip == chip && nocap_xy_equal(d->at, at);
        if (d->rule == rule && there && (thread < 0 || d->thread == thread)) {
            take_back(&u->held[i]);
        }
    }
}

void unsure_finish(struct unsure *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        if (u->held[i].texts != NULL) {
            u->sink(u->context, &u->held[i].d);
            free(u->held[i].texts);
        }
    }
    u->count = 0;
}

void unsure_free(struct unsure *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        free(u->held[i].texts);
    }
    free(u->held);
}
