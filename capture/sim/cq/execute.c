/* SPDX-License-Identifier: Apache-2.0 */
/* What the dispatcher does for each command. Order of its accesses as observed. */
#include <string.h>

#include "capture/sim/cq/machine.h"
#include "formats/blackhole/niu.h"

enum { POLL_STREAM = 12, POLL_READ_PTR = 12 };

static cq_routine write_linear, write_packed, write_large, wait, wait_stream, set_offsets, set_go,
    send_go, notify_subordinate, timestamp, host_write, push_back, terminate;

static cq_routine *const routines[] = {
    [NOCAP_CQ_DISPATCH_WRITE_LINEAR] = write_linear,
    [NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST] = host_write,
    [NOCAP_CQ_DISPATCH_WRITE_PACKED] = write_packed,
    [NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE] = write_large,
    [NOCAP_CQ_DISPATCH_WAIT] = wait,
    [NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET] = set_offsets,
    [NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL] = notify_subordinate,
    [NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA] = set_go,
    [NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL] = send_go,
    [NOCAP_CQ_DISPATCH_TIMESTAMP] = timestamp,
    [NOCAP_CQ_DISPATCH_TERMINATE] = terminate,
};

static void store(struct sim_cq *q, uint32_t addr, uint32_t value)
{
    sim_cq_store32(q->dispatch_l1, addr, value);
    sim_cq_emit_store(q, q->board.dispatch, NOCAP_BY_BRISC, addr, 4, value);
}

/* A command that it does not know ends it. */
void sim_cq_execute(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    cq_routine *routine =
        d->command.id < sizeof routines / sizeof routines[0] ? routines[d->command.id] : NULL;
    if (routine == NULL) {
        a->run = NULL;
        return;
    }
    CO_GOTO(q, a, routine);
}

/* Over the header and what belongs to it, sub-commands and padding. */
static void advance_header(struct sim_cq *q)
{
    sim_cq_dispatch_advance(q, (uint32_t)nocap_cq_data_offset(&q->dispatch.command));
}

static bool all_acked(const struct sim_cq *q)
{
    return q->dispatch.acked == q->dispatch.issued;
}

/* ---- writes to tiles ---- */

static void aim(struct cq_dispatch *d, uint32_t noc_xy, uint64_t addr, bool mcast)
{
    struct nocap_cq_rect rect = nocap_cq_rect_decode(noc_xy);
    d->mcast = mcast;
    d->to = mcast ? rect.low : nocap_niu_xy(noc_xy);
    d->corner = rect.high;
    d->addr = addr;
}

/* A command's address, moved. A fault: it is not. */
static uint64_t moved(struct sim_cq *q, uint64_t addr)
{
    struct cq_dispatch *d = &q->dispatch;
    uint32_t offset = d->offsets[d->command.write_offset_index % NOCAP_CQ_WRITE_OFFSETS];
    bool ignored = offset != 0 && sim_cq_fault_due(q, NOCAP_SIM_FAULT_OFFSET_IGNORED);
    return addr + (ignored ? 0 : offset);
}

static void write_linear(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    advance_header(q);
    aim(d, (uint32_t)d->command.noc_xy, moved(q, d->command.addr), d->command.num_mcast_dests > 0);
    d->left = (uint32_t)d->command.length;
    CO_CALL(q, a, sim_cq_dispatch_copy);
    CO_RETURN(q, a);
    CO_END(a);
}

/* Steps over padding in front of the next payload. */
static void skip_padding(struct sim_cq *q, uint64_t bytes)
{
    sim_cq_dispatch_advance(q, (uint32_t)(nocap_cq_align(bytes, q->n->l1_align) - bytes));
}

/* To the start of a payload that lies in one page. */
static void step_back(struct sim_cq *q, uint32_t bytes)
{
    struct cq_dispatch *d = &q->dispatch;
    d->ptr = d->ptr == q->n->buffer ? sim_cq_buffer_end(q->n) : d->ptr;
    d->ptr -= bytes;
    d->fence_left += bytes;
}

