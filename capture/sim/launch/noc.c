/* SPDX-License-Identifier: Apache-2.0 */
/* A tile's network interface, as far as firmware uses it without kernels: posted inline writes,
 * which notify of a finished launch. The packet lands at once; nothing that a core could do lies
 * between. */
#include "capture/sim/launch/machine.h"
#include "formats/blackhole/niu.h"

struct nocap_event *sim_landing(struct sim *m, struct nocap_xy from, struct nocap_xy at,
                                uint32_t addr, uint32_t size)
{
    struct nocap_event *e = sim_access(&m->k, NOCAP_EV_WRITE, NOCAP_BY_NOC, addr, size);
    sim_set_tile(e, at);
    e->s = from;
    e->has |= NOCAP_F_FROM;
    return e;
}

static void land(struct sim *m, struct nocap_xy from, struct nocap_xy at, uint32_t addr,
                 uint32_t value)
{
    struct sim_tile *t = sim_tile_at(m, at);
    if (t == NULL) {
        return;
    }
    struct nocap_event *e = sim_landing(m, from, at, addr, 4);
    sim_set_value(e, value);
    sim_emit(&m->k, e);
    sim_write_register(m, t, addr, value);
}

void sim_noc_send(struct sim *m, struct sim_tile *t, unsigned noc, unsigned buffer)
{
    const uint32_t *reg = t->niu[noc][buffer];
    uint32_t ctrl = reg[NOCAP_NIU_CTRL / 4];
    struct nocap_event *e = sim_tile_event(m, NOCAP_EV_NOC, t->at);
    e->by = NOCAP_BY_BRISC;
    e->noc = (uint8_t)noc;
    e->buf = (uint8_t)buffer;
    e->op = (uint8_t)nocap_niu_op(ctrl);
    e->posted = (ctrl & NOCAP_CTRL_RESPONSE) == 0;
    e->d = nocap_niu_xy(reg[NOCAP_NIU_TARG_ADDR_HI / 4]);
    e->daddr = reg[NOCAP_NIU_TARG_ADDR_LO / 4] | (uint64_t)reg[NOCAP_NIU_TARG_ADDR_MID / 4] << 32;
    e->size = 4;
    e->value = reg[NOCAP_NIU_AT_DATA / 4];
    e->ctrl = ctrl;
    e->len_be = reg[NOCAP_NIU_AT_LEN_BE / 4];
    e->at_data = e->value;
    e->tag = reg[NOCAP_NIU_PACKET_TAG / 4];
    e->vc = (uint8_t)nocap_niu_vc(ctrl);
    e->has |= NOCAP_F_BY | NOCAP_F_NOC | NOCAP_F_BUF | NOCAP_F_POSTED | NOCAP_F_D | NOCAP_F_DADDR |
              NOCAP_F_SIZE | NOCAP_F_VALUE | NOCAP_F_CTRL | NOCAP_F_LEN_BE | NOCAP_F_AT_DATA |
              NOCAP_F_TAG | NOCAP_F_VC;
    sim_emit(&m->k, e);
    land(m, t->at, nocap_niu_xy(reg[NOCAP_NIU_TARG_ADDR_HI / 4]), reg[NOCAP_NIU_TARG_ADDR_LO / 4],
         reg[NOCAP_NIU_AT_DATA / 4]);
}
