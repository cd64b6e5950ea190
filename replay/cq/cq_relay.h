/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what the prefetcher relays into the buffers of the two dispatchers. */
#ifndef NOCAP_REPLAY_CQ_RELAY_H
#define NOCAP_REPLAY_CQ_RELAY_H

#include "replay/cq/cq_state.h"

/* Bytes in the issue region of a command that relays `length`. */
static inline uint64_t cq_stride(const struct cq *q, uint64_t length)
{
    return nocap_cq_align(length + NOCAP_CQ_HEADER, q->numbers->record_align);
}

/* A packet was issued. */
static inline void cq_packet_issued(struct cq_packets *p, const struct nocap_event *e)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->ids[i] == e->id) {
            return; /* the same once more */
        }
    }
    if ((e->has & NOCAP_F_ID) != 0 && p->count < CQ_PACKETS) {
        p->ids[p->count++] = e->id;
    }
}
/* Whether it was one of them. */
static inline bool cq_packet_over(struct cq_packets *p, uint64_t id)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->ids[i] == id) {
            p->ids[i] = p->ids[--p->count];
            return true;
        }
    }
    return false;
}

/* cq_relay_turn.c: which record that is */
enum cq_relay_to { CQ_TO_DISPATCHER, CQ_TO_SUBORDINATE };
/* The number of the record that is relayed there next, or now; NO_INDEX: not known. */
uint64_t cq_relay_next(struct cq *q, enum cq_relay_to to);
/* .. to either. */
uint64_t cq_relay_first(struct cq *q);
/* Record `number` is relayed next; NO_INDEX: not known. */
void cq_relay_from(struct cq *q, uint64_t number);
/* The record that is relayed there next, or now. */
struct cq_record *cq_relayed(struct cq *q, enum cq_relay_to to);
/* The record that was relayed there is the dispatcher's. */
void cq_next_record(struct cq *q, enum cq_relay_to to, const struct cq_record *record);
/* Known by where the relayed bytes lay, on a trace that was attached mid-run, and where a read was
 * left out, which is not relayed either. */
void cq_find_relayed(struct cq *q, enum cq_relay_to to, const struct nocap_event *event);
/* Of commands for the two dispatchers, the one ahead is relayed first. */
fault_id cq_judge_turn(struct cq *q, enum cq_relay_to to);

/* cq_relay.c: from the prefetcher into the dispatch buffer */
void cq_relay_piece(struct cq *q, uint64_t addr, uint64_t size, const uint8_t *bytes,
                    uint64_t known, const struct nocap_event *event);
/* Whether a `cq` event has shown this write already: then its place and its bytes are judged. */
bool cq_relay_restates(struct cq *q, const struct nocap_event *event, uint64_t size);
/* The `cq` event of writes that were seen. */
void cq_relay_restated(struct cq *q, const struct nocap_event *event);
void cq_relay_sent(struct cq *q, uint64_t id);
/* It takes so many pages in all for what it relays. */
void cq_take_pages(struct cq *q, uint32_t pages);
/* The dispatcher reads `pages` more than were published. */
void cq_relay_counted(struct cq *q, uint64_t pages);
/* The same of the subordinate dispatcher's. */
void cq_relay_publish_subordinate(struct cq *q, uint32_t value);
/* cq_subordinate.c: a page was published and no record relayed: if the next is relayed to the page
 * after it, `page`, that relay was not seen. */
void cq_subordinate_unrelayed(struct cq *q, uint32_t page);
/* .. and comes late: what is relayed to `page` was published already. */
bool cq_subordinate_late(struct cq *q, uint32_t page);
/* cq_relay_publish.c: the pages that it makes ready */
void cq_relay_publish(struct cq *q, uint32_t value);

#endif
