/* SPDX-License-Identifier: Apache-2.0 */
/* Files as the assembler of 2026 makes them: the small programs in tests/data/aie/n26, with what it
 * made of them for each chip. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/aie/asm.h"
#include "formats/aie/md5.h"
#include "tests/temp_dir.h"

static char data[PATH_MAX]; /* where they are */

static const struct row {
    const char *source, *elf;
    enum nocap_aie_chip chip;
    const char *told; /* chip that the file itself tells; NULL: none */
} rows[] = {
    {"jobs.asm", "jobs.aie2ps.elf", NOCAP_AIE2PS, NULL},
    {"jobs.asm", "jobs.aie4.elf", NOCAP_AIE4, NULL},
    {"rest.asm", "rest.aie2ps.elf", NOCAP_AIE2PS, NULL},
    {"rest.asm", "rest.aie4.elf", NOCAP_AIE4, NULL},
    {"tables.asm", "tables.aie2ps.elf", NOCAP_AIE2PS, "aie2ps"},
    {"tables.asm", "tables.aie4.elf", NOCAP_AIE4, "aie4"},
    {"columns.asm", "columns.aie4.elf", NOCAP_AIE4, NULL},
    {"kernels.json", "kernels.aie2ps.elf", NOCAP_AIE2PS, "aie2ps"},
    {"kernels.json", "kernels.aie4.elf", NOCAP_AIE4, "aie4"},
    {"merged.json", "merged.aie4.elf", NOCAP_AIE4, "aie4"},
    {"array.json", "array.aie2ps.elf", NOCAP_AIE2PS, "aie2ps"},
    {"custom.json", "custom.aie2ps.elf", NOCAP_AIE2PS, NULL},
    {"custom.json", "custom.aie4.elf", NOCAP_AIE4, NULL},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static uint8_t *read_file(const char *name, size_t *size)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", data, name);
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);
    assert_non_null(file);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void assert_same(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                        const char *what)
{
    size_t at = 0;
    while (at < a_size && at < b_size && a[at] == b[at]) {
        at++;
    }
    if (a_size != b_size || at != a_size) {
        fail_msg("%s: differs from byte %zu on (%zu bytes, %zu expected)", what, at, a_size,
                 b_size);
    }
}

static void programs_come_out_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_N26,
                                                      .chip = rows[i].chip};
        struct nocap_error err = {""};
        char path[PATH_MAX + 64];
        uint8_t *elf;
        size_t size, wanted;
        snprintf(path, sizeof path, "%s/%s", data, rows[i].source);
        if (nocap_aie_assemble(&elf, &size, path, &options, &err) != NOCAP_OK) {
            fail_msg("%s: %s", rows[i].source, err.text);
        }
        uint8_t *file = read_file(rows[i].elf, &wanted);
        assert_same(elf, size, file, wanted, rows[i].elf);
        free(file);
        free(elf);
    }
}

static void files_come_back_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const struct nocap_aie_asm_options any = {.dialect = NOCAP_AIE_DIALECT_OF_FILE};
        struct nocap_error err = {""};
        struct nocap_aie_image *image;
        char *text = NULL;
        size_t length, size, wanted;
        uint8_t *elf, *file = read_file(rows[i].elf, &wanted);
        bool complete;
        assert_int_equal(nocap_aie_image_open_memory(&image, file, wanted, "x", &err), NOCAP_OK);
        assert_int_equal(image->dialect, NOCAP_AIE_N26);
        const struct nocap_aie_chip_info *chip = nocap_aie_chip_info(image->chip);
        assert_true((chip == NULL) == (rows[i].told == NULL));
        if (chip != NULL) {
            assert_string_equal(chip->name, rows[i].told);
        }
        assert_true(image->has_uid);
        assert_string_equal(image->uid, image->uid_expected);
        FILE *out = open_memstream(&text, &length);
        assert_int_equal(nocap_aie_disassemble(out, image, image->dialect, &complete, &err),
                         NOCAP_OK);
        fclose(out);
        assert_true(complete);
        assert_null(strstr(text, ".page"));
        if (nocap_aie_assemble_text(&elf, &size, text, length, "text", &any, &err) != NOCAP_OK) {
            fail_msg("%s: %s", rows[i].elf, err.text);
        }
        assert_same(elf, size, file, wanted, rows[i].elf);
        nocap_aie_image_close(image);
        free(elf);
        free(text);
        free(file);
    }
}

/* What the assembler makes of these is large, and has code of its own for saving and restoring: its
 * length and digest stand for it. */
