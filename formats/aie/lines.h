/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source of the instructions of an image: the debug map that assemblers of 2026
 * put into section .dump, or the DWARF that those of late 2026 write instead. Source: AIE control
 * code fact sheet, section 6, artefact 9; lines_dwarf.h. */
#ifndef NOCAP_AIE_LINES_H
#define NOCAP_AIE_LINES_H

#include "formats/aie/image.h"

struct nocap_aie_line {
    uint32_t uc;
    uint64_t at; /* byte in the column's image: 8192 * page + offset */
    uint32_t line;
    const char *file;
};

struct nocap_aie_lines;

/* Reads the lines of a kernel of the image, by its place in the list; if there are no kernels, or
 * it has no lines of its own, those of the file. NULL, and NOCAP_OK, if there are none. Fails with
 * NOCAP_E_INPUT if they cannot be read; the image, which must outlive them, can be used all the
 * same. */
enum nocap_status nocap_aie_lines_open(struct nocap_aie_lines **lines,
                                       const struct nocap_aie_image *image, size_t kernel,
                                       struct nocap_error *err);
void nocap_aie_lines_close(struct nocap_aie_lines *lines); /* NULL is fine */
/* Line of the instruction that begins there; NULL if it is not known. `lines` may be NULL. */
const struct nocap_aie_line *nocap_aie_lines_find(const struct nocap_aie_lines *lines, uint32_t uc,
                                                  uint32_t page, uint32_t off);

#endif
