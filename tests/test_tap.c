/* SPDX-License-Identifier: Apache-2.0 */
/* A simulator that is not nocap's, with the taps of include/nocap/tap.h: what they record, what is
 * found in it, and that a tap that is off changes nothing. */
#include "tests/temp_dir.h"

#include <nocap/check.h>

#include "tests/toy_riscv.h"

enum { FITS = 2047 }; /* words; ADDI has no larger number */

static struct toy_tile tile, target;
static struct toy_core core;

static const struct nocap_trace_header header = {.size = sizeof header,
                                                 .board = NOCAP_BOARD_P100,
                                                 .observes = NOCAP_TAP_OBSERVES,
                                                 .producer = "toy"};

static struct nocap_capture *begin(const char *path)
{
    struct nocap_capture *capture;
    struct nocap_error err = {{0}};
    if (nocap_tap_begin(&capture, path, &header, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    return capture;
}

static void end(struct nocap_capture *capture)
{
    struct nocap_error err = {{0}};
    if (nocap_tap_end(capture, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
}

static uint64_t simulate_with(const char *path, int count, enum nocap_agent by, bool waits)
{
    memset(&tile, 0, sizeof tile);
    memset(&target, 0, sizeof target);
    memset(&core, 0, sizeof core);
    struct nocap_capture *capture = begin(path);
    core.tap = nocap_tap_of(capture, &core.cycle, 1, 2, by);
    core.tile = &tile;
    core.target = &target;
    target.arrives = nocap_tap_of(capture, &core.cycle, 2, 2, NOCAP_BY_NOC);
    core.cycle = 1000;
    toy_program(&core, count);
    if (!waits) {
        toy_put(&tile.l1[TOY_PROGRAM + TOY_LEFT_AT], TOY_NOP);
        toy_put(&tile.l1[TOY_PROGRAM + TOY_LEFT_AT + 4], TOY_NOP);
    }
    uint64_t instructions = toy_run(&core, TOY_PROGRAM);
    end(capture);
    return instructions;
}

/* The program for `count` words as core `by` of tile 1,2; into `path`, or with NULL untraced. */
static uint64_t simulate(const char *path, int count, enum nocap_agent by)
{
    return simulate_with(path, count, by, true);
}

static struct nocap_check *check(const char *path, struct nocap_check_sums *sums)
{
    struct nocap_check *found;
    struct nocap_error err = {{0}};
    *sums = (struct nocap_check_sums){.size = sizeof *sums};
    if (nocap_check_run(&found, path, NULL, &err) != NOCAP_OK) {
        print_error("%s\n", err.text);
        fail();
    }
    assert_int_equal(nocap_check_totals(found, sums), NOCAP_OK);
    return found;
}

/* Events of `path` that match. */
static uint64_t count_of(const char *path, const char *filter)
{
    struct nocap_trace *trace;
    struct nocap_error err = {{0}};
    const struct nocap_event *event;
    const struct nocap_trace_open_options options = {.size = sizeof options, .filter = filter};
    uint64_t count = 0;
    assert_int_equal(nocap_trace_open(&trace, path, &options, &err), NOCAP_OK);
    while (nocap_trace_next(trace, &event, &err) == NOCAP_OK) {
        assert_null(nocap_event_problem(event));
        count++;
    }
    nocap_trace_close(trace);
    return count;
}

/* ---- the loop ---- */

static void a_loop_is_recorded_whole_and_clean(void **state)
{
    (void)state;
    struct nocap_check_sums sums;
    assert_int_equal(simulate("clean.nocap", 1000, NOCAP_BY_TRISC0), 3 + 7 * 1000 + 22);
    assert_int_equal(toy_get(&target.l1[TOY_SUM]), 999 * 1000 / 2);
    assert_int_equal(count_of("clean.nocap", "ev==kernel"), 2);
    assert_int_equal(count_of("clean.nocap", "ev==read"), 1000 + 3);
    assert_int_equal(count_of("clean.nocap", "ev==write && by==trisc0"), 1000 + 1 + 7);
    assert_int_equal(count_of("clean.nocap", "ev==noc"), 1);
    assert_int_equal(count_of("clean.nocap", "ev==write && by==noc"), 1);
    struct nocap_check *found = check("clean.nocap", &sums);
    struct nocap_check_rule_result result = {.size = sizeof result};
    int rule = nocap_check_rule_find("MAP-003");
    assert_int_equal(nocap_check_result_of(found, (size_t)rule, &result), NOCAP_OK);
    assert_int_equal(result.verdict, NOCAP_CHECK_HELD);
    assert_int_equal(sums.outcome, NOCAP_CHECK_CLEAN);
    nocap_check_free(found);
}

static void assert_one_finding(struct nocap_check *found, const char *rule,
                               struct nocap_check_finding *finding)
{
    struct nocap_check_finding none = {.size = sizeof none};
    finding->size = sizeof *finding;
    assert_int_equal(nocap_check_finding_at(found, 0, finding), NOCAP_OK);
    assert_string_equal(finding->rule, rule);
    assert_int_equal(nocap_check_finding_at(found, 1, &none), NOCAP_END);
}

/* 1025 words into the 4 KiB that are private to a TRISC. */
static void one_turn_too_many_is_found_at_its_instruction(void **state)
{
    (void)state;
    struct nocap_check_sums sums;
    struct nocap_check_finding finding;
    struct nocap_trace *trace;
    struct nocap_error err;
    const struct nocap_event *event;
    simulate("over.nocap", 1025, NOCAP_BY_TRISC0);
    struct nocap_check *found = check("over.nocap", &sums);
    assert_one_finding(found, "MAP-003", &finding);
    assert_int_equal(nocap_trace_open(&trace, "over.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_seek_index(trace, finding.index, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_true(event->addr == 0xFFB01000 && event->pc == TOY_PROGRAM + TOY_STORE_AT);
    assert_int_equal(event->t, 1000 + 3 + 7 * 1024 + 2);
    nocap_trace_close(trace);
    nocap_check_free(found);
}

/* The counter is polled before the request is known to have left. */
static void a_hasty_poll_is_found(void **state)
{
    (void)state;
    struct nocap_check_sums sums;
    struct nocap_check_finding finding;
    simulate_with("hasty.nocap", 4, NOCAP_BY_TRISC0, false);
    struct nocap_check *found = check("hasty.nocap", &sums);
    assert_one_finding(found, "NOC-031", &finding);
    nocap_check_free(found);
}

static void an_untraced_run_does_the_same(void **state)
{
    (void)state;
    static struct toy_tile traced, other;
    static struct toy_core plain;
    uint64_t on = simulate("on.nocap", FITS, NOCAP_BY_BRISC);
    memcpy(&traced, &target, sizeof traced);
    traced.arrives = (struct nocap_tap){0};
    assert_int_equal(simulate(NULL, FITS, NOCAP_BY_BRISC), on);
    target.arrives = (struct nocap_tap){0};
    assert_memory_equal(&traced, &target, sizeof traced);
    plain.tile = &other;
    plain.target = &target;
    toy_program(&plain, FITS);
    assert_int_equal(toy_run_untapped(&plain, TOY_PROGRAM), on);
    assert_memory_equal(core.x, plain.x, sizeof plain.x);
    assert_memory_equal(core.private_memory, plain.private_memory, TOY_PRIVATE);
}

/* ---- the calls ---- */

/* The event after those that were read before. */
static const struct nocap_event *next(struct nocap_trace *trace)
{
    struct nocap_error err;
    const struct nocap_event *event;
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_null(nocap_event_problem(event));
    return event;
}

static void record_each(const char *path)
{
    const struct nocap_xy far_away = {3, 4};
    struct nocap_capture *capture = begin(path);
    uint64_t cycle = 0;
    struct nocap_tap tap = nocap_tap_of(capture, &cycle, 1, 2, NOCAP_BY_NCRISC);
    tap.chip = 5;
    assert_true(nocap_tap_on(&tap));
    nocap_tap_store(&tap, 0, 0x373, 1, 0xFFFFFF80); /* a register of which one byte is stored */
    cycle = 78;
    nocap_tap_load(&tap, NOCAP_TAP_NO_PC, 0x68, 8, UINT64_MAX);
    nocap_tap_noc(&tap, NOCAP_OP_READ, 1, 2, 0x40000, far_away, 0x50000, 64);
    nocap_tap_noc(&tap, NOCAP_OP_WRITE, 0, 3, 0x40000, far_away, 0x50000, 64);
    nocap_tap_noc(&tap, NOCAP_OP_INLINE, 0, 3, 0x1FFFFFFFF, far_away, 0x370, 4);
    nocap_tap_noc(&tap, NOCAP_OP_ATOMIC, 0, 3, 1, far_away, 0x36000, 4);
    nocap_tap_kernel(&tap, NOCAP_OP_EXIT, 0x8420);
    struct nocap_tap interface = nocap_tap_of(capture, &cycle, 1, 2, NOCAP_BY_NONE);
    nocap_tap_noc(&interface, NOCAP_OP_ATOMIC, 0, 3, 1, far_away, 0x36000, 4);
    cycle = 79;
    nocap_capture_set_time(capture, cycle);
    nocap_capture_reset(capture, NOCAP_OP_HALT, tap.tile, tap.by);
    end(capture);
}

static void each_call_says_what_it_was_given(void **state)
{
    (void)state;
    struct nocap_trace *trace;
    struct nocap_error err;
    record_each("calls.nocap");
    assert_int_equal(nocap_trace_open(&trace, "calls.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_header(trace)->time_unit, NOCAP_TIME_CYCLES);
    const struct nocap_event *e = next(trace);
    assert_true(e->kind == NOCAP_EV_WRITE && e->t == 0 && e->chip == 5 && e->at.x == 1 &&
                e->at.y == 2 && e->by == NOCAP_BY_NCRISC && e->addr == 0x373 && e->size == 1 &&
                e->value == 0x80 && (e->has & NOCAP_F_PC) != 0 && e->pc == 0);
    e = next(trace);
    assert_true(e->kind == NOCAP_EV_READ && e->t == 78 && e->size == 8 && e->value == UINT64_MAX &&
                (e->has & NOCAP_F_PC) == 0);
    e = next(trace);
    assert_true(e->kind == NOCAP_EV_NOC && e->op == NOCAP_OP_READ && e->noc == 1 && e->buf == 2 &&
                e->s.x == 3 && e->s.y == 4 && e->saddr == 0x50000 && e->d.x == 1 && e->d.y == 2 &&
                e->daddr == 0x40000 && e->size == 64);
    e = next(trace);
    assert_true(e->op == NOCAP_OP_WRITE && e->s.x == 1 && e->s.y == 2 && e->saddr == 0x40000 &&
                e->d.x == 3 && e->d.y == 4 && e->daddr == 0x50000 && e->buf == 3);
    e = next(trace);
    assert_true(e->op == NOCAP_OP_INLINE && e->value == 0xFFFFFFFF && e->d.y == 4 &&
                e->daddr == 0x370 && (e->has & (NOCAP_F_S | NOCAP_F_SADDR)) == 0);
    e = next(trace);
    assert_true(e->op == NOCAP_OP_ATOMIC && e->value == 1 && e->daddr == 0x36000);
    e = next(trace);
    assert_true(e->kind == NOCAP_EV_KERNEL && e->op == NOCAP_OP_EXIT && e->pc == 0x8420 &&
                e->by == NOCAP_BY_NCRISC && e->t == 78);
    e = next(trace);
    assert_true(e->kind == NOCAP_EV_NOC && (e->has & NOCAP_F_BY) == 0 && e->at.y == 2);
    e = next(trace);
    assert_true(e->kind == NOCAP_EV_RESET && e->t == 79);
    nocap_trace_close(trace);
}

static void a_trace_that_cannot_be_made_leaves_the_taps_off(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_capture *capture = (struct nocap_capture *)&err;
    assert_int_equal(nocap_tap_begin(&capture, "no/such/folder.nocap", &header, &err),
                     NOCAP_E_OUTPUT);
    assert_null(capture);
    assert_contains(err.text, "no/such/folder.nocap");
    uint64_t cycle = 0;
    struct nocap_tap tap = nocap_tap_of(capture, &cycle, 1, 2, NOCAP_BY_BRISC);
    assert_false(nocap_tap_on(&tap));
    nocap_tap_store(&tap, 0, 0, 4, 0);
    nocap_tap_kernel(&tap, NOCAP_OP_ENTER, 0);
    assert_int_equal(nocap_tap_end(capture, &err), NOCAP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_recorded_whole_and_clean),
        cmocka_unit_test(one_turn_too_many_is_found_at_its_instruction),
        cmocka_unit_test(a_hasty_poll_is_found),
        cmocka_unit_test(an_untraced_run_does_the_same),
        cmocka_unit_test(each_call_says_what_it_was_given),
        cmocka_unit_test(a_trace_that_cannot_be_made_leaves_the_taps_off),
    };
    return cmocka_run_group_tests_name("tap", tests, temp_dir_enter, temp_dir_leave);
}
