/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of several traces as one: what each form must hold, baselines, coverage. */
#include "tests/temp_dir.h"

#include <sys/stat.h>
#include <yajl/yajl_tree.h>

#include "checker/core/coverage.h"

#define HEADER "{\"nocap\":1,\"arch\":\"blackhole\",\"observes\":[\"host-mmio\",\"core-store\"]}\n"
#define IDLE   "{\"t\":0,\"ev\":\"mem\",\"x\":1,\"y\":2,\"addr\":\"0x68\",\"data\":\"00000000\"}\n"
#define WRITE(t, y, by, addr, value)                                                               \
    "{\"t\":" #t ",\"ev\":\"write\",\"by\":\"" #by "\",\"x\":1,\"y\":" #y ",\"addr\":\"" #addr     \
    "\",\"size\":4,\"value\":\"" #value "\"}\n"

/* ---- results ---- */

static struct nocap_results results;

static void begin(size_t count)
{
    nocap_results_free(&results);
    assert_int_equal(nocap_results_new(&results, count, NULL), NOCAP_OK);
}

static void add(size_t i, const char *path, const struct nocap_check_options *options)
{
    struct nocap_error err = {{0}};
    struct nocap_report *report;
    nocap_check(&report, path, options, &err);
    assert_int_equal(nocap_results_set(&results, i, path, report, err.text, NULL), NOCAP_OK);
}

/* A clean trace, one with two errors of a rule of which one is waived, one that cannot be read. */
static void three_traces(void)
{
    static const struct nocap_check_options waived = {.size = sizeof waived,
                                                      .waivers = "waivers.txt"};
    write_text("clean.jsonl", HEADER IDLE WRITE(1, 2, host, 0x37000, 0x1));
    write_text("bad <&>\".jsonl",
               HEADER WRITE(1, 2, host, 0xffb90000, 0x1) WRITE(2, 3, host, 0xffb90000, 0x1));
    write_text("waivers.txt", "MAP-001 1,3 -- a \"known\" | gap <here>  until 2999-12-31\n");
    begin(3);
    add(0, "clean.jsonl", NULL);
    add(1, "bad <&>\".jsonl", &waived);
    add(2, "missing, 100%", NULL);
}

typedef enum nocap_status print(FILE *out, const struct nocap_results *r, struct nocap_error *err);

