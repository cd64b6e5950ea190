/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction as far as its bytes alone tell, kept by its address. */
#include "capture/preload/instruction.h"

#include <string.h>

/* Sets of a few: which addresses share one differs from run to run, and decoding takes a while. */
enum { WAYS = 4, SET_BITS = 6 };
_Static_assert(WAYS << SET_BITS == FORMS, "all of them");
static _Thread_local struct {
    struct form form[FORMS];
    uint8_t next[1 << SET_BITS]; /* the one that is replaced */
} cache __attribute__((tls_model("initial-exec")));

const uint8_t greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};

static uint8_t number_of(ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE) {
        return NONE;
    }
    if (reg == ZYDIS_REGISTER_RIP) {
        return RIP;
    }
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return (uint8_t)ZydisRegisterGetId(whole);
}

void form_set_register(ucontext_t *uc, const struct form *f, uint64_t v)
{
    greg_t *to = &uc->uc_mcontext.gregs[greg_of[f->reg]];
    unsigned shift = f->high ? 8 : 0;
    if (f->reg_size >= 4) { /* a 32-bit result clears the upper half */
        *to = (greg_t)(f->reg_size == 4 ? (uint32_t)v : v);
    } else {
        uint64_t mask = (f->reg_size == 1 ? UINT64_C(0xFF) : UINT64_C(0xFFFF)) << shift;
        *to = (greg_t)(((uint64_t)*to & ~mask) | (v << shift & mask));
    }
}

/* ---- decoding ---- */

bool instruction_decode(uintptr_t rip, ZydisDecodedInstruction *insn, ZydisDecodedOperand *operands)
{
    static const size_t longest = ZYDIS_MAX_INSTRUCTION_LENGTH;
    size_t left = PAGE - rip % PAGE;
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    /* the next page is looked at only if the instruction goes on there */
    return (left < longest && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, (const void *)rip, left,
                                                                  insn, operands))) ||
           ZYAN_SUCCESS(
               ZydisDecoderDecodeFull(&decoder, (const void *)rip, longest, insn, operands));
}

void form_put_address(struct form *f, const ZydisDecodedOperand *memory)
{
    f->segment =
        memory->mem.segment == ZYDIS_REGISTER_FS || memory->mem.segment == ZYDIS_REGISTER_GS;
    f->base = number_of(memory->mem.base);
    f->index = number_of(memory->mem.index);
    f->scale = memory->mem.scale;
    f->displacement = memory->mem.disp.has_displacement ? memory->mem.disp.value : 0;
}

static bool is_vector_move(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTDQA:
    case ZYDIS_MNEMONIC_LDDQU:
    case ZYDIS_MNEMONIC_VMOVDQA:
    case ZYDIS_MNEMONIC_VMOVDQU:
    case ZYDIS_MNEMONIC_VMOVAPS:
    case ZYDIS_MNEMONIC_VMOVUPS:
    case ZYDIS_MNEMONIC_VMOVAPD:
    case ZYDIS_MNEMONIC_VMOVUPD:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTDQA:
    case ZYDIS_MNEMONIC_VLDDQU:
    case ZYDIS_MNEMONIC_VMOVDQU8:
    case ZYDIS_MNEMONIC_VMOVDQU16:
    case ZYDIS_MNEMONIC_VMOVDQU32:
    case ZYDIS_MNEMONIC_VMOVDQU64:
    case ZYDIS_MNEMONIC_VMOVDQA32:
    case ZYDIS_MNEMONIC_VMOVDQA64: return true;
    default: return false;
    }
}

