/* SPDX-License-Identifier: Apache-2.0 */
/* The subordinate sync word: four bytes, by which BRISC commands and the others answer. Rules SYN.
 */
#include <string.h>

#include "replay/launch/launch_private.h"

enum { BYTE_NCRISC = 0, BYTE_TRISC0 = 1, ALL_TRISCS = 7 };

bool sync_value_allowed(unsigned byte, uint8_t v)
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

const char *sync_values(unsigned byte)
{
    return byte == BYTE_NCRISC   ? "one of 00 01 40 80 in ncrisc's byte"
           : byte == BYTE_TRISC0 ? "one of 00 03 40 80 in trisc0's byte"
                                 : "one of 00 40 80 in trisc1's and trisc2's byte";
}

/* After a DONE the caches hold what ran so far. */
void sync_launch_over(struct tile *tile)
{
    sync_of(tile)->caches = NO;
    sync_of(tile)->invalidated = 0;
    sync_of(tile)->group = 0;
}

/* One store may name all caches, or several some each. */
static void invalidate(struct sync *s, const struct access *a)
{
    for (unsigned bit = 1; bit < NOCAP_IC_INVALIDATE_ALL; bit <<= 1) {
        const uint32_t mask = bit | ~(uint32_t)NOCAP_IC_INVALIDATE_ALL;
        bool named = may_store(a, NOCAP_REG_RISCV_IC_INVALIDATE, mask, bit);
        s->invalidated |= (uint8_t)(named ? bit : 0);
    }
    s->caches = s->invalidated == NOCAP_IC_INVALIDATE_ALL ? YES : s->caches;
}

static fault_id judge_caches(struct model *m, struct tile *tile, fault_id owed)
{
    fault_id fault = FAULT_NONE;
    if (sync_of(tile)->caches != UNKNOWN && sees_registers(m)) {
        const struct launch *l = launch_of(tile);
        CHECK_AFTER(m, tile, SYN_012, since_or(l->go_since, owed), sync_of(tile)->caches == YES,
                    RELATED(l->done.index),
                    "instruction caches invalidated (0x1f) between the last DONE and the first GO",
                    "%s", "GO with instruction caches not invalidated since the last DONE");
        fault = m->fault;
        sync_of(tile)->caches = YES; /* as the others of this launch need it */
    }
    return fault;
}

/* BRISC commands. False: it does so late, for the launch that is over. */
static bool begins_command(struct model *m, struct tile *tile, fault_id owed)
{
    struct launch *l = launch_of(tile);
    if (owed != FAULT_NONE && l->active == NO && l->go_pending == NO &&
        launch_preloads(m, tile) != YES) {
        return false;
    }
    if (l->active == NO) {
        l->notify_since = since_or(l->notify_since, owed);
    }
    launch_act(m, tile);
    return true;
}

/* NCRISC is commanded over what its byte was before; NULL: not known. */
static fault_id judge_ncrisc(struct model *m, struct tile *tile, bool go, const uint8_t *old,
                             fault_id owed)
{
    const uint8_t due = go ? NOCAP_SYNC_LOAD : NOCAP_SYNC_DONE;
    if (old == NULL) {
        return FAULT_NONE;
    }
    CHECK_SEEING(m, tile, m->layout->sync + BYTE_NCRISC, 1, go ? SYN_004 : SYN_005,
                 since_or(sync_byte_since(tile, BYTE_NCRISC, due), owed), *old == due, NO_REFS,
                 go ? "LOAD (0x01) in ncrisc's byte before GO" : "LOAD only over 0",
                 "%s to ncrisc over 0x%02x, not over %s", go ? "GO" : "LOAD", *old,
                 go ? "LOAD (0x01)" : "0");
    return m->fault;
}

