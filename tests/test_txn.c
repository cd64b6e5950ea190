/* SPDX-License-Identifier: Apache-2.0 */
/* Transaction streams of aie2 and aie2p: what is read of them, what is judged, and which operation
 * the firmware was at. */
#include "tests/temp_dir.h"

#include <elf.h>

#include "checker/aie/lint.h"
#include "checker/hang/hang.h"
#include "formats/aie/asm.h"
#include "formats/aie/txn.h"

enum { BD = 0x1D000, S2MM = 0x1D204, MM2S = 0x1D214, STATUS = 0x1D228, CORE = 0x200000 };
#define TOKEN UINT32_C(0x80000000)

/* ---- streams ---- */

static uint8_t bytes[4096];
static size_t used;
static bool late;
static uint32_t ops;

static void begin(bool later)
{
    memset(bytes, 0, sizeof bytes);
    used = NOCAP_AIE_TXN_HEADER;
    ops = 0;
    late = later;
}

static void put(uint32_t word)
{
    assert_true(used + 4 <= sizeof bytes);
    nocap_aie_put_u32(bytes + used, word);
    used += 4;
}

static void put_words(const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(words[i]);
    }
    ops++;
}
#define OP_WORDS(...)                                                                              \
    put_words((const uint32_t[]){__VA_ARGS__},                                                     \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void write_word(uint32_t address, uint32_t value)
{
    if (late) {
        OP_WORDS(0, address, value);
    } else {
        OP_WORDS(0, 0, address, 0, value, 24);
    }
}
static void write_bd(uint32_t address)
{
    if (late) {
        OP_WORDS(1, address, 20, 64, 0);
    } else {
        OP_WORDS(1, 0, address, 24, 64, 0);
    }
}
static void poll(uint32_t address, uint32_t mask, uint32_t value)
{
    if (late) {
        OP_WORDS(4, address, value, mask);
    } else {
        OP_WORDS(4, 0, address, 0, value, mask, 32, 0);
    }
}
static void wait_token(bool mm2s, uint32_t column, uint32_t row)
{
    OP_WORDS(128, 16, (mm2s ? 1u : 0u) | row << 8 | column << 16, 1u << 8 | 1u << 16);
}
static void patch(uint32_t address)
{
    if (late) {
        OP_WORDS(129, 24, address, 3, 0x40, 0);
    } else {
        OP_WORDS(129, 48, 0, 0, 0, 0, address, 0, 3, 0, 0x40, 0);
    }
}

/* Closes the stream, and opens it as an image. */
static struct nocap_aie_image *image_of(void)
{
    struct nocap_aie_image *image;
    struct nocap_error err = {""};
    const uint8_t head[] = {late, !late, 4, 6, 1, 1};
    memcpy(bytes, head, sizeof head);
    nocap_aie_put_u32(bytes + 8, ops);
    nocap_aie_put_u32(bytes + 12, (uint32_t)used);
    if (nocap_aie_image_open_memory(&image, bytes, used, "stream", &err) != NOCAP_OK) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(image->stream_count, 1);
    return image;
}

static char *text_of(const struct nocap_aie_image *image, bool *complete)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(nocap_aie_disassemble(out, image, NOCAP_AIE_SEED, complete, NULL), NOCAP_OK);
    fclose(out);
    return text;
}

static void both_versions_say_the_same(void **state)
{
    (void)state;
    static const char *const lines[] = {"descriptor 0 of TILE_0_0",
                                        "@0x1d004, #3, +0x40",
                                        "queue of TILE_0_0 S2MM_0: descriptor 0, 3 times, token",
                                        "R[0]+1, C[0]+1, #DMA_S2MM, 0",
                                        "@0x1d228, 0xf0()==0x10",
                                        "status of TILE_0_0 MM2S_0",
                                        "; 4 at 0x",
                                        "XAIE_IO_BLOCKWRITE.0            0x40"};
    for (int later = 0; later < 2; later++) {
        bool complete;
        begin(later != 0);
        write_bd(BD);
        patch(BD + 4);
        write_word(S2MM, TOKEN | 2 << 16);
        wait_token(false, 0, 0);
        poll(STATUS, 0xF0, 0x10);
        struct nocap_aie_image *image = image_of();
        char *text = text_of(image, &complete);
        assert_true(complete);
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
            if (strstr(text, lines[i]) == NULL) {
                fail_msg("no '%s' in:\n%s", lines[i], text);
            }
        }
        free(text);
        nocap_aie_image_close(image);
    }
}

