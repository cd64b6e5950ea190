/* SPDX-License-Identifier: Apache-2.0 */
/* TRC-008: whether the place that an event names is one of the board. What names another is judged
 * by no model, so it must not pass for clean. */
#include "replay/core/decode.h"

#include <stdio.h>

#include "formats/blackhole/cores.h"
#include "formats/blackhole/registers.h"

/* Something that only a worker core has. */
static bool is_inside(const struct nocap_event *e)
{
    return nocap_is_core(e->by) || e->kind == NOCAP_EV_KERNEL || e->kind == NOCAP_EV_RESET ||
           e->kind == NOCAP_EV_TENSIX;
}

/* The host takes RISCs into reset or out of it. */
static bool is_reset(const struct nocap_event *e)
{
    return e->kind == NOCAP_EV_WRITE && e->by == NOCAP_BY_HOST &&
           e->addr == NOCAP_REG_SOFT_RESET_0 && e->size == 4 && (e->has & NOCAP_F_VALUE) != 0 &&
           e->value != 0 && (e->value & ~(uint64_t)NOCAP_SOFT_RESET_ALL) == 0;
}

static bool has_no_cores(enum nocap_tile_kind kind)
{
    return kind == NOCAP_TILE_DRAM || kind == NOCAP_TILE_PCIE || kind == NOCAP_TILE_ARC;
}

static void report_place(struct model *m, const struct nocap_event *e, enum nocap_tile_kind kind)
{
    const char *what =
        kind == NOCAP_TILE_NONE ? "the board has no such core" : nocap_tile_kind_name(kind);
    char meant[64] = "";
    struct nocap_xy tile;
    if (nocap_tile_of_logical(e->at, &tile)) {
        snprintf(meant, sizeof meant, "; as logical coordinates it would be core %u,%u", tile.x,
                 tile.y);
    }
    CHECK(m, NULL, TRC_008, false, NO_REFS, "a place that the board has",
          "an event at %u,%u, where it cannot be (%s)%s", e->at.x, e->at.y, what, meant);
}

void place_judge(struct model *m, const struct nocap_event *e)
{
    unsigned place = (unsigned)e->at.x << 8 | e->at.y;
    uint8_t *seen = &m->places_seen[place / 8], bit = (uint8_t)(1u << place % 8);
    bool inside = is_inside(e), reset = is_reset(e);
    if ((*seen & bit) != 0 && !inside && !reset) {
        return;
    }
    enum nocap_tile_kind kind = model_tile_kind(m, e->at);
    bool there = kind != NOCAP_TILE_NONE || (!inside && nocap_is_translated(e->at));
    bool right = there && (!inside || kind == NOCAP_TILE_TENSIX) && !(reset && has_no_cores(kind));
    uint8_t *reported = &m->places_reported[e->chip % PLACE_CHIPS][place / 8];
    if (!right && (*reported & bit) == 0) {
        *reported |= bit;
        report_place(m, e, kind);
    }
    *seen |= right ? bit : 0;
}

void place_event(struct model *m, const struct nocap_event *e)
{
    const bool rectangle = (e->has & NOCAP_F_TO) != 0;
    bool placed = false;
    switch (e->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
        placed = e->space == NOCAP_SPACE_TILE &&
                 !(rectangle && (e->to.x < e->at.x || e->to.y < e->at.y));
        break;
    case NOCAP_EV_NOC: placed = e->phase == NOCAP_PHASE_ISSUE; break;
    case NOCAP_EV_KERNEL:
    case NOCAP_EV_RESET:
    case NOCAP_EV_TENSIX: placed = true; break;
    default: break;
    }
    if (placed && m->knows_tiles) {
        place_judge(m, e);
    }
}
