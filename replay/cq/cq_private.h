/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: the fast-dispatch command queue, from the host's record to the completion
 * page. Acts of the parties come in through cq.c, whichever way the trace shows them: as accesses
 * and NOC transactions, as `cq` events, or as the host's side alone. What has not been seen is
 * unknown. Source: command-queue fact sheet, sections 3 to 5. */
#ifndef NOCAP_REPLAY_CQ_PRIVATE_H
#define NOCAP_REPLAY_CQ_PRIVATE_H

#include "replay/cq/cq.h"
#include "replay/cq/cq_check.h"
#include "replay/cq/cq_relay.h"
#include "replay/cq/cq_state.h"

/* As formats of texts take it. */
static inline unsigned long long wide(uint64_t v)
{
    return v;
}

static inline uint32_t cq_pages_of(const struct cq *q, uint64_t bytes)
{
    return (uint32_t)((bytes + q->numbers->page - 1) >> q->page_shift);
}
/* Bytes of a record by its entry. */
static inline uint32_t cq_entry_size(const struct cq *q, uint32_t entry)
{
    uint64_t size = (entry & (uint64_t)(q->numbers->entry_stall - 1)) * q->numbers->entry_unit;
    return size < CQ_ENTRY_CAP ? (uint32_t)size : CQ_ENTRY_CAP;
}
static inline struct cq_record *cq_record(struct cq *q, uint64_t number)
{
    return number < q->published && q->published - number <= CQ_RECORDS
               ? &q->records[number % CQ_RECORDS]
               : NULL;
}
/* The number of the first record of the next entry. */
static inline uint64_t cq_entry_after(struct cq *q, uint64_t number)
{
    const struct cq_record *r = cq_record(q, number);
    return number + 1 + (r != NULL ? r->parts : 0);
}
/* Tells who asked for records of a step of one, which is NULL if it was not seen. */
void cq_report_step(struct cq *q, enum nocap_record_step step, const struct cq_record *r);
static inline bool cq_is_core(const struct cq *q, struct nocap_xy at)
{
    return nocap_xy_equal(at, q->at[CQ_PREFETCH]) || nocap_xy_equal(at, q->at[CQ_DISPATCH]) ||
           nocap_xy_equal(at, q->subordinate_at);
}
/* Whether it may be the dispatch tile, where that is not known. */
static inline bool cq_may_dispatch(const struct cq *q, struct nocap_xy at)
{
    const struct nocap_xy dispatch = q->at[CQ_DISPATCH];
    return nocap_xy_equal(dispatch, at) || nocap_xy_equal(dispatch, CQ_NOWHERE);
}
/* The same of the tile that workers notify: that of whoever sends the go words. */
static inline bool cq_may_answer(const struct cq *q, struct nocap_xy at)
{
    return nocap_xy_equal(q->subordinate_at, at) || nocap_xy_equal(q->subordinate_at, CQ_NOWHERE);
}
/* Whether the subordinate dispatcher has a tile of its own. */
static inline bool cq_is_apart(const struct cq *q)
{
    return !nocap_xy_equal(q->subordinate_at, q->at[CQ_DISPATCH]);
}
/* Whether the tiles of both are known: else any may be the other one's. */
static inline bool cq_is_placed(const struct cq *q)
{
    return !nocap_xy_equal(q->at[CQ_PREFETCH], CQ_NOWHERE) &&
           !nocap_xy_equal(q->at[CQ_DISPATCH], CQ_NOWHERE);
}
static inline bool cq_is_worker(const struct cq *q, struct nocap_xy at)
{
    return model_is_tensix(q->m, at) && !cq_is_core(q, at) &&
           (q->alone || queue_at(q->m, q->chip, at) == NULL);
}
/* The offset in host memory that a request to the PCIe tile means; false: it goes elsewhere. */
static inline bool cq_sysmem_offset(const struct cq *q, uint64_t addr, uint64_t *offset)
{
    *offset = (addr & ~q->numbers->pcie_address_bit) - q->sysmem;
    return (addr & q->numbers->pcie_address_bit) != 0;
}
/* The completion pointer `pages` pages on, its toggle turned where it wraps. */
static inline uint32_t cq_ptr_advance(const struct cq *q, uint32_t ptr, uint32_t pages)
{
    uint32_t at = (ptr & ~q->numbers->toggle) + pages * q->page_units;
    uint32_t toggle = ptr & q->numbers->toggle;
    if (at >= q->last) {
        at -= (q->last - q->first);
        toggle ^= q->numbers->toggle;
    }
    return at | toggle;
}
/* The page in host memory that it points to; whether it does. */
static inline uint32_t cq_ptr_offset(const struct cq *q, uint32_t ptr)
{
    return (ptr & ~q->numbers->toggle) * q->numbers->pointer_unit - (uint32_t)q->sysmem;
}
static inline bool cq_ptr_in_ring(const struct cq *q, uint32_t ptr)
{
    uint32_t at = ptr & ~q->numbers->toggle;
    return at >= q->first && at < q->last && (at - q->first) % q->page_units == 0;
}

