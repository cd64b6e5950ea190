/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the Tensix coprocessor of a tile. Three threads, each with its expanders, its
 * Wait Gate and its stream of work; the units, Src banks, semaphores and mutexes that they share.
 * The state of a tile is made when its first coprocessor event comes. */
#ifndef NOCAP_REPLAY_GATE_PRIVATE_H
#define NOCAP_REPLAY_GATE_PRIVATE_H

#include "formats/blackhole/registers.h"
#include "formats/blackhole/tensix_expand.h"
#include "replay/core/tile.h"
#include "replay/gate/gate.h"

enum {
    GATE_QUEUE_START = 64,    /* words of a queue; it grows */
    GATE_QUEUE_MAX = 1024,    /* ... up to this; then the stream is lost */
    GATE_CONFIGS = 8,         /* MOP configurations that are kept for words in the queue */
    GATE_LOOKAHEAD = 64,      /* words in which a mismatch looks for its place */
    GATE_PACE = 16,           /* issues from one look to the next when a search is long */
    GATE_WINDOW = 4,          /* issued words that must fit before a mismatch is over */
    GATE_STRAYS = 8,          /* words of which it is remembered that they are out of their place */
    GATE_STRAYS_FOR = 8,      /* words that issue until they are forgotten */
    GATE_WALK_WORDS = 512,    /* of one expansion; what repeats longer holds nothing new */
    GATE_QUIET = 10000,       /* cycles without an event after which nothing comes any more */
    GATE_QUIET_NS = 10000000, /* the same; a simulator may do no more than a cycle in 1000 ns */
    GATE_UNSEEN = 32,         /* of that time, a part in which a store that was not seen arrives */
    GATE_CONDITIONS = 13,
    /* conditions of a STALLWAIT that look at Src banks, and at units */
    GATE_VALID = NOCAP_WAIT_SRCA_VLD | NOCAP_WAIT_SRCB_VLD,
    GATE_SRC = NOCAP_WAIT_SRCA_CLR | NOCAP_WAIT_SRCB_CLR | GATE_VALID,
    GATE_UNITS = ((1 << GATE_CONDITIONS) - 1) & ~GATE_SRC,
};

/* ---- stream: what is pushed, and in what order it must issue (gate_stream.c) ---- */

struct gate_entry {
    uint32_t word;
    uint16_t config; /* number of the MOP configuration that it meets */
    bool drained;    /* the core saw the coprocessor idle before it pushed this */
    fault_id since;  /* it was wrong as it was pushed */
};

struct gate_queue {
    struct gate_entry *entries; /* a ring */
    uint32_t size, count;
    uint64_t first; /* number of the oldest entry since the start; modulo size its place */
};

/* A place in the stream of words that reach the gate. Small enough to copy for a look ahead. */
struct gate_cursor {
    uint64_t at; /* number of the next entry of the TRISC's queue */
    bool in_mop, mask_known;
    uint32_t mask_high;
    fault_id since; /* of the MOP */
    struct nocap_replay replay;
    struct nocap_mop mop;
};

/* The next word that must issue. */
struct gate_next {
    uint32_t word;
    bool valid, known; /* known false: an expansion whose words were never seen */
    bool drained, expanded;
    fault_id since; /* of the pushed word that it is, or comes from */
};

/* Words, oldest first; the same one several times. */
struct gate_strays {
    uint32_t words[GATE_STRAYS];
    unsigned count;
};

struct gate_stream {
    struct gate_queue trisc, brisc; /* two streams: their merge is free */
    struct gate_next next;
    uint16_t config_at; /* number of the newest MOP configuration; modulo GATE_CONFIGS its place */
    bool config_changed;
    bool drained;   /* for the next push */
    bool complete;  /* every word that may still issue was seen: a mismatch means something */
    bool searching; /* after a mismatch: the cursor stays until what issues fits again */
    /* Where else it fitted, bit n: n + 1 words from the place that was taken, which may be wrong.
     */
    uint64_t ahead, behind;
    fault_id place_since; /* that it was taken is known since */
    uint32_t wrong; /* the latest word that issued within an expansion, and did not fit there .. */
    fault_id wrong_since;            /* .. since this: an expansion repeats itself */
    uint32_t passed[GATE_LOOKAHEAD]; /* the latest words whose place is over; a ring */
    uint32_t passed_count;
    struct gate_cursor cursor;       /* what has issued */
    struct gate_cursor pushed;       /* at the end of what was pushed, expanded at once */
    uint32_t issued[GATE_LOOKAHEAD]; /* the latest words since a mismatch; a ring */
    uint32_t seen;                   /* how many did */
    uint32_t vanished; /* words that may be swallowed, and did not issue in their place */
    /* What is to issue next is known since; a word that fits ends it. */
    fault_id since;
    /* Words whose place is over, and which may come late; that issued before their place. */
    struct gate_strays missing, early;
    fault_id strays_since;
    uint32_t strays_age;            /* words issued since the latest of them */
    struct nocap_mop_config config; /* as stored last */
    struct nocap_mop_config configs[GATE_CONFIGS];
};

