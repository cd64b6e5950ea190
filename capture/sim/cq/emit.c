/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the simulated command queue, one function a kind. Each shows itself only where the view
 * of the trace has its class. */
#include <string.h>

#include "capture/sim/cq/machine.h"

enum { LAST_POLLS = 400000 }; /* cycles that the trace goes on when nothing happens any more */

uint64_t sim_cq_seq(struct sim_cq *q)
{
    bool both = sim_cq_shows(q, NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST) &&
                sim_cq_shows(q, NOCAP_CLASS_HOST_MMIO);
    return both ? ++q->next_seq : 0;
}

/* A payload as far as the trace shows it: whole, or head and hash. Of a record the head reaches
 * over header and sub-commands; an entry with several is shown whole. */
static void set_payload(const struct sim_cq *q, struct nocap_event *e, const uint8_t *data,
                        uint32_t size)
{
    struct nocap_cq_record record;
    if (size <= CQ_SHOWN || q->entry_records > 1) {
        sim_set_data(e, data, size);
        return;
    }
    uint64_t head = CQ_TEXT_HEAD;
    if (nocap_cq_decode_record_by(q->set, data, size, &record) && record.has_dispatch) {
        head = NOCAP_CQ_HEADER + nocap_cq_data_offset(&record.dispatch);
    }
    sim_set_head(e, nocap_fnv1a64(NOCAP_FNV1A64_START, data, size), data,
                 head < CQ_SHOWN ? (uint32_t)head : CQ_SHOWN);
}

/* ---- the cores ---- */

static bool is_observed(const struct sim_cq *q, uint32_t addr, bool load)
{
    if (load) {
        return sim_cq_shows(q, NOCAP_CLASS_CORE_LOAD);
    }
    return sim_cq_shows(q, addr < NOCAP_L1_SIZE ? NOCAP_CLASS_CORE_STORE : NOCAP_CLASS_CORE_MMIO);
}

