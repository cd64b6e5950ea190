/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of traces: what each kind of agent did, in its own order. */
#include "tests/small_trace.h"
#include "tests/temp_dir.h"

#include "checker/compare/diff.h"
#include "checker/golden/digest.h"

static uint64_t digest_of(const char *events, enum nocap_stream_kind kind)
{
    struct nocap_digest digest;
    char text[4096];
    snprintf(text, sizeof text, "%s%s", header, events);
    write_text("digest.jsonl", text);
    assert_int_equal(nocap_digest(&digest, "digest.jsonl", false, NULL, NULL), NOCAP_OK);
    return digest.kind[kind];
}

static void each_kind_of_agent_has_its_digest(void **state)
{
    (void)state;
    static const char push[] = "{\"t\":1,\"ev\":\"tensix\",\"op\":\"push\",\"x\":1,\"y\":2,"
                               "\"thread\":1,\"word\":\"0xa3100008\",\"by\":\"trisc1\"}\n";
    static const char stall[] = "{\"t\":1,\"ev\":\"tensix\",\"op\":\"stall\",\"x\":1,\"y\":2,"
                                "\"thread\":1,\"word\":\"0xa3100008\"}\n";
    static const char landing[] = "{\"t\":1,\"ev\":\"write\",\"by\":\"noc\",\"x\":1,\"y\":2,"
                                  "\"addr\":\"0x37000\",\"size\":4,\"from\":[2,2]}\n";
    assert_int_equal(digest_of(base, NOCAP_STREAM_TENSIX), 0);
    assert_int_not_equal(digest_of(base, NOCAP_STREAM_HOST), 0);
    assert_int_not_equal(digest_of(base, NOCAP_STREAM_CORE), 0);
    assert_int_not_equal(digest_of(push, NOCAP_STREAM_TENSIX), 0);
    assert_int_equal(digest_of(push, NOCAP_STREAM_HOST), 0);
    assert_int_equal(digest_of(stall, NOCAP_STREAM_TENSIX), 0);
    assert_int_not_equal(digest_of(landing, NOCAP_STREAM_NOC), 0);
    assert_int_not_equal(digest_of(WRITE(1, host, 0x37000, 0x0), NOCAP_STREAM_HOST),
                         digest_of(WRITE(1, host, 0x37000, 0x1), NOCAP_STREAM_HOST));
    assert_int_not_equal(
        digest_of(WRITE(1, host, 0x37000, 0x1) WRITE(2, host, 0x37004, 0x1), NOCAP_STREAM_HOST),
        digest_of(WRITE(1, host, 0x37004, 0x1) WRITE(2, host, 0x37000, 0x1), NOCAP_STREAM_HOST));
}

static void many_agents_have_streams(void **state)
{
    (void)state;
    enum { AGENTS = 500 };
    struct nocap_digest digest, other;
    struct nocap_diff *diff;
    struct nocap_error err;
    FILE *file = fopen("many.jsonl", "w"), *reverse = fopen("reverse.jsonl", "w");
    assert_non_null(file);
    assert_non_null(reverse);
    fputs(header, file);
    fputs(header, reverse);
    for (int i = 0; i < AGENTS; i++) {
        static const char format[] = "{\"t\":1,\"ev\":\"write\",\"src\":%d,\"by\":\"host\",\"x\":1,"
                                     "\"y\":2,\"addr\":\"0x37000\",\"size\":4,\"value\":\"0x1\"}\n";
        fprintf(file, format, i);
        fprintf(reverse, format, AGENTS - 1 - i);
    }
    fclose(file);
    fclose(reverse);
    assert_int_equal(nocap_digest(&digest, "many.jsonl", false, NULL, &err), NOCAP_OK);
    assert_int_equal(nocap_digest(&other, "reverse.jsonl", false, NULL, &err), NOCAP_OK);
    assert_int_equal(digest.total, other.total);
    write_text("one.jsonl", header);
    assert_int_equal(nocap_diff(&diff, "many.jsonl", "one.jsonl", NULL, &err), NOCAP_OK);
    assert_int_equal(diff->count, AGENTS);
    nocap_diff_free(diff);
    assert_int_equal(nocap_digest(&digest, "none.jsonl", false, NULL, &err), NOCAP_E_INPUT);
}

/* The same programs on real firmware, with every core stalled at random: other interleavings, which
 * say the same. */
static void jitter_does_not_count(void **state)
{
    (void)state;
    static const char *const names[] = {"boot-grid-seed01", "noop-all",    "spin-all-seed01",
                                        "noop-x12",         "hang-trisc1", "sem-handshake"};
    struct nocap_error err;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[2][512];
        for (int k = 0; k < 2; k++) {
            const char *seed = strstr(names[i], "-seed01");
            int stem = (int)(seed != NULL ? (size_t)(seed - names[i]) : strlen(names[i]));
            snprintf(path[k], sizeof path[k], GOLDEN_DIR "/firmware-%.*s%s.nocap",
                     k == 0 ? (int)strlen(names[i]) : stem, names[i], k == 0 ? "" : "-seed02");
        }
        struct nocap_diff *diff;
        assert_int_equal(nocap_diff(&diff, path[0], path[1], NULL, &err), NOCAP_OK);
        if (diff->count != 0) {
            nocap_diff_text(stdout, diff, false, 0, NULL);
        }
        assert_int_equal(diff->count, 0);
        nocap_diff_free(diff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_agent_has_its_digest),
        cmocka_unit_test(many_agents_have_streams),
        cmocka_unit_test(jitter_does_not_count),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
