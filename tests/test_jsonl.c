/* SPDX-License-Identifier: Apache-2.0 */
/* Events as JSON Lines: every field both ways, exact numbers, and what becomes of lines that are no
 * events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/jsonl_stream.h"

/* ---- helpers ---- */

/* The reader of the line that was read last: what its event points to lives here. */
static struct stream latest;
static char latest_text[8192];

static int close_latest(void **state)
{
    (void)state;
    if (latest.file != NULL) {
        stream_close(&latest);
        latest.file = NULL;
    }
    return 0;
}

/* The one event of a line, until the next call; `why` it is a problem, NULL if it is none. */
static struct nocap_event read_line(const char *line, const char **why)
{
    struct nocap_event event;
    const char *reason = NULL;
    uint64_t number = 0;
    (void)close_latest(NULL);
    int size = snprintf(latest_text, sizeof latest_text, SMALL_HEADER "%s\n", line);
    assert_true(size > 0 && (size_t)size < sizeof latest_text);
    assert_true(prints_the_same(latest_text, (size_t)size));
    assert_int_equal(stream_open(&latest, latest_text, (size_t)size), NOCAP_OK);
    assert_int_equal(stream_next(&latest, &event), NOCAP_OK);
    uint64_t count = nocap_jsonl_malformed(latest.reader, &number, &reason);
    const struct nocap_header *header = nocap_jsonl_header(latest.reader);
    assert_int_equal(count, nocap_header_event_problem(header, &event) != NULL);
    assert_int_equal(number, count > 0 ? 2 : 0);
    if (why != NULL) {
        *why = reason;
    }
    return event;
}

static void assert_prints(const struct nocap_event *event, const char *expected)
{
    struct nocap_text out = {0};
    assert_int_equal(nocap_jsonl_print_event(&out, event, NULL), NOCAP_OK);
    assert_int_equal(out.data[out.size - 1], '\n');
    out.data[out.size - 1] = '\0';
    assert_string_equal(out.data, expected);
    free(out.data);
}

/* What the reader makes of `line` is printed as `expected`, but is not the same event again. */
static void assert_prints_as(const char *line, const char *expected)
{
    struct nocap_event event = read_line(line, NULL);
    assert_prints(&event, expected);
}

/* Reading `line` gives what is printed as `expected`. */
static void assert_becomes(const char *line, const char *expected)
{
    struct nocap_event event = read_line(line, NULL);
    assert_prints(&event, expected);
}

static void assert_stays(const char *line)
{
    assert_becomes(line, line);
}

/* Prints the event, reads it again and compares. */
static void assert_round_trip(const struct nocap_event *event)
{
    static const struct nocap_header header = {.arch = NOCAP_ARCH_BLACKHOLE};
    struct nocap_text out = {0};
    struct stream stream;
    struct nocap_event again;
    assert_int_equal(nocap_jsonl_print_header(&out, &header, NULL), NOCAP_OK);
    assert_int_equal(nocap_jsonl_print_event(&out, event, NULL), NOCAP_OK);
    assert_int_equal(stream_open(&stream, out.data, out.size), NOCAP_OK);
    assert_int_equal(stream_next(&stream, &again), NOCAP_OK);
    if (!events_equal(event, &again)) {
        fail_msg("not the same again: %.*s", (int)out.size, out.data);
    }
    stream_close(&stream);
    free(out.data);
}

/* ---- every field ---- */

static const uint8_t payload[] = {0x00, 0x7f, 0x80, 0xff, 0x0a, 0x22, 0x5c};

