/* SPDX-License-Identifier: Apache-2.0 */
/* Text to a file, to text, to a file: the same bytes, for programs that are made at random of all
 * instructions and directives of every dialect, in every layout; and for files that are there. */
#include "tests/temp_dir.h"

#include <limits.h>

#include "formats/aie/asm.h"
#include "tests/effort.h"

enum { PROGRAMS_A_SEED = 30, TEXT_MAX = 1 << 16, LABELS = 6, JOBS_MAX = 5, COLUMNS = 3 };

/* ---- random programs ---- */

struct maker {
    enum nocap_aie_dialect dialect;
    uint64_t state;
    char *at, *end;
    unsigned chains; /* of the column, main included */
    bool pads, files;
};

static uint32_t pick(struct maker *m, uint32_t count)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (uint32_t)(m->state >> 16) % count;
}

static void put(struct maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct maker *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(m->at, (size_t)(m->end - m->at), format, args);
    va_end(args);
    assert_true(n >= 0 && n < m->end - m->at);
    m->at += n;
}

static uint32_t any_value(struct maker *m, unsigned bits)
{
    static const uint32_t values[] = {0, 1, 2, 0x2c, 0x7fff, 0xffff, 0x80000000, 0xffffffff};
    uint32_t value = pick(m, 4) == 0 ? values[pick(m, 8)] : (uint32_t)m->state;
    return bits >= 32 ? value : value & ((1u << bits) - 1);
}

static void put_number(struct maker *m, unsigned bits)
{
    uint32_t value = any_value(m, bits);
    put(m, pick(m, 2) ? "%u" : "0x%X", value);
}

static void put_operand(struct maker *m, const struct nocap_aie_field *field)
{
    switch ((enum nocap_aie_kind)field->kind) {
    case NOCAP_AIE_REG: put(m, pick(m, 2) ? "$r%u" : "$g%u", pick(m, 16)); break;
    case NOCAP_AIE_LB:
        if (pick(m, 5) == 0) {
            put_number(m, 8);
        } else {
            put(m, "$lb%u", pick(m, 16));
        }
        break;
    case NOCAP_AIE_RB:
        if (pick(m, 5) == 0) {
            put_number(m, 8);
        } else {
            put(m, "$rb%u", pick(m, m->dialect == NOCAP_AIE_N26 ? 8 : 64));
        }
        break;
    case NOCAP_AIE_DESC:
        if (pick(m, 8) == 0) {
            put(m, "0x%x", pick(m, 64) * 4);
        } else {
            put(m, "@d%u", pick(m, LABELS));
        }
        break;
    case NOCAP_AIE_TABLE:
        if (pick(m, 8) == 0) {
            put(m, "%u", pick(m, 100));
        } else {
            put(m, "@w%u", pick(m, LABELS));
        }
        break;
    case NOCAP_AIE_PAGE:
        if (m->chains > 1 && pick(m, 4) != 0) {
            put(m, "@chain%u", 1 + pick(m, m->chains - 1));
        } else {
            put(m, "%u", pick(m, 4));
        }
        break;
    case NOCAP_AIE_TILE:
        if (pick(m, 4) == 0) {
            put_number(m, 16);
        } else {
            put(m, "TILE_%u_%u", pick(m, 128), pick(m, 32));
        }
        break;
    case NOCAP_AIE_ACTOR: {
        static const char *const actors[] = {"SHIM_S2MM_1", "MEM_MM2S_3", "TILE_S2MM_0", "S2MM_2"};
        if (pick(m, 3) == 0) {
            put_number(m, 8);
        } else {
            put(m, "%s", actors[pick(m, 4)]);
        }
        break;
    }
    case NOCAP_AIE_ARG: {
        static const char *const args[] = {"0xFFFF", "3", "0x4", "007", "65535", "010"};
        put(m, "%s", args[pick(m, 6)]);
        break;
    }
    case NOCAP_AIE_JOB: put(m, "%u", pick(m, JOBS_MAX)); break;
    default:
        if (pick(m, 10) == 0) {
            put(m, "@w%u", pick(m, LABELS));
        } else if (field->bits == 32 && pick(m, 8) == 0) {
            put(m, "%s", pick(m, 2) ? "Some.Name-1" : "other");
        } else {
            put_number(m, field->bits);
        }
        break;
    }
}

