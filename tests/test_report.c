/* SPDX-License-Identifier: Apache-2.0 */
/* From divergences to a report: limits, waivers, verdicts, order, and what text and JSON say. */
#include "tests/temp_dir.h"

#include <yajl/yajl_tree.h>

#include "checker/core/findings.h"

/* ---- synthetic runs ---- */

struct run {
    struct nocap_report *report;
    struct nocap_check_options options;
    struct nocap_findings findings;
    uint64_t exercised[NOCAP_RULE_COUNT];
};

static void run_begin(struct run *run)
{
    *run = (struct run){.options = {.size = sizeof run->options}};
    run->report = calloc(1, sizeof *run->report);
    assert_non_null(run->report);
    run->report->path = strdup("run.nocap");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        run->report->rules[i].selected = true;
    }
    run->findings = (struct nocap_findings){.report = run->report, .options = &run->options};
}

static void report_violation(struct run *run, enum nocap_rule rule, uint64_t index)
{
    const struct nocap_divergence divergence = {
        .rule = rule,
        .index = index,
        .t = 10 * index,
        .has_tile = true,
        .at = {1, 2},
        .agent = NOCAP_BY_BRISC,
        .thread = -1,
        .expected = "LOAD (0x01)",
        .observed = "0x00",
        .related = {index - 1},
        .related_count = 1,
    };
    nocap_findings_add(&run->findings, &divergence);
    nocap_findings_commit(&run->findings);
}

static void run_end(struct run *run)
{
    assert_int_equal(nocap_findings_finish(&run->findings, run->exercised, NULL), NOCAP_OK);
}

static void finding_says_what_was_expected_and_observed(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    report_violation(&run, SYN_004, 57);
    run_end(&run);
    assert_int_equal(run.report->finding_count, 1);
    const struct nocap_finding *f = &run.report->findings[0];
    assert_string_equal(f->message, "0x00; expected LOAD (0x01)");
    assert_int_equal(f->severity, NOCAP_ERROR);
    assert_int_equal(f->index, 57);
    assert_int_equal(f->t, 570);
    assert_int_equal(f->count, 1);
    assert_int_equal(f->related_count, 1);
    assert_int_equal(f->related[0], 56);
    nocap_report_free(run.report);
}

static void findings_stand_by_index_then_rule(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    report_violation(&run, SYN_004, 9);
    report_violation(&run, GO_004, 7);
    report_violation(&run, SYN_003, 9);
    report_violation(&run, TRC_003, 8);
    run_end(&run);
    static const enum nocap_rule want[] = {GO_004, TRC_003, SYN_003, SYN_004};
    assert_int_equal(run.report->finding_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run.report->findings[i].rule, want[i]);
    }
    nocap_report_free(run.report);
}

static void all_are_counted_but_few_are_kept(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.options.max_per_rule = 3;
    for (uint64_t i = 0; i < 100; i++) {
        report_violation(&run, GO_001, i + 1);
    }
    report_violation(&run, SYN_001, 200);
    run_end(&run);
    assert_int_equal(run.report->finding_count, 4);
    assert_int_equal(run.report->rules[GO_001].violations, 100);
    assert_int_equal(run.report->counts[NOCAP_WARNING], 100);
    assert_int_equal(run.report->counts[NOCAP_ERROR], 1);
    assert_int_equal(run.report->findings[2].index, 3); /* the first ones */
    nocap_report_free(run.report);
    run_begin(&run);
    for (uint64_t i = 0; i < 100; i++) {
        report_violation(&run, GO_001, i + 1);
    }
    run_end(&run);
    assert_int_equal(run.report->finding_count, NOCAP_MAX_PER_RULE_DEFAULT);
    nocap_report_free(run.report);
}

