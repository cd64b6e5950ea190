/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of several traces as one: what each form must hold. */
#include "tests/results.h"

/* ---- JSON ---- */

static void json_of_several_traces_holds_their_reports(void **state)
{
    (void)state;
    three_traces();
    yajl_val root = parse(printed(nocap_results_json));
    assert_int_equal(number_at(root, "nocap_reports"), 1);
    assert_int_equal(number_at(at(root, "summary"), "traces"), 3);
    assert_int_equal(number_at(at(root, "summary"), "error"), 1);
    assert_int_equal(number_at(at(root, "summary"), "waived"), 1);
    assert_int_equal(number_at(at(root, "summary"), "unreadable"), 1);
    assert_int_equal(length(at(root, "reports")), 2);
    assert_string_equal(text_at(at(item(at(root, "reports"), 1), "trace"), "path"),
                        "bad <&>\".jsonl");
    yajl_val waived = item(at(item(at(root, "reports"), 1), "findings"), 1);
    assert_string_equal(text_at(waived, "reason"), "a \"known\" | gap <here>");
    assert_string_equal(text_at(item(at(root, "unreadable"), 0), "path"), "missing, 100%");
    yajl_tree_free(root);
    begin(1);
    add(0, "clean.jsonl", NULL);
    root = parse(printed(nocap_results_json));
    assert_int_equal(number_at(root, "nocap_report"), 1); /* of one trace its own report */
    yajl_tree_free(root);
}

/* ---- SARIF ---- */

static void check_location(yajl_val location, yajl_val artifacts)
{
    yajl_val physical = at(location, "physicalLocation");
    yajl_val artifact = at(physical, "artifactLocation");
    size_t i = (size_t)number_at(artifact, "index");
    assert_string_equal(text_at(artifact, "uri"),
                        text_at(at(item(artifacts, i), "location"), "uri"));
    assert_true(number_at(at(physical, "region"), "startLine") >= 1);
}

static void check_result(yajl_val result, yajl_val run)
{
    yajl_val rules = at(at(at(run, "tool"), "driver"), "rules");
    yajl_val rule = item(rules, (size_t)number_at(result, "ruleIndex"));
    const char *level = text_at(result, "level");
    assert_string_equal(text_at(rule, "id"), text_at(result, "ruleId"));
    assert_true(strcmp(level, "error") == 0 || strcmp(level, "warning") == 0 ||
                strcmp(level, "note") == 0);
    assert_true(strlen(text_at(at(result, "message"), "text")) > 0);
    assert_true(length(at(result, "locations")) == 1);
    check_location(item(at(result, "locations"), 0), at(run, "artifacts"));
    for (size_t i = 0; i < length(at(result, "relatedLocations")); i++) {
        check_location(item(at(result, "relatedLocations"), i), at(run, "artifacts"));
    }
}

static void sarif_has_what_its_schema_requires(void **state)
{
    (void)state;
    three_traces();
    yajl_val root = parse(printed(nocap_results_sarif));
    assert_string_equal(text_at(root, "version"), "2.1.0");
    assert_contains(text_at(root, "$schema"), "sarif-2.1.0.json");
    yajl_val run = item(at(root, "runs"), 0);
    yajl_val driver = at(at(run, "tool"), "driver");
    assert_string_equal(text_at(driver, "name"), "nocap");
    assert_int_equal(length(at(driver, "rules")), 1);
    yajl_val rule = item(at(driver, "rules"), 0);
    assert_string_equal(text_at(rule, "id"), "MAP-001");
    assert_true(strlen(text_at(at(rule, "shortDescription"), "text")) > 0);
    assert_true(strlen(text_at(at(rule, "help"), "text")) > 0);
    assert_string_equal(text_at(at(rule, "defaultConfiguration"), "level"), "error");
    assert_int_equal(length(at(run, "artifacts")), 3);
    assert_string_equal(text_at(at(item(at(run, "artifacts"), 1), "location"), "uri"),
                        "bad%20%3C%26%3E%22.jsonl");
    assert_int_equal(length(at(run, "results")), 2);
    for (size_t i = 0; i < 2; i++) {
        check_result(item(at(run, "results"), i), run);
    }
    yajl_val suppressed = item(at(item(at(run, "results"), 1), "suppressions"), 0);
    assert_string_equal(text_at(suppressed, "kind"), "external");
    assert_string_equal(text_at(suppressed, "justification"), "a \"known\" | gap <here>");
    yajl_val invocation = item(at(run, "invocations"), 0);
    assert_true(YAJL_IS_FALSE(at(invocation, "executionSuccessful")));
    yajl_val told = item(at(invocation, "toolExecutionNotifications"), 0);
    assert_string_equal(text_at(told, "level"), "error");
    assert_contains(text_at(at(told, "message"), "text"), "missing, 100%");
    yajl_tree_free(root);
}

