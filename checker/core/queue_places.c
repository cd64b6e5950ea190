/* SPDX-License-Identifier: Apache-2.0 */
/* Where a trace has the parts of its command queue: what the host sets up, doorbells, reads,
 * relays, credits, pointers. */
#include <stdio.h>
#include <string.h>

#include "checker/core/queue_evidence.h"
#include "formats/blackhole/tile_map.h"

enum {
    WORTH_PLACE = 4,
    WORD_LEAST = 0x1000, /* smaller values are stored for many reasons */
};

uint32_t queue_first_pointer(const struct nocap_queue *of, uint32_t queues)
{
    struct nocap_queue q = *of;
    (void)nocap_queue_split(&q, queues);
    return (uint32_t)((q.sysmem + q.completion) / q.pointer_unit);
}

static void count(struct queue_candidate *c, enum queue_place place, bool inside)
{
    c->inside[place] += inside;
    c->outside[place] += !inside;
    c->points += inside ? WORTH_PLACE : 0;
}

static bool is_within(uint64_t addr, uint64_t first, uint64_t size)
{
    return addr >= first && addr - first < size;
}

/* ---- the set-up ---- */

/* What lies before the prefetcher's text: as many credits as the dispatch buffer has pages. */
static bool has_credits(const struct nocap_queue *q, const struct nocap_event *event)
{
    uint32_t credits = 0;
    if (event->size != q->kernel_config_head || event->data_size != event->size ||
        q->semaphores + sizeof credits > event->size) {
        return false;
    }
    memcpy(&credits, event->data + q->semaphores, sizeof credits);
    return credits == q->buffer_pages;
}

/* Bits of queue_candidate.set_up: one for each of its words, the queue zeroed, credits. */
enum {
    SET_UP_WORDS = 4,
    SET_UP_RD_PTR_ECHO = 1,
    SET_UP_QUEUE = 1 << SET_UP_WORDS,
    SET_UP_CREDITS = SET_UP_QUEUE << 1,
};

bool queue_places_has_slots(const struct queue_candidate *c)
{
    return (c->right & SET_UP_RD_PTR_ECHO) != 0;
}

/* Each of its words has one right value; and the queue is zeroed as a whole. */
static void look_at_set_up(struct queue_candidate *c, const struct nocap_event *event)
{
    const struct nocap_queue *q = &c->profile.queue;
    const uint64_t slots = (uint64_t)q->queue_slots * q->entry_bytes;
    const uint32_t first = queue_first_pointer(q, q->queues);
    const uint32_t split = queue_first_pointer(q, q->queues_most);
    const struct {
        uint32_t addr;
        uint64_t value, other;
    } words[SET_UP_WORDS] = {
        {q->rd_ptr_echo, q->queue + slots, q->queue + slots},
        {q->pcie_ptr_echo, (uint32_t)q->sysmem + q->issue, (uint32_t)q->sysmem + q->issue},
        {q->completion_wr, first, split},
        {q->completion_rd, first, split}};
    if (event->addr == q->queue && event->size > sizeof(uint64_t)) {
        c->set_up |= SET_UP_QUEUE;
        c->right |= event->size == slots ? SET_UP_QUEUE : 0;
    }
    if (has_credits(q, event)) {
        const bool right = event->addr == q->kernel_config;
        c->set_up |= right ? SET_UP_CREDITS : 0;
        c->right |= right ? SET_UP_CREDITS : 0;
        c->elsewhere |= right ? 0 : SET_UP_CREDITS;
        c->points += right ? WORTH_PLACE : 0;
    }
    bool here = false;
    uint8_t elsewhere = 0;
    uint32_t word;
    const bool known = event->size == sizeof word && nocap_event_word(event, &word);
    for (unsigned i = 0; i < SET_UP_WORDS && known; i++) {
        const bool right = word == words[i].value || word == words[i].other;
        if (event->addr == words[i].addr) {
            c->set_up |= (uint8_t)(1 << i);
            c->right |= (uint8_t)(right << i);
            here = true;
        } else if (right && word >= WORD_LEAST) {
            elsewhere |= (uint8_t)(1 << i);
        }
    }
    c->elsewhere |= here ? 0 : elsewhere;
}

/* ---- the run ---- */

/* The host stores nothing else of that size to the prefetcher's core, and no larger entries are
 * told from other words. */
static bool is_doorbell(const struct nocap_event *event)
{
    return event->size == sizeof(uint16_t) && event->addr < NOCAP_L1_SIZE;
}

