/* SPDX-License-Identifier: Apache-2.0 */
/* The five RISC-V cores of a Tensix tile and the numbers that go with each. Source: cores.def. */
#ifndef NOCAP_BLACKHOLE_CORES_H
#define NOCAP_BLACKHOLE_CORES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/trace/event.h"

/* NOCAP_PROCESSOR_BRISC ..: index into kernel_text_offset[], bit number in `enables`. */
#define CORE(NAME, processor, reset_bit, cache_bit, ldm_size, sync_byte, thread, debug_signal)     \
    NOCAP_PROCESSOR_##NAME = (processor),
enum nocap_processor {
#include "formats/blackhole/cores.def"
    NOCAP_PROCESSOR_COUNT
};
#undef CORE

/* Bits of SOFT_RESET_0: set holds the core in reset. */
#define CORE(NAME, processor, reset_bit, cache_bit, ldm_size, sync_byte, thread, debug_signal)     \
    NOCAP_SOFT_RESET_##NAME = 1 << (reset_bit),
enum nocap_soft_reset {
#include "formats/blackhole/cores.def"
    NOCAP_SOFT_RESET_SUBORDINATES = NOCAP_SOFT_RESET_NCRISC | NOCAP_SOFT_RESET_TRISC0 |
                                    NOCAP_SOFT_RESET_TRISC1 | NOCAP_SOFT_RESET_TRISC2, /* 0x47000 */
    NOCAP_SOFT_RESET_ALL = NOCAP_SOFT_RESET_SUBORDINATES | NOCAP_SOFT_RESET_BRISC,     /* 0x47800 */
};
#undef CORE

/* Bits of RISCV_IC_INVALIDATE. */
#define CORE(NAME, processor, reset_bit, cache_bit, ldm_size, sync_byte, thread, debug_signal)     \
    NOCAP_IC_INVALIDATE_##NAME = 1 << (cache_bit),
enum nocap_ic_invalidate {
#include "formats/blackhole/cores.def"
    NOCAP_IC_INVALIDATE_ALL = NOCAP_IC_INVALIDATE_BRISC | NOCAP_IC_INVALIDATE_NCRISC |
                              NOCAP_IC_INVALIDATE_TRISC0 | NOCAP_IC_INVALIDATE_TRISC1 |
                              NOCAP_IC_INVALIDATE_TRISC2, /* 0x1F */
};
#undef CORE

struct nocap_core_info {
    uint32_t reset_mask;  /* of SOFT_RESET_0 */
    uint32_t cache_mask;  /* of RISCV_IC_INVALIDATE */
    uint32_t ldm_size;    /* bytes */
    uint8_t agent;        /* enum nocap_agent */
    uint8_t processor;    /* enum nocap_processor */
    int8_t sync_byte;     /* of the subordinate sync word; -1: BRISC has none */
    int8_t thread;        /* Tensix thread; -1: BRISC and NCRISC have none of their own */
    uint8_t debug_signal; /* of the debug bus, for the program counter */
};

/* By processor index. */
extern const struct nocap_core_info nocap_cores[NOCAP_PROCESSOR_COUNT];

static inline bool nocap_is_core(unsigned agent)
{
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2;
}

/* NULL unless `agent` is one of the five cores. */
static inline const struct nocap_core_info *nocap_core(unsigned agent)
{
    return nocap_is_core(agent) ? &nocap_cores[agent - NOCAP_BY_BRISC] : (void *)0;
}

#endif
