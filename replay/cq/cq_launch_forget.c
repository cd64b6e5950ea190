/* SPDX-License-Identifier: Apache-2.0 */
/* What is not known any more of what the commands add up to. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_launch_forget(struct cq *q)
{
    bool origin = q->host.slot.known;
    memset(&q->program, 0, sizeof q->program);
    q->program.terminated = NO_INDEX;
    q->program.listed = origin ? NO : UNKNOWN;
    q->program.whole = q->program.ran_all = q->program.origin = origin;
    cq_offsets_init(q, &q->program.offsets, origin);
    for (unsigned i = 0; i < CQ_STREAMS; i++) {
        q->program.streams[i] = (struct cq_goes){
            .cleared = origin ? NO : UNKNOWN, .sent.known = origin, .index = NO_INDEX};
    }
}

void cq_launch_forget_streams(struct cq_program *p)
{
    for (unsigned i = 0; i < CQ_STREAMS; i++) {
        p->streams[i] = (struct cq_goes){.cleared = UNKNOWN, .index = NO_INDEX};
    }
}

void cq_launch_lose_answers(struct model *m)
{
    for (struct cq *q = cq_first(m); q != NULL; q = q->next) {
        for (unsigned i = 0; i < CQ_STREAMS; i++) {
            value_forget(&q->program.streams[i].answers);
            value_forget(&q->program.streams[i].after);
        }
    }
}

void cq_launch_lose(struct cq *q, bool all)
{
    struct cq_program *p = &q->program;
    p->whole = p->unacked = p->unacked_message = false;
    if (all) {
        cq_offsets_init(q, &p->offsets, false);
        p->listed = UNKNOWN;
        p->tabled = p->counted = false;
        p->ran_all = p->origin = false;
        p->busy = (struct cq_tile_set){{0}};
        cq_launch_forget_streams(p);
    }
}
