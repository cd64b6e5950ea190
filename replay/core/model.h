/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what a model is, and what all of them share. A model keeps its state to
 * itself, says with CHECK what must be true at the point where it knows, then takes what was
 * observed and goes on. */
#ifndef NOCAP_REPLAY_MODEL_H
#define NOCAP_REPLAY_MODEL_H

#include "formats/blackhole/cores.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"
#include "formats/profile/profile.h"
#include "replay/core/engine.h"
#include "replay/core/facts.h"
#include "replay/core/observation.h"

struct model;
struct wait_builder;
struct nocap_tile_state;

/* The models, in the order in which the engine asks them. No result depends on it. */
enum model_id {
    MODEL_PROGRESS,
    MODEL_MAP,
    MODEL_CQ,
    MODEL_LAUNCH,
    MODEL_HOST,
    MODEL_GATE,
    MODEL_NOC,
    MODEL_RACE,
    MODEL_AIE,
    MODELS
};

/* A model. Only what it has is not NULL. */
struct model_ops {
    const char *name;
    enum model_id id;
    enum nocap_rule first_rule, last_rule, more_first, more_last; /* its rules; more_: 0, 0: none */
    uint32_t uses;    /* 1 << enum model_id: whose facts it asks for */
    size_t tile_size; /* bytes of its part of a tile, all zero at first; 0: none */
    /* What it wants: kinds of observations, and of accesses by cores and from outside those that
     * touch one of these places. 0: nothing of this header. Asked again at DUE_ROUTES, and where
     * events were lost. */
    uint32_t (*wants)(const struct model *m);
    uint32_t places;
    /* False without memory. */
    bool (*init)(struct model *m, const struct nocap_engine_options *options);
    void (*free)(struct model *m);
    void (*tile_init)(struct model *m, struct tile *tile, bool power_on);
    void (*tile_free)(struct tile *tile);
    /* Judges the observation by what was known before it, and takes it into the model's own state;
     * nothing that another model can see changes. */
    void (*check)(struct model *m, const struct observation *o);
    /* In its place for one kind. */
    void (*check_of[OBS_KINDS])(struct model *m, const struct observation *o);
    /* After all have judged, and memory has changed: what others can see. Called where `check` has
     * asked for it: model_apply_due. */
    void (*apply)(struct model *m, const struct observation *o);
    /* After `apply`, where the observation shows that requests are over: model.ended. */
    void (*ended)(struct model *m);
    /* Events were lost: what they did is unknown. */
    void (*forget)(struct model *m);
    void (*tile_forget)(struct model *m, struct tile *tile);
    /* The trace ends. `cut`: it was cut short, so a missing end proves nothing. */
    void (*finish)(struct model *m, bool cut);
    void (*tile_finish)(struct model *m, struct tile *tile, bool cut);
    /* Facts of the tile that only questions about waits need. */
    void (*tile_settle)(const struct model *m, struct tile *tile);
    /* For `hang`: who waits; first of each tile, then of the whole. */
    void (*tile_waits)(const struct wait_builder *t);
    void (*waits)(const struct wait_builder *t);
    /* What it knows of a tile: of these parts, enum nocap_state_part. */
    void (*describe)(const struct model *m, const struct tile *tile, unsigned parts,
                     struct nocap_tile_state *s);
};
extern const struct model_ops *const nocap_models[MODELS]; /* by id */

/* The tiles that were met, and where to find them: open addressing by chip and coordinate. */
enum { TILE_SLOT_BITS = 13, TILE_SLOTS = 1 << TILE_SLOT_BITS, TILE_HOT_LINES = 5 };
_Static_assert(TILE_SLOTS >= 2 * NOCAP_TILES_MAX, "half of the slots stay free");
struct tile_table {
    size_t size,
        offset[MODELS]; /* bytes of a tile with the parts of all models, and where these lie */
    uint32_t hot[TILE_HOT_LINES];      /* where lies what most observations ask for */
    struct tile *met[NOCAP_TILES_MAX]; /* in this order */
    uint32_t count;
    bool full;                      /* a tile was refused for want of room */
    struct tile *slots[TILE_SLOTS]; /* NULL: free */
};

