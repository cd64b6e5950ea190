/* The subordinate sync word: four bytes, by which BRISC commands and the others answer. Rules SYN.
 */
#include <string.h>

#include "replay/tile.h"

enum { BYTE_NCRISC = 0, BYTE_TRISC0 = 1, ALL_TRISCS = 7 };

/* What BRISC may store to each byte. */
static bool value_allowed(unsigned byte, uint8_t v)
{
    switch (v) {
    case NOCAP_SYNC_DONE:
    case NOCAP_SYNC_INIT:
    case NOCAP_SYNC_GO: return true;
    case NOCAP_SYNC_LOAD: return byte == BYTE_NCRISC;
    case NOCAP_SYNC_INIT_REGISTERS: return byte == BYTE_TRISC0;
    default: return false;
    }
}

static unsigned processor_of(unsigned byte)
{
    return byte + NOCAP_PROCESSOR_NCRISC; /* the bytes stand in the order of the processors */
}

void sync_doubt(struct tile *tile, unsigned processor)
{
    tile->launch.excused |= (uint8_t)(1 << processor);
    if (nocap_cores[processor].sync_byte >= 0) {
        tile->sync.doubted |= (uint8_t)(1 << nocap_cores[processor].sync_byte);
    }
}

void sync_settle(struct tile *tile)
{
    for (unsigned i = 0; tile->sync.doubted != 0 && i < SUBORDINATES; i++) {
        if ((tile->sync.doubted >> i & 1) != 0) {
            shadow_forget(&tile->l1, NOCAP_SYNC + i, 1);
        }
    }
    tile->sync.doubted = 0;
    if (tile->launch.rd_ptr_doubted) {
        shadow_forget(&tile->l1, NOCAP_RD_PTR, 4);
        tile->launch.rd_ptr_doubted = false;
    }
}

/* BRISC went on as if all had answered: what the bytes of those that had not hold is not known any
 * more. The counter reset of TRISC0 goes on. */
void sync_overrun(struct tile *tile, uint32_t word)
{
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        uint8_t byte = (uint8_t)(word >> 8 * i);
        if (byte != NOCAP_SYNC_DONE && byte != NOCAP_SYNC_INIT_REGISTERS) {
            shadow_forget(&tile->l1, NOCAP_SYNC + i, 1);
        }
    }
}

void sync_init(struct tile *tile, bool power_on)
{
    memset(&tile->sync, 0, sizeof tile->sync);
    tile->sync.caches = power_on ? NO : UNKNOWN;
}

/* After a DONE the caches hold what ran so far. */
void sync_launch_over(struct tile *tile)
{
    tile->sync.caches = NO;
    tile->sync.group = 0;
    tile->sync.triscs_doubted = false;
}

static void judge_caches(struct model *m, struct tile *tile)
{
    bool first = !tile->launch.any_go && !tile->launch.begun;
    if (first && tile->sync.caches != UNKNOWN) {
        EXPECT(m, tile, SYN_012, tile->sync.caches == YES, RELATED(tile->launch.done.index),
               "instruction caches invalidated (0x1f) between the last DONE and the first GO", "%s",
               "no such store");
        tile->sync.caches = YES; /* told once */
    }
}

static void store_load(struct model *m, struct tile *tile, bool known, uint8_t old)
{
    launch_act(m, tile);
    if (known) {
        EXPECT(m, tile, SYN_005, old == NOCAP_SYNC_DONE, NOTHING, "LOAD only over 0",
               "the byte was 0x%02x", old);
    }
    launch_load(m, tile);
}

