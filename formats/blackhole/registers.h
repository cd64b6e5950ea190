/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a Tensix tile by name. Addresses are those of the tile's address space. Source:
 * registers.def. */
#ifndef NOCAP_BLACKHOLE_REGISTERS_H
#define NOCAP_BLACKHOLE_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/blackhole/cores.h"
#include "formats/blackhole/tile_map.h"

/* NOCAP_REG_SOFT_RESET_0 ..: address, of the first where there are several. */
#define REGISTER(NAME, address, count, stride, access, sentence) NOCAP_REG_##NAME = (address),
__extension__ enum nocap_register_address {
#include "formats/blackhole/registers.def"
};

/* NOCAP_NIU_CMD_CTRL ..: offset in a network interface, or in a command buffer of it. */
#define NIU_REGISTER(NAME, offset, count, access, sentence) NOCAP_NIU_##NAME = (offset),
#define NIU_BUFFER_REGISTER(NAME, offset, access, sentence) NOCAP_NIU_##NAME = (offset),
enum nocap_niu_offset {
#include "formats/blackhole/registers.def"
    NOCAP_NIU_BUFFER_STRIDE = 0x800,
    NOCAP_NIU_BUFFERS = 4,
    NOCAP_NIU_COUNTER_BASE = 0x200,
};

/* NOCAP_COUNTER_MST_WR_ACK_RECEIVED ..: index of a counter. */
#define NIU_COUNTER(NAME, index, count, sentence) NOCAP_COUNTER_##NAME = (index),
enum nocap_niu_counter {
#include "formats/blackhole/registers.def"
    NOCAP_COUNTER_COUNT = 64, /* words of the counter block */
};

/* NOCAP_STREAM_TILES_ACKED ..: index of a register of a stream. */
#define STREAM_REGISTER(NAME, index, access, sentence) NOCAP_STREAM_##NAME = (index),
enum nocap_stream_register {
#include "formats/blackhole/registers.def"
    NOCAP_STREAM_STRIDE = 0x1000, /* bytes between two streams */
    NOCAP_STREAM_COUNT = 64,
    NOCAP_CB_STREAM = 8, /* circular buffer i is counted by stream 8 + i */
    NOCAP_CB_COUNT = 32,
    NOCAP_NOTIFY_STREAM = 48, /* at the dispatch tile, plus the go word's dispatch offset */
    NOCAP_NOTIFY_VALUE = 0x40,
};

enum {
    NOCAP_RESET_PC_OVERRIDE_TRISCS = 7, /* TRISC_RESET_PC_OVERRIDE: one bit a TRISC */
    NOCAP_RESET_PC_OVERRIDE_NCRISC = 1,
    NOCAP_CLK_GATE_EN_BOOT = 0x3F, /* CLK_GATE_EN as firmware sets it */
    NOCAP_GPR_COUNT = 64,          /* per thread */
    NOCAP_SEMAPHORE_COUNT = 8,
    NOCAP_TTSYNC_STORE = 0, /* what firmware stores before the load that waits */
};

enum nocap_register_access { NOCAP_REGISTER_RO = 1, NOCAP_REGISTER_WO = 2, NOCAP_REGISTER_RW = 3 };

