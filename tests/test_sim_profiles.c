/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated command queue of each runtime that nocap ships a profile of: each of its faults is
 * the finding that it is elsewhere, and it hangs as elsewhere. `make long-seeds` makes 50 runs of
 * each fault under each. */
#include "checker/hang/hang.h"
#include "formats/profile/profile.h"
#include "tests/cq_run.h"
#include "tests/effort.h"

/* ---- faults of the queue ---- */

/* What is a fault elsewhere, and none to a runtime that has the means for it. */
static bool is_none(enum nocap_sim_fault fault)
{
    return fault == NOCAP_SIM_FAULT_TIMESTAMP_OUTSIDE ||
           fault == NOCAP_SIM_FAULT_TIMESTAMPS_READ_EARLY ||
           fault == NOCAP_SIM_FAULT_WAIT_NOTIFIES_PREFETCH || fault == NOCAP_SIM_FAULT_GO_MULTICAST;
}

static enum nocap_status discard(void *context, const struct nocap_event *event,
                                 struct nocap_error *err)
{
    (void)context, (void)event, (void)err;
    return NOCAP_OK;
}

/* The same run of another program, where this one ends before the fault has come to strike. */
static struct nocap_sim_options with_occasion(struct nocap_sim_options options)
{
    struct nocap_error err;
    while (nocap_sim_run(&options, discard, NULL, &err) != NOCAP_OK) {
        assert_contains(err.text, "found no occasion");
        options.variant += 1000;
        assert_true(options.variant < 10000);
    }
    return options;
}

static unsigned profiles_from(size_t first)
{
    unsigned count = 0;
    while (nocap_profile_name(first + count) != NULL) {
        count++;
    }
    return count;
}

/* From profile `first` on; `make test` has them take turns, and scenarios and faults, too. */
static void find_every_fault(enum nocap_sim_scenario scenario, size_t first, bool apart)
{
    const unsigned profiles = profiles_from(first), seeds = effort(0, 0);
    const unsigned turns = SANITIZED ? 3 : seeds > 0 ? 1 : 2;
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        bool hang = nocap_sim_faults[fault].rules[0] == '\0';
        bool turn_of_another = (fault + scenario + apart) % turns != 0;
        if (!strikes_in(fault, scenario) || hang || is_none(fault) || turn_of_another) {
            continue;
        }
        for (unsigned i = 0; i == 0 || i < seeds * profiles; i++) {
            const uint64_t seed = i / profiles, turn = fault + scenario + seed;
            assert_found(with_occasion((struct nocap_sim_options){
                .size = sizeof(struct nocap_sim_options),
                .scenario = scenario,
                .fault = fault,
                .view = turn % 2 == 0 ? NOCAP_SIM_VIEW_RAW : NOCAP_SIM_VIEW_ALL,
                .board = 1 + turn / 2 % 2,
                .workers = 1 + (uint32_t)turn % 7,
                .apart = apart,
                .launches = 24,
                .seed = seed,
                .variant = seed,
                .profile = nocap_profile_name(first + (i + fault / 2) % profiles)}));
        }
    }
}

static void every_fault_is_found(void **state)
{
    (void)state;
    find_every_fault(NOCAP_SIM_FAST_DISPATCH, 1, false);
}

static void every_fault_is_found_among_commands_of_an_entry(void **state)
{
    (void)state;
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_PACKED, 1, false);
}

static void every_fault_is_found_with_two_dispatchers(void **state)
{
    (void)state;
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, 1, false);
}

static void every_fault_is_found_where_go_words_are_multicast(void **state)
{
    (void)state;
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_MULTICAST, 1, false);
}

static void every_fault_is_found_where_cores_are_apart(void **state)
{
    (void)state;
    find_every_fault(NOCAP_SIM_FAST_DISPATCH, 1, true);
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, 1, true);
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_PACKED, 1, true);
    find_every_fault(NOCAP_SIM_FAST_DISPATCH_MULTICAST, 1, true);
}

