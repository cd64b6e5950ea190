/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the fake simulator (ttsim.c). */
#ifndef NOCAP_TESTS_FAKE_TTSIM_H
#define NOCAP_TESTS_FAKE_TTSIM_H

#define FAKE_BAR0 UINT64_C(0x100000000)
#define FAKE_BAR2 UINT64_C(0x120000000)
#define FAKE_BAR4 UINT64_C(0x800000000)
enum {
    FAKE_WIDTH = 17,
    FAKE_HEIGHT = 12,
    FAKE_TILE_BYTES = 1 << 16,
    FAKE_DMA = 0x8000,
    FAKE_FATAL = 0xF000, /* a store here: _Exit */
    FAKE_EXIT = 0xF010,  /* here: exit */
    FAKE_FATAL_STATUS = 42,
    FAKE_GO = 0x370, /* as in a Blackhole's mailbox; its highest byte is the signal */
    FAKE_SIGNAL_GO = 0x80,
    FAKE_INPUT = 0x2000,
    FAKE_RESULT = 0x2004,
    FAKE_KERNEL_CLOCKS = 500,
    FAKE_DOZE = 900,
};

#endif
