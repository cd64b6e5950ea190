/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Lines as files: line ends, lines of any length, compression, and all golden traces. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <yajl/yajl_tree.h>
#include <zstd.h>

#include "tests/golden_text.h"
#include "tests/jsonl_stream.h"

#define NOTE(t, text) "{\"t\":" #t ",\"ev\":\"note\",\"text\":\"" text "\"}"
#define MIB           ((size_t)1 << 20)

/* The text must be a header and notes at 1, 2, ..., `count`. */
static void assert_notes(const void *text, size_t size, unsigned count)
{
    struct stream stream;
    struct nocap_event event;
    assert_int_equal(stream_open(&stream, text, size), NOCAP_OK);
    for (unsigned i = 1; i <= count; i++) {
        assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
        assert_int_equal(event.kind, NOCAP_EV_NOTE);
        assert_int_equal(event.t, i);
        assert_int_equal(event.index, i - 1);
    }
    assert_int_equal(stream_next(&stream, &event), NOCAP_END);
    assert_int_equal(nocap_jsonl_malformed(stream.reader, NULL, NULL), 0);
    stream_close(&stream);
}

static void line_ends_may_differ(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbf"
                               "{\"nocap\":1,\"arch\":\"blackhole\"}\r\n"
                               "\r\n\n \t " NOTE(1, "a") "\r\n" NOTE(2, "b") " \n\n" NOTE(3, "c");
    assert_notes(text, sizeof text - 1, 3);
    assert_notes(SMALL_HEADER, strlen(SMALL_HEADER) - 1, 0);
    assert_notes(SMALL_HEADER "\n\n  ", strlen(SMALL_HEADER) + 4, 0);
}

/* Text for a test of long lines. */
static char *allocate(size_t size, const char *start)
{
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '0', size);
    memcpy(text, start, strlen(start));
    return text;
}

static void eight_mebibytes_of_data_pass(void **state)
{
    (void)state;
    static const char start[] = SMALL_HEADER "{\"t\":4,\"ev\":\"mem\",\"addr\":\"0x0\",\"x\":1,"
                                             "\"y\":2,\"data\":\"";
    static const char end[] = "\"}\n" NOTE(5, "next");
    for (size_t bytes = 8 * MIB; bytes <= 8 * MIB + 1; bytes++) {
        size_t size = strlen(start) + 2 * bytes + strlen(end);
        char *text = allocate(size, start);
        memcpy(text + size - strlen(end), end, strlen(end));
        struct stream stream;
        struct nocap_event event;
        const char *why = NULL;
        assert_int_equal(stream_open(&stream, text, size), NOCAP_OK);
        assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
        assert_int_equal(event.t, 4);
        if (bytes == 8 * MIB) {
            assert_int_equal(event.kind, NOCAP_EV_MEM);
            assert_int_equal(event.data_size, bytes);
        } else {
            assert_int_equal(event.kind, NOCAP_EV_MALFORMED);
            assert_int_equal(event.data_size, 64 << 10);
            assert_int_equal(nocap_jsonl_malformed(stream.reader, NULL, &why), 1);
            assert_string_equal(why, "the event holds more than 8 MiB");
        }
        assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
        assert_int_equal(event.t, 5);
        stream_close(&stream);
        assert_true(prints_the_same(text, size));
        free(text);
    }
}

/* A line of `line_size` bytes that starts with `start` is MALFORMED and what comes after it is
 * read. */
