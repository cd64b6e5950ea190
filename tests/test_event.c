/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the event model: names, fields, required fields and ranges; the header in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/event.h"
#include "formats/trace/header.h"

static void names_go_both_ways(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NOCAP_EV_COUNT; i++) {
        const char *name = nocap_kind_name(i);
        assert_int_equal(nocap_kind_from_name(name, (unsigned)strlen(name)), i);
    }
    for (unsigned i = NOCAP_OP_NONE + 1; i < NOCAP_OP_COUNT; i++) {
        const char *name = nocap_op_name(i);
        assert_int_equal(nocap_op_from_name(name, (unsigned)strlen(name)), i);
    }
    for (unsigned i = 1; i <= UINT8_MAX; i++) {
        bool known = i < NOCAP_BY_COUNT || i >= NOCAP_BY_UC0;
        const char *name = nocap_agent_name(i);
        assert_int_equal(nocap_agent_from_name(name, (unsigned)strlen(name)), known ? (int)i : -1);
        assert_int_equal(nocap_field_value_name(NOCAP_FIELD_BY, i) != NULL, known);
    }
    assert_string_equal(nocap_agent_name(NOCAP_BY_UC0), "uc0");
    assert_string_equal(nocap_agent_name(NOCAP_BY_UC0 + 123), "uc123");
    assert_string_equal(nocap_agent_name(UINT8_MAX), "uc223");
    for (unsigned i = 0; i < NOCAP_SPACE_COUNT; i++) {
        assert_string_equal(nocap_space_name(i), nocap_field_value_name(NOCAP_FIELD_SPACE, i));
    }
}

static void values_of_fields_have_names(void **state)
{
    (void)state;
    static const struct {
        enum nocap_field field;
        unsigned count;
    } named[] = {
        {NOCAP_FIELD_SPACE, NOCAP_SPACE_COUNT}, {NOCAP_FIELD_ORDER, NOCAP_ORDER_COUNT},
        {NOCAP_FIELD_MAP, NOCAP_MAP_COUNT},     {NOCAP_FIELD_PHASE, NOCAP_PHASE_COUNT},
        {NOCAP_FIELD_UNIT, NOCAP_UNIT_COUNT},   {NOCAP_FIELD_BANK, NOCAP_BANK_COUNT},
        {NOCAP_FIELD_SIDE, NOCAP_SIDE_COUNT},   {NOCAP_FIELD_OWNER, NOCAP_OWNER_COUNT},
        {NOCAP_FIELD_WHY, NOCAP_WHY_COUNT},
    };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        for (unsigned v = 0; v < named[i].count; v++) {
            const char *name = nocap_field_value_name(named[i].field, v);
            assert_non_null(name);
            assert_int_equal(
                nocap_field_value_from_name(named[i].field, name, (unsigned)strlen(name)), v);
        }
        assert_null(nocap_field_value_name(named[i].field, named[i].count));
    }
    assert_string_equal(nocap_field_value_name(NOCAP_FIELD_UNIT, NOCAP_UNIT_TRISC_CFG),
                        "trisc_cfg");
    assert_null(nocap_field_value_name(NOCAP_FIELD_ADDR, 0));
    assert_null(nocap_field_value_name(NOCAP_FIELD_COUNT, 0));
    assert_null(nocap_field_value_name(NOCAP_FIELD_BY, NOCAP_BY_NONE));
}

