/* SPDX-License-Identifier: Apache-2.0 */
/* The board of the launch scenarios, and the loop. */
#include <stdlib.h>

#include "capture/sim/launch/firmware.h"
#include "capture/sim/launch/program.h"
#include "capture/sim/scenario.h"

static void init_tile(struct sim *m, uint32_t i, struct nocap_xy at)
{
    struct sim_tile *t = &m->tile[i];
    t->at = at;
    t->soft_reset = NOCAP_SOFT_RESET_ALL;
    t->core = &m->core[1 + i * SIM_TILE_CORES];
    m->tile_at[at.x][at.y] = (uint8_t)(i + 1);
    for (unsigned k = 0; k < SIM_TILE_CORES; k++) {
        struct sim_core *c = &t->core[k];
        c->tile = t;
        c->id = (uint16_t)(1 + i * SIM_TILE_CORES + k);
        c->agent = k < NOCAP_PROCESSOR_COUNT ? nocap_cores[k].agent : NOCAP_BY_NONE;
        c->stretch = (uint8_t)sim_below(&m->k, SIM_STRETCH_MAX + 1);
    }
    t->core[SIM_COPROCESSOR].run = sim_coprocessor;
    sim_brisc_init(m, t);
}

/* Runs of columns with worker tiles: what one multicast reaches. */
static void find_rectangles(struct sim *m, const struct nocap_xy *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || at[i].x > at[i - 1].x + 1) {
            m->rectangle[m->rectangles++].from = at[i];
        }
        m->rectangle[m->rectangles - 1].to = at[i];
    }
}

static void init_board(struct sim *m)
{
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    uint32_t count = sim_list_workers(&m->options, at);
    find_rectangles(m, at, count);
    for (uint32_t i = 0; i < m->tiles; i++) {
        init_tile(m, i, at[i]);
    }
    for (unsigned i = 0; i < SIM_PROGRAMS; i++) {
        m->image[i] = sim_program_image(i);
    }
    m->workers = m->tiles;
    if (m->options.scenario == NOCAP_SIM_LAUNCH_DEV) {
        m->workers = m->tiles > 1 ? m->tiles - 1 : 1;
        m->dispatch = &m->tile[m->tiles - 1];
    }
    m->core[0].agent = NOCAP_BY_HOST;
    m->core[0].run = sim_host_upload;
    sim_sleep_cycles(m, &m->core[0], 1);
}

static void run(struct sim *m)
{
    uint16_t next;
    while (m->k.status == NOCAP_OK && (next = sim_next(&m->k)) != SIM_NOTHING) {
        struct sim_core *c = &m->core[next];
        if (c->run == NULL) {
            continue;
        }
        if (!m->finished) {
            m->end = m->k.now + SIM_DRAIN;
        } else if (m->k.now > m->end) {
            break;
        }
        do {
            m->k.again = false;
            c->run(m, c);
        } while (m->k.again);
    }
}

enum nocap_status sim_launch_run(const struct nocap_sim_options *o,
                                 const struct nocap_profile *profile, nocap_machine_sink *sink,
                                 void *context, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_E_MEMORY;
    struct sim *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return nocap_fail(err, status, "out of memory for the device model");
    }
    uint32_t cores = 1 + o->tiles * SIM_TILE_CORES;
    m->tiles = o->tiles;
    m->tile = calloc(m->tiles, sizeof *m->tile);
    m->core = calloc(cores, sizeof *m->core);
    if (m->tile != NULL && m->core != NULL && sim_time_init(&m->k, cores)) {
        m->options = *o;
        sim_kernel_begin(&m->k, o, 3, sink, context, err);
        m->layout = &profile->mailbox;
        init_board(m);
        sim_plan_fault(m);
        run(m);
        status = m->k.status;
    } else {
        nocap_fail(err, status, "out of memory for the device model");
    }
    free(m->k.timer);
    free(m->core);
    free(m->tile);
    free(m);
    return status;
}
