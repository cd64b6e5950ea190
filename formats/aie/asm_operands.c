/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of assembly. */
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
