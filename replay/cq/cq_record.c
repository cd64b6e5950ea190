/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a record say, command by command. Rules CQ-005 to CQ-009, CQ-016 to CQ-023,
 * CQ-043. Those about writes to tiles are in cq_write.c. */
#include "replay/cq/cq_private.h"

/* Whether there is a semaphore by which the dispatcher lets the prefetcher go on. */
static bool syncs(const struct cq *q)
{
    return q->numbers->semaphore_count > 2;
}

/* The prefetch command; true if it relays a dispatch command. */
static bool judge_prefetch(struct cq *q, const struct nocap_cq_command *c)
{
    bool stall = c->id == NOCAP_CQ_PREFETCH_STALL && !syncs(q);
    CQ_HOST(q, CQ_018, !stall, NO_REFS,
            "no STALL: the semaphore that it waits for is the first word of the kernel", "%s",
            "prefetch command STALL, which has no semaphore of its own");
    if (stall) {
        return false;
    }
    const char *name = nocap_cq_name(NOCAP_CQ_PREFETCH, c->id);
    bool relay = c->id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    bool head = cq_relays(q, c->id) == NOCAP_CQ_RELAYS_HEAD;
    bool other = q->numbers->inline_only == 0 && name != NULL &&
                 !q->set->unhandled[NOCAP_CQ_PREFETCH][c->id];
    CQ_HOST(q, CQ_005, relay || c->id == NOCAP_CQ_PREFETCH_TERMINATE || other, NO_REFS,
            "a prefetch command that this host sends", "unexpected prefetch command (id %u, %s)",
            c->wire, name != NULL ? name : "undefined");
    if (!relay && !(head && other)) {
        return false;
    }
    CQ_HOST(q, CQ_006, c->dispatcher_type < q->numbers->dispatchers, NO_REFS,
            "a dispatcher that there is: no other one releases pages",
            "prefetch command for dispatcher type %llu, which does not exist",
            wide(c->dispatcher_type));
    return true;
}

/* The length that is relayed against what the dispatcher steps over. Returns what is wrong with the
 * latter. */
static fault_id judge_length(struct cq *q, const struct nocap_cq_record *r, fault_id shape)
{
    const struct nocap_cq_command *c = &r->dispatch;
    uint64_t consumed, length = r->prefetch.length;
    bool shared =
        c->id == NOCAP_CQ_DISPATCH_WRITE_PACKED && (c->flags & NOCAP_CQ_PACKED_FLAG_NO_STRIDE) != 0;
    if (!nocap_cq_consumed(c, r->inner, r->inner_size, &consumed) || shared) {
        return FAULT_NONE; /* what that may be stands in CQ-009, CQ-012 */
    }
    uint32_t pages = cq_pages_of(q, length), stepped = cq_pages_of(q, consumed);
    CQ_HOST_AFTER(q, CQ_008, shape, pages == stepped, NO_REFS,
                  "as many pages filled by the prefetcher as the dispatcher steps over",
                  "%u pages relayed for %llu bytes, the dispatcher steps over %u for %llu bytes",
                  pages, wide(length), stepped, wide(consumed));
    if (pages != stepped) {
        return q->m->fault;
    }
    bool table = c->id == NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA;
    bool exact = length == consumed ||
                 (table && length < consumed && consumed - length < q->numbers->l1_align);
    CQ_HOST_AFTER(
        q, CQ_008a, shape, exact, NO_REFS, "a length that is exactly that of the dispatch command",
        "length %llu relayed, the dispatch command has %llu", wide(length), wide(consumed));
    return FAULT_NONE;
}

static bool is_stream(const struct cq *q, uint64_t stream)
{
    return stream - q->numbers->first_stream < q->numbers->streams;
}

