/* SPDX-License-Identifier: Apache-2.0 */
/* The command-queue model on whole traces: silent on correct ones, however much of them is seen,
 * and one finding for one fault. */
#include "tests/temp_dir.h"

#include <glob.h>

#include "checker/core/checker.h"
#include "tests/golden_text.h"

static struct nocap_report *check_file(const char *path)
{
    struct nocap_report *report;
    struct nocap_error err;
    if (nocap_check(&report, path, NULL, &err) != NOCAP_OK) {
        fail_msg("%s: %s", path, err.text);
    }
    return report;
}

/* Findings that would be alarms. */
static size_t count_alarms(const struct nocap_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->finding_count; i++) {
        bool trace = strncmp(nocap_rules[report->findings[i].rule].id, "TRC-", 4) == 0;
        count += !trace && report->findings[i].severity != NOCAP_NOTE;
    }
    return count;
}

static void assert_silent(const char *path, const char *what)
{
    struct nocap_report *report = check_file(path);
    if (count_alarms(report) != 0) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("false alarm in %s", what);
    }
    nocap_report_free(report);
}

/* Golden traces of an independent simulator of the queue. */
static size_t find(const char *pattern, glob_t *names)
{
    char path[512];
    snprintf(path, sizeof path, GOLDEN_DIR "/reference-queue-%s.nocap", pattern);
    assert_int_equal(glob(path, 0, NULL, names), 0);
    return names->gl_pathc;
}

static void correct_traces_are_silent(void **state)
{
    (void)state;
    glob_t names;
    size_t count = find("ok-*", &names);
    for (size_t i = 0; i < count; i++) {
        assert_silent(names.gl_pathv[i], names.gl_pathv[i]);
    }
    globfree(&names);
}

/* The name of a faulty trace has the number of its rule. */
static void faulty_traces_break_their_rule_alone(void **state)
{
    (void)state;
    glob_t names;
    size_t count = find("fault-*", &names);
    for (size_t i = 0; i < count; i++) {
        char id[8];
        snprintf(id, sizeof id, "CQ-%.3s",
                 strrchr(names.gl_pathv[i], '/') + strlen("/reference-queue-fault-"));
        struct nocap_report *report = check_file(names.gl_pathv[i]);
        assert_int_equal(report->finding_count, 1);
        assert_string_equal(nocap_rules[report->findings[0].rule].id, id);
        nocap_report_free(report);
    }
    globfree(&names);
}

/* The header, then the lines from number `from` to `to`, with a drop event at `drop`. */
static void write_part(const char *path, size_t from, size_t to, size_t drop)
{
    size_t size, line = 0;
    char *text = golden_text(path, &size);
    assert_non_null(text);
    FILE *out = fopen("part.jsonl", "w");
    assert_non_null(out);
    for (char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1, line++) {
        unsigned long long t;
        bool lost = drop != 0 && line >= drop && line < drop + 40;
        if (lost && line == drop && sscanf(at, "{\"t\":%llu", &t) == 1) {
            fprintf(out, "{\"t\":%llu,\"ev\":\"drop\",\"count\":40}\n", t);
        }
        if (line == 0 || (!lost && line >= from && line <= to)) {
            fwrite(at, 1, (size_t)(end + 1 - at), out);
        }
    }
    assert_int_equal(fclose(out), 0);
    free(text);
}

static void parts_of_correct_traces_are_silent(void **state)
{
    (void)state;
    static const size_t lines[] = {3, 9, 20, 31, 60, 77, 110, 222, 333, 512, 900, 1500, 2700};
    glob_t names;
    size_t count = find("ok-*", &names);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            write_part(names.gl_pathv[i], lines[k], SIZE_MAX, 0);
            assert_silent("part.jsonl", names.gl_pathv[i]);
            write_part(names.gl_pathv[i], 1, lines[k], 0);
            assert_silent("part.jsonl", names.gl_pathv[i]);
            write_part(names.gl_pathv[i], 1, SIZE_MAX, lines[k]);
            assert_silent("part.jsonl", names.gl_pathv[i]);
        }
    }
    globfree(&names);
}

