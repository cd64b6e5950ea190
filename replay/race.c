/* The events of a trace as accesses to memories, and what each agent learns by them. Rules NOC-041
 * to NOC-045; which of them are broken is race_judge.c's. */
#include "replay/race.h"

#include <string.h>

#include "replay/noc.h"

enum {
    /* A word that a core loads: its value is compared with what was written. */
    WORD_MAX = 8,
    /* What a NOC read brings of this size may be a flag of the far tile. */
    FLAG_MAX = 64,
    REGISTERS_OF_STREAM = NOCAP_STREAM_STRIDE,
};

/* Times count from 1: 0 is before all events. */
static uint64_t stamp(uint64_t index)
{
    return index + 1;
}

static unsigned core_of(uint8_t by)
{
    return (unsigned)(by - NOCAP_BY_BRISC);
}

static uint32_t agent_of(const struct race_place *p, uint8_t by)
{
    return p->number * RACE_CORES + core_of(by);
}

static void keep(struct model *m, bool ok)
{
    m->out_of_memory |= !ok;
}

/* ---- what agents learn ---- */

/* What the writer of a span tells the one who sees its value. */
static void learn_span(struct model *m, struct race_clock **clock, struct race_place *where,
                       const struct race_span *span)
{
    const struct race_access *w = &span->write;
    if (!span->written) {
        return;
    }
    if (w->agent == RACE_NOBODY) {
        keep(m, race_clock_raise_floor(clock, w->index));
        return;
    }
    bool travels = w->way == RACE_ACK || w->way == RACE_ORDER;
    uint64_t order = travels ? race_order_key(w->place, w->noc, where->number, w->channel) : 0;
    if (race_clock_until(*clock, race_core_key(w->agent)) >= w->index &&
        (!travels || race_clock_until(*clock, order) >= w->index)) {
        return;
    }
    keep(m, race_clock_join(clock, span->release));
    keep(m, race_clock_raise(clock, race_core_key(w->agent), w->index));
    for (unsigned i = RACE_ARRIVE * RACE_NOCS; i < RACE_ENDS * RACE_NOCS; i++) {
        uint64_t until = span->over[i / RACE_NOCS][i % RACE_NOCS];
        bool said = i / RACE_NOCS == RACE_LEAVE && until <= span->over[RACE_ACK][i % RACE_NOCS];
        if (until != 0 && !said) { /* what was acknowledged has left */
            uint64_t key = race_way_key((enum race_way)(i / RACE_NOCS), w->place, i % RACE_NOCS);
            keep(m, race_clock_raise(clock, key, until));
        }
    }
    if (travels) {
        keep(m, race_clock_raise(clock, order, w->index));
    }
}

/* A load of one word, or of part of a span: does its value come from the write that is known? */
static void learn_load(struct model *m, struct race_clock **clock, struct race_place *where,
                       struct race_span *span, const struct access *a)
{
    bool whole = span->first == a->addr && span->end == a->addr + a->size && a->size <= WORD_MAX &&
                 a->known == a->size;
    uint64_t v = 0, now_stamp = stamp(m->event->index);
    if (whole) {
        memcpy(&v, a->bytes, a->size);
    }
    bool compared = whole && span->written && span->value_known;
    bool changed = whole && span->seen_known && span->seen != v;
    if (compared ? span->value == v : span->written) {
        learn_span(m, clock, where, span);
    } else if (changed || !m->race->all_seen) {
        keep(m, race_clock_raise_floor(clock, now_stamp)); /* somebody else wrote it */
    } else if (!span->written) {
        keep(m, race_clock_raise_floor(clock, where->memory.lost));
    }
    if (whole) {
        span->seen = v;
        span->seen_known = true;
    }
}

void race_over(struct model *m, const struct tile *tile, unsigned noc, unsigned op, bool done,
               uint64_t index)
{
    struct race_place *p = race_place_find(m->race, tile->chip, tile->at);
    bool write = op == NOCAP_OP_WRITE || op == NOCAP_OP_INLINE;
    if (p == NULL || (op == NOCAP_OP_READ && !done) || (op != NOCAP_OP_READ && !write)) {
        return;
    }
    uint64_t until = stamp(index) < p->sent[noc] ? stamp(index) : p->sent[noc];
    unsigned first = write ? RACE_LEAVE : RACE_ARRIVE;
    unsigned last = write && done ? RACE_ACK : first;
    for (unsigned way = first; way <= last; way++) {
        p->over[way][noc] = until > p->over[way][noc] ? until : p->over[way][noc];
    }
}

