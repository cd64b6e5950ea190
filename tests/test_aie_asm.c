/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler, disassembler and container of AIE control code: known bytes, the way there and back.
 */
#include "tests/temp_dir.h"

#include <libelf.h>
#include <limits.h>

#include "formats/aie/asm.h"
#include "formats/aie/md5.h"
#include "formats/aie/operands.h"
#include "formats/aie/page.h"

struct built {
    uint8_t *elf;
    size_t size;
    struct nocap_aie_image *image;
};

static struct built build_as(const char *text, enum nocap_aie_dialect dialect)
{
    const struct nocap_aie_asm_options options = {.dialect = dialect};
    struct nocap_error err = {""};
    struct built b;
    if (nocap_aie_assemble_text(&b.elf, &b.size, text, strlen(text), "t.asm", &options, &err) !=
            NOCAP_OK ||
        nocap_aie_image_open_memory(&b.image, b.elf, b.size, "t.elf", &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    return b;
}

static struct built build(const char *text)
{
    return build_as(text, NOCAP_AIE_SEED);
}

static void drop(struct built *b)
{
    nocap_aie_image_close(b->image);
    free(b->elf);
}

static char *text_of(const struct nocap_aie_image *image, enum nocap_aie_dialect dialect)
{
    char *text = NULL;
    size_t size = 0;
    bool complete;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(nocap_aie_disassemble(out, image, dialect, &complete, NULL), NOCAP_OK);
    fclose(out);
    assert_true(complete);
    return text;
}

/* Assembles, disassembles, assembles again: the same file. */
static void assert_round_trip(const char *source, enum nocap_aie_dialect dialect)
{
    struct built first = build_as(source, dialect);
    char *text = text_of(first.image, dialect);
    struct built second = build_as(text, dialect);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.elf, second.elf, first.size);
    char *again = text_of(second.image, dialect);
    assert_string_equal(text, again);
    free(text);
    free(again);
    drop(&first);
    drop(&second);
}

/* ---- instructions ---- */

static void tables_are_consistent(void **state)
{
    (void)state;
    for (int d = 0; d < NOCAP_AIE_DIALECT_COUNT; d++) {
        unsigned count = 0;
        for (int opcode = 0; opcode < NOCAP_AIE_OPCODES; opcode++) {
            const struct nocap_aie_insn_info *info =
                nocap_aie_insn_info((enum nocap_aie_dialect)d, (uint8_t)opcode);
            if (info == NULL) {
                continue;
            }
            count++;
            assert_int_equal(info->opcode, opcode);
            assert_ptr_equal(nocap_aie_insn_find((enum nocap_aie_dialect)d, info->mnemonic,
                                                 strlen(info->mnemonic)),
                             info);
            assert_true(info->size % 4 == 0 || d == NOCAP_AIE_F25);
            unsigned end = 2;
            for (unsigned f = 0; f < nocap_aie_field_count(info); f++) {
                assert_true(info->fields[f].offset >= end);
                assert_int_equal(info->fields[f].offset % (info->fields[f].bits / 8), 0);
                end = info->fields[f].offset + info->fields[f].bits / 8u;
            }
            assert_true(end <= info->size && info->size - end < 4);
        }
        static const unsigned counts[NOCAP_AIE_DIALECT_COUNT] = {28, 30, 31, 36};
        assert_int_equal(count, counts[d]);
    }
}

static void dialects_differ_where_they_do(void **state)
{
    (void)state;
    assert_int_equal(nocap_aie_insn_find(NOCAP_AIE_F25, "load_pdi", 8)->size, 6);
    assert_int_equal(nocap_aie_insn_find(NOCAP_AIE_SEED, "LOAD_PDI", 8)->size, 12);
    assert_string_equal(nocap_aie_insn_find(NOCAP_AIE_F25, "PREEMPT", 7)->mnemonic,
                        "PREEMPTION_CHECKPOINT");
    assert_null(nocap_aie_insn_find(NOCAP_AIE_F25, "SLEEP", 5));
    assert_null(nocap_aie_insn_info(NOCAP_AIE_SEED, 0x1f));
    assert_null(nocap_aie_insn_info(NOCAP_AIE_N26, 0x0a));
    assert_non_null(nocap_aie_insn_info(NOCAP_AIE_N26, 0x23));
    assert_int_equal(nocap_aie_insn_find(NOCAP_AIE_M25, "LOAD_PDI", 8)->size, 8);
    assert_null(nocap_aie_insn_find(NOCAP_AIE_M25, "LOAD_CORES", 10));
    char note[96];
    nocap_aie_opcode_note(0x1d, note, sizeof note);
    assert_string_equal(note, " (SLEEP in m25, seed, n26)");
    nocap_aie_opcode_note(0x0a, note, sizeof note);
    assert_string_equal(note, "");
}

/* LOAD_PDI has 6, 8 or 12 bytes, which the pages tell; the header tells the rest. */
static void a_file_tells_its_dialect(void **state)
{
    (void)state;
    static const char text[] = "START_JOB 0\n LOAD_PDI 1, @p\nEND_JOB\nEOF\n.section .ctrltext\n"
                               "p:\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n.endl p\n";
    for (int d = 0; d < NOCAP_AIE_DIALECT_COUNT; d++) {
        const struct nocap_aie_asm_options options = {.dialect = (enum nocap_aie_dialect)d};
        struct nocap_error err = {""};
        struct nocap_aie_image *image;
        uint8_t *elf;
        size_t size;
        assert_int_equal(
            nocap_aie_assemble_text(&elf, &size, text, sizeof text - 1, "x.asm", &options, &err),
            NOCAP_OK);
        assert_int_equal(nocap_aie_image_open_memory(&image, elf, size, "x", &err), NOCAP_OK);
        assert_int_equal(image->dialect, d);
        assert_int_equal(image->chip, d == NOCAP_AIE_N26 ? NOCAP_AIE_CHIP_UNKNOWN : NOCAP_AIE2PS);
        nocap_aie_image_close(image);
        free(elf);
    }
}

/* What only one dialect has decides where nothing is said. */
static void a_text_tells_its_dialect(void **state)
{
    (void)state;
    const struct nocap_aie_asm_options any = {.dialect = NOCAP_AIE_DIALECT_OF_FILE};
    static const struct {
        const char *text;
        uint8_t os_abi;
    } rows[] = {
        {"START_JOB 0\n NOP\nEND_JOB\nEOF\n", 0x40},
        {".target aie2ps\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n", 0x40},
        {".target aie4-a\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n", 0x46},
        {"START_JOB 0\n REL_ACQ_SYNC 4, 8\nEND_JOB\nEOF\n", 0x46},
        {".dialect n26\nSTART_JOB 0\n NOP\nEND_JOB\nEOF\n", 0x46},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_error err = {""};
        uint8_t *elf;
        size_t size;
        assert_int_equal(nocap_aie_assemble_text(&elf, &size, rows[i].text, strlen(rows[i].text),
                                                 "x.asm", &any, &err),
                         NOCAP_OK);
        assert_int_equal(elf[7], rows[i].os_abi);
        free(elf);
    }
}

static void assert_bytes(const char *insn, const char *hex)
{
    char text[256], got[64] = "";
    snprintf(text, sizeof text, "START_JOB 0\n%s\nEND_JOB\nEOF\nd: UC_DMA_BD 0, 0, 0, 1, 0, 0\n",
             insn);
    struct built b = build(text);
    const uint8_t *bytes = b.image->pages[0].bytes + 24;
    for (size_t i = 0; i < strlen(hex) / 2; i++) {
        snprintf(got + 2 * i, 3, "%02x", bytes[i]);
    }
    assert_string_equal(got, hex);
    drop(&b);
}

static void instructions_have_their_bytes(void **state)
{
    (void)state;
    assert_bytes("MOV $g15, 0x01020304", "1000170004030201");
    assert_bytes("mov $r8, 4294967295", "10000800ffffffff");
    assert_bytes("READ_32_D $r0, $g3", "0d00000b");
    assert_bytes("WAIT_TCTS TILE_3_1, MEM_MM2S_2, 9", "0600610008000900");
    assert_bytes("WAIT_TCTS TILE_127_31, 15, 1", "0600ff0f0f000100");
    assert_bytes("REMOTE_BARRIER $rb63, 0x3", "1200400003000000");
    assert_bytes("LOCAL_BARRIER 20, 1", "11001401");
    assert_bytes("MASK_POLL_32 1,2,3 ; close together", "1400000001000000"
                                                        "0200000003000000");
    assert_bytes("SLEEP 5 # microseconds", "1d00000005000000");
    assert_bytes("UC_DMA_WRITE_DES_SYNC @d", "09002000");
}

static void descriptors_and_tables_have_their_bits(void **state)
{
    (void)state;
    static const uint8_t golden[16] = {0x0a, 0, 7, 0, 0x20, 0, 0, 0, 0x10, 0, 3, 0, 0, 8, 0, 0};
    struct nocap_aie_bd bd;
    uint8_t again[16], table[36] = {0};
    nocap_aie_bd_decode(golden, &bd);
    assert_true(bd.length == 10 && bd.next && bd.external && bd.local_relative && !bd.stray);
    assert_true(bd.local == 0x20 && bd.remote == UINT64_C(0x80000030010));
    nocap_aie_bd_encode(&bd, again);
    assert_memory_equal(golden, again, 16);
    memset(table + 8, 0xff, 4);
    memset(table + 32, 0xff, 4);
    nocap_aie_table_add(NOCAP_AIE2PS, table, 0x4e000);
    assert_true(nocap_aie_table_base(NOCAP_AIE2PS, table) == UINT64_C(0x1ffffff0004e000));
    nocap_aie_table_add(NOCAP_AIE2PS, table, UINT64_C(0x100000000));
    assert_int_equal(nocap_aie_u32(table + 8), 0xffff0000);
    assert_int_equal(nocap_aie_u32(table + 32), 0xfffffe00);
}

/* ---- the container ---- */

static void md5_is_that_of_the_standard(void **state)
{
    (void)state;
    static const char digits[] = "1234567890123456789012345678901234567890"
                                 "1234567890123456789012345678901234567890";
    struct nocap_md5 md5;
    char text[33];
    nocap_md5_init(&md5);
    nocap_md5_finish(&md5, text);
    assert_string_equal(text, "d41d8cd98f00b204e9800998ecf8427e");
    nocap_md5_init(&md5);
    nocap_md5_update(&md5, digits, 33);
    nocap_md5_update(&md5, digits + 33, 47);
    nocap_md5_finish(&md5, text);
    assert_string_equal(text, "57edf4a22be3c955ac49da2e2107b67a");
}

static void a_file_has_its_header_pages_and_note(void **state)
{
    (void)state;
    struct built b = build(".attach_to_group 1\nSTART_JOB 0\nNOP\nEND_JOB\n.eop\n"
                           "START_JOB 0\nYIELD\nEND_JOB\nEOF\n"
                           ".attach_to_group 0\nSTART_JOB 0\nNOP\nEND_JOB\nEOF\n");
    const struct nocap_aie_image *image = b.image;
    assert_true(image->elf && !image->merged && image->elf_class == ELFCLASS32);
    assert_true(image->os_abi == 0x40 && image->abi_version == 2 && image->machine == 1);
    assert_int_equal(image->page_count, 3);
    assert_int_equal(image->column_count, 2);
    assert_string_equal(image->pages[0].section, ".ctrltext.0.0");
    assert_string_equal(image->pages[2].section, ".ctrltext.1.1");
    assert_int_equal(nocap_aie_head(&image->pages[1], NOCAP_AIE_HEAD_NEXT), 36);
    assert_int_equal(nocap_aie_head(&image->pages[2], NOCAP_AIE_HEAD_NEXT), 0);
    assert_int_equal(image->pages[0].text_size, 36);
    assert_int_equal(image->pages[0].section_size, NOCAP_AIE_PAGE_SIZE);
    assert_string_equal(image->uid, image->uid_expected);
    drop(&b);
}

static void a_bare_image_is_read(void **state)
{
    (void)state;
    struct nocap_aie_image *image;
    struct nocap_error err;
    struct built b = build("START_JOB 0\nNOP\nEND_JOB\nEOF\n");
    assert_int_equal(nocap_aie_image_open_memory(&image, b.image->pages[0].bytes,
                                                 NOCAP_AIE_PAGE_SIZE, "bare", &err),
                     NOCAP_OK);
    assert_true(!image->elf && image->page_count == 1 && image->pages[0].text_size == 0);
    char *text = text_of(image, NOCAP_AIE_SEED);
    assert_contains(text, "  NOP\n");
    free(text);
    nocap_aie_image_close(image);
    assert_int_equal(nocap_aie_image_open_memory(&image, "hello", 5, "bare", &err), NOCAP_E_INPUT);
    assert_contains(err.text, "neither an ELF file nor");
    drop(&b);
}

/* All assemblers but that of the document refuse a barrier on both sides of .eop. */
static void the_second_page_at_a_barrier_is_bytes(void **state)
{
    (void)state;
    struct built b = build("START_JOB 0\n LOCAL_BARRIER $lb0, 2\nEND_JOB\n.eop\n"
                           "START_JOB 1\n LOCAL_BARRIER $lb0, 2\nEND_JOB\nEOF\n");
    char *text = text_of(b.image, NOCAP_AIE_SEED);
    assert_null(strstr(text, ".page"));
    free(text);
    text = text_of(b.image, NOCAP_AIE_F25);
    const char *bytes = strstr(text, ".page");
    assert_non_null(bytes);
    assert_true(strstr(text, "; page 1") < bytes && strstr(bytes + 1, ".page") == NULL);
    assert_null(strstr(text, "; asm does not"));
    free(text);
    drop(&b);
}

static void relocations_name_arguments_and_places(void **state)
{
    (void)state;
    struct built b =
        build("START_JOB 0\n APPLY_OFFSET_57 @t, 1, 3\n APPLY_OFFSET_57 @u, 1, 0xFFFF\n"
              " WRITE_32 0x40000, there\nEND_JOB\nEOF\n"
              "t: .long 1\n .long 2\n .long 3\n .long 4\n .long 5\n .long 6\n .long 7\n .long 8\n"
              " .long 9\nu: .long 1\n .long 2\n .long 3\n .long 4\n .long 5\n .long 6\n .long 7\n"
              " .long 8\n .long 9\n");
    const struct nocap_aie_relocation *r = b.image->relocations;
    assert_int_equal(b.image->relocation_count, 3);
    assert_true(r[0].type == NOCAP_AIE_REL_SHIM_DMA_57 && r[0].page == b.image->pages);
    assert_string_equal(r[0].symbol, "3");
    assert_string_equal(r[1].symbol, "control-code-0");
    assert_int_equal(r[1].page_offset, r[0].page_offset + 36);
    assert_true(r[2].type == NOCAP_AIE_REL_SCALAR_32 && r[2].page_offset == 48);
    assert_string_equal(r[2].symbol, "there");
    drop(&b);
}

static void data_are_placed_by_first_use(void **state)
{
    (void)state;
    struct built b = build("START_JOB 0\n UC_DMA_WRITE_DES_SYNC @two\n UC_DMA_WRITE_DES_SYNC @one\n"
                           "END_JOB\nEOF\n"
                           "one: UC_DMA_BD 0, 0x10, @w1, 1, 0, 0\n"
                           "two: UC_DMA_BD 0, 0x20, @w2, 1, 0, 0\n"
                           "w1: .long 1\nw2: .long 2\nunused: .long 3\n");
    const uint8_t *page = b.image->pages[0].bytes;
    assert_int_equal(b.image->pages[0].text_size, 48);
    assert_int_equal(page[40], 0xA5);
    assert_int_equal(nocap_aie_u32(page + 48 + 8), 0x20);
    assert_int_equal(nocap_aie_u32(page + 64 + 8), 0x10);
    assert_int_equal(nocap_aie_u32(page + 80), 2);
    assert_int_equal(nocap_aie_u32(page + 84), 1);
    assert_int_equal(nocap_aie_head(&b.image->pages[0], NOCAP_AIE_HEAD_LENGTH), 88);
    assert_int_equal(nocap_aie_u32(page + 88), 0);
    drop(&b);
}

static void jobs_fill_pages_in_order(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), *p = text;
    for (int job = 0; job < 40; job++) {
        p += sprintf(p, "START_JOB %d\n", job);
        p += job == 0 || job == 39 ? sprintf(p, " LOCAL_BARRIER $lb0, 2\n") : 0;
        for (int i = 0; i < 50; i++) {
            p += sprintf(p, " WRITE_32 0x%x, %d\n", 0x40000 + 4 * i, job);
        }
        p += sprintf(p, "END_JOB\n");
    }
    strcpy(p, "EOF\n");
    struct built b = build(text);
    const uint8_t *page = b.image->pages[0].bytes;
    assert_int_equal(b.image->page_count, 4);
    assert_int_equal(nocap_aie_u16(page + 18), 0);
    assert_int_equal(nocap_aie_u16(page + 16 + 616 + 2), 39); /* its partner comes along */
    assert_int_equal(nocap_aie_head(b.image->pages, NOCAP_AIE_HEAD_NEXT),
                     nocap_aie_head(b.image->pages + 1, NOCAP_AIE_HEAD_LENGTH));
    drop(&b);
    assert_round_trip(text, NOCAP_AIE_SEED);
    assert_round_trip(text, NOCAP_AIE_F25);
    free(text);
}

