/* The Tensix coprocessor of a tile: events and register accesses of its cores are handed to the
 * stream of pushed words, the Wait Gates and the rules about words and work. Rules TNX-002, -003.
 */
#include "replay/gate.h"

#include <stdlib.h>

#include "replay/tile.h"

enum { FIFO_WINDOW = NOCAP_BASE_INSTRN_FIFO1 - NOCAP_BASE_INSTRN_FIFO0 };

struct moment gate_moment(const struct model *m, unsigned thread)
{
    struct moment at = now(m);
    at.agent = (uint8_t)(NOCAP_BY_TRISC0 + thread);
    return at;
}

static struct gate *gate_get(struct model *m, struct tile *tile)
{
    if (tile->gate != NULL) {
        return tile->gate;
    }
    struct gate *g = calloc(1, sizeof *g);
    if (g == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    bool known = m->header->complete == NOCAP_TRUE && !tile->gate_lost && !m->dropped;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        /* since its core entered a kernel that was seen, the thread did nothing else */
        unsigned p = nocap_core(NOCAP_BY_TRISC0 + i)->processor;
        bool idle = known || tile->launch.kernels[p].enter_index != NO_INDEX;
        stream_init(&g->threads[i].stream, idle);
        work_start(&g->threads[i].work, idle);
        g->threads[i].stream.cursor.mask_known = known;
        g->threads[i].work.dest_known = known;
        g->threads[i].work.mutex_known = known ? UINT8_MAX : 0;
        g->threads[i].stream.pushed_mask_known = known;
    }
    g->counts_units = gate_observes(m, NOCAP_CLASS_TENSIX_RETIRE | NOCAP_CLASS_TENSIX_ISSUE) &&
                      !gate_observes(m, NOCAP_CLASS_TENSIX_UNIT) && known;
    if (known) {
        bool units = g->counts_units || gate_observes(m, NOCAP_CLASS_TENSIX_UNIT);
        g->value_known = UINT8_MAX;
        for (unsigned u = 0; units && u < NOCAP_UNIT_COUNT; u++) {
            bool counted = u != NOCAP_UNIT_TRISC_CFG || !g->counts_units;
            g->busy_known[u] = counted ? UINT8_MAX : 0;
        }
        if (gate_observes(m, NOCAP_CLASS_TENSIX_UNIT)) {
            for (unsigned b = 0; b < GATE_BANKS; b++) { /* all banks are the unpackers' */
                g->src[b][NOCAP_SIDE_MATH] = 1 + NOCAP_OWNER_UNPACKERS;
            }
        }
    }
    return tile->gate = g;
}

void gate_forget(struct tile *tile)
{
    for (unsigned i = 0; tile->gate != NULL && i < GATE_THREADS; i++) {
        stream_free(&tile->gate->threads[i].stream);
    }
    free(tile->gate);
    tile->gate_lost = true;
    tile->gate = NULL;
}

/* ---- events of the coprocessor ---- */

static void push(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct gate_thread *t = &tile->gate->threads[e->thread];
    uint32_t word = (uint32_t)e->value;
    bool by_brisc = e->by == NOCAP_BY_BRISC;
    t->used = true;
    gate_judge_word(m, tile, e->thread, word);
    gate_judge_push(m, tile, e->thread, word, e->by);
    if (GATE_HAS_ISSUE(m) && nocap_tensix_opcode(word) != NOCAP_TENSIX_RESOURCEDECL &&
        !stream_push(&t->stream, word, by_brisc)) {
        m->out_of_memory = true;
    }
    gate_pushed_word(m, tile, e->thread, word, by_brisc);
}

/* TNX-002: whether a word issues past one that is held. */
static bool overtakes(struct model *m, struct tile *tile, unsigned thread, uint32_t word)
{
    struct gate_thread *t = &tile->gate->threads[thread];
    char text[2][NOCAP_TENSIX_TEXT_MAX];
    if (!t->held || nocap_tensix_opcode(t->held_word) == NOCAP_TENSIX_NOP) {
        return false;
    }
    bool past = word != t->held_word;
    EXPECT_THREAD(m, tile, TNX_002, !past, thread, RELATED(t->held_at.index),
                  "words pass the gate in order", "%s issued past %s, which is held",
                  nocap_tensix_disassemble(word, text[0], sizeof text[0]),
                  nocap_tensix_disassemble(t->held_word, text[1], sizeof text[1]));
    return past;
}

