/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/queue_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/mailbox.h"
#include "formats/blackhole/tile_map.h"

/* What something is worth; a fault spoils a few records or slots at most. */
enum {
    WORTH_OTHER = 1,   /* a record with a command that is rare */
    WORTH_RECORD = 4,  /* one with a dispatch command; a slot; the place of a command */
    WORTH_DEFAULT = 5, /* one bad record is no other runtime */
    WORTH_TILE = 8,    /* the header has the queue where this runtime always has it */
    WORTH_HEADER = 16, /* another fact of the header, or the mailbox */
    WORTH_SETUP = 64,  /* a word of the set-up, with its only right value */
    WORTH_FIRST = 48,  /* the first command at the start of the buffer */
};

bool queue_evidence_wanted(const struct nocap_header *header)
{
    const uint32_t shows = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SYSMEM |
                           NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_NOC;
    return (header->observes & shows) != 0;
}

static bool same_tile(struct nocap_xy at, uint32_t x, uint32_t y)
{
    return x != 0 && at.x == x && at.y == y;
}

static uint32_t header_points(const struct nocap_queue *q, const struct nocap_header *header)
{
    const struct nocap_cq_place *cq = &header->cq;
    uint32_t x = header->board == NOCAP_BOARD_P150 ? q->p150_x : q->p100_x, points = 0;
    points += cq->has_prefetch && same_tile(cq->prefetch, x, q->prefetch_y) ? WORTH_TILE : 0;
    points += cq->has_sysmem && cq->sysmem == q->sysmem ? WORTH_HEADER : 0;
    points += cq->has_kernel_config && cq->kernel_config == q->kernel_config ? WORTH_HEADER : 0;
    return points;
}

static void add(struct queue_evidence *e, const struct nocap_profile *profile, bool own_sysmem,
                bool own_kernels, const struct nocap_header *header)
{
    const struct nocap_mailbox_layout *said =
        header->layout != NULL ? nocap_header_layout(header, NULL) : NULL;
    struct queue_candidate *c = &e->candidates[e->count++];
    c->profile = *profile;
    c->own_sysmem = own_sysmem;
    c->own_kernels = own_kernels;
    c->points = header_points(&profile->queue, header);
    if (said != NULL) { /* then the mailbox tells nothing of the queue */
        c->profile.mailbox = *said;
    }
    if (!own_sysmem && header->cq.has_sysmem) {
        c->profile.queue.sysmem = header->cq.sysmem;
    }
    if (!own_kernels && header->cq.has_kernel_config) {
        c->profile.queue.kernel_config = (uint32_t)header->cq.kernel_config;
    }
}

enum nocap_status queue_evidence_new(struct queue_evidence **evidence,
                                     const struct nocap_header *header, struct nocap_error *err)
{
    struct queue_evidence *e = calloc(1, sizeof *e);
    RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum { WAYS = 4 }; /* to take header and profile */
    const char *name;
    struct nocap_profile profile;
    enum nocap_status status = NOCAP_OK;
    while (status == NOCAP_OK && e->count < QUEUE_CANDIDATES - WAYS &&
           (name = nocap_profile_name(e->count)) != NULL) {
        status = nocap_profile_find(&profile, name, err);
        add(e, &profile, false, false, header);
    }
    e->candidates[0].points += WORTH_DEFAULT;
    e->said = header->cq;
    e->named = e->count;
    if (header->protocol != NULL) {
        struct nocap_queue *q = &e->lenient.queue;
        e->lenient = *header->protocol;
        q->inline_only = 0;
        q->go_multicast = 1;
        q->dispatchers = 2;
        q->semaphore_count = q->timestamp_slots = UINT32_MAX; /* wherever host memory is */
        q->timestamp_stride = 1;
    }
    for (unsigned own = 0; own < WAYS && header->protocol != NULL; own++) {
        add(e, header->protocol, (own & 1) != 0, (own & 2) != 0, header);
    }
    if (status != NOCAP_OK) {
        free(e);
        return status;
    }
    *evidence = e;
    return NOCAP_OK;
}

/* ---- records ---- */

static bool is_stream(const struct nocap_queue *q, uint64_t stream)
{
    return stream - q->first_stream < q->streams;
}

