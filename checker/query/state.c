/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/query/state.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checker/core/feed.h"
#include "checker/core/profile_choice.h"
#include "checker/query/state_text.h"
#include "formats/blackhole/xy.h"
#include "formats/import/import.h"
#include "replay/core/engine.h"

struct run {
    const struct nocap_replay_options *options;
    struct nocap_engine *engine;
    uint64_t events, last_index, last_t;
};

static bool wanted(const struct run *run, const struct nocap_event *e)
{
    const struct nocap_replay_options *o = run->options;
    return (!o->has_until || e->index <= o->until) && (!o->has_at || e->t <= o->at);
}

static enum nocap_status take(void *context, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    struct run *run = context;
    size_t n = 0;
    while (n < count && wanted(run, &events[n])) {
        n++;
    }
    if (n > 0) {
        run->events += n;
        run->last_index = events[n - 1].index;
        run->last_t = events[n - 1].t;
        RETURN_IF_FAILED(nocap_engine_feed(run->engine, events, n, err));
    }
    return n < count ? NOCAP_END : NOCAP_OK;
}

static void gap(void *context)
{
    struct run *run = context;
    nocap_engine_forget(run->engine);
}

static bool chosen(const struct nocap_replay_options *o, const struct nocap_tile_place *place)
{
    return !o->has_tile || nocap_xy_equal(place->at, o->tile);
}

/* A queue belongs to its two tiles, and to the whole. */
static bool shows_queue(const struct run *run, uint32_t number, struct nocap_queue_state *queue)
{
    const struct nocap_replay_options *o = run->options;
    if (!nocap_engine_queue_state(run->engine, number, queue)) {
        return false;
    }
    nocap_engine_queue_missing(run->engine, queue);
    bool prefetch = nocap_xy_equal(o->tile, queue->prefetch);
    bool dispatch = nocap_xy_equal(o->tile, queue->dispatch);
    return !o->has_tile || prefetch || dispatch;
}

/* `queue` is the first one; where there are several, `queues` has all. */
static void put_queues(struct nocap_json *json, const struct run *run)
{
    const uint32_t count = nocap_engine_queue_count(run->engine);
    struct nocap_queue_state queue;
    size_t shown = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (shows_queue(run, i, &queue) && shown++ == 0) {
            nocap_queue_json(json, "queue", &queue);
        }
    }
    if (shown > 1) {
        nocap_json_array(json, "queues");
        for (uint32_t i = 0; i < count; i++) {
            if (shows_queue(run, i, &queue)) {
                nocap_queue_json(json, NULL, &queue);
            }
        }
        nocap_json_array_end(json);
    }
}

static enum nocap_status print_json(FILE *out, const struct run *run,
                                    const struct nocap_tile_place *places, size_t count,
                                    struct nocap_error *err)
{
    struct nocap_json json;
    struct nocap_tile_state state;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_state", 1);
    nocap_json_number(&json, "events", run->events);
    if (run->events > 0) {
        nocap_json_number(&json, "index", run->last_index);
        nocap_json_number(&json, "t", run->last_t);
    }
    nocap_json_array(&json, "tiles");
    for (size_t i = 0; i < count; i++) {
        if (chosen(run->options, &places[i]) &&
            nocap_engine_tile_state(run->engine, places[i].chip, places[i].at, &state)) {
            nocap_state_json(&json, &state);
        }
    }
    nocap_json_array_end(&json);
    put_queues(&json, run);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

static enum nocap_status print_text(FILE *out, const struct run *run,
                                    const struct nocap_tile_place *places, size_t count,
                                    struct nocap_error *err)
{
    struct nocap_tile_state state;
    struct nocap_queue_state queue;
    if (run->events == 0) {
        fputs("before the first event\n", out);
    } else {
        fprintf(out, "after event #%" PRIu64 ", t %" PRIu64 "\n", run->last_index, run->last_t);
    }
    for (size_t i = 0; i < count; i++) {
        if (!chosen(run->options, &places[i]) ||
            !nocap_engine_tile_state(run->engine, places[i].chip, places[i].at, &state)) {
            continue;
        }
        if (run->options->has_tile) {
            nocap_state_text(out, &state);
        } else {
            nocap_state_line(out, &state);
        }
    }
    for (uint32_t i = 0; i < nocap_engine_queue_count(run->engine); i++) {
        if (shows_queue(run, i, &queue)) {
            nocap_queue_text(out, &queue);
        }
    }
    return nocap_flush(out, "the state", err);
}

static enum nocap_status print(FILE *out, const struct run *run, struct nocap_error *err)
{
    size_t count;
    struct nocap_tile_place *places = nocap_engine_tiles(run->engine, &count);
    RETURN_ERROR_IF(places == NULL, err, NOCAP_E_MEMORY, "out of memory");
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += chosen(run->options, &places[i]);
    }
    enum nocap_status status;
    if (found == 0 && run->options->has_tile) {
        status =
            nocap_fail(err, NOCAP_E_USAGE,
                       "the trace touches no core %u,%u up to there; without --tile all are listed",
                       run->options->tile.x, run->options->tile.y);
    } else {
        status = run->options->json ? print_json(out, run, places, count, err)
                                    : print_text(out, run, places, count, err);
    }
    free(places);
    return status;
}

enum nocap_status nocap_replay_print(FILE *out, const char *path,
                                     const struct nocap_replay_options *options,
                                     nocap_replay_damaged *damaged, void *context,
                                     struct nocap_error *err)
{
    struct run run = {.options = options};
    struct nocap_reader *reader;
    RETURN_IF_FAILED(nocap_import_open(&reader, path, options->dense, NULL, err));
    struct nocap_profile_choice choice;
    enum nocap_status status = nocap_profile_complete(&choice, reader, path, options->profile, err);
    const struct nocap_engine_options engine_options = {.size = sizeof engine_options,
                                                        .waits = true,
                                                        .unexplained = choice.unexplained,
                                                        .queue_unexplained =
                                                            choice.queue_unexplained};
    if (status == NOCAP_OK) {
        status = nocap_engine_new(&run.engine, nocap_reader_header(reader), &engine_options, err);
    }
    if (status == NOCAP_OK) {
        status = nocap_feed(reader, path, take, gap, &run, err);
    }
    if (status == NOCAP_OK && damaged != NULL) {
        damaged(context, reader);
    }
    if (status == NOCAP_OK) {
        status = print(out, &run, err);
    }
    nocap_engine_free(run.engine);
    nocap_reader_close(reader);
    return status;
}
