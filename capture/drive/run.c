/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/drive/run.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "capture/kernel/kernel.h"
#include "capture/live/ttsim.h"
#include "formats/blackhole/registers.h"

enum {
    POLL_CLOCKS = 64, /* between two looks of a read that does not answer as recorded */
    STRETCH = 4,      /* a perturbed pause before a store is below so many times the recorded one */
    PAUSE_CHANCE = 16,  /* one store in so many waits, where the recorded host did not .. */
    PAUSE_BELOW = 256,  /* .. for fewer than so many clocks */
    ANSWER_CHANCE = 4,  /* one decisive answer in so many comes late to the host .. */
    ANSWER_BELOW = 1024 /* .. by fewer than so many clocks */
};

/* One simulator is in a process; its callbacks have no context. */
static struct drive {
    struct ttsim sim;
    struct ttsim_board board;
    struct drive_plan *plan;
    const struct drive_payloads *payloads;
    const struct nocap_drive_options *options;
    struct nocap_drive_result *result;
    struct nocap_capture *capture;
    struct nocap_error *err;
    enum nocap_status memory_status; /* of a callback */
    uint64_t recorded;               /* the trace's time up to which it ran */
    uint64_t
        answered;   /* event that ends the polls of a place which has answered; UINT64_MAX: none */
    uint64_t draws; /* of random numbers, so far */
    uint64_t late;  /* clocks by which answers reach the host later: its next store shows it */
    bool begun;
    bool cold;                                        /* the trace begins at power-on */
    uint32_t aimed[TTSIM_CHIPS_MAX][NOCAP_TLB_WORDS]; /* the window of our own */
    uint8_t *bytes, *found;                           /* NOCAP_PAYLOAD_MAX each */
} run;

/* ---- recording ---- */

/* `e` as it is now: with these bytes. */
static void record(const struct nocap_event *e, const uint8_t *data)
{
    if (run.capture != NULL) {
        drive_recording_add(run.capture, e, run.result->clocks, data);
    }
}

static void record_dma(enum nocap_kind kind, uint64_t addr, const void *data, uint32_t size)
{
    struct nocap_event e = nocap_event_of(kind);
    e.by = NOCAP_BY_DMA;
    e.space = NOCAP_SPACE_SYSMEM;
    e.addr = addr;
    e.size = size;
    e.has = NOCAP_F_BY | NOCAP_F_SPACE | NOCAP_F_ADDR | NOCAP_F_SIZE;
    record(&e, data);
}

/* ---- the host's memory ---- */

static void dma_read(uint64_t paddr, void *data, uint32_t size)
{
    uint64_t addr = ttsim_device_address(&run.board, paddr, size);
    drive_memory_fetch(addr, data, size);
    record_dma(NOCAP_EV_READ, addr, data, size);
}

static void dma_write(uint64_t paddr, const void *data, uint32_t size)
{
    uint64_t addr = ttsim_device_address(&run.board, paddr, size);
    if (run.memory_status == NOCAP_OK) {
        run.memory_status = drive_memory_store(addr, data, size, run.err);
    }
    record_dma(NOCAP_EV_WRITE, addr, data, size);
}

/* ---- time ---- */

static void clocks(uint64_t n)
{
    while (n > 0) {
        uint32_t part = n < INT32_MAX ? (uint32_t)n : INT32_MAX;
        run.result->clocks += part;
        if (run.capture != NULL) {
            nocap_capture_set_time(run.capture, run.result->clocks);
        }
        run.sim.clock(part);
        n -= part;
    }
}

/* One of 0..n-1, the same for the same seed. */
static uint64_t below(uint32_t n)
{
    return (sim_mix_seed(run.options->seed, run.draws++, 0) & UINT32_MAX) * n >> 32;
}

static bool one_in(uint32_t n)
{
    return run.options->perturb && below(n) == 0;
}

/* Before a store. A host polls at its own pace: what is there for a short time would be missed. */
static uint64_t perturbed(uint64_t gap)
{
    uint64_t late = run.late;
    run.late = 0;
    if (run.options->perturb && gap > 0) {
        gap = 1 + below(gap < UINT32_MAX / STRETCH ? (uint32_t)gap * STRETCH : UINT32_MAX);
    } else if (one_in(PAUSE_CHANCE)) {
        gap = below(PAUSE_BELOW);
    }
    return gap + late;
}

