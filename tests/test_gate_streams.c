/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of words behind the Tensix Wait Gate: expansion, repetition, merging, and where one
 * that lacks a word goes on. */
#include "tests/gate_rows.h"

#define MOP_ROUND_1 ISSUE(12, 0, 0x5e200400) ISSUE(13, 0, 0x51200003) ISSUE(14, 0, 0x51200006)
#define MOP_ROUND_2 ISSUE(15, 0, 0x5e200400) ISSUE(16, 0, 0x51200003) ISSUE(17, 0, 0x51200005)

static void a_mop_issues_what_its_configuration_says(void)
{
    expect_findings(COMPLETE MOP_CONFIG PUSH(10, 0, 0x01800000) MOP_ROUND_1 MOP_ROUND_2, "");
    expect_findings(COMPLETE MOP_CONFIG PUSH(10, 0, 0x01800000) MOP_ROUND_1 MOP_ROUND_1,
                    "TNX-003@15");
    /* stores after the push are for the next MOP */
    expect_findings(COMPLETE MOP_CONFIG PUSH(10, 0, 0x01800000) MOP_STORE(11, 14, 0x51200007)
                        MOP_ROUND_1 MOP_ROUND_2,
                    "");
    /* a configuration that was not seen: anything may issue */
    expect_findings(COMPLETE PUSH(10, 0, 0x01800000) MOP_ROUND_1 ISSUE(20, 0, 0x51200001), "");
}

static void a_replay_repeats_what_was_recorded(void)
{
#define RECORDED                                                                                   \
    PUSH(10, 0, 0x04000021) PUSH(11, 0, 0x51200003) PUSH(12, 0, 0x51200004) PUSH(13, 0, 0x04000020)
    expect_findings(COMPLETE RECORDED ISSUE(14, 0, 0x51200003) ISSUE(15, 0, 0x51200004), "");
    expect_findings(COMPLETE RECORDED ISSUE(14, 0, 0x51200004), "TNX-003@4");
    /* recorded without execution: no issue of its own */
    expect_findings(COMPLETE PUSH(10, 0, 0x04000011) WORD(11, 0, 0x51200003), "TNX-003@2");
}

static void brisc_merges_anywhere_and_nops_may_go(void)
{
    expect_findings(COMPLETE PUSH(10, 0, 0x51200003) BRISC_PUSH(10, 0, 0x51200004)
                        PUSH(10, 0, 0x02000000) PUSH(10, 0, 0x51200005) ISSUE(11, 0, 0x51200004)
                            ISSUE(12, 0, 0x51200003) ISSUE(13, 0, 0x51200005),
                    "");
    /* which words a replay of BRISC's takes depends on the merge */
    expect_findings(COMPLETE BRISC_PUSH(10, 0, 0x04000021) BRISC_PUSH(11, 0, 0x51200003)
                        PUSH(11, 0, 0x51200004) ISSUE(12, 0, 0x51200004) ISSUE(13, 0, 0x51200003),
                    "");
}

/* A get that should still be held finds its semaphore at 0: one fault. */
static void a_word_that_leaks_is_told_once(void)
{
    expect_findings(COMPLETE PUSH(10, 0, 0xa3200008) ISSUE(10, 0, 0xa3200008)
                        PUSH(11, 2, 0xa6010009) ISSUE(11, 2, 0xa6010009) PUSH(12, 2, 0xa5000008)
                            ISSUE(12, 2, 0xa5000008),
                    "TNX-001@5");
}

