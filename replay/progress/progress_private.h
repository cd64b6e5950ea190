/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the model of progress. */
#ifndef NOCAP_REPLAY_PROGRESS_PRIVATE_H
#define NOCAP_REPLAY_PROGRESS_PRIVATE_H

#include "replay/core/progress.h"

/* NULL: none of the tile's cores. */
static inline struct progress_agent *progress_core(const struct tile *tile, unsigned agent)
{
    const unsigned processor = agent - NOCAP_BY_BRISC;
    return nocap_is_core(agent) ? &progress_of(tile)->agents[PROGRESS_CORE0 + processor] : NULL;
}

/* progress_seldom.c */
void progress_request(struct model *m, const struct tile *tile, const struct nocap_event *e);
/* Each of them is answered. */
void progress_end_requests(struct progress_requests *r);
/* At which waypoint a core is, what it runs. */
void progress_take_note(struct model *m, const struct tile *tile, const struct nocap_event *e);

#endif
