/* SPDX-License-Identifier: Apache-2.0 */
/* The model, the places where requests go, and what reaches them: requests, accesses of cores, of
 * the host and of interfaces that are not observed, notes. Rules NOC-041 to NOC-045, which
 * race_judge.c judges. */
#include "formats/blackhole/noc_ends.h"
#include "formats/trace/note.h"
#include "replay/race/race_private.h"

enum { FLAG_MAX = 64 }; /* what a NOC read brings of this size may be a flag of the far tile */

struct race_part { /* of a tile */
    struct race_mem_ctx *place;
};

static struct race_agent *agent_of(struct race_mem_ctx *p, uint8_t by)
{
    return &p->agents[by - NOCAP_BY_BRISC];
}

/* ---- places ---- */

static struct race_mem_ctx **slot_of(struct race *r, uint16_t chip, struct nocap_xy at)
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
    for (unsigned core = 0; core < CORES; core++) {
        p->agents[core].place = p;
    }
    p->next = r->latest;
    return *slot_of(r, chip, at) = r->latest = p;
}

/* A DRAM channel is one place, and requests by two of its ports overtake each other. */
static struct nocap_dram_port port_at(const struct model *m, struct nocap_xy at)
{
    bool dram = m->knows_tiles && model_tile_kind(m, at) == NOCAP_TILE_DRAM;
    return dram ? nocap_dram_port(at) : (struct nocap_dram_port){at, 0};
}

/* The place, made when it is met first; NULL without memory, or when there are too many. */
static struct race_mem_ctx *place_at(struct model *m, uint16_t chip, struct nocap_xy at)
{
    at = port_at(m, at).channel;
    struct race_mem_ctx *p = *slot_of(race_of(m), chip, at);
    return __builtin_expect(p != NULL, 1) ? p : new_place(m, chip, at);
}

