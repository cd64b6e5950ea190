/* SPDX-License-Identifier: Apache-2.0 */
/* Where the parts of the fast-dispatch command queue lie: rings, pointer words, semaphores, host
 * memory. L1 addresses of the two command-queue tiles, offsets in host memory, sizes in bytes.
 * Source: command-queue fact sheet, sections 3 and 7. */
#ifndef NOCAP_BLACKHOLE_CQ_LAYOUT_H
#define NOCAP_BLACKHOLE_CQ_LAYOUT_H

#include <stdint.h>

#include "formats/trace/event.h"
#include "formats/trace/header.h"

/* L1, both tiles. KERNEL_CONFIG is the default; a trace's header may say otherwise. */
enum nocap_cq_l1 {
    NOCAP_CQ_KERNEL_CONFIG = 0x86B0,
    NOCAP_CQ_KERNEL_CONFIG_HEAD = 48, /* runtime arguments and semaphores, before kernel text */
    NOCAP_CQ_SEM0 = 0x86C0, /* prefetch tile: free pages; dispatch tile: pages published */
    NOCAP_CQ_SEM1 = 0x86D0,
    NOCAP_CQ_SEM2 = 0x86E0, /* also the first word of the kernel's text */
    NOCAP_CQ_TEXT = 0x86E0,
};

/* L1 of the prefetch tile. */
enum nocap_cq_prefetch_l1 {
    NOCAP_CQ_RD_PTR_ECHO = 0x196C0,   /* L1 address of the slot consumed last */
    NOCAP_CQ_PCIE_PTR_ECHO = 0x196C4, /* device address after the bytes read last */
    NOCAP_CQ_QUEUE = 0x19840,         /* the prefetch queue: slots of 16 bits */
    NOCAP_CQ_QUEUE_SLOTS = 1534,
    NOCAP_CQ_QUEUE_SIZE = 2 * NOCAP_CQ_QUEUE_SLOTS,
    NOCAP_CQ_QUEUE_END = NOCAP_CQ_QUEUE + NOCAP_CQ_QUEUE_SIZE,
    NOCAP_CQ_CMDDAT = 0x1A440, /* landed records */
    NOCAP_CQ_CMDDAT_SIZE = 0x40000,
    NOCAP_CQ_CMDDAT_END = NOCAP_CQ_CMDDAT + NOCAP_CQ_CMDDAT_SIZE,
};

/* L1 of the dispatch tile. */
enum nocap_cq_dispatch_l1 {
    NOCAP_CQ_COMPLETION_WR = 0x196D0, /* completion write pointer, completion read pointer */
    NOCAP_CQ_COMPLETION_RD = 0x196E0,
    NOCAP_CQ_LAST_EVENT0 = 0x196F0,
    NOCAP_CQ_LAST_EVENT1 = 0x19700,
    NOCAP_CQ_SYNC_SEMS = 0x19710,
    NOCAP_CQ_SYNC_SEMS_SIZE = 128,
    NOCAP_CQ_BUFFER = 0x1A000, /* the dispatch buffer */
    NOCAP_CQ_BUFFER_PAGES = 128,
    NOCAP_CQ_BUFFER_SIZE = 0x80000,
    NOCAP_CQ_BUFFER_END = NOCAP_CQ_BUFFER + NOCAP_CQ_BUFFER_SIZE,
    NOCAP_CQ_BLOCK_PAGES = 32, /* pages are released in blocks */
    NOCAP_CQ_BLOCK_SIZE = 0x20000,
    NOCAP_CQ_SUBORDINATE_BUFFER = 0x9A000, /* of dispatch_s, idle in this build */
    NOCAP_CQ_SUBORDINATE_BUFFER_END = 0xA2000,
};

/* Host memory, offsets from the base of the mapping; the device sees it at NOCAP_CQ_SYSMEM_BASE. */
#define NOCAP_CQ_SYSMEM_BASE UINT64_C(0x40000000)
enum nocap_cq_sysmem {
    NOCAP_CQ_HOST_WR = 0x80, /* mirror of the completion write pointer */
    NOCAP_CQ_HOST_RD = 0xC0, /* copy of the completion read pointer */
    NOCAP_CQ_ISSUE = 0x100,
    NOCAP_CQ_ISSUE_SIZE = 0x4000000,
    NOCAP_CQ_ISSUE_END = NOCAP_CQ_ISSUE + NOCAP_CQ_ISSUE_SIZE,
    NOCAP_CQ_COMPLETION = 0x4000100,
    NOCAP_CQ_COMPLETION_SIZE = 0x2000000,
    NOCAP_CQ_COMPLETION_END = NOCAP_CQ_COMPLETION + NOCAP_CQ_COMPLETION_SIZE,
    NOCAP_CQ_TIMESTAMPS = 0x6000100,
    NOCAP_CQ_TIMESTAMP_SLOTS = 4096,
    NOCAP_CQ_TIMESTAMP_STRIDE = 16,
    NOCAP_CQ_TIMESTAMPS_END =
        NOCAP_CQ_TIMESTAMPS + NOCAP_CQ_TIMESTAMP_SLOTS * NOCAP_CQ_TIMESTAMP_STRIDE,
    NOCAP_CQ_SYSMEM_SIZE = 0x6021000,
};

/* Completion pointers count units of 16 bytes; bit 31 flips with each turn. */
enum {
    NOCAP_CQ_POINTER_UNIT = 16,
    NOCAP_CQ_PAGE_UNITS = 0x100, /* a completion page */
    NOCAP_CQ_COMPLETION_PAGES = 8192,
    NOCAP_CQ_COMPLETION_UNITS = NOCAP_CQ_COMPLETION_SIZE / NOCAP_CQ_POINTER_UNIT,
};
#define NOCAP_CQ_TOGGLE UINT32_C(0x80000000)
#define NOCAP_CQ_COMPLETION_FIRST                                                                  \
    ((uint32_t)((NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_COMPLETION) / NOCAP_CQ_POINTER_UNIT))
#define NOCAP_CQ_COMPLETION_LAST (NOCAP_CQ_COMPLETION_FIRST + NOCAP_CQ_COMPLETION_UNITS)

/* The PCIe tile: where it is, the flag that its noc_xy carries, the bit that its addresses carry.
 */
enum { NOCAP_CQ_PCIE_X = 19, NOCAP_CQ_PCIE_Y = 24, NOCAP_CQ_PCIE_XY_FLAG = 1 << 24 };
#define NOCAP_CQ_PCIE_ADDRESS_BIT (UINT64_C(1) << 60)

/* Of the network and the streams. */
enum nocap_cq_noc {
    NOCAP_CQ_BURST = 16384, /* bytes of one packet */
    NOCAP_CQ_NOC_UPSTREAM = 0,
    NOCAP_CQ_NOC_DISPATCH = 1,
    NOCAP_CQ_VC_UNICAST = 1,
    NOCAP_CQ_VC_MCAST = 5,
    NOCAP_CQ_STREAMS = 8,     /* from NOCAP_NOTIFY_STREAM on */
    NOCAP_CQ_COUNT_SHIFT = 6, /* of what is written to a stream's update register */
    NOCAP_CQ_COUNT_BITS = 17,
};

/* Tiles of the command queue on a board. */
struct nocap_cq_board {
    struct nocap_xy prefetch, dispatch;
};
static inline struct nocap_cq_board nocap_cq_board(enum nocap_board board)
{
    uint8_t x = board == NOCAP_BOARD_P150 ? 16 : 14;
    return (struct nocap_cq_board){{x, 2}, {x, 3}};
}

#endif