/* Whether this access or request is of the subordinate dispatcher's pages. */
static inline bool cq_in_subordinate(const struct cq *q, uint64_t addr)
{
    return place_has(&q->places.subordinate, addr);
}
/* Whether the trace shows what the dispatcher stores, or sends, to notify its subordinate. */
static inline bool cq_sees_syncs(const struct cq *q)
{
    return (cq_is_apart(q) ? q->sees_noc : q->sees_stores) && q->sees[CQ_DISPATCH];
}
/* What is not followed, from the present event on. */
static inline void cq_note_gap(struct cq *q, enum nocap_queue_gap gap)
{
    if (!q->gaps[gap].any) {
        q->gaps[gap].any = true;
        q->gaps[gap].index = q->m->event->index;
    }
}
/* Whether the trace shows the requests of the dispatcher. */
static inline bool cq_sees_writes(const struct cq *q)
{
    return q->sees_noc && q->sees[CQ_DISPATCH];
}

/* The first of the queues. */
static inline struct cq *cq_first(const struct model *m)
{
    return m->state[MODEL_CQ];
}

/* cq_waits.c */
void cq_waits(const struct wait_builder *t);

/* cq_chips.c: the queue of each chip */
bool cq_init(struct model *m);
void cq_free(struct model *m);
/* The first queue of the event's chip, set up if there is none; NULL: none. */
struct cq *cq_get(struct model *m, const struct nocap_event *event);
/* Another one of the chip of `first`, on tiles that are not known yet; NULL: there are too many. */
struct cq *cq_add(struct cq *first);
/* Where one of its cores is. */
void cq_place_core(struct cq *q, enum cq_core core, struct nocap_xy at);
/* Something of the subordinate dispatcher shows its tile. The first that does counts: what is
 * elsewhere after that is wrong. */
void cq_place_subordinate(struct cq *q, struct nocap_xy at);
/* It has these numbers and not those of the profile, and its host memory begins there. */
void cq_renumber(struct cq *q, const struct nocap_queue *numbers, uint64_t sysmem);

/* cq_several.c: of several queues of a chip, `first` the first */
/* The one that an observation concerns; it may be the first that tells of it. NULL: none. */
struct cq *cq_of_several(struct cq *first, const struct observation *o);
/* A pointer of the set-up may say that the host has made as many queues as it can: then each has
 * less host memory. */
void cq_take_pointer(struct cq *q, uint32_t value);
/* Where the records of one that is not the first begin, the host says. */
void cq_take_base(struct cq *q, uint32_t value);

/* cq.c: tells the other models where the queue is. */
void cq_publish_facts(const struct cq *q);
/* Whether a queue may come into sight later: it is observed, or its runtime is named. */
bool cq_may_begin(const struct model *m);
/* Whether the event may bring the first queue into sight. */
bool cq_begins(const struct model *m, const struct nocap_event *event);
/* An act of another queue of the chip, which is not followed. */
bool cq_is_of_other(struct cq *q, const struct nocap_event *event);
/* Everything starts anew: `origin` says that all counters are known to stand at their start. */
void cq_restart(struct cq *q, bool origin);
/* Everything may stand elsewhere than is known. */
void cq_forget(struct cq *q);
/* A device write to the issue region; where it arrives, it follows from its request. */
void cq_judge_written(struct cq *q, uint64_t addr, uint64_t size, uint8_t agent);
/* Whether the other way in which a trace shows acts showed this one. */
bool cq_is_duplicate(struct cq *q, enum cq_op act, const struct nocap_event *event);
static inline uint64_t cq_seq(const struct nocap_event *event)
{
    return (event->has & NOCAP_F_SEQ) != 0 ? event->seq : NO_INDEX;
}

/* cq_noc.c: requests */
void cq_noc_request(struct cq *q, const struct nocap_event *event);
void cq_noc_at_others(const struct cq *q, const struct nocap_event *event);
void cq_noc_phase(struct cq *q, const struct nocap_event *event);

