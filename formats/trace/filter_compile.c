/* SPDX-License-Identifier: Apache-2.0 */
/* Filter expressions: a recursive descent that writes the tests of the decision graph in the order
 * of the text. The exits of a part that is not yet joined to anything hang in two lists, threaded
 * through the exits themselves. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/filter.h"
#include "formats/trace/filter_compiler.h"

enum { NO_EXIT = 0xFFFF, IF_FALSE = 0, IF_TRUE = 1 };

/* An expression part: where it begins and which exits (2 * test + side) are still open. */
struct part {
    uint16_t entry;
    uint16_t open[2]; /* first open exit if false, if true; NO_EXIT: none */
};

static enum nocap_status advance(struct filter_compiler *c)
{
    return filter_next(&c->lexer, c->err);
}

/* ---- parts ---- */

static void patch(struct filter_compiler *c, uint16_t open, uint16_t target)
{
    while (open != NO_EXIT) {
        uint16_t *exit = &c->filter->tests[open / 2].next[open % 2];
        open = *exit;
        *exit = target;
    }
}

static uint16_t join(struct filter_compiler *c, uint16_t first, uint16_t second)
{
    if (first == NO_EXIT) {
        return second;
    }
    uint16_t last = first;
    while (c->filter->tests[last / 2].next[last % 2] != NO_EXIT) {
        last = c->filter->tests[last / 2].next[last % 2];
    }
    c->filter->tests[last / 2].next[last % 2] = second;
    return first;
}

/* `left` and then, where it came out as `side`, `right`. */
static struct part chain(struct filter_compiler *c, struct part left, struct part right,
                         unsigned side)
{
    struct part both = {.entry = left.entry};
    patch(c, left.open[side], right.entry);
    both.open[side] = right.open[side];
    both.open[!side] = join(c, left.open[!side], right.open[!side]);
    return both;
}

static enum nocap_status add_test(struct filter_compiler *c, const struct filter_test *test,
                                  struct part *part)
{
    struct nocap_filter *filter = c->filter;
    if (filter->count == FILTER_TESTS_MAX) {
        return filter_error(&c->lexer, c->lexer.token.text, c->err, "a filter has at most %d tests",
                            FILTER_TESTS_MAX);
    }
    uint16_t n = (uint16_t)filter->count++;
    filter->tests[n] = *test;
    filter->tests[n].next[0] = filter->tests[n].next[1] = NO_EXIT;
    *part = (struct part){n, {(uint16_t)(2 * n), (uint16_t)(2 * n + 1)}};
    return NOCAP_OK;
}

/* ---- tests ---- */

/* x and then y; for != one of them must lie outside. */
static enum nocap_status add_pair(struct filter_compiler *c, const struct filter_meaning *m,
                                  const uint64_t low[2], const uint64_t high[2], bool negate,
                                  struct part *part)
{
    struct part halves[2];
    for (unsigned i = 0; i < 2; i++) {
        struct filter_test test = m->test;
        test.width = sizeof(uint8_t);
        test.offset = (uint16_t)(test.offset + (i == 0 ? offsetof(struct nocap_xy, x)
                                                       : offsetof(struct nocap_xy, y)));
        test.low = low[i];
        test.high = high[i];
        test.negate = negate;
        RETURN_IF_FAILED(add_test(c, &test, &halves[i]));
    }
    *part = chain(c, halves[0], halves[1], negate ? IF_FALSE : IF_TRUE);
    return NOCAP_OK;
}

/* Bounds that no number meets. */
static void never(struct filter_test *test)
{
    test->low = 1;
    test->high = 0;
}

static void set_bounds(struct filter_test *test, enum filter_token_kind sign, uint64_t v)
{
    test->low = 0;
    test->high = UINT64_MAX;
    switch (sign) {
    case TOKEN_LE: test->high = v; break;
    case TOKEN_GE: test->low = v; break;
    case TOKEN_LT:
        test->high = v - 1;
        if (v == 0) {
            never(test);
        }
        break;
    case TOKEN_GT:
        test->low = v + 1;
        if (v == UINT64_MAX) {
            never(test);
        }
        break;
    default: test->low = test->high = v; break;
    }
    test->negate = sign == TOKEN_NE;
}

/* The token is the comparison sign. */
static enum nocap_status parse_comparison(struct filter_compiler *c, struct filter_name *name,
                                          struct part *part)
{
    struct filter_token sign = c->lexer.token;
    RETURN_IF_FAILED(advance(c));
    const struct filter_meaning *m;
    RETURN_IF_FAILED(filter_choose(c, name, &m));
    if (m->type != VALUE_NUMBER && sign.kind != TOKEN_EQ && sign.kind != TOKEN_NE) {
        return filter_error(&c->lexer, sign.text, c->err,
                            "%.*s has no order: it takes ==, != and in", (int)name->token.length,
                            name->token.text);
    }
    if (m->type == VALUE_PAIR) {
        uint64_t xy[2];
        RETURN_IF_FAILED(filter_parse_pair(c, xy));
        return add_pair(c, m, xy, xy, sign.kind == TOKEN_NE, part);
    }
    struct filter_test test = m->test;
    if (test.is_bytes) {
        RETURN_IF_FAILED(filter_parse_bytes(c, m, &test));
        test.negate = sign.kind == TOKEN_NE;
    } else {
        uint64_t v;
        RETURN_IF_FAILED(filter_parse_scalar(c, m, &v));
        set_bounds(&test, sign.kind, v);
    }
    return add_test(c, &test, part);
}