/* TNX-003, or -002 where the word that was passed over is certainly held. False: it was broken. */
static bool judge_order(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                        const struct stream_match *match)
{
    const struct gate_latch *l = &tile->gate->threads[thread].latch;
    char text[2][NOCAP_TENSIX_TEXT_MAX];
    if (match->fit == STREAM_UNKNOWN) {
        return true;
    }
    bool fits = match->fit == STREAM_FITS;
    if (!fits && match->fit == STREAM_AHEAD && l->sure && m->armed[TNX_002] &&
        (nocap_tensix_is_wait(match->expected) ||
         nocap_tensix_is_held(match->expected, l->block))) {
        EXPECT_THREAD(m, tile, TNX_002, false, thread, RELATED(l->index),
                      "words pass the gate in order", "%s issued past %s, which is held",
                      nocap_tensix_disassemble(word, text[0], sizeof text[0]),
                      nocap_tensix_disassemble(match->expected, text[1], sizeof text[1]));
        return false;
    }
    EXPECT_THREAD(m, tile, TNX_003, fits, thread, NOTHING,
                  "the words issued that were pushed, expanded, in order", "%s issued, %s was next",
                  nocap_tensix_disassemble(word, text[0], sizeof text[0]),
                  match->has_expected
                      ? nocap_tensix_disassemble(match->expected, text[1], sizeof text[1])
                      : "nothing");
    return fits;
}

static void issue(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct gate_thread *t = &tile->gate->threads[e->thread];
    uint32_t word = (uint32_t)e->value;
    bool judged = !overtakes(m, tile, e->thread, word); /* one fault is told once */
    bool expanded = false;
    t->held = false;
    t->used = true;
    if (GATE_HAS_PUSH(m)) {
        struct stream_match match = stream_issue(&t->stream, word);
        expanded = match.expanded;
        if (match.drained) {
            work_drained(&t->work, e->thread);
        }
        if (!judged) {
            stream_disturb(&t->stream);
        } else {
            judged = judge_order(m, tile, e->thread, word, &match);
        }
    }
    if (!judged) { /* what it did since, and what waits it passed, is not known */
        work_start(&t->work, false);
    }
    if (expanded || !GATE_HAS_PUSH(m)) {
        gate_judge_word(m, tile, e->thread, word);
    }
    if (!gate_observes(m, NOCAP_CLASS_CORE_MMIO)) {
        gate_doubt_semaphores(tile->gate, e, word);
    }
    gate_pass(m, tile, e->thread, word, judged);
    gate_work_word(m, tile, e->thread, word);
    gate_execute(m, tile, e, word, judged);
    t->last_issue = gate_moment(m, e->thread);
}

static void notice_source(struct gate *g, uint32_t source)
{
    if (g->has_source && g->source != source && !g->loose) {
        g->loose = true;
        for (unsigned i = 0; i < GATE_THREADS; i++) {
            g->threads[i].stream.trusted = false;
        }
    }
    g->has_source = true;
    g->source = source;
}

void gate_event(struct model *m, struct tile *tile, const struct nocap_event *e)
{
    struct gate *g = gate_get(m, tile);
    if (g == NULL) {
        return;
    }
    notice_source(g, e->src);
    g->last_t = e->t;
    switch (e->op) {
    case NOCAP_OP_PUSH: push(m, tile, e); break;
    case NOCAP_OP_ISSUE: issue(m, tile, e); break;
    case NOCAP_OP_STALL:
        g->threads[e->thread].held = true;
        g->threads[e->thread].held_word = (uint32_t)e->value;
        g->threads[e->thread].held_at = gate_moment(m, e->thread);
        break;
    case NOCAP_OP_UNIT:
    case NOCAP_OP_SRC:
    case NOCAP_OP_RETIRE: gate_unit_event(g, e); break;
    default: break;
    }
}

/* ---- accesses of the cores ---- */

/* Stores to the configuration that no unpacker reads. */
static bool concerns_unpackers(uint64_t addr)
{
    return addr >= NOCAP_BASE_TENSIX_CFG && addr <= NOCAP_LAST_TENSIX_CFG &&
           addr != NOCAP_REG_RISCV_IC_INVALIDATE && addr != NOCAP_REG_PRNG_SEED &&
           addr != NOCAP_REG_ECC_SCRUBBER;
}

static bool is_register(const struct access *a, uint64_t base, unsigned count, unsigned *index)
{
    *index = (unsigned)((a->addr - base) / 4);
    return a->addr >= base && a->addr - base < 4ull * count;
}

