/* Launches: launch messages, go words, kernels, from GO to DONE. Rules GO. What follows DONE is in
 * launch_done.c. */
#include <string.h>

#include "replay/cq.h"
#include "replay/tile.h"

void launch_init(struct tile *tile, bool power_on)
{
    struct launch *l = &tile->launch;
    memset(l, 0, sizeof *l);
    l->slot = l->finished_slot = -1;
    l->go.index = l->requested.index = l->done.index = NO_INDEX;
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        l->slots[i].index = NO_INDEX;
        l->slots[i].fresh = power_on ? NO : UNKNOWN;
    }
    for (unsigned p = 0; p < CORES; p++) {
        l->kernels[p].inside = power_on ? NO : UNKNOWN;
        l->kernels[p].enter_index = l->kernels[p].exit_index = NO_INDEX;
    }
    if (power_on) {
        l->go_pending = l->active = l->advance = l->finished_host = NO;
    }
}

int launch_go_index(const struct model *m, const struct tile *tile)
{
    uint32_t index;
    if (!shadow_word(&tile->l1, m->layout->go_message_index, &index)) {
        return -1;
    }
    return index < NOCAP_GO_WORDS ? (int)index : -1;
}

/* The slot that BRISC will read for the next launch; -1: not known. */
int launch_next_slot(const struct tile *tile)
{
    uint32_t rd_ptr;
    if (tile->launch.advance == UNKNOWN || !shadow_word(&tile->l1, NOCAP_RD_PTR, &rd_ptr) ||
        rd_ptr >= NOCAP_LAUNCH_SLOTS) {
        return -1;
    }
    return (int)((rd_ptr + (tile->launch.advance == YES)) % NOCAP_LAUNCH_SLOTS);
}

bool launch_may_preload(const struct model *m, const struct tile *tile)
{
    int slot = launch_next_slot(tile);
    struct nocap_launch message;
    for (int i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        if ((slot < 0 || i == slot) && launch_read_message(m, tile, (unsigned)i, &message) &&
            (message.preload & NOCAP_PRELOAD_FLAG) != 0) {
            return true;
        }
    }
    return false;
}

/* Whether the message of the next launch, or that of any slot, is known and asks for none. */
static bool certainly_no_preload(const struct model *m, const struct tile *tile)
{
    int slot = launch_next_slot(tile);
    struct nocap_launch message;
    for (int i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        if ((slot < 0 || i == slot) && (!launch_read_message(m, tile, (unsigned)i, &message) ||
                                        (message.preload & NOCAP_PRELOAD_FLAG) != 0)) {
            return false;
        }
    }
    return true;
}

static void take_message(struct model *m, struct tile *tile, int slot)
{
    struct launch *l = &tile->launch;
    l->slot = slot;
    l->message_known = slot >= 0 && launch_read_message(m, tile, (unsigned)slot, &l->message);
}

void launch_start(struct model *m, struct tile *tile, int slot)
{
    struct launch *l = &tile->launch;
    l->got_load = l->got_go = 0;
    l->excused = l->obscure;
    l->any_go = l->obscure != 0;
    l->obscure = 0;
    l->begun = l->intruded = l->doubtful = false;
    for (unsigned p = 0; p < CORES; p++) {
        l->kernels[p].entered = l->kernels[p].left = 0;
    }
    take_message(m, tile, slot);
}

/* Whether the trace shows all who could give the tile a go word or a message. */
static bool sees_launches(const struct model *m, const struct tile *tile)
{
    const struct nocap_header *h = m->header;
    bool network =
        !h->has_scope || m->landings || tile->launch.by_host || cq_dispatcher_seen(m, tile->chip);
    bool seen = (h->observes & NOCAP_CLASS_NOC) != 0 ? network : tile->launch.finished_host == YES;
    return (h->observes & NOCAP_CLASS_HOST_MMIO) != 0 && seen;
}

bool launch_tells_message(const struct model *m, const struct tile *tile, int slot)
{
    return slot >= 0 && (tile->launch.slots[slot].fresh == YES || sees_launches(m, tile));
}

bool launch_unseen(const struct model *m, struct tile *tile)
{
    if (sees_launches(m, tile)) {
        return false;
    }
    tile->sees_outside = false;
    launch_forget(tile);
    return true;
}

