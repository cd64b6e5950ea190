/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of statements to bytes. */
#include <string.h>

#include "formats/aie/asm_encode.h"
#include "formats/aie/asm_known.h"

enum { WORD = 4, BRANCHES_MAX = 2 };

/* ---- statements ---- */

/* Bytes from this START_JOB to the end of its END_JOB. */
static uint32_t job_size(const struct aie_encoder *e, size_t place)
{
    uint32_t size = 0;
    for (; place < e->page->text.count; place++) {
        const struct aie_statement *s = &e->program->statements[e->page->text.items[place]];
        size += s->info->size;
        if (s->info->opcode == NOCAP_AIE_END_JOB) {
            break;
        }
    }
    return size;
}

static enum nocap_status encode_insn(struct aie_encoder *e, size_t place)
{
    const struct aie_statement *s = &e->program->statements[e->page->text.items[place]];
    uint32_t values[NOCAP_AIE_FIELDS_MAX] = {0}, operand = 0, before = 0, end = 2;
    for (unsigned f = 0; f < nocap_aie_field_count(s->info); f++) {
        const struct nocap_aie_field *field = &s->info->fields[f];
        if (field->kind == NOCAP_AIE_SIZE) {
            values[f] = job_size(e, place);
            continue;
        }
        before = field->offset > end ? 0 : before; /* padding between them counts as a zero */
        RETURN_IF_FAILED(
            aie_operand_value(e, s, &s->operands[operand++], field, values, before, &values[f]));
        before = values[f];
        end = field->offset + field->bits / 8u;
    }
    nocap_aie_encode(s->info, values, e->bytes + NOCAP_AIE_HEADER_SIZE + e->at);
    e->at += s->info->size;
    return NOCAP_OK;
}

static enum nocap_status encode_bd(struct aie_encoder *e, const struct aie_statement *s)
{
    enum { HIGH, LOW, LOCAL, LENGTH, EXTERNAL, NEXT };
    static const uint8_t bits[AIE_OPERANDS_MAX] = {29, 32, 32, 15, 1, 1};
    uint32_t v[AIE_OPERANDS_MAX];
    for (uint32_t i = 0; i < AIE_OPERANDS_MAX; i++) {
        const struct aie_word *word = &s->operands[i];
        RETURN_IF_FAILED(word->text[0] == '@'
                             ? aie_label_value(e, s, word, &v[i])
                             : aie_parse_number(e->program, s, word, bits[i], &v[i]));
    }
    const struct nocap_aie_bd bd = {.length = v[LENGTH],
                                    .next = v[NEXT] != 0,
                                    .external = v[EXTERNAL] != 0,
                                    .local_relative = true,
                                    .local = v[LOCAL] - e->at,
                                    .remote = (uint64_t)v[HIGH] << 32 | v[LOW]};
    nocap_aie_bd_encode(&bd, e->bytes + NOCAP_AIE_HEADER_SIZE + e->at);
    e->at += NOCAP_AIE_BD_SIZE;
    return NOCAP_OK;
}

static enum nocap_status encode_datum(struct aie_encoder *e, const struct aie_statement *s)
{
    const struct aie_word *word = &s->operands[0];
    uint32_t value;
    if (s->kind == AIE_BD) {
        return encode_bd(e, s);
    }
    RETURN_IF_FAILED(word->text[0] == '@' ? aie_label_value(e, s, word, &value)
                                          : aie_parse_number(e->program, s, word, 32, &value));
    nocap_aie_put_u32(e->bytes + NOCAP_AIE_HEADER_SIZE + e->at, value);
    e->at += WORD;
    return NOCAP_OK;
}

/* ---- pages ---- */

/* Lengths of the first pages of other code that this page goes to. */
static enum nocap_status branch_lengths(const struct aie_encoder *e, uint32_t length[BRANCHES_MAX])
{
    const struct aie_list *branches = &e->page->branches;
    for (size_t i = 0; i < branches->count; i += 2) {
        const struct aie_statement *s = &e->program->statements[branches->items[i]];
        const struct aie_word *word = &s->operands[branches->items[i + 1]];
        uint32_t page;
        RETURN_SOURCE_ERROR_IF(i / 2 == BRANCHES_MAX, e->program, s->place, word,
                               "the third place that this page goes to; expected at most %d",
                               BRANCHES_MAX);
        RETURN_IF_FAILED(aie_page_value(e, s, word, &page));
        length[i / 2] = e->program->known != NULL ? aie_known_length(e->program->known, page)
                        : page < e->pages->count  ? e->pages->items[page].length
                                                  : 0;
    }
    return NOCAP_OK;
}

