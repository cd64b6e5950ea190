/* The Wait Gate of each thread, and what its conditions look at: units, Src banks, semaphores.
 * Rules TNX-001, -004, -005, -006, -013 to -015. */
#include <stdio.h>
#include <string.h>

#include "replay/gate.h"
#include "replay/tile.h"

/* Where each condition of a STALLWAIT looks: a unit, for this thread or for any. */
static const struct {
    uint8_t unit;
    bool any_thread;
} unit_conditions[] = {
    {NOCAP_UNIT_THCON, false},
    {NOCAP_UNIT_UNPACK0, false},
    {NOCAP_UNIT_UNPACK1, false},
    {NOCAP_UNIT_PACK, false},
    {NOCAP_UNIT_FPU, false},
    {0, false},
    {0, false},
    {0, false},
    {0, false},
    {NOCAP_UNIT_MOVER, true},
    {NOCAP_UNIT_TRISC_CFG, false},
    {NOCAP_UNIT_SFPU, false},
    {NOCAP_UNIT_CFG, true},
};
enum {
    CONDITIONS = sizeof unit_conditions / sizeof unit_conditions[0],
    ALL_THREADS = (1 << GATE_THREADS) - 1,
    /* shared units, of which the hardware cannot tell whose work is inside */
    SHARED = NOCAP_WAIT_MATH | NOCAP_WAIT_SFPU,
    OF_SRC = NOCAP_WAIT_SRCA_CLR | NOCAP_WAIT_SRCB_CLR | NOCAP_WAIT_SRCA_VLD | NOCAP_WAIT_SRCB_VLD,
};

/* ---- conditions ---- */

static enum gate_condition unit_condition(const struct gate *g, unsigned thread, unsigned i)
{
    unsigned unit = unit_conditions[i].unit;
    uint8_t own = unit_conditions[i].any_thread ? ALL_THREADS : (uint8_t)(1 << thread);
    uint8_t all = (SHARED >> i & 1) != 0 ? ALL_THREADS : own;
    if ((g->busy[unit] & own) != 0) {
        return GATE_HOLDS;
    }
    return (g->busy_known[unit] & all) == all && (g->busy[unit] & all) == 0 ? GATE_CLEAR
                                                                            : GATE_UNSURE;
}

static enum gate_condition src_condition(const struct gate *g, uint32_t condition)
{
    bool a = (condition & (NOCAP_WAIT_SRCA_CLR | NOCAP_WAIT_SRCA_VLD)) != 0;
    bool valid = (condition & (NOCAP_WAIT_SRCA_VLD | NOCAP_WAIT_SRCB_VLD)) != 0;
    unsigned owner =
        g->src[a ? NOCAP_BANK_A : NOCAP_BANK_B][valid ? NOCAP_SIDE_MATH : NOCAP_SIDE_UNPACK];
    unsigned wanted = 1u + (valid ? NOCAP_OWNER_MATRIX : NOCAP_OWNER_UNPACKERS);
    return owner == 0 ? GATE_UNSURE : owner == wanted ? GATE_CLEAR : GATE_HOLDS;
}

static enum gate_condition stall_condition(const struct gate *g, unsigned thread,
                                           uint32_t conditions, uint32_t *blocking)
{
    enum gate_condition result = GATE_CLEAR;
    for (uint32_t rest = conditions; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        enum gate_condition one = i >= CONDITIONS          ? GATE_CLEAR
                                  : (OF_SRC >> i & 1) != 0 ? src_condition(g, UINT32_C(1) << i)
                                                           : unit_condition(g, thread, i);
        if (one == GATE_HOLDS) {
            *blocking = UINT32_C(1) << i;
            return GATE_HOLDS;
        }
        result = one == GATE_UNSURE ? GATE_UNSURE : result;
    }
    return result;
}

static enum gate_condition semaphore_condition(const struct gate *g, uint32_t mask,
                                               uint32_t condition, uint32_t *blocking)
{
    enum gate_condition result = GATE_CLEAR;
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((mask >> i & 1) == 0) {
            continue;
        }
        bool known = (g->value_known & ~g->value_soft) >> i & 1, max_known = g->max_known >> i & 1;
        bool zero = (condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0;
        bool max = (condition & NOCAP_SEMWAIT_WHILE_MAX) != 0;
        if ((zero && known && g->value[i] == 0) ||
            (max && known && max_known && g->value[i] >= g->max[i])) {
            *blocking = UINT32_C(1) << i;
            return GATE_HOLDS;
        }
        if ((zero || max) && (!known || (max && !max_known))) {
            result = GATE_UNSURE;
        }
    }
    return result;
}

