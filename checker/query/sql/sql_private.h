/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/query/sql. */
#ifndef NOCAP_CHECKER_QUERY_SQL_PRIVATE_H
#define NOCAP_CHECKER_QUERY_SQL_PRIVATE_H

/* In the extension all calls go by the table that SQLite hands over. */
#ifdef NOCAP_SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#endif

#include "checker/query/sql/sql.h"

/* The traces that a table is made of, from the arguments of CREATE VIRTUAL TABLE. */
struct sql_traces {
    char **paths;
    int count;
};
int sql_traces_set(struct sql_traces *traces, int argc, const char *const *argv, char **error);
void sql_traces_free(struct sql_traces *traces);

/* What SQLite is to say of a status that is not NOCAP_OK. */
int sql_fail(sqlite3_vtab *table, enum nocap_status status, const struct nocap_error *err);

extern const sqlite3_module sql_events_module, sql_rows_module;

/* What a table of a module is connected with. */
struct sql_source {
    const struct nocap_row_table *rows; /* NULL: events, or .. */
    bool counts;                        /* .. how many of them */
    const struct nocap_row_options *options;
};

/* Declares a table; `sql` is the text up to its last column, and is taken over. A code of SQLite.
 */
int sql_declare(sqlite3 *db, sqlite3_str *sql);

#endif
