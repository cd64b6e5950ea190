/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: a text on its way to a stream. Most of it are lines of few kinds; with
 * format strings, and a call of the stream for each word, they took most of the time. */
#ifndef NOCAP_AIE_DISASM_TEXT_H
#define NOCAP_AIE_DISASM_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { AIE_TEXT_ROOM = 16 << 10, AIE_DIGITS_MAX = 10 };

struct aie_text {
    FILE *out;
    size_t used;
    char bytes[AIE_TEXT_ROOM];
};

static inline void aie_text_flush(struct aie_text *text)
{
    fwrite(text->bytes, 1, text->used, text->out);
    text->used = 0;
}

/* The stream itself, for what is rare; what was put before is in it. */
static inline FILE *aie_text_stream(struct aie_text *text)
{
    aie_text_flush(text);
    return text->out;
}

static inline void aie_put_bytes_of(struct aie_text *text, const char *bytes, size_t size)
{
    if (size > AIE_TEXT_ROOM - text->used) {
        aie_text_flush(text);
    }
    if (size > AIE_TEXT_ROOM) {
        fwrite(bytes, 1, size, text->out);
        return;
    }
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

static inline void aie_put(struct aie_text *text, const char *string)
{
    aie_put_bytes_of(text, string, strlen(string));
}

/* "0x00ff": at least so many digits. */
static inline void aie_put_hex(struct aie_text *text, uint32_t value, unsigned digits)
{
    char buffer[AIE_DIGITS_MAX], *at = buffer + sizeof buffer;
    for (unsigned n = 0; n < digits || n == 0 || value != 0; n++, value >>= 4) {
        *--at = "0123456789abcdef"[value & 0xF];
    }
    aie_put_bytes_of(text, "0x", 2);
    aie_put_bytes_of(text, at, (size_t)(buffer + sizeof buffer - at));
}

static inline void aie_put_number(struct aie_text *text, uint32_t value)
{
    char buffer[AIE_DIGITS_MAX], *at = buffer + sizeof buffer;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    aie_put_bytes_of(text, at, (size_t)(buffer + sizeof buffer - at));
}

#endif
