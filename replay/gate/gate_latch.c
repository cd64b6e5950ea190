/* SPDX-License-Identifier: Apache-2.0 */
/* The Wait Gate of each thread, and what its conditions look at: units, Src banks, semaphores.
 * Rules TNX-001, -004 to -006, -013 to -015. */
#include <stdio.h>

#include "replay/core/tile.h"
#include "replay/core/value.h"
#include "replay/gate/gate_private.h"

enum {
    /* of any thread, not of the one that waits */
    ANY_THREAD = NOCAP_WAIT_XMOV | NOCAP_WAIT_CFG,
    /* shared units, of which the hardware cannot tell whose work is inside */
    SHARED = NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU | ANY_THREAD,
};

/* ---- conditions ---- */

static enum gate_condition stall_condition(const struct gate *g, unsigned thread,
                                           uint32_t conditions, uint32_t *blocking)
{
    const struct gate_thread *own = &g->threads[thread];
    uint32_t busy = 0, known = SHARED;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        busy |= g->threads[i].busy & SHARED;
        known &= g->threads[i].busy_known;
    }
    uint32_t holding = (own->busy | (busy & ANY_THREAD) | g->src) & conditions;
    known |=
        (own->busy_known & ~(uint32_t)SHARED) | g->src_known | ~(uint32_t)(GATE_UNITS | GATE_SRC);
    if (holding != 0) {
        *blocking = holding & ~(holding - 1);
        return GATE_HOLDS;
    }
    return (conditions & (busy | ~known)) == 0 ? GATE_CLEAR : GATE_UNSURE;
}

static enum gate_condition semaphore_condition(const struct gate *g, const struct gate_wait *wait,
                                               uint32_t *blocking)
{
    enum gate_condition result = GATE_CLEAR;
    bool zero = (wait->semaphore_condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0;
    bool max = (wait->semaphore_condition & NOCAP_SEMWAIT_WHILE_MAX) != 0;
    for (uint32_t rest = wait->semaphores; rest != 0; rest &= rest - 1) {
        const struct gate_sem *s = &g->sems[__builtin_ctz(rest)];
        bool known = s->known == SEM_KNOWN;
        if (known && ((zero && s->v == 0) || (max && s->max_known && s->v >= s->max))) {
            *blocking = rest & ~(rest - 1);
            return GATE_HOLDS;
        }
        if (!known || (max && !s->max_known)) {
            result = GATE_UNSURE;
        }
    }
    return result;
}

struct gate_wait gate_wait_of(uint32_t word, uint64_t index)
{
    struct gate_wait wait = {.opcode = (uint8_t)nocap_tensix_opcode(word), .index = index};
    uint32_t block = NOCAP_TENSIX_GET(word, STALLWAIT, stall_res); /* in all three at one place */
    wait.block = (uint16_t)(block != 0 ? block : NOCAP_STALL_RES_DEFAULT);
    if (wait.opcode == NOCAP_TENSIX_STALLWAIT) {
        uint32_t conditions = NOCAP_TENSIX_GET(word, STALLWAIT, wait_res);
        wait.conditions = conditions != 0 ? conditions : NOCAP_WAIT_RES_DEFAULT;
    } else if (wait.opcode == NOCAP_TENSIX_SEMWAIT) {
        wait.semaphores = (uint8_t)NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel);
        wait.semaphore_condition = (uint8_t)NOCAP_TENSIX_GET(word, SEMWAIT, condition);
    }
    return wait;
}

/* Whether the wait's condition says wait, for `thread`, now. GATE_HOLDS sets `blocking` to the
 * semaphore, or to the condition of a STALLWAIT. */
static enum gate_condition condition_of(const struct gate *g, unsigned thread,
                                        const struct gate_wait *wait, uint32_t *blocking)
{
    switch (wait->opcode) {
    case NOCAP_TENSIX_STALLWAIT: return stall_condition(g, thread, wait->conditions, blocking);
    case NOCAP_TENSIX_SEMWAIT: return semaphore_condition(g, wait, blocking);
    default: return GATE_UNSURE; /* STREAMWAIT looks at what no trace shows */
    }
}

