/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of records, for as long as the device may still have to do with them. */
#include <string.h>

#include "replay/cq/cq_private.h"

void cq_bytes_keep(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known)
{
    if (q->bytes_used % CQ_ARENA + known > CQ_ARENA) {
        q->bytes_used += CQ_ARENA - q->bytes_used % CQ_ARENA; /* a record lies in one piece */
    }
    r->start = q->bytes_used;
    r->known = known;
    memcpy(q->bytes + q->bytes_used % CQ_ARENA, bytes, known);
    q->bytes_used += known;
}

const uint8_t *cq_bytes_of(const struct cq *q, const struct cq_record *r)
{
    bool there = r->known > 0 && q->bytes_used - r->start <= CQ_ARENA;
    return there ? q->bytes + r->start % CQ_ARENA : NULL;
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
