/* SPDX-License-Identifier: Apache-2.0 */
/* A record becomes visible to the device: entry, header and place agree. Rules CQ-001 to CQ-004,
 * CQ-027, CQ-042. */
#include <string.h>

#include "replay/cq/cq_private.h"

/* Several commands behind one entry: their strides, as far as they are known. 0: only one. */
static uint64_t sum_of_strides(const struct cq *q, const struct cq_publish *p, uint64_t first,
                               uint32_t size)
{
    uint64_t at = first;
    struct nocap_cq_record r;
    while (at < size && at + NOCAP_CQ_HEADER <= p->known && p->bytes[at] != 0 &&
           nocap_cq_decode_record_by(q->set, p->bytes + at, p->known - at, &r) && r.consumed != 0) {
        at += r.consumed;
    }
    bool lost = at != first && at < size && at + NOCAP_CQ_HEADER > p->known;
    bool undefined = q->numbers->inline_only == 0 && at < size && at < p->known &&
                     p->bytes[at] != 0; /* which is judged as a command */
    return lost || undefined ? size : at == first ? 0 : at;
}

/* Whether the header of the record, its entry and its place agree. */
static fault_id judge_shape(struct cq *q, const struct cq_publish *p,
                            const struct nocap_cq_record *r, uint32_t size, fault_id entry)
{
    const struct nocap_cq_command *c = &r->prefetch;
    bool relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    if (!relay) {
        return FAULT_NONE;
    }
    uint64_t stride = nocap_cq_align(c->length + NOCAP_CQ_HEADER, q->numbers->record_align);
    CQ_HOST(q, CQ_001, c->stride == stride, NOTHING, "a stride of header and length, rounded up",
            "stride %llu, length %llu", wide(c->stride), wide(c->length));
    if (c->stride != stride) {
        return q->m->fault;
    }
    const uint64_t most = (uint64_t)(q->numbers->entry_stall - 1) * q->numbers->entry_unit;
    if (stride > most) { /* no entry says so: CQ-002 would be the same fault */
        CQ_HOST_AFTER(q, CQ_003, size > q->numbers->entry_max ? entry : FAULT_NONE, false, NOTHING,
                      "an entry that fits the prefetcher's buffer", "a record of %llu bytes",
                      wide(stride));
        fault_id fault = q->m->fault;
        CQ_HOST(q, CQ_042, cq_pages_of(q, c->length) <= q->numbers->buffer_pages, NOTHING,
                "a record that the dispatch buffer has room for", "%u pages",
                cq_pages_of(q, c->length));
        return fault;
    }
    uint64_t sum = stride < size ? sum_of_strides(q, p, stride, size) : 0;
    if (sum != 0) {
        CQ_HOST(q, CQ_004, sum == size, NOTHING,
                "an entry as long as the commands that it publishes",
                "entry of %u bytes, commands of %llu", size, wide(sum));
        return sum == size ? FAULT_UNREPORTED : q->m->fault;
    }
    HOLDS(q->m, CQ_004);
    CQ_HOST(q, CQ_002, stride == size, NOTHING, "a fetch entry that says the stride",
            "entry 0x%x, stride %llu", p->entry, wide(stride));
    return fault_of(q->m, stride == size);
}

static fault_id judge_place(struct cq *q, const struct cq_publish *p, const struct cq_record *r)
{
    if (!r->addr_known) {
        return FAULT_NONE;
    }
    bool inside = place_has(&q->places.issue, r->addr);
    bool aligned = r->addr % q->numbers->record_align == 0;
    CQ_HOST(q, CQ_001, inside && aligned, NOTHING, "a record in the issue region, aligned", "+0x%x",
            r->addr);
    if (!inside || !aligned) {
        return q->m->fault;
    }
    bool straddles = (uint64_t)r->addr + r->size > place_end(&q->places.issue);
    CQ_HOST_AFTER(q, CQ_027, p->since, !straddles && !p->moved, NOTHING,
                  "records one behind the other, from the start again where one does not fit",
                  straddles ? "%u bytes at +0x%x cross the end"
                            : "%u bytes at +0x%x, not where the last "
                              "one ended",
                  r->size, r->addr);
    return fault_of(q->m, !straddles && !p->moved);
}

