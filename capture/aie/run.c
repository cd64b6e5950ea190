/* SPDX-License-Identifier: Apache-2.0 */
/* The run as a whole: pages of each control processor, and what happens next. */
#include "capture/aie/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "capture/aie/machine.h"

/* ---- pages ---- */

static bool add_job(struct run_frame *frame, const struct nocap_aie_walker *walker)
{
    uint8_t opcode = walker->insn.info->opcode;
    struct run_job *job = LIST_NEXT(frame->jobs, frame->job_count);
    if (job == NULL) {
        return false;
    }
    frame->job_count++;
    *job =
        (struct run_job){.state = opcode == NOCAP_AIE_START_JOB_DEFERRED ? RUN_DEFERRED : RUN_READY,
                         .id = walker->insn.value[NOCAP_AIE_START_JOB_job_id],
                         .pc = walker->at};
    return true;
}

/* The jobs of the page. Whatever else is wrong with it, each must have its END_JOB. */
static enum nocap_status list_jobs(struct machine *r, const struct run_uc *uc,
                                   struct run_frame *frame)
{
    struct nocap_aie_walker walker;
    enum nocap_aie_walk walk;
    bool inside = false, fits = true;
    nocap_aie_walk_begin(&walker, frame->page, r->options->dialect);
    while ((walk = nocap_aie_walk_next(&walker)) == NOCAP_AIE_WALK_INSN) {
        uint8_t opcode = walker.insn.info->opcode;
        bool starts = nocap_aie_starts_job(opcode);
        bool skip = opcode == NOCAP_AIE_START_COND_JOB_PREEMPT && !uc->preempted;
        fits &= starts != inside;
        inside = (inside || starts) && opcode != NOCAP_AIE_END_JOB;
        RETURN_ERROR_IF(starts && !skip && !add_job(frame, &walker), r->k.err, NOCAP_E_MEMORY,
                        "out of memory");
    }
    frame->eof = walker.at;
    RETURN_ERROR_IF(walk != NOCAP_AIE_WALK_EOF || inside || !fits, r->k.err, NOCAP_E_INPUT,
                    "uc %u page %u, near offset %u: its jobs are not whole; see `nocap aie lint`",
                    uc->index, frame->page->index, walker.at);
    return NOCAP_OK;
}

static void load_page(struct machine *r, struct run_uc *uc, struct run_frame *frame, uint32_t index)
{
    const struct nocap_aie_page *page = nocap_aie_image_page(r->image, 0, uc->index, index);
    free(frame->jobs);
    *frame = (struct run_frame){.page = page, .current = -1, .then = frame->then};
    if (page == NULL) {
        r->k.status = nocap_fail(r->k.err, NOCAP_E_INPUT, "uc %u has no page %u, which runs next",
                                 uc->index, index);
        return;
    }
    memcpy(frame->bytes, page->bytes, sizeof frame->bytes);
    run_event(r, uc, NOCAP_OP_PAGE_LOAD, 0, NULL);
    if (r->k.status == NOCAP_OK) {
        r->k.status = list_jobs(r, uc, frame);
    }
}

static void pop(struct run_uc *uc)
{
    struct run_frame *frame = uc->frames[--uc->depth];
    free(frame->jobs);
    free(frame);
}

bool run_call(struct machine *r, struct run_uc *uc, uint32_t page, uint32_t then)
{
    if (uc->depth == RUN_FRAMES) {
        r->k.status =
            nocap_fail(r->k.err, NOCAP_E_INPUT, "uc %u: pages call each other more than %d deep",
                       uc->index, RUN_FRAMES);
        return false;
    }
    struct run_frame *frame = calloc(1, sizeof *frame);
    if (frame == NULL) {
        r->k.status = nocap_fail(r->k.err, NOCAP_E_MEMORY, "out of memory");
        return false;
    }
    frame->then = then;
    uc->frames[uc->depth++] = frame;
    load_page(r, uc, frame, page);
    return true;
}

static bool frame_over(const struct run_uc *uc)
{
    const struct run_frame *frame = run_top(uc);
    for (uint32_t j = 0; j < frame->job_count; j++) {
        if (frame->jobs[j].state != RUN_OVER && frame->jobs[j].state != RUN_DEFERRED) {
            return false;
        }
    }
    for (unsigned i = 0; i < RUN_QUEUE; i++) {
        if (uc->queue[i].active && uc->queue[i].frame == uc->depth - 1) {
            return false; /* its bytes are still read */
        }
    }
    return true;
}

/* A page is over: the next one of its chain, or the one to run after it, or back to the caller. */
static void next_page(struct machine *r, struct run_uc *uc)
{
    struct run_frame *frame = run_top(uc);
    run_event(r, uc, NOCAP_OP_EOF, frame->eof, NULL);
    if (nocap_aie_head(frame->page, NOCAP_AIE_HEAD_NEXT) != 0) {
        load_page(r, uc, frame, frame->page->index + 1);
    } else if (frame->then != UINT32_MAX) {
        uint32_t then = frame->then;
        frame->then = UINT32_MAX;
        load_page(r, uc, frame, then);
    } else {
        pop(uc);
        uc->over = uc->depth == 0;
    }
}

