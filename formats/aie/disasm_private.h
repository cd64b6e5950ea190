/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: text that is being made of an image. */
#ifndef NOCAP_AIE_DISASM_PRIVATE_H
#define NOCAP_AIE_DISASM_PRIVATE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "formats/aie/asm_known.h"
#include "formats/aie/lines.h"
#include "formats/aie/page.h"

/* A text on its way to a stream. Most of it are lines of few kinds; with
 * format strings, and a call of the stream for each word, they took most of the time. */
enum { AIE_TEXT_ROOM = 16 << 10, AIE_DIGITS_MAX = 10 };

struct aie_text {
    FILE *out;
    size_t used;
    char bytes[AIE_TEXT_ROOM];
};

static inline void aie_text_flush(struct aie_text *text)
{
    fwrite(text->bytes, 1, text->used, text->out);
    text->used = 0;
}

/* The stream itself, for what is rare; what was put before is in it. */
static inline FILE *aie_text_stream(struct aie_text *text)
{
    aie_text_flush(text);
    return text->out;
}

static inline void aie_put_bytes_of(struct aie_text *text, const char *bytes, size_t size)
{
    if (size > AIE_TEXT_ROOM - text->used) {
        aie_text_flush(text);
    }
    if (size > AIE_TEXT_ROOM) {
        fwrite(bytes, 1, size, text->out);
        return;
    }
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

static inline void aie_put(struct aie_text *text, const char *string)
{
    aie_put_bytes_of(text, string, strlen(string));
}

/* "0x00ff": at least so many digits. */
static inline void aie_put_hex(struct aie_text *text, uint32_t value, unsigned digits)
{
    char buffer[AIE_DIGITS_MAX], *at = buffer + sizeof buffer;
    for (unsigned n = 0; n < digits || n == 0 || value != 0; n++, value >>= 4) {
        *--at = "0123456789abcdef"[value & 0xF];
    }
    aie_put_bytes_of(text, "0x", 2);
    aie_put_bytes_of(text, at, (size_t)(buffer + sizeof buffer - at));
}

static inline void aie_put_number(struct aie_text *text, uint32_t value)
{
    char buffer[AIE_DIGITS_MAX], *at = buffer + sizeof buffer;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    aie_put_bytes_of(text, at, (size_t)(buffer + sizeof buffer - at));
}

enum { AIE_SYMBOL_SIZE = 64 }; /* of the longest name that the assembler keeps, and its end */

struct aie_printer {
    struct aie_text *text;
    const struct nocap_aie_image *image;
    enum nocap_aie_dialect dialect;
    enum nocap_aie_chip chip;
    uint32_t *relocations, *first_relocation; /* of `known` */
    struct aie_known known;                   /* the same image, and its relocations by page */
    bool *raw;                                /* by page: written as its bytes */
    bool around;                              /* the text around the pages, without theirs */
    struct aie_extent {
        size_t statements, bytes;
    } extent;                      /* of the text, for asm */
    bool complete;                 /* every page decodes */
    bool notes;                    /* comments after instructions and descriptors */
    struct nocap_aie_lines *lines; /* of the kernel; NULL: none */
};

/* disasm_labels.c */

/* A page with the places that are pointed to. */
struct aie_labels {
    const struct nocap_aie_page *page;
    uint32_t data; /* where they begin */
    uint32_t end;  /* of the data */
    uint8_t marks[NOCAP_AIE_PAGE_SIZE];
};
enum { MARK_DESCRIPTOR = 1, MARK_WORDS = 2 };
void aie_find_labels(enum nocap_aie_dialect dialect, struct aie_labels *l,
                     const struct nocap_aie_page *page);
/* The next label after `at`, or the end. */
uint32_t aie_group_end(const struct aie_labels *l, uint32_t at);
/* Where the descriptors end that the data from a label up to `end` begin with; `at`: none. After
 * the last one of a chain may stand more of them, or other words: those are descriptors only if
 * nothing else follows. */
uint32_t aie_descriptors_end(const struct aie_labels *l, uint32_t at, uint32_t end);

/* disasm.c: the pages of a group, or `around` the lines that go before those of each uC; sets `raw`
 * of pages that do not decode. */
enum nocap_status aie_put_pages(struct aie_printer *printer, uint32_t group,
                                struct nocap_error *err);
/* One of them as the only one. */
enum nocap_status aie_put_page(struct aie_printer *printer, const struct nocap_aie_page *page,
                               struct nocap_error *err);
/* disasm_file.c: the whole text; what goes before one page, for it to be the only one. */
enum nocap_status aie_put_file(struct aie_printer *printer, struct nocap_error *err);
void aie_put_page_head(struct aie_printer *printer, const struct nocap_aie_page *page);
/* disasm_verify.c: whether asm makes the same file of the text. Sets `raw` of pages that have to
 * come as bytes for that, and `complete`. Fails only for want of memory. */
enum nocap_status aie_verify(struct aie_printer *printer, bool *same, struct nocap_error *err);
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

/* disasm_notes.c: the comment after an instruction or a descriptor; nothing without `notes`. */
void aie_note_insn(const struct aie_printer *printer, const struct nocap_aie_page *page,
                   const struct nocap_aie_walker *walker);
void aie_note_descriptor(const struct aie_printer *printer, uint32_t at,
                         const struct nocap_aie_bd *bd);

#endif
