/* SPDX-License-Identifier: Apache-2.0 */
/* An event from one line of JSON. The key order is free and a field's meaning depends on the kind,
 * so the line is first taken apart into members and then read by the tables of the kind. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "formats/trace/jsonl_members.h"
#include "formats/trace/jsonl_private.h"
#include "formats/trace/jsonl_shapes.h"
#include "formats/trace/trace.h"

#define F(name) (UINT64_C(1) << NOCAP_FIELD_##name)

enum { NAME_MAX_WRITTEN = 64 }; /* bytes of a name of an enum, escapes and all */

struct jsonl_parser {
    struct jsonl_members m;
    struct jsonl_shapes shapes; /* of lines before */
    const struct json_member *data, *head;
    uint64_t halves[2]; /* which halves of pairs were read, as NOCAP_F_* */
    /* What the event points to. */
    uint8_t *payload;
    char *extra;
    size_t capacity; /* of each */
    size_t extra_size;
    uint64_t t_before; /* of the event before */
};

enum nocap_status jsonl_parser_new(struct jsonl_parser **parser, struct nocap_error *err)
{
    *parser = calloc(1, sizeof **parser);
    RETURN_ERROR_IF(*parser == NULL, err, NOCAP_E_MEMORY, "out of memory for the JSON reader");
    jsonl_members_init(&(*parser)->m);
    return NOCAP_OK;
}

void jsonl_parser_free(struct jsonl_parser *parser)
{
    if (parser != NULL) {
        free(parser->payload);
        free(parser->extra);
        free(parser);
    }
}

const char *jsonl_parser_why(const struct jsonl_parser *parser)
{
    return parser->m.why;
}

static bool bad(struct jsonl_parser *parser, const struct json_member *member, const char *why)
{
    return jsonl_malformed_key(&parser->m, member, why);
}

static bool read_number(struct jsonl_parser *parser, const struct json_member *member,
                        const struct json_value *value, uint64_t max, uint64_t *number)
{
    switch (json_number(value, number)) {
    case JSON_NUMBER_TYPE: return bad(parser, member, "is no whole number");
    case JSON_NUMBER_RANGE: return bad(parser, member, "is out of range");
    case JSON_NUMBER_OK: break;
    }
    return *number <= max || bad(parser, member, "is out of range");
}

/* A list of `count` numbers of one byte. */
static bool read_list(struct jsonl_parser *parser, const struct json_member *member, uint8_t *to,
                      unsigned count, const char *why)
{
    struct json_cursor cursor;
    struct json_value item;
    unsigned got = 0;
    if (member->value.type != JSON_LIST) {
        return bad(parser, member, why);
    }
    (void)json_open(&cursor, member->value.text, member->value.size, '[');
    while (json_next_item(&cursor, &item) == JSON_ITEM) {
        uint64_t number;
        if (got == count) {
            return bad(parser, member, why);
        }
        if (!read_number(parser, member, &item, UINT8_MAX, &number)) {
            return false;
        }
        to[got++] = (uint8_t)number;
    }
    return got == count || bad(parser, member, why);
}

/* What a string that names something says; `plain` has NAME_MAX_WRITTEN bytes. NULL if it cannot be
 * a name. */
static const char *name_text(const struct json_value *value, char *plain, unsigned *size)
{
    if (value->type != JSON_STRING || value->size > NAME_MAX_WRITTEN) {
        return NULL;
    }
    *size = (unsigned)value->size;
    if (value->escaped) {
        *size = (unsigned)json_unescape(value, plain);
        return plain;
    }
    return value->text;
}

/* What was written, what was probably meant, and what there is. */
static bool bad_name(struct jsonl_parser *parser, const struct json_member *member,
                     enum nocap_field field, const char *text, unsigned size)
{
    enum { VALUES = 16, SHOWN = 24 };
    char why[128];
    int used = snprintf(why, sizeof why, "is no known name");
    if (text != NULL && size > 0) {
        bool agent = nocap_fields[field].type == NOCAP_T_AGENT;
        const char *near =
            agent ? nocap_nearest(text, size, nocap_agent_name, NOCAP_BY_COUNT) : NULL;
        used += snprintf(why + used, sizeof why - (size_t)used, ": '%.*s'%s%s%s; known are",
                         size < SHOWN ? (int)size : SHOWN, text, near != NULL ? ", is '" : "",
                         near != NULL ? near : "", near != NULL ? "' meant?" : "");
        for (unsigned v = 0; v < VALUES && used < (int)sizeof why; v++) {
            const char *name = nocap_field_value_name(field, v);
            used += name != NULL && name[0] != '\0'
                        ? snprintf(why + used, sizeof why - (size_t)used, " %s", name)
                        : 0;
        }
    }
    return bad(parser, member, why);
}

