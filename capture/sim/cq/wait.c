/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes on when: agents that sleep, and agents that wait for something. */
#include "capture/sim/cq/machine.h"

void sim_cq_sleep(struct sim_cq *q, struct cq_agent *a, uint32_t least, uint32_t spread)
{
    sim_arm(&q->k, a->id, q->k.now + least + sim_below(&q->k, spread));
}

void sim_cq_block(struct cq_agent *a, uint16_t what, const struct cq_place *poll)
{
    a->watch = what;
    a->poll = poll != NULL ? *poll : (struct cq_place){.size = 0, .period = 8};
}

void sim_cq_poke(struct sim_cq *q, struct cq_agent *a)
{
    if (a->watch != 0 && !q->k.timer[a->id].armed) {
        a->watch = 0;
        sim_cq_sleep(q, a, 1, a->poll.period);
    }
}

void sim_cq_changed(struct sim_cq *q, uint16_t what)
{
    for (unsigned i = 0; i < CQ_AGENT_WORKERS; i++) {
        if ((q->agent[i].watch & what) != 0) {
            sim_cq_poke(q, &q->agent[i]);
        }
    }
}
