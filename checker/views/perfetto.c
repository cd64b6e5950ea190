/* SPDX-License-Identifier: Apache-2.0 */
/* For Perfetto: a trace of its protobuf format, packet by packet as the timeline comes. Field
 * numbers are those of its public messages Trace, TracePacket, TrackDescriptor, TrackEvent. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/list.h"
#include "checker/views/view.h"

enum packet_field {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK = 60,
};
enum { FLAGS_CLEARED = 1, FLAGS_NEEDED = 2, SEQUENCE = 1 };
enum track_field {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
};
enum event_field {
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47,
};
enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum interned_field {
    INTERNED_EVENT_NAMES = 2,
    INTERNED_KEYS = 3,
    INTERNED_IID = 1,
    INTERNED_NAME = 2
};
enum annotation_field { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_STRING = 6 };
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

enum { KEYS = 64 };

struct perfetto {
    FILE *out;
    struct view_clock clock;
    struct bytes packet, event, part, interned;
    struct view_names names; /* numbered as the file has them */
    const char *keys[KEYS];  /* of annotations: static texts */
    uint32_t key_count;
    bool *states; /* by track: a state's slice is open */
    uint32_t state_count;
    bool out_of_memory, begun;
};

/* ---- messages ---- */

static void put_varint(struct perfetto *p, struct bytes *m, uint64_t v)
{
    if (bytes_reserve(m, VARINT_MAX)) {
        bytes_varint(m, v);
    } else {
        p->out_of_memory = true;
    }
}

