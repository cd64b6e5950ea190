/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and tokens within one page, and what of them concerns other columns. */
#include <stdlib.h>
#include <string.h>

#include "checker/aie/lint_private.h"
#include "formats/aie/operands.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

enum { CYCLE_TEXT = LINT_TEXT_MAX };

/* ---- tokens ---- */

/* A job that waits for tokens that another job of the page waits for already. */
static void judge_waits(struct lint *l)
{
    const struct lint_code *code = l->code;
    static const uint32_t channel_bits = NOCAP_AIE_TILE_BITS + 8;
    uint16_t *owner = NULL; /* by channel: the job, from 1 */
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct lint_op *op = &code->ops[i];
        uint32_t tile = V(op, WAIT_TCTS, tile_id), actor = V(op, WAIT_TCTS, actor_id);
        uint32_t channel = tile << 8 | actor;
        if (op->info->opcode != NOCAP_AIE_WAIT_TCTS || channel >> channel_bits != 0) {
            continue;
        }
        if (owner == NULL && (owner = calloc((size_t)1 << channel_bits, sizeof *owner)) == NULL) {
            l->out_of_memory = true;
            return;
        }
        uint16_t job = (uint16_t)(code->job_of[i] + 1);
        if (!LINT_CHECK(l, AIE_037, owner[channel] == 0 || owner[channel] == job,
                        LINT_HERE(l, op->off), "one job that waits for this channel",
                        "job %u waits for a channel that another job waits for",
                        code->jobs[code->job_of[i]].id)) {
            job = owner[channel];
        }
        owner[channel] = job;
    }
    free(owner);
}

/* ---- local barriers ---- */

/* How the jobs of the page use one local barrier. */
struct usage {
    uint32_t op;           /* of its first use */
    uint32_t participants; /* as the first use says */
    uint32_t users;        /* distinct jobs */
    uint32_t times;        /* how often the first job uses it */
    uint32_t now, job;     /* how often this job uses it */
    bool differ;           /* numbers, or times */
};

static void note_use(struct usage *u, uint32_t op, uint32_t job, uint32_t participants)
{
    if (u->users == 0) {
        *u = (struct usage){.op = op, .participants = participants, .job = LINT_NONE};
    }
    if (u->job != job) {
        u->differ |= u->users > 1 && u->now != u->times;
        u->job = job;
        u->now = 0;
        u->users++;
    }
    u->now++;
    u->times = u->users == 1 ? u->now : u->times;
    u->differ |= participants != u->participants;
}

/* Whether another page of the column has a job that uses this barrier. */
static bool used_elsewhere(const struct lint *l, uint32_t barrier)
{
    for (size_t i = 0; i < l->image->page_count; i++) {
        const struct nocap_aie_page *page = &l->image->pages[i];
        struct nocap_aie_walker walker;
        if (page == l->code->page || page->uc != l->code->page->uc ||
            page->group != l->code->page->group) {
            continue;
        }
        nocap_aie_walk_begin(&walker, page, l->dialect);
        while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
            if (walker.insn.info->opcode == NOCAP_AIE_LOCAL_BARRIER &&
                walker.insn.value[NOCAP_AIE_LOCAL_BARRIER_local_barrier_id] == barrier) {
                return true;
            }
        }
    }
    return false;
}

static bool judge_usage(struct lint *l, uint32_t barrier, struct usage *u)
{
    const struct lint_op *op = &l->code->ops[u->op];
    bool times = u->users > 1 && u->now != u->times;
    bool holds = !u->differ && !times && u->participants == u->users && u->participants != 0;
    bool judged = lint_judged(l, AIE_041);
    l->exercised[AIE_041]++;
    l->exercised[AIE_042]++;
    if (holds) {
        return true;
    }
    if (!judged && !(u->participants > u->users && used_elsewhere(l, barrier))) {
        return false;
    }
    lint_say(l, judged ? AIE_041 : AIE_042, NOCAP_ERROR, LINT_HERE(l, op->off),
             judged ? "as many participants as jobs of the page that use it, equally often"
                    : "all jobs that use it in this page",
             "$lb%u for %u participants, used by %u job%s%s", barrier, u->participants, u->users,
             u->users == 1 ? "" : "s", u->differ || times ? ", not in the same way" : "");
    return false;
}

