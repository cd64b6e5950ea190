/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/tensix_extract.h"

#include <string.h>

#include "formats/blackhole/tensix_isa.h"

/* Base opcodes of RV32I, with the low two bits. */
enum {
    OP_LOAD = 0x03,
    OP_FENCE = 0x0F,
    OP_IMMEDIATE = 0x13,
    OP_AUIPC = 0x17,
    OP_STORE = 0x23,
    OP_REGISTER = 0x33,
    OP_LUI = 0x37,
    OP_BRANCH = 0x63,
    OP_JALR = 0x67,
    OP_JAL = 0x6F,
};
enum { F3_ADD = 0, F3_SLL = 1, F3_XOR = 4, F3_SRL = 5, F3_OR = 6, F3_AND = 7, F3_WORD = 2 };
enum { REGISTERS = 32, F7_ALTERNATE = 0x20 };
/* What a call may change: ra, t0..t2, a0..a7, t3..t6. */
static const uint32_t caller_saved = 0xF003FCE2;

struct machine {
    uint32_t x[REGISTERS];
    uint32_t known; /* by register */
};

static unsigned bits(uint32_t instruction, unsigned low, unsigned count)
{
    return instruction >> low & ((1u << count) - 1);
}

static uint32_t sign_extend(uint32_t v, unsigned width)
{
    uint32_t sign = UINT32_C(1) << (width - 1);
    return ((v & (2 * sign - 1)) ^ sign) - sign;
}

static bool knows(const struct machine *m, unsigned r)
{
    return (m->known >> r & 1) != 0;
}

static void set(struct machine *m, unsigned r, uint32_t v, bool known)
{
    if (r != 0) {
        m->x[r] = v;
        m->known = known ? m->known | UINT32_C(1) << r : m->known & ~(UINT32_C(1) << r);
    }
}

/* False: an operation that this does not compute. */
static bool compute(unsigned f3, unsigned f7, uint32_t a, uint32_t b, bool immediate, uint32_t *v)
{
    bool alternate = f7 == F7_ALTERNATE;
    switch (f3) {
    case F3_ADD: *v = alternate && !immediate ? a - b : a + b; break;
    case F3_SLL: *v = a << (b & 31); break;
    case F3_XOR: *v = a ^ b; break;
    case F3_SRL:
        *v = alternate && (b & 31) != 0 && a >> 31 != 0 ? ~(~a >> (b & 31)) : a >> (b & 31);
        break;
    case F3_OR: *v = a | b; break;
    case F3_AND: *v = a & b; break;
    default: return false;
    }
    bool shifts = f3 == F3_SLL || f3 == F3_SRL, arithmetic = f3 == F3_SRL || f3 == F3_ADD;
    return immediate ? !shifts || f7 == 0 || (alternate && f3 == F3_SRL)
                     : f7 == 0 || (alternate && arithmetic);
}

static void execute(struct machine *m, uint32_t instruction, uint32_t address)
{
    unsigned rd = bits(instruction, 7, 5), rs1 = bits(instruction, 15, 5);
    unsigned rs2 = bits(instruction, 20, 5);
    unsigned f3 = bits(instruction, 12, 3), f7 = bits(instruction, 25, 7);
    uint32_t v = 0;
    switch (bits(instruction, 0, 7)) {
    case OP_LUI: set(m, rd, instruction & 0xFFFFF000, true); break;
    case OP_AUIPC: set(m, rd, address + (instruction & 0xFFFFF000), true); break;
    case OP_IMMEDIATE: {
        bool done = compute(f3, f7, m->x[rs1], sign_extend(instruction >> 20, 12), true, &v);
        set(m, rd, v, done && knows(m, rs1));
        break;
    }
    case OP_REGISTER: {
        bool done = compute(f3, f7, m->x[rs1], m->x[rs2], false, &v);
        set(m, rd, v, done && knows(m, rs1) && knows(m, rs2));
        break;
    }
    case OP_JAL:
    case OP_JALR:
        /* a call comes back; after a return or a jump without link another function begins */
        m->known &= rd != 0 ? ~caller_saved
                            : (bits(instruction, 0, 7) == OP_JALR ? UINT32_C(1) : UINT32_MAX);
        break;
    case OP_STORE:
    case OP_BRANCH:
    case OP_FENCE: break;
    default: set(m, rd, 0, false); break;
    }
}

static bool visit_access(const struct machine *m, uint32_t instruction, uint32_t address,
                         nocap_extract_visitor *visit, void *context)
{
    bool store = bits(instruction, 0, 7) == OP_STORE;
    unsigned base = bits(instruction, 15, 5), source = bits(instruction, 20, 5);
    uint32_t offset =
        store ? bits(instruction, 25, 7) << 5 | bits(instruction, 7, 5) : instruction >> 20;
    if (!knows(m, base) || bits(instruction, 12, 3) != F3_WORD) {
        return true;
    }
    const struct nocap_extracted what = {.kind =
                                             store ? NOCAP_EXTRACTED_STORE : NOCAP_EXTRACTED_LOAD,
                                         .address = address,
                                         .target = m->x[base] + sign_extend(offset, 12),
                                         .value = store ? m->x[source] : 0,
                                         .known = store && knows(m, source)};
    return visit(context, &what);
}

bool nocap_tensix_extract(const uint8_t *code, size_t size, uint32_t address,
                          nocap_extract_visitor *visit, void *context)
{
    struct machine m = {.known = 1};
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint32_t instruction = (uint32_t)code[at] | (uint32_t)code[at + 1] << 8 |
                               (uint32_t)code[at + 2] << 16 | (uint32_t)code[at + 3] << 24;
        uint32_t pc = address + (uint32_t)at, word;
        unsigned opcode = bits(instruction, 0, 7);
        if (nocap_ttinsn_decode(instruction, &word)) {
            const struct nocap_extracted what = {
                .kind = NOCAP_EXTRACTED_WORD, .address = pc, .value = word, .known = true};
            if (instruction != 0 && !visit(context, &what)) {
                return false;
            }
            continue;
        }
        if ((opcode == OP_STORE || opcode == OP_LOAD) &&
            !visit_access(&m, instruction, pc, visit, context)) {
            return false;
        }
        execute(&m, instruction, pc);
        const struct nocap_extracted jump = {.kind = NOCAP_EXTRACTED_JUMP, .address = pc};
        if ((opcode == OP_JAL || opcode == OP_JALR) && !visit(context, &jump)) {
            return false;
        }
    }
    return true;
}