/* ---- Wait Gate (gate_latch.c) ---- */

/* What a wait word says: what it holds back, and while what is so. */
struct gate_wait {
    uint8_t opcode; /* 0: there is no wait */
    uint8_t semaphores, semaphore_condition;
    uint16_t block;
    uint32_t conditions; /* STALLWAIT: NOCAP_WAIT_* */
    uint64_t index;
};

enum gate_condition { GATE_UNSURE, GATE_CLEAR, GATE_HOLDS };

struct gate_latch {
    struct gate_wait wait;
    /* GATE_HOLDS: it held at every moment, so the wait is certainly still latched; GATE_CLEAR: it
     * certainly cleared, at t_clear */
    enum gate_condition condition;
    uint64_t t_clear, t;
    fault_id since; /* the wait was out of its place */
};

/* How well the value of a semaphore is known. */
enum gate_sem_known {
    SEM_UNKNOWN,
    SEM_MOVING, /* stores of cores are under way: until they arrive, it is in [least, most] */
    SEM_KNOWN,
};

struct gate_sem {
    uint8_t known; /* enum gate_sem_known */
    uint8_t v, max, least, most;
    bool max_known;
    /* of the stores that are under way */
    uint8_t movers;          /* by thread */
    bool posts, gets;        /* there are such */
    bool stirred;            /* a thread changed it since */
    struct event_ref stored; /* the latest */
    fault_id since;          /* as of struct value */
    /* Since this fault v is not `made`, what the instructions make of it in the order in which they
     * were pushed. An instruction that is out of its place brings the two together again. */
    fault_id parted;
    int8_t made;
};

/* ---- the work of a thread, for the hazard rules (gate_hazard.c) ---- */

/* What the thread did since a wait, without being held by it. */
struct gate_after {
    uint32_t units;           /* got work, NOCAP_WAIT_* */
    uint64_t written, loaded; /* general purpose registers */
    uint8_t released;         /* Src banks handed over, NOCAP_DVALID_* */
    bool reported;            /* MATH_PACK was posted or gotten */
};

struct gate_work {
    uint32_t in_flight; /* units with work that no wait has seen drained, NOCAP_WAIT_* */
    uint64_t gpr_written, gpr_loaded; /* by ThCon, since a wait made it visible */
    uint64_t work_index;              /* of the last work */
    struct gate_wait wait;            /* that has held nothing yet */
    struct gate_after after;          /* it: its condition may have been met before */
    uint32_t slipped;                 /* awaited units whose instructions passed it, TNX-018 */
    uint8_t src_ready, src_known;     /* NOCAP_DVALID_* */
    enum known may_use_dest;          /* SEMWAIT on MATH_PACK since the last post or get */
    bool uses_math_pack;
};

/* A word that is wrong by itself, since: a MOP or a REPLAY may bring it again. */
struct gate_wrong {
    uint32_t word;
    fault_id since;
};
enum { GATE_WRONG = 4 };

struct gate_thread {
    struct gate_stream stream;
    struct gate_wrong wrong[GATE_WRONG]; /* the latest */
    uint8_t wrong_next;
    struct gate_latch latch;
    uint16_t busy, busy_known; /* units with its work, as NOCAP_WAIT_*; of which that is known */
    uint16_t flight[GATE_CONDITIONS]; /* words in them, where only retirement is observed */
    struct gate_work work;
    /* registers and mutexes, which outlive a kernel */
    bool dest_known;
    uint16_t dest_offset;
    uint8_t mutex_known, mutex_held;
    /* the pushed words in their order: what RISC-V stores race with */
    struct gate_wait pushed_wait;
    bool config_stored; /* backend configuration stored and not waited for */
    uint64_t config_index;
    uint32_t config_source;
    fault_id config_since; /* the latest UNPACR that no wait for it precedes */
    /* the word held at the gate */
    bool held;
    uint32_t held_word;
    struct event_ref held_at;
    bool used;       /* it pushed or issued a word */
    uint32_t source; /* of what it and its core do, where order counts .. */
    bool has_source;
    bool unordered;         /* .. which are several: the order of its words is not certain */
    uint32_t kernel_source; /* of the kernel that its core entered last, if there is one */
    bool has_kernel;
    uint8_t posted, gotten; /* semaphores that it ever posted, got */
    struct event_ref last_issue;
};

