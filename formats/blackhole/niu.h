/* Bits of a network interface's registers. The registers themselves are in registers.def. Source:
 * network interface register map of the Blackhole instruction set documentation. */
#ifndef NOCAP_BLACKHOLE_NIU_H
#define NOCAP_BLACKHOLE_NIU_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/event.h"

/* CTRL */
enum nocap_niu_type {
    NOCAP_NIU_READ = 0,
    NOCAP_NIU_ATOMIC = 1,
    NOCAP_NIU_WRITE = 2
}; /* bits 1:0; 3 is reserved */
enum nocap_niu_ctrl {
    NOCAP_CTRL_TYPE = 0x3,
    NOCAP_CTRL_BYTE_ENABLE = 1 << 2,
    NOCAP_CTRL_INLINE = 1 << 3,
    NOCAP_CTRL_RESPONSE = 1 << 4, /* clear: posted */
    NOCAP_CTRL_BROADCAST = 1 << 5,
    NOCAP_CTRL_VC_LINKED = 1 << 6,
    NOCAP_CTRL_VC_STATIC = 1 << 7,
    NOCAP_CTRL_PATH_RESERVE = 1 << 8,
    NOCAP_CTRL_MEM_RD_DROP_ACK = 1 << 9,
    NOCAP_CTRL_STATIC_VC = 7 << 13, /* buddy bit 13, class 15:14 */
    NOCAP_CTRL_BROADCAST_Y_MAJOR = 1 << 16,
    NOCAP_CTRL_BROADCAST_SOURCE = 1 << 17,
    NOCAP_CTRL_PRIORITY = 15 << 27,
    NOCAP_CTRL_RESERVED = 7 << 10,
};
#define NOCAP_CTRL_L1_ACCUMULATE (UINT32_C(1) << 31)
/* Bits that hardware may set by itself: to be masked before words are compared. */
#define NOCAP_CTRL_VOLATILE (UINT32_C(0x1FF) << 18 | NOCAP_CTRL_L1_ACCUMULATE)

/* Values of the static class, bits 15:14. */
enum { NOCAP_VC_CLASS_SHIFT = 14, NOCAP_VC_CLASS_MULTICAST = 2, NOCAP_VC_SHIFT = 13 };

/* PACKET_TAG: transaction id */
enum { NOCAP_TAG_TRID_SHIFT = 10, NOCAP_TAG_TRID_MASK = 15, NOCAP_TRIDS = 16 };
/* NIU_CFG_0 and ROUTER_CFG_0 */
enum { NOCAP_CFG_BOOT = 1 << 0, NOCAP_NIU_CFG_TRANSLATE = 1 << 14 };
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

#endif
