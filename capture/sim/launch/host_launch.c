/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in HOST mode: for each tile image, launch message and GO into slot 0; then a poll for
 * each tile's DONE. */
#include "capture/sim/launch/host.h"

static sim_routine launch_tile, wait_done;

void sim_host_launches(struct sim *m, struct sim_core *c)
{
    m->host.tile = 0;
    CO_GOTO(m, c, m->host.launch < m->options.launches ? launch_tile : sim_host_finish);
}

static void launch_tile(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    if (sim_host_pauses(m)) {
        CO_CYCLES(m, c, SIM_HOST_QUIET);
        sim_host_inject(m);
    }
    h->plan = sim_plan_launch(m, h->tile, h->launch);
    h->stale = sim_host_fault_due(m, NOCAP_SIM_FAULT_STALE_MESSAGE);
    CO_CYCLES(m, c, sim_host_pace(m));
    sim_host_aim(m, sim_host_tile(m)->at, NOCAP_BASE_NIU1);
    sim_host_read(m, sim_host_tile(m), NOCAP_BASE_NIU1 + NOCAP_NIU_NIU_CFG_0, 4,
                  sim_host_tile(m)->niu_config[1], 1, 0);
    CO_CYCLES(m, c, sim_host_pace(m));
    if (!h->stale) {
        sim_deliver_image(m, &h->plan, 0);
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    if (h->plan.host_reset) {
        sim_deliver_signal(m, NOCAP_GO_RESET_READ_PTR_FROM_HOST);
        CO_CYCLES(m, c, SIM_HOST_RESET);
    }
    sim_deliver(m, m->layout->go_message_index, SIM_WORD(0));
    CO_CYCLES(m, c, sim_host_pace(m));
    if (!h->stale) {
        sim_deliver_message(m, &h->plan, 0, 0, h->launch);
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    if (sim_host_fault_due(m, NOCAP_SIM_FAULT_RESET_UNPROVEN)) {
        sim_deliver_signal(m, NOCAP_GO_RESET_READ_PTR_FROM_HOST);
    }
    sim_deliver_signal(m, NOCAP_GO_GO);
    if (sim_host_injects_busy(m)) {
        CO_CYCLES(m, c, SIM_HOST_STRAY);
        sim_host_inject_busy(m, 0);
    }
    h->tile++;
    CO_GOTO(m, c, h->tile < m->workers ? launch_tile : wait_done);
    CO_END(c);
}

static void wait_done(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (h->tile = 0; h->tile < m->workers; h->tile++) {
        CO_HOST_POLL(m, c, sim_go_signal_address(m, 0), 1, NOCAP_GO_DONE, SIM_HOST_POLL);
        if (h->gave_up) {
            CO_GOTO(m, c, sim_host_finish);
        }
    }
    h->launch++;
    CO_GOTO(m, c, sim_host_launches);
    CO_END(c);
}