void sim_cq_emit_store(struct sim_cq *q, struct nocap_xy at, enum nocap_agent by, uint32_t addr,
                       uint32_t size, uint64_t value)
{
    if (is_observed(q, addr, false)) {
        struct nocap_event *e = sim_access(&q->k, NOCAP_EV_WRITE, by, addr, size);
        sim_set_tile(e, at);
        sim_set_value(e, value);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_load_by(struct sim_cq *q, struct nocap_xy at, enum nocap_agent by, uint32_t addr,
                         uint32_t size, uint64_t value, const uint8_t *data)
{
    if (is_observed(q, addr, true)) {
        struct nocap_event *e = sim_access(&q->k, NOCAP_EV_READ, by, addr, size);
        sim_set_tile(e, at);
        if (data != NULL) {
            sim_set_data(e, data, size);
        } else {
            sim_set_value(e, value);
        }
        sim_set_seq(e, q->load_seq);
        sim_emit(&q->k, e);
    }
    q->load_seq = 0;
}

/* ---- polls ---- */

const struct cq_place *sim_cq_tile_place(struct cq_agent *a, struct nocap_xy at,
                                         enum nocap_agent by, uint32_t addr, uint8_t size,
                                         uint32_t period)
{
    a->wanted = (struct cq_place){at, NOCAP_SPACE_TILE, (uint8_t)by, size, addr, period};
    return &a->wanted;
}

const struct cq_place *sim_cq_sysmem_place(struct cq_agent *a, uint32_t addr, uint32_t period)
{
    a->wanted = (struct cq_place){{0, 0}, NOCAP_SPACE_SYSMEM, NOCAP_BY_HOST, 4, addr, period};
    return &a->wanted;
}

static uint32_t value_at(struct sim_cq *q, const struct cq_place *p)
{
    if (p->space == NOCAP_SPACE_SYSMEM) {
        return sim_cq_load32(q->sysmem, p->addr);
    }
    if (p->addr >= NOCAP_L1_SIZE) {
        return sim_cq_streams(
            q, p->at)[(p->addr - NOCAP_BASE_STREAM) / NOCAP_STREAM_STRIDE - q->n->first_stream];
    }
    const uint8_t *l1 = sim_cq_l1(q, p->at);
    return p->size == 2 ? sim_cq_load16(l1, p->addr) : sim_cq_load32(l1, p->addr);
}

static bool shows_poll(const struct sim_cq *q, const struct cq_place *p)
{
    if (p->space == NOCAP_SPACE_SYSMEM) {
        return sim_cq_shows(q, NOCAP_CLASS_SYSMEM);
    }
    return p->by == NOCAP_BY_HOST ? sim_cq_shows(q, NOCAP_CLASS_HOST_MMIO)
                                  : is_observed(q, p->addr, true);
}

static void emit_polls(struct sim_cq *q, const struct cq_place *p, uint64_t n)
{
    if (!shows_poll(q, p)) {
        return;
    }
    struct nocap_event *e =
        sim_access(&q->k, NOCAP_EV_READ, (enum nocap_agent)p->by, p->addr, p->size);
    sim_set_value(e, value_at(q, p));
    if (p->space == NOCAP_SPACE_TILE) {
        sim_set_tile(e, p->at);
    } else {
        sim_set_space(e, (enum nocap_space)p->space);
        e->addr += sim_cq_offset(q);
    }
    sim_set_repeats(e, n, p->period);
    sim_emit(&q->k, e);
}

void sim_cq_emit_poll(struct sim_cq *q, const struct cq_place *place, bool fails)
{
    uint64_t next = sim_peek(&q->k), other = q->peer != NULL ? sim_peek(&q->peer->k) : next;
    next = next < other ? next : other;
    uint64_t n =
        fails && next != UINT64_MAX && next > q->k.now ? (next - q->k.now - 1) / place->period : 0;
    emit_polls(q, place, n + 1);
}

void sim_cq_emit_last_polls(struct sim_cq *q)
{
    q->k.now++;
    for (uint32_t i = 0; i < q->agents; i++) {
        const struct cq_agent *a = &q->agent[i];
        if (a->watch != 0 && a->poll.size != 0) {
            emit_polls(q, &a->poll, LAST_POLLS / a->poll.period);
        }
    }
}

/* ---- the host ---- */

static struct nocap_event *host_event(struct sim_cq *q, struct nocap_xy at, uint32_t addr,
                                      uint32_t size)
{
    struct nocap_event *e = sim_access(&q->k, NOCAP_EV_WRITE, NOCAP_BY_HOST, addr, size);
    sim_set_tile(e, at);
    e->order = NOCAP_ORDER_STRICT;
    e->map = NOCAP_MAP_UC;
    e->has |= NOCAP_F_NOC | NOCAP_F_ORDER | NOCAP_F_MAP;
    return e;
}

void sim_cq_emit_host_tile(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size,
                           uint32_t value, const uint8_t *data, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_HOST_MMIO)) {
        struct nocap_event *e = host_event(q, at, addr, size);
        if (data != NULL) {
            sim_set_data(e, data, size);
        } else {
            sim_set_value(e, value);
        }
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_host_text(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size)
{
    if (sim_cq_shows(q, NOCAP_CLASS_HOST_MMIO)) {
        /* `addi x0, x0, n`, over and over */
        const uint8_t word[4] = {0x13, at.y, 0x00, 0x00};
        uint8_t head[CQ_TEXT_HEAD];
        uint64_t hash = NOCAP_FNV1A64_START;
        struct nocap_event *e = host_event(q, at, addr, size);
        for (uint32_t i = 0; i < size; i += sizeof word) {
            hash = nocap_fnv1a64(hash, word, sizeof word);
            if (i < sizeof head) {
                memcpy(head + i, word, sizeof word);
            }
        }
        sim_set_head(e, hash, head, sizeof head);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_sysmem(struct sim_cq *q, enum nocap_kind kind, enum nocap_agent by, uint32_t addr,
                        uint32_t size, const uint8_t *data)
{
    if (sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        struct nocap_event *e = sim_access(&q->k, kind, by, addr + sim_cq_offset(q), size);
        sim_set_space(e, NOCAP_SPACE_SYSMEM);
        if (data != NULL) {
            set_payload(q, e, data, size);
        }
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_sysmem_word(struct sim_cq *q, enum nocap_kind kind, uint32_t addr, uint32_t value)
{
    if (sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        struct nocap_event *e = sim_access(&q->k, kind, NOCAP_BY_HOST, addr + sim_cq_offset(q), 4);
        sim_set_space(e, NOCAP_SPACE_SYSMEM);
        sim_set_value(e, value);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_mem(struct sim_cq *q, enum nocap_space space, struct nocap_xy at, uint32_t addr,
                     const uint8_t *data, uint32_t size)
{
    struct nocap_event *e = sim_event(&q->k, NOCAP_EV_MEM);
    e->addr = addr;
    e->has = NOCAP_F_ADDR;
    if (space == NOCAP_SPACE_TILE) {
        sim_set_tile(e, at);
    } else {
        sim_set_space(e, space);
        e->addr += sim_cq_offset(q);
    }
    sim_set_data(e, data, size);
    sim_emit(&q->k, e);
}

/* ---- records as units ---- */

/* Of several queues, and of dispatchers that are apart, the tile says which. */
static struct nocap_event *sim_cq_unit(struct sim_cq *q, enum nocap_op op, struct nocap_xy at)
{
    struct nocap_event *e = sim_event(&q->k, NOCAP_EV_CQ);
    e->op = (uint8_t)op;
    if (q->peer != NULL || sim_cq_is_apart(q)) {
        sim_set_tile(e, at);
    }
    return e;
}

void sim_cq_emit_unit(struct sim_cq *q, enum nocap_op op, struct nocap_xy at, uint32_t addr,
                      uint32_t size, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, op, at);
        e->addr = addr;
        e->has |= NOCAP_F_ADDR;
        if (op != NOCAP_OP_DONE) {
            e->size = size;
            e->has |= NOCAP_F_SIZE;
        }
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_exec(struct sim_cq *q, struct nocap_xy at, uint32_t addr, const uint8_t *header,
                      uint32_t size, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, NOCAP_OP_EXEC, at);
        e->addr = addr;
        e->has |= NOCAP_F_ADDR;
        sim_set_data(e, header, size);
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_read(struct sim_cq *q, enum nocap_op op, const struct cq_read *read, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, op, q->board.prefetch);
        e->slot_index = read->slot;
        e->addr = read->offset;
        e->size = read->size;
        e->has |= NOCAP_F_SLOT | NOCAP_F_ADDR | NOCAP_F_SIZE;
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_credit(struct sim_cq *q, enum nocap_agent by, struct nocap_xy at,
                        uint32_t semaphore, uint32_t pages, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, NOCAP_OP_CREDIT, at);
        sim_set_tile(e, at);
        e->by = (uint8_t)by;
        e->sem = semaphore;
        e->has |= NOCAP_F_SEM | NOCAP_F_BY;
        sim_set_value(e, pages);
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_record(struct sim_cq *q, uint32_t slot, uint32_t entry, uint32_t addr,
                        uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST)) {
        struct nocap_event *e = sim_cq_unit(q, NOCAP_OP_RECORD, q->board.prefetch);
        e->slot_index = slot;
        e->entry = entry;
        e->addr = addr;
        e->size = q->entry_size;
        e->has |= NOCAP_F_SLOT | NOCAP_F_ENTRY | NOCAP_F_ADDR | NOCAP_F_SIZE;
        set_payload(q, e, q->sysmem + addr, q->entry_size);
        sim_set_seq(e, seq);
        sim_emit(&q->k, e);
    }
}
