/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a block: events of many tiles are read as they were written, in the layout of today
 * and in that of older files, and what many tiles repeat costs little. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "formats/trace/block.h"
#include "formats/trace/frame.h"
#include "formats/trace/trace.h"
#include "tests/event_equal.h"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 32;
}

static struct nocap_xy tile(uint64_t n)
{
    return (struct nocap_xy){(uint8_t)(1 + n % 12), (uint8_t)(2 + n / 12)};
}

/* Values of all sizes, some of them again and again, and differences that take all 64 bits. */
static uint64_t any_value(uint64_t *random)
{
    static const uint64_t ends[] = {
        0, 1, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, 0x80, 0xFFB20000};
    uint64_t r = next_random(random);
    return r % 3 == 0 ? ends[r / 3 % 7] : r % 3 == 1 ? r % 64 : next_random(random) << r % 40;
}

/* Stores from few and from many places in a program, instruction words and accesses without a
 * value. */
static struct nocap_event any_event(uint64_t i, uint64_t *random)
{
    uint64_t r = next_random(random);
    struct nocap_event e = {
        .index = i, .t = i / 3, .has = NOCAP_F_AT | NOCAP_F_BY, .at = tile(r % 120)};
    e.by = (uint8_t)(NOCAP_BY_BRISC + (r >> 8) % 5);
    switch ((r >> 16) % 4) {
    case 0:
        e.kind = NOCAP_EV_TENSIX;
        e.op = NOCAP_OP_PUSH;
        e.has |= NOCAP_F_WORD | NOCAP_F_THREAD;
        e.value = any_value(random);
        break;
    case 1:
        e.kind = NOCAP_EV_READ;
        e.has |= NOCAP_F_ADDR | NOCAP_F_SIZE;
        e.addr = any_value(random);
        e.size = 4;
        break;
    default:
        e.kind = NOCAP_EV_WRITE;
        e.has |= NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE | NOCAP_F_PC;
        e.addr = 0x1000 + 4 * ((r >> 18) % 2000);
        e.size = 4;
        e.pc = 0x4000 + 4 * ((r >> 20) % 3);
        e.value = any_value(random);
    }
    return e;
}

/* The size of the file. */
static uint64_t write_events(FILE *file, const struct nocap_event *events, size_t count,
                             uint32_t block_events)
{
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_writer *writer;
    struct nocap_trace_totals totals;
    const struct nocap_writer_options options = {.size = sizeof options,
                                                 .block_events = block_events};
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(nocap_writer_add(writer, &events[i], &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_close(writer, &totals, &err), NOCAP_OK);
    nocap_header_free(&header);
    return totals.bytes;
}

static void expect_events(FILE *file, const struct nocap_event *expected, size_t count)
{
    struct nocap_error err;
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t got, at = 0;
    assert_int_equal(nocap_reader_open_fd(&reader, fileno(file), "events", &err), NOCAP_OK);
    while (nocap_reader_next(reader, &events, &got, &err) == NOCAP_OK) {
        for (size_t i = 0; i < got; i++, at++) {
            assert_true(at < count && events_equal(&events[i], &expected[at]));
        }
    }
    assert_int_equal(at, count);
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    nocap_reader_close(reader);
}

static void events_of_many_tiles_are_read_as_written(void **state)
{
    (void)state;
    enum { EVENTS = 100000 };
    static const uint32_t sizes[] = {0, 1 << 20, 5000, 100};
    struct nocap_event *events = malloc(EVENTS * sizeof *events);
    assert_non_null(events);
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint64_t random = s;
        for (uint64_t i = 0; i < EVENTS; i++) {
            events[i] = any_event(i, &random);
        }
        FILE *file = tmpfile();
        write_events(file, events, EVENTS, sizes[s]);
        expect_events(file, events, EVENTS);
        fclose(file);
    }
    free(events);
}

