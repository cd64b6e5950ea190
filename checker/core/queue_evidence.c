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
    OUTSIDE = 32,      /* less: a command where this runtime has no buffer */
};
enum { MAILBOX_END = 0x600, MESSAGE_LEAST = 64 };

bool queue_evidence_wanted(const struct nocap_header *header)
{
    const uint32_t shows = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST | NOCAP_CLASS_SYSMEM;
    return header->profile == NULL && (header->observes & shows) != 0;
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

enum nocap_status queue_evidence_new(struct queue_evidence **evidence,
                                     const struct nocap_header *header, struct nocap_error *err)
{
    struct queue_evidence *e = calloc(1, sizeof *e);
    RETURN_ERROR_IF(e == NULL, err, NOCAP_E_MEMORY, "out of memory");
    const char *name;
    const struct nocap_mailbox_layout *said =
        header->layout != NULL ? nocap_header_layout(header, NULL) : NULL;
    enum nocap_status status = NOCAP_OK;
    while (status == NOCAP_OK && e->count < QUEUE_CANDIDATES &&
           (name = nocap_profile_name(e->count)) != NULL) {
        struct queue_candidate *c = &e->candidates[e->count++];
        status = nocap_profile_find(&c->profile, name, err);
        c->points = header_points(&c->profile.queue, header);
        if (said != NULL) { /* then the mailbox tells nothing of the queue */
            c->profile.mailbox = *said;
        }
    }
    e->candidates[0].points += WORTH_DEFAULT;
    e->has_sysmem = header->cq.has_sysmem;
    e->sysmem = header->cq.sysmem;
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
               (c->multicast_go_offset == NOCAP_CQ_NO_MCAST_GO || q->go_multicast != 0);
    case NOCAP_CQ_DISPATCH_WRITE_PACKED:
        return c->count <= (mcast ? q->packed_mcast : most_unicast(q));
    case NOCAP_CQ_DISPATCH_TIMESTAMP: return q->timestamp_slots != 0;
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
    bool other = addr >= l->launch_base && addr + size <= MAILBOX_END && size >= MESSAGE_LEAST;
    return messages ? MESSAGES : word ? A_WORD : other ? OTHER : NOTHING;
}

static uint32_t mailbox_points(const struct nocap_profile *p, const struct nocap_cq_record *r)
{
    enum written what = mailbox_write(p, r);
    return what == MESSAGES || what == A_WORD ? WORTH_RECORD : 0;
}

static void count_messages(struct queue_candidate *c, const uint8_t *bytes, size_t size)
{
    struct nocap_cq_record r;
    if (nocap_cq_decode_record_by(&c->profile.commands, bytes, size, &r)) {
        enum written what = mailbox_write(&c->profile, &r);
        c->messages += what == MESSAGES;
        c->others += what == OTHER;
    }
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
    if (r.inner == NULL) {
        return r.prefetch.id == NOCAP_CQ_PREFETCH_TERMINATE || q->inline_only == 0 ? WORTH_OTHER
                                                                                   : 0;
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

/* `declared`: the trace says that it is one; else it is what the host wrote somewhere, and rare
 * commands look like its data. */
static void look_at_record(struct queue_evidence *e, const struct nocap_event *event, bool declared)
{
    bool any = declared;
    for (size_t i = 0; i < e->count && event->data_size >= NOCAP_CQ_HEADER; i++) {
        struct queue_candidate *c = &e->candidates[i];
        uint32_t points = entry_points(&c->profile, event->data, event->data_size);
        points = declared || points > WORTH_OTHER ? points : 0;
        c->points += points;
        c->records += points != 0;
        if (points != 0) {
            count_messages(c, event->data, event->data_size);
        }
        any |= points != 0;
    }
    e->records += any && event->data_size >= NOCAP_CQ_HEADER;
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

/* The first completion pointer of the first queue, of so many on the chip. */
static uint32_t first_pointer(const struct nocap_queue *of, uint32_t queues)
{
    struct nocap_queue q = *of;
    (void)nocap_queue_split(&q, queues);
    return (uint32_t)((q.sysmem + q.completion) / q.pointer_unit);
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
    if ((event->has & NOCAP_F_VALUE) == 0) {
        return 0;
    }
    if (event->size == 4 && event->value != 0) {
        if ((event->addr == q->rd_ptr_echo && event->value == end) ||
            (event->addr == q->pcie_ptr_echo && event->value == (uint32_t)q->sysmem + q->issue)) {
            *core = 0;
            return WORTH_SETUP;
        }
        if ((event->addr == q->completion_wr || event->addr == q->completion_rd) &&
            (event->value == first_pointer(q, q->queues) ||
             event->value == first_pointer(q, q->queues_most))) {
            *core = 1;
            return WORTH_SETUP;
        }
    }
    bool slot = event->size == q->entry_bytes && event->addr >= q->queue && event->addr < end &&
                (event->addr - q->queue) % q->entry_bytes == 0;
    return slot ? WORTH_RECORD : 0;
}

/* The words of the set-up are stored before all else, each with its one right value; where the
 * header says where host memory is, as it says. A second queue has other values. */
static void look_at_set_up(const struct queue_evidence *e, struct queue_candidate *c,
                           const struct nocap_event *event)
{
    struct nocap_queue q = c->profile.queue;
    const uint32_t words[] = {q.pcie_ptr_echo, q.completion_wr, q.completion_rd};
    int core;
    q.sysmem = e->has_sysmem ? e->sysmem : q.sysmem;
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        const uint8_t bit = (uint8_t)(1 << i);
        if (event->addr == words[i] && event->size == 4) {
            c->set_up |= bit;
            c->right |= store_points(&q, event, &core) != 0 ? bit : 0;
        }
    }
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
        look_at_set_up(e, c, event);
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

static bool is_of_subordinate(const struct nocap_queue *q, uint64_t addr)
{
    return q->dispatchers > 1 && addr - q->subordinate_buffer < q->subordinate_size;
}

/* A command in the dispatch buffer. */
static void look_at_buffer(struct queue_evidence *e, const struct nocap_event *event)
{
    bool other = false;
    for (size_t i = 0; i < e->count; i++) {
        other |= is_of_subordinate(&e->candidates[i].profile.queue, event->addr);
    }
    for (size_t i = 0; i < e->count; i++) {
        struct queue_candidate *c = &e->candidates[i];
        const struct nocap_queue *q = &c->profile.queue;
        bool inside = event->addr - q->buffer < (uint64_t)q->buffer_pages * q->page;
        inside |= is_of_subordinate(q, event->addr);
        c->outside += !inside;
        c->points += inside ? WORTH_RECORD : 0;
        c->points -= !inside && c->points >= OUTSIDE ? OUTSIDE : 0;
        c->points += !e->executed && event->addr == q->buffer ? WORTH_FIRST : 0;
    }
    e->first_command = e->executed || other ? e->first_command : event->addr;
    e->executed |= !other;
}

void queue_evidence_look(struct queue_evidence *e, const struct nocap_event *event)
{
    uint32_t before = e->records + e->stores;
    bool addressed = (event->has & NOCAP_F_ADDR) != 0;
    if (event->kind == NOCAP_EV_CQ && event->op == NOCAP_OP_RECORD) {
        e->fresh |= e->records == 0 && (event->has & NOCAP_F_SLOT) != 0 && event->slot_index == 0;
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
    if (before == 0 && e->records + e->stores != 0) {
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

const struct queue_candidate *queue_evidence_best(const struct queue_evidence *e,
                                                  const struct nocap_header *header, char *seen,
                                                  size_t size)
{
    enum { FEW = 3 }; /* of which nothing follows yet */
    const struct queue_candidate *best = &e->candidates[0];
    for (size_t i = 1; i < e->count; i++) {
        best = e->candidates[i].points > best->points ? &e->candidates[i] : best;
    }
    bool stores = (header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    bool writes = (header->observes & NOCAP_CLASS_SYSMEM) != 0;
    if (e->records > FEW && 2 * best->records < e->records) {
        snprintf(seen, size, "%u records of a command queue, of which %s explains %u", e->records,
                 best->profile.name, best->records);
        return NULL;
    }
    if (e->records > FEW && stores && best->stores == 0) {
        snprintf(seen, size,
                 "%u records of a command queue, and no slot or pointer of it where a "
                 "profile has them",
                 e->records);
        return NULL;
    }
    if (__builtin_popcount((unsigned)best->set_up & ~(unsigned)best->right) > 1) {
        snprintf(seen, size,
                 "a command queue set up as %s has it, in host memory that no profile has",
                 best->profile.name);
        return NULL;
    }
    const struct nocap_queue *q = &best->profile.queue;
    if (best->outside > 1 ||
        (e->records > FEW && e->fresh && e->executed && e->first_command != q->buffer)) {
        snprintf(seen, size, "commands in a dispatch buffer at 0x%llx, which no profile has there",
                 (unsigned long long)e->first_command);
        return NULL;
    }
    if (e->records == 0 && writes && e->host_writes > FEW && best->stores > FEW) {
        snprintf(seen, size,
                 "%u stores to a command queue as %s has it, and no record that any "
                 "profile explains",
                 best->stores, best->profile.name);
        return NULL;
    }
    return best;
}
