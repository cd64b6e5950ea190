/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the command queue, each with one thing wrong, or with all of it right at the limit: by
 * which rule each is found. */
#include "tests/temp_dir.h"

#include "checker/core/checker.h"
#include "formats/blackhole/cq_commands.h"
#include "formats/blackhole/cq_layout.h"

enum { BYTES = 4096 };

struct example {
    const char *rule; /* NULL: nothing is wrong */
    struct nocap_cq_command command;
    struct nocap_cq_command subs[3];
    uint32_t payload;
};

#define DISPATCH(NAME, ...)                                                                        \
    {                                                                                              \
        .side = NOCAP_CQ_DISPATCH, .id = NOCAP_CQ_DISPATCH_##NAME, __VA_ARGS__                     \
    }
#define LARGE(x0, y0, x1, y1, tiles, ...)                                                          \
    {                                                                                              \
        .side = NOCAP_CQ_SUB, .id = NOCAP_CQ_SUB_PACKED_LARGE,                                     \
        .noc_xy = (x1) << 12 | (y1) << 18 | (x0) | (y0) << 6, .num_mcast_dests = (tiles),          \
        .addr = 0x400, .length_minus1 = 15, __VA_ARGS__                                            \
    }
#define TILE(x, y)                                                                                 \
    {                                                                                              \
        .side = NOCAP_CQ_SUB, .id = NOCAP_CQ_SUB_GO_NOC_XY, .noc_xy = (x) | (y) << 6               \
    }
#define UNLINKS .flags = NOCAP_CQ_LARGE_FLAG_UNLINK

static const struct example examples[] = {
    /* lists of go words */
    {NULL, DISPATCH(SET_GO_SIGNAL_NOC_DATA, .num_words = 2), {TILE(1, 2), TILE(1, 3)}, 0},
    {"CQ-020", DISPATCH(SET_GO_SIGNAL_NOC_DATA, .num_words = 0), {{0}}, 0},
    {"CQ-020", DISPATCH(SET_GO_SIGNAL_NOC_DATA, .num_words = 2), {TILE(1, 2), TILE(1, 2)}, 0},
    {"CQ-020", DISPATCH(SET_GO_SIGNAL_NOC_DATA, .num_words = 2), {TILE(1, 2), TILE(8, 3)}, 0},
    {"CQ-020", DISPATCH(SET_GO_SIGNAL_NOC_DATA, .num_words = 1), {TILE(14, 2)}, 0},
    /* multicasts of several */
    {NULL,
     DISPATCH(WRITE_PACKED_LARGE, .count = 2, .alignment = 16),
     {LARGE(1, 2, 2, 3, 4, .flags = 0), LARGE(1, 2, 2, 3, 4, UNLINKS)},
     32},
    {"CQ-013",
     DISPATCH(WRITE_PACKED_LARGE, .count = 2, .alignment = 16),
     {LARGE(1, 2, 2, 3, 4, .flags = 0), LARGE(1, 2, 1, 3, 2, UNLINKS)},
     32},
    {"CQ-013",
     DISPATCH(WRITE_PACKED_LARGE, .count = 1, .alignment = 16),
     {LARGE(1, 2, 2, 3, 0, UNLINKS)},
     16},
    {"CQ-013",
     DISPATCH(WRITE_PACKED_LARGE, .count = 1, .alignment = 24),
     {LARGE(1, 2, 2, 3, 4, UNLINKS)},
     16},
    {"CQ-013", DISPATCH(WRITE_PACKED_LARGE, .count = 0, .alignment = 16), {{0}}, 0},
    {"CQ-014",
     DISPATCH(WRITE_PACKED_LARGE, .count = 1, .alignment = 16),
     {LARGE(1, 2, 8, 2, 8, UNLINKS)},
     16},
    {"CQ-014",
     DISPATCH(WRITE_LINEAR, .num_mcast_dests = 3, .noc_xy = 2 << 12 | 3 << 18 | 1 | 2 << 6,
              .addr = 0x400, .length = 16),
     {{0}},
     16},
    {"CQ-015",
     DISPATCH(WRITE_LINEAR, .noc_xy = 1 | 2 << 6, .addr = 0x404, .length = 16),
     {{0}},
     16},
    {NULL, DISPATCH(WRITE_LINEAR, .noc_xy = 1 | 2 << 6, .addr = 0x400, .length = 16), {{0}}, 16},
    {"CQ-016",
     DISPATCH(WRITE_LINEAR, .write_offset_index = 4, .noc_xy = 1 | 2 << 6, .addr = 0x400,
              .length = 16),
     {{0}},
     16},
    {"CQ-016", DISPATCH(SET_WRITE_OFFSET, .offset_count = 5), {{0}}, 20},
    /* what no command queue of this firmware sends */
    {"CQ-017", DISPATCH(WAIT, .flags = 0x18, .stream = 56), {{0}}, 0},
    {"CQ-018", DISPATCH(WAIT, .flags = NOCAP_CQ_WAIT_NOTIFY_PREFETCH), {{0}}, 0},
};

static size_t encode(const struct example *x, uint8_t *bytes)
{
    uint8_t *inner = bytes + NOCAP_CQ_HEADER;
    size_t size = nocap_cq_encode(&x->command, inner);
    for (unsigned i = 0; i < 3 && x->subs[i].side == NOCAP_CQ_SUB; i++) {
        size += nocap_cq_encode(&x->subs[i], inner + size);
    }
    if (nocap_cq_data_offset(&x->command) > size && x->command.offset_count == 0) {
        size = nocap_cq_data_offset(&x->command);
    }
    size += x->payload;
    struct nocap_cq_command relay = {.side = NOCAP_CQ_PREFETCH,
                                     .id = NOCAP_CQ_PREFETCH_RELAY_INLINE,
                                     .length = size,
                                     .stride = nocap_cq_align(size + NOCAP_CQ_HEADER, 64)};
    nocap_cq_encode(&relay, bytes);
    return relay.stride;
}

static struct nocap_report *check_record(const uint8_t *bytes, size_t size)
{
    struct nocap_report *report;
    struct nocap_error err;
    FILE *out = fopen("record.jsonl", "w");
    assert_non_null(out);
    fprintf(out,
            "{\"nocap\":1,\"arch\":\"blackhole\",\"board\":\"p100\",\"observes\":[\"cq-host\"]}\n"
            "{\"t\":1,\"ev\":\"cq\",\"op\":\"record\",\"slot\":0,\"addr\":\"0x100\",\"entry\":%zu,"
            "\"size\":%zu,\"data\":\"",
            size / NOCAP_CQ_ENTRY_UNIT, size);
    for (size_t i = 0; i < size; i++) {
        fprintf(out, "%02x", bytes[i]);
    }
    fprintf(out, "\"}\n");
    assert_int_equal(fclose(out), 0);
    assert_int_equal(nocap_check(&report, "record.jsonl", NULL, &err), NOCAP_OK);
    return report;
}

static void each_is_found_by_its_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        uint8_t bytes[BYTES] = {0};
        struct nocap_report *report = check_record(bytes, encode(&examples[i], bytes));
        const char *rule = examples[i].rule;
        if (report->finding_count != (rule != NULL) ||
            (rule != NULL && (int)report->findings[0].rule != nocap_rule_from_id(rule))) {
            (void)nocap_report_text(stderr, report, false, true, NULL);
            fail_msg("example %zu: %s alone is to be found", i, rule != NULL ? rule : "nothing");
        }
        nocap_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_by_its_rule),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
