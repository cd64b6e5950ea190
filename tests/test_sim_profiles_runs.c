/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated command queue of each runtime that nocap ships a profile of: its bytes are that
 * runtime's, its correct runs are clean, its launches are judged as elsewhere. */
#include "formats/profile/profile.h"
#include "tests/cq_run.h"
#include "tests/effort.h"

/* ---- bytes ---- */

/* Of a run: doorbells, WAITs that clear a stream, and the most reads under way. */
struct seen {
    unsigned doorbells, waits, reads, most;
};

static struct seen look(const char *profile, uint32_t queue, uint32_t entry_bytes, uint8_t relay,
                        uint8_t wait_and_clear)
{
    struct run run = run_with((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                         .view = NOCAP_SIM_VIEW_ALL,
                                                         .launches = 16,
                                                         .profile = profile});
    struct seen seen = {0};
    for (size_t i = 0; i < run.count; i++) {
        const struct nocap_event *e = &run.events[i];
        if (e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_HOST && e->addr >= queue &&
            e->addr < queue + 1534 * entry_bytes && e->at.y == 2 && (e->has & NOCAP_F_SEQ) != 0) {
            assert_int_equal(e->size, entry_bytes);
            seen.doorbells++;
        } else if (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RECORD) {
            assert_true(e->data[0] == relay || i + 40 > run.count); /* or TERMINATE */
            seen.waits += e->data[16] == 7 && e->data[17] == wait_and_clear;
        } else if (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_FETCH) {
            seen.reads++;
            seen.most = seen.reads > seen.most ? seen.reads : seen.most;
        } else if (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_LANDED) {
            seen.reads--;
        }
    }
    run_free(&run);
    return seen;
}

static void the_bytes_are_those_of_the_runtime(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t queue, entry_bytes;
        uint8_t relay, wait_and_clear;
        unsigned most;
    } rows[] = {
        {"blackhole-py", 0x19840, 2, 5, 0x18, 1},     {"tt-metal-2025-06", 0x19840, 2, 4, 0x18, 1},
        {"tt-metal-2025-12", 0x19840, 2, 5, 0x18, 1}, {"tt-metal-2026-03", 0x1b480, 2, 5, 0x18, 4},
        {"tt-metal-2026-06", 0x1b480, 4, 5, 0x30, 4}, {"tt-metal-2026-09", 0x1b480, 4, 5, 0x30, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct seen seen = look(rows[i].name, rows[i].queue, rows[i].entry_bytes, rows[i].relay,
                                rows[i].wait_and_clear);
        assert_true(seen.doorbells > 16 * 10);
        assert_int_equal(seen.waits, 2 * 16);
        assert_int_equal(seen.most, rows[i].most);
    }
}

static void the_header_names_the_profile(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_header header;
    struct nocap_sim_options options = {
        .size = sizeof options, .scenario = NOCAP_SIM_FAST_DISPATCH, .profile = "tt-metal-2026-06"};
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_string_equal(header.profile, "\"tt-metal-2026-06\"");
    assert_string_equal(header.layout, "bh-launch128");
    assert_int_equal(header.cq.kernel_config, 0x9F00);
    assert_int_equal(header.cq.sysmem, 0);
    nocap_header_free(&header);
    options.profile = NULL;
    assert_int_equal(nocap_sim_header(&options, &header, &err), NOCAP_OK);
    assert_null(header.profile);
    nocap_header_free(&header);
}

/* ---- what the checker says ---- */

static void find_nothing(bool apart)
{
    static const enum nocap_sim_scenario scenarios[] = {
        NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAST_DISPATCH_RINGS, NOCAP_SIM_FAST_DISPATCH_PACKED,
        NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, NOCAP_SIM_FAST_DISPATCH_MULTICAST};
    const unsigned count = sizeof scenarios / sizeof scenarios[0];
    const char *name;
    const uint64_t seeds = effort(5, 3);
    for (size_t p = 1; (name = nocap_profile_name(p)) != NULL; p++) {
        for (uint64_t seed = p * seeds; seed < (p + 1) * seeds; seed++) {
            assert_clean((struct nocap_sim_options){
                .scenario = scenarios[seed % count],
                .view = (enum nocap_sim_view)(seed / count % NOCAP_SIM_VIEW_COUNT),
                .board = 1 + seed / 8 % 2,
                .workers = 1 + (uint32_t)seed % 9,
                .apart = apart,
                .seed = seed,
                .variant = seed,
                .profile = name});
        }
    }
}

