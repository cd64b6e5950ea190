/* SPDX-License-Identifier: Apache-2.0 */
/* Launch as a model: which observation concerns which of its three parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/launch/launch_private.h"

/* ---- findings that the future decides ---- */

/* Keeps a finding until it is known whether the tile's BRISC runs. */
static void defer(struct model *m, const struct tile *tile, const struct nocap_divergence *d)
{
    struct launch_tile *part = part_of(tile);
    if (part->deferred == NULL) {
        part->deferred = calloc(1, sizeof *part->deferred);
        m->out_of_memory |= part->deferred == NULL;
    }
    struct deferred *list = part->deferred;
    if (list != NULL && list->count < DEFERRED_MAX) {
        list->findings[list->count] = *d;
        snprintf(list->texts[list->count++], OBSERVED_TEXT, "%s", d->observed);
    }
}

void deferred_report(struct model *m, struct tile *tile)
{
    struct deferred *list = part_of(tile)->deferred;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        list->findings[i].observed = list->texts[i];
        if (m->diverged != NULL) {
            m->diverged(m->context, &list->findings[i]);
        }
    }
    deferred_drop(tile);
}

void deferred_drop(struct tile *tile)
{
    free(part_of(tile)->deferred);
    part_of(tile)->deferred = NULL;
}

/* ---- judging ---- */

/* Host and dispatcher write go words as one word, and where they do depends on the layout. */
static void notice_layout(struct model *m, const struct access *a)
{
    struct launch_state *s = state_of(m);
    uint32_t go = m->layout->go_messages, word;
    if (s->layout_fits || a->size != NOCAP_GO_WORD_SIZE || !access_word(a, a->addr, &word)) {
        return;
    }
    uint8_t signal = nocap_go_decode(word).signal;
    if (signal != NOCAP_GO_INIT && signal != NOCAP_GO_GO) {
        return;
    }
    s->layout_fits = a->addr >= go && a->addr < go + NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE;
    const struct nocap_mailbox_layout *other = nocap_layout_from_go_address(a->addr);
    if (other != NULL && a->addr == other->go_messages) {
        s->other_layout = other;
    }
    m->other_go_words =
        s->layout_fits || s->other_layout == NULL ? 0 : s->other_layout->go_messages;
}

/* The core does something: it is out of reset. */
static __attribute__((noinline)) void core_shows(struct model *m, struct tile *tile,
                                                 unsigned processor)
{
    struct launch_tile *part = part_of(tile);
    if (part->boot.running[processor] != YES) {
        boot_core_runs(m, tile, processor);
        part->changed = true;
    }
    if (processor == NOCAP_PROCESSOR_BRISC) {
        deferred_report(m, tile);
    }
}

static inline void core_runs(struct model *m, struct tile *tile, unsigned agent)
{
    const unsigned processor = agent - NOCAP_BY_BRISC;
    struct launch_tile *part = part_of(tile);
    part->shown = true;
    if (part->boot.running[processor] != YES || part->deferred != NULL) {
        core_shows(m, tile, processor);
    }
}

static void forget_tile(struct model *m, struct tile *tile)
{
    const struct launch *l = launch_of(tile);
    if (l->open || l->active == YES) {
        launch_report(m, tile, false);
    }
    fault_id since[SUBORDINATES], rd_since = l->rd_since;
    memcpy(since, sync_of(tile)->since, sizeof since);
    deferred_drop(tile);
    boot_init(tile, false);
    launch_init(tile, false);
    memcpy(sync_of(tile)->since, since, sizeof since); /* of what is still known of its memory */
    launch_of(tile)->rd_since = rd_since;
    part_of(tile)->changed = true;
}

/* What is stored there decides on facts. */
enum { DECISIVE = PLACE_MAILBOX | PLACE(SOFT_RESET) };

/* What was stored was not captured, is part of a word that is stored whole, or comes from a core
 * that takes others into reset and has no business to: what it did is not known. */
static __attribute__((noinline)) bool loses(const struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    const bool core = o->kind == OBS_CORE_STORE;
    /* a subordinate's store to its byte is an answer, whatever it brings */
    const bool answer = o->places == PLACE(SYNC) && a->by != NOCAP_BY_BRISC;
    uint32_t v;
    return (core && a->known < a->size && !answer) ||
           ((o->places & PLACE(SOFT_RESET)) != 0 &&
            (!access_word(a, NOCAP_REG_SOFT_RESET_0, &v) || (core && a->by != NOCAP_BY_BRISC))) ||
           (core && (o->places & PLACE(RD_PTR)) != 0 &&
            !shadow_word_after(&o->tile->l1, m->layout->rd_ptr, a, &v));
}

static inline bool is_unknown(const struct model *m, const struct observation *o)
{
    return (o->places & DECISIVE) != 0 && loses(m, o);
}

