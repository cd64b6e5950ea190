/* SPDX-License-Identifier: Apache-2.0 */
/* A correct run of boot and launches in which one event is left out, doubled or changed: one
 * finding, by the rule of what was changed, wherever in the run it is. */
#include "tests/cq_run.h"
#include "tests/rows.h"

#include "formats/blackhole/mailbox.h"

enum { TILES = 2, LAUNCHES = 6, PLACES = 5, GO_SIGNAL = 0x373 };

enum change {
    DROPPED,
    DOUBLED,
    COUNTED_UP,
    ZEROED,
    BY_TRISC0,
    SWAPPED /* with the agent's next act */
};

#define NOTIFY UINT64_C(0xFFB70438)

struct target {
    uint8_t kind, op, by;
    uint64_t addr;
};
#define COMMANDS(byte)                                                                             \
    {                                                                                              \
        NOCAP_EV_WRITE, 0, NOCAP_BY_BRISC, NOCAP_SYNC + (byte)                                     \
    }
#define CLEARS(agent, byte)                                                                        \
    {                                                                                              \
        NOCAP_EV_WRITE, 0, NOCAP_BY_##agent, NOCAP_SYNC + (byte)                                   \
    }

#define STORES(at)                                                                                 \
    {                                                                                              \
        NOCAP_EV_WRITE, 0, NOCAP_BY_BRISC, at                                                      \
    }
#define DONE   STORES(GO_SIGNAL)
#define RD_PTR STORES(NOCAP_RD_PTR)
#define ENTERS(agent)                                                                              \
    {                                                                                              \
        NOCAP_EV_KERNEL, NOCAP_OP_ENTER, NOCAP_BY_##agent, 0                                       \
    }

static const struct row {
    enum nocap_sim_scenario scenario;
    struct target target;
    bool booting; /* the first one of a tile */
    enum change change;
    const char *rule;
} changes[] = {
    {NOCAP_SIM_BOOT, CLEARS(NCRISC, 0), true, DROPPED, "RST-012"},
    {NOCAP_SIM_LAUNCH_HOST, CLEARS(TRISC1, 2), true, DROPPED, "RST-012"},
    {NOCAP_SIM_LAUNCH_DEV, CLEARS(TRISC2, 3), true, DROPPED, "RST-012"},
    {NOCAP_SIM_LAUNCH_HOST, CLEARS(NCRISC, 0), true, DROPPED, "RST-012"},
    {NOCAP_SIM_LAUNCH_HOST, CLEARS(NCRISC, 0), false, DROPPED, "SYN-010"},
    {NOCAP_SIM_LAUNCH_HOST, CLEARS(TRISC1, 2), false, DROPPED, "SYN-010"},
    {NOCAP_SIM_LAUNCH_DEV, CLEARS(TRISC2, 3), false, DROPPED, "SYN-010"},
    {NOCAP_SIM_LAUNCH_DEV,
     {NOCAP_EV_KERNEL, NOCAP_OP_EXIT, NOCAP_BY_BRISC, 0},
     false,
     DROPPED,
     "GO-005"},
    {NOCAP_SIM_LAUNCH_DEV,
     {NOCAP_EV_NOC, NOCAP_OP_INLINE, NOCAP_BY_BRISC, NOTIFY},
     false,
     0,
     "GO-015"},
    {NOCAP_SIM_LAUNCH_HOST,
     {NOCAP_EV_WRITE, 0, NOCAP_BY_BRISC, GO_SIGNAL},
     false,
     BY_TRISC0,
     "GO-002"},
    {NOCAP_SIM_LAUNCH_HOST, COMMANDS(2), false, DOUBLED, "SYN-007"},
    {NOCAP_SIM_LAUNCH_DEV, COMMANDS(2), false, COUNTED_UP, "SYN-003"},
    {NOCAP_SIM_LAUNCH_DEV, COMMANDS(1), false, COUNTED_UP, "SYN-003"},
    {NOCAP_SIM_LAUNCH_DEV, COMMANDS(3), false, DOUBLED, "SYN-006"},
    {NOCAP_SIM_LAUNCH_HOST, COMMANDS(3), false, ZEROED, "SYN-007"},
    {NOCAP_SIM_LAUNCH_HOST, DONE, false, DROPPED, "GO-006"},
    {NOCAP_SIM_LAUNCH_DEV, DONE, false, DOUBLED, "GO-020"},
    {NOCAP_SIM_LAUNCH_DEV, RD_PTR, false, DROPPED, "SYN-014"},
    {NOCAP_SIM_BOOT, STORES(NOCAP_REG_SOFT_RESET_0), true, SWAPPED, "RST-013"},
    {NOCAP_SIM_LAUNCH_DEV, ENTERS(NCRISC), false, DOUBLED, "GO-012"},
    {NOCAP_SIM_LAUNCH_HOST, ENTERS(TRISC1), false, DOUBLED, "GO-012"},
};

static bool is_target(const struct nocap_event *e, const struct target *t)
{
    if (e->kind != t->kind || e->by != t->by) {
        return false;
    }
    switch (e->kind) {
    case NOCAP_EV_KERNEL: return e->op == t->op;
    case NOCAP_EV_NOC: return e->op == t->op && e->daddr == t->addr;
    default: return e->space == NOCAP_SPACE_TILE && e->addr == t->addr;
    }
}

