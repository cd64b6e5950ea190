/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others on its way to a terminal: what is escaped, and that the rest stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/foreign_text.h"

static void assert_escaped(const char *text, const char *expected)
{
    char *copy = foreign_copy(text);
    assert_non_null(copy);
    assert_string_equal(copy, expected);
    free(copy);
}

static void what_is_read_stays(void **state)
{
    static const char *const plain[] = {
        "",
        "a \\x1b b~",
        "\xc2\xa0\xc3\xa4",
        "\xd8\x9b\xd8\x9d",
        "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa7",
        "\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
        "\xed\x9f\xbf\xee\x80\x80",
        "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
    };
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        assert_escaped(plain[i], plain[i]);
        assert_true(foreign_is_plain(plain[i], strlen(plain[i])));
    }
}

static void what_steers_is_escaped(void **state)
{
    (void)state;
    assert_escaped("a\nb\tc\r\033[1m\x7f", "a\\x0ab\\x09c\\x0d\\x1b[1m\\x7f");
    assert_escaped("\xc2\x80\xc2\x9f", "\\xc2\\x80\\xc2\\x9f");
    assert_escaped("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c");
    assert_escaped("\xe2\x80\xa8\xe2\x80\xae", "\\xe2\\x80\\xa8\\xe2\\x80\\xae");
    assert_escaped("\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9");
}

static void what_is_no_utf8_is_escaped(void **state)
{
    (void)state;
    assert_escaped("\x9b\xff", "\\x9b\\xff");
    assert_escaped("\xc3", "\\xc3");
    assert_escaped("\xe2\x80", "\\xe2\\x80");
    assert_escaped("\xc0\xaf\xe0\x80\xaf", "\\xc0\\xaf\\xe0\\x80\\xaf"); /* longer than needed */
    assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80");                   /* half of a pair */
    assert_escaped("\xf4\x90\x80\x80\xc3\xa4", "\\xf4\\x90\\x80\\x80\xc3\xa4"); /* past the last */
}

static void lines_stay_lines(void **state)
{
    static const char json[] = "{\"\xc2\x9b\":\"\xff\",\r\n\"\x7f\":\"\xc3\xa4\xe2\x80\xae\"}";
    char *text = NULL;
    size_t size;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    foreign_line(out, "%s: %d", "a\n::b", 7);
    foreign_put(out, "\r");
    foreign_json(out, json, sizeof json - 1);
    fclose(out);
    assert_string_equal(text,
                        "a\\x0a::b: 7\n\\x0d{\"\\u009b\":\"\\udcff\", \n\"\\u007f\":\"\xc3\xa4"
                        "\\u202e\"}");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_stays),
        cmocka_unit_test(what_steers_is_escaped),
        cmocka_unit_test(what_is_no_utf8_is_escaped),
        cmocka_unit_test(lines_stay_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
