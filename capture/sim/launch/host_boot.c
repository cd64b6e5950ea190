/* SPDX-License-Identifier: Apache-2.0 */
/* The host program from power-on to a ready board, and its end. */
#include "capture/sim/launch/host.h"

static sim_routine upload_rectangle, upload_start, upload_tables, wait_ready, boot_strays;

static uint32_t jal_to(uint32_t target)
{
    return (target & 0xFF000) | (target & 0x800) << 9 | (target & 0x7FE) << 20 | 0x6F;
}

/* A fault of the upload strikes in the first rectangle, which holds simulated tiles on every board.
 */
static bool upload_fault_due(struct sim *m, enum nocap_sim_fault fault)
{
    return sim_strike(&m->k, fault, true);
}

static const struct sim_rectangle *rectangle(const struct sim *m)
{
    return &m->rectangle[m->host.rectangle];
}

static void write_word(struct sim *m, uint32_t addr, uint32_t value)
{
    sim_host_write_all(m, rectangle(m), addr, SIM_WORD(value), NOCAP_MAP_UC);
}

static void aim_and_write_word(struct sim *m, uint32_t addr, uint32_t value)
{
    sim_host_aim_all(m, rectangle(m), addr, NOCAP_MAP_UC);
    write_word(m, addr, value);
}

static void upload_segment(struct sim *m)
{
    struct sim_host *h = &m->host;
    const struct sim_segment *segment = &sim_segments[h->step];
    struct sim_payload payload = sim_payload(segment->size, h->step);
    uint32_t addr = segment->addr;
    enum nocap_map map = NOCAP_MAP_UC;
    if (h->rectangle == 0 && m->k.fault == NOCAP_SIM_FAULT_WC_NOT_DRAINED) {
        m->k.struck = true;
        map = NOCAP_MAP_WC;
    }
    if (segment->data && upload_fault_due(m, NOCAP_SIM_FAULT_LOCAL_RAM_UPLOAD)) {
        addr = NOCAP_BASE_LDM;
    }
    sim_host_aim_all(m, rectangle(m), addr, map);
    sim_host_write_all(m, rectangle(m), addr,
                       (struct sim_content){.size = segment->size, .payload = &payload}, map);
}

void sim_host_upload(struct sim *m, struct sim_core *c)
{
    m->host.rectangle = 0;
    CO_GOTO(m, c, upload_rectangle);
}

/* All cores into reset, then the firmware. */
static void upload_rectangle(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    aim_and_write_word(m, NOCAP_REG_SOFT_RESET_0,
                       upload_fault_due(m, NOCAP_SIM_FAULT_RESET_NOT_HELD)
                           ? NOCAP_SOFT_RESET_ALL & ~(uint32_t)NOCAP_SOFT_RESET_NCRISC
                           : NOCAP_SOFT_RESET_ALL);
    for (h->step = 0; h->step < sim_segment_count; h->step++) {
        CO_CYCLES(m, c, sim_host_pace(m));
        upload_segment(m);
    }
    CO_CYCLES(m, c, sim_host_pace(m));
    CO_GOTO(m, c, upload_start);
    CO_END(c);
}