/* The same for a tile. */
static inline struct race_mem_ctx *place_of(struct model *m, const struct tile *tile)
{
    struct race_part *part = tile->part[MODEL_RACE];
    if (__builtin_expect(part->place == NULL, 0)) {
        part->place = place_at(m, tile->chip, tile->at);
    }
    return part->place;
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

/* Makes the model's part; false without memory. */
static bool begin(struct model *m)
{
    if (race_of(m) == NULL) {
        struct race *r = m->state[MODEL_RACE] = calloc(1, sizeof *r);
        if (r != NULL) {
            r->all_seen =
                (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0 && !m->header->has_scope;
        }
        m->out_of_memory |= r == NULL;
    }
    return race_of(m) != NULL;
}

/* The stream at an address; NULL: there is none, or no memory. */
static inline struct race_news *stream_at(struct model *m, struct race_mem_ctx *where,
                                          uint64_t addr)
{
    if (addr < NOCAP_BASE_STREAM || addr > NOCAP_LAST_STREAM) {
        return NULL;
    }
    if (__builtin_expect(where->streams == NULL, 0)) {
        where->streams = calloc(RACE_STREAMS, sizeof *where->streams);
        m->out_of_memory |= where->streams == NULL;
    }
    size_t stream = (addr - NOCAP_BASE_STREAM) / NOCAP_STREAM_STRIDE;
    return where->streams == NULL ? NULL : &where->streams[stream];
}

/* ---- accesses of cores, and from outside ---- */

static struct race_access access_of(const struct model *m, const struct access *a,
                                    struct race_agent *agent)
{
    return (struct race_access){.turn = m->turn,
                                .index = m->event->index,
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = agent,
                                .way = RACE_CORE,
                                .size = (uint32_t)a->size};
}

static void core_stream(struct model *m, const struct observation *o)
{
    struct race_mem_ctx *p = place_of(m, o->tile);
    struct race_news *news = p != NULL ? stream_at(m, p, o->access.addr) : NULL;
    if (news == NULL) {
        return;
    }
    struct race_agent *self = agent_of(p, o->access.by);
    struct race_access r = access_of(m, &o->access, self);
    r.atomic = true;
    if (o->access.store) {
        /* firmware sets counters stream by stream: what is asked of the next one */
        __builtin_prefetch(news + 1);
        __builtin_prefetch(&news[1].summed);
        race_count(m, p, news, &r);
    } else if (news->write.turn != 0) {
        race_reported(m, self, p, news);
    } else if (!race_of(m)->all_seen) {
        race_clock_raise_base(m, &self->clock, r.turn);
    }
}

static void core_memory(struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    struct race_mem_ctx *p = place_of(m, o->tile);
    if (p == NULL || a->size == 0 || a->addr + a->size > p->size) {
        return;
    }
    const struct race_access r = access_of(m, a, agent_of(p, a->by));
    if (a->store) {
        race_write(m, p, &r, race_clock_share(r.agent->clock), a);
    } else {
        race_read(m, p, &r, a);
    }
}

/* A hardware mailbox, a semaphore of the coprocessor: a word from an unknown agent. */
static void core_message(struct model *m, const struct observation *o)
{
    uint64_t addr = o->access.addr;
    bool message = (addr >= NOCAP_BASE_PC_BUF0 && addr <= NOCAP_LAST_PC_BUF2) ||
                   (addr >= NOCAP_BASE_HW_MAILBOX0 && addr <= NOCAP_LAST_HW_MAILBOX3);
    struct race_mem_ctx *p = message && !o->access.store ? place_of(m, o->tile) : NULL;
    if (p != NULL) {
        race_clock_raise_base(m, &agent_of(p, o->access.by)->clock, m->turn);
    }
}

/* Bytes from an agent that is not known. */
static void arrives(struct model *m, struct race_mem_ctx *p, const struct access *a)
{
    if (p == NULL || a->size == 0) {
        return;
    }
    struct race_access w = access_of(m, a, NULL);
    p->reached = w.turn;
    struct race_news *news = stream_at(m, p, a->addr);
    if (news != NULL) {
        race_report(news, &w, NULL);
    } else if (a->addr < p->size && w.end <= p->size) {
        race_write(m, p, &w, NULL, a);
    }
}

/* From the host, or from an interface whose requests are not observed. */
static void outside_store(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct access *a = &o->access;
    bool restates = a->by == NOCAP_BY_NOC && (m->header->observes & NOCAP_CLASS_NOC) != 0 &&
                    ((e->has & NOCAP_F_FROM) != 0 ? nocap_header_in_scope(m->header, e->s)
                                                  : !m->header->has_scope);
    if (e->kind == NOCAP_EV_WRITE && !restates) {
        arrives(m, place_of(m, o->tile), a);
    }
}

/* ---- notes ---- */

static void take_lock(struct race_mem_ctx *p, const struct nocap_note *note, uint64_t index)
{
    const struct race_lock lock = {note->addr, note->addr + note->size, index, note->by, note->cb};
    if (note->form == NOCAP_NOTE_LOCK && p->lock_count < RACE_LOCKS) {
        p->locks[p->lock_count++] = lock;
    }
    for (uint32_t i = 0; note->form == NOCAP_NOTE_UNLOCK && i < p->lock_count; i++) {
        const struct race_lock *l = &p->locks[i];
        if (l->first == lock.first && l->end == lock.end && l->by == lock.by && l->cb == lock.cb) {
            p->locks[i] = p->locks[--p->lock_count];
            return;
        }
    }
}

static void note(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct nocap_note n = nocap_note_read(e);
    bool holds = n.form == NOCAP_NOTE_LOCK || n.form == NOCAP_NOTE_UNLOCK;
    bool semaphore = n.form == NOCAP_NOTE_WAIT && n.op == NOCAP_OP_NONE;
    if (o->tile == NULL || (!holds && !semaphore) || !begin(m)) {
        return;
    }
    struct race_mem_ctx *p = place_at(m, e->chip, e->at);
    if (p != NULL && holds) {
        take_lock(p, &n, e->index);
    } else if (p != NULL) { /* who sets the semaphore is not said */
        race_clock_raise_base(m, &agent_of(p, n.by)->clock, m->turn);
    }
}

/* ---- requests ---- */

static bool holds(const struct race_mem_ctx *p, uint64_t addr, uint64_t size)
{
    return addr < p->size && size <= p->size - addr;
}

static unsigned channel_of(const struct nocap_event *e)
{
    unsigned kind = e->mcast ? RACE_CHANNEL_MULTICAST : 0;
    int channel = nocap_noc_channel(e);
    bool given = channel >= 0 && channel < RACE_CHANNEL_MULTICAST;
    return kind | (given ? (unsigned)channel : RACE_CHANNEL_UNKNOWN);
}

/* The access of the request to its bytes in the own L1. */
static struct race_access access_at(const struct race_access *request, enum race_completion way,
                                    uint64_t addr)
{
    struct race_access a = *request;
    a.way = (uint8_t)way;
    a.first = addr;
    a.end = addr + request->size;
    return a;
}

/* .. and at the far end. */
static struct race_access access_by(const struct model *m, const struct race_access *request,
                                    enum race_completion way, uint64_t addr, struct nocap_xy at)
{
    struct race_access a = access_at(request, way, addr);
    a.channel |= (uint8_t)(port_at(m, at).number * RACE_CHANNEL_PORT);
    return a;
}

static void request_read(struct model *m, struct race_mem_ctx *p, const struct nocap_event *e,
                         const struct nocap_noc_ends *ends, const struct race_access *request)
{
    struct race_clock *release = race_clock_share(request->agent->clock);
    struct race_mem_ctx *far_place = ends->from_known ? place_at(m, e->chip, ends->from) : NULL;
    if (far_place != NULL && holds(far_place, e->saddr, request->size)) {
        struct race_access a = access_by(m, request, RACE_ARRIVE, e->saddr, ends->from);
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
        a.source = far_place;
        race_write(m, p, &a, release, NULL);
    } else {
        race_clock_drop(release);
    }
    p->fetched = request->turn;
}

/* A write, inline write or atomic as it arrives in one tile. */
static void request_arrives(struct model *m, const struct nocap_event *e, struct nocap_xy to,
                            const struct race_access *request)
{
    struct race_mem_ctx *p = place_at(m, e->chip, to);
    bool worker = p != NULL && m->knows_tiles && model_is_tensix(m, to);
    struct race_news *stream = worker ? stream_at(m, p, e->daddr) : NULL;
    if (p == NULL || (stream == NULL && !holds(p, e->daddr, request->size))) {
        return;
    }
    struct race_access a = access_by(m, request, e->posted ? RACE_ORDER : RACE_ACK, e->daddr, to);
    p->reached = request->turn;
    a.atomic |= stream != NULL;
    if (stream != NULL) {
        race_count(m, p, stream, &a);
    } else if (a.atomic) {
        race_add(m, p, &a);
    } else {
        const struct access bytes = access_of_event(e, a.first, a.size);
        race_judge_locks(m, p, &a);
        race_write(m, p, &a, race_clock_share(a.agent->clock), &bytes);
    }
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

/* A request of a core that is not named. */
static void request_of_any(struct model *m, const struct nocap_event *e,
                           const struct nocap_noc_ends *ends, uint64_t size)
{
    const struct access bytes = {.addr = e->daddr, .size = size};
    const bool to = ends->to_known && (e->has & NOCAP_F_DADDR) != 0;
    for (struct nocap_tiles t = nocap_tiles(ends->to, ends->to_other); to && !t.over;
         nocap_next_tile(&t)) {
        arrives(m, place_at(m, e->chip, t.at), &bytes);
    }
}

/* A request that goes out. Nothing is remembered before the first one, so traces without cost
 * nothing. */
static void request(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    bool word = e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE;
    uint64_t size = word ? NOCAP_NIU_MMIO_SIZE : (e->has & NOCAP_F_SIZE) != 0 ? e->size : 0;
    bool core = nocap_is_core(e->by) && (e->has & NOCAP_F_BY) != 0;
    if (!core && race_of(m) != NULL && race_of(m)->started != 0) {
        request_of_any(m, e, o->ends, size);
    }
    if (!core || (e->has & NOCAP_F_NOC) == 0 || e->noc >= NOCS || !begin(m)) {
        return;
    }
    struct race_mem_ctx *p = o->tile != NULL ? place_of(m, o->tile) : place_at(m, e->chip, e->at);
    if (p == NULL || size == 0 || size > NOCAP_NIU_SPLIT_BELOW) {
        return;
    }
    const struct race_access r = {.turn = m->turn,
                                  .index = e->index,
                                  .agent = agent_of(p, e->by),
                                  .size = (uint32_t)size,
                                  .noc = e->noc,
                                  .channel = (uint8_t)channel_of(e),
                                  .atomic = e->op == NOCAP_OP_ATOMIC};
    m->due |= race_of(m)->started != 0 ? 0 : DUE_ROUTES;
    race_of(m)->started = race_of(m)->started != 0 ? race_of(m)->started : m->turn;
    p->sent[e->noc] = r.turn;
    if (e->op == NOCAP_OP_READ) {
        request_read(m, p, e, o->ends, &r);
    } else {
        request_write(m, p, e, o->ends, &r);
    }
}

/* ---- the model ---- */

static uint32_t wants(const struct model *m)
{
    const uint32_t requests = OBS(REQUEST) | OBS(NOTE);
    if (m->knows_tiles && race_of(m) != NULL && race_of(m)->started != 0) {
        return requests | OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE) | OBS(RESTATED);
    }
    return m->knows_tiles || m->header->arch == NOCAP_ARCH_WORMHOLE ? requests : 0;
}

static void check(struct model *m, const struct observation *o)
{
    if (o->region->region == NOCAP_REGION_L1) {
        core_memory(m, o);
    } else if (o->region->region == NOCAP_REGION_STREAM) {
        core_stream(m, o);
    } else {
        core_message(m, o);
    }
}

/* Requests of an interface are over. */
static void ended(struct model *m)
{
    for (uint32_t i = 0; race_of(m) != NULL && i < m->ended_count; i++) {
        const struct ended *e = &m->ended[i];
        struct race_mem_ctx *p =
            *slot_of(race_of(m), e->tile->chip, port_at(m, e->tile->at).channel);
        if (p == NULL || e->kind == NOCAP_ATOMICS || (e->kind == NOCAP_READS && !e->done)) {
            continue;
        }
        uint64_t sent = p->sent[e->noc];
        uint64_t until = e->turn < sent ? e->turn : sent;
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
    .uses = 1u << MODEL_NOC | 1u << MODEL_LAUNCH,
    .tile_size = sizeof(struct race_part),
    .wants = wants,
    .places = PLACE(L1) | PLACE(LOW) | PLACE_MAILBOX | PLACE(STREAM) | PLACE(COPROCESSOR),
    .free = release,
    .check = check,
    .check_of = {[OBS_REQUEST] = request,
                 [OBS_NOTE] = note,
                 [OBS_OUTSIDE_STORE] = outside_store,
                 [OBS_RESTATED] = outside_store},
    .ended = ended,
    .forget = release,
    .tile_forget = forget_tile,
};
