/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/preload: what an instruction does with memory, between the files that do it.
 */
#ifndef NOCAP_PRELOAD_INSTRUCTION_H
#define NOCAP_PRELOAD_INSTRUCTION_H

#include <Zydis/Zydis.h>

#include "capture/preload/preload.h"

/* The first page of code is for an instruction with a breakpoint, the second for those that run
 * natively: one for each place in the cache of forms. */
enum {
    PAGE = 4096,
    CODE_BYTES = 2 * PAGE,
    NATIVE_CODE = PAGE,
    BOUNCE_BYTES = 16 * PAGE,
    CHUNK = 8 * PAGE,
    FORMS = 256,
};

/* A plain move, as far as it can be told from the bytes alone. */
struct form {
    uintptr_t rip;
    uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
    uint8_t length;
    uint8_t kind;          /* enum form_kind */
    uint8_t size;          /* of the access */
    uint8_t reg, reg_size; /* GPR: 0..15 in the order of the encoding; vector: 0..31 */
    bool high;             /* AH .. BH */
    bool sign, clear;
    uint64_t value;
    uint8_t mask, element; /* register k1 .. k7, and bytes that each of its bits is for */
    bool zeroes;           /* what the mask keeps out of a load */
    bool segment;
    uint8_t base, index, scale; /* NONE: not used; RIP: of the next instruction */
    int64_t displacement;
    uint8_t then;      /* enum form_then */
    uint8_t condition; /* of a jump: the low four bits of its opcode */
    uint8_t reach;     /* instructions after this access among which another one is looked for */
    uint8_t place;     /* in the cache */
    bool ahead;        /* those after it were decoded with it */
    uint32_t pages;    /* FORM_THEN_NATIVE: which pages of the thread have a copy of it */
};
enum form_kind {
    FORM_SLOW,
    FORM_LOAD,
    FORM_STORE,
    FORM_STORE_VALUE,
    FORM_LOAD_VECTOR,
    FORM_STORE_VECTOR,
    FORM_LOAD_MASKED,
    FORM_STORE_MASKED,
};
enum { NONE = 0xFF, RIP = 0xFE };
/* What becomes of an instruction that comes after an access in the same fault. */
enum form_then {
    FORM_THEN_STOP,          /* the program goes on with it */
    FORM_THEN_MOVE,          /* `kind`, of memory of the program or of the device */
    FORM_THEN_NATIVE,        /* runs with the program's registers; touches no memory */
    FORM_THEN_NATIVE_MEMORY, /* the same with one operand in the program's memory */
    FORM_THEN_JUMP,          /* to `value`, relative */
    FORM_THEN_JUMP_IF,
    FORM_THEN_CALL,
    FORM_THEN_RETURN,
    FORM_THEN_PUSH,
    FORM_THEN_POP,
    FORM_THEN_NOTHING,
    FORM_THEN_FENCE,
    FORM_THEN_CLEAR_UPPER, /* vzeroupper */
};
enum { REACH_MOST = 24, REACH_LEAST = 2 };

/* ---- instruction.c ---- */

extern const uint8_t greg_of[16]; /* index of gregs of a register in the order of the encoding */
bool instruction_decode(uintptr_t rip, ZydisDecodedInstruction *insn,
                        ZydisDecodedOperand *operands);
/* The form of the instruction at `rip`; NULL: it does not decode. */
struct form *form_at(uintptr_t rip);
/* That of the instruction that stands after it; NULL also if reading it could fault. `form` stays:
 * addresses less than 21 apart share no set of the cache. */
struct form *form_after(const struct form *form);
/* The same before an access; those after it are decoded too, so that it takes no time after. */
struct form *form_and_next(uintptr_t rip);
void form_put_address(struct form *form, const ZydisDecodedOperand *memory);
uintptr_t form_address(const ucontext_t *uc, const struct form *form);
/* Register `reg` of the form. */
void form_set_register(ucontext_t *uc, const struct form *form, uint64_t v);
static inline bool inside(const struct region *r, uintptr_t address, size_t size)
{
    return address >= r->start && address < r->end && size <= r->end - address;
}
/* ---- then.c ---- */

/* What an instruction is when it comes after an access. */
void form_put_then(struct form *form, const ZydisDecodedInstruction *insn,
                   const ZydisDecodedOperand *o);

/* ---- emulate.c ---- */

/* A plain move of memory of the device, of the program where `region` is NULL. */
enum outcome emulate_move(ucontext_t *uc, const struct form *form, const struct region *region);
/* A store to the device at `address` together with another one that stands right after it, as a
 * copy of a few bytes makes them: nothing comes between the two. False: they are no such pair, and
 * nothing was done. */
bool emulate_two_stores(ucontext_t *uc, const struct form *form, uintptr_t address,
                        const struct region *region);

/* ---- masked.c ---- */

/* FORM_LOAD_MASKED and FORM_STORE_MASKED, of the device; `region` NULL is not done. */
enum outcome emulate_masked(ucontext_t *uc, const struct form *form, const struct region *region);

/* ---- strings.c ---- */

/* movs, stos, lods, with or without a count. Goes as far as one of the two is the device. */
enum outcome emulate_string(ucontext_t *uc, const ZydisDecodedInstruction *insn,
                            const ZydisDecodedOperand *o, struct chip *chip);

/* ---- elsewhere.c ---- */

/* Makes the pages of this thread; false: no memory. */
bool thread_pages(struct thread *t);
/* Any other instruction with one memory operand: on a copy of its bytes. */
enum outcome run_out_of_line(ucontext_t *uc, const struct form *form,
                             const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o,
                             const struct region *r);

#endif
