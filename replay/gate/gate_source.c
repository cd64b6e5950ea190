/* SPDX-License-Identifier: Apache-2.0 */
/* Who tells of a coprocessor: what one source tells is in order, what several tell is not. */
#include "replay/core/tile.h"
#include "replay/gate/gate_private.h"

/* What the rules said so far, of one thread, -1: of all, may be wrong. */
static void take_back(const struct model *m, const struct tile *tile, int thread,
                      const enum nocap_rule *rules, size_t count)
{
    for (size_t i = 0; m->unordered != NULL && i < count; i++) {
        m->unordered(m->context, tile->chip, tile->at, thread, rules[i]);
    }
}

/* Events from several sources have no certain order: of a thread, which word comes next is not
 * known then, nor what its core saw drained before it. */
void gate_notice_thread(const struct model *m, const struct tile *tile, struct gate_thread *t)
{
    static const enum nocap_rule by_order[] = {TNX_003, TNX_030, TNX_032, TNX_034,
                                               TNX_035, TNX_036, TNX_041};
    if (t->has_source && t->source != m->event->src && !t->unordered) {
        t->unordered = true;
        t->stream.complete = false;
        take_back(m, tile, (int)(t - gate_part(tile)->gate->threads), by_order,
                  sizeof by_order / sizeof *by_order);
    }
    t->has_source = true;
    t->source = m->event->src;
}

/* .. of all, nothing that threads share. */
void gate_notice(const struct model *m, const struct tile *tile)
{
    static const enum nocap_rule by_order[] = {TNX_001, TNX_004, TNX_005,
                                               TNX_013, TNX_014, TNX_015};
    struct gate *g = gate_part(tile)->gate;
    if (g->has_source && g->source != m->event->src && !g->unordered) {
        g->unordered = true;
        gate_know_semaphores(g, SEM_UNKNOWN);
        for (unsigned i = 0; i < THREADS; i++) {
            g->threads[i].latch = (struct gate_latch){0};
        }
        take_back(m, tile, -1, by_order, sizeof by_order / sizeof *by_order);
    }
    g->has_source = true;
    g->source = m->event->src;
}
