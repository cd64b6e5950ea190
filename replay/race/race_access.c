/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of cores, of the host and of interfaces that are not observed, notes, and what memory
 * remembers. */
#include "formats/trace/note.h"
#include "replay/race/race_private.h"

/* ---- what memory remembers ---- */

/* Who writes or reads one place often goes on with the next one: what is known of that is fetched
 * while other tiles are looked at. */
static void fetch_next(const struct race_memory *memory, uint32_t row)
{
    enum { LINE = 64 };
    if (row + 1 < memory->count) {
        const char *next = (const char *)race_memory_at(memory, row + 1);
        for (size_t at = 0; at < sizeof(struct race_span); at += LINE) {
            __builtin_prefetch(next + at);
        }
    }
}

struct race_span *race_write(struct model *m, struct race_mem_ctx *where,
                             const struct race_access *a, struct race_clock *release,
                             const struct access *bytes)
{
    struct race_memory *memory = &where->memory;
    uint32_t row = race_memory_find(memory, a->first);
    bool polled = race_judge(m, where, row, a, true);
    bool same = row < memory->count && memory->rows[row].first == a->first &&
                memory->rows[row].end == a->end;
    struct race_span *span =
        same ? race_memory_at(memory, row) : race_memory_renew(m, memory, row, a->first, a->end);
    if (span == NULL) {
        race_clock_drop(release);
        return NULL;
    }
    race_report(&span->news, a, release);
    span->reader_count = 0;
    span->polled = polled && a->way != RACE_CORE;
    span->used = a->index;
    span->value_known = bytes != NULL && race_value(bytes, &span->value);
    fetch_next(memory, row);
    return span;
}

static void add_reader(struct race_span *span, const struct race_row *row,
                       const struct race_access *a)
{
    uint64_t first = a->first > row->first ? a->first : row->first;
    uint64_t end = a->end < row->end ? a->end : row->end;
    struct race_access *r = span->readers;
    uint8_t at = 0, i = 0;
    for (; i < span->reader_count; i++) {
        if (r[i].agent == a->agent && r[i].way == a->way && r[i].first == first &&
            r[i].end == end && r[i].noc == a->noc) {
            at = i;
            break;
        }
        at = r[i].index < r[at].index ? i : at;
    }
    if (i == span->reader_count && i < RACE_READERS) {
        at = span->reader_count++;
    }
    r[at] = *a;
    r[at].first = first;
    r[at].end = end;
    span->used = a->index;
}

/* What a core knows by a load of the span, or of a part: does its value come from the write that
 * is known? */
static void learn_load(struct model *m, const struct race_access *r, struct race_mem_ctx *where,
                       struct race_span *span, const struct race_row *row, const struct access *a)
{
    uint64_t v;
    bool whole = row->first == r->first && row->end == r->end && race_value(a, &v);
    bool written = span->news.write.index != 0;
    bool changed = whole && span->seen_known && span->seen != v;
    struct race_clock **clock = &r->agent->clock;
    if (written && (!whole || !span->value_known || span->value == v)) {
        race_reported(m, r->agent, where, &span->news);
    } else if (changed || !race_of(m)->all_seen) { /* another agent wrote it */
        race_clock_raise_base(m, clock, r->index);
    } else if (!written) {
        race_clock_raise_base(m, clock, where->memory.lost);
    }
    if (whole) {
        span->seen = v;
        span->seen_known = true;
    }
}

void race_read(struct model *m, struct race_mem_ctx *where, const struct race_access *a,
               const struct access *bytes)
{
    struct race_memory *memory = &where->memory;
    uint64_t at = a->first;
    uint32_t row = race_memory_find(memory, at);
    race_judge(m, where, row, a, false);
    if (race_memory_bound(memory)) {
        row = race_memory_find(memory, at);
    }
    for (; at < a->end; row++) {
        bool last = row == memory->count || memory->rows[row].first >= a->end;
        uint64_t next = last ? a->end : memory->rows[row].first;
        if (next > at && race_memory_insert(m, memory, row, at, next) == NULL) {
            return;
        }
        const struct race_row *bound = &memory->rows[row];
        struct race_span *span = race_memory_at(memory, row);
        add_reader(span, bound, a);
        if (bytes != NULL) {
            learn_load(m, a, where, span, bound, bytes);
        }
        at = bound->end;
    }
}