static void unknown_names_are_not_found(void **state)
{
    (void)state;
    static const char *const no_agents[] = {"",       "uc",     "uc224", "uc01", "uc1x",
                                            "uc1000", "brisc0", "bris",  "UC0"};
    for (size_t i = 0; i < sizeof no_agents / sizeof no_agents[0]; i++) {
        assert_int_equal(nocap_agent_from_name(no_agents[i], (unsigned)strlen(no_agents[i])), -1);
    }
    assert_int_equal(nocap_kind_from_name("", 0), -1);
    assert_int_equal(nocap_op_from_name("", 0), -1);
    assert_int_equal(nocap_kind_from_name("writer", 6), -1);
    assert_int_equal(nocap_kind_from_name("writer", 5), NOCAP_EV_WRITE);
    assert_int_equal(nocap_field_value_from_name(NOCAP_FIELD_ADDR, "tile", 4), -1);
    assert_int_equal(nocap_field_value_from_name(NOCAP_FIELD_COUNT, "tile", 4), -1);
    assert_string_equal(nocap_kind_name(NOCAP_EV_COUNT), "?");
    assert_string_equal(nocap_op_name(NOCAP_OP_COUNT), "?");
    assert_string_equal(nocap_agent_name(NOCAP_BY_COUNT), "?");
    assert_string_equal(nocap_space_name(NOCAP_SPACE_COUNT), "?");
}

static void kinds_have_their_fields(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < NOCAP_EV_COUNT; kind++) {
        uint64_t fields = nocap_kind_fields((enum nocap_kind)kind);
        for (unsigned i = 0; i < NOCAP_FIELD_COUNT; i++) {
            assert_int_equal(fields >> i & 1, nocap_fields[i].kinds >> kind & 1);
        }
    }
    assert_int_equal(nocap_kind_fields(NOCAP_EV_COUNT), 0);
    assert_int_equal(nocap_kind_ops(NOCAP_EV_COUNT), 0);
    assert_int_equal(nocap_kind_ops(NOCAP_EV_WRITE), 0);
    assert_true(nocap_kind_ops(NOCAP_EV_NOC) >> NOCAP_OP_ATOMIC & 1);
}

static bool is_payload(unsigned field)
{
    return nocap_fields[field].home == NOCAP_HOME_PAYLOAD;
}

/* Else one of them would be lost. */
static void fields_of_one_kind_share_neither_member_nor_key(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NOCAP_FIELD_COUNT; i++) {
        for (unsigned k = i + 1; k < NOCAP_FIELD_COUNT; k++) {
            const struct nocap_field_info *a = &nocap_fields[i], *b = &nocap_fields[k];
            if ((a->kinds & b->kinds) == 0) {
                continue;
            }
            bool apart = a->offset + a->width <= b->offset || b->offset + b->width <= a->offset;
            assert_true(apart || (is_payload(i) && is_payload(k)));
            assert_string_not_equal(a->key, b->key);
        }
    }
}

static void numbers_are_set_and_read_by_table(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NOCAP_FIELD_COUNT; i++) {
        struct nocap_event event = {0};
        nocap_event_set_number(&event, (enum nocap_field)i, UINT64_C(0xfedcba9876543210));
        uint64_t v = nocap_event_number(&event, (enum nocap_field)i);
        switch (nocap_fields[i].width) {
        case 1: assert_int_equal(v, 0x10); break;
        case 2: assert_int_equal(v, 0x3210); break;
        default: assert_true(v == (is_payload(i) ? 0 : UINT64_C(0xfedcba9876543210))); break;
        }
        assert_null(event.data);
    }
    struct nocap_event event = {.at = {.x = 3, .y = 4}, .value = 7};
    assert_int_equal(nocap_event_number(&event, NOCAP_FIELD_AT), 3 + 256 * 4);
    assert_int_equal(nocap_event_number(&event, NOCAP_FIELD_WORD), 7);
    assert_int_equal(nocap_event_number(&event, NOCAP_FIELD_COUNT), 0);
    nocap_event_set_number(&event, NOCAP_FIELD_COUNT, 1);
    nocap_event_set_number(&event, NOCAP_FIELD_D, 0x0102);
    assert_int_equal(event.d.x, 2);
    assert_int_equal(event.d.y, 1);
}

static const uint8_t bytes[16];

