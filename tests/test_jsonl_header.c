/* SPDX-License-Identifier: Apache-2.0 */
/* The header of JSON Lines: every key both ways, and one clear message for what is no header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/jsonl_stream.h"

/* Reads `line` and compares what is printed of the header. */
static void assert_becomes(const char *line, const char *expected)
{
    struct stream stream;
    struct nocap_text out = {0};
    assert_true(prints_the_same(line, strlen(line)));
    assert_int_equal(stream_open(&stream, line, strlen(line)), NOCAP_OK);
    assert_int_equal(nocap_jsonl_print_header(&out, nocap_jsonl_header(stream.reader), NULL),
                     NOCAP_OK);
    out.data[out.size - 1] = '\0';
    assert_string_equal(out.data, expected);
    free(out.data);
    stream_close(&stream);
}

static void assert_stays(const char *line)
{
    assert_becomes(line, line);
}

#define START "{\"nocap\":1,\"arch\":\"blackhole\""

static void every_key_goes_both_ways(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "",
        ",\"board\":\"p100\"",
        ",\"board\":\"p150\"",
        ",\"layout\":\"other\"",
        ",\"profile\":\"tt-metal-2026-03\"",
        ",\"profile\":\"of-tomorrow\"",
        ",\"profile\":{\"base\":\"tt-metal-2026-03\", \"queue\":{\"queue_slots\":767}}",
        ",\"time_unit\":\"cycles\"",
        ",\"time_unit\":\"ns\"",
        ",\"clock_hz\":18446744073709551615",
        ",\"producer\":\"a \\\"b\\\" \xc3\xa4\\n\"",
        ",\"producer\":\"\"",
        ",\"observes\":[]",
        ",\"observes\":[\"cq\",\"host-mmio\",\"of-tomorrow\",\"core-store\",\"cq\"]",
        ",\"scope\":[]",
        ",\"scope\":[[1,2],[255,0]]",
        ",\"complete\":true",
        ",\"complete\":false",
        ",\"open_end\":true",
        ",\"open_end\":false",
        ",\"cycle_accurate\":true",
        ",\"cycle_accurate\":false",
        ",\"cq\":{}",
        (",\"cq\":{\"prefetch\":[14,2],\"dispatch\":[14,3],\"sysmem\":\"0x40000000\","
         "\"kernel_config\":\"0x86b0\"}"),
        ",\"cq\":{\"dispatch\":[0,0],\"kernel_config\":\"0x0\",\"k\":[1, 2]}",
        ",\"cq\":{\"k\":{}}",
        ",\"firmware\":{}",
        ",\"firmware\":{\"brisc\":\"a/b.elf\",\"ncrisc\":\"c.elf\"}",
        ",\"later\":{\"nocap\":2},\"k\":\"\\u0000\"",
    };
    char line[1024];
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(line, sizeof line, START "%s}", keys[i]);
        assert_stays(line);
    }
    assert_stays("{\"nocap\":1,\"arch\":\"wormhole\"}");
    assert_stays("{\"nocap\":1,\"arch\":\"aie2ps\"}");
}

static void all_keys_at_once_in_any_order(void **state)
{
    (void)state;
    assert_becomes("  { \"new\" : [ 1 ], \"firmware\":{\"x\":\"y\"},\"cq\":{\"sysmem\":64},"
                   "\"cycle_accurate\":false,\"complete\":true,\"scope\":[[\"0x1\",2]],"
                   "\"observes\":[\"noc\"],\"producer\":\"p\",\"clock_hz\":\"0x10\","
                   "\"time_unit\":\"ns\",\"layout\":\"l\",\"bo\\u0061rd\":\"p\\u0031\\u00300\","
                   "\"arch\":\"blackhole\",\"nocap\":1 } \r\n",
                   START ",\"board\":\"p100\",\"layout\":\"l\",\"time_unit\":\"ns\","
                         "\"clock_hz\":16,\"producer\":\"p\",\"observes\":[\"noc\"],"
                         "\"scope\":[[1,2]],\"complete\":true,\"cycle_accurate\":false,"
                         "\"cq\":{\"sysmem\":\"0x40\"},\"firmware\":{\"x\":\"y\"},"
                         "\"new\":[ 1 ]}");
}

static void values_arrive(void **state)
{
    (void)state;
    static const char line[] = START ",\"observes\":[\"noc\",\"x\"],\"complete\":true,"
                                     "\"cq\":{\"dispatch\":[14,3]}}";
    struct stream stream;
    assert_int_equal(stream_open(&stream, line, sizeof line - 1), NOCAP_OK);
    const struct nocap_header *header = nocap_jsonl_header(stream.reader);
    assert_int_equal(header->arch, NOCAP_ARCH_BLACKHOLE);
    assert_int_equal(header->observes, NOCAP_CLASS_NOC);
    assert_true(header->has_observes);
    assert_int_equal(header->complete, NOCAP_TRUE);
    assert_int_equal(header->cycle_accurate, NOCAP_ABSENT);
    assert_false(header->has_scope);
    assert_true(header->cq.present && header->cq.has_dispatch && !header->cq.has_prefetch);
    assert_int_equal(header->cq.dispatch.x, 14);
    assert_null(header->layout);
    stream_close(&stream);
}

