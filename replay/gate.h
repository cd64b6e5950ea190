/* Private to replay: the Tensix coprocessor of a tile. Three threads, each with its expanders, its
 * Wait Gate and its stream of work; the units, Src banks, semaphores and mutexes that they share.
 * The state of a tile is made when its first coprocessor event comes. */
#ifndef NOCAP_REPLAY_GATE_H
#define NOCAP_REPLAY_GATE_H

#include "formats/blackhole/registers.h"
#include "formats/blackhole/tensix_expand.h"
#include "replay/model.h"

enum {
    GATE_THREADS = NOCAP_TENSIX_THREADS,
    GATE_QUEUE_START = 64, /* words of a queue; it grows */
    GATE_QUEUE_MAX = 1024, /* ... up to this; then the stream is lost */
    GATE_CONFIGS = 4,      /* MOP configurations that words in the queue refer to */
    GATE_LOOKAHEAD = 64,   /* words in which a mismatch looks for its place */
    GATE_PACE = 16,        /* issues from one look to the next when a search is long */
    GATE_WINDOW = 4,       /* issued words that must fit before a mismatch is over */
    GATE_WALK_WORDS = 512, /* of one expansion; what repeats longer holds nothing new */
    GATE_QUIET = 10000,    /* cycles without an event after which nothing comes any more */
    GATE_QUIET_NS = 10000000, /* the same; a simulator may do no more than a cycle in 1000 ns */
    GATE_BANKS = 2,
};

/* ---- stream: what is pushed, and in what order it must issue (gate_stream.c) ---- */

struct gate_entry {
    uint32_t word;
    uint8_t config; /* which MOP configuration it meets */
    bool drained;   /* the core saw the coprocessor idle before it pushed this */
};

struct gate_queue {
    struct gate_entry *entries; /* a ring */
    uint32_t size, count;
    uint64_t first; /* number of the oldest entry since the start; modulo size its place */
};

/* A place in the stream of words that reach the gate. Small enough to copy for a look ahead. */
struct gate_cursor {
    uint64_t at; /* number of the next entry of the TRISC's queue */
    struct nocap_mop mop;
    bool in_mop, mask_known;
    uint32_t mask_high;
    struct nocap_replay replay;
};

/* The next word that must issue. */
struct gate_next {
    uint32_t word;
    bool valid, known; /* known false: an expansion whose words were never seen */
    bool drained, expanded;
};

struct gate_stream {
    struct gate_queue trisc, brisc; /* two streams: their merge is free */
    struct gate_cursor cursor;
    struct gate_next next;
    struct nocap_mop_config config; /* as stored last */
    struct nocap_mop_config configs[GATE_CONFIGS];
    uint8_t config_at;
    bool config_changed;
    /* the sticky upper half of MOP's mask at the newest push */
    uint32_t pushed_mask_high;
    bool pushed_mask_known;
    bool drained;   /* for the next push */
    bool trusted;   /* every word that may still issue was seen: a mismatch means something */
    bool searching; /* after a mismatch: the cursor stays until what issues fits again */
    uint32_t window[GATE_WINDOW]; /* the latest words issued since then; a ring */
    uint32_t seen;                /* how many did */
};

/* ---- Wait Gate (gate_latch.c) ---- */

struct gate_latch {
    uint8_t opcode; /* of the wait instruction, 0: none */
    uint16_t block;
    uint32_t conditions; /* STALLWAIT: NOCAP_WAIT_* */
    uint8_t semaphores, semaphore_condition;
    bool sure;    /* it is certainly still latched: its condition held at every moment */
    bool cleared; /* its condition certainly cleared, at t_clear */
    uint64_t t_clear, t, index;
};

/* ---- the work of a thread, for the hazard rules (gate_hazard.c) ---- */

struct gate_wait {
    bool pending; /* it has held nothing yet */
    bool is_stall;
    uint16_t block;
    uint32_t conditions;
    uint8_t semaphores, semaphore_condition;
    uint32_t unblocked; /* awaited units whose instructions it does not hold, TNX-018 */
    uint64_t index;
};