/* Gives `field` its `variant`th value. */
static void fill_field(struct nocap_event *event, enum nocap_field field, unsigned variant)
{
    static const uint64_t wide[] = {0, 1, 0xffffffff, UINT64_C(1) << 53 | 1, UINT64_MAX};
    uint64_t v = wide[variant];
    event->has |= UINT64_C(1) << field;
    switch ((enum nocap_field_type)nocap_fields[field].type) {
    case NOCAP_T_BYTES:
    case NOCAP_T_TEXT:
        event->data = payload;
        event->data_size = variant < sizeof payload ? variant : (uint32_t)sizeof payload;
        if (event->data_size == 0) {
            event->data_size = sizeof payload;
        }
        return;
    case NOCAP_T_DEC:
    case NOCAP_T_HEX:
    case NOCAP_T_HASH:
    case NOCAP_T_PAIR:
    case NOCAP_T_XY:
    case NOCAP_T_SEM: break;
    case NOCAP_T_BOOL: v = variant & 1; break;
    default: /* a value that has a name */
        for (v = variant; nocap_field_value_name(field, (unsigned)v) == NULL;) {
            v = v > 0 ? v - 1 : NOCAP_BY_UC0 + 223;
        }
        break;
    }
    nocap_event_set_number(event, field, v);
}

static void one_field_goes_both_ways(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < NOCAP_EV_UNKNOWN; kind++) {
        for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
            for (unsigned variant = 0; variant < 5; variant++) {
                struct nocap_event event = {.kind = (uint8_t)kind, .t = field};
                if (nocap_fields[field].kinds >> kind & 1) {
                    fill_field(&event, (enum nocap_field)field, variant);
                    assert_round_trip(&event);
                }
            }
        }
    }
}

static void all_fields_at_once_go_both_ways(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < NOCAP_EV_UNKNOWN; kind++) {
        uint64_t ops = nocap_kind_ops((enum nocap_kind)kind);
        for (unsigned op = 0; op < NOCAP_OP_COUNT; op++) {
            struct nocap_event event = {.kind = (uint8_t)kind, .op = (uint8_t)op, .t = UINT64_MAX};
            if (((ops | 1) >> op & 1) == 0) {
                continue;
            }
            uint64_t fields = nocap_kind_fields((enum nocap_kind)kind) & ~NOCAP_F_HEAD;
            for (unsigned field = 0; field < NOCAP_FIELD_COUNT; field++) {
                if (fields >> field & 1) {
                    fill_field(&event, (enum nocap_field)field, (field + op) % 5);
                }
            }
            event.src = UINT32_MAX;
            event.chip = UINT16_MAX;
            event.extra = "\"later\":{\"a\":[1,2.50]},\"k\":null";
            event.extra_size = (uint32_t)strlen(event.extra);
            assert_round_trip(&event);
        }
    }
}

static void the_order_of_keys_is_canonical(void **state)
{
    (void)state;
    assert_becomes("{\"chip\":2,\"new\":[ 1 ],\"seq\":9,\"pc\":\"0x4124\",\"value\":\"0x01\","
                   "\"size\":1,\"y\":2,\"x\":1,\"addr\":\"0X68\",\"by\":\"brisc\",\"src\":3,"
                   "\"space\":\"tile\",\"t\":7517,\"ev\":\"write\"}",
                   "{\"chip\":2,\"new\":[ 1 ],\"seq\":9,\"pc\":\"0x4124\",\"value\":\"0x01\","
                   "\"size\":1,\"y\":2,\"x\":1,\"addr\":\"0X68\",\"by\":\"brisc\",\"src\":3,"
                   "\"space\":\"tile\",\"t\":7517,\"ev\":\"write\"}"); /* 0X is no prefix */
    assert_becomes("{\"chip\":2,\"new\":[ 1 ],\"seq\":9,\"pc\":\"0x4124\",\"value\":\"0x01\","
                   "\"size\":1,\"y\":2,\"x\":1,\"addr\":\"0x00fFeF02e4\",\"by\":\"brisc\","
                   "\"src\":3,\"space\":\"tile\",\"t\":7517,\"ev\":\"write\"}",
                   "{\"t\":7517,\"ev\":\"write\",\"by\":\"brisc\",\"space\":\"tile\",\"x\":1,"
                   "\"y\":2,\"addr\":\"0xffef02e4\",\"size\":1,\"value\":\"0x1\","
                   "\"pc\":\"0x4124\",\"seq\":9,\"src\":3,\"chip\":2,\"new\":[ 1 ]}");
    assert_stays("{\"t\":7858,\"ev\":\"noc\",\"op\":\"atomic\",\"by\":\"uc223\",\"x\":1,\"y\":2,"
                 "\"noc\":0,\"buf\":3,\"phase\":\"issue\",\"posted\":false,\"linked\":true,"
                 "\"dx\":2,\"dy\":2,\"daddr\":\"0xffb70438\",\"dx2\":16,\"dy2\":11,\"size\":4,"
                 "\"value\":\"0x0\",\"ret\":[1,2],\"ctrl\":\"0x208a\"}");
    assert_stays("{\"t\":1,\"ev\":\"tensix\",\"op\":\"issue\",\"x\":1,\"y\":2,\"thread\":1,"
                 "\"word\":\"0xa4000008\",\"sem\":[0,1,0,0,0,0,0,255]}");
    assert_stays("{\"t\":1,\"ev\":\"cq\",\"op\":\"credit\",\"by\":\"dispatch\",\"x\":1,\"y\":2,"
                 "\"value\":\"0x10\",\"sem\":18446744073709551615}");
    assert_stays("{\"t\":1,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":7,\"y2\":11,"
                 "\"noc\":0,\"addr\":\"0x3840\",\"size\":4528,\"hash\":\"fnv1a64:00e995c3532848a8\""
                 ",\"head\":\"b701b0ff\",\"order\":\"strict\",\"map\":\"uc\"}");
}

