/* SPDX-License-Identifier: Apache-2.0 */
/* Register names and addresses, NIU bits, Tensix words, names of addresses: against numbers from
 * the documents and from accesses of real firmware. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/address_name.h"
#include "formats/blackhole/niu.h"
#include "formats/blackhole/registers.h"
#include "formats/blackhole/tensix_isa.h"

static void addresses(void **state)
{
    (void)state;
    assert_int_equal(NOCAP_REG_SOFT_RESET_0, 0xFFB121B0);
    assert_int_equal(NOCAP_REG_TRISC0_RESET_PC, 0xFFB12228);
    assert_int_equal(NOCAP_REG_NCRISC_RESET_PC, 0xFFB12238);
    assert_int_equal(NOCAP_REG_RISCV_IC_INVALIDATE, 0xFFEF02E4);
    assert_int_equal(NOCAP_REG_PRNG_SEED, 0xFFEF02E8);
    assert_int_equal(NOCAP_REG_CLK_GATE_EN, 0xFFB11024);
    assert_int_equal(NOCAP_REG_DEST_CG_CTRL, 0xFFB12240);
    assert_int_equal(NOCAP_REG_TTSYNC, 0xFFE80004);
    assert_int_equal(NOCAP_REG_SEM, 0xFFE80020);
    assert_int_equal(nocap_niu_address(0, NOCAP_NIU_NIU_CFG_0), 0xFFB20100);
    assert_int_equal(nocap_niu_address(1, NOCAP_NIU_ROUTER_CFG_0), 0xFFB30104);
    assert_int_equal(nocap_niu_address(0, NOCAP_NIU_NOC_ID_LOGICAL), 0xFFB20148);
    assert_int_equal(nocap_niu_buffer_address(0, 3, NOCAP_NIU_CMD_CTRL), 0xFFB21840);
    assert_int_equal(nocap_niu_buffer_address(1, 1, NOCAP_NIU_CTRL), 0xFFB3081C);
    assert_int_equal(nocap_niu_counter_address(0, NOCAP_COUNTER_MST_NONPOSTED_WR_REQ_SENT),
                     0xFFB20228);
    assert_int_equal(nocap_stream_address(NOCAP_CB_STREAM, NOCAP_STREAM_TILES_RECEIVED),
                     0xFFB48028);
    assert_int_equal(nocap_stream_address(NOCAP_CB_STREAM + 31, NOCAP_STREAM_TILES_ACKED),
                     0xFFB67020);
    assert_int_equal(nocap_notify_address(0), 0xFFB70438);
    assert_int_equal(nocap_notify_address(3), 0xFFB73438);
    assert_int_equal(nocap_stream_address(48, NOCAP_STREAM_SPACE_AVAILABLE), 0xFFB704A4);
}

static void reset_registers(void **state)
{
    (void)state;
    uint32_t mask;
    assert_int_equal(nocap_reset_pc_register(NOCAP_BY_NCRISC), 0xFFB12238);
    assert_int_equal(nocap_reset_pc_register(NOCAP_BY_TRISC0), 0xFFB12228);
    assert_int_equal(nocap_reset_pc_register(NOCAP_BY_TRISC1), 0xFFB1222C);
    assert_int_equal(nocap_reset_pc_register(NOCAP_BY_TRISC2), 0xFFB12230);
    assert_int_equal(nocap_reset_pc_register(NOCAP_BY_BRISC), 0); /* always starts at 0 */
    assert_int_equal(nocap_reset_pc_override(NOCAP_BY_TRISC2, &mask), 0xFFB12234);
    assert_int_equal(mask, 4);
    assert_int_equal(nocap_reset_pc_override(NOCAP_BY_NCRISC, &mask), 0xFFB1223C);
    assert_int_equal(mask, 1);
    assert_int_equal(nocap_reset_pc_override(NOCAP_BY_HOST, &mask), 0);
    assert_int_equal(mask, 0);
}

