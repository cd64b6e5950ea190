/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/waits.h"

#include "replay/core/engine_private.h"
#include "replay/core/progress.h"
#include "replay/core/wait_builder.h"

void nocap_engine_waits(struct nocap_engine *engine, nocap_wait_sink *sink, void *context)
{
    struct wait_builder t = {.m = &engine->model, .sink = sink, .context = context};
    for (uint32_t i = 0; i < t.m->tiles.count; i++) {
        t.tile = t.m->tiles.met[i];
        if (!wait_queue_owns(t.m, t.tile)) {
            EACH_MODEL(t.m, tile_settle, t.m, t.tile);
            EACH_MODEL(t.m, tile_waits, &t);
        }
    }
    t.tile = NULL;
    EACH_MODEL(t.m, waits, &t);
}

static bool shows_go(const struct model *m, const struct tile *tile)
{
    uint8_t signal;
    return shadow_byte(&tile->l1, tile_signal_address(m, tile), &signal) &&
           nocap_go_name(signal) != NULL;
}

/* Cores act, and whether they wait would show neither in their launch nor in what they, or the
 * host, poll, nor at barriers. */
static bool hides_cores(const struct model *m, const struct tile *tile)
{
    const uint32_t acts = NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_KERNEL | NOCAP_CLASS_NOC |
                          NOCAP_CLASS_CORE_MMIO,
                   polls = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_NOC_BARRIER;
    const struct launch_facts *l = &tile->launch;
    bool shown = trace_of(m)->polls || (m->header->observes & polls) != 0 ||
                 (tile->sees_cores && (l->active != UNKNOWN || l->pending != UNKNOWN));
    return tile->in_scope && (m->header->observes & acts) != 0 && !shown &&
           progress_of(tile)->all.index != NO_INDEX;
}

const char *nocap_engine_unexplained(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    return m->unexplained ? "mailbox" : m->queue_unexplained ? "command queue" : NULL;
}

bool nocap_engine_shows_waits(const struct nocap_engine *engine)
{
    if (engine->model.header->arch == NOCAP_ARCH_WORMHOLE) {
        return false; /* whose cores are not followed */
    }
    const struct model *m = &engine->model;
    bool shows = trace_of(m)->shows, hides = false;
    for (uint32_t i = 0; i < m->tiles.count; i++) {
        shows |= shows_go(m, m->tiles.met[i]);
        hides |= hides_cores(m, m->tiles.met[i]);
    }
    return shows && !hides;
}

bool nocap_engine_queue_open(const struct nocap_engine *engine)
{
    bool open = false;
    for (uint32_t i = 0; i < engine->model.queue_count; i++) {
        open |= engine->model.queues[i].open;
    }
    return open;
}

bool nocap_engine_queue_hidden(const struct nocap_engine *engine)
{
    bool open = nocap_engine_queue_open(engine);
    return open && engine->model.header->observes == NOCAP_CLASS_HOST_MMIO;
}

bool nocap_engine_queue_unsure(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    const struct poll *l = progress_poll_of(&trace_of(m)->memory);
    bool used = false, unsure = false;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        used |= m->queues[i].used;
        unsure |= m->queues[i].open && m->queues[i].unsure;
    }
    return unsure || (!used && l != NULL && l->count >= PROGRESS_LONG);
}

bool nocap_engine_jobs_unsure(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    const bool shown = (m->header->observes & NOCAP_CLASS_CERT) != 0;
    return m->jobs_unsure || (m->header->arch == NOCAP_ARCH_AIE2PS && !shown);
}

uint64_t nocap_engine_dropped_at(const struct nocap_engine *engine)
{
    return engine->dropped_at;
}

bool nocap_engine_unanswered(const struct nocap_engine *engine, uint64_t *since)
{
    const struct model *m = &engine->model;
    *since = UINT64_MAX;
    for (uint32_t i = 0; i < m->tiles.count; i++) {
        const struct event_ref *first = &m->tiles.met[i]->launch.unanswered;
        bool counts = first->index != NO_INDEX && !wait_queue_owns(m, m->tiles.met[i]);
        *since = counts && first->t < *since ? first->t : *since;
    }
    return *since != UINT64_MAX;
}

struct nocap_progress nocap_engine_progress(const struct nocap_engine *engine, uint64_t *end)
{
    *end = trace_of(&engine->model)->end;
    struct nocap_progress all = trace_of(&engine->model)->all;
    const struct tile_table *table = &engine->model.tiles;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t gap = progress_of(table->met[i])->all.max_gap;
        all.max_gap = gap > all.max_gap ? gap : all.max_gap;
    }
    return all;
}

static bool stands_out(const struct nocap_slow_wait *wait)
{
    enum { AMONG = 4, TIMES = 8 }; /* so many waits, and so many times as long as the others */
    return wait->count >= AMONG && wait->others > 0 && wait->took / TIMES >= wait->others;
}

bool nocap_engine_slow_wait(const struct nocap_engine *engine, struct nocap_slow_wait *wait)
{
    const struct trace_progress *p = trace_of(&engine->model);
    *wait = stands_out(&p->slow) ? p->slow : p->memory_slow;
    return stands_out(wait);
}

bool nocap_engine_gave_up(const struct nocap_engine *engine, struct nocap_gave_up *last_look)
{
    *last_look = trace_of(&engine->model)->gave_up;
    return last_look->index != NO_INDEX;
}
