/* SPDX-License-Identifier: Apache-2.0 */
/* Address map of a Tensix tile and grid of tiles, against expectations that were written down from
 * the documents, not from the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/cores.h"
#include "formats/blackhole/noc_ends.h"
#include "formats/blackhole/tile_map.h"

#define NOWHERE          0u
#define ONLY_BRISC       0x04u
#define BRISC_AND_TRISCS 0x74u
#define FIVE_CORES       0x7Cu
#define EVERYBODY        0x1FEu /* host, five cores, NOC, DMA */
#define ALL_BUT_NCRISC   0x1F6u

static const struct expectation {
    uint64_t first, last;
    const char *name;
    unsigned load, store;
    enum nocap_region_kind kind;
} expected[] = {
    {0x00000000, 0x0017FFFF, "L1", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0x00180000, 0xFFAFFFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFB00000, 0xFFB01FFF, "LDM", FIVE_CORES, FIVE_CORES, NOCAP_KIND_MEMORY},
    {0xFFB02000, 0xFFB0FFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFB10000, 0xFFB10FFF, "RESERVED_10", NOWHERE, NOWHERE, NOCAP_KIND_RESERVED},
    {0xFFB11000, 0xFFB11FFF, "TDMA", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB12000, 0xFFB12FFF, "DEBUG", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB13000, 0xFFB13137, "PIC", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB13138, 0xFFB1314B, "PC_READBACK", EVERYBODY, NOWHERE, NOCAP_KIND_REGISTERS},
    {0xFFB1314C, 0xFFB13FFF, "PIC_UPPER", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB14000, 0xFFB15FFF, "LDM_BRISC", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0xFFB16000, 0xFFB17FFF, "LDM_NCRISC", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0xFFB18000, 0xFFB18FFF, "LDM_TRISC0", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0xFFB19000, 0xFFB19FFF, "LDM_PADDING0", NOWHERE, NOWHERE, NOCAP_KIND_RESERVED},
    {0xFFB1A000, 0xFFB1AFFF, "LDM_TRISC1", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0xFFB1B000, 0xFFB1BFFF, "LDM_PADDING1", NOWHERE, NOWHERE, NOCAP_KIND_RESERVED},
    {0xFFB1C000, 0xFFB1CFFF, "LDM_TRISC2", EVERYBODY, EVERYBODY, NOCAP_KIND_MEMORY},
    {0xFFB1D000, 0xFFB1FFFF, "LDM_PADDING2", NOWHERE, NOWHERE, NOCAP_KIND_RESERVED},
    {0xFFB20000, 0xFFB2FFFF, "NIU0", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB30000, 0xFFB3FFFF, "NIU1", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB40000, 0xFFB7FFFF, "STREAM", EVERYBODY, EVERYBODY, NOCAP_KIND_REGISTERS},
    {0xFFB80000, 0xFFB800FF, "MOP_CFG", NOWHERE, ALL_BUT_NCRISC, NOCAP_KIND_REGISTERS},
    {0xFFB80100, 0xFFBD7FFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFBD8000, 0xFFBDFFFF, "DEST_WINDOW", EVERYBODY, NOWHERE, NOCAP_KIND_MEMORY},
    {0xFFBE0000, 0xFFDFFFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFE00000, 0xFFE002FF, "GPR", ALL_BUT_NCRISC, ALL_BUT_NCRISC, NOCAP_KIND_REGISTERS},
    {0xFFE00300, 0xFFE3FFFF, "GPR_RESERVED", NOWHERE, NOWHERE, NOCAP_KIND_RESERVED},
    {0xFFE40000, 0xFFE4FFFF, "INSTRN_FIFO0", NOWHERE, BRISC_AND_TRISCS, NOCAP_KIND_REGISTERS},
    {0xFFE50000, 0xFFE5FFFF, "INSTRN_FIFO1", NOWHERE, ONLY_BRISC, NOCAP_KIND_REGISTERS},
    {0xFFE60000, 0xFFE6FFFF, "INSTRN_FIFO2", NOWHERE, ONLY_BRISC, NOCAP_KIND_REGISTERS},
    {0xFFE70000, 0xFFE7FFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFE80000, 0xFFE8FFFF, "PC_BUF0", BRISC_AND_TRISCS, BRISC_AND_TRISCS, NOCAP_KIND_REGISTERS},
    {0xFFE90000, 0xFFE9FFFF, "PC_BUF1", ONLY_BRISC, ONLY_BRISC, NOCAP_KIND_REGISTERS},
    {0xFFEA0000, 0xFFEAFFFF, "PC_BUF2", ONLY_BRISC, ONLY_BRISC, NOCAP_KIND_REGISTERS},
    {0xFFEB0000, 0xFFEBFFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFEC0000, 0xFFEC0FFF, "HW_MAILBOX0", BRISC_AND_TRISCS, BRISC_AND_TRISCS,
     NOCAP_KIND_REGISTERS},
    {0xFFEC1000, 0xFFEC1FFF, "HW_MAILBOX1", BRISC_AND_TRISCS, BRISC_AND_TRISCS,
     NOCAP_KIND_REGISTERS},
    {0xFFEC2000, 0xFFEC2FFF, "HW_MAILBOX2", BRISC_AND_TRISCS, BRISC_AND_TRISCS,
     NOCAP_KIND_REGISTERS},
    {0xFFEC3000, 0xFFEC3FFF, "HW_MAILBOX3", BRISC_AND_TRISCS, BRISC_AND_TRISCS,
     NOCAP_KIND_REGISTERS},
    {0xFFEC4000, 0xFFEEFFFF, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
    {0xFFEF0000, 0xFFEFFFFF, "TENSIX_CFG", EVERYBODY, ALL_BUT_NCRISC, NOCAP_KIND_REGISTERS},
    {0xFFF00000, UINT64_MAX, "GAP", NOWHERE, NOWHERE, NOCAP_KIND_GAP},
};
enum { EXPECTED = sizeof(expected) / sizeof(expected[0]) };

static void assert_at(uint64_t addr, const struct expectation *want)
{
    const struct nocap_region_info *info = nocap_tile_region(addr);
    assert_string_equal(info->name, want->name);
    assert_int_equal(info->first, want->first);
    assert_int_equal(info->last, want->last);
    assert_int_equal(info->kind, want->kind);
}

static void every_boundary(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        assert_at(expected[i].first, &expected[i]);
        assert_at(expected[i].first + 1, &expected[i]);
        assert_at(expected[i].first + (expected[i].last - expected[i].first) / 2, &expected[i]);
        assert_at(expected[i].last, &expected[i]);
        if (i > 0) { /* the neighbours begin where this one ends */
            assert_at(expected[i].first - 1, &expected[i - 1]);
        }
        if (i + 1 < EXPECTED) {
            assert_at(expected[i].last + 1, &expected[i + 1]);
        }
    }
}

