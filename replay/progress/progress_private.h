/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the model of progress. */
#ifndef NOCAP_REPLAY_PROGRESS_PRIVATE_H
#define NOCAP_REPLAY_PROGRESS_PRIVATE_H

#include "replay/core/model.h"
#include "replay/core/progress.h"

/* NULL: none of the tile's cores. */
static inline struct progress_agent *progress_agent_of(struct progress *p, unsigned agent)
{
    return nocap_is_core(agent) ? &p->agents[PROGRESS_CORE0 + (agent - NOCAP_BY_BRISC)] : NULL;
}

/* ---- progress_requests.c ---- */

void progress_open_request(struct progress_requests *r, const struct nocap_event *e);
void progress_close_request(struct progress_requests *r, uint64_t id);
/* Each of them is answered. */
void progress_end_requests(struct progress_requests *r);

/* ---- progress_note.c ---- */

/* What notes tell of a core: at which waypoint it is, what it runs. */
void progress_take_note(struct model *m, struct tile *tile, const struct nocap_event *event);

#endif
