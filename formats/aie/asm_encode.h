/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: a page of statements on its way to bytes. */
#ifndef NOCAP_AIE_ASM_ENCODE_H
#define NOCAP_AIE_ASM_ENCODE_H

#include "formats/aie/asm_private.h"

/* A page on its way to bytes. */
struct aie_encoder {
    struct aie_program *program;
    struct aie_column *column;
    const struct aie_pages *pages;
    struct aie_output *output;
    struct aie_debug_map *map;
    const struct aie_page *page;
    const struct aie_pad *packets; /* the buffer with the control packets; NULL: not known yet */
    uint32_t index;                /* of the page */
    uint32_t section;              /* its text section, in the output */
    uint32_t base;                 /* of the page in that section */
    uint8_t *bytes;                /* of the page, NOCAP_AIE_PAGE_SIZE */
    uint32_t at;                   /* less the header */
};

/* What an operand stands for, as it stands in the binary; `values` are those before it, `before`
 * the constant before it in the instruction. */
enum nocap_status aie_operand_value(struct aie_encoder *e, const struct aie_statement *s,
                                    const struct aie_word *word,
                                    const struct nocap_aie_field *field, const uint32_t *values,
                                    uint32_t before, uint32_t *value);
/* "@name": a label of this page, or a buffer. */
enum nocap_status aie_label_value(const struct aie_encoder *e, const struct aie_statement *s,
                                  const struct aie_word *word, uint32_t *value);
enum nocap_status aie_page_value(const struct aie_encoder *e, const struct aie_statement *s,
                                 const struct aie_word *word, uint32_t *value);
/* The buffer of "@name", NULL: none; its place after the pages. */
const struct aie_pad *aie_named_pad(const struct aie_encoder *e, const struct aie_word *word);
uint32_t aie_pad_base(const struct aie_encoder *e, const struct aie_pad *pad);
/* n26: how many entries the table of an APPLY_OFFSET_57 has, and where each is. */
enum nocap_status aie_entry_count(const struct aie_encoder *e, const struct aie_statement *s,
                                  uint32_t *count);
enum nocap_status aie_table_entry(const struct aie_encoder *e, const struct aie_statement *s,
                                  uint32_t number, uint32_t *offset);

#endif
