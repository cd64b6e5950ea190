/* The stream of a thread as it is pushed, expanded at once: what the core's own stores race with,
 * and where issues are not observed the stream that all rules judge. Rule TNX-036. */
#include "replay/gate.h"
#include "replay/tile.h"

static bool unpacks(uint32_t word)
{
    return nocap_tensix_opcode(word) == NOCAP_TENSIX_UNPACR;
}

/* A wait that holds this word was passed before it. */
static void pass(struct gate_thread *t, uint32_t word)
{
    struct gate_wait *wait = &t->pushed_wait;
    bool is_wait = nocap_tensix_is_wait(word);
    if (wait->pending && (is_wait || nocap_tensix_is_held(word, wait->block))) {
        wait->pending = false;
        t->config_stored = t->config_stored && (wait->conditions & NOCAP_WAIT_TRISC_CFG) == 0;
    }
    if (is_wait) {
        struct gate_latch l = gate_latch_of(word);
        *wait = (struct gate_wait){.pending = true, .block = l.block, .conditions = l.conditions};
    }
}

static void word_passes(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                        bool expanded)
{
    struct gate_thread *t = &tile->gate->threads[thread];
    pass(t, word);
    if (unpacks(word)) {
        EXPECT_THREAD(m, tile, TNX_036, !t->config_stored, thread, RELATED(t->config_index),
                      "a wait for TRISC_CFG between a core's store to the configuration and UNPACR",
                      "0x%08x without one", word);
        t->config_stored = false;
    }
    if (!GATE_HAS_ISSUE(m)) {
        if (expanded) {
            gate_judge_word(m, tile, thread, word);
        }
        gate_work_word(m, tile, thread, word);
    }
}

static void word_arrives(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                         bool expanded)
{
    struct nocap_replay *replay = &tile->gate->threads[thread].pushed_replay;
    bool known;
    if (nocap_replay_take(replay, word) == NOCAP_REPLAY_PASSES) {
        word_passes(m, tile, thread, word, expanded);
    }
    while (nocap_replay_next(replay, &word, &known)) {
        if (known) {
            word_passes(m, tile, thread, word, true);
        }
    }
}

/* An expansion repeats itself: its first words show all that it does. */
static void expand(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    const struct gate_stream *s = &tile->gate->threads[thread].stream;
    struct nocap_mop mop;
    uint32_t mask_high = s->pushed_mask_high;
    if (!nocap_mop_is_known(&s->config, word, s->pushed_mask_known)) {
        return;
    }
    nocap_mop_start(&mop, &s->config, word, mask_high);
    for (unsigned i = 0; i < GATE_WALK_WORDS && nocap_mop_next(&mop, &word); i++) {
        word_arrives(m, tile, thread, word, true);
    }
}

void gate_pushed_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                      bool by_brisc)
{
    struct gate_stream *s = &tile->gate->threads[thread].stream;
    unsigned opcode = nocap_tensix_opcode(word);
    if (by_brisc) {
        word_arrives(m, tile, thread, word, false);
    } else if (opcode == NOCAP_TENSIX_MOP_CFG) {
        s->pushed_mask_high = NOCAP_TENSIX_GET(word, MOP_CFG, mask_high);
        s->pushed_mask_known = true;
    } else if (opcode == NOCAP_TENSIX_MOP) {
        expand(m, tile, thread, word);
    } else {
        word_arrives(m, tile, thread, word, false);
    }
}

void gate_config_store(struct model *m, struct gate_thread *t)
{
    t->config_stored = true;
    t->config_index = m->event->index;
    /* a wait that was pushed before may look before this store is under way */
    t->pushed_wait.conditions &= ~(uint32_t)NOCAP_WAIT_TRISC_CFG;
}
