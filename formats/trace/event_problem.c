/* SPDX-License-Identifier: Apache-2.0 */
/* What an event must have to be one (rule TRC-005): required fields and ranges, as tables. */
#include <stddef.h>
#include <string.h>

#include "formats/trace/header.h"

#define F(name) (UINT64_C(1) << NOCAP_FIELD_##name)

/* Required fields by kind and op. A kind without ops has its row under NONE. The tile is asked for
 * besides, where the address lies in the address space of one. */
static const uint64_t required[NOCAP_EV_COUNT][NOCAP_OP_COUNT] = {
    [NOCAP_EV_WRITE] = {[NOCAP_OP_NONE] = F(BY) | F(ADDR) | F(SIZE)},
    [NOCAP_EV_READ] = {[NOCAP_OP_NONE] = F(BY) | F(ADDR) | F(SIZE)},
    [NOCAP_EV_NOC] = {[NOCAP_OP_READ] = F(AT),
                      [NOCAP_OP_WRITE] = F(AT),
                      [NOCAP_OP_INLINE] = F(AT),
                      [NOCAP_OP_ATOMIC] = F(AT)},
    [NOCAP_EV_TENSIX] = {[NOCAP_OP_PUSH] = F(AT) | F(THREAD) | F(WORD),
                         [NOCAP_OP_ISSUE] = F(AT) | F(THREAD) | F(WORD),
                         [NOCAP_OP_STALL] = F(AT) | F(THREAD) | F(WORD),
                         [NOCAP_OP_RETIRE] = F(AT) | F(THREAD) | F(WORD),
                         [NOCAP_OP_UNIT] = F(AT) | F(THREAD) | F(UNIT) | F(BUSY),
                         [NOCAP_OP_SRC] = F(AT) | F(BANK) | F(SIDE) | F(OWNER)},
    [NOCAP_EV_KERNEL] = {[NOCAP_OP_ENTER] = F(AT) | F(BY), [NOCAP_OP_EXIT] = F(AT) | F(BY)},
    [NOCAP_EV_RESET] = {[NOCAP_OP_RUN] = F(AT) | F(BY), [NOCAP_OP_HALT] = F(AT) | F(BY)},
    [NOCAP_EV_CQ] = {[NOCAP_OP_RECORD] = F(SLOT) | F(ENTRY) | F(ADDR),
                     [NOCAP_OP_FETCH] = F(SLOT) | F(ADDR) | F(SIZE),
                     [NOCAP_OP_RELAY] = F(ADDR) | F(SIZE),
                     [NOCAP_OP_EXEC] = F(ADDR),
                     [NOCAP_OP_CREDIT] = F(AT) | F(BY) | F(SEM) | F(VALUE)},
    [NOCAP_EV_CERT] = {[NOCAP_OP_START] = F(UC) | F(PAGE) | F(OFF) | F(INSN),
                       [NOCAP_OP_END] = F(UC) | F(PAGE) | F(OFF),
                       [NOCAP_OP_BLOCK] = F(UC) | F(PAGE) | F(OFF) | F(WHY),
                       [NOCAP_OP_UNBLOCK] = F(UC) | F(PAGE) | F(OFF),
                       [NOCAP_OP_JOB_END] = F(UC) | F(JOB),
                       [NOCAP_OP_PAGE_LOAD] = F(UC) | F(PAGE),
                       [NOCAP_OP_EOF] = F(UC),
                       [NOCAP_OP_TCT] = F(UC) | F(TILE) | F(ACTOR),
                       [NOCAP_OP_DMA_DONE] = F(UC) | F(HANDLE)},
    [NOCAP_EV_MEM] = {[NOCAP_OP_NONE] = F(ADDR) | F(DATA)},
    [NOCAP_EV_NOTE] = {[NOCAP_OP_NONE] = F(TEXT)},
    [NOCAP_EV_DROP] = {[NOCAP_OP_NONE] = F(DROPPED)},
};

