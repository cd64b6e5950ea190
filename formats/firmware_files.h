/* SPDX-License-Identifier: Apache-2.0 */
/* Private to nocap: the ELF files that the header of a trace names. A trace may come from anywhere:
 * its names are taken from its own folder on and may not lead out of it, unless the user trusts
 * them; only regular files are opened, each once, however many cores name it, and not more than
 * FIRMWARE_BYTES_MAX of them together. */
#ifndef NOCAP_FIRMWARE_FILES_H
#define NOCAP_FIRMWARE_FILES_H

#include <stdbool.h>

#include "formats/aie/image.h"
#include "formats/elf_image.h"
#include "formats/trace/header.h"

enum { FIRMWARE_BYTES_MAX = 256 << 20, FIRMWARE_CORES = 256 };

struct firmware_file;

struct firmware_files {
    char *folder; /* of the trace; "": the current one */
    bool trusted;
    bool named[FIRMWARE_CORES]; /* cores whose file was looked for, by agent */
    struct firmware_file *files;
    size_t count, bytes;
};

/* `trace`: the file whose header it is. `trusted`: names may lead anywhere. Close it whatever
 * comes. */
enum nocap_status firmware_files_open(struct firmware_files *files, const char *trace, bool trusted,
                                      struct nocap_error *err);
void firmware_files_close(struct firmware_files *files);

/* The image that the header names for a core, which the caller closes. NULL: it cannot be had, and
 * firmware_files_problem says why; or this core was asked for before. Fails without memory. */
enum nocap_status firmware_files_core(struct firmware_files *files,
                                      const struct nocap_firmware *firmware,
                                      struct nocap_elf_image **image, struct nocap_error *err);
/* The same of AIE control code; the name may have a kernel after a colon. */
enum nocap_status firmware_files_control(struct firmware_files *files,
                                         const struct nocap_firmware *firmware,
                                         struct nocap_aie_image **image, struct nocap_error *err);

/* What was not opened, and what to do, a sentence for each file. NOCAP_END: there is no such file;
 * NOCAP_OK with an empty text: it was opened. */
enum nocap_status firmware_files_problem(const struct firmware_files *files, size_t i,
                                         struct nocap_error *problem);

#endif
