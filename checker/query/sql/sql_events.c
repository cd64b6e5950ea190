/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `events` and `counts`: read from the file as they are asked for. Conditions on idx and
 * t are brought to the seek table, those on trace, kind, op, agent, tile, x, y and chip are judged
 * before SQLite sees a row. */
#include "checker/query/sql/sql_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/import.h"

static const char fixed[] =
    "trace TEXT, idx INTEGER, t INTEGER, src INTEGER, chip INTEGER, kind TEXT, "
    "op TEXT, agent TEXT, tile TEXT, x INTEGER, y INTEGER";
static const char counts[] = /* in the order of sql_column */
    "trace TEXT, chip INTEGER, kind TEXT, op TEXT, agent TEXT, tile TEXT, x INTEGER, y INTEGER, "
    "n INTEGER, bytes INTEGER";

/* Fields that are reported otherwise than by their key: two keys, a word of SQL, a key with two
 * meanings. BY and AT are fixed columns. */
static const char *column_name(unsigned field)
{
    switch (field) {
    case NOCAP_FIELD_TO: return "tile2";
    case NOCAP_FIELD_S: return "source";
    case NOCAP_FIELD_SADDR: return "source_addr";
    case NOCAP_FIELD_D: return "target";
    case NOCAP_FIELD_DADDR: return "target_addr";
    case NOCAP_FIELD_D2: return "target2";
    case NOCAP_FIELD_FROM: return "initiator";
    case NOCAP_FIELD_ORDER: return "window_order";
    case NOCAP_FIELD_RET: return "ret_tile";
    case NOCAP_FIELD_TILE: return "aie_tile";
    case NOCAP_FIELD_DROPPED: return "dropped";
    default: return nocap_fields[field].key;
    }
}

/* ---- the table ---- */

static int disconnect(sqlite3_vtab *base)
{
    struct events_table *t = table_of(base);
    sql_traces_free(&t->traces);
    MAP_FREE(&t->groups);
    free(t->tiles);
    free(t);
    return SQLITE_OK;
}

static int declare(sqlite3 *db, struct events_table *t)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "CREATE TABLE t(%s", t->counts ? counts : fixed);
    for (unsigned field = 0; field < NOCAP_FIELD_COUNT && !t->counts; field++) {
        if (field == NOCAP_FIELD_BY || field == NOCAP_FIELD_AT) {
            continue;
        }
        t->fields[t->field_count++] = (uint8_t)field;
        sqlite3_str_appendf(sql, ", \"%w\"", column_name(field));
    }
    return sql_declare(db, sql);
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                   sqlite3_vtab **table, char **error)
{
    const struct sql_source *source = context;
    struct events_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return SQLITE_NOMEM;
    }
    t->options = source->options;
    t->counts = source->counts;
    t->tiles = calloc(TILES, sizeof t->tiles[0]);
    int code = t->tiles == NULL ? SQLITE_NOMEM : sql_traces_set(&t->traces, argc, argv, error);
    code = code == SQLITE_OK ? declare(db, t) : code;
    if (code != SQLITE_OK) {
        disconnect(&t->base);
        return code;
    }
    *table = &t->base;
    return SQLITE_OK;
}

/* ---- the cursor ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
    struct events_cursor *c = calloc(1, sizeof *c);
    (void)base;
    *cursor = c == NULL ? NULL : &c->base;
    return c == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    struct events_cursor *c = (struct events_cursor *)cursor;
    nocap_reader_close(c->reader);
    sql_grouping_free(&c->grouping);
    free(c);
    return SQLITE_OK;
}

/* Opens the next trace that is wanted; NOCAP_END if there is none. */
static enum nocap_status open_trace(struct events_cursor *c, struct nocap_error *err)
{
    struct events_table *t = table_of(c->base.pVtab);
    const struct wanted *w = &c->wanted;
    struct nocap_import_result imported;
    while (w->trace >= 0 && c->trace < t->traces.count && c->trace != w->trace) {
        c->trace++;
    }
    if (c->trace >= t->traces.count) {
        return NOCAP_END;
    }
    RETURN_IF_FAILED(nocap_import_open(&c->reader, t->traces.paths[c->trace], t->options->dense,
                                       &imported, err));
    c->ordered = nocap_reader_time_ordered(c->reader);
    if (w->first > 0) {
        return nocap_reader_seek_index(c->reader, w->first, err);
    }
    return w->from > 0 ? nocap_reader_seek_time(c->reader, w->from, err) : NOCAP_OK;
}

