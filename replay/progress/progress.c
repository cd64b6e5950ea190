/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/progress/progress.h"

#include <stdlib.h>
#include <string.h>

#include "replay/progress/progress_private.h"

static const struct progress_agent idle = {.pc_index = NO_INDEX};

/* When the last of the polls was that an event stands for. */
static inline uint64_t end_of(const struct nocap_event *e)
{
    bool polls = e->kind == NOCAP_EV_READ || e->kind == NOCAP_EV_WRITE;
    return polls && (e->has & NOCAP_F_T2) != 0 ? e->t2 : e->t;
}

static inline uint64_t times(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_N) != 0 ? e->n : 1;
}

/* `own`: what it took to get here was the party's own time. */
static void step(struct nocap_progress *p, const struct nocap_event *e, bool own)
{
    bool later = p->index != NO_INDEX && e->t > p->t;
    if (own && later && e->t - p->t > p->max_gap) {
        p->max_gap = e->t - p->t;
    }
    p->t = later || p->index == NO_INDEX ? e->t : p->t;
    p->index = e->index;
    p->polls = 0;
}

/* Something happens in the tile, so in the whole. */
static void move(struct model *m, struct tile *tile, bool own)
{
    step(&progress_of(tile)->all, m->event, own);
    step(&trace_of(m)->all, m->event, false);
}

static void count_polls(struct model *m, struct tile *tile, uint64_t polls)
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
    struct progress_agent *a = progress_core(tile, agent);
    move(m, tile, true);
    if (a != NULL) {
        a->polling = false;
        a->waypoint[0] = '\0';
        take_pc(a, m->event);
    }
}

/* ---- polls ---- */

/* What a look at a place has shown. */
struct look {
    uint64_t polls; /* how often it was as before; 0: it is not, or is looked at first */
    bool changed;
    uint64_t since, seen; /* what it was before: times of the first and the latest look */
};

