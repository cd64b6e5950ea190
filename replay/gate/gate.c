/* SPDX-License-Identifier: Apache-2.0 */
/* The Tensix coprocessor of a tile: events and register accesses of its cores are handed to the
 * stream of pushed words, the Wait Gates and the rules about words and work. TNX-002, -003, -019.
 */
#include "replay/gate/gate_private.h"

#include <stdlib.h>

#include "replay/core/tile.h"

struct event_ref gate_event_ref(const struct model *m, unsigned thread)
{
    struct event_ref at = now(m);
    at.agent = (uint8_t)(NOCAP_BY_TRISC0 + thread);
    return at;
}

/* What is known of a coprocessor that is seen for the first time. `known`: it did nothing since
 * power-on. */
static void start(struct model *m, const struct tile *tile, struct gate *g, bool known)
{
    bool issues = gate_observes(m, NOCAP_CLASS_TENSIX_RETIRE | NOCAP_CLASS_TENSIX_ISSUE);
    bool units = gate_observes(m, NOCAP_CLASS_TENSIX_UNIT);
    for (unsigned i = 0; i < THREADS; i++) {
        struct gate_thread *t = &g->threads[i];
        /* since its core entered a kernel that was seen, the thread did nothing else */
        unsigned p = nocap_core(NOCAP_BY_TRISC0 + i)->processor;
        bool idle = known || tile->launch.kernels[p].enter_index != NO_INDEX;
        t->stream.complete = idle;
        t->stream.config_changed = true;
        work_start(&t->work, idle);
        t->stream.cursor.mask_known = t->stream.pushed.mask_known = known;
        t->dest_known = known;
        t->mutex_known = known ? UINT8_MAX : 0;
        t->busy_known = !known || !(issues || units) ? 0
                        : units                      ? GATE_UNITS
                                                     : GATE_UNITS & ~NOCAP_WAIT_TRISC_CFG;
    }
    g->counts_units = issues && !units;
    g->early.index = NO_INDEX;
    if (known) {
        gate_know_semaphores(g, SEM_KNOWN);
    }
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        g->sems[i].since = gate_sees_cores(m) ? FAULT_NONE : FAULT_UNREPORTED;
        g->sems[i].stored.index = NO_INDEX;
    }
    g->stores_before = known ? NO_INDEX : m->event->t;
    if (known && units) { /* all banks are the unpackers' */
        g->src = g->src_known = GATE_VALID;
    }
}

