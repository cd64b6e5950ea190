/* SPDX-License-Identifier: Apache-2.0 */
/* A record becomes visible to the device: entry, header and place agree. Rules CQ-001 to CQ-004,
 * CQ-027, CQ-042. */
#include <string.h>

#include "replay/cq/cq_private.h"

enum { LENGTH_AT = 4 }; /* of RELAY_INLINE */

static uint64_t stride_of(const struct cq *q, const struct nocap_cq_command *c)
{
    return cq_stride(q, c->length);
}

/* What the commands do for launches and events is not known. */
static void lose(struct cq *q)
{
    cq_completion_lose(q);
    cq_launch_lose(q, true);
}

/* Bytes from a command to the next. 0: they are not defined, or its header does not agree with
 * itself.
 */
static uint32_t step_of(const struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->prefetch;
    bool wrong = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE && c->stride != stride_of(q, c);
    return wrong ? 0 : r->consumed < CQ_ENTRY_CAP ? (uint32_t)r->consumed : CQ_ENTRY_CAP;
}

/* Several commands after one entry: their strides, as far as they are known. 0: only one. */
static uint64_t sum_of_strides(const struct cq *q, const struct cq_publish *p, uint64_t first,
                               uint32_t size)
{
    uint64_t at = first;
    struct nocap_cq_record r;
    uint32_t step = 1;
    while (at < size && at + NOCAP_CQ_HEADER <= p->known && p->bytes[at] != 0 && step != 0 &&
           nocap_cq_decode_record_by(q->set, p->bytes + at, p->known - at, &r)) {
        step = step_of(q, &r);
        at += step;
    }
    bool one = q->numbers->inline_only != 0; /* this host puts one command into an entry */
    bool fits = at < size && (one || (size - at) % q->numbers->record_align == 0);
    bool ends = p->whole && at == p->given;
    bool lost = (at != first || !one) && fits && at + NOCAP_CQ_HEADER > p->known && !ends;
    const struct access rest = {.bytes = p->bytes + at, .known = NOCAP_CQ_HEADER};
    bool undefined = !one && !lost && at < size && at + NOCAP_CQ_HEADER <= p->known &&
                     !access_is_zero(&rest); /* which is judged as a command */
    return lost || undefined ? size : at == first ? 0 : at;
}

/* Whether the header of a command that is relayed agrees with itself. */
static fault_id judge_stride(struct cq *q, const struct nocap_cq_command *c)
{
    uint64_t stride = stride_of(q, c);
    if (c->id != NOCAP_CQ_PREFETCH_RELAY_INLINE) {
        return FAULT_NONE;
    }
    CQ_HOST(q, CQ_001, c->stride == stride, NO_REFS, "a stride of header and length, rounded up",
            "stride %llu in the header, it must be %llu for length %llu", wide(c->stride),
            wide(stride), wide(c->length));
    return fault_of(q->m, c->stride == stride);
}

/* All pages of a command are acquired at once. */
static void judge_pages(struct cq *q, uint32_t pages)
{
    CQ_HOST(q, CQ_042, pages <= q->numbers->buffer_pages, NO_REFS,
            "a prefetch command that the dispatch buffer has room for",
            "%u pages in one prefetch command, the dispatch buffer has %u", pages,
            q->numbers->buffer_pages);
}

/* Whether the entry says how long its command is; `sum`: its commands, if they are several. */
static fault_id judge_shape(struct cq *q, const struct cq_publish *p,
                            const struct nocap_cq_record *r, uint32_t size, uint64_t sum,
                            fault_id entry)
{
    const struct nocap_cq_command *c = &r->prefetch;
    bool relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    uint64_t stride = relay ? stride_of(q, c) : r->consumed;
    const uint64_t most = (uint64_t)(q->numbers->entry_stall - 1) * q->numbers->entry_unit;
    if (relay && stride > most) { /* no entry says so: CQ-002 would be the same fault */
        CQ_HOST_AFTER(q, CQ_003, size > q->numbers->entry_max ? entry : FAULT_NONE, false, NO_REFS,
                      "a prefetch command that fits the prefetcher's buffer",
                      "prefetch command of %llu bytes, the prefetcher's buffer has %u",
                      wide(stride), q->numbers->entry_max);
        fault_id fault = q->m->fault;
        judge_pages(q, cq_pages_of(q, c->length));
        return fault;
    }
    cq_blame(&entry, p->since);
    if (sum != 0) {
        CQ_HOST_AFTER(q, CQ_004, entry, sum == size, NO_REFS,
                      "a prefetch_q entry that says the length of its commands",
                      "prefetch_q entry says %u bytes, its commands have %llu", size, wide(sum));
        return fault_of(q->m, sum == size);
    }
    MARK_EXERCISED(q->m, CQ_004);
    CQ_HOST_AFTER(
        q, CQ_002, entry, stride == size, NO_REFS, "a prefetch_q entry that says the stride",
        "prefetch_q entry 0x%x says %u bytes, the stride is %llu", p->entry, size, wide(stride));
    return fault_of(q->m, stride == size);
}

