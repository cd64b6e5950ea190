/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/core/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "replay/core/engine_private.h"
#include "replay/core/progress.h"

_Static_assert((int)UNKNOWN == (int)NOCAP_UNKNOWN && (int)NO == (int)NOCAP_NO &&
                   (int)YES == (int)NOCAP_YES,
               "the same three");

static int by_place(const void *a, const void *b)
{
    const struct nocap_tile_place *p = a, *q = b;
    return p->chip != q->chip   ? p->chip - q->chip
           : p->at.y != q->at.y ? p->at.y - q->at.y
                                : p->at.x - q->at.x;
}

struct nocap_tile_place *nocap_engine_tiles(const struct nocap_engine *engine, size_t *count)
{
    const struct tile_table *table = &engine->model.tiles;
    struct nocap_tile_place *places = calloc((size_t)table->count + 1, sizeof *places);
    *count = places != NULL ? table->count : 0;
    for (size_t i = 0; i < *count; i++) {
        places[i] = (struct nocap_tile_place){table->met[i]->chip, table->met[i]->at};
    }
    if (places != NULL) {
        qsort(places, *count, sizeof *places, by_place);
    }
    return places;
}

_Static_assert((int)NOCAP_STATE_NOCS == (int)PROGRESS_NOCS &&
                   (int)NOCAP_STATE_REQUEST_KINDS == (int)NOCAP_REQUESTS,
               "the same");
const char *const nocap_request_names[NOCAP_STATE_REQUEST_KINDS] = {
    [NOCAP_READS] = "reads", [NOCAP_WRITES] = "writes", [NOCAP_ATOMICS] = "atomics"};

static void fill_requests(const struct tile *tile, struct nocap_tile_state *s)
{
    for (unsigned noc = 0; noc < PROGRESS_NOCS; noc++) {
        for (unsigned op = 0; op < NOCAP_REQUESTS; op++) {
            const struct progress_requests *r = &progress_of(tile)->requests[noc][op];
            s->requests[noc][op] = (struct nocap_request_state){r->issued, r->ended};
        }
    }
}

bool nocap_engine_tile_parts(const struct nocap_engine *engine, uint16_t chip, struct nocap_xy at,
                             unsigned parts, struct nocap_tile_state *s)
{
    const struct tile *tile = tile_find(&engine->model, chip, at);
    if (tile == NULL) {
        return false;
    }
    /* The large members stand last. */
    memset(s, 0,
           (parts & NOCAP_STATE_SLOTS) != 0     ? sizeof *s
           : (parts & NOCAP_STATE_THREADS) != 0 ? offsetof(struct nocap_tile_state, slots)
                                                : offsetof(struct nocap_tile_state, threads));
    s->chip = chip;
    s->at = at;
    s->board = engine->model.header->arch == NOCAP_ARCH_BLACKHOLE ? engine->model.header->board
                                                                  : NOCAP_BOARD_UNKNOWN;
    s->in_scope = tile->in_scope;
    EACH_MODEL(&engine->model, describe, &engine->model, tile, parts, s);
    if ((parts & NOCAP_STATE_REQUESTS) != 0) {
        fill_requests(tile, s);
    }
    return true;
}

bool nocap_engine_tile_state(const struct nocap_engine *engine, uint16_t chip, struct nocap_xy at,
                             struct nocap_tile_state *s)
{
    return nocap_engine_tile_parts(engine, chip, at, NOCAP_STATE_ALL, s);
}
