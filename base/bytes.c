/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"

#include <stdlib.h>

bool buffer_widen(void *data, size_t *capacity, size_t size, size_t more)
{
    size_t wider = *capacity == 0 ? 4096 : *capacity;
    while (wider - size < more) {
        wider *= 2;
    }
    void *bytes;
    memcpy(&bytes, data, sizeof bytes);
    void *moved = realloc(bytes, wider);
    if (moved == NULL) {
        return false;
    }
    memcpy(data, &moved, sizeof moved);
    *capacity = wider;
    return true;
}
