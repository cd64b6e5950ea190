/* SPDX-License-Identifier: Apache-2.0 */
/* A table from 64-bit keys to pairs of numbers, of bounded size. */
#ifndef NOCAP_BASE_TABLE_H
#define NOCAP_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { TABLE_MAX = 1 << 20 }; /* entries */

struct table_row {
    uint64_t key, a, b;
    bool used;
};

/* All zero to begin with; table_free. */
struct table {
    struct table_row *rows; /* open addressing */
    uint32_t mask, count;
};

/* NULL if there is none. */
struct table_row *table_find(const struct table *table, uint64_t key);
/* The row of `key`, made with a and b 0 if it is new; NULL without memory or over TABLE_MAX. */
struct table_row *table_get(struct table *table, uint64_t key);
void table_free(struct table *table);

#endif
