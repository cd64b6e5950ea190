/* SPDX-License-Identifier: Apache-2.0 */
/* The fake simulator as a build for several devices. */
#include "tests/fakes/ttsim.c"

void *libttsim_create_device_by_id(uint32_t id, int x, int y);

void *libttsim_create_device_by_id(uint32_t id, int x, int y)
{
    (void)x;
    (void)y;
    return &memory[id % FAKE_WIDTH];
}
