/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/decode.h"

#include "formats/blackhole/noc_ends.h"
#include "formats/blackhole/registers.h"

static void set_places(uint8_t *words, uint32_t addr, uint32_t size, enum place place)
{
    for (uint32_t i = addr / 4; i < (addr + size + 3) / 4 && i < ADDRESS_WORDS; i++) {
        words[i] = (uint8_t)place;
    }
}

void decode_init(struct model *m)
{
    const struct nocap_mailbox_layout *l = m->layout;
    uint8_t *words = m->addresses.words;
    for (uint64_t page = 0; page < ADDRESS_PAGES; page++) {
        m->addresses.pages[page] =
            (uint8_t)(nocap_tile_region((FIRST_PAGE + page) * ADDRESS_PAGE) - nocap_regions);
    }
    set_places(words, 0, SHADOW_SIZE, PLACE_LOW);
    set_places(words, m->layout->sync, NOCAP_SYNC_BYTES, PLACE_SYNC);
    set_places(words, m->layout->rd_ptr, 4, PLACE_RD_PTR);
    set_places(words, l->launch_base, NOCAP_LAUNCH_SLOTS * l->launch_size, PLACE_LAUNCH);
    set_places(words, l->go_messages, NOCAP_GO_WORDS * NOCAP_GO_WORD_SIZE, PLACE_GO);
    set_places(words, l->go_message_index, 4, PLACE_GO_INDEX);
    const struct nocap_xy last = {COORDINATES - 1, COORDINATES - 1};
    for (struct nocap_tiles t = nocap_tiles((struct nocap_xy){0}, last); !t.over;
         nocap_next_tile(&t)) {
        m->kinds[t.at.x][t.at.y] = (uint8_t)nocap_tile_kind(m->header->board, t.at);
    }
}

/* ---- where an access goes ---- */

/* Of what is neither L1 nor somewhere else. */
__extension__ static const uint16_t region_places[NOCAP_REGION_COUNT] = {
    [NOCAP_REGION_TDMA... NOCAP_REGION_DEBUG] = PLACE(DEBUG),
    [NOCAP_REGION_NIU0... NOCAP_REGION_NIU1] = PLACE(NIU),
    [NOCAP_REGION_STREAM] = PLACE(STREAM),
    [NOCAP_REGION_MOP_CFG] = PLACE(COPROCESSOR),
    [NOCAP_REGION_GPR] = PLACE(COPROCESSOR),
    [NOCAP_REGION_INSTRN_FIFO0... NOCAP_REGION_TENSIX_CFG] = PLACE(COPROCESSOR),
};

static uint32_t low_places(const struct model *m, const struct access *a)
{
    const uint8_t *words = m->addresses.words;
    uint64_t end = a->addr + a->size;
    uint32_t first = (uint32_t)a->addr / 4, last = (uint32_t)((end - 1) / 4);
    uint32_t places = 1u << words[first];
    if (__builtin_expect(last == first, 1)) {
        return places;
    }
    if (end > SHADOW_SIZE) {
        places |= PLACE(L1);
        last = ADDRESS_WORDS - 1;
    }
    for (uint32_t i = first + 1; i <= last; i++) {
        places |= 1u << words[i];
    }
    return places;
}

static inline __attribute__((always_inline)) uint32_t
places_of(const struct model *m, const struct access *a, const struct nocap_region_info *region)
{
    if (region->region == NOCAP_REGION_L1) {
        return a->addr >= SHADOW_SIZE ? PLACE(L1)
               : a->size > 0          ? low_places(m, a)
                                      : 1u << m->addresses.words[a->addr / 4];
    }
    uint32_t place = region_places[region->region];
    if (place == PLACE(DEBUG) && touches(a, NOCAP_REG_SOFT_RESET_0, 4)) {
        return PLACE(DEBUG) | PLACE(SOFT_RESET);
    }
    return place != 0 ? place : PLACE(OTHER);
}

static __attribute__((noinline)) struct tile *new_worker(struct model *m, uint16_t chip,
                                                         struct nocap_xy at)
{
    return tile_is_worker(m, at) ? tile_get(m, chip, at) : NULL;
}

