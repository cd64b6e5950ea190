/* SPDX-License-Identifier: Apache-2.0 */
/* Footers that lie, and blocks that claim much: what a reader passes over because of a footer is
 * held against what blocks hold, and events take bytes. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "formats/export/dump.h"
#include "formats/trace/trace.h"
#include "tests/footer_lie.h"

enum { EVENTS = 1000, BLOCK = 100, DENSE_BLOCK = 1 << 20, DENSE_BLOCKS = 16 };

static struct nocap_event note(uint64_t t)
{
    static const uint8_t text[] = "n";
    return (struct nocap_event){
        .kind = NOCAP_EV_NOTE, .has = NOCAP_F_TEXT, .t = t, .data = text, .data_size = 1};
}

/* Event i at time 10 * i, but the `late` one at time 0; UINT64_MAX: none. */
static void write_trace(const char *path, uint64_t late)
{
    const struct nocap_writer_options options = {.size = sizeof options, .block_events = BLOCK};
    struct nocap_header header;
    struct nocap_writer *writer;
    struct nocap_error err;
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open(&writer, path, &header, &options, &err), NOCAP_OK);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const struct nocap_event event = note(i == late ? 0 : 10 * i);
        assert_int_equal(nocap_writer_add(writer, &event, &err), NOCAP_OK);
    }
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    nocap_header_free(&header);
}

/* Puts another footer in the place of that of the file. */
static void report_lie(const char *path, lie *change)
{
    size_t size, new_size;
    uint8_t *bytes = (uint8_t *)read_bytes(path, &size);
    uint8_t *changed = lie_told(bytes, size, change, NULL, &new_size);
    write_bytes(path, changed, new_size);
    free(bytes);
    free(changed);
}

static struct nocap_reader *open_trace(const char *path)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    assert_int_equal(nocap_reader_open(&reader, path, &err), NOCAP_OK);
    return reader;
}

static void assert_told(const struct nocap_reader *reader, const char *text)
{
    const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
    assert_int_equal(integrity->count, 1);
    assert_int_equal(integrity->damage[0].kind, NOCAP_DAMAGE_COUNTS);
    assert_contains(integrity->damage[0].text, text);
}

/* TRC-007, by one who reads the whole file. */
static void assert_found(const char *path)
{
    const struct nocap_check_options options = {.size = sizeof options, .rules = "TRC"};
    struct nocap_report *report;
    struct nocap_error err;
    assert_int_equal(nocap_check(&report, path, &options, &err), NOCAP_OK);
    assert_int_equal(report->rules[TRC_007].verdict, NOCAP_VIOLATED);
    assert_int_equal(report->events, EVENTS);
    nocap_report_free(report);
}

static enum nocap_status count_lines(void *context, const char *text, size_t size,
                                     struct nocap_error *err)
{
    (void)err;
    for (size_t i = 0; i < size; i++) {
        *(uint64_t *)context += text[i] == '\n';
    }
    return NOCAP_OK;
}

/* How many events lie between the times. */
static uint64_t dumped(struct nocap_reader *reader, uint64_t from, uint64_t to)
{
    const struct nocap_dump_options options = {.size = sizeof options,
                                               .format = NOCAP_DUMP_TEXT,
                                               .has_time = true,
                                               .from = from,
                                               .to = to};
    struct nocap_error err;
    uint64_t lines = 0;
    assert_int_equal(nocap_dump(reader, &options, count_lines, &lines, &err), NOCAP_OK);
    return lines;
}

static void move_an_event(Nocap__Footer *footer, const void *context)
{
    (void)context;
    footer->block_events[1]++;
    footer->block_events[4]--;
}

static void an_index_is_found_where_it_is(void **state)
{
    (void)state;
    const struct nocap_event *events;
    struct nocap_error err;
    size_t count;
    write_trace("moved.nocap", UINT64_MAX);
    report_lie("moved.nocap", move_an_event);
    struct nocap_reader *reader = open_trace("moved.nocap");
    for (uint64_t i = 0; i < EVENTS; i += 50) {
        assert_int_equal(nocap_reader_seek_index(reader, i, &err), NOCAP_OK);
        assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
        assert_int_equal(events[0].index, i);
        assert_int_equal(events[0].t, 10 * i);
    }
    assert_told(reader, "of block ");
    nocap_reader_close(reader);
    assert_found("moved.nocap");
}

static void count_one_more(Nocap__Footer *footer, const void *context)
{
    (void)context;
    footer->block_events[3]++;
}

static void sums_are_those_of_the_lists(void **state)
{
    (void)state;
    struct nocap_error err;
    write_trace("more.nocap", UINT64_MAX);
    report_lie("more.nocap", count_one_more);
    struct nocap_reader *reader = open_trace("more.nocap");
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_seek_index(reader, 950, &err), NOCAP_OK);
    assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
    assert_int_equal(events[0].index, 950);
    assert_told(reader, "in all and block by block");
    nocap_reader_close(reader);
    assert_found("more.nocap");
}

/* The footer of events in order, over a file whose event 555 is of time 0. */
static void pretend_order(Nocap__Footer *footer, const void *context)
{
    (void)context;
    footer->time_ordered = true;
    footer->block_first_time[5] = 5000;
}