static void store_go(struct model *m, struct tile *tile, unsigned byte, bool known, uint8_t old)
{
    struct sync *s = &tile->sync;
    uint8_t trisc0;
    launch_act(m, tile);
    judge_caches(m, tile);
    if (byte == BYTE_NCRISC) {
        if (known) {
            EXPECT(m, tile, SYN_004, old == NOCAP_SYNC_LOAD, NOTHING,
                   "LOAD (0x01) in ncrisc's byte before GO", "the byte was 0x%02x", old);
        }
    } else if (!s->triscs_doubted) {
        bool first = s->group == 0;
        bool own = !known || old == NOCAP_SYNC_DONE;
        /* in a trace that begins here, it may have had its own GO before */
        bool ready = !first || !shadow_byte(&tile->l1, NOCAP_SYNC + BYTE_TRISC0, &trisc0) ||
                     trisc0 == NOCAP_SYNC_DONE || (s->caches == UNKNOWN && trisc0 == NOCAP_SYNC_GO);
        if (known && !told_now(m, SYN_007, SYN_007)) {
            EXPECT(m, tile, SYN_006, own && ready,
                   RELATED(s->initialising ? s->init_index : NO_INDEX),
                   "GO to a TRISC over its own byte 0, the first while trisc0's byte is 0",
                   own ? "its byte was 0x%02x, trisc0 still at its register init"
                       : "its byte was 0x%02x",
                   old);
        }
        uint8_t bit = (uint8_t)(1 << (byte - BYTE_TRISC0));
        if (first) {
            /* in a trace that begins here, others may have had theirs before */
            s->group_faulty = s->caches == UNKNOWN && byte != BYTE_TRISC0;
            s->group_index = m->event->index;
        }
        s->group |= bit;
        if (s->group == ALL_TRISCS) {
            s->group = 0;
        }
    }
    launch_go(m, tile, processor_of(byte));
}

static void store_init_registers(struct model *m, struct tile *tile)
{
    struct sync *s = &tile->sync;
    uint32_t word;
    if (!boot_done_doubted(tile) && shadow_word(&tile->l1, NOCAP_SYNC, &word)) {
        EXPECT(m, tile, SYN_010, word == NOCAP_SYNC_ALL_DONE, NOTHING,
               "0x03 only while the whole sync word is 0", "0x%08x", word);
        sync_overrun(tile, word);
    }
    s->initialising = true;
    s->init_faulty = false;
    s->received = s->acked = 0;
    s->init_index = m->event->index;
}

static void brisc_byte(struct model *m, struct tile *tile, unsigned byte, uint8_t v)
{
    uint8_t old = 0;
    bool known = shadow_byte(&tile->l1, NOCAP_SYNC + byte, &old);
    bool allowed = value_allowed(byte, v);
    EXPECT(m, tile, SYN_003, allowed, NOTHING,
           byte == BYTE_NCRISC   ? "one of 00 01 40 80 in ncrisc's byte"
           : byte == BYTE_TRISC0 ? "one of 00 03 40 80 in trisc0's byte"
                                 : "one of 00 40 80 in trisc1's and trisc2's byte",
           "0x%02x", v);
    if (!allowed) {
        sync_doubt(tile, processor_of(byte));
        tile->sync.triscs_doubted |= byte >= BYTE_TRISC0;
        tile->sync.group_faulty |= tile->sync.group != 0;
        if (byte == BYTE_TRISC0) {
            tile->sync.initialising = false;
        }
        return;
    }
    if (v != NOCAP_SYNC_INIT && v != NOCAP_SYNC_DONE) {
        boot_byte_reused(m, tile, byte);
        known = known && shadow_byte(&tile->l1, NOCAP_SYNC + byte, &old);
    }
    if (byte == BYTE_TRISC0) {
        tile->sync.initialising = false;
    }
    switch (v) {
    case NOCAP_SYNC_LOAD: store_load(m, tile, known, old); break;
    case NOCAP_SYNC_GO: store_go(m, tile, byte, known, old); break;
    case NOCAP_SYNC_INIT_REGISTERS: store_init_registers(m, tile); break;
    default: break;
    }
}

