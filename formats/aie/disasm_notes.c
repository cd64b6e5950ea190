/* SPDX-License-Identifier: Apache-2.0 */
/* Comments after the lines of a text: where an instruction stands, which tile and channel its
 * address is of, what a chain of descriptors writes, and where its source is. */
#include <inttypes.h>

#include "base/foreign_text.h"
#include "formats/aie/disasm_private.h"
#include "formats/aie/operands.h"

enum { NAME = 64, SHOWN = 3 }; /* descriptors of a chain that are shown */

static void put_address(const struct aie_printer *p, uint32_t address)
{
    char text[NAME];
    aie_put(p->text, nocap_aie_address_text(p->chip, address, text, sizeof text));
}

static void put_target(const struct aie_printer *p, const struct nocap_aie_bd *bd)
{
    aie_put_number(p->text, bd->length);
    aie_put(p->text, bd->length == 1 ? " word to " : " words to ");
    if (bd->remote > UINT32_MAX || bd->external) {
        fprintf(aie_text_stream(p->text), "0x%" PRIx64 "%s", bd->remote,
                bd->external ? " outside the array" : "");
    } else {
        put_address(p, (uint32_t)bd->remote);
    }
}

/* What the chain at an offset of the page writes. */
static void put_chain(const struct aie_printer *p, const struct nocap_aie_page *page, uint32_t at)
{
    struct nocap_aie_bd bd = {.next = true};
    uint32_t count = 0;
    for (; bd.next && at % NOCAP_AIE_BD_SIZE == 0 && at + NOCAP_AIE_BD_SIZE <= NOCAP_AIE_PAGE_SIZE;
         at += NOCAP_AIE_BD_SIZE, count++) {
        nocap_aie_bd_decode(page->bytes + at, &bd);
        if (count < SHOWN) {
            aie_put(p->text, ", ");
            put_target(p, &bd);
        }
    }
    if (count > SHOWN) {
        aie_put(p->text, ", ");
        aie_put_number(p->text, count - SHOWN);
        aie_put(p->text, " more");
    }
}

static bool names_address(const struct nocap_aie_insn *insn)
{
    return insn->info->opcode != NOCAP_AIE_WRITE_32_D ||
           (insn->value[NOCAP_AIE_WRITE_32_D_flags] & NOCAP_AIE_ADDRESS_IS_CONST) != 0;
}

void aie_note_insn(const struct aie_printer *p, const struct nocap_aie_page *page,
                   const struct nocap_aie_walker *w)
{
    const struct nocap_aie_insn *insn = &w->insn;
    if (!p->notes) {
        return;
    }
    aie_put(p->text, "  ; ");
    aie_put_hex(p->text, w->at, 0);
    for (unsigned f = 0; f < nocap_aie_field_count(insn->info); f++) {
        if (insn->info->fields[f].kind == NOCAP_AIE_ADDR && names_address(insn)) {
            aie_put(p->text, ", ");
            put_address(p, insn->value[f]);
        } else if (insn->info->fields[f].kind == NOCAP_AIE_DESC) {
            put_chain(p, page, insn->value[f] + NOCAP_AIE_HEADER_SIZE);
        }
    }
    const struct nocap_aie_line *line =
        nocap_aie_lines_find(p->lines, page->uc, page->index, w->at);
    if (line != NULL) {
        aie_put(p->text, ", ");
        foreign_put(aie_text_stream(p->text), line->file);
        aie_put(p->text, ":");
        aie_put_number(p->text, line->line);
    }
}

void aie_note_descriptor(const struct aie_printer *p, uint32_t at, const struct nocap_aie_bd *bd)
{
    if (p->notes) {
        aie_put(p->text, "  ; ");
        aie_put_hex(p->text, at, 0);
        aie_put(p->text, ", ");
        put_target(p, bd);
    }
}