/* What is in the launch ring was not stored by host or dispatcher. */
static void messages_change(const struct observation *o)
{
    for (unsigned i = 0; (o->places & PLACE(LAUNCH)) != 0 && i < NOCAP_LAUNCH_SLOTS; i++) {
        launch_of(o->tile)->slots[i].read = UNKNOWN;
    }
}

/* Most that cores store is work. */
static bool sync_concerned(const struct observation *o)
{
    const struct sync *s = sync_of(o->tile);
    return (o->places & PLACE(SYNC)) != 0 || s->initialising || s->group != 0 ||
           o->region->region == NOCAP_REGION_PC_BUF0 ||  /* where coprocessors are drained */
           o->region->region == NOCAP_REGION_TENSIX_CFG; /* and caches invalidated */
}

static void core_store(struct model *m, const struct observation *o)
{
    if (is_unknown(m, o)) {
        forget_tile(m, o->tile);
        return;
    }
    if (boot_of(o->tile)->phase == BOOT_RELEASED ||
        (o->places & (PLACE(SOFT_RESET) | PLACE(DEBUG))) != 0) {
        boot_core_store(m, o);
    }
    if (sync_concerned(o)) {
        sync_core_store(m, o);
    }
    if (o->access.addr < NOCAP_L1_SIZE) {
        launch_core_store(m, o);
        messages_change(o);
    }
}

static void outside_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    boot_write_combining(m, o);
    m->withhold = boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] == UNKNOWN ? defer : NULL;
    fault_id since = sync_outside_store(m, tile, &o->access);
    launch_judge_outside_store(m, o, since);
    if (is_unknown(m, o)) {
        forget_tile(m, tile);
    } else {
        boot_outside_store(m, o);
    }
    m->withhold = NULL;
    launch_note_image(m, o);
}

static void core_event(struct model *m, struct tile *tile, const struct nocap_event *e, bool enters)
{
    core_runs(m, tile, e->by);
    state_of(m)->kernels_shown = true;
    if (enters) {
        sync_kernel_enter(m, tile, e->by);
        launch_kernel_enter(m, tile, e);
    } else {
        launch_kernel_exit(m, tile, e);
        sync_forget_drain(tile, e->by);
    }
}

/* What may change memory or a fact: most that cores do is work, and most that arrives is data. */
static bool matters(const struct observation *o)
{
    return o->kind >= OBS_PLACED ? o->kind != OBS_REQUEST
                                 : (o->places & DECISIVE) != 0 ||
                                       (o->kind == OBS_OUTSIDE_STORE && o->places != PLACE(L1));
}

static inline void tell(struct model *m, const struct observation *o)
{
    if (matters(o) || part_of(o->tile)->changed) {
        model_apply_due(m, MODEL_LAUNCH);
    }
}

static void check_core_store(struct model *m, const struct observation *o)
{
    core_runs(m, o->tile, o->access.by);
    core_store(m, o);
    tell(m, o);
}

static void check_core_load(struct model *m, const struct observation *o)
{
    core_runs(m, o->tile, o->access.by);
    if ((o->places & PLACE(COPROCESSOR)) != 0 && touches(&o->access, NOCAP_REG_TTSYNC, 4)) {
        sync_drain_step(o->tile, o->access.by, DRAIN_STORED, DRAIN_LOADED);
    }
    tell(m, o);
}

static void check(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    if (tile == NULL) {
        return;
    }
    switch (o->kind) {
    case OBS_OUTSIDE_STORE: outside_store(m, o); break;
    case OBS_HOST_LOAD:
        boot_write_combining(m, o);
        boot_host_read(m, tile, a);
        launch_host_read(m, tile, a);
        break;
    case OBS_REQUEST: launch_noc(m, tile, o->event); break;
    case OBS_ENTER:
    case OBS_EXIT: core_event(m, tile, o->event, o->kind == OBS_ENTER); break;
    case OBS_RUN:
    case OBS_HALT: boot_reset_event(m, tile, o->event->by, o->kind == OBS_RUN); break;
    case OBS_MEMORY:
        sampled_judge(m, o);
        messages_change(o);
        break;
    default: break;
    }
    tell(m, o);
}

/* ---- what others can see ---- */