struct gate_work {
    uint32_t in_flight; /* units with work that no wait has seen drained, NOCAP_WAIT_* */
    uint64_t gpr_written, gpr_loaded; /* by ThCon, since a wait made it visible */
    uint64_t work_index;              /* of the last work */
    struct gate_wait wait;
    uint8_t src_ready, src_known; /* NOCAP_DVALID_* */
    enum known may_use_dest;      /* SEMWAIT on MATH_PACK since the last post or get */
    bool uses_math_pack;
    bool dest_known;
    uint16_t dest_offset;
    uint8_t mutex_known, mutex_held;
};

struct gate_thread {
    struct gate_stream stream;
    struct gate_latch latch;
    struct gate_work work;
    /* the pushed words in their order: what RISC-V stores race with */
    struct nocap_replay pushed_replay;
    struct gate_wait pushed_wait;
    bool config_stored; /* backend configuration stored and not waited for */
    uint64_t config_index;
    /* the word held at the gate */
    bool held;
    uint32_t held_word;
    struct moment held_at;
    bool used;              /* it pushed or issued a word */
    uint8_t posted, gotten; /* semaphores that it ever posted, got */
    struct moment last_issue;
};

struct gate {
    struct gate_thread threads[GATE_THREADS];
    uint8_t value[NOCAP_SEMAPHORE_COUNT], max[NOCAP_SEMAPHORE_COUNT];
    uint8_t before[NOCAP_SEMAPHORE_COUNT];      /* value before a core's own post or get */
    uint8_t value_known, max_known, value_soft; /* soft: `before` may still be seen */
    uint8_t value_disputed; /* differed from the model, `before`, at the latest look */
    uint8_t core_used;      /* cores post or get them where their stores are not observed */
    uint8_t busy[NOCAP_UNIT_COUNT], busy_known[NOCAP_UNIT_COUNT]; /* by thread bit */
    uint16_t flight[NOCAP_UNIT_COUNT][GATE_THREADS]; /* where only retirement is observed */
    uint8_t src[GATE_BANKS][NOCAP_SIDE_COUNT];       /* enum nocap_owner + 1, 0: unknown */
    bool counts_units; /* the state of units follows from issue and retire */
    bool loose;        /* several observation points: the order of threads is not certain */
    uint32_t source;
    bool has_source;
    uint64_t last_t; /* of the last event of the coprocessor or of a core of the tile */
};

/* ---- between the files of the gate ---- */

static inline bool gate_observes(const struct model *m, uint32_t classes)
{
    return (m->header->observes & classes) == classes;
}
#define GATE_HAS_PUSH(m)  gate_observes((m), NOCAP_CLASS_TENSIX_PUSH)
#define GATE_HAS_ISSUE(m) gate_observes((m), NOCAP_CLASS_TENSIX_ISSUE)

