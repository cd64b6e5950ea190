/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the fast-dispatch command queue: what their bytes mean, and back. Ids, flags and
 * members are those of cq_commands.def whatever runtime sent the bytes; a command set says where
 * that runtime puts them. Source: cq_commands.def; command-queue fact sheet, sections 1 and 2. */
#ifndef NOCAP_BLACKHOLE_CQ_COMMANDS_H
#define NOCAP_BLACKHOLE_CQ_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/event.h"

enum nocap_cq_side { NOCAP_CQ_PREFETCH, NOCAP_CQ_DISPATCH, NOCAP_CQ_SUB };

/* NOCAP_CQ_PREFETCH_RELAY_INLINE, NOCAP_CQ_DISPATCH_WAIT, NOCAP_CQ_SUB_PACKED_LARGE .. = id. */
#define COMMAND(SIDE, NAME, id, header) NOCAP_CQ_##SIDE##_##NAME = (id),
#define ELSEWHERE(SIDE, NAME, id)       NOCAP_CQ_##SIDE##_##NAME = (id),
enum nocap_cq_id {
#include "formats/blackhole/cq_commands.def"
    NOCAP_CQ_IDS = 24,     /* more than any of them */
    NOCAP_CQ_NO_ID = 0xFF, /* of a command that the command set does not have */
};

#define MEMBER(member) NOCAP_CQ_MEMBER_##member,
enum nocap_cq_member {
#include "formats/blackhole/cq_commands.def"
    NOCAP_CQ_MEMBERS
};

#define FLAG(SIDE, NAME, BIT, value)           NOCAP_CQ_FLAG_##SIDE##_##NAME##_##BIT,
#define FLAG_ELSEWHERE(SIDE, NAME, BIT, value) NOCAP_CQ_FLAG_##SIDE##_##NAME##_##BIT,
enum nocap_cq_flag {
#include "formats/blackhole/cq_commands.def"
    NOCAP_CQ_FLAGS
};

/* Where a command's header has a member. */
struct nocap_cq_field {
    uint8_t member;        /* enum nocap_cq_member */
    uint8_t offset, width; /* bytes; width 0: none, and none after it */
};
/* A command on the wire. */
enum { NOCAP_CQ_FORM_FIELDS = 8 };
struct nocap_cq_form {
    uint8_t header; /* bytes of it; 0: this command set has no such command */
    uint8_t wire;   /* byte 0; not of a sub-command */
    struct nocap_cq_field fields[NOCAP_CQ_FORM_FIELDS];
};
/* The commands of one runtime. nocap_command_set_index fills what the rest says. */
struct nocap_command_set {
    struct nocap_cq_form forms[NOCAP_CQ_SUB + 1][NOCAP_CQ_IDS]; /* by side and id */
    bool unhandled[NOCAP_CQ_SUB + 1][NOCAP_CQ_IDS]; /* no kernel has it: its effect is undefined */
    uint8_t flags[NOCAP_CQ_FLAGS];                  /* their bits on the wire; 0: none */
    uint8_t ids[NOCAP_CQ_DISPATCH + 1][256];        /* by side and byte 0: id + 1; 0: no command */
    bool other_flags[NOCAP_CQ_SUB + 1][NOCAP_CQ_IDS]; /* they are not those of cq_commands.def */
    bool multicasts_by_count; /* SEND_GO_SIGNAL says how many multicasts, not of which go word */
    bool whole_length; /* a sub-command of WRITE_PACKED_LARGE says its length, not that - 1 */
    bool adapts;       /* flags or lengths do */
};
/* That of the profile blackhole-py. */
extern const struct nocap_command_set nocap_command_set_default;
/* False if two commands have one byte 0, a field lies outside of its header, or two flags of a
 * command share a bit; `why` says which. */
bool nocap_command_set_index(struct nocap_command_set *set, char *why, size_t size);

/* Names for those who read and print command sets; NULL: there is none. */
const char *nocap_cq_member_name(unsigned member);
int nocap_cq_member_from_name(const char *name); /* -1: there is none */
struct nocap_cq_flag_info {
    uint8_t side, id;
    const char *name;
    uint16_t value; /* in the member `flags` */
};
extern const struct nocap_cq_flag_info nocap_cq_flags[NOCAP_CQ_FLAGS];
/* The bits of `flags` of a command that this set has. */
uint64_t nocap_cq_known_flags(const struct nocap_command_set *set, unsigned side, unsigned id);

/* The fields of a header, as wide as all commands together; what a command lacks is 0. */
#define MEMBER(member) uint64_t member;
struct nocap_cq_command {
    const struct nocap_command_set *set; /* NULL: nocap_command_set_default */
    uint8_t side;                        /* enum nocap_cq_side */
    uint8_t id;                          /* enum nocap_cq_id */
    uint8_t wire; /* byte 0, as decoded; encoded where `id` is NOCAP_CQ_NO_ID */
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
    NOCAP_CQ_LENGTH_ADJUST = 0x7FFF, /* of is_dram of RELAY_PAGED: bytes that the last page lacks */
    NOCAP_CQ_TYPE_BINARIES = 2,      /* type of PACKED_LARGE as the host sends it */
};
#define NOCAP_CQ_DISCARD                                                                           \
    UINT32_C(0xFFFFFFFF) /* address of a sub-command whose data goes nowhere                       \
                          */

