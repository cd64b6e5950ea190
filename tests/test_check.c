/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs on small traces: what is found, what options select, what a damaged file becomes. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "formats/import/import.h"

static const char header[] = "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\"]}\n";
static const char stray[] = "{\"t\":10,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,"
                            "\"addr\":\"0xffb90000\",\"size\":4,\"value\":\"0x1\"}\n"
                            "{\"t\":20,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,"
                            "\"addr\":\"0xffb10000\",\"size\":4,\"value\":\"0x1\"}\n"
                            "{\"t\":30,\"ev\":\"write\",\"by\":\"host\",\"x\":3,\"y\":4,"
                            "\"addr\":\"0xffb90000\",\"size\":4,\"value\":\"0x1\"}\n";

static struct nocap_report *check(const char *head, const struct nocap_check_options *options)
{
    struct nocap_report *report;
    struct nocap_error err;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", head, stray);
    write_text("stray.jsonl", text);
    if (nocap_check(&report, "stray.jsonl", options, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return report;
}

static void a_trace_is_checked(void **state)
{
    (void)state;
    struct nocap_report *report = check(header, NULL);
    assert_int_equal(report->events, 3);
    assert_int_equal(report->t_first, 10);
    assert_int_equal(report->t_last, 30);
    assert_int_equal(report->finding_count, 3);
    assert_int_equal(report->rules[MAP_001].violations, 2);
    assert_int_equal(report->rules[MAP_013].violations, 1);
    assert_int_equal(report->rules[TRC_001].verdict, NOCAP_HELD);
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
}

static void options_narrow_a_run(void **state)
{
    (void)state;
    struct nocap_check_options options = {.size = sizeof options, .rules = "MAP-001"};
    struct nocap_report *report = check(header, &options);
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->rules[MAP_013].verdict, NOCAP_NOT_EXERCISED);
    nocap_report_free(report);
    options = (struct nocap_check_options){.size = sizeof options, .has_to = true, .to = 20};
    report = check(header, &options);
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->events, 2);
    nocap_report_free(report);
    options =
        (struct nocap_check_options){.size = sizeof options, .has_tile = true, .tile = {3, 4}};
    report = check(header, &options);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].index, 2);
    nocap_report_free(report);
    write_text("waivers.txt", "MAP-001 1,2 -- known\nMAP-013 7,7 -- gone\n");
    options = (struct nocap_check_options){.size = sizeof options, .waivers = "waivers.txt"};
    report = check(header, &options);
    assert_int_equal(report->waived, 1);
    assert_int_equal(report->counts[NOCAP_ERROR], 2);
    assert_int_equal(report->note_count, 1);
    assert_contains(report->notes[0], "waivers.txt:2: the waiver of MAP-013 waived nothing");
    nocap_report_free(report);
}

static void a_header_without_observes_is_told(void **state)
{
    (void)state;
    struct nocap_report *report = check("{\"nocap\":1,\"arch\":\"blackhole\"}\n", NULL);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].rule, TRC_009);
    assert_contains(report->findings[0].observed, "no `observes`");
    assert_int_equal(report->rules[MAP_001].verdict, NOCAP_NOT_OBSERVABLE);
    assert_int_equal(report->rules[TRC_005].verdict, NOCAP_HELD);
    assert_int_equal(nocap_report_outcome(report), NOCAP_NOT_JUDGED);
    nocap_report_free(report);
    report = check("{\"nocap\":1,\"arch\":\"wormhole\",\"observes\":[\"host-mmio\"]}\n", NULL);
    assert_int_equal(report->finding_count, 0);
    assert_int_equal(report->rules[MAP_001].verdict, NOCAP_NOT_OBSERVABLE);
    nocap_report_free(report);
}

