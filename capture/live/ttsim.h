/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/: the interface of libttsim, where its chips' BARs lie, and what the device
 * calls the host's memory. What stands before a simulator and what drives one share it. */
#ifndef NOCAP_LIVE_TTSIM_H
#define NOCAP_LIVE_TTSIM_H

#include "capture/live/chip.h"

typedef void ttsim_dma_read(uint64_t paddr, void *data, uint32_t size);
typedef void ttsim_dma_write(uint64_t paddr, const void *data, uint32_t size);

/* ENTRY(result, name, parameters): the whole interface. */
#define TTSIM_ENTRIES(ENTRY)                                                                       \
    ENTRY(void, init, (void))                                                                      \
    ENTRY(void, exit, (void))                                                                      \
    ENTRY(void, set_pci_dma_mem_callbacks, (ttsim_dma_read * read, ttsim_dma_write * write))       \
    ENTRY(uint32_t, pci_config_rd32, (uint32_t bdf, uint32_t offset))                              \
    ENTRY(void, pci_config_wr32, (uint32_t bdf, uint32_t offset, uint32_t data))                   \
    ENTRY(void, pci_mem_rd_bytes, (uint64_t paddr, void *data, uint32_t size))                     \
    ENTRY(void, pci_mem_wr_bytes, (uint64_t paddr, const void *data, uint32_t size))               \
    ENTRY(void, tile_rd_bytes, (uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size)) \
    ENTRY(void, tile_wr_bytes,                                                                     \
          (uint32_t x, uint32_t y, uint64_t addr, const void *data, uint32_t size))                \
    ENTRY(void, clock, (uint32_t clocks))

struct ttsim {
#define ENTRY(result, name, parameters) result(*name) parameters;
    TTSIM_ENTRIES(ENTRY)
#undef ENTRY
};

enum { TTSIM_CHIPS_MAX = 32, TTSIM_BARS = 3, TTSIM_IATU_REGIONS = 16, TTSIM_IATU_WORDS = 9 };

struct ttsim_bar {
    uint64_t base, size; /* base 0: not there */
};

struct ttsim_chip {
    struct live_chip live;
    struct ttsim_bar bar[TTSIM_BARS]; /* BAR 0, 2, 4 */
    uint32_t iatu[TTSIM_IATU_REGIONS][TTSIM_IATU_WORDS];
};

struct ttsim_board {
    unsigned chips;
    struct ttsim_chip chip[TTSIM_CHIPS_MAX];
};

extern const enum nocap_space ttsim_bar_spaces[TTSIM_BARS];

/* Takes the entry points; gives what is wrong with the library, NULL is nothing. */
const char *ttsim_resolve(struct ttsim *sim, void *handle);

/* The architecture of a simulator that runs; false: of none that can be captured, and `why`. */
bool ttsim_arch(const struct ttsim *sim, enum nocap_arch *arch, char *why, size_t size);
/* The chips of a simulator that has just begun. */
void ttsim_find_chips(const struct ttsim *sim, struct ttsim_board *board, enum nocap_arch arch);
/* After a store to the configuration: a BAR may lie elsewhere. */
void ttsim_config_stored(const struct ttsim *sim, struct ttsim_board *board, uint32_t bdf,
                         uint32_t offset);
/* The chip and BAR of a host address; NULL: of none. */
struct ttsim_chip *ttsim_find(struct ttsim_board *board, uint64_t paddr, unsigned *bar);
/* A store to a BAR: keeps what aims windows and translates addresses. */
void ttsim_stored(struct ttsim_chip *chip, unsigned bar, uint64_t offset, const void *data,
                  uint32_t size);
/* The device's name for `size` bytes of the host's memory: without translation the same. */
uint64_t ttsim_device_address(const struct ttsim_board *board, uint64_t paddr, uint32_t size);

#endif
