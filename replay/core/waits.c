/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/waits.h"

#include "replay/core/engine_private.h"
#include "replay/core/progress.h"
#include "replay/core/telling.h"

static void tile_waits(struct telling *t)
{
    const struct model_ops *const *models = t->m->models;
    for (unsigned id = 0; id < MODELS; id++) {
        if (models[id]->tile_settle != NULL) {
            models[id]->tile_settle(t->tile);
        }
    }
    for (unsigned id = 0; id < MODELS; id++) {
        if (models[id]->tile_waits != NULL) {
            models[id]->tile_waits(t);
        }
    }
}

void nocap_engine_waits(struct nocap_engine *engine, nocap_wait_sink *sink, void *context)
{
    struct telling t = {.m = &engine->model, .sink = sink, .context = context};
    const struct tile_table *table = &t.m->tiles;
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
        t.tile = table->slots[i];
        if (t.tile != NULL && !wait_queue_owns(&t)) {
            tile_waits(&t);
        }
    }
    t.tile = NULL;
    for (unsigned id = 0; id < MODELS; id++) {
        if (t.m->models[id]->waits != NULL) {
            t.m->models[id]->waits(&t);
        }
    }
}

static bool shows_go(const struct model *m, const struct tile *tile)
{
    uint8_t signal;
    int active = tile_go_index(m, tile);
    uint32_t at = nocap_go_word_address(m->layout, active < 0 ? 0 : (unsigned)active);
    return shadow_byte(&tile->l1, at + NOCAP_GO_SIGNAL_BYTE, &signal) &&
           nocap_go_name(signal) != NULL;
}

bool nocap_engine_shows_waits(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    bool shows = trace_of(m)->acted;
    for (uint32_t i = 0; !shows && m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        shows = m->tiles.slots[i] != NULL && shows_go(m, m->tiles.slots[i]);
    }
    return shows;
}

bool nocap_engine_queue_open(const struct nocap_engine *engine)
{
    bool open = false;
    for (uint32_t i = 0; i < engine->model.queue_count; i++) {
        open |= engine->model.queues[i].open;
    }
    return open;
}

struct nocap_progress nocap_engine_progress(const struct nocap_engine *engine, uint64_t *end)
{
    *end = trace_of(&engine->model)->end;
    struct nocap_progress all = trace_of(&engine->model)->all;
    const struct tile_table *table = &engine->model.tiles;
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
        const struct tile *tile = table->slots[i];
        if (tile != NULL && progress_of(tile)->all.max_gap > all.max_gap) {
            all.max_gap = progress_of(tile)->all.max_gap;
        }
    }
    return all;
}

bool nocap_engine_gave_up(const struct nocap_engine *engine, struct nocap_gave_up *last_look)
{
    *last_look = trace_of(&engine->model)->gave_up;
    return last_look->index != NO_INDEX;
}
