/* SPDX-License-Identifier: Apache-2.0 */
/* Correct runs of hosts that put several commands into an entry, of which the trace shows only a
 * part, or in other pieces: nothing of them is wrong, whatever profile they follow. */
#include "formats/profile/profile.h"
#include "tests/cq_run.h"

enum { POINTS = 40, LINE = 64 };

/* How a run is shown. */
struct telling {
    size_t from;           /* the first event that is shown */
    size_t lost, lost_end; /* those that a `drop` stands for; equal: none */
    bool no_memory;        /* host memory is not observed */
    uint64_t piece; /* writes of the host to memory end where such pieces do; 0: they are whole */
};

static void add(struct nocap_writer *writer, const struct nocap_event *e)
{
    struct nocap_error err = {{0}};
    assert_int_equal(nocap_writer_add(writer, e, &err), NOCAP_OK);
}

static void add_pieces(struct nocap_writer *writer, const struct nocap_event *whole, uint64_t piece)
{
    struct nocap_event e = *whole;
    uint64_t done = 0;
    bool cut = piece != 0 && e.kind == NOCAP_EV_WRITE && e.by == NOCAP_BY_HOST &&
               e.space == NOCAP_SPACE_SYSMEM && e.data_size == e.size;
    while (cut && done + piece < whole->size) {
        e.size = piece - e.addr % piece;
        e.data_size = (uint32_t)e.size;
        add(writer, &e);
        done += e.size;
        e.addr += e.size;
        e.data += e.data_size;
    }
    e.size = whole->size - done;
    e.data_size = whole->data_size - (uint32_t)(cut ? done : 0);
    add(writer, &e);
}

static bool is_memory(const struct nocap_event *e)
{
    return (e->kind == NOCAP_EV_WRITE || e->kind == NOCAP_EV_READ) &&
           e->space == NOCAP_SPACE_SYSMEM;
}

static void write_trace(const struct run *run, const struct nocap_sim_options *options,
                        const struct telling *how)
{
    struct nocap_error err = {{0}};
    struct nocap_header header;
    struct nocap_writer *writer;
    assert_int_equal(nocap_sim_header(options, &header, &err), NOCAP_OK);
    header.observes &= how->no_memory ? ~(uint32_t)NOCAP_CLASS_SYSMEM : UINT32_MAX;
    header.complete = how->from != 0 ? NOCAP_FALSE : header.complete;
    assert_int_equal(nocap_writer_open(&writer, "told.nocap", &header, NULL, &err), NOCAP_OK);
    for (size_t i = how->from; i < run->count; i++) {
        if (i == how->lost && how->lost != how->lost_end) {
            const struct nocap_event drop = {.kind = NOCAP_EV_DROP,
                                             .t = run->events[i].t,
                                             .has = NOCAP_F_DROPPED,
                                             .value = how->lost_end - how->lost};
            add(writer, &drop);
            i = how->lost_end;
        }
        const struct nocap_event *e = &run->events[i];
        if (!how->no_memory || !is_memory(e)) {
            add_pieces(writer, e, how->piece);
        }
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
}

static void assert_no_error(const struct run *run, const struct nocap_sim_options *options,
                            const struct telling *how)
{
    struct nocap_error err = {{0}};
    struct nocap_report *report;
    const struct nocap_check_options check = {.size = sizeof check};
    write_trace(run, options, how);
    assert_int_equal(nocap_check(&report, "told.nocap", &check, &err), NOCAP_OK);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i].rule != TRC_003) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("%s, seed %u: from %zu, lost %zu to %zu, pieces of %u", options->profile,
                     (unsigned)options->seed, how->from, how->lost, how->lost_end,
                     (unsigned)how->piece);
        }
    }
    nocap_report_free(report);
}

/* Number `i` of the runs. */
static struct nocap_sim_options options_of(unsigned i)
{
    static const enum nocap_sim_view views[] = {NOCAP_SIM_VIEW_RAW, NOCAP_SIM_VIEW_CQ,
                                                NOCAP_SIM_VIEW_ALL, NOCAP_SIM_VIEW_HOST};
    size_t count = 0;
    while (nocap_profile_name(count) != NULL) {
        count++;
    }
    return (struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                      .scenario = NOCAP_SIM_FAST_DISPATCH_PACKED,
                                      .view = views[i % 4],
                                      .workers = 1 + i % 3,
                                      .launches = 8,
                                      .seed = i,
                                      .variant = i,
                                      .profile = nocap_profile_name(1 + i % (count - 1))};
}

enum { RUNS = 24 };

static void a_trace_begins_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct nocap_sim_options options = options_of(i);
        struct run run = run_with(options);
        for (size_t p = 0; p < POINTS; p++) {
            const struct telling how = {.from = 1 + p * run.count / POINTS,
                                        .piece = p % 2 != 0 ? LINE : 0};
            assert_no_error(&run, &options, &how);
        }
        run_free(&run);
    }
}

static void events_are_lost_anywhere(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct nocap_sim_options options = options_of(i);
        struct run run = run_with(options);
        for (size_t p = 0; p < POINTS; p++) {
            const size_t from = 1 + p * (run.count - 3) / POINTS, left = run.count - from - 1;
            const struct telling how = {.lost = from, .lost_end = from + 1 + p * 37 % left};
            assert_no_error(&run, &options, &how);
        }
        run_free(&run);
    }
}

static void the_host_writes_in_pieces(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct nocap_sim_options options = options_of(i);
        struct run run = run_with(options);
        for (uint64_t piece = 16; piece <= 256; piece *= 2) {
            assert_no_error(&run, &options, &(struct telling){.piece = piece});
        }
        run_free(&run);
    }
}

/* Which commands there are is not known then. */
static void host_memory_is_not_observed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        const struct nocap_sim_options options = options_of(i);
        struct run run = run_with(options);
        assert_no_error(&run, &options, &(struct telling){.no_memory = true});
        run_free(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_begins_anywhere),
        cmocka_unit_test(events_are_lost_anywhere),
        cmocka_unit_test(the_host_writes_in_pieces),
        cmocka_unit_test(host_memory_is_not_observed),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
