/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of a network interface's registers. The registers themselves are in registers.def. Source:
 * niu.def, and the network interface register map of the Blackhole instruction set documentation.
 */
#ifndef NOCAP_BLACKHOLE_NIU_H
#define NOCAP_BLACKHOLE_NIU_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/blackhole/tile_map.h"
#include "formats/trace/event.h"

/* CTRL */
enum nocap_niu_type {
    NOCAP_NIU_READ = 0,
    NOCAP_NIU_ATOMIC = 1,
    NOCAP_NIU_WRITE = 2
}; /* bits 1:0; 3 is reserved */
/* NOCAP_CTRL_INLINE ..: mask of a field of CTRL. */
#define CTRL_FIELD(NAME, low, bits, sentence) NOCAP_CTRL_##NAME = ((1 << (bits)) - 1) << (low),
enum nocap_niu_ctrl {
#include "formats/blackhole/niu.def"
};
/* Bit 31 fits no enum. It does not work on this hardware: 0. */
#define NOCAP_CTRL_L1_ACCUMULATE (UINT32_C(1) << 31)
/* NOCAP_NIU_PACKET_MAX ..: limits of requests. */
#define LIMIT(NAME, value, sentence)                                                               \
    static const uint64_t NOCAP_NIU_##NAME __attribute__((unused)) = (value);
#include "formats/blackhole/niu.def"
/* Bits that hardware may set by itself: to be masked before words are compared. */
#define NOCAP_CTRL_VOLATILE ((uint32_t)NOCAP_CTRL_RESERVED_UPPER | NOCAP_CTRL_L1_ACCUMULATE)

/* The static virtual channel: buddy in its lowest bit, class above it. */
enum { NOCAP_VC_SHIFT = 13, NOCAP_VC_CLASS_SHIFT = 1, NOCAP_VC_CLASS_MULTICAST = 2 };

/* PACKET_TAG: transaction id */
enum { NOCAP_TAG_TRID_SHIFT = 10, NOCAP_TAG_TRID_MASK = 15, NOCAP_TRIDS = 16 };
/* NIU_CFG_0 and ROUTER_CFG_0 */
enum { NOCAP_CFG_BOOT = 1 << 0, NOCAP_NIU_CFG_TRANSLATE = 1 << 14, NOCAP_NIU_CFG_FIFO = 1 << 16 };
/* AT_LEN_BE of an atomic */
enum nocap_atomic {
    NOCAP_ATOMIC_NOP = 0,
    NOCAP_ATOMIC_INCREMENT = 1,
    NOCAP_ATOMIC_INCREMENT_PTR = 2,
    NOCAP_ATOMIC_SWAP_MASK = 3,
    NOCAP_ATOMIC_COMPARE_SWAP = 4,
    NOCAP_ATOMIC_GET_TILE_MAP = 5,
    NOCAP_ATOMIC_SWAP = 6,
    NOCAP_ATOMIC_SWAP_7 = 7,
    NOCAP_ATOMIC_ACCUMULATE = 9,
    NOCAP_ATOMIC_OP_SHIFT = 12,
    NOCAP_ATOMIC_OP_MASK = 15,
    NOCAP_ATOMIC_OFS_MASK = 3,        /* bits 1:0: word in 16 bytes */
    NOCAP_ATOMIC_INT_WIDTH_SHIFT = 2, /* bits 6:2: width - 1 of an increment */
    NOCAP_ATOMIC_INT_WIDTH_MASK = 31,
};

/* Coordinates as in TARG_ADDR_HI, RET_ADDR_HI, NODE_ID and NOC_ID_LOGICAL: x 5:0, y 11:6; of a
 * broadcast these are the end and x 17:12, y 23:18 the start. */
enum { NOCAP_XY_BITS = 6, NOCAP_XY_MASK = 63 };

static inline struct nocap_xy nocap_niu_xy(uint32_t hi)
{
    return (struct nocap_xy){(uint8_t)(hi & NOCAP_XY_MASK),
                             (uint8_t)(hi >> NOCAP_XY_BITS & NOCAP_XY_MASK)};
}
static inline struct nocap_xy nocap_niu_start(uint32_t hi)
{
    return nocap_niu_xy(hi >> 2 * NOCAP_XY_BITS);
}
static inline uint32_t nocap_niu_hi(struct nocap_xy at)
{
    return (uint32_t)(at.x & NOCAP_XY_MASK) | (uint32_t)(at.y & NOCAP_XY_MASK) << NOCAP_XY_BITS;
}
static inline uint32_t nocap_niu_hi_rectangle(struct nocap_xy start, struct nocap_xy end)
{
    return nocap_niu_hi(start) << 2 * NOCAP_XY_BITS | nocap_niu_hi(end);
}
static inline unsigned nocap_niu_trid(uint32_t packet_tag)
{
    return packet_tag >> NOCAP_TAG_TRID_SHIFT & NOCAP_TAG_TRID_MASK;
}
static inline unsigned nocap_niu_vc(uint32_t ctrl)
{
    return (ctrl & NOCAP_CTRL_STATIC_VC) >> NOCAP_VC_SHIFT;
}

