#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checker/streams_private.h"

/* Places in the first word of a key. */
enum { KEY_KIND = 56, KEY_CHIP = 32, KEY_X = 24, KEY_Y = 16, KEY_AGENT = 0 };
/* Places in the second word. */
enum { KEY_OP = 0, KEY_THREAD = 8, KEY_FROM_X = 16, KEY_FROM_Y = 24, KEY_SRC = 32 };

const char *nocap_stream_kind_name(enum nocap_stream_kind kind)
{
#define X(name, text) text,
    static const char *const names[] = {NOCAP_STREAM_KINDS(X)};
#undef X
    return (unsigned)kind < NOCAP_STREAM_KIND_COUNT ? names[kind] : "?";
}

static bool is_access(const struct nocap_event *event)
{
    return event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_READ;
}

static enum nocap_stream_kind kind_of(const struct nocap_event *event)
{
    bool core = event->by >= NOCAP_BY_BRISC && event->by <= NOCAP_BY_TRISC2;
    switch (event->kind) {
    case NOCAP_EV_NOC: return core ? NOCAP_STREAM_CORE : NOCAP_STREAM_NOC;
    case NOCAP_EV_TENSIX: return NOCAP_STREAM_TENSIX;
    case NOCAP_EV_CQ: return NOCAP_STREAM_CQ;
    case NOCAP_EV_CERT: return NOCAP_STREAM_CERT;
    case NOCAP_EV_WRITE:
    case NOCAP_EV_READ:
    case NOCAP_EV_KERNEL:
    case NOCAP_EV_RESET:
        return core                         ? NOCAP_STREAM_CORE
               : event->by == NOCAP_BY_HOST ? NOCAP_STREAM_HOST
               : event->by == NOCAP_BY_NOC  ? NOCAP_STREAM_NOC
               : event->by >= NOCAP_BY_UC0  ? NOCAP_STREAM_CERT
                                            : NOCAP_STREAM_OTHER;
    default: return NOCAP_STREAM_OTHER;
    }
}

/* The key of the event's stream. The tile belongs to it where the agent sits in that tile. */
static void make_key(uint64_t key[2], const struct nocap_event *event)
{
    enum nocap_stream_kind kind = kind_of(event);
    uint64_t agent = event->kind == NOCAP_EV_CERT ? NOCAP_BY_UC0 + (uint64_t)event->uc : event->by;
    uint64_t rest = 0;
    struct nocap_xy at = event->at;
    switch (kind) {
    case NOCAP_STREAM_HOST:
        at = (struct nocap_xy){0, 0};
        rest = (uint64_t)event->src << KEY_SRC;
        break;
    case NOCAP_STREAM_NOC:
        rest = is_access(event)
                   ? (uint64_t)event->s.x << KEY_FROM_X | (uint64_t)event->s.y << KEY_FROM_Y |
                         (uint64_t)event->kind << KEY_OP
                   : 0;
        break;
    case NOCAP_STREAM_TENSIX:
        agent = 0;
        rest = (uint64_t)event->thread << KEY_THREAD | (uint64_t)event->op << KEY_OP;
        break;
    case NOCAP_STREAM_CQ:
        at = (struct nocap_xy){0, 0};
        rest = (uint64_t)event->op << KEY_OP;
        break;
    case NOCAP_STREAM_CERT:
        at = (struct nocap_xy){0, 0};
        rest = event->kind == NOCAP_EV_CERT ? event->job + 1 : 0;
        break;
    default: rest = (uint64_t)event->kind << KEY_OP; break;
    case NOCAP_STREAM_CORE: break;
    }
    key[0] = (uint64_t)kind << KEY_KIND | (uint64_t)event->chip << KEY_CHIP |
             (uint64_t)at.x << KEY_X | (uint64_t)at.y << KEY_Y | agent << KEY_AGENT;
    key[1] = rest;
}

enum nocap_stream_kind stream_kind(const struct stream *stream)
{
    return (enum nocap_stream_kind)(stream->key[0] >> KEY_KIND);
}

static unsigned byte_at(uint64_t key, unsigned place)
{
    return (unsigned)(key >> place) & 0xffu;
}