/* What BRISC commands, by the byte as it was before; what the byte is known since afterwards. */
static fault_id store_load(struct model *m, struct tile *tile, const uint8_t *old)
{
    struct sync *s = sync_of(tile);
    const fault_id owed = s->owed[BYTE_NCRISC];
    if (!begins_command(m, tile, owed)) {
        return owed;
    }
    fault_id fault = judge_ncrisc(m, tile, false, old, owed);
    s->late[BYTE_NCRISC] = since_or(fault, s->late[BYTE_NCRISC]);
    fault = since_or(fault, launch_command(m, tile, NOCAP_PROCESSOR_NCRISC, false));
    return since_or(fault, owed);
}

/* What the bytes of the other TRISCs are known since. */
static fault_id triscs_since(const struct sync *s, unsigned byte)
{
    for (unsigned i = BYTE_TRISC0; i < SUBORDINATES; i++) {
        if (i != byte && s->since[i] != FAULT_NONE) {
            return s->since[i];
        }
    }
    return FAULT_NONE;
}

static fault_id go_to_trisc(struct model *m, struct tile *tile, unsigned byte, const uint8_t *old,
                            fault_id owed, fault_id uncached)
{
    struct sync *s = sync_of(tile);
    fault_id fault = FAULT_NONE;
    uint8_t trisc0;
    bool first = s->group == 0;
    if (old != NULL) {
        bool own = *old == NOCAP_SYNC_DONE;
        /* in a trace that begins here, it may have had its own GO before */
        bool ready = !first || !shadow_byte(&tile->l1, m->layout->sync + BYTE_TRISC0, &trisc0) ||
                     trisc0 == NOCAP_SYNC_DONE || (s->caches == UNKNOWN && trisc0 == NOCAP_SYNC_GO);
        unsigned busy = own ? BYTE_TRISC0 : byte;
        fault_id since = since_or(owed, sync_byte_since(tile, busy, NOCAP_SYNC_DONE));
        CHECK_SEEING(m, tile, m->layout->sync + busy, 1, SYN_006, since, own && ready,
                     RELATED(s->initialising ? s->init_index : NO_INDEX),
                     "GO to a TRISC over its own byte 0, the first while trisc0's byte is 0",
                     own ? "GO to a TRISC whose byte was 0x%02x, trisc0 still at its register init"
                         : "GO to a TRISC whose byte was 0x%02x, not 0",
                     *old);
        fault = m->fault;
        s->late[busy] = since_or(fault, s->late[busy]);
        store_strays(m); /* perhaps it was for another byte */
    }
    fault = since_or(fault, owed);
    if (first) {
        /* in a trace that begins here, others may have had theirs before */
        bool begins = s->caches == UNKNOWN && byte != BYTE_TRISC0;
        s->group_since =
            since_or(since_or(fault, uncached), begins ? FAULT_UNREPORTED : triscs_since(s, byte));
        s->group_index = now(m).index;
    }
    s->group |= (uint8_t)(1 << (byte - BYTE_TRISC0));
    s->group = s->group == ALL_TRISCS ? 0 : s->group;
    return fault;
}

static fault_id store_go(struct model *m, struct tile *tile, unsigned byte, const uint8_t *old)
{
    struct sync *s = sync_of(tile);
    const fault_id owed = s->owed[byte];
    s->owed[byte] = FAULT_NONE;
    if (!begins_command(m, tile, owed)) {
        return owed;
    }
    fault_id fault, uncached = judge_caches(m, tile, owed); /* perhaps it comes too early */
    if (byte == BYTE_NCRISC) {
        s->owed[byte] = judge_ncrisc(m, tile, true, old, owed);
        fault = since_or(s->owed[byte], old != NULL ? owed : FAULT_NONE);
    } else {
        fault = go_to_trisc(m, tile, byte, old, owed, uncached);
    }
    fault_id disabled = launch_command(m, tile, sync_processor(byte), true);
    if (byte != BYTE_NCRISC) {
        s->group_since = since_or(s->group_since, disabled);
    }
    return since_or(since_or(fault, disabled), uncached);
}

