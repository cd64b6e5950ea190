/* SPDX-License-Identifier: Apache-2.0 */
/* The Tensix Wait Gate, beyond the examples of the rules: units, banks and semaphores, work and the
 * waits between, deadlocks, what is not known, and the traces of the gate model. */
#include "tests/gate_rows.h"

/* ---- the gate ---- */

static void units_and_banks_hold(void)
{
#define WAITS_FOR_PACK UNIT(8, 2, pack, true) WORD(10, 2, 0xa2100008)
    expect_findings(COMPLETE WAITS_FOR_PACK WORD(12, 2, 0x45000303), "TNX-001@4");
    expect_findings(COMPLETE WAITS_FOR_PACK UNIT(11, 2, pack, false) WORD(12, 2, 0x45000303), "");
    /* another thread's packing is not waited for, any thread's configuration is */
    expect_findings(COMPLETE UNIT(8, 1, pack, true) WORD(10, 2, 0xa2100008) WORD(12, 2, 0x45000303),
                    "");
    expect_findings(COMPLETE UNIT(8, 1, cfg, true) WORD(10, 2, 0xa2101000) WORD(12, 2, 0x45000303),
                    "TNX-001@4");
    expect_findings(COMPLETE WORD(10, 1, 0xa2200080) WORD(12, 1, 0x08002000), "TNX-001@3");
    /* a word that the mask does not name goes on; NOP only if all bits are set */
    expect_findings(COMPLETE WAITS_FOR_PACK WORD(12, 2, 0x02000000) WORD(13, 2, 0xb2050000), "");
    expect_findings(COMPLETE UNIT(8, 2, pack, true) WORD(10, 2, 0xa2ff8008) WORD(12, 2, 0x02000000),
                    "TNX-001@4");
}

/* A word that passes a unit at work may also mean that its rest was not told: one finding, and
 * nothing is held by it any more. */
static void a_unit_that_was_passed_is_not_known(void)
{
    expect_findings(COMPLETE WAITS_FOR_PACK WORD(12, 2, 0x45000303) WORD(14, 2, 0xa2100008)
                        WORD(16, 2, 0x45000303),
                    "TNX-001@4");
    expect_findings(COMPLETE WORD(10, 1, 0xa2200080) WORD(12, 1, 0x08002000) WORD(14, 1, 0xa2200080)
                        WORD(16, 1, 0x08002000),
                    "TNX-001@3");
    /* nor the same unit with the work of another thread */
    expect_findings(COMPLETE UNIT(8, 1, cfg, true) WORD(10, 2, 0xa2101000) WORD(12, 2, 0x45000303)
                        WORD(14, 2, 0xa2101000) WORD(16, 2, 0x45000303),
                    "TNX-001@4");
}

static void retirement_tells_where_units_do_not(void)
{
#define RETIRES TRACE("\"tensix-push\",\"tensix-issue\",\"tensix-retire\",\"core-mmio\"", "true")
    expect_findings(RETIRES WORD(10, 2, 0x41000000) WORD(12, 2, 0xa2420008) WORD(14, 2, 0x41000001),
                    "TNX-001@5");
    expect_findings(RETIRES WORD(10, 2, 0x41000000) WORD(12, 2, 0xa2420008)
                        TENSIX(13, retire, 2, 0x41000000, "") WORD(15, 2, 0x41000001),
                    "");
    /* with neither nobody knows */
    expect_findings(TRACE("\"tensix-push\",\"tensix-issue\",\"core-mmio\"", "true")
                        WORD(10, 2, 0x41000000) WORD(12, 2, 0xa2420008) WORD(14, 2, 0x41000001),
                    "");
}

static void defaults_take_the_place_of_zero(void)
{
    expect_findings(COMPLETE UNIT(8, 1, thcon, true) WORD(10, 1, 0xa2000000)
                        WORD(12, 1, 0x26000000),
                    "TNX-001@4");
    expect_findings(COMPLETE UNIT(8, 1, fpu, true) WORD(10, 1, 0xa2000000) WORD(12, 1, 0x45000318),
                    "");
}

