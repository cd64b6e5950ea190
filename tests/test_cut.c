/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of traces check the same, and the smallest part that has a finding is small. */
#include "tests/run_trace.h"
#include "tests/temp_dir.h"

#include <time.h>

#include "checker/compare/cut.h"
#include "checker/compare/minimise.h"
#include "tests/effort.h"
#include "tests/example.h"

/* One of so many is tried. */
static unsigned step(void)
{
    return SANITIZED || effort(0, 0) == 0 ? 5 : 1;
}

static void check_status(enum nocap_status status, const struct nocap_error *err)
{
    if (status != NOCAP_OK) {
        fail_msg("%s", err->text);
    }
}

static void make_trace(const char *path, struct nocap_sim_options options)
{
    struct run_trace t = run_trace_simulated(path, options);
    run_trace_close(&t);
}

static struct nocap_report *report_of(const char *path)
{
    struct nocap_report *report;
    struct nocap_error err;
    check_status(nocap_check(&report, path, NULL, &err), &err);
    return report;
}

/* A run of the fault in the first scenario that has it, long enough for a ring to wrap where it
 * takes that. */
static void make_fault(const char *path, enum nocap_sim_fault fault)
{
    unsigned scenario = (unsigned)__builtin_ctz(nocap_sim_faults[fault].scenarios);
    bool queue = scenario >= NOCAP_SIM_FAST_DISPATCH;
    bool wraps = scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    make_trace(path, (struct nocap_sim_options){.scenario = (enum nocap_sim_scenario)scenario,
                                                .fault = fault,
                                                .tiles = queue ? 0 : 2,
                                                .workers = wraps ? 1 : 0,
                                                .launches = nocap_sim_faults[fault].first_launch +
                                                            (wraps ? 400 : 10)});
}

static struct nocap_cut_result cut_with(const char *path, struct nocap_cut_options options)
{
    struct nocap_cut_result result;
    struct nocap_error err;
    options.size = sizeof options;
    check_status(nocap_cut(path, "part.nocap", &options, &result, &err), &err);
    return result;
}

/* ---- parts ---- */

static void parts_around_every_fault_check_the_same(void **state)
{
    (void)state;
    unsigned parts = 0;
    for (unsigned fault = NOCAP_SIM_FAULT_NONE + 1; fault < NOCAP_SIM_FAULT_COUNT;
         fault += step()) {
        make_fault("whole.nocap", (enum nocap_sim_fault)fault);
        struct nocap_report *whole = report_of("whole.nocap");
        for (size_t i = 0; i < whole->finding_count && i < 3; i++) {
            uint64_t at = whole->findings[i].index;
            const struct nocap_cut_result r = cut_with(
                "whole.nocap", (struct nocap_cut_options){.has_index = true,
                                                          .first_index = at > 150 ? at - 150 : 0,
                                                          .last_index = at + 200});
            if (whole->rules[RST_017].violations + whole->rules[CQ_060].violations == 0) {
                if (r.lost + r.added != 0 || r.findings == 0) {
                    fail_msg("%s: %llu of %llu findings are lost, %llu are new",
                             nocap_sim_faults[fault].name, (unsigned long long)r.lost,
                             (unsigned long long)r.findings, (unsigned long long)r.added);
                }
                struct nocap_report *part = report_of("part.nocap");
                assert_int_equal(part->finding_count, r.findings + r.before);
                nocap_report_free(part);
                parts++;
            }
        }
        nocap_report_free(whole);
    }
    assert_true(parts >= 40 / step());
}

static void parts_of_correct_runs_are_clean(void **state)
{
    (void)state;
    for (unsigned scenario = 0; scenario < NOCAP_SIM_SCENARIO_COUNT; scenario++) {
        for (unsigned view = 0; view < 4; view++) {
            make_trace("whole.nocap",
                       (struct nocap_sim_options){.scenario = (enum nocap_sim_scenario)scenario,
                                                  .view = (enum nocap_sim_view)view,
                                                  .variant = view});
            struct nocap_report *whole = report_of("whole.nocap");
            for (uint64_t i = view % step(); i < 8; i += step()) {
                const struct nocap_cut_result r =
                    cut_with("whole.nocap",
                             (struct nocap_cut_options){.has_index = true,
                                                        .first_index = whole->events * i / 9,
                                                        .last_index = whole->events * (i + 2) / 9});
                struct nocap_report *part = report_of("part.nocap");
                if (part->counts[NOCAP_ERROR] + part->counts[NOCAP_WARNING] != 0) {
                    nocap_report_text(stderr, part, false, true, NULL);
                    fail_msg("scenario %u, view %u, part %u is not clean", scenario, view,
                             (unsigned)i);
                }
                assert_int_equal(part->events, r.kept + r.mem);
                nocap_report_free(part);
            }
            nocap_report_free(whole);
        }
    }
}

