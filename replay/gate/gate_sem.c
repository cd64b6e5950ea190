/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphores of the Sync Unit. Rules TNX-005, -013 to -015. */
#include "replay/core/tile.h"
#include "replay/gate/gate_private.h"

static unsigned step(unsigned v, bool post)
{
    return post ? v + (v < NOCAP_SEMAPHORE_MAX) : v - (v > 0);
}

static void set(struct gate_sem *s, unsigned v, fault_id since)
{
    s->known = s->known == SEM_HIDDEN ? SEM_HIDDEN : SEM_KNOWN;
    s->v = (uint8_t)v;
    s->since = since;
}

void gate_know_semaphores(struct gate *g, enum gate_sem_known known)
{
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        struct gate_sem *s = &g->sems[i];
        s->known = s->known == SEM_HIDDEN ? SEM_HIDDEN : (uint8_t)known;
    }
    g->agreed = false;
}

void gate_core_semaphore(struct gate *g, unsigned i, const uint32_t *value)
{
    struct gate_sem *s = &g->sems[i];
    g->agreed = false;
    if (s->known < SEM_MOVING) {
        return;
    }
    if (value == NULL) {
        s->known = SEM_UNKNOWN;
    } else {
        s->earlier = s->known == SEM_KNOWN ? s->v : s->earlier;
        s->v = (uint8_t)step(s->v, (*value & 1) == 0);
        s->known = SEM_MOVING;
    }
}

static void post_or_get(const struct gate_word *w, unsigned i, bool post)
{
    struct gate_sem *s = &w->g->sems[i];
    unsigned v = s->v;
    s->v = (uint8_t)step(v, post);
    s->earlier = (uint8_t)step(s->earlier, post);
    if (s->known != SEM_KNOWN) {
        return;
    }
    if (post) {
        EXPECT_WORD_AFTER(w, TNX_014, s->since, v < NOCAP_SEMAPHORE_MAX, NOTHING,
                          "SEMPOST only below 15: at 15 the post is lost", "semaphore %u is %u", i,
                          v);
        if (v < NOCAP_SEMAPHORE_MAX && s->max_known) {
            EXPECT_WORD_AFTER(w, TNX_015, s->since, v < s->max, NOTHING,
                              "SEMPOST only below the semaphore's maximum",
                              "semaphore %u is %u, its maximum %u", i, v, s->max);
        }
    } else {
        EXPECT_WORD_AFTER(w, TNX_013, s->since, v > 0, NOTHING,
                          "SEMGET only above 0: at 0 the get is lost", "semaphore %u is %u", i, v);
    }
}

/* What a semaphore is after the word. */
static unsigned value_after(const struct gate_word *w, unsigned i)
{
    unsigned v = w->g->sems[i].v;
    if ((NOCAP_TENSIX_GET(w->word, SEMPOST, sem_sel) >> i & 1) == 0) {
        return v;
    }
    switch (w->opcode) {
    case NOCAP_TENSIX_SEMINIT: return NOCAP_TENSIX_GET(w->word, SEMINIT, value);
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET: return step(v, w->opcode == NOCAP_TENSIX_SEMPOST);
    default: return v;
    }
}

void gate_hide_semaphores(const struct gate_word *w)
{
    const struct nocap_event *e = w->m->event;
    bool changed = false;
    for (unsigned i = 0; (e->has & NOCAP_F_SEM) != 0 && i < NOCAP_SEMAPHORE_COUNT; i++) {
        struct gate_sem *s = &w->g->sems[i];
        if (s->known == SEM_KNOWN && value_after(w, i) != (uint8_t)(e->sem >> 8 * i)) {
            s->known = SEM_HIDDEN;
            w->g->agreed = false;
            changed = true;
        }
    }
    if (changed) {
        gate_settle(w->g, e->t);
    }
}

/* The values that the event states, and which hold from here on. Whether any is news. */
static bool compare(const struct gate_word *w, uint64_t values)
{
    struct gate *g = w->g;
    fault_id fault = FAULT_NONE; /* one event is wrong once */
    bool news = false, judged = false, all = true;
    if (g->agreed && g->stated == values) {
        HOLDS(w->m, TNX_005);
        return false;
    }
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        struct gate_sem *s = &g->sems[i];
        uint8_t v = (uint8_t)(values >> 8 * i), before = s->known;
        bool known = before >= SEM_MOVING, differs = known && v != s->v;
        judged |= known;
        if (before != SEM_MOVING || v != s->earlier) {
            if (differs && fault == FAULT_NONE) {
                EXPECT_WORD_AFTER(w, TNX_005, s->since, false, NOTHING,
                                  "the semaphore values that posts and gets so far make",
                                  "semaphore %u is %u, it should be %u", i, v, s->v);
                fault = w->m->fault;
            }
            set(s, v, differs ? fault : FAULT_NONE);
            news |= differs || s->known != before;
        }
        all &= s->known == SEM_KNOWN;
    }
    if (judged && fault == FAULT_NONE) {
        HOLDS(w->m, TNX_005);
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
            set(s, NOCAP_TENSIX_GET(w->word, SEMINIT, value), FAULT_NONE);
            s->max = (uint8_t)NOCAP_TENSIX_GET(w->word, SEMINIT, max);
            s->max_known = true;
        } else {
            bool post = w->opcode == NOCAP_TENSIX_SEMPOST;
            *(post ? &w->t->posted : &w->t->gotten) |= (uint8_t)(1 << i);
            post_or_get(w, i, post);
        }
    }
}

bool gate_semaphores(const struct gate_word *w)
{
    const struct nocap_event *e = w->m->event;
    bool changes = w->opcode == NOCAP_TENSIX_SEMINIT || w->opcode == NOCAP_TENSIX_SEMPOST ||
                   w->opcode == NOCAP_TENSIX_SEMGET;
    if (changes) {
        semaphore_word(w);
    }
    return ((e->has & NOCAP_F_SEM) != 0 && compare(w, e->sem)) || changes;
}
