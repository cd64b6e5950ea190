/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a page: who launches whom, what registers hold. A job is a straight line, so that
 * what stands before is what happened before. */
#include <stdio.h>

#include "checker/aie/lint_private.h"

#define V(op, INSN, name) ((op)->value[NOCAP_AIE_##INSN##_##name])

enum { IDLE_RUN_MAX = 32 }; /* so many NOP and YIELD in a row are no small delay any more */

/* ---- launches ---- */

static uint32_t find_job(const struct lint_code *code, uint32_t id)
{
    for (uint32_t j = 0; j < code->job_count; j++) {
        if (code->jobs[j].id == id) {
            return j;
        }
    }
    return LINT_NONE;
}

/* One LAUNCH_JOB; `launches` counts by job. Whether it is right. */
static bool judge_launch(struct lint *l, const struct lint_op *op, uint8_t *launches)
{
    struct lint_code *code = l->code;
    uint32_t id = V(op, LAUNCH_JOB, job_id), job = find_job(code, id);
    bool deferred = job != LINT_NONE && code->jobs[job].deferred;
    struct lint_place here = LINT_HERE(l, op->off);
    enum nocap_rule rule = job == LINT_NONE ? AIE_019 : lint_first(l, AIE_019, AIE_022);
    l->exercised[AIE_019]++;
    l->exercised[AIE_022] += deferred;
    if (!deferred) {
        lint_say(l, rule, NOCAP_ERROR, here, "a deferred job of the same page",
                 "launch of job %u, %s", id,
                 job == LINT_NONE ? "which the page does not have" : "which starts by itself");
        return false;
    }
    launches[job] = launches[job] < UINT8_MAX ? launches[job] + 1 : launches[job];
    return LINT_CHECK(l, AIE_020, launches[job] == 1, here, "one launch of each deferred job",
                      "job %u launched again", id);
}

/* Deferred jobs that run: launched by one that runs. */
static void mark_running(const struct lint_code *code, bool *running)
{
    bool more = true;
    for (uint32_t j = 0; j < code->job_count; j++) {
        running[j] = !code->jobs[j].deferred;
    }
    while (more) {
        more = false;
        for (uint32_t j = 0; j < code->job_count; j++) {
            for (uint32_t i = code->jobs[j].first; running[j] && i < code->jobs[j].last; i++) {
                const struct lint_op *op = &code->ops[i];
                uint32_t target = op->info->opcode == NOCAP_AIE_LAUNCH_JOB
                                      ? find_job(code, V(op, LAUNCH_JOB, job_id))
                                      : LINT_NONE;
                if (target != LINT_NONE && !running[target]) {
                    running[target] = more = true;
                }
            }
        }
    }
}

/* The first barrier from here on in a job; NULL: none. */
static const struct lint_op *next_barrier(const struct lint_code *code, uint32_t job,
                                          uint32_t *from)
{
    while (*from < code->jobs[job].last) {
        const struct lint_op *op = &code->ops[(*from)++];
        if (op->info->opcode == NOCAP_AIE_LOCAL_BARRIER ||
            op->info->opcode == NOCAP_AIE_REMOTE_BARRIER) {
            return op;
        }
    }
    return NULL;
}

/* A job that runs and stays at this local barrier, since too few that run come there; LINT_NONE:
 * none. */
static uint32_t stays_there(const struct lint_code *code, const bool *running,
                            const struct lint_op *barrier)
{
    uint32_t first = LINT_NONE, users = 0;
    for (uint32_t j = 0; j < code->job_count; j++) {
        const struct lint_op *op = NULL;
        uint32_t from = code->jobs[j].first;
        while (running[j] && (op = next_barrier(code, j, &from)) != NULL &&
               (op->info->opcode != NOCAP_AIE_LOCAL_BARRIER ||
                V(op, LOCAL_BARRIER, local_barrier_id) !=
                    V(barrier, LOCAL_BARRIER, local_barrier_id))) {
        }
        users += op != NULL;
        first = op != NULL && first == LINT_NONE ? j : first;
    }
    return users < V(barrier, LOCAL_BARRIER, num_participants) ? first : LINT_NONE;
}

