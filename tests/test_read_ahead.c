/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that reads ahead gives what one gives that does not: events, damage, errors, in their
 * order, whatever the file is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace.h"
#include "tests/event_equal.h"
#include "tests/footer_lie.h"

struct file {
    uint8_t *bytes;
    size_t size;
};

enum { TEXT = 3000, EVENTS = 60000, SHAPES = 2 };
static char text[TEXT];

/* Events of which some point to bytes: those of a frame that is gone would not be the same. */
static struct file write_file(uint64_t events, uint32_t block_events)
{
    FILE *file = tmpfile();
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_writer *writer;
    struct nocap_trace_totals totals;
    const struct nocap_writer_options options = {.size = sizeof options,
                                                 .block_events = block_events};
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    for (uint64_t i = 0; i < events; i++) {
        struct nocap_event e = {.t = i * 3,
                                .has = NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE |
                                       NOCAP_F_BY};
        e.kind = NOCAP_EV_WRITE;
        e.by = NOCAP_BY_BRISC;
        e.at = (struct nocap_xy){(uint8_t)(1 + i % 7), 2};
        e.addr = i * 2654435761u % 100000 * 4;
        e.size = 4;
        e.value = i * i % 1000003;
        if (i % 5 == 0) {
            e = nocap_event_of(NOCAP_EV_NOTE);
            e.t = i * 3;
            e.has = NOCAP_F_TEXT;
            snprintf(text, sizeof text, "note %llu ", (unsigned long long)i);
            e.data = (const uint8_t *)text;
            e.data_size = (uint32_t)(10 + i % 90);
        }
        assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_close(writer, &totals, &err), NOCAP_OK);
    struct file f = {malloc((size_t)totals.bytes), (size_t)totals.bytes};
    assert_true(pread(fileno(file), f.bytes, f.size, 0) == (ssize_t)f.size);
    nocap_header_free(&header);
    fclose(file);
    return f;
}

static uint64_t judged_events; /* on the way: the others are judged by who gets them */

/* The next events of both are the same; what they came to. */
static enum nocap_status next_of_both(struct nocap_reader *one, struct nocap_reader *two)
{
    struct nocap_error err1 = {{0}}, err2 = {{0}};
    const struct nocap_event *events1, *events2;
    size_t count1, count2;
    enum nocap_status status = nocap_reader_next(one, &events1, &count1, &err1);
    assert_int_equal(nocap_reader_next(two, &events2, &count2, &err2), status);
    assert_string_equal(err1.text, err2.text);
    assert_int_equal(nocap_reader_time_ordered(one), nocap_reader_time_ordered(two));
    if (status == NOCAP_OK) {
        assert_int_equal(count1, count2);
        for (size_t i = 0; i < count1; i++) {
            assert_true(events_equal(&events1[i], &events2[i]));
            bool judged = events2[i].shape == NOCAP_SHAPE_JUDGED;
            assert_true(judged || events1[i].shape == events2[i].shape);
            assert_true(!judged || nocap_event_problem(&events1[i]) == NULL);
            judged_events += judged;
        }
    }
    return status;
}

static void same_findings(const struct nocap_reader *one, const struct nocap_reader *two)
{
    const struct nocap_integrity *a = nocap_reader_integrity(one), *b = nocap_reader_integrity(two);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->lost_end, b->lost_end);
    for (size_t i = 0; i < a->count && i < NOCAP_DAMAGE_KEPT; i++) {
        assert_int_equal(a->damage[i].kind, b->damage[i].kind);
        assert_int_equal(a->damage[i].index, b->damage[i].index);
        assert_int_equal(a->damage[i].offset, b->damage[i].offset);
        assert_string_equal(a->damage[i].text, b->damage[i].text);
    }
    struct nocap_trace_totals totals1 = {0}, totals2 = {0};
    assert_int_equal(nocap_reader_totals(one, &totals1), nocap_reader_totals(two, &totals2));
    assert_memory_equal(&totals1, &totals2, sizeof totals1);
}

/* False: it is no trace. */
static bool open_both(const uint8_t *bytes, size_t size, struct nocap_reader *reader[2])
{
    struct nocap_error err;
    if (nocap_reader_open_memory(&reader[0], bytes, size, &err) != NOCAP_OK) {
        return false;
    }
    assert_int_equal(nocap_reader_open_memory(&reader[1], bytes, size, &err), NOCAP_OK);
    return true;
}

static size_t close_both(struct nocap_reader *reader[2])
{
    size_t damage = nocap_reader_integrity(reader[0])->count;
    nocap_reader_close(reader[0]);
    nocap_reader_close(reader[1]);
    return damage;
}

/* Reads the file both ways; how many damaged places it has. */
static size_t compare(const uint8_t *bytes, size_t size)
{
    struct nocap_reader *reader[2];
    if (!open_both(bytes, size, reader)) {
        return 1;
    }
    nocap_reader_read_ahead(reader[1]);
    enum nocap_status status;
    while ((status = next_of_both(reader[0], reader[1])) == NOCAP_OK) {
    }
    assert_int_equal(status, NOCAP_END);
    assert_int_equal(next_of_both(reader[0], reader[1]), NOCAP_END);
    same_findings(reader[0], reader[1]);
    return close_both(reader);
}

