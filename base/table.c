/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include <stddef.h>
#include <stdlib.h>

enum { TABLE_START = 64 };

static struct table_row *place_of(const struct table *table, uint64_t key)
{
    uint32_t i = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & table->mask;
    while (table->rows[i].used && table->rows[i].key != key) {
        i = (i + 1) & table->mask;
    }
    return &table->rows[i];
}

struct table_row *table_find(const struct table *table, uint64_t key)
{
    struct table_row *row = table->rows != NULL ? place_of(table, key) : NULL;
    return row != NULL && row->used ? row : NULL;
}

static bool grow(struct table *table)
{
    struct table old = *table;
    uint32_t size = old.rows == NULL ? TABLE_START : 2 * (old.mask + 1);
    struct table_row *rows = calloc(size, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    table->rows = rows;
    table->mask = size - 1;
    for (uint32_t i = 0; old.rows != NULL && i <= old.mask; i++) {
        if (old.rows[i].used) {
            *place_of(table, old.rows[i].key) = old.rows[i];
        }
    }
    free(old.rows);
    return true;
}

struct table_row *table_get(struct table *table, uint64_t key)
{
    struct table_row *row = table_find(table, key);
    if (row != NULL) {
        return row;
    }
    if (table->count == TABLE_MAX ||
        ((table->rows == NULL || 2 * table->count > table->mask) && !grow(table))) {
        return NULL;
    }
    row = place_of(table, key);
    *row = (struct table_row){.key = key, .used = true};
    table->count++;
    return row;
}

void table_free(struct table *table)
{
    free(table->rows);
    *table = (struct table){0};
}
