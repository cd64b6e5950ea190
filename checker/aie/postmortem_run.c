/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "checker/aie/postmortem.h"

/* ---- pages ---- */

static void count_remote(const struct blocked *s, struct blocked_column *c,
                         const struct nocap_aie_page *page)
{
    struct nocap_aie_walker w;
    nocap_aie_walk_begin(&w, page, s->image->dialect);
    while (nocap_aie_walk_next(&w) == NOCAP_AIE_WALK_INSN) {
        if (w.insn.info->opcode == NOCAP_AIE_REMOTE_BARRIER) {
            c->before[w.insn.value[NOCAP_AIE_REMOTE_BARRIER_remote_barrier_id]]++;
        }
    }
}

static void count_before(const struct blocked *s, struct blocked_column *c, uint32_t uc)
{
    c->main = true;
    for (uint32_t i = 0; i < c->page->index; i++) {
        const struct nocap_aie_page *page = nocap_aie_image_page(s->image, c->page->group, uc, i);
        c->main &= page != NULL && nocap_aie_head(page, NOCAP_AIE_HEAD_NEXT) != 0;
        if (page != NULL) {
            count_remote(s, c, page);
        }
    }
}

static enum nocap_status decode(const struct blocked *s, struct blocked_column *c)
{
    struct nocap_aie_walker w;
    struct blocked_job *job = NULL;
    c->jobs = calloc(STUCK_OPS, sizeof *c->jobs);
    RETURN_ERROR_IF(c->jobs == NULL, s->err, NOCAP_E_MEMORY, "out of memory");
    nocap_aie_walk_begin(&w, c->page, s->image->dialect);
    while (nocap_aie_walk_next(&w) == NOCAP_AIE_WALK_INSN && c->op_count < STUCK_OPS) {
        struct blocked_op *op = &c->ops[c->op_count++];
        op->info = w.insn.info;
        op->off = w.at;
        memcpy(op->value, w.insn.value, sizeof op->value);
        if (nocap_aie_starts_job(op->info->opcode)) {
            job = &c->jobs[c->job_count++];
            *job = (struct blocked_job){.id = V(op, START_JOB, job_id),
                                        .first = c->op_count - 1,
                                        .at = c->op_count - 1,
                                        .deferred = op->info->opcode != NOCAP_AIE_START_JOB};
            job->started = !job->deferred;
        }
        if (job != NULL) {
            job->end = c->op_count;
        }
    }
    return NOCAP_OK;
}

static struct blocked_job *job_of(struct blocked_column *c, uint32_t op)
{
    for (uint32_t j = 0; j < c->job_count; j++) {
        if (op >= c->jobs[j].first && op < c->jobs[j].end) {
            return &c->jobs[j];
        }
    }
    return NULL;
}

/* The op at an offset; op_count: none begins there. */
static uint32_t op_at(const struct blocked_column *c, uint32_t off)
{
    uint32_t i = 0;
    while (i < c->op_count && c->ops[i].off != off) {
        i++;
    }
    return i;
}

/* ---- where jobs stand ---- */

static void stand(struct blocked_job *job, uint32_t op)
{
    job->at = op;
    job->fixed = job->started = true;
}

/* What ran last is where its job stands, if it may wait. */
static enum nocap_status place_last(const struct blocked *s, struct blocked_column *c)
{
    uint32_t op = op_at(c, c->postmortem->off);
    struct blocked_job *job = op < c->op_count ? job_of(c, op) : NULL;
    RETURN_ERROR_IF(
        job == NULL, s->err, NOCAP_E_INPUT,
        "uc %u page %u has no instruction of a job at offset %u; offsets count from the "
        "page's start, its header of 16 bytes included: is this the right ELF file?",
        c->page->uc, c->page->index, c->postmortem->off);
    if (c->ops[op].info->blocks) {
        stand(job, op);
    }
    return NOCAP_OK;
}

