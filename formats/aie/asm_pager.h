/* SPDX-License-Identifier: Apache-2.0 */
/* Private to formats/aie: jobs on their way to pages. */
#ifndef NOCAP_AIE_ASM_PAGER_H
#define NOCAP_AIE_ASM_PAGER_H

#include "formats/aie/asm_private.h"

enum { AIE_BARRIERS = UINT8_MAX + 1 };

/* A chain on its way to pages. */
struct aie_pager {
    struct aie_program *program;
    struct aie_column *column;
    struct aie_chain *chain;
    struct aie_pages *pages;
    size_t first_page; /* of this chain */
    struct aie_job *jobs;
    size_t job_count;
    struct aie_map ids;                  /* jobs, by id and segment or file */
    struct aie_list users[AIE_BARRIERS]; /* jobs, by local barrier; one may stand several times */
    uint32_t *job_stamps, *label_stamps; /* the group that took them last */
    uint32_t *label_pages;               /* the page that has them, from 1 */
    uint32_t *entries;                   /* of tables, by label; NULL: not of this dialect */
    uint32_t stamp;
    struct aie_list group, labels, branches; /* of the job at hand: jobs, labels, statements */
    struct aie_page page;                    /* the one that is being filled */
};

static inline const struct aie_statement *aie_text_at(const struct aie_pager *p, uint32_t place)
{
    return &p->program->statements[p->chain->text.items[place]];
}

enum nocap_status aie_push(const struct aie_pager *p, struct aie_list *list, uint32_t item);
/* The job of this number that `s` can mean; AIE_NONE: there is none. */
uint32_t aie_find_job(const struct aie_pager *p, const struct aie_statement *s, uint32_t id,
                      uint32_t segment);

/* Fills the pager's group, labels and branches: a job with all that must be in its page. */
enum nocap_status aie_collect_group(struct aie_pager *p, uint32_t job);
/* n26: how many entries the tables of the chain have. */
enum nocap_status aie_count_entries(struct aie_pager *p);

#endif
