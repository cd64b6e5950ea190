/* SPDX-License-Identifier: Apache-2.0 */
/* The networks of the simulated command queue: what goes out, when it arrives, what it does there.
 *
 * Packets of one initiator, destination and virtual channel keep their order; others may overtake
 * each other. What only the two queue tiles read changes when the request goes out, since no agent
 * looks at it before the counter that announces it, which travels after it. */
#include <string.h>

#include "capture/sim/cq/machine.h"

/* Cycles from the request to the landing, and from there to the acknowledgement: least, spread. */
static const struct {
    uint16_t least, spread, ack, ack_spread;
} latency[] = {
    [CQ_PACKET_READ] = {560, 380, 0, 1},     [CQ_PACKET_PUBLISH] = {50, 60, 0, 1},
    [CQ_PACKET_RELEASE] = {50, 60, 0, 1},    [CQ_PACKET_TILE] = {60, 120, 40, 60},
    [CQ_PACKET_HOST] = {260, 120, 120, 100}, [CQ_PACKET_NOTIFY] = {60, 120, 0, 1},
    [CQ_PACKET_COUNT] = {60, 120, 0, 1},
};
enum { MCAST_EXTRA = 140, SLOW_MCAST = 60000, SLOW_HOST = 40 };

static uint64_t pcie_address(const struct sim_cq *q, uint64_t offset)
{
    return q->n->pcie_address_bit | (q->n->sysmem + offset);
}

static struct cq_packet *new_packet(struct sim_cq *q, enum cq_packet_kind kind)
{
    struct cq_packet *p = &q->packet[q->free_packet];
    q->free_packet = p->next;
    q->packets_out++;
    memset(p, 0, offsetof(struct cq_packet, data));
    p->kind = (uint8_t)kind;
    p->by = NOCAP_BY_BRISC;
    p->id = ++q->next_id;
    return p;
}

static void free_packet(struct sim_cq *q, struct cq_packet *p)
{
    p->next = q->free_packet;
    q->free_packet = (uint16_t)(p - q->packet);
    q->packets_out--;
}

static void schedule(struct sim_cq *q, const struct cq_packet *p, uint64_t t)
{
    sim_arm(&q->k, (uint16_t)(CQ_AGENTS_MAX + (p - q->packet)), t);
}

/* `channel` -1: in no order. */
static void send(struct sim_cq *q, struct cq_packet *p, int channel, uint32_t extra)
{
    uint64_t t =
        q->k.now + latency[p->kind].least + extra + sim_below(&q->k, latency[p->kind].spread);
    if (channel >= 0) {
        uint64_t *last = &q->lands_last[channel];
        t = t > *last ? t : *last + 1;
        *last = t;
    }
    schedule(q, p, t);
}

static struct nocap_event *request(struct sim_cq *q, const struct cq_packet *p, enum nocap_op op,
                                   uint32_t noc, uint8_t buffer)
{
    struct nocap_event *e = sim_event(&q->k, NOCAP_EV_NOC);
    e->op = (uint8_t)op;
    e->by = p->by;
    e->at = p->from;
    e->noc = (uint8_t)noc;
    e->buf = buffer;
    e->id = p->id;
    e->size = p->size;
    e->has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_NOC | NOCAP_F_BUF | NOCAP_F_ID | NOCAP_F_SIZE |
             NOCAP_F_D | NOCAP_F_DADDR;
    sim_set_seq(e, p->seq);
    return e;
}

static void set_source(struct nocap_event *e, struct nocap_xy at, uint64_t addr)
{
    e->s = at;
    e->saddr = addr;
    e->has |= NOCAP_F_S | NOCAP_F_SADDR;
}

static void set_bytes(struct nocap_event *e, const uint8_t *data, uint32_t size)
{
    if (size <= CQ_SHOWN) {
        sim_set_data(e, data, size);
    }
}

