/* SPDX-License-Identifier: Apache-2.0 */
/* The file around the pages: header, sections, relocations, the note with the file's name. */
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint_private.h"

/* Pairs of OSABI and ABI version. Source: AIE control code fact sheet, section 3.1. */
static const struct {
    uint8_t os_abi, version;
} known_abis[] = {{0x40, 1},    {0x40, 2},    {0x46, 2},    {0x46, 3},
                  {0x40, 0x21}, {0x4B, 0x21}, {0x56, 0x21}, {0x69, 0x21}};

static const struct lint_place nowhere = {NOCAP_AIE_NO_GROUP, NOCAP_LINT_NOWHERE,
                                          NOCAP_LINT_NOWHERE, NOCAP_LINT_NOWHERE};

static void judge_elf(struct lint *l)
{
    const struct nocap_aie_image *image = l->image;
    bool known = false;
    for (size_t i = 0; i < sizeof known_abis / sizeof known_abis[0]; i++) {
        known |=
            image->os_abi == known_abis[i].os_abi && image->abi_version == known_abis[i].version;
    }
    LINT_CHECK(l, AIE_059,
               image->elf_class == ELFCLASS32 && image->machine == NOCAP_AIE_MACHINE &&
                   image->elf_type == ET_EXEC && known,
               nowhere, "a 32-bit executable, machine 1, with a known OS ABI and version",
               "ELF file of class %u, type %u, machine %u, OS ABI 0x%02x version 0x%02x",
               image->elf_class, image->elf_type, image->machine, image->os_abi,
               image->abi_version);
    LINT_CHECK(l, AIE_059, image->repeated == 0, nowhere, "each section of a page once",
               "%zu section%s of pages that had one before", image->repeated,
               image->repeated == 1 ? "" : "s");
}

static void judge_page(struct lint *l, const struct nocap_aie_page *page)
{
    struct lint_place here = LINT_AT(page, NOCAP_LINT_NOWHERE);
    if (!LINT_CHECK(l, AIE_059, page->has_text && page->has_data, here,
                    "a section of text and one of data", "page without a section of %s",
                    page->has_text ? "data" : "text")) {
        return;
    }
    LINT_CHECK(l, AIE_059,
               page->section_size == NOCAP_AIE_PAGE_SIZE &&
                   (page->text_size == 0 || page->text_size >= NOCAP_AIE_HEADER_SIZE),
               here, "text with its header, and data, 8192 bytes together",
               "page of %u bytes, %u of them text", page->section_size, page->text_size);
}

/* ---- relocations ---- */

static bool judge_relocation(struct lint *l, const struct nocap_aie_relocation *r)
{
    uint32_t size = nocap_aie_relocation_size(r->type);
    struct lint_place here = nowhere;
    if (r->page != NULL) {
        here = LINT_AT(r->page, r->page_offset);
    }
    if (!LINT_CHECK(l, AIE_060, size != 0, here, "a known type of relocation",
                    "unknown relocation type %u", r->type) ||
        !LINT_CHECK(l, AIE_060, r->section != NULL && r->symbol != NULL, here,
                    "a symbol in a section of the file",
                    "relocation without a symbol, or for no section of the file (section %u)",
                    r->section_index)) {
        return false;
    }
    uint64_t end = r->page != NULL ? (uint64_t)r->page_offset + size : (uint64_t)r->offset + size;
    uint64_t limit = r->page != NULL ? NOCAP_AIE_PAGE_SIZE : r->section_size;
    return LINT_CHECK(l, AIE_060, end <= limit, here, "a place inside its section",
                      "relocation of %u bytes at offset 0x%x, past the end of %.60s", size,
                      r->offset, r->section);
}

/* Where tables are relocated: place of the page in the file, offset in it. Sorted. */
struct tables {
    uint64_t *items;
    size_t count;
};