static bool explains_wait(const struct nocap_profile *p, const struct nocap_cq_command *c)
{
    const uint64_t streams = NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM;
    const uint64_t memory = NOCAP_CQ_WAIT_MEMORY | NOCAP_CQ_DISPATCH_WAIT_CLEAR_MEMORY;
    uint64_t known = nocap_cq_known_flags(&p->commands, c->side, c->id);
    return (c->flags & ~known) == 0 && c->flags != 0 &&
           ((c->flags & streams) == 0 || is_stream(&p->queue, c->stream)) &&
           ((c->flags & memory) == 0 || c->addr != 0) &&
           ((c->flags & NOCAP_CQ_WAIT_NOTIFY_PREFETCH) == 0 || p->queue.semaphore_count > 2);
}

/* Firmware may have been built for as many as the largest board has. */
static uint32_t most_unicast(const struct nocap_queue *q)
{
    return q->packed_unicast > NOCAP_CQ_PACKED_WORKERS ? q->packed_unicast
                                                       : NOCAP_CQ_PACKED_WORKERS;
}

static bool explains_dispatch(const struct nocap_profile *p, const struct nocap_cq_record *r)
{
    const struct nocap_cq_command *c = &r->dispatch;
    const struct nocap_queue *q = &p->queue;
    uint64_t consumed, length = r->prefetch.length;
    bool mcast = (c->flags & NOCAP_CQ_PACKED_FLAG_MCAST) != 0;
    if (nocap_cq_name(NOCAP_CQ_DISPATCH, c->id) == NULL || p->commands.unhandled[c->side][c->id] ||
        !nocap_cq_padding_zero(c, r->inner)) {
        return false;
    }
    if (nocap_cq_consumed(c, r->inner, r->inner_size, &consumed) && consumed > length &&
        c->id != NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA) {
        return false;
    }
    switch (c->id) {
    case NOCAP_CQ_DISPATCH_WAIT: return explains_wait(p, c);
    case NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL:
        return is_stream(q, c->wait_stream) &&
               nocap_go_decode((uint32_t)c->go_signal).signal == NOCAP_GO_GO &&
               (nocap_cq_multicasts(c) == 0 || q->go_multicast != 0);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED:
        return c->count <= (mcast ? q->packed_mcast : most_unicast(q));
    case NOCAP_CQ_DISPATCH_TIMESTAMP:
        return (uint32_t)(c->addr - q->sysmem - q->timestamps) <
               q->timestamp_slots * q->timestamp_stride;
    case NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST:
        return c->length == length && (c->is_event != 1 || length == q->event_bytes);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE:
        return c->count <= q->packed_large && consumed == length;
    default: return true;
    }
}

/* What a command writes to the mailbox. */
enum written { NOTHING, A_WORD, MESSAGES, OTHER };

/* As this runtime has it: whole launch messages in their slots, a go word, its index; or something
 * as large as a message where it has none. */
static enum written mailbox_write(const struct nocap_profile *p, const struct nocap_cq_record *r)
{
    const struct nocap_mailbox_layout *l = &p->mailbox;
    struct nocap_cq_command c = r->dispatch, first;
    struct nocap_cq_subs subs;
    if (!r->has_dispatch || !nocap_cq_subs(&c, &subs)) {
        return NOTHING;
    }
    uint64_t addr = c.addr, size = c.size;
    if (c.id == NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE) {
        bool known = nocap_cq_sub(&subs, 0, r->inner, r->inner_size, &first);
        addr = known ? first.addr : 0;
        size = known ? first.length_minus1 + 1 : 0;
    }
    bool messages = addr >= l->launch_base && addr < l->go_messages && size != 0 &&
                    (addr - l->launch_base) % l->launch_size == 0 && size % l->launch_size == 0;
    bool word =
        size == NOCAP_GO_WORD_SIZE && (addr == l->go_messages || addr == l->go_message_index);
    bool other =
        addr >= l->launch_base && addr + size <= NOCAP_MAILBOX_END && size >= MESSAGE_LEAST;
    return messages ? MESSAGES : word ? A_WORD : other ? OTHER : NOTHING;
}

static uint32_t mailbox_points(const struct nocap_profile *p, const struct nocap_cq_record *r)
{
    enum written what = mailbox_write(p, r);
    return what == MESSAGES || what == A_WORD ? WORTH_RECORD : 0;
}

/* Whether it writes to the mailbox as this candidate has it. */
static bool count_messages(struct queue_candidate *c, const uint8_t *bytes, size_t size)
{
    struct nocap_cq_record r;
    bool decoded = nocap_cq_decode_record_by(&c->profile.commands, bytes, size, &r);
    enum written what = decoded ? mailbox_write(&c->profile, &r) : NOTHING;
    c->messages += what == MESSAGES;
    c->others += what == OTHER;
    return what == MESSAGES || what == A_WORD;
}

