/* SPDX-License-Identifier: Apache-2.0 */
/* String instructions: a whole copy is one fault. */
#include <string.h>

#include "capture/preload/instruction.h"

/* Accesses of a string instruction: of its element to memory that is not cached; a write-combined
 * window takes as much at once as lies aligned. */
static unsigned string_width(const struct region *r, uintptr_t address, size_t size,
                             unsigned element)
{
    unsigned width = element;
    while (r->map == NOCAP_MAP_WC && width < 8 && (address | size) % (width * 2) == 0) {
        width *= 2;
    }
    return width;
}

static size_t up_to(const struct region *r, uintptr_t address, size_t size)
{
    return size < r->end - address ? size : r->end - address;
}

/* Bytes of an element; 0: an operand is in a segment with a base. Whether it is loaded, stored. */
static unsigned element_size(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o,
                             bool *loads, bool *stores)
{
    unsigned size = 0;
    for (unsigned i = 0; i < insn->operand_count; i++) {
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            bool to = (o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
            size = o[i].size / 8;
            *stores |= to;
            *loads |= !to;
            if (o[i].mem.segment == ZYDIS_REGISTER_FS || o[i].mem.segment == ZYDIS_REGISTER_GS) {
                return 0;
            }
        }
    }
    return size;
}

enum outcome emulate_string(ucontext_t *uc, const ZydisDecodedInstruction *insn,
                            const ZydisDecodedOperand *o, struct chip *chip)
{
    struct thread *t = &shim_thread;
    greg_t *g = uc->uc_mcontext.gregs;
    bool lods = false, stos = false;
    unsigned size = element_size(insn, o, &lods, &stos);
    bool movs = lods && stos, rep = (insn->attributes & ZYDIS_ATTRIB_HAS_REP) != 0;
    bool down = (g[REG_EFL] & 0x400) != 0;
    if (size == 0 || insn->address_width != 64 || !thread_pages(t)) {
        return OUTCOME_UNKNOWN;
    }
    uint64_t left = rep ? (uint64_t)g[REG_RCX] : 1;
    while (left > 0) {
        uintptr_t from = (uintptr_t)g[REG_RSI], to = (uintptr_t)g[REG_RDI];
        struct region source, target;
        bool from_device = lods && region_find(from, &source);
        bool to_device = stos && region_find(to, &target);
        if ((!from_device && !to_device) || (from_device && source.chip != chip) ||
            (to_device && target.chip != chip)) {
            return OUTCOME_DONE; /* the processor goes on from here */
        }
        size_t n = down || (lods && !movs) ? size : left < CHUNK / size ? left * size : CHUNK;
        n = from_device ? up_to(&source, from, n) : n;
        n = to_device ? up_to(&target, to, n) : n;
        n -= n % size;
        if (n == 0) {
            return OUTCOME_UNKNOWN;
        }
        if (from_device) {
            access_load(&source, from, t->bounce, n, string_width(&source, from, n, size));
        } else if (lods) {
            memcpy(t->bounce, (const void *)from, n);
        } else {
            for (size_t i = 0; i < n; i += size) {
                memcpy(t->bounce + i, &g[REG_RAX], size);
            }
        }
        if (to_device) {
            access_store(&target, to, t->bounce, n, string_width(&target, to, n, size));
        } else if (stos) {
            memcpy((void *)to, t->bounce, n);
        } else {
            const struct form rax = {.reg = 0, .reg_size = (uint8_t)size};
            uint64_t v = 0;
            memcpy(&v, t->bounce, size);
            form_set_register(uc, &rax, v);
        }
        int64_t step = down ? -(int64_t)n : (int64_t)n;
        g[REG_RSI] += lods ? step : 0;
        g[REG_RDI] += stos ? step : 0;
        left -= n / size;
        if (rep) {
            g[REG_RCX] = (greg_t)left;
        }
    }
    g[REG_RIP] += insn->length;
    return OUTCOME_DONE;
}
