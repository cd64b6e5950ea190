/* SPDX-License-Identifier: Apache-2.0 */
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 8 };

void *list_next(void *list, size_t count, size_t size)
{
    char *items; /* `list` is a pointer to a pointer to whatever the items are */
    memcpy(&items, list, sizeof items);
    if (count == 0 || (count >= ROOM_FIRST && (count & (count - 1)) == 0)) {
        size_t room = count == 0 ? ROOM_FIRST : 2 * count;
        items = room > SIZE_MAX / size ? NULL : realloc(items, room * size);
        if (items == NULL) {
            return NULL;
        }
        memcpy(list, &items, sizeof items);
    }
    return memset(items + count * size, 0, size);
}

void *list_again(void *list, size_t count, uint32_t *most, size_t size)
{
    char *items;
    if (count == *most) {
        void *next = list_next(list, count, size);
        *most += next != NULL;
        return next;
    }
    memcpy(&items, list, sizeof items);
    return memset(items + count * size, 0, size);
}