/* cq_boot.c: from the first pointer to the GO of the two cores */
void cq_boot_host_store(struct cq *q, enum cq_core core, const struct access *a);
void cq_boot_late(struct cq *q, enum cq_core core, uint8_t late);
void cq_boot_host_sysmem(struct cq *q, const struct access *a);
void cq_boot_running(struct cq *q, enum cq_core core);
/* The host loads from the tile. DONE: its kernel is over, and the queue may be set up again. */
void cq_boot_looked(struct cq *q, struct nocap_xy at, const struct access *a);
/* Whether a store to the read pointer releases a page, and does not set it up. */
bool cq_boot_done(struct cq *q, uint32_t value);
/* The host stores the read pointer. */
void cq_boot_completion(struct cq *q, uint32_t value);

/* cq_span.c: what the host wrote to the issue region and has not published yet */
struct cq_gathered {
    uint32_t covered; /* bytes from the first on that were written */
    uint32_t known;   /* of which this many are in host.head */
};
void cq_span_remember(struct cq *q, const struct access *a);
/* What the host wrote at `addr`, taken from the writes that no record has used yet. */
struct cq_gathered cq_span_gather(struct cq *q, uint32_t addr, uint32_t size);
/* A piece of a record that should have been written before it was published. */
void cq_span_late(struct cq *q, struct cq_record *r, const struct access *a);
/* An entry was published, and which of the writes are its bytes is not known: the next entry is
 * none of them. */
void cq_span_forget(struct cq *q);
/* Whether a write of the host begins here. */
bool cq_span_begins(struct cq *q, uint32_t addr);
/* How long the record is whose bytes begin here; 0: there is none, or not known. */
uint32_t cq_span_record(struct cq *q, uint32_t addr);
/* Whether what the host wrote with the last entry is more than that entry says, since the record of
 * this one, of `size` bytes, lies behind: else it is of entries to come. Rule CQ-004. */
bool cq_span_judge_left(struct cq *q, uint32_t size);
/* The write that the host made for an entry of `size` bytes where it did not put it in its place,
 * or where that place is not known. */
bool cq_span_other_place(struct cq *q, uint32_t size, uint32_t *addr);

/* cq_issue.c: the host's side of issue region and prefetch queue */
void cq_issue_init(struct cq *q, bool origin);
void cq_issue_host_write(struct cq *q, const struct access *a);
/* The published record that is written over before the device has read it, whose bytes are not
 * known any more; NULL: none. */
struct cq_record *cq_issue_hit(struct cq *q, const struct access *a);
void cq_issue_slot_read(struct cq *q, const struct access *a);
/* What the host stored elsewhere was perhaps meant for its next slot. */
void cq_issue_missed(struct cq *q);
void cq_issue_slot_store(struct cq *q, const struct access *a, const struct nocap_event *event);
void cq_issue_record(struct cq *q, const struct nocap_event *event);
/* The prefetcher reads at `addr`, and no record is published there; `entry` is what it found in its
 * slot, 0: not seen. If the next record lies there it is published: the store to its slot is what
 * was not seen, which is reported. */
void cq_issue_unseen(struct cq *q, uint32_t addr, uint32_t entry);

/* cq_restated.c */
/* The store that the trace has as a record already: the device reads what is stored. */
void cq_restated_store(struct cq *q, uint16_t slot, bool known, uint32_t entry);
/* A store that should restate a record, and none has come yet. */
void cq_restated_alone(struct cq *q, uint16_t slot, const struct nocap_event *event);
/* The next record, or the next store: the one that is awaited does not come. */
void cq_restated_due(struct cq *q);
/* A record whose slot store was seen before it. */
void cq_restated_late(struct cq *q, const struct nocap_event *event);
/* The prefetcher takes a slot that is not known to be filled: perhaps its store is what lacks. */
void cq_restated_unfilled(struct cq *q, uint16_t slot);
void cq_restated_finish(struct cq *q, bool cut);

/* cq_publish.c: a record becomes visible */
struct cq_publish {
    struct cq_record record; /* slot, place, what is missing of it */
    uint32_t entry;
    bool moved;            /* not where the host's own rule puts it */
    fault_id since;        /* the place is known since */
    const uint8_t *bytes;  /* the first `known` */
    uint32_t known, given; /* given: how many the host wrote, 0: not known */
    bool whole;            /* and that there are no more */
};
void cq_publish(struct cq *q, const struct cq_publish *p);
/* What a command relays. One that this host never sends is wrong, and what the device makes of it
 * is not known, as of one that does not exist. */
