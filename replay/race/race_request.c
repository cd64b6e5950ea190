/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of network interfaces as accesses to the memories at their ends. */
#include "formats/blackhole/niu.h"
#include "replay/race/race_private.h"

enum {
    /* What a NOC read brings of this size may be a flag of the far tile. */
    FLAG_MAX = 64,
    WORD_MAX = 8,
};

static bool memory_place(const struct model *m, struct nocap_xy at, uint64_t addr, uint64_t size)
{
    if (!m->knows_tiles) {
        return addr < NOCAP_NIU_MMIO_FIRST && size <= NOCAP_NIU_MMIO_FIRST - addr;
    }
    enum nocap_tile_kind kind = nocap_tile_kind(m->header->board, at);
    enum nocap_niu_place place = nocap_niu_place(kind, addr);
    return (place == NOCAP_PLACE_L1 || place == NOCAP_PLACE_DRAM) &&
           nocap_niu_place(kind, addr + size - 1) == place;
}

static bool is_stream(const struct model *m, struct nocap_xy at, uint64_t addr)
{
    return m->knows_tiles && addr >= NOCAP_BASE_STREAM && addr <= NOCAP_LAST_STREAM &&
           nocap_is_tensix_tile(m->header->board, at);
}

static unsigned channel_of(const struct nocap_event *e)
{
    unsigned kind = e->mcast ? RACE_CHANNEL_MULTICAST : 0;
    bool ctrl = (e->has & NOCAP_F_CTRL) != 0;
    if (ctrl && (e->ctrl & NOCAP_CTRL_VC_STATIC) != 0) {
        return kind | nocap_niu_vc((uint32_t)e->ctrl);
    }
    bool given = (e->has & NOCAP_F_VC) != 0 && e->vc < RACE_CHANNEL_MULTICAST;
    return kind | (given ? e->vc : RACE_CHANNEL_UNKNOWN);
}

static struct race_access access_of(const struct race_place *p, const struct nocap_event *e,
                                    enum race_way way, uint64_t addr)
{
    return (struct race_access){
        .index = race_stamp(e->index),
        .first = addr,
        .end = addr + e->size,
        .agent = race_agent(p, e->by),
        .place = p->number,
        .way = (uint8_t)way,
        .noc = e->noc,
        .channel = (uint8_t)channel_of(e),
        .atomic = e->op == NOCAP_OP_ATOMIC,
        .size = (uint32_t)(e->size < UINT32_MAX ? e->size : UINT32_MAX),
    };
}

/* What a write brings is also told by who knew what at the far end of a read. */
static void learn_far(struct model *m, struct race_clock **clock, struct race_place *where,
                      const struct race_access *a)
{
    struct race_memory *memory = &where->memory;
    for (uint32_t i = race_memory_find(memory, a->first);
         i < memory->count && memory->rows[i].first < a->end; i++) {
        race_learn_span(m, clock, where, race_memory_at(memory, i));
    }
}

static void request_read(struct model *m, struct race_place *p, const struct nocap_event *e,
                         const struct nocap_noc_ends *ends)
{
    struct race_clock *release = race_clock_share(p->clocks[race_core(e->by)]);
    bool from = ends->from_known && memory_place(m, ends->from, e->saddr, e->size);
    struct race_place *far_place = from ? race_place_get(m, e->chip, ends->from) : NULL;
    if (far_place != NULL) {
        struct race_access a = access_of(p, e, RACE_ARRIVE, e->saddr);
        race_judge(m, far_place, &a, false);
        if (e->size <= FLAG_MAX) {
            learn_far(m, &release, far_place, &a);
        }
        race_put_read(m, far_place, &a);
    }
    if ((e->has & NOCAP_F_DADDR) != 0 && memory_place(m, p->at, e->daddr, e->size)) {
        struct race_access a = access_of(p, e, RACE_ARRIVE, e->daddr);
        race_judge(m, p, &a, true);
        race_put_write(m, p, &a, release, NULL);
    } else {
        race_clock_drop(release);
    }
    p->fetched = race_stamp(e->index);
}

