/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/aie/machine.h"

void run_emit(struct machine *r, struct nocap_event *event)
{
    uint64_t most = r->options->events_max == 0 ? NOCAP_AIE_RUN_EVENTS : r->options->events_max;
    if (r->k.status != NOCAP_OK || r->result->cut) {
        return;
    }
    r->k.now += 1 + run_below(r, RUN_PAUSE);
    event->t = r->k.now;
    sim_emit(&r->k, event);
    r->result->cut = ++r->result->events >= most;
}

static struct nocap_event of(const struct run_uc *uc, enum nocap_op op, uint32_t off,
                             const struct run_job *job)
{
    struct nocap_event e = {.kind = NOCAP_EV_CERT, .op = (uint8_t)op, .uc = uc->index};
    e.page = run_top(uc)->page->index;
    e.has = NOCAP_F_UC | NOCAP_F_PAGE;
    if (off != 0) {
        e.off = off;
        e.has |= NOCAP_F_OFF;
    }
    if (job != NULL) {
        e.job = job->id;
        e.has |= NOCAP_F_JOB;
    }
    return e;
}

void run_event(struct machine *r, const struct run_uc *uc, enum nocap_op op, uint32_t off,
               const struct run_job *job)
{
    struct nocap_event e = of(uc, op, off, job);
    run_emit(r, &e);
}

void run_start(struct machine *r, const struct run_uc *uc, const struct run_job *job,
               const uint8_t *bytes, uint32_t size)
{
    struct nocap_event e = of(uc, NOCAP_OP_START, job->pc, job);
    e.data = bytes;
    e.data_size = size;
    e.has |= NOCAP_F_INSN;
    run_emit(r, &e);
}

void run_block(struct machine *r, const struct run_uc *uc, struct run_job *job, enum nocap_why why)
{
    struct nocap_event e = of(uc, NOCAP_OP_BLOCK, job->pc, job);
    e.why = (uint8_t)why;
    e.has |= NOCAP_F_WHY;
    job->state = RUN_BLOCKED;
    job->why = (uint8_t)why;
    run_emit(r, &e);
}

void run_end_handle(struct machine *r, const struct run_uc *uc, const struct run_job *job,
                    uint32_t handle)
{
    struct nocap_event e = of(uc, NOCAP_OP_END, job->pc, job);
    e.handle = handle;
    e.has |= NOCAP_F_HANDLE;
    run_emit(r, &e);
}
