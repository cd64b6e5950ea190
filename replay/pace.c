#include "replay/pace.h"

#include <stdlib.h>
#include <string.h>

#include "replay/tile.h"

/* Source: firmware upload and boot document, debug bus. */
enum { DEBUG_SELECT = 1 << 29 | 1 << 25 | 7 << 16 };
#define DEBUG_PC_MASK UINT32_C(0x3FFFFFFF)

static void nothing(struct nocap_pace *p)
{
    *p = (struct nocap_pace){.index = NO_INDEX};
}

struct trace_pace *trace_pace_new(const struct nocap_header *header, bool wanted)
{
    struct trace_pace *p = calloc(1, sizeof *p);
    if (p != NULL) {
        nothing(&p->all);
        p->wanted = wanted;
        p->polls = (header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
        p->host.index = p->gave_up.index = p->memory.acted.index = p->memory.pc_index = NO_INDEX;
    }
    return p;
}

void trace_pace_forget(struct trace_pace *p)
{
    p->memory = (struct pace_agent){.acted.index = NO_INDEX, .pc_index = NO_INDEX};
}

void pace_init(struct pace *p, bool observed)
{
    *p = (struct pace){.asked.index = NO_INDEX, .ones.index = NO_INDEX};
    nothing(&p->all);
    p->all.known = observed;
    for (unsigned i = 0; i < PACE_AGENTS; i++) {
        p->agents[i].acted.index = p->agents[i].pc_index = NO_INDEX;
    }
}

void pace_forget(struct pace *p)
{
    struct nocap_pace all = p->all;
    pace_init(p, all.known);
    p->all = all;
    p->all.looks = 0;
}

/* `own`: what it took to get here was the party's own time. */
static void step(struct nocap_pace *p, const struct nocap_event *e, bool own)
{
    bool later = p->index != NO_INDEX && e->t > p->t;
    if (own && later && e->t - p->t > p->longest) {
        p->longest = e->t - p->t;
    }
    p->t = later || p->index == NO_INDEX ? e->t : p->t;
    p->index = e->index;
    p->looks = 0;
}

static void take_pc(struct pace_agent *a, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_PC) != 0) {
        a->pc = e->pc;
        a->pc_index = e->index;
    }
}

static struct pace_agent *agent_of(struct pace *p, unsigned agent)
{
    return nocap_is_core(agent) ? &p->agents[PACE_CORE0 + nocap_core(agent)->processor] : NULL;
}

void pace_act(struct model *m, struct tile *tile, unsigned agent)
{
    if (!m->pace->wanted) {
        return;
    }
    struct pace_agent *a = agent_of(&tile->pace, agent);
    step(&tile->pace.all, m->event, true);
    step(&m->pace->all, m->event, false);
    if (a != NULL) {
        a->looking = false;
        a->waypoint[0] = '\0';
        a->acted = now(m);
        take_pc(a, m->event);
    }
}

static uint64_t writer_key(uint16_t chip, struct nocap_xy at, uint64_t addr)
{
    return (uint64_t)1 << 63 | (uint64_t)chip << 47 | (uint64_t)at.x << 39 | (uint64_t)at.y << 31 |
           (addr & UINT32_MAX) >> 2;
}

static struct pace_writer *writer_place(const struct model *m, uint64_t key)
{
    return &m->pace->writers[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (PACE_WRITERS - 1)];
}

const struct pace_writer *pace_writer(const struct model *m, uint16_t chip, struct nocap_xy at,
                                      uint64_t addr)
{
    uint64_t key = writer_key(chip, at, addr);
    const struct pace_writer *w = writer_place(m, key);
    return w->key == key ? w : NULL;
}

static void note_writer(struct model *m, uint16_t chip, struct nocap_xy to, uint64_t addr,
                        unsigned agent, struct nocap_xy from)
{
    uint64_t key = writer_key(chip, to, addr);
    *writer_place(m, key) = (struct pace_writer){
        .key = key, .index = m->event->index, .agent = (uint8_t)agent, .at = from};
}

