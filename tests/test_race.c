/* SPDX-License-Identifier: Apache-2.0 */
/* What the model of races remembers: clocks and memory, and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/race/race_private.h"

static struct model model; /* of which only what was told of memory is asked */

static void a_clock_that_is_full_knows_everything(void **state)
{
    (void)state;
    struct race_clock *clock = NULL;
    for (uint32_t i = 0; i < 3 * RACE_CLOCK_MAX; i++) {
        race_clock_raise(&model, &clock, i, i + 1);
        assert_true(clock->keys->count <= RACE_CLOCK_MAX);
        assert_true(clock->base_epoch >= i + 1 || race_clock_until(clock, i) == i + 1);
    }
    assert_true(clock->base_epoch > 0);
    assert_false(model.out_of_memory);
    race_clock_drop(clock);
}

static void clocks_join_by_the_later_time(void **state)
{
    (void)state;
    struct race_clock *a = NULL, *b = NULL;
    for (uint32_t i = 0; i < 100; i++) {
        race_clock_raise(&model, i % 3 != 0 ? &a : &b, i, 10 + i);
        race_clock_raise(&model, i % 2 != 0 ? &a : &b, i, 20 + i);
    }
    struct race_clock *before = race_clock_share(a);
    uint64_t old = race_clock_until(a, 4);
    race_clock_join(&model, &a, b);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(race_clock_until(a, i), 20 + i);
    }
    assert_int_equal(race_clock_until(before, 4), old); /* a shared one stays */
    race_clock_drop(before);
    race_clock_drop(a);
    race_clock_drop(b);
}

static void clocks_of_the_same_keys_share_them(void **state)
{
    (void)state;
    struct race_clock *a = NULL, *b = NULL;
    for (uint32_t i = 0; i < 100; i++) {
        race_clock_raise(&model, &a, i, 10 + i);
        race_clock_raise(&model, &b, i, 109 - i);
    }
    race_clock_join(&model, &a, b);
    race_clock_join(&model, &b, a);
    assert_ptr_equal(a->keys, b->keys);
    race_clock_raise(&model, &b, 100, 5); /* shared keys stay */
    assert_int_equal(race_clock_until(a, 100), 0);
    assert_int_equal(race_clock_until(b, 100), 5);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(race_clock_until(a, i), i < 50 ? 109 - i : 10 + i);
        assert_int_equal(race_clock_until(b, i), i < 50 ? 109 - i : 10 + i);
    }
    race_clock_drop(a);
    race_clock_drop(b);
}

static void memory_is_bounded_and_disjoint(void **state)
{
    (void)state;
    struct race_mem_ctx place = {0};
    const struct race_memory *memory = &place.memory;
    uint32_t seed = 1;
    for (uint64_t i = 1; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t first = seed >> 8 & 0xffff, size = 1 + (seed >> 24);
        const struct race_access a = {.turn = i, .first = first, .end = first + size};
        if (i % 3 == 0) {
            race_read(&model, &place, &a, NULL);
        } else {
            assert_non_null(race_write(&model, &place, &a, NULL, NULL));
            const struct race_row *row = &memory->rows[race_memory_find(&place.memory, first)];
            assert_int_equal(row->first, a.first);
            assert_int_equal(row->end, a.end);
        }
        assert_true(memory->count <= 2 * RACE_SPANS_MAX);
    }
    assert_true(memory->lost > 0);
    for (uint32_t i = 1; i < memory->count; i++) {
        assert_true(memory->rows[i - 1].end <= memory->rows[i].first);
    }
    race_memory_free(&place.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_full_knows_everything),
        cmocka_unit_test(clocks_join_by_the_later_time),
        cmocka_unit_test(clocks_of_the_same_keys_share_them),
        cmocka_unit_test(memory_is_bounded_and_disjoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
