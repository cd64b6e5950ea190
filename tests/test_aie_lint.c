/* SPDX-License-Identifier: Apache-2.0 */
/* The static rules of AIE control code: the examples of each rule, what files look like that break
 * several things, and how deadlocks are reported. */
#include "tests/aie_example.h"

static bool is_static(int i)
{
    return nocap_rules[i].family == nocap_rules[AIE_001].family &&
           (nocap_rules[i].needs | nocap_rules[i].needs_any) == 0;
}

static void examples_violate_their_rule_alone(void **state)
{
    (void)state;
    unsigned count = 0;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (!is_static(i)) {
            continue;
        }
        const char *text = nocap_rules[i].violates;
        struct nocap_report *report = aie_example_judge(nocap_rules[i].id, text);
        bool alone = report->finding_count == aie_example_settings(text).findings;
        for (size_t f = 0; f < report->finding_count; f++) {
            alone &= report->findings[f].rule == (enum nocap_rule)i;
        }
        if (!alone || report->rules[i].verdict != NOCAP_VIOLATED) {
            aie_example_show_and_fail(report, nocap_rules[i].id);
        }
        nocap_report_free(report);
        count++;
    }
    assert_true(count >= 59);
}

static void examples_that_hold_exercise_their_rule(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (!is_static(i)) {
            continue;
        }
        struct nocap_report *report = aie_example_judge(nocap_rules[i].id, nocap_rules[i].holds);
        if (report->finding_count != 0 || report->rules[i].verdict != NOCAP_HELD) {
            aie_example_show_and_fail(report, nocap_rules[i].id);
        }
        nocap_report_free(report);
    }
}

static void a_deadlock_is_told_as_a_circle(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_only("START_JOB 1\n LOCAL_BARRIER $lb0, 2\n"
                                                   " LOCAL_BARRIER $lb1, 2\nEND_JOB\n"
                                                   "START_JOB 2\n LOCAL_BARRIER $lb1, 2\n"
                                                   " LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n",
                                                   AIE_043, 24);
    assert_contains(report->findings[0].observed, "job 1 is blocked at $lb0 (offset 24)");
    assert_contains(
        report->findings[0].observed,
        "and waits for job 2, which is blocked at $lb1 (offset 44) and waits for job 1");
    nocap_report_free(report);
}

static void a_circle_of_three_columns_is_told(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_only(
        ".attach_to_group 0\nSTART_JOB 0\n REMOTE_BARRIER $rb0, 3\n REMOTE_BARRIER $rb2, 5\n"
        "END_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 0\n REMOTE_BARRIER $rb1, 6\n REMOTE_BARRIER $rb0, 3\n"
        "END_JOB\nEOF\n"
        ".attach_to_group 2\nSTART_JOB 0\n REMOTE_BARRIER $rb2, 5\n REMOTE_BARRIER $rb1, 6\n"
        "END_JOB\nEOF\n",
        AIE_046, 24);
    assert_string_equal(
        report->findings[0].observed,
        "column 0 is blocked at $rb0 (page 0, offset 24) and waits for column 1, which comes there "
        "at "
        "page 0, offset 32, but is blocked at $rb1 (page 0, offset 24) and waits for column 2, "
        "which "
        "comes there at page 0, offset 32, but is blocked at $rb2 (page 0, offset 24) and waits "
        "for "
        "column 0, which comes there at page 0, offset 32");
    nocap_report_free(report);
}

static void who_does_not_come_to_a_remote_barrier_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *what;
    } cases[] = {
        {" REMOTE_BARRIER $rb0, 5\n", " NOP\n", "and column 2 has no code"},
        {" REMOTE_BARRIER $rb0, 3\n", " NOP\n", "to which it comes 1 times, and column 1 0 times"},
        {" REMOTE_BARRIER $rb0, 2\n", " NOP\n", "which leaves this column out"},
        {" REMOTE_BARRIER $rb0, 3\n", " REMOTE_BARRIER $rb0, 2\n", "but 0x3 in column 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 ".attach_to_group 0\nSTART_JOB 0\n%sEND_JOB\nEOF\n"
                 ".attach_to_group 1\nSTART_JOB 0\n%sEND_JOB\nEOF\n",
                 cases[i].first, cases[i].second);
        struct nocap_report *report = aie_example_only(text, AIE_044, 24);
        assert_contains(report->findings[0].observed, cases[i].what);
        nocap_report_free(report);
    }
}

