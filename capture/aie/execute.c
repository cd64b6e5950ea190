/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction does. */
#include <string.h>

#include "capture/aie/machine.h"

#define V(insn, INSN, name) ((insn)->value[NOCAP_AIE_##INSN##_##name])

static bool run_insn(const struct machine *r, const struct run_frame *frame, uint32_t pc,
                     struct nocap_aie_insn *insn)
{
    return pc < NOCAP_AIE_PAGE_SIZE &&
           nocap_aie_decode(r->options->dialect, frame->bytes + pc, NOCAP_AIE_PAGE_SIZE - pc,
                            insn) == NOCAP_AIE_DECODED;
}

static uint32_t *reg(struct run_uc *uc, struct run_job *job, uint32_t number)
{
    static uint32_t nowhere;
    return number < NOCAP_AIE_GLOBAL_FIRST ? &job->reg[number]
           : number < NOCAP_AIE_REGISTERS  ? &uc->reg[number - NOCAP_AIE_GLOBAL_FIRST]
                                           : &nowhere;
}

/* The job lets others run; it may go on in the next scheduling cycle. */
static void give_up(struct run_frame *frame, struct run_job *job)
{
    frame->current = -1;
    job->cycle = frame->cycle + 1;
}

/* ---- instructions that wait: what for, and how it looks now ---- */

static bool tokens_there(struct machine *r, const struct run_uc *uc,
                         const struct nocap_aie_insn *insn, bool take)
{
    struct run_channel *c =
        run_channel(r, uc, V(insn, WAIT_TCTS, tile_id), V(insn, WAIT_TCTS, actor_id));
    uint64_t wanted = V(insn, WAIT_TCTS, target_tcts);
    if (c == NULL || c->there < wanted) {
        return false;
    }
    c->there -= take ? wanted : 0;
    return true;
}

static uint32_t poll_mask(const struct nocap_aie_insn *insn)
{
    return insn->info->opcode == NOCAP_AIE_MASK_POLL_32 ? V(insn, MASK_POLL_32, mask) : UINT32_MAX;
}

static uint32_t poll_value(const struct nocap_aie_insn *insn)
{
    return insn->info->opcode == NOCAP_AIE_MASK_POLL_32 ? V(insn, MASK_POLL_32, value)
                                                        : V(insn, POLL_32, value);
}

static bool poll(struct machine *r, const struct run_uc *uc, const struct nocap_aie_insn *insn)
{
    uint32_t value = run_load(r, uc, V(insn, POLL_32, address));
    return (value & poll_mask(insn)) == poll_value(insn);
}

/* All columns of the mask have come as often as this one. */
static bool parties_came(const struct machine *r, const struct run_uc *uc,
                         const struct nocap_aie_insn *insn, uint64_t round)
{
    uint32_t id = V(insn, REMOTE_BARRIER, remote_barrier_id);
    for (unsigned c = 0; c < RUN_BARRIERS; c++) {
        bool named = (V(insn, REMOTE_BARRIER, party_mask) >> c & 1u) != 0;
        const struct run_uc *other = r->ucs[c];
        if (named && other != uc && (other == NULL || other->rounds[id] < round)) {
            return false;
        }
    }
    return true;
}

static enum nocap_why why_of(uint8_t opcode)
{
    switch (opcode) {
    case NOCAP_AIE_WAIT_TCTS: return NOCAP_WHY_TCT;
    case NOCAP_AIE_LOCAL_BARRIER: return NOCAP_WHY_LOCAL;
    case NOCAP_AIE_REMOTE_BARRIER: return NOCAP_WHY_REMOTE;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: return NOCAP_WHY_POLL;
    default: return NOCAP_WHY_DMA;
    }
}