/* The code that saves and restores ends with one of 12 bytes; the assembler writes 16. */
static void merged_tokens_have_two_sizes(void **state)
{
    (void)state;
    begin(true);
    OP_WORDS(132, 16, 0x0408, 0);
    OP_WORDS(132, 12, 0x0308);
    struct nocap_aie_image *image = image_of();
    bool complete;
    char *text = text_of(image, &complete);
    assert_true(complete);
    assert_contains(text, "C[4]==8");
    assert_contains(text, "C[3]==8");
    free(text);
    nocap_aie_image_close(image);
}

static void a_stream_that_breaks_off_is_told(void **state)
{
    (void)state;
    static const struct {
        uint32_t word;
        const char *said;
    } rows[] = {{42, "no operation is known by the number 0x2a"}, {1, "does not fit"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool complete;
        begin(true);
        write_word(S2MM, 0);
        OP_WORDS(rows[i].word, 0, 0x1000);
        struct nocap_aie_image *image = image_of();
        char *text = text_of(image, &complete);
        assert_false(complete);
        assert_non_null(strstr(text, rows[i].said));
        free(text);
        nocap_aie_image_close(image);
    }
}

/* ---- judging ---- */

static unsigned count(enum nocap_rule rule)
{
    struct nocap_aie_image *image = image_of();
    struct nocap_report *report;
    const struct nocap_lint_options options = {.size = sizeof options};
    assert_int_equal(nocap_aie_lint_image(&report, image, "stream", &options, NULL), NOCAP_OK);
    unsigned found = (unsigned)report->rules[rule].violations;
    for (size_t i = 0; i < report->finding_count; i++) {
        if (report->findings[i].rule != rule) {
            fail_msg("%s: %s", nocap_rules[report->findings[i].rule].id,
                     report->findings[i].observed);
        }
    }
    nocap_report_free(report);
    nocap_aie_image_close(image);
    return found;
}

static void tokens_need_a_task_before(void **state)
{
    (void)state;
    begin(false); /* before the task */
    wait_token(false, 0, 0);
    write_word(S2MM, TOKEN);
    assert_int_equal(count(TXN_002), 1);
    begin(false); /* the task sends none */
    write_word(S2MM, 0);
    wait_token(false, 0, 0);
    assert_int_equal(count(TXN_002), 1);
    begin(false); /* of another column; the task of this one is what was meant */
    write_word(S2MM, TOKEN);
    wait_token(false, 1, 0);
    assert_int_equal(count(TXN_002), 1);
    begin(false); /* once a channel */
    wait_token(true, 0, 0);
    wait_token(true, 0, 0);
    assert_int_equal(count(TXN_002), 1);
    begin(false); /* a repeated task may send more */
    write_word(S2MM, TOKEN | 1 << 16);
    wait_token(false, 0, 0);
    wait_token(false, 0, 0);
    assert_int_equal(count(TXN_002), 0);
    begin(false); /* LOADPDI may have started it */
    OP_WORDS(8, 0, 0, 0);
    wait_token(false, 0, 1);
    assert_int_equal(count(TXN_002), 0);
    begin(false); /* what the mask leaves of the word is not known */
    OP_WORDS(3, 0, S2MM, 0, 1, 1, 32, 0);
    wait_token(false, 0, 0);
    assert_int_equal(count(TXN_002), 0);
}

static void tasks_are_waited_for(void **state)
{
    (void)state;
    begin(true);
    write_word(MM2S, TOKEN);
    assert_int_equal(count(TXN_003), 1);
    begin(true); /* by its status */
    write_word(MM2S, TOKEN);
    poll(STATUS, 0x3F, 0);
    assert_int_equal(count(TXN_003), 0);
    begin(true); /* it tells nobody */
    write_word(MM2S, 0);
    assert_int_equal(count(TXN_003), 0);
    begin(true); /* by column */
    write_word(MM2S, TOKEN);
    OP_WORDS(132, 16, 1, 0);
    assert_int_equal(count(TXN_003), 0);
}

static void descriptors_are_left_alone_while_they_are_used(void **state)
{
    (void)state;
    begin(false);
    write_word(MM2S, 1);
    write_bd(BD + 32);
    assert_int_equal(count(TXN_004), 1);
    begin(false); /* another one */
    write_word(MM2S, 1);
    write_bd(BD);
    assert_int_equal(count(TXN_004), 0);
    begin(false); /* that of another tile */
    write_word(MM2S, 1);
    write_bd(CORE + BD + 32);
    assert_int_equal(count(TXN_004), 0);
    begin(false); /* a wait for something else may tell that it is over */
    write_word(S2MM, TOKEN);
    write_word(MM2S, 1);
    wait_token(false, 0, 0);
    write_bd(BD + 32);
    assert_int_equal(count(TXN_004), 0);
}

/* The descriptor goes on with `next` where `link` is the bit that says so. */
static void write_link(uint32_t address, unsigned link, uint32_t next)
{
    write_word(address, 1u << link | next << (link + 1));
}

static void a_task_uses_the_descriptors_that_it_goes_on_with(void **state)
{
    (void)state;
    static const struct {
        uint32_t base, word;
        unsigned link;
    } kinds[] = {{BD, 28, 26}, {0x1A0000, 4, 19}, {CORE + BD, 20, 26}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint32_t base = kinds[i].base, queue = i == 1 ? 0x1A0604 : i == 0 ? S2MM : 0x21DE04;
        begin(i % 2 != 0);
        write_link(base + kinds[i].word, kinds[i].link, 3); /* 0, 3, 0 */
        write_link(base + 96 + kinds[i].word, kinds[i].link, 0);
        write_word(queue, 0);
        write_bd(base + 32); /* not in the chain */
        assert_int_equal(count(TXN_004), 0);
        write_bd(base + 96);
        assert_int_equal(count(TXN_004), 1);
        poll(STATUS, 0xf0, 0x10);
        write_bd(base);
        write_word(base + 96 + kinds[i].word, 0);
        assert_int_equal(count(TXN_004), 1);
        write_word(queue, 3); /* the chain is one descriptor now */
        write_bd(base);
        assert_int_equal(count(TXN_004), 1);
    }
}

static void a_pdi_may_end_a_chain(void **state)
{
    (void)state;
    begin(false);
    write_link(BD + 28, 26, 3);
    OP_WORDS(8, 0, 0, 0); /* LOADPDI */
    write_word(S2MM, 0);
    write_bd(BD + 96);
    assert_int_equal(count(TXN_004), 0);
    begin(false);
    write_link(BD + 28, 26, 3);
    write_word(BD + 28, 0); /* it ends here again */
    write_word(S2MM, 0);
    write_bd(BD + 96);
    assert_int_equal(count(TXN_004), 0);
}

static void addresses_are_patched_before_use(void **state)
{
    (void)state;
    begin(false);
    write_bd(BD);
    write_word(MM2S, 0);
    patch(BD + 4);
    assert_int_equal(count(TXN_005), 1);
    begin(false); /* after the last use, however much later */
    write_word(MM2S, 0);
    poll(STATUS, 0x3F, 0);
    patch(BD + 4);
    assert_int_equal(count(TXN_005), 1);
    begin(false); /* it is used again */
    write_word(MM2S, 0);
    poll(STATUS, 0x3F, 0);
    patch(BD + 4);
    write_word(MM2S, 0);
    assert_int_equal(count(TXN_005), 0);
    begin(false); /* it is a new descriptor, for whoever uses it */
    write_word(MM2S, 0);
    poll(STATUS, 0x3F, 0);
    write_bd(BD);
    patch(BD + 4);
    assert_int_equal(count(TXN_005), 0);
}

/* ---- ELF files, hangs ---- */

static size_t put_section(uint8_t *file, size_t at, Elf32_Shdr *header, uint32_t name,
                          const void *content, size_t size)
{
    memcpy(file + at, content, size);
    *header = (Elf32_Shdr){.sh_name = name,
                           .sh_type = SHT_PROGBITS,
                           .sh_offset = (uint32_t)at,
                           .sh_size = (uint32_t)size};
    return at + (size + 3) / 4 * 4;
}

/* An ELF file of OS ABI 0x45 with the stream, and control packets if asked for. */
static size_t put_elf(uint8_t *file, const char *text, bool packets)
{
    static const char names[] = "\0.shstrtab\0.ctrltext\0.ctrldata\0.preempt_save";
    Elf32_Shdr sections[5] = {{0}};
    Elf32_Ehdr header = {.e_type = ET_EXEC,
                         .e_machine = 1,
                         .e_version = 1,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof sections[0],
                         .e_shnum = packets ? 4 : 3,
                         .e_shstrndx = 1};
    const uint8_t ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT, 0x45, 2};
    memcpy(header.e_ident, ident, sizeof ident);
    size_t at = put_section(file, sizeof header, &sections[1], 1, names, sizeof names);
    sections[1].sh_type = SHT_STRTAB;
    uint32_t name = strcmp(text, ".ctrltext") == 0 ? 11 : 21;
    at = put_section(file, at, &sections[2], name, bytes, used);
    at = put_section(file, at, &sections[3], 21, "pack", 4);
    header.e_shoff = (uint32_t)at;
    memcpy(file + at, sections, sizeof sections[0] * header.e_shnum);
    memcpy(file, &header, sizeof header);
    return at + sizeof sections[0] * header.e_shnum;
}