struct gate_latch gate_latch_of(uint32_t word)
{
    struct gate_latch l = {.opcode = (uint8_t)nocap_tensix_opcode(word)};
    uint32_t block = NOCAP_TENSIX_GET(word, STALLWAIT, stall_res); /* in all three at one place */
    l.block = (uint16_t)(block != 0 ? block : NOCAP_STALL_RES_DEFAULT);
    if (l.opcode == NOCAP_TENSIX_STALLWAIT) {
        uint32_t conditions = NOCAP_TENSIX_GET(word, STALLWAIT, wait_res);
        l.conditions = conditions != 0 ? conditions : NOCAP_WAIT_RES_DEFAULT;
    } else if (l.opcode == NOCAP_TENSIX_SEMWAIT) {
        l.semaphores = (uint8_t)NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel);
        l.semaphore_condition = (uint8_t)NOCAP_TENSIX_GET(word, SEMWAIT, condition);
    }
    return l;
}

static enum gate_condition latch_condition(const struct gate *g, unsigned thread,
                                           const struct gate_latch *l, uint32_t *blocking)
{
    switch (l->opcode) {
    case NOCAP_TENSIX_STALLWAIT: return stall_condition(g, thread, l->conditions, blocking);
    case NOCAP_TENSIX_SEMWAIT:
        return semaphore_condition(g, l->semaphores, l->semaphore_condition, blocking);
    default: return GATE_UNSURE; /* STREAMWAIT looks at what no trace shows */
    }
}

enum gate_condition gate_word_condition(const struct gate *g, unsigned thread, uint32_t word,
                                        uint32_t *blocking)
{
    struct gate_latch l = gate_latch_of(word);
    return latch_condition(g, thread, &l, blocking);
}

enum gate_condition gate_holding(const struct gate *g, unsigned thread, struct gate_latch *latch,
                                 uint32_t *blocking)
{
    const struct gate_thread *t = &g->threads[thread];
    *latch = t->latch.sure ? t->latch : gate_latch_of(t->held_word);
    *blocking = 0;
    return latch_condition(g, thread, latch, blocking);
}

const char *gate_describe(const struct gate *g, unsigned thread, char *text, size_t size)
{
    struct gate_latch l;
    uint32_t blocking;
    char word[NOCAP_TENSIX_TEXT_MAX];
    enum gate_condition condition = gate_holding(g, thread, &l, &blocking);
    if (condition == GATE_HOLDS && l.opcode == NOCAP_TENSIX_SEMWAIT) {
        unsigned i = (unsigned)__builtin_ctz(blocking);
        snprintf(text, size, "a SEMWAIT waits for semaphore %u, which is %u", i, g->value[i]);
    } else if (condition == GATE_HOLDS) {
        nocap_tensix_disassemble(NOCAP_TENSIX_WORD(STALLWAIT) |
                                     NOCAP_TENSIX_SET(STALLWAIT, stall_res, l.block) |
                                     NOCAP_TENSIX_SET(STALLWAIT, wait_res, blocking),
                                 word, sizeof word);
        snprintf(text, size, "%s still says wait", word);
    } else {
        snprintf(text, size, "it is held");
    }
    return text;
}

/* ---- the latch ---- */

static void settle(struct gate *g, unsigned thread, uint64_t t)
{
    struct gate_latch *l = &g->threads[thread].latch;
    uint32_t blocking;
    if (!l->sure) {
        return;
    }
    enum gate_condition condition = latch_condition(g, thread, l, &blocking);
    if (condition != GATE_HOLDS) {
        l->sure = false;
        l->cleared = condition == GATE_CLEAR;
        /* it is forgotten at the end of a cycle after its own */
        l->t_clear = t > l->t ? t : l->t + 1;
    }
}

void gate_settle(struct gate *g, uint64_t t)
{
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        settle(g, i, t);
    }
}

