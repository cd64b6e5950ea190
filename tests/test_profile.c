/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: the default is what the tables say, every shipped one survives its JSON, the same
 * command means the same in each, and what makes no sense is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/cq_layout.h"
#include "formats/profile/profile.h"

static struct nocap_profile shipped(const char *name)
{
    struct nocap_profile p;
    struct nocap_error err = {{0}};
    if (nocap_profile_find(&p, name, &err) != NOCAP_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    return p;
}

static void default_is_what_the_tables_say(void **state)
{
    (void)state;
    const struct nocap_profile *p = nocap_profile_default();
    const struct nocap_mailbox_layout *a = nocap_layout_find(NULL);
    assert_string_equal(p->name, nocap_profile_name(0));
    assert_string_equal(p->mailbox.name, a->name);
    assert_int_equal(p->mailbox.go_messages, a->go_messages);
    assert_memory_equal(p->mailbox.fields, a->fields, sizeof a->fields);
    assert_int_equal(p->queue.queue, NOCAP_CQ_QUEUE);
    assert_int_equal(p->queue.entry_bytes, 2);
    assert_int_equal(p->queue.sysmem, NOCAP_CQ_SYSMEM_BASE);
    assert_int_equal(p->queue.semaphores, 16);
    assert_null(nocap_profile_mailbox_problem(&p->mailbox));
    /* the tables that follow from a set, as they were written down */
    struct nocap_command_set set = p->commands;
    char why[160];
    assert_true(nocap_command_set_index(&set, why, sizeof why));
    assert_memory_equal(&set, &nocap_command_set_default, sizeof set);
}

static void shipped_ones_survive_their_json(void **state)
{
    (void)state;
    size_t count = 0;
    for (; nocap_profile_name(count) != NULL; count++) {
        struct nocap_profile p = shipped(nocap_profile_name(count)), back;
        struct nocap_profile_value a, b;
        struct nocap_error err = {{0}};
        char *text;
        assert_string_equal(p.name, nocap_profile_name(count));
        assert_non_null(strstr(p.source, "read from"));
        assert_null(nocap_profile_mailbox_problem(&p.mailbox));
        assert_int_equal(nocap_profile_text(&text, &p, &err), NOCAP_OK);
        assert_int_equal(nocap_profile_read(&back, text, &err), NOCAP_OK);
        free(text);
        assert_string_equal(back.name, p.name);
        assert_string_equal(back.source, p.source);
        assert_string_equal(back.mailbox.name, p.mailbox.name);
        assert_memory_equal(&back.commands, &p.commands, sizeof p.commands);
        for (size_t i = 0; nocap_profile_value(&p, i, &a); i++) {
            assert_true(nocap_profile_value(&back, i, &b));
            assert_string_equal(a.path, b.path);
            assert_string_equal(a.value, b.value);
        }
    }
    assert_int_equal(count, 8);
}

/* Commands of all kinds, encoded as each runtime does, mean what they meant. */
static void commands_mean_the_same_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; nocap_profile_name(i) != NULL; i++) {
        struct nocap_profile p = shipped(nocap_profile_name(i));
        for (unsigned side = 0; side <= NOCAP_CQ_DISPATCH; side++) {
            for (unsigned id = 0; id < NOCAP_CQ_IDS; id++) {
                uint8_t bytes[NOCAP_CQ_HEADER_MAX] = {p.commands.forms[side][id].wire};
                uint8_t back[NOCAP_CQ_HEADER_MAX];
                struct nocap_cq_command c;
                if (p.commands.forms[side][id].header == 0) {
                    continue;
                }
                for (unsigned k = 1; k < sizeof bytes; k++) {
                    bytes[k] = (uint8_t)(0x11 * k);
                }
                assert_true(nocap_cq_decode_by(&p.commands, (enum nocap_cq_side)side, bytes,
                                               sizeof bytes, &c));
                assert_int_equal(c.id, id);
                assert_int_equal(nocap_cq_encode(&c, back), p.commands.forms[side][id].header);
                struct nocap_cq_command again;
                assert_true(nocap_cq_decode_by(&p.commands, (enum nocap_cq_side)side, back,
                                               sizeof back, &again));
                assert_memory_equal(&c, &again, sizeof c);
            }
        }
    }
}