static void rows_cover_everything_once(void **state)
{
    (void)state;
    assert_int_equal(nocap_region_rows, EXPECTED);
    uint64_t next = 0;
    for (unsigned i = 0; i < nocap_region_rows; i++) {
        assert_int_equal(nocap_regions[i].first, next);
        assert_true(nocap_regions[i].last >= nocap_regions[i].first);
        assert_true(nocap_regions[i].sentence[0] != '\0');
        next = nocap_regions[i].last + 1;
    }
    assert_int_equal(next, 0); /* wrapped: the last row ends at the last address */
}

static bool allows(const struct nocap_region_info *info, unsigned agent, bool store)
{
    return agent < 16 && ((unsigned)(store ? info->store : info->load) >> agent & 1) != 0;
}

static void permissions(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXPECTED; i++) {
        const struct nocap_region_info *info = nocap_tile_region(expected[i].first);
        for (unsigned agent = 0; agent < 20; agent++) {
            bool load = agent < 16 && (expected[i].load >> agent & 1) != 0;
            bool store = agent < 16 && (expected[i].store >> agent & 1) != 0;
            if (allows(info, agent, false) != load || allows(info, agent, true) != store) {
                fail_msg("%s, agent %u", info->name, agent);
            }
        }
    }
}

/* One line of each permission rule, in its own words. */
static void permission_rules(void **state)
{
    (void)state;
    const struct {
        uint64_t addr;
        unsigned agent;
        bool store, allowed;
    } cases[] = {
        {0x17FFFF, NOCAP_BY_NOC, true, true},
        {0xFFB00000, NOCAP_BY_HOST, false, false}, /* core-private memory has no owner outside */
        {0xFFB00000, NOCAP_BY_NOC, true, false},
        {0xFFB00000, NOCAP_BY_TRISC2, true, true},
        {0xFFB19000, NOCAP_BY_BRISC, false, false}, /* padding */
        {0xFFB10800, NOCAP_BY_HOST, false, false},  /* reserved */
        {0xFFE40000, NOCAP_BY_NCRISC, true, false}, /* cannot push instructions */
        {0xFFE40000, NOCAP_BY_TRISC1, true, true},  /* its own FIFO */
        {0xFFE50000, NOCAP_BY_TRISC1, true, false}, /* hangs the core */
        {0xFFE60000, NOCAP_BY_TRISC2, true, false},
        {0xFFE60000, NOCAP_BY_BRISC, true, true},
        {0xFFE40000, NOCAP_BY_BRISC, false, false}, /* write-only */
        {0xFFB80000, NOCAP_BY_TRISC0, false, false},
        {0xFFB80000, NOCAP_BY_TRISC0, true, true},
        {0xFFB80000, NOCAP_BY_NCRISC, true, false},
        {0xFFBD8000, NOCAP_BY_HOST, true, false}, /* read-only */
        {0xFFBD8000, NOCAP_BY_HOST, false, true},
        {0xFFB13138, NOCAP_BY_BRISC, true, false},
        {0xFFEF0000, NOCAP_BY_NCRISC, true, false}, /* may load, not store */
        {0xFFEF0000, NOCAP_BY_NCRISC, false, true},
        {0xFFEF0000, NOCAP_BY_TRISC1, true, true},
        {0xFFE80004, NOCAP_BY_TRISC2, true, true},  /* its own PC buffer, as firmware uses it */
        {0xFFE90004, NOCAP_BY_TRISC1, true, false}, /* another window */
        {0xFFE80000, NOCAP_BY_HOST, false, false},  /* does not answer to the outside */
        {0xFFEC0000, NOCAP_BY_NOC, false, false},
        {0xFFEC0000, NOCAP_BY_NCRISC, false, false},
        {0xFFB20000, NOCAP_BY_HOST, true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct nocap_region_info *info = nocap_tile_region(cases[i].addr);
        if (allows(info, cases[i].agent, cases[i].store) != cases[i].allowed) {
            fail_msg("case %zu: %s", i, info->name);
        }
    }
}

static unsigned count_kind(enum nocap_board board, enum nocap_tile_kind kind)
{
    unsigned n = 0;
    for (unsigned x = 0; x < NOCAP_GRID_WIDTH; x++) {
        for (unsigned y = 0; y < NOCAP_GRID_HEIGHT; y++) {
            n += nocap_tile_kind(board, (struct nocap_xy){(uint8_t)x, (uint8_t)y}) == kind;
        }
    }
    return n;
}

static void grid(void **state)
{
    (void)state;
    assert_int_equal(count_kind(NOCAP_BOARD_P150, NOCAP_TILE_TENSIX), 140);
    assert_int_equal(count_kind(NOCAP_BOARD_P100, NOCAP_TILE_TENSIX), 120);
    assert_int_equal(count_kind(NOCAP_BOARD_UNKNOWN, NOCAP_TILE_TENSIX), 140);
    assert_int_equal(count_kind(NOCAP_BOARD_P100, NOCAP_TILE_DRAM), 24);
    assert_int_equal(count_kind(NOCAP_BOARD_P100, NOCAP_TILE_ETHERNET), 14);
    assert_int_equal(count_kind(NOCAP_BOARD_P150, NOCAP_TILE_PCIE), 2);
    assert_int_equal(count_kind(NOCAP_BOARD_P150, NOCAP_TILE_ARC), 1);
    assert_int_equal(count_kind(NOCAP_BOARD_P150, NOCAP_TILE_NONE), 0);
    for (unsigned x = 0; x < 256; x++) {
        for (unsigned y = 0; y < 256; y++) {
            struct nocap_xy at = {(uint8_t)x, (uint8_t)y};
            bool left = x >= 1 && x <= 7, row = y >= 2 && y <= 11;
            assert_int_equal(nocap_is_tensix_tile(NOCAP_BOARD_P100, at),
                             row && (left || (x >= 10 && x <= 14)));
            assert_int_equal(nocap_is_tensix_tile(NOCAP_BOARD_P150, at),
                             row && (left || (x >= 10 && x <= 16)));
        }
    }
}

static void other_tiles(void **state)
{
    (void)state;
    const struct {
        struct nocap_xy at;
        enum nocap_tile_kind p100, p150;
    } tiles[] = {
        {{0, 0}, NOCAP_TILE_DRAM, NOCAP_TILE_DRAM},
        {{9, 11}, NOCAP_TILE_DRAM, NOCAP_TILE_DRAM},
        {{17, 12}, NOCAP_TILE_DRAM, NOCAP_TILE_DRAM}, /* translated */
        {{18, 23}, NOCAP_TILE_DRAM, NOCAP_TILE_DRAM},
        {{17, 11}, NOCAP_TILE_NONE, NOCAP_TILE_NONE},
        {{2, 0}, NOCAP_TILE_PCIE, NOCAP_TILE_PCIE},
        {{11, 0}, NOCAP_TILE_PCIE, NOCAP_TILE_PCIE},
        {{19, 24}, NOCAP_TILE_PCIE, NOCAP_TILE_PCIE},
        {{8, 0}, NOCAP_TILE_ARC, NOCAP_TILE_ARC},
        {{8, 5}, NOCAP_TILE_OTHER, NOCAP_TILE_OTHER},
        {{1, 1}, NOCAP_TILE_ETHERNET, NOCAP_TILE_ETHERNET},
        {{16, 1}, NOCAP_TILE_ETHERNET, NOCAP_TILE_ETHERNET},
        {{31, 25}, NOCAP_TILE_ETHERNET, NOCAP_TILE_ETHERNET},
        {{15, 5}, NOCAP_TILE_OTHER, NOCAP_TILE_TENSIX}, /* lost column */
        {{1, 2}, NOCAP_TILE_TENSIX, NOCAP_TILE_TENSIX},
        {{1, 12}, NOCAP_TILE_NONE, NOCAP_TILE_NONE},
        {{40, 40}, NOCAP_TILE_NONE, NOCAP_TILE_NONE},
    };
    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++) {
        assert_int_equal(nocap_tile_kind(NOCAP_BOARD_P100, tiles[i].at), tiles[i].p100);
        assert_int_equal(nocap_tile_kind(NOCAP_BOARD_P150, tiles[i].at), tiles[i].p150);
    }
    assert_string_equal(nocap_tile_kind_name(NOCAP_TILE_TENSIX), "Tensix");
    assert_string_equal(nocap_tile_kind_name(NOCAP_TILE_KINDS), "?");
}

