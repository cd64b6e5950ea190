/* SPDX-License-Identifier: Apache-2.0 */
/* Options, the board, the loop. */
#include "capture/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sim/cq_machine.h"
#include "capture/sim/host.h"

#define SCENARIO(NAME, name, line) {name, line},
const struct nocap_sim_scenario_info nocap_sim_scenarios[NOCAP_SIM_SCENARIO_COUNT] = {
    NOCAP_SIM_SCENARIOS(SCENARIO)};
#undef SCENARIO

int nocap_sim_scenario_from_name(const char *name)
{
    for (int i = 0; i < NOCAP_SIM_SCENARIO_COUNT; i++) {
        if (strcmp(nocap_sim_scenarios[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The board's worker tiles, column by column. */
static uint32_t list_workers(enum nocap_board board, struct nocap_xy *at)
{
    uint32_t count = 0;
    for (uint8_t x = 0; x < NOCAP_GRID_WIDTH; x++) {
        for (uint8_t y = 0; y < NOCAP_GRID_HEIGHT; y++) {
            if (nocap_is_tensix_tile(board, (struct nocap_xy){x, y})) {
                at[count++] = (struct nocap_xy){x, y};
            }
        }
    }
    return count;
}

static bool is_command_queue(const struct nocap_sim_options *options)
{
    return options->scenario == NOCAP_SIM_FAST_DISPATCH ||
           options->scenario == NOCAP_SIM_FAST_DISPATCH_RINGS;
}

/* The options with defaults filled in. */
static enum nocap_status complete_options(const struct nocap_sim_options *given,
                                          struct nocap_sim_options *options,
                                          struct nocap_error *err)
{
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    RETURN_ERROR_IF(given->size != sizeof *given, err, NOCAP_E_INTERNAL,
                    "the device model was given options of another version");
    RETURN_ERROR_IF(given->scenario >= NOCAP_SIM_SCENARIO_COUNT ||
                        given->fault >= NOCAP_SIM_FAULT_COUNT || given->board >= NOCAP_BOARD_COUNT,
                    err, NOCAP_E_INTERNAL,
                    "the device model knows no such scenario, fault or board");
    *options = *given;
    options->board = given->board == NOCAP_BOARD_UNKNOWN ? NOCAP_BOARD_P100 : given->board;
    options->tiles = given->tiles == 0 ? NOCAP_SIM_TILES : given->tiles;
    options->launches = given->launches == 0 ? NOCAP_SIM_LAUNCHES : given->launches;
    uint32_t workers = list_workers(options->board, at);
    RETURN_ERROR_IF(options->tiles > workers, err, NOCAP_E_USAGE,
                    "--tiles %u: a %s board has %u worker tiles; ask for at most so many",
                    options->tiles, nocap_board_name(options->board), workers);
    RETURN_IF_FAILED(is_command_queue(options) ? sim_cq_complete(options, err) : NOCAP_OK);
    const struct nocap_sim_fault_info *fault = &nocap_sim_faults[options->fault];
    RETURN_ERROR_IF(
        options->fault != NOCAP_SIM_FAULT_NONE && (fault->scenarios >> options->scenario & 1) == 0,
        err, NOCAP_E_USAGE,
        "--fault %s cannot strike in scenario %s; `nocap capture --sim list` says where "
        "it can",
        fault->name, nocap_sim_scenarios[options->scenario].name);
    RETURN_ERROR_IF(
        options->launches <= fault->first_launch, err, NOCAP_E_USAGE,
        "--fault %s strikes at launch %u at the earliest, counted from 0; ask for more %s",
        fault->name, fault->first_launch, is_command_queue(options) ? "--programs" : "--launches");
    return NOCAP_OK;
}

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
        c->stretch = (uint8_t)sim_below(m, SIM_STRETCH_MAX + 1);
    }
    t->core[SIM_COPROCESSOR].run = sim_coprocessor;
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
    uint32_t count = list_workers(m->options.board, at);
    find_rectangles(m, at, count);
    sim_wheel_init(m);
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
    struct sim_core *c;
    while (m->status == NOCAP_OK && (c = sim_wheel_next(m)) != NULL) {
        if (!m->finished) {
            m->end = m->now + SIM_DRAIN;
        } else if (m->now > m->end) {
            break;
        }
        c->run(m, c->tile, c);
    }
}

enum nocap_status nocap_sim_run(const struct nocap_sim_options *options, nocap_sim_sink *sink,
                                void *context, struct nocap_error *err)
{
    struct nocap_sim_options completed;
    RETURN_IF_FAILED(complete_options(options, &completed, err));
    if (is_command_queue(&completed)) {
        return sim_cq_run(&completed, sink, context, err);
    }
    enum nocap_status status = NOCAP_E_MEMORY;
    struct sim *m = calloc(1, sizeof *m);
    if (m == NULL) {
        goto done;
    }
    m->tiles = completed.tiles;
    m->tile = calloc(m->tiles, sizeof *m->tile);
    m->core = calloc(1 + m->tiles * SIM_TILE_CORES, sizeof *m->core);
    if (m->tile == NULL || m->core == NULL) {
        goto done;
    }
    m->options = completed;
    m->sink = sink;
    m->context = context;
    m->err = err;
    sim_start_random(m);
    m->layout = &nocap_layouts[NOCAP_LAYOUT_A];
    init_board(m);
    sim_plan_fault(m);
    run(m);
    status = m->status;
done:
    if (m != NULL) {
        free(m->core);
        free(m->tile);
    }
    free(m);
    return status == NOCAP_E_MEMORY ? nocap_fail(err, status, "out of memory for the device model")
                                    : status;
}

enum nocap_status nocap_sim_header(const struct nocap_sim_options *options,
                                   struct nocap_header *header, struct nocap_error *err)
{
    struct nocap_sim_options o;
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    char producer[160];
    RETURN_IF_FAILED(complete_options(options, &o, err));
    nocap_header_init(header);
    header->arch = NOCAP_ARCH_BLACKHOLE;
    header->board = o.board;
    header->time_unit = NOCAP_TIME_CYCLES;
    header->has_time_unit = true;
    header->complete = NOCAP_TRUE;
    header->has_observes = true;
    header->observes = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CORE_STORE | NOCAP_CLASS_CORE_MMIO |
                       NOCAP_CLASS_NOC | NOCAP_CLASS_TENSIX_PUSH | NOCAP_CLASS_TENSIX_ISSUE |
                       NOCAP_CLASS_KERNEL | NOCAP_CLASS_RESET;
    snprintf(producer, sizeof producer,
             "nocap embedded device, scenario %s, seed %llu, variant %llu",
             nocap_sim_scenarios[o.scenario].name, (unsigned long long)o.seed,
             (unsigned long long)o.variant);
    header->producer = strdup(producer);
    header->layout = strdup(nocap_layouts[NOCAP_LAYOUT_A].name);
    uint32_t workers = list_workers(o.board, at);
    if (is_command_queue(&o)) {
        sim_cq_header(&o, header);
    } else if (o.tiles < workers) {
        header->has_scope = true;
        header->scope_count = o.tiles;
        header->scope = malloc(o.tiles * sizeof *header->scope);
        if (header->scope != NULL) {
            memcpy(header->scope, at, o.tiles * sizeof *header->scope);
        }
    }
    if (header->producer == NULL || header->layout == NULL ||
        (header->has_scope && header->scope == NULL)) {
        header->scope_count = 0;
        nocap_header_free(header);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the header of a trace");
    }
    return NOCAP_OK;
}