static struct nocap_cq_command decoded(const struct nocap_profile *p, enum nocap_cq_side side,
                                       const uint8_t bytes[NOCAP_CQ_HEADER_MAX])
{
    struct nocap_cq_command c;
    assert_true(nocap_cq_decode_by(&p->commands, side, bytes, NOCAP_CQ_HEADER_MAX, &c));
    return c;
}

/* Bytes as the runtimes' headers lay them out. */
static void what_changed_upstream(void **state)
{
    (void)state;
    static const uint8_t wait_old[32] = {7, 0x18, 48, 0, 0, 0, 0, 0, 3};
    static const uint8_t wait_new[32] = {7, 0x30, 48, 0, 0, 0, 0, 0, 3};
    static const uint8_t clear_new[32] = {7, 0x0C};
    struct nocap_profile june25 = shipped("tt-metal-2025-06"), march = shipped("tt-metal-2026-03"),
                         june = shipped("tt-metal-2026-06"), august = shipped("tt-metal-2026-08"),
                         last = shipped("tt-metal-2026-09");
    struct nocap_cq_command c = decoded(&march, NOCAP_CQ_DISPATCH, wait_old);
    assert_int_equal(c.flags, NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM);
    c = decoded(&june, NOCAP_CQ_DISPATCH, wait_new);
    assert_int_equal(c.flags, NOCAP_CQ_WAIT_STREAM | NOCAP_CQ_WAIT_CLEAR_STREAM);
    assert_int_equal(c.count, 3);
    c = decoded(&june, NOCAP_CQ_DISPATCH, clear_new);
    assert_int_equal(c.flags, NOCAP_CQ_WAIT_MEMORY | NOCAP_CQ_DISPATCH_WAIT_CLEAR_MEMORY);
    c = decoded(&march, NOCAP_CQ_DISPATCH, wait_new); /* 0x20 is no flag yet */
    assert_int_equal(c.flags, NOCAP_CQ_WAIT_CLEAR_STREAM | 0x20);

    static const uint8_t eighteen[32] = {18, 2, 3, 0, 16, 0};
    assert_int_equal(decoded(nocap_profile_default(), NOCAP_CQ_DISPATCH, eighteen).id,
                     NOCAP_CQ_DISPATCH_TIMESTAMP);
    c = decoded(&june25, NOCAP_CQ_DISPATCH, eighteen);
    assert_int_equal(c.id, NOCAP_CQ_NO_ID);
    assert_int_equal(c.wire, 18);
    c = decoded(&march, NOCAP_CQ_DISPATCH, eighteen);
    assert_int_equal(c.id, NOCAP_CQ_DISPATCH_WRITE_PACKED_LARGE_UNICAST);
    assert_int_equal(c.count, 3);

    static const uint8_t inline4[32] = {4, 0, 0, 0, 32, 0, 0, 0, 64};
    c = decoded(&june25, NOCAP_CQ_PREFETCH, inline4);
    assert_int_equal(c.id, NOCAP_CQ_PREFETCH_RELAY_INLINE);
    assert_int_equal(c.stride, 64);

    static const uint8_t go_august[32] = {14, 0, 14, 3, 0x80, 0xFF, 5, 1, 9, 9, 5, 2, 0, 0, 0, 48};
    c = decoded(&august, NOCAP_CQ_DISPATCH, go_august);
    assert_int_equal(c.go_signal, 0x80030E00);
    assert_int_equal(c.wait_count, 2);
    assert_int_equal(c.wait_stream, 48);
    static const uint8_t go_last[32] = {14, 0xFF, 5, 1, 0, 14, 3, 0x80, 2, 0, 0, 0, 48};
    c = decoded(&last, NOCAP_CQ_DISPATCH, go_last);
    assert_int_equal(c.go_signal, 0x80030E00);
    assert_int_equal(c.multicast_go_offset, NOCAP_CQ_NO_MCAST_GO);
    assert_int_equal(c.wait_stream, 48);
    static const uint8_t go_first[32] = {14, 0, 14, 3, 0x80, 0, 5, 1, 2, 0, 0, 0, 48};
    c = decoded(&june25, NOCAP_CQ_DISPATCH, go_first); /* byte 5 says how many multicasts */
    assert_int_equal(nocap_cq_multicasts(&c), 0);
    static const uint8_t go_two[32] = {14, 0, 14, 3, 0x80, 2, 5, 1, 2, 0, 0, 0, 48};
    c = decoded(&june25, NOCAP_CQ_DISPATCH, go_two); /* .. in so many words of the table */
    assert_int_equal(nocap_cq_multicasts(&c), 2);
    assert_int_equal(nocap_cq_multicast_words(&c), 4);
    c = decoded(&last, NOCAP_CQ_DISPATCH, go_last);
    assert_int_equal(nocap_cq_multicasts(&c), 0);
    static const uint8_t go_all[32] = {14, 0, 5, 1, 0, 14, 3, 0x80, 2, 0, 0, 0, 48};
    c = decoded(&last, NOCAP_CQ_DISPATCH, go_all); /* .. to go word 0 of all workers */
    assert_int_equal(nocap_cq_multicasts(&c), 1);
    assert_int_equal(nocap_cq_multicast_words(&c), 0);
}