struct gate {
    struct gate_thread threads[THREADS];
    struct gate_sem sems[NOCAP_SEMAPHORE_COUNT];
    uint64_t stated;         /* the values that an event stated last */
    bool agreed;             /* they were right, and nothing changed them since */
    uint16_t src, src_known; /* NOCAP_WAIT_*_CLR and _VLD that hold; that are known */
    bool counts_units;       /* the state of units follows from issue and retire */
    /* several observation points: the order of threads is not certain, and no semaphore known; what
     * one of them tells of a thread is in order */
    bool unordered;
    uint32_t source;
    bool has_source;
    uint64_t stores_before; /* when cores may have stored to semaphores last, unseen; or NO_INDEX */
    bool pushed;            /* a word was, so that its source has shown */
    struct event_ref early; /* the first issue before that; index NO_INDEX: none */
    uint32_t early_word, early_thread;
    uint64_t last_t; /* when the coprocessor, or one of its cores, did something last */
};

/* ---- between the files of the gate ---- */

static inline bool gate_observes(const struct model *m, uint32_t classes)
{
    return (m->header->observes & classes) == classes;
}
/* Whether the trace shows what cores do to semaphores. */
static inline bool gate_sees_cores(const struct model *m)
{
    return gate_observes(m, NOCAP_CLASS_CORE_MMIO);
}
/* So much time that nothing is under way any more. */
static inline uint64_t gate_quiet(const struct model *m)
{
    return m->header->time_unit == NOCAP_TIME_NS ? GATE_QUIET_NS : GATE_QUIET;
}
#define GATE_HAS_PUSH(m)  gate_observes((m), NOCAP_CLASS_TENSIX_PUSH)
#define GATE_HAS_ISSUE(m) gate_observes((m), NOCAP_CLASS_TENSIX_ISSUE)

/* A word of a thread, as it is pushed or issues. */
struct gate_word {
    struct model *m;
    struct tile *tile;
    struct gate *g;
    struct gate_thread *t;
    unsigned thread, opcode;
    uint32_t word;
};
static inline struct gate_word gate_word(struct model *m, struct tile *tile, struct gate *g,
                                         unsigned thread, uint32_t word)
{
    return (struct gate_word){.m = m,
                              .tile = tile,
                              .g = g,
                              .t = g != NULL ? &g->threads[thread] : NULL,
                              .thread = thread,
                              .opcode = nocap_tensix_opcode(word),
                              .word = word};
}

/* CHECK for a word, at the present event; _AFTER: judged by what is known only since a fault. */
#define CHECK_WORD_AT(w, RULE, condition, at, related, expected, ...)                              \
    do {                                                                                           \
        if (judges((w)->m, RULE) && __builtin_expect(!(condition), 0)) {                           \
            report_violation((w)->m, (w)->tile, RULE, (at), (int)(w)->thread, (related),           \
                             (expected), __VA_ARGS__);                                             \
        }                                                                                          \
    } while (0)
#define CHECK_WORD(w, RULE, condition, ...)                                                        \
    CHECK_WORD_AT(w, RULE, condition, gate_event_ref((w)->m, (w)->thread), __VA_ARGS__)
#define CHECK_WORD_AFTER(w, RULE, since, ...)                                                      \
    FOLLOWING((w)->m, since, CHECK_WORD(w, RULE, __VA_ARGS__))
struct event_ref gate_event_ref(const struct model *m, unsigned thread);
/* A word in the text of a finding. */
#define GATE_TEXT(word)                                                                            \
    nocap_tensix_disassemble((word), (char[NOCAP_TENSIX_TEXT_MAX]){0}, NOCAP_TENSIX_TEXT_MAX)

