/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder on a disk that is full: what is lost is counted, and costs little; the rest is
 * there. */
#include "tests/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

/* In the place of the C library's: the disk. */
static _Atomic bool full;
static _Atomic int rings_left;

ssize_t write(int fd, const void *data, size_t size)
{
    if (atomic_load(&full)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_write, fd, data, size);
}

int posix_fallocate(int fd, off_t offset, off_t size)
{
    (void)fd;
    (void)offset;
    (void)size;
    return atomic_fetch_sub(&rings_left, 1) > 0 ? 0 : ENOSPC;
}

static void fill_disk(bool now, int rings)
{
    atomic_store(&full, now);
    atomic_store(&rings_left, rings);
}

/* Events that were recorded are read or told of as dropped; so say the totals. */
static void expect_all(const char *path, uint64_t sent, const struct nocap_capture_totals *totals)
{
    struct counted counted;
    count_events(path, true, &counted);
    assert_int_equal(counted.events + counted.drops, totals->events);
    assert_int_equal(counted.dropped, totals->dropped);
    assert_int_equal(counted.events + counted.dropped, sent);
}

static void a_disk_that_fills_up_loses_what_it_says(void **state)
{
    (void)state;
    enum { BEFORE = 1000, AFTER = 50000 };
    fill_disk(false, RING_SLOTS);
    struct nocap_capture *c =
        open_capture("fills.nocap", (struct nocap_capture_options){.ring_bytes = RING_SMALL});
    struct nocap_capture_totals totals;
    struct nocap_error err = {{0}};
    uint64_t kept = 0;
    for (uint64_t i = 0; i < BEFORE; i++) {
        kept += record_number(c, i);
    }
    assert_int_equal(nocap_capture_flush(c, &err), NOCAP_OK);
    atomic_store(&full, true);
    for (uint64_t i = BEFORE; i < BEFORE + AFTER; i++) { /* the writer fails, nobody waits */
        kept += record_number(c, i);
    }
    assert_int_equal(nocap_recorder_close(c, &totals, &err), NOCAP_E_OUTPUT);
    assert_contains(err.text, "No space left");
    atomic_store(&full, false);
    assert_in_range(kept, BEFORE, BEFORE + AFTER - 1);
    assert_int_equal(totals.dropped, BEFORE + AFTER - kept);
    assert_int_equal(access("fills.nocap.rings", F_OK), 0);
    expect_all("fills.nocap", BEFORE + AFTER, &totals);
}

static uint64_t cpu_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void a_thread_without_ring_loses_events_quickly(void **state)
{
    (void)state;
    enum { EVENTS = 200000, NANOSECONDS_EACH = 2000 };
    fill_disk(false, 0);
    struct nocap_capture *c = open_capture("none.nocap", (struct nocap_capture_options){0});
    struct nocap_capture_totals totals;
    struct nocap_error err = {{0}};
    uint64_t start = cpu_nanoseconds();
    for (uint64_t i = 0; i < EVENTS; i++) {
        assert_false(record_number(c, i));
    }
    uint64_t each = (cpu_nanoseconds() - start) / EVENTS;
    assert_in_range(each, 0, NANOSECONDS_EACH);
    assert_int_equal(nocap_recorder_close(c, &totals, &err), NOCAP_E_OUTPUT);
    assert_contains(err.text, "no room for the ring");
    assert_int_equal(totals.dropped, EVENTS);
    assert_int_equal(totals.events, 1); /* which says so */
}

static void *record_one(void *capture)
{
    return (void *)(uintptr_t)record_number(capture, 0);
}

static void a_ring_that_is_given_back_is_taken(void **state)
{
    (void)state;
    fill_disk(false, 1);
    struct nocap_capture *c = open_capture("back.nocap", (struct nocap_capture_options){0});
    pthread_t thread;
    void *kept;
    assert_int_equal(pthread_create(&thread, NULL, record_one, c), 0);
    assert_int_equal(pthread_join(thread, &kept), 0);
    assert_non_null(kept);
    assert_true(record_number(c, 0));
    assert_true(record_number(c, 1));
    close_capture(c, NULL);

    fill_disk(false, 0);
    c = open_capture("back.nocap", (struct nocap_capture_options){0});
    assert_false(record_number(c, 0));
    fill_disk(false, 1); /* there is room again, of which nobody told */
    assert_false(record_number(c, 1));
    assert_int_equal(pthread_create(&thread, NULL, record_one, c), 0);
    assert_int_equal(pthread_join(thread, &kept), 0);
    assert_non_null(kept);
    assert_true(record_number(c, 2)); /* with the ring that the thread gave back */
    struct nocap_error err;
    assert_int_equal(nocap_recorder_close(c, NULL, &err), NOCAP_E_OUTPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_fills_up_loses_what_it_says),
        cmocka_unit_test(a_thread_without_ring_loses_events_quickly),
        cmocka_unit_test(a_ring_that_is_given_back_is_taken),
    };
    return cmocka_run_group_tests_name("recorder on a full disk", tests, temp_dir_enter,
                                       temp_dir_leave);
}