static enum nocap_status encode_header(const struct aie_encoder *e)
{
    uint32_t branch[BRANCHES_MAX] = {0};
    const struct aie_known *known = e->program->known;
    bool written = e->program->dialect != NOCAP_AIE_N26;
    RETURN_IF_FAILED(written ? branch_lengths(e, branch) : NOCAP_OK);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_SIGNATURE, NOCAP_AIE_SIGNATURE);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_PAGE,
                      known == NULL ? e->index : known->page->index);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_BRANCH, written ? branch[0] : 0);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_RESTORE, written ? branch[1] : 0);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_LENGTH, e->page->length);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_NEXT,
                      known == NULL ? e->page->next_length : aie_known_next(known));
    return NOCAP_OK;
}

/* Gives the page's data their places, which the text names. */
static void place_labels(struct aie_encoder *e, uint32_t at)
{
    const struct aie_chain *chain = e->page->chain;
    for (size_t i = 0; i < e->page->labels.count; i++) {
        uint32_t label = e->page->labels.items[i], size;
        e->program->statements[chain->data.items[label]].page_offset = at;
        aie_label_extent(e->program, chain, label, &size);
        at += size;
    }
}

static enum nocap_status encode_data(struct aie_encoder *e)
{
    const struct aie_chain *chain = e->page->chain;
    for (size_t i = 0; i < e->page->labels.count; i++) {
        uint32_t label = e->page->labels.items[i], size;
        uint32_t count = aie_label_extent(e->program, chain, label, &size);
        for (uint32_t j = 1; j < count; j++) {
            RETURN_IF_FAILED(
                encode_datum(e, &e->program->statements[chain->data.items[label + j]]));
        }
    }
    return NOCAP_OK;
}

/* The fourth operand of APPLY_OFFSET_57: the buffer's place is added to the table already. */
static enum nocap_status add_pads(struct aie_encoder *e)
{
    enum { TABLE = NOCAP_AIE_APPLY_OFFSET_57_table_ptr, PAD = 3 };
    bool later = e->program->dialect == NOCAP_AIE_N26;
    for (size_t i = 0; i < e->page->text.count; i++) {
        const struct aie_statement *s = &e->program->statements[e->page->text.items[i]];
        uint32_t at;
        if (s->info->opcode != NOCAP_AIE_APPLY_OFFSET_57 || s->operand_count <= PAD) {
            continue;
        }
        const struct aie_pad *pad = aie_named_pad(e, &s->operands[PAD]);
        RETURN_SOURCE_ERROR_IF(pad == NULL, e->program, s->place, &s->operands[PAD],
                               "'%.*s' is no buffer; expected @name of a .setpad",
                               AIE_TEXT(&s->operands[PAD]));
        uint32_t count = 1;
        if (later) {
            RETURN_IF_FAILED(aie_entry_count(e, s, &count));
        }
        for (uint32_t entry = 0; entry < count; entry++) {
            RETURN_IF_FAILED(later ? aie_table_entry(e, s, entry, &at)
                                   : aie_label_value(e, s, &s->operands[TABLE], &at));
            at += NOCAP_AIE_HEADER_SIZE;
            RETURN_SOURCE_ERROR_IF(
                at > NOCAP_AIE_PAGE_SIZE - NOCAP_AIE_TABLE_ENTRY_SIZE, e->program, s->place,
                &s->operands[TABLE],
                "the table does not end in this page; expected %d bytes after the "
                "label",
                NOCAP_AIE_TABLE_ENTRY_SIZE);
            nocap_aie_table_add(e->program->chip, e->bytes + at, aie_pad_base(e, pad));
        }
    }
    return NOCAP_OK;
}

/* The page's lines in the debug map. That of the filler has the length that it would have after
 * the last job. */
static void put_map(const struct aie_encoder *e, uint32_t filler)
{
    const struct aie_program *program = e->program;
    const struct aie_chain *chain = e->page->chain;
    uint32_t at = e->index * NOCAP_AIE_PAGE_SIZE + NOCAP_AIE_HEADER_SIZE, uc = e->column->uc;
    uint32_t eof = chain->eof_line[chain->eof_line[1] != AIE_NONE];
    if (e->map->out == NULL) {
        return;
    }
    for (size_t i = 0; i < e->page->text.count; i++) {
        const struct aie_statement *s = &program->statements[e->page->text.items[i]];
        aie_map_put(program, e->map, s, NULL, s->place.line, s->info->size, uc, e->index, at);
        at += s->info->size;
    }
    aie_map_put(program, e->map, NULL, "eof", eof == AIE_NONE ? 0 : eof, NOCAP_AIE_EOF_SIZE, uc,
                e->index, at);
    if (filler != 0) {
        uint32_t over = e->page->text_size % NOCAP_AIE_DATA_ALIGN;
        aie_map_put(program, e->map, NULL, ".align 16", 0,
                    over == 0 ? 0 : NOCAP_AIE_DATA_ALIGN - over, uc, e->index,
                    at + NOCAP_AIE_EOF_SIZE);
    }
}