/* A small write to other tiles: perhaps a semaphore. */
static void note_request(struct model *m, const struct nocap_event *e)
{
    bool small = e->op == NOCAP_OP_ATOMIC || e->op == NOCAP_OP_INLINE ||
                 (e->op == NOCAP_OP_WRITE && e->size <= PACE_WRITER_BYTES);
    if (!m->pace->polls || !small || e->phase != NOCAP_PHASE_ISSUE ||
        (~e->has & (NOCAP_F_D | NOCAP_F_DADDR)) != 0) {
        return;
    }
    struct nocap_xy to = (e->has & NOCAP_F_D2) != 0 ? e->d2 : e->d;
    unsigned x0 = e->d.x < to.x ? e->d.x : to.x, x1 = e->d.x < to.x ? to.x : e->d.x;
    unsigned y0 = e->d.y < to.y ? e->d.y : to.y, y1 = e->d.y < to.y ? to.y : e->d.y;
    for (unsigned x = x0; x <= x1 && x < NOCAP_GRID_WIDTH; x++) {
        for (unsigned y = y0; y <= y1 && y < NOCAP_GRID_HEIGHT; y++) {
            note_writer(m, e->chip, (struct nocap_xy){(uint8_t)x, (uint8_t)y}, e->daddr, e->by,
                        e->at);
        }
    }
}

static int request_op(unsigned op)
{
    switch (op) {
    case NOCAP_OP_READ: return PACE_READ;
    case NOCAP_OP_WRITE:
    case NOCAP_OP_INLINE: return PACE_WRITE;
    case NOCAP_OP_ATOMIC: return PACE_ATOMIC;
    default: return -1;
    }
}

static void open_request(struct pace_requests *r, const struct nocap_event *e)
{
    bool load = e->op == NOCAP_OP_READ;
    r->issued++;
    if (r->open_count == PACE_OPEN) {
        memmove(r->open, r->open + 1, (PACE_OPEN - 1) * sizeof r->open[0]);
        r->open_count--;
    }
    r->open[r->open_count++] =
        (struct pace_request){.index = e->index,
                              .id = (e->has & NOCAP_F_ID) != 0 ? e->id : UINT64_MAX,
                              .has_far = (e->has & (load ? NOCAP_F_S : NOCAP_F_D)) != 0,
                              .far = load ? e->s : e->d};
}

static void close_request(struct pace_requests *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->open_count; i++) {
        if (r->open[i].id == id) {
            r->open_count--;
            memmove(r->open + i, r->open + i + 1, (r->open_count - i) * sizeof r->open[0]);
            return;
        }
    }
}

void pace_noc(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    if (!m->pace->wanted) {
        return;
    }
    pace_act(m, tile, e->by);
    note_request(m, e);
    int op = request_op(e->op);
    if (op < 0 || e->noc >= PACE_NOCS) {
        return;
    }
    struct pace_requests *r = &tile->pace.requests[e->noc][op];
    if (e->phase == NOCAP_PHASE_ISSUE && !e->posted) {
        open_request(r, e);
    } else if (e->phase == NOCAP_PHASE_DONE && (e->has & NOCAP_F_ID) != 0) {
        r->ended++;
        close_request(r, e->id);
    } else if (e->phase == NOCAP_PHASE_DONE) { /* a barrier: all of them */
        pace_all_ended(m, tile, e->noc, (enum pace_op)op);
    }
}

void pace_all_ended(struct model *m, struct tile *tile, unsigned noc, enum pace_op op)
{
    struct pace_requests *r = &tile->pace.requests[noc][op];
    if (m->pace->wanted) {
        r->ended = r->issued;
        r->open_count = 0;
    }
}

void pace_upon(struct model *m, struct tile *tile)
{
    if (!m->pace->wanted) {
        return;
    }
    step(&tile->pace.all, m->event, false);
    step(&m->pace->all, m->event, false);
}

/* When the last of the polls was that an event stands for. */
static uint64_t end_of(const struct nocap_event *e)
{
    bool polls = (e->kind == NOCAP_EV_READ || e->kind == NOCAP_EV_WRITE) &&
                 (e->has & NOCAP_F_T2) != 0 && e->t2 > e->t;
    return polls ? e->t2 : e->t;
}

static uint64_t times(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_N) != 0 && e->n > 0 ? e->n : 1;
}

static struct look *find_look(struct pace_agent *agent, uint64_t addr)
{
    for (unsigned i = 0; i < PACE_LOOKS; i++) {
        if (agent->looks[i].count > 0 && agent->looks[i].addr == addr) {
            return &agent->looks[i];
        }
    }
    return NULL;
}

