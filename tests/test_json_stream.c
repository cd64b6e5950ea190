/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that comes in pieces, and JSON as a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_node.h"
#include "base/json_stream.h"

enum { SEEN = 512 };

struct seen {
    struct json_stream stream;
    char text[SEEN]; /* the tokens, one after the other */
    unsigned stop;   /* before this one; 0: never */
    unsigned tokens;
};

static void append(struct seen *s, const char *text, size_t size)
{
    size_t used = strlen(s->text);
    assert_true(used + size < SEEN);
    memcpy(s->text + used, text, size);
}

static bool take(void *context, enum json_token token, const struct json_value *value)
{
    static const char *const brackets[2][2] = {{"[", "]"}, {"{", "}"}};
    struct seen *s = context;
    size_t size;
    if (++s->tokens == s->stop) {
        return false;
    }
    if (token == JSON_OPENS || token == JSON_CLOSES) {
        append(s, brackets[value->type == JSON_OBJECT][token == JSON_CLOSES], 1);
        return true;
    }
    const char *text = json_stream_plain(&s->stream, value, &size);
    assert_non_null(text);
    append(s, value->type == JSON_STRING ? "'" : "", value->type == JSON_STRING);
    append(s, text, size);
    append(s, token == JSON_KEY ? ":" : " ", 1);
    return true;
}

/* In pieces of `piece` bytes, the first one `first`. */
static bool read_in_pieces(struct seen *s, const char *text, size_t first, size_t piece)
{
    size_t size = strlen(text), at = 0;
    bool fine = true;
    *s = (struct seen){.stop = s->stop};
    s->stream = json_stream_of(take, s);
    while (fine && at < size) {
        size_t left = size - at, next = at == 0 ? first : piece;
        next = next < left ? next : left;
        fine = json_stream_feed(&s->stream, text + at, next);
        at += next;
    }
    fine = fine && json_stream_end(&s->stream);
    json_stream_free(&s->stream);
    return fine;
}

static void pieces_are_read_like_the_whole(void **state)
{
    static const struct {
        const char *text, *tokens;
        unsigned line; /* at the end */
    } rows[] = {
        {"{\"a\" : [1, -2.5e+3,\n true,false , null],\"b\":{}}",
         "{'a:[1 -2.5e+3 true false null ]'b:{}}", 2},
        {" [ ] \n\n", "[]", 3},
        {"17", "17 ", 1},
        {"\"a\\u0041\\n\\\"\\ud83d\\ude00\"", "'aA\n\"\xf0\x9f\x98\x80 ", 1},
        {"[[[\"\"]],{\"\\u006b\":[{\"l\":0}]}]", "[[[' ]]{'k:[{'l:0 }]}]", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t first = 1; first <= strlen(rows[i].text); first++) {
            for (size_t piece = 1; piece <= 8; piece++) {
                struct seen s = {.stop = 0};
                assert_true(read_in_pieces(&s, rows[i].text, first, piece));
                assert_string_equal(s.text, rows[i].tokens);
                assert_int_equal(s.stream.line, rows[i].line);
            }
        }
    }
}

static void what_is_no_json_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
        unsigned line;
    } rows[] = {
        {"", "the text ends early", 1},
        {"[1,", "the text ends early", 1},
        {"{\"a\"", "the text ends early", 1},
        {"[\"a", "the text ends early", 1},
        {"tru", "a value is no JSON", 1},
        {"[1,\n]", "a value is no JSON", 2},
        {"{\"a\":1,}", "a key is no string", 1},
        {"{1:1}", "a key is no string", 1},
        {"{\"a\" 1}", "no colon after a key", 1},
        {"[1 2]", "no comma between two values", 1},
        {"[1}", "no comma between two values", 1},
        {"[01]", "no comma between two values", 1},
        {"[1.]", "a number without digits", 1},
        {"-", "a number without digits", 1},
        {"nul ", "a value is no JSON", 1},
        {"[\"\\x\"]", "unknown escape in a string", 1},
        {"[\"\\u00g0\"]", "\\u without four hex digits", 1},
        {"[\"\t\"]", "a control character in a string", 1},
        {"[]\n[]", "something follows the value", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t piece = 1; piece <= 9; piece++) {
            struct seen s = {.stop = 0};
            assert_false(read_in_pieces(&s, rows[i].text, piece, piece));
            assert_string_equal(s.stream.why, rows[i].why);
            assert_int_equal(s.stream.line, rows[i].line);
        }
    }
}

static void a_taker_ends_the_stream(void **state)
{
    (void)state;
    struct seen s = {.stop = 3};
    assert_false(read_in_pieces(&s, "[1,2,3]", 1, 1));
    assert_string_equal(s.text, "[1 ");
    assert_int_equal(s.tokens, 3);
    assert_null(s.stream.why);
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        char text[2 * JSON_DEPTH_MAX + 3] = "";
        struct nocap_error err = {""};
        struct json_node *tree;
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        bool fits = depth == JSON_DEPTH_MAX;
        assert_int_equal(json_tree(&tree, text, "it", &err), fits ? NOCAP_OK : NOCAP_E_INPUT);
        assert_string_equal(err.text,
                            fits ? "" : "it is no JSON: lists and objects are nested too deep");
        json_tree_free(tree);
    }
    struct seen s = {.stop = 0};
    s.stream = json_stream_of(take, &s);
    static char some[1000];
    memset(some, 'x', sizeof some);
    assert_true(json_stream_feed(&s.stream, "[\"", 2));
    size_t fed = 1;
    while (json_stream_feed(&s.stream, some, sizeof some)) {
        fed += sizeof some;
        assert_true(fed <= JSON_TOKEN_MAX);
    }
    assert_string_equal(s.stream.why, "a value is longer than 1 MiB");
    assert_true(fed + sizeof some > JSON_TOKEN_MAX);
    json_stream_free(&s.stream);
}

static void a_tree_has_what_the_text_says(void **state)
{
    (void)state;
    struct nocap_error err;
    uint64_t number = 0;
    struct json_node *tree;
    assert_int_equal(json_tree(&tree,
                               "{\"n\":18446744073709551615,\"f\":1.5,\"m\":-1,"
                               "\"s\":\"a\\tb\",\"l\":[true,null,{\"x\":\"y\"}],\"n\":2}",
                               "it", &err),
                     NOCAP_OK);
    assert_true(json_is(tree, JSON_OBJECT));
    assert_int_equal(tree->count, 6);
    assert_true(json_member_whole(tree, "n", &number));
    assert_true(number == UINT64_MAX);
    assert_false(json_member_whole(tree, "f", &number) || json_member_whole(tree, "m", &number) ||
                 json_member_whole(tree, "s", &number) || json_member_whole(tree, "z", &number));
    assert_string_equal(json_member_string(tree, "s"), "a\tb");
    const struct json_node *list = json_member(tree, "l");
    assert_int_equal(json_length(list), 3);
    assert_true(json_is(&list->items[0], JSON_TRUE) && json_is(&list->items[1], JSON_NULL));
    assert_string_equal(json_member_string(&list->items[2], "x"), "y");
    assert_null(json_member(list, "x"));
    assert_null(json_member_string(tree, "n"));
    assert_int_equal(json_length(tree), 0);
    json_tree_free(tree);
    assert_int_equal(json_tree(&tree, "{\"a\":[1,{\"b\":\"c\"},", "it", &err), NOCAP_E_INPUT);
    assert_null(tree);
    assert_string_equal(err.text, "it is no JSON: the text ends early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_read_like_the_whole),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(a_taker_ends_the_stream),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(a_tree_has_what_the_text_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
