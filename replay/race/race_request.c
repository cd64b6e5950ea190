/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of network interfaces as accesses to the memories at their ends. */
#include "formats/blackhole/noc_ends.h"
#include "replay/race/race_private.h"

enum { FLAG_MAX = 64 }; /* what a NOC read brings of this size may be a flag of the far tile */

static bool holds(const struct race_mem_ctx *p, uint64_t addr, uint64_t size)
{
    return addr < p->size && size <= p->size - addr;
}

static unsigned channel_of(const struct nocap_event *e)
{
    unsigned kind = e->mcast ? RACE_CHANNEL_MULTICAST : 0;
    if ((e->has & NOCAP_F_CTRL) != 0 && (e->ctrl & NOCAP_CTRL_VC_STATIC) != 0) {
        return kind | nocap_niu_vc((uint32_t)e->ctrl);
    }
    bool given = (e->has & NOCAP_F_VC) != 0 && e->vc < RACE_CHANNEL_MULTICAST;
    return kind | (given ? e->vc : RACE_CHANNEL_UNKNOWN);
}

/* The access of the request to its bytes at one end. */
static struct race_access access_at(const struct race_access *request, enum race_completion way,
                                    uint64_t addr)
{
    struct race_access a = *request;
    a.way = (uint8_t)way;
    a.first = addr;
    a.end = addr + request->size;
    return a;
}

static void request_read(struct model *m, struct race_mem_ctx *p, const struct nocap_event *e,
                         const struct nocap_noc_ends *ends, const struct race_access *request)
{
    struct race_clock *release = race_clock_share(request->agent->clock);
    struct race_mem_ctx *far_place = ends->from_known ? race_place(m, e->chip, ends->from) : NULL;
    if (far_place != NULL && holds(far_place, e->saddr, request->size)) {
        struct race_access a = access_at(request, RACE_ARRIVE, e->saddr);
        struct race_memory *memory = &far_place->memory;
        /* what it brings also depends on who knew what at the far end */
        for (uint32_t i = race_memory_find(memory, a.first);
             a.size <= FLAG_MAX && i < memory->count && memory->rows[i].first < a.end; i++) {
            race_join(m, &release, a.agent, far_place, &race_memory_at(memory, i)->news);
        }
        race_read(m, far_place, &a, NULL);
    }
    if ((e->has & NOCAP_F_DADDR) != 0 && holds(p, e->daddr, request->size)) {
        struct race_access a = access_at(request, RACE_ARRIVE, e->daddr);
        race_write(m, p, &a, release, NULL);
    } else {
        race_clock_drop(release);
    }
    p->fetched = request->index;
}

/* A write, inline write or atomic as it arrives in one tile. */
static void request_arrives(struct model *m, const struct nocap_event *e, struct nocap_xy to,
                            const struct race_access *request)
{
    struct race_mem_ctx *p = race_place(m, e->chip, to);
    bool stream = p != NULL && p->worker && race_is_stream(e->daddr);
    if (p == NULL || (!stream && !holds(p, e->daddr, request->size))) {
        return;
    }
    struct race_access a = access_at(request, e->posted ? RACE_ORDER : RACE_ACK, e->daddr);
    p->reached = request->index;
    a.atomic |= stream;
    struct race_news *news = stream ? race_stream(m, p, e->daddr) : NULL;
    if (news != NULL) {
        race_count(m, p, news, &a);
    }
    if (a.atomic && !stream) {
        race_add(m, p, &a);
    }
    if (a.atomic) {
        return;
    }
    const struct access bytes = access_of_event(e, a.first, a.size);
    race_judge_locks(m, p, &a);
    race_write(m, p, &a, race_clock_share(a.agent->clock), &bytes);
}

static void request_write(struct model *m, struct race_mem_ctx *p, const struct nocap_event *e,
                          const struct nocap_noc_ends *ends, const struct race_access *request)
{
    bool source = e->op == NOCAP_OP_WRITE && (e->has & NOCAP_F_SADDR) != 0;
    if (source && holds(p, e->saddr, request->size)) {
        struct race_access a = access_at(request, RACE_LEAVE, e->saddr);
        race_read(m, p, &a, NULL);
    }
    if (!ends->to_known || (e->has & NOCAP_F_DADDR) == 0) {
        return;
    }
    for (struct nocap_tiles t = nocap_tiles(ends->to, ends->to_other); !t.over;
         nocap_next_tile(&t)) {
        bool self = e->mcast && nocap_xy_equal(t.at, p->at);
        bool worker = !e->mcast || !m->knows_tiles || model_is_tensix(m, t.at);
        if (!self && worker) {
            request_arrives(m, e, t.at, request);
        }
    }
}

void race_request(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    bool word = e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE;
    uint64_t size = word ? NOCAP_NIU_MMIO_SIZE : (e->has & NOCAP_F_SIZE) != 0 ? e->size : 0;
    bool core = nocap_is_core(e->by) && (e->has & NOCAP_F_BY) != 0;
    if (!core || (e->has & NOCAP_F_NOC) == 0 || e->noc >= RACE_NOCS || !race_begin(m)) {
        return;
    }
    struct race_mem_ctx *p =
        o->tile != NULL ? race_here(m, o->tile) : race_place(m, e->chip, e->at);
    if (p == NULL || size == 0 || size > NOCAP_NIU_SPLIT_BELOW) {
        return;
    }
    const struct race_access request = {.index = race_stamp(e->index),
                                        .agent = race_agent(p, e->by),
                                        .size = (uint32_t)size,
                                        .noc = e->noc,
                                        .channel = (uint8_t)channel_of(e),
                                        .atomic = e->op == NOCAP_OP_ATOMIC};
    m->due |= race_of(m)->started ? 0 : DUE_ROUTES;
    race_of(m)->started = true;
    p->sent[e->noc] = request.index;
    if (e->op == NOCAP_OP_READ) {
        request_read(m, p, e, o->ends, &request);
    } else {
        request_write(m, p, e, o->ends, &request);
    }
}
