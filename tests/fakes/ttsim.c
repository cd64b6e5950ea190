/* SPDX-License-Identifier: Apache-2.0 */
/* A device that has libttsim's interface and nothing inside: tiles with 64 KiB of memory behind TLB
 * windows. A word written to FAKE_DMA of a tile lets the next clock() store 64 bytes of that tile
 * into the host's memory at that address, and fetch them back to behind. A store to FAKE_FATAL ends
 * the process, as a simulator does that finds a fault.
 *
 * Each tile has a kernel: GO in the go word at FAKE_GO makes it run for FAKE_KERNEL_CLOCKS clocks,
 * then FAKE_RESULT is three times what FAKE_INPUT was at GO, and the go word's signal is DONE. What
 * it does wrong says the environment's FAKE_FAULT: "result" is one too many, "never" is DONE,
 * "slow" takes ten times as long, "doze" misses a GO that comes FAKE_DOZE clocks after the last
 * DONE. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/tlb.h"
#include "tests/fakes/ttsim.h"

static uint8_t memory[FAKE_WIDTH][FAKE_HEIGHT][FAKE_TILE_BYTES];
static uint32_t words[NOCAP_TLB_COUNT][NOCAP_TLB_WORDS];
static uint8_t bar2[1 << 20];
static struct kernel {
    bool runs;
    uint32_t left, since_done, input; /* clocks */
} kernels[FAKE_WIDTH][FAKE_HEIGHT];
static void (*dma_read)(uint64_t paddr, void *data, uint32_t size);
static void (*dma_write)(uint64_t paddr, const void *data, uint32_t size);

void libttsim_init(void);
void libttsim_exit(void);
void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                        void (*write)(uint64_t, const void *, uint32_t));
uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset);
void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t data);
void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *data, uint32_t size);
void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *data, uint32_t size);
void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size);
void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t addr, const void *data, uint32_t size);
void libttsim_clock(uint32_t clocks);

void libttsim_init(void)
{
    memset(memory, 0, sizeof memory);
    memset(kernels, 0, sizeof kernels);
}

void libttsim_exit(void)
{
}

void libttsim_set_pci_dma_mem_callbacks(void (*read)(uint64_t, void *, uint32_t),
                                        void (*write)(uint64_t, const void *, uint32_t))
{
    dma_read = read;
    dma_write = write;
}

uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset)
{
    static const uint64_t bars[] = {FAKE_BAR0, FAKE_BAR2, FAKE_BAR4};
    if (bdf != 0) {
        return UINT32_MAX;
    }
    if (offset >= 0x10 && offset < 0x28) {
        uint64_t bar = bars[(offset - 0x10) / 8];
        return offset % 8 == 0 ? (uint32_t)bar | 4 : (uint32_t)(bar >> 32);
    }
    const char *id = getenv("FAKE_DEVICE_ID"); /* hex */
    return (uint32_t)(id != NULL ? strtoul(id, NULL, 16) : 0xB140) << 16 | 0x1E52;
}

void libttsim_pci_config_wr32(uint32_t bdf, uint32_t offset, uint32_t data)
{
    (void)bdf;
    (void)offset;
    (void)data;
}

static bool has_fault(const char *name)
{
    const char *fault = getenv("FAKE_FAULT");
    return fault != NULL && strcmp(fault, name) == 0;
}

static void start_kernel(unsigned x, unsigned y)
{
    struct kernel *k = &kernels[x][y];
    bool dozes = has_fault("doze") && k->since_done > FAKE_DOZE;
    if (memory[x][y][FAKE_GO + 3] == FAKE_SIGNAL_GO && !k->runs && !dozes) {
        k->runs = true;
        k->left = FAKE_KERNEL_CLOCKS * (has_fault("slow") ? 10 : 1);
        memcpy(&k->input, &memory[x][y][FAKE_INPUT], sizeof k->input);
    }
}