static void assert_cut(const char *start, char filler, size_t line_size, size_t kept, uint64_t t)
{
    static const char end[] = "x\n" NOTE(9, "next") "\n";
    size_t header = strlen(SMALL_HEADER), size = header + line_size + strlen(end) - 1;
    char *text = allocate(size, SMALL_HEADER);
    memset(text + header, filler, line_size);
    memcpy(text + header, start, strlen(start));
    memcpy(text + size - strlen(end), end, strlen(end));
    struct stream stream;
    struct nocap_event event;
    const char *why = NULL;
    assert_int_equal(stream_open(&stream, text, size), NOCAP_OK);
    assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
    assert_int_equal(event.kind, NOCAP_EV_MALFORMED);
    assert_int_equal(event.t, t);
    assert_int_equal(event.data_size, kept);
    assert_memory_equal(event.data, text + header, kept);
    assert_int_equal(nocap_jsonl_malformed(stream.reader, NULL, &why), 1);
    if (line_size > 20 * MIB) {
        assert_string_equal(why, "the line is longer than 20 MiB");
    }
    assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
    assert_int_equal(event.t, 9);
    assert_int_equal(stream_next(&stream, &event), NOCAP_END);
    stream_close(&stream);
    assert_true(prints_the_same(text, size));
    free(text);
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    assert_cut("{\"t\":7,\"text\":\"", 'a', 20 * MIB, 64 << 10, 7);
    assert_cut("{\"t\":7,\"text\":\"", 'a', 20 * MIB + 1, 64 << 10, 7);
    assert_cut("{\"t\":7,\"text\":\"", 'a', 41 * MIB, 64 << 10, 7);
    assert_cut("zork", 'a', 20 * MIB + 300000, 64 << 10, 0);
    assert_cut("zork", '}', 9 * MIB, 64 << 10, 0);
    assert_cut("", '\0', 9 * MIB, 64 << 10, 0);
    /* What is kept of these would be an event if its last brace were kept. */
    static const char whole[] = NOTE(7, "b");
    assert_cut(whole, ' ', 21 * MIB, strlen(whole) - 1, 7);
    assert_cut(whole, ' ', 9 * MIB, strlen(whole) - 1, 7);
    assert_cut("{", '}', 9 * MIB, 1, 0);
}

static void white_space_takes_no_memory(void **state)
{
    (void)state;
    size_t size = 30 * MIB;
    char *text = allocate(size, SMALL_HEADER);
    memset(text + strlen(SMALL_HEADER), ' ', size - strlen(SMALL_HEADER));
    memcpy(text + size - strlen(NOTE(1, "a")), NOTE(1, "a"), strlen(NOTE(1, "a")));
    assert_notes(text, size, 1);
    free(text);
}

/* ---- compression ---- */

static const char plain[] = SMALL_HEADER NOTE(1, "a") "\n" NOTE(2, "b") "\n" NOTE(3, "c") "\n";

struct packed {
    uint8_t bytes[1024];
    size_t size;
};

static void add_frame(struct packed *packed, const char *text, size_t size)
{
    size_t room = sizeof packed->bytes - packed->size;
    size_t got = ZSTD_compress(packed->bytes + packed->size, room, text, size, 3);
    assert_false(ZSTD_isError(got));
    packed->size += got;
}

static void compressed_input_is_recognised(void **state)
{
    (void)state;
    struct packed one = {.size = 0}, many = {.size = 0};
    add_frame(&one, plain, sizeof plain - 1);
    assert_notes(one.bytes, one.size, 3);
    static const uint8_t skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    memcpy(many.bytes, skippable, sizeof skippable);
    many.size = sizeof skippable;
    for (size_t at = 0; at < sizeof plain - 1; at += 20) {
        size_t left = sizeof plain - 1 - at;
        add_frame(&many, plain + at, left < 20 ? left : 20);
        add_frame(&many, "", 0);
    }
    assert_notes(many.bytes, many.size, 3);
}

static void assert_fails(const void *bytes, size_t size, const char *message)
{
    struct stream stream;
    struct nocap_event event;
    enum nocap_status status = stream_open(&stream, bytes, size);
    while (status == NOCAP_OK) {
        status = stream_next(&stream, &event);
    }
    assert_int_equal(status, NOCAP_E_INPUT);
    if (strstr(stream.err.text, message) == NULL) {
        fail_msg("\"%s\", expected \"%s\"", stream.err.text, message);
    }
    stream_close(&stream);
}

/* Notes up to a cut, which may be before the header. */
static void assert_notes_cut(const void *bytes, size_t size)
{
    struct stream stream;
    struct nocap_event event;
    enum nocap_status status = stream_open(&stream, bytes, size);
    uint64_t lines = 1;
    if (status == NOCAP_OK) {
        while ((status = stream_next(&stream, &event)) == NOCAP_OK) {
            assert_int_equal(event.kind, NOCAP_EV_NOTE);
            lines++;
        }
        assert_int_equal(status, NOCAP_END);
        assert_int_equal(nocap_jsonl_cut(stream.reader), lines + 1);
        assert_int_equal(nocap_jsonl_malformed(stream.reader, NULL, NULL), 0);
    } else {
        assert_int_equal(status, NOCAP_E_INPUT);
        assert_non_null(strstr(stream.err.text, "cut short before its header"));
    }
    stream_close(&stream);
}