/* Comes to a barrier; gives whether it is open. */
static bool arrive(struct machine *r, struct run_uc *uc, struct run_frame *frame,
                   struct run_job *job, const struct nocap_aie_insn *insn)
{
    uint32_t id = insn->value[NOCAP_AIE_LOCAL_BARRIER_local_barrier_id];
    if (insn->info->opcode == NOCAP_AIE_REMOTE_BARRIER) {
        job->barrier_round = ++uc->rounds[id];
        return parties_came(r, uc, insn, job->barrier_round);
    }
    if (id >= NOCAP_AIE_LOCAL_BARRIERS) {
        return false;
    }
    job->barrier_round = frame->barriers[id].round;
    if (++frame->barriers[id].came >= V(insn, LOCAL_BARRIER, num_participants)) {
        frame->barriers[id].came = 0;
        frame->barriers[id].round++;
        return true;
    }
    return false;
}

bool run_may_wake(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
                  const struct run_job *job)
{
    struct nocap_aie_insn insn;
    if (!run_insn(r, frame, job->pc, &insn)) {
        return false;
    }
    switch (insn.info->opcode) {
    case NOCAP_AIE_UC_DMA_WRITE_DES:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC:
        return job->why == NOCAP_WHY_QUEUE ? run_has_room(uc) : !run_transferring(uc, job->handle);
    case NOCAP_AIE_WAIT_UC_DMA: return !run_transferring(uc, job->handle);
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32:
        return (run_peek(r, V(&insn, POLL_32, address)) & poll_mask(&insn)) == poll_value(&insn);
    case NOCAP_AIE_WAIT_TCTS: return tokens_there(r, uc, &insn, false);
    case NOCAP_AIE_LOCAL_BARRIER:
        return job->barrier_round <
               frame->barriers[V(&insn, LOCAL_BARRIER, local_barrier_id) % NOCAP_AIE_LOCAL_BARRIERS]
                   .round;
    case NOCAP_AIE_REMOTE_BARRIER: return parties_came(r, uc, &insn, job->barrier_round);
    default: return false;
    }
}

void run_wake(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
              struct run_job *job)
{
    struct nocap_aie_insn insn;
    if (job->why == NOCAP_WHY_POLL && run_insn(r, frame, job->pc, &insn)) {
        (void)poll(r, uc, &insn);
    }
    job->state = RUN_WOKEN;
    run_event(r, uc, NOCAP_OP_UNBLOCK, job->pc, job);
}

static void report_answer(const struct machine *r, const struct run_uc *uc,
                          const struct run_frame *frame, const struct run_job *job,
                          const struct nocap_aie_insn_info *insn)
{
    if (r->options->answered != NULL) {
        const struct nocap_aie_answer answer = {uc->index, frame->page->index, job->pc, insn};
        r->options->answered(r->options->answered_context, &answer);
    }
}

bool run_answer(struct machine *r, const struct run_uc *uc, const struct run_frame *frame,
                const struct run_job *job)
{
    struct nocap_aie_insn insn;
    struct run_channel *c;
    if (!run_insn(r, frame, job->pc, &insn)) {
        return false;
    }
    switch (insn.info->opcode) {
    case NOCAP_AIE_WAIT_TCTS:
        c = run_channel(r, uc, V(&insn, WAIT_TCTS, tile_id), V(&insn, WAIT_TCTS, actor_id));
        if (r->options->silent_tokens || c == NULL || c->started ||
            (c->has_queue && r->image->pad_size == 0)) {
            return false;
        }
        report_answer(r, uc, frame, job, insn.info);
        run_token(r, c);
        return true;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32:
        if (r->options->silent_polls || (poll_value(&insn) & ~poll_mask(&insn)) != 0) {
            return false; /* in the second case no value can match */
        }
        report_answer(r, uc, frame, job, insn.info);
        run_set(r, V(&insn, POLL_32, address), poll_value(&insn));
        return true;
    default: return false;
    }
}

/* ---- instructions ---- */