static size_t count_targets(const struct run *run, const struct target *t, size_t end)
{
    size_t count = 0;
    for (size_t i = 0; i < end; i++) {
        count += is_target(&run->events[i], t);
    }
    return count;
}

static size_t find_target(const struct run *run, const struct target *t, size_t nth)
{
    size_t i = 0;
    while (i < run->count && (!is_target(&run->events[i], t) || nth-- > 0)) {
        i++;
    }
    assert_true(i < run->count);
    return i;
}

/* Puts the agent's next event before this one. */
static void swap_next(const struct run *run, size_t where)
{
    struct nocap_event *events = run->events, next;
    size_t i = where + 1;
    while (i < run->count &&
           (events[i].by != events[where].by || !nocap_xy_equal(events[i].at, events[where].at))) {
        i++;
    }
    assert_true(i < run->count);
    next = events[i];
    next.t = events[where].t;
    memmove(&events[where + 1], &events[where], (i - where) * sizeof *events);
    events[where] = next;
}

/* `where`, `also`: the events that are changed; they may be one. */
static struct nocap_report *check_changed(const struct run *run,
                                          const struct nocap_sim_options *options, size_t where,
                                          size_t also, enum change change)
{
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        struct nocap_event e = run->events[i];
        bool changed = i == where || i == also;
        if (changed) {
            e.by = change == BY_TRISC0 ? NOCAP_BY_TRISC0 : e.by;
            e.value += change == COUNTED_UP;
            e.value = change == ZEROED ? 0 : e.value;
        }
        if (!changed || change != DROPPED) {
            run_trace_add(&t, &e);
        }
        if (changed && change == DOUBLED) {
            run_trace_add(&t, &e);
        }
    }
    return run_trace_check(&t);
}

static void one_change_is_one_finding(void **state)
{
    const struct row *row = *state;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = row->scenario,
                                        .tiles = TILES,
                                        .launches = LAUNCHES,
                                        .seed = (uint64_t)(row - changes)};
    struct run run = run_with(options);
    const struct target *t = &row->target;
    size_t count = count_targets(&run, t, run.count);
    for (size_t place = 0; place < PLACES; place++) {
        /* those of boot; the first of all */
        size_t from = t->kind != NOCAP_EV_KERNEL ? TILES : 0;
        size_t nth = row->booting ? place % TILES : from + place * (count - from) / PLACES;
        size_t where = find_target(&run, t, nth);
        if (row->change == SWAPPED) {
            swap_next(&run, where);
        }
        struct nocap_report *report = check_changed(&run, &options, where, where, row->change);
        if (report->finding_count != 1 ||
            (int)report->findings[0].rule != nocap_rule_from_id(row->rule)) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("at event %zu: %s alone is to be found", where, row->rule);
        }
        nocap_report_free(report);
        if (row->change == SWAPPED) {
            run_free(&run);
            run = run_with(options);
        }
    }
    run_free(&run);
}

/* What was seen in order since a fault is known again: a second fault in a later launch of the tile
 * is a finding of its own. */
static void two_changes_are_two_findings(void **state)
{
    const struct row *row = *state;
    struct nocap_sim_options options = {.size = sizeof options,
                                        .scenario = row->scenario,
                                        .tiles = 1,
                                        .launches = LAUNCHES,
                                        .seed = (uint64_t)(row - changes)};
    const struct target *t = &row->target;
    struct run run = run_with(options);
    size_t count = count_targets(&run, t, run.count);
    size_t first = find_target(&run, t, 1), second = find_target(&run, t, count - 2);
    struct nocap_report *report = check_changed(&run, &options, first, second, row->change);
    int rule = nocap_rule_from_id(row->rule);
    if (report->finding_count != 2 || (int)report->findings[0].rule != rule ||
        (int)report->findings[1].rule != rule) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("at events %zu and %zu: %s is to be found twice", first, second, row->rule);
    }
    nocap_report_free(report);
    run_free(&run);
}

int main(void)
{
    static const char *const words[] = {
        [DROPPED] = "left out", [DOUBLED] = "doubled",     [COUNTED_UP] = "counted up",
        [ZEROED] = "with 0",    [BY_TRISC0] = "by trisc0", [SWAPPED] = "after the next"};
    struct rows rows = {0};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct row *row = &changes[i];
        char name[160];
        int end = snprintf(name, sizeof name, "change %zu: %s at 0x%llx of %s %s in %s, %s", i,
                           nocap_kind_name(row->target.kind), (unsigned long long)row->target.addr,
                           nocap_agent_name(row->target.by), words[row->change],
                           nocap_sim_scenarios[row->scenario].name, row->rule);
        rows_add(&rows, name, one_change_is_one_finding, row);
        if (!row->booting && row->change != SWAPPED) {
            snprintf(name + end, sizeof name - (size_t)end, ", twice");
            rows_add(&rows, name, two_changes_are_two_findings, row);
        }
    }
    return rows_run(&rows, "launch changes");
}
