/* SPDX-License-Identifier: Apache-2.0 */
/* A simulator such as its author would tap it: one core that runs the few instructions of RV32I
 * that a loop needs, its L1 and private memory, and command buffer 0 of NOC 0. `tapped` false is
 * the same without taps: both are compiled from here, so that they can be compared. */
#ifndef NOCAP_TESTS_TOY_RISCV_H
#define NOCAP_TESTS_TOY_RISCV_H

#include <nocap/tap.h>

enum { TOY_L1 = 1 << 18, TOY_PRIVATE = 1 << 14, TOY_NIU = 1 << 12 };
static const uint32_t TOY_PRIVATE_AT = 0xFFB00000, TOY_NIU_AT = 0xFFB20000;

struct toy_tile {
    struct nocap_tap arrives; /* what the NOC stores here */
    uint8_t l1[TOY_L1];
};

struct toy_core {
    struct nocap_tap tap;
    struct toy_tile *tile, *target; /* requests go to `target` */
    uint64_t cycle;
    uint32_t pc, x[32];
    uint8_t private_memory[TOY_PRIVATE], niu[TOY_NIU];
};

/* ---- instructions, for programs and in the loop ---- */

enum { TOY_LOAD = 0x03, TOY_ADDI = 0x13, TOY_STORE = 0x23, TOY_ADD = 0x33, TOY_LUI = 0x37 };
enum { TOY_BNE = 0x63, TOY_EBREAK = 0x00100073 };

static inline uint32_t toy_i(unsigned op, unsigned rd, unsigned rs1, int imm)
{
    return op | rd << 7 | (op == TOY_LOAD ? 2u << 12 : 0) | rs1 << 15 | (uint32_t)imm << 20;
}
static inline uint32_t toy_lui(unsigned rd, uint32_t value)
{
    return TOY_LUI | rd << 7 | (value & 0xFFFFF000);
}
static inline uint32_t toy_add(unsigned rd, unsigned rs1, unsigned rs2)
{
    return TOY_ADD | rd << 7 | rs1 << 15 | rs2 << 20;
}
static inline uint32_t toy_sw(unsigned rs2, unsigned rs1, unsigned imm)
{
    return TOY_STORE | (imm & 31) << 7 | 2u << 12 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}
static inline uint32_t toy_bne(unsigned rs1, unsigned rs2, int by)
{
    uint32_t b = (uint32_t)by;
    return TOY_BNE | (b >> 11 & 1) << 7 | (b >> 1 & 15) << 8 | 1u << 12 | rs1 << 15 | rs2 << 20 |
           (b >> 5 & 63) << 25 | (b >> 12 & 1) << 31;
}

/* ---- memory ---- */