static const struct {
    uint64_t addr;
    unsigned by;
    const char *name;
} names[] = {
    {0xFFB121B0, NOCAP_BY_NONE, "SOFT_RESET_0"},
    {0xFFB121B2, NOCAP_BY_HOST, "SOFT_RESET_0+2"},
    {0xFFB121B4, NOCAP_BY_HOST, "DEBUG+0x1b4"},
    {0xFFB11024, NOCAP_BY_BRISC, "CLK_GATE_EN"},
    {0xFFB11230, NOCAP_BY_BRISC, "FIFO_PACKED_TILE_SIZE[2]"},
    {0xFFB11430, NOCAP_BY_BRISC, "TDMA+0x430"},
    {0xFFB13010, NOCAP_BY_BRISC, "PIC+0x10"},
    {0xFFB13138, NOCAP_BY_HOST, "RISCV_PC[0]"},
    {0xFFB13148, NOCAP_BY_HOST, "RISCV_PC[4]"},
    {0xFFB21840, NOCAP_BY_BRISC, "NIU0.CMD_BUF3.CMD_CTRL"},
    {0xFFB3081C, NOCAP_BY_BRISC, "NIU1.CMD_BUF1.CTRL"},
    {0xFFB20044, NOCAP_BY_BRISC, "NIU0.NODE_ID"},
    {0xFFB20844, NOCAP_BY_BRISC, "NIU0+0x844"},
    {0xFFB20100, NOCAP_BY_BRISC, "NIU0.NIU_CFG_0"},
    {0xFFB30104, NOCAP_BY_BRISC, "NIU1.ROUTER_CFG_0"},
    {0xFFB20148, NOCAP_BY_NCRISC, "NIU0.NOC_ID_LOGICAL"},
    {0xFFB20120, NOCAP_BY_HOST, "NIU0.X_TRANSLATE_TABLE[2]"},
    {0xFFB20200, NOCAP_BY_BRISC, "NIU0.MST_ATOMIC_RESP_RECEIVED"},
    {0xFFB2022C, NOCAP_BY_BRISC, "NIU0.MST_POSTED_WR_REQ_SENT"},
    {0xFFB30204, NOCAP_BY_BRISC, "NIU1.MST_WR_ACK_RECEIVED"},
    {0xFFB20254, NOCAP_BY_BRISC, "NIU0.MST_REQS_OUTSTANDING_ID[5]"},
    {0xFFB202F8, NOCAP_BY_BRISC, "NIU0+0x2f8"}, /* counters 62 and 63 have no name */
    {0xFFB48028, NOCAP_BY_TRISC0, "CB[0].tiles_received"},
    {0xFFB67020, NOCAP_BY_TRISC0, "CB[31].tiles_acked"},
    {0xFFB70438, NOCAP_BY_NOC, "STREAM[48].REG[270](space_update)"},
    {0xFFB40000, NOCAP_BY_NOC, "STREAM[0].REG[0]"},
    {0xFFB80000, NOCAP_BY_NONE, "MOP_CFG[0]"},
    {0xFFB80020, NOCAP_BY_TRISC2, "MOP_CFG[t2][8]"},
    {0xFFB80024, NOCAP_BY_TRISC2, "MOP_CFG+0x24"},
    {0xFFE00014, NOCAP_BY_NONE, "GPR[t0][5]"},
    {0xFFE00014, NOCAP_BY_TRISC1, "GPR[t1][5]"},
    {0xFFE00114, NOCAP_BY_BRISC, "GPR[t1][5]"},
    {0xFFE002FC, NOCAP_BY_BRISC, "GPR[t2][63]"},
    {0xFFE00114, NOCAP_BY_TRISC2, "GPR[t1][5]"},
    {0xFFE40000, NOCAP_BY_BRISC, "INSTRN_FIFO[t0]"},
    {0xFFE40000, NOCAP_BY_TRISC2, "INSTRN_FIFO[t2]"},
    {0xFFE50000, NOCAP_BY_BRISC, "INSTRN_FIFO[t1]"},
    {0xFFE80004, NOCAP_BY_TRISC1, "TTSYNC[t1]"},
    {0xFFE80008, NOCAP_BY_TRISC0, "MOP_SYNC[t0]"},
    {0xFFE8002C, NOCAP_BY_TRISC0, "SEM[3]"},
    {0xFFE8003C, NOCAP_BY_TRISC2, "SEM[7]"},
    {0xFFE80040, NOCAP_BY_TRISC2, "PC_BUF[t2]+0x40"},
    {0xFFE9002C, NOCAP_BY_BRISC, "PC_BUF[t1]+0x2c"}, /* BRISC sees no semaphores */
    {0xFFEC1000, NOCAP_BY_TRISC0, "HW_MAILBOX1"},
    {0xFFEF02E4, NOCAP_BY_BRISC, "RISCV_IC_INVALIDATE"},
    {0xFFEF000C, NOCAP_BY_BRISC, "ECC_SCRUBBER"},
    {0xFFEF0010, NOCAP_BY_TRISC0, "TENSIX_CFG[4]"},
    {0xFFE70000, NOCAP_BY_TRISC0, "gap"},
};

