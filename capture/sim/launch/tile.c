/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's memory and registers: what a write does, whoever made it. */
#include <string.h>

#include "capture/sim/launch/firmware.h"
#include "formats/blackhole/niu.h"

uint32_t sim_load(const struct sim_tile *t, uint32_t addr, uint32_t size)
{
    uint32_t value = 0;
    memcpy(&value, t->l1 + addr, size);
    return value;
}

uint32_t sim_launch_field(const struct sim *m, const struct sim_tile *t, unsigned slot,
                          enum nocap_launch_field field, unsigned element)
{
    const struct nocap_launch_place *place = &m->layout->fields[field];
    return sim_load(t, nocap_launch_slot(m->layout, slot) + place->offset + element * place->stride,
                    place->width);
}

struct sim_tile *sim_tile_at(struct sim *m, struct nocap_xy at)
{
    if (at.x >= NOCAP_GRID_WIDTH || at.y >= NOCAP_GRID_HEIGHT) {
        return NULL;
    }
    uint8_t number = m->tile_at[at.x][at.y];
    return number == 0 ? NULL : &m->tile[number - 1];
}

/* Which polls a write to low L1 can end. */
static uint8_t watched_by(uint32_t addr, uint32_t size)
{
    uint32_t end = addr + size;
    uint8_t what = end > NOCAP_RD_PTR ? SIM_WATCH_GO : 0;
    for (uint32_t i = 0; i < NOCAP_SYNC_BYTES; i++) {
        if (addr <= NOCAP_SYNC + i && end > NOCAP_SYNC + i) {
            what |= (uint8_t)(1u << i);
        }
    }
    return what;
}

void sim_write_l1(struct sim *m, struct sim_tile *t, uint32_t addr, const uint8_t *data,
                  uint32_t size)
{
    if (addr < SIM_LOW_L1 && size <= SIM_LOW_L1 - addr) {
        memcpy(t->l1 + addr, data, size);
        sim_changed(m, t, watched_by(addr, size));
    }
}

/* Where a core starts when it leaves reset; 0: at no firmware. */
static uint32_t start_address(const struct sim_tile *t, unsigned processor)
{
    if (processor == NOCAP_PROCESSOR_BRISC) {
        uint32_t jal = sim_load(t, NOCAP_L1_BOOT_JAL, 4);
        return (jal & 0xFF000) | (jal >> 9 & 0x800) | (jal >> 20 & 0x7FE);
    }
    uint32_t mask;
    bool trisc = processor >= NOCAP_PROCESSOR_TRISC0;
    nocap_reset_pc_override(nocap_cores[processor].agent, &mask);
    return (trisc ? t->override_trisc : t->override_ncrisc) & mask ? t->reset_pc[processor] : 0;
}

static void release_core(struct sim *m, struct sim_tile *t, unsigned processor)
{
    static sim_routine *const boot[NOCAP_PROCESSOR_COUNT] = {
        [NOCAP_PROCESSOR_BRISC] = sim_brisc_boot,  [NOCAP_PROCESSOR_NCRISC] = sim_ncrisc_boot,
        [NOCAP_PROCESSOR_TRISC0] = sim_trisc_boot, [NOCAP_PROCESSOR_TRISC1] = sim_trisc_boot,
        [NOCAP_PROCESSOR_TRISC2] = sim_trisc_boot,
    };
    struct sim_core *c = &t->core[processor];
    sim_emit_reset(m, c, NOCAP_OP_RUN);
    c->line = 0;
    c->watch = 0;
    c->run = start_address(t, processor) == sim_text[processor] ? boot[processor] : NULL;
    if (c->run != NULL) {
        sim_sleep(m, c, 1);
    }
}

