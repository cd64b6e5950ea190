/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the fast-dispatch command queue: what their bytes mean, and back. Source:
 * cq_commands.def; command-queue fact sheet, sections 1 and 2. */
#ifndef NOCAP_BLACKHOLE_CQ_COMMANDS_H
#define NOCAP_BLACKHOLE_CQ_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/event.h"

enum nocap_cq_side { NOCAP_CQ_PREFETCH, NOCAP_CQ_DISPATCH, NOCAP_CQ_SUB };

/* NOCAP_CQ_PREFETCH_RELAY_INLINE, NOCAP_CQ_DISPATCH_WAIT, NOCAP_CQ_SUB_PACKED_LARGE .. = id. */
#define COMMAND(SIDE, NAME, id, header) NOCAP_CQ_##SIDE##_##NAME = (id),
enum nocap_cq_id {
#include "formats/blackhole/cq_commands.def"
};

/* The fields of a header, as wide as all commands together; what a command lacks is 0. */
#define MEMBER(member) uint64_t member;
struct nocap_cq_command {
    uint8_t side; /* enum nocap_cq_side */
    uint8_t id;   /* byte 0, known or not; of a sub-command enum nocap_cq_id */
#include "formats/blackhole/cq_commands.def"
};

enum nocap_cq_limits {
    NOCAP_CQ_HEADER = 16,          /* of every prefetch command that the host emits */
    NOCAP_CQ_HEADER_MAX = 32,      /* of any command */
    NOCAP_CQ_RECORD_ALIGN = 64,    /* PCIe reads */
    NOCAP_CQ_L1_ALIGN = 16,        /* payloads, fetch entries */
    NOCAP_CQ_ENTRY_UNIT = 16,      /* bytes that 1 in a slot of the prefetch queue stands for */
    NOCAP_CQ_ENTRY_STALL = 0x8000, /* EXEC_BUF flag of a slot */
    NOCAP_CQ_ENTRY_MAX = 0x40000,  /* bytes: the prefetcher's own buffer */
    NOCAP_CQ_ENTRY_LAST = 0x7FFF0, /* bytes: what an entry can say */
    NOCAP_CQ_PAGE = 4096,          /* of the dispatch buffer and of the completion queue */
    NOCAP_CQ_PACKED_UNICAST = 118, /* sub-commands that the dispatcher's cache holds */
    NOCAP_CQ_PACKED_MCAST = 59,
    NOCAP_CQ_PACKED_WORKERS = 138, /* of the largest board */
    NOCAP_CQ_PACKED_LARGE = 35,
    NOCAP_CQ_LARGE_CHUNK = 1024, /* bytes a destination, in the host's lowering */
    NOCAP_CQ_WRITE_OFFSETS = 4,
    NOCAP_CQ_GO_TABLE = 256, /* words of the go signal table */
    NOCAP_CQ_EVENT_BYTES = 32,
    NOCAP_CQ_WAIT_COUNT_MAX = 0xFFFF,
    NOCAP_CQ_NO_MCAST_GO = 0xFF,
    NOCAP_CQ_TYPE_BINARIES = 2, /* type of PACKED_LARGE as the host sends it */
};
/* flags of WRITE_PACKED */
enum { NOCAP_CQ_PACKED_FLAG_MCAST = 0x01, NOCAP_CQ_PACKED_FLAG_NO_STRIDE = 0x02 };
/* flags of a PACKED_LARGE sub-command */
enum { NOCAP_CQ_LARGE_FLAG_UNLINK = 0x01 };
/* flags of WAIT */
enum nocap_cq_wait {
    NOCAP_CQ_WAIT_BARRIER = 0x01,
    NOCAP_CQ_WAIT_NOTIFY_PREFETCH = 0x02,
    NOCAP_CQ_WAIT_MEMORY = 0x04,
    NOCAP_CQ_WAIT_STREAM = 0x08,
    NOCAP_CQ_WAIT_CLEAR_STREAM = 0x10,
    NOCAP_CQ_WAIT_ALL = 0x1F,
};

/* Name of a command, "RELAY_INLINE", "WAIT"; NULL for an id that has none. */
const char *nocap_cq_name(enum nocap_cq_side side, unsigned id);
/* Bytes of its header; NOCAP_CQ_HEADER for an id that has no name. */
uint32_t nocap_cq_header_size(enum nocap_cq_side side, unsigned id);

