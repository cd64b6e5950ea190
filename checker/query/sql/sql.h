/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as tables of SQLite, which it asks for rows: modules nocap_events, nocap_counts,
 * nocap_launches, nocap_records, nocap_requests, nocap_findings, nocap_waits.
 *
 *     CREATE VIRTUAL TABLE events USING nocap_events('a.nocap', 'b.nocap');
 *
 * The SQL function nocap('a.nocap', ..) makes a temporary table of each, without the prefix. Column
 * `trace` is the path as it was given; the others: docs/sql.md. Nothing is written to a trace.
 * This folder is compiled twice, for the program and as an extension for the stock shell of SQLite.
 */
#ifndef NOCAP_CHECKER_QUERY_SQL_SQL_H
#define NOCAP_CHECKER_QUERY_SQL_SQL_H

#include <sqlite3.h>

#include "checker/query/rows.h"

/* The modules and the function; the options must outlive the connection. A code of SQLite. A trace
 * that cannot be read is SQLITE_CANTOPEN when a table is asked for its rows. */
int nocap_sql_register(sqlite3 *db, const struct nocap_row_options *options);

#endif
