/* SPDX-License-Identifier: Apache-2.0 */
/* What the lint of AIE control code reports, and how: bounds, lines of the source, waivers, forms;
 * and how long it takes. */
#include "tests/aie_example.h"

#include <time.h>

static void findings_are_bounded_and_counted(void **state)
{
    (void)state;
    char text[2048] = "START_JOB 1\n";
    for (int i = 0; i < 30; i++) {
        strcat(text, " TRACE 1\n");
    }
    strcat(text, "END_JOB\nEOF\n");
    struct nocap_report *report = aie_example_judge("many", text);
    assert_int_equal(report->finding_count, 20);
    assert_int_equal(report->rules[AIE_010].violations, 30);
    assert_int_equal(report->counts[NOCAP_ERROR], 30);
    assert_true(nocap_report_fails(report, NOCAP_ERROR));
    nocap_report_free(report);
}

/* Judges TRACE at offset 24 in a file with this section .dump, which is made of a buffer. */
static struct nocap_report *judge_with_map(const char *map)
{
    static const char text[] = ".setpad m, map\nSTART_JOB 1\n TRACE 1\nEND_JOB\nEOF\n";
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    const struct nocap_lint_options lint = {.size = sizeof lint, .rules = "AIE-010"};
    struct nocap_report *report;
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    write_text("map", map);
    write_text("t.asm", text);
    assert_int_equal(nocap_aie_assemble(&elf, &size, "t.asm", &options, &err), NOCAP_OK);
    char *name = memmem(elf, size, ".pad.0", sizeof ".pad.0");
    assert_non_null(name);
    memcpy(name, ".dump", sizeof ".dump");
    write_bytes("t.elf", elf, size);
    free(elf);
    assert_int_equal(nocap_aie_lint(&report, "t.elf", &lint, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 1);
    return report;
}

static void source_lines_come_from_the_debug_map(void **state)
{
    (void)state;
    struct nocap_report *report = judge_with_map(
        "{\"debug\":[{\"column\":\"0\",\"page_offset\":\"24\",\"line\":\"7\",\"file\":\"a.asm\"},"
        "{\"column\":\"0\",\"page_offset\":\"16\",\"line\":\"6\",\"file\":\"a.asm\"},{\"line\":3}]"
        "}");
    assert_string_equal(report->findings[0].file, "a.asm");
    assert_int_equal(report->findings[0].line, 7);
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
    report = judge_with_map("{\"debug\":[]}");
    assert_null(report->findings[0].file);
    assert_int_equal(report->note_count, 0);
    nocap_report_free(report);
    static const char *const broken[] = {"{", "[]", "{\"debug\":3}"};
    for (size_t i = 0; i < 3; i++) {
        report = judge_with_map(broken[i]);
        assert_null(report->findings[0].file);
        assert_int_equal(report->note_count, 1);
        nocap_report_free(report);
    }
}

static void waivers_accept_what_is_known(void **state)
{
    (void)state;
    static const char text[] = "START_JOB 1\n TRACE 1\n TRACE 2\nEND_JOB\nEOF\n";
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    const struct nocap_lint_options lint = {
        .size = sizeof lint, .dialect = NOCAP_AIE_SEED, .waivers = "waivers"};
    struct nocap_report *report;
    struct nocap_aie_image *image;
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    write_text("waivers", "AIE-010 uc0 index 24..24 -- a tracer puts it there\n"
                          "AIE-010 uc1 -- not in this file\n");
    assert_int_equal(nocap_aie_assemble_text(&elf, &size, text, strlen(text), "t", &options, &err),
                     NOCAP_OK);
    assert_int_equal(nocap_aie_image_open_memory(&image, elf, size, "t", &err), NOCAP_OK);
    assert_int_equal(nocap_aie_lint_image(&report, image, "t", &lint, &err), NOCAP_OK);
    assert_int_equal(report->waived, 1);
    assert_int_equal(report->counts[NOCAP_ERROR], 1);
    assert_int_equal(report->rules[AIE_010].verdict, NOCAP_VIOLATED);
    assert_true(report->findings[0].waived && report->findings[0].off == 24);
    assert_false(report->findings[1].waived);
    assert_int_equal(report->note_count, 1);
    assert_contains(report->notes[0], "waivers:2");
    nocap_report_free(report);
    write_text("waivers", "AIE-010 -- all of them\n");
    assert_int_equal(nocap_aie_lint_image(&report, image, "t", &lint, &err), NOCAP_OK);
    assert_int_equal(report->rules[AIE_010].verdict, NOCAP_WAIVED);
    assert_false(nocap_report_fails(report, NOCAP_NOTE));
    nocap_report_free(report);
    write_text("waivers", "AIE-010\n");
    assert_int_equal(nocap_aie_lint_image(&report, image, "t", &lint, &err), NOCAP_E_INPUT);
    assert_null(report);
    nocap_aie_image_close(image);
    free(elf);
}

static void the_report_is_printed(void **state)
{
    (void)state;
    struct nocap_report *report = aie_example_judge("bad\n.elf", nocap_rules[AIE_059].violates);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(nocap_report_json(out, report, NULL), NOCAP_OK);
    fclose(out);
    assert_contains(text, "{\"nocap_report\":1,\"elf\":{\"path\":\"bad\\\\x0a.elf\",\"columns\":1");
    assert_contains(text, "\"rule\":\"AIE-059\",\"severity\":\"error\",\"uc\":null,\"page\":null");
    assert_contains(text, "{\"id\":\"AIE-059\",\"verdict\":\"violated\"");
    free(text);
    out = open_memstream(&text, &size);
    assert_int_equal(nocap_report_text(out, report, true, 0, NULL), NOCAP_OK);
    fclose(out);
    assert_contains(text, "1 column, 1 page");
    assert_contains(text, "1 error, 0 warnings, 0 notes");
    free(text);
    nocap_report_free(report);
}

/* 86 full pages, of the kinds of instructions that have most to judge. */
static char *long_program(void)
{
    static const char *const insns[] = {" WRITE_32 0x40000, 1\n", " MASK_WRITE_32 0x40004, 3, 1\n",
                                        " UC_DMA_WRITE_DES_SYNC @d\n", " NOP\n",
                                        " LOCAL_BARRIER $lb0, 2\n"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int page = 0; page < 86; page++) {
        for (int job = 0; job < 40; job++) {
            fprintf(out, "START_JOB %d\n", job);
            for (int i = 0; i < 20; i++) {
                fputs(insns[i % (job < 2 ? 5 : 4)], out);
            }
            fputs("END_JOB\n", out);
        }
        fputs(".eop\n", out);
    }
    fputs("EOF\n.align 16\nd: UC_DMA_BD 0, 0x1A0000, @w, 2, 0, 0\n.align 4\n"
          "w: .long 1\n .long 2\n",
          out);
    fclose(out);
    return text;
}

static void a_file_of_700_kb_takes_less_than_50_ms(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("sanitizers take longer\n");
    skip();
#endif
    enum { LIMIT = CLOCKS_PER_SEC / 20, TRIES = 20 };
    char *text = long_program();
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    const struct nocap_lint_options lint = {.size = sizeof lint, .dialect = NOCAP_AIE_SEED};
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    clock_t least = CLOCKS_PER_SEC;
    if (nocap_aie_assemble_text(&elf, &size, text, strlen(text), "long", &options, &err) !=
        NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_true(size >= 700 * 1000);
    write_bytes("long.elf", elf, size);
    for (int i = 0; i < TRIES && least >= LIMIT; i++) { /* others use the machine too */
        struct nocap_report *report;
        clock_t begin = clock();
        assert_int_equal(nocap_aie_lint(&report, "long.elf", &lint, &err), NOCAP_OK);
        clock_t took = clock() - begin;
        assert_int_equal(report->pages, 86);
        least = took < least ? took : least;
        nocap_report_free(report);
    }
    free(elf);
    free(text);
    assert_true(least < LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_700_kb_takes_less_than_50_ms),
        cmocka_unit_test(findings_are_bounded_and_counted),
        cmocka_unit_test(source_lines_come_from_the_debug_map),
        cmocka_unit_test(waivers_accept_what_is_known),
        cmocka_unit_test(the_report_is_printed),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
