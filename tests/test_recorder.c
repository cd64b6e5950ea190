/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder: what was recorded is read, once and in order; drops are counted. */
#include "tests/recording.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- every kind ---- */

static void every_call_is_read_back(void **state)
{
    (void)state;
    struct nocap_capture *c = open_capture("kinds.nocap", (struct nocap_capture_options){0});
    struct nocap_place window = nocap_at_tile(3, 4);
    window.has_window = window.multicast = true;
    window.to = (struct nocap_xy){5, 6};
    window.order = NOCAP_ORDER_STRICT;
    window.map = NOCAP_MAP_WC;
    window.noc = 1;
    window.chip = 7;
    assert_true(nocap_capture_write(c, window, NOCAP_BY_HOST, 0x370, 4, 0x80000000));
    assert_true(
        nocap_capture_read(c, nocap_in_space(NOCAP_SPACE_BAR2), NOCAP_BY_HOST, 0x104, 4, 1));
    assert_true(nocap_capture_write_data(c, window, NOCAP_BY_DMA, 0x1000, "hello", 5));
    assert_true(nocap_capture_read_data(c, nocap_in_space(NOCAP_SPACE_SYSMEM), NOCAP_BY_DMA, 0x20,
                                        NULL, 64));
    struct nocap_xy tile = {1, 2}, other = {2, 3};
    assert_true(
        nocap_capture_noc(c, NOCAP_OP_WRITE, tile, NOCAP_BY_BRISC, 0, 3, other, 0x2000, 32));
    assert_true(
        nocap_capture_noc(c, NOCAP_OP_READ, tile, NOCAP_BY_NCRISC, 1, 0, other, 0x3000, 16));
    assert_true(nocap_capture_tensix(c, NOCAP_OP_ISSUE, tile, 1, 0xa4000008));
    assert_true(nocap_capture_kernel(c, NOCAP_OP_ENTER, tile, NOCAP_BY_TRISC1, 0x8410));
    assert_true(nocap_capture_reset(c, NOCAP_OP_RUN, tile, NOCAP_BY_BRISC));
    assert_true(nocap_capture_cq_record(c, 3, 0x10, 0x40, "record", 6));
    assert_true(nocap_capture_cq(c, NOCAP_OP_FETCH, 3, 0x40, 16));
    assert_true(nocap_capture_cert(c, NOCAP_OP_START, 2, 1, 16, 3, "insn", 4));
    assert_true(nocap_capture_mem(c, nocap_at_tile(1, 2), 0x68, "abcd", 4));
    assert_true(nocap_capture_note(c, "a note"));
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    assert_int_equal(totals.events, 14);
    assert_int_equal(access("kinds.nocap.rings", F_OK), -1);

    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *e;
    size_t count;
    assert_int_equal(nocap_reader_open(&reader, "kinds.nocap", &err), NOCAP_OK);
    assert_int_equal(nocap_reader_header(reader)->time_unit, NOCAP_TIME_NS);
    assert_int_equal(nocap_reader_next(reader, &e, &count, &err), NOCAP_OK);
    assert_int_equal(count, 14);
    for (size_t i = 0; i < count; i++) {
        if (nocap_event_problem(&e[i]) != NULL) {
            print_error("event %zu: %s\n", i, nocap_event_problem(&e[i]));
            fail();
        }
    }
    assert_true(e[0].kind == NOCAP_EV_WRITE && e[0].addr == 0x370 && e[0].value == 0x80000000 &&
                e[0].size == 4 && e[0].at.x == 3 && e[0].at.y == 4 && e[0].to.x == 5 &&
                e[0].to.y == 6 && e[0].order == NOCAP_ORDER_STRICT && e[0].map == NOCAP_MAP_WC &&
                e[0].noc == 1 && e[0].chip == 7);
    assert_true(e[1].kind == NOCAP_EV_READ && e[1].space == NOCAP_SPACE_BAR2 &&
                (e[1].has & (NOCAP_F_AT | NOCAP_F_NOC)) == 0);
    assert_memory_equal(e[2].data, "hello", 5);
    assert_true(e[2].by == NOCAP_BY_DMA && (e[2].has & NOCAP_F_VALUE) == 0 && e[2].to.x == 5);
    assert_true(e[3].space == NOCAP_SPACE_SYSMEM && e[3].size == 64 && e[3].data_size == 0);
    assert_true(e[4].d.x == 2 && e[4].daddr == 0x2000 && e[5].s.y == 3 && e[5].saddr == 0x3000);
    assert_true(e[6].value == 0xa4000008 && e[6].thread == 1);
    assert_true(e[9].slot_index == 3 && e[9].entry == 0x10 && e[9].data_size == 6);
    assert_true(e[11].uc == 2 && e[11].page == 1 && e[11].off == 16 && e[11].job == 3 &&
                e[11].data_size == 4);
    assert_memory_equal(e[13].data, "a note", 6);
    nocap_reader_close(reader);
}