static inline enum nocap_cq_relay cq_relays(const struct cq *q, unsigned id)
{
    enum nocap_cq_relay relays = nocap_cq_relays(id);
    bool none = relays == NOCAP_CQ_RELAYS_NOTHING || relays == NOCAP_CQ_RELAYS_DATA;
    return none && q->numbers->inline_only != 0 ? NOCAP_CQ_RELAYS_WHOLE : relays;
}
/* The bytes of a record that was published before they were there. */
void cq_publish_late(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known);

/* cq_write.c, cq_record.c: the bytes of a command */
/* False: not even the header is there. */
bool cq_decode(const struct cq *q, struct cq_command *command, const uint8_t *bytes, uint32_t size);
struct cq_tile_set cq_target_tiles(const struct cq *q, const struct cq_target *target);
/* The fault that keeps the command from being executed; `shape`: what is wrong with its record. */
fault_id cq_judge_record(struct cq *q, const struct cq_command *command, fault_id shape);
fault_id cq_judge_writes(struct cq *q, const struct cq_command *command);
/* The workers of a rectangle; `reached`: its Tensix tiles, which alone get a multicast. */
uint32_t cq_count_workers(const struct cq *q, struct nocap_cq_rect rect, uint32_t *reached);
/* `since`: what is wrong with the command already. */
fault_id cq_judge_rect(struct cq *q, uint64_t noc_xy, uint64_t dests, fault_id since);

/* cq_offsets.c: write offsets */
/* As the dispatcher starts; else only the first is known, which hosts leave 0. */
void cq_offsets_init(const struct cq *q, struct cq_offsets *o, bool origin);
/* SET_WRITE_OFFSET. */
void cq_offsets_set(struct cq_offsets *o, const struct nocap_cq_record *r);
/* Adds that of the command to its addresses; false: it is not known. */
bool cq_offsets_move(const struct cq_offsets *o, struct cq_command *command);

/* cq_bytes.c: records by number, and their bytes for as long as there is room */
void cq_bytes_keep(struct cq *q, struct cq_record *r, const uint8_t *bytes, uint32_t known);
/* NULL: they are not known. */
const uint8_t *cq_bytes_of(const struct cq *q, const struct cq_record *r);
/* The first of the bytes that are known on both sides where they differ, so many from the start;
 * UINT64_MAX: none. */
uint64_t cq_bytes_differ(const struct access *a, const uint8_t *bytes, uint64_t known);
/* The bytes of a slot. */
bool cq_slot_value(const struct cq *q, const struct access *a, uint64_t addr, uint32_t *entry);
/* The number of the record that begins the `count`th entry before record `number`. */
uint64_t cq_entries_back(struct cq *q, uint64_t number, unsigned count);
/* The number of a record near the next one that was not read and lies at `addr` or in `slot`;
 * NO_INDEX: there is none. */
uint64_t cq_find_unread(struct cq *q, uint32_t addr, uint32_t slot);
/* How many entries begin with the records `from` to `to`; how many of these the dispatcher gets. */
uint64_t cq_count_entries(struct cq *q, uint64_t from, uint64_t to);
uint64_t cq_count_relayed(struct cq *q, uint64_t from, uint64_t to);

/* cq_launch.c: what the commands add up to */
/* Write offsets are added to the addresses of `command`. */
void cq_launch_command(struct cq *q, struct cq_command *command, struct cq_brief *brief,
                       fault_id fault);
void cq_brief(const struct nocap_cq_command *command, struct cq_brief *brief);

/* cq_launch_write.c: of a command that writes. What is wrong with its launch messages. */
fault_id cq_launch_writes(struct cq *q, struct cq_command *command);

/* cq_launch_forget.c */
void cq_launch_forget(struct cq *q);
void cq_launch_forget_streams(struct cq_program *p);
/* A command that is not known: what was written since the last launch is not known any more. */
void cq_launch_lose(struct cq *q, bool all);
/* Some tiles may look at another go word than before: how many answer a multicast is not known. */
void cq_launch_lose_answers(struct model *m);

