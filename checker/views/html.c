/* SPDX-License-Identifier: Apache-2.0 */
/* One page for browsers, which needs nothing else: what check and hang say, as their JSON, and a
 * picture made of the timeline. page.html is the frame, styles and scripts are put into it. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checker/query/cite.h"
#include "checker/views/html_private.h"

static const char page_html[] =
#include "checker/views/page.html.inc"
    ;
static const char page_css[] =
#include "checker/views/page.css.inc"
    ;
static const char page_js[] =
#include "checker/views/charts.js.inc"
#include "checker/views/page.js.inc"
#include "checker/views/timeline.js.inc"
    ;
/* Leon Sorokin's uPlot, with its licence. */
static const char plot_css[] =
#include "checker/views/uplot/uPlot.min.css.inc"
    ;
static const char plot_js[] = "/*\n"
#include "checker/views/uplot/LICENSE.inc"
                              "*/\n"
#include "checker/views/uplot/uPlot.iife.min.js.inc"
    ;

/* ---- the board ---- */

static unsigned span_of(struct html *h, uint64_t t)
{
    if (!h->timed) {
        h->timed = true;
        h->first = h->last = t;
        h->span = 1;
    }
    h->last = t > h->last ? t : h->last;
    while ((h->last - h->first) / HTML_SPANS >= h->span) {
        h->span *= 2; /* two spans become one */
        for (uint32_t i = 0; i < h->tile_count; i++) {
            struct html_tile *tile = &h->tiles[i];
            for (unsigned s = 0; s < HTML_SPANS; s++) {
                bool low = s < HTML_SPANS / 2;
                tile->busy[s] = low ? tile->busy[2 * s] + tile->busy[2 * s + 1] : 0;
                tile->waits[s] = low ? tile->waits[2 * s] + tile->waits[2 * s + 1] : 0;
                tile->requests[s] = low ? tile->requests[2 * s] + tile->requests[2 * s + 1] : 0;
            }
        }
    }
    return t < h->first ? 0 : (unsigned)((t - h->first) / h->span);
}

/* Time from..to, by the spans that it falls into. */
static void add_time(struct html *h, uint64_t spans[HTML_SPANS], uint64_t from, uint64_t to)
{
    for (unsigned s = span_of(h, from); from < to && s < HTML_SPANS; s++) {
        uint64_t left = (s + 1) * h->span - (from - h->first);
        uint64_t length = to - from < left ? to - from : left;
        spans[s] += length;
        from += length;
    }
}

static uint32_t tile_of(struct html *h, const struct nocap_track *t)
{
    for (uint32_t i = h->tile_count; i-- > 0 && t->has_tile;) {
        const struct html_tile *tile = &h->tiles[i];
        if (tile->chip == t->chip && tile->at.x == t->at.x && tile->at.y == t->at.y) {
            return i + 1;
        }
    }
    struct html_tile *tile = t->has_tile ? LIST_NEXT(h->tiles, h->tile_count) : NULL;
    h->out_of_memory |= t->has_tile && tile == NULL;
    if (tile == NULL) {
        return 0;
    }
    *tile = (struct html_tile){.chip = t->chip, .at = t->at};
    return ++h->tile_count;
}

/* ---- items ---- */

static void track(void *view, uint32_t number, const struct nocap_track *t)
{
    struct html *h = view;
    while (h->track_count <= number) {
        if (LIST_NEXT(h->tracks, h->track_count) == NULL) {
            h->out_of_memory = true;
            return;
        }
        h->track_count++;
    }
    h->tracks[number] = (struct html_track){.what = *t, .number = number, .tile = tile_of(h, t)};
}

static struct html_track *track_of(struct html *h, uint32_t number)
{
    return number < h->track_count && h->tracks[number].number != 0 ? &h->tracks[number] : NULL;
}

/* Requests and sync bytes are too many for a page: of requests the board has the numbers. */
static bool is_shown(const struct html_track *t)
{
    return t->what.role != NOCAP_ROLE_REQUEST &&
           !(t->what.kind == NOCAP_TRACK_STATE && t->what.bits > 8) &&
           !(t->what.kind == NOCAP_TRACK_COUNTER && t->what.has_tile);
}

static void begin(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    struct html *h = view;
    struct html_track *track = track_of(h, number);
    unsigned span = span_of(h, t);
    if (track == NULL) {
        return;
    }
    if (track->tile != 0 && mark->request != NULL) {
        h->tiles[track->tile - 1].requests[span]++;
    }
    unsigned depth = track->depth++;
    if (depth >= HTML_DEPTHS) {
        return;
    }
    track->since[depth] = t;
    track->waits[depth] = mark->waits;
    track->open[depth] = HTML_NONE;
    struct html_slice *slice = is_shown(track) ? LIST_NEXT(h->slices, h->slice_count) : NULL;
    h->out_of_memory |= is_shown(track) && slice == NULL;
    if (slice != NULL) {
        track->open[depth] = (uint32_t)h->slice_count++;
        *slice = (struct html_slice){.from = t,
                                     .to = UINT64_MAX,
                                     .row = HTML_DEPTHS * number + depth,
                                     .name = view_name(&h->names, mark->name, NULL),
                                     .count = 1};
    }
}

