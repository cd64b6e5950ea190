/* SPDX-License-Identifier: Apache-2.0 */
/* What agents know from what they see. */
#include "replay/race/race_private.h"

#include <stdlib.h>

/* What `clock` gets to know by the notification: that the writer came so far, what the writer
 * knew, and what of its interface's requests was over. */
static void learn_writer(struct model *m, struct race_clock **clock, const struct race_news *news)
{
    const struct race_access *w = &news->write;
    race_clock_join(m, clock, news->release);
    race_clock_raise(m, clock, race_core_key(w->agent), w->index);
    for (unsigned i = 0; i < RACE_ENDS * RACE_NOCS; i++) {
        unsigned way = i / RACE_NOCS, noc = i % RACE_NOCS;
        uint64_t until = news->over[way][noc];
        bool said = way == RACE_LEAVE && until <= news->over[RACE_ACK][noc];
        if (until != 0 && !said) { /* what was acknowledged has left */
            race_clock_raise(m, clock, race_completion_key(way, w->agent->place, noc), until);
        }
    }
}

void race_join(struct model *m, struct race_clock **clock, const struct race_agent *self,
               const struct race_mem_ctx *where, const struct race_news *news)
{
    const struct race_access *w = &news->write;
    if (w->index == 0) {
        return;
    }
    if (w->agent == NULL) {
        race_clock_raise_base(m, clock, w->index);
        return;
    }
    bool travels = w->way == RACE_ACK || w->way == RACE_ORDER;
    uint64_t order = travels ? race_order_key(w->agent->place, w->noc, where, w->channel) : 0;
    /* an agent knows what it knew; what several knew is in the clock of none of them */
    bool known =
        w->agent == self || (race_clock_until(*clock, race_core_key(w->agent)) >= w->index &&
                             (!travels || race_clock_until(*clock, order) >= w->index));
    if (!known || news->summed) {
        learn_writer(m, clock, news);
    }
    if (travels) {
        race_clock_raise(m, clock, order, w->index);
    }
}

void race_reported(struct model *m, struct race_agent *self, const struct race_mem_ctx *where,
                   struct race_news *news)
{
    if (news->joined != self) {
        race_join(m, &self->clock, self, where, news);
        news->joined = self;
    }
}

void race_report(struct race_news *news, const struct race_access *a, struct race_clock *release)
{
    race_clock_drop(news->release);
    news->write = *a;
    news->release = release;
    news->joined = NULL;
    news->summed = false;
    if (a->agent != NULL) {
        memcpy(news->over, a->agent->place->over, sizeof news->over);
    }
}

/* What is known of a counter after this access; `summed`: several added to it. */
static struct race_clock *sum_of(struct model *m, const struct race_mem_ctx *where,
                                 const struct race_news *news, const struct race_access *a,
                                 bool *summed)
{
    const struct race_access *w = &news->write;
    struct race_clock *sum = race_clock_share(a->agent->clock);
    bool other = w->agent != a->agent;
    *summed = news->summed || (other && w->atomic && w->agent != NULL);
    if (*summed || other || w->noc != a->noc || w->channel != a->channel) {
        race_join(m, &sum, a->agent, where, news);
    }
    return sum;
}

void race_count(struct model *m, const struct race_mem_ctx *where, struct race_news *news,
                const struct race_access *a)
{
    bool summed;
    race_report(news, a, sum_of(m, where, news, a, &summed));
    news->summed = summed;
}

void race_add(struct model *m, struct race_mem_ctx *where, const struct race_access *a)
{
    const struct race_news none = {0}, *news = &none;
    uint32_t i = race_memory_find(&where->memory, a->first);
    if (i < where->memory.count && where->memory.rows[i].first < a->end) {
        news = &race_memory_at(&where->memory, i)->news;
    }
    bool summed;
    struct race_clock *sum = sum_of(m, where, news, a, &summed);
    struct race_span *counter = race_write(m, where, a, sum, NULL);
    if (counter != NULL) {
        counter->news.summed = summed;
    }
}
