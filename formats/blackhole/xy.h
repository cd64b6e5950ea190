/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates of tiles, and rectangles of them. */
#ifndef NOCAP_BLACKHOLE_XY_H
#define NOCAP_BLACKHOLE_XY_H

#include <stdbool.h>

#include "formats/trace/event.h"

enum { NOCAP_GRID_WIDTH = 17, NOCAP_GRID_HEIGHT = 12 }; /* of NOC 0 */

static inline bool nocap_xy_equal(struct nocap_xy a, struct nocap_xy b)
{
    return a.x == b.x && a.y == b.y;
}

/* On a ring of coordinates a span may run over the end: then it is what lies outside of (end,
 * start). */
static inline bool nocap_in_span(unsigned start, unsigned end, unsigned v)
{
    return start <= end ? v >= start && v <= end : v >= start || v <= end;
}

/* Whether tile `at` lies in the rectangle of a multicast. On NOC 0 both axes wrap when start > end.
 */
static inline bool nocap_in_rectangle(struct nocap_xy start, struct nocap_xy end,
                                      struct nocap_xy at)
{
    return nocap_in_span(start.x, end.x, at.x) && nocap_in_span(start.y, end.y, at.y);
}

/* Each tile of such a rectangle, column by column:
 *
 *     for (struct nocap_tiles t = nocap_tiles(start, end); !t.over; nocap_next_tile(&t)) {
 *         use t.at
 */
struct nocap_tiles {
    struct nocap_xy at, start, end;
    bool over;
};

static inline struct nocap_tiles nocap_tiles(struct nocap_xy start, struct nocap_xy end)
{
    return (struct nocap_tiles){.at = start, .start = start, .end = end};
}

/* The coordinate after `v`, on an axis that has so many, in a span from `start` to `end`. */
static inline uint8_t nocap_next_in_span(unsigned start, unsigned end, unsigned v, unsigned size)
{
    return (uint8_t)(start > end && v >= start && v + 1 >= size ? 0 : v + 1);
}

static inline void nocap_next_tile(struct nocap_tiles *t)
{
    if (t->at.y != t->end.y) {
        t->at.y = nocap_next_in_span(t->start.y, t->end.y, t->at.y, NOCAP_GRID_HEIGHT);
        return;
    }
    t->over = t->at.x == t->end.x;
    t->at.y = t->start.y;
    t->at.x = nocap_next_in_span(t->start.x, t->end.x, t->at.x, NOCAP_GRID_WIDTH);
}

/* The tiles that an access goes to: one, or the rectangle of a multicast. */
static inline struct nocap_xy nocap_last_tile(const struct nocap_event *e)
{
    return (e->has & NOCAP_F_TO) != 0 ? e->to : e->at;
}

static inline bool nocap_goes_to(const struct nocap_event *e, struct nocap_xy at)
{
    return nocap_in_rectangle(e->at, nocap_last_tile(e), at);
}

#endif
