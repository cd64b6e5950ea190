/* SPDX-License-Identifier: Apache-2.0 */
/* The newest rows are kept in a ring, each with a copy of its event, and printed from the last to
 * the first. Loads of one agent that find the same, with no write in between, are one row. */
#include "checker/query/who.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json_text.h"
#include "checker/core/feed.h"
#include "checker/query/tiles.h"
#include "formats/export/text.h"

enum { ROWS = 20, ROWS_MAX = 100000, BYTES_SHOWN = 16 };

struct row {
    struct nocap_event event; /* its data are `data` */
    struct bytes data;
    uint64_t count, last_index, last_t; /* of loads that found the same */
    enum nocap_touch touch;
};

struct who {
    const struct nocap_who_options *options;
    struct row *rows;
    uint32_t room, count, next; /* `next`: where the next row goes */
    uint64_t touched, writes;   /* all, those that are not kept included */
    bool at_tile;               /* any event touches the tile */
};

static struct row *newest(struct who *w, uint32_t back)
{
    return &w->rows[(w->next + w->room - 1 - back) % w->room];
}

/* The payload of an event that is kept; its extra keys are not printed. */
static enum nocap_status keep(struct row *r, const struct nocap_event *e, struct nocap_error *err)
{
    r->data.size = 0;
    RETURN_ERROR_IF(!bytes_append(&r->data, e->data, e->data_size), err, NOCAP_E_MEMORY,
                    "out of memory");
    r->event = *e;
    r->event.data = r->data.data;
    r->event.extra = NULL;
    r->event.extra_size = 0;
    return NOCAP_OK;
}

/* When and how often: a capture may tell of the first load alone, and of many after it as one. */
static const uint64_t when = NOCAP_F_N | NOCAP_F_T2 | NOCAP_F_SEQ;

static bool same_load(const struct row *r, const struct nocap_event *e)
{
    const struct nocap_event *f = &r->event;
    return f->by == e->by && f->chip == e->chip && ((f->has ^ e->has) & ~when) == 0 &&
           f->addr == e->addr && f->size == e->size && f->value == e->value &&
           f->data_size == e->data_size && f->pc == e->pc &&
           (e->data_size == 0 || memcmp(f->data, e->data, e->data_size) == 0);
}

/* The row of the same load, unless a write lies in between. */
static struct row *row_of_load(struct who *w, const struct nocap_event *e)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct row *r = newest(w, i);
        if (nocap_touch_writes(r->touch)) {
            return NULL;
        }
        if (r->touch == NOCAP_TOUCH_LOAD && same_load(r, e)) {
            return r;
        }
    }
    return NULL;
}

static enum nocap_status add(struct who *w, const struct nocap_event *e, enum nocap_touch touch,
                             struct nocap_error *err)
{
    uint64_t polls = (e->has & NOCAP_F_N) != 0 && e->kind == NOCAP_EV_READ ? e->n : 1;
    struct row *r = touch == NOCAP_TOUCH_LOAD ? row_of_load(w, e) : NULL;
    w->touched++;
    w->writes += nocap_touch_writes(touch);
    if (r == NULL) {
        r = &w->rows[w->next];
        RETURN_IF_FAILED(keep(r, e, err));
        r->touch = touch;
        r->count = 0;
        w->next = (w->next + 1) % w->room;
        w->count += w->count < w->room;
    } else {
        r->event.has &= ~when; /* the row says it of all */
    }
    r->count += polls;
    r->last_index = e->index;
    r->last_t = (e->has & NOCAP_F_T2) != 0 && e->kind == NOCAP_EV_READ ? e->t2 : e->t;
    return NOCAP_OK;
}

static enum nocap_status take(void *context, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    struct who *w = context;
    const struct nocap_who_options *o = w->options;
    for (size_t i = 0; i < count; i++) {
        const struct nocap_event *e = &events[i];
        if (o->has_until && e->t > o->until) {
            return NOCAP_END;
        }
        w->at_tile = w->at_tile || nocap_touches_tile(e, o->bytes.at);
        enum nocap_touch touch = nocap_touch(e, &o->bytes);
        if (touch != NOCAP_TOUCH_NONE && (!o->has_chip || e->chip == o->chip) &&
            (!o->writes || nocap_touch_writes(touch))) {
            RETURN_IF_FAILED(add(w, e, touch, err));
        }
    }
    return NOCAP_OK;
}

/* "80 --": the bytes as the access left or found them, -- where the trace does not have one; empty
 * if it has none. */
static const char *bytes_text(const struct who *w, const struct row *r, char *text, size_t size)
{
    const struct nocap_bytes_at *b = &w->options->bytes;
    size_t used = 0;
    bool any = false;
    for (uint64_t i = 0; i < BYTES_SHOWN && i <= b->last - b->first; i++) {
        uint8_t byte;
        char digits[] = "--";
        if (nocap_touch_byte(&r->event, r->touch, b->first + i, &byte)) {
            snprintf(digits, sizeof digits, "%02x", byte);
            any = true;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " " : "", digits);
    }
    text[any ? used : 0] = '\0';
    return text;
}

/* ---- printing ---- */

