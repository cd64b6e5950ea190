/* SPDX-License-Identifier: Apache-2.0 */
/* Which conditions on events the cursor judges itself, and in which order it hands them out. */
#include <stdio.h>
#include <string.h>

#include "checker/query/sql/sql_events.h"

/* Columns whose equality the cursor judges, so that SQLite need not. */
static bool is_exact(int column)
{
    return column == TRACE || (column >= CHIP && column <= Y);
}

static bool is_bound(int column, unsigned char op)
{
    return (column == IDX || column == T) &&
           (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
            op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
            op == SQLITE_INDEX_CONSTRAINT_LE);
}

static char operator_of(unsigned char op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ                                       ? '='
           : op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ? '>'
                                                                                  : '<';
}

/* What the statement asks for of groups. */
struct grouping {
    uint32_t by; /* bits */
    unsigned count;
    uint8_t field[SQL_NUMBERS];
};

/* What groups are told apart by for the column; -1: the events have to be handed out one by one. */
static int group_by(const struct events_table *t, struct grouping *g, int column)
{
    static const signed char by[FIXED] = {
        [TRACE] = SQL_BY_TRACE, [IDX] = -1,           [T] = -1,         [SRC] = -1,
        [CHIP] = SQL_BY_CHIP,   [KIND] = SQL_BY_KIND, [OP] = SQL_BY_OP, [AGENT] = SQL_BY_AGENT,
        [TILE] = SQL_BY_TILE,   [X] = SQL_BY_X,       [Y] = SQL_BY_Y,
    };
    if (column < FIXED) {
        return column < 0 ? -1 : by[column];
    }
    const uint8_t field = t->fields[column - FIXED];
    const enum nocap_field_type type = nocap_fields[field].type;
    if (t->counts || (type != NOCAP_T_DEC && type != NOCAP_T_HEX)) {
        return -1;
    }
    for (unsigned i = 0; i < g->count; i++) {
        if (g->field[i] == field) {
            return SQL_BY_NUMBER + (int)i;
        }
    }
    if (g->count == SQL_NUMBERS) {
        return -1;
    }
    g->field[g->count] = field;
    return SQL_BY_NUMBER + (int)g->count++;
}

/* The number of the plan: SQL_GROUPS and what groups are told apart by, if the statement asks for
 * nothing else of an event; 0: it does, or for nothing at all. */
static int groups_of(const struct events_table *t, const sqlite3_index_info *info,
                     struct grouping *g)
{
    enum { LAST_TOLD = 63 }; /* of columns from here on SQLite says whether any is asked for */
    for (int i = 0; i <= LAST_TOLD; i++) {
        if ((info->colUsed >> i & 1) == 0) {
            continue;
        }
        const int by = i == LAST_TOLD ? -1 : group_by(t, g, sql_column(t, i));
        if (by < 0 && !t->counts) {
            return 0;
        }
        g->by |= by >= 0 ? 1u << by : 0;
    }
    if (g->count > 0 && info->nOrderBy == 0) {
        return 0; /* nothing to sort: as they stand in the trace */
    }
    return g->by != 0 || t->counts
               ? (int)(g->by | SQL_GROUPS | (uint32_t)g->field[0] << SQL_FIELDS_AT |
                       (uint32_t)g->field[1] << (SQL_FIELDS_AT + SQL_FIELD_BITS))
               : 0;
}

/* Whether the rows come in the order that is asked for; of groups the plan says which. */
static bool plan_order(const struct events_table *t, sqlite3_index_info *info, sqlite3_str *plan,
                       struct grouping *grouping)
{
    if (grouping == NULL) {
        return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == IDX && !info->aOrderBy[0].desc &&
               t->traces.count == 1;
    }
    for (int i = 0; i < info->nOrderBy; i++) {
        int by = group_by(t, grouping, sql_column(t, info->aOrderBy[i].iColumn));
        if (by < 0 || by == SQL_BY_TRACE) { /* paths have an order of their own */
            return false;
        }
    }
    for (int i = 0; i < info->nOrderBy; i++) {
        int by = group_by(t, grouping, sql_column(t, info->aOrderBy[i].iColumn));
        sqlite3_str_appendchar(plan, 1, (char)((info->aOrderBy[i].desc ? 'A' : '0') + by));
    }
    return info->nOrderBy > 0;
}

