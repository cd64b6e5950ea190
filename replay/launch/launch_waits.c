/* SPDX-License-Identifier: Apache-2.0 */
/* What host and cores of a tile wait for, from upload to DONE, and where they are. Source: firmware
 * upload and boot document; observed hangs of firmware. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/blackhole/registers.h"
#include "replay/core/progress.h"
#include "replay/core/state.h"
#include "replay/core/wait_builder.h"
#include "replay/launch/launch_private.h"

static const struct event_ref unseen = {.index = NO_INDEX, .t = NO_INDEX};

/* Memory is as the host left it, and says nothing of what BRISC has done since its release. */
static bool runs_unseen(const struct tile *tile)
{
    return !tile->sees_cores && (boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] == YES ||
                                 launch_of(tile)->go.index != NO_INDEX);
}

/* The core's byte of the sync word: as the model has it; where stores of cores are not observed, as
 * the host saw it since the last GO. */
static bool sync_byte(const struct model *m, const struct tile *tile, unsigned processor,
                      uint8_t *byte)
{
    unsigned i = (unsigned)nocap_cores[processor].sync_byte;
    const struct progress *p = progress_of(tile);
    const struct event_ref *go = &launch_of(tile)->go;
    bool old = go->index != NO_INDEX && p->sync_seen.turn < go->turn;
    if (!tile->sees_cores && p->sync_seen.index != NO_INDEX && !old) {
        *byte = (uint8_t)(p->sync >> 8 * i);
        return true;
    }
    return !runs_unseen(tile) && shadow_byte(&tile->l1, m->layout->sync + i, byte);
}

/* `by` does not do what `agent` polls for at these bytes. */
static struct nocap_wait wait_of(const struct wait_builder *t, unsigned agent,
                                 struct event_ref since, unsigned by, uint64_t addr, uint64_t size)
{
    struct nocap_wait w = wait_begin(t, agent, since);
    w.by = wait_party(t, by);
    wait_place(&w, addr, size);
    return w;
}

/* The host asks for an answer to what firmware never answers: its own request to reset the read
 * pointer, or what else it stored over the DONE of an idle tile. */
static bool asks_itself(const struct model *m, const struct tile *tile)
{
    const struct progress *p = progress_of(tile);
    const struct launch *l = launch_of(tile);
    uint32_t at = tile_signal_address(m, tile);
    uint8_t signal;
    bool stays = p->asked_at == at && shadow_byte(&tile->l1, at, &signal) &&
                 signal == p->asked_signal && l->go_pending == NO && l->active == NO;
    switch (p->asked_signal) {
    case NOCAP_GO_RESET_READ_PTR_FROM_HOST: return true;
    case NOCAP_GO_GO:
    case NOCAP_GO_RESET_READ_PTR:
    case NOCAP_GO_REPLAY_TRACE: return false;
    default: return (stays || !tile->sees_cores) && boot_of(tile)->phase == BOOT_DONE;
    }
}

/* So it waits for itself, whatever BRISC does. */
static void report_no_go(const struct wait_builder *t)
{
    const struct progress *p = progress_of(t->tile);
    struct nocap_wait w = wait_begin(t, NOCAP_BY_HOST, p->asked);
    wait_place(&w, p->asked_at, 1);
    w.state = "polling";
    w.release = "a GO in that go message";
    w.certain = true;
    wait_report_as(t, &w,
                   "polls for DONE at 0x%" PRIx32 ", and no GO is there: the signal stays 0x%02x",
                   p->asked_at, p->asked_signal);
}

/* False: the host does not wait for the tile. */
static bool report_host(const struct wait_builder *t)
{
    const struct progress *p = progress_of(t->tile);
    const struct launch *l = launch_of(t->tile);
    bool answered = l->done.index != NO_INDEX && l->done.turn > p->asked_last.turn;
    if (p->asked.index == NO_INDEX ||
        (!t->tile->sees_cores && progress_asks_other(t->m, t->tile)) ||
        (answered && p->asked_at == tile_signal_address(t->m, t->tile))) {
        return false;
    }
    if (asks_itself(t->m, t->tile)) {
        if (p->asked_count >= PROGRESS_LOOKS) {
            report_no_go(t);
        }
        return false;
    }
    struct nocap_wait w = wait_of(t, NOCAP_BY_HOST, p->asked, NOCAP_BY_BRISC, p->asked_at, 1);
    w.state = "polling";
    w.release = "BRISC stores DONE";
    wait_report_as(t, &w, "%s DONE at 0x%" PRIx32,
                   p->asked_signal == NOCAP_GO_INIT ? "firmware ready," : "go signal", p->asked_at);
    return true;
}

