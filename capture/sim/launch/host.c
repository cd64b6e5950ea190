/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sim/launch/host.h"

#include "formats/blackhole/tlb.h"

enum { WINDOW = 0 };

static void emit_aim_word(struct sim *m, unsigned i, uint32_t word)
{
    uint64_t addr = NOCAP_TLB_REGISTERS + 4 * (NOCAP_TLB_WORDS * WINDOW + i);
    struct nocap_event *e = sim_access(&m->k, NOCAP_EV_WRITE, NOCAP_BY_HOST, addr, 4);
    sim_set_space(e, NOCAP_SPACE_BAR0);
    sim_set_value(e, word);
    sim_emit(&m->k, e);
}

static void aim(struct sim *m, const struct nocap_tlb_window *window)
{
    uint32_t words[NOCAP_TLB_WORDS];
    nocap_tlb_encode(WINDOW, window, words);
    for (unsigned i = 0; i < NOCAP_TLB_WORDS; i++) {
        emit_aim_word(m, i, words[i]);
    }
}

static uint8_t order_of(enum nocap_map map)
{
    return map == NOCAP_MAP_WC ? NOCAP_ORDER_RELAXED : NOCAP_ORDER_STRICT;
}

void sim_host_aim(struct sim *m, struct nocap_xy at, uint64_t addr)
{
    aim(m, &(struct nocap_tlb_window){.page = addr >> NOCAP_TLB_2M_SHIFT,
                                      .x_end = at.x,
                                      .y_end = at.y,
                                      .ordering = order_of(NOCAP_MAP_UC)});
}

void sim_host_aim_all(struct sim *m, const struct sim_rectangle *r, uint64_t addr,
                      enum nocap_map map)
{
    aim(m, &(struct nocap_tlb_window){.page = addr >> NOCAP_TLB_2M_SHIFT,
                                      .x_end = r->to.x,
                                      .y_end = r->to.y,
                                      .x_start = r->from.x,
                                      .y_start = r->from.y,
                                      .mcast = 1,
                                      .ordering = order_of(map)});
}

static void set_content(struct nocap_event *e, const struct sim_content *content)
{
    if (content->payload != NULL) {
        sim_set_head(e, content->payload->hash, content->payload->head,
                     content->size < SIM_HEAD ? content->size : SIM_HEAD);
    } else if (content->data != NULL) {
        sim_set_data(e, content->data, content->size);
    } else {
        sim_set_value(e, content->value);
    }
}

/* What a write from outside does to a tile. Payloads are no part of the memory that is kept. */
static void take(struct sim *m, struct sim_tile *t, uint32_t addr,
                 const struct sim_content *content)
{
    if (content->payload != NULL) {
        return;
    }
    const uint8_t *bytes = content->data != NULL ? content->data : (const uint8_t *)&content->value;
    if (addr < NOCAP_L1_SIZE) {
        sim_write_l1(m, t, addr, bytes, content->size);
    } else {
        sim_write_register(m, t, addr, content->value);
    }
}

static struct nocap_event *host_event(struct sim *m, enum nocap_kind kind, struct nocap_xy at,
                                      uint32_t addr, uint32_t size, enum nocap_map map)
{
    struct nocap_event *e = sim_access(&m->k, kind, NOCAP_BY_HOST, addr, size);
    sim_set_tile(e, at);
    e->order = order_of(map);
    e->map = (uint8_t)map;
    e->has |= NOCAP_F_NOC | NOCAP_F_ORDER | NOCAP_F_MAP;
    return e;
}

static void sim_host_write(struct sim *m, struct sim_tile *t, uint32_t addr,
                           struct sim_content content)
{
    struct nocap_event *e = host_event(m, NOCAP_EV_WRITE, t->at, addr, content.size, NOCAP_MAP_UC);
    set_content(e, &content);
    sim_emit(&m->k, e);
    take(m, t, addr, &content);
}

void sim_host_write_all(struct sim *m, const struct sim_rectangle *r, uint32_t addr,
                        struct sim_content content, enum nocap_map map)
{
    struct nocap_event *e = host_event(m, NOCAP_EV_WRITE, r->from, addr, content.size, map);
    e->to = r->to;
    e->has |= NOCAP_F_TO;
    set_content(e, &content);
    sim_emit(&m->k, e);
    for (uint32_t i = 0; i < m->tiles; i++) {
        if (nocap_in_rectangle(r->from, r->to, m->tile[i].at)) {
            take(m, &m->tile[i], addr, &content);
        }
    }
}

void sim_host_read(struct sim *m, const struct sim_tile *t, uint32_t addr, uint32_t size,
                   uint32_t value, uint64_t n, uint64_t period)
{
    struct nocap_event *e = host_event(m, NOCAP_EV_READ, t->at, addr, size, NOCAP_MAP_UC);
    sim_set_value(e, value);
    sim_set_repeats(e, n, period);
    sim_emit(&m->k, e);
}

