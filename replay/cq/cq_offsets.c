/* SPDX-License-Identifier: Apache-2.0 */
/* Write offsets: what the dispatcher adds to the addresses of its writes. */
#include "replay/cq/cq_private.h"

void cq_offsets_init(const struct cq *q, struct cq_offsets *o, bool origin)
{
    bool all = origin || q->numbers->write_offsets_used <= 1;
    *o = (struct cq_offsets){.known = all ? (1u << NOCAP_CQ_WRITE_OFFSETS) - 1 : 1};
}

void cq_offsets_set(struct cq_offsets *o, const struct nocap_cq_record *r)
{
    struct nocap_cq_subs subs;
    struct nocap_cq_command sub;
    nocap_cq_subs(&r->dispatch, &subs);
    for (uint32_t i = 0; i < subs.count && i < NOCAP_CQ_WRITE_OFFSETS; i++) {
        bool known = nocap_cq_sub(&subs, i, r->inner, r->inner_size, &sub);
        o->known = (uint8_t)((o->known & ~(1u << i)) | (unsigned)known << i);
        o->v[i] = known ? (uint32_t)sub.offset : 0;
    }
}

bool cq_offsets_move(const struct cq_offsets *o, struct cq_command *k)
{
    uint64_t index = k->record.dispatch.write_offset_index;
    bool known = index < NOCAP_CQ_WRITE_OFFSETS && (o->known >> index & 1) != 0;
    for (uint32_t i = 0; known && i < k->known; i++) {
        struct cq_target *t = &k->targets[i];
        t->addr += t->addr != NOCAP_CQ_DISCARD && !t->memory ? o->v[index] : 0;
    }
    return known;
}