/* The trace is read as far as it is asked for. */
static void close_trace(struct events_cursor *c)
{
    const struct events_table *t = table_of(c->base.pVtab);
    nocap_rows_damage(t->options, t->traces.paths[c->trace], nocap_reader_integrity(c->reader));
    nocap_reader_close(c->reader);
    c->reader = NULL;
    c->trace++;
}

/* The next batch of events, of this trace or of the next one; NOCAP_END after all. */
static enum nocap_status refill(struct events_cursor *c, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_END;
    c->at = c->count = 0;
    while (status == NOCAP_END) {
        if (c->reader == NULL) {
            RETURN_IF_FAILED(open_trace(c, err));
        }
        status = nocap_reader_next(c->reader, &c->events, &c->count, err);
        bool after = status == NOCAP_OK && (c->events[0].index > c->wanted.last ||
                                            (c->ordered && c->events[0].t > c->wanted.to));
        if (status == NOCAP_END || after) {
            close_trace(c);
            status = NOCAP_END;
        }
    }
    return status;
}

/* Goes on to an event that is wanted, from the one at hand on. */
static int settle(struct events_cursor *c)
{
    struct nocap_error err = {{0}};
    for (;; c->at++) {
        if (c->at >= c->count) {
            enum nocap_status status = refill(c, &err);
            if (status != NOCAP_OK) {
                c->over = true;
                return status == NOCAP_END ? SQLITE_OK : sql_fail(c->base.pVtab, status, &err);
            }
        }
        const struct nocap_event *e = &c->events[c->at];
        if (c->plain || sql_matches(&c->wanted, e)) {
            return SQLITE_OK;
        }
    }
}

/* The next of the groups that were counted. */
static void next_of_groups(struct events_cursor *c)
{
    c->over = !sql_grouping_next(&c->grouping, &c->group, &c->trace, &c->id);
}

/* Counts all events that are wanted, then begins with the first group. */
static int count_groups(struct events_cursor *c, const char *order)
{
    while (!c->over) {
        int code = settle(c);
        if (code != SQLITE_OK) {
            return code;
        }
        for (; !c->over && c->at < c->count; c->at++) {
            const struct nocap_event *e = &c->events[c->at];
            if ((c->plain || sql_matches(&c->wanted, e)) &&
                !sql_grouping_add(&c->grouping, c->trace, e)) {
                return SQLITE_NOMEM;
            }
        }
    }
    if (!sql_grouping_sort(&c->grouping, order)) {
        return SQLITE_NOMEM;
    }
    c->events = &c->group;
    c->at = 0;
    next_of_groups(c);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
                  sqlite3_value **values)
{
    struct events_cursor *c = (struct events_cursor *)cursor;
    struct wanted *w = &c->wanted;
    nocap_reader_close(c->reader);
    sql_grouping_free(&c->grouping);
    *c = (struct events_cursor){.base = c->base, .plain = argc == 0, .grouped = number != 0};
    c->grouping.groups = &table_of(cursor->pVtab)->groups;
    c->grouping.by = (uint32_t)number & (SQL_GROUPS - 1);
    c->grouping.once = (number & SQL_ONCE) != 0;
    for (unsigned n = 0; n < SQL_NUMBERS; n++) {
        const unsigned at = SQL_FIELDS_AT + n * SQL_FIELD_BITS;
        c->grouping.field[n] = (uint8_t)((unsigned)number >> at & ((1u << SQL_FIELD_BITS) - 1));
    }
    *w = sql_wanted(&table_of(cursor->pVtab)->traces, plan, argc, values);
    c->over = w->nothing;
    return c->over ? SQLITE_OK : c->grouped ? count_groups(c, strchr(plan, ':') + 1) : settle(c);
}

static int next(sqlite3_vtab_cursor *cursor)
{
    struct events_cursor *c = (struct events_cursor *)cursor;
    if (c->grouped) {
        next_of_groups(c);
        return SQLITE_OK;
    }
    c->at++;
    if (c->plain && c->at < c->count) {
        return SQLITE_OK;
    }
    return settle(c);
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    return ((struct events_cursor *)cursor)->over;
}

