/* Instructions: their bytes, their order in a job, who may run them when, and what they do. */
#include <stdio.h>
#include <string.h>

#include "replay/cert_private.h"

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
        nocap_aie_walk_begin(&walker, page->code, NOCAP_AIE_N26);
        while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN && walker.at <= e->off) {
            if (nocap_aie_starts_job(walker.insn.info->opcode)) {
                id = walker.insn.value[NOCAP_AIE_START_JOB_job_id];
            }
        }
    }
    return id;
}

static struct cert_job *find_job(struct cert_uc *uc, const struct nocap_event *e,
                                 struct cert_page **page)
{
    *page = cert_page_find(uc, (uint32_t)e->page);
    return *page == NULL ? NULL : cert_job_find(*page, job_id(*page, e));
}

/* The job that an instruction begins to run in; NULL without memory. */
static struct cert_job *enter_job(struct model *m, struct cert_uc *uc, struct cert_page *page,
                                  const struct nocap_event *e)
{
    uint32_t id = job_id(page, e);
    struct cert_job *job = cert_job_find(page, id);
    if (job == NULL) {
        bool known = page->code != NULL && page->whole && page->code->text_size != 0;
        CERT_EXPECT(m, uc, AIE_069, !known, NOTHING, "a job of the page", "page %u has no job %u",
                    page->index, id);
        job = cert_job_add(m, page, id);
    }
    return job;
}

/* ---- bytes ---- */

/* An event has the instruction as it ran; only LOAD_PDI differs between dialects in its length. */
static bool decode(const uint8_t *bytes, size_t size, struct nocap_aie_insn *insn)
{
    enum nocap_aie_dialect dialect = size == 6 ? NOCAP_AIE_F25 : NOCAP_AIE_N26;
    return nocap_aie_decode(dialect, bytes, size, insn) == NOCAP_AIE_DECODED;
}

/* Whether the bytes are those of the file, as far as nobody patched them. */
static bool same_bytes(const struct cert_uc *uc, const struct cert_page *page,
                       const struct nocap_event *e)
{
    const uint8_t *patched = cert_patched(uc, page->index);
    if (e->off > NOCAP_AIE_PAGE_SIZE || e->data_size > NOCAP_AIE_PAGE_SIZE - e->off) {
        return false;
    }
    for (uint32_t i = 0; i < e->data_size; i++) {
        uint32_t at = (uint32_t)e->off + i;
        if (e->data[i] != page->code->bytes[at] && !cert_is_patched(patched, at)) {
            return false;
        }
    }
    return true;
}

static void hex(char *text, size_t size, const uint8_t *bytes, uint32_t count)
{
    text[0] = 0;
    for (uint32_t i = 0; i < count && 2 * i + 3 <= size; i++) {
        snprintf(text + 2 * (size_t)i, size - 2 * (size_t)i, "%02x", bytes[i]);
    }
}

/* Judges the bytes; false if they are not those of the file. A probe of a tracer stands over the
 * first word of an instruction and is no fault. */
static bool judge_bytes(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                        const struct nocap_event *e)
{
    if (page->code == NULL || e->data_size == 0 || e->data[0] == NOCAP_AIE_TRACE) {
        return true;
    }
    if (same_bytes(uc, page, e)) {
        HOLDS(m, AIE_070);
        return true;
    }
    char ran[48], file[48];
    uint32_t off = e->off < NOCAP_AIE_PAGE_SIZE ? (uint32_t)e->off : NOCAP_AIE_PAGE_SIZE;
    uint32_t rest = NOCAP_AIE_PAGE_SIZE - off;
    hex(ran, sizeof ran, e->data, e->data_size);
    hex(file, sizeof file, page->code->bytes + off, e->data_size < rest ? e->data_size : rest);
    CERT_EXPECT(m, uc, AIE_070, false, NOTHING, "the bytes of the ELF file",
                "at page %u offset %u ran %s, the file has %s", page->index, (unsigned)e->off, ran,
                file);
    return false;
}

