/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/waypoint.h"

#include <stddef.h>
#include <string.h>

static const struct nocap_waypoint waypoints[] = {
#define WAYPOINT(code, in_kernel, meaning) {code, in_kernel, meaning},
#include "formats/blackhole/waypoints.def"
};

const struct nocap_waypoint *nocap_waypoint_find(const char *code)
{
    for (size_t i = 0; i < sizeof waypoints / sizeof waypoints[0]; i++) {
        if (strcmp(waypoints[i].code, code) == 0) {
            return &waypoints[i];
        }
    }
    return NULL;
}
