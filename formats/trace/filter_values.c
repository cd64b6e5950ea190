/* SPDX-License-Identifier: Apache-2.0 */
/* Filter expressions: the names of fields and the values that they are compared with. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "formats/trace/filter_compiler.h"

enum { SEM_COUNT = 8, QUOTED_MAX = 40 };

static enum nocap_status advance(struct filter_compiler *c)
{
    return filter_next(&c->lexer, c->err);
}

bool filter_word_is(const struct filter_token *token, const char *text)
{
    return token->kind == TOKEN_WORD && strlen(text) == token->length &&
           memcmp(token->text, text, token->length) == 0;
}

/* ---- numbers ---- */

enum nocap_status filter_unwanted(struct filter_compiler *c, const char *wanted)
{
    const struct filter_token *token = &c->lexer.token;
    if (token->kind == TOKEN_END) {
        return filter_error(&c->lexer, token->text, c->err, "%s is missing here", wanted);
    }
    return filter_error(&c->lexer, token->text, c->err, "'%.*s' is not %s",
                        (int)(token->length < QUOTED_MAX ? token->length : QUOTED_MAX), token->text,
                        wanted);
}

static int digit_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool number_from(const char *text, size_t length, unsigned base, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_value(text[i]);
        uint64_t shifted;
        if (digit < 0 || digit >= (int)base || __builtin_mul_overflow(*v, base, &shifted) ||
            __builtin_add_overflow(shifted, (uint64_t)digit, v)) {
            return false;
        }
    }
    return length > 0;
}

static enum nocap_status parse_number(struct filter_compiler *c, uint64_t *v)
{
    const struct filter_token *token = &c->lexer.token;
    bool hex = token->length > 2 && token->text[0] == '0' && (token->text[1] | 0x20) == 'x';
    size_t skip = hex ? 2 : 0;
    if (token->kind != TOKEN_WORD ||
        !number_from(token->text + skip, token->length - skip, hex ? 16 : 10, v)) {
        return filter_unwanted(c, "a number of at most 64 bits");
    }
    return advance(c);
}

/* ---- names ---- */

#define NUMBER_AT(member)                                                                          \
    .offset = offsetof(struct nocap_event, member),                                                \
    .width = sizeof(((struct nocap_event *)0)->member)

/* What is no row of fields.def. */
static const struct {
    const char *name;
    struct filter_meaning meaning;
} common[] = {
    {"index", {.test = {.kinds = NOCAP_K_ALL, NUMBER_AT(index)}, .type = VALUE_NUMBER}},
    {"t", {.test = {.kinds = NOCAP_K_ALL, NUMBER_AT(t)}, .type = VALUE_NUMBER}},
    {"src", {.test = {.kinds = NOCAP_K_ALL, NUMBER_AT(src)}, .type = VALUE_NUMBER}},
    {"chip", {.test = {.kinds = NOCAP_K_ALL, NUMBER_AT(chip)}, .type = VALUE_NUMBER}},
    {"ev", {.test = {.kinds = NOCAP_K_ALL, NUMBER_AT(kind)}, .type = VALUE_KIND}},
    {"op", {.test = {NUMBER_AT(op)}, .type = VALUE_OP}}, /* kinds: those that have operations */
};

static enum filter_value_type value_type(const struct nocap_field_info *info)
{
    switch (info->type) {
    case NOCAP_T_DEC:
    case NOCAP_T_HEX:
    case NOCAP_T_SEM: return VALUE_NUMBER;
    case NOCAP_T_BOOL: return VALUE_BOOL;
    case NOCAP_T_PAIR:
    case NOCAP_T_XY: return VALUE_PAIR;
    case NOCAP_T_BYTES: return VALUE_HEX_BYTES;
    case NOCAP_T_TEXT: return VALUE_TEXT;
    case NOCAP_T_HASH: return VALUE_HASH;
    default: return VALUE_NAME;
    }
}

static struct filter_meaning field_meaning(enum nocap_field field)
{
    const struct nocap_field_info *info = &nocap_fields[field];
    struct filter_meaning m = {.type = value_type(info), .field = field};
    m.test.has = UINT64_C(1) << field;
    m.test.kinds = info->kinds;
    m.test.offset = info->offset;
    m.test.width = (uint8_t)info->width;
    m.test.is_bytes = m.type == VALUE_HEX_BYTES || m.type == VALUE_TEXT;
    if (field == NOCAP_FIELD_SPACE || field == NOCAP_FIELD_PHASE) {
        m.test.default_kinds = info->kinds;
    }
    return m;
}

static void add_meaning(struct filter_name *name, struct filter_meaning meaning)
{
    if (name->count < FILTER_MEANINGS_MAX) {
        name->meanings[name->count++] = meaning;
    }
}

