/* SPDX-License-Identifier: Apache-2.0 */
/* Waivers: what a line waives, what is refused and how it is reported, and when a waiver has had
 * its day. */
#include "tests/temp_dir.h"

#include "checker/report/waivers.h"

enum { DAY = 86400 };
static const int64_t year_2025 = INT64_C(20089) * DAY; /* 2025-01-01 */

static struct nocap_waivers *open_text(const char *text, int64_t now)
{
    struct nocap_waivers *waivers;
    struct nocap_error err;
    write_text("waivers.txt", text);
    if (nocap_waivers_open(&waivers, "waivers.txt", now, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return waivers;
}

static struct nocap_divergence at_tile(enum nocap_rule rule, uint8_t x, uint8_t y, uint8_t agent,
                                       uint64_t index)
{
    return (struct nocap_divergence){
        .rule = rule, .index = index, .has_tile = true, .at = {x, y}, .agent = agent, .thread = -1};
}

static bool waives(struct nocap_waivers *waivers, struct nocap_divergence divergence)
{
    return nocap_waivers_match(waivers, "out/run.nocap", &divergence) != NULL;
}

static void a_line_waives_what_it_says(void **state)
{
    (void)state;
    struct nocap_waivers *w = open_text("# known\n"
                                        "\n"
                                        "SYN-008 1,2 trisc1 index 90..120 -- firmware 1.2\r\n"
                                        "  go-* -- all of them\n"
                                        "MAP-001 3,4 -- a probe reads there",
                                        year_2025);
    assert_true(waives(w, at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC1, 90)));
    assert_true(waives(w, at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC1, 120)));
    assert_false(waives(w, at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC1, 121)));
    assert_false(waives(w, at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC2, 100)));
    assert_false(waives(w, at_tile(SYN_008, 2, 2, NOCAP_BY_TRISC1, 100)));
    assert_false(waives(w, at_tile(SYN_009, 1, 2, NOCAP_BY_TRISC1, 100)));
    assert_true(waives(w, at_tile(GO_020, 9, 9, NOCAP_BY_BRISC, 5)));
    struct nocap_divergence nowhere = {.rule = MAP_001, .at = {3, 4}, .has_tile = false};
    assert_false(waives(w, nowhere));
    nocap_waivers_close(w);
}

static void wrong_lines_are_told_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told;
    } rows[] = {
        {"SYN-8 -- x\n", "waivers.txt:1: 'SYN-8' is no rule"},
        {"# a\n\nSYM-* -- x\n", "waivers.txt:3: 'SYM-*' is no rule"},
        {"* -- x\n", "'*' is no rule"},
        {"SYN-008\n", "the reason is missing"},
        {"SYN-008 --\n", "the reason is missing"},
        {"SYN-008 -- until 2025-01-01\n", "the reason is missing"},
        {"SYN-008 1;2 -- x\n", "'1;2' is no core X,Y"},
        {"SYN-008 1,256 -- x\n", "'1,256' is no core X,Y"},
        {"SYN-008 1,2,3 -- x\n", "'1,2,3' is no core X,Y"},
        {"SYN-008 core7 -- x\n", "'core7' is no core X,Y, no RISC"},
        {"SYN-008 index -- x\n", "a range A..B"},
        {"SYN-008 index\n", "a range A..B"},
        {"SYN-008 index 5 -- x\n", "a range A..B"},
        {"SYN-008 index 9..5 -- x\n", "a range A..B"},
        {"SYN-008 index 0..99999999999999999999 -- x\n", "a range A..B"},
        {"SYN-008 trace: -- x\n", "after 'trace:' must be a pattern"},
        {"SYN-008 trace:a trace:b -- x\n", "a waiver has one trace:"},
        {"SYN-008 -- x until 2025-02-30\n", "'2025-02-30' is no date"},
        {"SYN-008 -- x until tomorrow\n", "'tomorrow' is no date"},
        {"SYN-008 -- x until 2025-1-1\n", "'2025-1-1' is no date"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_waivers *waivers;
        struct nocap_error err = {""};
        write_text("waivers.txt", rows[i].text);
        assert_int_equal(nocap_waivers_open(&waivers, "waivers.txt", year_2025, &err),
                         NOCAP_E_INPUT);
        assert_null(waivers);
        assert_contains(err.text, rows[i].told);
        assert_contains(err.text, "waivers.txt:");
    }
}

