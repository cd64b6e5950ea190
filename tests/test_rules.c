/* SPDX-License-Identifier: Apache-2.0 */
/* The rule set: every rule has a whole row, its examples are traces that the checker judges as the
 * row says, and lists of rules mean what they say. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "checker/core/fold.h"
#include "checker/core/selection.h"
#include "formats/trace/jsonl.h"

/* Severities that are not E in the published rule set, of the families that are whole here. */
static const char *const families[] = {"TRC", "MAP", "RST", "SYN", "GO", "TNX"};
static const char *const warnings[] = {
    "TRC-001", "TRC-003", "TRC-006", "TRC-009", "MAP-015", "RST-006", "RST-014", "RST-015",
    "RST-017", "GO-001",  "GO-010",  "GO-019",  "TNX-006", "TNX-012", "TNX-015", "TNX-018",
    "TNX-030", "TNX-031", "TNX-032", "TNX-033", "TNX-034", "TNX-035", "TNX-036"};
static const char *const notes[] = {"TRC-010", "GO-014", "TNX-017"};

static bool among(const char *id, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], id) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- rows ---- */

static void every_rule_has_a_row(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_info *rule = &nocap_rules[i];
        assert_non_null(rule->id);
        assert_int_equal(nocap_rule_from_id(rule->id), i);
        size_t family = strlen(nocap_families[rule->family].name);
        assert_memory_equal(rule->id, nocap_families[rule->family].name, family);
        assert_int_equal(rule->id[family], '-');
        assert_true(strlen(rule->sentence) > 10);
        assert_int_not_equal(rule->sentence[strlen(rule->sentence) - 1], '.');
        assert_true(strlen(rule->meaning) > 120);
        assert_int_equal(rule->meaning[strlen(rule->meaning) - 1], '.');
        assert_true(strlen(rule->source) > 10);
        assert_int_equal((rule->needs | rule->needs_any) >> NOCAP_CLASS_COUNT, 0);
        assert_int_equal(rule->needs & rule->needs_any, 0);
    }
}

static void severities_are_those_of_the_rule_set(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        const char *id = nocap_rules[i].id;
        enum nocap_severity want = among(id, warnings, sizeof warnings / sizeof warnings[0])
                                       ? NOCAP_WARNING
                                   : among(id, notes, sizeof notes / sizeof notes[0]) ? NOCAP_NOTE
                                                                                      : NOCAP_ERROR;
        if (among(nocap_families[nocap_rules[i].family].name, families,
                  sizeof families / sizeof families[0]) &&
            nocap_rules[i].severity != want) {
            fail_msg("%s is %s", id, nocap_severity_name(nocap_rules[i].severity));
        }
    }
}

/* What is folded does not count: an error that follows from a warning of the same event, which is
 * the same act, would be none. */
static void no_rule_follows_from_a_lesser_one(void **state)
{
    (void)state;
    assert_true(nocap_follows_count > 0);
    for (unsigned i = 0; i < nocap_follows_count; i++) {
        const struct nocap_follows *row = &nocap_follows[i];
        for (unsigned root = row->root_first; !row->span && root <= (unsigned)row->root_last;
             root++) {
            if (nocap_rules[root].severity < nocap_rules[row->rule].severity) {
                fail_msg("%s follows from %s", nocap_rules[row->rule].id, nocap_rules[root].id);
            }
        }
    }
}

static void needs_are_those_of_the_rule_set(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        bool trace = strncmp(nocap_rules[i].id, "TRC", 3) == 0;
        bool code =
            strncmp(nocap_rules[i].id, "AIE", 3) == 0 || strncmp(nocap_rules[i].id, "TXN", 3) == 0;
        bool file = code && nocap_rules[i].needs_image;
        bool nothing = (nocap_rules[i].needs | nocap_rules[i].needs_any) == 0;
        assert_true(file || trace == nothing); /* static rules look at the file alone */
    }
    assert_int_equal(nocap_rules[RST_005].needs,
                     NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_CORE_MMIO | NOCAP_CLASS_RESET);
    assert_int_equal(nocap_rules[GO_011].needs, NOCAP_CLASS_KERNEL);
    assert_int_equal(nocap_rules[GO_011].needs_any, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_NOC);
    assert_int_equal(nocap_rules[GO_001].needs_any, NOCAP_CLASS_HOST_MMIO | NOCAP_CLASS_NOC |
                                                        NOCAP_CLASS_CORE_STORE |
                                                        NOCAP_CLASS_SAMPLED);
    assert_true(nocap_rules[RST_008].needs_image);
    assert_false(nocap_rules[RST_002].needs_image);
}

