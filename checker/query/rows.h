/* SPDX-License-Identifier: Apache-2.0 */
/* What `nocap sql` and its relatives ask of a trace besides its events: tables that are made by
 * replaying it once, a row for each launch, record, request, finding, wait. */
#ifndef NOCAP_CHECKER_QUERY_ROWS_H
#define NOCAP_CHECKER_QUERY_ROWS_H

#include "formats/trace/trace.h"

enum nocap_cell_type { NOCAP_CELL_NUMBER, NOCAP_CELL_TEXT };
#define NOCAP_CELL_NONE INT64_MIN /* not known, or does not apply */

struct nocap_column {
    const char *name;
    enum nocap_cell_type type;
};

struct nocap_rows;

/* How the traces of tables are read. */
struct nocap_row_options {
    bool dense, trust_paths; /* as of nocap_check_options */
    const char *profile;     /* the same */
    /* Told of each damaged trace whenever it was read to the end; NULL: none. */
    void (*damaged)(void *context, const char *path, const struct nocap_integrity *integrity);
    /* Told how many events the trace itself says were lost, if there are any; NULL: none. */
    void (*lost)(void *context, const char *path, uint64_t count);
    void *context;
};

struct nocap_row_table {
    const char *name;
    const struct nocap_column *columns;
    size_t column_count;
    /* Adds the rows of one trace of any form. Fails with NOCAP_E_INPUT if it cannot be read. */
    enum nocap_status (*fill)(struct nocap_rows *rows, const char *path,
                              const struct nocap_row_options *options, struct nocap_error *err);
};

/* Tells of it, if there is any. */
void nocap_rows_damage(const struct nocap_row_options *options, const char *path,
                       const struct nocap_integrity *integrity);

/* Which column has that name; there must be one. */
size_t nocap_row_column(const struct nocap_row_table *table, const char *name);

extern const struct nocap_row_table nocap_launch_table, nocap_record_table, nocap_request_table,
    nocap_finding_table, nocap_wait_table;
enum { NOCAP_ROW_TABLES = 5 };
extern const struct nocap_row_table *const nocap_row_tables[NOCAP_ROW_TABLES];

enum { NOCAP_ROWS_MAX = 1 << 24 };

struct nocap_rows {
    const struct nocap_row_table *table;
    int64_t *cells;         /* row by row; a text is a pointer */
    size_t count, capacity; /* rows; bytes */
    char **texts;
    size_t text_count;
};

/* A new row, all cells NOCAP_CELL_NONE; NULL without memory, or over NOCAP_ROWS_MAX. It lives until
 * the next one is added. */
int64_t *nocap_rows_add(struct nocap_rows *rows);
/* The cell of a text: a copy that lives as long as the rows; NOCAP_CELL_NONE for NULL, or without
 * memory. Texts that are static need no copy: nocap_cell_static. */
int64_t nocap_rows_text(struct nocap_rows *rows, const char *text);
static inline int64_t nocap_cell_static(const char *text)
{
    return (int64_t)(intptr_t)text;
}
static inline const char *nocap_cell_text(int64_t cell)
{
    return (const char *)(intptr_t)cell;
}
/* An index of an event, a time, an address; UINT64_MAX is none. */
static inline int64_t nocap_cell_number(uint64_t number)
{
    return number == UINT64_MAX ? NOCAP_CELL_NONE : (int64_t)number;
}
/* What adding failed of. */
enum nocap_status nocap_rows_full(const struct nocap_rows *rows, struct nocap_error *err);
void nocap_rows_free(struct nocap_rows *rows);

#endif
