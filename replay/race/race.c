/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of cores, of the host and of interfaces that nobody sees, and notes, as what races are
 * judged on. Rules NOC-041 to NOC-045; requests are race_request.c's, which rules are broken
 * race_judge.c's. */
#include "replay/race/race_private.h"

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
    return (struct race_access){.index = race_stamp(m->event->index),
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = race_agent(p, a->by),
                                .place = p->number,
                                .way = RACE_CORE,
                                .size = (uint32_t)a->size};
}

static void core_loads(struct model *m, struct race_place *p, const struct access *a)
{
    struct race_access r = core_access(p, m, a);
    struct race_clock **clock = &p->clocks[race_core(a->by)];
    race_judge(m, p, &r, false);
    race_put_read(m, p, &r);
    struct race_memory *memory = &p->memory;
    for (uint32_t i = race_memory_find(memory, r.first);
         i < memory->count && memory->rows[i].first < r.end; i++) {
        race_learn_load(m, clock, p, race_memory_at(memory, i), a);
    }
}

static void core_stream(struct model *m, struct race_place *p, const struct access *a)
{
    struct race_access r = core_access(p, m, a);
    struct race_clock **clock = &p->clocks[race_core(a->by)];
    r.first -= r.first % NOCAP_STREAM_STRIDE;
    r.end = r.first + NOCAP_STREAM_STRIDE;
    r.atomic = true;
    if (a->store) {
        race_put_add(m, p, &r, *clock);
        return;
    }
    uint32_t i = race_memory_find(&p->memory, r.first);
    if (i < p->memory.count && p->memory.rows[i].first < r.end) {
        race_learn_span(m, clock, p, race_memory_at(&p->memory, i));
    } else if (!race_of(m)->all_seen) {
        race_keep(m, race_clock_raise_floor(clock, race_stamp(m->event->index)));
    }
}

static void core_moves(struct model *m, const struct tile *tile, const struct access *a)
{
    if (race_of(m) == NULL || !race_of(m)->started || a->size == 0) {
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
        race_keep(
            m, race_clock_raise_floor(&p->clocks[race_core(a->by)], race_stamp(m->event->index)));
    } else if (a->store) {
        struct race_access w = core_access(p, m, a);
        race_judge(m, p, &w, true);
        race_put_write(m, p, &w, race_clock_share(p->clocks[race_core(a->by)]), a);
    } else {
        core_loads(m, p, a);
    }
}

/* Bytes from the host, or from an interface of which nobody sees what it sends. */
static void outside_store(struct model *m, const struct tile *tile, const struct access *a)
{
    const struct nocap_event *e = m->event;
    bool restates = a->by == NOCAP_BY_NOC && (m->header->observes & NOCAP_CLASS_NOC) != 0 &&
                    ((e->has & NOCAP_F_FROM) != 0 ? nocap_header_in_scope(m->header, e->s)
                                                  : !m->header->has_scope);
    if (race_of(m) == NULL || !race_of(m)->started || e->kind != NOCAP_EV_WRITE || restates) {
        return;
    }
    struct race_place *p = race_place_get(m, tile->chip, tile->at);
    if (p == NULL || a->size == 0) {
        return;
    }
    p->reached = race_stamp(e->index);
    bool stream = a->addr >= NOCAP_BASE_STREAM && a->addr <= NOCAP_LAST_STREAM;
    if (stream || (a->addr < NOCAP_L1_SIZE && a->addr + a->size <= NOCAP_L1_SIZE)) {
        struct race_access w = {.index = race_stamp(e->index),
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = RACE_NOBODY,
                                .atomic = stream,
                                .size = (uint32_t)a->size};
        if (stream) {
            w.first -= w.first % NOCAP_STREAM_STRIDE;
            w.end = w.first + NOCAP_STREAM_STRIDE;
        }
        race_put_write(m, p, &w, NULL, stream ? NULL : a);
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

static void note_event(struct model *m, const struct nocap_event *e)
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
        race_keep(m, race_clock_raise_floor(&p->clocks[race_core(note.by)], race_stamp(e->index)));
    }
}

/* ---- the model ---- */

static uint32_t wants(const struct model *m)
{
    const uint32_t requests = OBS(REQUEST) | OBS(PHASE) | OBS(NOTE);
    return m->knows_tiles ? requests | OBS(CORE_STORE) | OBS(CORE_LOAD) | OBS(OUTSIDE_STORE)
           : m->header->arch == NOCAP_ARCH_WORMHOLE ? requests
                                                    : 0;
}

static void check(struct model *m, const struct observation *o)
{
    switch (o->kind) {
    case OBS_CORE_STORE:
    case OBS_CORE_LOAD: core_moves(m, o->tile, &o->access); break;
    case OBS_OUTSIDE_STORE: outside_store(m, o->tile, &o->access); break;
    case OBS_REQUEST: race_request(m, o->event); break;
    case OBS_NOTE:
        if (o->tile != NULL) {
            note_event(m, o->event);
        }
        break;
    default: break;
    }
}

static void ended(struct model *m)
{
    for (uint32_t i = 0; i < m->ended_count; i++) {
        const struct ended *e = &m->ended[i];
        race_over(m, e);
    }
}

const struct model_ops race_model = {
    .name = "race",
    .id = MODEL_RACE,
    .first_rule = NOC_041,
    .last_rule = NOC_045,
    .uses = 1u << MODEL_NOC,
    .wants = wants,
    .places =
        PLACE(L1) | PLACE(LOW) | PLACE_MAILBOX | PLACE(STREAM) | PLACE(COPROCESSOR) | PLACE(NIU),
    .free = race_free,
    .check = check,
    .ended = ended,
    .forget = race_forget,
};
