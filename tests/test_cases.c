/* SPDX-License-Identifier: Apache-2.0 */
/* The small traces of tests/cases: each fault is one finding, at the event that is named, and its
 * consequences are none; what is right gives none. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "tests/cases.h"

static struct nocap_report *check_text(const char *name, const char *trace)
{
    struct nocap_report *report;
    struct nocap_error err;
    write_text("case.jsonl", trace);
    if (nocap_check(&report, "case.jsonl", NULL, &err) != NOCAP_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    return report;
}

static bool is_finding(const struct nocap_finding *f, const char *rule, uint64_t index)
{
    const struct nocap_rule_info *r = &nocap_rules[f->rule];
    bool less = f->severity == NOCAP_NOTE && r->severity != NOCAP_NOTE;
    char text[32];
    snprintf(text, sizeof text, "%s%s", r->id, less ? " note" : "");
    return strcmp(text, rule) == 0 && f->index == index;
}

static void one_fault_is_one_finding(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nocap_report *report = check_text(cases[i].name, cases[i].trace);
        const struct nocap_finding *f = report->findings;
        bool named = report->finding_count == 0 || cases[i].rule == NULL ||
                     is_finding(f, cases[i].rule, cases[i].index);
        if (!named || report->finding_count != (cases[i].rule != NULL) ||
            report->consequence_count != cases[i].consequences) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            print_error("%s: %zu findings, %zu consequences\n", cases[i].name,
                        report->finding_count, report->consequence_count);
            wrong++;
        }
        nocap_report_free(report);
    }
    assert_int_equal(wrong, 0);
}

static void two_faults_are_two_findings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct nocap_report *report = check_text(pairs[i].name, pairs[i].trace);
        char rules[64] = "";
        for (size_t k = 0; k < report->finding_count && k < 4; k++) {
            strcat(strcat(rules, k > 0 ? " " : ""), nocap_rules[report->findings[k].rule].id);
        }
        if (strcmp(rules, pairs[i].rules) != 0) {
            fail_msg("%s: %s", pairs[i].name, rules);
        }
        nocap_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_fault_is_one_finding),
                                       cmocka_unit_test(two_faults_are_two_findings)};
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