static void a_large_access_becomes_several(void **state)
{
    (void)state;
    struct nocap_capture *c =
        open_capture("large.nocap", (struct nocap_capture_options){.ring_bytes = RING_SMALL});
    static uint8_t bytes[RING_SMALL];
    memset(bytes, 0x5A, sizeof bytes);
    assert_true(nocap_capture_write_data(c, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x1000, bytes,
                                         sizeof bytes));
    assert_true(
        nocap_capture_mem(c, nocap_at_tile(1, 2), 0x1000 + RING_SMALL, bytes, sizeof bytes));
    struct nocap_event e = {
        .kind = NOCAP_EV_NOTE, .has = NOCAP_F_TEXT, .data = bytes, .data_size = RING_SMALL / 2};
    assert_false(nocap_recorder_event(c, &e)); /* refused, counted */
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    assert_int_equal(totals.dropped, 1);
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    uint64_t next = 0x1000;
    assert_int_equal(nocap_reader_open(&reader, "large.nocap", &err), NOCAP_OK);
    unsigned drops = 0;
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == NOCAP_EV_DROP) {
                drops += (unsigned)events[i].value;
                continue;
            }
            assert_int_equal(events[i].addr, next);
            assert_int_equal(events[i].size,
                             events[i].kind == NOCAP_EV_WRITE ? events[i].data_size : 0);
            next += events[i].data_size;
        }
    }
    assert_int_equal(next, 0x1000 + 2 * RING_SMALL);
    assert_int_equal(drops, 1);
    nocap_reader_close(reader);
}

/* ---- threads ---- */

static void threads_lose_nothing(void **state)
{
    (void)state;
    enum { EVENTS = 100000 };
    struct nocap_capture *c =
        open_capture("threads.nocap", (struct nocap_capture_options){.ring_bytes = RING_SMALL});
    assert_int_equal(run_workers(c, EVENTS, NULL), THREADS * EVENTS);
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    assert_int_equal(totals.events, THREADS * EVENTS);
    assert_int_equal(totals.dropped, 0);
    struct counted counted;
    count_events("threads.nocap", false, &counted);
    assert_int_equal(counted.events, THREADS * EVENTS);
    assert_int_equal(counted.sources, THREADS);
    assert_int_equal(counted.damage, 0);
}

static void drops_are_counted_exactly(void **state)
{
    (void)state;
    enum { EVENTS = 200000 };
    struct nocap_capture *c =
        open_capture("drops.nocap", (struct nocap_capture_options){.ring_bytes = RING_SMALL,
                                                                   .policy = NOCAP_CAPTURE_DROP});
    uint64_t kept = run_workers(c, EVENTS, NULL);
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    struct counted counted;
    count_events("drops.nocap", true, &counted);
    assert_true(counted.drops > 0);
    assert_int_equal(counted.events, kept);
    assert_int_equal(counted.events + counted.dropped, THREADS * EVENTS);
    assert_int_equal(totals.dropped, counted.dropped);
    assert_int_equal(totals.events, counted.events + counted.drops);
}

static void rings_of_ended_threads_are_used_again(void **state)
{
    (void)state;
    enum { ROUNDS = 2 * RING_SLOTS / THREADS };
    struct nocap_capture *c =
        open_capture("ended.nocap", (struct nocap_capture_options){.ring_bytes = RING_SMALL});
    for (unsigned i = 0; i < ROUNDS; i++) {
        assert_int_equal(run_workers(c, 10, NULL), 10 * THREADS);
    }
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    assert_int_equal(totals.events, ROUNDS * THREADS * 10);
    assert_int_equal(totals.dropped, 0);
}

