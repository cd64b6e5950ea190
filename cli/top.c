/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "checker/hang/hang.h"
#include "cli/commands.h"
#include "cli/profile_option.h"
#include "cli/top_screen.h"
#include "formats/rings/recover.h"

enum { PAUSE_MILLISECONDS = 500, FINDINGS_A_RULE = 1000 };

struct settings {
    struct cli_tile tile;
    const char *profile;
};

static const struct cli_option options[] = {
    {"tile", "X,Y", "the core that is chosen at first (1,2)", offsetof(struct settings, tile),
     CLI_TILE, 0},
    CLI_PROFILE(struct settings),
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- what there is to show ---- */

static struct top_line *add_line(struct top_list *list)
{
    if (list->count == TOP_LISTED) {
        list->more++;
        return NULL;
    }
    list->lines[list->count] = (struct top_line){.has_tile = false};
    return &list->lines[list->count++];
}

static bool on_board(struct nocap_xy at)
{
    return at.x < TOP_X && at.y < TOP_Y;
}

/* The board that is shown is that of the first chip. */
static bool is_shown(uint16_t chip, struct nocap_xy at)
{
    return chip == 0 && on_board(at);
}

/* "", or " chip 1". */
static const char *of_chip(char text[16], uint16_t chip)
{
    snprintf(text, 16, " chip %u", chip);
    return chip != 0 ? text : "";
}

static void take_finding(void *context, const struct nocap_finding *f)
{
    struct top *top = context;
    char chip[16];
    struct top_line *line = add_line(&top->lists[TOP_FINDINGS]);
    top->counts[f->severity]++;
    if (f->has_tile && is_shown(f->chip, f->at) && f->severity == NOCAP_ERROR) {
        top->tiles[f->at.y][f->at.x].errors = true;
    }
    if (line == NULL) {
        return;
    }
    line->has_tile = f->has_tile && f->chip == 0;
    line->at = f->at;
    line->error = f->severity == NOCAP_ERROR;
    snprintf(line->text, sizeof line->text, "%s %s #%" PRIu64 " %s %u,%u%s: %s",
             nocap_severity_name(f->severity), nocap_rules[f->rule].id, f->index,
             nocap_agent_name(f->agent), f->at.x, f->at.y, of_chip(chip, f->chip), f->observed);
}

static void take_wait(void *context, const struct nocap_wait *w)
{
    struct top *top = context;
    char who[64], by[64];
    struct top_line *line = add_line(&top->lists[TOP_WAITS]);
    if (w->who.has_tile && is_shown(w->who.chip, w->who.at)) {
        top->tiles[w->who.at.y][w->who.at.x].waits = true;
    }
    if (line == NULL) {
        return;
    }
    line->has_tile = w->who.has_tile && w->who.chip == 0;
    line->at = w->who.at;
    bool known = w->by.agent != NOCAP_BY_NONE;
    snprintf(line->text, sizeof line->text, "%s%s%s: %s",
             nocap_party_name(&w->who, who, sizeof who), known ? " waits for " : "",
             known ? nocap_party_name(&w->by, by, sizeof by) : "", w->what);
}

static void look_at_tiles(struct top *top, struct nocap_engine *engine)
{
    size_t count;
    struct nocap_tile_place *places = nocap_engine_tiles(engine, &count);
    for (size_t i = 0; places != NULL && i < count; i++) {
        top->chips = places[i].chip >= top->chips ? places[i].chip + 1u : top->chips;
        if (is_shown(places[i].chip, places[i].at)) {
            top->tiles[places[i].at.y][places[i].at.x].touched = nocap_engine_tile_state(
                engine, 0, places[i].at, &top->tiles[places[i].at.y][places[i].at.x].state);
        }
    }
    free(places);
}

static bool has_footer(const char *path)
{
    struct nocap_error err;
    struct nocap_reader *reader;
    struct nocap_trace_totals totals;
    bool opened = nocap_reader_open(&reader, path, &err) == NOCAP_OK;
    bool there = opened && nocap_reader_totals(reader, &totals);
    if (opened) {
        nocap_reader_close(reader);
    }
    return there;
}

/* Bytes of the trace that are there to be read. */
static uint64_t size_of(struct top *top)
{
    struct stat st;
    top->live = nocap_rings_capturing(top->path);
    if (top->live) {
        return nocap_rings_committed(top->path);
    }
    uint64_t size = stat(top->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (size != top->size) {
        top->size = size;
        top->footless = !has_footer(top->path);
    }
    return size;
}

static enum nocap_status look(struct top *top, struct nocap_follow *follow, double elapsed,
                              struct nocap_error *err)
{
    uint64_t before = top->events;
    RETURN_IF_FAILED(nocap_follow_poll(follow, size_of(top), err));
    struct nocap_engine *engine = nocap_follow_engine(follow, &top->events, &top->t);
    top->damage = nocap_follow_integrity(follow);
    top->rate = elapsed > 0 ? (uint64_t)((double)(top->events - before) / elapsed) : 0;
    top->lists[TOP_WAITS].count = top->lists[TOP_WAITS].more = 0;
    for (unsigned y = 0; y < TOP_Y; y++) {
        for (unsigned x = 0; x < TOP_X; x++) {
            top->tiles[y][x].waits = false;
        }
    }
    nocap_engine_waits(engine, take_wait, top);
    look_at_tiles(top, engine);
    return NOCAP_OK;
}

/* ---- the screen ---- */

static enum nocap_status show(struct top *top, struct nocap_follow *follow, struct nocap_error *err)
{
    double latest = seconds();
    enum nocap_status status = look(top, follow, 0, err);
    while (status == NOCAP_OK) {
        top_draw(top);
        int key = getch();
        if (key != ERR && !top_key(top, key)) {
            break;
        }
        double now = seconds();
        if ((now - latest) * 1000 >= PAUSE_MILLISECONDS) {
            status = look(top, follow, now - latest, err);
            latest = now;
        }
    }
    return status;
}

static enum nocap_status on_screen(struct top *top, struct nocap_follow *follow,
                                   struct nocap_error *err)
{
    RETURN_ERROR_IF(initscr() == NULL, err, NOCAP_E_OUTPUT, "the terminal cannot be used");
    cbreak();
    noecho();
    keypad(stdscr, true);
    curs_set(0);
    timeout(PAUSE_MILLISECONDS);
    enum nocap_status status = show(top, follow, err);
    endwin();
    return status;
}

/* The user asks who waits. */
static enum nocap_status ended(void *context, struct nocap_engine *engine,
                               struct nocap_reader *reader, const struct nocap_elf_cores *cores,
                               struct nocap_error *err)
{
    (void)context, (void)engine, (void)reader, (void)cores, (void)err;
    return NOCAP_OK;
}

static int run_with(const struct cli_call *call, const char *profile)
{
    const struct settings *s = call->settings;
    struct nocap_error err = {{0}};
    struct nocap_follow *follow;
    struct top *top = calloc(1, sizeof *top);
    if (top == NULL) {
        return cli_fail(call, NOCAP_E_MEMORY, &(struct nocap_error){"out of memory"});
    }
    top->path = call->operands.items[0];
    top->at = s->tile.given ? s->tile.at : (struct nocap_xy){1, 2};
    const struct nocap_check_options check = {.size = sizeof check,
                                              .max_per_rule = FINDINGS_A_RULE,
                                              .ended = ended,
                                              .reported = take_finding,
                                              .reported_context = top,
                                              .profile = profile};
    enum nocap_status status = nocap_follow_open(&follow, top->path, &check, &err);
    if (status == NOCAP_OK) {
        status = on_screen(top, follow, &err);
        nocap_follow_close(follow, NULL, &err);
    }
    free(top);
    if (status == NOCAP_E_INPUT) {
        cli_message(call, "top reads .nocap files alone; nocap import makes them of other forms");
    }
    return status == NOCAP_OK ? CLI_EXIT_OK : cli_fail(call, status, &err);
}

static int run(const struct cli_call *call)
{
    const struct settings *s = call->settings;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || getenv("TERM") == NULL) {
        return cli_usage(call, "top needs a terminal; nocap hang, check and replay print the same");
    }
    if (s->tile.given && !on_board(s->tile.at)) {
        return cli_usage(call, "there is no core %u,%u on a board", s->tile.at.x, s->tile.at.y);
    }
    char *profile;
    int result = cli_profile_json(call, s->profile, &profile);
    if (result == CLI_EXIT_OK) {
        result = run_with(call, profile);
    }
    free(profile);
    return result;
}

CLI_COMMAND(command) = {
    .name = "top",
    .operands = "TRACE",
    .summary = "a live screen of a trace, also of one that is being captured",
    .details = "The board of the first chip, a letter a core: B busy, - idle, b booting, r\n"
               "held in reset, W an agent waits there, ! an error, . nothing known; the state\n"
               "of the chosen core; waits and findings as they come. Arrows choose a core, tab\n"
               "the list, j and k an item, enter goes to its core, f shows what is about that\n"
               "core alone, q ends. TRACE is a .nocap file.",
    .examples = "  nocap top run.nocap\n"
                "  nocap top --tile 1,3 run.nocap",
    CLI_OPTIONS(options),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run,
};
