/* SPDX-License-Identifier: Apache-2.0 */
/* What all machines in software stand on: time, chance, events on their way out, the planned fault,
 * and how a routine is written that goes on later.
 *
 * A machine has this as its member `k`. What happens in it later stands in a timer, whose number
 * says what: an agent, a packet. An agent is a coroutine: a function that is called whenever its
 * time has come, does what the agent does in that instant, and says when it goes on. The CO_ macros
 * keep the place in `line`; what must survive from one instant to the next stands in a struct,
 * never in a local variable. */
#ifndef NOCAP_CAPTURE_KERNEL_H
#define NOCAP_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "formats/trace/event.h"

/* Takes one event; it and what it points to live until the call returns. Anything but NOCAP_OK ends
 * the run. */
typedef enum nocap_status nocap_machine_sink(void *context, const struct nocap_event *event,
                                             struct nocap_error *err);

enum {
    SIM_BUCKETS = 4096,   /* of the wheel of time, one a cycle; a multiple of 64 */
    SIM_NOTHING = 0xFFFF, /* no timer */
};

struct sim_timer {
    uint64_t at;   /* when it goes off */
    uint16_t next; /* in its list, which is a ring */
    bool armed;
};

struct sim_kernel {
    nocap_machine_sink *sink;
    void *context;
    struct nocap_error *err;
    enum nocap_status status;
    uint64_t now, random; /* cycles; never 0 */
    struct nocap_event event;
    bool again;       /* the agent goes on at once, in another routine */
    uint64_t variant; /* of the program */
    unsigned fault;   /* planned; 0: none */
    bool struck;
    /* timers: the last one of each bucket, a bit for each bucket that is not empty; those that go
       off later than the wheel reaches, and the first of their times */
    struct sim_timer *timer;
    uint64_t occupied[SIM_BUCKETS / 64];
    uint16_t bucket[SIM_BUCKETS];
    uint16_t far;
    uint64_t far_at;
};

/* ---- time.c ---- */

/* Gives it timers 0 .. count - 1; false: out of memory. */
bool sim_time_init(struct sim_kernel *k, uint32_t count);
/* The timer goes off at cycle `at`, now at the earliest; one that is armed already not before the
 * time that it had. */
void sim_arm(struct sim_kernel *k, uint16_t timer, uint64_t at);
/* The timer that goes off next, of several at one time the one that was armed first; `now` is set.
 * SIM_NOTHING: nothing will happen any more. */
uint16_t sim_next(struct sim_kernel *k);
/* When that will be; UINT64_MAX: never. */
uint64_t sim_peek(const struct sim_kernel *k);

/* ---- chance: the same for the same seed ---- */

static inline uint64_t sim_random(struct sim_kernel *k)
{
    k->random ^= k->random << 13;
    k->random ^= k->random >> 7;
    k->random ^= k->random << 17;
    return k->random;
}

/* One of 0..n-1. */
static inline uint32_t sim_below(struct sim_kernel *k, uint32_t n)
{
    return (uint32_t)((sim_random(k) & UINT32_MAX) * n >> 32);
}

/* A number that depends on the three only. */
static inline uint64_t sim_mix_seed(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + UINT64_C(0x9E3779B97F4A7C15) * (a + 1);
    for (unsigned i = 0; i < 2; i++) {
        x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
        x = (x ^ x >> 31) + b;
    }
    return x;
}

/* The same for what the program is made of. */
static inline uint64_t sim_mix(const struct sim_kernel *k, uint64_t a, uint64_t b)
{
    return sim_mix_seed(k->variant, a, b);
}

/* ---- the planned fault ---- */

/* Whether it is `fault` and has not struck yet. */
static inline bool sim_fault_planned(const struct sim_kernel *k, unsigned fault)
{
    return k->fault == fault && !k->struck;
}

/* The same where `here` is its occasion; then it strikes. */
static inline bool sim_strike(struct sim_kernel *k, unsigned fault, bool here)
{
    bool strikes = here && sim_fault_planned(k, fault);
    k->struck |= strikes;
    return strikes;
}

/* ---- events: a single struct is used again for each, so that none costs an allocation ---- */

/* k->event at `now`, of which the kind alone is known. */
static inline struct nocap_event *sim_event(struct sim_kernel *k, enum nocap_kind kind)
{
    struct nocap_event *e = &k->event;
    memset(e, 0, sizeof *e);
    e->t = k->now;
    e->kind = (uint8_t)kind;
    return e;
}

