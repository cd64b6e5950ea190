/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LETTERS = 32 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Edit distance, row by row. */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    unsigned row[LETTERS + 1];
    for (unsigned j = 0; j <= b_size; j++) {
        row[j] = j;
    }
    for (unsigned i = 0; i < a_size; i++) {
        unsigned corner = row[0]++;
        for (unsigned j = 0; j < b_size; j++) {
            unsigned differ = tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]);
            unsigned best = least(row[j] + 1, row[j + 1] + 1, corner + differ);
            corner = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[b_size];
}

const char *nocap_nearest(const char *text, size_t length, const char *name_of(unsigned),
                          unsigned count)
{
    const char *nearest = NULL;
    size_t fewest = length / 3 + 2;
    for (unsigned i = 0; i < count && length <= LETTERS; i++) {
        const char *name = name_of(i);
        size_t size = name != NULL ? strlen(name) : LETTERS + 1;
        unsigned d = size > 0 && size <= LETTERS ? distance(text, length, name, size) : LETTERS;
        if (d < fewest) {
            fewest = d;
            nearest = name;
        }
    }
    return nearest;
}
