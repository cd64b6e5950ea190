/* SPDX-License-Identifier: Apache-2.0 */
/* The .nocap file: what was written is read, what cannot be written or read is refused, and the
 * specification has the numbers of the code. */
#include "tests/trace_file.h"

#include <fcntl.h>

#include "checker/core/checker.h"

static void whole_file_is_read_as_written(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 20000; n = n * 3 + 1) {
        struct trace_file f = write_file(n, 1000);
        struct nocap_integrity integrity;
        assert_int_equal(read_and_compare(f.bytes, f.size, &integrity), n);
        assert_int_equal(integrity.count, 0);
        free(f.bytes);
    }
}

static void seek_finds_every_index_and_time(void **state)
{
    (void)state;
    struct trace_file f = write_file(5000, 300);
    struct nocap_error err;
    for (int table = 0; table < 2; table++) { /* with the seek table, then by scanning */
        struct nocap_reader *reader;
        assert_int_equal(
            nocap_reader_open_memory(&reader, f.bytes, f.size - (table == 0 ? 0 : 4), &err),
            NOCAP_OK);
        const struct nocap_event *events;
        size_t count;
        for (uint64_t i = 0; i < 5000; i += 77) {
            assert_int_equal(nocap_reader_seek_index(reader, i, &err), NOCAP_OK);
            assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
            assert_true(events[0].index == i);
            uint64_t t = i / 2 * 3;
            assert_int_equal(nocap_reader_seek_time(reader, t, &err), NOCAP_OK);
            assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
            assert_true(events[0].t <= t);
        }
        assert_int_equal(nocap_reader_seek_index(reader, 5000, &err), NOCAP_OK);
        assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_END);
        nocap_reader_close(reader);
    }
    free(f.bytes);
}

static void oversized_payload_is_refused(void **state)
{
    (void)state;
    struct nocap_header header;
    struct nocap_error err;
    nocap_header_init(&header);
    FILE *file = tmpfile();
    struct nocap_writer *writer;
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, NULL, &err), NOCAP_OK);
    struct nocap_event e = {.kind = NOCAP_EV_NOTE,
                            .has = NOCAP_F_TEXT,
                            .data = payload,
                            .data_size = NOCAP_PAYLOAD_MAX + 1};
    assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_E_USAGE);
    assert_non_null(strstr(err.text, "split"));
    nocap_writer_abandon(writer);
    nocap_header_free(&header);
    fclose(file);
}

/* What no reader could make an event of. */
static void what_is_no_event_is_refused(void **state)
{
    (void)state;
    struct nocap_header header;
    struct nocap_error err;
    nocap_header_init(&header);
    FILE *file = tmpfile();
    struct nocap_writer *writer;
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, NULL, &err), NOCAP_OK);
    const struct nocap_event bad[] = {
        {.kind = NOCAP_EV_COUNT},
        {.kind = NOCAP_EV_NOC, .op = NOCAP_OP_COUNT},
        {.kind = NOCAP_EV_NOTE, .has = NOCAP_F_TEXT | NOCAP_F_ADDR},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(nocap_writer_add(writer, &bad[i], &err), NOCAP_E_USAGE);
    }
    struct nocap_trace_totals totals;
    assert_int_equal(nocap_writer_close(writer, &totals, &err), NOCAP_OK);
    assert_int_equal(totals.events, 0);
    nocap_header_free(&header);
    fclose(file);
}

static void inputs_that_are_no_trace_are_refused(void **state)
{
    (void)state;
    struct nocap_reader *reader;
    struct nocap_error err;
    assert_int_equal(nocap_reader_open_memory(&reader, "", 0, &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "empty"));
    assert_int_equal(nocap_reader_open_memory(&reader, "hello, world\n", 13, &err), NOCAP_E_INPUT);
    assert_int_equal(nocap_reader_open(&reader, "/", &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "directory"));
    assert_int_equal(nocap_reader_open(&reader, "/no/such/file", &err), NOCAP_E_INPUT);
}