static void correct_runs_are_clean(void **state)
{
    (void)state;
    find_nothing(false);
}

/* On tiles that the host chose, with the second dispatcher far from the first one. */
static void correct_runs_apart_are_clean(void **state)
{
    (void)state;
    find_nothing(true);
}

/* More workers than a column has are several rectangles, which one runtime counts. */
static void multicasts_to_several_rectangles_are_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        assert_clean((struct nocap_sim_options){
            .scenario = seed % 2 == 0 ? NOCAP_SIM_FAST_DISPATCH_MULTICAST
                                      : NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
            .workers = seed % 4 < 2 ? 13 : 25,
            .launches = 8,
            .seed = seed,
            .variant = seed,
            .profile = "tt-metal-2025-06"});
    }
}

static void full_boards_are_clean(void **state)
{
    (void)state;
    const char *name;
    for (size_t p = 1; (name = nocap_profile_name(p)) != NULL; p++) {
        bool p150 = p % 2 == 0;
        assert_clean((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH,
                                                .board = p150 ? NOCAP_BOARD_P150 : NOCAP_BOARD_P100,
                                                .workers = p150 ? 138 : 118,
                                                .profile = name});
    }
}

/* ---- the launch scenarios, whose mailbox is the profile's ---- */

static char *rules_found(struct nocap_sim_options options)
{
    struct nocap_report *report = check_run(options);
    char *rules = calloc(1, report->finding_count * 12 + 1);
    assert_non_null(rules);
    for (size_t i = 0; i < report->finding_count; i++) {
        strcat(strcat(rules, nocap_rules[report->findings[i].rule].id), " ");
    }
    nocap_report_free(report);
    return rules;
}

static void launches_give_the_findings_of_the_default(void **state)
{
    (void)state;
    for (unsigned fault = 0; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        for (unsigned scenario = 0; scenario < NOCAP_SIM_FAST_DISPATCH; scenario++) {
            if (fault != NOCAP_SIM_FAULT_NONE && !strikes_in(fault, scenario)) {
                continue;
            }
            struct nocap_sim_options options = {.scenario = (enum nocap_sim_scenario)scenario,
                                                .fault = (enum nocap_sim_fault)fault,
                                                .tiles = 2};
            char *expected = rules_found(options);
            options.profile = nocap_profile_name(1 + (fault + scenario) % 6);
            char *found = rules_found(options);
            if (strcmp(found, expected) != 0) {
                fail_msg("%s in %s under %s: %s, not %s", nocap_sim_faults[fault].name,
                         nocap_sim_scenarios[scenario].name, options.profile, found, expected);
            }
            free(expected);
            free(found);
        }
    }
}

/* ---- which runtime it was ---- */

static bool of_host(const struct nocap_event *e)
{
    return e->kind != NOCAP_EV_NOC && e->by == NOCAP_BY_HOST && e->space == NOCAP_SPACE_TILE;
}

static bool of_cores(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_NOC || ((e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) &&
                                       e->by >= NOCAP_BY_BRISC && e->by <= NOCAP_BY_TRISC2);
}

/* The trace does not say it, and shows no command. */
static void assert_known(const char *profile, uint32_t observes,
                         bool shows(const struct nocap_event *))
{
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .launches = 4,
                                              .profile = profile};
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    free(t.header.profile);
    free(t.header.protocol);
    t.header.profile = NULL;
    t.header.protocol = NULL;
    t.header.observes = observes;
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run.count; i++) {
        if (shows(&run.events[i])) {
            run_trace_add(&t, &run.events[i]);
        }
    }
    struct nocap_report *report = run_trace_check(&t);
    if (report->finding_count != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("%s", profile);
    }
    nocap_report_free(report);
    run_free(&run);
}

static void what_host_or_cores_do_shows_the_runtime(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = nocap_profile_name(i)) != NULL; i++) {
        assert_known(name, NOCAP_CLASS_HOST_MMIO, of_host);
        assert_known(name,
                     NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO |
                         NOCAP_CLASS_NOC,
                     of_cores);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_host_or_cores_do_shows_the_runtime),
        cmocka_unit_test(the_bytes_are_those_of_the_runtime),
        cmocka_unit_test(the_header_names_the_profile),
        cmocka_unit_test(correct_runs_are_clean),
        cmocka_unit_test(correct_runs_apart_are_clean),
        cmocka_unit_test(multicasts_to_several_rectangles_are_clean),
        cmocka_unit_test(full_boards_are_clean),
        cmocka_unit_test(launches_give_the_findings_of_the_default),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
