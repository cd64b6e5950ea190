/* SPDX-License-Identifier: Apache-2.0 */
/* The prefetcher: takes entries out of its queue, has the bytes read from host memory, and hands
 * the commands among them to the dispatcher. While one record is on its way it works on the one
 * before. Order of its accesses as observed. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum {
    BOOT = 40,
    POLL_SLOT = 12,
    POLL_CREDIT = 8,
    GATHERED = 6000,
    SCRATCH = 0x2000, /* bytes that it reads elsewhere at a time, into the last of its buffer */
    DRAM_READ = 300,
};

static cq_routine loop, fetch, work, execute, relay, relay_head, relay_data, relay_subordinate,
    enter_buffer, leave_buffer, stall, barrier;

static uint32_t slot_address(const struct sim_cq *q)
{
    return sim_cq_slot(q->n, q->prefetch.slot);
}

/* What the entry asks for. */
static uint32_t entry_size(const struct sim_cq *q)
{
    return (sim_cq_load_slot(q, slot_address(q)) & (q->n->entry_stall - 1)) * q->n->entry_unit;
}

static bool has_room(const struct sim_cq *q, uint32_t size)
{
    return q->prefetch.fence + size <= q->n->cmddat + q->n->cmddat_size;
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
    f->pcie = q->n->sysmem + q->n->issue;
    f->fence = f->landed = f->cmd = q->n->cmddat;
    f->ring = q->n->buffer;
    f->subordinate.ring = q->n->subordinate_buffer;
    CO_GOTO(q, a, loop);
    CO_END(a);
}

static uint32_t on_their_way(const struct cq_prefetch *f)
{
    return f->asked - f->taken;
}

/* A fault: it reads one record more at a time than it may. */
static bool reads_too_many(struct sim_cq *q)
{
    uint32_t unlanded = q->prefetch.asked - q->prefetch.arrived;
    return unlanded == q->n->reads_in_flight && sim_cq_fault_due(q, NOCAP_SIM_FAULT_TWO_READS);
}

/* With a record to work on, or to come, it looks at the queue once, without one it waits there.
 * Faults: it never looks again; it lets more entries gather than it may read at once. */
static void loop(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_PREFETCHER_DEAD)) {
        a->run = NULL;
        return;
    }
    if (f->cmd == f->landed && on_their_way(f) == 0) {
        if (q->n->reads_in_flight > 1 && sim_cq_fault_pending(q, NOCAP_SIM_FAULT_TWO_READS)) {
            CQ_SLEEP(q, a, GATHERED, 1);
        }
        CQ_POLL(q, a, CQ_WATCH_SLOT,
                word(q, a, slot_address(q), (uint8_t)q->n->entry_bytes, POLL_SLOT),
                entry_size(q) != 0);
    } else {
        sim_cq_emit_load(q, q->board.prefetch, slot_address(q), q->n->entry_bytes,
                         sim_cq_load_slot(q, slot_address(q)), NULL);
    }
    f->size = entry_size(q);
    CQ_SLEEP(q, a, 4, 16);
    if (f->cmd == f->fence && !has_room(q, f->size)) {
        f->fence = f->landed = f->cmd = q->n->cmddat;
    }
    bool fits = f->size != 0 && has_room(q, f->size) && !f->stalled;
    bool may = on_their_way(f) < q->n->reads_in_flight;
    CO_GOTO(q, a, fits && (may || reads_too_many(q)) ? fetch : work);
    CO_END(a);
}

/* One read, of as many packets as bursts make of it. */
static void request(struct sim_cq *q)
{
    struct cq_prefetch *f = &q->prefetch;
    uint64_t seq = sim_cq_seq(q);
    uint32_t size = f->size;
    f->stalled = (sim_cq_load_slot(q, slot_address(q)) & q->n->entry_stall) != 0;
    if (f->pcie + size > q->n->sysmem + q->n->issue + q->n->issue_size) {
        f->pcie = q->n->sysmem + q->n->issue;
    }
    f->read = (struct cq_read){(uint32_t)(f->pcie - q->n->sysmem), size, f->slot};
    for (uint32_t at = 0; at < size; at += q->n->burst) {
        uint32_t left = size - at;
        bool last = left <= q->n->burst;
        sim_cq_send_read(q, f->read.offset + at, f->fence + at, last ? left : q->n->burst,
                         at == 0 ? seq : 0, last);
    }
    sim_cq_emit_read(q, NOCAP_OP_FETCH, &f->read, seq);
    f->pcie += size;
    f->fence += size;
    f->ends[f->asked++ % CQ_READS_MAX] = f->fence;
}

