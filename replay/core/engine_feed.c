/* SPDX-License-Identifier: Apache-2.0 */
/* Events on their way to the models, in two halves: what can be said of an event without the state
 * of the device, and the rest. With a second thread the halves run beside each other. */
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "replay/core/decode.h"
#include "replay/core/engine_private.h"

/* Events were lost: what they did is unknown. */
static void forget(struct model *m)
{
    for (uint32_t i = 0; i < m->tiles.count; i++) {
        tile_forget(m, m->tiles.met[i]);
    }
    EACH_MODEL(m, forget, m);
    engine_make_routes((struct nocap_engine *)m);
    m->dropped = true;
}

void nocap_engine_forget(struct nocap_engine *engine)
{
    engine->gap = engine->relay != NULL;
    engine->lost |= engine->relay == NULL;
}

/* `before`: time of the event before it of its source. */
static __attribute__((cold)) void drop_event(struct model *m, const struct nocap_event *e,
                                             uint64_t before)
{
    forget(m);
    if (m->missing != NULL) {
        m->missing(m->context, e->src, before);
    }
    CHECK(m, NULL, TRC_003, false, NO_REFS, "no event lost",
          "%llu events of source %u lost before this one", (unsigned long long)e->value, e->src);
}

/* Before the next event that can be used. */
static inline void take_loss(struct nocap_engine *engine)
{
    if (__builtin_expect(engine->lost, 0)) {
        engine->lost = false;
        forget(&engine->model);
    }
}

/* One of which there may be something to tell. */
static __attribute__((noinline)) void
take_other(struct nocap_engine *engine, const struct nocap_event *e, const struct form *form)
{
    struct nocap_event bytes_unknown;
    const bool unknown = form_tell(&engine->model, e, form);
    const bool access = unknown && form_access(&engine->model, e, form, &bytes_unknown);
    engine->lost |= form->lost || (unknown && !access);
    if (!form->usable && !access) {
        return;
    }
    take_loss(engine);
    if (engine->wanted) {
        decode(&engine->model, access ? &bytes_unknown : e);
    } else {
        place_event(&engine->model, e);
    }
    if (e->kind == NOCAP_EV_DROP) {
        engine->dropped = sum_of(engine->dropped, e->value);
        engine->dropped_at = e->index;
        drop_event(&engine->model, e, form->before);
    }
}

/* Traces of many tiles go from one to the next: what events will ask of theirs is fetched while
 * those before them are judged. */
enum { FETCH_TILES = 16, FETCH_AHEAD = 8 };

static inline void fetch_tile(const struct model *m, uint32_t key)
{
    const unsigned char *tile = (unsigned char *)m->tiles.slots[tile_slot(key)];
    for (unsigned i = 0; tile != NULL && i < TILE_HOT_LINES; i++) {
        __builtin_prefetch(tile + m->tiles.hot[i]);
    }
}

/* Whether rules TRC have nothing to say of the event; else what. */
static inline bool is_usual(struct nocap_engine *engine, const struct nocap_event *e,
                            struct form *form)
{
    uint64_t before;
    if (__builtin_expect(!nocap_shapes_right(&engine->shapes, e), 0)) {
        form_judge(engine, e, form);
        return false;
    }
    if (__builtin_expect(!source_clock_tick(&engine->clock, e, &before), 0)) {
        *form = (struct form){.usable = true, .late = true, .before = before};
        return false;
    }
    return true;
}

static __attribute__((noinline)) void meet_shape(struct nocap_engine *engine,
                                                 const struct nocap_event *e)
{
    engine->kinds[e->shape] = (uint8_t)(decode_shape(&engine->model, e) + 1);
    if (engine->table != NULL) {
        engine->table[e->shape] = *e;
    }
}

/* Of one that is usual: what decode_shape says. */
static inline enum observation_kind kind_of(struct nocap_engine *engine,
                                            const struct nocap_event *e)
{
    if (__builtin_expect(engine->kinds[e->shape] == 0, 0)) {
        meet_shape(engine, e);
    }
    return (enum observation_kind)(engine->kinds[e->shape] - 1);
}

static inline void begin_event(struct nocap_engine *engine, const struct nocap_event *e)
{
    engine->model.event = e;
    engine->model.turn++;
}

static inline void end_event(struct model *m, const struct nocap_event *e)
{
    m->event = NULL;
    m->last_t = e->t;
    if (__builtin_expect(m->judged != NULL, 0)) {
        m->judged(m->context, e);
    }
}

/* ---- judged by a thread of its own ---- */

/* Most events are carried in one line of the cache: without what is 0 in them, without what those
 * of their shape share, and of their observations what `decode_prepare` says. All batches take
 * 10 MiB: with fewer the threads wait for each other more often. */
