/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels' code: which words and accesses are found in it, and what they are judged to be. */
#include "tests/temp_dir.h"

#include <elf.h>

#include "checker/lint/kernel.h"
#include "formats/blackhole/tensix_extract.h"

enum { BASE = 0x6E00, MAX_WORDS = 32 };
__extension__ enum {
    LUI_A3_FIFO = 0xFFE406B7,  /* lui a3, 0xffe40 */
    LUI_T6 = 0x45000FB7,       /* lui t6, 0x45000 */
    ADDI_T5 = 0x038F8F13,      /* addi t5, t6, 0x38 */
    SW_T5_A3 = 0x01E6A023,     /* sw t5, 0(a3) */
    LW_A0_A1 = 0x0005A503,     /* lw a0, 0(a1) */
    SW_A0_A3 = 0x00A6A023,     /* sw a0, 0(a3) */
    LUI_A4_PCBUF = 0xFFE80737, /* lui a4, 0xffe80 */
    LW_A5_DRAIN = 0x00472783,  /* lw a5, 4(a4) */
    JAL_RA = 0x000000EF,       /* jal ra, 0 */
    RET = 0x00008067,
    WRCFG_28 = 0xC0700032, /* ttwrcfg 28,0,12 */
    STALL_CFG_THCON = 0x89000006,
    RESOURCEDECL = 0x14000000,
};

struct found {
    struct nocap_extracted what[MAX_WORDS];
    size_t count;
};

static bool take(void *context, const struct nocap_extracted *what)
{
    struct found *found = context;
    found->what[found->count++] = *what;
    return found->count < MAX_WORDS;
}

static void constants_are_followed(void **state)
{
    (void)state;
    static const uint32_t code[] = {LUI_A3_FIFO, LUI_T6,   ADDI_T5,  SW_T5_A3,
                                    WRCFG_28,    LW_A0_A1, SW_A0_A3, LUI_A4_PCBUF,
                                    LW_A5_DRAIN, JAL_RA,   SW_T5_A3, RET};
    struct found found = {.count = 0};
    assert_true(nocap_tensix_extract((const uint8_t *)code, sizeof code, BASE, take, &found));
    assert_int_equal(found.count, 6); /* after the call a3 is unknown */
    assert_int_equal(found.what[0].kind, NOCAP_EXTRACTED_STORE);
    assert_int_equal(found.what[0].target, 0xFFE40000);
    assert_true(found.what[0].known);
    assert_int_equal(found.what[0].value, 0x45000038);
    assert_int_equal(found.what[0].address, BASE + 12);
    assert_int_equal(found.what[1].kind, NOCAP_EXTRACTED_WORD);
    assert_int_equal(found.what[1].value, 0xB01C000C);
    assert_int_equal(found.what[2].kind, NOCAP_EXTRACTED_STORE);
    assert_false(found.what[2].known);
    assert_int_equal(found.what[3].kind, NOCAP_EXTRACTED_LOAD);
    assert_int_equal(found.what[3].target, 0xFFE80004);
    assert_int_equal(found.what[4].kind, NOCAP_EXTRACTED_JUMP);
    assert_int_equal(found.what[5].kind, NOCAP_EXTRACTED_JUMP);
    assert_int_equal(found.what[5].address, BASE + 44);
}

static void write_kernel(const char *path, const uint32_t *code, size_t count)
{
    struct {
        Elf32_Ehdr head;
        Elf32_Phdr segment;
        uint32_t code[MAX_WORDS];
    } elf = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
                             EV_CURRENT},
                 .e_type = ET_EXEC,
                 .e_machine = EM_RISCV,
                 .e_version = EV_CURRENT,
                 .e_entry = BASE,
                 .e_phoff = sizeof(Elf32_Ehdr),
                 .e_ehsize = sizeof(Elf32_Ehdr),
                 .e_phentsize = sizeof(Elf32_Phdr),
                 .e_phnum = 1,
                 .e_shentsize = sizeof(Elf32_Shdr)},
        .segment = {.p_type = PT_LOAD,
                    .p_offset = sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
                    .p_vaddr = BASE,
                    .p_paddr = BASE,
                    .p_filesz = (Elf32_Word)(4 * count),
                    .p_memsz = (Elf32_Word)(4 * count),
                    .p_flags = PF_R | PF_X,
                    .p_align = 4},
    };
    memcpy(elf.code, code, 4 * count);
    write_bytes(path, &elf, sizeof elf);
}

static struct nocap_report *lint(const uint32_t *code, size_t count, unsigned thread)
{
    struct nocap_error err = {{0}};
    struct nocap_report *result = NULL;
    write_kernel("kernel.elf", code, count);
    if (nocap_lint_kernel(&result, "kernel.elf", thread, NULL, &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return result;
}

static void a_missing_wait_is_found_where_it_stands(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {LUI_A3_FIFO, LUI_T6, ADDI_T5, SW_T5_A3, WRCFG_28, RET};
    struct nocap_report *result = lint(wrong, 6, 2);
    assert_int_equal(result->words, 2);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0].rule, TNX_030);
    assert_int_equal(result->findings[0].address, BASE + 16);
    assert_int_equal(result->counts[NOCAP_WARNING], 1);
    nocap_report_free(result);

    static const uint32_t right[] = {LUI_A3_FIFO,     LUI_T6,   ADDI_T5, SW_T5_A3,
                                     STALL_CFG_THCON, WRCFG_28, RET};
    result = lint(right, 7, 2);
    assert_int_equal(result->finding_count, 0);
    nocap_report_free(result);
}

static void a_word_that_no_kernel_may_push(void **state)
{
    (void)state;
    static const uint32_t code[] = {RESOURCEDECL, RET};
    struct nocap_report *result = lint(code, 2, 0);
    assert_int_equal(result->finding_count, 1);
    assert_int_equal(result->findings[0].rule, TNX_019);
    assert_int_equal(result->findings[0].address, BASE);
    nocap_report_free(result);
}

static void what_the_code_does_not_tell_is_not_judged(void **state)
{
    (void)state;
    static const uint32_t code[] = {LUI_A3_FIFO, LUI_T6,   ADDI_T5,  SW_T5_A3,
                                    LW_A0_A1,    SW_A0_A3, WRCFG_28, RET};
    struct nocap_report *result = lint(code, 8, 2);
    assert_int_equal(result->unknown, 1);
    assert_int_equal(result->finding_count, 0);
    nocap_report_free(result);
}

static void threads_by_name_and_files_that_are_none(void **state)
{
    (void)state;
    assert_int_equal(nocap_lint_thread_of("build/matmul_trisc2.elf"), 2);
    assert_int_equal(nocap_lint_thread_of("trisc1/kernel.elf"), -1);
    struct nocap_error err = {{0}};
    struct nocap_report *result = NULL;
    write_text("not.elf", "no ELF");
    assert_int_equal(nocap_lint_kernel(&result, "not.elf", 0, NULL, &err), NOCAP_E_INPUT);
    assert_null(result);
    assert_contains(err.text, "not.elf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_followed),
        cmocka_unit_test(a_missing_wait_is_found_where_it_stands),
        cmocka_unit_test(a_word_that_no_kernel_may_push),
        cmocka_unit_test(what_the_code_does_not_tell_is_not_judged),
        cmocka_unit_test(threads_by_name_and_files_that_are_none),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
