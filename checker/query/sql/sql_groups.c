/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/sql/sql_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is fixed of a key, from its lowest bit on. */
enum {
    OP_AT = 4,
    AGENT_AT = OP_AT + 5,
    HAS_AGENT = AGENT_AT + 7,
    HAS_NUMBER,
    HAS_OTHER,
    X_AT,
    Y_AT = X_AT + 8,
    HAS_PLACE = Y_AT + 8,
    CHIP_AT,
    TRACE_AT = CHIP_AT + 16,
    KEY_BITS = TRACE_AT + 12,
};
_Static_assert(KEY_BITS == 64, "a key is a number");
_Static_assert((int)NOCAP_EV_COUNT <= 1 << OP_AT && (int)NOCAP_OP_COUNT <= 32 &&
                   (int)NOCAP_BY_COUNT <= 1 << 7,
               "they fit");

enum { GROUPS_MAX = 1 << 24, ID_EVENTS = 38 };

void sql_groups_free(struct sql_groups *groups)
{
    free(groups->keys);
    free(groups->slots);
    *groups = (struct sql_groups){NULL, NULL, 0, 0};
}

static bool is_same(const struct sql_group_key *a, const struct sql_group_key *b)
{
    return a->fixed == b->fixed && memcmp(a->number, b->number, sizeof a->number) == 0;
}