static void cores_post_and_get_too(void)
{
    expect_findings(COMPLETE WORD(10, 1, 0xa3200008) WORD(20, 2, 0xa6008009)
                        STORE(22, trisc1, 0xffe80024, 4, 0x0) WORD(25, 2, 0x41000001),
                    "");
    /* the store may show a little later */
    expect_findings(COMPLETE WORD(10, 1, 0xa3200008) STORE(12, trisc1, 0xffe80024, 4, 0x0)
                        PUSH(13, 1, 0x02000000) ISSUE_SEM(13, 1, 0x02000000, "[0,0,0,0,0,0,0,0]")
                            PUSH(14, 1, 0x02000000)
                                ISSUE_SEM(14, 1, 0x02000000, "[0,1,0,0,0,0,0,0]"),
                    "");
}

/* What follows from a semaphore that is wrong is no finding of its own, until it is right again. */
static void a_semaphore_is_wrong_once(void)
{
#define NO_SEM "[0,0,0,0,0,0,0,0]"
#define LOST_POST                                                                                  \
    WORD(10, 1, 0xa3200008) PUSH(11, 1, 0xa4000008) ISSUE_SEM(11, 1, 0xa4000008, NO_SEM)
#define GET          WORD(12, 2, 0xa5000008)
#define AGREED       PUSH(13, 1, 0x02000000) ISSUE_SEM(13, 1, 0x02000000, NO_SEM)
#define AS_IT_SHOULD PUSH(13, 1, 0x02000000) ISSUE_SEM(13, 1, 0x02000000, "[0,1,0,0,0,0,0,0]")
    expect_findings(COMPLETE LOST_POST GET, "TNX-005@3");
    expect_findings(COMPLETE LOST_POST AGREED GET, "TNX-005@3"); /* it gets what was posted */
    expect_findings(COMPLETE LOST_POST AGREED GET GET, "TNX-005@3 TNX-013@9");
    expect_findings(COMPLETE LOST_POST AGREED PUSH(14, 1, 0xa4000008)
                        ISSUE_SEM(14, 1, 0xa4000008, NO_SEM),
                    "TNX-005@3 TNX-005@7");
    expect_findings(COMPLETE LOST_POST AS_IT_SHOULD AS_IT_SHOULD GET, "TNX-005@3");
    expect_findings(COMPLETE LOST_POST WORD(20, 2, 0xa6008009) WORD(22, 2, 0x41000001),
                    "TNX-005@3");
    expect_findings(COMPLETE LOST_POST WORD(20, 2, 0xa6008009) HELD(21, 2, 0x41000001) NOTE(50000),
                    "TNX-005@3");
    /* several at once */
    expect_findings(COMPLETE WORD(10, 1, 0xa3200008) PUSH(11, 1, 0xa4000008)
                        ISSUE_SEM(11, 1, 0xa4000008, "[0,0,0,3,0,0,0,0]"),
                    "TNX-005@3");
}

/* Where core stores are not observed, a value that no word made is a core's post or get. */
static void unseen_cores_post_and_get(void)
{
    expect_findings(TRACE("\"tensix-push\",\"tensix-issue\"", "true") WORD(10, 1, 0xa3200008)
                        WORD(20, 2, 0xa6008009) PUSH(25, 2, 0x41000001)
                            ISSUE_SEM(25, 2, 0x41000001, "[0,1,0,0,0,0,0,0]")
                                WORD(26, 1, 0xa5000008) WORD(27, 1, 0xa5000008),
                    "");
    /* one that is gotten again before the next word leaves no sign */
    expect_findings(TRACE("\"tensix-push\",\"tensix-issue\"", "true") WORD(10, 1, 0xa3200008)
                        PUSH(20, 2, 0xa6010009) ISSUE_SEM(20, 2, 0xa6010009, NO_SEM)
                            PUSH(25, 2, 0xa5000008) ISSUE_SEM(25, 2, 0xa5000008, NO_SEM),
                    "");
}