/* 120 tiles, each at its own pace in the same program: what is new is whose turn it is. */
static void what_many_tiles_repeat_costs_little(void **state)
{
    (void)state;
    enum { TILES = 120, PROGRAM = 300, EVENTS = 1 << 17 };
    uint64_t random = 1, words[PROGRAM], step[TILES] = {0};
    for (unsigned i = 0; i < PROGRAM; i++) {
        words[i] = next_random(&random);
    }
    struct nocap_event *events = malloc(EVENTS * sizeof *events);
    assert_non_null(events);
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint64_t who = next_random(&random) % TILES;
        events[i] =
            (struct nocap_event){.index = i,
                                 .t = i,
                                 .kind = NOCAP_EV_TENSIX,
                                 .op = NOCAP_OP_PUSH,
                                 .by = NOCAP_BY_TRISC1,
                                 .thread = 1,
                                 .at = tile(who),
                                 .value = words[step[who]++ % PROGRAM],
                                 .has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_WORD | NOCAP_F_THREAD};
    }
    FILE *file = tmpfile();
    uint64_t size = write_events(file, events, EVENTS, 0);
    assert_true(size < EVENTS * 5 / 4);
    expect_events(file, events, EVENTS);
    fclose(file);
    free(events);
}

/* The same where each step is a store of its own, whose place in the program is no column. */
static void what_many_tiles_do_costs_little(void **state)
{
    (void)state;
    enum { TILES = 120, PROGRAM = 200, EVENTS = 1 << 17 };
    uint64_t random = 1, step[TILES] = {0};
    struct nocap_event *events = malloc(EVENTS * sizeof *events);
    assert_non_null(events);
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint64_t who = next_random(&random) % TILES;
        events[i] =
            (struct nocap_event){.index = i,
                                 .t = i,
                                 .kind = NOCAP_EV_READ,
                                 .by = NOCAP_BY_BRISC,
                                 .at = tile(who),
                                 .addr = 0x1000 + 4 * (step[who]++ % PROGRAM),
                                 .size = 4,
                                 .has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE};
    }
    FILE *file = tmpfile();
    uint64_t size = write_events(file, events, EVENTS, 0);
    assert_true(size < EVENTS * 5 / 4);
    expect_events(file, events, EVENTS);
    fclose(file);
    free(events);
}

/* The version in the header of a file: the first field of the message in the first frame. */
static unsigned version_of(const char *path)
{
    uint8_t file[1 << 16], header[1 << 16];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(file, 1, sizeof file, f);
    fclose(f);
    size_t frame = ZSTD_findFrameCompressedSize(file, size);
    assert_false(ZSTD_isError(frame));
    size_t n = ZSTD_decompress(header, sizeof header, file, frame);
    assert_false(ZSTD_isError(n));
    struct span s = {header, header + n};
    uint64_t v[4];
    for (unsigned i = 0; i < 4; i++) { /* tag and length of the field, tag and value of `version` */
        assert_true(span_varint(&s, &v[i]));
    }
    assert_true(v[0] == (TRACE_HEADER << 3 | 2) && v[2] == 1 << 3);
    return (unsigned)v[3];
}

/* Files of older versions are read, and written anew they hold the same events. */
static void files_of_older_versions_are_read(void **state)
{
    (void)state;
    glob_t traces;
    unsigned old[TRACE_VERSION] = {0};
    assert_int_equal(glob("golden/*.nocap", 0, NULL, &traces), 0);
    for (size_t i = 0; i < traces.gl_pathc; i++) {
        const char *path = traces.gl_pathv[i];
        const unsigned version = version_of(path);
        assert_in_range(version, 1, TRACE_VERSION);
        if (version == TRACE_VERSION) {
            continue;
        }
        struct nocap_error err;
        struct nocap_reader *reader;
        const struct nocap_event *events;
        size_t count;
        assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
        while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
            struct nocap_event *renumbered = malloc(count * sizeof *renumbered);
            assert_non_null(renumbered);
            for (size_t k = 0; k < count; k++) {
                renumbered[k] = events[k];
                renumbered[k].index = k;
            }
            FILE *file = tmpfile();
            write_events(file, renumbered, count, 0);
            expect_events(file, renumbered, count);
            fclose(file);
            free(renumbered);
        }
        assert_int_equal(nocap_reader_integrity(reader)->count, 0);
        nocap_reader_close(reader);
        old[version]++;
    }
    globfree(&traces);
    for (unsigned version = 1; version < TRACE_VERSION; version++) {
        assert_true(old[version] > 0);
    }
}