/* Who waits at a barrier for a job that never runs; whether there is anybody. */
static bool describe_waiting(const struct lint *l, const bool *running, uint32_t absent, char *text,
                             size_t size)
{
    const struct lint_code *code = l->code;
    const struct lint_op *op;
    for (uint32_t from = code->jobs[absent].first;
         (op = next_barrier(code, absent, &from)) != NULL;) {
        if (op->info->opcode == NOCAP_AIE_REMOTE_BARRIER) {
            uint32_t others = V(op, REMOTE_BARRIER, party_mask) & ~lint_bit(code->page->uc);
            if (others != 0) {
                snprintf(text, size, "; at $rb%u it is to meet columns of mask 0x%x",
                         V(op, REMOTE_BARRIER, remote_barrier_id) - 1, others);
                return true;
            }
            continue;
        }
        uint32_t job = stays_there(code, running, op);
        if (job != LINT_NONE) {
            snprintf(text, size, "; job %u waits for it at $lb%u", code->jobs[job].id,
                     V(op, LOCAL_BARRIER, local_barrier_id));
            return true;
        }
    }
    return false;
}

/* A deferred job that never runs: work that is not done, and if others wait for it, a hang. */
static void judge_absent(struct lint *l, const bool *running, uint32_t job, bool launched)
{
    struct lint_code *code = l->code;
    char waiting[64] = "";
    bool hangs = !running[job] && describe_waiting(l, running, job, waiting, sizeof waiting);
    code->bad_launch |= !LINT_EXPECT_AS(
        l, AIE_021, hangs ? NOCAP_ERROR : nocap_rules[AIE_021].severity, running[job],
        LINT_HERE(l, code->ops[code->jobs[job].first].off), "a job that runs and launches it",
        "job %u is launched by %s%s", code->jobs[job].id,
        launched ? "jobs only that never run themselves" : "no job", waiting);
    l->broken_local |= hangs;
}

static void judge_launches(struct lint *l)
{
    struct lint_code *code = l->code;
    uint8_t launches[LINT_JOBS_MAX] = {0};
    bool running[LINT_JOBS_MAX], unclear = code->bad_launch;
    uint32_t wrong = 0; /* launches: each may be meant for a job that no other launches */
    for (uint32_t i = 0; i < code->op_count; i++) {
        if (code->ops[i].info->opcode == NOCAP_AIE_LAUNCH_JOB) {
            wrong += !judge_launch(l, &code->ops[i], launches);
        }
    }
    const bool any = wrong > 0;
    mark_running(code, running);
    for (uint32_t j = 0; j < code->job_count && !unclear; j++) {
        if (any && !running[j] && (launches[j] > 0 || wrong > 0)) {
            wrong -= launches[j] == 0; /* those that it launches do not run for it */
        } else if (code->jobs[j].deferred) {
            judge_absent(l, running, j, launches[j] != 0);
        }
    }
    code->bad_launch |= any;
}

/* ---- registers ---- */

/* What a register holds, as far as this job knows. */
enum content { UNWRITTEN, VALUE, HANDLE, WAITED, OPEN };

struct registers {
    enum content content[NOCAP_AIE_REGISTERS];
    uint32_t writer[NOCAP_AIE_REGISTERS]; /* offset of the instruction */
    uint32_t first_doubt; /* a finding about handles that waits: a wrong WAIT explains it; an op */
    uint32_t doubts;
    bool unclear; /* a register number is wrong: what the others hold is not known */
};

static bool is_global(uint32_t r)
{
    return r >= NOCAP_AIE_GLOBAL_FIRST;
}

