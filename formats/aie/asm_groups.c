/* SPDX-License-Identifier: Apache-2.0 */
/* What must share a page with a job: those that it meets at barriers and launches, and data. */
#include <stdlib.h>

#include "formats/aie/asm_pager.h"

enum { LABEL_DEPTH_MAX = 32, LAUNCH_DEPTH_MAX = 512 };

static enum nocap_status take_job(struct aie_pager *p, uint32_t job)
{
    if (p->job_stamps[job] == p->stamp) {
        return NOCAP_OK;
    }
    p->job_stamps[job] = p->stamp;
    return aie_push(p, &p->group, job);
}

/* Jobs that meet this one at barriers. */
static enum nocap_status take_partners(struct aie_pager *p, uint32_t job)
{
    for (uint32_t i = p->jobs[job].first; i <= p->jobs[job].last; i++) {
        const struct aie_statement *s = aie_text_at(p, i);
        uint32_t barrier;
        if (s->info->opcode != NOCAP_AIE_LOCAL_BARRIER) {
            continue;
        }
        RETURN_IF_FAILED(aie_parse_barrier(p->program, s, &s->operands[0], false, &barrier));
        const struct aie_list *users = &p->users[barrier];
        for (size_t u = 0; u < users->count; u++) {
            bool here = p->jobs[users->items[u]].segment == p->jobs[job].segment;
            RETURN_SOURCE_ERROR_IF(!here && p->program->dialect != NOCAP_AIE_SEED, p->program,
                                   s->place, &s->operands[0],
                                   "the jobs that meet at this barrier are on both sides of "
                                   ".eop; expected all of them in one page");
            RETURN_IF_FAILED(here ? take_job(p, users->items[u]) : NOCAP_OK);
        }
    }
    return NOCAP_OK;
}

static enum nocap_status take_launched(struct aie_pager *p, uint32_t job)
{
    for (uint32_t i = p->jobs[job].first; i <= p->jobs[job].last; i++) {
        const struct aie_statement *s = aie_text_at(p, i);
        uint32_t id;
        if (s->info->opcode != NOCAP_AIE_LAUNCH_JOB) {
            continue;
        }
        RETURN_IF_FAILED(aie_parse_number(p->program, s, &s->operands[0], 16, &id));
        uint32_t launched = aie_find_job(p, s, id, p->jobs[job].segment);
        RETURN_SOURCE_ERROR_IF(launched == AIE_NONE, p->program, s->place, &s->operands[0],
                               "there is no job %u; expected one in the same page", id);
        RETURN_IF_FAILED(take_job(p, launched));
    }
    return NOCAP_OK;
}

/* For a job of the group: barrier partners, of partners too, and jobs that it launches; in n26
 * those with what they need in their turn. */
static enum nocap_status collect_jobs(struct aie_pager *p, uint32_t job, unsigned depth)
{
    size_t partners = p->group.count;
    if (depth == LAUNCH_DEPTH_MAX) {
        const struct aie_statement *start = aie_text_at(p, p->jobs[job].first);
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
static enum nocap_status collect_branches(struct aie_pager *p, const struct aie_statement *s)
{
    for (unsigned f = 0; f < nocap_aie_field_count(s->info); f++) {
        bool known = s->info->fields[f].kind != NOCAP_AIE_PAGE;
        for (size_t i = 0; i < p->branches.count && !known; i += 2) {
            const struct aie_statement *other = &p->program->statements[p->branches.items[i]];
            known = aie_words_equal(&other->operands[p->branches.items[i + 1]], &s->operands[f]);
        }
        if (!known) {
            RETURN_IF_FAILED(aie_push(p, &p->branches, (uint32_t)(s - p->program->statements)));
            RETURN_IF_FAILED(aie_push(p, &p->branches, f));
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
static enum nocap_status collect_entries(struct aie_pager *p, uint32_t at)
{
    for (uint32_t left = p->entries == NULL ? 0 : p->entries[at], size; left > 1; left--) {
        at += aie_label_extent(p->program, p->chain, at, &size);
        if (at >= p->chain->data.count) {
            break;
        }
        if (p->label_stamps[at] != p->stamp) {
            p->label_stamps[at] = p->stamp;
            RETURN_IF_FAILED(aie_push(p, &p->labels, at));
        }
    }
    return NOCAP_OK;
}

/* How many entries the tables of the chain have, by label. */
enum nocap_status aie_count_entries(struct aie_pager *p)
{
    enum { TABLE = NOCAP_AIE_APPLY_OFFSET_57_table_ptr };
    p->entries = calloc(p->chain->data.count + 1, sizeof *p->entries);
    RETURN_NO_MEMORY_IF(p->entries == NULL, p->program);
    for (uint32_t i = 0; i < p->chain->text.count; i++) {
        const struct aie_statement *s = aie_text_at(p, i);
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
static enum nocap_status collect_labels(struct aie_pager *p, const struct aie_statement *s,
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
        RETURN_SOURCE_ERROR_IF(depth == LABEL_DEPTH_MAX, p->program, s->place, word,
                               "data name each other too deep; expected at most %d labels in a row",
                               LABEL_DEPTH_MAX);
        if (p->label_stamps[at] == p->stamp) {
            continue;
        }
        p->label_stamps[at] = p->stamp;
        RETURN_IF_FAILED(aie_push(p, &p->labels, at));
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

enum nocap_status aie_collect_group(struct aie_pager *p, uint32_t job)
{
    bool later = p->program->dialect == NOCAP_AIE_N26;
    p->stamp++;
    p->group.count = p->labels.count = p->branches.count = 0;
    RETURN_IF_FAILED(take_job(p, job));
    RETURN_IF_FAILED(collect_jobs(p, job, 0));
    for (size_t i = 0; i < p->group.count; i++) {
        const struct aie_job *member = &p->jobs[p->group.items[i]];
        bool fresh = later || member->page == AIE_NONE;
        for (uint32_t j = member->first; j <= member->last && fresh; j++) {
            RETURN_IF_FAILED(collect_labels(p, aie_text_at(p, j), 0));
        }
    }
    return NOCAP_OK;
}