/* Any store of BRISC to the mailbox: the three GOs belong together. */
static void judge_group(struct model *m, struct tile *tile, const struct access *a)
{
    struct sync *s = &tile->sync;
    if (s->group == 0 || s->group_faulty ||
        !touches(a, NOCAP_MAILBOX_BASE, m->layout->go_message_index + 4 - NOCAP_MAILBOX_BASE)) {
        return;
    }
    uint64_t byte = a->addr - NOCAP_SYNC;
    uint8_t v;
    bool next = a->size == 1 && byte >= BYTE_TRISC0 && byte < SUBORDINATES &&
                (s->group >> (byte - BYTE_TRISC0) & 1) == 0 &&
                (!access_byte(a, a->addr, &v) || v == NOCAP_SYNC_GO ||
                 !value_allowed((unsigned)byte, v)); /* which breaks SYN-003 */
    EXPECT(m, tile, SYN_007, next, RELATED(s->group_index),
           "GO to all three TRISCs with no other mailbox store between",
           "a store to 0x%llx after GO to %d of them", (unsigned long long)a->addr,
           __builtin_popcount(s->group));
    s->group_faulty = !next;
    for (unsigned i = 0; !next && i < THREADS; i++) {
        if ((s->group >> i & 1) == 0) {
            sync_doubt(tile, NOCAP_PROCESSOR_TRISC0 + i);
        }
    }
}

/* What BRISC stored to a byte was not captured. */
static void command_unknown(struct tile *tile, unsigned byte)
{
    struct sync *s = &tile->sync;
    launch_command_unknown(tile, processor_of(byte));
    if (byte >= BYTE_TRISC0) { /* perhaps a GO */
        s->group |= (uint8_t)(1 << (byte - BYTE_TRISC0));
        s->group = s->group == ALL_TRISCS ? 0 : s->group;
        s->group_faulty = true;
    }
    s->initialising = false;
    s->caches = UNKNOWN;
}

static void brisc_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (touches(a, NOCAP_REG_RISCV_IC_INVALIDATE, 4)) {
        bool booting = tile->boot.phase == BOOT_RELEASED ||
                       (tile->boot.phase == BOOT_UNKNOWN && tile->launch.active == UNKNOWN);
        if (!booting) {
            launch_act(m, tile);
        }
        if (may_store(a, NOCAP_REG_RISCV_IC_INVALIDATE, UINT32_MAX, NOCAP_IC_INVALIDATE_ALL)) {
            tile->sync.caches = YES;
        }
        return;
    }
    if (tile->boot.phase == BOOT_RELEASED && a->addr == NOCAP_SYNC && a->size == NOCAP_SYNC_BYTES) {
        return; /* INIT for all, which RST-010 judges */
    }
    judge_group(m, tile, a);
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        uint8_t byte;
        if (access_byte(a, NOCAP_SYNC + i, &byte)) {
            brisc_byte(m, tile, i, byte);
        } else if (touches(a, NOCAP_SYNC + i, 1)) {
            command_unknown(tile, i);
        }
    }
}

static void judge_counters(struct model *m, struct tile *tile)
{
    struct sync *s = &tile->sync;
    if (!s->initialising || (m->header->observes & NOCAP_CLASS_CORE_MMIO) == 0) {
        return;
    }
    bool all = s->received == UINT32_MAX && s->acked == UINT32_MAX;
    if (!s->init_faulty) {
        EXPECT(m, tile, SYN_011, all, RELATED(s->init_index),
               "received and acked counters of all 32 circular buffers zeroed between 0x03 and 0",
               "%d received and %d acked counters zeroed", __builtin_popcount(s->received),
               __builtin_popcount(s->acked));
    }
    s->initialising = false;
}

