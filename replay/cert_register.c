/* Registers: 8 of each job, 16 that the jobs of a uC share. What they hold at first is not known.
 */
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

void cert_registers_take(struct cert_uc *uc, struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    const struct cert_chain *chain;
    uint32_t old = 0;
    bool sure = !step->doubtful;
    if (step->info == NULL) { /* whatever it was may have written any of them */
        job->known = 0;
        uc->known = 0;
        return;
    }
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