static inline struct nocap_event *sim_access(struct sim_kernel *k, enum nocap_kind kind,
                                             enum nocap_agent by, uint64_t addr, uint32_t size)
{
    struct nocap_event *e = sim_event(k, kind);
    e->by = (uint8_t)by;
    e->addr = addr;
    e->size = size;
    e->has = NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE;
    return e;
}

static inline void sim_set_tile(struct nocap_event *e, struct nocap_xy at)
{
    e->at = at;
    e->has |= NOCAP_F_AT;
}

static inline void sim_set_space(struct nocap_event *e, enum nocap_space space)
{
    e->space = (uint8_t)space;
    e->has |= NOCAP_F_SPACE;
}

static inline void sim_set_value(struct nocap_event *e, uint64_t value)
{
    e->value = value;
    e->has |= NOCAP_F_VALUE;
}

/* 0: it has none. */
static inline void sim_set_seq(struct nocap_event *e, uint64_t seq)
{
    if (seq != 0) {
        e->seq = seq;
        e->has |= NOCAP_F_SEQ;
    }
}

static inline void sim_set_data(struct nocap_event *e, const uint8_t *data, uint32_t size)
{
    e->data = data;
    e->data_size = size;
    e->has |= NOCAP_F_DATA;
}

/* A payload that is shown by its hash and first bytes. */
static inline void sim_set_head(struct nocap_event *e, uint64_t hash, const uint8_t *head,
                                uint32_t size)
{
    e->hash = hash;
    e->data = head;
    e->data_size = size;
    e->has |= NOCAP_F_HASH | NOCAP_F_HEAD;
}

/* A read that was done `n` times, `period` cycles apart. */
static inline void sim_set_repeats(struct nocap_event *e, uint64_t n, uint64_t period)
{
    if (n > 1) {
        e->n = n;
        e->t2 = e->t + (n - 1) * period;
        e->has |= NOCAP_F_N | NOCAP_F_T2;
    }
}

/* Hands the event to the sink. */
static inline void sim_emit(struct sim_kernel *k, const struct nocap_event *e)
{
    if (k->status == NOCAP_OK) {
        k->status = k->sink(k->context, e, k->err);
    }
}

/* ---- routines ----
 * `m` has a member k; `a` has `run`, `line`, and, where routines call each other, `up` and `depth`.
 */

#define CO_BEGIN(a)                                                                                \
    switch ((a)->line) {                                                                           \
    case 0:
#define CO_END(a) }

/* Goes on when what the statement asks for has come; `value`: what the routine returns. Two places
 * a line, so that a macro may pause once and wait once. */
#define CO_PAUSE(a, statement, value)                                                              \
    do {                                                                                           \
        statement;                                                                                 \
        (a)->line = 2 * __LINE__;                                                                  \
        return value;                                                                              \
    case 2 * __LINE__:;                                                                            \
    } while (0)

/* Goes on when the condition holds; until then, whenever the statement has it called. */
#define CO_UNTIL(a, condition, statement)                                                          \
    do {                                                                                           \
        (a)->line = 2 * __LINE__ + 1;                                                              \
        __attribute__((fallthrough));                                                              \
    case 2 * __LINE__ + 1:                                                                         \
        if (!(condition)) {                                                                        \
            statement;                                                                             \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* Goes on in another routine, at once. */
#define CO_GOTO(m, a, routine)                                                                     \
    do {                                                                                           \
        (a)->run = (routine);                                                                      \
        (a)->line = 0;                                                                             \
        (m)->k.again = true;                                                                       \
        return;                                                                                    \
    } while (0)

/* Does another routine, which ends with CO_RETURN, and goes on after it. */
#define CO_CALL(m, a, routine)                                                                     \
    do {                                                                                           \
        (a)->up[(a)->depth].run = (a)->run;                                                        \
        (a)->up[(a)->depth++].line = 2 * __LINE__;                                                 \
        CO_GOTO(m, a, routine);                                                                    \
    case 2 * __LINE__:;                                                                            \
    } while (0)
#define CO_RETURN(m, a)                                                                            \
    do {                                                                                           \
        (a)->depth--;                                                                              \
        (a)->run = (a)->up[(a)->depth].run;                                                        \
        (a)->line = (a)->up[(a)->depth].line;                                                      \
        (m)->k.again = true;                                                                       \
        return;                                                                                    \
    } while (0)

#endif
