/* Threads of the coprocessor that are held: by which condition, and which thread could change it.
 */
#include <stdio.h>

#include "replay/gate.h"
#include "replay/waits_private.h"

enum { AHEAD = 64 };

bool waits_thread_pending(const struct tile *tile, unsigned thread)
{
    struct gate_thread *t = tile->gate != NULL ? &tile->gate->threads[thread] : NULL;
    if (t == NULL || t->stream.searching) {
        return false;
    }
    return (t->held && nocap_tensix_opcode(t->held_word) != NOCAP_TENSIX_NOP) ||
           stream_pending(&t->stream);
}

static bool may_still_push(const struct tile *tile, unsigned thread)
{
    const struct kernel *k = &tile->launch.kernels[nocap_core(NOCAP_BY_TRISC0 + thread)->processor];
    return k->inside == YES;
}

/* Whether among the words that the thread has yet to issue is one that posts, or gets, the
 * semaphore. */
static bool will_change(struct gate_thread *t, unsigned opcode, uint8_t semaphore)
{
    uint32_t words[AHEAD];
    unsigned count =
        t->stream.searching || !t->stream.trusted ? 0 : stream_look_ahead(&t->stream, words, AHEAD);
    for (unsigned i = 0; i < count; i++) {
        if (nocap_tensix_opcode(words[i]) == opcode &&
            (NOCAP_TENSIX_GET(words[i], SEMPOST, sem_sel) & semaphore) != 0) {
            return true;
        }
    }
    return false;
}

/* The thread that could change the semaphore; -1: nobody is known who could. */
static int semaphore_owner(const struct tile *tile, unsigned thread, uint8_t semaphore, bool post)
{
    struct gate *g = tile->gate;
    unsigned opcode = post ? NOCAP_TENSIX_SEMPOST : NOCAP_TENSIX_SEMGET;
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        if (i != thread && will_change(&g->threads[i], opcode, semaphore)) {
            return (int)i;
        }
    }
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        const struct gate_thread *t = &g->threads[i];
        bool did = ((post ? t->posted : t->gotten) & semaphore) != 0;
        if (i != thread && did && (may_still_push(tile, i) || waits_thread_pending(tile, i))) {
            return (int)i;
        }
    }
    for (unsigned i = 0; i < GATE_THREADS; i++) {
        if (i != thread && may_still_push(tile, i)) {
            return (int)i; /* the only ones who still can */
        }
    }
    return -1;
}

/* A bank of Src is handed over by the unpackers of thread 0, given back by the math of thread 1. */
static int bank_owner(const struct tile *tile, unsigned thread, uint32_t condition)
{
    bool valid = (condition & (NOCAP_WAIT_SRCA_VLD | NOCAP_WAIT_SRCB_VLD)) != 0;
    bool clear = (condition & (NOCAP_WAIT_SRCA_CLR | NOCAP_WAIT_SRCB_CLR)) != 0;
    unsigned owner = valid ? 0 : 1;
    bool can = may_still_push(tile, owner) || waits_thread_pending(tile, owner);
    return (valid || clear) && owner != thread && can ? (int)owner : -1;
}

static int describe_semaphore(const struct tile *tile, unsigned thread, const struct gate_latch *l,
                              uint32_t blocking, char *what, char *release)
{
    const struct gate *g = tile->gate;
    unsigned i = (unsigned)__builtin_ctz(blocking);
    bool zero = (l->semaphore_condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0 && g->value[i] == 0;
    int owner = semaphore_owner(tile, thread, (uint8_t)blocking, zero);
    snprintf(what, WAIT_TEXT, "its Tensix thread %u waits for semaphore %u, which is %u%s%s",
             thread, i, g->value[i], zero ? "" : ", its maximum",
             owner >= 0 ? ""
             : zero     ? "; no word is left that posts it"
                        : "; no word is left that gets it");
    snprintf(release, WAIT_TEXT, "a %s of semaphore %u", zero ? "SEMPOST" : "SEMGET", i);
    return owner;
}

static void tell_thread(const struct telling *t, unsigned thread)
{
    struct tile *tile = t->tile;
    const struct gate_thread *g = &tile->gate->threads[thread];
    char what[WAIT_TEXT], release[WAIT_TEXT] = "", text[NOCAP_TENSIX_TEXT_MAX];
    struct gate_latch latch;
    uint32_t blocking, head = g->held_word;
    int owner = -1;
    bool holds = gate_holding(tile->gate, thread, &latch, &blocking) == GATE_HOLDS &&
                 (g->latch.sure || g->held);
    if (holds && latch.opcode == NOCAP_TENSIX_SEMWAIT) {
        owner = describe_semaphore(tile, thread, &latch, blocking, what, release);
    } else if (holds) {
        owner = bank_owner(tile, thread, blocking);
        snprintf(what, sizeof what, "its Tensix thread %u: %s", thread,
                 gate_describe(tile->gate, thread, text, sizeof text));
    } else {
        if (!g->held) {
            (void)stream_head(&tile->gate->threads[thread].stream, &head);
        }
        snprintf(what, sizeof what, "its Tensix thread %u holds %s, which has not issued", thread,
                 nocap_tensix_disassemble(head, text, sizeof text));
    }
    struct moment since = g->held ? g->held_at : g->last_issue;
    since.index = g->held || g->last_issue.t != 0 ? since.index : NO_INDEX;
    struct nocap_wait w = wait_begin(t, NOCAP_BY_TRISC0 + thread, since);
    w.by = owner >= 0 ? wait_party(t, NOCAP_BY_TRISC0 + (unsigned)owner) : w.by;
    w.what = what;
    w.state = may_still_push(tile, thread) ? "in kernel, thread held" : "thread held";
    w.release = release[0] != '\0' ? release : NULL;
    w.thread = (int8_t)thread;
    w.certain = holds && latch.opcode == NOCAP_TENSIX_SEMWAIT && owner < 0 && !tile->gate->loose &&
                gate_cores_have_left(t->m, tile, false);
    wait_tell(t, &w);
}

void waits_gate(const struct telling *t)
{
    for (unsigned i = 0; t->tile->gate != NULL && t->tile->in_scope && i < GATE_THREADS; i++) {
        if (waits_thread_pending(t->tile, i)) {
            tell_thread(t, i);
        }
    }
}