/* TRISCs first: the order in which the firmware's release shows. */
static void write_soft_reset(struct sim *m, struct sim_tile *t, uint32_t value)
{
    static const uint8_t order[] = {NOCAP_PROCESSOR_BRISC, NOCAP_PROCESSOR_TRISC0,
                                    NOCAP_PROCESSOR_TRISC1, NOCAP_PROCESSOR_TRISC2,
                                    NOCAP_PROCESSOR_NCRISC};
    uint32_t changed = t->soft_reset ^ value;
    t->soft_reset = value;
    for (unsigned i = 0; i < sizeof order; i++) {
        struct sim_core *c = &t->core[order[i]];
        uint32_t mask = nocap_cores[order[i]].reset_mask;
        if ((changed & mask) == 0) {
            continue;
        }
        if ((value & mask) != 0) {
            sim_emit_reset(m, c, NOCAP_OP_HALT);
            c->run = NULL;
            c->watch = 0;
        } else {
            release_core(m, t, order[i]);
        }
    }
}

static void write_niu(struct sim *m, struct sim_tile *t, unsigned noc, uint32_t offset,
                      uint32_t value)
{
    unsigned buffer = offset / NOCAP_NIU_BUFFER_STRIDE;
    unsigned word = offset % NOCAP_NIU_BUFFER_STRIDE / 4;
    if (offset == NOCAP_NIU_NIU_CFG_0) {
        t->niu_config[noc] = value;
    } else if (offset == NOCAP_NIU_ROUTER_CFG_0) {
        t->router_config[noc] = value;
    } else if (buffer < NOCAP_NIU_BUFFERS && word < SIM_BUFFER_WORDS) {
        t->niu[noc][buffer][word] = value;
        if (word == NOCAP_NIU_CMD_CTRL / 4 && value == 1) {
            sim_noc_send(m, t, noc, buffer);
        }
    }
}

/* Circular buffer counters; those of buffers that no kernel uses are not kept. */
static void write_stream(struct sim *m, struct sim_tile *t, uint32_t offset, uint32_t value)
{
    unsigned stream = offset / NOCAP_STREAM_STRIDE;
    unsigned index = offset % NOCAP_STREAM_STRIDE / 4;
    unsigned buffer;
    if (stream == NOCAP_NOTIFY_STREAM && index == NOCAP_STREAM_SPACE_UPDATE) {
        t->notified++;
        return;
    } else if (stream == NOCAP_CB_STREAM + SIM_IN_CB) {
        buffer = SIM_BUFFER_IN;
    } else if (stream == NOCAP_CB_STREAM + SIM_OUT_CB) {
        buffer = SIM_BUFFER_OUT;
    } else {
        return;
    }
    if (index == NOCAP_STREAM_TILES_RECEIVED) {
        t->received[buffer] = value;
    } else if (index == NOCAP_STREAM_TILES_ACKED) {
        t->acked[buffer] = value;
    }
    sim_changed(m, t, SIM_WATCH_COUNTERS);
}

/* The word that a register keeps; NULL: it is never read back. */
static uint32_t *plain_register(struct sim_tile *t, uint32_t addr)
{
    switch (addr) {
    case NOCAP_REG_NCRISC_RESET_PC: return &t->reset_pc[NOCAP_PROCESSOR_NCRISC];
    case NOCAP_REG_TRISC0_RESET_PC: return &t->reset_pc[NOCAP_PROCESSOR_TRISC0];
    case NOCAP_REG_TRISC1_RESET_PC: return &t->reset_pc[NOCAP_PROCESSOR_TRISC1];
    case NOCAP_REG_TRISC2_RESET_PC: return &t->reset_pc[NOCAP_PROCESSOR_TRISC2];
    case NOCAP_REG_TRISC_RESET_PC_OVERRIDE: return &t->override_trisc;
    case NOCAP_REG_NCRISC_RESET_PC_OVERRIDE: return &t->override_ncrisc;
    case NOCAP_REG_ECC_SCRUBBER: return &t->scrubber;
    default: return NULL;
    }
}