static void run_kernel(unsigned x, unsigned y, uint32_t clocks)
{
    struct kernel *k = &kernels[x][y];
    if (k->runs && k->left > clocks) {
        k->left -= clocks;
    } else if (k->runs && !has_fault("never")) {
        uint32_t result = k->input * 3 + has_fault("result");
        memcpy(&memory[x][y][FAKE_RESULT], &result, sizeof result);
        memory[x][y][FAKE_GO + 3] = 0;
        *k = (struct kernel){.since_done = clocks - k->left};
    } else if (!k->runs) {
        k->since_done += clocks;
    }
}

static void access_tile(unsigned x, unsigned y, uint64_t addr, void *data, uint32_t size,
                        bool write)
{
    if (x >= FAKE_WIDTH || y >= FAKE_HEIGHT || addr >= FAKE_TILE_BYTES ||
        size > FAKE_TILE_BYTES - addr) {
        return;
    }
    if (write && addr <= FAKE_FATAL && addr + size > FAKE_FATAL) {
        fflush(stdout);
        _Exit(FAKE_FATAL_STATUS);
    }
    if (write && addr <= FAKE_EXIT && addr + size > FAKE_EXIT) {
        exit(FAKE_FATAL_STATUS);
    }
    if (write) {
        memcpy(&memory[x][y][addr], data, size);
        if (addr <= FAKE_GO + 3 && addr + size > FAKE_GO + 3) {
            start_kernel(x, y);
        }
    } else {
        memcpy(data, &memory[x][y][addr], size);
    }
}

static void access_bar(uint64_t paddr, void *data, uint32_t size, bool write)
{
    uint64_t offset = paddr - FAKE_BAR0;
    struct nocap_tlb_window w;
    unsigned window, word;
    uint64_t inside;
    if (paddr - FAKE_BAR2 < sizeof bar2) {
        memcpy(write ? bar2 + (paddr - FAKE_BAR2) : data, write ? data : bar2 + (paddr - FAKE_BAR2),
               size);
    } else if (nocap_tlb_is_register(offset, &window, &word)) {
        memcpy(write ? (void *)&words[window][word] : data,
               write ? data : (void *)&words[window][word], size);
    } else if (nocap_tlb_find(NOCAP_SPACE_BAR0, offset, &window, &inside)) {
        nocap_tlb_decode(window, words[window], &w);
        uint64_t addr = nocap_tlb_address(window, &w, inside);
        unsigned x_first = w.mcast ? w.x_start : w.x_end, y_first = w.mcast ? w.y_start : w.y_end;
        for (unsigned x = x_first; x <= w.x_end; x++) {
            for (unsigned y = y_first; y <= w.y_end; y++) {
                access_tile(x, y, addr, data, size, write);
            }
        }
    }
}

void libttsim_pci_mem_rd_bytes(uint64_t paddr, void *data, uint32_t size)
{
    memset(data, 0, size);
    access_bar(paddr, data, size, false);
}

void libttsim_pci_mem_wr_bytes(uint64_t paddr, const void *data, uint32_t size)
{
    access_bar(paddr, (void *)data, size, true);
}

void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t addr, void *data, uint32_t size)
{
    access_tile(x, y, addr, data, size, false);
}

void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t addr, const void *data, uint32_t size)
{
    access_tile(x, y, addr, (void *)data, size, true);
}

void libttsim_clock(uint32_t clocks)
{
    for (unsigned x = 0; clocks > 0 && x < FAKE_WIDTH; x++) {
        for (unsigned y = 0; y < FAKE_HEIGHT; y++) {
            uint32_t to;
            run_kernel(x, y, clocks);
            memcpy(&to, &memory[x][y][FAKE_DMA], sizeof to);
            if (to != 0) {
                memset(&memory[x][y][FAKE_DMA], 0, sizeof to);
                dma_write(to, &memory[x][y][0], 64);
                dma_read(to, &memory[x][y][64], 64);
            }
        }
    }
}
