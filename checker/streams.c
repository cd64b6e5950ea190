#include "checker/streams_private.h"

#include <stdlib.h>
#include <string.h>

#include "formats/blackhole/tile_map.h"
#include "formats/import/import.h"

enum { POLLS_MAX = 64 }; /* different places that one run of reads can look at */

/* A run of reads of one agent: of each place only what it saw last. */
struct polls {
    size_t count;
    uint64_t place[POLLS_MAX];
    struct stream_item item[POLLS_MAX];
};

/* Fields that say when, or how often, or what only one run knows. */
static uint64_t left_out(const struct nocap_event *event)
{
    uint64_t fields = NOCAP_F_SEQ | NOCAP_F_N | NOCAP_F_T2 | NOCAP_F_ID;
    bool enter = event->kind == NOCAP_EV_KERNEL && event->op == NOCAP_OP_ENTER;
    fields |= enter ? 0 : NOCAP_F_PC;
    fields |= event->kind == NOCAP_EV_TENSIX ? NOCAP_F_SEM : 0;
    return fields;
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
    uint64_t z = hash ^ (v + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
    hash = mix(hash, size);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t n = size - i < sizeof word ? size - i : sizeof word;
        for (size_t k = 0; k < n; k++) {
            word |= (uint64_t)bytes[i + k] << (8 * k);
        }
        hash = mix(hash, word);
    }
    return hash;
}

/* The payload, whether it was given as a number or as bytes. */
static uint64_t mix_payload(uint64_t hash, const struct nocap_event *event)
{
    uint8_t bytes[sizeof event->value];
    if ((event->has & NOCAP_F_VALUE) == 0) {
        return mix_bytes(hash, event->data, event->data_size);
    }
    bool sized = (event->has & NOCAP_F_SIZE) != 0 && event->size < sizeof bytes;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(event->value >> (8 * i));
    }
    return mix_bytes(hash, bytes, sized ? (size_t)event->size : sizeof bytes);
}

/* What the event says: its kind and every field that counts; a field that is 0 is as good as none,
 * save a payload. */
static uint64_t item_hash(const struct nocap_event *event, bool payload)
{
    uint64_t fields = nocap_kind_fields((enum nocap_kind)event->kind) & ~left_out(event);
    uint64_t data = NOCAP_F_VALUE | NOCAP_F_DATA | NOCAP_F_INSN | NOCAP_F_HEAD | NOCAP_F_TEXT;
    uint64_t hash = mix(event->kind, event->op);
    for (unsigned f = 0; f < NOCAP_FIELD_COUNT; f++) {
        uint64_t bit = UINT64_C(1) << f;
        if ((fields & bit) != 0 && (data & bit) == 0) {
            uint64_t v = nocap_event_number(event, (enum nocap_field)f);
            hash = v == 0 ? hash : mix(mix(hash, f), v);
        }
    }
    bool opaque = event->kind == NOCAP_EV_UNKNOWN || event->kind == NOCAP_EV_MALFORMED;
    if (opaque || (payload && (event->has & fields & data) != 0)) {
        hash = mix_payload(hash, event);
    }
    return hash;
}

/* Whether the capture promised all loads of cores; if not, those that it has are a sample. */
static bool has_core_loads(const struct nocap_header *header)
{
    return !header->has_observes || (header->observes & NOCAP_CLASS_CORE_LOAD) != 0;
}

/* Leaves out what two runs of one program need not share. */
static bool counts(const struct nocap_header *header, const struct nocap_event *event)
{
    bool core = event->by >= NOCAP_BY_BRISC && event->by <= NOCAP_BY_TRISC2;
    switch (event->kind) {
    case NOCAP_EV_READ: return !core || has_core_loads(header);
    case NOCAP_EV_NOTE:
    case NOCAP_EV_DROP: return false;
    case NOCAP_EV_NOC: return event->phase == NOCAP_PHASE_ISSUE;
    case NOCAP_EV_TENSIX: return event->op == NOCAP_OP_PUSH || event->op == NOCAP_OP_ISSUE;
    case NOCAP_EV_CERT: return event->op != NOCAP_OP_BLOCK && event->op != NOCAP_OP_UNBLOCK;
    default: return true;
    }
}

/* Registers return counters and clocks: that they were read counts, not what they said. */
static bool returns_time(const struct nocap_event *event)
{
    return event->space == NOCAP_SPACE_TILE &&
           nocap_tile_region(event->addr)->kind != NOCAP_KIND_MEMORY;
}

static enum nocap_status push_item(struct nocap_streams *streams, struct stream *stream,
                                   struct stream_item item, struct nocap_error *err)
{
    RETURN_ERROR_IF(streams->items == NOCAP_STREAM_ITEMS_MAX, err, NOCAP_E_MEMORY,
                    "%s has more than %d events to compare: compare a shorter trace", streams->path,
                    NOCAP_STREAM_ITEMS_MAX);
    if (stream->count == stream->capacity) {
        size_t capacity = stream->capacity == 0 ? 8 : stream->capacity * 2;
        struct stream_item *list = realloc(stream->items, capacity * sizeof *list);
        RETURN_ERROR_IF(list == NULL, err, NOCAP_E_MEMORY, "out of memory for %s", streams->path);
        stream->items = list;
        stream->capacity = capacity;
    }
    stream->items[stream->count++] = item;
    streams->items++;
    return NOCAP_OK;
}

