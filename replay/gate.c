/* The Tensix coprocessor's three threads, as far as a deadlock on semaphores shows: words that were
 * pushed and have not issued, the word that is held at the Wait Gate, the eight semaphores. Rule
 * TNX-040. */
#include <string.h>

#include "formats/blackhole/tensix_isa.h"
#include "replay/tile.h"

static void set_semaphore(struct gate *g, unsigned i, unsigned v)
{
    g->value[i] = (uint8_t)(v < NOCAP_SEMAPHORE_MAX ? v : NOCAP_SEMAPHORE_MAX);
    g->value_known |= (uint8_t)(1 << i);
}

static void post_or_get(struct gate *g, uint32_t selected, bool post)
{
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((selected >> i & 1) != 0 && (g->value_known >> i & 1) != 0) {
            set_semaphore(g, i,
                          post ? g->value[i] + 1u : g->value[i] - (g->value[i] > 0 ? 1u : 0u));
        }
    }
}

static void execute(struct gate *g, uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_SEMINIT:
        for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
            if ((NOCAP_TENSIX_GET(word, SEMINIT, sem_sel) >> i & 1) != 0) {
                set_semaphore(g, i, NOCAP_TENSIX_GET(word, SEMINIT, value));
                g->max[i] = (uint8_t)NOCAP_TENSIX_GET(word, SEMINIT, max);
                g->max_known |= (uint8_t)(1 << i);
            }
        }
        break;
    case NOCAP_TENSIX_SEMPOST:
        post_or_get(g, NOCAP_TENSIX_GET(word, SEMPOST, sem_sel), true);
        break;
    case NOCAP_TENSIX_SEMGET: post_or_get(g, NOCAP_TENSIX_GET(word, SEMGET, sem_sel), false); break;
    default: break;
    }
}

static void push(struct gate_thread *t, uint32_t word)
{
    switch (nocap_tensix_opcode(word)) {
    case NOCAP_TENSIX_NOP: return; /* may be swallowed */
    case NOCAP_TENSIX_MOP:
    case NOCAP_TENSIX_MOP_CFG:
    case NOCAP_TENSIX_REPLAY: t->lost = true; return; /* what they expand to is not known here */
    default: break;
    }
    if (t->count >= FIFO_WORDS) {
        t->lost = true;
        return;
    }
    t->words[(t->first + t->count++) % FIFO_WORDS] = word;
}

static void issue(struct gate *g, struct gate_thread *t, const struct nocap_event *e)
{
    uint32_t word = (uint32_t)e->value;
    t->held = false;
    if (t->count > 0 && t->words[t->first] == word) {
        t->first = (t->first + 1) % FIFO_WORDS;
        t->count--;
    } else if (nocap_tensix_opcode(word) != NOCAP_TENSIX_NOP) {
        t->lost = true;
    }
    execute(g, word);
    for (unsigned i = 0; (e->has & NOCAP_F_SEM) != 0 && i < NOCAP_SEMAPHORE_COUNT; i++) {
        set_semaphore(g, i, (uint8_t)(e->sem >> 8 * i));
    }
}

void gate_event(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct gate_thread *t = &tile->gate.threads[e->thread];
    switch (e->op) {
    case NOCAP_OP_PUSH: push(t, (uint32_t)e->value); break;
    case NOCAP_OP_ISSUE: issue(&tile->gate, t, e); break;
    case NOCAP_OP_STALL:
        t->held = true;
        t->held_word = (uint32_t)e->value;
        t->held_at = now(m);
        break;
    default: break;
    }
}

/* A core posts or gets a semaphore through its PC buffer window. */
void gate_core_store(struct tile *tile, const struct access *a)
{
    uint32_t v;
    uint64_t i = (a->addr - NOCAP_REG_SEM) / 4;
    if (a->addr >= NOCAP_REG_SEM && i < NOCAP_SEMAPHORE_COUNT && access_word(a, a->addr, &v)) {
        post_or_get(&tile->gate, UINT32_C(1) << i, (v & 1) == 0);
    }
}

/* Whether the thread certainly waits on semaphores now; `blocking` one of them. */
static bool waits(const struct gate *g, const struct gate_thread *t, unsigned *blocking)
{
    uint32_t word = t->held_word;
    if (!t->held || t->count == 0 || t->words[t->first] != word ||
        nocap_tensix_opcode(word) != NOCAP_TENSIX_SEMWAIT) {
        return false;
    }
    uint32_t condition = NOCAP_TENSIX_GET(word, SEMWAIT, condition);
    for (unsigned i = 0; i < NOCAP_SEMAPHORE_COUNT; i++) {
        if ((NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel) >> i & 1) == 0 ||
            (g->value_known >> i & 1) == 0) {
            continue;
        }
        bool zero = (condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0 && g->value[i] == 0;
        bool full = (condition & NOCAP_SEMWAIT_WHILE_MAX) != 0 && (g->max_known >> i & 1) != 0 &&
                    g->value[i] >= g->max[i];
        if (zero || full) {
            *blocking = i;
            return true;
        }
    }
    return false;
}

/* Every thread that still has words waits, and no core is in a kernel that could push or post any
 * more. */
void gate_finish(struct model *m, struct tile *tile, bool cut)
{
    const struct gate *g = &tile->gate;
    unsigned waiting = 0, first = 0, blocking = 0, first_blocking = 0;
    bool certain = !cut && tile->in_scope;
    for (unsigned p = 0; p < CORES; p++) {
        certain = certain && tile->launch.kernels[p].inside == NO;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        const struct gate_thread *t = &g->threads[i];
        certain = certain && !t->lost;
        if (t->count == 0) {
            continue;
        }
        certain = certain && waits(g, t, &blocking);
        if (waiting++ == 0) {
            first = i;
            first_blocking = blocking;
        }
    }
    if (!m->armed[TNX_040] || !certain) {
        return;
    }
    m->exercised[TNX_040]++;
    if (waiting > 0) {
        struct moment at = g->threads[first].held_at;
        at.agent = (uint8_t)(NOCAP_BY_TRISC0 + first);
        diverge(m, tile, TNX_040, at, (int)first, NOTHING,
                "a word left that can still release a thread that is held",
                "%u thread%s held for ever; SEMWAIT 0x%08x waits for semaphore %u, which is %u",
                waiting, waiting > 1 ? "s" : "", g->threads[first].held_word, first_blocking,
                g->value[first_blocking]);
    }
}
