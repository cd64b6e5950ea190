/* SPDX-License-Identifier: Apache-2.0 */
/* Command queues under the driver shim: wherever a host sets one up, whatever width its slots have
 * and however many there are, each record that it announces is in the trace with its bytes. */
#include "tests/kmd_client.h"
#include "tests/shim_run.h"

#include "checker/core/checker.h"
#include "formats/profile/profile.h"

/* What is expected of a queue. */
struct wanted {
    const char *profile;
    unsigned queues, turns;
};

/* Notes that have the text. */
static unsigned check_records(const struct wanted *w, const char *text)
{
    struct nocap_profile p;
    struct nocap_reader *reader = open_trace("queue.nocap");
    struct nocap_error err = {{0}};
    const struct nocap_event *e;
    size_t count;
    uint64_t records[CLIENT_THREADS] = {0}, next[CLIENT_THREADS], seq = 0;
    unsigned turns[CLIENT_THREADS] = {0}, notes = 0;
    assert_int_equal(nocap_profile_find(&p, w->profile, &err), NOCAP_OK);
    for (unsigned k = 0; k < CLIENT_THREADS; k++) {
        next[k] = p.queue.issue;
    }
    while (nocap_reader_next(reader, &e, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            notes += text != NULL && e[i].kind == NOCAP_EV_NOTE &&
                     memmem(e[i].data, e[i].data_size, text, strlen(text)) != NULL;
            if (e[i].kind == NOCAP_EV_CQ) {
                unsigned k = (e[i].at.y - CLIENT_QUEUE_Y) / 2u;
                assert_true((e[i].has & NOCAP_F_AT) != 0 && e[i].at.x == CLIENT_QUEUE_X);
                assert_true(k < w->queues && e[i].at.y == CLIENT_QUEUE_Y + 2 * k);
                assert_int_equal(e[i].slot_index, records[k]++);
                assert_int_equal(e[i].data_size, e[i].entry * p.queue.entry_unit);
                assert_true(e[i].data[48] == 0x5A);
                turns[k] += e[i].addr != next[k];
                assert_true(e[i].addr == next[k] || e[i].addr == p.queue.issue);
                uint32_t stride;
                memcpy(&stride, e[i].data + 8, sizeof stride);
                next[k] = e[i].addr + stride;
                assert_true(e[i].seq > seq);
                seq = e[i].seq;
            } else if ((e[i].has & NOCAP_F_SEQ) != 0) { /* the store that announces it */
                assert_true(e[i].seq == seq && e[i].size == p.queue.entry_bytes);
            }
        }
    }
    nocap_reader_close(reader);
    for (unsigned k = 0; k < w->queues; k++) {
        assert_int_equal(records[k], CLIENT_RECORDS);
        assert_int_equal(turns[k], w->turns);
    }
    return notes;
}

