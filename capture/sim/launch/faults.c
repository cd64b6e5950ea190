/* SPDX-License-Identifier: Apache-2.0 */
/* Where a fault strikes, and the table of forbidden accesses. */
#include "capture/sim/launch/program.h"

uint64_t sim_fault_launch(const struct sim *m, uint64_t first)
{
    return first + sim_mix(&m->k, 0, 1) % (m->options.launches - first);
}

void sim_plan_fault(struct sim *m)
{
    m->fault_tile = (uint32_t)(sim_mix(&m->k, 0, 0) % m->workers);
    m->fault_launch = sim_fault_launch(m, nocap_sim_faults[m->k.fault].first_launch);
}

bool sim_fault_pending(const struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault)
{
    return sim_fault_planned(&m->k, fault) && t == &m->tile[m->fault_tile] &&
           (t->brisc.begun == 0 || t->brisc.begun - 1 >= m->fault_launch);
}

bool sim_fault_due(struct sim *m, const struct sim_tile *t, enum nocap_sim_fault fault)
{
    return sim_strike(&m->k, fault, sim_fault_pending(m, t, fault));
}

/* Accesses that the address map forbids, each from a kernel of one core. */
static const struct stray {
    enum nocap_sim_fault fault;
    uint8_t agent;
    bool load;
    uint8_t size;
    uint32_t addr;
} strays[] = {
    {NOCAP_SIM_FAULT_MAP_GAP, NOCAP_BY_BRISC, false, 4, NOCAP_LAST_DEST_WINDOW + 1},
    {NOCAP_SIM_FAULT_TRISC_UPPER_LDM, NOCAP_BY_TRISC0, false, 4, NOCAP_BASE_LDM + 0x1000},
    {NOCAP_SIM_FAULT_TRISC_LDM_PADDING, NOCAP_BY_BRISC, false, 4, NOCAP_BASE_LDM_PADDING0},
    {NOCAP_SIM_FAULT_NCRISC_PUSHES, NOCAP_BY_NCRISC, false, 4, NOCAP_BASE_INSTRN_FIFO0},
    {NOCAP_SIM_FAULT_TRISC_PUSHES_T1, NOCAP_BY_TRISC0, false, 4, NOCAP_BASE_INSTRN_FIFO1},
    {NOCAP_SIM_FAULT_LOAD_FIFO, NOCAP_BY_BRISC, true, 4, NOCAP_BASE_INSTRN_FIFO0},
    {NOCAP_SIM_FAULT_STORE_DEST, NOCAP_BY_TRISC1, false, 4, NOCAP_BASE_DEST_WINDOW},
    {NOCAP_SIM_FAULT_NCRISC_TOUCHES_GPR, NOCAP_BY_NCRISC, false, 4, NOCAP_BASE_GPR},
    {NOCAP_SIM_FAULT_TRISC_OTHER_GPR, NOCAP_BY_TRISC0, false, 4,
     NOCAP_BASE_GPR + NOCAP_GPR_THREAD_SIZE},
    {NOCAP_SIM_FAULT_REG_2_BYTES, NOCAP_BY_BRISC, false, 2, NOCAP_REG_CLK_GATE_HYST},
    {NOCAP_SIM_FAULT_RESERVED_PAGE, NOCAP_BY_BRISC, false, 4, NOCAP_BASE_RESERVED_10 + 0x10},
    {NOCAP_SIM_FAULT_BRISC_MOP, NOCAP_BY_BRISC, false, 4, NOCAP_BASE_MOP_CFG},
};

void sim_stray(struct sim *m, struct sim_tile *t, struct sim_core *c)
{
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++) {
        const struct stray *s = &strays[i];
        if (m->k.fault != s->fault || c->agent != s->agent || !sim_fault_due(m, t, s->fault)) {
            continue;
        }
        if (s->load) {
            sim_emit_access(m, c, NOCAP_EV_READ, s->addr, s->size, 0, c->text + 4);
        } else {
            sim_store(m, c, s->addr, s->size, 0, c->text + 4);
        }
    }
}
