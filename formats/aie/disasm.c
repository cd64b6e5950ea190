/* SPDX-License-Identifier: Apache-2.0 */
/* Pages to text: each chain of pages between a label and .endl, .eop after each page, and a label
 * wherever an instruction or a descriptor points into the data. Pages that this does not make come
 * as their bytes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/disasm_private.h"
#include "formats/aie/operands.h"
#include "formats/aie/page.h"

enum { WORD = 4, INDENT = 26, NAME_SIZE = 48 };

/* "data_0_00a0": the page, and the place in it. */
static void put_label(const struct aie_printer *p, const struct aie_labels *l, uint32_t at)
{
    enum { PLACE = 6 };
    char place[PLACE] = "_0000";
    for (char *to = place + PLACE - 2; at != 0; at >>= 4) {
        *to-- = "0123456789abcdef"[at & 0xF];
    }
    aie_put(p->text, "data_");
    aie_put_number(p->text, l->page->index);
    aie_put(p->text, place);
}

/* A label after @, or the number less the header where no label can stand. */
static void put_pointer(const struct aie_printer *p, const struct aie_labels *l, uint64_t at)
{
    if (at < l->end && l->marks[at] != 0) {
        aie_put(p->text, "@");
        put_label(p, l, (uint32_t)at);
    } else {
        aie_put_hex(p->text, (uint32_t)(at - NOCAP_AIE_HEADER_SIZE), 0);
    }
}

/* ---- chains of pages ---- */

static void put_branch(const struct aie_printer *p, const struct nocap_aie_page *from,
                       uint32_t index)
{
    const struct nocap_aie_page *page =
        nocap_aie_image_page(p->image, from->group, from->uc, index);
    char name[AIE_CHAIN_NAME];
    if (page != NULL && aie_begins_chain(p->image, page)) {
        aie_chain_name(name, page);
        aie_put(p->text, "@");
        aie_put(p->text, name);
    } else {
        aie_put_number(p->text, index);
    }
}

/* ---- operands ---- */

static const struct nocap_aie_relocation *relocation_at(const struct aie_printer *p,
                                                        const struct nocap_aie_page *page,
                                                        uint32_t offset, uint32_t type)
{
    const uint32_t *list;
    size_t count = aie_known_relocations(&p->known, page, &list);
    for (size_t i = 0; i < count; i++) {
        const struct nocap_aie_relocation *r = &p->image->relocations[list[i]];
        if (r->type == type && r->page_offset == offset && r->symbol != NULL) {
            return r;
        }
    }
    return NULL;
}

/* Whether the symbol can stand in the text: `number` for that of an argument, else a name. */
static bool is_plain(const char *symbol, bool number)
{
    size_t length = strlen(symbol);
    for (size_t i = 0; i < length; i++) {
        char c = symbol[i];
        if (number ? !isxdigit((unsigned char)c) && c != 'x' && c != 'X'
                   : !isalnum((unsigned char)c) && strchr("_-.", c) == NULL) {
            return false;
        }
    }
    return length != 0 && length < AIE_SYMBOL_SIZE &&
           (number || symbol[0] == '_' || isalpha((unsigned char)symbol[0]));
}

static void put_barrier(const struct aie_printer *p, uint32_t number, bool remote)
{
    uint32_t count = remote ? nocap_aie_remote_barriers(p->dialect) : NOCAP_AIE_LOCAL_BARRIERS;
    uint32_t name = number - remote;
    aie_put(p->text, name >= count ? "" : remote ? "$rb" : "$lb");
    aie_put_number(p->text, name < count ? name : number);
}

static uint64_t argument_of(const char *symbol)
{
    bool hex = symbol[0] == '0' && (symbol[1] | 0x20) == 'x';
    char *end;
    uint64_t argument = strtoul(symbol, &end, hex ? 16 : 10);
    return *end == 0 ? argument : UINT16_MAX;
}

