/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction words of the Tensix coprocessor: decode, encode, disassemble. Source: tensix_isa.def.
 */
#ifndef NOCAP_BLACKHOLE_TENSIX_ISA_H
#define NOCAP_BLACKHOLE_TENSIX_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NOCAP_TENSIX_SEMWAIT ..: opcode */
#define OPCODE(NAME, code, unit, block) NOCAP_TENSIX_##NAME = (code),
enum nocap_tensix_opcode {
#include "formats/blackhole/tensix_isa.def"
    NOCAP_TENSIX_OPCODES = 256 /* values that an opcode can have */
};

/* NOCAP_SEMWAIT_sem_sel_LOW, NOCAP_SEMWAIT_sem_sel_MASK: lowest bit of an operand, and its bits
 * shifted down */
#define OPERAND(NAME, member, low, bits)                                                           \
    NOCAP_##NAME##_##member##_LOW = (low), NOCAP_##NAME##_##member##_MASK = (1 << (bits)) - 1,
enum nocap_tensix_operand {
#include "formats/blackhole/tensix_isa.def"
};

/* Operand of a word that is known to have opcode NAME: NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel). */
#define NOCAP_TENSIX_GET(word, NAME, member)                                                       \
    ((uint32_t)(word) >> NOCAP_##NAME##_##member##_LOW & NOCAP_##NAME##_##member##_MASK)
/* The operand's bits of a word: NOCAP_TENSIX_SET(SEMWAIT, sem_sel, 2). */
#define NOCAP_TENSIX_SET(NAME, member, v)                                                          \
    (((uint32_t)(v)&NOCAP_##NAME##_##member##_MASK) << NOCAP_##NAME##_##member##_LOW)
#define NOCAP_TENSIX_WORD(NAME) ((uint32_t)NOCAP_TENSIX_##NAME << 24)

static inline unsigned nocap_tensix_opcode(uint32_t word)
{
    return word >> 24;
}

/* Who executes an instruction. */
enum nocap_tensix_unit {
    NOCAP_TENSIX_UNIT_NONE, /* NOP, and what no document describes */
    NOCAP_TENSIX_UNIT_FRONTEND,
    NOCAP_TENSIX_UNIT_SYNC,
    NOCAP_TENSIX_UNIT_MISC,
    NOCAP_TENSIX_UNIT_THCON,
    NOCAP_TENSIX_UNIT_UNPACK,
    NOCAP_TENSIX_UNIT_PACK,
    NOCAP_TENSIX_UNIT_FPU,
    NOCAP_TENSIX_UNIT_SFPU,
    NOCAP_TENSIX_UNIT_MOVER,
    NOCAP_TENSIX_UNIT_CFG,
};

/* NOCAP_BLOCK_CFG ..: bits of stall_res. NOCAP_WAIT_MATH ..: bits of wait_res. NOCAP_SEM_MATH_PACK
 * ..: index of a semaphore. */
#define BLOCK(NAME, bit) NOCAP_BLOCK_##NAME = 1 << (bit),
enum nocap_tensix_block {
#include "formats/blackhole/tensix_gate.def"
    NOCAP_BLOCK_NONE = 0,
    NOCAP_BLOCK_ALL = 0x1FF
};
#define CONDITION(NAME, bit) NOCAP_WAIT_##NAME = 1 << (bit),
enum nocap_tensix_wait {
#include "formats/blackhole/tensix_gate.def"
};
#define SEMAPHORE(NAME, index) NOCAP_SEM_##NAME = (index),
enum nocap_tensix_semaphore {
#include "formats/blackhole/tensix_gate.def"
};
/* "MATH_PACK (1)", by index. */
extern const char *const nocap_tensix_semaphores[];

struct nocap_tensix_operand_info {
    const char *name;
    uint8_t opcode, low, bits;
};

struct nocap_tensix_opcode_info {
    const char *name; /* NULL: there is no such opcode */
    uint8_t unit;     /* enum nocap_tensix_unit */
    uint16_t block;   /* NOCAP_BLOCK_* */
};

/* By opcode; NOCAP_TENSIX_OPCODES rows. */
extern const struct nocap_tensix_opcode_info nocap_tensix_opcodes[NOCAP_TENSIX_OPCODES];

/* NULL if the table has no such opcode. */
const char *nocap_tensix_opcode_name(unsigned opcode);
/* Bits of a word with this opcode that lie in no operand; 0 for opcodes that are not in the table.
 */
uint32_t nocap_tensix_stray_bits(uint32_t word);

/* The operands of an opcode, highest first. */
const struct nocap_tensix_operand_info *nocap_tensix_operands(unsigned opcode, unsigned *count);
/* What a word has in an operand. */
static inline uint32_t nocap_tensix_operand(uint32_t word,
                                            const struct nocap_tensix_operand_info *operand)
{
    return word >> operand->low & ((UINT32_C(1) << operand->bits) - 1);
}

/* "STALLWAIT STALL_CFG, THCON|PACK", "SEMPOST MATH_PACK", "WRCFG 28, 0, 12"; an unknown opcode as
 * ".word 0xff000000". Returns `text`, always terminated. */
enum { NOCAP_TENSIX_TEXT_MAX = 192 };
const char *nocap_tensix_disassemble(uint32_t word, char *text, size_t size);

/* A word as it stands in a RISC-V instruction stream: rotated left by two, so that the low two bits
 * are not 11. False if the instruction is not one. */
static inline bool nocap_ttinsn_decode(uint32_t instruction, uint32_t *word)
{
    *word = instruction >> 2 | instruction << 30;
    return (instruction & 3) != 3;
}
/* Whether a wait with block mask `mask` holds the word. */
static inline bool nocap_tensix_is_held(uint32_t word, uint32_t mask)
{
    unsigned opcode = nocap_tensix_opcode(word);
    return opcode == NOCAP_TENSIX_NOP ? mask == NOCAP_BLOCK_ALL
                                      : (nocap_tensix_opcodes[opcode].block & mask) != 0;
}
static inline bool nocap_tensix_is_wait(uint32_t word)
{
    unsigned opcode = nocap_tensix_opcode(word);
    return opcode == NOCAP_TENSIX_STALLWAIT || opcode == NOCAP_TENSIX_SEMWAIT ||
           opcode == NOCAP_TENSIX_STREAMWAIT;
}

/* Values of operands */
enum {
    NOCAP_SEMWAIT_WHILE_ZERO = 1, /* condition: wait while a selected semaphore is 0 */
    NOCAP_SEMWAIT_WHILE_MAX =
        2, /* condition: wait while a selected semaphore is at or above its maximum */
    NOCAP_STALL_RES_DEFAULT = 0x40, /* what stall_res 0 means: B6 */
    NOCAP_WAIT_RES_DEFAULT = 0x0F,  /* what wait_res 0 means: C0..C3 */
    NOCAP_SEMAPHORE_MAX = 15,       /* four bits each of value and maximum */
    NOCAP_SEM_MASK_UNUSED = 0x1F00, /* sem_sel is 8 bits wide; assemblers write 13 */
    NOCAP_REPLAY_SLOTS = 64,        /* what a count of 0 means */
    NOCAP_REPLAY_RING = 32,         /* entries of the replay buffer */
    NOCAP_MOP_WORDS = 9,            /* configuration words of a MOP expander */
    NOCAP_MUTEXES = 5,              /* indexes 0..4, of which 1 does not exist */
    NOCAP_MUTEX_MISSING = 1,
    NOCAP_DVALID_A = 1, /* clear_dvalid: gives SrcA back; 2: SrcB */
    NOCAP_DVALID_B = 2,
    NOCAP_CFG_DEST_OFFSET = 1, /* SETC16 register: where math writes in Dest */
    NOCAP_DEST_HALF = 1 << 9,  /* bit of it that selects the half */
    NOCAP_CFG_L1_DEST = 69,    /* packer's destination in L1 */
};

/* Whether backend configuration register `reg` belongs to the packer, apart from its L1
 * destination, which may change for the next tile while one is packed. */
bool nocap_tensix_is_packer_register(unsigned reg);

#endif
