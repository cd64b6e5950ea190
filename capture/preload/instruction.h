/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/preload: what an instruction does with memory, between the files that do it.
 */
#ifndef NOCAP_PRELOAD_INSTRUCTION_H
#define NOCAP_PRELOAD_INSTRUCTION_H

#include <Zydis/Zydis.h>

#include "capture/preload/preload.h"

enum { PAGE = 4096, CODE_BYTES = PAGE, BOUNCE_BYTES = 16 * PAGE, CHUNK = 8 * PAGE };

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
    bool segment;
    uint8_t base, index, scale; /* NONE: not used; RIP: of the next instruction */
    int64_t displacement;
};
enum form_kind {
    FORM_SLOW,
    FORM_LOAD,
    FORM_STORE,
    FORM_STORE_VALUE,
    FORM_LOAD_VECTOR,
    FORM_STORE_VECTOR,
};
enum { NONE = 0xFF, RIP = 0xFE };

/* ---- instruction.c ---- */

extern const uint8_t greg_of[16]; /* index of gregs of a register in the order of the encoding */
bool instruction_decode(uintptr_t rip, ZydisDecodedInstruction *insn,
                        ZydisDecodedOperand *operands);
/* The form of the instruction at `rip`; NULL: it does not decode. */
const struct form *form_at(uintptr_t rip);
void form_put_address(struct form *form, const ZydisDecodedOperand *memory);
uintptr_t form_address(const ucontext_t *uc, const struct form *form);
/* Register `reg` of the form. */
void form_set_register(ucontext_t *uc, const struct form *form, uint64_t v);
static inline bool inside(const struct region *r, uintptr_t address, size_t size)
{
    return address >= r->start && address < r->end && size <= r->end - address;
}
/* ---- strings.c ---- */

/* movs, stos, lods, with or without a count. Goes as far as one of the two is the device. */
enum outcome emulate_string(ucontext_t *uc, const ZydisDecodedInstruction *insn,
                            const ZydisDecodedOperand *o, struct chip *chip);

/* ---- elsewhere.c ---- */

/* Makes the pages of this thread; false: no memory. */
bool thread_pages(struct thread *t);
/* Any other instruction with one memory operand: on a copy of its bytes. */
enum outcome run_elsewhere(ucontext_t *uc, const struct form *form,
                           const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o,
                           const struct region *r);

#endif
