/* SPDX-License-Identifier: Apache-2.0 */
/* Which record the prefetcher relays, to the dispatcher and to the subordinate one: each gets its
 * own in their order. Rule CQ-036, as far as it is about whose turn it is. */
#include "replay/cq/cq_private.h"

void cq_relay_from(struct cq *q, uint64_t number)
{
    q->prefetcher.overtaken = NO_INDEX;
    q->prefetcher.relay[CQ_TO_DISPATCHER] = number;
    q->prefetcher.relay[CQ_TO_SUBORDINATE] = q->numbers->dispatchers > 1 ? number : NO_INDEX;
}

uint64_t cq_relay_next(struct cq *q, enum cq_relay_to to)
{
    struct cq_prefetcher *p = &q->prefetcher;
    uint64_t *relay = &p->relay[to];
    const bool subordinate = to == CQ_TO_SUBORDINATE;
    const struct cq_record *r;
    while (!(p->open && !subordinate) && *relay != NO_INDEX && *relay < p->next &&
           (r = cq_record(q, *relay)) != NULL &&
           (r->silent || r->unsure || (r->good && r->subordinate != subordinate))) {
        if (r->unsure) {
            cq_blame(&p->turn_since, r->says_since);
            p->turns = (struct cq_turns){.may = !r->several, .from = *relay};
            cq_relay_from(q, NO_INDEX);
            break;
        }
        if (r->silent) {
            p->stalled = (r->entry & q->numbers->entry_stall) != 0 ? *relay + 1 : NO_INDEX;
        }
        *relay = r->silent && r->several ? NO_INDEX : *relay + 1;
    }
    return *relay;
}

uint64_t cq_relay_first(struct cq *q)
{
    uint64_t own = cq_relay_next(q, CQ_TO_DISPATCHER);
    uint64_t other = cq_relay_next(q, CQ_TO_SUBORDINATE);
    return own < other ? own : other;
}

struct cq_record *cq_relayed(struct cq *q, enum cq_relay_to to)
{
    uint64_t number = cq_relay_next(q, to);
    return number != NO_INDEX ? cq_record(q, number) : NULL;
}

/* Whether what is relayed from `addr` on is what record `number` relays first. */
static bool lies_at(struct cq *q, uint64_t number, uint64_t addr)
{
    const struct cq_record *r = cq_record(q, number);
    const struct cq_record *head = r != NULL ? cq_record(q, number - r->part) : NULL;
    return head != NULL && head->l1_known &&
           addr == (uint64_t)head->l1 + (r->addr - head->addr) + NOCAP_CQ_HEADER;
}

void cq_find_relayed(struct cq *q, enum cq_relay_to to, const struct nocap_event *e)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const struct cq_record *next = cq_relayed(q, to);
    const uint8_t *bytes = next != NULL && next->good ? cq_bytes_of(q, next) : NULL;
    struct access a = access_of_event(e, e->daddr, e->size);
    if (bytes != NULL && a.known > 0 && next->known > NOCAP_CQ_HEADER &&
        cq_bytes_differ(&a, bytes + NOCAP_CQ_HEADER, next->known - NOCAP_CQ_HEADER) == UINT64_MAX) {
        return; /* its bytes */
    }
    if (e->kind != NOCAP_EV_NOC || (e->has & NOCAP_F_SADDR) == 0 || !p->synced ||
        lies_at(q, cq_relay_next(q, to), e->saddr)) {
        return;
    }
    const uint64_t last = cq_entries_back(q, p->next, CQ_LEAP);
    for (uint64_t n = p->next; n > last; n--) {
        if (lies_at(q, n - 1, e->saddr)) {
            if (p->relay[to] == NO_INDEX) {
                cq_relay_from(q, n - 1);
            }
            p->relay[to] = n - 1;
            return;
        }
    }
}

/* A command of `length` bytes was relayed: which of the records that may have been its go on. */
static void follow_turns(struct cq *q, uint64_t length)
{
    struct cq_prefetcher *p = &q->prefetcher;
    struct cq_turns *t = &p->turns;
    uint64_t may = t->may, end = 0; /* end: of all up to that one */
    const struct cq_record *r;
    t->bytes += cq_stride(q, length);
    t->may = 0;
    for (uint64_t i = 0; i < CQ_TURNS && may >> i != 0 && t->from + i < p->next &&
                         (r = cq_record(q, t->from + i)) != NULL;
         i++) {
        const struct cq_record *head = cq_record(q, t->from + i - r->part);
        const uint64_t here = may & (uint64_t)1 << i;
        end += !r->several ? cq_stride(q, r->length) : head != NULL ? head->size : CQ_ENTRY_CAP;
        bool right = r->several ? t->bytes <= end : !r->good || r->length == length;
        if ((r->silent || r->unsure) && !r->several) {
            may |= here << 1;
        }
        if ((!r->silent || r->several) && right) {
            t->may |= here << 1 | (r->several && t->bytes < end ? here : 0);
        }
    }
}

/* The one that is next, if it alone may be. */
static uint64_t next_turn(const struct cq_turns *t)
{
    const bool one = t->may != 0 && (t->may & (t->may - 1)) == 0;
    return one ? t->from + (uint64_t)__builtin_ctzll(t->may) : NO_INDEX;
}

void cq_next_record(struct cq *q, enum cq_relay_to to, const struct cq_record *r)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const enum cq_relay_to other = to == CQ_TO_DISPATCHER ? CQ_TO_SUBORDINATE : CQ_TO_DISPATCHER;
    const uint64_t number = p->relay[to];
    if (r != NULL && !r->good) {
        cq_blame(&p->turn_since, r->since);
    }
    if (r != NULL && r->several) {
        cq_blame(&p->turn_since, r->says_since);
        p->turns = (struct cq_turns){.may = p->turn_since != FAULT_NONE, .from = number};
    }
    if (number == NO_INDEX || (r != NULL && r->several)) {
        follow_turns(q, p->bytes);
        cq_relay_from(q, next_turn(&p->turns));
        return;
    }
    p->relay[other] += cq_relay_next(q, other) == number; /* it may have been of either */
    p->relay[to] = number + 1;
}

fault_id cq_judge_turn(struct cq *q, enum cq_relay_to to)
{
    struct cq_prefetcher *p = &q->prefetcher;
    const enum cq_relay_to other = to == CQ_TO_DISPATCHER ? CQ_TO_SUBORDINATE : CQ_TO_DISPATCHER;
    const struct cq_record *r = cq_relayed(q, other), *own = cq_relayed(q, to);
    const uint64_t ahead = p->relay[other];
    if (r == NULL || own == NULL || !r->good || !r->fetched || ahead == p->overtaken) {
        return FAULT_NONE;
    }
    bool right = p->relay[to] < ahead;
    fault_id since = to == CQ_TO_DISPATCHER ? q->subordinate.since : q->ring.cursor.since;
    cq_blame(&since, r->read_since);
    cq_blame(&since, p->turn_since);
    CQ_FETCHER_AFTER(q, CQ_036, since, right, RELATED(r->at.index),
                     "prefetch commands relayed in their order", "%s",
                     "prefetch command relayed before the one ahead of it, which is for the other "
                     "dispatcher");
    if (!right) {
        p->overtaken = ahead;
        cq_subordinate_doubt(q, q->m->fault);
        cq_blame(&q->ring.cursor.since, q->m->fault);
    }
    return fault_of(q->m, right);
}
