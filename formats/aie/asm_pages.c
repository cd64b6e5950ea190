/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs to pages: a page takes jobs in the order of the source, each with those that it must share a
 * page with and the data that they name, until the next does not fit. */
#include <stdlib.h>
#include <string.h>

#include "formats/aie/asm_private.h"

enum { BARRIERS = UINT8_MAX + 1, WORD = 4, LABEL_DEPTH_MAX = 32, LAUNCH_DEPTH_MAX = 512 };

/* A chain on its way to pages. */
struct pager {
    struct aie_program *program;
    struct aie_column *column;
    struct aie_chain *chain;
    struct aie_pages *pages;
    size_t first_page; /* of this chain */
    struct aie_job *jobs;
    size_t job_count, job_capacity;
    struct aie_map ids;                  /* jobs, by id and segment or file */
    struct aie_list users[BARRIERS];     /* jobs, by local barrier; one may stand several times */
    uint32_t *job_stamps, *label_stamps; /* the group that took them last */
    uint32_t *label_pages;               /* the page that has them, from 1 */
    uint32_t *entries;                   /* of tables, by label; NULL: not of this dialect */
    uint32_t stamp;
    struct aie_list group, labels, branches; /* of the job at hand: jobs, labels, statements */
    struct aie_page page;                    /* the one that is being filled */
};

static const struct aie_statement *text_at(const struct pager *p, uint32_t place)
{
    return &p->program->statements[p->chain->text.items[place]];
}

static enum nocap_status push(const struct pager *p, struct aie_list *list, uint32_t item)
{
    uint32_t *items = AIE_GROW(list->items, list->capacity, list->count);
    if (items == NULL) {
        return aie_no_memory(p->program);
    }
    list->items = items;
    items[list->count++] = item;
    return NOCAP_OK;
}

uint32_t aie_filler(uint32_t text_size)
{
    uint32_t over = (text_size + NOCAP_AIE_EOF_SIZE) % NOCAP_AIE_DATA_ALIGN;
    return over == 0 ? 0 : NOCAP_AIE_DATA_ALIGN - over;
}

/* Whether the label stands among the descriptors, which come first. */
static bool is_descriptor(const struct pager *p, uint32_t at)
{
    return p->program->statements[p->chain->data.items[at + 1]].kind == AIE_BD;
}

/* ---- jobs ---- */

/* A job is known by its number among those up to the next .eop; the assemblers know it by file and
 * text. */
static uint64_t job_scope(const struct pager *p, const struct aie_statement *s, uint32_t segment)
{
    uint64_t file = p->program->dialect != NOCAP_AIE_SEED ? s->place.file : 0;
    return file << 24 | segment;
}

static uint32_t find_job(const struct pager *p, const struct aie_statement *s, uint32_t id,
                         uint32_t segment)
{
    bool by_text = p->program->dialect != NOCAP_AIE_SEED;
    uint64_t key = job_scope(p, s, segment) << 16 | id;
    size_t probe = 0;
    uint32_t job;
    while ((job = aie_map_next(&p->ids, key, &probe)) != AIE_NONE) {
        const struct aie_statement *start = text_at(p, p->jobs[job].first);
        if (!by_text || aie_words_equal(&start->operands[0], &s->operands[0])) {
            break;
        }
    }
    return job;
}

static enum nocap_status begin_job(struct pager *p, uint32_t place, uint32_t segment)
{
    const struct aie_statement *start = text_at(p, place);
    uint32_t id;
    RETURN_IF_FAILED(aie_parse_number(p->program, start, &start->operands[0], 16, &id));
    if (find_job(p, start, id, segment) != AIE_NONE) {
        return aie_source_error(p->program, start->place, &start->operands[0],
                                "job %u exists already; expected another number, or .eop between "
                                "them",
                                id);
    }
    struct aie_job *jobs = AIE_GROW(p->jobs, p->job_capacity, p->job_count);
    if (jobs == NULL ||
        !aie_map_add(&p->ids, job_scope(p, start, segment) << 16 | id, (uint32_t)p->job_count)) {
        p->jobs = jobs == NULL ? p->jobs : jobs;
        return aie_no_memory(p->program);
    }
    p->jobs = jobs;
    jobs[p->job_count++] = (struct aie_job){.first = place, .segment = segment, .page = AIE_NONE};
    return NOCAP_OK;
}

