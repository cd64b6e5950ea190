/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs to pages: a page takes jobs in the order of the source, each with those that it must share a
 * page with and the data that they name, until the next does not fit. */
#include <stdlib.h>

#include "base/list.h"
#include "formats/aie/asm_pager.h"

enum { WORD = 4 };

enum nocap_status aie_push(const struct aie_pager *p, struct aie_list *list, uint32_t item)
{
    uint32_t *next = LIST_NEXT(list->items, list->count);
    RETURN_NO_MEMORY_IF(next == NULL, p->program);
    *next = item;
    list->count++;
    return NOCAP_OK;
}

uint32_t aie_filler(uint32_t text_size)
{
    uint32_t over = (text_size + NOCAP_AIE_EOF_SIZE) % NOCAP_AIE_DATA_ALIGN;
    return over == 0 ? 0 : NOCAP_AIE_DATA_ALIGN - over;
}

/* Whether the label stands among the descriptors, which come first. */
static bool is_descriptor(const struct aie_pager *p, uint32_t at)
{
    return p->program->statements[p->chain->data.items[at + 1]].kind == AIE_BD;
}

/* ---- jobs ---- */

/* A job is known by its number among those up to the next .eop; the assemblers know it by file and
 * text. */
static uint64_t job_scope(const struct aie_pager *p, const struct aie_statement *s,
                          uint32_t segment)
{
    uint64_t file = p->program->dialect != NOCAP_AIE_SEED ? s->place.file : 0;
    return file << 24 | segment;
}

uint32_t aie_find_job(const struct aie_pager *p, const struct aie_statement *s, uint32_t id,
                      uint32_t segment)
{
    bool by_text = p->program->dialect != NOCAP_AIE_SEED;
    uint64_t key = job_scope(p, s, segment) << 16 | id;
    for (const struct aie_map_value *job = aie_map_find(&p->ids, key); job != NULL;
         job = aie_map_next(&p->ids, job)) {
        const struct aie_statement *start = aie_text_at(p, p->jobs[job->value].first);
        if (!by_text || aie_words_equal(&start->operands[0], &s->operands[0])) {
            return job->value;
        }
    }
    return AIE_NONE;
}

static enum nocap_status begin_job(struct aie_pager *p, uint32_t place, uint32_t segment)
{
    const struct aie_statement *start = aie_text_at(p, place);
    uint32_t id;
    RETURN_IF_FAILED(aie_parse_number(p->program, start, &start->operands[0], 16, &id));
    RETURN_SOURCE_ERROR_IF(aie_find_job(p, start, id, segment) != AIE_NONE, p->program,
                           start->place, &start->operands[0],
                           "job %u exists already; expected another number, or .eop between "
                           "them",
                           id);
    struct aie_job *job = LIST_NEXT(p->jobs, p->job_count);
    RETURN_NO_MEMORY_IF(
        job == NULL ||
            !aie_map_add(&p->ids, job_scope(p, start, segment) << 16 | id, (uint32_t)p->job_count),
        p->program);
    p->job_count++;
    *job = (struct aie_job){.first = place, .segment = segment, .page = AIE_NONE};
    return NOCAP_OK;
}

/* A page of .page takes part as a job that has a page of its own. */
static enum nocap_status add_raw(struct aie_pager *p, uint32_t place, uint32_t segment)
{
    struct aie_job *job = LIST_NEXT(p->jobs, p->job_count);
    RETURN_NO_MEMORY_IF(job == NULL, p->program);
    p->job_count++;
    *job = (struct aie_job){
        .first = place, .last = place, .segment = segment, .page = AIE_NONE, .raw = true};
    return NOCAP_OK;
}

static enum nocap_status find_jobs(struct aie_pager *p)
{
    uint32_t segment = 0;
    for (uint32_t i = 0; i < p->chain->text.count; i++) {
        const struct aie_statement *s = aie_text_at(p, i);
        if (s->kind == AIE_EOP) {
            segment++;
            continue;
        }
        if (s->kind == AIE_RAW) {
            RETURN_IF_FAILED(add_raw(p, i, ++segment));
            segment++;
            continue;
        }
        if (nocap_aie_starts_job(s->info->opcode)) {
            RETURN_IF_FAILED(begin_job(p, i, segment));
        }
        struct aie_job *job = &p->jobs[p->job_count - 1];
        job->last = i;
        job->size += s->info->size;
        if (s->info->opcode == NOCAP_AIE_LOCAL_BARRIER) {
            uint32_t barrier;
            RETURN_IF_FAILED(aie_parse_barrier(p->program, s, &s->operands[0], false, &barrier));
            RETURN_IF_FAILED(aie_push(p, &p->users[barrier], (uint32_t)p->job_count - 1));
        }
    }
    return NOCAP_OK;
}

