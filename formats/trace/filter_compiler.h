/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: what the two halves of the filter compiler share. */
#ifndef NOCAP_TRACE_FILTER_COMPILER_H
#define NOCAP_TRACE_FILTER_COMPILER_H

#include "formats/trace/event.h"
#include "formats/trace/filter_graph.h"
#include "formats/trace/filter_lexer.h"

enum filter_limit {
    FILTER_TESTS_MAX = 1000,
    FILTER_NESTING_MAX = 64,
    FILTER_MEANINGS_MAX = 4,
};

/* What a name in the expression can mean: a test without its bounds. */
struct filter_meaning {
    struct filter_test test;
    enum filter_value_type {
        VALUE_NUMBER,
        VALUE_BOOL,
        VALUE_KIND,
        VALUE_OP,
        VALUE_NAME, /* of the enum of `field` */
        VALUE_PAIR,
        VALUE_HEX_BYTES,
        VALUE_TEXT,
        VALUE_HASH,
    } type;
    enum nocap_field field;
};

/* A name of the expression with all it can mean; which one, the form of the value tells. */
struct filter_name {
    struct filter_token token;
    struct filter_meaning meanings[FILTER_MEANINGS_MAX];
    size_t count;
};

struct filter_compiler {
    struct filter_lexer lexer;
    struct nocap_error *err;
    struct nocap_filter *filter;
    unsigned nesting;
};

bool filter_word_is(const struct filter_token *token, const char *text);

/* Fails with "'<the current token>' is not <wanted>". */
enum nocap_status filter_unwanted(struct filter_compiler *c, const char *wanted);

/* Reads a field's name, with its index. */
enum nocap_status filter_parse_name(struct filter_compiler *c, struct filter_name *name);
/* The meaning that fits the value in front of us. */
enum nocap_status filter_choose(struct filter_compiler *c, const struct filter_name *name,
                                const struct filter_meaning **meaning);

/* Reads one value of a meaning: a number or a name, x and y, or bytes, which become the test's. */
enum nocap_status filter_parse_scalar(struct filter_compiler *c, const struct filter_meaning *m,
                                      uint64_t *v);
enum nocap_status filter_parse_pair(struct filter_compiler *c, uint64_t xy[2]);
enum nocap_status filter_parse_bytes(struct filter_compiler *c, const struct filter_meaning *m,
                                     struct filter_test *test);

#endif
