/* SPDX-License-Identifier: Apache-2.0 */
/* Reset and boot: who is in reset, what BRISC and its subordinates set up before they say that they
 * are ready. Rules RST, second part. */
#include <string.h>

#include "formats/elf_image.h"
#include "replay/launch/launch_private.h"

static const struct {
    uint32_t address, mask, value;
} setup_registers[BOOT_SETUP_REGISTERS] = {
    {NOCAP_REG_DEST_CG_CTRL, UINT32_MAX, 0},
    {NOCAP_REG_CLK_GATE_EN, UINT32_MAX, NOCAP_CLK_GATE_EN_BOOT},
    {NOCAP_BASE_NIU0 + NOCAP_NIU_NIU_CFG_0, 1, 1},
    {NOCAP_BASE_NIU0 + NOCAP_NIU_ROUTER_CFG_0, 1, 1},
    {NOCAP_BASE_NIU1 + NOCAP_NIU_NIU_CFG_0, 1, 1},
    {NOCAP_BASE_NIU1 + NOCAP_NIU_ROUTER_CFG_0, 1, 1},
};

void boot_init(struct tile *tile, bool power_on)
{
    struct boot *b = boot_of(tile);
    memset(b, 0, sizeof *b);
    b->released.index = b->early_done.index = b->last_poll.index = b->unstored.index =
        b->shown_done.index = NO_INDEX;
    b->unreleased[0].index = b->unreleased[1].index = NO_INDEX;
    if (power_on) {
        b->phase = BOOT_POWER_ON;
        for (unsigned p = 0; p < CORES; p++) {
            b->running[p] = b->override[p] = NO;
            b->reset_pc_known[p] = true;
        }
    }
}

bool boot_uploading(const struct tile *tile)
{
    return boot_of(tile)->phase == BOOT_HELD || boot_of(tile)->phase == BOOT_POWER_ON;
}

/* The cores in reset that this value of SOFT_RESET_0 releases, as its bits. */
static unsigned newly_released(const struct boot *b, uint32_t value)
{
    uint32_t held = 0;
    for (unsigned p = 0; p < CORES; p++) {
        held |= b->running[p] == NO ? nocap_cores[p].reset_mask : 0;
    }
    return held & ~value;
}

static void release_brisc(struct model *m, struct tile *tile)
{
    struct boot *b = boot_of(tile);
    uint8_t signal;
    bool uploaded = b->span_count > 0 || b->phase == BOOT_HELD;
    boot_judge_upload(m, tile);
    if (uploaded &&
        shadow_byte(&tile->l1, m->layout->go_messages + NOCAP_GO_SIGNAL_BYTE, &signal)) {
        CHECK_SEEING(m, tile, m->layout->go_messages + NOCAP_GO_SIGNAL_BYTE, 1, RST_003,
                     signal == NOCAP_GO_GO ? tile->go_since : FAULT_NONE, signal == NOCAP_GO_INIT,
                     NO_REFS, "INIT (0x40) in the signal of go message 0",
                     "BRISC released with go signal 0x%02x, not INIT (0x40)", signal);
    }
    b->phase = BOOT_RELEASED;
    b->released = now(m);
    b->text_since = b->start_since = FAULT_NONE;
    b->setup = b->cleared = b->prng_seeded = 0;
    b->seen_ready = b->halfway = false;
    b->early_done.index = b->last_poll.index = b->unstored.index = b->shown_done.index = NO_INDEX;
    memset(b->zeros, 0, sizeof b->zeros);
    memset(b->gpr_zeroed, 0, sizeof b->gpr_zeroed);
    launch_init(tile, true);
}

/* Without its ELF file, what can be said of a core's reset PC: it is the start of text, of no other
 * core's text, and not what the host programmed for another core. If another core's is the same,
 * its bit is set in `with`: one fault. */
static bool plausible_pc(const struct model *m, const struct tile *tile, unsigned processor,
                         uint8_t *with)
{
    const struct boot *b = boot_of(tile);
    uint32_t pc = b->reset_pc[processor];
    bool right = boot_text_begins(m, tile, processor, pc);
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        bool twice = b->reset_pc_known[p] && b->reset_pc[p] == pc;
        bool swapped =
            b->host_pc[p] == pc && b->host_pc[processor] != 0 && b->host_pc[processor] != pc;
        if (p != processor && (twice || swapped)) {
            *with |= (uint8_t)(1 << p);
            right = false;
        }
    }
    return right;
}

/* A piece of firmware that one write left out for many tiles, or firmware that programs all its
 * tiles alike: what the core's reset PC is known since. */