static fault_id store_init_registers(struct model *m, struct tile *tile)
{
    struct sync *s = sync_of(tile);
    uint32_t word;
    fault_id fault = FAULT_NONE;
    const fault_id owed = s->reset_owed;
    s->init_since = s->lack_since = FAULT_NONE;
    s->init_wrong = 0;
    if (shadow_word(&tile->l1, m->layout->sync, &word)) {
        fault_id since = since_or(sync_since(tile, word), owed);
        CHECK_SEEING(m, tile, m->layout->sync, 4, SYN_010, since, word == NOCAP_SYNC_ALL_DONE,
                     NO_REFS, "0x03 only while the whole sync word is 0",
                     "counter reset (0x03) asked of trisc0 with sync word 0x%08x, not 0", word);
        fault = m->fault;
        sync_overrun(tile, word, fault);
        bool own = (uint8_t)(word >> 8 * BYTE_TRISC0) != NOCAP_SYNC_DONE;
        s->init_since = own ? fault : FAULT_NONE; /* TRISC0 is at something else */
        s->late[BYTE_TRISC0] = since_or(s->init_since, s->late[BYTE_TRISC0]);
    }
    s->initialising = true;
    s->received = s->acked = 0;
    s->init_index = now(m).index;
    s->reset_owed = FAULT_NONE;
    return since_or(fault, owed);
}

static void brisc_byte(struct model *m, struct tile *tile, unsigned byte, uint8_t v)
{
    struct sync *s = sync_of(tile);
    uint8_t old;
    bool allowed = sync_value_allowed(byte, v);
    CHECK(m, tile, SYN_003, allowed, NO_REFS, sync_values(byte),
          "unknown value 0x%02x stored to a sync byte", v);
    s->initialising &= byte != BYTE_TRISC0;
    if (!allowed) {
        sync_fault(tile, byte, m->fault);
        s->owed[byte] = m->fault; /* if it is a command */
        store_strays(m);
        return;
    }
    if (v != NOCAP_SYNC_INIT && v != NOCAP_SYNC_DONE) {
        boot_never_cleared(m, tile, 1u << byte); /* which is used for a launch now */
    }
    const uint8_t *before = shadow_byte(&tile->l1, m->layout->sync + byte, &old) ? &old : NULL;
    fault_id fault = FAULT_NONE;
    switch (v) {
    case NOCAP_SYNC_LOAD: fault = store_load(m, tile, before); break;
    case NOCAP_SYNC_GO: fault = store_go(m, tile, byte, before); break;
    case NOCAP_SYNC_INIT_REGISTERS: fault = store_init_registers(m, tile); break;
    default: break;
    }
    fault = since_or(fault, s->group != 0 ? s->group_since : FAULT_NONE); /* it came between GOs */
    s->since[byte] =
        fault == FAULT_UNREPORTED ? FAULT_NONE : fault; /* what it holds now was seen */
}

/* What is wrong with one byte of a store is wrong with it as a whole. */
static void brisc_bytes(struct model *m, struct tile *tile, const struct access *a)
{
    struct sync *s = sync_of(tile);
    fault_id fault = FAULT_NONE;
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        uint8_t byte;
        if (access_byte(a, m->layout->sync + i, &byte)) {
            brisc_byte(m, tile, i, byte);
            fault = since_or(fault, s->since[i]);
        }
    }
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        if (touches(a, m->layout->sync + i, 1)) {
            s->since[i] = since_or(s->since[i], fault);
        }
    }
}

static bool in_mailbox(const struct model *m, const struct access *a)
{
    return touches(a, NOCAP_MAILBOX_BASE, m->layout->go_message_index + 4 - NOCAP_MAILBOX_BASE);
}

