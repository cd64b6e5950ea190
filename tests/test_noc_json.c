/* SPDX-License-Identifier: Apache-2.0 */
/* Import of the NOC event profiler's JSON: files from silicon are taken whole and found clean, and
 * what is odd is survived in bounded memory. */
#include "tests/temp_dir.h"

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checker/core/checker.h"
#include "formats/import/import.h"
#include "formats/trace/note.h"
#include "tests/effort.h"

static enum nocap_status import(const char *path, enum nocap_arch arch,
                                struct nocap_import_result *result, struct nocap_error *err)
{
    const struct nocap_import_options options = {.size = sizeof options, .arch = arch};
    int fd = open("out.nocap", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    enum nocap_status status =
        nocap_import(nocap_import_format_find("noc-json"), &path, 1, fd, &options, result, err);
    close(fd);
    return status;
}

static enum nocap_status import_text(const char *text, struct nocap_import_result *result,
                                     struct nocap_error *err)
{
    write_text("in.json", text);
    return import("in.json", NOCAP_ARCH_WORMHOLE, result, err);
}

/* The next event of what was imported last. */
static struct nocap_event event_at(size_t index)
{
    struct nocap_reader *reader;
    const struct nocap_event *events;
    size_t count;
    assert_int_equal(nocap_reader_open(&reader, "out.nocap", NULL), NOCAP_OK);
    assert_int_equal(nocap_reader_next(reader, &events, &count, NULL), NOCAP_OK);
    assert_true(index < count);
    struct nocap_event event = events[index];
    nocap_reader_close(reader);
    return event;
}

static uint64_t remarked(const struct nocap_import_result *result, const char *text)
{
    for (size_t i = 0; i < result->remark_count; i++) {
        if (strstr(result->remarks[i].text, text) != NULL) {
            return result->remarks[i].count;
        }
    }
    return 0;
}

static void files_from_silicon_are_clean(void **state)
{
    (void)state;
    glob_t names;
    assert_int_equal(glob(DATA_DIR "/noc-json/*.json.zst", 0, NULL, &names), 0);
    assert_true(names.gl_pathc >= 5);
    for (size_t i = 0; i < names.gl_pathc; i++) {
        struct nocap_import_result result;
        struct nocap_error err;
        struct nocap_report *report;
        bool trace = strstr(names.gl_pathv[i], "topology") == NULL;
        enum nocap_status status = import(names.gl_pathv[i], NOCAP_ARCH_WORMHOLE, &result, &err);
        assert_int_equal(status, trace ? NOCAP_OK : NOCAP_E_INPUT);
        if (!trace) {
            continue;
        }
        assert_int_equal(nocap_check(&report, "out.nocap", NULL, &err), NOCAP_OK);
        if (report->finding_count != 0) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("false alarm in %s", names.gl_pathv[i]);
        }
        assert_int_equal(report->events, result.events);
        nocap_report_free(report);
    }
    globfree(&names);
}

static void the_drift_of_the_format_is_survived(void **state)
{
    (void)state;
    struct nocap_import_result result;
    struct nocap_error err;
    assert_int_equal(
        import_text("\xEF\xBB\xBF[{\"type\":\"WRITE_\",\"sx\":1,\"sy\":2,\"dx\":-1,\"dy\":-1,"
                    "\"proc\":\"TRISC_1\",\"timestamp\":9223372036854775807,\"num_bytes\":64,"
                    "\"vc\":-1,\"noc\":\"NOC_1\",\"posted\":true},"
                    "{\"zone\":\"BRISC-KERNEL\",\"zone_phase\":\"ZONE_END\",\"proc\":\"BRISC\","
                    "\"sx\":1,\"sy\":2,\"timestamp\":1e3},"
                    "{\"type\":\"MEM_LOCK\",\"proc\":\"NCRISC\",\"sx\":1,\"sy\":2,\"timestamp\":5,"
                    "\"locked_address_base\":4096,\"bytes_locked\":64},"
                    "{\"type\":\"READ\",\"timestamp\":7},{\"type\":\"READ\",\"sx\":1,\"sy\":1},"
                    "3,[1,{\"a\":2}],{}]",
                    &result, &err),
        NOCAP_OK);
    assert_int_equal(result.events, 8);
    struct nocap_event e = event_at(0);
    assert_int_equal(e.kind, NOCAP_EV_NOC);
    assert_int_equal(e.by, NOCAP_BY_TRISC1);
    assert_int_equal(e.t, INT64_MAX);
    assert_int_equal(e.noc, 1);
    assert_true(e.posted);
    assert_int_equal(e.has & (NOCAP_F_D | NOCAP_F_VC), 0); /* -1 is nothing */
    e = event_at(1);
    assert_int_equal(e.kind, NOCAP_EV_KERNEL);
    assert_int_equal(e.op, NOCAP_OP_EXIT);
    assert_int_equal(e.t, 1000);
    assert_int_equal(remarked(&result, "no core"), 1);
    assert_int_equal(remarked(&result, "without a time"), 1);
    assert_int_equal(remarked(&result, "type that is not known"), 3);
}

