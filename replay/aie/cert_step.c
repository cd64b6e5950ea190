/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions: their order in a job, who may run them when, and what they do. */
#include "replay/aie/cert_private.h"

/* ---- where an event belongs ---- */

/* The job of an event: as it says, else by the file. */
static uint32_t job_id(const struct cert_page *page, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_JOB) != 0) {
        return (uint32_t)e->job;
    }
    struct nocap_aie_walker walker;
    uint32_t id = UINT32_MAX;
    if (page->code != NULL) {
        nocap_aie_walk_begin(&walker, page->code, page->dialect);
        while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN && walker.at <= e->off) {
            if (nocap_aie_starts_job(walker.insn.info->opcode)) {
                id = walker.insn.value[NOCAP_AIE_START_JOB_job_id];
            }
        }
    }
    return id;
}

static bool starts_job(const struct cert_step *step)
{
    return step->info != NULL && nocap_aie_starts_job(step->info->opcode);
}

/* The job to which the instruction belongs: the one in which its place is next, or that of the
 * event; START_JOB says itself which it is, unless both that and the event's are new. */
static uint32_t owner(const struct cert_page *page, const struct cert_step *step, uint32_t id)
{
    for (uint32_t i = 0; i < page->job_count; i++) {
        const struct cert_job *job = &page->jobs[i];
        if (job->next == step->off && job->next != 0 && !job->step.active && !job->ended) {
            return job->id;
        }
    }
    const uint32_t says = step->value[NOCAP_AIE_START_JOB_job_id];
    const bool known = cert_job_find(page, id) != NULL || cert_job_find(page, says) != NULL;
    return starts_job(step) && known ? says : id;
}

/* An event names a job, and is of that one, in which alone it can be. */
static void judge_named(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                        const struct nocap_event *e, uint32_t named, uint32_t id)
{
    CERT_EXPECT(m, uc, AIE_069, id == named, NO_REFS, "an instruction in the job that it is of",
                "%s of offset %u of page %u in job %u, it is of job %u", nocap_op_name(e->op),
                (unsigned)e->off, page->index, named, id);
}

/* The job that an instruction begins to run in; NULL without memory. */
static struct cert_job *enter_job(struct model *m, struct cert_uc *uc, struct cert_page *page,
                                  const struct cert_step *step, const struct nocap_event *e)
{
    uint32_t named = job_id(page, e), id = owner(page, step, named);
    struct cert_job *job = cert_job_find(page, id);
    bool known = page->code != NULL && page->whole && page->code->text_size != 0;
    judge_named(m, uc, page, e, named, id);
    if (job == NULL) {
        CERT_EXPECT(m, uc, AIE_069, !known, NO_REFS, "a job of the page", "page %u has no job %u",
                    page->index, id);
        job = cert_job_add(m, page, id);
    }
    return job;
}

/* ---- who may run ---- */

static void give_up(struct cert_uc *uc)
{
    uc->held = false;
    uc->session++;
}

/* A deferred job runs once it is launched, from the next scheduling cycle on. */
static void judge_launch(struct model *m, const struct cert_at *at)
{
    struct cert_job *job = at->job;
    bool starts = starts_job(&job->step);
    if (starts) {
        job->deferred = job->step.info->opcode == NOCAP_AIE_START_JOB_DEFERRED;
        job->deferred_at = job->step.at;
    }
    bool launched = job->launched;
    bool looks = starts && !launched; /* the firmware may only look for jobs here */
    if (!job->deferred || !at->page->whole || (job->started && !starts) || looks) {
        return;
    }
    bool early = job->launch_session == at->uc->session;
    CHECK_AT(m, NULL, AIE_063, launched && !early, launched ? job->step.at : job->deferred_at,
             NO_REFS, "a deferred job to run in the scheduling cycle after its launch",
             CERT_PLACE " %s", CERT_AT(at),
             launched ? "runs before its launcher gave up the uC" : "runs and was not launched");
    job->started = true;
    job->launched = true;
}