/* Up to the access `e`: what lay between it and the one before. */
static void pass(const struct nocap_event *e)
{
    uint64_t gap = e->t > run.recorded ? e->t - run.recorded : 0;
    run.recorded += gap;
    if (e->kind == NOCAP_EV_WRITE) {
        gap = perturbed(gap);
    }
    clocks(gap);
    if ((e->has & NOCAP_F_T2) != 0 && e->t2 > run.recorded) { /* polls that were counted together */
        clocks(e->t2 - run.recorded);
        run.recorded = e->t2;
    }
}

/* ---- accesses ---- */

/* `size` bytes of a BAR. */
static void access_bar(const struct ttsim_chip *chip, unsigned bar, uint64_t offset, uint8_t *bytes,
                       uint32_t size, bool store)
{
    uint64_t paddr = chip->bar[bar].base + offset;
    if (store) {
        run.sim.pci_mem_wr_bytes(paddr, bytes, size);
    } else {
        run.sim.pci_mem_rd_bytes(paddr, bytes, size);
    }
}

static void aim(const struct ttsim_chip *chip, const struct nocap_event *e, uint64_t addr)
{
    uint32_t words[NOCAP_TLB_WORDS], *aimed = run.aimed[e->chip];
    bool many = (e->has & NOCAP_F_TO) != 0;
    const struct nocap_tlb_window window = {
        .page = addr >> NOCAP_TLB_2M_SHIFT,
        .x_start = many ? e->at.x : 0,
        .y_start = many ? e->at.y : 0,
        .x_end = many ? e->to.x : e->at.x,
        .y_end = many ? e->to.y : e->at.y,
        .mcast = many,
        .noc = e->noc,
        .ordering = e->order,
    };
    nocap_tlb_encode(run.plan->window, &window, words);
    for (unsigned i = 0; i < NOCAP_TLB_WORDS; i++) {
        if (aimed[i] != words[i]) {
            aimed[i] = words[i];
            access_bar(chip, 0, NOCAP_TLB_REGISTERS + (run.plan->window * NOCAP_TLB_WORDS + i) * 4,
                       (uint8_t *)&words[i], 4, true);
        }
    }
}

/* Through a window that the trace leaves alone, whichever the host used. */
static void access_tile(const struct ttsim_chip *chip, const struct nocap_event *e, uint8_t *bytes,
                        bool store)
{
    const uint64_t window_size = UINT64_C(1) << NOCAP_TLB_2M_SHIFT;
    for (uint64_t done = 0; done < e->size;) {
        uint64_t addr = e->addr + done, inside = addr % window_size;
        uint64_t left = e->size - done,
                 part = left < window_size - inside ? left : window_size - inside;
        aim(chip, e, addr);
        access_bar(chip, 0, run.plan->window * window_size + inside, bytes + done, (uint32_t)part,
                   store);
        done += part;
    }
}

static enum nocap_status access(const struct nocap_event *e, uint8_t *bytes, bool store)
{
    if (e->space == NOCAP_SPACE_SYSMEM) {
        if (store) {
            return drive_memory_store(e->addr, bytes, e->size, run.err);
        }
        drive_memory_load(e->addr, bytes, e->size);
        return NOCAP_OK;
    }
    RETURN_ERROR_IF(e->chip >= run.board.chips, run.err, NOCAP_E_INPUT,
                    "event #%" PRIu64 " is an access to chip %u, and the simulator has %u",
                    e->index, e->chip, run.board.chips);
    struct ttsim_chip *chip = &run.board.chip[e->chip];
    if (e->space == NOCAP_SPACE_TILE) {
        access_tile(chip, e, bytes, store);
        return run.memory_status;
    }
    unsigned bar = e->space == NOCAP_SPACE_BAR0 ? 0 : e->space == NOCAP_SPACE_BAR2 ? 1 : 2;
    RETURN_ERROR_IF(e->addr >= chip->bar[bar].size || e->size > chip->bar[bar].size - e->addr,
                    run.err, NOCAP_E_INPUT, "event #%" PRIu64 " is beyond the end of its BAR",
                    e->index);
    access_bar(chip, bar, e->addr, bytes, (uint32_t)e->size, store);
    if (store) {
        ttsim_stored(chip, bar, e->addr, bytes, (uint32_t)e->size);
    }
    return run.memory_status;
}

/* ---- what was recorded ---- */

static bool is_clock(const struct nocap_event *e)
{
    return e->space == NOCAP_SPACE_TILE &&
           (e->addr == NOCAP_REG_WALL_CLOCK_L || e->addr == NOCAP_REG_WALL_CLOCK_H ||
            e->addr == NOCAP_REG_WALL_CLOCK_H_NOW);
}

/* Whether what is known of the answer is in `found`; `known`: drive_bytes. */
static bool agrees(const struct nocap_event *e, bool known)
{
    if (known) {
        return memcmp(run.bytes, run.found, e->size) == 0;
    }
    return (e->has & NOCAP_F_HASH) == 0 || drive_answer(run.found, e->size) == e->hash;
}

