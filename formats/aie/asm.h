/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler and disassembler of AIE control code. Source: control code instruction set, directives;
 * AIE control code fact sheet, section 3. */
#ifndef NOCAP_AIE_ASM_H
#define NOCAP_AIE_ASM_H

#include <stdio.h>

#include "formats/aie/image.h"

struct nocap_aie_asm_options {
    enum nocap_aie_dialect dialect; /* NOCAP_AIE_DIALECT_OF_FILE: that of the document, or n26 for
                                       what only that has */
    enum nocap_aie_chip chip;       /* NOCAP_AIE_CHIP_UNKNOWN: that of .target, or aie2ps */
    const char *const *dirs; /* where .include and .setpad look, after the file's own directory */
    size_t dir_count;
    bool no_map;         /* n26: without section .dump */
    bool map;            /* other dialects: with that section */
    const char *buffers; /* JSON file about external buffers and where control packets name them;
                            NULL: none */
    enum nocap_aie_chip *made_for; /* where the chip goes that the text is for; NULL: nowhere */
};

/* Assembles a file, with what it includes, into an ELF file; free(*elf). Fails with NOCAP_E_INPUT
 * and "file:line:column: what is wrong; expected ...". */
enum nocap_status nocap_aie_assemble(uint8_t **elf, size_t *size, const char *path,
                                     const struct nocap_aie_asm_options *options,
                                     struct nocap_error *err);
/* The same from a text, which may not include anything; `name` is for messages. */
enum nocap_status nocap_aie_assemble_text(uint8_t **elf, size_t *size, const char *text,
                                          size_t length, const char *name,
                                          const struct nocap_aie_asm_options *options,
                                          struct nocap_error *err);

/* Writes text that assembles to the same file: pages, buffers, relocations, kernels, layout. What
 * instructions do not make comes as bytes. `complete`: false if a page could not be decoded, or if
 * the text does not make the same, which its first line says then. Fails with NOCAP_E_OUTPUT or
 * NOCAP_E_MEMORY. */
enum nocap_status nocap_aie_disassemble(FILE *out, const struct nocap_aie_image *image,
                                        enum nocap_aie_dialect dialect, bool *complete,
                                        struct nocap_error *err);

/* The same text with comments: where each instruction stands in its page, tile and channel of
 * addresses, what chains of descriptors write, and source lines if the file has them. */
enum nocap_status nocap_aie_disassemble_with_notes(FILE *out, const struct nocap_aie_image *image,
                                                   enum nocap_aie_dialect dialect, bool *complete,
                                                   struct nocap_error *err);

#endif
