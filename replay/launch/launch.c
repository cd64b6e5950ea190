/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: launch messages, go words, kernels, from GO to DONE. Rules GO. What follows DONE is in
 * launch_done.c, what arrives from outside in launch_outside.c. */
#include <string.h>

#include "replay/launch/launch_private.h"

void launch_init(struct tile *tile, bool power_on)
{
    struct launch *l = launch_of(tile);
    memset(sync_of(tile), 0, sizeof *sync_of(tile));
    sync_of(tile)->caches = power_on ? NO : UNKNOWN;
    memset(l, 0, sizeof *l);
    l->slot = -1;
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

static uint32_t slot_address(const struct model *m, int slot)
{
    return nocap_launch_slot(m->layout, (unsigned)slot);
}

/* The bytes of a slot after a store to it: those that it brings, those that were there on both
 * sides. False unless all are known. */
static bool take_store(const struct model *m, const struct tile *tile, int slot,
                       const struct access *store, uint8_t *bytes)
{
    const uint64_t at = slot_address(m, slot), end = at + m->layout->launch_size;
    const uint64_t store_end = store->addr + store->size;
    const uint64_t first = store->addr < at ? at : store->addr < end ? store->addr : end;
    const uint64_t after = store_end > end ? end : store_end > first ? store_end : first;
    if (after > first) {
        if (after - store->addr > store->known) {
            return false;
        }
        memcpy(bytes + (first - at), store->bytes + (first - store->addr), after - first);
    }
    return (first == at || shadow_copy(&tile->l1, (uint32_t)at, (uint32_t)(first - at), bytes)) &&
           (after == end ||
            shadow_copy(&tile->l1, (uint32_t)after, (uint32_t)(end - after), bytes + (after - at)));
}

/* Most messages are those of the tile before, or of the launch before. */
static void decode(const struct model *m, const uint8_t *bytes, struct nocap_launch *message)
{
    struct decoded *latest = &state_of(m)->decoded;
    if (memcmp(latest->bytes, bytes, m->layout->launch_size) != 0) {
        memcpy(latest->bytes, bytes, m->layout->launch_size);
        nocap_launch_decode(m->layout, bytes, &latest->message);
    }
    memcpy(message, &latest->message, sizeof *message); /* with what lies between members */
}

const struct nocap_launch *launch_message_after(const struct model *m, const struct tile *tile,
                                                int slot, const struct access *store)
{
    uint8_t bytes[NOCAP_LAUNCH_SIZE_MAX];
    struct slot *s = &launch_of(tile)->slots[slot];
    const bool known = store != NULL ? take_store(m, tile, slot, store, bytes)
                                     : shadow_copy(&tile->l1, slot_address(m, slot),
                                                   m->layout->launch_size, bytes);
    if (known) {
        decode(m, bytes, &s->message);
    }
    s->read = known ? YES : NO;
    return launch_message(m, tile, slot);
}

const struct nocap_launch *launch_message(const struct model *m, const struct tile *tile, int slot)
{
    const struct slot *s = slot >= 0 ? &launch_of(tile)->slots[slot] : NULL;
    if (s != NULL && s->read == UNKNOWN) {
        return launch_message_after(m, tile, slot, NULL);
    }
    return s != NULL && s->read == YES && part_of(tile)->sees_outside ? &s->message : NULL;
}

/* NULL, or what is wrong, as a format for `value`. */
static const char *field_problem(const struct nocap_mailbox_layout *layout,
                                 const struct nocap_launch *l, uint32_t *value)
{
    static const char outside[] = "an offset of 0x%x from kernel_config_base lies outside L1";
    uint64_t base = l->kernel_config_base[0],
             room = base < NOCAP_L1_SIZE ? NOCAP_L1_SIZE - base : 0;
    const struct {
        bool wrong;
        uint32_t value;
        const char *what;
    } fields[] = {
        {(l->enables & ~(uint32_t)NOCAP_ENABLES_ALL) != 0, l->enables,
         "enables 0x%x has reserved bits set"},
        {l->mode != NOCAP_MODE_DEV && l->mode != NOCAP_MODE_HOST, l->mode,
         "mode %u is neither DEV nor HOST"},
        {l->brisc_noc_id > 1, l->brisc_noc_id, "brisc_noc_id %u is neither 0 nor 1"},
        {l->brisc_noc_mode > NOCAP_NOC_MODE_DYNAMIC, l->brisc_noc_mode,
         "brisc_noc_mode %u is not known"},
        {layout->zeros == NOCAP_L1_ZEROS && base < nocap_kernel_config_bases[0], (uint32_t)base,
         "kernel_config_base 0x%x lies in the mailbox or the firmware"},
        {l->sem_offset[0] >= room, l->sem_offset[0], outside},
        {l->local_cb_offset >= room, l->local_cb_offset, outside},
        {l->remote_cb_offset >= room, l->remote_cb_offset, outside},
    };
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *value = fields[i].value;
        if (fields[i].wrong) {
            return fields[i].what;
        }
    }
    for (unsigned p = 0; p < CORES; p++) {
        *value = l->kernel_text_offset[p];
        if ((l->enables >> p & 1) != 0 && l->kernel_text_offset[p] >= room) {
            return "kernel_text_offset 0x%x from kernel_config_base lies outside L1";
        }
        *value = nocap_kernel_entry(l, (enum nocap_processor)p);
        if ((l->enables >> p & 1) != 0 && *value % NOCAP_KERNEL_ALIGN != 0) {
            return "a kernel at 0x%x, which is no multiple of 4";
        }
    }
    return NULL;
}

