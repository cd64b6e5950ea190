/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in device model: a Blackhole board in software that prints what a capture of a real one
 * would hold.
 *
 * A host program uploads firmware and launches kernels; every simulated tile has five cores and a
 * coprocessor, each a small machine of its own, stalled at random. They meet only in the tile's
 * memory and registers, so what a core does follows from what it finds there. Nothing here knows
 * the rules by which traces are judged. Sources: the firmware upload and boot document, the tile
 * address space document, observed firmware behaviour. */
#ifndef NOCAP_CAPTURE_SIM_SIM_H
#define NOCAP_CAPTURE_SIM_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "capture/kernel/kernel.h"
#include "formats/trace/event.h"
#include "formats/trace/header.h"

/* SCENARIO(NAME, "name", "what happens, one line") */
#define NOCAP_SIM_SCENARIOS(SCENARIO)                                                              \
    SCENARIO(BOOT, "boot",                                                                         \
             "firmware upload to the whole board, boot of all RISCs of each worker core")          \
    SCENARIO(                                                                                      \
        LAUNCH_HOST, "launch-host",                                                                \
        "boot, then launches in HOST mode: the host writes message and GO and polls for DONE")     \
    SCENARIO(LAUNCH_DEV, "launch-dev",                                                             \
             "boot, then launches in DEV mode: message ring filled ahead, notify, read pointer")   \
    SCENARIO(FAST_DISPATCH, "fast-dispatch",                                                       \
             "a command queue: host, prefetcher, dispatcher, workers; programs and events")        \
    SCENARIO(FAST_DISPATCH_RINGS, "fast-dispatch-rings",                                           \
             "the same with large uploads and long rows of events: long runs wrap every ring")     \
    SCENARIO(FAST_DISPATCH_PACKED, "fast-dispatch-packed",                                         \
             "the same with several commands per prefetch_q entry, and those that the runtime "    \
             "has for that")                                                                       \
    SCENARIO(FAST_DISPATCH_SUBORDINATE, "fast-dispatch-subordinate",                               \
             "the same with a second dispatcher that sends the go messages, and write offsets")    \
    SCENARIO(FAST_DISPATCH_MULTICAST, "fast-dispatch-multicast",                                   \
             "the same with one dispatcher, which multicasts the go messages")

#define X(NAME, name, line) NOCAP_SIM_##NAME,
enum nocap_sim_scenario { NOCAP_SIM_SCENARIOS(X) NOCAP_SIM_SCENARIO_COUNT };
#undef X

/* Whether it is one of a command queue. */
static inline bool nocap_sim_has_queue(enum nocap_sim_scenario scenario)
{
    return scenario == NOCAP_SIM_FAST_DISPATCH || scenario == NOCAP_SIM_FAST_DISPATCH_RINGS ||
           scenario == NOCAP_SIM_FAST_DISPATCH_PACKED ||
           scenario == NOCAP_SIM_FAST_DISPATCH_SUBORDINATE ||
           scenario == NOCAP_SIM_FAST_DISPATCH_MULTICAST;
}

/* What a capture of a command queue shows. VIEW(NAME, "name", classes) */
#define NOCAP_SIM_VIEWS(VIEW)                                                                      \
    VIEW(RAW, "raw",                                                                               \
         NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CORE_STORE |                     \
             NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_NOC)                      \
    VIEW(CQ, "cq", NOCAP_CLASS_CQ)                                                                 \
    VIEW(HOST, "host", NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CQ_HOST)                                \
    VIEW(ALL, "all",                                                                               \
         NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_CORE_STORE |                     \
             NOCAP_CLASS_CORE_LOAD | NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_NOC | NOCAP_CLASS_CQ)
#define VIEW(NAME, name, classes) NOCAP_SIM_VIEW_##NAME,
enum nocap_sim_view { NOCAP_SIM_VIEWS(VIEW) NOCAP_SIM_VIEW_COUNT };
#undef VIEW

/* Deliberate faults: each makes the device or its host break the protocol once. */
#define FAULT(NAME, name, scenarios, first, rules, line) NOCAP_SIM_FAULT_##NAME,
enum nocap_sim_fault {
    NOCAP_SIM_FAULT_NONE,
#include "capture/sim/faults.def"
    NOCAP_SIM_FAULT_COUNT
};
#undef FAULT

struct nocap_sim_scenario_info {
    const char *name, *line;
};
extern const struct nocap_sim_scenario_info nocap_sim_scenarios[NOCAP_SIM_SCENARIO_COUNT];

struct nocap_sim_fault_info {
    const char *name;   /* NULL for NOCAP_SIM_FAULT_NONE */
    const char *rules;  /* ids of the rules that the fault violates, separated by spaces; "" for a
                           plain hang */
    const char *line;   /* what goes wrong, one line */
    uint32_t scenarios; /* bit set over enum nocap_sim_scenario: where it can strike */
    uint32_t first_launch; /* it strikes at a launch of at least this index, from 0 */
};
extern const struct nocap_sim_fault_info nocap_sim_faults[NOCAP_SIM_FAULT_COUNT];
static inline bool nocap_sim_fault_triggers(const struct nocap_sim_fault_info *fault,
                                            unsigned scenario)
{
    return (fault->scenarios >> scenario & 1) != 0;
}

/* -1 if there is no such scenario or fault. */
int nocap_sim_scenario_from_name(const char *name);
int nocap_sim_fault_from_name(const char *name);

enum nocap_sim_default { NOCAP_SIM_TILES = 4, NOCAP_SIM_LAUNCHES = 8, NOCAP_SIM_WORKERS = 4 };

struct nocap_sim_options {
    size_t size; /* sizeof(struct nocap_sim_options) */
    enum nocap_sim_scenario scenario;
    enum nocap_sim_fault fault;
    enum nocap_board board; /* UNKNOWN: p100 */
    uint32_t tiles;    /* simulated tiles, 0: NOCAP_SIM_TILES; at most the board's worker tiles */
    uint64_t launches; /* on each tile, 0: NOCAP_SIM_LAUNCHES; of a command queue: programs */
    uint64_t seed;     /* of stalls and delays */
    uint64_t variant;  /* of the program: its launches, kernels, sizes, where a fault strikes */
    /* of a command queue */
    enum nocap_sim_view view;
    uint32_t workers; /* tiles that run programs, 0: NOCAP_SIM_WORKERS */
    uint32_t queues;  /* of the chip, 1 or 2; 0: one. Bit 0 of the variant: each has workers of its
                         own; bit 1: a fault strikes in the second one */
    bool apart;       /* each core of a queue has a tile of its own, somewhere on the board */
    const char *profile; /* of the runtime, one that nocap ships; NULL: the default, unnamed */
};

/* Runs the scenario to its end. Events come with src 0 and time that never decreases, in cycles.
 * The same options give the same events, always; with another seed they are another run of the same
 * program. NOCAP_E_USAGE if the options make no sense. */
enum nocap_status nocap_sim_run(const struct nocap_sim_options *options, nocap_machine_sink *sink,
                                void *context, struct nocap_error *err);

/* The header of such a trace; the caller frees it with nocap_header_free. */
enum nocap_status nocap_sim_header(const struct nocap_sim_options *options,
                                   struct nocap_header *header, struct nocap_error *err);

#endif