/* A page of .page takes part as a job that has a page of its own. */
static enum nocap_status add_raw(struct pager *p, uint32_t place, uint32_t segment)
{
    struct aie_job *jobs = AIE_GROW(p->jobs, p->job_capacity, p->job_count);
    if (jobs == NULL) {
        return aie_no_memory(p->program);
    }
    p->jobs = jobs;
    jobs[p->job_count++] = (struct aie_job){
        .first = place, .last = place, .segment = segment, .page = AIE_NONE, .raw = true};
    return NOCAP_OK;
}

static enum nocap_status find_jobs(struct pager *p)
{
    uint32_t segment = 0;
    for (uint32_t i = 0; i < p->chain->text.count; i++) {
        const struct aie_statement *s = text_at(p, i);
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
            RETURN_IF_FAILED(push(p, &p->users[barrier], (uint32_t)p->job_count - 1));
        }
    }
    return NOCAP_OK;
}

/* ---- groups: a job with all that must be in its page ---- */

static enum nocap_status take_job(struct pager *p, uint32_t job)
{
    if (p->job_stamps[job] == p->stamp) {
        return NOCAP_OK;
    }
    p->job_stamps[job] = p->stamp;
    return push(p, &p->group, job);
}

/* Jobs that meet this one at barriers. */
static enum nocap_status take_partners(struct pager *p, uint32_t job)
{
    for (uint32_t i = p->jobs[job].first; i <= p->jobs[job].last; i++) {
        const struct aie_statement *s = text_at(p, i);
        uint32_t barrier;
        if (s->info->opcode != NOCAP_AIE_LOCAL_BARRIER) {
            continue;
        }
        RETURN_IF_FAILED(aie_parse_barrier(p->program, s, &s->operands[0], false, &barrier));
        const struct aie_list *users = &p->users[barrier];
        for (size_t u = 0; u < users->count; u++) {
            bool here = p->jobs[users->items[u]].segment == p->jobs[job].segment;
            if (!here && nocap_aie_is_early(p->program->dialect)) {
                return aie_source_error(p->program, s->place, &s->operands[0],
                                        "the jobs that meet at this barrier stand on both sides "
                                        "of .eop; expected all of them in one page");
            }
            RETURN_IF_FAILED(here ? take_job(p, users->items[u]) : NOCAP_OK);
        }
    }
    return NOCAP_OK;
}

static enum nocap_status take_launched(struct pager *p, uint32_t job)
{
    for (uint32_t i = p->jobs[job].first; i <= p->jobs[job].last; i++) {
        const struct aie_statement *s = text_at(p, i);
        uint32_t id;
        if (s->info->opcode != NOCAP_AIE_LAUNCH_JOB) {
            continue;
        }
        RETURN_IF_FAILED(aie_parse_number(p->program, s, &s->operands[0], 16, &id));
        uint32_t launched = find_job(p, s, id, p->jobs[job].segment);
        if (launched == AIE_NONE) {
            return aie_source_error(p->program, s->place, &s->operands[0],
                                    "there is no job %u; expected one in the same page", id);
        }
        RETURN_IF_FAILED(take_job(p, launched));
    }
    return NOCAP_OK;
}

/* For a job of the group: barrier partners, of partners too, and jobs that it launches; in n26
 * those with what they need in their turn. */