static void report_difference(const struct nocap_event *e, bool known)
{
    struct nocap_drive_result *r = run.result;
    uint64_t at = 0;
    while (known && at < e->size && run.bytes[at] == run.found[at]) {
        at++;
    }
    r->outcome = NOCAP_DRIVE_DIFFERS;
    r->expected_known = known;
    r->differs = e->size <= NOCAP_DRIVE_SHOWN ? 0 : at;
    uint64_t left = e->size - r->differs;
    r->shown = (uint32_t)(left < NOCAP_DRIVE_SHOWN ? left : NOCAP_DRIVE_SHOWN);
    memcpy(r->expected, run.bytes + r->differs, known ? r->shown : 0);
    memcpy(r->found, run.found + r->differs, r->shown);
}

/* ---- the run ---- */

/* At other times a device may be further than the recorded poll saw it. */
static bool moved_on(const struct nocap_event *e, const struct drive_poll *poll)
{
    return run.options->perturb && poll != NULL && drive_answer(run.found, e->size) != poll->answer;
}

/* Polls until the answer is the recorded one. */
static enum nocap_status compare(const struct nocap_event *e, const struct drive_poll *poll)
{
    struct nocap_drive_result *r = run.result;
    bool known = drive_bytes(run.payloads, e, run.bytes);
    uint64_t waited = 0, first = drive_answer(run.found, e->size);
    if (!known && (e->has & NOCAP_F_HASH) == 0) {
        return NOCAP_OK;
    }
    r->compared++;
    while (!agrees(e, known)) {
        if (waited >= run.options->patience) {
            report_difference(e, known);
            break;
        }
        if (moved_on(e, poll)) {
            r->passed++;
            break;
        }
        clocks(POLL_CLOCKS);
        waited += POLL_CLOCKS;
        RETURN_IF_FAILED(access(e, run.found, false));
    }
    if (waited > 0 && drive_answer(run.found, e->size) != first) {
        record(e, run.found);
    }
    if (waited > 0 && r->outcome == NOCAP_DRIVE_AGREES) {
        r->late++;
        r->late_most = waited > r->late_most ? waited : r->late_most;
    }
    run.late += one_in(ANSWER_CHANCE) ? below(ANSWER_BELOW) : 0;
    return NOCAP_OK;
}

/* Whether the host's polling is over, though the recorded one went on; else it is done once more.
 */
static bool is_over(const struct drive_poll *poll)
{
    return poll != NULL && poll->index != poll->last && poll->last == run.answered;
}

/* A host that polls goes on with the answer that it waits for: one that the recorded poll had not
 * got yet. */
static void note_answer(const struct nocap_event *e, const struct drive_poll *poll)
{
    if (poll->answer != poll->end && drive_answer(run.found, e->size) == poll->end) {
        run.answered = poll->last;
    }
}

static enum nocap_status host_access(const struct nocap_event *e)
{
    struct nocap_drive_result *r = run.result;
    bool store = e->kind == NOCAP_EV_WRITE;
    RETURN_ERROR_IF(e->size == 0 || e->size > NOCAP_PAYLOAD_MAX, run.err, NOCAP_E_INPUT,
                    "event #%" PRIu64 " is an access of %" PRIu64 " bytes; at most %d are replayed",
                    e->index, e->size, NOCAP_PAYLOAD_MAX);
    const struct drive_poll *poll = store ? NULL : drive_plan_poll(run.plan, e->index);
    if (is_over(poll)) {
        run.recorded = e->t > run.recorded ? e->t : run.recorded;
        return NOCAP_OK;
    }
    pass(e);
    r->at = *e;
    r->at.data = NULL;
    r->at.extra = NULL;
    if (store && !drive_bytes(run.payloads, e, run.bytes)) {
        r->outcome = NOCAP_DRIVE_NO_DATA;
        return NOCAP_OK;
    }
    if (store) { /* recorded first: perhaps it ends the process */
        record(e, run.bytes);
    }
    RETURN_IF_FAILED(access(e, store ? run.bytes : run.found, store));
    r->accesses++;
    r->stores += store;
    if (store) {
        return NOCAP_OK;
    }
    record(e, run.found);
    if (poll != NULL && poll->index != poll->last) {
        note_answer(e, poll);
        r->polls++;
        return NOCAP_OK;
    }
    return is_clock(e) ? NOCAP_OK : compare(e, poll);
}

