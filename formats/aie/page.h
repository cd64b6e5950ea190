/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of one page, one after the other from its header to EOF. */
#ifndef NOCAP_AIE_PAGE_H
#define NOCAP_AIE_PAGE_H

#include "formats/aie/image.h"

enum nocap_aie_walk {
    NOCAP_AIE_WALK_INSN,      /* an instruction; `at` is its place */
    NOCAP_AIE_WALK_EOF,       /* EOF itself: the last one */
    NOCAP_AIE_WALK_NO_OPCODE, /* no instruction of the dialect begins at `at`: the end */
    NOCAP_AIE_WALK_CUT,       /* the text ends inside the instruction at `at`: the end */
    NOCAP_AIE_WALK_NO_EOF,    /* the text ends before EOF: the end */
};

struct nocap_aie_walker {
    const struct nocap_aie_page *page;
    enum nocap_aie_dialect dialect;
    uint32_t next, end; /* offsets from the page's start */
    uint32_t at;        /* of the instruction that was walked to last */
    struct nocap_aie_insn insn;
};

void nocap_aie_walk_begin(struct nocap_aie_walker *walker, const struct nocap_aie_page *page,
                          enum nocap_aie_dialect dialect);
/* After anything but NOCAP_AIE_WALK_INSN the walk is over. */
enum nocap_aie_walk nocap_aie_walk_next(struct nocap_aie_walker *walker);

/* Where the data of a page begin whose EOF stands at `eof`. */
uint32_t nocap_aie_data_begin(const struct nocap_aie_page *page, uint32_t eof);
static inline uint32_t nocap_aie_head(const struct nocap_aie_page *page, uint32_t word)
{
    return nocap_aie_u16(page->bytes + word);
}

#endif
