/* SPDX-License-Identifier: Apache-2.0 */
#include "checker/compare/streams.h"

#include <inttypes.h>
#include <stdio.h>

#include "formats/blackhole/address_name.h"
#include "formats/blackhole/tile_map.h"

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

static struct nocap_stream_key make_key(enum nocap_stream_kind kind, uint16_t chip,
                                        struct nocap_xy at, uint64_t agent, uint64_t rest)
{
    return (struct nocap_stream_key){{(uint64_t)kind << KEY_KIND | (uint64_t)chip << KEY_CHIP |
                                          (uint64_t)at.x << KEY_X | (uint64_t)at.y << KEY_Y |
                                          agent << KEY_AGENT,
                                      rest}};
}

/* The key of the event's stream. The tile belongs to it where the agent sits in that tile. */
struct nocap_stream_key nocap_stream_key(const struct nocap_event *event)
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
        rest = event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_READ
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
    return make_key(kind, event->chip, at, agent, rest);
}

enum nocap_stream_kind nocap_stream_key_kind(const struct nocap_stream_key *key)
{
    return (enum nocap_stream_kind)(key->word[0] >> KEY_KIND);
}

/* ---- objects ---- */

enum { SYNC_OBJECTS = NOCAP_SYNC_BYTES };

/* Part `i` of the mailbox whose order of writes matters: first byte and size; false past the last.
 */
static bool object(const struct nocap_mailbox_layout *layout, unsigned i, uint64_t *first,
                   uint64_t *size)
{
    if (i < SYNC_OBJECTS) { /* each subordinate has its byte */
        *first = layout->sync + i;
        *size = 1;
        return true;
    }
    i -= SYNC_OBJECTS;
    if (i < NOCAP_LAUNCH_SLOTS) {
        *first = nocap_launch_slot(layout, i);
        *size = layout->launch_size;
        return true;
    }
    i -= NOCAP_LAUNCH_SLOTS;
    *first = i < NOCAP_GO_WORDS ? nocap_go_word_address(layout, i) : layout->go_message_index;
    *size = NOCAP_GO_WORD_SIZE;
    return i <= NOCAP_GO_WORDS;
}

bool nocap_stream_object(const struct nocap_event *event, const struct nocap_mailbox_layout *layout,
                         unsigned *next, struct nocap_stream_key *key)
{
    uint64_t first, size;
    if (event->kind != NOCAP_EV_WRITE || event->space != NOCAP_SPACE_TILE ||
        (event->has & NOCAP_F_SIZE) == 0 || event->addr < NOCAP_MAILBOX_BASE ||
        event->addr >= NOCAP_L1_SIZE) {
        return false;
    }
    while (object(layout, *next, &first, &size)) {
        ++*next;
        if (event->addr < first + size && first < event->addr + event->size) {
            *key = make_key(NOCAP_STREAM_OBJECT, event->chip, event->at, 0, first);
            return true;
        }
    }
    return false;
}

/* ---- names ---- */

static unsigned byte_at(uint64_t key, unsigned place)
{
    return (unsigned)(key >> place) & 0xffu;
}

static void name_object(char *text, size_t size, const char *tile, struct nocap_xy at,
                        uint64_t addr, const struct nocap_mailbox_layout *layout)
{
    char name[NOCAP_ADDRESS_NAME_MAX];
    uint64_t first = 0, bytes = 0;
    for (unsigned i = 0; first != addr && object(layout, i, &first, &bytes); i++) {
    }
    const struct nocap_address address = {.space = NOCAP_SPACE_TILE,
                                          .at = at,
                                          .layout = layout,
                                          .by = NOCAP_BY_HOST,
                                          .addr = addr,
                                          .width = bytes};
    snprintf(text, size, "%s%s", tile, nocap_address_name(&address, name, sizeof name));
}

void nocap_stream_key_name(char *text, size_t size, const struct nocap_stream_key *stream,
                           const struct nocap_mailbox_layout *layout)
{
    uint64_t key = stream->word[0], rest = stream->word[1];
    unsigned agent = byte_at(key, KEY_AGENT), chip = (unsigned)(key >> KEY_CHIP) & 0xffffu;
    struct nocap_xy at = {(uint8_t)byte_at(key, KEY_X), (uint8_t)byte_at(key, KEY_Y)};
    char tile[32] = "", from[32] = "";
    if (at.x != 0 || at.y != 0) {
        snprintf(tile, sizeof tile, "core %u,%u ", at.x, at.y);
    }
    if (byte_at(rest, KEY_FROM_X) != 0 || byte_at(rest, KEY_FROM_Y) != 0) {
        snprintf(from, sizeof from, " from %u,%u", byte_at(rest, KEY_FROM_X),
                 byte_at(rest, KEY_FROM_Y));
    }
    int used = chip == 0 ? 0 : snprintf(text, size, "chip %u ", chip);
    text += used;
    size -= (size_t)used;
    switch (nocap_stream_key_kind(stream)) {
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
    case NOCAP_STREAM_OBJECT: name_object(text, size, tile, at, rest, layout); break;
    default:
        snprintf(text, size, "%s%s %s", tile, nocap_agent_name(agent),
                 nocap_kind_name(byte_at(rest, KEY_OP)));
        break;
    }
}

/* ---- table ---- */

enum nocap_status nocap_stream_find(struct nocap_stream_table *table,
                                    const struct nocap_stream_key *key, size_t *number,
                                    struct nocap_error *err)
{
    const struct nocap_stream_key *row = MAP_GET(table, key, NOCAP_STREAMS_MAX);
    RETURN_ERROR_IF(row == NULL && table->count == NOCAP_STREAMS_MAX, err, NOCAP_E_MEMORY,
                    "more than %d agents to compare: compare a smaller trace", NOCAP_STREAMS_MAX);
    RETURN_ERROR_IF(row == NULL, err, NOCAP_E_MEMORY, "out of memory");
    *number = (size_t)(row - table->rows);
    return NOCAP_OK;
}