void race_counter(struct model *m, const struct tile *tile, unsigned noc, unsigned counter)
{
    uint64_t index = m->event->index; /* what was sent before is meant */
    switch (counter) {
    case NOCAP_COUNTER_MST_WR_ACK_RECEIVED:
        race_over(m, tile, noc, NOCAP_OP_WRITE, true, index);
        break;
    case NOCAP_COUNTER_MST_RD_RESP_RECEIVED:
        race_over(m, tile, noc, NOCAP_OP_READ, true, index);
        break;
    case NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT:
    case NOCAP_COUNTER_MST_POSTED_WR_REQ_SENT:
        race_over(m, tile, noc, NOCAP_OP_WRITE, false, index);
        break;
    default:
        if (counter - NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID < NOCAP_TRIDS) {
            race_over(m, tile, noc, NOCAP_OP_WRITE, true, index);
            race_over(m, tile, noc, NOCAP_OP_READ, true, index);
        } else if (counter - NOCAP_COUNTER_MST_WRITE_REQS_OUTGOING_ID < NOCAP_TRIDS) {
            race_over(m, tile, noc, NOCAP_OP_WRITE, false, index);
        }
        break;
    }
}

/* ---- accesses ---- */

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

static void take_value(struct race_span *span, const struct access *a)
{
    span->value = 0;
    span->value_known = a != NULL && a->size <= WORD_MAX && a->known == a->size;
    if (span->value_known) {
        memcpy(&span->value, a->bytes, a->size);
    }
}

/* Some core looked at these bytes before: it may be waiting for them to change. */
static bool is_polled(struct race_memory *memory, const struct race_access *a)
{
    for (uint32_t i = race_memory_find(memory, a->first);
         i < memory->count && memory->spans[i].first < a->end; i++) {
        const struct race_span *span = &memory->spans[i];
        for (uint8_t r = 0; r < span->reader_count; r++) {
            if (span->readers[r].way == RACE_CORE) {
                return true;
            }
        }
    }
    return false;
}

/* The bytes change; `release`, which becomes the span's, is what the writer knew. */
static void put_write(struct model *m, struct race_place *where, const struct race_access *a,
                      struct race_clock *release, const struct access *bytes)
{
    bool polled = a->way != RACE_CORE && is_polled(&where->memory, a);
    struct race_span *span = race_memory_write(&where->memory, a);
    if (span == NULL) {
        race_clock_drop(release);
        m->out_of_memory = true;
        return;
    }
    span->release = release;
    if (a->agent != RACE_NOBODY) {
        memcpy(span->over, m->race->places[a->agent / RACE_CORES]->over, sizeof span->over);
    }
    span->polled = polled;
    take_value(span, bytes);
}

/* A counter that many add to tells what all of them knew. */
static void put_add(struct model *m, struct race_place *where, const struct race_access *a,
                    struct race_clock *knows)
{
    uint32_t i = race_memory_find(&where->memory, a->first);
    const struct race_span *span = i < where->memory.count ? &where->memory.spans[i] : NULL;
    struct race_clock *sum = race_clock_share(knows);
    if (span != NULL && span->written && span->first < a->end) {
        const struct race_access *w = &span->write;
        bool again = w->agent == a->agent && w->noc == a->noc && w->channel == a->channel;
        if (!again) {
            learn_span(m, &sum, where, span);
        }
    }
    put_write(m, where, a, sum, NULL);
}

static void put_read(struct model *m, struct race_place *where, const struct race_access *a)
{
    keep(m, race_memory_read(&where->memory, a));
}

/* ---- requests ---- */

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
        .index = stamp(e->index),
        .first = addr,
        .end = addr + e->size,
        .agent = agent_of(p, e->by),
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
         i < memory->count && memory->spans[i].first < a->end; i++) {
        learn_span(m, clock, where, &memory->spans[i]);
    }
}