static void dram_channels(void **state)
{
    (void)state;
    const struct {
        struct nocap_xy at, channel;
        unsigned number;
    } ports[] = {{{0, 0}, {0, 0}, 0},    {{0, 11}, {0, 0}, 2},    {{9, 1}, {9, 0}, 1},
                 {{9, 10}, {9, 2}, 1},   {{0, 3}, {0, 2}, 2},     {{0, 6}, {0, 5}, 2},
                 {{0, 4}, {0, 9}, 1},    {{17, 12}, {17, 12}, 0}, {{17, 14}, {17, 12}, 2},
                 {{18, 22}, {18, 21}, 1}};
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) {
        const struct nocap_dram_port port = nocap_dram_port(ports[i].at);
        assert_true(nocap_xy_equal(port.channel, ports[i].channel));
        assert_int_equal(port.number, ports[i].number);
    }
}

static void rectangles(void **state)
{
    (void)state;
    struct nocap_xy start = {1, 2}, end = {7, 11};
    assert_true(nocap_in_rectangle(start, end, (struct nocap_xy){1, 2}));
    assert_true(nocap_in_rectangle(start, end, (struct nocap_xy){7, 11}));
    assert_false(nocap_in_rectangle(start, end, (struct nocap_xy){8, 5}));
    assert_false(nocap_in_rectangle(start, end, (struct nocap_xy){3, 1}));
    /* x runs over the end of the ring: 14, 15, 16, 0, 1, 2 */
    start = (struct nocap_xy){14, 5};
    end = (struct nocap_xy){2, 5};
    assert_true(nocap_in_rectangle(start, end, (struct nocap_xy){16, 5}));
    assert_true(nocap_in_rectangle(start, end, (struct nocap_xy){2, 5}));
    assert_false(nocap_in_rectangle(start, end, (struct nocap_xy){3, 5}));
    assert_false(nocap_in_rectangle(start, end, (struct nocap_xy){16, 6}));
}

