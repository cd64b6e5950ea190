/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses to the device. Each is one instruction of the width asked for, in assembly: a
 * compiler may split or join what it thinks is memory. */
#include <string.h>

#include "capture/preload/preload.h"

/* Through register REG: one instruction on the device, one on memory. `after`: vzeroupper where the
 * code that follows would pay for upper halves that are in use. */
#define COPY(instruction, reg, to, from, after)                                                    \
    __asm__ volatile(instruction " (%1), %%" reg "\n\t" instruction " %%" reg ", (%0)" after       \
                     :                                                                             \
                     : "r"(to), "r"(from)                                                          \
                     : "memory", "rax", "xmm0")

void access_copy(void *to, const void *from, unsigned width)
{
    switch (width) {
    case 1: COPY("movb", "al", to, from, ""); break;
    case 2: COPY("movw", "ax", to, from, ""); break;
    case 4: COPY("movl", "eax", to, from, ""); break;
    case 8: COPY("movq", "rax", to, from, ""); break;
    case 16: COPY("movdqu", "xmm0", to, from, ""); break;
    case 32: COPY("vmovdqu", "ymm0", to, from, "\n\tvzeroupper"); break;
    default: COPY("vmovdqu64", "zmm0", to, from, "\n\tvzeroupper"); break;
    }
}

void access_record(const struct region *r, enum nocap_kind kind, uintptr_t address,
                   const void *data, size_t size)
{
    struct nocap_capture *capture = atomic_load_explicit(&shim_capture, memory_order_acquire);
    const enum nocap_space space = (enum nocap_space)r->space;
    const enum nocap_map map = (enum nocap_map)r->map;
    uint64_t addr, offset = r->offset + (address - r->start);
    struct nocap_place place;
    if (capture == NULL ||
        (kind == NOCAP_EV_WRITE && size <= 4 &&
         live_chip_find(&r->chip->live, space, offset, size, map, &place, &addr) &&
         queue_store(capture, r->chip, place, addr, data, size))) {
        return;
    }
    live_record(capture, &r->chip->live, kind, space, offset, data, size, map);
}

/* Bytes of the program that the device is told to fetch: SOURCE, TARGET and SIZE of the DMA engine
 * say which. */
static void record_dma(struct chip *chip)
{
    uint64_t source;
    uint32_t target, size;
    struct nocap_capture *capture = atomic_load_explicit(&shim_capture, memory_order_acquire);
    memcpy(&source, chip->dma + KMD_DMA_SOURCE, sizeof source);
    memcpy(&target, chip->dma + KMD_DMA_TARGET, sizeof target);
    memcpy(&size, chip->dma + KMD_DMA_SIZE, sizeof size);
    const void *data = pin_bytes(chip, PIN_IOVA, source, size);
    if (capture != NULL && size != 0) {
        live_record_by(capture, &chip->live, NOCAP_EV_WRITE, NOCAP_BY_DMA, NOCAP_SPACE_BAR0, target,
                       data, size, NOCAP_MAP_WC);
    }
}

/* What stores to registers change: where windows point, what the DMA engine is told. */
void access_keep(const struct region *r, uintptr_t address, const void *from, size_t size)
{
    uint64_t offset = r->offset + (address - r->start);
    if (r->space == NOCAP_SPACE_BAR0) {
        live_chip_store(&r->chip->live, offset, from, size);
    } else if (r->space == NOCAP_SPACE_BAR2 && !r->chip->live.raw && offset + size <= KMD_DMA_END) {
        memcpy(r->chip->dma + offset, from, size);
        if (offset == KMD_DMA_DOORBELL) {
            record_dma(r->chip);
        }
    }
}

void access_load(const struct region *r, uintptr_t address, void *to, size_t size, unsigned width)
{
    const uint8_t *device = r->alias + (address - r->start);
    for (size_t i = 0; i < size; i += width) {
        access_copy((uint8_t *)to + i, device + i, width);
    }
    access_record(r, NOCAP_EV_READ, address, to, size);
}

void access_store(const struct region *r, uintptr_t address, const void *from, size_t size,
                  unsigned width)
{
    uint8_t *device = r->alias + (address - r->start);
    access_record(r, NOCAP_EV_WRITE, address, from, size);
    for (size_t i = 0; i < size; i += width) {
        access_copy(device + i, (const uint8_t *)from + i, width);
    }
    access_keep(r, address, from, size);
}

void access_store_two(const struct region *r, const struct word words[2])
{
    for (unsigned i = 0; i < 2; i++) {
        access_record(r, NOCAP_EV_WRITE, words[i].address, &words[i].value, words[i].size);
        access_keep(r, words[i].address, &words[i].value, words[i].size);
    }
    for (unsigned i = 0; i < 2; i++) {
        access_copy(r->alias + (words[i].address - r->start), &words[i].value, words[i].size);
    }
}