/* One fault gives one finding, whatever was lost, doubled or changed. */
static void a_stream_finds_its_place_again(void)
{
    expect_findings(COMPLETE PUSHED I(1) I(3) I(4) I(5) I(6) I(7) I(8) I(9) I(a), "TNX-003@11");
    expect_findings(COMPLETE PUSHED I(1) I(1) I(2) I(3) I(4) I(5) I(6) I(7) I(8) I(9) I(a),
                    "TNX-003@11");
    expect_findings(COMPLETE PUSHED I(1) I(f) I(3) I(4) I(5) I(6) I(7) I(8) I(a),
                    "TNX-003@11 TNX-003@18");
    expect_findings(COMPLETE BRISC_PUSH(10, 0, 0x51200001) BRISC_PUSH(10, 0, 0x51200002)
                        BRISC_PUSH(10, 0, 0x51200003) BRISC_PUSH(10, 0, 0x51200004) I(1) I(3) I(4),
                    "TNX-003@5");
    expect_findings(COMPLETE PUSHED I(2) I(1) I(3) I(4) I(5) I(6) I(7) I(8) I(9), "TNX-003@10");
    expect_findings(COMPLETE PUSHED I(1) I(2) I(3) I(4) I(5) I(6) I(7) I(8) I(9) I(a) I(f)
                        WORD(12, 0, 0x5120000b) PUSH(13, 0, 0x5120000f) WORD(14, 0, 0x5120000c),
                    "TNX-003@20");
    /* in a run of equal words the one that was changed took a place */
    expect_findings(COMPLETE P(1) P(1) P(1) P(1) P(1) P(1) P(1) P(1) P(2) P(3) I(1) I(f) I(1) I(1)
                        I(1) I(1) I(1) I(1) I(2) I(3),
                    "TNX-003@11");
    /* where words alternate, which of them is missing shows at their end */
    expect_findings(COMPLETE P(1) P(2) P(1) P(2) P(1) P(2) P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8)
                        I(2) I(1) I(2) I(1) I(2) I(1) I(2) I(3) I(4) I(5) I(6) I(7) I(8),
                    "TNX-003@14");
    /* a NOP that is swallowed, or not, is no sign */
    expect_findings(COMPLETE PUSHED I(1) I(f) I(3) I(4) ISSUE(11, 0, 0x2000000) I(5) I(6) I(8),
                    "TNX-003@11 TNX-003@17");
    /* what BRISC had pushed until then may have issued meanwhile */
    expect_findings(COMPLETE BRISC_PUSH(10, 0, 0x5120000b) PUSHED I(1) I(f) I(b) I(3) I(4) I(5) I(6)
                        BRISC_PUSH(12, 0, 0x5120000c) I(c) I(7),
                    "TNX-003@12");
}

/* Of two faults that are near each other the second shows when the place is found again. */
static void two_words_are_out_of_their_place(void)
{
    expect_findings(COMPLETE PUSHED I(1) I(3) I(4) I(6) I(7) I(8) I(9) I(a),
                    "TNX-003@11 TNX-003@16");
    expect_findings(COMPLETE PUSHED I(1) I(f) I(2) I(4) I(5) I(6) I(7), "TNX-003@11 TNX-003@16");
    expect_findings(COMPLETE PUSHED I(1) I(f) I(3) I(e) I(5) I(6) I(7) I(8),
                    "TNX-003@11 TNX-003@17");
    expect_findings(COMPLETE PUSHED I(1) I(f) I(3) I(4) I(5) I(6) I(7) I(f) I(9) I(a),
                    "TNX-003@11 TNX-003@17");
    /* what passes others is missing here and too much there */
    expect_findings(COMPLETE PUSHED I(1) I(3) I(4) I(2) I(5) I(6) I(7) I(8), "TNX-003@11");
    expect_findings(COMPLETE PUSHED I(1) I(4) I(2) I(3) I(5) I(6) I(7) I(8), "TNX-003@11");
    /* what is twice the same is a fault of what repeats it */
    expect_findings(COMPLETE P(1) P(2) P(1) P(3) P(4) P(5) P(6) I(2) I(3) I(4) I(5) I(6),
                    "TNX-003@7");
    expect_findings(COMPLETE P(1) P(2) P(3) P(4) P(5) P(6) I(f) I(1) I(f) I(2) I(3) I(4) I(5),
                    "TNX-003@6");
}

/* Where words repeat themselves the place that is taken after a fault may be another one: what fits
 * there is no second fault. */