/* ---- the others ---- */

static void junit_counts_and_escapes(void **state)
{
    (void)state;
    three_traces();
    char *text = printed(nocap_results_junit);
    size_t cases = 0;
    for (const char *p = text; (p = strstr(p, "<testcase")) != NULL; p++) {
        cases++;
    }
    char sums[120];
    snprintf(sums, sizeof sums,
             "<testsuites name=\"nocap check\" tests=\"%zu\" failures=\"1\" errors=\"1\">", cases);
    assert_contains(text, sums);
    assert_contains(text, "<testsuite name=\"bad &lt;&amp;&gt;&quot;.jsonl\" tests=");
    assert_contains(text,
                    "<failure type=\"error\" message=\"1 finding\">core 1,2, host, event 0, t 1: ");
    assert_contains(text, "waived: core 1,3, host, event 1, t 2: ");
    assert_contains(text, "<error message=\"cannot read missing, 100%");
    assert_null(strstr(text, "<here>"));
    free(text);
}

static void annotations_are_one_line_each(void **state)
{
    (void)state;
    three_traces();
    char *text = printed(nocap_results_github);
    assert_contains(text,
                    "::error file=bad <&>\".jsonl,line=2,title=MAP-001::core 1,2, host, event 0, "
                    "t 1: ");
    assert_contains(text, "::error file=missing%2C 100%25,title=unreadable::cannot read missing, "
                          "100%25: ");
    assert_null(strstr(text, "tile 1,3")); /* waived */
    size_t lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        lines++;
    }
    assert_int_equal(lines, 2);
    free(text);
}

static void markdown_is_a_table(void **state)
{
    (void)state;
    three_traces();
    char *text = printed(nocap_results_markdown);
    assert_contains(text, "### nocap check: fails\n");
    assert_contains(text, "| clean.jsonl | clean | 2 | 0 | 0 | 0 | 0 | 0 |\n");
    assert_contains(text, "| bad \\<\\&\\>\".jsonl | **fails** | 2 | 1 | 0 | 0 | 1 | 0 |\n");
    assert_contains(text,
                    "| error | MAP-001 | bad \\<\\&\\>\".jsonl, core 1,2, host, event 0, t 1 | ");
    free(text);
    begin(1);
    add(0, "clean.jsonl", NULL);
    text = printed(nocap_results_markdown);
    assert_contains(text, "### nocap check: passes\n");
    assert_null(strstr(text, "severity"));
    free(text);
}

static void text_ends_with_the_sums(void **state)
{
    (void)state;
    three_traces();
    char *text = printed(as_text);
    assert_contains(text, "waived MAP-001: ");
    assert_contains(text, " -- a \"known\" | gap <here>\n");
    assert_contains(text, "\n\n3 traces: 1 fail, 1 cannot be read; 1 error, 0 warnings, 0 notes, 1 "
                          "waived, 0 known\n");
    free(text);
}

/* A trace that is cut short: it fails if the results are strict. */
static void a_strict_run_fails_where_the_trace_is_cut_short(void **state)
{
    (void)state;
    static const char cut[] = HEADER IDLE WRITE(1, 2, host, 0x37000, 0x1) "{\"t\":2,\"ev";
    write_text("cut.jsonl", cut);
    begin(1);
    add(0, "cut.jsonl", NULL);
    for (unsigned strict = 0; strict < 2; strict++) {
        results.strict = strict == 1;
        assert_int_equal(nocap_results_sum(&results).failing, strict);
        char *text = printed(nocap_results_markdown);
        assert_contains(text, strict == 1 ? "| **fails** |" : "| passes, cut short |");
        free(text);
        text = printed(nocap_results_junit);
        assert_contains(text, strict == 1 ? "failures=\"1\"" : "failures=\"0\"");
        assert_int_equal(strstr(text, "<failure message=\"cut short after event 1\"/>") != NULL,
                         strict);
        free(text);
    }
    char rules[] = "TRC,-TRC-001";
    const struct nocap_check_options others = {.size = sizeof others, .rules = rules};
    begin(1);
    add(0, "cut.jsonl", &others);
    results.strict = true;
    assert_int_equal(nocap_results_sum(&results).failing, 1); /* whatever rules are asked for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_several_traces_holds_their_reports),
        cmocka_unit_test(sarif_has_what_its_schema_requires),
        cmocka_unit_test(junit_counts_and_escapes),
        cmocka_unit_test(annotations_are_one_line_each),
        cmocka_unit_test(markdown_is_a_table),
        cmocka_unit_test(text_ends_with_the_sums),
        cmocka_unit_test(a_strict_run_fails_where_the_trace_is_cut_short),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_results_free(&results);
    return failed;
}