/* Two launches of one core in a file that names no device, and a launch without requests before. */
static void kernels_stand_where_they_ran(void **state)
{
#define ZONE(id, phase, t)                                                                         \
    ",{\"run_host_id\":" #id                                                                       \
    ",\"proc\":\"NCRISC\",\"zone\":\"NCRISC-KERNEL\",\"zone_phase\":\"" phase                      \
    "\",\"sx\":1,\"sy\":2,\"timestamp\":" #t "}"
#define READ(id, t)                                                                                \
    ",{" id "\"proc\":\"NCRISC\",\"noc\":\"NOC_0\",\"vc\":1,\"sx\":1,\"sy\":2,\"dx\":3,\"dy\":4,"  \
    "\"num_bytes\":64,\"type\":\"READ\",\"timestamp\":" #t "}"
    (void)state;
    char texts[][2048] = {
        ZONE(6, "begin", 50) ZONE(6, "end", 60) ZONE(7, "begin", 100)
            READ("\"run_host_id\":7,", 200) ZONE(7, "end", 300) ZONE(8, "begin", 400)
                READ("\"run_host_id\":8,", 500) ZONE(8, "end", 600) "]",
        ZONE(6, "begin", 50) ZONE(6, "end", 60) ZONE(7, "begin", 100) READ("", 200)
            ZONE(7, "end", 300) ZONE(8, "begin", 400) READ("", 500) ZONE(8, "end", 600) "]",
    };
    static const uint64_t times[] = {50, 60, 100, 200, 300, 400, 500, 600};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct nocap_import_result result;
        struct nocap_error err;
        texts[i][0] = '[';
        assert_int_equal(import_text(texts[i], &result, &err), NOCAP_OK);
        assert_int_equal(remarked(&result, "earlier"), 0);
        for (size_t j = 0; j < sizeof times / sizeof times[0]; j++) {
            struct nocap_event e = event_at(j);
            assert_int_equal(e.t, times[j]);
            assert_int_equal(e.src, event_at(0).src);
            assert_int_equal(e.kind, j == 3 || j == 6 ? NOCAP_EV_NOC : NOCAP_EV_KERNEL);
        }
    }
#undef ZONE
#undef READ
}

/* However many cores were met before, an event that names the device names it for its run and core.
 */
static void a_zone_is_on_the_chip_of_its_run(void **state)
{
    (void)state;
    enum { CORES_MAX = 150 };
    for (unsigned cores = 1; cores < CORES_MAX; cores++) {
        struct nocap_import_result result;
        FILE *out = fopen("in.json", "w");
        assert_non_null(out);
        fputs("[", out);
        for (unsigned i = 0; i <= cores; i++) {
            fprintf(out,
                    "{\"run_host_id\":%u,\"proc\":\"BRISC\",\"type\":\"READ\",\"noc\":\"NOC_0\","
                    "\"sx\":%u,\"sy\":%u,\"dx\":1,\"dy\":2,\"src_device_id\":%u,"
                    "\"timestamp\":%u},",
                    i < cores ? 1u : 2u, i % 10, i / 10, i < cores ? 0u : 3u, 1 + i);
        }
        fprintf(out,
                "{\"run_host_id\":2,\"proc\":\"BRISC\",\"sx\":%u,\"sy\":%u,"
                "\"zone\":\"BRISC-KERNEL\",\"zone_phase\":\"begin\",\"timestamp\":%u}]",
                cores % 10, cores / 10, 2 + cores);
        assert_int_equal(fclose(out), 0);
        assert_int_equal(import("in.json", NOCAP_ARCH_BLACKHOLE, &result, NULL), NOCAP_OK);
        assert_int_equal(result.events, cores + 2);
        assert_int_equal(event_at(cores + 1).kind, NOCAP_EV_KERNEL);
        assert_int_equal(event_at(cores + 1).chip, 3);
    }
}