static void end(void *view, uint32_t number, uint64_t t)
{
    struct html *h = view;
    struct html_track *track = track_of(h, number);
    span_of(h, t);
    if (track == NULL || track->depth == 0 || --track->depth >= HTML_DEPTHS) {
        return;
    }
    unsigned depth = track->depth;
    if (track->open[depth] != HTML_NONE) {
        h->slices[track->open[depth]].to = t;
    }
    struct html_tile *tile = track->tile != 0 ? &h->tiles[track->tile - 1] : NULL;
    if (tile != NULL && track->what.role == NOCAP_ROLE_LAUNCH) {
        add_time(h, tile->busy, track->since[depth], t);
    } else if (tile != NULL && track->waits[depth]) {
        add_time(h, tile->waits, track->since[depth], t);
    }
}

static void instant(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    struct html *h = view;
    struct html_track *track = track_of(h, number);
    unsigned span = span_of(h, t);
    if (track != NULL && track->tile != 0 && mark->request != NULL) {
        h->tiles[track->tile - 1].requests[span]++;
    }
    if (track != NULL && is_shown(track) && mark->finding == NULL) {
        begin(view, number, t, mark);
        end(view, number, t);
    }
}

static void value(void *view, uint32_t number, uint64_t t, uint64_t v,
                  const struct nocap_mark *mark)
{
    struct html *h = view;
    struct html_track *track = track_of(h, number);
    span_of(h, t);
    if (track == NULL || !is_shown(track)) {
        return;
    }
    if (track->what.kind == NOCAP_TRACK_STATE) {
        end(view, number, t);
        if (mark != NULL) {
            begin(view, number, t, mark);
        }
    } else if (mark != NULL) {
        struct html_point *point = LIST_NEXT(h->points, h->point_count);
        h->out_of_memory |= point == NULL;
        if (point != NULL) {
            *point = (struct html_point){.t = t, .value = v, .track = number};
            h->point_count++;
        }
    }
}

/* What is open lasts to the end. */
static void close_open(struct html *h)
{
    for (uint32_t i = 0; i < h->track_count; i++) {
        while (h->tracks[i].number != 0 && h->tracks[i].depth != 0) {
            end(h, i, h->last);
        }
    }
    for (size_t i = 0; i < h->slice_count; i++) {
        h->slices[i].to = h->slices[i].to < h->last ? h->slices[i].to : h->last;
    }
}

/* ---- the page ---- */

static void put_spans(struct nocap_json *json, const char *key, const uint64_t spans[HTML_SPANS])
{
    nocap_json_array(json, key);
    for (unsigned s = 0; s < HTML_SPANS; s++) {
        nocap_json_number(json, NULL, spans[s]);
    }
    nocap_json_array_end(json);
}

static void put_board(struct nocap_json *json, const struct html *h)
{
    nocap_json_array(json, "tiles");
    for (uint32_t i = 0; i < h->tile_count; i++) {
        const struct html_tile *tile = &h->tiles[i];
        nocap_json_map(json, NULL);
        nocap_json_number(json, "chip", tile->chip);
        nocap_json_number(json, "x", tile->at.x);
        nocap_json_number(json, "y", tile->at.y);
        put_spans(json, "busy", tile->busy);
        put_spans(json, "waits", tile->waits);
        put_spans(json, "requests", tile->requests);
        nocap_json_map_end(json);
    }
    nocap_json_array_end(json);
}

static void open_row(struct nocap_json *json, const struct html *h, uint32_t number)
{
    const struct html_track *track = &h->tracks[number];
    const struct html_track *group = &h->tracks[track->what.parent];
    nocap_json_map(json, NULL);
    nocap_json_text(json, "group", group->number != 0 ? group->what.name : "");
    nocap_json_text(json, "name", track->what.name);
    nocap_json_array(json, "items");
}

static void close_row(struct nocap_json *json)
{
    nocap_json_array_end(json);
    nocap_json_map_end(json);
}

/* Rows, each with FROM LENGTH NAME of its slices one after the other: FROM counts from the start
 * of the one before; NAME is twice a number of `names`, or 2 N + 1 for N slices that are one. */
static void put_slices(struct nocap_json *json, const struct html *h)
{
    uint64_t at = h->first;
    nocap_json_array(json, "rows");
    for (size_t i = 0; i < h->slice_count; i++) {
        const struct html_slice *s = &h->slices[i];
        bool opens = i == 0 || h->slices[i - 1].row != s->row;
        if (opens) {
            open_row(json, h, s->row / HTML_DEPTHS);
            at = h->first;
        }
        bool many = s->name == HTML_MANY;
        nocap_json_number(json, NULL, s->from - at);
        nocap_json_number(json, NULL, s->to - s->from);
        nocap_json_number(json, NULL, 2 * (uint64_t)(many ? s->count : s->name) + many);
        at = s->from;
        if (i + 1 == h->slice_count || h->slices[i + 1].row != s->row) {
            close_row(json);
        }
    }
    nocap_json_array_end(json);
}