static enum nocap_status print_text(struct who *w, const struct nocap_reader *reader, FILE *out,
                                    struct nocap_error *err)
{
    const struct nocap_bytes_at *b = &w->options->bytes;
    struct nocap_text_style style =
        nocap_text_style(nocap_reader_header(reader), w->options->color);
    struct nocap_text line = {NULL, 0, 0};
    enum nocap_status status = NOCAP_OK;
    fprintf(out, "0x%" PRIx64, b->first);
    if (b->last != b->first) {
        fprintf(out, "..0x%" PRIx64, b->last);
    }
    fprintf(out, " of core %u,%u: touched by %" PRIu64 " event%s, %" PRIu64 " of them writes%s\n",
            b->at.x, b->at.y, w->touched, w->touched == 1 ? "" : "s", w->writes,
            w->count > 0 ? "; newest first" : "");
    for (uint32_t i = 0; i < w->count && status == NOCAP_OK; i++) {
        const struct row *r = newest(w, i);
        char bytes[3 * BYTES_SHOWN + 1];
        line.size = 0;
        status = nocap_text_print_event(&style, &line, &r->event, err);
        while (line.size > 0 && line.data[line.size - 1] == '\n') {
            line.size--;
        }
        bool known = bytes_text(w, r, bytes, sizeof bytes)[0] != '\0';
        fprintf(out, "%-16s %.*s%s%s%s", nocap_touch_name(r->touch), (int)line.size, line.data,
                known ? "  [" : "", bytes, known ? "]" : "");
        if (r->last_index != r->event.index) {
            fprintf(out, "  (%" PRIu64 " times, the last at #%" PRIu64 " t %" PRIu64 ")", r->count,
                    r->last_index, r->last_t);
        }
        fputc('\n', out);
    }
    free(line.data);
    return status == NOCAP_OK ? nocap_flush(out, "the answer", err) : status;
}

static enum nocap_status print_json(struct who *w, FILE *out, struct nocap_error *err)
{
    const struct nocap_bytes_at *b = &w->options->bytes;
    struct nocap_json json;
    char text[3 * BYTES_SHOWN + 1];
    RETURN_IF_FAILED(nocap_json_open(&json, out, err));
    nocap_json_map(&json, NULL);
    nocap_json_number(&json, "nocap_who", 1);
    nocap_json_text(&json, "path", w->options->path);
    nocap_json_number(&json, "x", b->at.x);
    nocap_json_number(&json, "y", b->at.y);
    nocap_json_number(&json, "first", b->first);
    nocap_json_number(&json, "last", b->last);
    nocap_json_number(&json, "events", w->touched);
    nocap_json_number(&json, "writes", w->writes);
    nocap_json_array(&json, "touches");
    for (uint32_t i = 0; i < w->count; i++) {
        const struct row *r = newest(w, i);
        const struct nocap_event *e = &r->event;
        nocap_json_map(&json, NULL);
        nocap_json_text(&json, "how", nocap_touch_name(r->touch));
        nocap_json_number(&json, "index", e->index);
        nocap_json_number(&json, "t", e->t);
        nocap_json_number(&json, "chip", e->chip);
        nocap_json_text(&json, "by", nocap_agent_name(e->by));
        if (e->kind == NOCAP_EV_NOC || (e->has & NOCAP_F_FROM) != 0) {
            struct nocap_xy from = e->kind == NOCAP_EV_NOC ? e->at : e->s;
            nocap_json_number(&json, "from_x", from.x);
            nocap_json_number(&json, "from_y", from.y);
        }
        nocap_json_number(&json, "addr", nocap_touch_start(e, r->touch));
        nocap_json_number(&json, "size", e->kind == NOCAP_EV_MEM ? e->data_size : e->size);
        nocap_json_text(&json, "bytes", bytes_text(w, r, text, sizeof text));
        nocap_json_number_if(&json, "pc", (e->has & NOCAP_F_PC) != 0 && e->kind != NOCAP_EV_NOC,
                             e->pc);
        nocap_json_number(&json, "count", r->count);
        nocap_json_number(&json, "last_index", r->last_index);
        nocap_json_map_end(&json);
    }
    nocap_json_array_end(&json);
    nocap_json_map_end(&json);
    return nocap_json_close(&json, err);
}

enum nocap_status nocap_who(struct nocap_reader *reader, const struct nocap_who_options *options,
                            FILE *out, bool *at_tile, struct nocap_error *err)
{
    struct who w = {.options = options, .room = options->limit == 0 ? ROWS : options->limit};
    RETURN_ERROR_IF(options->size != sizeof *options, err, NOCAP_E_INTERNAL,
                    "the question was asked in another version");
    RETURN_ERROR_IF(w.room > ROWS_MAX, err, NOCAP_E_USAGE, "--limit %u: at most %u", w.room,
                    (unsigned)ROWS_MAX);
    w.rows = calloc(w.room, sizeof *w.rows);
    RETURN_ERROR_IF(w.rows == NULL, err, NOCAP_E_MEMORY, "out of memory");
    enum nocap_status status = nocap_feed(reader, options->path, take, NULL, &w, err);
    if (status == NOCAP_OK) {
        *at_tile = w.at_tile;
        status = options->json ? print_json(&w, out, err) : print_text(&w, reader, out, err);
    }
    for (uint32_t i = 0; i < w.room; i++) {
        free(w.rows[i].data.data);
    }
    free(w.rows);
    return status;
}
