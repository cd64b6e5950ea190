/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/views/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/foreign_text.h"
#include "formats/blackhole/tile_map.h"

/* ---- marks and tracks ---- */

const struct nocap_mark watch_counter = {.name = ""};

struct nocap_mark watch_mark(const char *name, const struct nocap_event *event)
{
    struct nocap_mark mark = {.name = name};
    watch_add(&mark, "index", event->index);
    return mark;
}

void watch_add(struct nocap_mark *mark, const char *key, uint64_t number)
{
    if (mark->arg_count < NOCAP_MARK_ARGS) {
        mark->args[mark->arg_count++] = (struct nocap_mark_arg){.key = key, .number = number};
    }
}

void watch_add_text(struct nocap_mark *mark, const char *key, const char *text)
{
    if (mark->arg_count < NOCAP_MARK_ARGS && text != NULL) {
        mark->args[mark->arg_count++] = (struct nocap_mark_arg){.key = key, .text = text};
    }
}

uint32_t watch_track(struct watch *w, uint32_t *track, const struct nocap_track *made)
{
    if (*track == 0) {
        *track = nocap_timeline_track(w->tl, made);
    }
    return *track;
}

static struct watch_tile *new_tile(struct watch *w, uint16_t chip, struct nocap_xy at)
{
    struct nocap_track made = {.kind = NOCAP_TRACK_GROUP, .has_tile = true, .at = at, .chip = chip};
    struct watch_tile *tile = calloc(1, sizeof *tile);
    char of[24] = "";
    if (tile == NULL) {
        return NULL;
    }
    tile->chip = chip;
    tile->at = at;
    if (chip != 0) {
        snprintf(of, sizeof of, "chip %u ", chip);
    }
    struct nocap_xy core;
    char logical[24] = "";
    if (w->header->arch == NOCAP_ARCH_BLACKHOLE &&
        nocap_logical_of_tile(w->header->board, at, &core)) {
        snprintf(logical, sizeof logical, " (logical %u,%u)", core.x, core.y);
    }
    snprintf(made.name, sizeof made.name, "%score %u,%u%s", of, at.x, at.y, logical);
    watch_track(w, &tile->group, &made);
    return tile;
}

struct watch_tile *watch_tile(struct watch *w, uint16_t chip, struct nocap_xy at)
{
    const uint64_t key = (uint64_t)chip << 16 | (uint64_t)at.y << 8 | at.x;
    if (w->latest != NULL && w->latest->chip == chip && nocap_xy_equal(w->latest->at, at)) {
        return w->latest;
    }
    struct watch_place *place = MAP_GET(&w->tiles, &key, UINT32_MAX);
    if (place != NULL && place->tile == NULL) {
        place->tile = new_tile(w, chip, at);
    }
    w->out_of_memory |= place == NULL || place->tile == NULL;
    w->latest = place != NULL ? place->tile : NULL;
    return w->latest;
}

/* ---- what the trace says of itself ---- */

static uint32_t trace_track(struct watch *w)
{
    static const struct nocap_track group = {.kind = NOCAP_TRACK_GROUP, .name = "trace"};
    const struct nocap_track made = {
        .kind = NOCAP_TRACK_SLICES, .parent = watch_track(w, &w->trace, &group), .name = "notes"};
    return watch_track(w, &w->notes, &made);
}

static void report_note(struct watch *w, const struct nocap_event *e)
{
    enum { SHOWN = 80 };
    char text[FOREIGN_GROWTH * SHOWN + 1];
    size_t size = e->data_size < SHOWN ? e->data_size : SHOWN;
    text[foreign_escape(text, (const char *)e->data, size)] = '\0';
    struct nocap_mark mark = watch_mark(text, e);
    nocap_timeline_instant(w->tl, trace_track(w), e->t, &mark);
}

/* What goes on is not known any more. */
static void forget(struct watch *w, uint64_t t)
{
    nocap_timeline_forget(w->tl, t);
    for (size_t i = 0; i < w->tiles.count && !w->out_of_memory; i++) {
        watch_requests_forget(w->tiles.rows[i].tile);
        watch_forget_tile(w->tiles.rows[i].tile);
    }
    watch_queue_forget(w);
}

static void report_drop(struct watch *w, const struct nocap_event *e)
{
    struct nocap_mark mark = watch_mark("events lost", e);
    watch_add(&mark, "count", e->value);
    forget(w, e->t);
    nocap_timeline_instant(w->tl, trace_track(w), e->t, &mark);
}

/* ---- what the run tells ---- */

static void begin(void *context, const struct nocap_reader *reader)
{
    struct watch *w = context;
    w->header = nocap_reader_header(reader);
    w->layout = nocap_header_layout(w->header, NULL);
    w->profile = nocap_header_profile(w->header, NULL);
    if (w->profile == NULL) {
        w->profile = nocap_profile_default();
    }
    w->leads = w->tl->options.has_from;
    w->show(w->tl->view, w->header);
}

/* A block of the file is damaged. */
static void lost(void *context)
{
    struct watch *w = context;
    const struct nocap_mark mark = {.name = "events lost"};
    forget(w, w->tl->t);
    nocap_timeline_instant(w->tl, trace_track(w), w->tl->t, &mark);
}

/* The models are in the middle of the event: what it changed can be asked for after it. */
static void requested(void *context, const struct nocap_event *request)
{
    struct watch *w = context;
    w->request = *request;
    w->raised = true;
}

