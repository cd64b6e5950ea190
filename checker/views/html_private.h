/* SPDX-License-Identifier: Apache-2.0 */
/* Private to checker/views: what a page keeps of the timeline until it is written. */
#ifndef NOCAP_CHECKER_VIEWS_HTML_PRIVATE_H
#define NOCAP_CHECKER_VIEWS_HTML_PRIVATE_H

#include "base/json_text.h"
#include "checker/views/view.h"

/* A row of the page's timeline: what lies at one depth of a track. */
enum { HTML_DEPTHS = 2 };
#define HTML_NONE UINT32_MAX /* no slice */
#define HTML_MANY UINT32_MAX /* no name: several slices */
struct html_track {
    struct nocap_track what;
    uint32_t number;            /* 0: there is none */
    uint32_t open[HTML_DEPTHS]; /* slices that are open, HTML_NONE: not kept */
    uint64_t since[HTML_DEPTHS];
    uint8_t depth;
    bool waits[HTML_DEPTHS];
    uint32_t tile; /* number of it + 1; 0: of none */
};
struct html_slice {
    uint64_t from, to;
    uint32_t row;  /* HTML_DEPTHS * track + depth */
    uint32_t name; /* HTML_MANY: `count` slices that were too short to be told apart */
    uint32_t count;
};
struct html_point {
    uint64_t t, value;
    uint32_t track;
};

/* A tile's share of the board, by spans of time of one length. */
enum { HTML_SPANS = 64 };
struct html_tile {
    uint16_t chip;
    struct nocap_xy at;
    uint64_t busy[HTML_SPANS], waits[HTML_SPANS]; /* time */
    uint64_t requests[HTML_SPANS];
};

struct html {
    FILE *out;
    bool cycles, out_of_memory;
    uint64_t first, last, span; /* of time; a span's length */
    bool timed;
    struct html_track *tracks;
    uint32_t track_count;
    struct html_slice *slices;
    size_t slice_count;
    struct html_point *points;
    size_t point_count;
    struct html_tile *tiles;
    uint32_t tile_count;
    struct view_names names;
};

/* html_reduce.c: slices that are too short to be seen become one, until few enough are left. */
void html_reduce(struct html *h);
/* html_context.c: the events around each finding. */
enum nocap_status html_context(struct nocap_json *json, const struct view_end *end,
                               struct nocap_export_result *result, struct nocap_error *err);

#endif
