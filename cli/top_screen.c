/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_screen.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "checker/query/state_text.h"

enum { BOARD_ROW = 3, DETAIL_COLUMN = 2 * TOP_X + 6, LIST_ROW = BOARD_ROW + TOP_Y + 2 };

static bool is_listed(const struct top *top, const struct top_line *line)
{
    return !top->only_tile ||
           (line->has_tile && line->at.x == top->at.x && line->at.y == top->at.y);
}

static size_t listed(const struct top *top)
{
    const struct top_list *list = &top->lists[top->page];
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        count += is_listed(top, &list->lines[i]);
    }
    return count;
}

static char letter_of(const struct top *top, unsigned x, unsigned y)
{
    const struct nocap_tile_state *s = &top->tiles[y][x].state;
    if (!top->tiles[y][x].touched) {
        return ' ';
    }
    if (top->tiles[y][x].errors) {
        return '!';
    }
    if (top->tiles[y][x].waits) {
        return 'W';
    }
    if (s->active == NOCAP_YES || s->go_pending == NOCAP_YES) {
        return 'B';
    }
    if (strcmp(s->phase, "held in reset") == 0) {
        return 'r';
    }
    if (strcmp(s->phase, "booting") == 0) {
        return 'b';
    }
    return s->active == NOCAP_NO ? '-' : '.';
}

static void draw_head(const struct top *top)
{
    mvprintw(0, 0, "nocap top  %s  %s", top->path,
             top->live       ? "capturing"
             : top->footless ? "cut short, or still being written"
                             : "ended");
    if (top->damage->count != 0 && top->damage->damage[0].kind != NOCAP_DAMAGE_CUT) {
        printw(", damaged at event %" PRIu64 ": %s", top->damage->damage[0].index,
               top->damage->damage[0].text);
    }
    if (top->chips > 1) {
        printw("; the board is chip 0 of %u", top->chips);
    }
    mvprintw(1, 0,
             "%" PRIu64 " events, %" PRIu64 "/s   t %" PRIu64 "   %" PRIu64 " errors, %" PRIu64
             " warnings, %zu waits",
             top->events, top->rate, top->t, top->counts[NOCAP_ERROR], top->counts[NOCAP_WARNING],
             top->lists[TOP_WAITS].count + top->lists[TOP_WAITS].more);
}

static void draw_board(const struct top *top)
{
    for (unsigned y = 0; y < TOP_Y; y++) {
        mvprintw(BOARD_ROW + (int)y, 0, "%2u", y);
        for (unsigned x = 0; x < TOP_X; x++) {
            char letter = letter_of(top, x, y);
            bool chosen = x == top->at.x && y == top->at.y;
            attr_t look =
                (chosen ? A_REVERSE : 0u) | (letter == '!' || letter == 'W' ? A_BOLD : 0u);
            attron(look);
            mvaddch(BOARD_ROW + (int)y, 4 + 2 * (int)x, (chtype)letter);
            attroff(look);
        }
    }
    mvaddstr(BOARD_ROW + TOP_Y, 0, "x   0 1 2 3 4 5 6 7 8 9 . . . . . . 16");
}

/* What the model knows of the chosen tile, as many lines as there is room for. */
static void draw_tile(const struct top *top)
{
    char *text = NULL;
    size_t size = 0;
    mvprintw(BOARD_ROW - 1, DETAIL_COLUMN, "core %u,%u", top->at.x, top->at.y);
    if (!top->tiles[top->at.y][top->at.x].touched) {
        mvaddstr(BOARD_ROW, DETAIL_COLUMN, "nothing was seen of it");
        return;
    }
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return;
    }
    nocap_state_text(out, &top->tiles[top->at.y][top->at.x].state);
    if (fclose(out) == 0) {
        char *rest = text;
        for (int row = 0; row <= TOP_Y && rest != NULL && *rest != 0; row++) {
            char *line = strsep(&rest, "\n");
            mvaddnstr(BOARD_ROW + row, DETAIL_COLUMN, line, COLS - DETAIL_COLUMN);
        }
    }
    free(text);
}

static void draw_list(const struct top *top)
{
    static const char *const names[TOP_PAGES] = {"waits", "findings"};
    const struct top_list *list = &top->lists[top->page];
    int row = LIST_ROW, room = LINES - LIST_ROW - 2;
    size_t shown = listed(top), at = 0;
    size_t first = room > 0 && top->item >= (size_t)room ? top->item - (size_t)room + 1 : 0;
    attron(A_BOLD);
    mvprintw(row++, 0, "%s: %zu%s", names[top->page], shown + (top->only_tile ? 0 : list->more),
             top->only_tile ? " of this core" : "");
    attroff(A_BOLD);
    for (size_t i = 0; i < list->count; i++) {
        const struct top_line *line = &list->lines[i];
        if (!is_listed(top, line)) {
            continue;
        }
        if (at >= first && row < LINES - 1) {
            attr_t look = at == top->item ? A_REVERSE : line->error ? A_BOLD : A_NORMAL;
            attron(look);
            mvaddnstr(row++, 0, line->text, COLS);
            attroff(look);
        }
        at++;
    }
}

void top_draw(const struct top *top)
{
    erase();
    draw_head(top);
    draw_board(top);
    draw_tile(top);
    draw_list(top);
    mvaddnstr(LINES - 1, 0,
              "arrows core  tab waits/findings  j k item  enter its core  f only this core  q quit",
              COLS);
    refresh();
}

/* To the tile of the chosen item. */
static void jump(struct top *top)
{
    const struct top_list *list = &top->lists[top->page];
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct top_line *line = &list->lines[i];
        if (is_listed(top, line) && at++ == top->item && line->has_tile && line->at.x < TOP_X &&
            line->at.y < TOP_Y) {
            top->at = line->at;
        }
    }
}

bool top_key(struct top *top, int key)
{
    size_t last = listed(top);
    switch (key) {
    case 'q': return false;
    case KEY_LEFT: top->at.x = (uint8_t)((top->at.x + TOP_X - 1) % TOP_X); break;
    case KEY_RIGHT: top->at.x = (uint8_t)((top->at.x + 1) % TOP_X); break;
    case KEY_UP: top->at.y = (uint8_t)((top->at.y + TOP_Y - 1) % TOP_Y); break;
    case KEY_DOWN: top->at.y = (uint8_t)((top->at.y + 1) % TOP_Y); break;
    case '\t':
        top->page = top->page == TOP_WAITS ? TOP_FINDINGS : TOP_WAITS;
        top->item = 0;
        break;
    case 'j': top->item += top->item + 1 < last; break;
    case 'k': top->item -= top->item > 0; break;
    case 'f':
        top->only_tile = !top->only_tile;
        top->item = 0;
        break;
    case '\n':
    case KEY_ENTER: jump(top); break;
    default: break;
    }
    return true;
}