static void whole_files_are_the_same(void **state)
{
    (void)state;
    static const uint32_t block_events[] = {0, 1, 7, 300, 5000};
    for (size_t i = 0; i < sizeof block_events / sizeof block_events[0]; i++) {
        for (uint64_t n = 0; n < (i == 1 ? 2000 : EVENTS); n = n * 5 + 1) {
            struct file f = write_file(n, block_events[i]);
            judged_events = 0;
            assert_int_equal(compare(f.bytes, f.size), 0);
            assert_true(judged_events <= n && judged_events + SHAPES >= n);
            free(f.bytes);
        }
    }
}

static void cut_files_are_the_same(void **state)
{
    (void)state;
    struct file f = write_file(5000, 90);
    for (size_t cut = 1; cut < f.size; cut += 1 + cut % 397) {
        assert_true(compare(f.bytes, cut) > 0);
    }
    free(f.bytes);
}

static void damaged_files_are_the_same(void **state)
{
    (void)state;
    struct file f = write_file(5000, 90);
    unsigned damaged = 0;
    for (size_t byte = 3; byte < f.size; byte += 1 + byte % 401) {
        f.bytes[byte] ^= 0x24;
        damaged += compare(f.bytes, f.size) > 0;
        f.bytes[byte] ^= 0x24;
    }
    assert_true(damaged > 50);
    free(f.bytes);
    f = write_file(5000, 40);
    for (size_t byte = 500; byte < f.size; byte += 150) { /* more places than are kept */
        f.bytes[byte] ^= 0x24;
    }
    assert_true(compare(f.bytes, f.size) > NOCAP_DAMAGE_KEPT);
    free(f.bytes);
}

static void a_lie(Nocap__Footer *footer, const void *context)
{
    footer->block_events[*(const size_t *)context] += 2;
}

/* That times are in order is believed up to the block that shows the footer wrong, no further. */
static void wrong_footers_are_found_at_the_same_event(void **state)
{
    (void)state;
    struct file f = write_file(9000, 500);
    for (size_t block = 0; block < 18; block += 3) {
        size_t size;
        uint8_t *wrong = lie_told(f.bytes, f.size, a_lie, &block, &size);
        assert_true(compare(wrong, size) > 0);
        free(wrong);
    }
    free(f.bytes);
}

/* Reading ahead may begin anywhere and be left anywhere; the reader goes on as it would have. */
static void seeking_ends_it(void **state)
{
    (void)state;
    struct file f = write_file(EVENTS, 700);
    struct nocap_error err;
    for (uint64_t i = 0; i < 40; i++) {
        struct nocap_reader *reader[2];
        assert_true(open_both(f.bytes, f.size, reader));
        for (uint64_t n = 0; n < i % 5; n++) {
            assert_int_equal(next_of_both(reader[0], reader[1]), NOCAP_OK);
        }
        nocap_reader_read_ahead(reader[1]);
        nocap_reader_read_ahead(reader[1]); /* it does already */
        for (uint64_t n = 0; n < i * 3; n++) {
            assert_int_equal(next_of_both(reader[0], reader[1]), NOCAP_OK);
        }
        for (unsigned r = 0; r < 2 && i % 4 != 0; r++) {
            assert_int_equal(i % 2 == 0 ? nocap_reader_seek_index(reader[r], i * 1000, &err)
                                        : nocap_reader_seek_time(reader[r], i * 3000, &err),
                             NOCAP_OK);
        }
        if (i % 3 == 0) { /* else it is closed in the middle */
            while (next_of_both(reader[0], reader[1]) == NOCAP_OK) {
            }
            same_findings(reader[0], reader[1]);
        }
        close_both(reader);
    }
    free(f.bytes);
}

/* The descriptor that a reader took, closed under it. */
static struct nocap_reader *open_failing(int from)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    int next = dup(from); /* the number that is free, as the reader's duplicate will have it */
    close(next);
    assert_int_equal(nocap_reader_open_fd(&reader, from, "a disk", &err), NOCAP_OK);
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
    close(next);
    return reader;
}

static void an_error_of_reading_comes_at_its_place(void **state)
{
    (void)state;
    struct file f = write_file(3000, 600);
    FILE *file = tmpfile();
    assert_true(write(fileno(file), f.bytes, f.size) == (ssize_t)f.size);
    struct nocap_reader *one = open_failing(fileno(file)), *two = open_failing(fileno(file));
    nocap_reader_read_ahead(two);
    assert_int_equal(next_of_both(one, two), NOCAP_OK); /* the rest of the block */
    assert_int_equal(next_of_both(one, two), NOCAP_OK);
    assert_int_equal(next_of_both(one, two), NOCAP_E_INPUT);
    assert_int_equal(next_of_both(one, two), NOCAP_E_INPUT);
    nocap_reader_close(one);
    nocap_reader_close(two);
    fclose(file);
    free(f.bytes);
}

int main(void)
{
    memset(text, '.', sizeof text);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files_are_the_same),
        cmocka_unit_test(cut_files_are_the_same),
        cmocka_unit_test(damaged_files_are_the_same),
        cmocka_unit_test(wrong_footers_are_found_at_the_same_event),
        cmocka_unit_test(seeking_ends_it),
        cmocka_unit_test(an_error_of_reading_comes_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
