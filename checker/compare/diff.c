/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "base/list.h"
#include "checker/compare/diff_part.h"
#include "checker/compare/diff_private.h"
#include "checker/core/profile_choice.h"
#include "formats/import/import.h"
#include "replay/core/order.h"

enum { MAX_DEFAULT = 20 };

/* One of the two traces while it is read. */
struct side {
    struct diff_run *run;
    int which; /* DIFF_A or DIFF_B */
    struct nocap_reader *reader;
    struct nocap_merge *merge; /* NULL: the file is in order */
    struct nocap_event_key event_key;
    struct diff_part part;
    bool ended;
};

const char *nocap_diff_kind_name(enum nocap_diff_kind kind)
{
#define X(name, text) text,
    static const char *const names[] = {NOCAP_DIFF_KINDS(X)};
#undef X
    return (unsigned)kind < NOCAP_DIFF_KIND_COUNT ? names[kind] : "?";
}

static enum nocap_status add_note(struct nocap_diff *diff, const char *text,
                                  struct nocap_error *err)
{
    char **note = LIST_NEXT(diff->notes, diff->note_count);
    RETURN_ERROR_IF(note == NULL || (*note = foreign_copy(text)) == NULL, err, NOCAP_E_MEMORY,
                    "out of memory");
    diff->note_count++;
    return NOCAP_OK;
}

/* ---- steps ---- */

static enum nocap_status stream_of(struct diff_run *run, const struct nocap_stream_key *key,
                                   size_t *number, struct nocap_error *err)
{
    RETURN_IF_FAILED(nocap_stream_find(&run->table, key, number, err));
    if (*number == run->count) {
        RETURN_ERROR_IF(LIST_NEXT(run->streams, run->count) == NULL, err, NOCAP_E_MEMORY,
                        "out of memory for the comparison");
        run->count++;
    }
    return NOCAP_OK;
}

/* When one side holds too much: the stream with most of it is no longer compared. */
static enum nocap_status relieve(struct diff_run *run, int which, struct nocap_error *err)
{
    size_t worst = 0;
    for (size_t i = 0; i < run->table.count; i++) {
        if (run->streams[i].queue[which].count > run->streams[worst].queue[which].count) {
            worst = i;
        }
    }
    return diff_give_up(run, worst, err);
}

static enum nocap_status add_step(struct side *side, const struct nocap_stream_key *key,
                                  const struct nocap_item *item, const struct nocap_event *event,
                                  struct nocap_error *err)
{
    struct diff_run *run = side->run;
    size_t number;
    RETURN_IF_FAILED(stream_of(run, key, &number, err));
    struct diff_stream *stream = &run->streams[number];
    if (stream->apart || nocap_repeats_drop(&stream->repeats[side->which], item)) {
        return NOCAP_OK;
    }
    const struct diff_step step = {item->hash, event->index, event->t, event->by};
    RETURN_IF_FAILED(diff_queue_push(&stream->queue[side->which], &step, err));
    if (++run->pending[side->which] > DIFF_PENDING_MAX) {
        RETURN_IF_FAILED(relieve(run, side->which, err));
    }
    return diff_commit(run, number, false, err);
}

static enum nocap_status add_event(struct side *side, const struct nocap_event *read,
                                   struct nocap_error *err)
{
    struct diff_run *run = side->run;
    struct nocap_item item;
    struct nocap_event copy;
    run->diff->events[side->which]++;
    const struct nocap_event *event = diff_part_take(&side->part, read, &copy);
    if (event == NULL || !nocap_event_key_of(&side->event_key, event, &item)) {
        return NOCAP_OK;
    }
    run->diff->compared[side->which]++;
    struct nocap_stream_key key = nocap_stream_key(event);
    RETURN_IF_FAILED(add_step(side, &key, &item, event, err));
    bool has_object =
        run->layout != NULL && nocap_header_event_problem(side->event_key.header, event) == NULL;
    for (unsigned next = 0; has_object && nocap_stream_object(event, run->layout, &next, &key);) {
        RETURN_IF_FAILED(add_step(side, &key, &item, event, err));
    }
    return NOCAP_OK;
}

static enum nocap_status take(void *context, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    for (size_t i = 0; i < count; i++) {
        RETURN_IF_FAILED(add_event(context, &events[i], err));
    }
    return NOCAP_OK;
}

/* ---- reading ---- */

static enum nocap_status read_some(struct side *side, struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count;
    enum nocap_status status = nocap_reader_next(side->reader, &events, &count, err);
    if (status == NOCAP_END) {
        side->ended = true;
        return side->merge != NULL ? nocap_merge_finish(side->merge, err) : NOCAP_OK;
    }
    RETURN_IF_FAILED(status);
    return side->merge != NULL ? nocap_merge_feed(side->merge, events, count, err)
                               : take(side, events, count, err);
}

