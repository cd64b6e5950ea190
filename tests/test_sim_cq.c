/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated command queue: what its traces hold, by the fact sheet and not by the reference
 * model; then what the checker says of them. */
#include "tests/cq_run.h"
#include "tests/effort.h"

enum { BOTH_SCENARIOS = 2 };

static uint64_t seeds(void)
{
    return effort(8, 4);
}

static const enum nocap_sim_scenario scenarios[BOTH_SCENARIOS] = {NOCAP_SIM_FAST_DISPATCH,
                                                                  NOCAP_SIM_FAST_DISPATCH_RINGS};

/* ---- the rings ---- */

static void the_rings_are_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        for (unsigned i = 0; i < BOTH_SCENARIOS; i++) {
            struct rings *r = follow_run((struct nocap_sim_options){.scenario = scenarios[i],
                                                                    .board = 1 + seed % 2,
                                                                    .launches = 20,
                                                                    .seed = seed,
                                                                    .variant = seed});
            assert_int_equal(r->go, 20 * NOCAP_SIM_WORKERS);
            assert_int_equal(r->notified, r->go);
            assert_true(r->event > 0 && r->records > 20 * 10);
            free(r);
        }
    }
}

static void full_boards_work(void **state)
{
    (void)state;
    static const struct {
        enum nocap_board board;
        uint32_t workers;
    } full[] = {{NOCAP_BOARD_P100, 118}, {NOCAP_BOARD_P150, 138}, {NOCAP_BOARD_P100, 1}};
    for (unsigned i = 0; i < sizeof full / sizeof full[0]; i++) {
        struct rings *r = follow_run((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                                .board = full[i].board,
                                                                .workers = full[i].workers});
        assert_int_equal(r->go, NOCAP_SIM_LAUNCHES * full[i].workers);
        free(r);
    }
}

/* ---- views ---- */

static void count_units(const struct run *run, uint64_t *counts, uint64_t *sum)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct nocap_event *e = &run->events[i];
        if (e->kind == NOCAP_EV_CQ) {
            counts[e->op]++;
            *sum += e->op == NOCAP_OP_CREDIT ? e->value : 0;
        }
    }
}

static void views_tell_one_story(void **state)
{
    (void)state;
    struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH, .seed = 5};
    struct run run[NOCAP_SIM_VIEW_COUNT];
    uint64_t counts[NOCAP_SIM_VIEW_COUNT][NOCAP_OP_COUNT] = {{0}}, sum[NOCAP_SIM_VIEW_COUNT] = {0};
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        options.view = view;
        run[view] = run_with(options);
        count_units(&run[view], counts[view], &sum[view]);
    }
    assert_int_equal(counts[NOCAP_SIM_VIEW_RAW][NOCAP_OP_RECORD], 0);
    assert_int_equal(counts[NOCAP_SIM_VIEW_HOST][NOCAP_OP_RECORD],
                     counts[NOCAP_SIM_VIEW_CQ][NOCAP_OP_RECORD]);
    assert_int_equal(counts[NOCAP_SIM_VIEW_HOST][NOCAP_OP_FETCH], 0);
    for (unsigned op = NOCAP_OP_RECORD; op <= NOCAP_OP_CREDIT; op++) {
        assert_int_equal(counts[NOCAP_SIM_VIEW_CQ][op], counts[NOCAP_SIM_VIEW_ALL][op]);
        assert_true(counts[NOCAP_SIM_VIEW_CQ][op] > 0);
    }
    assert_int_equal(sum[NOCAP_SIM_VIEW_CQ], sum[NOCAP_SIM_VIEW_ALL]);
    assert_int_equal(run[NOCAP_SIM_VIEW_ALL].count,
                     run[NOCAP_SIM_VIEW_RAW].count + run[NOCAP_SIM_VIEW_CQ].count);
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        run_free(&run[view]);
    }
}

