/* SPDX-License-Identifier: Apache-2.0 */
/* A member of one command that is wrong, as the host sees it: one finding, though records after
 * it, and what comes back, do not fit it. */
#include "tests/cq_run.h"

enum { RUN_PROGRAMS = 8, COMMAND = NOCAP_CQ_HEADER /* of a record, where its command begins */ };

static const struct nocap_sim_options host_view = {.size = sizeof host_view,
                                                   .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                   .view = NOCAP_SIM_VIEW_HOST,
                                                   .launches = RUN_PROGRAMS,
                                                   .seed = 5,
                                                   .variant = 5};
enum { CLEARS_AND_WAITS = 0x18 };

static const struct {
    const char *what;
    uint8_t id, offset;
    int add;   /* to its byte, where */
    bool last; /* of the two WAITs of a launch the second one */
    const char *rule;
} changes[] = {
    {"SEND_GO_SIGNAL on another stream", NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL, 12, 12, false, "CQ-019"},
    {"a go word too many", NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL, 6, 1, false, "CQ-047"},
    {"a go word too few", NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL, 6, -1, false, "CQ-047"},
    {"a tile too few in the list", NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA, 4, -1, false,
     "CQ-047"},
    {"no event", NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST, 1, -1, false, "CQ-023"},
    {"an event of 48 bytes", NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST, 8, 16, false, "CQ-023"},
    {"an event of more pages", NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST, 9, 64, false, "CQ-008"},
    {"another id", NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST, 16, 1, false, "CQ-023"},
    {"the clear waits", NOCAP_CQ_DISPATCH_WAIT, 8, 1, false, "CQ-048"},
    {"the wait for one more", NOCAP_CQ_DISPATCH_WAIT, 8, 1, true, "CQ-048"},
    {"the wait on another stream", NOCAP_CQ_DISPATCH_WAIT, 2, 1, true, "CQ-048"},
};

static bool is_record(const struct nocap_event *e, size_t change)
{
    if (e->kind != NOCAP_EV_CQ || e->op != NOCAP_OP_RECORD || e->data_size < 2 * COMMAND ||
        e->data[COMMAND] != changes[change].id) {
        return false;
    }
    bool last = e->data[COMMAND + 8] != 0; /* its count */
    return changes[change].id != NOCAP_CQ_DISPATCH_WAIT ||
           (e->data[COMMAND + 1] == CLEARS_AND_WAITS && last == changes[change].last);
}

static struct nocap_report *check_events(const struct run *run)
{
    struct run_trace t = run_trace_of(&host_view);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        run_trace_add(&t, &run->events[i]);
    }
    return run_trace_check(&t);
}

static void a_wrong_member_is_one_finding(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
        struct run run = run_with(host_view);
        size_t checked = 0;
        for (size_t i = run.count / 2; i < run.count && checked < 2; i++) {
            if (!is_record(&run.events[i], c)) {
                continue;
            }
            uint8_t *byte = (uint8_t *)(uintptr_t)run.events[i].data + COMMAND + changes[c].offset;
            *byte = (uint8_t)(*byte + changes[c].add);
            struct nocap_report *report = check_events(&run);
            if (report->finding_count != 1 ||
                strcmp(nocap_rules[report->findings[0].rule].id, changes[c].rule) != 0) {
                (void)nocap_report_text(stderr, report, false, true, NULL);
                fail_msg("%s: %s alone is to be found", changes[c].what, changes[c].rule);
            }
            nocap_report_free(report);
            *byte = (uint8_t)(*byte - changes[c].add);
            checked++;
        }
        assert_true(checked > 0);
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wrong_member_is_one_finding)};
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