static enum nocap_status collect_jobs(struct pager *p, uint32_t job, unsigned depth)
{
    size_t partners = p->group.count;
    if (depth == LAUNCH_DEPTH_MAX) {
        const struct aie_statement *start = text_at(p, p->jobs[job].first);
        return aie_source_error(p->program, start->place, &start->operands[0],
                                "jobs launch each other too deep; expected at most %d in a row",
                                LAUNCH_DEPTH_MAX);
    }
    RETURN_IF_FAILED(take_partners(p, job));
    for (size_t i = partners; i < p->group.count; i++) {
        RETURN_IF_FAILED(take_partners(p, p->group.items[i]));
    }
    size_t launched = p->group.count;
    RETURN_IF_FAILED(take_launched(p, job));
    size_t end = p->group.count;
    for (size_t i = launched; i < end && p->program->dialect == NOCAP_AIE_N26; i++) {
        RETURN_IF_FAILED(collect_jobs(p, p->group.items[i], depth + 1));
    }
    return NOCAP_OK;
}

/* Operands that name other pages, each of a group once. */
static enum nocap_status collect_branches(struct pager *p, const struct aie_statement *s)
{
    for (unsigned f = 0; f < nocap_aie_field_count(s->info); f++) {
        bool known = s->info->fields[f].kind != NOCAP_AIE_PAGE;
        for (size_t i = 0; i < p->branches.count && !known; i += 2) {
            const struct aie_statement *other = &p->program->statements[p->branches.items[i]];
            known = aie_words_equal(&other->operands[p->branches.items[i + 1]], &s->operands[f]);
        }
        if (!known) {
            RETURN_IF_FAILED(push(p, &p->branches, (uint32_t)(s - p->program->statements)));
            RETURN_IF_FAILED(push(p, &p->branches, f));
        }
    }
    return NOCAP_OK;
}

static bool is_branch(const struct aie_statement *s)
{
    for (unsigned f = 0; s->kind == AIE_INSN && f < nocap_aie_field_count(s->info); f++) {
        if (s->info->fields[f].kind == NOCAP_AIE_PAGE) {
            return true;
        }
    }
    return false;
}

/* n26: a table of several entries has a label for each; all of them follow the first one. */
static enum nocap_status collect_entries(struct pager *p, uint32_t at)
{
    for (uint32_t left = p->entries == NULL ? 0 : p->entries[at], size; left > 1; left--) {
        at += aie_label_extent(p->program, p->chain, at, &size);
        if (at >= p->chain->data.count) {
            break;
        }
        if (p->label_stamps[at] != p->stamp) {
            p->label_stamps[at] = p->stamp;
            RETURN_IF_FAILED(push(p, &p->labels, at));
        }
    }
    return NOCAP_OK;
}

/* How many entries the tables of the chain have, by label. */
static enum nocap_status count_entries(struct pager *p)
{
    enum { TABLE = NOCAP_AIE_APPLY_OFFSET_57_table_ptr };
    p->entries = calloc(p->chain->data.count + 1, sizeof *p->entries);
    if (p->entries == NULL) {
        return aie_no_memory(p->program);
    }
    for (uint32_t i = 0; i < p->chain->text.count; i++) {
        const struct aie_statement *s = text_at(p, i);
        uint32_t at;
        if (s->kind == AIE_INSN && s->info->opcode == NOCAP_AIE_APPLY_OFFSET_57 &&
            s->operands[TABLE].text[0] == '@') {
            RETURN_IF_FAILED(aie_find_label(p->program, p->chain, s, &s->operands[TABLE], &at));
            RETURN_IF_FAILED(aie_parse_number(p->program, s,
                                              &s->operands[NOCAP_AIE_APPLY_OFFSET_57_num_entries],
                                              16, &p->entries[at]));
        }
    }
    return NOCAP_OK;
}