static void judge_drain(struct model *m, struct tile *tile, const struct nocap_core_info *core)
{
    const struct kernel *k = &tile->launch.kernels[core->processor];
    if (core->thread < 0 || k->left == 0 || k->inside != NO) {
        return;
    }
    bool loads = (m->header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
    bool stored = (tile->sync.drained >> core->thread & 1) != 0;
    bool loaded = !loads || (tile->sync.drain_loaded >> core->thread & 1) != 0;
    EXPECT(m, tile, SYN_013, stored && loaded, RELATED(k->exit_index),
           loads ? "a store to 0xFFE80004 and a load of it between kernel exit and DONE"
                 : "a store to 0xFFE80004 between kernel exit and DONE",
           "%s", stored ? "no load of it" : "no store to it");
}

/* A subordinate says that it is done. */
static void clear(struct model *m, struct tile *tile, const struct nocap_core_info *core,
                  uint8_t old)
{
    const struct kernel *k = &tile->launch.kernels[core->processor];
    bool booting = tile->boot.phase == BOOT_RELEASED;
    if (booting && (old == NOCAP_SYNC_INIT || old == NOCAP_SYNC_DONE)) {
        boot_sync_clear(m, tile, core->agent, old);
        return;
    }
    bool from = old == NOCAP_SYNC_INIT || old == NOCAP_SYNC_GO ||
                (core->sync_byte == BYTE_TRISC0 && old == NOCAP_SYNC_INIT_REGISTERS);
    bool inside = k->inside == YES;
    EXPECT(m, tile, SYN_008, from && !inside, RELATED(inside ? k->enter_index : NO_INDEX),
           core->sync_byte == BYTE_TRISC0
               ? "the byte cleared from 40, 80 or 03, outside of the kernel"
               : "the byte cleared from 40 or 80, outside of the kernel",
           inside ? "cleared from 0x%02x inside its kernel" : "cleared from 0x%02x", old);
    if (inside && m->armed[SYN_008]) { /* its exit was lost, or comes too late: told once */
        tile->launch.kernels[core->processor].inside = UNKNOWN;
        tile->launch.excused |= (uint8_t)(1 << core->processor);
    }
    if (old == NOCAP_SYNC_INIT_REGISTERS) {
        judge_counters(m, tile);
    } else if (from && !inside && old == NOCAP_SYNC_GO) {
        judge_drain(m, tile, core);
    }
}

/* While TRISC0 zeroes the tile counters it does nothing else. */
static void trisc0_store(struct model *m, struct tile *tile, const struct access *a)
{
    struct sync *s = &tile->sync;
    struct nocap_register_place place;
    uint64_t mailbox = m->layout->go_message_index + 4 - NOCAP_MAILBOX_BASE;
    if (!s->initialising || s->init_faulty || touches(a, NOCAP_MAILBOX_BASE, mailbox)) {
        return; /* a wrong store to the mailbox breaks another rule */
    }
    unsigned buffer = NOCAP_CB_COUNT;
    if (a->addr >= NOCAP_BASE_STREAM && nocap_register_find(a->addr, a->by, &place) &&
        place.family == NOCAP_FAMILY_STREAM) {
        buffer = place.stream - (unsigned)NOCAP_CB_STREAM;
    }
    uint32_t *counters = buffer >= NOCAP_CB_COUNT                     ? NULL
                         : place.index == NOCAP_STREAM_TILES_RECEIVED ? &s->received
                         : place.index == NOCAP_STREAM_TILES_ACKED    ? &s->acked
                                                                      : NULL;
    bool zero = may_store(a, a->addr, UINT32_MAX, 0);
    bool right = counters != NULL && zero && (*counters >> buffer & 1) == 0;
    EXPECT(m, tile, SYN_011, right, RELATED(s->init_index),
           "each tile counter zeroed once, and nothing else stored", "a store to 0x%llx%s",
           (unsigned long long)a->addr,
           counters == NULL ? ""
           : zero           ? " for the second time"
                            : " of something else than 0");
    s->init_faulty = !right;
    if (right) {
        *counters |= UINT32_C(1) << buffer;
    }
}

static void subordinate_store(struct model *m, struct tile *tile, const struct access *a)
{
    const struct nocap_core_info *core = nocap_core(a->by);
    if (a->by == NOCAP_BY_TRISC0) {
        trisc0_store(m, tile, a);
    }
    if (core->thread >= 0 && touches(a, NOCAP_REG_TTSYNC, 4)) {
        tile->sync.drained |= (uint8_t)(1 << core->thread);
    }
    if (!touches(a, NOCAP_SYNC, NOCAP_SYNC_BYTES)) {
        return;
    }
    HOLDS(m, SYN_002);
    uint8_t v = 0, old;
    uint32_t own = NOCAP_SYNC + (uint32_t)core->sync_byte;
    bool known = access_byte(a, a->addr, &v);
    bool right = a->addr == own && a->size == 1 && (!known || v == NOCAP_SYNC_DONE);
    EXPECT(m, tile, SYN_001, right, NOTHING, "a subordinate stores only its own byte, and only 0",
           "%llu bytes at 0x%llx, the first 0x%02x", (unsigned long long)a->size,
           (unsigned long long)a->addr, v);
    for (unsigned i = 0; !right && i < SUBORDINATES; i++) {
        if (i == (unsigned)core->sync_byte || touches(a, NOCAP_SYNC + i, 1)) {
            sync_doubt(tile, processor_of(i));
        }
    }
    if (right && !shadow_byte(&tile->l1, own, &old)) {
        tile->boot.cleared |= (uint8_t)(1 << core->sync_byte);
    } else if (right) {
        clear(m, tile, core, old);
    }
}

void sync_core_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (a->by == NOCAP_BY_BRISC) {
        brisc_store(m, tile, a);
    } else {
        subordinate_store(m, tile, a);
    }
}