/* One event for each row of the table of required fields, with just these. */
static const struct sample {
    uint8_t kind, op;
    uint64_t required; /* in bits of NOCAP_FIELD_* */
} samples[] = {
#define F(name) (UINT64_C(1) << NOCAP_FIELD_##name)
    {NOCAP_EV_WRITE, NOCAP_OP_NONE, F(BY) | F(ADDR) | F(SIZE) | F(AT)},
    {NOCAP_EV_READ, NOCAP_OP_NONE, F(BY) | F(ADDR) | F(SIZE) | F(AT)},
    {NOCAP_EV_NOC, NOCAP_OP_READ, F(AT)},
    {NOCAP_EV_NOC, NOCAP_OP_WRITE, F(AT)},
    {NOCAP_EV_NOC, NOCAP_OP_INLINE, F(AT)},
    {NOCAP_EV_NOC, NOCAP_OP_ATOMIC, F(AT)},
    {NOCAP_EV_TENSIX, NOCAP_OP_PUSH, F(AT) | F(THREAD) | F(WORD)},
    {NOCAP_EV_TENSIX, NOCAP_OP_ISSUE, F(AT) | F(THREAD) | F(WORD)},
    {NOCAP_EV_TENSIX, NOCAP_OP_STALL, F(AT) | F(THREAD) | F(WORD)},
    {NOCAP_EV_TENSIX, NOCAP_OP_RETIRE, F(AT) | F(THREAD) | F(WORD)},
    {NOCAP_EV_TENSIX, NOCAP_OP_UNIT, F(AT) | F(THREAD) | F(UNIT) | F(BUSY)},
    {NOCAP_EV_TENSIX, NOCAP_OP_SRC, F(AT) | F(BANK) | F(SIDE) | F(OWNER)},
    {NOCAP_EV_KERNEL, NOCAP_OP_ENTER, F(AT) | F(BY)},
    {NOCAP_EV_KERNEL, NOCAP_OP_EXIT, F(AT) | F(BY)},
    {NOCAP_EV_RESET, NOCAP_OP_RUN, F(AT) | F(BY)},
    {NOCAP_EV_RESET, NOCAP_OP_HALT, F(AT) | F(BY)},
    {NOCAP_EV_CQ, NOCAP_OP_RECORD, F(SLOT) | F(ENTRY) | F(ADDR)},
    {NOCAP_EV_CQ, NOCAP_OP_FETCH, F(SLOT) | F(ADDR) | F(SIZE)},
    {NOCAP_EV_CQ, NOCAP_OP_LANDED, 0},
    {NOCAP_EV_CQ, NOCAP_OP_RELAY, F(ADDR) | F(SIZE)},
    {NOCAP_EV_CQ, NOCAP_OP_EXEC, F(ADDR)},
    {NOCAP_EV_CQ, NOCAP_OP_DONE, 0},
    {NOCAP_EV_CQ, NOCAP_OP_CREDIT, F(AT) | F(BY) | F(SEM) | F(VALUE)},
    {NOCAP_EV_CERT, NOCAP_OP_START, F(UC) | F(PAGE) | F(OFF) | F(INSN)},
    {NOCAP_EV_CERT, NOCAP_OP_END, F(UC) | F(PAGE) | F(OFF)},
    {NOCAP_EV_CERT, NOCAP_OP_BLOCK, F(UC) | F(PAGE) | F(OFF) | F(WHY)},
    {NOCAP_EV_CERT, NOCAP_OP_UNBLOCK, F(UC) | F(PAGE) | F(OFF)},
    {NOCAP_EV_CERT, NOCAP_OP_JOB_END, F(UC) | F(JOB)},
    {NOCAP_EV_CERT, NOCAP_OP_PAGE_LOAD, F(UC) | F(PAGE)},
    {NOCAP_EV_CERT, NOCAP_OP_EOF, F(UC)},
    {NOCAP_EV_CERT, NOCAP_OP_TCT, F(UC) | F(TILE) | F(ACTOR)},
    {NOCAP_EV_CERT, NOCAP_OP_DMA_DONE, F(UC) | F(HANDLE)},
    {NOCAP_EV_MEM, NOCAP_OP_NONE, F(ADDR) | F(DATA) | F(AT)},
    {NOCAP_EV_NOTE, NOCAP_OP_NONE, F(TEXT)},
    {NOCAP_EV_DROP, NOCAP_OP_NONE, F(DROPPED)},
};

