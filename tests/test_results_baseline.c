/* SPDX-License-Identifier: Apache-2.0 */
/* What was known before: findings of several traces against a report of then. */
#include "tests/results.h"

#include <sys/stat.h>

static const struct nocap_check_options against = {.size = sizeof against, .baseline = "base.json"};

static void save_as_baseline(void)
{
    char *text = printed(nocap_results_json);
    write_text("base.json", text);
    free(text);
}

static void only_what_is_new_fails(void **state)
{
    (void)state;
    static const char two[] =
        HEADER WRITE(1, 2, host, 0xffb90000, 0x1) WRITE(2, 2, host, 0xffb90000, 0x1);
    write_text("t.jsonl", two);
    begin(1);
    add(0, "t.jsonl", NULL);
    save_as_baseline();
    begin(1);
    add(0, "./t.jsonl", &against); /* another way to the same file */
    assert_int_equal(nocap_results_sum(&results).known, 2);
    assert_false(nocap_report_fails(results.list[0].report, NOCAP_NOTE));
    char *text = printed(as_text);
    assert_contains(text, "known MAP-001: ");
    assert_contains(text, "verdict: clean, 2 known; ");
    free(text);
    char three[2048]; /* one more of the same, later, and one elsewhere */
    snprintf(three, sizeof three, "%s%s", two,
             WRITE(9, 2, host, 0xffb90000, 0x1) WRITE(10, 3, host, 0xffb90000, 0x1));
    write_text("t.jsonl", three);
    begin(1);
    add(0, "t.jsonl", &against);
    assert_int_equal(nocap_results_sum(&results).known, 2);
    assert_int_equal(results.list[0].report->counts[NOCAP_ERROR], 2);
    assert_false(results.list[0].report->findings[2].known);
    assert_int_equal(results.list[0].report->findings[2].index, 2);
    write_text("other.jsonl", two);
    begin(1);
    add(0, "other.jsonl", &against); /* the baseline knows nothing of this trace */
    assert_int_equal(nocap_results_sum(&results).known, 0);
}

static void a_baseline_of_many_traces_and_more_findings_than_it_lists(void **state)
{
    (void)state;
    FILE *file = fopen("many.jsonl", "w");
    assert_non_null(file);
    fputs(HEADER, file);
    for (int i = 0; i < 50; i++) {
        fputs(WRITE(1, 2, host, 0xffb90000, 0x1), file);
    }
    fclose(file);
    begin(2);
    add(0, "clean.jsonl", NULL);
    add(1, "many.jsonl", NULL); /* lists 20, counts 50 */
    save_as_baseline();
    begin(1);
    add(0, "many.jsonl", &against);
    assert_int_equal(nocap_results_sum(&results).known, 50);
    assert_int_equal(results.list[0].report->counts[NOCAP_ERROR], 0);
}

/* One baseline for several checks; traces of one name are told apart by their folders. */
static void a_baseline_is_read_once_for_all_traces(void **state)
{
    (void)state;
    struct nocap_baseline *known;
    struct nocap_check_options options = {.size = sizeof options};
    assert_int_equal(mkdir("one", 0777), 0);
    assert_int_equal(mkdir("two", 0777), 0);
    write_text("one/t.jsonl", HEADER WRITE(1, 2, host, 0xffb90000, 0x1));
    write_text("two/t.jsonl", HEADER WRITE(1, 3, host, 0xffb90000, 0x1));
    begin(2);
    add(0, "one/t.jsonl", NULL);
    add(1, "two/t.jsonl", NULL);
    save_as_baseline();
    assert_int_equal(nocap_baseline_open(&known, "base.json", NULL), NOCAP_OK);
    assert_int_equal(unlink("base.json"), 0);
    options.known = known;
    begin(3);
    add(0, "two/t.jsonl", &options);
    add(1, "one/t.jsonl", &options);
    add(2, "one/t.jsonl", &options); /* what one check has seen is there for the next */
    nocap_baseline_close(known);
    assert_int_equal(nocap_results_sum(&results).known, 3);
    assert_int_equal(nocap_results_sum(&results).failing, 0);
}

/* What waivers took out of the report of before is not known wherever it comes up. */
static void what_was_waived_is_not_known(void **state)
{
    (void)state;
    three_traces();
    save_as_baseline();
    begin(1);
    add(0, "bad <&>\".jsonl", &against);
    assert_int_equal(results.list[0].report->known, 1);
    assert_int_equal(results.list[0].report->counts[NOCAP_ERROR], 1);
}

/* What followed from another finding is not counted by the report; alone it is new. */
static void a_consequence_of_before_is_not_known(void **state)
{
    (void)state;
    write_text("t.jsonl", HEADER WRITE(1, 2, host, 0xffb90000, 0x1));
    for (unsigned follows = 0; follows < 2; follows++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"nocap_report\":1,\"trace\":{\"path\":\"t.jsonl\"},\"rules\":[{\"id\":"
                 "\"MAP-001\",\"violations\":%u}],\"findings\":[{\"rule\":\"MAP-001\",\"x\":1,"
                 "\"y\":2,\"agent\":\"host\"%s}]}",
                 1 - follows, follows == 1 ? ",\"follows\":0" : "");
        write_text("base.json", text);
        begin(1);
        add(0, "t.jsonl", &against);
        assert_int_equal(results.list[0].report->known, 1 - follows);
    }
}

static void what_is_no_baseline_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "it is no JSON"},
        {"[1]", "it is no report"},
        {"{\"nocap_report\":2}", "it is no report"},
        {"{\"nocap_reports\":1,\"reports\":3}", "it is no report"},
        {"{\"nocap_report\":1,\"trace\":{\"path\":\"clean.jsonl\"}}", "lacks its rules"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_report *report;
        struct nocap_error err;
        write_text("base.json", rows[i].text);
        assert_int_equal(nocap_check(&report, "clean.jsonl", &against, &err), NOCAP_E_INPUT);
        assert_contains(err.text, "cannot use the baseline base.json: ");
        assert_contains(err.text, rows[i].message);
    }
    char *deep = malloc(2000001);
    assert_non_null(deep);
    memset(deep, '[', 2000000);
    deep[2000000] = 0;
    struct nocap_report *no_report;
    write_text("base.json", deep);
    assert_int_equal(nocap_check(&no_report, "clean.jsonl", &against, NULL), NOCAP_E_INPUT);
    free(deep);
    const struct nocap_check_options none = {.size = sizeof none, .baseline = "none"};
    struct nocap_report *report;
    struct nocap_error err;
    assert_int_equal(nocap_check(&report, "clean.jsonl", &none, &err), NOCAP_E_INPUT);
    /* members of any type, and rules that do not exist, are no danger */
    write_text("base.json",
               "{\"nocap_report\":1,\"trace\":{\"path\":\"clean.jsonl\"},\"rules\":[1,{\"id\":"
               "\"X\"},{\"id\":\"MAP-001\",\"violations\":-4}],\"findings\":[null,{\"rule\":"
               "\"MAP-001\",\"x\":\"a\",\"y\":1e99,\"agent\":7,\"count\":-1}]}");
    assert_int_equal(nocap_check(&report, "clean.jsonl", &against, &err), NOCAP_OK);
    nocap_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_new_fails),
        cmocka_unit_test(a_baseline_of_many_traces_and_more_findings_than_it_lists),
        cmocka_unit_test(a_baseline_is_read_once_for_all_traces),
        cmocka_unit_test(what_was_waived_is_not_known),
        cmocka_unit_test(a_consequence_of_before_is_not_known),
        cmocka_unit_test(what_is_no_baseline_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_results_free(&results);
    return failed;
}
