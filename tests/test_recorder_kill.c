/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder after a kill: every event whose call had returned is read, drops stay counted. */
#include "tests/recording.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* A child records until it is killed; tells after each call how far it is. */
static void killed_child(const char *path, enum nocap_capture_policy policy, unsigned milliseconds,
                         _Atomic uint64_t *returned)
{
    memset((void *)returned, 0, THREADS * sizeof *returned);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct nocap_capture *c = open_capture(
            path, (struct nocap_capture_options){
                      .policy = policy,
                      .ring_bytes = policy == NOCAP_CAPTURE_DROP ? RING_SMALL : 1 << 20,
                      .flush_interval = 20});
        run_workers(c, UINT64_MAX, returned);
        _exit(1);
    }
    for (unsigned i = 0; i < THREADS; i++) { /* the kill is to hit threads at work */
        while (atomic_load(&returned[i]) == 0) {
            usleep(1000);
        }
    }
    usleep(milliseconds * 1000);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static _Atomic uint64_t *shared_counts(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static void a_kill_loses_nothing(void **state)
{
    (void)state;
    _Atomic uint64_t *returned = shared_counts();
    uint64_t recovered = 0;
    for (unsigned round = 0; round < 12; round++) {
        killed_child("killed.nocap", NOCAP_CAPTURE_BLOCK, 1 + 13 * round % 60, returned);
        struct counted counted;
        count_events("killed.nocap", false, &counted);
        assert_int_equal(counted.damage, 0);
        recovered += counted.recovered;
        uint64_t sent = 0, found = 0;
        for (unsigned i = 0; i < THREADS; i++) {
            sent += atomic_load(&returned[i]);
            found += counted.next[i];
        }
        assert_int_equal(found, counted.events);
        /* one call of each thread may have recorded and not returned */
        assert_in_range(found, sent, sent + THREADS);
    }
    assert_true(recovered > 0);
    munmap((void *)returned, 4096);
}

static void a_kill_keeps_the_count_of_drops(void **state)
{
    (void)state;
    _Atomic uint64_t *returned = shared_counts();
    for (unsigned round = 0; round < 6; round++) {
        killed_child("killed.nocap", NOCAP_CAPTURE_DROP, 1 + 17 * round % 60, returned);
        struct counted counted;
        count_events("killed.nocap", true, &counted);
        uint64_t sent = 0;
        for (unsigned i = 0; i < THREADS; i++) {
            sent += atomic_load(&returned[i]);
        }
        assert_in_range(counted.events + counted.dropped, sent, sent + THREADS);
    }
    munmap((void *)returned, 4096);
}

static void rings_of_another_trace_are_left_alone(void **state)
{
    (void)state;
    _Atomic uint64_t *returned = shared_counts();
    killed_child("mine.nocap", NOCAP_CAPTURE_BLOCK, 500, returned);
    struct nocap_capture *c = open_capture("other.nocap", (struct nocap_capture_options){0});
    for (uint64_t i = 0; i < 1000; i++) {
        record_number(c, i);
    }
    close_capture(c, NULL);
    struct stat st;
    assert_int_equal(rename("mine.nocap.rings", "other.nocap.rings"), 0);
    struct counted counted;
    count_events("other.nocap", false, &counted);
    assert_int_equal(counted.events, 1000);
    assert_int_equal(counted.recovered, 0);
    assert_int_equal(stat("other.nocap", &st), 0);
    assert_int_equal(truncate("other.nocap", st.st_size - 4), 0); /* no end: but not its rings */
    count_events("other.nocap", false, &counted);
    assert_int_equal(counted.recovered, 0);
    assert_int_equal(counted.damage, 1);
    assert_int_equal(truncate("other.nocap.rings", 100), 0);
    count_events("other.nocap", false, &counted);
    assert_int_equal(counted.recovered, 0);
    munmap((void *)returned, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_loses_nothing),
        cmocka_unit_test(a_kill_keeps_the_count_of_drops),
        cmocka_unit_test(rings_of_another_trace_are_left_alone),
    };
    return cmocka_run_group_tests_name("recorder after a kill", tests, temp_dir_enter,
                                       temp_dir_leave);
}