static inline uint32_t nocap_niu_base(unsigned noc)
{
    return noc == 0 ? NOCAP_BASE_NIU0 : NOCAP_BASE_NIU1;
}
/* Address of a command buffer's register. */
static inline uint32_t nocap_niu_buffer_address(unsigned noc, unsigned buffer,
                                                enum nocap_niu_offset offset)
{
    return nocap_niu_base(noc) + (uint32_t)buffer * NOCAP_NIU_BUFFER_STRIDE + (uint32_t)offset;
}
static inline uint32_t nocap_niu_address(unsigned noc, enum nocap_niu_offset offset)
{
    return nocap_niu_base(noc) + (uint32_t)offset;
}
static inline uint32_t nocap_niu_counter_address(unsigned noc, unsigned counter)
{
    return nocap_niu_base(noc) + NOCAP_NIU_COUNTER_BASE + 4 * (uint32_t)counter;
}
static inline uint32_t nocap_stream_address(unsigned stream, unsigned index)
{
    return NOCAP_BASE_STREAM + (uint32_t)stream * NOCAP_STREAM_STRIDE + 4 * (uint32_t)index;
}
/* Whether what is written there is added to a stream's counter. */
static inline bool nocap_adds_to_stream(uint64_t addr)
{
    const uint64_t first = nocap_stream_address(0, NOCAP_STREAM_SPACE_UPDATE);
    return addr >= first && addr <= NOCAP_LAST_STREAM && (addr - first) % NOCAP_STREAM_STRIDE == 0;
}
/* Where a finished launch notifies the dispatch tile. */
static inline uint32_t nocap_notify_address(unsigned dispatch_offset)
{
    return nocap_stream_address(NOCAP_NOTIFY_STREAM + dispatch_offset, NOCAP_STREAM_SPACE_UPDATE);
}

/* Which kind of row of registers.def names a register, or what stands for one. */
enum nocap_register_family {
    NOCAP_FAMILY_NONE, /* no register has a name here */
    NOCAP_FAMILY_PLAIN,
    NOCAP_FAMILY_NIU,
    NOCAP_FAMILY_NIU_BUFFER,
    NOCAP_FAMILY_NIU_COUNTER,
    NOCAP_FAMILY_STREAM,
    NOCAP_FAMILY_GPR,         /* thread, index: register */
    NOCAP_FAMILY_INSTRN_FIFO, /* thread */
};

struct nocap_register_place {
    uint8_t family; /* enum nocap_register_family */
    uint8_t access; /* enum nocap_register_access */
    uint8_t noc;    /* of the three NIU families */
    uint8_t buffer; /* of NIU_BUFFER */
    int8_t thread;  /* Tensix thread whose copy is meant, -1: there is only one */
    uint16_t stream;
    uint16_t count; /* how many registers the row stands for */
    uint16_t index; /* PLAIN, NIU, NIU_COUNTER: which of the row's `count`; STREAM: register; GPR */
    uint32_t id; /* PLAIN: NOCAP_REG_*; NIU, NIU_BUFFER: NOCAP_NIU_*; NIU_COUNTER: NOCAP_COUNTER_*;
                    STREAM: NOCAP_STREAM_*, 0 if it has no name */
    const char *name, *sentence; /* of the row, NULL if there is none */
};

/* The register whose word holds `addr`. `by` is who accesses it (enum nocap_agent), since each
 * TRISC sees its own thread at the windows of thread 0, and BRISC sees no semaphores; NOCAP_BY_NONE
 * takes the address as it is. False: none is known there, and the family is NONE. */
bool nocap_register_find(uint64_t addr, unsigned by, struct nocap_register_place *place);

/* Whether the documents call `addr` read-only for everybody: NIU counters, PC read-back, Dest
 * window. */
bool nocap_register_read_only(uint64_t addr);

/* Human name of a register address: "SOFT_RESET_0", "NIU0.CMD_BUF3.CMD_CTRL",
 * "NIU1.MST_WR_ACK_RECEIVED", "STREAM[8].REG[10](tiles_received)", "GPR[t1][5]", "SEM[3]",
 * "TTSYNC[t1]", "TENSIX_CFG[12]"; for what has none, region and offset: "PIC+0x10". `by` as above.
 * Returns `buffer`, always terminated. */
const char *nocap_register_name(uint64_t addr, unsigned by, char *buffer, size_t size);

/* Register that holds the reset PC of a subordinate core, 0 for others; and the override register
 * with its mask. */
uint32_t nocap_reset_pc_register(unsigned agent);
uint32_t nocap_reset_pc_override(unsigned agent, uint32_t *mask);

#endif
