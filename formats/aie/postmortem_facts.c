/* SPDX-License-Identifier: Apache-2.0 */

#include "base/list.h"
#include "formats/aie/postmortem_private.h"

void postmortem_column(struct postmortem_reading *r, uint64_t number, bool of_device)
{
    uint64_t first = of_device ? r->postmortem->first_column : 0;
    r->below |= number < first;
    r->column = number < first || number - first >= NOCAP_AIE_POSTMORTEM_COLUMNS
                    ? NULL
                    : &r->postmortem->columns[number - first];
    r->listing = r->watchdog = false;
}

static void drop_jobs(struct nocap_aie_column_postmortem *c)
{
    c->job_count = 0;
    c->has_jobs = false;
}

void postmortem_watchdog(struct postmortem_reading *r)
{
    r->column->hang = r->column->known = r->any = r->watchdog = true;
    r->listing = false;
}

/* A list of jobs is of a page; where the watchdog strikes again at the same place it still holds,
 * if the log has no newer one. */
void postmortem_page(struct postmortem_reading *r, uint32_t page)
{
    struct nocap_aie_column_postmortem *c = r->column;
    if (c->has_page && page != c->page) {
        drop_jobs(c);
    }
    c->page = page;
    c->known = c->has_page = r->any = true;
}

void postmortem_place(struct postmortem_reading *r, uint32_t page, uint32_t off)
{
    struct nocap_aie_column_postmortem *c = r->column;
    postmortem_page(r, page);
    if (r->watchdog && c->has_off && off != c->off) {
        drop_jobs(c);
    }
    c->off = off;
    c->has_off = true;
    r->watchdog = false;
}

void postmortem_state(struct postmortem_reading *r, uint32_t state)
{
    static const uint32_t faults[] = {
#define FAULT(value, meaning) value,
#include "formats/aie/postmortem.def"
    };
    struct nocap_aie_column_postmortem *c = r->column;
    c->state = state;
    c->has_state = c->known = r->any = true;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        c->hang |= state == faults[i];
    }
}

void postmortem_list(struct postmortem_reading *r)
{
    drop_jobs(r->column);
    r->column->has_jobs = r->column->known = r->listing = r->any = true;
}

void postmortem_job(struct postmortem_reading *r, const struct nocap_aie_left_job *job)
{
    struct nocap_aie_column_postmortem *c = r->column;
    if (c->job_count == NOCAP_AIE_POSTMORTEM_JOBS) {
        c->has_jobs = false; /* the list is not whole */
        return;
    }
    struct nocap_aie_left_job *next = LIST_NEXT(c->jobs, c->job_count);
    if (next == NULL) {
        r->memory = true;
        return;
    }
    *next = *job;
    c->job_count++;
}

void postmortem_job_pc(struct postmortem_reading *r, uint32_t pc)
{
    struct nocap_aie_column_postmortem *c = r->column;
    if (c->job_count != 0 && !c->jobs[c->job_count - 1].has_pc) {
        c->jobs[c->job_count - 1].pc = pc;
        c->jobs[c->job_count - 1].has_pc = true;
    }
}

void postmortem_register(struct postmortem_reading *r, uint32_t addr, uint32_t value)
{
    struct nocap_aie_postmortem *m = r->postmortem;
    size_t at = 0;
    while (at < m->register_count && m->registers[at].addr != addr) {
        at++;
    }
    if (at < NOCAP_AIE_POSTMORTEM_REGISTERS) {
        m->registers[at] = (struct nocap_aie_left_register){addr, value};
        m->register_count = at == m->register_count ? at + 1 : m->register_count;
        r->any = true;
    }
}

void postmortem_operation(struct postmortem_reading *r, uint32_t index)
{
    r->postmortem->operation = index;
    r->postmortem->has_operation = r->any = true;
}