bool queue_places_zeroed(const struct nocap_event *event)
{
    uint32_t i = 0;
    while (i < event->data_size && event->data[i] == 0) {
        i++;
    }
    return event->value == 0 && i == event->data_size;
}

/* Words that only the set-up of a queue has, where this candidate has none of them. */
static bool has_moved(const struct queue_candidate *c)
{
    return (c->set_up & ~SET_UP_CREDITS) == 0 && __builtin_popcount(c->elsewhere) > 1;
}

bool queue_places_elsewhere(const struct queue_evidence *e)
{
    bool moved = false;
    for (size_t i = 0; i < e->count; i++) {
        moved |= has_moved(&e->candidates[i]);
    }
    return moved;
}

static void look_at_turn(struct ring_turn *r, uint64_t first, uint64_t at, uint64_t end)
{
    if (r->any && at == first && r->end != at && r->end != end) { /* not told twice */
        r->times = r->turned == r->end ? r->times + 1 : 1;
        r->turned = r->end;
    }
    r->any = true;
    r->end = end;
}

/* Bytes of a command reach the dispatch buffer. */
static void look_at_relay(struct queue_candidate *c, uint64_t addr, uint64_t size)
{
    const struct nocap_queue *q = &c->profile.queue;
    if (is_within(addr, q->buffer, (uint64_t)q->buffer_pages * q->page)) {
        const uint64_t pages = (addr + size - q->buffer + q->page - 1) / q->page;
        look_at_turn(&c->buffer, q->buffer, addr, q->buffer + pages * q->page);
    }
}

static void look_at_doorbell(struct queue_candidate *c, const struct nocap_event *event)
{
    const struct nocap_queue *q = &c->profile.queue;
    const uint64_t slots = (uint64_t)q->queue_slots * q->entry_bytes;
    if (event->size <= sizeof(uint32_t) && is_within(event->addr, q->queue, slots)) {
        c->outside[PLACE_SLOTS] += event->size != q->entry_bytes;
    } else if (is_doorbell(event)) {
        c->outside[PLACE_SLOTS]++;
    }
}

/* The prefetcher takes an entry. */
static void look_at_entry(struct queue_candidate *c, const struct nocap_event *event)
{
    const struct nocap_queue *q = &c->profile.queue;
    if (is_within(event->addr, q->queue, (uint64_t)q->queue_slots * q->entry_bytes)) {
        const uint64_t slot = (event->addr - q->queue) / q->entry_bytes;
        look_at_turn(&c->taken, 0, slot, slot + 1);
        count(c, PLACE_SLOTS, event->size == q->entry_bytes);
    }
}

static void look_at_pointer(struct queue_candidate *c, const struct nocap_event *event)
{
    const struct nocap_queue *q = &c->profile.queue;
    uint32_t word = 0;
    (void)nocap_event_word(event, &word);
    const uint64_t pointer = word & ~(uint64_t)q->toggle;
    const uint64_t first = queue_first_pointer(q, q->queues_most);
    const uint64_t end = (q->sysmem + q->sysmem_size) / q->pointer_unit;
    if (is_within(event->addr, q->buffer, (uint64_t)q->buffer_pages * q->page) || pointer < first ||
        pointer >= end || (pointer - first) % (q->page / q->pointer_unit) != 0) {
        return;
    }
    count(c, PLACE_POINTER, event->addr == q->completion_wr);
}

static bool is_buffer(const struct nocap_queue *q, uint64_t addr)
{
    return is_within(addr, q->buffer, (uint64_t)q->buffer_pages * q->page) ||
           (q->dispatchers > 1 && is_within(addr, q->subordinate_buffer, q->subordinate_size));
}

static bool is_semaphore(const struct nocap_queue *q, uint64_t addr)
{
    enum { MOST = 8 };
    const uint64_t first = q->kernel_config + q->semaphores;
    return is_within(addr, first, (uint64_t)MOST * q->semaphore_stride) &&
           (addr - first) % q->semaphore_stride == 0;
}

static bool is_host_memory(const struct nocap_queue *q, uint64_t addr)
{
    const uint64_t offset = (addr & ~q->pcie_address_bit) - q->sysmem;
    return offset == q->host_wr ||
           is_within(offset, q->issue, (uint64_t)q->sysmem_size * q->queues_most);
}

/* In a ring of pages each record begins with a page. */
static void look_at_start(struct ring_start *start, const struct nocap_event *event, uint64_t page)
{
    if (start->accesses == 0) {
        start->first = event->daddr;
    } else if (start->accesses == 1) {
        const uint64_t pages = (start->end - start->first + page - 1) / page;
        start->goes_on = event->daddr == start->end || event->daddr == start->first + pages * page;
    }
    start->end = event->daddr + event->size;
    start->accesses++;
}

