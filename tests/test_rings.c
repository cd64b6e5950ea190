/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that a killed capture left and that are damaged: the trace, and the rings up to there, are
 * read, and what is not is reported. */
#include "tests/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "formats/rings/ring_file.h"

enum { EVENTS = 500, FLUSHED = 300, BAD = 400 };

static void record(struct nocap_capture *capture, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        nocap_capture_write(capture, nocap_at_tile(1, 2), NOCAP_BY_HOST, 0x100, 4, i);
    }
}

static void *record_all(void *capture)
{
    record(capture, 0, EVENTS);
    return NULL;
}

/* A child records from two threads, one after the other, and ends without closing. */
static void leave_rings(void)
{
    unlink("left.nocap");
    unlink("left.nocap.rings");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pthread_t other;
        struct nocap_error err;
        struct nocap_capture *c =
            open_capture("left.nocap", (struct nocap_capture_options){.ring_bytes = 1 << 20,
                                                                      .flush_interval = 60000});
        record(c, 0, FLUSHED);
        bool ok = nocap_capture_flush(c, &err) == NOCAP_OK;
        record(c, FLUSHED, EVENTS);
        ok = ok && pthread_create(&other, NULL, record_all, c) == 0 &&
             pthread_join(other, NULL) == 0;
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Where record `i` of the first ring lies. All are accesses. */
static off_t place_of(unsigned i)
{
    return (off_t)(RING_FILE_FIRST + i * sizeof(struct ring_access));
}

static void change(const char *path, off_t at, const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), size);
    close(fd);
}

struct found {
    uint64_t writes, notes, dropped, damage;
    struct nocap_recovered recovered;
};

static void look_at(const char *path, struct found *f)
{
    struct nocap_reader *reader;
    struct nocap_import_result result;
    struct nocap_error err = {{0}};
    const struct nocap_event *events;
    size_t count;
    *f = (struct found){0};
    assert_int_equal(nocap_import_open(&reader, path, false, &result, &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_null(nocap_event_problem(&events[i]));
            f->writes += events[i].kind == NOCAP_EV_WRITE;
            f->notes += events[i].kind == NOCAP_EV_NOTE;
            f->dropped += events[i].kind == NOCAP_EV_DROP ? events[i].value : 0;
        }
    }
    f->damage = nocap_reader_integrity(reader)->count;
    f->recovered = result.recovered;
    nocap_reader_close(reader);
}

