/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are read by the shape of lines before them: the same event, and the same complaint, as
 * if each were the first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>

#include "formats/trace/jsonl_private.h"
#include "formats/trace/jsonl_shapes.h"
#include "formats/trace/trace.h"
#include "tests/golden_text.h"
#include "tests/jsonl_stream.h"

static struct jsonl_line line_of(const char *text, size_t size)
{
    return (struct jsonl_line){.text = text, .size = size};
}

/* Whether `line` is read by the shape of `before`. */
static bool is_read_by_shape(const char *before, const char *line, struct nocap_event *event)
{
    static struct jsonl_members members;
    static struct jsonl_shapes shapes;
    static uint8_t payload[4096];
    struct jsonl_parser *parser;
    struct nocap_event first;
    const struct jsonl_line text = line_of(before, strlen(before));
    assert_int_equal(jsonl_parser_new(&parser, NULL), NOCAP_OK);
    assert_int_equal(jsonl_parse_event(parser, &text, &first, NULL), NOCAP_OK);
    assert_int_not_equal(first.kind, NOCAP_EV_MALFORMED);
    jsonl_members_init(&members);
    assert_true(jsonl_take_apart(&members, before, text.size));
    shapes = (struct jsonl_shapes){0};
    jsonl_shapes_learn(&shapes, &members, before, text.size, &first);
    jsonl_parser_free(parser);
    return jsonl_shapes_read(&shapes, line, strlen(line), payload, event);
}

/* ---- which lines ---- */

#define WRITE                                                                                      \
    "{\"t\":5,\"ev\":\"write\",\"by\":\"brisc\",\"x\":1,\"y\":2,\"addr\":\"0x370\",\"size\":4,"    \
    "\"value\":\"0x80000000\"}"
#define WRITE_OF(t, by, x, addr, value)                                                            \
    "{\"t\":" t ",\"ev\":\"write\",\"by\":\"" by "\",\"x\":" x ",\"y\":2,\"addr\":\"" addr         \
    "\",\"size\":4,\"value\":\"" value "\"}"

static void values_of_a_known_shape_are_read(void **state)
{
    struct nocap_event e;
    (void)state;
    assert_true(is_read_by_shape(
        WRITE, WRITE_OF("1234567890123456789", "trisc1", "16", "0xFFEF1234", "0x0123456789abcdef"),
        &e));
    assert_int_equal(e.t, 1234567890123456789);
    assert_int_equal(e.by, NOCAP_BY_TRISC1);
    assert_int_equal(e.at.x, 16);
    assert_int_equal(e.addr, 0xffef1234);
    assert_int_equal(e.value, 0x0123456789abcdef);
    assert_true(
        is_read_by_shape(WRITE, WRITE_OF("0", "host", "0", "0x0", "0x0000000000000001"), &e));
    assert_int_equal(e.value, 1);
    assert_true(is_read_by_shape("{\"t\":5, "
                                 "\"ev\":\"tensix\",\"op\":\"issue\",\"x\":1,\"y\":2,\"thread\":0,"
                                 "\"sem\":[0,1,2,3,4,5,6,7]}",
                                 "{\"t\":6, "
                                 "\"ev\":\"tensix\",\"op\":\"issue\",\"x\":1,\"y\":2,\"thread\":2,"
                                 "\"sem\":[7,6,5,4,3,2,1,0]}",
                                 &e));
    assert_int_equal(e.sem, 0x0001020304050607);
    assert_int_equal(e.thread, 2);
    assert_true(is_read_by_shape("{\"src\":1,\"chip\":1,\"t\":5,\"ev\":\"write\",\"by\":\"host\","
                                 "\"from\":[1,2],\"data\":\"00\"}",
                                 "{\"src\":4294967295,\"chip\":65535,\"t\":5,\"ev\":\"write\","
                                 "\"by\":\"host\",\"from\":[3,4],"
                                 "\"data\":\"0aBc\"}",
                                 &e));
    assert_int_equal(e.src, UINT32_MAX);
    assert_int_equal(e.chip, UINT16_MAX);
    assert_int_equal(e.s.x, 3);
    assert_int_equal(e.s.y, 4);
    assert_int_equal(e.data_size, 2);
    assert_int_equal(e.data[0], 0x0a);
    assert_int_equal(e.data[1], 0xbc);
}

