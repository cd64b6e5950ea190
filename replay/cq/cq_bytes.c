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

uint64_t cq_entries_back(struct cq *q, uint64_t number, unsigned count)
{
    const struct cq_record *r;
    for (; count > 0 && number > 0 && (r = cq_record(q, number - 1)) != NULL; number--) {
        count -= r->part == 0;
    }
    return number;
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

bool cq_slot_value(const struct cq *q, const struct access *a, uint64_t addr, uint32_t *entry)
{
    uint8_t low, high;
    if (q->numbers->entry_bytes == sizeof *entry) {
        bool whole = access_word(a, addr, entry);
        *entry = whole ? *entry : 0;
        return whole;
    }
    bool known = access_byte(a, addr, &low) && access_byte(a, addr + 1, &high);
    *entry = known ? low | (uint32_t)high << 8 : 0;
    return known;
}
