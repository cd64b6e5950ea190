/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: an ELF file that is being made. */
#ifndef NOCAP_AIE_ELF_WRITE_H
#define NOCAP_AIE_ELF_WRITE_H

#include <gelf.h>

#include "formats/aie/asm_private.h"

enum {
    SECTION_ALIGN = 16,
    TABLE_ALIGN = 8, /* of symbols, relocations, .dynamic */
    SECTION_TABLE_ALIGN = 16,
    GROUP_ALIGN = 4,
    OSABI_N26 = 0x46,
    ABI_KERNELS = 3,
    GROUP_FLAGS = 1,
    FIRST_GROUP = 2, /* section; after the groups come those of pages */
    ABI_MERGED = 0x21,
    NOTE_UID = 4,
    NOTE_CONFIGURATION = 6,
    UID_SIZE = 32, /* digits; n26 has 16 bytes */
    DEFAULT_COLUMNS = 4,
};

/* One section of the file. */
struct aie_part {
    const char *name;
    uint32_t type, flags, align, entry_size, link, info;
    uint32_t address; /* n26: sections that are loaded follow each other */
    bool loaded, dynamic, group;
    const uint8_t *bytes;
    size_t size;
    size_t offset, name_at;
};

struct aie_elf_file {
    const struct aie_output *output;
    struct nocap_error *err;
    bool later;             /* n26 */
    uint32_t *part_of;      /* of the output's sections */
    uint32_t strings_at;    /* section .dynstr */
    struct aie_part *parts; /* by index of the section; [0] is none */
    size_t count;
    uint8_t *strings; /* of .dynstr */
    uint8_t *symbols, *relocations, *names;
    size_t strings_size, symbols_size, names_size;
    uint8_t *kernel_strings, *kernel_symbols, *groups; /* of .strtab, .symtab, .group.<n> */
    char (*group_names)[24];
    size_t kernel_strings_size, kernel_symbols_size;
    uint8_t dynamic[2 * sizeof(Elf32_Dyn)], note[12 + 4 + UID_SIZE], configuration[12 + 4 + 4];
};

enum nocap_status aie_file_memory(struct aie_elf_file *f);
size_t aie_segment_count(const struct aie_elf_file *f);
/* Gives every section its place; returns that of the section table. */
size_t aie_place_parts(struct aie_elf_file *f);
/* The bytes of the file; free(*elf). */
enum nocap_status aie_write_parts(struct aie_elf_file *f, uint8_t **elf, size_t *size);
/* Whether they are these. */
enum nocap_status aie_compare_parts(struct aie_elf_file *f, const uint8_t *bytes, size_t size,
                                    bool *same);

#endif