static void lengths_of_large_writes(void **state)
{
    (void)state;
    struct nocap_profile old = shipped("tt-metal-2025-06"), march = shipped("tt-metal-2026-03");
    uint8_t bytes[64] = {6, 2, 1, 0, 16, 0};
    bytes[24] = 32; /* of the one sub-command: so many bytes */
    struct nocap_cq_command c = decoded(&old, NOCAP_CQ_DISPATCH, bytes);
    uint64_t n;
    assert_true(nocap_cq_consumed(&c, bytes, sizeof bytes, &n));
    assert_int_equal(n, 32 + 32);
    bytes[24] = 31;
    c = decoded(&march, NOCAP_CQ_DISPATCH, bytes);
    assert_true(nocap_cq_consumed(&c, bytes, sizeof bytes, &n));
    assert_int_equal(n, 32 + 32);
    bytes[0] = 18;
    memset(bytes + 16, 0, 12);
    bytes[24] = 40;
    memset(bytes + 20, 0xFF, 4);
    c = decoded(&march, NOCAP_CQ_DISPATCH, bytes);
    assert_true(nocap_cq_consumed(&c, bytes, sizeof bytes, &n));
    assert_int_equal(n, 32 + 48);
    char text[NOCAP_CQ_TEXT_MAX];
    assert_string_equal(
        nocap_cq_text(&march.commands, NOCAP_CQ_DISPATCH, bytes, sizeof bytes, text, sizeof text),
        "WRITE_PACKED_LARGE_UNICAST 1x40B discarded");
}