static fault_id judge_entry(struct cq *q, const struct cq_publish *p, uint32_t size)
{
    bool stall = (p->entry & q->numbers->entry_stall) != 0;
    struct nocap_cq_command c;
    bool exec_buf = stall &&
                    nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, p->bytes, p->known, &c) &&
                    c.id == NOCAP_CQ_PREFETCH_EXEC_BUF;
    bool narrow = q->numbers->entry_bytes == 4 || p->entry <= UINT16_MAX;
    bool fits = p->entry != 0 && narrow && (!stall || exec_buf || q->numbers->inline_only == 0);
    if (!fits) {
        CQ_HOST(q, CQ_002, false, NOTHING, "an entry that is not 0, without the bit of EXEC_BUF",
                "entry 0x%x", p->entry);
        return q->m->fault;
    }
    CQ_HOST(q, CQ_003, size <= q->numbers->entry_max, NOTHING,
            "an entry that fits the prefetcher's buffer", "%u bytes", size);
    return fault_of(q->m, size <= q->numbers->entry_max);
}

/* The first byte of padding that is not zero: of the headers, and, if `shaped`, past the end of the
 * bytes that it relays. -1: there is none. */
static int64_t odd_padding(const struct cq_publish *p, const struct nocap_cq_record *r, bool shaped)
{
    int at = nocap_cq_padding_not_zero(&r->prefetch, p->bytes);
    if (at < 0 && r->has_dispatch) {
        at = nocap_cq_padding_not_zero(&r->dispatch, r->inner);
        at += at >= 0 ? NOCAP_CQ_HEADER : 0;
    }
    uint64_t end = r->prefetch.stride < p->known ? r->prefetch.stride : p->known;
    for (uint64_t i = NOCAP_CQ_HEADER + r->prefetch.length; at < 0 && shaped && i < end; i++) {
        if (p->bytes[i] != 0) {
            return (int64_t)i;
        }
    }
    return at;
}

/* Whether the model can follow what the device makes of it: one command for the dispatcher. */
static bool is_plain(const struct cq *q, const struct cq_publish *p,
                     const struct nocap_cq_record *r, uint32_t size)
{
    const struct nocap_cq_command *c = &r->prefetch;
    if (c->id == NOCAP_CQ_PREFETCH_TERMINATE || nocap_cq_name(NOCAP_CQ_PREFETCH, c->id) == NULL ||
        q->set->unhandled[NOCAP_CQ_PREFETCH][c->id] || q->numbers->inline_only != 0) {
        return true; /* or it is judged to be wrong */
    }
    bool packed = c->stride < size && sum_of_strides(q, p, c->stride, size) == size;
    bool multicast = r->has_dispatch && r->dispatch.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL &&
                     r->dispatch.multicast_go_offset != NOCAP_CQ_NO_MCAST_GO;
    bool moves = r->has_dispatch && r->dispatch.id == NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET;
    return c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE && c->dispatcher_type == 0 && !packed &&
           !multicast && !moves;
}

/* The commands behind the first one of an entry. */
static void judge_rest(struct cq *q, const struct cq_publish *p, uint64_t at, uint32_t size)
{
    const struct nocap_cq_record *r = &q->command.record;
    while (r->consumed != 0 && at < size && at < p->known &&
           cq_decode(q, &q->command, p->bytes + at, p->known - (uint32_t)at)) {
        (void)cq_judge_record(q, &q->command, FAULT_NONE);
        at += r->consumed;
    }
}

/* What the device makes of records is not followed from here on. */
static void loosen(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    q->loose = true;
    cq_ring_init(q, false);
    cq_launch_lose(q, true);
    cq_completion_lose(q);
    memset(&q->dispatcher, 0, sizeof q->dispatcher);
    memset(q->workers, 0, sizeof q->workers);
    q->owing = (struct cq_tile_set){{0}};
    p->relay = NO_INDEX;
    p->open = false;
    if (!q->program.prefetch_terminated) {
        q->program.terminated = NO_INDEX; /* there may be another dispatcher to end */
    }
}