/* Each tile that lies in the rectangle, once. */
static void tiles_of_rectangles(void **state)
{
    const struct nocap_xy whole = {NOCAP_GRID_WIDTH - 1, NOCAP_GRID_HEIGHT - 1};
    (void)state;
    for (struct nocap_tiles a = nocap_tiles((struct nocap_xy){0}, whole); !a.over;
         nocap_next_tile(&a)) {
        for (struct nocap_tiles b = nocap_tiles((struct nocap_xy){0}, whole); !b.over;
             nocap_next_tile(&b)) {
            uint8_t visits[NOCAP_GRID_WIDTH][NOCAP_GRID_HEIGHT] = {0};
            for (struct nocap_tiles t = nocap_tiles(a.at, b.at); !t.over; nocap_next_tile(&t)) {
                visits[t.at.x][t.at.y]++;
            }
            for (struct nocap_tiles t = nocap_tiles((struct nocap_xy){0}, whole); !t.over;
                 nocap_next_tile(&t)) {
                assert_int_equal(visits[t.at.x][t.at.y], nocap_in_rectangle(a.at, b.at, t.at));
            }
        }
    }
    unsigned beyond = 0; /* no such tile, but an end */
    for (struct nocap_tiles t = nocap_tiles((struct nocap_xy){255, 30}, (struct nocap_xy){254, 20});
         !t.over; nocap_next_tile(&t)) {
        beyond++;
    }
    assert_int_equal(beyond, 256 * 22);
}