static void buffers_are_after_the_pages(void **state)
{
    (void)state;
    static const char text[] =
        ".setpad second, 3\n.setpad first, 0x2\nSTART_JOB 0\n"
        " APPLY_OFFSET_57 @t, 1, 0xFFFF, @second\nEND_JOB\nEOF\n"
        "t: .long 1\n .long 0x10\n .long 3\n .long 4\n .long 5\n .long 6\n .long 7\n .long 8\n"
        " .long 0\n";
    struct built b = build(text);
    assert_int_equal(b.image->pad_size, 20);
    assert_string_equal(b.image->buffers[0].section, ".pad.0");
    assert_int_equal(nocap_aie_u32(b.image->pages[0].bytes + 48 + 4), 8192 + 8 + 0x10);
    drop(&b);
}

static void other_code_has_pages_of_its_own(void **state)
{
    (void)state;
    static const char text[] = "START_JOB 0\n PREEMPT 0, @save, @restore\nEND_JOB\nEOF\n"
                               ".section .ctrltext\nsave:\nSTART_JOB 0\n NOP\nEND_JOB\n.eop\n"
                               "START_JOB 1\n NOP\nEND_JOB\nEOF\n.endl save\n"
                               ".section .ctrltext\nrestore:\nSTART_JOB 0\n LOAD_LAST_PDI\n"
                               "END_JOB\nEOF\n.endl restore\n";
    struct built b = build(text);
    const struct nocap_aie_page *pages = b.image->pages;
    assert_int_equal(b.image->page_count, 4);
    assert_int_equal(nocap_aie_u16(pages[0].bytes + 28), 2); /* save: by name after restore */
    assert_int_equal(nocap_aie_u16(pages[0].bytes + 30), 1);
    assert_int_equal(nocap_aie_head(&pages[0], NOCAP_AIE_HEAD_BRANCH),
                     nocap_aie_head(&pages[2], NOCAP_AIE_HEAD_LENGTH));
    assert_int_equal(nocap_aie_head(&pages[2], NOCAP_AIE_HEAD_NEXT), 36);
    drop(&b);
    assert_round_trip(text, NOCAP_AIE_SEED);
    assert_round_trip(text, NOCAP_AIE_N26);
}