static void fetch(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    request(q);
    CQ_SLEEP(q, a, 6, 8);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_PREFETCH_RD_PTR_EARLY)) {
        store(q, q->n->rd_ptr_echo, 4, slot_address(q));
        CQ_SLEEP(q, a, 4, 2);
        store(q, slot_address(q), q->n->entry_bytes, 0);
    } else {
        store(q, slot_address(q), q->n->entry_bytes, 0);
        CQ_SLEEP(q, a, 4, 2);
        bool stale = sim_cq_fault_due(q, NOCAP_SIM_FAULT_PREFETCH_RD_PTR_STALE);
        uint32_t before = f->slot > 0 ? f->slot - 1 : q->n->queue_slots;
        store(q, q->n->rd_ptr_echo, 4, stale ? sim_cq_slot(q->n, before) : slot_address(q));
    }
    sim_cq_changed(q, CQ_WATCH_FREED);
    CQ_SLEEP(q, a, 4, 1);
    store(q, q->n->pcie_ptr_echo, 4, (uint32_t)f->pcie);
    f->slot = (f->slot + 1) % q->n->queue_slots;
    CQ_SLEEP(q, a, 4, 1);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_PARSE_BEFORE_LANDED)) {
        uint32_t at = f->fence - f->read.size;
        sim_cq_emit_load(q, q->board.prefetch, at, NOCAP_CQ_HEADER, 0, q->prefetch_l1 + at);
        CQ_SLEEP(q, a, 4, 1);
    }
    CO_GOTO(q, a, on_their_way(f) < q->n->reads_in_flight ? loop : work);
    CO_END(a);
}

/* All commands that have landed. */
static void work(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    while (f->cmd != f->landed) {
        CO_CALL(q, a, execute);
        f->cmd += f->stride;
    }
    CO_GOTO(q, a, barrier);
    CO_END(a);
}

/* What executes a command; NULL: the prefetcher ends at TERMINATE, and at one it does not know. */
static cq_routine *routine_of(const struct sim_cq *q, const struct nocap_cq_command *c)
{
    bool knows = c->dispatcher_type == 0 &&
                 (c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE || q->n->inline_only == 0);
    bool subordinate = c->dispatcher_type == 1 && q->n->dispatchers > 1;
    if (subordinate && c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE) {
        return relay_subordinate;
    }
    switch (knows ? c->id : NOCAP_CQ_NO_ID) {
    case NOCAP_CQ_PREFETCH_RELAY_INLINE: return relay;
    case NOCAP_CQ_PREFETCH_RELAY_INLINE_NOFLUSH: return relay_head;
    case NOCAP_CQ_PREFETCH_RELAY_LINEAR: return relay_data;
    case NOCAP_CQ_PREFETCH_EXEC_BUF: return enter_buffer;
    case NOCAP_CQ_PREFETCH_EXEC_BUF_END: return leave_buffer;
    case NOCAP_CQ_PREFETCH_STALL: return stall;
    default: return NULL;
    }
}

static void execute(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    struct nocap_cq_record r;
    CO_BEGIN(a);
    nocap_cq_decode_record_by(q->set, q->prefetch_l1 + f->cmd, NOCAP_CQ_HEADER_MAX, &r);
    sim_cq_emit_load(q, q->board.prefetch, f->cmd, NOCAP_CQ_HEADER, 0, q->prefetch_l1 + f->cmd);
    f->length = (uint32_t)r.prefetch.length;
    f->stride = (uint32_t)r.consumed;
    f->elsewhere = r.prefetch.addr + r.prefetch.base_addr;
    f->runs = routine_of(q, &r.prefetch);
    if (f->runs == NULL) {
        a->run = NULL;
        return;
    }
    CQ_SLEEP(q, a, 5, 26);
    CO_GOTO(q, a, f->runs);
    CO_END(a);
}

/* Until the dispatcher has executed a WAIT that notifies the prefetcher, for each STALL one. */
static void stall(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    const uint32_t counter = sim_cq_semaphore(q->n, q->n->sync_semaphore);
    CO_BEGIN(a);
    f->stalls++;
    CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, counter, 4, POLL_CREDIT),
            sim_cq_load32(q->prefetch_l1, counter) == f->stalls);
    CO_RETURN(q, a);
    CO_END(a);
}

static bool has_credit(const struct sim_cq *q)
{
    const struct cq_prefetch *f = &q->prefetch;
    return (int32_t)(f->pages + f->acquired -
                     sim_cq_load32(q->prefetch_l1, sim_cq_semaphore(q->n, 0))) <= 0;
}