/* The same event has the same number in each scan of a statement: SQLite puts the terms of an OR
 * together by it. */
static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    enum { TRACE_EVENTS = 44 };
    const struct events_cursor *c = (struct events_cursor *)cursor;
    *id = c->grouped ? c->id
                     : (sqlite3_int64)((uint64_t)c->trace << TRACE_EVENTS | c->events[c->at].index);
    return SQLITE_OK;
}

/* ---- values ---- */

static void result_place(struct events_table *t, sqlite3_context *context, struct nocap_xy at)
{
    char *text = t->tiles[at.x + 256 * at.y];
    if (text[0] == 0) {
        snprintf(text, TILE_TEXT, "%u,%u", at.x, at.y);
    }
    sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

static void result_name(sqlite3_context *context, const char *name)
{
    if (name == NULL || name[0] == 0) {
        sqlite3_result_null(context);
    } else {
        sqlite3_result_text(context, name, -1, SQLITE_STATIC);
    }
}

static void result_field(struct events_table *t, sqlite3_context *context,
                         const struct nocap_event *e, enum nocap_field field)
{
    uint64_t number = nocap_event_number(e, field);
    switch (nocap_fields[field].type) {
    case NOCAP_T_DEC:
    case NOCAP_T_HEX:
    case NOCAP_T_BOOL:
    case NOCAP_T_HASH:
    case NOCAP_T_SEM: sqlite3_result_int64(context, (sqlite3_int64)number); break;
    case NOCAP_T_PAIR:
    case NOCAP_T_XY:
        result_place(t, context, (struct nocap_xy){(uint8_t)number, (uint8_t)(number >> 8)});
        break;
    case NOCAP_T_BYTES:
        sqlite3_result_blob(context, e->data, (int)e->data_size, SQLITE_TRANSIENT);
        break;
    case NOCAP_T_TEXT:
        sqlite3_result_text(context, (const char *)e->data, (int)e->data_size, SQLITE_TRANSIENT);
        break;
    default: result_name(context, nocap_field_value_name(field, (unsigned)number)); break;
    }
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i)
{
    struct events_cursor *c = (struct events_cursor *)cursor;
    struct events_table *t = table_of(cursor->pVtab);
    const struct nocap_event *e = &c->events[c->at];
    bool has_at = (e->has & NOCAP_F_AT) != 0;
    i = sql_column(t, i);
    if (t->counts && i >= FIXED) {
        const struct sql_group_sum *sum = &c->grouping.sums[c->grouping.group];
        sqlite3_result_int64(context, (sqlite3_int64)(i == N ? sum->events : sum->bytes));
        return SQLITE_OK;
    }
    if (i >= FIXED) {
        enum nocap_field field = (enum nocap_field)t->fields[i - FIXED];
        int64_t number;
        if (c->grouped && sql_grouping_number(&c->grouping, field, &number)) {
            sqlite3_result_int64(context, number);
        } else if ((e->has >> field & 1) != 0) {
            result_field(t, context, e, field);
        }
        return SQLITE_OK; /* NULL without a result */
    }
    switch (i) {
    case TRACE:
        sqlite3_result_text(context, t->traces.paths[c->trace], -1, SQLITE_TRANSIENT);
        break;
    case IDX: sqlite3_result_int64(context, (sqlite3_int64)e->index); break;
    case T: sqlite3_result_int64(context, (sqlite3_int64)e->t); break;
    case SRC: sqlite3_result_int64(context, e->src); break;
    case CHIP: sqlite3_result_int64(context, e->chip); break;
    case KIND: result_name(context, nocap_kind_name(e->kind)); break;
    case OP: result_name(context, nocap_op_name(e->op)); break;
    case AGENT:
        result_name(context, (e->has & NOCAP_F_BY) != 0 ? nocap_agent_name(e->by) : NULL);
        break;
    default:
        if (has_at && i == TILE) {
            result_place(t, context, e->at);
        } else if (has_at) {
            sqlite3_result_int64(context, i == X ? e->at.x : e->at.y);
        }
    }
    return SQLITE_OK;
}

const sqlite3_module sql_events_module = {
    .xCreate = connect,
    .xConnect = connect,
    .xBestIndex = sql_plan,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};
