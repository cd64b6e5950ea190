/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds events to the models: each is decoded once, all models that want the observation judge it,
 * then memory changes, then they make known what they know. */
#include "replay/core/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/sum.h"
#include "formats/blackhole/mailbox.h"
#include "formats/trace/jsonl.h"
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
static __attribute__((noinline)) void make_routes(struct nocap_engine *e)
{
    e->model.rewire = false;
    e->ender_count = 0;
    memset(e->routes, 0, sizeof e->routes);
    for (unsigned i = 0; i < MODELS; i++) {
        const struct model_ops *ops = nocap_models[i];
        uint32_t kinds = (e->models >> i & 1) != 0 ? ops->wants(&e->model) : 0;
        e->wanted |= kinds != 0;
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
    make_routes(e);
    return NOCAP_OK;
}

enum nocap_status nocap_engine_new(struct nocap_engine **engine, const struct nocap_header *header,
                                   const struct nocap_engine_options *options,
                                   struct nocap_error *err)
{
    struct nocap_engine *e = calloc(1, sizeof *e);
    RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
    struct model *m = &e->model;
    m->header = header;
    m->models = nocap_models;
    m->diverged = options->diverged;
    m->requested = options->requested;
    m->requests_ended = options->ended;
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
    *engine = e;
    return NOCAP_OK;
}

void nocap_engine_free(struct nocap_engine *e)
{
    if (e == NULL) {
        return;
    }
    tiles_free(&e->model);
    EACH_MODEL(&e->model, free, &e->model);
    source_clock_free(&e->clock);
    free(e);
}

/* ---- one observation ---- */

enum { OBS_STORES = OBS(CORE_STORE) | OBS(OUTSIDE_STORE) | OBS(MEMORY) }; /* that change memory */

/* A request that a core's stores made and that no event restates. */
static __attribute__((noinline)) void observe_raised(struct model *m)
{
    struct nocap_event request = m->request;
    m->raised = false;
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
        const struct nocap_requests_end told = {.chip = end->tile->chip,
                                                .at = end->tile->at,
                                                .noc = end->noc,
                                                .kind = end->kind,
                                                .index = end->index,
                                                .t = m->event->t};
        m->requests_ended(m->context, &told);
    }
    m->ended_count = 0;
}

void observe(struct model *m, struct observation *o)
{
    struct nocap_engine *e = (struct nocap_engine *)m;
    bool one = o->kind < OBS_PLACED && (o->places & (o->places - 1)) == 0;
    const struct route *route = &e->routes[o->kind][one ? __builtin_ctz(o->places) : PLACES];
    for (route_call *const *call = route->check; *call != NULL; call++) {
        (*call)(m, o);
    }
    bool store = (OBS_STORES >> o->kind & 1) != 0;
    if (store && o->access.addr < SHADOW_SIZE && o->tile != NULL) {
        shadow_store(&o->tile->l1, &o->access);
    }
    for (; m->apply_due != 0; m->apply_due &= m->apply_due - 1) {
        m->models[__builtin_ctz(m->apply_due)]->apply(m, o);
    }
    if (__builtin_expect(m->ended_count != 0, 0)) {
        observe_ended(m);
    }
    if (__builtin_expect(m->rewire, 0)) {
        make_routes(e);
    }
    if (__builtin_expect(m->raised, 0)) {
        observe_raised(m);
    }
}

/* ---- events ---- */

/* Events were lost: what they did is unknown. */
static void forget(struct model *m)
{
    for (uint32_t i = 0; i < m->tiles.count; i++) {
        tile_forget(m, m->tiles.met[i]);
    }
    EACH_MODEL(m, forget, m);
    make_routes((struct nocap_engine *)m);
    m->dropped = true;
}

void nocap_engine_forget(struct nocap_engine *engine)
{
    engine->lost = true;
}

static __attribute__((cold)) void drop_event(struct model *m, const struct nocap_event *e)
{
    forget(m);
    CHECK(m, NULL, TRC_003, false, NO_REFS, "no event lost",
          "%llu events of source %u lost before this one", (unsigned long long)e->value, e->src);
}

/* What is no event: why, and the beginning of its line. It has no time either. */
static __attribute__((cold)) void malformed_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120, WHY_MAX = 160 };
    char why[WHY_MAX];
    nocap_jsonl_explain((const char *)e->data, e->data_size, why, sizeof why);
    CHECK(m, NULL, TRC_005, false, NO_REFS, "a well-formed event", "%s: %.*s%s", why,
          e->data_size < SHOWN ? (int)e->data_size : SHOWN, (const char *)e->data,
          e->data_size > SHOWN ? ".." : "");
}

/* The kind that a line may have meant; NULL: none is near. */
static const char *meant_kind(const char *text, size_t size)
{
    static const char key[] = "\"ev\":\"";
    static const struct {
        const char *name;
        enum nocap_kind kind;
    } others[] = {{"store\"", NOCAP_EV_WRITE}, {"load\"", NOCAP_EV_READ}};
    const char *name = size != 0 ? memmem(text, size, key, sizeof key - 1) : NULL;
    if (name == NULL) {
        return NULL;
    }
    name += sizeof key - 1;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t length = strlen(others[i].name);
        if (size - (size_t)(name - text) >= length && memcmp(name, others[i].name, length) == 0) {
            return nocap_kind_name(others[i].kind);
        }
    }
    const char *end = memchr(name, '"', size - (size_t)(name - text));
    return end != NULL
               ? nocap_nearest(name, (size_t)(end - name), nocap_kind_name, NOCAP_EV_UNKNOWN)
               : NULL;
}