/* EXPECT for a thread, at the present event. */
#define EXPECT_THREAD(m, tile, RULE, condition, thread, related, expected, ...)                    \
    do {                                                                                           \
        if ((m)->armed[RULE]) {                                                                    \
            (m)->exercised[RULE]++;                                                                \
            if (__builtin_expect(!(condition), 0)) {                                               \
                diverge((m), (tile), RULE, gate_moment((m), (thread)), (int)(thread), (related),   \
                        (expected), __VA_ARGS__);                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)
struct moment gate_moment(const struct model *m, unsigned thread);

/* gate_stream.c */
void stream_init(struct gate_stream *s, bool trusted);
void stream_free(struct gate_stream *s);
/* False without memory. */
bool stream_push(struct gate_stream *s, uint32_t word, bool by_brisc);
void stream_mop_store(struct gate_stream *s, unsigned i, const uint32_t *word);
/* The core saw everything that it pushed leave the coprocessor. */
void stream_drained(struct gate_stream *s);

enum stream_fit {
    STREAM_FITS,
    STREAM_UNKNOWN, /* cannot be judged */
    STREAM_AHEAD,   /* it is pushed, but others were to issue before it */
    STREAM_ALIEN,   /* it is not among the words that come next */
};
struct stream_match {
    enum stream_fit fit;
    uint32_t expected; /* the word that was next, AHEAD and ALIEN */
    bool has_expected;
    bool drained, expanded;
};
/* A word issued: where in the stream it is. Goes on behind it. */
struct stream_match stream_issue(struct gate_stream *s, uint32_t word);
/* Words are out of order in a way that was told already. */
void stream_disturb(struct gate_stream *s);
/* The word at the gate; false: none, or not known. */
bool stream_head(struct gate_stream *s, uint32_t *word);
/* Whether words are certainly pushed and not issued; NOPs and what cannot issue do not count. */
bool stream_pending(struct gate_stream *s);
/* The words from the present place on, without NOPs and unknown ones; how many. */
unsigned stream_look_ahead(struct gate_stream *s, uint32_t *words, unsigned count);
/* How many, at least: entries of the queues and the word at the gate. */
uint32_t stream_count(const struct gate_stream *s);

/* gate_latch.c */
enum gate_condition { GATE_CLEAR, GATE_HOLDS, GATE_UNSURE };
/* Whether a wait word's own condition says wait, for `thread`, now. */
enum gate_condition gate_word_condition(const struct gate *g, unsigned thread, uint32_t word,
                                        uint32_t *blocking);
struct gate_latch gate_latch_of(uint32_t word);
/* After state changed: latches whose condition cleared are forgotten. */
void gate_settle(struct gate *g, uint64_t t);
/* The word passes the gate: rules TNX-001, -004, -006. */
void gate_pass(struct model *m, struct tile *tile, unsigned thread, uint32_t word, bool judged);
/* What it does to semaphores and units: rules TNX-005, -013 to -015. */
void gate_execute(struct model *m, struct tile *tile, const struct nocap_event *e, uint32_t word,
                  bool judged);
void gate_unit_event(struct gate *g, const struct nocap_event *e);
void gate_core_semaphore(struct gate *g, unsigned i, bool post);
/* Where stores of cores are not observed: semaphores that they must have changed are given up. */
void gate_doubt_semaphores(struct gate *g, const struct nocap_event *e, uint32_t word);
/* What certainly holds the thread: the latched wait, or the one that is held itself. GATE_HOLDS
 * sets `blocking` to the semaphore, or to the condition of a STALLWAIT. */
enum gate_condition gate_holding(const struct gate *g, unsigned thread, struct gate_latch *latch,
                                 uint32_t *blocking);
/* Semaphores that make the latched or own condition of a wait hold; for messages. */
const char *gate_describe(const struct gate *g, unsigned thread, char *text, size_t size);

/* gate_words.c: rules TNX-010 to -012, -016, -017, -019 */
void gate_judge_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word);
void gate_judge_push(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                     unsigned by);

/* gate_hazard.c: rules TNX-018, -020, -030 to -035 in stream order */
void work_start(struct gate_work *w, bool known);
/* All that the thread pushed has left the units, waits included. */
void work_drained(struct gate_work *w, unsigned thread);
void gate_work_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word);

/* gate_pushed.c: the stream as pushed, expanded; rule TNX-036 */
void gate_pushed_word(struct model *m, struct tile *tile, unsigned thread, uint32_t word,
                      bool by_brisc);
void gate_config_store(struct model *m, struct gate_thread *t);

/* gate_deadlock.c: rules TNX-040, TNX-041 */
void gate_done(struct model *m, struct tile *tile, unsigned thread);
/* No core of the tile can push, post or get any more. `quiet`: nothing happened for long. */
bool gate_cores_have_left(const struct model *m, const struct tile *tile, bool quiet);

#endif
