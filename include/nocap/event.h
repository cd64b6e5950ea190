/* SPDX-License-Identifier: Apache-2.0 */
/* One event: what crossed the control plane. Meaning of every kind and field: docs/events.md. Times
 * in the header's unit, sizes in bytes, addresses as the agent saw them. */
#ifndef NOCAP_EVENT_H
#define NOCAP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <nocap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened. UNKNOWN: an event of a later version, MALFORMED: a line that is no event; the data
 * of both hold the text as it stood. */
enum nocap_kind {
    NOCAP_EV_WRITE = 0,
    NOCAP_EV_READ = 1,
    NOCAP_EV_NOC = 2,
    NOCAP_EV_TENSIX = 3,
    NOCAP_EV_KERNEL = 4,
    NOCAP_EV_RESET = 5,
    NOCAP_EV_CQ = 6,
    NOCAP_EV_CERT = 7,
    NOCAP_EV_MEM = 8,
    NOCAP_EV_NOTE = 9,
    NOCAP_EV_DROP = 10,
    NOCAP_EV_UNKNOWN = 11,
    NOCAP_EV_MALFORMED = 12,
    NOCAP_EV_COUNT = 13
};

/* What of it: noc; tensix; kernel; reset; cq; cert. */
enum nocap_op {
    NOCAP_OP_NONE = 0,
    NOCAP_OP_READ = 1,
    NOCAP_OP_WRITE = 2,
    NOCAP_OP_INLINE = 3,
    NOCAP_OP_ATOMIC = 4,
    NOCAP_OP_PUSH = 5,
    NOCAP_OP_ISSUE = 6,
    NOCAP_OP_STALL = 7,
    NOCAP_OP_RETIRE = 8,
    NOCAP_OP_UNIT = 9,
    NOCAP_OP_SRC = 10,
    NOCAP_OP_ENTER = 11,
    NOCAP_OP_EXIT = 12,
    NOCAP_OP_RUN = 13,
    NOCAP_OP_HALT = 14,
    NOCAP_OP_RECORD = 15,
    NOCAP_OP_FETCH = 16,
    NOCAP_OP_LANDED = 17,
    NOCAP_OP_RELAY = 18,
    NOCAP_OP_EXEC = 19,
    NOCAP_OP_DONE = 20,
    NOCAP_OP_CREDIT = 21,
    NOCAP_OP_START = 22,
    NOCAP_OP_END = 23,
    NOCAP_OP_BLOCK = 24,
    NOCAP_OP_UNBLOCK = 25,
    NOCAP_OP_JOB_END = 26,
    NOCAP_OP_PAGE_LOAD = 27,
    NOCAP_OP_EOF = 28,
    NOCAP_OP_TCT = 29,
    NOCAP_OP_DMA_DONE = 30,
    NOCAP_OP_COUNT = 31
};

/* Who. */
enum nocap_agent {
    NOCAP_BY_NONE = 0,
    NOCAP_BY_HOST = 1,
    NOCAP_BY_BRISC = 2,
    NOCAP_BY_NCRISC = 3,
    NOCAP_BY_TRISC0 = 4,
    NOCAP_BY_TRISC1 = 5,
    NOCAP_BY_TRISC2 = 6,
    NOCAP_BY_NOC = 7,
    NOCAP_BY_DMA = 8,
    NOCAP_BY_PREFETCH = 9,
    NOCAP_BY_DISPATCH = 10,
    NOCAP_BY_COUNT = 11
};
/* AIE control processor n is NOCAP_BY_UC0 + n, "uc<n>", n < 224. */
#define NOCAP_BY_UC0 32u

/* Which addresses. */
enum nocap_space {
    NOCAP_SPACE_TILE = 0,
    NOCAP_SPACE_SYSMEM = 1,
    NOCAP_SPACE_BAR0 = 2,
    NOCAP_SPACE_BAR2 = 3,
    NOCAP_SPACE_BAR4 = 4,
    NOCAP_SPACE_AIE = 5,
    NOCAP_SPACE_COUNT = 6
};