void launch_judge_message(struct model *m, struct tile *tile, unsigned slot,
                          const struct nocap_launch *l)
{
    struct slot *s = &launch_of(tile)->slots[slot];
    if (s->judged || l->enables == 0) {
        return;
    }
    s->judged = true;
    uint32_t value;
    const char *problem = field_problem(m->layout, l, &value);
    if (judges(m, GO_009) && problem != NULL) {
        FOLLOWING(m, since_or(s->since, s->early),
                  report_violation(m, tile, GO_009, now(m), -1, RELATED(s->index),
                                   "launch message fields in their range",
                                   WITH_NUMBER(problem, value)));
        for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
            struct slot *other = &launch_of(tile)->slots[i]; /* the same write hit it, too */
            other->since = s->turn > 0 && other->turn == s->turn ? m->fault : other->since;
        }
    }
    uint32_t triscs = l->enables >> NOCAP_PROCESSOR_TRISC0;
    CHECK(m, tile, GO_010, (triscs & 7) == 0 || (triscs & 7) == 7, RELATED(s->index),
          "enable bits 2, 3 and 4 equal, since firmware tests bit 2 for all three TRISCs",
          "enables 0x%02x, which name only some of the TRISCs", l->enables);
}

fault_id launch_written_since(const struct model *m, const struct tile *tile)
{
    uint32_t word;
    bool known = shadow_word(&tile->l1, m->layout->go_messages, &word);
    const struct nocap_go_word go = nocap_go_decode(known ? word : 0);
    fault_id since = FAULT_NONE;
    for (uint32_t i = 0; i < m->queue_count && since == FAULT_NONE; i++) {
        const struct queue_facts *q = &m->queues[i];
        const struct nocap_xy at = q->at[QUEUE_SUBORDINATE];
        bool of_other = known && m->queue_count > 1 && (at.x != go.master_x || at.y != go.master_y);
        since = q->chip == tile->chip && !of_other ? q->writes_since : FAULT_NONE;
    }
    return since;
}

int launch_next_slot(const struct model *m, const struct tile *tile)
{
    uint32_t rd_ptr;
    if (launch_of(tile)->advance == UNKNOWN ||
        !shadow_word(&tile->l1, m->layout->rd_ptr, &rd_ptr) || rd_ptr >= NOCAP_LAUNCH_SLOTS) {
        return -1;
    }
    return (int)((rd_ptr + (launch_of(tile)->advance == YES)) % NOCAP_LAUNCH_SLOTS);
}

enum known launch_preloads(const struct model *m, const struct tile *tile)
{
    int slot = launch_next_slot(m, tile);
    enum known any = NO;
    for (int i = slot < 0 ? 0 : slot; i < (slot < 0 ? NOCAP_LAUNCH_SLOTS : slot + 1); i++) {
        const struct nocap_launch *message = launch_message(m, tile, i);
        if (message == NULL) {
            any = UNKNOWN;
        } else if ((message->preload & NOCAP_PRELOAD_FLAG) != 0) {
            return YES;
        }
    }
    return any;
}