/* ---- small traces ---- */

#define HEAD(observes)                                                                             \
    "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[" observes               \
    "],\"cq\":{\"prefetch\":[14,2],\"dispatch\":[14,3]}}\n"
/* A record of 64 bytes: WAIT for the write barrier. */
#define BARRIER                                                                                    \
    "\"entry\":\"0x4\",\"size\":64,\"data\":\"05000000100000004000000000000000"                    \
    "0701000000000000000000000000000000000000000000000000000000000000"                             \
    "00000000000000000000000000000000\"}\n"

static struct nocap_report *check_text(const char *text)
{
    write_text("small.jsonl", text);
    return check_file("small.jsonl");
}

static void assert_rule(const char *text, enum nocap_rule rule, uint64_t index)
{
    struct nocap_report *report = check_text(text);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].rule, rule);
    assert_int_equal(report->findings[0].index, index);
    nocap_report_free(report);
}

/* A `cq` event and the access that it restates share a number and are one act. */
static void an_act_that_is_told_twice_counts_once(void **state)
{
    (void)state;
    static const char store[] = "{\"t\":%d,\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":2,"
                                "\"addr\":\"0x%x\",\"size\":2,\"value\":\"0x4\",\"seq\":%d}\n";
    static const char record[] = "{\"t\":%d,\"ev\":\"cq\",\"op\":\"record\",\"slot\":%d,\"addr\":"
                                 "\"0x%x\",\"seq\":%d," BARRIER;
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", HEAD("\"host-mmio\",\"cq\""));
    for (int i = 0; i < 3; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, record, 10 + i, i, 0x100 + 64 * i, i + 1);
        n += (size_t)snprintf(text + n, sizeof text - n, store, 10 + i, 0x19840 + 2 * i, i + 1);
    }
    struct nocap_report *report = check_text(text);
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[CQ_001].exercised, 6); /* shape and place of three records */
    nocap_report_free(report);
}

/* After a fault both lines are taken, so that one wrong slot is one finding. */
static void a_fault_has_no_echo(void **state)
{
    (void)state;
    assert_rule(HEAD("\"cq-host\"") "{\"t\":1,\"ev\":\"cq\",\"op\":\"record\",\"slot\":7,\"addr\":"
                                    "\"0x100\"," BARRIER "{\"t\":2,\"ev\":\"cq\",\"op\":\"record\","
                                    "\"slot\":9,\"addr\":\"0x140\"," BARRIER
                                    "{\"t\":3,\"ev\":\"cq\",\"op\":\"record\",\"slot\":9,\"addr\":"
                                    "\"0x180\"," BARRIER "{\"t\":4,\"ev\":\"cq\",\"op\":\"record\","
                                    "\"slot\":10,\"addr\":\"0x1c0\"," BARRIER,
                CQ_029, 1);
}

/* The issue region wraps without a mark: at the record that does not fit. */
static void the_issue_region_wraps(void **state)
{
    (void)state;
    struct nocap_report *report = check_text(
        HEAD("\"cq-host\"") "{\"t\":1,\"ev\":\"cq\",\"op\":\"record\",\"slot\":1533,\"addr\":"
                            "\"0x40000c0\"," BARRIER "{\"t\":2,\"ev\":\"cq\",\"op\":\"record\","
                            "\"slot\":0,\"addr\":\"0x100\"," BARRIER);
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[CQ_027].verdict, NOCAP_HELD);
    nocap_report_free(report);
    assert_rule(HEAD("\"cq-host\"") "{\"t\":1,\"ev\":\"cq\",\"op\":\"record\",\"slot\":1,\"addr\":"
                                    "\"0x40000c0\"," BARRIER
                                    "{\"t\":2,\"ev\":\"cq\",\"op\":\"record\",\"slot\":2,\"addr\":"
                                    "\"0x140\"," BARRIER,
                CQ_027, 1);
}