static void install(struct gate *g, unsigned thread, const struct nocap_event *e, uint32_t word)
{
    struct gate_latch *l = &g->threads[thread].latch;
    *l = gate_latch_of(word);
    l->t = e->t;
    l->index = e->index;
    l->sure = true;
    settle(g, thread, e->t);
}

/* A wait was passed although its condition held: what it looked at is perhaps not so. */
static void doubt(struct gate *g, unsigned thread, const struct gate_latch *l)
{
    for (uint32_t rest = l->conditions; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (i < CONDITIONS && (OF_SRC >> i & 1) == 0) {
            uint8_t own = unit_conditions[i].any_thread ? ALL_THREADS : (uint8_t)(1 << thread);
            g->busy[unit_conditions[i].unit] &= (uint8_t)~own;
            g->busy_known[unit_conditions[i].unit] &= (uint8_t)~own;
        }
    }
    if ((l->conditions & OF_SRC) != 0) {
        memset(g->src, 0, sizeof g->src);
    }
}

static void judge_pass(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    struct gate *g = tile->gate;
    struct gate_latch *l = &g->threads[thread].latch;
    char text[NOCAP_TENSIX_TEXT_MAX + 32], name[NOCAP_TENSIX_TEXT_MAX];
    bool held = l->sure;
    if (nocap_tensix_is_wait(word)) {
        if (held || l->cleared) {
            EXPECT_THREAD(m, tile, TNX_004, !held, thread, RELATED(l->index),
                          "a wait queues behind the one that is latched", "%s issued while %s",
                          nocap_tensix_disassemble(word, name, sizeof name),
                          gate_describe(g, thread, text, sizeof text));
        }
    } else if (held || l->cleared) {
        EXPECT_THREAD(m, tile, TNX_001, !held, thread, RELATED(l->index),
                      "an instruction that the latched wait holds issues after its condition",
                      "%s issued while %s", nocap_tensix_disassemble(word, name, sizeof name),
                      gate_describe(g, thread, text, sizeof text));
    }
    if (held) {
        doubt(g, thread, l);
    }
    if (!held && l->cleared && m->header->cycle_accurate == NOCAP_TRUE) {
        EXPECT_THREAD(m, tile, TNX_006, m->event->t > l->t_clear, thread, RELATED(l->index),
                      "the gate opens one cycle after the condition cleared",
                      "%s issued in cycle %llu, the condition cleared in %llu",
                      nocap_tensix_disassemble(word, name, sizeof name),
                      (unsigned long long)m->event->t, (unsigned long long)l->t_clear);
    }
}

void gate_pass(struct model *m, struct tile *tile, unsigned thread, uint32_t word, bool judged)
{
    struct gate *g = tile->gate;
    struct gate_latch *l = &g->threads[thread].latch;
    if (l->opcode == 0 || (!nocap_tensix_is_wait(word) && !nocap_tensix_is_held(word, l->block))) {
        return;
    }
    if (judged && !g->loose) {
        judge_pass(m, tile, thread, word);
    }
    *l = (struct gate_latch){0}; /* after a violation it is gone all the same */
}

/* ---- units ---- */

/* Unit of enum nocap_unit in which the word's work shows; -1: in none. */
static int unit_of(uint32_t word)
{
    switch (nocap_tensix_opcodes[nocap_tensix_opcode(word)].unit) {
    case NOCAP_TENSIX_UNIT_THCON: return NOCAP_UNIT_THCON;
    case NOCAP_TENSIX_UNIT_PACK: return NOCAP_UNIT_PACK;
    case NOCAP_TENSIX_UNIT_FPU: return NOCAP_UNIT_FPU;
    case NOCAP_TENSIX_UNIT_SFPU: return NOCAP_UNIT_SFPU;
    case NOCAP_TENSIX_UNIT_MOVER: return NOCAP_UNIT_MOVER;
    case NOCAP_TENSIX_UNIT_CFG: return NOCAP_UNIT_CFG;
    case NOCAP_TENSIX_UNIT_UNPACK:
        return NOCAP_TENSIX_GET(word, UNPACR, unpacker) == 0 ? NOCAP_UNIT_UNPACK0
                                                             : NOCAP_UNIT_UNPACK1;
    default: return -1;
    }
}