/* Instructions that run other pages before they end; false: not one of them, or not now. */
static bool runs_pages(struct machine *r, struct run_uc *uc, const struct nocap_aie_insn *insn)
{
    switch (insn->info->opcode) {
    case NOCAP_AIE_LOAD_PDI: /* the one that is there already is skipped */
        if (uc->loaded && uc->last_load == V(insn, LOAD_PDI, pdi_id)) {
            return false;
        }
        uc->loaded = true;
        uc->last_load = V(insn, LOAD_PDI, pdi_id);
        uc->last_load_page = V(insn, LOAD_PDI, page);
        return run_call(r, uc, uc->last_load_page, UINT32_MAX);
    case NOCAP_AIE_LOAD_CORES: return run_call(r, uc, V(insn, LOAD_CORES, page), UINT32_MAX);
    case NOCAP_AIE_LOAD_LAST_PDI:
        return uc->loaded && run_call(r, uc, uc->last_load_page, UINT32_MAX);
    case NOCAP_AIE_PREEMPT:
        uc->preempted = r->options->preempt;
        return uc->preempted && run_call(r, uc, V(insn, PREEMPT, save), V(insn, PREEMPT, restore));
    default: return false;
    }
}

static void write_dynamic(struct machine *r, struct run_uc *uc, struct run_job *job,
                          const struct nocap_aie_insn *insn)
{
    uint32_t flags = V(insn, WRITE_32_D, flags);
    uint32_t address = V(insn, WRITE_32_D, address), value = V(insn, WRITE_32_D, value);
    address = (flags & NOCAP_AIE_ADDRESS_IS_CONST) != 0 ? address : *reg(uc, job, address);
    value = (flags & NOCAP_AIE_VALUE_IS_CONST) != 0 ? value : *reg(uc, job, value);
    run_store(r, uc, address, value);
}

static void launch(struct run_frame *frame, uint32_t id)
{
    for (uint32_t j = 0; j < frame->job_count; j++) {
        struct run_job *job = &frame->jobs[j];
        if (job->id == id && job->state == RUN_DEFERRED) {
            job->state = RUN_READY;
            job->cycle = frame->cycle + 1;
        }
    }
}

/* Instructions that are over at once; false: not one of them. APPLY_OFFSET is one: arguments and
 * the base of the control code are taken as 0. */
static bool at_once(struct machine *r, struct run_uc *uc, struct run_frame *frame,
                    struct run_job *job, const struct nocap_aie_insn *insn)
{
    uint32_t old;
    switch (insn->info->opcode) {
    case NOCAP_AIE_WRITE_32:
        run_store(r, uc, V(insn, WRITE_32, address), V(insn, WRITE_32, value));
        return true;
    case NOCAP_AIE_WRITE_32_D: write_dynamic(r, uc, job, insn); return true;
    case NOCAP_AIE_MASK_WRITE_32:
        old = run_load(r, uc, V(insn, MASK_WRITE_32, address));
        run_store(r, uc, V(insn, MASK_WRITE_32, address),
                  (old & ~V(insn, MASK_WRITE_32, mask)) |
                      (V(insn, MASK_WRITE_32, value) & V(insn, MASK_WRITE_32, mask)));
        return true;
    case NOCAP_AIE_READ_32:
        *reg(uc, job, V(insn, READ_32, value)) = run_load(r, uc, V(insn, READ_32, address));
        return true;
    case NOCAP_AIE_READ_32_D:
        *reg(uc, job, V(insn, READ_32_D, value)) =
            run_load(r, uc, *reg(uc, job, V(insn, READ_32_D, address)));
        return true;
    case NOCAP_AIE_ADD: *reg(uc, job, V(insn, ADD, dest)) += V(insn, ADD, value); return true;
    case NOCAP_AIE_MOV: *reg(uc, job, V(insn, MOV, dest)) = V(insn, MOV, value); return true;
    case NOCAP_AIE_SAVE_REGISTER:
        (void)run_load(r, uc, V(insn, SAVE_REGISTER, address));
        return true;
    case NOCAP_AIE_LAUNCH_JOB: launch(frame, V(insn, LAUNCH_JOB, job_id)); return true;
    default: return !insn->info->blocks;
    }
}

