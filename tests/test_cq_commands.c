/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the command queue: what the tables say, decoded, encoded, measured and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/cq_commands.h"

static void headers_survive_encoding(void **state)
{
    (void)state;
    for (unsigned side = NOCAP_CQ_PREFETCH; side <= NOCAP_CQ_DISPATCH; side++) {
        for (unsigned id = 0; id < 32; id++) {
            uint8_t bytes[NOCAP_CQ_HEADER_MAX] = {(uint8_t)id}, back[NOCAP_CQ_HEADER_MAX];
            struct nocap_cq_command c;
            if (nocap_command_set_default.ids[side][id] == 0) {
                continue;
            }
            for (unsigned i = 1; i < sizeof bytes; i++) {
                bytes[i] = (uint8_t)(0x11 * i);
            }
            assert_true(
                nocap_cq_decode_by(NULL, (enum nocap_cq_side)side, bytes, sizeof bytes, &c));
            assert_int_equal(c.id, id);
            size_t size = nocap_cq_encode(&c, back);
            assert_int_equal(size, nocap_command_set_default.forms[side][id].header);
            assert_true(nocap_cq_padding_zero(&c, back));
            struct nocap_cq_command again;
            assert_true(nocap_cq_decode_by(NULL, (enum nocap_cq_side)side, back, size, &again));
            assert_memory_equal(&c, &again, sizeof c);
        }
    }
}

static void unaligned_fields_are_found(void **state)
{
    (void)state;
    static const uint8_t go[16] = {0x0E, 0x00, 0x0E, 0x03, 0x80, 0xFF, 0x76, 0x01,
                                   0x02, 0,    0,    0,    0x30, 0,    0,    0};
    struct nocap_cq_command c;
    assert_true(nocap_cq_decode_by(NULL, NOCAP_CQ_DISPATCH, go, sizeof go, &c));
    assert_int_equal(c.id, NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL);
    assert_int_equal(c.go_signal, 0x80030E00);
    assert_int_equal(c.multicast_go_offset, NOCAP_CQ_NO_MCAST_GO);
    assert_int_equal(c.num_unicast_txns, 118);
    assert_int_equal(c.noc_data_start_index, 1);
    assert_int_equal(c.wait_count, 2);
    assert_int_equal(c.wait_stream, 48);
    uint8_t linear[32] = {1};
    linear[15] = 0x44; /* of a 32-byte header */
    assert_false(nocap_cq_decode_by(NULL, NOCAP_CQ_PREFETCH, linear, 31, &c));
    assert_true(nocap_cq_decode_by(NULL, NOCAP_CQ_PREFETCH, linear, 32, &c));
    assert_int_equal(c.addr, 0x44);
}

static void padding_is_what_no_field_covers(void **state)
{
    (void)state;
    uint8_t wait[16] = {NOCAP_CQ_DISPATCH_WAIT, 0x18, 48, 0, 0xFF, 0xFF, 0xFF, 0xFF, 4};
    struct nocap_cq_command c;
    assert_true(nocap_cq_decode_by(NULL, NOCAP_CQ_DISPATCH, wait, sizeof wait, &c));
    assert_true(nocap_cq_padding_zero(&c, wait));
    wait[12] = 1;
    assert_false(nocap_cq_padding_zero(&c, wait));
}

static uint64_t consumed(const struct nocap_cq_command *c, const uint8_t *bytes, size_t size)
{
    uint64_t n = 0;
    assert_true(nocap_cq_consumed(c, bytes, size, &n));
    return n;
}

/* Figures of the fact sheet, section 4.3. */
static void commands_are_measured(void **state)
{
    (void)state;
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH, .id = NOCAP_CQ_DISPATCH_WRITE_PACKED};
    c.count = 118;
    c.size = 128;
    assert_int_equal(consumed(&c, NULL, 0), 15600);
    c.flags = NOCAP_CQ_PACKED_FLAG_NO_STRIDE; /* the payload is not stepped over */
    assert_int_equal(consumed(&c, NULL, 0), 496);
    c = (struct nocap_cq_command){.side = NOCAP_CQ_DISPATCH,
                                  .id = NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA,
                                  .num_words = 118};
    assert_int_equal(consumed(&c, NULL, 0), 496);
    c = (struct nocap_cq_command){
        .side = NOCAP_CQ_DISPATCH, .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST, .length = 32};
    assert_int_equal(consumed(&c, NULL, 0), 32);
    c.id = NOCAP_CQ_DISPATCH_SINK;
    uint64_t n;
    assert_false(nocap_cq_consumed(&c, NULL, 0, &n));
}

