/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the Tensix coprocessor: the table against the documents, encode and decode, text, the
 * rotated form, MOP and REPLAY. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/tensix_expand.h"

static const char *text_of(uint32_t word)
{
    static char text[NOCAP_TENSIX_TEXT_MAX];
    return nocap_tensix_disassemble(word, text, sizeof text);
}

static void the_table_is_that_of_the_documents(void **state)
{
    (void)state;
    unsigned count = 0;
    for (unsigned i = 0; i < NOCAP_TENSIX_OPCODES; i++) {
        count += nocap_tensix_opcodes[i].name != NULL;
    }
    assert_int_equal(count, 137);
    static const struct {
        uint32_t word;
        unsigned unit, block;
    } rows[] = {
        {0x42000000, NOCAP_TENSIX_UNIT_UNPACK, NOCAP_BLOCK_TDMA | NOCAP_BLOCK_UNPACK},
        {0x41000000, NOCAP_TENSIX_UNIT_PACK, NOCAP_BLOCK_TDMA | NOCAP_BLOCK_PACK},
        {0x45000000, NOCAP_TENSIX_UNIT_THCON, NOCAP_BLOCK_TDMA | NOCAP_BLOCK_THCON},
        {0x40000000, NOCAP_TENSIX_UNIT_MOVER, NOCAP_BLOCK_TDMA | NOCAP_BLOCK_XMOV},
        {0x51000000, NOCAP_TENSIX_UNIT_MISC, NOCAP_BLOCK_TDMA},
        {0x26000000, NOCAP_TENSIX_UNIT_FPU, NOCAP_BLOCK_MATH},
        {0x99000000, NOCAP_TENSIX_UNIT_SFPU, NOCAP_BLOCK_SFPU},
        {0xB8000000, NOCAP_TENSIX_UNIT_CFG, NOCAP_BLOCK_CFG},
        {0xA4000000, NOCAP_TENSIX_UNIT_SYNC, NOCAP_BLOCK_SYNC},
        {0xA7000000, NOCAP_TENSIX_UNIT_SYNC, NOCAP_BLOCK_ALL},
        {0x01000000, NOCAP_TENSIX_UNIT_FRONTEND, NOCAP_BLOCK_NONE},
        {0x4B000000, NOCAP_TENSIX_UNIT_NONE, NOCAP_BLOCK_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nocap_tensix_opcode_info *info =
            &nocap_tensix_opcodes[nocap_tensix_opcode(rows[i].word)];
        assert_int_equal(info->unit, rows[i].unit);
        assert_int_equal(info->block, rows[i].block);
    }
    assert_true(nocap_tensix_is_held(0x02000000, NOCAP_BLOCK_ALL));
    assert_false(nocap_tensix_is_held(0x02000000, NOCAP_BLOCK_ALL & ~NOCAP_BLOCK_SFPU));
    assert_true(nocap_tensix_is_held(0xA6000000, NOCAP_BLOCK_XMOV));
}

static void operands_lie_apart_and_survive(void **state)
{
    (void)state;
    for (unsigned opcode = 0; opcode < NOCAP_TENSIX_OPCODES; opcode++) {
        unsigned count;
        const struct nocap_tensix_operand_info *o = nocap_tensix_operands(opcode, &count);
        uint32_t values[24] = {0}, word = (uint32_t)opcode << 24, above = 24;
        if (nocap_tensix_opcodes[opcode].name == NULL) {
            assert_int_equal(count, 0);
            continue;
        }
        assert_true(count <= 24);
        for (unsigned i = 0; i < count; i++) {
            assert_true(o[i].low + o[i].bits <= above);
            above = o[i].low;
            values[i] = (0x5A5A5A5Au >> i) & ((UINT32_C(1) << o[i].bits) - 1);
            word |= values[i] << o[i].low;
        }
        assert_int_equal(nocap_tensix_opcode(word), opcode);
        assert_int_equal(nocap_tensix_stray_bits(word), 0);
        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(nocap_tensix_operand(word, &o[i]), values[i]);
        }
    }
}

static void words_read_as_kernels_write_them(void **state)
{
    (void)state;
    assert_string_equal(text_of(0xA2400009), "STALLWAIT STALL_CFG, THCON|PACK");
    assert_string_equal(text_of(0xA6A1000A), "SEMWAIT STALL_SYNC|STALL_MATH|STALL_SFPU, MATH_PACK, "
                                             "STALL_ON_MAX");
    assert_string_equal(text_of(0xA2FF8810), "STALLWAIT STALL_THREAD, MATH|SFPU");
    assert_string_equal(text_of(0xA2000000), "STALLWAIT 0, 0");
    assert_string_equal(text_of(0xA4000008), "SEMPOST MATH_PACK");
    assert_string_equal(text_of(0xA3520120), "SEMINIT 5, 2, UNPACK_OPERAND_SYNC|UNPACK_MATH_DONE");
    assert_string_equal(text_of(0xB01C000C), "WRCFG 28, 0, 12");
    assert_string_equal(text_of(0xB2250104), "SETC16 37, 260");
    assert_string_equal(text_of(0x02000000), "NOP");
    assert_string_equal(text_of(0xA4000408), "SEMPOST MATH_PACK + stray 0x400");
    assert_string_equal(text_of(0xFF000000), ".word 0xff000000");
    char small[8];
    assert_string_equal(nocap_tensix_disassemble(0xA2400009, small, sizeof small), "STALLWA");
}

