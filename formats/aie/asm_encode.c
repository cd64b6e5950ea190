/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of statements to bytes, symbols and relocations. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/asm_private.h"
#include "formats/aie/operands.h"

enum { WORD = 4, BRANCHES_MAX = 2, CONST_BITS_WIDE = 32 };

/* A page on its way to bytes. */
struct encoder {
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

#define FAIL(e, s, word, ...) aie_source_error((e)->program, (s)->place, (word), __VA_ARGS__)

/* `offset` less the header. */
static struct aie_symbol symbol_here(const struct encoder *e, uint32_t offset, uint32_t type)
{
    return (struct aie_symbol){.section = e->section, .offset = e->base + offset, .type = type};
}

/* ---- operands ---- */

static uint32_t pad_base(const struct encoder *e, const struct aie_pad *pad)
{
    return (uint32_t)e->pages->count * NOCAP_AIE_PAGE_SIZE + pad->offset;
}

static const struct aie_pad *named_pad(const struct encoder *e, const struct aie_word *word)
{
    struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
    return word->length > 1 && word->text[0] == '@' ? aie_find_pad(e->column, &name) : NULL;
}

/* "@name": a label of this page, or a buffer. */
static enum nocap_status label_value(const struct encoder *e, const struct aie_statement *s,
                                     const struct aie_word *word, uint32_t *value)
{
    const struct aie_pad *pad = named_pad(e, word);
    uint32_t at;
    if (pad != NULL) {
        *value = pad_base(e, pad);
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(aie_find_label(e->program, e->page->chain, s, word, &at));
    *value = e->program->statements[e->page->chain->data.items[at]].page_offset;
    return NOCAP_OK;
}

static bool is_identifier(const struct aie_word *word)
{
    for (uint32_t i = 0; i < word->length; i++) {
        char c = word->text[i];
        bool letter = c == '_' || isalpha((unsigned char)c);
        if (!letter && (i == 0 || !(isdigit((unsigned char)c) || c == '-' || c == '.'))) {
            return false;
        }
    }
    return word->length != 0 && word->length < sizeof((struct aie_symbol){0}.name);
}

static void lower_name(struct aie_symbol *symbol, const struct aie_word *word)
{
    for (uint32_t i = 0; i < word->length; i++) {
        symbol->name[i] = (char)tolower((unsigned char)word->text[i]);
    }
}

/* A name that the loader fills in; until then the constant before it in the instruction stays. */
static enum nocap_status extern_value(struct encoder *e, const struct aie_word *word,
                                      const struct nocap_aie_field *field, uint32_t before,
                                      uint32_t *value)
{
    struct aie_symbol symbol = symbol_here(e, e->at + field->offset, NOCAP_AIE_REL_SCALAR_32);
    lower_name(&symbol, word);
    *value = before;
    return aie_add_symbol(e->program, e->output, &symbol);
}

static enum nocap_status const_value(struct encoder *e, const struct aie_statement *s,
                                     const struct aie_word *word,
                                     const struct nocap_aie_field *field, uint32_t before,
                                     uint32_t *value)
{
    if (word->text[0] == '@') {
        return label_value(e, s, word, value);
    }
    if (field->bits == CONST_BITS_WIDE && is_identifier(word)) {
        return extern_value(e, word, field, before, value);
    }
    RETURN_IF_FAILED(aie_parse_number(e->program, s, word, field->bits, value));
    if (*value == UINT32_MAX && nocap_aie_is_early(e->program->dialect)) {
        *value = 0; /* as the assembler of that time writes it */
    }
    return NOCAP_OK;
}

static enum nocap_status page_value(const struct encoder *e, const struct aie_statement *s,
                                    const struct aie_word *word, uint32_t *value)
{
    struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
    if (aie_word_number(word, &(uint64_t){0})) {
        return aie_parse_number(e->program, s, word, 16, value);
    }
    const struct aie_chain *chain =
        word->text[0] == '@' ? aie_find_chain(e->program, e->column, &name) : NULL;
    if (chain == NULL || chain->first_page == AIE_NONE) {
        return FAIL(e, s, word,
                    "'%.*s' is no code of this uC; expected @label of text that has jobs",
                    (int)word->length, word->text);
    }
    *value = chain->first_page;
    return NOCAP_OK;
}

static enum nocap_status tile_value(const struct encoder *e, const struct aie_statement *s,
                                    const struct aie_word *word, uint32_t *value)
{
    if (nocap_aie_tile_parse(word->text, word->length, value)) {
        return NOCAP_OK;
    }
    return aie_word_number(word, &(uint64_t){0})
               ? aie_parse_number(e->program, s, word, 16, value)
               : FAIL(e, s, word,
                      "'%.*s' is no tile; expected TILE_<column>_<row> or a number of 16 bits",
                      (int)word->length, word->text);
}

static enum nocap_status actor_value(const struct encoder *e, const struct aie_statement *s,
                                     const struct aie_word *word, uint32_t *value)
{
    if (nocap_aie_actor_parse(e->program->chip, word->text, word->length, value)) {
        return NOCAP_OK;
    }
    return aie_word_number(word, &(uint64_t){0})
               ? aie_parse_number(e->program, s, word, 8, value)
               : FAIL(e, s, word,
                      "'%.*s' is no actor; expected SHIM_, MEM_ or TILE_ with S2MM_<n> or "
                      "MM2S_<n>, or a number of 8 bits",
                      (int)word->length, word->text);
}

/* Where the data of the page that a word names stand in its list of labels; AIE_NONE: nowhere. */
static uint32_t label_place(const struct encoder *e, const struct aie_statement *s,
                            const struct aie_word *word)
{
    uint32_t at;
    if (aie_find_label(e->program, e->page->chain, s, word, &at) != NOCAP_OK) {
        return AIE_NONE;
    }
    for (uint32_t i = 0; i < e->page->labels.count; i++) {
        if (e->page->labels.items[i] == at) {
            return i;
        }
    }
    return AIE_NONE;
}

/* n26: each entry of a table has a label, and a relocation. */
static enum nocap_status table_entry(const struct encoder *e, const struct aie_statement *s,
                                     uint32_t number, uint32_t *offset)
{
    const struct aie_word *table = &s->operands[NOCAP_AIE_APPLY_OFFSET_57_table_ptr];
    uint32_t place = label_place(e, s, table);
    if (place == AIE_NONE || number >= e->page->labels.count - place) {
        return FAIL(e, s, table,
                    "there is no label for entry %u of the table; expected one for each", number);
    }
    const struct aie_chain *chain = e->page->chain;
    uint32_t label = chain->data.items[e->page->labels.items[place + number]];
    *offset = e->program->statements[label].page_offset;
    return NOCAP_OK;
}

static enum nocap_status count_entries(const struct encoder *e, const struct aie_statement *s,
                                       uint32_t *count)
{
    return aie_parse_number(e->program, s, &s->operands[NOCAP_AIE_APPLY_OFFSET_57_num_entries], 16,
                            count);
}

static enum nocap_status add_entries(struct encoder *e, const struct aie_statement *s,
                                     struct aie_symbol symbol)
{
    uint32_t count, offset;
    if (s->operands[NOCAP_AIE_APPLY_OFFSET_57_table_ptr].text[0] != '@') {
        return aie_add_symbol(e->program, e->output, &symbol);
    }
    RETURN_IF_FAILED(count_entries(e, s, &count));
    for (uint32_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(table_entry(e, s, i, &offset));
        symbol.offset = e->base + offset;
        RETURN_IF_FAILED(aie_add_symbol(e->program, e->output, &symbol));
    }
    return NOCAP_OK;
}

/* Index of an argument: the binary has the index of its first word, and the table is patched. */
static enum nocap_status argument_value(struct encoder *e, const struct aie_statement *s,
                                        const struct aie_word *word, uint32_t table,
                                        uint32_t *value)
{
    struct aie_symbol symbol = symbol_here(e, table, nocap_aie_chip_info(e->program->chip)->shim);
    uint32_t argument;
    RETURN_IF_FAILED(aie_parse_number(e->program, s, word, 16, &argument));
    bool packets = argument == e->program->packet_argument;
    if (packets || argument == NOCAP_AIE_BASE_ARG) {
        snprintf(symbol.name, sizeof symbol.name, "control-code-%u", e->column->uc);
        *value = NOCAP_AIE_BASE_ARG;
    } else if (argument > UINT16_MAX / 2) {
        return FAIL(e, s, word, "there is no argument %u; expected one below %u, or 0xFFFF",
                    argument, UINT16_MAX / 2 + 1);
    } else {
        *value = argument * 2;
        if (aie_has_packets(e->program, e->column->kernel, argument)) {
            snprintf(symbol.name, sizeof symbol.name, ".ctrlpkt-%u", argument);
        } else {
            lower_name(&symbol, word);
        }
    }
    if (packets && s->operand_count > NOCAP_AIE_APPLY_OFFSET_57_offset + 1) {
        e->packets = named_pad(e, &s->operands[NOCAP_AIE_APPLY_OFFSET_57_offset + 1]);
    }
    return e->program->dialect == NOCAP_AIE_N26 ? add_entries(e, s, symbol)
                                                : aie_add_symbol(e->program, e->output, &symbol);
}

static enum nocap_status operand_value(struct encoder *e, const struct aie_statement *s,
                                       const struct aie_word *word,
                                       const struct nocap_aie_field *field, const uint32_t *values,
                                       uint32_t before, uint32_t *value)
{
    switch ((enum nocap_aie_kind)field->kind) {
    case NOCAP_AIE_REG: return aie_parse_register(e->program, s, word, value);
    case NOCAP_AIE_LB: return aie_parse_barrier(e->program, s, word, false, value);
    case NOCAP_AIE_RB: return aie_parse_barrier(e->program, s, word, true, value);
    case NOCAP_AIE_PAGE: return page_value(e, s, word, value);
    case NOCAP_AIE_TILE: return tile_value(e, s, word, value);
    case NOCAP_AIE_ACTOR: return actor_value(e, s, word, value);
    case NOCAP_AIE_ARG:
        return argument_value(e, s, word, values[NOCAP_AIE_APPLY_OFFSET_57_table_ptr], value);
    default: return const_value(e, s, word, field, before, value);
    }
}

/* ---- statements ---- */

/* Bytes from this START_JOB to the end of its END_JOB. */
static uint32_t job_size(const struct encoder *e, size_t place)
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

static enum nocap_status encode_insn(struct encoder *e, size_t place)
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
            operand_value(e, s, &s->operands[operand++], field, values, before, &values[f]));
        before = values[f];
        end = field->offset + field->bits / 8u;
    }
    nocap_aie_encode(s->info, values, e->bytes + NOCAP_AIE_HEADER_SIZE + e->at);
    e->at += s->info->size;
    return NOCAP_OK;
}

