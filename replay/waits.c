#include "replay/waits_private.h"

#include "replay/cq.h"
#include "replay/engine_private.h"

struct nocap_party wait_party_at(const struct telling *t, unsigned agent, struct nocap_xy at)
{
    return (struct nocap_party){.chip = t->tile != NULL ? t->tile->chip : t->chip,
                                .has_tile = true,
                                .at = at,
                                .agent = (uint8_t)agent,
                                .job = -1};
}

struct nocap_party wait_party(const struct telling *t, unsigned agent)
{
    return t->tile != NULL ? wait_party_at(t, agent, t->tile->at)
                           : (struct nocap_party){.agent = (uint8_t)agent, .job = -1};
}

struct nocap_wait wait_begin(const struct telling *t, unsigned agent, struct moment since)
{
    return (struct nocap_wait){
        .who = wait_party(t, agent),
        .by = {.agent = NOCAP_BY_NONE, .job = -1},
        .state = "waiting",
        .since = since.t,
        .index = since.index,
        .thread = -1,
        .pace = t->tile != NULL ? t->tile->pace.all : t->m->pace->all,
    };
}

void wait_tell(const struct telling *t, const struct nocap_wait *wait)
{
    t->sink(t->context, wait);
}

void nocap_engine_waits(struct nocap_engine *engine, nocap_wait_sink *sink, void *context)
{
    struct telling t = {.m = &engine->model, .sink = sink, .context = context};
    const struct tile_table *table = &t.m->tiles;
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
        t.tile = table->slots[i];
        if (t.tile != NULL && !waits_cq_owns(&t)) {
            waits_tile(&t);
            if (!wait_in_reset(t.tile)) {
                waits_gate(&t);
                waits_said(&t);
            }
        }
    }
    t.tile = NULL;
    waits_cq(&t);
    if (t.m->cert != NULL) {
        waits_cert(&t);
    }
}

static bool shows_go(const struct model *m, const struct tile *tile)
{
    uint8_t signal;
    int active = launch_go_index(m, tile);
    uint32_t at = nocap_go_word_address(m->layout, active < 0 ? 0 : (unsigned)active);
    return shadow_byte(&tile->l1, at + NOCAP_GO_SIGNAL_BYTE, &signal) &&
           nocap_go_name(signal) != NULL;
}

bool nocap_engine_shows_waits(const struct nocap_engine *engine)
{
    const struct model *m = &engine->model;
    bool shows = m->pace->acted;
    for (uint32_t i = 0; !shows && m->tiles.slots != NULL && i <= m->tiles.mask; i++) {
        shows = m->tiles.slots[i] != NULL && shows_go(m, m->tiles.slots[i]);
    }
    return shows;
}

bool nocap_engine_queue_open(const struct nocap_engine *engine)
{
    bool open = false;
    for (const struct cq *q = engine->model.cq; q != NULL; q = q->next) {
        open |= q->any && !q->program.prefetch_terminated && q->program.terminated == NO_INDEX;
    }
    return open;
}

struct nocap_pace nocap_engine_pace(const struct nocap_engine *engine, uint64_t *end)
{
    *end = engine->model.pace->end;
    struct nocap_pace all = engine->model.pace->all;
    const struct tile_table *table = &engine->model.tiles;
    for (uint32_t i = 0; table->slots != NULL && i <= table->mask; i++) {
        const struct tile *tile = table->slots[i];
        if (tile != NULL && tile->pace.all.longest > all.longest) {
            all.longest = tile->pace.all.longest;
        }
    }
    return all;
}

bool nocap_engine_gave_up(const struct nocap_engine *engine, struct nocap_gave_up *last_look)
{
    const struct trace_pace *p = engine->model.pace;
    *last_look =
        (struct nocap_gave_up){p->gave_up.index, p->gave_up.t, p->gave_up_chip, p->gave_up_at};
    return p->gave_up.index != NO_INDEX;
}