/* Labels that a statement names, and those that their descriptors name. */
static enum nocap_status collect_labels(struct pager *p, const struct aie_statement *s,
                                        unsigned depth)
{
    if (is_branch(s)) {
        return collect_branches(p, s);
    }
    for (uint32_t i = 0; i < s->operand_count; i++) {
        const struct aie_word *word = &s->operands[i];
        struct aie_word name = {word->text + 1, word->length - 1, word->column + 1};
        uint32_t at, size;
        if (word->text[0] != '@' || aie_find_pad(p->column, &name) != NULL) {
            continue;
        }
        RETURN_IF_FAILED(aie_find_label(p->program, p->chain, s, word, &at));
        if (depth == LABEL_DEPTH_MAX) {
            return aie_source_error(
                p->program, s->place, word,
                "data name each other too deep; expected at most %d labels in a row",
                LABEL_DEPTH_MAX);
        }
        if (p->label_stamps[at] == p->stamp) {
            continue;
        }
        p->label_stamps[at] = p->stamp;
        RETURN_IF_FAILED(push(p, &p->labels, at));
        RETURN_IF_FAILED(collect_entries(p, at));
        uint32_t count = aie_label_extent(p->program, p->chain, at, &size);
        for (uint32_t j = 1; j < count; j++) {
            const struct aie_statement *datum =
                &p->program->statements[p->chain->data.items[at + j]];
            RETURN_IF_FAILED(collect_labels(p, datum, depth + 1));
        }
    }
    return NOCAP_OK;
}

/* ---- filling pages ---- */

static uint32_t label_size(const struct pager *p, uint32_t at)
{
    uint32_t size;
    aie_label_extent(p->program, p->chain, at, &size);
    return size;
}

