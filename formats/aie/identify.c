/* SPDX-License-Identifier: Apache-2.0 */
/* Which dialect and which chip a file is of. The header says so of files of 2026; of older ones the
 * instructions do, by the length of LOAD_PDI. */
#include "formats/aie/image_private.h"
#include "formats/aie/page.h"

enum { OSABI_N26 = 0x46 };

/* Whether the page's instructions are those of the dialect, up to EOF, and its jobs are ended: read
 * with too long a LOAD_PDI they are not. */
static bool decodes(const struct nocap_aie_page *page, enum nocap_aie_dialect dialect)
{
    struct nocap_aie_walker walker;
    enum nocap_aie_walk step;
    bool open = false;
    nocap_aie_walk_begin(&walker, page, dialect);
    while ((step = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN) {
        bool start = nocap_aie_starts_job(walker.insn.info->opcode);
        if (open == start) {
            return false;
        }
        open = walker.insn.info->opcode != NOCAP_AIE_END_JOB;
    }
    return step == NOCAP_AIE_WALK_EOF && !open;
}

static size_t count_decoded(const struct nocap_aie_image *image, enum nocap_aie_dialect dialect)
{
    size_t count = 0;
    for (size_t i = 0; i < image->page_count; i++) {
        count += decodes(&image->pages[i], dialect);
    }
    return count;
}

static enum nocap_aie_dialect find_dialect(const struct nocap_aie_image *image)
{
    static const enum nocap_aie_dialect order[] = {NOCAP_AIE_SEED, NOCAP_AIE_F25, NOCAP_AIE_M25,
                                                   NOCAP_AIE_N26};
    enum nocap_aie_dialect best = order[0];
    size_t most = 0;
    if (image->elf && (image->os_abi == OSABI_N26 || image->merged || image->chip == NOCAP_AIE4)) {
        return NOCAP_AIE_N26;
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0] && most < image->page_count; i++) {
        size_t count = count_decoded(image, order[i]);
        if (count > most) {
            most = count;
            best = order[i];
        }
    }
    return best;
}

static enum nocap_aie_chip find_chip(const struct nocap_aie_image *image)
{
    enum nocap_aie_chip chip = NOCAP_AIE_CHIP_UNKNOWN;
    if (image->elf && nocap_aie_target_of(image->os_abi, &chip) != NULL) {
        return chip;
    }
    for (size_t i = 0; i < image->relocation_count && chip == NOCAP_AIE_CHIP_UNKNOWN; i++) {
        chip = nocap_aie_relocation_chip(image->relocations[i].type);
    }
    return chip;
}

void aie_image_identify(struct nocap_aie_image *image)
{
    image->chip = find_chip(image);
    image->dialect = find_dialect(image);
    if (image->chip == NOCAP_AIE_CHIP_UNKNOWN && image->dialect != NOCAP_AIE_N26) {
        image->chip = NOCAP_AIE2PS; /* there was no other */
    }
}
