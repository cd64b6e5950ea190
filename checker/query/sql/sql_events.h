/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/query/sql: what sql_events.c reads, and sql_plan.c chooses of it. */
#ifndef NOCAP_CHECKER_QUERY_SQL_EVENTS_H
#define NOCAP_CHECKER_QUERY_SQL_EVENTS_H

#include "checker/query/sql/sql_groups.h"
#include "checker/query/sql/sql_private.h"

/* The columns before those of the fields; N and BYTES are of the table `counts` alone. */
enum { TRACE, IDX, T, SRC, CHIP, KIND, OP, AGENT, TILE, X, Y, FIXED, N = FIXED, BYTES };
enum { TILE_TEXT = 8, TILES = 1 << 16 };

struct events_table {
    sqlite3_vtab base;
    const struct nocap_row_options *options;
    bool counts; /* the table `counts`: a row is a group */
    struct sql_traces traces;
    uint8_t fields[NOCAP_FIELD_COUNT]; /* of the columns after the fixed ones */
    int field_count;
    struct sql_groups groups;
    char (*tiles)[TILE_TEXT]; /* "1,2", by x + 256 * y, made as they are asked for */
};

/* What is asked for. */
struct wanted {
    bool nothing; /* no event can match */
    uint64_t first, last, from, to;
    uint32_t kinds;
    uint64_t ops;
    int trace, agent, chip, x, y; /* -1: any */
};

struct events_cursor {
    sqlite3_vtab_cursor base;
    struct wanted wanted;
    int trace;
    struct nocap_reader *reader;
    bool ordered, plain; /* time never decreases; every event is wanted */
    const struct nocap_event *events;
    size_t at, count;
    bool over;
    bool grouped; /* events are counted first: sql_groups.h */
    struct sql_grouping grouping;
    struct nocap_event group; /* the present event then */
    int64_t id;
};

static inline struct events_table *table_of(sqlite3_vtab *base)
{
    return (struct events_table *)base;
}

/* The column of `events` that column `i` of the table is, or N, BYTES of `counts`. */
static inline int sql_column(const struct events_table *t, int i)
{
    static const signed char of_counts[] = {TRACE, CHIP, KIND, OP, AGENT, TILE, X, Y, N, BYTES};
    return t->counts && i >= 0 ? of_counts[i] : i;
}

/* The plan is a text: a letter for the column and one for the operator of each value; after a
 * colon the order of groups. Its number says what groups are told apart by, if SQL_GROUPS; else
 * there are none. SQL_ONCE: of each one event is wanted. From SQL_FIELDS_AT on: the fields that are
 * told apart. */
enum { SQL_GROUPS = 1 << 15, SQL_ONCE = 1 << 16, SQL_FIELDS_AT = 17, SQL_FIELD_BITS = 6 };
_Static_assert(NOCAP_FIELD_COUNT <= 1 << SQL_FIELD_BITS, "a field fits");
int sql_plan(sqlite3_vtab *base, sqlite3_index_info *info);

/* What is wanted by the values of the plan. */
struct wanted sql_wanted(const struct sql_traces *traces, const char *plan, int count,
                         sqlite3_value **values);

static inline bool sql_matches(const struct wanted *w, const struct nocap_event *e)
{
    return (w->kinds >> e->kind & 1u) != 0 && (w->ops >> e->op & 1u) != 0 && e->index >= w->first &&
           e->index <= w->last && e->t >= w->from && e->t <= w->to &&
           (w->agent < 0 || ((e->has & NOCAP_F_BY) != 0 && e->by == w->agent)) &&
           (w->chip < 0 || e->chip == w->chip) &&
           ((w->x < 0 && w->y < 0) ||
            ((e->has & NOCAP_F_AT) != 0 && (w->x < 0 || e->at.x == w->x) &&
             (w->y < 0 || e->at.y == w->y)));
}

#endif
