/* SPDX-License-Identifier: Apache-2.0 */
/* What a faulty host writes where it must not. */
#include "capture/sim/launch/host.h"

#include <string.h>

bool sim_host_fault_pending(const struct sim *m, enum nocap_sim_fault fault)
{
    return sim_fault_planned(&m->k, fault) && m->host.tile == m->fault_tile &&
           m->host.launch == m->fault_launch;
}

bool sim_host_fault_due(struct sim *m, enum nocap_sim_fault fault)
{
    return sim_strike(&m->k, fault, sim_host_fault_pending(m, fault));
}

bool sim_host_pauses(const struct sim *m)
{
    const struct sim_host *h = &m->host;
    return m->k.fault != NOCAP_SIM_FAULT_NONE && h->tile == m->fault_tile &&
           (h->launch == m->fault_launch || h->launch == m->fault_launch + 1);
}

bool sim_host_pauses_after(const struct sim *m)
{
    return m->k.fault != NOCAP_SIM_FAULT_NONE && m->host.launch == m->fault_launch + 1;
}

static uint32_t go_word_address(const struct sim *m, unsigned index)
{
    return nocap_go_word_address(m->layout, index);
}

void sim_host_inject(struct sim *m)
{
    enum { PAST_END = 32 };
    const uint32_t go = nocap_go_encode((struct nocap_go_word){.signal = NOCAP_GO_GO});
    const uint32_t unknown = nocap_go_encode((struct nocap_go_word){.signal = SIM_UNKNOWN_SIGNAL});
    uint8_t bytes[2 * PAST_END];
    memset(bytes, 0, sizeof bytes);
    const struct {
        enum nocap_sim_fault fault;
        uint32_t addr;
        struct sim_content content;
    } strays[] = {
        {NOCAP_SIM_FAULT_TEXT_OVERWRITTEN, SIM_TEXT_BRISC + 0x100, SIM_WORD(0x00000013)},
        {NOCAP_SIM_FAULT_HOST_WRITES_SYNC, NOCAP_SYNC, SIM_WORD(NOCAP_SYNC_ALL_DONE)},
        {NOCAP_SIM_FAULT_MAP_PAST_END, NOCAP_L1_SIZE - PAST_END,
         (struct sim_content){.size = sizeof bytes, .data = bytes}},
        {NOCAP_SIM_FAULT_HOST_LDM, NOCAP_BASE_LDM + 0x100, SIM_WORD(0)},
        {NOCAP_SIM_FAULT_HOST_MAILBOX, NOCAP_BASE_HW_MAILBOX1, SIM_WORD(0)},
        {NOCAP_SIM_FAULT_BAD_SIGNAL, go_word_address(m, 0), SIM_WORD(unknown)},
        {NOCAP_SIM_FAULT_WRONG_GO_INDEX, go_word_address(m, 1), SIM_WORD(go)},
    };
    const uint8_t via = m->host.via;
    m->host.via = SIM_VIA_HOST;
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++) {
        if (sim_host_fault_due(m, strays[i].fault)) {
            sim_deliver(m, strays[i].addr, strays[i].content);
        }
    }
    m->host.via = via;
}

bool sim_host_injects_busy(const struct sim *m)
{
    return sim_host_fault_pending(m, NOCAP_SIM_FAULT_GO_WHILE_BUSY) ||
           sim_host_fault_pending(m, NOCAP_SIM_FAULT_MESSAGE_CHANGED_WHILE_BUSY);
}

void sim_host_inject_busy(struct sim *m, unsigned slot)
{
    if (sim_host_fault_due(m, NOCAP_SIM_FAULT_GO_WHILE_BUSY)) {
        sim_deliver_signal(m, NOCAP_GO_GO);
    }
    if (sim_host_fault_due(m, NOCAP_SIM_FAULT_MESSAGE_CHANGED_WHILE_BUSY)) {
        uint32_t place = m->layout->fields[NOCAP_LAUNCH_host_assigned_id].offset;
        sim_deliver(m, nocap_launch_slot(m->layout, slot) + place, SIM_WORD(UINT32_MAX));
    }
}
