/* Private to replay: what the state machines share. Every model keeps its state in the tile, says
 * with EXPECT what must be true at the point where it knows, then adopts what was observed and goes
 * on. */
#ifndef NOCAP_REPLAY_MODEL_H
#define NOCAP_REPLAY_MODEL_H

#include "formats/blackhole/cores.h"
#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"
#include "replay/engine.h"

/* What is known of a fact: a trace that was attached mid-run, or that lost events, leaves it open.
 */
enum known { UNKNOWN, NO, YES };

struct tile;
struct cq;
struct cert;

struct tile_table {
    struct tile **slots; /* open addressing by chip and coordinate */
    uint32_t mask, count;
    bool full; /* a tile was refused for want of room */
};

/* Where something became certain; a finding may be told later than that. */
struct moment {
    uint64_t index, t;
    uint8_t agent;
    uint64_t turn; /* of model.turn; 0 where it is not needed */
};

struct noc_endpoint;
struct noc_others;
struct trace_pace;
struct race;

struct model {
    const struct nocap_header *header;
    const struct nocap_mailbox_layout *layout;
    const struct nocap_mailbox_layout
        *other_layout; /* whose go words somebody writes; NULL: none */
    uint64_t
        turn; /* counts events as they are taken: with several sources, indexes have no order */
    bool layout_fits; /* somebody writes those of `layout` */
    const struct nocap_elf_image *firmware[NOCAP_PROCESSOR_COUNT]; /* NULL: not given */
    bool armed[NOCAP_RULE_COUNT];
    uint64_t exercised[NOCAP_RULE_COUNT];
    nocap_diverged *diverged;
    nocap_requested *requested;
    void *context;
    const struct nocap_event *event; /* the one being replayed */
    uint64_t last_t;                 /* of the latest event */
    bool dropped;                    /* events were lost: nothing is as at power-on */
    struct tile_table tiles;
    struct cq *cq;     /* the fast-dispatch command queue; NULL: the trace is not about one */
    struct cert *cert; /* AIE control code; NULL: the trace is not about it */
    bool knows_tiles;  /* the header names an architecture whose tiles this model knows */
    bool requests;     /* `noc` events say what is asked for */
    bool landings;     /* NOC writes are seen arriving: memory changes then, not at the request */
    bool out_of_memory;
    struct moment wc_write;   /* host bytes that may still sit in a write-combining buffer; index
                                 NO_INDEX: none */
    uint64_t unready_release; /* index of the release after which a tile is known not to have become
                                 ready */
    uint64_t told[NOCAP_RULE_COUNT]; /* index + 1 of the event of the latest finding: a multicast is
                                      * one act */
    uint64_t told_at;       /* index + 1 of the latest event while which a finding was told */
    struct tile *deferring; /* what is found there now counts only if its BRISC turns out to run */
    uint64_t (*accesses)[NOCAP_BY_COUNT][2]; /* by row of the tile map, agent, store */
    struct trace_pace *pace;                 /* pace.h */
    struct noc_endpoint *endpoint;           /* noc.h; NULL: the host has not touched it yet */
    struct noc_others *others;               /* noc.h; NULL: such a tile was not touched yet */
    struct race *race;                       /* race.h; NULL: no request was seen yet */
};

#define NO_INDEX  UINT64_MAX       /* of an event that was not observed */
#define END_INDEX (UINT64_MAX - 1) /* ends a list of indexes */

struct moment now(const struct model *m);
/* One of the rules from `first` to `last` was told of the present event. */
bool told_now(const struct model *m, enum nocap_rule first, enum nocap_rule last);

void diverge(struct model *m, const struct tile *tile, enum nocap_rule rule, struct moment at,
             int thread, const uint64_t *related, const char *expected, const char *observed, ...)
    __attribute__((format(printf, 8, 9)));

/* EXPECT(model, tile, RULE, condition, RELATED(indexes), "what must be", "what was, %s", ...):
 * counts the rule as exercised and on failure tells whoever listens. EXPECT_AT: judged now, certain
 * at another moment. */
#define RELATED(...) ((const uint64_t[]){__VA_ARGS__, END_INDEX})
#define NOTHING      ((const uint64_t[]){END_INDEX})
#define EXPECT_AT(m, tile, RULE, condition, at, related, expected, ...)                            \
    do {                                                                                           \
        if ((m)->armed[RULE]) {                                                                    \
            (m)->exercised[RULE]++;                                                                \
            if (__builtin_expect(!(condition), 0)) {                                               \
                diverge((m), (tile), RULE, (at), -1, (related), (expected), __VA_ARGS__);          \
            }                                                                                      \
        }                                                                                          \
    } while (0)
#define EXPECT(m, tile, RULE, condition, related, expected, ...)                                   \
    EXPECT_AT(m, tile, RULE, condition, now(m), related, expected, __VA_ARGS__)

/* The same for a condition that is known to hold here. */
#define HOLDS(m, RULE) ((void)((m)->exercised[RULE] += (m)->armed[RULE]))

/* One access to one tile, whatever kind of event it came from. */
struct access {
    uint64_t addr, size;
    const uint8_t *bytes; /* what was written or read */
    uint64_t known;       /* how many bytes of it, from the first on; the rest was not captured */
    uint64_t hash;        /* FNV-1a of all bytes, if has_hash */
    bool has_hash;
    bool store;
    uint8_t by; /* enum nocap_agent */
};

static inline bool touches(const struct access *a, uint64_t addr, uint64_t size)
{
    return a->addr < addr + size && addr < a->addr + a->size;
}

/* The byte or word at `addr` as this access has it; false if it is not in it, or not captured. */
static inline bool access_byte(const struct access *a, uint64_t addr, uint8_t *v)
{
    if (addr < a->addr || addr - a->addr >= a->known) {
        return false;
    }
    *v = a->bytes[addr - a->addr];
    return true;
}

static inline bool access_word(const struct access *a, uint64_t addr, uint32_t *v)
{
    uint64_t at = addr - a->addr;
    if (addr < a->addr || at >= a->known || a->known - at < sizeof *v) {
        return false;
    }
    const uint8_t *b = a->bytes + at;
    *v = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

/* Whether the word at `addr` may have been given `value` under `mask`: it was, or its bytes were
 * not captured. */
bool may_store(const struct access *a, uint64_t addr, uint32_t mask, uint32_t value);

/* Whether every request of a tile in scope is an event. A capture of the network may also show what
 * arrives, and not what was asked for. */
static inline bool noc_sees_requests(const struct model *m)
{
    return (m->header->observes & NOCAP_CLASS_NOC) != 0 && (m->requests || !m->landings);
}

#endif
