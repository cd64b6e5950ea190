/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that are added in runs give the file that they give one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/trace/trace.h"

enum { ROWS = 50 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 32;
}

/* An access of a run: some agents in a program of few places or of many, some times that go back,
 * and payload in between. */
static struct nocap_event any_access(uint64_t i, uint64_t kind, uint64_t *random)
{
    static const uint8_t zeros[64];
    uint64_t r = next_random(random);
    struct nocap_event e = {.index = i,
                            .t = r % 500 == 0 ? i / 2 : i,
                            .kind = kind % 2 == 0 ? NOCAP_EV_WRITE : NOCAP_EV_READ,
                            .by = NOCAP_BY_HOST,
                            .has = NOCAP_F_AT | NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE,
                            .at = {(uint8_t)(1 + (kind % 5 == 0 ? r % 90 : i % 3)), 2},
                            .src = (uint32_t)(kind % 3),
                            .size = 4};
    e.addr = kind % 7 == 0 ? r % 100000 : 0x100 + 4 * (i % 9);
    if (r % 97 == 0) {
        e.has |= NOCAP_F_DATA;
        e.size = e.data_size = (uint32_t)(1 + r % sizeof zeros);
        e.data = zeros;
    } else {
        e.has |= NOCAP_F_VALUE;
        e.value = kind % 11 == 0 ? next_random(random) << r % 40 : i % 20;
    }
    return e;
}

static bool is_alike(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->kind == b->kind && a->has == b->has && a->size == b->size && b->data_size == 0;
}

/* One by one, or in runs. How many of the events were added as rows. */
static size_t write_events(FILE *file, const struct nocap_event *events, size_t count,
                           uint32_t block_events, size_t max_rows)
{
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_writer *writer;
    const struct nocap_writer_options options = {.size = sizeof options,
                                                 .block_events = block_events};
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    size_t in_rows = 0;
    for (size_t i = 0; i < count;) {
        struct nocap_event like = events[i++];
        struct access_row rows[ROWS];
        size_t n = 0, added = 0;
        assert_int_equal(nocap_writer_add(writer, &like, &err), NOCAP_OK);
        for (; n < max_rows && i + n < count && is_alike(&like, &events[i + n]); n++) {
            const struct nocap_event *e = &events[i + n];
            rows[n] = (struct access_row){access_source(e), e->t, e->addr, e->value, 0};
        }
        while (added < n) {
            enum nocap_status status;
            added += nocap_writer_add_rows(writer, &like, rows + added, n - added, &status, &err);
            assert_int_equal(status, NOCAP_OK);
        }
        in_rows += n;
        i += n;
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
    return in_rows;
}

static bool same_bytes(FILE *a, FILE *b)
{
    rewind(a);
    rewind(b);
    int x, y;
    do {
        x = getc(a);
        y = getc(b);
    } while (x == y && x != EOF);
    return x == y;
}

static void runs_of_accesses_are_written_as_one_by_one(void **state)
{
    (void)state;
    enum { EVENTS = 40000, RUN = 700 };
    static const uint32_t sizes[] = {0, 5000, 100};
    struct nocap_event *events = malloc(EVENTS * sizeof *events);
    assert_non_null(events);
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint64_t random = s;
        for (uint64_t i = 0; i < EVENTS; i++) {
            events[i] = any_access(i, i / RUN, &random);
        }
        FILE *one_by_one = tmpfile(), *runs = tmpfile();
        write_events(one_by_one, events, EVENTS, sizes[s], 0);
        assert_true(write_events(runs, events, EVENTS, sizes[s], ROWS) > EVENTS * 8 / 10);
        assert_true(same_bytes(one_by_one, runs));
        fclose(one_by_one);
        fclose(runs);
    }
    free(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_accesses_are_written_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
