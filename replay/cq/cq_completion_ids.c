/* SPDX-License-Identifier: Apache-2.0 */
/* The events that the host has put into its commands, and the ids that come back. Rule CQ-065. */
#include "replay/cq/cq_private.h"

void cq_completion_sent(struct cq *q, uint32_t id, fault_id since)
{
    struct cq_completion *c = &q->completion;
    c->ids_since[c->id_count % CQ_EVENTS] = since;
    c->ids[c->id_count++ % CQ_EVENTS] = id;
}

void cq_completion_doubt(struct cq *q, fault_id since)
{
    struct cq_completion *c = &q->completion;
    if (c->id_count > 0) {
        cq_blame(&c->ids_since[(c->id_count - 1) % CQ_EVENTS], since);
    }
}

void cq_completion_lose(struct cq *q)
{
    q->completion.ids_whole = false;
    q->program.event.known = false;
    if (q->timestamps.any) {
        cq_timestamps_forget(q);
    }
}

uint64_t cq_completion_find(const struct cq_completion *c, uint64_t first, uint32_t id)
{
    uint64_t i = first;
    while (i < c->id_count && c->ids[i % CQ_EVENTS] != id) {
        i++;
    }
    return i;
}

void cq_completion_judge_id(struct cq *q, uint32_t id, struct cq_returned *line, fault_id since,
                            uint8_t agent)
{
    struct cq_completion *c = &q->completion;
    uint64_t first = c->id_count > CQ_EVENTS ? c->id_count - CQ_EVENTS : 0, n = line->next;
    bool whole = c->ids_whole && n >= first && !line->lost; /* else others come first */
    bool right = n < c->id_count && c->ids[n % CQ_EVENTS] == id;
    if (whole) {
        bool awaited = n < c->id_count;
        cq_blame(&line->since, since);
        cq_blame(&line->since, awaited ? c->ids_since[n % CQ_EVENTS] : c->shown.since);
        FOLLOWING(q->m, line->since,
                  CHECK_AT(q->m, NULL, CQ_065, right, cq_event_ref(q, agent), NO_REFS,
                           "events to come back as they were sent, in order",
                           awaited ? "event 0x%x returned, 0x%x is next"
                                   : "event 0x%x returned, no event is outstanding",
                           id, awaited ? c->ids[n % CQ_EVENTS] : 0));
        line->since = fault_of(q->m, right);
        cq_blame(&q->program.event.since, line->since); /* perhaps its command had another */
        cq_blame(&c->shown.since, line->since);         /* or was not seen */
    }
    line->lost = false;
    uint64_t found = cq_completion_find(c, whole ? n : first, id);
    if (found < c->id_count || whole) {
        line->next = found < c->id_count ? found + 1 : n + 1;
    }
}