/* A row with the key "x,y" is two numbers for the names x and y. */
static void add_half_of_pair(struct filter_name *name, enum nocap_field field)
{
    const char *key = nocap_fields[field].key;
    const char *comma = strchr(key, ',');
    struct filter_token first = {TOKEN_WORD, key, (size_t)(comma - key)};
    bool is_second = filter_word_is(&name->token, comma + 1);
    if (is_second || (first.length == name->token.length &&
                      memcmp(first.text, name->token.text, first.length) == 0)) {
        struct filter_meaning m = field_meaning(field);
        m.type = VALUE_NUMBER;
        m.test.width = sizeof(uint8_t);
        m.test.offset = (uint16_t)(m.test.offset + (is_second ? offsetof(struct nocap_xy, y)
                                                              : offsetof(struct nocap_xy, x)));
        add_meaning(name, m);
    }
}

static bool is_name(const struct filter_token *token, const char *name_of(unsigned), unsigned count)
{
    bool found = false;
    for (unsigned i = 0; i < count && !found; i++) {
        found = token->length > 0 && filter_word_is(token, name_of(i));
    }
    return found;
}

/* The name of a field's value is often meant as a filter. */
static enum nocap_status no_field(const struct filter_compiler *c, const struct filter_token *token)
{
    const int size = token->length < QUOTED_MAX ? (int)token->length : QUOTED_MAX;
    const char *field = is_name(token, nocap_kind_name, NOCAP_EV_COUNT)    ? "ev"
                        : is_name(token, nocap_op_name, NOCAP_OP_COUNT)    ? "op"
                        : is_name(token, nocap_agent_name, NOCAP_BY_COUNT) ? "by"
                                                                           : NULL;
    return field == NULL ? filter_error(&c->lexer, token->text, c->err,
                                        "no field is called '%.*s': fields are the keys of JSON "
                                        "Lines, such as ev, op, by, tile, addr",
                                        size, token->text)
                         : filter_error(&c->lexer, token->text, c->err,
                                        "no field is called '%.*s': %s==%.*s?", size, token->text,
                                        field, size, token->text);
}

static enum nocap_status look_up(struct filter_compiler *c, struct filter_name *name)
{
    *name = (struct filter_name){.token = c->lexer.token};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        if (filter_word_is(&name->token, common[i].name)) {
            struct filter_meaning m = common[i].meaning;
            for (unsigned kind = 0; m.type == VALUE_OP && kind < NOCAP_EV_COUNT; kind++) {
                m.test.kinds |=
                    nocap_kind_ops((enum nocap_kind)kind) != 0 ? UINT32_C(1) << kind : 0;
            }
            add_meaning(name, m);
        }
    }
    if (filter_word_is(&name->token, "tile")) {
        add_meaning(name, field_meaning(NOCAP_FIELD_AT));
    }
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
        if (filter_word_is(&name->token, nocap_fields[field].key)) {
            add_meaning(name, field_meaning((enum nocap_field)field));
        } else if (nocap_fields[field].type == NOCAP_T_PAIR) {
            add_half_of_pair(name, (enum nocap_field)field);
        }
    }
    if (name->count == 0) {
        return no_field(c, &name->token);
    }
    return advance(c);
}

/* sem[2]: one of the eight values that an `issue` carries. */
static enum nocap_status parse_index(struct filter_compiler *c, struct filter_name *name)
{
    static const bool little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    struct filter_meaning *m = &name->meanings[0];
    if (m->test.has != NOCAP_F_SEM) {
        return filter_error(&c->lexer, c->lexer.token.text, c->err,
                            "only sem takes an index: sem[0] .. sem[%d]", SEM_COUNT - 1);
    }
    RETURN_IF_FAILED(advance(c));
    const char *at = c->lexer.token.text;
    uint64_t i;
    RETURN_IF_FAILED(parse_number(c, &i));
    if (i >= SEM_COUNT || c->lexer.token.kind != TOKEN_CLOSE_INDEX) {
        return filter_error(&c->lexer, at, c->err, "semaphores are sem[0] .. sem[%d]",
                            SEM_COUNT - 1);
    }
    m->test.kinds = NOCAP_K_TENSIX;
    m->test.width = sizeof(uint8_t);
    m->test.offset = (uint16_t)(m->test.offset + (little_endian ? i : SEM_COUNT - 1 - i));
    return advance(c);
}

enum nocap_status filter_parse_name(struct filter_compiler *c, struct filter_name *name)
{
    RETURN_IF_FAILED(look_up(c, name));
    return c->lexer.token.kind == TOKEN_OPEN_INDEX ? parse_index(c, name) : NOCAP_OK;
}

/* ---- values ---- */

static enum nocap_status parse_hash(struct filter_compiler *c, uint64_t *v)
{
    static const char prefix[] = "fnv1a64:";
    const struct filter_token *token = &c->lexer.token;
    size_t skip = sizeof prefix - 1;
    bool named =
        token->kind == TOKEN_WORD && token->length > skip && memcmp(token->text, prefix, skip) == 0;
    skip += named && token->length > skip + 2 && memcmp(token->text + skip, "0x", 2) == 0 ? 2 : 0;
    if (!named || !number_from(token->text + skip, token->length - skip, 16, v)) {
        return filter_unwanted(c, "a hash fnv1a64:<hex digits>");
    }
    return advance(c);
}