static struct nocap_event make(const struct sample *sample)
{
    struct nocap_event event = {.kind = sample->kind, .op = sample->op, .has = sample->required};
    event.data = bytes;
    event.data_size = 4;
    event.by = sample->required & F(BY) ? NOCAP_BY_TRISC1 : NOCAP_BY_NONE;
    event.size = sample->required & F(SIZE) ? 4 : 0;
    return event;
}

static void every_op_has_a_sample(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < NOCAP_EV_UNKNOWN; kind++) {
        uint64_t ops = 0;
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
            ops |= samples[i].kind == kind ? UINT64_C(1) << samples[i].op : 0;
        }
        uint64_t expected = nocap_kind_ops((enum nocap_kind)kind);
        assert_int_equal(ops, expected != 0 ? expected : 1);
    }
}

static void a_missing_field_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct nocap_event event = make(&samples[i]);
        assert_null(nocap_event_problem(&event));
        for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
            if ((samples[i].required >> field & 1) == 0) {
                continue;
            }
            char expected[64];
            snprintf(expected, sizeof expected, "\"%s\" is missing", nocap_fields[field].key);
            event = make(&samples[i]);
            event.has &= ~(UINT64_C(1) << field);
            const char *problem = nocap_event_problem(&event);
            assert_non_null(problem);
            assert_string_equal(problem, expected);
        }
        event = make(&samples[i]);
        event.op = NOCAP_OP_NONE;
        bool has_ops = nocap_kind_ops((enum nocap_kind)event.kind) != 0;
        assert_int_equal(nocap_event_problem(&event) != NULL, has_ops);
        event.op = event.kind == NOCAP_EV_NOC ? NOCAP_OP_PUSH : NOCAP_OP_INLINE;
        assert_string_equal(nocap_event_problem(&event), "\"op\" is none of this kind of event");
    }
}

static void the_tile_is_needed_only_in_its_address_space(void **state)
{
    (void)state;
    struct nocap_event event = make(&samples[0]);
    event.has &= ~NOCAP_F_AT;
    assert_string_equal(nocap_event_problem(&event), "\"x,y\" is missing");
    event.has |= NOCAP_F_SPACE;
    event.space = NOCAP_SPACE_SYSMEM;
    assert_null(nocap_event_problem(&event));
}

/* What `change` does to a write of four bytes must be a problem with `text` in it. */
#define ASSERT_PROBLEM(sample, text, change)                                                       \
    do {                                                                                           \
        struct nocap_event e = make(&samples[sample]);                                             \
        change;                                                                                    \
        const char *problem = nocap_event_problem(&e);                                             \
        assert_non_null(problem);                                                                  \
        assert_non_null(strstr(problem, text));                                                    \
    } while (0)
#define ASSERT_FINE(sample, change)                                                                \
    do {                                                                                           \
        struct nocap_event e = make(&samples[sample]);                                             \
        change;                                                                                    \
        assert_null(nocap_event_problem(&e));                                                      \
    } while (0)

static void values_fit_their_size(void **state)
{
    (void)state;
    ASSERT_FINE(0, (e.has |= F(VALUE), e.value = UINT32_MAX));
    ASSERT_PROBLEM(0, "does not fit", (e.has |= F(VALUE), e.value = UINT64_C(1) << 32));
    ASSERT_FINE(0, (e.has |= F(VALUE), e.value = UINT64_MAX, e.size = 8));
    ASSERT_FINE(0, (e.has |= F(VALUE), e.value = 0xff, e.size = 1));
    ASSERT_PROBLEM(0, "does not fit", (e.has |= F(VALUE), e.value = 0x100, e.size = 1));
    ASSERT_PROBLEM(0, "1, 2, 4 or 8", (e.has |= F(VALUE), e.size = 3));
    ASSERT_PROBLEM(0, "\"size\" is 0", e.size = 0);
    ASSERT_FINE(0, e.has |= F(DATA));
    ASSERT_PROBLEM(0, "\"data\"", (e.has |= F(DATA), e.size = 5));
    ASSERT_PROBLEM(0, "\"data\"", (e.has |= F(DATA), e.size = 3));
    ASSERT_FINE(0, (e.has |= F(HEAD) | F(HASH), e.size = 4096));
    ASSERT_PROBLEM(0, "\"head\"", (e.has |= F(HEAD) | F(HASH), e.size = 3));
    ASSERT_PROBLEM(0, "exclude", e.has |= F(HEAD) | F(DATA));
}