/* ---- what can happen next ---- */

enum act_kind { RUN, WAKE, PAGE, TRANSFER, TOKEN };
struct act {
    enum act_kind kind;
    struct run_uc *uc;
    uint32_t which; /* job, transfer, channel */
};
struct choice {
    struct act act;
    uint32_t count;
};

/* One of all acts that are offered, each as likely as the others. */
static void offer(struct machine *r, struct choice *choice, enum act_kind kind, struct run_uc *uc,
                  size_t which)
{
    if (run_below(r, ++choice->count) == 0) {
        choice->act = (struct act){kind, uc, (uint32_t)which};
    }
}

static bool can_run(const struct run_frame *frame, const struct run_job *job)
{
    bool ready = job->state == RUN_READY || job->state == RUN_WOKEN || job->state == RUN_CALLING;
    return ready && job->cycle <= frame->cycle;
}

/* A job that has the uC goes on with it; else any that is due. A new scheduling cycle begins when
 * none is left in this one. */
static void offer_jobs(struct machine *r, struct choice *choice, struct run_uc *uc)
{
    struct run_frame *frame = run_top(uc);
    if (frame->current >= 0) {
        offer(r, choice, RUN, uc, (size_t)frame->current);
    }
    for (int pass = 0; pass < 2 && frame->current < 0; pass++) {
        bool any = false;
        for (uint32_t j = 0; j < frame->job_count; j++) {
            if (can_run(frame, &frame->jobs[j])) {
                any = true;
                offer(r, choice, RUN, uc, j);
            }
        }
        if (any) {
            break;
        }
        frame->cycle++;
    }
    for (uint32_t j = 0; j < frame->job_count; j++) {
        struct run_job *job = &frame->jobs[j];
        if (job->state == RUN_BLOCKED && run_may_wake(r, uc, frame, job)) {
            offer(r, choice, WAKE, uc, j);
        }
    }
}

static struct act choose(struct machine *r, bool *any)
{
    struct choice choice = {.count = 0};
    for (unsigned i = 0; i < RUN_UCS; i++) {
        struct run_uc *uc = r->ucs[i];
        if (uc == NULL || uc->over) {
            continue;
        }
        if (frame_over(uc)) {
            offer(r, &choice, PAGE, uc, 0);
        } else {
            offer_jobs(r, &choice, uc);
        }
        for (unsigned t = 0; t < RUN_QUEUE; t++) {
            if (uc->queue[t].active) {
                offer(r, &choice, TRANSFER, uc, t);
            }
        }
    }
    for (size_t c = 0; c < r->channel_count; c++) {
        if (r->channels[c].owed != 0) {
            offer(r, &choice, TOKEN, NULL, c);
        }
    }
    *any = choice.count != 0;
    return choice.act;
}

static void act(struct machine *r, const struct act *a)
{
    struct run_frame *frame = a->uc == NULL || a->uc->depth == 0 ? NULL : run_top(a->uc);
    switch (a->kind) {
    case RUN:
        frame->current = (int32_t)a->which;
        run_execute(r, a->uc, frame, &frame->jobs[a->which]);
        break;
    case WAKE: run_wake(r, a->uc, frame, &frame->jobs[a->which]); break;
    case PAGE: next_page(r, a->uc); break;
    case TRANSFER: run_transfer(r, a->uc, &a->uc->queue[a->which]); break;
    case TOKEN:
        r->channels[a->which].owed--;
        run_token(r, &r->channels[a->which]);
        break;
    }
}

/* Nothing can happen by itself: the array ends one of the waits. */
static bool answer(struct machine *r)
{
    for (unsigned i = 0; i < RUN_UCS; i++) {
        struct run_uc *uc = r->ucs[i];
        struct run_frame *frame = uc == NULL || uc->over ? NULL : run_top(uc);
        for (uint32_t j = 0; frame != NULL && j < frame->job_count; j++) {
            struct run_job *job = &frame->jobs[j];
            if (job->state == RUN_BLOCKED && run_answer(r, uc, frame, job)) {
                r->result->answers++;
                return true;
            }
        }
    }
    return false;
}

static uint32_t count_blocked(const struct machine *r)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < RUN_UCS; i++) {
        const struct run_uc *uc = r->ucs[i];
        const struct run_frame *frame = uc == NULL || uc->over ? NULL : run_top(uc);
        for (uint32_t j = 0; frame != NULL && j < frame->job_count; j++) {
            count += frame->jobs[j].state == RUN_BLOCKED;
        }
    }
    return count;
}

/* ---- the whole ---- */