void stream_name(char *text, size_t size, const struct stream *stream)
{
    uint64_t key = stream->key[0], rest = stream->key[1];
    unsigned agent = byte_at(key, KEY_AGENT), chip = (unsigned)(key >> KEY_CHIP) & 0xffffu;
    char tile[32] = "", from[32] = "";
    snprintf(tile, sizeof tile, "tile %u,%u ", byte_at(key, KEY_X), byte_at(key, KEY_Y));
    if (byte_at(rest, KEY_FROM_X) != 0 || byte_at(rest, KEY_FROM_Y) != 0) {
        snprintf(from, sizeof from, " from %u,%u", byte_at(rest, KEY_FROM_X),
                 byte_at(rest, KEY_FROM_Y));
    }
    int used = chip == 0 ? 0 : snprintf(text, size, "chip %u ", chip);
    text += used;
    size -= (size_t)used;
    switch (stream_kind(stream)) {
    case NOCAP_STREAM_HOST: snprintf(text, size, "host, src %" PRIu64, rest >> KEY_SRC); break;
    case NOCAP_STREAM_CORE: snprintf(text, size, "%s%s", tile, nocap_agent_name(agent)); break;
    case NOCAP_STREAM_NOC: snprintf(text, size, "%snoc%s", tile, from); break;
    case NOCAP_STREAM_TENSIX:
        snprintf(text, size, "%sthread %u %s", tile, byte_at(rest, KEY_THREAD),
                 nocap_op_name(byte_at(rest, KEY_OP)));
        break;
    case NOCAP_STREAM_CQ:
        snprintf(text, size, "cq %s", nocap_op_name(byte_at(rest, KEY_OP)));
        break;
    case NOCAP_STREAM_CERT:
        snprintf(text, size, rest == 0 ? "%s" : "%s job %" PRIu64, nocap_agent_name(agent),
                 rest - 1);
        break;
    default:
        snprintf(text, size, "%s%s %s", tile, nocap_agent_name(agent),
                 nocap_kind_name(byte_at(rest, KEY_OP)));
        break;
    }
}

int stream_compare_keys(const struct stream *a, const struct stream *b)
{
    for (int i = 0; i < 2; i++) {
        if (a->key[i] != b->key[i]) {
            return a->key[i] < b->key[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return stream_compare_keys(a, b);
}

void streams_sort(struct nocap_streams *streams)
{
    if (streams->count > 1) {
        qsort(streams->list, streams->count, sizeof streams->list[0], compare);
    }
}

static size_t slot_of(const struct nocap_streams *streams, const uint64_t key[2])
{
    uint64_t hash =
        (key[0] * UINT64_C(0x9e3779b97f4a7c15)) ^ (key[1] * UINT64_C(0xbf58476d1ce4e5b9));
    size_t mask = streams->slot_count - 1, slot = (size_t)(hash ^ hash >> 29) & mask;
    while (streams->slots[slot] != 0) {
        const struct stream *stream = &streams->list[streams->slots[slot] - 1];
        if (stream->key[0] == key[0] && stream->key[1] == key[1]) {
            break;
        }
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Doubles list and slots; slots are never more than half full. */
static enum nocap_status grow(struct nocap_streams *streams, struct nocap_error *err)
{
    RETURN_ERROR_IF(streams->count == NOCAP_STREAMS_MAX, err, NOCAP_E_MEMORY,
                    "%s has more than %d agents to compare: compare a smaller trace", streams->path,
                    NOCAP_STREAMS_MAX);
    size_t capacity = streams->capacity == 0 ? 32 : streams->capacity * 2;
    struct stream *list = realloc(streams->list, capacity * sizeof *list);
    RETURN_ERROR_IF(list == NULL, err, NOCAP_E_MEMORY, "out of memory for %s", streams->path);
    streams->list = list;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    RETURN_ERROR_IF(slots == NULL, err, NOCAP_E_MEMORY, "out of memory for %s", streams->path);
    free(streams->slots);
    streams->slots = slots;
    streams->slot_count = capacity * 2;
    streams->capacity = capacity;
    for (size_t i = 0; i < streams->count; i++) {
        slots[slot_of(streams, list[i].key)] = (uint32_t)i + 1;
    }
    return NOCAP_OK;
}

enum nocap_status stream_find(struct nocap_streams *streams, const struct nocap_event *event,
                              struct stream **stream, struct nocap_error *err)
{
    uint64_t key[2];
    make_key(key, event);
    if (streams->count == streams->capacity) {
        RETURN_IF_FAILED(grow(streams, err));
    }
    size_t slot = slot_of(streams, key);
    if (streams->slots[slot] == 0) {
        streams->list[streams->count] = (struct stream){.key = {key[0], key[1]}};
        streams->slots[slot] = (uint32_t)++streams->count;
    }
    *stream = &streams->list[streams->slots[slot] - 1];
    return NOCAP_OK;
}