static void what_makes_no_sense_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *json, *told;
    } wrong[] = {
        {"{", "no JSON"},
        {"7", "neither a name nor an object"},
        {"\"tt-metal-1999-01\"",
         "there is no profile 'tt-metal-1999-01'; there are blackhole-py, "},
        {"{\"base\":\"tt-metal-1999-01\"}", "there is no profile"},
        {"{\"tile\":1}", "'tile' is not known"},
        {"{\"queue\":{\"entry_byte\":2}}", "queue.entry_byte is not known"},
        {"{\"queue\":{\"entry_bytes\":3}}", "neither 2 nor 4"},
        {"{\"queue\":{\"page\":4095}}", "no power of two"},
        {"{\"queue\":{\"queue\":-1}}", "queue.queue is no whole number"},
        {"{\"queue\":{\"queue\":\"0x123456789\"}}", "queue.queue is out of range"},
        {"{\"mailbox\":\"bh-launch97\"}", "no layout that is known"},
        {"{\"mailbox\":{\"launch_size\":161}}", "out of range"},
        {"{\"mailbox\":{\"launch_size\":90}}", "mailbox.ncrisc_kernel_size16 lies outside"},
        {"{\"mailbox\":{\"go_messages\":\"0x5f0\"}}", "reaches past 0x600"},
        {"{\"mailbox\":{\"fields\":{\"enables\":\"4c:4\"}}}", "is no place"},
        {"{\"mailbox\":{\"fields\":{\"enables\":\"4:9\"}}}", "is no place"},
        {"{\"mailbox\":{\"fields\":{\"mode\":\"4:2\"}}}", "wider than nocap can hold"},
        {"{\"commands\":{\"dispatch\":{\"SINK\":{\"id\":7}}}}", "both have the id 7"},
        {"{\"commands\":{\"dispatch\":{\"WAITS\":{\"id\":7}}}}", "no command that nocap knows"},
        {"{\"commands\":{\"dispatch\":{\"WAIT\":{\"fields\":{\"flags\":\"16:1\"}}}}}",
         "outside of"},
        {"{\"commands\":{\"dispatch\":{\"WAIT\":{\"header\":33}}}}", "out of range"},
        {"{\"commands\":{\"flags\":{\"WAIT\":{\"BARRIER\":\"0x2\"}}}}", "share a bit"},
        {"{\"commands\":{\"flags\":{\"WAIT\":{\"BARRIER\":\"0x3\"}}}}", "no bit of a byte"},
        {"{\"name\":5}", "name is no text"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct nocap_profile p;
        struct nocap_error err = {{0}};
        assert_int_equal(nocap_profile_read(&p, wrong[i].json, &err), NOCAP_E_INPUT);
        if (strstr(err.text, wrong[i].told) == NULL) {
            fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i].json, err.text, wrong[i].told);
        }
    }
}

static void what_is_left_out_is_as_in_the_base(void **state)
{
    (void)state;
    struct nocap_profile p, base = shipped("tt-metal-2026-06");
    struct nocap_error err = {{0}};
    assert_int_equal(
        nocap_profile_read(&p, "{\"base\":\"tt-metal-2026-06\",\"queue\":{\"queue_slots\":767}}",
                           &err),
        NOCAP_OK);
    assert_int_equal(p.queue.queue_slots, 767);
    assert_int_equal(p.queue.entry_bytes, 4);
    assert_memory_equal(&p.commands, &base.commands, sizeof p.commands);
    struct nocap_profile_value a, b;
    size_t differ = 0;
    for (size_t i = 0; nocap_profile_value(&p, i, &a) && nocap_profile_value(&base, i, &b); i++) {
        differ += strcmp(a.value, b.value) != 0;
    }
    assert_int_equal(differ, 1);
    assert_int_equal(nocap_profile_read(&p, "{\"mailbox\":{\"sync\":\"0x64\"}}", &err), NOCAP_OK);
    assert_null(nocap_profile_mailbox_problem(&p.mailbox));
    assert_int_equal(nocap_profile_read(&p, "{\"mailbox\":{\"sync\":\"0x6c\"}}", &err), NOCAP_OK);
    assert_non_null(nocap_profile_mailbox_problem(&p.mailbox));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_is_what_the_tables_say),
        cmocka_unit_test(shipped_ones_survive_their_json),
        cmocka_unit_test(commands_mean_the_same_everywhere),
        cmocka_unit_test(what_changed_upstream),
        cmocka_unit_test(lengths_of_large_writes),
        cmocka_unit_test(what_makes_no_sense_is_told),
        cmocka_unit_test(what_is_left_out_is_as_in_the_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