static void values_that_need_a_closer_look_are_not(void **state)
{
    static const char *const lines[] = {
        WRITE_OF("05", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("-5", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("5.0", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("5e1", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("12345678901234567890", "brisc", "1", "0x370", "0x0"),
        WRITE_OF("5", "brisk", "1", "0x370", "0x0"),
        WRITE_OF("5", "bri\\u0073c", "1", "0x370", "0x0"),
        WRITE_OF("5", "", "1", "0x370", "0x0"),
        WRITE_OF("5", "brisc", "256", "0x370", "0x0"),
        WRITE_OF("5", "brisc", "1", "370", "0x0"),
        WRITE_OF("5", "brisc", "1", "0x", "0x0"),
        WRITE_OF("5", "brisc", "1", "0x37g", "0x0"),
        WRITE_OF("5", "brisc", "1", "0x370", "0x00000000000000001"),
        WRITE_OF("5", "brisc", "1", "0x370", "0x0") " ",
        WRITE_OF("5", "brisc", "1", "0x370", "0x0") "}",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"brisc\",\"x\":1,\"y\":2,\"addr\":\"0x370",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"brisc",
        "{\"t\":5",
        "{",
    };
    struct nocap_event e;
    (void)state;
    assert_true(is_read_by_shape(WRITE, WRITE, &e));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (is_read_by_shape(WRITE, lines[i], &e)) {
            fail_msg("read by its shape: %s", lines[i]);
        }
    }
}

#define OF(src, chip)                                                                              \
    "{\"src\":" src ",\"chip\":" chip ",\"t\":5,\"ev\":\"kernel\",\"op\":\"enter\"}"

static void numbers_fit_their_fields(void **state)
{
    struct nocap_event e;
    (void)state;
    assert_true(is_read_by_shape(OF("1", "1"), OF("4294967295", "65535"), &e));
    assert_false(is_read_by_shape(OF("1", "1"), OF("4294967296", "65535"), &e));
    assert_false(is_read_by_shape(OF("1", "1"), OF("4294967295", "65536"), &e));
}

static void some_lines_have_no_shape(void **state)
{
    static const char *const lines[] = {
        "{\"t\":5,\"ev\":\"note\",\"text\":\"hello\"}",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"host\",\"hash\":\"fnv1a64:0123456789abcdef\"}",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"host\",\"new\":1}",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"ho\\u0073t\",\"x\":1,\"y\":2}",
        "{\"t\":5,\"ev\":\"write\",\"by\":\"host\",\"addr\":\"\\u0030x370\"}",
    };
    struct nocap_event e;
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (is_read_by_shape(lines[i], lines[i], &e)) {
            fail_msg("read by its shape: %s", lines[i]);
        }
    }
}

/* ---- nothing else differs ---- */

/* One parser that has read what came before, one that has not. */
static void compare(struct jsonl_parser *used, const char *text, size_t size)
{
    const struct jsonl_line line = line_of(text, size);
    struct jsonl_parser *fresh;
    struct nocap_event a, b;
    assert_int_equal(jsonl_parser_new(&fresh, NULL), NOCAP_OK);
    assert_int_equal(jsonl_parse_event(used, &line, &a, NULL), NOCAP_OK);
    assert_int_equal(jsonl_parse_event(fresh, &line, &b, NULL), NOCAP_OK);
    a.index = b.index = 0;
    if (a.kind >= NOCAP_EV_UNKNOWN) {
        b.t = a.t; /* without a time it has that of the event before */
    }
    if (!events_equal(&a, &b) || (a.kind == NOCAP_EV_MALFORMED &&
                                  strcmp(jsonl_parser_why(used), jsonl_parser_why(fresh)) != 0)) {
        fail_msg("not as if it were the first: %.*s", (int)size, text);
    }
    jsonl_parser_free(fresh);
}

static uint32_t drawn(uint32_t below)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * below >> 32);
}

/* Puts another character in, takes one out, or adds one; returns the new size. */
static size_t spoil(char *text, size_t size)
{
    static const char characters[] = "0123456789abcdefxg\",:[]{}-.eE \\utrnsl";
    size_t at = drawn((uint32_t)size);
    char c = characters[drawn(sizeof characters - 1)];
    switch (drawn(3)) {
    case 0: memmove(text + at, text + at + 1, size - at - 1); return size - 1;
    case 1:
        memmove(text + at + 1, text + at, size - at);
        text[at] = c;
        return size + 1;
    default: text[at] = c; return size;
    }
}

static void compare_lines(const char *text, size_t size)
{
    enum { SPOILT = 4, LINE_MAX = 4096 };
    struct jsonl_parser *used;
    char spoilt[LINE_MAX + SPOILT];
    assert_int_equal(jsonl_parser_new(&used, NULL), NOCAP_OK);
    for (const char *at = text, *end = text + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)(newline - at);
        compare(used, at, length);
        for (unsigned i = 0; i < SPOILT && length <= LINE_MAX; i++) {
            memcpy(spoilt, at, length);
            size_t left = length;
            for (unsigned n = drawn(2) + 1; n > 0 && left > 1; n--) {
                left = spoil(spoilt, left);
            }
            compare(used, spoilt, left);
        }
        at = newline + 1;
    }
    jsonl_parser_free(used);
}

static void every_line_is_read_as_if_it_were_the_first(void **state)
{
    enum { SHOWN_MAX = 400 << 10 }; /* bytes of each trace */
    glob_t names;
    (void)state;
    assert_int_equal(glob(GOLDEN_DIR "/*.nocap", 0, NULL, &names), 0);
    for (size_t i = 0; i < names.gl_pathc; i++) {
        size_t size;
        char *text = golden_text(names.gl_pathv[i], &size);
        assert_non_null(text);
        const char *from = (char *)memchr(text, '\n', size) + 1;
        const char *end =
            size > SHOWN_MAX ? (char *)memrchr(text, '\n', SHOWN_MAX) + 1 : text + size;
        compare_lines(from, (size_t)(end - from));
        free(text);
    }
    globfree(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_a_known_shape_are_read),
        cmocka_unit_test(values_that_need_a_closer_look_are_not),
        cmocka_unit_test(numbers_fit_their_fields),
        cmocka_unit_test(some_lines_have_no_shape),
        cmocka_unit_test(every_line_is_read_as_if_it_were_the_first),
    };
    return cmocka_run_group_tests_name("jsonl shapes", tests, NULL, NULL);
}
