/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats: images of files that are open already, and images that several hold. */
#ifndef NOCAP_ELF_IMAGE_PRIVATE_H
#define NOCAP_ELF_IMAGE_PRIVATE_H

#include <elfutils/libdw.h>

#include "base/regular_file.h"
#include "formats/elf_image.h"

/* Firmware with all its debug information takes a few MiB. */
enum { ELF_FILE_MAX = 64 << 20 };

/* nocap_elf_open of a file of at most ELF_FILE_MAX bytes; `name` is for messages. */
enum nocap_status elf_image_read(struct nocap_elf_image **image, const struct regular_file *file,
                                 const char *name, uint32_t scratch, struct nocap_error *err);
/* Its debug information, which lives as long as the image; NULL: it has none. */
Dwarf *elf_image_debug(struct nocap_elf_image *image);
/* The same image once more: nocap_elf_close is called once more, too. */
struct nocap_elf_image *elf_image_share(struct nocap_elf_image *image);

#endif
