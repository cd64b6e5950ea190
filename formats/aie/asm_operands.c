/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of assembly; labels of data: which statements belong to them, and where they stand. */
#include <string.h>
#include <strings.h>

#include "formats/aie/asm_private.h"

#define FAIL(program, statement, word, ...)                                                        \
    aie_source_error((program), (statement)->place, (word), __VA_ARGS__)

enum nocap_status aie_parse_number(const struct aie_program *program,
                                   const struct aie_statement *statement,
                                   const struct aie_word *word, unsigned bits, uint32_t *number)
{
    uint64_t wide;
    RETURN_SOURCE_ERROR_IF(!aie_word_number(word, &wide), program, statement->place, word,
                           "'%.*s' is no number; expected one of %u bits, decimal or 0x",
                           AIE_TEXT(word), bits);
    RETURN_SOURCE_ERROR_IF(wide >> bits != 0, program, statement->place, word,
                           "%.*s does not fit; expected a number of %u bits", AIE_TEXT(word), bits);
    *number = (uint32_t)wide;
    return NOCAP_OK;
}

/* A word "<prefix><number below limit>". */
static bool numbered(const struct aie_word *word, const char *prefix, uint64_t limit,
                     uint32_t *number)
{
    uint32_t n = (uint32_t)strlen(prefix);
    struct aie_word rest = {word->text + n, word->length - n, word->column + n};
    uint64_t wide;
    if (word->length <= n || strncasecmp(word->text, prefix, n) != 0 ||
        !aie_word_number(&rest, &wide) || wide >= limit) {
        return false;
    }
    *number = (uint32_t)wide;
    return true;
}

enum nocap_status aie_parse_register(const struct aie_program *program,
                                     const struct aie_statement *statement,
                                     const struct aie_word *word, uint32_t *number)
{
    if (numbered(word, "$r", NOCAP_AIE_REGISTERS, number)) {
        return NOCAP_OK;
    }
    if (numbered(word, "$g", NOCAP_AIE_REGISTERS - NOCAP_AIE_GLOBAL_FIRST, number)) {
        *number += NOCAP_AIE_GLOBAL_FIRST;
        return NOCAP_OK;
    }
    return FAIL(program, statement, word, "'%.*s' is no register; expected $r0..$r%d or $g0..$g%d",
                AIE_TEXT(word), NOCAP_AIE_REGISTERS - 1,
                NOCAP_AIE_REGISTERS - NOCAP_AIE_GLOBAL_FIRST - 1);
}

enum nocap_status aie_parse_barrier(const struct aie_program *program,
                                    const struct aie_statement *statement,
                                    const struct aie_word *word, bool remote, uint32_t *number)
{
    unsigned count =
        remote ? nocap_aie_remote_barriers(program->dialect) : NOCAP_AIE_LOCAL_BARRIERS;
    uint64_t bare;
    if (aie_word_number(word, &bare) && bare <= UINT8_MAX) {
        *number = (uint32_t)bare; /* as it stands, without a check, as assemblers have it */
        return NOCAP_OK;
    }
    if (numbered(word, remote ? "$rb" : "$lb", count, number)) {
        *number += remote;
        return NOCAP_OK;
    }
    return FAIL(program, statement, word, "'%.*s' is no %s barrier; expected %s0..%s%u",
                AIE_TEXT(word), remote ? "remote" : "local", remote ? "$rb" : "$lb",
                remote ? "$rb" : "$lb", count - 1);
}

/* ---- labels ---- */

enum { WORD_SIZE = 4 };

static uint64_t label_key(uint32_t file, const char *text, uint32_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ file;
    for (uint32_t i = 0; i < length; i++) {
        char c = text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
        hash = (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint32_t look_up(const struct aie_program *program, const struct aie_chain *chain,
                        uint32_t file, const struct aie_word *name)
{
    uint64_t key = label_key(file, name->text, name->length);
    for (const struct aie_map_value *at = aie_map_find(&chain->labels, key); at != NULL;
         at = aie_map_next(&chain->labels, at)) {
        const struct aie_statement *label = &program->statements[chain->data.items[at->value]];
        if (label->place.file == file && aie_words_equal(&label->name, name)) {
            return at->value;
        }
    }
    return AIE_NONE;
}

enum nocap_status aie_find_label(const struct aie_program *program, const struct aie_chain *chain,
                                 const struct aie_statement *statement, const struct aie_word *word,
                                 uint32_t *at)
{
    RETURN_SOURCE_ERROR_IF(word->length < 2 || word->text[0] != '@', program, statement->place,
                           word, "'%.*s' is no label; expected @name", AIE_TEXT(word));
    struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
    *at = look_up(program, chain, statement->place.file, &name);
    RETURN_SOURCE_ERROR_IF(*at == AIE_NONE, program, statement->place, word,
                           "there is no data '%.*s' in this file; expected a label in the "
                           "data of the same uC",
                           AIE_TEXT(&name));
    return NOCAP_OK;
}

uint32_t aie_label_extent(const struct aie_program *program, const struct aie_chain *chain,
                          uint32_t at, uint32_t *size)
{
    uint32_t count = 1;
    for (*size = 0; at + count < chain->data.count; count++) {
        const struct aie_statement *s = &program->statements[chain->data.items[at + count]];
        if (s->kind == AIE_LABEL) {
            break;
        }
        *size += s->kind == AIE_BD ? NOCAP_AIE_BD_SIZE : WORD_SIZE;
    }
    return count;
}

enum nocap_status aie_index_labels(const struct aie_program *program, struct aie_chain *chain)
{
    for (uint32_t at = 0; at < chain->data.count; at++) {
        const struct aie_statement *label = &program->statements[chain->data.items[at]];
        uint32_t size;
        if (label->kind != AIE_LABEL) {
            continue;
        }
        RETURN_SOURCE_ERROR_IF(
            look_up(program, chain, label->place.file, &label->name) != AIE_NONE, program,
            label->place, &label->name,
            "label '%.*s' is defined already in this file; expected another name",
            AIE_TEXT(&label->name));
        aie_label_extent(program, chain, at, &size);
        RETURN_SOURCE_ERROR_IF(size == 0, program, label->place, &label->name,
                               "label '%.*s' has no data; expected .long or UC_DMA_BD",
                               AIE_TEXT(&label->name));
        uint64_t key = label_key(label->place.file, label->name.text, label->name.length);
        RETURN_NO_MEMORY_IF(!aie_map_add(&chain->labels, key, at), program);
    }
    return NOCAP_OK;
}