static void put_insn(struct maker *m)
{
    const struct nocap_aie_insn_info *info;
    do {
        info = nocap_aie_insn_info(m->dialect, (uint8_t)pick(m, 0x24));
    } while (info == NULL || nocap_aie_starts_job(info->opcode) ||
             info->opcode == NOCAP_AIE_END_JOB ||
             (info->opcode == NOCAP_AIE_LAUNCH_JOB && pick(m, 3) != 0));
    put(m, "  %s", info->mnemonic);
    for (unsigned f = 0; f < nocap_aie_field_count(info); f++) {
        put(m, f == 0 ? " " : ", ");
        bool entries =
            info->opcode == NOCAP_AIE_APPLY_OFFSET_57 && f == NOCAP_AIE_APPLY_OFFSET_57_num_entries;
        if (entries && m->dialect == NOCAP_AIE_N26) {
            put(m, "%u", pick(m, 8) != 0 ? 1 : pick(m, 3)); /* each has a label there */
        } else {
            put_operand(m, &info->fields[f]);
        }
    }
    if (info->opcode == NOCAP_AIE_APPLY_OFFSET_57 && m->pads && pick(m, 2)) {
        put(m, ", @pad%u", pick(m, 2));
    }
    put(m, pick(m, 6) == 0 ? " ; why\n" : "\n");
}

static void put_jobs(struct maker *m)
{
    static const char *const starts[] = {"START_JOB", "START_JOB_DEFERRED",
                                         "START_COND_JOB_PREEMPT"};
    for (unsigned job = 0; job < JOBS_MAX; job++) {
        put(m, "%s %u\n", starts[pick(m, m->dialect == NOCAP_AIE_N26 ? 3 : 2)], job);
        for (unsigned i = pick(m, 6); i > 0; i--) {
            put_insn(m);
        }
        for (unsigned i = pick(m, 12) == 0 ? 200 + pick(m, 300) : 0; i > 0; i--) {
            put(m, " NOP\n");
        }
        put(m, "END_JOB\n");
        if (pick(m, 6) == 0) {
            put(m, ".eop\n");
        }
    }
}

/* What stands in the text byte for byte. */
static void put_raw(struct maker *m)
{
    put(m, ".page %u\n", 16 + pick(m, 8177));
    for (unsigned i = pick(m, 5); i > 0; i--) {
        put(m, ".bytes %u, %08x\n", pick(m, 8188), any_value(m, 32));
    }
    for (unsigned i = pick(m, 3); i > 0; i--) {
        put(m, ".reloc %u, %u, %u, %s\n", 16 + pick(m, 8000), pick(m, 12), pick(m, 5),
            pick(m, 2) ? "3" : "control-code-0");
    }
    put(m, ".eop\n");
}

static void put_data(struct maker *m)
{
    for (unsigned i = 0; i < LABELS; i++) {
        put(m, ".align 16\nd%u:\n", i);
        for (unsigned n = 1 + pick(m, 2); n > 0; n--) {
            put(m, "  UC_DMA_BD %u, 0x%x, ", pick(m, 3), any_value(m, 32));
            put(m, pick(m, 8) == 0 ? "%u" : pick(m, 6) == 0 ? "@d%u" : "@w%u", pick(m, LABELS));
            put(m, ", %u, %u, %u\n", pick(m, 40), pick(m, 2), n > 1 || pick(m, 8) == 0);
        }
        if (pick(m, 8) == 0) {
            put(m, "  .long 7\n");
        }
        put(m, ".align 4\nw%u:\n", i);
        for (unsigned n = 9 + pick(m, 4); n > 0; n--) {
            if (pick(m, 12) == 0) {
                put(m, "  .long @w%u\n", pick(m, LABELS));
            } else {
                put(m, "  .long 0x%x\n", any_value(m, 32));
            }
        }
    }
}

