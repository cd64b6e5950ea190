/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/progress/progress.h"

#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/noc_ends.h"
#include "replay/core/progress.h"
#include "replay/progress/progress_private.h"

static const struct progress_agent idle = {.pc_index = NO_INDEX};

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    struct trace_progress *p = m->state[MODEL_PROGRESS] = calloc(1, sizeof *p);
    if (p == NULL) {
        return false;
    }
    (void)options;
    p->polls = (m->header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
    p->all.index = p->host.index = p->gave_up.index = p->memory_asked.index = NO_INDEX;
    p->memory = idle;
    return true;
}

static void release(struct model *m)
{
    free(trace_of(m));
}

static void forget(struct model *m)
{
    trace_of(m)->memory = idle;
}

/* `observed`: what happens inside the tile is in the trace. */
static void start(struct progress *p, bool observed)
{
    *p = (struct progress){.asked.index = NO_INDEX,
                           .sync_seen.index = NO_INDEX,
                           .ones.index = NO_INDEX,
                           .all = {.known = observed, .index = NO_INDEX}};
    for (unsigned i = 0; i < PROGRESS_AGENTS; i++) {
        p->agents[i] = idle;
    }
}

static void tile_init(struct model *m, struct tile *tile, bool power_on)
{
    const uint32_t inside = NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO |
                            NOCAP_CLASS_NOC | NOCAP_CLASS_KERNEL | NOCAP_CLASS_TENSIX_PUSH |
                            NOCAP_CLASS_TENSIX_ISSUE;
    (void)power_on;
    start(progress_of(tile), tile->in_scope && (m->header->observes & inside) != 0);
}

/* Events were lost: no wait is known any more; a silence may be what was lost. */
static void forget_tile(struct model *m, struct tile *tile)
{
    (void)m;
    start(progress_of(tile), progress_of(tile)->all.known);
}

void progress_step(struct nocap_progress *p, const struct nocap_event *e, bool own)
{
    bool later = p->index != NO_INDEX && e->t > p->t;
    if (own && later && e->t - p->t > p->max_gap) {
        p->max_gap = e->t - p->t;
    }
    p->t = later || p->index == NO_INDEX ? e->t : p->t;
    p->index = e->index;
    p->polls = 0;
}

void progress_move(struct model *m, struct tile *tile, bool own)
{
    progress_step(&progress_of(tile)->all, m->event, own);
    progress_step(&trace_of(m)->all, m->event, false);
}

void progress_count_polls(struct model *m, struct tile *tile, uint64_t polls)
{
    progress_of(tile)->all.polls += polls;
    trace_of(m)->all.polls += polls;
}

static void take_pc(struct progress_agent *a, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_PC) != 0) {
        a->pc = e->pc;
        a->pc_index = e->index;
    }
}

static void act(struct model *m, struct tile *tile, unsigned agent)
{
    struct progress_agent *a = progress_agent_of(progress_of(tile), agent);
    progress_move(m, tile, true);
    if (a != NULL) {
        a->polling = false;
        a->waypoint[0] = '\0';
        take_pc(a, m->event);
    }
}

/* A small write to other tiles: perhaps a semaphore. */
static void note_request(struct model *m, const struct nocap_event *e)
{
    bool small = e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE ||
                 (e->op == NOCAP_OP_WRITE && e->size <= PROGRESS_WRITER_BYTES);
    if (!trace_of(m)->polls || !small || e->phase != NOCAP_PHASE_ISSUE ||
        (~e->has & (NOCAP_F_D | NOCAP_F_DADDR)) != 0) {
        return;
    }
    struct nocap_noc_ends ends = nocap_noc_ends(e);
    for (struct nocap_tiles t = nocap_tiles(ends.to, ends.to_other); !t.over; nocap_next_tile(&t)) {
        last_writer_note(m, t.at, e->daddr, e->at);
    }
}

static void noc_event(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    act(m, tile, e->by);
    note_request(m, e);
    enum nocap_requests kind = nocap_requests_of(e->op);
    struct progress_requests *r = &progress_of(tile)->requests[e->noc][kind];
    if (e->phase == NOCAP_PHASE_ISSUE && !e->posted) {
        progress_open_request(r, e);
    } else if (e->phase == NOCAP_PHASE_DONE && (e->has & NOCAP_F_ID) != 0) {
        r->ended++;
        progress_close_request(r, e->id);
    } else if (e->phase == NOCAP_PHASE_DONE) { /* a barrier: all of them */
        progress_end_requests(r);
    }
}