/* What a record is worth; 0: the runtime does not send it. */
static uint32_t record_points(const struct nocap_profile *p, const uint8_t *bytes, size_t size)
{
    struct nocap_cq_record r;
    const struct nocap_queue *q = &p->queue;
    if (!nocap_cq_decode_record_by(&p->commands, bytes, size, &r) ||
        nocap_cq_name(NOCAP_CQ_PREFETCH, r.prefetch.id) == NULL ||
        p->commands.unhandled[NOCAP_CQ_PREFETCH][r.prefetch.id] ||
        !nocap_cq_padding_zero(&r.prefetch, bytes)) {
        return 0;
    }
    struct nocap_cq_subs subs;
    if (r.inner == NULL) {
        bool none = nocap_cq_subs(&r.prefetch, &subs) && subs.count == 0;
        bool sent = r.prefetch.id == NOCAP_CQ_PREFETCH_TERMINATE || q->inline_only == 0;
        return sent && !none ? WORTH_OTHER : 0;
    }
    uint64_t stride = nocap_cq_align(r.prefetch.length + NOCAP_CQ_HEADER, q->record_align);
    bool plain = r.prefetch.id == NOCAP_CQ_PREFETCH_RELAY_INLINE;
    if (r.prefetch.stride != stride || r.prefetch.dispatcher_type >= q->dispatchers ||
        (!plain && q->inline_only != 0) || (r.has_dispatch && !explains_dispatch(p, &r))) {
        return 0;
    }
    return (plain ? WORTH_RECORD : WORTH_OTHER) + mailbox_points(p, &r);
}

/* The same of an entry, where some runtimes put several. */
static uint32_t entry_points(const struct nocap_profile *p, const uint8_t *bytes, size_t size)
{
    struct nocap_cq_record r;
    uint64_t at = 0;
    uint32_t all = record_points(p, bytes, size), points = all;
    while (points != 0 && p->queue.inline_only == 0 &&
           nocap_cq_decode_record_by(&p->commands, bytes + at, size - at, &r)) {
        uint64_t step = r.inner != NULL ? r.prefetch.stride : r.consumed;
        if (step == 0 || step > size - at || size - at - step < NOCAP_CQ_HEADER ||
            bytes[at + step] == 0) {
            break; /* nothing follows that is known */
        }
        at += step;
        points = record_points(p, bytes + at, size - at);
        all += points;
    }
    return points != 0 ? all : 0;
}

/* Whether the host made it for a queue whose commands begin so, whatever they are. */
static bool is_record(const struct nocap_profile *p, const struct nocap_event *event)
{
    struct nocap_cq_record r;
    return nocap_cq_decode_record_by(&p->commands, event->data, event->data_size, &r) &&
           r.prefetch.id == NOCAP_CQ_PREFETCH_RELAY_INLINE && r.prefetch.length != 0 &&
           event->data_size == event->size && r.prefetch.stride <= event->size &&
           r.prefetch.stride ==
               nocap_cq_align(r.prefetch.length + NOCAP_CQ_HEADER, p->queue.record_align) &&
           r.prefetch.dispatcher_type < p->queue.dispatchers;
}

/* `declared`: the trace says that it is one; else it is what the host wrote somewhere, and rare
 * commands look like its data. */
static void look_at_record(struct queue_evidence *e, const struct nocap_event *event, bool declared)
{
    e->units |= declared;
    uint32_t mail = 0, other = 0; /* a bit for each candidate: it writes to its mailbox, or not */
    bool any = declared;
    for (size_t i = 0; i < e->count && event->data_size >= NOCAP_CQ_HEADER; i++) {
        struct queue_candidate *c = &e->candidates[i];
        uint32_t points = entry_points(&c->profile, event->data, event->data_size);
        points = declared || points > WORTH_OTHER ? points : 0;
        c->points += points;
        c->records += points != 0;
        if (points != 0) {
            bool writes = count_messages(c, event->data, event->data_size);
            *(writes ? &mail : &other) |= UINT32_C(1) << i;
        }
        any |= points != 0 || is_record(&c->profile, event);
    }
    for (size_t i = 0; mail != 0 && i < e->count; i++) {
        e->candidates[i].passed_by += other >> i & 1;
    }
    any &= event->data_size >= NOCAP_CQ_HEADER;
    e->records += any;
    if (any && e->named < e->count) {
        uint32_t points = entry_points(&e->lenient, event->data, event->data_size);
        e->understood += points > (declared ? 0 : WORTH_OTHER);
    }
}