static void a_barrier_before_the_launch_of_its_partner_is_a_deadlock(void **state)
{
    (void)state;
    struct nocap_report *report =
        aie_example_only("START_JOB 1\n LOCAL_BARRIER $lb0, 2\n LAUNCH_JOB 2\nEND_JOB\n"
                         "START_JOB_DEFERRED 2\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n",
                         AIE_043, 24);
    assert_contains(report->findings[0].observed, "job 2, which is not launched before");
    nocap_report_free(report);
}

/* A job that never runs is an error where others wait for it, and columns that wait for those are
 * no fault of their own. */
static void a_job_that_others_wait_for_must_be_launched(void **state)
{
    (void)state;
    static const char other[] = ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\n"
                                "END_JOB\nEOF\n";
    static const struct {
        const char *text, *observed;
        unsigned columns;
        enum nocap_severity severity;
    } rows[] = {
        {"START_JOB 1\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
         "START_JOB_DEFERRED 2\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n",
         "job 2 is launched by no job; job 1 waits for it at $lb0", 1, NOCAP_ERROR},
        {"START_JOB 1\n LOCAL_BARRIER $lb0, 2\n REMOTE_BARRIER $rb0, 3\nEND_JOB\n"
         "START_JOB_DEFERRED 2\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n",
         "job 2 is launched by no job; job 1 waits for it at $lb0", 2, NOCAP_ERROR},
        {"START_JOB 1\n NOP\nEND_JOB\n"
         "START_JOB_DEFERRED 2\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n",
         "job 2 is launched by no job; at $rb0 it is to meet columns of mask 0x2", 2, NOCAP_ERROR},
        {"START_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\n"
         "START_JOB_DEFERRED 2\n NOP\nEND_JOB\nEOF\n",
         "job 2 is launched by no job", 2, NOCAP_WARNING},
        /* those that run are enough; that the numbers do not fit is another fault */
        {"#! rules AIE-021\nSTART_JOB 1\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
         "START_JOB 3\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
         "START_JOB_DEFERRED 2\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n",
         "job 2 is launched by no job", 1, NOCAP_WARNING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, ".attach_to_group 0\n%s%s", rows[i].text,
                 rows[i].columns == 2 ? other : "");
        struct nocap_report *report = aie_example_judge("program", text);
        assert_int_equal(report->finding_count, 1);
        assert_int_equal(report->findings[0].rule, AIE_021);
        assert_int_equal(report->findings[0].severity, rows[i].severity);
        assert_string_equal(report->findings[0].observed, rows[i].observed);
        nocap_report_free(report);
    }
}

static void a_launch_that_is_wrong_stands_for_one_that_is_missing(void **state)
{
    (void)state;
    /* it was meant for job 2, which launches job 3 */
    nocap_report_free(aie_example_only(".attach_to_group 0\nSTART_JOB 1\n LAUNCH_JOB 1\nEND_JOB\n"
                                       "START_JOB_DEFERRED 2\n LAUNCH_JOB 3\nEND_JOB\n"
                                       "START_JOB_DEFERRED 3\n NOP\nEND_JOB\nEOF\n",
                                       AIE_019, 24));
    struct nocap_report *report =
        aie_example_judge("program", ".attach_to_group 0\nSTART_JOB 1\n LAUNCH_JOB 1\nEND_JOB\n"
                                     "START_JOB_DEFERRED 2\n NOP\nEND_JOB\n"
                                     "START_JOB_DEFERRED 3\n NOP\nEND_JOB\nEOF\n");
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->findings[0].rule, AIE_019);
    assert_int_equal(report->findings[1].rule, AIE_021);
    nocap_report_free(report);
}

static void a_deadlock_in_a_page_is_told_once(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_only(
        ".attach_to_group 0\nSTART_JOB 1\n LOCAL_BARRIER $lb0, 2\n LOCAL_BARRIER $lb1, 2\n"
        " REMOTE_BARRIER $rb0, 3\nEND_JOB\n"
        "START_JOB 2\n LOCAL_BARRIER $lb1, 2\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n",
        AIE_043, 24);
    nocap_report_free(report);
}

