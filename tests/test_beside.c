/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is judged on two threads has the report and the waits that it has on one, byte for
 * byte: traces of the tests, each fault of the device model, and what the way between the threads
 * has to get right. */
#include "tests/temp_dir.h"

#include "tests/run_trace.h"

#include "base/relay.h"
#include "checker/hang/hang.h"
#include "checker/report/results.h"
#include "tests/effort.h"

static char root[512]; /* of the source tree */
static size_t compared;

static char *report_of(const char *path, bool beside)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct nocap_error err = {{0}};
    struct nocap_report *report = NULL;
    struct nocap_results results;
    const struct nocap_check_options options = {.size = sizeof options, .beside = beside};
    const enum nocap_status status = nocap_check(&report, path, &options, &err);
    fprintf(out, "%d %s\n", status, status == NOCAP_OK ? "" : err.text);
    if (status == NOCAP_OK) {
        assert_int_equal(nocap_results_new(&results, 1, &err), NOCAP_OK);
        results.all = results.verbose = true;
        assert_int_equal(nocap_results_set(&results, 0, path, report, NULL, &err), NOCAP_OK);
        for (unsigned f = NOCAP_FORMAT_TEXT; f <= NOCAP_FORMAT_BASELINE; f++) {
            assert_int_equal(nocap_results_print(out, &results, (enum nocap_format)f, false, &err),
                             NOCAP_OK);
        }
        nocap_results_free(&results);
    }
    fclose(out);
    return text;
}

static char *hang_of(const char *path, bool beside)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct nocap_error err = {{0}};
    struct nocap_hang *hang = NULL;
    const struct nocap_hang_options options = {.size = sizeof options, .beside = beside};
    const enum nocap_status status = nocap_hang(&hang, path, &options, &err);
    fprintf(out, "%d %s\n", status, status == NOCAP_OK ? "" : err.text);
    if (status == NOCAP_OK) {
        assert_int_equal(nocap_hang_text(out, hang, false, &err), NOCAP_OK);
        assert_int_equal(nocap_hang_json(out, hang, &err), NOCAP_OK);
        nocap_hang_free(hang);
    }
    fclose(out);
    return text;
}

static void assert_same(const char *path, char *(*answer)(const char *path, bool beside))
{
    char *one = answer(path, false), *two = answer(path, true);
    if (strcmp(one, two) != 0) {
        fail_msg("%s\n--- one thread\n%s\n--- two threads\n%s", path, one, two);
    }
    free(one);
    free(two);
}

static void same(const char *path)
{
    assert_same(path, report_of);
    assert_same(path, hang_of);
    compared++;
}

/* ---- traces of the tests ---- */

/* One trace and one fault in so many, those of share NOCAP_SHARE (0); all in `make long-seeds`. */
static unsigned every, share;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    static unsigned seen;
    (void)ftw;
    if (type == FTW_F && S_ISREG(st->st_mode) && st->st_size < 4 << 20 && seen++ % every == share) {
        same(path);
    }
    return 0;
}

static void folder(const char *name)
{
    char path[600];
    compared = 0;
    snprintf(path, sizeof path, "%s/%s", root, name);
    nftw(path, visit, 8, FTW_PHYS);
    print_message("%s: %zu files\n", name, compared);
}

static void test_traces_of_the_tests(void **state)
{
    static const char *const folders[] = {"tests/data", "tests/cases", "golden",
                                          "checker/rules/examples"};
    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        folder(folders[i]);
        assert_true(compared > 0 || every > 3);
    }
    folder("../shared/data");
}

/* ---- the device model ---- */

static enum nocap_status write_event(void *context, const struct nocap_event *event,
                                     struct nocap_error *err)
{
    (void)err;
    run_trace_add(context, event);
    return NOCAP_OK;
}

/* False: the fault cannot strike in this scenario with these options. */
static bool simulate(const struct nocap_sim_options *options)
{
    struct nocap_error err = {{0}};
    struct run_trace trace = run_trace_of(options);
    run_trace_open(&trace, "sim.nocap");
    const enum nocap_status status = nocap_sim_run(options, write_event, &trace, &err);
    run_trace_close(&trace);
    if (status == NOCAP_OK) {
        same("sim.nocap");
    }
    return status == NOCAP_OK;
}

static void test_faults_of_the_device(void **state)
{
    (void)state;
    unsigned struck = 0;
    for (unsigned f = NOCAP_SIM_FAULT_NONE + 1 + share; f < NOCAP_SIM_FAULT_COUNT; f += every) {
        bool done = false;
        for (unsigned s = 0; s < NOCAP_SIM_SCENARIO_COUNT && !done; s++) {
            const uint32_t first = nocap_sim_faults[f].first_launch;
            const struct nocap_sim_options options = {.size = sizeof options,
                                                      .scenario = (enum nocap_sim_scenario)s,
                                                      .launches = NOCAP_SIM_LAUNCHES + first,
                                                      .fault = (enum nocap_sim_fault)f};
            done = nocap_sim_fault_triggers(&nocap_sim_faults[f], s) && simulate(&options);
        }
        struck += done;
    }
    print_message("%u of %u faults\n", struck, NOCAP_SIM_FAULT_COUNT - 1);
    assert_true(struck > (NOCAP_SIM_FAULT_COUNT - 1) / every * 9 / 10);
}

