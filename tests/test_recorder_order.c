/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that hand over to each other: their events are in the trace in the order in which they
 * were made, whatever clock gives their times. */
#include "tests/recording.h"

#include <inttypes.h>
#include <sched.h>

enum { PLAYERS = 2, TURNS = 10000, CONTACTS = 200, SPINS = 2000 };

static struct nocap_capture *capture;
static _Atomic uint64_t turn;
static uint64_t made, turns; /* of whose turn it is */

/* Some events, then it is the other's turn: with events of another kind among them. */
static void take_turn(uint64_t number)
{
    for (uint64_t i = 0; i < 1 + number * 7 % 5; i++) {
        if (number % 13 == 0 && i == 1) {
            nocap_capture_write_data(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, made++, "ab", 2);
        } else {
            nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, made++, 4, 0);
        }
    }
    atomic_store_explicit(&turn, number + 1, memory_order_release);
}

static void *player(void *number)
{
    for (uint64_t mine = (uintptr_t)number; mine < turns; mine += PLAYERS) {
        for (unsigned i = 0; atomic_load_explicit(&turn, memory_order_acquire) != mine; i++) {
            if (i % SPINS == SPINS - 1) {
                sched_yield();
            }
        }
        take_turn(mine);
    }
    return NULL;
}

/* Times grow from event to event, those of two threads are never equal. (A file may have an event
 * that was published late, after later ones: readers go by the time.) */
static void expect_order(const char *path)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    uint64_t read = 0, *t = calloc(made, sizeof *t);
    uint32_t *src = calloc(made, sizeof *src);
    assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++, read++) {
            assert_in_range(events[i].addr, 0, made - 1);
            t[events[i].addr] = events[i].t;
            src[events[i].addr] = events[i].src;
        }
    }
    nocap_reader_close(reader);
    assert_int_equal(read, made);
    for (uint64_t i = 1; i < made; i++) {
        if (t[i] < t[i - 1] || (t[i] == t[i - 1] && src[i] != src[i - 1])) {
            print_error("event %" PRIu64 ": %" PRIu64 " src %u after %" PRIu64 " src %u\n", i, t[i],
                        src[i], t[i - 1], src[i - 1]);
            fail();
        }
    }
    free(t);
    free(src);
}

static void play(enum nocap_capture_clock clock, uint64_t before, uint64_t how_many)
{
    pthread_t threads[PLAYERS];
    capture = open_capture("order.nocap", (struct nocap_capture_options){.clock = clock});
    made = 0;
    atomic_store(&turn, 0);
    turns = how_many;
    for (uint64_t i = 0; i < before; i++) {
        nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, made++, 4, 0);
    }
    for (uintptr_t i = 1; i < PLAYERS; i++) {
        pthread_create(&threads[i], NULL, player, (void *)i);
    }
    player((void *)0);
    for (unsigned i = 1; i < PLAYERS; i++) {
        pthread_join(threads[i], NULL);
    }
    close_capture(capture, NULL);
    expect_order("order.nocap");
}

static void events_of_threads_are_in_their_order(void **state)
{
    (void)state;
    play(NOCAP_CAPTURE_CLOCK_TSC, 0, TURNS);
    play(NOCAP_CAPTURE_CLOCK_TSC_COARSE, 0, TURNS);
}

/* Where the first thread has a reading that others of its events may share. */
static void the_first_contact_of_two_threads_is_in_order(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONTACTS; i++) {
        play(NOCAP_CAPTURE_CLOCK_TSC_COARSE, i % 20, 4);
    }
}

static void neighbours_share_a_reading(void **state)
{
    (void)state;
    enum { EVENTS = 1000 };
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    unsigned readings = 0;
    uint64_t last = UINT64_MAX;
    capture = open_capture("shared.nocap",
                           (struct nocap_capture_options){.clock = NOCAP_CAPTURE_CLOCK_TSC_COARSE});
    for (unsigned i = 0; i < EVENTS; i++) {
        nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, i, 4, 0);
    }
    close_capture(capture, NULL);
    assert_int_equal(nocap_reader_open(&reader, "shared.nocap", &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            readings += events[i].t != last;
            last = events[i].t;
        }
    }
    assert_in_range(readings, EVENTS / 8, EVENTS / 8 + 2);
    nocap_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_threads_are_in_their_order),
        cmocka_unit_test(the_first_contact_of_two_threads_is_in_order),
        cmocka_unit_test(neighbours_share_a_reading),
    };
    return cmocka_run_group_tests_name("order of threads", tests, temp_dir_enter, temp_dir_leave);
}
