/* SPDX-License-Identifier: Apache-2.0 */
/* What JSON values mean: strings without escapes, whole numbers, bytes. */
#include <string.h>

#include "base/json_scan.h"

const uint8_t json_hex_value[256] = {
#define N   255
#define N16 N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N
    /* clang-format off */
    N16, N16, N16,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, N, N, N, N, N, N,
    N, 10, 11, 12, 13, 14, 15, N, N, N, N, N, N, N, N, N, N16,
    N, 10, 11, 12, 13, 14, 15, N, N, N, N, N, N, N, N, N, N16,
    N16, N16, N16, N16, N16, N16, N16, N16,
/* clang-format on */
#undef N16
#undef N
};

/* The four digits of \u; `c` stands after the u. */
static unsigned hex4(const char *c)
{
    return json_hex_digit(c[0]) << 12 | json_hex_digit(c[1]) << 8 | json_hex_digit(c[2]) << 4 |
           json_hex_digit(c[3]);
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* Half of a surrogate pair stands for a byte that is no UTF-8. */
enum { BYTE_ESCAPE = 0xdc00 };

static char *put_byte(char *to, unsigned code)
{
    *to++ = (char)(unsigned char)(code - BYTE_ESCAPE);
    return to;
}

/* After the u: one code point, from two escapes if they are a surrogate pair. */
static const char *get_code(const char *at, const char *end, unsigned *code)
{
    *code = hex4(at);
    at += 4;
    if (*code >> 10 == 0xd800 >> 10 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        unsigned low = hex4(at + 2);
        if (low >> 10 == 0xdc00 >> 10) {
            *code = 0x10000 + ((*code & 0x3ff) << 10 | (low & 0x3ff));
            at += 6;
        }
    }
    return at;
}

size_t json_unescape(const struct json_value *value, char *to)
{
    const char *at = value->text, *end = at + value->size;
    char *begin = to;
    while (at < end) {
        const char *backslash = value->escaped ? memchr(at, '\\', (size_t)(end - at)) : NULL;
        size_t plain = (size_t)((backslash != NULL ? backslash : end) - at);
        memcpy(to, at, plain);
        to += plain;
        at += plain;
        if (at == end) {
            break;
        }
        unsigned code;
        at += 2;
        switch (at[-1]) {
        case 'b': *to++ = '\b'; break;
        case 'f': *to++ = '\f'; break;
        case 'n': *to++ = '\n'; break;
        case 'r': *to++ = '\r'; break;
        case 't': *to++ = '\t'; break;
        case 'u':
            at = get_code(at, end, &code);
            to = code >= BYTE_ESCAPE + 0x80 && code <= BYTE_ESCAPE + 0xff ? put_byte(to, code)
                                                                          : put_utf8(to, code);
            break;
        default: *to++ = at[-1]; break;
        }
    }
    return (size_t)(to - begin);
}

static enum json_number_status decimal(const char *text, size_t size, uint64_t *number)
{
    uint64_t v = 0;
    if (size > 0 && text[0] == '-') {
        return JSON_NUMBER_RANGE;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return JSON_NUMBER_TYPE;
        }
        if (i >= 19 && (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
                        __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))) {
            return JSON_NUMBER_RANGE;
        }
        if (i < 19) { /* nineteen digits always fit */
            v = v * 10 + (uint64_t)(text[i] - '0');
        }
    }
    *number = v;
    return JSON_NUMBER_OK;
}

static enum json_number_status hexadecimal(const char *text, size_t size, uint64_t *number)
{
    uint64_t v = 0;
    if (size < 3 || text[0] != '0' || text[1] != 'x') {
        return JSON_NUMBER_TYPE;
    }
    bool wide = false;
    for (size_t i = 2; i < size; i++) {
        unsigned digit = json_hex_digit(text[i]);
        if (digit > 15) {
            return JSON_NUMBER_TYPE;
        }
        wide |= v >> 60 != 0;
        v = v << 4 | digit;
    }
    *number = v;
    return wide ? JSON_NUMBER_RANGE : JSON_NUMBER_OK;
}

enum json_number_status json_number(const struct json_value *value, uint64_t *number)
{
    if (value->type == JSON_NUMBER) {
        return decimal(value->text, value->size, number);
    }
    if (value->type != JSON_STRING) {
        return JSON_NUMBER_TYPE;
    }
    if (value->escaped) {
        char text[6 * 18]; /* "0x" and sixteen digits, every one written as \uXXXX */
        return value->size <= sizeof text ? hexadecimal(text, json_unescape(value, text), number)
                                          : JSON_NUMBER_TYPE;
    }
    return hexadecimal(value->text, value->size, number);
}

bool json_hex_bytes(const char *digits, size_t size, uint8_t *to)
{
    if (size % 2 != 0) {
        return false;
    }
    unsigned wrong = 0;
    for (size_t i = 0; i < size / 2; i++) {
        unsigned high = json_hex_digit(digits[2 * i]), low = json_hex_digit(digits[2 * i + 1]);
        wrong |= high | low;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return wrong < 16;
}