/* The host looks again and again at something that is no go word. */
static void report_host_look(const struct wait_builder *t)
{
    const struct poll *l = progress_poll_of(&progress_of(t->tile)->agents[PROGRESS_HOST]);
    char name[64];
    if (l == NULL || l->count < PROGRESS_LOOKS || l->addr < SHADOW_SIZE) {
        return;
    }
    struct nocap_register_place place;
    if (nocap_register_find(l->addr, NOCAP_BY_HOST, &place)) {
        nocap_register_name(l->addr, NOCAP_BY_HOST, name, sizeof name);
    } else {
        snprintf(name, sizeof name, "L1 0x%" PRIx64, l->addr);
    }
    struct nocap_wait w = wait_of(t, NOCAP_BY_HOST, l->since, NOCAP_BY_BRISC, l->addr, 4);
    w.state = "polling";
    w.release = "another value there";
    wait_report_as(t, &w, "%s to change: it stays 0x%" PRIx64 " (%" PRIu64 " reads)", name,
                   l->value, l->count);
}

/* A picture of the tile's memory with nothing but ones in the mailbox. */
static bool shown_as_ones(const struct wait_builder *t)
{
    enum { ENOUGH = 16 };
    uint32_t known = 0;
    uint8_t byte = 0xFF;
    for (uint32_t at = 0; at < SHADOW_SIZE && byte == 0xFF; at++) {
        known += shadow_byte(&t->tile->l1, at, &byte);
    }
    return !trace_of(t->m)->acted && byte == 0xFF && known >= ENOUGH;
}

/* Reads that give nothing but ones are no protocol state. False: there are none. */
static bool report_ones(const struct wait_builder *t)
{
    const char *gone =
        "the core, its network or the link is gone; no fault of the protocol does this";
    const struct progress *p = progress_of(t->tile);
    const bool read = p->ones_count >= 2;
    if (!read && !shown_as_ones(t)) {
        return false;
    }
    struct nocap_wait w = wait_begin(t, NOCAP_BY_NOC, read ? p->ones : unseen);
    w.state = "not answering";
    w.wedged = true;
    w.certain = read;
    if (!read) {
        wait_report_as(t, &w, "the memory that is shown is all ones: %s", gone);
        return true;
    }
    wait_report_as(t, &w, "host reads of the core give all ones since index %" PRIu64 ": %s",
                   p->ones.index, gone);
    w.who = wait_party(t, NOCAP_BY_HOST);
    w.by = wait_party(t, NOCAP_BY_NOC);
    w.state = "reading";
    wait_report_as(t, &w, "a valid response from the core");
    return true;
}

static bool kernels_observed(const struct wait_builder *t)
{
    return (t->m->header->observes & NOCAP_CLASS_KERNEL) != 0 && t->tile->in_scope;
}

/* A core that does not go on by itself: "waits for a semaphore (waypoint NSW); kernel reader.cpp"
 * where that is known, else `what`. */
static void report_blocked(const struct wait_builder *t, unsigned processor, const char *state,
                           const char *what, struct event_ref since)
{
    if (wait_polls(t, processor, state)) {
        return;
    }
    const struct progress_agent *agent = &progress_of(t->tile)->agents[PROGRESS_CORE0 + processor];
    const char *code = agent->waypoint, *kernel = trace_of(t->m)->kernels[agent->kernel];
    bool inside = progress_in_kernel(agent);
    char buffers[WAIT_TEXT];
    struct nocap_wait w = wait_begin(t, nocap_cores[processor].agent, since);
    w.state = inside ? "in kernel" : state;
    if (nocap_cores[processor].sync_byte >= 0) {
        wait_place(&w, nocap_sync_address(t->m->layout, &nocap_cores[processor]), 1);
    }
    wait_report_as(t, &w, "%s%s%s%s%s%s%s", inside ? nocap_waypoint_find(code)->meaning : what,
                   code[0] != '\0' ? " (waypoint " : "", code, code[0] != '\0' ? ")" : "",
                   kernel[0] != '\0' ? "; kernel " : "", kernel,
                   wait_buffers(t, nocap_cores[processor].agent, buffers, sizeof buffers));
}

