/* SPDX-License-Identifier: Apache-2.0 */
/* A board that is booted a second time, or a command queue that is set up again, is judged as at
 * the first: whatever the first run was, what is found in the second one is what is found in it
 * alone. */
#include "checker/core/checker.h"
#include "tests/changed.h"
#include "tests/rows.h"
#include "tests/temp_dir.h"

enum { TILES = 2, LAUNCHES = 8, ENDS = 3 /* a variant whose host ends the queue by TERMINATE */ };

struct row {
    enum nocap_sim_scenario scenario;
    enum nocap_sim_fault first, second;
    enum nocap_sim_view view;
    uint64_t variant; /* of the first */
    bool goes_on;     /* the firmware is not booted again: the kernels of the queue are launched */
};

static struct nocap_sim_options options_of(const struct row *row, enum nocap_sim_fault fault)
{
    return (struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                      .scenario = row->scenario,
                                      .fault = fault,
                                      .view = row->view,
                                      .tiles = TILES,
                                      .workers = TILES,
                                      .launches = LAUNCHES};
}

/* The runs of a queue begin when the firmware is ready. Before a second one the host takes the
 * cores that it shows into reset. */
static size_t hold_cores(struct run_trace *t, uint64_t at)
{
    const struct nocap_header *h = &t->header;
    const struct nocap_xy queue[] = {h->cq.prefetch, h->cq.dispatch};
    const bool held = h->cq.present && (h->observes & NOCAP_CLASS_HOST_MMIO) != 0;
    const size_t count = !held ? 0 : h->has_scope ? h->scope_count : 2;
    for (size_t i = 0; i < count; i++) {
        struct nocap_event e = base_hold(h->has_scope ? h->scope[i] : queue[i]);
        e.t = at;
        run_trace_add(t, &e);
    }
    return count;
}

/* A word or a byte of the mailbox. */
static struct nocap_event mailbox(enum nocap_kind kind, enum nocap_agent by, uint64_t t,
                                  struct nocap_xy at, uint32_t addr)
{
    struct nocap_event e = nocap_event_of(kind);
    e.t = t;
    e.by = by;
    e.at = at;
    e.addr = addr;
    e.size = by == NOCAP_BY_HOST ? 4 : 1;
    e.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
    return e;
}

/* After TERMINATE the kernels of the queue return, as the host sees: the firmware goes on. */
static size_t end_kernels(struct run_trace *t, uint64_t at)
{
    const struct nocap_header *h = &t->header;
    const struct nocap_mailbox_layout *layout = nocap_layout_find(h->layout);
    const struct nocap_xy cores[] = {h->cq.dispatch, h->cq.prefetch};
    const uint32_t go = nocap_go_word_address(layout, 0), signal = go + NOCAP_GO_SIGNAL_BYTE;
    size_t count = 0;
    for (unsigned i = 0; i < 2 && (h->observes & NOCAP_CLASS_HOST_MMIO) != 0; i++) {
        const struct nocap_event acts[] = {
            mailbox(NOCAP_EV_WRITE, NOCAP_BY_NCRISC, at, cores[i], layout->sync),
            mailbox(NOCAP_EV_WRITE, NOCAP_BY_BRISC, at, cores[i], signal),
            mailbox(NOCAP_EV_READ, NOCAP_BY_HOST, at, cores[i], go)};
        for (unsigned k = 0; k < 3; k++) { /* NCRISC of the dispatch core alone has a kernel */
            if ((nocap_event_class(&acts[k]) & h->observes) != 0 && (k > 0 || i == 0)) {
                run_trace_add(t, &acts[k]);
                count++;
            }
        }
    }
    return count;
}

/* Adds a run behind what is there; how many events it has. */
static size_t add_run(struct run_trace *t, struct nocap_sim_options options, uint64_t start,
                      bool again, bool goes_on)
{
    struct run run = run_with(options);
    size_t held = goes_on ? end_kernels(t, start) : again ? hold_cores(t, start) : 0;
    for (size_t i = 0; i < run.count; i++) {
        struct nocap_event e = run.events[i];
        e.t += start;
        e.t2 += (e.has & NOCAP_F_T2) != 0 ? start : 0;
        run_trace_add(t, &e);
    }
    size_t count = held + run.count;
    run_free(&run);
    return count;
}