/* An argument's number; as the relocation has it, if that means the same. */
static void put_argument(const struct aie_printer *p, const struct aie_labels *l,
                         const struct nocap_aie_walker *w)
{
    uint32_t word = w->insn.value[NOCAP_AIE_APPLY_OFFSET_57_offset];
    uint32_t table = w->insn.value[NOCAP_AIE_APPLY_OFFSET_57_table_ptr];
    const struct nocap_aie_chip_info *chip = nocap_aie_chip_info(p->chip);
    const struct nocap_aie_relocation *r = relocation_at(
        p, l->page, table + NOCAP_AIE_HEADER_SIZE, chip == NULL ? NOCAP_AIE_REL_NONE : chip->shim);
    if (word == NOCAP_AIE_BASE_ARG) {
        aie_put(p->text, "0xffff");
    } else if (r != NULL && is_plain(r->symbol, true) && argument_of(r->symbol) * 2 == word) {
        aie_put(p->text, r->symbol);
    } else {
        aie_put_number(p->text, word / 2);
    }
}

static void put_operand(const struct aie_printer *p, const struct aie_labels *l,
                        const struct nocap_aie_walker *w, unsigned f)
{
    const struct nocap_aie_field *field = &w->insn.info->fields[f];
    uint32_t value = w->insn.value[f];
    const struct nocap_aie_relocation *scalar =
        field->bits != 32
            ? NULL
            : relocation_at(p, l->page, w->at + field->offset, NOCAP_AIE_REL_SCALAR_32);
    char name[NAME_SIZE];
    if (scalar != NULL && is_plain(scalar->symbol, false)) {
        aie_put(p->text, scalar->symbol);
        return;
    }
    switch ((enum nocap_aie_kind)field->kind) {
    case NOCAP_AIE_REG:
        aie_put(p->text, value < NOCAP_AIE_REGISTERS ? "$r" : "");
        aie_put_number(p->text, value);
        break;
    case NOCAP_AIE_LB: put_barrier(p, value, false); break;
    case NOCAP_AIE_RB: put_barrier(p, value, true); break;
    case NOCAP_AIE_DESC:
    case NOCAP_AIE_TABLE: put_pointer(p, l, (uint64_t)value + NOCAP_AIE_HEADER_SIZE); break;
    case NOCAP_AIE_PAGE: put_branch(p, l->page, value); break;
    case NOCAP_AIE_TILE:
        if (value >> NOCAP_AIE_TILE_BITS == 0) {
            fprintf(aie_text_stream(p->text), "TILE_%u_%u", nocap_aie_tile_column(value),
                    nocap_aie_tile_row(value));
        } else {
            aie_put_hex(p->text, value, 0);
        }
        break;
    case NOCAP_AIE_ACTOR:
        if (nocap_aie_actor_name(p->chip, w->insn.value[NOCAP_AIE_WAIT_TCTS_tile_id], value,
                                 p->dialect, name, sizeof name)) {
            aie_put(p->text, name);
        } else {
            aie_put_number(p->text, value);
        }
        break;
    case NOCAP_AIE_ARG: put_argument(p, l, w); break;
    default:
        if (field->bits == 32) {
            aie_put_hex(p->text, value, 8);
        } else {
            aie_put_number(p->text, value);
        }
        break;
    }
}

/* ---- pages ---- */

static void put_insn(const struct aie_printer *p, const struct aie_labels *l,
                     const struct nocap_aie_walker *w)
{
    static const char spaces[INDENT + 1] = "                          ";
    const struct nocap_aie_insn_info *info = w->insn.info;
    bool edge = nocap_aie_starts_job(info->opcode) || info->opcode == NOCAP_AIE_END_JOB;
    size_t length = strlen(info->mnemonic) + (edge ? 0 : 2);
    bool first = true;
    aie_put(p->text, edge ? "" : "  ");
    aie_put(p->text, info->mnemonic);
    for (unsigned f = 0; f < nocap_aie_field_count(info); f++) {
        if (info->fields[f].kind == NOCAP_AIE_SIZE) {
            continue;
        }
        if (first && length < INDENT) {
            aie_put_bytes_of(p->text, spaces, INDENT - length);
        }
        aie_put(p->text, first ? "" : ", ");
        first = false;
        put_operand(p, l, w, f);
    }
    aie_note_insn(p, l->page, w);
    aie_put(p->text, "\n");
}

