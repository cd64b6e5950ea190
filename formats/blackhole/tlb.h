/* SPDX-License-Identifier: Apache-2.0 */
/* TLB windows: which tile and address an access to the device's BARs means. 202 windows of 2 MiB in
 * BAR0, 8 of 4 GiB in BAR4; each is aimed by three words in BAR0. Source: tlb.def. */
#ifndef NOCAP_BLACKHOLE_TLB_H
#define NOCAP_BLACKHOLE_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/event.h"

enum {
    NOCAP_TLB_2M_COUNT = 202,
    NOCAP_TLB_4G_COUNT = 8,
    NOCAP_TLB_COUNT =
        NOCAP_TLB_2M_COUNT + NOCAP_TLB_4G_COUNT, /* window ids 0..209; 4 GiB ones from 202 */
    NOCAP_TLB_2M_SHIFT = 21,
    NOCAP_TLB_4G_SHIFT = 32,
    NOCAP_TLB_WORDS = 3,
    NOCAP_TLB_REGISTERS = 0x1FC00000, /* BAR0: window's words at + 12 * id */
    NOCAP_TLB_REGISTERS_END = NOCAP_TLB_REGISTERS + NOCAP_TLB_COUNT * NOCAP_TLB_WORDS * 4,
    NOCAP_TLB_STRIDED_COUNT =
        32, /* BAR0: strided register of window i < 32 at REGISTERS_END + 4 * i */
};

/* A window. `page` is the NOC address of its first byte, shifted right by the window's shift. A
 * unicast window aims at (x_end, y_end), a multicast at the rectangle from start to end. */
struct nocap_tlb_window {
    uint64_t page;
    uint8_t x_end, y_end, x_start, y_start;
    uint8_t noc;
    uint8_t mcast;    /* 0 or 1 */
    uint8_t ordering; /* enum nocap_order; 3 is illegal */
    uint8_t linked, use_static_vc, stream_header, static_vc;
    uint32_t reserved; /* bits of no field, kept so that encoding gives the same words */
};

static inline unsigned nocap_tlb_shift(unsigned window)
{
    return window < NOCAP_TLB_2M_COUNT ? NOCAP_TLB_2M_SHIFT : NOCAP_TLB_4G_SHIFT;
}

/* window < NOCAP_TLB_COUNT; it decides which of the two formats the words have. */
void nocap_tlb_decode(unsigned window, const uint32_t words[NOCAP_TLB_WORDS],
                      struct nocap_tlb_window *fields);
/* Fields wider than their bits are cut, as the hardware does. */
void nocap_tlb_encode(unsigned window, const struct nocap_tlb_window *fields,
                      uint32_t words[NOCAP_TLB_WORDS]);

/* NOC address of byte `offset` of the window. */
static inline uint64_t nocap_tlb_address(unsigned window, const struct nocap_tlb_window *fields,
                                         uint64_t offset)
{
    return fields->page << nocap_tlb_shift(window) | offset;
}

/* Whether `addr` in BAR0 is a word that aims a window; which. */
bool nocap_tlb_is_register(uint64_t addr, unsigned *window, unsigned *word);
/* Whether `addr` in BAR0 is the strided register of a window; which. */
bool nocap_tlb_is_strided(uint64_t addr, unsigned *window);
/* Whether `addr` in space BAR0 or BAR4 lies in a window; which, and where in it. */
bool nocap_tlb_find(enum nocap_space space, uint64_t addr, unsigned *window, uint64_t *offset);

#endif