static void write_packed(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    nocap_cq_subs(&d->command, &d->subs);
    advance_header(q);
    for (d->turn = 0; d->turn < d->subs.count; d->turn++) {
        nocap_cq_sub(&d->subs, d->turn, d->header, sizeof d->header, &d->sub);
        aim(d, (uint32_t)d->sub.noc_xy, moved(q, d->command.addr), false);
        d->left = (uint32_t)d->command.size;
        CO_CALL(q, a, sim_cq_dispatch_copy);
        if ((d->command.flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0) {
            step_back(q, (uint32_t)d->command.size);
        } else {
            skip_padding(q, d->command.size);
        }
    }
    CO_RETURN(q, a);
    CO_END(a);
}

/* Multicasts travel on a channel of their own: before each the dispatcher waits for all that it
 * has sent. */
static void write_large(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    nocap_cq_subs(&d->command, &d->subs);
    advance_header(q);
    for (d->turn = 0; d->turn < d->subs.count; d->turn++) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, all_acked(q));
        nocap_cq_sub(&d->subs, d->turn, d->header, sizeof d->header, &d->sub);
        aim(d, (uint32_t)d->sub.noc_xy, moved(q, d->sub.addr), true);
        d->left = (uint32_t)d->sub.length_minus1 + 1;
        CO_CALL(q, a, sim_cq_dispatch_copy);
        skip_padding(q, d->sub.length_minus1 + 1);
    }
    CQ_SLEEP(q, a, 4, 8);
    CO_RETURN(q, a);
    CO_END(a);
}

/* ---- waits ---- */

static uint32_t read_count(struct sim_cq *q, uint32_t stream)
{
    uint32_t count = q->dispatch.streams[stream];
    sim_cq_emit_load(
        q, q->board.dispatch,
        nocap_stream_address(q->n->first_stream + stream, NOCAP_STREAM_SPACE_AVAILABLE), 4, count,
        NULL);
    return count;
}

/* Signed, in the width of the counter. */
bool sim_cq_has_counted(struct sim_cq *q, struct nocap_xy at, uint64_t stream, uint64_t want)
{
    uint32_t shift = 32 - q->n->count_bits;
    uint32_t count = sim_cq_streams(q, at)[stream - q->n->first_stream];
    return (int32_t)((count - (uint32_t)want) << shift) >= 0;
}

static void wait(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    if ((d->command.flags & NOCAP_CQ_WAIT_BARRIER) != 0) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, all_acked(q));
    }
    CQ_SLEEP(q, a, 6, 20);
    if ((d->command.flags & NOCAP_CQ_WAIT_STREAM) != 0) {
        CO_CALL(q, a, wait_stream);
    }
    if ((d->command.flags & NOCAP_CQ_WAIT_NOTIFY_PREFETCH) != 0) {
        sim_cq_send_release(q, q->n->sync_semaphore, 1);
        CQ_SLEEP(q, a, 4, 4);
    }
    advance_header(q);
    CO_RETURN(q, a);
    CO_END(a);
}

/* The count is read once more before it is subtracted: what arrives between survives. */
static void wait_stream(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    CQ_POLL(q, a, CQ_WATCH_STREAM,
            sim_cq_tile_place(
                a, q->board.dispatch, NOCAP_BY_BRISC,
                nocap_stream_address((unsigned)d->command.stream, NOCAP_STREAM_SPACE_AVAILABLE), 4,
                POLL_STREAM),
            sim_cq_has_counted(q, q->board.dispatch, d->command.stream, d->command.count));
    if ((d->command.flags & NOCAP_CQ_WAIT_CLEAR_STREAM) != 0) {
        CQ_SLEEP(q, a, 6, 4);
        d->count = read_count(q, (uint32_t)d->command.stream - q->n->first_stream);
        CQ_SLEEP(q, a, 4, 4);
        if (d->count > 0 && sim_cq_fault_due(q, NOCAP_SIM_FAULT_CLEAR_SHORT)) {
            d->count--;
        }
        uint32_t *stream = &d->streams[d->command.stream - q->n->first_stream];
        *stream = (*stream - d->count) % (1u << q->n->count_bits);
        sim_cq_emit_store(
            q, q->board.dispatch, NOCAP_BY_BRISC,
            nocap_stream_address((unsigned)d->command.stream, NOCAP_STREAM_SPACE_UPDATE), 4,
            (0u - d->count) << q->n->count_shift);
        CQ_SLEEP(q, a, 10, 8);
    }
    CO_RETURN(q, a);
    CO_END(a);
}

/* ---- launches ---- */

static void set_offsets(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    nocap_cq_subs(&d->command, &d->subs);
    for (uint32_t i = 0; i < d->subs.count && i < NOCAP_CQ_WRITE_OFFSETS; i++) {
        nocap_cq_sub(&d->subs, i, d->header, sizeof d->header, &d->sub);
        d->offsets[i] = (uint32_t)d->sub.offset;
    }
    advance_header(q);
    CQ_SLEEP(q, a, 10, 10);
    CO_RETURN(q, a);
    CO_END(a);
}

/* A launch of the stream may go. */
static void let_go(struct sim_cq *q, uint32_t stream)
{
    uint32_t at = sim_cq_sync(q->n, stream), launches = sim_cq_load32(q->dispatch_l1, at) + 1;
    if (sim_cq_is_apart(q)) {
        sim_cq_store32(q->dispatch_l1, at, launches);
        store(q, SIM_CQ_INLINE, launches);
        sim_cq_send_launches(q, stream, launches);
    } else {
        store(q, at, launches);
        sim_cq_changed(q, CQ_WATCH_NOTIFIED);
    }
}