static void numbers_are_exact(void **state)
{
    (void)state;
    struct nocap_event event = read_line(
        "{\"t\":18446744073709551615,\"ev\":\"write\",\"by\":\"host\",\"space\":\"sysmem\","
        "\"addr\":9007199254740993,\"size\":\"0x8\",\"value\":\"0xffffffffffffffff\","
        "\"src\":\"0xffffffff\",\"noc\":\"0x1\",\"x\":\"0xff\",\"y\":0}",
        NULL);
    assert_true(event.t == UINT64_MAX);
    assert_true(event.addr == UINT64_C(9007199254740993));
    assert_int_equal(event.size, 8);
    assert_true(event.value == UINT64_MAX);
    assert_int_equal(event.src, UINT32_MAX);
    assert_int_equal(event.noc, 1);
    assert_int_equal(event.at.x, 255);
    event = read_line("{\"t\":0,\"ev\":\"drop\",\"count\":18446744073709551610}", NULL);
    assert_true(event.value == UINT64_C(18446744073709551610));
}

static void a_hash_has_0x_or_not(void **state)
{
    (void)state;
    assert_becomes("{\"t\":1,\"ev\":\"cq\",\"op\":\"exec\",\"addr\":\"0x0\","
                   "\"hash\":\"fnv1a64:0x00e995c3532848A8\"}",
                   "{\"t\":1,\"ev\":\"cq\",\"op\":\"exec\",\"addr\":\"0x0\","
                   "\"hash\":\"fnv1a64:00e995c3532848a8\"}");
    assert_stays("{\"t\":1,\"ev\":\"cq\",\"op\":\"exec\",\"addr\":\"0x0\","
                 "\"hash\":\"fnv1a64:0x00e995c3532848\"}");
}

static void a_hash_of_another_kind_is_kept(void **state)
{
    (void)state;
    assert_stays("{\"t\":1,\"ev\":\"cq\",\"op\":\"exec\",\"addr\":\"0x0\","
                 "\"hash\":\"sha1:00\"}");
    struct nocap_event event = read_line("{\"t\":1,\"ev\":\"cq\",\"op\":\"exec\",\"addr\":\"0x0\","
                                         "\"hash\":\"fnv1a64:123\"}",
                                         NULL);
    assert_int_equal(event.has, NOCAP_F_ADDR);
    assert_int_equal(event.hash, 0);
}