/* Wherever it begins after the fault, a part has the state it needs and nothing of the fault. */
static void a_part_after_a_fault_does_not_reach_back_to_it(void **state)
{
    (void)state;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST,
                                                         .fault = NOCAP_SIM_FAULT_DONE_EARLY});
    struct nocap_report *whole = report_of("whole.nocap");
    assert_int_equal(whole->finding_count, 1);
    const uint64_t after = whole->findings[0].index + 1;
    const uint64_t width = (whole->events - after) / 8;
    for (uint64_t i = 0; i < 8; i++) {
        const struct nocap_cut_result r = cut_with(
            "whole.nocap", (struct nocap_cut_options){.has_index = true,
                                                      .first_index = after + i * width,
                                                      .last_index = after + (i + 1) * width - 1});
        assert_int_equal(r.findings + r.lost + r.added + r.before, 0);
        assert_int_equal(r.kept, r.lead + width);
        assert_true(r.lead <= i * width);
        struct nocap_report *part = report_of("part.nocap");
        assert_int_equal(part->finding_count, 0);
        nocap_report_free(part);
    }
    nocap_report_free(whole);
}

static unsigned drops_of(const char *path, enum nocap_tristate *open_end)
{
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    unsigned drops = 0;
    assert_int_equal(nocap_reader_open(&reader, path, NULL), NOCAP_OK);
    *open_end = nocap_reader_header(reader)->open_end;
    while (nocap_reader_next(reader, &events, &count, NULL) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            drops += events[i].kind == NOCAP_EV_DROP;
        }
    }
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    nocap_reader_close(reader);
    return drops;
}

static void a_part_of_a_damaged_file_says_what_is_missing(void **state)
{
    (void)state;
    const struct nocap_cut_options all = {.has_to = true, .to = UINT64_MAX};
    enum nocap_tristate open_end;
    size_t size;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST});
    char *bytes = read_bytes("whole.nocap", &size);
    write_bytes("damaged.nocap", bytes, size / 2);
    struct nocap_cut_result r = cut_with("damaged.nocap", all);
    assert_true(r.truncated);
    assert_int_equal(r.lost + r.added + r.missing, 0);
    assert_int_equal(drops_of("part.nocap", &open_end), 0);
    assert_int_equal(open_end, NOCAP_TRUE);
    bytes[size / 2] ^= 0x55;
    write_bytes("damaged.nocap", bytes, size);
    r = cut_with("damaged.nocap", all);
    assert_false(r.truncated);
    assert_true(r.missing > 0);
    assert_int_equal(r.kept + r.missing, r.events);
    assert_int_equal(drops_of("part.nocap", &open_end), 1);
    struct nocap_report *part = report_of("part.nocap");
    assert_int_equal(part->dropped, r.missing);
    nocap_report_free(part);
    free(bytes);
}

static void a_part_has_its_state_and_says_that_it_is_one(void **state)
{
    (void)state;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST});
    struct nocap_cut_result r = cut_with(
        "whole.nocap",
        (struct nocap_cut_options){.has_index = true, .first_index = 5000, .last_index = 5099});
    assert_int_equal(r.kept, 100);
    assert_true(r.mem > 4);
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_open(&reader, "part.nocap", NULL), NOCAP_OK);
    assert_int_equal(nocap_reader_header(reader)->complete, NOCAP_FALSE);
    assert_int_equal(nocap_reader_header(reader)->open_end, NOCAP_TRUE);
    assert_int_equal(nocap_reader_next(reader, &events, &count, NULL), NOCAP_OK);
    assert_true(count > r.mem);
    for (size_t i = 0; i < r.mem; i++) {
        assert_int_equal(events[i].kind, NOCAP_EV_MEM);
        assert_null(nocap_event_problem(&events[i]));
    }
    assert_int_not_equal(events[r.mem].kind, NOCAP_EV_MEM);
    nocap_reader_close(reader);
    r = cut_with("whole.nocap", (struct nocap_cut_options){.has_to = true, .to = UINT64_MAX});
    assert_int_equal(r.kept, r.events);
    assert_int_equal(nocap_reader_open(&reader, "part.nocap", NULL), NOCAP_OK);
    assert_int_equal(nocap_reader_header(reader)->complete, NOCAP_TRUE);
    assert_int_equal(nocap_reader_header(reader)->open_end, NOCAP_ABSENT);
    nocap_reader_close(reader);
}

