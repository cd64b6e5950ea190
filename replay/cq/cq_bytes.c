/* SPDX-License-Identifier: Apache-2.0 */
/* Records by number, and their bytes for as long as the device may still have to do with them. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_bytes_keep(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known)
{
    r->start = cq_arena_put(&q->bytes, bytes, known);
    r->known = known;
}

const uint8_t *cq_bytes_of(const struct cq *q, const struct cq_record *r)
{
    return r->known > 0 ? cq_arena_at(&q->bytes, r->start) : NULL;
}

uint64_t cq_bytes_differ(const struct access *a, const uint8_t *bytes, uint64_t known)
{
    uint64_t count = a->known < known ? a->known : known;
    for (uint64_t i = 0; i < count && memcmp(a->bytes, bytes, count) != 0; i++) {
        if (a->bytes[i] != bytes[i]) {
            return i;
        }
    }
    return UINT64_MAX;
}

uint64_t cq_find_unread(struct cq *q, uint32_t addr, uint32_t slot)
{
    uint64_t n = cq_entries_back(q, q->prefetcher.next, CQ_LEAP);
    const struct cq_record *r;
    for (unsigned ahead = 0; ahead <= CQ_LEAP && (r = cq_record(q, n)) != NULL;
         n = cq_entry_after(q, n)) {
        if (!r->fetched &&
            ((r->addr_known && r->addr == addr) || (r->slot_known && r->slot == slot))) {
            return n;
        }
        ahead += n >= q->prefetcher.next;
    }
    return NO_INDEX;
}

uint64_t cq_pass_subordinate(struct cq *q, uint64_t number, uint64_t size)
{
    const bool missed = q->subordinate.since != FAULT_NONE;
    const struct cq_record *r = NULL;
    uint64_t n = number;
    while (n < q->prefetcher.next && (r = cq_record(q, n)) != NULL && r->subordinate &&
           (missed || r->length != size)) {
        n++;
    }
    bool due = n < q->prefetcher.next && r != NULL && !r->subordinate && size <= r->length;
    return due ? n : number;
}

uint64_t cq_count_entries(struct cq *q, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t n = from; n < to; n = cq_entry_after(q, n)) {
        count++;
    }
    return count;
}

uint64_t cq_count_relayed(struct cq *q, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t n = from; n < to; n++) {
        const struct cq_record *r = cq_record(q, n);
        count += r == NULL || !(r->silent || r->ends);
    }
    return count;
}