static void what_is_too_long_is_refused_or_left_out(void **state)
{
    (void)state;
    struct nocap_import_result result;
    struct nocap_error err;
    static char text[(4 << 20) + 64];
    int n = snprintf(text, sizeof text, "[{\"type\":\"");
    memset(text + n, 'x', 4 << 20);
    strcpy(text + n + (4 << 20), "\"}]");
    assert_int_equal(import_text(text, &result, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "longer than 1 MiB");
    n = snprintf(
        text, sizeof text,
        "[{\"type\":\"READ\",\"sx\":1,\"sy\":1,\"timestamp\":1,\"proc\":\"BRISC\",\"k\":\"");
    memset(text + n, 'x', 100000);
    strcpy(text + n + 100000, "\"}]");
    assert_int_equal(import_text(text, &result, &err), NOCAP_OK);
    assert_int_equal(remarked(&result, "too long to keep"), 1);
    n = snprintf(text, sizeof text, "[{\"type\":");
    memset(text + n, '[', 5000);
    text[n + 5000] = 0;
    assert_int_equal(import_text(text, &result, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "nests deeper");
}

/* 100 MB take no more memory than 1 MB. */
static void memory_does_not_grow_with_the_file(void **state)
{
    (void)state;
    enum { SMALL = 8000, LARGE = 640000, MEASURED = 2 };
    static const uint64_t counts[MEASURED] = {SMALL, LARGE};
    long peak[MEASURED];
    struct nocap_import_result result;
    struct nocap_error err;
    if (SANITIZED) { /* memory that is given back is kept for a while */
        skip();
    }
    for (unsigned i = 0; i < MEASURED; i++) {
        FILE *out = fopen("big.json", "w");
        assert_non_null(out);
        fputs("[\n", out);
        for (uint64_t n = 0; n < counts[i]; n++) {
            fprintf(out,
                    "%s{\"proc\":\"NCRISC\",\"noc\":\"NOC_%u\",\"vc\":-1,\"sx\":%u,\"sy\":%u,"
                    "\"dx\":%u,\"dy\":3,\"num_bytes\":2048,\"type\":\"%s\",\"timestamp\":%" PRIu64
                    ",\"kernel_start_delta\":%" PRIu64 "}\n",
                    n == 0 ? "" : ",", (unsigned)(n & 1), (unsigned)(1 + n % 8),
                    (unsigned)(1 + n / 8 % 8), (unsigned)(1 + n % 5),
                    n % 9 == 8 ? "READ_BARRIER_END" : "READ", 1000000 + 7 * n, 7 * n);
        }
        fputs("]\n", out);
        assert_int_equal(fclose(out), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            enum nocap_status status = import("big.json", NOCAP_ARCH_WORMHOLE, &result, &err);
            _exit(status == NOCAP_OK && result.events == counts[i] ? 0 : 1);
        }
        int status;
        struct rusage usage;
        assert_int_equal(wait4(child, &status, 0, &usage), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        peak[i] = usage.ru_maxrss; /* KiB; that of this process where the child needs less */
    }
    assert_int_equal(unlink("big.json"), 0);
    if (peak[1] > peak[0] + 16 * 1024) {
        fail_msg("a large file takes %ld KiB, a small one %ld", peak[1], peak[0]);
    }
}

static void notes_that_a_machine_reads(void **state)
{
    (void)state;
    static const struct nocap_note notes[] = {
        {.form = NOCAP_NOTE_WAIT, .by = NOCAP_BY_BRISC, .op = NOCAP_OP_WRITE, .noc = 1},
        {.form = NOCAP_NOTE_WAIT, .by = NOCAP_BY_TRISC2},
        {.form = NOCAP_NOTE_LOCK, .by = NOCAP_BY_NCRISC, .cb = true, .addr = 0x38000, .size = 2048},
        {.form = NOCAP_NOTE_UNLOCK, .by = NOCAP_BY_NCRISC, .size = 1},
        {.form = NOCAP_NOTE_AT, .by = NOCAP_BY_TRISC0, .code = "CRBW"},
    };
    static const char *const others[] = {"",
                                         "wait",
                                         "wait write noc2 brisc",
                                         "wait inline noc0 brisc",
                                         "wait write noc0 host",
                                         "lock mem brisc 0x10 0",
                                         "lock mem brisc x 1",
                                         "lock mem brisc 1 1 1",
                                         "lock all brisc 1 1",
                                         "at CRBWCRBWC brisc",
                                         "at CRBW host",
                                         "runs brisc",
                                         "runs brisc ",
                                         "runs host kernel.cpp",
                                         "a kernel begins to wait"};
    struct nocap_event e = {.kind = NOCAP_EV_NOTE, .has = NOCAP_F_AT | NOCAP_F_TEXT};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        char text[NOCAP_NOTE_MAX];
        e.data_size = nocap_note_print(text, &notes[i]);
        e.data = (const uint8_t *)text;
        struct nocap_note note = nocap_note_read(&e);
        assert_memory_equal(&note.addr, &notes[i].addr, 2 * sizeof note.addr);
        assert_string_equal(note.code, notes[i].code);
        assert_true(note.form == notes[i].form && note.by == notes[i].by &&
                    note.op == notes[i].op && note.noc == notes[i].noc && note.cb == notes[i].cb);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        e.data = (const uint8_t *)others[i];
        e.data_size = (uint32_t)strlen(others[i]);
        assert_int_equal(nocap_note_read(&e).form, NOCAP_NOTE_TEXT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_from_silicon_are_clean),
        cmocka_unit_test(the_drift_of_the_format_is_survived),
        cmocka_unit_test(kernels_stand_where_they_ran),
        cmocka_unit_test(a_zone_is_on_the_chip_of_its_run),
        cmocka_unit_test(what_is_too_long_is_refused_or_left_out),
        cmocka_unit_test(memory_does_not_grow_with_the_file),
        cmocka_unit_test(notes_that_a_machine_reads),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