/* Whether an instruction that may wait need not: what it waits for is there. */
static bool need_not_wait(struct machine *r, struct run_uc *uc, struct run_frame *frame,
                          struct run_job *job, const struct nocap_aie_insn *insn)
{
    switch (insn->info->opcode) {
    case NOCAP_AIE_WAIT_UC_DMA:
        job->handle = *reg(uc, job, V(insn, WAIT_UC_DMA, wait_handle));
        return !run_transferring(uc, job->handle);
    case NOCAP_AIE_WAIT_TCTS: return tokens_there(r, uc, insn, false);
    case NOCAP_AIE_LOCAL_BARRIER:
    case NOCAP_AIE_REMOTE_BARRIER: return arrive(r, uc, frame, job, insn);
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: return poll(r, uc, insn);
    default: return true;
    }
}

static void end(struct machine *r, struct run_uc *uc, struct run_frame *frame, struct run_job *job,
                const struct nocap_aie_insn *insn)
{
    uint8_t opcode = insn->info->opcode;
    if (opcode == NOCAP_AIE_WAIT_TCTS) {
        (void)tokens_there(r, uc, insn, true);
    }
    if (opcode == NOCAP_AIE_UC_DMA_WRITE_DES) {
        *reg(uc, job, V(insn, UC_DMA_WRITE_DES, wait_handle)) = job->handle;
        run_end_handle(r, uc, job, job->handle);
    } else {
        run_event(r, uc, NOCAP_OP_END, job->pc, job);
    }
    if (opcode == NOCAP_AIE_END_JOB) {
        run_event(r, uc, NOCAP_OP_JOB_END, job->pc, job);
        job->state = RUN_OVER;
        give_up(frame, job);
        return;
    }
    job->pc += insn->info->size;
    job->state = RUN_READY;
    if (opcode == NOCAP_AIE_YIELD || (opcode == NOCAP_AIE_NOP && run_below(r, 2) == 0)) {
        give_up(frame, job);
    }
}

/* A transfer is queued, or the job blocks for room. */
static void transfer(struct machine *r, struct run_uc *uc, struct run_frame *frame,
                     struct run_job *job, const struct nocap_aie_insn *insn)
{
    bool sync = insn->info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES_SYNC;
    uint32_t pointer = sync ? V(insn, UC_DMA_WRITE_DES_SYNC, descriptor_ptr)
                            : V(insn, UC_DMA_WRITE_DES, descriptor_ptr);
    if (!run_enqueue(uc, pointer, &job->handle)) {
        run_block(r, uc, job, NOCAP_WHY_QUEUE);
        give_up(frame, job);
    } else if (sync) {
        run_block(r, uc, job, NOCAP_WHY_DMA);
        give_up(frame, job);
    } else {
        end(r, uc, frame, job, insn);
    }
}

static bool is_transfer(const struct nocap_aie_insn *insn)
{
    return insn->info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES ||
           insn->info->opcode == NOCAP_AIE_UC_DMA_WRITE_DES_SYNC;
}

void run_execute(struct machine *r, struct run_uc *uc, struct run_frame *frame, struct run_job *job)
{
    struct nocap_aie_insn insn;
    if (!run_insn(r, frame, job->pc, &insn)) {
        r->k.status = nocap_fail(r->k.err, NOCAP_E_INPUT,
                                 "uc %u page %u offset %u: no instruction; see `nocap aie lint`",
                                 uc->index, frame->page->index, job->pc);
        return;
    }
    if (job->state == RUN_WOKEN || job->state == RUN_CALLING) { /* the rest of it */
        if (is_transfer(&insn) && job->why == NOCAP_WHY_QUEUE) {
            job->why = NOCAP_WHY_DMA;
            transfer(r, uc, frame, job, &insn);
        } else {
            end(r, uc, frame, job, &insn);
        }
        return;
    }
    run_start(r, uc, job, frame->bytes + job->pc, insn.info->size);
    if (is_transfer(&insn)) {
        transfer(r, uc, frame, job, &insn);
    } else if (runs_pages(r, uc, &insn)) {
        job->state = RUN_CALLING;
    } else if (at_once(r, uc, frame, job, &insn) || need_not_wait(r, uc, frame, job, &insn)) {
        end(r, uc, frame, job, &insn);
    } else {
        run_block(r, uc, job, why_of(insn.info->opcode));
        give_up(frame, job);
    }
}