static bool judge_barriers(struct lint *l)
{
    const struct lint_code *code = l->code;
    struct usage usage[NOCAP_AIE_LOCAL_BARRIERS] = {{0}};
    bool hold = true;
    for (uint32_t i = 0; i < code->op_count; i++) {
        const struct lint_op *op = &code->ops[i];
        uint32_t barrier = V(op, LOCAL_BARRIER, local_barrier_id);
        if (op->info->opcode == NOCAP_AIE_LOCAL_BARRIER && barrier < NOCAP_AIE_LOCAL_BARRIERS) {
            note_use(&usage[barrier], i, code->job_of[i], V(op, LOCAL_BARRIER, num_participants));
        }
    }
    for (uint32_t b = 0; b < NOCAP_AIE_LOCAL_BARRIERS; b++) {
        if (usage[b].users != 0) {
            hold &= judge_usage(l, b, &usage[b]);
        }
    }
    return hold;
}

/* ---- deadlock in a page ---- */

static void describe_job(char *text, const struct lint_code *code, uint32_t job, uint32_t op)
{
    size_t used = strlen(text);
    snprintf(text + used, CYCLE_TEXT - used, "%sjob %u%s is blocked at $lb%u (offset %u)",
             used == 0 ? "" : " and waits for ", code->jobs[job].id, used == 0 ? "" : ", which",
             V(&code->ops[op], LOCAL_BARRIER, local_barrier_id), code->ops[op].off);
}

/* A job that has not arrived at the barrier at which `job` stands, and stands still elsewhere, or
 * has not begun; LINT_NONE: none. */
static uint32_t missing(const struct lint_code *code, const struct lint_order *order, uint32_t job)
{
    uint32_t op = lint_order_blocked(order, job);
    uint32_t barrier = V(&code->ops[op], LOCAL_BARRIER, local_barrier_id);
    for (uint32_t j = 0; j < code->job_count; j++) {
        uint32_t at = lint_order_blocked(order, j);
        bool here =
            at != LINT_NONE && V(&code->ops[at], LOCAL_BARRIER, local_barrier_id) == barrier;
        uint32_t from = at != LINT_NONE ? at : code->jobs[j].first;
        bool over = at == LINT_NONE && lint_order_started(order, j);
        for (uint32_t i = from; !here && !over && i < code->jobs[j].last; i++) {
            if (code->ops[i].info->opcode == NOCAP_AIE_LOCAL_BARRIER &&
                V(&code->ops[i], LOCAL_BARRIER, local_barrier_id) == barrier) {
                return j;
            }
        }
    }
    return LINT_NONE;
}

/* Follows who waits for whom from the first job that stands still, until a job comes twice. */
static void report_cycle(struct lint *l, const struct lint_order *order, uint32_t job)
{
    const struct lint_code *code = l->code;
    char text[CYCLE_TEXT] = "";
    bool seen[LINT_JOBS_MAX] = {false};
    uint32_t first = lint_order_blocked(order, job);
    while (job != LINT_NONE && !seen[job] && lint_order_blocked(order, job) != LINT_NONE) {
        seen[job] = true;
        describe_job(text, code, job, lint_order_blocked(order, job));
        job = missing(code, order, job);
    }
    if (job != LINT_NONE && !seen[job]) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 " and waits for job %u, which is not launched before", code->jobs[job].id);
    } else if (job != LINT_NONE) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " and waits for job %u", code->jobs[job].id);
    }
    lint_say(l, AIE_043, NOCAP_ERROR, LINT_HERE(l, code->ops[first].off),
             "barriers in an order in which all jobs can pass them", "%s", text);
}

static void judge_deadlock(struct lint *l)
{
    struct lint_order *order = lint_order_new(l->code);
    bool barriers = false;
    if (order == NULL) {
        l->out_of_memory = true;
        return;
    }
    for (uint32_t j = 0; j < l->code->job_count; j++) {
        if (lint_order_blocked(order, j) != LINT_NONE) {
            report_cycle(l, order, j);
            l->broken_local = true;
            break;
        }
    }
    for (uint32_t i = 0; i < l->code->op_count; i++) {
        barriers |= l->code->ops[i].info->opcode == NOCAP_AIE_LOCAL_BARRIER;
    }
    l->exercised[AIE_043] += barriers;
    lint_order_free(order);
}

/* ---- what concerns more than this page ---- */

static void remark(struct lint *l, struct lint_records *list, uint32_t i, uint32_t a, uint32_t b,
                   uint32_t c)
{
    const struct nocap_aie_page *page = l->code->page;
    const struct lint_record r = {.group = page->group,
                                  .uc = page->uc,
                                  .page = page->index,
                                  .off = l->code->ops[i].off,
                                  .job = l->code->job_of[i],
                                  .a = a,
                                  .b = b,
                                  .c = c};
    lint_record(l, list, &r);
}

