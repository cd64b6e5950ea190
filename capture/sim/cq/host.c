/* SPDX-License-Identifier: Apache-2.0 */
/* The host program: starts the two queue tiles, writes records and publishes them, reads what
 * comes back. Order of its accesses as observed. */
#include <string.h>

#include "capture/sim/cq/put.h"

enum {
    ACCESS = 20,
    ACCESS_SPREAD = 40,
    POLL_SLOT = 160,
    POLL_MIRROR = 420,
    TO_NEXT_RECORD = 90,
    PREFETCH_TEXT = 7744, /* bytes of firmware */
    DISPATCH_TEXT = 12160,
    SUBORDINATE_TEXT = 3264,
    ENABLES_PREFETCH = 1, /* BRISC; BRISC and NCRISC; NCRISC */
    ENABLES_DISPATCH = 3,
    ENABLES_SUBORDINATE = 2,
    SHORT_BURST = 3, /* events that follow each other without a program between */
    LONG_BURST = 192,
    QUIET = 8000,
    PACKED_SIZE = 0x6000, /* bytes of an entry with several records, at most */
    PACKED_RECORDS = 8,
};

static cq_routine boot_prefetch, boot_dispatch, boot_subordinate, begin_run, take_workers, put_run,
    put_record, collect, take_event, read_stamps, end;

/* ---- its accesses ---- */

static void write_bytes(struct sim_cq *q, struct nocap_xy at, uint32_t addr, const uint8_t *data,
                        uint32_t size)
{
    memcpy(sim_cq_l1(q, at) + addr, data, size);
    sim_cq_emit_host_tile(q, at, addr, size, 0, data, 0);
}

static void write_word(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t value)
{
    sim_cq_store32(sim_cq_l1(q, at), addr, value);
    sim_cq_emit_host_tile(q, at, addr, 4, value, NULL, 0);
}

static void write_sysmem(struct sim_cq *q, uint32_t addr, uint32_t value)
{
    sim_cq_store32(q->sysmem, addr, value);
    sim_cq_emit_sysmem_word(q, NOCAP_EV_WRITE, addr, value);
}

#define HOST_PACE(q, a) CQ_SLEEP((q), (a), ACCESS, ACCESS_SPREAD)

/* ---- start ---- */

static void write_launch(struct sim_cq *q, struct nocap_xy at, uint32_t enables)
{
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    struct nocap_launch message = {
        .kernel_config_base = {q->n->kernel_config},
        .sem_offset = {(uint16_t)q->n->semaphores},
        .local_cb_offset = (uint16_t)q->n->kernel_config_head,
        .remote_cb_offset = (uint16_t)q->n->kernel_config_head,
        .mode = NOCAP_MODE_HOST,
        .brisc_noc_id = !nocap_xy_equal(at, q->board.prefetch),
        .min_remote_cb_start_index = NOCAP_CB_COUNT,
        .enables = enables,
    };
    for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
        message.kernel_text_offset[i] = q->n->kernel_config_head;
    }
    nocap_launch_encode(q->layout, &message, bytes);
    write_bytes(q, at, nocap_launch_slot(q->layout, 0), bytes, q->layout->launch_size);
}

static void write_go(struct sim_cq *q, struct nocap_xy at)
{
    write_word(q, at, nocap_go_word_address(q->layout, 0),
               nocap_go_encode((struct nocap_go_word){.signal = NOCAP_GO_GO}));
    sim_cq_changed(q, CQ_WATCH_START);
}

static void write_zeros(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size)
{
    memset(sim_cq_l1(q, at) + addr, 0, size);
    sim_cq_emit_host_tile(q, at, addr, size, 0, sim_cq_l1(q, at) + addr, 0);
}

static void zero_queue(struct sim_cq *q)
{
    write_zeros(q, q->board.prefetch, q->n->queue, q->n->queue_slots * q->n->entry_bytes);
}