static void put_pads(struct maker *m)
{
    put(m, ".setpad pad0, %u\n", pick(m, 40));
    if (m->files && pick(m, 2)) {
        put(m, ".setpad pad1, blob.bin\n");
        return;
    }
    put(m, ".setpad pad1, 0x%x\n", pick(m, 40));
    for (unsigned i = pick(m, 4); i > 0; i--) {
        put(m, ".bytes %u, %08x%s\n", pick(m, 300), any_value(m, 32), pick(m, 2) ? "0a" : "");
    }
    for (unsigned i = pick(m, 3); i > 0; i--) {
        put(m, ".reloc %u, %u, 0x%x, %u\n", pick(m, 300), pick(m, 2) ? 4 : 7, any_value(m, 32),
            pick(m, 7));
    }
}

static void put_column(struct maker *m, unsigned uc, bool pads)
{
    put(m, ".attach_to_group %u\n", uc);
    m->pads = pads && pick(m, 2);
    m->chains = 1 + pick(m, 3);
    if (m->pads) {
        put_pads(m);
    }
    if (pick(m, 2)) {
        put(m, ".section .ctrltext,\"ax\"\n");
    }
    if (m->files && pick(m, 3) == 0) {
        put(m, ".include \"part.asm\"\n");
    }
    if (pick(m, 6) == 0) {
        put_raw(m);
    }
    put_jobs(m);
    put(m, "EOF\n.section .ctrldata\n");
    put_data(m);
    for (unsigned chain = 1; chain < m->chains; chain++) {
        put(m, ".section .ctrltext\nchain%u:\n", chain);
        put_jobs(m);
        if (pick(m, 6) == 0) {
            put_raw(m);
        }
        put(m, "EOF\n");
        put_data(m);
        put(m, ".endl chain%u\n", chain);
    }
}

static void make_program(struct maker *m, char *text)
{
    static const char *const layouts[] = {"pages", "merged", "image"};
    unsigned layout = pick(m, 5);
    m->at = text;
    m->end = text + TEXT_MAX;
    if (layout < 3) {
        put(m, ".layout %s\n", layouts[layout]);
    }
    if (m->dialect != NOCAP_AIE_F25 && pick(m, 4) == 0) {
        put(m, ".target aie2ps\n.partition 3column\n");
    }
    if (m->dialect == NOCAP_AIE_N26 && pick(m, 4) == 0) {
        put(m, ".aie_row_topology 1-2-4-0\n");
    }
    bool kernels = layout != 2 && pick(m, 4) == 0;
    for (unsigned n = layout == 2 ? 1 : 1 + pick(m, COLUMNS), i = 0; i < n; i++) {
        if (kernels) {
            put(m, ".kernel _Z3DP%cPc, inst%u\n", "UV"[pick(m, 2)], pick(m, 2));
        }
        put_column(m, i * 2, layout != 2);
    }
}

/* ---- there and back ---- */