#define FIELD(NAME, key, kinds, type, member, home) [NOCAP_FIELD_##NAME] = "\"" key "\" is missing",
static const char *const missing[NOCAP_FIELD_COUNT] = {
#include "formats/trace/fields.def"
};
#undef FIELD

enum { UCS = UINT8_MAX + 1 - NOCAP_BY_UC0 };

/* Members of one byte that hold fewer values than a byte does. RANGE(member, below, problem) */
#define NAMED(RANGE, member, count) RANGE(member, count, "\"" #member "\" is no known name")
#define RANGES(RANGE)                                                                              \
    NAMED(RANGE, space, NOCAP_SPACE_COUNT)                                                         \
    NAMED(RANGE, order, NOCAP_ORDER_COUNT)                                                         \
    NAMED(RANGE, map, NOCAP_MAP_COUNT)                                                             \
    NAMED(RANGE, phase, NOCAP_PHASE_COUNT)                                                         \
    NAMED(RANGE, unit, NOCAP_UNIT_COUNT)                                                           \
    NAMED(RANGE, bank, NOCAP_BANK_COUNT)                                                           \
    NAMED(RANGE, side, NOCAP_SIDE_COUNT)                                                           \
    NAMED(RANGE, owner, NOCAP_OWNER_COUNT)                                                         \
    NAMED(RANGE, why, NOCAP_WHY_COUNT)                                                             \
    RANGE(noc, 2, "\"noc\" is neither 0 nor 1")                                                    \
    RANGE(uc, UCS, "\"uc\" is none of the AIE control processors 0 to 223")                        \
    RANGE(buf, 4, "\"buf\" is none of the command buffers 0 to 3")                                 \
    RANGE(thread, 3, "\"thread\" is none of 0 to 2")                                               \
    RANGE(posted, 2, "\"posted\" is neither true nor false")                                       \
    RANGE(mcast, 2, "\"mcast\" is neither true nor false")                                         \
    RANGE(linked, 2, "\"linked\" is neither true nor false")                                       \
    RANGE(busy, 2, "\"busy\" is neither true nor false")

/* Asked for every event, so without a branch for each. */
static bool in_ranges(const struct nocap_event *event)
{
#define IN(member, below, problem) &(event->member < (below))
    return true RANGES(IN);
#undef IN
}

static const char *member_problem(const struct nocap_event *event)
{
#define TELL(member, below, problem)                                                               \
    if (event->member >= (below)) {                                                                \
        return problem;                                                                            \
    }
    RANGES(TELL)
#undef TELL
    return NULL;
}

static bool is_agent(unsigned agent)
{
    return (agent > NOCAP_BY_NONE && agent < NOCAP_BY_COUNT) || agent >= NOCAP_BY_UC0;
}

static bool is_core(unsigned agent)
{
    return agent >= NOCAP_BY_BRISC && agent <= NOCAP_BY_TRISC2;
}

/* The fields are there: are these of sizes that fit each other? */
static const char *payload_problem(const struct nocap_event *event)
{
    bool sized = (event->has & F(SIZE)) != 0;
    if (sized && event->size == 0 && event->kind != NOCAP_EV_NOC) { /* there it is NOC-022 */
        return "\"size\" is 0";
    }
    if (sized && (event->has & F(ADDR)) && event->addr + (event->size - 1) < event->addr) {
        return "\"addr\" and \"size\" run past the last address";
    }
    if (sized && (event->has & F(VALUE))) {
        if (event->size != 1 && event->size != 2 && event->size != 4 && event->size != 8) {
            return "\"value\" has 1, 2, 4 or 8 bytes, not \"size\" many";
        }
        if (event->size < sizeof event->value && event->value >> (8 * event->size) != 0) {
            return "\"value\" does not fit into \"size\" bytes";
        }
    }
    if (sized && (event->has & F(DATA))) {
        /* A dispatcher shows the first bytes of the command that it starts. */
        bool first_bytes = event->op == NOCAP_OP_EXEC;
        if (event->data_size > event->size || (!first_bytes && event->data_size != event->size)) {
            return "\"data\" does not have \"size\" bytes";
        }
    }
    if (sized && (event->has & F(HEAD)) && event->data_size > event->size) {
        return "\"head\" has more than \"size\" bytes";
    }
    if ((event->has & F(DATA)) && (event->has & F(HEAD))) {
        return "\"data\" and \"head\" exclude each other";
    }
    return NULL;
}

