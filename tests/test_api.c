/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: what crosses it, and structs of programs that are older or newer. What it
 * stands on has tests of its own. */
#include "tests/temp_dir.h"

#include <nocap/capture.h>
#include <nocap/check.h>
#include <nocap/hang.h>
#include <nocap/import.h>
#include <nocap/trace.h>
#include <stdlib.h>
#include <string.h>

static const struct nocap_trace_header mmio = {
    .size = sizeof mmio, .board = NOCAP_BOARD_P100, .observes = NOCAP_CLASS_HOST_MMIO};

static struct nocap_event a_write(uint64_t t, uint64_t addr, uint64_t value)
{
    struct nocap_event event = nocap_event_of(NOCAP_EV_WRITE);
    event.t = t;
    event.by = NOCAP_BY_HOST;
    event.at = (struct nocap_xy){1, 2};
    event.addr = addr;
    event.size = 4;
    event.value = value;
    event.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    return event;
}

/* GO, and a store to what is private to the core: MAP-004. */
static void write_two(const char *path)
{
    struct nocap_error err;
    struct nocap_trace_writer *writer;
    const struct nocap_event go = a_write(0, 0x370, 0x80000000),
                             stray = a_write(100, 0xFFB00000, 0);
    assert_int_equal(nocap_trace_create(&writer, path, &mmio, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_add(writer, &go, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_flush(writer, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_add(writer, &stray, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_finish(writer, &err), NOCAP_OK);
}

/* ---- sizes ---- */

/* Options of a program that was built against a later version. */
struct later_options {
    struct nocap_trace_open_options known;
    uint64_t more;
};

static void structs_without_size_are_refused(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_trace *trace;
    struct nocap_check *check;
    const struct nocap_trace_open_options none = {0};
    struct nocap_check_sums sums = {0};
    write_two("two.nocap");
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", &none, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "struct nocap_trace_open_options does not say its size"));
    assert_int_equal(nocap_check_run(&check, "two.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_check_totals(check, &sums), NOCAP_E_USAGE);
    nocap_check_free(check);
    struct nocap_trace_writer *writer;
    const struct nocap_event bare = {.kind = NOCAP_EV_NOTE};
    assert_int_equal(nocap_trace_create(&writer, "none.nocap", &mmio, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_add(writer, &bare, &err), NOCAP_E_USAGE);
    nocap_trace_abandon(writer);
}

static void later_programs_are_served_where_they_ask_nothing_new(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_trace *trace;
    struct later_options later = {.known = {.size = sizeof later}};
    write_two("two.nocap");
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", &later.known, &err), NOCAP_OK);
    nocap_trace_close(trace);
    later.more = 1;
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", &later.known, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "does not know"));
}

static void earlier_programs_get_what_they_know(void **state)
{
    (void)state;
    struct nocap_error err = {{0}};
    struct nocap_check *check;
    struct nocap_check_sums sums;
    write_two("two.nocap");
    assert_int_equal(nocap_check_run(&check, "two.nocap", NULL, &err), NOCAP_OK);
    memset(&sums, 0x5a, sizeof sums);
    sums.size = offsetof(struct nocap_check_sums, unjudged);
    assert_int_equal(nocap_check_totals(check, &sums), NOCAP_OK);
    assert_int_equal(sums.outcome, NOCAP_CHECK_FINDINGS);
    assert_int_equal(sums.waived, 0x5a5a5a5a5a5a5a5a);
    nocap_check_free(check);
}

static void structs_without_size_never_change(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct nocap_error), 1024);
    assert_int_equal(sizeof(struct nocap_xy), 2);
    assert_int_equal(sizeof(struct nocap_place), 12);
}

/* ---- names ---- */

static void names_go_both_ways(void **state)
{
    (void)state;
    static const unsigned counts[] = {
        [NOCAP_ENUM_STATUS] = 7,
        [NOCAP_ENUM_KIND] = NOCAP_EV_COUNT,
        [NOCAP_ENUM_OP] = NOCAP_OP_COUNT - 1,
        [NOCAP_ENUM_AGENT] = NOCAP_BY_COUNT - 1 + 224,
        [NOCAP_ENUM_SPACE] = NOCAP_SPACE_COUNT,
        [NOCAP_ENUM_ORDER] = NOCAP_ORDER_COUNT,
        [NOCAP_ENUM_MAP] = NOCAP_MAP_COUNT,
        [NOCAP_ENUM_PHASE] = NOCAP_PHASE_COUNT,
        [NOCAP_ENUM_UNIT] = NOCAP_UNIT_COUNT,
        [NOCAP_ENUM_BANK] = NOCAP_BANK_COUNT,
        [NOCAP_ENUM_SIDE] = NOCAP_SIDE_COUNT,
        [NOCAP_ENUM_OWNER] = NOCAP_OWNER_COUNT,
        [NOCAP_ENUM_WHY] = NOCAP_WHY_COUNT,
        [NOCAP_ENUM_FIELD] = NOCAP_FIELD_COUNT,
        [NOCAP_ENUM_CLASS] = NOCAP_CLASS_COUNT,
        [NOCAP_ENUM_ARCH] = NOCAP_ARCH_COUNT,
        [NOCAP_ENUM_BOARD] = NOCAP_BOARD_COUNT - 1,
        [NOCAP_ENUM_TIME_UNIT] = NOCAP_TIME_UNIT_COUNT,
        [NOCAP_ENUM_SEVERITY] = 3,
        [NOCAP_ENUM_VERDICT] = 5,
        [NOCAP_ENUM_OUTCOME] = 3,
        [NOCAP_ENUM_HANG_OUTCOME] = 4,
    };
    for (unsigned of = 0; of < sizeof counts / sizeof counts[0]; of++) {
        unsigned named = 0;
        for (unsigned v = 0; v < 1000; v++) {
            const char *name = nocap_enum_name((enum nocap_enum)of, v);
            named += name != NULL;
            if (name != NULL && of != NOCAP_ENUM_FIELD) { /* two fields are "ret" */
                assert_int_equal(nocap_enum_value((enum nocap_enum)of, name), v);
            }
        }
        assert_int_equal(named, counts[of]);
        assert_int_equal(nocap_enum_value((enum nocap_enum)of, "no such name"), -1);
        assert_int_equal(nocap_enum_value((enum nocap_enum)of, ""), -1);
    }
    assert_null(nocap_enum_name((enum nocap_enum)1000, 0));
}

/* ---- traces ---- */

static void fields_are_set_with_their_bits(void **state)
{
    (void)state;
    struct nocap_event event = nocap_event_of(NOCAP_EV_WRITE);
    char line[16];
    nocap_event_set(&event, NOCAP_FIELD_AT, 1 | 2 << 8);
    nocap_event_set(&event, NOCAP_FIELD_DATA, 7);
    nocap_event_set(&event, NOCAP_FIELD_COUNT, 7);
    assert_int_equal(event.has, NOCAP_F_AT);
    assert_int_equal(event.at.x, 1);
    assert_int_equal(event.at.y, 2);
    assert_int_equal(nocap_event_number(&event, NOCAP_FIELD_AT), 1 | 2 << 8);
    int length = nocap_event_json(&event, line, sizeof line);
    assert_true(length > (int)sizeof line);
    assert_int_equal(strlen(line), sizeof line - 1);
    assert_int_equal(nocap_event_json(&event, NULL, 0), length);
}

static void a_trace_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_trace *trace;
    const struct nocap_event *event;
    struct nocap_trace_sums sums = {.size = sizeof sums};
    write_two("two.nocap");
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", NULL, &err), NOCAP_OK);
    const struct nocap_trace_header *header = nocap_trace_header(trace);
    assert_int_equal(header->size, sizeof *header);
    assert_int_equal(header->board, NOCAP_BOARD_P100);
    assert_int_equal(header->observes, NOCAP_CLASS_HOST_MMIO);
    assert_non_null(strstr(header->json, "\"board\":\"p100\""));
    assert_int_equal(nocap_trace_totals(trace, &sums), NOCAP_OK);
    assert_true(sums.known);
    assert_int_equal(sums.events, 2);
    assert_int_equal(sums.t_last, 100);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_int_equal(event->struct_size, sizeof *event);
    assert_int_equal(event->addr, 0x370);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_int_equal(event->index, 1);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_END);
    assert_int_equal(nocap_trace_seek_time(trace, 50, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_int_equal(event->index, 1);
    assert_int_equal(nocap_trace_seek_index(trace, 0, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_int_equal(event->index, 0);
    char text[200];
    assert_true(nocap_trace_text(trace, event, text, sizeof text) > 0);
    assert_non_null(strstr(text, "host"));
    nocap_trace_close(trace);
}

static void a_filter_hides_what_does_not_match(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_trace *trace;
    const struct nocap_event *event;
    struct nocap_trace_open_options options = {.size = sizeof options, .filter = "t > 10"};
    write_two("two.nocap");
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", &options, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_OK);
    assert_int_equal(event->index, 1);
    assert_int_equal(nocap_trace_next(trace, &event, &err), NOCAP_END);
    nocap_trace_close(trace);
    options.filter = "t >";
    assert_int_equal(nocap_trace_open(&trace, "two.nocap", &options, &err), NOCAP_E_USAGE);
}

static void damage_is_told(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_trace *trace;
    const struct nocap_event *event;
    struct nocap_trace_damage damage = {.size = sizeof damage};
    size_t size;
    write_two("two.nocap");
    char *bytes = read_bytes("two.nocap", &size);
    assert_int_equal(nocap_trace_open_memory(&trace, bytes, size - 4, NULL, &err), NOCAP_OK);
    while (nocap_trace_next(trace, &event, &err) == NOCAP_OK) {
    }
    assert_int_equal(nocap_trace_damage_at(trace, 0, &damage), NOCAP_OK);
    assert_string_equal(damage.rule, "TRC-001");
    assert_int_equal(damage.index, 2);
    assert_int_equal(nocap_trace_damage_at(trace, 1, &damage), NOCAP_END);
    nocap_trace_close(trace);
    assert_int_equal(nocap_trace_open_memory(&trace, "no trace", 8, NULL, &err), NOCAP_E_INPUT);
    free(bytes);
}

static void headers_are_members_or_json(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_trace *trace;
    struct nocap_trace_writer *writer;
    struct nocap_trace_header header = {
        .size = sizeof header,
        .json = "{\"nocap\":1,\"arch\":\"blackhole\",\"scope\":[[1,2]],\"mine\":5}"};
    assert_int_equal(nocap_trace_create(&writer, "h.nocap", &header, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_finish(writer, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_open(&trace, "h.nocap", NULL, &err), NOCAP_OK);
    assert_non_null(strstr(nocap_trace_header(trace)->json, "\"scope\":[[1,2]]"));
    assert_non_null(strstr(nocap_trace_header(trace)->json, "\"mine\":5"));
    nocap_trace_close(trace);
    header.observes = NOCAP_CLASS_KERNEL; /* not in the JSON */
    assert_int_equal(nocap_trace_create(&writer, "h.nocap", &header, NULL, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "observes"));
    header.json = "{\"nocap\":2}";
    assert_int_equal(nocap_trace_create(&writer, "h.nocap", &header, NULL, &err), NOCAP_E_INPUT);
    header.json = NULL;
    header.observes = UINT32_MAX;
    assert_int_equal(nocap_trace_create(&writer, "h.nocap", &header, NULL, &err), NOCAP_E_USAGE);
    assert_int_equal(nocap_trace_create(&writer, "h.nocap", NULL, NULL, &err), NOCAP_E_USAGE);
}

/* ---- import, check, hang, capture ---- */

static void an_import_leaves_nothing_where_it_fails(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_import_form form = {.size = sizeof form};
    const char *input = "in.txt";
    FILE *file = fopen(input, "w");
    assert_non_null(file);
    fputs("no header\n", file);
    fclose(file);
    assert_int_equal(nocap_import_form_at(0, &form), NOCAP_OK);
    assert_string_equal(form.name, "jsonl");
    assert_int_equal(nocap_import_form_at(1000, &form), NOCAP_END);
    assert_int_equal(nocap_import_run("jsonl", &input, 1, "out.nocap", NULL, NULL, &err),
                     NOCAP_E_INPUT);
    assert_null(fopen("out.nocap", "r"));
    assert_int_equal(nocap_import_run("none", &input, 1, "out.nocap", NULL, NULL, &err),
                     NOCAP_E_USAGE);
}

static void count_found(void *context, const struct nocap_check_finding *finding)
{
    assert_string_equal(finding->rule, "MAP-004");
    ++*(unsigned *)context;
}

static void a_check_finds_the_fault(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_check *check;
    unsigned found = 0;
    struct nocap_check_finding f = {.size = sizeof f};
    struct nocap_check_rule rule = {.size = sizeof rule};
    struct nocap_check_rule_result result = {.size = sizeof result};
    const struct nocap_check_run_options options = {
        .size = sizeof options, .rules = "MAP", .found = count_found, .context = &found};
    write_two("two.nocap");
    assert_int_equal(nocap_check_run(&check, "two.nocap", &options, &err), NOCAP_OK);
    assert_int_equal(found, 1);
    assert_int_equal(nocap_check_finding_at(check, 0, &f), NOCAP_OK);
    assert_string_equal(f.rule, "MAP-004");
    assert_int_equal(f.severity, NOCAP_CHECK_ERROR);
    assert_int_equal(f.index, 1);
    assert_true(f.has_tile && f.at.x == 1 && f.at.y == 2);
    assert_int_equal(nocap_check_finding_at(check, 1, &f), NOCAP_END);
    assert_int_equal(nocap_check_consequence_at(check, 0, &f), NOCAP_END);
    assert_true(nocap_check_fails(check, NOCAP_CHECK_ERROR));
    int place = nocap_check_rule_find("map-004");
    assert_true(place >= 0);
    assert_int_equal(nocap_check_rule_at((size_t)place, &rule), NOCAP_OK);
    assert_string_equal(rule.id, "MAP-004");
    assert_string_equal(rule.family, "MAP");
    assert_int_equal(nocap_check_result_of(check, (size_t)place, &result), NOCAP_OK);
    assert_int_equal(result.verdict, NOCAP_CHECK_VIOLATED);
    assert_int_equal(result.violations, 1);
    assert_int_equal(nocap_check_rule_find("MAP-999"), -1);
    assert_int_equal(nocap_check_rule_at(100000, &rule), NOCAP_END);
    nocap_check_free(check);
}

static void a_check_is_printed_in_each_format(void **state)
{
    (void)state;
    static const char *const has[] = {"MAP-004",    "\"MAP-004\"", "\"2.1.0\"",
                                      "<testsuite", "::error",     "MAP-004"};
    struct nocap_error err;
    struct nocap_check *check;
    write_two("two.nocap");
    assert_int_equal(nocap_check_run(&check, "two.nocap", NULL, &err), NOCAP_OK);
    const struct nocap_check *const two[] = {check, check};
    for (unsigned i = 0; i < sizeof has / sizeof has[0]; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(
            nocap_check_print(out, two, 2, (enum nocap_check_format)i, NOCAP_CHECK_ERROR, &err),
            NOCAP_OK);
        fclose(out);
        assert_non_null(strstr(text, has[i]));
        free(text);
    }
    assert_int_equal(
        nocap_check_print(stdout, two, 2, (enum nocap_check_format)99, NOCAP_CHECK_ERROR, &err),
        NOCAP_E_USAGE);
    nocap_check_free(check);
}

/* The host polls for a DONE that does not come. */
static void a_hang_has_its_chain(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_hang *hang;
    struct nocap_hang_sums sums = {.size = sizeof sums};
    struct nocap_hang_wait_info wait = {.size = sizeof wait};
    struct nocap_trace_writer *writer;
    const struct nocap_event go = a_write(0, 0x370, 0x80000000);
    struct nocap_event poll = a_write(1000, 0x370, 0x80000000);
    poll.kind = NOCAP_EV_READ;
    assert_int_equal(nocap_trace_create(&writer, "hang.nocap", &mmio, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_add(writer, &go, &err), NOCAP_OK);
    for (unsigned i = 0; i < 200; i++) {
        poll.t += 1000;
        assert_int_equal(nocap_trace_add(writer, &poll, &err), NOCAP_OK);
    }
    assert_int_equal(nocap_trace_finish(writer, &err), NOCAP_OK);
    assert_int_equal(nocap_hang_run(&hang, "hang.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_hang_totals(hang, &sums), NOCAP_OK);
    assert_true(sums.outcome != NOCAP_HANG_OUTCOME_IDLE);
    assert_true(sums.chain > 0);
    assert_int_equal(nocap_hang_chain_at(hang, 0, &wait), NOCAP_OK);
    assert_string_equal(wait.who, "host 1,2");
    assert_int_equal(nocap_hang_chain_at(hang, sums.chain, &wait), NOCAP_END);
    assert_int_equal(nocap_hang_wait_at(hang, sums.waits, &wait), NOCAP_END);
    assert_null(nocap_hang_event_at(hang, sums.events));
    for (unsigned i = NOCAP_HANG_TEXT; i <= NOCAP_HANG_DOT; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(nocap_hang_print(out, hang, (enum nocap_hang_format)i, &err), NOCAP_OK);
        fclose(out);
        assert_non_null(strstr(text, "host"));
        free(text);
    }
    nocap_hang_free(hang);
}

static void a_capture_counts_what_it_took(void **state)
{
    (void)state;
    struct nocap_error err;
    struct nocap_capture *capture;
    struct nocap_capture_sums sums = {.size = sizeof sums};
    struct nocap_event event = a_write(0, 0x100, 1);
    const struct nocap_capture_open_options odd = {.size = sizeof odd, .ring_bytes = 100000};
    assert_int_equal(nocap_capture_open(&capture, "c.nocap", &mmio, &odd, &err), NOCAP_E_USAGE);
    assert_int_equal(nocap_capture_open(&capture, "c.nocap", &mmio, NULL, &err), NOCAP_OK);
    assert_true(nocap_capture_event(capture, &event));
    event.struct_size = 0;
    assert_false(nocap_capture_event(capture, &event));
    event.struct_size = offsetof(struct nocap_event, ret);
    assert_true(nocap_capture_event(capture, &event));
    assert_true(nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x100, 4, 2));
    assert_int_equal(nocap_capture_close(capture, &sums, &err), NOCAP_OK);
    assert_int_equal(sums.events, 3);
    assert_int_equal(sums.dropped, 0);
    struct nocap_trace *trace;
    assert_int_equal(nocap_trace_open(&trace, "c.nocap", NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_trace_header(trace)->time_unit, NOCAP_TIME_NS);
    nocap_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_without_size_are_refused),
        cmocka_unit_test(later_programs_are_served_where_they_ask_nothing_new),
        cmocka_unit_test(earlier_programs_get_what_they_know),
        cmocka_unit_test(structs_without_size_never_change),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(fields_are_set_with_their_bits),
        cmocka_unit_test(a_trace_is_read_as_it_was_written),
        cmocka_unit_test(a_filter_hides_what_does_not_match),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(headers_are_members_or_json),
        cmocka_unit_test(an_import_leaves_nothing_where_it_fails),
        cmocka_unit_test(a_check_finds_the_fault),
        cmocka_unit_test(a_check_is_printed_in_each_format),
        cmocka_unit_test(a_hang_has_its_chain),
        cmocka_unit_test(a_capture_counts_what_it_took),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
