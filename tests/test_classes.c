/* SPDX-License-Identifier: Apache-2.0 */
/* A header that lists event classes which the capture does not have: one finding for each, and what
 * needs it is not judged. */
#include <limits.h>
#include <stdlib.h>

#include "tests/run_trace.h"
#include "tests/temp_dir.h"

/* Of the first `most` events those that are of no class of `without`. */
static struct nocap_report *check_without(const struct nocap_sim_options *options, uint32_t without,
                                          size_t most)
{
    struct run run = run_with(*options);
    struct run_trace t = run_trace_of(options);
    t.header.open_end = most < run.count ? NOCAP_TRUE : NOCAP_FALSE;
    run_trace_open(&t, "t.nocap");
    for (size_t i = 0; i < run.count && i < most; i++) {
        if ((nocap_event_class(&run.events[i]) & without) == 0) {
            run_trace_add(&t, &run.events[i]);
        }
    }
    run_free(&run);
    return run_trace_check(&t);
}

static void assert_absent(struct nocap_sim_options options, uint32_t class, const char *rule)
{
    options.size = sizeof options;
    struct nocap_report *report = check_without(&options, class, SIZE_MAX);
    if (report->finding_count != 1 || report->findings[0].rule != TRC_009) {
        (void)nocap_report_text(stderr, report, false, 0, NULL);
        fail_msg("class 0x%x", class);
    }
    assert_true(!report->findings[0].has_tile || report->findings[0].at.x != 0);
    assert_int_equal(report->rules[nocap_rule_from_id(rule)].verdict, NOCAP_NOT_OBSERVABLE);
    nocap_report_free(report);
}

static void launches_without_a_class(void **state)
{
    (void)state;
    const struct nocap_sim_options launches = {.scenario = NOCAP_SIM_LAUNCH_DEV};
    assert_absent(launches, NOCAP_CLASS_HOST_MMIO, "RST-018");
    assert_absent(launches, NOCAP_CLASS_CORE_STORE, "SYN-003");
    assert_absent(launches, NOCAP_CLASS_CORE_MMIO, "SYN-011");
    assert_absent(launches, NOCAP_CLASS_NOC, "GO-015");
    assert_absent(launches, NOCAP_CLASS_TENSIX_PUSH, "TNX-003");
    assert_absent(launches, NOCAP_CLASS_TENSIX_ISSUE, "TNX-041");
}

static void queue_without_a_class(void **state)
{
    (void)state;
    const struct nocap_sim_options queue = {.scenario = NOCAP_SIM_FAST_DISPATCH};
    const struct nocap_sim_options host = {.scenario = NOCAP_SIM_FAST_DISPATCH,
                                           .view = NOCAP_SIM_VIEW_HOST};
    assert_absent(queue, NOCAP_CLASS_CORE_STORE, "SYN-011");
    assert_absent(queue, NOCAP_CLASS_CORE_LOAD, "CQ-038");
    assert_absent(queue, NOCAP_CLASS_NOC, "CQ-040");
    assert_absent(queue, NOCAP_CLASS_SYSMEM, "CQ-024");
    assert_absent(host, NOCAP_CLASS_CQ_HOST, "CQ-001");
}

static char golden[PATH_MAX];

/* Of a golden trace the events that are of no such class, under its header. */
static struct nocap_report *check_golden_without(const char *name, uint32_t without)
{
    char path[PATH_MAX + 64];
    struct nocap_reader *reader;
    struct run_trace t = {.path = NULL};
    struct nocap_error err = {{0}};
    const struct nocap_event *events;
    size_t count;
    snprintf(path, sizeof path, "%s/%s.nocap", golden, name);
    assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
    assert_int_equal(nocap_header_copy(&t.header, nocap_reader_header(reader), &err), NOCAP_OK);
    assert_true((t.header.observes & without) == without);
    run_trace_open(&t, "t.nocap");
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            if ((nocap_event_class(&events[i]) & without) == 0) {
                run_trace_add(&t, &events[i]);
            }
        }
    }
    nocap_reader_close(reader);
    return run_trace_check(&t);
}