static void second_is_judged_alone(void **state)
{
    const struct row *row = *state;
    enum { SECOND = 100000000 };
    struct nocap_sim_options first = options_of(row, row->first),
                             second = options_of(row, row->second);
    first.variant = row->variant;
    struct run_trace t = run_trace_of(&second);
    run_trace_open(&t, "alone.nocap");
    (void)add_run(&t, second, SECOND, false, false);
    struct nocap_report *alone = run_trace_check(&t);
    t = run_trace_of(&second);
    run_trace_open(&t, "both.nocap");
    size_t begin = add_run(&t, first, 0, false, false);
    begin += add_run(&t, second, SECOND, true, row->goes_on) - alone->events;
    struct nocap_report *both = run_trace_check(&t);
    size_t at = 0, found = 0;
    for (size_t i = 0; i < both->finding_count; i++) {
        const struct nocap_finding *f = &both->findings[i];
        if (f->index < begin) {
            continue;
        }
        const struct nocap_finding *a = &alone->findings[at < alone->finding_count ? at : 0];
        found++;
        at += at < alone->finding_count && f->rule == a->rule && f->index == a->index + begin;
    }
    if (found != alone->finding_count || at != found) {
        fprintf(stderr, "the second run alone:\n");
        (void)nocap_report_text(stderr, alone, false, true, NULL);
        fprintf(stderr, "after the first, of %zu events:\n", begin);
        (void)nocap_report_text(stderr, both, false, true, NULL);
        fail_msg("the second run is judged otherwise");
    }
    nocap_report_free(alone);
    nocap_report_free(both);
}

static void add_row(struct rows *rows, const struct row *given)
{
    static struct row all[5 * NOCAP_SIM_FAULT_COUNT * NOCAP_SIM_SCENARIO_COUNT];
    static size_t count;
    struct row *row = &all[count++];
    *row = *given;
    const char *a = nocap_sim_faults[row->first].name, *b = nocap_sim_faults[row->second].name;
    char name[160];
    snprintf(name, sizeof name, "%s, view %u: %s, then %s", nocap_sim_scenarios[row->scenario].name,
             row->view,
             row->goes_on           ? "ended, not reset"
             : row->variant == ENDS ? "ended"
             : a != NULL            ? a
                                    : "sound",
             b != NULL ? b : "sound");
    rows_add(rows, name, second_is_judged_alone, row);
}

static void add(struct rows *rows, enum nocap_sim_scenario scenario, enum nocap_sim_fault first,
                enum nocap_sim_fault second)
{
    add_row(rows, &(struct row){scenario, first, second, NOCAP_SIM_VIEW_RAW, 0, false});
}

/* A host ends its queue, and sets it up again. Where commands alone are shown, TERMINATE says so.
 */
static void add_sessions(struct rows *rows)
{
    for (unsigned s = NOCAP_SIM_FAST_DISPATCH; s < NOCAP_SIM_SCENARIO_COUNT; s++) {
        for (unsigned v = 0; v < NOCAP_SIM_VIEW_COUNT && s != NOCAP_SIM_FAST_DISPATCH_RINGS; v++) {
            add_row(rows,
                    &(struct row){s, NOCAP_SIM_FAULT_NONE, NOCAP_SIM_FAULT_NONE, v, ENDS, false});
            add_row(rows,
                    &(struct row){s, NOCAP_SIM_FAULT_NONE, NOCAP_SIM_FAULT_NONE, v, ENDS, true});
        }
    }
    for (unsigned f = 1; f < NOCAP_SIM_FAULT_COUNT; f++) {
        if (nocap_sim_fault_triggers(&nocap_sim_faults[f], NOCAP_SIM_FAST_DISPATCH)) {
            add_row(rows, &(struct row){NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_NONE, f,
                                        NOCAP_SIM_VIEW_CQ, ENDS, false});
            add_row(rows, &(struct row){NOCAP_SIM_FAST_DISPATCH, NOCAP_SIM_FAULT_NONE, f,
                                        NOCAP_SIM_VIEW_RAW, ENDS, true});
        }
    }
}

static void add_fault(struct rows *rows, unsigned scenario, unsigned fault)
{
    /* L1 still holds the bank table of the first run */
    if (strcmp(nocap_sim_faults[fault].name, "no-bank-table") != 0) {
        add(rows, scenario, NOCAP_SIM_FAULT_NONE, fault);
    }
    add(rows, scenario, fault, NOCAP_SIM_FAULT_NONE);
    add(rows, scenario, fault, fault);
}

int main(void)
{
    struct rows rows = {0};
    for (unsigned f = 1; f < NOCAP_SIM_FAULT_COUNT; f++) {
        unsigned s = 0;
        for (; s < NOCAP_SIM_FAST_DISPATCH; s++) {
            if (nocap_sim_fault_triggers(&nocap_sim_faults[f], s)) {
                add_fault(&rows, s, f);
            }
        }
        while (s < NOCAP_SIM_SCENARIO_COUNT &&
               (s == NOCAP_SIM_FAST_DISPATCH_RINGS || /* are long */
                !nocap_sim_fault_triggers(&nocap_sim_faults[f], s))) {
            s++;
        }
        if (s < NOCAP_SIM_SCENARIO_COUNT) {
            add_fault(&rows, s, f);
        }
    }
    add_sessions(&rows);
    return rows_run(&rows, "boot again");
}
