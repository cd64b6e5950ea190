/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher's loop: pages of the dispatch buffer acquired and released, commands found among
 * them. What the commands do is in execute.c. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum { BOOT = 90, POLL_PAGES = 10 };

static cq_routine boot_streams, loop;

static uint32_t stream_register(const struct sim_cq *q, unsigned stream,
                                enum nocap_stream_register index)
{
    return nocap_stream_address(q->n->first_stream + stream, index);
}

void sim_cq_dispatch_boot(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.dispatch;
    CO_BEGIN(a);
    CQ_AWAIT(q, a, CQ_WATCH_START,
             q->dispatch_l1[nocap_go_word_address(q->layout, 0) + NOCAP_GO_SIGNAL_BYTE] ==
                 NOCAP_GO_GO);
    CQ_SLEEP(q, a, BOOT, BOOT);
    sim_cq_emit_store(q, at, NOCAP_BY_BRISC, q->layout->sync, 1, NOCAP_SYNC_LOAD);
    CQ_SLEEP(q, a, 30, 8);
    sim_cq_emit_store(q, at, NOCAP_BY_BRISC, NOCAP_REG_RISCV_IC_INVALIDATE, 4,
                      NOCAP_IC_INVALIDATE_ALL);
    CQ_SLEEP(q, a, 30, 8);
    sim_cq_emit_store(q, at, NOCAP_BY_BRISC, q->layout->sync, 1, NOCAP_SYNC_GO);
    CQ_SLEEP(q, a, 60, 8);
    CO_GOTO(q, a, boot_streams);
    CO_END(a);
}

static void boot_streams(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    const struct nocap_xy at = q->board.dispatch;
    CO_BEGIN(a);
    for (a->i = 0; a->i < q->n->streams; a->i++) {
        sim_cq_emit_load(q, at, stream_register(q, a->i, NOCAP_STREAM_SPACE_AVAILABLE), 4, 0, NULL);
        CQ_SLEEP(q, a, 4, 1);
        sim_cq_emit_store(q, at, NOCAP_BY_BRISC,
                          stream_register(q, a->i, NOCAP_STREAM_SPACE_UPDATE), 4, 0);
        CQ_SLEEP(q, a, 4, 1);
    }
    d->wr = sim_cq_load32(q->dispatch_l1, q->n->completion_wr);
    sim_cq_emit_load(q, at, q->n->completion_wr, 4, d->wr, NULL);
    CQ_SLEEP(q, a, 10, 1);
    d->ptr = q->n->buffer;
    d->block_left = q->n->block_pages;
    CO_GOTO(q, a, loop);
    CO_END(a);
}

void sim_cq_dispatch_advance(struct sim_cq *q, uint32_t bytes)
{
    struct cq_dispatch *d = &q->dispatch;
    d->fence_left -= bytes;
    d->ptr += bytes;
    if (d->ptr >= sim_cq_buffer_end(q->n)) {
        d->ptr -= (q->n->buffer_pages * q->n->page);
    }
}

/* A block goes back when the one after it is finished too, and all that was written out of it has
 * left. Faults: the second of the two goes back along with the first; one page short; never. */
static void release_block(struct sim_cq *q)
{
    struct cq_dispatch *d = &q->dispatch;
    bool due = d->blocks > 0 && !d->ahead;
    d->ahead = false;
    if (due && !sim_cq_lasts(q, NOCAP_SIM_FAULT_RELEASE_MISSED)) {
        bool short_of = sim_cq_fault_due(q, NOCAP_SIM_FAULT_RELEASE_31);
        sim_cq_send_release(q, 0, q->n->block_pages - (short_of ? 1u : 0u));
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_RELEASE_EARLY)) {
            sim_cq_send_release(q, 0, q->n->block_pages);
            d->ahead = true;
        }
    }
    d->blocks++;
    d->block_left = q->n->block_pages;
}

/* More bytes to read; those of one block at most. */
static void sim_cq_dispatch_acquire(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    if (d->block_left == 0) {
        CQ_SLEEP(q, a, 6, 20); /* until the writes out of the block before have left */
        release_block(q);
        CQ_SLEEP(q, a, 4, 4);
    }
    CQ_POLL(q, a, CQ_WATCH_PUBLISHED,
            sim_cq_tile_place(a, q->board.dispatch, NOCAP_BY_BRISC, sim_cq_semaphore(q->n, 0), 4,
                              POLL_PAGES),
            (int32_t)(sim_cq_load32(q->dispatch_l1, sim_cq_semaphore(q->n, 0)) - d->taken) > 0);
    uint32_t pages = sim_cq_load32(q->dispatch_l1, sim_cq_semaphore(q->n, 0)) - d->taken;
    pages = pages < d->block_left ? pages : d->block_left;
    d->taken += pages;
    d->block_left -= pages;
    d->fence_left += pages * q->n->page;
    CQ_SLEEP(q, a, 4, 6);
    CO_RETURN(q, a);
    CO_END(a);
}

/* d->left bytes from d->ptr on go to d->to .. d->addr, in as many packets as blocks, the end of the
 * buffer and bursts ask for. */
void sim_cq_dispatch_copy(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    while (d->left > 0) {
        if (d->fence_left == 0) {
            CO_CALL(q, a, sim_cq_dispatch_acquire);
        }
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, q->packets_out < CQ_PACKETS_OUT);
        uint32_t n = d->left < d->fence_left ? d->left : d->fence_left;
        n = n < q->n->burst ? n : q->n->burst;
        n = n < sim_cq_buffer_end(q->n) - d->ptr ? n : sim_cq_buffer_end(q->n) - d->ptr;
        sim_cq_send_tile(q, d->ptr, n);
        sim_cq_dispatch_advance(q, n);
        d->addr += n;
        d->left -= n;
        CQ_SLEEP(q, a, 7, 5);
    }
    CO_RETURN(q, a);
    CO_END(a);
}

static void read_header(struct sim_cq *q)
{
    struct cq_dispatch *d = &q->dispatch;
    d->command_at = d->ptr;
    d->commands++;
    memcpy(d->header, q->dispatch_l1 + d->ptr, sizeof d->header);
    nocap_cq_decode_by(q->set, NOCAP_CQ_DISPATCH, d->header, sizeof d->header, &d->command);
    uint32_t size = sim_cq_header_size(q, d->command.id);
    uint64_t seq = sim_cq_shows(q, NOCAP_CLASS_CORE_LOAD) ? sim_cq_seq(q) : 0;
    if (seq != 0) {
        q->load_seq = seq;
    }
    sim_cq_emit_load(q, q->board.dispatch, d->ptr, size, 0, d->header);
    sim_cq_emit_exec(q, q->board.dispatch, d->ptr, d->header, size, seq);
}

static void loop(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    for (;;) {
        if (d->fence_left == 0) {
            CO_CALL(q, a, sim_cq_dispatch_acquire);
        }
        read_header(q);
        CQ_SLEEP(q, a, 20, 50);
        CO_CALL(q, a, sim_cq_execute);
        sim_cq_emit_unit(q, NOCAP_OP_DONE, q->board.dispatch, d->command_at, 0, 0);
        sim_cq_dispatch_advance(q,
                                (q->n->page - (d->ptr - q->n->buffer) % q->n->page) % q->n->page);
    }
    CO_END(a);
}
