/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the simulated command queue, one function a kind. Each shows itself only where the view
 * of the trace has its class. A single struct is used again for each, so that none costs an
 * allocation. */
#include <string.h>

#include "capture/sim/cq_machine.h"

enum { LAST_POLLS = 400000 }; /* cycles that the trace goes on when nothing happens any more */

struct nocap_event *sim_cq_event(struct sim_cq *q, enum nocap_kind kind)
{
    struct nocap_event *e = &q->event;
    memset(e, 0, sizeof *e);
    e->t = q->now;
    e->kind = (uint8_t)kind;
    return e;
}

void sim_cq_emit(struct sim_cq *q)
{
    if (q->status == NOCAP_OK) {
        q->status = q->sink(q->context, &q->event, q->err);
    }
}

uint64_t sim_cq_seq(struct sim_cq *q)
{
    bool both = sim_cq_shows(q, NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST) &&
                sim_cq_shows(q, NOCAP_CLASS_HOST_MMIO);
    return both ? ++q->next_seq : 0;
}

static struct nocap_event *access_event(struct sim_cq *q, enum nocap_kind kind, enum nocap_agent by,
                                        uint32_t addr, uint32_t size)
{
    struct nocap_event *e = sim_cq_event(q, kind);
    e->by = (uint8_t)by;
    e->addr = addr;
    e->size = size;
    e->has = NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE;
    return e;
}

static void set_tile(struct nocap_event *e, struct nocap_xy at)
{
    e->at = at;
    e->has |= NOCAP_F_AT;
}

static void set_value(struct nocap_event *e, uint64_t value)
{
    e->value = value;
    e->has |= NOCAP_F_VALUE;
}

static void set_seq(struct nocap_event *e, uint64_t seq)
{
    if (seq != 0) {
        e->seq = seq;
        e->has |= NOCAP_F_SEQ;
    }
}

static void set_data(struct nocap_event *e, const uint8_t *data, uint32_t size)
{
    e->data = data;
    e->data_size = size;
    e->has |= NOCAP_F_DATA;
}

/* A payload as far as the trace shows it: whole, or head and hash. Of a record the head reaches
 * over header and sub-commands. */
static void set_payload(struct nocap_event *e, const uint8_t *data, uint32_t size)
{
    struct nocap_cq_record record;
    if (size <= CQ_SHOWN) {
        set_data(e, data, size);
        return;
    }
    uint64_t head = CQ_TEXT_HEAD;
    if (nocap_cq_decode_record(data, size, &record) && record.has_dispatch) {
        head = NOCAP_CQ_HEADER + nocap_cq_data_offset(&record.dispatch);
    }
    e->hash = nocap_fnv1a64(NOCAP_FNV1A64_START, data, size);
    e->data = data;
    e->data_size = head < CQ_SHOWN ? (uint32_t)head : CQ_SHOWN;
    e->has |= NOCAP_F_HASH | NOCAP_F_HEAD;
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
        struct nocap_event *e = access_event(q, NOCAP_EV_WRITE, by, addr, size);
        set_tile(e, at);
        set_value(e, value);
        sim_cq_emit(q);
    }
}

void sim_cq_emit_load(struct sim_cq *q, struct nocap_xy at, uint32_t addr, uint32_t size,
                      uint64_t value, const uint8_t *data)
{
    if (is_observed(q, addr, true)) {
        struct nocap_event *e = access_event(q, NOCAP_EV_READ, NOCAP_BY_BRISC, addr, size);
        set_tile(e, at);
        if (data != NULL) {
            set_data(e, data, size);
        } else {
            set_value(e, value);
        }
        set_seq(e, q->load_seq);
        sim_cq_emit(q);
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

static uint32_t value_at(const struct sim_cq *q, const struct cq_place *p)
{
    if (p->space == NOCAP_SPACE_SYSMEM) {
        return sim_cq_load32(q->sysmem, p->addr);
    }
    if (p->addr >= NOCAP_L1_SIZE) {
        return q->dispatch
            .streams[(p->addr - NOCAP_BASE_STREAM) / NOCAP_STREAM_STRIDE - NOCAP_NOTIFY_STREAM];
    }
    const uint8_t *l1 = nocap_xy_equal(p->at, q->board.prefetch) ? q->prefetch_l1 : q->dispatch_l1;
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
        access_event(q, NOCAP_EV_READ, (enum nocap_agent)p->by, p->addr, p->size);
    set_value(e, value_at(q, p));
    if (p->space == NOCAP_SPACE_TILE) {
        set_tile(e, p->at);
    } else {
        e->space = p->space;
        e->has |= NOCAP_F_SPACE;
    }
    if (n > 1) {
        e->n = n;
        e->t2 = q->now + (n - 1) * p->period;
        e->has |= NOCAP_F_N | NOCAP_F_T2;
    }
    sim_cq_emit(q);
}

void sim_cq_emit_poll(struct sim_cq *q, const struct cq_place *place, bool fails)
{
    uint64_t next = sim_cq_peek(q);
    uint64_t n =
        fails && next != UINT64_MAX && next > q->now ? (next - q->now - 1) / place->period : 0;
    emit_polls(q, place, n + 1);
}

void sim_cq_emit_last_polls(struct sim_cq *q)
{
    q->now++;
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
    struct nocap_event *e = access_event(q, NOCAP_EV_WRITE, NOCAP_BY_HOST, addr, size);
    set_tile(e, at);
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
            set_data(e, data, size);
        } else {
            set_value(e, value);
        }
        set_seq(e, seq);
        sim_cq_emit(q);
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
        e->hash = hash;
        e->data = head;
        e->data_size = sizeof head;
        e->has |= NOCAP_F_HASH | NOCAP_F_HEAD;
        sim_cq_emit(q);
    }
}

