/* SPDX-License-Identifier: Apache-2.0 */
/* The reference model: feeds events to the state machines of the protocols and hears where reality
 * and protocol part. It knows what must be true, not how bad it is when it is not: severity,
 * waivers and reports are the checker's. */
#ifndef NOCAP_REPLAY_ENGINE_H
#define NOCAP_REPLAY_ENGINE_H

#include "base/status.h"
#include "formats/aie/image.h"
#include "formats/blackhole/cores.h"
#include "formats/elf_image.h"
#include "formats/trace/event.h"
#include "formats/trace/header.h"
#include "replay/core/rule_ids.h"

#define NOCAP_RELATED_MAX 8
#define NOCAP_UCS         224 /* AIE control processors that a trace can name */

/* The bytes of a tile that a model has looked at; size 0: none. */
struct nocap_seen {
    struct nocap_xy at;
    uint32_t addr, size;
};

/* One divergence. Texts live until the call returns. */
struct nocap_divergence {
    enum nocap_rule rule;
    /* Faults are counted from 1. `fault`: the one that this is, or that it follows from; then
     * `follows` is set: the model judged by a value that it knows only since that fault. */
    uint32_t fault;
    bool follows;
    bool harmless;     /* against the rule, and known to do no harm here: a note */
    uint64_t present;  /* the event that was replayed when it was found; UINT64_MAX: the end */
    uint64_t now;      /* time of that event */
    uint32_t src;      /* .. and its source */
    uint64_t index, t; /* the event at which it became certain */
    uint16_t chip;
    bool has_tile;
    struct nocap_xy at;
    uint8_t agent; /* enum nocap_agent; NONE if no agent in particular */
    int8_t thread; /* Tensix thread, -1: none */
    const char *expected, *observed;
    /* Where what was observed stood: before the event of `index`, and at the end of the trace if
     * that is when it was found. */
    struct nocap_seen seen;
    uint64_t related[NOCAP_RELATED_MAX]; /* indexes of the events that made it so */
    uint32_t related_count;
};

typedef void nocap_diverged(void *context, const struct nocap_divergence *divergence);

/* A request that shows only as stores to registers, as a `noc` event. Lives until the call returns.
 */
typedef void nocap_requested(void *context, const struct nocap_event *request);

/* The event being replayed shows, by a barrier or a polled counter, that requests of one interface
 * are over: those of this kind up to the one of `index`. */
struct nocap_requests_end {
    uint16_t chip;
    struct nocap_xy at; /* the initiator */
    uint8_t noc, kind;  /* enum nocap_requests */
    uint64_t index;
    uint64_t t; /* of the event that shows it */
};
typedef void nocap_requests_ended(void *context, const struct nocap_requests_end *end);
/* Events of the source are missing since. */
typedef void nocap_missing(void *context, uint32_t src, uint64_t since);
/* What the rule said of the tile so far is not sure, or of one Tensix thread, -1: all: the events
 * have no certain order. */
typedef void nocap_unordered(void *context, uint16_t chip, struct nocap_xy at, int thread,
                             enum nocap_rule rule);
/* An event was replayed. Lives until the call returns. */
typedef void nocap_judged(void *context, const struct nocap_event *event);
/* A launch of a tile, from GO to DONE as far as both were seen. Indexes that no event was seen for
 * are UINT64_MAX. */
struct nocap_launched {
    uint16_t chip;
    struct nocap_xy at;
    uint8_t go_by, done_by; /* enum nocap_agent: who stored GO; who stored DONE, or read it */
    bool preloaded;         /* its message started it, without GO */
    bool has_enables;       /* its launch message is known */
    uint32_t enables;
    uint64_t go_index, go_t, done_index, done_t;
    struct {
        bool entered, left;
        uint64_t enter_t, exit_t;
    } kernels[NOCAP_PROCESSOR_COUNT]; /* BRISC, NCRISC, TRISC0 to TRISC2 */
};
/* Told when it is over, or nothing is known of it any more, and at the end of the trace of one that
 * is not. */
typedef void nocap_launched_sink(void *context, const struct nocap_launched *launch);