/* Of the host's TLB window: how it orders. */
enum nocap_order {
    NOCAP_ORDER_RELAXED = 0,
    NOCAP_ORDER_STRICT = 1,
    NOCAP_ORDER_POSTED = 2,
    NOCAP_ORDER_COUNT = 3
};

/* .. and how the host maps it: uncached, or write-combined. */
enum nocap_map { NOCAP_MAP_UC = 0, NOCAP_MAP_WC = 1, NOCAP_MAP_COUNT = 2 };

/* Of a NOC request. */
enum nocap_phase {
    NOCAP_PHASE_ISSUE = 0,
    NOCAP_PHASE_SENT = 1,
    NOCAP_PHASE_DONE = 2,
    NOCAP_PHASE_COUNT = 3
};

/* Of the coprocessor. */
enum nocap_unit {
    NOCAP_UNIT_THCON = 0,
    NOCAP_UNIT_UNPACK0 = 1,
    NOCAP_UNIT_UNPACK1 = 2,
    NOCAP_UNIT_PACK = 3,
    NOCAP_UNIT_FPU = 4,
    NOCAP_UNIT_SFPU = 5,
    NOCAP_UNIT_MOVER = 6,
    NOCAP_UNIT_CFG = 7,
    NOCAP_UNIT_TRISC_CFG = 8,
    NOCAP_UNIT_COUNT = 9
};

/* Of the coprocessor's source registers .. */
enum nocap_bank { NOCAP_BANK_A = 0, NOCAP_BANK_B = 1, NOCAP_BANK_COUNT = 2 };

/* .. who gives one away .. */
enum nocap_side { NOCAP_SIDE_UNPACK = 0, NOCAP_SIDE_MATH = 1, NOCAP_SIDE_COUNT = 2 };

/* .. and who has it then. */
enum nocap_owner { NOCAP_OWNER_UNPACKERS = 0, NOCAP_OWNER_MATRIX = 1, NOCAP_OWNER_COUNT = 2 };

/* Why AIE control code blocks. */
enum nocap_why {
    NOCAP_WHY_DMA = 0,
    NOCAP_WHY_TCT = 1,
    NOCAP_WHY_LOCAL = 2,
    NOCAP_WHY_REMOTE = 3,
    NOCAP_WHY_POLL = 4,
    NOCAP_WHY_QUEUE = 5,
    NOCAP_WHY_COUNT = 6
};

/* The fields of an event. */
enum nocap_field {
    NOCAP_FIELD_BY = 0,
    NOCAP_FIELD_SPACE = 1,
    NOCAP_FIELD_UC = 2,
    NOCAP_FIELD_AT = 3,
    NOCAP_FIELD_TO = 4,
    NOCAP_FIELD_NOC = 5,
    NOCAP_FIELD_BUF = 6,
    NOCAP_FIELD_PHASE = 7,
    NOCAP_FIELD_ID = 8,
    NOCAP_FIELD_POSTED = 9,
    NOCAP_FIELD_MCAST = 10,
    NOCAP_FIELD_LINKED = 11,
    NOCAP_FIELD_S = 12,
    NOCAP_FIELD_SADDR = 13,
    NOCAP_FIELD_D = 14,
    NOCAP_FIELD_DADDR = 15,
    NOCAP_FIELD_D2 = 16,
    NOCAP_FIELD_THREAD = 17,
    NOCAP_FIELD_WORD = 18,
    NOCAP_FIELD_SLOT = 19,
    NOCAP_FIELD_ENTRY = 20,
    NOCAP_FIELD_PAGE = 21,
    NOCAP_FIELD_OFF = 22,
    NOCAP_FIELD_JOB = 23,
    NOCAP_FIELD_ADDR = 24,
    NOCAP_FIELD_SIZE = 25,
    NOCAP_FIELD_VALUE = 26,
    NOCAP_FIELD_DATA = 27,
    NOCAP_FIELD_INSN = 28,
    NOCAP_FIELD_TEXT = 29,
    NOCAP_FIELD_HASH = 30,
    NOCAP_FIELD_HEAD = 31,
    NOCAP_FIELD_PC = 32,
    NOCAP_FIELD_EXIT_RET = 33,
    NOCAP_FIELD_ORDER = 34,
    NOCAP_FIELD_MAP = 35,
    NOCAP_FIELD_FROM = 36,
    NOCAP_FIELD_N = 37,
    NOCAP_FIELD_T2 = 38,
    NOCAP_FIELD_RET = 39,
    NOCAP_FIELD_RADDR = 40,
    NOCAP_FIELD_CTRL = 41,
    NOCAP_FIELD_LEN_BE = 42,
    NOCAP_FIELD_AT_DATA = 43,
    NOCAP_FIELD_TAG = 44,
    NOCAP_FIELD_VC = 45,
    NOCAP_FIELD_TRID = 46,
    NOCAP_FIELD_SEM = 47,
    NOCAP_FIELD_UNIT = 48,
    NOCAP_FIELD_BUSY = 49,
    NOCAP_FIELD_BANK = 50,
    NOCAP_FIELD_SIDE = 51,
    NOCAP_FIELD_OWNER = 52,
    NOCAP_FIELD_WHY = 53,
    NOCAP_FIELD_HANDLE = 54,
    NOCAP_FIELD_TILE = 55,
    NOCAP_FIELD_ACTOR = 56,
    NOCAP_FIELD_DROPPED = 57,
    NOCAP_FIELD_SEQ = 58,
    NOCAP_FIELD_SINCE = 59,
    NOCAP_FIELD_COUNT = 60
};