void sim_cq_host_boot(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.prefetch;
    CO_BEGIN(a);
    write_word(q, at, q->n->rd_ptr_echo, sim_cq_slot(q->n, q->n->queue_slots));
    HOST_PACE(q, a);
    write_word(q, at, q->n->pcie_ptr_echo, (uint32_t)q->n->sysmem + q->n->issue);
    HOST_PACE(q, a);
    if (!sim_cq_lasts(q, NOCAP_SIM_FAULT_QUEUE_ZEROED_LATE)) {
        zero_queue(q);
        HOST_PACE(q, a);
    }
    write_sysmem(q, q->n->host_wr, sim_cq_first_page(q->n));
    HOST_PACE(q, a);
    write_sysmem(q, q->n->host_rd,
                 sim_cq_first_page(q->n) +
                     (sim_cq_lasts(q, NOCAP_SIM_FAULT_POINTERS_DIFFER) ? 1u : 0u));
    HOST_PACE(q, a);
    CO_GOTO(q, a, boot_prefetch);
    CO_END(a);
}

static void boot_prefetch(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.prefetch;
    CO_BEGIN(a);
    uint8_t *config = q->prefetch_l1 + q->n->kernel_config;
    memset(config, 0, q->n->kernel_config_head);
    sim_cq_store32(config, q->n->semaphores, q->n->buffer_pages);
    if (sim_cq_splits(q)) {
        sim_cq_store32(config, q->n->semaphores + q->n->subordinate_free * q->n->semaphore_stride,
                       q->n->subordinate_size / q->n->subordinate_page);
    }
    sim_cq_emit_host_tile(q, at, q->n->kernel_config, q->n->kernel_config_head, 0, config, 0);
    HOST_PACE(q, a);
    sim_cq_emit_host_text(q, at, q->n->kernel_config + q->n->kernel_config_head, PREFETCH_TEXT);
    HOST_PACE(q, a);
    write_launch(q, at, ENABLES_PREFETCH);
    HOST_PACE(q, a);
    write_go(q, at);
    HOST_PACE(q, a);
    if (sim_cq_lasts(q, NOCAP_SIM_FAULT_QUEUE_ZEROED_LATE)) {
        zero_queue(q);
        HOST_PACE(q, a);
    }
    CO_GOTO(q, a, boot_dispatch);
    CO_END(a);
}

static void boot_dispatch(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.dispatch;
    CO_BEGIN(a);
    write_word(q, at, q->n->completion_wr, sim_cq_first_page(q->n));
    HOST_PACE(q, a);
    write_word(q, at, q->n->completion_rd, sim_cq_first_page(q->n));
    HOST_PACE(q, a);
    write_word(q, at, q->n->last_event0, 0);
    HOST_PACE(q, a);
    write_word(q, at, q->n->last_event1, 0);
    HOST_PACE(q, a);
    write_zeros(q, at, q->n->sync_sems, q->n->sync_sems_size);
    HOST_PACE(q, a);
    write_zeros(q, at, q->n->kernel_config, q->n->kernel_config_head);
    HOST_PACE(q, a);
    sim_cq_emit_host_text(q, at, q->n->kernel_config + q->n->kernel_config_head, DISPATCH_TEXT);
    HOST_PACE(q, a);
    write_launch(q, at, ENABLES_DISPATCH);
    HOST_PACE(q, a);
    write_go(q, at);
    q->host.rd = sim_cq_first_page(q->n);
    if (sim_cq_is_apart(q)) {
        CO_CALL(q, a, boot_subordinate);
    }
    CQ_SLEEP(q, a, 400, 400);
    CO_GOTO(q, a, begin_run);
    CO_END(a);
}

/* Where it has a tile of its own. */
static void boot_subordinate(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.subordinate;
    CO_BEGIN(a);
    HOST_PACE(q, a);
    write_zeros(q, at, q->n->sync_sems, q->n->sync_sems_size);
    HOST_PACE(q, a);
    write_zeros(q, at, q->n->kernel_config, q->n->kernel_config_head);
    HOST_PACE(q, a);
    sim_cq_emit_host_text(q, at, q->n->kernel_config + q->n->kernel_config_head, SUBORDINATE_TEXT);
    HOST_PACE(q, a);
    write_launch(q, at, ENABLES_SUBORDINATE);
    HOST_PACE(q, a);
    write_go(q, at);
    CO_RETURN(q, a);
    CO_END(a);
}

