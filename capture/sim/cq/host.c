/* SPDX-License-Identifier: Apache-2.0 */
/* The host program: starts the two queue tiles, writes records and publishes them, reads what
 * comes back. Order of its accesses as observed. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum {
    ACCESS = 20,
    ACCESS_SPREAD = 40,
    POLL_SLOT = 160,
    POLL_MIRROR = 420,
    TO_NEXT_RECORD = 90,
    PREFETCH_TEXT = 7744, /* bytes of firmware */
    DISPATCH_TEXT = 12160,
    ENABLES_PREFETCH = 1, /* BRISC; BRISC and NCRISC */
    ENABLES_DISPATCH = 3,
    SHORT_BURST = 3, /* events that follow each other without a program between */
    LONG_BURST = 192,
    QUIET = 8000,
};

static cq_routine boot_prefetch, boot_dispatch, begin_run, put_run, put_record, collect, take_event,
    read_stamps, end;

/* ---- its accesses ---- */

static uint8_t *l1_of(struct sim_cq *q, struct nocap_xy at)
{
    return at.y == q->board.prefetch.y ? q->prefetch_l1 : q->dispatch_l1;
}

static void write_bytes(struct sim_cq *q, struct nocap_xy at, uint32_t addr, const uint8_t *data,
                        uint32_t size)
{
    memcpy(l1_of(q, at) + addr, data, size);
    sim_cq_emit_host_tile(q, at, addr, size, 0, data, 0);
}

static void write_word(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t value)
{
    sim_cq_store32(l1_of(q, at), addr, value);
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
        .kernel_config_base = {NOCAP_CQ_KERNEL_CONFIG},
        .sem_offset = {NOCAP_CQ_SEM0 - NOCAP_CQ_KERNEL_CONFIG},
        .local_cb_offset = NOCAP_CQ_KERNEL_CONFIG_HEAD,
        .remote_cb_offset = NOCAP_CQ_KERNEL_CONFIG_HEAD,
        .mode = NOCAP_MODE_HOST,
        .brisc_noc_id = at.y == q->board.dispatch.y,
        .min_remote_cb_start_index = NOCAP_CB_COUNT,
        .enables = enables,
    };
    for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
        message.kernel_text_offset[i] = NOCAP_CQ_KERNEL_CONFIG_HEAD;
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

static void zero_queue(struct sim_cq *q)
{
    static const uint8_t zeros[NOCAP_CQ_QUEUE_SIZE];
    write_bytes(q, q->board.prefetch, NOCAP_CQ_QUEUE, zeros, sizeof zeros);
}

void sim_cq_host_boot(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.prefetch;
    CO_BEGIN(a);
    write_word(q, at, NOCAP_CQ_RD_PTR_ECHO, NOCAP_CQ_QUEUE_END);
    HOST_PACE(q, a);
    write_word(q, at, NOCAP_CQ_PCIE_PTR_ECHO, (uint32_t)NOCAP_CQ_SYSMEM_BASE + NOCAP_CQ_ISSUE);
    HOST_PACE(q, a);
    if (!sim_cq_lasts(q, NOCAP_SIM_FAULT_QUEUE_ZEROED_LATE)) {
        zero_queue(q);
        HOST_PACE(q, a);
    }
    write_sysmem(q, NOCAP_CQ_HOST_WR, NOCAP_CQ_COMPLETION_FIRST);
    HOST_PACE(q, a);
    write_sysmem(q, NOCAP_CQ_HOST_RD,
                 NOCAP_CQ_COMPLETION_FIRST +
                     (sim_cq_lasts(q, NOCAP_SIM_FAULT_POINTERS_DIFFER) ? 1u : 0u));
    HOST_PACE(q, a);
    CO_GOTO(q, a, boot_prefetch);
    CO_END(a);
}