struct gate_hold gate_holding(const struct gate *g, unsigned thread)
{
    const struct gate_thread *t = &g->threads[thread];
    struct gate_hold hold = {.wait = t->latch.wait};
    if (t->latch.condition != GATE_HOLDS) {
        hold.wait = gate_wait_of(t->held ? t->held_word : 0, NO_INDEX);
    }
    if (condition_of(g, thread, &hold.wait, &hold.blocking) == GATE_HOLDS &&
        hold.wait.opcode == NOCAP_TENSIX_SEMWAIT) {
        hold.semaphore = &g->sems[__builtin_ctz(hold.blocking)];
    }
    return hold;
}

const char *gate_describe(const struct gate *g, const struct gate_hold *hold, char *text,
                          size_t size)
{
    if (hold->semaphore != NULL) {
        snprintf(text, size, "a SEMWAIT waits for semaphore %s, which is %u",
                 nocap_tensix_semaphores[hold->semaphore - g->sems], hold->semaphore->v);
    } else {
        snprintf(text, size, "%s still says wait",
                 GATE_TEXT(NOCAP_TENSIX_WORD(STALLWAIT) |
                           NOCAP_TENSIX_SET(STALLWAIT, stall_res, hold->wait.block) |
                           NOCAP_TENSIX_SET(STALLWAIT, wait_res, hold->blocking)));
    }
    return text;
}

/* ---- the latch ---- */

/* After state changed: latches whose condition cleared are forgotten. */
static void settle(struct gate *g, uint64_t t)
{
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        struct gate_latch *l = &g->threads[i].latch;
        uint32_t blocking;
        if (l->condition == GATE_HOLDS) {
            l->condition = condition_of(g, i, &l->wait, &blocking);
            /* it is forgotten at the end of a cycle after its own */
            l->t_clear = t > l->t ? t : l->t + 1;
        }
    }
}

/* A wait was passed although its condition held: what it looked at is perhaps not so. */
static void doubt(const struct gate_word *w, const struct gate_hold *hold)
{
    struct gate *g = w->g;
    uint32_t conditions = hold->wait.conditions;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        struct gate_thread *t = &g->threads[i];
        uint32_t looked_at = i == w->thread ? conditions : conditions & ANY_THREAD;
        t->busy &= (uint16_t)~looked_at;
        t->busy_known &= (uint16_t)~looked_at;
    }
    if ((conditions & GATE_SRC) != 0) {
        g->src = g->src_known = 0;
    }
    if (hold->semaphore != NULL) {
        g->sems[__builtin_ctz(hold->blocking)].since = w->m->fault;
        g->agreed = false;
    }
}

/* The word passes although the latched wait certainly holds it back. */
static void leak(const struct gate_word *w)
{
    struct gate_hold hold = gate_holding(w->g, w->thread);
    bool waits = nocap_tensix_is_wait(w->word);
    char text[NOCAP_TENSIX_TEXT_MAX + 32];
    CHECK_WORD_AFTER(
        w, waits ? TNX_004 : TNX_001, gate_since(&hold), false, RELATED(hold.wait.index),
        waits ? "a wait queues after the one that is latched"
              : "an instruction that the latched wait holds issues after its "
                "condition",
        "%s issued while %s", GATE_TEXT(w->word), gate_describe(w->g, &hold, text, sizeof text));
    gate_note(w, false);
    doubt(w, &hold);
}

/* The word passes the gate. */
static void pass(const struct gate_word *w)
{
    struct gate_latch *l = &w->t->latch;
    struct model *m = w->m;
    if (!gate_holds_back(&l->wait, w->word)) {
        return;
    }
    if (l->condition == GATE_HOLDS) {
        leak(w);
    } else if (l->condition == GATE_CLEAR) {
        MARK_EXERCISED(m, nocap_tensix_is_wait(w->word) ? TNX_004 : TNX_001);
        if (m->header->cycle_accurate == NOCAP_TRUE) {
            CHECK_WORD(w, TNX_006, m->event->t > l->t_clear, RELATED(l->wait.index),
                       "the gate opens one cycle after the condition cleared",
                       "%s issued in cycle %llu, the condition cleared in %llu", GATE_TEXT(w->word),
                       (unsigned long long)m->event->t, (unsigned long long)l->t_clear);
        }
    }
    *l = (struct gate_latch){0}; /* after a violation it is gone all the same */
}

