/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that grow. How much room a list has follows from how many items it holds, the next power of
 * two, so that nothing but pointer and count need be kept: NULL and 0 to begin with, free at last.
 */
#ifndef NOCAP_BASE_LIST_H
#define NOCAP_BASE_LIST_H

#include <stddef.h>
#include <stdint.h>

/* The place after the `count` items of `list`, a pointer to them, all zero; the caller counts it.
 * NULL: no memory, and the list is as it was. */
#define LIST_NEXT(list, count) list_next(&(list), (count), sizeof *(list))
void *list_next(void *list, size_t count, size_t size);

/* The same for a list that begins again and again, in the room that it has: `most` is how many
 * items it ever held. */
#define LIST_AGAIN(list, count, most) list_again(&(list), (count), &(most), sizeof *(list))
void *list_again(void *list, size_t count, uint32_t *most, size_t size);

#endif