/* ---- places ---- */

/* Records of two tiles are of two queues. */
static void look_at_tile(struct queue_evidence *e, const struct nocap_event *event)
{
    if ((event->has & NOCAP_F_AT) != 0) {
        bool other = e->has_record && !nocap_xy_equal(e->record, event->at);
        for (size_t i = 0; i < e->count && other && !e->several; i++) {
            struct queue_candidate *c = &e->candidates[i];
            c->points += c->profile.queue.queues_most > 1 ? WORTH_SETUP : 0;
        }
        e->several |= other;
        e->has_record = true;
        e->record = event->at;
    }
}

/* What a store of the host to a tile is worth; of the set-up `core` says to which. */
static uint32_t store_points(const struct nocap_queue *q, const struct nocap_event *event,
                             int *core)
{
    const uint64_t end = q->queue + (uint64_t)q->queue_slots * q->entry_bytes;
    *core = -1;
    if (event->addr == q->queue && event->size == end - q->queue && event->size > 4) {
        return WORTH_SETUP;
    }
    if ((event->has & (NOCAP_F_VALUE | NOCAP_F_DATA)) == 0) {
        return 0;
    }
    uint32_t word;
    if (event->size == 4 && nocap_event_word(event, &word) && word != 0) {
        if ((event->addr == q->rd_ptr_echo && word == end) ||
            (event->addr == q->pcie_ptr_echo && word == (uint32_t)q->sysmem + q->issue)) {
            *core = 0;
            return WORTH_SETUP;
        }
        if ((event->addr == q->completion_wr || event->addr == q->completion_rd) &&
            (word == queue_first_pointer(q, q->queues) ||
             word == queue_first_pointer(q, q->queues_most))) {
            *core = 1;
            return WORTH_SETUP;
        }
    }
    bool slot = event->size == q->entry_bytes && event->addr >= q->queue && event->addr < end &&
                (event->addr - q->queue) % q->entry_bytes == 0 && !queue_places_zeroed(event);
    return slot ? WORTH_RECORD : 0;
}

static void look_at_store(struct queue_evidence *e, const struct nocap_event *event)
{
    bool any = false;
    for (size_t i = 0; i < e->count; i++) {
        struct queue_candidate *c = &e->candidates[i];
        int core;
        uint32_t points = store_points(&c->profile.queue, event, &core);
        c->points += points;
        c->stores += points != 0;
        c->inside[PLACE_SLOTS] += points == WORTH_RECORD;
        any |= points != 0;
        if (core == 0 && !e->has_prefetch) {
            e->has_prefetch = true;
            e->prefetch = event->at;
        } else if (core == 1 && !e->has_dispatch) {
            e->has_dispatch = true;
            e->dispatch = event->at;
        }
    }
    e->stores += any;
}

/* A command in the dispatch buffer. */
static void look_at_buffer(struct queue_evidence *e, const struct nocap_event *event)
{
    const uint8_t how = event->op == NOCAP_OP_EXEC ? QUEUE_EXECUTED : QUEUE_RELAYED;
    bool other = false;
    for (size_t i = 0; i < e->count; i++) {
        const struct nocap_queue *q = &e->candidates[i].profile.queue;
        other |= q->dispatchers > 1 && event->addr - q->subordinate_buffer < q->subordinate_size;
    }
    for (size_t i = 0; i < e->count; i++) {
        struct queue_candidate *c = &e->candidates[i];
        const bool here = (e->shown & how) == 0 && event->addr == c->profile.queue.buffer;
        c->points += here && !c->begins ? WORTH_FIRST : 0;
        c->begins |= here;
    }
    e->first_command = e->shown != 0 || other ? e->first_command : event->addr;
    e->shown |= other ? 0 : how;
}

