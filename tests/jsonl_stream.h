/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: JSON Lines from memory, and back to text. */
#ifndef NOCAP_TESTS_JSONL_STREAM_H
#define NOCAP_TESTS_JSONL_STREAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign_text.h"
#include "formats/trace/jsonl.h"
#include "tests/event_equal.h"

#define SMALL_HEADER "{\"nocap\":1,\"arch\":\"blackhole\"}\n"

struct stream {
    FILE *file;
    struct nocap_jsonl_reader *reader;
    struct nocap_error err;
};

static inline enum nocap_status stream_open(struct stream *stream, const void *text, size_t size)
{
    memset(stream, 0, sizeof *stream);
    stream->file = fmemopen((void *)(uintptr_t)text, size, "rb");
    if (stream->file == NULL) {
        abort();
    }
    return nocap_jsonl_open(&stream->reader, stream->file, "memory", &stream->err);
}

static inline enum nocap_status stream_next(struct stream *stream, struct nocap_event *event)
{
    return nocap_jsonl_next(stream->reader, event, &stream->err);
}

static inline void stream_close(struct stream *stream)
{
    nocap_jsonl_close(stream->reader);
    fclose(stream->file);
}

/* The whole stream as text; the status that ended it. */
static inline enum nocap_status stream_print(struct stream *stream, struct nocap_text *out)
{
    struct nocap_event event;
    enum nocap_status status =
        nocap_jsonl_print_header(out, nocap_jsonl_header(stream->reader), &stream->err);
    if (status != NOCAP_OK) {
        return status;
    }
    while ((status = stream_next(stream, &event)) == NOCAP_OK) {
        status = nocap_jsonl_print_event(out, &event, &stream->err);
        if (status != NOCAP_OK) {
            return status;
        }
    }
    return status;
}

static inline bool is_plain(const void *text, size_t size)
{
    return size == 0 || foreign_is_plain(text, size);
}

/* What steers a terminal is escaped in what is kept as it stood: such events print the same. */
static inline bool events_say_the_same(const struct nocap_event *a, const struct nocap_event *b)
{
    struct nocap_text first = {0}, second = {0};
    bool verbatim = a->kind >= NOCAP_EV_UNKNOWN;
    if ((!verbatim || is_plain(a->data, a->data_size)) && is_plain(a->extra, a->extra_size)) {
        return events_equal(a, b);
    }
    bool same = nocap_jsonl_print_event(&first, a, NULL) == NOCAP_OK &&
                nocap_jsonl_print_event(&second, b, NULL) == NOCAP_OK &&
                first.size == second.size && memcmp(first.data, second.data, first.size) == 0;
    free(first.data);
    free(second.data);
    return same && a->kind == b->kind && a->has == b->has && a->index == b->index;
}

/* Whether what is printed of `text` says the same and prints the same again. */
static inline bool prints_the_same(const void *text, size_t size)
{
    struct stream first, second;
    struct nocap_text once = {0}, twice = {0};
    bool same =
        stream_open(&first, text, size) == NOCAP_OK && stream_print(&first, &once) == NOCAP_END;
    stream_close(&first);
    if (same) {
        struct nocap_event a, b;
        (void)stream_open(&first, text, size);
        same = stream_open(&second, once.data, once.size) == NOCAP_OK;
        while (same && stream_next(&first, &a) == NOCAP_OK) {
            same = stream_next(&second, &b) == NOCAP_OK && events_say_the_same(&a, &b);
        }
        same = same && stream_next(&second, &b) == NOCAP_END;
        stream_close(&first);
        stream_close(&second);
    }
    if (same) {
        same = stream_open(&second, once.data, once.size) == NOCAP_OK &&
               stream_print(&second, &twice) == NOCAP_END && once.size == twice.size &&
               memcmp(once.data, twice.data, once.size) == 0;
        stream_close(&second);
    }
    free(once.data);
    free(twice.data);
    return same;
}

#endif
