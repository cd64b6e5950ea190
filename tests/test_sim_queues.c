/* SPDX-License-Identifier: Apache-2.0 */
/* Two command queues on one chip, as runtimes make them whose host asks for two: correct runs are
 * clean in every view, each fault of either queue is its one finding, a hang roots in its own
 * queue. Bit 0 of the variant: each queue has workers of its own; bit 1: the fault is the second
 * one's. NOCAP_LONG_SEEDS says how many runs of each fault (`make long-seeds`: 50). */
#include "checker/hang/hang.h"
#include "formats/profile/profile.h"
#include "tests/cq_run.h"
#include "tests/effort.h"

static const enum nocap_sim_scenario scenarios[] = {
    NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAST_DISPATCH_PACKED, NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
    NOCAP_SIM_FAST_DISPATCH_RINGS};
enum { SCENARIOS = 4, WITH_FAULTS = 3 };

static void correct_runs_are_clean(void **state)
{
    (void)state;
    const char *name;
    const uint64_t seeds = effort(5, 3);
    for (size_t p = 1; (name = nocap_profile_name(p)) != NULL; p++) {
        for (uint64_t seed = p * seeds; seed < (p + 1) * seeds; seed++) {
            assert_clean((struct nocap_sim_options){
                .scenario = scenarios[seed % SCENARIOS],
                .view = (enum nocap_sim_view)(seed / 4 % NOCAP_SIM_VIEW_COUNT),
                .board = 1 + seed / 8 % 2,
                .workers = 2 + (uint32_t)seed % 9,
                .queues = 2,
                .apart = seed / 16 % 2 == 1,
                .seed = seed,
                .variant = seed + seed / 4,
                .profile = name});
        }
    }
}

/* .. also where go words are multicast: such hosts share no workers. */
static void multicasts_of_both_are_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        assert_clean((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_MULTICAST,
                                                .queues = 2,
                                                .apart = seed / 4 == 1,
                                                .launches = 12,
                                                .seed = seed,
                                                .variant = seed});
    }
}

static enum nocap_status discard(void *context, const struct nocap_event *event,
                                 struct nocap_error *err)
{
    (void)context, (void)event, (void)err;
    return NOCAP_OK;
}

/* False: the runtime does not take it for a fault. Else the run, or one of another program that has
 * an occasion for it. */
static bool with_occasion(struct nocap_sim_options *options)
{
    struct nocap_error err;
    options->size = sizeof *options;
    while (nocap_sim_run(options, discard, NULL, &err) != NOCAP_OK) {
        if (strstr(err.text, "is none under") != NULL) {
            return false;
        }
        assert_contains(err.text, "found no occasion");
        options->variant += 1000; /* of which 4 is a divisor */
        assert_true(options->variant < 20000);
    }
    return true;
}

static void every_fault_of_either_queue_is_found(void **state)
{
    (void)state;
    unsigned runs = 0;
    for (unsigned i = 0; i < WITH_FAULTS * NOCAP_SIM_FAULT_COUNT; i++) {
        const unsigned fault = i / WITH_FAULTS;
        const enum nocap_sim_scenario scenario = scenarios[i % WITH_FAULTS];
        bool hang =
            nocap_sim_faults[fault].name == NULL || nocap_sim_faults[fault].rules[0] == '\0';
        const bool turn_of_another = effort(0, 0) == 0 && (fault + scenario) % 2 != 0;
        for (uint64_t seed = i; seed < i + effort(1, 1) && !hang && !turn_of_another; seed++) {
            struct nocap_sim_options options = {.scenario = scenario,
                                                .fault = fault,
                                                .view = seed / 4 % 2 == 0 ? NOCAP_SIM_VIEW_RAW
                                                                          : NOCAP_SIM_VIEW_ALL,
                                                .board = 1 + seed / 16 % 2,
                                                .workers = 4 + (uint32_t)seed % 7,
                                                .queues = 2,
                                                .apart = seed / 8 % 2 == 1,
                                                .launches = 24,
                                                .seed = seed,
                                                .variant = seed % 4,
                                                .profile = nocap_profile_name(1 + seed / 5 % 6)};
            if (strikes_in(fault, scenario) && with_occasion(&options)) {
                assert_found(options);
                runs++;
            }
        }
    }
    assert_true(runs > (effort(0, 0) > 0 ? 80 : 40));
}

