/* SPDX-License-Identifier: Apache-2.0 */
/* The event model in memory: what crossed the control plane, one struct an event, no allocation.
 * Meaning of every kind and field: docs/events.md. Times in the header's unit, sizes in bytes, addresses as the
 * agent saw them. */
#ifndef NOCAP_TRACE_EVENT_H
#define NOCAP_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name tables: first member 0. The names are those of JSON Lines. */
#define NOCAP_KINDS(X)                                                                                          \
    X(WRITE, "write") X(READ, "read") X(NOC, "noc") X(TENSIX, "tensix") X(KERNEL, "kernel") X(RESET, "reset")   \
    X(CQ, "cq") X(CERT, "cert") X(MEM, "mem") X(NOTE, "note") X(DROP, "drop")                                   \
    /* not of this version, or not well formed: `data` holds the JSON text as it stood */                       \
    X(UNKNOWN, "unknown") X(MALFORMED, "malformed")

#define NOCAP_OPS(X)                                                                                            \
    X(NONE, "") X(READ, "read") X(WRITE, "write") X(INLINE, "inline") X(ATOMIC, "atomic")                       \
    X(PUSH, "push") X(ISSUE, "issue") X(STALL, "stall") X(RETIRE, "retire") X(UNIT, "unit") X(SRC, "src")       \
    X(ENTER, "enter") X(EXIT, "exit") X(RUN, "run") X(HALT, "halt")                                             \
    X(RECORD, "record") X(FETCH, "fetch") X(LANDED, "landed") X(RELAY, "relay") X(EXEC, "exec")                 \
    X(DONE, "done") X(CREDIT, "credit")                                                                         \
    X(START, "start") X(END, "end") X(BLOCK, "block") X(UNBLOCK, "unblock") X(JOB_END, "job-end")               \
    X(PAGE_LOAD, "page-load") X(EOF, "eof") X(TCT, "tct") X(DMA_DONE, "dma-done")

#define NOCAP_AGENTS(X)                                                                                         \
    X(NONE, "") X(HOST, "host") X(BRISC, "brisc") X(NCRISC, "ncrisc") X(TRISC0, "trisc0")                       \
    X(TRISC1, "trisc1") X(TRISC2, "trisc2") X(NOC, "noc") X(DMA, "dma") X(PREFETCH, "prefetch")                 \
    X(DISPATCH, "dispatch")
#define NOCAP_BY_UC0 32u /* AIE control processor n is NOCAP_BY_UC0 + n, "uc<n>", n < 224 */

#define NOCAP_SPACES(X) \
    X(TILE, "tile") X(SYSMEM, "sysmem") X(BAR0, "bar0") X(BAR2, "bar2") X(BAR4, "bar4") X(AIE, "aie")
#define NOCAP_ORDERS(X) X(RELAXED, "relaxed") X(STRICT, "strict") X(POSTED, "posted")
#define NOCAP_MAPS(X) X(UC, "uc") X(WC, "wc")
#define NOCAP_PHASES(X) X(ISSUE, "issue") X(SENT, "sent") X(DONE, "done")
#define NOCAP_UNITS(X)                                                                                          \
    X(THCON, "thcon") X(UNPACK0, "unpack0") X(UNPACK1, "unpack1") X(PACK, "pack") X(FPU, "fpu") X(SFPU, "sfpu") \
    X(MOVER, "mover") X(CFG, "cfg") X(TRISC_CFG, "trisc_cfg")
#define NOCAP_BANKS(X) X(A, "a") X(B, "b")
#define NOCAP_SIDES(X) X(UNPACK, "unpack") X(MATH, "math")
#define NOCAP_OWNERS(X) X(UNPACKERS, "unpackers") X(MATRIX, "matrix")
#define NOCAP_WHYS(X) \
    X(DMA, "dma") X(TCT, "tct") X(LOCAL, "local") X(REMOTE, "remote") X(POLL, "poll") X(QUEUE, "queue")

#define NOCAP_ENUM_(prefix, name) prefix##name
#define X(name, text) NOCAP_EV_##name,
enum nocap_kind { NOCAP_KINDS(X) NOCAP_EV_COUNT };
#undef X
#define X(name, text) NOCAP_K_##name = 1 << NOCAP_EV_##name,
enum nocap_kind_set { NOCAP_KINDS(X) NOCAP_K_ALL = (1 << NOCAP_EV_COUNT) - 1 };
#undef X
#define X(name, text) NOCAP_OP_##name,
enum nocap_op { NOCAP_OPS(X) NOCAP_OP_COUNT };
#undef X
#define X(name, text) NOCAP_BY_##name,
enum nocap_agent { NOCAP_AGENTS(X) NOCAP_BY_COUNT };
#undef X
#define X(name, text) NOCAP_SPACE_##name,
enum nocap_space { NOCAP_SPACES(X) NOCAP_SPACE_COUNT };
#undef X
#define X(name, text) NOCAP_ORDER_##name,
enum nocap_order { NOCAP_ORDERS(X) NOCAP_ORDER_COUNT };
#undef X
#define X(name, text) NOCAP_MAP_##name,
enum nocap_map { NOCAP_MAPS(X) NOCAP_MAP_COUNT };
#undef X
#define X(name, text) NOCAP_PHASE_##name,
enum nocap_phase { NOCAP_PHASES(X) NOCAP_PHASE_COUNT };
#undef X
#define X(name, text) NOCAP_UNIT_##name,
enum nocap_unit { NOCAP_UNITS(X) NOCAP_UNIT_COUNT };
#undef X
#define X(name, text) NOCAP_BANK_##name,
enum nocap_bank { NOCAP_BANKS(X) NOCAP_BANK_COUNT };
#undef X
#define X(name, text) NOCAP_SIDE_##name,
enum nocap_side { NOCAP_SIDES(X) NOCAP_SIDE_COUNT };
#undef X
#define X(name, text) NOCAP_OWNER_##name,
enum nocap_owner { NOCAP_OWNERS(X) NOCAP_OWNER_COUNT };
#undef X
#define X(name, text) NOCAP_WHY_##name,
enum nocap_why { NOCAP_WHYS(X) NOCAP_WHY_COUNT };
#undef X
#undef NOCAP_ENUM_

