/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_scan.h"

#include <endian.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const char ends_early[] = "the text ends early";
static const char no_comma[] = "no comma between two values";

static __attribute__((noinline)) void skip_some_space(struct json_cursor *c)
{
    while (c->at < c->end &&
           (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n')) {
        c->at++;
    }
}

/* Between most there is none. */
static inline void skip_space(struct json_cursor *c)
{
    if (c->at < c->end && (unsigned char)*c->at <= ' ') {
        skip_some_space(c);
    }
}

/* NUL, which stands nowhere in JSON, at the end. */
static inline char peek(const struct json_cursor *c)
{
    return c->at < c->end ? *c->at : '\0';
}

static inline bool take(struct json_cursor *c, char wanted)
{
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool fail(struct json_cursor *c, const char *why)
{
    c->why = why;
    return false;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* After the backslash. */
static bool scan_escape(struct json_cursor *c)
{
    switch (peek(c)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': c->at++; return true;
    case 'u': break;
    default: return fail(c, "unknown escape in a string");
    }
    if (c->end - c->at < 5) {
        return fail(c, ends_early);
    }
    for (int i = 1; i <= 4; i++) {
        if (json_hex_digit(c->at[i]) > 15) {
            return fail(c, "\\u without four hex digits");
        }
    }
    c->at += 5;
    return true;
}

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* High bits of the bytes that are 0; exact up to and including the lowest one. */
static inline uint64_t zero_bytes(uint64_t v)
{
    return (v - ONES) & ~v & HIGHS;
}

#ifdef __SSE2__
/* Which of sixteen bytes are a quote, a backslash or a control character. */
static inline unsigned ends_among(const char *at)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)at);
    const __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
}
#endif

/* Steps up to the next quote, backslash or control character, several bytes at a time. */
static inline void skip_plain(struct json_cursor *c)
{
#ifdef __SSE2__
    for (; c->end - c->at >= 16; c->at += 16) {
        const unsigned stop = ends_among(c->at);
        if (stop != 0) {
            c->at += __builtin_ctz(stop);
            return;
        }
    }
#endif
    while (c->end - c->at >= 8) {
        uint64_t v;
        memcpy(&v, c->at, sizeof v);
        v = le64toh(v);
        uint64_t control = (v - ONES * 0x20) & ~v & HIGHS;
        uint64_t stop = zero_bytes(v ^ (ONES * '"')) | zero_bytes(v ^ (ONES * '\\')) | control;
        if (stop != 0) {
            c->at += __builtin_ctzll(stop) / 8;
            return;
        }
        c->at += 8;
    }
    while (c->at < c->end && *c->at != '"' && *c->at != '\\' && (unsigned char)*c->at >= 0x20) {
        c->at++;
    }
}

/* From a backslash, or whatever else ends the plain part of a string, to after its closing quote.
 */
static bool scan_rest_of_string(struct json_cursor *c, struct json_value *value)
{
    while (!take(c, '"')) {
        if (c->at == c->end) {
            return fail(c, ends_early);
        }
        if (!take(c, '\\')) {
            return fail(c, "a control character in a string");
        }
        value->escaped = true;
        if (!scan_escape(c)) {
            return false;
        }
        skip_plain(c);
    }
    value->size = (size_t)(c->at - 1 - value->text);
    return true;
}

/* After the opening quote. */
static inline bool scan_string(struct json_cursor *c, struct json_value *value)
{
    value->type = JSON_STRING;
    value->escaped = false;
    value->text = c->at;
    skip_plain(c);
    if (__builtin_expect(c->at < c->end && *c->at == '"', 1)) {
        value->size = (size_t)(c->at - value->text);
        c->at++;
        return true;
    }
    return scan_rest_of_string(c, value);
}

static bool scan_digits(struct json_cursor *c)
{
    const char *from = c->at;
    while (c->at < c->end && is_digit(*c->at)) {
        c->at++;
    }
    return c->at > from;
}

static bool scan_number(struct json_cursor *c, struct json_value *value)
{
    value->type = JSON_NUMBER;
    value->text = c->at;
    value->escaped = false;
    (void)take(c, '-');
    if (!take(c, '0') && !scan_digits(c)) {
        return fail(c, "a number without digits");
    }
    if (c->at < c->end && (*c->at == ',' || *c->at == '}')) {
        value->size = (size_t)(c->at - value->text);
        return true;
    }
    if (take(c, '.') && !scan_digits(c)) {
        return fail(c, "a number without digits");
    }
    if (take(c, 'e') || take(c, 'E')) {
        if (!take(c, '-')) {
            (void)take(c, '+');
        }
        if (!scan_digits(c)) {
            return fail(c, "a number without digits");
        }
    }
    value->size = (size_t)(c->at - value->text);
    return true;
}

static bool scan_literal(struct json_cursor *c, struct json_value *value)
{
    static const struct {
        const char *text;
        uint8_t size, type;
    } literals[] = {{"true", 4, JSON_TRUE}, {"false", 5, JSON_FALSE}, {"null", 4, JSON_NULL}};
    for (size_t i = 0; i < sizeof literals / sizeof literals[0]; i++) {
        size_t size = literals[i].size;
        size_t left = (size_t)(c->end - c->at);
        if (left < size && memcmp(c->at, literals[i].text, left) == 0) {
            return fail(c, ends_early);
        }
        if (left >= size && memcmp(c->at, literals[i].text, size) == 0) {
            *value = (struct json_value){.text = c->at, .size = size, .type = literals[i].type};
            c->at += size;
            return true;
        }
    }
    return fail(c, "a value is no JSON");
}

