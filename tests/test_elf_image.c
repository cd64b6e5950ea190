/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware ELF files: images written here byte by byte, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "formats/elf_image.h"

enum { SCRATCH = 0x82B0, IMAGE_MAX = 4096 };

/* A file in the making. */
struct image {
    uint8_t bytes[IMAGE_MAX];
    size_t size;
};

enum {
    HEADERS = sizeof(Elf32_Ehdr),
    SEGMENTS = 3,
    TEXT_AT = 256,
    TEXT_SIZE = 64,
    DATA_AT = TEXT_AT + TEXT_SIZE,
    DATA_SIZE = 8,
    STRINGS_AT = 512,
    SYMBOLS_AT = 768,
    SECTIONS_AT = 1536,
    SECTIONS = 6,
};

static const char strings[] =
    "\0.text\0.data\0.symtab\0.strtab\0main\0inner\0label\0counter\0twin\0";

static uint32_t string_at(const char *name)
{
    for (uint32_t i = 0; i < sizeof(strings); i++) {
        if (strcmp(strings + i, name) == 0 && (i == 0 || strings[i - 1] == '\0')) {
            return i;
        }
    }
    fail_msg("no string %s", name);
    return 0;
}

static void put_segment(struct image *image, unsigned i, Elf32_Phdr header)
{
    memcpy(image->bytes + HEADERS + i * sizeof(header), &header, sizeof(header));
}

static void put_section(struct image *image, unsigned i, Elf32_Shdr header)
{
    memcpy(image->bytes + SECTIONS_AT + i * sizeof(header), &header, sizeof(header));
}

static void put_symbols(struct image *image)
{
    const Elf32_Sym symbols[] = {
        {0},
        {string_at("counter"), 0xFFB00004, 4, ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2},
        {string_at("main"), 0x3840, 0x30, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1},
        {string_at("inner"), 0x3850, 0x08, ELF32_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1},
        {string_at("label"), 0x3870, 0, ELF32_ST_INFO(STB_LOCAL, STT_FUNC), 0, 1},
        {string_at("twin"), 0x3840, 0x30, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1},
        {string_at("counter"), 0x3844, 4, ELF32_ST_INFO(STB_LOCAL, STT_NOTYPE), 0, 1},
        {string_at("counter"), 0x3848, 4, ELF32_ST_INFO(STB_LOCAL, STT_FUNC), 0, SHN_ABS},
        {string_at("counter"), 0x384C, 4, ELF32_ST_INFO(STB_LOCAL, STT_FUNC), 0, SHN_UNDEF},
    };
    memcpy(image->bytes + SYMBOLS_AT, symbols, sizeof(symbols));
    put_section(image, 3,
                (Elf32_Shdr){string_at(".symtab"), SHT_SYMTAB, 0, 0, SYMBOLS_AT, sizeof(symbols), 4,
                             1, 4, sizeof(Elf32_Sym)});
}

/* Firmware as a linker lays it out: text in L1, initialised data in core-private memory, a stack.
 */
static struct image firmware(void)
{
    struct image image = {.size = SECTIONS_AT + SECTIONS * sizeof(Elf32_Shdr)};
    Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_entry = 0x3840,
        .e_phoff = HEADERS,
        .e_shoff = SECTIONS_AT,
        .e_ehsize = HEADERS,
        .e_phentsize = sizeof(Elf32_Phdr),
        .e_phnum = SEGMENTS,
        .e_shentsize = sizeof(Elf32_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = 4,
    };
    memcpy(image.bytes, &header, sizeof(header));
    put_segment(
        &image, 0,
        (Elf32_Phdr){PT_LOAD, TEXT_AT, 0x3840, 0x3840, TEXT_SIZE, TEXT_SIZE, PF_R | PF_X, 16});
    put_segment(
        &image, 1,
        (Elf32_Phdr){PT_LOAD, DATA_AT, 0xFFB00010, 0xFFB00010, DATA_SIZE, 0x20, PF_R | PF_W, 16});
    put_segment(&image, 2, (Elf32_Phdr){PT_NOTE, 0, 0, 0, 16, 16, PF_R, 4});
    for (unsigned i = 0; i < TEXT_SIZE + DATA_SIZE; i++) {
        image.bytes[TEXT_AT + i] = (uint8_t)(i * 3 + 1);
    }
    memcpy(image.bytes + STRINGS_AT, strings, sizeof(strings));
    put_section(&image, 1,
                (Elf32_Shdr){string_at(".text"), SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x3840,
                             TEXT_AT, TEXT_SIZE, 0, 0, 16, 0});
    put_section(&image, 2,
                (Elf32_Shdr){string_at(".data"), SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0xFFB00004,
                             DATA_AT, DATA_SIZE, 0, 0, 4, 0});
    put_symbols(&image);
    put_section(&image, 4,
                (Elf32_Shdr){string_at(".strtab"), SHT_STRTAB, 0, 0, STRINGS_AT, sizeof(strings), 0,
                             0, 1, 0});
    return image;
}