static enum nocap_status flush_polls(struct nocap_streams *streams, struct stream *stream,
                                     struct nocap_error *err)
{
    struct polls *polls = stream->polls;
    for (size_t i = 0; polls != NULL && i < polls->count; i++) {
        RETURN_IF_FAILED(push_item(streams, stream, polls->item[i], err));
    }
    if (polls != NULL) {
        polls->count = 0;
    }
    return NOCAP_OK;
}

static enum nocap_status add_read(struct nocap_streams *streams, struct stream *stream,
                                  const struct nocap_event *event, struct nocap_error *err)
{
    if (stream->polls == NULL) {
        stream->polls = calloc(1, sizeof *stream->polls);
        RETURN_ERROR_IF(stream->polls == NULL, err, NOCAP_E_MEMORY, "out of memory for %s",
                        streams->path);
    }
    struct polls *polls = stream->polls;
    uint64_t place = item_hash(event, false);
    size_t i = 0;
    while (i < polls->count && polls->place[i] != place) {
        i++;
    }
    if (i == POLLS_MAX) {
        RETURN_IF_FAILED(flush_polls(streams, stream, err));
        i = 0;
    }
    polls->count = i == polls->count ? i + 1 : polls->count;
    polls->place[i] = place;
    polls->item[i] = (struct stream_item){item_hash(event, !returns_time(event)), event->index};
    return NOCAP_OK;
}

static enum nocap_status add_event(struct nocap_streams *streams, const struct nocap_event *event,
                                   struct nocap_error *err)
{
    struct stream *stream;
    if (!counts(nocap_reader_header(streams->reader), event)) {
        return NOCAP_OK;
    }
    RETURN_IF_FAILED(stream_find(streams, event, &stream, err));
    if (event->kind == NOCAP_EV_READ) {
        return add_read(streams, stream, event, err);
    }
    RETURN_IF_FAILED(flush_polls(streams, stream, err));
    struct stream_item item = {item_hash(event, true), event->index};
    return push_item(streams, stream, item, err);
}

static enum nocap_status read_all(struct nocap_streams *streams, struct nocap_error *err)
{
    enum nocap_status status = NOCAP_OK;
    while (status == NOCAP_OK) {
        const struct nocap_event *events;
        size_t count;
        status = nocap_reader_next(streams->reader, &events, &count, err);
        for (size_t i = 0; status == NOCAP_OK && i < count; i++) {
            status = add_event(streams, &events[i], err);
        }
    }
    if (status != NOCAP_END) {
        return status;
    }
    for (size_t i = 0; i < streams->count; i++) {
        RETURN_IF_FAILED(flush_polls(streams, &streams->list[i], err));
        free(streams->list[i].polls);
        streams->list[i].polls = NULL;
    }
    streams_sort(streams);
    return NOCAP_OK;
}

enum nocap_status nocap_streams_open(struct nocap_streams **streams, const char *path,
                                     struct nocap_error *err)
{
    *streams = NULL;
    struct nocap_streams *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        return nocap_fail(err, NOCAP_E_MEMORY, "out of memory for %s", path);
    }
    enum nocap_status status = nocap_trace_open(&s->reader, path, NULL, err);
    if (status == NOCAP_OK) {
        status = read_all(s, err);
    }
    if (status != NOCAP_OK) {
        nocap_streams_close(s);
        s = NULL;
    }
    *streams = s;
    return status;
}

void nocap_streams_close(struct nocap_streams *streams)
{
    if (streams == NULL) {
        return;
    }
    for (size_t i = 0; i < streams->count; i++) {
        free(streams->list[i].items);
        free(streams->list[i].polls);
    }
    nocap_reader_close(streams->reader);
    free(streams->list);
    free(streams->slots);
    free(streams->path);
    free(streams);
}

static uint64_t stream_digest(const struct stream *stream)
{
    uint64_t digest = mix(stream->key[0], stream->key[1]);
    for (size_t i = 0; i < stream->count; i++) {
        digest = mix(digest, stream->items[i].hash);
    }
    return digest;
}

uint64_t nocap_streams_digest(const struct nocap_streams *streams, enum nocap_stream_kind kind)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < streams->count; i++) {
        if (stream_kind(&streams->list[i]) == kind) {
            digest = mix(digest, stream_digest(&streams->list[i]));
        }
    }
    return digest;
}

uint64_t nocap_streams_digest_all(const struct nocap_streams *streams)
{
    uint64_t digest = 0;
    for (unsigned kind = 0; kind < NOCAP_STREAM_KIND_COUNT; kind++) {
        digest = mix(digest, nocap_streams_digest(streams, (enum nocap_stream_kind)kind));
    }
    return digest;
}
