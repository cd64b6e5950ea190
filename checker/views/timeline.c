/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/views/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum { DEPTH = 4, NAME = 96, TRACKS_MAX = 1 << 20 };

/* What is open is kept, so that it can be reported at the start of the picture. */
struct timeline_track {
    struct nocap_track what;
    bool begun, known;
    uint8_t depth;          /* slices that are open */
    char open[DEPTH][NAME]; /* of a state: its name in the first */
    uint64_t value;
};

void nocap_timeline_init(struct nocap_timeline *tl, const struct nocap_timeline_options *options,
                         const struct nocap_view_ops *ops, void *view)
{
    *tl = (struct nocap_timeline){
        .options = *options, .ops = ops, .view = view, .begun = !options->has_from};
}

void nocap_timeline_free(struct nocap_timeline *tl)
{
    free(tl->tracks);
    tl->tracks = NULL;
}

/* ---- tracks ---- */

static bool is_asked_for(const struct nocap_timeline *tl, const struct nocap_track *track)
{
    bool found = !tl->options.has_tiles || !track->has_tile;
    for (size_t i = 0; i < tl->options.tile_count && !found; i++) {
        found = tl->options.tiles[i].x == track->at.x && tl->options.tiles[i].y == track->at.y;
    }
    return found;
}

uint32_t nocap_timeline_track(struct nocap_timeline *tl, const struct nocap_track *track)
{
    if (!is_asked_for(tl, track) || tl->track_count == TRACKS_MAX) {
        return 0;
    }
    struct timeline_track *next = LIST_NEXT(tl->tracks, tl->track_count);
    if (next == NULL) {
        tl->out_of_memory = true;
        return 0;
    }
    next->what = *track;
    return ++tl->track_count;
}

static struct timeline_track *track_of(const struct nocap_timeline *tl, uint32_t number)
{
    return number == 0 ? NULL : &tl->tracks[number - 1];
}

static void report_track(struct nocap_timeline *tl, uint32_t number)
{
    struct timeline_track *track = track_of(tl, number);
    if (track == NULL || track->begun) {
        return;
    }
    report_track(tl, track->what.parent);
    track->begun = true;
    tl->ops->track(tl->view, number, &track->what);
}

/* ---- where the picture begins and ends ---- */

static void report_open(struct nocap_timeline *tl, uint32_t number)
{
    const struct timeline_track *track = track_of(tl, number);
    bool is_value =
        track->what.kind == NOCAP_TRACK_STATE || track->what.kind == NOCAP_TRACK_COUNTER;
    if (track->depth != 0 || (is_value && track->known)) {
        report_track(tl, number);
    }
    for (unsigned i = 0; i < track->depth; i++) {
        tl->slices++;
        tl->ops->begin(tl->view, number, tl->options.from,
                       &(struct nocap_mark){.name = track->open[i < DEPTH ? i : DEPTH - 1]});
    }
    if (is_value && track->known) {
        tl->ops->value(tl->view, number, tl->options.from, track->value,
                       &(struct nocap_mark){.name = track->open[0]});
    }
}

/* Whether an item of this time is in the picture. */
static bool is_shown(struct nocap_timeline *tl, uint64_t t)
{
    if (!tl->begun && t >= tl->options.from) {
        tl->begun = true;
        for (uint32_t i = 1; i <= tl->track_count; i++) {
            report_open(tl, i);
        }
    }
    if (tl->begun && t > tl->t) {
        tl->t = t;
    }
    return tl->begun && !tl->full;
}

static bool takes_slice(struct nocap_timeline *tl, uint64_t t)
{
    if (!is_shown(tl, t)) {
        tl->left_out += tl->full;
        return false;
    }
    if (tl->options.limit != 0 && tl->slices >= tl->options.limit) {
        tl->full = true;
        tl->full_at = t;
        tl->left_out++;
        return false;
    }
    tl->slices++;
    return true;
}

void nocap_timeline_settle(struct nocap_timeline *tl)
{
    is_shown(tl, tl->options.from);
    tl->full = false;
    tl->options.limit = 0;
}

/* ---- items ---- */

static void keep_name(struct timeline_track *track, unsigned depth, const char *name)
{
    char *kept = track->open[depth < DEPTH ? depth : DEPTH - 1];
    size_t size = strnlen(name, NAME - 1);
    memcpy(kept, name, size);
    kept[size] = '\0';
}

void nocap_timeline_begin(struct nocap_timeline *tl, uint32_t number, uint64_t t,
                          const struct nocap_mark *mark)
{
    struct timeline_track *track = track_of(tl, number);
    if (track == NULL || track->depth == UINT8_MAX) {
        return;
    }
    bool shown = takes_slice(tl, t);
    keep_name(track, track->depth++, mark->name);
    if (shown) {
        report_track(tl, number);
        tl->ops->begin(tl->view, number, t, mark);
    }
}

void nocap_timeline_end(struct nocap_timeline *tl, uint32_t number, uint64_t t)
{
    struct timeline_track *track = track_of(tl, number);
    if (track == NULL || track->depth == 0) {
        return;
    }
    bool shown = is_shown(tl, t);
    track->depth--;
    if (shown) {
        tl->ops->end(tl->view, number, t);
    }
}

void nocap_timeline_instant(struct nocap_timeline *tl, uint32_t number, uint64_t t,
                            const struct nocap_mark *mark)
{
    if (number != 0 && is_shown(tl, t)) {
        report_track(tl, number);
        tl->ops->instant(tl->view, number, t, mark);
    }
}

void nocap_timeline_value(struct nocap_timeline *tl, uint32_t number, uint64_t t, uint64_t value,
                          const struct nocap_mark *mark)
{
    struct timeline_track *track = track_of(tl, number);
    if (track == NULL || (track->known && track->value == value)) {
        return;
    }
    bool is_state = track->what.kind == NOCAP_TRACK_STATE;
    bool shown = is_state ? takes_slice(tl, t) : is_shown(tl, t);
    track->known = true;
    track->value = value;
    keep_name(track, 0, is_state ? mark->name : "");
    if (shown) {
        report_track(tl, number);
        tl->ops->value(tl->view, number, t, value, mark);
    }
}

void nocap_timeline_unknown(struct nocap_timeline *tl, uint32_t number, uint64_t t)
{
    struct timeline_track *track = track_of(tl, number);
    if (track == NULL || !track->known) {
        return;
    }
    track->known = false;
    if (is_shown(tl, t)) {
        tl->ops->value(tl->view, number, t, 0, NULL);
    }
}

void nocap_timeline_forget(struct nocap_timeline *tl, uint64_t t)
{
    for (uint32_t i = 1; i <= tl->track_count; i++) {
        while (track_of(tl, i)->depth != 0) {
            nocap_timeline_end(tl, i, t);
        }
        nocap_timeline_unknown(tl, i, t);
    }
}

bool nocap_timeline_is_open(const struct nocap_timeline *tl, uint32_t number)
{
    return number != 0 && track_of(tl, number)->depth != 0;
}