/* A job of the firmware's list: its pc is at the instruction that waits, or just after it. */
static void place_left(struct blocked_column *c, const struct nocap_aie_left_job *left)
{
    for (uint32_t j = 0; j < c->job_count; j++) {
        struct blocked_job *job = &c->jobs[j];
        if (job->id != left->id) {
            continue;
        }
        job->left = true;
        uint32_t op = left->has_pc ? op_at(c, left->pc) : c->op_count;
        bool inside = op > job->first && op < job->end;
        if (inside && !c->ops[op].info->blocks && c->ops[op - 1].info->blocks) {
            op--;
        }
        if (inside && !(job->fixed && c->ops[op].off != c->postmortem->off)) {
            stand(job, op);
        }
        return;
    }
}

static bool has_code(const struct nocap_aie_image *image, uint32_t uc)
{
    for (size_t i = 0; i < image->page_count; i++) {
        if (image->pages[i].uc == uc) {
            return true;
        }
    }
    return false;
}

/* Jobs of the page, and where they stood; fails if the file has no such place. */
static enum nocap_status place(const struct blocked *s, struct blocked_column *c, uint32_t uc)
{
    RETURN_ERROR_IF(
        c->page == NULL, s->err, NOCAP_E_INPUT,
        "the file has no page %u of uc %u; if numbers count from the first column of the "
        "device, take those before the partition off with --first-column",
        c->postmortem->page, uc);
    RETURN_IF_FAILED(decode(s, c));
    count_before(s, c, uc);
    if (c->postmortem->has_off && c->postmortem->off != 0) { /* 0: nothing ran yet */
        RETURN_IF_FAILED(place_last(s, c));
    }
    for (size_t i = 0; i < c->postmortem->job_count; i++) {
        place_left(c, &c->postmortem->jobs[i]);
    }
    return NOCAP_OK;
}

static void forget(struct blocked_column *c)
{
    free(c->jobs);
    *c = (struct blocked_column){.postmortem = c->postmortem};
}

enum nocap_status blocked_open(struct blocked *s, uint32_t uc)
{
    struct blocked_column *c = &s->columns[uc];
    c->postmortem = &s->postmortem->columns[uc];
    if (!c->postmortem->has_page) {
        return NOCAP_OK;
    }
    if (c->postmortem->idle && !c->postmortem->hang) {
        s->idle |= UINT32_C(1) << uc; /* what it says of a place is of an earlier run */
        return NOCAP_OK;
    }
    for (size_t i = 0; i < s->image->page_count && c->page == NULL; i++) {
        const struct nocap_aie_page *page = &s->image->pages[i];
        c->page = page->uc == uc && page->index == c->postmortem->page ? page : NULL;
    }
    if (c->page == NULL && !has_code(s->image, uc)) {
        s->passed |= UINT32_C(1) << uc; /* the runtime lists all uCs of the partition */
        return NOCAP_OK;
    }
    enum nocap_status status = place(s, c, uc);
    if (status == NOCAP_E_INPUT) {
        s->misfits |= UINT32_C(1) << uc;
        forget(c);
        return NOCAP_OK;
    }
    return status;
}

/* ---- as far as they can get ---- */

static bool uses(const struct blocked_op *op, uint8_t opcode, uint32_t id)
{
    return op->info->opcode == opcode && op->value[0] == id; /* the number comes first in both */
}

uint32_t blocked_came(const struct blocked_column *c, const struct blocked_job *job, uint8_t opcode,
                      uint32_t id)
{
    uint32_t times = 0;
    for (uint32_t i = job->first; i < job->end && i <= job->at && job->started; i++) {
        times += uses(&c->ops[i], opcode, id);
    }
    return times;
}

uint32_t blocked_uses(const struct blocked_column *c, const struct blocked_job *job, uint8_t opcode,
                      uint32_t id)
{
    uint32_t times = 0;
    for (uint32_t i = job->first; i < job->end; i++) {
        times += uses(&c->ops[i], opcode, id);
    }
    return times;
}

static uint32_t column_came(const struct blocked_column *c, uint32_t id)
{
    uint32_t times = c->before[id];
    for (uint32_t j = 0; j < c->job_count; j++) {
        times += blocked_came(c, &c->jobs[j], NOCAP_AIE_REMOTE_BARRIER, id);
    }
    return times;
}