static void all_instructions_come_back(void **state)
{
    (void)state;
    assert_round_trip("START_JOB 0\n MASK_WRITE_32 4, 1, 1\n WRITE_32_D 3, 4, 5\n READ_32 $r1, 8\n"
                      " ADD $r1, 1\n POLL_32 4, 1\n MASK_POLL_32 4, 1, 1\n TRACE 7\n NOP\n YIELD\n"
                      " LAUNCH_JOB 1\n SAVE_TIMESTAMPS 1\n SAVE_REGISTER 4, 2\n SLEEP 3\n"
                      " WAIT_TCTS 0xffff, 99, 1\n LOCAL_BARRIER 99, 1\n REMOTE_BARRIER 0, 1\n"
                      " WRITE_32 4, symbol\n UC_DMA_WRITE_DES_SYNC 5\n LOAD_CORES 3, 9\nEND_JOB\n"
                      "START_JOB_DEFERRED 1\n UC_DMA_WRITE_DES $g0, @c\n WAIT_UC_DMA $g0\n"
                      "END_JOB\nEOF\nc: UC_DMA_BD 0, 4, @w, 1, 0, 1\n UC_DMA_BD 1, 8, 0, 2, 1, 0\n"
                      "w: .long @c\n",
                      NOCAP_AIE_SEED);
    assert_round_trip("START_JOB 0\n UC_DMA_WRITE_DES_SYNC @c\n UC_DMA_WRITE_DES_SYNC @d\nEND_JOB\n"
                      "EOF\n.align 16\nc: UC_DMA_BD 0, 4, @w, 2, 0, 0\n .long 1\nd:\n"
                      " UC_DMA_BD 0, 4, @w, 2, 0, 0\n.align 4\nw: .long 2\n .long 3\n",
                      NOCAP_AIE_SEED);
    assert_round_trip("START_COND_JOB_PREEMPT 0\n LOAD_CORES_CP 1\n REL_ACQ_SYNC 4, 8\n"
                      " UC_DMA_MASK_POLL_EXT 1, 2, 3, 4\nEND_JOB\nEOF\n",
                      NOCAP_AIE_N26);
    assert_round_trip("START_JOB 0\n LOAD_PDI 0, @p\nEND_JOB\nEOF\n.section .ctrltext\np:\n"
                      "START_JOB 0\n NOP\nEND_JOB\nEOF\n.endl p\n",
                      NOCAP_AIE_F25);
}

