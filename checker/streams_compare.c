#include <inttypes.h>
#include <stdlib.h>

#include "checker/streams_private.h"
#include "formats/trace/jsonl.h"

enum {
    EVENTS_SHOWN = 2, /* of each side */
    LINE_SHOWN = 400, /* bytes of an event; a payload may be long */
};

struct comparison {
    struct nocap_streams *before, *after;
    FILE *out;
    struct nocap_text line;
};

/* Prints the event at `index` of one trace. */
static enum nocap_status print_event(struct comparison *c, struct nocap_streams *streams, char sign,
                                     uint64_t index, struct nocap_error *err)
{
    const struct nocap_event *events;
    size_t count = 0;
    RETURN_IF_FAILED(nocap_reader_seek_index(streams->reader, index, err));
    enum nocap_status status = nocap_reader_next(streams->reader, &events, &count, err);
    if (status == NOCAP_OK) {
        c->line.size = 0;
        status = nocap_jsonl_print_event(&c->line, &events[0], err);
    }
    if (status == NOCAP_OK) {
        size_t length = c->line.size - 1; /* without the newline */
        bool whole = length <= LINE_SHOWN;
        fprintf(c->out, "  %c %" PRIu64 ": %.*s%s\n", sign, index, whole ? (int)length : LINE_SHOWN,
                c->line.data, whole ? "" : "...");
    }
    return status == NOCAP_END ? NOCAP_OK : status;
}

/* Prints what one trace has from item `first` on; `stream` may be NULL. */
static enum nocap_status print_side(struct comparison *c, struct nocap_streams *streams, char sign,
                                    const struct stream *stream, size_t first,
                                    struct nocap_error *err)
{
    size_t count = stream == NULL ? 0 : stream->count;
    if (first >= count) {
        fprintf(c->out, "  %c nothing more\n", sign);
        return NOCAP_OK;
    }
    for (size_t i = first; i < count && i < first + EVENTS_SHOWN; i++) {
        RETURN_IF_FAILED(print_event(c, streams, sign, stream->items[i].index, err));
    }
    return NOCAP_OK;
}

static size_t first_difference(const struct stream *a, const struct stream *b)
{
    size_t i = 0;
    while (a != NULL && b != NULL && i < a->count && i < b->count &&
           a->items[i].hash == b->items[i].hash) {
        i++;
    }
    return i;
}

static bool same(const struct stream *a, const struct stream *b, size_t difference)
{
    return a != NULL && b != NULL && difference == a->count && difference == b->count;
}

/* The next pair of streams with the same key; the side that lacks it is NULL. */
static void next_pair(const struct comparison *c, size_t *i, size_t *k, const struct stream **a,
                      const struct stream **b)
{
    *a = *i < c->before->count ? &c->before->list[*i] : NULL;
    *b = *k < c->after->count ? &c->after->list[*k] : NULL;
    int order = *a == NULL ? 1 : *b == NULL ? -1 : stream_compare_keys(*a, *b);
    *a = order <= 0 ? *a : NULL;
    *b = order >= 0 ? *b : NULL;
    *i += *a != NULL;
    *k += *b != NULL;
}

static enum nocap_status compare_all(struct comparison *c, size_t show, size_t *differences,
                                     struct nocap_error *err)
{
    *differences = 0;
    for (size_t i = 0, k = 0; i < c->before->count || k < c->after->count;) {
        const struct stream *a, *b;
        char name[128];
        next_pair(c, &i, &k, &a, &b);
        size_t difference = first_difference(a, b);
        if (same(a, b, difference) || ++*differences > show) {
            continue;
        }
        stream_name(name, sizeof name, a != NULL ? a : b);
        fprintf(c->out, "%s: differs after %zu event%s\n", name, difference,
                difference == 1 ? "" : "s");
        RETURN_IF_FAILED(print_side(c, c->before, '-', a, difference, err));
        RETURN_IF_FAILED(print_side(c, c->after, '+', b, difference, err));
    }
    if (*differences > show) {
        fprintf(c->out, "... and %zu more agents differ\n", *differences - show);
    }
    return NOCAP_OK;
}

enum nocap_status nocap_streams_compare(struct nocap_streams *before, struct nocap_streams *after,
                                        FILE *out, size_t show, size_t *differences,
                                        struct nocap_error *err)
{
    struct comparison c = {.before = before, .after = after, .out = out};
    enum nocap_status status = compare_all(&c, show, differences, err);
    free(c.line.data);
    return status;
}