/* Where the queue's worker cores are: where its set-up went, else as the header says. */
struct queue_cores {
    bool has_prefetch, has_dispatch;
    struct nocap_xy prefetch, dispatch;
};

static struct queue_cores cores_of(const struct queue_evidence *e)
{
    return (struct queue_cores){
        .has_prefetch = e->has_prefetch || e->said.has_prefetch,
        .has_dispatch = e->has_dispatch || e->said.has_dispatch,
        .prefetch = e->has_prefetch ? e->prefetch : e->said.prefetch,
        .dispatch = e->has_dispatch ? e->dispatch : e->said.dispatch,
    };
}

static void look_at_request(struct queue_candidate *c, const struct nocap_event *event,
                            const struct queue_cores *cores)
{
    const struct nocap_queue *q = &c->profile.queue;
    const bool by_prefetch = nocap_xy_equal(event->at, cores->prefetch);
    const struct nocap_xy other = by_prefetch ? cores->dispatch : cores->prefetch;
    const bool across = !event->mcast && nocap_xy_equal(event->d, other);
    if (by_prefetch && event->op == NOCAP_OP_READ && (event->saddr & q->pcie_address_bit) != 0) {
        look_at_start(&c->landings, event, sizeof(uint32_t));
        count(c, PLACE_LANDING,
              is_host_memory(q, event->saddr) &&
                  is_within(event->daddr, q->cmddat, q->cmddat_size));
    } else if (event->op == NOCAP_OP_ATOMIC && across) {
        count(c, PLACE_SEMAPHORES, is_semaphore(q, event->daddr));
    } else if (by_prefetch && event->op == NOCAP_OP_WRITE &&
               (event->daddr & q->pcie_address_bit) == 0) {
        look_at_start(&c->relays, event, q->page);
        if (across) {
            look_at_relay(c, event->daddr, event->size);
            count(c, PLACE_BUFFER, is_buffer(q, event->daddr));
        }
    } else if (!by_prefetch && event->op == NOCAP_OP_WRITE &&
               (event->daddr & q->pcie_address_bit) != 0) {
        count(c, PLACE_HOST, is_host_memory(q, event->daddr));
    }
}

/* What the host and the RISCs of the queue's cores store. */
static void look_at_store(struct queue_evidence *e, const struct nocap_event *event,
                          const struct queue_cores *cores)
{
    const bool host = event->by == NOCAP_BY_HOST, brisc = event->by == NOCAP_BY_BRISC;
    const bool prefetch = cores->has_prefetch && nocap_xy_equal(event->at, cores->prefetch);
    const bool dispatch = cores->has_dispatch && nocap_xy_equal(event->at, cores->dispatch);
    if (!host && !(brisc && (prefetch || dispatch))) {
        return;
    }
    e->acts += host && prefetch && is_doorbell(event);
    for (size_t i = 0; i < e->count; i++) {
        struct queue_candidate *c = &e->candidates[i];
        if (host) {
            look_at_set_up(c, event);
        }
        if (host && prefetch) {
            look_at_doorbell(c, event);
        } else if (brisc && prefetch) {
            look_at_entry(c, event);
        } else if (brisc && event->size == sizeof(uint32_t)) {
            look_at_pointer(c, event);
        }
    }
}

static void look_at_issue(struct queue_evidence *e, const struct nocap_event *event,
                          const struct queue_cores *cores)
{
    if (!cores->has_prefetch || !cores->has_dispatch ||
        (!nocap_xy_equal(event->at, cores->prefetch) &&
         !nocap_xy_equal(event->at, cores->dispatch))) {
        return;
    }
    e->acts++;
    for (size_t i = 0; i < e->count; i++) {
        look_at_request(&e->candidates[i], event, cores);
    }
}

/* Records in slots, and what is relayed and executed in the dispatch buffer. */
static void look_at_command(struct queue_candidate *c, const struct nocap_event *event)
{
    const bool slot = (event->has & NOCAP_F_SLOT) != 0, addr = (event->has & NOCAP_F_ADDR) != 0;
    if (slot && (event->op == NOCAP_OP_RECORD || event->op == NOCAP_OP_FETCH)) {
        look_at_turn(event->op == NOCAP_OP_FETCH ? &c->taken : &c->filled, 0, event->slot_index,
                     event->slot_index + 1);
    }
    if (addr && (event->op == NOCAP_OP_RELAY || event->op == NOCAP_OP_EXEC)) {
        count(c, PLACE_BUFFER, is_buffer(&c->profile.queue, event->addr));
    }
    if (addr && event->op == NOCAP_OP_RELAY) {
        look_at_relay(c, event->addr,
                      (event->has & NOCAP_F_SIZE) != 0 ? event->size : event->data_size);
    }
}

