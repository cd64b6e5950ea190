/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the engine from inside. */
#ifndef NOCAP_REPLAY_ENGINE_PRIVATE_H
#define NOCAP_REPLAY_ENGINE_PRIVATE_H

#include "replay/core/order.h"
#include "replay/core/tile.h"

/* What is called for an observation of one kind at one place, up to a NULL. */
typedef void route_call(struct model *m, const struct observation *o);
struct route {
    route_call *check[MODELS + 1];
};

struct nocap_engine {
    struct model model; /* first: `observe` finds its engine */
    struct route routes[OBS_KINDS][PLACES + 1];
    uint32_t models; /* 1 << enum model_id: those that run */
    bool wanted;     /* some of them wants anything */
    unsigned ender_count;
    void (*enders[MODELS])(struct model *m); /* model_ops.ended */
    struct source_clock clock;
    struct nocap_shapes shapes;
    bool lost;        /* events are missing before the next one */
    uint64_t dropped; /* so many, as events tell */
};

#endif