static void publish(struct tile *tile)
{
    const struct boot *b = boot_of(tile);
    const struct launch *l = launch_of(tile);
    struct launch_facts *f = &tile->launch;
    memcpy(f->kernels, l->kernels, sizeof f->kernels);
    memcpy(f->running, b->running, sizeof f->running);
    f->active = l->active;
    f->pending = l->go_pending;
    f->in_reset = b->running[NOCAP_PROCESSOR_BRISC] == NO && boot_uploading(tile);
    f->begun = l->begun;
    f->shown = part_of(tile)->shown;
    f->message_known = l->message_known;
    f->enables = (uint8_t)l->message.enables;
    f->request = l->request;
    f->request_done = l->request_done;
    f->advance = l->advance;
    f->notify_pending = l->notify_pending;
    f->master = l->master;
    f->master_since = l->master_since;
    f->slot_since = since_or(l->rd_since, l->slot_since);
    f->ignored_since = since_or(l->ignored_since, b->text_since);
    f->requested = l->requested;
    f->done = l->done;
    part_of(tile)->changed = false;
}

static void apply(struct model *m, const struct observation *o)
{
    if (o->kind == OBS_OUTSIDE_STORE) {
        notice_layout(m, &o->access);
        launch_take_outside_store(m, o);
    } else if (o->kind == OBS_MEMORY) {
        launch_memory(m, o->tile);
    }
    if (__builtin_expect(part_of(o->tile)->unshown, 0)) {
        o->tile->in_scope = o->tile->sees_cores = false;
    }
    publish(o->tile);
}

/* ---- the model ---- */

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    (void)options;
    struct launch_state *s = m->state[MODEL_LAUNCH] = calloc(1, sizeof *s);
    if (s != NULL) {
        s->wc_write.index = NO_INDEX;
    }
    return s != NULL;
}

static void release(struct model *m)
{
    if (state_of(m) != NULL) { /* where the engine was not made */
        free(state_of(m)->unready);
    }
    free(state_of(m));
}

static void tile_init(struct model *m, struct tile *tile, bool power_on)
{
    /* What is known at power-on stays known only while the host's writes are seen. */
    part_of(tile)->sees_outside =
        (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0 &&
        ((m->header->observes & NOCAP_CLASS_NOC) != 0 || !m->header->cq.present);
    boot_init(tile, power_on);
    launch_init(tile, power_on);
    publish(tile);
}

static void forget(struct model *m)
{
    state_of(m)->wc_write.index = NO_INDEX;
}

/* A class that is declared, and of which there is no event where there must be some: what needs it
 * was not judged. */
static void finish(struct model *m, bool cut)
{
    const struct launch_state *s = state_of(m);
    (void)cut;
    if (s->tiles.count > 0) {
        CHECK_AT(
            m, NULL, TRC_009, false, s->tiles.event_ref, NO_REFS,
            "events of the RISCs of every worker core in `scope`, which are all where it is "
            "missing",
            "worker cores that boot or answer GO, and show no event of a RISC: %u, the first "
            "(%u,%u); name the observed ones in `scope`, or leave core-store out of `observes`",
            s->tiles.count, s->tiles.at.x, s->tiles.at.y);
    }
    if (s->kernels.count > 0 && !s->kernels_shown && !m->dropped) {
        CHECK_AT(m, NULL, TRC_009, false, s->kernels.event_ref, NO_REFS,
                 "kernel events, which `observes` lists",
                 "no kernel event in the whole trace, and %u kernels ran, the first in worker core "
                 "(%u,%u): leave kernel out of `observes`",
                 s->kernels.count, s->kernels.at.x, s->kernels.at.y);
    }
}

static void tile_forgotten(struct model *m, struct tile *tile)
{
    forget_tile(m, tile);
    publish(tile);
}

static uint32_t wants(const struct model *m)
{
    return m->knows_tiles
               ? OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(HOST_LOAD) |
                     OBS(MEMORY) | OBS(REQUEST) | OBS(ENTER) | OBS(EXIT) | OBS(RUN) | OBS(HALT)
               : 0;
}

static void tile_finish(struct model *m, struct tile *tile, bool cut)
{
    const struct launch *l = launch_of(tile);
    if (l->open || l->active == YES) {
        launch_report(m, tile, false);
    }
    boot_judge_ready(m, tile, cut, "the trace ends");
}

const struct model_ops launch_model = {
    .name = "launch",
    .id = MODEL_LAUNCH,
    .tile_size = sizeof(struct launch_tile),
    .first_rule = RST_001,
    .last_rule = GO_020,
    .uses = 1u << MODEL_CQ | 1u << MODEL_HOST | 1u << MODEL_MAP | 1u << MODEL_NOC, /* strays */
    .wants = wants,
    .places = PLACE_ALL,
    .init = init,
    .free = release,
    .tile_init = tile_init,
    .tile_free = deferred_drop,
    .check = check,
    .check_of = {[OBS_CORE_STORE] = check_core_store, [OBS_CORE_LOAD] = check_core_load},
    .apply = apply,
    .forget = forget,
    .tile_forget = tile_forgotten,
    .finish = finish,
    .tile_finish = tile_finish,
    .tile_settle = launch_settle,
    .tile_waits = launch_waits,
    .describe = launch_describe,
};