/* A thread that waits in the end may wait for what an earlier fault left out or did twice. */
static void what_follows_from_a_fault_of_the_threads(void)
{
#define ROOM WORD(10, 1, 0xa3200008)
#define TILE WORD(20, 2, 0xa6008009) HELD(21, 2, 0x41000001)
    expect_findings(COMPLETE ROOM PUSH(10, 0, 0xa4000008) P(1) P(2) P(3) P(4) P(5) P(6) I(1) I(2)
                        I(3) I(4) I(5) ISSUE_SEM(12, 0, 0x51200006, NO_SEM) TILE NOTE(50000),
                    "TNX-003@9");
    expect_findings(COMPLETE LOST_POST AGREED TILE NOTE(50000), "TNX-005@3");
    /* past a wait for a semaphore: the gate leaked, or a post of the semaphore was lost */
    expect_findings(COMPLETE ROOM WORD(20, 2, 0xa6008009) WORD(21, 2, 0x41000001)
                        WORD(22, 2, 0xa5000008),
                    "TNX-001@5");
    /* a SEMGET in front of its PACR, which no longer has a SEMWAIT after the latest SEMGET */
    expect_findings(COMPLETE ROOM TILE WORD(22, 2, 0xa5000008) WORD(23, 1, 0xa4000008)
                        ISSUE(24, 2, 0x41000001),
                    "TNX-002@7");
}

/* Several sources have no order that could be trusted to the word. */
static void sources_have_no_order(void)
{
#define OTHER(t, operation, n, word) TENSIX(t, operation, n, word, ",\"src\":1")
    expect_findings(COMPLETE WAITS_FOR_PACK PUSH(12, 2, 0x45000303) OTHER(12, issue, 2, 0x45000303)
                        WORD(14, 2, 0xa2100008) WORD(16, 2, 0x45000303),
                    "");
    expect_findings(COMPLETE WORD(10, 1, 0xa3200008) OTHER(11, issue, 1, 0xa5000008), "");
    expect_findings(COMPLETE PUSHED I(1) OTHER(11, issue, 0, 0x51200003) I(5)
                        LOAD(20, trisc0, 0xffe80004, 4, 0x0) I(7),
                    "");
}

/* A wait is not forgotten in the cycle in which it comes, even if there is nothing to wait for. */
static void a_wait_holds_for_a_cycle(void)
{
#define EXACT                                                                                      \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"cycle_accurate\":true,\"complete\":true,"               \
    "\"observes\":[\"tensix-push\",\"tensix-issue\",\"tensix-unit\"]}\n"
    expect_findings(EXACT WORD(10, 2, 0xa2100008) WORD(11, 2, 0x45000303), "TNX-006@3");
    expect_findings(EXACT WORD(10, 2, 0xa2100008) WORD(12, 2, 0x45000303), "");
}

/* ---- work ---- */

static void any_later_wait_counts(void)
{
    /* pattern 8: the wait before SEMPOST also covers the flip */
    expect_findings(COMPLETE WORD(5, 1, 0xa3200008) WORD(8, 1, 0xa6a1000a) WORD(10, 1, 0x26000000)
                        WORD(12, 1, 0xa2010810) WORD(20, 1, 0xa4000008) WORD(21, 1, 0xb2010200),
                    "");
    /* a load of the PC buffer drains; words pushed before it do not count */
    expect_findings(COMPLETE WORD(10, 1, 0x26000000) LOAD(20, trisc1, 0xffe80004, 4, 0x0)
                        WORD(21, 1, 0xb2010200),
                    "");
    expect_findings(COMPLETE WORD(10, 1, 0x26000000) WORD(21, 1, 0xb2010200), "TNX-035@3");
    /* where loads are not seen its store tells: what is pushed after it came later */
    expect_findings(TRACE("\"tensix-push\",\"tensix-issue\",\"core-mmio\"",
                          "true") PUSH(10, 1, 0x26000000) STORE(11, trisc1, 0xffe80004, 4, 0x0)
                        PUSH(12, 1, 0xb2010200) ISSUE(13, 1, 0x26000000) ISSUE(14, 1, 0xb2010200),
                    "");
    /* loads from memory need a wait that names THCON */
    expect_findings(COMPLETE WORD(10, 0, 0x49000300) WORD(12, 0, 0xa2400008)
                        WORD(14, 0, 0xb00c0045),
                    "TNX-030@5");
}

