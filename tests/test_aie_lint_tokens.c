/* SPDX-License-Identifier: Apache-2.0 */
/* AIE-038: which waits for tokens cannot end, which may, and what is said of those that cannot be
 * judged. */
#include "tests/aie_example.h"

/* What compiles clean and hangs. Where tasks may be started in ways that are not seen, nothing is
 * told. */
static void tokens_that_cannot_have_come_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t off;
        const char *observed;
    } rows[] = {
        {"START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\n"
         "END_JOB\nEOF\n",
         36, "1 token of TILE_0_1 MEM_MM2S_1, which no task of the file is for"},
        {"START_JOB 0\n WRITE_32 0x041A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n"
         "END_JOB\nEOF\n",
         36, "is for TILE_2_1 MEM_MM2S_0, which no agent waits for"},
        {"START_JOB 0\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n WRITE_32 0x001A0634, 0x80000000\n"
         "END_JOB\nEOF\n",
         24, "1 token up to here; tasks for 1 of them are started after this wait"},
        {"START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 2\n"
         "END_JOB\n.eop\nSTART_JOB 0\n WRITE_32 0x001A0634, 0x80000000\nEND_JOB\nEOF\n",
         36, "2 tokens up to here; tasks for 1 of them are started after this wait"},
        /* actors from 16 on, which only aie4 has; the task's word comes by a descriptor */
        {"#! dialect n26\n.target aie4\nSTART_JOB 0\n UC_DMA_WRITE_DES_SYNC @q\n"
         " WAIT_TCTS TILE_0_1, MEM_MM2S_6, 2\nEND_JOB\nEOF\n"
         ".align 16\nq:\n UC_DMA_BD 0, 0x149e68, @w, 2, 0, 0\n"
         ".align 4\nw:\n .long 0\n .long 0x80000000\n",
         28, "2 tokens, tasks for 1 written to 0x149e6c"},
        {"#! dialect n26\n.target aie4\nSTART_JOB 0\n WRITE_32 0x6ACE04, 0x80000000\n"
         " WAIT_TCTS TILE_0_2, TILE_S2MM_0, 2\nEND_JOB\nEOF\n#! rules AIE-038",
         36, "2 tokens, tasks for 1 written to 0x6ace04"},
        /* the queue of another column, whose own task and wait are right */
        {".attach_to_group 0\nSTART_JOB 0\n WRITE_32 0x021A0634, 0x80000000\n"
         " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\nEND_JOB\nEOF\n"
         ".attach_to_group 1\nSTART_JOB 0\n WRITE_32 0x021A0634, 0x80000000\n"
         " WAIT_TCTS TILE_1_1, MEM_MM2S_0, 1\nEND_JOB\nEOF\n",
         36, "is for TILE_1_1 MEM_MM2S_0, which no job of this column waits for"},
        {"#! dialect n26\n.target aie4\nSTART_JOB 0\n WRITE_32 0x109E64, 0x80000000\n"
         " WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n",
         36, "1 token of TILE_0_1 MEM_MM2S_1, which no task of the file is for"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_report *report = aie_example_only(rows[i].text, AIE_038, rows[i].off);
        assert_contains(report->findings[0].observed, rows[i].observed);
        nocap_report_free(report);
    }
}

static void tokens_that_may_have_come_are_not_told(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* another job, which may run first, starts the task */
        "START_JOB 0\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\nEND_JOB\n"
        "START_JOB 1\n WRITE_32 0x001A0634, 0x80000000\nEND_JOB\nEOF\n",
        /* the task comes between the waits, and from another column */
        ".attach_to_group 0\nSTART_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n"
        " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\nEND_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 0\n WRITE_32 0x001A0634, 0x80000000\nEND_JOB\nEOF\n",
        /* who starts the task is not in the file, and no other task is without a wait */
        "START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n"
        " WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n",
        /* nor here: another column takes the tokens of the task in its queue */
        ".attach_to_group 0\nSTART_JOB 0\n WRITE_32 0x021A0634, 0x80000000\n"
        " WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\nEND_JOB\nEOF\n"
        ".attach_to_group 1\nSTART_JOB 0\n WAIT_TCTS TILE_1_1, MEM_MM2S_0, 1\nEND_JOB\nEOF\n",
        /* nobody waits for a task that sends no token */
        "START_JOB 0\n WRITE_32 0x001A0634, 0\n WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n",
        /* a register says where the word goes */
        "START_JOB 0\n MOV $r0, 0x001A063C\n WRITE_32_D 2, 0, 0x80000000\n"
        " WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct nocap_report *report = aie_example_judge("program", texts[i]);
        if (report->rules[AIE_038].violations != 0) {
            aie_example_show_and_fail(report, texts[i]);
        }
        nocap_report_free(report);
    }
}

/* What no rule can judge is said, so that it is not taken for clean. */
static void waits_without_a_task_are_noted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *note;
    } rows[] = {
        {"START_JOB 0\n WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n",
         "for 1 WAIT_TCTS, the first at uc 0, page 0, offset 24 for TILE_0_1 MEM_MM2S_1: this file "
         "starts no task for it"},
        {"START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n"
         " WAIT_TCTS TILE_0_1, MEM_S2MM_1, 1\n WAIT_TCTS TILE_0_1, MEM_S2MM_1, 1\nEND_JOB\nEOF\n",
         "for 2 WAIT_TCTS, the first at uc 0, page 0, offset 44 for TILE_0_1 MEM_S2MM_1"},
        {"START_JOB 0\n MOV $r0, 0x001A063C\n WRITE_32_D 2, 0, 0x80000000\n"
         " WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\nEND_JOB\nEOF\n",
         "for 1 WAIT_TCTS, the first at uc 0, page 0, offset 44 for TILE_0_1 MEM_MM2S_1: tasks may "
         "be started by what the file does not show"},
        {"START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_0, 1\n"
         "END_JOB\nEOF\n",
         NULL},
        /* told as an error */
        {"START_JOB 0\n WRITE_32 0x001A0634, 0x80000000\n WAIT_TCTS TILE_0_1, MEM_MM2S_1, 1\n"
         "END_JOB\nEOF\n",
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_report *report = aie_example_judge("program", rows[i].text);
        assert_int_equal(report->note_count, rows[i].note != NULL);
        if (rows[i].note != NULL) {
            assert_contains(report->notes[0], rows[i].note);
        }
        nocap_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_that_cannot_have_come_are_told),
        cmocka_unit_test(tokens_that_may_have_come_are_not_told),
        cmocka_unit_test(waits_without_a_task_are_noted),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