/* ---- files of another assembler ---- */

static char data[PATH_MAX]; /* where they are */

static void reference_files_come_out_the_same(void **state)
{
    (void)state;
    static const char *const names[] = {"barriers", "dma", "regs", "two_cols"};
    const struct nocap_aie_asm_options options = {.dialect = NOCAP_AIE_SEED};
    for (size_t i = 0; i < 4; i++) {
        char path[512];
        struct nocap_error err = {""};
        uint8_t *elf;
        size_t size, want;
        snprintf(path, sizeof path, "%s/%s.asm", data, names[i]);
        assert_int_equal(nocap_aie_assemble(&elf, &size, path, &options, &err), NOCAP_OK);
        snprintf(path, sizeof path, "%s/%s.elf", data, names[i]);
        char *bytes = read_bytes(path, &want);
        assert_int_equal(size, want);
        assert_memory_equal(elf, bytes, size);
        free(bytes);
        free(elf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_consistent),
        cmocka_unit_test(dialects_differ_where_they_do),
        cmocka_unit_test(a_file_tells_its_dialect),
        cmocka_unit_test(a_text_tells_its_dialect),
        cmocka_unit_test(instructions_have_their_bytes),
        cmocka_unit_test(descriptors_and_tables_have_their_bits),
        cmocka_unit_test(md5_is_that_of_the_standard),
        cmocka_unit_test(a_file_has_its_header_pages_and_note),
        cmocka_unit_test(a_bare_image_is_read),
        cmocka_unit_test(the_second_page_at_a_barrier_is_bytes),
        cmocka_unit_test(relocations_name_arguments_and_places),
        cmocka_unit_test(data_are_placed_by_first_use),
        cmocka_unit_test(jobs_fill_pages_in_order),
        cmocka_unit_test(buffers_are_after_the_pages),
        cmocka_unit_test(other_code_has_pages_of_its_own),
        cmocka_unit_test(all_instructions_come_back),
        cmocka_unit_test(reference_files_come_out_the_same),
    };
    if (realpath("tests/data/aie", data) == NULL) {
        perror("tests/data/aie"); /* to be run from the root of the tree */
        return 1;
    }
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