static void emit_phase(struct sim_cq *q, struct nocap_xy at, uint32_t noc, enum nocap_op op,
                       enum nocap_phase phase, uint64_t id, uint64_t seq)
{
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        struct nocap_event *e = sim_event(&q->k, NOCAP_EV_NOC);
        e->op = (uint8_t)op;
        e->by = NOCAP_BY_BRISC;
        e->at = at;
        e->noc = (uint8_t)noc;
        e->phase = (uint8_t)phase;
        e->id = id;
        e->seq = seq;
        e->has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_NOC | NOCAP_F_PHASE | NOCAP_F_ID |
                 (seq != 0 ? NOCAP_F_SEQ : 0);
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_sent(struct sim_cq *q, struct nocap_xy at, uint32_t noc, uint64_t id)
{
    emit_phase(q, at, noc, NOCAP_OP_WRITE, NOCAP_PHASE_SENT, id, 0);
}

/* ---- the prefetcher ---- */

void sim_cq_send_read(struct sim_cq *q, uint32_t offset, uint32_t l1, uint32_t size, uint64_t seq,
                      bool last)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_READ);
    p->read = q->prefetch.read;
    p->last = last;
    p->addr = offset;
    p->l1 = l1;
    p->size = size;
    p->seq = seq;
    p->from = q->board.prefetch;
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        struct nocap_event *e = request(q, p, NOCAP_OP_READ, q->n->noc_upstream, 1);
        set_source(e, sim_cq_pcie_tile(q), pcie_address(q, offset));
        e->d = p->from;
        e->daddr = l1;
        sim_emit(&q->k, e);
    }
    send(q, p, CQ_CHANNEL_READ, 0);
}

void sim_cq_send_gather(struct sim_cq *q, uint64_t addr, uint32_t l1, uint32_t size)
{
    const struct cq_packet p = {
        .id = ++q->next_id, .by = NOCAP_BY_BRISC, .size = size, .from = q->board.prefetch};
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        struct nocap_event *e = request(q, &p, NOCAP_OP_READ, q->n->noc_upstream, 1);
        set_source(e, sim_cq_dram_tile(), addr);
        e->d = p.from;
        e->daddr = l1;
        sim_emit(&q->k, e);
    }
}

void sim_cq_emit_gathered(struct sim_cq *q)
{
    emit_phase(q, q->board.prefetch, q->n->noc_upstream, NOCAP_OP_READ, NOCAP_PHASE_DONE,
               q->next_id, 0);
}

uint64_t sim_cq_send_relay(struct sim_cq *q, uint32_t from, struct nocap_xy at, uint32_t to,
                           uint32_t size)
{
    const struct cq_packet p = {.id = ++q->next_id,
                                .by = NOCAP_BY_BRISC,
                                .size = size,
                                .from = q->board.prefetch,
                                .seq = sim_cq_seq(q)};
    memcpy(sim_cq_l1(q, at) + to, q->prefetch_l1 + from, size);
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        struct nocap_event *e = request(q, &p, NOCAP_OP_WRITE, q->n->noc_upstream, 0);
        set_source(e, p.from, from);
        e->d = at;
        e->daddr = to;
        set_bytes(e, q->prefetch_l1 + from, size);
        sim_emit(&q->k, e);
    }
    sim_cq_emit_unit(q, NOCAP_OP_RELAY, p.from, to, size, p.seq);
    return p.id;
}

/* To a semaphore of one of the two tiles; those that count pages are credits. */
static void send_atomic(struct sim_cq *q, struct cq_packet *p, struct nocap_xy to, uint32_t noc,
                        uint32_t semaphore)
{
    bool to_prefetch = nocap_xy_equal(to, q->board.prefetch);
    p->to = to;
    p->addr = sim_cq_semaphore(q->n, semaphore);
    p->size = 4;
    p->seq = sim_cq_seq(q);
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        uint8_t buffer = p->by == NOCAP_BY_NCRISC ? 2 : 3;
        struct nocap_event *e = request(q, p, NOCAP_OP_ATOMIC, noc, buffer);
        e->d = to;
        e->daddr = p->addr;
        e->value = p->value;
        e->has |= NOCAP_F_VALUE;
        sim_emit(&q->k, e);
    }
    if (!to_prefetch || semaphore != q->n->sync_semaphore) {
        sim_cq_emit_credit(q, to_prefetch ? NOCAP_BY_DISPATCH : NOCAP_BY_PREFETCH, to, semaphore,
                           p->value, p->seq);
    }
}

void sim_cq_send_publish(struct sim_cq *q, struct nocap_xy at, uint32_t semaphore, uint32_t pages)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_PUBLISH);
    p->value = pages;
    p->from = q->board.prefetch;
    send_atomic(q, p, at, q->n->noc_upstream, semaphore);
    send(q, p, CQ_CHANNEL_PUBLISH, 0);
}

