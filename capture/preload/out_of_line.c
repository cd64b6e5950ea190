/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction may do with memory besides plain moves is left to the processor: it runs on a
 * copy of the bytes, with a breakpoint after it. */
#include <pthread.h>
#include <sys/mman.h>

#include "capture/preload/instruction.h"

static pthread_key_t pages_key;
static bool has_key;

static void free_pages(void *pages)
{
    shim_thread.code = NULL;
    next()->munmap(pages, CODE_BYTES + BOUNCE_BYTES);
}

void out_of_line_init(void)
{
    has_key = pthread_key_create(&pages_key, free_pages) == 0;
}

bool thread_pages(struct thread *t)
{
    if (t->code == NULL) {
        void *p = next()->mmap(NULL, CODE_BYTES + BOUNCE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            return false;
        }
        t->code = p;
        t->pages++;
        t->bounce = t->code + CODE_BYTES;
        if (has_key) {
            pthread_setspecific(pages_key, p); /* goes with the thread */
        }
    }
    return true;
}

/* A register that the instruction does not name. */
static ZydisRegister spare_register(const ZydisDecodedInstruction *insn,
                                    const ZydisDecodedOperand *o)
{
    static const ZydisRegister candidates[] = {ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDI,
                                               ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RCX,
                                               ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RAX};
    uint32_t used = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
            ZydisRegister whole =
                ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o[i].reg.value);
            if (ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64) {
                used |= UINT32_C(1) << ZydisRegisterGetId(whole);
            }
        }
    }
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if ((used >> ZydisRegisterGetId(candidates[i]) & 1) == 0) {
            return candidates[i];
        }
    }
    return ZYDIS_REGISTER_NONE;
}

/* The one memory operand, if the instruction can run elsewhere. */
static const ZydisDecodedOperand *movable(const ZydisDecodedInstruction *insn,
                                          const ZydisDecodedOperand *o)
{
    const ZydisDecodedOperand *memory = NULL;
    switch (insn->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_STRINGOP: return NULL;
    default: break;
    }
    for (unsigned i = 0; i < insn->operand_count_visible; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            memory = memory == NULL && o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM ? &o[i] : NULL;
        }
    }
    bool partly = insn->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                  insn->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
    return memory == NULL || memory->size == 0 || memory->size / 8 > PAGE || partly ? NULL : memory;
}

/* In one piece where the processor has registers for it. */
static unsigned widest(unsigned size)
{
    unsigned width = size & -size;
    if (size == 16 || size == 32 || (size == 64 && __builtin_cpu_supports("avx512f"))) {
        return size;
    }
    return width < 8 ? width : 8;
}

enum outcome run_out_of_line(ucontext_t *uc, const struct form *f,
                             const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o,
                             const struct region *r)
{
    struct thread *t = &shim_thread;
    const ZydisDecodedOperand *memory = movable(insn, o);
    ZydisRegister spare = spare_register(insn, o);
    ZydisEncoderRequest request;
    if (memory == NULL || spare == ZYDIS_REGISTER_NONE || !thread_pages(t)) {
        return OUTCOME_UNKNOWN;
    }
    struct form at = *f;
    form_put_address(&at, memory);
    uintptr_t address = form_address(uc, &at);
    unsigned size = memory->size / 8;
    if (at.segment || !inside(r, address, size) ||
        !ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
            insn, o, insn->operand_count_visible, &request))) {
        return OUTCOME_UNKNOWN;
    }
    ZydisEncoderOperand *to = &request.operands[memory - o];
    to->mem.base = spare;
    to->mem.index = ZYDIS_REGISTER_NONE;
    to->mem.scale = 0;
    to->mem.displacement = 0;
    request.prefixes &= ~(ZydisInstructionAttributes)ZYDIS_ATTRIB_HAS_SEGMENT;
    ZyanUSize length = ZYDIS_MAX_INSTRUCTION_LENGTH;
    if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, t->code, &length))) {
        return OUTCOME_UNKNOWN;
    }
    t->code[length] = 0xCC;
    uint8_t *copy = t->bounce + PAGE + address % PAGE; /* aligned as the original */
    t->step.region = *r;
    t->step.address = address;
    t->step.size = size;
    t->step.reads = (memory->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    t->step.writes = (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (t->step.reads) {
        access_load(r, address, copy, size, widest(size));
    }
    greg_t *g = uc->uc_mcontext.gregs;
    t->step.scratch = greg_of[ZydisRegisterGetId(spare)];
    t->step.saved = g[t->step.scratch];
    t->step.rip = (uintptr_t)g[REG_RIP];
    t->step.next = t->step.rip + insn->length;
    t->step.code_end = (uintptr_t)t->code + length + 1;
    t->step.mask = uc->uc_sigmask;
    g[t->step.scratch] = (greg_t)copy;
    g[REG_RIP] = (greg_t)t->code;
    sigfillset(&uc->uc_sigmask);
    sigdelset(&uc->uc_sigmask, SIGTRAP);
    sigdelset(&uc->uc_sigmask, SIGSEGV);
    sigdelset(&uc->uc_sigmask, SIGBUS);
    t->stepping = true;
    return OUTCOME_STEP;
}

static void back(ucontext_t *uc, uintptr_t rip)
{
    struct thread *t = &shim_thread;
    uc->uc_mcontext.gregs[t->step.scratch] = t->step.saved;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)rip;
    uc->uc_sigmask = t->step.mask;
    t->stepping = false;
}

void emulate_finish(ucontext_t *uc)
{
    struct thread *t = &shim_thread;
    if (t->step.writes) {
        access_store(&t->step.region, t->step.address, t->bounce + PAGE + t->step.address % PAGE,
                     t->step.size, widest(t->step.size));
    }
    back(uc, t->step.next);
}

void emulate_abandon(ucontext_t *uc)
{
    back(uc, shim_thread.step.rip);
}
