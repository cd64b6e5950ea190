/* SPDX-License-Identifier: Apache-2.0 */
/* Post-mortem of AIE control code without a trace: what texts tell, and what follows from it. */
#include "tests/temp_dir.h"

#include "checker/hang/hang.h"
#include "formats/aie/asm.h"

static struct nocap_aie_remains remains;

static int fresh(void **state)
{
    (void)state;
    nocap_aie_remains_clear(&remains);
    return 0;
}

static enum nocap_status read_text(const char *text, uint32_t column, struct nocap_error *err)
{
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(stream);
    enum nocap_status status = nocap_aie_remains_read(&remains, stream, "log", column, err);
    fclose(stream);
    return status;
}

/* ---- texts ---- */

static void the_log_of_a_uc_lists_its_jobs(void **state)
{
    (void)state;
    assert_int_equal(read_text("[1.5] [CERT] WARN: Deadlock might have happened!!\n"
                               "Last opcode PC: 0x2c page_idx: 3\n"
                               "[1.5] [CERT]   unfinished jobs:\n"
                               "[1.5] [CERT]     job: 10 state: 2 pc: 0x24\n"
                               "[1.6] [CERT]     job: 20 state: 1 \n[1.6] [CERT] pc: 0x58\n"
                               "[1.7] [CERT] core status: addr 0x232004 value 0x10\n",
                               1, NULL),
                     NOCAP_OK);
    const struct nocap_aie_column_remains *c = &remains.columns[1];
    assert_true(c->has_page && c->has_off && c->has_jobs && !remains.columns[0].known);
    assert_int_equal(c->page, 3);
    assert_int_equal(c->off, 0x2c);
    assert_int_equal(c->job_count, 2);
    assert_int_equal(c->jobs[0].pc, 0x24);
    assert_int_equal(c->jobs[1].id, 20);
    assert_int_equal(c->jobs[1].pc, 0x58);
    assert_int_equal(remains.register_count, 1);
    assert_int_equal(remains.registers[0].value, 0x10);
}

static void a_message_tells_of_several_columns(void **state)
{
    (void)state;
    remains.first_column = 4;
    assert_int_equal(read_text("uc_idx=0x00000004\nfw_state=0x00000019\npage_idx=0x00000001\n"
                               "offset=0x00000030\nrestore_page=0x00000000\n"
                               "uc_idx=5, fw_state=0x6, page_idx=0x2, offset=0x10\n",
                               4, NULL),
                     NOCAP_OK);
    assert_int_equal(remains.columns[0].page, 1);
    assert_int_equal(remains.columns[0].off, 0x30);
    assert_int_equal(remains.columns[0].state, 0x19);
    assert_int_equal(remains.columns[1].page, 2);
    assert_int_equal(remains.columns[1].off, 0x10);
}

static void the_dump_of_the_handshake_has_counters(void **state)
{
    (void)state;
    assert_int_equal(read_text("Firmware VM State:\n  abs_page_index:     0x2\n  ppc:   0x48\n"
                               "  c_job_launched:     9\n  c_job_finished:     7\n"
                               "c_block_ucdma_sync 3\noffset 0x20: 0x99\n",
                               0, NULL),
                     NOCAP_OK);
    const struct nocap_aie_column_remains *c = &remains.columns[0];
    assert_int_equal(c->page, 2);
    assert_int_equal(c->off, 0x48);
    assert_int_equal(c->counters[NOCAP_AIE_C_JOB_LAUNCHED], 9);
    assert_int_equal(c->counters[NOCAP_AIE_C_BLOCK_UCDMA_SYNC], 3);
    assert_int_equal(c->counted, 1u << NOCAP_AIE_C_JOB_LAUNCHED | 1u << NOCAP_AIE_C_JOB_FINISHED |
                                     1u << NOCAP_AIE_C_BLOCK_UCDMA_SYNC);
}

static void what_tells_nothing_is_refused(void **state)
{
    (void)state;
    static const char *const places[] = {
        "", "1", "1:2", "1:2:", "1:2:3:4", "-1:2:3", "128:0:0", "0:0:0x100000000"};
    struct nocap_error err = {""};
    assert_int_equal(read_text("hello\n", 0, &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "log: no line tells"));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(nocap_aie_remains_add(&remains, places[i], &err), NOCAP_E_USAGE);
    }
    assert_int_equal(nocap_aie_remains_add(&remains, "127:0x10:24", &err), NOCAP_OK);
    assert_int_equal(remains.columns[127].page, 16);
}

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
    if (nocap_hang_remains(&hang, "t.elf", NULL, &remains, &err) != NOCAP_OK) {
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
    assert_int_equal(nocap_aie_remains_add(&remains, text, NULL), NOCAP_OK);
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
                "uc0 job 3");
    assert_wait(h, 0, 2, 44, "local barrier 0: 2 of 3 jobs can have arrived, missing job 3",
                "uc0 job 3");
    assert_wait(h, 0, 3, 60, "2 tokens of tile 0x1 actor 0", "");
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
        "local barrier 0: 3 of 3 jobs can have arrived; one that may stand earlier is job 3 "
        "(WAIT_TCTS at offset 60)",
        "uc0 job 3");
    nocap_hang_free(h);
}

