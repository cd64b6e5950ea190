/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of assembly to what stands in the binary, and the relocations that they need. */
#include <ctype.h>

#include "formats/aie/asm_encode.h"
#include "formats/aie/asm_known.h"
#include "formats/aie/operands.h"

enum { CONST_BITS_WIDE = 32 };

#define FAIL(e, s, word, ...) aie_source_error((e)->program, (s)->place, (word), __VA_ARGS__)

/* `offset` less the header. */
static struct aie_symbol symbol_here(const struct aie_encoder *e, uint32_t offset, uint32_t type)
{
    return (struct aie_symbol){.section = e->section, .offset = e->base + offset, .type = type};
}

uint32_t aie_pad_base(const struct aie_encoder *e, const struct aie_pad *pad)
{
    return (uint32_t)e->pages->count * NOCAP_AIE_PAGE_SIZE + pad->offset;
}

const struct aie_pad *aie_named_pad(const struct aie_encoder *e, const struct aie_word *word)
{
    struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
    return word->length > 1 && word->text[0] == '@' ? aie_find_pad(e->column, &name) : NULL;
}

enum nocap_status aie_label_value(const struct aie_encoder *e, const struct aie_statement *s,
                                  const struct aie_word *word, uint32_t *value)
{
    const struct aie_pad *pad = aie_named_pad(e, word);
    uint32_t at;
    if (pad != NULL) {
        *value = aie_pad_base(e, pad);
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
static enum nocap_status extern_value(struct aie_encoder *e, const struct aie_word *word,
                                      const struct nocap_aie_field *field, uint32_t before,
                                      uint32_t *value)
{
    struct aie_symbol symbol = symbol_here(e, e->at + field->offset, NOCAP_AIE_REL_SCALAR_32);
    lower_name(&symbol, word);
    *value = before;
    return aie_add_symbol(e->program, e->output, &symbol);
}

static enum nocap_status const_value(struct aie_encoder *e, const struct aie_statement *s,
                                     const struct aie_word *word,
                                     const struct nocap_aie_field *field, uint32_t before,
                                     uint32_t *value)
{
    if (word->text[0] == '@') {
        return aie_label_value(e, s, word, value);
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

enum nocap_status aie_page_value(const struct aie_encoder *e, const struct aie_statement *s,
                                 const struct aie_word *word, uint32_t *value)
{
    struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
    if (aie_word_number(word, &(uint64_t){0})) {
        return aie_parse_number(e->program, s, word, 16, value);
    }
    bool label = word->text[0] == '@';
    const struct aie_known *known = e->program->known;
    const struct nocap_aie_page *page =
        label && known != NULL ? aie_known_chain(known, &name) : NULL;
    if (page != NULL) {
        *value = page->index;
        return NOCAP_OK;
    }
    const struct aie_chain *chain =
        label && known == NULL ? aie_find_chain(e->program, e->column, &name) : NULL;
    RETURN_SOURCE_ERROR_IF(
        chain == NULL || chain->first_page == AIE_NONE, e->program, s->place, word,
        "'%.*s' is no code of this uC; expected @label of text that has jobs", AIE_TEXT(word));
    *value = chain->first_page;
    return NOCAP_OK;
}

static enum nocap_status tile_value(const struct aie_encoder *e, const struct aie_statement *s,
                                    const struct aie_word *word, uint32_t *value)
{
    if (nocap_aie_tile_parse(word->text, word->length, value)) {
        return NOCAP_OK;
    }
    return aie_word_number(word, &(uint64_t){0})
               ? aie_parse_number(e->program, s, word, 16, value)
               : FAIL(e, s, word,
                      "'%.*s' is no tile; expected TILE_<column>_<row> or a number of 16 bits",
                      AIE_TEXT(word));
}

static enum nocap_status actor_value(const struct aie_encoder *e, const struct aie_statement *s,
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
                      AIE_TEXT(word));
}

/* Where the data of the page that a word names stand in its list of labels; AIE_NONE: nowhere. */
static uint32_t label_place(const struct aie_encoder *e, const struct aie_statement *s,
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
enum nocap_status aie_table_entry(const struct aie_encoder *e, const struct aie_statement *s,
                                  uint32_t number, uint32_t *offset)
{
    const struct aie_word *table = &s->operands[NOCAP_AIE_APPLY_OFFSET_57_table_ptr];
    uint32_t place = label_place(e, s, table);
    RETURN_SOURCE_ERROR_IF(
        place == AIE_NONE || number >= e->page->labels.count - place, e->program, s->place, table,
        "there is no label for entry %u of the table; expected one for each", number);
    const struct aie_chain *chain = e->page->chain;
    uint32_t label = chain->data.items[e->page->labels.items[place + number]];
    *offset = e->program->statements[label].page_offset;
    return NOCAP_OK;
}

enum nocap_status aie_entry_count(const struct aie_encoder *e, const struct aie_statement *s,
                                  uint32_t *count)
{
    return aie_parse_number(e->program, s, &s->operands[NOCAP_AIE_APPLY_OFFSET_57_num_entries], 16,
                            count);
}

static enum nocap_status add_entries(struct aie_encoder *e, const struct aie_statement *s,
                                     struct aie_symbol symbol)
{
    uint32_t count, offset;
    if (s->operands[NOCAP_AIE_APPLY_OFFSET_57_table_ptr].text[0] != '@') {
        return aie_add_symbol(e->program, e->output, &symbol);
    }
    RETURN_IF_FAILED(aie_entry_count(e, s, &count));
    for (uint32_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(aie_table_entry(e, s, i, &offset));
        symbol.offset = e->base + offset;
        RETURN_IF_FAILED(aie_add_symbol(e->program, e->output, &symbol));
    }
    return NOCAP_OK;
}

/* Index of an argument: the binary has the index of its first word, and the table is patched. */
static enum nocap_status argument_value(struct aie_encoder *e, const struct aie_statement *s,
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
        e->packets = aie_named_pad(e, &s->operands[NOCAP_AIE_APPLY_OFFSET_57_offset + 1]);
    }
    return e->program->dialect == NOCAP_AIE_N26 ? add_entries(e, s, symbol)
                                                : aie_add_symbol(e->program, e->output, &symbol);
}

enum nocap_status aie_operand_value(struct aie_encoder *e, const struct aie_statement *s,
                                    const struct aie_word *word,
                                    const struct nocap_aie_field *field, const uint32_t *values,
                                    uint32_t before, uint32_t *value)
{
    switch ((enum nocap_aie_kind)field->kind) {
    case NOCAP_AIE_REG: return aie_parse_register(e->program, s, word, value);
    case NOCAP_AIE_LB: return aie_parse_barrier(e->program, s, word, false, value);
    case NOCAP_AIE_RB: return aie_parse_barrier(e->program, s, word, true, value);
    case NOCAP_AIE_PAGE: return aie_page_value(e, s, word, value);
    case NOCAP_AIE_TILE: return tile_value(e, s, word, value);
    case NOCAP_AIE_ACTOR: return actor_value(e, s, word, value);
    case NOCAP_AIE_ARG:
        return argument_value(e, s, word, values[NOCAP_AIE_APPLY_OFFSET_57_table_ptr], value);
    default: return const_value(e, s, word, field, before, value);
    }
}
