/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: lines of the source from DWARF, which assemblers of late 2026 write
 * instead of a debug map: of each kernel a compile unit with a module for each column, whose line
 * table has page * 8192 + offset for address. Source: the writer of the public assembler
 * (Xilinx/aiebu, src/cpp/encoder/aie2ps/dwarf_writer.cpp). */
#ifndef NOCAP_AIE_LINES_DWARF_H
#define NOCAP_AIE_LINES_DWARF_H

#include "formats/aie/lines.h"

/* Adds the lines of a compile unit, in no order, whose names of files are the image's. `name`:
 * "<symbol>:<instance>" of the kernel whose unit it must be; NULL: any. *found: it is. Fails with
 * NOCAP_E_INPUT if it cannot be read. */
enum nocap_status aie_dwarf_lines(const struct nocap_aie_debug *debug, const char *name,
                                  bool *found, struct nocap_aie_line **list, size_t *count,
                                  struct nocap_error *err);
/* lines_table.c: those of the table that begins `at` so many bytes, which is the uC's. */
enum nocap_status aie_dwarf_table(const struct nocap_aie_debug *debug, uint64_t at, uint32_t uc,
                                  struct nocap_aie_line **list, size_t *count,
                                  struct nocap_error *err);

#endif