static void firmware_that_is_not_there_is_noted(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_report *report =
        check("{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\"],"
              "\"firmware\":{\"brisc\":\"gone.elf\"}}\n",
              NULL);
    assert_int_equal(report->note_count, 1);
    assert_contains(report->notes[0], "gone.elf");
    assert_int_equal(report->rules[RST_008].verdict, NOCAP_NOT_OBSERVABLE);
    nocap_report_free(report);
    const struct nocap_elf_arg elf[] = {{"brisc", "gone.elf"}, {"fpu", "x.elf"}};
    struct nocap_check_options options = {.size = sizeof options, .elf = elf, .elf_count = 1};
    assert_int_equal(nocap_check(&report, "stray.jsonl", &options, &err), NOCAP_E_INPUT);
    assert_null(report);
    options.elf = &elf[1];
    assert_int_equal(nocap_check(&report, "stray.jsonl", &options, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "'fpu' is no RISC");
    assert_contains(err.text, "uc<n>");
}

static void a_class_that_nobody_knows_is_told(void **state)
{
    (void)state;
    struct nocap_report *report =
        check("{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host_mmio\"]}\n", NULL);
    assert_int_equal(report->finding_count, 1);
    assert_int_equal(report->findings[0].rule, TRC_009);
    assert_contains(report->findings[0].observed, "'host_mmio'");
    assert_contains(report->findings[0].observed, "is 'host-mmio' meant?");
    nocap_report_free(report);
}

static void go_words_of_another_layout_are_noted(void **state)
{
    (void)state;
#define GO(addr)                                                                                   \
    "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"" addr                   \
    "\",\"size\":4,\"value\":\"0x40000000\"}\n"
#define HEAD(layout) "{\"nocap\":1,\"arch\":\"blackhole\"," layout "\"observes\":[\"host-mmio\"]}\n"
    struct nocap_report *report = check(HEAD("\"layout\":\"bh-launch96\",") GO("0x3f0"), NULL);
    assert_int_equal(report->note_count, 1);
    assert_contains(report->notes[0], "0x3f0, as in bh-launch112 or bh-launch112-4");
    assert_contains(report->notes[0], "none as in bh-launch96");
    nocap_report_free(report);
    report = check(HEAD("") GO("0x3f0"), NULL); /* nobody said another one */
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
    report = check(HEAD("\"layout\":\"bh-launch112-4\",") GO("0x3f0"), NULL);
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
    report = check(HEAD("") GO("0x3f0") GO("0x370"), NULL);
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
}

/* Why, and of which line; what cannot be read has no time that could go backwards. */
static void a_malformed_line_is_told_once(void **state)
{
    (void)state;
    struct nocap_report *report;
    struct nocap_error err;
    write_text("bad.jsonl",
               "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\"]}\n"
               "{\"t\":9,\"ev\":\"note\",\"text\":\"a\"}\n"
               "{\"t\":1x}\n"
               "{\"t\":9,\"ev\":\"write\",\"by\":\"hots\",\"addr\":\"0x1\",\"size\":1}\n"
               "{\"t\":9,\"ev\":\"note\",\"text\":\"b\"}\n");
    assert_int_equal(nocap_check(&report, "bad.jsonl", NULL, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 2);
    assert_int_equal(report->findings[0].rule, TRC_005);
    assert_int_equal(report->findings[0].index, 1);
    assert_contains(report->findings[0].observed, "{\"t\":1x}");
    assert_int_equal(report->findings[1].rule, TRC_005);
    assert_contains(report->findings[1].observed, "\"by\" is no known name");
    nocap_report_free(report);
}

/* An AIE control processor has no place in the tables of a Tensix tile. */
static void an_agent_of_another_architecture_is_malformed(void **state)
{
    (void)state;
    struct nocap_report *report;
    struct nocap_error err;
    write_text("agent.jsonl",
               "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\"],"
               "\"complete\":true}\n"
               "{\"t\":1,\"ev\":\"write\",\"by\":\"uc127\",\"x\":1,\"y\":2,\"addr\":\"0x370\","
               "\"size\":4,\"value\":\"0x80000000\"}\n"
               "{\"t\":2,\"ev\":\"read\",\"by\":\"uc0\",\"x\":1,\"y\":2,\"addr\":\"0xffb10000\","
               "\"size\":4}\n");
    assert_int_equal(nocap_check(&report, "agent.jsonl", NULL, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(report->findings[i].rule, TRC_005);
        assert_int_equal(report->findings[i].index, i);
        assert_contains(report->findings[i].observed, "\"by\" is no agent of this architecture");
    }
    assert_int_equal(report->rules[MAP_013].violations, 0);
    nocap_report_free(report);
}

static void inputs_that_cannot_be_read_fail(void **state)
{
    (void)state;
    struct nocap_report *report;
    struct nocap_error err;
    struct nocap_check_options options = {.size = sizeof options, .rules = "NOPE"};
    assert_int_equal(nocap_check(&report, "none.nocap", NULL, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "none.nocap");
    write_text("junk", "this is no trace\n");
    assert_int_equal(nocap_check(&report, "junk", NULL, &err), NOCAP_E_INPUT);
    assert_int_equal(nocap_check(&report, "stray.jsonl", &options, &err), NOCAP_E_USAGE);
    assert_null(report);
}

/* A .nocap file of the stray writes, 2 events a block. */
static char *encoded(size_t *size)
{
    static const struct nocap_writer_options options = {.size = sizeof options, .block_events = 2};
    struct nocap_reader *reader;
    struct nocap_writer *writer;
    const struct nocap_event *events;
    size_t count;
    nocap_report_free(check(header, NULL)); /* writes the file */
    assert_int_equal(nocap_import_open(&reader, "stray.jsonl", false, NULL, NULL), NOCAP_OK);
    assert_int_equal(
        nocap_writer_open(&writer, "stray.nocap", nocap_reader_header(reader), &options, NULL),
        NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, NULL) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(nocap_writer_add(writer, &events[i], NULL), NOCAP_OK);
        }
    }
    nocap_reader_close(reader);
    assert_int_equal(nocap_writer_close(writer, NULL, NULL), NOCAP_OK);
    return read_bytes("stray.nocap", size);
}

static void a_damaged_file_is_judged_on_what_it_holds(void **state)
{
    (void)state;
    struct nocap_report *report;
    struct nocap_error err;
    size_t size;
    char *bytes = encoded(&size);
    write_bytes("cut.nocap", bytes, size - 40);
    assert_int_equal(nocap_check(&report, "cut.nocap", NULL, &err), NOCAP_OK);
    assert_true(report->truncated);
    assert_int_equal(report->rules[TRC_001].verdict, NOCAP_VIOLATED);
    assert_int_equal(report->rules[MAP_001].violations, 2);
    const struct nocap_finding *last = &report->findings[report->finding_count - 1];
    assert_int_equal(last->rule, TRC_001);
    assert_int_equal(last->index, 3);
    assert_int_equal(last->severity, NOCAP_WARNING);
    nocap_report_free(report);
    write_bytes("cut.nocap", bytes, 100); /* before the first event */
    assert_int_equal(nocap_check(&report, "cut.nocap", NULL, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "cut.nocap is damaged before its first event");
    unsigned damaged = 0;
    for (size_t at = 100; at < size - 40;
         at++) { /* wherever it is hit, it is reported or refused */
        bytes[at] = (char)(bytes[at] ^ 0x55);
        write_bytes("bad.nocap", bytes, size);
        bytes[at] = (char)(bytes[at] ^ 0x55);
        enum nocap_status status = nocap_check(&report, "bad.nocap", NULL, &err);
        assert_true(status == NOCAP_OK || status == NOCAP_E_INPUT);
        if (status == NOCAP_OK) {
            damaged += report->rules[TRC_002].verdict == NOCAP_VIOLATED;
            nocap_report_free(report);
        }
    }
    assert_true(damaged > 50);
    free(bytes);
}

/* ---- a trace that grows ---- */

static void count_reported(void *context, const struct nocap_finding *finding)
{
    assert_int_equal(finding->rule, MAP_001);
    ++*(unsigned *)context;
}

static void add_stores(struct nocap_writer *writer, uint64_t t, unsigned count)
{
    struct nocap_error err;
    for (unsigned i = 0; i < count; i++) {
        const struct nocap_event e = {.kind = NOCAP_EV_WRITE,
                                      .by = NOCAP_BY_HOST,
                                      .at = {1, 2},
                                      .t = t + i,
                                      .addr = i == 0 ? 0xFFB90000 : 0x37000,
                                      .size = 4,
                                      .value = i,
                                      .has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE |
                                             NOCAP_F_VALUE};
        assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_flush(writer, &err), NOCAP_OK);
}

/* A finding is told at the look after the one that read it; nothing is read twice. */
static void a_growing_trace_is_followed(void **state)
{
    (void)state;
    struct nocap_header head;
    struct nocap_writer *writer;
    struct nocap_follow *follow;
    struct nocap_trace_totals totals;
    struct nocap_report *report, *whole;
    struct nocap_error err;
    unsigned reported = 0;
    const struct nocap_check_options options = {
        .size = sizeof options, .reported = count_reported, .reported_context = &reported};
    nocap_header_init(&head);
    nocap_header_observe(&head, "host-mmio", NULL);
    assert_int_equal(nocap_writer_open(&writer, "grows.nocap", &head, NULL, &err), NOCAP_OK);
    add_stores(writer, 10, 300);
    assert_int_equal(nocap_follow_open(&follow, "grows.nocap", &options, &err), NOCAP_OK);
    for (unsigned turn = 1; turn <= 3; turn++) {
        nocap_writer_totals(writer, &totals);
        assert_int_equal(nocap_follow_poll(follow, totals.bytes, &err), NOCAP_OK);
        assert_int_equal(reported, turn - 1);
        assert_int_equal(nocap_follow_poll(follow, totals.bytes, &err), NOCAP_OK);
        assert_int_equal(reported, turn);
        add_stores(writer, 1000 * turn, 300);
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_follow_close(follow, &report, &err), NOCAP_OK);
    assert_int_equal(reported, 4);
    assert_int_equal(nocap_check(&whole, "grows.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(report->events, whole->events);
    assert_int_equal(report->finding_count, whole->finding_count);
    for (unsigned i = 0; i < NOCAP_RULE_COUNT; i++) {
        assert_int_equal(report->rules[i].verdict, whole->rules[i].verdict);
        assert_int_equal(report->rules[i].exercised, whole->rules[i].exercised);
    }
    nocap_report_free(report);
    nocap_report_free(whole);
    nocap_header_free(&head);
    assert_int_equal(nocap_follow_open(&follow, "nowhere.nocap", NULL, &err), NOCAP_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_checked),
        cmocka_unit_test(options_narrow_a_run),
        cmocka_unit_test(a_header_without_observes_is_told),
        cmocka_unit_test(firmware_that_is_not_there_is_noted),
        cmocka_unit_test(a_class_that_nobody_knows_is_told),
        cmocka_unit_test(go_words_of_another_layout_are_noted),
        cmocka_unit_test(a_malformed_line_is_told_once),
        cmocka_unit_test(an_agent_of_another_architecture_is_malformed),
        cmocka_unit_test(inputs_that_cannot_be_read_fail),
        cmocka_unit_test(a_damaged_file_is_judged_on_what_it_holds),
        cmocka_unit_test(a_growing_trace_is_followed),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
