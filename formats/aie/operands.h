/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles and actors of WAIT_TCTS, and addresses of the array. Source: operands.def. */
#ifndef NOCAP_AIE_OPERANDS_H
#define NOCAP_AIE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/aie/chip.h"
#include "formats/aie/isa.h"

enum {
    NOCAP_AIE_ROW_BITS = 5, /* of a tile_id; the column above it */
    NOCAP_AIE_ROW_MAX = 31,
    NOCAP_AIE_COLUMN_MAX = 127,
    NOCAP_AIE_TILE_BITS = 12,
    NOCAP_AIE_ACTOR_CORE = 15,   /* TILE_CORE, n26 */
    NOCAP_AIE_COLUMN_SHIFT = 25, /* of an address */
    NOCAP_AIE_ROW_SHIFT = 20,
    NOCAP_AIE_REGISTER_MASK = 0xFFFFF, /* offset in the tile */
    NOCAP_AIE_TASK_REPEAT_SHIFT = 16,  /* of a task queue: how often the task is repeated */
    NOCAP_AIE_TASK_REPEAT_MASK = 0xFF,
};
#define NOCAP_AIE_TASK_TOKEN UINT32_C(0x80000000) /* of a task queue: the task sends a token */

static inline uint32_t nocap_aie_tile(uint32_t column, uint32_t row)
{
    return column << NOCAP_AIE_ROW_BITS | row;
}
static inline uint32_t nocap_aie_tile_column(uint32_t tile)
{
    return tile >> NOCAP_AIE_ROW_BITS & NOCAP_AIE_COLUMN_MAX;
}
static inline uint32_t nocap_aie_tile_row(uint32_t tile)
{
    return tile & NOCAP_AIE_ROW_MAX;
}

/* "TILE_2_1", "MEM_MM2S_0", "S2MM_3": case is ignored, `length` bytes. */
bool nocap_aie_tile_parse(const char *text, size_t length, uint32_t *tile);
bool nocap_aie_actor_parse(enum nocap_aie_chip chip, const char *text, size_t length,
                           uint32_t *actor);
/* The actor's name on that tile; false if the tile has no such actor, or the chip is not known. */
bool nocap_aie_actor_name(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                          enum nocap_aie_dialect dialect, char *text, size_t size);
/* "TILE_0_1 MEM_S2MM_0"; "tile 0x1 actor 0" where the tile has no such actor, or the chip is not
 * known. Both return `text`. */
const char *nocap_aie_channel_text(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                                   char *text, size_t size);
/* "TILE_0_1 + 0x60", "TILE_0_1 descriptor 3 + 0x8" or "queue of TILE_0_1 MEM_S2MM_0". */
const char *nocap_aie_address_text(enum nocap_aie_chip chip, uint32_t address, char *text,
                                   size_t size);
/* Address of the task queue of an actor's channel; false if not known. */
bool nocap_aie_task_queue(enum nocap_aie_chip chip, uint32_t tile, uint32_t actor,
                          uint32_t *address);

/* The first task queue from an address on in the same tile; false if there is none. */
bool nocap_aie_next_queue(enum nocap_aie_chip chip, uint32_t from, uint32_t *address);
/* Whether the address is a task queue of any tile; of which actor. */
bool nocap_aie_is_task_queue(enum nocap_aie_chip chip, uint32_t address);
bool nocap_aie_queue_actor(enum nocap_aie_chip chip, uint32_t address, uint32_t *tile,
                           uint32_t *actor);

#endif