static void large_writes_need_their_sub_commands(void **state)
{
    (void)state;
    uint8_t bytes[64] = {0};
    struct nocap_cq_command c = {.side = NOCAP_CQ_DISPATCH,
                                 .id = NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE,
                                 .count = 3,
                                 .alignment = 16};
    struct nocap_cq_command sub = {.side = NOCAP_CQ_SUB,
                                   .id = NOCAP_CQ_SUB_PACKED_LARGE,
                                   .noc_xy = 0x2C7081,
                                   .addr = 0x370,
                                   .length_minus1 = 3,
                                   .num_mcast_dests = 70,
                                   .flags = NOCAP_CQ_LARGE_FLAG_UNLINK};
    nocap_cq_encode(&c, bytes);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(nocap_cq_encode(&sub, bytes + 16 + 12 * i), 12);
    }
    assert_int_equal(consumed(&c, bytes, sizeof bytes), 112); /* 64 + three times 16 */
    uint64_t n;
    assert_false(nocap_cq_consumed(&c, bytes, 40, &n));
    struct nocap_cq_subs subs;
    struct nocap_cq_command back;
    assert_true(nocap_cq_subs(&c, &subs));
    assert_true(nocap_cq_sub(&subs, 2, bytes, sizeof bytes, &back));
    assert_memory_equal(&back, &sub, sizeof sub);
    assert_false(nocap_cq_sub(&subs, 3, bytes, sizeof bytes, &back));
}

/* The prefetch header of a record that relays `length` bytes. */
static void put_relay(size_t length, uint8_t *bytes)
{
    struct nocap_cq_command c = {.side = NOCAP_CQ_PREFETCH,
                                 .id = NOCAP_CQ_PREFETCH_RELAY_INLINE,
                                 .length = length,
                                 .stride = nocap_cq_align(length + NOCAP_CQ_HEADER, 64)};
    assert_int_equal(nocap_cq_encode(&c, bytes), NOCAP_CQ_HEADER);
}

static void records_are_trees(void **state)
{
    (void)state;
    uint8_t bytes[64] = {0};
    struct nocap_cq_record r;
    put_relay(16, bytes);
    bytes[16] = NOCAP_CQ_DISPATCH_WAIT;
    bytes[17] = NOCAP_CQ_WAIT_BARRIER;
    assert_true(nocap_cq_decode_record_by(NULL, bytes, sizeof bytes, &r));
    assert_true(r.has_dispatch);
    assert_int_equal(r.consumed, 64);
    assert_int_equal(r.inner_size, 16);
    assert_int_equal(r.dispatch.flags, NOCAP_CQ_WAIT_BARRIER);
    assert_true(nocap_cq_decode_record_by(NULL, bytes, 20, &r)); /* captured in part */
    assert_false(r.has_dispatch);
    assert_false(nocap_cq_decode_record_by(NULL, bytes, 0, &r));
    char text[NOCAP_CQ_TEXT_MAX], small[12];
    assert_string_equal(
        nocap_cq_text(NULL, NOCAP_CQ_PREFETCH, bytes, sizeof bytes, text, sizeof text),
        "RELAY_INLINE[WAIT barrier]");
    assert_string_equal(
        nocap_cq_text(NULL, NOCAP_CQ_PREFETCH, bytes, sizeof bytes, small, sizeof small),
        "RELAY_INLIN");
}

/* A record that relays one command with the bytes after its header. */
static void assert_text(struct nocap_cq_command c, const void *tail, size_t tail_size,
                        const char *text)
{
    uint8_t bytes[512] = {0};
    char buffer[NOCAP_CQ_TEXT_MAX];
    uint8_t *inner = bytes + NOCAP_CQ_HEADER;
    c.side = NOCAP_CQ_DISPATCH;
    size_t header = nocap_cq_encode(&c, inner);
    if (tail_size > 0) {
        memcpy(inner + header, tail, tail_size);
    }
    put_relay(header + tail_size, bytes);
    assert_string_equal(
        nocap_cq_text(NULL, NOCAP_CQ_PREFETCH, bytes, sizeof bytes, buffer, sizeof buffer), text);
}

