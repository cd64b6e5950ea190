/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/export/dump.h"

#include <stdlib.h>

#include "formats/export/csv.h"
#include "formats/export/queue_text.h"
#include "formats/export/text.h"
#include "formats/trace/jsonl.h"

enum { PIECE = 1 << 20 }; /* bytes gathered before they go to the sink */

struct dump {
    const struct nocap_dump_options *options;
    nocap_dump_sink *sink;
    void *context;
    struct nocap_error *err;
    struct nocap_text_style style;
    struct nocap_text_queue_record record;
    struct nocap_csv csv;
    struct nocap_text text;
    uint64_t left; /* events that may still be printed */
    const struct nocap_reader *reader;
};

static enum nocap_status give(struct dump *d)
{
    enum nocap_status status =
        d->text.size == 0 ? NOCAP_OK : d->sink(d->context, d->text.data, d->text.size, d->err);
    d->text.size = 0;
    return status;
}

static enum nocap_status print_event(struct dump *d, const struct nocap_event *event)
{
    switch (d->options->format) {
    case NOCAP_DUMP_JSONL: return nocap_jsonl_print_event(&d->text, event, d->err);
    case NOCAP_DUMP_CSV: return nocap_csv_print_event(&d->csv, &d->text, event, d->err);
    default: return nocap_text_print_event(&d->style, &d->text, event, d->err);
    }
}

/* NOCAP_END: nothing more is wanted. */
static enum nocap_status dump_event(struct dump *d, const struct nocap_event *event)
{
    const struct nocap_dump_options *o = d->options;
    if (d->style.queue.present) {
        nocap_queue_note(&d->style, event);
    }
    if (o->has_index && event->index < o->first_index) {
        return NOCAP_OK;
    }
    if ((o->has_index && event->index > o->last_index) || d->left == 0 ||
        (o->has_time && event->t > o->to && nocap_reader_time_ordered(d->reader))) {
        return NOCAP_END;
    }
    if ((o->has_time && (event->t < o->from || event->t > o->to)) ||
        (o->filter != NULL && !nocap_filter_match(o->filter, event))) {
        return NOCAP_OK;
    }
    d->left--;
    RETURN_IF_FAILED(print_event(d, event));
    return d->text.size >= PIECE ? give(d) : NOCAP_OK;
}

static enum nocap_status dump_events(struct dump *d, struct nocap_reader *reader)
{
    const struct nocap_event *events;
    size_t count;
    for (;;) {
        RETURN_IF_FAILED(nocap_reader_next(reader, &events, &count, d->err));
        for (size_t i = 0; i < count; i++) {
            RETURN_IF_FAILED(dump_event(d, &events[i]));
        }
    }
}

static enum nocap_status seek(struct dump *d, struct nocap_reader *reader)
{
    const struct nocap_dump_options *o = d->options;
    if (o->has_index && o->first_index > 0) {
        return nocap_reader_seek_index(reader, o->first_index, d->err);
    }
    if (!o->has_index && o->has_time && o->from > 0) {
        return nocap_reader_seek_time(reader, o->from, d->err);
    }
    return NOCAP_OK;
}

static enum nocap_status print_header(struct dump *d, const struct nocap_header *header)
{
    switch (d->options->format) {
    case NOCAP_DUMP_JSONL: return nocap_jsonl_print_header(&d->text, header, d->err);
    case NOCAP_DUMP_CSV: return nocap_csv_print_header(&d->csv, &d->text, d->err);
    default:
        d->style = nocap_text_style(header, d->options->color);
        d->style.cores = d->options->cores;
        d->style.queue.last = &d->record;
        return NOCAP_OK;
    }
}

enum nocap_status nocap_dump(struct nocap_reader *reader, const struct nocap_dump_options *options,
                             nocap_dump_sink *sink, void *context, struct nocap_error *err)
{
    struct dump d = {.options = options,
                     .sink = sink,
                     .context = context,
                     .err = err,
                     .left = options->has_limit ? options->limit : UINT64_MAX,
                     .reader = reader};
    enum nocap_status status = print_header(&d, nocap_reader_header(reader));
    if (status == NOCAP_OK) {
        status = seek(&d, reader);
    }
    if (status == NOCAP_OK) {
        status = dump_events(&d, reader);
    }
    if (status == NOCAP_END) {
        status = give(&d);
    }
    free(d.text.data);
    return status;
}
