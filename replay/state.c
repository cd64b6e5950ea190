#include "replay/state.h"

#include <stdlib.h>
#include <string.h>

#include "replay/engine_private.h"
#include "replay/gate.h"

_Static_assert((int)UNKNOWN == (int)NOCAP_UNKNOWN && (int)NO == (int)NOCAP_NO &&
                   (int)YES == (int)NOCAP_YES,
               "the same three");

static int by_place(const void *a, const void *b)
{
    const struct nocap_tile_place *p = a, *q = b;
    if (p->chip != q->chip) {
        return p->chip < q->chip ? -1 : 1;
    }
    if (p->at.y != q->at.y) {
        return p->at.y < q->at.y ? -1 : 1;
    }
    return (p->at.x > q->at.x) - (p->at.x < q->at.x);
}

struct nocap_tile_place *nocap_engine_tiles(const struct nocap_engine *engine, size_t *count)
{
    const struct tile_table *table = &engine->model.tiles;
    struct nocap_tile_place *places = calloc((size_t)table->count + 1, sizeof *places);
    *count = 0;
    for (uint32_t i = 0; places != NULL && table->slots != NULL && i <= table->mask; i++) {
        if (table->slots[i] != NULL) {
            places[(*count)++] =
                (struct nocap_tile_place){table->slots[i]->chip, table->slots[i]->at};
        }
    }
    if (places != NULL) {
        qsort(places, *count, sizeof *places, by_place);
    }
    return places;
}

static const char *phase_name(const struct boot *b)
{
    switch (b->phase) {
    case BOOT_POWER_ON: return "powered on";
    case BOOT_HELD: return "held in reset";
    case BOOT_RELEASED: return "booting";
    case BOOT_DONE: return "ready";
    default: return b->running[NOCAP_PROCESSOR_BRISC] == YES ? "running" : "unknown";
    }
}

static void fill_cores(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    for (unsigned p = 0; p < CORES; p++) {
        const struct kernel *k = &tile->launch.kernels[p];
        struct nocap_core_state *c = &s->cores[p];
        *c = (struct nocap_core_state){
            .agent = nocap_cores[p].agent,
            .running = (enum nocap_known)tile->boot.running[p],
            .in_kernel = (enum nocap_known)k->inside,
            .entered = k->enter_index,
            .left = k->exit_index,
            .pc = tile->pace.agents[PACE_CORE0 + p].pc,
            .pc_index = tile->pace.agents[PACE_CORE0 + p].pc_index,
            .waypoint = tile->pace.agents[PACE_CORE0 + p].waypoint,
            .kernel = m->pace->kernels[tile->pace.agents[PACE_CORE0 + p].kernel],
            .has_sync = nocap_cores[p].sync_byte >= 0};
        c->sync_known =
            c->has_sync &&
            shadow_byte(&tile->l1, NOCAP_SYNC + (uint32_t)nocap_cores[p].sync_byte, &c->sync);
    }
}

static void fill_mailbox(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    s->rd_ptr_known = shadow_word(&tile->l1, NOCAP_RD_PTR, &s->rd_ptr);
    s->go_index_known = shadow_word(&tile->l1, m->layout->go_message_index, &s->go_index);
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t word;
        s->go[i].known = shadow_word(&tile->l1, nocap_go_word_address(m->layout, i), &word);
        s->go[i].word = s->go[i].known ? nocap_go_decode(word) : (struct nocap_go_word){0};
    }
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        s->slots[i].known = launch_read_message(m, tile, i, &s->slots[i].message);
        s->slots[i].fresh = (enum nocap_known)tile->launch.slots[i].fresh;
    }
}

static void fill_threads(const struct tile *tile, struct nocap_tile_state *s)
{
    const struct gate *g = tile->gate;
    for (unsigned i = 0; i < THREADS; i++) {
        s->threads[i].lost = tile->gate_lost;
    }
    if (g == NULL) {
        return;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        const struct gate_thread *t = &g->threads[i];
        bool lost = t->stream.searching || !t->stream.trusted;
        s->threads[i] = (struct nocap_thread_state){.pending = stream_count(&t->stream),
                                                    .lost = lost,
                                                    .held = t->held,
                                                    .held_word = t->held_word,
                                                    .held_index = t->held_at.index};
        struct gate_latch latch;
        uint32_t blocking;
        if ((t->held || t->latch.sure) && gate_holding(g, i, &latch, &blocking) == GATE_HOLDS) {
            gate_describe(g, i, s->threads[i].condition, sizeof s->threads[i].condition);
        }
    }
    s->semaphores_known = g->value_known;
    memcpy(s->semaphore, g->value, sizeof s->semaphore);
}

_Static_assert((int)NOCAP_STATE_NOCS == (int)PACE_NOCS &&
                   (int)NOCAP_STATE_REQUESTS == (int)PACE_OPS,
               "the same");
const char *const nocap_request_names[NOCAP_STATE_REQUESTS] = {
    [PACE_READ] = "reads", [PACE_WRITE] = "writes", [PACE_ATOMIC] = "atomics"};

static void fill_requests(const struct tile *tile, struct nocap_tile_state *s)
{
    for (unsigned noc = 0; noc < PACE_NOCS; noc++) {
        for (unsigned op = 0; op < PACE_OPS; op++) {
            const struct pace_requests *r = &tile->pace.requests[noc][op];
            s->requests[noc][op] = (struct nocap_request_state){r->issued, r->ended};
        }
    }
}

bool nocap_engine_tile_state(const struct nocap_engine *engine, uint16_t chip, struct nocap_xy at,
                             struct nocap_tile_state *s)
{
    const struct tile *tile = tile_find(&engine->model, chip, at);
    if (tile == NULL) {
        return false;
    }
    const struct launch *l = &tile->launch;
    *s = (struct nocap_tile_state){
        .chip = chip,
        .at = at,
        .in_scope = tile->in_scope,
        .phase = phase_name(&tile->boot),
        .go_pending = (enum nocap_known)l->go_pending,
        .go_written = l->go.index,
        .active = (enum nocap_known)l->active,
        .active_slot = l->slot,
        .last_done = l->done.index,
        .request = l->request,
        .notify_owed = l->notify_owed,
    };
    fill_cores(&engine->model, tile, s);
    fill_mailbox(&engine->model, tile, s);
    fill_threads(tile, s);
    fill_requests(tile, s);
    return true;
}