/* One value or range after `in`. */
static enum nocap_status parse_item(struct filter_compiler *c, struct filter_name *name,
                                    struct part *part)
{
    const struct filter_meaning *m;
    RETURN_IF_FAILED(filter_choose(c, name, &m));
    struct filter_test test = m->test;
    if (test.is_bytes) {
        RETURN_IF_FAILED(filter_parse_bytes(c, m, &test));
        return add_test(c, &test, part);
    }
    const char *at = c->lexer.token.text;
    bool is_pair = m->type == VALUE_PAIR;
    uint64_t low[2] = {0}, high[2];
    RETURN_IF_FAILED(is_pair ? filter_parse_pair(c, low) : filter_parse_scalar(c, m, &low[0]));
    memcpy(high, low, sizeof high);
    if (c->lexer.token.kind == TOKEN_RANGE) {
        if (!is_pair && m->type != VALUE_NUMBER) {
            return filter_error(&c->lexer, c->lexer.token.text, c->err,
                                "%.*s has no order, so no ranges", (int)name->token.length,
                                name->token.text);
        }
        RETURN_IF_FAILED(advance(c));
        RETURN_IF_FAILED(is_pair ? filter_parse_pair(c, high)
                                 : filter_parse_scalar(c, m, &high[0]));
        if (low[0] > high[0] || low[1] > high[1]) {
            return filter_error(&c->lexer, at, c->err,
                                "this range is empty: its end lies before its beginning");
        }
    }
    if (is_pair) {
        return add_pair(c, m, low, high, false, part);
    }
    test.low = low[0];
    test.high = high[0];
    return add_test(c, &test, part);
}

static enum nocap_status parse_in(struct filter_compiler *c, struct filter_name *name,
                                  struct part *part)
{
    RETURN_IF_FAILED(advance(c));
    if (c->lexer.token.kind != TOKEN_OPEN_SET) {
        return parse_item(c, name, part);
    }
    RETURN_IF_FAILED(advance(c));
    RETURN_IF_FAILED(parse_item(c, name, part));
    while (c->lexer.token.kind == TOKEN_COMMA) {
        struct part more;
        RETURN_IF_FAILED(advance(c));
        RETURN_IF_FAILED(parse_item(c, name, &more));
        *part = chain(c, *part, more, IF_FALSE);
    }
    if (c->lexer.token.kind != TOKEN_CLOSE_SET) {
        return filter_unwanted(c, "a , or } of the set");
    }
    return advance(c);
}

/* A bare name: the event has it, or, of a boolean, it is true. */
static enum nocap_status add_presence(struct filter_compiler *c, const struct filter_name *name,
                                      struct part *part)
{
    struct filter_test test = name->meanings[0].test;
    bool is_bool = name->meanings[0].type == VALUE_BOOL;
    for (size_t i = 1; i < name->count; i++) {
        test.has |= name->meanings[i].test.has;
        test.kinds |= name->meanings[i].test.kinds;
    }
    test.default_kinds = 0;
    test.is_bytes = false;
    test.low = is_bool ? 1 : 0;
    test.high = UINT64_MAX;
    return add_test(c, &test, part);
}

static enum nocap_status expect(struct filter_compiler *c, enum filter_token_kind kind,
                                const char *wanted)
{
    return c->lexer.token.kind == kind ? advance(c) : filter_unwanted(c, wanted);
}

/* touches(X,Y,ADDR) or touches(X,Y,ADDR..ADDR); the word was read. */
static enum nocap_status parse_touches(struct filter_compiler *c, struct part *part)
{
    static const struct filter_meaning number = {.type = VALUE_NUMBER,
                                                 .test = {.width = sizeof(uint64_t)}};
    struct filter_test test = {.is_touch = true};
    uint64_t xy[2];
    RETURN_IF_FAILED(expect(c, TOKEN_OPEN, "the ( of touches(X,Y,ADDR)"));
    const char *tile = c->lexer.token.text;
    RETURN_IF_FAILED(filter_parse_pair(c, xy));
    if (xy[0] > UINT8_MAX || xy[1] > UINT8_MAX) {
        return filter_error(&c->lexer, tile, c->err, "x and y of a core are below 256");
    }
    RETURN_IF_FAILED(expect(c, TOKEN_COMMA, "the , before the address"));
    const char *at = c->lexer.token.text;
    RETURN_IF_FAILED(filter_parse_scalar(c, &number, &test.low));
    test.high = test.low;
    if (c->lexer.token.kind == TOKEN_RANGE) {
        RETURN_IF_FAILED(advance(c));
        RETURN_IF_FAILED(filter_parse_scalar(c, &number, &test.high));
    }
    if (test.low > test.high) {
        return filter_error(&c->lexer, at, c->err,
                            "this range is empty: its end lies before its beginning");
    }
    test.at = (struct nocap_xy){(uint8_t)xy[0], (uint8_t)xy[1]};
    RETURN_IF_FAILED(expect(c, TOKEN_CLOSE, "the ) of touches(X,Y,ADDR)"));
    return add_test(c, &test, part);
}

