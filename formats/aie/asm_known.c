/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/asm_known.h"

#include <stdlib.h>
#include <string.h>

#include "formats/aie/page.h"

size_t aie_known_relocations(const struct aie_known *known, const struct nocap_aie_page *page,
                             const uint32_t **list)
{
    size_t at = (size_t)(page - known->image->pages);
    *list = known->relocations + known->first_relocation[at];
    return known->first_relocation[at + 1] - known->first_relocation[at];
}

/* ---- chains ---- */

bool aie_begins_chain(const struct nocap_aie_image *image, const struct nocap_aie_page *page)
{
    return page == image->pages || page->group != page[-1].group || page->uc != page[-1].uc ||
           nocap_aie_head(page - 1, NOCAP_AIE_HEAD_NEXT) == 0;
}

void aie_chain_name(char name[AIE_CHAIN_NAME], const struct nocap_aie_page *page)
{
    snprintf(name, AIE_CHAIN_NAME, page->index == 0 ? "default" : "code_%05u", page->index);
}

static const struct nocap_aie_page *other_page(const struct aie_known *known, uint32_t index)
{
    return nocap_aie_image_page(known->image, known->page->group, known->page->uc, index);
}

const struct nocap_aie_page *aie_known_chain(const struct aie_known *known,
                                             const struct aie_word *name)
{
    char text[AIE_CHAIN_NAME];
    unsigned index = 0;
    snprintf(text, sizeof text, "%.*s", AIE_TEXT(name));
    (void)sscanf(text, "code_%9u", &index); /* else it can be the name of page 0 */
    const struct nocap_aie_page *page = other_page(known, index);
    if (page == NULL || !aie_begins_chain(known->image, page)) {
        return NULL;
    }
    aie_chain_name(text, page);
    return aie_word_is(name, text) ? page : NULL;
}

uint32_t aie_known_length(const struct aie_known *known, uint32_t index)
{
    const struct nocap_aie_page *page = other_page(known, index);
    return page == NULL ? 0 : nocap_aie_head(page, NOCAP_AIE_HEAD_LENGTH);
}

uint32_t aie_known_next(const struct aie_known *known)
{
    const struct nocap_aie_page *next = other_page(known, known->page->index + 1);
    return next == NULL || aie_begins_chain(known->image, next)
               ? 0
               : nocap_aie_head(next, NOCAP_AIE_HEAD_LENGTH);
}

/* ---- pages as they stand ---- */

/* How many pages of the column there are, from the first one on. */
static size_t column_pages(const struct aie_known *known, const struct aie_column *column,
                           const struct nocap_aie_page **first)
{
    const struct nocap_aie_image *image = known->image;
    uint32_t group =
        column->kernel < image->kernel_count ? image->kernels[column->kernel].group : 0;
    size_t count = 0;
    *first = nocap_aie_image_page(image, group, column->uc, 0);
    size_t left = *first == NULL ? 0 : image->page_count - (size_t)(*first - image->pages);
    while (count < left && (*first)[count].group == group && (*first)[count].uc == column->uc) {
        count++;
    }
    return count;
}

const uint8_t *aie_known_map(const struct aie_known *known, uint32_t kernel, size_t *size)
{
    const struct nocap_aie_image *image = known->image;
    bool named = kernel < image->kernel_count;
    *size = named ? image->kernels[kernel].map_size : image->map_size;
    return named ? image->kernels[kernel].map : image->map;
}

static void take_relocations(const struct aie_known *known, const struct nocap_aie_page *page,
                             struct aie_relocs *relocs)
{
    const uint32_t *list;
    relocs->count = aie_known_relocations(known, page, &list);
    for (size_t i = 0; i < relocs->count; i++) {
        const struct nocap_aie_relocation *r = &known->image->relocations[list[i]];
        const char *symbol = r->symbol == NULL ? "" : r->symbol;
        relocs->items[i] = (struct aie_reloc){.name = {symbol, (uint32_t)strlen(symbol), 1},
                                              .offset = r->page_offset,
                                              .addend = r->addend,
                                              .type = r->type};
    }
}

enum nocap_status aie_take_known(const struct aie_program *program, const struct aie_column *column,
                                 struct aie_pages *pages, struct aie_taken *taken)
{
    const struct aie_known *known = program->known;
    const struct nocap_aie_page *first;
    size_t count = column_pages(known, column, &first), used = 0;
    pages->items = calloc(count + 1, sizeof *pages->items);
    taken->raws = calloc(count + 1, sizeof *taken->raws);
    taken->relocs = calloc(known->image->relocation_count + 1, sizeof *taken->relocs);
    RETURN_NO_MEMORY_IF(pages->items == NULL || taken->raws == NULL || taken->relocs == NULL,
                        program);
    for (size_t i = 0; i < count; i++) {
        struct aie_raw *raw = &taken->raws[i];
        raw->bytes = first[i].bytes;
        raw->text_size = first[i].text_size;
        raw->relocs.items = taken->relocs + used;
        take_relocations(known, &first[i], &raw->relocs);
        used += raw->relocs.count;
        pages->items[i].raw = raw;
    }
    pages->count = count;
    return NOCAP_OK;
}
