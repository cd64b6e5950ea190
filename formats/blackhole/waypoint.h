/* SPDX-License-Identifier: Apache-2.0 */
/* Waypoints: short codes by which a core says where it is. */
#ifndef NOCAP_BLACKHOLE_WAYPOINT_H
#define NOCAP_BLACKHOLE_WAYPOINT_H

#include <stdbool.h>

#include "formats/trace/note.h"

enum { NOCAP_WAYPOINT_MAX = NOCAP_NOTE_CODE }; /* characters of a code */

struct nocap_waypoint {
    const char *code;
    bool in_kernel;
    const char *meaning; /* "waits for a semaphore" */
};

/* NULL: the code is not in the table. */
const struct nocap_waypoint *nocap_waypoint_find(const char *code);

#endif
