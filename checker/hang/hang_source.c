/* SPDX-License-Identifier: Apache-2.0 */
/* Where in its source the core of a root was last: its pc, named by its ELF file. */
#include <inttypes.h>

#include "base/foreign_text.h"
#include "checker/hang/hang_private.h"
#include "formats/elf_cores.h"
#include "replay/core/state.h"

static bool find_pc(struct nocap_engine *engine, const struct nocap_party *p, unsigned agent,
                    uint64_t *pc)
{
    struct nocap_tile_state state;
    if (!p->has_tile || !nocap_is_core(agent) ||
        !nocap_engine_tile_state(engine, p->chip, p->at, &state)) {
        return false;
    }
    const struct nocap_core_state *c = &state.cores[nocap_core(agent)->processor];
    *pc = c->pc;
    return c->pc_index != UINT64_MAX;
}

/* "wait_for_go + 0x12, brisc.c:88 (pc 0x4124)"; without files the pc alone. */
static char *describe(const struct nocap_elf_cores *cores, unsigned agent, uint64_t pc)
{
    char text[512];
    uint32_t offset = 0;
    int line = 0, at = 0;
    const char *symbol = nocap_elf_cores_symbol(cores, agent, pc, &offset);
    const char *file = cores->image[agent] != NULL && pc <= UINT32_MAX
                           ? nocap_elf_line(cores->image[agent], (uint32_t)pc, &line)
                           : NULL;
    if (symbol != NULL) {
        at = snprintf(text, sizeof text, "%.120s + 0x%" PRIx32 ", ", symbol, offset);
    }
    if (file != NULL) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%.300s:%d, ", file, line);
    }
    snprintf(text + at, sizeof text - (size_t)at, "pc 0x%" PRIx64, pc);
    return foreign_copy(text);
}

enum nocap_status nocap_hang_source(struct nocap_hang *h, struct nocap_engine *engine,
                                    const struct nocap_elf_cores *cores, struct nocap_error *err)
{
    for (size_t i = 0; i < h->party_count; i++) {
        struct nocap_hang_party *p = &h->parties[i];
        unsigned agent = nocap_hang_is_queue(p->id.agent) ? NOCAP_BY_BRISC : p->id.agent;
        uint64_t pc;
        if (p->root && find_pc(engine, &p->id, agent, &pc)) {
            p->source = describe(cores, agent, pc);
            RETURN_ERROR_IF(p->source == NULL, err, NOCAP_E_MEMORY, "out of memory");
        }
    }
    return NOCAP_OK;
}