static void the_dispatcher_shows_first_bytes(void **state)
{
    (void)state;
    struct nocap_event event = {.kind = NOCAP_EV_CQ, .op = NOCAP_OP_EXEC};
    event.has = NOCAP_F_ADDR | NOCAP_F_DATA | NOCAP_F_SIZE;
    event.data = bytes;
    event.data_size = sizeof bytes;
    event.size = 64;
    assert_null(nocap_event_problem(&event));
    event.size = 15;
    assert_non_null(nocap_event_problem(&event));
    event.has &= ~NOCAP_F_SIZE;
    event.size = 0;
    assert_null(nocap_event_problem(&event));
}

enum { NOC_READ = 2, TENSIX_PUSH = 6, KERNEL_ENTER = 12, CQ_RECORD = 16, CERT_START = 23 };

static void ranges_are_held(void **state)
{
    (void)state;
    ASSERT_PROBLEM(0, "\"by\" is no known agent", e.by = NOCAP_BY_NONE);
    ASSERT_PROBLEM(0, "\"by\" is no known agent", e.by = NOCAP_BY_UC0 - 1);
    ASSERT_FINE(0, e.by = UINT8_MAX);
    ASSERT_PROBLEM(KERNEL_ENTER, "no RISC", e.by = NOCAP_BY_HOST);
    ASSERT_PROBLEM(0, "\"space\"", (e.has |= F(SPACE), e.space = NOCAP_SPACE_COUNT));
    ASSERT_PROBLEM(0, "\"order\"", (e.has |= F(ORDER), e.order = NOCAP_ORDER_COUNT));
    ASSERT_PROBLEM(0, "\"map\"", (e.has |= F(MAP), e.map = NOCAP_MAP_COUNT));
    ASSERT_PROBLEM(0, "\"noc\"", (e.has |= F(NOC), e.noc = 2));
    ASSERT_PROBLEM(NOC_READ, "\"buf\"", (e.has |= F(BUF), e.buf = 4));
    ASSERT_PROBLEM(NOC_READ, "\"phase\"", (e.has |= F(PHASE), e.phase = NOCAP_PHASE_COUNT));
    ASSERT_PROBLEM(NOC_READ, "\"posted\"", (e.has |= F(POSTED), e.posted = 2));
    ASSERT_FINE(CERT_START, e.uc = 223);
    ASSERT_PROBLEM(CERT_START, "\"uc\"", e.uc = 224);
    ASSERT_PROBLEM(TENSIX_PUSH, "\"thread\"", e.thread = 3);
    ASSERT_PROBLEM(TENSIX_PUSH, "\"word\"", e.value = UINT64_C(1) << 32);
    ASSERT_FINE(TENSIX_PUSH, (e.has |= F(SEM), e.sem = UINT64_C(0x0F0F0F0F0F0F0F0F)));
    ASSERT_PROBLEM(TENSIX_PUSH, "\"sem\"", (e.has |= F(SEM), e.sem = UINT64_C(0x10) << 56));
    ASSERT_PROBLEM(TENSIX_PUSH, "does not belong", e.has |= F(ADDR));
    ASSERT_PROBLEM(CQ_RECORD, "\"entry\"", e.entry = UINT64_C(1) << 32);
    ASSERT_PROBLEM(1, "\"n\" is 0", e.has |= F(N));
    ASSERT_FINE(1, (e.has |= F(N) | F(T2), e.n = 1));
    ASSERT_PROBLEM(1, "\"t2\"", (e.has |= F(T2), e.t = 5, e.t2 = 4));
}