enum {
    BATCH_EVENTS = 256,
    BATCH_WHOLE = 64,
    BATCH_PAYLOAD = 1 << 13,
    BATCHES = 256,
    CARRY_AHEAD = 8, /* so many events before it is used, its place is fetched */
    SLOT_PC = 4,
    SLOT_SEM = 8,
};

struct carried {
    _Alignas(CACHE_LINE) uint64_t addr;
    uint64_t value, pc, sem;
    uint32_t index, t; /* since those of the batch */
    uint32_t size;
    uint32_t src;
    uint16_t chip;
    struct nocap_xy at;
    uint16_t shape;
    uint16_t whole; /* which of batch.whole it is instead, counted from 1; 0: none */
    struct prepared prepared;
};
_Static_assert(sizeof(struct carried) == CACHE_LINE, "a line");
struct whole {
    struct form form;
    struct nocap_event event;
};
struct batch {
    struct carried carried[BATCH_EVENTS];
    uint64_t index, t;                 /* of the first event */
    uint32_t count, whole_count, used; /* used: bytes of payload */
    struct whole whole[BATCH_WHOLE];
    uint8_t payload[BATCH_PAYLOAD];
};

/* ---- the thread that judges ---- */

/* Into an event of this shape, which the thread that feeds made before it handed on the first. */
static inline const struct nocap_event *unpack(const struct nocap_engine *engine,
                                               const struct batch *batch, const struct carried *c)
{
    struct nocap_event *e = &engine->table[c->shape];
    e->index = batch->index + c->index;
    e->t = batch->t + c->t;
    e->addr = c->addr;
    e->size = c->size;
    e->value = c->value;
    e->slot[SLOT_PC] = c->pc;
    e->slot[SLOT_SEM] = c->sem;
    e->src = c->src;
    e->chip = c->chip;
    e->at = c->at;
    return e;
}

static void take_batch(void *context, void *from)
{
    struct nocap_engine *engine = context;
    struct model *m = &engine->model;
    struct batch *batch = from;
    const struct carried *const end = batch->carried + batch->count;
    for (const struct carried *c = batch->carried; c < end; c++) {
        __builtin_prefetch((const uint8_t *)c + 2 * CARRY_AHEAD * CACHE_LINE);
        if (m->tiles.count > FETCH_TILES && c + FETCH_AHEAD < end) {
            fetch_tile(m, tile_key(c[FETCH_AHEAD].chip, c[FETCH_AHEAD].at));
        }
        if (c->whole == 0) {
            const struct nocap_event *e = unpack(engine, batch, c);
            begin_event(engine, e);
            take_loss(engine);
            decode_plain(m, e, &c->prepared);
            end_event(m, e);
        } else {
            const struct whole *whole = &batch->whole[c->whole - 1];
            begin_event(engine, &whole->event);
            take_other(engine, &whole->event, &whole->form);
            end_event(m, &whole->event);
        }
    }
    batch->count = batch->whole_count = batch->used = 0;
}

void engine_feed_beside(struct nocap_engine *engine)
{
    engine->table = malloc((NOCAP_SHAPES + 1) * sizeof *engine->table);
    if (engine->table != NULL) {
        engine->relay = relay_open(sizeof(struct batch), BATCHES, take_batch, engine);
    }
}

/* ---- the thread that feeds ---- */

static void hand_on(struct nocap_engine *engine)
{
    if (engine->batch != NULL && engine->batch->count > 0) {
        relay_hand_on(engine->relay);
    }
    engine->batch = NULL;
}

/* What the event points to lives until the feed returns. False: it is too long to be copied. */
static bool keep_payload(struct batch *batch, struct nocap_event *e)
{
    uint8_t *to = batch->payload + batch->used;
    const size_t room = BATCH_PAYLOAD - batch->used;
    if (e->data_size > room || e->extra_size > room - e->data_size) {
        return false;
    }
    if (e->data_size > 0) {
        e->data = memcpy(to, e->data, e->data_size);
    }
    if (e->extra_size > 0) {
        e->extra = memcpy(to + e->data_size, e->extra, e->extra_size);
    }
    batch->used += e->data_size + e->extra_size;
    return true;
}

/* False: it points to what was not copied. */
static __attribute__((noinline)) bool carry_whole(struct batch *batch, struct carried *c,
                                                  const struct nocap_event *e,
                                                  const struct form *form)
{
    struct whole *whole = &batch->whole[batch->whole_count++];
    whole->event = *e;
    whole->form = *form;
    c->chip = e->chip;
    c->at = e->at;
    c->whole = (uint16_t)batch->whole_count;
    return keep_payload(batch, &whole->event);
}

/* Whether all else is 0 that a struct carried and its shape have no room for. */
static inline bool is_short(const struct batch *batch, const struct nocap_event *e)
{
    const uint64_t *s = e->slot;
    const uint64_t high = (e->index - batch->index) | (e->t - batch->t) | e->size;
    uint64_t sizes, places;
    uint16_t to;
    memcpy(&sizes, &e->data_size, sizeof sizes);
    memcpy(&places, &e->s, sizeof places);
    memcpy(&to, &e->to, sizeof to);
    return (high >> 32 | s[0] | s[5] | s[6] | s[7] | s[9] | s[10] | s[11] | sizes | places | to) ==
           0;
}