/* ---- filling pages ---- */

static uint32_t label_size(const struct aie_pager *p, uint32_t at)
{
    uint32_t size;
    aie_label_extent(p->program, p->chain, at, &size);
    return size;
}

/* Descriptors first, as they are aligned to 16. */
static enum nocap_status sort_labels(struct aie_pager *p)
{
    struct aie_list sorted = {0};
    enum nocap_status status = NOCAP_OK;
    for (int descriptors = 1; descriptors >= 0; descriptors--) {
        for (size_t i = 0; i < p->page.labels.count && status == NOCAP_OK; i++) {
            if (is_descriptor(p, p->page.labels.items[i]) == descriptors) {
                status = aie_push(p, &sorted, p->page.labels.items[i]);
            }
        }
    }
    free(p->page.labels.items);
    p->page.labels = sorted;
    return status;
}

static void page_free(struct aie_page *page)
{
    free(page->text.items);
    free(page->labels.items);
    free(page->branches.items);
}

/* Puts the page after the others; nothing if it is empty. */
static enum nocap_status close_page(struct aie_pager *p)
{
    struct aie_pages *pages = p->pages;
    struct aie_page *page = &p->page;
    if (page->text.count == 0 && page->raw == NULL) {
        return NOCAP_OK;
    }
    struct aie_page *next = LIST_NEXT(pages->items, pages->count);
    RETURN_NO_MEMORY_IF(next == NULL, p->program);
    RETURN_IF_FAILED(sort_labels(p));
    uint32_t filler = page->data_size != 0 ? aie_filler(page->text_size) : 0;
    page->chain = p->chain;
    page->length =
        NOCAP_AIE_HEADER_SIZE + page->text_size + NOCAP_AIE_EOF_SIZE + filler + page->data_size;
    page->length = (page->length + WORD - 1) / WORD * WORD;
    if (page->raw != NULL) {
        page->length = nocap_aie_u16(page->raw->bytes + NOCAP_AIE_HEAD_LENGTH);
    }
    if (pages->count > p->first_page) {
        next[-1].next_length = page->length;
    } else {
        p->chain->first_page = (uint32_t)pages->count;
    }
    *next = *page;
    pages->count++;
    *page = (struct aie_page){0};
    return NOCAP_OK;
}

/* Bytes that the group adds to the page: those that are there already count once. n26 counts them
 * again. */
static void measure(const struct aie_pager *p, uint32_t *text, uint32_t *data)
{
    bool later = p->program->dialect == NOCAP_AIE_N26;
    *text = *data = 0;
    for (size_t i = 0; i < p->group.count; i++) {
        const struct aie_job *job = &p->jobs[p->group.items[i]];
        *text += job->page == AIE_NONE ? job->size : 0;
    }
    for (size_t i = 0; i < p->labels.count; i++) {
        bool there = !later && p->label_pages[p->labels.items[i]] == p->pages->count + 1;
        *data += there ? 0 : label_size(p, p->labels.items[i]);
    }
}

static uint64_t page_bytes(uint64_t text, uint64_t data)
{
    return text + aie_filler((uint32_t)text) + data + NOCAP_AIE_EOF_SIZE + NOCAP_AIE_HEADER_SIZE;
}

static enum nocap_status place_job(struct aie_pager *p, struct aie_job *job)
{
    uint32_t page = (uint32_t)p->pages->count;
    if (job->page != AIE_NONE) {
        const struct aie_statement *start = aie_text_at(p, job->first);
        return job->page == page ? NOCAP_OK
                                 : aie_source_error(p->program, start->place, &start->operands[0],
                                                    "this job must share a page with one that "
                                                    "does not fit; expected fewer or shorter jobs "
                                                    "that depend on each other");
    }
    job->page = page;
    for (uint32_t i = job->first; i <= job->last; i++) {
        RETURN_IF_FAILED(aie_push(p, &p->page.text, p->chain->text.items[i]));
    }
    return NOCAP_OK;
}

