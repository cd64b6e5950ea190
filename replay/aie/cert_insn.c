/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine does with each instruction. Source: control code instruction set, operations. */
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