/* A reader of a file whose next reads fail: /proc/self/mem cannot be read at the low addresses that
 * are offsets of a small file. */
static void an_error_of_reading_is_no_end(void **state)
{
    (void)state;
    struct trace_file f = write_file(3000, 500);
    struct nocap_reader *reader;
    struct nocap_error err;
    const struct nocap_event *events;
    size_t count;
    FILE *file = tmpfile();
    assert_true(pwrite(fileno(file), f.bytes, f.size, 0) == (ssize_t)f.size);
    int taken = dup(fileno(file)); /* the lowest number that is free: the reader's own */
    close(taken);
    assert_int_equal(nocap_reader_open_fd(&reader, fileno(file), "a file", &err), NOCAP_OK);
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
    int bad = open("/proc/self/mem", O_RDONLY);
    assert_true(bad >= 0 && dup2(bad, taken) == taken);
    enum nocap_status status;
    uint64_t got = count;
    while ((status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        got += count;
    }
    assert_int_equal(status, NOCAP_E_INPUT);
    assert_int_equal(got, 500);
    assert_non_null(strstr(err.text, "cannot read a file at byte "));
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    assert_int_equal(dup2(fileno(file), taken), taken);
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_E_INPUT);
    nocap_reader_close(reader);
    close(bad);
    fclose(file);
    free(f.bytes);
}

static void a_file_that_cannot_be_read_does_not_open(void **state)
{
    (void)state;
    struct nocap_reader *reader;
    struct nocap_report *report;
    struct nocap_error err;
    int bad = open("/", O_RDONLY); /* has a size, and cannot be read */
    assert_int_equal(nocap_reader_open_fd(&reader, bad, "a directory", &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "cannot read a directory at byte "));
    close(bad);
    assert_int_equal(nocap_check(&report, "/proc/self/mem", NULL, &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "cannot read /proc/self/mem"));
}

/* The numbers of docs/format.md are those of the code: a file of today must be readable in ten
 * years. */
static void specification_names_every_field(void **state)
{
    (void)state;
    static char text[1 << 16];
    FILE *file = fopen("docs/format.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; i < NOCAP_FIELD_COUNT; i++) {
        const struct nocap_field_info *f = &nocap_fields[i];
        char where[32] = "place", row[96];
        if (f->home == NOCAP_HOME_PAYLOAD) {
            snprintf(where, sizeof where, "payload");
        } else if (f->home == NOCAP_HOME_SHAPE) {
            snprintf(where, sizeof where, "small, byte %d", f->offset - SMALL_OFFSET);
        } else if (f->home != NOCAP_HOME_PLACE) {
            size_t slot = (f->offset - offsetof(struct nocap_event, slot)) / sizeof(uint64_t);
            snprintf(where, sizeof where, "slot %zu", slot);
        }
        snprintf(row, sizeof row, "| %d | `%s` | %s |", i, f->key, where);
        assert_non_null(strstr(text, row));
    }
    for (unsigned kind = 0; kind < NOCAP_EV_COUNT; kind++) {
        char entry[40];
        snprintf(entry, sizeof entry, "%u %s", kind, nocap_kind_name(kind));
        assert_non_null(strstr(text, entry));
    }
    for (unsigned op = 1; op < NOCAP_OP_COUNT; op++) {
        char entry[40];
        snprintf(entry, sizeof entry, "%u %s", op, nocap_op_name(op));
        assert_non_null(strstr(text, entry));
    }
}

int main(void)
{
    fill_payload();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_file_is_read_as_written),
        cmocka_unit_test(seek_finds_every_index_and_time),
        cmocka_unit_test(oversized_payload_is_refused),
        cmocka_unit_test(what_is_no_event_is_refused),
        cmocka_unit_test(inputs_that_are_no_trace_are_refused),
        cmocka_unit_test(an_error_of_reading_is_no_end),
        cmocka_unit_test(a_file_that_cannot_be_read_does_not_open),
        cmocka_unit_test(specification_names_every_field),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
