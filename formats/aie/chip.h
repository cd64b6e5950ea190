/* SPDX-License-Identifier: Apache-2.0 */
/* Generations of the array, and relocations. Source: chip.def. */
#ifndef NOCAP_AIE_CHIP_H
#define NOCAP_AIE_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHIP(NAME, name, shim, packets, header, ucs, memory, wide) NOCAP_##NAME,
enum nocap_aie_chip {
    NOCAP_AIE_CHIP_UNKNOWN,
#include "formats/aie/chip.def"
    NOCAP_AIE_CHIP_COUNT
};

#define RELOCATION(NAME, number, bytes, words) NOCAP_AIE_REL_##NAME = (number),
enum nocap_aie_relocation_type {
    NOCAP_AIE_REL_NONE,
#include "formats/aie/chip.def"
};

/* See chip.def. */
struct nocap_aie_chip_info {
    const char *name;
    enum nocap_aie_relocation_type shim, packets;
    uint8_t packet_header, ucs, memory_row_last, wide;
};
/* NULL: not known. */
const struct nocap_aie_chip_info *nocap_aie_chip_info(enum nocap_aie_chip chip);

/* A word of .target, a dash in it or not: "aie4-a"; the OS ABI of its files.
 * NOCAP_AIE_CHIP_UNKNOWN: there is no such target. */
enum nocap_aie_chip nocap_aie_target(const char *word, size_t length, uint8_t *os_abi);
/* The word whose files have this OS ABI; NULL: none. */
const char *nocap_aie_target_of(uint8_t os_abi, enum nocap_aie_chip *chip);
/* What only files of one generation have. */
enum nocap_aie_chip nocap_aie_relocation_chip(uint32_t type);

/* Bytes that a relocation of this type needs at its place; 0: no such type. */
uint32_t nocap_aie_relocation_size(uint32_t type);
/* The 32-bit words, as bits from the place on, that it changes. */
uint32_t nocap_aie_relocation_words(uint32_t type);

#endif