static uint32_t slot_of(const struct sql_groups *g, const struct sql_group_key *key)
{
    const uint64_t all = key->fixed ^ key->number[0] * UINT64_C(0xC2B2AE3D27D4EB4F) ^
                         key->number[1] * UINT64_C(0x165667B19E3779F9);
    uint32_t slot = (uint32_t)((all * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & g->mask;
    while (g->slots[slot] != 0 && !is_same(&g->keys[g->slots[slot] - 1], key)) {
        slot = (slot + 1) & g->mask;
    }
    return slot;
}

static bool grow(struct sql_groups *g)
{
    uint32_t room = g->slots == NULL ? 256 : 2 * (g->mask + 1);
    uint32_t *slots = room > 2 * GROUPS_MAX ? NULL : calloc(room, sizeof *slots);
    struct sql_group_key *keys = slots == NULL ? NULL : realloc(g->keys, room / 2 * sizeof *keys);
    if (keys == NULL) {
        free(slots);
        return false;
    }
    free(g->slots);
    g->keys = keys;
    g->slots = slots;
    g->mask = room - 1;
    for (uint32_t i = 0; i < g->count; i++) {
        g->slots[slot_of(g, &keys[i])] = i + 1;
    }
    return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t number_of(struct sql_groups *g, const struct sql_group_key *key)
{
    if ((g->slots == NULL || g->count == (g->mask + 1) / 2) && !grow(g)) {
        return UINT32_MAX;
    }
    uint32_t slot = slot_of(g, key);
    if (g->slots[slot] == 0) {
        g->keys[g->count] = *key;
        g->slots[slot] = ++g->count;
    }
    return g->slots[slot] - 1;
}

/* Without the numbers. */
static uint64_t fixed_of(uint32_t by, int trace, const struct nocap_event *e)
{
    uint64_t key = 0;
    bool place = (e->has & NOCAP_F_AT) != 0;
    bool x = (by & (1u << SQL_BY_TILE | 1u << SQL_BY_X)) != 0;
    bool y = (by & (1u << SQL_BY_TILE | 1u << SQL_BY_Y)) != 0;
    if ((by >> SQL_BY_TRACE & 1) != 0) {
        key |= (uint64_t)trace << TRACE_AT;
    }
    if ((by >> SQL_BY_CHIP & 1) != 0) {
        key |= (uint64_t)e->chip << CHIP_AT;
    }
    if ((by >> SQL_BY_KIND & 1) != 0) {
        key |= e->kind;
    }
    if ((by >> SQL_BY_OP & 1) != 0) {
        key |= (uint64_t)e->op << OP_AT;
    }
    if ((by >> SQL_BY_AGENT & 1) != 0 && (e->has & NOCAP_F_BY) != 0) {
        key |= (uint64_t)e->by << AGENT_AT | UINT64_C(1) << HAS_AGENT;
    }
    if (place && (x || y)) {
        key |= UINT64_C(1) << HAS_PLACE | (x ? (uint64_t)e->at.x << X_AT : 0) |
               (y ? (uint64_t)e->at.y << Y_AT : 0);
    }
    return key;
}

static struct sql_group_key key_of(const struct sql_grouping *g, int trace,
                                   const struct nocap_event *e)
{
    struct sql_group_key key = {fixed_of(g->by, trace, e), {0}};
    for (unsigned i = 0; i < SQL_NUMBERS; i++) {
        if ((g->by >> (SQL_BY_NUMBER + i) & 1) != 0 && (e->has >> g->field[i] & 1) != 0) {
            key.fixed |= UINT64_C(1) << (HAS_NUMBER + i);
            key.number[i] = nocap_event_number(e, (enum nocap_field)g->field[i]);
        }
    }
    return key;
}

static struct nocap_event event_of(uint64_t key, int *trace)
{
    struct nocap_event e = nocap_event_of((enum nocap_kind)(key & 0xf));
    e.op = (uint8_t)(key >> OP_AT & 0x1f);
    e.by = (uint8_t)(key >> AGENT_AT & 0x7f);
    e.at = (struct nocap_xy){(uint8_t)(key >> X_AT), (uint8_t)(key >> Y_AT)};
    e.chip = (uint16_t)(key >> CHIP_AT);
    e.has = ((key >> HAS_AGENT & 1) != 0 ? NOCAP_F_BY : 0) |
            ((key >> HAS_PLACE & 1) != 0 ? NOCAP_F_AT : 0);
    *trace = (int)(key >> TRACE_AT);
    return e;
}

static bool make_room(struct sql_grouping *g, uint32_t number)
{
    if (number < g->room) {
        return true;
    }
    uint32_t room = 2 * number + 64;
    uint64_t *counts = realloc(g->counts, room * sizeof *counts);
    if (counts == NULL) {
        return false;
    }
    g->counts = counts;
    uint64_t *sizes = realloc(g->sizes, room * sizeof *sizes);
    if (sizes == NULL) {
        return false;
    }
    g->sizes = sizes;
    memset(counts + g->room, 0, (room - g->room) * sizeof *counts);
    memset(sizes + g->room, 0, (room - g->room) * sizeof *sizes);
    g->room = room;
    return true;
}

bool sql_grouping_add(struct sql_grouping *g, int trace, const struct nocap_event *e)
{
    const struct sql_group_key key = key_of(g, trace, e);
    if (!g->any || !is_same(&key, &g->latest)) {
        uint32_t number = number_of(g->groups, &key);
        if (number == UINT32_MAX || !make_room(g, number)) {
            return false;
        }
        g->any = true;
        g->latest = key;
        g->latest_number = number;
    }
    g->counts[g->latest_number]++;
    g->sizes[g->latest_number] += (e->has >> NOCAP_FIELD_SIZE & 1) != 0 ? e->size : 0;
    return true;
}

/* ---- order ---- */

static int compare_text(const char *a, const char *b)
{
    return strcmp(a, b); /* "" is NULL, which comes first */
}

static void place_text(char text[8], const struct nocap_event *e)
{
    text[0] = 0;
    if ((e->has & NOCAP_F_AT) != 0) {
        snprintf(text, 8, "%u,%u", e->at.x, e->at.y);
    }
}

static int place_number(const struct nocap_event *e, bool x)
{
    return (e->has & NOCAP_F_AT) == 0 ? -1 : x ? e->at.x : e->at.y;
}

static int compare_fixed(enum sql_group_by by, uint64_t key_a, uint64_t key_b)
{
    int trace;
    const struct nocap_event of_a = event_of(key_a, &trace), of_b = event_of(key_b, &trace);
    const struct nocap_event *a = &of_a, *b = &of_b;
    char first[8], second[8];
    switch (by) {
    case SQL_BY_CHIP: return (int)a->chip - (int)b->chip;
    case SQL_BY_KIND: return compare_text(nocap_kind_name(a->kind), nocap_kind_name(b->kind));
    case SQL_BY_OP: return compare_text(nocap_op_name(a->op), nocap_op_name(b->op));
    case SQL_BY_AGENT:
        return compare_text((a->has & NOCAP_F_BY) != 0 ? nocap_agent_name(a->by) : "",
                            (b->has & NOCAP_F_BY) != 0 ? nocap_agent_name(b->by) : "");
    case SQL_BY_TILE:
        place_text(first, a);
        place_text(second, b);
        return compare_text(first, second);
    default: return place_number(a, by == SQL_BY_X) - place_number(b, by == SQL_BY_X);
    }
}

/* As SQL has them: NULL first, and those above 2^63 are negative. */
static int compare_numbers(unsigned i, const struct sql_group_key *a, const struct sql_group_key *b)
{
    const bool has_a = (a->fixed >> (HAS_NUMBER + i) & 1) != 0;
    const bool has_b = (b->fixed >> (HAS_NUMBER + i) & 1) != 0;
    const int64_t first = (int64_t)a->number[i], second = (int64_t)b->number[i];
    return !has_a || !has_b ? (int)has_a - (int)has_b : (first > second) - (first < second);
}

struct sorting {
    const struct sql_grouping *g;
    const char *columns;
};

static int compare(const void *first, const void *second, void *context)
{
    const struct sorting *s = context;
    const struct sql_group_key *a = &s->g->groups->keys[*(const uint32_t *)first];
    const struct sql_group_key *b = &s->g->groups->keys[*(const uint32_t *)second];
    for (const char *column = s->columns; *column != 0; column++) {
        bool falls = *column >= 'A';
        enum sql_group_by by = (enum sql_group_by)(*column - (falls ? 'A' : '0'));
        int order = by >= SQL_BY_NUMBER ? compare_numbers(by - SQL_BY_NUMBER, a, b)
                                        : compare_fixed(by, a->fixed, b->fixed);
        if (order != 0) {
            return falls ? -order : order;
        }
    }
    return 0;
}

bool sql_grouping_sort(struct sql_grouping *g, const char *columns)
{
    struct sorting sorting = {g, columns};
    g->order = calloc(g->room + 1, sizeof *g->order);
    if (g->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < g->room; i++) {
        if (g->counts[i] != 0) {
            g->order[g->used++] = i;
        }
    }
    if (columns[0] != 0 && g->used > 1) {
        qsort_r(g->order, g->used, sizeof *g->order, compare, &sorting);
    }
    return true;
}

bool sql_grouping_next(struct sql_grouping *g, struct nocap_event *e, int *trace, int64_t *id)
{
    if (g->left == 0) {
        if (g->next == g->used) {
            return false;
        }
        g->group = g->order[g->next++];
        g->left = g->once ? 1 : g->counts[g->group];
        *e = event_of(g->groups->keys[g->group].fixed, trace);
    }
    g->left--;
    *id = (int64_t)((uint64_t)g->group << ID_EVENTS | g->left);
    return true;
}

bool sql_grouping_number(const struct sql_grouping *g, enum nocap_field field, int64_t *number)
{
    const struct sql_group_key *key = &g->groups->keys[g->group];
    const unsigned i = g->field[0] == field ? 0 : 1;
    *number = (int64_t)key->number[i];
    return (key->fixed >> (HAS_NUMBER + i) & 1) != 0;
}

void sql_grouping_free(struct sql_grouping *g)
{
    free(g->counts);
    free(g->sizes);
    free(g->order);
    *g = (struct sql_grouping){.groups = g->groups};
}