void sim_cq_emit_sysmem(struct sim_cq *q, enum nocap_kind kind, enum nocap_agent by, uint32_t addr,
                        uint32_t size, const uint8_t *data)
{
    if (sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        struct nocap_event *e = access_event(q, kind, by, addr, size);
        e->space = NOCAP_SPACE_SYSMEM;
        e->has |= NOCAP_F_SPACE;
        if (data != NULL) {
            set_payload(e, data, size);
        }
        sim_cq_emit(q);
    }
}

void sim_cq_emit_sysmem_word(struct sim_cq *q, enum nocap_kind kind, uint32_t addr, uint32_t value)
{
    if (sim_cq_shows(q, NOCAP_CLASS_SYSMEM)) {
        struct nocap_event *e = access_event(q, kind, NOCAP_BY_HOST, addr, 4);
        e->space = NOCAP_SPACE_SYSMEM;
        e->has |= NOCAP_F_SPACE;
        set_value(e, value);
        sim_cq_emit(q);
    }
}

void sim_cq_emit_mem(struct sim_cq *q, enum nocap_space space, struct nocap_xy at, uint32_t addr,
                     const uint8_t *data, uint32_t size)
{
    struct nocap_event *e = sim_cq_event(q, NOCAP_EV_MEM);
    e->addr = addr;
    e->has = NOCAP_F_ADDR;
    if (space == NOCAP_SPACE_TILE) {
        set_tile(e, at);
    } else {
        e->space = (uint8_t)space;
        e->has |= NOCAP_F_SPACE;
    }
    set_data(e, data, size);
    sim_cq_emit(q);
}

/* ---- records as units ---- */

struct nocap_event *sim_cq_unit(struct sim_cq *q, enum nocap_op op)
{
    struct nocap_event *e = sim_cq_event(q, NOCAP_EV_CQ);
    e->op = (uint8_t)op;
    return e;
}

void sim_cq_emit_unit(struct sim_cq *q, enum nocap_op op, uint32_t addr, uint32_t size,
                      uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, op);
        e->addr = addr;
        e->has |= NOCAP_F_ADDR;
        if (op == NOCAP_OP_EXEC) {
            set_data(e, q->dispatch.header, size);
        } else if (op != NOCAP_OP_DONE) {
            e->size = size;
            e->has |= NOCAP_F_SIZE;
        }
        set_seq(e, seq);
        sim_cq_emit(q);
    }
}

void sim_cq_emit_read(struct sim_cq *q, enum nocap_op op, const struct cq_read *read, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, op);
        e->slot_index = read->slot;
        e->addr = read->offset;
        e->size = read->size;
        e->has |= NOCAP_F_SLOT | NOCAP_F_ADDR | NOCAP_F_SIZE;
        set_seq(e, seq);
        sim_cq_emit(q);
    }
}

void sim_cq_emit_credit(struct sim_cq *q, enum nocap_agent by, struct nocap_xy at, uint32_t pages,
                        uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ)) {
        struct nocap_event *e = sim_cq_unit(q, NOCAP_OP_CREDIT);
        set_tile(e, at);
        e->by = (uint8_t)by;
        e->has |= NOCAP_F_SEM | NOCAP_F_BY;
        set_value(e, pages);
        set_seq(e, seq);
        sim_cq_emit(q);
    }
}

void sim_cq_emit_record(struct sim_cq *q, uint32_t slot, uint32_t entry, uint32_t addr,
                        uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_CQ | NOCAP_CLASS_CQ_HOST)) {
        struct nocap_event *e = sim_cq_unit(q, NOCAP_OP_RECORD);
        e->slot_index = slot;
        e->entry = entry;
        e->addr = addr;
        e->size = q->record_size;
        e->has |= NOCAP_F_SLOT | NOCAP_F_ENTRY | NOCAP_F_ADDR | NOCAP_F_SIZE;
        set_payload(e, q->sysmem + addr, q->record_size);
        set_seq(e, seq);
        sim_cq_emit(q);
    }
}
