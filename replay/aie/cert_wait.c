/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of AIE control code that wait: for each other at barriers, or for what comes from outside,
 * and whether anything can still end that. Source: AIE control code fact sheet, rules R62 to R66.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/aie/cert_private.h"
#include "replay/core/wait_builder.h"

enum { WAITS_MAX = 1024, MISSING_MAX = 8, ANY_JOB = -1 };

/* ---- who waits ---- */

/* The next job of all after `at`; false: there are no more. */
static bool next_job(const struct cert *c, struct cert_at *at)
{
    for (unsigned uc = at->uc == NULL ? 0 : at->uc->index; uc < c->uc_end; uc++) {
        at->page = at->uc == c->ucs[uc] ? at->page : NULL;
        at->uc = c->ucs[uc];
        if (at->uc != NULL && cert_next_job(at)) {
            return true;
        }
    }
    return false;
}

/* Whether the job is at an instruction that waits, and its condition does not hold as far as that
 * is known. */
static bool waits(const struct model *m, const struct cert_at *w)
{
    const struct cert_step *step = &w->job->step;
    return step->active && step->info != NULL && step->info->blocks &&
           (step->blocked || cert_came(m, w) == NO);
}

/* The waiting jobs at this moment, by uc, page and job: fills `list` and gives their number, which
 * may be above `capacity`. */
static size_t list_waits(const struct model *m, struct cert_at *list, size_t capacity)
{
    size_t count = 0;
    for (struct cert_at w = {NULL, NULL, NULL}; next_job(cert_of(m), &w);) {
        if (waits(m, &w)) {
            if (count < capacity) {
                list[count] = w;
            }
            count++;
        }
    }
    return count;
}

/* ---- who has not come to a barrier ---- */

struct missing {
    struct nocap_party party[MISSING_MAX]; /* job ANY_JOB: any of the column */
    uint32_t count;
};

static struct nocap_party job_of(unsigned uc, int32_t job)
{
    return (struct nocap_party){.agent = (uint8_t)(NOCAP_BY_UC0 + uc), .job = job};
}

static void add_party(struct missing *missing, unsigned uc, int32_t job)
{
    if (missing->count < MISSING_MAX) {
        missing->party[missing->count++] = job_of(uc, job);
    }
}

static bool waits_at(const struct cert_job *job, uint32_t barrier)
{
    return cert_is(&job->step, NOCAP_AIE_LOCAL_BARRIER) &&
           CERT_V(&job->step, LOCAL_BARRIER, local_barrier_id) == barrier;
}

/* The jobs of the page that come to the barrier later, and are not at it. */
static void missing_jobs(const struct cert_at *w, uint32_t barrier, struct missing *missing)
{
    struct nocap_aie_walker walker;
    const struct cert_job *job = NULL;
    if (w->page->code == NULL) {
        return;
    }
    nocap_aie_walk_begin(&walker, w->page->code, w->page->dialect);
    while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        uint8_t opcode = walker.insn.info->opcode;
        if (nocap_aie_starts_job(opcode)) {
            job = cert_job_find(w->page, walker.insn.value[NOCAP_AIE_START_JOB_job_id]);
        } else if (opcode == NOCAP_AIE_LOCAL_BARRIER && job != NULL && !waits_at(job, barrier) &&
                   walker.insn.value[NOCAP_AIE_LOCAL_BARRIER_local_barrier_id] == barrier &&
                   walker.at > job->step.off && !job->ended && !job->done) {
            add_party(missing, w->uc->index, (int32_t)job->id);
            job = NULL; /* once is enough */
        }
    }
}

static struct missing missing_of(const struct model *m, const struct cert_at *w)
{
    const struct cert_step *step = &w->job->step;
    struct missing missing = {.count = 0};
    if (cert_is(step, NOCAP_AIE_LOCAL_BARRIER)) {
        missing_jobs(w, CERT_V(step, LOCAL_BARRIER, local_barrier_id), &missing);
    }
    for (uint32_t left = cert_condition(m, w).missing; left != 0; left &= left - 1) {
        add_party(&missing, (unsigned)__builtin_ctz(left), ANY_JOB);
    }
    return missing;
}

/* ---- hangs ---- */

/* Nothing has happened for a long time: ten thousand units, and ten of the longest pauses that the
 * trace has shown. */
static bool is_quiet(const struct model *m)
{
    enum { LONG = 10000, PAUSES = 10 };
    const struct cert *c = cert_of(m);
    uint64_t quiet = m->last_t > c->activity ? m->last_t - c->activity : 0;
    return quiet >= LONG && quiet / PAUSES >= c->longest;
}

/* Whether a column that did not come to a remote barrier may begin, or go on with a next page. What
 * its unfinished jobs do is judged of themselves. */