/* The corners of a multicast: NOC 0's wraps, NOC 1 begins at the other one. */
static void targets_of_requests(void **state)
{
    (void)state;
    struct nocap_event e = {.op = NOCAP_OP_WRITE, .mcast = 1, .d = {16, 5}, .d2 = {2, 3}};
    e.has = NOCAP_F_D | NOCAP_F_D2 | NOCAP_F_NOC | NOCAP_F_MCAST;
    struct nocap_noc_ends ends = nocap_noc_ends(&e);
    assert_true(ends.to_known && ends.to.x == 16 && ends.to.y == 5);
    assert_true(ends.to_other.x == 2 && ends.to_other.y == 3);
    e.noc = 1;
    ends = nocap_noc_ends(&e);
    assert_true(ends.to.x == 2 && ends.to.y == 3 && ends.to_other.x == 16 && ends.to_other.y == 5);
    e.at = (struct nocap_xy){1, 2}; /* by NOC 1's own numbers */
    e.s = (struct nocap_xy){15, 9};
    e.has |= NOCAP_F_S;
    ends = nocap_noc_ends(&e);
    assert_true(ends.raw && nocap_xy_equal(ends.from, e.at));
    assert_true(ends.to.x == 0 && ends.to.y == 6 && ends.to_other.x == 14 && ends.to_other.y == 8);
    e.has &= ~NOCAP_F_D2;
    assert_false(nocap_noc_ends(&e).to_known);
}