static enum nocap_status parse_test(struct filter_compiler *c, struct part *part)
{
    if (c->lexer.token.kind != TOKEN_WORD) {
        return filter_unwanted(c, "a field, ! or (");
    }
    if (filter_word_is(&c->lexer.token, "touches")) {
        RETURN_IF_FAILED(advance(c));
        return parse_touches(c, part);
    }
    struct filter_name name;
    RETURN_IF_FAILED(filter_parse_name(c, &name));
    if (c->lexer.token.kind >= TOKEN_EQ && c->lexer.token.kind <= TOKEN_GT) {
        return parse_comparison(c, &name, part);
    }
    if (filter_word_is(&c->lexer.token, "in")) {
        return parse_in(c, &name, part);
    }
    return add_presence(c, &name, part);
}

/* ---- expressions ---- */

static enum nocap_status parse_expression(struct filter_compiler *c, struct part *part);

static enum nocap_status parse_factor(struct filter_compiler *c, struct part *part)
{
    const char *at = c->lexer.token.text;
    enum filter_token_kind kind = c->lexer.token.kind;
    if (kind != TOKEN_NOT && kind != TOKEN_OPEN) {
        return parse_test(c, part);
    }
    if (++c->nesting > FILTER_NESTING_MAX) {
        return filter_error(&c->lexer, at, c->err, "nested more than %d deep", FILTER_NESTING_MAX);
    }
    RETURN_IF_FAILED(advance(c));
    if (kind == TOKEN_NOT) {
        RETURN_IF_FAILED(parse_factor(c, part));
        *part = (struct part){part->entry, {part->open[IF_TRUE], part->open[IF_FALSE]}};
    } else {
        RETURN_IF_FAILED(parse_expression(c, part));
        if (c->lexer.token.kind != TOKEN_CLOSE) {
            return filter_error(&c->lexer, c->lexer.token.text, c->err,
                                "the ( of column %zu is not closed here; && or || may be missing",
                                (size_t)(at - c->lexer.expression) + 1);
        }
        RETURN_IF_FAILED(advance(c));
    }
    c->nesting--;
    return NOCAP_OK;
}

static enum nocap_status parse_conjunction(struct filter_compiler *c, struct part *part)
{
    RETURN_IF_FAILED(parse_factor(c, part));
    while (c->lexer.token.kind == TOKEN_AND) {
        struct part right;
        RETURN_IF_FAILED(advance(c));
        RETURN_IF_FAILED(parse_factor(c, &right));
        *part = chain(c, *part, right, IF_TRUE);
    }
    return NOCAP_OK;
}

static enum nocap_status parse_expression(struct filter_compiler *c, struct part *part)
{
    RETURN_IF_FAILED(parse_conjunction(c, part));
    while (c->lexer.token.kind == TOKEN_OR) {
        struct part right;
        RETURN_IF_FAILED(advance(c));
        RETURN_IF_FAILED(parse_conjunction(c, &right));
        *part = chain(c, *part, right, IF_FALSE);
    }
    return NOCAP_OK;
}

static enum nocap_status compile(struct filter_compiler *c)
{
    struct part whole;
    RETURN_IF_FAILED(advance(c));
    RETURN_IF_FAILED(parse_expression(c, &whole));
    if (c->lexer.token.kind != TOKEN_END) {
        return filter_unwanted(c, "expected here: && or || or the end");
    }
    patch(c, whole.open[IF_FALSE], FILTER_REJECT);
    patch(c, whole.open[IF_TRUE], FILTER_ACCEPT);
    c->filter->entry = whole.entry;
    return NOCAP_OK;
}

enum nocap_status nocap_filter_compile(struct nocap_filter **filter, const char *expression,
                                       struct nocap_error *err)
{
    struct nocap_filter *f = calloc(1, sizeof *f);
    if (f != NULL) {
        f->tests = calloc(FILTER_TESTS_MAX, sizeof *f->tests);
        f->texts = malloc(strlen(expression) + 1);
    }
    if (f == NULL || f->tests == NULL || f->texts == NULL) {
        nocap_filter_free(f);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    struct filter_compiler c = {
        .lexer = {.expression = expression, .at = expression}, .err = err, .filter = f};
    enum nocap_status status = compile(&c);
    if (status != NOCAP_OK) {
        nocap_filter_free(f);
        return status;
    }
    *filter = f;
    return NOCAP_OK;
}
