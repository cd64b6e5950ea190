/* SPDX-License-Identifier: Apache-2.0 */
/* The .nocap file: what was written is read, whole or cut, and damage is reported. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "checker/core/checker.h"
#include "formats/trace/block.h"
#include "formats/trace/frame.h"
#include "formats/trace/trace.h"

struct file {
    uint8_t *bytes;
    size_t size;
};

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint8_t payload[4096];

/* Event `i` of a stream that uses every home of a field. */
static struct nocap_event make_event(uint64_t i, uint64_t *random)
{
    uint64_t r = next_random(random);
    struct nocap_event e = {
        .t = i / 2 * 3, .seq = i * 7, .at = {(uint8_t)(1 + r % 7), (uint8_t)(2 + (r >> 8) % 10)}};
    e.has = NOCAP_F_AT | NOCAP_F_SEQ;
    switch (r >> 60) {
    case 0:
        e.kind = NOCAP_EV_NOC;
        e.op = NOCAP_OP_INLINE;
        e.has |= NOCAP_F_DADDR | NOCAP_F_D | NOCAP_F_POSTED | NOCAP_F_AT_DATA;
        e.daddr = r;
        e.d = (struct nocap_xy){2, 3};
        e.posted = 1;
        e.at_data = ~r;
        break;
    case 1:
        e.kind = NOCAP_EV_NOTE;
        e.has = NOCAP_F_TEXT;
        e.at = (struct nocap_xy){0, 0};
        e.seq = 0;
        e.data = payload;
        e.data_size = (uint32_t)(r % sizeof payload);
        break;
    default:
        e.kind = NOCAP_EV_WRITE;
        e.by = NOCAP_BY_BRISC;
        e.has |= NOCAP_F_BY | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_VALUE;
        e.addr = (r & 1) != 0 ? 0x68 : r >> 20;
        e.size = 4;
        e.value = r >> 33;
        e.src = (uint32_t)(r % 3);
        if ((r & 0xF0) == 0) {
            e.extra = "\"k\":1";
            e.extra_size = 5;
        }
        break;
    }
    return e;
}

static bool same_event(const struct nocap_event *a, const struct nocap_event *b)
{
    return a->t == b->t && a->has == b->has && memcmp(a->slot, b->slot, sizeof a->slot) == 0 &&
           a->src == b->src && a->chip == b->chip &&
           memcmp(&a->at, &b->at, 2 * sizeof a->at) == 0 &&
           memcmp(&a->kind, &b->kind, SMALL_SIZE + 2) == 0 && a->data_size == b->data_size &&
           a->extra_size == b->extra_size &&
           (a->data_size == 0 || memcmp(a->data, b->data, a->data_size) == 0) &&
           (a->extra_size == 0 || memcmp(a->extra, b->extra, a->extra_size) == 0);
}

static struct file write_file(uint64_t events, uint32_t block_events)
{
    FILE *file = tmpfile();
    struct nocap_header header;
    struct nocap_error err;
    nocap_header_init(&header);
    header.complete = NOCAP_TRUE;
    assert_int_equal(nocap_header_observe(&header, "host-mmio", &err), NOCAP_OK);
    struct nocap_writer_options options = {.size = sizeof options, .block_events = block_events};
    struct nocap_writer *writer;
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, &options, &err),
                     NOCAP_OK);
    uint64_t random = 1;
    for (uint64_t i = 0; i < events; i++) {
        struct nocap_event e = make_event(i, &random);
        assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_OK);
    }
    struct nocap_trace_totals totals;
    assert_int_equal(nocap_writer_close(writer, &totals, &err), NOCAP_OK);
    assert_true(totals.events == events);
    struct file f = {malloc((size_t)totals.bytes), (size_t)totals.bytes};
    assert_true(pread(fileno(file), f.bytes, f.size, 0) == (ssize_t)f.size);
    fclose(file);
    nocap_header_free(&header);
    return f;
}

/* Reads all and compares each event with the one written at its index. Returns how many came, -1 if
 * the file could not be opened; integrity is copied. */
