/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline between a run and a view: where a picture begins and ends, which tracks it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "checker/views/timeline.h"

/* What a view was told, a word each. */
struct told {
    char text[1024];
    size_t at;
};

__attribute__((format(printf, 2, 3))) static void put(struct told *told, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    told->at +=
        (size_t)vsnprintf(told->text + told->at, sizeof told->text - told->at, format, args);
    va_end(args);
    assert_true(told->at < sizeof told->text);
}

static void track(void *view, uint32_t number, const struct nocap_track *t)
{
    put(view, "%s=%u ", t->name, number);
}
static void begin(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    put(view, "%u:%s@%u ", number, mark->name, (unsigned)t);
}
static void end(void *view, uint32_t number, uint64_t t)
{
    put(view, "%u:end@%u ", number, (unsigned)t);
}
static void instant(void *view, uint32_t number, uint64_t t, const struct nocap_mark *mark)
{
    put(view, "%u:!%s@%u ", number, mark->name, (unsigned)t);
}
static void value(void *view, uint32_t number, uint64_t t, uint64_t v,
                  const struct nocap_mark *mark)
{
    put(view, "%u:%s%d@%u ", number, mark != NULL ? mark->name : "?", (int)v, (unsigned)t);
}
static const struct nocap_view_ops ops = {
    .track = track, .begin = begin, .end = end, .instant = instant, .value = value};

static const struct nocap_track group = {.kind = NOCAP_TRACK_GROUP, .name = "core"};

static uint32_t make(struct nocap_timeline *tl, enum nocap_track_kind kind, const char *name,
                     uint32_t parent)
{
    struct nocap_track made = {.kind = (uint8_t)kind, .parent = parent};
    snprintf(made.name, sizeof made.name, "%s", name);
    return nocap_timeline_track(tl, &made);
}

static const struct nocap_mark *named(const char *name)
{
    static struct nocap_mark mark;
    mark = (struct nocap_mark){.name = name};
    return &mark;
}

/* A track is told with its first item, its group before it; a value only where it changes. */
static void test_tracks(void **state)
{
    (void)state;
    struct told told = {.at = 0};
    struct nocap_timeline tl;
    nocap_timeline_init(&tl, &(struct nocap_timeline_options){.limit = 0}, &ops, &told);
    uint32_t core = nocap_timeline_track(&tl, &group);
    uint32_t brisc = make(&tl, NOCAP_TRACK_SLICES, "brisc", core);
    uint32_t count = make(&tl, NOCAP_TRACK_COUNTER, "count", core);
    uint32_t unused = make(&tl, NOCAP_TRACK_SLICES, "unused", core);
    nocap_timeline_end(&tl, brisc, 1); /* of nothing */
    nocap_timeline_begin(&tl, brisc, 2, named("kernel"));
    nocap_timeline_value(&tl, count, 3, 7, named(""));
    nocap_timeline_value(&tl, count, 4, 7, named(""));
    nocap_timeline_end(&tl, brisc, 5);
    assert_false(nocap_timeline_is_open(&tl, brisc));
    nocap_timeline_instant(&tl, 0, 6, named("nowhere"));
    assert_int_equal(unused, 4);
    assert_string_equal(told.text, "core=1 brisc=2 2:kernel@2 count=3 3:7@3 2:end@5 ");
    nocap_timeline_free(&tl);
}

/* What is open when the picture begins is in it, from its start. */
static void test_start(void **state)
{
    (void)state;
    struct told told = {.at = 0};
    struct nocap_timeline tl;
    nocap_timeline_init(&tl, &(struct nocap_timeline_options){.has_from = true, .from = 10}, &ops,
                        &told);
    uint32_t core = nocap_timeline_track(&tl, &group);
    uint32_t brisc = make(&tl, NOCAP_TRACK_SLICES, "brisc", core);
    uint32_t go = make(&tl, NOCAP_TRACK_STATE, "go", core);
    nocap_timeline_begin(&tl, brisc, 1, named("over"));
    nocap_timeline_end(&tl, brisc, 2);
    nocap_timeline_begin(&tl, brisc, 3, named("kernel"));
    nocap_timeline_begin(&tl, brisc, 4, named("poll"));
    nocap_timeline_value(&tl, go, 5, 0x80, named("GO"));
    nocap_timeline_instant(&tl, brisc, 6, named("early"));
    assert_string_equal(told.text, "");
    nocap_timeline_end(&tl, brisc, 12);
    assert_string_equal(told.text,
                        "core=1 brisc=2 2:kernel@10 2:poll@10 go=3 3:GO128@10 2:end@12 ");
    nocap_timeline_free(&tl);
}