/* Changes a field of the ELF header or of a program header. */
#define SET_HEADER(image, field, v)                                                                \
    do {                                                                                           \
        Elf32_Ehdr h_;                                                                             \
        memcpy(&h_, (image)->bytes, sizeof(h_));                                                   \
        h_.field = (v);                                                                            \
        memcpy((image)->bytes, &h_, sizeof(h_));                                                   \
    } while (0)
#define SET_SEGMENT(image, i, field, v)                                                            \
    do {                                                                                           \
        Elf32_Phdr h_;                                                                             \
        memcpy(&h_, (image)->bytes + HEADERS + (i) * sizeof(h_), sizeof(h_));                      \
        h_.field = (v);                                                                            \
        memcpy((image)->bytes + HEADERS + (i) * sizeof(h_), &h_, sizeof(h_));                      \
    } while (0)

/* Opens a copy that is exactly as large, so that a sanitizer sees a byte too many. */
static enum nocap_status open_image(const struct image *image, uint32_t scratch,
                                    struct nocap_elf_image **result, struct nocap_error *err)
{
    uint8_t *copy = malloc(image->size ? image->size : 1);
    assert_non_null(copy);
    memcpy(copy, image->bytes, image->size);
    enum nocap_status status =
        nocap_elf_open_memory(result, copy, image->size, "brisc.elf", scratch, err);
    free(copy);
    return status;
}

static void segments(void **state)
{
    (void)state;
    struct image file = firmware();
    struct nocap_elf_image *image;
    struct nocap_error err;
    assert_int_equal(open_image(&file, SCRATCH, &image, &err), NOCAP_OK);
    assert_int_equal(nocap_elf_segment_count(image), 2);
    const struct nocap_elf_segment *text = nocap_elf_segment(image, 0);
    assert_int_equal(text->address, 0x3840);
    assert_int_equal(text->link_address, 0x3840);
    assert_int_equal(text->file_size, TEXT_SIZE);
    assert_int_equal(text->memory_size, TEXT_SIZE);
    assert_true(text->text);
    assert_false(text->local_ram);
    assert_memory_equal(text->bytes, file.bytes + TEXT_AT, TEXT_SIZE);
    const struct nocap_elf_segment *data = nocap_elf_segment(image, 1);
    assert_int_equal(data->address, SCRATCH + 0x10);
    assert_int_equal(data->link_address, 0xFFB00010);
    assert_int_equal(data->file_size, DATA_SIZE);
    assert_int_equal(data->memory_size, 0x20);
    assert_true(data->local_ram);
    assert_false(data->text);
    assert_memory_equal(data->bytes, file.bytes + DATA_AT, DATA_SIZE);
    assert_null(nocap_elf_segment(image, 2));
    assert_int_equal(nocap_elf_text_base(image), 0x3840);
    nocap_elf_close(image);
}

static void scratch_unknown(void **state)
{
    (void)state;
    struct image file = firmware();
    struct nocap_elf_image *image;
    struct nocap_error err;
    assert_int_equal(open_image(&file, 0, &image, &err), NOCAP_OK);
    assert_int_equal(nocap_elf_segment(image, 1)->address, 0);
    assert_true(nocap_elf_segment(image, 1)->local_ram);
    nocap_elf_close(image);
}