/* gate_stream.c */
/* False without memory. */
bool stream_push(struct gate_stream *s, uint32_t word, bool by_brisc, fault_id since);
/* Judges it, and what is expanded from it, as pushed; after stream_push. */
void gate_pushed_word(const struct gate_word *w, bool by_brisc);
void stream_mop_store(struct gate_stream *s, unsigned i, const uint32_t *word);
/* The core saw everything that it pushed leave the coprocessor. */
void stream_drained(struct gate_stream *s);

/* A NOP may be swallowed on its way; what becomes of RESOURCEDECL is not documented. */
static inline bool gate_may_vanish(uint32_t word)
{
    unsigned opcode = nocap_tensix_opcode(word);
    return opcode == NOCAP_TENSIX_NOP || opcode == NOCAP_TENSIX_RESOURCEDECL;
}
static inline struct gate_entry *gate_entry_of(const struct gate_queue *q, uint64_t number)
{
    return &q->entries[number & (q->size - 1)];
}
/* A wait for the core's stores to the backend configuration. */
static inline bool gate_waits_for_config(uint32_t word)
{
    return nocap_tensix_opcode(word) == NOCAP_TENSIX_STALLWAIT &&
           (NOCAP_TENSIX_GET(word, STALLWAIT, wait_res) & NOCAP_WAIT_TRISC_CFG) != 0;
}
/* Takes the word away; false: it is not among them. */
bool gate_stray_take(struct gate_strays *strays, uint32_t word);
/* What may still issue is not known any more. */
void stream_lose(struct gate_stream *s);
/* Makes `next` the next word of the TRISC; false: there is none. */
bool stream_next(struct gate_stream *s);

/* gate_match.c */
enum stream_fit {
    STREAM_FITS,
    STREAM_UNKNOWN, /* cannot be judged */
    STREAM_AHEAD,   /* it is pushed, but others were to issue before it */
    STREAM_ALIEN,   /* it is not among the words that come next */
    STREAM_LATE,    /* it was missing in its place */
};
/* What a word does to what the stream makes of the semaphores. */
enum gate_place {
    GATE_IN_PLACE,
    GATE_OUT_OF_PLACE, /* it counts where its place is */
    GATE_IN_DOUBT,     /* where that is is not known yet */
};
struct stream_match {
    enum stream_fit fit;
    enum gate_place place;
    uint32_t expected; /* the word that was next, AHEAD, ALIEN and LATE; else 0 .. */
    uint32_t issued;   /* .. instead of this one; twice */
    bool has_expected;
    bool twice; /* a search is over that met two faults, this is the second; UNKNOWN */
    bool drained, expanded;
    fault_id since; /* that this is what was to come is known since */
};
/* The word issued: where in the stream it is. Goes on after it. */
struct stream_match stream_issue(const struct gate_word *w);
/* Since when it is known that a word does not fit: at another place that fitted it would, or it is
 * wrong in an expansion as before. */
fault_id stream_misfit_since(const struct gate_stream *s, uint32_t word);
/* It does not, since s->since. */
void stream_note_misfit(struct gate_stream *s, uint32_t word);
/* Whether it is known which word comes next, and that no other may. */
static inline bool stream_is_known(const struct gate_stream *s)
{
    return s->complete && !s->searching;
}
/* The word at the gate; false: none, or not known. */
bool stream_head(struct gate_stream *s, uint32_t *word);
/* Whether words are certainly pushed and not issued, and the first of them; NOPs and what cannot
 * issue do not count. */
bool stream_pending(const struct gate_stream *s, uint32_t *word);
/* The words from the present place on, without NOPs and unknown ones; how many. */
unsigned stream_look_ahead(const struct gate_stream *s, uint32_t *words, unsigned count);
/* How many, at least: entries of the queues and the word at the gate. */
uint32_t stream_count(const struct gate_stream *s);

