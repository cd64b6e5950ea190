/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/query/sql: events of which a statement asks no more than who, where, what kind
 * and two numbers, as address and size. Those that agree in that are interchangeable, so they are
 * counted, and each kind is handed out so many times in a row, in any order that is asked for:
 * SQLite need not sort them. */
#ifndef NOCAP_CHECKER_QUERY_SQL_GROUPS_H
#define NOCAP_CHECKER_QUERY_SQL_GROUPS_H

#include "base/map.h"
#include "formats/trace/event.h"

/* What groups can be told apart by: bits, and the order of members in struct sql_group. */
enum sql_group_by {
    SQL_BY_TRACE,
    SQL_BY_CHIP,
    SQL_BY_KIND,
    SQL_BY_OP,
    SQL_BY_AGENT,
    SQL_BY_TILE,
    SQL_BY_X,
    SQL_BY_Y,
    SQL_BY_NUMBER, /* a field that is a number .. */
    SQL_BY_OTHER,  /* .. and another one */
};
enum { SQL_NUMBERS = 2 };
enum { SQL_GROUP_TRACES = 1 << 12 }; /* fewer traces than this */

/* What all events of a group have. */
struct sql_group_key {
    uint64_t fixed; /* the columns that are no fields, and which of the fields there are */
    uint64_t number[SQL_NUMBERS];
};

/* All groups that a table ever had, numbered: a number means the same in each of its scans. */
struct sql_groups {
    MAP(struct sql_group_key);
};

/* Of a group in a scan. */
struct sql_group_sum {
    uint64_t events, bytes;
};

/* One scan. */
struct sql_grouping {
    struct sql_groups *groups;
    uint32_t by;                /* bits of what is asked for */
    uint8_t field[SQL_NUMBERS]; /* enum nocap_field, of those that are asked for */
    struct sql_group_sum *sums; /* by number */
    uint32_t room;
    struct sql_group_key latest; /* of the event before .. */
    uint32_t latest_number;      /* .. and its group */
    bool any;
    uint32_t *order; /* numbers of the groups that have events */
    uint32_t used, next;
    bool once;      /* of each group one event is handed out */
    uint64_t left;  /* events of the present group that are still to come */
    uint32_t group; /* its number */
};

/* False: out of memory. */
bool sql_grouping_add(struct sql_grouping *g, int trace, const struct nocap_event *e);
/* Brings the groups into the order of `columns` (enum sql_group_by, as '0' + column, or 'A' +
 * column where it descends). False: out of memory. */
bool sql_grouping_sort(struct sql_grouping *g, const char *columns);
/* The next event: what is asked for of it but fields, and a number that is this event's alone.
 * False: there is none. */
bool sql_grouping_next(struct sql_grouping *g, struct nocap_event *e, int *trace, int64_t *id);
/* Its field; false: it has none. */
bool sql_grouping_number(const struct sql_grouping *g, enum nocap_field field, int64_t *number);
void sql_grouping_free(struct sql_grouping *g);

#endif