static void data_counts_before_head(void **state)
{
    (void)state;
    static const char expected[] = "{\"t\":1,\"ev\":\"mem\",\"x\":1,\"y\":2,\"addr\":\"0x10\","
                                   "\"data\":\"0aff\",\"head\":\"0A\"}";
    assert_becomes("{\"head\":\"0A\",\"t\":1,\"ev\":\"mem\",\"x\":1,\"y\":2,\"addr\":\"0x10\","
                   "\"data\":\"0aFF\"}",
                   expected);
    assert_becomes("{\"t\":1,\"ev\":\"write\",\"head\":\"0\\u0041\",\"data\":\"0\\u0046\"}",
                   "{\"t\":1,\"ev\":\"write\",\"data\":\"0f\",\"head\":\"0\\u0041\"}");
    struct nocap_event event = read_line("{\"head\":\"0A\",\"t\":1,\"ev\":\"read\"}", NULL);
    assert_int_equal(event.has, NOCAP_F_HEAD);
    assert_int_equal(event.data[0], 0x0a);
    assert_stays("{\"t\":1,\"ev\":\"read\",\"data\":\"\"}");
}

static void text_is_escaped(void **state)
{
    (void)state;
    static const char line[] = "{\"t\":1,\"ev\":\"note\",\"text\":\"a\\\"b\\\\c\\u0000\\u001f\\b\\f"
                               "\\n\\r\\t/\xc3\xa4\\udcff\xf0\x9f\x98\x80\\u007f\\u009b\\u202e"
                               "\\u2066\\u061c\"}";
    assert_stays(line);
    struct nocap_event event =
        read_line("{\"t\":1,\"ev\":\"note\",\"t\\u0065xt\":\"\\/\\u00e4\\u20AC\\ud83d\\uDE00\\ud800"
                  "\\u0041\"}",
                  NULL);
    static const char expected[] = "/\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\x80"
                                   "A";
    assert_int_equal(event.data_size, sizeof expected - 1);
    assert_memory_equal(event.data, expected, sizeof expected - 1);
    assert_stays("{\"t\":1,\"ev\":\"note\",\"text\":\"\"}");
}

/* Of what is kept as it stood, too. */
static void what_steers_a_terminal_is_escaped(void **state)
{
    (void)state;
    assert_becomes("{\"t\":1,\"ev\":\"note\",\"text\":\"\x7f\xc2\x9b\xe2\x80\xae\xff\xc2\"}",
                   "{\"t\":1,\"ev\":\"note\",\"text\":\"\\u007f\\u009b\\u202e\\udcff\\udcc2\"}");
    assert_prints_as("{\"t\":1,\"ev\":\"note\",\"text\":\"\",\"\xc2\x9b\":\"\xff\"}",
                     "{\"t\":1,\"ev\":\"note\",\"text\":\"\",\"\\u009b\":\"\\udcff\"}");
    assert_prints_as("{\"t\":1,\"ev\":\"new\",\"a\":\"\xe2\x81\xa6\"}",
                     "{\"t\":1,\"ev\":\"new\",\"a\":\"\\u2066\"}");
    assert_prints_as("{\"t\":1,\"ev\":\"note\",\"text\":\"\033[1m\"}",
                     "{\"t\":1,\"ev\":\"note\",\"text\":\"\\x1b[1m\"}"); /* still no event */
}

static void names_may_be_escaped(void **state)
{
    (void)state;
    assert_becomes("{\"t\":1,\"e\\u0076\":\"k\\u0065rnel\",\"op\":\"\\u0065xit\",\"by\":\"bris\\u"
                   "0063\",\"x\":1,\"y\":2,\"ret\":\"\\u0030x10\"}",
                   "{\"t\":1,\"ev\":\"kernel\",\"op\":\"exit\",\"by\":\"brisc\",\"x\":1,\"y\":2,"
                   "\"ret\":\"0x10\"}");
}

static void keys_of_other_kinds_are_kept(void **state)
{
    (void)state;
    assert_stays("{\"t\":1,\"ev\":\"note\",\"text\":\"x\",\"seq\":1,\"op\":\"read\"}");
    assert_stays("{\"t\":1,\"ev\":\"reset\",\"op\":\"run\",\"by\":\"brisc\",\"x\":1,\"y\":2,"
                 "\"data\":17,\"t\\u0000\":2,\"\":[],\"ninechars\":0}");
    struct nocap_event event = read_line("{\"t\":1,\"ev\":\"note\",\"word\":\"0x1\"}", NULL);
    assert_int_equal(event.has, 0);
    assert_int_equal(event.value, 0);
}