/* ---- units ---- */

uint32_t gate_unit_of(uint32_t word)
{
    static const uint16_t waits[] = {
        [NOCAP_TENSIX_UNIT_THCON] = NOCAP_WAIT_THCON, [NOCAP_TENSIX_UNIT_PACK] = NOCAP_WAIT_PACK,
        [NOCAP_TENSIX_UNIT_FPU] = NOCAP_WAIT_MATH,    [NOCAP_TENSIX_UNIT_SFPU] = NOCAP_WAIT_SFPU,
        [NOCAP_TENSIX_UNIT_MOVER] = NOCAP_WAIT_XMOV,  [NOCAP_TENSIX_UNIT_CFG] = NOCAP_WAIT_CFG,
    };
    unsigned unit = nocap_tensix_opcodes[nocap_tensix_opcode(word)].unit;
    if (unit == NOCAP_TENSIX_UNIT_UNPACK) {
        return NOCAP_TENSIX_GET(word, UNPACR, unpacker) == 0 ? NOCAP_WAIT_UNPACK0
                                                             : NOCAP_WAIT_UNPACK1;
    }
    return waits[unit];
}

static void count_unit(struct gate_thread *t, uint32_t word, bool enters)
{
    uint32_t condition = gate_unit_of(word);
    if (condition == 0) {
        return;
    }
    uint16_t *n = &t->flight[__builtin_ctz(condition)];
    *n = (uint16_t)(enters ? *n + (*n < UINT16_MAX) : *n - (*n > 0));
    t->busy = (uint16_t)(*n > 0 ? t->busy | condition : t->busy & ~condition);
}

void gate_unit_event(struct gate *g, const struct nocap_event *e)
{
    static const uint16_t units[NOCAP_UNIT_COUNT] = {
        [NOCAP_UNIT_THCON] = NOCAP_WAIT_THCON,
        [NOCAP_UNIT_UNPACK0] = NOCAP_WAIT_UNPACK0,
        [NOCAP_UNIT_UNPACK1] = NOCAP_WAIT_UNPACK1,
        [NOCAP_UNIT_PACK] = NOCAP_WAIT_PACK,
        [NOCAP_UNIT_FPU] = NOCAP_WAIT_MATH,
        [NOCAP_UNIT_SFPU] = NOCAP_WAIT_SFPU,
        [NOCAP_UNIT_MOVER] = NOCAP_WAIT_XMOV,
        [NOCAP_UNIT_CFG] = NOCAP_WAIT_CFG,
        [NOCAP_UNIT_TRISC_CFG] = NOCAP_WAIT_TRISC_CFG,
    };
    static const uint16_t banks[NOCAP_BANK_COUNT][NOCAP_SIDE_COUNT] = {
        {NOCAP_WAIT_SRCA_CLR, NOCAP_WAIT_SRCA_VLD},
        {NOCAP_WAIT_SRCB_CLR, NOCAP_WAIT_SRCB_VLD},
    };
    struct gate_thread *t = &g->threads[e->thread];
    if (e->op == NOCAP_OP_UNIT) {
        t->busy = (uint16_t)(e->busy ? t->busy | units[e->unit] : t->busy & ~units[e->unit]);
        t->busy_known |= units[e->unit];
    } else if (e->op == NOCAP_OP_SRC) {
        uint16_t condition = banks[e->bank][e->side];
        unsigned wanted = e->side == NOCAP_SIDE_MATH ? NOCAP_OWNER_MATRIX : NOCAP_OWNER_UNPACKERS;
        g->src = (uint16_t)(e->owner != wanted ? g->src | condition : g->src & ~condition);
        g->src_known |= condition;
    } else if (g->counts_units) {
        count_unit(t, (uint32_t)e->value, false);
    } else {
        return;
    }
    settle(g, e->t);
}

