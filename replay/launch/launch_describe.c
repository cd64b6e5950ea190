/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a tile's firmware and launches, for people who want to look. */
#include "replay/core/progress.h"
#include "replay/core/state.h"
#include "replay/launch/launch_private.h"

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
        const struct kernel *k = &launch_of(tile)->kernels[p];
        const struct progress_agent *agent = &progress_of(tile)->agents[PROGRESS_CORE0 + p];
        struct nocap_core_state *c = &s->cores[p];
        *c = (struct nocap_core_state){.agent = nocap_cores[p].agent,
                                       .running = (enum nocap_known)boot_of(tile)->running[p],
                                       .in_kernel = (enum nocap_known)k->inside,
                                       .entered = k->enter_index,
                                       .left = k->exit_index,
                                       .pc = agent->pc,
                                       .pc_index = agent->pc_index,
                                       .waypoint = agent->waypoint,
                                       .kernel = trace_of(m)->kernels[agent->kernel],
                                       .has_sync = nocap_cores[p].sync_byte >= 0};
        c->sync_known = c->has_sync && launch_sync_byte(m, tile, p, &c->sync);
        if (launch_runs_unseen(tile)) {
            c->in_kernel = NOCAP_UNKNOWN;
            c->running = c->has_sync ? NOCAP_UNKNOWN : c->running;
        }
    }
}

/* The host saw DONE last, where no other observation could show it stored. */
static bool host_saw_done(const struct tile *tile)
{
    const struct launch *l = launch_of(tile);
    bool launched = l->go.index != NO_INDEX;
    return launch_runs_unseen(tile) &&
           (launched ? launch_is_done(l) : boot_of(tile)->phase == BOOT_DONE);
}

static void fill_mailbox(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    s->rd_ptr_known = shadow_word(&tile->l1, m->layout->rd_ptr, &s->rd_ptr);
    s->go_index_known = shadow_word(&tile->l1, m->layout->go_message_index, &s->go_index);
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t word;
        s->go[i].known = shadow_word(&tile->l1, nocap_go_word_address(m->layout, i), &word);
        s->go[i].word = s->go[i].known ? nocap_go_decode(word) : (struct nocap_go_word){0};
    }
    int active = tile_go_index(m, tile);
    if (host_saw_done(tile)) {
        s->go[active < 0 ? 0 : active].word.signal = NOCAP_GO_DONE;
    }
}

static void fill_slots(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        const struct nocap_launch *message = launch_message(m, tile, (int)i);
        s->slots[i].known = message != NULL;
        s->slots[i].message = message != NULL ? *message : (struct nocap_launch){0};
        s->slots[i].fresh = (enum nocap_known)launch_of(tile)->slots[i].fresh;
    }
}

static void fill_launch(const struct tile *tile, struct nocap_tile_state *s)
{
    const struct launch *l = launch_of(tile);
    s->phase = phase_name(boot_of(tile));
    s->go_pending = (enum nocap_known)l->go_pending;
    s->under_way = l->open;
    s->go_written = l->go.index;
    s->active = (enum nocap_known)l->active;
    s->active_slot = l->slot;
    s->last_done = l->done.index;
    s->request = l->request;
    s->notify_pending = l->notify_pending;
}

void launch_describe(const struct model *m, const struct tile *tile, unsigned parts,
                     struct nocap_tile_state *s)
{
    if ((parts & NOCAP_STATE_MAILBOX) != 0) {
        fill_launch(tile, s);
        fill_cores(m, tile, s);
        fill_mailbox(m, tile, s);
    }
    if ((parts & NOCAP_STATE_SLOTS) != 0) {
        fill_slots(m, tile, s);
    }
}