/* Memory as a trace that begins later tells it. */
static enum nocap_status put_memory(const struct nocap_event *e)
{
    if (run.cold || e->data_size == 0 || e->data_size > NOCAP_PAYLOAD_MAX) {
        return NOCAP_OK;
    }
    struct nocap_event store = *e;
    store.size = e->data_size;
    memcpy(run.bytes, e->data, e->data_size);
    return access(&store, run.bytes, true);
}

static enum nocap_status take(const struct nocap_event *e)
{
    bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    if (e->kind == NOCAP_EV_MEM) {
        return put_memory(e);
    }
    if (access && e->by == NOCAP_BY_HOST && e->space != NOCAP_SPACE_AIE) {
        return host_access(e);
    }
    /* What the device is about to read was there. */
    if (e->kind == NOCAP_EV_READ && e->by == NOCAP_BY_DMA && e->space == NOCAP_SPACE_SYSMEM &&
        e->size <= NOCAP_PAYLOAD_MAX && drive_bytes(run.payloads, e, run.bytes)) {
        return drive_memory_expect(e->addr, run.bytes, e->size, run.err);
    }
    return NOCAP_OK;
}

static enum nocap_status take_all(struct nocap_reader *reader)
{
    const struct nocap_event *events;
    size_t count;
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, run.err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            if (nocap_header_event_problem(nocap_reader_header(reader), &events[i]) != NULL) {
                continue;
            }
            RETURN_IF_FAILED(take(&events[i]));
            if (run.result->outcome != NOCAP_DRIVE_AGREES) {
                return NOCAP_OK;
            }
        }
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

/* ---- begin and end ---- */

static enum nocap_status load(void)
{
    char path[PATH_MAX]; /* dlopen takes a name without a folder for one of the loader's */
    RETURN_ERROR_IF(realpath(run.options->library, path) == NULL, run.err, NOCAP_E_INPUT,
                    "cannot read the simulator %s: %s", run.options->library, strerror(errno));
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    RETURN_ERROR_IF(handle == NULL, run.err, NOCAP_E_INPUT, "cannot load the simulator: %s",
                    dlerror());
    const char *why = ttsim_resolve(&run.sim, handle);
    RETURN_ERROR_IF(why != NULL, run.err, NOCAP_E_INPUT, "%s: %s", path, why);
    return NOCAP_OK;
}

static enum nocap_status begin(const struct nocap_header *header)
{
    char why[128];
    enum nocap_arch arch;
    if (run.sim.set_pci_dma_mem_callbacks != NULL) {
        run.sim.set_pci_dma_mem_callbacks(dma_read, dma_write);
    }
    run.sim.init();
    run.begun = true;
    RETURN_ERROR_IF(!ttsim_arch(&run.sim, &arch, why, sizeof why), run.err, NOCAP_E_INPUT, "%s: %s",
                    run.options->library, why);
    RETURN_ERROR_IF(arch != header->arch, run.err, NOCAP_E_INPUT,
                    "the trace is of a machine '%s', and %s simulates '%s'",
                    nocap_arch_name(header->arch), run.options->library, nocap_arch_name(arch));
    ttsim_find_chips(&run.sim, &run.board, arch);
    run.cold = header->complete == NOCAP_TRUE;
    if (run.options->record == NULL) {
        return NOCAP_OK;
    }
    return drive_recording_open(&run.capture, run.options->record, header, run.err);
}

void drive_run(struct nocap_reader *reader, struct drive_plan *plan,
               const struct drive_payloads *payloads, const struct nocap_drive_options *options,
               struct drive_shared *shared)
{
    run.plan = plan;
    run.payloads = payloads;
    run.options = options;
    run.result = &shared->result;
    run.err = &shared->err;
    run.answered = UINT64_MAX;
    run.bytes = malloc(NOCAP_PAYLOAD_MAX);
    run.found = malloc(NOCAP_PAYLOAD_MAX);
    enum nocap_status status = run.bytes != NULL && run.found != NULL
                                   ? load()
                                   : nocap_fail(run.err, NOCAP_E_MEMORY, "out of memory");
    if (status == NOCAP_OK) {
        status = begin(nocap_reader_header(reader));
    }
    if (status == NOCAP_OK) {
        status = take_all(reader);
    }
    if (run.capture != NULL) {
        struct nocap_error err;
        enum nocap_status closed = nocap_recorder_close(run.capture, NULL, &err);
        if (status == NOCAP_OK && closed != NOCAP_OK) {
            status = closed;
            *run.err = err;
        }
    }
    free(run.bytes);
    free(run.found);
    shared->status = status;
}

void drive_end(void)
{
    if (run.begun && run.sim.exit != NULL) {
        run.sim.exit();
    }
}