/* A write, inline write or atomic as it arrives in one tile. */
static void request_arrives(struct model *m, struct race_place *p, const struct nocap_event *e,
                            struct nocap_xy to)
{
    bool stream = is_stream(m, to, e->daddr);
    struct race_place *far_place =
        stream || memory_place(m, to, e->daddr, e->size) ? race_place_get(m, e->chip, to) : NULL;
    if (far_place == NULL) {
        return;
    }
    struct race_clock *knows = p->clocks[race_core(e->by)];
    struct race_access a = access_of(p, e, e->posted ? RACE_ORDER : RACE_ACK, e->daddr);
    far_place->reached = race_stamp(e->index);
    if (stream) {
        a.first = e->daddr - e->daddr % NOCAP_STREAM_STRIDE;
        a.end = a.first + NOCAP_STREAM_STRIDE;
        a.atomic = true;
    }
    if (a.atomic) {
        race_put_add(m, far_place, &a, knows);
        return;
    }
    race_judge_locks(m, far_place, &a);
    race_judge(m, far_place, &a, true);
    struct access bytes = {.size = e->size};
    if ((e->has & NOCAP_F_VALUE) != 0) {
        bytes.bytes = (const uint8_t *)&e->value;
        bytes.known = e->size <= WORD_MAX ? e->size : 0;
    } else if ((e->has & NOCAP_F_DATA) != 0) {
        bytes.bytes = e->data;
        bytes.known = e->data_size;
    }
    race_put_write(m, far_place, &a, race_clock_share(knows), &bytes);
}

static void each_target(struct model *m, struct race_place *p, const struct nocap_event *e,
                        const struct nocap_noc_ends *ends)
{
    for (struct nocap_tiles t = nocap_tiles(ends->to, ends->to_other); !t.over;
         nocap_next_tile(&t)) {
        bool self = e->mcast && nocap_xy_equal(t.at, p->at);
        bool worker = !e->mcast || !m->knows_tiles || nocap_is_tensix_tile(m->header->board, t.at);
        if (!self && worker) {
            request_arrives(m, p, e, t.at);
        }
    }
}

static void request_write(struct model *m, struct race_place *p, const struct nocap_event *e,
                          const struct nocap_noc_ends *ends)
{
    bool source = e->op == NOCAP_OP_WRITE && (e->has & NOCAP_F_SADDR) != 0;
    if (source && memory_place(m, p->at, e->saddr, e->size)) {
        struct race_access a = access_of(p, e, RACE_LEAVE, e->saddr);
        race_judge(m, p, &a, false);
        race_put_read(m, p, &a);
    }
    if (ends->to_known) {
        each_target(m, p, e, ends);
    }
}

void race_request(struct model *m, const struct nocap_event *e)
{
    bool core = nocap_is_core(e->by) && (e->has & NOCAP_F_BY) != 0;
    bool sized = (e->has & NOCAP_F_SIZE) != 0 && e->size > 0 && e->size <= NOCAP_NIU_SPLIT_BELOW;
    if (!core || (e->has & NOCAP_F_NOC) == 0 || e->noc >= RACE_NOCS || !race_begin(m)) {
        return;
    }
    struct race_place *p = race_place_get(m, e->chip, e->at);
    struct nocap_event sized_event = *e;
    if (e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE) {
        sized_event.size = NOCAP_NIU_MMIO_SIZE;
        sized = true;
    }
    if (p == NULL || !sized) {
        return;
    }
    race_of(m)->started = true;
    p->sent[e->noc] = race_stamp(e->index);
    struct nocap_noc_ends ends = nocap_noc_ends(e);
    if (e->op == NOCAP_OP_READ) {
        request_read(m, p, &sized_event, &ends);
    } else if ((e->has & NOCAP_F_DADDR) != 0 || e->op == NOCAP_OP_WRITE) {
        ends.to_known &= (e->has & NOCAP_F_DADDR) != 0;
        request_write(m, p, &sized_event, &ends);
    }
}