/* ---- the dispatcher ---- */

void sim_cq_send_release(struct sim_cq *q, uint32_t semaphore, uint32_t pages)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_RELEASE);
    bool wrong_noc = semaphore == 0 && sim_cq_fault_due(q, NOCAP_SIM_FAULT_CREDIT_NOC_1);
    p->value = pages;
    p->from = q->board.dispatch;
    send_atomic(q, p, q->board.prefetch, wrong_noc ? q->n->noc_dispatch : q->n->noc_upstream,
                semaphore);
    send(q, p, CQ_CHANNEL_RELEASE, 0);
}

void sim_cq_send_subordinate_release(struct sim_cq *q, uint32_t pages)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_RELEASE);
    p->by = NOCAP_BY_NCRISC;
    p->value = pages;
    p->from = q->board.subordinate;
    send_atomic(q, p, q->board.prefetch, q->n->noc_dispatch, q->n->subordinate_free);
    send(q, p, CQ_CHANNEL_SUBORDINATE_RELEASE, 0);
}

/* A mailbox is kept; other bytes that land in a tile are not. */
static void keep_bytes(struct cq_packet *p, const uint8_t *bytes)
{
    if (p->size <= sizeof p->data) {
        memcpy(p->data, bytes, p->size);
    }
}

/* To a tile, or to a rectangle. */
static void emit_write(struct sim_cq *q, const struct cq_packet *p, uint32_t from)
{
    const uint8_t *l1 = sim_cq_l1(q, p->from);
    uint8_t buffer = p->by == NOCAP_BY_NCRISC ? 0 : 3;
    struct nocap_event *e = request(q, p, NOCAP_OP_WRITE, q->n->noc_dispatch, buffer);
    set_source(e, p->from, from);
    e->d = p->to;
    e->daddr = p->addr;
    e->vc = (uint8_t)(p->mcast ? q->n->vc_mcast : q->n->vc_unicast);
    e->has |= NOCAP_F_VC;
    if (p->mcast) {
        e->mcast = true;
        e->d2 = p->corner;
        e->has |= NOCAP_F_MCAST | NOCAP_F_D2;
    }
    if (p->mcast || p->size != 4) {
        set_bytes(e, l1 + from, p->size);
    } else {
        e->value = sim_cq_load32(l1, from);
        e->has |= NOCAP_F_VALUE;
    }
    sim_emit(&q->k, e);
}

static void send_write(struct sim_cq *q, struct cq_packet *p, uint32_t from, bool slow)
{
    p->from = p->by == NOCAP_BY_NCRISC ? q->board.subordinate : q->board.dispatch;
    keep_bytes(p, sim_cq_l1(q, p->from) + from);
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        emit_write(q, p, from);
    }
    if (p->mcast) {
        send(q, p, CQ_CHANNEL_MCAST, slow ? SLOW_MCAST : MCAST_EXTRA);
    } else {
        send(q, p, p->to.y % NOCAP_GRID_HEIGHT * NOCAP_GRID_WIDTH + p->to.x % NOCAP_GRID_WIDTH, 0);
    }
}

void sim_cq_send_tile(struct sim_cq *q, uint32_t from, uint32_t size)
{
    struct cq_dispatch *d = &q->dispatch;
    struct cq_packet *p = new_packet(q, CQ_PACKET_TILE);
    p->addr = d->addr;
    p->size = size;
    p->to = d->to;
    p->corner = d->corner;
    p->mcast = d->mcast;
    p->shows_done = d->mcast;
    d->issued++;
    send_write(q, p, from, q->slow_record != 0 && d->commands == q->slow_record);
}

void sim_cq_send_go(struct sim_cq *q, struct nocap_cq_rect to, bool mcast, uint32_t from)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_TILE);
    p->by = NOCAP_BY_NCRISC;
    p->addr = nocap_go_word_address(q->layout, 0);
    p->size = NOCAP_GO_WORD_SIZE;
    p->to = to.low;
    p->corner = to.high;
    p->mcast = p->shows_done = mcast;
    send_write(q, p, from, false);
}

