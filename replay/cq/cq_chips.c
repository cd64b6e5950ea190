/* SPDX-License-Identifier: Apache-2.0 */
/* The command queue of each chip: where it is, when it comes into sight. */
#include "replay/cq/cq_private.h"

#include <stdlib.h>

#include "formats/blackhole/cq_layout.h"

static void free_queue(struct cq *q)
{
    if (q != NULL) {
        free(q->records);
        free(q->bytes);
        free(q->host.slots);
        free(q->ring.page);
        free(q->subordinate.page);
        free(q->completion.page_id);
        free(q->timestamps.slots);
        free(q->host.spans);
        free(q->host.arena);
        free(q);
    }
}

static uint32_t shift_of(uint32_t power_of_two)
{
    return (uint32_t)__builtin_ctz(power_of_two);
}

/* The device's address of the queue's memory, as header or profile say. */
static uint64_t sysmem_of(const struct model *m)
{
    return m->header->cq.has_sysmem ? m->header->cq.sysmem : m->profile->queue.sysmem;
}

/* Where everything lies, as the profile says; the header may say otherwise of some. */
static void set_places(struct cq *q, const struct nocap_header *header, uint64_t sysmem)
{
    const struct nocap_queue *n = q->numbers;
    const uint32_t page = shift_of(n->page);
    q->places = (struct cq_places){
        .slots = {n->queue, shift_of(n->entry_bytes), n->queue_slots},
        .landing = {n->cmddat, 0, n->cmddat_size},
        .buffer = {n->buffer, page, n->buffer_pages},
        .subordinate = {n->subordinate_buffer, shift_of(n->subordinate_page),
                        n->dispatchers > 1 ? n->subordinate_size / n->subordinate_page : 0},
        .issue = {n->issue, 0, n->issue_size},
        .completion = {n->completion, page, n->completion_size >> page},
        .stamps = {n->timestamps, shift_of(n->timestamp_stride), n->timestamp_slots},
    };
    q->sysmem = sysmem;
    q->page_shift = page;
    q->page_units = n->page / n->pointer_unit;
    q->first = (uint32_t)((q->sysmem + n->completion) / n->pointer_unit) & ~n->toggle;
    q->last = q->first + q->places.completion.units * q->page_units;
    uint64_t config = header->cq.has_kernel_config ? header->cq.kernel_config : n->kernel_config;
    for (unsigned core = 0; core < CQ_CORES; core++) {
        q->sem[core] = (uint32_t)config + n->semaphores;
        uint32_t id = core == CQ_PREFETCH ? n->subordinate_free : n->subordinate_published;
        q->subordinate_sem[core] = q->sem[core] + id * n->semaphore_stride;
        q->sees[core] = nocap_header_in_scope(header, q->at[core]);
    }
}

/* Where the cores of a queue are on a board. */
static struct nocap_cq_board tiles_of(const struct model *m, enum nocap_board board)
{
    const struct nocap_queue *n = &m->profile->queue;
    uint8_t x = (uint8_t)(board == NOCAP_BOARD_P150 ? n->p150_x : n->p100_x);
    return x == 0
               ? nocap_cq_board(board) /* the host chooses: likely those */
               : (struct nocap_cq_board){{x, (uint8_t)n->prefetch_y}, {x, (uint8_t)n->dispatch_y}};
}

static bool allocate(struct cq *q)
{
    const struct cq_places *places = &q->places;
    q->records = calloc(CQ_RECORDS, sizeof *q->records);
    q->bytes = malloc(CQ_ARENA);
    q->host.spans = calloc(CQ_SPANS, sizeof *q->host.spans);
    q->host.arena = malloc(CQ_ARENA);
    q->host.slots = calloc(places->slots.units, sizeof *q->host.slots);
    q->ring.page = calloc(places->buffer.units, sizeof *q->ring.page);
    q->subordinate.page = calloc(places->subordinate.units + 1, sizeof *q->subordinate.page);
    q->completion.page_id = calloc(places->completion.units, sizeof *q->completion.page_id);
    q->timestamps.slots = calloc(places->stamps.units + 1, sizeof *q->timestamps.slots);
    return q->records != NULL && q->bytes != NULL && q->host.spans != NULL &&
           q->host.arena != NULL && q->host.slots != NULL && q->ring.page != NULL &&
           q->subordinate.page != NULL && q->completion.page_id != NULL &&
           q->timestamps.slots != NULL;
}

