/* SPDX-License-Identifier: Apache-2.0 */
/* Private to capture/sim: what the scenarios have in common. */
#ifndef NOCAP_CAPTURE_SIM_SCENARIO_H
#define NOCAP_CAPTURE_SIM_SCENARIO_H

#include "capture/kernel/kernel.h"
#include "capture/sim/sim.h"
#include "formats/blackhole/cq_layout.h"
#include "formats/blackhole/tile_map.h"
#include "formats/profile/profile.h"

/* Where the cores of a command queue are; the two dispatchers share a tile, or are apart. */
struct sim_queue_tiles {
    struct nocap_xy prefetch, dispatch, subordinate;
};
/* Of the first queue, and of the second one, number 1. */
struct sim_queue_tiles sim_queue_tiles(const struct nocap_sim_options *o, unsigned number);
/* The board's tiles for programs, column by column, all but those of its command queues. `at` has
 * room for NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT. */
uint32_t sim_list_workers(const struct nocap_sim_options *o, struct nocap_xy *at);

/* Each machine has other delays for the same seed. */
static inline void sim_kernel_begin(struct sim_kernel *k, const struct nocap_sim_options *o,
                                    uint64_t machine, nocap_machine_sink *sink, void *context,
                                    struct nocap_error *err)
{
    k->sink = sink;
    k->context = context;
    k->err = err;
    k->random = sim_mix_seed(o->seed, machine, 0) | 1;
    k->variant = o->variant;
    k->fault = o->fault;
}

/* The whole scenario; `o` is complete. */
enum nocap_status sim_launch_run(const struct nocap_sim_options *o,
                                 const struct nocap_profile *profile, nocap_machine_sink *sink,
                                 void *context, struct nocap_error *err);
enum nocap_status sim_cq_run(const struct nocap_sim_options *o, const struct nocap_profile *profile,
                             nocap_machine_sink *sink, void *context, struct nocap_error *err);
/* What the header of a command queue's trace says beside the rest; out of memory shows in a scope
 * that is NULL. */
void sim_cq_header(const struct nocap_sim_options *o, const struct nocap_profile *profile,
                   struct nocap_header *header);
/* Refuses options that make no sense for a command queue, fills in defaults. */
enum nocap_status sim_cq_complete(struct nocap_sim_options *o, const struct nocap_profile *profile,
                                  struct nocap_error *err);

#endif
