/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace leaves open when it ends, or at any moment before: who waits, for what, on whom,
 * since when. The models say what they know; what it adds up to - hung, at work, not to be told -
 * is the checker's. */
#ifndef NOCAP_REPLAY_WAITS_H
#define NOCAP_REPLAY_WAITS_H

#include "replay/core/engine.h"

/* One who can wait or be waited for. The host is one party, whatever tile it waits about; a job of
 * an AIE control processor is one of its own. */
struct nocap_party {
    uint16_t chip;
    bool has_tile;
    struct nocap_xy at; /* its tile; of the host: the tile that it waits about */
    uint8_t agent;      /* enum nocap_agent, or NOCAP_BY_UC0 + n; NONE: no agent */
    int32_t job;        /* of an AIE control processor, -1: none */
};

/* What is seen of a party's progress. Times in header units. */
struct nocap_progress {
    bool known;        /* its acts are observed; else only what others see of it */
    uint64_t index, t; /* its latest act, or the latest one upon it; index UINT64_MAX: none */
    uint64_t max_gap;  /* time that it ever took from what happened to it to its next act */
    uint64_t polls;    /* polls since that found everything as it was */
};

/* A party that does not go on by itself. Texts live until the call returns. */
struct nocap_wait {
    struct nocap_party who;
    struct nocap_party by; /* who would have to act; NONE: none is known that could */
    const char *what;  /* what it waits for: "go signal DONE at 0x373"; where it waits for no agent:
                          why it does not go on */
    const char *state; /* in two or three words: "in kernel", "polling" */
    const char *release;   /* what would release it; NULL: nothing is known that would */
    uint64_t since, index; /* the event with which it began; UINT64_MAX: not known */
    bool counted;
    uint64_t have, need; /* if counted: how far it is */
    bool certain;        /* nothing that could still happen ends it */
    bool erred;          /* it did wrong: what else it waits for does not release it */
    bool wedged;         /* looks like hardware: reads of all ones */
    bool said;           /* the trace says that it begins, and need not say that it ends; or it
                            need not end */
    int8_t thread;       /* Tensix thread of the core that is held, -1: none */
    struct nocap_progress progress;
    /* Where the wait can be seen: bytes of memory or registers. size 0: nowhere. */
    bool in_sysmem;
    uint64_t addr, size;
    /* Of an AIE job: the instruction that blocks, and on what, in the words of a `block` event;
     * NULL: none of them. */
    bool has_place;
    const char *why;
    uint64_t page, off;
};

typedef void nocap_wait_sink(void *context, const struct nocap_wait *wait);

/* Tells `sink` of every party that waits or is stuck now: tile by tile, then the command queue,
 * then the jobs of AIE control code. A party may wait for several things. To be called before
 * nocap_engine_finish. */
void nocap_engine_waits(struct nocap_engine *engine, nocap_wait_sink *sink, void *context);

/* What of the trace is none that is known: "mailbox", "command queue"; NULL: nothing. */
const char *nocap_engine_unexplained(const struct nocap_engine *engine);
/* Whether anything was observed that would show who waits: an agent that looked or went on, or the
 * go word of a tile. */
bool nocap_engine_shows_waits(const struct nocap_engine *engine);

/* Whether a command queue was in use and its TERMINATE not seen: more may be owed than shows. */
bool nocap_engine_queue_open(const struct nocap_engine *engine);
/* Whether the host released or launched a tile of which the trace shows neither the cores nor that
 * the host saw it answer; `since` when, the first of them. After nocap_engine_waits. */
bool nocap_engine_unanswered(const struct nocap_engine *engine, uint64_t *since);
/* Whether a queue is open of which the trace shows no more than that the host filled entries and
 * released pages: not what the host asked for, so not whether it waits. */
bool nocap_engine_queue_hidden(const struct nocap_engine *engine);
/* Whether a queue is open, or the host polls its own memory, and the trace does not show for what:
 * no wait is reported then. After nocap_engine_waits. */
bool nocap_engine_queue_unsure(const struct nocap_engine *engine);
/* Whether control code is at work of which the trace does not show, or not know, all jobs. After
 * nocap_engine_waits. */
bool nocap_engine_jobs_unsure(const struct nocap_engine *engine);
/* The latest event that says that events were lost; 0: none, or the first one. */
uint64_t nocap_engine_dropped_at(const struct nocap_engine *engine);

/* Whether the host timed out waiting for a tile and then took it into reset, at first: its last
 * poll.
 */
struct nocap_gave_up {
    uint64_t index, t;
    struct nocap_xy at;
};
bool nocap_engine_gave_up(const struct nocap_engine *engine, struct nocap_gave_up *last_poll);

/* Of the waits of the host for the end of a launch, or for news in its own memory, those that came
 * to an end: the longest, and how much longer it was than every other. */
struct nocap_slow_wait {
    uint64_t index, until; /* events: the first poll, and the one that found it */
    uint64_t took, others; /* times: this one, the longest of the others */
    uint64_t count;        /* of all of them */
    bool in_memory;        /* of the host, at `addr`; else of tile `at` */
    struct nocap_xy at;
    uint64_t addr;
};
/* False: none stands out. */
bool nocap_engine_slow_wait(const struct nocap_engine *engine, struct nocap_slow_wait *wait);

/* Of all parties together; `end` is the latest time that the trace tells of, polls included. */
struct nocap_progress nocap_engine_progress(const struct nocap_engine *engine, uint64_t *end);

#endif