/* Takes the instruction of the event into the step. */
static void take_insn(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                      struct cert_step *step, const struct nocap_event *e)
{
    struct nocap_aie_insn insn;
    uint32_t off = (uint32_t)e->off;
    *step = (struct cert_step){.active = true, .off = off, .at = cert_now(m, uc)};
    step->raced.index = NO_INDEX;
    step->doubtful = !judge_bytes(m, uc, page, e);
    bool in_file = page->code != NULL && off < NOCAP_AIE_PAGE_SIZE;
    bool probe = e->data_size != 0 && e->data[0] == NOCAP_AIE_TRACE;
    bool decoded = (in_file && (step->doubtful || probe))
                       ? decode(page->code->bytes + off, NOCAP_AIE_PAGE_SIZE - off, &insn)
                       : decode(e->data, e->data_size, &insn);
    if (decoded) {
        step->info = insn.info;
        memcpy(step->value, insn.value, sizeof step->value);
        step->next = off + insn.info->size;
    }
}

/* ---- who may run ---- */

/* Instructions that never give up the uC. Of others that do not wait the instruction set does not
 * say it. */
static bool keeps_uc(const struct nocap_aie_insn_info *info)
{
    switch (info == NULL ? NOCAP_AIE_NOP : info->opcode) {
    case NOCAP_AIE_WRITE_32:
    case NOCAP_AIE_WRITE_32_D:
    case NOCAP_AIE_MASK_WRITE_32:
    case NOCAP_AIE_READ_32:
    case NOCAP_AIE_READ_32_D:
    case NOCAP_AIE_ADD:
    case NOCAP_AIE_MOV:
    case NOCAP_AIE_LAUNCH_JOB:
    case NOCAP_AIE_SLEEP: return true;
    default: return false;
    }
}

static void give_up(struct cert_uc *uc)
{
    uc->held = false;
    uc->session++;
}

/* A deferred job runs once it is launched, from the next scheduling cycle on. Gives false if a
 * fault was told. */
static bool judge_launch(struct model *m, struct cert_uc *uc, struct cert_page *page,
                         struct cert_job *job)
{
    bool starts = job->step.info != NULL && nocap_aie_starts_job(job->step.info->opcode);
    if (starts) {
        job->deferred = job->step.info->opcode == NOCAP_AIE_START_JOB_DEFERRED;
        job->deferred_at = job->step.at;
    }
    if (!job->deferred || !page->whole || (job->started && !starts)) {
        return true;
    }
    bool launched = job->launched;
    if (!launched && starts) {
        return true; /* the firmware may only look for jobs here */
    }
    bool early = launched && job->launch_session == uc->session;
    struct moment at = starts ? job->step.at : job->deferred_at;
    EXPECT_AT(m, NULL, AIE_063, launched && !early, launched ? job->step.at : at, NOTHING,
              "a deferred job to run in the scheduling cycle after its launch", CERT_PLACE " %s",
              CERT_AT(page, job),
              launched ? "runs before its launcher gave up the uC" : "runs and was not launched");
    job->started = true;
    job->launched = true;
    return launched && !early;
}

static void judge_schedule(struct model *m, struct cert_uc *uc, struct cert_page *page,
                           struct cert_job *job)
{
    bool launch_fits = judge_launch(m, uc, page, job);
    bool holder = uc->holder_page == page->index && uc->holder_job == job->id;
    if (uc->held && !holder && launch_fits) {
        CERT_EXPECT(m, uc, AIE_062, false, NOTHING,
                    "an instruction that does not wait to keep the uC for its job",
                    CERT_PLACE " runs in the middle of job %u of page %u", CERT_AT(page, job),
                    uc->holder_job, uc->holder_page);
    } else if (uc->holder_job != job->id) {
        HOLDS(m, AIE_062);
    }
    uc->holder_page = page->index;
    uc->holder_job = job->id;
    uc->held = keeps_uc(job->step.info);
}

/* ---- what instructions do at once ---- */

