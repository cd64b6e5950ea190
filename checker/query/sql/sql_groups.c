/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/sql/sql_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key, from its lowest bit on. */
enum {
    OP_AT = 4,
    AGENT_AT = OP_AT + 5,
    HAS_AGENT = AGENT_AT + 8,
    X_AT,
    Y_AT = X_AT + 8,
    HAS_PLACE = Y_AT + 8,
    CHIP_AT,
    TRACE_AT = CHIP_AT + 16,
    KEY_BITS = TRACE_AT + 13,
};
_Static_assert(KEY_BITS == 64, "a key is a number");
_Static_assert((int)NOCAP_EV_COUNT <= 1 << OP_AT && (int)NOCAP_OP_COUNT <= 32, "they fit");

enum { GROUPS_MAX = 1 << 20, ID_EVENTS = 43 };

void sql_groups_free(struct sql_groups *groups)
{
    free(groups->keys);
    free(groups->slots);
    *groups = (struct sql_groups){NULL, NULL, 0, 0};
}

static uint32_t slot_of(const struct sql_groups *g, uint64_t key)
{
    uint32_t slot = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & g->mask;
    while (g->slots[slot] != 0 && g->keys[g->slots[slot] - 1] != key) {
        slot = (slot + 1) & g->mask;
    }
    return slot;
}

static bool grow(struct sql_groups *g)
{
    uint32_t room = g->slots == NULL ? 256 : 2 * (g->mask + 1);
    uint32_t *slots = room > 2 * GROUPS_MAX ? NULL : calloc(room, sizeof *slots);
    uint64_t *keys = slots == NULL ? NULL : realloc(g->keys, room / 2 * sizeof *keys);
    if (keys == NULL) {
        free(slots);
        return false;
    }
    free(g->slots);
    g->keys = keys;
    g->slots = slots;
    g->mask = room - 1;
    for (uint32_t i = 0; i < g->count; i++) {
        g->slots[slot_of(g, keys[i])] = i + 1;
    }
    return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t number_of(struct sql_groups *g, uint64_t key)
{
    if ((g->slots == NULL || g->count == (g->mask + 1) / 2) && !grow(g)) {
        return UINT32_MAX;
    }
    uint32_t slot = slot_of(g, key);
    if (g->slots[slot] == 0) {
        g->keys[g->count] = key;
        g->slots[slot] = ++g->count;
    }
    return g->slots[slot] - 1;
}

static uint64_t key_of(uint32_t by, int trace, const struct nocap_event *e)
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

static struct nocap_event event_of(uint64_t key, int *trace)
{
    struct nocap_event e = nocap_event_of((enum nocap_kind)(key & 0xf));
    e.op = (uint8_t)(key >> OP_AT & 0x1f);
    e.by = (uint8_t)(key >> AGENT_AT);
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
    uint64_t key = key_of(g->by, trace, e);
    if (!g->any || key != g->latest) {
        uint32_t number = number_of(g->groups, key);
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

static int compare_by(enum sql_group_by by, const struct nocap_event *a,
                      const struct nocap_event *b)
{
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

struct sorting {
    const struct sql_grouping *g;
    const char *columns;
};

static int compare(const void *first, const void *second, void *context)
{
    const struct sorting *s = context;
    int trace_a, trace_b;
    const struct nocap_event a = event_of(s->g->groups->keys[*(const uint32_t *)first], &trace_a);
    const struct nocap_event b = event_of(s->g->groups->keys[*(const uint32_t *)second], &trace_b);
    for (const char *column = s->columns; *column != 0; column++) {
        bool falls = *column >= 'A';
        int order = compare_by((enum sql_group_by)(*column - (falls ? 'A' : '0')), &a, &b);
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
        *e = event_of(g->groups->keys[g->group], trace);
    }
    g->left--;
    *id = (int64_t)((uint64_t)g->group << ID_EVENTS | g->left);
    return true;
}

void sql_grouping_free(struct sql_grouping *g)
{
    free(g->counts);
    free(g->sizes);
    free(g->order);
    *g = (struct sql_grouping){.groups = g->groups};
}