static enum nocap_status place_group(struct aie_pager *p, uint32_t text, uint32_t data)
{
    for (size_t i = 0; i < p->group.count; i++) {
        RETURN_IF_FAILED(place_job(p, &p->jobs[p->group.items[i]]));
    }
    for (size_t i = 0; i < p->labels.count; i++) {
        uint32_t *page = &p->label_pages[p->labels.items[i]];
        if (*page != p->pages->count + 1) {
            *page = (uint32_t)p->pages->count + 1;
            RETURN_IF_FAILED(aie_push(p, &p->page.labels, p->labels.items[i]));
        }
    }
    for (size_t i = 0; i < p->branches.count; i++) {
        RETURN_IF_FAILED(aie_push(p, &p->page.branches, p->branches.items[i]));
    }
    p->page.text_size += text;
    p->page.data_size += data;
    return NOCAP_OK;
}

static enum nocap_status add_group(struct aie_pager *p, uint32_t job)
{
    uint32_t text, data;
    const struct aie_statement *start = aie_text_at(p, p->jobs[job].first);
    RETURN_IF_FAILED(aie_collect_group(p, job));
    measure(p, &text, &data);
    RETURN_SOURCE_ERROR_IF(page_bytes(text, data) > NOCAP_AIE_PAGE_SIZE, p->program, start->place,
                           &start->operands[0],
                           "this job, with those that it depends on and their data, takes "
                           "%llu bytes; expected at most the %d of a page",
                           (unsigned long long)page_bytes(text, data), NOCAP_AIE_PAGE_SIZE);
    if (page_bytes((uint64_t)p->page.text_size + text, (uint64_t)p->page.data_size + data) >
        NOCAP_AIE_PAGE_SIZE) {
        RETURN_IF_FAILED(close_page(p));
        measure(p, &text, &data);
    }
    return place_group(p, text, data);
}

static enum nocap_status fill_pages(struct aie_pager *p)
{
    uint32_t segment = 0;
    for (uint32_t job = 0; job < p->job_count; job++) {
        if (p->jobs[job].segment != segment) {
            RETURN_IF_FAILED(close_page(p));
            segment = p->jobs[job].segment;
        }
        if (p->jobs[job].raw) {
            p->page.raw = &p->program->raws[aie_text_at(p, p->jobs[job].first)->page_offset];
        } else if (p->jobs[job].page == AIE_NONE) {
            RETURN_IF_FAILED(add_group(p, job));
        }
    }
    return close_page(p);
}

static enum nocap_status page_chain(struct aie_pager *p)
{
    RETURN_IF_FAILED(aie_index_labels(p->program, p->chain));
    RETURN_IF_FAILED(find_jobs(p));
    p->job_stamps = calloc(p->job_count + 1, sizeof *p->job_stamps);
    p->label_stamps = calloc(p->chain->data.count + 1, sizeof *p->label_stamps);
    p->label_pages = calloc(p->chain->data.count + 1, sizeof *p->label_pages);
    RETURN_NO_MEMORY_IF(p->job_stamps == NULL || p->label_stamps == NULL || p->label_pages == NULL,
                        p->program);
    if (p->program->dialect == NOCAP_AIE_N26) {
        p->chain->first_page = (uint32_t)p->first_page; /* also if it has none */
        RETURN_IF_FAILED(aie_count_entries(p));
    }
    return fill_pages(p);
}

enum nocap_status aie_page_chain(struct aie_program *program, struct aie_column *column,
                                 struct aie_chain *chain, struct aie_pages *pages)
{
    struct aie_pager p = {.program = program,
                          .column = column,
                          .chain = chain,
                          .pages = pages,
                          .first_page = pages->count};
    enum nocap_status status = page_chain(&p);
    for (size_t i = 0; i < AIE_BARRIERS; i++) {
        free(p.users[i].items);
    }
    free(p.jobs);
    free(p.job_stamps);
    free(p.label_stamps);
    free(p.label_pages);
    free(p.entries);
    free(p.group.items);
    free(p.labels.items);
    free(p.branches.items);
    page_free(&p.page);
    aie_map_free(&p.ids);
    return status;
}

void aie_pages_free(struct aie_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        page_free(&pages->items[i]);
    }
    free(pages->items);
    *pages = (struct aie_pages){0};
}
