/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: a program of which a file knows the pages. So each page can be assembled
 * alone, to be compared with that of the file, and the file around pages and debug maps that are
 * taken as they stand; together this is the file that the whole text makes. */
#ifndef NOCAP_AIE_ASM_KNOWN_H
#define NOCAP_AIE_ASM_KNOWN_H

#include "formats/aie/asm_private.h"

enum { AIE_CHAIN_NAME = 24 };

struct aie_known {
    const struct nocap_aie_image *image;
    const uint32_t *relocations;       /* of the image, by page; those of none at the end */
    const uint32_t *first_relocation;  /* by page: place in the list before */
    const struct nocap_aie_page *page; /* that the text is of; NULL: of none, all are taken */
};

/* The relocations of a page, in the order of the file, as numbers of the image's; how many. */
size_t aie_known_relocations(const struct aie_known *known, const struct nocap_aie_page *page,
                             const uint32_t **list);

/* Whether no page before it leads to this one; the name of the chain that it begins then. */
bool aie_begins_chain(const struct nocap_aie_image *image, const struct nocap_aie_page *page);
void aie_chain_name(char name[AIE_CHAIN_NAME], const struct nocap_aie_page *page);
/* The first page of the chain of this name, of the same uC; NULL: there is none. */
const struct nocap_aie_page *aie_known_chain(const struct aie_known *known,
                                             const struct aie_word *name);
/* Length of another page of the uC, 0: there is none; of that which follows in the chain. */
uint32_t aie_known_length(const struct aie_known *known, uint32_t index);
uint32_t aie_known_next(const struct aie_known *known);

/* The debug map of a kernel. */
const uint8_t *aie_known_map(const struct aie_known *known, uint32_t kernel, size_t *size);
/* The pages of a column, as they stand; free both lists. */
struct aie_taken {
    struct aie_raw *raws;
    struct aie_reloc *relocs;
};
enum nocap_status aie_take_known(const struct aie_program *program, const struct aie_column *column,
                                 struct aie_pages *pages, struct aie_taken *taken);

#endif