/* All chips are set up as the header says of one; where it says nothing, as on `like`. */
static struct cq *new_queue(struct model *m, uint16_t chip, enum nocap_board like, uint64_t sysmem)
{
    const struct nocap_header *header = m->header;
    struct cq *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return NULL;
    }
    q->m = m;
    q->chip = chip;
    q->like = like;
    q->numbers = &m->profile->queue;
    q->set = &m->profile->commands;
    struct nocap_cq_board board =
        tiles_of(m, header->board != NOCAP_BOARD_UNKNOWN ? header->board : like);
    q->at[CQ_PREFETCH] = header->cq.has_prefetch ? header->cq.prefetch : board.prefetch;
    q->at[CQ_DISPATCH] = header->cq.has_dispatch ? header->cq.dispatch : board.dispatch;
    set_places(q, header, sysmem);
    q->sees_stores = (header->observes & NOCAP_CLASS_CORE_STORE) != 0;
    q->sees_loads = (header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
    q->sees_noc = noc_sees_requests(m);
    q->sees_sysmem = (header->observes & NOCAP_CLASS_SYSMEM) != 0;
    q->intruder.addr = UINT64_MAX;
    if (!allocate(q)) {
        free_queue(q);
        return NULL;
    }
    cq_restart(q, header->complete == NOCAP_TRUE && !m->dropped);
    return q;
}

static bool begin(struct model *m, uint16_t chip, enum nocap_board like, uint64_t sysmem)
{
    m->state[MODEL_CQ] = new_queue(m, chip, like, sysmem);
    m->out_of_memory |= cq_first(m) == NULL;
    return cq_first(m) != NULL;
}

bool cq_init(struct model *m)
{
    const struct nocap_header *header = m->header;
    bool named = header->cq.has_prefetch || header->cq.has_dispatch;
    bool observed = (header->observes & (NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST)) != 0;
    if (!m->knows_tiles || m->queue_unexplained ||
        (!named && (!observed || header->board == NOCAP_BOARD_UNKNOWN))) {
        return true;
    }
    return begin(m, 0, header->board, sysmem_of(m));
}

/* The host tells the prefetcher where the records begin. Where nobody says whose queue it is, they
 * must begin where the default has them: others have the same pointers. */
static bool sets_up(const struct model *m, const struct nocap_event *e)
{
    const struct nocap_queue *n = &m->profile->queue;
    bool anywhere = m->header->profile != NULL && !m->header->cq.has_sysmem;
    return e->kind == NOCAP_EV_WRITE && (e->has & NOCAP_F_VALUE) != 0 && e->size == 4 &&
           e->addr == n->pcie_ptr_echo &&
           (anywhere ? e->value >= n->issue : e->value == (uint32_t)(sysmem_of(m) + n->issue));
}

bool cq_begins(const struct model *m, const struct nocap_event *e)
{
    const uint32_t observed = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST;
    const bool restates = (e->has & NOCAP_F_SEQ) != 0 && e->op == NOCAP_OP_RECORD &&
                          (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    return m->knows_tiles && (m->header->observes & observed) != 0 &&
           (e->kind == NOCAP_EV_CQ ? !restates : sets_up(m, e));
}

/* A capture that knew neither board nor queue: the set-up says where the prefetcher is, or the
 * first record where nobody shows the store to its slot. A set-up with other numbers is not of this
 * profile. */
static bool begins_here(struct model *m, const struct nocap_event *e)
{
    enum nocap_board like = NOCAP_BOARD_P100;
    if (!cq_begins(m, e)) {
        return false;
    }
    if ((e->has & NOCAP_F_AT) != 0 && (e->kind == NOCAP_EV_WRITE || e->op == NOCAP_OP_RECORD)) {
        while (like < NOCAP_BOARD_COUNT && !nocap_xy_equal(tiles_of(m, like).prefetch, e->at)) {
            like++;
        }
    }
    uint64_t sysmem = e->kind == NOCAP_EV_WRITE ? e->value - m->profile->queue.issue : sysmem_of(m);
    return like < NOCAP_BOARD_COUNT && begin(m, e->chip, like, sysmem);
}

void cq_free(struct model *m)
{
    while (cq_first(m) != NULL) {
        struct cq *q = cq_first(m);
        m->state[MODEL_CQ] = q->next;
        free_queue(q);
    }
}

/* NULL: there are too many to follow. */
static struct cq *get_queue(struct model *m, uint16_t chip)
{
    struct cq **place = &cq_first(m)->next;
    for (uint32_t i = 1; i < QUEUES; i++, place = &(*place)->next) {
        if (*place == NULL) {
            *place = new_queue(m, chip, cq_first(m)->like, sysmem_of(m));
            m->out_of_memory |= *place == NULL;
            if (*place != NULL) {
                (*place)->number = i;
            }
            return *place;
        }
        if ((*place)->chip == chip) {
            return *place;
        }
    }
    return NULL;
}

struct cq *cq_get(struct model *m, const struct nocap_event *e)
{
    if (cq_first(m) == NULL && !begins_here(m, e)) {
        return NULL;
    }
    return cq_first(m)->chip == e->chip ? cq_first(m) : get_queue(m, e->chip);
}

bool cq_is_of_other(const struct cq *q, const struct nocap_event *e)
{
    return e->op == NOCAP_OP_RECORD && (e->has & NOCAP_F_AT) != 0 &&
           !nocap_xy_equal(e->at, q->at[CQ_PREFETCH]);
}
