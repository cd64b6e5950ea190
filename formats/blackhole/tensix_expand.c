/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/tensix_expand.h"

/* What the words of the configuration are, by template. */
enum { FLAGS = 1, B, A0, A1, A2, A3, SKIP_A0, SKIP_B };
enum { OUTER = 0, INNER, START, END0, END1, LOOP, LOOP1, LAST_OF_ALL, LAST_OF_ROUND };
enum { HAS_B = 1, HAS_A123 = 2 };
enum { LOOP_COUNT_MASK = 127, MASK_HIGH_SHIFT = 16 };

static bool is_nop(uint32_t word)
{
    return nocap_tensix_opcode(word) == NOCAP_TENSIX_NOP;
}

static bool loops(uint32_t word)
{
    return NOCAP_TENSIX_GET(word, MOP, template) == 1;
}

static bool knows(const struct nocap_mop_config *config, unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        if ((config->known >> i & 1) == 0) {
            return false;
        }
    }
    return true;
}

bool nocap_mop_is_known(const struct nocap_mop_config *config, uint32_t word, bool mask_known)
{
    if (loops(word)) {
        return knows(config, OUTER, LAST_OF_ROUND);
    }
    uint32_t flags = config->word[FLAGS];
    uint32_t mask = NOCAP_TENSIX_GET(word, MOP, mask_low);
    bool skips = mask != 0 || !mask_known;
    return knows(config, FLAGS, FLAGS) && knows(config, A0, A0) &&
           (mask_known || NOCAP_TENSIX_GET(word, MOP, count1) < MASK_HIGH_SHIFT) &&
           ((flags & HAS_B) == 0 || knows(config, B, B)) &&
           ((flags & HAS_A123) == 0 || knows(config, A1, A3)) &&
           (!skips || (knows(config, SKIP_A0, SKIP_A0) &&
                       ((flags & HAS_B) == 0 || knows(config, SKIP_B, SKIP_B))));
}

void nocap_mop_start(struct nocap_mop *mop, const struct nocap_mop_config *config, uint32_t word,
                     uint32_t mask_high)
{
    *mop = (struct nocap_mop){.config = *config, .loops = loops(word)};
    if (!mop->loops) {
        mop->mask = NOCAP_TENSIX_GET(word, MOP, mask_low) | mask_high << MASK_HIGH_SHIFT;
        mop->outer = NOCAP_TENSIX_GET(word, MOP, count1) + 1;
        return;
    }
    mop->outer = config->word[OUTER] & LOOP_COUNT_MASK;
    mop->inner = config->word[INNER] & LOOP_COUNT_MASK;
    if (!is_nop(config->word[LOOP1])) {
        mop->inner *= 2; /* the two alternate */
    }
    if (mop->outer == 1 && mop->inner == 0 && is_nop(config->word[START]) &&
        !is_nop(config->word[END0])) {
        mop->outer += LOOP_COUNT_MASK + 1; /* so does the hardware */
    }
}

/* Template 0, `step` of a round: A0 A1 A2 A3 B where the mask bit is 0, else SKIP_A0 SKIP_B. */
static bool next_masked(struct nocap_mop *mop, uint32_t *word)
{
    const uint32_t *c = mop->config.word;
    static const uint8_t taken[] = {A0, A1, A2, A3, B}, skipped[] = {SKIP_A0, SKIP_B};
    while (mop->round < mop->outer) {
        bool skip = mop->round < 32 && (mop->mask >> mop->round & 1) != 0;
        uint32_t steps = skip ? sizeof skipped : sizeof taken;
        if (mop->step == steps) {
            mop->round++;
            mop->step = 0;
            continue;
        }
        uint8_t which = skip ? skipped[mop->step] : taken[mop->step];
        mop->step++;
        bool absent = (which >= A1 && which <= A3 && (c[FLAGS] & HAS_A123) == 0) ||
                      ((which == B || which == SKIP_B) && (c[FLAGS] & HAS_B) == 0);
        if (!absent) {
            *word = c[which];
            return true;
        }
    }
    return false;
}

static uint32_t loop_word(const struct nocap_mop *mop, uint32_t i)
{
    const uint32_t *c = mop->config.word;
    if (i + 1 == mop->inner) {
        return c[mop->round + 1 == mop->outer ? LAST_OF_ALL : LAST_OF_ROUND];
    }
    /* inner is even where the two alternate, so each round begins with the first */
    return is_nop(c[LOOP1]) || i % 2 == 0 ? c[LOOP] : c[LOOP1];
}

/* Template 1, `step` of a round: START, the inner loop, END0, END1. */
static bool next_looped(struct nocap_mop *mop, uint32_t *word)
{
    const uint32_t *c = mop->config.word;
    while (mop->round < mop->outer) {
        uint32_t step = mop->step++;
        if (step == 0) {
            *word = c[START];
        } else if (step <= mop->inner) {
            *word = loop_word(mop, step - 1);
            return true; /* a NOP too */
        } else if (step == mop->inner + 1) {
            *word = c[END0];
        } else if (step == mop->inner + 2 && !is_nop(c[END0])) {
            *word = c[END1];
        } else {
            mop->round++;
            mop->step = 0;
            continue;
        }
        if (!is_nop(*word)) {
            return true;
        }
    }
    return false;
}

bool nocap_mop_next(struct nocap_mop *mop, uint32_t *word)
{
    return mop->loops ? next_looped(mop, word) : next_masked(mop, word);
}

/* ---- replay ---- */

enum nocap_replay_result nocap_replay_take(struct nocap_replay *r, uint32_t word)
{
    if (r->loads && r->left > 0) {
        r->word[r->at] = word;
        r->known |= UINT32_C(1) << r->at;
        r->at = (uint8_t)((r->at + 1) % NOCAP_REPLAY_RING);
        r->left--;
        return r->executes ? NOCAP_REPLAY_PASSES : NOCAP_REPLAY_KEPT;
    }
    if (nocap_tensix_opcode(word) != NOCAP_TENSIX_REPLAY) {
        return NOCAP_REPLAY_PASSES;
    }
    uint32_t count = NOCAP_TENSIX_GET(word, REPLAY, count);
    r->left = (uint8_t)(count == 0 ? NOCAP_REPLAY_SLOTS : count);
    r->at = (uint8_t)NOCAP_TENSIX_GET(word, REPLAY, index);
    r->loads = NOCAP_TENSIX_GET(word, REPLAY, load) != 0;
    r->executes = NOCAP_TENSIX_GET(word, REPLAY, execute) != 0;
    r->doubtful = count == 0 || count > NOCAP_REPLAY_RING;
    return NOCAP_REPLAY_KEPT;
}

bool nocap_replay_next(struct nocap_replay *r, uint32_t *word, bool *known)
{
    if (r->loads || r->left == 0) {
        return false;
    }
    *word = r->word[r->at];
    *known = (r->known >> r->at & 1) != 0;
    r->at = (uint8_t)((r->at + 1) % NOCAP_REPLAY_RING);
    r->left--;
    return true;
}