/* One wait would have done for all that needs it. */
static void a_wait_that_is_missing_is_told_once(void)
{
#define TWICE(n, word) WORD(60, n, word) WORD(61, n, word)
    expect_findings(COMPLETE WORD(10, 2, 0xa2400008) TWICE(2, 0x41000001), "TNX-018@3");
    expect_findings(COMPLETE WORD(10, 2, 0xa2400008) WORD(11, 2, 0x41000001) WORD(12, 2, 0xa2400008)
                        WORD(13, 2, 0x41000001),
                    "TNX-018@3 TNX-018@7");
    expect_findings(COMPLETE WORD(10, 0, 0x45000318) TWICE(0, 0xb00c0045), "TNX-030@3");
    expect_findings(COMPLETE TWICE(1, 0x08002000), "TNX-031@1");
    expect_findings(COMPLETE WORD(5, 1, 0xa3200008) WORD(10, 1, 0xa6a1000a) WORD(12, 1, 0x26000000)
                        TWICE(1, 0xa4000008),
                    "TNX-032@7");
    expect_findings(COMPLETE WORD(5, 1, 0xa3200008) TWICE(2, 0x41000001), "TNX-033@3");
    expect_findings(COMPLETE WORD(10, 2, 0x41000001) TWICE(2, 0xb01c000c), "TNX-034@3");
    expect_findings(COMPLETE WORD(10, 1, 0xb2010000) WORD(12, 1, 0x7200e000) WORD(20, 1, 0xb2010200)
                        WORD(22, 1, 0xb2010000),
                    "TNX-035@5");
    expect_findings(COMPLETE STORE(10, trisc0, 0xffef0130, 4, 0x4a95) TWICE(0, 0x42008041),
                    "TNX-036@1");
}

static void work_is_judged_on_pushes_alone(void)
{
    expect_findings(TRACE("\"tensix-push\",\"core-mmio\"", "true") PUSH(10, 0, 0x45000318)
                        PUSH(12, 0, 0xb00c0045),
                    "TNX-030@1");
    expect_findings(TRACE("\"tensix-push\",\"core-mmio\"", "true")
                        MOP_CONFIG STORE(2, trisc0, 0xffb80014, 4, 0x42008041)
                            STORE(3, trisc0, 0xffef0130, 4, 0x1) PUSH(10, 0, 0x01800000),
                    "TNX-036@11");
    /* nobody knows whether the core drained */
    expect_findings(
        TRACE("\"tensix-push\"", "true") PUSH(10, 0, 0x45000318) PUSH(12, 0, 0xb00c0045), "");
}

/* ---- deadlocks ---- */

/* Where pushes are not told, a store to the FIFO shows the word; not what came before it, since
 * words in the code of a kernel need no store. */
static void stores_to_the_fifo_show_words(void)
{
#define STORES TRACE("\"core-mmio\"", "true")
#define PUSHES TRACE("\"core-mmio\",\"tensix-push\"", "true")
    expect_findings(STORES STORE(1, trisc1, 0xffe40000, 4, 0xa6008008), "TNX-011@0");
    expect_findings(STORES STORE(1, brisc, 0xffe50004, 4, 0x01000000), "TNX-019@0");
    expect_findings(STORES STORE(1, trisc2, 0xffe40000, 4, 0x45000038)
                        STORE(2, trisc2, 0xffe40000, 4, 0xb01c000c),
                    "");
    expect_findings(PUSHES STORE(1, trisc1, 0xffe40000, 4, 0xa6008008) PUSH(1, 1, 0xa6008008),
                    "TNX-011@1");
}

/* STREAMWAIT waits for what the tile does not tell, but takes its place in the order. */
static void a_stream_may_come_any_time(void)
{
    expect_findings(COMPLETE WORD(10, 2, 0xa7008000) WORD(20, 2, 0x41000001), "");
    /* thread 1 starves, but thread 2 may go on and post */
    expect_findings(COMPLETE WORD(10, 1, 0xa6008009) HELD(11, 1, 0x41000001) WORD(12, 2, 0xa7008000)
                        HELD(13, 2, 0x41000001) NOTE(50000),
                    "");
    expect_findings(COMPLETE WORD(10, 1, 0xa6008009) HELD(11, 1, 0x41000001) NOTE(50000),
                    "TNX-040@3");
    /* and it queues behind a wait like any other */
    expect_findings(COMPLETE WORD(10, 2, 0xa6008009) WORD(11, 2, 0xa7008000), "TNX-004@3");
}