static void register_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char buffer[NOCAP_ADDRESS_NAME_MAX];
        assert_string_equal(nocap_register_name(names[i].addr, names[i].by, buffer, sizeof(buffer)),
                            names[i].name);
    }
}

/* Cut to any size, a name stays a terminated prefix of the whole. */
static void names_are_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t size = 1; size < NOCAP_ADDRESS_NAME_MAX; size++) {
            char buffer[NOCAP_ADDRESS_NAME_MAX + 1];
            memset(buffer, '#', sizeof(buffer));
            nocap_register_name(names[i].addr, names[i].by, buffer, size);
            assert_true(strlen(buffer) < size);
            assert_memory_equal(buffer, names[i].name, strlen(buffer));
            assert_int_equal(buffer[size], '#');
        }
    }
}

static void places(void **state)
{
    (void)state;
    struct nocap_register_place place;
    assert_true(nocap_register_find(0xFFB21828, NOCAP_BY_BRISC, &place));
    assert_int_equal(place.family, NOCAP_FAMILY_NIU_BUFFER);
    assert_int_equal(place.noc, 0);
    assert_int_equal(place.buffer, 3);
    assert_int_equal(place.id, NOCAP_NIU_AT_DATA);
    assert_true(nocap_register_find(0xFFB49028, NOCAP_BY_TRISC0, &place));
    assert_int_equal(place.family, NOCAP_FAMILY_STREAM);
    assert_int_equal(place.stream, 9);
    assert_int_equal(place.id, NOCAP_STREAM_TILES_RECEIVED);
    assert_true(nocap_register_find(0xFFB3025C, NOCAP_BY_HOST, &place));
    assert_int_equal(place.family, NOCAP_FAMILY_NIU_COUNTER);
    assert_int_equal(place.id, NOCAP_COUNTER_MST_REQS_OUTSTANDING_ID);
    assert_int_equal(place.index, 7);
    assert_int_equal(place.access, NOCAP_REGISTER_RO);
    assert_true(nocap_register_find(0xFFE80024, NOCAP_BY_TRISC2, &place));
    assert_int_equal(place.id, NOCAP_REG_SEM);
    assert_int_equal(place.index, 1);
    assert_int_equal(place.thread, -1);
    assert_true(nocap_register_find(0xFFE40000, NOCAP_BY_TRISC1, &place));
    assert_int_equal(place.family, NOCAP_FAMILY_INSTRN_FIFO);
    assert_int_equal(place.thread, 1);
    assert_false(nocap_register_find(0x370, NOCAP_BY_HOST, &place));
    assert_int_equal(place.family, NOCAP_FAMILY_NONE);
    assert_false(nocap_register_find(0xFFB19000, NOCAP_BY_HOST, &place));
    assert_false(nocap_register_find(UINT64_C(0x1FFB121B0), NOCAP_BY_HOST, &place));
}

