/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in DEV mode. The ring of launch messages is filled ahead, by the host or by the dispatch
 * tile, and gone through in generations: launch g of a generation lies in slot g mod 8; a read
 * pointer reset ends the generation.
 *
 * While launch g has its GO, launch g - 1 may still be giving its slot back, so that of launch g -
 * 2 is the last that may be filled again: messages run six launches ahead. */
#include "capture/sim/launch/host.h"

enum { AHEAD = NOCAP_LAUNCH_SLOTS - 2, SHORTEST = 5, LONGEST = 24, SILENT_POLL = 64 };

static sim_routine begin_generation, begin_round, fill, go, lose_reset, wait_round, wait_notified,
    end_round, reset_ring;

static unsigned slot_of(const struct sim_host *h, uint64_t launch)
{
    return (unsigned)((launch - h->generation) % NOCAP_LAUNCH_SLOTS);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void sim_host_rounds(struct sim *m, struct sim_core *c)
{
    CO_GOTO(m, c, m->options.launches > 0 ? begin_generation : sim_host_finish);
}

/* How many launches until the next reset. Some faults need it at a certain place: right before the
 * launch of the fault, with a read pointer that is not 0; or right after it, since it leaves the
 * ring in disorder. */
static uint64_t generation_length(const struct sim *m)
{
    uint64_t length = SHORTEST + sim_mix(&m->k, 0, m->host.launch) % (LONGEST - SHORTEST);
    uint64_t to_fault = m->fault_launch - m->host.launch;
    bool to_come = m->host.launch <= m->fault_launch;
    if (sim_fault_planned(&m->k, NOCAP_SIM_FAULT_RESET_LOST)) {
        length = 1 + length % (NOCAP_LAUNCH_SLOTS - 1);
        return to_come ? least(length, to_fault) : length;
    }
    if (sim_fault_planned(&m->k, NOCAP_SIM_FAULT_RD_PTR_PLUS_2) && to_come) {
        bool wraps = to_fault % NOCAP_LAUNCH_SLOTS == NOCAP_LAUNCH_SLOTS - 2;
        return least(length, wraps ? to_fault : to_fault + 1);
    }
    return length;
}

static void begin_generation(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    h->via = SIM_VIA_HOST;
    h->generation = h->launch;
    h->filled = h->launch;
    h->generation_end = least(h->launch + generation_length(m), m->options.launches);
    for (h->tile = 0; h->tile < m->workers; h->tile++) {
        sim_deliver(m, m->layout->go_message_index, SIM_WORD(0));
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    CO_GOTO(m, c, begin_round);
    CO_END(c);
}

/* A fault that loses a notify would make the dispatch tile wait forever: the host does the
 * waiting then. */
static bool notifies_hold(const struct sim *m)
{
    enum nocap_sim_fault fault = m->k.fault;
    return fault != NOCAP_SIM_FAULT_NOTIFY_MISSING && fault != NOCAP_SIM_FAULT_MASTER_ZERO &&
           fault != NOCAP_SIM_FAULT_NOTIFY_WRONG_STREAM && fault != NOCAP_SIM_FAULT_RESET_LOST;
}

/* The dispatch tile writes nothing before the host has launched it. */
static void choose_writer(struct sim *m)
{
    bool dispatch =
        m->host.launch > 0 && notifies_hold(m) && sim_mix(&m->k, 1, m->host.launch) % 3 == 0;
    m->host.via = dispatch ? SIM_VIA_DISPATCH : SIM_VIA_HOST;
}

static void begin_round(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    choose_writer(m);
    h->fill_to = least(h->generation_end, h->launch + AHEAD + 1);
    h->expected += m->workers;
    h->gone = false;
    CO_GOTO(m, c, h->launch == h->generation || h->launch % 2 == 0 ? fill : go);
}

/* Images and messages, before the round's GO or after it. */
static void fill(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (; h->filled < h->fill_to; h->filled++) {
        for (h->tile = 0; h->tile < m->workers; h->tile++) {
            unsigned area = slot_of(h, h->filled);
            h->plan = sim_plan_launch(m, h->tile, h->filled);
            sim_deliver_image(m, &h->plan, area);
            CO_CYCLES(m, c, sim_host_pace(m));
            sim_deliver_message(m, &h->plan, slot_of(h, h->filled), slot_of(h, h->filled),
                                h->filled);
            CO_CYCLES(m, c, sim_host_pace(m));
        }
    }
    CO_GOTO(m, c, h->gone ? wait_round : go);
    CO_END(c);
}

static void go(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (h->tile = 0; h->tile < m->workers; h->tile++) {
        if (sim_plan_preload(m, h->launch)) {
            break;
        }
        if (sim_host_pauses(m)) {
            CO_CYCLES(m, c, SIM_HOST_QUIET);
            sim_host_inject(m);
        }
        sim_deliver_signal(m, NOCAP_GO_GO);
        if (sim_host_injects_busy(m)) {
            CO_CYCLES(m, c, SIM_HOST_STRAY);
            sim_host_inject_busy(m, slot_of(h, h->launch));
        }
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    h->gone = true;
    CO_GOTO(m, c, fill);
    CO_END(c);
}

/* The host polls for each tile's DONE, or, where there is no GO, for the read pointer. */
static void wait_round(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    if (h->via == SIM_VIA_DISPATCH) {
        CO_GOTO(m, c, wait_notified);
    }
    for (h->tile = 0; h->tile < m->workers; h->tile++) {
        if (!h->resetting && sim_plan_preload(m, h->launch)) {
            CO_HOST_POLL(m, c, NOCAP_RD_PTR, 4, slot_of(h, h->launch + 1), SIM_HOST_POLL);
        } else {
            CO_HOST_POLL(m, c, sim_go_signal_address(m, 0), 1, NOCAP_GO_DONE, SIM_HOST_POLL);
        }
        if (h->gave_up) {
            CO_GOTO(m, c, sim_host_finish);
        }
    }
    CO_GOTO(m, c, end_round);
    CO_END(c);
}

/* The dispatch tile waits until as many notifies have arrived at it. */
static void wait_notified(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    for (h->polls = 0; m->dispatch->notified < h->expected; h->polls++) {
        if (h->polls == SIM_HOST_POLLS_MAX) {
            h->gave_up = true;
            h->tile = m->fault_tile;
            CO_GOTO(m, c, sim_host_finish);
        }
        CO_CYCLES(m, c, SILENT_POLL);
    }
    CO_GOTO(m, c, end_round);
    CO_END(c);
}

static void end_round(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    if (h->resetting) {
        h->resetting = false;
        CO_GOTO(m, c, begin_generation);
    }
    h->launch++;
    if (h->launch == m->options.launches) {
        CO_GOTO(m, c, sim_host_finish);
    }
    CO_GOTO(m, c,
            h->launch < h->generation_end ? begin_round
            : sim_fault_planned(&m->k, NOCAP_SIM_FAULT_RESET_LOST) && h->launch >= m->fault_launch
                ? lose_reset
                : reset_ring);
}

/* Every tile's read pointer back to 0. The request that comes from the host is never acknowledged
 * and obeyed at every poll, so it is for few tiles only, each of which must have moved its read
 * pointer for the last launch. */
static void reset_ring(struct sim *m, struct sim_core *c)
{
    static const uint8_t signals[] = {NOCAP_GO_RESET_READ_PTR, NOCAP_GO_REPLAY_TRACE,
                                      NOCAP_GO_RESET_READ_PTR_FROM_HOST};
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    if (sim_host_pauses_after(m)) {
        CO_CYCLES(m, c, SIM_HOST_QUIET);
    }
    h->resetting = true;
    h->signal = m->workers > SIM_HOST_RESET_TILES || !notifies_hold(m)
                    ? NOCAP_GO_RESET_READ_PTR
                    : signals[sim_mix(&m->k, 2, h->launch) % sizeof signals];
    choose_writer(m);
    if (h->signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST) {
        h->via = SIM_VIA_HOST;
    }
    for (h->tile = 0; h->tile < m->workers; h->tile++) {
        if (h->signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST) {
            CO_HOST_POLL(m, c, NOCAP_RD_PTR, 4, slot_of(h, h->launch), SIM_HOST_POLL);
            if (h->gave_up) {
                CO_GOTO(m, c, sim_host_finish);
            }
        }
        sim_deliver_signal(m, h->signal);
        CO_CYCLES(m, c, sim_host_pace(m));
    }
    if (h->signal == NOCAP_GO_RESET_READ_PTR_FROM_HOST) {
        CO_CYCLES(m, c, SIM_HOST_RESET);
        CO_GOTO(m, c, end_round);
    }
    h->expected += m->workers;
    CO_GOTO(m, c, wait_round);
    CO_END(c);
}

/* A fault: on one tile the reset is overwritten by GO before BRISC can see it, so GO starts another
 * slot than the one just written. A proper reset follows. */
static void lose_reset(struct sim *m, struct sim_core *c)
{
    struct sim_host *h = &m->host;
    CO_BEGIN(c);
    h->tile = m->fault_tile;
    m->k.struck = true;
    CO_CYCLES(m, c, SIM_HOST_QUIET);
    h->plan = sim_plan_launch(m, h->tile, h->launch);
    sim_deliver_image(m, &h->plan, 0);
    CO_CYCLES(m, c, sim_host_pace(m));
    sim_deliver_message(m, &h->plan, 0, 0, h->launch);
    CO_CYCLES(m, c, sim_host_pace(m));
    sim_deliver_signal(m, NOCAP_GO_RESET_READ_PTR_FROM_HOST);
    sim_deliver_signal(m, NOCAP_GO_GO);
    CO_HOST_POLL(m, c, sim_go_signal_address(m, 0), 1, NOCAP_GO_DONE, SIM_HOST_POLL);
    CO_GOTO(m, c, h->gave_up ? sim_host_finish : reset_ring);
    CO_END(c);
}