static enum nocap_status begin(struct machine *r)
{
    for (size_t i = 0; i < r->options->word_count; i++) {
        run_set(r, r->options->words[i].address, r->options->words[i].value);
    }
    RETURN_ERROR_IF(!run_find_channels(r), r->k.err, NOCAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < r->image->page_count && r->k.status == NOCAP_OK; i++) {
        const struct nocap_aie_page *page = &r->image->pages[i];
        RETURN_ERROR_IF(page->uc >= RUN_UCS, r->k.err, NOCAP_E_INPUT,
                        "column %u: a trace can name %d columns", page->uc, RUN_UCS);
        if (r->ucs[page->uc] != NULL) {
            continue;
        }
        struct run_uc *uc = r->ucs[page->uc] = calloc(1, sizeof *uc);
        RETURN_ERROR_IF(uc == NULL, r->k.err, NOCAP_E_MEMORY, "out of memory");
        uc->index = (uint8_t)page->uc;
        (void)run_call(r, uc, 0, UINT32_MAX);
    }
    return r->k.status;
}

/* Long after the last event: so that what waits is known to wait forever. */
static void emit_end(struct machine *r)
{
    static const char text[] = "end of the run: nothing can happen any more";
    enum { LONG = 1000000 };
    struct nocap_event e = {.kind = NOCAP_EV_NOTE,
                            .data = (const uint8_t *)text,
                            .data_size = sizeof text - 1,
                            .has = NOCAP_F_TEXT};
    r->k.now += LONG;
    run_emit(r, &e);
}

static void run(struct machine *r)
{
    while (r->k.status == NOCAP_OK && !r->result->cut) {
        bool any;
        struct act next = choose(r, &any);
        if (any) {
            act(r, &next);
        } else if (!answer(r)) {
            break;
        }
    }
    r->result->stuck = r->result->cut || r->k.status != NOCAP_OK ? 0 : count_blocked(r);
    if (r->result->stuck != 0) {
        emit_end(r);
    }
}

enum nocap_status nocap_aie_run(const struct nocap_aie_image *image,
                                const struct nocap_aie_run_options *options,
                                nocap_machine_sink *sink, void *context,
                                struct nocap_aie_run_result *result, struct nocap_error *err)
{
    RETURN_ERROR_IF(image->kernel_count > 1, err, NOCAP_E_INTERNAL,
                    "the machine was given an image of several kernels");
    RETURN_ERROR_IF(image->stream_count != 0, err, NOCAP_E_INPUT,
                    "a transaction stream of aie2 or aie2p, which nocap does not run; see "
                    "nocap aie lint and disasm");
    RETURN_ERROR_IF(options->size != sizeof *options, err, NOCAP_E_INTERNAL,
                    "the machine was given options of another version");
    *result = (struct nocap_aie_run_result){.events = 0};
    struct machine r = {.image = image,
                        .options = options,
                        .result = result,
                        .k = {.sink = sink,
                              .context = context,
                              .err = err,
                              .random = (options->seed + 1) * UINT64_C(0x9E3779B97F4A7C15) | 1}};
    r.k.status = begin(&r);
    run(&r);
    for (unsigned i = 0; i < RUN_UCS; i++) {
        while (r.ucs[i] != NULL && r.ucs[i]->depth != 0) {
            pop(r.ucs[i]);
        }
        free(r.ucs[i]);
    }
    free(r.channels);
    MAP_FREE(&r.memory);
    return r.k.status;
}

enum nocap_status nocap_aie_run_header(const struct nocap_aie_run_options *options, const char *elf,
                                       struct nocap_header *header, struct nocap_error *err)
{
    char producer[96];
    nocap_header_init(header);
    header->arch = NOCAP_ARCH_AIE2PS;
    header->time_unit = NOCAP_TIME_CYCLES;
    header->has_time_unit = true;
    header->complete = NOCAP_TRUE;
    header->has_observes = true;
    header->observes = NOCAP_CLASS_CERT | NOCAP_CLASS_AIE_MMIO;
    snprintf(producer, sizeof producer, "nocap aie run, dialect %s, seed %llu",
             nocap_aie_dialect_name(options->dialect), (unsigned long long)options->seed);
    header->producer = strdup(producer);
    RETURN_ERROR_IF(header->producer == NULL, err, NOCAP_E_MEMORY,
                    "out of memory for the header of a trace");
    if (elf == NULL) {
        return NOCAP_OK;
    }
    header->has_firmware = true;
    header->firmware = calloc(1, sizeof *header->firmware);
    if (header->firmware != NULL) {
        header->firmware_count = 1;
        header->firmware[0].core = strdup("uc");
        header->firmware[0].path = strdup(elf);
    }
    if (header->firmware == NULL || header->firmware[0].core == NULL ||
        header->firmware[0].path == NULL) {
        nocap_header_free(header);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the header of a trace");
    }
    return NOCAP_OK;
}