void launch_fault(struct launch *l, fault_id fault)
{
    l->go_since = l->message_since = fault;
    launch_group_fault(l, ALL_CORES, fault);
}

void launch_start(struct model *m, struct tile *tile, int slot)
{
    struct launch *l = launch_of(tile);
    l->notify_early = l->notify_late = l->shift_since = FAULT_NONE;
    l->got_go = 0;
    l->begun = false;
    l->slot = l->go_since == FAULT_NONE ? slot : -1; /* else BRISC may read any */
    const struct nocap_launch *message = launch_message(m, tile, l->slot);
    l->message_known = message != NULL;
    l->message = message != NULL ? *message : (struct nocap_launch){0};
    launch_locate_texts(l);
    const struct slot *from = l->slot >= 0 ? &l->slots[l->slot] : NULL;
    l->message_since = l->parts_since =
        since_or(from != NULL ? since_or(from->since, from->early) : FAULT_NONE, l->rd_since);
    for (unsigned p = 0; p < CORES; p++) {
        struct kernel *k = &l->kernels[p];
        /* what was entered before is a part of this launch; or its exit may still come */
        bool part = k->enter_turn > l->done.turn ||
                    (k->inside == UNKNOWN && l->since[p] != FAULT_UNREPORTED);
        fault_id early = part ? l->since[p] : FAULT_NONE;
        l->since[p] = since_or(l->go_since, early);
        k->entered = k->left = 0;
    }
}

/* Whether the trace shows all who could give the tile a go word or a message. */
static bool sees_launches(const struct model *m, const struct tile *tile)
{
    const struct nocap_header *h = m->header;
    bool network = !h->has_scope || m->landings || launch_of(tile)->by_host ||
                   queue_dispatchers_seen(m, tile->chip);
    bool seen =
        (h->observes & NOCAP_CLASS_NOC) != 0 ? network : launch_of(tile)->finished_host == YES;
    return (h->observes & NOCAP_CLASS_HOST_MMIO) != 0 && seen;
}

bool launch_reports_message(const struct model *m, const struct tile *tile, int slot)
{
    return slot >= 0 && (launch_of(tile)->slots[slot].fresh == YES || sees_launches(m, tile));
}

bool launch_unseen(const struct model *m, struct tile *tile)
{
    if (sees_launches(m, tile)) {
        return false;
    }
    part_of(tile)->sees_outside = false;
    launch_forget(tile);
    return true;
}

/* BRISC does something that it does only in a launch. */
void launch_act(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    if (l->active == YES) {
        return;
    }
    part_of(tile)->changed = true;
    boot_over(m, tile);
    launch_notify_missing(m, tile, "the next launch began");
    if (l->finished_host == YES && tile->in_scope) {
        MARK_EXERCISED(m, GO_016);
    }
    l->advance = NO; /* it was stored before, or never will be */
    int slot = launch_next_slot(m, tile);
    const struct nocap_launch *next = launch_message(m, tile, slot);
    l->cause = l->go_pending == YES                        ? CAUSE_GO
               : l->go_pending == UNKNOWN || next == NULL  ? CAUSE_UNKNOWN
               : (next->preload & NOCAP_PRELOAD_FLAG) != 0 ? CAUSE_PRELOAD
                                                           : CAUSE_NONE;
    bool unseen = l->cause == CAUSE_NONE && launch_unseen(m, tile);
    bool begun = l->active == UNKNOWN;
    const fault_id parts = l->go_pending == YES ? l->parts_since : FAULT_NONE; /* since its GO */
    launch_start(m, tile, !unseen && launch_reports_message(m, tile, slot) ? slot : -1);
    l->parts_since = since_or(parts, l->parts_since);
    l->begun = begun;
    l->active = YES;
    l->asked = false;
    if (l->message_known) {
        launch_judge_message(m, tile, (unsigned)l->slot, &l->message);
    }
}

fault_id launch_command(struct model *m, struct tile *tile, unsigned processor, bool go)
{
    struct launch *l = launch_of(tile);
    l->got_go |= (uint8_t)(go << processor);
    if (!l->message_known) {
        return FAULT_NONE;
    }
    bool right = nocap_launch_starts(&l->message, processor);
    CHECK_AFTER(m, tile, SYN_014, launch_enabled_since(l, processor), right,
                RELATED(l->slots[l->slot].index), "LOAD and GO to enabled RISCs only",
                "%s to %s, which is not enabled (enables 0x%02x)", go ? "GO" : "LOAD",
                nocap_agent_name(nocap_cores[processor].agent), l->message.enables);
    const fault_id fault = m->fault;
    if (!right && l->message.enables == 0) { /* not the launch that BRISC does, nor its slot */
        l->go_since = l->message_since = l->parts_since = l->rd_since = fault;
    } else if (!right) {
        launch_group_fault(l, launch_group(processor), fault);
    }
    return fault;
}

