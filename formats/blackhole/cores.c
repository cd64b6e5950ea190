/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/cores.h"

#define CORE(NAME, processor_, reset_bit, cache_bit, ldm_size_, sync_byte_, thread_, signal)       \
    [processor_] = {.reset_mask = UINT32_C(1) << (reset_bit),                                      \
                    .cache_mask = UINT32_C(1) << (cache_bit),                                      \
                    .ldm_size = (ldm_size_),                                                       \
                    .agent = NOCAP_BY_##NAME,                                                      \
                    .processor = (processor_),                                                     \
                    .sync_byte = (sync_byte_),                                                     \
                    .thread = (thread_),                                                           \
                    .debug_signal = (signal)},
const struct nocap_core_info nocap_cores[NOCAP_PROCESSOR_COUNT] = {
#include "formats/blackhole/cores.def"
};
#undef CORE

/* nocap_core() takes the agent's number for the processor index. */
#define CORE(NAME, processor, reset_bit, cache_bit, ldm_size, sync_byte, thread, signal)           \
    _Static_assert(NOCAP_BY_##NAME - NOCAP_BY_BRISC == (processor), "agents in processor order");
#include "formats/blackhole/cores.def"
#undef CORE