static void untrusted_bytes_are_refused(void **state)
{
    (void)state;
    struct nocap_waivers *waivers;
    struct nocap_error err;
    char *line = malloc(5000);
    assert_non_null(line);
    memset(line, 'x', 5000);
    memcpy(line, "SYN-008 -- ", 11);
    write_bytes("waivers.txt", line, 5000);
    free(line);
    assert_int_equal(nocap_waivers_open(&waivers, "waivers.txt", 0, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "waivers.txt:1: the line is longer");
    write_bytes("waivers.txt", "SYN-0\0 08 -- x\nSYN-008 -- y\n", 28);
    assert_int_equal(nocap_waivers_open(&waivers, "waivers.txt", 0, &err), NOCAP_E_INPUT);
    assert_int_equal(nocap_waivers_open(&waivers, "none.txt", 0, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "cannot open the waivers none.txt");
    assert_int_equal(nocap_waivers_open(&waivers, ".", 0, &err), NOCAP_E_INPUT);
    nocap_waivers_close(NULL);
}

static void too_many_waivers_are_refused(void **state)
{
    (void)state;
    struct nocap_waivers *waivers;
    struct nocap_error err;
    FILE *file = fopen("waivers.txt", "w");
    assert_non_null(file);
    for (int i = 0; i < 5000; i++) {
        fputs("SYN-008 -- x\n", file);
    }
    fclose(file);
    assert_int_equal(nocap_waivers_open(&waivers, "waivers.txt", 0, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "waivers.txt:4097: more than 4096 waivers");
}

/* ---- notes ---- */

static char noted[4096];

static enum nocap_status note(void *context, const char *id, const char *text,
                              struct nocap_error *err)
{
    (void)context;
    (void)err;
    strcat(noted, id);
    strcat(noted, " ");
    strcat(noted, text);
    strcat(noted, "\n");
    return NOCAP_OK;
}

static void note_all(struct nocap_waivers *waivers, const bool *judged)
{
    noted[0] = 0;
    nocap_waivers_judged(waivers, "out/run.nocap", judged);
    assert_int_equal(nocap_waivers_notes(waivers, note, NULL, NULL), NOCAP_OK);
}

static void an_expired_waiver_no_longer_applies(void **state)
{
    (void)state;
    const char text[] = "SYN-008 -- fixed soon until 2025-01-01\n";
    struct nocap_divergence divergence = at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC1, 1);
    bool judged[NOCAP_RULE_COUNT] = {false};
    struct nocap_waivers *w = open_text(text, year_2025 + DAY - 1);
    assert_true(waives(w, divergence));
    note_all(w, judged);
    assert_string_equal(noted, "");
    nocap_waivers_close(w);
    w = open_text(text, year_2025 + DAY);
    assert_false(waives(w, divergence));
    note_all(w, judged);
    assert_contains(noted,
                    "waiver-expired waivers.txt:1: the waiver of SYN-008 ended on 2025-01-01");
    nocap_waivers_close(w);
}

static void an_unused_waiver_is_noted_if_its_rules_were_judged(void **state)
{
    (void)state;
    bool judged[NOCAP_RULE_COUNT] = {false};
    struct nocap_waivers *w = open_text("SYN-008 -- a\nSYN-* -- b\nGO-003 -- c\n", year_2025);
    judged[SYN_008] = judged[GO_003] = true;
    assert_true(waives(w, at_tile(GO_003, 1, 2, NOCAP_BY_HOST, 1)));
    note_all(w, judged);
    assert_string_equal(
        noted, "waiver-unused waivers.txt:1: the waiver of SYN-008 waived nothing: remove it\n");
    for (int i = 0; i < NOCAP_RULE_COUNT; i++) {
        judged[i] = true;
    }
    note_all(w, judged);
    assert_contains(noted, "waivers.txt:2: the waiver of SYN-* waived nothing");
    assert_null(strstr(noted, "GO-003"));
    nocap_waivers_close(w);
}

static struct nocap_divergence syn_008(void)
{
    return at_tile(SYN_008, 1, 2, NOCAP_BY_TRISC1, 1);
}

static void a_waiver_may_name_traces(void **state)
{
    (void)state;
    const struct nocap_divergence d = syn_008();
    struct nocap_waivers *w = open_text("SYN-008 trace:boot-*.nocap -- a\n"
                                        "SYN-008 1,2 trace:*/nightly/* trisc1 -- b\n",
                                        year_2025);
    assert_string_equal(nocap_waivers_match(w, "boot-p100.nocap", &d), "a");
    assert_string_equal(nocap_waivers_match(w, "out/boot-p150.nocap", &d), "a");
    assert_string_equal(nocap_waivers_match(w, "out/nightly/launch.nocap", &d), "b");
    assert_null(nocap_waivers_match(w, "boot-p100/launch.nocap", &d));
    assert_null(nocap_waivers_match(w, "nightly.nocap", &d));
    nocap_waivers_close(w);
}

static void what_one_trace_uses_is_used(void **state)
{
    (void)state;
    const struct nocap_divergence d = syn_008();
    bool judged[NOCAP_RULE_COUNT] = {[SYN_008] = true};
    struct nocap_waivers *w = open_text(
        "SYN-008 trace:a* -- a\nSYN-008 trace:b* -- b\nSYN-008 trace:c* -- c\n", year_2025);
    assert_non_null(nocap_waivers_match(w, "a1", &d));
    nocap_waivers_judged(w, "a1", judged);
    nocap_waivers_judged(w, "a2", judged);
    nocap_waivers_judged(w, "b1", judged);
    noted[0] = 0;
    assert_int_equal(nocap_waivers_notes(w, note, NULL, NULL), NOCAP_OK);
    assert_string_equal(
        noted, "waiver-unused waivers.txt:2: the waiver of SYN-008 waived nothing: remove it\n");
    nocap_waivers_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_waives_what_it_says),
        cmocka_unit_test(wrong_lines_are_told_with_their_place),
        cmocka_unit_test(untrusted_bytes_are_refused),
        cmocka_unit_test(too_many_waivers_are_refused),
        cmocka_unit_test(an_expired_waiver_no_longer_applies),
        cmocka_unit_test(an_unused_waiver_is_noted_if_its_rules_were_judged),
        cmocka_unit_test(a_waiver_may_name_traces),
        cmocka_unit_test(what_one_trace_uses_is_used),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
