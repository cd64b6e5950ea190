/* Private to checker/streams*.c. */
#ifndef NOCAP_CHECKER_STREAMS_PRIVATE_H
#define NOCAP_CHECKER_STREAMS_PRIVATE_H

#include "checker/streams.h"
#include "formats/trace/trace.h"

struct stream_item {
    uint64_t hash, index; /* what the event says; where it stands in the trace */
};

struct polls;

/* One agent's events. The key orders streams and tells them apart: kind, chip, tile and agent in
 * the first word, what is special to the kind in the second. */
struct stream {
    uint64_t key[2];
    struct stream_item *items;
    size_t count, capacity;
    struct polls *polls; /* only while reading */
};

struct nocap_streams {
    char *path;
    struct nocap_reader *reader;
    struct stream *list; /* sorted by key once all is read */
    size_t count, capacity, items;
    uint32_t *slots; /* open addressing by key: place in list + 1, 0 is free */
    size_t slot_count;
};

/* The stream to which the event belongs, made if it is the first. */
enum nocap_status stream_find(struct nocap_streams *streams, const struct nocap_event *event,
                              struct stream **stream, struct nocap_error *err);
enum nocap_stream_kind stream_kind(const struct stream *stream);
void stream_name(char *text, size_t size, const struct stream *stream);
int stream_compare_keys(const struct stream *a, const struct stream *b);
void streams_sort(struct nocap_streams *streams);

#endif