/* BRISC does something that it does only in a launch. */
void launch_act(struct model *m, struct tile *tile)
{
    struct launch *l = &tile->launch;
    if (l->active == YES) {
        return;
    }
    launch_notify_missing(m, tile, "the next launch began");
    if (l->finished_host == YES && tile->in_scope) {
        HOLDS(m, GO_016);
    }
    l->advance = NO; /* it was stored before, or never will be */
    int slot = launch_next_slot(tile);
    uint8_t preload;
    bool preloads = slot >= 0 && launch_read_message(m, tile, (unsigned)slot, &l->message);
    preload = preloads ? l->message.preload : 0;
    l->cause = l->go_pending == YES                              ? CAUSE_GO
               : l->go_pending == UNKNOWN                        ? CAUSE_UNKNOWN
               : preloads && (preload & NOCAP_PRELOAD_FLAG) != 0 ? CAUSE_PRELOAD
               : preloads                                        ? CAUSE_NONE
                                                                 : CAUSE_UNKNOWN;
    if ((l->cause == CAUSE_NONE && launch_unseen(m, tile)) ||
        !launch_tells_message(m, tile, slot)) {
        slot = -1;
    }
    bool doubtful = l->doubtful, begun = l->active == UNKNOWN;
    launch_start(m, tile, doubtful ? -1 : slot);
    l->begun = begun;
    if (doubtful) {
        l->cause = CAUSE_UNKNOWN;
        l->excused = (1 << CORES) - 1;
        slot = -1;
    }
    l->active = YES;
    if (slot >= 0) {
        launch_judge_message(m, tile, (unsigned)slot);
    }
}

static void judge_enabled(struct model *m, struct tile *tile, unsigned processor,
                          const char *command)
{
    struct launch *l = &tile->launch;
    if (!l->message_known || (l->excused >> processor & 1) != 0) {
        return;
    }
    bool right = launch_enabled(&l->message, processor);
    EXPECT(m, tile, SYN_014, right, RELATED(l->slots[l->slot].index),
           "LOAD and GO for enabled cores only", "%s to %s, enables 0x%02x", command,
           nocap_agent_name(nocap_cores[processor].agent), l->message.enables);
    if (!right) {
        /* a launch of nobody is not the one that BRISC does */
        l->excused |=
            l->message.enables == 0 ? (uint8_t)((1 << CORES) - 1) : launch_group(processor);
    }
}

void launch_load(struct model *m, struct tile *tile)
{
    judge_enabled(m, tile, NOCAP_PROCESSOR_NCRISC, "LOAD");
    tile->launch.got_load |= 1 << NOCAP_PROCESSOR_NCRISC;
}

void launch_go(struct model *m, struct tile *tile, unsigned processor)
{
    struct launch *l = &tile->launch;
    if ((l->got_load >> processor & 1) == 0) {
        judge_enabled(m, tile, processor, "GO");
    }
    l->got_go |= (uint8_t)(1 << processor);
    l->any_go = true;
}

void launch_command_unknown(struct tile *tile, unsigned processor)
{
    struct launch *l = &tile->launch;
    uint8_t bit = (uint8_t)(1 << processor);
    l->excused |= bit;
    l->any_go = true;
    l->obscure |= l->active == YES ? 0 : bit;
}

void launch_kernel_enter(struct model *m, struct tile *tile, unsigned agent,
                         const struct nocap_event *event)
{
    struct launch *l = &tile->launch;
    unsigned p = nocap_core(agent)->processor;
    struct kernel *k = &l->kernels[p];
    bool told = l->go_pending != NO || launch_may_preload(m, tile);
    if (!tile->sees_cores || (agent == NOCAP_BY_BRISC && told)) {
        launch_act(m, tile);
    }
    bool certain = tile->sees_cores || l->message.mode == NOCAP_MODE_HOST;
    if (l->active == YES && l->message_known && certain && (event->has & NOCAP_F_PC) != 0 &&
        launch_enabled(&l->message, p)) {
        uint32_t entry = nocap_kernel_entry(&l->message, (enum nocap_processor)p);
        EXPECT(
            m, tile, GO_011, event->pc == entry, RELATED(l->slots[l->slot].index),
            "the kernel entered at kernel_config_base + kernel_text_offset of the launch message",
            "entered at 0x%llx, the message says 0x%x", (unsigned long long)event->pc, entry);
    }
    if (l->active == YES && k->entered > 0 && (l->excused >> p & 1) == 0) {
        EXPECT(m, tile, GO_012, false, RELATED(k->enter_index),
               "each enabled core in its kernel once a launch", "%s entered it for the second time",
               nocap_agent_name(agent));
        l->excused |= (uint8_t)(1 << p);
    }
    k->inside = YES;
    k->entered = k->entered < UINT8_MAX ? (uint8_t)(k->entered + 1) : k->entered;
    k->enter_index = m->event->index;
    k->enter_time = m->event->t;
    k->enter_turn = m->turn;
}

void launch_kernel_exit(struct model *m, struct tile *tile, unsigned agent)
{
    struct kernel *k = &tile->launch.kernels[nocap_core(agent)->processor];
    k->inside = NO;
    k->left = k->left < UINT8_MAX ? (uint8_t)(k->left + 1) : k->left;
    k->exit_index = m->event->index;
    k->exit_time = m->event->t;
}

/* Something happened to the go word that was not captured: what runs is not known any more. */
void launch_forget(struct tile *tile)
{
    struct launch *l = &tile->launch;
    l->go_pending = l->active = l->advance = l->finished_host = UNKNOWN;
    l->cause = CAUSE_UNKNOWN;
    l->request = 0;
    l->notify_owed = l->message_known = false;
    l->slot = -1;
    for (unsigned p = 0; p < CORES; p++) {
        l->excused |= (uint8_t)(1 << p);
    }
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        l->slots[i].fresh = UNKNOWN;
    }
    tile->sync.caches = UNKNOWN;
    if (tile->boot.phase == BOOT_RELEASED) {
        tile->boot.phase = BOOT_UNKNOWN;
    }
}