/* ---- what is no event ---- */

static void unknown_kinds_are_kept_whole(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"t\":5,\"ev\":\"zork\", \"src\":7,\"x\":[{}]}",
        "{ \"ev\":\"unknown\" ,\"t\":5,\"src\":7}",
        "{\"ev\":\"malformed\",\"src\":7,\"t\":5,\"addr\":-1}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct nocap_event event = read_line(lines[i], NULL);
        assert_int_equal(event.kind, NOCAP_EV_UNKNOWN);
        assert_int_equal(event.t, 5);
        assert_int_equal(event.src, 7);
        assert_int_equal(event.has, 0);
        assert_prints(&event, lines[i]);
    }
}

#define WRITE(rest) "{\"t\":5,\"src\":2,\"ev\":\"write\"," rest "}"

static void malformed_lines_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why;
        uint64_t t;
    } cases[] = {
        {"hello", "not a JSON object", 0},
        {"[1]", "not a JSON object", 0},
        {"{}", "\"ev\" is missing", 0},
        {"{\"t\":5}", "\"ev\" is missing", 5},
        {"{\"ev\":\"note\",\"text\":\"a\"}", "\"t\" is missing", 0},
        {"{\"t\":5,\"ev\":7}", "\"ev\" is no string", 5},
        {"{\"t\":-5,\"ev\":\"note\"}", "\"t\" is out of range", 0},
        {"{\"t\":1.5,\"ev\":\"note\"}", "\"t\" is no whole number", 0},
        {"{\"t\":1e3,\"ev\":\"zork\"}", "\"t\" is no whole number", 0},
        {"{\"t\":18446744073709551616,\"ev\":\"note\"}", "\"t\" is out of range", 0},
        {"{\"t\":\"5\",\"ev\":\"note\"}", "\"t\" is no whole number", 0},
        {"{\"t\":5,\"ev\":\"note\",\"src\":4294967296}", "\"src\" is out of range", 5},
        {"{\"t\":5,\"ev\":\"note\",\"chip\":65536}", "\"chip\" is out of range", 5},
        {WRITE("\"x\":300,\"y\":1"), "\"x\" is out of range", 5},
        {WRITE("\"x\":3"), "one half of a pair", 5},
        {WRITE("\"y2\":3"), "one half of a pair", 5},
        {WRITE("\"size\":-1"), "\"size\" is out of range", 5},
        {WRITE("\"value\":\"0x10000000000000000\""), "\"value\" is out of range", 5},
        {WRITE("\"value\":\"12\""), "\"value\" is no whole number", 5},
        {WRITE("\"value\":\"0x\""), "\"value\" is no whole number", 5},
        {WRITE("\"value\":\"0x1g\""), "\"value\" is no whole number", 5},
        {WRITE("\"value\":true"), "\"value\" is no whole number", 5},
        {WRITE("\"value\":null"), "\"value\" is no whole number", 5},
        {WRITE("\"data\":\"abc\""), "\"data\" is no string of pairs", 5},
        {WRITE("\"data\":\"zz\""), "\"data\" is no string of pairs", 5},
        {WRITE("\"data\":7"), "\"data\" is no string", 5},
        {WRITE("\"hash\":7"), "\"hash\" is no string", 5},
        {WRITE("\"by\":\"cpu\""), "\"by\" is no known name", 5},
        {WRITE("\"by\":\"\""), "\"by\" is no known name", 5},
        {WRITE("\"by\":1"), "\"by\" is no known name", 5},
        {WRITE("\"from\":[1]"), "\"from\" is no list", 5},
        {WRITE("\"from\":[1,2,3]"), "\"from\" is no list", 5},
        {WRITE("\"from\":[1,256]"), "\"from\" is out of range", 5},
        {WRITE("\"noc\":256"), "\"noc\" is out of range", 5},
        {WRITE("\"seq\":1,\"seq\":1"), "\"seq\" appears twice", 5},
        {WRITE("\"seq\":1,\"s\\u0065q\":1"), "appears twice", 5},
        {WRITE("\"zork\":1,\"zork\":2"), "\"zork\" appears twice", 5},
        {"{\"t\":5,\"ev\":\"zork\",\"t\":6}", "\"t\" appears twice", 5},
        {"{\"t\":5,\"ev\":\"noc\",\"op\":\"push\"}", "\"op\" is none of", 5},
        {"{\"t\":5,\"ev\":\"noc\",\"posted\":1}", "\"posted\" is neither", 5},
        {"{\"t\":5,\"ev\":\"tensix\",\"sem\":[1,2,3,4,5,6,7]}", "\"sem\" is no list of eight", 5},
        {"{\"t\":5,\"ev\":\"tensix\",\"sem\":3}", "\"sem\" is no list of eight", 5},
        {"{\"t\":5,\"ev\":\"note\",\"text\":[]}", "\"text\" is no string", 5},
        {"{\"t\":5,\"ev\":\"note\"", "ends early", 5},
        {"{\"t\":5,\"ev\":\"no", "ends early", 5},
        {"{\"t\":5,", "ends early", 5},
        {"{\"t\":5,\"ev\":\"note\",}", "a key is no string", 5},
        {"{\"t\":5,\"ev\":\"note\"} x", "something follows", 5},
        {"{\"t\":5 \"ev\":\"note\"}", "no comma", 5},
        {"{\"t\":5,\"ev\" \"note\"}", "no colon", 5},
        {"{\"t\":05,\"ev\":\"note\"}", "no comma", 0},
        {"{\"t\":5,\"ev\":nil}", "no JSON", 5},
        {"{\"t\":5,\"a\":1.,\"ev\":\"note\"}", "number without digits", 5},
        {"{\"t\":5,\"a\":-,\"ev\":\"note\"}", "number without digits", 5},
        {"{\"t\":5,\"a\":1e+,\"ev\":\"note\"}", "number without digits", 5},
        {"{\"t\":5,\"ev\":\"\\x\"}", "unknown escape", 5},
        {"{\"t\":5,\"ev\":\"\\u12g4\"}", "four hex digits", 5},
        {"{\"t\":5,\"ev\":\"a\tb\"}", "control character", 5},
        {"{\"t\":5,\"a\":[1,2},\"ev\":\"note\"}", "no comma", 5},
        {"{\"t\":5,\"a\":{\"b\":[]],\"ev\":\"note\"}", "no comma", 5},
        {"{\"t\":5,\"a\":{\"b\"},\"ev\":\"note\"}", "no colon", 5},
        {"{\"t\":5,\"a\":[1,],\"ev\":\"note\"}", "no JSON", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *why;
        struct nocap_event event = read_line(cases[i].line, &why);
        assert_int_equal(event.kind, NOCAP_EV_MALFORMED);
        assert_int_equal(event.t, cases[i].t);
        assert_non_null(why);
        if (strstr(why, cases[i].why) == NULL) {
            fail_msg("%s: \"%s\", expected \"%s\"", cases[i].line, why, cases[i].why);
        }
        assert_prints(&event, cases[i].line);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    char line[400] = "{\"t\":1,\"ev\":\"note\",\"text\":\"\",\"deep\":";
    for (int deep = 64; deep <= 65; deep++) {
        char *at = line + strlen("{\"t\":1,\"ev\":\"note\",\"text\":\"\",\"deep\":");
        memset(at, '[', (size_t)deep);
        memset(at + deep, ']', (size_t)deep);
        strcpy(at + 2 * deep, "}");
        struct nocap_event event = read_line(line, NULL);
        assert_int_equal(event.kind, deep == 64 ? NOCAP_EV_NOTE : NOCAP_EV_MALFORMED);
    }
}

static void keys_are_bounded(void **state)
{
    (void)state;
    char line[8000];
    for (int keys = 252; keys <= 253; keys++) {
        int at = snprintf(line, sizeof line, "{\"t\":1,\"ev\":\"note\",\"text\":\"\"");
        for (int i = 0; i < keys; i++) {
            at += snprintf(line + at, sizeof line - (size_t)at, ",\"key number %d\":0", i);
        }
        strcpy(line + at, "}");
        const char *why;
        struct nocap_event event = read_line(line, &why);
        assert_int_equal(event.kind, keys == 252 ? NOCAP_EV_NOTE : NOCAP_EV_MALFORMED);
        if (keys == 253) {
            assert_string_equal(why, "too many keys");
        }
    }
}

static void time_without_time_is_that_of_before(void **state)
{
    (void)state;
    static const char text[] = SMALL_HEADER "{\"t\":8,\"ev\":\"note\",\"text\":\"\"}\n"
                                            "broken\n"
                                            "{\"ev\":\"zork\"}\n"
                                            "{\"t\":9,\"ev\":\"write\"}\n";
    static const uint8_t kinds[] = {NOCAP_EV_NOTE, NOCAP_EV_MALFORMED, NOCAP_EV_UNKNOWN,
                                    NOCAP_EV_WRITE};
    static const uint64_t times[] = {8, 8, 8, 9}, counts[] = {0, 1, 1, 2};
    struct stream stream;
    struct nocap_event event;
    uint64_t line = 0;
    assert_true(prints_the_same(text, sizeof text - 1));
    assert_int_equal(stream_open(&stream, text, sizeof text - 1), NOCAP_OK);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(stream_next(&stream, &event), NOCAP_OK);
        assert_int_equal(event.index, i);
        assert_int_equal(event.kind, kinds[i]);
        assert_int_equal(event.t, times[i]);
        assert_int_equal(nocap_jsonl_malformed(stream.reader, &line, NULL), counts[i]);
    }
    assert_int_equal(line, 3);
    assert_int_equal(stream_next(&stream, &event), NOCAP_END);
    assert_int_equal(stream_next(&stream, &event), NOCAP_END);
    stream_close(&stream);
}