static fault_id judge_wait(struct cq *q, const struct nocap_cq_command *c)
{
    bool streams = (c->flags & (NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM)) != 0;
    bool flags = (c->flags & ~nocap_cq_known_flags(q->set, NOCAP_CQ_DISPATCH, c->id)) == 0;
    bool count = (c->flags & NOCAP_CQ_WAIT_STREAM) == 0 || q->program.counts ||
                 c->count <= NOCAP_CQ_WAIT_COUNT_MAX;
    bool right = flags && (!streams || is_stream(q, c->stream)) && count;
    CQ_HOST(
        q, CQ_017, right, NO_REFS,
        "WAIT with flags that there are, a stream that counts workers, a count of at most 0xffff",
        !flags   ? "WAIT with unknown flags 0x%llx, stream %llu, count %llu"
        : !count ? "WAIT with flags 0x%llx, stream %llu and a count too large, %llu"
                 : "WAIT with flags 0x%llx on stream %llu, which counts no workers, count %llu",
        wide(c->flags), wide(c->stream), wide(c->count));
    fault_id fault = fault_of(q->m, right);
    CQ_HOST(q, CQ_018, (c->flags & NOCAP_CQ_WAIT_NOTIFY_PREFETCH) == 0 || syncs(q), NO_REFS,
            "no NOTIFY_PREFETCH: its semaphore is the first word of the prefetcher's kernel", "%s",
            "WAIT with NOTIFY_PREFETCH, which has no semaphore of its own");
    return fault;
}

/* Of the table, to which go words are multicast. */
static void judge_rectangles(struct cq *q, uint64_t first, uint32_t words)
{
    struct cq_program *p = &q->program;
    for (uint32_t i = 0; i < words; i += NOCAP_CQ_MULTICAST_WORDS) {
        const uint32_t *at = &p->table[first + i];
        p->table_since = cq_judge_rect(q, at[0], at[1], p->table_since);
    }
}

/* Where the go words go, and the stream that is waited for. */
static fault_id judge_go_targets(struct cq *q, const struct nocap_cq_command *c)
{
    const struct cq_program *p = &q->program;
    const uint32_t words = nocap_cq_multicast_words(c);
    uint64_t end = c->noc_data_start_index + words + c->num_unicast_txns;
    bool listed =
        words != 0 ? p->tabled
                   : p->listed == YES && c->noc_data_start_index != 0 && c->num_unicast_txns != 0;
    bool range = end <= q->numbers->go_table && (!listed || end <= p->words);
    bool mcast = nocap_cq_multicasts(c) == 0 || q->numbers->go_multicast != 0;
    bool stream = is_stream(q, c->wait_stream);
    CQ_HOST(
        q, CQ_019, range && stream && mcast,
        RELATED(p->tabled && !range ? p->list_at.index : NO_INDEX),
        "SEND_GO_SIGNAL within its table, on a stream that counts workers, multicast only where "
        "the dispatcher can",
        !range ? "SEND_GO_SIGNAL beyond its table, multicast offset 0x%llx, entries %llu to %llu "
                 "of %u, stream %llu"
        : !stream
            ? "SEND_GO_SIGNAL on a wrong stream, multicast offset 0x%llx, entries %llu to %llu of "
              "%u, stream %llu"
            : "SEND_GO_SIGNAL by multicast, offset 0x%llx, entries %llu to %llu of %u, stream %llu",
        wide(c->multicast_go_offset), wide(c->noc_data_start_index), wide(end),
        p->tabled ? p->words : (uint32_t)q->numbers->go_table, wide(c->wait_stream));
    fault_id fault = fault_of(q->m, range && stream && mcast);
    if (listed && range) {
        judge_rectangles(q, c->noc_data_start_index, words);
    }
    return fault;
}

/* The go word itself; `offset`: that of the stream, the word's own where that is none. */
static bool judge_go_word(struct cq *q, struct nocap_go_word go, uint64_t offset)
{
    const struct nocap_xy by = {go.master_x, go.master_y};
    if (q->command.record.prefetch.dispatcher_type == 1) {
        cq_place_subordinate(q, by);
    }
    bool master = cq_may_answer(q, by);
    bool signal = go.signal == NOCAP_GO_GO ||
                  (q->numbers->inline_only == 0 && go.signal == NOCAP_GO_RESET_READ_PTR);
    bool right = signal && ((master && go.offset == offset) || q->loose);
    CQ_HOST(q, CQ_021, right, NO_REFS,
            "a go message with GO, the dispatch core and the stream that is waited for",
            "go message with signal 0x%02x, master %u,%u, offset %u; right are 0x%02x, %u,%u, %llu",
            go.signal, go.master_x, go.master_y, go.offset, NOCAP_GO_GO, q->subordinate_at.x,
            q->subordinate_at.y, wide(offset));
    return right;
}

