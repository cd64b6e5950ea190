/* SPDX-License-Identifier: Apache-2.0 */
/* The PCIe endpoint: sizes of its BARs, outbound windows (iATU) and the host-to-device DMA engine,
 * both in BAR2. Addresses are offsets in BAR2, sizes bytes. Source: Blackhole driver and simulator.
 */
#ifndef NOCAP_BLACKHOLE_ENDPOINT_H
#define NOCAP_BLACKHOLE_ENDPOINT_H

#include <stdint.h>

#define NOCAP_BAR0_SIZE UINT64_C(0x20000000)
#define NOCAP_BAR2_SIZE UINT64_C(0x100000)
#define NOCAP_BAR4_SIZE UINT64_C(0x800000000)

enum nocap_iatu {
    NOCAP_IATU_FIRST = 0x1000, /* region r at FIRST + r * STRIDE */
    NOCAP_IATU_STRIDE = 0x200,
    NOCAP_IATU_CTRL2 = 0x04, /* of a region */
    NOCAP_IATU_BASE_LO = 0x08,
    NOCAP_IATU_BASE_HI = 0x0C,
    NOCAP_IATU_LIMIT_LO = 0x10,
    NOCAP_IATU_LIMIT_HI = 0x20,
    NOCAP_IATU_ADDRESS_BITS = 58,
};
#define NOCAP_IATU_ENABLE (UINT32_C(1) << 31) /* in CTRL2 */

enum nocap_dma {
    NOCAP_DMA_DOORBELL = 0x104,       /* 1 starts */
    NOCAP_DMA_SIZE = 0x11C,           /* reads 0 when it is done */
    NOCAP_DMA_DEVICE_ADDRESS = 0x128, /* offset in BAR0 */
};

#endif
