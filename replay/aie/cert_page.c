/* SPDX-License-Identifier: Apache-2.0 */
/* Pages and their jobs: which page may run after which, and that jobs are not left behind. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "replay/aie/cert_private.h"

/* ---- jobs ---- */

struct cert_job *cert_job_find(const struct cert_page *page, uint32_t id)
{
    for (uint32_t i = 0; i < page->job_count; i++) {
        if (page->jobs[i].id == id) {
            return &page->jobs[i];
        }
    }
    return NULL;
}

struct cert_job *cert_job_add(struct model *m, struct cert_page *page, uint32_t id)
{
    if (page->job_count == CERT_JOBS) {
        return NULL;
    }
    struct cert_job *job = LIST_NEXT(page->jobs, page->job_count);
    if (job == NULL) {
        m->out_of_memory = true;
        return NULL;
    }
    job->id = id;
    page->job_count++;
    return job;
}

/* The jobs that the file says the page has. */
static void add_jobs(struct model *m, struct cert_page *page)
{
    struct nocap_aie_walker walker;
    nocap_aie_walk_begin(&walker, page->code, page->dialect);
    while (nocap_aie_walk_next(&walker) == NOCAP_AIE_WALK_INSN) {
        uint8_t opcode = walker.insn.info->opcode;
        if (!nocap_aie_starts_job(opcode)) {
            continue;
        }
        uint32_t id = walker.insn.value[NOCAP_AIE_START_JOB_job_id];
        struct cert_job *job = cert_job_find(page, id) == NULL ? cert_job_add(m, page, id) : NULL;
        if (job != NULL) {
            job->next = page->whole ? walker.at : 0;
            job->deferred = opcode != NOCAP_AIE_START_JOB;
        }
    }
}

bool cert_next_job(struct cert_at *at)
{
    size_t p = at->page == NULL ? 0 : (size_t)(at->page - at->uc->pages);
    size_t j = at->page == NULL ? 0 : (size_t)(at->job - at->page->jobs) + 1;
    for (; p < CERT_PAGES; p++, j = 0) {
        at->page = &at->uc->pages[p];
        if (j < at->page->job_count) {
            at->job = &at->page->jobs[j];
            return true;
        }
    }
    at->job = NULL;
    return false;
}

/* ---- pages ---- */

struct cert_page *cert_page_find(struct cert_uc *uc, uint32_t index)
{
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        if (uc->pages[p].live && uc->pages[p].index == index) {
            return &uc->pages[p];
        }
    }
    return NULL;
}

bool cert_holder(struct cert_at *at)
{
    at->page = cert_page_find(at->uc, at->uc->holder_page);
    at->job = at->page == NULL ? NULL : cert_job_find(at->page, at->uc->holder_job);
    return at->job != NULL;
}

void cert_page_leave(struct cert_page *page)
{
    free(page->jobs);
    *page = (struct cert_page){.live = false};
}

bool cert_job_unfinished(const struct cert_page *page, const struct cert_job *job)
{
    bool wanted = job->started || (page->whole && (!job->deferred || job->launched));
    return wanted && !job->done && !job->ended;
}

const struct cert_job *cert_page_unfinished(const struct cert_page *page)
{
    for (uint32_t i = 0; i < page->job_count; i++) {
        if (cert_job_unfinished(page, &page->jobs[i])) {
            return &page->jobs[i];
        }
    }
    return NULL;
}

/* Whether an instruction of the page runs other pages and comes back. */
static bool calls(const struct cert_page *page)
{
    for (uint32_t i = 0; i < page->job_count; i++) {
        const struct cert_step *step = &page->jobs[i].step;
        if (step->active && cert_insn(step)->calls) {
            return true;
        }
    }
    return false;
}

const struct nocap_aie_image *cert_image(const struct model *m, const struct cert_uc *uc)
{
    return cert_of(m)->code == NULL ? NULL : cert_of(m)->code[uc->index];
}

static const struct nocap_aie_page *code_of(const struct model *m, const struct cert_uc *uc,
                                            uint32_t index)
{
    const struct nocap_aie_image *image = cert_image(m, uc);
    return image == NULL ? NULL : nocap_aie_image_page(image, 0, uc->index, index);
}