static void read_register(struct lint *l, struct registers *regs, const struct lint_op *op,
                          uint32_t r)
{
    if (r >= NOCAP_AIE_REGISTERS) {
        regs->unclear = true;
        return;
    }
    if (is_global(r) || regs->unclear) {
        return;
    }
    if (!LINT_CHECK(l, AIE_023, regs->content[r] != UNWRITTEN, LINT_HERE(l, op->off),
                    "a register that the job wrote before", "$r%u is read and was never written",
                    r)) {
        regs->content[r] = OPEN; /* once is enough */
    }
}

static void write_register(struct lint *l, struct registers *regs, const struct lint_op *op,
                           uint32_t r, enum content content)
{
    if (r >= NOCAP_AIE_REGISTERS) {
        regs->unclear = true;
        return;
    }
    if (regs->content[r] == HANDLE && !is_global(r)) {
        regs->first_doubt = regs->doubts++ == 0 ? op->off : regs->first_doubt;
    }
    l->exercised[AIE_025] += content == HANDLE;
    regs->content[r] = content;
    regs->writer[r] = op->off;
}

/* Shared registers into which some instruction of the column puts a handle; bits. */
static uint32_t find_shared_handles(const struct lint *l)
{
    uint32_t found = 0;
    for (size_t i = 0; i < l->image->page_count; i++) {
        const struct nocap_aie_page *page = &l->image->pages[i];
        struct nocap_aie_walker walker;
        nocap_aie_walk_begin(&walker, page, l->dialect);
        while (page->uc == l->code->page->uc && page->group == l->code->page->group &&
               nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
            uint32_t r = walker.insn.value[NOCAP_AIE_UC_DMA_WRITE_DES_wait_handle];
            if (walker.insn.info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES && r < NOCAP_AIE_REGISTERS) {
                found |= UINT32_C(1) << r;
            }
        }
    }
    return found;
}

static bool handle_elsewhere(struct lint *l, uint32_t r)
{
    const struct nocap_aie_page *page = l->code->page, *known = l->handles_of;
    if (known == NULL || known->uc != page->uc || known->group != page->group) {
        l->handles_of = page;
        l->shared_handles = find_shared_handles(l);
    }
    return (l->shared_handles >> r & 1) != 0;
}

/* WAIT_UC_DMA; false if the register holds no handle. */
static bool wait_register(struct lint *l, struct registers *regs, const struct lint_op *op,
                          uint32_t r)
{
    struct lint_place here = LINT_HERE(l, op->off);
    if (r >= NOCAP_AIE_REGISTERS || regs->unclear || regs->content[r] == OPEN) {
        regs->unclear |= r >= NOCAP_AIE_REGISTERS;
        return true;
    }
    enum content content = regs->content[r];
    if (content == WAITED) {
        regs->first_doubt = regs->doubts++ == 0 ? op->off : regs->first_doubt;
        return true;
    }
    regs->content[r] = content == HANDLE ? WAITED : OPEN;
    if (is_global(r)) {
        return LINT_EXPECT_AS(l, AIE_024, NOCAP_WARNING,
                              content == HANDLE || (content == UNWRITTEN && handle_elsewhere(l, r)),
                              here, "a handle of UC_DMA_WRITE_DES",
                              "WAIT_UC_DMA on $g%u, which holds something else",
                              r - NOCAP_AIE_GLOBAL_FIRST);
    }
    return LINT_CHECK(l, AIE_024, content == HANDLE, here, "a handle of UC_DMA_WRITE_DES",
                      "WAIT_UC_DMA on $r%u, which %s", r,
                      content == UNWRITTEN ? "was never written" : "holds something else");
}