static fault_id judge_go(struct cq *q, const struct nocap_cq_command *c)
{
    fault_id fault = judge_go_targets(q, c);
    const struct nocap_go_word go = nocap_go_decode((uint32_t)c->go_signal);
    const uint64_t offset =
        is_stream(q, c->wait_stream) ? c->wait_stream - q->numbers->first_stream : go.offset;
    bool right = judge_go_word(q, go, offset);
    q->program.go_word = fault_of(q->m, right);
    if (!right) {
        q->wrong.go_word = (uint32_t)c->go_signal;
        q->wrong.go_since = q->m->fault;
    }
    bool other = go.offset != offset; /* which stream is right? */
    return fault == FAULT_NONE && other ? q->program.go_word : fault;
}

/* Whether the table has rectangles, and with each a number of tiles. */
static bool has_rectangles(const struct cq *q, const struct cq_command *k)
{
    bool any = false;
    for (uint32_t i = 0; i < k->known && q->set->multicasts_by_count; i++) {
        any |= nocap_cq_is_rect(k->targets[i].noc_xy);
    }
    return any;
}

/* Kernels run there too, under the runtimes that send go words by multicast. */
static bool is_ethernet(const struct cq *q, struct nocap_xy at)
{
    return nocap_tile_kind(q->m->header->board, at) == NOCAP_TILE_ETHERNET;
}

static fault_id judge_table(struct cq *q, const struct cq_command *k)
{
    const bool tiles = !q->loose && !has_rectangles(q, k);
    struct cq_tile_set seen = {{0}};
    uint32_t value = k->subs.count;
    const bool fits = value != 0 && value <= q->numbers->go_table;
    const char *problem = fits ? NULL : "SET_GO_SIGNAL_NOC_DATA with %u words";
    for (uint32_t i = 0; problem == NULL && tiles && i < k->known; i++) {
        value = k->targets[i].noc_xy;
        struct nocap_xy at = nocap_cq_rect_decode(value).low;
        if (q->numbers->go_multicast != 0 && (nocap_cq_is_rect(value) || is_ethernet(q, at))) {
            continue; /* a rectangle, or a tile whose go word is elsewhere */
        }
        if (nocap_cq_is_rect(value) || !cq_is_worker(q, at)) {
            problem = "word 0x%x of SET_GO_SIGNAL_NOC_DATA is no worker core";
        } else if (cq_set_has(&seen, at)) {
            problem = "word 0x%x twice in SET_GO_SIGNAL_NOC_DATA";
        }
        cq_set_add(&seen, at);
    }
    CQ_HOST(q, CQ_020, problem == NULL, NO_REFS,
            "worker cores, as many as the table holds, each once", WITH_NUMBER(problem, value));
    if (problem != NULL && fits) {
        q->wrong.listed = nocap_cq_rect_decode(value).low;
        q->wrong.listed_since = q->m->fault;
    }
    return fault_of(q->m, problem == NULL);
}

static void judge_timestamp(struct cq *q, const struct nocap_cq_command *c)
{
    uint64_t at = c->addr - q->sysmem;
    bool slot = place_has(&q->places.stamps, at) && c->addr % q->numbers->timestamp_stride == 0;
    uint32_t pcie = q->numbers->pcie_xy_flag | q->numbers->pcie_y << 6 | q->numbers->pcie_x;
    CQ_HOST(q, CQ_022, c->noc_xy == pcie && slot, NO_REFS,
            "a TIMESTAMP into one of the slots in host memory",
            "TIMESTAMP to noc_xy 0x%llx, address 0x%llx, which is no timestamp slot",
            wide(c->noc_xy), wide(c->addr));
    if (!slot) {
        q->wrong.stamp = at;
        q->wrong.stamp_since = q->m->fault;
    }
    if (c->addr % q->numbers->l1_align != 0) {
        q->program.unaligned = q->wrong.address_since = q->m->fault;
        q->wrong.address = (uint32_t)c->addr;
    }
    if (slot) {
        cq_timestamp_sent(q, at);
    }
}