static void read_only(void **state)
{
    (void)state;
    assert_true(nocap_register_read_only(0xFFB20200));
    assert_true(nocap_register_read_only(0xFFB302FC));
    assert_false(nocap_register_read_only(0xFFB201FC));
    assert_false(nocap_register_read_only(0xFFB20300));
    assert_false(nocap_register_read_only(0xFFB20A00)); /* counters stand once, not per buffer */
    assert_true(nocap_register_read_only(0xFFB13138));
    assert_true(nocap_register_read_only(0xFFB1314B));
    assert_false(nocap_register_read_only(0xFFB1314C));
    assert_true(nocap_register_read_only(0xFFBD8000));
    assert_false(nocap_register_read_only(0xFFB80000));
    assert_false(nocap_register_read_only(0x0));
    assert_false(nocap_register_read_only(0x180000)); /* a gap is not read-only, it is nothing */
}

static void niu_words(void **state)
{
    (void)state;
    /* the notify of real firmware: posted inline write with static VC */
    assert_int_equal(nocap_niu_op(0x208A), NOCAP_OP_INLINE);
    assert_false(0x208A & NOCAP_CTRL_RESPONSE);
    assert_true(0x208A & NOCAP_CTRL_VC_STATIC);
    /* what noc_init presets for reads */
    assert_int_equal(nocap_niu_op(0x2090), NOCAP_OP_READ);
    assert_true(0x2090 & NOCAP_CTRL_RESPONSE);
    assert_int_equal(nocap_niu_vc(0x2090), 1);
    assert_int_equal(nocap_niu_op(0x2), NOCAP_OP_WRITE);
    assert_int_equal(nocap_niu_op(0x1), NOCAP_OP_ATOMIC);
    assert_int_equal(nocap_niu_op(0x3), NOCAP_OP_NONE);
    assert_int_equal(NOCAP_CTRL_RESERVED, 0x1C00);
    assert_int_equal(NOCAP_CTRL_VOLATILE, 0x87FC0000);
    assert_int_equal(nocap_niu_trid(0x2C3F), 11);
    struct nocap_xy at = nocap_niu_xy(0x82); /* x 2, y 2 */
    assert_int_equal(at.x, 2);
    assert_int_equal(at.y, 2);
    for (unsigned x = 0; x < 64; x++) {
        for (unsigned y = 0; y < 64; y++) {
            struct nocap_xy a = {(uint8_t)x, (uint8_t)y}, b = {(uint8_t)y, (uint8_t)(63 - x)};
            uint32_t hi = nocap_niu_hi_rectangle(a, b);
            assert_int_equal(hi, b.x | b.y << 6 | a.x << 12 | a.y << 18);
            assert_int_equal(nocap_niu_start(hi).x, x);
            assert_int_equal(nocap_niu_start(hi).y, y);
            assert_int_equal(nocap_niu_xy(hi).x, b.x);
            assert_int_equal(nocap_niu_xy(hi).y, b.y);
        }
    }
}

