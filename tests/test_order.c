/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of sources, of which a file may name any number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/core/order.h"

enum { SOURCES = 600000 }; /* more than the table takes */

static bool tick(struct source_clock *clock, uint32_t src, uint64_t t)
{
    const struct nocap_event event = {.src = src, .t = t};
    uint64_t before;
    return source_clock_tick(clock, &event, &before);
}

static void sources_that_are_known_stay_judged(void **state)
{
    (void)state;
    struct source_clock clock = {0};
    for (uint32_t i = 0; i < SOURCES; i++) {
        assert_true(tick(&clock, i, 10));
    }
    assert_false(tick(&clock, 0, 9));
    assert_false(tick(&clock, 1, 9));
    assert_false(tick(&clock, SOURCES / 2, 9));
    assert_true(tick(&clock, SOURCES - 1, 9)); /* had no place */
    source_clock_free(&clock);
}

static void sources_far_apart_are_told_apart(void **state)
{
    (void)state;
    struct source_clock clock = {0};
    enum { COUNT = 4000, STEP = 1 << 20 };
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(tick(&clock, i * STEP + 1, 10 + i));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(tick(&clock, i * STEP + 1, 10 + i));
        assert_false(tick(&clock, i * STEP + 1, 9 + i));
    }
    source_clock_free(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_that_are_known_stay_judged),
        cmocka_unit_test(sources_far_apart_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
