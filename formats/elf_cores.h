/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF files of the cores of a tile: what runs where, and the name of a pc. */
#ifndef NOCAP_ELF_CORES_H
#define NOCAP_ELF_CORES_H

#include "formats/elf_image.h"
#include "formats/trace/header.h"

struct firmware_files;

struct nocap_elf_cores {
    struct nocap_elf_image *image[NOCAP_BY_TRISC2 + 1]; /* by agent; NULL: not given */
};

/* Opens `path` for the core of this name. NOCAP_E_USAGE: there is no such core, or it has a file
 * already. */
enum nocap_status nocap_elf_cores_add(struct nocap_elf_cores *cores, const char *name,
                                      const char *path, struct nocap_error *err);
/* For nocap itself. Opens what a header names, unless that core has a file already or is none. A
 * trace travels without its files: one that cannot be read is left out, and `files` says why. */
enum nocap_status elf_cores_add_named(struct nocap_elf_cores *cores, struct firmware_files *files,
                                      const struct nocap_firmware *firmware,
                                      struct nocap_error *err);
void nocap_elf_cores_close(struct nocap_elf_cores *cores);

/* The symbol of an agent's pc and the offset in it; NULL: unknown. */
const char *nocap_elf_cores_symbol(const struct nocap_elf_cores *cores, unsigned agent, uint64_t pc,
                                   uint32_t *offset);

#endif