static bool read_name(struct jsonl_parser *parser, const struct json_member *member,
                      enum nocap_field field, uint8_t *to)
{
    char plain[NAME_MAX_WRITTEN];
    unsigned size = 0;
    const char *text = name_text(&member->value, plain, &size);
    int v = text != NULL ? nocap_field_value_from_name(field, text, size) : -1;
    if (v < 0) {
        return bad_name(parser, member, field, text, size);
    }
    *to = (uint8_t)v;
    return true;
}

static const char hash_prefix[] = "fnv1a64:";

/* With "0x" before its digits or without. False for a hash of another kind, which this version
 * keeps without understanding it. */
static bool read_hash(const struct json_value *value, uint64_t *hash)
{
    uint8_t bytes[sizeof *hash];
    size_t prefix = sizeof hash_prefix - 1;
    if (value->escaped || value->size < prefix + 2 ||
        memcmp(value->text, hash_prefix, prefix) != 0) {
        return false;
    }
    prefix += memcmp(value->text + prefix, "0x", 2) == 0 ? 2 : 0;
    if (value->size != prefix + 2 * sizeof bytes ||
        !json_hex_bytes(value->text + prefix, 2 * sizeof bytes, bytes)) {
        return false;
    }
    uint64_t big_endian;
    memcpy(&big_endian, bytes, sizeof big_endian);
    *hash = be64toh(big_endian);
    return true;
}

static bool read_semaphores(struct jsonl_parser *parser, const struct json_member *member,
                            struct nocap_event *event)
{
    uint8_t values[8];
    if (event->kind == NOCAP_EV_CQ) {
        return read_number(parser, member, &member->value, UINT64_MAX, &event->sem);
    }
    if (!read_list(parser, member, values, 8, "is no list of eight numbers")) {
        return false;
    }
    for (unsigned i = 0; i < 8; i++) {
        event->sem |= (uint64_t)values[i] << 8 * i;
    }
    return true;
}

/* Keeps a member that is not of this version. The room suffices: it stood in the line with more
 * around it. */
static void keep(struct jsonl_parser *parser, const struct json_member *member)
{
    size_t size;
    const char *raw = json_raw(&member->key, &size);
    char *to = parser->extra + parser->extra_size;
    if (parser->extra_size > 0) {
        *to++ = ',';
    }
    to = (char *)memcpy(to, raw, size) + size;
    *to++ = ':';
    raw = json_raw(&member->value, &size);
    to = (char *)memcpy(to, raw, size) + size;
    parser->extra_size = (size_t)(to - parser->extra);
}

/* `data` may come after `head`: they are turned into bytes when it is known which of them counts.
 */
static bool note_bytes(struct jsonl_parser *parser, const struct json_member *member,
                       enum nocap_field field)
{
    if (member->value.type != JSON_STRING) {
        return bad(parser, member, "is no string");
    }
    if (field == NOCAP_FIELD_HEAD) {
        parser->head = member;
    } else {
        parser->data = member;
    }
    return true;
}

static bool read_integer(struct jsonl_parser *parser, const struct json_member *member,
                         unsigned width, char *to)
{
    uint64_t number = 0;
    uint64_t max = width == 1 ? UINT8_MAX : UINT64_MAX;
    bool ok = read_number(parser, member, &member->value, max, &number);
    if (width == 1) {
        *(uint8_t *)to = (uint8_t)number;
    } else {
        memcpy(to, &number, sizeof number);
    }
    return ok;
}

static bool read_field(struct jsonl_parser *parser, const struct json_member *member,
                       enum nocap_field field, unsigned half, struct nocap_event *event)
{
    const struct nocap_field_info *info = &nocap_fields[field];
    const struct json_value *value = &member->value;
    char *to = (char *)event + info->offset;
    event->has |= info->type == NOCAP_T_BYTES ? 0 : UINT64_C(1) << field;
    switch ((enum nocap_field_type)info->type) {
    case NOCAP_T_DEC:
    case NOCAP_T_HEX: return read_integer(parser, member, info->width, to);
    case NOCAP_T_PAIR:
        parser->halves[half] |= UINT64_C(1) << field;
        return read_integer(parser, member, 1, to + half);
    case NOCAP_T_XY: return read_list(parser, member, (uint8_t *)to, 2, "is no list [x,y]");
    case NOCAP_T_SEM: return read_semaphores(parser, member, event);
    case NOCAP_T_BOOL:
        *(uint8_t *)to = value->type == JSON_TRUE;
        return value->type == JSON_TRUE || value->type == JSON_FALSE ||
               bad(parser, member, "is neither true nor false");
    case NOCAP_T_BYTES: return note_bytes(parser, member, field);
    case NOCAP_T_TEXT:
        if (value->type != JSON_STRING) {
            return bad(parser, member, "is no string");
        }
        event->data_size = (uint32_t)json_unescape(value, (char *)parser->payload);
        event->data = parser->payload;
        return true;
    case NOCAP_T_HASH:
        if (!read_hash(value, &event->hash)) {
            event->has &= ~(UINT64_C(1) << field);
            keep(parser, member);
        }
        return value->type == JSON_STRING || bad(parser, member, "is no string");
    default: return read_name(parser, member, field, (uint8_t *)to);
    }
}
_Static_assert(offsetof(struct nocap_xy, x) == 0 && offsetof(struct nocap_xy, y) == 1,
               "a pair is two bytes, x first");

