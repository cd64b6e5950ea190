/* SPDX-License-Identifier: Apache-2.0 */
/* Events, one function a kind. A single struct is used again for each, so that none costs an
 * allocation. */
#include <string.h>

#include "capture/sim/machine.h"

struct nocap_event *sim_event(struct sim *m, enum nocap_kind kind, struct nocap_xy at)
{
    struct nocap_event *e = &m->event;
    memset(e, 0, sizeof *e);
    e->t = m->now;
    e->kind = (uint8_t)kind;
    e->at = at;
    e->has = NOCAP_F_AT;
    return e;
}

void sim_emit(struct sim *m)
{
    if (m->status == NOCAP_OK) {
        m->status = m->sink(m->context, &m->event, m->err);
    }
}

static void emit_access(struct sim *m, const struct sim_core *c, enum nocap_kind kind,
                        uint64_t addr, uint32_t size, uint64_t value, uint32_t pc)
{
    struct nocap_event *e = sim_event(m, kind, c->tile->at);
    e->by = c->agent;
    e->addr = addr;
    e->size = size;
    e->value = value;
    e->pc = pc;
    e->has |= NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE | NOCAP_F_PC;
    sim_emit(m);
}

void sim_emit_write(struct sim *m, const struct sim_core *c, uint64_t addr, uint32_t size,
                    uint64_t value, uint32_t pc)
{
    emit_access(m, c, NOCAP_EV_WRITE, addr, size, value, pc);
}

void sim_emit_read(struct sim *m, const struct sim_core *c, uint64_t addr, uint32_t size,
                   uint64_t value, uint32_t pc)
{
    emit_access(m, c, NOCAP_EV_READ, addr, size, value, pc);
}

void sim_emit_kernel(struct sim *m, const struct sim_core *c, enum nocap_op op, uint32_t pc)
{
    struct nocap_event *e = sim_event(m, NOCAP_EV_KERNEL, c->tile->at);
    e->op = (uint8_t)op;
    e->by = c->agent;
    e->pc = pc;
    e->has |= NOCAP_F_BY | NOCAP_F_PC;
    if (op == NOCAP_OP_EXIT) {
        e->has |= NOCAP_F_EXIT_RET;
    }
    sim_emit(m);
}

void sim_emit_reset(struct sim *m, const struct sim_core *c, enum nocap_op op)
{
    struct nocap_event *e = sim_event(m, NOCAP_EV_RESET, c->tile->at);
    e->op = (uint8_t)op;
    e->by = c->agent;
    e->has |= NOCAP_F_BY;
    sim_emit(m);
}

static struct nocap_event *tensix_event(struct sim *m, struct nocap_xy at, enum nocap_op op,
                                        unsigned thread, uint32_t word)
{
    struct nocap_event *e = sim_event(m, NOCAP_EV_TENSIX, at);
    e->op = (uint8_t)op;
    e->thread = (uint8_t)thread;
    e->value = word;
    e->has |= NOCAP_F_THREAD | NOCAP_F_WORD;
    return e;
}

void sim_emit_push(struct sim *m, const struct sim_core *c, unsigned thread, uint32_t word)
{
    struct nocap_event *e = tensix_event(m, c->tile->at, NOCAP_OP_PUSH, thread, word);
    e->by = c->agent;
    e->has |= NOCAP_F_BY;
    sim_emit(m);
}

void sim_emit_issue(struct sim *m, const struct sim_tile *t, unsigned thread, uint32_t word)
{
    struct nocap_event *e = tensix_event(m, t->at, NOCAP_OP_ISSUE, thread, word);
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        e->sem |= (uint64_t)t->tensix.value[i] << 8 * i;
    }
    e->has |= NOCAP_F_SEM;
    sim_emit(m);
}

void sim_emit_stall(struct sim *m, const struct sim_tile *t, unsigned thread, uint32_t word)
{
    tensix_event(m, t->at, NOCAP_OP_STALL, thread, word);
    sim_emit(m);
}