static void boot_prefetch(struct sim_cq *q, struct cq_agent *a)
{
    const struct nocap_xy at = q->board.prefetch;
    CO_BEGIN(a);
    uint8_t head[NOCAP_CQ_KERNEL_CONFIG_HEAD] = {0};
    head[NOCAP_CQ_SEM0 - NOCAP_CQ_KERNEL_CONFIG] = NOCAP_CQ_BUFFER_PAGES;
    write_bytes(q, at, NOCAP_CQ_KERNEL_CONFIG, head, sizeof head);
    HOST_PACE(q, a);
    sim_cq_emit_host_text(q, at, NOCAP_CQ_TEXT, PREFETCH_TEXT);
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
    static const uint8_t zeros[NOCAP_CQ_SYNC_SEMS_SIZE];
    const struct nocap_xy at = q->board.dispatch;
    CO_BEGIN(a);
    write_word(q, at, NOCAP_CQ_COMPLETION_WR, NOCAP_CQ_COMPLETION_FIRST);
    HOST_PACE(q, a);
    write_word(q, at, NOCAP_CQ_COMPLETION_RD, NOCAP_CQ_COMPLETION_FIRST);
    HOST_PACE(q, a);
    write_word(q, at, NOCAP_CQ_LAST_EVENT0, 0);
    HOST_PACE(q, a);
    write_word(q, at, NOCAP_CQ_LAST_EVENT1, 0);
    HOST_PACE(q, a);
    write_bytes(q, at, NOCAP_CQ_SYNC_SEMS, zeros, NOCAP_CQ_SYNC_SEMS_SIZE);
    HOST_PACE(q, a);
    write_bytes(q, at, NOCAP_CQ_KERNEL_CONFIG, zeros, NOCAP_CQ_KERNEL_CONFIG_HEAD);
    HOST_PACE(q, a);
    sim_cq_emit_host_text(q, at, NOCAP_CQ_TEXT, DISPATCH_TEXT);
    HOST_PACE(q, a);
    write_launch(q, at, ENABLES_DISPATCH);
    HOST_PACE(q, a);
    write_go(q, at);
    q->host.rd = NOCAP_CQ_COMPLETION_FIRST;
    CQ_SLEEP(q, a, 400, 400);
    CO_GOTO(q, a, begin_run);
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
    if (sim_planned(&q->k, NOCAP_SIM_FAULT_CREDIT_IGNORED)) {
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
    CO_GOTO(q, a, put_run);
}

static uint32_t slot_address(const struct cq_host *h)
{
    return NOCAP_CQ_QUEUE + 2 * h->slot;
}

static void place_record(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    h->wr = (uint32_t)nocap_cq_align(h->wr, NOCAP_CQ_RECORD_ALIGN);
    if (h->wr + q->record_size > NOCAP_CQ_ISSUE_SIZE) {
        h->wr = 0;
    }
}

static void write_record(struct sim_cq *q)
{
    uint32_t at = NOCAP_CQ_ISSUE + q->host.wr;
    memcpy(q->sysmem + at, q->record, q->record_size);
    sim_cq_emit_sysmem(q, NOCAP_EV_WRITE, NOCAP_BY_HOST, at, q->record_size, q->record);
}

static void publish(struct sim_cq *q)
{
    struct cq_host *h = &q->host;
    uint64_t seq = sim_cq_seq(q);
    uint32_t entry = q->record_size / 16;
    q->prefetch_l1[slot_address(h)] = (uint8_t)entry;
    q->prefetch_l1[slot_address(h) + 1] = (uint8_t)(entry >> 8);
    sim_cq_emit_record(q, h->slot, entry, NOCAP_CQ_ISSUE + h->wr, seq);
    sim_cq_emit_host_tile(q, q->board.prefetch, slot_address(h), 2, entry, NULL, seq);
    sim_cq_changed(q, CQ_WATCH_SLOT);
}

/* The record that was made last: its bytes, a look at its slot, its number of bytes into the slot.
 * The first turn of slots is free without a look.
 * a->j: a fault has published it before its bytes. */
static void put_record(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    place_record(q);
    a->j = sim_cq_strikes(q, NOCAP_SIM_FAULT_DOORBELL_FIRST);
    if (a->j == 0) {
        write_record(q);
        CQ_SLEEP(q, a, TO_NEXT_RECORD, 2 * TO_NEXT_RECORD);
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_SLOT_SKIPPED)) {
        h->slot = (h->slot + 1) % NOCAP_CQ_QUEUE_SLOTS;
    }
    if (q->records <= NOCAP_CQ_QUEUE_SLOTS || !sim_cq_strikes(q, NOCAP_SIM_FAULT_SLOT_NOT_READ)) {
        CQ_POLL(
            q, a, CQ_WATCH_FREED,
            sim_cq_tile_place(a, q->board.prefetch, NOCAP_BY_HOST, slot_address(h), 2, POLL_SLOT),
            sim_cq_load16(q->prefetch_l1, slot_address(h)) == 0);
    }
    CQ_SLEEP(q, a, 6, 16);
    publish(q);
    if (a->j != 0 || sim_cq_strikes(q, NOCAP_SIM_FAULT_RECORD_REWRITTEN)) {
        CQ_SLEEP(q, a, 6, 16);
        write_record(q);
    }
    h->wr += q->record_size;
    h->slot = (h->slot + 1) % NOCAP_CQ_QUEUE_SLOTS;
    CQ_SLEEP(q, a, ACCESS, ACCESS_SPREAD);
    CO_RETURN(q, a);
    CO_END(a);
}

