/* SPDX-License-Identifier: Apache-2.0 */
/* The Wait Gate of each thread, and what its conditions look at: units, Src banks; semaphores are
 * in gate_semaphore.c. Rules TNX-001, -004, -006. */
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
    for (unsigned i = 0; i < THREADS; i++) {
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
    bool max = (wait->semaphore_condition & NOCAP_SEMWAIT_WHILE_MAX) != 0;
    for (uint32_t rest = wait->semaphores; rest != 0; rest &= rest - 1) {
        const struct gate_sem *s = &g->sems[__builtin_ctz(rest)];
        bool known = s->known == SEM_KNOWN;
        if (known && gate_semaphore_holds(wait, s, s->v)) {
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
        snprintf(text, size, "%s still blocks",
                 GATE_TEXT(NOCAP_TENSIX_WORD(STALLWAIT) |
                           NOCAP_TENSIX_SET(STALLWAIT, stall_res, hold->wait.block) |
                           NOCAP_TENSIX_SET(STALLWAIT, wait_res, hold->blocking)));
    }
    return text;
}

/* ---- the latch ---- */

void gate_settle(struct gate *g, uint64_t t)
{
    for (unsigned i = 0; i < THREADS; i++) {
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
    for (unsigned i = 0; i < THREADS; i++) {
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
    const struct gate_latch *l = &w->t->latch;
    CHECK_WORD_AFTER(
        w, waits ? TNX_004 : TNX_001, l->since != FAULT_NONE ? l->since : gate_since(&hold), false,
        RELATED(hold.wait.index),
        waits ? "a wait to queue after the one that is latched"
              : "an instruction that the latched wait blocks to issue after its condition cleared",
        "%s issued while %s", GATE_TEXT(w->word), gate_describe(w->g, &hold, text, sizeof text));
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
                       "the gate to open one cycle after the condition cleared",
                       "%s issued in cycle %llu, the condition cleared in cycle %llu",
                       GATE_TEXT(w->word), (unsigned long long)m->event->t,
                       (unsigned long long)l->t_clear);
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
    gate_settle(g, e->t);
}

void gate_issue(const struct gate_word *w, enum gate_place place)
{
    const struct nocap_event *e = w->m->event;
    pass(w);
    if (w->g->counts_units) {
        count_unit(w->t, w->word, true);
    }
    bool changed = gate_semaphores(w, place);
    if (nocap_tensix_is_wait(w->word)) {
        /* between threads whose order is not known, when it clears is unknown */
        w->t->latch = (struct gate_latch){.wait = gate_wait_of(w->word, e->index),
                                          .t = e->t,
                                          .since = w->t->stream.since,
                                          .condition = w->g->unordered ? GATE_UNSURE : GATE_HOLDS};
        changed = true;
    }
    if (changed) {
        gate_settle(w->g, e->t);
    }
}