static void records_are_printed_for_people(void **state)
{
    (void)state;
    static const uint32_t two[] = {0x81, 0xC1}, event[4] = {0x1234};
    uint8_t large[16];
    struct nocap_cq_command sub = {.side = NOCAP_CQ_SUB,
                                   .id = NOCAP_CQ_SUB_PACKED_LARGE,
                                   .noc_xy = 0x2C7081,
                                   .addr = 0x8710,
                                   .length_minus1 = 1023,
                                   .num_mcast_dests = 70};
    nocap_cq_encode(&sub, large);
    assert_text(
        (struct nocap_cq_command){
            .id = NOCAP_CQ_DISPATCH_WRITE_PACKED, .count = 2, .size = 96, .addr = 0x70},
        two, sizeof two, "RELAY_INLINE[WRITE_PACKED 2x96B -> 0x70 of 1,2 ..]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE,
                                          .count = 1,
                                          .alignment = 16},
                large, 12, "RELAY_INLINE[WRITE_PACKED_LARGE 1x1024B -> 0x8710 of 1,2..7,11]");
    assert_text(
        (struct nocap_cq_command){
            .id = NOCAP_CQ_DISPATCH_WRITE_LINEAR, .noc_xy = 0x81, .addr = 0x37000, .length = 2221},
        NULL, 0, "RELAY_INLINE[WRITE_LINEAR 2221B -> 0x37000 of 1,2]");
    assert_text(
        (struct nocap_cq_command){
            .id = NOCAP_CQ_DISPATCH_WAIT, .flags = 0x18, .stream = 48, .count = 118},
        NULL, 0, "RELAY_INLINE[WAIT stream 48 >= 118, clear stream 48]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_WAIT, .flags = 0x20}, NULL, 0,
                "RELAY_INLINE[WAIT flags 0x20]");
    assert_text(
        (struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_SET_GO_SIGNAL_NOC_DATA, .num_words = 2},
        two, sizeof two, "RELAY_INLINE[SET_GO_SIGNAL_NOC_DATA 2 of 1,2 ..]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_SEND_GO_SIGNAL,
                                          .go_signal = 0x80030E00,
                                          .multicast_go_offset = 0xFF,
                                          .num_unicast_txns = 118,
                                          .wait_stream = 48},
                NULL, 0, "RELAY_INLINE[SEND_GO_SIGNAL 0x80030e00 to 118, stream 48 >= 0]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_TIMESTAMP,
                                          .noc_xy = 0x1000613,
                                          .addr = 0x46000100},
                NULL, 0, "RELAY_INLINE[TIMESTAMP -> 0x46000100 of the host]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_WRITE_LINEAR_H_HOST,
                                          .is_event = 1,
                                          .length = 32},
                event, sizeof event, "RELAY_INLINE[WRITE_LINEAR_H_HOST event 0x1234]");
    assert_text((struct nocap_cq_command){.id = NOCAP_CQ_DISPATCH_TERMINATE}, NULL, 0,
                "RELAY_INLINE[TERMINATE]");
}

static void rectangles_are_those_of_noc_1(void **state)
{
    (void)state;
    static const struct {
        uint32_t word, area;
        struct nocap_cq_rect rect;
    } rows[] = {
        {0x2C7081, 70, {{1, 2}, {7, 11}}},
        {0x2CD08A, 40, {{10, 2}, {13, 11}}},
        {0x2D0110, 8, {{16, 4}, {16, 11}}},
    };
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(nocap_cq_rect_encode(rows[i].rect), rows[i].word);
        struct nocap_cq_rect r = nocap_cq_rect_decode(rows[i].word);
        assert_memory_equal(&r, &rows[i].rect, sizeof r);
        assert_int_equal(nocap_cq_rect_area(r), rows[i].area);
    }
    assert_int_equal(nocap_cq_rect_area((struct nocap_cq_rect){{7, 2}, {1, 3}}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_survive_encoding),
        cmocka_unit_test(unaligned_fields_are_found),
        cmocka_unit_test(padding_is_what_no_field_covers),
        cmocka_unit_test(commands_are_measured),
        cmocka_unit_test(large_writes_need_their_sub_commands),
        cmocka_unit_test(records_are_trees),
        cmocka_unit_test(records_are_printed_for_people),
        cmocka_unit_test(rectangles_are_those_of_noc_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