static void put_number(struct perfetto *p, struct bytes *m, unsigned field, uint64_t v)
{
    put_varint(p, m, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(p, m, v);
}

static void put_fixed(struct perfetto *p, struct bytes *m, unsigned field, uint64_t v)
{
    put_varint(p, m, (uint64_t)field << 3 | WIRE_FIXED64);
    uint64_t little = htole64(v);
    p->out_of_memory |= !bytes_append(m, &little, sizeof little);
}

static void put_bytes(struct perfetto *p, struct bytes *m, unsigned field, const void *bytes,
                      size_t size)
{
    put_varint(p, m, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(p, m, size);
    p->out_of_memory |= !bytes_append(m, bytes, size);
}

static void put_text(struct perfetto *p, struct bytes *m, unsigned field, const char *text)
{
    put_bytes(p, m, field, text, strlen(text));
}

/* The message inside another; it is empty afterwards. */
static void put_message(struct perfetto *p, struct bytes *m, unsigned field, struct bytes *inner)
{
    put_bytes(p, m, field, inner->data, inner->size);
    inner->size = 0;
}

static void write_packet(struct perfetto *p)
{
    if (p->interned.size != 0) {
        put_message(p, &p->packet, PACKET_INTERNED, &p->interned);
    }
    put_number(p, &p->packet, PACKET_SEQUENCE, SEQUENCE);
    put_number(p, &p->packet, PACKET_SEQUENCE_FLAGS,
               p->begun ? FLAGS_NEEDED : FLAGS_CLEARED | FLAGS_NEEDED);
    p->begun = true;
    put_message(p, &p->part, TRACE_PACKET, &p->packet);
    fwrite(p->part.data, 1, p->part.size, p->out);
    p->part.size = 0;
}

/* ---- names, each written once ---- */

static void intern(struct perfetto *p, unsigned kind, uint64_t iid, const char *text)
{
    put_number(p, &p->part, INTERNED_IID, iid);
    put_text(p, &p->part, INTERNED_NAME, text);
    put_message(p, &p->interned, kind, &p->part);
}

/* 0: the name is written out. */
static uint64_t name_iid(struct perfetto *p, const char *name)
{
    bool is_new = false;
    uint32_t iid = view_name(&p->names, name, &is_new);
    if (is_new) {
        intern(p, INTERNED_EVENT_NAMES, iid, name);
    }
    return iid;
}

/* The keys are few. */
static uint64_t key_iid(struct perfetto *p, const char *key)
{
    for (uint32_t i = 0; i < p->key_count; i++) {
        if (strcmp(p->keys[i], key) == 0) {
            return i + 1;
        }
    }
    if (p->key_count == KEYS) {
        return 1;
    }
    p->keys[p->key_count++] = key;
    intern(p, INTERNED_KEYS, p->key_count, key);
    return p->key_count;
}

/* ---- tracks ---- */

static void track(void *view, uint32_t number, const struct nocap_track *t)
{
    struct perfetto *p = view;
    struct bytes *m = &p->event;
    put_number(p, m, TRACK_UUID, number);
    if (t->kind == NOCAP_TRACK_GROUP) {
        put_number(p, &p->part, PROCESS_PID, number);
        put_text(p, &p->part, PROCESS_NAME, t->name);
        put_message(p, m, TRACK_PROCESS, &p->part);
    } else {
        put_number(p, m, TRACK_PARENT, t->parent);
        put_text(p, m, TRACK_NAME, t->name);
    }
    if (t->kind == NOCAP_TRACK_COUNTER) {
        put_message(p, m, TRACK_COUNTER, &p->part);
    }
    put_message(p, &p->packet, PACKET_TRACK, m);
    write_packet(p);
}

/* ---- items ---- */

static void put_mark(struct perfetto *p, const struct nocap_mark *mark)
{
    struct bytes *m = &p->event;
    uint64_t iid = name_iid(p, mark->name);
    if (iid != 0) {
        put_number(p, m, EVENT_NAME_IID, iid);
    } else {
        put_text(p, m, EVENT_NAME, mark->name);
    }
    for (uint32_t i = 0; i < mark->arg_count; i++) {
        const struct nocap_mark_arg *arg = &mark->args[i];
        uint64_t key = key_iid(p, arg->key);
        put_number(p, &p->part, ANNOTATION_NAME_IID, key);
        if (arg->text != NULL) {
            put_text(p, &p->part, ANNOTATION_STRING, arg->text);
        } else {
            put_number(p, &p->part, ANNOTATION_UINT, arg->number);
        }
        put_message(p, m, EVENT_ANNOTATION, &p->part);
    }
    for (uint32_t i = 0; i < mark->flow_count; i++) {
        put_fixed(p, m, EVENT_FLOW, mark->flows[i]);
    }
}

static void put_event(struct perfetto *p, uint32_t number, uint64_t t, enum event_type type,
                      const struct nocap_mark *mark)
{
    put_number(p, &p->event, EVENT_TYPE, type);
    put_number(p, &p->event, EVENT_TRACK, number);
    if (mark != NULL) {
        put_mark(p, mark);
    }
    put_number(p, &p->packet, PACKET_TIMESTAMP, view_nanoseconds(&p->clock, t));
    put_message(p, &p->packet, PACKET_TRACK_EVENT, &p->event);
    write_packet(p);
}

static void begin(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    put_event(view, number, t, TYPE_BEGIN, mark);
}

static void end(void *view, uint32_t number, uint64_t t)
{
    put_event(view, number, t, TYPE_END, NULL);
}

static void instant(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    put_event(view, number, t, TYPE_INSTANT, mark);
}

static bool *state_of(struct perfetto *p, uint32_t number)
{
    while (number >= p->state_count) {
        if (LIST_NEXT(p->states, p->state_count) == NULL) {
            p->out_of_memory = true;
            return NULL;
        }
        p->state_count++;
    }
    return &p->states[number];
}

/* A state is a slice that lasts until the next one. A counter that is not known any more keeps its
 * value: the format has no other. */
static void value(void *view, uint32_t number, uint64_t t, uint64_t v,
                  const struct nocap_mark *mark)
{
    struct perfetto *p = view;
    bool is_counter = mark != NULL && mark->name[0] == '\0';
    if (is_counter) {
        put_number(p, &p->event, EVENT_COUNTER_VALUE, v);
        put_event(p, number, t, TYPE_COUNTER, NULL);
        return;
    }
    bool *open = state_of(p, number);
    if (open != NULL && *open) {
        end(p, number, t);
    }
    if (open != NULL) {
        *open = mark != NULL;
    }
    if (mark != NULL) {
        begin(p, number, t, mark);
    }
}

/* ---- the view ---- */

static void close_view(void *view)
{
    struct perfetto *p = view;
    view_names_free(&p->names);
    free(p->states);
    free(p->packet.data);
    free(p->event.data);
    free(p->part.data);
    free(p->interned.data);
    free(p);
}

static void *open_view(FILE *out)
{
    struct perfetto *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->out = out;
    if (!view_names_init(&p->names)) {
        close_view(p);
        return NULL;
    }
    return p;
}

static void header(void *view, const struct nocap_header *h)
{
    struct perfetto *p = view;
    p->clock = view_clock_of(h);
}

static enum nocap_status finish(void *view, const struct view_end *e,
                                struct nocap_export_result *result, struct nocap_error *err)
{
    const struct perfetto *p = view;
    (void)e;
    result->empty = p->begun ? NULL : "there is nothing that a track shows";
    if (p->clock.cycles && p->clock.hz == 0) {
        result->missing = "the clock is not known: a cycle is shown as a nanosecond";
    }
    RETURN_ERROR_IF(p->out_of_memory, err, NOCAP_E_MEMORY, "out of memory");
    return NOCAP_OK;
}

const struct view_ops view_perfetto = {
    .items = {.track = track, .begin = begin, .end = end, .instant = instant, .value = value},
    .open = open_view,
    .header = header,
    .finish = finish,
    .close = close_view,
};
