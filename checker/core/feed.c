/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/core/feed.h"

struct feed {
    struct nocap_merge *merge; /* NULL: in order as they stand */
    nocap_merge_sink *sink;
    nocap_feed_gap *gap;
    void *context;
    uint64_t expected; /* index of the event to come next */
};

/* What waits to be merged took effect before the gap, as far as is known. */
static enum nocap_status pass_gap(struct feed *f, struct nocap_error *err)
{
    if (f->merge != NULL) {
        RETURN_IF_FAILED(nocap_merge_finish(f->merge, err));
    }
    if (f->gap != NULL) {
        f->gap(f->context);
    }
    return NOCAP_OK;
}

static enum nocap_status emit(struct feed *f, const struct nocap_event *events, size_t count,
                              struct nocap_error *err)
{
    if (events[0].index != f->expected) {
        RETURN_IF_FAILED(pass_gap(f, err));
    }
    f->expected = events[count - 1].index + 1;
    return f->merge != NULL ? nocap_merge_feed(f->merge, events, count, err)
                            : f->sink(f->context, events, count, err);
}

enum nocap_status nocap_feed(struct nocap_reader *reader, const char *path, nocap_merge_sink *sink,
                             nocap_feed_gap *gap, void *context, struct nocap_error *err)
{
    struct feed f = {.sink = sink, .gap = gap, .context = context};
    if (!nocap_reader_time_ordered(reader)) {
        RETURN_IF_FAILED(nocap_merge_new(&f.merge, sink, context, err));
    }
    enum nocap_status status = NOCAP_OK;
    bool any = false;
    while (status == NOCAP_OK) {
        const struct nocap_event *events;
        size_t count;
        status = nocap_reader_next(reader, &events, &count, err);
        if (status == NOCAP_OK) {
            any = true;
            status = emit(&f, events, count, err);
        } else if (status == NOCAP_END && f.merge != NULL) {
            status = nocap_merge_finish(f.merge, err);
            status = status == NOCAP_OK ? NOCAP_END : status;
        }
    }
    nocap_merge_free(f.merge);
    const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
    RETURN_ERROR_IF(status == NOCAP_END && !any && integrity->count != 0, err, NOCAP_E_INPUT,
                    "%s is damaged before its first event: %s", path, integrity->damage[0].text);
    return status == NOCAP_END ? NOCAP_OK : status;
}
