/* SPDX-License-Identifier: Apache-2.0 */
/* Long runs of the simulated command queue: ten million events, in which every ring wraps many
 * times. NOCAP_LONG_SEEDS says how many (`make long-seeds`: 50). */
#include "tests/cq_run.h"
#include "tests/effort.h"

enum { LONG_RUN = 4400, TO_FIRST_WRAP = 400, RING_WRAPS = 20 };

/* Counts from the file, as anybody else would. */
static struct rings *read_back(const char *path, enum nocap_board board)
{
    struct nocap_error err = {{0}};
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    struct rings *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->board = nocap_cq_board(board);
    assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(follow(r, &events[i], &err), NOCAP_OK);
        }
    }
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    nocap_reader_close(reader);
    return r;
}

static void long_runs_wrap_every_ring_and_are_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= effort(1, 1); seed++) {
        enum nocap_board board = seed % 2 == 1 ? NOCAP_BOARD_P100 : NOCAP_BOARD_P150;
        assert_clean((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS,
                                                .board = board,
                                                .launches = LONG_RUN,
                                                .seed = seed,
                                                .variant = seed});
        struct rings *r = read_back("run.nocap", board);
        print_message(
            "seed %llu: %.1f M events; wraps: issue region %llu, prefetch queue %llu, command data "
            "%llu, dispatch buffer %llu, completion ring %llu\n",
            (unsigned long long)seed, 1e-6 * (double)r->events, (unsigned long long)r->issue_wraps,
            (unsigned long long)r->queue_wraps, (unsigned long long)r->cmddat_wraps,
            (unsigned long long)r->buffer_wraps, (unsigned long long)r->completion_wraps);
        assert_true(r->events > 10000000);
        assert_true(r->issue_wraps >= RING_WRAPS && r->queue_wraps >= RING_WRAPS);
        assert_true(r->cmddat_wraps >= RING_WRAPS && r->buffer_wraps >= RING_WRAPS);
        assert_true(r->completion_wraps >= RING_WRAPS);
        free(r);
    }
}

/* The device allocates nothing an event. */
static void memory_does_not_grow(void **state)
{
    (void)state;
    struct rings *r = follow_run((struct nocap_sim_options){
        .scenario = NOCAP_SIM_FAST_DISPATCH_RINGS, .launches = TO_FIRST_WRAP, .seed = 1});
    assert_true(r->events > 500000);
    free(r);
}

/* What only a run shows that is long enough to wrap the ring. */
static void every_fault_of_a_wrap_is_found(void **state)
{
    (void)state;
    for (unsigned fault = 1; fault < NOCAP_SIM_FAULT_COUNT; fault++) {
        for (uint64_t seed = 0; seed < effort(1, 1); seed++) {
            if (strikes_in(fault, NOCAP_SIM_FAST_DISPATCH_RINGS)) {
                assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS,
                                                        .fault = fault,
                                                        .launches = TO_FIRST_WRAP,
                                                        .workers = 1,
                                                        .seed = seed,
                                                        .variant = seed});
            }
        }
    }
}

/* The dispatcher's pointer wraps with the wrong toggle while the host is a lap behind: it reads
 * pages that have not been written again. */
static void a_host_that_reads_on_past_a_toggle_is_one_finding(void **state)
{
    (void)state;
    assert_found((struct nocap_sim_options){.scenario = NOCAP_SIM_FAST_DISPATCH_RINGS,
                                            .fault = NOCAP_SIM_FAULT_TOGGLE_NOT_FLIPPED,
                                            .launches = TO_FIRST_WRAP,
                                            .workers = 1,
                                            .seed = 4,
                                            .variant = 4});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_runs_wrap_every_ring_and_are_clean),
        cmocka_unit_test(memory_does_not_grow),
        cmocka_unit_test(every_fault_of_a_wrap_is_found),
        cmocka_unit_test(a_host_that_reads_on_past_a_toggle_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
