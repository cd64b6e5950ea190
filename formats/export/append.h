/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/export: text of events, appended to a buffer in which room was made before. */
#ifndef NOCAP_EXPORT_APPEND_H
#define NOCAP_EXPORT_APPEND_H

#include <string.h>

#include "base/foreign_text.h"
#include "formats/trace/jsonl.h"

/* Makes room for all that one event's fields, with their keys and a few names more, can take, each
 * byte of payload in up to four characters. */
enum nocap_status nocap_append_room(struct nocap_text *out, const struct nocap_event *event,
                                    struct nocap_error *err);

static inline void nocap_append(struct nocap_text *out, const void *text, size_t size)
{
    if (size > 0) {
        memcpy(out->data + out->size, text, size);
        out->size += size;
    }
}
static inline void nocap_append_string(struct nocap_text *out, const char *text)
{
    nocap_append(out, text, strlen(text));
}
static inline void nocap_append_char(struct nocap_text *out, char c)
{
    out->data[out->size++] = c;
}
/* Text of others: in up to four characters a byte. */
static inline void nocap_append_foreign(struct nocap_text *out, const char *text, size_t size)
{
    out->size += foreign_escape(out->data + out->size, text, size);
}
void nocap_append_decimal(struct nocap_text *out, uint64_t v);
void nocap_append_hex(struct nocap_text *out, uint64_t v);                         /* 0x.. */
void nocap_append_bytes(struct nocap_text *out, const uint8_t *data, size_t size); /* hex digits */
/* Blanks up to `column`, counted from `start`, at least one. */
void nocap_append_pad(struct nocap_text *out, size_t start, size_t column);

/* The value of a field, without quotes: numbers, names, x,y, hex digits, lists as "1 0 0 ..". Text
 * fields are foreign. */
void nocap_append_field(struct nocap_text *out, const struct nocap_event *event,
                        enum nocap_field field);

#endif