/* Any store of BRISC to the mailbox: the three GOs belong together. */
static void judge_group(struct model *m, struct tile *tile, const struct access *a)
{
    struct sync *s = sync_of(tile);
    if (s->group == 0 || !in_mailbox(m, a)) {
        return;
    }
    const uint64_t triscs = m->layout->sync + BYTE_TRISC0;
    bool next = a->addr >= triscs && a->addr + a->size <= triscs + THREADS;
    uint8_t v;
    for (uint8_t i = 0; next && i < a->size; i++) {
        next = (s->group >> (a->addr + i - triscs) & 1) == 0 && access_byte(a, a->addr + i, &v) &&
               v == NOCAP_SYNC_GO;
    }
    unsigned missing = BYTE_TRISC0 + (unsigned)__builtin_ctz(~(unsigned)s->group);
    fault_id since = since_or(s->group_since, s->owed[missing]);
    since = since_or(since, sync_byte_since(tile, missing, NOCAP_SYNC_GO));
    if (since == FAULT_NONE) { /* what was missed comes now */
        since = touches(a, m->layout->rd_ptr, 4) ? launch_of(tile)->rd_since
                : access_byte(a, triscs, &v) && v == NOCAP_SYNC_INIT_REGISTERS ? s->reset_owed
                                                                               : FAULT_NONE;
    }
    CHECK_AFTER(m, tile, SYN_007, since, next, RELATED(s->group_index),
                "GO to all three TRISCs with no other mailbox store between",
                "mailbox store to 0x%llx after GO to %d of the three TRISCs",
                (unsigned long long)a->addr, __builtin_popcount(s->group));
    for (unsigned i = 0; !next && s->group_since == FAULT_NONE && i < THREADS; i++) {
        bool lacks = (s->group >> i & 1) == 0;
        if (lacks || touches(a, triscs + i, 1)) { /* too few, or one too many */
            sync_fault(tile, BYTE_TRISC0 + i, m->fault);
        }
        s->owed[BYTE_TRISC0 + i] = lacks ? m->fault : s->owed[BYTE_TRISC0 + i];
    }
    s->group_since = next ? s->group_since : m->fault;
}

static __attribute__((noinline)) void brisc_store(struct model *m, const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    if ((o->places & PLACE(COPROCESSOR)) != 0 && touches(a, NOCAP_REG_RISCV_IC_INVALIDATE, 4)) {
        const struct launch *l = launch_of(tile);
        bool booting = boot_of(tile)->phase == BOOT_RELEASED ||
                       (boot_of(tile)->phase == BOOT_UNKNOWN && l->active == UNKNOWN);
        enum known preloads = launch_preloads(m, tile);
        if (!booting && (l->go_pending != NO || preloads == YES ||
                         (preloads == UNKNOWN && !l->notify_pending))) {
            launch_act(m, tile);
        }
        invalidate(sync_of(tile), a);
        return;
    }
    if (boot_inits_all(m, tile, a)) {
        memset(sync_of(tile)->since, 0, sizeof sync_of(tile)->since);
        return; /* INIT for all, which RST-010 judges */
    }
    judge_group(m, tile, a);
    if ((o->places & PLACE(SYNC)) != 0) {
        brisc_bytes(m, tile, a);
    }
}

static void judge_counters(struct model *m, struct tile *tile)
{
    struct sync *s = sync_of(tile);
    if (!s->initialising || !sees_registers(m)) {
        return;
    }
    unsigned lack = 2 * NOCAP_CB_COUNT - (unsigned)__builtin_popcount(s->received) -
                    (unsigned)__builtin_popcount(s->acked);
    fault_id since = since_or(s->init_since, lack <= s->init_wrong ? s->lack_since : FAULT_NONE);
    if (since == FAULT_NONE && lack > 0) {
        since = sync_late_since(tile, BYTE_TRISC0);
    }
    CHECK_AFTER(m, tile, SYN_011, since, lack == 0, RELATED(s->init_index),
                "received and acked counters of all 32 circular buffers zeroed between 0x03 and 0",
                "counter reset ended with %d received and %d acked counters of 32 each zeroed",
                __builtin_popcount(s->received), __builtin_popcount(s->acked));
    if ((s->received & s->acked) >> (NOCAP_CB_COUNT - 1) == 0) {
        /* perhaps an earlier answer, and this one is still to come */
        s->since[BYTE_TRISC0] = since_or(m->fault, s->since[BYTE_TRISC0]);
    }
    s->initialising = false;
}

