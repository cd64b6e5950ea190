/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tables_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "cli/fold.h"

/* ---- text ---- */

enum { MEASURED = 200, WIDTH_MAX = 60 }; /* rows that say how wide columns are; characters */

static bool is_number(int type)
{
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* A value as text of the terminal; freed by the caller. Numbers begin with a blank that is none of
 * theirs, so that the printer knows to which side they go. */
static char *cell_of(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column), size;
    char *text = NULL;
    if (type == SQLITE_NULL) {
        return strdup("");
    }
    if (type == SQLITE_BLOB) {
        const unsigned char *bytes = sqlite3_column_blob(statement, column);
        size = sqlite3_column_bytes(statement, column);
        text = malloc(2 * (size_t)size + 1);
        for (int i = 0; text != NULL && i < size; i++) {
            snprintf(text + 2 * i, 3, "%02x", bytes[i]);
        }
        return text;
    }
    const char *value = (const char *)sqlite3_column_text(statement, column);
    if (value == NULL) {
        return NULL;
    }
    return is_number(type) && asprintf(&text, " %s", value) >= 0 ? text
           : is_number(type)                                     ? NULL
                                                                 : foreign_copy(value);
}

/* One value a line, those that are there. */
static void print_tall(const struct cli_table_printer *t, char *const *cells)
{
    size_t width = 0;
    for (int i = 0; i < t->columns; i++) {
        width = strlen(t->names[i]) > width ? strlen(t->names[i]) : width;
    }
    for (int i = 0; i < t->columns; i++) {
        if (cells[i][0] != 0) {
            fprintf(t->out, "%-*s  %s\n", (int)width, t->names[i], cells[i] + (cells[i][0] == ' '));
        }
    }
    fputc('\n', t->out);
}

static void print_row(const struct cli_table_printer *t, char *const *cells)
{
    if (t->tall) {
        print_tall(t, cells);
        return;
    }
    for (int i = 0; i < t->columns; i++) {
        bool number = cells[i][0] == ' ';
        const char *text = cells[i] + number;
        int width = i + 1 == t->columns && !number ? 0 : (int)t->widths[i];
        fprintf(t->out, "%s%*s", i == 0 ? "" : "  ", number ? width : -width, text);
    }
    fputc('\n', t->out);
}

static void print_measured(struct cli_table_printer *t)
{
    for (size_t i = 0; i < t->rows * (size_t)t->columns; i++) {
        size_t length = strlen(t->cells[i]) - (t->cells[i][0] == ' ');
        size_t *width = &t->widths[i % (size_t)t->columns];
        *width = length > *width ? length : *width;
        *width = *width > WIDTH_MAX ? WIDTH_MAX : *width;
    }
    size_t total = 0;
    for (int i = 0; i < t->columns; i++) {
        total += t->widths[i] + (i == 0 ? 0 : 2);
    }
    t->tall = t->terminal != 0 && total > t->terminal;
    for (size_t row = t->tall ? 1 : 0; row < t->rows; row++) {
        print_row(t, &t->cells[row * (size_t)t->columns]);
    }
    t->printing = true;
}

static void free_cells(struct cli_table_printer *t)
{
    for (size_t i = 0; i < t->rows * (size_t)t->columns; i++) {
        free(t->cells[i]);
    }
    t->rows = 0;
}

/* `cells` are the table's from now on. */
static void take_row(struct cli_table_printer *t)
{
    t->rows++;
    if (t->printing || t->rows == MEASURED) {
        if (t->printing) {
            print_row(t, t->cells);
        } else {
            print_measured(t);
        }
        free_cells(t);
    }
}

static bool begin_text(struct cli_table_printer *t, sqlite3_stmt *statement)
{
    t->columns = sqlite3_column_count(statement);
    t->widths = calloc((size_t)t->columns, sizeof *t->widths);
    t->cells = calloc((size_t)t->columns * MEASURED, sizeof *t->cells);
    t->names = calloc((size_t)t->columns, sizeof *t->names);
    t->terminal = cli_terminal_width(fileno(t->out));
    if (t->widths == NULL || t->cells == NULL || t->names == NULL) {
        return false;
    }
    bool whole = true;
    for (int i = 0; i < t->columns; i++) {
        t->cells[i] = foreign_copy(sqlite3_column_name(statement, i));
        t->names[i] = foreign_copy(sqlite3_column_name(statement, i));
        whole &= t->cells[i] != NULL && t->names[i] != NULL;
    }
    t->rows = whole;
    return whole;
}