static void put_text(const struct aie_printer *p, const struct aie_labels *l)
{
    struct nocap_aie_walker walker;
    nocap_aie_walk_begin(&walker, l->page, p->dialect);
    while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        put_insn(p, l, &walker);
    }
}

static void put_descriptor(const struct aie_printer *p, const struct aie_labels *l, uint32_t at)
{
    struct nocap_aie_bd bd;
    nocap_aie_bd_decode(l->page->bytes + at, &bd);
    aie_put(p->text, "  UC_DMA_BD               ");
    aie_put_hex(p->text, (uint32_t)(bd.remote >> 32), 0);
    aie_put(p->text, ", ");
    aie_put_hex(p->text, (uint32_t)bd.remote, 8);
    aie_put(p->text, ", ");
    put_pointer(p, l, (uint32_t)(at + bd.local));
    aie_put(p->text, ", ");
    aie_put_number(p->text, bd.length);
    aie_put(p->text, bd.external ? ", 1" : ", 0");
    aie_put(p->text, bd.next ? ", 1" : ", 0");
    aie_note_descriptor(p, at, &bd);
    aie_put(p->text, "\n");
}

/* Most lines are of this kind. */
static void put_word(const struct aie_printer *p, uint32_t word)
{
    char line[] = "  .long 0x00000000\n";
    for (char *to = line + sizeof line - 3; word != 0; word >>= 4) {
        *to-- = "0123456789abcdef"[word & 0xF];
    }
    aie_put_bytes_of(p->text, line, sizeof line - 1);
}

static void put_data(const struct aie_printer *p, const struct aie_labels *l)
{
    for (uint32_t at = l->data; at < l->end; at += WORD) {
        if (l->marks[at] == 0) {
            continue;
        }
        uint32_t end = aie_group_end(l, at);
        uint32_t words = aie_descriptors_end(l, at, end);
        aie_put(p->text, words != at ? "  .align 16\n" : "  .align 4\n");
        put_label(p, l, at);
        aie_put(p->text, ":\n");
        for (; at < words; at += NOCAP_AIE_BD_SIZE) {
            put_descriptor(p, l, at);
        }
        for (; at < end; at += WORD) {
            put_word(p, nocap_aie_u32(l->page->bytes + at));
        }
        at = end - WORD;
    }
}

/* ---- pages as they stand ---- */

