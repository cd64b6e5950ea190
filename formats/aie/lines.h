/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source behind the instructions of an image: the debug map that assemblers of 2026
 * put into section .dump. Source: AIE control code fact sheet, section 6, artefact 9. */
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

/* Reads the map of an image or a kernel. NULL, and NOCAP_OK, if `map` is NULL. Fails with
 * NOCAP_E_INPUT if it is no such map; the image can be used all the same. */
enum nocap_status nocap_aie_lines_open(struct nocap_aie_lines **lines, const uint8_t *map,
                                       size_t size, struct nocap_error *err);
void nocap_aie_lines_close(struct nocap_aie_lines *lines); /* NULL is fine */
/* Line of the instruction that begins there; NULL if it is not known. `lines` may be NULL. */
const struct nocap_aie_line *nocap_aie_lines_find(const struct nocap_aie_lines *lines, uint32_t uc,
                                                  uint32_t page, uint32_t off);

#endif