/* ---- semaphores ---- */

static unsigned step(unsigned v, bool post)
{
    return post ? v + (v < NOCAP_SEMAPHORE_MAX) : v - (v > 0);
}

static void set(const struct gate_word *w, unsigned i, unsigned v, fault_id since)
{
    struct gate_sem *s = &w->g->sems[i];
    s->known = s->known == SEM_HIDDEN ? SEM_HIDDEN : SEM_KNOWN;
    s->v = (uint8_t)v;
    s->since = gate_sees_cores(w->m) ? since : FAULT_UNREPORTED;
}

void gate_know_semaphores(struct gate *g, enum gate_sem_known known)
{
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        struct gate_sem *s = &g->sems[i];
        s->known = s->known == SEM_HIDDEN ? SEM_HIDDEN : (uint8_t)known;
    }
    g->agreed = false;
}

/* A post or get of a core: when it arrives is unknown, and so is the order of those of several. */
static void moves(struct gate_sem *s, const struct event_ref *at, unsigned thread, bool post)
{
    if (s->known == SEM_KNOWN) {
        s->least = s->most = s->v;
        s->movers = 0;
        s->posts = s->gets = s->stirred = false;
    }
    uint8_t *bound = post ? &s->most : &s->least;
    *bound = (uint8_t)step(*bound, post);
    s->v = (uint8_t)step(s->v, post);
    s->posts |= post;
    s->gets |= !post;
    s->movers |= (uint8_t)(1u << thread);
    s->known = SEM_MOVING;
    s->stored = *at;
}

/* The core whose stores alone are under way reads the semaphore: after them. */
static void reads_back(const struct gate_word *w, unsigned i, uint32_t value)
{
    struct gate_sem *s = &w->g->sems[i];
    if (s->known != SEM_MOVING || s->stirred || s->movers != 1u << w->thread) {
        return;
    }
    CHECK_WORD_AFTER(w, TNX_005, s->since, value == s->v, RELATED(s->stored.index),
                     "a core's own post or get in the semaphore that it reads after it",
                     "semaphore %s is %u, it should be %u", nocap_tensix_semaphores[i], value,
                     s->v);
    gate_note(w, value == s->v);
    set(w, i, value, fault_of(w->m, value == s->v));
}

void gate_core_semaphore(const struct gate_word *w, unsigned i, bool store, const uint32_t *value)
{
    struct gate_sem *s = &w->g->sems[i];
    if (!store && value != NULL) {
        reads_back(w, i, *value);
    }
    if (!store) {
        return;
    }
    w->g->agreed = false;
    if (s->known >= SEM_MOVING && value != NULL) {
        const struct event_ref at = now(w->m);
        moves(s, &at, w->thread, (*value & 1) == 0);
    } else if (s->known >= SEM_MOVING) {
        s->known = SEM_UNKNOWN;
    }
    settle(w->g, w->m->event->t);
}

static void post_or_get(const struct gate_word *w, unsigned i, bool post)
{
    struct gate_sem *s = &w->g->sems[i];
    const char *name = nocap_tensix_semaphores[i];
    unsigned v = s->v;
    s->v = (uint8_t)step(v, post);
    s->least = (uint8_t)step(s->least, post);
    s->most = (uint8_t)step(s->most, post);
    s->stirred = true;
    if (s->known != SEM_KNOWN) {
        return;
    }
    if (post) {
        CHECK_WORD_AFTER(w, TNX_014, s->since, v < NOCAP_SEMAPHORE_MAX, NO_REFS,
                         "SEMPOST only below 15: at 15 the post is lost", "semaphore %s is %u",
                         name, v);
        gate_note(w, v < NOCAP_SEMAPHORE_MAX);
        if (v < NOCAP_SEMAPHORE_MAX && s->max_known) {
            CHECK_WORD_AFTER(w, TNX_015, s->since, v < s->max, NO_REFS,
                             "SEMPOST only below the semaphore's maximum",
                             "semaphore %s is %u, its maximum %u", name, v, s->max);
        }
    } else {
        CHECK_WORD_AFTER(w, TNX_013, s->since, v > 0, NO_REFS,
                         "SEMGET only above 0: at 0 the get is lost", "semaphore %s is %u", name,
                         v);
        gate_note(w, v > 0);
    }
}