static void request_read(struct model *m, struct race_place *p, const struct nocap_event *e,
                         const struct noc_ends *ends)
{
    struct race_clock *release = race_clock_share(p->clocks[core_of(e->by)]);
    bool from = ends->from_known && memory_place(m, ends->from, e->saddr, e->size);
    struct race_place *far_place = from ? race_place_get(m, e->chip, ends->from) : NULL;
    if (far_place != NULL) {
        struct race_access a = access_of(p, e, RACE_ARRIVE, e->saddr);
        race_judge(m, far_place, &a, false);
        if (e->size <= FLAG_MAX) {
            learn_far(m, &release, far_place, &a);
        }
        put_read(m, far_place, &a);
    }
    if ((e->has & NOCAP_F_DADDR) != 0 && memory_place(m, p->at, e->daddr, e->size)) {
        struct race_access a = access_of(p, e, RACE_ARRIVE, e->daddr);
        race_judge(m, p, &a, true);
        put_write(m, p, &a, release, NULL);
    } else {
        race_clock_drop(release);
    }
    p->fetched = stamp(e->index);
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
    struct race_clock *knows = p->clocks[core_of(e->by)];
    struct race_access a = access_of(p, e, e->posted ? RACE_ORDER : RACE_ACK, e->daddr);
    far_place->reached = stamp(e->index);
    if (stream) {
        a.first = e->daddr - e->daddr % REGISTERS_OF_STREAM;
        a.end = a.first + REGISTERS_OF_STREAM;
        a.atomic = true;
    }
    if (a.atomic) {
        put_add(m, far_place, &a, knows);
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
    put_write(m, far_place, &a, race_clock_share(knows), &bytes);
}

static void each_target(struct model *m, struct race_place *p, const struct nocap_event *e,
                        const struct noc_ends *ends)
{
    struct nocap_xy a = ends->to, b = ends->to_other;
    unsigned left = a.x < b.x ? a.x : b.x, right = a.x < b.x ? b.x : a.x;
    unsigned top = a.y < b.y ? a.y : b.y, bottom = a.y < b.y ? b.y : a.y;
    for (unsigned x = left; x <= right; x++) {
        for (unsigned y = top; y <= bottom; y++) {
            struct nocap_xy to = {(uint8_t)x, (uint8_t)y};
            bool self = e->mcast && x == p->at.x && y == p->at.y;
            bool worker =
                !e->mcast || !m->knows_tiles || nocap_is_tensix_tile(m->header->board, to);
            if (!self && worker) {
                request_arrives(m, p, e, to);
            }
        }
    }
}

static void request_write(struct model *m, struct race_place *p, const struct nocap_event *e,
                          const struct noc_ends *ends)
{
    bool source = e->op == NOCAP_OP_WRITE && (e->has & NOCAP_F_SADDR) != 0;
    if (source && memory_place(m, p->at, e->saddr, e->size)) {
        struct race_access a = access_of(p, e, RACE_LEAVE, e->saddr);
        race_judge(m, p, &a, false);
        put_read(m, p, &a);
    }
    if (ends->to_known) {
        each_target(m, p, e, ends);
    }
}

void race_request(struct model *m, const struct nocap_event *e)
{
    bool core = nocap_is_core(e->by) && (e->has & NOCAP_F_BY) != 0;
    bool sized = (e->has & NOCAP_F_SIZE) != 0 && e->size > 0 && e->size <= NOCAP_NIU_SPLIT_BELOW;
    if (!core || (e->has & NOCAP_F_NOC) == 0 || !race_begin(m)) {
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
    m->race->started = true;
    p->sent[e->noc] = stamp(e->index);
    struct noc_ends ends = noc_ends(e);
    if (e->op == NOCAP_OP_READ) {
        request_read(m, p, &sized_event, &ends);
    } else if ((e->has & NOCAP_F_DADDR) != 0 || e->op == NOCAP_OP_WRITE) {
        ends.to_known &= (e->has & NOCAP_F_DADDR) != 0;
        request_write(m, p, &sized_event, &ends);
    }
}

/* ---- cores, and what comes from elsewhere ---- */

/* A hardware mailbox, a semaphore of the coprocessor: a word from somebody, nobody knows whom. */
static bool is_message(uint64_t addr)
{
    return (addr >= NOCAP_BASE_PC_BUF0 && addr <= NOCAP_LAST_PC_BUF2) ||
           (addr >= NOCAP_BASE_HW_MAILBOX0 && addr <= NOCAP_LAST_HW_MAILBOX3);
}

static struct race_access core_access(const struct race_place *p, const struct model *m,
                                      const struct access *a)
{
    return (struct race_access){.index = stamp(m->event->index),
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = agent_of(p, a->by),
                                .place = p->number,
                                .way = RACE_CORE,
                                .size = (uint32_t)a->size};
}

static void core_loads(struct model *m, struct race_place *p, const struct access *a)
{
    struct race_access r = core_access(p, m, a);
    struct race_clock **clock = &p->clocks[core_of(a->by)];
    race_judge(m, p, &r, false);
    put_read(m, p, &r);
    struct race_memory *memory = &p->memory;
    for (uint32_t i = race_memory_find(memory, r.first);
         i < memory->count && memory->spans[i].first < r.end; i++) {
        learn_load(m, clock, p, &memory->spans[i], a);
    }
}

static void core_stream(struct model *m, struct race_place *p, const struct access *a)
{
    struct race_access r = core_access(p, m, a);
    struct race_clock **clock = &p->clocks[core_of(a->by)];
    r.first -= r.first % REGISTERS_OF_STREAM;
    r.end = r.first + REGISTERS_OF_STREAM;
    r.atomic = true;
    if (a->store) {
        put_add(m, p, &r, *clock);
        return;
    }
    uint32_t i = race_memory_find(&p->memory, r.first);
    if (i < p->memory.count && p->memory.spans[i].first < r.end) {
        learn_span(m, clock, p, &p->memory.spans[i]);
    } else if (!m->race->all_seen) {
        keep(m, race_clock_raise_floor(clock, stamp(m->event->index)));
    }
}

void race_core_access(struct model *m, const struct tile *tile, const struct access *a)
{
    if (m->race == NULL || !m->race->started || a->size == 0) {
        return;
    }
    bool memory = a->addr < NOCAP_L1_SIZE && a->addr + a->size <= NOCAP_L1_SIZE;
    bool stream = a->addr >= NOCAP_BASE_STREAM && a->addr <= NOCAP_LAST_STREAM;
    bool message = !a->store && is_message(a->addr);
    struct race_place *p =
        memory || stream || message ? race_place_get(m, tile->chip, tile->at) : NULL;
    if (p == NULL) {
        return;
    }
    if (stream) {
        core_stream(m, p, a);
    } else if (message) {
        keep(m, race_clock_raise_floor(&p->clocks[core_of(a->by)], stamp(m->event->index)));
    } else if (a->store) {
        struct race_access w = core_access(p, m, a);
        race_judge(m, p, &w, true);
        put_write(m, p, &w, race_clock_share(p->clocks[core_of(a->by)]), a);
    } else {
        core_loads(m, p, a);
    }
}

/* Bytes from the host, or from an interface of which nobody sees what it sends. */
void race_outside_store(struct model *m, const struct tile *tile, const struct access *a)
{
    const struct nocap_event *e = m->event;
    bool restates = a->by == NOCAP_BY_NOC && (m->header->observes & NOCAP_CLASS_NOC) != 0 &&
                    ((e->has & NOCAP_F_FROM) != 0 ? nocap_header_in_scope(m->header, e->s)
                                                  : !m->header->has_scope);
    if (m->race == NULL || !m->race->started || e->kind != NOCAP_EV_WRITE || restates) {
        return;
    }
    struct race_place *p = race_place_get(m, tile->chip, tile->at);
    if (p == NULL || a->size == 0) {
        return;
    }
    p->reached = stamp(e->index);
    bool stream = a->addr >= NOCAP_BASE_STREAM && a->addr <= NOCAP_LAST_STREAM;
    if (stream || (a->addr < NOCAP_L1_SIZE && a->addr + a->size <= NOCAP_L1_SIZE)) {
        struct race_access w = {.index = stamp(e->index),
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = RACE_NOBODY,
                                .atomic = stream,
                                .size = (uint32_t)a->size};
        if (stream) {
            w.first -= w.first % REGISTERS_OF_STREAM;
            w.end = w.first + REGISTERS_OF_STREAM;
        }
        put_write(m, p, &w, NULL, stream ? NULL : a);
    }
}

/* ---- notes ---- */

static void take_lock(struct race_place *p, const struct nocap_note *note, uint64_t index)
{
    if (note->form == NOCAP_NOTE_LOCK) {
        if (p->lock_count < RACE_LOCKS) {
            p->locks[p->lock_count++] =
                (struct race_lock){note->addr, note->addr + note->size, index, note->by, note->cb};
        }
        return;
    }
    for (uint32_t i = 0; i < p->lock_count; i++) {
        const struct race_lock *l = &p->locks[i];
        if (l->first == note->addr && l->end == note->addr + note->size && l->by == note->by &&
            l->cb == note->cb) {
            p->locks[i] = p->locks[--p->lock_count];
            return;
        }
    }
}

void race_note(struct model *m, const struct nocap_event *e)
{
    const struct nocap_note note = nocap_note_read(e);
    if (note.form == NOCAP_NOTE_TEXT || !race_begin(m)) {
        return;
    }
    struct race_place *p = race_place_get(m, e->chip, e->at);
    if (p == NULL) {
        return;
    }
    if (note.form != NOCAP_NOTE_WAIT) {
        take_lock(p, &note, e->index);
    } else if (note.op == NOCAP_OP_NONE) { /* who sets the semaphore is not said */
        keep(m, race_clock_raise_floor(&p->clocks[core_of(note.by)], stamp(e->index)));
    }
}