uint64_t sim_host_poll(struct sim *m, const struct sim_tile *t, uint32_t addr, uint32_t size,
                       uint32_t want, uint64_t period)
{
    struct sim_host *h = &m->host;
    uint32_t value = sim_load(t, addr, size);
    uint64_t n = 1;
    h->seen = value == want;
    if (!h->seen) {
        uint64_t left = SIM_HOST_POLLS_MAX - h->polls;
        uint64_t next = sim_peek(&m->k);
        uint64_t quiet = next == UINT64_MAX ? left : (next - m->k.now + period - 1) / period;
        n = quiet < 1 ? 1 : quiet < left ? quiet : left;
    }
    sim_host_read(m, t, addr, size, value, n, period);
    h->polls += n;
    h->gave_up = !h->seen && h->polls >= SIM_HOST_POLLS_MAX;
    return h->seen ? sim_host_pace(m) : n * period;
}

uint64_t sim_host_pace(struct sim *m)
{
    uint32_t cycles = m->host.via == SIM_VIA_DISPATCH ? SIM_DISPATCH_ACCESS : SIM_HOST_ACCESS;
    return cycles + sim_below(&m->k, cycles);
}

/* ---- launches ---- */

static void emit_dispatch_noc(struct sim *m, struct nocap_xy to, uint32_t addr, uint32_t size,
                              uint64_t id, enum nocap_phase phase)
{
    struct nocap_event *e = sim_tile_event(m, NOCAP_EV_NOC, m->dispatch->at);
    e->noc = 1;
    e->op = NOCAP_OP_WRITE;
    e->phase = (uint8_t)phase;
    e->id = id;
    e->s = m->dispatch->at;
    e->saddr = SIM_DISPATCH_DATA + id % SIM_DISPATCH_PAGES * SIM_DISPATCH_PAGE + addr % 16;
    e->d = to;
    e->daddr = addr;
    e->size = size;
    e->has |= NOCAP_F_NOC | NOCAP_F_PHASE | NOCAP_F_ID | NOCAP_F_POSTED | NOCAP_F_S |
              NOCAP_F_SADDR | NOCAP_F_D | NOCAP_F_DADDR | NOCAP_F_SIZE;
    sim_emit(&m->k, e);
}

/* A non-posted NOC write of the dispatch tile: issue, landing, acknowledgement. */
static void dispatch_write(struct sim *m, struct sim_tile *t, uint32_t addr,
                           const struct sim_content *content)
{
    uint64_t id = m->host.next_id++;
    emit_dispatch_noc(m, t->at, addr, content->size, id, NOCAP_PHASE_ISSUE);
    set_content(sim_landing(m, m->dispatch->at, t->at, addr, content->size), content);
    sim_emit(&m->k, &m->k.event);
    take(m, t, addr, content);
    emit_dispatch_noc(m, t->at, addr, content->size, id, NOCAP_PHASE_DONE);
}

void sim_deliver(struct sim *m, uint32_t addr, struct sim_content content)
{
    struct sim_tile *t = sim_host_tile(m);
    if (m->host.via == SIM_VIA_DISPATCH) {
        dispatch_write(m, t, addr, &content);
    } else {
        sim_host_aim(m, t->at, addr);
        sim_host_write(m, t, addr, content);
    }
}

void sim_deliver_image(struct sim *m, const struct sim_plan *plan, unsigned area)
{
    const struct sim_payload *payload = &m->image[plan->image.program];
    sim_host_tile(m)->image[area] = plan->image;
    sim_deliver(m, SIM_KERNEL_CONFIG + area * SIM_IMAGE_STRIDE,
                (struct sim_content){.size = payload->size, .payload = payload});
}

void sim_deliver_message(struct sim *m, const struct sim_plan *plan, unsigned slot, unsigned area,
                         uint64_t launch)
{
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    sim_launch_message(m, plan, SIM_KERNEL_CONFIG + area * SIM_IMAGE_STRIDE, launch, bytes);
    sim_deliver(m, nocap_launch_slot(m->layout, slot),
                (struct sim_content){.size = m->layout->launch_size, .data = bytes});
}

/* The go word names the dispatch tile, in HOST mode none. */
static uint32_t go_word(struct sim *m, uint8_t signal)
{
    struct nocap_go_word go = {.signal = signal};
    bool names = m->dispatch != NULL
                     ? signal != NOCAP_GO_GO || !sim_host_fault_due(m, NOCAP_SIM_FAULT_MASTER_ZERO)
                     : sim_host_fault_pending(m, NOCAP_SIM_FAULT_NOTIFY_IN_HOST_MODE);
    if (names) {
        struct nocap_xy master = m->dispatch != NULL ? m->dispatch->at : m->tile[0].at;
        go.master_x = master.x;
        go.master_y = master.y;
    }
    return nocap_go_encode(go);
}

void sim_deliver_signal(struct sim *m, uint8_t signal)
{
    sim_deliver(m, nocap_go_word_address(m->layout, 0), SIM_WORD(go_word(m, signal)));
}
