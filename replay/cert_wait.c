/* Jobs that wait, and whether anything can still end that. */
#include <stdio.h>
#include <string.h>

#include "replay/cert_private.h"

/* ---- who has not come to a barrier ---- */

static void add_party(struct nocap_cert_wait *wait, unsigned uc, bool has_job, uint32_t job)
{
    if (wait->missing_count < NOCAP_CERT_MISSING) {
        wait->missing[wait->missing_count++] =
            (struct nocap_cert_party){.uc = (uint8_t)uc, .has_job = has_job, .job = job};
    }
}

static bool waits_at(const struct cert_job *job, uint32_t barrier)
{
    return cert_is(&job->step, NOCAP_AIE_LOCAL_BARRIER) &&
           CERT_V(&job->step, LOCAL_BARRIER, local_barrier_id) == barrier;
}

/* The jobs of the page that come to the barrier later, and do not stand at it. */
static void missing_jobs(const struct cert_uc *uc, const struct cert_page *page, uint32_t barrier,
                         struct nocap_cert_wait *wait)
{
    struct nocap_aie_walker walker;
    struct cert_job *job = NULL;
    if (page->code == NULL) {
        return;
    }
    nocap_aie_walk_begin(&walker, page->code, NOCAP_AIE_N26);
    while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        uint8_t opcode = walker.insn.info->opcode;
        if (nocap_aie_starts_job(opcode)) {
            job = cert_job_find((struct cert_page *)(uintptr_t)page,
                                walker.insn.value[NOCAP_AIE_START_JOB_job_id]);
        } else if (opcode == NOCAP_AIE_LOCAL_BARRIER && job != NULL && !waits_at(job, barrier) &&
                   walker.insn.value[NOCAP_AIE_LOCAL_BARRIER_local_barrier_id] == barrier &&
                   walker.at > job->step.off && !job->ended && !job->done) {
            add_party(wait, uc->index, true, job->id);
            job = NULL; /* once is enough */
        }
    }
}

static void missing_columns(const struct model *m, const struct cert_step *step,
                            struct nocap_cert_wait *wait)
{
    uint32_t mask = CERT_V(step, REMOTE_BARRIER, party_mask);
    for (unsigned column = 0; column < CERT_COLUMNS && step->phase != 0; column++) {
        if ((mask >> column & 1u) != 0 && cert_column_came(m, column, step) != YES) {
            add_party(wait, column, false, 0);
        }
    }
}

/* Adds the jobs that did not come to what is said of a barrier. */
static void name_missing(struct nocap_cert_wait *wait)
{
    size_t used = strlen(wait->what);
    for (uint32_t i = 0; i < wait->missing_count && used < sizeof wait->what; i++) {
        used += (size_t)snprintf(wait->what + used, sizeof wait->what - used, "%s %u",
                                 i == 0 ? "; missing job" : ",", wait->missing[i].job);
    }
}

/* ---- waits ---- */

static uint8_t why_of(const struct cert_step *step)
{
    if (step->blocked) {
        return step->why;
    }
    switch (step->info->opcode) {
    case NOCAP_AIE_WAIT_TCTS: return NOCAP_WHY_TCT;
    case NOCAP_AIE_LOCAL_BARRIER: return NOCAP_WHY_LOCAL;
    case NOCAP_AIE_REMOTE_BARRIER: return NOCAP_WHY_REMOTE;
    case NOCAP_AIE_POLL_32:
    case NOCAP_AIE_MASK_POLL_32: return NOCAP_WHY_POLL;
    default: return NOCAP_WHY_DMA;
    }
}

static void describe(const struct model *m, const struct cert_uc *uc, const struct cert_page *page,
                     const struct cert_job *job, struct nocap_cert_wait *wait)
{
    const struct cert_step *step = &job->step;
    struct moment since = step->blocked ? step->since : step->at;
    *wait = (struct nocap_cert_wait){.uc = uc->index,
                                     .page = page->index,
                                     .off = step->off,
                                     .job = job->id,
                                     .why = why_of(step),
                                     .since = since.index,
                                     .t = since.t};
    cert_condition(m, uc, page, job, wait->what, sizeof wait->what);
    wait->outside = wait->why != NOCAP_WHY_LOCAL && wait->why != NOCAP_WHY_REMOTE;
    if (cert_is(step, NOCAP_AIE_LOCAL_BARRIER)) {
        missing_jobs(uc, page, CERT_V(step, LOCAL_BARRIER, local_barrier_id), wait);
        name_missing(wait);
    } else if (cert_is(step, NOCAP_AIE_REMOTE_BARRIER)) {
        missing_columns(m, step, wait);
    }
}