static const char *range_problem(const struct nocap_event *event)
{
    if (!in_ranges(event)) {
        return member_problem(event);
    }
    if (event->has & F(BY)) {
        bool cores_only = event->kind == NOCAP_EV_KERNEL || event->kind == NOCAP_EV_RESET;
        if (!is_agent(event->by)) {
            return "\"by\" is no known agent";
        }
        if (cores_only && !is_core(event->by)) {
            return "\"by\" is no RISC of a worker core";
        }
    }
    return NULL;
}

/* Numbers that not every event of a shape has in range. */
static const char *number_problem(const struct nocap_event *event)
{
    if ((event->has & F(N)) && event->n == 0) {
        return "\"n\" is 0";
    }
    if ((event->has & F(T2)) && event->t2 < event->t) {
        return "\"t2\" is before \"t\"";
    }
    if ((event->has & F(SINCE)) && event->since > event->t) {
        return "\"since\" is after \"t\"";
    }
    if ((event->has & F(WORD)) && event->value > UINT32_MAX) {
        return "\"word\" is wider than 32 bits";
    }
    if ((event->has & F(ENTRY)) && event->entry > UINT32_MAX) {
        return "\"entry\" is wider than 32 bits";
    }
    bool semaphores = event->kind == NOCAP_EV_TENSIX && (event->has & F(SEM)) != 0;
    if (semaphores && (event->sem & UINT64_C(0xF0F0F0F0F0F0F0F0)) != 0) {
        return "\"sem\" has a value over 15";
    }
    return NULL;
}

/* Of the kind, the fields and the members of one byte: what events of one shape share. */
static const char *shape_problem(const struct nocap_event *event)
{
    if (event->kind >= NOCAP_EV_COUNT || event->kind == NOCAP_EV_MALFORMED) {
        return "the line is no well-formed event";
    }
    if (event->kind == NOCAP_EV_UNKNOWN) {
        return NULL;
    }
    uint64_t ops = nocap_kind_ops((enum nocap_kind)event->kind);
    if (ops != 0 && event->op == NOCAP_OP_NONE) {
        return "\"op\" is missing";
    }
    if (event->op >= NOCAP_OP_COUNT || ((ops | 1) >> event->op & 1) == 0) {
        return "\"op\" is none of this kind of event";
    }
    if (event->has & ~nocap_kind_fields((enum nocap_kind)event->kind)) {
        return "a field does not belong to this kind of event";
    }
    uint64_t lacks = required[event->kind][event->op];
    bool placed = event->kind == NOCAP_EV_WRITE || event->kind == NOCAP_EV_READ ||
                  event->kind == NOCAP_EV_MEM;
    if (placed && event->space == NOCAP_SPACE_TILE) {
        lacks |= F(AT);
    }
    lacks &= ~event->has;
    if (lacks != 0) {
        return missing[__builtin_ctzll(lacks)];
    }
    return range_problem(event);
}

/* What events of one shape share is right: are the numbers of this one? */
static const char *content_problem(const struct nocap_event *event)
{
    static const uint64_t ranged = F(N) | F(T2) | F(SINCE) | F(WORD) | F(ENTRY) | F(SEM);
    const char *problem = (event->has & ranged) != 0 ? number_problem(event) : NULL;
    return problem != NULL ? problem : payload_problem(event);
}