/* False: it is of a kind that is none of this version's, and need not have done anything. */
static __attribute__((cold)) bool unknown_event(struct model *m, const struct nocap_event *e)
{
    enum { SHOWN = 120 };
    const char *text = (const char *)e->data, *nearest = meant_kind(text, e->data_size);
    char hint[SHOWN] = "; known are";
    size_t used = strlen(hint);
    if (nearest != NULL) {
        snprintf(hint, sizeof hint, " - is `%s` meant?", nearest);
    }
    for (unsigned k = 0; nearest == NULL && k < NOCAP_EV_UNKNOWN && used < sizeof hint; k++) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, " %s", nocap_kind_name(k));
    }
    CHECK(m, NULL, TRC_006, false, NO_REFS, "an event kind of this version", "%.*s%s",
          e->data_size < SHOWN ? (int)e->data_size : SHOWN, text, hint);
    return nearest != NULL;
}

static __attribute__((cold)) void late_event(struct model *m, const struct nocap_event *e,
                                             uint64_t before)
{
    CHECK(m, NULL, TRC_004, false, NO_REFS, "time that does not decrease within a source",
          "%llu after %llu in source %u", (unsigned long long)e->t, (unsigned long long)before,
          e->src);
}

static __attribute__((cold)) void wrong_event(struct model *m, const char *problem)
{
    CHECK(m, NULL, TRC_005, false, NO_REFS, "every field that the event needs, none out of range",
          "%s", problem);
}

/* Whether the event itself can be used: rules TRC. Whoever asks how often they were exercised knows
 * how many events there are. What one did that cannot be used is not known. */
static bool well_formed(struct nocap_engine *engine, const struct nocap_event *e)
{
    struct model *m = &engine->model;
    uint64_t before;
    if (e->kind == NOCAP_EV_MALFORMED) {
        malformed_event(m, e);
        engine->lost = true;
        return false;
    }
    if (!source_clock_tick(&engine->clock, e, &before)) {
        late_event(m, e, before);
    }
    if (e->kind == NOCAP_EV_UNKNOWN) {
        engine->lost |= unknown_event(m, e);
        return false;
    }
    const char *problem = nocap_shapes_problem(&engine->shapes, m->header, e);
    if (problem != NULL) {
        wrong_event(m, problem);
        engine->lost = true;
    }
    return problem == NULL;
}

/* Before the next event that can be used. */
static inline void take_loss(struct nocap_engine *engine)
{
    if (__builtin_expect(engine->lost, 0)) {
        engine->lost = false;
        forget(&engine->model);
    }
}

/* One of a shape that was not met before, or that is not right. */
static __attribute__((noinline)) void unusual_event(struct nocap_engine *engine,
                                                    const struct nocap_event *e)
{
    if (!well_formed(engine, e)) {
        return;
    }
    take_loss(engine);
    if (engine->wanted) {
        decode(&engine->model, e);
    }
    if (e->kind == NOCAP_EV_DROP) {
        engine->dropped = sum_of(engine->dropped, e->value);
        drop_event(&engine->model, e);
    }
}

/* Traces of many tiles go from one to the next: what events will ask of theirs is fetched while
 * those before them are judged. */
enum { FETCH_TILES = 16, FETCH_AHEAD = 8 };

static void fetch_tile(const struct model *m, const struct nocap_event *e)
{
    const unsigned char *tile =
        (unsigned char *)m->tiles.slots[tile_slot(tile_key(e->chip, e->at))];
    for (unsigned i = 0; tile != NULL && i < TILE_HOT_LINES; i++) {
        __builtin_prefetch(tile + m->tiles.hot[i]);
    }
}

enum nocap_status nocap_engine_feed(struct nocap_engine *engine, const struct nocap_event *events,
                                    size_t count, struct nocap_error *err)
{
    struct model *m = &engine->model;
    uint64_t before;
    for (const struct nocap_event *e = events; e < events + count; e++) {
        if (m->tiles.count > FETCH_TILES && e + FETCH_AHEAD < events + count) {
            fetch_tile(m, e + FETCH_AHEAD);
        }
        m->event = e;
        m->turn++;
        if (!nocap_shapes_right(&engine->shapes, e)) {
            unusual_event(engine, e);
            continue;
        }
        take_loss(engine);
        if (!source_clock_tick(&engine->clock, e, &before)) {
            late_event(m, e, before);
        }
        if (engine->wanted) {
            decode(m, e);
        }
    }
    m->event = NULL;
    m->last_t = count > 0 ? events[count - 1].t : m->last_t;
    RETURN_ERROR_IF(m->out_of_memory, err, NOCAP_E_MEMORY, "out of memory while replaying");
    return NOCAP_OK;
}

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