static enum nocap_status encode_bd(struct encoder *e, const struct aie_statement *s)
{
    enum { HIGH, LOW, LOCAL, LENGTH, EXTERNAL, NEXT };
    static const uint8_t bits[AIE_OPERANDS_MAX] = {29, 32, 32, 15, 1, 1};
    uint32_t v[AIE_OPERANDS_MAX];
    for (uint32_t i = 0; i < AIE_OPERANDS_MAX; i++) {
        const struct aie_word *word = &s->operands[i];
        RETURN_IF_FAILED(word->text[0] == '@'
                             ? label_value(e, s, word, &v[i])
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

static enum nocap_status encode_datum(struct encoder *e, const struct aie_statement *s)
{
    const struct aie_word *word = &s->operands[0];
    uint32_t value;
    if (s->kind == AIE_BD) {
        return encode_bd(e, s);
    }
    RETURN_IF_FAILED(word->text[0] == '@' ? label_value(e, s, word, &value)
                                          : aie_parse_number(e->program, s, word, 32, &value));
    nocap_aie_put_u32(e->bytes + NOCAP_AIE_HEADER_SIZE + e->at, value);
    e->at += WORD;
    return NOCAP_OK;
}

/* ---- pages ---- */

/* Lengths of the first pages of other code that this page goes to. */
static enum nocap_status branch_lengths(const struct encoder *e, uint32_t length[BRANCHES_MAX])
{
    const struct aie_list *branches = &e->page->branches;
    for (size_t i = 0; i < branches->count; i += 2) {
        const struct aie_statement *s = &e->program->statements[branches->items[i]];
        const struct aie_word *word = &s->operands[branches->items[i + 1]];
        uint32_t page;
        if (i / 2 == BRANCHES_MAX) {
            return FAIL(e, s, word, "the third place that this page goes to; expected at most %d",
                        BRANCHES_MAX);
        }
        RETURN_IF_FAILED(page_value(e, s, word, &page));
        length[i / 2] = page < e->pages->count ? e->pages->items[page].length : 0;
    }
    return NOCAP_OK;
}

static enum nocap_status encode_header(const struct encoder *e)
{
    uint32_t branch[BRANCHES_MAX] = {0};
    bool told = e->program->dialect != NOCAP_AIE_N26;
    RETURN_IF_FAILED(told ? branch_lengths(e, branch) : NOCAP_OK);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_SIGNATURE, NOCAP_AIE_SIGNATURE);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_PAGE, e->index);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_BRANCH, told ? branch[0] : 0);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_RESTORE, told ? branch[1] : 0);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_LENGTH, e->page->length);
    nocap_aie_put_u16(e->bytes + NOCAP_AIE_HEAD_NEXT, e->page->next_length);
    return NOCAP_OK;
}