/* Runs in which a fault was more than its finding, or none. */
static void what_follows_from_a_fault_is_told_with_it(void **state)
{
    (void)state;
    static const struct {
        enum nocap_sim_scenario scenario;
        enum nocap_sim_fault fault;
        enum nocap_sim_view view;
        uint32_t workers;
        uint64_t seed;
        bool apart;
    } rows[] = {
        /* single go words of the dispatcher, too early: also GO-003 and CQ-055 */
        {NOCAP_SIM_FAST_DISPATCH_MULTICAST, NOCAP_SIM_FAULT_GO_WAIT_LOW, NOCAP_SIM_VIEW_RAW, 5, 4,
         false},
        /* several commands in an entry that is late: also CQ-048 at each launch */
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_DOORBELL_FIRST, NOCAP_SIM_VIEW_ALL, 1,
         7, false},
        /* the next notification was under way: none */
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_GO_UNNOTIFIED, NOCAP_SIM_VIEW_ALL, 4,
         3, true},
        /* the two from which the answers of a multicast are taken: two findings more */
        {NOCAP_SIM_FAST_DISPATCH_MULTICAST, NOCAP_SIM_FAULT_GO_WAIT_LOW, NOCAP_SIM_VIEW_ALL, 3, 37,
         false},
        /* before any packet was seen to leave: none */
        {NOCAP_SIM_FAST_DISPATCH_MULTICAST, NOCAP_SIM_FAULT_CREDIT_BEFORE_DATA, NOCAP_SIM_VIEW_ALL,
         3, 37, false},
        /* a launch begun on a count too high: also CQ-054 */
        {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAULT_WORKER_NOTIFY_TWICE,
         NOCAP_SIM_VIEW_ALL, 5, 11, true},
        /* the message for each of two rectangles: two CQ-053 */
        {NOCAP_SIM_FAST_DISPATCH_MULTICAST, NOCAP_SIM_FAULT_MESSAGE_HOST_MODE, NOCAP_SIM_VIEW_RAW,
         25, 0, false},
    };
    static const char *const profiles[] = {"tt-metal-2025-06", "tt-metal-2026-09"};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        assert_found((struct nocap_sim_options){.scenario = rows[i / 2].scenario,
                                                .fault = rows[i / 2].fault,
                                                .view = rows[i / 2].view,
                                                .board = 1 + rows[i / 2].seed / 2 % 2,
                                                .workers = rows[i / 2].workers,
                                                .apart = rows[i / 2].apart,
                                                .launches = 24,
                                                .seed = rows[i / 2].seed,
                                                .variant = rows[i / 2].seed,
                                                .profile = profiles[i % 2]});
    }
}

/* A part of a program that lands on the mailboxes of two worker cores breaks some fifty rules at
 * once, before the queue says why. */
static void many_consequences_of_one_event(void **state)
{
    (void)state;
    assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_MULTICAST,
                                            .fault = NOCAP_SIM_FAULT_OFFSET_IGNORED,
                                            .workers = 3,
                                            .apart = true,
                                            .launches = 4,
                                            .profile = "tt-metal-2025-12"});
}

/* The same queue on two chips by turns, each of which has one fault. */
static void a_fault_on_each_of_two_chips(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .fault = NOCAP_SIM_FAULT_PARSE_BEFORE_LANDED,
                                              .launches = 3};
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < 2 * run.count; i++) {
        struct nocap_event e = run.events[i / 2];
        e.chip = i % 2;
        run_trace_add(&t, &e);
    }
    struct nocap_report *report = run_trace_check(&t);
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->findings[0].rule, CQ_034);
    assert_int_equal(report->findings[1].rule, CQ_034);
    nocap_report_free(report);
    run_free(&run);
}

static enum nocap_status count_multicasts(void *context, const struct nocap_event *e,
                                          struct nocap_error *err)
{
    unsigned *count = context;
    (void)err;
    *count += e->kind == NOCAP_EV_NOC && e->by == NOCAP_BY_NCRISC && e->mcast;
    return NOCAP_OK;
}

/* Some hosts of two dispatchers have go words multicast. */
static void a_multicast_that_is_missing_is_found(void **state)
{
    (void)state;
    unsigned multicasts = 0;
    for (uint64_t seed = 0; seed < 9; seed++) {
        struct nocap_error err;
        struct nocap_sim_options options = {.size = sizeof options,
                                            .scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                                            .fault = NOCAP_SIM_FAULT_GO_LEFT_OUT,
                                            .launches = 16,
                                            .seed = seed,
                                            .variant = seed,
                                            .profile = nocap_profile_name(1 + seed % 6)};
        assert_found(options);
        options.fault = NOCAP_SIM_FAULT_GO_SHORT;
        assert_found(options);
        options.fault = NOCAP_SIM_FAULT_NONE;
        assert_int_equal(nocap_sim_run(&options, count_multicasts, &multicasts, &err), NOCAP_OK);
    }
    assert_true(multicasts > 9);
}

static bool has_note(const struct nocap_report *report, const char *id)
{
    bool found = false;
    for (size_t i = 0; i < report->note_count; i++) {
        found |= strcmp(report->note_ids[i], id) == 0;
    }
    return found;
}

/* Who answers a multicast is judged where the trace shows which tiles look at that go word: here of
 * the first four workers. */
static void workers_of_a_multicast_are_counted(void **state)
{
    (void)state;
    static const struct {
        uint32_t workers;
        enum nocap_sim_view view;
        bool note;
    } rows[] = {{4, NOCAP_SIM_VIEW_RAW, false},
                {4, NOCAP_SIM_VIEW_ALL, false},
                {9, NOCAP_SIM_VIEW_RAW, true},
                {4, NOCAP_SIM_VIEW_CQ, true},
                {4, NOCAP_SIM_VIEW_HOST, true}};
    static const enum nocap_sim_scenario scenarios[] = {NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                                                        NOCAP_SIM_FAST_DISPATCH_MULTICAST};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct nocap_report *report =
            check_run((struct nocap_sim_options){.scenario = scenarios[i % 2],
                                                 .view = rows[i / 2].view,
                                                 .workers = rows[i / 2].workers,
                                                 .launches = 12,
                                                 .profile = "tt-metal-2026-06"});
        assert_int_equal(report->finding_count, 0);
        assert_int_equal(has_note(report, "queue-multicasts"), rows[i / 2].note);
        nocap_report_free(report);
    }
}

