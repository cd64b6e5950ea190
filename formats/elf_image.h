/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware and kernel ELF files (ELF32 RISC-V), as far as the control plane is concerned: what is
 * loaded where, where text begins, which symbol an address belongs to. Source: firmware upload
 * steps of docs/events.md's protocol. */
#ifndef NOCAP_ELF_IMAGE_H
#define NOCAP_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* One PT_LOAD segment as the host uploads it. */
struct nocap_elf_segment {
    uint32_t address;      /* where the host writes it in L1: p_paddr, or the scratch address for
                              LOCAL_RAM segments */
    uint32_t link_address; /* p_vaddr */
    uint32_t file_size, memory_size; /* bytes; memory beyond file_size is zero */
    const uint8_t *bytes;            /* file_size bytes */
    bool local_ram; /* p_paddr lies in the core-private window: remapped to the scratch address */
    bool text;      /* executable */
};

struct nocap_elf_image;

/* Opens and checks the file: ELF32, little-endian, EM_RISCV. `scratch` is the L1 address for
 * LOCAL_RAM segments; 0 when unknown: such segments then have address 0 and local_ram set. */
enum nocap_status nocap_elf_open(struct nocap_elf_image **image, const char *path, uint32_t scratch,
                                 struct nocap_error *err);
/* The same from bytes, which are copied; `name` is for messages. */
enum nocap_status nocap_elf_open_memory(struct nocap_elf_image **image, const void *bytes,
                                        size_t size, const char *name, uint32_t scratch,
                                        struct nocap_error *err);
void nocap_elf_close(struct nocap_elf_image *image);

size_t nocap_elf_segment_count(const struct nocap_elf_image *image);
const struct nocap_elf_segment *nocap_elf_segment(const struct nocap_elf_image *image, size_t i);
/* Address of the text section's first byte (the entry that reset PCs point to). */
uint32_t nocap_elf_text_base(const struct nocap_elf_image *image);
/* Bytes of the .text section; 0: the file has no section table. */
uint32_t nocap_elf_text_size(const struct nocap_elf_image *image);
/* Function or object that contains `address`, NULL if none; `offset` from its start. */
const char *nocap_elf_symbol(const struct nocap_elf_image *image, uint32_t address,
                             uint32_t *offset);
/* Source file and line of the instruction at `address`, as debug information says; NULL: it does
 * not. The text lives as long as the image. */
const char *nocap_elf_line(struct nocap_elf_image *image, uint32_t address, int *line);

#endif
