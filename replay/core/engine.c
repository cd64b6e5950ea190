/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds events to the models: each is decoded once, all models that want the observation judge it,
 * then memory changes, then they make known what they know. */
#include "replay/core/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/mailbox.h"
#include "replay/core/decode.h"
#include "replay/core/engine_private.h"

/* ---- the life of an engine ---- */

static bool owns(const struct model_ops *ops, unsigned rule)
{
    return (rule >= ops->first_rule && rule <= ops->last_rule) ||
           (rule >= ops->more_first && rule <= ops->more_last && ops->more_last != 0);
}

/* The models whose rules are wanted and that the trace can show, and those whose facts
 * they ask for. */
static uint32_t needed(const struct nocap_engine_options *options)
{
    uint32_t set = 1u << MODEL_PROGRESS | (options->requested != NULL ? 1u << MODEL_NOC : 0) |
                   (options->launched != NULL ? 1u << MODEL_LAUNCH : 0) |
                   (options->recorded != NULL ? 1u << MODEL_CQ : 0);
    for (unsigned i = 0; i < MODELS; i++) {
        for (unsigned rule = 0; rule < NOCAP_RULE_COUNT; rule++) {
            bool wanted = options->wanted == NULL || options->wanted[rule];
            bool observable = options->observable == NULL || options->observable[rule];
            bool runs = options->waits || (wanted && observable);
            set |= runs && owns(nocap_models[i], rule) ? 1u << i : 0;
        }
    }
    for (uint32_t before = 0; before != set;) {
        before = set;
        for (unsigned i = 0; i < MODELS; i++) {
            set |= (set >> i & 1) != 0 ? nocap_models[i]->uses : 0;
        }
    }
    return set;
}

static route_call **end_of(route_call **calls)
{
    while (*calls != NULL) {
        calls++;
    }
    return calls;
}

/* For each kind and place the models that want it; under PLACES those that want it anywhere. */
static void add_routes(struct nocap_engine *e, const struct model_ops *ops, uint32_t kinds)
{
    for (unsigned kind = 0; kind < OBS_KINDS; kind++) {
        route_call *const check = ops->check_of[kind] != NULL ? ops->check_of[kind] : ops->check;
        for (unsigned place = 0; place <= PLACES && (kinds >> kind & 1) != 0; place++) {
            struct route *route = &e->routes[kind][place];
            bool anywhere = kind >= OBS_PLACED || place == PLACES;
            if (anywhere || (ops->places >> place & 1) != 0) {
                *end_of(route->check) = check;
            }
        }
    }
}

/* At first, and again where a model wants something else from now on. */
__attribute__((noinline)) void engine_make_routes(struct nocap_engine *e)
{
    e->ender_count = 0;
    memset(e->routes, 0, sizeof e->routes);
    for (unsigned i = 0; i < MODELS; i++) {
        const struct model_ops *ops = nocap_models[i];
        uint32_t kinds = (e->models >> i & 1) != 0 ? ops->wants(&e->model) : 0;
        e->wanted = e->wanted || kinds != 0;
        add_routes(e, ops, kinds);
        if (ops->ended != NULL && kinds != 0) {
            e->enders[e->ender_count++] = ops->ended;
        }
    }
}

static enum nocap_status init_models(struct nocap_engine *e,
                                     const struct nocap_engine_options *options,
                                     struct nocap_error *err)
{
    struct model *m = &e->model;
    m->layout = nocap_header_layout(m->header, err);
    m->profile = nocap_header_profile(m->header, err);
    if (m->layout == NULL || m->profile == NULL) {
        return NOCAP_E_INPUT;
    }
    decode_init(m);
    tiles_init(m);
    bool made = true;
    for (unsigned i = 0; i < MODELS && made; i++) {
        made = nocap_models[i]->init == NULL || nocap_models[i]->init(m, options);
    }
    RETURN_ERROR_IF(!made, err, NOCAP_E_MEMORY, "out of memory");
    e->models = needed(options);
    engine_make_routes(e);
    return NOCAP_OK;
}

enum nocap_status nocap_engine_new(struct nocap_engine **engine, const struct nocap_header *header,
                                   const struct nocap_engine_options *options,
                                   struct nocap_error *err)
{
    /* Most of it is tables that few traces fill: nothing is written there before. */
    struct nocap_engine *e;
    void *memory = calloc(1, sizeof *e + CACHE_LINE);
    RETURN_ERROR_IF(memory == NULL, err, NOCAP_E_MEMORY, "out of memory");
    e = cache_line_in(memory);
    e->memory = memory;
    struct model *m = &e->model;
    m->header = header;
    m->models = nocap_models;
    m->diverged = options->diverged;
    m->requested = options->requested;
    m->requests_ended = options->ended;
    m->judged = options->judged;
    m->missing = options->missing;
    m->unordered = options->unordered;
    m->launched = options->launched;
    m->recorded = options->recorded;
    m->context = options->context;
    m->waits = options->waits;
    m->unexplained = options->unexplained;
    m->queue_unexplained = options->queue_unexplained;
    m->has_focus = options->has_tile;
    m->focus = options->tile;
    m->knows_tiles = header->arch == NOCAP_ARCH_BLACKHOLE;
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        bool judged = options->observable == NULL || options->observable[i];
        m->unreported[i] = judged ? FAULT_NONE : FAULT_UNREPORTED;
    }
    for (unsigned p = 0; options->firmware != NULL && p < NOCAP_PROCESSOR_COUNT; p++) {
        m->firmware[p] = options->firmware[nocap_cores[p].agent];
    }
    enum nocap_status status = init_models(e, options, err);
    if (status != NOCAP_OK) {
        nocap_engine_free(e);
        return status;
    }
    if (options->beside && e->wanted) {
        engine_feed_beside(e);
    }
    *engine = e;
    return NOCAP_OK;
}