/* The edges of core-private memory. */
static void local_ram_window(void **state)
{
    (void)state;
    const struct {
        uint32_t physical;
        bool local;
    } cases[] = {{0xFFAFFFF0, false}, {0xFFB00000, true}, {0xFFB01FFF, true}, {0xFFB02000, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct image file = firmware();
        struct nocap_elf_image *image;
        struct nocap_error err;
        SET_SEGMENT(&file, 1, p_paddr, cases[i].physical);
        assert_int_equal(open_image(&file, SCRATCH, &image, &err), NOCAP_OK);
        const struct nocap_elf_segment *segment = nocap_elf_segment(image, 1);
        assert_int_equal(segment->local_ram, cases[i].local);
        assert_int_equal(segment->address, cases[i].local
                                               ? SCRATCH + (cases[i].physical - 0xFFB00000)
                                               : cases[i].physical);
        nocap_elf_close(image);
    }
}

static void symbols(void **state)
{
    (void)state;
    struct image file = firmware();
    struct nocap_elf_image *image;
    struct nocap_error err;
    assert_int_equal(open_image(&file, SCRATCH, &image, &err), NOCAP_OK);
    const struct {
        uint32_t address;
        const char *name;
        uint32_t offset;
    } want[] = {
        {0x383F, NULL, 0},          {0x3840, "main", 0},
        {0x3844, "main", 4},        {0x384F, "main", 0xF},
        {0x3850, "inner", 0},       {0x3857, "inner", 7},
        {0x3858, "main", 0x18},     {0x386F, "main", 0x2F},
        {0x3870, "label", 0},       {0x387F, "label", 0xF},
        {0x3880, NULL, 0},          {0xFFB00003, NULL, 0},
        {0xFFB00004, "counter", 0}, {0xFFB00007, "counter", 3},
        {0xFFB00008, NULL, 0},      {0, NULL, 0},
        {0xFFFFFFFF, NULL, 0},
    };
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        uint32_t offset = 0xDEAD;
        const char *name = nocap_elf_symbol(image, want[i].address, &offset);
        if (want[i].name) {
            assert_non_null(name);
            assert_string_equal(name, want[i].name);
            assert_int_equal(offset, want[i].offset);
            assert_string_equal(nocap_elf_symbol(image, want[i].address, NULL), want[i].name);
        } else {
            assert_null(name);
            assert_int_equal(offset, 0xDEAD);
        }
    }
    nocap_elf_close(image);
}

/* Without a section table: text base from the executable segment, no symbols. */
static void stripped(void **state)
{
    (void)state;
    struct image file = firmware();
    struct nocap_elf_image *image;
    struct nocap_error err;
    SET_HEADER(&file, e_shoff, 0);
    SET_HEADER(&file, e_shnum, 0);
    SET_HEADER(&file, e_shstrndx, 0);
    SET_HEADER(&file, e_entry, 0x3844);
    file.size = STRINGS_AT;
    assert_int_equal(open_image(&file, SCRATCH, &image, &err), NOCAP_OK);
    assert_int_equal(nocap_elf_text_base(image), 0x3840);
    assert_null(nocap_elf_symbol(image, 0x3840, NULL));
    nocap_elf_close(image);
}

static void refused(const struct image *file, const char *words)
{
    struct nocap_elf_image *image = (void *)file;
    struct nocap_error err = {""};
    assert_int_equal(open_image(file, SCRATCH, &image, &err), NOCAP_E_INPUT);
    assert_null(image);
    if (!strstr(err.text, words) || !strstr(err.text, "brisc.elf")) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    }
}

static void foreign_files(void **state)
{
    (void)state;
    struct image file = firmware();
    file.bytes[0] = 'E';
    refused(&file, "not an ELF file");
    file = firmware();
    file.size = 0;
    refused(&file, "not an ELF file");
    file = firmware();
    file.bytes[EI_CLASS] = ELFCLASS64;
    refused(&file, "RISC-V");
    file = firmware();
    file.bytes[EI_DATA] = ELFDATA2MSB;
    refused(&file, "RISC-V");
    file = firmware();
    SET_HEADER(&file, e_machine, EM_ARM);
    refused(&file, "RISC-V file (class 1, data 1, machine 40)");
    file = firmware();
    SET_HEADER(&file, e_phnum, 0);
    SET_HEADER(&file, e_phoff, 0);
    refused(&file, "nothing to load");
    file = firmware();
    SET_SEGMENT(&file, 0, p_type, PT_NULL);
    SET_SEGMENT(&file, 1, p_memsz, 0);
    refused(&file, "nothing to load");
}

static void damaged_files(void **state)
{
    (void)state;
    struct image file = firmware();
    SET_SEGMENT(&file, 0, p_offset, 0xFFFFFFF0);
    refused(&file, "segment 0");
    file = firmware();
    SET_SEGMENT(&file, 0, p_filesz, IMAGE_MAX);
    refused(&file, "past the end of the file");
    file = firmware();
    SET_SEGMENT(&file, 1, p_memsz, DATA_SIZE - 1);
    refused(&file, "segment 1 has more bytes in the file (8) than in memory (7)");
    file = firmware();
    SET_SEGMENT(&file, 1, p_memsz, 0xFFFFFFFF);
    refused(&file, "claims 4294967295 bytes of memory");
    file = firmware();
    SET_SEGMENT(&file, 0, p_paddr, 0xFFFFFFF0);
    refused(&file, "32-bit address space");
    file = firmware();
    SET_SEGMENT(&file, 0, p_vaddr, 0xFFFFFFF0);
    refused(&file, "32-bit address space");
    file = firmware();
    SET_HEADER(&file, e_phnum, 0x4000);
    refused(&file, "program header");
    file = firmware();
    file.bytes[STRINGS_AT + sizeof(strings) - 1] = 'x';
    refused(&file, "string table");
    file = firmware();
    file.size -= 1;
    refused(&file, "section table");
}