static void elf_files_have_streams(void **state)
{
    (void)state;
    static uint8_t file[8192];
    struct nocap_error err = {""};
    struct nocap_aie_image *image;
    struct nocap_report *report;
    const struct nocap_lint_options options = {.size = sizeof options};
    for (int packets = 0; packets < 2; packets++) {
        begin(false);
        wait_token(false, 0, 0);
        nocap_aie_image_close(image_of());
        size_t size = put_elf(file, ".ctrltext", packets != 0);
        if (nocap_aie_image_open_memory(&image, file, size, "t.elf", &err) != NOCAP_OK) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(image->stream_count, 1);
        assert_string_equal(image->streams[0].section, ".ctrltext");
        assert_int_equal(nocap_aie_lint_image(&report, image, "t.elf", &options, NULL), NOCAP_OK);
        /* control packets may start tasks */
        assert_int_equal(report->rules[TXN_002].violations, packets == 0);
        nocap_report_free(report);
        nocap_aie_image_close(image);
    }
    size_t size = put_elf(file, ".ctrldata", false);
    assert_int_equal(nocap_aie_image_open_memory(&image, file, size, "t.elf", &err), NOCAP_E_INPUT);
    assert_non_null(strstr(err.text, "aie2 or aie2p (OS ABI 0x45) without control code"));
}