static void order_by_barrier_or_launch_is_known(void **state)
{
    (void)state;
    static const char *const ordered[] = {
        "START_JOB 1\n APPLY_OFFSET_57 @t, 1, 3\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
        "START_JOB 2\n LOCAL_BARRIER $lb0, 2\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n",
        "START_JOB 1\n APPLY_OFFSET_57 @t, 1, 3\n LAUNCH_JOB 2\nEND_JOB\n"
        "START_JOB_DEFERRED 2\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n",
        "START_JOB 1\n LOCAL_BARRIER $lb0, 2\n APPLY_OFFSET_57 @t, 1, 3\nEND_JOB\n"
        "START_JOB 2\n LOCAL_BARRIER $lb0, 2\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n"};
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "%sc:\n UC_DMA_BD 0, 0x1D000, @t, 8, 0, 0\nt:\n"
                 " .long 1\n .long 0\n .long 0\n .long 0\n .long 0\n .long 0\n .long 0\n"
                 " .long 0\n .long 0\n",
                 ordered[i]);
        struct nocap_report *report = aie_example_judge("order", text);
        assert_int_equal(report->rules[AIE_033].violations, i == 2);
        assert_int_equal(report->finding_count, i == 2);
        nocap_report_free(report);
    }
}

/* A descriptor whose source is the next one of its chain is wrong itself; one whose source stands
 * where the next would be, and is none, has the wrong end. */
static void a_chain_is_told_from_the_data_after_it(void **state)
{
    (void)state;
#define CHAIN(source, label, next)                                                                 \
    "START_JOB 0\n UC_DMA_WRITE_DES_SYNC @chain\nEND_JOB\nEOF\nchain:\n"                           \
    " UC_DMA_BD 0, 0x1A0000, @" source ", 1, 0, 1\n" label                                         \
    " UC_DMA_BD 0, 0x1A0010, @words, 1, 0, " next "\nwords:\n"                                     \
    " .long 1\n .long 2\n .long 3\n .long 4\n"
    struct nocap_report *report = aie_example_only(CHAIN("second", "second:\n", "0"), AIE_030, 24);
    assert_contains(report->findings[0].observed, "transfers its own chain");
    nocap_report_free(report);
    report = aie_example_only(CHAIN("words", "", "1"), AIE_028, 24);
    assert_contains(report->findings[0].observed, "runs on into other data");
    nocap_report_free(report);
    report = aie_example_judge("chain", CHAIN("words", "", "0"));
    assert_int_equal(report->finding_count, 0);
    nocap_report_free(report);
}

static void pages_that_cannot_be_read_are_told_once(void **state)
{
    (void)state;
    nocap_report_free(aie_example_only("START_JOB 1\n MOV $r1, 1\n ADD $r2, 1\nEND_JOB\nEOF\n"
                                       "#! uc 0 page 0 offset 24: 0a\n",
                                       AIE_001, 24));
    nocap_report_free(
        aie_example_only("START_JOB 1\n NOP\nEND_JOB\nSTART_JOB 2\n NOP\nEND_JOB\nEOF\n"
                         "#! uc 0 page 0 offset 28: 16\n",
                         AIE_014, 32));
}

/* The page before says how long it is, and is right. */
static void a_page_length_that_cannot_be_is_no_fault_of_the_page_before(void **state)
{
    (void)state;
    struct nocap_report *report =
        aie_example_only("#! uc 0 page 1 offset 8: 18\nSTART_JOB 1\n NOP\nEND_JOB\n.eop\n"
                         "START_JOB 2\n NOP\n NOP\nEND_JOB\nEOF\n",
                         AIE_049, 8);
    assert_int_equal(report->findings[0].page, 1);
    nocap_report_free(report);
}

static void shared_registers_may_carry_handles_between_jobs(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_judge(
        "shared", "START_JOB 1\n UC_DMA_WRITE_DES $g2, @c\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
                  "START_JOB 2\n LOCAL_BARRIER $lb0, 2\n WAIT_UC_DMA $g2\nEND_JOB\nEOF\n"
                  "c:\n UC_DMA_BD 0, 0x1A0000, @w, 1, 0, 0\nw:\n .long 1\n");
    assert_int_equal(report->finding_count, 0);
    nocap_report_free(report);
    report = aie_example_only("START_JOB 1\n WAIT_UC_DMA $g2\nEND_JOB\nEOF\n", AIE_024, 24);
    assert_int_equal(report->findings[0].severity, NOCAP_WARNING);
    nocap_report_free(report);
}

/* The local address counts from the descriptor, modulo 2^32: here it is 16 less. */
static void a_descriptor_may_transfer_what_lies_before_it(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_judge(
        "program", "#! uc 0 page 0 offset 68: f0\n#! uc 0 page 0 offset 69: ff\n"
                   "#! uc 0 page 0 offset 70: ff\n#! uc 0 page 0 offset 71: ff\n"
                   "START_JOB 0\n UC_DMA_WRITE_DES_SYNC @one\n UC_DMA_WRITE_DES_SYNC @two\n"
                   "END_JOB\nEOF\n.align 16\none:\n UC_DMA_BD 0, 0x8000, @a, 1, 0, 0\n"
                   "two:\n UC_DMA_BD 0, 0x9000, @a, 1, 0, 0\n.align 4\na:\n .long 1\n");
    assert_int_equal(report->rules[AIE_030].verdict, NOCAP_HELD);
    nocap_report_free(report);
}