/* ---- records ---- */

/* A run: some programs, then an event; or, now and then, only events. */
static void begin_run(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    uint64_t x = sim_mix(&q->k, 1, h->event);
    bool rings = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
    if (h->program == q->options.launches) {
        CO_GOTO(q, a, end);
    }
    h->run_programs = (uint32_t)(1 + x % 3);
    h->syncs = 1;
    if (sim_fault_planned(&q->k, NOCAP_SIM_FAULT_CREDIT_IGNORED)) {
        h->run_programs = (uint32_t)q->options.launches;
    } else if (h->program > 0 && (x >> 8) % (rings ? 2 : 4) == 0) {
        h->run_programs = 0;
        h->syncs = (uint32_t)(1 + (x >> 16) % (rings ? LONG_BURST : SHORT_BURST));
    }
    if (h->run_programs > q->options.launches - h->program) {
        h->run_programs = (uint32_t)(q->options.launches - h->program);
    }
    h->in_run = 0;
    h->stamps = 0;
    q->lowering.line = 0;
    CO_GOTO(q, a, take_workers);
}

/* Hosts of two queues that launch on the same workers take turns. */
static void take_workers(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    if (q->shares && q->host.run_programs > 0) {
        CQ_AWAIT(q, a, CQ_WATCH_TURN, !q->peer->busy);
        q->busy = true;
    }
    CO_GOTO(q, a, put_run);
    CO_END(a);
}

static uint32_t slot_address(const struct sim_cq *q)
{
    return sim_cq_slot(q->n, q->host.slot);
}

/* The record that was made last joins the entry. */
static void gather(struct sim_cq *q)
{
    memcpy(q->entry + q->entry_size, q->record, q->record_size);
    q->entry_size += q->record_size;
    q->entry_records++;
}

static bool has_room(const struct sim_cq *q)
{
    return q->entry_size == 0 || q->entry_size + q->record_size <= PACKED_SIZE;
}

static bool is_full(const struct sim_cq *q)
{
    bool packs = q->options.scenario == NOCAP_SIM_FAST_DISPATCH_PACKED || sim_cq_counts_on(q);
    return !packs || q->entry_records > sim_mix(&q->k, 8, q->host.entries) % PACKED_RECORDS;
}

static void place_record(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    h->wr = (uint32_t)nocap_cq_align(h->wr, q->n->record_align);
    if (h->wr + q->entry_size > q->n->issue_size) {
        h->wr = 0;
    }
}

static void write_record(struct sim_cq *q)
{
    uint32_t at = q->n->issue + q->host.wr;
    memcpy(q->sysmem + at, q->entry, q->entry_size);
    sim_cq_emit_sysmem(q, NOCAP_EV_WRITE, NOCAP_BY_HOST, at, q->entry_size, q->entry);
}

static void publish(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    uint64_t seq = sim_cq_seq(q);
    uint32_t entry = q->entry_size / q->n->entry_unit | (q->executes ? q->n->entry_stall : 0);
    for (uint32_t i = 0; i < q->n->entry_bytes; i++) {
        q->prefetch_l1[slot_address(q) + i] = (uint8_t)(entry >> 8 * i);
    }
    sim_cq_emit_record(q, h->slot, entry, q->n->issue + h->wr, seq);
    sim_cq_emit_host_tile(q, q->board.prefetch, slot_address(q), q->n->entry_bytes, entry, NULL,
                          seq);
    sim_cq_changed(q, CQ_WATCH_SLOT);
}

/* The records that were made last: their bytes, a look at the slot, their number of bytes into it.
 * The first turn of slots is free without a look.
 * a->j: a fault has published it before its bytes. */
