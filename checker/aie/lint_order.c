/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of one page, run as far as barriers and launches let them. Every job has a clock: of
 * each other job, the last op that is known to be over. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/aie/lint_private.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

enum { BARRIERS = UINT8_MAX + 1 };

/* What a job knows from an op on. */
struct snapshot {
    uint16_t op, next; /* op index in the page; the job's snapshot before it, from 1; 0: none */
    uint16_t *clock;   /* by job: ops up to here are over; 0: nothing */
};

struct lint_order {
    const struct lint_code *code;
    struct snapshot *snapshots;
    size_t count;
    uint16_t *clocks; /* one a job, as of now */
    uint16_t *last;   /* newest snapshot of each job, from 1 */
    uint16_t *at;     /* op of each job */
    bool *started, *waiting;
};

void lint_order_free(struct lint_order *o)
{
    if (o == NULL) {
        return;
    }
    for (size_t i = 0; i < o->count; i++) {
        free(o->snapshots[i].clock);
    }
    free(o->snapshots);
    free(o->clocks);
    free(o->last);
    free(o->at);
    free(o->started);
    free(o->waiting);
    free(o);
}

static uint16_t *clock_of(const struct lint_order *o, uint32_t job)
{
    return o->clocks + (size_t)job * o->code->job_count;
}

/* Keeps what the job knows from its next op on; false: no memory. */
static bool take_snapshot(struct lint_order *o, uint32_t job)
{
    size_t size = o->code->job_count * sizeof(uint16_t);
    struct snapshot *s = LIST_NEXT(o->snapshots, o->count);
    if (s == NULL) {
        return false;
    }
    *s = (struct snapshot){.op = o->at[job], .next = o->last[job], .clock = malloc(size + 1)};
    if (s->clock == NULL) {
        return false;
    }
    memcpy(s->clock, clock_of(o, job), size);
    o->last[job] = (uint16_t)++o->count;
    return true;
}

static void join(const struct lint_order *o, uint16_t *into, const uint16_t *from)
{
    for (uint32_t j = 0; j < o->code->job_count; j++) {
        into[j] = from[j] > into[j] ? from[j] : into[j];
    }
}

/* All that wait at the barrier go on, and know what each of them knew. */
static bool release(struct lint_order *o, uint32_t barrier)
{
    const struct lint_code *code = o->code;
    uint16_t *all = calloc(code->job_count, sizeof *all);
    bool ok = all != NULL;
    for (int pass = 0; pass < 2 && ok; pass++) {
        for (uint32_t j = 0; j < code->job_count && ok; j++) {
            const struct lint_op *op = &code->ops[o->at[j]];
            if (!o->waiting[j] || V(op, LOCAL_BARRIER, local_barrier_id) != barrier) {
                continue;
            }
            if (pass == 0) {
                clock_of(o, j)[j] = o->at[j];
                join(o, all, clock_of(o, j));
            } else {
                join(o, clock_of(o, j), all);
                o->waiting[j] = false;
                o->at[j]++;
                ok = take_snapshot(o, j);
            }
        }
    }
    free(all);
    return ok;
}

static bool launch(struct lint_order *o, uint32_t by, uint32_t id)
{
    for (uint32_t j = 0; j < o->code->job_count; j++) {
        if (o->code->jobs[j].id == id && o->code->jobs[j].deferred && !o->started[j]) {
            o->started[j] = true;
            clock_of(o, by)[by] = o->at[by];
            join(o, clock_of(o, j), clock_of(o, by));
            return take_snapshot(o, j);
        }
    }
    return true;
}

/* Runs a job up to its next barrier, or its end; false: no memory. */
static bool run_job(struct lint_order *o, uint32_t job, bool *moved)
{
    const struct lint_code *code = o->code;
    while (o->started[job] && !o->waiting[job] && o->at[job] < code->jobs[job].last) {
        const struct lint_op *op = &code->ops[o->at[job]];
        *moved = true;
        if (op->info->opcode == NOCAP_AIE_LOCAL_BARRIER) {
            o->waiting[job] = true;
            return true;
        }
        if (op->info->opcode == NOCAP_AIE_LAUNCH_JOB &&
            !launch(o, job, V(op, LAUNCH_JOB, job_id))) {
            return false;
        }
        o->at[job]++;
    }
    return true;
}

/* Releases the barriers that have all they wait for; false: no memory. */
static bool release_full(struct lint_order *o, bool *moved)
{
    uint32_t arrived[BARRIERS] = {0}, wanted[BARRIERS] = {0};
    for (uint32_t j = 0; j < o->code->job_count; j++) {
        if (o->waiting[j]) {
            const struct lint_op *op = &o->code->ops[o->at[j]];
            arrived[V(op, LOCAL_BARRIER, local_barrier_id)]++;
            wanted[V(op, LOCAL_BARRIER, local_barrier_id)] = V(op, LOCAL_BARRIER, num_participants);
        }
    }
    for (uint32_t b = 0; b < BARRIERS; b++) {
        if (arrived[b] != 0 && arrived[b] >= wanted[b]) {
            *moved = true;
            if (!release(o, b)) {
                return false;
            }
        }
    }
    return true;
}

static bool run(struct lint_order *o)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t j = 0; j < o->code->job_count; j++) {
            if (!run_job(o, j, &moved)) {
                return false;
            }
        }
        if (!release_full(o, &moved)) {
            return false;
        }
    }
    return true;
}

struct lint_order *lint_order_new(const struct lint_code *code)
{
    struct lint_order *o = calloc(1, sizeof *o);
    uint32_t n = code->job_count;
    if (o == NULL) {
        return NULL;
    }
    o->code = code;
    o->clocks = calloc((size_t)n * n + 1, sizeof *o->clocks);
    o->last = calloc(n + 1, sizeof *o->last);
    o->at = calloc(n + 1, sizeof *o->at);
    o->started = calloc(n + 1, sizeof *o->started);
    o->waiting = calloc(n + 1, sizeof *o->waiting);
    bool ok = o->clocks != NULL && o->last != NULL && o->at != NULL && o->started != NULL &&
              o->waiting != NULL;
    for (uint32_t j = 0; j < n && ok; j++) {
        o->at[j] = (uint16_t)code->jobs[j].first;
        o->started[j] = !code->jobs[j].deferred;
    }
    if (!ok || !run(o)) {
        lint_order_free(o);
        return NULL;
    }
    return o;
}

bool lint_order_before(const struct lint_order *o, uint32_t ja, uint32_t a, uint32_t jb, uint32_t b)
{
    if (ja == jb) {
        return a < b;
    }
    uint16_t i = o->last[jb];
    while (i != 0 && o->snapshots[i - 1].op > b) {
        i = o->snapshots[i - 1].next;
    }
    return i != 0 && o->snapshots[i - 1].clock[ja] > a;
}

uint32_t lint_order_blocked(const struct lint_order *o, uint32_t job)
{
    return o->waiting[job] ? o->at[job] : LINT_NONE;
}

bool lint_order_started(const struct lint_order *o, uint32_t job)
{
    return o->started[job];
}