static void count_unit(struct gate *g, unsigned thread, uint32_t word, bool enters)
{
    int unit = unit_of(word);
    if (unit < 0) {
        return;
    }
    uint16_t *n = &g->flight[unit][thread];
    *n = (uint16_t)(enters ? *n + (*n < UINT16_MAX) : *n - (*n > 0));
    uint8_t bit = (uint8_t)(1 << thread);
    g->busy[unit] = (uint8_t)(*n > 0 ? g->busy[unit] | bit : g->busy[unit] & ~bit);
}

void gate_unit_event(struct gate *g, const struct nocap_event *e)
{
    if (e->op == NOCAP_OP_UNIT) {
        uint8_t bit = (uint8_t)(1 << e->thread);
        g->busy[e->unit] = (uint8_t)(e->busy ? g->busy[e->unit] | bit : g->busy[e->unit] & ~bit);
        g->busy_known[e->unit] |= bit;
    } else if (e->op == NOCAP_OP_SRC) {
        g->src[e->bank][e->side] = (uint8_t)(e->owner + 1);
    } else if (g->counts_units) {
        count_unit(g, e->thread, (uint32_t)e->value, false);
    } else {
        return;
    }
    gate_settle(g, e->t);
}

/* ---- semaphores ---- */

static void set_semaphore(struct gate *g, unsigned i, unsigned v)
{
    g->value[i] = (uint8_t)v;
    g->value_known |= (uint8_t)(1 << i & ~g->core_used);
    g->value_soft &= (uint8_t) ~(1 << i);
    g->value_disputed &= (uint8_t) ~(1 << i);
}

static unsigned step(unsigned v, bool post)
{
    return post ? v + (v < NOCAP_SEMAPHORE_MAX) : v - (v > 0);
}

void gate_core_semaphore(struct gate *g, unsigned i, bool post)
{
    if ((g->value_known >> i & 1) == 0) {
        return;
    }
    unsigned v = g->value[i];
    if ((g->value_soft >> i & 1) == 0) {
        g->before[i] = (uint8_t)v;
    }
    g->value[i] = (uint8_t)step(v, post);
    g->value_soft |= (uint8_t)(1 << i);
}

static void post_or_get(struct model *m, struct tile *tile, unsigned thread, unsigned i, bool post,
                        bool judged)
{
    struct gate *g = tile->gate;
    if ((g->value_known >> i & 1) == 0) {
        return;
    }
    unsigned v = g->value[i];
    judged = judged && (g->value_soft >> i & 1) == 0 && !g->loose &&
             !told_now(m, TNX_001, TNX_004); /* a get that a wait held should not be here */
    g->value[i] = (uint8_t)step(v, post);
    g->before[i] = (uint8_t)step(g->before[i], post);
    if (!judged) {
        return;
    }
    if (post) {
        EXPECT_THREAD(m, tile, TNX_014, v < NOCAP_SEMAPHORE_MAX, thread, NOTHING,
                      "SEMPOST only below 15: at 15 the post is lost", "semaphore %u is %u", i, v);
        if (v < NOCAP_SEMAPHORE_MAX && (g->max_known >> i & 1) != 0) {
            EXPECT_THREAD(m, tile, TNX_015, v < g->max[i], thread, NOTHING,
                          "SEMPOST only below the semaphore's maximum",
                          "semaphore %u is %u, its maximum %u", i, v, g->max[i]);
        }
    } else {
        EXPECT_THREAD(m, tile, TNX_013, v > 0, thread, NOTHING,
                      "SEMGET only above 0: at 0 the get is lost", "semaphore %u is %u", i, v);
    }
}

/* What a semaphore is after the word. */
static unsigned value_after(const struct gate *g, unsigned i, uint32_t word)
{
    unsigned v = g->value[i];
    if ((NOCAP_TENSIX_GET(word, SEMPOST, sem_sel) >> i & 1) == 0) {
        return v;
    }
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_SEMINIT: return NOCAP_TENSIX_GET(word, SEMINIT, value);
    case NOCAP_TENSIX_SEMPOST: return v + (v < NOCAP_SEMAPHORE_MAX);
    case NOCAP_TENSIX_SEMGET: return v - (v > 0);
    default: return v;
    }
}

