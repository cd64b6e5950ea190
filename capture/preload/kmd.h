/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/preload and the tests: the interface of the Blackhole kernel driver, as far as
 * the shim looks at it. Source: tt-kmd, API version 2. The number of an ioctl says nothing of its
 * size; input and output lie back to back in one buffer. */
#ifndef NOCAP_PRELOAD_KMD_H
#define NOCAP_PRELOAD_KMD_H

#include <stdint.h>

enum kmd_ioctl {
    KMD_GET_DEVICE_INFO = 0xFA00,
    KMD_QUERY_MAPPINGS = 0xFA02,
    KMD_ALLOCATE_DMA_BUF = 0xFA03,
    KMD_RESET_DEVICE = 0xFA06,
    KMD_PIN_PAGES = 0xFA07,
    KMD_MAP_PEER_BAR = 0xFA09,
    KMD_UNPIN_PAGES = 0xFA0A,
    KMD_ALLOCATE_TLB = 0xFA0B,
    KMD_FREE_TLB = 0xFA0C,
    KMD_CONFIGURE_TLB = 0xFA0D,
    KMD_SET_NOC_CLEANUP = 0xFA0E,
    KMD_EXPORT_TLB = 0xFA10, /* as a DMA buffer of other devices */
    KMD_IOCTL_LAST = KMD_EXPORT_TLB,
};

struct kmd_get_device_info {
    uint32_t output_size; /* of what follows */
    uint32_t written;
    uint16_t vendor, device, subsystem_vendor, subsystem;
    uint16_t bus_dev_fn, buffer_log2, domain, reserved;
};
_Static_assert(sizeof(struct kmd_get_device_info) == 24, "as the driver has it");

struct kmd_configure_tlb {
    uint32_t id, none;
    uint64_t addr;
    uint16_t x_end, y_end, x_start, y_start;
    uint8_t noc, mcast, ordering, linked, static_vc;
    uint8_t reserved[11];
};
_Static_assert(sizeof(struct kmd_configure_tlb) == 40, "as the driver has it");

struct kmd_allocate_tlb {
    uint64_t size, reserved;
    uint32_t id, none;
    uint64_t offset_uc, offset_wc, reserved_out;
};

enum {
    KMD_PIN_NOC = 2,          /* flags: the device's own address too */
    KMD_PIN_NOC_TOP_DOWN = 4, /* the same, from the top of its space */
    KMD_PIN_OUTPUT_NOC = 16,  /* output_size that has room for it */
    KMD_BUFFER_NOC = 2,       /* flags of a buffer */
};

struct kmd_pin_pages {
    uint32_t output_size, flags;
    uint64_t address, size;
    uint64_t iova, noc_address; /* out; the second only if output_size >= 16 */
};

struct kmd_unpin_pages {
    uint64_t address, size, reserved;
};

struct kmd_allocate_dma_buf {
    uint32_t size;
    uint8_t index, flags, reserved[18];
    uint64_t iova, offset; /* out */
    uint32_t out_size, none;
    uint64_t noc_address, reserved_out;
};

/* One store of 4 bytes that the driver does when the file is closed. */
struct kmd_set_noc_cleanup {
    uint32_t size, flags;
    uint8_t enabled, x, y, noc;
    uint32_t none;
    uint64_t addr, data;
};
_Static_assert(sizeof(struct kmd_set_noc_cleanup) == 32, "as the driver has it");

struct kmd_export_tlb {
    uint32_t size, flags, id;
    int32_t fd; /* out */
    uint64_t offset, bytes;
};
_Static_assert(sizeof(struct kmd_export_tlb) == 32, "as the driver has it");

/* Offsets for mmap: which BAR, window or buffer. */
#define KMD_STEP      UINT64_C(0x1000000000) /* between an uncached and a write-combined mapping */
#define KMD_BAR0      UINT64_C(0x0000000000)
#define KMD_BAR2      UINT64_C(0x2000000000)
#define KMD_BAR4      UINT64_C(0x4000000000)
#define KMD_WINDOWS   UINT64_C(0x6000000000) /* of 2 MiB by number, of 4 GiB from KMD_WINDOWS_4G */
#define KMD_WINDOW_4G UINT64_C(0x20000000)
#define KMD_BUFFERS   UINT64_C(0xF0000000000) /* one each 4 GiB */

/* Registers of the DMA engine, host to device, in BAR 2. */
enum kmd_dma {
    KMD_DMA_DOORBELL = 0x104,
    KMD_DMA_SIZE = 0x11C,
    KMD_DMA_SOURCE = 0x120, /* host address, 8 bytes */
    KMD_DMA_TARGET = 0x128, /* offset in BAR 0 */
    KMD_DMA_END = 0x1B0,
};

#endif