/* Gives the page's data their places, which the text names. */
static void place_labels(struct encoder *e, uint32_t at)
{
    const struct aie_chain *chain = e->page->chain;
    for (size_t i = 0; i < e->page->labels.count; i++) {
        uint32_t label = e->page->labels.items[i], size;
        e->program->statements[chain->data.items[label]].page_offset = at;
        aie_label_extent(e->program, chain, label, &size);
        at += size;
    }
}

static enum nocap_status encode_data(struct encoder *e)
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
static enum nocap_status add_pads(struct encoder *e)
{
    enum { TABLE = NOCAP_AIE_APPLY_OFFSET_57_table_ptr, PAD = 3 };
    bool later = e->program->dialect == NOCAP_AIE_N26;
    for (size_t i = 0; i < e->page->text.count; i++) {
        const struct aie_statement *s = &e->program->statements[e->page->text.items[i]];
        uint32_t at;
        if (s->info->opcode != NOCAP_AIE_APPLY_OFFSET_57 || s->operand_count <= PAD) {
            continue;
        }
        const struct aie_pad *pad = named_pad(e, &s->operands[PAD]);
        if (pad == NULL) {
            return FAIL(e, s, &s->operands[PAD], "'%.*s' is no buffer; expected @name of a .setpad",
                        (int)s->operands[PAD].length, s->operands[PAD].text);
        }
        uint32_t count = 1;
        if (later) {
            RETURN_IF_FAILED(count_entries(e, s, &count));
        }
        for (uint32_t entry = 0; entry < count; entry++) {
            RETURN_IF_FAILED(later ? table_entry(e, s, entry, &at)
                                   : label_value(e, s, &s->operands[TABLE], &at));
            at += NOCAP_AIE_HEADER_SIZE;
            if (at > NOCAP_AIE_PAGE_SIZE - NOCAP_AIE_TABLE_ENTRY_SIZE) {
                return FAIL(e, s, &s->operands[TABLE],
                            "the table does not end in this page; expected %d bytes behind the "
                            "label",
                            NOCAP_AIE_TABLE_ENTRY_SIZE);
            }
            nocap_aie_table_add(e->program->chip, e->bytes + at, pad_base(e, pad));
        }
    }
    return NOCAP_OK;
}