static inline uint8_t *toy_at(struct toy_core *c, uint32_t addr)
{
    static uint8_t nowhere[4];
    return addr <= TOY_L1 - 4                        ? &c->tile->l1[addr]
           : addr - TOY_PRIVATE_AT < TOY_PRIVATE - 3 ? &c->private_memory[addr - TOY_PRIVATE_AT]
           : addr - TOY_NIU_AT < TOY_NIU - 3         ? &c->niu[addr - TOY_NIU_AT]
                                                     : nowhere;
}
static inline uint32_t toy_get(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static inline void toy_put(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Command buffer 0 was told to send: a write of one word, acknowledged at once. */
static inline void toy_send(struct toy_core *c, bool tapped)
{
    uint32_t from = toy_get(&c->niu[0x00]), to = toy_get(&c->niu[0x0C]);
    uint32_t where = toy_get(&c->niu[0x14]), word = toy_get(toy_at(c, from));
    struct nocap_xy target = {(uint8_t)(where & 63), (uint8_t)(where >> 6 & 63)};
    toy_put(&c->target->l1[to % (TOY_L1 - 3)], word);
    if (tapped) {
        nocap_tap_noc(&c->tap, NOCAP_OP_WRITE, 0, 0, from, target, to, toy_get(&c->niu[0x20]));
        nocap_tap_store(&c->target->arrives, NOCAP_TAP_NO_PC, to, 4, word);
    }
    toy_put(&c->niu[0x40], 0);
    toy_put(&c->niu[0x204], toy_get(&c->niu[0x204]) + 1); /* MST_WR_ACK_RECEIVED */
}

/* ---- the loop ---- */

/* Runs to the EBREAK; returns the number of instructions. */
static inline __attribute__((always_inline)) uint64_t toy_loop(struct toy_core *c, bool tapped)
{
    uint64_t began = c->cycle;
    for (uint32_t word; (word = toy_get(toy_at(c, c->pc))) != TOY_EBREAK; c->cycle++) {
        uint32_t rd = word >> 7 & 31, a = c->x[word >> 15 & 31], b = c->x[word >> 20 & 31];
        uint32_t imm = (uint32_t)((int32_t)word >> 20), result = 0, addr, next = c->pc + 4;
        switch (word & 127) {
        case TOY_LUI: result = word & 0xFFFFF000; break;
        case TOY_ADDI: result = a + imm; break;
        case TOY_ADD: result = a + b; break;
        case TOY_LOAD:
            result = toy_get(toy_at(c, a + imm));
            if (tapped) {
                nocap_tap_load(&c->tap, c->pc, a + imm, 4, result);
            }
            break;
        case TOY_STORE:
            addr = a + ((imm & ~31u) | rd);
            rd = 0;
            toy_put(toy_at(c, addr), b);
            if (tapped) {
                nocap_tap_store(&c->tap, c->pc, addr, 4, b);
            }
            if (addr == TOY_NIU_AT + 0x40) {
                toy_send(c, tapped);
            }
            break;
        case TOY_BNE:
            if (a != b) {
                next = c->pc + (((uint32_t)((int32_t)word >> 31) << 12) | (rd & 1) << 11 |
                                (word >> 25 & 63) << 5 | (rd & 30));
            }
            rd = 0;
            break;
        default: return 0; /* an instruction that it does not have */
        }
        if (rd != 0) {
            c->x[rd] = result;
        }
        c->pc = next;
    }
    return c->cycle - began;
}

/* A kernel at `pc`. */
static __attribute__((noinline, unused)) uint64_t toy_run(struct toy_core *c, uint32_t pc)
{
    c->pc = pc;
    nocap_tap_kernel(&c->tap, NOCAP_OP_ENTER, pc);
    uint64_t count = toy_loop(c, true);
    nocap_tap_kernel(&c->tap, NOCAP_OP_EXIT, c->pc);
    return count;
}
static __attribute__((noinline, unused)) uint64_t toy_run_untapped(struct toy_core *c, uint32_t pc)
{
    c->pc = pc;
    return toy_loop(c, false);
}

/* ---- a program ---- */

enum { TOY_PROGRAM = 0x8000, TOY_INPUT = 0x10000, TOY_SUM = 0x20000 };
/* Places in it. */
enum { TOY_STORE_AT = 0x14, TOY_LEFT_AT = 0x70, TOY_NOP = TOY_ADDI };

/* At TOY_PROGRAM: adds up `count` words from TOY_INPUT, with the sums so far in private memory (the
 * store is at TOY_STORE_AT); sends the last one to the same place of tile 2,2, waits until it has
 * left (two instructions at TOY_LEFT_AT), and until it is acknowledged. */
static inline void toy_program(struct toy_core *c, int count)
{
    const uint32_t program[] = {
        toy_lui(1, TOY_INPUT),
        toy_i(TOY_ADDI, 2, 0, count),
        toy_lui(3, TOY_PRIVATE_AT),
        toy_i(TOY_LOAD, 5, 1, 0), /* loop: */
        toy_add(4, 4, 5),
        toy_sw(4, 3, 0),
        toy_i(TOY_ADDI, 1, 1, 4),
        toy_i(TOY_ADDI, 3, 3, 4),
        toy_i(TOY_ADDI, 2, 2, -1),
        toy_bne(2, 0, -24),
        toy_lui(6, TOY_SUM),
        toy_sw(4, 6, 0),
        toy_lui(7, TOY_NIU_AT),
        toy_i(TOY_LOAD, 10, 7, 0x204), /* acknowledged before */
        toy_i(TOY_ADDI, 10, 10, 1),
        toy_sw(6, 7, 0x00), /* from */
        toy_i(TOY_ADDI, 8, 0, 1 | 2 << 6),
        toy_sw(8, 7, 0x08),
        toy_sw(6, 7, 0x0C), /* to */
        toy_i(TOY_ADDI, 8, 0, 2 | 2 << 6),
        toy_sw(8, 7, 0x14),
        toy_lui(9, 0x2000),
        toy_i(TOY_ADDI, 9, 9, 0x092), /* a write that is acknowledged, on a static channel */
        toy_sw(9, 7, 0x1C),
        toy_i(TOY_ADDI, 8, 0, 4),
        toy_sw(8, 7, 0x20),
        toy_i(TOY_ADDI, 8, 0, 1),
        toy_sw(8, 7, 0x40),           /* send */
        toy_i(TOY_LOAD, 11, 7, 0x40), /* until it has left */
        toy_bne(11, 0, -4),
        toy_i(TOY_LOAD, 11, 7, 0x204), /* and is there */
        toy_bne(11, 10, -4),
        TOY_EBREAK,
    };
    memcpy(&c->tile->l1[TOY_PROGRAM], program, sizeof program);
    for (uint32_t i = 0; i < 4096; i++) {
        toy_put(&c->tile->l1[TOY_INPUT + 4 * i], i);
    }
}

#endif