static void code_that_saves_comes_out_the_same(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        size_t size;
        const char *md5;
    } saving[] = {
        {"preempt1.asm", 3217288, "0feba9c435706433af4a7b66ffb7f2f2"},
        {"preempt2.asm", 6325128, "fcacd705103ccd2a772ab5c8a592a0d7"},
        {"preempt3.asm", 9517800, "ca27def12d1dab01ac8ad1cd6fed9a7b"},
        {"preempt4.asm", 9592648, "be2995d3afb36104a80de680ad83db5a"},
    };
    for (size_t i = 0; i < sizeof saving / sizeof saving[0]; i++) {
        const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_N26};
        struct nocap_error err = {""};
        struct nocap_md5 md5;
        char path[PATH_MAX + 64], text[33];
        uint8_t *elf;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", data, saving[i].source);
        if (nocap_aie_assemble(&elf, &size, path, &options, &err) != NOCAP_OK) {
            fail_msg("%s: %s", saving[i].source, err.text);
        }
        nocap_md5_init(&md5);
        nocap_md5_update(&md5, elf, size);
        nocap_md5_finish(&md5, text);
        if (size != saving[i].size || strcmp(text, saving[i].md5) != 0) {
            fail_msg("%s: %zu bytes, md5 %s; expected %zu, %s", saving[i].source, size, text,
                     saving[i].size, saving[i].md5);
        }
        free(elf);
    }
}

static void assert_refused(const char *text, const char *what)
{
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_N26};
    struct nocap_error err = {""};
    uint8_t *elf;
    size_t size;
    assert_int_equal(
        nocap_aie_assemble_text(&elf, &size, text, strlen(text), "x.asm", &options, &err),
        NOCAP_E_INPUT);
    assert_contains(err.text, what);
}

static void what_cannot_be_made_is_refused(void **state)
{
    (void)state;
    assert_refused(
        ".target aie4\n.partition 1column\nSTART_JOB 0\n PREEMPT 0, @s, @r, @h\nEND_JOB\n"
        "EOF\nh:\n .long 5\n",
        "gap between bits 0 and 2");
    assert_refused(
        ".target aie4\n.partition 1column\nSTART_JOB 0\n PREEMPT 0, @s, @r, @h\nEND_JOB\n"
        "EOF\n",
        "no hintmap 'h'");
    assert_refused(".target aie4\nSTART_JOB 0\n PREEMPT 0, @s, @r\nEND_JOB\nEOF\n",
                   "no code is known that saves uC 0 of 4 columns");
    assert_refused(
        ".target aie4\n.partition 3column\n.attach_to_group 0\nSTART_JOB 0\n NOP\nEND_JOB\n"
        "EOF\n.attach_to_group 2\nSTART_JOB 0\n PREEMPT 0, @s, @r\nEND_JOB\nEOF\n",
        "expected as many in each");
    assert_refused("START_JOB 0\n LOCAL_BARRIER $lb3, 1\nEND_JOB\n.eop\nSTART_JOB 1\n"
                   " LOCAL_BARRIER $lb3, 1\nEND_JOB\nEOF\n",
                   "are on both sides of .eop");
    assert_refused("START_JOB 0\n APPLY_OFFSET_57 @t, 2, 3\nEND_JOB\nEOF\nt:\n .long 1\n",
                   "no label for entry 1");
    assert_refused(".custom a b\n", ".custom has 2 operands; expected 1");
    assert_refused(".custom <a>\n", "is no section; expected up to 55 letters");
    assert_refused("START_JOB 0\n NOP\nEND_JOB\nEOF\n.section annotation\nname: x\nwhat\n",
                   "says nothing of an annotation");
}

/* No assembler of n26 makes such a file of instructions; bytes make it. */
static void the_second_page_at_a_barrier_stays_bytes(void **state)
{
    (void)state;
    static const char source[] =
        ".dialect n26\nSTART_JOB 0\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n.eop\n"
        ".page 36\n.bytes 0x0, ffff0100000000002400000000000000\n"
        ".bytes 0x10, 00000100100000001100000207000000\n"
        ".bytes 0x20, ff000000\n.eop\nEOF\n";
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_N26};
    struct nocap_error err = {""};
    struct nocap_aie_image *image;
    char *text = NULL;
    uint8_t *elf;
    size_t size, length;
    bool complete;
    if (nocap_aie_assemble_text(&elf, &size, source, strlen(source), "x.asm", &options, &err) !=
        NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(nocap_aie_image_open_memory(&image, elf, size, "x", &err), NOCAP_OK);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(nocap_aie_disassemble(out, image, NOCAP_AIE_N26, &complete, &err), NOCAP_OK);
    fclose(out);
    assert_true(complete);
    assert_contains(text,
                    ".page 36 ; bytes of text; as it stands, since no instructions make this");
    nocap_aie_image_close(image);
    free(text);
    free(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_come_out_the_same),
        cmocka_unit_test(files_come_back_whole),
        cmocka_unit_test(code_that_saves_comes_out_the_same),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(the_second_page_at_a_barrier_stays_bytes),
    };
    if (realpath("tests/data/aie/n26", data) == NULL) {
        perror("tests/data/aie/n26"); /* to be run from the root of the tree */
        return 1;
    }
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