uint64_t sim_cq_send_host(struct sim_cq *q, uint32_t from, uint64_t offset, uint32_t size,
                          bool shows_done)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_HOST);
    p->from = q->board.dispatch;
    p->addr = offset;
    p->size = size;
    p->shows_done = shows_done;
    keep_bytes(p, q->dispatch_l1 + from);
    q->dispatch.issued++;
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        struct nocap_event *e = request(q, p, NOCAP_OP_WRITE, q->n->noc_dispatch, 3);
        set_source(e, p->from, from);
        e->d = sim_cq_pcie_tile(q);
        e->daddr = pcie_address(q, offset);
        e->vc = (uint8_t)q->n->vc_unicast;
        e->has |= NOCAP_F_VC;
        set_bytes(e, q->dispatch_l1 + from, size);
        sim_emit(&q->k, e);
    }
    /* A fault: the event is overtaken by the pointer that announces it. */
    bool overtaken =
        size == q->n->event_bytes && sim_cq_fault_due(q, NOCAP_SIM_FAULT_POINTER_LANDS_FIRST);
    if (overtaken) {
        schedule(q, p, q->k.now + 2u * latency[CQ_PACKET_HOST].least + 2u * SLOW_HOST);
        q->quick_pointer = true;
    } else if (q->quick_pointer) {
        q->quick_pointer = false;
        schedule(q, p, q->k.now + 2u * latency[CQ_PACKET_HOST].least + SLOW_HOST);
    } else {
        send(q, p, CQ_CHANNEL_HOST, 0);
    }
    return p->id;
}

void sim_cq_send_launches(struct sim_cq *q, uint32_t stream, uint32_t launches)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_TILE);
    sim_cq_store32(q->dispatch_l1, SIM_CQ_INLINE, launches);
    p->addr = sim_cq_sync(q->n, stream);
    p->size = 4;
    p->to = q->board.subordinate;
    q->dispatch.issued++;
    send_write(q, p, SIM_CQ_INLINE, false);
}

/* ---- counters of notifies ---- */

static void send_inline(struct sim_cq *q, const struct cq_packet *p, bool posted)
{
    struct nocap_event *e =
        request(q, p, NOCAP_OP_INLINE, q->n->noc_dispatch, p->by == NOCAP_BY_NCRISC ? 1 : 2);
    e->posted = posted;
    e->d = p->to;
    e->daddr = p->addr;
    e->value = p->value;
    e->vc = (uint8_t)q->n->vc_unicast;
    e->has |= NOCAP_F_POSTED | NOCAP_F_VALUE | NOCAP_F_VC;
    sim_emit(&q->k, e);
}

void sim_cq_send_notify(struct sim_cq *q, struct cq_worker *w)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_NOTIFY);
    struct nocap_go_word go =
        nocap_go_decode(sim_cq_load32(w->l1, nocap_go_word_address(q->layout, 0)));
    p->from = w->at;
    p->to = (struct nocap_xy){go.master_x, go.master_y};
    p->addr = nocap_stream_address(q->n->first_stream + go.offset, NOCAP_STREAM_SPACE_UPDATE);
    p->size = 4;
    p->value = 1u << q->n->count_shift;
    if (w->observed && sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        send_inline(q, p, true);
    }
    send(q, p, -1, 0);
}

void sim_cq_send_count(struct sim_cq *q, uint32_t stream, uint32_t count)
{
    struct cq_packet *p = new_packet(q, CQ_PACKET_COUNT);
    p->by = NOCAP_BY_NCRISC;
    p->from = q->board.subordinate;
    p->to = q->board.dispatch;
    p->addr = nocap_stream_address(q->n->first_stream + stream,
                                   NOCAP_STREAM_TILES_RECEIVED); /* here: the size, which is set */
    p->size = 4;
    p->value = count;
    if (sim_cq_shows(q, NOCAP_CLASS_NOC)) {
        send_inline(q, p, false);
    }
    send(q, p, CQ_CHANNEL_COUNT, 0);
}

/* ---- arrival ---- */