/* A core that was signalled to run its kernel, or BRISC within a launch. */
static void report_kernel(const struct wait_builder *t, unsigned p)
{
    const struct kernel *k = &launch_of(t->tile)->kernels[p];
    const struct nocap_core_info *core = &nocap_cores[p];
    char what[WAIT_TEXT];
    if (k->inside == YES) {
        struct event_ref entered = {.index = k->enter_index, .t = k->enter_time};
        if (!wait_at_buffer(t, p, entered)) {
            snprintf(what, sizeof what, "never left its kernel entered at index %" PRIu64,
                     k->enter_index);
            report_blocked(t, p, "in kernel", what, entered);
        }
    } else if (k->left > 0 && core->thread >= 0 &&
               (t->tile->gate.pending >> core->thread & 1) != 0) {
        return; /* its thread tells it */
    } else if (k->left > 0) {
        struct event_ref left = {.index = k->exit_index, .t = k->exit_time};
        snprintf(what, sizeof what,
                 "left its kernel at index %" PRIu64 " and never cleared its sync byte",
                 k->exit_index);
        report_blocked(t, p, "after its kernel", what, left);
    } else {
        bool seen = kernels_observed(t);
        report_blocked(t, p, seen ? "before its kernel" : "signalled to run",
                       seen ? "was signalled to run its kernel and has not entered it"
                            : "was signalled to run its kernel and has not reported its end",
                       launch_of(t->tile)->go);
    }
}

/* What BRISC waits for with a byte of this value. NULL: for nothing. */
static const char *awaited(uint8_t byte)
{
    switch (byte) {
    case NOCAP_SYNC_GO: return "to finish its kernel";
    case NOCAP_SYNC_INIT: return "to boot";
    case NOCAP_SYNC_INIT_REGISTERS: return "to zero the tile counters";
    default: return NULL;
    }
}

/* The subordinates that have not cleared their bytes. True if there is any that BRISC waits for. */
static bool report_subordinates(const struct wait_builder *t, struct event_ref since,
                                bool brisc_waits)
{
    bool any = false;
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        uint8_t byte = NOCAP_SYNC_GO; /* it is, in its kernel */
        uint32_t at = nocap_sync_address(t->m->layout, &nocap_cores[p]);
        bool known = sync_byte(t->m, t->tile, p, &byte);
        known |= launch_of(t->tile)->kernels[p].inside == YES;
        if (!known || awaited(byte) == NULL) {
            continue;
        }
        any = true;
        if (brisc_waits) {
            unsigned agent = nocap_cores[p].agent;
            struct nocap_wait w = wait_of(t, NOCAP_BY_BRISC, since, agent, at, 1);
            w.release = "it clears the byte";
            wait_report_as(t, &w, "%s %s: its sync byte at 0x%x is 0x%02x", nocap_agent_name(agent),
                           awaited(byte), at, byte);
        }
        if (byte == NOCAP_SYNC_GO) {
            report_kernel(t, p);
        } else if (byte == NOCAP_SYNC_INIT) {
            report_blocked(t, p, "booting", "never cleared INIT (0x40) in its sync byte",
                           boot_of(t->tile)->released);
        } else {
            report_blocked(t, p, "zeroing", "never finished zeroing the tile counters (0x03)",
                           since);
        }
    }
    return any;
}

/* BRISC does not take up a GO. */
static void report_idle_brisc(const struct wait_builder *t)
{
    const struct tile *tile = t->tile;
    const struct launch *l = launch_of(tile);
    const struct progress *p = progress_of(tile);
    uint32_t index, at = t->m->layout->go_message_index;
    if (boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] == NO) {
        report_blocked(t, NOCAP_PROCESSOR_BRISC, "held in reset",
                       "is not running: still held in reset", boot_of(tile)->released);
        return;
    }
    if (p->asked.index != NO_INDEX && p->asked_at != tile_signal_address(t->m, tile) &&
        shadow_word(&tile->l1, at, &index)) {
        struct nocap_wait w = wait_of(t, NOCAP_BY_BRISC, l->go, NOCAP_BY_HOST, at, 4);
        w.state = "polling for GO";
        w.release = "a GO in that go message, or the right go_message_index";
        wait_report_as(t, &w,
                       "a GO in go message %" PRIu32
                       ", which go_message_index selects; the host polls at 0x%" PRIx32,
                       index, p->asked_at);
        return;
    }
    report_blocked(t, NOCAP_PROCESSOR_BRISC, "polling for GO", "has not taken up the GO", l->go);
}

