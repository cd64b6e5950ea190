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

/* When the last of the polls was that an event stands for. */
static inline uint64_t progress_end_of(const struct nocap_event *e)
{
    bool polls = e->kind == NOCAP_EV_READ || e->kind == NOCAP_EV_WRITE;
    return polls && (e->has & NOCAP_F_T2) != 0 ? e->t2 : e->t;
}

static inline uint64_t progress_times(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_N) != 0 ? e->n : 1;
}

/* ---- progress.c ---- */

/* An act. `own`: what it took to get here was the party's own time. */
void progress_step(struct nocap_progress *p, const struct nocap_event *e, bool own);
/* Something happens in the tile, so in the whole. */
void progress_move(struct model *m, struct tile *tile, bool own);
void progress_count_polls(struct model *m, struct tile *tile, uint64_t polls);
/* NULL: the agent does not poll there. */
struct poll *progress_find_poll(struct progress_agent *agent, uint64_t addr);
/* How often the agent found the place as it was; 0: it found something else, or polls it for the
 * first time. `changed` is set where it found something else. */
uint64_t progress_poll(struct model *m, struct progress_agent *agent, const struct access *a,
                       bool *changed);

/* ---- progress_host.c ---- */

void progress_host_read(struct model *m, struct tile *tile, const struct access *a);
void progress_host_store(struct model *m, struct tile *tile, const struct access *a);
/* Host memory: the host's own reads of it. */
void progress_sysmem_read(struct model *m, const struct nocap_event *e);

/* ---- progress_requests.c ---- */

void progress_open_request(struct progress_requests *r, const struct nocap_event *e);
void progress_close_request(struct progress_requests *r, uint64_t id);
/* Each of them is answered. */
void progress_end_requests(struct progress_requests *r);

/* ---- progress_note.c ---- */

/* What notes tell of a core: at which waypoint it is, what it runs. */
void progress_take_note(struct model *m, struct tile *tile, const struct nocap_event *event);

#endif