/* NULL: it is none. */
static inline struct tile *worker_by_key(struct model *m, uint32_t key, uint16_t chip,
                                         struct nocap_xy at)
{
    struct tile *tile = tile_by_key(m, key);
    tile = __builtin_expect(tile != NULL, 1) ? tile : new_worker(m, chip, at);
    return tile != NULL && tile->worker ? tile : NULL;
}
static inline struct tile *worker(struct model *m, const struct nocap_event *e, struct nocap_xy at)
{
    return worker_by_key(m, tile_key(e->chip, at), e->chip, at);
}

static inline const struct nocap_region_info *region_of(const struct model *m, uint64_t addr)
{
    const uint64_t page = addr / ADDRESS_PAGE - FIRST_PAGE;
    if (page >= ADDRESS_PAGES) {
        return nocap_tile_region(addr);
    }
    const struct nocap_region_info *region = &nocap_regions[m->addresses.pages[page]];
    while (region->last < addr) {
        region++;
    }
    return region;
}

static inline void locate(const struct model *m, struct observation *o)
{
    o->region = region_of(m, o->access.addr);
    o->places = places_of(m, &o->access, o->region);
}

/* From now on bytes are known to be shown where they arrive. Those of a request that was taken for
 * the store itself are the same act. */
static inline void landing(struct model *m, struct observation *o)
{
    if (o->kind != OBS_OUTSIDE_STORE || o->event->by != NOCAP_BY_NOC) {
        return;
    }
    m->landings = true;
    for (unsigned i = 0; i < sizeof o->tile->arrived / sizeof o->tile->arrived[0]; i++) {
        if (o->tile->arrived[i] == o->access.addr + 1) {
            o->tile->arrived[i] = 0;
            o->kind = OBS_RESTATED;
            return;
        }
    }
}

/* The observation at each worker tile of a rectangle; the first is the event's, if `o` is. */
static void each_tile(struct model *m, struct observation *o, struct nocap_xy at,
                      struct nocap_xy to)
{
    const uint8_t kind = o->kind;
    for (struct nocap_tiles t = nocap_tiles(at, to); !t.over; nocap_next_tile(&t)) {
        o->tile = worker(m, o->event, t.at);
        o->kind = kind;
        if (o->tile != NULL) {
            if (o->event->kind == NOCAP_EV_NOC) {
                uint64_t *arrived = o->tile->arrived;
                memmove(arrived + 1, arrived, sizeof o->tile->arrived - sizeof *arrived);
                *arrived = o->access.addr + 1;
            } else {
                landing(m, o);
            }
            observe(m, o);
            o->lead = false;
        }
    }
}

/* ---- kinds of events ---- */

static enum observation_kind access_kind(const struct nocap_event *e)
{
    bool store = e->kind == NOCAP_EV_WRITE;
    if (nocap_is_core(e->by)) {
        return store ? OBS_CORE_STORE : OBS_CORE_LOAD;
    }
    return store ? OBS_OUTSIDE_STORE : e->by == NOCAP_BY_HOST ? OBS_HOST_LOAD : OBS_OUTSIDE_LOAD;
}

static __attribute__((noinline)) void access_event(struct model *m, const struct nocap_event *e)
{
    struct observation o = {.event = e, .kind = OBS_ELSEWHERE, .lead = true};
    const bool rectangle = (e->has & NOCAP_F_TO) != 0;
    const bool none = rectangle && (e->to.x < e->at.x || e->to.y < e->at.y);
    access_fill(&o.access, e, e->addr, e->size);
    if (m->knows_tiles && e->space == NOCAP_SPACE_TILE && !none) {
        o.tile = worker(m, e, e->at);
        if (o.tile == NULL) {
            place_judge(m, e);
        }
    }
    if (o.tile != NULL) {
        o.kind = (uint8_t)access_kind(e);
        locate(m, &o);
    }
    if (o.tile != NULL && rectangle) {
        each_tile(m, &o, e->at, e->to);
    } else {
        landing(m, &o);
        observe(m, &o);
    }
}

