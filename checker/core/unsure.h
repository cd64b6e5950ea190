/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker: that a source lost events shows when it goes on. What others were found to do
 * wrong meanwhile may be right by what is missing, so it is no finding. Nor is what was judged by
 * the order of events before a second source showed. Until the trace is over all that was found may
 * turn out to be such. */
#ifndef NOCAP_CHECKER_CORE_UNSURE_H
#define NOCAP_CHECKER_CORE_UNSURE_H

#include "replay/core/engine.h"

struct unsure {
    nocap_diverged *sink; /* takes what is sure */
    void *context;
    struct unsure_held *held;
    uint32_t count;
};

/* Holds the divergence; of more than there is room for all are taken to be sure. */
void unsure_add(struct unsure *unsure, const struct nocap_divergence *divergence);
/* Events of the source are missing since. */
void unsure_lost(struct unsure *unsure, uint32_t src, uint64_t since);
/* The order of what the rule judges at the tile, of the thread, -1: of all, is not certain. */
void unsure_unordered(struct unsure *unsure, uint16_t chip, struct nocap_xy at, int thread,
                      enum nocap_rule rule);
/* The rest is sure. */
void unsure_finish(struct unsure *unsure);
void unsure_free(struct unsure *unsure);

#endif
