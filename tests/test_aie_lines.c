/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of control code from DWARF: sections as the public assembler of late 2026 writes them are
 * put into files of asm. */
#include <elf.h>

#include "checker/aie/lint.h"
#include "formats/aie/asm.h"
#include "formats/aie/lines.h"
#include "tests/temp_dir.h"

struct bytes {
    uint8_t at[512];
    size_t size;
};

static void put(struct bytes *b, uint64_t value, size_t count)
{
    for (; count > 0; count--, value >>= 8) {
        b->at[b->size++] = (uint8_t)value;
    }
}

static uint32_t put_text(struct bytes *b, const char *text)
{
    uint32_t at = (uint32_t)b->size;
    memcpy(b->at + b->size, text, strlen(text) + 1);
    b->size += strlen(text) + 1;
    return at;
}

static void set(struct bytes *b, size_t at, size_t value)
{
    for (size_t i = 0; i < 4; i++) {
        b->at[at + i] = (uint8_t)(value >> 8 * i);
    }
}

/* The four sections of one kernel. */
struct dwarf {
    struct bytes info, abbrev, line, str;
};

static void put_abbrev(struct bytes *b)
{
    static const uint8_t table[] = {
        1, 0x11, 1, 0x25, 0x0e, 0x13, 0x05, 0x03, 0x0e, 0,    0, /* unit: producer, language, name
                                                                  */
        2, 0x1e, 1, 0x03, 0x0e, 0x10, 0x17, 0x0b, 0x06, 0,    0, /* module: name, table, bytes */
        3, 0x0a, 0, 0x11, 0x01, 0x1c, 0x0e, 0x03, 0x0e, 0x5a, 0x0e, 0, 0, /* label */
        0};
    memcpy(b->at, table, sizeof table);
    b->size = sizeof table;
}

/* A table: of `file` line 7 at `first`, line 9 at first + 8, line 3 a page later. */
static void put_table(struct bytes *b, const char *file, uint8_t first)
{
    static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    size_t begin = b->size;
    put(b, 0, 4);
    put(b, 5, 2);
    put(b, 4, 2); /* bytes of an address; no segments */
    size_t header = b->size;
    put(b, 0, 4);
    put(b, 0x010101, 3);
    put(b, 0xFB, 1); /* lines from -5 on */
    put(b, 14, 1);
    put(b, 13, 1);
    memcpy(b->at + b->size, lengths, sizeof lengths);
    b->size += sizeof lengths;
    put(b, 0x080101, 3); /* one folder, a string */
    put(b, 1, 1);
    put_text(b, "");
    put(b, 0x080101, 3);
    put(b, 1, 1);
    put_text(b, file);
    set(b, header, b->size - header - 4);
    put(b, 0x02, 1); /* advance_pc */
    put(b, first, 1);
    put(b, 0x03, 1); /* advance_line by 6 */
    put(b, 6, 1);
    put(b, 0x01, 1);                /* copy */
    put(b, 2 + 5 + 8 * 14 + 13, 1); /* special: 2 lines, 8 bytes */
    put(b, 0x02, 1);
    put(b, 0xC080 - 0x80 + 0x80, 2); /* 8192 as LEB128: 80 40 */
    b->at[b->size - 1] = 0x40;
    put(b, 0x03, 1);
    put(b, 0x7A, 1); /* -6 */
    put(b, 0x01, 1);
    put(b, 0x010100, 3); /* end_sequence */
    set(b, begin, b->size - begin - 4);
}