struct poll *progress_find_poll(struct progress_agent *agent, uint64_t addr)
{
    for (unsigned i = 0; i < PROGRESS_POLLS; i++) {
        if (agent->polls[i].count > 0 && agent->polls[i].addr == addr) {
            return &agent->polls[i];
        }
    }
    return NULL;
}

uint64_t progress_poll(struct model *m, struct progress_agent *agent, const struct access *a,
                       bool *changed)
{
    uint64_t value = 0, n = progress_times(m->event);
    for (uint64_t i = 0; i < a->known && i < sizeof value; i++) {
        value |= (uint64_t)a->bytes[i] << 8 * i;
    }
    struct poll *l = progress_find_poll(agent, a->addr);
    bool known = l != NULL, same = known && l->value == value;
    if (!known) {
        l = &agent->polls[agent->next++ % PROGRESS_POLLS];
    }
    if (!same) {
        *l = (struct poll){.addr = a->addr, .value = value, .since = now(m)};
    }
    l->seen = progress_end_of(m->event);
    l->count += n;
    agent->latest = (uint8_t)(l - agent->polls);
    agent->polling = same || n > 1;
    *changed = known && !same;
    return same ? n : n - 1;
}

/* What is stored to the mailbox, or shown of it, is there already. */
static bool leaves_as_it_was(const struct tile *tile, const struct access *a)
{
    bool same = a->addr + a->size <= SHADOW_SIZE && a->known == a->size;
    for (uint64_t i = 0; same && i < a->size; i++) {
        uint8_t old;
        same = shadow_byte(&tile->l1, (uint32_t)(a->addr + i), &old) && old == a->bytes[i];
    }
    return same;
}

/* The counters of circular buffers have 16 bits. */
static void take_buffer(struct progress *p, const struct access *a)
{
    uint64_t at = a->addr - nocap_stream_address(NOCAP_CB_STREAM, 0);
    uint64_t i = at / NOCAP_STREAM_STRIDE, reg = at % NOCAP_STREAM_STRIDE / 4;
    uint32_t tiles;
    if (i >= NOCAP_CB_COUNT || !access_word(a, a->addr, &tiles) ||
        (reg != NOCAP_STREAM_TILES_RECEIVED && reg != NOCAP_STREAM_TILES_ACKED)) {
        return;
    }
    struct progress_buffer *b = &p->buffers[i];
    unsigned which = reg == NOCAP_STREAM_TILES_RECEIVED ? BUFFER_RECEIVED : BUFFER_ACKED;
    b->known[which] = true;
    b->tiles[which] = (uint16_t)tiles;
    if (a->store) {
        b->by[which] = tiles == 0 ? NOCAP_BY_NONE : a->by;
    }
}

static void core_access(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress_agent *agent = progress_agent_of(progress_of(tile), a->by);
    bool changed = false;
    take_buffer(progress_of(tile), a);
    if (a->store) {
        if (!leaves_as_it_was(tile, a)) {
            act(m, tile, a->by);
        }
        if (trace_of(m)->polls && a->size <= PROGRESS_WRITER_BYTES && a->addr >= SHADOW_SIZE) {
            last_writer_note(m, tile->at, a->addr, tile->at);
        }
        return;
    }
    if (a->addr == NOCAP_REG_WALL_CLOCK_L || a->addr == NOCAP_REG_WALL_CLOCK_H) {
        return;
    }
    take_pc(agent, m->event);
    uint64_t polls = progress_poll(m, agent, a, &changed);
    if (polls < progress_times(m->event)) {
        bool polling = agent->polling;
        act(m, tile, a->by);
        agent->polling = polling;
    }
    progress_count_polls(m, tile, polls);
}

static void memory_shown(struct model *m, struct tile *tile, const struct access *a)
{
    for (unsigned i = 0; i < PROGRESS_AGENTS; i++) { /* of an older picture */
        progress_of(tile)->agents[i].waypoint[0] = '\0';
    }
    bool sampled = (m->event->has & NOCAP_F_SINCE) != 0; /* it is new: the tile's cores did it */
    if (leaves_as_it_was(tile, a)) {
        progress_count_polls(m, tile, sampled ? 0 : 1);
    } else if (a->addr < SHADOW_SIZE) {
        progress_move(m, tile, sampled);
    }
}