/* The limit ends the picture; what is after it is counted, and findings are reported all the same.
 */
static void test_limit(void **state)
{
    (void)state;
    struct told told = {.at = 0};
    struct nocap_timeline tl;
    nocap_timeline_init(&tl, &(struct nocap_timeline_options){.limit = 2}, &ops, &told);
    uint32_t core = nocap_timeline_track(&tl, &group);
    uint32_t brisc = make(&tl, NOCAP_TRACK_SLICES, "brisc", core);
    for (unsigned i = 0; i < 5; i++) {
        nocap_timeline_begin(&tl, brisc, 10 * i, named("kernel"));
        nocap_timeline_end(&tl, brisc, 10 * i + 5);
    }
    nocap_timeline_settle(&tl);
    nocap_timeline_instant(&tl, brisc, 41, named("GO-004"));
    assert_string_equal(told.text, "core=1 brisc=2 2:kernel@0 2:end@5 2:kernel@10 2:end@15 "
                                   "2:!GO-004@41 ");
    assert_int_equal(tl.slices, 2);
    assert_int_equal(tl.left_out, 3);
    assert_int_equal(tl.full_at, 20);
    nocap_timeline_free(&tl);
}

/* Of worker cores those that are asked for; what belongs to none is there in any case. */
static void test_tiles(void **state)
{
    (void)state;
    static const struct nocap_xy tiles[] = {{1, 2}};
    static const struct nocap_timeline_options options = {
        .has_tiles = true, .tiles = tiles, .tile_count = 1};
    struct told told = {.at = 0};
    struct nocap_timeline tl;
    nocap_timeline_init(&tl, &options, &ops, &told);
    struct nocap_track made = {.kind = NOCAP_TRACK_GROUP, .has_tile = true, .at = {1, 2}};
    assert_int_equal(nocap_timeline_track(&tl, &made), 1);
    made.at.x = 2;
    assert_int_equal(nocap_timeline_track(&tl, &made), 0);
    assert_int_equal(nocap_timeline_track(&tl, &group), 2);
    nocap_timeline_begin(&tl, 0, 1, named("not asked for"));
    assert_string_equal(told.text, "");
    nocap_timeline_free(&tl);
}

/* Where events were lost nothing is known: slices end, and so do states. */
static void test_forget(void **state)
{
    (void)state;
    struct told told = {.at = 0};
    struct nocap_timeline tl;
    nocap_timeline_init(&tl, &(struct nocap_timeline_options){.limit = 0}, &ops, &told);
    uint32_t core = nocap_timeline_track(&tl, &group);
    uint32_t brisc = make(&tl, NOCAP_TRACK_SLICES, "brisc", core);
    uint32_t go = make(&tl, NOCAP_TRACK_STATE, "go", core);
    nocap_timeline_begin(&tl, brisc, 1, named("kernel"));
    nocap_timeline_begin(&tl, brisc, 2, named("poll"));
    nocap_timeline_value(&tl, go, 3, 0, named("DONE"));
    told.at = 0;
    nocap_timeline_forget(&tl, 4);
    nocap_timeline_value(&tl, go, 5, 0, named("DONE"));
    assert_string_equal(told.text, "2:end@4 2:end@4 3:?0@4 3:DONE0@5 ");
    nocap_timeline_free(&tl);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tracks), cmocka_unit_test(test_start),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_tiles),  cmocka_unit_test(test_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
