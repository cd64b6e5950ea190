/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/trace: the footer, and whether what it says of blocks is what they hold. */
#ifndef NOCAP_TRACE_FOOTER_H
#define NOCAP_TRACE_FOOTER_H

#include "formats/trace/block.h"
#include "formats/trace/nocap.pb-c.h"

/* NULL if it does not decode, or (`*no_memory` becomes true) for want of memory. */
Nocap__Footer *footer_unpack(const struct span *message, bool *no_memory);
void footer_free(Nocap__Footer *footer); /* NULL is fine */

/* A block, and the index that its first event has if the footer is right. */
struct footer_place {
    uint64_t block, first;
};

/* What a block holds. */
struct footer_block {
    uint64_t number, first, count;
    struct block_times times;
    const uint64_t *before; /* time of an event that was read before it; NULL: none was */
};

enum { FOOTER_WHY = 140 };
/* Whether the footer says of itself, and of this block, what is so; else `why` tells. `place` moves
 * on to the block; it begins as all zero. */
bool footer_agrees(const Nocap__Footer *footer, struct footer_place *place,
                   const struct footer_block *block, char why[FOOTER_WHY]);

#endif