static bool read_op(struct jsonl_parser *parser, const struct json_member *member,
                    struct nocap_event *event)
{
    char plain[NAME_MAX_WRITTEN];
    unsigned size;
    const char *text = name_text(&member->value, plain, &size);
    int op = text != NULL ? nocap_op_from_name(text, size) : -1;
    if (op < 0 || (nocap_kind_ops((enum nocap_kind)event->kind) >> op & 1) == 0) {
        return bad(parser, member, "is none of this kind of event");
    }
    event->op = (uint8_t)op;
    return true;
}

static bool read_payload(struct jsonl_parser *parser, struct nocap_event *event)
{
    const struct json_member *member = parser->data != NULL ? parser->data : parser->head;
    if (parser->data != NULL && parser->head != NULL) {
        keep(parser, parser->head);
    }
    if (member == NULL) {
        return true;
    }
    const char *digits = member->value.text;
    size_t size = member->value.size;
    if (member->value.escaped) {
        size = json_unescape(&member->value, (char *)parser->payload);
        digits = (const char *)parser->payload;
    }
    if (!json_hex_bytes(digits, size, parser->payload)) {
        return bad(parser, member, "is no string of pairs of hex digits");
    }
    event->data = parser->payload;
    event->data_size = (uint32_t)(size / 2);
    event->has |= event->kind == NOCAP_EV_CERT ? F(INSN)
                  : member == parser->data     ? F(DATA)
                                               : F(HEAD);
    return true;
}

/* The members of a known kind. */
static bool read_members(struct jsonl_parser *parser, struct nocap_event *event)
{
    bool has_ops = nocap_kind_ops((enum nocap_kind)event->kind) != 0;
    parser->data = parser->head = NULL;
    parser->halves[0] = parser->halves[1] = 0;
    for (unsigned i = 0; i < parser->m.count; i++) {
        const struct json_member *member = &parser->m.list[i];
        const struct jsonl_key *key = parser->m.keys[i];
        bool ok = true;
        if (key == NULL) {
            keep(parser, member);
        } else if (key->role == KEY_OP && has_ops) {
            ok = read_op(parser, member, event);
        } else if (key->field[event->kind] != JSONL_NO_FIELD) {
            ok = read_field(parser, member, (enum nocap_field)key->field[event->kind], key->half,
                            event);
        } else if (key->role == KEY_FIELD || key->role == KEY_OP) {
            keep(parser, member);
        }
        if (!ok) {
            return false;
        }
    }
    if (parser->halves[0] != parser->halves[1]) {
        return jsonl_malformed(&parser->m, "one half of a pair of coordinates is missing");
    }
    return read_payload(parser, event);
}

/* `number` keeps its value if the key is not there or its value is no good. */
static bool read_role(struct jsonl_parser *parser, enum jsonl_role role, uint64_t max,
                      uint64_t *number)
{
    const struct json_member *member = parser->m.role[role];
    uint64_t v;
    if (member == NULL) {
        return true;
    }
    if (!read_number(parser, member, &member->value, max, &v)) {
        return false;
    }
    *number = v;
    return true;
}

/* t, src and chip, which order the events even where the rest cannot be read. */
static bool read_common(struct jsonl_parser *parser, struct nocap_event *event)
{
    uint64_t t = parser->t_before, src = 0, chip = 0;
    bool ok = read_role(parser, KEY_SRC, UINT32_MAX, &src);
    ok = read_role(parser, KEY_CHIP, UINT16_MAX, &chip) && ok;
    ok = read_role(parser, KEY_T, UINT64_MAX, &t) && ok;
    *event = (struct nocap_event){.t = t, .src = (uint32_t)src, .chip = (uint16_t)chip};
    return ok;
}

static bool read_kind(struct jsonl_parser *parser, struct nocap_event *event)
{
    char plain[NAME_MAX_WRITTEN];
    unsigned size;
    const struct json_member *member = parser->m.role[KEY_EV];
    if (member == NULL) {
        return jsonl_malformed(&parser->m, "\"ev\" is missing");
    }
    if (member->value.type != JSON_STRING) {
        return bad(parser, member, "is no string");
    }
    const char *text = name_text(&member->value, plain, &size);
    int kind = text != NULL ? nocap_kind_from_name(text, size) : -1;
    /* The names of UNKNOWN and MALFORMED are for people; a trace that has them as kinds has unknown
     * kinds. */
    event->kind = kind >= 0 && kind < NOCAP_EV_UNKNOWN ? (uint8_t)kind : NOCAP_EV_UNKNOWN;
    return true;
}

