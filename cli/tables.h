/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as tables of SQL, for the commands that ask them. */
#ifndef NOCAP_CLI_TABLES_H
#define NOCAP_CLI_TABLES_H

#include <sqlite3.h>

#include "checker/query/sql/sql.h"
#include "cli/commands.h"

struct cli_tables {
    const struct cli_call *call;
    sqlite3 *db;
    struct nocap_row_options options;
    char *profile; /* of the options */
    int damage;    /* that was reported: the exit status that it leads to */
    struct cli_told {
        const char **paths;
        size_t count;
    } damages, losses; /* traces of which they were reported */
};

enum cli_table_format { CLI_TABLE_TEXT, CLI_TABLE_CSV, CLI_TABLE_JSON };
#define CLI_TABLE_FORMATS "text|csv|json"

/* How the command's options say that traces are read. */
struct cli_table_settings {
    const char *profile;
    bool dense, trust_paths;
};

/* Makes the tables of the first `count` operands; tells what fails and gives the exit status. Close
 * it whatever came. */
int cli_tables_open(struct cli_tables *tables, const struct cli_call *call, size_t count,
                    const struct cli_table_settings *settings);
void cli_tables_close(struct cli_tables *tables);

/* Runs the statements of `sql`, whose parameters :a to :c are `values`, and prints what they give,
 * at most so many columns wide as a terminal has; the exit status. What is wrong is reported. */
enum { CLI_TABLE_VALUES = 3 };
int cli_tables_run(struct cli_tables *tables, const char *sql,
                   const sqlite3_int64 values[CLI_TABLE_VALUES], enum cli_table_format format,
                   FILE *out);
/* The rows of one statement, one after the other; `statement` has the values. cli_rows_next is
 * false after the last one, and where *status is not CLI_EXIT_OK any more. */
struct cli_rows {
    struct cli_tables *tables;
    sqlite3_stmt *statement;
};
int cli_rows_open(struct cli_rows *rows, struct cli_tables *tables, const char *sql,
                  const sqlite3_int64 values[CLI_TABLE_VALUES]);
bool cli_rows_next(struct cli_rows *rows, int *status);
void cli_rows_close(struct cli_rows *rows);
/* A usage error if a row of `table` has a duration and no time in nanoseconds. */
int cli_tables_need_clock(struct cli_tables *tables, const char *table);
/* The first value of the first row as a number; false: it is NULL, or there is no row. Without
 * either *status is not CLI_EXIT_OK. */
bool cli_tables_number(struct cli_tables *tables, const char *sql, double *number, int *status);

#endif