/* A task with the tokens that it may send: one, or as often as it is repeated. */
static void remark_task(struct lint *l, uint32_t i, uint32_t queue, uint32_t value)
{
    uint32_t repeats = value >> NOCAP_AIE_TASK_REPEAT_SHIFT & NOCAP_AIE_TASK_REPEAT_MASK;
    bool token = (value & NOCAP_AIE_TASK_TOKEN) != 0;
    remark(l, &l->tasks, i, queue, token ? 1 + repeats : 0, 0);
}

/* Words of a descriptor that go to task queues. */
static void remark_queues(struct lint *l, uint32_t i, uint32_t from, const struct nocap_aie_bd *bd)
{
    const struct lint_code *code = l->code;
    uint32_t low = (uint32_t)bd->remote, queue;
    for (uint32_t next = low;
         nocap_aie_next_queue(l->chip, next, &queue) && (queue - low) / 4 < bd->length;
         next = queue + 4) {
        uint64_t at = (uint64_t)from + (queue - low);
        if (at + 4 <= code->limit) {
            remark_task(l, i, queue, nocap_aie_u32(code->page->bytes + at));
        }
    }
}

static void remark_chain(struct lint *l, uint32_t i, uint32_t at)
{
    const struct lint_code *code = l->code;
    struct nocap_aie_bd bd = {.next = true};
    for (; bd.next && at % NOCAP_AIE_BD_SIZE == 0 && at + NOCAP_AIE_BD_SIZE <= code->limit;
         at += NOCAP_AIE_BD_SIZE) {
        nocap_aie_bd_decode(code->page->bytes + at, &bd);
        l->hidden_tasks |= bd.external || !bd.local_relative || bd.remote >> 32 != 0;
        remark_queues(l, i, at + bd.local, &bd);
    }
}

static void remark_write(struct lint *l, uint32_t i)
{
    const struct lint_op *op = &l->code->ops[i];
    uint32_t address = op->value[0], flags = 0;
    switch (op->info->opcode) {
    case NOCAP_AIE_WRITE_32:
        if (nocap_aie_is_task_queue(l->chip, address)) {
            remark_task(l, i, address, V(op, WRITE_32, value));
        }
        break;
    case NOCAP_AIE_MASK_WRITE_32:
        l->hidden_tasks |= nocap_aie_is_task_queue(l->chip, address);
        break;
    case NOCAP_AIE_WRITE_32_D:
        flags = V(op, WRITE_32_D, flags);
        address = V(op, WRITE_32_D, address);
        if ((flags & NOCAP_AIE_ADDRESS_IS_CONST) == 0) {
            l->hidden_tasks = true;
        } else if (nocap_aie_is_task_queue(l->chip, address)) {
            l->hidden_tasks |= (flags & NOCAP_AIE_VALUE_IS_CONST) == 0;
            remark_task(l, i, address, V(op, WRITE_32_D, value));
        }
        break;
    default: break;
    }
}

static void remark_op(struct lint *l, uint32_t i)
{
    const struct lint_op *op = &l->code->ops[i];
    uint32_t chain;
    switch (op->info->opcode) {
    case NOCAP_AIE_LOCAL_BARRIER:
    case NOCAP_AIE_REMOTE_BARRIER:
    case NOCAP_AIE_LAUNCH_JOB:
        if (l->image->column_count > 1 || op->info->opcode == NOCAP_AIE_REMOTE_BARRIER) {
            remark(l, &l->sync, i, op->info->opcode, op->value[0], op->value[1]);
        }
        break;
    case NOCAP_AIE_WAIT_TCTS:
        remark(l, &l->waits, i, op->value[0], op->value[1], op->value[2]);
        break;
    case NOCAP_AIE_UC_DMA_WRITE_DES:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC:
        if (lint_chain_of(op, &chain)) {
            remark_chain(l, i, chain);
        }
        break;
    default: remark_write(l, i); break;
    }
}

/* Jobs with what they synchronize with, for the columns together. */
static void remark_jobs(struct lint *l, size_t sync_before)
{
    const struct lint_code *code = l->code;
    for (uint32_t j = 0; j < code->job_count && l->sync.count > sync_before; j++) {
        remark(l, &l->jobs, code->jobs[j].first, code->jobs[j].id, code->jobs[j].deferred, 0);
    }
}

void lint_local(struct lint *l)
{
    size_t sync_before = l->sync.count;
    for (uint32_t i = 0; i < l->code->op_count; i++) {
        remark_op(l, i);
    }
    remark_jobs(l, sync_before);
    judge_waits(l);
    if (l->code->bad_barrier || !judge_barriers(l)) {
        l->code->bad_barrier = l->broken_local = true;
        return;
    }
    if (!l->code->bad_launch) {
        judge_deadlock(l);
    }
}