static long read_and_compare(const uint8_t *bytes, size_t size, struct nocap_integrity *integrity)
{
    struct nocap_reader *reader;
    struct nocap_error err;
    enum nocap_status status = nocap_reader_open_memory(&reader, bytes, size, &err);
    if (status != NOCAP_OK) {
        assert_int_equal(status, NOCAP_E_INPUT);
        assert_true(strlen(err.text) > 0);
        return -1;
    }
    const struct nocap_event *events;
    size_t count;
    long total = 0;
    uint64_t random = 1, at = 0;
    struct nocap_event want = {0};
    while ((status = nocap_reader_next(reader, &events, &count, &err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            assert_true(events[i].index >= at);
            for (; at <= events[i].index; at++) {
                want = make_event(at, &random);
            }
            assert_true(same_event(&events[i], &want));
        }
        total += (long)count;
    }
    assert_int_equal(status, NOCAP_END);
    *integrity = *nocap_reader_integrity(reader);
    nocap_reader_close(reader);
    return total;
}

static void whole_file_is_read_as_written(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 20000; n = n * 3 + 1) {
        struct file f = write_file(n, 1000);
        struct nocap_integrity integrity;
        assert_int_equal(read_and_compare(f.bytes, f.size, &integrity), n);
        assert_int_equal(integrity.count, 0);
        free(f.bytes);
    }
}

static void every_cut_is_told(void **state)
{
    (void)state;
    struct file f = write_file(3000, 500);
    long before = 0;
    for (size_t cut = 1; cut < f.size; cut += 1 + cut % 37) {
        struct nocap_integrity integrity;
        long got = read_and_compare(f.bytes, cut, &integrity);
        assert_true(got == -1 ? before == 0 : got >= before); /* a longer file never holds less */
        if (got >= 0) {
            assert_true(integrity.count > 0);
            assert_int_equal(integrity.damage[integrity.count - 1].kind, NOCAP_DAMAGE_CUT);
            assert_true(got % 500 == 0);
            before = got;
        }
    }
    assert_int_equal(before, 3000);
    free(f.bytes);
}

static void every_flip_is_told_or_harmless(void **state)
{
    (void)state;
    struct file f = write_file(2000, 200);
    uint8_t *copy = malloc(f.size);
    unsigned told = 0, harmless = 0;
    for (size_t bit = 0; bit < f.size * 8; bit += 3 + bit % 61) {
        memcpy(copy, f.bytes, f.size);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct nocap_integrity integrity;
        long got = read_and_compare(copy, f.size, &integrity);
        if (got == 2000 && integrity.count == 0) {
            harmless++;
            continue;
        }
        assert_true(got == -1 || integrity.count > 0);
        assert_true(got == -1 || got >= 1800); /* one block at most is lost */
        told++;
    }
    assert_true(told > 100 * harmless);
    free(copy);
    free(f.bytes);
}

static void blocks_after_a_damaged_one_are_used(void **state)
{
    (void)state;
    struct file f = write_file(2000, 200);
    f.bytes[f.size / 2] ^= 0x10;
    struct nocap_integrity integrity;
    assert_int_equal(read_and_compare(f.bytes, f.size, &integrity), 1800);
    assert_int_equal(integrity.count, 1);
    assert_int_equal(integrity.damage[0].kind, NOCAP_DAMAGE_BLOCK);
    /* the same without the seek table */
    assert_int_equal(read_and_compare(f.bytes, f.size - 5, &integrity), 1800);
    assert_int_equal(integrity.count, 2);
    free(f.bytes);
}

