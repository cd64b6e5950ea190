/* Threads that will never go on. Rules TNX-040, TNX-041. */
#include <stdio.h>
#include <string.h>

#include "replay/gate.h"
#include "replay/tile.h"

/* Whether the thread certainly waits at its gate for what only other threads or cores can change: a
 * semaphore, or, where units have come to rest, anything. */
static bool waits(struct gate *g, unsigned thread, bool quiet)
{
    struct gate_thread *t = &g->threads[thread];
    uint32_t word, blocking = 0;
    if (!stream_head(&t->stream, &word)) {
        return false;
    }
    if (t->latch.sure) {
        bool semaphore = t->latch.opcode == NOCAP_TENSIX_SEMWAIT;
        bool held = nocap_tensix_is_wait(word) || nocap_tensix_is_held(word, t->latch.block);
        return held && (semaphore || quiet);
    }
    /* a simulator may hold the wait itself */
    return t->held && t->held_word == word && nocap_tensix_opcode(word) == NOCAP_TENSIX_SEMWAIT &&
           gate_word_condition(g, thread, word, &blocking) == GATE_HOLDS;
}

/* No core of the tile can push, post or get any more: all that the launch enables were in their
 * kernels and left them, or nothing happened for long and none has still to enter. */
bool gate_cores_have_left(const struct model *m, const struct tile *tile, bool quiet)
{
    const struct launch *l = &tile->launch;
    bool left = gate_observes(m, NOCAP_CLASS_KERNEL) && l->active == YES, comes = false;
    for (unsigned p = 0; p < CORES; p++) {
        unsigned bit = p > NOCAP_PROCESSOR_TRISC0 ? NOCAP_PROCESSOR_TRISC0 : p;
        bool enabled = !l->message_known || (l->message.enables >> bit & 1) != 0;
        if (l->kernels[p].inside == YES) {
            return false;
        }
        bool out = l->kernels[p].inside == NO;
        left = left && out && (!enabled || l->kernels[p].left > 0);
        comes |= l->message_known && enabled && out && l->kernels[p].entered == 0;
    }
    comes = comes && gate_observes(m, NOCAP_CLASS_KERNEL) && l->active == YES && !l->begun;
    return left || (quiet && !comes);
}

/* Whether the thread's next word may wait behind the gate, for a unit or a bank: the sync unit is
 * always free. */
static bool may_stand_behind(struct gate_thread *t)
{
    uint32_t word;
    return stream_head(&t->stream, &word) &&
           nocap_tensix_opcodes[nocap_tensix_opcode(word)].unit != NOCAP_TENSIX_UNIT_SYNC;
}

/* STREAMWAIT waits for the network, of which the tile does not tell. */
static bool waits_for_stream(struct gate_thread *t)
{
    uint32_t word;
    return t->latch.opcode == NOCAP_TENSIX_STREAMWAIT ||
           (stream_head(&t->stream, &word) && nocap_tensix_opcode(word) == NOCAP_TENSIX_STREAMWAIT);
}

/* Every thread that still has words waits, and no core is in a kernel that could push or post any
 * more. Where nothing happened for long, a thread that waits for a unit behind the gate is as
 * stuck as the one that feeds it. */
void gate_finish(struct model *m, struct tile *tile, bool cut)
{
    struct gate *g = tile->gate;
    if (g == NULL || !m->armed[TNX_040] || cut || !tile->in_scope || g->loose) {
        return;
    }
    uint64_t enough = m->header->time_unit == NOCAP_TIME_NS ? GATE_QUIET_NS : GATE_QUIET;
    bool quiet = m->last_t > g->last_t && m->last_t - g->last_t >= enough;
    unsigned waiting = 0, first = GATE_THREADS;
    if (!gate_cores_have_left(m, tile, quiet)) {
        return;
    }
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        struct gate_stream *s = &g->threads[i].stream;
        bool held = waits(g, i, quiet);
        bool lost = g->threads[i].used && (s->searching || !s->trusted);
        bool stands = held || (quiet && may_stand_behind(&g->threads[i]));
        if (lost || waits_for_stream(&g->threads[i]) || (stream_pending(s) && !stands)) {
            return;
        }
        waiting += held;
        first = held && first == GATE_THREADS ? i : first;
    }
    m->exercised[TNX_040]++;
    if (waiting > 0) {
        char text[NOCAP_TENSIX_TEXT_MAX + 32];
        struct gate_thread *t = &g->threads[first];
        struct moment at = t->held ? t->held_at : t->last_issue;
        at.agent = (uint8_t)(NOCAP_BY_TRISC0 + first);
        diverge(m, tile, TNX_040, at, (int)first, NOTHING,
                "a word left that can still release a thread that is held",
                "%u thread%s held for ever; on thread %u %s", waiting, waiting > 1 ? "s" : "",
                first, gate_describe(g, first, text, sizeof text));
    }
}

/* The TRISC of a thread reports DONE. */
void gate_done(struct model *m, struct tile *tile, unsigned thread)
{
    struct gate *g = tile->gate;
    struct gate_stream *s = &g->threads[thread].stream;
    uint32_t word = 0;
    char text[NOCAP_TENSIX_TEXT_MAX];
    if (s->searching || !s->trusted || g->loose || !GATE_HAS_PUSH(m) || !GATE_HAS_ISSUE(m)) {
        return;
    }
    bool pending = stream_pending(s);
    if (pending) {
        stream_head(s, &word);
    }
    EXPECT_THREAD(m, tile, TNX_041, !pending, thread, NOTHING,
                  "all words that the kernel pushed issued before its core reports DONE",
                  "%u left, the first %s", stream_count(s),
                  nocap_tensix_disassemble(word, text, sizeof text));
}