/* ---- accesses ---- */

static struct race_access access_of(const struct model *m, const struct access *a,
                                    struct race_agent *agent)
{
    return (struct race_access){.index = race_stamp(m->event->index),
                                .first = a->addr,
                                .end = a->addr + a->size,
                                .agent = agent,
                                .way = RACE_CORE,
                                .size = (uint32_t)a->size};
}

void race_core_stream(struct model *m, const struct observation *o)
{
    struct race_mem_ctx *p = race_here(m, o->tile);
    struct race_news *news = p != NULL ? race_stream(m, p, o->access.addr) : NULL;
    if (news == NULL) {
        return;
    }
    struct race_agent *self = race_agent(p, o->access.by);
    struct race_access r = access_of(m, &o->access, self);
    r.atomic = true;
    if (o->access.store) {
        /* firmware sets counters stream by stream: what is asked of the next one */
        __builtin_prefetch(news + 1);
        __builtin_prefetch(&news[1].summed);
        race_count(m, p, news, &r);
    } else if (news->write.index != 0) {
        race_reported(m, self, p, news);
    } else if (!race_of(m)->all_seen) {
        race_clock_raise_base(m, &self->clock, r.index);
    }
}

void race_core_memory(struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    struct race_mem_ctx *p = race_here(m, o->tile);
    if (p == NULL || a->size == 0 || a->addr + a->size > p->size) {
        return;
    }
    struct race_agent *self = race_agent(p, a->by);
    const struct race_access r = access_of(m, a, self);
    if (a->store) {
        race_write(m, p, &r, race_clock_share(self->clock), a);
    } else {
        race_read(m, p, &r, a);
    }
}

/* A hardware mailbox, a semaphore of the coprocessor: a word from an unknown agent. */
void race_core_message(struct model *m, const struct observation *o)
{
    uint64_t addr = o->access.addr;
    bool message = (addr >= NOCAP_BASE_PC_BUF0 && addr <= NOCAP_LAST_PC_BUF2) ||
                   (addr >= NOCAP_BASE_HW_MAILBOX0 && addr <= NOCAP_LAST_HW_MAILBOX3);
    struct race_mem_ctx *p = message && !o->access.store ? race_here(m, o->tile) : NULL;
    if (p != NULL) {
        race_clock_raise_base(m, &race_agent(p, o->access.by)->clock, race_stamp(m->event->index));
    }
}

/* Bytes from the host, or from an interface whose requests are not observed. */
void race_outside_store(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = m->event;
    const struct access *a = &o->access;
    bool restates = a->by == NOCAP_BY_NOC && (m->header->observes & NOCAP_CLASS_NOC) != 0 &&
                    ((e->has & NOCAP_F_FROM) != 0 ? nocap_header_in_scope(m->header, e->s)
                                                  : !m->header->has_scope);
    if (e->kind != NOCAP_EV_WRITE || restates) {
        return;
    }
    struct race_mem_ctx *p = race_here(m, o->tile);
    if (p == NULL || a->size == 0) {
        return;
    }
    struct race_access w = access_of(m, a, NULL);
    p->reached = w.index;
    struct race_news *news = race_is_stream(a->addr) ? race_stream(m, p, a->addr) : NULL;
    if (news != NULL) {
        race_report(news, &w, NULL);
    } else if (a->addr < p->size && w.end <= p->size) {
        race_write(m, p, &w, NULL, a);
    }
}

/* ---- notes ---- */

static void take_lock(struct race_mem_ctx *p, const struct nocap_note *note, uint64_t index)
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

void race_note(struct model *m, const struct observation *o)
{
    const struct nocap_event *e = o->event;
    const struct nocap_note note = nocap_note_read(e);
    bool holds = note.form == NOCAP_NOTE_LOCK || note.form == NOCAP_NOTE_UNLOCK;
    bool semaphore = note.form == NOCAP_NOTE_WAIT && note.op == NOCAP_OP_NONE;
    if (o->tile == NULL || (!holds && !semaphore) || !race_begin(m)) {
        return;
    }
    struct race_mem_ctx *p = race_place(m, e->chip, e->at);
    if (p != NULL && holds) {
        take_lock(p, &note, e->index);
    } else if (p != NULL) { /* who sets the semaphore is not said */
        race_clock_raise_base(m, &race_agent(p, note.by)->clock, race_stamp(e->index));
    }
}