static void ended(void *context, const struct nocap_requests_end *end)
{
    watch_requests_end(context, end);
}

static void take(struct watch *w, const struct nocap_event *e)
{
    switch (e->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
    case NOCAP_EV_MEM: watch_access(w, e); break;
    case NOCAP_EV_NOC:
        if (e->phase == NOCAP_PHASE_ISSUE) {
            watch_request(w, e);
        } else {
            watch_phase(w, e);
        }
        break;
    case NOCAP_EV_TENSIX: watch_tensix(w, e); break;
    case NOCAP_EV_KERNEL: watch_kernel(w, e); break;
    case NOCAP_EV_RESET: watch_reset(w, e); break;
    case NOCAP_EV_CERT: watch_control(w, e); break;
    case NOCAP_EV_NOTE: report_note(w, e); break;
    case NOCAP_EV_DROP: report_drop(w, e); break;
    default: break;
    }
}

/* ---- the lead ---- */

/* Of the time before the picture so much is no lead any more: a part of it, but not more than any
 * record or launch takes. */
enum { LEAD_PART = 32, LEAD_MOST = 1 << 20 };

static uint64_t lead_end(uint64_t first, uint64_t from)
{
    const uint64_t part = (from - first) / LEAD_PART;
    return from - (part < LEAD_MOST ? part : LEAD_MOST);
}

/* Whether the models can tell at the end of the lead what came of the event. */
static bool is_told_later(const struct watch *w, const struct nocap_event *e)
{
    switch (e->kind) {
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
        return !watch_is_buffer(e->addr) &&
               ((e->has & NOCAP_F_T2) == 0 || e->t2 < w->tl->options.from);
    case NOCAP_EV_TENSIX: return e->op != NOCAP_OP_UNIT;
    case NOCAP_EV_NOC:
    case NOCAP_EV_CERT:
    case NOCAP_EV_DROP: return false;
    default: return true;
    }
}

/* In a trace whose first event is in the picture, or that has none, all is seen. */
static size_t leads(void *context, const struct nocap_event *events, size_t count)
{
    struct watch *w = context;
    const uint64_t from = w->tl->options.from, t = count != 0 ? events[0].t : 0;
    size_t n = 0;
    if (w->leads && !w->timed && count != 0) {
        w->timed = true;
        w->lead_end = t < from ? lead_end(t, from) : 0;
    }
    while (w->leads && n < count && events[n].t < w->lead_end) {
        n++;
    }
    return n;
}

/* From here on all is seen. */
static void opens(void *context, const struct nocap_engine *engine)
{
    struct watch *w = context;
    const struct nocap_event end = {.t = w->lead_end};
    size_t count;
    w->engine = engine;
    if (!w->leads) {
        return;
    }
    struct nocap_tile_place *places = nocap_engine_tiles(engine, &count);
    w->out_of_memory |= places == NULL;
    w->leads = false;
    for (size_t i = 0; i < count; i++) {
        watch_catch_up(w, &end, places[i].chip, places[i].at);
        if (i == 0 || places[i].chip != places[i - 1].chip) {
            watch_queue_catch_up(w, &end, places[i].chip);
        }
    }
    free(places);
}

static void take_right(struct watch *w, const struct nocap_event *e)
{
    if (!nocap_shapes_right(&w->shapes, e) &&
        nocap_shapes_problem(&w->shapes, w->header, e) != NULL) {
        return;
    }
    if (w->raised) {
        w->raised = false;
        watch_request(w, &w->request);
    }
    take(w, e);
    if (!w->leads) {
        watch_queue(w, e);
    }
}

static void seen(void *context, const struct nocap_event *e)
{
    struct watch *w = context;
    if (!w->leads || w->raised || !is_told_later(w, e)) {
        take_right(w, e);
    }
}

static void clear(struct watch *w)
{
    for (size_t i = 0; i < w->tiles.count; i++) {
        free(w->tiles.rows[i].tile);
    }
    for (unsigned i = 0; i < WATCH_COLUMNS; i++) {
        free(w->columns[i]);
    }
    for (size_t i = 0; i < w->queue_count; i++) {
        free(w->queues[i]);
    }
    MAP_FREE(&w->tiles);
    free(w);
}

enum nocap_status nocap_watch(struct nocap_timeline *tl, nocap_watch_header *show, const char *path,
                              const struct nocap_hang_options *options, struct nocap_hang **hang,
                              struct nocap_error *err)
{
    struct watch *w = calloc(1, sizeof *w);
    RETURN_ERROR_IF(w == NULL, err, NOCAP_E_MEMORY, "out of memory");
    w->tl = tl;
    w->show = show;
    const struct nocap_check_watch watch = {.context = w,
                                            .begin = begin,
                                            .leads = leads,
                                            .opens = opens,
                                            .seen = seen,
                                            .lost = lost,
                                            .requested = requested,
                                            .ended = ended};
    struct nocap_hang_options watched = *options;
    watched.watch = &watch;
    enum nocap_status status = nocap_hang(hang, path, &watched, err);
    if (status == NOCAP_OK) {
        watch_hang(w, *hang);
    }
    bool out_of_memory = w->out_of_memory || tl->out_of_memory;
    clear(w);
    if (status == NOCAP_OK && out_of_memory) {
        nocap_hang_free(*hang);
        *hang = NULL;
        status = nocap_fail(err, NOCAP_E_MEMORY, "out of memory");
    }
    return status;
}