/* Decodes a header. Of a prefetch or dispatch command the id is byte 0; of a sub-command it must be
 * told. False if `size` is too small for it; an unknown id is decoded to its id alone. */
bool nocap_cq_decode(enum nocap_cq_side side, const uint8_t *bytes, size_t size,
                     struct nocap_cq_command *command);
bool nocap_cq_decode_sub(enum nocap_cq_id id, const uint8_t *bytes, size_t size,
                         struct nocap_cq_command *sub);
/* Writes the header, padding zero; returns its size. `bytes` has room for NOCAP_CQ_HEADER_MAX. */
size_t nocap_cq_encode(const struct nocap_cq_command *command, uint8_t *bytes);
/* The prefetch header of a record that relays `length` bytes; returns the record's stride. */
uint32_t nocap_cq_encode_relay_inline(uint32_t length, uint8_t *bytes);
/* Whether the bytes of a header that no field covers are zero. `bytes` holds the header. */
bool nocap_cq_padding_zero(const struct nocap_cq_command *command, const uint8_t *bytes);

/* Sub-commands of a dispatch or prefetch command: which, how many and where from its start. False:
 * it has none. */
struct nocap_cq_subs {
    enum nocap_cq_id id;
    uint32_t count, size, offset;
};
bool nocap_cq_subs(const struct nocap_cq_command *command, struct nocap_cq_subs *subs);
/* Sub-command `i` of the command at `bytes`, of which `size` bytes are known. */
bool nocap_cq_sub(const struct nocap_cq_subs *subs, uint32_t i, const uint8_t *bytes, size_t size,
                  struct nocap_cq_command *sub);

/* Offset of the payload from the start of a dispatch command. */
uint64_t nocap_cq_data_offset(const struct nocap_cq_command *command);
/* Bytes that the dispatcher steps over before it rounds up to a page. False if that is undefined
 * (unknown id), or depends on sub-commands beyond the `size` known bytes. */
bool nocap_cq_consumed(const struct nocap_cq_command *command, const uint8_t *bytes, size_t size,
                       uint64_t *consumed);

/* A record of the issue region as a tree: the prefetch command, and what it relays. */
struct nocap_cq_record {
    struct nocap_cq_command prefetch, dispatch;
    bool has_dispatch;    /* it relays a command, and that command's header is known */
    const uint8_t *inner; /* the dispatch command's bytes */
    size_t inner_size;    /* known bytes of it */
    uint64_t consumed;    /* by the prefetcher: distance to the next record; 0: undefined */
};
/* `size` known bytes, perhaps fewer than the record has. False if not even the header is there. */
bool nocap_cq_decode_record(const uint8_t *bytes, size_t size, struct nocap_cq_record *record);

/* Multicast rectangle as noc_xy of NOC 1: upper corner first. */
struct nocap_cq_rect {
    struct nocap_xy low, high;
};
uint32_t nocap_cq_rect_encode(struct nocap_cq_rect rect);
struct nocap_cq_rect nocap_cq_rect_decode(uint32_t noc_xy);
/* Tiles in it; 0 if the corners are the wrong way round. */
uint32_t nocap_cq_rect_area(struct nocap_cq_rect rect);

/* "WAIT flags 1 ..": the name, and the fields that are not 0. Returns the length of the text, which
 * is cut to fit `room` > 0 with its terminator. */
size_t nocap_cq_fields_text(const struct nocap_cq_command *command, char *buffer, size_t room);

/* cq_text.c: for people, "RELAY_INLINE[WRITE_PACKED 118x96B -> 0x70 of 1,2 ..]"; cut to fit `room`
 * > 0 with its terminator. Returns `buffer`. `side` says what the bytes are: a record (PREFETCH) or
 * a command in the dispatch buffer (DISPATCH). */
enum { NOCAP_CQ_TEXT_MAX = 512 };
char *nocap_cq_text(enum nocap_cq_side side, const uint8_t *bytes, size_t size, char *buffer,
                    size_t room);

static inline uint64_t nocap_cq_align(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

#endif
