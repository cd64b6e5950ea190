/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/blackhole/tile_map.h"

#include <stddef.h>
#include <stdio.h>

#define REGION(NAME, first_, last_, kind_, load_, store_, sentence_)                               \
    {(first_),          (last_), #NAME, (sentence_), (load_), (store_), NOCAP_REGION_##NAME,       \
     NOCAP_KIND_##kind_},
#define GAP(first_, last_)                                                                         \
    {(first_), (last_), "GAP", "nothing answers here", 0, 0, NOCAP_REGION_GAP, NOCAP_KIND_GAP},
const struct nocap_region_info nocap_regions[] = {
#include "formats/blackhole/tile_map.def"
};
#undef REGION
#undef GAP

/* First addresses once more, close together for the search. */
#define REGION(NAME, first, last, kind, load, store, sentence) (first),
#define GAP(first, last)                                       (first),
static const uint32_t starts[] = {
#include "formats/blackhole/tile_map.def"
};
#undef REGION
#undef GAP

enum { ROWS = sizeof(starts) / sizeof(starts[0]), FIRST_STEP = 32 };
_Static_assert(ROWS <= 2 * FIRST_STEP, "the search reaches every row");
_Static_assert(NOCAP_REGION_L1 == 0, "L1 is the first row");
const unsigned nocap_region_rows = ROWS;

const struct nocap_region_info *nocap_tile_region_above_l1(uint64_t addr)
{
    uint32_t low = addr > UINT32_MAX ? UINT32_MAX : (uint32_t)addr; /* both are the last gap */
    unsigned row = 0;
    for (unsigned step = FIRST_STEP; step > 0; step /= 2) {
        if (row + step < ROWS && starts[row + step] <= low) {
            row += step;
        }
    }
    return &nocap_regions[row];
}

struct tile_area {
    uint8_t kind, boards;
    uint8_t x_first, x_last, y_first, y_last;
};

#define NOCAP_ON(BOARD) (1u << NOCAP_BOARD_##BOARD)
#define TILES(kind, boards, x_first, x_last, y_first, y_last)                                      \
    {NOCAP_TILE_##kind, (boards), (x_first), (x_last), (y_first), (y_last)},
static const struct tile_area areas[] = {
#include "formats/blackhole/tile_grid.def"
};
#undef TILES
#undef NOCAP_ON

enum nocap_tile_kind nocap_tile_kind(enum nocap_board board, struct nocap_xy at)
{
    for (size_t i = 0; i < sizeof(areas) / sizeof(areas[0]); i++) {
        const struct tile_area *area = &areas[i];
        if (at.x >= area->x_first && at.x <= area->x_last && at.y >= area->y_first &&
            at.y <= area->y_last && ((unsigned)area->boards >> board & 1u) != 0) {
            return (enum nocap_tile_kind)area->kind;
        }
    }
    return NOCAP_TILE_NONE;
}

const char *nocap_tile_kind_name(enum nocap_tile_kind kind)
{
    static const char *const names[NOCAP_TILE_KINDS] = {
        [NOCAP_TILE_NONE] = "none",   [NOCAP_TILE_TENSIX] = "Tensix",
        [NOCAP_TILE_DRAM] = "DRAM",   [NOCAP_TILE_ETHERNET] = "Ethernet",
        [NOCAP_TILE_PCIE] = "PCIe",   [NOCAP_TILE_ARC] = "ARC",
        [NOCAP_TILE_OTHER] = "other",
    };
    return (unsigned)kind < NOCAP_TILE_KINDS ? names[kind] : "?";
}

bool nocap_is_tensix_tile(enum nocap_board board, struct nocap_xy at)
{
    return nocap_tile_kind(board, at) == NOCAP_TILE_TENSIX;
}

static bool column_has_tensix(uint8_t x)
{
    bool has = false;
    for (uint8_t y = 0; y < NOCAP_GRID_HEIGHT; y++) {
        has |= nocap_is_tensix_tile(NOCAP_BOARD_UNKNOWN, (struct nocap_xy){x, y});
    }
    return has;
}

static bool row_has_tensix(uint8_t y)
{
    bool has = false;
    for (uint8_t x = 0; x < NOCAP_GRID_WIDTH; x++) {
        has |= nocap_is_tensix_tile(NOCAP_BOARD_UNKNOWN, (struct nocap_xy){x, y});
    }
    return has;
}

/* Number `n`, from 0, of those below `count` that have one; false: there are fewer. */
static bool find_nth(uint8_t n, uint8_t count, bool has_tensix(uint8_t), uint8_t *found)
{
    for (uint8_t i = 0; i < count; i++) {
        if (has_tensix(i) && n-- == 0) {
            *found = i;
            return true;
        }
    }
    return false;
}

bool nocap_tile_of_logical(struct nocap_xy logical, struct nocap_xy *tile)
{
    return find_nth(logical.x, NOCAP_GRID_WIDTH, column_has_tensix, &tile->x) &&
           find_nth(logical.y, NOCAP_GRID_HEIGHT, row_has_tensix, &tile->y);
}

bool nocap_logical_of_tile(enum nocap_board board, struct nocap_xy tile, struct nocap_xy *logical)
{
    *logical = (struct nocap_xy){0, 0};
    for (uint8_t x = 0; x < tile.x && x < NOCAP_GRID_WIDTH; x++) {
        logical->x += column_has_tensix(x);
    }
    for (uint8_t y = 0; y < tile.y && y < NOCAP_GRID_HEIGHT; y++) {
        logical->y += row_has_tensix(y);
    }
    return board != NOCAP_BOARD_UNKNOWN && nocap_is_tensix_tile(board, tile);
}

const char *nocap_core_text(enum nocap_board board, struct nocap_xy at,
                            char text[static NOCAP_CORE_TEXT])
{
    struct nocap_xy logical;
    if (nocap_logical_of_tile(board, at, &logical)) {
        snprintf(text, NOCAP_CORE_TEXT, "core(x=%u,y=%u) virtual(x=%u,y=%u)", logical.x, logical.y,
                 at.x, at.y);
    } else {
        snprintf(text, NOCAP_CORE_TEXT, "core %u,%u", at.x, at.y);
    }
    return text;
}

struct nocap_dram_port nocap_dram_port(struct nocap_xy at)
{
    /* of NOC 0, channel by channel; translated ones stand in that order */
    static const uint8_t rows[] = {0, 1, 11, 2, 10, 3, 5, 7, 6, 9, 4, 8};
    enum { ROWS_OF_COLUMN = sizeof rows, PORTS = 3 };
    const bool translated = at.y >= ROWS_OF_COLUMN;
    unsigned row = at.y % ROWS_OF_COLUMN;
    for (unsigned i = 0; !translated && i < ROWS_OF_COLUMN; i++) {
        row = rows[i] == at.y ? i : row;
    }
    const unsigned number = row % PORTS, first = row - number;
    const uint8_t y = translated ? (uint8_t)(at.y - number) : rows[first];
    return (struct nocap_dram_port){{at.x, y}, number};
}

bool nocap_is_translated(struct nocap_xy at)
{
    enum { X_FIRST = 16, X_LAST = 33, Y_FIRST = 12, Y_LAST = 25 };
    return at.x >= X_FIRST && at.x <= X_LAST && at.y >= Y_FIRST && at.y <= Y_LAST;
}