static struct nocap_hang *hang_at(uint32_t operation, struct nocap_error *err)
{
    static struct nocap_aie_postmortem postmortem;
    struct nocap_hang *hang = NULL;
    postmortem.has_operation = true;
    postmortem.operation = operation;
    (void)nocap_hang_postmortem(&hang, "stream.bin", NULL, &postmortem, err);
    return hang;
}

static void the_operation_of_a_hang_is_named(void **state)
{
    (void)state;
    struct nocap_error err = {""};
    begin(false);
    write_word(S2MM, 0);
    wait_token(false, 0, 0);
    nocap_aie_image_close(image_of());
    write_bytes("stream.bin", bytes, used);
    struct nocap_hang *h = hang_at(1, &err);
    assert_non_null(h);
    assert_int_equal(h->verdict, NOCAP_HANG_HUNG);
    assert_string_equal(h->waits[0].what,
                        "operation 1 at 0x28, XAIE_IO_CUSTOM_OP_TCT R[0]+1, C[0]+1, #DMA_S2MM, 0 "
                        "(a token of each of 1 tiles from TILE_0_0 on, S2MM_0)");
    assert_int_equal(h->cause_count, 1);
    assert_int_equal(h->causes[0]->rule, TXN_002);
    nocap_hang_free(h);
    h = hang_at(0, &err);
    assert_non_null(h);
    assert_int_equal(h->verdict, NOCAP_HANG_INCONCLUSIVE);
    assert_non_null(strstr(h->waits[0].what, "or the next one: operation 1"));
    nocap_hang_free(h);
    assert_null(hang_at(2, &err));
    assert_non_null(strstr(err.text, "the stream has no operation 2, it has 2"));
    assert_null(hang_at(UINT32_MAX, &err));
    assert_non_null(strstr(err.text, "ran no transaction stream"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_say_the_same),
        cmocka_unit_test(merged_tokens_have_two_sizes),
        cmocka_unit_test(a_stream_that_breaks_off_is_told),
        cmocka_unit_test(tokens_need_a_task_before),
        cmocka_unit_test(tasks_are_waited_for),
        cmocka_unit_test(descriptors_are_left_alone_while_they_are_used),
        cmocka_unit_test(a_task_uses_the_descriptors_that_it_goes_on_with),
        cmocka_unit_test(a_pdi_may_end_a_chain),
        cmocka_unit_test(addresses_are_patched_before_use),
        cmocka_unit_test(elf_files_have_streams),
        cmocka_unit_test(the_operation_of_a_hang_is_named),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