/* More events than are on their way at a time. */
static void test_long_traces(void **state)
{
    (void)state;
    assert_true(simulate(&(struct nocap_sim_options){.size = sizeof(struct nocap_sim_options),
                                                     .scenario = NOCAP_SIM_LAUNCH_DEV,
                                                     .tiles = 20,
                                                     .launches = 50}));
}

/* ---- what is on the way ---- */

/* The events of a run, with a copy of `other` before every seventh. */
enum others {
    OTHERS_BETWEEN,
    OTHERS_LATE, /* of other sources, whose times are not in order */
    OTHERS_FAR,  /* so far from each other that times take more than 32 bits */
};
static void with_others(const struct nocap_event *other, enum others how)
{
    const struct nocap_sim_options options = {.size = sizeof options,
                                              .scenario = NOCAP_SIM_LAUNCH_HOST};
    struct nocap_error err = {{0}};
    struct run run = {0};
    struct run_trace trace = run_trace_of(&options);
    assert_int_equal(nocap_sim_run(&options, keep, &run, &err), NOCAP_OK);
    run_trace_open(&trace, "others.nocap");
    for (size_t i = 0; i < run.count; i++) {
        run.events[i].t <<= how == OTHERS_FAR ? 30 : 0;
        if (i % 7 == 0) {
            struct nocap_event e = *other;
            e.t = how == OTHERS_LATE ? run.events[i].t / 2 : run.events[i].t;
            e.src = how == OTHERS_LATE ? (uint32_t)(i % 3) : 0;
            run_trace_add(&trace, &e);
        }
        run_trace_add(&trace, &run.events[i]);
    }
    run_trace_close(&trace);
    run_free(&run);
    same("others.nocap");
}

static void test_payload(void **state)
{
    static uint8_t bytes[40000];
    static const uint32_t sizes[] = {1, 3000, 8192, 8193, sizeof bytes};
    struct nocap_event e = nocap_event_of(NOCAP_EV_WRITE);
    (void)state;
    memset(bytes, 0x5A, sizeof bytes);
    e.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE | NOCAP_F_DATA;
    e.by = NOCAP_BY_HOST;
    e.at = (struct nocap_xy){1, 2};
    e.addr = 0x20000;
    e.data = bytes;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        e.size = e.data_size = sizes[i];
        with_others(&e, OTHERS_BETWEEN);
    }
}

/* Events that do not fit into the line that most are carried in. */
static void test_large_numbers(void **state)
{
    struct nocap_event load = nocap_event_of(NOCAP_EV_READ);
    (void)state;
    load.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE;
    load.by = NOCAP_BY_BRISC;
    load.at = (struct nocap_xy){1, 2};
    load.addr = 0x17FFFC;
    load.size = UINT64_C(1) << 32 | 4;
    with_others(&load, OTHERS_BETWEEN);
    load.size = 4;
    load.addr = 0x180000;
    with_others(&load, OTHERS_FAR);
}

/* Events that are lost, out of order, or wrong. */
static void test_what_is_wrong(void **state)
{
    struct nocap_event drop = nocap_event_of(NOCAP_EV_DROP);
    struct nocap_event load = nocap_event_of(NOCAP_EV_READ);
    (void)state;
    drop.has = NOCAP_F_DROPPED;
    drop.value = 5;
    with_others(&drop, OTHERS_BETWEEN);
    load.has = NOCAP_F_BY | NOCAP_F_AT | NOCAP_F_ADDR | NOCAP_F_SIZE;
    load.by = NOCAP_BY_HOST;
    load.at = (struct nocap_xy){63, 63};
    load.size = 4;
    with_others(&load, OTHERS_BETWEEN);
    with_others(&load, OTHERS_LATE);
    load.size = 0;
    with_others(&load, OTHERS_BETWEEN);
}

/* ---- the relay ---- */

struct count {
    size_t taken;
    bool in_order;
};

static void take(void *context, void *batch)
{
    struct count *count = context;
    count->in_order &= *(size_t *)batch == count->taken;
    count->taken++;
}

static void test_relay(void **state)
{
    (void)state;
    struct count count = {.in_order = true};
    struct relay *relay = relay_open(sizeof(size_t), 4, take, &count);
    assert_non_null(relay);
    for (size_t i = 0; i < 10000; i++) {
        *(size_t *)relay_next(relay) = i;
        relay_hand_on(relay);
        if (i % 1000 == 1) {
            relay_settle(relay);
            assert_int_equal(count.taken, i + 1);
        }
    }
    relay_close(relay);
    assert_int_equal(count.taken, 10000);
    assert_true(count.in_order);
    relay_close(relay_open(1, 2, take, &count));
    relay_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relay),
        cmocka_unit_test(test_traces_of_the_tests),
        cmocka_unit_test(test_long_traces),
        cmocka_unit_test(test_payload),
        cmocka_unit_test(test_large_numbers),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_faults_of_the_device),
    };
    const char *text = getenv("NOCAP_SHARE");
    every = effort(0, 0) > 0 ? 1 : SANITIZED ? 12 : 6;
    share = text == NULL ? 0 : (unsigned)atoi(text) % every;
    return getcwd(root, sizeof root) == NULL
               ? 1
               : cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