static inline void time_passes(struct model *m, const struct nocap_event *e)
{
    uint64_t end = progress_end_of(e);
    trace_of(m)->end = end > trace_of(m)->end ? end : trace_of(m)->end;
}

/* Whether one who does this would be seen to wait. Who stores, pushes or enqueues need not look
 * whether anything comes of it; a launch is seen by its go word. */
static bool shows_waits(const struct nocap_event *e)
{
    switch (e->kind) {
    case NOCAP_EV_READ: return e->space != NOCAP_SPACE_BAR0 && e->space != NOCAP_SPACE_BAR2;
    case NOCAP_EV_WRITE: return e->by != NOCAP_BY_HOST;
    case NOCAP_EV_TENSIX: return e->op != NOCAP_OP_PUSH;
    case NOCAP_EV_CQ: return e->op != NOCAP_OP_RECORD;
    case NOCAP_EV_NOC:
    case NOCAP_EV_KERNEL:
    case NOCAP_EV_CERT: return true;
    default: return false;
    }
}

static void event_passes(struct model *m, const struct nocap_event *e)
{
    time_passes(m, e);
    trace_of(m)->acted |=
        e->kind != NOCAP_EV_MEM && e->kind != NOCAP_EV_NOTE && e->kind != NOCAP_EV_DROP;
    trace_of(m)->shows |= shows_waits(e);
    bool window = e->space == NOCAP_SPACE_BAR0 || e->space == NOCAP_SPACE_BAR2;
    bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    if (e->kind == NOCAP_EV_READ && e->space == NOCAP_SPACE_SYSMEM && e->by == NOCAP_BY_HOST) {
        progress_sysmem_read(m, e);
        trace_of(m)->host = now(m);
    } else if ((access && !window && e->space != NOCAP_SPACE_TILE) || e->kind == NOCAP_EV_CQ ||
               e->kind == NOCAP_EV_CERT || e->kind == NOCAP_EV_NOC) {
        progress_step(&trace_of(m)->all, e, false);
    }
}

/* ---- the model ---- */

static uint32_t wants(const struct model *m)
{
    return m->waits ? (1u << OBS_KINDS) - 1 : 0;
}

/* Most events are no more than that. */
static void check_core(struct model *m, const struct observation *o)
{
    if (o->lead) {
        time_passes(m, o->event);
        trace_of(m)->acted = trace_of(m)->shows = true;
    }
    core_access(m, o->tile, &o->access);
}

static void check(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct nocap_event *e = o->event;
    if (o->lead) {
        event_passes(m, e);
    }
    if (tile == NULL) {
        return;
    }
    switch (o->kind) {
    case OBS_OUTSIDE_STORE:
    case OBS_FAR_END:
        if (o->lead && e->by == NOCAP_BY_HOST) {
            progress_host_store(m, tile, &o->access);
        }
        if (o->access.store) {
            progress_move(m, tile, false);
        }
        break;
    case OBS_HOST_LOAD: progress_host_read(m, tile, &o->access); break;
    case OBS_REQUEST:
    case OBS_PHASE:
        if (m->knows_tiles) {
            noc_event(m, tile, e);
        }
        break;
    case OBS_ENTER:
    case OBS_EXIT:
    case OBS_RUN:
    case OBS_HALT:
        if (m->knows_tiles) {
            act(m, tile, e->by);
        }
        break;
    case OBS_TENSIX: act(m, tile, NOCAP_BY_NONE); break;
    case OBS_MEMORY: memory_shown(m, tile, &o->access); break;
    case OBS_NOTE: progress_take_note(m, tile, e); break;
    default: break;
    }
}

static void ended(struct model *m)
{
    for (uint32_t i = 0; i < m->ended_count; i++) {
        if (m->ended[i].all) {
            progress_end_requests(
                &progress_of(m->ended[i].tile)->requests[m->ended[i].noc][m->ended[i].kind]);
        }
    }
}

const struct model_ops progress_model = {
    .name = "progress",
    .id = MODEL_PROGRESS,
    .tile_size = sizeof(struct progress),
    .wants = wants,
    .places = PLACE_ALL,
    .init = init,
    .free = release,
    .tile_init = tile_init,
    .check = check,
    .check_of = {[OBS_CORE_STORE] = check_core, [OBS_CORE_LOAD] = check_core},
    .ended = ended,
    .forget = forget,
    .tile_forget = forget_tile,
};
