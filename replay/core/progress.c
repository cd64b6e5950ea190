/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/progress.h"

bool progress_in_kernel(const struct progress_agent *agent)
{
    const struct nocap_waypoint *at = nocap_waypoint_find(agent->waypoint);
    return at != NULL && at->in_kernel;
}

/* The place of the table for what was written to `addr`, and whose key it then has. */
static struct last_writer *last_writer_place(struct trace_progress *p, uint16_t chip,
                                             struct nocap_xy at, uint64_t addr, uint64_t *key)
{
    *key = (uint64_t)1 << 63 | (uint64_t)chip << 47 | (uint64_t)at.x << 39 | (uint64_t)at.y << 31 |
           (addr & UINT32_MAX) >> 2;
    return &p->writers[(*key * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & (PROGRESS_WRITERS - 1)];
}

void last_writer_note(struct model *m, struct nocap_xy to, uint64_t addr, struct nocap_xy from)
{
    uint64_t key;
    struct last_writer *w = last_writer_place(trace_of(m), m->event->chip, to, addr, &key);
    *w = (struct last_writer){
        .key = key, .index = m->event->index, .agent = m->event->by, .at = from};
}

const struct last_writer *last_writer(const struct model *m, uint16_t chip, struct nocap_xy at,
                                      uint64_t addr)
{
    uint64_t key;
    const struct last_writer *w = last_writer_place(trace_of(m), chip, at, addr, &key);
    return w->key == key ? w : NULL;
}

const struct poll *progress_poll_of(const struct progress_agent *agent)
{
    return agent->polling ? &agent->polls[agent->latest] : NULL;
}