/* What the checker says of it. */
static void check_rules(unsigned rule, uint64_t findings)
{
    struct nocap_report *report;
    struct nocap_error err = {{0}};
    assert_int_equal(nocap_check(&report, "queue.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, findings);
    assert_true(findings == 0 || report->findings[0].rule == rule);
    assert_true(report->rules[CQ_001].exercised >= CLIENT_RECORDS - 1);
    assert_true(report->rules[CQ_029].exercised >= CLIENT_RECORDS - 1);
    nocap_report_free(report);
}

/* Nothing is judged of a queue that the header does not describe, and that is reported. */
static void check_unexplained(void)
{
    struct nocap_report *report;
    struct nocap_error err = {{0}};
    bool told = false;
    assert_int_equal(nocap_check(&report, "queue.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 0);
    for (size_t i = 0; i < report->note_count; i++) {
        told |= strcmp(report->note_ids[i], "other-queue") == 0;
    }
    assert_true(told);
    assert_int_equal(report->rules[CQ_001].obstacle, NOCAP_NO_PROFILE);
    nocap_report_free(report);
}

/* The same where no profile has the queue's addresses. */
static void check_strange(void)
{
    struct nocap_report *report;
    struct nocap_error err = {{0}};
    assert_int_equal(nocap_check(&report, "queue.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].rule, TRC_010);
    assert_int_equal(report->rules[CQ_001].obstacle, NOCAP_NO_PROFILE);
    nocap_report_free(report);
}

static void check_default(const char *wrong, const char *pin, unsigned rule, uint64_t findings)
{
    const char *const variables[] = {"NOCAP_CAPTURE=queue.nocap", pin, NULL};
    const struct wanted w = {"blackhole-py", 1, 1};
    run_well(variables, "queue", wrong);
    assert_int_equal(check_records(&w, "the command queue of core"), 0);
    check_rules(rule, findings);
}

static void records_are_copied_when_the_host_announces_them(void **state)
{
    (void)state;
    check_default("0", NULL, CQ_001, 0);
    check_default("0", "CLIENT_PIN=4", CQ_001, 0); /* the driver takes it for 2 and more */
    check_default("7", NULL, CQ_002, 1);
}

/* The header says the profile, with which the trace is judged. */
static void the_profile_that_is_told_is_in_the_header(void **state)
{
    (void)state;
    static const char *const names[] = {"tt-metal-2025-06", "tt-metal-2026-03", "tt-metal-2026-09"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char client[64], told[96];
        snprintf(client, sizeof client, "CLIENT_PROFILE=%s", names[i]);
        snprintf(told, sizeof told, "NOCAP_CAPTURE_PROFILE=\"%s\"", names[i]);
        const char *const variables[] = {"NOCAP_CAPTURE=queue.nocap", "FAKE_NOC=0", client, told,
                                         NULL};
        const struct wanted w = {names[i], 1, 0};
        run_well(variables, "queue", "0");
        assert_int_equal(check_records(&w, "the command queue of core"), 0);
        struct nocap_reader *reader = open_trace("queue.nocap");
        const struct nocap_header *header = nocap_reader_header(reader);
        assert_non_null(header->protocol);
        assert_string_equal(header->protocol->name, names[i]);
        nocap_reader_close(reader);
        check_rules(CQ_001, 0);
        run_well(variables, "queue", "7");
        check_rules(CQ_002, 1);
    }
}

/* Without being told: by the set-up, and by the records where several profiles have the same one.
 */
static void a_queue_of_another_runtime_is_found(void **state)
{
    (void)state;
    for (size_t i = 1; nocap_profile_name(i) != NULL; i++) {
        char client[64];
        snprintf(client, sizeof client, "CLIENT_PROFILE=%s", nocap_profile_name(i));
        const char *const variables[] = {"NOCAP_CAPTURE=queue.nocap", "FAKE_NOC=0", client, NULL};
        const struct wanted w = {nocap_profile_name(i), 1, 0};
        run_well(variables, "queue", "0");
        (void)check_records(&w, NULL);
        check_rules(CQ_001, 0); /* the trace shows whose it is */
    }
    const char *const variables[] = {"NOCAP_CAPTURE=queue.nocap", "FAKE_NOC=0",
                                     "CLIENT_PROFILE=tt-metal-2026-09", NULL};
    const struct wanted w = {"tt-metal-2026-09", 1, 0};
    run_well(variables, "queue", "0");
    assert_int_equal(check_records(&w, "prefetch_q entries of 32 bits from 0x1b480 to 0x1cc78"), 1);
}

/* Addresses and sizes that no profile has, slots of both widths. */
static void a_queue_with_addresses_of_its_own_is_found(void **state)
{
    (void)state;
    const char *const narrow[] = {"NOCAP_CAPTURE=queue.nocap", "CLIENT_MOVED=0x4440",
                                  "CLIENT_ISSUE=0x2000000", NULL};
    const struct wanted w = {"blackhole-py", 1, 2};
    run_well(narrow, "queue", "0");
    assert_int_equal(check_records(&w, "addresses of its own"), 1);
    check_strange();
    const char *const wide[] = {"NOCAP_CAPTURE=queue.nocap", "CLIENT_MOVED=0x4440",
                                "CLIENT_PROFILE=tt-metal-2026-09", "CLIENT_ISSUE=0x2000000", NULL};
    const struct wanted w2 = {"tt-metal-2026-09", 1, 2};
    run_well(wide, "queue", "0");
    assert_int_equal(check_records(&w2, "prefetch_q entries of 32 bits from 0x1f8c0"), 1);
    assert_int_equal(check_records(&w2, "no prefetch command is where"), 0);
}

/* The driver chooses where the device sees the memory. The profile that somebody names has that; of
 * a queue of no name it is what shows whose it is. */
static void memory_may_lie_anywhere(void **state)
{
    (void)state;
    const struct wanted w = {"blackhole-py", 1, 1};
    const char *const silent[] = {"NOCAP_CAPTURE=queue.nocap", "FAKE_NOC=80000000", NULL};
    run_well(silent, "queue", "0");
    assert_int_equal(check_records(&w, "commands from 0x80000100 on"), 1);
    check_unexplained();
    const char *const named[] = {"NOCAP_CAPTURE=queue.nocap", "FAKE_NOC=80000000",
                                 "NOCAP_CAPTURE_PROFILE=\"blackhole-py\"", NULL};
    run_well(named, "queue", "0");
    assert_int_equal(check_records(&w, "the command queue of core"), 0);
    check_rules(CQ_001, 0);
    run_well(named, "queue", "7");
    check_rules(CQ_002, 1);
}

static void several_queues_of_a_chip_are_followed(void **state)
{
    (void)state;
    static const char *const names[] = {"blackhole-py", "tt-metal-2026-09"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char client[64], told[96];
        snprintf(client, sizeof client, "CLIENT_PROFILE=%s", names[i]);
        snprintf(told, sizeof told, "NOCAP_CAPTURE_PROFILE=\"%s\"", names[i]);
        const char *const variables[] = {"NOCAP_CAPTURE=queue.nocap",
                                         "CLIENT_QUEUES=3",
                                         client,
                                         told,
                                         i == 0 ? NULL : "FAKE_NOC=0",
                                         NULL};
        const struct wanted w = {names[i], 3, i == 0};
        run_well(variables, "queue", "0");
        (void)check_records(&w, NULL);
        check_rules(CQ_001, 0);
    }
}

int main(void)
{
    if (SANITIZED) {
        printf("1..1\nok 1 # SKIP preload_queue: a sanitizer's run time must come before the shim, "
               "which must come before all\n");
        return 0;
    }
    find_build();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_copied_when_the_host_announces_them),
        cmocka_unit_test(the_profile_that_is_told_is_in_the_header),
        cmocka_unit_test(a_queue_of_another_runtime_is_found),
        cmocka_unit_test(a_queue_with_addresses_of_its_own_is_found),
        cmocka_unit_test(memory_may_lie_anywhere),
        cmocka_unit_test(several_queues_of_a_chip_are_followed),
    };
    return cmocka_run_group_tests_name("preload_queue", tests, enter, temp_dir_leave);
}
