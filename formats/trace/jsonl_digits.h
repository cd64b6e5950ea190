/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the JSON Lines printer: digits, fast. Each writes at `to`, where there must be 24
 * bytes of room, and returns the end. */
#ifndef NOCAP_TRACE_JSONL_DIGITS_H
#define NOCAP_TRACE_JSONL_DIGITS_H

#include <stdint.h>
#include <string.h>

/* Two lower-case hex digits. */
static inline char *jsonl_put_byte(char *to, uint8_t byte)
{
    static const char digits[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
                                    '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    to[0] = digits[byte >> 4];
    to[1] = digits[byte & 15];
    return to + 2;
}

/* "0x" and lower-case hex digits without leading zeros. */
static inline char *jsonl_put_hex(char *to, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    int bits = v != 0 ? 64 - __builtin_clzll(v) : 1;
    *to++ = '0';
    *to++ = 'x';
    for (int shift = (bits - 1) & ~3; shift >= 0; shift -= 4) {
        *to++ = digits[v >> shift & 15];
    }
    return to;
}

static inline char *jsonl_put_decimal(char *to, uint64_t v)
{
    char text[20];
    unsigned at = sizeof text;
    do {
        text[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    memcpy(to, text + at, sizeof text - at);
    return to + (sizeof text - at);
}

#endif