int sql_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct events_table *t = table_of(base);
    if (t->counts && t->traces.count >= SQL_GROUP_TRACES) {
        base->zErrMsg = sqlite3_mprintf("counts takes fewer than %d traces", SQL_GROUP_TRACES);
        return SQLITE_ERROR;
    }
    sqlite3_str *plan = sqlite3_str_new(NULL);
    int values = 0;
    struct grouping grouping = {0};
    const int groups = t->traces.count < SQL_GROUP_TRACES ? groups_of(t, info, &grouping) : 0;
    info->estimatedCost = 1e9;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = sql_column(t, info->aConstraint[i].iColumn);
        unsigned char op = info->aConstraint[i].op;
        bool exact = op == SQLITE_INDEX_CONSTRAINT_EQ && is_exact(column);
        if (!info->aConstraint[i].usable || (!exact && !is_bound(column, op))) {
            continue;
        }
        info->aConstraintUsage[i].argvIndex = ++values;
        info->aConstraintUsage[i].omit = exact;
        info->estimatedCost /= column == IDX ? 1e6 : 4;
        sqlite3_str_appendchar(plan, 1, (char)('a' + column));
        sqlite3_str_appendchar(plan, 1, operator_of(op));
    }
    sqlite3_str_appendchar(plan, 1, ':');
    info->orderByConsumed = plan_order(t, info, plan, groups != 0 ? &grouping : NULL);
    info->idxNum = groups;
    if (t->counts || (groups != 0 && info->orderByConsumed && sqlite3_vtab_distinct(info) == 2)) {
        info->idxNum |= SQL_ONCE;
    }
    info->idxStr = sqlite3_str_finish(plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Bounds that SQLite judges once more; what is no whole number bounds nothing. */
static void bound(uint64_t *first, uint64_t *last, char op, sqlite3_value *value)
{
    sqlite3_int64 number = sqlite3_value_int64(value);
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER) {
        return;
    }
    if (number < 0) { /* large numbers are negative ones in SQL */
        return;
    }
    if (op != '<' && (uint64_t)number > *first) {
        *first = (uint64_t)number;
    }
    if (op != '>' && (uint64_t)number < *last) {
        *last = (uint64_t)number;
    }
}

static int wanted_number(struct wanted *w, int before, sqlite3_value *value)
{
    sqlite3_int64 number = sqlite3_value_int64(value);
    bool whole = sqlite3_value_numeric_type(value) == SQLITE_INTEGER ||
                 (sqlite3_value_numeric_type(value) == SQLITE_FLOAT &&
                  sqlite3_value_double(value) == (double)number);
    w->nothing |= !whole || number < 0 || number > UINT16_MAX || (before >= 0 && before != number);
    return w->nothing ? before : (int)number;
}

static void wanted_place(struct wanted *w, const char *text)
{
    unsigned x, y;
    char same[TILE_TEXT + 8];
    bool place = sscanf(text, "%3u,%3u", &x, &y) == 2 && x <= UINT8_MAX && y <= UINT8_MAX;
    snprintf(same, sizeof same, "%u,%u", place ? x : 0, place ? y : 0);
    w->nothing |= !place || strcmp(same, text) != 0 || (w->x >= 0 && w->x != (int)x) ||
                  (w->y >= 0 && w->y != (int)y);
    w->x = place ? (int)x : w->x;
    w->y = place ? (int)y : w->y;
}

static void wanted_trace(struct wanted *w, const struct sql_traces *traces, const char *text)
{
    int found = -1;
    for (int i = 0; i < traces->count && found < 0; i++) {
        found = strcmp(traces->paths[i], text) == 0 ? i : -1;
    }
    w->nothing |= found < 0 || (w->trace >= 0 && w->trace != found);
    w->trace = found;
}

/* The condition that a column equals a value. */
static void want(struct wanted *w, const struct sql_traces *traces, int column,
                 sqlite3_value *value)
{
    if (column == X || column == Y || column == CHIP) {
        int *member = column == X ? &w->x : column == Y ? &w->y : &w->chip;
        *member = wanted_number(w, *member, value);
        return;
    }
    const char *text = (const char *)sqlite3_value_text(value);
    unsigned length = text == NULL ? 0 : (unsigned)strlen(text);
    if (length == 0) { /* what has no value is NULL */
        w->nothing = true;
    } else if (column == TRACE) {
        wanted_trace(w, traces, text);
    } else if (column == TILE) {
        wanted_place(w, text);
    } else if (column == KIND) {
        int kind = nocap_kind_from_name(text, length);
        w->kinds &= kind < 0 ? 0 : 1u << kind;
    } else if (column == OP) {
        int op = nocap_op_from_name(text, length);
        w->ops &= op < 0 ? 0 : UINT64_C(1) << op;
    } else {
        int agent = nocap_agent_from_name(text, length);
        w->nothing |= agent <= NOCAP_BY_NONE || (w->agent >= 0 && w->agent != agent);
        w->agent = agent;
    }
}

struct wanted sql_wanted(const struct sql_traces *traces, const char *plan, int count,
                         sqlite3_value **values)
{
    struct wanted w = {.last = UINT64_MAX,
                       .to = UINT64_MAX,
                       .kinds = UINT32_MAX,
                       .ops = UINT64_MAX,
                       .trace = -1,
                       .agent = -1,
                       .chip = -1,
                       .x = -1,
                       .y = -1};
    for (int i = 0; i < count; i++) {
        int column = plan[2 * i] - 'a';
        char op = plan[2 * i + 1];
        if (column == IDX) {
            bound(&w.first, &w.last, op, values[i]);
        } else if (column == T) {
            bound(&w.from, &w.to, op, values[i]);
        } else {
            want(&w, traces, column, values[i]);
        }
    }
    w.nothing |= w.kinds == 0 || w.ops == 0;
    return w;
}
