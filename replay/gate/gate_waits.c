/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the coprocessor that are held: by which condition, which thread could change it, and
 * whether any ever will. Rules TNX-040, TNX-041. */
#include <stdio.h>

#include "replay/core/state.h"
#include "replay/core/wait_builder.h"
#include "replay/gate/gate_private.h"

/* ---- threads that will never go on ---- */

/* Of a thread that gets no more words. */
enum outlook {
    MAY_GO_ON,
    RESTS, /* it has no words, or its next one stands behind the gate */
    STUCK, /* it certainly waits at its gate for what only other threads or cores can change: a
              semaphore, or, where units have come to rest, anything */
};

static enum outlook outlook_of(struct gate *g, unsigned thread, bool quiet)
{
    struct gate_thread *t = &g->threads[thread];
    struct gate_hold hold = gate_holding(g, thread);
    bool latched = t->latch.condition == GATE_HOLDS, semaphore = hold.semaphore != NULL;
    uint32_t word = NOCAP_TENSIX_WORD(NOP);
    bool head = stream_head(&t->stream, &word);
    unsigned opcode = nocap_tensix_opcode(word);
    /* STREAMWAIT waits for the network, of which the tile does not tell */
    if ((t->used && !stream_is_known(&t->stream)) ||
        t->latch.wait.opcode == NOCAP_TENSIX_STREAMWAIT) {
        return MAY_GO_ON;
    }
    /* a simulator may hold the wait itself */
    if (head && hold.blocking != 0 &&
        (latched ? gate_holds_back(&hold.wait, word) && (semaphore || quiet)
                 : t->held_word == word && semaphore)) {
        return STUCK;
    }
    /* for a unit or a bank; the sync unit is always free */
    bool behind = quiet && head && nocap_tensix_opcodes[opcode].unit != NOCAP_TENSIX_UNIT_SYNC;
    return behind || !stream_pending(&t->stream, &word) ? RESTS : MAY_GO_ON;
}

/* No core of the tile can push, post or get any more: all that the launch enables were in their
 * kernels and left them, or nothing happened for long and none has still to enter. */
static bool cores_have_left(const struct model *m, const struct tile *tile, bool quiet)
{
    const struct launch_facts *l = &tile->launch;
    /* where DONE is not observed, the launch of a kernel is not known */
    bool left = gate_observes(m, NOCAP_CLASS_KERNEL | NOCAP_CLASS_CORE_STORE) && l->active == YES;
    bool comes = false;
    for (unsigned p = 0; p < CORES; p++) {
        unsigned bit = p > NOCAP_PROCESSOR_TRISC0 ? NOCAP_PROCESSOR_TRISC0 : p;
        bool enabled = !l->message_known || (l->enables >> bit & 1) != 0;
        bool out = l->kernels[p].inside == NO;
        bool may_post = p >= NOCAP_PROCESSOR_TRISC0 && gate_observes(m, NOCAP_CLASS_KERNEL);
        if (l->kernels[p].inside == YES || (!out && may_post)) {
            return false; /* .. it may have entered before the trace */
        }
        left = left && out && (!enabled || l->kernels[p].left > 0);
        comes |= l->message_known && enabled && out && l->kernels[p].entered == 0;
    }
    comes = comes && gate_observes(m, NOCAP_CLASS_KERNEL) && l->active == YES && !l->begun;
    return left || (quiet && !comes);
}

/* Every thread that still has words waits, and no core is in a kernel that could push or post any
 * more. Where nothing happened for long, a thread that waits for a unit behind the gate is as
 * stuck as the one that feeds it. */
void gate_finish(struct model *m, struct tile *tile, bool cut)
{
    struct gate *g = gate_part(tile)->gate;
    if (g == NULL || g->unordered || cut || !tile->in_scope) {
        return;
    }
    bool quiet = m->last_t > g->last_t && m->last_t - g->last_t >= gate_quiet(m);
    unsigned waiting = 0, first = 0;
    if (!cores_have_left(m, tile, quiet) || (!quiet && !gate_sees_cores(m))) {
        return;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        enum outlook outlook = outlook_of(g, i, quiet);
        if (outlook == MAY_GO_ON) {
            return;
        }
        first = outlook == STUCK && waiting++ == 0 ? i : first;
    }
    if (waiting == 0) {
        MARK_EXERCISED(m, TNX_040);
        return;
    }
    const struct gate_word w = {.m = m, .tile = tile, .thread = first};
    struct gate_hold hold = gate_holding(g, first);
    fault_id since = gate_since(&hold);
    struct gate_thread *t = &g->threads[first];
    struct event_ref at = t->held ? t->held_at : t->last_issue;
    char text[NOCAP_TENSIX_TEXT_MAX + 32];
    at.agent = (uint8_t)(NOCAP_BY_TRISC0 + first);
    /* unseen cores have been silent for long */
    FOLLOWING(m, since != FAULT_UNREPORTED ? since : FAULT_NONE,
              CHECK_WORD_AT(&w, TNX_040, false, at, NO_REFS,
                            "an instruction left that can still release a stalled thread",
                            "%u thread%s blocked indefinitely; on thread %u %s", waiting,
                            waiting > 1 ? "s" : "", first,
                            gate_describe(g, &hold, text, sizeof text)));
}

