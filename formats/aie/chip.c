/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/chip.h"

#include <string.h>
#include <strings.h>

#define CHIP(NAME, name, shim, packets, header, ucs, memory, wide)                                 \
    [NOCAP_##                                                                                      \
        NAME] = {name, NOCAP_AIE_REL_##shim, NOCAP_AIE_REL_##packets, header, ucs, memory, wide},
static const struct nocap_aie_chip_info chips[NOCAP_AIE_CHIP_COUNT] = {
#include "formats/aie/chip.def"
};

#define TARGET(word, NAME, os_abi) {word, NOCAP_##NAME, os_abi},
static const struct target {
    const char *word;
    enum nocap_aie_chip chip;
    uint8_t os_abi;
} targets[] = {
#include "formats/aie/chip.def"
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

#define RELOCATION(NAME, number, bytes, words) {number, bytes, words},
static const struct relocation {
    uint32_t type, bytes, words;
} relocations[] = {
#include "formats/aie/chip.def"
};

const struct nocap_aie_chip_info *nocap_aie_chip_info(enum nocap_aie_chip chip)
{
    return chip > NOCAP_AIE_CHIP_UNKNOWN && chip < NOCAP_AIE_CHIP_COUNT ? &chips[chip] : NULL;
}

/* Whether the text is the word, or the word with a dash somewhere in it. */
static bool is_word(const char *text, size_t length, const char *word)
{
    const char *dash = memchr(text, '-', length);
    size_t head = dash == NULL ? length : (size_t)(dash - text);
    size_t tail = dash == NULL ? 0 : length - head - 1;
    return strlen(word) == head + tail && strncasecmp(text, word, head) == 0 &&
           strncasecmp(dash == NULL ? "" : dash + 1, word + head, tail) == 0;
}

enum nocap_aie_chip nocap_aie_target(const char *word, size_t length, uint8_t *os_abi)
{
    for (unsigned i = 0; i < TARGETS; i++) {
        if (is_word(word, length, targets[i].word)) {
            *os_abi = targets[i].os_abi;
            return targets[i].chip;
        }
    }
    return NOCAP_AIE_CHIP_UNKNOWN;
}

const char *nocap_aie_target_of(uint8_t os_abi, enum nocap_aie_chip *chip)
{
    for (unsigned i = 0; i < TARGETS; i++) {
        if (targets[i].os_abi == os_abi) {
            *chip = targets[i].chip;
            return targets[i].word;
        }
    }
    return NULL;
}

enum nocap_aie_chip nocap_aie_relocation_chip(uint32_t type)
{
    for (int i = NOCAP_AIE_CHIP_UNKNOWN + 1; i < NOCAP_AIE_CHIP_COUNT; i++) {
        if (chips[i].shim == type || chips[i].packets == type) {
            return (enum nocap_aie_chip)i;
        }
    }
    return NOCAP_AIE_CHIP_UNKNOWN;
}

static const struct relocation *find_relocation(uint32_t type)
{
    for (size_t i = 0; i < sizeof relocations / sizeof relocations[0]; i++) {
        if (relocations[i].type == type) {
            return &relocations[i];
        }
    }
    return NULL;
}

uint32_t nocap_aie_relocation_size(uint32_t type)
{
    const struct relocation *r = find_relocation(type);
    return r == NULL ? 0 : r->bytes;
}

uint32_t nocap_aie_relocation_words(uint32_t type)
{
    const struct relocation *r = find_relocation(type);
    return r == NULL ? 0 : r->words;
}
