/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the event model, made from event.h and fields.def, and what they alone can say
 * about an event. */
#include "formats/trace/event.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

struct name {
    const char *text;
    size_t length;
};

#define NAME(text_)                                                                                \
    {                                                                                              \
        .text = (text_), .length = sizeof(text_) - 1                                               \
    }
#define X(name_, text_) NAME(text_),
static const struct name kind_names[] = {NOCAP_KINDS(X)};
static const struct name op_names[] = {NOCAP_OPS(X)};
static const struct name agent_names[] = {NOCAP_AGENTS(X)};
static const struct name space_names[] = {NOCAP_SPACES(X)};
static const struct name order_names[] = {NOCAP_ORDERS(X)};
static const struct name map_names[] = {NOCAP_MAPS(X)};
static const struct name phase_names[] = {NOCAP_PHASES(X)};
static const struct name unit_names[] = {NOCAP_UNITS(X)};
static const struct name bank_names[] = {NOCAP_BANKS(X)};
static const struct name side_names[] = {NOCAP_SIDES(X)};
static const struct name owner_names[] = {NOCAP_OWNERS(X)};
static const struct name why_names[] = {NOCAP_WHYS(X)};
#undef X

enum { UC_COUNT = 224 };
#define UC(n) "uc" #n
#define UCS(n)                                                                                     \
    UC(n##0), UC(n##1), UC(n##2), UC(n##3), UC(n##4), UC(n##5), UC(n##6), UC(n##7), UC(n##8),      \
        UC(n##9)
static const char uc_names[][6] = {
    UCS(),   UCS(1),  UCS(2),  UCS(3),  UCS(4),  UCS(5),  UCS(6),  UCS(7),  UCS(8),
    UCS(9),  UCS(10), UCS(11), UCS(12), UCS(13), UCS(14), UCS(15), UCS(16), UCS(17),
    UCS(18), UCS(19), UCS(20), UCS(21), UC(220), UC(221), UC(222), UC(223),
};
_Static_assert(sizeof uc_names / sizeof uc_names[0] == UC_COUNT, "one name for each uc<n>");
_Static_assert(NOCAP_BY_UC0 + UC_COUNT == UINT8_MAX + 1, "the agents fill one byte");
_Static_assert(NOCAP_BY_COUNT <= NOCAP_BY_UC0, "named agents come before uc0");

/* A field whose values have names. */
struct names {
    const struct name *row;
    unsigned count;
};
#define NAMES(table)                                                                               \
    {                                                                                              \
        (table), (unsigned)(sizeof(table) / sizeof(table)[0])                                      \
    }
static const struct names value_names[] = {
    [NOCAP_T_SPACE] = NAMES(space_names), [NOCAP_T_ORDER] = NAMES(order_names),
    [NOCAP_T_MAP] = NAMES(map_names),     [NOCAP_T_PHASE] = NAMES(phase_names),
    [NOCAP_T_UNIT] = NAMES(unit_names),   [NOCAP_T_BANK] = NAMES(bank_names),
    [NOCAP_T_SIDE] = NAMES(side_names),   [NOCAP_T_OWNER] = NAMES(owner_names),
    [NOCAP_T_WHY] = NAMES(why_names),
};

#define FIELD(NAME, key_, kinds_, type_, member, home_)                                            \
    [NOCAP_FIELD_##NAME] = {.key = key_,                                                           \
                            .kinds = (kinds_),                                                     \
                            .offset = offsetof(struct nocap_event, member),                        \
                            .width = sizeof(((struct nocap_event *)0)->member),                    \
                            .type = NOCAP_T_##type_,                                               \
                            .home = NOCAP_HOME_##home_},
const struct nocap_field_info nocap_fields[NOCAP_FIELD_COUNT] = {
#include "formats/trace/fields.def"
};
#undef FIELD

#define OP(name) (UINT64_C(1) << NOCAP_OP_##name)
static const uint64_t kind_ops[NOCAP_EV_COUNT] = {
    [NOCAP_EV_NOC] = OP(READ) | OP(WRITE) | OP(INLINE) | OP(ATOMIC),
    [NOCAP_EV_TENSIX] = OP(PUSH) | OP(ISSUE) | OP(STALL) | OP(RETIRE) | OP(UNIT) | OP(SRC),
    [NOCAP_EV_KERNEL] = OP(ENTER) | OP(EXIT),
    [NOCAP_EV_RESET] = OP(RUN) | OP(HALT),
    [NOCAP_EV_CQ] =
        OP(RECORD) | OP(FETCH) | OP(LANDED) | OP(RELAY) | OP(EXEC) | OP(DONE) | OP(CREDIT),
    [NOCAP_EV_CERT] = OP(START) | OP(END) | OP(BLOCK) | OP(UNBLOCK) | OP(JOB_END) | OP(PAGE_LOAD) |
                      OP(EOF) | OP(TCT) | OP(DMA_DONE),
};
#undef OP

const char *nocap_kind_name(unsigned kind)
{
    return kind < NOCAP_EV_COUNT ? kind_names[kind].text : "?";
}

const char *nocap_op_name(unsigned op)
{
    return op < NOCAP_OP_COUNT ? op_names[op].text : "?";
}

const char *nocap_agent_name(unsigned agent)
{
    if (agent < NOCAP_BY_COUNT) {
        return agent_names[agent].text;
    }
    return agent - NOCAP_BY_UC0 < UC_COUNT ? uc_names[agent - NOCAP_BY_UC0] : "?";
}

const char *nocap_space_name(unsigned space)
{
    return space < NOCAP_SPACE_COUNT ? space_names[space].text : "?";
}

/* NULL if the values of `type` have no names of this kind. */
static const struct names *names_of(unsigned type)
{
    if (type >= sizeof value_names / sizeof value_names[0] || value_names[type].count == 0) {
        return NULL;
    }
    return &value_names[type];
}

const char *nocap_field_value_name(enum nocap_field field, unsigned v)
{
    if ((unsigned)field >= NOCAP_FIELD_COUNT) {
        return NULL;
    }
    if (nocap_fields[field].type == NOCAP_T_AGENT) {
        bool named = (v > NOCAP_BY_NONE && v < NOCAP_BY_COUNT) || v - NOCAP_BY_UC0 < UC_COUNT;
        return named ? nocap_agent_name(v) : NULL;
    }
    const struct names *names = names_of(nocap_fields[field].type);
    return names != NULL && v < names->count ? names->row[v].text : NULL;
}

/* Names are written in small letters; others are read too. */
static int find_any_case(const struct name *names, unsigned count, const char *name,
                         unsigned length)
{
    for (unsigned i = 0; length > 0 && i < count; i++) {
        if (names[i].length == length && strncasecmp(names[i].text, name, length) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* The empty name, which stands for "none", is never found. */
static int find(const struct name *names, unsigned count, const char *name, unsigned length)
{
    for (unsigned i = 0; length > 0 && i < count; i++) {
        if (names[i].length == length && memcmp(names[i].text, name, length) == 0) {
            return (int)i;
        }
    }
    return find_any_case(names, count, name, length);
}

int nocap_kind_from_name(const char *name, unsigned length)
{
    return find(kind_names, NOCAP_EV_COUNT, name, length);
}

int nocap_op_from_name(const char *name, unsigned length)
{
    return find(op_names, NOCAP_OP_COUNT, name, length);
}

/* "uc<n>", the number without leading zeros. */
static int uc_from_name(const char *name, unsigned length)
{
    unsigned n = 0;
    if (length < 3 || length > 5 || memcmp(name, "uc", 2) != 0 || (name[2] == '0' && length > 3)) {
        return -1;
    }
    for (unsigned i = 2; i < length; i++) {
        if (name[i] < '0' || name[i] > '9') {
            return -1;
        }
        n = n * 10 + (unsigned)(name[i] - '0');
    }
    return n < UC_COUNT ? (int)(NOCAP_BY_UC0 + n) : -1;
}

int nocap_agent_from_name(const char *name, unsigned length)
{
    /* by the runtime's names of processors */
    static const struct name others[] = {NAME("dm0"), NAME("dm1"), NAME("trisc_0"), NAME("trisc_1"),
                                         NAME("trisc_2")};
    int agent = find(agent_names, NOCAP_BY_COUNT, name, length);
    int other = agent < 0 ? find(others, sizeof others / sizeof others[0], name, length) : -1;
    return agent >= 0   ? agent
           : other >= 0 ? (int)NOCAP_BY_BRISC + other
                        : uc_from_name(name, length);
}

int nocap_field_value_from_name(enum nocap_field field, const char *name, unsigned length)
{
    if ((unsigned)field >= NOCAP_FIELD_COUNT) {
        return -1;
    }
    if (nocap_fields[field].type == NOCAP_T_AGENT) {
        return nocap_agent_from_name(name, length);
    }
    const struct names *names = names_of(nocap_fields[field].type);
    return names != NULL ? find(names->row, names->count, name, length) : -1;
}

uint64_t nocap_kind_ops(enum nocap_kind kind)
{
    return (unsigned)kind < NOCAP_EV_COUNT ? kind_ops[kind] : 0;
}

/* Folds to a constant where `kind` is one. */
static inline __attribute__((always_inline)) uint64_t fields_of(unsigned kind)
{
    uint64_t fields = 0;
#define FIELD(NAME, key, kinds, type, member, home)                                                \
    fields |= (uint64_t)((((uint32_t)(kinds)) >> kind) & 1u) << NOCAP_FIELD_##NAME;
#include "formats/trace/fields.def"
#undef FIELD
    return fields;
}

uint64_t nocap_kind_fields(enum nocap_kind kind)
{
    switch (kind) {
#define X(name, text)                                                                              \
    case NOCAP_EV_##name: return fields_of(NOCAP_EV_##name);
        NOCAP_KINDS(X)
#undef X
    case NOCAP_EV_COUNT: break;
    }
    return 0;
}

static bool is_number(enum nocap_field field)
{
    if ((unsigned)field >= NOCAP_FIELD_COUNT) {
        return false;
    }
    unsigned type = nocap_fields[field].type;
    return type != NOCAP_T_BYTES && type != NOCAP_T_TEXT;
}

uint64_t nocap_event_number(const struct nocap_event *event, enum nocap_field field)
{
    if (!is_number(field)) {
        return 0;
    }
    const struct nocap_field_info *info = &nocap_fields[field];
    const char *member = (const char *)event + info->offset;
    struct nocap_xy xy;
    uint64_t v = 0;
    switch (info->width) {
    case sizeof(uint64_t): memcpy(&v, member, sizeof v); return v;
    case sizeof(struct nocap_xy): memcpy(&xy, member, sizeof xy); return xy.x | (uint64_t)xy.y << 8;
    default: return *(const uint8_t *)member;
    }
}

void nocap_event_set_number(struct nocap_event *event, enum nocap_field field, uint64_t v)
{
    if (!is_number(field)) {
        return;
    }
    const struct nocap_field_info *info = &nocap_fields[field];
    char *member = (char *)event + info->offset;
    struct nocap_xy xy = {.x = (uint8_t)v, .y = (uint8_t)(v >> 8)};
    switch (info->width) {
    case sizeof(uint64_t): memcpy(member, &v, sizeof v); break;
    case sizeof(struct nocap_xy): memcpy(member, &xy, sizeof xy); break;
    default: *(uint8_t *)member = (uint8_t)v; break;
    }
}

/* What nocap_event_number relies on: a numeric field is a slot, a place or one byte. */
#define FIELD(NAME, key, kinds, type, member, home)                                                \
    _Static_assert(sizeof(((struct nocap_event *)0)->member) == sizeof(uint64_t) ||                \
                       sizeof(((struct nocap_event *)0)->member) == sizeof(struct nocap_xy) ||     \
                       sizeof(((struct nocap_event *)0)->member) == 1,                             \
                   "width of " key);
#include "formats/trace/fields.def"
#undef FIELD
_Static_assert(NOCAP_FIELD_COUNT <= 64, "has is 64 bits wide");
_Static_assert(NOCAP_OP_COUNT <= 64, "a set of ops is 64 bits wide");
_Static_assert(NOCAP_EV_COUNT <= 32, "a set of kinds is 32 bits wide");
