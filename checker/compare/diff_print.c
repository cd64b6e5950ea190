/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison for people and for machines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/color.h"
#include "base/foreign_text.h"
#include "base/json_text.h"
#include "checker/compare/diff_private.h"
#include "formats/export/text.h"
#include "formats/trace/trace.h"

enum { COLUMN_LEAST = 24, COLUMN_MOST = 76, LINE_KEPT = 200 };

struct printer {
    const struct nocap_diff *diff;
    size_t room; /* what both sides have together; 0: B has what it needs */
    struct nocap_text_style style[DIFF_SIDES];
    struct nocap_text line;
};

/* An event in words, in one line with single blanks, cut at LINE_KEPT. */
struct words {
    uint64_t t;
    char text[LINE_KEPT + 4];
};

static void shorten(struct words *words, const struct nocap_text *line)
{
    size_t used = 0;
    for (size_t i = 0; i < line->size && line->data[i] != '\n' && used < LINE_KEPT; i++) {
        bool blank = line->data[i] == ' ';
        if (!blank || (used > 0 && words->text[used - 1] != ' ')) {
            words->text[used++] = line->data[i];
        }
    }
    words->text[used] = 0;
    if (used == LINE_KEPT) {
        strcpy(words->text + used, "...");
    }
}

static enum nocap_status describe(struct printer *p, int side, uint64_t index, struct words *words,
                                  struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count = 0;
    struct nocap_reader *reader = p->diff->reader[side];
    RETURN_IF_FAILED(nocap_reader_seek_index(reader, index, err));
    enum nocap_status status = nocap_reader_next(reader, &events, &count, err);
    RETURN_ERROR_IF(status == NOCAP_END, err, NOCAP_E_INPUT, "%s changed while it was compared",
                    p->diff->path[side]);
    RETURN_IF_FAILED(status);
    p->line.size = 0;
    words->t = events[0].t;
    RETURN_IF_FAILED(nocap_text_print_event(&p->style[side], &p->line, &events[0], err));
    shorten(words, &p->line);
    return NOCAP_OK;
}

static enum nocap_status describe_row(struct printer *p, const struct nocap_diff_row *row,
                                      struct words words[DIFF_SIDES], struct nocap_error *err)
{
    for (int side = 0; side < DIFF_SIDES; side++) {
        words[side].text[0] = 0;
        if (row->has[side]) {
            RETURN_IF_FAILED(describe(p, side, row->index[side], &words[side], err));
        }
    }
    return NOCAP_OK;
}

static void open_printer(struct printer *p, const struct nocap_diff *diff)
{
    *p = (struct printer){.diff = diff};
    for (int side = 0; side < DIFF_SIDES; side++) {
        p->style[side] = nocap_text_style(nocap_reader_header(diff->reader[side]), false);
    }
}

/* ---- text ---- */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* "missing: 2 steps of A are not in B" */
static void print_title(FILE *out, const struct nocap_difference *d, size_t number, bool color)
{
    static const char *const sentences[] = {
        [NOCAP_DIFF_MISSING] = "in A, missing in B",
        [NOCAP_DIFF_EXTRA] = "in B, not in A",
        [NOCAP_DIFF_CHANGED] = "changed",
        [NOCAP_DIFF_REORDERED] = "in another order",
        [NOCAP_DIFF_APART] = "differ, and streams do not resynchronise after this point",
    };
    uint64_t steps = d->steps[DIFF_A] > d->steps[DIFF_B] ? d->steps[DIFF_A] : d->steps[DIFF_B];
    fprintf(out, "\n%s%zu. %s%s: %" PRIu64 " step%s %s, after %" PRIu64 " equal one%s\n",
            color ? COLOR_BOLD : "", number, d->where, color ? COLOR_OFF : "", steps, plural(steps),
            sentences[d->kind], d->equal, plural(d->equal));
}

static char sign_of(const struct nocap_diff_row *row)
{
    return row->equal                             ? ' '
           : row->has[DIFF_A] && row->has[DIFF_B] ? '|'
           : row->has[DIFF_A]                     ? '<'
                                                  : '>';
}

