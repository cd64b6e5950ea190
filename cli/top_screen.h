/* SPDX-License-Identifier: Apache-2.0 */
/* Private to cli/top*.c: what the screen of `nocap top` shows. */
#ifndef NOCAP_CLI_TOP_SCREEN_H
#define NOCAP_CLI_TOP_SCREEN_H

#include "checker/core/checker.h"
#include "replay/core/state.h"
#include "replay/core/waits.h"

enum { TOP_LISTED = 200, TOP_LINE = 240, TOP_X = 17, TOP_Y = 12 };

/* A wait or a finding as a line, and the tile that it is about. */
struct top_line {
    char text[TOP_LINE];
    bool has_tile, error;
    struct nocap_xy at;
};
struct top_list {
    struct top_line lines[TOP_LISTED];
    size_t count, more; /* more: those for which there is no room */
};
enum top_page { TOP_WAITS, TOP_FINDINGS, TOP_PAGES };

struct top {
    const char *path;
    bool live;     /* the capture still runs */
    bool footless; /* it does not, and the file has no footer */
    uint64_t size; /* of the file, then */
    const struct nocap_integrity *damage;
    unsigned chips;           /* up to the last that was seen */
    uint64_t events, t, rate; /* rate: events a second, since the look before */
    uint64_t counts[NOCAP_SEVERITY_COUNT];
    struct top_list lists[TOP_PAGES];
    struct {
        bool touched, waits, errors;
        struct nocap_tile_state state;
    } tiles[TOP_Y][TOP_X];
    /* what the person chose */
    enum top_page page;
    struct nocap_xy at;
    size_t item;
    bool only_tile; /* the list has what is about the chosen tile alone */
};

/* Draws all of it. */
void top_draw(const struct top *top);
/* Does what a key asks for; false: it ends the program. */
bool top_key(struct top *top, int key);

#endif
