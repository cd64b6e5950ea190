/* Instruction words of the Tensix coprocessor. Source: tensix_isa.def. */
#ifndef NOCAP_BLACKHOLE_TENSIX_ISA_H
#define NOCAP_BLACKHOLE_TENSIX_ISA_H

#include <stdint.h>

/* NOCAP_TENSIX_SEMWAIT ..: opcode */
#define OPCODE(NAME, code) NOCAP_TENSIX_##NAME = (code),
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

/* NULL if the table has no such opcode. */
const char *nocap_tensix_opcode_name(unsigned opcode);
/* Bits of a word with this opcode that lie in no operand; 0 for opcodes whose operands are not in
 * the table. */
uint32_t nocap_tensix_stray_bits(uint32_t word);

/* Values of operands */
enum {
    NOCAP_SEMWAIT_WHILE_ZERO = 1, /* condition: wait while a selected semaphore is 0 */
    NOCAP_SEMWAIT_WHILE_MAX =
        2, /* condition: wait while a selected semaphore is at or above its maximum */
    NOCAP_STALL_RES_DEFAULT = 0x40, /* what stall_res 0 means: B6 */
    NOCAP_WAIT_RES_DEFAULT = 0x0F,  /* what wait_res 0 means: C0..C3 */
    NOCAP_SEMAPHORE_MAX = 15,       /* four bits each of value and maximum */
    NOCAP_REPLAY_SLOTS = 64,        /* what a count of 0 means */
};

#endif