static void judge_event(struct cq *q, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    struct value *next = &q->program.event;
    if (q->loose) {
        return; /* data, or an event, not all of which the host is notified of */
    }
    bool shape = c->is_event == 1 && c->length == q->numbers->event_bytes;
    uint32_t id = 0;
    const struct access bytes = {.bytes = r->inner, .known = r->inner_size};
    bool known = access_word(&bytes, NOCAP_CQ_HEADER, &id);
    bool later = q->packs && next->known && (int32_t)(id - next->v) > 0; /* it keeps some */
    struct value *line = &q->program.event_line;                         /* where an id was wrong */
    bool back = line->known && id == line->v;
    bool follows = !known || later || back || value_allows(next, id);
    fault_id since = next->since;
    CQ_HOST_AFTER(q, CQ_023, follows ? FAULT_NONE : since, shape && follows, NO_REFS,
                  "a host event of its size, its id one more than the last",
                  "host event with is_event %llu, length %llu, id 0x%x; id 0x%x is next",
                  wide(c->is_event), wide(c->length), id, next->known ? next->v : id);
    const fault_id fault = q->host_fault;
    q->program.events++;
    if (!known) {
        cq_completion_lose(q);
        return;
    }
    value_set(line, (line->known ? line->v : next->v) + 1);
    line->known = !follows && (line->known || next->known);
    resync(next, id + 1, fault_of(q->m, follows));
    if (!follows) {
        cq_completion_doubt(q, next->since); /* the one before was wrong, perhaps */
    }
    cq_completion_sent(q, id, shape && follows ? FAULT_NONE : fault);
}

static void judge_offsets(struct cq *q, const struct nocap_cq_command *c)
{
    CQ_HOST(q, CQ_016, c->offset_count <= q->numbers->write_offsets, NO_REFS,
            "no more write offsets than there are", "%llu write offsets set, the dispatcher has %u",
            wide(c->offset_count), q->numbers->write_offsets);
    CQ_HOST(q, CQ_016a,
            q->numbers->write_offsets_used > 1 || c->offset_count > q->numbers->write_offsets,
            NO_REFS, "no write offsets, which this host does not use", "%s",
            "SET_WRITE_OFFSET by a host that uses no write offsets");
}

static fault_id judge_dispatch(struct cq *q, const struct cq_command *k)
{
    const struct nocap_cq_command *c = &k->record.dispatch;
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_WAIT: return judge_wait(q, c);
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL: return judge_go(q, c);
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA: return judge_table(q, k);
    case NOCAP_CQ_DISPATCH_TIMESTAMP: judge_timestamp(q, c); return FAULT_NONE;
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST: judge_event(q, &k->record); return FAULT_NONE;
    case NOCAP_CQ_DISPATCH_SET_WRITE_OFFSET: judge_offsets(q, c); return FAULT_NONE;
    default: return cq_judge_writes(q, k);
    }
}

/* What the subordinate dispatcher executes. */
static bool executes(uint8_t id)
{
    switch (id) {
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL:
    case NOCAP_CQ_DISPATCH_SET_NUM_WORKER_SEMS:
    case NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA:
    case NOCAP_CQ_DISPATCH_SET_SUB_DEVICE_WORKER_COUNTS:
    case NOCAP_CQ_DISPATCH_WAIT:
    case NOCAP_CQ_DISPATCH_RT_PROFILER_FLUSH:
    case NOCAP_CQ_DISPATCH_TERMINATE: return true;
    default: return false;
    }
}