static void tensix_words(void **state)
{
    (void)state;
    /* pushed by real firmware at boot: SEMINIT of semaphore 1, maximum 1 */
    uint32_t word = 0xA3100008;
    assert_string_equal(nocap_tensix_opcode_name(nocap_tensix_opcode(word)), "SEMINIT");
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMINIT, max), 1);
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMINIT, value), 0);
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMINIT, sem_sel), 1 << 1);
    assert_int_equal(NOCAP_TENSIX_GET(0xA3100200, SEMINIT, sem_sel), 1 << 7);
    word = 0xA6040009; /* the wait of a kernel that never ended */
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMWAIT, stall_res), 8);
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMWAIT, sem_sel), 2);
    assert_int_equal(NOCAP_TENSIX_GET(word, SEMWAIT, condition), NOCAP_SEMWAIT_WHILE_ZERO);
    assert_int_equal(NOCAP_TENSIX_WORD(SEMWAIT) | NOCAP_TENSIX_SET(SEMWAIT, stall_res, 8) |
                         NOCAP_TENSIX_SET(SEMWAIT, sem_sel, 2) |
                         NOCAP_TENSIX_SET(SEMWAIT, condition, 1),
                     word);
    word = 0xA2000000 | 0x142 << 15 | 0x1080;
    assert_int_equal(NOCAP_TENSIX_GET(word, STALLWAIT, stall_res), 0x142);
    assert_int_equal(NOCAP_TENSIX_GET(word, STALLWAIT, wait_res), 0x1080);
    word = 0x01000000 | 1 << 23 | 5 << 16 | 0xBEEF;
    assert_int_equal(NOCAP_TENSIX_GET(word, MOP, template), 1);
    assert_int_equal(NOCAP_TENSIX_GET(word, MOP, count1), 5);
    assert_int_equal(NOCAP_TENSIX_GET(word, MOP, mask_low), 0xBEEF);
    word = 0x04000000 | 17 << 14 | 12 << 4 | 1;
    assert_int_equal(NOCAP_TENSIX_GET(word, REPLAY, index), 17);
    assert_int_equal(NOCAP_TENSIX_GET(word, REPLAY, count), 12);
    assert_int_equal(NOCAP_TENSIX_GET(word, REPLAY, load), 1);
    assert_int_equal(NOCAP_TENSIX_GET(word, REPLAY, execute), 0);
}

static void tensix_stray_bits(void **state)
{
    (void)state;
    assert_int_equal(nocap_tensix_stray_bits(0xA4000008), 0);
    assert_int_equal(nocap_tensix_stray_bits(0xA4000408), 0x400); /* above the 8-bit mask */
    assert_int_equal(nocap_tensix_stray_bits(0xA5FFFFFF), 0xFFFC03);
    assert_int_equal(nocap_tensix_stray_bits(0xA3FFFFFF), 0x00FC03);
    assert_int_equal(nocap_tensix_stray_bits(0xA6FFFFFF), 0x007C00);
    assert_int_equal(nocap_tensix_stray_bits(0xA2FFFFFF), 0x006000);
    assert_int_equal(nocap_tensix_stray_bits(0xA7FFFFFF), 0);
    assert_int_equal(nocap_tensix_stray_bits(0xA0FFFFFF), 0xFF0000);
    assert_int_equal(nocap_tensix_stray_bits(0xFFFFFFFF), 0); /* unknown opcode: nothing to say */
    const struct {
        unsigned opcode;
        const char *name;
    } opcodes[] = {
        {0x01, "MOP"},     {0x02, "NOP"},    {0x03, "MOP_CFG"},   {0x04, "REPLAY"},
        {0xA0, "ATGETM"},  {0xA1, "ATRELM"}, {0xA2, "STALLWAIT"}, {0xA3, "SEMINIT"},
        {0xA4, "SEMPOST"}, {0xA5, "SEMGET"}, {0xA6, "SEMWAIT"},   {0xA7, "STREAMWAIT"},
    };
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        assert_string_equal(nocap_tensix_opcode_name(opcodes[i].opcode), opcodes[i].name);
    }
    assert_null(nocap_tensix_opcode_name(0xFF));
    assert_null(nocap_tensix_opcode_name(256));
}