static void judge_schedule(struct model *m, const struct cert_at *at)
{
    struct cert_uc *uc = at->uc;
    judge_launch(m, at);
    if (uc->holder_page != at->page->index || uc->holder_job != at->job->id) {
        CERT_EXPECT(m, uc, AIE_062, !uc->held, NO_REFS,
                    "an instruction that does not wait to keep the uC for its job",
                    CERT_PLACE " runs in the middle of job %u of page %u", CERT_AT(at),
                    uc->holder_job, uc->holder_page);
    }
    uc->holder_page = at->page->index;
    uc->holder_job = at->job->id;
    uc->held = cert_insn(&at->job->step)->keeps_uc;
}

/* ---- what instructions do at once ---- */

/* The base addresses that APPLY_OFFSET adds to are not known, since the arguments are not. */
static void patch_table(struct model *m, const struct cert_at *where)
{
    const struct cert_step *step = &where->job->step;
    bool pl = step->info->opcode == NOCAP_AIE_APPLY_OFFSET_PL;
    const struct nocap_aie_image *image = cert_image(m, where->uc);
    const struct nocap_aie_chip_info *chip =
        nocap_aie_chip_info(image == NULL ? NOCAP_AIE_CHIP_UNKNOWN : image->chip);
    uint32_t words = chip == NULL ? UINT32_MAX : nocap_aie_relocation_words(chip->shim);
    words = pl ? nocap_aie_relocation_words(NOCAP_AIE_REL_PL_DDR_64) : words;
    uint32_t size = pl ? NOCAP_AIE_PL_ENTRY_SIZE : NOCAP_AIE_TABLE_ENTRY_SIZE;
    uint32_t at = CERT_V(step, APPLY_OFFSET_57, table_ptr) + NOCAP_AIE_HEADER_SIZE;
    uint32_t entries = pl ? 1 : CERT_V(step, APPLY_OFFSET_57, num_entries);
    for (uint32_t i = 0; i < entries && at + size <= NOCAP_AIE_PAGE_SIZE; i++, at += size) {
        cert_patch_words(m, where->uc, where->page->index, at, words);
    }
}

static void begin(struct model *m, const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    if (step->info == NULL) {
        return;
    }
    switch (step->info->opcode) {
    case NOCAP_AIE_UC_DMA_WRITE_DES:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: cert_dma_start(m, at); break;
    case NOCAP_AIE_LOCAL_BARRIER:
    case NOCAP_AIE_REMOTE_BARRIER: cert_arrive(at); break;
    case NOCAP_AIE_APPLY_OFFSET_57:
    case NOCAP_AIE_APPLY_OFFSET_PL: patch_table(m, at); break;
    case NOCAP_AIE_PREEMPT:
    case NOCAP_AIE_LOAD_PDI:
    case NOCAP_AIE_LOAD_CORES:
    case NOCAP_AIE_LOAD_LAST_PDI: cert_page_target(at->uc, step); break;
    default: break;
    }
    cert_insn_start(m, at);
}

/* ---- ends ---- */

/* A LAUNCH_JOB. The same one twice is a matter of its job's order. May move the jobs of the page.
 */
static void launch(struct model *m, const struct cert_at *at)
{
    struct cert_page *page = at->page;
    uint32_t id = CERT_V(&at->job->step, LAUNCH_JOB, job_id), off = at->job->step.off;
    struct cert_job *job = cert_job_find(page, id);
    if (job == NULL && page->code == NULL) {
        job = cert_job_add(m, page, id);
        if (job != NULL) {
            job->deferred = true;
        }
    }
    if (job == NULL) {
        return;
    }
    if (page->whole && job->deferred) {
        CERT_EXPECT(m, at->uc, AIE_020, job->launch_index == 0 || job->launch_off == off,
                    RELATED(job->launch_index), "one launch of each deferred job",
                    "job %u of page %u launched again", job->id, page->index);
    }
    job->launched = true;
    job->launch_session = at->uc->session;
    job->launch_index = m->event->index;
    job->launch_off = off;
}

/* Whether an instruction ends only when something that others did has come. */
static bool orders(const struct nocap_aie_insn_info *info)
{
    return info == NULL || (info->blocks && info->opcode != NOCAP_AIE_YIELD &&
                            info->opcode != NOCAP_AIE_UC_DMA_WRITE_DES);
}

