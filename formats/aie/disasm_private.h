/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: text that is being made of an image. */
#ifndef NOCAP_AIE_DISASM_PRIVATE_H
#define NOCAP_AIE_DISASM_PRIVATE_H

#include "formats/aie/asm_private.h"
#include "formats/aie/lines.h"
#include "formats/aie/page.h"

enum { AIE_SYMBOL_SIZE = 64 }; /* of the longest name that the assembler keeps, and its end */

/* Where a page's lines stand in the text, as byte offsets. */
struct aie_page_text {
    long jobs_from, jobs_to, data_from, data_to;
    bool raw; /* written as its bytes */
};

struct aie_printer {
    FILE *out;
    const struct nocap_aie_image *image;
    enum nocap_aie_dialect dialect;
    enum nocap_aie_chip chip;
    uint32_t *relocations;         /* of the image, by page; those of none at the end */
    uint32_t *first_relocation;    /* by page: place in the list before */
    struct aie_page_text *texts;   /* by page */
    bool complete;                 /* every page decodes */
    bool notes;                    /* comments behind instructions and descriptors */
    struct nocap_aie_lines *lines; /* of the kernel; NULL: none */
};

/* The pages of a group, with where their lines stand; sets `raw` of those that do not decode. */
enum nocap_status aie_put_pages(struct aie_printer *printer, uint32_t group,
                                struct nocap_error *err);
/* Whether a name of at most `most` bytes can stand in the text. */
bool aie_is_symbol(const char *name, size_t most);
/* ".bytes OFFSET, HEX", without the end of the line. */
void aie_put_line(const struct aie_printer *printer, uint32_t at, const uint8_t *bytes,
                  size_t count);
/* Lines of .bytes for what of `bytes` is not zero, from `from` on; sizes that are no multiple of 4
 * show in the last line. */
void aie_put_bytes(const struct aie_printer *printer, const uint8_t *bytes, size_t from,
                   size_t size);
/* A line of .reloc; none if its symbol cannot stand there. */
void aie_put_relocation(const struct aie_printer *printer, const struct nocap_aie_relocation *r,
                        uint32_t offset);

/* disasm_notes.c: the comment behind an instruction or a descriptor; nothing without `notes`. */
void aie_note_insn(const struct aie_printer *printer, const struct nocap_aie_page *page,
                   const struct nocap_aie_walker *walker);
void aie_note_descriptor(const struct aie_printer *printer, uint32_t at,
                         const struct nocap_aie_bd *bd);

/* Sets `raw` of the pages of `a` that are not the same in `b`. False if something differs that this
 * does not change: columns and numbers of pages, buffers and their relocations, pages that are
 * written as bytes already. */
bool aie_compare_images(const struct nocap_aie_image *a, const struct nocap_aie_image *b,
                        struct aie_page_text *texts);

#endif