/* How often the agent found the place as it was; 0: it found something else, or looks there for the
 * first time. `changed` is set where it found something else. */
static uint64_t look(struct model *m, struct pace_agent *agent, const struct access *a,
                     bool *changed)
{
    uint64_t value = 0, n = times(m->event);
    for (uint64_t i = 0; i < a->known && i < sizeof value; i++) {
        value |= (uint64_t)a->bytes[i] << 8 * i;
    }
    struct look *l = find_look(agent, a->addr);
    bool known = l != NULL, same = known && l->value == value;
    if (!known) {
        l = &agent->looks[agent->next++ % PACE_LOOKS];
    }
    if (!same) {
        *l = (struct look){.addr = a->addr, .value = value, .since = now(m)};
    }
    l->count += n;
    agent->latest = (uint8_t)(l - agent->looks);
    agent->looking = same || n > 1;
    *changed = known && !same;
    return same ? n : n - 1;
}

const struct look *pace_looks_at(const struct pace_agent *agent)
{
    return agent->looking ? &agent->looks[agent->latest] : NULL;
}

static bool is_clock(uint64_t addr)
{
    return addr == NOCAP_REG_WALL_CLOCK_L || addr == NOCAP_REG_WALL_CLOCK_H;
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

void pace_core(struct model *m, struct tile *tile, const struct access *a)
{
    if (!m->pace->wanted) {
        return;
    }
    struct pace_agent *agent = agent_of(&tile->pace, a->by);
    bool changed = false;
    if (a->store) {
        if (!leaves_as_it_was(tile, a)) {
            pace_act(m, tile, a->by);
        }
        if (m->pace->polls && a->size <= PACE_WRITER_BYTES && a->addr >= SHADOW_SIZE) {
            note_writer(m, tile->chip, tile->at, a->addr, a->by, tile->at);
        }
        return;
    }
    if (is_clock(a->addr)) {
        return;
    }
    take_pc(agent, m->event);
    uint64_t looks = look(m, agent, a, &changed);
    if (looks < times(m->event)) {
        bool looking = agent->looking;
        pace_act(m, tile, a->by);
        agent->looking = looking;
    }
    tile->pace.all.looks += looks;
    m->pace->all.looks += looks;
}

void pace_memory(struct model *m, struct tile *tile, const struct access *a)
{
    if (!m->pace->wanted) {
        return;
    }
    for (unsigned i = 0; i < PACE_AGENTS; i++) { /* of an older picture */
        tile->pace.agents[i].waypoint[0] = '\0';
    }
    if (leaves_as_it_was(tile, a)) {
        tile->pace.all.looks++;
        m->pace->all.looks++;
    } else if (a->addr < SHADOW_SIZE) {
        pace_upon(m, tile);
    }
}

static bool all_ones(const struct access *a)
{
    bool ones = a->known >= 4 && a->known == a->size;
    for (uint64_t i = 0; ones && i < a->known; i++) {
        ones = a->bytes[i] == 0xFF;
    }
    return ones;
}

/* The host asks whether the tile is done. */
static void ask(struct model *m, struct tile *tile, const struct access *a)
{
    struct pace *p = &tile->pace;
    uint8_t signal;
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t at = nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE;
        if (!access_byte(a, at, &signal)) {
            if (touches(a, at, 1) && p->asked_at == at) { /* what it was answered is not known */
                p->asked.index = NO_INDEX;
            }
            continue;
        }
        /* the reset of the read pointer from the host is never answered */
        bool ends = signal == NOCAP_GO_DONE || signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST;
        if (ends && (p->asked_at == at || p->asked.index == NO_INDEX)) {
            p->asked.index = NO_INDEX;
        } else if (!ends) {
            bool goes_on = p->asked.index != NO_INDEX && p->asked_at == at;
            p->asked = goes_on ? p->asked : now(m);
            p->asked_last = now(m);
            p->asked_last.t = end_of(m->event);
            p->asked_at = at;
            p->asked_signal = signal;
        }
        return;
    }
}

