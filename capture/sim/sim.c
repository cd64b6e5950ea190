/* SPDX-License-Identifier: Apache-2.0 */
/* Names, options, headers. */
#include "capture/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sim/scenario.h"

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

struct sim_queue_tiles sim_queue_tiles(const struct nocap_sim_options *o, unsigned number)
{
    const struct nocap_cq_board usual = nocap_cq_board(o->board);
    struct sim_queue_tiles tiles = {usual.prefetch, usual.dispatch, usual.dispatch};
    unsigned rows = 2 * number;
    if (o->apart) {
        tiles = (struct sim_queue_tiles){{11, 8}, {5, 4}, {13, 6}};
        rows = number;
    }
    if (o->scenario != NOCAP_SIM_FAST_DISPATCH_SUBORDINATE) {
        tiles.subordinate = tiles.dispatch;
    }
    tiles.prefetch.y = (uint8_t)(tiles.prefetch.y + rows);
    tiles.dispatch.y = (uint8_t)(tiles.dispatch.y + rows);
    tiles.subordinate.y = (uint8_t)(tiles.subordinate.y + rows);
    return tiles;
}

static bool is_of_queue(const struct nocap_sim_options *o, struct nocap_xy at)
{
    bool is = false;
    for (unsigned i = 0; nocap_sim_has_queue(o->scenario) && i < o->queues; i++) {
        struct sim_queue_tiles cq = sim_queue_tiles(o, i);
        is |= nocap_xy_equal(at, cq.prefetch) || nocap_xy_equal(at, cq.dispatch) ||
              nocap_xy_equal(at, cq.subordinate);
    }
    return is;
}

uint32_t sim_list_workers(const struct nocap_sim_options *o, struct nocap_xy *at)
{
    uint32_t count = 0;
    for (uint8_t x = 0; x < NOCAP_GRID_WIDTH; x++) {
        for (uint8_t y = 0; y < NOCAP_GRID_HEIGHT; y++) {
            struct nocap_xy xy = {x, y};
            if (nocap_is_tensix_tile(o->board, xy) && !is_of_queue(o, xy)) {
                at[count++] = xy;
            }
        }
    }
    return count;
}

#define FAULT(NAME, name, scenarios, first, rules, line) {name, rules, line, scenarios, first},
const struct nocap_sim_fault_info nocap_sim_faults[NOCAP_SIM_FAULT_COUNT] = {
    {NULL, "", "", 0, 0},
#include "capture/sim/faults.def"
};
#undef FAULT

int nocap_sim_fault_from_name(const char *name)
{
    for (int i = NOCAP_SIM_FAULT_NONE + 1; i < NOCAP_SIM_FAULT_COUNT; i++) {
        if (strcmp(nocap_sim_faults[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_command_queue(const struct nocap_sim_options *options)
{
    return nocap_sim_has_queue(options->scenario);
}

/* The options with defaults filled in. */
static enum nocap_status complete_options(const struct nocap_sim_options *given,
                                          struct nocap_sim_options *options,
                                          struct nocap_profile *profile, struct nocap_error *err)
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
    options->queues = given->queues == 0 ? 1 : given->queues;
    uint32_t workers = sim_list_workers(options, at);
    RETURN_ERROR_IF(options->tiles > workers, err, NOCAP_E_USAGE,
                    "--tiles %u: a %s board has %u worker cores; ask for at most so many",
                    options->tiles, nocap_board_name(options->board), workers);
    if (given->profile == NULL && (given->scenario == NOCAP_SIM_FAST_DISPATCH_PACKED ||
                                   given->scenario == NOCAP_SIM_FAST_DISPATCH_SUBORDINATE ||
                                   given->scenario == NOCAP_SIM_FAST_DISPATCH_MULTICAST ||
                                   given->apart || options->queues > 1)) {
        options->profile = nocap_profile_newest();
    }
    if (options->profile != NULL) {
        RETURN_IF_FAILED(nocap_profile_find(profile, options->profile, err));
    } else {
        *profile = *nocap_profile_default();
    }
    if (is_command_queue(options)) {
        RETURN_IF_FAILED(sim_cq_complete(options, profile, err));
        (void)nocap_queue_split(&profile->queue, options->queues);
    }
    const struct nocap_sim_fault_info *fault = &nocap_sim_faults[options->fault];
    RETURN_ERROR_IF(
        options->fault != NOCAP_SIM_FAULT_NONE &&
            !nocap_sim_fault_triggers(fault, options->scenario),
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

enum nocap_status nocap_sim_run(const struct nocap_sim_options *options, nocap_machine_sink *sink,
                                void *context, struct nocap_error *err)
{
    struct nocap_sim_options completed;
    struct nocap_profile profile;
    RETURN_IF_FAILED(complete_options(options, &completed, &profile, err));
    if (is_command_queue(&completed)) {
        return sim_cq_run(&completed, &profile, sink, context, err);
    }
    return sim_launch_run(&completed, &profile, sink, context, err);
}

enum nocap_status nocap_sim_header(const struct nocap_sim_options *options,
                                   struct nocap_header *header, struct nocap_error *err)
{
    struct nocap_sim_options o;
    struct nocap_profile profile;
    struct nocap_xy at[NOCAP_GRID_WIDTH * NOCAP_GRID_HEIGHT];
    char producer[160];
    RETURN_IF_FAILED(complete_options(options, &o, &profile, err));
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
             "nocap built-in device model, scenario %s, seed %llu, variant %llu",
             nocap_sim_scenarios[o.scenario].name, (unsigned long long)o.seed,
             (unsigned long long)o.variant);
    header->producer = strdup(producer);
    header->layout = strdup(profile.mailbox.name);
    uint32_t workers = sim_list_workers(&o, at);
    if (is_command_queue(&o)) {
        sim_cq_header(&o, &profile, header);
    } else if (o.tiles < workers) {
        header->has_scope = true;
        header->scope_count = o.tiles;
        header->scope = malloc(o.tiles * sizeof *header->scope);
        if (header->scope != NULL) {
            memcpy(header->scope, at, o.tiles * sizeof *header->scope);
        }
    }
    char name[2 * NOCAP_PROFILE_NAME_SIZE];
    snprintf(name, sizeof name,
             o.queues > 1 ? "{\"base\":\"%s\",\"queue\":{\"queues\":2}}" : "\"%s\"", profile.name);
    bool named = o.profile == NULL || nocap_header_set_profile(header, name, err) == NOCAP_OK;
    if (!named || header->producer == NULL || header->layout == NULL ||
        (header->has_scope && header->scope == NULL)) {
        header->scope_count = 0;
        nocap_header_free(header);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for the header of a trace");
    }
    return NOCAP_OK;
}
