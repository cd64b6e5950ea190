/* SPDX-License-Identifier: Apache-2.0 */
/* The command queue of each chip: where it is, when it comes into sight; further ones beside it. */
#include "replay/cq/cq_private.h"

#include <stdlib.h>

#include "formats/blackhole/cq_layout.h"

static void free_queue(struct cq *q)
{
    if (q != NULL) {
        free(q->records);
        cq_arena_free(&q->bytes);
        free(q->host.slots);
        free(q->ring.page);
        free(q->subordinate.page);
        free(q->completion.page_id);
        free(q->timestamps.slots);
        free(q->host.spans);
        cq_arena_free(&q->host.heads);
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
        .timings = {n->timestamps + n->timestamp_slots * n->timestamp_stride,
                    shift_of(n->timestamp_stride), n->timestamp_slots},
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
    }
}

void cq_renumber(struct cq *q, const struct nocap_queue *numbers, uint64_t sysmem)
{
    q->own = *numbers;
    q->numbers = &q->own;
    set_places(q, q->m->header, sysmem);
    cq_publish_facts(q);
    cq_restart(q, q->m->header->complete == NOCAP_TRUE && !q->m->dropped);
}

void cq_place_core(struct cq *q, enum cq_core core, struct nocap_xy at)
{
    q->at[core] = at;
    q->sees[core] = !nocap_xy_equal(at, CQ_NOWHERE) && nocap_header_in_scope(q->m->header, at);
    if (core == CQ_DISPATCH && !q->subordinate_shown) {
        q->subordinate_at = at;
    }
    cq_publish_facts(q);
}