static void report_launch(const struct wait_builder *t)
{
    const struct launch *l = launch_of(t->tile);
    if (l->kernels[NOCAP_PROCESSOR_BRISC].inside == YES) {
        report_subordinates(t, l->go, false);
        report_kernel(t, NOCAP_PROCESSOR_BRISC);
    } else if (report_subordinates(t, l->go, true)) {
        return;
    } else if (l->active == YES && l->cause == CAUSE_PRELOAD && l->go_pending == NO) {
        return; /* preloaded: it waits for a GO that no agent has to send */
    } else if (l->active == YES) {
        report_blocked(t, NOCAP_PROCESSOR_BRISC, "in a launch",
                       kernels_observed(t)
                           ? "works on a launch and never reported DONE"
                           : "works on a launch and never reported DONE; no subordinate is left to "
                             "wait for, so it is in its own kernel or past it",
                       l->go);
    } else {
        report_idle_brisc(t);
    }
}

/* Memory that was shown, and nothing else: what stands in the mailbox. */
static void report_snapshot(const struct wait_builder *t)
{
    uint8_t signal, byte;
    bool looked = sync_byte(t->m, t->tile, NOCAP_PROCESSOR_NCRISC, &byte);
    if (!shadow_byte(&t->tile->l1, tile_signal_address(t->m, t->tile), &signal) ||
        (signal != NOCAP_GO_GO && signal != NOCAP_GO_INIT)) {
        return;
    }
    if (progress_in_kernel(&progress_of(t->tile)->agents[PROGRESS_CORE0 + NOCAP_PROCESSOR_BRISC])) {
        report_subordinates(t, unseen, false);
        report_blocked(t, NOCAP_PROCESSOR_BRISC, "in kernel", "is in its kernel", unseen);
    } else if (!report_subordinates(t, unseen, true) && signal == NOCAP_GO_GO) {
        report_blocked(
            t, NOCAP_PROCESSOR_BRISC, "in a launch",
            looked ? "has a GO and has not reported DONE; no subordinate is left to wait for"
                   : "has a GO and has not reported DONE; no agent has polled the sync word "
                     "since, which would show whom it waits for",
            unseen);
    }
}

/* A trace without `scope` shows by an event of a tile's cores that they are observed: a tile that
 * ran before it began, and shows none, may have done all that it was to do. */
static bool sees_cores(const struct wait_builder *t)
{
    bool shown = t->m->header->has_scope || t->tile->launch.shown;
    return t->tile->sees_cores && (shown || boot_of(t->tile)->phase == BOOT_RELEASED);
}

/* The tile's cores. */
static void report_cores(const struct wait_builder *t, bool asked)
{
    const struct tile *tile = t->tile;
    const struct launch *l = launch_of(tile);
    if (!asked && tile->launch.in_reset) {
        return;
    }
    if (asked && boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] == NO) {
        /* no time makes it answer */
        struct nocap_wait w = wait_begin(t, NOCAP_BY_BRISC, progress_of(tile)->asked);
        w.state = "held in reset";
        w.release = "a store to SOFT_RESET_0 that releases BRISC";
        w.certain = progress_of(tile)->asked_count >= PROGRESS_LOOKS;
        wait_report_as(t, &w, "is still held in reset");
    } else if (!sees_cores(t)) {
        if (asked || t->m->header->observes == 0) {
            report_snapshot(t);
        }
        for (unsigned p = 0; !asked && p < CORES; p++) {
            if (tile->launch.kernels[p].inside == YES) {
                report_kernel(t, p);
            }
        }
    } else if (boot_of(tile)->phase == BOOT_RELEASED) {
        const struct event_ref released = boot_of(tile)->released;
        if (!report_subordinates(t, released, true)) {
            report_blocked(t, NOCAP_PROCESSOR_BRISC, "booting",
                           "left reset and never reported ready", released);
        }
    } else if (l->go_pending == YES || l->active == YES) {
        report_launch(t);
    } else if (l->go_pending == UNKNOWN && l->active == UNKNOWN) {
        /* what runs began before the trace, or in what was lost, or is no launch */
        (asked ? report_snapshot : wait_pollers)(t);
    } else if (asked) {
        report_idle_brisc(t);
    }
}

/* DONE was seen since the last GO. */
static bool is_done(const struct launch *l)
{
    return l->done.index != NO_INDEX && l->done.turn > l->go.turn;
}