/* The notes of a text that is damaged behind its last line. */
static void assert_notes_damaged(const void *bytes, size_t size, uint64_t notes)
{
    struct stream stream;
    struct nocap_event event;
    uint64_t events = 0;
    assert_int_equal(stream_open(&stream, bytes, size), NOCAP_OK);
    while (stream_next(&stream, &event) == NOCAP_OK) {
        assert_int_equal(event.kind, NOCAP_EV_NOTE);
        events++;
    }
    assert_int_equal(events, notes);
    assert_int_equal(nocap_jsonl_cut(stream.reader), notes + 2);
    assert_non_null(nocap_jsonl_damage(stream.reader));
    assert_int_equal(stream_next(&stream, &event), NOCAP_END);
    stream_close(&stream);
}

/* Every prefix of the text: a line that is no whole object is left out, and its number told. */
static void a_text_that_breaks_off_is_read_up_to_there(void **state)
{
    (void)state;
    static const char text[] = SMALL_HEADER NOTE(1, "a") "\n" NOTE(2, "\\\"}{ [") "\n" NOTE(3, "c");
    size_t begin[4] = {0};
    for (size_t i = 0, line = 0; text[i] != 0; i++) {
        if (text[i] == '\n') {
            begin[++line] = i + 1;
        }
    }
    for (size_t size = strlen(SMALL_HEADER); size < sizeof text; size++) {
        struct stream stream;
        struct nocap_event event;
        uint64_t events = 0;
        unsigned line = 3;
        while (size <= begin[line]) {
            line--;
        }
        bool whole = size == sizeof text - 1 || text[size] == '\n' || text[size - 1] == '\n';
        assert_int_equal(stream_open(&stream, text, size), NOCAP_OK);
        while (stream_next(&stream, &event) == NOCAP_OK) {
            assert_int_equal(event.kind, NOCAP_EV_NOTE);
            events++;
        }
        assert_int_equal(events, whole ? line : line - 1);
        assert_int_equal(nocap_jsonl_cut(stream.reader), whole ? 0 : line + 1);
        assert_int_equal(stream_next(&stream, &event), NOCAP_END);
        stream_close(&stream);
    }
    static const char other[] = SMALL_HEADER "no object";
    struct stream stream;
    struct nocap_event event;
    assert_int_equal(stream_open(&stream, other, sizeof other - 1), NOCAP_OK);
    assert_int_equal(stream_next(&stream, &event), NOCAP_OK); /* a line of some other kind */
    assert_int_equal(event.kind, NOCAP_EV_MALFORMED);
    assert_int_equal(nocap_jsonl_cut(stream.reader), 0);
    stream_close(&stream);
}

static void damaged_compression_is_told(void **state)
{
    (void)state;
    struct packed packed = {.size = 0};
    add_frame(&packed, plain, sizeof plain - 1);
    for (size_t size = 4; size < packed.size; size++) {
        assert_notes_cut(packed.bytes, size);
    }
    memcpy(packed.bytes + packed.size, "garbage", 7);
    assert_notes_damaged(packed.bytes, packed.size + 7, 3);
    packed.size = 0;
    add_frame(&packed, SMALL_HEADER, strlen(SMALL_HEADER));
    memcpy(packed.bytes + packed.size, "garbage", 7);
    assert_fails(packed.bytes, packed.size + 7, "near line 1 is damaged: ");
    assert_fails(packed.bytes, 3, "not a JSON object");
    /* A frame header with its reserved bit set. */
    static const uint8_t reserved[] = {0x28, 0xb5, 0x2f, 0xfd, 0x08, 0, 0, 0, 0, 0};
    assert_fails(reserved, sizeof reserved, "is damaged");
}

/* ---- golden traces ---- */