static bool scan_scalar(struct json_cursor *c, struct json_value *value)
{
    char next = peek(c);
    if (next == '"') {
        c->at++;
        return scan_string(c, value);
    }
    if (next == '-' || is_digit(next)) {
        return scan_number(c, value);
    }
    return scan_literal(c, value);
}

enum json_step json_scan_scalar(struct json_cursor *cursor, struct json_value *value)
{
    if (scan_scalar(cursor, value)) {
        bool digits_end = value->type == JSON_NUMBER && cursor->at == cursor->end;
        return digits_end ? JSON_DONE : JSON_ITEM;
    }
    return cursor->at == cursor->end || cursor->why == ends_early ? JSON_DONE : JSON_BAD;
}

/* A key, its colon and the white space up to the value. */
static bool scan_key(struct json_cursor *c, struct json_value *key)
{
    skip_space(c);
    if (!take(c, '"')) {
        return fail(c, c->at < c->end ? "a key is no string" : ends_early);
    }
    if (!scan_string(c, key)) {
        return false;
    }
    skip_space(c);
    if (!take(c, ':')) {
        return fail(c, "no colon after a key");
    }
    skip_space(c);
    return true;
}

/* The lists and objects around the cursor: one bit a level, the innermost lowest, set for an
 * object. */
struct nesting {
    uint64_t objects;
    unsigned depth;
};

/* At a bracket: steps in, up to the first value if there is one. */
static bool open_nested(struct json_cursor *c, struct nesting *in)
{
    struct json_value key;
    bool object = *c->at == '{';
    if (in->depth == JSON_DEPTH_MAX) {
        return fail(c, "lists and objects are nested too deep");
    }
    in->depth++;
    in->objects = in->objects << 1 | object;
    c->at++;
    skip_space(c);
    return !object || peek(c) == '}' || scan_key(c, &key);
}

/* After a value or in an empty list or object: steps out as often as brackets close. */
static void close_nested(struct json_cursor *c, struct nesting *in)
{
    while (in->depth > 0) {
        skip_space(c);
        if (!take(c, in->objects & 1 ? '}' : ']')) {
            return;
        }
        in->depth--;
        in->objects >>= 1;
    }
}

/* A list or an object with all that is in it. */
static bool scan_nested(struct json_cursor *c, struct json_value *value)
{
    struct nesting in = {0};
    struct json_value ignored;
    const char *text = c->at;
    do {
        char next = peek(c);
        if (next == '{' || next == '[') {
            if (!open_nested(c, &in)) {
                return false;
            }
            if (peek(c) != (next == '{' ? '}' : ']')) {
                continue;
            }
        } else if (!scan_scalar(c, &ignored)) {
            return false;
        }
        close_nested(c, &in);
        if (in.depth > 0) {
            if (!take(c, ',')) {
                return fail(c, c->at < c->end ? no_comma : ends_early);
            }
            skip_space(c);
            if ((in.objects & 1) && !scan_key(c, &ignored)) {
                return false;
            }
        }
    } while (in.depth > 0);
    *value = (struct json_value){.text = text,
                                 .size = (size_t)(c->at - text),
                                 .type = *text == '{' ? JSON_OBJECT : JSON_LIST};
    return true;
}

static bool scan_value(struct json_cursor *c, struct json_value *value)
{
    char next = peek(c);
    return next == '{' || next == '[' ? scan_nested(c, value) : scan_scalar(c, value);
}

enum json_step json_open(struct json_cursor *cursor, const char *text, size_t size, char bracket)
{
    *cursor = (struct json_cursor){.at = text, .end = text + size, .first = true};
    skip_space(cursor);
    if (!take(cursor, bracket)) {
        cursor->why = bracket == '{' ? "not a JSON object" : "not a JSON list";
        return JSON_BAD;
    }
    return JSON_ITEM;
}

/* Whether another element follows; the cursor then stands before it. */
static enum json_step step(struct json_cursor *c, char closing)
{
    skip_space(c);
    if (take(c, closing)) {
        return JSON_DONE;
    }
    if (c->first) {
        c->first = false;
    } else if (!take(c, ',')) {
        c->why = c->at < c->end ? no_comma : ends_early;
        return JSON_BAD;
    } else {
        skip_space(c);
    }
    return JSON_ITEM;
}

enum json_step json_next_member(struct json_cursor *cursor, struct json_member *member)
{
    enum json_step next = step(cursor, '}');
    if (next != JSON_ITEM) {
        return next;
    }
    bool ok = scan_key(cursor, &member->key) && scan_value(cursor, &member->value);
    return ok ? JSON_ITEM : JSON_BAD;
}

enum json_step json_next_item(struct json_cursor *cursor, struct json_value *item)
{
    enum json_step next = step(cursor, ']');
    if (next != JSON_ITEM) {
        return next;
    }
    return scan_value(cursor, item) ? JSON_ITEM : JSON_BAD;
}

bool json_at_end(struct json_cursor *cursor)
{
    skip_space(cursor);
    if (cursor->at < cursor->end) {
        cursor->why = "something follows the object";
        return false;
    }
    return true;
}
