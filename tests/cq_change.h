/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a correct run of the command queue in which one event is changed. */
#ifndef NOCAP_TESTS_CQ_CHANGE_H
#define NOCAP_TESTS_CQ_CHANGE_H

#include "tests/cq_run.h"

enum { RUN_PROGRAMS = 12, PLACES = 5 };

enum change {
    DROPPED,
    DOUBLED,
    COUNTED_UP,
    NEGATIVE,
    MOVED,
    LANDS_BACK, /* a read, where the one before it lands */
    SHIFTED,
    BACK,
    BACK_A_SLOT,
    TO_SLOTS,
    AWAY,
    LATE,
    BEFORE_READ
};

/* How far an access goes elsewhere, or the source of a request. */
static inline int64_t distance_of(enum change change)
{
    switch (change) {
    case MOVED: return NOCAP_CQ_L1_ALIGN;
    case SHIFTED: return NOCAP_CQ_RECORD_ALIGN;
    case BACK: return -NOCAP_CQ_RECORD_ALIGN;
    case BACK_A_SLOT: return -4; /* or two */
    case TO_SLOTS: return NOCAP_CQ_QUEUE - NOCAP_CQ_RD_PTR_ECHO;
    case AWAY: return 0x1000;
    default: return 0;
    }
}

static inline void add(struct run_trace *t, const struct nocap_event *event, enum change change)
{
    struct nocap_event e = *event;
    e.value += change == COUNTED_UP;
    e.value |= change == NEGATIVE ? 1U << 31 : 0;
    e.addr += (uint64_t)distance_of(change);
    e.daddr -= change == LANDS_BACK ? NOCAP_CQ_RECORD_ALIGN : 0;
    e.saddr += e.kind == NOCAP_EV_NOC ? (uint64_t)distance_of(change) : 0;
    run_trace_add(t, &e);
}

/* Where event `where` goes that comes late or early; its own place: where it is. */
static inline size_t place_of(const struct run *run, size_t where, enum change change)
{
    size_t i = where;
    switch (change) {
    case LATE: /* after the next act of the same agent */ do { i++;
        } while (i < run->count && (run->events[i].by != run->events[where].by ||
                                    run->events[i].phase != NOCAP_PHASE_ISSUE));
        return i;
    case BEFORE_READ:
        while (i > 0 &&
               (run->events[i].kind != NOCAP_EV_NOC || run->events[i].op != NOCAP_OP_READ ||
                run->events[i].phase != NOCAP_PHASE_ISSUE)) {
            i--;
        }
        return i;
    default: return where;
    }
}

static inline struct nocap_report *check_changed(const struct run *run,
                                                 const struct nocap_sim_options *options,
                                                 size_t where, enum change change)
{
    const size_t to = place_of(run, where, change);
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        struct nocap_event moved = run->events[where < run->count ? where : 0];
        moved.t = run->events[i].t;
        if (i == to && to < where) {
            add(&t, &moved, change);
        }
        if (i != where || (change != DROPPED && to == where)) {
            add(&t, &run->events[i], i == where ? change : DROPPED);
        }
        if ((i == where && change == DOUBLED) || (i == to && to > where)) {
            add(&t, &moved, change);
        }
    }
    return run_trace_check(&t);
}

/* One finding, of this rule. */
static inline void assert_only(struct nocap_report *report, const char *rule)
{
    if (report->finding_count != 1) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
    }
    assert_int_equal(report->finding_count, 1);
    assert_string_equal(nocap_rules[report->findings[0].rule].id, rule);
    nocap_report_free(report);
}

#endif
