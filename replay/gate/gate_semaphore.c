/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: what inits, posts and gets make of them, and what events state. Rules TNX-005, -013
 * to -015. */
#include "replay/core/tile.h"
#include "replay/core/value.h"
#include "replay/gate/gate_private.h"

static unsigned step(unsigned v, bool post)
{
    return post ? v + (v < NOCAP_SEMAPHORE_MAX) : v - (v > 0);
}

/* v and what the words make of it part, or meet again. */
static void part(struct gate_sem *s, fault_id since)
{
    if (s->parted == FAULT_NONE && s->known >= SEM_MOVING && since != FAULT_UNREPORTED) {
        s->parted = since;
        s->made = (int8_t)s->v;
    }
}

static void meet(struct gate_sem *s)
{
    s->parted = s->known >= SEM_MOVING && s->made == s->v ? FAULT_NONE : s->parted;
}

void gate_doubt_semaphores(struct gate *g, fault_id since)
{
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        part(&g->sems[i], since);
    }
    gate_know_semaphores(g, SEM_UNKNOWN);
}

/* The semaphores that the word changes. */
static uint32_t changed_by(uint32_t word)
{
    unsigned opcode = nocap_tensix_opcode(word);
    bool changes = opcode == NOCAP_TENSIX_SEMINIT || opcode == NOCAP_TENSIX_SEMPOST ||
                   opcode == NOCAP_TENSIX_SEMGET;
    return changes ? NOCAP_TENSIX_GET(word, SEMPOST, sem_sel) : 0; /* in all three at one place */
}

/* What it makes of v. */
static int made_by(uint32_t word, int v)
{
    unsigned opcode = nocap_tensix_opcode(word);
    return opcode == NOCAP_TENSIX_SEMINIT ? (int)NOCAP_TENSIX_GET(word, SEMINIT, value)
                                          : v + (opcode == NOCAP_TENSIX_SEMPOST ? 1 : -1);
}

static void make(struct gate_sem *s, uint32_t word)
{
    s->made = (int8_t)made_by(word, s->made);
}

void gate_makes(struct gate *g, uint32_t word, fault_id since)
{
    for (uint32_t rest = changed_by(word); rest != 0; rest &= rest - 1) {
        struct gate_sem *s = &g->sems[__builtin_ctz(rest)];
        part(s, since);
        make(s, word);
        meet(s);
    }
}

fault_id gate_shown_since(const struct gate_word *w, uint32_t word)
{
    for (uint32_t rest = changed_by(word); rest != 0; rest &= rest - 1) {
        const struct gate_sem *s = &w->g->sems[__builtin_ctz(rest)];
        if (s->parted != FAULT_NONE) {
            return s->parted;
        }
    }
    return FAULT_NONE;
}

/* The fault since which a thread may have a word out of its place that changes the semaphore. */
static fault_id misplaced_since(const struct gate *g, unsigned i)
{
    uint32_t words[GATE_LOOKAHEAD];
    for (unsigned k = 0; k < THREADS; k++) {
        const struct gate_stream *s = &g->threads[k].stream;
        unsigned count = s->since != FAULT_NONE ? stream_look_ahead(s, words, GATE_LOOKAHEAD) : 0;
        for (unsigned n = 0; n < count; n++) {
            if ((changed_by(words[n]) >> i & 1) != 0) {
                return s->since;
            }
        }
    }
    return FAULT_NONE;
}

static void set(const struct gate_word *w, unsigned i, unsigned v, fault_id since)
{
    struct gate_sem *s = &w->g->sems[i];
    s->known = w->g->unordered ? SEM_UNKNOWN : SEM_KNOWN;
    s->v = (uint8_t)v;
    s->since = gate_sees_cores(w->m) ? since : FAULT_UNREPORTED;
    meet(s);
}

void gate_know_semaphores(struct gate *g, enum gate_sem_known known)
{
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        g->sems[i].known = g->unordered ? SEM_UNKNOWN : (uint8_t)known;
    }
    g->agreed = false;
}

/* A post or get of a core: when it arrives is unknown, and so is the order of those of several. */
static void moves(const struct gate_word *w, struct gate_sem *s, bool post)
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
    s->movers |= (uint8_t)(1u << w->thread);
    s->known = SEM_MOVING;
}

/* The core whose stores alone are under way reads the semaphore: after them. */
static void reads_back(const struct gate_word *w, unsigned i, uint32_t value)
{
    struct gate_sem *s = &w->g->sems[i];
    if (s->known != SEM_MOVING || s->stirred || s->movers != 1u << w->thread) {
        return;
    }
    CHECK_WORD_AFTER(w, TNX_005, s->since, value == s->v, RELATED(s->stored.index),
                     "a RISC's own post or get in the semaphore that it reads after it",
                     "semaphore %s is %u, it should be %u", nocap_tensix_semaphores[i], value,
                     s->v);
    set(w, i, value, fault_of(w->m, value == s->v));
}

void gate_core_semaphore(const struct gate_word *w, unsigned i, bool store, const uint32_t *value)
{
    struct gate_sem *s = &w->g->sems[i];
    if (!store) {
        if (value != NULL) {
            reads_back(w, i, *value);
        }
        return;
    }
    w->g->agreed = false;
    if (s->known >= SEM_MOVING && value != NULL) {
        moves(w, s, (*value & 1) == 0);
    } else {
        s->known = SEM_UNKNOWN;
    }
    s->stored = now(w->m);
    gate_settle(w->g, w->m->event->t);
}