static fault_id wrong_pc_since(const struct model *m, const struct tile *tile, unsigned processor)
{
    const struct boot *b = boot_of(tile);
    const struct wrong_pc *wrong = &state_of(m)->wrong_pc[processor];
    bool same = wrong->release == b->released.index && wrong->pc == b->reset_pc[processor];
    fault_id since = b->pc_since[processor];
    const struct stray *stray = &tile->strays[NOCAP_PROCESSOR_BRISC];
    if (since == FAULT_NONE && boot_text_begins(m, tile, processor, stray->value)) {
        since = stray_since(tile, NOCAP_PROCESSOR_BRISC, b->released.turn, 0, 0);
    }
    return since_or(since, same && !asked_for(m, tile) ? wrong->fault : b->text_since);
}

/* Where a subordinate starts: judged when it leaves reset. */
static void judge_reset_pc(struct model *m, struct tile *tile, unsigned processor)
{
    struct boot *b = boot_of(tile);
    const struct nocap_elf_image *elf = m->firmware[processor];
    uint32_t pc = b->reset_pc[processor], mask;
    if (!b->reset_pc_known[processor] ||
        (elf == NULL && (!boot_spans_known(b) || boot_may_be_older(m, tile, pc)))) {
        return;
    }
    uint8_t with = (uint8_t)(1 << processor);
    bool right =
        elf != NULL ? pc == nocap_elf_text_base(elf) : plausible_pc(m, tile, processor, &with);
    const char *name = nocap_agent_name(nocap_cores[processor].agent);
    fault_id since = wrong_pc_since(m, tile, processor);
    CHECK_SEEING(m, tile, nocap_reset_pc_register(nocap_cores[processor].agent), 4, RST_005, since,
                 right, NO_REFS, "a reset PC at the start of the RISC's firmware text",
                 "%s left reset at 0x%x, not the start of its firmware text", name, pc);
    if (!right) {
        state_of(m)->wrong_pc[processor] = (struct wrong_pc){b->released.index, pc, m->fault};
        b->start_since = m->fault;
    }
    if (right && b->override[processor] != UNKNOWN) {
        with = launch_group(processor); /* one register for all three TRISCs */
        uint32_t override = nocap_reset_pc_override(nocap_cores[processor].agent, &mask);
        since = since_or(b->pc_since[processor],
                         stray_since(tile, NOCAP_PROCESSOR_BRISC, b->released.turn, mask, mask));
        CHECK_SEEING(m, tile, override, 4, RST_005, since, b->override[processor] == YES, NO_REFS,
                     "the reset PC override of the RISC enabled",
                     "%s left reset with its reset PC override off", name);
    }
    for (unsigned p = 0; m->fault != FAULT_NONE && p < CORES; p++) {
        b->pc_since[p] = (with >> p & 1) != 0 ? m->fault : b->pc_since[p];
    }
}

/* Whether the trace would show who releases this core: it shows the steps before. */
static bool sees_release(const struct model *m, const struct tile *tile, unsigned processor)
{
    const struct boot *b = boot_of(tile);
    bool brisc = processor == NOCAP_PROCESSOR_BRISC;
    uint32_t needs = NOCAP_CLASS_HOST_MMIO | (brisc ? 0 : NOCAP_CLASS_CORE_MMIO);
    bool shown = brisc ? b->phase == BOOT_HELD : b->phase == BOOT_RELEASED && tile->sees_cores;
    return shown && m->header->complete == NOCAP_TRUE && (m->header->observes & needs) == needs;
}

/* `judge`: where a subordinate starts; one that the host releases breaks a rule anyway. */
static void release_core(struct model *m, struct tile *tile, unsigned processor, bool judge)
{
    if (sees_release(m, tile, processor)) {
        MARK_EXERCISED(m, RST_020);
    }
    if (processor == NOCAP_PROCESSOR_BRISC) {
        release_brisc(m, tile);
    } else if (judge) {
        judge_reset_pc(m, tile, processor);
    }
    boot_of(tile)->running[processor] = YES;
    boot_of(tile)->met |= (uint8_t)(1 << processor);
}

static void begin_upload(struct tile *tile)
{
    boot_of(tile)->phase = BOOT_HELD;
    boot_upload_begins(boot_of(tile));
    launch_init(tile, true);
}

static void hold(struct tile *tile, uint32_t value)
{
    struct boot *b = boot_of(tile);
    for (unsigned p = 0; p < CORES; p++) {
        if ((value & nocap_cores[p].reset_mask) != 0) {
            b->running[p] = NO;
            b->pc_since[p] = FAULT_NONE;
        } else if (b->running[p] == UNKNOWN) {
            b->running[p] = YES;
        }
    }
    if ((value & NOCAP_SOFT_RESET_ALL) == NOCAP_SOFT_RESET_ALL && b->phase != BOOT_HELD) {
        begin_upload(tile);
    }
}