static void brisc_go_word(struct model *m, struct tile *tile, const struct access *a, unsigned i)
{
    uint8_t signal;
    if (!access_byte(a, nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE, &signal)) {
        if (touches(a, nocap_go_word_address(m->layout, i) + NOCAP_GO_SIGNAL_BYTE, 1)) {
            launch_forget(tile);
        }
        return;
    }
    EXPECT(m, tile, GO_001, nocap_go_name(signal) != NULL, NOTHING, "one of 00 40 80 C0 E0 F0",
           "signal 0x%02x", signal);
    EXPECT(m, tile, GO_002, signal == NOCAP_GO_DONE || nocap_go_name(signal) == NULL, NOTHING,
           "BRISC stores no signal but DONE", "0x%02x", signal);
    if (signal != NOCAP_GO_DONE) {
        launch_abandon(tile); /* this stands where DONE should */
        return;
    }
    if (tile->boot.phase == BOOT_RELEASED && i == 0) {
        boot_done(m, tile);
        sync_launch_over(tile);
    } else {
        launch_finish_done(m, tile);
    }
}

/* Stores of the tile's own cores to the mailbox. */
void launch_core_store(struct model *m, struct tile *tile, const struct access *a)
{
    uint32_t v;
    if (a->addr >= SHADOW_SIZE) {
        if (a->by != NOCAP_BY_BRISC) {
            launch_judge_core_store(m, tile, a);
        }
        return;
    }
    for (unsigned i = 0; i < NOCAP_GO_WORDS; i++) {
        uint32_t at = nocap_go_word_address(m->layout, i);
        if (!touches(a, at, NOCAP_GO_WORD_SIZE)) {
            continue;
        }
        if (a->by == NOCAP_BY_BRISC) {
            brisc_go_word(m, tile, a, i);
        } else if (touches(a, at + NOCAP_GO_SIGNAL_BYTE, 1)) {
            EXPECT(m, tile, GO_002, false, NOTHING,
                   "go words stored by BRISC, host or dispatcher only", "%s stored it",
                   nocap_agent_name(a->by));
            launch_forget(tile); /* BRISC may still be in the launch, or not */
            tile->launch.doubtful = true;
        }
    }
    if (a->by != NOCAP_BY_BRISC) {
        launch_judge_core_store(m, tile, a);
        EXPECT(m, tile, GO_008, !touches(a, NOCAP_RD_PTR, 4), NOTHING,
               "rd_ptr stored by BRISC only", "%s stored it", nocap_agent_name(a->by));
        tile->launch.rd_ptr_doubted |= touches(a, NOCAP_RD_PTR, 4);
    } else if (access_word(a, NOCAP_RD_PTR, &v)) {
        launch_rd_ptr_store(m, tile, v);
    } else if (touches(a, NOCAP_RD_PTR, 4)) {
        tile->launch.advance = UNKNOWN;
        tile->launch.request_done = UNKNOWN;
        tile->launch.notify_owed = false;
    }
}

/* A host that reads DONE knows that the tile is idle, also where the tile itself was not observed.
 */
void launch_host_read(struct model *m, struct tile *tile, const struct access *a)
{
    struct launch *l = &tile->launch;
    int active = launch_go_index(m, tile);
    uint8_t signal;
    if (!access_byte(a,
                     nocap_go_word_address(m->layout, active < 0 ? 0 : (unsigned)active) +
                         NOCAP_GO_SIGNAL_BYTE,
                     &signal) ||
        signal != NOCAP_GO_DONE) {
        return;
    }
    if (!tile->sees_cores && l->go.index != NO_INDEX) {
        boot_core_runs(m, tile, NOCAP_PROCESSOR_BRISC);
        l->go_pending = l->active = NO;
        l->done = now(m);
    }
}

/* A snapshot of memory: an idle tile is known to be idle. */
void launch_memory(struct model *m, struct tile *tile)
{
    struct launch *l = &tile->launch;
    int active = launch_go_index(m, tile);
    uint8_t signal;
    if (active < 0 || !tile->sees_outside || l->go_pending != UNKNOWN || l->go.index != NO_INDEX ||
        !shadow_byte(&tile->l1,
                     nocap_go_word_address(m->layout, (unsigned)active) + NOCAP_GO_SIGNAL_BYTE,
                     &signal) ||
        signal != NOCAP_GO_DONE || launch_may_preload(m, tile)) {
        return;
    }
    /* where messages were not seen it may be at work for one that is preloaded */
    tile->sync.caches = certainly_no_preload(m, tile) ? NO : UNKNOWN;
    l->go_pending = l->active = l->advance = NO;
    for (unsigned p = 0; p < CORES; p++) {
        l->kernels[p].inside = NO;
    }
}