/* Bits of nocap_event.has. */
#define NOCAP_FIELD_BIT(field) ((uint64_t)1 << (field))
#define NOCAP_F_BY             NOCAP_FIELD_BIT(NOCAP_FIELD_BY)
#define NOCAP_F_SPACE          NOCAP_FIELD_BIT(NOCAP_FIELD_SPACE)
#define NOCAP_F_UC             NOCAP_FIELD_BIT(NOCAP_FIELD_UC)
#define NOCAP_F_AT             NOCAP_FIELD_BIT(NOCAP_FIELD_AT)
#define NOCAP_F_TO             NOCAP_FIELD_BIT(NOCAP_FIELD_TO)
#define NOCAP_F_NOC            NOCAP_FIELD_BIT(NOCAP_FIELD_NOC)
#define NOCAP_F_BUF            NOCAP_FIELD_BIT(NOCAP_FIELD_BUF)
#define NOCAP_F_PHASE          NOCAP_FIELD_BIT(NOCAP_FIELD_PHASE)
#define NOCAP_F_ID             NOCAP_FIELD_BIT(NOCAP_FIELD_ID)
#define NOCAP_F_POSTED         NOCAP_FIELD_BIT(NOCAP_FIELD_POSTED)
#define NOCAP_F_MCAST          NOCAP_FIELD_BIT(NOCAP_FIELD_MCAST)
#define NOCAP_F_LINKED         NOCAP_FIELD_BIT(NOCAP_FIELD_LINKED)
#define NOCAP_F_S              NOCAP_FIELD_BIT(NOCAP_FIELD_S)
#define NOCAP_F_SADDR          NOCAP_FIELD_BIT(NOCAP_FIELD_SADDR)
#define NOCAP_F_D              NOCAP_FIELD_BIT(NOCAP_FIELD_D)
#define NOCAP_F_DADDR          NOCAP_FIELD_BIT(NOCAP_FIELD_DADDR)
#define NOCAP_F_D2             NOCAP_FIELD_BIT(NOCAP_FIELD_D2)
#define NOCAP_F_THREAD         NOCAP_FIELD_BIT(NOCAP_FIELD_THREAD)
#define NOCAP_F_WORD           NOCAP_FIELD_BIT(NOCAP_FIELD_WORD)
#define NOCAP_F_SLOT           NOCAP_FIELD_BIT(NOCAP_FIELD_SLOT)
#define NOCAP_F_ENTRY          NOCAP_FIELD_BIT(NOCAP_FIELD_ENTRY)
#define NOCAP_F_PAGE           NOCAP_FIELD_BIT(NOCAP_FIELD_PAGE)
#define NOCAP_F_OFF            NOCAP_FIELD_BIT(NOCAP_FIELD_OFF)
#define NOCAP_F_JOB            NOCAP_FIELD_BIT(NOCAP_FIELD_JOB)
#define NOCAP_F_ADDR           NOCAP_FIELD_BIT(NOCAP_FIELD_ADDR)
#define NOCAP_F_SIZE           NOCAP_FIELD_BIT(NOCAP_FIELD_SIZE)
#define NOCAP_F_VALUE          NOCAP_FIELD_BIT(NOCAP_FIELD_VALUE)
#define NOCAP_F_DATA           NOCAP_FIELD_BIT(NOCAP_FIELD_DATA)
#define NOCAP_F_INSN           NOCAP_FIELD_BIT(NOCAP_FIELD_INSN)
#define NOCAP_F_TEXT           NOCAP_FIELD_BIT(NOCAP_FIELD_TEXT)
#define NOCAP_F_HASH           NOCAP_FIELD_BIT(NOCAP_FIELD_HASH)
#define NOCAP_F_HEAD           NOCAP_FIELD_BIT(NOCAP_FIELD_HEAD)
#define NOCAP_F_PC             NOCAP_FIELD_BIT(NOCAP_FIELD_PC)
#define NOCAP_F_EXIT_RET       NOCAP_FIELD_BIT(NOCAP_FIELD_EXIT_RET)
#define NOCAP_F_ORDER          NOCAP_FIELD_BIT(NOCAP_FIELD_ORDER)
#define NOCAP_F_MAP            NOCAP_FIELD_BIT(NOCAP_FIELD_MAP)
#define NOCAP_F_FROM           NOCAP_FIELD_BIT(NOCAP_FIELD_FROM)
#define NOCAP_F_N              NOCAP_FIELD_BIT(NOCAP_FIELD_N)
#define NOCAP_F_T2             NOCAP_FIELD_BIT(NOCAP_FIELD_T2)
#define NOCAP_F_RET            NOCAP_FIELD_BIT(NOCAP_FIELD_RET)
#define NOCAP_F_RADDR          NOCAP_FIELD_BIT(NOCAP_FIELD_RADDR)
#define NOCAP_F_CTRL           NOCAP_FIELD_BIT(NOCAP_FIELD_CTRL)
#define NOCAP_F_LEN_BE         NOCAP_FIELD_BIT(NOCAP_FIELD_LEN_BE)
#define NOCAP_F_AT_DATA        NOCAP_FIELD_BIT(NOCAP_FIELD_AT_DATA)
#define NOCAP_F_TAG            NOCAP_FIELD_BIT(NOCAP_FIELD_TAG)
#define NOCAP_F_VC             NOCAP_FIELD_BIT(NOCAP_FIELD_VC)
#define NOCAP_F_TRID           NOCAP_FIELD_BIT(NOCAP_FIELD_TRID)
#define NOCAP_F_SEM            NOCAP_FIELD_BIT(NOCAP_FIELD_SEM)
#define NOCAP_F_UNIT           NOCAP_FIELD_BIT(NOCAP_FIELD_UNIT)
#define NOCAP_F_BUSY           NOCAP_FIELD_BIT(NOCAP_FIELD_BUSY)
#define NOCAP_F_BANK           NOCAP_FIELD_BIT(NOCAP_FIELD_BANK)
#define NOCAP_F_SIDE           NOCAP_FIELD_BIT(NOCAP_FIELD_SIDE)
#define NOCAP_F_OWNER          NOCAP_FIELD_BIT(NOCAP_FIELD_OWNER)
#define NOCAP_F_WHY            NOCAP_FIELD_BIT(NOCAP_FIELD_WHY)
#define NOCAP_F_HANDLE         NOCAP_FIELD_BIT(NOCAP_FIELD_HANDLE)
#define NOCAP_F_TILE           NOCAP_FIELD_BIT(NOCAP_FIELD_TILE)
#define NOCAP_F_ACTOR          NOCAP_FIELD_BIT(NOCAP_FIELD_ACTOR)
#define NOCAP_F_DROPPED        NOCAP_FIELD_BIT(NOCAP_FIELD_DROPPED)
#define NOCAP_F_SEQ            NOCAP_FIELD_BIT(NOCAP_FIELD_SEQ)
#define NOCAP_F_SINCE          NOCAP_FIELD_BIT(NOCAP_FIELD_SINCE)