static struct nocap_capture *signalled;
static volatile sig_atomic_t signals_kept, signals_sent;

static void on_signal(int number)
{
    (void)number;
    signals_sent++;
    signals_kept += nocap_capture_note(signalled, "signal");
}

static void a_signal_handler_may_record(void **state)
{
    (void)state;
    enum { EVENTS = 2000000 };
    struct nocap_capture *c = open_capture("signal.nocap", (struct nocap_capture_options){0});
    signalled = c;
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigaction(SIGALRM, &action, &before);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    const struct itimerspec every = {{0, 50000}, {0, 50000}};
    timer_settime(timer, 0, &every, NULL);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < EVENTS; i++) {
        kept += nocap_capture_write(c, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0, 8, i);
    }
    timer_delete(timer);
    sigaction(SIGALRM, &before, NULL);
    struct nocap_capture_totals totals;
    close_capture(c, &totals);
    assert_int_equal(kept, EVENTS);
    assert_true(signals_sent > 0);
    assert_int_equal(totals.dropped, (uint64_t)(signals_sent - signals_kept));
    assert_true(totals.events >= EVENTS + (uint64_t)signals_kept);
}

/* ---- fork, flush, time, errors ---- */

#if defined(__SANITIZE_THREAD__)
enum { FORK_POLICIES = 1 }; /* the thread sanitizer refuses threads in the child */
#else
enum { FORK_POLICIES = 2 };
#endif

static void a_child_has_a_trace_of_its_own_or_none(void **state)
{
    (void)state;
    for (int follow = 0; follow < FORK_POLICIES; follow++) {
        struct nocap_capture *c = open_capture(
            "fork.nocap",
            (struct nocap_capture_options){.fork = follow != 0 ? NOCAP_CAPTURE_FORK_FOLLOW
                                                               : NOCAP_CAPTURE_FORK_STOP});
        record_number(c, 0);
        pid_t child = fork();
        if (child == 0) {
            bool ok = true;
            for (uint64_t i = 0; i < 5; i++) {
                ok &= record_number(c, i) == (follow != 0);
            }
            ok &= nocap_recorder_close(c, NULL, NULL) == NOCAP_OK;
            _exit(ok ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        record_number(c, 1);
        close_capture(c, NULL);
        struct counted counted;
        count_events("fork.nocap", false, &counted);
        assert_int_equal(counted.events, 2);
        char path[64];
        snprintf(path, sizeof path, "fork.%d.nocap", (int)child);
        if (follow != 0) {
            count_events(path, false, &counted);
            assert_int_equal(counted.events, 5);
        } else {
            assert_int_equal(access(path, F_OK), -1);
        }
    }
}

static void what_is_flushed_is_in_the_file(void **state)
{
    (void)state;
    struct nocap_capture *c =
        open_capture("flush.nocap", (struct nocap_capture_options){.flush_interval = 60000});
    struct nocap_error err = {{0}};
    for (uint64_t i = 0; i < 100; i++) {
        record_number(c, i);
    }
    assert_true(nocap_rings_capturing("flush.nocap"));
    assert_int_equal(nocap_capture_flush(c, &err), NOCAP_OK);
    struct counted counted;
    count_events("flush.nocap", false, &counted);
    assert_int_equal(counted.events, 100);
    assert_int_equal(counted.recovered, 0);
    struct nocap_capture *second;
    struct nocap_header header;
    nocap_header_init(&header);
    assert_int_equal(nocap_recorder_open(&second, "flush.nocap", &header, NULL, &err),
                     NOCAP_E_OUTPUT);
    assert_contains(err.text, "another program");
    close_capture(c, NULL);
    assert_false(nocap_rings_capturing("flush.nocap"));
}

static void a_simulator_gives_its_own_time(void **state)
{
    (void)state;
    struct nocap_capture *c = open_capture(
        "cycles.nocap", (struct nocap_capture_options){.clock = NOCAP_CAPTURE_CLOCK_USER});
    struct nocap_event e = {.kind = NOCAP_EV_NOTE, .has = NOCAP_F_TEXT, .t = 25};
    nocap_capture_set_time(c, 17);
    nocap_capture_note(c, "a");
    nocap_recorder_event(c, &e);
    close_capture(c, NULL);
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_open(&reader, "cycles.nocap", &err), NOCAP_OK);
    assert_int_equal(nocap_reader_header(reader)->time_unit, NOCAP_TIME_CYCLES);
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
    assert_true(count == 2 && events[0].t == 17 && events[1].t == 25);
    nocap_reader_close(reader);
}

static void time_runs_as_the_clock_does(void **state)
{
    (void)state;
    struct nocap_capture *c = open_capture("time.nocap", (struct nocap_capture_options){0});
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    nocap_capture_note(c, "a");
    usleep(50000);
    nocap_capture_note(c, "b");
    clock_gettime(CLOCK_MONOTONIC, &b);
    close_capture(c, NULL);
    double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_open(&reader, "time.nocap", &err), NOCAP_OK);
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
    double between = (double)(events[1].t - events[0].t);
    assert_true(between >= 49.5e6 && between <= ns * 1.01);
    nocap_reader_close(reader);
}