static void a_deadlock_needs_rest(void)
{
#define CROSSED                                                                                    \
    WORD(10, 0, 0xa31000a0)                                                                        \
    WORD(25, 0, 0xa6010021) HELD(26, 0, 0xa4000080) WORD(73, 1, 0xa6010081) HELD(75, 1, 0xa4000020)
    expect_findings(COMPLETE CROSSED NOTE(200000), "TNX-040@5");
    expect_findings(COMPLETE CROSSED NOTE(80), "");
    expect_findings(COMPLETE CROSSED STORE(90, trisc0, 0xffe8002c, 4, 0x0) NOTE(200000), "");
}

/* ---- bounds ---- */

static void memory_is_bounded(void **state)
{
    (void)state;
    FILE *file = fopen("flood.jsonl", "w");
    assert_non_null(file);
    fputs(COMPLETE MOP_CONFIG, file);
    for (int i = 0; i < 5000; i++) { /* more than any FIFO, and none issues */
        fputs(PUSH(10, 0, 0x01800000), file);
        if (i % 7 == 0) {
            fputs(MOP_STORE(10, 14, 0x51200003), file);
        }
    }
    fputs(ISSUE(20, 0, 0x51200009) ISSUE(21, 0, 0x51200009), file);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(findings_of("flood.jsonl"), "");
}

/* ---- traces of an independent model of the gate ---- */

static const struct row golden[] = {
    {"gate-pattern2", ""},
    {"gate-pattern4", ""},
    {"gate-random05", ""},
    {"gate-random17", ""},
    {"gate-fault-mop-last-not-replaced", "TNX-003@26"},
    {"gate-fault-overtakes-held", "TNX-002@10"},
    {"gate-fault-p1-no-wait", "TNX-030@7"},
    {"gate-fault-p6-math-only", "TNX-035@16"},
    {"gate-fault-past-sem-zero", "TNX-001@6"},
    {"gate-fault-second-wait-replaces", "TNX-004@9"},
    {"gate-fault-sem-post-lost", "TNX-005@9"},
    {"gate-fault-semget-at-0", "TNX-013@5"},
    {"gate-hang-crossed", "TNX-040@7"},
    {"gate-hang-sempost-dropped", "TNX-040@16"},
};

static void a_golden_trace_is_as_it_was(void **state)
{
    const struct row *row = *state;
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s.nocap", row->trace);
    assert_string_equal(findings_of(path), row->expected);
}

/* .. so a word that is missing would not show, and that the others fit proves nothing. */
static void sources_prove_nothing(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_report *report = NULL;
    write_text("trace.jsonl", COMPLETE WORD(8, 1, 0x51200003) OTHER(10, push, 0, 0x51200003)
                                  ISSUE(12, 0, 0x51200003));
    assert_int_equal(nocap_check(&report, "trace.jsonl", NULL, &err), NOCAP_OK);
    assert_int_equal(report->rules[TNX_003].exercised, 1); /* before the second one */
    nocap_report_free(report);
    write_text("trace.jsonl",
               COMPLETE WORD(8, 1, 0x51200003) OTHER(10, push, 0, 0x51200003)
                   OTHER(12, issue, 0, 0x51200003) "{\"t\":30000,\"ev\":\"note\",\"text\":\"\"}\n");
    assert_int_equal(nocap_check(&report, "trace.jsonl", NULL, &err), NOCAP_OK);
    assert_int_equal(report->rules[TNX_040].exercised, 0);
    nocap_report_free(report);
}

int main(void)
{
    static void (*const tables[])(void) = {
        a_wait_that_is_missing_is_told_once,
        units_and_banks_hold,
        a_unit_that_was_passed_is_not_known,
        a_semaphore_is_wrong_once,
        what_follows_from_a_fault_of_the_threads,
        retirement_tells_where_units_do_not,
        defaults_take_the_place_of_zero,
        cores_post_and_get_too,
        unseen_cores_post_and_get,
        sources_have_no_order,
        a_wait_holds_for_a_cycle,
        any_later_wait_counts,
        work_is_judged_on_pushes_alone,
        stores_to_the_fifo_show_words,
        a_stream_may_come_any_time,
        a_deadlock_needs_rest,
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        tables[i]();
    }
    rows_add(&rows, "memory_is_bounded", memory_is_bounded, NULL);
    rows_add(&rows, "sources_prove_nothing", sources_prove_nothing, NULL);
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        rows_add(&rows, golden[i].trace, a_golden_trace_is_as_it_was, &golden[i]);
    }
    return rows_run(&rows, "gate");
}