/* Who is the root of a hang, and who waits for it, is of the queue in which it began. */
static void a_hang_roots_in_its_queue(void **state)
{
    (void)state;
    static const enum nocap_sim_fault faults[] = {NOCAP_SIM_FAULT_PREFETCHER_DEAD,
                                                  NOCAP_SIM_FAULT_RELEASE_MISSED,
                                                  NOCAP_SIM_FAULT_KERNEL_NEVER_ENDS};
    for (uint64_t i = 0; i < 12; i++) {
        struct nocap_error err;
        struct nocap_hang *hang;
        const uint64_t variant = i % 4;
        struct nocap_sim_options options = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                                            .fault = faults[i / 4],
                                            .queues = 2,
                                            .launches = 30,
                                            .seed = i,
                                            .variant = variant};
        assert_true(with_occasion(&options));
        assert_clean(options);
        assert_int_equal(nocap_hang(&hang, "run.nocap", NULL, &err), NOCAP_OK);
        assert_int_equal(hang->verdict, NOCAP_HANG_HUNG);
        const unsigned y =
            variant / 2 == 0 ? 2 : 4; /* of the prefetcher; the dispatcher's is + 1 */
        unsigned roots = 0, of_queue = 0;
        for (size_t p = 0; p < hang->party_count; p++) {
            const struct nocap_hang_party *party = &hang->parties[p];
            bool queue =
                party->id.agent == NOCAP_BY_PREFETCH || party->id.agent == NOCAP_BY_DISPATCH;
            roots += party->root;
            of_queue += queue;
            assert_true(!queue || party->id.at.y == y || party->id.at.y == y + 1);
        }
        assert_int_equal(roots, 1);
        assert_true(of_queue > 0);
        nocap_hang_free(hang);
    }
}

/* What came before is not in the trace, and with it the set-up. */
static void a_trace_may_begin_anywhere(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < effort(26, 8); seed++) {
        struct nocap_sim_options options = {
            .size = sizeof options,
            .scenario = scenarios[seed / 2 % 2 * 2],
            .view = (enum nocap_sim_view)(seed / 4 % NOCAP_SIM_VIEW_COUNT),
            .queues = 2,
            .seed = seed,
            .variant = seed};
        struct run run = run_with(options);
        struct run_trace t = run_trace_of(&options);
        run_trace_open(&t, "run.nocap");
        for (size_t i = run.count * (1 + seed % 7) / 8; i < run.count; i++) {
            run_trace_add(&t, &run.events[i]);
        }
        struct nocap_report *report = run_trace_check(&t);
        if (report->finding_count > 0) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("seed %llu", (unsigned long long)seed);
        }
        nocap_report_free(report);
        run_free(&run);
    }
}

/* A trace that names the runtime alone: the set-up says that there are two queues, and where. */
static void a_header_need_not_say_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct nocap_sim_options options = {.size = sizeof options,
                                            .scenario = scenarios[seed % WITH_FAULTS],
                                            .fault = NOCAP_SIM_FAULT_CREDIT_NOC_1,
                                            .view = seed / 4 % 2 == 0 ? NOCAP_SIM_VIEW_RAW
                                                                      : NOCAP_SIM_VIEW_ALL,
                                            .queues = 2,
                                            .launches = 24,
                                            .seed = seed,
                                            .variant = 2 + seed % 2};
        assert_true(with_occasion(&options));
        for (unsigned named = 0; named < 2; named++) {
            struct nocap_error err;
            struct run_trace t = run_trace_of(&options);
            free(t.header.profile);
            t.header.profile = named == 0 ? NULL : strdup("\"tt-metal-2026-09\"");
            t.header.cq.has_dispatch = t.header.cq.has_prefetch = named != 0;
            run_trace_open(&t, "run.nocap");
            assert_int_equal(nocap_sim_run(&options, run_trace_take, t.writer, &err), NOCAP_OK);
            struct nocap_report *report = run_trace_check(&t);
            if (report->finding_count != 1 || report->findings[0].rule != CQ_070) {
                (void)nocap_report_text(stderr, report, false, true, NULL);
                fail_msg("seed %llu, named %u", (unsigned long long)seed, named);
            }
            assert_int_equal(report->findings[0].at.y, 5);
            nocap_report_free(report);
        }
    }
}