static bool column_may_come(const struct model *m, unsigned column)
{
    const struct cert_uc *uc = cert_of(m)->ucs[column];
    const struct nocap_aie_page *last = NULL;
    for (unsigned p = 0; uc != NULL && p < CERT_PAGES; p++) {
        const struct cert_page *page = &uc->pages[p];
        if (page->live && cert_page_unfinished(page) != NULL) {
            return false;
        }
        last = page->live && page->index == uc->last_page.v ? page->code : last;
    }
    return last == NULL || nocap_aie_head(last, NOCAP_AIE_HEAD_NEXT) != 0;
}

/* Whether a job may go on, or may be ended by something from outside the jobs. */
static bool may_move(const struct model *m, const struct cert_at *w)
{
    const struct cert_step *step = &w->job->step;
    if (!cert_job_unfinished(w->page, w->job)) {
        return false;
    }
    if (!cert_is(step, NOCAP_AIE_REMOTE_BARRIER) && !cert_is(step, NOCAP_AIE_LOCAL_BARRIER)) {
        return true;
    }
    bool may_come = cert_came(m, w) != NO;
    for (uint32_t left = cert_condition(m, w).missing; left != 0; left &= left - 1) {
        may_come |= column_may_come(m, (unsigned)__builtin_ctz(left));
    }
    return may_come;
}

/* Whether all jobs that are not over are at barriers that only each other could open. A page whose
 * jobs are not all known may have one that moves. */
static bool deadlocked(const struct model *m)
{
    const struct cert *c = cert_of(m);
    for (unsigned i = 0; i < c->uc_end; i++) {
        for (unsigned p = 0; c->ucs[i] != NULL && p < CERT_PAGES; p++) {
            const struct cert_page *page = &c->ucs[i]->pages[p];
            if (page->live && (!page->whole || page->code == NULL)) {
                return false;
            }
        }
    }
    for (struct cert_at w = {NULL, NULL, NULL}; next_job(c, &w);) {
        if (may_move(m, &w)) {
            return false;
        }
    }
    return true;
}

/* Whether no job can go on by itself any more: all that are not over wait for each other, or for
 * something outside that did not come for a long time. False if no job waits. */
static bool is_hung(const struct model *m)
{
    return cert_of(m)->active && list_waits(m, NULL, 0) != 0 && (is_quiet(m) || deadlocked(m));
}

/* ---- reports ---- */

static unsigned why_of(const struct cert_step *step)
{
    unsigned why = cert_insn(step)->why;
    return step->blocked ? step->why : why == 0 ? NOCAP_WHY_DMA : (unsigned)__builtin_ctz(why);
}

static const char *release_of(const struct cert_step *step)
{
    static const char *const texts[NOCAP_WHY_COUNT] = {
        [NOCAP_WHY_DMA] = "the end of the transfer",
        [NOCAP_WHY_TCT] = "the missing tokens",
        [NOCAP_WHY_LOCAL] = "the missing participants; nocap aie lint counts them (AIE-041)",
        [NOCAP_WHY_POLL] = "the value",
        [NOCAP_WHY_REMOTE] = "the columns that did not come",
        [NOCAP_WHY_QUEUE] = "the end of a queued transfer"};
    return texts[why_of(step)];
}

/* The job among those that wait; NULL: it does not. */
static const struct cert_at *waiting(const struct nocap_party *party, const struct cert_at *all,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (NOCAP_BY_UC0 + all[i].uc->index == party->agent &&
            (party->job == ANY_JOB || (int32_t)all[i].job->id == party->job)) {
            return &all[i];
        }
    }
    return NULL;
}

/* Who would have to come: a job that waits itself if there is one, since it is the reason. */
static struct nocap_party blocker_of(const struct missing *missing, const struct cert_at *all,
                                     size_t count)
{
    for (uint32_t i = 0; i < missing->count; i++) {
        const struct cert_at *w = waiting(&missing->party[i], all, count);
        if (w != NULL) {
            return job_of(w->uc->index, (int32_t)w->job->id);
        }
    }
    return missing->count != 0 ? missing->party[0]
                               : (struct nocap_party){.agent = NOCAP_BY_NONE, .job = ANY_JOB};
}

/* "local barrier 0: 3 of 4 jobs arrived; missing job 2" */
static void wait_text(const struct model *m, const struct cert_at *w, char text[CERT_TEXT])
{
    struct missing missing = missing_of(m, w);
    struct cert_condition condition = cert_condition(m, w);
    bool local = cert_is(&w->job->step, NOCAP_AIE_LOCAL_BARRIER);
    size_t used = (size_t)snprintf(text, CERT_TEXT, "%s", condition.text);
    for (uint32_t i = 0; local && i < missing.count && used < CERT_TEXT; i++) {
        used += (size_t)snprintf(text + used, CERT_TEXT - used, "%s %d",
                                 i == 0 ? "; missing job" : ",", missing.party[i].job);
    }
}