/* Four stores of one shape, two from each of two places; by hand, as docs/format.md says. */
static const uint8_t block[] = {
    1 << 3,     0,    2 << 3, 4,                                           /* first_index, count */
    5 << 3 | 2, 2,    3 << 3, 1,  5 << 3 | 2, 2, 3 << 3, 2,                /* places: x is 1, 2 */
    6 << 3 | 2, 14,   1 << 3, 0,  3 << 3 | 1, 0, 0,      0, 4, 0, 0, 0, 0, /* shape: write, value */
    4 << 3,     0x80, 0x20,                                                /* its columns: bit 12 */
    7 << 3 | 2, 4,    0,      0,  1,          1,                           /* place */
    0x82,       2,    4,      10, 9,          0, 0,                        /* guessed, field 32 */
};
enum { BLOCK_COLUMNS_AT = 24 };

static void guesses_are_those_of_the_specification(void **state)
{
    (void)state;
    static const uint64_t values[] = {5, 9, 5, 9};
    struct block_decoder *decoder = block_decoder_new();
    struct nocap_event events[8];
    const char *why;
    assert_non_null(decoder);
    assert_null(block_decoder_start(decoder, block, sizeof block));
    assert_int_equal(block_decoder_take(decoder, events, 8, &why), 4);
    assert_null(why);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(events[i].value, values[i]);
        assert_int_equal(events[i].at.x, 1 + i / 2);
    }
    block_decoder_free(decoder);
    assert_int_equal(guess_index(0, 1), 5062);
    assert_int_equal(guess_index(1, 0), 4073);
    assert_int_equal(guess_index(7, 0x45000206), 5075);
}

/* A shape takes its value from one column, and there are no columns after `guessed`. */
static void shapes_with_columns_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const uint8_t columns[][2] = {{0x88, 0x20}, {0x80, 0x40}};
    struct block_decoder *decoder = block_decoder_new();
    assert_non_null(decoder);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t bad[sizeof block];
        memcpy(bad, block, sizeof block);
        assert_int_equal(bad[BLOCK_COLUMNS_AT + 1], 0x20);
        memcpy(bad + BLOCK_COLUMNS_AT, columns[i], 2);
        assert_non_null(block_decoder_start(decoder, bad, sizeof bad));
    }
    block_decoder_free(decoder);
}

static void a_column_of_guesses_that_ends_early_is_told(void **state)
{
    (void)state;
    uint8_t bad[sizeof block - 1];
    struct block_decoder *decoder = block_decoder_new();
    struct nocap_event events[8];
    const char *why;
    assert_non_null(decoder);
    memcpy(bad, block, sizeof bad);
    bad[sizeof bad - 4] = 3; /* its length */
    assert_null(block_decoder_start(decoder, bad, sizeof bad));
    assert_int_equal(block_decoder_take(decoder, events, 8, &why), 3);
    assert_non_null(why);
    block_decoder_free(decoder);
}

/* Five events of two shapes at two places, as docs/format.md says. */
static const uint8_t ordered[] = {
    1 << 3,      0,  2 << 3, 5,                                     /* first_index, count */
    5 << 3 | 2,  4,  3 << 3, 1, 7 << 3,     2,                      /* place: x is 1, 2 events */
    5 << 3 | 2,  4,  3 << 3, 2, 7 << 3,     3,                      /* place: x is 2, 3 events */
    6 << 3 | 2,  11, 1 << 3, 0, 3 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0, /* shape: write */
    6 << 3 | 2,  11, 1 << 3, 9, 3 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0, /* shape: note */
    7 << 3 | 2,  5,  1,      0, 1,          0, 1,                   /* place */
    10 << 3 | 2, 5,  0,      0, 1,          0, 1,                   /* shape_by_place */
};
enum { ORDERED_COUNT_AT = 3, ORDERED_EVENTS_AT = 9, ORDERED_PLACE_AT = 44, ORDERED_SHAPE_AT = 51 };