static const char *name_of(const struct filter_meaning *m, unsigned v)
{
    switch (m->type) {
    case VALUE_KIND: return v < NOCAP_EV_COUNT ? nocap_kind_name(v) : NULL;
    case VALUE_OP: return v < NOCAP_OP_COUNT ? nocap_op_name(v) : NULL;
    default: return nocap_field_value_name(m->field, v);
    }
}

/* A name of an enum; where it is none, the message lists those there are. */
static enum nocap_status parse_enum(struct filter_compiler *c, const struct filter_meaning *m,
                                    uint64_t *v)
{
    enum { SHOWN_MAX = 32 };
    const struct filter_token *token = &c->lexer.token;
    int found = -1;
    unsigned length = token->length < 64 ? (unsigned)token->length : 0;
    if (token->kind == TOKEN_WORD && length > 0) {
        found = m->type == VALUE_KIND ? nocap_kind_from_name(token->text, length)
                : m->type == VALUE_OP ? nocap_op_from_name(token->text, length)
                                      : nocap_field_value_from_name(m->field, token->text, length);
    }
    if (found >= 0) {
        *v = (uint64_t)found;
        return advance(c);
    }
    char wanted[200] = "one of";
    size_t used = strlen(wanted);
    for (unsigned i = 0; i < SHOWN_MAX && used < sizeof wanted; i++) {
        const char *name = name_of(m, i);
        if (name != NULL && name[0] != '\0') {
            used += (size_t)snprintf(wanted + used, sizeof wanted - used, " %s", name);
        }
    }
    return filter_unwanted(c, wanted);
}

static enum nocap_status parse_bool(struct filter_compiler *c, uint64_t *v)
{
    *v = filter_word_is(&c->lexer.token, "true");
    if (*v == 0 && !filter_word_is(&c->lexer.token, "false")) {
        return filter_unwanted(c, "true or false");
    }
    return advance(c);
}

enum nocap_status filter_parse_scalar(struct filter_compiler *c, const struct filter_meaning *m,
                                      uint64_t *v)
{
    switch (m->type) {
    case VALUE_BOOL: return parse_bool(c, v);
    case VALUE_HASH: return parse_hash(c, v);
    case VALUE_KIND:
    case VALUE_OP:
    case VALUE_NAME: return parse_enum(c, m, v);
    default: return parse_number(c, v);
    }
}

/* Bytes go to the filter's texts, where `expression` has room for them: they are never longer than
 * their source. */
enum nocap_status filter_parse_bytes(struct filter_compiler *c, const struct filter_meaning *m,
                                     struct filter_test *test)
{
    const struct filter_token *token = &c->lexer.token;
    struct nocap_filter *filter = c->filter;
    uint8_t *to = filter->texts + filter->text_size;
    size_t size = 0;
    if (m->type == VALUE_HEX_BYTES) {
        if (token->kind != TOKEN_WORD || token->length % 2 != 0) {
            return filter_unwanted(c, "bytes, an even number of hex digits without 0x");
        }
        for (size_t i = 0; i < token->length; i += 2) {
            uint64_t byte;
            if (!number_from(token->text + i, 2, 16, &byte)) {
                return filter_unwanted(c, "bytes, an even number of hex digits without 0x");
            }
            to[size++] = (uint8_t)byte;
        }
    } else if (token->kind == TOKEN_STRING) {
        for (size_t i = 0; i < token->length; i++) {
            i += token->text[i] == '\\' && i + 1 < token->length ? 1 : 0;
            to[size++] = (uint8_t)token->text[i];
        }
    } else {
        return filter_unwanted(c, "a text in double quotes");
    }
    test->low = filter->text_size;
    test->high = size;
    filter->text_size += (uint32_t)size;
    return advance(c);
}

/* The meaning that fits the value in front of us. */
enum nocap_status filter_choose(struct filter_compiler *c, const struct filter_name *name,
                                const struct filter_meaning **meaning)
{
    struct filter_lexer ahead = c->lexer;
    bool is_pair = false;
    if (ahead.token.kind == TOKEN_WORD && digit_value(ahead.token.text[0]) >= 0) {
        RETURN_IF_FAILED(filter_next(&ahead, c->err));
        is_pair = ahead.token.kind == TOKEN_COMMA;
    }
    const struct filter_meaning *pair = NULL, *other = NULL;
    for (size_t i = 0; i < name->count; i++) {
        if (name->meanings[i].type == VALUE_PAIR) {
            pair = &name->meanings[i];
        } else if (other == NULL) {
            other = &name->meanings[i];
        }
    }
    *meaning = pair != NULL && (is_pair || other == NULL) ? pair : other;
    return NOCAP_OK;
}

enum nocap_status filter_parse_pair(struct filter_compiler *c, uint64_t xy[2])
{
    for (unsigned i = 0; i < 2; i++) {
        if (i == 1) {
            if (c->lexer.token.kind != TOKEN_COMMA) {
                return filter_unwanted(c, "a comma: a place is x,y");
            }
            RETURN_IF_FAILED(advance(c));
        }
        RETURN_IF_FAILED(parse_number(c, &xy[i]));
    }
    return NOCAP_OK;
}