/* The base addresses that APPLY_OFFSET adds to are not known, since the arguments are not. */
static void patch_table(struct model *m, struct cert_uc *uc, const struct cert_page *page,
                        const struct cert_step *step)
{
    bool pl = step->info->opcode == NOCAP_AIE_APPLY_OFFSET_PL;
    uint32_t words =
        nocap_aie_relocation_words(pl ? NOCAP_AIE_REL_PL_DDR_64 : NOCAP_AIE_REL_SHIM_DMA_57);
    uint32_t size = pl ? NOCAP_AIE_PL_ENTRY_SIZE : NOCAP_AIE_TABLE_ENTRY_SIZE;
    uint32_t at = CERT_V(step, APPLY_OFFSET_57, table_ptr) + NOCAP_AIE_HEADER_SIZE;
    uint32_t entries = pl ? 1 : CERT_V(step, APPLY_OFFSET_57, num_entries);
    for (uint32_t i = 0; i < entries && at + size <= NOCAP_AIE_PAGE_SIZE; i++, at += size) {
        cert_patch_words(m, uc, page->index, at, words);
    }
}

static void begin(struct model *m, struct cert_uc *uc, struct cert_page *page, struct cert_job *job)
{
    struct cert_step *step = &job->step;
    if (step->info == NULL) {
        return;
    }
    switch (step->info->opcode) {
    case NOCAP_AIE_UC_DMA_WRITE_DES:
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: cert_dma_start(m, uc, page, job); break;
    case NOCAP_AIE_LOCAL_BARRIER:
    case NOCAP_AIE_REMOTE_BARRIER: cert_arrive(uc, page, job); break;
    case NOCAP_AIE_APPLY_OFFSET_57:
    case NOCAP_AIE_APPLY_OFFSET_PL: patch_table(m, uc, page, step); break;
    case NOCAP_AIE_PREEMPT:
    case NOCAP_AIE_LOAD_PDI:
    case NOCAP_AIE_LOAD_CORES:
    case NOCAP_AIE_LOAD_LAST_PDI: cert_page_target(uc, step); break;
    default: cert_expect_accesses(uc, job); break;
    }
    cert_registers_read(m, uc, page, job);
    uc->polling += cert_is_poll(step);
}

/* ---- ends ---- */

/* The same instruction twice is a matter of its job's order. May move the jobs of the page. */
static void launch(struct model *m, struct cert_uc *uc, struct cert_page *page, uint32_t id,
                   uint32_t off)
{
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
        CERT_EXPECT(m, uc, AIE_020, job->launch_index == 0 || job->launch_off == off,
                    RELATED(job->launch_index), "one launch of each deferred job",
                    "job %u of page %u launched again", job->id, page->index);
    }
    job->launched = true;
    job->launch_session = uc->session;
    job->launch_index = m->event->index;
    job->launch_off = off;
}

/* Whether an instruction ends only when something that others did has come. */
static bool orders(const struct nocap_aie_insn_info *info)
{
    return info == NULL || (info->blocks && info->opcode != NOCAP_AIE_YIELD &&
                            info->opcode != NOCAP_AIE_UC_DMA_WRITE_DES);
}

/* The instruction is over: what it owes, what it leaves behind. May move the jobs of the page. */
static void finish(struct model *m, struct cert_uc *uc, struct cert_page *page,
                   struct cert_job *job)
{
    struct cert_step *step = &job->step;
    if (step->info != NULL && step->info->blocks) {
        cert_released(m, uc, page, job);
    }
    if (cert_is(step, NOCAP_AIE_WAIT_TCTS)) {
        cert_consume(uc, step);
    }
    cert_owed_tell(m, uc);
    cert_owe(m, uc, page, job);
    cert_registers_take(m, uc, page, job);
    job->ordered = orders(step->info) ? m->event->index : job->ordered;
    job->ended |= cert_is(step, NOCAP_AIE_END_JOB);
    uc->polling -= cert_is_poll(step) ? 1 : 0;
    step->active = false;
    job->next = step->next;
    if (!keeps_uc(step->info)) {
        give_up(uc);
    }
    if (step->info != NULL && step->info->opcode == NOCAP_AIE_LAUNCH_JOB) {
        launch(m, uc, page, CERT_V(step, LAUNCH_JOB, job_id), step->off);
    }
}