/* `flags` of WRITE_PACKED, of a PACKED_LARGE sub-command, of WAIT */
#define FLAG(SIDE, NAME, BIT, value)           NOCAP_CQ_##SIDE##_##NAME##_##BIT = (value),
#define FLAG_ELSEWHERE(SIDE, NAME, BIT, value) NOCAP_CQ_##SIDE##_##NAME##_##BIT = (value),
enum nocap_cq_flag_value {
#include "formats/blackhole/cq_commands.def"
    NOCAP_CQ_PACKED_FLAG_MCAST = NOCAP_CQ_DISPATCH_WRITE_PACKED_MCAST,
    NOCAP_CQ_PACKED_FLAG_NO_STRIDE = NOCAP_CQ_DISPATCH_WRITE_PACKED_NO_STRIDE,
    NOCAP_CQ_LARGE_FLAG_UNLINK = NOCAP_CQ_SUB_PACKED_LARGE_UNLINK,
    NOCAP_CQ_WAIT_BARRIER = NOCAP_CQ_DISPATCH_WAIT_BARRIER,
    NOCAP_CQ_WAIT_NOTIFY_PREFETCH = NOCAP_CQ_DISPATCH_WAIT_NOTIFY_PREFETCH,
    NOCAP_CQ_WAIT_MEMORY = NOCAP_CQ_DISPATCH_WAIT_WAIT_MEMORY,
    NOCAP_CQ_WAIT_STREAM = NOCAP_CQ_DISPATCH_WAIT_WAIT_STREAM,
    NOCAP_CQ_WAIT_CLEAR_STREAM = NOCAP_CQ_DISPATCH_WAIT_CLEAR_STREAM,
    NOCAP_CQ_WAIT_ALL = 0x1F,
};

/* Name of a command, "RELAY_INLINE", "WAIT"; NULL for an id that has none. */
const char *nocap_cq_name(enum nocap_cq_side side, unsigned id);
/* The reverse; -1 if unknown. */
int nocap_cq_from_name(enum nocap_cq_side side, const char *name);

/* Decodes the header of a prefetch or dispatch command, by byte 0; the set NULL is
 * nocap_command_set_default. False if `size` is too small for it; of a command that the set does
 * not have only `wire` is decoded. */
bool nocap_cq_decode_by(const struct nocap_command_set *set, enum nocap_cq_side side,
                        const uint8_t *bytes, size_t size, struct nocap_cq_command *command);
/* Writes the header, padding zero; returns its size. `bytes` has room for NOCAP_CQ_HEADER_MAX. */
size_t nocap_cq_encode(const struct nocap_cq_command *command, uint8_t *bytes);
/* The first byte of a header that no field covers and that is not zero; -1: there is none. `bytes`
 * holds the header. */
int nocap_cq_padding_not_zero(const struct nocap_cq_command *command, const uint8_t *bytes);
bool nocap_cq_padding_zero(const struct nocap_cq_command *command, const uint8_t *bytes);

/* Sub-commands of a dispatch or prefetch command: which, how many and where from its start. False:
 * it has none. */
struct nocap_cq_subs {
    const struct nocap_command_set *set; /* as of the command */
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

/* Go words that a SEND_GO_SIGNAL multicasts. Where a runtime says how many these are, the table of
 * SET_GO_SIGNAL_NOC_DATA has two words for each before those of single tiles: a rectangle, and how
 * many tiles are in it. Elsewhere there is at most one, to the rectangle of all workers, which the
 * dispatcher knows. Source: cq_dispatch.cpp of tt-metal 2025-06. */
enum { NOCAP_CQ_MULTICAST_WORDS = 2 };
uint32_t nocap_cq_multicasts(const struct nocap_cq_command *command);
/* How many words of the table are theirs. */
uint32_t nocap_cq_multicast_words(const struct nocap_cq_command *command);

/* What the dispatcher gets of a prefetch command. */
enum nocap_cq_relay {
    NOCAP_CQ_RELAYS_NOTHING, /* the prefetcher executes it */
    NOCAP_CQ_RELAYS_BUFFER,  /* commands that lie elsewhere */
    NOCAP_CQ_RELAYS_WHOLE,   /* the command that stands after its header */
    NOCAP_CQ_RELAYS_HEAD,    /* the first bytes of a command, whose data follow */
    NOCAP_CQ_RELAYS_DATA,    /* these data */
};
enum nocap_cq_relay nocap_cq_relays(unsigned id);
/* Bytes that a command with NOCAP_CQ_RELAYS_DATA relays; `size` bytes from its header on are known.
 * False: they do not say. */
bool nocap_cq_data_length(const struct nocap_cq_command *command, const uint8_t *bytes, size_t size,
                          uint64_t *length);

/* A record of the issue region as a tree: the prefetch command, and what it relays. */
struct nocap_cq_record {
    struct nocap_cq_command prefetch, dispatch;
    bool has_dispatch;    /* it relays a command, and that command's header is known */
    const uint8_t *inner; /* the dispatch command's bytes */
    size_t inner_size;    /* known bytes of it */
    uint64_t consumed;    /* by the prefetcher: distance to the next record; 0: undefined */
};
/* `size` known bytes, perhaps fewer than the record has. False if not even the header is there. */
bool nocap_cq_decode_record_by(const struct nocap_command_set *set, const uint8_t *bytes,
                               size_t size, struct nocap_cq_record *record);

/* Multicast rectangle as noc_xy of NOC 1: upper corner first. */
struct nocap_cq_rect {
    struct nocap_xy low, high;
};
/* A single tile is a rectangle without its second corner. */
static inline bool nocap_cq_is_rect(uint64_t noc_xy)
{
    return noc_xy >> 12 != 0;
}
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
char *nocap_cq_text(const struct nocap_command_set *set, enum nocap_cq_side side,
                    const uint8_t *bytes, size_t size, char *buffer, size_t room);

static inline uint64_t nocap_cq_align(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

#endif