/* A command of the subordinate dispatcher against the page that it has. */
static fault_id judge_one_page(struct cq *q, const struct nocap_cq_record *r, fault_id shape)
{
    bool fits = r->prefetch.length <= q->numbers->subordinate_page;
    CQ_HOST_AFTER(q, CQ_008, shape, fits, NO_REFS,
                  "a command of the subordinate dispatcher in one page",
                  "command of %llu bytes for the subordinate dispatcher, its page has %u",
                  wide(r->prefetch.length), q->numbers->subordinate_page);
    return fault_of(q->m, fits);
}

/* Whether anything may come after TERMINATE. */
static void judge_last(struct cq *q, const struct nocap_cq_command *c, bool subordinate)
{
    struct cq_program *program = &q->program;
    bool ends = c->id == NOCAP_CQ_PREFETCH_TERMINATE;
    bool last = ends && !program->prefetch_terminated;
    if (program->terminated != NO_INDEX && !subordinate) {
        CQ_HOST_AFTER(q, CQ_069, q->host.slot.since, last, RELATED(program->terminated),
                      "TERMINATE as the last command", "%s", "prefetch command after TERMINATE");
        program->terminated = last ? program->terminated : NO_INDEX;
        program->reopened = last ? program->reopened : q->m->fault;
    }
    program->prefetch_terminated = ends;
    if (ends && program->terminated == NO_INDEX) {
        program->terminated = q->m->event->index;
    }
}

/* Whether it is one that its dispatcher executes. */
static bool judge_defined(struct cq *q, const struct nocap_cq_command *c, bool subordinate)
{
    const char *name = nocap_cq_name(NOCAP_CQ_DISPATCH, c->id);
    bool defined = name != NULL && !q->set->unhandled[NOCAP_CQ_DISPATCH][c->id] &&
                   (!subordinate || executes(c->id));
    CQ_HOST(q, CQ_009, defined, NO_REFS, "a dispatch command that the dispatcher executes",
            "dispatch command (id %u, %s) that this dispatcher does not execute", c->wire,
            name != NULL ? name : "undefined");
    return defined;
}

fault_id cq_judge_record(struct cq *q, const struct cq_command *k, fault_id shape)
{
    const struct nocap_cq_record *r = &k->record;
    const struct nocap_cq_command *c = &r->dispatch;
    bool subordinate = r->prefetch.dispatcher_type == 1 && q->numbers->dispatchers > 1;
    q->program.unaligned = FAULT_NONE;
    judge_last(q, &r->prefetch, subordinate);
    if (!judge_prefetch(q, &r->prefetch)) {
        return FAULT_NONE;
    }
    bool head = r->prefetch.id != NOCAP_CQ_PREFETCH_RELAY_INLINE; /* its data lie elsewhere */
    if (!head && r->prefetch.length == 0) {
        CQ_HOST_AFTER(q, CQ_008, shape, false, NO_REFS, "a dispatch command that is relayed", "%s",
                      "prefetch command that relays no bytes, and so no page");
        return q->m->fault;
    }
    if (!r->has_dispatch) {
        return FAULT_NONE;
    }
    if (!judge_defined(q, c, subordinate)) {
        const fault_id fault = q->m->fault;
        cq_completion_lose(q); /* an event, perhaps */
        return fault;
    }
    if (head) {
        return cq_judge_writes(q, k);
    }
    bool idle =
        q->numbers->dispatchers < 2 && (c->id == NOCAP_CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL ||
                                        c->id == NOCAP_CQ_DISPATCH_SET_NUM_WORKER_SEMS);
    CQ_HOST(q, CQ_043, !idle, NO_REFS, "no commands for the subordinate dispatcher, which is idle",
            "%s sent, but the subordinate dispatcher is idle",
            nocap_cq_name(NOCAP_CQ_DISPATCH, c->id));
    fault_id fault = judge_dispatch(q, k);
    if (fault == FAULT_NONE && subordinate) {
        fault = judge_one_page(q, r, shape);
    }
    return fault == FAULT_NONE ? judge_length(q, r, shape) : fault;
}
