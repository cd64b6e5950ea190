/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/tlb.h"

#include <string.h>

enum { WORD_BITS = 32, WINDOW_BITS = NOCAP_TLB_WORDS * WORD_BITS };

/* Both formats give every bit of a window to one field. */
#define TLB_FIELD(member, low_2m, bits_2m, low_4g, bits_4g) +(bits_2m)
enum {
    BITS_2M = 0
#include "formats/blackhole/tlb.def"
};
#undef TLB_FIELD
#define TLB_FIELD(member, low_2m, bits_2m, low_4g, bits_4g) +(bits_4g)
enum {
    BITS_4G = 0
#include "formats/blackhole/tlb.def"
};
#undef TLB_FIELD
_Static_assert((int)BITS_2M == (int)WINDOW_BITS, "2 MiB format");
_Static_assert((int)BITS_4G == (int)WINDOW_BITS, "4 GiB format");

/* Bits `low` .. `low` + `bits` - 1 of the window's 96. */
static uint64_t get_bits(const uint32_t words[NOCAP_TLB_WORDS], unsigned low, unsigned bits)
{
    uint64_t v = 0;
    for (unsigned got = 0; got < bits;) {
        unsigned shift = (low + got) % WORD_BITS;
        v |= (uint64_t)(words[(low + got) / WORD_BITS] >> shift) << got;
        got += WORD_BITS - shift;
    }
    return v & ((UINT64_C(1) << bits) - 1);
}

static void set_bits(uint32_t words[NOCAP_TLB_WORDS], unsigned low, unsigned bits, uint64_t v)
{
    v &= (UINT64_C(1) << bits) - 1;
    for (unsigned put = 0; put < bits;) {
        unsigned shift = (low + put) % WORD_BITS;
        words[(low + put) / WORD_BITS] |= (uint32_t)(v >> put) << shift;
        put += WORD_BITS - shift;
    }
}

void nocap_tlb_decode(unsigned window, const uint32_t words[NOCAP_TLB_WORDS],
                      struct nocap_tlb_window *fields)
{
    bool small = window < NOCAP_TLB_2M_COUNT;
#define TLB_FIELD(member, low_2m, bits_2m, low_4g, bits_4g)                                        \
    fields->member = (__typeof__(fields->member))(small ? get_bits(words, low_2m, bits_2m)         \
                                                        : get_bits(words, low_4g, bits_4g));
#include "formats/blackhole/tlb.def"
#undef TLB_FIELD
}

void nocap_tlb_encode(unsigned window, const struct nocap_tlb_window *fields,
                      uint32_t words[NOCAP_TLB_WORDS])
{
    bool small = window < NOCAP_TLB_2M_COUNT;
    memset(words, 0, NOCAP_TLB_WORDS * sizeof(words[0]));
#define TLB_FIELD(member, low_2m, bits_2m, low_4g, bits_4g)                                        \
    set_bits(words, small ? (low_2m) : (low_4g), small ? (bits_2m) : (bits_4g), fields->member);
#include "formats/blackhole/tlb.def"
#undef TLB_FIELD
}

bool nocap_tlb_is_register(uint64_t addr, unsigned *window, unsigned *word)
{
    if (addr < NOCAP_TLB_REGISTERS || addr >= NOCAP_TLB_REGISTERS_END) {
        return false;
    }
    unsigned index = (unsigned)(addr - NOCAP_TLB_REGISTERS) / 4;
    *window = index / NOCAP_TLB_WORDS;
    *word = index % NOCAP_TLB_WORDS;
    return true;
}

bool nocap_tlb_is_strided(uint64_t addr, unsigned *window)
{
    uint64_t index = (addr - NOCAP_TLB_REGISTERS_END) / 4;
    if (addr < NOCAP_TLB_REGISTERS_END || index >= NOCAP_TLB_STRIDED_COUNT) {
        return false;
    }
    *window = (unsigned)index;
    return true;
}

bool nocap_tlb_find(enum nocap_space space, uint64_t addr, unsigned *window, uint64_t *offset)
{
    bool small = space == NOCAP_SPACE_BAR0;
    unsigned shift = small ? NOCAP_TLB_2M_SHIFT : NOCAP_TLB_4G_SHIFT;
    uint64_t index = addr >> shift;
    if ((!small && space != NOCAP_SPACE_BAR4) ||
        index >= (small ? NOCAP_TLB_2M_COUNT : NOCAP_TLB_4G_COUNT)) {
        return false;
    }
    *window = (unsigned)index + (small ? 0 : NOCAP_TLB_2M_COUNT);
    *offset = addr & ((UINT64_C(1) << shift) - 1);
    return true;
}