static enum nocap_status fill_page(struct aie_encoder *e)
{
    RETURN_IF_FAILED(encode_header(e));
    uint32_t filler = e->page->data_size == 0 ? 0 : aie_filler(e->page->text_size);
    place_labels(e, e->page->text_size + NOCAP_AIE_EOF_SIZE + filler);
    for (size_t i = 0; i < e->page->text.count; i++) {
        RETURN_IF_FAILED(encode_insn(e, i));
    }
    put_map(e, filler);
    uint8_t *end = e->bytes + NOCAP_AIE_HEADER_SIZE + e->at;
    end[0] = NOCAP_AIE_EOF;
    memset(end + NOCAP_AIE_EOF_SIZE, NOCAP_AIE_FILLER, filler);
    e->at += NOCAP_AIE_EOF_SIZE + filler;
    RETURN_IF_FAILED(encode_data(e));
    return add_pads(e);
}

/* Where the pages share a section, an offset outside of its page is one in another page. */
static enum nocap_status check_relocs(const struct aie_encoder *e, const struct aie_relocs *relocs)
{
    for (size_t i = 0; i < relocs->count && e->output->layout != AIE_LAYOUT_PAGES; i++) {
        const struct aie_reloc *reloc = &relocs->items[i];
        RETURN_SOURCE_ERROR_IF(reloc->offset < NOCAP_AIE_HEADER_SIZE ||
                                   reloc->offset >= NOCAP_AIE_PAGE_SIZE,
                               e->program, reloc->place, &reloc->name,
                               "this relocation lies at %u; expected it after the header of "
                               "the page, at %d to %d",
                               reloc->offset, NOCAP_AIE_HEADER_SIZE, NOCAP_AIE_PAGE_SIZE - 1);
    }
    return NOCAP_OK;
}

/* The page's bytes into e->bytes, its symbols into the output; how much of it is text. */
static enum nocap_status make_page(struct aie_encoder *e, size_t *text)
{
    const struct aie_raw *raw = e->page->raw;
    if (raw != NULL) {
        memcpy(e->bytes, raw->bytes, NOCAP_AIE_PAGE_SIZE);
        *text = raw->text_size;
        RETURN_IF_FAILED(check_relocs(e, &raw->relocs));
        return aie_add_relocs(e->program, e->output, &raw->relocs, e->section,
                              e->base - NOCAP_AIE_HEADER_SIZE);
    }
    RETURN_IF_FAILED(fill_page(e));
    uint32_t filler = e->page->data_size == 0 ? 0 : aie_filler(e->page->text_size);
    *text = NOCAP_AIE_HEADER_SIZE + e->page->text_size + NOCAP_AIE_EOF_SIZE + filler;
    return NOCAP_OK;
}

/* One page: two sections, or its place in the column's. */
static enum nocap_status encode_page(struct aie_encoder *e)
{
    uint8_t bytes[NOCAP_AIE_PAGE_SIZE] = {0};
    size_t text;
    bool merged = e->output->layout != AIE_LAYOUT_PAGES;
    e->page = &e->pages->items[e->index];
    e->bytes = bytes;
    e->at = 0;
    e->section = (uint32_t)e->output->section_count - merged;
    e->base = merged ? e->index * NOCAP_AIE_PAGE_SIZE : 0;
    RETURN_IF_FAILED(make_page(e, &text));
    if (merged) {
        memcpy(e->output->sections[e->section].own + e->base, bytes, sizeof bytes);
        return NOCAP_OK;
    }
    for (int part = 0; part < 2; part++) {
        size_t size = part == 0 ? text : NOCAP_AIE_PAGE_SIZE - text;
        struct aie_section *section =
            size == 0 ? NULL
                      : aie_add_section(e->output, part == 0 ? "ctrltext" : "ctrldata", e->column,
                                        e->index, size);
        RETURN_NO_MEMORY_IF(size != 0 && section == NULL, e->program);
        if (section != NULL) {
            section->text = part == 0;
            memcpy(section->own, bytes + (part == 0 ? 0 : text), size);
        }
    }
    return NOCAP_OK;
}

enum nocap_status aie_encode_column(struct aie_program *program, struct aie_column *column,
                                    struct aie_pages *pages, struct aie_debug_map *map,
                                    struct aie_output *output)
{
    struct aie_encoder e = {
        .program = program, .column = column, .pages = pages, .map = map, .output = output};
    uint32_t pad_size = 0;
    RETURN_IF_FAILED(aie_place_pads(program, column, &pad_size));
    RETURN_NO_MEMORY_IF(pages->count > UINT16_MAX, program);
    if (output->layout != AIE_LAYOUT_PAGES && pages->count != 0) {
        struct aie_section *section = aie_add_section(output, "ctrltext", column, AIE_NONE,
                                                      pages->count * NOCAP_AIE_PAGE_SIZE);
        RETURN_NO_MEMORY_IF(section == NULL, program);
        section->text = true;
    }
    for (e.index = 0; e.index < pages->count; e.index++) {
        RETURN_IF_FAILED(encode_page(&e));
    }
    return pad_size == 0 ? NOCAP_OK : aie_encode_pads(program, column, e.packets, pad_size, output);
}
