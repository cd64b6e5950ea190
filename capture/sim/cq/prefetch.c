/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher: takes entries out of its queue, has the bytes read from host memory, and hands
 * the commands among them to the dispatcher. While one record is on its way it works on the one
 * before. Order of its accesses as observed. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum { BOOT = 40, POLL_SLOT = 12, POLL_CREDIT = 8 };

static cq_routine loop, fetch, work, relay, barrier;

static uint32_t slot_address(const struct cq_prefetch *f)
{
    return NOCAP_CQ_QUEUE + 2 * f->slot;
}

static void store(struct sim_cq *q, uint32_t addr, uint32_t size, uint32_t value)
{
    for (uint32_t i = 0; i < size; i++) {
        q->prefetch_l1[addr + i] = (uint8_t)(value >> 8 * i);
    }
    sim_cq_emit_store(q, q->board.prefetch, NOCAP_BY_BRISC, addr, size, value);
}

static const struct cq_place *word(struct sim_cq *q, struct cq_agent *a, uint32_t addr,
                                   uint8_t size, uint32_t period)
{
    return sim_cq_tile_place(a, q->board.prefetch, NOCAP_BY_BRISC, addr, size, period);
}

void sim_cq_prefetch_boot(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    CQ_AWAIT(q, a, CQ_WATCH_START,
             q->prefetch_l1[nocap_go_word_address(q->layout, 0) + NOCAP_GO_SIGNAL_BYTE] ==
                 NOCAP_GO_GO);
    CQ_SLEEP(q, a, BOOT, BOOT);
    sim_cq_emit_store(q, q->board.prefetch, NOCAP_BY_BRISC, NOCAP_REG_RISCV_IC_INVALIDATE, 4,
                      NOCAP_IC_INVALIDATE_ALL);
    CQ_SLEEP(q, a, BOOT, BOOT);
    f->pcie = NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_ISSUE;
    f->fence = f->landed = f->cmd = NOCAP_CQ_CMDDAT;
    f->ring = NOCAP_CQ_BUFFER;
    CO_GOTO(q, a, loop);
    CO_END(a);
}

/* With a record to work on it looks at the queue once, without one it waits there. A fault: it
 * never looks again. */
static void loop(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_PREFETCHER_DEAD)) {
        a->run = NULL;
        return;
    }
    if (f->cmd == f->landed) {
        CQ_POLL(q, a, CQ_WATCH_SLOT, word(q, a, slot_address(f), 2, POLL_SLOT),
                sim_cq_load16(q->prefetch_l1, slot_address(f)) != 0);
    } else {
        sim_cq_emit_load(q, q->board.prefetch, slot_address(f), 2,
                         sim_cq_load16(q->prefetch_l1, slot_address(f)), NULL);
    }
    f->entry = sim_cq_load16(q->prefetch_l1, slot_address(f));
    CQ_SLEEP(q, a, 4, 16);
    if (f->cmd == f->fence && f->fence + f->entry * 16 > NOCAP_CQ_CMDDAT_END) {
        f->fence = f->landed = f->cmd = NOCAP_CQ_CMDDAT;
    }
    bool fits = f->fence + f->entry * 16 <= NOCAP_CQ_CMDDAT_END;
    CO_GOTO(q, a, f->entry != 0 && fits ? fetch : work);
    CO_END(a);
}

/* One read, of as many packets as bursts make of it. */
static void request(struct sim_cq *q)
{
    struct cq_prefetch *f = &q->prefetch;
    uint64_t seq = sim_cq_seq(q);
    uint32_t size = f->entry * 16;
    if (f->pcie + size > NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_ISSUE_END) {
        f->pcie = NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_ISSUE;
    }
    f->read = (struct cq_read){(uint32_t)(f->pcie - NOCAP_CQ_SYSMEM_BASE), size, f->slot};
    for (uint32_t at = 0; at < size; at += NOCAP_CQ_BURST) {
        uint32_t left = size - at;
        bool last = left <= NOCAP_CQ_BURST;
        sim_cq_send_read(q, f->read.offset + at, f->fence + at, last ? left : NOCAP_CQ_BURST,
                         at == 0 ? seq : 0, last);
    }
    sim_cq_emit_read(q, NOCAP_OP_FETCH, &f->read, seq);
    f->pcie += size;
    f->fence += size;
    f->reading = true;
}

static void fetch(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    request(q);
    CQ_SLEEP(q, a, 6, 8);
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_ECHO_BEFORE_ZERO)) {
        store(q, NOCAP_CQ_RD_PTR_ECHO, 4, slot_address(f));
        CQ_SLEEP(q, a, 4, 2);
        store(q, slot_address(f), 2, 0);
    } else {
        store(q, slot_address(f), 2, 0);
        CQ_SLEEP(q, a, 4, 2);
        bool stale = sim_cq_strikes(q, NOCAP_SIM_FAULT_ECHO_STALE);
        store(q, NOCAP_CQ_RD_PTR_ECHO, 4,
              stale ? (f->slot > 0 ? slot_address(f) - 2 : NOCAP_CQ_QUEUE_END) : slot_address(f));
    }
    sim_cq_changed(q, CQ_WATCH_FREED);
    CQ_SLEEP(q, a, 4, 1);
    store(q, NOCAP_CQ_PCIE_PTR_ECHO, 4, (uint32_t)f->pcie);
    f->slot = (f->slot + 1) % NOCAP_CQ_QUEUE_SLOTS;
    CQ_SLEEP(q, a, 4, 1);
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_PARSE_BEFORE_LANDED)) {
        uint32_t at = f->fence - f->read.size;
        sim_cq_emit_load(q, q->board.prefetch, at, NOCAP_CQ_HEADER, 0, q->prefetch_l1 + at);
        CQ_SLEEP(q, a, 4, 1);
    }
    CO_GOTO(q, a, work);
    CO_END(a);
}