void launch_kernel_enter(struct model *m, struct tile *tile, const struct nocap_event *event)
{
    struct launch *l = launch_of(tile);
    unsigned agent = event->by, p = nocap_core(agent)->processor;
    struct kernel *k = &l->kernels[p];
    bool called = l->go_pending != NO || launch_preloads(m, tile) == YES;
    if (!tile->sees_cores || (agent == NOCAP_BY_BRISC && called)) {
        launch_act(m, tile);
    }
    if (l->active == YES && k->entered > 0) {
        CHECK_AFTER(m, tile, GO_012, l->since[p], false, RELATED(k->enter_index),
                    "each enabled RISC in its kernel once a launch",
                    "%s entered its kernel a second time in one launch", nocap_agent_name(agent));
        l->since[p] = k->exit_owed = m->fault;
    }
    bool certain = tile->sees_cores || l->message.mode == NOCAP_MODE_HOST;
    if (l->active == YES && l->message_known && certain && (event->has & NOCAP_F_PC) != 0 &&
        nocap_launch_starts(&l->message, p)) {
        uint32_t entry = nocap_kernel_entry(&l->message, (enum nocap_processor)p);
        bool shifted = l->shift_since != FAULT_NONE && event->pc - entry == l->shift;
        fault_id since = shifted ? l->shift_since : launch_enabled_since(l, p);
        CHECK_AFTER(
            m, tile, GO_011, since, event->pc == entry, RELATED(l->slots[l->slot].index),
            "the kernel entered at kernel_config_base + kernel_text_offset of the launch message",
            "kernel entered at 0x%llx, the launch message says 0x%x", (unsigned long long)event->pc,
            entry);
        if (event->pc != entry) {
            l->shift = event->pc - entry;
            l->shift_since = m->fault;
        }
    }
    bool starts = l->active == YES && nocap_launch_starts(&l->message, p);
    if (starts && k->entered == 0) {
        l->since[p] = FAULT_NONE; /* so it had its commands, and has to leave once */
    }
    k->inside = YES;
    k->entered = k->entered < UINT8_MAX ? (uint8_t)(k->entered + 1) : k->entered;
    k->enter_index = event->index;
    k->enter_time = event->t;
    k->enter_turn = m->turn;
}

void launch_kernel_exit(const struct model *m, struct tile *tile, const struct nocap_event *event)
{
    const unsigned processor = nocap_core(event->by)->processor;
    struct kernel *k = &launch_of(tile)->kernels[processor];
    bool earlier = k->inside == UNKNOWN && k->entered == 0; /* of a launch before this one */
    k->exit_owed = k->inside == UNKNOWN ? FAULT_NONE : k->exit_owed;
    k->inside = NO;
    k->left = k->left < UINT8_MAX && !earlier ? (uint8_t)(k->left + 1) : k->left;
    k->exit_index = event->index;
    k->exit_time = event->t;
    launch_of(tile)->exit_turn[processor] = m->turn;
    launch_of(tile)->exit_source[processor] = event->src;
}

/* Something happened to the go word that was not captured: what runs is not known any more. */
void launch_forget(struct tile *tile)
{
    struct launch *l = launch_of(tile);
    l->go_pending = l->active = l->advance = l->finished_host = UNKNOWN;
    l->cause = CAUSE_UNKNOWN;
    l->open = false;
    l->request = 0;
    l->notify_pending = l->message_known = false;
    l->slot = -1;
    launch_group_fault(l, ALL_CORES, FAULT_UNREPORTED);
    for (unsigned i = 0; i < NOCAP_LAUNCH_SLOTS; i++) {
        l->slots[i].fresh = UNKNOWN;
    }
    sync_of(tile)->caches = UNKNOWN;
}