static void order_is_not_believed_where_there_is_none(void **state)
{
    (void)state;
    write_trace("order.nocap", 555);
    report_lie("order.nocap", pretend_order);
    struct nocap_reader *reader = open_trace("order.nocap");
    assert_true(nocap_reader_time_ordered(reader));
    /* block 5 is the first that is wanted, and it is not what the footer says: nothing is left out
     */
    assert_int_equal(dumped(reader, 5000, 5990), 99);
    assert_false(nocap_reader_time_ordered(reader));
    assert_told(reader, "of block 5 the footer says earliest time 5000, the block 0");
    nocap_reader_close(reader);
    assert_found("order.nocap");
}

/* Block 4 ends later than the footer says, so a query by time passes it over. */
static void end_early(Nocap__Footer *footer, const void *context)
{
    (void)context;
    footer->block_last_time[4] = footer->block_first_time[4];
    footer->block_first_time[5] += 10;
}

static void what_was_passed_over_is_read_after_all(void **state)
{
    (void)state;
    write_trace("early.nocap", UINT64_MAX);
    report_lie("early.nocap", end_early);
    struct nocap_reader *reader = open_trace("early.nocap");
    assert_int_equal(dumped(reader, 4500, 5490), 100);
    assert_told(reader, "of block 4 the footer says latest time 4000, the block 4990");
    nocap_reader_close(reader);
    assert_found("early.nocap");
}

static void true_footers_are_believed(void **state)
{
    (void)state;
    write_trace("true.nocap", UINT64_MAX);
    struct nocap_reader *reader = open_trace("true.nocap");
    assert_int_equal(dumped(reader, 4500, 5490), 100);
    assert_int_equal(nocap_reader_integrity(reader)->count, 0);
    assert_true(nocap_reader_time_ordered(reader));
    nocap_reader_close(reader);
}

/* ---- events that take no bytes ---- */

static size_t add_block(uint8_t *to, size_t room, uint64_t first)
{
    Nocap__Place place = NOCAP__PLACE__INIT;
    Nocap__Shape shape = NOCAP__SHAPE__INIT;
    Nocap__Block block = NOCAP__BLOCK__INIT;
    Nocap__Place *places[] = {&place};
    Nocap__Shape *shapes[] = {&shape};
    uint8_t message[256];
    shape.kind = NOCAP_EV_DROP;
    shape.has = NOCAP_F_DROPPED;
    block.first_index = first;
    block.count = DENSE_BLOCK;
    block.place_table = places;
    block.shape_table = shapes;
    block.n_place_table = block.n_shape_table = 1;
    size_t size = nocap__block__get_packed_size(&block);
    assert_true(size < 128);
    message[0] = TRACE_BLOCK << 3 | 2;
    message[1] = (uint8_t)size;
    nocap__block__pack(&block, message + 2);
    size_t n = ZSTD_compress(to, room, message, size + 2, 1);
    assert_false(ZSTD_isError(n));
    return n;
}

/* A file without footer of 16 million events. */
static size_t make_dense(uint8_t *bytes, size_t room)
{
    size_t size;
    write_trace("header.nocap", UINT64_MAX);
    uint8_t *header = (uint8_t *)read_bytes("header.nocap", &size);
    size = ZSTD_findFrameCompressedSize(header, size);
    memcpy(bytes, header, size);
    free(header);
    for (uint64_t i = 0; i < DENSE_BLOCKS; i++) {
        size += add_block(bytes + size, room - size, i * DENSE_BLOCK);
    }
    return size;
}

static uint64_t read_all(struct nocap_reader *reader)
{
    const struct nocap_event *events;
    struct nocap_error err;
    uint64_t total = 0;
    for (size_t count; nocap_reader_next(reader, &events, &count, &err) == NOCAP_OK;) {
        total += count;
    }
    return total;
}

static void events_take_bytes(void **state)
{
    (void)state;
    uint8_t bytes[1 << 13];
    struct nocap_reader *reader;
    struct nocap_error err;
    size_t size = make_dense(bytes, sizeof bytes);
    for (int dense = 0; dense < 2; dense++) {
        assert_int_equal(nocap_reader_open_memory(&reader, bytes, size, &err), NOCAP_OK);
        if (dense != 0) {
            nocap_reader_allow_dense(reader);
        }
        assert_int_equal(read_all(reader), (dense != 0 ? DENSE_BLOCKS : 4) * DENSE_BLOCK);
        const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
        assert_int_equal(integrity->count, 1);
        assert_int_equal(integrity->lost_end, dense == 0);
        assert_contains(integrity->damage[0].text, dense == 0 ? "256 a byte" : "footer");
        nocap_reader_close(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_found_where_it_is),
        cmocka_unit_test(sums_are_those_of_the_lists),
        cmocka_unit_test(order_is_not_believed_where_there_is_none),
        cmocka_unit_test(what_was_passed_over_is_read_after_all),
        cmocka_unit_test(true_footers_are_believed),
        cmocka_unit_test(events_take_bytes),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
