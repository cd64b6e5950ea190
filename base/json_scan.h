/* SPDX-License-Identifier: Apache-2.0 */
/* JSON (RFC 8259) taken apart in place, from untrusted bytes. No allocation, no recursion; every
 * byte is looked at once by the scanner and once more by whoever wants a value. Invalid UTF-8
 * inside strings passes, as traces carry the text of other people's logs. */
#ifndef NOCAP_BASE_JSON_SCAN_H
#define NOCAP_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 64 /* lists and objects inside each other */

enum json_type {
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_OBJECT,
    JSON_LIST,
};

/* One value where it stands. */
struct json_value {
    const char *text; /* as written; of a string what is between the quotes */
    size_t size;
    uint8_t type; /* enum json_type */
    bool escaped; /* a string with backslashes: what it means is not what is written */
};

struct json_member {
    struct json_value key, value;
};

/* The value as written, with the quotes of a string. */
static inline const char *json_raw(const struct json_value *value, size_t *size)
{
    size_t quote = value->type == JSON_STRING ? 1 : 0;
    *size = value->size + 2 * quote;
    return value->text - quote;
}

struct json_cursor {
    const char *at, *end;
    bool first;      /* no member or item was read yet */
    const char *why; /* of JSON_BAD, static */
};

enum json_step { JSON_BAD, JSON_ITEM, JSON_DONE };

/* Puts the cursor after the opening bracket: '{' or '['. `text` may have white space around the
 * value. */
enum json_step json_open(struct json_cursor *cursor, const char *text, size_t size, char bracket);
/* The next member of the object, or item of the list, that the cursor is in; JSON_DONE after its
 * closing bracket. */
enum json_step json_next_member(struct json_cursor *cursor, struct json_member *member);
enum json_step json_next_item(struct json_cursor *cursor, struct json_value *item);
/* The string, number or literal at the cursor, which is not at its end. JSON_DONE: it reaches the
 * end of the text, or breaks off there, so that more may belong to it. */
enum json_step json_scan_scalar(struct json_cursor *cursor, struct json_value *value);
/* Nothing but white space follows. */
bool json_at_end(struct json_cursor *cursor);

/* Writes what a string means to `to`, which has room for value->size bytes; returns how many bytes.
 * A lone surrogate is encoded like any other code point. */
size_t json_unescape(const struct json_value *value, char *to);

/* The value of a hex digit, 0 to 15, or more for any other character. */
extern const uint8_t json_hex_value[256];
static inline unsigned json_hex_digit(char c)
{
    return json_hex_value[(unsigned char)c];
}

enum json_number_status { JSON_NUMBER_OK, JSON_NUMBER_TYPE, JSON_NUMBER_RANGE };

/* A whole number of 64 bits: a JSON number without fraction and exponent, or a string "0x...". */
enum json_number_status json_number(const struct json_value *value, uint64_t *number);
/* Pairs of hex digits to bytes; false if it is something else. `to` may be where the digits are. */
bool json_hex_bytes(const char *digits, size_t size, uint8_t *to);

#endif
