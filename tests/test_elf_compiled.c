/* SPDX-License-Identifier: Apache-2.0 */
/* A firmware ELF file that the cross compiler makes, where it is installed. */
#include "tests/temp_dir.h"

#include "formats/elf_image.h"

static const char source[] =
    "unsigned counter = 0x12345678, table[6] = {1, 2, 3, 4, 5, 6};\n"
    "unsigned scratch[32];\n"
    "__attribute__((noinline)) unsigned work(unsigned v) { return table[v % 6] * 3 + counter; }\n"
    "__attribute__((section(\".text.start\"))) void start(void)\n"
    "{ for (;;) scratch[counter++ % 32] = work(counter); }\n";

/* As for a Tensix core: text runs from L1, data in core-private memory. */
static const char script[] = "ENTRY(start)\n"
                             "PHDRS { text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }\n"
                             "SECTIONS {\n"
                             "  .text 0x6640 : { *(.text.start) *(.text*) *(.rodata*) } :text\n"
                             "  .data 0xFFB00000 : { *(.sdata*) *(.data*) } :data\n"
                             "  .bss (NOLOAD) : { *(.bss*) *(.sbss*) *(COMMON) } :data\n"
                             "}\n";

static void cross_compiled(void **state)
{
    (void)state;
    if (system("riscv64-unknown-elf-gcc --version >/dev/null 2>&1") != 0) {
        print_message("riscv64-unknown-elf-gcc is not installed\n");
        skip();
    }
    write_text("core.c", source);
    write_text("core.ld", script);
    assert_int_equal(system("riscv64-unknown-elf-gcc -march=rv32im -mabi=ilp32 -nostdlib "
                            "-ffreestanding -O1 -g -Wl,--build-id=none -T core.ld -o core.elf "
                            "core.c"),
                     0);
    struct nocap_elf_image *image;
    struct nocap_error err = {""};
    enum nocap_status status = nocap_elf_open(&image, "core.elf", 0xE2B0, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, NOCAP_OK);
    assert_int_equal(nocap_elf_text_base(image), 0x6640);
    assert_int_equal(nocap_elf_segment_count(image), 2);
    const struct nocap_elf_segment *text = nocap_elf_segment(image, 0);
    const struct nocap_elf_segment *data = nocap_elf_segment(image, 1);
    assert_int_equal(text->address, 0x6640);
    assert_true(text->text && !text->local_ram && text->file_size > 0);
    assert_int_equal(data->address, 0xE2B0);
    assert_true(data->local_ram && !data->text);
    assert_int_equal(data->link_address, 0xFFB00000);
    assert_int_equal(data->file_size, 28);         /* counter and table */
    assert_int_equal(data->memory_size, 28 + 128); /* and scratch */
    assert_memory_equal(data->bytes, "\x78\x56\x34\x12", 4);
    uint32_t offset;
    assert_string_equal(nocap_elf_symbol(image, 0x6644, &offset), "start");
    assert_int_equal(offset, 4);
    assert_string_equal(nocap_elf_symbol(image, text->address + text->file_size - 4, NULL), "work");
    assert_string_equal(nocap_elf_symbol(image, 0xFFB00008, &offset), "table");
    assert_int_equal(offset, 4);
    assert_string_equal(nocap_elf_symbol(image, 0xFFB0001C + 127, &offset), "scratch");
    assert_int_equal(offset, 127);
    nocap_elf_close(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_compiled),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