static void verdicts(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.report->rules[GO_001].selected = false;
    run.report->rules[GO_002].obstacle = NOCAP_NO_CLASS;
    for (int i = GO_001; i <= GO_004; i++) {
        run.exercised[i] = 5;
    }
    report_violation(&run, GO_001, 1);
    report_violation(&run, GO_002, 2);
    report_violation(&run, GO_003, 3);
    run_end(&run);
    const struct nocap_rule_report *rules = run.report->rules;
    assert_int_equal(rules[GO_001].verdict, NOCAP_NOT_EXERCISED);
    assert_int_equal(rules[GO_001].exercised, 0);
    assert_int_equal(rules[GO_002].verdict, NOCAP_NOT_OBSERVABLE);
    assert_int_equal(rules[GO_003].verdict, NOCAP_VIOLATED);
    assert_int_equal(rules[GO_004].verdict, NOCAP_HELD);
    assert_int_equal(rules[GO_005].verdict, NOCAP_NOT_EXERCISED);
    assert_int_equal(run.report->finding_count, 1);
    assert_true(nocap_report_fails(run.report, NOCAP_ERROR));
    nocap_report_free(run.report);
}

static void waived_findings_are_listed_but_do_not_fail(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.options.max_per_rule = 2;
    write_text("waivers.txt", "SYN-004 index 0..50 -- known\nGO-* 1,2 -- known\n");
    assert_int_equal(nocap_waivers_open(&run.findings.waivers, "waivers.txt", 0, NULL), NOCAP_OK);
    for (uint64_t i = 1; i <= 10; i++) {
        report_violation(&run, SYN_004, 10 * i);
    }
    report_violation(&run, GO_001, 5);
    run_end(&run);
    assert_int_equal(run.report->waived, 6);
    assert_int_equal(run.report->counts[NOCAP_ERROR], 5);
    assert_int_equal(run.report->counts[NOCAP_WARNING], 0);
    assert_int_equal(run.report->rules[SYN_004].verdict, NOCAP_VIOLATED);
    assert_int_equal(run.report->rules[GO_001].verdict, NOCAP_WAIVED);
    assert_int_equal(run.report->finding_count, 5); /* 2 waived, 2 not, 1 waived */
    assert_true(run.report->findings[0].waived);
    assert_false(run.report->findings[4].waived);
    nocap_waivers_close(run.findings.waivers);
    nocap_report_free(run.report);
}

static void findings_outside_the_wanted_part_do_not_count(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.options.has_from = run.options.has_to = true;
    run.options.from = 100;
    run.options.to = 200;
    report_violation(&run, SYN_004, 9);
    report_violation(&run, SYN_004, 10);
    report_violation(&run, SYN_004, 20);
    report_violation(&run, SYN_004, 21);
    assert_int_equal(run.report->rules[SYN_004].violations, 2);
    run.options.has_from = run.options.has_to = false;
    run.options.has_tile = true;
    run.options.tile = (struct nocap_xy){2, 2};
    report_violation(&run, SYN_004, 15);
    assert_int_equal(run.report->rules[SYN_004].violations, 2);
    run.options.tile = (struct nocap_xy){1, 2};
    report_violation(&run, SYN_004, 15);
    assert_int_equal(run.report->rules[SYN_004].violations, 3);
    const struct nocap_divergence of_the_file = {
        .rule = TRC_001, .thread = -1, .expected = "a", .observed = "b"};
    nocap_findings_add(&run.findings, &of_the_file);
    nocap_findings_commit(&run.findings);
    assert_int_equal(run.report->rules[TRC_001].violations, 1);
    run_end(&run);
    nocap_report_free(run.report);
}

static void texts_are_cleaned(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    const struct nocap_divergence divergence = {
        .rule = TRC_006,
        .thread = -1,
        .expected = "a kind",
        .observed = "\"ev\":\"\033[2J\xff\xc3\xa9\xed\xa0\x80\xc2\x9b\xf4\x90\x80\x80\n\"",
    };
    nocap_findings_add(&run.findings, &divergence);
    run_end(&run);
    assert_string_equal(
        run.report->findings[0].observed,
        "\"ev\":\"\\x1b[2J\\xff\xc3\xa9\\xed\\xa0\\x80\\xc2\\x9b\\xf4\\x90\\x80\\x80\\x0a\"");
    nocap_report_free(run.report);
}

