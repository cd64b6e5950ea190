/* SPDX-License-Identifier: Apache-2.0 */
/* Assembly text of AIE control code: errors that say where, files that include others. */
#include "tests/temp_dir.h"

#include "formats/aie/asm.h"

static void assert_refused(const char *text, const char *where, const char *expected)
{
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    assert_int_equal(
        nocap_aie_assemble_text(&elf, &size, text, strlen(text), "x.asm", &options, &err),
        NOCAP_E_INPUT);
    assert_null(elf);
    assert_contains(err.text, where);
    assert_contains(err.text, expected);
}

#define IN_JOB(line) "START_JOB 0\n" line "\nEND_JOB\nEOF\n"

static void errors_say_where_and_what(void **state)
{
    (void)state;
    assert_refused(IN_JOB("  FOO 1"), "x.asm:2:3: unknown instruction 'FOO'", "expected one of");
    assert_refused(IN_JOB(" MOV $r24, 1"), "x.asm:2:6:", "$r0..$r23");
    assert_refused(IN_JOB(" MOV $r1"), "x.asm:2:2: MOV has 1 operand", "expected 2");
    assert_refused(IN_JOB(" MOV $r1, 1, 2"), "x.asm:2:14:", "expected 2");
    assert_refused(IN_JOB(" MOV $r1, -1"), "x.asm:2:11:", "expected one of 32 bits");
    assert_refused(IN_JOB(" MOV $r1, 0x100000000"), "x.asm:2:11:", "32 bits");
    assert_refused(IN_JOB(" MOV $r1,"), "x.asm:2:", "after the comma");
    assert_refused(IN_JOB(" WAIT_TCTS TILE_0_32, 0, 1"), "x.asm:2:12:", "TILE_<column>_<row>");
    assert_refused(IN_JOB(" WAIT_TCTS TILE_0_1, MEM_S2MM_6, 1"), "x.asm:2:22:", "no actor");
    assert_refused(IN_JOB(" LOCAL_BARRIER $lb16, 1"), "x.asm:2:16:", "$lb0..$lb15");
    assert_refused(IN_JOB(" UC_DMA_WRITE_DES_SYNC @no"), "x.asm:2:24:", "no data 'no'");
    assert_refused(IN_JOB(" LAUNCH_JOB 4"), "x.asm:2:13:", "no job 4");
    assert_refused(IN_JOB(" LOAD_PDI 0, @no"), "x.asm:2:14:", "@label of text");
    assert_refused("NOP\n", "x.asm:1:1: NOP outside a job", "expected START_JOB");
    assert_refused("START_JOB 0\nNOP\nEOF\n", "x.asm:1:1:", "expected END_JOB before EOF");
    assert_refused("START_JOB 0\nNOP\n", "x.asm:1:1:", "the end of the file");
    assert_refused(IN_JOB("NOP") "NOP\n", "x.asm:5:1:", "in the data");
    assert_refused(IN_JOB("NOP") ".long 1\n", "x.asm:5:1:", "no label");
    assert_refused(IN_JOB("NOP") "a:\nb: .long 1\n", "x.asm:5:1:", "has no data");
    assert_refused(IN_JOB("NOP") "a: .long 1\nA: .long 1\n", "x.asm:6:1:", "defined already");
    assert_refused("START_JOB 0\nEND_JOB\nSTART_JOB 0x0\nEND_JOB\nEOF\n",
                   "x.asm:3:11:", "exists already");
    assert_refused(".section .text\n", "x.asm:1:10:", ".ctrltext or .ctrldata");
    assert_refused("code:\n", "x.asm:1:1:", ".endl code");
    assert_refused(".include other.asm\n", "x.asm:1:10:", "cannot read 'other.asm'");
    assert_refused(".target aie4\n", "x.asm:1:9:", "expected n26");
}

static void a_job_too_long_for_a_page_is_refused(void **state)
{
    (void)state;
    char text[16384] = "START_JOB 7\n";
    for (int i = 0; i < 1100; i++) {
        strcat(text, "READ_32 $r0,4\n");
    }
    strcat(text, "END_JOB\nEOF\n");
    assert_refused(text, "x.asm:1:11:", "at most the 8192 of a page");
}