static void assert_same_text(const uint8_t *elf, size_t size, const char *what,
                             enum nocap_aie_dialect dialect, bool whole)
{
    const struct nocap_aie_asm_options options = {.dialect = dialect};
    struct nocap_aie_image *image, *other;
    struct nocap_error err = {""};
    char *text = NULL;
    uint8_t *again;
    size_t length = 0, count;
    bool complete;
    if (nocap_aie_image_open_memory(&image, elf, size, what, &err) != NOCAP_OK) {
        fail_msg("%s: %s", what, err.text);
    }
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(nocap_aie_disassemble(out, image, dialect, &complete, &err), NOCAP_OK);
    fclose(out);
    if (nocap_aie_assemble_text(&again, &count, text, length, what, &options, &err) != NOCAP_OK) {
        fail_msg("%s: %s\n%s", what, err.text, text);
    }
    if (whole && (count != size || memcmp(again, elf, size) != 0)) {
        fail_msg("%s: the text makes another file\n%s", what, text);
    }
    assert_int_equal(nocap_aie_image_open_memory(&other, again, count, what, &err), NOCAP_OK);
    assert_int_equal(image->page_count, other->page_count);
    for (size_t i = 0; i < image->page_count; i++) {
        const struct nocap_aie_page *a = &image->pages[i], *b = &other->pages[i];
        assert_true(a->uc == b->uc && a->index == b->index && a->text_size == b->text_size);
        assert_memory_equal(a->bytes, b->bytes, NOCAP_AIE_PAGE_SIZE);
    }
    assert_int_equal(image->relocation_count, other->relocation_count);
    assert_int_equal(image->pad_size, other->pad_size);
    assert_int_equal(image->kernel_count, other->kernel_count);
    for (size_t i = 0; i < image->kernel_count; i++) {
        assert_string_equal(image->kernels[i].name, other->kernels[i].name);
    }
    assert_string_equal(image->uid_expected, other->uid_expected);
    nocap_aie_image_close(image);
    nocap_aie_image_close(other);
    free(again);
    free(text);
}

/* How many programs were accepted, and which words stood in them. */
struct seen {
    unsigned accepted;
    bool insns[NOCAP_AIE_OPCODES];
    bool directives[20];
};
static const char *const directives[] = {".attach_to_group", ".include",   ".endl",  ".setpad",
                                         ".section",         ".align",     ".eop",   ".long",
                                         "UC_DMA_BD",        ".bytes",     ".page ", ".reloc",
                                         ".layout",          ".partition", ".target"};
enum { DIRECTIVES = sizeof directives / sizeof directives[0] };

static void note_words(struct seen *seen, const char *text, enum nocap_aie_dialect dialect)
{
    for (int opcode = 0; opcode < NOCAP_AIE_OPCODES; opcode++) {
        const struct nocap_aie_insn_info *info = nocap_aie_insn_info(dialect, (uint8_t)opcode);
        seen->insns[opcode] |= info != NULL && strstr(text, info->mnemonic) != NULL;
    }
    for (unsigned i = 0; i < DIRECTIVES; i++) {
        seen->directives[i] |= strstr(text, directives[i]) != NULL;
    }
}

static void random_programs(enum nocap_aie_dialect dialect, uint64_t seed)
{
    struct maker m = {.dialect = dialect, .state = seed, .files = true};
    struct seen seen = {0};
    char *text = malloc(TEXT_MAX), what[64];
    const unsigned programs = effort(8, 4) * PROGRAMS_A_SEED;
    for (unsigned i = 0; i < programs; i++) {
        struct nocap_error err = {""};
        uint8_t *elf;
        size_t size;
        make_program(&m, text);
        write_text("random.asm", text);
        const struct nocap_aie_asm_options options = {
            .dialect = dialect, .buffers = i % 3 == 0 ? "buffers.json" : NULL};
        if (nocap_aie_assemble(&elf, &size, "random.asm", &options, &err) == NOCAP_OK) {
            snprintf(what, sizeof what, "%s program %u", nocap_aie_dialect_name(dialect), i);
            assert_same_text(elf, size, what, dialect, true);
            note_words(&seen, text, dialect);
            seen.accepted++;
            free(elf);
        }
    }
    free(text);
    assert_true(seen.accepted >= programs / 4);
    for (int opcode = 0; opcode < NOCAP_AIE_OPCODES; opcode++) {
        const struct nocap_aie_insn_info *info = nocap_aie_insn_info(dialect, (uint8_t)opcode);
        if (info != NULL && !seen.insns[opcode]) {
            fail_msg("no accepted program has %s", info->mnemonic);
        }
    }
    for (unsigned i = 0; i < DIRECTIVES - (dialect == NOCAP_AIE_F25 ? 2 : 0); i++) {
        if (!seen.directives[i]) {
            fail_msg("no accepted program has %s", directives[i]);
        }
    }
}