static void brisc_go_word(struct model *m, struct tile *tile, const struct access *a, unsigned i)
{
    uint8_t signal;
    if (!access_byte(a, go_signal_address(m, i), &signal)) {
        return;
    }
    CHECK(m, tile, GO_001, nocap_go_name(signal) != NULL, NO_REFS, "one of 00 40 80 C0 E0 F0",
          "unknown signal 0x%02x in a go message", signal);
    CHECK(m, tile, GO_002, signal == NOCAP_GO_DONE, NO_REFS, "no signal but DONE stored by BRISC",
          "signal 0x%02x stored by BRISC, not DONE", signal);
    if (signal != NOCAP_GO_DONE) { /* this stands where DONE should */
        launch_fault(launch_of(tile), m->fault);
        boot_of(tile)->start_since = m->fault;
    }
    if (boot_of(tile)->phase != BOOT_RELEASED || i != 0) {
        launch_finish_done(m, tile);
    } else if (signal == NOCAP_GO_DONE) {
        boot_done(m, tile);
        sync_launch_over(tile);
    }
}

/* Stores of the tile's own cores to the mailbox. */
void launch_core_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    uint32_t v;
    for (unsigned i = 0; (o->places & PLACE(GO)) != 0 && i < NOCAP_GO_WORDS; i++) {
        if (!touches(a, nocap_go_word_address(m->layout, i), NOCAP_GO_WORD_SIZE)) {
            continue;
        }
        if (a->by == NOCAP_BY_BRISC) {
            brisc_go_word(m, tile, a, i);
        } else if (touches(a, go_signal_address(m, i), 1)) {
            CHECK(m, tile, GO_002, false, NO_REFS,
                  "go messages stored by BRISC, host or dispatcher only", "go message stored by %s",
                  nocap_agent_name(a->by));
            store_strays(m);
            launch_forget(tile); /* BRISC may still be in the launch, or not */
            launch_of(tile)->go_since = m->fault;
        }
    }
    if (a->by != NOCAP_BY_BRISC) {
        launch_judge_intrusion(m,
                               o); /* kernels may write to L1, but not to what it launches from */
        if ((o->places & PLACE(RD_PTR)) != 0) {
            CHECK(m, tile, GO_008, false, NO_REFS, "rd_ptr stored by BRISC only",
                  "rd_ptr stored by %s", nocap_agent_name(a->by));
            launch_of(tile)->rd_since = m->fault;
            store_strays(m);
        }
    } else if ((o->places & PLACE(RD_PTR)) != 0 &&
               shadow_word_after(&tile->l1, m->layout->rd_ptr, a, &v)) {
        launch_rd_ptr_store(m, tile, v, a->size >= sizeof v);
    }
}

bool launch_host_alone(struct model *m, struct tile *tile, bool acted)
{
    struct launch_tile *part = part_of(tile);
    if (acted && tile->sees_cores && !part->shown && !m->dropped) {
        part->unshown = true;
        launch_unshown(tile, now(m), &state_of(m)->tiles);
    }
    return !tile->sees_cores || part->unshown;
}

/* A host that reads DONE knows that the tile is idle, also where the tile itself was not observed.
 */
void launch_host_read(struct model *m, struct tile *tile, const struct access *a)
{
    struct launch *l = launch_of(tile);
    uint8_t signal;
    if (l->go.index != NO_INDEX && access_byte(a, tile_signal_address(m, tile), &signal) &&
        signal == NOCAP_GO_DONE && launch_host_alone(m, tile, l->go_pending == YES)) {
        boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] = YES;
        deferred_report(m, tile);
        l->done = now(m);
        if (l->open) {
            launch_report(m, tile, true);
        }
        l->go_pending = l->active = NO;
    }
}

/* A snapshot of memory: an idle tile is known to be idle. */
void launch_memory(struct model *m, struct tile *tile)
{
    struct launch *l = launch_of(tile);
    uint8_t signal;
    if (tile_go_index(m, tile) < 0 || !part_of(tile)->sees_outside || l->go_pending != UNKNOWN ||
        l->go.index != NO_INDEX || !shadow_byte(&tile->l1, tile_signal_address(m, tile), &signal) ||
        signal != NOCAP_GO_DONE || launch_preloads(m, tile) == YES) {
        return;
    }
    /* where messages were not seen it may be at work for one that is preloaded */
    sync_of(tile)->caches = launch_preloads(m, tile);
    l->go_pending = l->active = l->advance = NO;
    for (unsigned p = 0; p < CORES; p++) {
        l->kernels[p].inside = NO;
    }
}
