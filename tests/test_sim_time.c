/* SPDX-License-Identifier: Apache-2.0 */
/* The wheel of time that the machines in software stand on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/kernel/kernel.h"

enum { TIMERS = 300, ROUNDS = 200000 };

static struct sim_kernel *new_kernel(void)
{
    struct sim_kernel *k = calloc(1, sizeof *k);
    assert_non_null(k);
    assert_true(sim_time_init(k, TIMERS));
    k->random = 1;
    return k;
}

static void free_kernel(struct sim_kernel *k)
{
    free(k->timer);
    free(k);
}

static void equal_times_go_off_in_the_order_asked_for(void **state)
{
    (void)state;
    struct sim_kernel *k = new_kernel();
    assert_int_equal(sim_next(k), SIM_NOTHING);
    assert_true(sim_peek(k) == UINT64_MAX);
    for (uint16_t i = 0; i < TIMERS; i++) {
        sim_arm(k, i, 7);
    }
    for (uint16_t i = 0; i < TIMERS; i++) {
        assert_int_equal(sim_next(k), i);
        assert_int_equal(k->now, 7);
    }
    assert_int_equal(sim_next(k), SIM_NOTHING);
    free_kernel(k);
}

/* Times past the reach of the wheel are no wake-ups in between. */
static void far_times_are_seen_as_they_are(void **state)
{
    (void)state;
    struct sim_kernel *k = new_kernel();
    sim_arm(k, 0, 100000);
    sim_arm(k, 1, 50000);
    sim_arm(k, 2, 50000);
    sim_arm(k, 3, SIM_BUCKETS - 1);
    static const struct {
        uint16_t timer;
        uint64_t at;
    } order[] = {{3, SIM_BUCKETS - 1}, {1, 50000}, {2, 50000}, {0, 100000}};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_int_equal(sim_peek(k), order[i].at);
        assert_int_equal(sim_next(k), order[i].timer);
        assert_int_equal(k->now, order[i].at);
    }
    free_kernel(k);
}

static void a_timer_armed_anew_goes_off_at_the_later_time(void **state)
{
    (void)state;
    struct sim_kernel *k = new_kernel();
    sim_arm(k, 0, 10);
    sim_arm(k, 0, 20000);
    sim_arm(k, 1, 20001);
    sim_arm(k, 2, 9000);
    sim_arm(k, 2, 30000);
    assert_int_equal(sim_next(k), 0);
    assert_int_equal(k->now, 20000);
    assert_int_equal(sim_next(k), 1);
    assert_int_equal(sim_next(k), 2);
    assert_int_equal(k->now, 30000);
    assert_int_equal(sim_next(k), SIM_NOTHING);
    free_kernel(k);
}

/* Whatever is armed goes off at its time, and time never goes back. */
static void nothing_is_lost(void **state)
{
    (void)state;
    struct sim_kernel *k = new_kernel();
    uint64_t due[TIMERS];
    for (uint16_t i = 0; i < TIMERS; i++) {
        due[i] = sim_below(k, 3 * SIM_BUCKETS);
        sim_arm(k, i, due[i]);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t before = k->now, next = sim_peek(k);
        uint16_t timer = sim_next(k);
        assert_true(timer < TIMERS && k->now >= before);
        assert_true(k->now == due[timer] && next == k->now);
        due[timer] = k->now + 1 + sim_below(k, round % 16 == 0 ? 5 * SIM_BUCKETS : 90);
        sim_arm(k, timer, due[timer]);
    }
    for (uint16_t i = 0; i < TIMERS; i++) {
        assert_true(k->timer[i].armed && due[i] >= k->now);
    }
    free_kernel(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_times_go_off_in_the_order_asked_for),
        cmocka_unit_test(far_times_are_seen_as_they_are),
        cmocka_unit_test(a_timer_armed_anew_goes_off_at_the_later_time),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