static void shapes_by_place_are_those_of_the_specification(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {NOCAP_EV_NOTE, NOCAP_EV_WRITE, NOCAP_EV_WRITE, NOCAP_EV_WRITE,
                                    NOCAP_EV_NOTE};
    struct block_decoder *decoder = block_decoder_new();
    struct nocap_event events[8];
    const char *why;
    assert_non_null(decoder);
    assert_null(block_decoder_start(decoder, ordered, sizeof ordered));
    assert_int_equal(block_decoder_take(decoder, events, 8, &why), 5);
    assert_null(why);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(events[i].kind, kinds[i]);
        assert_int_equal(events[i].at.x, 2 - i % 2);
    }
    block_decoder_free(decoder);
}

/* How many events there are until the block turns out damaged; -1: it is refused as a whole. */
static int events_of(const uint8_t *message, size_t size)
{
    struct block_decoder *decoder = block_decoder_new();
    struct nocap_event events[8];
    const char *why = NULL;
    int count = -1;
    assert_non_null(decoder);
    if (block_decoder_start(decoder, message, size) == NULL) {
        count = (int)block_decoder_take(decoder, events, 8, &why);
        assert_non_null(why);
    }
    block_decoder_free(decoder);
    return count;
}

static void shapes_by_place_that_do_not_fit_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t at;
        uint8_t value;
        int events;
    } cases[] = {
        {"more events at the places than in the block", ORDERED_EVENTS_AT, 3, -1},
        {"fewer events at the places than in the block", ORDERED_EVENTS_AT, 1, -1},
        {"more events in the block than entries", ORDERED_COUNT_AT, 6, -1},
        {"an entry of two bytes that are not there", ORDERED_SHAPE_AT + 4, 0x81, -1},
        {"the entry of a place with no more events", ORDERED_PLACE_AT + 4, 0, 4},
        {"a place that the block does not have", ORDERED_PLACE_AT + 1, 2, 1},
        {"a shape that the block does not have", ORDERED_SHAPE_AT + 1, 2, 3},
    };
    uint8_t bad[sizeof ordered + 3];
    assert_int_equal(ordered[ORDERED_PLACE_AT - 1], 5);
    assert_int_equal(ordered[ORDERED_SHAPE_AT - 1], 5);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(bad, ordered, sizeof ordered);
        bad[cases[i].at] = cases[i].value;
        print_message("%s\n", cases[i].what);
        assert_int_equal(events_of(bad, sizeof ordered), cases[i].events);
    }
    static const uint8_t column_of_shapes[] = {8 << 3 | 2, 1, 0};
    memcpy(bad, ordered, sizeof ordered);
    memcpy(bad + sizeof ordered, column_of_shapes, sizeof column_of_shapes);
    assert_int_equal(events_of(bad, sizeof bad), -1);
}

/* The count alone makes room for nothing. */
static void shapes_by_place_that_are_not_there_are_told(void **state)
{
    (void)state;
    static const uint8_t claims[] = {
        2 << 3,      0x80, 0x80,   0x40,             /* count: 2^20 */
        5 << 3 | 2,  4,    7 << 3, 0x80, 0x80, 0x40, /* so many at the place */
        10 << 3 | 2, 1,    0,                        /* shape_by_place */
    };
    assert_int_equal(events_of(claims, sizeof claims), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_many_tiles_are_read_as_written),
        cmocka_unit_test(what_many_tiles_repeat_costs_little),
        cmocka_unit_test(what_many_tiles_do_costs_little),
        cmocka_unit_test(files_of_older_versions_are_read),
        cmocka_unit_test(guesses_are_those_of_the_specification),
        cmocka_unit_test(shapes_with_columns_that_cannot_be_are_refused),
        cmocka_unit_test(a_column_of_guesses_that_ends_early_is_told),
        cmocka_unit_test(shapes_by_place_are_those_of_the_specification),
        cmocka_unit_test(shapes_by_place_that_do_not_fit_are_told),
        cmocka_unit_test(shapes_by_place_that_are_not_there_are_told),
    };
    return cmocka_run_group_tests_name("columns of a trace", tests, NULL, NULL);
}
