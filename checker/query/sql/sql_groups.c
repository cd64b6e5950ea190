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
    struct sql_group_sum *sums = realloc(g->sums, room * sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    memset(sums + g->room, 0, (room - g->room) * sizeof *sums);
    g->sums = sums;
    g->room = room;
    return true;
}

bool sql_grouping_add(struct sql_grouping *g, int trace, const struct nocap_event *e)
{
    const struct sql_group_key key = key_of(g, trace, e);
    if (!g->any || memcmp(&key, &g->latest, sizeof key) != 0) {
        const struct sql_group_key *row = MAP_GET(g->groups, &key, GROUPS_MAX);
        uint32_t number = row != NULL ? (uint32_t)(row - g->groups->rows) : 0;
        if (row == NULL || !make_room(g, number)) {
            return false;
        }
        g->any = true;
        g->latest = key;
        g->latest_number = number;
    }
    g->sums[g->latest_number].events++;
    g->sums[g->latest_number].bytes += (e->has >> NOCAP_FIELD_SIZE & 1) != 0 ? e->size : 0;
    return true;
}

/* ---- order ---- */

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

/* Of texts "" is NULL, which comes first. */
static int compare_fixed(enum sql_group_by by, uint64_t key_a, uint64_t key_b)
{
    int trace;
    const struct nocap_event of_a = event_of(key_a, &trace), of_b = event_of(key_b, &trace);
    const struct nocap_event *a = &of_a, *b = &of_b;
    char first[8], second[8];
    switch (by) {
    case SQL_BY_CHIP: return (int)a->chip - (int)b->chip;
    case SQL_BY_KIND: return strcmp(nocap_kind_name(a->kind), nocap_kind_name(b->kind));
    case SQL_BY_OP: return strcmp(nocap_op_name(a->op), nocap_op_name(b->op));
    case SQL_BY_AGENT:
        return strcmp((a->has & NOCAP_F_BY) != 0 ? nocap_agent_name(a->by) : "",
                      (b->has & NOCAP_F_BY) != 0 ? nocap_agent_name(b->by) : "");
    case SQL_BY_TILE:
        place_text(first, a);
        place_text(second, b);
        return strcmp(first, second);
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
    const struct sql_group_key *a = &s->g->groups->rows[*(const uint32_t *)first];
    const struct sql_group_key *b = &s->g->groups->rows[*(const uint32_t *)second];
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
        if (g->sums[i].events != 0) {
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
        g->left = g->once ? 1 : g->sums[g->group].events;
        *e = event_of(g->groups->rows[g->group].fixed, trace);
    }
    g->left--;
    *id = (int64_t)((uint64_t)g->group << ID_EVENTS | g->left);
    return true;
}

bool sql_grouping_number(const struct sql_grouping *g, enum nocap_field field, int64_t *number)
{
    const struct sql_group_key *key = &g->groups->rows[g->group];
    const unsigned i = g->field[0] == field ? 0 : 1;
    *number = (int64_t)key->number[i];
    return (key->fixed >> (HAS_NUMBER + i) & 1) != 0;
}

void sql_grouping_free(struct sql_grouping *g)
{
    free(g->sums);
    free(g->order);
    *g = (struct sql_grouping){.groups = g->groups};
}