/* A kernel with two columns, 0 and 2. */
static struct dwarf make(const char *kernel, const char *file)
{
    struct dwarf d = {.info = {.size = 0}};
    uint32_t producer = put_text(&d.str, "an assembler"), name = put_text(&d.str, kernel);
    uint32_t columns[] = {put_text(&d.str, "column 0"), put_text(&d.str, "column 2")};
    put_abbrev(&d.abbrev);
    put(&d.info, 0, 4);
    put(&d.info, 5, 2);
    put(&d.info, 0x0401, 2); /* a compile unit, 4 bytes an address */
    put(&d.info, 0, 4);
    put(&d.info, 1, 1);
    put(&d.info, producer, 4);
    put(&d.info, 0x8001, 2);
    put(&d.info, name, 4);
    for (uint8_t c = 0; c < 2; c++) {
        put(&d.info, 2, 1);
        put(&d.info, columns[c], 4);
        put(&d.info, d.line.size, 4);
        put(&d.info, 0x4000, 4);
        put(&d.info, 3, 1); /* a label: what is annotated */
        put(&d.info, 16, 4);
        put(&d.info, 0, 4);
        put(&d.info, 0, 4);
        put(&d.info, 0, 4);
        put(&d.info, 0, 1);
        put_table(&d.line, file, (uint8_t)(16 + 4 * c));
    }
    put(&d.info, 0, 1);
    set(&d.info, 0, d.info.size - 4);
    return d;
}

/* The file with these sections after its own. */
static uint8_t *with_dwarf(const uint8_t *elf, size_t *size, const struct dwarf *dwarfs,
                           size_t count)
{
    static const char names[] = ".debug_info\0.debug_abbrev\0.debug_line\0.debug_str";
    Elf32_Ehdr header;
    memcpy(&header, elf, sizeof header);
    Elf32_Shdr *table = calloc(header.e_shnum + 4 * count, sizeof *table);
    uint8_t *file = calloc(1, *size + (1 << 16));
    assert_non_null(table);
    assert_non_null(file);
    memcpy(file, elf, *size);
    memcpy(table, elf + header.e_shoff, header.e_shnum * sizeof *table);
    Elf32_Shdr *text = &table[header.e_shstrndx];
    uint32_t own = text->sh_size;
    memcpy(file + *size, elf + text->sh_offset, own);
    memcpy(file + *size + own, names, sizeof names);
    text->sh_offset = (Elf32_Off)*size;
    text->sh_size += sizeof names;
    *size += text->sh_size;
    for (size_t i = 0; i < 4 * count; i++) {
        const struct dwarf *d = &dwarfs[i / 4];
        const struct bytes *const parts[] = {&d->info, &d->abbrev, &d->line, &d->str};
        const struct bytes *b = parts[i % 4];
        uint32_t name = own;
        for (size_t n = 0; n < i % 4; n++) {
            name += (uint32_t)strlen(names + (name - own)) + 1;
        }
        table[header.e_shnum + i] = (Elf32_Shdr){.sh_name = name,
                                                 .sh_type = SHT_PROGBITS,
                                                 .sh_offset = (Elf32_Off)*size,
                                                 .sh_size = (Elf32_Word)b->size,
                                                 .sh_addralign = 1};
        memcpy(file + *size, b->at, b->size);
        *size += b->size;
    }
    *size = (*size + 3) / 4 * 4;
    header.e_shoff = (Elf32_Off)*size;
    header.e_shnum = (Elf32_Half)(header.e_shnum + 4 * count);
    memcpy(file + *size, table, header.e_shnum * sizeof *table);
    *size += header.e_shnum * sizeof *table;
    memcpy(file, &header, sizeof header);
    free(table);
    return file;
}

