/* SPDX-License-Identifier: Apache-2.0 */
/* The model, and the places where requests go. Rules NOC-041 to NOC-045; requests are
 * race_request.c's, other accesses race_access.c's, which rules are broken race_judge.c's. */
#include <stdlib.h>

#include "replay/race/race_private.h"

/* ---- places ---- */

static inline struct race_mem_ctx **race_slot(struct race *r, uint16_t chip, struct nocap_xy at)
{
    uint32_t i = ((uint32_t)chip << 16 | (uint32_t)at.x << 8 | at.y) * UINT32_C(2654435761) >> 8;
    i %= RACE_SLOTS;
    while (r->slots[i] != NULL &&
           (r->slots[i]->chip != chip || !nocap_xy_equal(r->slots[i]->at, at))) {
        i = (i + 1) % RACE_SLOTS;
    }
    return &r->slots[i];
}

/* Bytes of what requests reach as memory. */
static uint64_t size_of(const struct model *m, struct nocap_xy at)
{
    if (!m->knows_tiles) {
        return NOCAP_NIU_MMIO_FIRST;
    }
    switch (model_tile_kind(m, at)) {
    case NOCAP_TILE_TENSIX: return NOCAP_L1_SIZE;
    case NOCAP_TILE_ETHERNET: return NOCAP_NIU_ETHERNET_L1_SIZE;
    case NOCAP_TILE_DRAM: return NOCAP_NIU_DRAM_SIZE;
    default: return 0;
    }
}

static struct race_mem_ctx *new_place(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct race *r = race_of(m);
    struct race_mem_ctx *p = r->count < RACE_PLACES_MAX ? calloc(1, sizeof *p) : NULL;
    m->out_of_memory |= p == NULL && r->count < RACE_PLACES_MAX;
    if (p == NULL) {
        return NULL;
    }
    p->chip = chip;
    p->at = at;
    p->number = r->count++;
    p->size = size_of(m, at);
    p->worker = m->knows_tiles && model_is_tensix(m, at);
    for (unsigned core = 0; core < CORES; core++) {
        p->agents[core].place = p;
    }
    p->next = r->latest;
    return *race_slot(r, chip, at) = r->latest = p;
}

struct race_mem_ctx *race_place(struct model *m, uint16_t chip, struct nocap_xy at)
{
    struct race_mem_ctx *p = *race_slot(race_of(m), chip, at);
    return __builtin_expect(p != NULL, 1) ? p : new_place(m, chip, at);
}

static void forget_tile(struct model *m, struct tile *tile)
{
    struct race_part *part = tile->part[MODEL_RACE];
    (void)m;
    part->place = NULL;
}

/* Also where events were lost: then it begins anew with the next request. */
static void release(struct model *m)
{
    struct race *r = race_of(m);
    for (struct race_mem_ctx *p = r == NULL ? NULL : r->latest, *next; p != NULL; p = next) {
        next = p->next;
        race_memory_free(&p->memory);
        for (unsigned i = 0; p->streams != NULL && i < RACE_STREAMS; i++) {
            race_clock_drop(p->streams[i].release);
        }
        free(p->streams);
        for (unsigned core = 0; core < CORES; core++) {
            race_clock_drop(p->agents[core].clock);
        }
        free(p);
    }
    free(r);
    m->state[MODEL_RACE] = NULL;
}

bool race_begin(struct model *m)
{
    if (race_of(m) == NULL) {
        struct race *r = m->state[MODEL_RACE] = calloc(1, sizeof *r);
        const uint32_t outside = NOCAP_CLASS_HOST_MMIO;
        if (r != NULL) {
            r->all_seen = (m->header->observes & outside) == outside && !m->header->has_scope;
        }
        m->out_of_memory |= r == NULL;
    }
    return race_of(m) != NULL;
}

/* ---- the model ---- */

static uint32_t wants(const struct model *m)
{
    const uint32_t requests = OBS(REQUEST) | OBS(NOTE);
    if (m->knows_tiles && race_of(m) != NULL && race_of(m)->started) {
        return requests | OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(RESTATED);
    }
    return m->knows_tiles || m->header->arch == NOCAP_ARCH_WORMHOLE ? requests : 0;
}

static void check(struct model *m, const struct observation *o)
{
    if (o->region->region == NOCAP_REGION_L1) {
        race_core_memory(m, o);
    } else if (o->region->region == NOCAP_REGION_STREAM) {
        race_core_stream(m, o);
    } else {
        race_core_message(m, o);
    }
}

/* Requests of an interface are over. */
static void ended(struct model *m)
{
    for (uint32_t i = 0; race_of(m) != NULL && i < m->ended_count; i++) {
        const struct ended *e = &m->ended[i];
        struct race_mem_ctx *p = *race_slot(race_of(m), e->tile->chip, e->tile->at);
        if (p == NULL || e->kind == NOCAP_ATOMICS || (e->kind == NOCAP_READS && !e->done)) {
            continue;
        }
        uint64_t sent = p->sent[e->noc], index = race_stamp(e->index);
        uint64_t until = index < sent ? index : sent;
        unsigned first = e->kind == NOCAP_WRITES ? RACE_LEAVE : RACE_ARRIVE;
        unsigned last = e->kind == NOCAP_WRITES && e->done ? RACE_ACK : first;
        for (unsigned way = first; way <= last; way++) {
            uint64_t *over = &p->over[way][e->noc];
            *over = until > *over ? until : *over;
        }
    }
}

const struct model_ops race_model = {
    .name = "race",
    .id = MODEL_RACE,
    .first_rule = NOC_041,
    .last_rule = NOC_045,
    .uses = 1u << MODEL_NOC,
    .tile_size = sizeof(struct race_part),
    .wants = wants,
    .places = PLACE(L1) | PLACE(LOW) | PLACE_MAILBOX | PLACE(STREAM) | PLACE(COPROCESSOR),
    .free = release,
    .check = check,
    .check_of = {[OBS_REQUEST] = race_request,
                 [OBS_NOTE] = race_note,
                 [OBS_OUTSIDE_STORE] = race_outside_store,
                 [OBS_RESTATED] = race_outside_store},
    .ended = ended,
    .forget = release,
    .tile_forget = forget_tile,
};
