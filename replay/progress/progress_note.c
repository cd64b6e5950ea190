/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "formats/trace/note.h"
#include "replay/progress/progress_private.h"

/* The name's place in the table, 0 where it has no room: a name too long, or one too many. */
static uint16_t kernel_named(struct trace_progress *p, const char *name, uint32_t size)
{
    if (size >= PROGRESS_KERNEL_NAME || memchr(name, 0, size) != NULL) {
        return 0;
    }
    for (uint16_t i = 1; i <= p->kernel_count; i++) {
        if (strncmp(p->kernels[i], name, size) == 0 && p->kernels[i][size] == '\0') {
            return i;
        }
    }
    if (p->kernel_count + 1 == PROGRESS_KERNELS) {
        return 0;
    }
    memcpy(p->kernels[++p->kernel_count], name, size);
    return p->kernel_count;
}

void progress_take_note(struct model *m, struct tile *tile, const struct nocap_event *event)
{
    const struct nocap_note note = nocap_note_read(event);
    struct progress_agent *agent = progress_agent_of(progress_of(tile), note.by);
    if (note.form == NOCAP_NOTE_AT) {
        memcpy(agent->waypoint, note.code, sizeof agent->waypoint);
    } else if (note.form == NOCAP_NOTE_RUNS) {
        agent->kernel = kernel_named(trace_of(m), note.name, note.name_size);
    }
}