static void put_run(struct sim_cq *q, struct cq_agent *a)
{
    CO_BEGIN(a);
    while (sim_cq_lower_next(q)) {
        CO_CALL(q, a, put_record);
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_STAMPS_READ_EARLY)) {
        sim_cq_emit_sysmem_word(q, NOCAP_EV_READ, NOCAP_CQ_TIMESTAMPS,
                                sim_cq_load32(q->sysmem, NOCAP_CQ_TIMESTAMPS));
        CQ_SLEEP(q, a, ACCESS, ACCESS_SPREAD);
    }
    CO_GOTO(q, a, collect);
    CO_END(a);
}

/* ---- what comes back ---- */

static uint32_t page_offset(const struct cq_host *h)
{
    return (uint32_t)((uint64_t)(h->rd & ~NOCAP_CQ_TOGGLE) * NOCAP_CQ_POINTER_UNIT -
                      NOCAP_CQ_SYSMEM_BASE);
}

static uint32_t next_page(uint32_t pointer)
{
    uint32_t toggle = pointer & NOCAP_CQ_TOGGLE;
    uint32_t units = (pointer & ~NOCAP_CQ_TOGGLE) + NOCAP_CQ_PAGE_UNITS;
    if (units >= NOCAP_CQ_COMPLETION_LAST) {
        units -= NOCAP_CQ_COMPLETION_UNITS;
        toggle ^= NOCAP_CQ_TOGGLE;
    }
    return units | toggle;
}

/* All events of the run, one at a time. a->i: the id that the page held. */
static void collect(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    while (h->event_seen != h->event) {
        CQ_POLL(q, a, CQ_WATCH_MIRROR, sim_cq_sysmem_place(a, NOCAP_CQ_HOST_WR, POLL_MIRROR),
                sim_cq_load32(q->sysmem, NOCAP_CQ_HOST_WR) != h->rd);
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
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_HOST_WRITES_MIRROR)) {
        write_sysmem(q, NOCAP_CQ_HOST_WR, h->rd);
    }
    if (sim_cq_strikes(q, NOCAP_SIM_FAULT_HOST_WRITES_ECHO)) {
        write_word(q, q->board.prefetch, NOCAP_CQ_PCIE_PTR_ECHO,
                   sim_cq_load32(q->prefetch_l1, NOCAP_CQ_PCIE_PTR_ECHO));
    }
    if (sim_planned(&q->k, NOCAP_SIM_FAULT_HOST_WRITES_CREDITS)) {
        CQ_SLEEP(q, a, QUIET, 1);
        if (sim_cq_strikes(q, NOCAP_SIM_FAULT_HOST_WRITES_CREDITS)) {
            write_word(q, q->board.prefetch, NOCAP_CQ_SEM0,
                       sim_cq_load32(q->prefetch_l1, NOCAP_CQ_SEM0));
        }
    }
    CQ_SLEEP(q, a, 60, 120);
    CO_GOTO(q, a, begin_run);
    CO_END(a);
}