static struct look look_at(struct model *m, struct progress_agent *agent, const struct access *a)
{
    uint64_t value = 0, n = times(m->event);
    for (uint64_t i = 0; i < a->known && i < sizeof value; i++) {
        value |= (uint64_t)a->bytes[i] << 8 * i;
    }
    struct poll *l = agent->polls, *const end = l + PROGRESS_POLLS;
    while (l < end && (l->count == 0 || l->addr != a->addr)) {
        l++;
    }
    bool known = l < end, same = known && l->value == value;
    if (!known) {
        l = &agent->polls[agent->next++ % PROGRESS_POLLS];
    }
    struct look look = {same ? n : n - 1, known && !same, l->since.t, l->seen};
    if (!same) {
        *l = (struct poll){.addr = a->addr, .value = value, .since = now(m)};
    }
    l->seen = end_of(m->event);
    l->count += n;
    agent->latest = (uint8_t)(l - agent->polls);
    agent->polling = same || n > 1;
    return look;
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

/* The counters of circular buffers have 16 bits. True: one is zeroed, which is no move of it. */
static bool take_buffer(struct progress *p, const struct access *a)
{
    uint64_t at = a->addr - nocap_stream_address(NOCAP_CB_STREAM, 0);
    uint64_t i = at / NOCAP_STREAM_STRIDE, reg = at % NOCAP_STREAM_STRIDE / 4;
    uint32_t tiles;
    if (i >= NOCAP_CB_COUNT || !access_word(a, a->addr, &tiles) ||
        (reg != NOCAP_STREAM_TILES_RECEIVED && reg != NOCAP_STREAM_TILES_ACKED)) {
        return false;
    }
    struct progress_buffer *b = &p->buffers[i];
    unsigned which = reg == NOCAP_STREAM_TILES_RECEIVED ? BUFFER_RECEIVED : BUFFER_ACKED;
    bool moves = a->store && tiles != 0;
    uint16_t held = progress_buffer_holds(b);
    if (moves) {
        b->by[which] = a->by;
        b->most = which == BUFFER_ACKED && held > b->most ? held : b->most;
    }
    b->known[which] = true;
    b->tiles[which] = (uint16_t)tiles;
    return a->store && !moves;
}

static void core_access(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress_agent *agent = progress_core(tile, a->by);
    bool zeroed = take_buffer(progress_of(tile), a);
    if (a->store) {
        if (!leaves_as_it_was(tile, a)) {
            act(m, tile, a->by);
        }
        if (trace_of(m)->polls && a->size <= PROGRESS_WRITER_BYTES && a->addr >= SHADOW_SIZE &&
            !zeroed) {
            last_writer_note(m, tile->at, a->addr, tile->at);
        }
        return;
    }
    if (a->addr == NOCAP_REG_WALL_CLOCK_L || a->addr == NOCAP_REG_WALL_CLOCK_H) {
        return;
    }
    take_pc(agent, m->event);
    const struct look look = look_at(m, agent, a);
    if (look.polls < times(m->event)) {
        bool polling = agent->polling;
        act(m, tile, a->by);
        agent->polling = polling;
    }
    count_polls(m, tile, look.polls);
}

static void memory_shown(struct model *m, struct tile *tile, const struct access *a)
{
    for (unsigned i = 0; i < PROGRESS_AGENTS; i++) { /* of an older picture */
        progress_of(tile)->agents[i].waypoint[0] = '\0';
    }
    bool sampled = (m->event->has & NOCAP_F_SINCE) != 0; /* it is new: the tile's cores did it */
    if (leaves_as_it_was(tile, a)) {
        count_polls(m, tile, !sampled);
    } else if (a->addr < SHADOW_SIZE) {
        move(m, tile, sampled);
    }
}

/* ---- what the host looks at: go words, registers, its own memory; how long it was to wait ---- */

/* Source: firmware upload and boot document, debug bus. */
enum { DEBUG_SELECT = 1 << 29 | 1 << 25 | 7 << 16 };
#define DEBUG_PC_MASK UINT32_C(0x3FFFFFFF)

/* The host found what it has asked for since `asked`; `wait` says where. */
static void answered(const struct model *m, struct nocap_slow_wait *slow,
                     const struct event_ref *asked, struct nocap_slow_wait wait)
{
    uint64_t took = m->event->t > asked->t ? m->event->t - asked->t : 0;
    slow->count++;
    if (took > slow->took) {
        wait.index = asked->index;
        wait.until = m->event->index;
        wait.took = took;
        wait.others = slow->took;
        wait.count = slow->count;
        *slow = wait;
    } else if (took > slow->others) {
        slow->others = took;
    }
}

/* The host asks whether the tile is done. */
static void ask(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    struct trace_progress *all = trace_of(m);
    uint8_t signal;
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t at = nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE;
        bool before = p->asked_at == at, waited = before && p->asked.index != NO_INDEX;
        if (!access_byte(a, at, &signal)) {
            if (touches(a, at, 1) && before) { /* what it was answered is not known */
                p->asked.index = NO_INDEX;
            }
            continue;
        }
        if (signal == NOCAP_GO_DONE) {
            if (waited && p->asked_signal == NOCAP_GO_GO) {
                answered(m, &trace_of(m)->slow, &p->asked,
                         (struct nocap_slow_wait){.at = tile->at, .addr = at});
            }
            p->asked.index = before ? NO_INDEX : p->asked.index;
            all->asks_count = 0;
        } else {
            bool same = waited && p->asked_signal == signal;
            p->asked = waited ? p->asked : now(m);
            p->asked_count = (same ? p->asked_count : 0) + times(m->event);
            p->asked_last = now(m);
            p->asked_last.t = end_of(m->event);
            p->asked_at = at;
            p->asked_signal = signal;
            all->asks_count = (all->asks == tile ? all->asks_count : 0) + times(m->event);
            all->asks = tile;
        }
        return;
    }
}

/* The debug bus shows the host where a core is. */
static void take_debug_bus(struct model *m, struct progress *p, const struct access *a)
{
    uint32_t v;
    for (unsigned i = 0; access_word(a, NOCAP_REG_DBG_RD_DATA, &v) && i < CORES; i++) {
        if (p->debug_select == (DEBUG_SELECT | (uint32_t)nocap_cores[i].debug_signal)) {
            p->agents[PROGRESS_CORE0 + i].pc = v & DEBUG_PC_MASK;
            p->agents[PROGRESS_CORE0 + i].pc_index = m->event->index;
        }
    }
}

