/* SPDX-License-Identifier: Apache-2.0 */
/* Any act of the queue that is left out, comes twice or after the next of its agent: one finding
 * at most, its consequences under it, however the trace shows the queue. */
#include "tests/cq_run.h"

enum { RUN_PROGRAMS = 6, TRIALS = 60 };
enum change { LEFT_OUT, TWICE, LATE, CHANGES };

/* By the host or one of the queue's cores; what the capture says besides is no act. */
static bool is_act(const struct nocap_event *e, const struct nocap_cq_board *board)
{
    bool access = e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ;
    bool core = is_at(e, board->prefetch) || is_at(e, board->dispatch);
    bool memory = access && (e->has & NOCAP_F_SPACE) != 0 && e->space == NOCAP_SPACE_SYSMEM;
    bool buffer = e->kind == NOCAP_EV_READ && e->addr >= NOCAP_CQ_BUFFER; /* how it reads on */
    return e->kind == NOCAP_EV_CQ || memory ||
           ((access || e->kind == NOCAP_EV_NOC) && core && !buffer);
}

/* Where the next act of the same agent is; the run's end: nowhere. */
static size_t next_act(const struct run *run, size_t i)
{
    const struct nocap_event *e = &run->events[i], *n = e + 1;
    while (n < run->events + run->count &&
           (n->by != e->by || !nocap_xy_equal(n->at, e->at) || n->kind == NOCAP_EV_MEM)) {
        n++;
    }
    return (size_t)(n - run->events);
}

static void add(struct run_trace *t, const struct run *run, size_t i, uint64_t time)
{
    struct nocap_event e = run->events[i];
    e.t = time;
    run_trace_add(t, &e);
}

static void assert_one_finding(const struct run *run, const struct nocap_sim_options *options,
                               size_t where, enum change change)
{
    size_t after = change == LATE ? next_act(run, where) : run->count;
    struct run_trace t = run_trace_of(options);
    run_trace_open(&t, "run.nocap");
    for (size_t i = 0; i < run->count; i++) {
        uint64_t time = run->events[i].t;
        if (i != where || change == TWICE) {
            add(&t, run, i, time);
        }
        if ((i == where && change == TWICE) || i == after) {
            add(&t, run, where, time);
        }
    }
    struct nocap_report *report = run_trace_check(&t);
    if (report->finding_count > 1) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("event %zu, change %d: %zu findings", where, (int)change, report->finding_count);
    }
    nocap_report_free(report);
}

static void one_change_is_one_finding_at_most(void **state)
{
    static const enum nocap_sim_view views[] = {NOCAP_SIM_VIEW_RAW, NOCAP_SIM_VIEW_CQ,
                                                NOCAP_SIM_VIEW_HOST};
    (void)state;
    for (size_t v = 0; v < sizeof views / sizeof views[0]; v++) {
        const struct nocap_sim_options options = {.size = sizeof options,
                                                  .scenario = NOCAP_SIM_FAST_DISPATCH,
                                                  .view = views[v],
                                                  .launches = RUN_PROGRAMS,
                                                  .seed = 6,
                                                  .variant = 7};
        const struct nocap_cq_board board = nocap_cq_board(options.board);
        struct run run = run_with(options);
        size_t first = run.count / 4, last = run.count - run.count / 8;
        for (size_t trial = 0; trial < TRIALS; trial++) {
            size_t i = first + (trial * (last - first)) / TRIALS;
            while (i < last && !is_act(&run.events[i], &board)) {
                i++;
            }
            assert_true(i < last);
            assert_one_finding(&run, &options, i, (enum change)(trial % CHANGES));
        }
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_change_is_one_finding_at_most)};
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