/* Where nothing of a tile is observed but what the host does. */
void launch_settle(const struct model *m, struct tile *tile)
{
    const struct boot *b = boot_of(tile);
    const struct launch *l = launch_of(tile);
    struct event_ref *unanswered = &tile->launch.unanswered;
    *unanswered = unseen;
    if (tile->sees_cores && !part_of(tile)->unshown) {
        return;
    }
    if (l->by_host && l->go.index != NO_INDEX && !is_done(l)) {
        *unanswered = l->go;
    } else if (b->phase == BOOT_RELEASED && !boot_host_waited(m, b)) {
        *unanswered = b->released;
    }
}

void launch_waits(const struct wait_builder *t)
{
    if (t->m->unexplained || report_ones(t)) {
        return; /* what was taken for a mailbox is none */
    }
    bool asked = report_host(t);
    if (!asked) {
        report_host_look(t);
    }
    report_cores(t, asked);
}

/* ---- the same for people who want to look ---- */

static const char *phase_name(const struct boot *b)
{
    switch (b->phase) {
    case BOOT_POWER_ON: return "powered on";
    case BOOT_HELD: return "held in reset";
    case BOOT_RELEASED: return "booting";
    case BOOT_DONE: return "ready";
    default: return b->running[NOCAP_PROCESSOR_BRISC] == YES ? "running" : "unknown";
    }
}

static void fill_cores(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    for (unsigned p = 0; p < CORES; p++) {
        const struct kernel *k = &launch_of(tile)->kernels[p];
        const struct progress_agent *agent = &progress_of(tile)->agents[PROGRESS_CORE0 + p];
        struct nocap_core_state *c = &s->cores[p];
        *c = (struct nocap_core_state){.agent = nocap_cores[p].agent,
                                       .running = (enum nocap_known)boot_of(tile)->running[p],
                                       .in_kernel = (enum nocap_known)k->inside,
                                       .entered = k->enter_index,
                                       .left = k->exit_index,
                                       .pc = agent->pc,
                                       .pc_index = agent->pc_index,
                                       .waypoint = agent->waypoint,
                                       .kernel = trace_of(m)->kernels[agent->kernel],
                                       .has_sync = nocap_cores[p].sync_byte >= 0};
        c->sync_known = c->has_sync && sync_byte(m, tile, p, &c->sync);
        if (runs_unseen(tile)) {
            c->in_kernel = NOCAP_UNKNOWN;
            c->running = c->has_sync ? NOCAP_UNKNOWN : c->running;
        }
    }
}

static void fill_mailbox(const struct model *m, const struct tile *tile, struct nocap_tile_state *s)
{
    const struct boot *b = boot_of(tile);
    const struct launch *l = launch_of(tile);
    const int active = tile_go_index(m, tile);
    s->phase = phase_name(b);
    s->go_pending = (enum nocap_known)l->go_pending;
    s->under_way = l->open;
    s->go_written = l->go.index;
    s->active = (enum nocap_known)l->active;
    s->active_slot = l->slot;
    s->last_done = l->done.index;
    s->request = l->request;
    s->notify_pending = l->notify_pending;
    s->rd_ptr_known = shadow_word(&tile->l1, m->layout->rd_ptr, &s->rd_ptr);
    s->go_index_known = shadow_word(&tile->l1, m->layout->go_message_index, &s->go_index);
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t word;
        s->go[i].known = shadow_word(&tile->l1, nocap_go_word_address(m->layout, i), &word);
        s->go[i].word = s->go[i].known ? nocap_go_decode(word) : (struct nocap_go_word){0};
    }
    /* the host saw DONE last, where no other observation could show it stored */
    if (runs_unseen(tile) && (l->go.index != NO_INDEX ? is_done(l) : b->phase == BOOT_DONE)) {
        s->go[active < 0 ? 0 : active].word.signal = NOCAP_GO_DONE;
    }
}

void launch_describe(const struct model *m, const struct tile *tile, unsigned parts,
                     struct nocap_tile_state *s)
{
    if ((parts & NOCAP_STATE_MAILBOX) != 0) {
        fill_cores(m, tile, s);
        fill_mailbox(m, tile, s);
    }
    for (unsigned i = 0; (parts & NOCAP_STATE_SLOTS) != 0 && i < NOCAP_LAUNCH_SLOTS; i++) {
        const struct nocap_launch *message = launch_message(m, tile, (int)i);
        s->slots[i].known = message != NULL;
        s->slots[i].message = message != NULL ? *message : (struct nocap_launch){0};
        s->slots[i].fresh = (enum nocap_known)launch_of(tile)->slots[i].fresh;
    }
}