/* One write to the dispatch buffer; returns its bytes. */
static uint32_t send_piece(struct sim_cq *q)
{
    struct cq_prefetch *f = &q->prefetch;
    uint32_t n = f->left < q->n->burst ? f->left : q->n->burst;
    n = n < sim_cq_buffer_end(q->n) - f->ring ? n : sim_cq_buffer_end(q->n) - f->ring;
    f->ids[f->pieces++] = sim_cq_send_relay(q, f->from, q->board.dispatch, f->ring, n);
    f->from += n;
    f->ring += n;
    f->ring = f->ring == sim_cq_buffer_end(q->n) ? q->n->buffer : f->ring;
    return n;
}

static void to_next_page(struct sim_cq *q)
{
    struct cq_prefetch *f = &q->prefetch;
    f->ring = (uint32_t)nocap_cq_align(f->ring - q->n->buffer, q->n->page) + q->n->buffer;
    f->ring = f->ring == sim_cq_buffer_end(q->n) ? q->n->buffer : f->ring;
}

/* It waits for what it relays. */
static bool stall_follows(const struct sim_cq *q)
{
    const uint32_t next = q->prefetch.cmd + q->prefetch.stride;
    struct nocap_cq_record r;
    nocap_cq_decode_record_by(q->set, q->prefetch_l1 + next, NOCAP_CQ_HEADER_MAX, &r);
    return next < q->prefetch.landed && r.prefetch.id == NOCAP_CQ_PREFETCH_STALL;
}

/* The record's pages go to the dispatch buffer, then their number. Both sides round up to a page.
 * A fault: a page is written that the dispatcher has not released. */
static void relay(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    f->pages = (f->length + q->n->page - 1) / q->n->page;
    f->ignores_credit = !has_credit(q) && sim_cq_fault_due(q, NOCAP_SIM_FAULT_CREDIT_IGNORED);
    CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, sim_cq_semaphore(q->n, 0), 4, POLL_CREDIT),
            has_credit(q) || f->ignores_credit);
    f->acquired += f->pages;
    f->from = f->cmd + NOCAP_CQ_HEADER;
    f->pieces = 0;
    for (f->left = f->length; f->left > 0; f->left -= a->i) {
        a->i = send_piece(q);
        if (f->left > a->i) {
            CQ_SLEEP(q, a, 8, 12);
        }
    }
    to_next_page(q);
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_CREDIT_BEFORE_DATA)) {
        sim_cq_send_publish(q, q->board.dispatch, 0, f->pages);
        f->pages = 0;
    }
    CQ_SLEEP(q, a, 9, 42);
    for (a->i = 0; a->i < f->pieces; a->i++) {
        sim_cq_emit_sent(q, q->board.prefetch, q->n->noc_upstream, f->ids[a->i]);
    }
    CQ_SLEEP(q, a, 5, 1);
    if (f->pages > 0 &&
        !sim_cq_fault_due(q, stall_follows(q) ? NOCAP_SIM_FAULT_CREDIT_MISSED_AT_STALL
                                              : NOCAP_SIM_FAULT_CREDIT_MISSED)) {
        sim_cq_send_publish(q, q->board.dispatch, 0, f->pages);
    }
    CO_RETURN(q, a);
    CO_END(a);
}

static bool has_subordinate_credit(const struct sim_cq *q)
{
    uint32_t counter = sim_cq_semaphore(q->n, q->n->subordinate_free);
    return (int32_t)(sim_cq_load32(q->prefetch_l1, counter) - q->prefetch.subordinate.acquired) > 0;
}

/* A command of the subordinate dispatcher has a page of its own. Faults: it takes one that was not
 * released; it is written a page further on; the page is never published. */
static void relay_subordinate(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    const uint32_t counter = sim_cq_semaphore(q->n, q->n->subordinate_free);
    const uint32_t end = q->n->subordinate_buffer + q->n->subordinate_size;
    CO_BEGIN(a);
    f->ignores_credit = !has_subordinate_credit(q) &&
                        sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_IGNORED);
    CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, counter, 4, POLL_CREDIT),
            has_subordinate_credit(q) || f->ignores_credit);
    f->subordinate.acquired++;
    bool wrong = sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_PAGE_WRONG);
    uint32_t to = f->subordinate.ring + (wrong ? q->n->subordinate_page : 0);
    f->ids[0] = sim_cq_send_relay(q, f->cmd + NOCAP_CQ_HEADER, q->board.subordinate,
                                  to < end ? to : q->n->subordinate_buffer, f->length);
    f->subordinate.ring += q->n->subordinate_page;
    f->subordinate.ring =
        f->subordinate.ring < end ? f->subordinate.ring : q->n->subordinate_buffer;
    CQ_SLEEP(q, a, 9, 42);
    sim_cq_emit_sent(q, q->board.prefetch, q->n->noc_upstream, f->ids[0]);
    CQ_SLEEP(q, a, 5, 1);
    if (q->subordinate.launched[0] == 0 || /* the host is ahead: this is still the first launch */
        !sim_cq_fault_due(q, NOCAP_SIM_FAULT_SUBORDINATE_CREDIT_MISSED)) {
        sim_cq_send_publish(q, q->board.subordinate, q->n->subordinate_published, 1);
    }
    CO_RETURN(q, a);
    CO_END(a);
}