/* The instruction is over: what is outstanding, what it leaves behind. May move the jobs of the
 * page. */
static void finish(struct model *m, const struct cert_at *at)
{
    struct cert_step *step = &at->job->step;
    if (step->info != NULL && step->info->blocks) {
        cert_misplace(at->job, step->off, cert_released(m, at));
    }
    if (cert_is(step, NOCAP_AIE_WAIT_TCTS)) {
        cert_consume(at->uc, step);
    }
    cert_insn_end(m, at);
    at->job->ordered = orders(step->info) ? m->event->index : at->job->ordered;
    at->job->ended |= cert_is(step, NOCAP_AIE_END_JOB);
    step->active = false;
    at->job->next = step->next;
    if (!cert_insn(step)->keeps_uc) {
        give_up(at->uc);
    }
    if (step->info != NULL && step->info->opcode == NOCAP_AIE_LAUNCH_JOB) {
        launch(m, at);
    }
}

/* ---- events ---- */

/* What an instruction did that was not shown is not known: a register, an arrival, a transfer. */
static void lose_track(const struct cert_at *at)
{
    cert_registers_forget(at->uc, at->job);
    at->uc->fresh = false;
    at->uc->next_handle.known = false;
    for (unsigned b = 0; b < NOCAP_AIE_LOCAL_BARRIERS; b++) {
        at->page->barriers[b].known = false;
    }
    for (uint32_t i = 0; i < at->page->job_count; i++) {
        at->page->jobs[i].launched |= at->page->jobs[i].deferred;
    }
}

/* `since`: the fault of the instruction before. The fault, if it is one. */
static fault_id judge_order(struct model *m, const struct cert_at *at, fault_id since)
{
    struct cert_step *step = &at->job->step;
    bool starts = starts_job(step);
    bool first = at->page->whole && at->page->code == NULL && !at->job->started;
    if (at->job->ended) {
        CERT_EXPECT_AFTER(m, at->uc, AIE_069, either(since, at->job->over_since), false, NO_REFS,
                          "no instruction of a job that is over", CERT_PLACE " runs after END_JOB",
                          CERT_AT(at));
    } else if (at->job->next != 0) {
        const bool right = step->off == at->job->next;
        since = either(since, at->job->next_since);
        at->job->next_since = FAULT_NONE;
        CERT_EXPECT_AFTER(m, at->uc, AIE_069, since, right, NO_REFS,
                          "the instructions of a job in their order",
                          CERT_PLACE " runs, offset %u is next", CERT_AT(at), at->job->next);
        step->instead_of = right ? 0 : at->job->next;
        if (!right && since == FAULT_NONE) {
            lose_track(at);
        }
    } else if (first) {
        CERT_EXPECT_AFTER(m, at->uc, AIE_069, at->page->since, starts || step->info == NULL,
                          NO_REFS, "a job to begin with START_JOB",
                          CERT_PLACE " is the first of its job, not START_JOB", CERT_AT(at));
        at->job->next_since = m->fault;
    } else {
        return FAULT_NONE;
    }
    return m->fault;
}

/* An instruction begins while the one before is under way, whose end was not shown: what that one
 * waited for must have come all the same. Gives the fault, if it is one. */
static fault_id interrupt(struct model *m, struct cert_at *at, const struct cert_step *next)
{
    struct cert_step *step = &at->job->step;
    uint32_t id = at->job->id, off = step->off;
    if (step->info == NULL || !step->info->blocks) {
        CERT_EXPECT_AFTER(m, at->uc, AIE_069, cert_misplaced_since(at->job, off), false, NO_REFS,
                          "an instruction to end before the next one of its job",
                          CERT_PLACE " begins before the instruction at offset %u ended",
                          CERT_AT_STEP(at, next), off);
        step->since = m->fault;
        cert_misplace(at->job, off, m->fault);
    }
    finish(m, at);
    at->job = cert_job_find(at->page, id);
    return cert_misplaced_since(at->job, off);
}

