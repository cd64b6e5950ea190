/* SPDX-License-Identifier: Apache-2.0 */
/* TRC-008: whether the place that an event names is one of the board. What names another is judged
 * by no model, so it must not pass for clean. */
#include "replay/core/decode.h"

enum {
    /* Logical coordinates of Tensix tiles: columns and rows without gaps, counted from 0. */
    LOGICAL_WIDTH = 14,
    LOGICAL_HEIGHT = 10,
    LEFT_COLUMNS = 7, /* to the left of the DRAM column in the middle, at x 1 and on */
    RIGHT_FIRST = 10,
    TOP_ROW = 2,
    /* Translated coordinates of DRAM, Ethernet and PCIe tiles lie beyond the grid. */
    TRANSLATED_X = 16,
    TRANSLATED_X_LAST = 33,
    TRANSLATED_Y = 12,
    TRANSLATED_Y_LAST = 25,
};

static bool is_translated(struct nocap_xy at)
{
    return at.x >= TRANSLATED_X && at.x <= TRANSLATED_X_LAST && at.y >= TRANSLATED_Y &&
           at.y <= TRANSLATED_Y_LAST;
}

/* Something that only a Tensix tile has. */
static bool is_inside(const struct nocap_event *e)
{
    return nocap_is_core(e->by) || e->kind == NOCAP_EV_KERNEL || e->kind == NOCAP_EV_RESET ||
           e->kind == NOCAP_EV_TENSIX;
}

static void tell(struct model *m, const struct nocap_event *e, enum nocap_tile_kind kind)
{
    unsigned x = e->at.x, y = e->at.y;
    const char *what =
        kind == NOCAP_TILE_NONE ? "the board has no such tile" : nocap_tile_kind_name(kind);
    if (x < LOGICAL_WIDTH && y < LOGICAL_HEIGHT) {
        EXPECT(m, NULL, TRC_008, false, NOTHING, "a place that the board has",
               "%u,%u (%s); as logical coordinates it would be tile %u,%u", x, y, what,
               x < LEFT_COLUMNS ? x + 1 : x - LEFT_COLUMNS + RIGHT_FIRST, y + TOP_ROW);
    } else {
        EXPECT(m, NULL, TRC_008, false, NOTHING, "a place that the board has", "%u,%u (%s)", x, y,
               what);
    }
}

void place_judge(struct model *m, const struct nocap_event *e)
{
    unsigned place = (unsigned)e->at.x << 8 | e->at.y;
    uint8_t *seen = &m->places_seen[place / 8], bit = (uint8_t)(1u << place % 8);
    bool inside = is_inside(e);
    if ((*seen & bit) != 0 && !inside) {
        return;
    }
    enum nocap_tile_kind kind = nocap_tile_kind(m->header->board, e->at);
    bool there = kind != NOCAP_TILE_NONE || (!inside && is_translated(e->at));
    bool right = there && (!inside || kind == NOCAP_TILE_TENSIX);
    if (!right && (m->places_told[place / 8] & bit) == 0) {
        m->places_told[place / 8] |= bit;
        tell(m, e, kind);
    }
    *seen |= bit;
}