void cq_place_subordinate(struct cq *q, struct nocap_xy at)
{
    bool free = cq_is_worker(q, at) && !cq_set_has(&q->program.list, at);
    if (q->numbers->dispatchers > 1 && !q->subordinate_shown &&
        !nocap_xy_equal(q->at[CQ_PREFETCH], CQ_NOWHERE) &&
        (free || nocap_xy_equal(at, q->at[CQ_DISPATCH]))) {
        q->subordinate_shown = true;
        q->subordinate_at = at;
        q->sees[CQ_DISPATCH] &= nocap_header_in_scope(q->m->header, at);
        cq_publish_facts(q);
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
    q->host.spans = calloc(CQ_SPANS, sizeof *q->host.spans);
    q->host.slots = calloc(places->slots.units, sizeof *q->host.slots);
    q->ring.page = calloc(places->buffer.units, sizeof *q->ring.page);
    q->subordinate.page = calloc(places->subordinate.units + 1, sizeof *q->subordinate.page);
    q->completion.page_id = calloc(places->completion.units, sizeof *q->completion.page_id);
    q->timestamps.slots = calloc(2 * places->stamps.units + 1, sizeof *q->timestamps.slots);
    return q->records != NULL && q->host.spans != NULL && q->host.slots != NULL &&
           q->ring.page != NULL && q->subordinate.page != NULL && q->completion.page_id != NULL &&
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
    q->several = q->numbers->queues_most > 1;
    q->alone = true;
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

/* After those that there are, on tiles that are not known yet; NULL: there are too many, or no
 * memory. */
static struct cq *append(struct model *m, uint16_t chip, enum nocap_board like, uint64_t sysmem)
{
    struct cq **place = (struct cq **)&m->state[MODEL_CQ];
    uint32_t number = 0;
    for (; *place != NULL; place = &(*place)->next) {
        number++;
    }
    *place = number < QUEUES ? new_queue(m, chip, like, sysmem) : NULL;
    m->out_of_memory |= *place == NULL && number < QUEUES;
    if (*place != NULL) {
        (*place)->number = number;
        cq_place_core(*place, CQ_PREFETCH, CQ_NOWHERE);
        cq_place_core(*place, CQ_DISPATCH, CQ_NOWHERE);
    }
    return *place;
}

struct cq *cq_add(struct cq *first)
{
    struct cq *q = append(first->m, first->chip, first->like, first->sysmem);
    if (q != NULL) {
        q->alone = first->alone = false;
    }
    return q;
}

/* The first queue of a chip. */
static struct cq *begin(struct model *m, uint16_t chip, enum nocap_board like, uint64_t sysmem)
{
    const struct nocap_header *header = m->header;
    struct nocap_cq_board board =
        tiles_of(m, header->board != NOCAP_BOARD_UNKNOWN ? header->board : like);
    struct cq *q = append(m, chip, like, sysmem);
    if (q != NULL) {
        cq_place_core(q, CQ_PREFETCH,
                      header->cq.has_prefetch ? header->cq.prefetch : board.prefetch);
        cq_place_core(q, CQ_DISPATCH,
                      header->cq.has_dispatch ? header->cq.dispatch : board.dispatch);
    }
    return q;
}

bool cq_init(struct model *m)
{
    const struct nocap_header *header = m->header;
    bool named = header->cq.has_prefetch || header->cq.has_dispatch;
    bool observed = (header->observes & (NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST)) != 0 &&
                    m->profile->queue.p100_x != 0; /* else the host chooses tiles */
    if (!m->knows_tiles || m->queue_unexplained ||
        (!named && (!observed || header->board == NOCAP_BOARD_UNKNOWN))) {
        return true;
    }
    return begin(m, 0, header->board, sysmem_of(m)) != NULL;
}

/* The host tells the prefetcher where the records begin. Where nothing says whose queue it is, they
 * must begin where the default has them: others have the same pointers. */
static bool sets_up(const struct model *m, const struct nocap_event *e)
{
    const struct nocap_queue *n = &m->profile->queue;
    bool anywhere = m->header->profile != NULL && !m->header->cq.has_sysmem;
    uint32_t word;
    return e->kind == NOCAP_EV_WRITE && e->size == 4 && e->addr == n->pcie_ptr_echo &&
           nocap_event_word(e, &word) &&
           (anywhere ? word >= n->issue : word == (uint32_t)(sysmem_of(m) + n->issue));
}

bool cq_may_begin(const struct model *m)
{
    const uint32_t shown = NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST;
    return m->header->profile != NULL || (m->header->observes & shown) != 0;
}

bool cq_begins(const struct model *m, const struct nocap_event *e)
{
    const bool restates = (e->has & NOCAP_F_SEQ) != 0 && e->op == NOCAP_OP_RECORD &&
                          (m->header->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    return m->knows_tiles && cq_may_begin(m) &&
           (e->kind == NOCAP_EV_CQ ? !restates : sets_up(m, e));
}

/* A capture that knew neither board nor queue: the set-up says where the prefetcher is, or the
 * first record where the trace does not show the store to its slot. A set-up with other numbers is
 * not of this profile, nor one at another tile, if the host does not choose it. */
static bool begins_here(struct model *m, const struct nocap_event *e)
{
    const struct nocap_queue *n = &m->profile->queue;
    enum nocap_board like = NOCAP_BOARD_P100;
    if (!cq_begins(m, e)) {
        return false;
    }
    bool placed =
        (e->has & NOCAP_F_AT) != 0 && (e->kind == NOCAP_EV_WRITE || e->op == NOCAP_OP_RECORD);
    while (placed && like < NOCAP_BOARD_COUNT &&
           !nocap_xy_equal(tiles_of(m, like).prefetch, e->at)) {
        like++;
    }
    bool chosen = like == NOCAP_BOARD_COUNT && n->p100_x == 0;
    if (like == NOCAP_BOARD_COUNT && !chosen) {
        return false;
    }
    uint32_t word;
    bool said = e->kind == NOCAP_EV_WRITE && nocap_event_word(e, &word);
    uint64_t sysmem = said ? word - n->issue : sysmem_of(m);
    struct cq *q = begin(m, e->chip, chosen ? NOCAP_BOARD_P100 : like, sysmem);
    if (q != NULL && chosen) {
        cq_place_core(q, CQ_PREFETCH, e->at);
        cq_place_core(q, CQ_DISPATCH, CQ_NOWHERE);
    }
    return q != NULL;
}

void cq_free(struct model *m)
{
    while (cq_first(m) != NULL) {
        struct cq *q = cq_first(m);
        m->state[MODEL_CQ] = q->next;
        free_queue(q);
    }
}

struct cq *cq_get(struct model *m, const struct nocap_event *e)
{
    if (cq_first(m) == NULL && !begins_here(m, e)) {
        return NULL;
    }
    struct cq *q = cq_first(m);
    while (q != NULL && q->chip != e->chip) {
        q = q->next;
    }
    return q != NULL ? q : begin(m, e->chip, cq_first(m)->like, sysmem_of(m));
}

bool cq_is_of_other(struct cq *q, const struct nocap_event *e)
{
    if ((e->has & NOCAP_F_AT) == 0 || cq_is_core(q, e->at)) {
        return e->op == NOCAP_OP_RECORD && (e->has & NOCAP_F_AT) != 0 &&
               !nocap_xy_equal(e->at, q->at[CQ_PREFETCH]);
    }
    q->passes |= e->op != NOCAP_OP_CREDIT; /* .. or it is a wrong one of this queue's */
    return q->passes;
}