void gate_doubt_semaphores(struct gate *g, const struct nocap_event *e, uint32_t word)
{
    uint8_t known = g->value_known;
    for (unsigned i = 0; (e->has & NOCAP_F_SEM) != 0 && i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((known >> i & 1) != 0 && value_after(g, i, word) != (uint8_t)(e->sem >> 8 * i)) {
            g->core_used |= (uint8_t)(1 << i);
            g->value_known &= (uint8_t) ~(1 << i);
        }
    }
    if (g->value_known != known) {
        gate_settle(g, e->t);
    }
}

static void semaphore_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                           bool judged)
{
    struct gate *g = tile->gate;
    unsigned opcode = nocap_tensix_opcode(word);
    uint32_t mask = NOCAP_TENSIX_GET(word, SEMPOST, sem_sel); /* in all three at one place */
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((mask >> i & 1) == 0) {
            continue;
        }
        if (opcode == NOCAP_TENSIX_SEMINIT) {
            set_semaphore(g, i, NOCAP_TENSIX_GET(word, SEMINIT, value));
            g->max[i] = (uint8_t)NOCAP_TENSIX_GET(word, SEMINIT, max);
            g->max_known |= (uint8_t)(1 << i);
        } else {
            bool post = opcode == NOCAP_TENSIX_SEMPOST;
            struct gate_thread *t = &g->threads[thread];
            *(post ? &t->posted : &t->gotten) |= (uint8_t)(1 << i);
            post_or_get(m, tile, thread, i, post, judged);
        }
    }
}

/* The values that the event states. After words out of order, which were told, they are as they
 * are. */
static void compare_semaphores(struct model *m, struct tile *tile, const struct nocap_event *e,
                               bool judged)
{
    struct gate *g = tile->gate;
    bool told = false, seen = false;
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        uint8_t v = (uint8_t)(e->sem >> 8 * i), bit = (uint8_t)(1 << i);
        bool known = (g->value_known & bit) != 0, differs = known && v != g->value[i];
        bool late = (g->value_soft & bit) != 0 && v == g->before[i];
        bool excused =
            late || g->loose || !judged || ((g->value_disputed & bit) != 0 && v == g->before[i]);
        seen |= known;
        if (late) {
            continue;
        }
        uint8_t model = g->value[i];
        if (differs && !excused && !told) {
            EXPECT_THREAD(m, tile, TNX_005, false, e->thread, NOTHING,
                          "the semaphore values that posts and gets so far make",
                          "semaphore %u is %u, it should be %u", i, v, model);
            told = true;
        }
        set_semaphore(g, i, v);
        if (differs && !excused) { /* it may have been this event alone */
            g->before[i] = model;
            g->value_disputed |= bit;
        }
    }
    if (seen && !told && judged) {
        HOLDS(m, TNX_005);
    }
}

void gate_execute(struct model *m, struct tile *tile, const struct nocap_event *e, uint32_t word,
                  bool judged)
{
    struct gate *g = tile->gate;
    bool changed = false;
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_SEMINIT:
    case NOCAP_TENSIX_SEMPOST:
    case NOCAP_TENSIX_SEMGET:
        semaphore_word(m, tile, e->thread, word, judged);
        changed = true;
        break;
    default: break;
    }
    if (g->counts_units) {
        count_unit(g, e->thread, word, true);
    }
    if ((e->has & NOCAP_F_SEM) != 0) {
        uint64_t packed = 0;
        for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
            packed |= (uint64_t)g->value[i] << 8 * i;
        }
        if (packed == e->sem && g->value_known == UINT8_MAX) {
            g->value_soft = g->value_disputed = 0;
            HOLDS(m, TNX_005);
        } else {
            compare_semaphores(m, tile, e, judged);
            changed = true;
        }
    } else if (!judged) {
        g->value_known = 0;
    }
    if (changed) {
        gate_settle(g, e->t);
    }
    if (nocap_tensix_is_wait(word)) {
        install(g, e->thread, e, word);
        /* a wait that is not the one to come proves nothing */
        g->threads[e->thread].latch.sure &= judged;
        g->threads[e->thread].latch.cleared &= judged;
    }
}
