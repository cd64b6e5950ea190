/* SPDX-License-Identifier: Apache-2.0 */
/* The event model in memory: what crossed the control plane, one struct an event, no allocation. The struct and its
 * numbers are public, include/nocap/event.h; here are their names and tables. Meaning of every kind and field:
 * docs/events.md. */
#ifndef NOCAP_TRACE_EVENT_H
#define NOCAP_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <nocap/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name tables, in the order of the numbers. The names are those of JSON Lines. */
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

#define X(name, text) NOCAP_K_##name = 1 << NOCAP_EV_##name,
enum nocap_kind_set { NOCAP_KINDS(X) NOCAP_K_ALL = (1 << NOCAP_EV_COUNT) - 1 };
#undef X

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

/* What it was before these bytes. */
static inline uint64_t nocap_fnv1a64_before(uint64_t hash, const void *data, uint64_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    while (size-- > 0) {
        hash = (hash * UINT64_C(0xCE965057AFF6957B)) ^ bytes[size];
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

/* nocap_event_problem says whether an event is well formed by itself; nocap_header_event_problem (header.h) judges an
 * event of a trace, whose header says which agents there are. */

/* The word that an access or a request of 4 bytes has, as a number or as bytes. */
static inline bool nocap_event_word(const struct nocap_event *e, uint32_t *word)
{
    if ((e->has & NOCAP_F_VALUE) != 0) {
        *word = (uint32_t)e->value;
        return true;
    }
    if ((e->has & NOCAP_F_DATA) == 0 || e->data_size != sizeof *word) {
        return false;
    }
    memcpy(word, e->data, sizeof *word); /* little-endian, as the machines that nocap runs on */
    return true;
}

/* The reverse of nocap_event_number; the bit in `has` is the caller's. */
void nocap_event_set_number(struct nocap_event *event, enum nocap_field field, uint64_t v);

#ifdef __cplusplus
}
#endif

#endif