static void what_is_no_header_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"\n", "is empty"},
        {" \t\r\n\n  ", "is empty"},
        {"\n\nhello", "line 3 is no trace header: not a JSON object; expected an object like"},
        {"[]", "line 1 is no trace header: not a JSON object"},
        {"{\"nocap\":1,", "ends early"},
        {START "} x", "something follows"},
        {"{}", "\"nocap\" is missing"},
        {"{\"t\":1,\"ev\":\"note\",\"text\":\"\"}", "\"nocap\" is missing"},
        {"{\"nocap\":1}", "\"arch\" is missing"},
        {"{\"arch\":\"of 2030\",\"nocap\":2}", "made by a newer version"},
        {"{\"nocap\":0,\"arch\":\"blackhole\"}", "\"nocap\" is 0, expected 1"},
        {"{\"nocap\":\"one\",\"arch\":\"blackhole\"}", "\"nocap\" is no whole number"},
        {"{\"nocap\":-1,\"arch\":\"blackhole\"}", "\"nocap\" is out of range"},
        {"{\"nocap\":1,\"arch\":\"grayskull\"}", "\"arch\" is \"grayskull\", expected blackhole"},
        {"{\"nocap\":1,\"arch\":5}", "\"arch\" is no string"},
        {START ",\"arch\":\"wormhole\"}", "\"arch\" appears twice"},
        {START ",\"nocap\":1}", "\"nocap\" appears twice"},
        {START ",\"board\":\"p300\"}", "\"board\" is \"p300\", expected p100"},
        {START ",\"board\":null}", "\"board\" is no string"},
        {START ",\"time_unit\":\"ms\"}", "\"time_unit\" is \"ms\", expected cycles or ns"},
        {START ",\"clock_hz\":1.5e9}", "\"clock_hz\" is no whole number"},
        {START ",\"clock_hz\":0}", "\"clock_hz\" is 0"},
        {START ",\"layout\":1}", "\"layout\" is no string"},
        {START ",\"producer\":\"a\\u0000\"}", "\"producer\" holds the character NUL"},
        {START ",\"observes\":\"noc\"}", "\"observes\" is no list"},
        {START ",\"observes\":[1]}", "\"observes\" is no list"},
        {START ",\"scope\":[1,2]}", "\"scope\" is no list"},
        {START ",\"scope\":{}}", "\"scope\" is no list"},
        {START ",\"scope\":[[1,2,3]]}", "\"scope\" is no list"},
        {START ",\"scope\":[[1]]}", "\"scope\" is no list"},
        {START ",\"scope\":[[1,256]]}", "\"scope\" is no list"},
        {START ",\"complete\":1}", "\"complete\" is neither true nor false"},
        {START ",\"cq\":[]}", "\"cq\" is no object"},
        {START ",\"cq\":{\"sysmem\":[]}}", "\"sysmem\" is no whole number"},
        {START ",\"cq\":{\"prefetch\":14}}", "\"prefetch\" is no list"},
        {START ",\"firmware\":[]}", "\"firmware\" is no map"},
        {START ",\"firmware\":{\"brisc\":1}}", "\"firmware\" is no string"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stream stream;
        assert_int_equal(stream_open(&stream, cases[i].text, strlen(cases[i].text)), NOCAP_E_INPUT);
        assert_null(stream.reader);
        if (strstr(stream.err.text, cases[i].message) == NULL ||
            strncmp(stream.err.text, "memory: ", 8) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].text, stream.err.text,
                     cases[i].message);
        }
        stream_close(&stream);
    }
}

static void an_endless_header_is_refused(void **state)
{
    (void)state;
    size_t size = (size_t)2 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'a', size);
    memcpy(text, "{\"a\":\"", 6);
    struct stream stream;
    assert_int_equal(stream_open(&stream, text, size), NOCAP_E_INPUT);
    assert_non_null(strstr(stream.err.text, "longer than 1 MiB"));
    stream_close(&stream);
    free(text);
}

/* From code or a damaged file, not from a line. */
static void printing_needs_no_kept_names(void **state)
{
    (void)state;
    static char unsound[] = "\"a\":1}\n{";
    struct nocap_header header = {.arch = NOCAP_ARCH_BLACKHOLE,
                                  .has_observes = true,
                                  .observes = NOCAP_CLASS_CQ | NOCAP_CLASS_NOC,
                                  .extra = unsound};
    struct nocap_text out = {0};
    assert_int_equal(nocap_jsonl_print_header(&out, &header, NULL), NOCAP_OK);
    out.data[out.size - 1] = '\0';
    assert_string_equal(out.data, START ",\"observes\":[\"noc\",\"cq\"],"
                                        "\"extra\":\"\\\"a\\\":1}\\n{\"}");
    free(out.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_goes_both_ways),
        cmocka_unit_test(all_keys_at_once_in_any_order),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(what_is_no_header_is_refused),
        cmocka_unit_test(an_endless_header_is_refused),
        cmocka_unit_test(printing_needs_no_kept_names),
    };
    return cmocka_run_group_tests_name("jsonl header", tests, NULL, NULL);
}