/* Whether the semaphore may be so while stores of cores are under way, and is not certain yet. */
static bool still_moves(const struct model *m, const struct gate_sem *s, uint8_t v)
{
    bool arrived = m->event->t - s->stored.t > gate_quiet(m);
    return s->known == SEM_MOVING && !arrived && v >= s->least && v <= s->most &&
           (v != s->v || (s->posts && s->gets));
}

/* The values that the event states, and which hold from here on. Whether any is news. */
static bool compare(const struct gate_word *w, uint64_t values)
{
    struct gate *g = w->g;
    fault_id fault = FAULT_NONE; /* one event is wrong once */
    bool news = false, judged = false, all = true;
    if (g->agreed && g->stated == values) {
        MARK_EXERCISED(w->m, TNX_005);
        return false;
    }
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        struct gate_sem *s = &g->sems[i];
        uint8_t v = (uint8_t)(values >> 8 * i), before = s->known;
        bool known = before >= SEM_MOVING, differs = known && v != s->v;
        judged |= known && s->since != FAULT_UNREPORTED;
        if (!still_moves(w->m, s, v)) {
            if (differs && fault == FAULT_NONE) {
                CHECK_WORD_AFTER(w, TNX_005, s->since, false,
                                 RELATED(before == SEM_MOVING ? s->stored.index : NO_INDEX),
                                 "semaphore values consistent with the preceding posts and gets",
                                 "semaphore %s is %u, it should be %u", nocap_tensix_semaphores[i],
                                 v, s->v);
                gate_note(w, false);
                fault = w->m->fault;
            }
            set(w, i, v, differs ? fault : FAULT_NONE);
            news |= differs || s->known != before;
        }
        all &= s->known == SEM_KNOWN;
    }
    if (judged && fault == FAULT_NONE) {
        MARK_EXERCISED(w->m, TNX_005);
    }
    g->stated = values;
    g->agreed = all && fault == FAULT_NONE;
    return news;
}

static void semaphore_word(const struct gate_word *w)
{
    uint32_t mask = NOCAP_TENSIX_GET(w->word, SEMPOST, sem_sel); /* in all three at one place */
    w->g->agreed = false;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        struct gate_sem *s = &w->g->sems[i];
        if (w->opcode == NOCAP_TENSIX_SEMINIT) {
            set(w, i, NOCAP_TENSIX_GET(w->word, SEMINIT, value), FAULT_NONE);
            s->max = (uint8_t)NOCAP_TENSIX_GET(w->word, SEMINIT, max);
            s->max_known = true;
        } else {
            bool post = w->opcode == NOCAP_TENSIX_SEMPOST;
            *(post ? &w->t->posted : &w->t->gotten) |= (uint8_t)(1 << i);
            post_or_get(w, i, post);
        }
    }
}

static bool semaphores(const struct gate_word *w)
{
    const struct nocap_event *e = w->m->event;
    bool changes = w->opcode == NOCAP_TENSIX_SEMINIT || w->opcode == NOCAP_TENSIX_SEMPOST ||
                   w->opcode == NOCAP_TENSIX_SEMGET;
    if (changes) {
        semaphore_word(w);
    }
    return ((e->has & NOCAP_F_SEM) != 0 && compare(w, e->sem)) || changes;
}

void gate_issue(const struct gate_word *w)
{
    const struct nocap_event *e = w->m->event;
    pass(w);
    if (w->g->counts_units) {
        count_unit(w->t, w->word, true);
    }
    bool changed = semaphores(w);
    if (nocap_tensix_is_wait(w->word)) {
        /* between threads whose order is not known, when it clears is unknown */
        w->t->latch = (struct gate_latch){.wait = gate_wait_of(w->word, e->index),
                                          .t = e->t,
                                          .condition = w->g->unordered ? GATE_UNSURE : GATE_HOLDS};
        changed = true;
    }
    if (changed) {
        settle(w->g, e->t);
    }
}