void pace_host_read(struct model *m, struct tile *tile, const struct access *a)
{
    if (!m->pace->wanted) {
        return;
    }
    struct pace *p = &tile->pace;
    bool changed = false, outside = !p->all.known;
    uint64_t looks = look(m, &p->agents[PACE_HOST], a, &changed);
    if (changed && outside) { /* what others see of it */
        step(&p->all, m->event, true);
        step(&m->pace->all, m->event, false);
    }
    p->all.looks += looks;
    m->pace->all.looks += looks;
    m->pace->host = now(m);
    ask(m, tile, a);
    if (a->addr == NOCAP_REG_DBG_RD_DATA && a->known >= 4) {
        for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
            if (p->debug_select == (DEBUG_SELECT | (uint32_t)nocap_cores[i].debug_signal)) {
                uint32_t v = 0;
                (void)access_word(a, a->addr, &v);
                p->agents[PACE_CORE0 + i].pc = v & DEBUG_PC_MASK;
                p->agents[PACE_CORE0 + i].pc_index = m->event->index;
            }
        }
    }
    if (all_ones(a)) {
        p->ones = p->ones_count == 0 ? now(m) : p->ones;
        p->ones_count += (uint32_t)(times(m->event) < 1000 ? times(m->event) : 1000);
    } else {
        p->ones_count = 0;
    }
}

/* A host that starts anew, or takes the cores into reset, does not wait any more. */
static void stop_asking(struct model *m, struct tile *tile, const struct access *a)
{
    struct pace *p = &tile->pace;
    bool reset = touches(a, NOCAP_REG_SOFT_RESET_0, 4);
    if (p->asked.index == NO_INDEX || (!reset && !touches(a, p->asked_at, 1))) {
        return;
    }
    if (reset && p->all.looks >= PACE_GAVE_UP && m->pace->gave_up.index == NO_INDEX) {
        m->pace->gave_up = p->asked_last;
        m->pace->gave_up_chip = tile->chip;
        m->pace->gave_up_at = tile->at;
    }
    p->asked.index = NO_INDEX;
}

void pace_host_store(struct model *m, struct tile *tile, const struct access *a)
{
    uint32_t v;
    stop_asking(m, tile, a);
    if (access_word(a, NOCAP_REG_DBG_BUS_CNTL, &v)) {
        tile->pace.debug_select = v;
    }
}

/* Host memory: the host's own reads of it. */
static void sysmem_read(struct model *m, const struct nocap_event *e)
{
    struct access a = {.addr = e->addr, .size = e->size};
    if ((e->has & NOCAP_F_VALUE) != 0) {
        a.bytes = (const uint8_t *)&e->value;
        a.known = e->size < sizeof e->value ? e->size : sizeof e->value;
    } else if ((e->has & (NOCAP_F_DATA | NOCAP_F_HEAD)) != 0) {
        a.bytes = e->data;
        a.known = e->size < e->data_size ? e->size : e->data_size;
    }
    struct trace_pace *p = m->pace;
    const struct look *before = find_look(&p->memory, a.addr);
    uint64_t since = before != NULL ? before->since.t : e->t;
    bool changed = false;
    uint64_t looks = look(m, &p->memory, &a, &changed);
    if (changed && e->t > since && e->t - since > p->all.longest) {
        p->all.longest = e->t - since; /* the device took so long to show something new */
    }
    if (looks < times(e)) {
        step(&p->all, e, false);
    }
    p->all.looks += looks;
}

void pace_event(struct model *m, const struct nocap_event *e)
{
    if (!m->pace->wanted) {
        return;
    }
    uint64_t end = end_of(e);
    m->pace->end = end > m->pace->end ? end : m->pace->end;
    m->pace->acted |=
        e->kind != NOCAP_EV_MEM && e->kind != NOCAP_EV_NOTE && e->kind != NOCAP_EV_DROP;
    bool window = e->space == NOCAP_SPACE_BAR0 || e->space == NOCAP_SPACE_BAR2;
    if (e->kind == NOCAP_EV_READ && e->space == NOCAP_SPACE_SYSMEM && e->by == NOCAP_BY_HOST) {
        sysmem_read(m, e);
        m->pace->host = now(m);
    } else if ((e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) && !window &&
               e->space != NOCAP_SPACE_TILE) {
        step(&m->pace->all, e, false);
    } else if (e->kind == NOCAP_EV_CQ || e->kind == NOCAP_EV_CERT || e->kind == NOCAP_EV_NOC) {
        step(&m->pace->all, e, false);
    }
}