/* What an answer is wrong by: the byte asked for none (`from`), or comes within the kernel. */
static fault_id answer_since(struct tile *tile, const struct nocap_core_info *core, bool from,
                             bool inside)
{
    const unsigned byte = (unsigned)core->sync_byte;
    const bool resets = byte == BYTE_TRISC0 &&
                        tile->strays[NOCAP_PROCESSOR_BRISC].value == NOCAP_SYNC_INIT_REGISTERS;
    const uint8_t asks = resets ? NOCAP_SYNC_INIT_REGISTERS : NOCAP_SYNC_GO;
    fault_id since = from ? sync_of(tile)->since[byte] : sync_byte_since(tile, byte, asks);
    if (!(from && !inside) && since == FAULT_NONE) {
        since = sync_late_since(tile, byte);
    }
    /* as what entered it is */
    return inside ? since_or(since, launch_of(tile)->since[core->processor]) : since;
}

/* The command that an answer is to was not seen. */
static void answer_to_none(struct model *m, struct tile *tile, const struct nocap_core_info *core)
{
    struct sync *s = sync_of(tile);
    s->owed[core->sync_byte] = m->fault;
    s->reset_owed = core->sync_byte == BYTE_TRISC0 ? m->fault : s->reset_owed;
    if (launch_of(tile)->kernels[core->processor].entered == 0) { /* else it was obeyed */
        launch_of(tile)->since[core->processor] = m->fault;
    }
}

/* A subordinate says that it is done. */
static void clear(struct model *m, struct tile *tile, const struct nocap_core_info *core,
                  uint8_t old)
{
    struct kernel *k = &launch_of(tile)->kernels[core->processor];
    bool booting = boot_of(tile)->phase == BOOT_RELEASED;
    if (booting && (old == NOCAP_SYNC_INIT || old == NOCAP_SYNC_DONE)) {
        boot_sync_clear(m, tile, core->agent, old);
        return;
    }
    bool from = old == NOCAP_SYNC_INIT || old == NOCAP_SYNC_GO ||
                (core->sync_byte == BYTE_TRISC0 && old == NOCAP_SYNC_INIT_REGISTERS);
    bool inside = k->inside == YES;
    const fault_id owed = sync_of(tile)->owed[core->sync_byte];
    CHECK_SEEING(m, tile, nocap_sync_address(m->layout, core), 1, SYN_008,
                 answer_since(tile, core, from, inside), from && !inside,
                 RELATED(inside ? k->enter_index : NO_INDEX),
                 core->sync_byte == BYTE_TRISC0
                     ? "the byte cleared from 40, 80 or 03, outside of the kernel"
                     : "the byte cleared from 40 or 80, outside of the kernel",
                 inside ? "sync byte cleared from 0x%02x inside the kernel"
                        : "sync byte cleared from 0x%02x, which asks for no answer",
                 old);
    /* 0 stands there now, which asks for nothing */
    sync_of(tile)->since[core->sync_byte] = from || booting ? m->fault : FAULT_NONE;
    if (!from) {
        answer_to_none(m, tile, core);
    }
    if (inside) {
        kernel_overrun(k, m->fault);
        launch_of(tile)->since[core->processor] = m->fault;
    }
    if (old == NOCAP_SYNC_INIT_REGISTERS) {
        judge_counters(m, tile);
    } else if (old == NOCAP_SYNC_GO || owed != FAULT_NONE) {
        sync_judge_drain(m, tile, core);
    }
}