static void names_are_found(void **state)
{
    (void)state;
    assert_int_equal(nocap_rule_from_id("syn-004"), SYN_004);
    assert_int_equal(nocap_rule_from_id("SYN-04"), -1);
    assert_int_equal(nocap_rule_from_id(""), -1);
    assert_int_equal(nocap_rule_from_text("GO-003 1,2", 6), GO_003);
    assert_int_equal(nocap_family_from_text("go-*", 2), (int)nocap_rules[GO_001].family);
    assert_int_equal(nocap_family_from_text("GOX", 3), -1);
    assert_string_equal(nocap_severity_name(NOCAP_WARNING), "warning");
    assert_string_equal(nocap_verdict_name(NOCAP_NOT_OBSERVABLE), "not-observable");
}

/* ---- examples ---- */

/* Every line is an event, and the header lets the rule be judged. */
static void assert_well_formed(const struct nocap_rule_info *rule, const char *text)
{
    struct nocap_jsonl_reader *reader;
    struct nocap_error err;
    struct nocap_event event;
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(file);
    assert_int_equal(nocap_jsonl_open(&reader, file, rule->id, &err), NOCAP_OK);
    const struct nocap_header *header = nocap_jsonl_header(reader);
    assert_int_equal(rule->needs & ~header->observes, 0);
    assert_true(rule->needs_any == 0 || (rule->needs_any & header->observes) != 0);
    enum nocap_status status;
    while ((status = nocap_jsonl_next(reader, &event, &err)) == NOCAP_OK) {
    }
    assert_int_equal(status, NOCAP_END);
    bool about_events = strcmp(rule->id, "TRC-005") == 0 || strcmp(rule->id, "TRC-006") == 0;
    if (!about_events && nocap_jsonl_malformed(reader, NULL, NULL) != 0) {
        fail_msg("an example of %s has a line that is no event", rule->id);
    }
    nocap_jsonl_close(reader);
    fclose(file);
}

static void examples_are_traces(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        const struct nocap_rule_info *rule = &nocap_rules[i];
        assert_int_equal(rule->violates[0] == '#', rule->holds[0] == '#');
        if (rule->violates[0] != '#') {
            assert_well_formed(rule, rule->violates);
            assert_well_formed(rule, rule->holds);
        }
    }
}

/* The example as it lies in the tree, beside the ELF files that it names. */
static struct nocap_report *judge(const struct nocap_rule_info *rule, const char *which)
{
    struct nocap_report *report;
    struct nocap_error err;
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s.jsonl", EXAMPLES_DIR, rule->id, which);
    if (nocap_check(&report, path, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return report;
}

/* The one rule that no trace breaks alone: what does not fit the dispatch buffer does not fit the
 * prefetcher's either. */
static bool is_beside(enum nocap_rule rule, const struct nocap_report *report)
{
    return rule == CQ_042 && report->finding_count == 2 && report->findings[0].rule == CQ_003 &&
           report->findings[1].rule == CQ_042;
}

static void examples_violate_their_rule_alone(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (nocap_rules[i].violates[0] == '#') {
            continue;
        }
        struct nocap_report *report = judge(&nocap_rules[i], "fail");
        bool alone = report->finding_count == 1 && report->findings[0].rule == (enum nocap_rule)i;
        if ((!alone && !is_beside((enum nocap_rule)i, report)) ||
            report->rules[i].verdict != NOCAP_VIOLATED) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("the violating example of %s does not violate it alone", nocap_rules[i].id);
        }
        nocap_report_free(report);
    }
}

static void examples_that_hold_exercise_their_rule(void **state)
{
    (void)state;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        if (nocap_rules[i].holds[0] == '#') {
            continue;
        }
        struct nocap_report *report = judge(&nocap_rules[i], "pass");
        if (report->finding_count != 0 || report->rules[i].verdict != NOCAP_HELD) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("the correct example of %s does not hold it", nocap_rules[i].id);
        }
        nocap_report_free(report);
    }
}

/* ---- printed ---- */

static char *printed(enum nocap_status (*print)(FILE *, int, struct nocap_error *), int what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(print(out, what, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static enum nocap_status print_rules(FILE *out, int format, struct nocap_error *err)
{
    return nocap_rules_print(out, (enum nocap_rules_format)format, err);
}

static enum nocap_status explain(FILE *out, int rule, struct nocap_error *err)
{
    return nocap_rule_explain(out, (enum nocap_rule)rule, err);
}

static void the_rule_set_is_printed(void **state)
{
    (void)state;
    char *text = printed(print_rules, NOCAP_RULES_TEXT);
    char *json = printed(print_rules, NOCAP_RULES_JSON);
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        assert_contains(text, nocap_rules[i].sentence);
        assert_contains(json, nocap_rules[i].id);
    }
    assert_contains(text, "SYN: the subordinate sync word");
    assert_contains(json, "\"needs_any\":[\"host-mmio\",\"noc\"]");
    free(text);
    free(json);
}

static void a_rule_is_explained(void **state)
{
    (void)state;
    char *text = printed(explain, SYN_011);
    assert_contains(text, "SYN-011 (error, the subordinate sync word)");
    assert_contains(text, "    ... 62 more like it\n"); /* of 64 counters */
    assert_contains(text, "needs:  core-store and core-mmio\n");
    free(text);
    text = printed(explain, GO_011);
    assert_contains(text, "needs:  kernel, and host-mmio or noc\n");
    free(text);
    text = printed(explain, TRC_001);
    assert_contains(text, "needs:  nothing");
    free(text);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct nocap_error err;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) {
        skip(); /* no /dev/full here */
    }
    assert_int_equal(nocap_rules_print(full, NOCAP_RULES_JSON, &err), NOCAP_E_OUTPUT);
    assert_contains(err.text, "cannot write");
    fclose(full);
}

/* ---- which rules are judged ---- */

static size_t count_selected(const struct nocap_rule_report *rules)
{
    size_t count = 0;
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        count += rules[i].selected;
    }
    return count;
}