static void find_every_hang(enum nocap_sim_scenario scenario, size_t first, bool apart)
{
    const char *name;
    for (size_t p = first; (name = nocap_profile_name(p)) != NULL; p++) {
        for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
            if (!strikes_in(fault, scenario) || nocap_sim_faults[fault].rules[0] != '\0') {
                continue;
            }
            struct nocap_error err;
            struct nocap_hang *hang;
            assert_clean(
                with_occasion((struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                                         .scenario = scenario,
                                                         .fault = (enum nocap_sim_fault)fault,
                                                         .apart = apart,
                                                         .launches = 30,
                                                         .seed = p,
                                                         .profile = name}));
            assert_int_equal(nocap_hang(&hang, "run.nocap", NULL, &err), NOCAP_OK);
            if (hang->verdict != NOCAP_HANG_HUNG) {
                fail_msg("%s under %s: %s", nocap_sim_faults[fault].name, name, hang->why);
            }
            nocap_hang_free(hang);
        }
    }
}

static void hangs_hang(void **state)
{
    (void)state;
    find_every_hang(NOCAP_SIM_FAST_DISPATCH, 1, false);
    find_every_hang(NOCAP_SIM_FAST_DISPATCH_PACKED, 1, false);
    find_every_hang(NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, 1, false);
    find_every_hang(NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, 1, true);
    find_every_hang(NOCAP_SIM_FAST_DISPATCH_MULTICAST, 1, false);
}

static bool root_is(const struct nocap_hang *hang, const char *state)
{
    unsigned roots = 0, right = 0;
    for (size_t i = 0; i < hang->party_count; i++) {
        const struct nocap_hang_party *p = &hang->parties[i];
        roots += p->root;
        right += p->root && p->wait != SIZE_MAX && strcmp(hang->waits[p->wait].state, state) == 0;
    }
    return roots == 1 && right == 1;
}

/* .. and then the prefetcher is what all others wait for. */
static void missing_credits_before_a_stall_are_the_root(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct nocap_error err;
        struct nocap_hang *hang;
        assert_clean(with_occasion(
            (struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                       .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                       .fault = NOCAP_SIM_FAULT_CREDIT_MISSED_AT_STALL,
                                       .launches = 24,
                                       .seed = seed,
                                       .variant = seed}));
        assert_int_equal(nocap_hang(&hang, "run.nocap", NULL, &err), NOCAP_OK);
        assert_true(root_is(hang, "in a relay"));
        nocap_hang_free(hang);
    }
}

static void what_is_no_fault_is_refused(void **state)
{
    (void)state;
    static const struct {
        enum nocap_sim_fault fault;
        const char *profile, *part;
    } rows[] = {
        {NOCAP_SIM_FAULT_TIMESTAMP_OUTSIDE, "tt-metal-2026-03", "it has no timestamps"},
        {NOCAP_SIM_FAULT_TIMESTAMPS_READ_EARLY, "tt-metal-2025-06", "it has no timestamps"},
        {NOCAP_SIM_FAULT_WAIT_NOTIFIES_PREFETCH, "tt-metal-2026-09", "it has the semaphore"},
        {NOCAP_SIM_FAULT_GO_MULTICAST, "tt-metal-2025-12", "it multicasts go messages"},
        {NOCAP_SIM_FAULT_NONE, "tt-metal-1999-01", "there is no profile 'tt-metal-1999-01'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_error err;
        struct nocap_sim_options options = {.size = sizeof options,
                                            .scenario = NOCAP_SIM_FAST_DISPATCH,
                                            .fault = rows[i].fault,
                                            .profile = rows[i].profile};
        assert_int_not_equal(nocap_sim_run(&options, NULL, NULL, &err), NOCAP_OK);
        assert_contains(err.text, rows[i].part);
    }
}

static void a_queue_with_tiles_of_its_own_refuses_others(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_FAST_DISPATCH,
                                        .apart = true,
                                        .profile = "blackhole-py"};
    assert_int_equal(nocap_sim_run(&options, discard, NULL, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "the queue's cores are fixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_found),
        cmocka_unit_test(every_fault_is_found_among_commands_of_an_entry),
        cmocka_unit_test(every_fault_is_found_with_two_dispatchers),
        cmocka_unit_test(every_fault_is_found_where_go_words_are_multicast),
        cmocka_unit_test(every_fault_is_found_where_cores_are_apart),
        cmocka_unit_test(what_follows_from_a_fault_is_told_with_it),
        cmocka_unit_test(many_consequences_of_one_event),
        cmocka_unit_test(a_fault_on_each_of_two_chips),
        cmocka_unit_test(a_multicast_that_is_missing_is_found),
        cmocka_unit_test(workers_of_a_multicast_are_counted),
        cmocka_unit_test(hangs_hang),
        cmocka_unit_test(missing_credits_before_a_stall_are_the_root),
        cmocka_unit_test(what_is_no_fault_is_refused),
        cmocka_unit_test(a_queue_with_tiles_of_its_own_refuses_others),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