/* The toggle turns where the pointer wraps. */
static void the_completion_pointer_wraps_with_its_toggle(void **state)
{
    (void)state;
    static const char store[] = "{\"t\":%d,\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":3,"
                                "\"addr\":\"0x196e0\",\"size\":4,\"value\":\"0x%x\"}\n";
    char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", HEAD("\"host-mmio\""));
    n += (size_t)snprintf(text + n, sizeof text - n, store, 1, 0x45fff10);
    n += (size_t)snprintf(text + n, sizeof text - n, store, 2, 0x84400010);
    n += (size_t)snprintf(text + n, sizeof text - n, store, 3, 0x84400110);
    struct nocap_report *report = check_text(text);
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[CQ_063].exercised, 2);
    nocap_report_free(report);
    snprintf(text + n, sizeof text - n, store, 4, 0x4400210);
    assert_rule(text, CQ_063, 3);
}

/* Reads across slot borders, and of more than one slot, say what they say of whole slots. */
static void slots_are_read_at_any_address(void **state)
{
    (void)state;
    struct nocap_report *report =
        check_text(HEAD("\"host-mmio\"") "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":"
                                         "2,\"addr\":\"0x19840\",\"size\":2,"
                                         "\"value\":\"0x4\"}\n"
                                         "{\"t\":2,\"ev\":\"read\",\"by\":\"host\",\"x\":14,\"y\":"
                                         "2,\"addr\":\"0x19841\",\"size\":4,"
                                         "\"value\":\"0x0\"}\n"
                                         "{\"t\":3,\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":"
                                         "2,\"addr\":\"0x19842\",\"size\":2,"
                                         "\"value\":\"0x4\"}\n");
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[CQ_028].exercised, 3); /* two shapes, one slot known free */
    nocap_report_free(report);
}

/* A trace of a chip without a queue has none of its rules exercised. */
static void no_queue_no_rules(void **state)
{
    (void)state;
    struct nocap_report *report = check_text(
        "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[\"host-mmio\"]}\n"
        "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":14,\"y\":2,\"addr\":\"0x19840\",\"size\":"
        "4,"
        "\"value\":\"0x4\"}\n");
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[CQ_028].exercised, 0);
    nocap_report_free(report);
}

/* A header that says neither board nor tiles: the first record does. */
static void the_first_record_places_the_queue(void **state)
{
    (void)state;
    static const char text[] =
        "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"cq-host\"]}\n"
        "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":%d,\"y\":2,\"addr\":\"0x19840\","
        "\"size\":4,\"value\":\"0x4\"}\n"
        "{\"t\":2,\"ev\":\"cq\",\"op\":\"record\",\"x\":%d,\"y\":2,\"slot\":0,\"addr\":"
        "\"0x100\"," BARRIER "{\"t\":3,\"ev\":\"write\",\"by\":\"host\",\"x\":%d,\"y\":2,\"addr\":"
        "\"0x19842\",\"size\":4,\"value\":\"0x4\"}\n";
    char whole[2048];
    for (int x = 14; x <= 16; x++) {
        snprintf(whole, sizeof whole, text, x, x, x);
        struct nocap_report *report = check_text(whole);
        bool board = x != 15; /* nobody knows a queue there */
        assert_int_equal(report->finding_count, board);
        assert_true(!board ||
                    (report->findings[0].rule == CQ_028 && report->findings[0].index == 2));
        assert_true((report->rules[CQ_001].exercised != 0) == board);
        nocap_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_traces_are_silent),
        cmocka_unit_test(faulty_traces_break_their_rule_alone),
        cmocka_unit_test(parts_of_correct_traces_are_silent),
        cmocka_unit_test(an_act_that_is_told_twice_counts_once),
        cmocka_unit_test(a_fault_has_no_echo),
        cmocka_unit_test(the_issue_region_wraps),
        cmocka_unit_test(the_completion_pointer_wraps_with_its_toggle),
        cmocka_unit_test(slots_are_read_at_any_address),
        cmocka_unit_test(no_queue_no_rules),
        cmocka_unit_test(the_first_record_places_the_queue),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