/* Real firmware: a boot, a single launch, one that hangs; and a page of control code. */
static void a_short_trace_without_a_class(void **state)
{
    (void)state;
    static const struct {
        const char *trace;
        uint32_t class;
    } rows[] = {
        {"firmware-boot-grid", NOCAP_CLASS_CORE_STORE},
        {"firmware-boot-grid", NOCAP_CLASS_CORE_MMIO},
        {"firmware-boot-grid", NOCAP_CLASS_TENSIX_PUSH},
        {"firmware-noop-all", NOCAP_CLASS_CORE_STORE},
        {"firmware-noop-all", NOCAP_CLASS_CORE_MMIO},
        {"firmware-hang-trisc1", NOCAP_CLASS_CORE_STORE},
        {"firmware-hang-trisc1", NOCAP_CLASS_CORE_MMIO},
        {"firmware-noc-kernel", NOCAP_CLASS_NOC},
        {"firmware-sem-handshake", NOCAP_CLASS_TENSIX_PUSH},
        {"firmware-sem-handshake", NOCAP_CLASS_TENSIX_ISSUE},
        {"queue-all", NOCAP_CLASS_HOST_MMIO},
        {"queue-all", NOCAP_CLASS_SYSMEM},
        {"queue-wraps-buffer", NOCAP_CLASS_CORE_STORE},
        {"queue-wraps-buffer", NOCAP_CLASS_CORE_LOAD},
        {"aie-barriers", NOCAP_CLASS_CERT},
        {"aie-barriers", NOCAP_CLASS_AIE_MMIO},
        {"aie-regs", NOCAP_CLASS_AIE_MMIO},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nocap_report *report = check_golden_without(rows[i].trace, rows[i].class);
        size_t absent = 0, others = 0;
        for (size_t k = 0; k < report->finding_count; k++) {
            const struct nocap_finding *f = &report->findings[k];
            absent += f->rule == TRC_009;
            others += f->rule != TRC_009 && f->severity != NOCAP_NOTE;
        }
        if (absent != 1 || others != 0) {
            (void)nocap_report_text(stderr, report, false, 0, NULL);
            fail_msg("%s without class 0x%x", rows[i].trace, rows[i].class);
        }
        nocap_report_free(report);
    }
}

/* The beginning of a run has none yet. */
static void what_may_still_come_is_not_absent(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_DEV};
    struct nocap_report *report = check_without(&options, 0, 600);
    assert_int_equal(report->finding_count, 0);
    nocap_report_free(report);
}

/* Where events are lost, a class may be among them. */
static void lost_events_prove_nothing(void **state)
{
    (void)state;
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_FAST_DISPATCH};
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    run_trace_open(&t, "t.nocap");
    struct nocap_event lost = nocap_event_of(NOCAP_EV_DROP);
    lost.t = run.events[0].t;
    lost.value = 1;
    lost.has |= NOCAP_F_DROPPED;
    run_trace_add(&t, &lost);
    for (size_t i = 0; i < run.count; i++) {
        if (nocap_event_class(&run.events[i]) != NOCAP_CLASS_CORE_MMIO) {
            run_trace_add(&t, &run.events[i]);
        }
    }
    run_free(&run);
    struct nocap_report *report = run_trace_check(&t);
    for (size_t i = 0; i < report->finding_count; i++) {
        assert_int_not_equal(report->findings[i].rule, TRC_009);
    }
    nocap_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_without_a_class),
        cmocka_unit_test(queue_without_a_class),
        cmocka_unit_test(a_short_trace_without_a_class),
        cmocka_unit_test(what_may_still_come_is_not_absent),
        cmocka_unit_test(lost_events_prove_nothing),
    };
    if (realpath("golden", golden) == NULL) {
        return 1;
    }
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