/* Cut anywhere and with any byte changed: an image or a message, never worse. */
static void every_byte(void **state)
{
    (void)state;
    struct image whole = firmware();
    for (size_t at = 0; at < whole.size; at++) {
        struct image file = whole;
        struct nocap_elf_image *image;
        struct nocap_error err = {""};
        file.size = at;
        enum nocap_status status = open_image(&file, SCRATCH, &image, &err);
        assert_int_equal(status == NOCAP_OK, image != NULL);
        assert_int_equal(status == NOCAP_OK, err.text[0] == '\0');
        nocap_elf_close(image);
    }
    static const uint8_t masks[] = {0x01, 0x80, 0xFF};
    for (size_t at = 0; at < whole.size; at++) {
        for (size_t m = 0; m < sizeof(masks); m++) {
            struct image file = whole;
            struct nocap_elf_image *image;
            struct nocap_error err = {""};
            file.bytes[at] ^= masks[m];
            enum nocap_status status = open_image(&file, SCRATCH, &image, &err);
            assert_int_equal(status == NOCAP_OK, image != NULL);
            if (image) {
                for (size_t i = 0; i < nocap_elf_segment_count(image); i++) {
                    const struct nocap_elf_segment *segment = nocap_elf_segment(image, i);
                    assert_true(segment->file_size <= segment->memory_size);
                    assert_true(segment->bytes[0] <= 255);
                }
                nocap_elf_symbol(image, 0x3850, NULL);
            }
            nocap_elf_close(image);
        }
    }
}

/* Many symbols of one place and no size must not take long, nor a deep nest. */
static void many_symbols(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct image start = firmware();
    size_t size = SYMBOLS_AT + (size_t)COUNT * sizeof(Elf32_Sym) + SECTIONS * sizeof(Elf32_Shdr);
    uint8_t *bytes = calloc(1, size);
    assert_non_null(bytes);
    memcpy(bytes, start.bytes, SYMBOLS_AT);
    for (uint32_t i = 0; i < COUNT; i++) {
        Elf32_Sym symbol = {string_at("main"),
                            i % 2 ? 0x3840 : 0x3840 + i % 0x40,
                            i % 2 ? 0 : 0x40,
                            ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
                            0,
                            1};
        memcpy(bytes + SYMBOLS_AT + i * sizeof(symbol), &symbol, sizeof(symbol));
    }
    size_t sections_at = SYMBOLS_AT + (size_t)COUNT * sizeof(Elf32_Sym);
    memcpy(bytes + sections_at, start.bytes + SECTIONS_AT, SECTIONS * sizeof(Elf32_Shdr));
    Elf32_Shdr table;
    memcpy(&table, bytes + sections_at + 3 * sizeof(table), sizeof(table));
    table.sh_size = COUNT * sizeof(Elf32_Sym);
    memcpy(bytes + sections_at + 3 * sizeof(table), &table, sizeof(table));
    Elf32_Ehdr header;
    memcpy(&header, bytes, sizeof(header));
    header.e_shoff = (Elf32_Off)sections_at;
    memcpy(bytes, &header, sizeof(header));
    struct nocap_elf_image *image;
    struct nocap_error err;
    assert_int_equal(nocap_elf_open_memory(&image, bytes, size, "many.elf", SCRATCH, &err),
                     NOCAP_OK);
    free(bytes); /* the image has its own copy */
    assert_string_equal(nocap_elf_symbol(image, 0x3850, NULL), "main");
    nocap_elf_close(image);
}

static void files(void **state)
{
    (void)state;
    struct nocap_elf_image *image;
    struct nocap_error err;
    char path[] = "/tmp/nocap-elf-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct image file = firmware();
    assert_int_equal(write(fd, file.bytes, file.size), file.size);
    close(fd);
    assert_int_equal(nocap_elf_open(&image, path, SCRATCH, &err), NOCAP_OK);
    assert_int_equal(nocap_elf_segment_count(image), 2);
    nocap_elf_close(image);
    unlink(path);
    assert_int_equal(nocap_elf_open(&image, path, SCRATCH, &err), NOCAP_E_INPUT);
    assert_null(image);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(nocap_elf_open(&image, "/", SCRATCH, &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(nocap_elf_open(&image, "/dev/zero", SCRATCH, &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "not a regular file"));
    nocap_elf_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments),         cmocka_unit_test(scratch_unknown),
        cmocka_unit_test(local_ram_window), cmocka_unit_test(symbols),
        cmocka_unit_test(stripped),         cmocka_unit_test(foreign_files),
        cmocka_unit_test(damaged_files),    cmocka_unit_test(every_byte),
        cmocka_unit_test(many_symbols),     cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