void sync_core_load(struct tile *tile, const struct access *a)
{
    const struct nocap_core_info *core = nocap_core(a->by);
    if (core->thread >= 0 && touches(a, NOCAP_REG_TTSYNC, 4)) {
        tile->sync.drain_loaded |= (uint8_t)(tile->sync.drained & 1 << core->thread);
    }
}

void sync_outside_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (brisc_may_run(tile)) {
        bool hit = touches(a, NOCAP_SYNC, NOCAP_SYNC_BYTES);
        for (unsigned i = 0; hit && brisc_runs(tile) && i < SUBORDINATES; i++) {
            if (touches(a, NOCAP_SYNC + i, 1)) {
                sync_doubt(tile, processor_of(i));
            }
        }
        EXPECT(m, tile, SYN_002, !hit, NOTHING,
               "the sync word written by the tile's own cores only while BRISC runs",
               "%llu bytes at 0x%llx", (unsigned long long)a->size, (unsigned long long)a->addr);
    }
}

void sync_kernel_enter(struct model *m, struct tile *tile, unsigned agent)
{
    const struct nocap_core_info *core = nocap_core(agent);
    uint8_t byte;
    if (core->thread >= 0) {
        uint8_t bit = (uint8_t)(1 << core->thread);
        tile->sync.drained &= (uint8_t)~bit;
        tile->sync.drain_loaded &= (uint8_t)~bit;
    }
    if (core->sync_byte >= 0 &&
        shadow_byte(&tile->l1, NOCAP_SYNC + (uint32_t)core->sync_byte, &byte)) {
        EXPECT(m, tile, SYN_009, byte == NOCAP_SYNC_GO, NOTHING,
               "GO (0x80) in the core's byte when it enters its kernel", "0x%02x", byte);
        if (byte != NOCAP_SYNC_GO) {
            shadow_forget(&tile->l1, NOCAP_SYNC + (uint32_t)core->sync_byte, 1);
            tile->sync.group_faulty |= core->thread >= 0 && tile->sync.group != 0;
            if (tile->launch.message_known &&
                launch_enabled(&tile->launch.message, core->processor)) {
                tile->launch.excused |= (uint8_t)(1 << core->processor);
            }
        }
    }
}

void sync_kernel_exit(struct tile *tile, unsigned agent)
{
    const struct nocap_core_info *core = nocap_core(agent);
    if (core->thread >= 0) { /* what was stored inside the kernel is not the drain at its end */
        uint8_t bit = (uint8_t)(1 << core->thread);
        tile->sync.drained &= (uint8_t)~bit;
        tile->sync.drain_loaded &= (uint8_t)~bit;
    }
}
