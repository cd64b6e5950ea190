/* SPDX-License-Identifier: Apache-2.0 */
/* Registers: 8 of each job, 16 that the jobs of a uC share. What they hold at first is not known.
 */
#include <string.h>

#include "replay/aie/cert_private.h"

const struct value *cert_register(const struct cert_uc *uc, const struct cert_job *job,
                                  uint32_t number)
{
    return number < NOCAP_AIE_GLOBAL_FIRST ? &job->reg[number]
           : number < NOCAP_AIE_REGISTERS  ? &uc->reg[number - NOCAP_AIE_GLOBAL_FIRST]
                                           : NULL;
}

void cert_registers_forget(struct cert_uc *uc, struct cert_job *job)
{
    memset(job->reg, 0, sizeof job->reg);
    memset(uc->reg, 0, sizeof uc->reg);
    cert_writers_forget(uc);
}

/* ---- who wrote what ---- */

void cert_writers_forget(struct cert_uc *uc)
{
    memset(uc->writers, 0, sizeof uc->writers);
}

/* What another job of the page wrote must have come before by more than the way that the scheduler
 * took: since then this job was launched, or ended a wait for something. Which one it was is not
 * asked, so that whoever had any reason to go on is not reported. */
static void judge_read(struct model *m, const struct cert_at *at, uint32_t number)
{
    if (number < NOCAP_AIE_GLOBAL_FIRST || number >= NOCAP_AIE_REGISTERS) {
        return;
    }
    struct cert_writer *w = &at->uc->writers[number - NOCAP_AIE_GLOBAL_FIRST];
    bool ordered = at->job->ordered > w->at.index;
    if (!w->known || !at->page->whole || w->page != at->page->index || w->job == at->job->id) {
        return;
    }
    CERT_EXPECT_AFTER(m, at->uc, AIE_026, either(at->job->step.since, w->since), ordered,
                      RELATED(w->at.index),
                      "a barrier, a launch or another wait between the two jobs",
                      CERT_PLACE " reads $g%u, which job %u wrote; only the scheduler put it first",
                      CERT_AT(at, &at->job->step), number - NOCAP_AIE_GLOBAL_FIRST, w->job);
    w->since = ordered ? w->since : m->fault;
}

void cert_registers_read(struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    uint8_t reads = cert_insn(step)->reads;
    if (cert_is(step, NOCAP_AIE_WRITE_32_D)) {
        uint32_t flags = CERT_V(step, WRITE_32_D, flags);
        if ((flags & NOCAP_AIE_ADDRESS_IS_CONST) == 0) {
            judge_read(m, at, CERT_V(step, WRITE_32_D, address));
        }
        if ((flags & NOCAP_AIE_VALUE_IS_CONST) == 0) {
            judge_read(m, at, CERT_V(step, WRITE_32_D, value));
        }
    } else if (reads != 0) {
        judge_read(m, at, step->value[reads - 1]);
    }
}

/* ---- values ---- */

/* What the instruction has made of the register that it writes. */
static struct value result_of(struct cert_uc *uc, const struct cert_step *step,
                              const struct value *old)
{
    const struct cert_chain *chain = cert_chain(uc, step->chain);
    switch (step->info->opcode) {
    case NOCAP_AIE_MOV: return (struct value){.known = true, .v = CERT_V(step, MOV, value)};
    case NOCAP_AIE_ADD:
        return (struct value){old->known, old->since, old->v + CERT_V(step, ADD, value)};
    case NOCAP_AIE_UC_DMA_WRITE_DES:
        return chain == NULL ? (struct value){0}
                             : (struct value){.known = chain->has_handle, .v = chain->handle};
    default: return step->result;
    }
}

void cert_registers_take(struct model *m, const struct cert_at *at)
{
    const struct cert_step *step = &at->job->step;
    uint8_t writes = cert_insn(step)->writes;
    uint32_t number = writes == 0 ? NOCAP_AIE_REGISTERS : step->value[writes - 1];
    if (step->info == NULL) { /* whatever it was may have written any of them */
        cert_registers_forget(at->uc, at->job);
        return;
    }
    if (number >= NOCAP_AIE_REGISTERS) {
        return;
    }
    bool shared = number >= NOCAP_AIE_GLOBAL_FIRST;
    struct value *reg =
        shared ? &at->uc->reg[number - NOCAP_AIE_GLOBAL_FIRST] : &at->job->reg[number];
    *reg = result_of(at->uc, step, reg);
    reg->since = either(step->since, reg->since);
    if (shared) {
        at->uc->writers[number - NOCAP_AIE_GLOBAL_FIRST] = (struct cert_writer){
            .known = true, .page = at->page->index, .job = at->job->id, .at = cert_now(m, at->uc)};
    }
}