/* SOFT_RESET_0 becomes `value`, which takes those of `released` out of reset. */
static void soft_reset(struct model *m, struct tile *tile, uint32_t value, unsigned released,
                       bool judge)
{
    if ((value & NOCAP_SOFT_RESET_SUBORDINATES) == 0) { /* whatever was seen of them before */
        boot_of(tile)->unreleased[1].index = NO_INDEX;
    }
    hold(tile, value);
    for (unsigned p = 0; p < CORES; p++) {
        if ((released & nocap_cores[p].reset_mask) != 0) {
            release_core(m, tile, p, judge);
        }
    }
}

static void host_soft_reset(struct model *m, struct tile *tile, uint32_t value)
{
    struct boot *b = boot_of(tile);
    unsigned released = newly_released(b, value);
    /* one that takes BRISC into reset, or leaves it there at first: RST-001's */
    bool holding = (value & NOCAP_SOFT_RESET_BRISC) != 0 &&
                   (b->phase == BOOT_POWER_ON || b->running[NOCAP_PROCESSOR_BRISC] == YES);
    fault_id alone = FAULT_NONE;
    if (released != 0 && !holding) {
        CHECK(m, tile, RST_007, (released & NOCAP_SOFT_RESET_SUBORDINATES) == 0, NO_REFS,
              "BRISC released alone, with 0x47000",
              "0x%x stored to SOFT_RESET_0, which releases subordinates", value);
        alone = m->fault;
    }
    if ((value & NOCAP_SOFT_RESET_BRISC) == 0) {
        b->unreleased[0].index = NO_INDEX;
    }
    deferred_drop(tile); /* BRISC may have been held until now */
    bool all = (value & NOCAP_SOFT_RESET_ALL) == NOCAP_SOFT_RESET_ALL;
    if (all && b->last_poll.index != NO_INDEX && !b->seen_ready) { /* it has waited in vain */
        boot_judge_ready(m, tile, false, "the host takes it into reset");
    }
    soft_reset(m, tile, value, released, false);
    b->start_since = since_or(alone, b->start_since);
}

static void reset_pc_store(struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    for (unsigned p = NOCAP_PROCESSOR_NCRISC; p < CORES; p++) {
        uint32_t mask, v, override = nocap_reset_pc_override(nocap_cores[p].agent, &mask);
        uint32_t reg = nocap_reset_pc_register(nocap_cores[p].agent);
        if (touches(a, reg, 4)) {
            b->reset_pc_known[p] = access_word(a, reg, &b->reset_pc[p]);
            if (a->by == NOCAP_BY_HOST) {
                b->host_pc[p] = b->reset_pc_known[p] ? b->reset_pc[p] : 0;
            }
        }
        if (touches(a, override, 4)) {
            b->override[p] = !access_word(a, override, &v) ? UNKNOWN : (v & mask) != 0 ? YES : NO;
        }
    }
}

/* A write to L1 while cores may run: firmware text is not touched then. */
static void judge_text(struct model *m, struct tile *tile, const struct access *a)
{
    struct boot *b = boot_of(tile);
    bool hit = boot_in_text(m, tile, a), brisc = brisc_may_run(tile);
    unsigned running = 0; /* a core that is known to be out of reset; CORES: none */
    while (running < CORES && b->running[running] != YES) {
        running++;
    }
    if (!brisc && running == CORES) {
        return;
    }
    if (hit && !brisc) {
        CHECK_AFTER(m, tile, RST_001, b->text_since, false, NO_REFS,
                    "SOFT_RESET_0 with all of 0x47800 before the first firmware byte",
                    "%llu bytes of firmware written to 0x%llx while %s runs",
                    (unsigned long long)a->size, (unsigned long long)a->addr,
                    nocap_agent_name(nocap_cores[running].agent));
        begin_upload(tile);
        boot_upload(m, tile, a);
    } else {
        CHECK_AFTER(m, tile, RST_016, b->text_since, !hit, RELATED(b->released.index),
                    "firmware text not modified while BRISC runs",
                    "%llu bytes written to firmware text at 0x%llx while BRISC runs",
                    (unsigned long long)a->size, (unsigned long long)a->addr);
    }
    b->text_since = hit ? m->fault : b->text_since;
    part_of(tile)->changed |= hit;
    if (!hit) {
        boot_upload_changes(b, a);
    }
}

