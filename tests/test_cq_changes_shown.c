/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of the command queue, shown by its commands and what becomes of them, in which one
 * event is left out, elsewhere or late: one finding. */
#include "tests/cq_change.h"

enum {
    LAPS = 40, /* programs that go round the dispatch buffer several times */
    RELAYS = 25,
    RELAYS_APART = 100, /* events */
};

/* A queue that is shown by its records and what becomes of them. */
static const struct nocap_sim_options records_view = {.size = sizeof records_view,
                                                      .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                      .view = NOCAP_SIM_VIEW_CQ,
                                                      .launches = RUN_PROGRAMS};

/* A read of another place, of which the slot says whose it was. */
static void a_read_elsewhere_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    size_t checked = 0;
    for (size_t i = run.count / 4; checked < PLACES; i++) {
        assert_true(i + 1 < run.count);
        struct nocap_event *e = &run.events[i];
        if (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_FETCH) {
            e->addr += NOCAP_CQ_RECORD_ALIGN; /* where the next record may be */
            struct nocap_report *report = check_changed(&run, &records_view, run.count, DROPPED);
            assert_only(report, "CQ-027");
            e->addr -= NOCAP_CQ_RECORD_ALIGN;
            checked++;
        }
    }
    run_free(&run);
}

/* A prefetcher that is off by one place from a record on. */
static void reads_elsewhere_are_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    for (size_t i = run.count / 2; i < run.count; i++) {
        struct nocap_event *e = &run.events[i];
        if (e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_FETCH) {
            e->addr += NOCAP_CQ_RECORD_ALIGN;
        }
    }
    assert_only(check_changed(&run, &records_view, run.count, DROPPED), "CQ-027");
    run_free(&run);
}

/* A read that is left out, and what becomes of its record: nothing. */
static void a_read_left_out_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    struct nocap_event *e = &run.events[run.count / 2];
    while (e->kind != NOCAP_EV_CQ || e->op != NOCAP_OP_FETCH) {
        e++;
    }
    assert_only(check_changed(&run, &records_view, (size_t)(e - run.events), DROPPED), "CQ-029");
    run_free(&run);
}

/* Several events of that kind are left out, one at a time: each is one finding. */
static void leave_out(struct nocap_sim_options options, bool wanted(const struct nocap_event *),
                      size_t count, size_t apart, const char *rule)
{
    struct run run = run_with(options);
    size_t checked = 0;
    for (size_t i = run.count / 4; checked < count; i++) {
        assert_true(i + 1 < run.count);
        if (wanted(&run.events[i])) {
            assert_only(check_changed(&run, &options, i, DROPPED), rule);
            i += apart;
            checked++;
        }
    }
    run_free(&run);
}

static bool is_slot_store(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_WRITE && e[-1].kind == NOCAP_EV_CQ && e[-1].op == NOCAP_OP_RECORD;
}

static bool is_record(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RECORD;
}

static bool is_small_relay(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RELAY && e->size < NOCAP_CQ_HEADER * 4;
}

/* Where records are seen whole, and the stores that publish them, too. */
static void a_slot_store_left_out_is_one_finding(void **state)
{
    (void)state;
    struct nocap_sim_options host_view = records_view;
    host_view.view = NOCAP_SIM_VIEW_HOST;
    leave_out(host_view, is_slot_store, PLACES, 0, "CQ-029");
}

/* A record that the capture missed, but the device did not. */
static void a_record_not_seen_is_one_finding(void **state)
{
    (void)state;
    leave_out(records_view, is_record, PLACES, 0, "CQ-029");
}

/* The relay of a command of a page is not in the trace; its page was made ready all the same, and
 * is due again when the buffer has gone round. */
static void a_relay_not_seen_is_one_finding(void **state)
{
    (void)state;
    struct nocap_sim_options rings = records_view;
    rings.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS;
    rings.launches = LAPS;
    leave_out(rings, is_small_relay, RELAYS, RELAYS_APART, "CQ-037");
}

/* A record that is reported after the next one. */
static void a_late_record_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    size_t checked = 0;
    for (size_t i = run.count / 4; checked < PLACES; i++) {
        assert_true(i + 1 < run.count);
        struct nocap_event *e = &run.events[i];
        if (e[0].kind != NOCAP_EV_CQ || e[0].op != NOCAP_OP_RECORD || e[1].kind != NOCAP_EV_CQ ||
            e[1].op != NOCAP_OP_RECORD) {
            continue;
        }
        struct nocap_event first = e[0], second = e[1];
        e[0] = second;
        e[1] = first;
        e[0].t = e[1].t = first.t;
        struct nocap_report *report = check_changed(&run, &records_view, run.count, DROPPED);
        assert_only(report, "CQ-029");
        e[0] = first;
        e[1] = second;
        checked++;
    }
    run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_elsewhere_is_one_finding),
        cmocka_unit_test(reads_elsewhere_are_one_finding),
        cmocka_unit_test(a_read_left_out_is_one_finding),
        cmocka_unit_test(a_slot_store_left_out_is_one_finding),
        cmocka_unit_test(a_record_not_seen_is_one_finding),
        cmocka_unit_test(a_late_record_is_one_finding),
        cmocka_unit_test(a_relay_not_seen_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