static void put_record(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    h->entries++;
    place_record(q);
    a->j = sim_cq_fault_due(q, NOCAP_SIM_FAULT_DOORBELL_FIRST);
    if (a->j == 0) {
        write_record(q);
        CQ_SLEEP(q, a, TO_NEXT_RECORD, 2 * TO_NEXT_RECORD);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_SLOT_SKIPPED)) {
        h->slot = (h->slot + 1) % q->n->queue_slots;
    }
    if (h->entries <= q->n->queue_slots || !sim_cq_fault_due(q, NOCAP_SIM_FAULT_SLOT_NOT_READ)) {
        CQ_POLL(q, a, CQ_WATCH_FREED,
                sim_cq_tile_place(a, q->board.prefetch, NOCAP_BY_HOST, slot_address(q),
                                  (uint8_t)q->n->entry_bytes, POLL_SLOT),
                sim_cq_load_slot(q, slot_address(q)) == 0);
    }
    CQ_SLEEP(q, a, 6, 16);
    publish(q);
    if (a->j != 0 || sim_cq_fault_due(q, NOCAP_SIM_FAULT_RECORD_REWRITTEN)) {
        CQ_SLEEP(q, a, 6, 16);
        write_record(q);
    }
    h->wr += q->entry_size;
    q->entry_size = q->entry_records = 0;
    q->executes = false;
    h->slot = (h->slot + 1) % q->n->queue_slots;
    CQ_SLEEP(q, a, ACCESS, ACCESS_SPREAD);
    CO_RETURN(q, a);
    CO_END(a);
}

static void put_run(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    while (sim_cq_lower_next(q)) {
        if (sim_cq_takes_buffer(q)) {
            sim_cq_put_in_buffer(q);
            continue;
        }
        a->i = q->buffer_size > 0;
        if (a->i != 0 && q->entry_records > 0) {
            CO_CALL(q, a, put_record);
        }
        if (a->i != 0) {
            sim_cq_put_exec(q);
            CO_CALL(q, a, put_record);
        }
        if (!has_room(q)) {
            CO_CALL(q, a, put_record);
        }
        gather(q);
        if (is_full(q)) {
            CO_CALL(q, a, put_record);
        }
    }
    if (q->entry_records > 0) {
        CO_CALL(q, a, put_record);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_TIMESTAMPS_READ_EARLY)) {
        sim_cq_emit_sysmem_word(q, NOCAP_EV_READ, q->n->timestamps,
                                sim_cq_load32(q->sysmem, q->n->timestamps));
        CQ_SLEEP(q, a, ACCESS, ACCESS_SPREAD);
    }
    CO_GOTO(q, a, collect);
    CO_END(a);
}

/* ---- what comes back ---- */

static uint32_t page_offset(const struct sim_cq *q)
{
    return (uint32_t)((uint64_t)(q->host.rd & ~q->n->toggle) * q->n->pointer_unit - q->n->sysmem);
}

static uint32_t next_page(const struct sim_cq *q, uint32_t pointer)
{
    uint32_t toggle = pointer & q->n->toggle;
    uint32_t units = (pointer & ~q->n->toggle) + sim_cq_page_units(q->n);
    if (units >= sim_cq_first_page(q->n) + sim_cq_completion_units(q->n)) {
        units -= sim_cq_completion_units(q->n);
        toggle ^= q->n->toggle;
    }
    return units | toggle;
}

/* All events of the run, one at a time. a->i: the id that the page held. */
static void collect(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    while (h->event_seen != h->event) {
        CQ_POLL(q, a, CQ_WATCH_MIRROR, sim_cq_sysmem_place(a, q->n->host_wr, POLL_MIRROR),
                sim_cq_load32(q->sysmem, q->n->host_wr) != h->rd);
        CQ_SLEEP(q, a, 50, 30);
        CO_CALL(q, a, take_event);
        if (a->i != h->event_seen) {
            a->run = NULL; /* the host program raises an error and ends */
            return;
        }
        CQ_SLEEP(q, a, 10, 30);
    }
    if (h->stamps > 0) {
        CO_CALL(q, a, read_stamps);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_HOST_WRITES_COMPLETION_PTR)) {
        write_sysmem(q, q->n->host_wr, h->rd);
    }
    if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_HOST_WRITES_PREFETCH_PTR)) {
        write_word(q, q->board.prefetch, q->n->pcie_ptr_echo,
                   sim_cq_load32(q->prefetch_l1, q->n->pcie_ptr_echo));
    }
    if (sim_fault_planned(&q->k, NOCAP_SIM_FAULT_HOST_WRITES_CREDITS) ||
        q->k.fault == NOCAP_SIM_FAULT_WAIT_COUNT_LOW) {
        CQ_SLEEP(q, a, QUIET, 1);
        if (sim_cq_fault_due(q, NOCAP_SIM_FAULT_HOST_WRITES_CREDITS)) {
            write_word(q, q->board.prefetch, sim_cq_semaphore(q->n, 0),
                       sim_cq_load32(q->prefetch_l1, sim_cq_semaphore(q->n, 0)));
        }
    }
    CQ_SLEEP(q, a, 60, 120);
    if (q->busy) {
        q->busy = false;
        sim_cq_changed(q->peer, CQ_WATCH_TURN);
    }
    CO_GOTO(q, a, begin_run);
    CO_END(a);
}

