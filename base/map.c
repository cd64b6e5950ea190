/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdbool.h>

#include "base/list.h"

enum { SLOTS_FIRST = 64 };

static bool widen(struct map_slots *slots, const void *rows, size_t row_size, size_t count,
                  size_t key_size)
{
    size_t size = slots->at == NULL ? SLOTS_FIRST : 2 * (slots->mask + 1);
    uint32_t *at = calloc(size, sizeof *at);
    if (at == NULL) {
        return false;
    }
    free(slots->at);
    *slots = (struct map_slots){.at = at, .mask = size - 1};
    for (size_t i = 0; i < count; i++) {
        const char *row = (const char *)rows + i * row_size;
        *map_slot(slots, rows, row_size, row, key_size) = (uint32_t)i + 1;
    }
    return true;
}

void *map_add(struct map_slots *slots, void *rows, size_t row_size, size_t *count, size_t most,
              const void *key, size_t key_size)
{
    void *list, *row;
    memcpy(&list, rows, sizeof list);
    if (*count >= most ||
        ((slots->at == NULL || 2 * *count > slots->mask) &&
         !widen(slots, list, row_size, *count, key_size)) ||
        (row = list_next(rows, *count, row_size)) == NULL) {
        return NULL;
    }
    memcpy(&list, rows, sizeof list);
    *map_slot(slots, list, row_size, key, key_size) = (uint32_t)++ * count;
    return memcpy(row, key, key_size);
}