static const char too_large[] = "the event holds more than 8 MiB";
_Static_assert(NOCAP_PAYLOAD_MAX == 8 << 20, "as the message says");

static bool read_event(struct jsonl_parser *parser, const struct jsonl_line *line,
                       struct nocap_event *event)
{
    if (jsonl_shapes_read(&parser->shapes, line->text, line->size, parser->payload, event)) {
        return true;
    }
    bool whole = jsonl_take_apart(&parser->m, line->text, line->size);
    bool common = read_common(parser, event);
    parser->extra_size = 0;
    if (!whole || !common || !read_kind(parser, event)) {
        return false;
    }
    if (event->kind == NOCAP_EV_UNKNOWN) {
        return line->size <= NOCAP_PAYLOAD_MAX || jsonl_malformed(&parser->m, too_large);
    }
    if (parser->m.role[KEY_T] == NULL) {
        return jsonl_malformed(&parser->m, "\"t\" is missing");
    }
    if (!read_members(parser, event)) {
        return false;
    }
    if (event->data_size > NOCAP_PAYLOAD_MAX || parser->extra_size > NOCAP_PAYLOAD_MAX) {
        return jsonl_malformed(&parser->m, too_large);
    }
    if (parser->extra_size > 0) {
        event->extra = parser->extra;
        event->extra_size = (uint32_t)parser->extra_size;
    }
    jsonl_shapes_learn(&parser->shapes, &parser->m, line->text, line->size, event);
    return true;
}

/* How much is kept of a line that is too long. What is kept is no whole object, lest it be taken
 * for an event when it is printed and read again. A line begins with no white space, so that its
 * first character stays. */
static size_t cut_size(const struct jsonl_line *line)
{
    size_t size = line->size < JSONL_TEXT_KEPT ? line->size : JSONL_TEXT_KEPT;
    bool object = line->text[0] == '{';
    for (;; size--) {
        char last = line->text[size - 1];
        if (last != ' ' && last != '\t' && last != '\r' && !(object && last == '}')) {
            return size;
        }
    }
}

/* The event is the line as it stands. */
static void keep_line(struct jsonl_parser *parser, const struct jsonl_line *line,
                      enum nocap_kind kind, struct nocap_event *event)
{
    char why[sizeof parser->m.why];
    size_t size = line->size;
    memcpy(why, parser->m.why, sizeof why);
    if (line->too_long || size > NOCAP_PAYLOAD_MAX) {
        /* What t and src are must not depend on what is cut off. */
        size = cut_size(line);
        (void)jsonl_take_apart(&parser->m, line->text, size);
    }
    (void)read_common(parser, event);
    event->kind = (uint8_t)kind;
    event->data = (const uint8_t *)line->text;
    event->data_size = (uint32_t)size;
    memcpy(parser->m.why, why, sizeof why);
}

/* Room for what an event of this line can hold. */
static enum nocap_status reserve(struct jsonl_parser *parser, const struct jsonl_line *line,
                                 struct nocap_error *err)
{
    size_t capacity = 4096;
    if (line->size <= parser->capacity) {
        return NOCAP_OK;
    }
    while (capacity < line->size) {
        capacity *= 2;
    }
    parser->capacity = 0;
    free(parser->payload);
    free(parser->extra);
    parser->payload = malloc(capacity);
    parser->extra = malloc(capacity);
    RETURN_ERROR_IF(parser->payload == NULL || parser->extra == NULL, err, NOCAP_E_MEMORY,
                    "out of memory for line %llu of %zu bytes", (unsigned long long)line->number,
                    line->size);
    parser->capacity = capacity;
    return NOCAP_OK;
}

enum nocap_status jsonl_parse_event(struct jsonl_parser *parser, const struct jsonl_line *line,
                                    struct nocap_event *event, struct nocap_error *err)
{
    RETURN_IF_FAILED(reserve(parser, line, err));
    bool ok = line->too_long ? jsonl_malformed(&parser->m, "the line is longer than 20 MiB")
                             : read_event(parser, line, event);
    if (!ok) {
        keep_line(parser, line, NOCAP_EV_MALFORMED, event);
    } else if (event->kind == NOCAP_EV_UNKNOWN) {
        keep_line(parser, line, NOCAP_EV_UNKNOWN, event);
    }
    parser->t_before = event->t;
    return NOCAP_OK;
}
_Static_assert(JSONL_LINE_MAX == 20 << 20, "as the message says");