/* An image of this text with this DWARF. */
static struct nocap_aie_image *image_of(const char *text, const struct dwarf *dwarfs, size_t count)
{
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_N26, .no_map = true};
    struct nocap_error err = {""};
    struct nocap_aie_image *image;
    uint8_t *elf;
    size_t size;
    if (nocap_aie_assemble_text(&elf, &size, text, strlen(text), "x", &options, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    uint8_t *file = with_dwarf(elf, &size, dwarfs, count);
    if (nocap_aie_image_open_memory(&image, file, size, "x", &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    free(file);
    free(elf);
    return image;
}

static void assert_line(const struct nocap_aie_lines *lines, uint32_t uc, uint32_t page,
                        uint32_t off, const char *file, uint32_t number)
{
    const struct nocap_aie_line *line = nocap_aie_lines_find(lines, uc, page, off);
    if (line == NULL) {
        fail_msg("no line for uC %u page %u offset %u", uc, page, off);
        return;
    }
    assert_string_equal(line->file, file);
    assert_int_equal(line->line, number);
}

static const char program[] = "START_JOB 0\n NOP\nEND_JOB\nEOF\n";
static const char two[] = ".kernel _Z3DPUPc, a\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n"
                          ".kernel _Z3DPUPc, b\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n";

static void each_column_has_its_table(void **state)
{
    (void)state;
    static const char *const files[] = {"a.asm", "below/a.asm", "/abs/a.asm"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct dwarf dwarf = make("whoever:it", files[i]);
        struct nocap_aie_image *image = image_of(program, &dwarf, 1);
        struct nocap_aie_lines *lines;
        struct nocap_error err;
        if (nocap_aie_lines_open(&lines, image, 0, &err) != NOCAP_OK) {
            fail_msg("%s", err.text);
        }
        assert_line(lines, 0, 0, 16, files[i], 7);
        assert_line(lines, 0, 0, 24, files[i], 9);
        assert_line(lines, 0, 1, 24, files[i], 3);
        assert_line(lines, 2, 0, 20, files[i], 7);
        assert_null(nocap_aie_lines_find(lines, 1, 0, 16));
        assert_null(nocap_aie_lines_find(lines, 0, 0, 20));
        nocap_aie_lines_close(lines);
        nocap_aie_image_close(image);
    }
}

static void each_kernel_has_its_unit(void **state)
{
    (void)state;
    const struct dwarf dwarfs[] = {make("_Z3DPUPc:b", "b.asm"), make("_Z3DPUPc:a", "a.asm")};
    struct nocap_aie_image *image = image_of(two, dwarfs, 2);
    struct nocap_error err;
    assert_int_equal(image->kernel_count, 2);
    for (size_t i = 0; i < 2; i++) {
        struct nocap_aie_lines *lines;
        assert_int_equal(nocap_aie_lines_open(&lines, image, i, &err), NOCAP_OK);
        assert_line(lines, 0, 0, 16, i == 0 ? "a.asm" : "b.asm", 7);
        nocap_aie_lines_close(lines);
    }
    nocap_aie_image_close(image);
}

/* Whatever its bytes are, it costs the lines only. */
static void dwarf_that_is_damaged_costs_the_lines(void **state)
{
    (void)state;
    struct dwarf good = make("whoever:it", "a.asm");
    struct bytes *const parts[] = {&good.info, &good.abbrev, &good.line, &good.str};
    unsigned failed = 0;
    for (size_t part = 0; part < 4; part++) {
        for (size_t at = 0; at < parts[part]->size; at++) {
            uint8_t byte = parts[part]->at[at];
            parts[part]->at[at] = (uint8_t)(byte ^ 0xFF);
            struct nocap_aie_image *image = image_of(program, &good, 1);
            struct nocap_aie_lines *lines;
            struct nocap_error err = {""};
            enum nocap_status status = nocap_aie_lines_open(&lines, image, 0, &err);
            assert_true(status == NOCAP_OK || (status == NOCAP_E_INPUT && lines == NULL));
            assert_true((status == NOCAP_OK) == (err.text[0] == 0));
            failed += status != NOCAP_OK;
            nocap_aie_lines_close(lines);
            nocap_aie_image_close(image);
            parts[part]->at[at] = byte;
        }
    }
    assert_true(failed >= 10);
}

static void findings_have_lines_of_dwarf(void **state)
{
    (void)state;
    const struct dwarf dwarf = make("whoever:it", "a.asm");
    const struct nocap_lint_options options = {.size = sizeof options};
    struct nocap_aie_image *image =
        image_of("START_JOB 0\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n", &dwarf, 1);
    struct nocap_error err;
    struct nocap_report *report;
    assert_int_equal(nocap_aie_lint_image(&report, image, "x", &options, &err), NOCAP_OK);
    assert_int_equal(report->finding_count, 1);
    assert_string_equal(report->findings[0].file, "a.asm");
    assert_int_equal(report->findings[0].line, 9);
    nocap_report_free(report);
    nocap_aie_image_close(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_has_its_table),
        cmocka_unit_test(each_kernel_has_its_unit),
        cmocka_unit_test(dwarf_that_is_damaged_costs_the_lines),
        cmocka_unit_test(findings_have_lines_of_dwarf),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