/* ---- events ---- */

/* What an instruction did that was not shown is not known: a register, an arrival, a transfer. */
static void lose_track(struct cert_uc *uc, struct cert_page *page, struct cert_job *job)
{
    job->known = 0;
    uc->known = 0;
    uc->fresh = false;
    uc->handle_known = false;
    cert_writers_forget(uc);
    for (unsigned b = 0; b < NOCAP_AIE_LOCAL_BARRIERS; b++) {
        page->barriers[b].doubtful = true;
    }
    for (uint32_t i = 0; i < page->job_count; i++) {
        page->jobs[i].launched |= page->jobs[i].deferred;
    }
}

static void judge_order(struct model *m, struct cert_uc *uc, struct cert_page *page,
                        struct cert_job *job, bool interrupted)
{
    struct cert_step *step = &job->step;
    bool starts = step->info != NULL && nocap_aie_starts_job(step->info->opcode);
    bool first = page->whole && page->code == NULL && !job->started && job->next == 0;
    if (interrupted) {
        CERT_EXPECT(m, uc, AIE_069, false, NOTHING,
                    "an instruction to end before the next one of its job",
                    CERT_PLACE " begins before the instruction at offset %u ended",
                    CERT_AT(page, job), job->next);
    } else if (job->ended) {
        CERT_EXPECT(m, uc, AIE_069, false, NOTHING, "no instruction of a job that is over",
                    CERT_PLACE " runs after END_JOB", CERT_AT(page, job));
    } else if (job->next != 0) {
        CERT_EXPECT(m, uc, AIE_069, step->off == job->next, NOTHING,
                    "the instructions of a job in their order",
                    CERT_PLACE " runs, offset %u is next", CERT_AT(page, job), job->next);
        if (step->off != job->next) {
            lose_track(uc, page, job);
        }
    } else if (first) {
        CERT_EXPECT(m, uc, AIE_069, starts || step->info == NULL, NOTHING,
                    "a job to begin with START_JOB", CERT_PLACE " is its first instruction",
                    CERT_AT(page, job));
    }
}

void cert_step_start(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page = cert_page_enter(m, uc, (uint32_t)e->page);
    struct cert_job *job = enter_job(m, uc, page, e);
    if (job == NULL) {
        return;
    }
    bool interrupted = job->step.active;
    if (interrupted) { /* its end was not shown: what it waited for must have come all the same */
        uint32_t off = job->step.off, id = job->id;
        bool waits = job->step.info != NULL && job->step.info->blocks;
        interrupted = !waits && job->told != off;
        job->step.doubtful |= interrupted;
        finish(m, uc, page, job);
        job = cert_job_find(page, id);
        job->told = interrupted ? off : job->told;
        job->next = interrupted ? off : job->next;
    }
    take_insn(m, uc, page, &job->step, e);
    judge_order(m, uc, page, job, interrupted);
    judge_schedule(m, uc, page, job);
    job->started |= !job->deferred || job->launched;
    bool runs = job->step.info == NULL || !nocap_aie_starts_job(job->step.info->opcode);
    job->ordered = runs && !job->ran && job->deferred ? e->index : job->ordered;
    job->ran |= runs;
    job->ended = false;
    begin(m, uc, page, job);
}

