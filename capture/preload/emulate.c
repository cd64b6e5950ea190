/* SPDX-License-Identifier: Apache-2.0 */
/* One faulting instruction: its access is done on the device's own mapping. Plain moves are done
 * here. */
#include "capture/preload/instruction.h"

_Thread_local struct thread shim_thread __attribute__((tls_model("initial-exec")));

static uint64_t get_register(const ucontext_t *uc, const struct form *f)
{
    uint64_t v = (uint64_t)uc->uc_mcontext.gregs[greg_of[f->reg]];
    return f->high ? v >> 8 : v;
}

/* Of a general register or a constant. */
static bool is_store_of_word(const struct form *f)
{
    return (f->kind == FORM_STORE || f->kind == FORM_STORE_VALUE) && !f->segment;
}

static struct word stored_word(const ucontext_t *uc, const struct form *f, uintptr_t address)
{
    const uint64_t value = f->kind == FORM_STORE ? get_register(uc, f) : f->value;
    return (struct word){address, value, f->size};
}

static void load(const struct region *r, uintptr_t address, void *to, unsigned size)
{
    if (r != NULL) {
        access_load(r, address, to, size, size);
    } else {
        access_copy(to, (const void *)address, size);
    }
}

static void store(const struct region *r, uintptr_t address, const void *from, unsigned size)
{
    if (r != NULL) {
        access_store(r, address, from, size, size);
    } else {
        access_copy((void *)address, from, size);
    }
}

enum outcome emulate_move(ucontext_t *uc, const struct form *f, const struct region *r)
{
    uint8_t bytes[64];
    uint64_t value;
    uintptr_t address = form_address(uc, f);
    if (f->kind == FORM_LOAD_MASKED || f->kind == FORM_STORE_MASKED) {
        return emulate_masked(uc, f, r);
    }
    if (f->segment || (r != NULL && !inside(r, address, f->size))) {
        return OUTCOME_UNKNOWN;
    }
    switch (f->kind) {
    case FORM_STORE:
    case FORM_STORE_VALUE:
        value = stored_word(uc, f, address).value;
        store(r, address, &value, f->size);
        break;
    case FORM_LOAD:
        value = 0;
        load(r, address, &value, f->size);
        if (f->sign) {
            unsigned shift = 64u - f->size * 8u;
            value = (uint64_t)((int64_t)(value << shift) >> shift);
        }
        form_set_register(uc, f, value);
        break;
    case FORM_STORE_VECTOR:
        if (!vector_get(uc, f->reg, bytes, f->size)) {
            return OUTCOME_UNKNOWN;
        }
        store(r, address, bytes, f->size);
        break;
    default:
        load(r, address, bytes, f->size);
        vector_set(uc, f->reg, bytes, f->size, f->clear);
        break;
    }
    uc->uc_mcontext.gregs[REG_RIP] += f->length;
    return OUTCOME_DONE;
}

bool emulate_two_stores(ucontext_t *uc, const struct form *f, uintptr_t address,
                        const struct region *r)
{
    if (!is_store_of_word(f)) {
        return false;
    }
    struct word words[2] = {stored_word(uc, f, address)};
    const struct form *next = form_after(f);
    if (next == NULL || !is_store_of_word(next) || next->base == RIP) {
        return false;
    }
    words[1] = stored_word(uc, next, form_address(uc, next));
    if (!inside(r, words[1].address, words[1].size)) {
        return false;
    }
    access_store_two(r, words);
    uc->uc_mcontext.gregs[REG_RIP] += (greg_t)(f->length + next->length);
    return true;
}

/* Those that are no plain moves. */
static enum outcome emulate_slow(ucontext_t *uc, const struct form *f, const struct region *region)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!instruction_decode(f->rip, &insn, operands)) {
        return OUTCOME_UNKNOWN;
    }
    if (insn.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        switch (insn.mnemonic) {
        case ZYDIS_MNEMONIC_MOVSB:
        case ZYDIS_MNEMONIC_MOVSW:
        case ZYDIS_MNEMONIC_MOVSD:
        case ZYDIS_MNEMONIC_MOVSQ:
        case ZYDIS_MNEMONIC_STOSB:
        case ZYDIS_MNEMONIC_STOSW:
        case ZYDIS_MNEMONIC_STOSD:
        case ZYDIS_MNEMONIC_STOSQ:
        case ZYDIS_MNEMONIC_LODSB:
        case ZYDIS_MNEMONIC_LODSW:
        case ZYDIS_MNEMONIC_LODSD:
        case ZYDIS_MNEMONIC_LODSQ: return emulate_string(uc, &insn, operands, region->chip);
        default: return OUTCOME_UNKNOWN;
        }
    }
    return run_out_of_line(uc, f, &insn, operands, region);
}

enum outcome emulate(ucontext_t *uc, const struct region *region, uint32_t version,
                     uintptr_t address)
{
    struct thread *t = &shim_thread;
    uintptr_t rip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    const struct form *f = form_and_next(rip);
    enum outcome outcome = OUTCOME_UNKNOWN;
    t->in_access = 1;
    if (f != NULL && rip != address) { /* else no code, or code on the device */
        bool plain = f->kind != FORM_SLOW && f->mask == 0;
        outcome = plain                  ? OUTCOME_DONE /* as soon as it goes on */
                  : f->kind == FORM_SLOW ? emulate_slow(uc, f, region)
                                         : emulate_move(uc, f, region);
        t->in_access = plain;
    }
    if (outcome == OUTCOME_DONE) {
        outcome = go_on(uc, rip, region, version);
    } else if (outcome == OUTCOME_UNKNOWN) {
        chip_unlock(region->chip);
    }
    t->in_access = 0;
    return outcome;
}