/* A unit and the access that it restates carry one number; no other two events do. */
static void units_name_their_accesses(void **state)
{
    (void)state;
    struct run run = run_with((struct nocap_sim_options){
        .scenario = NOCAP_SIM_FAST_DISPATCH, .view = NOCAP_SIM_VIEW_ALL, .seed = 6});
    uint8_t *units = calloc(run.count, 1), *accesses = calloc(run.count, 1);
    assert_true(units != NULL && accesses != NULL);
    for (size_t i = 0; i < run.count; i++) {
        const struct nocap_event *e = &run.events[i];
        if ((e->has & NOCAP_F_SEQ) != 0) {
            assert_true(e->seq < run.count);
            (e->kind == NOCAP_EV_CQ ? units : accesses)[e->seq]++;
        } else if (e->kind == NOCAP_EV_CQ) {
            assert_int_equal(e->op, NOCAP_OP_DONE);
        }
    }
    for (size_t i = 0; i < run.count; i++) {
        assert_true(units[i] <= 1 && units[i] == accesses[i]);
    }
    free(units);
    free(accesses);
    run_free(&run);
}

static void the_same_options_give_the_same_events(void **state)
{
    (void)state;
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        struct nocap_sim_options options = {
            .scenario = scenarios[view % BOTH_SCENARIOS], .view = view, .seed = 7};
        uint64_t hash = hash_with(options);
        assert_int_equal(hash_with(options), hash);
        options.seed = 8;
        assert_int_not_equal(hash_with(options), hash);
        options.board = NOCAP_BOARD_P150;
        assert_int_not_equal(hash_with(options), hash);
    }
}

/* ---- options ---- */

static void headers_say_where_the_queue_is(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_header header;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_FAST_DISPATCH,
                                        .board = NOCAP_BOARD_P150,
                                        .workers = 20};
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_true(header.cq.present && header.cq.prefetch.x == 16 && header.cq.prefetch.y == 2);
    assert_true(header.cq.dispatch.x == 16 && header.cq.dispatch.y == 3);
    assert_int_equal(header.cq.sysmem, 0x40000000);
    assert_int_equal(header.cq.kernel_config, 0x86B0);
    assert_int_equal(header.complete, NOCAP_FALSE);
    assert_int_equal(header.scope_count, 4 + 2);
    nocap_header_free(&header);
    options.view = NOCAP_SIM_VIEW_HOST;
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_int_equal(header.observes, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CQ_HOST);
    assert_false(header.has_scope);
    nocap_header_free(&header);
}

static void assert_refused(struct nocap_sim_options options, const char *part)
{
    struct nocap_error err;
    struct rings r = {0};
    options.size = sizeof options;
    assert_int_equal(nocap_sim_run(&options, follow, &r, &err), NOCAP_E_USAGE);
    assert_contains(err.text, part);
    assert_int_equal(r.events, 0);
}

static void senseless_options_are_refused(void **state)
{
    (void)state;
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH, .workers = 119},
                   "p100 board has 118 worker cores for programs");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .board = NOCAP_BOARD_P150,
                                              .workers = 139},
                   "138");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .fault = NOCAP_SIM_FAULT_GO_SPLIT},
                   "cannot strike");
    assert_refused((struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_DEV,
                                              .fault = NOCAP_SIM_FAULT_RELEASE_31},
                   "cannot strike");
}

/* ---- faults ---- */

static void every_fault_changes_the_events(void **state)
{
    (void)state;
    uint64_t hashes[NOCAP_SIM_FAULT_COUNT];
    unsigned count = 0;
    for (unsigned fault = 0; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        if (fault != NOCAP_SIM_FAULT_NONE && !strikes_in(fault, NOCAP_SIM_FAST_DISPATCH)) {
            continue;
        }
        uint64_t hash = hash_with((struct nocap_sim_options){
            .scenario = NOCAP_SIM_FAST_DISPATCH, .fault = fault, .seed = 3});
        for (unsigned i = 0; i < count; i++) {
            if (hashes[i] == hash) {
                fail_msg("%s changes nothing", nocap_sim_faults[fault].name);
            }
        }
        hashes[count++] = hash;
    }
    assert_true(count > 12);
}

/* ---- what the checker says ---- */

static void correct_runs_are_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(); seed++) {
        for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
            assert_clean((struct nocap_sim_options){.scenario = scenarios[seed % BOTH_SCENARIOS],
                                                    .view = view,
                                                    .board = 1 + seed / 2 % 2,
                                                    .workers = 1 + (uint32_t)seed % 9,
                                                    .seed = seed,
                                                    .variant = seed});
        }
    }
}