static struct event_ref wait_since(const struct cert_at *w)
{
    return w->job->step.blocked ? w->job->step.blocked_at : w->job->step.at;
}

void cert_judge_end(struct model *m)
{
    const struct cert *c = cert_of(m);
    struct cert_at w;
    char text[CERT_TEXT];
    if (!is_hung(m)) {
        MARK_EXERCISED(m, AIE_066);
        return;
    }
    size_t count = list_waits(m, &w, 1);
    struct event_ref at = {.index = c->activity_index,
                           .t = c->activity,
                           .agent = (uint8_t)(NOCAP_BY_UC0 + w.uc->index)};
    wait_text(m, &w, text);
    CHECK_AT(m, NULL, AIE_066, false, at, RELATED(wait_since(&w).index), "that some job can go on",
             "jobs blocked indefinitely: %zu; uc%u job %u at page %u offset %u: %s", count,
             w.uc->index, w.job->id, w.page->index, w.job->step.off, text);
}

static void report(const struct wait_builder *t, const struct cert_at *w, struct nocap_party by,
                   bool hung)
{
    char text[CERT_TEXT];
    struct nocap_wait wait = wait_begin(t, NOCAP_BY_UC0 + w->uc->index, wait_since(w));
    wait_text(t->m, w, text);
    wait.who.job = (int32_t)w->job->id;
    wait.by = by;
    wait.what = text;
    wait.state = "blocked";
    wait.release = release_of(&w->job->step);
    wait.certain = hung;
    wait.has_place = true;
    wait.page = w->page->index;
    wait.off = w->job->step.off;
    wait.why = nocap_field_value_name(NOCAP_FIELD_WHY, why_of(&w->job->step));
    wait_report(t, &wait);
}

/* One who is waited for and does not wait: its code goes another way, or is over. */
static void report_absent(const struct wait_builder *t, const struct cert_at *w,
                          struct nocap_party absent, bool hung)
{
    struct nocap_wait wait = wait_begin(t, absent.agent, wait_since(w));
    wait.who.job = absent.job;
    bool local = why_of(&w->job->step) == NOCAP_WHY_LOCAL;
    const struct cert_job *job = cert_job_find(w->page, (uint32_t)absent.job);
    bool idle = job != NULL && w->page->whole && job->deferred && !job->launched;
    wait.what = local && idle
                    ? "it is deferred, and no job launched it: nocap aie lint judges launches "
                      "(AIE-021)"
                : local ? "it does not come to the barrier, and waits for nothing: nocap aie lint "
                          "judges barriers (AIE-041)"
                        : "it does not come to the barrier, and waits for nothing";
    wait.state = "elsewhere";
    wait.certain = hung;
    wait_report(t, &wait);
}

/* Whether the uC has pages at work, and all jobs of these are known. */
static bool is_known(const struct cert_uc *uc)
{
    bool any = false;
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        const struct cert_page *page = &uc->pages[p];
        if (page->live && !page->over && (!page->whole || page->code == NULL)) {
            return false;
        }
        any |= page->live;
    }
    return any || !uc->at_work;
}

static bool are_known(const struct cert *c)
{
    bool known = true;
    for (unsigned i = 0; i < c->uc_end; i++) {
        known = known && (c->ucs[i] == NULL || is_known(c->ucs[i]));
    }
    return known;
}

void cert_report_waits(const struct wait_builder *t)
{
    struct cert_at *all = cert_of(t->m) == NULL ? NULL : calloc(WAITS_MAX, sizeof *all);
    const struct cert_at *first = NULL;
    struct nocap_party absent = {.agent = NOCAP_BY_NONE};
    if (all == NULL) {
        t->m->out_of_memory |= cert_of(t->m) != NULL;
        return;
    }
    t->m->jobs_unsure = !are_known(cert_of(t->m));
    size_t count = list_waits(t->m, all, WAITS_MAX);
    bool hung = is_hung(t->m);
    count = count < WAITS_MAX ? count : WAITS_MAX;
    for (size_t i = 0; i < count; i++) {
        struct missing missing = missing_of(t->m, &all[i]);
        struct nocap_party by = blocker_of(&missing, all, count);
        if (first == NULL && by.agent != NOCAP_BY_NONE && waiting(&by, all, count) == NULL) {
            first = &all[i];
            absent = by;
        }
        report(t, &all[i], by, hung);
    }
    if (first != NULL) {
        report_absent(t, first, absent, hung);
    }
    free(all);
}