static void read_lands(struct sim_cq *q, const struct cq_packet *p)
{
    memcpy(q->prefetch_l1 + p->l1, q->sysmem + p->addr, p->size);
    sim_cq_emit_sysmem(q, NOCAP_EV_READ, NOCAP_BY_DMA, (uint32_t)p->addr, p->size, NULL);
    uint64_t seq = p->last ? sim_cq_seq(q) : 0;
    emit_phase(q, p->from, q->n->noc_upstream, NOCAP_OP_READ, NOCAP_PHASE_DONE, p->id, seq);
    if (p->last) {
        q->prefetch.arrived++;
        sim_cq_emit_read(q, NOCAP_OP_LANDED, &p->read, seq);
        sim_cq_changed(q, CQ_WATCH_LANDED);
    }
}

static void counter_lands(struct sim_cq *q, const struct cq_packet *p)
{
    uint8_t *l1 = sim_cq_l1(q, p->to);
    sim_cq_store32(l1, (uint32_t)p->addr, sim_cq_load32(l1, (uint32_t)p->addr) + p->value);
}

static bool reaches(const struct cq_packet *p, struct nocap_xy at)
{
    return nocap_in_rectangle(p->to, p->mcast ? p->corner : p->to, at);
}

static void write_lands(struct sim_cq *q, const struct cq_packet *p)
{
    if (p->kind == CQ_PACKET_HOST) {
        memcpy(q->sysmem + p->addr, p->data, p->size);
        sim_cq_emit_sysmem(q, NOCAP_EV_WRITE, NOCAP_BY_DMA, (uint32_t)p->addr, p->size, p->data);
        if (p->addr == q->n->host_wr) {
            sim_cq_changed(q, CQ_WATCH_MIRROR);
        }
        return;
    }
    if (!p->mcast && nocap_xy_equal(p->to, q->board.subordinate)) {
        memcpy(sim_cq_l1(q, p->to) + p->addr, p->data, p->size);
        sim_cq_changed(q, CQ_WATCH_NOTIFIED);
        return;
    }
    if (p->addr + p->size > CQ_LOW_L1) {
        return;
    }
    for (uint32_t i = 0; i < q->workers; i++) {
        if (reaches(p, q->worker[i].at)) {
            sim_cq_write_worker(q, &q->worker[i], (uint32_t)p->addr, p->data, p->size);
        }
    }
}

static void notify_lands(struct sim_cq *q, const struct cq_packet *p)
{
    uint32_t stream =
        (uint32_t)(p->addr - NOCAP_BASE_STREAM) / NOCAP_STREAM_STRIDE - q->n->first_stream;
    bool counts = p->kind == CQ_PACKET_COUNT;
    bool here = counts || nocap_xy_equal(p->to, q->board.subordinate);
    if (here && stream < q->n->streams) {
        uint32_t *count = &sim_cq_streams(q, p->to)[stream];
        *count = counts ? p->value
                        : (*count + (p->value >> q->n->count_shift)) % (1u << q->n->count_bits);
        sim_cq_changed(q, CQ_WATCH_STREAM);
    }
}

void sim_cq_packet_arrives(struct sim_cq *q, struct cq_packet *p)
{
    bool acknowledged = p->kind == CQ_PACKET_TILE || p->kind == CQ_PACKET_HOST;
    if (acknowledged && p->landed) {
        q->dispatch.acked += p->by == NOCAP_BY_BRISC;
        if (p->shows_done) {
            emit_phase(q, p->from, q->n->noc_dispatch, NOCAP_OP_WRITE, NOCAP_PHASE_DONE, p->id, 0);
        }
        free_packet(q, p);
        sim_cq_changed(q, CQ_WATCH_ACKED);
        return;
    }
    switch ((enum cq_packet_kind)p->kind) {
    case CQ_PACKET_READ: read_lands(q, p); break;
    case CQ_PACKET_PUBLISH:
        counter_lands(q, p);
        sim_cq_changed(q, CQ_WATCH_PUBLISHED);
        break;
    case CQ_PACKET_RELEASE:
        counter_lands(q, p);
        sim_cq_changed(q, CQ_WATCH_CREDIT);
        break;
    case CQ_PACKET_TILE:
    case CQ_PACKET_HOST: write_lands(q, p); break;
    case CQ_PACKET_NOTIFY:
    case CQ_PACKET_COUNT: notify_lands(q, p); break;
    }
    if (acknowledged) {
        p->landed = true;
        schedule(q, p,
                 q->k.now + latency[p->kind].ack + sim_below(&q->k, latency[p->kind].ack_spread));
    } else {
        free_packet(q, p);
    }
}