/* Which agents there are, the header says; a field that is not marked as present counts too. */
static void agents_belong_to_the_architecture(void **state)
{
    (void)state;
    static const struct {
        enum nocap_arch arch;
        unsigned agent;
        bool there;
    } rows[] = {
        {NOCAP_ARCH_BLACKHOLE, NOCAP_BY_HOST, true},
        {NOCAP_ARCH_BLACKHOLE, NOCAP_BY_TRISC2, true},
        {NOCAP_ARCH_BLACKHOLE, NOCAP_BY_UC0, false},
        {NOCAP_ARCH_BLACKHOLE, UINT8_MAX, false},
        {NOCAP_ARCH_WORMHOLE, NOCAP_BY_DISPATCH, true},
        {NOCAP_ARCH_WORMHOLE, NOCAP_BY_UC0 + 127, false},
        {NOCAP_ARCH_AIE2PS, NOCAP_BY_HOST, true},
        {NOCAP_ARCH_AIE2PS, UINT8_MAX, true},
        {NOCAP_ARCH_AIE2PS, NOCAP_BY_BRISC, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nocap_header header = {.arch = rows[i].arch};
        struct nocap_event event = make(&samples[0]);
        event.by = (uint8_t)rows[i].agent;
        const char *problem = nocap_header_event_problem(&header, &event);
        assert_int_equal(problem == NULL, rows[i].there);
        assert_true(rows[i].there || strstr(problem, "no agent of this architecture") != NULL);
    }
    struct nocap_header header = {.arch = NOCAP_ARCH_BLACKHOLE};
    struct nocap_event event = make(&samples[NOC_READ]);
    event.has &= ~F(BY);
    event.by = UINT8_MAX;
    assert_non_null(nocap_header_event_problem(&header, &event));
}

static void only_malformed_kinds_are_a_problem_as_such(void **state)
{
    (void)state;
    struct nocap_event event = {.kind = NOCAP_EV_UNKNOWN};
    assert_null(nocap_event_problem(&event));
    event.kind = NOCAP_EV_MALFORMED;
    assert_non_null(nocap_event_problem(&event));
    event.kind = NOCAP_EV_COUNT;
    assert_non_null(nocap_event_problem(&event));
}

static void header_names_go_both_ways(void **state)
{
    (void)state;
    for (unsigned i = 0; i < NOCAP_CLASS_COUNT; i++) {
        assert_int_equal(
            nocap_enum_value(NOCAP_ENUM_CLASS, nocap_class_name((enum nocap_class_bit)i)), i);
    }
    for (unsigned i = 0; i < NOCAP_ARCH_COUNT; i++) {
        assert_int_equal(nocap_arch_from_name(nocap_arch_name((enum nocap_arch)i)), i);
    }
    for (unsigned i = NOCAP_BOARD_P100; i < NOCAP_BOARD_COUNT; i++) {
        assert_int_equal(nocap_board_from_name(nocap_board_name((enum nocap_board)i)), i);
    }
    for (unsigned i = 0; i < NOCAP_TIME_UNIT_COUNT; i++) {
        assert_int_equal(nocap_time_unit_from_name(nocap_time_unit_name((enum nocap_time_unit)i)),
                         i);
    }
    assert_null(nocap_board_name(NOCAP_BOARD_UNKNOWN));
    assert_int_equal(nocap_enum_value(NOCAP_ENUM_CLASS, "cq-hos"), -1);
    assert_int_equal(nocap_board_from_name("p300"), -1);
}

static void observed_names_keep_their_order(void **state)
{
    (void)state;
    struct nocap_header header;
    nocap_header_init(&header);
    assert_null(nocap_header_observed(&header, 0));
    assert_int_equal(nocap_header_observe(&header, "noc", NULL), NOCAP_OK);
    assert_int_equal(nocap_header_observe(&header, "later-class", NULL), NOCAP_OK);
    assert_int_equal(nocap_header_observe(&header, "host-mmio", NULL), NOCAP_OK);
    assert_true(header.has_observes);
    assert_int_equal(header.observes, NOCAP_CLASS_NOC | NOCAP_CLASS_HOST_MMIO);
    header.observes |= NOCAP_CLASS_CQ | NOCAP_CLASS_RESET;
    static const char *const expected[] = {"noc", "later-class", "host-mmio", "reset", "cq"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(nocap_header_observed(&header, i), expected[i]);
    }
    assert_null(nocap_header_observed(&header, 5));
    assert_null(nocap_header_observed(&header, 100));
    nocap_header_free(&header);
}

static void a_copy_owns_what_it_has(void **state)
{
    (void)state;
    struct nocap_header header, copy;
    nocap_header_init(&header);
    header.layout = strdup("bh-launch96");
    header.producer = strdup("me");
    header.extra = strdup("\"k\":1");
    header.cq.present = true;
    header.cq.extra = strdup("\"l\":2");
    header.has_scope = true;
    header.scope = malloc(2 * sizeof *header.scope);
    assert_non_null(header.scope);
    header.scope[0] = (struct nocap_xy){1, 2};
    header.scope[1] = (struct nocap_xy){3, 4};
    header.scope_count = 2;
    header.has_firmware = true;
    header.firmware = malloc(sizeof *header.firmware);
    assert_non_null(header.firmware);
    header.firmware[0] = (struct nocap_firmware){strdup("brisc"), strdup("brisc.elf")};
    header.firmware_count = 1;
    assert_int_equal(nocap_header_observe(&header, "noc", NULL), NOCAP_OK);
    header.observes |= NOCAP_CLASS_CQ;
    assert_int_equal(nocap_header_copy(&copy, &header, NULL), NOCAP_OK);
    nocap_header_free(&header);
    assert_null(header.layout);
    assert_string_equal(copy.layout, "bh-launch96");
    assert_string_equal(copy.producer, "me");
    assert_string_equal(copy.extra, "\"k\":1");
    assert_string_equal(copy.cq.extra, "\"l\":2");
    assert_int_equal(copy.scope_count, 2);
    assert_string_equal(copy.firmware[0].core, "brisc");
    assert_string_equal(copy.firmware[0].path, "brisc.elf");
    assert_string_equal(nocap_header_observed(&copy, 0), "noc");
    assert_int_equal(copy.observes, NOCAP_CLASS_NOC | NOCAP_CLASS_CQ);
    assert_true(nocap_header_in_scope(&copy, (struct nocap_xy){3, 4}));
    assert_false(nocap_header_in_scope(&copy, (struct nocap_xy){4, 3}));
    copy.has_scope = false;
    assert_true(nocap_header_in_scope(&copy, (struct nocap_xy){4, 3}));
    nocap_header_free(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(values_of_fields_have_names),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(kinds_have_their_fields),
        cmocka_unit_test(fields_of_one_kind_share_neither_member_nor_key),
        cmocka_unit_test(numbers_are_set_and_read_by_table),
        cmocka_unit_test(every_op_has_a_sample),
        cmocka_unit_test(a_missing_field_is_named),
        cmocka_unit_test(the_tile_is_needed_only_in_its_address_space),
        cmocka_unit_test(values_fit_their_size),
        cmocka_unit_test(the_dispatcher_shows_first_bytes),
        cmocka_unit_test(ranges_are_held),
        cmocka_unit_test(agents_belong_to_the_architecture),
        cmocka_unit_test(only_malformed_kinds_are_a_problem_as_such),
        cmocka_unit_test(header_names_go_both_ways),
        cmocka_unit_test(observed_names_keep_their_order),
        cmocka_unit_test(a_copy_owns_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