/* cq_prefetch.c: reads */
void cq_prefetch_init(struct cq *q, bool origin);
void cq_prefetch_packet(struct cq *q, uint64_t offset, const struct nocap_event *event);
void cq_prefetch_sent(struct cq *q, const struct nocap_event *event); /* as cq_worker_sent */
void cq_prefetch_fetch_event(struct cq *q, const struct nocap_event *event);
/* The one of a read whose packets were seen. */
void cq_prefetch_restated(struct cq *q, const struct nocap_event *event);
/* The record is used: what was not read of it will not be. */
void cq_prefetch_used(struct cq *q, uint64_t number);
/* A slot is consumed. */
void cq_prefetch_take_slot(struct cq *q, uint32_t slot);
/* cq_prefetch_core.c: stores and loads of its core */
void cq_prefetch_core(struct cq *q, const struct access *a);

/* cq_landed.c: reads in flight */
/* Whether a read has not landed, of which the records before number `landed` have. */
bool cq_in_flight(const struct cq_fetch *f, uint64_t landed);
/* The latest read is not the latest any more. */
void cq_add_flight(struct cq_prefetcher *p);
void cq_prefetch_landed(struct cq *q, const struct nocap_event *event);
/* What is wrong with the read of a record. */
fault_id cq_read_since(struct cq *q, uint64_t number);
/* The record is used, so its read is taken to have landed; `since`: the trace says it has not. */
void cq_prefetch_arrived(struct cq *q, uint64_t number, fault_id since);
/* What only packets tell, from the first one of a read on: where it lands. `before`: bytes that
 * should have been read before it. */
void cq_land_first(struct cq *q, uint32_t before, const struct nocap_event *event);
void cq_prefetch_done(struct cq *q, uint64_t id);

/* cq_noc.c: pages that are counted up at `grows`, as a request or a `cq` event shows it. True: the
 * other of the two has shown the same. */
bool cq_credit_restated(struct cq *q, enum cq_core grows, const struct cq_credit *credit);
/* The one of this event was judged; `before`: faults before that. */
static inline void cq_credit_judged(struct cq *q, uint32_t before)
{
    for (unsigned i = 0; i < CQ_CORES && q->m->faults > before; i++) {
        struct cq_credit *c = &q->credits[i];
        c->since = c->index == q->m->event->index ? before + 1 : c->since;
    }
}

/* cq_dispatch_ring.c: pages on the dispatcher's side */
void cq_ring_init(struct cq *q, bool origin);
/* Whether the trace shows what the prefetcher publishes. */
bool cq_sees_published(const struct cq *q);
/* Where the dispatcher is may be none of what is known since that fault, until it begins in its
 * turn with a command that was published after it; and how many pages there were, to the end. */
void cq_ring_doubt(struct cq *q, fault_id fault);
/* A dispatcher finds these bytes, which shows what was relayed where the relay itself does not.
 * `since`: what its command is known since. NO: they are not the record's. */
enum known cq_judge_found(struct cq *q, const struct cq_record *record, const uint8_t *found,
                          uint64_t known, fault_id since);
/* What `agent` knows of a command by its bytes, where its record does not say it. */
void cq_ring_brief(struct cq *q, struct cq_brief *brief, const uint8_t *bytes, uint64_t known,
                   uint8_t agent);
void cq_ring_exec(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known);
bool cq_ring_read(struct cq *q, const struct access *a);
/* The command that it begins with, as the other of load and `cq` event shows it. */
void cq_ring_restated(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known);
void cq_ring_credit(struct cq *q, uint32_t value);
/* A dispatcher, or the prefetcher, counts up something else, as requests or `cq` events show. */
void cq_ring_credit_elsewhere(struct cq *q, const struct nocap_event *event);
void cq_publish_elsewhere(struct cq *q, const struct nocap_event *event);
enum { CQ_COUNTED_TEXT = 64 };
/* What that event counts up. */
void cq_counted_text(char text[CQ_COUNTED_TEXT], const struct nocap_event *event);
void cq_ring_counter(struct cq *q, enum cq_core core, uint32_t value);
void cq_ring_sent(struct cq *q, const struct cq_write *w);
void cq_ring_finish(struct cq *q, bool cut);

/* cq_dispatcher.c: executing commands */
void cq_dispatcher_begin(struct cq *q);
void cq_dispatcher_end(struct cq *q);
void cq_dispatcher_core(struct cq *q, const struct access *a);
/* To a register of the dispatch core, while the queue runs. */
void cq_dispatcher_host_store(struct cq *q, const struct access *a);
void cq_dispatcher_noc(struct cq *q, const struct nocap_event *event);
void cq_dispatcher_phase(struct cq *q, const struct nocap_event *event);
/* The first of the multicasts without an end; NULL: there is none. */
struct cq_write *cq_unacked(struct cq_dispatcher *d);
/* It has one, or is taken to have. */
void cq_end_write(struct cq_dispatcher *d, struct cq_write *w);
/* A go word leaves for a tile; `said`: as a command says. */
void cq_dispatcher_go(struct cq *q, const struct nocap_event *event, uint32_t word, bool said);
/* The same to a rectangle: those of its workers answer whose go index says that word. */
void cq_dispatcher_go_to_all(struct cq *q, const struct nocap_event *event, uint32_t word,
                             bool said);