void boot_outside_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    uint32_t value;
    if (boot_uploading(tile)) {
        boot_upload(m, tile, a);
        part_of(tile)->changed = true;
    } else if (a->addr < NOCAP_L1_SIZE && a->addr >= NOCAP_L1_LLK_DEBUG) {
        judge_text(m, tile, a);
    }
    if (access_word(a, NOCAP_REG_SOFT_RESET_0, &value)) {
        host_soft_reset(m, tile, value);
    }
    if ((o->places & PLACE(DEBUG)) != 0) {
        reset_pc_store(tile, a);
    }
    if ((o->places & PLACE(SYNC)) != 0) {
        boot_of(tile)->shown_done.index = NO_INDEX; /* it may be INIT that is stored */
    }
}

void boot_write_combining(struct model *m, const struct observation *o)
{
    struct launch_state *s = state_of(m);
    struct event_ref *wc = &s->wc_write;
    bool others = wc->index != NO_INDEX && s->wc_chip != o->tile->chip;
    if (!o->lead || o->access.by != NOCAP_BY_HOST || (o->event->has & NOCAP_F_MAP) == 0) {
        return;
    }
    if (o->event->map == NOCAP_MAP_WC && o->access.store) {
        *wc = now(m);
        s->wc_chip = o->tile->chip;
    } else if (others) {
        return; /* the windows of two chips have no order to keep */
    } else if (o->event->map == NOCAP_MAP_WC) {
        wc->index = NO_INDEX;
    } else if (o->access.store && o->region->kind == NOCAP_KIND_REGISTERS) {
        CHECK(m, o->tile, RST_006, wc->index == NO_INDEX, RELATED(wc->index),
              "a read of the write-combining window between its writes and the next register write",
              "register at 0x%llx written before a read drained the write-combining window",
              (unsigned long long)o->access.addr);
        wc->index = NO_INDEX;
    }
}

static void brisc_soft_reset(struct model *m, struct tile *tile, uint32_t value)
{
    struct boot *b = boot_of(tile);
    unsigned released = newly_released(b, value) & NOCAP_SOFT_RESET_SUBORDINATES;
    uint32_t word;
    bool booting = b->phase == BOOT_RELEASED && b->early_done.index == NO_INDEX;
    if (released != 0 && booting && tile->sees_cores) {
        if (shadow_word(&tile->l1, m->layout->sync, &word)) {
            fault_id stray = stray_since(tile, NOCAP_PROCESSOR_BRISC, b->released.turn, UINT32_MAX,
                                         NOCAP_SYNC_ALL_INIT);
            fault_id since = since_or(sync_since(tile, word ^ NOCAP_SYNC_ALL_INIT), stray);
            CHECK_SEEING(m, tile, m->layout->sync, 4, RST_010, since, word == NOCAP_SYNC_ALL_INIT,
                         NO_REFS, "0x40404040 in the sync word before the subordinates leave reset",
                         "subordinates released with sync word 0x%08x, not 0x40404040", word);
            b->start_since = since_or(m->fault, b->start_since);
            for (unsigned i = 0; i < SUBORDINATES; i++) {
                sync_of(tile)->since[i] = m->fault;
            }
        }
        CHECK(
            m, tile, RST_011, sync_of(tile)->caches != NO, RELATED(b->released.index),
            "all instruction caches invalidated (0x1f) before the subordinates leave reset", "%s",
            "subordinates released with instruction caches not invalidated since BRISC left reset");
    }
    soft_reset(m, tile, value, released, true);
}

static void setup_store(struct model *m, const struct observation *o)
{
    struct boot *b = boot_of(o->tile);
    const struct access *a = &o->access;
    bool registers = (o->places & (PLACE(DEBUG) | PLACE(NIU))) != 0;
    for (unsigned i = 0; registers && i < BOOT_SETUP_REGISTERS; i++) {
        if (may_store(a, setup_registers[i].address, setup_registers[i].mask,
                      setup_registers[i].value)) {
            b->setup |= (uint8_t)(1 << i);
        } else if (touches(a, setup_registers[i].address, 4)) {
            b->setup &= (uint8_t) ~(1 << i);
        }
    }
    if (m->layout->zeros != 0 && touches(a, m->layout->zeros, NOCAP_L1_ZEROS_SIZE)) {
        uint64_t first = a->addr > m->layout->zeros ? (a->addr - m->layout->zeros) / 4 : 0;
        uint64_t end = (a->addr + a->size + 3 - m->layout->zeros) / 4;
        for (uint64_t i = first; i < end && i < ZEROS_WORDS; i++) {
            if (may_store(a, m->layout->zeros + 4 * i, UINT32_MAX, 0)) {
                b->zeros[i / 64] |= UINT64_C(1) << i % 64;
            }
        }
    }
}

