/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the engine from inside. */
#ifndef NOCAP_REPLAY_ENGINE_PRIVATE_H
#define NOCAP_REPLAY_ENGINE_PRIVATE_H

#include "base/relay.h"
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
    bool lost;                               /* events are missing before the next one */
    uint64_t dropped;                        /* so many, as events tell */
    uint64_t dropped_at;                     /* index of the latest that tells */
    /* Of those who feed; what is before it is the relay's thread's, if there is one, until it is
     * settled. In lines of the cache of its own: both are written for each event. */
    _Alignas(CACHE_LINE) struct source_clock clock;
    struct nocap_shapes shapes;
    uint8_t kinds[NOCAP_SHAPES + 1]; /* by shape: what decode_shape says, and 1; 0: not met */
    bool gap;                        /* events are missing before the one that is fed next */
    struct relay *relay;             /* NULL: events are judged where they are fed */
    struct batch *batch;             /* that is filled; NULL: none */
    struct nocap_event *table;       /* by shape, for the relay */
    void *memory;                    /* in which the engine is, where a line of the cache begins */
};

/* What rules TRC say of an event. */
struct form {
    bool usable; /* as an event; what one that is not did is unknown */
    bool lost;   /* events are missing before it */
    bool late;   /* than the one of time `before` */
    uint64_t before;
    const char *problem; /* NULL: none */
};
/* engine.c: whom `observe` calls; at first, and where a model wants something else from now on. */
void engine_make_routes(struct nocap_engine *engine);
/* engine_feed.c: a second thread judges from now on, if one can be started. */
void engine_feed_beside(struct nocap_engine *engine);
/* form.c: of one whose shape is not known to be right. */
void form_judge(struct nocap_engine *engine, const struct nocap_event *e, struct form *form);
/* Reports what is wrong. True: what the event did is unknown. */
bool form_tell(struct model *m, const struct nocap_event *e, const struct form *form);
/* Whether it is an access of which nothing is wrong but its bytes; makes the one without them: what
 * it did elsewhere is known. */
bool form_access(const struct model *m, const struct nocap_event *e, const struct form *form,
                 struct nocap_event *access);

#endif