static void rotated_words(void **state)
{
    (void)state;
    uint32_t word;
    assert_true(nocap_ttinsn_decode(0x89000006, &word)); /* ttstallwait 128,1 */
    assert_int_equal(word, 0xA2400001);
    assert_false(nocap_ttinsn_decode(0x00008067, &word)); /* ret */
}

/* ---- expansion ---- */

enum {
    NOP = 0x02000000,
    A = 0x51200003,
    B = 0x51200004,
    LAST = 0x51200005,
    LAST1 = 0x51200006,
    BEGIN = 0x5E200400,
    END = 0x5E200800
};

static unsigned expand(const uint32_t *config, uint32_t word, uint32_t mask_high, uint32_t *words,
                       unsigned max)
{
    struct nocap_mop_config known = {.known = 0x1FF};
    struct nocap_mop mop;
    unsigned n = 0;
    memcpy(known.word, config, sizeof known.word);
    assert_true(nocap_mop_is_known(&known, word, true));
    nocap_mop_start(&mop, &known, word, mask_high);
    uint32_t next;
    while (nocap_mop_next(&mop, &next)) {
        if (n < max) {
            words[n] = next;
        }
        n++;
    }
    return n;
}

static void mop_loops(void **state)
{
    (void)state;
    static const uint32_t config[] = {2, 3, BEGIN, END, NOP, A, B, LAST, LAST1};
    static const uint32_t expected[] = {BEGIN, A, B, A, B, A, LAST1, END,
                                        BEGIN, A, B, A, B, A, LAST,  END};
    uint32_t words[32];
    assert_int_equal(expand(config, 0x01800000, 0, words, 32), 16);
    assert_memory_equal(words, expected, sizeof expected);
    static const uint32_t single[] = {2, 2, NOP, NOP, END, A, NOP, LAST, LAST1};
    static const uint32_t expected_single[] = {A, LAST1, A, LAST};
    assert_int_equal(expand(single, 0x01800000, 0, words, 32), 4);
    assert_memory_equal(words, expected_single, sizeof expected_single);
    /* one round without a body is 129 */
    static const uint32_t odd[] = {1, 0, NOP, END, NOP, A, NOP, LAST, LAST1};
    assert_int_equal(expand(odd, 0x01800000, 0, words, 32), 129);
    static const uint32_t longest[] = {127, 127, BEGIN, END, END, A, B, LAST, LAST1};
    assert_int_equal(expand(longest, 0x01800000, 0, words, 32), 127 * 257);
}

static void mop_masks(void **state)
{
    (void)state;
    static const uint32_t config[] = {0, 3, B, A, A + 16, A + 32, A + 48, LAST, LAST1};
    static const uint32_t expected[] = {A, A + 16, A + 32, A + 48, B, LAST, LAST1};
    uint32_t words[128];
    assert_int_equal(expand(config, 0x01010002, 0, words, 128), 7);
    assert_memory_equal(words, expected, sizeof expected);
    static const uint32_t plain[] = {0, 0, B, A, NOP, NOP, NOP, LAST, LAST1};
    assert_int_equal(expand(plain, 0x01110000, 3, words, 128), 18);
    assert_int_equal(words[15], A);
    assert_int_equal(words[16], LAST);
    assert_int_equal(words[17], LAST);
    struct nocap_mop_config half = {.known = 0x0F};
    assert_false(nocap_mop_is_known(&half, 0x01800000, true));
    assert_false(nocap_mop_is_known(&half, 0x01010002, true)); /* SKIP_A0 is not known */
    assert_true(nocap_mop_is_known(&half, 0x01010000, true));
}

static void replay_records_and_repeats(void **state)
{
    (void)state;
    struct nocap_replay r = {0};
    uint32_t word;
    bool known;
    /* two words from slot 31 on, without execution */
    assert_int_equal(nocap_replay_take(&r, 0x04000000 | 31 << 14 | 2 << 4 | 1), NOCAP_REPLAY_KEPT);
    assert_int_equal(nocap_replay_take(&r, A), NOCAP_REPLAY_KEPT);
    assert_int_equal(nocap_replay_take(&r, B), NOCAP_REPLAY_KEPT);
    assert_int_equal(nocap_replay_take(&r, LAST), NOCAP_REPLAY_PASSES);
    assert_int_equal(nocap_replay_take(&r, 0x04000000 | 31 << 14 | 3 << 4), NOCAP_REPLAY_KEPT);
    assert_true(nocap_replay_next(&r, &word, &known) && known && word == A);
    assert_true(nocap_replay_next(&r, &word, &known) && known && word == B);
    assert_true(nocap_replay_next(&r, &word, &known) && !known);
    assert_false(nocap_replay_next(&r, &word, &known));
    assert_int_equal(nocap_replay_take(&r, 0x04000000 | 1 << 4 | 3), NOCAP_REPLAY_KEPT);
    assert_int_equal(nocap_replay_take(&r, END), NOCAP_REPLAY_PASSES); /* recorded and executed */
    assert_int_equal(nocap_replay_take(&r, 0x04000000), NOCAP_REPLAY_KEPT);
    unsigned n = 0;
    while (nocap_replay_next(&r, &word, &known)) {
        assert_true(n > 0 || word == END);
        n++;
    }
    assert_int_equal(n, NOCAP_REPLAY_SLOTS);
    assert_true(r.doubtful);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_that_of_the_documents),
        cmocka_unit_test(operands_lie_apart_and_survive),
        cmocka_unit_test(words_read_as_kernels_write_them),
        cmocka_unit_test(rotated_words),
        cmocka_unit_test(mop_loops),
        cmocka_unit_test(mop_masks),
        cmocka_unit_test(replay_records_and_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