void queue_places_look(struct queue_evidence *e, const struct nocap_event *event)
{
    const struct queue_cores cores = cores_of(e);
    if (event->kind == NOCAP_EV_WRITE && event->space == NOCAP_SPACE_TILE &&
        (event->has & NOCAP_F_ADDR) != 0) {
        look_at_store(e, event, &cores);
    } else if (event->kind == NOCAP_EV_NOC && event->phase == NOCAP_PHASE_ISSUE &&
               (event->has & NOCAP_F_DADDR) != 0) {
        look_at_issue(e, event, &cores);
    } else if (event->kind == NOCAP_EV_CQ) {
        for (size_t i = 0; i < e->count; i++) {
            look_at_command(&e->candidates[i], event);
        }
    }
}

/* ---- what follows ---- */

/* A ring that goes back too early or late again and again; the device may do so once. */
static bool turns_elsewhere(const struct ring_turn *r, uint64_t end)
{
    return r->times > 1 && r->turned != end;
}

/* Where the device is not seen the host alone may be wrong, until the queue is full. */
static bool has_other_rings(const struct queue_candidate *c, char *seen, size_t size)
{
    enum { FULL = 2 }; /* turns */
    const struct nocap_queue *q = &c->profile.queue;
    const bool host = !c->taken.any && c->filled.times > FULL;
    const struct ring_turn *slots = host ? &c->filled : &c->taken;
    if (turns_elsewhere(slots, q->queue_slots)) {
        snprintf(seen, size,
                 "a prefetch_q that goes back to its start after %llu entries, %s has %u",
                 (unsigned long long)slots->turned, c->profile.name, q->queue_slots);
        return true;
    }
    if (turns_elsewhere(&c->buffer, q->buffer + (uint64_t)q->buffer_pages * q->page)) {
        snprintf(seen, size, "relays that go back to 0x%x after 0x%llx, %s has %u pages there",
                 q->buffer, (unsigned long long)c->buffer.turned, c->profile.name, q->buffer_pages);
        return true;
    }
    return false;
}

bool queue_places_fit(const struct queue_candidate *c, char *seen, size_t size)
{
    static const char *const names[PLACES] = {
        "doorbells", "reads of host memory",  "commands in a dispatch buffer",
        "credits",   "writes to host memory", "completion pointers"};
    const unsigned wrong = (unsigned)c->set_up & ~(unsigned)c->right;
    const unsigned moved = (unsigned)c->elsewhere & ~(unsigned)c->set_up;
    if (__builtin_popcount(wrong) > 1 || (moved != 0 && c->right != 0) || has_moved(c)) {
        snprintf(seen, size, "a command queue set up with other %s than %s has",
                 moved != 0 ? "addresses" : "values", c->profile.name);
        return false;
    }
    for (unsigned i = 0; i < PLACES; i++) {
        const bool said = i == PLACE_SLOTS && queue_places_has_slots(c);
        if (!said && c->outside[i] > 1 && c->outside[i] > c->inside[i]) {
            snprintf(seen, size, "%u %s of %u elsewhere than %s has them", c->outside[i], names[i],
                     c->outside[i] + c->inside[i], c->profile.name);
            return false;
        }
    }
    return !has_other_rings(c, seen, size);
}

bool queue_places_begin(const struct queue_candidate *c, char *seen, size_t size)
{
    const struct nocap_queue *q = &c->profile.queue;
    const bool relayed = c->relays.goes_on && c->relays.first != q->buffer &&
                         c->relays.first != q->subordinate_buffer;
    const bool landed = c->landings.goes_on && c->landings.first != q->cmddat;
    if (c->right == 0 || (!relayed && !landed)) {
        return true;
    }
    snprintf(seen, size, "%s that begin at 0x%llx, where %s has no beginning of a ring",
             relayed ? "relays" : "reads of host memory",
             (unsigned long long)(relayed ? c->relays.first : c->landings.first), c->profile.name);
    return false;
}

uint32_t queue_evidence_doorbells(const struct queue_evidence *e)
{
    uint32_t most = 0;
    for (size_t i = 0; i < e->count; i++) {
        const uint32_t slots = e->candidates[i].inside[PLACE_SLOTS];
        most = slots > most ? slots : most;
    }
    return most;
}