static void print_row(FILE *out, const struct nocap_diff_row *row,
                      const struct words words[DIFF_SIDES], const size_t width[DIFF_SIDES],
                      bool color)
{
    const char *a = words[DIFF_A].text, *b = words[DIFF_B].text;
    const int room = (int)width[DIFF_A];
    bool cut = strlen(a) > width[DIFF_A], cut_b = strlen(b) > width[DIFF_B];
    const char *paint_a = color && !row->equal ? COLOR_RED : "";
    const char *paint_b = color && !row->equal ? COLOR_GREEN : "";
    const char *reset = color && !row->equal ? COLOR_OFF : "";
    fprintf(out, "  %s%-*.*s%s%s %c", paint_a, cut ? room - 3 : room, cut ? room - 3 : room, a,
            cut ? "..." : "", reset, sign_of(row));
    fprintf(out, "%s%s%.*s%s%s\n", *b != 0 ? " " : "", paint_b,
            (int)width[DIFF_B] - (cut_b ? 3 : 0), b, cut_b ? "..." : "", reset);
}

/* Of a terminal's columns no side takes more than half where the other one needs the rest. */
static void share(const struct printer *p, size_t width[DIFF_SIDES])
{
    const size_t half = p->room / 2;
    if (p->room == 0) {
        width[DIFF_A] = width[DIFF_A] < COLUMN_MOST ? width[DIFF_A] : COLUMN_MOST;
        return;
    }
    const size_t least = width[DIFF_B] < half ? width[DIFF_B] : half;
    width[DIFF_A] = width[DIFF_A] < p->room - least ? width[DIFF_A] : p->room - least;
    width[DIFF_B] = p->room - width[DIFF_A];
}

static enum nocap_status print_difference(FILE *out, struct printer *p,
                                          const struct nocap_difference *d, bool color,
                                          struct nocap_error *err)
{
    struct words words[NOCAP_DIFF_ROWS_MAX][DIFF_SIDES];
    size_t width[DIFF_SIDES] = {COLUMN_LEAST, 0};
    uint64_t shown[DIFF_SIDES] = {0, 0};
    for (size_t i = 0; i < d->row_count; i++) {
        RETURN_IF_FAILED(describe_row(p, &d->rows[i], words[i], err));
        for (int side = 0; side < DIFF_SIDES; side++) {
            size_t length = strlen(words[i][side].text);
            width[side] = length > width[side] ? length : width[side];
        }
    }
    share(p, width);
    for (size_t i = 0; i < d->row_count; i++) {
        print_row(out, &d->rows[i], words[i], width, color);
        shown[DIFF_A] += d->rows[i].has[DIFF_A] && !d->rows[i].equal;
        shown[DIFF_B] += d->rows[i].has[DIFF_B] && !d->rows[i].equal;
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (d->steps[side] > shown[side]) {
            fprintf(out, "  ... and %" PRIu64 " more of %c\n", d->steps[side] - shown[side],
                    side == DIFF_A ? 'A' : 'B');
        }
    }
    return NOCAP_OK;
}

static enum nocap_status print_all(FILE *out, struct printer *p, bool color,
                                   struct nocap_error *err)
{
    const struct nocap_diff *diff = p->diff;
    for (int side = 0; side < DIFF_SIDES; side++) {
        fprintf(out, "%c: %s, %" PRIu64 " event%s, %" PRIu64 " compared\n",
                side == DIFF_A ? 'A' : 'B', diff->path[side], diff->events[side],
                plural(diff->events[side]), diff->compared[side]);
    }
    for (size_t i = 0; i < diff->note_count; i++) {
        fprintf(out, "NOTE: %s\n", diff->notes[i]);
    }
    for (size_t i = 0; i < diff->list_count; i++) {
        print_title(out, &diff->list[i], i + 1, color);
        RETURN_IF_FAILED(print_difference(out, p, &diff->list[i], color, err));
    }
    if (diff->count > diff->list_count) {
        fprintf(out, "\n... and %" PRIu64 " more differences\n", diff->count - diff->list_count);
    }
    if (diff->count == 0) {
        fputs("no difference\n", out);
    } else {
        fprintf(out, "\n%" PRIu64 " difference%s\n", diff->count, plural(diff->count));
    }
    return NOCAP_OK;
}