static char *printed(print *how)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(how(out, &results, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static enum nocap_status as_text(FILE *out, const struct nocap_results *r, struct nocap_error *err)
{
    return nocap_results_text(out, r, false, err);
}

/* ---- JSON ---- */

static yajl_val at(yajl_val root, const char *key)
{
    const char *path[] = {key, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_any);
    if (value == NULL) {
        fail_msg("'%s' is missing", key);
    }
    return value;
}

static yajl_val item(yajl_val array, size_t i)
{
    assert_true(YAJL_IS_ARRAY(array));
    assert_true(i < YAJL_GET_ARRAY(array)->len);
    return YAJL_GET_ARRAY(array)->values[i];
}

static size_t length(yajl_val array)
{
    assert_true(YAJL_IS_ARRAY(array));
    return YAJL_GET_ARRAY(array)->len;
}

static const char *text_at(yajl_val root, const char *key)
{
    assert_true(YAJL_IS_STRING(at(root, key)));
    return YAJL_GET_STRING(at(root, key));
}

static long long number_at(yajl_val root, const char *key)
{
    assert_true(YAJL_IS_INTEGER(at(root, key)));
    return YAJL_GET_INTEGER(at(root, key));
}

static yajl_val parse(char *text)
{
    char why[256];
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    if (root == NULL) {
        fail_msg("%s in %s", why, text);
    }
    free(text);
    return root;
}

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

/* ---- baselines ---- */

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
        const char *text, *told;
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
        assert_contains(err.text, rows[i].told);
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
    /* members of any type, and rules that nobody knows, are no danger */
    write_text("base.json",
               "{\"nocap_report\":1,\"trace\":{\"path\":\"clean.jsonl\"},\"rules\":[1,{\"id\":"
               "\"X\"},{\"id\":\"MAP-001\",\"violations\":-4}],\"findings\":[null,{\"rule\":"
               "\"MAP-001\",\"x\":\"a\",\"y\":1e99,\"agent\":7,\"count\":-1}]}");
    assert_int_equal(nocap_check(&report, "clean.jsonl", &against, &err), NOCAP_OK);
    nocap_report_free(report);
}

/* ---- coverage ---- */

static void coverage_adds_up(void **state)
{
    (void)state;
    struct nocap_rule_coverage rules[NOCAP_RULE_COUNT] = {0};
    three_traces();
    nocap_coverage_of(&results, rules);
    assert_int_equal(rules[MAP_001].exercised, 2);
    assert_int_equal(rules[MAP_001].violated, 1);
    assert_int_equal(rules[MAP_001].times, 3);
    assert_int_equal(rules[SYN_009].blind, 2); /* kernels are not observed */
    assert_int_equal(rules[SYN_009].exercised + rules[SYN_009].idle, 0);
    assert_int_equal(rules[SYN_003].idle, 2);
    for (int r = 0; r < NOCAP_RULE_COUNT; r++) {
        uint32_t archs = nocap_families[nocap_rules[r].family].archs | nocap_rules[r].archs;
        bool applies = (archs >> NOCAP_ARCH_BLACKHOLE & 1) != 0;
        assert_int_equal(rules[r].exercised + rules[r].idle + rules[r].blind, applies ? 2 : 0);
    }
}

static void coverage_may_be_required(void **state)
{
    (void)state;
    struct nocap_rule_coverage rules[NOCAP_RULE_COUNT] = {0};
    struct nocap_error err;
    char text[16];
    three_traces();
    assert_int_equal(nocap_coverage_require(rules, "MAP-001,SYN-003,SYN-009", &err), NOCAP_OK);
    nocap_coverage_of(&results, rules);
    assert_int_equal(nocap_coverage_missing(rules, text, sizeof text), 2);
    assert_string_equal(text, "SYN-003 and SYN"); /* what there is room for */
    struct nocap_coverage_sum sum = nocap_coverage_sum(rules);
    assert_true(sum.exercised != 0 && sum.exercised < sum.rules && sum.rules < NOCAP_RULE_COUNT);
    assert_int_equal(nocap_coverage_require(rules, "SYM", &err), NOCAP_E_USAGE);
    assert_contains(err.text, "'SYM' in the list of rules");
}

static char *coverage(enum nocap_coverage_format format)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct nocap_rule_coverage rules[NOCAP_RULE_COUNT] = {0};
    nocap_coverage_of(&results, rules);
    assert_int_equal(nocap_coverage_print(out, &results, rules, format, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static void coverage_has_three_forms(void **state)
{
    (void)state;
    three_traces();
    char *text = coverage(NOCAP_COVERAGE_TEXT);
    assert_contains(text, "2 traces\n");
    assert_null(strstr(text, "AIE"));
    assert_contains(text, "  MAP-001       2 traces            3 times, violated in 1\n");
    free(text);
    text = coverage(NOCAP_COVERAGE_MARKDOWN);
    assert_contains(text, "| family | rules | exercised | never exercised | not observable |\n");
    free(text);
    yajl_val root = parse(coverage(NOCAP_COVERAGE_JSON));
    yajl_val sums = at(root, "summary");
    assert_int_equal(number_at(root, "nocap_coverage"), 1);
    assert_true(number_at(sums, "rules") < NOCAP_RULE_COUNT); /* none of AIE */
    assert_int_equal(number_at(sums, "exercised") + number_at(sums, "not-exercised") +
                         number_at(sums, "not-observable"),
                     number_at(sums, "rules"));
    yajl_val rule = item(at(root, "rules"), MAP_001);
    assert_string_equal(text_at(rule, "id"), "MAP-001");
    assert_string_equal(text_at(rule, "coverage"), "exercised");
    yajl_tree_free(root);
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
        cmocka_unit_test(only_what_is_new_fails),
        cmocka_unit_test(a_baseline_of_many_traces_and_more_findings_than_it_lists),
        cmocka_unit_test(a_baseline_is_read_once_for_all_traces),
        cmocka_unit_test(what_was_waived_is_not_known),
        cmocka_unit_test(a_consequence_of_before_is_not_known),
        cmocka_unit_test(what_is_no_baseline_is_refused),
        cmocka_unit_test(coverage_adds_up),
        cmocka_unit_test(coverage_may_be_required),
        cmocka_unit_test(coverage_has_three_forms),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_results_free(&results);
    return failed;
}
