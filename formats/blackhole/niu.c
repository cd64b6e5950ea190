/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/niu.h"

#include "formats/blackhole/registers.h"

const char *nocap_niu_place_name(enum nocap_niu_place place)
{
    static const char *const names[NOCAP_PLACE_COUNT] = {
        [NOCAP_PLACE_NONE] = "nothing known", [NOCAP_PLACE_L1] = "L1",
        [NOCAP_PLACE_MMIO] = "a register",    [NOCAP_PLACE_DRAM] = "DRAM",
        [NOCAP_PLACE_PCIE] = "host memory",
    };
    return (unsigned)place < NOCAP_PLACE_COUNT ? names[place] : "?";
}

unsigned nocap_niu_alignment(enum nocap_op op, enum nocap_niu_place far_end)
{
#define ALIGNMENT(op_, place_, bytes, sentence) [NOCAP_OP_##op_][NOCAP_PLACE_##place_] = (bytes),
    static const uint8_t modulo[NOCAP_OP_COUNT][NOCAP_PLACE_COUNT] = {
#include "formats/blackhole/niu.def"
    };
    return modulo[op][far_end] != 0 ? modulo[op][far_end] : 1;
}

uint64_t nocap_niu_overrun(enum nocap_tile_kind kind, uint64_t addr, uint64_t size)
{
    uint64_t end, nothing_below;
    if (kind == NOCAP_TILE_ETHERNET) {
        end = NOCAP_NIU_ETHERNET_L1_SIZE;
        nothing_below = NOCAP_NIU_MMIO_FIRST;
    } else if (kind == NOCAP_TILE_DRAM) {
        end = NOCAP_NIU_DRAM_SIZE;
        nothing_below = NOCAP_NIU_DRAM_NOTHING_BELOW;
    } else {
        return 0;
    }
    if (addr >= nothing_below || size > UINT64_MAX - addr || addr + size <= end) {
        return 0;
    }
    return addr >= end ? size : addr + size - end;
}

struct nocap_niu_counted nocap_niu_counted(unsigned counter)
{
    enum { READS = 1 << NOCAP_READS, WRITES = 1 << NOCAP_WRITES, ATOMICS = 1 << NOCAP_ATOMICS };
    unsigned unanswered = counter - NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID;
    unsigned outgoing = counter - NOCAP_COUNTER_MST_WRITE_REQS_OUTGOING_ID;
    if (unanswered < NOCAP_TRIDS) {
        return (struct nocap_niu_counted){READS | WRITES | ATOMICS, true, true,
                                          (uint8_t)unanswered};
    }
    if (outgoing < NOCAP_TRIDS) {
        return (struct nocap_niu_counted){WRITES, false, true, (uint8_t)outgoing};
    }
    switch (counter) {
    case NOCAP_COUNTER_MST_ATOMIC_RESP_RECEIVED:
        return (struct nocap_niu_counted){.set = ATOMICS, .done = true};
    case NOCAP_COUNTER_MST_WR_ACK_RECEIVED:
        return (struct nocap_niu_counted){.set = WRITES, .done = true};
    case NOCAP_COUNTER_MST_RD_RESP_RECEIVED:
        return (struct nocap_niu_counted){.set = READS, .done = true};
    case NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT:
    case NOCAP_COUNTER_MST_POSTED_WR_REQ_SENT: return (struct nocap_niu_counted){.set = WRITES};
    default: return (struct nocap_niu_counted){0};
    }
}