/* A job's instruction; false if it waits for what is no handle. */
static bool run_op(struct lint *l, struct registers *regs, const struct lint_op *op)
{
    switch (op->info->opcode) {
    case NOCAP_AIE_UC_DMA_WRITE_DES:
        write_register(l, regs, op, V(op, UC_DMA_WRITE_DES, wait_handle), HANDLE);
        return true;
    case NOCAP_AIE_WAIT_UC_DMA: return wait_register(l, regs, op, V(op, WAIT_UC_DMA, wait_handle));
    case NOCAP_AIE_READ_32: write_register(l, regs, op, V(op, READ_32, value), VALUE); return true;
    case NOCAP_AIE_READ_32_D:
        read_register(l, regs, op, V(op, READ_32_D, address));
        write_register(l, regs, op, V(op, READ_32_D, value), VALUE);
        return true;
    case NOCAP_AIE_ADD:
        read_register(l, regs, op, V(op, ADD, dest));
        write_register(l, regs, op, V(op, ADD, dest), VALUE);
        return true;
    case NOCAP_AIE_MOV: write_register(l, regs, op, V(op, MOV, dest), VALUE); return true;
    case NOCAP_AIE_WRITE_32_D:
        if ((V(op, WRITE_32_D, flags) & NOCAP_AIE_ADDRESS_IS_CONST) == 0) {
            read_register(l, regs, op, V(op, WRITE_32_D, address));
        }
        if ((V(op, WRITE_32_D, flags) & NOCAP_AIE_VALUE_IS_CONST) == 0) {
            read_register(l, regs, op, V(op, WRITE_32_D, value));
        }
        return true;
    default: return true;
    }
}

/* One finding a job: a wrong register upsets both the transfer that is waited for and the one that
 * should have been. */
static void judge_registers(struct lint *l, const struct lint_job *job)
{
    struct registers regs = {.doubts = 0};
    bool handles = true;
    for (uint32_t i = job->first; i <= job->last; i++) {
        handles &= run_op(l, &regs, &l->code->ops[i]);
    }
    if (!handles || regs.unclear) {
        return;
    }
    for (uint32_t r = 0; r < NOCAP_AIE_GLOBAL_FIRST && regs.doubts == 0; r++) {
        if (regs.content[r] == HANDLE) {
            lint_say(l, AIE_025, NOCAP_WARNING, LINT_HERE(l, regs.writer[r]),
                     "a WAIT_UC_DMA for the handle before END_JOB",
                     "no WAIT_UC_DMA for the handle in $r%u before END_JOB", r);
        }
    }
    if (regs.doubts != 0) {
        lint_say(l, AIE_025, NOCAP_WARNING, LINT_HERE(l, regs.first_doubt),
                 "one WAIT_UC_DMA for each handle", "handle overwritten, or waited for twice");
    }
}

/* ---- style ---- */

static void judge_style(struct lint *l, const struct lint_job *job)
{
    const struct lint_code *code = l->code;
    uint32_t run = 0;
    LINT_CHECK(l, AIE_061, job->last > job->first + 1, LINT_HERE(l, code->ops[job->first].off),
               "a job that does something", "job without an instruction");
    for (uint32_t i = job->first; i <= job->last; i++) {
        uint8_t opcode = code->ops[i].info->opcode;
        run = opcode == NOCAP_AIE_NOP || opcode == NOCAP_AIE_YIELD ? run + 1 : 0;
        if (run == IDLE_RUN_MAX + 1) {
            lint_say(l, AIE_061, NOCAP_WARNING, LINT_HERE(l, code->ops[i].off),
                     "few NOP and YIELD in a row", "more than %d NOP and YIELD in a row",
                     IDLE_RUN_MAX);
        }
    }
}

void lint_jobs(struct lint *l)
{
    const struct lint_code *code = l->code;
    LINT_CHECK(l, AIE_061, code->job_count != 0, LINT_HERE(l, NOCAP_AIE_HEADER_SIZE),
               "jobs before EOF", "page without a job");
    judge_launches(l);
    for (uint32_t j = 0; j < code->job_count; j++) {
        judge_registers(l, &code->jobs[j]);
        judge_style(l, &code->jobs[j]);
    }
}