/* A request is also an access to the far tile; where it is seen landing, that is the same act. */
static void far_end(struct model *m, const struct nocap_event *e, const struct nocap_noc_ends *ends)
{
    bool load = e->op == NOCAP_OP_READ;
    uint64_t needs = load ? NOCAP_F_S | NOCAP_F_SADDR : NOCAP_F_D | NOCAP_F_DADDR;
    if ((e->has & needs) != needs) {
        return;
    }
    bool sized = (e->has & NOCAP_F_SIZE) != 0 && e->size > 0;
    struct observation o = {.event = e, .kind = OBS_FAR_END};
    o.access = (struct access){.addr = load ? e->saddr : e->daddr,
                               .size = sized ? e->size : 4,
                               .store = !load,
                               .by = NOCAP_BY_NOC};
    o.tile = worker(m, e, load ? ends->from : ends->to);
    if (o.tile != NULL) {
        locate(m, &o);
        observe(m, &o);
    }
}

/* Where no landings are observed the request stands for the bytes that arrive. What an atomic makes
 * of its word is not known, and is looked at only where none may go. */
static void arrivals(struct model *m, const struct nocap_event *e,
                     const struct nocap_noc_ends *ends)
{
    const bool atomic = e->op == NOCAP_OP_ATOMIC;
    bool writes = atomic || e->op == NOCAP_OP_WRITE || e->op == NOCAP_OP_INLINE;
    if (m->landings || !writes || (~e->has & (NOCAP_F_D | NOCAP_F_DADDR)) != 0 ||
        e->daddr >= NOCAP_L1_SIZE) {
        return;
    }
    uint64_t size = atomic                         ? sizeof(uint32_t)
                    : (e->has & NOCAP_F_SIZE) != 0 ? e->size
                                                   : e->data_size;
    struct observation o = {
        .event = e, .kind = OBS_OUTSIDE_STORE, .access = access_of_event(e, e->daddr, size)};
    o.access.by = NOCAP_BY_NOC;
    o.access.store = true;
    locate(m, &o);
    if (atomic && (o.places & PLACE_MAILBOX) == 0) {
        return;
    }
    o.access.known = atomic ? 0 : o.access.known;
    each_tile(m, &o, ends->to, ends->to_other);
}

void decode_request(struct model *m, const struct nocap_event *e, bool lead)
{
    struct observation o = {.event = e, .lead = lead};
    o.kind = e->phase == NOCAP_PHASE_ISSUE ? OBS_REQUEST : OBS_PHASE;
    o.tile = worker(m, e, e->at);
    if (o.kind == OBS_PHASE) {
        observe(m, &o);
        return;
    }
    const struct nocap_noc_ends ends = nocap_noc_ends(e);
    o.ends = &ends;
    if (!m->knows_tiles) {
        observe(m, &o);
        return;
    }
    if (o.tile == NULL) {
        place_judge(m, e);
    }
    far_end(m, e, &ends);
    observe(m, &o);
    arrivals(m, e, &ends);
}

static __attribute__((noinline)) void memory_event(struct model *m, const struct nocap_event *e)
{
    struct observation o = {.event = e,
                            .kind = OBS_MEMORY,
                            .access = access_of_event(e, e->addr, e->data_size),
                            .lead = true};
    o.tile = m->knows_tiles && e->space == NOCAP_SPACE_TILE ? worker(m, e, e->at) : NULL;
    if (o.tile != NULL) {
        locate(m, &o);
    }
    observe(m, &o);
}

/* What an event of any other kind is; OBS_KINDS: nothing that a model wants. */
static enum observation_kind other_kind(const struct model *m, const struct nocap_event *e)
{
    const uint32_t states = NOCAP_CLASS_KERNEL | NOCAP_CLASS_TENSIX_UNIT;
    if ((nocap_event_class(e) & states) != 0 && !nocap_header_lists(m->header, e)) {
        return OBS_KINDS; /* what began may have ended unseen */
    }
    switch (e->kind) {
    case NOCAP_EV_KERNEL: return e->op == NOCAP_OP_ENTER ? OBS_ENTER : OBS_EXIT;
    case NOCAP_EV_RESET: return e->op == NOCAP_OP_RUN ? OBS_RUN : OBS_HALT;
    case NOCAP_EV_TENSIX: return OBS_TENSIX;
    case NOCAP_EV_NOTE: return OBS_NOTE;
    case NOCAP_EV_CQ: return OBS_QUEUE;
    case NOCAP_EV_CERT: return OBS_CONTROL;
    case NOCAP_EV_DROP: return OBS_LOST;
    default: return OBS_KINDS;
    }
}

