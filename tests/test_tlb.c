/* SPDX-License-Identifier: Apache-2.0 */
/* TLB windows: the words that aim them, and what a host access through them means, on written-down
 * examples and on the golden traces of a real host program. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/blackhole/tile_map.h"
#include "formats/blackhole/tlb.h"
#include "tests/golden_text.h"

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return z ^ (z >> 27);
}

static void multicast_window(void **state)
{
    (void)state;
    const uint32_t words[3] = {0x7FD, 0x40963800, 0x60};
    struct nocap_tlb_window window;
    nocap_tlb_decode(0, words, &window);
    assert_int_equal(window.mcast, 1);
    assert_int_equal(window.x_start, 1);
    assert_int_equal(window.y_start, 2);
    assert_int_equal(window.x_end, 7);
    assert_int_equal(window.y_end, 11);
    assert_int_equal(window.noc, 0);
    assert_int_equal(window.ordering, NOCAP_ORDER_STRICT);
    assert_int_equal(window.linked, 0);
    assert_int_equal(window.reserved, 0);
    assert_int_equal(nocap_tlb_address(0, &window, 0), 0xFFA00000);
    assert_int_equal(nocap_tlb_address(0, &window, 0x1121B0), 0xFFB121B0);
}

static void unicast_window(void **state)
{
    (void)state;
    const uint32_t words[3] = {0x0, 0x40800, 0x40};
    struct nocap_tlb_window window;
    nocap_tlb_decode(201, words, &window);
    assert_int_equal(window.mcast, 0);
    assert_int_equal(window.x_end, 1);
    assert_int_equal(window.y_end, 2);
    assert_int_equal(window.ordering, NOCAP_ORDER_STRICT);
    assert_int_equal(nocap_tlb_address(201, &window, 0x370), 0x370);
}

/* Each field set alone to all ones, in both formats: bits as the driver's table has them. */
static void every_field(void **state)
{
    (void)state;
    const struct {
        struct nocap_tlb_window window;
        uint32_t small[3], large[3];
    } fields[] = {
        {{.page = UINT64_C(0x7FFFFFFFFFF)}, {0xFFFFFFFF, 0x7FF, 0}, {0xFFFFFFFF, 0, 0}},
        {{.x_end = 63}, {0, 0x1F800, 0}, {0, 0x3F, 0}},
        {{.y_end = 63}, {0, 0x7E0000, 0}, {0, 0xFC0, 0}},
        {{.x_start = 63}, {0, 0x1F800000, 0}, {0, 0x3F000, 0}},
        {{.y_start = 63}, {0, 0xE0000000, 0x7}, {0, 0xFC0000, 0}},
        {{.noc = 3}, {0, 0, 0x18}, {0, 0x3000000, 0}},
        {{.mcast = 1}, {0, 0, 0x20}, {0, 0x4000000, 0}},
        {{.ordering = 3}, {0, 0, 0xC0}, {0, 0x18000000, 0}},
        {{.linked = 1}, {0, 0, 0x100}, {0, 0x20000000, 0}},
        {{.use_static_vc = 1}, {0, 0, 0x200}, {0, 0x40000000, 0}},
        {{.stream_header = 1}, {0, 0, 0x400}, {0, 0x80000000, 0}},
        {{.static_vc = 7}, {0, 0, 0x3800}, {0, 0, 0x7}},
        {{.reserved = 0xFFFFFFFF}, {0, 0, 0xFFFFC000}, {0, 0, 0xFFFFFFF8}},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint32_t words[3];
        nocap_tlb_encode(0, &fields[i].window, words);
        assert_memory_equal(words, fields[i].small, sizeof(words));
        nocap_tlb_encode(202, &fields[i].window, words);
        assert_memory_equal(words, fields[i].large, sizeof(words));
    }
}

static void words_come_back(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t words[3] = {(uint32_t)next_random(&seed), (uint32_t)next_random(&seed),
                             (uint32_t)next_random(&seed)};
        uint32_t again[3];
        struct nocap_tlb_window window;
        unsigned id = i % NOCAP_TLB_COUNT;
        nocap_tlb_decode(id, words, &window);
        nocap_tlb_encode(id, &window, again);
        assert_memory_equal(again, words, sizeof(words));
    }
}

static void places_in_the_bars(void **state)
{
    (void)state;
    unsigned window, word;
    uint64_t offset;
    assert_true(nocap_tlb_is_register(0x1FC00000, &window, &word));
    assert_int_equal(window, 0);
    assert_int_equal(word, 0);
    assert_true(nocap_tlb_is_register(0x1FC00000 + 12 * 209 + 8, &window, &word));
    assert_int_equal(window, 209);
    assert_int_equal(word, 2);
    assert_false(nocap_tlb_is_register(0x1FC009D8, &window, &word));
    assert_false(nocap_tlb_is_register(0x1FBFFFFC, &window, &word));
    assert_true(nocap_tlb_is_strided(0x1FC009D8 + 4 * 31, &window));
    assert_int_equal(window, 31);
    assert_false(nocap_tlb_is_strided(0x1FC009D8 + 4 * 32, &window));
    assert_false(nocap_tlb_is_strided(0x1FC009D4, &window));
    assert_true(nocap_tlb_find(NOCAP_SPACE_BAR0, 0x193FFFFF, &window, &offset));
    assert_int_equal(window, 201);
    assert_int_equal(offset, 0x1FFFFF);
    assert_false(nocap_tlb_find(NOCAP_SPACE_BAR0, 0x19400000, &window, &offset));
    assert_true(nocap_tlb_find(NOCAP_SPACE_BAR4, UINT64_C(0x7FFFFFFFF), &window, &offset));
    assert_int_equal(window, 209);
    assert_int_equal(offset, 0xFFFFFFFF);
    assert_false(nocap_tlb_find(NOCAP_SPACE_BAR4, UINT64_C(0x800000000), &window, &offset));
    assert_false(nocap_tlb_find(NOCAP_SPACE_BAR2, 0, &window, &offset));
    assert_false(nocap_tlb_find(NOCAP_SPACE_TILE, 0, &window, &offset));
    assert_int_equal(nocap_tlb_shift(201), 21);
    assert_int_equal(nocap_tlb_shift(202), 32);
}