/* The TRISC of a thread reports DONE. */
void gate_done(const struct gate_word *w)
{
    struct gate_stream *s = &w->t->stream;
    uint32_t word = 0;
    if (!stream_is_known(s) || !GATE_HAS_PUSH(w->m) || !GATE_HAS_ISSUE(w->m)) {
        return;
    }
    bool pending = stream_pending(s, &word);
    fault_id since = s->since != FAULT_NONE ? s->since : gate_shown_since(w, word);
    CHECK_WORD_AFTER(w, TNX_041, pending ? since : s->since, !pending, NO_REFS,
                     "all instructions that the kernel pushed issued before its RISC reports DONE",
                     "DONE reported with instructions not issued: %u, the first %s",
                     stream_count(s), GATE_TEXT(word));
    if (w->m->fault != FAULT_UNREPORTED) {
        s->since = w->m->fault;
    }
}

/* ---- what is reported of them ---- */

void gate_settle_facts(const struct model *m, struct tile *tile)
{
    (void)m;
    struct gate *g = gate_part(tile)->gate;
    tile->gate.pending = 0;
    for (unsigned i = 0; g != NULL && i < THREADS; i++) {
        struct gate_thread *t = &g->threads[i];
        bool held = t->held && nocap_tensix_opcode(t->held_word) != NOCAP_TENSIX_NOP;
        uint32_t word;
        bool pending = !t->stream.searching && (held || stream_pending(&t->stream, &word));
        tile->gate.pending |= (uint8_t)(pending << i);
    }
}

static bool is_pending(const struct tile *tile, unsigned thread)
{
    return (tile->gate.pending >> thread & 1) != 0;
}

/* Its core is in its kernel; where kernels are not observed, was to run one and is not through. */
static bool may_still_push(const struct model *m, const struct tile *tile, unsigned thread)
{
    const struct nocap_core_info *core = nocap_core(NOCAP_BY_TRISC0 + thread);
    const enum known inside = tile->launch.kernels[core->processor].inside;
    bool shown = inside != UNKNOWN && gate_observes(m, NOCAP_CLASS_KERNEL);
    uint8_t byte = 0;
    bool known = shadow_byte(&tile->l1, nocap_sync_address(m->layout, core), &byte);
    return shown ? inside == YES : known && byte == NOCAP_SYNC_GO;
}

/* Whether among the words that the thread has yet to issue is one that posts, or gets, the
 * semaphore. */
static bool will_change(struct gate_thread *t, unsigned opcode, uint8_t semaphore)
{
    uint32_t words[GATE_LOOKAHEAD];
    unsigned count =
        stream_is_known(&t->stream) ? stream_look_ahead(&t->stream, words, GATE_LOOKAHEAD) : 0;
    for (unsigned i = 0; i < count; i++) {
        if (nocap_tensix_opcode(words[i]) == opcode &&
            (NOCAP_TENSIX_GET(words[i], SEMPOST, sem_sel) & semaphore) != 0) {
            return true;
        }
    }
    return false;
}

/* The thread that could change the semaphore: its next words do; it did before and goes on; or it
 * is one of the only ones who still can. -1: none is known that could. */
static int semaphore_owner(const struct model *m, const struct tile *tile, unsigned thread,
                           uint8_t semaphore, bool post)
{
    struct gate *g = gate_part(tile)->gate;
    unsigned opcode = post ? NOCAP_TENSIX_SEMPOST : NOCAP_TENSIX_SEMGET;
    int owner = -1, best = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        struct gate_thread *t = &g->threads[i];
        bool did = ((post ? t->posted : t->gotten) & semaphore) != 0;
        bool pushes = may_still_push(m, tile, i);
        int likely = will_change(t, opcode, semaphore)        ? 3
                     : did && (pushes || is_pending(tile, i)) ? 2
                                                              : pushes;
        if (i != thread && likely > best) {
            owner = (int)i;
            best = likely;
        }
    }
    return owner;
}

/* A bank of Src is handed over by the unpackers of thread 0, released by the math of thread 1. */
static int bank_owner(const struct model *m, const struct tile *tile, unsigned thread,
                      uint32_t condition)
{
    bool valid = (condition & (NOCAP_WAIT_SRCA_VLD | NOCAP_WAIT_SRCB_VLD)) != 0;
    bool clear = (condition & (NOCAP_WAIT_SRCA_CLR | NOCAP_WAIT_SRCB_CLR)) != 0;
    unsigned owner = valid ? 0 : 1;
    bool can = may_still_push(m, tile, owner) || is_pending(tile, owner);
    return (valid || clear) && owner != thread && can ? (int)owner : -1;
}