/* Whether the job stands at an instruction that waits, and its condition does not hold as far as
 * that is known. */
static bool waits(const struct model *m, const struct cert_uc *uc, const struct cert_page *page,
                  const struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    if (!step->active || step->info == NULL || !step->info->blocks) {
        return false;
    }
    return step->blocked || cert_condition(m, uc, page, job, NULL, 0) == NO;
}

size_t cert_waits(const struct model *m, struct nocap_cert_wait *list, size_t capacity)
{
    size_t count = 0;
    for (unsigned i = 0; i < m->cert->uc_end; i++) {
        const struct cert_uc *uc = m->cert->ucs[i];
        for (unsigned p = 0; uc != NULL && p < CERT_PAGES; p++) {
            const struct cert_page *page = &uc->pages[p];
            for (uint32_t j = 0; j < page->job_count; j++) {
                if (!waits(m, uc, page, &page->jobs[j])) {
                    continue;
                }
                if (count < capacity) {
                    describe(m, uc, page, &page->jobs[j], &list[count]);
                }
                count++;
            }
        }
    }
    return count;
}

/* ---- hangs ---- */

/* Nothing has happened for a long time: ten thousand units, and ten of the longest pauses that the
 * trace has shown. */
bool cert_quiet(const struct model *m)
{
    enum { LONG = 10000, PAUSES = 10 };
    const struct cert *c = m->cert;
    uint64_t quiet = m->last_t > c->activity ? m->last_t - c->activity : 0;
    return c->active && quiet >= LONG && quiet / PAUSES >= c->longest;
}

/* Whether a column that did not come to a remote barrier may begin, or go on with a next page. What
 * its unfinished jobs do is judged of themselves. */
static bool column_may_come(const struct model *m, unsigned column)
{
    const struct cert_uc *uc = m->cert->ucs[column];
    if (uc == NULL) {
        return true;
    }
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        const struct cert_page *page = &uc->pages[p];
        if (page->live && cert_page_unfinished(page) != NULL) {
            return false;
        }
    }
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        const struct cert_page *page = &uc->pages[p];
        if (page->live && page->index == uc->last_page && page->code != NULL) {
            return nocap_aie_head(page->code, NOCAP_AIE_HEAD_NEXT) != 0;
        }
    }
    return true;
}

static bool others_may_come(const struct model *m, const struct cert_step *step)
{
    uint32_t mask = CERT_V(step, REMOTE_BARRIER, party_mask);
    for (unsigned column = 0; column < CERT_COLUMNS; column++) {
        if ((mask >> column & 1u) != 0 && cert_column_came(m, column, step) != YES &&
            column_may_come(m, column)) {
            return true;
        }
    }
    return false;
}

/* Whether a job may go on, or may be ended by something from outside the jobs. */
static bool may_move(const struct model *m, const struct cert_uc *uc, const struct cert_page *page,
                     const struct cert_job *job)
{
    const struct cert_step *step = &job->step;
    if (!cert_job_unfinished(page, job)) {
        return false;
    }
    bool remote = cert_is(step, NOCAP_AIE_REMOTE_BARRIER);
    if (!remote && !cert_is(step, NOCAP_AIE_LOCAL_BARRIER)) {
        return true;
    }
    return cert_condition(m, uc, page, job, NULL, 0) != NO || (remote && others_may_come(m, step));
}

/* Whether all jobs that are not over stand at barriers that only each other could open. A page
 * whose jobs are not all known may have one that moves. */
static bool deadlocked(const struct model *m)
{
    for (unsigned i = 0; i < m->cert->uc_end; i++) {
        const struct cert_uc *uc = m->cert->ucs[i];
        for (unsigned p = 0; uc != NULL && p < CERT_PAGES; p++) {
            const struct cert_page *page = &uc->pages[p];
            if (page->live && (!page->whole || page->code == NULL)) {
                return false;
            }
            for (uint32_t j = 0; j < page->job_count; j++) {
                if (may_move(m, uc, page, &page->jobs[j])) {
                    return false;
                }
            }
        }
    }
    return true;
}

bool cert_hung(const struct model *m)
{
    return m->cert->active && cert_waits(m, NULL, 0) != 0 && (cert_quiet(m) || deadlocked(m));
}