static void lists_of_rules_select(void **state)
{
    (void)state;
    struct nocap_rule_report rules[NOCAP_RULE_COUNT] = {{0}};
    assert_int_equal(nocap_selection_parse(rules, NULL, NULL), NOCAP_OK);
    assert_int_equal(count_selected(rules), NOCAP_RULE_COUNT);
    assert_int_equal(nocap_selection_parse(rules, "map,SYN-003,-MAP-004", NULL), NOCAP_OK);
    assert_int_equal(count_selected(rules), 15);
    assert_true(rules[SYN_003].selected && rules[MAP_001].selected && !rules[MAP_004].selected);
    assert_int_equal(nocap_selection_parse(rules, "-MAP-004,-TRC", NULL), NOCAP_OK);
    assert_int_equal(count_selected(rules), NOCAP_RULE_COUNT - 11);
    assert_int_equal(nocap_selection_parse(rules, "-GO-003,GO-*", NULL), NOCAP_OK);
    assert_int_equal(count_selected(rules), 25); /* excludes win, wherever they stand */
}

static void wrong_lists_of_rules_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", ",", "SYN-0O3", "-", "MAP,-NOPE", "SYN MAP", "-*"};
    struct nocap_rule_report rules[NOCAP_RULE_COUNT] = {{0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct nocap_error err = {""};
        assert_int_equal(nocap_selection_parse(rules, wrong[i], &err), NOCAP_E_USAGE);
        assert_contains(err.text, "list of rules");
    }
}

static void a_header_says_what_can_be_judged(void **state)
{
    (void)state;
    struct nocap_rule_report rules[NOCAP_RULE_COUNT] = {{0}};
    struct nocap_header header;
    char why[256];
    nocap_header_init(&header);
    nocap_selection_observe(rules, &header, false);
    assert_int_equal(rules[TRC_004].obstacle, NOCAP_OBSERVABLE);
    assert_int_equal(rules[MAP_001].obstacle, NOCAP_NO_OBSERVES);
    header.has_observes = true;
    header.observes = NOCAP_CLASS_HOST_MMIO;
    nocap_selection_observe(rules, &header, false);
    assert_int_equal(rules[MAP_001].obstacle, NOCAP_OBSERVABLE);
    assert_int_equal(rules[RST_008].obstacle, NOCAP_NO_IMAGE);
    assert_int_equal(rules[GO_011].obstacle, NOCAP_NO_CLASS);
    assert_int_equal(rules[GO_011].missing, NOCAP_CLASS_KERNEL);
    assert_int_equal(rules[GO_011].missing_any, 0);
    nocap_selection_why(why, sizeof why, &rules[SYN_013], header.arch);
    assert_string_equal(why, "the trace does not observe core-store, core-mmio and kernel");
    header.observes = 0;
    nocap_selection_observe(rules, &header, true);
    nocap_selection_why(why, sizeof why, &rules[GO_011], header.arch);
    assert_string_equal(why, "the trace does not observe kernel, nor host-mmio or noc");
    header.arch = NOCAP_ARCH_WORMHOLE;
    header.observes = UINT32_MAX;
    nocap_selection_observe(rules, &header, true);
    assert_int_equal(rules[TRC_004].obstacle, NOCAP_OBSERVABLE);
    assert_int_equal(rules[GO_003].obstacle, NOCAP_OTHER_ARCH);
    nocap_selection_why(why, sizeof why, &rules[GO_003], header.arch);
    assert_string_equal(why, "not a rule of wormhole");
    nocap_header_free(&header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_row),
        cmocka_unit_test(severities_are_those_of_the_rule_set),
        cmocka_unit_test(no_rule_follows_from_a_lesser_one),
        cmocka_unit_test(needs_are_those_of_the_rule_set),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(examples_are_traces),
        cmocka_unit_test(examples_violate_their_rule_alone),
        cmocka_unit_test(examples_that_hold_exercise_their_rule),
        cmocka_unit_test(the_rule_set_is_printed),
        cmocka_unit_test(a_rule_is_explained),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(lists_of_rules_select),
        cmocka_unit_test(wrong_lists_of_rules_are_refused),
        cmocka_unit_test(a_header_says_what_can_be_judged),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