/* Bits of nocap_event.has, in the order of fields.def. */
#define FIELD(NAME, key, kinds, type, member, home) NOCAP_FIELD_##NAME,
enum nocap_field {
#include "formats/trace/fields.def"
    NOCAP_FIELD_COUNT
};
#undef FIELD
#define FIELD(NAME, key, kinds, type, member, home) \
    static const uint64_t NOCAP_F_##NAME __attribute__((unused)) = UINT64_C(1) << NOCAP_FIELD_##NAME;
#include "formats/trace/fields.def"
#undef FIELD

struct nocap_xy {
    uint8_t x, y;
};

#define NOCAP_SLOTS 12 /* 64-bit fields that a block may hold as columns */

/* One event. Fields whose bit in `has` is clear are 0 (so: space TILE, phase ISSUE). Members of one union never
 * belong to the same kind. */
struct nocap_event {
    uint64_t index; /* position after the header, from 0 */
    uint64_t t;
    uint64_t has; /* NOCAP_F_* */
    union {
        uint64_t slot[NOCAP_SLOTS];
        struct {
            uint64_t seq;
            uint64_t addr;
            uint64_t size;
            uint64_t value; /* value, word, kernel's ret, drop's count; little-endian */
            union { uint64_t pc, saddr, page, slot_index; };
            union { uint64_t n, daddr, off, entry; };
            union { uint64_t t2, raddr, job; };
            union { uint64_t hash, id, handle; };
            union { uint64_t sem, ctrl, tile; }; /* sem: eight values of 8 bits, semaphore 0 lowest; cq: the id */
            union { uint64_t len_be, actor; };
            uint64_t at_data;
            uint64_t tag;
        };
    };
    const uint8_t *data;  /* data, insn, text or head; the JSON text of UNKNOWN and MALFORMED; not terminated */
    const char *extra;    /* keys that this version does not know, as JSON members: "k":1,"l":[2] */
    uint32_t data_size;   /* bytes */
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
};

/* FNV-1a, 64 bits: what `hash` means. Start with NOCAP_FNV1A64_START. */
#define NOCAP_FNV1A64_START UINT64_C(0xCBF29CE484222325)
static inline uint64_t nocap_fnv1a64(uint64_t hash, const void *data, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    for (uint64_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    }
    return hash;
}

/* Names, as in JSON Lines; "?" out of range. Agents "uc<n>" come from a static table. */
const char *nocap_kind_name(unsigned kind);
const char *nocap_op_name(unsigned op);
const char *nocap_agent_name(unsigned agent);
const char *nocap_space_name(unsigned space);
/* Name of value `v` of an enum-typed field, NULL if it has none. */
const char *nocap_field_value_name(enum nocap_field field, unsigned v);

/* The reverse; -1 if unknown. `length` bytes, not terminated. */
int nocap_kind_from_name(const char *name, unsigned length);
int nocap_op_from_name(const char *name, unsigned length);
int nocap_agent_from_name(const char *name, unsigned length);
int nocap_field_value_from_name(enum nocap_field field, const char *name, unsigned length);

/* Which ops an event kind has, as a bit set over enum nocap_op; 0: the kind has none. */
uint64_t nocap_kind_ops(enum nocap_kind kind);

enum nocap_field_type {
    NOCAP_T_DEC, NOCAP_T_HEX, NOCAP_T_BOOL, NOCAP_T_PAIR, NOCAP_T_XY, NOCAP_T_BYTES, NOCAP_T_TEXT, NOCAP_T_HASH,
    NOCAP_T_SEM, NOCAP_T_AGENT, NOCAP_T_SPACE, NOCAP_T_ORDER, NOCAP_T_MAP, NOCAP_T_PHASE, NOCAP_T_UNIT,
    NOCAP_T_BANK, NOCAP_T_SIDE, NOCAP_T_OWNER, NOCAP_T_WHY,
};
enum nocap_field_home { NOCAP_HOME_PLACE, NOCAP_HOME_SHAPE, NOCAP_HOME_COLUMN, NOCAP_HOME_VALUES, NOCAP_HOME_PAYLOAD };

struct nocap_field_info {
    const char *key;
    uint32_t kinds; /* NOCAP_K_* */
    uint16_t offset, width; /* of the member in struct nocap_event, bytes */
    uint8_t type, home;
};
extern const struct nocap_field_info nocap_fields[NOCAP_FIELD_COUNT];

/* Fields of `kind`, as NOCAP_F_* bits. */
uint64_t nocap_kind_fields(enum nocap_kind kind);

/* NULL if the event has every field that its kind needs and none out of range, else why not. The text is static.
 * nocap_header_event_problem (header.h) judges an event of a trace, whose header says which agents there are. */
const char *nocap_event_problem(const struct nocap_event *event);

/* Any numeric field by table: used by dump filters. A place is x + 256 * y; fields of bytes or text give 0. */
uint64_t nocap_event_number(const struct nocap_event *event, enum nocap_field field);
void nocap_event_set_number(struct nocap_event *event, enum nocap_field field, uint64_t v);

#ifdef __cplusplus
}
#endif

#endif
