/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an instruction, as they ran and as the file has them. Rule AIE-070. */
#include <stdio.h>
#include <string.h>

#include "replay/aie/cert_private.h"

/* An event has the instruction as it ran; only LOAD_PDI differs between dialects in its length. */
static bool decode(const uint8_t *bytes, size_t size, struct nocap_aie_insn *insn)
{
    static const enum nocap_aie_dialect dialects[] = {NOCAP_AIE_F25, NOCAP_AIE_M25};
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const struct nocap_aie_insn_info *info =
            size == 0 ? NULL : nocap_aie_insn_info(dialects[i], bytes[0]);
        if (info != NULL && info->size == size) {
            return nocap_aie_decode(dialects[i], bytes, size, insn) == NOCAP_AIE_DECODED;
        }
    }
    return nocap_aie_decode(NOCAP_AIE_N26, bytes, size, insn) == NOCAP_AIE_DECODED;
}

/* Whether the bytes are those of the file, as far as they were not patched. */
static bool same_bytes(const struct cert_uc *uc, const struct cert_page *page,
                       const struct nocap_event *e, uint64_t off)
{
    const uint8_t *patched = cert_patched(uc, page->index);
    if (off > NOCAP_AIE_PAGE_SIZE || e->data_size > NOCAP_AIE_PAGE_SIZE - off) {
        return false;
    }
    for (uint32_t i = 0; i < e->data_size; i++) {
        uint32_t at = (uint32_t)off + i;
        if (e->data[i] != page->code->bytes[at] && !cert_is_patched(patched, at)) {
            return false;
        }
    }
    return true;
}

static void hex(char *text, size_t size, const uint8_t *bytes, uint32_t count)
{
    text[0] = 0;
    for (uint32_t i = 0; i < count && 2 * i + 3 <= size; i++) {
        snprintf(text + 2 * (size_t)i, size - 2 * (size_t)i, "%02x", bytes[i]);
    }
}

/* Judges the bytes; false if they are not those of the file, there or where the job's next
 * instruction is. A probe of a tracer lies over the first word of an instruction and is no fault.
 */
static bool judge_bytes(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                        const struct nocap_event *e, uint32_t due)
{
    if (page->code == NULL || e->data_size == 0 || e->data[0] == NOCAP_AIE_TRACE) {
        return true;
    }
    if (same_bytes(uc, page, e, e->off) || same_bytes(uc, page, e, due)) {
        MARK_EXERCISED(m, AIE_070);
        return true;
    }
    char ran[48], file[48];
    uint32_t off = e->off < NOCAP_AIE_PAGE_SIZE ? (uint32_t)e->off : NOCAP_AIE_PAGE_SIZE;
    uint32_t rest = NOCAP_AIE_PAGE_SIZE - off;
    hex(ran, sizeof ran, e->data, e->data_size);
    hex(file, sizeof file, page->code->bytes + off, e->data_size < rest ? e->data_size : rest);
    CERT_EXPECT(m, uc, AIE_070, false, NO_REFS, "the bytes of the ELF file",
                "at page %u offset %u ran %s, the file has %s", page->index, (unsigned)e->off, ran,
                file);
    return false;
}

void cert_take_insn(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                    struct cert_step *step, uint32_t due)
{
    const struct nocap_event *e = m->event;
    struct nocap_aie_insn insn;
    uint32_t off = (uint32_t)e->off;
    bool right = judge_bytes(m, uc, page, e, due);
    *step = (struct cert_step){.active = true,
                               .off = off,
                               .since = right ? FAULT_NONE : m->fault,
                               .at = cert_now(m, uc),
                               .raced = {.index = NO_INDEX}};
    bool in_file = page->code != NULL && off < NOCAP_AIE_PAGE_SIZE;
    bool probe = e->data_size != 0 && e->data[0] == NOCAP_AIE_TRACE;
    bool decoded = (in_file && (!right || probe))
                       ? nocap_aie_decode(page->dialect, page->code->bytes + off,
                                          NOCAP_AIE_PAGE_SIZE - off, &insn) == NOCAP_AIE_DECODED
                       : decode(e->data, e->data_size, &insn);
    if (decoded) {
        step->info = insn.info;
        memcpy(step->value, insn.value, sizeof step->value);
        step->next = off + insn.info->size;
    }
}
