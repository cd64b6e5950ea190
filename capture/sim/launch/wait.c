/* SPDX-License-Identifier: Apache-2.0 */
/* Who goes on when: cores that are stalled at random, and cores that poll. */
#include "capture/sim/launch/machine.h"

enum {
    POLL_GO = 20, /* instructions of one iteration of BRISC's dispatch loop */
    POLL_BYTE = 6 /* of other polling loops */
};

void sim_sleep(struct sim *m, struct sim_core *c, uint32_t n)
{
    uint64_t extra = (uint64_t)n * c->stretch * (sim_random(&m->k) & 0xFF) >> 8;
    sim_sleep_cycles(m, c, n + extra);
}

void sim_poll(struct sim_core *c, uint8_t what)
{
    c->watch = what;
    c->tile->watched |= what;
}

void sim_changed(struct sim *m, struct sim_tile *t, uint8_t what)
{
    if ((t->watched & what) == 0) {
        return;
    }
    t->watched = 0;
    for (unsigned i = 0; i < SIM_TILE_CORES; i++) {
        struct sim_core *c = &t->core[i];
        if ((c->watch & what) != 0) {
            uint32_t iteration = c->watch == SIM_WATCH_GO ? POLL_GO : POLL_BYTE;
            c->watch = 0;
            sim_sleep(m, c, 1 + sim_below(&m->k, iteration));
        }
        t->watched |= c->watch;
    }
}