static struct gate *make(struct model *m, struct tile *tile)
{
    struct gate_tile *part = gate_part(tile);
    part->gate = calloc(1, sizeof *part->gate);
    if (part->gate == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    start(m, tile, part->gate, m->header->complete == NOCAP_TRUE && !part->lost && !m->dropped);
    return part->gate;
}

static void drop(struct tile *tile)
{
    struct gate_tile *part = gate_part(tile);
    for (unsigned i = 0; part->gate != NULL && i < THREADS; i++) {
        free(part->gate->threads[i].stream.trisc.entries);
        free(part->gate->threads[i].stream.brisc.entries);
    }
    free(part->gate);
    part->gate = NULL;
}

static void forget(struct model *m, struct tile *tile)
{
    (void)m;
    drop(tile);
    gate_part(tile)->lost = true;
}

/* ---- events of the coprocessor ---- */

#define ISSUED_AS_PUSHED "the instructions issued that were pushed, expanded, in order"

static void judge_push(const struct gate_word *w)
{
    unsigned by = w->m->event->by;
    bool expands = w->opcode == NOCAP_TENSIX_MOP || w->opcode == NOCAP_TENSIX_MOP_CFG;
    CHECK_WORD(w, TNX_019, !(by == NOCAP_BY_BRISC && expands), NO_REFS,
               "no MOP or MOP_CFG from BRISC, whose instructions enter after the MOP expander",
               "%s pushed by %s", nocap_tensix_opcode_name(w->opcode), nocap_agent_name(by));
}

/* TNX-003 of a word that does not fit: what is known now is known since then. */
static void misfits(struct gate_stream *s, fault_id fault)
{
    s->since = s->strays_since = fault;
    s->strays_age = 0;
}

/* The first push says whether words before it had to be pushed, too: not if pushes come from
 * another source, whose order with the issue is not certain. */
static void first_push(const struct gate_word *pushed)
{
    struct gate *g = pushed->g;
    g->pushed = true;
    const struct gate_thread *early = &g->threads[g->early_thread];
    if (g->early.index == NO_INDEX || early->unordered) {
        return;
    }
    const struct gate_word w =
        gate_word(pushed->m, pushed->tile, g, g->early_thread, g->early_word);
    CHECK_WORD_AT(&w, TNX_003, false, g->early, NO_REFS, ISSUED_AS_PUSHED,
                  "%s issued, nothing was next", GATE_TEXT(w.word));
    misfits(&w.t->stream, w.m->fault);
}

static void push(const struct gate_word *w)
{
    bool by_brisc = w->m->event->by == NOCAP_BY_BRISC;
    if (!w->g->pushed) {
        first_push(w);
    }
    w->t->used = true;
    fault_id since = gate_judge_word(w);
    judge_push(w);
    if ((!by_brisc || GATE_HAS_ISSUE(w->m)) &&
        !stream_push(&w->t->stream, w->word, by_brisc, since)) {
        w->m->out_of_memory = true;
    }
    gate_pushed_word(w, by_brisc);
}

/* The fault that showed before that the words do not issue as they were pushed. */
static fault_id misfit_since(const struct gate_word *w, const struct stream_match *match)
{
    fault_id since = gate_shown_since(w, match->expected);
    if (since == FAULT_NONE &&
        (gate_waits_for_config(w->word) || gate_waits_for_config(match->expected))) {
        since = w->t->config_since;
        w->t->config_since = FAULT_NONE;
    }
    return since;
}

/* TNX-003: the words issue that were pushed. What is known now is known since a fault, if the word
 * does not fit. */
static void judge_fit(const struct gate_word *w, const struct stream_match *match)
{
    struct gate_stream *s = &w->t->stream;
    bool fits = match->fit == STREAM_FITS, late = match->fit == STREAM_LATE;
    if (w->t->unordered) {
        w->m->fault = FAULT_NONE;
        return; /* one that is missing would not show */
    }
    if (!fits && !w->g->pushed) {
        if (w->g->early.index == NO_INDEX) {
            w->g->early = gate_event_ref(w->m, w->thread);
            w->g->early_word = w->word;
            w->g->early_thread = w->thread;
        }
        w->m->fault = s->since = FAULT_UNREPORTED;
        return;
    }
    fault_id since = late || s->since == FAULT_NONE ? match->since : s->since;
    since = fits || since != FAULT_NONE ? since : stream_misfit_since(s, w->word);
    since = fits || since != FAULT_NONE ? since : misfit_since(w, match);
    CHECK_WORD_AFTER(w, TNX_003, since, fits, NO_REFS, ISSUED_AS_PUSHED, "%s issued, %s was next",
                     GATE_TEXT(w->word),
                     match->has_expected ? GATE_TEXT(match->expected) : "nothing");
    s->since = w->m->fault;
    if (!fits) {
        misfits(s, w->m->fault);
        stream_note_misfit(s, w->word);
    }
}

/* The fault since which the word that is passed need not issue now, or the one that passes it is
 * not where it belongs. */
static fault_id passed_since(const struct gate_word *w, const struct stream_match *match,
                             uint32_t passed)
{
    const struct gate_stream *s = &w->t->stream;
    bool searches = match->fit == STREAM_UNKNOWN && match->place != GATE_IN_PLACE;
    return match->fit == STREAM_LATE ? s->strays_since
           : searches                ? s->since
                                     : gate_shown_since(w, passed);
}

/* TNX-002: a word issues past one that is held, or that the latched wait certainly holds. What is
 * out of order, or no fault, as far as that is known. */
static fault_id judge_order(const struct gate_word *w, const struct stream_match *match)
{
    struct gate_thread *t = w->t;
    fault_id fault = FAULT_NONE;
    bool held = t->held && nocap_tensix_opcode(t->held_word) != NOCAP_TENSIX_NOP;
    bool past = held && w->word != t->held_word;
    uint32_t passed = t->held_word;
    uint64_t index = t->held_at.index;
    if (!past && match->fit == STREAM_AHEAD && t->latch.condition == GATE_HOLDS &&
        gate_holds_back(&t->latch.wait, match->expected)) {
        past = true;
        passed = match->expected;
        index = t->latch.wait.index;
    }
    if (held || past) {
        CHECK_WORD_AFTER(w, TNX_002, past ? passed_since(w, match, passed) : FAULT_NONE, !past,
                         RELATED(index), "instructions to pass the gate in order",
                         "%s issued past %s, which is stalled", GATE_TEXT(w->word),
                         GATE_TEXT(passed));
        fault = past ? w->m->fault : FAULT_NONE;
    }
    if (match->fit != STREAM_UNKNOWN) {
        judge_fit(w, match);
        return past ? fault : w->m->fault;
    }
    if (match->twice) {
        CHECK_WORD(w, TNX_003, false, NO_REFS, ISSUED_AS_PUSHED,
                   "%s has issued, where %s was next, and a few words after it",
                   GATE_TEXT(match->issued), GATE_TEXT(match->expected));
    }
    if (!t->stream.searching) { /* it has found its place */
        t->stream.since = FAULT_NONE;
    }
    return fault;
}

static void issue(const struct gate_word *w)
{
    struct gate_thread *t = w->t;
    struct stream_match match = {.fit = STREAM_UNKNOWN, .expanded = true};
    if (GATE_HAS_PUSH(w->m)) {
        match = stream_issue(w);
        if (match.drained) {
            work_drained(&t->work, w->thread);
        }
    }
    fault_id fault = judge_order(w, &match);
    if (fault != FAULT_NONE) {
        t->latch = (struct gate_latch){0};
        gate_doubt_semaphores(w->g, fault);
        t->mutex_known = 0;
    }
    t->held = false;
    t->used = true;
    if (match.expanded && GATE_HAS_PUSH(w->m)) {
        gate_judge_expanded(w);
    } else if (match.expanded) {
        gate_judge_word(w);
    }
    if (fault == FAULT_NONE && match.place != GATE_IN_DOUBT) {
        gate_work_word(w);
    } else { /* what it did since, and what waits it passed, is not known */
        work_start(&t->work, false);
    }
    gate_issue(w, match.place);
    t->last_issue = gate_event_ref(w->m, w->thread);
}

static void coprocessor_event(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    struct tile *tile = o->tile;
    struct gate *g = tile != NULL ? gate_part(tile)->gate : NULL;
    if (tile == NULL || e->thread >= THREADS || (g == NULL && (g = make(m, tile)) == NULL)) {
        return;
    }
    struct gate_word w = gate_word(m, tile, g, e->thread, (uint32_t)e->value);
    gate_notice_thread(m, tile, w.t);
    gate_notice(m, tile);
    g->last_t = e->t;
    switch (e->op) {
    case NOCAP_OP_PUSH: push(&w); break;
    case NOCAP_OP_ISSUE: issue(&w); break;
    case NOCAP_OP_STALL:
        w.t->held = true;
        w.t->held_word = w.word;
        w.t->held_at = gate_event_ref(m, e->thread);
        break;
    case NOCAP_OP_UNIT:
    case NOCAP_OP_SRC:
    case NOCAP_OP_RETIRE: gate_unit_event(g, e); break;
    default: break;
    }
}

/* ---- accesses of the cores ---- */

/* All that the core pushed has left the coprocessor. */
static void drained(struct gate_thread *t)
{
    if (!t->unordered) {
        stream_drained(&t->stream);
    }
}

/* Who finds the thread idle knows that all has left. */
static void synchronise(struct model *m, const struct gate *g, struct gate_thread *t, bool store)
{
    if (store && gate_observes(m, NOCAP_CLASS_CORE_LOAD)) {
        return; /* only a load waits, and would show */
    } else if (store) {
        t->stream.drained = true; /* firmware loads it right after */
    } else {
        drained(t);
        t->config_stored = false;
    }
    if (!GATE_HAS_ISSUE(m) || !GATE_HAS_PUSH(m) || stream_count(&t->stream) == 0) {
        work_drained(&t->work, (unsigned)(t - g->threads));
    }
}

/* An access to the coprocessor by the core of a thread. */
static __attribute__((noinline)) void register_access(struct model *m, const struct observation *o,
                                                      struct gate *g, struct gate_thread *t)
{
    const struct access *a = &o->access;
    enum nocap_region region = o->region->region;
    uint64_t base = region == NOCAP_REGION_PC_BUF0 ? NOCAP_REG_SEM : NOCAP_REG_MOP_CFG;
    uint64_t i = (a->addr - base) / 4; /* large in front of it */
    uint32_t v, *value = access_word(a, a->addr, &v) ? &v : NULL;
    if (a->addr == NOCAP_REG_TTSYNC) {
        gate_notice_thread(m, o->tile, t);
        synchronise(m, g, t, a->store);
    } else if (region == NOCAP_REGION_PC_BUF0 && i < NOCAP_SEMAPHORE_COUNT) {
        struct gate_word w = gate_word(m, o->tile, g, (unsigned)(t - g->threads), 0);
        if (a->store) {
            gate_notice(m, o->tile);
        }
        gate_core_semaphore(&w, (unsigned)i, a->store, value);
    } else if (region == NOCAP_REGION_MOP_CFG && i < NOCAP_MOP_WORDS && a->store) {
        gate_notice_thread(m, o->tile, t);
        stream_mop_store(&t->stream, (unsigned)i, value);
    } else if (region == NOCAP_REGION_TENSIX_CFG && a->addr != NOCAP_REG_RISCV_IC_INVALIDATE &&
               a->addr != NOCAP_REG_PRNG_SEED && a->addr != NOCAP_REG_ECC_SCRUBBER) {
        t->config_stored = a->store; /* of what an unpacker reads; what is read back has arrived */
        if (a->store) {
            t->config_index = m->event->index;
            t->config_source = m->event->src;
            /* a wait that was pushed before may look before this store is under way */
            t->pushed_wait.conditions &= ~(uint32_t)NOCAP_WAIT_TRISC_CFG;
        }
    }
}

static bool reports_done(const struct model *m, const struct observation *o,
                         const struct nocap_core_info *core)
{
    uint32_t byte = nocap_sync_address(m->layout, core);
    uint8_t v, old;
    return (o->places & PLACE(SYNC)) != 0 && access_byte(&o->access, byte, &v) &&
           v == NOCAP_SYNC_DONE && shadow_byte(&o->tile->l1, byte, &old) && old == NOCAP_SYNC_GO;
}

/* A store to an instruction FIFO, where the trace tells no pushes. Words that are part of a
 * kernel's code are pushed without a store, so only the word itself can be judged, not its place.
 */
static __attribute__((noinline)) void judge_fifo_store(struct model *m, const struct observation *o,
                                                       unsigned fifo)
{
    const struct nocap_core_info *core = nocap_core(o->access.by);
    bool brisc = o->access.by == NOCAP_BY_BRISC;
    uint32_t word;
    if ((brisc || (core->thread >= 0 && fifo == 0)) &&
        access_word(&o->access, o->access.addr, &word)) {
        struct gate_word w =
            gate_word(m, o->tile, NULL, brisc ? fifo : (unsigned)core->thread, word);
        if (!GATE_HAS_ISSUE(m)) {
            gate_judge_word(&w);
        }
        judge_push(&w);
    }
}

static __attribute__((noinline)) void coprocessor_access(struct model *m,
                                                         const struct observation *o)
{
    const struct nocap_core_info *core = nocap_core(o->access.by);
    enum nocap_region region = o->region->region;
    bool fifo = region >= NOCAP_REGION_INSTRN_FIFO0 && region <= NOCAP_REGION_INSTRN_FIFO2;
    if (fifo && !GATE_HAS_PUSH(m) && o->access.store) {
        judge_fifo_store(m, o, region - NOCAP_REGION_INSTRN_FIFO0);
    }
    if (core->thread < 0) {
        return;
    }
    struct gate *g = gate_part(o->tile)->gate;
    bool changes = region == NOCAP_REGION_MOP_CFG || region == NOCAP_REGION_TENSIX_CFG ||
                   (region == NOCAP_REGION_PC_BUF0 && o->access.addr >= NOCAP_REG_SEM);
    if (g == NULL && changes) {
        g = make(m, o->tile);
    }
    if (g == NULL) {
        return;
    }
    g->last_t = m->event->t;
    if (reports_done(m, o, core)) {
        struct gate_word w = gate_word(m, o->tile, g, (unsigned)core->thread, 0);
        gate_notice_thread(m, o->tile, w.t);
        gate_done(&w);
    } else if ((o->places & PLACE(COPROCESSOR)) != 0) {
        register_access(m, o, g, &g->threads[core->thread]);
    }
}

/* Most are stores to streams, which show that the core goes on. */
static void core_access(struct model *m, const struct observation *o)
{
    struct gate *g = gate_part(o->tile)->gate;
    if ((o->places & (PLACE(SYNC) | PLACE(COPROCESSOR))) != 0) {
        coprocessor_access(m, o);
    } else if (g != NULL && nocap_core(o->access.by)->thread >= 0) {
        g->last_t = m->event->t;
    }
}

/* A kernel begins: what threads did in the one before is over, once all its cores have left. */
static void kernel_enter(struct model *m, const struct observation *o)
{
    const struct tile *tile = o->tile;
    struct gate *g = tile != NULL ? gate_part(tile)->gate : NULL;
    bool others = false;
    if (g == NULL) {
        return;
    }
    int thread = nocap_core(o->event->by)->thread; /* -1: it has none */
    for (unsigned i = 0; i < THREADS; i++) {
        others |= tile->launch.kernels[NOCAP_PROCESSOR_TRISC0 + i].inside != NO;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        struct gate_thread *t = &g->threads[i];
        bool own = (int)i == thread, idle = stream_count(&t->stream) == 0;
        bool ordered = !t->has_source || t->source == m->event->src;
        if (own) {
            t->kernel_source = m->event->src;
            t->has_kernel = true;
        }
        if (own && idle && ordered) {
            drained(t);
        }
        if (own || (!others && idle)) {
            work_start(&t->work, ordered);
            t->config_stored = false;
        } else if (tile->launch.kernels[NOCAP_PROCESSOR_TRISC0 + i].entered == 0) {
            t->work.uses_math_pack = false; /* the kernel before did */
        }
    }
}

static uint32_t wants(const struct model *m)
{
    return m->knows_tiles
               ? OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(ENTER) | OBS(TENSIX)
               : 0;
}

/* All cores are taken into reset: what the threads hold is gone. */
static void outside_store(struct model *m, const struct observation *o)
{
    if (may_hold_all_cores(o) && gate_part(o->tile)->gate != NULL) {
        forget(m, o->tile);
    }
}

const struct model_ops gate_model = {
    .name = "gate",
    .id = MODEL_GATE,
    .tile_size = sizeof(struct gate_tile),
    .first_rule = TNX_001,
    .last_rule = TNX_041,
    .uses = 1u << MODEL_LAUNCH,
    .wants = wants,
    .places = PLACE(SYNC) | PLACE(SOFT_RESET) | PLACE(STREAM) | PLACE(COPROCESSOR),
    .tile_free = drop,
    .check_of = {[OBS_CORE_STORE] = core_access,
                 [OBS_CORE_LOAD] = core_access,
                 [OBS_OUTSIDE_STORE] = outside_store,
                 [OBS_ENTER] = kernel_enter,
                 [OBS_TENSIX] = coprocessor_event},
    .tile_forget = forget,
    .tile_finish = gate_finish,
    .tile_settle = gate_settle_facts,
    .tile_waits = gate_waits,
    .describe = gate_describe_tile,
};