/* A place for a page: a free one, or that of a page that is over, or else the first. */
static struct cert_page *make_room(struct cert_uc *uc)
{
    struct cert_page *room = &uc->pages[0];
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        struct cert_page *page = &uc->pages[p];
        if (!page->live) {
            return page;
        }
        room = page->entered && cert_page_unfinished(page) == NULL && !calls(page) ? page : room;
    }
    cert_page_leave(room);
    return room;
}

/* What the loader patches before the page runs. */
static void mark_relocations(struct model *m, struct cert_uc *uc, const struct cert_page *page)
{
    const struct nocap_aie_image *image = cert_image(m, uc);
    for (size_t i = 0; i < image->relocation_count; i++) {
        const struct nocap_aie_relocation *r = &image->relocations[i];
        if (r->page == page->code) {
            cert_patch_words(m, uc, page->index, r->page_offset,
                             nocap_aie_relocation_words(r->type));
        }
    }
}

static struct cert_page *open_page(struct model *m, struct cert_uc *uc, uint32_t index, bool whole)
{
    struct cert_page *page = make_room(uc);
    const struct nocap_aie_image *image = cert_image(m, uc);
    *page = (struct cert_page){.live = true,
                               .whole = whole,
                               .index = index,
                               .code = code_of(m, uc, index),
                               .dialect = image != NULL ? image->dialect : 0};
    for (unsigned b = 0; b < NOCAP_AIE_LOCAL_BARRIERS; b++) {
        page->barriers[b] = (struct cert_barrier){.phase = 1, .known = whole};
    }
    if (page->code != NULL) {
        add_jobs(m, page);
        mark_relocations(m, uc, page);
    }
    return page;
}

void cert_page_load(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page = cert_page_find(uc, (uint32_t)e->page);
    fault_id since = FAULT_NONE;
    if (page != NULL) {
        const struct cert_job *left = page->entered ? cert_page_unfinished(page) : NULL;
        CERT_EXPECT(m, uc, AIE_065, left == NULL, NO_REFS,
                    "all jobs of a page to be over before it is loaded again",
                    "page %u loaded, job %u is not over", page->index, left->id);
        since = m->fault;
        cert_page_leave(page);
    }
    page = open_page(m, uc, (uint32_t)e->page, true);
    page->since = since;
}

fault_id cert_misplaced_since(const struct cert_job *job, uint64_t off)
{
    for (unsigned i = 0; i < CERT_MISPLACED; i++) {
        if (job->misplaced[i].known && job->misplaced[i].v == off) {
            return job->misplaced[i].since;
        }
    }
    return FAULT_NONE;
}

void cert_misplace(struct cert_job *job, uint32_t off, fault_id since)
{
    if (since != FAULT_NONE && since != FAULT_UNREPORTED) {
        resync(&job->misplaced[job->misplaced_count++ % CERT_MISPLACED], off, since);
    }
}

/* ---- the way from page to page ---- */

void cert_page_target(struct cert_uc *uc, const struct cert_step *step)
{
    const struct nocap_aie_insn_info *info = step->info;
    uc->any_page |= info->opcode == NOCAP_AIE_LOAD_LAST_PDI;
    for (unsigned f = 0; f < nocap_aie_field_count(info); f++) {
        if (info->fields[f].kind == NOCAP_AIE_PAGE) {
            uc->targets[uc->target_count++ % CERT_TARGETS] = step->value[f];
        }
    }
}

static bool is_target(const struct cert_uc *uc, uint32_t index)
{
    uint32_t count = uc->target_count < CERT_TARGETS ? uc->target_count : CERT_TARGETS;
    for (uint32_t i = 0; i < count; i++) {
        if (uc->targets[i] == index) {
            return true;
        }
    }
    return false;
}

/* Control code begins at page 0, goes on with the next page of its chain, and elsewhere only where
 * an instruction says so. */
static void judge_way(struct model *m, struct cert_uc *uc, uint32_t index)
{
    const struct nocap_aie_page *last = code_of(m, uc, uc->last_page.v);
    if (last != NULL && uc->fresh && uc->last_page.known && uc->last_page.v != index &&
        !uc->any_page) {
        bool next = index == uc->last_page.v + 1 && nocap_aie_head(last, NOCAP_AIE_HEAD_NEXT) != 0;
        CERT_EXPECT(m, uc, AIE_065, next || index == 0 || is_target(uc, index), NO_REFS,
                    "the next page of the chain, or one that an instruction names",
                    "page %u runs after page %u, which does not lead to it", index,
                    uc->last_page.v);
    }
}