static void the_list_of_the_firmware_is_believed(void **state)
{
    (void)state;
    assert_int_equal(read_text("page_idx: 0\n unfinished jobs:\n job: 1 state: 2 pc: 0x1c\n"
                               " job: 3 state: 2 pc: 0x3c\n",
                               0, NULL),
                     NOCAP_OK); /* the pc of job 1 stands behind its barrier */
    struct nocap_hang *h = hang_of(three);
    assert_int_equal(h->wait_count, 2);
    assert_wait(h, 0, 1, 24, "local barrier 0: 2 of 3 jobs can have arrived, missing job 3",
                "uc0 job 3");
    assert_wait(h, 0, 3, 60, "2 tokens of tile 0x1 actor 0", "");
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
                "uc1 job 1");
    assert_wait(h, 1, 1, 24, "remote barrier 1, mask 0x3: columns of mask 0x1 cannot have come",
                "uc0 job 1");
    assert_true(h->parties[0].in_cycle);
    assert_int_equal(h->cause_count, 1);
    assert_int_equal(h->causes[0]->rule, AIE_046);
    nocap_hang_free(h);
    nocap_aie_remains_clear(&remains);
    place("0:0:24");
    h = hang_of(text);
    assert_wait(h, 0, 1, 24,
                "remote barrier 0, mask 0x3: where those of mask 0x2 stand is not known", "");
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
    place("1:0:32"); /* the poll behind the first */
    assert_int_equal(read_text("core status: addr 0x2000000 value 0x8\n", 0, NULL), NOCAP_OK);
    struct nocap_hang *h = hang_of(text);
    assert_wait(h, 0, 2, 24, "remote barrier 0, mask 0x3: columns of mask 0x2 cannot have come",
                "uc1 job 1");
    assert_wait(h, 1, 1, 32, "0x2000000 under mask 0xffffffff to become 0x1; it was 0x8 in the end",
                "");
    nocap_hang_free(h);
}

static void a_poll_that_cannot_match_holds_its_job(void **state)
{
    (void)state;
    place("0:0:16"); /* ran last, and waits for nothing */
    struct nocap_hang *h = hang_of("START_JOB 1\n MASK_POLL_32 0x100, 0xf0, 0x11\nEND_JOB\nEOF\n");
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_wait(h, 0, 1, 24, "0x100 under mask 0xf0 to become 0x11, unsatisfiable", "");
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
                "2 tokens of tile 0x1 actor 6; of all channels the uC has asked for 2 and got 1",
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
                "uc0 job 2");
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
        nocap_aie_remains_clear(&remains);
        place(places[i]);
        assert_int_equal(nocap_hang_remains(&h, "t.elf", NULL, &remains, &err), NOCAP_E_INPUT);
        assert_null(h);
        static const char *const said[] = {"the file has no page", "the file has no code of any uC",
                                           "no instruction"};
        assert_non_null(strstr(err.text, said[i]));
    }
    nocap_aie_remains_clear(&remains);
    assert_int_equal(nocap_hang_remains(&h, "t.elf", NULL, &remains, &err), NOCAP_E_INPUT);
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
        noted |= strstr(h->report->notes[i], "no code for the uCs of mask 0x2") != NULL;
    }
    assert_true(noted);
    nocap_hang_free(h);
}

static void drivers_tell_columns_in_their_words(void **state)
{
    (void)state;
    assert_int_equal(read_text("uC[1]: idx=2 fw_state=0x19 page=3 offset=0x2c\n"
                               "Firmware status of col = 4\n  abs_page_index: 0x5\n  ppc: 0x48\n",
                               0, NULL),
                     NOCAP_OK);
    assert_true(!remains.columns[1].known && !remains.columns[0].known);
    assert_int_equal(remains.columns[2].page, 3);
    assert_int_equal(remains.columns[2].off, 0x2c);
    assert_int_equal(remains.columns[4].page, 5);
    assert_int_equal(remains.columns[4].off, 0x48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_log_of_a_uc_lists_its_jobs, fresh),
        cmocka_unit_test_setup(a_message_tells_of_several_columns, fresh),
        cmocka_unit_test_setup(the_dump_of_the_handshake_has_counters, fresh),
        cmocka_unit_test_setup(what_tells_nothing_is_refused, fresh),
        cmocka_unit_test_setup(a_uc_without_code_is_passed_over, fresh),
        cmocka_unit_test_setup(drivers_tell_columns_in_their_words, fresh),
        cmocka_unit_test_setup(one_job_that_stands_holds_others, fresh),
        cmocka_unit_test_setup(who_may_be_late_is_named, fresh),
        cmocka_unit_test_setup(the_list_of_the_firmware_is_believed, fresh),
        cmocka_unit_test_setup(columns_wait_for_each_other, fresh),
        cmocka_unit_test_setup(arrivals_of_earlier_pages_count, fresh),
        cmocka_unit_test_setup(a_poll_that_cannot_match_holds_its_job, fresh),
        cmocka_unit_test_setup(too_many_tokens_are_a_likely_cause, fresh),
        cmocka_unit_test_setup(a_job_that_nobody_launched_is_missing, fresh),
        cmocka_unit_test_setup(what_does_not_fit_the_file_is_said, fresh),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_aie_remains_clear(&remains);
    return failed;
}
