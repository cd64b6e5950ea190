/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are found by their keys. They stand in a list, in the order in which they came, and
 * each begins with its key: one or more 64-bit words. */
#ifndef NOCAP_BASE_MAP_H
#define NOCAP_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of rows by the hash of the key: open addressing, at most half full. */
struct map_slots {
    uint32_t *at; /* number + 1; 0: free */
    size_t mask;
};

/* The members of a map from keys to rows of this type; all zero to begin with. */
#define MAP(type)                                                                                  \
    type *rows;                                                                                    \
    size_t count;                                                                                  \
    struct map_slots slots

/* The row of `*key`, which has the type of the rows' first member; NULL: there is none. */
#define MAP_FIND(map, key)                                                                         \
    map_find(&(map)->slots, (map)->rows, sizeof *(map)->rows, (key), sizeof *(key))
/* The same, made with all but the key zero if it is new, which moves the others. NULL: no memory,
 * or there are `most` rows already. */
#define MAP_GET(map, key, most)                                                                    \
    map_get(&(map)->slots, &(map)->rows, sizeof *(map)->rows, &(map)->count, (most), (key),        \
            sizeof *(key))
/* Empties it. */
#define MAP_FREE(map)                                                                              \
    (free((map)->rows), free((map)->slots.at), (map)->rows = NULL, (map)->count = 0,               \
     (map)->slots = (struct map_slots){0})

/* A new row; `rows` points to the list. */
void *map_add(struct map_slots *slots, void *rows, size_t row_size, size_t *count, size_t most,
              const void *key, size_t key_size);

static inline size_t map_hash(const void *key, size_t size)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, (const char *)key + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return (size_t)hash;
}

/* Where the number of the key's row stands, or belongs. */
static inline uint32_t *map_slot(const struct map_slots *slots, const void *rows, size_t row_size,
                                 const void *key, size_t key_size)
{
    size_t i = map_hash(key, key_size) & slots->mask;
    while (slots->at[i] != 0 &&
           memcmp((const char *)rows + (slots->at[i] - 1) * row_size, key, key_size) != 0) {
        i = (i + 1) & slots->mask;
    }
    return &slots->at[i];
}

static inline void *map_find(const struct map_slots *slots, void *rows, size_t row_size,
                             const void *key, size_t key_size)
{
    uint32_t number = slots->at != NULL ? *map_slot(slots, rows, row_size, key, key_size) : 0;
    return number != 0 ? (char *)rows + (number - 1) * row_size : NULL;
}

static inline void *map_get(struct map_slots *slots, void *rows, size_t row_size, size_t *count,
                            size_t most, const void *key, size_t key_size)
{
    void *list;
    memcpy(&list, rows, sizeof list);
    void *row = map_find(slots, list, row_size, key, key_size);
    return row != NULL ? row : map_add(slots, rows, row_size, count, most, key, key_size);
}

#endif
