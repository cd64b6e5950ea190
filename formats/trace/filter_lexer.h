/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the words of a filter expression. */
#ifndef NOCAP_TRACE_FILTER_LEXER_H
#define NOCAP_TRACE_FILTER_LEXER_H

#include <stddef.h>

#include "base/status.h"

enum filter_token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* name, number, hex digits */
    TOKEN_STRING, /* "text"; `text` without the quotes, escapes as they stand */
    TOKEN_EQ,
    TOKEN_NE,
    TOKEN_LE,
    TOKEN_LT,
    TOKEN_GE,
    TOKEN_GT, /* in the order of enum filter_compare */
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_RANGE,
    TOKEN_COMMA,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_SET,
    TOKEN_CLOSE_SET,
    TOKEN_OPEN_INDEX,
    TOKEN_CLOSE_INDEX,
};

struct filter_token {
    enum filter_token_kind kind;
    const char *text;
    size_t length;
};

struct filter_lexer {
    const char *expression, *at;
    struct filter_token token; /* the current one */
};

/* Goes to the next token; the first call gives the first. */
enum nocap_status filter_next(struct filter_lexer *lexer, struct nocap_error *err);

/* Fails with NOCAP_E_USAGE: the message, the column of `at`, and an excerpt of the expression with
 * the place marked. */
enum nocap_status filter_error(const struct filter_lexer *lexer, const char *at,
                               struct nocap_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
