/* What notes tell of a core: at which waypoint it is, what it runs. */
#include <stdio.h>
#include <string.h>

#include "formats/trace/note.h"
#include "replay/pace.h"
#include "replay/tile.h"

/* The name's place in the table, 0 where it has no room: a name too long, or one too many. */
static uint16_t kernel_named(struct trace_pace *p, const char *name, uint32_t size)
{
    if (size >= PACE_KERNEL_NAME || memchr(name, 0, size) != NULL) {
        return 0;
    }
    for (uint16_t i = 1; i <= p->kernel_count; i++) {
        if (strncmp(p->kernels[i], name, size) == 0 && p->kernels[i][size] == '\0') {
            return i;
        }
    }
    if (p->kernel_count + 1 == PACE_KERNELS) {
        return 0;
    }
    memcpy(p->kernels[++p->kernel_count], name, size);
    return p->kernel_count;
}

void pace_note(struct model *m, struct tile *tile, const struct nocap_event *event)
{
    const struct nocap_note note = nocap_note_read(event);
    if (note.form != NOCAP_NOTE_AT && note.form != NOCAP_NOTE_RUNS) {
        return;
    }
    struct pace_agent *agent = &tile->pace.agents[PACE_CORE0 + nocap_core(note.by)->processor];
    if (note.form == NOCAP_NOTE_AT) {
        memcpy(agent->waypoint, note.code, sizeof agent->waypoint);
    } else {
        agent->kernel = kernel_named(m->pace, note.name, note.name_size);
    }
}

bool pace_in_kernel(const struct pace_agent *agent)
{
    const struct nocap_waypoint *at = nocap_waypoint_find(agent->waypoint);
    return at != NULL && at->in_kernel;
}
