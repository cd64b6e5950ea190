/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/wait_builder.h"
#include <stdarg.h>
#include <stdio.h>

#include "base/singular.h"
#include "replay/core/progress.h"

struct nocap_party wait_party_at(const struct wait_builder *t, unsigned agent, struct nocap_xy at)
{
    return (struct nocap_party){.chip = t->tile != NULL ? t->tile->chip : t->chip,
                                .has_tile = true,
                                .at = at,
                                .agent = (uint8_t)agent,
                                .job = -1};
}

struct nocap_party wait_party(const struct wait_builder *t, unsigned agent)
{
    return t->tile != NULL ? wait_party_at(t, agent, t->tile->at)
                           : (struct nocap_party){.agent = (uint8_t)agent, .job = -1};
}

struct nocap_wait wait_begin(const struct wait_builder *t, unsigned agent, struct event_ref since)
{
    return (struct nocap_wait){
        .who = wait_party(t, agent),
        .by = {.agent = NOCAP_BY_NONE, .job = -1},
        .state = "waiting",
        .since = since.t,
        .index = since.index,
        .thread = -1,
        .progress = t->tile != NULL ? progress_of(t->tile)->all : trace_of(t->m)->all,
    };
}

void wait_report(const struct wait_builder *t, const struct nocap_wait *wait)
{
    struct nocap_wait w = *wait;
    char text[WAIT_TEXT];
    snprintf(text, sizeof text, "%s", wait->what);
    text_singular(text);
    w.what = text;
    t->sink(t->context, &w);
}

void wait_report_as(const struct wait_builder *t, struct nocap_wait *wait, const char *what, ...)
{
    char text[WAIT_TEXT];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    wait->what = text;
    wait_report(t, wait);
}

static bool polls(const struct progress_agent *agent, uint64_t addr)
{
    bool any = false;
    for (unsigned i = 0; i < PROGRESS_POLLS; i++) {
        any |= agent->polls[i].count > 0 && agent->polls[i].addr == addr;
    }
    return any;
}

/* The queue whose second dispatcher the tile's NCRISC is by what it polls; NULL: none. */
static const struct queue_facts *queue_polled_by(const struct model *m, const struct tile *tile)
{
    const struct progress_agent *ncrisc =
        &progress_of(tile)->agents[PROGRESS_CORE0 + NOCAP_PROCESSOR_NCRISC];
    for (uint32_t i = 0; i < m->queue_count; i++) {
        const struct queue_facts *q = &m->queues[i];
        if (q->chip == tile->chip && q->awaits != 0 && polls(ncrisc, q->awaits)) {
            return q;
        }
    }
    return NULL;
}

bool wait_queue_owns(const struct model *m, const struct tile *tile)
{
    const struct queue_facts *q = queue_at(m, tile->chip, tile->at);
    q = q != NULL ? q : queue_polled_by(m, tile);
    const uint32_t shows = NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_SYSMEM | NOCAP_CLASS_NOC |
                           NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST;
    bool blind = (m->header->observes & shows) == 0; /* their kernels have no end */
    return q != NULL && (q->used || blind);
}
