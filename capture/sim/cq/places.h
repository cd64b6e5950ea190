/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/sim/cq: where a queue has its words, and words in memory. */
#ifndef NOCAP_CAPTURE_SIM_CQ_PLACES_H
#define NOCAP_CAPTURE_SIM_CQ_PLACES_H

#include <stdint.h>

#include "formats/blackhole/xy.h"
#include "formats/profile/profile.h"

static inline uint32_t sim_cq_semaphore(const struct nocap_queue *n, uint32_t i)
{
    return n->kernel_config + n->semaphores + i * n->semaphore_stride;
}
/* The counter by which the dispatcher lets the subordinate send the go words of a stream. */
static inline uint32_t sim_cq_sync(const struct nocap_queue *n, uint32_t stream)
{
    return n->sync_sems + stream * n->l1_align;
}
/* L1 that a word is sent from: a store through the network to L1 is a write of that. */
enum { SIM_CQ_INLINE = 0x20 };
static inline uint32_t sim_cq_slot(const struct nocap_queue *n, uint32_t slot)
{
    return n->queue + slot * n->entry_bytes;
}
static inline uint32_t sim_cq_buffer_end(const struct nocap_queue *n)
{
    return n->buffer + n->buffer_pages * n->page;
}
/* The completion ring in the units of its pointers, which begin with the first page. */
static inline uint32_t sim_cq_page_units(const struct nocap_queue *n)
{
    return n->page / n->pointer_unit;
}
static inline uint32_t sim_cq_completion_units(const struct nocap_queue *n)
{
    return n->completion_size / n->pointer_unit;
}
static inline uint32_t sim_cq_first_page(const struct nocap_queue *n)
{
    return (uint32_t)((n->sysmem + n->completion) / n->pointer_unit);
}

static inline uint32_t sim_cq_load32(const uint8_t *memory, uint32_t addr)
{
    const uint8_t *b = memory + addr;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline void sim_cq_store32(uint8_t *memory, uint32_t addr, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        memory[addr + i] = (uint8_t)(value >> 8 * i);
    }
}
static inline uint32_t sim_cq_load16(const uint8_t *memory, uint32_t addr)
{
    return (uint32_t)memory[addr] | (uint32_t)memory[addr + 1] << 8;
}
/* The DRAM tile that commands and data are read from. */
static inline struct nocap_xy sim_cq_dram_tile(void)
{
    return (struct nocap_xy){17, 12};
}

#endif