/* The page's lines in the debug map. That of the filler has the length that it would have behind
 * the last job. */
static void put_map(const struct encoder *e, uint32_t filler)
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

static enum nocap_status fill_page(struct encoder *e)
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
static enum nocap_status check_relocs(const struct encoder *e, const struct aie_relocs *relocs)
{
    for (size_t i = 0; i < relocs->count && e->output->layout != AIE_LAYOUT_PAGES; i++) {
        const struct aie_reloc *reloc = &relocs->items[i];
        if (reloc->offset < NOCAP_AIE_HEADER_SIZE || reloc->offset >= NOCAP_AIE_PAGE_SIZE) {
            return aie_source_error(e->program, reloc->place, &reloc->name,
                                    "this relocation lies at %u; expected it behind the header of "
                                    "the page, at %d to %d",
                                    reloc->offset, NOCAP_AIE_HEADER_SIZE, NOCAP_AIE_PAGE_SIZE - 1);
        }
    }
    return NOCAP_OK;
}

/* The page's bytes into e->bytes, its symbols into the output; how much of it is text. */
static enum nocap_status make_page(struct encoder *e, size_t *text)
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
static enum nocap_status encode_page(struct encoder *e)
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
        memcpy(e->output->sections[e->section].bytes + e->base, bytes, sizeof bytes);
        return NOCAP_OK;
    }
    for (int part = 0; part < 2; part++) {
        size_t size = part == 0 ? text : NOCAP_AIE_PAGE_SIZE - text;
        struct aie_section *section =
            size == 0 ? NULL
                      : aie_add_section(e->output, part == 0 ? "ctrltext" : "ctrldata", e->column,
                                        e->index, size);
        if (size != 0 && section == NULL) {
            return aie_no_memory(e->program);
        }
        if (section != NULL) {
            section->text = part == 0;
            memcpy(section->bytes, bytes + (part == 0 ? 0 : text), size);
        }
    }
    return NOCAP_OK;
}

enum nocap_status aie_encode_column(struct aie_program *program, struct aie_column *column,
                                    struct aie_pages *pages, struct aie_debug_map *map,
                                    struct aie_output *output)
{
    struct encoder e = {
        .program = program, .column = column, .pages = pages, .map = map, .output = output};
    uint32_t pad_size = 0;
    RETURN_IF_FAILED(aie_place_pads(program, column, &pad_size));
    if (pages->count > UINT16_MAX) {
        return aie_no_memory(program);
    }
    if (output->layout != AIE_LAYOUT_PAGES && pages->count != 0) {
        struct aie_section *section = aie_add_section(output, "ctrltext", column, AIE_NONE,
                                                      pages->count * NOCAP_AIE_PAGE_SIZE);
        if (section == NULL) {
            return aie_no_memory(program);
        }
        section->text = true;
    }
    for (e.index = 0; e.index < pages->count; e.index++) {
        RETURN_IF_FAILED(encode_page(&e));
    }
    return pad_size == 0 ? NOCAP_OK : aie_encode_pads(program, column, e.packets, pad_size, output);
}