static void classify(struct form *f, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *o)
{
    unsigned m = 0;
    f->kind = FORM_SLOW;
    while (m < insn->operand_count_visible && o[m].type != ZYDIS_OPERAND_TYPE_MEMORY) {
        m++;
    }
    if (m == insn->operand_count_visible || insn->operand_count_visible < 2 ||
        insn->address_width != 64 || o[m].mem.type != ZYDIS_MEMOP_TYPE_MEM) {
        return;
    }
    bool load = m != 0;
    const ZydisDecodedOperand *other = &o[load ? 0 : insn->operand_count_visible - 1];
    ZydisRegisterClass class = other->type == ZYDIS_OPERAND_TYPE_REGISTER
                                   ? ZydisRegisterGetClass(other->reg.value)
                                   : ZYDIS_REGCLASS_INVALID;
    bool gpr = class == ZYDIS_REGCLASS_GPR8 || class == ZYDIS_REGCLASS_GPR16 ||
               class == ZYDIS_REGCLASS_GPR32 || class == ZYDIS_REGCLASS_GPR64;
    bool scalar = insn->mnemonic == ZYDIS_MNEMONIC_MOV || insn->mnemonic == ZYDIS_MNEMONIC_MOVNTI;
    f->sign = insn->mnemonic == ZYDIS_MNEMONIC_MOVSX || insn->mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    f->size = (uint8_t)(o[m].size / 8);
    form_put_address(f, &o[m]);
    if (gpr && (scalar || (load && (f->sign || insn->mnemonic == ZYDIS_MNEMONIC_MOVZX)))) {
        f->kind = load ? FORM_LOAD : FORM_STORE;
        f->high = other->reg.value >= ZYDIS_REGISTER_AH && other->reg.value <= ZYDIS_REGISTER_BH;
        f->reg = number_of(other->reg.value);
        f->reg_size = (uint8_t)(other->size / 8);
    } else if (insn->mnemonic == ZYDIS_MNEMONIC_MOV &&
               other->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        f->kind = FORM_STORE_VALUE;
        f->value = other->imm.value.u;
    } else if (is_vector_move(insn->mnemonic) && f->size >= 16 &&
               (class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
                class == ZYDIS_REGCLASS_ZMM)) {
        bool masked = insn->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                      insn->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
        f->kind = masked ? (load ? FORM_LOAD_MASKED : FORM_STORE_MASKED)
                         : (load ? FORM_LOAD_VECTOR : FORM_STORE_VECTOR);
        f->mask = masked ? (uint8_t)(insn->avx.mask.reg - ZYDIS_REGISTER_K0) : 0;
        f->element = (uint8_t)(o[m].element_size / 8);
        f->zeroes = insn->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING;
        f->reg = (uint8_t)ZydisRegisterGetId(other->reg.value);
        f->clear = insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    }
}

struct form *form_at(uintptr_t rip)
{
    unsigned set = (unsigned)(rip * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SET_BITS));
    struct form *first = &cache.form[set * WAYS];
    for (struct form *f = first; f < first + WAYS; f++) {
        if (f->rip == rip && f->length != 0) {
            if (memcmp(f->bytes, (const void *)rip, f->length) == 0) {
                return f;
            }
            f->length = 0; /* other code is there now */
        }
    }
    struct form *f = &first[cache.next[set]++ % WAYS];
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    f->length = 0;
    if (!instruction_decode(rip, &insn, operands)) {
        return NULL;
    }
    *f = (struct form){
        .rip = rip, .length = insn.length, .reach = REACH_MOST, .place = (uint8_t)(f - cache.form)};
    memcpy(f->bytes, (const void *)rip, insn.length);
    classify(f, &insn, operands);
    form_put_then(f, &insn, operands);
    return f;
}

/* Whether an instruction at `at` is in memory, since the one at `rip` is. */
static bool is_readable(uintptr_t at, uintptr_t rip)
{
    return at / PAGE == rip / PAGE && PAGE - at % PAGE >= ZYDIS_MAX_INSTRUCTION_LENGTH;
}

struct form *form_after(const struct form *f)
{
    const uintptr_t at = f->rip + f->length;
    return is_readable(at, f->rip) ? form_at(at) : NULL;
}

struct form *form_and_next(uintptr_t rip)
{
    enum { AHEAD = 8 };
    struct form *f = form_at(rip);
    if (f == NULL) {
        return NULL;
    }
    unsigned most = f->ahead ? 1 : AHEAD; /* one again: it may have left the processor's caches */
    f->ahead = true;
    uintptr_t at = rip + f->length;
    for (unsigned i = 0; i < most && is_readable(at, rip); i++) {
        const struct form *next = form_at(at);
        if (next == NULL || next->then == FORM_THEN_STOP || next->then == FORM_THEN_RETURN) {
            break;
        }
        at += next->length + (next->then == FORM_THEN_JUMP ? next->value : 0);
    }
    return form_at(rip); /* which they may have replaced */
}

uintptr_t form_address(const ucontext_t *uc, const struct form *f)
{
    const greg_t *gregs = uc->uc_mcontext.gregs;
    uint64_t address = (uint64_t)f->displacement;
    if (f->base == RIP) {
        address += (uint64_t)gregs[REG_RIP] + f->length;
    } else if (f->base != NONE) {
        address += (uint64_t)gregs[greg_of[f->base]];
    }
    if (f->index != NONE) {
        address += (uint64_t)gregs[greg_of[f->index]] * f->scale;
    }
    return address;
}