void nocap_engine_free(struct nocap_engine *e)
{
    if (e == NULL) {
        return;
    }
    relay_close(e->relay);
    free(e->table);
    tiles_free(&e->model);
    EACH_MODEL(&e->model, free, &e->model);
    source_clock_free(&e->clock);
    free(e->memory);
}

/* ---- one observation ---- */

enum { OBS_STORES = OBS(CORE_STORE) | OBS(OUTSIDE_STORE) | OBS(MEMORY) }; /* that change memory */

/* A request that a core's stores made and that no event restates. */
static __attribute__((noinline)) void observe_raised(struct model *m)
{
    struct nocap_event request = m->request;
    if (m->requested != NULL) {
        m->requested(m->context, &request);
    }
    decode_request(m, &request, false);
}

/* All models that want to know have judged, memory and facts have changed: requests are over. */
static __attribute__((noinline)) void observe_ended(struct model *m)
{
    const struct nocap_engine *e = (const struct nocap_engine *)m;
    for (unsigned i = 0; i < e->ender_count; i++) {
        e->enders[i](m);
    }
    for (uint32_t i = 0; m->requests_ended != NULL && i < m->ended_count; i++) {
        const struct ended *end = &m->ended[i];
        const struct nocap_requests_end ended = {.chip = end->tile->chip,
                                                 .at = end->tile->at,
                                                 .noc = end->noc,
                                                 .kind = end->kind,
                                                 .index = end->index,
                                                 .t = m->event->t};
        m->requests_ended(m->context, &ended);
    }
    m->ended_count = 0;
}

/* What it would have brought elsewhere will be missing there. */
static __attribute__((noinline)) void note_stray(const struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    const bool core = o->kind == OBS_CORE_STORE;
    if (o->tile == NULL || (!core && (o->kind != OBS_OUTSIDE_STORE || a->by != NOCAP_BY_HOST))) {
        return;
    }
    struct stray *s = &o->tile->strays[core ? nocap_core(a->by)->processor : STRAYS_OF_HOST];
    *s = (struct stray){.fault = m->stray, .turn = m->turn};
    for (unsigned i = 0; i < sizeof s->value && i < a->known; i++) {
        s->value |= (uint32_t)a->bytes[i] << 8 * i;
    }
}

/* What models have asked for while they judged. */
static __attribute__((noinline)) void observe_due(struct nocap_engine *e,
                                                  const struct observation *o)
{
    struct model *m = &e->model;
    const uint32_t due = m->due;
    m->due = 0;
    for (uint32_t left = due & DUE_APPLY; left != 0; left &= left - 1) {
        m->models[__builtin_ctz(left)]->apply(m, o);
    }
    if ((due & DUE_STRAY) != 0) {
        note_stray(m, o);
    }
    if ((due & DUE_ENDED) != 0) {
        observe_ended(m);
    }
    if ((due & DUE_ROUTES) != 0) {
        engine_make_routes(e);
    }
    if ((due & DUE_RAISED) != 0) {
        observe_raised(m);
    }
}

void observe(struct model *m, struct observation *o)
{
    struct nocap_engine *e = (struct nocap_engine *)m;
    if (shows_part(o)) {
        tile_forget(m, o->tile); /* it is not all that happened there: as after a loss */
    }
    bool one = o->kind < OBS_PLACED && (o->places & (o->places - 1)) == 0;
    const struct route *route = &e->routes[o->kind][one ? __builtin_ctz(o->places) : PLACES];
    m->faults_before = m->faults;
    for (route_call *const *call = route->check; *call != NULL; call++) {
        (*call)(m, o);
    }
    bool store = (OBS_STORES >> o->kind & 1) != 0;
    if (store && o->access.addr < SHADOW_SIZE && o->tile != NULL) {
        shadow_store(&o->tile->l1, &o->access);
    }
    if (m->due != 0) {
        observe_due(e, o);
    }
}

/* ---- the end ---- */

enum nocap_status nocap_engine_finish(struct nocap_engine *engine, bool cut,
                                      struct nocap_error *err)
{
    (void)err;
    struct model *m = &engine->model;
    for (uint32_t i = m->tiles.count; i-- > 0;) { /* one finding of several names the latest */
        EACH_MODEL(m, tile_finish, m, m->tiles.met[i], cut);
    }
    EACH_MODEL(m, finish, m, cut);
    return NOCAP_OK;
}

bool nocap_engine_full(const struct nocap_engine *engine)
{
    return engine->model.tiles.full;
}

uint32_t nocap_engine_other_go_words(const struct nocap_engine *engine)
{
    return engine->model.other_go_words;
}

bool nocap_engine_other_queue(const struct nocap_engine *engine)
{
    return engine->model.other_queue;
}

uint64_t nocap_engine_dropped(const struct nocap_engine *engine)
{
    return engine->dropped;
}

const uint64_t *nocap_engine_exercised(struct nocap_engine *engine)
{
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (engine->model.unreported[i] != FAULT_NONE) {
            engine->model.exercised[i] = 0;
        }
    }
    return engine->model.exercised;
}
