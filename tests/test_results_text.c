/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of several traces as text: few lines where all is well. */
#include "tests/temp_dir.h"

#include "checker/report/results.h"

#define HEADER "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"core-store\"]}\n"
#define WRITE(addr)                                                                                \
    "{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"" #addr                  \
    "\",\"size\":4,\"value\":\"0x1\"}\n"

/* The text of `count` traces, all clean but number `bad`. */
static char *of_traces(size_t count, size_t bad, bool verbose)
{
    struct nocap_results results;
    struct nocap_error err;
    char *text = NULL;
    size_t size = 0;
    write_text("clean.jsonl", HEADER WRITE(0x37000));
    write_text("bad.jsonl", HEADER WRITE(0xffb90000));
    assert_int_equal(nocap_results_new(&results, count, NULL), NOCAP_OK);
    for (size_t i = 0; i < count; i++) {
        const char *path = i == bad ? "bad.jsonl" : "clean.jsonl";
        struct nocap_report *report;
        assert_int_equal(nocap_check(&report, path, NULL, &err), NOCAP_OK);
        assert_int_equal(nocap_results_set(&results, i, path, report, NULL, NULL), NOCAP_OK);
    }
    results.verbose = verbose;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(nocap_results_text(out, &results, false, NULL), NOCAP_OK);
    fclose(out);
    nocap_results_free(&results);
    return text;
}

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; *text != 0; text++) {
        count += *text == '\n';
    }
    return count;
}

static void of_several_traces_the_clean_ones_are_a_line_each(void **state)
{
    (void)state;
    static const char clean[] = "clean.jsonl: blackhole, 1 event: clean; passed ";
    char *text = of_traces(4, 2, false);
    assert_int_equal(strncmp(text, clean, strlen(clean)), 0);
    assert_contains(text, " rules\nclean.jsonl: blackhole, 1 event: clean; passed ");
    assert_contains(text, " rules\n\nbad.jsonl: "); /* what has findings stands apart */
    assert_contains(text, " rules\n\nclean.jsonl");
    assert_contains(text, " rules\n4 traces: ");
    assert_null(strstr(text, "\n\n\n"));
    free(text);
    text = of_traces(20, 20, false);
    assert_int_equal(lines(text), 21);
    free(text);
    text = of_traces(1, 1, false);
    assert_int_equal(lines(text), 2);
    free(text);
}

static void verbose_text_has_the_families_of_each_trace(void **state)
{
    (void)state;
    char *text = of_traces(2, 2, true);
    assert_contains(text, "\nGO   ");
    assert_contains(text, "\nclean.jsonl: blackhole, 1 event, t 1..1 cycles\n\nrules ");
    assert_contains(text, "\nnot observable, ");
    assert_contains(text, " rules\n\n2 traces: ");
    assert_null(strstr(text, "AIE"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_several_traces_the_clean_ones_are_a_line_each),
        cmocka_unit_test(verbose_text_has_the_families_of_each_trace),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