void sim_write_register(struct sim *m, struct sim_tile *t, uint32_t addr, uint32_t value)
{
    if (addr >= NOCAP_BASE_STREAM && addr <= NOCAP_LAST_STREAM) {
        write_stream(m, t, addr - NOCAP_BASE_STREAM, value);
    } else if (addr >= NOCAP_BASE_NIU0 && addr <= NOCAP_LAST_NIU1) {
        unsigned noc = addr >= NOCAP_BASE_NIU1;
        write_niu(m, t, noc, addr - nocap_niu_base(noc), value);
    } else if (addr == NOCAP_REG_SOFT_RESET_0) {
        write_soft_reset(m, t, value);
    } else {
        uint32_t *word = plain_register(t, addr);
        if (word != NULL) {
            *word = value;
        }
    }
}

static uint32_t read_register(struct sim_tile *t, uint32_t addr)
{
    if (addr >= NOCAP_BASE_NIU0 && addr <= NOCAP_LAST_NIU1) {
        unsigned noc = addr >= NOCAP_BASE_NIU1;
        return addr - nocap_niu_base(noc) == NOCAP_NIU_NIU_CFG_0 ? t->niu_config[noc]
                                                                 : t->router_config[noc];
    }
    const uint32_t *word = plain_register(t, addr);
    return word == NULL ? 0 : *word;
}

/* A store to an instruction FIFO: BRISC reaches all three, a TRISC its own at the first window and
 * none at the others, where it hangs; NCRISC none. */
static void store_fifo(struct sim *m, struct sim_core *c, uint32_t addr, uint32_t word)
{
    unsigned window =
        (addr - NOCAP_BASE_INSTRN_FIFO0) / (NOCAP_BASE_INSTRN_FIFO1 - NOCAP_BASE_INSTRN_FIFO0);
    int thread = nocap_cores[c->agent - NOCAP_BY_BRISC].thread;
    if (c->agent == NOCAP_BY_BRISC) {
        sim_push(m, c, window, word);
    } else if (thread >= 0 && window == 0) {
        sim_push(m, c, (unsigned)thread, word);
    } else if (thread >= 0) {
        c->run = NULL;
    }
}

void sim_store(struct sim *m, struct sim_core *c, uint32_t addr, uint32_t size, uint32_t value,
               uint32_t pc)
{
    struct sim_tile *t = c->tile;
    sim_emit_access(m, c, NOCAP_EV_WRITE, addr, size, value, pc);
    if (addr < NOCAP_L1_SIZE) {
        sim_write_l1(m, t, addr, (const uint8_t *)&value, size);
    } else if (addr >= NOCAP_BASE_INSTRN_FIFO0 && addr <= NOCAP_LAST_INSTRN_FIFO2) {
        store_fifo(m, c, addr, value);
    } else if (size == 4) {
        sim_write_register(m, t, addr, value);
    }
}

void sim_step(struct sim *m, struct sim_tile *t, struct sim_core *c, const struct sim_step *step)
{
    uint32_t value = step->value;
    struct nocap_go_word go =
        nocap_go_decode(sim_load(t, nocap_go_word_address(m->layout, t->brisc.go_index), 4));
    switch ((enum sim_step_kind)step->kind) {
    case SIM_STEP_STORE:
        if (step->addr == NOCAP_REG_TRISC1_RESET_PC &&
            sim_fault_due(m, t, NOCAP_SIM_FAULT_RESET_PC_WRONG)) {
            value += 0x400;
        }
        break;
    case SIM_STEP_SET_BITS: value |= read_register(t, step->addr); break;
    case SIM_STEP_OWN_XY: value = nocap_niu_hi(t->at); break;
    case SIM_STEP_STREAM:
        go.offset += sim_fault_due(m, t, NOCAP_SIM_FAULT_NOTIFY_WRONG_STREAM);
        value = nocap_notify_address(go.offset);
        break;
    case SIM_STEP_MASTER: value = nocap_niu_hi((struct nocap_xy){go.master_x, go.master_y}); break;
    }
    if (step->left_out_by == NOCAP_SIM_FAULT_NONE || !sim_fault_due(m, t, step->left_out_by)) {
        sim_store(m, c, step->addr, 4, value, step->pc);
    }
}
