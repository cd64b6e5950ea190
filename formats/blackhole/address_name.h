/* SPDX-License-Identifier: Apache-2.0 */
/* The name of an address in the words of the field, for dumps and messages. */
#ifndef NOCAP_BLACKHOLE_ADDRESS_NAME_H
#define NOCAP_BLACKHOLE_ADDRESS_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"

#define NOCAP_ADDRESS_NAME_MAX 64 /* bytes that hold every name */

struct nocap_address {
    enum nocap_space space;
    enum nocap_board board;
    struct nocap_xy at;                        /* the tile, for space TILE */
    const struct nocap_mailbox_layout *layout; /* NULL: the default one */
    unsigned by;                               /* who accesses it: enum nocap_agent */
    uint64_t addr;
    uint64_t width; /* bytes accessed, 0: unknown */
};

/* "launch[0].enables", "SOFT_RESET_0", "L1+0x37000", "LDM+0x10", "TLB[12].word1", "TLB[3]+0x100",
 * "DRAM+0x40", "gap", "sysmem+0x80". Returns `buffer`, always terminated. */
const char *nocap_address_name(const struct nocap_address *address, char *buffer, size_t size);

#endif
