/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction is that comes after an access: whether it is cheap to do without leaving the
 * handler. */
#include <string.h>

#include "capture/preload/instruction.h"

/* Whole register of an operand, its number in the order of the encoding; NONE: no general one. */
static uint8_t general(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? (uint8_t)ZydisRegisterGetId(whole)
                                                                : NONE;
}

/* Arithmetic on registers that changes nothing but registers and the flags of results. */
static bool is_plain(ZydisMnemonic m)
{
    switch (m) {
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_ANDN:
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR:
    case ZYDIS_MNEMONIC_BSWAP:
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_CDQ:
    case ZYDIS_MNEMONIC_CDQE:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_CQO:
    case ZYDIS_MNEMONIC_CWDE:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_LZCNT:
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_NOT:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_POPCNT:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RORX:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_SARX:
    case ZYDIS_MNEMONIC_SBB:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHLX:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SHRX:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_TZCNT:
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_XOR: return true;
    default: return false;
    }
}

/* The stack pointer and the instruction pointer are the handler's own; segments may be. */
static bool names_ours(const ZydisDecodedOperand *o)
{
    enum { STACK = 4 };
    if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        return o->reg.value != ZYDIS_REGISTER_RFLAGS && o->reg.value != ZYDIS_REGISTER_EFLAGS &&
               o->reg.value != ZYDIS_REGISTER_FLAGS &&
               (general(o->reg.value) == NONE || general(o->reg.value) == STACK);
    }
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP ||
            general(o->mem.base) == STACK || o->mem.segment == ZYDIS_REGISTER_FS ||
            o->mem.segment == ZYDIS_REGISTER_GS);
}

static void put_native(struct form *f, const ZydisDecodedInstruction *insn,
                       const ZydisDecodedOperand *o)
{
    bool memory = false; /* which a bit's number could lie beside */
    bool plain = is_plain(insn->mnemonic) || insn->meta.category == ZYDIS_CATEGORY_CMOV ||
                 insn->meta.category == ZYDIS_CATEGORY_SETCC;
    if (!plain || insn->address_width != 64) {
        return;
    }
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (names_ours(&o[i])) {
            return;
        }
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY && o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM) {
            if (insn->mnemonic == ZYDIS_MNEMONIC_BT) {
                return;
            }
            memory = true;
            f->size = (uint8_t)(o[i].size / 8);
            form_put_address(f, &o[i]);
        }
    }
    f->then = memory ? FORM_THEN_NATIVE_MEMORY : FORM_THEN_NATIVE;
}

static void put_jump(struct form *f, const ZydisDecodedInstruction *insn,
                     const ZydisDecodedOperand *o)
{
    if (insn->operand_count_visible != 1 || o[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
        !o[0].imm.is_relative) {
        return;
    }
    f->value = o[0].imm.value.u;
    if (insn->meta.category == ZYDIS_CATEGORY_CALL) {
        f->then = FORM_THEN_CALL;
    } else if (insn->mnemonic == ZYDIS_MNEMONIC_JMP) {
        f->then = FORM_THEN_JUMP;
    } else if (insn->meta.category == ZYDIS_CATEGORY_COND_BR &&
               (insn->opcode & 0xF0) == (insn->opcode_map == ZYDIS_OPCODE_MAP_0F ? 0x80 : 0x70)) {
        f->then = FORM_THEN_JUMP_IF; /* not the loops and jumps on a count */
        f->condition = insn->opcode & 0xF;
    }
}

/* push and pop of a whole register, but for the stack pointer. */
static void put_stack(struct form *f, const ZydisDecodedInstruction *insn,
                      const ZydisDecodedOperand *o, enum form_then then)
{
    enum { STACK = 4 };
    if (o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && insn->operand_width == 64 &&
        ZydisRegisterGetClass(o[0].reg.value) == ZYDIS_REGCLASS_GPR64 &&
        general(o[0].reg.value) != STACK) {
        f->reg = general(o[0].reg.value);
        f->reg_size = 8;
        f->then = (uint8_t)then;
    }
}

void form_put_then(struct form *f, const ZydisDecodedInstruction *insn,
                   const ZydisDecodedOperand *o)
{
    if (f->kind != FORM_SLOW) {
        f->then = FORM_THEN_MOVE;
        return;
    }
    switch (insn->mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_PREFETCHNTA:
    case ZYDIS_MNEMONIC_PREFETCHT0:
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
    case ZYDIS_MNEMONIC_PREFETCHW: f->then = FORM_THEN_NOTHING; break;
    case ZYDIS_MNEMONIC_SFENCE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE: f->then = FORM_THEN_FENCE; break;
    case ZYDIS_MNEMONIC_VZEROUPPER: f->then = FORM_THEN_CLEAR_UPPER; break;
    case ZYDIS_MNEMONIC_PUSH: put_stack(f, insn, o, FORM_THEN_PUSH); break;
    case ZYDIS_MNEMONIC_POP: put_stack(f, insn, o, FORM_THEN_POP); break;
    case ZYDIS_MNEMONIC_RET:
        if (insn->operand_count_visible == 0 && insn->operand_width == 64) {
            f->then = FORM_THEN_RETURN;
        }
        break;
    default:
        put_jump(f, insn, o);
        if (f->then == FORM_THEN_STOP) {
            put_native(f, insn, o);
        }
        break;
    }
}