static void read_event(struct sim_cq *q, struct cq_agent *a)
{
    uint32_t page = page_offset(q);
    uint32_t header = sim_cq_header_size(q, NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST);
    a->i = sim_cq_load32(q->sysmem, page + header);
    sim_cq_emit_sysmem_word(q, NOCAP_EV_READ, page + header, a->i);
}

/* A capture on the host does not see its reads of memory. It shows what lies there when the read
 * pointer moves. */
static void show_completion(struct sim_cq *q)
{
    uint32_t page = page_offset(q);
    if (sim_cq_shows(q, NOCAP_CLASS_CQ_HOST) && !sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        sim_cq_emit_mem(q, NOCAP_SPACE_SYSMEM, q->board.dispatch, q->n->host_wr,
                        q->sysmem + q->n->host_wr, 4);
        sim_cq_emit_mem(q, NOCAP_SPACE_SYSMEM, q->board.dispatch, page, q->sysmem + page,
                        q->n->event_bytes);
    }
}

/* Faults: the read pointer moves before the page is read, moves by two, or is copied wrong. */
static void take_event(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    a->j = sim_cq_fault_due(q, NOCAP_SIM_FAULT_READ_PTR_BEFORE_DATA);
    if (a->j == 0) {
        read_event(q, a);
        CQ_SLEEP(q, a, 8, 30);
    }
    h->event_seen += 1;
    a->j |= sim_cq_fault_due(q, NOCAP_SIM_FAULT_HOST_PASSES_WR) ? 2u : 0u;
    h->written = next_page(q, h->rd);
    if ((a->j & 2) != 0) {
        h->written = next_page(q, h->written);
    }
    show_completion(q);
    write_word(q, q->board.dispatch, q->n->completion_rd, h->written);
    sim_cq_changed(q, CQ_WATCH_READ_PTR);
    if ((a->j & 1) != 0) {
        CQ_SLEEP(q, a, 8, 30);
        read_event(q, a);
    }
    h->rd = next_page(q, h->rd);
    CQ_SLEEP(q, a, 16, 10);
    write_sysmem(q, q->n->host_rd,
                 h->written + (sim_cq_fault_due(q, NOCAP_SIM_FAULT_READ_PTR_COPY_WRONG) ? 1u : 0u));
    CO_RETURN(q, a);
    CO_END(a);
}

static void read_stamps(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    for (a->i = 0; a->i < 2 * h->stamps; a->i++) {
        CQ_SLEEP(q, a, 20, 1);
        uint32_t at = q->n->timestamps + a->i / 2 * q->n->timestamp_stride + a->i % 2 * 4;
        sim_cq_emit_sysmem_word(q, NOCAP_EV_READ, at, sim_cq_load32(q->sysmem, at));
    }
    CO_RETURN(q, a);
    CO_END(a);
}

/* Some host programs end the firmware of the queue, others just leave. */
static void end(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    q->lowering.i = 0;
    q->lowering.stage = 0;
    if (sim_mix(&q->k, 6, 0) % 2 == 0 ||
        sim_fault_planned(&q->k, NOCAP_SIM_FAULT_RECORD_AFTER_END)) {
        while (sim_cq_lower_end(q)) {
            gather(q);
            CO_CALL(q, a, put_record);
        }
    }
    a->run = NULL;
    CO_END(a);
}
