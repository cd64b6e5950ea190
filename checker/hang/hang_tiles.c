/* SPDX-License-Identifier: Apache-2.0 */
/* The state of every tile in one line, equal ones together. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/hang/hang_private.h"
#include "checker/query/state_text.h"
#include "replay/core/state.h"

enum { LINE_MAX_BYTES = 512, PLACES_MAX = 8, PLACE_MAX = 24 };

/* The tile's line of `replay`, without its place. */
static char *line_of(const struct nocap_tile_state *state)
{
    char *line = calloc(1, LINE_MAX_BYTES);
    FILE *out = line != NULL ? fmemopen(line, LINE_MAX_BYTES - 1, "w") : NULL;
    if (out == NULL) {
        free(line);
        return NULL;
    }
    nocap_state_line(out, state);
    fclose(out);
    const char *text = strchr(line, ':');
    size_t length = text != NULL ? strcspn(text, "\n") : 0;
    if (length > 2) {
        memmove(line, text + 2, length - 2);
        line[length - 2] = '\0';
    }
    return line;
}

static bool add_place(struct nocap_hang_tiles *t, const struct nocap_tile_place *place)
{
    size_t length = t->places != NULL ? strlen(t->places) : 0;
    t->count++;
    if (t->count > PLACES_MAX + 1) {
        return true;
    }
    char *places = realloc(t->places, length + PLACE_MAX);
    if (places == NULL) {
        return false;
    }
    t->places = places;
    if (t->count == PLACES_MAX + 1) {
        snprintf(places + length, PLACE_MAX, " ..");
    } else if (place->chip != 0) {
        snprintf(places + length, PLACE_MAX, "%s%u:%u,%u", length > 0 ? " " : "", place->chip,
                 place->at.x, place->at.y);
    } else {
        snprintf(places + length, PLACE_MAX, "%s%u,%u", length > 0 ? " " : "", place->at.x,
                 place->at.y);
    }
    return true;
}

/* The group of tiles in this state, which is taken over or freed; NULL without memory. */
static struct nocap_hang_tiles *group_of(struct nocap_hang *h, char *state)
{
    for (size_t i = 0; i < h->tiles_count; i++) {
        if (strcmp(h->tiles[i].state, state) == 0) {
            free(state);
            return &h->tiles[i];
        }
    }
    struct nocap_hang_tiles *tiles = LIST_NEXT(h->tiles, h->tiles_count);
    if (tiles == NULL) {
        free(state);
        return NULL;
    }
    tiles->state = state;
    h->tiles_count++;
    return tiles;
}

static int by_count(const void *a, const void *b)
{
    const struct nocap_hang_tiles *t = a, *u = b;
    return (t->count < u->count) - (t->count > u->count);
}

enum nocap_status nocap_hang_tiles(struct nocap_hang *h, struct nocap_engine *engine,
                                   struct nocap_error *err)
{
    size_t count;
    struct nocap_tile_place *places = nocap_engine_tiles(engine, &count);
    bool enough = places != NULL;
    for (size_t i = 0; enough && i < count; i++) {
        struct nocap_tile_state state;
        char *line = NULL;
        if (nocap_engine_tile_state(engine, places[i].chip, places[i].at, &state)) {
            line = line_of(&state);
        }
        struct nocap_hang_tiles *group = line != NULL ? group_of(h, line) : NULL;
        enough = group != NULL && add_place(group, &places[i]);
    }
    free(places);
    RETURN_ERROR_IF(!enough, err, NOCAP_E_MEMORY, "out of memory");
    if (h->tiles_count > 1) {
        qsort(h->tiles, h->tiles_count, sizeof *h->tiles, by_count);
    }
    return NOCAP_OK;
}
