/* SPDX-License-Identifier: Apache-2.0 */
/* A trace once more: what a reader would leave out of the new one is not made. The rest is
 * tests/cli/test_recompress.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "formats/trace/recompress.h"

enum { EVENTS = 4400000, FEW = 1000 };

/* So many notes, in blocks of so few that each has its bytes. */
static FILE *make_notes(void)
{
    const struct nocap_writer_options options = {.size = sizeof options, .block_events = FEW};
    const struct nocap_event note = {.kind = NOCAP_EV_NOTE};
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_writer *writer;
    FILE *file = tmpfile();
    assert_non_null(file);
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_int_equal(nocap_writer_add(writer, &note, &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
    return file;
}

static uint64_t count_events(FILE *file, bool dense)
{
    struct nocap_reader *reader;
    const struct nocap_event *events;
    struct nocap_error err;
    size_t count;
    uint64_t all = 0;
    assert_int_equal(nocap_reader_open_fd(&reader, fileno(file), "notes", &err), NOCAP_OK);
    if (dense) {
        nocap_reader_allow_dense(reader);
    }
    while (nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK) {
        all += count;
    }
    nocap_reader_close(reader);
    return all;
}

static enum nocap_status recompress(FILE *from, FILE *to, bool dense)
{
    const struct nocap_recompress_options options = {
        .size = sizeof options, .level = 1, .dense = dense};
    struct nocap_reader *reader;
    struct nocap_trace_totals totals;
    struct nocap_error err;
    bool whole = false;
    assert_int_equal(nocap_reader_open_fd(&reader, fileno(from), "notes", &err), NOCAP_OK);
    enum nocap_status status =
        nocap_recompress(reader, fileno(to), &options, &totals, &whole, &err);
    assert_int_equal(whole, status == NOCAP_OK);
    nocap_reader_close(reader);
    return status;
}

static void what_would_be_left_out_is_not_made(void **state)
{
    (void)state;
    FILE *notes = make_notes(), *few = tmpfile(), *all = tmpfile();
    assert_non_null(few);
    assert_non_null(all);
    assert_int_equal(count_events(notes, false), EVENTS);
    assert_int_equal(recompress(notes, few, false), NOCAP_E_USAGE);
    assert_int_equal(recompress(notes, all, true), NOCAP_OK);
    assert_true(count_events(all, false) < EVENTS);
    assert_int_equal(count_events(all, true), EVENTS);
    fclose(notes);
    fclose(few);
    fclose(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_be_left_out_is_not_made),
    };
    return cmocka_run_group_tests_name("a trace made smaller", tests, NULL, NULL);
}
