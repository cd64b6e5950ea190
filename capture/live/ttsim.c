/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/live/ttsim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const enum nocap_space ttsim_bar_spaces[TTSIM_BARS] = {NOCAP_SPACE_BAR0, NOCAP_SPACE_BAR2,
                                                       NOCAP_SPACE_BAR4};

const char *ttsim_resolve(struct ttsim *sim, void *handle)
{
    if (dlsym(handle, "libttsim_create_device_by_id") != NULL) {
        return "a build for several devices, whose interface is not known here";
    }
#define ENTRY(result, name, parameters)                                                            \
    sim->name = __extension__(result(*) parameters) dlsym(handle, "libttsim_" #name);
    TTSIM_ENTRIES(ENTRY)
#undef ENTRY
    return sim->init == NULL || sim->clock == NULL || sim->pci_mem_rd_bytes == NULL ||
                   sim->pci_mem_wr_bytes == NULL || sim->pci_config_rd32 == NULL
               ? "is no simulator library: libttsim's entry points are not there"
               : NULL;
}

bool ttsim_arch(const struct ttsim *sim, enum nocap_arch *arch, char *why, size_t size)
{
    uint32_t id = sim->pci_config_rd32(0, 0);
    if (live_arch(id & 0xFFFF, id >> 16, arch)) {
        return true;
    }
    snprintf(why, size, "a simulator of device %04x:%04x, which is neither Blackhole nor Wormhole",
             id & 0xFFFF, id >> 16);
    return false;
}

/* ---- BARs ---- */

static uint64_t read_bar(const struct ttsim *sim, uint32_t bdf, unsigned bar)
{
    uint32_t low = sim->pci_config_rd32(bdf, 0x10 + bar * 8);
    uint64_t high = sim->pci_config_rd32(bdf, 0x14 + bar * 8);
    return high << 32 | (low & ~UINT32_C(0xF));
}

void ttsim_find_chips(const struct ttsim *sim, struct ttsim_board *board, enum nocap_arch arch)
{
    static const uint64_t sizes[TTSIM_BARS] = {UINT64_C(512) << 20, UINT64_C(1) << 20,
                                               UINT64_C(32) << 30};
    for (board->chips = 0; board->chips < TTSIM_CHIPS_MAX; board->chips++) {
        uint32_t bdf = board->chips << 3;
        struct ttsim_chip *c = &board->chip[board->chips];
        if (board->chips > 0 && sim->pci_config_rd32(bdf, 0) == UINT32_MAX) {
            return;
        }
        live_chip_init(&c->live, (uint16_t)board->chips, arch, true);
        memset(c->iatu, 0, sizeof c->iatu);
        for (unsigned i = 0; i < TTSIM_BARS; i++) {
            c->bar[i] = (struct ttsim_bar){read_bar(sim, bdf, i), sizes[i]};
        }
    }
}

void ttsim_config_stored(const struct ttsim *sim, struct ttsim_board *board, uint32_t bdf,
                         uint32_t offset)
{
    unsigned chip = bdf >> 3, bar = (offset - 0x10) / 8;
    if (chip < board->chips && offset >= 0x10 && bar < TTSIM_BARS) {
        board->chip[chip].bar[bar].base = read_bar(sim, bdf, bar);
    }
}

struct ttsim_chip *ttsim_find(struct ttsim_board *board, uint64_t paddr, unsigned *bar)
{
    for (unsigned i = 0; i < board->chips; i++) {
        for (*bar = 0; *bar < TTSIM_BARS; ++*bar) {
            const struct ttsim_bar *b = &board->chip[i].bar[*bar];
            if (b->base != 0 && paddr - b->base < b->size) {
                return &board->chip[i];
            }
        }
    }
    return NULL;
}

/* ---- the host's memory ---- */

/* Words of an outbound region of the address translation: BAR 2, 0x200 bytes apart. */
enum { IATU_FIRST = 0x1000, IATU_STRIDE = 0x200 };
enum iatu_word {
    IATU_CTRL2 = 1,
    IATU_BASE = 2,
    IATU_LIMIT = 4,
    IATU_TARGET = 5,
    IATU_LIMIT_HI = 8
};

static void keep_iatu(struct ttsim_chip *c, uint64_t offset, const void *data, uint32_t size)
{
    uint64_t at = offset - IATU_FIRST;
    uint64_t region = at / IATU_STRIDE, word = at % IATU_STRIDE / 4;
    if (offset >= IATU_FIRST && region < TTSIM_IATU_REGIONS && word < TTSIM_IATU_WORDS &&
        size == 4) {
        memcpy(&c->iatu[region][word], data, 4);
    }
}

void ttsim_stored(struct ttsim_chip *chip, unsigned bar, uint64_t offset, const void *data,
                  uint32_t size)
{
    if (bar == 0) {
        live_chip_store(&chip->live, offset, data, size);
    } else if (bar == 1 && !chip->live.raw) {
        keep_iatu(chip, offset, data, size);
    }
}

uint64_t ttsim_device_address(const struct ttsim_board *board, uint64_t paddr, uint32_t size)
{
    for (unsigned i = 0; i < board->chips; i++) {
        for (unsigned r = 0; r < TTSIM_IATU_REGIONS; r++) {
            const uint32_t *w = board->chip[i].iatu[r];
            uint64_t base = (uint64_t)w[IATU_BASE + 1] << 32 | w[IATU_BASE];
            uint64_t limit = (uint64_t)w[IATU_LIMIT_HI] << 32 | w[IATU_LIMIT];
            uint64_t target = (uint64_t)w[IATU_TARGET + 1] << 32 | w[IATU_TARGET];
            if (w[IATU_CTRL2] >> 31 != 0 && paddr >= target &&
                paddr - target + size <= limit - base + 1) {
                return base + (paddr - target);
            }
        }
    }
    return paddr;
}