/* Reads on where fewer steps wait, so that neither trace runs far ahead of the other. */
static enum nocap_status read_both(struct diff_run *run, struct side sides[DIFF_SIDES],
                                   struct nocap_error *err)
{
    while (!sides[DIFF_A].ended || !sides[DIFF_B].ended) {
        bool b = sides[DIFF_A].ended ||
                 (!sides[DIFF_B].ended && run->pending[DIFF_B] < run->pending[DIFF_A]);
        RETURN_IF_FAILED(read_some(&sides[b ? DIFF_B : DIFF_A], err));
    }
    for (size_t i = 0; i < run->table.count; i++) {
        RETURN_IF_FAILED(diff_commit(run, i, true, err));
    }
    return NOCAP_OK;
}

/* What is polled must be known before anything is compared. */
static enum nocap_status learn(struct nocap_places *places, struct side *side,
                               struct nocap_error *err)
{
    struct nocap_reader *reader = side->reader;
    const struct nocap_event *events, *event;
    struct nocap_event copy;
    size_t count;
    enum nocap_status status;
    while ((status = nocap_reader_next(reader, &events, &count, err)) == NOCAP_OK) {
        for (size_t i = 0; i < count; i++) {
            event = diff_part_take(&side->part, &events[i], &copy);
            if (event != NULL) {
                nocap_places_add(places, event);
            }
        }
    }
    side->part.begun = false;
    return status == NOCAP_END ? nocap_reader_seek_index(reader, 0, err) : status;
}

static enum nocap_status note_limits(struct nocap_diff *diff, struct nocap_error *err)
{
    const struct nocap_header *a = nocap_reader_header(diff->reader[DIFF_A]);
    const struct nocap_header *b = nocap_reader_header(diff->reader[DIFF_B]);
    char text[320];
    if (a->arch != b->arch) {
        snprintf(text, sizeof text, "A is of %s, B of %s", nocap_arch_name(a->arch),
                 nocap_arch_name(b->arch));
        RETURN_IF_FAILED(add_note(diff, text, err));
    }
    uint32_t only = a->observes ^ b->observes;
    for (unsigned bit = 0; bit < NOCAP_CLASS_COUNT; bit++) {
        if ((only >> bit & 1u) != 0) {
            snprintf(text, sizeof text, "only %s observes %s",
                     (a->observes >> bit & 1u) != 0 ? "A" : "B",
                     nocap_class_name((enum nocap_class_bit)bit));
            RETURN_IF_FAILED(add_note(diff, text, err));
        }
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        const struct nocap_integrity *integrity = nocap_reader_integrity(diff->reader[side]);
        RETURN_ERROR_IF(integrity->count != 0 && integrity->nothing, err, NOCAP_E_INPUT,
                        "%s is damaged before its first event: %s", diff->path[side],
                        integrity->damage[0].text);
        if (integrity->count != 0) {
            snprintf(text, sizeof text, "%c is damaged at event %" PRIu64 ": %s",
                     side == DIFF_A ? 'A' : 'B', integrity->damage[0].index,
                     integrity->damage[0].text);
            RETURN_IF_FAILED(add_note(diff, text, err));
        }
    }
    return NOCAP_OK;
}

/* Launches whose end is unknown. */
static enum nocap_status note_endless(struct nocap_diff *diff, const struct side sides[DIFF_SIDES],
                                      struct nocap_error *err)
{
    for (int i = 0; i < DIFF_SIDES; i++) {
        char text[160];
        size_t count = sides[i].part.endless;
        snprintf(text, sizeof text,
                 "%c shows no DONE of %zu of these launches: up to the next GO of the worker core, "
                 "or the "
                 "end, all counts as theirs",
                 i == DIFF_A ? 'A' : 'B', count);
        if (count != 0) {
            RETURN_IF_FAILED(add_note(diff, text, err));
        }
    }
    return NOCAP_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct nocap_difference *d = a, *e = b;
    int names = strcmp(d->where, e->where);
    return d->t != e->t ? (d->t < e->t ? -1 : 1) : names;
}

/* Keeps the first ones. */
static void sort(struct nocap_diff *diff, uint32_t max)
{
    if (diff->list_count > 1) {
        qsort(diff->list, diff->list_count, sizeof diff->list[0], by_time);
    }
    while (diff->list_count > max) {
        free(diff->list[--diff->list_count].where);
    }
}