/* The step that an event speaks of; NULL if it is not known or was told. */
static struct cert_job *step_of(struct model *m, struct cert_uc *uc, const struct nocap_event *e,
                                struct cert_page **page)
{
    struct cert_job *job = find_job(uc, e, page);
    if (job == NULL || !(*page)->whole) {
        return job != NULL && job->step.active && job->step.off == e->off ? job : NULL;
    }
    bool fits = job->step.active && job->step.off == e->off;
    if (!fits && job->told == e->off) {
        return NULL;
    }
    CERT_EXPECT(m, uc, AIE_069, fits, NOTHING, "an instruction to begin before it goes on",
                "%s of offset %u in job %u of page %u, which did not begin", nocap_op_name(e->op),
                (unsigned)e->off, job->id, (*page)->index);
    if (!fits) {
        lose_track(uc, *page, job);
        uc->polling -= cert_is_poll(&job->step) ? 1 : 0;
        job->step.active = false;
        job->next = 0;
        job->started = true;
        job->told = (uint32_t)e->off;
    }
    return fits ? job : NULL;
}

void cert_step_end(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page;
    struct cert_job *job = step_of(m, uc, e, &page);
    if (job != NULL) {
        cert_dma_queued(uc, &job->step, e);
        finish(m, uc, page, job);
    }
}

/* What each instruction may wait for, as bits over enum nocap_why. */
static unsigned reasons(const struct nocap_aie_insn_info *info)
{
    switch (info->opcode) {
    case NOCAP_AIE_UC_DMA_WRITE_DES: return 1u << NOCAP_WHY_QUEUE;
    case NOCAP_AIE_UC_DMA_WRITE_DES_SYNC: return 1u << NOCAP_WHY_QUEUE | 1u << NOCAP_WHY_DMA;
    case NOCAP_AIE_WAIT_UC_DMA: return 1u << NOCAP_WHY_DMA;
    case NOCAP_AIE_WAIT_TCTS: return 1u << NOCAP_WHY_TCT;
    case NOCAP_AIE_LOCAL_BARRIER: return 1u << NOCAP_WHY_LOCAL;
    case NOCAP_AIE_REMOTE_BARRIER: return 1u << NOCAP_WHY_REMOTE;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32:
    case NOCAP_AIE_REL_ACQ_SYNC:
    case NOCAP_AIE_UC_DMA_MASK_POLL_EXT: return 1u << NOCAP_WHY_POLL;
    default: return info->blocks ? ~0u : 0;
    }
}

void cert_step_block(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page;
    struct cert_job *job = step_of(m, uc, e, &page);
    if (job == NULL) {
        return;
    }
    struct cert_step *step = &job->step;
    step->blocked = true;
    step->why = e->why;
    step->since = cert_now(m, uc);
    if (step->info != NULL) {
        CERT_EXPECT(m, uc, AIE_062, (reasons(step->info) >> e->why & 1u) != 0, NOTHING,
                    "a block for what the instruction may wait for", CERT_PLACE " blocks for %s",
                    CERT_AT(page, job), nocap_field_value_name(NOCAP_FIELD_WHY, e->why));
    }
    if (e->why == NOCAP_WHY_QUEUE) {
        cert_dma_refused(uc, step);
    } else if (e->why == NOCAP_WHY_DMA) {
        cert_dma_accepted(uc, step);
    }
    give_up(uc);
}

void cert_step_unblock(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page;
    struct cert_job *job = step_of(m, uc, e, &page);
    if (job == NULL) {
        return;
    }
    if (job->step.why != NOCAP_WHY_QUEUE) {
        cert_released(m, uc, page, job);
    }
    job->step.blocked = false;
}

void cert_job_end(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    uint32_t index = (e->has & NOCAP_F_PAGE) != 0 ? (uint32_t)e->page : uc->last_page;
    struct cert_page *page = cert_page_find(uc, index);
    struct cert_job *job = page == NULL ? NULL : cert_job_find(page, (uint32_t)e->job);
    if (job == NULL) {
        return;
    }
    bool ended = job->ended || cert_is(&job->step, NOCAP_AIE_END_JOB);
    if (page->whole && job->started) {
        CERT_EXPECT(m, uc, AIE_069, ended && !job->done, NOTHING, "job-end once, after END_JOB",
                    "job %u of page %u %s", job->id, page->index,
                    job->done ? "ends twice" : "ends without END_JOB");
    }
    job->done = job->ended = true;
    job->step.active = false;
    give_up(uc);
}