/* `entry`: what is wrong with its entry, by whose size its place is known. */
static fault_id judge_place(struct cq *q, const struct cq_publish *p, const struct cq_record *r,
                            fault_id entry)
{
    if (!r->addr_known) {
        return FAULT_NONE;
    }
    bool inside = place_has(&q->places.issue, r->addr);
    bool aligned = r->addr % q->numbers->record_align == 0;
    CQ_HOST_AFTER(q, CQ_001, p->moved ? FAULT_NONE : p->since, inside && aligned, NO_REFS,
                  "a prefetch command in the issue region, aligned",
                  inside ? "prefetch command at +0x%x not aligned to %u"
                         : "prefetch command at +0x%x lies outside the issue region",
                  r->addr, q->numbers->record_align);
    if (!inside || !aligned) {
        return q->m->fault;
    }
    bool straddles = (uint64_t)r->addr + r->size > place_end(&q->places.issue);
    cq_blame(&entry, p->since);
    CQ_HOST_AFTER(q, CQ_027, entry, !straddles && !p->moved, NO_REFS,
                  "contiguous prefetch commands, from the start again where one does not fit",
                  straddles
                      ? "prefetch command of %u bytes at +0x%x crosses the end of the issue region"
                      : "prefetch command of %u bytes at +0x%x, not where the last one ended",
                  r->size, r->addr);
    return fault_of(q->m, !straddles && !p->moved);
}

