/* SPDX-License-Identifier: Apache-2.0 */
/* The subordinate sync word: what its bytes are known since, kernels and the drain after them,
 * and writes from outside. */
#include <string.h>

#include "replay/launch/launch_private.h"

void sync_fault(struct tile *tile, unsigned byte, fault_id fault)
{
    sync_of(tile)->since[byte] = fault;
    launch_of(tile)->since[sync_processor(byte)] = fault;
}

fault_id sync_byte_since(const struct tile *tile, unsigned byte, uint8_t due)
{
    const struct sync *s = sync_of(tile);
    unsigned who = due == NOCAP_SYNC_DONE ? sync_processor(byte) : NOCAP_PROCESSOR_BRISC;
    return since_or(s->since[byte], stray_since(tile, who, s->stored[byte], UINT32_MAX, due));
}

fault_id sync_since(const struct tile *tile, uint32_t word)
{
    fault_id since = FAULT_NONE;
    for (unsigned i = 0; since == FAULT_NONE && i < SUBORDINATES; i++) {
        if ((uint8_t)(word >> 8 * i) != NOCAP_SYNC_DONE) {
            since = sync_byte_since(tile, i, NOCAP_SYNC_DONE);
        }
    }
    return since;
}

/* The counter reset of TRISC0 goes on. */
void sync_overrun(struct tile *tile, uint32_t word, fault_id fault)
{
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        uint8_t byte = (uint8_t)(word >> 8 * i);
        if (byte != NOCAP_SYNC_DONE && byte != NOCAP_SYNC_INIT_REGISTERS) {
            sync_of(tile)->since[i] = sync_of(tile)->late[i] = fault;
            kernel_overrun(&launch_of(tile)->kernels[sync_processor(i)], fault);
        }
    }
}

void sync_idle(struct tile *tile)
{
    struct sync *s = sync_of(tile);
    const int trisc0 = nocap_core(NOCAP_BY_TRISC0)->sync_byte;
    const fault_id reset = s->since[trisc0]; /* whose answer may be still to come */
    memset(s->since, 0, sizeof s->since);
    memset(s->late, 0, sizeof s->late);
    s->since[trisc0] = reset;
}

fault_id sync_late_since(struct tile *tile, unsigned byte)
{
    struct sync *s = sync_of(tile);
    fault_id since = s->late[byte];
    s->late[byte] = FAULT_NONE;
    return since;
}

/* What its byte is known since; perhaps, where it is not `right`, for an answer that was missed,
 * and came late. */
static fault_id answer_since(struct tile *tile, unsigned byte, bool right, uint8_t due)
{
    fault_id since = sync_byte_since(tile, byte, due);
    return since != FAULT_NONE || right ? since : sync_late_since(tile, byte);
}

fault_id sync_outside_store(struct model *m, struct tile *tile, const struct access *a)
{
    if (!brisc_may_run(tile)) {
        return FAULT_NONE;
    }
    bool hit = touches(a, m->layout->sync, NOCAP_SYNC_BYTES);
    CHECK(m, tile, SYN_002, !hit, NO_REFS,
          "the sync word written by the worker core's own RISCs only while BRISC runs",
          "sync word written from outside while BRISC runs: %llu bytes at 0x%llx",
          (unsigned long long)a->size, (unsigned long long)a->addr);
    if (!hit || boot_of(tile)->running[NOCAP_PROCESSOR_BRISC] != YES) {
        return FAULT_NONE;
    }
    for (unsigned i = 0; i < SUBORDINATES; i++) {
        if (touches(a, m->layout->sync + i, 1)) {
            sync_fault(tile, i, m->fault);
        }
    }
    if (touches(a, m->layout->rd_ptr, 4)) {
        launch_of(tile)->rd_since = m->fault;
    }
    return m->fault;
}

void sync_forget_drain(struct tile *tile, unsigned agent)
{
    const int thread = nocap_core(agent)->thread;
    if (thread >= 0) {
        sync_of(tile)->drain[thread] = DRAIN_NONE;
    }
}

void sync_drain_step(struct tile *tile, unsigned agent, enum drain from, enum drain to)
{
    const int thread = nocap_core(agent)->thread;
    if (thread >= 0 && sync_of(tile)->drain[thread] == from) {
        sync_of(tile)->drain[thread] = to;
    }
}

void sync_judge_drain(struct model *m, struct tile *tile, const struct nocap_core_info *core)
{
    const struct kernel *k = &launch_of(tile)->kernels[core->processor];
    if (core->thread < 0 || k->left == 0 || k->inside != NO || !sees_registers(m) ||
        launch_of(tile)->exit_source[core->processor] != m->event->src) {
        return; /* in another source the core may have left before what it stored, or after */
    }
    struct sync *s = sync_of(tile);
    bool loads = (m->header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
    bool stored = s->drain[core->thread] != DRAIN_NONE;
    bool loaded = !loads || s->drain[core->thread] == DRAIN_LOADED;
    const uint64_t left = launch_of(tile)->exit_turn[core->processor];
    fault_id since = stored ? FAULT_NONE : stray_since(tile, core->processor, left, UINT32_MAX, 0);
    if (since == FAULT_NONE && !(stored && loaded)) {
        since = sync_late_since(tile, (unsigned)core->sync_byte);
    }
    CHECK_AFTER(m, tile, SYN_013, since, stored && loaded, RELATED(k->exit_index),
                loads ? "a store to 0xFFE80004 and a load of it between kernel exit and DONE"
                      : "a store to 0xFFE80004 between kernel exit and DONE",
                "%s",
                stored ? "no load of 0xFFE80004 between kernel exit and the cleared sync byte"
                       : "no store to 0xFFE80004 between kernel exit and the cleared sync byte");
    /* perhaps an earlier answer, and this one is still to come */
    s->since[core->sync_byte] = since_or(m->fault, s->since[core->sync_byte]);
    s->drain_late = core->thread == 0 ? m->fault : s->drain_late;
}

void sync_kernel_enter(struct model *m, struct tile *tile, unsigned agent)
{
    const struct nocap_core_info *core = nocap_core(agent);
    struct sync *s = sync_of(tile);
    uint8_t byte;
    sync_forget_drain(tile, agent);
    if (core->sync_byte < 0 || !tile->sees_cores ||
        !shadow_byte(&tile->l1, nocap_sync_address(m->layout, core), &byte)) {
        return;
    }
    fault_id since =
        answer_since(tile, (unsigned)core->sync_byte, byte == NOCAP_SYNC_GO, NOCAP_SYNC_GO);
    CHECK_SEEING(m, tile, nocap_sync_address(m->layout, core), 1, SYN_009, since,
                 byte == NOCAP_SYNC_GO, NO_REFS,
                 "GO (0x80) in the RISC's byte when it enters its kernel",
                 "kernel entered while the sync byte was 0x%02x, not GO (0x80)", byte);
    s->since[core->sync_byte] = m->fault;
    if (byte != NOCAP_SYNC_GO) {
        s->owed[core->sync_byte] = m->fault;
        if (since == FAULT_NONE) { /* else the command is missing, and this is not its second */
            launch_of(tile)->since[core->processor] = m->fault;
        }
        s->group_since = core->thread >= 0 && s->group != 0 ? m->fault : s->group_since;
    }
}
