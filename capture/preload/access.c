/* The accesses to the device. Each is one instruction of the width asked for: the compiler must not
 * split or join what a device sees. */
#include <immintrin.h>
#include <string.h>

#include "capture/preload/preload.h"

__attribute__((target("avx"))) static void load32(const uint8_t *from, uint8_t *to)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
}

__attribute__((target("avx"))) static void store32(uint8_t *to, const uint8_t *from)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
}

__attribute__((target("avx512f"))) static void load64(const uint8_t *from, uint8_t *to)
{
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

__attribute__((target("avx512f"))) static void store64(uint8_t *to, const uint8_t *from)
{
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
}

/* A volatile scalar that need not be aligned. */
#define SCALAR(type, device)                                                                       \
    (*(volatile type __attribute__((aligned(1), may_alias)) *)(uintptr_t)(device))

static void load(const uint8_t *device, uint8_t *to, unsigned width)
{
    switch (width) {
    case 1: *to = SCALAR(uint8_t, device); break;
    case 2: {
        uint16_t v = SCALAR(uint16_t, device);
        memcpy(to, &v, sizeof v);
        break;
    }
    case 4: {
        uint32_t v = SCALAR(uint32_t, device);
        memcpy(to, &v, sizeof v);
        break;
    }
    case 8: {
        uint64_t v = SCALAR(uint64_t, device);
        memcpy(to, &v, sizeof v);
        break;
    }
    case 16: _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)device)); break;
    case 32: load32(device, to); break;
    default: load64(device, to); break;
    }
}

static void store(uint8_t *device, const uint8_t *from, unsigned width)
{
    switch (width) {
    case 1: SCALAR(uint8_t, device) = *from; break;
    case 2: {
        uint16_t v;
        memcpy(&v, from, sizeof v);
        SCALAR(uint16_t, device) = v;
        break;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, from, sizeof v);
        SCALAR(uint32_t, device) = v;
        break;
    }
    case 8: {
        uint64_t v;
        memcpy(&v, from, sizeof v);
        SCALAR(uint64_t, device) = v;
        break;
    }
    case 16: _mm_storeu_si128((__m128i *)device, _mm_loadu_si128((const __m128i *)from)); break;
    case 32: store32(device, from); break;
    default: store64(device, from); break;
    }
}

static void record(const struct region *r, enum nocap_kind kind, uintptr_t address,
                   const void *data, size_t size)
{
    struct nocap_capture *capture = atomic_load_explicit(&shim_capture, memory_order_acquire);
    if (capture != NULL) {
        live_record(capture, &r->chip->live, kind, (enum nocap_space)r->space,
                    r->offset + (address - r->start), data, size, (enum nocap_map)r->map);
    }
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
    const void *data = NULL;
    for (unsigned i = 0; i < chip->pin_count; i++) {
        const struct pin *p = &chip->pins[i];
        if (source >= p->iova && source - p->iova <= p->size &&
            size <= p->size - (source - p->iova)) {
            data = (const void *)(uintptr_t)(p->address + (source - p->iova));
        }
    }
    if (capture != NULL && size != 0) {
        live_record_by(capture, &chip->live, NOCAP_EV_WRITE, NOCAP_BY_DMA, NOCAP_SPACE_BAR0, target,
                       data, size, NOCAP_MAP_WC);
    }
}

/* What stores to registers change: where windows point, what the DMA engine is told. */
static void keep(const struct region *r, uintptr_t address, const void *from, size_t size)
{
    uint64_t offset = r->offset + (address - r->start);
    if (r->space == NOCAP_SPACE_BAR0) {
        live_chip_store(&r->chip->live, offset, from, size);
    } else if (r->space == NOCAP_SPACE_BAR2 && offset + size <= KMD_DMA_END) {
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
        load(device + i, (uint8_t *)to + i, width);
    }
    record(r, NOCAP_EV_READ, address, to, size);
}

void access_store(const struct region *r, uintptr_t address, const void *from, size_t size,
                  unsigned width)
{
    uint8_t *device = r->alias + (address - r->start);
    record(r, NOCAP_EV_WRITE, address, from, size);
    for (size_t i = 0; i < size; i += width) {
        store(device + i, (const uint8_t *)from + i, width);
    }
    keep(r, address, from, size);
}