static enum nocap_status compare(struct diff_run *run, const char *const path[DIFF_SIDES],
                                 struct side sides[DIFF_SIDES], struct nocap_places *places,
                                 struct nocap_error *err)
{
    struct nocap_diff *diff = run->diff;
    for (int i = 0; i < DIFF_SIDES; i++) {
        struct side *side = &sides[i];
        const struct nocap_header *header = nocap_reader_header(diff->reader[i]);
        *side = (struct side){.run = run,
                              .which = i,
                              .reader = diff->reader[i],
                              .event_key = {.header = header,
                                            .places = places,
                                            .with_time = run->options.with_time,
                                            .by_hash = true}};
        RETURN_IF_FAILED(diff_part_open(&side->part, path[i], &run->options, i, header, err));
    }
    for (int i = 0; i < DIFF_SIDES && !run->options.with_time; i++) {
        RETURN_IF_FAILED(learn(places, &sides[i], err));
    }
    for (int i = 0; i < DIFF_SIDES; i++) {
        struct side *side = &sides[i];
        if (!nocap_reader_time_ordered(side->reader)) {
            RETURN_IF_FAILED(nocap_merge_new(&side->merge, take, side, err));
        }
    }
    RETURN_IF_FAILED(read_both(run, sides, err));
    for (int i = 0; i < DIFF_SIDES; i++) {
        const struct nocap_diff_part *part = &run->options.part[i];
        RETURN_ERROR_IF(part->has_tile && !sides[i].part.begun, err, NOCAP_E_USAGE,
                        "%s: no event touches core %u,%u", path[i], part->tile.x, part->tile.y);
    }
    RETURN_IF_FAILED(note_endless(diff, sides, err));
    if (diff->compared[DIFF_A] + diff->compared[DIFF_B] == 0) { /* no difference is no news then */
        RETURN_IF_FAILED(
            add_note(diff, "nothing was compared: neither side has an event that counts", err));
    }
    RETURN_IF_FAILED(note_limits(diff, err));
    sort(diff, run->options.max);
    return NOCAP_OK;
}

static enum nocap_status open_both(struct nocap_diff *diff, const char *const path[DIFF_SIDES],
                                   const struct nocap_diff_options *options,
                                   struct nocap_error *err)
{
    struct nocap_profile_choice choice;
    for (int i = 0; i < DIFF_SIDES; i++) {
        RETURN_ERROR_IF(strcmp(path[i], "-") == 0, err, NOCAP_E_USAGE,
                        "traces are read twice: name two files");
        diff->path[i] = foreign_copy(path[i]);
        RETURN_ERROR_IF(diff->path[i] == NULL, err, NOCAP_E_MEMORY, "out of memory");
        RETURN_IF_FAILED(nocap_import_open(&diff->reader[i], path[i], options->dense, NULL, err));
        RETURN_IF_FAILED(
            nocap_profile_complete(&choice, diff->reader[i], path[i], options->profile, err));
    }
    return NOCAP_OK;
}

static enum nocap_status run_diff(struct diff_run *run, const char *const path[DIFF_SIDES],
                                  struct nocap_error *err)
{
    struct side *sides = calloc(DIFF_SIDES, sizeof *sides); /* they hold tables of clocks */
    struct nocap_places *places = NULL;
    enum nocap_status status = sides == NULL ? nocap_fail(err, NOCAP_E_MEMORY, "out of memory")
                                             : open_both(run->diff, path, &run->options, err);
    if (status == NOCAP_OK) {
        const struct nocap_header *header = nocap_reader_header(run->diff->reader[DIFF_A]);
        bool mapped = header->arch == NOCAP_ARCH_BLACKHOLE;
        run->layout = mapped ? nocap_header_layout(header, NULL) : NULL;
        status = nocap_places_new(&places, header, err);
    }
    if (status == NOCAP_OK) {
        status = compare(run, path, sides, places, err);
    }
    for (int i = 0; i < DIFF_SIDES && sides != NULL; i++) {
        nocap_merge_free(sides[i].merge);
        diff_part_close(&sides[i].part);
    }
    nocap_places_free(places);
    free(sides);
    return status;
}

enum nocap_status nocap_diff(struct nocap_diff **diff, const char *a, const char *b,
                             const struct nocap_diff_options *options, struct nocap_error *err)
{
    struct diff_run run = {.options = {.size = sizeof run.options, .context = 3}};
    if (options != NULL) {
        size_t size = options->size < sizeof run.options ? options->size : sizeof run.options;
        memcpy(&run.options, options, size);
    }
    run.options.max = run.options.max == 0 ? MAX_DEFAULT : run.options.max;
    *diff = NULL;
    RETURN_ERROR_IF(run.options.context > NOCAP_DIFF_CONTEXT_MAX, err, NOCAP_E_USAGE,
                    "at most %d steps of context", NOCAP_DIFF_CONTEXT_MAX);
    run.diff = calloc(1, sizeof *run.diff);
    RETURN_ERROR_IF(run.diff == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = run_diff(&run, (const char *const[]){a, b}, err);
    for (size_t i = 0; i < run.count; i++) {
        diff_stream_free(&run.streams[i]);
    }
    free(run.streams);
    MAP_FREE(&run.table);
    if (status != NOCAP_OK) {
        nocap_diff_free(run.diff);
        run.diff = NULL;
    }
    *diff = run.diff;
    return status;
}

void nocap_diff_free(struct nocap_diff *diff)
{
    if (diff == NULL) {
        return;
    }
    for (size_t i = 0; i < diff->list_count; i++) {
        free(diff->list[i].where);
    }
    for (size_t i = 0; i < diff->note_count; i++) {
        free(diff->notes[i]);
    }
    for (int i = 0; i < DIFF_SIDES; i++) {
        free(diff->path[i]);
        nocap_reader_close(diff->reader[i]);
    }
    free(diff->list);
    free(diff->notes);
    free(diff);
}
