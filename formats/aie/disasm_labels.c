/* SPDX-License-Identifier: Apache-2.0 */
/* The places in the data of a page that its instructions and descriptors point to. */
#include <string.h>

#include "formats/aie/disasm_private.h"

enum { WORD = 4 };

static bool mark(struct aie_labels *l, uint64_t at, uint8_t as)
{
    if (at < l->data || at >= l->end || at % WORD != 0) {
        return false;
    }
    bool fresh = l->marks[at] == 0;
    l->marks[at] |= as;
    return fresh;
}

/* Marks what the descriptors of a chain point to. */
static void mark_chain(struct aie_labels *l, uint32_t at)
{
    struct nocap_aie_bd bd;
    do {
        if (at + NOCAP_AIE_BD_SIZE > l->end) {
            break;
        }
        nocap_aie_bd_decode(l->page->bytes + at, &bd);
        mark(l, (uint64_t)at + bd.local, MARK_WORDS);
        at += NOCAP_AIE_BD_SIZE;
    } while (bd.next);
}

/* A table; in n26 each of its entries has a label. */
static void mark_tables(struct aie_labels *l, const struct nocap_aie_insn *insn, uint32_t at,
                        enum nocap_aie_dialect dialect)
{
    bool entries = insn->info->opcode == NOCAP_AIE_APPLY_OFFSET_57 && dialect == NOCAP_AIE_N26;
    uint32_t count = entries ? insn->value[NOCAP_AIE_APPLY_OFFSET_57_num_entries] : 1;
    mark(l, at, MARK_WORDS);
    for (uint32_t i = 1; i < count && at < l->end; i++) {
        at += NOCAP_AIE_TABLE_ENTRY_SIZE;
        mark(l, at, MARK_WORDS);
    }
}

void aie_find_labels(enum nocap_aie_dialect dialect, struct aie_labels *l,
                     const struct nocap_aie_page *page)
{
    struct nocap_aie_walker walker;
    enum nocap_aie_walk step;
    uint32_t length = nocap_aie_head(page, NOCAP_AIE_HEAD_LENGTH);
    memset(l, 0, sizeof *l);
    l->page = page;
    nocap_aie_walk_begin(&walker, page, dialect);
    while ((step = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN) {
    }
    if (step != NOCAP_AIE_WALK_EOF) {
        return;
    }
    l->data = nocap_aie_data_begin(page, walker.at);
    l->end = length < NOCAP_AIE_PAGE_SIZE ? length : NOCAP_AIE_PAGE_SIZE;
    nocap_aie_walk_begin(&walker, page, dialect);
    while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        for (unsigned f = 0; f < nocap_aie_field_count(walker.insn.info); f++) {
            uint32_t at = walker.insn.value[f] + NOCAP_AIE_HEADER_SIZE;
            uint8_t kind = walker.insn.info->fields[f].kind;
            if (kind == NOCAP_AIE_TABLE) {
                mark_tables(l, &walker.insn, at, dialect);
            } else if (kind == NOCAP_AIE_DESC) {
                if (mark(l, at, MARK_DESCRIPTOR)) {
                    mark_chain(l, at);
                }
            }
        }
    }
}

uint32_t aie_group_end(const struct aie_labels *l, uint32_t at)
{
    do {
        at += WORD;
    } while (at < l->end && l->marks[at] == 0);
    return at < l->end ? at : l->end;
}

uint32_t aie_descriptors_end(const struct aie_labels *l, uint32_t at, uint32_t end)
{
    bool whole = (end - at) % NOCAP_AIE_BD_SIZE == 0;
    struct nocap_aie_bd bd = {.next = true};
    uint32_t chain = at;
    if (l->marks[at] != MARK_DESCRIPTOR) {
        return at;
    }
    for (; end - at >= NOCAP_AIE_BD_SIZE; at += NOCAP_AIE_BD_SIZE) {
        uint8_t again[NOCAP_AIE_BD_SIZE];
        bool first = bd.next;
        nocap_aie_bd_decode(l->page->bytes + at, &bd);
        nocap_aie_bd_encode(&bd, again);
        if (!bd.local_relative || memcmp(again, l->page->bytes + at, sizeof again) != 0) {
            return chain;
        }
        bd.next &= first;
        chain = first ? at + NOCAP_AIE_BD_SIZE : chain;
    }
    return whole ? end : chain;
}
