/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: hangs of the command queue of which the trace shows a part. */
#ifndef NOCAP_TESTS_HANG_PARTS_H
#define NOCAP_TESTS_HANG_PARTS_H

#include "tests/hang_answers.h"

#include "tests/run_trace.h"

enum { L1_END = 0x200000 };

/* `seen`: the only worker of which the inside was recorded; NULL: all are. `scope`: the header says
 * so. `without`: classes that are not observed; `from`: the first event that is. */
static inline struct nocap_hang *hang_of_run(struct nocap_sim_options options,
                                             const struct nocap_xy *seen, bool scope,
                                             uint32_t without, size_t from)
{
    struct run run = run_with(options);
    struct run_trace t = run_trace_of(&options);
    for (size_t i = 0; seen != NULL && i < t.header.scope_count; i++) {
        t.header.scope[i] = t.header.scope[i].x == seen->x ? *seen : t.header.scope[i];
    }
    const struct nocap_header all = t.header;
    t.header.has_scope = scope;
    t.header.observes &= ~without;
    run_trace_open(&t, "run.nocap");
    for (size_t i = from; i < run.count; i++) {
        const struct nocap_event *e = &run.events[i];
        bool inside = (e->has & NOCAP_F_AT) != 0 && e->by != NOCAP_BY_HOST;
        bool memory = e->space == NOCAP_SPACE_SYSMEM;
        bool core = e->kind == NOCAP_EV_READ || e->kind == NOCAP_EV_WRITE;
        core = core && e->space == NOCAP_SPACE_TILE && nocap_core(e->by) != NULL;
        bool load = core && e->kind == NOCAP_EV_READ;
        bool store = core && e->kind == NOCAP_EV_WRITE && e->addr < L1_END;
        bool reg = core && e->addr >= L1_END;
        bool host = e->by == NOCAP_BY_HOST && e->space == NOCAP_SPACE_TILE;
        if ((memory && (without & NOCAP_CLASS_SYSMEM) != 0) ||
            (load && (without & NOCAP_CLASS_CORE_LOAD) != 0) ||
            (store && (without & NOCAP_CLASS_CORE_STORE) != 0) ||
            (reg && (without & NOCAP_CLASS_CORE_MMIO) != 0) ||
            (host && (without & NOCAP_CLASS_HOST_MMIO) != 0) ||
            (e->kind == NOCAP_EV_NOC && (without & NOCAP_CLASS_NOC) != 0)) {
            continue;
        }
        if (!inside || seen == NULL || nocap_header_in_scope(&all, e->at)) {
            run_trace_add(&t, e);
        }
    }
    run_trace_close(&t);
    run_free(&run);
    return hang_of("run.nocap");
}

static inline struct nocap_hang *hang_of_part(enum nocap_sim_fault fault, enum nocap_sim_view view,
                                              const struct nocap_xy *seen, bool scope,
                                              uint32_t without, size_t from)
{
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = NOCAP_SIM_FAST_DISPATCH,
                                        .view = view,
                                        .launches =
                                            fault == NOCAP_SIM_FAULT_RELEASE_MISSED ? 32 : 6,
                                        .seed = 3,
                                        .fault = fault};
    return hang_of_run(options, seen, scope, without, from);
}

static inline struct nocap_hang *hang_of_fault(enum nocap_sim_fault fault, enum nocap_sim_view view)
{
    return hang_of_part(fault, view, NULL, true, 0, 0);
}

static inline const char *said_of(const struct nocap_hang *h, unsigned agent, struct nocap_xy at)
{
    const struct nocap_hang_party *root = root_named(h, agent, at);
    return root != NULL && root->wait != SIZE_MAX ? h->waits[root->wait].what : "";
}

static inline unsigned count_roots(const struct nocap_hang *h)
{
    unsigned count = 0;
    for (size_t p = 0; p < h->party_count; p++) {
        count += h->parties[p].root;
    }
    return count;
}

#endif