/* All commands that have landed. TERMINATE ends it, and one that it does not know. */
static void work(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    struct nocap_cq_command c;
    CO_BEGIN(a);
    while (f->cmd != f->landed) {
        nocap_cq_decode(NOCAP_CQ_PREFETCH, q->prefetch_l1 + f->cmd, NOCAP_CQ_HEADER, &c);
        sim_cq_emit_load(q, q->board.prefetch, f->cmd, NOCAP_CQ_HEADER, 0, q->prefetch_l1 + f->cmd);
        if (c.id != NOCAP_CQ_PREFETCH_RELAY_INLINE || c.dispatcher_type != 0) {
            a->run = NULL;
            return;
        }
        f->length = (uint32_t)c.length;
        f->stride = (uint32_t)c.stride;
        CQ_SLEEP(q, a, 5, 26);
        CO_CALL(q, a, relay);
        f->cmd += f->stride;
    }
    CO_GOTO(q, a, barrier);
    CO_END(a);
}

static bool has_credit(const struct sim_cq *q)
{
    const struct cq_prefetch *f = &q->prefetch;
    return (int32_t)(f->pages + f->acquired - sim_cq_load32(q->prefetch_l1, NOCAP_CQ_SEM0)) <= 0;
}

/* The record's pages go to the dispatch buffer, then their number. Both sides round up to a page.
 * A fault: a page is written that the dispatcher has not given back. */
static void relay(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    f->pages = (f->length + NOCAP_CQ_PAGE - 1) / NOCAP_CQ_PAGE;
    f->ignores_credit = !has_credit(q) && sim_cq_strikes(q, NOCAP_SIM_FAULT_CREDIT_IGNORED);
    CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, NOCAP_CQ_SEM0, 4, POLL_CREDIT),
            has_credit(q) || f->ignores_credit);
    f->acquired += f->pages;
    f->from = f->cmd + NOCAP_CQ_HEADER;
    f->pieces = 0;
    for (f->left = f->length; f->left > 0; f->left -= a->i) {
        a->i = f->left < NOCAP_CQ_BURST ? f->left : NOCAP_CQ_BURST;
        a->i = a->i < NOCAP_CQ_BUFFER_END - f->ring ? a->i : NOCAP_CQ_BUFFER_END - f->ring;
        f->ids[f->pieces++] = sim_cq_send_relay(q, f->from, f->ring, a->i);
        f->from += a->i;
        f->ring += a->i;
        f->ring = f->ring == NOCAP_CQ_BUFFER_END ? NOCAP_CQ_BUFFER : f->ring;
        if (f->left > a->i) {
            CQ_SLEEP(q, a, 8, 12);
        }
    }
    f->ring = (uint32_t)nocap_cq_align(f->ring - NOCAP_CQ_BUFFER, NOCAP_CQ_PAGE) + NOCAP_CQ_BUFFER;
    f->ring = f->ring == NOCAP_CQ_BUFFER_END ? NOCAP_CQ_BUFFER : f->ring;
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_CREDIT_BEFORE_DATA)) {
        sim_cq_send_publish(q, f->pages);
        f->pages = 0;
    }
    CQ_SLEEP(q, a, 9, 42);
    for (a->i = 0; a->i < f->pieces; a->i++) {
        sim_cq_emit_sent(q, q->board.prefetch, NOCAP_CQ_NOC_UPSTREAM, f->ids[a->i]);
    }
    CQ_SLEEP(q, a, 5, 1);
    if (f->pages > 0 && !sim_cq_strikes(q, NOCAP_SIM_FAULT_CREDIT_MISSED)) {
        sim_cq_send_publish(q, f->pages);
    }
    CO_RETURN(q, a);
    CO_END(a);
}

static bool could_read_on(const struct sim_cq *q)
{
    const struct cq_prefetch *f = &q->prefetch;
    uint32_t entry = sim_cq_load16(q->prefetch_l1, slot_address(f));
    return f->reading && entry != 0 && f->fence + entry * 16 <= NOCAP_CQ_CMDDAT_END;
}

/* The record on its way is waited for. A fault: the one behind it is asked for first. */
static void barrier(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    if (could_read_on(q) && sim_cq_strikes(q, NOCAP_SIM_FAULT_TWO_READS)) {
        CO_GOTO(q, a, loop);
    }
    if (f->reading) {
        CQ_AWAIT(q, a, CQ_WATCH_LANDED, f->outstanding == 0);
        f->reading = false;
        f->landed = f->fence;
    }
    CQ_SLEEP(q, a, 4, 24);
    CO_GOTO(q, a, loop);
    CO_END(a);
}