static bool text_row(struct cli_table_printer *t, sqlite3_stmt *statement)
{
    bool whole = true;
    for (int i = 0; i < t->columns; i++) {
        char *cell = cell_of(statement, i);
        whole &= cell != NULL;
        t->cells[t->rows * (size_t)t->columns + (size_t)i] = cell != NULL ? cell : strdup("");
    }
    take_row(t);
    return whole;
}

/* ---- CSV and JSON ---- */

static void csv_cell(FILE *out, const char *cell)
{
    cell += cell[0] == ' ';
    if (strpbrk(cell, ",\"") == NULL) {
        fputs(cell, out);
        return;
    }
    fputc('"', out);
    for (; *cell != 0; cell++) {
        fputs(*cell == '"' ? "\"" : "", out);
        fputc(*cell, out);
    }
    fputc('"', out);
}

static bool csv_row(struct cli_table_printer *t, sqlite3_stmt *statement)
{
    for (int i = 0; i < t->columns; i++) {
        char *cell = statement == NULL ? t->cells[i] : cell_of(statement, i);
        if (cell == NULL) {
            return false;
        }
        fputs(i == 0 ? "" : ",", t->out);
        csv_cell(t->out, cell);
        if (statement != NULL) {
            free(cell);
        }
    }
    fputc('\n', t->out);
    return true;
}

static bool json_row(struct cli_table_printer *t, sqlite3_stmt *statement)
{
    nocap_json_map(&t->json, NULL);
    for (int i = 0; i < t->columns; i++) {
        const char *name = t->cells[i];
        char *cell;
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_NULL: nocap_json_null(&t->json, name); break;
        case SQLITE_INTEGER:
            nocap_json_integer(&t->json, name, sqlite3_column_int64(statement, i));
            break;
        case SQLITE_FLOAT:
            nocap_json_real(&t->json, name, sqlite3_column_double(statement, i));
            break;
        default:
            cell = cell_of(statement, i);
            if (cell == NULL) {
                return false;
            }
            nocap_json_text(&t->json, name, cell);
            free(cell);
        }
    }
    nocap_json_map_end(&t->json);
    return true;
}

/* ---- all three ---- */

bool cli_table_begin(struct cli_table_printer *t, sqlite3_stmt *statement,
                     enum cli_table_format format, FILE *out)
{
    struct nocap_error err;
    *t = (struct cli_table_printer){.format = format, .out = out};
    if (!begin_text(t, statement)) {
        return false;
    }
    if (format == CLI_TABLE_CSV) {
        return csv_row(t, NULL);
    }
    if (format == CLI_TABLE_JSON) {
        t->opened = nocap_json_open(&t->json, out, &err) == NOCAP_OK;
        nocap_json_array(&t->json, NULL);
        return t->opened;
    }
    return true;
}

bool cli_table_row(struct cli_table_printer *t, sqlite3_stmt *statement)
{
    switch (t->format) {
    case CLI_TABLE_CSV: return csv_row(t, statement);
    case CLI_TABLE_JSON: return json_row(t, statement);
    default: return text_row(t, statement);
    }
}

bool cli_table_end(struct cli_table_printer *t)
{
    struct nocap_error err;
    bool whole = true;
    if (t->opened) {
        nocap_json_array_end(&t->json);
        whole = nocap_json_close(&t->json, &err) == NOCAP_OK;
    }
    if (t->format == CLI_TABLE_TEXT && !t->printing) {
        print_measured(t);
    }
    free_cells(t);
    free(t->cells);
    for (int i = 0; t->names != NULL && i < t->columns; i++) {
        free(t->names[i]);
    }
    free(t->names);
    free(t->widths);
    return whole && fflush(t->out) == 0 && !ferror(t->out);
}