static void seek_finds_every_index_and_time(void **state)
{
    (void)state;
    struct file f = write_file(5000, 300);
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

static uint64_t read_all(struct nocap_reader *reader)
{
    const struct nocap_event *events;
    size_t count;
    uint64_t total = 0;
    while (nocap_reader_next(reader, &events, &count, NULL) == NOCAP_OK) {
        total += count;
    }
    return total;
}

/* The same text however often the file is read. */
static void a_cut_file_counts_its_events_once(void **state)
{
    (void)state;
    struct file f = write_file(5000, 512);
    struct nocap_reader *reader;
    char text[100];
    assert_int_equal(nocap_reader_open_memory(&reader, f.bytes, f.size / 2, NULL), NOCAP_OK);
    uint64_t total = read_all(reader);
    assert_true(total > 0);
    snprintf(text, sizeof text, "; all %llu events of whole blocks are used",
             (unsigned long long)total);
    for (int i = 0; i < 2; i++) {
        const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
        const struct nocap_damage *last = &integrity->damage[integrity->count - 1];
        assert_true(integrity->count > 0);
        assert_int_equal(last->kind, NOCAP_DAMAGE_CUT);
        assert_non_null(strstr(last->text, text));
        assert_int_equal(nocap_reader_seek_index(reader, 0, NULL), NOCAP_OK);
        assert_true(read_all(reader) == total);
    }
    nocap_reader_close(reader);
    free(f.bytes);
}

/* A tool that takes a block out and leaves the footer: every frame is sound, only the count is not.
 */
static struct file without_last_block(const struct file *f)
{
    size_t frames = get_u32(f->bytes + f->size - SEEK_FOOTER_SIZE);
    size_t table = f->size - SEEK_FOOTER_SIZE - frames * SEEK_ENTRY_SIZE - SKIPPABLE_HEADER_SIZE;
    struct file g = {malloc(f->size), 0};
    uint8_t *entries = malloc(frames * SEEK_ENTRY_SIZE), *to = entries;
    size_t offset = 0;
    for (size_t i = 0; i < frames; i++) {
        const uint8_t *entry = f->bytes + table + SKIPPABLE_HEADER_SIZE + i * SEEK_ENTRY_SIZE;
        size_t size = get_u32(entry);
        if (i != frames - 2) {
            memcpy(g.bytes + g.size, f->bytes + offset, size);
            g.size += size;
            memcpy(to, entry, SEEK_ENTRY_SIZE);
            to += SEEK_ENTRY_SIZE;
        }
        offset += size;
    }
    uint8_t head[SKIPPABLE_HEADER_SIZE], foot[SEEK_FOOTER_SIZE] = {0};
    put_u32(head, ZSTD_SKIPPABLE_SEEK);
    put_u32(head + 4, (uint32_t)(to - entries + SEEK_FOOTER_SIZE));
    put_u32(foot, (uint32_t)frames - 1);
    put_u32(foot + 5, ZSTD_SEEKABLE_MAGIC);
    memcpy(g.bytes + g.size, head, sizeof head);
    memcpy(g.bytes + g.size + sizeof head, entries, (size_t)(to - entries));
    g.size += sizeof head + (size_t)(to - entries);
    memcpy(g.bytes + g.size, foot, sizeof foot);
    g.size += sizeof foot;
    free(entries);
    return g;
}

static void footer_that_miscounts_is_told(void **state)
{
    (void)state;
    struct file f = write_file(2000, 200), g = without_last_block(&f);
    struct nocap_integrity integrity;
    assert_int_equal(read_and_compare(g.bytes, g.size, &integrity), 1800);
    assert_int_equal(integrity.count, 1);
    assert_int_equal(integrity.damage[0].kind, NOCAP_DAMAGE_COUNTS);

    char path[] = "/tmp/nocap-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(write(fd, g.bytes, g.size) == (ssize_t)g.size);
    close(fd);
    struct nocap_report *report;
    struct nocap_error err;
    const struct nocap_check_options options = {.size = sizeof options,
                                                .rules = "TRC-001,TRC-002,TRC-007"};
    assert_int_equal(nocap_check(&report, path, &options, &err), NOCAP_OK);
    assert_int_equal(report->rules[TRC_007].verdict, NOCAP_VIOLATED);
    assert_int_equal(report->finding_count, 1);
    nocap_report_free(report);
    unlink(path);
    free(f.bytes);
    free(g.bytes);
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

/* Blocks grow from small ones, so that a short trace that is cut keeps at least its half. */
static void a_short_trace_that_is_cut_keeps_its_half(void **state)
{
    (void)state;
    struct nocap_integrity integrity;
    struct file f = write_file(9000, 0);
    long kept = read_and_compare(f.bytes, f.size - 400, &integrity);
    assert_true(kept >= 4500 && kept < 9000);
    assert_int_equal(integrity.damage[0].kind, NOCAP_DAMAGE_CUT);
    free(f.bytes);
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
    struct file f = write_file(3000, 500);
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

/* However much is damaged before it. */
static void a_cut_is_told_in_any_case(void **state)
{
    (void)state;
    struct nocap_integrity integrity;
    struct file f = write_file(9000, 100);
    for (size_t at = 1000; at < f.size - 3000; at += 100) {
        f.bytes[at] ^= 0x55;
    }
    assert_true(read_and_compare(f.bytes, f.size - 3000, &integrity) >= 0);
    assert_true(integrity.count > NOCAP_DAMAGE_KEPT);
    assert_int_equal(integrity.damage[NOCAP_DAMAGE_KEPT - 1].kind, NOCAP_DAMAGE_CUT);
    free(f.bytes);
}

/* The footer may say that what the events were taken from was cut: the file itself is whole. */
static void assert_writer_says(const char *damage, enum nocap_damage_kind kind, const char *text)
{
    FILE *file = tmpfile();
    struct nocap_header header;
    struct nocap_error err;
    struct nocap_writer *writer;
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    uint64_t random = 1;
    nocap_header_init(&header);
    assert_int_equal(nocap_writer_open_fd(&writer, fileno(file), &header, NULL, &err), NOCAP_OK);
    struct nocap_event e = make_event(0, &random);
    assert_int_equal(nocap_writer_add(writer, &e, &err), NOCAP_OK);
    nocap_writer_cut(writer, 3, damage);
    assert_int_equal(nocap_writer_close(writer, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_reader_open_fd(&reader, fileno(file), "a file", &err), NOCAP_OK);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_OK);
        assert_int_equal(nocap_reader_next(reader, &events, &count, &err), NOCAP_END);
        const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
        assert_int_equal(integrity->count, 1);
        assert_true(integrity->lost_end);
        assert_int_equal(integrity->damage[0].kind, kind);
        assert_int_equal(integrity->damage[0].index, 1);
        assert_non_null(strstr(integrity->damage[0].text, text));
        assert_int_equal(nocap_reader_seek_index(reader, 0, &err), NOCAP_OK);
    }
    nocap_reader_close(reader);
    nocap_header_free(&header);
    fclose(file);
}

static void a_writer_says_that_its_events_were_cut(void **state)
{
    (void)state;
    assert_writer_says(NULL, NOCAP_DAMAGE_CUT, "breaks off in line 3;");
    assert_writer_says("bad", NOCAP_DAMAGE_BLOCK, "breaks off in line 3: bad;");
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
    uint64_t random = 42;
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)next_random(&random);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_file_is_read_as_written),
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(every_flip_is_told_or_harmless),
        cmocka_unit_test(blocks_after_a_damaged_one_are_used),
        cmocka_unit_test(seek_finds_every_index_and_time),
        cmocka_unit_test(a_cut_file_counts_its_events_once),
        cmocka_unit_test(footer_that_miscounts_is_told),
        cmocka_unit_test(oversized_payload_is_refused),
        cmocka_unit_test(what_is_no_event_is_refused),
        cmocka_unit_test(a_short_trace_that_is_cut_keeps_its_half),
        cmocka_unit_test(inputs_that_are_no_trace_are_refused),
        cmocka_unit_test(a_cut_is_told_in_any_case),
        cmocka_unit_test(a_writer_says_that_its_events_were_cut),
        cmocka_unit_test(an_error_of_reading_is_no_end),
        cmocka_unit_test(a_file_that_cannot_be_read_does_not_open),
        cmocka_unit_test(specification_names_every_field),
    };
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