void queue_evidence_look(struct queue_evidence *e, const struct nocap_event *event)
{
    uint32_t before = queue_evidence_count(e);
    queue_places_look(e, event);
    e->lost |= event->kind == NOCAP_EV_DROP;
    bool addressed = (event->has & NOCAP_F_ADDR) != 0;
    if (event->kind == NOCAP_EV_CQ && event->op == NOCAP_OP_RECORD) {
        e->fresh |= e->records == 0 && e->acts == 0 && e->shown == 0 &&
                    (event->has & NOCAP_F_SLOT) != 0 && event->slot_index == 0;
        look_at_record(e, event, true);
        look_at_tile(e, event);
    } else if (event->kind == NOCAP_EV_CQ && addressed &&
               (event->op == NOCAP_OP_RELAY || event->op == NOCAP_OP_EXEC)) {
        look_at_buffer(e, event);
    } else if (event->kind == NOCAP_EV_WRITE && event->by == NOCAP_BY_HOST && addressed) {
        if (event->space == NOCAP_SPACE_TILE) {
            look_at_store(e, event);
        } else if (event->space == NOCAP_SPACE_SYSMEM && event->size >= NOCAP_CQ_HEADER) {
            e->host_writes++;
            look_at_record(e, event, false);
        }
    }
    if (before == 0 && queue_evidence_count(e) != 0) {
        e->index = event->index;
        e->t = event->t;
    }
}

/* ---- the choice ---- */

void queue_evidence_mailbox(struct queue_evidence *e, const char *layout)
{
    for (size_t i = 0; i < e->count; i++) {
        struct queue_candidate *c = &e->candidates[i];
        c->points += strcmp(c->profile.mailbox.name, layout) == 0 ? WORTH_HEADER : 0;
    }
}

enum { FEW = 3 }; /* of which nothing follows yet */

/* Whether what was seen is a queue as this candidate has it. */
static bool fits(const struct queue_evidence *e, const struct queue_candidate *c,
                 const struct nocap_header *header, char *seen, size_t size)
{
    enum { NAMED = 2, FOUND = 16 }; /* one of so many records must be explained; may be not */
    const bool stores = (header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    const bool writes = (header->observes & NOCAP_CLASS_SYSMEM) != 0;
    const uint32_t unexplained = e->records - c->records;
    const bool strange =
        e->named < e->count ? NAMED * c->records < e->records : FOUND * unexplained > e->records;
    const char *name = c->profile.name;
    if (unexplained > FEW && strange) {
        snprintf(seen, size, "%u prefetch commands, of which %s explains %u", e->records, name,
                 c->records);
        return false;
    }
    if (e->named == e->count && e->records > FEW && stores && c->inside[PLACE_SLOTS] == 0 &&
        !queue_places_has_slots(c)) {
        snprintf(seen, size, "%u prefetch commands, and no prefetch_q entry where %s has them",
                 e->records, name);
        return false;
    }
    if (!queue_places_fit(c, seen, size) ||
        (e->named == e->count && !e->lost && !queue_places_begin(c, seen, size))) {
        return false;
    }
    if (e->records > FEW && e->fresh && !e->lost && e->shown != 0 && !c->begins) {
        snprintf(seen, size,
                 "commands in a dispatch buffer at 0x%llx, which %s does not have there",
                 (unsigned long long)e->first_command, name);
        return false;
    }
    if (e->named == e->count && e->records == 0 && writes && e->host_writes > FEW &&
        c->stores > FEW) {
        snprintf(seen, size,
                 "%u stores to a command queue as %s has it, and no prefetch command that any "
                 "profile explains",
                 c->stores, name);
        return false;
    }
    return true;
}

static const struct queue_candidate *most(const struct queue_evidence *e, size_t from, size_t end)
{
    const struct queue_candidate *best = &e->candidates[from];
    for (size_t i = from + 1; i < end; i++) {
        best = e->candidates[i].points > best->points ? &e->candidates[i] : best;
    }
    return best;
}

const struct queue_candidate *queue_evidence_best(const struct queue_evidence *e,
                                                  const struct nocap_header *header, char *seen,
                                                  size_t size)
{
    char unused[1];
    const struct queue_candidate *shipped = most(e, 0, e->named);
    if (e->named == e->count) {
        return fits(e, shipped, header, seen, size) ? shipped : NULL;
    }
    const struct queue_candidate *named = most(e, e->named, e->count);
    const uint32_t one = e->units && e->host_writes != 0 ? 2 : 1; /* may be a fault: as two shown */
    bool all = shipped->records == e->records && shipped->passed_by == 0;
    bool outdone = (all && e->records - e->understood + named->passed_by > one) ||
                   shipped->records > named->records + FEW ||
                   shipped->points > named->points + named->points / 2 + WORTH_SETUP;
    if (outdone && fits(e, shipped, header, unused, sizeof unused)) {
        snprintf(
            seen, size,
            "a command queue as %s has it, not %s: they explain %u and %u of %u prefetch commands",
            shipped->profile.name, named->profile.name, shipped->records, named->records,
            e->records);
        return NULL;
    }
    return fits(e, named, header, seen, size) ? named : NULL;
}