/* A JSON number or "0x.." under `key` of one line; false if it is not there. */
static bool number(const char *line, const char *key, uint64_t *v)
{
    char pattern[16];
    snprintf(pattern, sizeof(pattern), "\"%s\":", key);
    const char *at = strstr(line, pattern);
    if (!at) {
        return false;
    }
    at += strlen(pattern);
    *v = strtoull(at + (*at == '"'), NULL, 0);
    return true;
}

/* Host accesses of a trace against the windows that the host aimed before; counts them. */
static unsigned check_lines(char *text)
{
    uint32_t words[NOCAP_TLB_COUNT][3] = {{0}};
    unsigned last = 0, checked = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        uint64_t addr = 0, x = 0, y = 0, x2 = 0, y2 = 0, v = 0;
        unsigned word = 0;
        if (!strstr(line, "\"by\":\"host\"") || !number(line, "addr", &addr)) {
            continue;
        }
        if (strstr(line, "\"space\":\"bar0\"")) {
            assert_true(nocap_tlb_is_register(addr, &last, &word));
            assert_true(number(line, "value", &v));
            words[last][word] = (uint32_t)v;
            continue;
        }
        assert_true(number(line, "x", &x) && number(line, "y", &y));
        struct nocap_tlb_window window;
        nocap_tlb_decode(last, words[last], &window);
        assert_int_equal(window.mcast, number(line, "x2", &x2) && number(line, "y2", &y2));
        assert_int_equal(window.mcast ? window.x_start : window.x_end, x);
        assert_int_equal(window.mcast ? window.y_start : window.y_end, y);
        if (window.mcast) {
            assert_int_equal(window.x_end, x2);
            assert_int_equal(window.y_end, y2);
        }
        uint64_t in_window = addr & ((UINT64_C(1) << nocap_tlb_shift(last)) - 1);
        assert_int_equal(nocap_tlb_address(last, &window, in_window), addr);
        assert_true(number(line, "noc", &v));
        assert_int_equal(window.noc, v);
        assert_int_equal(window.ordering == NOCAP_ORDER_STRICT,
                         strstr(line, "\"order\":\"strict\"") != NULL);
        struct nocap_xy corner = {(uint8_t)x, (uint8_t)y};
        assert_int_not_equal(nocap_tile_kind(NOCAP_BOARD_P100, corner), NOCAP_TILE_NONE);
        checked++;
    }
    return checked;
}

/* The first host accesses of a firmware upload. */
static void upload_begins(void **state)
{
    (void)state;
    char text[] =
        "{\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00000\","
        "\"size\":4,\"value\":\"0x7fd\"}\n"
        "{\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00004\","
        "\"size\":4,\"value\":\"0x40963800\"}\n"
        "{\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00008\","
        "\"size\":4,\"value\":\"0x60\"}\n"
        "{\"t\":0,\"ev\":\"write\",\"by\":\"host\",\"x\":1,\"y\":2,\"x2\":7,\"y2\":11,"
        "\"addr\":\"0xffb121b0\",\"size\":4,\"value\":\"0x47800\",\"noc\":0,\"order\":\"strict\"}\n"
        "{\"t\":9,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00000\","
        "\"size\":4,\"value\":\"0x0\"}\n"
        "{\"t\":9,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00004\","
        "\"size\":4,\"value\":\"0x40800\"}\n"
        "{\"t\":9,\"ev\":\"write\",\"by\":\"host\",\"space\":\"bar0\",\"addr\":\"0x1fc00008\","
        "\"size\":4,\"value\":\"0x40\"}\n"
        "{\"t\":9,\"ev\":\"read\",\"by\":\"host\",\"x\":1,\"y\":2,\"addr\":\"0x370\",\"size\":4,"
        "\"value\":\"0x0\",\"noc\":0,\"order\":\"strict\"}\n";
    assert_int_equal(check_lines(text), 2);
}

static void real_host_program(void **state)
{
    (void)state;
    glob_t names;
    unsigned checked = 0;
    assert_int_equal(glob(GOLDEN_DIR "/firmware-*.nocap", 0, NULL, &names), 0);
    for (size_t i = 0; i < names.gl_pathc; i++) {
        size_t size;
        char *text = golden_text(names.gl_pathv[i], &size);
        assert_non_null(text);
        checked += check_lines(text);
        free(text);
    }
    assert_true(checked > 1000);
    globfree(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multicast_window),   cmocka_unit_test(unicast_window),
        cmocka_unit_test(every_field),        cmocka_unit_test(words_come_back),
        cmocka_unit_test(places_in_the_bars), cmocka_unit_test(upload_begins),
        cmocka_unit_test(real_host_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
