/* SPDX-License-Identifier: Apache-2.0 */
/* What texts, tables and logs tell of AIE control code that hung. */
#include "tests/postmortem_text.h"

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
    const struct nocap_aie_column_postmortem *c = &postmortem.columns[1];
    assert_true(c->has_page && c->has_off && c->has_jobs && !postmortem.columns[0].known);
    assert_int_equal(c->page, 3);
    assert_int_equal(c->off, 0x2c);
    assert_int_equal(c->job_count, 2);
    assert_int_equal(c->jobs[0].pc, 0x24);
    assert_int_equal(c->jobs[1].id, 20);
    assert_int_equal(c->jobs[1].pc, 0x58);
    assert_int_equal(postmortem.register_count, 1);
    assert_int_equal(postmortem.registers[0].value, 0x10);
}

static void a_message_tells_of_several_columns(void **state)
{
    (void)state;
    postmortem.first_column = 4;
    assert_int_equal(read_text("uc_idx=0x00000004\nfw_state=0x00000019\npage_idx=0x00000001\n"
                               "offset=0x00000030\nrestore_page=0x00000000\n"
                               "uc_idx=5, fw_state=0x6, page_idx=0x2, offset=0x10\n",
                               4, NULL),
                     NOCAP_OK);
    assert_int_equal(postmortem.columns[0].page, 1);
    assert_int_equal(postmortem.columns[0].off, 0x30);
    assert_int_equal(postmortem.columns[0].state, 0x19);
    assert_int_equal(postmortem.columns[1].page, 2);
    assert_int_equal(postmortem.columns[1].off, 0x10);
}

static void the_dump_of_the_handshake_has_counters(void **state)
{
    (void)state;
    assert_int_equal(read_text("Firmware VM State:\n  abs_page_index:     0x2\n  ppc:   0x48\n"
                               "  c_job_launched:     9\n  c_job_finished:     7\n"
                               "c_block_ucdma_sync 3\noffset 0x20: 0x99\n",
                               0, NULL),
                     NOCAP_OK);
    const struct nocap_aie_column_postmortem *c = &postmortem.columns[0];
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
    assert_non_null(strstr(err.text, "log: no line says"));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(nocap_aie_postmortem_add(&postmortem, places[i], &err), NOCAP_E_USAGE);
    }
    assert_int_equal(nocap_aie_postmortem_add(&postmortem, "127:0x10:24", &err), NOCAP_OK);
    assert_int_equal(postmortem.columns[127].page, 16);
}

/* What counts from the device's first column is shifted, what counts from the partition's not. */
static void drivers_tell_columns_in_their_words(void **state)
{
    (void)state;
    postmortem.first_column = 4;
    assert_int_equal(
        read_text("uc_idx=0x00000005\nfw_state=0x00000006\npage_idx=0x00000007\noffset=0x00000018\n"
                  "  UC[1]: idx=2 fw_state=25 page=3 offset=0x2c\n"
                  "        idle_status=0x4: CERT_idle\n"
                  "Firmware status of col = 3\nFW state: 27\nabs_page_index: 5\nppc: 72\n"
                  "FW idle_status: 0\nmisc_status: 2\n"
                  "Firmware Handshake Data:\n  cert_idle_status:   0x4\nFirmware VM State:\n"
                  "  fw_state:           0x6\n  abs_page_index:     0x9\n  ppc:     0x10\n",
                  0, NULL),
        NOCAP_OK);
    const struct nocap_aie_column_postmortem *c = postmortem.columns;
    assert_int_equal(c[1].page, 7);
    assert_int_equal(c[1].off, 0x18);
    assert_true(!c[1].hang && !c[1].idle);
    assert_int_equal(c[2].page, 3);
    assert_int_equal(c[2].off, 0x2c);
    assert_int_equal(c[2].state, 25);
    assert_true(c[2].hang && c[2].idle);
    assert_int_equal(c[3].page, 5);
    assert_int_equal(c[3].off, 72);
    assert_true(c[3].hang && !c[3].idle);
    assert_int_equal(c[0].page, 9);
    assert_true(!c[0].hang && c[0].idle);
    assert_true(!c[4].known && !c[5].known);
}

