/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a tile's cores and coprocessor, one function a kind. */
#include "capture/sim/launch/machine.h"

struct nocap_event *sim_tile_event(struct sim *m, enum nocap_kind kind, struct nocap_xy at)
{
    struct nocap_event *e = sim_event(&m->k, kind);
    sim_set_tile(e, at);
    return e;
}

void sim_emit_access(struct sim *m, const struct sim_core *c, enum nocap_kind kind, uint64_t addr,
                     uint32_t size, uint64_t value, uint32_t pc)
{
    struct nocap_event *e = sim_access(&m->k, kind, (enum nocap_agent)c->agent, addr, size);
    sim_set_tile(e, c->tile->at);
    sim_set_value(e, value);
    e->pc = pc;
    e->has |= NOCAP_F_PC;
    sim_emit(&m->k, e);
}

static struct nocap_event *core_event(struct sim *m, const struct sim_core *c, enum nocap_kind kind,
                                      enum nocap_op op)
{
    struct nocap_event *e = sim_tile_event(m, kind, c->tile->at);
    e->op = (uint8_t)op;
    e->by = c->agent;
    e->has |= NOCAP_F_BY;
    return e;
}

void sim_emit_kernel(struct sim *m, const struct sim_core *c, enum nocap_op op, uint32_t pc)
{
    struct nocap_event *e = core_event(m, c, NOCAP_EV_KERNEL, op);
    e->pc = pc;
    e->has |= NOCAP_F_PC | (op == NOCAP_OP_EXIT ? NOCAP_F_EXIT_RET : 0);
    sim_emit(&m->k, e);
}

void sim_emit_reset(struct sim *m, const struct sim_core *c, enum nocap_op op)
{
    sim_emit(&m->k, core_event(m, c, NOCAP_EV_RESET, op));
}

void sim_emit_word(struct sim *m, const struct sim_tile *t, enum nocap_op op, unsigned thread,
                   uint32_t word, const struct sim_core *by)
{
    struct nocap_event *e = sim_tile_event(m, NOCAP_EV_TENSIX, t->at);
    e->op = (uint8_t)op;
    e->thread = (uint8_t)thread;
    e->value = word;
    e->has |= NOCAP_F_THREAD | NOCAP_F_WORD;
    if (by != NULL) {
        e->by = by->agent;
        e->has |= NOCAP_F_BY;
    }
    if (op == NOCAP_OP_ISSUE) {
        for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
            e->sem |= (uint64_t)t->tensix.value[i] << 8 * i;
        }
        e->has |= NOCAP_F_SEM;
    }
    sim_emit(&m->k, e);
}