static void what_cannot_be_opened_is_told(void **state)
{
    (void)state;
    struct nocap_capture *c;
    struct nocap_header header;
    struct nocap_error err;
    nocap_header_init(&header);
    assert_int_equal(nocap_recorder_open(&c, "no/such/dir.nocap", &header, NULL, &err),
                     NOCAP_E_OUTPUT);
    assert_contains(err.text, "no/such/dir.nocap");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(nocap_recorder_open(&c, "pipe", &header, NULL, &err), NOCAP_E_OUTPUT);
    assert_contains(err.text, "plain file");
    const struct nocap_capture_options odd = {.size = sizeof odd, .ring_bytes = 100000};
    assert_int_equal(nocap_recorder_open(&c, "odd.nocap", &header, &odd, &err), NOCAP_E_USAGE);
    assert_int_equal(access("odd.nocap", F_OK), -1);
}

/* ---- pages ---- */

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { FAULTS_ARE_THE_RINGS = 0 };
#else
enum { FAULTS_ARE_THE_RINGS = 1 };
#endif

static long thread_faults(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_THREAD, &used), 0);
    return used.ru_minflt + used.ru_majflt;
}

/* Pages that the recording thread had to wait for in `bursts`, each of a fifth of a ring. */
static long faults_of(struct nocap_capture *c, unsigned bursts)
{
    enum { EVENTS = 35000 };
    struct nocap_error err;
    long faults = 0;
    for (unsigned i = 0; i < bursts; i++) {
        assert_int_equal(nocap_capture_flush(c, &err), NOCAP_OK);
        long before = thread_faults();
        for (unsigned k = 0; k < EVENTS; k++) {
            nocap_capture_write(c, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x100, 4, k);
        }
        faults += thread_faults() - before;
    }
    return faults;
}

/* A thread that goes on finds the pages of its ring made also where they are used first. */
static void the_first_round_of_a_ring_finds_its_pages(void **state)
{
    (void)state;
    enum { BURSTS = 3, SOME = 50 };
    if (!FAULTS_ARE_THE_RINGS) {
        print_message("# SKIP pages: a sanitizer's own are counted too\n");
        skip();
    }
    struct nocap_capture *c = open_capture("pages.nocap", (struct nocap_capture_options){0});
    faults_of(c, 1); /* the writer wakes up */
    long faults = faults_of(c, BURSTS);
    close_capture(c, NULL);
    assert_in_range(faults, 0, SOME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_read_back),
        cmocka_unit_test(a_large_access_becomes_several),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(drops_are_counted_exactly),
        cmocka_unit_test(rings_of_ended_threads_are_used_again),
        cmocka_unit_test(a_signal_handler_may_record),
        cmocka_unit_test(a_child_has_a_trace_of_its_own_or_none),
        cmocka_unit_test(what_is_flushed_is_in_the_file),
        cmocka_unit_test(a_simulator_gives_its_own_time),
        cmocka_unit_test(time_runs_as_the_clock_does),
        cmocka_unit_test(what_cannot_be_opened_is_told),
        cmocka_unit_test(the_first_round_of_a_ring_finds_its_pages),
    };
    return cmocka_run_group_tests_name("recorder", tests, temp_dir_enter, temp_dir_leave);
}