static inline void carry_short(const struct batch *batch, struct carried *c,
                               const struct nocap_event *e)
{
    c->addr = e->addr;
    c->value = e->value;
    c->sem = e->slot[SLOT_SEM];
    c->index = (uint32_t)(e->index - batch->index);
    c->t = (uint32_t)(e->t - batch->t);
    c->size = (uint32_t)e->size;
    c->pc = e->slot[SLOT_PC];
    c->src = e->src;
    c->chip = e->chip;
    c->at = e->at;
    c->shape = e->shape;
    c->whole = 0;
}

/* Of one that is usual. False: it does not fit. */
static inline bool carry_line(struct nocap_engine *engine, struct carried *c,
                              const struct nocap_event *e)
{
    if (!is_short(engine->batch, e)) {
        return false;
    }
    const enum observation_kind kind = kind_of(engine, e);
    if (kind == OBS_KINDS) {
        return false;
    }
    carry_short(engine->batch, c, e);
    return decode_prepare(&engine->model, e, kind, &c->prepared);
}

/* The one that takes the event: another, if what it points to has no more room in this one. */
static inline struct batch *batch_for(struct nocap_engine *engine, const struct nocap_event *e)
{
    const uint64_t payload = (uint64_t)e->data_size + e->extra_size;
    if (engine->batch != NULL && payload > BATCH_PAYLOAD - engine->batch->used) {
        hand_on(engine);
    }
    if (engine->batch == NULL) {
        engine->batch = relay_next(engine->relay);
        engine->batch->index = e->index;
        engine->batch->t = e->t;
    }
    return engine->batch;
}

static void carry(struct nocap_engine *engine, const struct nocap_event *e)
{
    struct form form;
    struct batch *batch = batch_for(engine, e);
    struct carried *c = &batch->carried[batch->count++];
    __builtin_prefetch((const uint8_t *)c + CARRY_AHEAD * CACHE_LINE, 1);
    const bool usual = is_usual(engine, e, &form);
    bool kept = true;
    if (!usual || engine->gap || !carry_line(engine, c, e)) {
        if (usual) {
            form = (struct form){.usable = true};
        }
        form.lost = engine->gap;
        engine->gap = false;
        kept = carry_whole(batch, c, e, &form);
    }
    if (!kept || batch->count == BATCH_EVENTS || batch->whole_count == BATCH_WHOLE) {
        hand_on(engine);
    }
    if (!kept) {
        relay_settle(engine->relay);
    }
}

/* ---- feeding ---- */

enum nocap_status nocap_engine_feed(struct nocap_engine *engine, const struct nocap_event *events,
                                    size_t count, struct nocap_error *err)
{
    struct model *m = &engine->model;
    struct form form;
    if (engine->relay != NULL) {
        for (size_t i = 0; i < count; i++) {
            carry(engine, &events[i]);
        }
        return NOCAP_OK;
    }
    const bool alone = !engine->wanted && m->judged == NULL;
    for (const struct nocap_event *e = events; e < events + count; e++) {
        if (m->tiles.count > FETCH_TILES && e + FETCH_AHEAD < events + count) {
            fetch_tile(m, tile_key_of(&e[FETCH_AHEAD]));
        }
        const bool usual = is_usual(engine, e, &form);
        if (alone && usual && !engine->lost && model_is_tensix(m, e->at)) {
            m->last_t = e->t;
            continue; /* of a worker core rules TRC have nothing more to say */
        }
        begin_event(engine, e);
        if (!usual) {
            take_other(engine, e, &form);
        } else {
            take_loss(engine);
            if (engine->wanted) {
                decode_of_kind(m, e, kind_of(engine, e));
            } else {
                place_event(m, e);
            }
        }
        end_event(m, e);
    }
    RETURN_ERROR_IF(m->out_of_memory, err, NOCAP_E_MEMORY, "out of memory while replaying");
    return NOCAP_OK;
}

enum nocap_status nocap_engine_settle(struct nocap_engine *engine, struct nocap_error *err)
{
    if (engine->relay != NULL) {
        hand_on(engine);
        relay_settle(engine->relay);
    }
    RETURN_ERROR_IF(engine->model.out_of_memory, err, NOCAP_E_MEMORY,
                    "out of memory while replaying");
    return NOCAP_OK;
}

enum nocap_status nocap_engine_settle_alone(struct nocap_engine *engine, struct nocap_error *err)
{
    enum nocap_status status = nocap_engine_settle(engine, err);
    relay_close(engine->relay);
    engine->relay = NULL;
    engine->lost |= engine->gap;
    engine->gap = false;
    return status;
}