/* All that was written has arrived; the subordinate dispatcher may send the go words. A fault: it
 * is not recorded. */
static void notify_subordinate(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    if (d->command.wait != 0) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, all_acked(q));
    }
    CQ_SLEEP(q, a, 8, 8);
    for (a->i = 0; a->i < q->n->streams; a->i++) {
        if ((d->command.index_bitmask >> a->i & 1) != 0 &&
            !sim_cq_fault_due(q, NOCAP_SIM_FAULT_NOTIFY_FORGOTTEN)) {
            let_go(q, a->i);
            CQ_SLEEP(q, a, 4, 4);
        }
    }
    advance_header(q);
    CO_RETURN(q, a);
    CO_END(a);
}

static void set_go(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    nocap_cq_subs(&d->command, &d->subs);
    for (uint32_t i = 0; i < d->subs.count && i < q->n->go_table; i++) {
        nocap_cq_sub(&d->subs, i, d->header, sizeof d->header, &d->sub);
        d->go_table[i] = (uint32_t)d->sub.noc_xy;
    }
    advance_header(q);
    CQ_SLEEP(q, a, 20, 40);
    CO_RETURN(q, a);
    CO_END(a);
}

static void aim_multicast(struct sim_cq *q)
{
    struct cq_dispatch *d = &q->dispatch;
    const struct nocap_cq_rect rect = sim_cq_go_rectangle(q, &d->command, d->go_table, d->turn);
    d->mcast = true;
    d->to = rect.low;
    d->corner = rect.high;
    d->addr = nocap_go_word_address(q->layout, 0);
}

/* The go word is put over the command in the buffer and goes out from there, first where it is
 * multicast. Faults: one worker, or all, are left out. */
static void send_go(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    CQ_POLL(
        q, a, CQ_WATCH_STREAM,
        sim_cq_tile_place(
            a, q->board.dispatch, NOCAP_BY_BRISC,
            nocap_stream_address((unsigned)d->command.wait_stream, NOCAP_STREAM_SPACE_AVAILABLE), 4,
            POLL_STREAM),
        sim_cq_has_counted(q, q->board.dispatch, d->command.wait_stream, d->command.wait_count));
    CQ_SLEEP(q, a, 5, 4);
    store(q, d->command_at, (uint32_t)d->command.go_signal);
    CQ_SLEEP(q, a, 6, 4);
    for (d->turn = 0; q->n->go_multicast != 0 && d->turn < nocap_cq_multicasts(&d->command);
         d->turn++) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, q->packets_out < CQ_PACKETS_OUT);
        if (!sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_LEFT_OUT)) {
            aim_multicast(q);
            sim_cq_send_tile(q, d->command_at, 4);
            CQ_SLEEP(q, a, 6, 6);
        }
    }
    for (d->turn = 0; d->turn < d->command.num_unicast_txns; d->turn++) {
        CQ_AWAIT(q, a, CQ_WATCH_ACKED, q->packets_out < CQ_PACKETS_OUT);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_LEFT_OUT) ||
            sim_cq_fault_due(q, NOCAP_SIM_FAULT_GO_SHORT)) {
            continue;
        }
        uint64_t entry =
            d->command.noc_data_start_index + nocap_cq_multicast_words(&d->command) + d->turn;
        aim(d, d->go_table[entry % q->n->go_table], nocap_go_word_address(q->layout, 0), false);
        sim_cq_send_tile(q, d->command_at, 4);
        CQ_SLEEP(q, a, 6, 6);
    }
    advance_header(q);
    CO_RETURN(q, a);
    CO_END(a);
}

/* ---- host memory ---- */

static uint64_t host_offset(const struct sim_cq *q, uint64_t addr)
{
    return addr - q->n->sysmem;
}

static void timestamp(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    const struct nocap_xy at = q->board.dispatch;
    CO_BEGIN(a);
    a->i = (uint32_t)q->k.now;
    a->j = (uint32_t)(q->k.now >> 32);
    sim_cq_emit_load(q, at, NOCAP_REG_WALL_CLOCK_L, 4, a->i, NULL);
    CQ_SLEEP(q, a, 4, 1);
    sim_cq_emit_load(q, at, NOCAP_REG_WALL_CLOCK_H, 4, a->j, NULL);
    CQ_SLEEP(q, a, 4, 1);
    store(q, d->command_at, a->i);
    CQ_SLEEP(q, a, 3, 1);
    store(q, d->command_at + 4, a->j);
    CQ_SLEEP(q, a, 3, 1);
    sim_cq_send_host(q, d->command_at, host_offset(q, d->command.addr), 8, true);
    CQ_AWAIT(q, a, CQ_WATCH_ACKED, all_acked(q));
    advance_header(q);
    CQ_SLEEP(q, a, 4, 8);
    CO_RETURN(q, a);
    CO_END(a);
}