static void address_names(void **state)
{
    (void)state;
    const struct nocap_mailbox_layout *b1 = nocap_layout_find("bh-launch112");
    const struct nocap_xy tensix = {1, 2}, dram = {0, 0}, pcie = {19, 24};
    const struct {
        struct nocap_address address;
        const char *name;
    } cases[] = {
        {{.at = tensix, .addr = 0x0}, "BOOT_JAL"},
        {{.at = tensix, .addr = 0xC}, "L1_BARRIER"},
        {{.at = tensix, .addr = 0x24}, "INLINE+0x4"},
        {{.at = tensix, .addr = 0x68, .width = 4}, "subordinate_sync"},
        {{.at = tensix, .addr = 0x69, .width = 1}, "subordinate_sync.trisc0"},
        {{.at = tensix, .addr = 0x373, .width = 1}, "go_messages[0].signal"},
        {{.at = tensix, .addr = 0x373, .layout = b1}, "launch[6]+0x63"},
        {{.at = tensix, .addr = 0x9A0}, "MAILBOX+0x940"},
        {{.at = tensix, .addr = 0x323F}, "MAILBOX+0x31df"},
        {{.at = tensix, .addr = 0x3240}, "ZEROS"},
        {{.at = tensix, .addr = 0x3240, .layout = b1}, "L1+0x3240"}, /* moves with the mailbox */
        {{.at = tensix, .addr = 0x3440}, "LLK_DEBUG"},
        {{.at = tensix, .addr = 0x3840}, "L1+0x3840"},
        {{.at = tensix, .addr = 0xFFB00010}, "LDM+0x10"},
        {{.at = tensix, .addr = 0xFFB18000}, "LDM_TRISC0+0x0"},
        {{.at = tensix, .addr = 0xFFBD8004}, "DEST_WINDOW+0x4"},
        {{.at = tensix, .addr = 0xFFB121B0}, "SOFT_RESET_0"},
        {{.at = tensix, .addr = 0xFFE00000, .by = NOCAP_BY_TRISC2}, "GPR[t2][0]"},
        {{.at = tensix, .addr = 0x180000}, "gap"},
        {{.at = dram, .addr = 0x40}, "DRAM+0x40"},
        {{.at = pcie, .addr = UINT64_C(0x1000000040000000)}, "PCIe+0x1000000040000000"},
        {{.at = {15, 5}, .board = NOCAP_BOARD_P100, .addr = 0x370}, "other+0x370"},
        {{.at = {15, 5}, .board = NOCAP_BOARD_P150, .addr = 0x370}, "go_messages[0].offset"},
        {{.space = NOCAP_SPACE_BAR0, .addr = 0x1FC00094}, "TLB[12].word1"},
        {{.space = NOCAP_SPACE_BAR0, .addr = 0x1FC009D8}, "TLB[0].strided"},
        {{.space = NOCAP_SPACE_BAR0, .addr = 0x600100}, "TLB[3]+0x100"},
        {{.space = NOCAP_SPACE_BAR4, .addr = UINT64_C(0x100000010)}, "TLB[203]+0x10"},
        {{.space = NOCAP_SPACE_BAR0, .addr = 0x1FD14100}, "PCIE_NIU1+0x100"},
        {{.space = NOCAP_SPACE_BAR0, .addr = 0x1E000000}, "bar0+0x1e000000"},
        {{.space = NOCAP_SPACE_BAR2, .addr = 0x1000}, "IATU"},
        {{.space = NOCAP_SPACE_SYSMEM, .addr = 0x80}, "sysmem+0x80"},
        {{.space = NOCAP_SPACE_AIE, .addr = 0x2000}, "aie+0x2000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buffer[NOCAP_ADDRESS_NAME_MAX];
        assert_string_equal(nocap_address_name(&cases[i].address, buffer, sizeof(buffer)),
                            cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(reset_registers),
        cmocka_unit_test(register_names),
        cmocka_unit_test(names_are_cut),
        cmocka_unit_test(places),
        cmocka_unit_test(read_only),
        cmocka_unit_test(niu_words),
        cmocka_unit_test(tensix_words),
        cmocka_unit_test(tensix_stray_bits),
        cmocka_unit_test(address_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