const char *nocap_event_problem(const struct nocap_event *event)
{
    const char *problem = shape_problem(event);
    return problem != NULL || event->kind == NOCAP_EV_UNKNOWN ? problem : content_problem(event);
}

/* Agents below NOCAP_BY_UC0 by architecture; control processors are those of AIE. */
#define AGENT(name) (UINT32_C(1) << NOCAP_BY_##name)
#define TENSIX_AGENTS                                                                              \
    (AGENT(NONE) | AGENT(HOST) | AGENT(BRISC) | AGENT(NCRISC) | AGENT(TRISC0) | AGENT(TRISC1) |    \
     AGENT(TRISC2) | AGENT(NOC) | AGENT(DMA) | AGENT(PREFETCH) | AGENT(DISPATCH))
static const uint32_t agents[NOCAP_ARCH_COUNT] = {
    [NOCAP_ARCH_BLACKHOLE] = TENSIX_AGENTS,
    [NOCAP_ARCH_WORMHOLE] = TENSIX_AGENTS,
    [NOCAP_ARCH_AIE2PS] = AGENT(NONE) | AGENT(HOST) | AGENT(NOC) | AGENT(DMA),
};
_Static_assert(NOCAP_BY_COUNT <= NOCAP_BY_UC0 && NOCAP_BY_UC0 == 32, "a set of agents has 32 bits");

static bool has_agent(enum nocap_arch arch, unsigned agent)
{
    return agent >= NOCAP_BY_UC0 ? arch == NOCAP_ARCH_AIE2PS : (agents[arch] >> agent & 1) != 0;
}

const char *nocap_header_event_problem(const struct nocap_header *header,
                                       const struct nocap_event *event)
{
    const char *problem = nocap_event_problem(event);
    if (problem == NULL && !has_agent(header->arch, event->by)) {
        return "\"by\" is no agent of this architecture";
    }
    return problem;
}

/* What of the numbers of a shape's events is to be judged. */
static uint8_t checks_of(uint64_t has)
{
    const bool sized = (has & F(SIZE)) != 0;
    const uint64_t others = F(N) | F(T2) | F(SINCE) | F(ENTRY) | F(SEM) | F(DATA) | F(HEAD);
    const unsigned checks = NOCAP_SHAPE_KNOWN | ((has & others) != 0 ? NOCAP_SHAPE_ALL : 0) |
                            ((has & F(WORD)) != 0 ? NOCAP_SHAPE_WORD : 0) |
                            (sized ? NOCAP_SHAPE_SIZED : 0) |
                            (sized && (has & F(ADDR)) != 0 ? NOCAP_SHAPE_ENDS : 0) |
                            (sized && (has & F(VALUE)) != 0 ? NOCAP_SHAPE_FITS : 0);
    return (uint8_t)checks;
}

bool nocap_shape_right(const struct nocap_event *e, unsigned checks)
{
    return checks != 0 && ((checks & NOCAP_SHAPE_WORD) == 0 || e->value <= UINT32_MAX) &&
           ((checks & NOCAP_SHAPE_FITS) == 0 || nocap_shape_fits(e)) &&
           ((checks & NOCAP_SHAPE_SIZED) == 0 || e->size != 0) &&
           ((checks & NOCAP_SHAPE_ENDS) == 0 || nocap_shape_ends(e)) &&
           ((checks & NOCAP_SHAPE_ALL) == 0 || content_problem(e) == NULL);
}

const char *nocap_shapes_problem(struct nocap_shapes *shapes, const struct nocap_header *header,
                                 const struct nocap_event *event)
{
    const char *problem = nocap_header_event_problem(header, event);
    bool usual = event->kind != NOCAP_EV_UNKNOWN && event->kind != NOCAP_EV_DROP;
    if (problem == NULL && usual && event->shape - 1u < NOCAP_SHAPES) {
        shapes->checks[event->shape] = checks_of(event->has);
    }
    return problem;
}