static int describe_semaphore(const struct model *m, const struct tile *tile, unsigned thread,
                              const struct gate_hold *hold, char *what, char *release)
{
    unsigned i = (unsigned)__builtin_ctz(hold->blocking), v = hold->semaphore->v;
    bool zero = (hold->wait.semaphore_condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0 && v == 0;
    int owner = semaphore_owner(m, tile, thread, (uint8_t)hold->blocking, zero);
    snprintf(what, WAIT_TEXT, "its Tensix thread %u waits for semaphore %s, which is %u%s%s",
             thread, nocap_tensix_semaphores[i], v, zero ? "" : ", its maximum",
             owner >= 0 ? ""
             : zero     ? "; no remaining instruction posts it"
                        : "; no remaining instruction gets it");
    snprintf(release, WAIT_TEXT, "a %s of semaphore %s", zero ? "SEMPOST" : "SEMGET",
             nocap_tensix_semaphores[i]);
    return owner;
}

/* Nothing that is known holds the thread. */
static void describe_held(const struct gate *gate, unsigned thread, uint32_t word, char *what)
{
    const struct gate_latch *l = &gate->threads[thread].latch;
    int n = snprintf(what, WAIT_TEXT, "its Tensix thread %u has not issued %s", thread,
                     GATE_TEXT(word));
    if (l->wait.semaphores != 0 && l->condition == GATE_CLEAR && gate_holds_back(&l->wait, word)) {
        unsigned i = (unsigned)__builtin_ctz(l->wait.semaphores);
        snprintf(what + n, WAIT_TEXT - (size_t)n,
                 " although the posts and gets seen satisfied its SEMWAIT on semaphore %s, %u now",
                 nocap_tensix_semaphores[i], gate->sems[i].v);
    }
}

static void report_thread(const struct wait_builder *t, unsigned thread)
{
    struct gate *gate = gate_part(t->tile)->gate;
    struct gate_thread *g = &gate->threads[thread];
    struct gate_hold hold = gate_holding(gate, thread);
    char what[WAIT_TEXT], release[WAIT_TEXT] = "", text[NOCAP_TENSIX_TEXT_MAX];
    uint32_t head = g->held_word;
    int owner = -1;
    if (hold.semaphore != NULL) {
        owner = describe_semaphore(t->m, t->tile, thread, &hold, what, release);
    } else if (hold.blocking != 0) {
        owner = bank_owner(t->m, t->tile, thread, hold.blocking);
        snprintf(what, sizeof what, "its Tensix thread %u: %s", thread,
                 gate_describe(gate, &hold, text, sizeof text));
    } else {
        if (!g->held) {
            (void)stream_head(&g->stream, &head);
        }
        describe_held(gate, thread, head, what);
    }
    struct event_ref since = g->held ? g->held_at : g->last_issue;
    since.index = g->held || g->last_issue.t != 0 ? since.index : NO_INDEX;
    struct nocap_wait w = wait_begin(t, NOCAP_BY_TRISC0 + thread, since);
    w.by = owner >= 0 ? wait_party(t, NOCAP_BY_TRISC0 + (unsigned)owner) : w.by;
    w.what = what;
    w.state =
        may_still_push(t->m, t->tile, thread) ? "in kernel, thread stalled" : "thread stalled";
    w.release = release[0] != '\0' ? release : NULL;
    w.thread = (int8_t)thread;
    w.certain = hold.semaphore != NULL && owner < 0 && cores_have_left(t->m, t->tile, false);
    wait_report(t, &w);
}

void gate_waits(const struct wait_builder *t)
{
    if (t->tile->launch.in_reset) {
        return;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        if (t->tile->in_scope && is_pending(t->tile, i)) {
            report_thread(t, i);
        }
    }
}

void gate_describe_tile(const struct model *m, const struct tile *tile, unsigned parts,
                        struct nocap_tile_state *s)
{
    (void)m;
    const struct gate *g = gate_part(tile)->gate;
    bool threads = (parts & NOCAP_STATE_THREADS) != 0;
    bool semaphores = g != NULL && (parts & NOCAP_STATE_SEMAPHORES) != 0;
    for (unsigned i = 0; threads && i < THREADS; i++) {
        struct nocap_thread_state *state = &s->threads[i];
        if (g == NULL) {
            state->lost = gate_part(tile)->lost;
            continue;
        }
        const struct gate_thread *t = &g->threads[i];
        struct gate_hold hold = gate_holding(g, i);
        *state = (struct nocap_thread_state){.pending = stream_count(&t->stream),
                                             .lost = !stream_is_known(&t->stream),
                                             .held = t->held,
                                             .held_word = t->held_word,
                                             .held_index = t->held_at.index};
        if (hold.blocking != 0) {
            gate_describe(g, &hold, state->condition, sizeof state->condition);
        }
    }
    for (unsigned i = 0; semaphores && i < NOCAP_SEMAPHORE_COUNT; i++) {
        s->semaphores_known |= (uint8_t)((g->sems[i].known >= SEM_MOVING) << i);
        s->semaphore[i] = g->sems[i].v;
    }
}