/* Whose cores' place its set-up tells, as far as its values were captured. */
static void a_word_of_the_set_up_without_its_value(void **state)
{
    (void)state;
    enum { SET_UP = 80 };
    const struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .queues = 2, .launches = 2};
    struct run run = run_with(options);
    for (size_t left = 0; left < SET_UP; left++) {
        const struct nocap_event *e = &run.events[left];
        if (!is_store(e, NOCAP_BY_HOST) || e->size != 4 || e->space != NOCAP_SPACE_TILE) {
            continue;
        }
        struct run_trace t = run_trace_of(&options);
        run_trace_open(&t, "run.nocap");
        for (size_t i = 0; i < run.count; i++) {
            struct nocap_event event = run.events[i];
            event.has &= i == left ? ~NOCAP_F_VALUE : UINT64_MAX;
            event.value = i == left ? 0 : event.value;
            run_trace_add(&t, &event);
        }
        struct nocap_report *report = run_trace_check(&t);
        if (report->finding_count != 0) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("event %zu", left);
        }
        nocap_report_free(report);
    }
    run_free(&run);
}

static void a_runtime_with_one_queue_refuses_two(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_FAST_DISPATCH,
                                        .queues = 2,
                                        .profile = "blackhole-py"};
    assert_int_equal(nocap_sim_run(&options, discard, NULL, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "a chip has one command queue");
}

/* Sizes of host memory as the host makes them for one queue, and for two. */
static void the_sizes_are_those_of_the_host(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_profile p;
    assert_int_equal(nocap_profile_find(&p, "tt-metal-2026-09", &err), NOCAP_OK);
    const struct nocap_queue one = p.queue;
    assert_true(nocap_queue_split(&p.queue, 1));
    assert_memory_equal(&p.queue, &one, sizeof one);
    assert_true(nocap_queue_split(&p.queue, 2));
    assert_int_equal(p.queue.sysmem_size, 0x8000000);
    assert_int_equal(p.queue.completion_size, 0x1FFF000);
    assert_int_equal(p.queue.issue_size, 0x6000F00);
    assert_int_equal(p.queue.completion, 0x6001000);
    assert_false(nocap_queue_split(&p.queue, 1));
    struct nocap_profile read;
    assert_int_equal(
        nocap_profile_read(&read, "{\"base\":\"tt-metal-2026-09\",\"queue\":{\"queues\":2}}", &err),
        NOCAP_OK);
    assert_memory_equal(&p.queue, &read.queue, sizeof one);
    assert_int_not_equal(
        nocap_profile_read(&read, "{\"base\":\"tt-metal-2026-09\",\"queue\":{\"queues\":3}}", &err),
        NOCAP_OK);
    assert_contains(err.text, "this runtime has 2 at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_runs_are_clean),
        cmocka_unit_test(multicasts_of_both_are_clean),
        cmocka_unit_test(every_fault_of_either_queue_is_found),
        cmocka_unit_test(a_hang_roots_in_its_queue),
        cmocka_unit_test(a_header_need_not_say_it),
        cmocka_unit_test(a_trace_may_begin_anywhere),
        cmocka_unit_test(a_word_of_the_set_up_without_its_value),
        cmocka_unit_test(a_runtime_with_one_queue_refuses_two),
        cmocka_unit_test(the_sizes_are_those_of_the_host),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