/* What a CTRL word asks for: NOCAP_OP_READ, _WRITE, _INLINE or _ATOMIC; NOCAP_OP_NONE for the
 * reserved type. */
static inline enum nocap_op nocap_niu_op(uint32_t ctrl)
{
    switch (ctrl & NOCAP_CTRL_TYPE) {
    case NOCAP_NIU_READ: return NOCAP_OP_READ;
    case NOCAP_NIU_ATOMIC: return NOCAP_OP_ATOMIC;
    case NOCAP_NIU_WRITE: return ctrl & NOCAP_CTRL_INLINE ? NOCAP_OP_INLINE : NOCAP_OP_WRITE;
    default: return NOCAP_OP_NONE;
    }
}

/* Requests as the interface counts them: an inline write is a write. */
enum nocap_requests { NOCAP_READS, NOCAP_WRITES, NOCAP_ATOMICS, NOCAP_REQUESTS };
static inline enum nocap_requests nocap_requests_of(unsigned op)
{
    return op == NOCAP_OP_READ ? NOCAP_READS : op == NOCAP_OP_ATOMIC ? NOCAP_ATOMICS : NOCAP_WRITES;
}

/* Of which requests a counter of the interface shows that they are over. */
struct nocap_niu_counted {
    uint8_t set;  /* 1 << enum nocap_requests; 0: of none */
    bool done;    /* they have ended; else they have left */
    bool of_trid; /* only those of transaction id `trid` */
    uint8_t trid;
};
/* `counter`: NOCAP_COUNTER_.., + id. */
struct nocap_niu_counted nocap_niu_counted(unsigned counter);

/* The same place in the other NOC's own numbers, where no translation is on. */
static inline struct nocap_xy nocap_noc1_raw(struct nocap_xy at)
{
    return (struct nocap_xy){(uint8_t)(NOCAP_GRID_WIDTH - 1 - at.x),
                             (uint8_t)(NOCAP_GRID_HEIGHT - 1 - at.y)};
}

/* What an address that the NOC reaches is. */
enum nocap_niu_place {
    NOCAP_PLACE_NONE, /* nothing that is known, or nothing at all */
    NOCAP_PLACE_L1,   /* of a Tensix or Ethernet tile */
    NOCAP_PLACE_MMIO, /* registers of such a tile */
    NOCAP_PLACE_DRAM,
    NOCAP_PLACE_PCIE, /* host memory */
    NOCAP_PLACE_COUNT
};
static inline enum nocap_niu_place nocap_niu_place(enum nocap_tile_kind kind, uint64_t addr)
{
    switch (kind) {
    case NOCAP_TILE_TENSIX:
    case NOCAP_TILE_ETHERNET: {
        uint64_t l1 = kind == NOCAP_TILE_TENSIX ? NOCAP_L1_SIZE : NOCAP_NIU_ETHERNET_L1_SIZE;
        return addr < l1                      ? NOCAP_PLACE_L1
               : addr >= NOCAP_NIU_MMIO_FIRST ? NOCAP_PLACE_MMIO
                                              : NOCAP_PLACE_NONE;
    }
    case NOCAP_TILE_DRAM: return addr < NOCAP_NIU_DRAM_SIZE ? NOCAP_PLACE_DRAM : NOCAP_PLACE_NONE;
    case NOCAP_TILE_PCIE: return NOCAP_PLACE_PCIE;
    default: return NOCAP_PLACE_NONE;
    }
}
const char *nocap_niu_place_name(enum nocap_niu_place place); /* "L1", "a register", .. */
/* Bytes modulo which source and destination of a read or write agree; 1 where nothing is asked. */
unsigned nocap_niu_alignment(enum nocap_op op, enum nocap_niu_place far_end);
/* How many bytes of [addr, addr + size) lie after the end of the tile's memory; never for Tensix
 * tiles, whose address space is tile_map.def's. */
uint64_t nocap_niu_overrun(enum nocap_tile_kind kind, uint64_t addr, uint64_t size);

#endif