static const char table[] =
    "  NPU3 Context Health Information (PID: 77):\n"
    "    |Ctx.uC  |FW State  |uC PC  |Exception Addr  |Page.Offset  |Ctx State  |\n"
    "    |========|==========|=======|================|=============|===========|\n"
    "    |3.0     |0x19      |0x0    |0x0             |2.44         |0x1        |\n"
    "    |3.2     |0x6       |0x0    |0x0             |1.16         |0x1        |\n";

static void tables_are_read_by_their_heads(void **state)
{
    (void)state;
    struct nocap_error err = {""};
    assert_int_equal(read_text(table, 0, NULL), NOCAP_OK);
    assert_int_equal(postmortem.columns[0].page, 2);
    assert_int_equal(postmortem.columns[0].off, 44);
    assert_true(postmortem.columns[0].hang);
    assert_int_equal(postmortem.columns[2].page, 1);
    assert_int_equal(postmortem.columns[2].state, 6);
    assert_true(!postmortem.columns[1].known);
    assert_int_equal(read_text("|Ctx.uC |Page.Offset|\n|3.0|1.16|\n|4.0|2.16|\n", 0, &err),
                     NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "several contexts"));
    assert_int_equal(read_text("|Ctx Id |Txn Op Idx |Ctx PC |\n|1 |0x2a |0x0 |\n", 0, NULL),
                     NOCAP_OK);
    assert_true(postmortem.has_operation);
    assert_int_equal(postmortem.operation, 42);
}

static void put_record(FILE *to, uint32_t id, uint32_t words, uint32_t first, uint32_t second)
{
    const uint32_t record[8] = {words, 0, 0x0a0a0a0a, 1, 2, id, first, second};
    assert_int_equal(fwrite(record, sizeof record, 1, to), 1);
}

static void the_binary_log_says_what_the_text_does(void **state)
{
    (void)state;
    struct nocap_error err = {""};
    FILE *log = tmpfile();
    assert_non_null(log);
    put_record(log, 0, 0, 0, 0); /* what the log begins with: the first eight bytes are a count */
    rewind(log);
    const uint64_t count = 6 * 32;
    assert_int_equal(fwrite(&count, sizeof count, 1, log), 1);
    fseek(log, 32, SEEK_SET);
    put_record(log, 8, 8, 0x2c, 3);
    put_record(log, 6, 6, 0, 0);
    put_record(log, 75, 8, 10, 2);
    put_record(log, 76, 7, 0x24, 0);
    put_record(log, 75, 8, 20, 2);
    put_record(log, 97, 8, 0x232004, 0x10);
    put_record(log, 75, 5, 30, 2); /* too short for its arguments: damaged */
    rewind(log);
    assert_int_equal(nocap_aie_postmortem_read(&postmortem, log, "log", 1, &err), NOCAP_OK);
    fclose(log);
    const struct nocap_aie_column_postmortem *c = &postmortem.columns[1];
    assert_true(c->has_page && c->has_off && c->has_jobs && c->hang);
    assert_int_equal(c->page, 3);
    assert_int_equal(c->off, 0x2c);
    assert_int_equal(c->job_count, 2);
    assert_int_equal(c->jobs[0].pc, 0x24);
    assert_true(!c->jobs[1].has_pc);
    assert_int_equal(postmortem.registers[0].addr, 0x232004);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_log_of_a_uc_lists_its_jobs, fresh),
        cmocka_unit_test_setup(a_message_tells_of_several_columns, fresh),
        cmocka_unit_test_setup(the_dump_of_the_handshake_has_counters, fresh),
        cmocka_unit_test_setup(what_tells_nothing_is_refused, fresh),
        cmocka_unit_test_setup(drivers_tell_columns_in_their_words, fresh),
        cmocka_unit_test_setup(tables_are_read_by_their_heads, fresh),
        cmocka_unit_test_setup(the_binary_log_says_what_the_text_does, fresh),
    };
    int failed = cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
    nocap_aie_postmortem_clear(&postmortem);
    return failed;
}