uint32_t blocked_locals(const struct blocked_column *c, const struct blocked_job *job)
{
    uint32_t id = V(&c->ops[job->at], LOCAL_BARRIER, local_barrier_id), count = 0;
    uint32_t times = blocked_came(c, job, NOCAP_AIE_LOCAL_BARRIER, id);
    for (uint32_t j = 0; j < c->job_count; j++) {
        count += blocked_came(c, &c->jobs[j], NOCAP_AIE_LOCAL_BARRIER, id) >= times;
    }
    return count;
}

uint32_t blocked_remotes_missing(const struct blocked *s, const struct blocked_column *c,
                                 const struct blocked_op *op)
{
    uint32_t id = V(op, REMOTE_BARRIER, remote_barrier_id), missing = 0;
    uint32_t mask = V(op, REMOTE_BARRIER, party_mask);
    for (uint32_t uc = 0; uc < STUCK_COLUMNS && c->main; uc++) {
        const struct blocked_column *other = &s->columns[uc];
        if ((mask >> uc & 1u) != 0 && other->page != NULL && other->main &&
            other->page->group == c->page->group && column_came(other, id) < column_came(c, id)) {
            missing |= 1u << uc;
        }
    }
    return missing;
}

uint32_t blocked_poll_mask(const struct blocked_op *op)
{
    return op->info->opcode == NOCAP_AIE_MASK_POLL_32 ? V(op, MASK_POLL_32, mask) : UINT32_MAX;
}

uint32_t blocked_poll_value(const struct blocked_op *op)
{
    return op->info->opcode == NOCAP_AIE_MASK_POLL_32 ? V(op, MASK_POLL_32, value)
                                                      : V(op, POLL_32, value);
}

bool blocked_is_over(const struct blocked_column *c, const struct blocked_job *job)
{
    return c->postmortem->has_jobs && !job->left && job->started;
}

static bool can_pass(const struct blocked *s, const struct blocked_column *c,
                     const struct blocked_job *job)
{
    const struct blocked_op *op = &c->ops[job->at];
    if (blocked_is_over(c, job)) {
        return true;
    }
    switch (op->info->opcode) {
    case NOCAP_AIE_LOCAL_BARRIER:
        return blocked_locals(c, job) >= V(op, LOCAL_BARRIER, num_participants);
    case NOCAP_AIE_REMOTE_BARRIER: return blocked_remotes_missing(s, c, op) == 0;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: return (blocked_poll_value(op) & ~blocked_poll_mask(op)) == 0;
    default: return true;
    }
}

static void launch(struct blocked_column *c, uint32_t id)
{
    for (uint32_t j = 0; j < c->job_count; j++) {
        c->jobs[j].started |= c->jobs[j].id == id;
    }
}

static bool advance(const struct blocked *s, struct blocked_column *c, struct blocked_job *job)
{
    bool moved = false;
    while (job->started && job->at < job->end && !job->fixed && can_pass(s, c, job)) {
        const struct blocked_op *op = &c->ops[job->at++];
        moved = true;
        if (op->info->opcode == NOCAP_AIE_LAUNCH_JOB) {
            launch(c, V(op, LAUNCH_JOB, job_id));
        }
    }
    return moved;
}

/* What a job that stands somewhere has launched before. */
static void launch_before(struct blocked_column *c, const struct blocked_job *job)
{
    for (uint32_t i = job->first; i < job->at; i++) {
        if (c->ops[i].info->opcode == NOCAP_AIE_LAUNCH_JOB) {
            launch(c, V(&c->ops[i], LAUNCH_JOB, job_id));
        }
    }
}

void blocked_run(const struct blocked *s)
{
    bool moved = true;
    for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
        struct blocked_column *c = &s->columns[uc];
        for (uint32_t j = 0; j < c->job_count; j++) {
            if (c->jobs[j].fixed) {
                launch_before(c, &c->jobs[j]);
            }
        }
    }
    while (moved) {
        moved = false;
        for (uint32_t uc = 0; uc < STUCK_COLUMNS; uc++) {
            struct blocked_column *c = &s->columns[uc];
            for (uint32_t j = 0; j < c->job_count; j++) {
                moved |= advance(s, c, &c->jobs[j]);
            }
        }
    }
}