/* A step of a command-queue record. The record is known by the event that published it. */
enum nocap_record_step {
    NOCAP_RECORD_PUBLISHED,
    NOCAP_RECORD_FETCHED,
    NOCAP_RECORD_LANDED,
    NOCAP_RECORD_RELAYED, /* its first bytes are on their way to the dispatcher */
    NOCAP_RECORD_HANDED,  /* its pages are published to the dispatcher */
    NOCAP_RECORD_EXECUTED,
    NOCAP_RECORD_STEPS
};
struct nocap_recorded {
    uint16_t chip;
    struct nocap_xy prefetch; /* tile of its queue */
    enum nocap_record_step step;
    uint64_t record;   /* index of the event that published it */
    uint32_t part;     /* which of the commands that it published, from 0 on */
    uint64_t index, t; /* of this step */
    /* of NOCAP_RECORD_PUBLISHED */
    bool has_slot, has_addr, has_command;
    uint32_t slot, addr, size, command; /* addr: sysmem offset; command: of the dispatcher */
};
typedef void nocap_recorded_sink(void *context, const struct nocap_recorded *step);

struct nocap_engine_options {
    size_t size; /* sizeof(struct nocap_engine_options) */
    /* By rule: whether the trace shows enough to judge it. A rule whose event classes were not
     * observed must be off, since the absence of an event then means nothing. NULL: all on. */
    const bool *observable;
    /* By rule: whether it is wanted. Models that no such rule needs do not run;
     * of those that run all rules are reported. NULL: all. */
    const bool *wanted;
    nocap_diverged *diverged; /* may be NULL */
    void *context;
    const struct nocap_elf_image *const
        *firmware; /* by enum nocap_agent BRISC..TRISC2; NULL entries: not given */
    bool waits;    /* waits (replay/core/waits.h) and the places of cores will be asked for */
    const struct nocap_aie_image *const
        *control_code; /* by number of the uC, NOCAP_UCS of them; NULL entries: not given */
    nocap_requested *requested;    /* may be NULL */
    nocap_requests_ended *ended;   /* may be NULL */
    nocap_judged *judged;          /* may be NULL */
    nocap_missing *missing;        /* may be NULL */
    nocap_unordered *unordered;    /* may be NULL */
    nocap_launched_sink *launched; /* may be NULL */
    nocap_recorded_sink *recorded; /* may be NULL */
    bool unexplained;       /* the header's mailbox is not that of the trace: waits are unknown */
    bool queue_unexplained; /* the same of its command queue, which is not followed */
    /* What a multicast does wrong is reported at the first tile of its rectangle; and at this one.
     */
    bool has_tile;
    struct nocap_xy tile;
    /* A second thread judges, if one can be started: what is reported comes from there, and all
     * other calls but nocap_engine_feed and nocap_engine_forget need nocap_engine_settle before. */
    bool beside;
};

struct nocap_engine;

/* The header and the firmware images must outlive the engine. */
enum nocap_status nocap_engine_new(struct nocap_engine **engine, const struct nocap_header *header,
                                   const struct nocap_engine_options *options,
                                   struct nocap_error *err);
void nocap_engine_free(struct nocap_engine *engine);

/* Events in the order in which they took effect (nocap_order_* brings those of several sources into
 * it). */
enum nocap_status nocap_engine_feed(struct nocap_engine *engine, const struct nocap_event *events,
                                    size_t count, struct nocap_error *err);
/* All that was fed is judged. */
enum nocap_status nocap_engine_settle(struct nocap_engine *engine, struct nocap_error *err);
/* The same, and events that are fed from now on are judged where they are fed. */
enum nocap_status nocap_engine_settle_alone(struct nocap_engine *engine, struct nocap_error *err);
/* Events are missing between those that were fed and those to come: nothing is known any more. */
void nocap_engine_forget(struct nocap_engine *engine);
/* Whether the trace names more than NOCAP_TILES_MAX tiles: those beyond are not followed. */
enum { NOCAP_TILES_MAX = 4096 };
bool nocap_engine_full(const struct nocap_engine *engine);

/* Where go words were written if that fits another mailbox layout than the header's, and none were
 * where the header's has them; else 0. */
uint32_t nocap_engine_other_go_words(const struct nocap_engine *engine);
/* Whether there were records of a command queue that was set up otherwise than the profile has it,
 * and none of another one: they were not judged. */
bool nocap_engine_other_queue(const struct nocap_engine *engine);

/* The trace ends here: what is still pending is judged. `cut`: it was cut short, so a missing end
 * proves nothing. */
enum nocap_status nocap_engine_finish(struct nocap_engine *engine, bool cut,
                                      struct nocap_error *err);

/* How many events were lost, as the trace tells; at most UINT64_MAX. */
uint64_t nocap_engine_dropped(const struct nocap_engine *engine);

/* How often each rule's condition was evaluated on known state; NOCAP_RULE_COUNT entries. Those of
 * every event (TRC) are not counted. */
const uint64_t *nocap_engine_exercised(struct nocap_engine *engine);

#endif