static void judge_bytes(struct cq *q, struct cq_record *r, const struct cq_publish *p,
                        fault_id entry, bool placed)
{
    const struct nocap_cq_record *record = &q->command.record;
    if (!cq_decode(q, &q->command, p->bytes, p->known)) {
        return;
    }
    q->host_fault = FAULT_NONE;
    fault_id shape = judge_shape(q, p, record, r->size, entry);
    bool shaped = shape == FAULT_NONE;
    if (!is_plain(q, p, record, r->size)) {
        loosen(q);
    }
    uint64_t stride =
        nocap_cq_align(record->prefetch.length + NOCAP_CQ_HEADER, q->numbers->record_align);
    if (record->prefetch.id == NOCAP_CQ_PREFETCH_RELAY_INLINE &&
        record->prefetch.stride == stride && stride < q->numbers->issue_size && !q->loose) {
        r->real = (uint32_t)stride; /* the next one lies behind it, whatever the entry says */
    }
    if (record->prefetch.id == NOCAP_CQ_PREFETCH_RELAY_INLINE && !q->loose) {
        int64_t at = odd_padding(p, record, shaped);
        CQ_HOST(q, CQ_007, at < 0, NOTHING, "zero in the padding of headers and record",
                "byte %llu of the record is 0x%02x", wide((uint64_t)at), p->bytes[at < 0 ? 0 : at]);
    }
    if (shaped && record->prefetch.id == NOCAP_CQ_PREFETCH_RELAY_INLINE) {
        r->length = (uint32_t)record->prefetch.length;
        r->pages = cq_pages_of(q, r->length);
    }
    cq_launch_command(q, &q->command, &r->brief, cq_judge_record(q, &q->command, shape));
    r->says_since = q->host_fault;
    r->good = shaped && entry == FAULT_NONE && placed && r->pages != 0;
    r->several = shape == FAULT_UNREPORTED;
    r->ends = record->prefetch.id == NOCAP_CQ_PREFETCH_TERMINATE;
    cq_bytes_keep(q, r, p->bytes, p->known);
    if (q->loose) {
        judge_rest(q, p, record->consumed, r->size);
    }
}

void cq_publish(struct cq *q, const struct cq_publish *p)
{
    uint32_t size = cq_entry_size(q, p->entry);
    struct cq_record *r = &q->records[q->published++ % CQ_RECORDS];
    *r = p->record;
    r->at = cq_event_ref(q, NOCAP_BY_HOST);
    r->size = size;
    r->entry = p->entry;
    fault_id entry = judge_entry(q, p, size);
    r->since = judge_place(q, p, r);
    bool placed = r->since == FAULT_NONE;
    r->real = p->given != 0 ? p->given : size;
    if (p->known == 0) {
        cq_completion_lose(q);
        cq_launch_lose(q, true);
    } else {
        judge_bytes(q, r, p, entry, placed);
    }
    if (r->length != 0) {
        HOLDS(q->m, CQ_042);
    }
    r->sized = r->good || (p->known == 0 && !r->unwritten && entry == FAULT_NONE && placed);
    r->real = r->real < q->numbers->issue_size ? r->real : q->numbers->issue_size;
    if (r->addr_known) {
        resync(&q->host.cursor, r->addr + r->real, r->since);
    }
    cq_report_step(q, NOCAP_RECORD_PUBLISHED, r);
}

void cq_publish_late(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known)
{
    const struct cq_publish p = {
        .entry = r->size / q->numbers->entry_unit, .bytes = bytes, .known = known};
    if (known > 0) {
        judge_bytes(q, r, &p, FAULT_NONE, true);
        r->good = false; /* the device may have read what was there before */
    }
}

void cq_report_step(struct cq *q, enum nocap_record_step step, const struct cq_record *r)
{
    if (q->m->recorded == NULL || r == NULL) {
        return;
    }
    const struct nocap_recorded told = {
        .chip = q->chip,
        .step = step,
        .record = r->at.index,
        .index = q->m->event->index,
        .t = q->m->event->t,
        .has_slot = r->slot_known,
        .has_addr = r->addr_known,
        .has_command = r->brief.known,
        .slot = r->slot,
        .addr = r->addr,
        .size = r->size,
        .command = r->brief.id,
    };
    q->m->recorded(q->m->context, &told);
}