/* Descriptors first, as they are aligned to 16. */
static enum nocap_status sort_labels(struct pager *p)
{
    struct aie_list sorted = {0};
    enum nocap_status status = NOCAP_OK;
    for (int descriptors = 1; descriptors >= 0; descriptors--) {
        for (size_t i = 0; i < p->page.labels.count && status == NOCAP_OK; i++) {
            if (is_descriptor(p, p->page.labels.items[i]) == descriptors) {
                status = push(p, &sorted, p->page.labels.items[i]);
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

/* Puts the page behind the others; nothing if it is empty. */
static enum nocap_status close_page(struct pager *p)
{
    struct aie_pages *pages = p->pages;
    struct aie_page *page = &p->page;
    if (page->text.count == 0 && page->raw == NULL) {
        return NOCAP_OK;
    }
    struct aie_page *items = AIE_GROW(pages->items, pages->capacity, pages->count);
    if (items == NULL) {
        return aie_no_memory(p->program);
    }
    pages->items = items;
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
        items[pages->count - 1].next_length = page->length;
    } else {
        p->chain->first_page = (uint32_t)pages->count;
    }
    items[pages->count++] = *page;
    *page = (struct aie_page){0};
    return NOCAP_OK;
}

/* Bytes that the group adds to the page: those that are there already count once. n26 counts them
 * again. */
static void measure(const struct pager *p, uint32_t *text, uint32_t *data)
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

static enum nocap_status place_job(struct pager *p, struct aie_job *job)
{
    uint32_t page = (uint32_t)p->pages->count;
    if (job->page != AIE_NONE) {
        const struct aie_statement *start = text_at(p, job->first);
        return job->page == page ? NOCAP_OK
                                 : aie_source_error(p->program, start->place, &start->operands[0],
                                                    "this job must share a page with one that "
                                                    "does not fit; expected fewer or shorter jobs "
                                                    "that depend on each other");
    }
    job->page = page;
    for (uint32_t i = job->first; i <= job->last; i++) {
        RETURN_IF_FAILED(push(p, &p->page.text, p->chain->text.items[i]));
    }
    return NOCAP_OK;
}

static enum nocap_status place_group(struct pager *p, uint32_t text, uint32_t data)
{
    for (size_t i = 0; i < p->group.count; i++) {
        RETURN_IF_FAILED(place_job(p, &p->jobs[p->group.items[i]]));
    }
    for (size_t i = 0; i < p->labels.count; i++) {
        uint32_t *page = &p->label_pages[p->labels.items[i]];
        if (*page != p->pages->count + 1) {
            *page = (uint32_t)p->pages->count + 1;
            RETURN_IF_FAILED(push(p, &p->page.labels, p->labels.items[i]));
        }
    }
    for (size_t i = 0; i < p->branches.count; i++) {
        RETURN_IF_FAILED(push(p, &p->page.branches, p->branches.items[i]));
    }
    p->page.text_size += text;
    p->page.data_size += data;
    return NOCAP_OK;
}

static enum nocap_status add_group(struct pager *p, uint32_t job)
{
    uint32_t text, data;
    const struct aie_statement *start = text_at(p, p->jobs[job].first);
    p->stamp++;
    p->group.count = p->labels.count = p->branches.count = 0;
    bool later = p->program->dialect == NOCAP_AIE_N26;
    RETURN_IF_FAILED(take_job(p, job));
    RETURN_IF_FAILED(collect_jobs(p, job, 0));
    for (size_t i = 0; i < p->group.count; i++) {
        const struct aie_job *member = &p->jobs[p->group.items[i]];
        bool fresh = later || member->page == AIE_NONE;
        for (uint32_t j = member->first; j <= member->last && fresh; j++) {
            RETURN_IF_FAILED(collect_labels(p, text_at(p, j), 0));
        }
    }
    measure(p, &text, &data);
    if (page_bytes(text, data) > NOCAP_AIE_PAGE_SIZE) {
        return aie_source_error(p->program, start->place, &start->operands[0],
                                "this job, with those that it depends on and their data, takes "
                                "%llu bytes; expected at most the %d of a page",
                                (unsigned long long)page_bytes(text, data), NOCAP_AIE_PAGE_SIZE);
    }
    if (page_bytes((uint64_t)p->page.text_size + text, (uint64_t)p->page.data_size + data) >
        NOCAP_AIE_PAGE_SIZE) {
        RETURN_IF_FAILED(close_page(p));
        measure(p, &text, &data);
    }
    return place_group(p, text, data);
}

static enum nocap_status fill_pages(struct pager *p)
{
    uint32_t segment = 0;
    for (uint32_t job = 0; job < p->job_count; job++) {
        if (p->jobs[job].segment != segment) {
            RETURN_IF_FAILED(close_page(p));
            segment = p->jobs[job].segment;
        }
        if (p->jobs[job].raw) {
            p->page.raw = &p->program->raws[text_at(p, p->jobs[job].first)->page_offset];
        } else if (p->jobs[job].page == AIE_NONE) {
            RETURN_IF_FAILED(add_group(p, job));
        }
    }
    return close_page(p);
}

static enum nocap_status page_chain(struct pager *p)
{
    RETURN_IF_FAILED(aie_index_labels(p->program, p->chain));
    RETURN_IF_FAILED(find_jobs(p));
    p->job_stamps = calloc(p->job_count + 1, sizeof *p->job_stamps);
    p->label_stamps = calloc(p->chain->data.count + 1, sizeof *p->label_stamps);
    p->label_pages = calloc(p->chain->data.count + 1, sizeof *p->label_pages);
    if (p->job_stamps == NULL || p->label_stamps == NULL || p->label_pages == NULL) {
        return aie_no_memory(p->program);
    }
    if (p->program->dialect == NOCAP_AIE_N26) {
        p->chain->first_page = (uint32_t)p->first_page; /* also if it has none */
        RETURN_IF_FAILED(count_entries(p));
    }
    return fill_pages(p);
}

enum nocap_status aie_page_chain(struct aie_program *program, struct aie_column *column,
                                 struct aie_chain *chain, struct aie_pages *pages)
{
    struct pager p = {.program = program,
                      .column = column,
                      .chain = chain,
                      .pages = pages,
                      .first_page = pages->count};
    enum nocap_status status = page_chain(&p);
    for (size_t i = 0; i < BARRIERS; i++) {
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
