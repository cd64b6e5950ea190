/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the host launches, private to capture/sim/launch: kernel images, launch messages,
 * the plan of a run. */
#ifndef NOCAP_CAPTURE_SIM_PROGRAM_H
#define NOCAP_CAPTURE_SIM_PROGRAM_H

#include "capture/sim/launch/firmware.h"
#include "capture/sim/launch/machine.h"

/* Deterministic content of `size` bytes; other bytes for another `salt`. */
struct sim_payload sim_payload(uint32_t size, uint32_t salt);

/* The kernel image area that a config base means. */
static inline unsigned sim_image_area(uint32_t config_base)
{
    return (config_base - SIM_KERNEL_CONFIG) / SIM_IMAGE_STRIDE % NOCAP_LAUNCH_SLOTS;
}

/* The same for the same tile and launch, whenever asked. */
struct sim_plan sim_plan_launch(const struct sim *m, uint32_t tile, uint64_t launch);
/* Whether launch `launch` starts by preload flag, on all tiles; of the present generation of the
 * ring. */
bool sim_plan_preload(const struct sim *m, uint64_t launch);

/* The kernel image of a program, as the host writes it. */
struct sim_payload sim_program_image(enum sim_program program);
/* The launch message: m->layout->launch_size bytes. */
void sim_launch_message(const struct sim *m, const struct sim_plan *plan, uint32_t config_base,
                        uint64_t launch, uint8_t *bytes);

#endif
