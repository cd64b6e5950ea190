/* SPDX-License-Identifier: Apache-2.0 */
/* Vector moves under a mask, as the C library's small fills are: one instruction on the device, and
 * an event for each run of bytes that the mask lets through. */
#include <string.h>

#include "capture/preload/instruction.h"

/* Through the byte mask `mask`; what it keeps out is not touched, and is 0 in `to` of a load. */
static void load_bytes(void *to, const void *from, uint64_t mask)
{
    __asm__ volatile("kmovq %2, %%k1\n\t"
                     "vmovdqu8 (%1), %%zmm0%{%%k1%}%{z%}\n\t"
                     "vmovdqu64 %%zmm0, (%0)\n\t"
                     "vzeroupper"
                     :
                     : "r"(to), "r"(from), "r"(mask)
                     : "memory", "xmm0");
}

static void store_bytes(void *to, const void *from, uint64_t mask)
{
    __asm__ volatile("kmovq %2, %%k1\n\t"
                     "vmovdqu64 (%1), %%zmm0\n\t"
                     "vmovdqu8 %%zmm0, (%0)%{%%k1%}\n\t"
                     "vzeroupper"
                     :
                     : "r"(to), "r"(from), "r"(mask)
                     : "memory", "xmm0");
}

/* A bit for each byte. */
static uint64_t byte_mask(const struct form *f, uint64_t elements)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < f->size; i++) {
        mask |= (elements >> i / f->element & 1) << i;
    }
    return mask;
}

/* The next run of set bits from bit `*first` on; gives its length, 0: there is none. */
static unsigned next_run(uint64_t mask, unsigned *first)
{
    unsigned size = 0;
    while (*first < 64 && (mask >> *first & 1) == 0) {
        ++*first;
    }
    while (*first + size < 64 && (mask >> (*first + size) & 1) != 0) {
        size++;
    }
    return size;
}

/* On the device. False: not all of it is in the region. */
static bool move(const struct form *f, const struct region *r, uintptr_t address, uint8_t bytes[64],
                 uint64_t mask)
{
    bool stores = f->kind == FORM_STORE_MASKED;
    uint8_t *alias = r->alias + (address - r->start);
    for (unsigned at = 0, n; (n = next_run(mask, &at)) != 0; at += n) {
        if (!inside(r, address + at, n)) {
            return false;
        }
    }
    if (!stores) {
        load_bytes(bytes, alias, mask);
    }
    for (unsigned at = 0, n; (n = next_run(mask, &at)) != 0; at += n) {
        access_record(r, stores ? NOCAP_EV_WRITE : NOCAP_EV_READ, address + at, bytes + at, n);
    }
    if (stores) {
        store_bytes(alias, bytes, mask);
        for (unsigned at = 0, n; (n = next_run(mask, &at)) != 0; at += n) {
            access_keep(r, address + at, bytes + at, n);
        }
    }
    return true;
}

enum outcome emulate_masked(ucontext_t *uc, const struct form *f, const struct region *r)
{
    uint8_t bytes[64] = {0}, old[64] = {0};
    uint64_t elements, mask;
    uintptr_t address = form_address(uc, f);
    if (f->segment || r == NULL || !__builtin_cpu_supports("avx512bw") ||
        !vector_get(uc, f->reg, f->kind == FORM_STORE_MASKED ? bytes : old, f->size) ||
        !vector_mask(uc, f->mask, &elements)) {
        return OUTCOME_UNKNOWN;
    }
    mask = byte_mask(f, elements);
    if (!move(f, r, address, bytes, mask)) {
        return OUTCOME_UNKNOWN;
    }
    for (unsigned i = 0; f->kind == FORM_LOAD_MASKED && !f->zeroes && i < f->size; i++) {
        bytes[i] = (mask >> i & 1) != 0 ? bytes[i] : old[i];
    }
    if (f->kind == FORM_LOAD_MASKED && !vector_set(uc, f->reg, bytes, f->size, true)) {
        return OUTCOME_UNKNOWN;
    }
    uc->uc_mcontext.gregs[REG_RIP] += f->length;
    return OUTCOME_DONE;
}