static void every_fault_is_found(void **state)
{
    (void)state;
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        bool hang = nocap_sim_faults[fault].rules[0] == '\0';
        for (uint64_t seed = 0; seed < seeds(); seed++) {
            if (strikes_in(fault, NOCAP_SIM_FAST_DISPATCH) && !hang) {
                assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                        .fault = fault,
                                                        .view = seed % 2 == 0 ? NOCAP_SIM_VIEW_RAW
                                                                              : NOCAP_SIM_VIEW_ALL,
                                                        .board = 1 + seed / 2 % 2,
                                                        .workers = 1 + (uint32_t)seed % 7,
                                                        .launches = 16,
                                                        .seed = seed,
                                                        .variant = seed});
            }
        }
    }
}

/* What shows only a part of the accesses may miss a fault: it never makes two of one. */
static void no_view_makes_two_findings_of_one(void **state)
{
    (void)state;
    static const enum nocap_sim_view views[] = {NOCAP_SIM_VIEW_CQ, NOCAP_SIM_VIEW_HOST};
    for (unsigned i = 0; i < 2 * NOCAP_SIM_FAULT_COUNT; i++) {
        const struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .fault = i / 2,
                                                  .view = views[i % 2],
                                                  .workers = 1,
                                                  .launches = 16};
        if (!strikes_in(options.fault, options.scenario)) {
            continue;
        }
        struct nocap_report *report = check_run(options);
        if (report->finding_count > 1) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("%s, view %u", nocap_sim_faults[options.fault].name, options.view);
        }
        nocap_report_free(report);
    }
}

/* The host takes the wrong toggle for a lap of pages, of which it shows the first. */
static void a_host_that_reads_on_shows_one_finding(void **state)
{
    (void)state;
    assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                            .fault = NOCAP_SIM_FAULT_TOGGLE_FLIPPED_EARLY,
                                            .view = NOCAP_SIM_VIEW_HOST,
                                            .launches = 12});
}

static void write_merged(struct nocap_writer *writer, struct run *run)
{
    struct nocap_error err = {{0}};
    size_t at[2] = {0};
    uint64_t index = 0;
    while (at[0] < run[0].count || at[1] < run[1].count) {
        bool second = at[0] == run[0].count ||
                      (at[1] < run[1].count && run[1].events[at[1]].t < run[0].events[at[0]].t);
        struct nocap_event event = run[second].events[at[second]++];
        event.chip = second;
        event.index = index++;
        assert_int_equal(nocap_writer_add(writer, &event, &err), NOCAP_OK);
    }
}

/* Two chips in one trace, of which the second has the fault. */
static void chips_are_kept_apart(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct nocap_report *report;
    const struct nocap_check_options check = {.size = sizeof check};
    for (unsigned view = 0; view < NOCAP_SIM_VIEW_COUNT; view++) {
        struct nocap_sim_options options = {
            .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .view = view, .seed = 1};
        struct run run[2] = {run_with(options)};
        assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
        options.seed = 2;
        options.fault = NOCAP_SIM_FAULT_EVENT_ID_SKIPPED;
        run[1] = run_with(options);
        assert_int_equal(nocap_writer_open(&writer, "run.nocap", &header, NULL, &err), NOCAP_OK);
        write_merged(writer, run);
        assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
        assert_int_equal(nocap_check(&report, "run.nocap", &check, &err), NOCAP_OK);
        assert_int_equal(report->finding_count, 1);
        assert_int_equal(report->findings[0].rule, nocap_rule_from_id("CQ-023"));
        assert_int_equal(report->findings[0].chip, 1);
        nocap_report_free(report);
        nocap_header_free(&header);
        run_free(&run[0]);
        run_free(&run[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rings_are_kept),
        cmocka_unit_test(full_boards_work),
        cmocka_unit_test(views_tell_one_story),
        cmocka_unit_test(units_name_their_accesses),
        cmocka_unit_test(the_same_options_give_the_same_events),
        cmocka_unit_test(headers_say_where_the_queue_is),
        cmocka_unit_test(senseless_options_are_refused),
        cmocka_unit_test(every_fault_changes_the_events),
        cmocka_unit_test(correct_runs_are_clean),
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(no_view_makes_two_findings_of_one),
        cmocka_unit_test(a_host_that_reads_on_shows_one_finding),
        cmocka_unit_test(chips_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
