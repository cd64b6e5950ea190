/* SPDX-License-Identifier: Apache-2.0 */
/* The .nocap file, cut or damaged: that is reported, and what is whole is read. */
#include "tests/trace_file.h"

#include "checker/core/checker.h"
#include "formats/trace/frame.h"

static void every_cut_is_told(void **state)
{
    (void)state;
    struct trace_file f = write_file(3000, 500);
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
    struct trace_file f = write_file(2000, 200);
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
    struct trace_file f = write_file(2000, 200);
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
    struct trace_file f = write_file(5000, 512);
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
static struct trace_file without_last_block(const struct trace_file *f)
{
    size_t frames = get_u32(f->bytes + f->size - SEEK_FOOTER_SIZE);
    size_t table = f->size - SEEK_FOOTER_SIZE - frames * SEEK_ENTRY_SIZE - SKIPPABLE_HEADER_SIZE;
    struct trace_file g = {malloc(f->size), 0};
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
    struct trace_file f = write_file(2000, 200), g = without_last_block(&f);
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

/* Blocks grow from small ones, so that a short trace that is cut keeps at least its half. */
static void a_short_trace_that_is_cut_keeps_its_half(void **state)
{
    (void)state;
    struct nocap_integrity integrity;
    struct trace_file f = write_file(9000, 0);
    long kept = read_and_compare(f.bytes, f.size - 400, &integrity);
    assert_true(kept >= 4500 && kept < 9000);
    assert_int_equal(integrity.damage[0].kind, NOCAP_DAMAGE_CUT);
    free(f.bytes);
}

/* However much is damaged before it. */
static void a_cut_is_told_in_any_case(void **state)
{
    (void)state;
    struct nocap_integrity integrity;
    struct trace_file f = write_file(9000, 100);
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

int main(void)
{
    fill_payload();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_told),
        cmocka_unit_test(every_flip_is_told_or_harmless),
        cmocka_unit_test(blocks_after_a_damaged_one_are_used),
        cmocka_unit_test(a_cut_file_counts_its_events_once),
        cmocka_unit_test(footer_that_miscounts_is_told),
        cmocka_unit_test(a_short_trace_that_is_cut_keeps_its_half),
        cmocka_unit_test(a_cut_is_told_in_any_case),
        cmocka_unit_test(a_writer_says_that_its_events_were_cut),
    };
    return cmocka_run_group_tests_name("trace_damage", tests, NULL, NULL);
}