/* The header of a command whose data follow: one page is taken, and not published yet. */
static void relay_head(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    f->pages = 1;
    CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, sim_cq_semaphore(q->n, 0), 4, POLL_CREDIT),
            has_credit(q));
    f->acquired += f->pages;
    f->from = f->cmd + NOCAP_CQ_HEADER;
    f->pieces = 0;
    f->left = f->data = f->length;
    send_piece(q);
    CQ_SLEEP(q, a, 9, 42);
    sim_cq_emit_sent(q, q->board.prefetch, q->n->noc_upstream, f->ids[0]);
    CO_RETURN(q, a);
    CO_END(a);
}

/* Data from elsewhere, a part at a time. The page that is not full is published with the last of
 * them. a->j: bytes that are left after the present part. */
static void relay_data(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    for (a->j = f->length; a->j > 0;) {
        f->left = a->j < SCRATCH ? a->j : SCRATCH;
        a->j -= f->left;
        f->from = q->n->cmddat + q->n->cmddat_size;
        sim_cq_send_gather(q, f->elsewhere, f->from, f->left);
        f->elsewhere += f->left;
        CQ_SLEEP(q, a, DRAM_READ, DRAM_READ);
        sim_cq_emit_gathered(q);
        f->pages = (f->data + f->left - 1) / q->n->page - (f->data - 1) / q->n->page;
        f->data += f->left;
        CQ_POLL(q, a, CQ_WATCH_CREDIT, word(q, a, sim_cq_semaphore(q->n, 0), 4, POLL_CREDIT),
                has_credit(q));
        f->acquired += f->pages;
        for (f->pieces = 0; f->left > 0; f->left -= a->i) {
            a->i = send_piece(q);
            CQ_SLEEP(q, a, 8, 12);
        }
        for (a->i = 0; a->i < f->pieces; a->i++) {
            sim_cq_emit_sent(q, q->board.prefetch, q->n->noc_upstream, f->ids[a->i]);
        }
        CQ_SLEEP(q, a, 5, 1);
        sim_cq_send_publish(q, q->board.dispatch, 0, f->pages + (a->j == 0));
    }
    to_next_page(q);
    CO_RETURN(q, a);
    CO_END(a);
}

/* The commands of a buffer in DRAM come next. */
static void enter_buffer(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    f->resume = f->cmd + f->stride;
    f->resume_landed = f->landed;
    f->cmd = q->n->cmddat + q->n->cmddat_size + SCRATCH;
    f->landed = f->cmd + q->executed_size;
    f->stride = 0;
    memcpy(q->prefetch_l1 + f->cmd, q->buffer, f->landed - f->cmd);
    sim_cq_send_gather(q, f->elsewhere, f->cmd, f->landed - f->cmd);
    CQ_SLEEP(q, a, DRAM_READ, DRAM_READ);
    sim_cq_emit_gathered(q);
    CO_RETURN(q, a);
    CO_END(a);
}

/* The last of them is relayed as others are. */
static void leave_buffer(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    CO_CALL(q, a, relay);
    f->cmd = f->resume;
    f->landed = f->resume_landed;
    f->stride = 0;
    f->stalled = false;
    CO_RETURN(q, a);
    CO_END(a);
}

/* The first of the records on their way is waited for; all, where they are too many. */
static void barrier(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_prefetch *f = &q->prefetch;
    CO_BEGIN(a);
    if (f->asked - f->arrived == q->n->reads_in_flight && entry_size(q) != 0 &&
        sim_cq_fault_pending(q, NOCAP_SIM_FAULT_TWO_READS)) {
        CO_GOTO(q, a, loop);
    }
    if (on_their_way(f) > 0) {
        a->i = on_their_way(f) > q->n->reads_in_flight ? on_their_way(f) : 1;
        CQ_AWAIT(q, a, CQ_WATCH_LANDED, f->arrived - f->taken >= a->i);
        f->taken += a->i;
        f->landed = f->ends[(f->taken - 1) % CQ_READS_MAX];
    }
    CQ_SLEEP(q, a, 4, 24);
    CO_GOTO(q, a, loop);
    CO_END(a);
}