/* In n26 a chain is in order, as the assembler's own code for saving has it; jobs are not. */
static void a_chain_of_n26_may_write_a_place_twice(void **state)
{
    (void)state;
    static const char data[] = ".align 16\none:\n UC_DMA_BD 0, 0x8000, @a, 1, 0, 1\n"
                               " UC_DMA_BD 0, 0x8000, @b, 1, 0, 0\n"
                               "two:\n UC_DMA_BD 0, 0x8000, @a, 1, 0, 0\n"
                               ".align 4\na:\n .long 1\nb:\n .long 2\n";
    static const struct {
        const char *text;
        unsigned violations;
    } rows[] = {
        {"#! dialect n26\nSTART_JOB 0\n UC_DMA_WRITE_DES_SYNC @one\nEND_JOB\nEOF\n", 0},
        {"#! dialect n26\nSTART_JOB 0\n UC_DMA_WRITE_DES_SYNC @one\nEND_JOB\n"
         "START_JOB 1\n UC_DMA_WRITE_DES_SYNC @two\nEND_JOB\nEOF\n",
         1},
        {"START_JOB 0\n UC_DMA_WRITE_DES_SYNC @one\nEND_JOB\nEOF\n", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", rows[i].text, data);
        struct nocap_report *report = aie_example_judge("program", text);
        assert_int_equal(report->rules[AIE_031].violations, rows[i].violations);
        nocap_report_free(report);
    }
}

/* The assembler of n26 has names for them, and its programs wait for them. */
static void tokens_of_core_tiles_are_of_n26(void **state)
{
    (void)state;
    static const char *const heads[] = {"#! dialect n26\n.target aie4\n", "#! dialect n26\n", ""};
    for (size_t i = 0; i < 3; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "%sSTART_JOB 0\n WAIT_TCTS TILE_0_3, TILE_S2MM_1, 1\nEND_JOB\nEOF\n", heads[i]);
        struct nocap_report *report = aie_example_judge("program", text);
        assert_int_equal(report->rules[AIE_039].violations, i == 2);
        nocap_report_free(report);
    }
}

static void a_poll_that_cannot_match_is_an_error(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_only(
        "START_JOB 0\n MASK_POLL_32 0x1A0000, 0xf0, 0x11\nEND_JOB\nEOF\n", AIE_013, 24);
    assert_int_equal(report->findings[0].severity, NOCAP_ERROR);
    nocap_report_free(report);
    report = aie_example_only("START_JOB 0\n MASK_WRITE_32 0x1A0000, 0xf0, 0x11\nEND_JOB\nEOF\n",
                              AIE_013, 24);
    assert_int_equal(report->findings[0].severity, NOCAP_WARNING);
    nocap_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_violate_their_rule_alone),
        cmocka_unit_test(examples_that_hold_exercise_their_rule),
        cmocka_unit_test(a_deadlock_is_told_as_a_circle),
        cmocka_unit_test(a_circle_of_three_columns_is_told),
        cmocka_unit_test(who_does_not_come_to_a_remote_barrier_is_told),
        cmocka_unit_test(a_barrier_before_the_launch_of_its_partner_is_a_deadlock),
        cmocka_unit_test(a_job_that_others_wait_for_must_be_launched),
        cmocka_unit_test(a_launch_that_is_wrong_stands_for_one_that_is_missing),
        cmocka_unit_test(a_deadlock_in_a_page_is_told_once),
        cmocka_unit_test(order_by_barrier_or_launch_is_known),
        cmocka_unit_test(a_chain_is_told_from_the_data_after_it),
        cmocka_unit_test(pages_that_cannot_be_read_are_told_once),
        cmocka_unit_test(a_page_length_that_cannot_be_is_no_fault_of_the_page_before),
        cmocka_unit_test(shared_registers_may_carry_handles_between_jobs),
        cmocka_unit_test(a_descriptor_may_transfer_what_lies_before_it),
        cmocka_unit_test(a_chain_of_n26_may_write_a_place_twice),
        cmocka_unit_test(tokens_of_core_tiles_are_of_n26),
        cmocka_unit_test(a_poll_that_cannot_match_is_an_error),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