/* TNX-014 and -015, -013. `made`: what the words made of it before. */
static void judge_post(const struct gate_word *w, const struct gate_sem *s, unsigned v, int made)
{
    const char *name = nocap_tensix_semaphores[s - w->g->sems];
    CHECK_WORD_AFTER(w, TNX_014, gate_semaphore_since(s, made < NOCAP_SEMAPHORE_MAX),
                     v < NOCAP_SEMAPHORE_MAX, NO_REFS,
                     "SEMPOST only below 15: at 15 the post is lost",
                     "SEMPOST on semaphore %s, which is %u: the post is lost", name, v);
    if (v < NOCAP_SEMAPHORE_MAX && s->max_known) {
        fault_id fault = w->m->fault;
        CHECK_WORD_AFTER(w, TNX_015, gate_semaphore_since(s, made < s->max), v < s->max, NO_REFS,
                         "SEMPOST only below the semaphore's maximum",
                         "SEMPOST on semaphore %s, which is %u, with a maximum of %u", name, v,
                         s->max);
        w->m->fault = fault;
    }
}

static void judge_get(const struct gate_word *w, const struct gate_sem *s, unsigned v, int made)
{
    CHECK_WORD_AFTER(w, TNX_013, gate_semaphore_since(s, made > 0), v > 0, NO_REFS,
                     "SEMGET only above 0: at 0 the get is lost",
                     "SEMGET on semaphore %s, which is %u: the get is lost",
                     nocap_tensix_semaphores[s - w->g->sems], v);
}

static void post_or_get(const struct gate_word *w, struct gate_sem *s, enum gate_place place)
{
    bool post = w->opcode == NOCAP_TENSIX_SEMPOST;
    unsigned v = s->v;
    int made = s->parted != FAULT_NONE ? s->made : (int)v;
    s->v = (uint8_t)step(v, post);
    s->least = (uint8_t)step(s->least, post);
    s->most = (uint8_t)step(s->most, post);
    s->stirred = true;
    if (place == GATE_IN_DOUBT) {
        s->known = SEM_UNKNOWN;
    }
    if (s->known == SEM_KNOWN) {
        (post ? judge_post : judge_get)(w, s, v, made);
    }
}

/* Stores of cores that are older than what is known of the coprocessor may still arrive: not of
 * those that entered a kernel since, or of a launch that was seen to begin. */
static bool unseen_stores_arrive(const struct gate_word *w)
{
    const struct launch_facts *l = &w->tile->launch;
    bool all = true;
    for (unsigned i = 0; i < THREADS; i++) {
        all &= l->kernels[NOCAP_PROCESSOR_TRISC0 + i].enter_index != NO_INDEX;
    }
    all |= l->active == YES && !l->begun;
    return !all && w->g->stores_before != NO_INDEX &&
           w->m->event->t - w->g->stores_before <= gate_quiet(w->m) / GATE_UNSEEN;
}

/* Whether the semaphore may be so while stores of cores are under way, and is not certain yet. */
static bool still_moves(const struct gate_word *w, const struct gate_sem *s, uint8_t v)
{
    const struct model *m = w->m;
    bool seen = s->stored.index != NO_INDEX;
    bool arrived = seen ? m->event->t - s->stored.t > gate_quiet(m) : !unseen_stores_arrive(w);
    bool moving = s->known == SEM_MOVING && v >= s->least && v <= s->most &&
                  (v != s->v || (s->posts && s->gets));
    return !arrived && (moving || s->known == SEM_UNKNOWN);
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
        if (before == SEM_KNOWN && v == s->v && s->since == FAULT_NONE && s->parted == FAULT_NONE) {
            judged = true;
            continue;
        }
        bool known = before >= SEM_MOVING, differs = known && v != s->v;
        judged |= known && s->since != FAULT_UNREPORTED;
        if (!still_moves(w, s, v)) {
            if (differs && fault == FAULT_NONE) {
                fault_id since = gate_semaphore_since(s, v == s->made);
                since = since != FAULT_NONE ? since : misplaced_since(g, i);
                CHECK_WORD_AFTER(w, TNX_005, since, false,
                                 RELATED(before == SEM_MOVING ? s->stored.index : NO_INDEX),
                                 "semaphore values consistent with the preceding posts and gets",
                                 "semaphore %s is %u, it should be %u", nocap_tensix_semaphores[i],
                                 v, s->v);
                fault = w->m->fault;
            }
            if (differs) {
                part(s, fault);
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

bool gate_semaphores(const struct gate_word *w, enum gate_place place)
{
    const struct nocap_event *e = w->m->event;
    uint32_t changes = changed_by(w->word);
    w->g->agreed &= changes == 0;
    for (uint32_t rest = changes; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        struct gate_sem *s = &w->g->sems[i];
        if (place != GATE_IN_PLACE) {
            part(s, w->t->stream.since);
        }
        if (w->opcode == NOCAP_TENSIX_SEMINIT) {
            set(w, i, NOCAP_TENSIX_GET(w->word, SEMINIT, value), FAULT_NONE);
            s->max = (uint8_t)NOCAP_TENSIX_GET(w->word, SEMINIT, max);
            s->max_known = true;
        } else {
            bool post = w->opcode == NOCAP_TENSIX_SEMPOST;
            *(post ? &w->t->posted : &w->t->gotten) |= (uint8_t)(1u << i);
            post_or_get(w, s, place);
        }
        if (place == GATE_IN_PLACE) {
            make(s, w->word);
        }
        meet(s);
    }
    bool news = (e->has & NOCAP_F_SEM) != 0 && compare(w, e->sem);
    return news || changes != 0;
}
