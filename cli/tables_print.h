/* SPDX-License-Identifier: Apache-2.0 */
/* Private to cli/tables.c: rows of SQL as text, CSV, JSON. */
#ifndef NOCAP_CLI_TABLES_PRINT_H
#define NOCAP_CLI_TABLES_PRINT_H

#include "base/json_text.h"
#include "cli/tables.h"

struct cli_table_printer {
    enum cli_table_format format;
    FILE *out;
    int columns;
    char **cells; /* text: the first rows, which wait until columns are measured; the names */
    char **names;
    size_t rows, *widths;
    unsigned terminal;     /* its width, 0: none */
    bool printing, opened; /* text: measured; JSON: there is something to close */
    bool tall;             /* rows are wider than the terminal: a line a value */
    struct nocap_json json;
};

/* False: out of memory, or the output failed. End it whatever came. */
bool cli_table_begin(struct cli_table_printer *printer, sqlite3_stmt *statement,
                     enum cli_table_format format, FILE *out);
bool cli_table_row(struct cli_table_printer *printer, sqlite3_stmt *statement);
bool cli_table_end(struct cli_table_printer *printer);

#endif
