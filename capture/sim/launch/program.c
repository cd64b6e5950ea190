/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sim/launch/program.h"

#include <string.h>

struct sim_payload sim_payload(uint32_t size, uint32_t salt)
{
    struct sim_payload payload = {.size = size, .hash = UINT64_C(0xCBF29CE484222325)};
    uint32_t state = salt * 2654435761u + 1;
    for (uint32_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        uint8_t byte = (uint8_t)(state >> 24);
        payload.hash = (payload.hash ^ byte) * UINT64_C(0x100000001B3);
        if (i < SIM_HEAD) {
            payload.head[i] = byte;
        }
    }
    return payload;
}

/* Runtime arguments and circular buffer configuration first, then the five kernels. */
static const struct program {
    uint16_t size;
    uint16_t text_offset[NOCAP_PROCESSOR_COUNT];
} programs[SIM_PROGRAMS] = {
    [SIM_PROGRAM_NOOP] = {384, {0x130, 0x140, 0x150, 0x160, 0x170}},
    [SIM_PROGRAM_SPIN] = {624, {0x130, 0x180, 0x1D0, 0x200, 0x230}},
    [SIM_PROGRAM_PIPELINE] = {1024, {0x130, 0x1E0, 0x260, 0x2E0, 0x380}},
};

struct sim_payload sim_program_image(enum sim_program program)
{
    return sim_payload(programs[program].size, 0x100u + program);
}

static const uint8_t mixed_enables[] = {0x1F, 0x01, 0x02, 0x03, 0x1C, 0x1D, 0x1E, 0x00};

/* What is wrong with the launch itself. */
static void adapt_to_fault(const struct sim *m, struct sim_plan *plan)
{
    switch (m->k.fault) {
    case NOCAP_SIM_FAULT_BAD_ENABLES: plan->enables |= 1u << NOCAP_PROCESSOR_COUNT; break;
    case NOCAP_SIM_FAULT_ENABLES_DIFFER:
        plan->enables &= ~(1u << NOCAP_PROCESSOR_TRISC1 | 1u << NOCAP_PROCESSOR_TRISC2);
        break;
    case NOCAP_SIM_FAULT_DISABLED_CORE_RUNS:
        plan->enables &= ~(1u << NOCAP_PROCESSOR_NCRISC);
        plan->image.program = SIM_PROGRAM_SPIN;
        break;
    default: break;
    }
}

/* Where a fault would strike whose first launch is `first`. */
static bool is_site(const struct sim *m, uint64_t launch, unsigned first)
{
    return m->options.launches > first && launch == sim_fault_launch(m, first);
}

/* Whether some fault would strike at the launch, or build on it: the program is the same with and
 * without the fault. */
static bool serves_faults(const struct sim *m, uint64_t launch)
{
    return is_site(m, launch, 0) || is_site(m, launch, 1) || is_site(m, launch + 1, 1);
}

/* Now and then; never two in a row, for the host could not tell them apart, nor near where faults
 * strike. */
bool sim_plan_preload(const struct sim *m, uint64_t launch)
{
    bool near_fault = serves_faults(m, launch) || serves_faults(m, launch + 1) ||
                      (launch > 0 && serves_faults(m, launch - 1));
    return m->options.scenario == NOCAP_SIM_LAUNCH_DEV && launch != m->host.generation &&
           sim_mix(&m->k, 0, launch) % 8 == 0 && sim_mix(&m->k, 0, launch - 1) % 8 != 0 &&
           !near_fault;
}

struct sim_plan sim_plan_launch(const struct sim *m, uint32_t tile, uint64_t launch)
{
    uint64_t x = sim_mix(&m->k, 1 + tile, launch);
    struct sim_plan plan = {.enables = NOCAP_ENABLES_ALL};
    plan.image.rounds = (uint8_t)(1 + (x >> 16) % 8);
    plan.image.program = x >> 24 & 3 ? SIM_PROGRAM_PIPELINE : SIM_PROGRAM_NOOP;
    if (tile == m->fault_tile && serves_faults(m, launch)) {
        /* faults inside a launch need all cores at work, each waiting for others */
        plan.image.program = SIM_PROGRAM_PIPELINE;
        plan.image.rounds = 4;
        if (launch == m->fault_launch) {
            adapt_to_fault(m, &plan);
        }
        return plan;
    }
    if (x % 2 == 0) {
        plan.enables = mixed_enables[(x >> 8) % sizeof mixed_enables];
    }
    if (plan.enables != NOCAP_ENABLES_ALL) {
        plan.image.program = SIM_PROGRAM_SPIN;
    }
    plan.host_reset =
        launch > 0 && (x >> 32) % 8 == 0; /* at first BRISC may still be at its boot */
    if (sim_plan_preload(m, launch)) {
        plan.preload = true;
        plan.enables |= 1u << NOCAP_PROCESSOR_BRISC;
    }
    return plan;
}

void sim_launch_message(const struct sim *m, const struct sim_plan *plan, uint32_t config_base,
                        uint64_t launch, uint8_t *bytes)
{
    const struct program *program = &programs[plan->image.program];
    struct nocap_launch message = {
        .kernel_config_base = {config_base, config_base, config_base},
        .local_cb_offset = 0x20,
        .remote_cb_offset = program->text_offset[0],
        .rta_offset = {0x00, 0x08, 0x10, 0x10, 0x10},
        .crta_offset = {0x20, 0x20, 0x20, 0x20, 0x20},
        .mode = m->options.scenario == NOCAP_SIM_LAUNCH_DEV ? NOCAP_MODE_DEV : NOCAP_MODE_HOST,
        .local_cb_mask = 1u << SIM_IN_CB | 1u << SIM_OUT_CB,
        .min_remote_cb_start_index = NOCAP_CB_COUNT,
        .host_assigned_id = (uint32_t)launch,
        .enables = plan->enables,
        .preload = plan->preload ? NOCAP_PRELOAD_FLAG : 0,
    };
    for (unsigned i = 0; i < NOCAP_PROCESSOR_COUNT; i++) {
        message.kernel_text_offset[i] = program->text_offset[i];
    }
    nocap_launch_encode(m->layout, &message, bytes);
}