/* While TRISC0 zeroes the tile counters it does nothing else. */
static void trisc0_store(struct model *m, struct tile *tile, const struct access *a)
{
    struct sync *s = sync_of(tile);
    if (in_mailbox(m, a)) {
        return; /* the mailbox has rules of its own */
    }
    uint64_t at = a->addr - nocap_stream_address(NOCAP_CB_STREAM, 0);
    uint64_t buffer = at / NOCAP_STREAM_STRIDE, reg = at % NOCAP_STREAM_STRIDE / 4;
    uint32_t *counters = buffer >= NOCAP_CB_COUNT             ? NULL
                         : reg == NOCAP_STREAM_TILES_RECEIVED ? &s->received
                         : reg == NOCAP_STREAM_TILES_ACKED    ? &s->acked
                                                              : NULL;
    bool zero = may_store(a, a->addr, UINT32_MAX, 0);
    bool right = counters != NULL && zero && (*counters >> buffer & 1) == 0;
    bool drains = touches(a, NOCAP_REG_TTSYNC, 4); /* late, which SYN-013 says */
    fault_id since = since_or(s->init_since, drains ? s->drain_late : FAULT_NONE);
    CHECK_AFTER(m, tile, SYN_011, since, right, RELATED(s->init_index),
                "each tile counter zeroed once, and nothing else stored",
                "store to 0x%llx during the counter reset%s", (unsigned long long)a->addr,
                counters == NULL ? ", which is no tile counter"
                : zero           ? ", a tile counter zeroed before"
                                 : ", of a value other than 0");
    if (right) {
        *counters |= UINT32_C(1) << buffer;
    } else {
        s->init_since = s->lack_since = m->fault;
        s->init_wrong++;
    }
    if (right && ((s->received & s->acked) >> buffer & 1) != 0) {
        s->init_since = FAULT_NONE; /* a buffer of which both are zero: it is at the reset */
    }
    if (counters == NULL) {
        store_strays(m);
    }
}

static __attribute__((noinline)) void subordinate_answer(struct model *m,
                                                         const struct observation *o)
{
    struct tile *tile = o->tile;
    const struct access *a = &o->access;
    const struct nocap_core_info *core = nocap_core(a->by);
    MARK_EXERCISED(m, SYN_002);
    uint8_t v = 0, old;
    uint32_t own = nocap_sync_address(m->layout, core);
    (void)access_byte(a, a->addr, &v);
    bool right = a->addr == own && a->size == 1 && v == NOCAP_SYNC_DONE;
    CHECK(m, tile, SYN_001, right, NO_REFS, "a subordinate to store only its own byte, and only 0",
          "%llu bytes stored to the sync word at 0x%llx, the first 0x%02x",
          (unsigned long long)a->size, (unsigned long long)a->addr, v);
    for (unsigned i = 0; !right && i < SUBORDINATES; i++) {
        if (i == (unsigned)core->sync_byte || touches(a, m->layout->sync + i, 1)) {
            sync_fault(tile, i, m->fault);
        }
    }
    if (right && !shadow_byte(&tile->l1, own, &old)) {
        boot_of(tile)->cleared |= (uint8_t)(1 << core->sync_byte);
    } else if (right) {
        clear(m, tile, core, old);
    }
}

static void subordinate_store(struct model *m, const struct observation *o)
{
    const struct access *a = &o->access;
    if (a->by == NOCAP_BY_TRISC0 && sync_of(o->tile)->initialising) {
        trisc0_store(m, o->tile, a);
    }
    if ((o->places & PLACE(COPROCESSOR)) != 0 && touches(a, NOCAP_REG_TTSYNC, 4)) {
        sync_drain_step(o->tile, a->by, DRAIN_NONE, DRAIN_STORED);
    }
    if ((o->places & PLACE(SYNC)) != 0) {
        subordinate_answer(m, o);
    }
}

void sync_core_store(struct model *m, const struct observation *o)
{
    if (o->access.by == NOCAP_BY_BRISC) {
        brisc_store(m, o);
    } else {
        subordinate_store(m, o);
    }
    for (unsigned i = 0; (o->places & PLACE(SYNC)) != 0 && i < SUBORDINATES; i++) {
        bool stored = touches(&o->access, m->layout->sync + i, 1);
        sync_of(o->tile)->stored[i] = stored ? m->turn : sync_of(o->tile)->stored[i];
    }
}
