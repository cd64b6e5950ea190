/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of control code that wait: what the model says of them, and when that is a hang. Events that
 * name another place than they are of. */
#include "tests/cert_recording.h"

static void missing_tokens_and_polls_hang(void **state)
{
    (void)state;
    static const char text[] = "START_JOB 1\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\nEND_JOB\n"
                               "START_JOB 2\n POLL_32 0x2000, 5\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n"
                               "START_JOB 3\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n";
    struct nocap_aie_run_options options = seeded(0);
    options.silent_polls = options.silent_tokens = true;
    struct recording *r = record(text, &options);
    assert_int_equal(r->result.stuck, 3);
    struct verdict v = judge(r, true);
    assert_true(v.hung && v.count == 1 && v.rules[0] == AIE_066);
    assert_int_equal(v.wait_count, 3);
    assert_contains(v.what[0], "0 of 2 tokens");
    assert_int_equal(v.waits[0].by.agent, NOCAP_BY_NONE);
    assert_contains(v.what[1], "0x2000");
    assert_contains(v.what[2], "local barrier 0: 1 of 2 jobs arrived; missing job 2");
    assert_int_equal(v.waits[2].who.job, 3);
    assert_int_equal(v.waits[2].by.job, 2);
    forget(r);
    /* the array answers polls, but not tokens: nothing could start a task that sends them */
    options.silent_polls = options.silent_tokens = false;
    r = record(text, &options);
    assert_int_equal(r->result.stuck, 1);
    assert_int_equal(r->result.answers, 1);
    v = judge(r, true);
    assert_contains(v.what[0], "0 of 2 tokens");
    forget(r);
}

/* Control packets may start a task that the code does not show. */
static void tokens_of_unseen_tasks_come(void **state)
{
    (void)state;
    static const char text[] = ".setpad p, 4\nSTART_JOB 1\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\n"
                               "END_JOB\nEOF\n";
    struct nocap_aie_run_options options = seeded(0);
    struct recording *r = record(text, &options);
    assert_int_equal(r->result.stuck, 0);
    assert_int_equal(r->result.answers, 2);
    assert_clean(r, 0);
    forget(r);
    options.silent_tokens = true;
    r = record(text, &options);
    assert_int_equal(r->result.stuck, 1);
    forget(r);
}

static void more_tokens_than_tasks_send_are_told(void **state)
{
    (void)state;
    struct nocap_aie_run_options options = seeded(0);
    options.silent_polls = options.silent_tokens = true;
    struct recording *r = record("START_JOB 1\n WRITE_32 0x001A0634, 0x80010000\n"
                                 " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n"
                                 " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\nEND_JOB\nEOF\n",
                                 &options);
    struct verdict v = judge(r, true);
    assert_int_equal(v.wait_count, 1);
    assert_string_equal(v.what[0], "TILE_0_1 MEM_MM2S_0: 1 of 2 tokens arrived; tasks for 2 in "
                                   "all were started, the waits ask for 3");
    forget(r);
}

static void a_deadlock_needs_no_patience(void **state)
{
    (void)state;
    struct nocap_aie_run_options options = seeded(0);
    struct recording *r =
        record(".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n"
               ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb1, 3\nEND_JOB\nEOF\n",
               &options);
    assert_int_equal(r->result.stuck, 2);
    r->count--; /* without the note long after */
    struct verdict v = judge(r, true);
    assert_true(v.hung && v.count == 1 && v.rules[0] == AIE_066);
    assert_int_equal(v.waits[0].by.agent, NOCAP_BY_UC0 + 1);
    assert_int_equal(v.waits[1].by.agent, NOCAP_BY_UC0);
    v = judge(r, false); /* there may be jobs that were not seen */
    assert_false(v.hung);
    forget(r);
}

static void a_trace_that_ends_in_the_middle_is_no_hang(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct nocap_aie_run_options options = seeded(seed);
        struct recording *r = record(seed % 2 == 0 ? busy : pages, &options);
        size_t whole = r->count;
        for (r->count = 1; r->count < whole; r->count += 1 + seed % 3) {
            struct verdict v = judge(r, true);
            if (v.hung || v.count != 0) {
                fail_msg("seed %llu, %zu events: %s", (unsigned long long)seed, r->count, v.text);
            }
        }
        forget(r);
    }
}

/* An event of an instruction names another job, or another offset. */
static void an_event_of_another_place_is_one_finding(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct nocap_aie_run_options options = seeded(seed / 2);
        struct recording *r = record(busy, &options);
        for (size_t i = 0; i < r->count; i++) {
            struct nocap_event *e = &r->events[i];
            const struct nocap_event right = *e;
            if (e->kind != NOCAP_EV_CERT || (e->has & NOCAP_F_OFF) == 0 ||
                e->op == NOCAP_OP_JOB_END || e->op == NOCAP_OP_EOF) {
                continue;
            }
            for (unsigned way = 0; way < 4; way++) {
                static const int64_t other[] = {4, -16};
                e->job = way < 2 ? (way == 0 ? 77 : e->job == 1 ? 2 : 1) : e->job;
                e->off = way < 2 ? e->off : (uint64_t)((int64_t)e->off + other[way - 2]);
                struct verdict v = judge(r, seed % 2 == 0);
                if (v.count != 1 || v.rules[0] != AIE_069) {
                    fail_msg("seed %llu, %s of offset %u in job %u, way %u: %zu findings; %s",
                             (unsigned long long)seed, nocap_op_name(e->op), (unsigned)right.off,
                             (unsigned)right.job, way, v.count, v.text);
                }
                *e = right;
            }
        }
        forget(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_tokens_and_polls_hang),
        cmocka_unit_test(tokens_of_unseen_tasks_come),
        cmocka_unit_test(more_tokens_than_tasks_send_are_told),
        cmocka_unit_test(a_deadlock_needs_no_patience),
        cmocka_unit_test(a_trace_that_ends_in_the_middle_is_no_hang),
        cmocka_unit_test(an_event_of_another_place_is_one_finding),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