/* Go words that are multicast leave: they wait for the notifies of all before them. Of others the
 * records say how many there were. */
void cq_judge_waited(struct cq *q, struct cq_brief *brief);
/* Whoever waits for `want` notifies on a stream goes on, and has read `value`; `since`: what is
 * wrong with the command. */
void cq_judge_counted(struct cq *q, unsigned stream, uint32_t value, uint32_t want, fault_id since);
/* A notify too many is on its way to `stream`. */
void cq_dispatcher_extra(struct cq *q, uint64_t stream);

/* cq_subordinate.c: the subordinate dispatcher */
void cq_subordinate_init(struct cq *q, bool origin);
/* Where it is in its pages may be none of what is known since that fault, until it is through, in
 * its turn, with a command whose bytes it found; and how many there were, to the end. */
void cq_subordinate_doubt(struct cq *q, fault_id fault);
/* A record reaches its buffer, is published, begun with, over. UINT32_MAX: the prefetcher forgot to
 * publish it; `sent`: its bytes have left. */
void cq_subordinate_relay(struct cq *q, uint64_t addr, uint64_t size, struct cq_record *r);
void cq_subordinate_publish(struct cq *q, uint64_t record, uint32_t value, bool sent);
void cq_subordinate_exec(struct cq *q, uint64_t addr, const uint8_t *bytes, uint64_t known);
void cq_subordinate_release(struct cq *q, uint32_t value);
void cq_subordinate_core(struct cq *q, const struct access *a);
/* The dispatcher stores to the words by which it notifies it, or to others: false. Where the trace
 * does not show that, the command that does it. */
bool cq_subordinate_notified(struct cq *q, const struct access *a);
void cq_subordinate_brief(struct cq *q, const struct cq_brief *b);
/* The command of the page that it is at, and its record; NULL: it is not known, or none. */
const struct nocap_cq_command *cq_subordinate_command(struct cq *q);
struct cq_record *cq_subordinate_record(struct cq *q);

/* cq_subordinate_go.c: its go words */
void cq_subordinate_write(struct cq *q, const struct nocap_event *event);
/* Whether a multicast to `rect` goes where they go, and, if so, takes it for known. */
bool cq_grid_allows(const struct cq_grid *g, struct nocap_cq_rect rect);
void cq_grid_take(struct cq_grid *g, struct nocap_cq_rect rect, bool right);
/* Whether a write of a dispatcher is a go word, for a worker or for a rectangle. */
bool cq_is_go_word(const struct cq *q, const struct nocap_event *event, const struct access *a,
                   uint32_t *word);
/* It begins with a launch: workers run with what was written for it. */
void cq_subordinate_start(struct cq *q);
/* It goes on: all go words of the command have left. */
void cq_subordinate_end_launch(struct cq *q, const struct nocap_cq_command *c);

/* cq_expected.c: what the dispatcher writes against what its commands say */
void cq_expected_init(struct cq *q, bool origin);
/* It begins with a command that is this record's. */
void cq_expected_exec(struct cq *q, uint64_t record);
/* False: no command says so. */
bool cq_expected_write(struct cq *q, const struct nocap_event *event, const struct access *a);
/* It looks for notifies. */
void cq_expected_polled(struct cq *q);
/* Pages are released. */
void cq_expected_released(struct cq *q);

/* cq_worker.c: go words arrive, notifies leave */
void cq_worker_go(struct cq *q, struct nocap_xy at, uint32_t word);
/* Tells of tiles that go words were sent to, and of which nothing was seen. */
void cq_worker_finish(const struct cq *q);
/* Whether it has a go word is not known any more. */
void cq_worker_forget(struct cq *q, struct nocap_xy at);
void cq_worker_store(struct cq *q, struct nocap_xy at, const struct access *a);
void cq_worker_noc(struct cq *q, const struct nocap_event *event);
/* In `apply`, when it is known what is wrong with the request. */
void cq_worker_sent(struct cq *q, const struct nocap_event *event);
/* The first fault, if all workers whose notify is pending sent one that may have been it. */
fault_id cq_worker_lost(const struct cq *q);

#endif
