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

static bool is_subordinate_relay(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_CQ && e->op == NOCAP_OP_RELAY && e->addr >= 0x9c000;
}

/* That of a command of the subordinate dispatcher: those of the dispatcher go on. */
static void a_subordinate_relay_not_seen_is_one_finding(void **state)
{
    (void)state;
    struct nocap_sim_options options = records_view;
    options.scenario = NOCAP_SIM_FAST_DISPATCH_SUBORDINATE;
    leave_out(options, is_subordinate_relay, PLACES, 0, "CQ-037");
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

enum { MIDDLE = 60, IN_A_LAP = 5 }; /* a command; programs that fill no ring */

/* From that command on, events of these kinds (a bit each) are off by so much. */
static struct nocap_report *check_shifted(uint64_t ops, uint64_t slots, uint64_t bytes)
{
    struct nocap_sim_options in_a_lap = records_view;
    in_a_lap.launches = IN_A_LAP;
    struct run run = run_with(in_a_lap);
    size_t seen[64] = {0};
    for (size_t i = 0; i < run.count; i++) {
        struct nocap_event *e = &run.events[i];
        if (e->kind == NOCAP_EV_CQ && (ops >> e->op & 1) != 0 && ++seen[e->op] > MIDDLE) {
            e->slot_index += slots;
            e->addr += bytes;
        }
    }
    struct nocap_report *report = check_changed(&run, &in_a_lap, run.count, DROPPED);
    run_free(&run);
    return report;
}

#define OP(name) (UINT64_C(1) << NOCAP_OP_##name)

/* A host that leaves room between two commands, of which the device knows nothing. */
static void a_gap_between_records_is_one_finding(void **state)
{
    (void)state;
    assert_only(check_shifted(OP(RECORD), 0, NOCAP_CQ_RECORD_ALIGN), "CQ-027");
}

static void an_entry_passed_over_is_one_finding(void **state)
{
    (void)state;
    assert_only(check_shifted(OP(RECORD) | OP(FETCH) | OP(LANDED), 1, 0), "CQ-029");
    assert_only(check_shifted(OP(FETCH) | OP(LANDED), 1, 0), "CQ-029");
}

/* Prefetcher and dispatcher both leave out a page. */
static void a_page_passed_over_is_one_finding(void **state)
{
    (void)state;
    assert_only(check_shifted(OP(RELAY) | OP(EXEC) | OP(DONE), 0, NOCAP_CQ_PAGE), "CQ-036");
}

static struct nocap_event *middle_of(const struct run *run, enum nocap_op op)
{
    struct nocap_event *e = run->events;
    for (size_t seen = 0; seen <= MIDDLE; e++) {
        seen += e->kind == NOCAP_EV_CQ && e->op == op;
    }
    return e - 1;
}

static void a_credit_elsewhere_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    middle_of(&run, NOCAP_OP_CREDIT)->at.x--;
    assert_only(check_changed(&run, &records_view, run.count, DROPPED), "CQ-041");
    run_free(&run);
}

/* At the end fewer pages are released than were made ready. */
static void a_credit_made_twice_is_one_finding(void **state)
{
    (void)state;
    struct nocap_sim_options options = records_view;
    options.profile = "tt-metal-2026-08";
    options.queues = 2;
    struct run run = run_with(options);
    size_t where = (size_t)(middle_of(&run, NOCAP_OP_CREDIT) - run.events);
    assert_only(check_changed(&run, &options, where, DOUBLED), "CQ-037");
    run_free(&run);
}

static void a_command_not_executed_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    size_t where = (size_t)(middle_of(&run, NOCAP_OP_EXEC) - run.events);
    assert_only(check_changed(&run, &records_view, where, DROPPED), "CQ-038");
    run_free(&run);
}

/* The prefetcher reads as much as the entry says, and goes on after that. */
static void an_entry_too_long_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    struct nocap_event *record = middle_of(&run, NOCAP_OP_RECORD);
    record->entry += NOCAP_CQ_RECORD_ALIGN / NOCAP_CQ_ENTRY_UNIT;
    for (size_t i = 0; i < run.count; i++) {
        struct nocap_event *e = &run.events[i];
        bool reads =
            e->kind == NOCAP_EV_CQ && (e->op == NOCAP_OP_FETCH || e->op == NOCAP_OP_LANDED);
        e->size += reads && e->addr == record->addr ? NOCAP_CQ_RECORD_ALIGN : 0;
        e->addr += reads && e->addr > record->addr ? NOCAP_CQ_RECORD_ALIGN : 0;
    }
    assert_only(check_changed(&run, &records_view, run.count, DROPPED), "CQ-002");
    run_free(&run);
}

/* A command that ends where none may begin; the next one begins where it may. */
static void a_record_not_padded_is_one_finding(void **state)
{
    (void)state;
    struct run run = run_with(records_view);
    struct nocap_event *record = middle_of(&run, NOCAP_OP_RECORD);
    uint8_t bytes[NOCAP_CQ_RECORD_ALIGN];
    while (record->size != NOCAP_CQ_RECORD_ALIGN || record[1].kind != NOCAP_EV_CQ) {
        record++;
    }
    const uint8_t *own = record->data;
    memcpy(bytes, own, sizeof bytes);
    bytes[8] = 48; /* the stride */
    record->data = bytes;
    record->size = record->data_size = bytes[8];
    record->entry = bytes[8] / NOCAP_CQ_ENTRY_UNIT;
    assert_only(check_changed(&run, &records_view, run.count, DROPPED), "CQ-001");
    record->data = own;
    run_free(&run);
}

/* A second read of an entry that the prefetcher has not zeroed yet, where its accesses are shown,
 * too. */
static void a_read_made_twice_is_one_finding(void **state)
{
    (void)state;
    struct nocap_sim_options all_view = records_view;
    all_view.view = NOCAP_SIM_VIEW_ALL;
    struct run run = run_with(all_view);
    const struct nocap_event *fetch = middle_of(&run, NOCAP_OP_FETCH);
    struct run_trace t = run_trace_of(&all_view);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run.count; i++) {
        run_trace_add(&t, &run.events[i]);
        if (&run.events[i] == fetch) {
            struct nocap_event again = *fetch;
            again.has &= ~NOCAP_F_SEQ;
            run_trace_add(&t, &again);
        }
    }
    assert_only(run_trace_check(&t), "CQ-030");
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
        cmocka_unit_test(a_subordinate_relay_not_seen_is_one_finding),
        cmocka_unit_test(a_gap_between_records_is_one_finding),
        cmocka_unit_test(an_entry_passed_over_is_one_finding),
        cmocka_unit_test(a_page_passed_over_is_one_finding),
        cmocka_unit_test(a_credit_elsewhere_is_one_finding),
        cmocka_unit_test(a_credit_made_twice_is_one_finding),
        cmocka_unit_test(a_command_not_executed_is_one_finding),
        cmocka_unit_test(an_entry_too_long_is_one_finding),
        cmocka_unit_test(a_record_not_padded_is_one_finding),
        cmocka_unit_test(a_read_made_twice_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