/* A number, or a string that is one: "0x0010" and 16 are the same. */
static bool as_number(yajl_val value, unsigned long long *number)
{
    const char *text = YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : YAJL_GET_STRING(value);
    char *end;
    if (text == NULL || (YAJL_IS_STRING(value) && strncmp(text, "0x", 2) != 0)) {
        return false;
    }
    *number = strtoull(text, &end, 0);
    return *end == '\0';
}

/* A hash may have 0x before its digits. */
static const char *without_0x(const char *text)
{
    static const char prefix[] = "fnv1a64:0x";
    return strncmp(text, prefix, sizeof prefix - 1) == 0   ? text + sizeof prefix - 1
           : strncmp(text, prefix, sizeof prefix - 3) == 0 ? text + sizeof prefix - 3
                                                           : text;
}

static bool same_value(yajl_val a, yajl_val b)
{
    unsigned long long x, y;
    if (as_number(a, &x) && as_number(b, &y)) {
        return x == y;
    }
    if (a->type != b->type) {
        return false;
    }
    switch (a->type) {
    case yajl_t_string: return strcmp(without_0x(a->u.string), without_0x(b->u.string)) == 0;
    case yajl_t_array:
        for (size_t i = 0; a->u.array.len == b->u.array.len && i < a->u.array.len; i++) {
            if (!same_value(a->u.array.values[i], b->u.array.values[i])) {
                return false;
            }
        }
        return a->u.array.len == b->u.array.len;
    case yajl_t_object:
        for (size_t i = 0; a->u.object.len == b->u.object.len && i < a->u.object.len; i++) {
            const char *path[] = {a->u.object.keys[i], NULL};
            yajl_val other = yajl_tree_get(b, path, yajl_t_any);
            if (other == NULL || !same_value(a->u.object.values[i], other)) {
                return false;
            }
        }
        return a->u.object.len == b->u.object.len;
    default: return true;
    }
}

static void assert_same_json(char *a, char *b)
{
    char error[256];
    yajl_val left = yajl_tree_parse(a, error, sizeof error);
    yajl_val right = yajl_tree_parse(b, error, sizeof error);
    if (left == NULL || right == NULL || !same_value(left, right)) {
        fail_msg("not the same:\n%s\n%s", a, b);
    }
    yajl_tree_free(left);
    yajl_tree_free(right);
}

static void check_trace(const char *path)
{
    size_t size;
    char *text = golden_text(path, &size);
    assert_non_null(text);
    struct stream stream;
    struct nocap_text out = {0};
    assert_int_equal(stream_open(&stream, text, size), NOCAP_OK);
    assert_int_equal(stream_print(&stream, &out), NOCAP_END);
    uint64_t line = 0;
    const char *why = "";
    if (nocap_jsonl_malformed(stream.reader, &line, &why) > 0) {
        fail_msg("%s: line %llu: %s", path, (unsigned long long)line, why);
    }
    stream_close(&stream);
    assert_true(prints_the_same(text, size));
    char *a = text, *b = out.data, *a_end = text + size, *b_end = out.data + out.size;
    while (a < a_end && b < b_end) {
        char *a_next = memchr(a, '\n', (size_t)(a_end - a));
        char *b_next = memchr(b, '\n', (size_t)(b_end - b));
        assert_true(a_next != NULL && b_next != NULL);
        *a_next = *b_next = '\0';
        assert_same_json(a, b);
        a = a_next + 1;
        b = b_next + 1;
    }
    assert_true(a == a_end && b == b_end);
    free(out.data);
    free(text);
}

static void golden_traces_go_both_ways(void **state)
{
    (void)state;
    glob_t names;
    assert_int_equal(glob(GOLDEN_DIR "/*.nocap", 0, NULL, &names), 0);
    for (size_t i = 0; i < names.gl_pathc; i++) {
        check_trace(names.gl_pathv[i]);
    }
    globfree(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_ends_may_differ),
        cmocka_unit_test(eight_mebibytes_of_data_pass),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(white_space_takes_no_memory),
        cmocka_unit_test(compressed_input_is_recognised),
        cmocka_unit_test(a_text_that_breaks_off_is_read_up_to_there),
        cmocka_unit_test(damaged_compression_is_told),
        cmocka_unit_test(golden_traces_go_both_ways),
    };
    return cmocka_run_group_tests_name("jsonl files", tests, NULL, NULL);
}
