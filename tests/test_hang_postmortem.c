/* SPDX-License-Identifier: Apache-2.0 */
/* Post-mortem of AIE control code without a trace: what texts tell, and what follows from it. */
#include "tests/postmortem_text.h"

#include "checker/hang/hang.h"
#include "formats/aie/asm.h"

/* ---- what follows ---- */

static struct nocap_hang *hang_of(const char *source)
{
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    struct nocap_error err = {""};
    struct nocap_hang *hang;
    uint8_t *elf;
    size_t size;
    assert_int_equal(
        nocap_aie_assemble_text(&elf, &size, source, strlen(source), "t.asm", &options, &err),
        NOCAP_OK);
    write_bytes("t.elf", elf, size);
    free(elf);
    if (nocap_hang_postmortem(&hang, "t.elf", NULL, &postmortem, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return hang;
}

static void assert_wait(const struct nocap_hang *h, uint32_t uc, int32_t job, uint32_t off,
                        const char *what, const char *by)
{
    char name[64];
    for (size_t i = 0; i < h->wait_count; i++) {
        const struct nocap_wait *w = &h->waits[i].wait;
        if (w->who.agent == NOCAP_BY_UC0 + uc && w->who.job == job) {
            assert_string_equal(w->what, what);
            assert_int_equal(w->off, off);
            assert_string_equal(
                w->by.agent == NOCAP_BY_NONE ? "" : nocap_party_name(&w->by, name, sizeof name),
                by);
            return;
        }
    }
    fail_msg("uc%u job %d does not wait", uc, job);
}

static void place(const char *text)
{
    assert_int_equal(nocap_aie_postmortem_add(&postmortem, text, NULL), NOCAP_OK);
}

static const char three[] = "START_JOB 1\n LOCAL_BARRIER $lb0, 3\n NOP\nEND_JOB\n"
                            "START_JOB 2\n LOCAL_BARRIER $lb0, 3\nEND_JOB\n"
                            "START_JOB 3\n WAIT_TCTS TILE_0_1, MEM_S2MM_0, 2\n"
                            " LOCAL_BARRIER $lb0, 3\nEND_JOB\nEOF\n";

static void one_job_that_stands_holds_others(void **state)
{
    (void)state;
    place("0:0:60"); /* WAIT_TCTS of job 3 */
    struct nocap_hang *h = hang_of(three);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(h->wait_count, 3);
    assert_wait(h, 0, 1, 24, "local barrier 0: 2 of 3 jobs can have arrived, missing job 3",
                "uc0/job3");
    assert_wait(h, 0, 2, 44, "local barrier 0: 2 of 3 jobs can have arrived, missing job 3",
                "uc0/job3");
    assert_wait(h, 0, 3, 60, "2 tokens of TILE_0_1 MEM_S2MM_0", "");
    nocap_hang_free(h);
}

static void who_may_be_late_is_named(void **state)
{
    (void)state;
    place("0:0:24"); /* the barrier of job 1 */
    struct nocap_hang *h = hang_of(three);
    assert_int_equal(h->wait_count, 1);
    assert_wait(
        h, 0, 1, 24,
        "local barrier 0: 3 of 3 jobs can have arrived; one that may be blocked earlier is job 3 "
        "(WAIT_TCTS at offset 60)",
        "uc0/job3");
    nocap_hang_free(h);
}

static void the_list_of_the_firmware_is_believed(void **state)
{
    (void)state;
    assert_int_equal(read_text("page_idx: 0\n unfinished jobs:\n job: 1 state: 2 pc: 0x1c\n"
                               " job: 3 state: 2 pc: 0x3c\n",
                               0, NULL),
                     NOCAP_OK); /* the pc of job 1 stands after its barrier */
    struct nocap_hang *h = hang_of(three);
    assert_int_equal(h->wait_count, 2);
    assert_wait(h, 0, 1, 24, "local barrier 0: 2 of 3 jobs can have arrived, missing job 3",
                "uc0/job3");
    assert_wait(h, 0, 3, 60, "2 tokens of TILE_0_1 MEM_S2MM_0", "");
    nocap_hang_free(h);
}

/* Of column 1 the job that waits is known, and not the one that has the barrier. */
static void a_column_that_can_have_come_to_a_barrier_need_not_have(void **state)
{
    (void)state;
    static const char text[] =
        ".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\n"
        "START_JOB 2\n POLL_32 0x2040000, 3\nEND_JOB\nEOF\n";
    place("0:0:24");
    place("1:0:44");
    struct nocap_hang *h = hang_of(text);
    assert_wait(h, 0, 1, 24,
                "remote barrier 0, mask 0x3: each column can have come; which did not is not known",
                "");
    nocap_hang_free(h);
}

static void columns_wait_for_each_other(void **state)
{
    (void)state;
    static const char text[] =
        ".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\n REMOTE_BARRIER $rb1, 3\n"
        "END_JOB\nEOF\n.attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb1, 3\n"
        " REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n";
    place("0:0:24");
    place("1:0:24");
    struct nocap_hang *h = hang_of(text);
    assert_wait(h, 0, 1, 24, "remote barrier 0, mask 0x3: columns of mask 0x2 cannot have come",
                "uc1/job1");
    assert_wait(h, 1, 1, 24, "remote barrier 1, mask 0x3: columns of mask 0x1 cannot have come",
                "uc0/job1");
    assert_true(h->parties[0].in_cycle);
    assert_int_equal(h->cause_count, 1);
    assert_int_equal(h->causes[0]->rule, AIE_046);
    nocap_hang_free(h);
    nocap_aie_postmortem_clear(&postmortem);
    place("0:0:24");
    h = hang_of(text);
    assert_wait(h, 0, 1, 24,
                "remote barrier 0, mask 0x3: the position of those of mask 0x2 is not known", "");
    nocap_hang_free(h);
}

static void arrivals_of_earlier_pages_count(void **state)
{
    (void)state;
    static const char text[] =
        ".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\n.eop\n"
        "START_JOB 2\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\n POLL_32 0x2000000, 1\n"
        " REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n";
    place("0:1:24"); /* its second time */
    place("1:0:32"); /* the poll after the first */
    assert_int_equal(read_text("core status: addr 0x2000000 value 0x8\n", 0, NULL), NOCAP_OK);
    struct nocap_hang *h = hang_of(text);
    assert_wait(h, 0, 2, 24, "remote barrier 0, mask 0x3: columns of mask 0x2 cannot have come",
                "uc1/job1");
    assert_wait(
        h, 1, 1, 32,
        "0x2000000 under mask 0xffffffff to become 0x1 (TILE_1_0 lock 0); it was 0x8 in the end",
        "");
    nocap_hang_free(h);
}

static void a_poll_that_cannot_match_holds_its_job(void **state)
{
    (void)state;
    place("0:0:16"); /* ran last, and waits for nothing */
    struct nocap_hang *h = hang_of("START_JOB 1\n MASK_POLL_32 0x100, 0xf0, 0x11\nEND_JOB\nEOF\n");
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_wait(h, 0, 1, 24,
                "0x100 under mask 0xf0 to become 0x11 (TILE_0_0 + 0x100), unsatisfiable", "");
    nocap_hang_free(h);
}

static void too_many_tokens_are_a_likely_cause(void **state)
{
    (void)state;
    place("0:0:36");
    assert_int_equal(read_text("c_tct_requested: 2\nc_tct_received: 1\n", 0, NULL), NOCAP_OK);
    struct nocap_hang *h = hang_of("START_JOB 1\n WRITE_32 0x1A0634, 0x80000000\n"
                                   " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\nEND_JOB\nEOF\n");
    assert_wait(h, 0, 1, 36,
                "2 tokens of TILE_0_1 MEM_MM2S_0; of all channels the uC has asked for 2 and got 1",
                "");
    assert_int_equal(h->cause_count, 1);
    assert_int_equal(h->causes[0]->rule, AIE_038);
    nocap_hang_free(h);
}

static void a_job_that_nobody_launched_is_missing(void **state)
{
    (void)state;
    place("0:0:24");
    struct nocap_hang *h = hang_of("START_JOB 1\n LOCAL_BARRIER $lb2, 2\n LAUNCH_JOB 2\nEND_JOB\n"
                                   "START_JOB_DEFERRED 2\n LOCAL_BARRIER $lb2, 2\nEND_JOB\nEOF\n");
    assert_wait(h, 0, 1, 24,
                "local barrier 2: 1 of 2 jobs can have arrived, missing job 2 (not launched)",
                "uc0/job2");
    nocap_hang_free(h);
}

static void what_does_not_fit_the_file_is_said(void **state)
{
    (void)state;
    static const char *const places[] = {"0:7:24", "1:0:24", "0:0:26"};
    struct nocap_error err = {""};
    struct nocap_hang *h;
    place("0:0:24");
    nocap_hang_free(hang_of(three));
    for (size_t i = 0; i < 3; i++) {
        nocap_aie_postmortem_clear(&postmortem);
        place(places[i]);
        assert_int_equal(nocap_hang_postmortem(&h, "t.elf", NULL, &postmortem, &err),
                         NOCAP_E_INPUT);
        assert_null(h);
        static const char *const said[] = {"the file has no page", "the file has no code of any uC",
                                           "no instruction"};
        assert_non_null(strstr(err.text, said[i]));
    }
    nocap_aie_postmortem_clear(&postmortem);
    assert_int_equal(nocap_hang_postmortem(&h, "t.elf", NULL, &postmortem, &err), NOCAP_E_INPUT);
}

/* The runtime lists all uCs of a partition; that of the second half of a column has no code. */
static void a_uc_without_code_is_passed_over(void **state)
{
    (void)state;
    place("0:0:24");
    place("1:0:24");
    struct nocap_hang *h = hang_of("START_JOB 1\n MASK_POLL_32 0x2000, 1, 1\nEND_JOB\nEOF\n");
    bool noted = false;
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(h->wait_count, 1);
    for (size_t i = 0; i < h->report->note_count; i++) {
        noted |= strstr(h->report->notes[i],
                        "uCs of mask 0x2 is passed over: the file has no code") != NULL;
    }
    assert_true(noted);
    nocap_hang_free(h);
}

/* ---- more evidence does not weaken an answer ---- */

#define STRIKE "WARN: Deadlock might have happened!!\nLast opcode PC: 0x3c page_idx: 0\n"
#define JOBS   " unfinished jobs:\n job: 1 state: 2 pc: 0x18\n job: 3 state: 2 pc: 0x3c\n"

static void a_second_strike_at_the_same_place_keeps_the_list(void **state)
{
    (void)state;
    assert_int_equal(read_text(STRIKE JOBS STRIKE, 0, NULL), NOCAP_OK);
    struct nocap_hang *h = hang_of(three);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_int_equal(h->wait_count, 2);
    nocap_hang_free(h);
    assert_int_equal(read_text("Deadlock might have happened\n"
                               "Last opcode PC: 0x18 page_idx: 0\n",
                               0, NULL),
                     NOCAP_OK);
    assert_true(!postmortem.columns[0].has_jobs);
}

static const char two[] = ".attach_to_group 0\nSTART_JOB 1\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n"
                          ".attach_to_group 1\nSTART_JOB 1\n WRITE_32 0x2000000, 1\nEND_JOB\n"
                          ".eop\nSTART_JOB 2\n REMOTE_BARRIER $rb0, 3\nEND_JOB\nEOF\n";

/* Column 1 has a job that holds it, though what ran last there waits for nothing. */
static void two_strikes_are_a_hang_too(void **state)
{
    (void)state;
    place("0:0:24");
    struct nocap_hang *h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    nocap_hang_free(h);
    place("1:0:24");
    h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_wait(h, 0, 1, 24, "remote barrier 0, mask 0x3: columns of mask 0x2 cannot have come",
                "uc1");
    assert_wait(h, 1, -1, 24, "page 0, where it is not known which job waits", "");
    nocap_hang_free(h);
    nocap_aie_postmortem_clear(&postmortem);
    assert_int_equal(read_text("uc_idx=1\nfw_state=0x19\npage_idx=0\noffset=0x18\n", 0, NULL),
                     NOCAP_OK);
    h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    nocap_hang_free(h);
    nocap_aie_postmortem_clear(&postmortem);
    place("1:0:24");
    h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    nocap_hang_free(h);
}

static void what_does_not_fit_is_passed_over_beside_what_does(void **state)
{
    (void)state;
    place("0:0:24");
    place("1:7:24");
    struct nocap_hang *h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_string_equal(h->report->note_ids[0], "misfit");
    nocap_hang_free(h);
}

static void idle_ucs_are_passed_over(void **state)
{
    (void)state;
    place("0:0:24");
    assert_int_equal(read_text("uc_idx=1\nuc_idle_status=0x4 (IDLE)\nmisc_status=0x0\n"
                               "fw_state=0x3\npage_idx=0x0\noffset=0x0\n",
                               0, NULL),
                     NOCAP_OK);
    struct nocap_hang *h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_wait(h, 0, 1, 24,
                "remote barrier 0, mask 0x3: the position of those of mask 0x2 is not known", "");
    nocap_hang_free(h);
    postmortem.columns[0].idle = true;
    h = hang_of(two);
    assert_int_equal(h->verdict, NOCAP_HANG_NONE);
    nocap_hang_free(h);
}

static void roots_are_named_as_in_the_code(void **state)
{
    (void)state;
    place("0:0:60");
    struct nocap_hang *h = hang_of(three);
    bool any = false;
    for (size_t i = 0; i < h->party_count; i++) {
        any |= h->parties[i].root && h->parties[i].source != NULL &&
               strcmp(h->parties[i].source, "page 0 offset 0x3c, WAIT_TCTS") == 0;
    }
    assert_true(any);
    nocap_hang_free(h);
}

static void the_run_names_its_file(void **state)
{
    (void)state;
    assert_int_equal(read_text("Kernel Instance: DPU:dpu\nELF UUID:        01234567-89ab-cdef-0123-"
                               "456789abcdef\nuc_idx=0x0\npage_idx=0x0\noffset=0x18\n",
                               0, NULL),
                     NOCAP_OK);
    assert_string_equal(postmortem.kernel, "DPU:dpu");
    struct nocap_hang *h = hang_of(three); /* which has no kernels to choose from */
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_string_equal(h->report->note_ids[0], "other-file");
    nocap_hang_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_uc_without_code_is_passed_over, fresh),
        cmocka_unit_test_setup(a_second_strike_at_the_same_place_keeps_the_list, fresh),
        cmocka_unit_test_setup(two_strikes_are_a_hang_too, fresh),
        cmocka_unit_test_setup(what_does_not_fit_is_passed_over_beside_what_does, fresh),
        cmocka_unit_test_setup(idle_ucs_are_passed_over, fresh),
        cmocka_unit_test_setup(roots_are_named_as_in_the_code, fresh),
        cmocka_unit_test_setup(the_run_names_its_file, fresh),
        cmocka_unit_test_setup(one_job_that_stands_holds_others, fresh),
        cmocka_unit_test_setup(who_may_be_late_is_named, fresh),
        cmocka_unit_test_setup(the_list_of_the_firmware_is_believed, fresh),
        cmocka_unit_test_setup(a_column_that_can_have_come_to_a_barrier_need_not_have, fresh),
        cmocka_unit_test_setup(columns_wait_for_each_other, fresh),
        cmocka_unit_test_setup(arrivals_of_earlier_pages_count, fresh),
        cmocka_unit_test_setup(a_poll_that_cannot_match_holds_its_job, fresh),
        cmocka_unit_test_setup(too_many_tokens_are_a_likely_cause, fresh),
        cmocka_unit_test_setup(a_job_that_nobody_launched_is_missing, fresh),
        cmocka_unit_test_setup(what_does_not_fit_the_file_is_said, fresh),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_aie_postmortem_clear(&postmortem);
    return failed;
}