static __attribute__((noinline)) void other_event(struct model *m, const struct nocap_event *e)
{
    struct observation o = {.event = e, .kind = (uint8_t)other_kind(m, e), .lead = true};
    bool core =
        o.kind == OBS_ENTER || o.kind == OBS_EXIT || o.kind == OBS_RUN || o.kind == OBS_HALT;
    bool placed =
        core || o.kind == OBS_TENSIX || (o.kind == OBS_NOTE && (e->has & NOCAP_F_AT) != 0);
    if (o.kind != OBS_KINDS) {
        o.tile = placed ? worker(m, e, e->at) : NULL;
        if (placed && o.tile == NULL && m->knows_tiles && o.kind != OBS_NOTE) {
            place_judge(m, e);
        }
        observe(m, &o);
    }
}

/* Whether the event is a step of a core or of the coprocessor, which is always at a worker tile. */
static inline bool is_step(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_TENSIX ||
           ((e->kind == NOCAP_EV_KERNEL || e->kind == NOCAP_EV_RESET) && nocap_is_core(e->by));
}

enum observation_kind decode_shape(const struct model *m, const struct nocap_event *e)
{
    const bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    if (access && e->space != NOCAP_SPACE_TILE) {
        return OBS_ELSEWHERE;
    }
    if (!(access ? (e->has & NOCAP_F_TO) == 0 : is_step(e)) || !m->knows_tiles) {
        return OBS_KINDS;
    }
    return access ? access_kind(e) : other_kind(m, e);
}

bool decode_prepare(const struct model *m, const struct nocap_event *e, enum observation_kind kind,
                    struct prepared *p)
{
    *p = (struct prepared){.kind = (uint8_t)kind};
    if (kind < OBS_PLACED) {
        const struct access a = {.addr = e->addr, .size = e->size};
        const struct nocap_region_info *region = region_of(m, e->addr);
        p->region = (uint8_t)(region - nocap_regions);
        p->places = (uint16_t)places_of(m, &a, region);
    }
    return kind == OBS_ELSEWHERE || model_is_tensix(m, e->at);
}

/* `p`: NULL: where it goes is not said yet. */
static inline __attribute__((always_inline)) void plain(struct model *m,
                                                        const struct nocap_event *e,
                                                        enum observation_kind kind,
                                                        const struct prepared *p)
{
    struct observation o = {.event = e, .kind = (uint8_t)kind, .lead = true};
    if (kind != OBS_ELSEWHERE) {
        o.tile = worker_by_key(m, tile_key_of(e), e->chip, e->at);
        if (__builtin_expect(o.tile == NULL, 0)) {
            decode(m, e);
            return;
        }
    }
    if (kind <= OBS_ELSEWHERE) {
        access_fill(&o.access, e, e->addr, e->size);
    }
    if (kind < OBS_PLACED) {
        o.region = p != NULL ? &nocap_regions[p->region] : region_of(m, e->addr);
        o.places = p != NULL ? p->places : places_of(m, &o.access, o.region);
        landing(m, &o);
    }
    observe(m, &o);
}

void decode_plain(struct model *m, const struct nocap_event *e, const struct prepared *p)
{
    plain(m, e, (enum observation_kind)p->kind, p);
}

void decode_of_kind(struct model *m, const struct nocap_event *e, enum observation_kind kind)
{
    if (kind != OBS_KINDS) {
        plain(m, e, kind, NULL);
    } else {
        decode(m, e);
    }
}

void decode(struct model *m, const struct nocap_event *e)
{
    switch (e->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ: access_event(m, e); break;
    case NOCAP_EV_NOC:
        m->requests |= e->phase == NOCAP_PHASE_ISSUE;
        decode_request(m, e, true);
        break;
    case NOCAP_EV_MEM: memory_event(m, e); break;
    default: other_event(m, e); break;
    }
}