static void files_include_files(void **state)
{
    (void)state;
    const char *const dirs[] = {"lib"};
    const struct nocap_aie_asm_options options = {
        .dialect = NOCAP_AIE_SEED, .dirs = dirs, .dir_count = 1};
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    assert_int_equal(system("mkdir lib"), 0);
    write_text("main.asm", ".include \"jobs.asm\"\n.include more.asm\n");
    write_text("jobs.asm", "START_JOB 0\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n"
                           "c: UC_DMA_BD 0, 0, @w, 1, 0, 0\nw: .long 1\n");
    write_text("lib/more.asm", "START_JOB 1\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n"
                               "c: UC_DMA_BD 0, 4, @w, 1, 0, 0\nw: .long 2\n");
    assert_int_equal(nocap_aie_assemble(&elf, &size, "main.asm", &options, &err), NOCAP_OK);
    free(elf);
    write_text("lib/more.asm", "START_JOB 1\n BAD\nEND_JOB\n");
    assert_int_equal(nocap_aie_assemble(&elf, &size, "main.asm", &options, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "lib/more.asm:2:2: unknown instruction 'BAD'");
    write_text("lib/more.asm", ".include more.asm\n");
    assert_int_equal(nocap_aie_assemble(&elf, &size, "main.asm", &options, &err), NOCAP_E_INPUT);
    assert_contains(err.text, "deep");
    write_text("b.json", "{\"external_buffers\":{\"a\":{\"xrt_id\":3,\"ctrl_pkt_buffer\":true},"
                         "\"b\":{\"xrt_id\":1,\"control_packet_patch_locations\":"
                         "[{\"offset\":24}]}}}");
    write_text("p.bin", "0123456789abcdef0123456789abcdef");
    write_text("pad.asm", "START_JOB 0\n APPLY_OFFSET_57 @t, 1, 3, @p\nEND_JOB\nEOF\n"
                          "t: .long 1\n .long 0\n .long 3\n .long 4\n .long 5\n .long 6\n"
                          " .long 7\n .long 8\n .long 0\n.setpad p, p.bin\n");
    struct nocap_aie_asm_options with = options;
    with.buffers = "b.json";
    if (nocap_aie_assemble(&elf, &size, "pad.asm", &with, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    struct nocap_aie_image *image;
    assert_int_equal(nocap_aie_image_open_memory(&image, elf, size, "pad", &err), NOCAP_OK);
    assert_int_equal(image->relocation_count, 2);
    assert_string_equal(image->relocations[0].symbol, "control-code-0");
    assert_string_equal(image->relocations[1].section, ".pad.0");
    assert_int_equal(image->relocations[1].offset, 16);
    nocap_aie_image_close(image);
    free(elf);
}

/* Control packets of 32 bytes, in which a buffer is named at the last bytes, after them, and where
 * the end of what is patched has more than 32 bits. */
static void a_buffer_is_named_inside_of_the_packets(void **state)
{
    (void)state;
    static const struct {
        uint32_t offset;
        enum nocap_status status;
    } rows[] = {{24, NOCAP_OK}, {28, NOCAP_E_INPUT}, {UINT32_MAX - 3, NOCAP_E_INPUT}};
    write_text("pk.bin", "0123456789abcdef0123456789abcdef");
    write_text("pk.asm", ".target aie4\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nocap_aie_asm_options options = {
            .dialect = NOCAP_AIE_N26, .chip = NOCAP_AIE4, .buffers = "pk.json"};
        struct nocap_error err = {""};
        char text[256];
        uint8_t *elf = NULL;
        size_t size;
        snprintf(text, sizeof text,
                 "{\"external_buffers\":{\"p\":{\"xrt_id\":3,\"ctrl_pkt_buffer\":true,"
                 "\"path\":\"pk.bin\"},\"b\":{\"xrt_id\":1,\"control_packet_patch_locations\":"
                 "[{\"offset\":%u,\"xrt_id\":3}]}}}",
                 rows[i].offset);
        write_text("pk.json", text);
        assert_int_equal(nocap_aie_assemble(&elf, &size, "pk.asm", &options, &err), rows[i].status);
        if (rows[i].status != NOCAP_OK) {
            assert_contains(err.text, "control packets of argument 3 have 32 bytes");
        }
        free(elf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(a_job_too_long_for_a_page_is_refused),
        cmocka_unit_test(files_include_files),
        cmocka_unit_test(a_buffer_is_named_inside_of_the_packets),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