static void trisc_store(struct model *m, struct tile *tile, unsigned thread, const struct access *a)
{
    struct gate *g = tile->gate;
    struct gate_thread *t = &g->threads[thread];
    unsigned i;
    uint32_t v;
    bool whole = access_word(a, a->addr, &v);
    if (is_register(a, NOCAP_REG_SEM, NOCAP_SEMAPHORE_COUNT, &i)) {
        if (whole) {
            gate_core_semaphore(g, i, (v & 1) == 0);
        } else { /* a post or a get */
            g->value_known &= (uint8_t) ~(1 << i);
        }
        gate_settle(g, m->event->t);
    } else if (is_register(a, NOCAP_REG_MOP_CFG, NOCAP_MOP_WORDS, &i)) {
        stream_mop_store(&t->stream, i, whole ? &v : NULL);
    } else if (concerns_unpackers(a->addr)) {
        gate_config_store(m, t);
    } else if (a->addr == NOCAP_REG_TTSYNC) { /* firmware loads it right after */
        t->stream.drained = true;
        if (!GATE_HAS_ISSUE(m) || !GATE_HAS_PUSH(m)) {
            work_drained(&t->work, thread);
        }
    }
}

/* A core that sees its thread idle knows that all it pushed has left the units. */
static void trisc_load(struct model *m, struct tile *tile, unsigned thread, const struct access *a)
{
    struct gate_thread *t = &tile->gate->threads[thread];
    if (a->addr == NOCAP_REG_TTSYNC) {
        stream_drained(&t->stream);
        t->config_stored = false;
        if (!GATE_HAS_ISSUE(m) || !GATE_HAS_PUSH(m) || stream_count(&t->stream) == 0) {
            work_drained(&t->work, thread);
        }
    } else if (concerns_unpackers(a->addr)) {
        t->config_stored = false; /* what is read back has arrived */
    }
}

static bool is_mailbox_done(const struct tile *tile, const struct nocap_core_info *core,
                            const struct access *a)
{
    uint32_t byte = NOCAP_SYNC + (uint32_t)core->sync_byte;
    uint8_t v, old;
    return access_byte(a, byte, &v) && v == NOCAP_SYNC_DONE && shadow_byte(&tile->l1, byte, &old) &&
           old == NOCAP_SYNC_GO;
}

/* A store to an instruction FIFO, where the trace tells no pushes. Words that are part of a
 * kernel's code are pushed without a store, so only the word itself can be judged, not its place.
 */
static bool judge_fifo_store(struct model *m, struct tile *tile, const struct access *a)
{
    uint32_t word;
    bool brisc = a->by == NOCAP_BY_BRISC;
    uint64_t fifo = (a->addr - NOCAP_BASE_INSTRN_FIFO0) / FIFO_WINDOW;
    if (!a->store || a->addr < NOCAP_BASE_INSTRN_FIFO0 || fifo >= GATE_THREADS) {
        return false;
    }
    bool pushes = brisc || (nocap_core(a->by)->thread >= 0 && fifo == 0);
    if (pushes && !GATE_HAS_PUSH(m) && access_word(a, a->addr, &word)) {
        unsigned thread = brisc ? (unsigned)fifo : (unsigned)nocap_core(a->by)->thread;
        if (!GATE_HAS_ISSUE(m)) {
            gate_judge_word(m, tile, thread, word);
        }
        gate_judge_push(m, tile, thread, word, a->by);
    }
    return true;
}

void gate_core_access(struct model *m, struct tile *tile, const struct access *a)
{
    const struct nocap_core_info *core = nocap_core(a->by);
    if (judge_fifo_store(m, tile, a) || core->thread < 0) {
        return;
    }
    unsigned i;
    bool creates = a->store && (is_register(a, NOCAP_REG_MOP_CFG, NOCAP_MOP_WORDS, &i) ||
                                concerns_unpackers(a->addr));
    struct gate *g = creates && tile->in_scope ? gate_get(m, tile) : tile->gate;
    unsigned thread = (unsigned)core->thread;
    if (g == NULL) {
        return;
    }
    g->last_t = m->event->t;
    if (a->store && a->addr < NOCAP_L1_SIZE) {
        if (is_mailbox_done(tile, core, a)) {
            gate_done(m, tile, thread);
        }
    } else if (a->store) {
        trisc_store(m, tile, thread, a);
    } else {
        trisc_load(m, tile, thread, a);
    }
}

/* A kernel begins: what threads did in the one before is over, once all its cores have left. */
void gate_kernel_enter(struct model *m, struct tile *tile, unsigned agent)
{
    struct gate *g = tile->gate;
    int thread = nocap_core(agent)->thread;
    bool others = false;
    if (thread < 0 || g == NULL) {
        return;
    }
    g->last_t = m->event->t;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        unsigned p = nocap_core(NOCAP_BY_TRISC0 + i)->processor;
        others = others || ((int)i != thread && tile->launch.kernels[p].inside != NO);
    }
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        struct gate_stream *s = &g->threads[i].stream;
        if ((int)i != thread && (others || stream_count(s) > 0)) {
            continue;
        }
        work_start(&g->threads[i].work, true);
        g->threads[i].config_stored = false;
    }
    struct gate_stream *s = &g->threads[thread].stream;
    if (!g->loose && stream_count(s) == 0) {
        stream_drained(s);
    }
}