enum nocap_status nocap_diff_text(FILE *out, const struct nocap_diff *diff, bool color,
                                  unsigned width, struct nocap_error *err)
{
    struct printer p;
    open_printer(&p, diff);
    enum { BLANKS = 5, LEAST = 16 }; /* of a line beside its two sides; of a side */
    p.room = width == 0 ? 0 : width > 2 * LEAST + BLANKS ? width - BLANKS : 2 * LEAST;
    enum nocap_status status = print_all(out, &p, color, err);
    free(p.line.data);
    RETURN_IF_FAILED(status);
    return nocap_flush(out, "the comparison", err);
}

/* ---- JSON ---- */

static void put_words(struct nocap_json *json, const struct nocap_diff_row *row,
                      const struct words words[DIFF_SIDES])
{
    static const char *const keys[DIFF_SIDES] = {"a", "b"};
    nocap_json_map(json, NULL);
    nocap_json_bool(json, "equal", row->equal);
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (row->has[side]) {
            char *clean = foreign_copy(words[side].text);
            nocap_json_map(json, keys[side]);
            nocap_json_number(json, "index", row->index[side]);
            nocap_json_number(json, "t", words[side].t);
            nocap_json_text(json, "event", clean != NULL ? clean : "");
            nocap_json_map_end(json);
            free(clean);
        } else {
            nocap_json_null(json, keys[side]);
        }
    }
    nocap_json_map_end(json);
}

static enum nocap_status put_difference(struct nocap_json *json, struct printer *p,
                                        const struct nocap_difference *d, struct nocap_error *err)
{
    nocap_json_map(json, NULL);
    nocap_json_text(json, "where", d->where);
    nocap_json_text(json, "kind", nocap_diff_kind_name(d->kind));
    nocap_json_number(json, "t", d->t);
    nocap_json_number(json, "equal", d->equal);
    nocap_json_array(json, "steps");
    nocap_json_number(json, NULL, d->steps[DIFF_A]);
    nocap_json_number(json, NULL, d->steps[DIFF_B]);
    nocap_json_array_end(json);
    nocap_json_array(json, "rows");
    for (size_t i = 0; i < d->row_count; i++) {
        struct words words[DIFF_SIDES];
        RETURN_IF_FAILED(describe_row(p, &d->rows[i], words, err));
        put_words(json, &d->rows[i], words);
    }
    nocap_json_array_end(json);
    nocap_json_map_end(json);
    return NOCAP_OK;
}

static enum nocap_status put_all(struct nocap_json *json, struct printer *p,
                                 struct nocap_error *err)
{
    static const char *const keys[DIFF_SIDES] = {"a", "b"};
    const struct nocap_diff *diff = p->diff;
    nocap_json_map(json, NULL);
    nocap_json_number(json, "nocap_diff", 1);
    for (int side = 0; side < DIFF_SIDES; side++) {
        nocap_json_map(json, keys[side]);
        nocap_json_text(json, "path", diff->path[side]);
        nocap_json_number(json, "events", diff->events[side]);
        nocap_json_number(json, "compared", diff->compared[side]);
        nocap_json_map_end(json);
    }
    nocap_json_number(json, "count", diff->count);
    nocap_json_array(json, "differences");
    for (size_t i = 0; i < diff->list_count; i++) {
        RETURN_IF_FAILED(put_difference(json, p, &diff->list[i], err));
    }
    nocap_json_array_end(json);
    nocap_json_texts(json, "notes", diff->notes, diff->note_count);
    nocap_json_map_end(json);
    return NOCAP_OK;
}

enum nocap_status nocap_diff_json(FILE *out, const struct nocap_diff *diff, struct nocap_error *err)
{
    struct printer p;
    struct nocap_json json;
    open_printer(&p, diff);
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    enum nocap_status status = put_all(&json, &p, err);
    free(p.line.data);
    enum nocap_status closed = nocap_json_close(&json, status == NOCAP_OK ? err : NULL);
    return status != NOCAP_OK ? status : closed;
}
