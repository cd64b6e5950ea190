/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction words by themselves: what no thread may push. Rules TNX-010 to -012, -016, -017,
 * -019. And the stream of a thread as it is pushed, expanded at once: what the core's own stores
 * race with, and where issues are not observed the stream that all rules judge. Rule TNX-036. */
#include "replay/core/tile.h"
#include "replay/gate/gate_private.h"

static bool names_semaphores(unsigned opcode)
{
    return opcode >= NOCAP_TENSIX_SEMINIT && opcode <= NOCAP_TENSIX_SEMWAIT;
}

/* What a word of the Sync Unit says; semaphore masks have a rule of their own. */
static void judge_sync_word(const struct gate_word *w)
{
    uint32_t word = w->word, unused = 0;
    bool stalls = w->opcode == NOCAP_TENSIX_STALLWAIT;
    if (names_semaphores(w->opcode)) {
        unused = word & (uint32_t)NOCAP_SEM_MASK_UNUSED << NOCAP_SEMPOST_sem_sel_LOW;
        EXPECT_WORD(w, TNX_012, NOCAP_TENSIX_GET(word, SEMPOST, sem_sel) != 0 && unused == 0,
                    NOTHING, "one of the semaphores 0..7 selected, and no others", "%s",
                    GATE_TEXT(word));
    }
    uint32_t stray = nocap_tensix_stray_bits(word) & ~unused;
    EXPECT_WORD(w, TNX_010, stray == 0, NOTHING,
                "an opcode of the instruction set, and no bit outside its fields",
                "0x%08x has stray bits 0x%x", word, stray);
    if (w->opcode == NOCAP_TENSIX_SEMWAIT) {
        EXPECT_WORD(w, TNX_011, NOCAP_TENSIX_GET(word, SEMWAIT, condition) != 0, NOTHING,
                    "a condition in a SEMWAIT", "0x%08x has none", word);
    }
    if (w->opcode == NOCAP_TENSIX_SEMINIT) {
        uint32_t value = NOCAP_TENSIX_GET(word, SEMINIT, value);
        uint32_t max = NOCAP_TENSIX_GET(word, SEMINIT, max);
        EXPECT_WORD(w, TNX_016, value <= max, NOTHING, "a SEMINIT with a value up to the maximum",
                    "value %u, maximum %u", value, max);
    }
    if (w->opcode == NOCAP_TENSIX_SEMWAIT || stalls) {
        bool block = NOCAP_TENSIX_GET(word, STALLWAIT, stall_res) != 0;
        bool waits = !stalls || NOCAP_TENSIX_GET(word, STALLWAIT, wait_res) != 0;
        EXPECT_WORD(w, TNX_017, block && waits, NOTHING,
                    "a wait that says what it holds and what it waits for", "0x%08x: %s", word,
                    block ? "no condition, the hardware takes THCON|UNPACK0|UNPACK1|PACK"
                          : "no block bit, the hardware takes STALL_MATH");
    }
}

void gate_judge_word(const struct gate_word *w)
{
    if (nocap_tensix_opcodes[w->opcode].unit == NOCAP_TENSIX_UNIT_SYNC) {
        judge_sync_word(w);
    } else {
        EXPECT_WORD(w, TNX_010, nocap_tensix_opcodes[w->opcode].name != NULL, NOTHING,
                    "an opcode of the instruction set, and no bit outside its fields",
                    "0x%08x is no instruction", w->word);
    }
}

/* ---- the stream as pushed ---- */

static void word_passes(const struct gate_word *w, bool expanded)
{
    struct gate_thread *t = w->t;
    if (gate_holds_back(&t->pushed_wait, w->word)) { /* it was passed before this word */
        t->config_stored &= (t->pushed_wait.conditions & NOCAP_WAIT_TRISC_CFG) == 0;
        t->pushed_wait.opcode = 0;
    }
    if (nocap_tensix_is_wait(w->word)) {
        t->pushed_wait = gate_wait_of(w->word, w->m->event->index);
    }
    if (w->opcode == NOCAP_TENSIX_UNPACR) {
        EXPECT_WORD(w, TNX_036, !t->config_stored, RELATED(t->config_index),
                    "a wait for TRISC_CFG between a core's store to the configuration and UNPACR",
                    "0x%08x without one", w->word);
        t->config_stored = false;
    }
    if (!GATE_HAS_ISSUE(w->m)) {
        if (expanded) {
            gate_judge_word(w);
        }
        gate_work_word(w);
    }
}

/* An expansion repeats itself: its first words show all that it does. */
void gate_pushed_word(const struct gate_word *w, bool by_brisc)
{
    struct gate_stream *s = &w->t->stream;
    struct gate_next next;
    bool alone = !by_brisc && stream_walk_alone(s, w->opcode);
    if (alone ||
        (by_brisc && nocap_replay_take(&s->pushed.replay, w->word) == NOCAP_REPLAY_PASSES)) {
        word_passes(w, false);
    }
    for (unsigned i = 0; !alone && i < GATE_WALK_WORDS && stream_walk(s, &next); i++) {
        if (next.known) {
            struct gate_word word = gate_word(w, next.word);
            word_passes(&word, next.expanded);
        }
    }
    stream_walked(s, GATE_HAS_ISSUE(w->m));
}

void gate_config_store(struct model *m, struct gate_thread *t)
{
    t->config_stored = true;
    t->config_index = m->event->index;
    /* a wait that was pushed before may look before this store is under way */
    t->pushed_wait.conditions &= ~(uint32_t)NOCAP_WAIT_TRISC_CFG;
}