/* The page is over: END_JOB was seen of these jobs, and nothing came of it, in a trace that shows
 * it of others. */
static void judge_job_ends(struct model *m, struct cert_uc *uc, struct cert_page *page)
{
    for (uint32_t i = 0; i < page->job_count; i++) {
        struct cert_job *job = &page->jobs[i];
        if (job->ended && cert_of(m)->job_ends) {
            CERT_EXPECT(m, uc, AIE_069, job->done, RELATED(job->step.at.index),
                        "job-end after END_JOB", "job %u of page %u has no job-end", job->id,
                        page->index);
            job->over_since = either(m->fault, job->over_since);
            job->done = true;
        }
    }
}

/* The other pages must be over, or have called this one. */
static void judge_change(struct model *m, struct cert_uc *uc, const struct cert_page *entered)
{
    for (unsigned p = 0; p < CERT_PAGES; p++) {
        struct cert_page *page = &uc->pages[p];
        if (!page->live || !page->entered || page == entered || calls(page)) {
            continue;
        }
        const struct cert_job *left = cert_page_unfinished(page);
        CERT_EXPECT(m, uc, AIE_065, left == NULL, RELATED(left->step.at.index),
                    "all jobs of a page to be over before the next page runs",
                    "page %u runs, job %u of page %u is not over", entered->index, left->id,
                    page->index);
        judge_job_ends(m, uc, page);
        cert_page_leave(page);
    }
}

struct cert_page *cert_page_enter(struct model *m, struct cert_uc *uc, uint32_t index)
{
    struct cert_page *page = cert_page_find(uc, index);
    if (page == NULL) {
        page = open_page(m, uc, index, false);
    }
    if (!page->entered) {
        page->entered = true;
        cert_writers_forget(uc);
        judge_change(m, uc, page);
        judge_way(m, uc, index);
    }
    value_set(&uc->last_page, index); /* a caller's page goes on */
    return page;
}

void cert_page_eof(struct model *m, struct cert_uc *uc, const struct nocap_event *e)
{
    struct cert_page *page =
        cert_page_find(uc, (e->has & NOCAP_F_PAGE) != 0 ? (uint32_t)e->page : uc->last_page.v);
    if (page == NULL) {
        return;
    }
    bool ran = false; /* else the firmware only looks for the page's jobs */
    for (uint32_t i = 0; i < page->job_count; i++) {
        ran |= page->jobs[i].ran;
    }
    if (ran) {
        page->over = true;
        const struct cert_job *left = cert_page_unfinished(page);
        CERT_EXPECT(m, uc, AIE_065, left == NULL, RELATED(left->step.at.index),
                    "all jobs of the page to be over at its end", "job %u of page %u is not over",
                    left->id, page->index);
        judge_job_ends(m, uc, page);
    }
}

/* ---- bytes that are not as in the file ---- */

const uint8_t *cert_patched(const struct cert_uc *uc, uint32_t page)
{
    return page < uc->patched_count ? uc->patched[page] : NULL;
}

static uint8_t *patched_bits(struct model *m, struct cert_uc *uc, uint32_t page)
{
    enum { PAGES_MAX = 1 << 16 };
    if (page >= PAGES_MAX) {
        return NULL;
    }
    while (page >= uc->patched_count) {
        if (LIST_NEXT(uc->patched, uc->patched_count) == NULL) {
            m->out_of_memory = true;
            return NULL;
        }
        uc->patched_count++;
    }
    if (uc->patched[page] == NULL) {
        uc->patched[page] = calloc(1, NOCAP_AIE_PAGE_SIZE / 8);
        m->out_of_memory |= uc->patched[page] == NULL;
    }
    return uc->patched[page];
}

void cert_patch_words(struct model *m, struct cert_uc *uc, uint32_t page, uint32_t at,
                      uint32_t words)
{
    uint8_t *bits = patched_bits(m, uc, page);
    for (uint32_t w = 0; bits != NULL && w < 32 && at < NOCAP_AIE_PAGE_SIZE; w++) {
        for (uint32_t i = at + 4 * w; i < at + 4 * w + 4 && i < NOCAP_AIE_PAGE_SIZE; i++) {
            bits[i / 8] |= (uint8_t)((words >> w & 1u) << i % 8);
        }
    }
}
