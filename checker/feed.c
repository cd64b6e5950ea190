#include "checker/feed.h"

enum nocap_status nocap_feed(struct nocap_reader *reader, const char *path, nocap_merge_sink *sink,
                             void *context, struct nocap_error *err)
{
    struct nocap_merge *merge = NULL;
    if (!nocap_reader_time_ordered(reader)) {
        RETURN_IF_FAILED(nocap_merge_new(&merge, sink, context, err));
    }
    enum nocap_status status = NOCAP_OK;
    bool any = false;
    while (status == NOCAP_OK) {
        const struct nocap_event *events;
        size_t count;
        status = nocap_reader_next(reader, &events, &count, err);
        if (status == NOCAP_OK) {
            any = true;
            status = merge != NULL ? nocap_merge_feed(merge, events, count, err)
                                   : sink(context, events, count, err);
        } else if (status == NOCAP_END && merge != NULL) {
            status = nocap_merge_finish(merge, err);
            status = status == NOCAP_OK ? NOCAP_END : status;
        }
    }
    nocap_merge_free(merge);
    const struct nocap_integrity *integrity = nocap_reader_integrity(reader);
    RETURN_ERROR_IF(status == NOCAP_END && !any && integrity->count != 0, err, NOCAP_E_INPUT,
                    "%s is damaged before its first event: %s", path, integrity->damage[0].text);
    return status == NOCAP_END ? NOCAP_OK : status;
}
