/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/list.h"

const struct nocap_row_table *const nocap_row_tables[NOCAP_ROW_TABLES] = {
    &nocap_launch_table,  &nocap_record_table, &nocap_request_table,
    &nocap_finding_table, &nocap_wait_table,
};

size_t nocap_row_column(const struct nocap_row_table *table, const char *name)
{
    size_t i = 0;
    while (strcmp(table->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

void nocap_rows_damage(const struct nocap_row_options *options, const char *path,
                       const struct nocap_integrity *integrity)
{
    if (options->damaged != NULL && integrity->count != 0) {
        options->damaged(options->context, path, integrity);
    }
}

int64_t *nocap_rows_add(struct nocap_rows *rows)
{
    size_t width = rows->table->column_count, size = width * sizeof *rows->cells;
    if (rows->count >= NOCAP_ROWS_MAX ||
        !buffer_widen(&rows->cells, &rows->capacity, rows->count * size, size)) {
        return NULL;
    }
    int64_t *row = &rows->cells[rows->count++ * width];
    for (size_t i = 0; i < width; i++) {
        row[i] = NOCAP_CELL_NONE;
    }
    return row;
}

int64_t nocap_rows_text(struct nocap_rows *rows, const char *text)
{
    char **next = text != NULL ? LIST_NEXT(rows->texts, rows->text_count) : NULL;
    if (next == NULL || (*next = strdup(text)) == NULL) {
        return NOCAP_CELL_NONE;
    }
    rows->text_count++;
    return nocap_cell_static(*next);
}

enum nocap_status nocap_rows_full(const struct nocap_rows *rows, struct nocap_error *err)
{
    RETURN_ERROR_IF(rows->count >= NOCAP_ROWS_MAX, err, NOCAP_E_INPUT,
                    "the trace has more than %d %s: ask of a part of it, which nocap cut makes",
                    NOCAP_ROWS_MAX, rows->table->name);
    return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for %s", rows->table->name);
}

void nocap_rows_free(struct nocap_rows *rows)
{
    for (size_t i = 0; i < rows->text_count; i++) {
        free(rows->texts[i]);
    }
    free(rows->texts);
    free(rows->cells);
    *rows = (struct nocap_rows){.table = rows->table};
}