static void put_raw(const struct aie_printer *p, const struct aie_labels *l)
{
    const struct nocap_aie_page *page = l->page;
    struct nocap_aie_walker walker;
    enum nocap_aie_walk step;
    const uint32_t *list;
    uint32_t text = page->text_size != 0 ? page->text_size : NOCAP_AIE_PAGE_SIZE;
    fprintf(aie_text_stream(p->text),
            ".page %u ; bytes of text; as it stands, since no instructions make this\n", text);
    aie_put_line(p, 0, page->bytes, NOCAP_AIE_HEADER_SIZE);
    aie_put(p->text, "\n");
    nocap_aie_walk_begin(&walker, page, p->dialect);
    uint32_t used = NOCAP_AIE_PAGE_SIZE;
    while (used > 0 && page->bytes[used - 1] == 0) {
        used--;
    }
    while ((step = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN && walker.at < used) {
        aie_put_line(p, walker.at, page->bytes + walker.at, walker.insn.info->size);
        aie_put(p->text, " ; ");
        put_insn(p, l, &walker);
    }
    if (step == NOCAP_AIE_WALK_INSN) {
        step = NOCAP_AIE_WALK_NO_EOF;
    }
    if (step != NOCAP_AIE_WALK_EOF) {
        fprintf(aie_text_stream(p->text), "; page %u, offset %u: ", page->index, walker.at);
    }
    if (step == NOCAP_AIE_WALK_NO_OPCODE) {
        char note[96];
        nocap_aie_opcode_note(page->bytes[walker.at], note, sizeof note);
        fprintf(aie_text_stream(p->text), "no instruction of %s begins with 0x%02x%s\n",
                nocap_aie_dialect_name(p->dialect), page->bytes[walker.at], note);
    } else if (step != NOCAP_AIE_WALK_EOF) {
        fprintf(aie_text_stream(p->text), "the text ends %s\n",
                step == NOCAP_AIE_WALK_CUT ? "inside an instruction" : "without EOF");
    }
    aie_put_bytes(p, page->bytes, walker.at, NOCAP_AIE_PAGE_SIZE);
    size_t count = aie_known_relocations(&p->known, page, &list);
    for (size_t i = 0; i < count; i++) {
        const struct nocap_aie_relocation *r = &p->image->relocations[list[i]];
        aie_put_relocation(p, r, r->page_offset);
    }
}

/* ---- chains ---- */

static bool decodes(const struct aie_printer *p, const struct nocap_aie_page *page)
{
    struct nocap_aie_walker walker;
    enum nocap_aie_walk step;
    nocap_aie_walk_begin(&walker, page, p->dialect);
    while ((step = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN) {
    }
    return step == NOCAP_AIE_WALK_EOF;
}

/* The pages from `first` to before `end`, of one chain. */
static void put_chain(struct aie_printer *p, const struct nocap_aie_page *first,
                      const struct nocap_aie_page *end, struct aie_labels *l)
{
    char name[AIE_CHAIN_NAME];
    bool labelled = first->index != 0;
    aie_chain_name(name, first);
    if (labelled) {
        fprintf(aie_text_stream(p->text), "\n.section .ctrltext, \"ax\"\n%s:\n", name);
    }
    for (const struct nocap_aie_page *page = first; page < end; page++) {
        bool *raw = &p->raw[page - p->image->pages];
        aie_find_labels(p->dialect, l, page);
        aie_put(p->text, "; page ");
        aie_put_number(p->text, page->index);
        aie_put(p->text, "\n");
        if (!decodes(p, page)) {
            p->complete = false;
            *raw = true;
        }
        (*raw ? put_raw : put_text)(p, l);
        aie_put(p->text, ".eop\n");
    }
    aie_put(p->text, "EOF\n");
    for (const struct nocap_aie_page *page = first; page < end; page++) {
        if (!p->raw[page - p->image->pages]) {
            aie_find_labels(p->dialect, l, page);
            put_data(p, l);
        }
    }
    if (labelled) {
        fprintf(aie_text_stream(p->text), ".endl %s\n", name);
    }
}

static enum nocap_status put_chains(struct aie_printer *p, const struct nocap_aie_page *first,
                                    const struct nocap_aie_page *end, struct nocap_error *err)
{
    const struct nocap_aie_page *page, *next;
    struct aie_labels *labels = malloc(sizeof *labels);
    RETURN_ERROR_IF(labels == NULL, err, NOCAP_E_MEMORY, "out of memory");
    for (page = first; page < end; page = next) {
        bool column = page == first || page->group != page[-1].group || page->uc != page[-1].uc;
        next = page + 1;
        while (next < end && !aie_begins_chain(p->image, next)) {
            next++;
        }
        if (column) {
            fprintf(aie_text_stream(p->text), "%s.attach_to_group %u\n", page == first ? "" : "\n",
                    page->uc);
        }
        if (!p->around) {
            put_chain(p, page, next, labels);
        } else if (column) {
            aie_put(p->text, "EOF\n");
        }
    }
    free(labels);
    return NOCAP_OK;
}

enum nocap_status aie_put_pages(struct aie_printer *p, uint32_t group, struct nocap_error *err)
{
    const struct nocap_aie_image *image = p->image;
    size_t first = 0, end;
    while (first < image->page_count && image->pages[first].group != group) {
        first++;
    }
    for (end = first; end < image->page_count && image->pages[end].group == group;) {
        end++;
    }
    return first == end ? NOCAP_OK : put_chains(p, &image->pages[first], &image->pages[end], err);
}

enum nocap_status aie_put_page(struct aie_printer *p, const struct nocap_aie_page *page,
                               struct nocap_error *err)
{
    return put_chains(p, page, page + 1, err);
}