static void programs_of_f25_come_back(void **state)
{
    (void)state;
    random_programs(NOCAP_AIE_F25, 1);
}

static void programs_of_seed_come_back(void **state)
{
    (void)state;
    random_programs(NOCAP_AIE_SEED, 2);
}

static void programs_of_n26_come_back(void **state)
{
    (void)state;
    random_programs(NOCAP_AIE_N26, 3);
}

/* ---- files that no text made ---- */

static char data[PATH_MAX]; /* where they are */

static const char *const names[] = {"barriers", "dma", "opposite", "regs", "two_cols"};
enum { NAMES = sizeof names / sizeof names[0], CHANGES = 300 };

static void files_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        char path[PATH_MAX + 32];
        size_t size;
        snprintf(path, sizeof path, "%s/%s.elf", data, names[i]);
        uint8_t *elf = (uint8_t *)read_bytes(path, &size);
        assert_same_text(elf, size, names[i], NOCAP_AIE_SEED, true);
        free(elf);
    }
}

/* Pages whose bytes are damaged: wrong sizes, no instructions, data where none should be. */
static void damaged_pages_come_back(void **state)
{
    (void)state;
    struct maker m = {.state = 4};
    for (size_t i = 0; i < NAMES; i++) {
        char path[PATH_MAX + 32];
        size_t size;
        snprintf(path, sizeof path, "%s/%s.elf", data, names[i]);
        uint8_t *elf = (uint8_t *)read_bytes(path, &size);
        struct nocap_aie_image *image;
        assert_int_equal(nocap_aie_image_open_memory(&image, elf, size, path, NULL), NOCAP_OK);
        /* the sections of the pages are the first of the file, from its first signature on */
        const uint8_t *first = memmem(elf, size, image->pages[0].bytes, 16);
        assert_non_null(first);
        size_t from = (size_t)(first - elf);
        nocap_aie_image_close(image);
        for (unsigned n = 0; n < CHANGES; n++) {
            size_t at = from + pick(&m, n % 2 ? 200 : 8000);
            uint8_t before = elf[at];
            elf[at] = (uint8_t)pick(&m, 256);
            assert_same_text(elf, size, names[i], NOCAP_AIE_SEED, false);
            assert_same_text(elf, size, names[i], NOCAP_AIE_F25, false);
            elf[at] = before;
        }
        free(elf);
    }
}

/* What the programs include. */
static int enter(void **state)
{
    if (temp_dir_enter(state) != 0) {
        return 1;
    }
    write_bytes("blob.bin", "\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\7", 31);
    write_text("part.asm", "START_JOB 77\n UC_DMA_WRITE_DES_SYNC @c\nEND_JOB\nEOF\n"
                           "c: UC_DMA_BD 0, 4, @v, 1, 0, 0\nv: .long 9\n");
    write_text("buffers.json", "{\"ctrl_pkt_xrt_arg_idx\": 4, \"ctrl_pkt_patch_info\": ["
                               "{\"offset\": 8, \"xrt_arg_id\": 2, \"bo_offset\": 0},"
                               "{\"offset\": 40, \"xrt_arg_id\": 1, \"bo_offset\": 4096}]}");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_f25_come_back), cmocka_unit_test(programs_of_seed_come_back),
        cmocka_unit_test(programs_of_n26_come_back), cmocka_unit_test(files_come_back),
        cmocka_unit_test(damaged_pages_come_back),
    };
    if (realpath("tests/data/aie", data) == NULL) {
        perror("tests/data/aie"); /* to be run from the root of the tree */
        return 1;
    }
    return cmocka_run_group_tests(tests, enter, temp_dir_leave);
}
