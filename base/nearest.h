/* SPDX-License-Identifier: Apache-2.0 */
/* The known name nearest to a misspelt one. */
#ifndef NOCAP_BASE_NEAREST_H
#define NOCAP_BASE_NEAREST_H

#include <stddef.h>

/* Of name_of(0) to name_of(count - 1) the one with the fewest letters to change, add or leave out,
 * whatever the case; NULL if it takes one more than a third of them. `length` bytes, not
 * terminated. */
const char *nocap_nearest(const char *text, size_t length, const char *name_of(unsigned),
                          unsigned count);

#endif
