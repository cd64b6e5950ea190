/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the device model as other captures tell them. What is correct has no findings, and a
 * fault is found all the same. */
#include "tests/run_trace.h"
#include "tests/temp_dir.h"

static void assert_clean(struct run_trace *t, size_t row)
{
    struct nocap_report *report = run_trace_check(t);
    if (report->finding_count != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("row %zu: a false alarm", row);
    }
    nocap_report_free(report);
}

struct telling {
    struct nocap_sim_options options;
    bool buffers; /* requests tell their command buffer */
    const char *finds;
};

/* The run, and a trace for what is made of it. */
static struct run_trace retell(struct nocap_sim_options options, unsigned launches, struct run *run)
{
    options.size = sizeof options;
    options.launches = launches;
    *run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, "retold.nocap");
    return t;
}

/* Probes of network interfaces, which do not see which core sends. */
static void requests_name_no_core(void **state)
{
    static const struct telling all[] = {
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH}, .buffers = true},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH}},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE}, .buffers = true},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE}},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, .apart = true}},
        {.options = {.scenario = NOCAP_SIM_LAUNCH_DEV}},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                     .fault = NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING},
         .finds = "CQ-055"},
        {.options = {.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE,
                     .fault = NOCAP_SIM_FAULT_WORKER_NOTIFY_MISSING,
                     .apart = true},
         .finds = "CQ-055"},
    };
    (void)state;
    for (size_t row = 0; row < sizeof all / sizeof all[0]; row++) {
        struct run run;
        struct run_trace t = retell(all[row].options, 6, &run);
        for (size_t i = 0; i < run.count; i++) {
            struct nocap_event e = run.events[i];
            if (e.kind == NOCAP_EV_NOC) {
                e.by = NOCAP_BY_NONE;
                e.buf = all[row].buffers ? e.buf : 0;
                e.has &= ~(NOCAP_F_BY | (all[row].buffers ? 0 : NOCAP_F_BUF));
            }
            run_trace_add(&t, &e);
        }
        struct nocap_report *report = run_trace_check(&t);
        bool found = report->finding_count > 0;
        if (found != (all[row].finds != NULL)) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("row %zu", row);
        }
        if (found) {
            assert_string_equal(nocap_rules[report->findings[0].rule].id, all[row].finds);
        }
        nocap_report_free(report);
        run_free(&run);
    }
}

/* Of some commands and writes the bytes are not captured. */
static void some_bytes_are_not_captured(void **state)
{
    static const struct {
        struct nocap_sim_options options;
        unsigned every; /* one of so many */
    } all[] = {
        /* a command that notifies the second dispatcher */
        {{.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE, .view = NOCAP_SIM_VIEW_CQ}, 8},
        /* an event, after which another one comes back */
        {{.scenario = NOCAP_SIM_FAST_DISPATCH, .view = NOCAP_SIM_VIEW_RAW}, 3},
    };
    (void)state;
    for (size_t row = 0; row < sizeof all / sizeof all[0]; row++) {
        struct run run;
        struct run_trace t = retell(all[row].options, 12, &run);
        for (size_t i = 0, n = 0; i < run.count; i++) {
            struct nocap_event e = run.events[i];
            bool tells =
                (e.kind == NOCAP_EV_NOC || e.kind == NOCAP_EV_CQ) && (e.has & NOCAP_F_DATA) != 0;
            if (tells && n++ % all[row].every == 0) {
                e.size = e.data_size;
                e.data_size = 0;
                e.has = (e.has & ~NOCAP_F_DATA) | NOCAP_F_SIZE;
            }
            run_trace_add(&t, &e);
        }
        assert_clean(&t, row);
        run_free(&run);
    }
}

/* Of the set-up of two queues the words that say where the second dispatcher is. */
static void a_dispatcher_is_not_placed(void **state)
{
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH,
                                              .profile = "tt-metal-2026-09",
                                              .queues = 2,
                                              .apart = true,
                                              .launches = 3};
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    (void)state;
    run_trace_open(&t, "retold.nocap");
    for (size_t i = 0; i < run.count; i++) {
        struct nocap_event e = run.events[i];
        if (e.kind == NOCAP_EV_WRITE && e.by == NOCAP_BY_HOST && at(&e, (struct nocap_xy){5, 5}) &&
            e.size == 4) {
            e.value = 0;
            e.has &= ~NOCAP_F_VALUE;
        }
        run_trace_add(&t, &e);
    }
    assert_clean(&t, 0);
    run_free(&run);
}

/* More findings than are held until it is known that no source lost events. */
static void many_findings_are_kept(void **state)
{
    enum { MANY = 5000, GAP = 0x200000 };
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST};
    struct run_trace t = run_trace_of(&options);
    (void)state;
    run_trace_open(&t, "retold.nocap");
    for (uint64_t i = 0; i < MANY; i++) {
        struct nocap_event e = nocap_event_of(NOCAP_EV_READ);
        e.t = i;
        e.by = NOCAP_BY_HOST;
        e.at = (struct nocap_xy){1, 2};
        e.addr = GAP;
        e.size = 4;
        e.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE;
        run_trace_add(&t, &e);
    }
    struct nocap_report *report = run_trace_check(&t);
    assert_int_equal(report->rules[MAP_001].violations, MANY);
    nocap_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_name_no_core),
        cmocka_unit_test(some_bytes_are_not_captured),
        cmocka_unit_test(a_dispatcher_is_not_placed),
        cmocka_unit_test(many_findings_are_kept),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