static void a_filter_gives_up_what_it_leaves_out(void **state)
{
    (void)state;
    struct nocap_filter *filter;
    struct nocap_reader *reader;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST});
    assert_int_equal(nocap_filter_compile(&filter, "by!=host && ev!=kernel", NULL), NOCAP_OK);
    cut_with("whole.nocap", (struct nocap_cut_options){.filter = filter});
    nocap_filter_free(filter);
    assert_int_equal(nocap_reader_open(&reader, "part.nocap", NULL), NOCAP_OK);
    uint32_t observes = nocap_reader_header(reader)->observes;
    assert_int_equal(observes & (NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_KERNEL), 0);
    assert_int_not_equal(observes & NOCAP_CLASS_CORE_STORE, 0);
    nocap_reader_close(reader);
    struct nocap_report *part = report_of("part.nocap");
    assert_false(nocap_report_fails(part, NOCAP_WARNING));
    assert_int_equal(part->rules[SYN_009].verdict, NOCAP_NOT_OBSERVABLE);
    nocap_report_free(part);
}

static void a_tile_is_enough_for_its_finding(void **state)
{
    (void)state;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST,
                                                         .fault = NOCAP_SIM_FAULT_DONE_EARLY});
    struct nocap_report *whole = report_of("whole.nocap");
    struct nocap_cut_result r = cut_with(
        "whole.nocap", (struct nocap_cut_options){.has_tile = true, .tile = whole->findings[0].at});
    assert_int_equal(r.findings, 1);
    assert_int_equal(r.lost + r.added, 0);
    assert_true(r.kept < r.events / 2);
    nocap_report_free(whole);
}

/* Commands as units, of which credits name one core of the queue, and all where there are two. */
static void a_core_of_a_queue_keeps_its_commands(void **state)
{
    (void)state;
    for (unsigned queues = 1; queues <= 2; queues++) {
        for (uint8_t y = 2; y <= 3; y++) { /* prefetcher and dispatcher of the first */
            make_trace("whole.nocap",
                       (struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                                  .profile = "tt-metal-2026-03",
                                                  .view = NOCAP_SIM_VIEW_ALL,
                                                  .queues = queues});
            struct nocap_cut_result r = cut_with(
                "whole.nocap", (struct nocap_cut_options){.has_tile = true, .tile = {14, y}});
            assert_int_equal(r.added, 0);
        }
    }
}

static void wrong_parts_are_refused(void **state)
{
    (void)state;
    struct nocap_cut_result result;
    struct nocap_error err;
    const struct nocap_cut_options late = {
        .size = sizeof late, .has_from = true, .from = UINT64_MAX};
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_BOOT, .tiles = 1});
    assert_int_equal(nocap_cut("whole.nocap", "part.nocap", &late, &result, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "events is in the part");
    assert_int_equal(nocap_cut("none", "part.nocap", NULL, &result, &err), NOCAP_E_INPUT);
    assert_int_equal(nocap_cut("-", "part.nocap", NULL, &result, &err), NOCAP_E_USAGE);
    write_text("bad", "no trace");
    assert_int_equal(nocap_cut("bad", "part.nocap", NULL, &result, &err), NOCAP_E_INPUT);
}

/* ---- the smallest ---- */

static const struct nocap_finding *first_of(const struct nocap_report *report, enum nocap_rule rule)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i].rule == rule) {
            return &report->findings[i];
        }
    }
    return NULL;
}

/* The finding stays, by the same core at the same tile, in the same words, and no other rule is
 * violated. */
static struct nocap_minimise_result minimise(const char *path, enum nocap_rule rule)
{
    struct nocap_minimise_result result;
    struct nocap_error err;
    const struct nocap_minimise_options options = {.size = sizeof options, .rule = rule};
    check_status(nocap_minimise(path, "small.nocap", &options, &result, &err), &err);
    struct nocap_report *whole = report_of(path), *small = report_of("small.nocap");
    const struct nocap_finding *a = first_of(whole, rule), *b = first_of(small, rule);
    assert_non_null(b);
    assert_int_equal(a->at.x, b->at.x);
    assert_int_equal(a->at.y, b->at.y);
    assert_int_equal(a->agent, b->agent);
    assert_int_equal(small->events, result.after);
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        assert_true(small->rules[r].violations == 0 || whole->rules[r].violations != 0);
    }
    nocap_report_free(whole);
    nocap_report_free(small);
    return result;
}

/* Faults that show only after a whole ring has filled, 1534 slots or 128 pages, or after all
 * programs of a queue: what is left of them is hundreds of events, and takes long to find. */
static bool takes_a_ring(unsigned fault)
{
    return fault == NOCAP_SIM_FAULT_SLOT_NOT_READ || fault == NOCAP_SIM_FAULT_CREDIT_IGNORED ||
           fault == NOCAP_SIM_FAULT_TIMESTAMPS_READ_EARLY ||
           fault == NOCAP_SIM_FAULT_RELEASE_EARLY ||
           fault == NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_IGNORED;
}