static fault_id judge_entry(struct cq *q, const struct cq_publish *p, uint32_t size)
{
    bool stall = (p->entry & q->numbers->entry_stall) != 0;
    struct nocap_cq_command c;
    bool known = stall && nocap_cq_decode_by(q->set, NOCAP_CQ_PREFETCH, p->bytes, p->known, &c);
    bool exec_buf = known && c.id == NOCAP_CQ_PREFETCH_EXEC_BUF;
    bool too_long = known && c.id == NOCAP_CQ_PREFETCH_RELAY_INLINE && /* which is CQ-003 */
                    stride_of(q, &c) == (uint64_t)p->entry * q->numbers->entry_unit;
    bool narrow = q->numbers->entry_bytes == 4 || p->entry <= UINT16_MAX;
    bool bit = !stall || exec_buf || too_long || q->numbers->inline_only == 0;
    bool fits = p->entry != 0 && narrow && bit;
    if (!fits) {
        CQ_HOST(q, CQ_002, false, NO_REFS,
                "a prefetch_q entry that is not 0, without the bit of EXEC_BUF",
                p->entry == 0 ? "prefetch_q entry 0x%x, which says no bytes"
                : narrow      ? "prefetch_q entry 0x%x has the bit of EXEC_BUF"
                              : "prefetch_q entry 0x%x is wider than 16 bits",
                p->entry);
        return q->m->fault;
    }
    CQ_HOST(q, CQ_003, size <= q->numbers->entry_max, NO_REFS,
            "a prefetch command that fits the prefetcher's buffer",
            "prefetch_q entry says %u bytes, the prefetcher's buffer has %u", size,
            q->numbers->entry_max);
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

/* Whether the model can follow what the device makes of a command. */
static bool is_plain(const struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->prefetch;
    if (nocap_cq_name(NOCAP_CQ_PREFETCH, c->id) == NULL ||
        q->set->unhandled[NOCAP_CQ_PREFETCH][c->id] || q->numbers->inline_only != 0) {
        return true; /* or it is judged to be wrong */
    }
    bool subordinate = c->dispatcher_type == 1 && c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE &&
                       !(r->has_dispatch && r->dispatch.id == NOCAP_CQ_DISPATCH_WAIT);
    return subordinate || c->dispatcher_type == 0;
}

/* So with all commands of an entry, of which the first is decoded. */
static bool all_plain(const struct cq *q, const struct cq_publish *p, uint32_t size)
{
    struct nocap_cq_record after;
    const struct nocap_cq_record *r = &q->command.record;
    bool plain = true;
    for (uint64_t at = 0; plain && at < size && step_of(q, r) != 0;) {
        plain = is_plain(q, r);
        at += step_of(q, r);
        if (at >= size || at >= p->known ||
            !nocap_cq_decode_record_by(q->set, p->bytes + at, p->known - at, &after)) {
            break;
        }
        r = &after;
    }
    return plain;
}

/* What the device makes of records is not followed from here on. */
static void loosen(struct cq *q)
{
    struct cq_prefetcher *p = &q->prefetcher;
    cq_note_gap(q, NOCAP_QUEUE_NOT_FOLLOWED);
    q->loose = true;
    cq_ring_init(q, false);
    cq_expected_init(q, false);
    cq_launch_lose(q, true);
    cq_completion_lose(q);
    memset(&q->dispatcher, 0, sizeof q->dispatcher);
    cq_subordinate_init(q, false);
    memset(q->workers, 0, sizeof q->workers);
    q->owing = (struct cq_tile_set){{0}};
    cq_relay_from(q, NO_INDEX);
    p->open = false;
    if (!q->program.prefetch_terminated) {
        q->program.terminated = NO_INDEX; /* there may be another dispatcher to end */
    }
}

/* Whether a command, be it none that there is, says that no byte of it is relayed. */
static bool is_empty(const struct cq_publish *p)
{
    const struct access header = {.bytes = p->bytes, .known = p->known};
    uint32_t length = 0;
    return access_word(&header, LENGTH_AT, &length) && length == 0;
}

/* What the prefetcher makes of a command, as far as its id says. */
static void classify(struct cq *q, struct cq_record *r, const struct cq_publish *p)
{
    const uint8_t id = q->command.record.prefetch.id;
    const enum nocap_cq_relay relays = cq_relays(q, id);
    const bool head = relays == NOCAP_CQ_RELAYS_HEAD, all = relays == NOCAP_CQ_RELAYS_WHOLE;
    const bool unknown = q->command.record.consumed == 0 && q->numbers->inline_only == 0;
    r->ends = id == NOCAP_CQ_PREFETCH_TERMINATE;
    r->stalls = id == NOCAP_CQ_PREFETCH_STALL;
    r->several = unknown || relays == NOCAP_CQ_RELAYS_BUFFER || head;
    r->unsure = all && is_empty(p);
    r->silent = !all && !head;
    r->gathered = head;
}

/* Whether it does what no event shows. */
static void note_gaps(struct cq *q, const struct cq_record *r)
{
    const struct nocap_cq_record *record = &q->command.record;
    const bool buffer = cq_relays(q, record->prefetch.id) == NOCAP_CQ_RELAYS_BUFFER;
    if (buffer && q->numbers->inline_only == 0) {
        cq_note_gap(q, NOCAP_QUEUE_NOT_SHOWN);
    }
    const bool unseen = !q->loose && !cq_sees_writes(q) && q->numbers->go_multicast != 0 &&
                        !q->set->multicasts_by_count;
    if (unseen && r->brief.known && r->brief.id == NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL &&
        nocap_cq_multicasts(&record->dispatch) != 0) {
        cq_note_gap(q, NOCAP_QUEUE_MULTICASTS);
    }
}

/* The command that was decoded from the start of `p`, which is record `r`; `shape`: what is wrong
 * with its stride, or with the entry. */
static void judge_command(struct cq *q, struct cq_record *r, const struct cq_publish *p,
                          fault_id shape)
{
    const struct nocap_cq_record *record = &q->command.record;
    const struct nocap_cq_command *c = &record->prefetch;
    bool shaped = shape == FAULT_NONE, relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    classify(q, r, p);
    if (relay && !q->loose) {
        int64_t at = odd_padding(p, record, shaped);
        CQ_HOST(q, CQ_007, at < 0, NO_REFS,
                "zero in the padding of the prefetch command and its headers",
                "padding byte %llu of the prefetch command is 0x%02x", wide((uint64_t)at),
                p->bytes[at < 0 ? 0 : at]);
    }
    if (shaped && (relay || r->gathered)) {
        r->length = (uint32_t)c->length;
        r->subordinate = relay && c->dispatcher_type == 1 && q->numbers->dispatchers > 1;
        r->pages = r->subordinate ? 0 : cq_pages_of(q, r->length);
    }
    cq_launch_command(q, &q->command, &r->brief, cq_judge_record(q, &q->command, shape));
    r->says_since = q->host_fault;
    r->good = shaped && (r->pages != 0 || r->subordinate);
    note_gaps(q, r);
    uint64_t own = r->gathered ? NOCAP_CQ_HEADER + c->length : record->consumed;
    cq_bytes_keep(q, r, p->bytes, own != 0 && own < p->known ? (uint32_t)own : p->known);
}

/* Bytes from elsewhere follow those of `unit`, which is not whole without them. False: it is not
 * known how many. */
static bool add_data(struct cq *q, struct cq_record *unit, const struct cq_publish *p)
{
    const struct nocap_cq_command *c = &q->command.record.prefetch;
    uint64_t length;
    bool known = nocap_cq_data_length(c, p->bytes, p->known, &length) &&
                 length < CQ_ENTRY_CAP - unit->length;
    unit->several = !known;
    unit->length += known ? (uint32_t)length : 0;
    unit->pages = cq_pages_of(q, unit->length);
    return known;
}

/* Nothing follows any more. */
static void end_unit(struct cq_record *unit)
{
    if (unit != NULL) {
        unit->good = unit->good && !unit->several;
    }
}

/* The commands of an entry after its first, from `at` to `end`, each a record of its own. `good`:
 * the entry is. */
static void publish_parts(struct cq *q, const struct cq_publish *p, uint64_t number, uint32_t at,
                          uint32_t end, bool good)
{
    struct cq_record *head = cq_record(q, number), *last = head;
    struct cq_record *unit = head->gathered ? head : NULL;
    const struct nocap_cq_record *record = &q->command.record;
    q->packs = q->numbers->inline_only == 0;
    bool defined = true; /* where the next one begins */
    while (defined && at < end && at < p->known &&
           cq_decode(q, &q->command, p->bytes + at, p->known - at)) {
        const struct cq_publish part = {.bytes = p->bytes + at, .known = p->known - at};
        const uint32_t step = step_of(q, record);
        last = &q->records[q->published++ % CQ_RECORDS];
        *last = (struct cq_record){.at = head->at,
                                   .addr = head->addr + at,
                                   .addr_known = head->addr_known,
                                   .size = step,
                                   .real = step,
                                   .part = ++head->parts,
                                   .since = head->since};
        q->host_fault = FAULT_NONE;
        judge_command(q, last, &part, judge_stride(q, &record->prefetch));
        last->good = last->good && good;
        bool data = cq_relays(q, record->prefetch.id) == NOCAP_CQ_RELAYS_DATA;
        if (!last->silent || (data && unit != NULL && !add_data(q, unit, &part))) {
            end_unit(unit);
            unit = last->gathered ? last : NULL;
        }
        cq_report_step(q, NOCAP_RECORD_PUBLISHED, last);
        at += step;
        defined = step != 0;
    }
    end_unit(unit);
    if (at < end) { /* more of them, of which not enough is known */
        last->several = true;
        lose(q);
    }
}

/* Returns where the second command of the entry begins, 0: it has only one; `end`: where its last
 * one ends. */
static uint32_t judge_bytes(struct cq *q, struct cq_record *r, const struct cq_publish *p,
                            fault_id entry, bool placed, uint32_t *end)
{
    const struct nocap_cq_record *record = &q->command.record;
    const struct nocap_cq_command *c = &record->prefetch;
    if (!cq_decode(q, &q->command, p->bytes, p->known)) {
        return 0;
    }
    if (!all_plain(q, p, r->size)) {
        loosen(q);
    }
    q->host_fault = FAULT_NONE;
    bool relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    uint64_t stride = relay ? stride_of(q, c) : q->numbers->inline_only == 0 ? record->consumed : 0;
    const bool more =
        q->numbers->inline_only == 0 && p->given >= r->size + q->numbers->record_align;
    const uint32_t size = more ? p->given : r->size; /* of its commands, if they are several */
    uint64_t sum = stride != 0 && stride < size ? sum_of_strides(q, p, stride, size) : 0;
    fault_id shape = judge_stride(q, c);
    bool whole = shape == FAULT_NONE && stride != 0;
    shape = whole ? judge_shape(q, p, record, r->size, sum, entry) : shape;
    cq_blame(&r->since, shape); /* both sides step over it, each in its own way */
    if (relay && c->stride == stride && stride < q->numbers->issue_size) {
        r->real = (uint32_t)(sum != 0 ? sum : stride); /* the next entry lies after it */
    }
    judge_command(q, r, p, shape);
    bool good = shape == FAULT_NONE && entry == FAULT_NONE && placed;
    r->good = r->good && good;
    if (sum == 0 && r->gathered) {
        end_unit(r);
    }
    r->sized = good && whole;
    if (!whole && shape != FAULT_NONE) {    /* where a second one begins is not known */
        if (q->numbers->inline_only == 0) { /* more, perhaps */
            r->several = true;
            lose(q);
        }
        return 0;
    }
    *end = sum < size ? (uint32_t)sum : size;
    return sum != 0 ? (uint32_t)stride : 0;
}

void cq_publish(struct cq *q, const struct cq_publish *p)
{
    uint32_t size = cq_entry_size(q, p->entry), second = 0, end = 0;
    uint64_t number = q->published++;
    struct cq_record *r = &q->records[number % CQ_RECORDS];
    *r = p->record;
    r->at = cq_event_ref(q, NOCAP_BY_HOST);
    r->size = size;
    r->entry = p->entry;
    fault_id entry = judge_entry(q, p, size);
    r->since = judge_place(q, p, r, entry);
    bool placed = r->since == FAULT_NONE;
    cq_blame(&r->since, entry);
    r->real = p->given != 0 ? p->given : size;
    if (p->known < NOCAP_CQ_HEADER) {
        cq_completion_lose(q);
        cq_launch_lose(q, true);
        r->sized = entry == FAULT_NONE && placed;
        r->several = q->numbers->inline_only == 0;
    } else {
        second = judge_bytes(q, r, p, entry, placed, &end);
    }
    if (r->length != 0) {
        judge_pages(q, r->pages);
    }
    r->real = r->real < q->numbers->issue_size ? r->real : q->numbers->issue_size;
    if (r->addr_known) {
        const struct value *cursor = &q->host.cursor;
        const uint32_t due = place_whole(&q->places.issue, cursor->v, r->real);
        /* where its bytes are seen, those of the next may have been taken for it */
        bool alone = cursor->known && cursor->since == FAULT_NONE && !q->sees_sysmem;
        q->host.cursor_due = (struct value){.known = alone, .v = due + r->real};
        resync(&q->host.cursor, r->addr + r->real, r->since);
    }
    cq_blame(&r->since, p->since);
    cq_report_step(q, NOCAP_RECORD_PUBLISHED, r);
    if (second != 0) {
        publish_parts(q, p, number, second, end, r->sized);
    }
}

void cq_publish_late(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known)
{
    const struct cq_publish p = {.entry = r->size / q->numbers->entry_unit,
                                 .bytes = bytes,
                                 .known = known,
                                 .since = r->since};
    uint32_t end;
    if (known > 0) {
        bool more = judge_bytes(q, r, &p, FAULT_NONE, true, &end) != 0;
        r->several = r->several || more;
        r->good = r->sized = false; /* the device may have read what was there before */
    }
}

void cq_report_step(struct cq *q, enum nocap_record_step step, const struct cq_record *r)
{
    if (q->m->recorded == NULL || r == NULL) {
        return;
    }
    const struct nocap_recorded recorded = {
        .chip = q->chip,
        .prefetch = q->at[CQ_PREFETCH],
        .step = step,
        .record = r->at.index,
        .part = r->part,
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
    q->m->recorded(q->m->context, &recorded);
}