static void a_place_among_several(void)
{
#define P_ROUND  P(1) P(2) P(3) P(4) P(5)
#define I_ROUND  I(1) I(2) I(3) I(4) I(5)
#define P_ROUNDS P_ROUND P_ROUND P_ROUND P(6) P(7) P(8) P(9) P(a)
    expect_findings(COMPLETE P_ROUNDS I(1) I(3) I(4) I(5) I_ROUND I_ROUND I(6) I(8) I(9) I(a),
                    "TNX-003@21 TNX-003@35");
    expect_findings(COMPLETE P_ROUNDS I(1) I(3) I(4) I(5) I_ROUND I(6) I(7) I(8) I(9) I(a),
                    "TNX-003@21");
    expect_findings(COMPLETE P_ROUNDS I(1) I(f) I(f) I(f) I(f) I(f) I(2) I(3) I(4) I(5)
                        I_ROUND I_ROUND I(6) I(7) I(8) I(9) I(a),
                    "TNX-003@21");
    expect_findings(COMPLETE P_ROUNDS I(1) I(f) I(f) I(f) I(f) I(f) I(2) I(3) I(4) I(5) I(1) I(2)
                        I(4) I(5) I_ROUND I(6) I(7) I(8) I(9) I(a),
                    "TNX-003@21 TNX-003@32");
}

/* What a word did that should have issued is not known: no semaphore, wait or work is judged by
 * it. */
static void a_word_that_is_missing_is_told_once(void)
{
    expect_findings(COMPLETE WORD(10, 1, 0xa3200008) PUSH(11, 1, 0xa4000008) WORD(12, 1, 0x51200003)
                        WORD(13, 2, 0xa5000008),
                    "TNX-003@4");
    expect_findings(COMPLETE UNIT(8, 2, pack, true) WORD(10, 2, 0xa2100008) PUSH(12, 2, 0x45000303)
                        WORD(13, 2, 0x45000304),
                    "TNX-002@5");
    expect_findings(COMPLETE WORD(10, 1, 0x26000000) PUSH(12, 1, 0xa2010810)
                        WORD(21, 1, 0xb2010200),
                    "TNX-003@4");
}

/* A word that came twice has not come early for good. */
static void a_word_of_a_loop_is_missing_later(void)
{
#define WORDS_2_TO_4 WORD(12, 1, 0x51200002) WORD(13, 1, 0x51200003) WORD(14, 1, 0x51200004)
#define ROUND        WORD(11, 1, 0x51200001) WORDS_2_TO_4
    expect_findings(COMPLETE WORD(10, 1, 0x51200001) ISSUE(10, 1, 0x51200001)
                        WORDS_2_TO_4 ROUND ROUND PUSH(15, 1, 0x51200001) WORDS_2_TO_4,
                    "TNX-003@2 TNX-003@27");
}

static void what_was_not_seen_is_not_judged(void)
{
    expect_findings(ATTACHED PUSHED I(f) I(1) I(e) I(2), "");
    expect_findings(COMPLETE P(1) DROP(11) P(2) I(3) I(4), "");
    expect_findings(ATTACHED WORD(10, 2, 0xa6008009) WORD(20, 2, 0x41000001), "");
    expect_findings(ATTACHED WORD(10, 0, 0xa5000020) WORD(11, 1, 0x08002000), "");
    expect_findings(ATTACHED ISSUE_SEM(10, 0, 0x51200003, "[0,0,0,1,0,0,0,0]")
                        ISSUE_SEM(1011, 0, 0xa5000020, "[0,0,0,0,0,0,0,0]")
                            ISSUE_SEM(12, 0, 0xa5000020, "[0,0,0,0,0,0,0,0]"),
                    "TNX-013@2");
}

int main(void)
{
    static void (*const tables[])(void) = {
        a_mop_issues_what_its_configuration_says, a_replay_repeats_what_was_recorded,
        brisc_merges_anywhere_and_nops_may_go,    a_stream_finds_its_place_again,
        two_words_are_out_of_their_place,        a_place_among_several,
        a_word_that_leaks_is_told_once,           a_word_that_is_missing_is_told_once,
        a_word_of_a_loop_is_missing_later,        what_was_not_seen_is_not_judged,
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        tables[i]();
    }
    return rows_run(&rows, "gate_streams");
}