/* The names of the registers that device_setup left out. */
static const char *setup_left_out(unsigned lacks, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < BOOT_SETUP_REGISTERS; i++) {
        char name[48];
        if ((lacks >> i & 1) != 0 && used < size) {
            used += (size_t)snprintf(
                text + used, size - used, "%s%s", used == 0 ? ", not " : ", ",
                nocap_register_name(setup_registers[i].address, NOCAP_BY_BRISC, name, sizeof name));
        }
    }
    return text;
}

void boot_judge_setup(struct model *m, struct tile *tile, struct event_ref at)
{
    char text[160];
    const struct boot *b = boot_of(tile);
    const unsigned lacks = BOOT_SETUP_ALL & ~(unsigned)b->setup;
    const int zeros = __builtin_popcountll(b->zeros[0]) + __builtin_popcountll(b->zeros[1]);
    const int words = m->layout->zeros != 0 ? ZEROS_WORDS - zeros : 0;
    fault_id since = FAULT_NONE;
    if (__builtin_popcount(lacks) + words == 1) { /* it was to be stored elsewhere */
        unsigned i = lacks != 0 ? (unsigned)__builtin_ctz(lacks) : 0;
        since = stray_since(tile, NOCAP_PROCESSOR_BRISC, b->released.turn,
                            lacks != 0 ? setup_registers[i].mask : UINT32_MAX,
                            lacks != 0 ? setup_registers[i].value : 0);
    }
    FOLLOWING(
        m, since,
        CHECK_AT(
            m, tile, RST_014, lacks == 0 && words == 0, at, RELATED(b->released.index),
            "device_setup: DEST_CG_CTRL, CLK_GATE_EN, NIU_CFG_0 and ROUTER_CFG_0 of both NOCs, 512 "
            "zero bytes",
            "boot DONE with %d of %d words of the zero page zeroed, %d of %d setup registers "
            "written%s",
            zeros, ZEROS_WORDS, __builtin_popcount(b->setup), BOOT_SETUP_REGISTERS,
            setup_left_out(lacks, text, sizeof text)));
}

static void trisc_store(struct tile *tile, unsigned thread, const struct access *a)
{
    struct boot *b = boot_of(tile);
    if (a->addr >= NOCAP_BASE_GPR && a->addr < NOCAP_BASE_GPR + NOCAP_GPR_THREAD_SIZE &&
        may_store(a, a->addr, UINT32_MAX, 0)) {
        b->gpr_zeroed[thread] |= UINT64_C(1) << (a->addr - NOCAP_BASE_GPR) / 4;
    } else if (may_store(a, NOCAP_REG_PRNG_SEED, UINT32_MAX, 0)) {
        b->prng_seeded |= (uint8_t)(1 << thread);
    }
}

void boot_core_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    const struct nocap_core_info *core = nocap_core(a->by);
    uint32_t value;
    if (access_word(a, NOCAP_REG_SOFT_RESET_0, &value)) {
        brisc_soft_reset(m, tile, value);
    }
    if (boot_of(tile)->phase == BOOT_RELEASED) {
        if (a->by == NOCAP_BY_BRISC) {
            setup_store(m, o);
        } else if (core->thread >= 0) {
            trisc_store(tile, (unsigned)core->thread, a);
        }
    }
    if ((o->places & PLACE(DEBUG)) != 0) {
        reset_pc_store(tile, a);
    }
}

/* A core that was released before may still be at work for a moment when it is taken into reset. */
void boot_core_runs(struct model *m, struct tile *tile, unsigned processor)
{
    struct boot *b = boot_of(tile);
    struct event_ref *at = &b->unreleased[processor != NOCAP_PROCESSOR_BRISC];
    if (b->running[processor] == NO && (b->met >> processor & 1) == 0 && at->index == NO_INDEX &&
        sees_release(m, tile, processor)) {
        *at = now(m);
    }
    b->running[processor] = YES;
    b->met |= (uint8_t)(1 << processor);
}

void boot_reset_event(struct model *m, struct tile *tile, unsigned agent, bool run)
{
    const struct nocap_core_info *core = nocap_core(agent);
    if (run && boot_of(tile)->running[core->processor] != YES) {
        if (agent == NOCAP_BY_BRISC) {
            deferred_drop(tile);
        }
        boot_core_runs(m, tile, core->processor);
        release_core(m, tile, core->processor, true);
    } else if (!run) {
        boot_of(tile)->running[core->processor] = NO;
    }
}