/* An instruction whose end has shown before does nothing when it begins. */
static bool began_before(struct model *m, const struct cert_at *at, const struct cert_step *step)
{
    struct cert_job *job = at->job;
    fault_id since = cert_misplaced_since(job, step->off);
    if (since == FAULT_NONE) {
        return false;
    }
    CERT_EXPECT_AFTER(m, at->uc, AIE_069, since, false, NO_REFS,
                      "the instructions of a job in their order, each once",
                      CERT_PLACE " begins after it ended", CERT_AT_STEP(at, step));
    lose_track(at); /* what it does was not followed */
    give_up(at->uc);
    job->next = job->next == step->off ? step->next : job->next;
    job->ended |= cert_is(step, NOCAP_AIE_END_JOB);
    return true;
}

void cert_step_start(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_at at = {.uc = uc, .page = cert_page_enter(m, uc, (uint32_t)e->page)};
    struct cert_step step;
    const struct cert_job *named = cert_job_find(at.page, job_id(at.page, e));
    cert_take_insn(m, uc, at.page, &step, named != NULL ? named->next : 0);
    at.job = enter_job(m, uc, at.page, &step, e);
    if (at.job == NULL || began_before(m, &at, &step)) {
        return;
    }
    uc->steps++;
    bool interrupts = at.job->step.active;
    uint32_t before = at.job->step.off;
    fault_id since = interrupts ? interrupt(m, &at, &step) : FAULT_NONE;
    struct cert_job *job = at.job;
    bool late = step.off < job->next;
    job->step = step;
    fault_id fault = judge_order(m, &at, since);
    cert_misplace(job, step.off, fault);
    cert_misplace(job, before, interrupts ? fault : FAULT_NONE);
    job->step.since = either(job->step.since, late ? fault : FAULT_NONE);
    judge_schedule(m, &at);
    job->started |= !job->deferred || job->launched;
    bool runs = !starts_job(&step);
    job->ordered = runs && !job->ran && job->deferred ? e->index : job->ordered;
    job->ran |= runs;
    job->ended = false;
    begin(m, &at);
}

static bool is_at(const struct cert_job *job, const struct nocap_event *e)
{
    return job->step.active && job->step.off == e->off;
}

/* The job at whose step that is, whatever job the event names; false: none is there. */
static bool find_at(struct model *m, struct cert_at *at, const struct nocap_event *e,
                    uint32_t named)
{
    for (uint32_t i = 0; i < at->page->job_count; i++) {
        struct cert_job *job = &at->page->jobs[i];
        if (!is_at(job, e)) {
            continue;
        }
        at->job = job;
        judge_named(m, at->uc, at->page, e, named, job->id);
        if (starts_job(&job->step) && job->step.value[NOCAP_AIE_START_JOB_job_id] == named) {
            job->id = named; /* it was named wrong as it began */
        }
        return true;
    }
    return false;
}

/* An instruction of the job goes on or ends that did not begin. */
static void never_began(struct model *m, const struct cert_at *at, uint32_t off, bool known)
{
    struct cert_job *job = at->job;
    if (!job->step.active && job->step.off == off) {
        return; /* the one that ended last, again */
    }
    job->next = job->step.active && job->next != off ? job->next : 0;
    if (known) {
        return;
    }
    lose_track(at);
    give_up(at->uc); /* it may be one that yields */
    job->started = true;
    job->step.since = either(job->step.since, m->fault); /* nor what that one did */
    cert_misplace(job, off, m->fault);
    if (job->step.active) {
        cert_misplace(job, job->step.off, m->fault); /* it may be of this one */
    }
}

/* Whether the step of `at` is the one that an event speaks of. */
static bool judge_began(struct model *m, const struct cert_at *at, const struct nocap_event *e)
{
    const struct cert_uc *uc = at->uc;
    struct cert_job *job = at->job;
    bool fits = is_at(job, e);
    fault_id known = cert_misplaced_since(job, e->off), since = either(known, job->over_since);
    since = either(since, job->started ? FAULT_NONE : at->page->since);
    if (since == FAULT_NONE && !job->step.active && uc->unattributed.v == uc->steps) {
        since = uc->unattributed.since; /* an access of this one */
    }
    CERT_EXPECT_AFTER(m, uc, AIE_069, since, fits, NO_REFS,
                      "an instruction to begin before it ends",
                      "%s of offset %u in job %u of page %u, which did not begin",
                      nocap_op_name(e->op), (unsigned)e->off, job->id, at->page->index);
    if (!fits) {
        never_began(m, at, (uint32_t)e->off, known != FAULT_NONE);
    }
    return fits;
}

