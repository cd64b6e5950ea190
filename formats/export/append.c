/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/append.h"

static const char hex_digits[] = "0123456789abcdef";

enum { FIELDS_ROOM = 8192, PER_BYTE = 4, SEM_COUNT = 8 };

enum nocap_status nocap_append_room(struct nocap_text *out, const struct nocap_event *event,
                                    struct nocap_error *err)
{
    return nocap_text_reserve(
        out, FIELDS_ROOM + PER_BYTE * ((size_t)event->data_size + event->extra_size), err);
}

void nocap_append_decimal(struct nocap_text *out, uint64_t v)
{
    char digits[20];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + v % 10);
        v /= 10;
    } while (v != 0);
    nocap_append(out, digits + n, sizeof digits - n);
}

void nocap_append_hex(struct nocap_text *out, uint64_t v)
{
    char digits[16];
    size_t n = sizeof digits;
    do {
        digits[--n] = hex_digits[v & 0xF];
        v >>= 4;
    } while (v != 0);
    nocap_append_string(out, "0x");
    nocap_append(out, digits + n, sizeof digits - n);
}

void nocap_append_bytes(struct nocap_text *out, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        nocap_append_char(out, hex_digits[data[i] >> 4]);
        nocap_append_char(out, hex_digits[data[i] & 0xF]);
    }
}

void nocap_append_pad(struct nocap_text *out, size_t start, size_t column)
{
    do {
        nocap_append_char(out, ' ');
    } while (out->size - start < column);
}

static void append_xy(struct nocap_text *out, const void *member)
{
    struct nocap_xy xy;
    memcpy(&xy, member, sizeof xy);
    nocap_append_decimal(out, xy.x);
    nocap_append_char(out, ',');
    nocap_append_decimal(out, xy.y);
}

/* Of an `issue` the eight values, semaphore 0 first; of a command queue's credit the number. */
static void append_sem(struct nocap_text *out, const struct nocap_event *event)
{
    if (event->kind != NOCAP_EV_TENSIX) {
        nocap_append_decimal(out, event->sem);
        return;
    }
    for (unsigned i = 0; i < SEM_COUNT; i++) {
        if (i > 0) {
            nocap_append_char(out, ' ');
        }
        nocap_append_decimal(out, event->sem >> (8 * i) & 0xFF);
    }
}

static void append_hash(struct nocap_text *out, uint64_t v)
{
    nocap_append_string(out, "fnv1a64:");
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        nocap_append_char(out, hex_digits[v >> (shift - 4) & 0xF]);
    }
}

void nocap_append_field(struct nocap_text *out, const struct nocap_event *event,
                        enum nocap_field field)
{
    const struct nocap_field_info *info = &nocap_fields[field];
    uint64_t v = nocap_event_number(event, field);
    switch (info->type) {
    case NOCAP_T_DEC: nocap_append_decimal(out, v); break;
    case NOCAP_T_HEX: nocap_append_hex(out, v); break;
    case NOCAP_T_BOOL: nocap_append_string(out, v != 0 ? "true" : "false"); break;
    case NOCAP_T_PAIR:
    case NOCAP_T_XY: append_xy(out, (const uint8_t *)event + info->offset); break;
    case NOCAP_T_BYTES: nocap_append_bytes(out, event->data, event->data_size); break;
    case NOCAP_T_TEXT:
        nocap_append_foreign(out, (const char *)event->data, event->data_size);
        break;
    case NOCAP_T_HASH: append_hash(out, v); break;
    case NOCAP_T_SEM: append_sem(out, event); break;
    default: {
        const char *name = nocap_field_value_name(field, (unsigned)v);
        nocap_append_string(out, name != NULL ? name : "?");
        break;
    }
    }
}
