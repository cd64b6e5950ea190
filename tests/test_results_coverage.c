/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules several traces exercise. */
#include "tests/results.h"

#include "checker/core/coverage.h"

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
        cmocka_unit_test(coverage_adds_up),
        cmocka_unit_test(coverage_may_be_required),
        cmocka_unit_test(coverage_has_three_forms),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_results_free(&results);
    return failed;
}
