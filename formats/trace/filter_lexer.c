/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace/filter_lexer.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Longest first where one is the beginning of another. */
static const struct {
    const char *text;
    enum filter_token_kind kind;
} signs[] = {
    {"==", TOKEN_EQ},        {"!=", TOKEN_NE},         {"<=", TOKEN_LE},
    {">=", TOKEN_GE},        {"<", TOKEN_LT},          {">", TOKEN_GT},
    {"&&", TOKEN_AND},       {"||", TOKEN_OR},         {"!", TOKEN_NOT},
    {"..", TOKEN_RANGE},     {",", TOKEN_COMMA},       {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},      {"{", TOKEN_OPEN_SET},    {"}", TOKEN_CLOSE_SET},
    {"[", TOKEN_OPEN_INDEX}, {"]", TOKEN_CLOSE_INDEX},
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':' || c == '-';
}

/* The error has three lines, and these are the only breaks in it. */
static void put_on_one_line(char *text)
{
    for (; *text != 0; text++) {
        *text = (unsigned char)*text < ' ' ? '?' : *text;
    }
}

enum nocap_status filter_error(const struct filter_lexer *lexer, const char *at,
                               struct nocap_error *err, const char *format, ...)
{
    enum { BEFORE = 40, SHOWN = 76 };
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    size_t column = (size_t)(at - lexer->expression);
    size_t first = column > BEFORE ? column - BEFORE : 0;
    char shown[SHOWN + 1];
    snprintf(shown, sizeof shown, "%s", lexer->expression + first);
    put_on_one_line(message);
    put_on_one_line(shown);
    return nocap_fail(err, NOCAP_E_USAGE, "filter, column %zu: %s\n  %s\n  %*s^", column + 1,
                      message, shown, (int)(column - first), "");
}

static enum nocap_status scan_string(struct filter_lexer *lexer, struct nocap_error *err)
{
    const char *start = lexer->at;
    const char *p = start + 1;
    while (*p != '\0' && *p != '"') {
        p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    if (*p == '\0') {
        return filter_error(lexer, start, err, "this text has no closing quote");
    }
    lexer->token = (struct filter_token){TOKEN_STRING, start + 1, (size_t)(p - start - 1)};
    lexer->at = p + 1;
    return NOCAP_OK;
}

enum nocap_status filter_next(struct filter_lexer *lexer, struct nocap_error *err)
{
    while (*lexer->at == ' ' || *lexer->at == '\t' || *lexer->at == '\n' || *lexer->at == '\r') {
        lexer->at++;
    }
    const char *start = lexer->at;
    if (*start == '\0') {
        lexer->token = (struct filter_token){TOKEN_END, start, 0};
        return NOCAP_OK;
    }
    if (*start == '"') {
        return scan_string(lexer, err);
    }
    if (is_word(*start)) {
        while (is_word(*lexer->at)) {
            lexer->at++;
        }
        lexer->token = (struct filter_token){TOKEN_WORD, start, (size_t)(lexer->at - start)};
        return NOCAP_OK;
    }
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t length = strlen(signs[i].text);
        if (strncmp(start, signs[i].text, length) == 0) {
            lexer->token = (struct filter_token){signs[i].kind, start, length};
            lexer->at += length;
            return NOCAP_OK;
        }
    }
    const char *hint = *start == '='   ? " (equality is ==)"
                       : *start == '&' ? " (and is &&)"
                       : *start == '|' ? " (or is ||)"
                                       : "";
    if ((unsigned char)*start < 0x20 || (unsigned char)*start > 0x7E) {
        return filter_error(lexer, start, err, "a byte 0x%02x has no place here",
                            (unsigned char)*start);
    }
    return filter_error(lexer, start, err, "'%c' has no place here%s", *start, hint);
}