static void read_event(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    uint32_t page = page_offset(h);
    a->i = sim_cq_load32(q->sysmem, page + NOCAP_CQ_HEADER);
    sim_cq_emit_sysmem_word(q, NOCAP_EV_READ, page + NOCAP_CQ_HEADER, a->i);
}

/* A capture on the host does not see its reads of memory. It shows what lies there when the read
 * pointer moves. */
static void show_completion(struct sim_cq *q)
{
    uint32_t page = page_offset(&q->host);
    if (sim_cq_shows(q, NOCAP_CLASS_CQ_HOST) && !sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        sim_cq_emit_mem(q, NOCAP_SPACE_SYSMEM, q->board.dispatch, NOCAP_CQ_HOST_WR,
                        q->sysmem + NOCAP_CQ_HOST_WR, 4);
        sim_cq_emit_mem(q, NOCAP_SPACE_SYSMEM, q->board.dispatch, page, q->sysmem + page,
                        NOCAP_CQ_EVENT_BYTES);
    }
}

/* Faults: the read pointer moves before the page is read, moves by two, or is copied wrong. */
static void take_event(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    a->j = sim_cq_strikes(q, NOCAP_SIM_FAULT_READ_PTR_BEFORE_DATA);
    if (a->j == 0) {
        read_event(q, a);
        CQ_SLEEP(q, a, 8, 30);
    }
    h->event_seen += 1;
    a->j |= sim_cq_strikes(q, NOCAP_SIM_FAULT_HOST_PASSES_WR) ? 2u : 0u;
    h->written = next_page(h->rd);
    if ((a->j & 2) != 0) {
        h->written = next_page(h->written);
    }
    show_completion(q);
    write_word(q, q->board.dispatch, NOCAP_CQ_COMPLETION_RD, h->written);
    sim_cq_changed(q, CQ_WATCH_READ_PTR);
    if ((a->j & 1) != 0) {
        CQ_SLEEP(q, a, 8, 30);
        read_event(q, a);
    }
    h->rd = next_page(h->rd);
    CQ_SLEEP(q, a, 16, 10);
    write_sysmem(q, NOCAP_CQ_HOST_RD,
                 h->written + (sim_cq_strikes(q, NOCAP_SIM_FAULT_READ_PTR_COPY_WRONG) ? 1u : 0u));
    CO_RETURN(q, a);
    CO_END(a);
}

static void read_stamps(struct sim_cq *q, struct cq_agent *a)
{
    struct cq_host *h = &q->host;
    CO_BEGIN(a);
    for (a->i = 0; a->i < 2 * h->stamps; a->i++) {
        CQ_SLEEP(q, a, 20, 1);
        uint32_t at = NOCAP_CQ_TIMESTAMPS + a->i / 2 * NOCAP_CQ_TIMESTAMP_STRIDE + a->i % 2 * 4;
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
    if (sim_mix(&q->k, 6, 0) % 2 == 0 || sim_planned(&q->k, NOCAP_SIM_FAULT_RECORD_AFTER_END)) {
        while (sim_cq_lower_end(q)) {
            CO_CALL(q, a, put_record);
        }
    }
    a->run = NULL;
    CO_END(a);
}
