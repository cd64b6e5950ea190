/* SPDX-License-Identifier: Apache-2.0 */
/* Golden traces: what is recorded, which differences count, how they are shown, and what is
 * refused. Traces are made by a callback that prints JSON Lines. */
#include "tests/small_trace.h"
#include "tests/temp_dir.h"

#include <sys/stat.h>

#include "checker/compare/diff.h"
#include "checker/golden/golden.h"
#include "checker/golden/golden_manifest.h"

/* What the callback makes next. */
struct maker {
    const char *events;
    const char *how; /* the last one that was asked for */
    unsigned calls;
    const char *meanwhile; /* what another program records */
};

static enum nocap_status make(void *context, const char *how, const char *path,
                              struct nocap_error *err)
{
    struct maker *maker = context;
    maker->calls++;
    if (strcmp(how, NOCAP_GOLDEN_IMPORTED) == 0) {
        return NOCAP_END;
    }
    maker->how = strcmp(how, "sim small") == 0 ? "small" : "other";
    if (maker->events == NULL) {
        return nocap_fail(err, NOCAP_E_USAGE, "no such scenario: %s", how);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(header, file);
    fputs(maker->events, file);
    fclose(file);
    return NOCAP_OK;
}

static struct maker maker;
static char *out_text;
static size_t out_size;

static struct nocap_golden_options options_with(FILE *out)
{
    return (struct nocap_golden_options){.size = sizeof(struct nocap_golden_options),
                                         .out = out,
                                         .make_trace = make,
                                         .context = &maker};
}

enum what { VERIFY, SHOW, ADOPT };

/* Number of differences; what was said is in out_text. */
static size_t look(enum what what, const char *dir)
{
    struct nocap_error err;
    size_t differences = 99;
    free(out_text);
    FILE *out = open_memstream(&out_text, &out_size);
    assert_non_null(out);
    struct nocap_golden_options options = options_with(out);
    bool updated = false;
    enum nocap_status status =
        what == VERIFY
            ? nocap_golden_verify(dir, &options, &differences, &err)
            : nocap_golden_update(dir, what == ADOPT, &options, &differences, &updated, &err);
    fclose(out);
    if (status != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return differences;
}

/* Verification fails for `trace` of the directory, after it told all. */
static void verify_cannot_read(const char *dir, const char *trace)
{
    struct nocap_error err;
    size_t differences = 99;
    free(out_text);
    FILE *out = open_memstream(&out_text, &out_size);
    assert_non_null(out);
    struct nocap_golden_options options = options_with(out);
    assert_int_equal(nocap_golden_verify(dir, &options, &differences, &err), NOCAP_E_INPUT);
    fclose(out);
    assert_int_equal(differences, 1);
    assert_contains(out_text, "DIFFERS ");
    assert_contains(err.text, "cannot be read, the first is ");
    assert_contains(err.text, trace);
}

static enum nocap_status record(const char *dir, const char *name, const char *made,
                                struct nocap_error *err)
{
    struct nocap_golden_options options = options_with(NULL);
    return nocap_golden_record(dir, name, NULL, made, "a small program", &options, err);
}

static void record_small(const char *dir)
{
    struct nocap_error err;
    maker = (struct maker){.events = base};
    if (record(dir, "small", "sim small", &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
}

/* ---- record and verify ---- */

static void a_recorded_trace_verifies(void **state)
{
    (void)state;
    size_t size;
    record_small("g1");
    assert_string_equal(maker.how, "small");
    char *manifest = read_bytes("g1/manifest.txt", &size);
    assert_contains(manifest, "\ntrace    small\nmade     sim small\nreason   a small program\n"
                              "findings error 0, warning 0, note 0\nviolated none\ndigest   host ");
    free(manifest);
    assert_int_equal(look(VERIFY, "g1"), 0);
    assert_int_equal(maker.calls, 2);
    assert_string_equal(out_text, "ok      small\n");
}

static void what_is_timing_does_not_count(void **state)
{
    (void)state;
    static const char *const same[] = {
        /* other times, more polls */
        WRITE(100, host, 0x37000, 0x1) READ(200, host, 0x37004, 0x0) READ(201, host, 0x37004, 0x0)
            READ(202, host, 0x37004, 0x0) WRITE(400, brisc, 0x38000, 0x7)
                WRITE(500, brisc, 0x37004, 0x1) READ(600, host, 0x37004, 0x1)
                    WRITE(700, host, 0x37000, 0x2),
        /* the answer was there at the first poll; another interleaving */
        WRITE(1, host, 0x37000, 0x1) WRITE(2, brisc, 0x38000, 0x7) WRITE(3, brisc, 0x37004, 0x1)
            READ(4, host, 0x37004, 0x1) WRITE(5, host, 0x37000, 0x2),
        /* bytes instead of a number, polls as one event, a note, a sequence number */
        "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x37000\",\"size\":4,"
        "\"data\":\"01000000\",\"seq\":5}\n"
        "{\"t\":2,\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x37004\",\"size\":4,"
        "\"value\":\"0x0\",\"n\":7,\"t2\":3}\n"
        "{\"t\":3,\"ev\":\"note\",\"text\":\"here\"}\n" WRITE(4, brisc, 0x38000, 0x7)
            WRITE(5, brisc, 0x37004, 0x1) READ(6, host, 0x37004, 0x1) WRITE(7, host, 0x37000, 0x2),
    };
    record_small("g2");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        maker.events = same[i];
        assert_int_equal(look(VERIFY, "g2"), 0);
    }
}

static void registers_return_what_they_like(void **state)
{
    (void)state;
    maker.events = READ(1, host, 0xffb121f0, 0x1000);
    assert_int_equal(record("g3", "clock", "sim clock", NULL), NOCAP_OK);
    maker.events = READ(1, host, 0xffb121f0, 0x2345);
    assert_int_equal(look(VERIFY, "g3"), 0);
    maker.events = READ(1, host, 0xffb121f8, 0x2345);
    assert_int_equal(look(VERIFY, "g3"), 1);
}

static void a_difference_is_shown_by_its_events(void **state)
{
    (void)state;
    record_small("g4");
    maker.events = WRITE(10, host, 0x37000, 0x1) WRITE(20, brisc, 0x38000, 0x7)
        WRITE(30, brisc, 0x37004, 0x3) READ(40, host, 0x37004, 0x3) WRITE(50, host, 0x37000, 0x2)
            WRITE(60, host, 0x37008, 0x9);
    assert_int_equal(look(VERIFY, "g4"), 1);
    assert_contains(out_text, "small: A is the stored trace, B the new one\n");
    assert_contains(out_text, "1. core 1,2 brisc: 1 step changed, after 1 equal one\n");
    assert_contains(out_text, "4 5 1,2 brisc write L1 0x37004:4 = 0x1 | 2 30 1,2 brisc write");
    assert_contains(out_text, "2. host, src 0: 1 step in B, not in A, after 2 equal ones\n");
    assert_contains(out_text, "DIFFERS small\n");
    maker.events = WRITE(1, host, 0x37000, 0x1);
    assert_int_equal(look(VERIFY, "g4"), 1);
    assert_contains(out_text, "host, src 0: 1 step in A, missing in B, after 1 equal one\n");
}

static void a_new_finding_differs(void **state)
{
    (void)state;
    record_small("g5");
    maker.events = WRITE(1, host, 0xffb90000, 0x1);
    assert_int_equal(look(VERIFY, "g5"), 1);
    assert_contains(out_text, "small: findings of the new trace differs\n"
                              "  - error 0, warning 0, note 0\n  + error 1, warning 0, note 0\n");
    assert_contains(out_text, "  - none\n  + MAP-001\n");
}

/* ---- update ---- */

static void an_update_shows_before_it_writes(void **state)
{
    (void)state;
    size_t before_size, after_size;
    record_small("g6");
    char *before = read_bytes("g6/manifest.txt", &before_size);
    maker.events = WRITE(1, host, 0xffb90000, 0x1);
    assert_int_equal(look(SHOW, "g6"), 1);
    char *after = read_bytes("g6/manifest.txt", &after_size);
    assert_string_equal(before, after);
    free(after);
    assert_int_equal(look(ADOPT, "g6"), 1);
    after = read_bytes("g6/manifest.txt", &after_size);
    assert_contains(after, "violated MAP-001\n");
    assert_contains(after, "reason   a small program\n");
    assert_int_equal(look(VERIFY, "g6"), 0);
    maker.events = base;
    assert_int_equal(look(VERIFY, "g6"), 1);
    free(before);
    free(after);
}

/* Another program at work while the update waits for an answer. */
static bool record_meanwhile(void *context, size_t differences)
{
    (void)differences;
    struct maker *m = context;
    struct nocap_golden_options options = options_with(NULL);
    options.overwrite = strcmp(m->meanwhile, "small") == 0;
    assert_int_equal(
        nocap_golden_record("g13", m->meanwhile, NULL, "sim small", "meanwhile", &options, NULL),
        NOCAP_OK);
    return true;
}

static void what_others_record_meanwhile_stays(void **state)
{
    (void)state;
    struct nocap_error err;
    size_t differences, size;
    bool updated;
    record_small("g13");
    maker.events = WRITE(1, host, 0xffb90000, 0x1);
    struct nocap_golden_options options = options_with(NULL);
    options.confirm = record_meanwhile;
    maker.meanwhile = "another";
    assert_int_equal(nocap_golden_update("g13", false, &options, &differences, &updated, &err),
                     NOCAP_OK);
    char *manifest = read_bytes("g13/manifest.txt", &size);
    assert_contains(manifest, "trace    another\nmade     sim small\nreason   meanwhile\n");
    assert_contains(manifest, "trace    small\nmade     sim small\nreason   a small program\n");
    free(manifest);
    assert_int_equal(look(VERIFY, "g13"), 0);
    maker.events = base;
    maker.meanwhile = "small";
    assert_int_equal(nocap_golden_update("g13", false, &options, &differences, &updated, &err),
                     NOCAP_E_OUTPUT);
    assert_contains(err.text, "'small' was changed by another program meanwhile");
    manifest = read_bytes("g13/manifest.txt", &size);
    assert_contains(manifest, "trace    small\nmade     sim small\nreason   meanwhile\n");
    free(manifest);
}

static void a_damaged_golden_trace_differs(void **state)
{
    (void)state;
    record_small("g7");
    write_text("g7/small.nocap", "no trace any more");
    verify_cannot_read("g7", "g7/small.nocap");
    assert_contains(out_text, "DIFFERS small\n");
    assert_int_equal(look(ADOPT, "g7"), 1); /* it can be made again */
    assert_int_equal(look(VERIFY, "g7"), 0);
    assert_int_equal(remove("g7/small.nocap"), 0);
    verify_cannot_read("g7", "g7/small.nocap");
}

static void an_imported_trace_is_checked_but_not_made(void **state)
{
    (void)state;
    struct nocap_golden_options options = options_with(NULL);
    char text[2048];
    snprintf(text, sizeof text, "%s%s", header, base);
    write_text("in.jsonl", text);
    maker = (struct maker){.events = base};
    assert_int_equal(nocap_golden_record("g8", "field-report_7", "in.jsonl", "imported",
                                         "from the field", &options, NULL),
                     NOCAP_OK);
    assert_int_equal(look(VERIFY, "g8"), 0);
    write_text("g8/field-report_7.nocap", "");
    verify_cannot_read("g8", "g8/field-report_7.nocap");
    size_t differences;
    struct nocap_error err;
    bool updated;
    assert_int_equal(nocap_golden_update("g8", true, &options, &differences, &updated, &err),
                     NOCAP_E_INPUT);
    assert_contains(err.text, "record it with --overwrite");
}

static void a_damaged_trace_keeps_its_damage(void **state)
{
    (void)state;
    size_t size, copied;
    struct nocap_golden_options options = options_with(NULL);
    record_small("g9");
    char *bytes = read_bytes("g9/small.nocap", &size);
    write_bytes("cut.nocap", bytes, size - 30);
    assert_int_equal(
        nocap_golden_record("g9", "cut", "cut.nocap", "imported", "cut short", &options, NULL),
        NOCAP_OK);
    char *copy = read_bytes("g9/cut.nocap", &copied);
    assert_int_equal(copied, size - 30);
    assert_memory_equal(copy, bytes, copied);
    free(copy);
    copy = read_bytes("g9/manifest.txt", &copied);
    assert_contains(copy, "violated TRC-001\n");
    assert_int_equal(look(VERIFY, "g9"), 0);
    free(copy);
    free(bytes);
}

/* ---- refusals ---- */

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"", "../x", "a/b", ".hidden", "a b", "\303\251"};
    struct nocap_error err;
    maker = (struct maker){.events = base};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(record("g10", names[i], "sim small", &err), NOCAP_E_USAGE);
        assert_contains(err.text, "is no name");
    }
    assert_int_equal(record("g10", "a", "sim two\nlines", &err), NOCAP_E_USAGE);
    assert_int_equal(record("g10", "a", "imported", &err), NOCAP_E_USAGE);
    assert_int_equal(record("g10", "a", "sim small", &err), NOCAP_OK);
    assert_int_equal(record("g10", "a", "sim small", &err), NOCAP_E_USAGE);
    assert_contains(err.text, "already");
    assert_int_equal(nocap_golden_record("g10", "b", NULL, "sim small", "why", NULL, &err),
                     NOCAP_E_USAGE);
    maker.events = NULL;
    size_t differences;
    struct nocap_golden_options options = options_with(NULL);
    assert_int_equal(nocap_golden_verify("g10", &options, &differences, &err), NOCAP_E_USAGE);
    assert_contains(err.text, "a: cannot make 'sim small' again: no such scenario: sim small");
    assert_int_equal(nocap_golden_verify("nowhere", &options, &differences, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "nowhere/manifest.txt");
    write_text("g10/manifest.txt", "# nothing\n");
    assert_int_equal(nocap_golden_verify("g10", &options, &differences, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "g10/manifest.txt names no trace");
}

static void the_directory_stays_small(void **state)
{
    (void)state;
    struct nocap_error err;
    struct stat st;
    enum { BYTES = 1100000 };
    char *text = malloc(2 * BYTES + 4096);
    assert_non_null(text);
    int at = sprintf(text,
                     "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,"
                     "\"addr\":\"0x20000\",\"size\":%d,\"data\":\"",
                     BYTES);
    uint64_t random = 1;
    for (int i = 0; i < 2 * BYTES; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        text[at++] = "0123456789abcdef"[random >> 60];
    }
    strcpy(text + at, "\"}\n");
    maker = (struct maker){.events = text};
    assert_int_equal(record("g11", "one", "sim big", &err), NOCAP_OK);
    assert_int_equal(record("g11", "two", "sim big", &err), NOCAP_E_USAGE);
    assert_contains(err.text, "more than 2097152: record a shorter run");
    assert_int_not_equal(stat("g11/two.nocap", &st), 0);
    assert_int_not_equal(stat("g11/.two.new", &st), 0);
    assert_int_equal(look(VERIFY, "g11"), 0);
    free(text);
}

static void wrong_manifests_are_told_with_their_place(void **state)
{
    (void)state;
#define BLOCK                                                                                      \
    "trace    a\nmade     sim x\nreason   r\nfindings f\nviolated none\ndigest   total 0\n"
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"trace\n", "manifest.txt:1: 'trace' says nothing"},
        {"# x\n\nmade sim\n", "manifest.txt:3: expected 'trace', found 'made sim'"},
        {"trace ../a\n", "manifest.txt:1: '../a' is no name"},
        {BLOCK BLOCK, "manifest.txt:7: 'a' is no name"},
        {"trace a\nmade x\n", "manifest.txt:2: the last trace lacks 'reason'"},
        {"trace a\nmade x\nmade y\n", "manifest.txt:3: expected 'reason'"},
    };
    assert_int_equal(mkdir("g12", 0777), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct golden_manifest manifest;
        struct nocap_error err = {""};
        write_text("g12/manifest.txt", rows[i].text);
        assert_int_equal(golden_manifest_read(&manifest, "g12", false, &err), NOCAP_E_INPUT);
        assert_contains(err.text, rows[i].told);
        golden_manifest_free(&manifest);
    }
    char line[5000];
    struct golden_manifest manifest;
    memset(line, 'x', sizeof line);
    write_bytes("g12/manifest.txt", line, sizeof line);
    assert_int_equal(golden_manifest_read(&manifest, "g12", false, NULL), NOCAP_E_INPUT);
    golden_manifest_free(&manifest);
    write_text("g12/manifest.txt", BLOCK);
    assert_int_equal(golden_manifest_read(&manifest, "g12", false, NULL), NOCAP_OK);
    assert_int_equal(manifest.count, 1);
    assert_string_equal(manifest.entries[0].text[GOLDEN_MADE], "sim x");
    golden_manifest_free(&manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recorded_trace_verifies),
        cmocka_unit_test(what_is_timing_does_not_count),
        cmocka_unit_test(registers_return_what_they_like),
        cmocka_unit_test(a_difference_is_shown_by_its_events),
        cmocka_unit_test(a_new_finding_differs),
        cmocka_unit_test(an_update_shows_before_it_writes),
        cmocka_unit_test(what_others_record_meanwhile_stays),
        cmocka_unit_test(a_damaged_golden_trace_differs),
        cmocka_unit_test(an_imported_trace_is_checked_but_not_made),
        cmocka_unit_test(a_damaged_trace_keeps_its_damage),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(the_directory_stays_small),
        cmocka_unit_test(wrong_manifests_are_told_with_their_place),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    free(out_text);
    return failed;
}
