/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/aie/page.h"

void nocap_aie_walk_begin(struct nocap_aie_walker *walker, const struct nocap_aie_page *page,
                          enum nocap_aie_dialect dialect)
{
    *walker = (struct nocap_aie_walker){
        .page = page,
        .dialect = dialect,
        .next = NOCAP_AIE_HEADER_SIZE,
        .end = page->text_size != 0 ? page->text_size : NOCAP_AIE_PAGE_SIZE,
    };
}

enum nocap_aie_walk nocap_aie_walk_next(struct nocap_aie_walker *walker)
{
    walker->at = walker->next;
    if (walker->at >= walker->end) {
        return NOCAP_AIE_WALK_NO_EOF;
    }
    switch (nocap_aie_decode(walker->dialect, walker->page->bytes + walker->at,
                             walker->end - walker->at, &walker->insn)) {
    case NOCAP_AIE_NO_OPCODE: return NOCAP_AIE_WALK_NO_OPCODE;
    case NOCAP_AIE_CUT: return NOCAP_AIE_WALK_CUT;
    case NOCAP_AIE_DECODED: break;
    }
    walker->next += walker->insn.info->size;
    return walker->insn.info->opcode == NOCAP_AIE_EOF ? NOCAP_AIE_WALK_EOF : NOCAP_AIE_WALK_INSN;
}

uint32_t nocap_aie_data_begin(const struct nocap_aie_page *page, uint32_t eof)
{
    uint32_t end = eof + NOCAP_AIE_EOF_SIZE;
    if (page->text_size > end) {
        return page->text_size;
    }
    return (end + NOCAP_AIE_DATA_ALIGN - 1) / NOCAP_AIE_DATA_ALIGN * NOCAP_AIE_DATA_ALIGN;
}