/* The job whose step an event speaks of; false if that is not known. */
static bool find_step(struct model *m, struct cert_uc *uc, const struct nocap_event *e,
                      struct cert_at *at)
{
    *at = (struct cert_at){.uc = uc, .page = cert_page_find(uc, (uint32_t)e->page)};
    if (at->page == NULL) {
        return false;
    }
    uint32_t named = job_id(at->page, e);
    struct cert_job *job = at->job = cert_job_find(at->page, named);
    if (job != NULL && job->step.active && job->step.instead_of == e->off && e->off != 0) {
        job->step.next += job->step.instead_of - job->step.off; /* the start had another place */
        job->step.off = job->step.instead_of;
    }
    if ((job == NULL || !is_at(job, e)) && find_at(m, at, e, named)) {
        return true;
    }
    if (job == NULL || !at->page->whole) {
        return job != NULL && is_at(job, e);
    }
    return judge_began(m, at, e);
}

static void block(struct model *m, const struct cert_at *at, uint8_t why)
{
    struct cert_step *step = &at->job->step;
    step->blocked = true;
    step->why = why;
    step->blocked_at = cert_now(m, at->uc);
    if (step->info != NULL) {
        unsigned may = cert_insn(step)->why;
        bool any = may == 0 && step->info->blocks;
        CERT_EXPECT_AFTER(m, at->uc, AIE_062, step->since, any || (may >> why & 1u) != 0, NO_REFS,
                          "a block for what the instruction may wait for",
                          CERT_PLACE " blocks for %s, which it never waits for", CERT_AT(at),
                          nocap_field_value_name(NOCAP_FIELD_WHY, why));
    }
    cert_dma_blocked(at->uc, step);
    give_up(at->uc);
}

void cert_step_event(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_at at;
    bool found = find_step(m, uc, e, &at);
    uc->steps++;
    if (!found) {
        cert_dma_queued(uc, NULL, e);
        return;
    }
    struct cert_step *step = &at.job->step;
    if (e->op == NOCAP_OP_BLOCK) {
        block(m, &at, e->why);
    } else if (e->op == NOCAP_OP_END) {
        cert_dma_queued(uc, step, e);
        finish(m, &at);
    } else {
        /* a poll may look once more before its end */
        if (step->why != NOCAP_WHY_QUEUE && !cert_is_poll(step)) {
            cert_misplace(at.job, step->off, cert_released(m, &at));
        }
        step->blocked = false;
    }
}

void cert_job_end(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    uint32_t index = (e->has & NOCAP_F_PAGE) != 0 ? (uint32_t)e->page : uc->last_page.v;
    struct cert_page *page = cert_page_find(uc, index);
    struct cert_job *job = page == NULL ? NULL : cert_job_find(page, (uint32_t)e->job);
    cert_of(m)->job_ends = true;
    if (job == NULL) {
        return;
    }
    bool ended = job->ended || cert_is(&job->step, NOCAP_AIE_END_JOB);
    const struct value *last = &job->misplaced[(job->misplaced_count - 1) % CERT_MISPLACED];
    if (page->whole &&
        job->started) { /* where the next one is not known, it may have been END_JOB */
        fault_id since = either(job->over_since, job->next == 0 ? last->since : FAULT_NONE);
        CERT_EXPECT_AFTER(m, uc, AIE_069, since, ended && !job->done, NO_REFS,
                          "job-end once, after END_JOB", "job %u of page %u %s", job->id,
                          page->index, job->done ? "ends twice" : "ends without END_JOB");
        job->over_since = m->fault;
    }
    job->done = job->ended = true;
    job->step.active = false;
    give_up(uc);
}