static void cores(void **state)
{
    (void)state;
    /* as the boot document and observed firmware have them */
    const struct {
        unsigned agent, processor, reset, cache, ldm;
        int sync_byte, thread;
    } rows[] = {
        {NOCAP_BY_BRISC, 0, 0x00800, 0x01, 8192, -1, -1},
        {NOCAP_BY_NCRISC, 1, 0x40000, 0x10, 8192, 0, -1},
        {NOCAP_BY_TRISC0, 2, 0x01000, 0x02, 4096, 1, 0},
        {NOCAP_BY_TRISC1, 3, 0x02000, 0x04, 4096, 2, 1},
        {NOCAP_BY_TRISC2, 4, 0x04000, 0x08, 4096, 3, 2},
    };
    for (size_t i = 0; i < 5; i++) {
        const struct nocap_core_info *core = nocap_core(rows[i].agent);
        assert_non_null(core);
        assert_int_equal(core->agent, rows[i].agent);
        assert_int_equal(core->processor, rows[i].processor);
        assert_int_equal(core->reset_mask, rows[i].reset);
        assert_int_equal(core->cache_mask, rows[i].cache);
        assert_int_equal(core->ldm_size, rows[i].ldm);
        assert_int_equal(core->sync_byte, rows[i].sync_byte);
        assert_int_equal(core->thread, rows[i].thread);
    }
    assert_null(nocap_core(NOCAP_BY_HOST));
    assert_null(nocap_core(NOCAP_BY_NOC));
    assert_int_equal(NOCAP_SOFT_RESET_ALL, 0x47800);
    assert_int_equal(NOCAP_SOFT_RESET_SUBORDINATES, 0x47000);
    assert_int_equal(NOCAP_IC_INVALIDATE_ALL, 0x1F);
}

/* Each Tensix tile of a board has logical coordinates of its own, which lead back to it. */
static void logical_coordinates(void **state)
{
    (void)state;
    for (unsigned board = 0; board < NOCAP_BOARD_COUNT; board++) {
        for (unsigned i = 0; i < 256 * 256; i++) {
            const struct nocap_xy at = {(uint8_t)i, (uint8_t)(i >> 8)};
            bool known =
                board != NOCAP_BOARD_UNKNOWN && nocap_is_tensix_tile((enum nocap_board)board, at);
            struct nocap_xy logical, back;
            assert_int_equal(nocap_logical_of_tile((enum nocap_board)board, at, &logical), known);
            assert_true(!known || nocap_tile_of_logical(logical, &back));
            assert_true(!known || (back.x == at.x && back.y == at.y));
        }
    }
    char text[NOCAP_CORE_TEXT];
    const struct nocap_xy last = {14, 11}, harvested = {15, 11};
    assert_string_equal(nocap_core_text(NOCAP_BOARD_P100, last, text),
                        "core(x=11,y=9) virtual(x=14,y=11)");
    assert_string_equal(nocap_core_text(NOCAP_BOARD_P100, harvested, text), "core 15,11");
    assert_string_equal(nocap_core_text(NOCAP_BOARD_P150, harvested, text),
                        "core(x=12,y=9) virtual(x=15,y=11)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_boundary),
        cmocka_unit_test(rows_cover_everything_once),
        cmocka_unit_test(permissions),
        cmocka_unit_test(permission_rules),
        cmocka_unit_test(grid),
        cmocka_unit_test(other_tiles),
        cmocka_unit_test(dram_channels),
        cmocka_unit_test(rectangles),
        cmocka_unit_test(tiles_of_rectangles),
        cmocka_unit_test(targets_of_requests),
        cmocka_unit_test(logical_coordinates),
        cmocka_unit_test(cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
