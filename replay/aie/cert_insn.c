/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does with each instruction, and registers: 8 of each job, 16 that the jobs of a
 * uC share. What they hold at first is not known. Source: control code instruction set, operations.
 */
#include <string.h>

#include "replay/aie/cert_private.h"

#define WHY(name)      (1u << NOCAP_WHY_##name)
#define AT(INSN, name) (NOCAP_AIE_##INSN##_##name + 1)

/* Of instructions that do not wait and are not named here the instruction set does not say whether
 * they give up the uC. */
static const struct cert_insn insns[NOCAP_AIE_OPCODES] = {
    [NOCAP_AIE_UC_DMA_WRITE_DES] = {.why = WHY(QUEUE), .writes = AT(UC_DMA_WRITE_DES, wait_handle)},
    [NOCAP_AIE_UC_DMA_WRITE_DES_SYNC] = {.why = WHY(QUEUE) | WHY(DMA)},
    [NOCAP_AIE_WAIT_UC_DMA] = {.why = WHY(DMA), .reads = AT(WAIT_UC_DMA, wait_handle)},
    [NOCAP_AIE_WAIT_TCTS] = {.why = WHY(TCT)},
    [NOCAP_AIE_LOCAL_BARRIER] = {.why = WHY(LOCAL)},
    [NOCAP_AIE_REMOTE_BARRIER] = {.why = WHY(REMOTE)},
    [NOCAP_AIE_POLL_32] = {.why = WHY(POLL)},
    [NOCAP_AIE_MASK_POLL_32] = {.why = WHY(POLL)},
    [NOCAP_AIE_REL_ACQ_SYNC] = {.why = WHY(POLL), .opaque = true},
    [NOCAP_AIE_UC_DMA_MASK_POLL_EXT] = {.why = WHY(POLL), .opaque = true},
    [NOCAP_AIE_LOAD_CORES] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_CORES_CP] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_PDI] = {.opaque = true, .calls = true},
    [NOCAP_AIE_LOAD_LAST_PDI] = {.opaque = true, .calls = true},
    [NOCAP_AIE_PREEMPT] = {.opaque = true, .calls = true},
    [NOCAP_AIE_WRITE_32] = {.keeps_uc = true,
                            .stores = true,
                            .addr = AT(WRITE_32, address),
                            .value = AT(WRITE_32, value)},
    [NOCAP_AIE_WRITE_32_D] = {.keeps_uc = true,
                              .stores = true,
                              .addr = AT(WRITE_32_D, address),
                              .value = AT(WRITE_32_D, value),
                              .flags = true},
    [NOCAP_AIE_MASK_WRITE_32] = {.keeps_uc = true,
                                 .loads = true,
                                 .stores = true,
                                 .addr = AT(MASK_WRITE_32, address)},
    [NOCAP_AIE_READ_32] = {.keeps_uc = true,
                           .loads = true,
                           .addr = AT(READ_32, address),
                           .writes = AT(READ_32, value)},
    [NOCAP_AIE_SAVE_REGISTER] = {.loads = true, .addr = AT(SAVE_REGISTER, address)},
    [NOCAP_AIE_READ_32_D] = {.keeps_uc = true,
                             .loads = true,
                             .reads = AT(READ_32_D, address),
                             .writes = AT(READ_32_D, value)},
    [NOCAP_AIE_ADD] = {.keeps_uc = true, .writes = AT(ADD, dest)},
    [NOCAP_AIE_MOV] = {.keeps_uc = true, .writes = AT(MOV, dest)},
    [NOCAP_AIE_LAUNCH_JOB] = {.keeps_uc = true},
    [NOCAP_AIE_SLEEP] = {.keeps_uc = true},
};

const struct cert_insn *cert_insn(const struct cert_step *step)
{
    static const struct cert_insn unknown = {.opaque = true};
    return step->info == NULL ? &unknown : &insns[step->info->opcode];
}

/* ---- registers ---- */

struct value *cert_register(struct cert_uc *uc, struct cert_job *job, uint32_t number)
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
    const struct cert_insn *insn = cert_insn(step);
    uint32_t constant = insn->flags ? CERT_V(step, WRITE_32_D, flags) : UINT32_MAX;
    if (insn->reads != 0) {
        judge_read(m, at, step->value[insn->reads - 1]);
    }
    if ((constant & NOCAP_AIE_ADDRESS_IS_CONST) == 0) {
        judge_read(m, at, step->value[insn->addr - 1]);
    }
    if ((constant & NOCAP_AIE_VALUE_IS_CONST) == 0) {
        judge_read(m, at, step->value[insn->value - 1]);
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
    struct value *reg = cert_register(at->uc, at->job, number);
    if (step->info == NULL) { /* whatever it was may have written any of them */
        cert_registers_forget(at->uc, at->job);
    } else if (reg != NULL) {
        *reg = result_of(at->uc, step, reg);
        reg->since = either(step->since, reg->since);
    }
    if (reg != NULL && number >= NOCAP_AIE_GLOBAL_FIRST) {
        at->uc->writers[number - NOCAP_AIE_GLOBAL_FIRST] = (struct cert_writer){
            .known = true, .page = at->page->index, .job = at->job->id, .at = cert_now(m, at->uc)};
    }
}
