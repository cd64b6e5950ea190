/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/tensix_isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

/* The block bits as tensix_isa.def writes them. */
enum {
#define BLOCK(NAME, bit) B_##NAME = NOCAP_BLOCK_##NAME,
#include "formats/blackhole/tensix_gate.def"
    B_NONE = NOCAP_BLOCK_NONE,
    B_ALL = NOCAP_BLOCK_ALL
};

#define OPCODE(NAME, code, unit, block) [code] = {#NAME, NOCAP_TENSIX_UNIT_##unit, block},
const struct nocap_tensix_opcode_info nocap_tensix_opcodes[NOCAP_TENSIX_OPCODES] = {
#include "formats/blackhole/tensix_isa.def"
};

#define OPERAND(NAME, member, low, bits) {#member, NOCAP_TENSIX_##NAME, low, bits},
static const struct nocap_tensix_operand_info operands[] = {
#include "formats/blackhole/tensix_isa.def"
};
enum { OPERANDS = sizeof operands / sizeof operands[0] };

/* Where an opcode's operands begin: each operand takes a number, an opcode none. */
#define OPCODE(NAME, code, unit, block)  FIRST_##NAME, BEFORE_##NAME = FIRST_##NAME - 1,
#define OPERAND(NAME, member, low, bits) PLACE_##NAME##_##member,
enum place {
#include "formats/blackhole/tensix_isa.def"
};
#define OPCODE(NAME, code, unit, block) [code] = FIRST_##NAME,
static const uint16_t first_operand[NOCAP_TENSIX_OPCODES] = {
#include "formats/blackhole/tensix_isa.def"
};

const struct nocap_tensix_operand_info *nocap_tensix_operands(unsigned opcode, unsigned *count)
{
    unsigned first = opcode < NOCAP_TENSIX_OPCODES ? first_operand[opcode] : 0, n = 0;
    while (first + n < OPERANDS && operands[first + n].opcode == opcode) {
        n++;
    }
    *count = n;
    return &operands[first < OPERANDS ? first : 0];
}

const char *nocap_tensix_opcode_name(unsigned opcode)
{
    return opcode < NOCAP_TENSIX_OPCODES ? nocap_tensix_opcodes[opcode].name : NULL;
}

static uint32_t field_mask(const struct nocap_tensix_operand_info *operand)
{
    return ((UINT32_C(1) << operand->bits) - 1) << operand->low;
}

uint32_t nocap_tensix_stray_bits(uint32_t word)
{
    unsigned count, opcode = nocap_tensix_opcode(word);
    const struct nocap_tensix_operand_info *o = nocap_tensix_operands(opcode, &count);
    uint32_t known = UINT32_C(0xFF) << 24;
    if (nocap_tensix_opcodes[opcode].name == NULL) {
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        known |= field_mask(&o[i]);
    }
    return word & ~known;
}

/* Inclusive ranges of the configuration registers that the packer reads while it works. Source:
 * register definitions of Blackhole's backend configuration: PCK0_ADDR_CTRL and PCK0_ADDR_BASE,
 * PCK_DEST_RD_CTRL, TILE_ROW_SET_MAPPING, PCK_EDGE_OFFSET, PACK_COUNTERS, THCON_SEC0_REG1,
 * DEST_TARGET_REG_CFG_PACK. */
static const uint8_t packer_registers[][2] = {{12, 18}, {20, 31}, {68, 71}, {180, 183}};

bool nocap_tensix_is_packer_register(unsigned reg)
{
    for (size_t i = 0; i < sizeof packer_registers / sizeof packer_registers[0]; i++) {
        if (reg >= packer_registers[i][0] && reg <= packer_registers[i][1]) {
            return reg != NOCAP_CFG_L1_DEST;
        }
    }
    return false;
}

/* ---- text ---- */

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - (t->left > 0);
    t->at += used;
    t->left -= used;
}

/* Names of the bits that are set, joined by |; bits without a name as a number. */
static void put_bits(struct text *t, uint32_t v, const char *prefix, const char *const *names,
                     unsigned count)
{
    const char *join = "";
    uint32_t named = (UINT32_C(1) << count) - 1;
    for (unsigned i = 0; i < count; i++) {
        if ((v >> i & 1) != 0) {
            put(t, "%s%s%s", join, prefix, names[i]);
            join = "|";
        }
    }
    if ((v & ~named) != 0 || v == 0) {
        put(t, v == 0 ? "%s%u" : "%s0x%x", join, v & ~named);
    }
}

static void put_block(struct text *t, uint32_t v)
{
#define BLOCK(NAME, bit) [bit] = #NAME,
    static const char *const names[] = {
#include "formats/blackhole/tensix_gate.def"
    };
    if (v == NOCAP_BLOCK_ALL) {
        put(t, "STALL_THREAD");
    } else {
        put_bits(t, v, "STALL_", names, sizeof names / sizeof names[0]);
    }
}

static void put_conditions(struct text *t, uint32_t v)
{
#define CONDITION(NAME, bit) [bit] = #NAME,
    static const char *const names[] = {
#include "formats/blackhole/tensix_gate.def"
    };
    put_bits(t, v, "", names, sizeof names / sizeof names[0]);
}

#define SEMAPHORE(NAME, index) [index] = #NAME " (" #index ")",
const char *const nocap_tensix_semaphores[] = {
#include "formats/blackhole/tensix_gate.def"
};

static void put_semaphores(struct text *t, uint32_t v)
{
#define SEMAPHORE(NAME, index) [index] = #NAME,
    static const char *const names[] = {
#include "formats/blackhole/tensix_gate.def"
    };
    put_bits(t, v, "", names, sizeof names / sizeof names[0]);
}

static void put_semwait_condition(struct text *t, uint32_t v)
{
    static const char *const names[] = {"ZERO", "MAX"};
    put_bits(t, v, "STALL_ON_", names, 2);
}

/* Operands that have names: those of the wait and semaphore instructions. */
static void put_operand(struct text *t, unsigned opcode,
                        const struct nocap_tensix_operand_info *operand, uint32_t v)
{
    if (strcmp(operand->name, "stall_res") == 0) {
        put_block(t, v);
    } else if (strcmp(operand->name, "wait_res") == 0) {
        put_conditions(t, v);
    } else if (strcmp(operand->name, "sem_sel") == 0) {
        put_semaphores(t, v);
    } else if (opcode == NOCAP_TENSIX_SEMWAIT) {
        put_semwait_condition(t, v);
    } else {
        put(t, v < 1024 ? "%u" : "0x%x", v);
    }
}

const char *nocap_tensix_disassemble(uint32_t word, char *text, size_t size)
{
    struct text t = {text, size};
    unsigned count, opcode = nocap_tensix_opcode(word);
    const struct nocap_tensix_operand_info *o = nocap_tensix_operands(opcode, &count);
    if (nocap_tensix_opcodes[opcode].name == NULL) {
        put(&t, ".word 0x%08x", word);
        return text;
    }
    put(&t, "%s", nocap_tensix_opcodes[opcode].name);
    for (unsigned i = 0; i < count; i++) {
        put(&t, i == 0 ? " " : ", ");
        put_operand(&t, opcode, &o[i], nocap_tensix_operand(word, &o[i]));
    }
    uint32_t stray = nocap_tensix_stray_bits(word);
    if (stray != 0) {
        put(&t, " + stray 0x%x", stray);
    }
    return text;
}