static void put_points(struct nocap_json *json, const struct html *h)
{
    nocap_json_array(json, "counters");
    for (size_t i = 0; i < h->point_count; i++) {
        const struct html_point *p = &h->points[i];
        if (i == 0 || h->points[i - 1].track != p->track) {
            open_row(json, h, p->track);
        }
        nocap_json_number(json, NULL, p->t - h->first);
        nocap_json_number(json, NULL, p->value);
        if (i + 1 == h->point_count || h->points[i + 1].track != p->track) {
            close_row(json);
        }
    }
    nocap_json_array_end(json);
}

static enum nocap_status put_picture(FILE *out, const struct html *h, const struct view_end *e,
                                     struct nocap_export_result *result, struct nocap_error *err)
{
    struct nocap_json json;
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_text(&json, "version", NOCAP_VERSION);
    nocap_json_text(&json, "unit", h->cycles ? "cycles" : "ns");
    nocap_json_number(&json, "first", h->first);
    nocap_json_number(&json, "last", h->last);
    nocap_json_number(&json, "span", h->span);
    nocap_json_number(&json, "left_out", e->timeline->left_out);
    nocap_json_array(&json, "names");
    nocap_json_text(&json, NULL, "..."); /* names for which there was no room */
    for (uint32_t i = 0; i < h->names.count; i++) {
        nocap_json_text(&json, NULL, h->names.texts[i]);
    }
    nocap_json_array_end(&json);
    put_board(&json, h);
    put_slices(&json, h);
    put_points(&json, h);
    enum nocap_status status = html_context(&json, e, result, err);
    nocap_json_map_end(&json);
    enum nocap_status closed = nocap_json_close(&json, err);
    return status == NOCAP_OK ? closed : status;
}

/* JSON in a page: a '<', which can only be in a text, would end the script. */
static void put_script(FILE *out, const char *id, const char *json, size_t size)
{
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (size_t i = 0; i < size; i++) {
        if (json[i] == '<') {
            fputs("\\u003c", out);
        } else {
            fputc(json[i], out);
        }
    }
    fputs("</script>\n", out);
}

static enum nocap_status put_data(const struct html *h, const struct view_end *e,
                                  struct nocap_export_result *result, struct nocap_error *err)
{
    static const char *const ids[] = {"report", "hang", "picture"};
    enum nocap_status status = NOCAP_OK;
    for (unsigned i = 0; i < sizeof ids / sizeof ids[0] && status == NOCAP_OK; i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *memory = open_memstream(&text, &size);
        RETURN_ERROR_IF(memory == NULL, err, NOCAP_E_MEMORY, "out of memory");
        status = i == 0   ? nocap_report_json(memory, e->hang->report, err)
                 : i == 1 ? nocap_hang_json(memory, e->hang, err)
                          : put_picture(memory, h, e, result, err);
        fclose(memory);
        if (status == NOCAP_OK) {
            put_script(h->out, ids[i], text, size);
        }
        free(text);
    }
    return status;
}

static enum nocap_status finish(void *view, const struct view_end *e,
                                struct nocap_export_result *result, struct nocap_error *err)
{
    static const struct {
        const char *mark, *text; /* NULL: the data */
    } parts[] = {{"@plotcss@\n", plot_css},
                 {"@css@\n", page_css},
                 {"@data@\n", NULL},
                 {"@plot@\n", plot_js},
                 {"@js@\n", page_js}};
    struct html *h = view;
    const char *at = page_html;
    span_of(h, e->hang->report->t_last);
    close_open(h);
    html_reduce(h);
    RETURN_ERROR_IF(h->out_of_memory, err, NOCAP_E_MEMORY, "out of memory");
    RETURN_IF_FAILED(nocap_cite_findings(e->hang->report, e->path, e->options->dense, err));
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *mark = strstr(at, parts[i].mark);
        fwrite(at, 1, (size_t)(mark - at), h->out);
        at = mark + strlen(parts[i].mark);
        if (parts[i].text == NULL) {
            RETURN_IF_FAILED(put_data(h, e, result, err));
        } else {
            fputs(parts[i].text, h->out);
        }
    }
    fputs(at, h->out);
    return NOCAP_OK;
}

/* ---- the view ---- */

static void header(void *view, const struct nocap_header *head)
{
    ((struct html *)view)->cycles = head->time_unit == NOCAP_TIME_CYCLES;
}

static void close_view(void *view)
{
    struct html *h = view;
    view_names_free(&h->names);
    free(h->tracks);
    free(h->slices);
    free(h->points);
    free(h->tiles);
    free(h);
}

static void *open_view(FILE *out)
{
    struct html *h = calloc(1, sizeof *h);
    if (h != NULL) {
        h->out = out;
        h->span = 1;
        if (!view_names_init(&h->names)) {
            close_view(h);
            return NULL;
        }
    }
    return h;
}

const struct view_ops view_html = {
    .items = {.track = track, .begin = begin, .end = end, .instant = instant, .value = value},
    .open = open_view,
    .header = header,
    .reads_again = true,
    .finish = finish,
    .close = close_view,
};