/* Where in a tile what lies; decode.c makes it. */
enum {
    ADDRESS_WORDS = NOCAP_MAILBOX_END / 4, /* of L1: up to the end of the widest mailbox */
    ADDRESS_PAGE = 0x1000,
    FIRST_PAGE = NOCAP_BASE_LDM / ADDRESS_PAGE, /* of what is not L1 and no gap */
    ADDRESS_PAGES = NOCAP_LAST_TENSIX_CFG / ADDRESS_PAGE + 1 - FIRST_PAGE,
};
struct address_map {
    uint8_t words[ADDRESS_WORDS]; /* enum place */
    uint8_t pages[ADDRESS_PAGES]; /* the region in which they begin: a row of nocap_regions */
};

enum {
    COORDINATES = 64, /* of either axis: the network has 6 bits for them */
    PLACE_CHIPS = 32, /* chips whose places are told apart */
};

/* Calls what each model has of this name. */
#define EACH_MODEL(m, operation, ...)                                                              \
    do {                                                                                           \
        for (unsigned id = 0; id < MODELS; id++) {                                                 \
            if ((m)->models[id]->operation != NULL) {                                              \
                (m)->models[id]->operation(__VA_ARGS__);                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* What is due when all models have judged an observation, besides `apply`. */
enum due {
    DUE_APPLY = (1 << MODELS) - 1,
    DUE_ENDED = 1 << MODELS,  /* requests are over: model.ended */
    DUE_ROUTES = 2 << MODELS, /* a model wants something else from the next observation on */
    DUE_RAISED = 4 << MODELS, /* model.request is observed next */
    DUE_STRAY = 8 << MODELS,  /* the store observed goes where it must not: model.stray */
};

/* A kind of event that is none of this version's, by its name, since its first event. */
enum { UNKNOWN_KINDS = 8 };
struct unknown_kind {
    uint64_t hash;
    fault_id since;
};

/* The reference model as a whole: what its parts share. */
struct model {
    const struct nocap_header *header;
    const struct nocap_profile *profile;
    const struct nocap_mailbox_layout *layout; /* the profile's, unless the header names another */
    const struct nocap_event *event;           /* the one being replayed */
    uint64_t last_t;  /* of the latest event, for what is asked between events */
    uint64_t turn;    /* counts events: with several sources, indexes have no order */
    bool dropped;     /* events were lost: nothing is as at power-on */
    bool knows_tiles; /* the header names an architecture whose tiles the models know */
    bool requests;    /* `noc` events say what is asked for */
    bool landings;    /* NOC writes are seen arriving: memory changes then, not at the request */
    bool out_of_memory;
    bool waits;             /* who waits will be asked for */
    bool jobs_unsure;       /* .. of control code; brought up to date when it is asked */
    bool unexplained;       /* `layout` is not that of the trace */
    bool queue_unexplained; /* and `profile` not that of its queue */
    bool other_queue;       /* records of a command queue whose set-up is not that of `profile` */
    uint8_t kinds[COORDINATES][COORDINATES]; /* enum nocap_tile_kind of the board, by x and y */
    struct address_map addresses;
    struct tile_table tiles;
    uint8_t places_seen[1 << 13]; /* by coordinate: an access from outside is right, core/place.c */
    uint8_t places_reported[PLACE_CHIPS][1 << 13]; /* that it is none of that chip */
    const struct model_ops *const *models;         /* nocap_models */
    void *state[MODELS];                           /* of each model, by id */
    /* facts */
    struct queue_facts queues[QUEUES];
    uint32_t queue_count;
    struct ended ended[ENDED_MAX];
    uint32_t ended_count;
    struct raced raced[RACED]; /* the latest, a ring */
    uint32_t raced_next;
    fault_id request_fault;  /* of the request observed now, or of what it brings to host memory;
                                FAULT_NONE: it is right; owner: noc, read in `apply` */
    uint32_t due;            /* after this observation: enum due, and 1 << enum model_id of those
                                that have something to tell */
    uint32_t other_go_words; /* where an agent writes those of another layout, and none those of
                                the header's; 0: no such thing */
    /* A request that a core's stores made and that no event restates: observed next, if it is due.
     */
    struct nocap_event request;
    /* findings */
    /* By rule, what `fault` is where its condition holds: FAULT_UNREPORTED if the trace does not
     * show enough to judge it. Read after CHECK, by no model. */
    fault_id unreported[NOCAP_RULE_COUNT];
    uint32_t faults;        /* so many were reported */
    uint32_t faults_before; /* .. before what is observed now */
    fault_id fault;         /* what the latest CHECK found: FAULT_NONE if its condition held */
    fault_id follows;       /* what the violation that is reported follows from */
    bool harmless;          /* it does no harm here */
    struct unknown_kind unknown_kinds[UNKNOWN_KINDS]; /* in the order in which they were met */
    fault_id stray;                       /* of the latest store to where it must not go .. */
    uint64_t stray_turn;                  /* .. which was observed then */
    struct nocap_seen seen;               /* what is observed stands there */
    uint64_t exercised[NOCAP_RULE_COUNT]; /* also of rules that are not judged */
    nocap_diverged *diverged;
    nocap_requested *requested;
    nocap_requests_ended *requests_ended;
    nocap_judged *judged;
    nocap_missing *missing;
    nocap_unordered *unordered;
    nocap_launched_sink *launched;
    nocap_recorded_sink *recorded;
    void *context;
    /* While set, findings go here: whether they count, the future tells. */
    void (*withhold)(struct model *m, const struct tile *tile, const struct nocap_divergence *d);
    const struct nocap_elf_image *firmware[NOCAP_PROCESSOR_COUNT]; /* NULL: not given */
    uint64_t reported[NOCAP_RULE_COUNT]; /* index + 1 of the event of the latest finding */
    bool has_focus;                      /* this tile alone is asked for */
    struct nocap_xy focus;
};

/* What stands there on the header's board. */
static inline enum nocap_tile_kind model_tile_kind(const struct model *m, struct nocap_xy at)
{
    return at.x < COORDINATES && at.y < COORDINATES ? (enum nocap_tile_kind)m->kinds[at.x][at.y]
                                                    : NOCAP_TILE_NONE;
}

static inline bool model_is_tensix(const struct model *m, struct nocap_xy at)
{
    return model_tile_kind(m, at) == NOCAP_TILE_TENSIX;
}

/* That the request of this event was not waited for is known since. */
static inline fault_id raced_since(const struct model *m, uint64_t turn)
{
    for (unsigned i = 0; i < RACED; i++) {
        if (m->raced[i].turn == turn) {
            return m->raced[i].since;
        }
    }
    return FAULT_NONE;
}

/* The model has something to tell of this observation. */
static inline void model_apply_due(struct model *m, enum model_id id)
{
    m->due |= 1u << id;
}

/* What is reported once for several tiles is reported for this one all the same. */
bool asked_for(const struct model *m, const struct tile *tile);

enum { OBSERVED_TEXT = 256 }; /* bytes of what a finding says was observed */

#define END_INDEX (UINT64_MAX - 1) /* ends a list of indexes */

static inline struct event_ref now(const struct model *m)
{
    return (struct event_ref){m->event->index, m->event->t, m->event->by, m->turn};
}

void report_violation(struct model *m, const struct tile *tile, enum nocap_rule rule,
                      struct event_ref at, int thread, const uint64_t *related,
                      const char *expected, const char *observed, ...)
    __attribute__((format(printf, 8, 9)));

/* The condition of a rule was judged so many times. */
static inline void exercise(struct model *m, enum nocap_rule rule, uint64_t times)
{
    m->exercised[rule] += times;
}

/* For a violation that `report_violation` itself reports: counts the rule as exercised; false:
 * the trace does not show enough to judge it. */
static inline bool judges(struct model *m, enum nocap_rule rule)
{
    exercise(m, rule, 1);
    m->fault = m->unreported[rule];
    return m->fault == FAULT_NONE;
}

/* CHECK(model, tile, RULE, condition, RELATED(indexes), "what must be", "what was, %s", ...):
 * counts the rule as exercised and on failure tells whoever listens. CHECK_AT: judged now, certain
 * at another moment. */
#define RELATED(...) ((const uint64_t[]){__VA_ARGS__, END_INDEX})
#define NO_REFS      ((const uint64_t[]){END_INDEX})
#define CHECK_AT(m, tile, RULE, condition, at, related, expected, ...)                             \
    do {                                                                                           \
        (void)judges((m), RULE);                                                                   \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            report_violation((m), (tile), RULE, (at), -1, (related), (expected), __VA_ARGS__);     \
        }                                                                                          \
    } while (0)
#define CHECK(m, tile, RULE, condition, related, expected, ...)                                    \
    CHECK_AT(m, tile, RULE, condition, now(m), related, expected, __VA_ARGS__)

/* For CHECK, what was observed: a text of the model's own with a place for one number, %x or
 * %u. */
#define WITH_NUMBER(format, number) "%s", text_with_number((char[NUMBER_TEXT]){0}, format, number)
enum { NUMBER_TEXT = 160 };
const char *text_with_number(char text[NUMBER_TEXT], const char *format, uint32_t number);

/* After CHECK: the store observed goes where it must not. */
static inline void store_strays(struct model *m)
{
    if (m->fault != FAULT_NONE && m->fault != FAULT_UNREPORTED && m->withhold == NULL) {
        m->stray = m->fault;
        m->stray_turn = m->turn;
        m->due |= DUE_STRAY;
    }
}

/* FOLLOWING(model, since, CHECK(...)): judged by a value that is known only since `since`; a
 * violation follows from that fault. */
#define FOLLOWING(m, since, judgement)                                                             \
    do {                                                                                           \
        (m)->follows = (m)->fault = (since);                                                       \
        if ((m)->follows != FAULT_UNREPORTED) {                                                    \
            judgement;                                                                             \
        }                                                                                          \
        (m)->follows = FAULT_NONE;                                                                 \
    } while (0)
#define CHECK_AFTER(m, tile, RULE, since, ...)                                                     \
    FOLLOWING(m, since, CHECK(m, tile, RULE, __VA_ARGS__))

/* SEEING(model, xy, addr, size, CHECK(...)): judged by what these bytes of the tile hold; of a
 * violation it is asked who wrote them. */
#define SEEING(m, xy, address, bytes, judgement)                                                   \
    do {                                                                                           \
        (m)->seen = (struct nocap_seen){.at = (xy), .addr = (uint32_t)(address), .size = (bytes)}; \
        judgement;                                                                                 \
        (m)->seen.size = 0;                                                                        \
    } while (0)
/* CHECK_AFTER by what `bytes` bytes of `tile` at `address` hold. */
#define CHECK_SEEING(m, tile, address, bytes, RULE, since, ...)                                    \
    SEEING(m, (tile)->at, address, bytes, CHECK_AFTER(m, tile, RULE, since, __VA_ARGS__))

/* The same for a condition that is known to hold here. */
#define MARK_EXERCISED(m, RULE) exercise(m, RULE, 1)

/* Whether one of its dispatchers is at a tile. */
static inline bool queue_dispatches(const struct queue_facts *q, struct nocap_xy at)
{
    return nocap_xy_equal(at, q->at[QUEUE_DISPATCH]) ||
           nocap_xy_equal(at, q->at[QUEUE_SUBORDINATE]);
}

/* The queue that has a core at a tile; NULL: none. */
static inline const struct queue_facts *queue_at(const struct model *m, uint16_t chip,
                                                 struct nocap_xy at)
{
    for (uint32_t i = 0; i < m->queue_count; i++) {
        const struct queue_facts *q = &m->queues[i];
        if (q->chip == chip &&
            (nocap_xy_equal(at, q->at[QUEUE_PREFETCH]) || queue_dispatches(q, at))) {
            return q;
        }
    }
    return NULL;
}

/* Whether the queues of the chip were seen, and are all that it has. */
static inline bool queue_known(const struct model *m, uint16_t chip)
{
    bool used = false, others = false;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        used |= m->queues[i].chip == chip && m->queues[i].used;
        others |= m->queues[i].chip == chip && m->queues[i].others;
    }
    return used && !others;
}
/* Whether the chip has queues, and the trace shows the requests of all their dispatchers. */
static inline bool queue_dispatchers_seen(const struct model *m, uint16_t chip)
{
    bool any = false, all = true;
    for (uint32_t i = 0; i < m->queue_count; i++) {
        any |= m->queues[i].chip == chip;
        all &= m->queues[i].chip != chip || m->queues[i].dispatcher_seen;
    }
    return any && all;
}

/* Whether every request of a tile in scope is an event. A capture of the network may also show what
 * arrives, and not what was asked for. */
static inline bool noc_sees_requests(const struct model *m)
{
    return (m->header->observes & NOCAP_CLASS_NOC) != 0 && (m->requests || !m->landings);
}

#endif
