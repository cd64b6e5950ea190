/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON Lines. Room for the whole line is made first; the rest writes through a pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/foreign_text.h"
#include "base/json_scan.h"
#include "formats/trace/jsonl_digits.h"
#include "formats/trace/jsonl_private.h"

/* A key as it stands in the line, `,"key":`, padded so that it can be copied in one piece. */
struct printed_key {
    char text[16];
    uint8_t size;
    uint8_t half; /* of a pair "x,y": bytes of each of its two keys */
};
#define FIELD(NAME, key, kinds, type, member, home)                                                \
    [NOCAP_FIELD_##NAME] = {",\"" key "\":", sizeof ",\"" key "\":" - 1, (sizeof key - 2) / 2},
static const struct printed_key printed_keys[NOCAP_FIELD_COUNT] = {
#include "formats/trace/fields.def"
};
#undef FIELD
/* What a line needs at most besides payload and extra keys: keys and values of all fields. */
enum { FIELDS_SIZE_MAX = (NOCAP_FIELD_COUNT + 8) * 64 };

enum nocap_status nocap_text_reserve(struct nocap_text *out, size_t more, struct nocap_error *err)
{
    RETURN_ERROR_IF(out->capacity - out->size < more &&
                        !buffer_widen(&out->data, &out->capacity, out->size, more),
                    err, NOCAP_E_MEMORY, "out of memory for %zu bytes of text", more);
    return NOCAP_OK;
}

/* Short text; strings of the tables are far shorter than the room after `to`. */
static inline char *put_text(char *to, const char *text)
{
    while (*text != '\0') {
        *to++ = *text++;
    }
    return to;
}

static char *put_name(char *to, const char *name)
{
    *to++ = '"';
    to = put_text(to, name != NULL ? name : "?");
    *to++ = '"';
    return to;
}

char *jsonl_put_string(char *to, const char *text, size_t size)
{
    /* The letter after the backslash; the others are written as four hex digits. */
    static const char escapes[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    *to++ = '"';
    for (size_t i = 0, plain; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x7f) { /* up to the next ASCII character */
            for (plain = i; i + 1 < size && (unsigned char)text[i + 1] >= 0x7f;) {
                i++;
            }
            to += foreign_json_escape(to, text + plain, i + 1 - plain);
            continue;
        }
        if (c >= 0x20 && c != '"' && c != '\\') {
            *to++ = (char)c;
            continue;
        }
        *to++ = '\\';
        if (c >= 0x20) {
            *to++ = (char)c;
        } else if (escapes[c] != 0) {
            *to++ = escapes[c];
        } else {
            to = put_text(to, "u00");
            to = jsonl_put_byte(to, c);
        }
    }
    *to++ = '"';
    return to;
}

static char *put_key(char *to, enum nocap_field field)
{
    memcpy(to, printed_keys[field].text, sizeof printed_keys[field].text);
    return to + printed_keys[field].size;
}

static char *put_pair(char *to, enum nocap_field field, struct nocap_xy xy)
{
    const struct printed_key *key = &printed_keys[field];
    const char *second = key->text + 2 + key->half + 1;
    memcpy(to, key->text, 8); /* a comma, a quote, the first key */
    to += 2 + key->half;
    *to++ = '"';
    *to++ = ':';
    to = jsonl_put_decimal(to, xy.x);
    *to++ = ',';
    *to++ = '"';
    memcpy(to, second, 8); /* the second key, its quote, the colon */
    to += key->half + 2;
    return jsonl_put_decimal(to, xy.y);
}

static char *put_xy(char *to, struct nocap_xy xy)
{
    *to++ = '[';
    to = jsonl_put_decimal(to, xy.x);
    *to++ = ',';
    to = jsonl_put_decimal(to, xy.y);
    *to++ = ']';
    return to;
}

static char *put_hex(char *to, uint64_t v)
{
    *to++ = '"';
    to = jsonl_put_hex(to, v);
    *to++ = '"';
    return to;
}

static char *put_bytes(char *to, const uint8_t *bytes, size_t size)
{
    *to++ = '"';
    for (size_t i = 0; i < size; i++) {
        to = jsonl_put_byte(to, bytes[i]);
    }
    *to++ = '"';
    return to;
}

static char *put_hash(char *to, uint64_t hash)
{
    to = put_text(to, "\"fnv1a64:");
    for (int shift = 56; shift >= 0; shift -= 8) {
        to = jsonl_put_byte(to, (uint8_t)(hash >> shift));
    }
    *to++ = '"';
    return to;
}

static char *put_semaphores(char *to, const struct nocap_event *event)
{
    if (event->kind == NOCAP_EV_CQ) {
        return jsonl_put_decimal(to, event->sem);
    }
    *to++ = '[';
    for (unsigned i = 0; i < 8; i++) {
        if (i > 0) {
            *to++ = ',';
        }
        to = jsonl_put_decimal(to, (uint8_t)(event->sem >> 8 * i));
    }
    *to++ = ']';
    return to;
}

static char *put_field(char *to, const struct nocap_event *event, enum nocap_field field)
{
    const struct nocap_field_info *info = &nocap_fields[field];
    const char *member = (const char *)event + info->offset;
    struct nocap_xy xy;
    uint64_t number;
    if (info->type == NOCAP_T_PAIR) {
        memcpy(&xy, member, sizeof xy);
        return put_pair(to, field, xy);
    }
    to = put_key(to, field);
    switch ((enum nocap_field_type)info->type) {
    case NOCAP_T_DEC:
    case NOCAP_T_HEX:
        number = *(const uint8_t *)member;
        if (info->width != 1) {
            memcpy(&number, member, sizeof number);
        }
        return info->type == NOCAP_T_DEC ? jsonl_put_decimal(to, number) : put_hex(to, number);
    case NOCAP_T_BOOL: return put_text(to, *member != 0 ? "true" : "false");
    case NOCAP_T_XY: memcpy(&xy, member, sizeof xy); return put_xy(to, xy);
    case NOCAP_T_BYTES: return put_bytes(to, event->data, event->data_size);
    case NOCAP_T_TEXT: return jsonl_put_string(to, (const char *)event->data, event->data_size);
    case NOCAP_T_HASH: return put_hash(to, event->hash);
    case NOCAP_T_SEM: return put_semaphores(to, event);
    default: return put_name(to, nocap_field_value_name(field, *(const uint8_t *)member));
    }
}

bool jsonl_members_are_sound(const char *members, size_t size)
{
    struct json_cursor cursor = {.at = members, .end = members + size, .first = true};
    struct json_member member;
    enum json_step step;
    if (memchr(members, '\n', size) != NULL) {
        return false;
    }
    do {
        step = json_next_member(&cursor, &member);
    } while (step == JSON_ITEM && cursor.at < cursor.end);
    return step == JSON_ITEM;
}

static char *put_extra(char *to, const struct nocap_event *event)
{
    *to++ = ',';
    if (jsonl_members_are_sound(event->extra, event->extra_size)) {
        return to + foreign_json_escape(to, event->extra, event->extra_size);
    }
    to = put_text(to, "\"extra\":");
    return jsonl_put_string(to, event->extra, event->extra_size);
}

/* Tabs stay. What grows over the bytes that are kept of such a line ends with a backslash, so that
 * what is left is no JSON either. */
static char *put_no_json(char *to, const char *line, size_t size)
{
    const char *at = line, *after = line + size;
    char *end = to;
    for (; at < after; at++) {
        const char *tab = memchr(at, '\t', (size_t)(after - at));
        end += foreign_escape(end, at, (size_t)((tab != NULL ? tab : after) - at));
        if (tab == NULL) {
            break;
        }
        *end++ = '\t';
        at = tab;
    }
    if ((size_t)(end - to) > JSONL_TEXT_KEPT && size <= JSONL_TEXT_KEPT) {
        end = to + JSONL_TEXT_KEPT - 1;
        while ((*end & 0xc0) == 0x80) { /* inside a character */
            end--;
        }
        *end++ = '\\';
    }
    return end;
}

/* The line as it stood, but for what steers a terminal: in a line of JSON it is escaped, which
 * means the same, in one that is none it is written as \xNN, which no JSON has. A line is one line,
 * and not empty, whatever a damaged file may say. */
static char *put_line(char *to, const struct nocap_event *event)
{
    const char *line = (const char *)event->data;
    if (event->data_size == 0) {
        return put_text(to, "{}");
    }
    if (event->kind != NOCAP_EV_UNKNOWN) {
        return put_no_json(to, line, event->data_size);
    }
    char *end = to + foreign_json_escape(to, line, event->data_size);
    for (; (to = memchr(to, '\n', (size_t)(end - to))) != NULL; to++) {
        *to = ' ';
    }
    return end;
}

static char *put_event(char *to, const struct nocap_event *event)
{
    to = put_text(to, "{\"" JSONL_KEY_T "\":");
    to = jsonl_put_decimal(to, event->t);
    to = put_text(to, ",\"" JSONL_KEY_EV "\":");
    to = put_name(to, nocap_kind_name(event->kind));
    if (event->op != NOCAP_OP_NONE) {
        to = put_text(to, ",\"" JSONL_KEY_OP "\":");
        to = put_name(to, nocap_op_name(event->op));
    }
    uint64_t fields = event->has & nocap_kind_fields((enum nocap_kind)event->kind);
    for (; fields != 0; fields &= fields - 1) {
        to = put_field(to, event, (enum nocap_field)__builtin_ctzll(fields));
    }
    if (event->src != 0) {
        to = put_text(to, ",\"" JSONL_KEY_SRC "\":");
        to = jsonl_put_decimal(to, event->src);
    }
    if (event->chip != 0) {
        to = put_text(to, ",\"" JSONL_KEY_CHIP "\":");
        to = jsonl_put_decimal(to, event->chip);
    }
    if (event->extra_size > 0) {
        to = put_extra(to, event);
    }
    *to++ = '}';
    return to;
}

enum nocap_status nocap_jsonl_print_event(struct nocap_text *out, const struct nocap_event *event,
                                          struct nocap_error *err)
{
    bool verbatim = event->kind >= NOCAP_EV_UNKNOWN;
    size_t growth = verbatim || event->kind == NOCAP_EV_NOTE ? JSONL_STRING_GROWTH : 2;
    RETURN_IF_FAILED(nocap_text_reserve(out,
                                        FIELDS_SIZE_MAX + growth * event->data_size +
                                            JSONL_STRING_GROWTH * (size_t)event->extra_size,
                                        err));
    char *to = out->data + out->size;
    to = verbatim ? put_line(to, event) : put_event(to, event);
    *to++ = '\n';
    out->size = (size_t)(to - out->data);
    return NOCAP_OK;
}
