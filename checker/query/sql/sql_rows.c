/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of which the rows of a trace are made when they are first asked for, and kept. */
#include "checker/query/sql/sql_private.h"

#include <stdlib.h>

struct rows_table {
    sqlite3_vtab base;
    const struct nocap_row_table *rows;
    const struct nocap_row_options *options;
    struct sql_traces traces;
    struct nocap_rows *made; /* of each trace */
    bool *done;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    int trace;
    size_t row;
};

static struct rows_table *table_of(sqlite3_vtab *base)
{
    return (struct rows_table *)base;
}

static int disconnect(sqlite3_vtab *base)
{
    struct rows_table *t = table_of(base);
    for (int i = 0; t->made != NULL && i < t->traces.count; i++) {
        nocap_rows_free(&t->made[i]);
    }
    free(t->made);
    free(t->done);
    sql_traces_free(&t->traces);
    free(t);
    return SQLITE_OK;
}

static int declare(sqlite3 *db, const struct nocap_row_table *rows)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "CREATE TABLE t(trace TEXT");
    for (size_t i = 0; i < rows->column_count; i++) {
        sqlite3_str_appendf(sql, ", \"%w\" %s", rows->columns[i].name,
                            rows->columns[i].type == NOCAP_CELL_TEXT ? "TEXT" : "INTEGER");
    }
    return sql_declare(db, sql);
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                   sqlite3_vtab **table, char **error)
{
    const struct sql_source *source = context;
    struct rows_table *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return SQLITE_NOMEM;
    }
    t->rows = source->rows;
    t->options = source->options;
    int code = sql_traces_set(&t->traces, argc, argv, error);
    if (code == SQLITE_OK) {
        t->made = calloc((size_t)t->traces.count, sizeof *t->made);
        t->done = calloc((size_t)t->traces.count, sizeof *t->done);
        code = t->made == NULL || t->done == NULL ? SQLITE_NOMEM : declare(db, t->rows);
    }
    if (code != SQLITE_OK) {
        disconnect(&t->base);
        return code;
    }
    *table = &t->base;
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
    struct rows_cursor *c = calloc(1, sizeof *c);
    (void)base;
    *cursor = c == NULL ? NULL : &c->base;
    return c == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    free((struct rows_cursor *)cursor);
    return SQLITE_OK;
}

/* Makes the rows of the trace that the cursor is at, and passes over traces without any. */
static int settle(struct rows_cursor *c)
{
    struct rows_table *t = table_of(c->base.pVtab);
    for (; c->trace < t->traces.count; c->trace++, c->row = 0) {
        struct nocap_rows *made = &t->made[c->trace];
        if (!t->done[c->trace]) {
            struct nocap_error err = {{0}};
            *made = (struct nocap_rows){.table = t->rows};
            enum nocap_status status =
                t->rows->fill(made, t->traces.paths[c->trace], t->options, &err);
            if (status != NOCAP_OK) {
                nocap_rows_free(made);
                return sql_fail(&t->base, status, &err);
            }
            t->done[c->trace] = true;
        }
        if (c->row < made->count) {
            break;
        }
    }
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
                  sqlite3_value **values)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    (void)number, (void)text, (void)argc, (void)values;
    c->trace = 0;
    c->row = 0;
    return settle(c);
}

static int next(sqlite3_vtab_cursor *cursor)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    c->row++;
    return settle(c);
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    return c->trace >= table_of(cursor->pVtab)->traces.count;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i)
{
    struct rows_cursor *c = (struct rows_cursor *)cursor;
    struct rows_table *t = table_of(cursor->pVtab);
    if (i == 0) {
        sqlite3_result_text(context, t->traces.paths[c->trace], -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    int64_t cell = t->made[c->trace].cells[c->row * t->rows->column_count + (size_t)i - 1];
    if (cell == NOCAP_CELL_NONE) {
        sqlite3_result_null(context);
    } else if (t->rows->columns[i - 1].type == NOCAP_CELL_TEXT) {
        sqlite3_result_text(context, nocap_cell_text(cell), -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_int64(context, cell);
    }
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    enum { TRACE_ROWS = 32 };
    const struct rows_cursor *c = (struct rows_cursor *)cursor;
    *id = (sqlite3_int64)c->trace << TRACE_ROWS | (sqlite3_int64)c->row;
    return SQLITE_OK;
}

const sqlite3_module sql_rows_module = {
    .xCreate = connect,
    .xConnect = connect,
    .xBestIndex = best_index,
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