static void host_read(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    bool stores = p->all.known && (m->header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    const struct look look = look_at(m, &p->agents[PROGRESS_HOST], a);
    /* What others see of its stores. Where something else was seen to happen since the place was
     * last looked at, it may have changed then: that is no news. */
    if (look.changed && !stores && (p->all.index == NO_INDEX || look.seen >= p->all.t)) {
        move(m, tile, true);
    }
    count_polls(m, tile, look.polls);
    if (access_word(a, m->layout->sync, &p->sync)) {
        p->sync_seen = now(m);
    }
    ask(m, tile, a);
    take_debug_bus(m, p, a);
    bool ones = a->known >= 4 && a->known == a->size;
    for (uint64_t i = 0; ones && i < a->known; i++) {
        ones = a->bytes[i] == 0xFF;
    }
    p->ones = p->ones_count == 0 ? now(m) : p->ones;
    p->ones_count = ones ? p->ones_count + times(m->event) : 0;
}

static void host_store(struct model *m, struct tile *tile, const struct access *a)
{
    struct progress *p = progress_of(tile);
    bool reset = touches(a, NOCAP_REG_SOFT_RESET_0, 4);
    (void)access_word(a, NOCAP_REG_DBG_BUS_CNTL, &p->debug_select);
    if (p->asked.index == NO_INDEX || (!reset && !touches(a, p->asked_at, 1))) {
        return;
    }
    if (reset && p->all.polls >= PROGRESS_GAVE_UP && trace_of(m)->gave_up.index == NO_INDEX) {
        trace_of(m)->gave_up = (struct nocap_gave_up){
            .index = p->asked_last.index, .t = p->asked_last.t, .at = tile->at};
    }
    /* who starts anew, or takes the cores into reset, does not wait any more */
    p->asked.index = NO_INDEX;
}

/* Host memory: the host's own reads of it. */
static void memory_read(struct model *m, const struct nocap_event *e)
{
    struct access a = access_of_event(e, e->addr, e->size);
    struct trace_progress *p = trace_of(m);
    const struct look look = look_at(m, &p->memory, &a);
    bool asked = p->memory_asked.index != NO_INDEX && p->memory_asked_at == a.addr;
    if (look.changed && asked) {
        answered(m, &p->memory_slow, &p->memory_asked,
                 (struct nocap_slow_wait){.in_memory = true, .addr = a.addr});
        p->memory_asked.index = NO_INDEX;
    } else if (look.polls > 0 && !asked) {
        p->memory_asked = now(m);
        p->memory_asked_at = a.addr;
    }
    if (look.changed && e->t > look.since && e->t - look.since > p->all.max_gap) {
        p->all.max_gap = e->t - look.since; /* the device took so long to show something new */
    }
    if (look.polls < times(e)) {
        step(&p->all, e, false);
    }
    p->all.polls += look.polls;
}

/* ---- the model ---- */

static inline void time_passes(struct model *m, const struct nocap_event *e)
{
    uint64_t end = end_of(e);
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
        memory_read(m, e);
    } else if ((access && !window && e->space != NOCAP_SPACE_TILE) || e->kind == NOCAP_EV_CQ ||
               e->kind == NOCAP_EV_CERT || e->kind == NOCAP_EV_NOC) {
        step(&trace_of(m)->all, e, false);
    }
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
            host_store(m, tile, &o->access);
        }
        if (o->access.store) {
            move(m, tile, false);
        }
        break;
    case OBS_HOST_LOAD: host_read(m, tile, &o->access); break;
    case OBS_MEMORY: memory_shown(m, tile, &o->access); break;
    case OBS_NOTE: progress_take_note(m, tile, e); break;
    case OBS_TENSIX: act(m, tile, NOCAP_BY_NONE); break;
    case OBS_REQUEST:
    case OBS_PHASE:
    case OBS_ENTER:
    case OBS_EXIT:
    case OBS_RUN:
    case OBS_HALT:
        if (!m->knows_tiles) {
            break;
        }
        act(m, tile, e->by);
        if (e->kind == NOCAP_EV_NOC) {
            progress_request(m, tile, e);
        }
        break;
    default: break;
    }
}

static void ended(struct model *m)
{
    for (const struct ended *end = m->ended; end < m->ended + m->ended_count; end++) {
        if (end->all) {
            progress_end_requests(&progress_of(end->tile)->requests[end->noc][end->kind]);
        }
    }
}

static uint32_t wants(const struct model *m)
{
    return m->waits ? (1u << OBS_KINDS) - 1 : 0;
}

static bool init(struct model *m, const struct nocap_engine_options *options)
{
    struct trace_progress *p = m->state[MODEL_PROGRESS] = calloc(1, sizeof *p);
    (void)options;
    if (p != NULL) {
        p->polls = (m->header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
        p->all.index = p->gave_up.index = p->memory_asked.index = NO_INDEX;
        p->memory = idle;
    }
    return p != NULL;
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