/* A place: never grows. */
struct nocap_xy {
    uint8_t x, y;
};

#define NOCAP_SLOTS 12

/* One event. Fields whose bit in `has` is clear are 0 (so: space TILE, phase ISSUE). Members of one
 * union never belong to the same kind. Begin with nocap_event_of. */
struct nocap_event {
    size_t struct_size; /* sizeof(struct nocap_event) */
    uint64_t index;     /* position after the header, from 0 */
    uint64_t t;
    uint64_t has; /* NOCAP_F_* */
    __extension__ union {
        uint64_t slot[NOCAP_SLOTS]; /* the numbers below, in their order */
        __extension__ struct {
            uint64_t seq;
            uint64_t addr;
            uint64_t size;
            uint64_t value; /* value, word, kernel's ret, drop's count; little-endian */
            __extension__ union {
                uint64_t pc, saddr, page, slot_index;
            };
            __extension__ union {
                uint64_t n, daddr, off, entry;
            };
            __extension__ union {
                uint64_t t2, raddr, job, since;
            };
            __extension__ union {
                uint64_t hash, id, handle;
            };
            __extension__ union {
                uint64_t sem, ctrl, tile; /* sem: eight values of 8 bits, semaphore 0 lowest; cq:
                                             the id */
            };
            __extension__ union {
                uint64_t len_be, actor;
            };
            uint64_t at_data;
            uint64_t tag;
        };
    };
    const uint8_t *data; /* data, insn, text or head; the text of UNKNOWN and MALFORMED; not
                            terminated */
    const char *extra;   /* keys that this version does not know, as JSON members: "k":1,"l":[2] */
    uint32_t data_size;  /* bytes */
    uint32_t extra_size;
    /* place */
    uint32_t src;
    uint16_t chip;
    struct nocap_xy at, to;
    /* what */
    uint8_t kind, op, by, space;
    uint8_t noc, buf, phase, posted;
    uint8_t mcast, linked, thread, vc;
    uint8_t trid, order, map, unit;
    uint8_t busy, bank, side, owner;
    uint8_t why, uc;
    struct nocap_xy s, d, d2, ret; /* source (or `from`), destination, its other corner, return */
    /* Given by a reader: its events of one number have the same `has` and are equal from `kind` to
     * `uc`; 0: no number. Whoever changes these of an event that was read sets it to 0. */
    uint16_t shape;
};
enum { NOCAP_SHAPES = 1024 }; /* the highest number */

/* An event of this kind without fields: all zero. */
static inline struct nocap_event nocap_event_of(enum nocap_kind kind)
{
    struct nocap_event event;
    memset(&event, 0, sizeof event);
    event.struct_size = sizeof event;
    event.kind = (uint8_t)kind;
    return event;
}

/* NULL if the event has every field that its kind needs and none out of range, else why not, a
 * static text. */
NOCAP_API const char *nocap_event_problem(const struct nocap_event *event);

/* A numeric field, and whether the event has it is the caller's to ask. A place is x + 256 * y;
 * fields of bytes or text give 0. */
NOCAP_API uint64_t nocap_event_number(const struct nocap_event *event, enum nocap_field field);
/* Sets it, and its bit in `has`; nothing for a field of bytes or text. */
NOCAP_API void nocap_event_set(struct nocap_event *event, enum nocap_field field, uint64_t value);

/* The event as a line of JSON Lines, without a newline. What snprintf returns: the length, of
 * which at most size - 1 characters and a terminator were written. Negative: out of memory. */
NOCAP_API int nocap_event_json(const struct nocap_event *event, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
