/* SPDX-License-Identifier: Apache-2.0 */
#include "base/foreign_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PLAIN = 0x20, DELETE = 0x7f, C1_END = 0xa0, CHARACTER = 4, LINE_BYTES_MAX = 1 << 16 };

static const char digits[] = "0123456789abcdef";

/* Bytes of the UTF-8 character that begins here; 0: none does. */
static size_t decode(const char *at, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)at;
    *code = s[0];
    if (s[0] < 0x80) {
        return 1;
    }
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > left) {
        return 0;
    }
    *code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

static bool is_plain(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        {0, FIRST_PLAIN - 1}, {DELETE, C1_END - 1}, {0x061c, 0x061c}, /* Arabic letter mark */
        {0x200e, 0x200f},     {0x2028, 0x202e},     {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) {
            return false;
        }
    }
    return true;
}

/* Bytes at the start that may be printed as they stand. */
static size_t plain_start(const char *text, size_t size)
{
    size_t at = 0, length = 1;
    uint32_t code;
    while (at < size && length != 0) {
        unsigned char c = (unsigned char)text[at];
        length = c >= FIRST_PLAIN && c < DELETE ? 1 : decode(text + at, size - at, &code);
        if (length != 0 && (c < FIRST_PLAIN || c >= DELETE) && !is_plain(code)) {
            length = 0;
        }
        at += length;
    }
    return at;
}

bool foreign_is_plain(const char *text, size_t size)
{
    return plain_start(text, size) == size;
}

/* An odd number of backslashes before `at`: the next one would end an escape, not begin one. */
static bool after_backslash(const char *text, size_t at)
{
    size_t run = 0;
    while (run < at && text[at - 1 - run] == '\\') {
        run++;
    }
    return run % 2 != 0;
}

size_t foreign_escape(char *to, const char *text, size_t size)
{
    char *start = to;
    for (size_t at = 0; at < size;) {
        size_t plain = plain_start(text + at, size - at);
        memcpy(to, text + at, plain);
        to += plain;
        at += plain;
        if (at == size) {
            break;
        }
        uint32_t code;
        size_t length = decode(text + at, size - at, &code);
        for (size_t end = at + (length == 0 ? 1 : length); at < end; at++) {
            if (!after_backslash(text, at)) {
                *to++ = '\\';
            }
            *to++ = 'x';
            *to++ = digits[(unsigned char)text[at] >> 4];
            *to++ = digits[(unsigned char)text[at] & 0xf];
        }
    }
    return (size_t)(to - start);
}

char *foreign_copy(const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(FOREIGN_GROWTH * size + 1);
    if (copy != NULL) {
        copy[foreign_escape(copy, text, size)] = 0;
    }
    return copy;
}

void foreign_put(FILE *out, const char *text)
{
    if (foreign_is_plain(text, strlen(text))) {
        fputs(text, out);
        return;
    }
    char *copy = foreign_copy(text);
    fputs(copy != NULL ? copy : "?", out);
    free(copy);
}

void foreign_vline(FILE *out, const char *format, va_list args)
{
    char *text = malloc(LINE_BYTES_MAX), without_memory[256];
    char *line = text != NULL ? text : without_memory;
    vsnprintf(line, text != NULL ? LINE_BYTES_MAX : sizeof without_memory, format, args);
    foreign_put(out, line);
    fputc('\n', out);
    free(text);
}

void foreign_line(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    foreign_vline(out, format, args);
    va_end(args);
}

/* ---- JSON ---- */

static char *put_unit(char *to, uint32_t unit)
{
    *to++ = '\\';
    *to++ = 'u';
    for (unsigned shift = 16; shift > 0; shift -= 4) {
        *to++ = digits[unit >> (shift - 4) & 0xf];
    }
    return to;
}

size_t foreign_json_escape(char *to, const char *json, size_t size)
{
    enum { HALF_OF_A_PAIR = 0xdc00 };
    char *start = to;
    for (size_t at = 0; at < size;) {
        size_t plain = plain_start(json + at, size - at);
        memcpy(to, json + at, plain);
        to += plain;
        at += plain;
        if (at == size) {
            break;
        }
        uint32_t code;
        size_t length = decode(json + at, size - at, &code);
        if (json[at] == '\t' || json[at] == '\n' || json[at] == '\r') {
            *to++ = json[at] == '\r' ? ' ' : json[at];
        } else {
            to = put_unit(to, length == 0 ? HALF_OF_A_PAIR | (unsigned char)json[at] : code);
        }
        at += length == 0 ? 1 : length;
    }
    return (size_t)(to - start);
}

void foreign_json(FILE *out, const char *json, size_t size)
{
    char piece[FOREIGN_JSON_GROWTH * CHARACTER];
    for (size_t at = 0; at < size;) {
        size_t plain = plain_start(json + at, size - at), rest = size - at - plain;
        fwrite(json + at, 1, plain, out);
        at += plain;
        uint32_t code;
        size_t length = rest == 0 ? 0 : decode(json + at, rest, &code);
        size_t taken = rest == 0 ? 0 : length == 0 ? 1 : length;
        fwrite(piece, 1, foreign_json_escape(piece, json + at, taken), out);
        at += taken;
    }
}