static void rings_are_read_up_to_a_bad_record(void **state)
{
    (void)state;
    static const struct ring_word no_format = {.words = 6, .format = 77};
    static const struct ring_word too_long = {.words = 1 << 20, .format = RING_ACCESS};
    static const struct ring_word no_length = {.words = 0, .format = RING_ACCESS};
    /* as an event: `has` names a field that it may not have */
    static const uint64_t no_event[] = {6 | (uint64_t)RING_EVENT << 32, 0, UINT64_MAX, 0, 0, 0};
    const struct {
        const void *bytes;
        size_t size;
        uint64_t dropped; /* the bad one, and what lies after it as far as lengths tell */
    } cases[] = {
        {&no_format, sizeof no_format, 1},
        {&too_long, sizeof too_long, 1},
        {&no_length, sizeof no_length, 1},
        {no_event, sizeof no_event, EVENTS - BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct found f;
        char text[NOCAP_RINGS_TEXT];
        leave_rings();
        change("left.nocap.rings", place_of(BAD), cases[i].bytes, cases[i].size);
        look_at("left.nocap", &f);
        assert_int_equal(f.writes, BAD + EVENTS); /* the other ring is read */
        assert_int_equal(f.notes, 1);
        assert_int_equal(f.dropped, cases[i].dropped);
        assert_int_equal(f.recovered.dropped, cases[i].dropped);
        assert_int_equal(f.recovered.broken, 1);
        assert_int_equal(f.recovered.unread, (EVENTS - BAD) * sizeof(struct ring_access));
        assert_true(f.recovered.incomplete);
        assert_int_equal(f.damage, 1); /* it has no end */
        nocap_rings_describe(&f.recovered, "left.nocap", text, sizeof text);
        assert_contains(text, "up to an invalid record");
    }
}

/* An access whose bytes are sound and that no trace may hold. */
static void an_event_that_no_trace_may_hold_is_a_bad_record(void **state)
{
    (void)state;
    struct {
        struct ring_event head;
        uint64_t none[3];
    } bad = {.head = {.word = {.words = 2 * sizeof(struct ring_access) / 8, .format = RING_EVENT}}};
    struct found f;
    bad.head.what[0] = NOCAP_EV_WRITE;
    bad.head.what[1] = 200; /* its op */
    _Static_assert(sizeof bad == 2 * sizeof(struct ring_access), "in the place of two");
    leave_rings();
    change("left.nocap.rings", place_of(BAD), &bad, sizeof bad);
    look_at("left.nocap", &f);
    assert_int_equal(f.writes, BAD + EVENTS);
    assert_int_equal(f.recovered.broken, 1);
    assert_int_equal(f.dropped, EVENTS - BAD - 1);
    assert_int_equal(f.recovered.unread, (EVENTS - BAD) * sizeof(struct ring_access));
}

static void a_ring_whose_ends_make_no_sense_is_left_out(void **state)
{
    (void)state;
    static const uint64_t far = UINT64_MAX / 2;
    struct found f;
    leave_rings();
    change("left.nocap.rings", (off_t)offsetof(struct ring_file_head, ring[0].head), &far,
           sizeof far);
    look_at("left.nocap", &f);
    assert_int_equal(f.recovered.broken, 1);
    assert_int_equal(f.dropped, 1);
    assert_in_range(f.writes, FLUSHED + EVENTS, EVENTS + EVENTS);
}

static void rings_with_another_head_are_told_of(void **state)
{
    (void)state;
    static const uint64_t none = 0;
    struct found f;
    leave_rings();
    change("left.nocap.rings", (off_t)offsetof(struct ring_file_head, magic), &none, sizeof none);
    look_at("left.nocap", &f);
    assert_true(f.recovered.foreign);
    assert_true(f.writes >= FLUSHED);
    assert_int_equal(f.damage, 1);
}

static void a_damaged_block_does_not_go_in_silence(void **state)
{
    (void)state;
    struct found f;
    struct stat st;
    leave_rings();
    assert_int_equal(stat("left.nocap", &st), 0);
    uint8_t byte;
    int fd = open("left.nocap", O_RDONLY | O_CLOEXEC);
    off_t at = st.st_size - (off_t)RING_HASHED - 40; /* of the last block, not of what is hashed */
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    close(fd);
    byte ^= 0x10;
    change("left.nocap", at, &byte, 1);
    look_at("left.nocap", &f);
    assert_true(f.recovered.incomplete);
    assert_int_equal(f.damage, 1);
    assert_true(f.writes < EVENTS + EVENTS);
}

static void without_room_the_trace_itself_is_read(void **state)
{
    (void)state;
    struct found f;
    char text[NOCAP_RINGS_TEXT];
    struct rlimit before, small;
    leave_rings();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 64;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    look_at("left.nocap", &f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_in_range(f.writes, FLUSHED, EVENTS + EVENTS - 1);
    assert_int_equal(f.damage, 1);
    nocap_rings_describe(&f.recovered, "left.nocap", text, sizeof text);
    assert_contains(text, "File too large");
    look_at("left.nocap", &f);
    assert_int_equal(f.writes, EVENTS + EVENTS);
    assert_int_equal(f.damage, 0);
}

static void a_new_capture_keeps_what_a_killed_one_left(void **state)
{
    (void)state;
    struct found f;
    for (unsigned round = 1; round <= 2; round++) {
        leave_rings();
        struct nocap_capture *c = open_capture("left.nocap", (struct nocap_capture_options){0});
        assert_true(record_number(c, 0));
        close_capture(c, NULL);
        look_at("left.nocap", &f);
        assert_int_equal(f.writes, 1);
        look_at(round == 1 ? "left.killed.nocap" : "left.killed-2.nocap", &f);
        assert_int_equal(f.writes, EVENTS + EVENTS);
        assert_int_equal(f.damage, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_read_up_to_a_bad_record),
        cmocka_unit_test(an_event_that_no_trace_may_hold_is_a_bad_record),
        cmocka_unit_test(a_ring_whose_ends_make_no_sense_is_left_out),
        cmocka_unit_test(rings_with_another_head_are_told_of),
        cmocka_unit_test(a_damaged_block_does_not_go_in_silence),
        cmocka_unit_test(without_room_the_trace_itself_is_read),
        cmocka_unit_test(a_new_capture_keeps_what_a_killed_one_left),
    };
    return cmocka_run_group_tests_name("damaged rings", tests, temp_dir_enter, temp_dir_leave);
}
