/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what must be true of a party of the command queue, and since which fault that
 * is known. */
#ifndef NOCAP_REPLAY_CQ_CHECK_H
#define NOCAP_REPLAY_CQ_CHECK_H

#include "replay/cq/cq_state.h"

static inline struct event_ref cq_event_ref(const struct cq *q, uint8_t agent)
{
    struct event_ref at = now(q->m);
    at.agent = agent;
    return at;
}
static inline const struct tile *cq_tile(struct cq *q, enum cq_core core)
{
    const struct nocap_xy at = q->at[core];
    return nocap_xy_equal(at, CQ_NOWHERE) ? NULL : tile_get(q->m, q->chip, at);
}

/* What the host made wrong reaches the workers much later. */
static inline void cq_note_fault(struct cq *q)
{
    fault_id fault = q->m->fault;
    if (fault != FAULT_NONE && fault != FAULT_UNREPORTED) {
        q->launches_since = q->host_fault = fault;
    }
}

/* As CHECK, about a party of the queue. */
#define CQ_HOST(q, RULE, condition, related, expected, ...)                                        \
    do {                                                                                           \
        CHECK_AT((q)->m, NULL, RULE, condition, cq_event_ref(q, NOCAP_BY_HOST), related, expected, \
                 __VA_ARGS__);                                                                     \
        cq_note_fault(q);                                                                          \
    } while (0)
#define CQ_FETCHER(q, RULE, condition, related, expected, ...)                                     \
    CHECK_AT((q)->m, cq_tile(q, CQ_PREFETCH), RULE, condition, cq_event_ref(q, NOCAP_BY_PREFETCH), \
             related, expected, __VA_ARGS__)
#define CQ_EXECUTOR(q, RULE, condition, related, expected, ...)                                    \
    CHECK_AT((q)->m, cq_tile(q, CQ_DISPATCH), RULE, condition, cq_event_ref(q, NOCAP_BY_DISPATCH), \
             related, expected, __VA_ARGS__)

/* The same, judged by what is known only since a fault. */
#define CQ_HOST_AFTER(q, RULE, since, ...) FOLLOWING((q)->m, since, CQ_HOST(q, RULE, __VA_ARGS__))
#define CQ_FETCHER_AFTER(q, RULE, since, ...)                                                      \
    FOLLOWING((q)->m, since, CQ_FETCHER(q, RULE, __VA_ARGS__))
#define CQ_EXECUTOR_AFTER(q, RULE, since, ...)                                                     \
    FOLLOWING((q)->m, since, CQ_EXECUTOR(q, RULE, __VA_ARGS__))
/* What is known since a fault is so to its end: the first that was found. */
static inline void cq_blame(fault_id *since, fault_id fault)
{
    *since = since_or(*since, fault);
}
/* Where a line of places goes on that was left at a fault; `other`: which place came next there. */
static inline fault_id cq_other_since(const struct value *other, uint32_t place)
{
    return other->known && other->v == place ? other->since : FAULT_NONE;
}
/* The same, of what such a judgement makes known only since its fault. */
#define CQ_FETCHER_ON(q, RULE, since, condition, ...)                                              \
    do {                                                                                           \
        bool cq_right = (condition);                                                               \
        CQ_FETCHER_AFTER(q, RULE, *(since), cq_right, __VA_ARGS__);                                \
        cq_blame(since, fault_of((q)->m, cq_right));                                               \
    } while (0)
/* .. and one that holds makes known again. */
static inline void cq_resync(const struct cq *q, fault_id *since, bool right)
{
    cq_blame(since, q->m->fault);
    *since = right ? FAULT_NONE : *since;
}

#endif
