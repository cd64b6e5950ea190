/* Registers: 8 of each job, 16 that the jobs of a uC share. What they hold at first is not known.
 */
#include <string.h>

#include "replay/cert_private.h"

bool cert_register(const struct cert_uc *uc, const struct cert_job *job, uint32_t number,
                   uint32_t *value)
{
    if (number < NOCAP_AIE_GLOBAL_FIRST) {
        *value = job->reg[number];
        return (job->known >> number & 1u) != 0;
    }
    if (number >= NOCAP_AIE_REGISTERS) {
        return false;
    }
    *value = uc->reg[number - NOCAP_AIE_GLOBAL_FIRST];
    return (uc->known >> number & 1u) != 0;
}

void cert_register_set(struct cert_uc *uc, struct cert_job *job, uint32_t number, uint32_t value,
                       bool known)
{
    if (number < NOCAP_AIE_GLOBAL_FIRST) {
        job->reg[number] = value;
        job->known = (uint8_t)((job->known & ~(1u << number)) | (unsigned)known << number);
    } else if (number < NOCAP_AIE_REGISTERS) {
        uc->reg[number - NOCAP_AIE_GLOBAL_FIRST] = value;
        uc->known = (uc->known & ~(1u << number)) | (uint32_t)known << number;
    }
}

/* ---- who wrote what ---- */

void cert_writers_forget(struct cert_uc *uc)
{
    memset(uc->writers, 0, sizeof uc->writers);
}

static struct cert_writer *writer_of(struct cert_uc *uc, uint32_t number)
{
    return number < NOCAP_AIE_GLOBAL_FIRST || number >= NOCAP_AIE_REGISTERS
               ? NULL
               : &uc->writers[number - NOCAP_AIE_GLOBAL_FIRST];
}

static void note_writer(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                        const struct cert_job *job, uint32_t number)
{
    struct cert_writer *w = writer_of(uc, number);
    if (w != NULL) {
        *w = (struct cert_writer){
            .known = true, .page = page->index, .job = job->id, .at = cert_now(m, uc)};
    }
}

/* What another job of the page wrote must have come before by more than the way that the scheduler
 * took: since then this job was launched, or ended a wait for something. Which one it was is not
 * asked, so that whoever had any reason to go on is not told. */
static void judge_read(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                       const struct cert_job *job, uint32_t number)
{
    struct cert_writer *w = writer_of(uc, number);
    if (w == NULL || !w->known || !page->whole || w->page != page->index || w->job == job->id) {
        return;
    }
    CERT_EXPECT(m, uc, AIE_026, job->ordered > w->at.index, RELATED(w->at.index),
                "a barrier, a launch or another wait between the two jobs",
                CERT_PLACE " reads $g%u, which job %u wrote; only the scheduler put it first",
                CERT_AT(page, job), number - NOCAP_AIE_GLOBAL_FIRST, w->job);
    w->known = false; /* once is enough */
}

void cert_registers_read(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                         const struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    if (step->info == NULL || step->doubtful) {
        return;
    }
    switch (step->info->opcode) {
    case NOCAP_AIE_WAIT_UC_DMA:
        judge_read(m, uc, page, job, CERT_V(step, WAIT_UC_DMA, wait_handle));
        break;
    case NOCAP_AIE_READ_32_D: judge_read(m, uc, page, job, CERT_V(step, READ_32_D, address)); break;
    case NOCAP_AIE_WRITE_32_D:
        if ((CERT_V(step, WRITE_32_D, flags) & NOCAP_AIE_ADDRESS_IS_CONST) == 0) {
            judge_read(m, uc, page, job, CERT_V(step, WRITE_32_D, address));
        }
        if ((CERT_V(step, WRITE_32_D, flags) & NOCAP_AIE_VALUE_IS_CONST) == 0) {
            judge_read(m, uc, page, job, CERT_V(step, WRITE_32_D, value));
        }
        break;
    default: break; /* sums of several ADD do not depend on their order */
    }
}

/* ---- values ---- */

/* The register that the instruction writes; NOCAP_AIE_REGISTERS: none. */
static uint32_t written(const struct cert_step *step)
{
    switch (step->info->opcode) {
    case NOCAP_AIE_MOV: return CERT_V(step, MOV, dest);
    case NOCAP_AIE_ADD: return CERT_V(step, ADD, dest);
    case NOCAP_AIE_READ_32: return CERT_V(step, READ_32, value);
    case NOCAP_AIE_READ_32_D: return CERT_V(step, READ_32_D, value);
    case NOCAP_AIE_UC_DMA_WRITE_DES: return CERT_V(step, UC_DMA_WRITE_DES, wait_handle);
    default: return NOCAP_AIE_REGISTERS;
    }
}

void cert_registers_take(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                         struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    const struct cert_chain *chain;
    uint32_t old = 0;
    bool sure = !step->doubtful;
    if (step->info == NULL) { /* whatever it was may have written any of them */
        job->known = 0;
        uc->known = 0;
        cert_writers_forget(uc);
        return;
    }
    note_writer(m, uc, page, job, written(step));
    switch (step->info->opcode) {
    case NOCAP_AIE_MOV:
        cert_register_set(uc, job, CERT_V(step, MOV, dest), CERT_V(step, MOV, value), sure);
        break;
    case NOCAP_AIE_ADD:
        sure &= cert_register(uc, job, CERT_V(step, ADD, dest), &old);
        cert_register_set(uc, job, CERT_V(step, ADD, dest), old + CERT_V(step, ADD, value), sure);
        break;
    case NOCAP_AIE_READ_32:
        cert_register_set(uc, job, CERT_V(step, READ_32, value), step->result,
                          sure && step->result_known);
        break;
    case NOCAP_AIE_READ_32_D:
        cert_register_set(uc, job, CERT_V(step, READ_32_D, value), step->result,
                          sure && step->result_known);
        break;
    case NOCAP_AIE_UC_DMA_WRITE_DES:
        chain = cert_chain(uc, step->chain);
        cert_register_set(uc, job, CERT_V(step, UC_DMA_WRITE_DES, wait_handle),
                          chain == NULL ? 0 : chain->handle,
                          sure && chain != NULL && chain->has_handle);
        break;
    default: break;
    }
}