/* Where BRISC starts, what it finds in its go word, where the others start. */
static void upload_start(struct sim *m, struct sim_core *c)
{
    static const struct {
        uint32_t addr, value;
    } reset_pcs[] = {
        {NOCAP_REG_TRISC0_RESET_PC, SIM_TEXT_TRISC0},
        {NOCAP_REG_TRISC1_RESET_PC, SIM_TEXT_TRISC1},
        {NOCAP_REG_TRISC2_RESET_PC, SIM_TEXT_TRISC2},
        {NOCAP_REG_NCRISC_RESET_PC, SIM_TEXT_NCRISC},
    };
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    aim_and_write_word(m, NOCAP_L1_BOOT_JAL,
                       jal_to(upload_fault_due(m, NOCAP_SIM_FAULT_JAL_WRONG)
                                  ? SIM_TEXT_BRISC + 0x400
                                  : SIM_TEXT_BRISC));
    CO_CYCLES(m, c, sim_host_pace(m));
    aim_and_write_word(
        m, nocap_go_word_address(m->layout, 0),
        nocap_go_encode((struct nocap_go_word){
            .signal = upload_fault_due(m, NOCAP_SIM_FAULT_GO_NOT_INIT) ? SIM_UNKNOWN_SIGNAL
                                                                       : NOCAP_GO_INIT}));
    CO_CYCLES(m, c, sim_host_pace(m));
    sim_host_aim_all(m, rectangle(m), NOCAP_REG_TRISC0_RESET_PC, NOCAP_MAP_UC);
    for (h->step = 0; h->step < sizeof reset_pcs / sizeof reset_pcs[0]; h->step++) {
        write_word(m, reset_pcs[h->step].addr, reset_pcs[h->step].value);
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    h->rectangle++;
    CO_GOTO(m, c, h->rectangle < m->rectangles ? upload_rectangle : upload_tables);
    CO_END(c);
}

/* Bank tables to all, then the release of all. */
static void upload_tables(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (h->rectangle = 0; h->rectangle < m->rectangles; h->rectangle++) {
        if (!upload_fault_due(m, NOCAP_SIM_FAULT_NO_BANK_TABLE)) {
            struct sim_payload payload = sim_payload(SIM_BANK_TABLE_SIZE, SIM_BANK_TABLE);
            sim_host_aim_all(m, rectangle(m), SIM_BANK_TABLE, NOCAP_MAP_UC);
            sim_host_write_all(m, rectangle(m), SIM_BANK_TABLE,
                               (struct sim_content){.size = payload.size, .payload = &payload},
                               NOCAP_MAP_UC);
        }
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    for (h->rectangle = 0; h->rectangle < m->rectangles; h->rectangle++) {
        aim_and_write_word(m, NOCAP_REG_SOFT_RESET_0,
                           upload_fault_due(m, NOCAP_SIM_FAULT_SUBORDINATE_RELEASED)
                               ? NOCAP_SOFT_RESET_SUBORDINATES & ~(uint32_t)NOCAP_SOFT_RESET_TRISC0
                               : NOCAP_SOFT_RESET_SUBORDINATES);
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    CO_GOTO(m, c, wait_ready);
    CO_END(c);
}

/* Ready: boot DONE, and no byte of the sync word but TRISC0's request for register init. */
static bool is_ready(const struct sim_tile *t)
{
    return (sim_load(t, NOCAP_SYNC, NOCAP_SYNC_BYTES) & ~NOCAP_SYNC_REGISTER_INIT) ==
           NOCAP_SYNC_ALL_DONE;
}

static void wait_ready(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (h->tile = 0; h->tile < m->tiles; h->tile++) {
        do {
            CO_HOST_POLL(m, c, sim_go_signal_address(m, 0), 1, NOCAP_GO_DONE, SIM_HOST_BOOT_POLL);
            if (h->gave_up) {
                CO_GOTO(m, c, sim_host_finish);
            }
            sim_host_read(m, sim_host_tile(m), NOCAP_SYNC, NOCAP_SYNC_BYTES,
                          sim_load(sim_host_tile(m), NOCAP_SYNC, NOCAP_SYNC_BYTES), 1, 0);
            h->seen = is_ready(sim_host_tile(m));
            CO_CYCLES(m, c, h->seen ? sim_host_pace(m) : SIM_HOST_BOOT_POLL);
        } while (!h->seen);
    }
    h->tile = 0;
    CO_GOTO(m, c,
            m->options.scenario == NOCAP_SIM_BOOT          ? boot_strays
            : m->options.scenario == NOCAP_SIM_LAUNCH_HOST ? sim_host_launches
                                                           : sim_host_rounds);
    CO_END(c);
}

/* The boot scenario ends here; a faulty host still does its mischief. */
static void boot_strays(struct sim *m, struct sim_core *c)
{
    CO_BEGIN(c);
    m->host.tile = m->fault_tile;
    m->host.launch = m->fault_launch;
    CO_CYCLES(m, c, SIM_HOST_QUIET);
    sim_host_inject(m);
    CO_GOTO(m, c, sim_host_finish);
    CO_END(c);
}

/* A last look at every tile; one that it gave up on is the only one of interest. */
void sim_host_finish(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    if (!h->gave_up) {
        h->tile = 0;
        CO_CYCLES(m, c, SIM_HOST_QUIET);
    }
    for (; h->tile < m->tiles; h->tile++) {
        uint32_t go = nocap_go_word_address(m->layout, 0);
        const struct sim_tile *seen = sim_host_tile(m);
        sim_host_aim(m, seen->at, 0);
        sim_host_read(m, seen, go, 4, sim_load(seen, go, 4), 1, 0);
        sim_host_read(m, seen, NOCAP_SYNC, 4, sim_load(seen, NOCAP_SYNC, 4), 1, 0);
        sim_host_read(m, seen, NOCAP_RD_PTR, 4, sim_load(seen, NOCAP_RD_PTR, 4), 1, 0);
        if (h->gave_up) {
            break;
        }
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    m->finished = true;
    c->run = NULL;
    CO_END(c);
}