/* ---- text ---- */

static char *text_with(const struct nocap_report *report, bool color, unsigned detail)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(nocap_report_text(out, report, color, detail, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static char *text_of(const struct nocap_report *report, bool color)
{
    return text_with(report, color, 0);
}

/* The text says that so many of the rules held. */
static void assert_held(const char *text, const char *verdict, unsigned held, int all)
{
    char line[128];
    snprintf(line, sizeof line, "%s; passed %u of %d rules\n", verdict, held, all);
    assert_contains(text, line);
}

static char *json_of(const struct nocap_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(nocap_report_json(out, report, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static void text_groups_and_sums_up(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.options.max_per_rule = 2;
    run.report->events = 1234;
    run.report->t_last = 9999;
    run.report->truncated = true;
    run.report->cut_after = 1233;
    run.report->rules[SYN_009].obstacle = NOCAP_NO_CLASS;
    run.report->rules[SYN_009].missing = NOCAP_CLASS_KERNEL;
    run.exercised[TRC_004] = 1;
    for (uint64_t i = 1; i <= 14; i++) {
        report_violation(&run, SYN_004, 10 * i);
    }
    report_violation(&run, GO_014, 15);
    assert_int_equal(
        nocap_report_add_note(run.report, "waiver-unused", "waivers.txt:1: unused", NULL),
        NOCAP_OK);
    run_end(&run);
    char *text = text_of(run.report, false);
    static const char *const parts[] = {
        "run.nocap: blackhole, 1234 events, t 0..9999 cycles, cut short\n",
        "error SYN-004: 0x00 (14 times)\n"
        "  at 10, t 100, core 1,2, brisc (see 9); expected LOAD (0x01)\n"
        "  at 20, t 200, core 1,2, brisc (see 19): 0x00\n"
        "  ... and 12 more\n",
        "note GO-014: ",
        "NOTE: waivers.txt:1: unused\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_contains(text, parts[i]);
    }
    assert_held(text, "\nverdict: 14 errors, 0 warnings, 1 note, cut short after event 1233", 1,
                NOCAP_RULE_COUNT - 1);                             /* without SYN-009 */
    assert_true(strstr(text, "SYN-004") < strstr(text, "GO-014")); /* what came first */
    assert_null(strstr(text, "not observable"));
    assert_null(strchr(text, '\033'));
    free(text);
    text = text_of(run.report, true);
    assert_contains(text, "\033[1;31merror\033[0m SYN-004");
    free(text);
    nocap_report_free(run.report);
}

static void text_of_a_clean_run(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.exercised[TRC_004] = run.exercised[SYN_004] = 1;
    run_end(&run);
    char *text = text_of(run.report, false);
    assert_contains(text, "run.nocap: blackhole, 0 events\n");
    assert_held(text, "events\nverdict: clean", 2, NOCAP_RULE_COUNT);
    assert_false(nocap_report_fails(run.report, NOCAP_NOTE));
    free(text);
    nocap_report_free(run.report);
}

static void text_counts_rules_that_can_apply(void **state)
{
    (void)state;
    struct run run;
    int all = 0;
    run_begin(&run);
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        bool aie = i >= AIE_001, tnx = i >= TNX_001 && i < CQ_001;
        run.report->rules[i].obstacle = aie ? NOCAP_OTHER_ARCH : NOCAP_OBSERVABLE;
        run.report->rules[i].selected = !tnx;
        all += !aie && !tnx;
    }
    run.report->rules[SYN_009].obstacle = NOCAP_NO_CLASS;
    run.report->rules[SYN_009].missing = NOCAP_CLASS_KERNEL;
    run.exercised[TRC_004] = run.exercised[SYN_004] = 1;
    run_end(&run);
    char *text = text_with(run.report, false, NOCAP_TEXT_TABLE);
    assert_contains(text, "events\n\nrules    passed  violated  not-exercised  not-observable");
    assert_contains(text, "\nSYN           1         0 ");
    assert_contains(text,
                    "\nnot observable, the trace does not observe kernel: SYN-009\nverdict: ");
    assert_null(strstr(text, "AIE"));
    assert_null(strstr(text, "TNX"));
    assert_held(text, "\nverdict: clean", 2, all - 1); /* without SYN-009 */
    free(text);
    nocap_report_free(run.report);
}

static void a_line_of_what_has_no_finding(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.exercised[SYN_004] = 1;
    run.report->events = 7;
    run.report->t_last = 99;
    assert_int_equal(nocap_report_add_note(run.report, "waiver-unused", "w:1: unused", NULL),
                     NOCAP_OK);
    run_end(&run);
    char *text = text_with(run.report, false, NOCAP_TEXT_LINE);
    assert_held(text, "run.nocap: blackhole, 7 events: clean", 1, NOCAP_RULE_COUNT);
    assert_contains(text, " rules\n  NOTE: w:1: unused\n");
    free(text);
    nocap_report_free(run.report);
    run_begin(&run);
    run_end(&run);
    text = text_with(run.report, false, NOCAP_TEXT_LINE);
    assert_held(text, "run.nocap: blackhole, 0 events: not judged: it holds no event", 0,
                NOCAP_RULE_COUNT);
    free(text);
    nocap_report_free(run.report);
    for (unsigned waived = 0; waived < 2; waived++) { /* what has one stays as it is */
        run_begin(&run);
        if (waived == 1) {
            write_text("waivers.txt", "SYN-004 -- known\n");
            assert_int_equal(nocap_waivers_open(&run.findings.waivers, "waivers.txt", 0, NULL),
                             NOCAP_OK);
        }
        report_violation(&run, SYN_004, 5);
        run_end(&run);
        char *whole = text_of(run.report, false);
        text = text_with(run.report, false, NOCAP_TEXT_LINE);
        assert_string_equal(text, whole);
        assert_contains(text, waived == 1 ? "waived SYN-004" : "error SYN-004");
        free(whole);
        free(text);
        nocap_waivers_close(run.findings.waivers);
        nocap_report_free(run.report);
    }
}

static void text_of_a_run_that_is_cut_short(void **state)
{
    (void)state;
    for (unsigned others = 0; others < 2; others++) {
        struct run run;
        run_begin(&run);
        run.report->truncated = true;
        run.report->cut_after = 41;
        run.exercised[TRC_004] = run.exercised[MAP_001] = 1;
        report_violation(&run, TRC_001, 42);
        if (others == 1) {
            report_violation(&run, TRC_003, 20); /* a warning too */
        }
        run_end(&run);
        char *text = text_of(run.report, false);
        assert_held(text,
                    others == 0 ? "\nverdict: clean as far as it goes: cut short after event 41"
                                : "\nverdict: 0 errors, 2 warnings, 0 notes, cut short after event "
                                  "41",
                    2, NOCAP_RULE_COUNT);
        free(text);
        nocap_report_free(run.report);
    }
}

/* ---- JSON ---- */

static const char *string_at(yajl_val root, const char *a, const char *b)
{
    const char *path[] = {a, b, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_string);
    assert_non_null(value);
    return YAJL_GET_STRING(value);
}

static long long number_at(yajl_val root, const char *a, const char *b)
{
    const char *path[] = {a, b, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_number);
    assert_non_null(value);
    return YAJL_GET_INTEGER(value);
}

static yajl_val array_at(yajl_val root, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_array);
    assert_non_null(value);
    return value;
}

static void json_has_every_rule_and_finding(void **state)
{
    (void)state;
    struct run run;
    run_begin(&run);
    run.report->events = 1234;
    run.report->t_last = UINT64_MAX;
    run.exercised[SYN_003] = 17;
    report_violation(&run, SYN_004, 57);
    const struct nocap_divergence of_the_file = {
        .rule = TRC_001, .thread = 1, .index = 60, .expected = "a \"footer\"", .observed = "none"};
    nocap_findings_add(&run.findings, &of_the_file);
    nocap_findings_commit(&run.findings);
    run_end(&run);
    run.report->findings[1].waived = true;
    char *text = json_of(run.report), why[256];
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    assert_non_null(root);
    assert_int_equal(number_at(root, "nocap_report", NULL), 1);
    assert_string_equal(string_at(root, "trace", "path"), "run.nocap");
    assert_string_equal(string_at(root, "trace", "arch"), "blackhole");
    assert_int_equal(number_at(root, "trace", "events"), 1234);
    assert_contains(text, "\"t_last\":18446744073709551615");
    assert_int_equal(number_at(root, "summary", "error"), 1);
    assert_int_equal(number_at(root, "summary", "warning"), 1);
    assert_int_equal(number_at(root, "summary", "waived"), 0);
    yajl_val rules = array_at(root, "rules"), findings = array_at(root, "findings");
    assert_int_equal(YAJL_GET_ARRAY(rules)->len, NOCAP_RULE_COUNT);
    yajl_val rule = YAJL_GET_ARRAY(rules)->values[SYN_003];
    assert_string_equal(string_at(rule, "id", NULL), "SYN-003");
    assert_string_equal(string_at(rule, "verdict", NULL), "held");
    assert_int_equal(number_at(rule, "exercised", NULL), 17);
    assert_int_equal(number_at(rule, "violations", NULL), 0);
    assert_int_equal(YAJL_GET_ARRAY(findings)->len, 2);
    yajl_val finding = YAJL_GET_ARRAY(findings)->values[0];
    assert_string_equal(string_at(finding, "rule", NULL), "SYN-004");
    assert_string_equal(string_at(finding, "severity", NULL), "error");
    assert_string_equal(string_at(finding, "agent", NULL), "brisc");
    assert_int_equal(number_at(finding, "x", NULL), 1);
    assert_int_equal(number_at(finding, "y", NULL), 2);
    assert_int_equal(number_at(finding, "index", NULL), 57);
    assert_int_equal(number_at(finding, "count", NULL), 1);
    assert_int_equal(YAJL_GET_ARRAY(array_at(finding, "related"))->len, 1);
    finding = YAJL_GET_ARRAY(findings)->values[1];
    assert_null(yajl_tree_get(finding, (const char *[]){"x", NULL}, yajl_t_any));
    assert_null(yajl_tree_get(finding, (const char *[]){"agent", NULL}, yajl_t_any));
    assert_int_equal(number_at(finding, "thread", NULL), 1);
    assert_string_equal(string_at(finding, "expected", NULL), "a \"footer\"");
    assert_non_null(yajl_tree_get(finding, (const char *[]){"waived", NULL}, yajl_t_true));
    assert_int_equal(YAJL_GET_ARRAY(array_at(root, "notes"))->len, 0);
    yajl_tree_free(root);
    free(text);
    nocap_report_free(run.report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding_says_what_was_expected_and_observed),
        cmocka_unit_test(findings_stand_by_index_then_rule),
        cmocka_unit_test(all_are_counted_but_few_are_kept),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(waived_findings_are_listed_but_do_not_fail),
        cmocka_unit_test(findings_outside_the_wanted_part_do_not_count),
        cmocka_unit_test(texts_are_cleaned),
        cmocka_unit_test(text_groups_and_sums_up),
        cmocka_unit_test(text_of_a_clean_run),
        cmocka_unit_test(text_counts_rules_that_can_apply),
        cmocka_unit_test(a_line_of_what_has_no_finding),
        cmocka_unit_test(text_of_a_run_that_is_cut_short),
        cmocka_unit_test(json_has_every_rule_and_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