static uint64_t table_key(const struct lint *l, const struct nocap_aie_page *page, uint32_t at)
{
    return (uint64_t)(page - l->image->pages) << 32 | at;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static bool find_tables(struct lint *l, struct tables *tables)
{
    tables->count = 0;
    tables->items = malloc((l->image->relocation_count + 1) * sizeof *tables->items);
    for (size_t i = 0; tables->items != NULL && i < l->image->relocation_count; i++) {
        const struct nocap_aie_relocation *r = &l->image->relocations[i];
        if (r->page != NULL && r->type == l->shim) {
            tables->items[tables->count++] = table_key(l, r->page, r->page_offset);
        }
    }
    if (tables->items == NULL) {
        l->out_of_memory = true;
        return false;
    }
    qsort(tables->items, tables->count, sizeof *tables->items, by_key);
    return true;
}

static bool has_relocation(const struct lint *l, const struct tables *tables,
                           const struct nocap_aie_page *page, uint32_t at)
{
    uint64_t key = table_key(l, page, at);
    return tables->count != 0 &&
           bsearch(&key, tables->items, tables->count, sizeof key, by_key) != NULL;
}

/* Each table has its relocation: in n26 each entry. */
static void judge_tables(struct lint *l, const struct tables *tables,
                         const struct nocap_aie_page *page)
{
    struct nocap_aie_walker w;
    char expected[64];
    snprintf(expected, sizeof expected, "a relocation of type %u for the table", l->shim);
    nocap_aie_walk_begin(&w, page, l->dialect);
    while (nocap_aie_walk_next(&w) == NOCAP_AIE_WALK_INSN) {
        bool table = w.insn.info->opcode == NOCAP_AIE_APPLY_OFFSET_57;
        uint32_t at = w.insn.value[NOCAP_AIE_APPLY_OFFSET_57_table_ptr] + NOCAP_AIE_HEADER_SIZE;
        bool inside =
            at % 4 == 0 && at >= w.end &&
            at + NOCAP_AIE_TABLE_ENTRY_SIZE <= nocap_aie_head(page, NOCAP_AIE_HEAD_LENGTH);
        if (table && inside) {
            LINT_CHECK(l, AIE_036, has_relocation(l, tables, page, at), LINT_AT(page, w.at),
                       expected, "no relocation of the table at offset %u", at);
        }
    }
}

/* A table's relocation does not point into instructions. */
static bool judge_target(struct lint *l, const struct nocap_aie_relocation *r)
{
    struct nocap_aie_walker w;
    if (r->page == NULL || r->type != l->shim) {
        return true;
    }
    nocap_aie_walk_begin(&w, r->page, l->dialect);
    return LINT_CHECK(l, AIE_036, r->page->text_size == 0 || r->page_offset >= w.end,
                      LINT_AT(r->page, r->page_offset), "tables in the data",
                      "a relocation of a table inside the text");
}

void lint_envelope(struct lint *l)
{
    const struct nocap_aie_image *image = l->image;
    if (!image->elf) {
        return;
    }
    judge_elf(l);
    for (size_t i = 0; i < image->page_count; i++) {
        judge_page(l, &image->pages[i]);
    }
    bool hold = true, in_data = true;
    for (size_t i = 0; i < image->relocation_count; i++) {
        hold &= judge_relocation(l, &image->relocations[i]);
    }
    for (size_t i = 0; i < image->relocation_count && hold && l->shim != 0; i++) {
        in_data &= judge_target(l, &image->relocations[i]);
    }
    struct tables tables = {0};
    hold = hold && in_data && l->shim != 0 && !l->broken_pages && find_tables(l, &tables);
    for (size_t i = 0; i < image->page_count && hold; i++) {
        judge_tables(l, &tables, &image->pages[i]);
    }
    free(tables.items);
    if (image->has_uid && image->debug_count == 0) { /* which the sum may cover */
        LINT_EXPECT_AS(l, AIE_060, NOCAP_WARNING, strcmp(image->uid, image->uid_expected) == 0,
                       nowhere, "the MD5 of the sections in the note",
                       "MD5 %.32s in the note instead of %s", image->uid, image->uid_expected);
    }
}
