/* SPDX-License-Identifier: Apache-2.0 */
/* More requests than a core waits for one by one: what ends them, and what is not judged where the
 * model does not remember all of them, or has not seen all. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"

#define TRACE   "under_way.jsonl"
#define OBSERVE "\"observes\":[\"noc\",\"noc-barrier\",\"core-store\",\"core-load\",\"core-mmio\"]"
#define AT_12   "\"x\":1,\"y\":2,\"by\":\"brisc\""

static FILE *begin(const char *header)
{
    FILE *f = fopen(TRACE, "w");
    assert_non_null(f);
    fprintf(f, "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",%s}\n", header);
    return f;
}

/* Exactly one finding, of `rule`; NULL: none. */
static void finds(FILE *f, const char *rule)
{
    struct nocap_report *report;
    struct nocap_error err;
    assert_int_equal(fclose(f), 0);
    if (nocap_check(&report, TRACE, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    bool right = report->finding_count == (rule != NULL) &&
                 (rule == NULL || strcmp(nocap_rules[report->findings[0].rule].id, rule) == 0);
    if (!right) {
        (void)nocap_report_text(stderr, report, false, true, NULL);
        fail_msg("expected %s", rule != NULL ? rule : "no finding");
    }
    nocap_report_free(report);
}

/* Reads with transaction id `id`, numbered from `first` on. */
static void reads(FILE *f, unsigned first, unsigned count, unsigned id)
{
    for (unsigned i = first; i < first + count; i++) {
        fprintf(f,
                "{\"t\":%u,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"read\",\"trid\":%u,"
                "\"id\":%u,\"sx\":2,\"sy\":2,\"saddr\":\"0x80000\",\"dx\":1,\"dy\":2,"
                "\"daddr\":\"0x%x\",\"size\":64}\n",
                i, id, i, 0x40000 + 64 * i);
    }
}

static void read_is_over(FILE *f, unsigned t, unsigned id)
{
    fprintf(f,
            "{\"t\":%u,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"read\",\"phase\":\"done\","
            "\"id\":%u}\n",
            t, id);
}

/* brisc's load or store of a register. */
static void touch(FILE *f, unsigned t, const char *kind, unsigned addr, unsigned value)
{
    fprintf(f,
            "{\"t\":%u,\"ev\":\"%s\"," AT_12 ",\"addr\":\"0x%x\",\"size\":4,\"value\":\"0x%x\"}\n",
            t, kind, addr, value);
}

enum { COUNT = 200 };
#define CLEAR_IDS 0xffb20060
#define ANSWERED  0xffb20208
#define OF_ID_0   0xffb20240

static void more_than_255_requests_with_one_id(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    reads(f, 10, COUNT, 1);
    reads(f, 10 + COUNT, COUNT, 1);
    finds(f, "NOC-027");
}

static void requests_without_an_id_are_not_counted(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    reads(f, 10, 2 * COUNT, 0);
    finds(f, NULL);
}

static void posted_requests_are_not_counted(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    for (unsigned i = 0; i < 2 * COUNT; i++) {
        fprintf(f,
                "{\"t\":%u,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"inline\",\"trid\":1,"
                "\"posted\":true,\"dx\":2,\"dy\":2,\"daddr\":\"0xffb70438\",\"size\":4,"
                "\"value\":\"0x1\"}\n",
                10 + i);
    }
    finds(f, NULL);
}

static void ends_are_not_shown(void **state)
{
    (void)state;
    FILE *f = begin("\"observes\":[\"noc\"]");
    reads(f, 10, 2 * COUNT, 1);
    finds(f, NULL);
}

static void a_store_clears_the_count_of_an_id(void **state)
{
    (void)state;
    static const char *const expected[] = {"NOC-027", NULL};
    for (unsigned id = 0; id < 2; id++) {
        FILE *f = begin(OBSERVE);
        reads(f, 10, COUNT, 1);
        touch(f, 10 + COUNT, "write", CLEAR_IDS, 1u << id);
        reads(f, 11 + COUNT, COUNT, 1);
        finds(f, expected[id]);
    }
}

static void a_load_of_the_count_of_an_id_is_its_end(void **state)
{
    (void)state;
    static const char *const expected[] = {"NOC-027", NULL};
    for (unsigned id = 0; id < 2; id++) {
        FILE *f = begin(OBSERVE);
        reads(f, 10, COUNT, 1);
        touch(f, 10 + COUNT, "read", OF_ID_0 + 4 * id, 0);
        reads(f, 11 + COUNT, COUNT, 1);
        finds(f, expected[id]);
    }
}

static void a_load_of_the_count_of_answers_is_the_end_of_all(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    reads(f, 10, COUNT, 1);
    touch(f, 10 + COUNT, "read", ANSWERED, COUNT);
    reads(f, 11 + COUNT, COUNT, 1);
    finds(f, NULL);
}

static void a_barrier_is_the_end_of_all(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    reads(f, 10, COUNT, 1);
    fprintf(f, "{\"t\":%u,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"read\",\"phase\":\"done\"}\n",
            10 + COUNT);
    reads(f, 11 + COUNT, COUNT, 1);
    finds(f, NULL);
}

static void each_end_counts(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    for (unsigned i = 0; i < 2 * COUNT; i++) {
        reads(f, 10 + i, 1, 1);
        read_is_over(f, 10 + i, 10 + i);
    }
    finds(f, NULL);
}

/* The oldest of them are not remembered one by one. */
static void ends_count_in_any_order(void **state)
{
    (void)state;
    FILE *f = begin(OBSERVE);
    reads(f, 10, COUNT, 1);
    for (unsigned i = 0; i < COUNT; i++) {
        read_is_over(f, 10 + COUNT, 10 + i);
    }
    reads(f, 11 + COUNT, COUNT, 1);
    finds(f, NULL);
}

/* ---- what arrives ---- */

enum { LONG_AFTER = 20000, REMEMBERED = 64 };

/* A write of 4 bytes to (2,2) that source `src` tells. */
static void writes(FILE *f, unsigned t, unsigned addr, unsigned src)
{
    fprintf(f,
            "{\"t\":%u,\"src\":%u,\"ev\":\"noc\"," AT_12
            ",\"noc\":0,\"op\":\"write\",\"id\":%u,\"sx\":1,"
            "\"sy\":2,\"saddr\":\"0x%x\",\"dx\":2,\"dy\":2,\"daddr\":\"0x%x\",\"size\":4,"
            "\"data\":\"01020304\"}\n",
            t, src, t, addr, addr);
}

static void lands(FILE *f, unsigned t, unsigned addr, unsigned src)
{
    fprintf(
        f,
        "{\"t\":%u,\"src\":%u,\"ev\":\"write\",\"by\":\"noc\",\"x\":2,\"y\":2,\"addr\":\"0x%x\","
        "\"size\":4,\"data\":\"01020304\",\"from\":[1,2]}\n",
        t, src, addr);
}

#define FROM_POWER_ON "\"complete\":true,\"observes\":[\"noc\"]"

static void what_nobody_asked_for_arrives(void **state)
{
    (void)state;
    FILE *f = begin(FROM_POWER_ON);
    writes(f, 10, 0x38000, 0);
    lands(f, 20, 0x39000, 0);
    finds(f, "NOC-047");
}

static void requests_of_before_the_trace_arrive_soon(void **state)
{
    (void)state;
    static const char *const expected[] = {NULL, "NOC-047"};
    for (unsigned late = 0; late < 2; late++) {
        FILE *f = begin("\"observes\":[\"noc\"]");
        writes(f, LONG_AFTER, 0x38000, 0);
        lands(f, LONG_AFTER + 20 + late * LONG_AFTER, 0x39000, 0);
        finds(f, expected[late]);
    }
}

static void requests_among_lost_events_arrive(void **state)
{
    (void)state;
    FILE *f = begin(FROM_POWER_ON);
    fprintf(f, "{\"t\":5,\"ev\":\"drop\",\"count\":3}\n");
    writes(f, LONG_AFTER, 0x38000, 0);
    lands(f, LONG_AFTER + 20, 0x39000, 0);
    finds(f, "TRC-003");
}

static void sources_that_tell_of_one_tile_have_no_order(void **state)
{
    (void)state;
    FILE *f = begin(FROM_POWER_ON);
    writes(f, 10, 0x38000, 0);
    writes(f, 11, 0x38010, 1);
    writes(f, 12, 0x38020, 0);
    lands(f, 20, 0x39000, 0);
    finds(f, NULL);
}

static void another_source_tells_what_arrives(void **state)
{
    (void)state;
    static const char *const expected[] = {NULL, "NOC-047"};
    for (unsigned src = 0; src < 2; src++) {
        FILE *f = begin(FROM_POWER_ON);
        writes(f, 10, 0x38000, src);
        lands(f, 20, 0x39000, 1);
        finds(f, expected[src]);
    }
}

/* The oldest of more requests than the model remembers may still arrive, if they have not yet. */
static void requests_that_were_forgotten_arrive_soon(void **state)
{
    (void)state;
    for (unsigned arrived = 0; arrived < 2; arrived++) {
        for (unsigned late = 0; late < 2; late++) {
            FILE *f = begin(FROM_POWER_ON);
            for (unsigned i = 0; i <= REMEMBERED; i++) {
                writes(f, LONG_AFTER, 0x38000 + 16 * i, 0);
                if (arrived) {
                    lands(f, LONG_AFTER, 0x38000 + 16 * i, 0);
                }
            }
            lands(f, LONG_AFTER + 20 + late * LONG_AFTER, 0x38000, 0);
            finds(f, arrived || late ? "NOC-047" : NULL);
        }
    }
}

/* Where 64 requests have not arrived, arrivals are not shown: what further ones bring is not kept.
 */
static void what_comes_before_the_first_arrival_is_not_compared(void **state)
{
    (void)state;
    for (unsigned further = 0; further < 2; further++) {
        FILE *f = begin(FROM_POWER_ON);
        for (unsigned i = 0; i < REMEMBERED + further; i++) {
            writes(f, 10, 0x38000 + 16 * i, 0);
        }
        unsigned last = 0x38000 + 16 * (REMEMBERED - 1 + further);
        fprintf(f,
                "{\"t\":%u,\"ev\":\"write\",\"by\":\"noc\",\"x\":2,\"y\":2,\"addr\":\"0x%x\","
                "\"size\":4,\"data\":\"0102ff04\",\"from\":[1,2]}\n",
                LONG_AFTER, last);
        finds(f, further ? NULL : "NOC-047");
    }
}

static void a_rectangle_around_the_edge_may_arrive_anywhere(void **state)
{
    (void)state;
    FILE *f = begin(FROM_POWER_ON);
    fprintf(f, "{\"t\":10,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"write\",\"mcast\":true,"
               "\"sx\":1,\"sy\":2,\"saddr\":\"0x38000\",\"dx\":10,\"dy\":2,\"dx2\":2,\"dy2\":2,"
               "\"daddr\":\"0x38000\",\"size\":4,\"data\":\"01020304\"}\n");
    lands(f, 20, 0x38000, 0);
    finds(f, NULL);
}

static void a_request_to_an_unknown_place_may_arrive_anywhere(void **state)
{
    (void)state;
    static const char *const known[] = {
        "\"daddr\":\"0x38000\",\"size\":4",
        "\"dx\":2,\"dy\":2,\"size\":4",
        "\"dx\":2,\"dy\":2,\"daddr\":\"0x38000\"",
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        FILE *f = begin(FROM_POWER_ON);
        fprintf(f,
                "{\"t\":10,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"write\",\"sx\":1,\"sy\":2,"
                "\"saddr\":\"0x38000\",%s}\n",
                known[i]);
        lands(f, 20, 0x38000, 0);
        finds(f, NULL);
    }
}

static void who_sent_it_is_not_in_scope(void **state)
{
    (void)state;
    FILE *f = begin(FROM_POWER_ON ",\"scope\":[[2,2]]");
    writes(f, 10, 0x38000, 0);
    lands(f, 20, 0x39000, 0);
    finds(f, NULL);
}

static void an_end_is_not_judged_where_sources_have_no_order(void **state)
{
    (void)state;
    static const char *const expected[] = {"NOC-047", NULL};
    for (unsigned src = 0; src < 2; src++) {
        FILE *f = begin(FROM_POWER_ON);
        writes(f, 10, 0x38000, 0);
        lands(f, 11, 0x38000, 0);
        writes(f, 12, 0x38010, src);
        fprintf(f,
                "{\"t\":30,\"src\":%u,\"ev\":\"noc\"," AT_12 ",\"noc\":0,\"op\":\"write\","
                "\"phase\":\"done\",\"id\":12}\n",
                src);
        finds(f, expected[src]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_255_requests_with_one_id),
        cmocka_unit_test(requests_without_an_id_are_not_counted),
        cmocka_unit_test(posted_requests_are_not_counted),
        cmocka_unit_test(ends_are_not_shown),
        cmocka_unit_test(a_store_clears_the_count_of_an_id),
        cmocka_unit_test(a_load_of_the_count_of_an_id_is_its_end),
        cmocka_unit_test(a_load_of_the_count_of_answers_is_the_end_of_all),
        cmocka_unit_test(a_barrier_is_the_end_of_all),
        cmocka_unit_test(each_end_counts),
        cmocka_unit_test(ends_count_in_any_order),
        cmocka_unit_test(what_nobody_asked_for_arrives),
        cmocka_unit_test(requests_of_before_the_trace_arrive_soon),
        cmocka_unit_test(requests_among_lost_events_arrive),
        cmocka_unit_test(sources_that_tell_of_one_tile_have_no_order),
        cmocka_unit_test(another_source_tells_what_arrives),
        cmocka_unit_test(requests_that_were_forgotten_arrive_soon),
        cmocka_unit_test(what_comes_before_the_first_arrival_is_not_compared),
        cmocka_unit_test(a_rectangle_around_the_edge_may_arrive_anywhere),
        cmocka_unit_test(a_request_to_an_unknown_place_may_arrive_anywhere),
        cmocka_unit_test(who_sent_it_is_not_in_scope),
        cmocka_unit_test(an_end_is_not_judged_where_sources_have_no_order),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