static void every_fault_becomes_small(void **state)
{
    (void)state;
    unsigned rules = 0;
    for (unsigned fault = NOCAP_SIM_FAULT_NONE + 1; fault < NOCAP_SIM_FAULT_COUNT;
         fault += step()) {
        if (takes_a_ring(fault)) {
            continue;
        }
        make_fault("whole.nocap", (enum nocap_sim_fault)fault);
        struct nocap_report *whole = report_of("whole.nocap");
        for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
            if (whole->rules[r].violations != 0) {
                const struct nocap_minimise_result result =
                    minimise("whole.nocap", (enum nocap_rule)r);
                if (result.after >= 500) {
                    fail_msg("%s: %llu events are left for %s", nocap_sim_faults[fault].name,
                             (unsigned long long)result.after, nocap_rules[r].id);
                }
                rules++;
            }
        }
        nocap_report_free(whole);
    }
    assert_true(rules >= 40 / step());
}

/* BRISC alone runs, and reports DONE. */
#define LAUNCHED_BRISC(t, enables)                                                                 \
    LAUNCH(t, 01, enables)                                                                         \
    GO_WORD(t, 0x80000000)                                                                         \
    STORE(t, brisc, 0xffef02e4, 4, 0x1f) KERNEL(t, enter, brisc, 0x83e0)                           \
        KERNEL(t, exit, brisc, 0x83e0) DONE(t)

static void what_follows_from_the_fault_may_go(void **state)
{
    (void)state;
    write_text("whole.jsonl", HEADER("host-mmio", "core-store", "core-mmio", "kernel", "noc")
                                  IDLE LAUNCHED_BRISC(5, 01) LAUNCHED_BRISC(10, 03)
                                      LAUNCHED_BRISC(20, 01) LAUNCHED_BRISC(30, 01));
    struct nocap_report *whole = report_of("whole.jsonl");
    assert_int_equal(whole->findings[0].consequences, 1); /* GO-012 */
    nocap_report_free(whole);
    assert_true(minimise("whole.jsonl", SYN_014).after <= 12);
}

static void a_million_events_with_one_fault_become_few(void **state)
{
    (void)state;
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_LAUNCH_HOST,
                                                         .fault = NOCAP_SIM_FAULT_STALE_MESSAGE,
                                                         .tiles = 40,
                                                         .launches = 110 / step(),
                                                         .variant = 5});
    time_t start = time(NULL);
    const struct nocap_minimise_result result = minimise("whole.nocap", GO_007);
    assert_true(result.before > 1000000 / step());
    assert_true(result.after < 500);
    assert_true(time(NULL) - start < 60);
}

static void what_cannot_be_minimised_is_refused(void **state)
{
    (void)state;
    struct nocap_minimise_result result;
    struct nocap_error err;
    struct nocap_minimise_options options = {.size = sizeof options, .rule = SYN_003};
    make_trace("whole.nocap", (struct nocap_sim_options){.scenario = NOCAP_SIM_BOOT, .tiles = 1});
    assert_int_equal(nocap_minimise("whole.nocap", "small.nocap", &options, &result, &err),
                     NOCAP_E_USAGE);
    assert_contains(err.text, "has no finding of SYN-003");
    options.has_index = true;
    assert_int_equal(nocap_minimise("whole.nocap", "small.nocap", &options, &result, &err),
                     NOCAP_E_USAGE);
    assert_contains(err.text, "at this event");
    options.rule = TRC_002;
    assert_int_equal(nocap_minimise("whole.nocap", "small.nocap", &options, &result, &err),
                     NOCAP_E_USAGE);
    assert_contains(err.text, "about the file");
    assert_int_equal(nocap_minimise("none", "small.nocap", &options, &result, &err), NOCAP_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_around_every_fault_check_the_same),
        cmocka_unit_test(parts_of_correct_runs_are_clean),
        cmocka_unit_test(a_part_after_a_fault_does_not_reach_back_to_it),
        cmocka_unit_test(a_part_of_a_damaged_file_says_what_is_missing),
        cmocka_unit_test(a_part_has_its_state_and_says_that_it_is_one),
        cmocka_unit_test(a_filter_gives_up_what_it_leaves_out),
        cmocka_unit_test(a_tile_is_enough_for_its_finding),
        cmocka_unit_test(a_core_of_a_queue_keeps_its_commands),
        cmocka_unit_test(wrong_parts_are_refused),
        cmocka_unit_test(every_fault_becomes_small),
        cmocka_unit_test(what_follows_from_the_fault_may_go),
        cmocka_unit_test(a_million_events_with_one_fault_become_few),
        cmocka_unit_test(what_cannot_be_minimised_is_refused),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