/* What a damaged file may hold must not break the lines. */
static void any_event_is_one_line(void **state)
{
    (void)state;
    struct nocap_event event = {.kind = NOCAP_EV_MALFORMED};
    assert_prints(&event, "{}");
    event.data = (const uint8_t *)"a\nb";
    event.data_size = 3;
    assert_prints(&event, "a\\x0ab");
    event =
        (struct nocap_event){.kind = NOCAP_EV_NOTE, .has = NOCAP_F_TEXT, .extra = "\"a\":1}\n{"};
    event.extra_size = 8;
    assert_prints(&event, "{\"t\":0,\"ev\":\"note\",\"text\":\"\",\"extra\":\"\\\"a\\\":1}\\n{\"}");
    event = (struct nocap_event){.kind = NOCAP_EV_WRITE, .has = NOCAP_F_SPACE | NOCAP_F_THREAD};
    event.space = 99;
    event.op = 99;
    assert_prints(&event, "{\"t\":0,\"ev\":\"write\",\"op\":\"?\",\"space\":\"?\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_field_goes_both_ways),
        cmocka_unit_test(all_fields_at_once_go_both_ways),
        cmocka_unit_test(the_order_of_keys_is_canonical),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(a_hash_has_0x_or_not),
        cmocka_unit_test(a_hash_of_another_kind_is_kept),
        cmocka_unit_test(data_counts_before_head),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(what_steers_a_terminal_is_escaped),
        cmocka_unit_test(names_may_be_escaped),
        cmocka_unit_test(keys_of_other_kinds_are_kept),
        cmocka_unit_test(unknown_kinds_are_kept_whole),
        cmocka_unit_test(malformed_lines_say_why),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(keys_are_bounded),
        cmocka_unit_test(time_without_time_is_that_of_before),
        cmocka_unit_test(any_event_is_one_line),
    };
    return cmocka_run_group_tests_name("jsonl", tests, NULL, close_latest);
}