/* Free units of the completion region, after the read pointer that the host has written. */
static uint32_t completion_room(const struct sim_cq *q)
{
    uint32_t rd = sim_cq_load32(q->dispatch_l1, q->n->completion_rd);
    uint32_t wr = q->dispatch.wr;
    uint32_t distance = (wr & ~q->n->toggle) - (rd & ~q->n->toggle);
    return ((rd ^ wr) & q->n->toggle) != 0 ? 0u - distance
                                           : sim_cq_completion_units(q->n) - distance;
}

/* One page, whatever the length. */
static void host_write(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    CQ_POLL(q, a, CQ_WATCH_READ_PTR,
            sim_cq_tile_place(a, q->board.dispatch, NOCAP_BY_BRISC, q->n->completion_rd, 4,
                              POLL_READ_PTR),
            completion_room(q) >= sim_cq_page_units(q->n));
    CQ_SLEEP(q, a, 8, 6);
    d->payload_id = sim_cq_send_host(
        q, d->command_at, host_offset(q, (uint64_t)(d->wr & ~q->n->toggle) * q->n->pointer_unit),
        (uint32_t)d->command.length, false);
    CQ_SLEEP(q, a, 8, 8);
    sim_cq_emit_sent(q, q->board.dispatch, q->n->noc_dispatch, d->payload_id);
    CO_CALL(q, a, push_back);
    sim_cq_dispatch_advance(q, (uint32_t)d->command.length);
    CO_RETURN(q, a);
    CO_END(a);
}

/* The write pointer one page on; at the end back to the start with the toggle flipped. */
static uint32_t next_pointer(struct sim_cq *q, uint32_t pointer)
{
    uint32_t toggle = pointer & q->n->toggle;
    uint32_t units = (pointer & ~q->n->toggle) + sim_cq_page_units(q->n);
    if (units >= sim_cq_first_page(q->n) + sim_cq_completion_units(q->n)) {
        units -= sim_cq_completion_units(q->n);
        if (!sim_cq_fault_due(q, NOCAP_SIM_FAULT_TOGGLE_NOT_FLIPPED)) {
            toggle ^= q->n->toggle;
        }
    } else if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_TOGGLE_FLIPPED_EARLY)) {
        toggle ^= q->n->toggle;
    }
    return units | toggle;
}

/* A fault: what goes out first is what the pointer was before the store. */
static void push_back(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    d->wr = next_pointer(q, d->wr);
    sim_cq_emit_store(q, q->board.dispatch, NOCAP_BY_BRISC, q->n->completion_wr, 4, d->wr);
    CQ_SLEEP(q, a, 5, 4);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_POINTER_STALE)) {
        d->payload_id = sim_cq_send_host(q, q->n->completion_wr, q->n->host_wr, 4, false);
        CQ_SLEEP(q, a, 8, 8);
        sim_cq_emit_sent(q, q->board.dispatch, q->n->noc_dispatch, d->payload_id);
        CQ_SLEEP(q, a, 4, 4);
    }
    sim_cq_store32(q->dispatch_l1, q->n->completion_wr, d->wr);
    d->payload_id = sim_cq_send_host(q, q->n->completion_wr, q->n->host_wr, 4, false);
    CQ_SLEEP(q, a, 8, 8);
    sim_cq_emit_sent(q, q->board.dispatch, q->n->noc_dispatch, d->payload_id);
    CQ_SLEEP(q, a, 4, 8);
    CO_RETURN(q, a);
    CO_END(a);
}

/* All pages go back: the block that waits for the next to be finished, and what was taken of this
 * one. */
static void terminate(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_dispatch *d = &q->dispatch;
    CO_BEGIN(a);
    advance_header(q);
    CQ_AWAIT(q, a, CQ_WATCH_ACKED, all_acked(q));
    if (d->blocks > 0 && !d->ahead) {
        sim_cq_send_release(q, 0, q->n->block_pages);
        CQ_SLEEP(q, a, 4, 8);
    }
    sim_cq_send_release(q, 0, q->n->block_pages - d->block_left);
    CQ_SLEEP(q, a, 4, 8);
    sim_cq_emit_load(q, q->board.dispatch, sim_cq_semaphore(q->n, 0), 4,
                     sim_cq_load32(q->dispatch_l1, sim_cq_semaphore(q->n, 0)), NULL);
    sim_cq_emit_unit(q, NOCAP_OP_DONE, q->board.dispatch, d->command_at, 0, 0);
    a->run = NULL;
    CO_END(a);
}