/* gate_latch.c */
struct gate_wait gate_wait_of(uint32_t word, uint64_t index);
static inline bool gate_holds_back(const struct gate_wait *wait, uint32_t word)
{
    return wait->opcode != 0 &&
           (nocap_tensix_is_wait(word) || nocap_tensix_is_held(word, wait->block));
}
/* The unit whose work the word is, as condition of a STALLWAIT; 0: none. */
uint32_t gate_unit_of(uint32_t word);
/* The word issues: it passes the gate, changes semaphores and units. Rules TNX-001, -004, -006. */
void gate_issue(const struct gate_word *w, enum gate_place place);
void gate_unit_event(struct gate *g, const struct nocap_event *e);
/* What certainly holds the thread: the latched wait, or the one that is held itself. */
struct gate_hold {
    struct gate_wait wait;
    uint32_t blocking; /* its condition, or semaphore; 0: nothing holds for certain */
    const struct gate_sem *semaphore; /* NULL: it is none */
};
struct gate_hold gate_holding(const struct gate *g, unsigned thread);
/* Whether a SEMWAIT holds while the semaphore has this value; its maximum counts where it is known.
 */
static inline bool gate_semaphore_holds(const struct gate_wait *wait, const struct gate_sem *s,
                                        int v)
{
    return ((wait->semaphore_condition & NOCAP_SEMWAIT_WHILE_ZERO) != 0 && v <= 0) ||
           ((wait->semaphore_condition & NOCAP_SEMWAIT_WHILE_MAX) != 0 && s->max_known &&
            v >= s->max);
}
/* What is judged by a semaphore's value, and would be `right` by what the words make of it. */
static inline fault_id gate_semaphore_since(const struct gate_sem *s, bool right)
{
    bool parted = right && s->parted != FAULT_NONE && s->since != FAULT_UNREPORTED;
    return parted ? s->parted : s->since;
}
/* What the value that blocks the wait is known since. */
static inline fault_id gate_since(const struct gate_hold *hold)
{
    const struct gate_sem *s = hold->semaphore;
    return s == NULL ? FAULT_NONE
                     : gate_semaphore_since(s, !gate_semaphore_holds(&hold->wait, s, s->made));
}
/* After state changed: latches whose condition cleared are forgotten. */
void gate_settle(struct gate *g, uint64_t t);
/* For messages. */
const char *gate_describe(const struct gate *g, const struct gate_hold *hold, char *text,
                          size_t size);
/* gate_semaphore.c: rules TNX-005, -013 to -015 */
/* What an issued word does to semaphores, and what the event states of them. Whether they changed.
 */
bool gate_semaphores(const struct gate_word *w, enum gate_place place);
/* The word's place in the stream is over: what it makes of the semaphores, whether it issued there
 * or not. */
void gate_makes(struct gate *g, uint32_t word, fault_id since);
/* The fault at which a semaphore changed as if this word of the thread had issued. */
fault_id gate_shown_since(const struct gate_word *w, uint32_t word);
/* A word was out of order: what it and others did since the last event is not known. */
void gate_doubt_semaphores(struct gate *g, fault_id since);
/* The core of a thread stores to the semaphore, or loads it; NULL: what, is not known. */
void gate_core_semaphore(const struct gate_word *w, unsigned i, bool store, const uint32_t *value);
/* From here on all are known so well. */
void gate_know_semaphores(struct gate *g, enum gate_sem_known known);

/* gate_hazard.c: rules TNX-010 to -012, -016, -017; TNX-018, -020, -030 to -035 in stream order */
/* What was wrong. */
fault_id gate_judge_word(const struct gate_word *w);
/* The same of one that a MOP or a REPLAY brought. */
void gate_judge_expanded(const struct gate_word *w);
void work_start(struct gate_work *w, bool known);
/* All that the thread pushed has left the units, waits included. */
void work_drained(struct gate_work *w, unsigned thread);
void gate_work_word(const struct gate_word *w);

/* What this model keeps of a tile. */
struct gate_tile {
    struct gate *gate; /* NULL until the coprocessor does something */
    bool lost;         /* what it did before is not known */
};
static inline struct gate_tile *gate_part(const struct tile *tile)
{
    return tile->part[MODEL_GATE];
}

/* gate_source.c: the present event tells of the thread, where order counts; of what all share. */
void gate_notice_thread(const struct model *m, const struct tile *tile, struct gate_thread *t);
void gate_notice(const struct model *m, const struct tile *tile);

/* gate_waits.c: rules TNX-040, TNX-041 */
void gate_done(const struct gate_word *w);
void gate_finish(struct model *m, struct tile *tile, bool cut);
void gate_waits(const struct wait_builder *t);
void gate_settle_facts(const struct model *m, struct tile *tile);
void gate_describe_tile(const struct model *m, const struct tile *tile, unsigned parts,
                        struct nocap_tile_state *s);

#endif
